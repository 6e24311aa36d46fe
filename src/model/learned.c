/* learned.c - the named arrays and texts of a model, copies of what is given.
 */
#include <string.h>

#include "mat/mat.h"
#include "model/model.h"

/* One block: the pointers, then the characters. */
static lapis_status copy_text(lapis_ctx *ctx, const lapis_mat *from,
                              lapis_mat *to)
{
  const char *const *text = from->val;
  int64_t n = from->rows * from->cols, bytes = 0;
  for (int64_t i = 0; i < n; i++) bytes += (int64_t)strlen(text[i]) + 1;
  int64_t head = n * (int64_t)sizeof(char *);
  char *block = base_alloc_raw(ctx, head + bytes, 1);
  if (block == NULL) return LAPIS_ENOMEM;
  const char **pointer = (const char **)(void *)block;
  char *at = block + head;
  for (int64_t i = 0; i < n; i++) {
    size_t size = strlen(text[i]) + 1;
    memcpy(at, text[i], size);
    pointer[i] = at;
    at += size;
  }
  *to = *from;
  to->ld = from->rows > 0 ? from->rows : 1;
  to->val = block;
  return LAPIS_OK;
}

static lapis_status copy_numbers(lapis_ctx *ctx, const lapis_mat *from,
                                 lapis_mat *to)
{
  TRY(mat_check_dense(ctx, "model", "an array", from));
  double *val = base_alloc_raw(ctx, from->rows * from->cols, sizeof *val);
  if (val == NULL) return LAPIS_ENOMEM;
  *to = lapis_mat_f64(val, from->rows, from->cols);
  mat_to_f64(from, val, to->ld);
  return LAPIS_OK;
}

void model_drop(lapis_model *m, const char *name)
{
  int i = 0;
  while (i < m->learned.count && strcmp(m->learned.item[i].name, name) != 0)
    i++;
  if (i == m->learned.count) return;
  base_free((void *)(uintptr_t)m->learned.item[i].name);
  base_free(m->learned.item[i].mat.val);
  m->learned.item[i] = m->learned.item[--m->learned.count];
}

lapis_status model_put(lapis_ctx *ctx, lapis_model *m, const char *name,
                       const lapis_mat *mat)
{
  lapis_mat copy;
  if (m->learned.count == NAMED_MAX)
    return lapis_fail(ctx, LAPIS_EFORMAT, "a model holds at most %d arrays",
                      NAMED_MAX);
  char *own = base_strdup(ctx, name);
  if (own == NULL) return LAPIS_ENOMEM;
  lapis_status s = mat->dtype == LAPIS_TEXT ? copy_text(ctx, mat, &copy)
                                            : copy_numbers(ctx, mat, &copy);
  if (s < 0) base_free(own);
  if (s < 0) return s;
  model_drop(m, name); /* the last one counts */
  named_put(&m->learned, own, copy);
  return s;
}
