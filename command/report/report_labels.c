/* report_labels.c - labels as a page shows them: cells of text, given and
 * found; known ones in doubt; scores and their truth.
 *
 * Values of labels are compared by their text, because the codes of a text
 * target mean something in its own file only. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/eval/eval.h"
#include "report.h"

enum { TEXT_ROOM = 32 };

/* ---- values of one row of labels ----------------------------------------*/
void report_values_free(report_values *v)
{
  free(v->value);
  free(v->text);
  free(v->room);
}

static int by_value(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void collect(const lapis_mat *row, report_values *v)
{
  for (int64_t j = 0; j < row->cols; j++) {
    double x = lapis_mat_at(row, 0, j);
    if (!isnan(x)) v->value[v->count++] = x;
  }
}

/* more: another row of the same values, or empty; names: of codes 0, 1, ... */
static int values_find(const lapis_mat *row, const lapis_mat *more,
                       const lapis_mat *names, report_values *v)
{
  size_t room = (size_t)(row->cols + more->cols + 1);
  int64_t known = 0;
  *v = (report_values){.value = malloc(room * sizeof *v->value),
                       .text = malloc(room * sizeof *v->text),
                       .room = malloc(room * TEXT_ROOM)};
  if (v->value == NULL || v->text == NULL || v->room == NULL)
    return cli_fail(EXIT_FAILED, "out of memory");
  collect(row, v);
  if (more->rows == 1) collect(more, v);
  qsort(v->value, (size_t)v->count, sizeof *v->value, by_value);
  for (int64_t k = 0; k < v->count; k++)
    if (known == 0 || v->value[k] > v->value[known - 1])
      v->value[known++] = v->value[k];
  v->count = known;
  for (int64_t k = 0; k < known; k++) {
    double x = v->value[k];
    bool named = x >= 0 && x < (double)names->cols && floor(x) == x;
    char *number = v->room + k * TEXT_ROOM;
    snprintf(number, TEXT_ROOM, "%.15g", x);
    v->text[k] = named ? ((const char *const *)names->val)[(int64_t)x] : number;
  }
  return EXIT_DONE;
}

static const char *text_of(const report_values *v, double x)
{
  for (int64_t k = 0; k < v->count; k++)
    if (v->value[k] == x) return v->text[k];
  return "";
}

static int64_t index_of(const report_values *v, const char *text)
{
  for (int64_t k = 0; k < v->count; k++)
    if (strcmp(v->text[k], text) == 0) return k;
  return -1;
}

/* ---- cells --------------------------------------------------------------*/
static lapis_mat texts(const char **text, int64_t rows, int64_t cols)
{
  return lapis_mat_text(text, rows, cols);
}

/* One row: the value's text; several: 1 and 0; "" where unknown. */
static const char **make_cells(const lapis_mat *Y, const report_values *v)
{
  const char **cell = malloc((size_t)(Y->rows * Y->cols + 1) * sizeof *cell);
  for (int64_t j = 0; cell != NULL && j < Y->cols; j++)
    for (int64_t i = 0; i < Y->rows; i++) {
      double x = lapis_mat_at(Y, i, j);
      const char *sign = isnan(x) ? "" : x > 0 ? "1" : "0";
      cell[j * Y->rows + i] = Y->rows > 1 ? sign : text_of(v, x);
    }
  return cell;
}

/* The other columns of the table: "label", or the classes. */
static int name_columns(report_parts *own, lapis_report *r, int64_t rows)
{
  lapis_mat names = lapis_dataset_text(own->data, "class_names");
  own->label_names = malloc((size_t)rows * sizeof *own->label_names);
  own->texts = malloc((size_t)rows * TEXT_ROOM);
  if (own->label_names == NULL || own->texts == NULL)
    return cli_fail(EXIT_FAILED, "out of memory");
  for (int64_t i = 0; i < rows; i++) {
    char *number = own->texts + i * TEXT_ROOM;
    snprintf(number, TEXT_ROOM, "class %lld", (long long)i + 1);
    own->label_names[i] = rows == 1            ? "label"
                          : names.cols == rows ? ((const char **)names.val)[i]
                                               : number;
  }
  r->label_names = texts(own->label_names, 1, rows);
  return EXIT_DONE;
}

/* Of the rows of scores. */
static int name_classes(report_parts *own, lapis_report *r,
                        const report_values *v, int64_t label_rows)
{
  int64_t K = r->scores.rows;
  bool one = label_rows == 1 && K == 1 && v->count > 0;
  bool each = label_rows == 1 && K == v->count;
  if (label_rows > 1 && K == label_rows) r->class_names = r->label_names;
  if (!one && !each) return EXIT_DONE;
  own->class_names = malloc((size_t)K * sizeof *own->class_names);
  if (own->class_names == NULL) return cli_fail(EXIT_FAILED, "out of memory");
  for (int64_t k = 0; k < K; k++)
    own->class_names[k] = v->text[one ? v->count - 1 : k];
  r->class_names = texts(own->class_names, 1, K);
  return EXIT_DONE;
}

/* ---- labels in doubt ----------------------------------------------------*/
/* The class of the largest score but one. */
static int64_t best_but(const lapis_mat *scores, int64_t j, int64_t but)
{
  int64_t best = -1;
  for (int64_t k = 0; k < scores->rows; k++)
    if (k != but && (best < 0 || lapis_mat_at(scores, k, j) >
                                     lapis_mat_at(scores, best, j)))
      best = k;
  return best;
}

static lapis_report_suspect make_suspect(const lapis_report *r,
                                         const report_values *v, int64_t j,
                                         int64_t class_)
{
  int64_t rows = r->labels.rows, column = rows > 1 ? class_ : 0;
  const char *given = ((const char **)r->labels.val)[j * rows + column];
  const char *other = strcmp(given, "1") == 0 ? "0" : "1";
  if (rows == 1 && r->scores.rows == 1)
    other = v->text[strcmp(given, v->text[0]) == 0 ? v->count - 1 : 0];
  else if (rows == 1)
    other = v->text[strcmp(given, v->text[class_]) != 0
                        ? class_
                        : best_but(&r->scores, j, class_)];
  return (lapis_report_suspect){
      .sample = j, .column = column, .given = given, .proposed = other};
}

static int list_suspects(report_parts *own, lapis_report *r,
                         const report_values *v)
{
  lapis_mat index = report_numbers(own, "suspect_index");
  lapis_mat p = report_member(own, "suspect_margin");
  int64_t K = r->scores.rows, n = r->labels.cols;
  if (index.rows != 2 || r->names.cols != n) return EXIT_DONE;
  own->suspect = calloc((size_t)index.cols + 1, sizeof *own->suspect);
  if (own->suspect == NULL) return cli_fail(EXIT_FAILED, "out of memory");
  for (int64_t i = 0; i < index.cols; i++) {
    double j = lapis_mat_at(&index, 0, i), k = lapis_mat_at(&index, 1, i);
    if (!(j >= 0 && j < (double)n && k >= 0 && k < (double)K))
      return cli_fail(EXIT_INPUT,
                      "report: suspect_index %lld names what is not in the "
                      "data; is --data what was fitted?",
                      (long long)i + 1);
    own->suspect[i] = make_suspect(r, v, (int64_t)j, (int64_t)k);
    own->suspect[i].probability =
        p.cols == index.cols ? lapis_mat_at(&p, 0, i) : NAN;
  }
  r->suspect = own->suspect;
  r->suspects = index.cols;
  return EXIT_DONE;
}

/* ---- truth --------------------------------------------------------------*/
/* One row of values as numbers of classes (one score: 0 or 1). */
static int code_truth(report_parts *own, lapis_report *r, const lapis_mat *Y,
                      const report_values *of_data)
{
  lapis_mat names = lapis_dataset_text(own->truth, "class_names");
  lapis_mat none = {.cols = 0};
  report_values v;
  int code = values_find(Y, &none, &names, &v);
  const report_values *among = of_data->count > 0 ? of_data : &v;
  own->codes = malloc(((size_t)Y->cols + 1) * sizeof *own->codes);
  if (own->codes == NULL) code = cli_fail(EXIT_FAILED, "out of memory");
  for (int64_t j = 0; code == EXIT_DONE && j < Y->cols; j++) {
    double x = lapis_mat_at(Y, 0, j);
    int64_t k = isnan(x) ? -1 : index_of(among, text_of(&v, x));
    own->codes[j] = k < 0                ? NAN
                    : r->scores.rows > 1 ? (double)k
                                         : (double)(k == among->count - 1);
  }
  r->truth = lapis_mat_f64(own->codes, 1, Y->cols);
  report_values_free(&v);
  return code;
}

static int read_truth(cli *c, report_parts *own, lapis_report *r,
                      const report_values *of_data)
{
  const char *spec = args_get(&c->args, "truth");
  lapis_table_options table;
  if (spec == NULL) return EXIT_DONE;
  int code = table_from_args(c, &table);
  if (code != EXIT_DONE) return code;
  /* of the data; of the truth every column is one */
  table.target = table.use = table.drop = table.one_hot = NULL;
  if (r->scores.cols == 0)
    return cli_fail(EXIT_INPUT,
                    "report: --truth is compared with scores, and %s holds "
                    "none; give the .npz that fit -o wrote",
                    c->args.word[0]);
  lapis_status s = lapis_dataset_new(c->ctx, &own->truth);
  if (s >= 0) s = eval_read(own->truth, "Y", spec, "Y", &table);
  if (s >= 0) s = eval_read(own->truth, "X", c->args.word[0], "scores", &table);
  if (s >= 0) s = lapis_dataset_finish(own->truth);
  if (s < 0) return cli_fail_status(c, s);
  const lapis_mat *Y = &lapis_dataset_data(own->truth)->Y;
  if (Y->rows == 1) return code_truth(own, r, Y, of_data);
  r->truth = *Y;
  return EXIT_DONE;
}

/* ---- all ----------------------------------------------------------------*/
static int make_labels(report_parts *own, lapis_report *r, const lapis_mat *Y,
                       const report_values *v)
{
  lapis_mat found = report_numbers(own, "labels");
  int code = name_columns(own, r, Y->rows);
  if (code != EXIT_DONE) return code;
  own->labels = make_cells(Y, v);
  if (own->labels == NULL) return cli_fail(EXIT_FAILED, "out of memory");
  r->labels = texts(own->labels, Y->rows, Y->cols);
  if (found.rows == Y->rows && found.cols == Y->cols) {
    own->answers = make_cells(&found, v);
    if (own->answers == NULL) return cli_fail(EXIT_FAILED, "out of memory");
    r->answers = texts(own->answers, Y->rows, Y->cols);
  }
  return name_classes(own, r, v, Y->rows);
}

int report_labels(cli *c, report_parts *own, lapis_report *r)
{
  lapis_mat none = {.cols = 0}, found = report_numbers(own, "labels"), Y = none;
  const lapis_array *names = lapis_arrays_find(&own->all, "names");
  lapis_mat classes = none;
  int code = EXIT_DONE;
  r->scores = report_member(own, "scores");
  if (names != NULL && names->mat.dtype == LAPIS_TEXT) r->names = names->mat;
  if (own->data != NULL) {
    Y = lapis_dataset_data(own->data)->Y;
    classes = lapis_dataset_text(own->data, "class_names");
  }
  if (Y.cols != r->scores.cols) Y = none; /* of something else */
  if (r->names.cols != r->scores.cols) r->names = none;
  if (Y.rows == 1) code = values_find(&Y, &found, &classes, &own->kinds);
  if (code == EXIT_DONE && Y.cols > 0)
    code = make_labels(own, r, &Y, &own->kinds);
  if (code == EXIT_DONE && Y.cols > 0)
    code = list_suspects(own, r, &own->kinds);
  return code == EXIT_DONE ? read_truth(c, own, r, &own->kinds) : code;
}
