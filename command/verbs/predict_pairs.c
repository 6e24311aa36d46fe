/* predict_pairs.c - lapis predict MODEL --pairs F: single entries of what was
 * completed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"

/* Places are counted from 1, below a header row0,column0 from 0. */
static int base_of(const lapis_dataset *ds)
{
  lapis_mat names = lapis_dataset_text(ds, "feature_names");
  const char *const *name = names.val;
  return names.cols > 0 && strcmp(name[0], "row0") == 0 ? 0 : 1;
}

static int read_places(const char *path, const lapis_mat *X, int base,
                       int64_t *place)
{
  for (int64_t k = 0; k < 2 * X->cols; k++) {
    double v = lapis_mat_at(X, k % 2, k / 2);
    if (!(v >= base && v < 1e15 && floor(v) == v))
      return cli_fail(
          EXIT_INPUT, "%s: pair %lld: %s %.10g is not a whole number from %d",
          path, (long long)(k / 2) + 1, k % 2 == 0 ? "row" : "column", v, base);
    place[k % 2 * X->cols + k / 2] = (int64_t)v - base;
  }
  return EXIT_DONE;
}

/* A table has the places beside the values, and is sparse data again. */
static lapis_status write_values(cli *c, const char *path,
                                 const lapis_dataset *ds, int base,
                                 const lapis_mat *values)
{
  const lapis_mat *X = &lapis_dataset_data(ds)->X;
  lapis_named item = {.name = "values", .mat = *values, .flat = true};
  lapis_mat row = *X, column = *X;
  row.rows = column.rows = 1;
  column.val = (double *)X->val + 1;
  lapis_sheet_column table[] = {
      {.title = base == 0 ? "row0" : "row", .values = row},
      {.title = base == 0 ? "column0" : "column", .values = column},
      {.title = "value", .values = *values, .rounded = true, .decimals = -1}};
  return is_sheet(path)
             ? lapis_sheet_write(c->ctx, path, dialect_of(c, ds), table, 3)
             : lapis_arrays_write(c->ctx, path, "npz", &item, 1);
}

static int show(cli *c, const lapis_mat *values)
{
  const double *v = values->val;
  if (!c->json) {
    if (print_predicted(c, (long long)values->cols, "value")) return EXIT_DONE;
    for (int64_t k = 0; k < values->cols; k++) printf("%.10g\n", v[k]);
    return EXIT_DONE;
  }
  lapis_json *to = lapis_json_object(), *list = lapis_json_list();
  for (int64_t k = 0; k < values->cols; k++)
    lapis_json_put_number(list, NULL, v[k]);
  lapis_json_put(to, "values", list);
  return print_json(to);
}

static int answer(cli *c, const char *path, const lapis_dataset *ds)
{
  const lapis_mat *X = &lapis_dataset_data(ds)->X;
  if (X->rows != 2 || X->colptr != NULL)
    return cli_fail(EXIT_INPUT,
                    "%s: pairs are two columns, row and column of an entry",
                    path);
  int64_t *place = calloc((size_t)X->cols, 2 * sizeof *place);
  double *value = calloc((size_t)X->cols, sizeof *value);
  const char *output = args_get(&c->args, "output");
  int base = base_of(ds);
  int code = place == NULL || value == NULL
                 ? cli_fail(EXIT_FAILED, "out of memory")
                 : read_places(path, X, base, place);
  if (code == EXIT_DONE) {
    lapis_status s = lapis_model_pairs(c->ctx, c->model, X->cols, place,
                                       place + X->cols, value);
    lapis_mat values = lapis_mat_f64(value, 1, X->cols);
    if (s >= 0 && output != NULL)
      s = write_values(c, output, ds, base, &values);
    code = s < 0 ? cli_fail_status(c, s) : show(c, &values);
  }
  free(place);
  free(value);
  return code;
}

/* What would be read, or written, for nothing is refused. */
static int check(cli *c)
{
  static const char *const idle[] = {"scores",      "completed", "coverage",
                                     "coverage-by", "P",         "G"};
  const char *output = args_get(&c->args, "output");
  for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
    if (args_get(&c->args, idle[i]) != NULL)
      return cli_fail(EXIT_MISUSE,
                      "predict: --pairs predicts entries of the matrix only; "
                      "leave out %s%s",
                      strlen(idle[i]) > 1 ? "--" : "-", idle[i]);
  if (c->args.n_words > 0 || args_get(&c->args, "X") != NULL)
    return cli_fail(EXIT_MISUSE, "predict: --pairs predicts entries of the "
                                 "model's own samples; leave the data out");
  if (output != NULL && (names_folder(output) || is_page(output)))
    return cli_fail(EXIT_MISUSE,
                    "%s: the values of --pairs go to one file, "
                    "F.csv, F.tsv or F.npz",
                    output);
  return EXIT_DONE;
}

int predict_pairs(cli *c, const char *path)
{
  int code = check(c);
  if (code != EXIT_DONE) return code;
  lapis_dataset *ds = NULL;
  lapis_status s = lapis_dataset_new(c->ctx, &ds);
  if (s >= 0) s = lapis_dataset_read_member(ds, "X", path, NULL);
  if (s >= 0) s = lapis_dataset_finish(ds);
  code = s < 0 ? cli_fail_status(c, s) : answer(c, path, ds);
  lapis_dataset_free(ds);
  return code;
}
