/* forget.c - values of arrays that mean "not known", as -1 and -999 do in files
 * of whole numbers, which have no NaN. */
#include "files/forget.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "mat/mat.h"

/* Single precision has the nearest number to what is listed. */
static bool is_number_of(const char *at, size_t size, double value, bool f32)
{
  double listed;
  if (!io_number(at, (int64_t)size, &listed)) return false;
  if (f32) listed = (float)listed;
  return !(value < listed) && !(value > listed);
}

/* text NULL: the number is looked for. */
static bool is_listed(const char *list, const char *text, double value,
                      bool f32)
{
  if (text == NULL && isnan(value)) return false;
  for (const char *at = list; *at != '\0';) {
    size_t size = strcspn(at, ",");
    if (text == NULL ? is_number_of(at, size, value, f32)
                     : size > 0 && strlen(text) == size &&
                           strncasecmp(at, text, size) == 0)
      return true;
    at += size + (at[size] == ',');
  }
  return false;
}

static void forget_texts(const char *list, const lapis_mat *A)
{
  const char **text = (const char **)(uintptr_t)A->val;
  for (int64_t j = 0; j < A->cols; j++)
    for (int64_t i = 0; i < A->rows; i++)
      if (is_listed(list, text[j * A->ld + i], NAN, false))
        text[j * A->ld + i] = "";
}

/* What a sparse one stores is doubles of its own. */
static void forget_stored(const char *list, const lapis_mat *A)
{
  double *value = (double *)(uintptr_t)A->val;
  for (int64_t k = A->colptr[0]; k < A->colptr[A->cols]; k++)
    if (is_listed(list, NULL, value[k], false)) value[k] = NAN;
}

/* A dense one may lie in the file: it is copied where it has such a value. */
static lapis_status forget_numbers(lapis_ctx *ctx, const char *list,
                                   lapis_array *a)
{
  const lapis_mat *A = &a->mat;
  bool f32 = A->dtype == LAPIS_F32;
  lapis_array out = {.kind = IO_NONE};
  for (int64_t j = 0; j < A->cols; j++)
    for (int64_t i = 0; i < A->rows; i++) {
      if (!is_listed(list, NULL, lapis_mat_at(A, i, j), f32)) continue;
      if (out.memory == NULL) {
        TRY(io_number_array(ctx, LAPIS_F64, A->rows, A->cols, &out));
        mat_to_f64(A, out.mat.val, out.mat.ld);
      }
      ((double *)out.mat.val)[j * out.mat.ld + i] = NAN;
    }
  if (out.memory == NULL) return LAPIS_OK;
  out.name = a->name;
  out.axes = a->axes;
  memcpy(out.shape, a->shape, sizeof out.shape);
  memcpy(out.stored, a->stored, sizeof out.stored);
  a->name = NULL;
  lapis_array_free(a);
  *a = out;
  return LAPIS_OK;
}

lapis_status io_forget(lapis_ctx *ctx, const lapis_table_options *opt,
                       io_format format, lapis_arrays *all)
{
  static const char *const members[] = {"X", "Y", "P", NULL};
  const char *list = opt == NULL ? NULL : opt->missing;
  if (list == NULL || format == IO_CSV) return LAPIS_OK;
  for (int i = 0; i < all->count; i++) {
    lapis_array *a = &all->item[i];
    if (!io_is_wanted(members, a->name)) continue;
    if (a->mat.dtype == LAPIS_TEXT)
      forget_texts(list, &a->mat);
    else if (a->mat.colptr != NULL)
      forget_stored(list, &a->mat);
    else
      TRY(forget_numbers(ctx, list, a));
  }
  return LAPIS_OK;
}
