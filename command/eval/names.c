/* names.c - what columns are called; what is compared must stand in the
 * same order.
 *
 * Where both tables name their columns, the names must agree place by place: a
 * wrong order would give a wrong figure without a word.  One column has no
 * order, and may be called otherwise.  Of names of samples the reader takes
 * care. */
#include <string.h>

#include "eval.h"

static int same_names(const lapis_mat *truth, const lapis_mat *scores)
{
  if (truth->cols != scores->cols || truth->cols == 1) return EXIT_DONE;
  const char *const *a = truth->val, *const *b = scores->val;
  for (int64_t k = 0; k < truth->cols; k++)
    if (strcmp(a[k * truth->ld], b[k * scores->ld]) != 0)
      return cli_fail(EXIT_INPUT,
                      "eval: column %lld is called '%s' in the truth and '%s' "
                      "in the answers; bring them into one order",
                      (long long)k + 1, a[k * truth->ld], b[k * scores->ld]);
  return EXIT_DONE;
}

int eval_check_columns(const lapis_dataset *ds, const char *scores)
{
  const lapis_format *format = lapis_format_of_name(scores);
  bool table = format != NULL && (strcmp(format->name, "csv") == 0 ||
                                  strcmp(format->name, "tsv") == 0);
  lapis_mat classes = lapis_dataset_text(ds, "class_names");
  lapis_mat columns = lapis_dataset_text(ds, "feature_names");
  if (!table || classes.cols == 0 || columns.cols == 0) return EXIT_DONE;
  if (lapis_dataset_data(ds)->Y.rows != classes.cols) return EXIT_DONE;
  return same_names(&classes, &columns);
}

const char *eval_score_of(const char *title)
{
  static const char *const before[] = {"score of ", "probability of "};
  for (int i = 0; i < 2; i++)
    if (strncmp(title, before[i], strlen(before[i])) == 0)
      return title + strlen(before[i]);
  return NULL;
}
