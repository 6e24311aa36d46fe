/* report_answers.c - the answers of a result as a table, a row a sample. */
#include <stdlib.h>

#include "report.h"

/* A row of a matrix. */
static lapis_mat row_of(const lapis_mat *m, int64_t row)
{
  lapis_mat one = *m;
  one.rows = 1;
  one.val = (char *)m->val + row * (m->dtype == LAPIS_F32 ? 4 : 8);
  return one;
}

static void add(report_parts *own, lapis_report *r, lapis_mat values,
                const char *title, const char *of)
{
  char *to = own->titles[r->columns];
  snprintf(to, REPORT_TITLE, "%s%s%s", title, of == NULL ? "" : " of ",
           of == NULL ? "" : of);
  own->column[r->columns++] =
      (lapis_sheet_column){.title = to,
                           .values = values,
                           .rounded = values.dtype != LAPIS_TEXT,
                           .decimals = -1};
}

/* What row k of K is of: a class, of one row the second. */
static const char *class_of(const lapis_mat *names, int64_t k, int64_t K)
{
  bool text = names->dtype == LAPIS_TEXT;
  if (text && K == 1 && names->cols == 2)
    k = 1;
  else if (!text || names->cols != K)
    return NULL;
  return ((const char *const *)names->val)[k * names->ld];
}

static lapis_mat member(const report_parts *own, const char *name)
{
  const lapis_array *a = lapis_arrays_find(&own->all, name);
  bool fits = a != NULL && a->mat.colptr == NULL &&
              (a->mat.dtype == LAPIS_TEXT || a->mat.dtype == LAPIS_F64 ||
               a->mat.dtype == LAPIS_F32);
  return fits ? a->mat : (lapis_mat){.cols = 0};
}

static bool add_names(report_parts *own, lapis_report *r, int64_t n)
{
  lapis_mat names = member(own, "names");
  if (names.dtype == LAPIS_TEXT && names.cols == n) {
    add(own, r, names, "id", NULL);
    return true;
  }
  own->numbers = malloc(((size_t)n + 1) * sizeof *own->numbers);
  if (own->numbers == NULL) return false;
  for (int64_t j = 0; j < n; j++) own->numbers[j] = (double)j + 1;
  add(own, r, lapis_mat_f64(own->numbers, 1, n), "row", NULL);
  own->column[0].rounded = false;
  return true;
}

int report_answers(report_parts *own, lapis_report *r)
{
  lapis_mat labels = member(own, "labels"), names = member(own, "class_names");
  lapis_mat numbers = member(own, "scores"); /* are their own answers */
  lapis_mat said = member(own, "probabilities");
  bool sure = said.cols > 0;
  if (!sure) said = numbers;
  const char *title = labels.cols > 0 ? "label" : "value";
  if (labels.cols == 0) {
    labels = numbers;
    said.rows = 0;
  }
  if (labels.cols == 0 || r->pictures > 0) return EXIT_DONE;
  if (said.cols != labels.cols) said.rows = 0;
  size_t count = (size_t)(1 + labels.rows + said.rows);
  own->column = calloc(count, sizeof *own->column);
  own->titles = calloc(count, sizeof *own->titles);
  if (own->column == NULL || own->titles == NULL ||
      !add_names(own, r, labels.cols))
    return cli_fail(EXIT_FAILED, "out of memory");
  for (int64_t k = 0; k < labels.rows; k++)
    add(own, r, row_of(&labels, k), title,
        labels.rows > 1 ? class_of(&names, k, labels.rows) : NULL);
  for (int64_t k = 0; k < said.rows; k++)
    add(own, r, row_of(&said, k), sure ? "probability" : "score",
        class_of(&names, k, said.rows));
  r->column = own->column;
  return EXIT_DONE;
}
