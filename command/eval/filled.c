/* filled.c - of a table of answers in which some labels were given: those
 * that were filled in alone.
 *
 * A label that was given is told rightly whoever answers, so that a figure of
 * all answers is too good.  Which were given stands in the column "origin" of
 * the table, or in one column "origin of L" a label; in the .npz of lapis label
 * in its array "known", a number an image. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval.h"

/* The column of the origins of target k, by its title in the table or its name
 * where it has one, else by its place; -1: there is none. */
static int64_t origin_column(const lapis_cells *t, const eval_answers *a,
                             int64_t k)
{
  const eval_pair *p = a->pair;
  const eval_columns *sheet = a->sheet;
  for (int64_t j = 0; sheet->count == p->truth.rows && j < t->columns; j++)
    if (strncmp(t->text[j], "origin of ", 10) == 0 &&
        strncmp(t->text[j] + 10, sheet->title[k], sizeof sheet->title[k] - 1) ==
            0)
      return j;
  const char *const *name = (const char *const *)p->names.val;
  bool named = p->name != NULL || p->names.cols == p->truth.rows;
  for (int64_t j = 0; j < t->columns; j++) {
    const char *title = t->text[j];
    if (p->truth.rows == 1 && strcmp(title, "origin") == 0) return j;
    if (strncmp(title, "origin of ", 10) != 0) continue;
    if (named ? strcmp(title + 10, name[k * p->names.ld]) == 0 : k-- == 0)
      return j;
  }
  return -1;
}

/* NaN where the table says "given"; false: it does not say. */
static bool drop_by_table(cli *c, const eval_answers *a, lapis_mat *part)
{
  lapis_cells t;
  double *y = part->val;
  if (lapis_cells_read(c->ctx, a->path, NULL, &t) < 0) return false;
  bool says = t.rows == part->cols + 1;
  for (int64_t k = 0; says && k < part->rows; k++) {
    int64_t at = origin_column(&t, a, k);
    says = at >= 0;
    for (int64_t j = 0; says && j < part->cols; j++)
      if (strcmp(t.text[(j + 1) * t.columns + at], "given") == 0)
        y[j * part->rows + k] = NAN;
  }
  lapis_cells_free(&t);
  return says;
}

/* The same by the array "known" of one target. */
static bool drop_by_array(cli *c, const char *path, lapis_mat *part)
{
  lapis_arrays all;
  double *y = part->val;
  if (lapis_arrays_read(c->ctx, path, &all) < 0) return false;
  const lapis_array *known = lapis_arrays_find(&all, "known");
  bool says = known != NULL && known->mat.dtype != LAPIS_TEXT &&
              part->rows == 1 && known->mat.rows == 1 &&
              known->mat.cols == part->cols;
  for (int64_t j = 0; says && j < part->cols; j++)
    if (lapis_mat_at(&known->mat, 0, j) > 0) y[j] = NAN;
  lapis_arrays_free(&all);
  return says;
}

static int64_t known_in(const lapis_mat *m)
{
  return m->rows * m->cols - lapis_mat_missing(m);
}

lapis_status eval_filled(cli *c, const eval_answers *a, eval_figures *out)
{
  const lapis_mat *Y = &a->pair->truth;
  size_t n = strlen(a->path);
  bool archive = n > 4 && strcmp(a->path + n - 4, ".npz") == 0;
  *out = (eval_figures){.labels = -1, .given = 0};
  double *y = malloc((size_t)(Y->rows * Y->cols + 1) * sizeof *y);
  if (y == NULL) return LAPIS_ENOMEM;
  lapis_mat part = lapis_mat_f64(y, Y->rows, Y->cols);
  for (int64_t k = 0; k < Y->rows * Y->cols; k++)
    y[k] = lapis_mat_at(Y, k % Y->rows, k / Y->rows);
  bool says = archive             ? drop_by_array(c, a->path, &part)
              : is_sheet(a->path) ? drop_by_table(c, a, &part)
                                  : false;
  lapis_status s = LAPIS_OK;
  if (says) {
    out->labels = known_in(&part);
    out->given = known_in(Y) - out->labels;
    out->per_class = malloc(((size_t)a->classes + 1) * sizeof *out->per_class);
    if (out->per_class == NULL) s = LAPIS_ENOMEM;
  }
  if (says && s >= 0)
    s = lapis_metric_part(c->ctx, a->metric, Y, &part, &a->pair->answers,
                          out->per_class, &out->mean);
  free(y);
  return s;
}
