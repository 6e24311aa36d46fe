/* eval_names.c - what is compared must stand in the same order.
 *
 * Where both files name their samples, or both tables their columns, the names
 * must agree place by place: a wrong order would give a wrong figure without a
 * word. */
#include <stdlib.h>
#include <string.h>

#include "eval_names.h"

/* The texts called "names" of a container; NULL where there are none. */
static const lapis_mat *sample_names(cli *c, const char *spec,
                                     lapis_arrays *all)
{
  char path[4096];
  snprintf(path, sizeof path, "%s", spec);
  const lapis_format *format = lapis_format_of_name(path);
  char *colon = strrchr(path, ':');
  if (format == NULL && colon != NULL) {
    *colon = '\0';
    format = lapis_format_of_name(path);
  }
  if (format == NULL || strcmp(format->name, "npz") != 0) return NULL;
  if (lapis_arrays_read(c->ctx, path, all) < 0) return NULL;
  const lapis_array *a = lapis_arrays_find(all, "names");
  return a != NULL && a->mat.dtype == LAPIS_TEXT ? &a->mat : NULL;
}

/* what: "row" or "column" */
static int same_names(const char *what, const lapis_mat *truth,
                      const lapis_mat *scores)
{
  if (truth == NULL || scores == NULL || truth->cols != scores->cols)
    return EXIT_DONE;
  const char *const *a = truth->val, *const *b = scores->val;
  for (int64_t k = 0; k < truth->cols; k++)
    if (strcmp(a[k * truth->ld], b[k * scores->ld]) != 0)
      return cli_fail(EXIT_INPUT,
                      "eval: %s %lld is called '%s' in the truth and '%s' in "
                      "the answers; bring them into one order",
                      what, (long long)k + 1, a[k * truth->ld],
                      b[k * scores->ld]);
  return EXIT_DONE;
}

int eval_check_rows(cli *c, const char *truth, const char *scores)
{
  lapis_arrays of_truth = {.count = 0}, of_scores = {.count = 0};
  const lapis_mat *a = sample_names(c, truth, &of_truth);
  const lapis_mat *b = a == NULL ? NULL : sample_names(c, scores, &of_scores);
  int code = same_names("row", a, b);
  lapis_arrays_free(&of_truth);
  lapis_arrays_free(&of_scores);
  return code;
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
  return same_names("column", &classes, &columns);
}
