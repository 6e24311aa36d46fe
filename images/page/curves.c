/* curves.c - singular values, convergence, and the numbers behind them. */
#include <stdlib.h>
#include <string.h>

#include "images/page/page.h"
#include "lapis/files.h"
#include "lapis/tools.h"
#include "mat/mat.h"

enum { MAX_NUMBERS = 600 };

static int column_of(const lapis_report *w, const char *name)
{
  const char *const *text = w->history_columns.val;
  for (int64_t k = 0; k < w->history_columns.cols; k++)
    if (strcmp(text[k], name) == 0 && k < w->history.rows) return (int)k;
  return -1;
}

static void put_convergence(page *p, const lapis_report *w)
{
  static const char *const wanted[] = {"gap", "residual"};
  const lapis_mat *H = &w->history;
  chart c = {.title = "Convergence",
             .x_name = "iteration",
             .n = H->cols,
             .x0 = 1,
             .step = 1};
  if (mat_empty(H)) return;
  c.stride = H->ld;
  int iteration = column_of(w, "iteration");
  if (iteration >= 0 && H->cols > 1) {
    c.x0 = lapis_mat_at(H, iteration, 0);
    c.step = (lapis_mat_at(H, iteration, H->cols - 1) - c.x0) /
             (double)(H->cols - 1);
  }
  for (int i = 0; i < 2; i++) {
    int k = column_of(w, wanted[i]);
    if (k < 0) continue;
    c.name[c.n_lines] = wanted[i];
    c.y[c.n_lines++] = (const double *)H->val + k;
  }
  page_chart(p, &c);
}

static void put_singular_values(page *p, const lapis_report *w)
{
  const lapis_mat *s = &w->singular_values;
  chart c = {.title = "Singular values of the clean part",
             .x_name = "number",
             .n_lines = 1,
             .name = {"singular value"},
             .n = s->cols,
             .stride = 1,
             .x0 = 1,
             .step = 1};
  if (mat_empty(s)) return;
  c.y[0] = s->val;
  page_chart(p, &c);
}

static lapis_json *list_of(const lapis_mat *A, int64_t row)
{
  lapis_json *list = lapis_json_list();
  int64_t every = 1 + (A->cols - 1) / MAX_NUMBERS;
  for (int64_t j = (A->cols - 1) % every; j < A->cols; j += every)
    lapis_json_put_number(list, NULL, lapis_mat_at(A, row, j));
  return list;
}

/* Columns of the history by name, thinned as the curves are. */
static void put_numbers(page *p, const lapis_report *w)
{
  lapis_json *all = lapis_json_object();
  const char *const *name = w->history_columns.val;
  if (!mat_empty(&w->singular_values))
    lapis_json_put(all, "singular_values", list_of(&w->singular_values, 0));
  for (int64_t k = 0; !mat_empty(&w->history) && k < w->history.rows &&
                      k < w->history_columns.cols;
       k++)
    lapis_json_put(all, name[k], list_of(&w->history, k));
  char *text = lapis_json_print(all);
  lapis_json_free(all);
  if (text == NULL) {
    p->status = LAPIS_ENOMEM;
    return;
  }
  page_print(p, "<script type=\"application/json\" id=\"numbers\">\n");
  page_bytes(p, text, (int64_t)strlen(text)); /* numbers and our own names */
  page_print(p, "</script>\n");
  free(text);
}

static bool has_curves(const lapis_report *w)
{
  return !mat_empty(&w->singular_values) || !mat_empty(&w->history);
}

static void put_curves(page *p, const lapis_report *w)
{
  page_words(p, "<div class=\"curves\">");
  put_singular_values(p, w);
  put_convergence(p, w);
  page_words(p, "</div>\n");
  put_numbers(p, w);
}

const page_view view_curves = {"curves", "Solution", has_curves, put_curves,
                               NULL};
