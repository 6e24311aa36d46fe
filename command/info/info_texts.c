/* info_texts.c - lapis info of an array of texts: how many are different, and
 * the commonest. */
#include <stdlib.h>
#include <string.h>

#include "info.h"

typedef struct met {
  const char *text;
  int64_t count;
} met;

static int by_text(const void *a, const void *b)
{
  return strcmp(((const met *)a)->text, ((const met *)b)->text);
}

/* The commonest first, else by text. */
static int by_count(const void *a, const void *b)
{
  const met *x = a, *y = b;
  if (x->count != y->count) return x->count < y->count ? 1 : -1;
  return strcmp(x->text, y->text);
}

/* The different texts of A, the commonest first, without "", which is unknown;
 * NULL: there is none, or no memory. */
static met *count_texts(const lapis_mat *A, int64_t *different,
                        int64_t *unknown)
{
  const char *const *text = A->val;
  int64_t n = 0, kinds = 0;
  met *all = calloc((size_t)(A->rows * A->cols) + 1, sizeof *all);
  *different = *unknown = 0;
  for (int64_t j = 0; all != NULL && j < A->cols; j++)
    for (int64_t i = 0; i < A->rows; i++) {
      const char *one = text[j * A->ld + i];
      *unknown += *one == '\0';
      if (*one != '\0') all[n++] = (met){one, 1};
    }
  if (n > 0) qsort(all, (size_t)n, sizeof *all, by_text);
  for (int64_t k = 0; k < n; k++)
    if (kinds > 0 && strcmp(all[kinds - 1].text, all[k].text) == 0)
      all[kinds - 1].count++;
    else
      all[kinds++] = all[k];
  if (kinds > 0) qsort(all, (size_t)kinds, sizeof *all, by_count);
  *different = kinds;
  return all;
}

void info_texts(const lapis_mat *A)
{
  enum { SHOWN = 6 };
  int64_t different, unknown;
  char text[256];
  met *all = count_texts(A, &different, &unknown);
  printf(" %lld different, %lld missing", (long long)different,
         (long long)unknown);
  for (int64_t k = 0; all != NULL && k < different && k < SHOWN; k++)
    printf("%s %s %lld", k == 0 ? ":" : ",",
           lapis_text_shown(all[k].text, text, sizeof text),
           (long long)all[k].count);
  if (different > SHOWN) printf(", ...");
  free(all);
}
