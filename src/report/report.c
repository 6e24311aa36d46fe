/* report.c - the page of a result: pictures, curves, numbers. */
#include "lapis/lapis_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lapis/lapis_io.h"
#include "mat/mat.h"
#include "report/page.h"

enum { MAX_NUMBERS = 600 };

lapis_report lapis_report_defaults(void)
{
  return (lapis_report){
      .size = sizeof(lapis_report), .title = "LAPIS", .count = 8};
}

/* ---- checks -------------------------------------------------------------*/
static lapis_status check_like(lapis_ctx *ctx, const char *name,
                               const lapis_mat *A, const lapis_mat *like)
{
  if (mat_empty(A) || (A->rows == like->rows && A->cols == like->cols))
    return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_ESHAPE,
                    "report: %s has %" PRId64 " samples of %" PRId64
                    " features, the clean part has %" PRId64 " of %" PRId64,
                    name, A->cols, A->rows, like->cols, like->rows);
}

static lapis_status check(lapis_ctx *ctx, const lapis_report *w)
{
  const lapis_mat *like = &w->clean;
  if (mat_empty(like) && mat_empty(&w->history) && mat_empty(&w->scores) &&
      mat_empty(&w->points) && w->pictures + w->suspects + w->facts == 0)
    return lapis_fail(ctx, LAPIS_EMISSING,
                      "report: there is nothing to show: neither a clean part "
                      "(low_rank), scores, matches nor a history");
  TRY(check_like(ctx, "the input", &w->input, like));
  TRY(check_like(ctx, "the removed part (sparse)", &w->removed, like));
  TRY(check_like(ctx, "the filled data", &w->filled, like));
  if (w->first < 0 || w->count < 0 ||
      (!mat_empty(like) && w->first >= like->cols))
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "report: sample %" PRId64 " is the first to be drawn, "
                      "there are %" PRId64,
                      w->first + 1, like->cols);
  bool fits = w->height >= 0 && w->width >= 0 && w->height <= 4096 &&
              w->width <= 4096 && w->height * w->width == like->rows;
  if ((w->height == 0 && w->width == 0) || fits) return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_ESHAPE,
                    "report: pictures of %" PRId64 " x %" PRId64
                    " do not have the %" PRId64 " features of a sample",
                    w->height, w->width, like->rows);
}

/* ---- pictures -----------------------------------------------------------*/
typedef struct scale {
  double low, high, most; /* of what is seen; largest |removed| */
} scale;

static void widen(const lapis_mat *A, int64_t j, scale *s)
{
  for (int64_t i = 0; !mat_empty(A) && i < A->rows; i++) {
    double v = lapis_mat_at(A, i, j);
    s->low = fmin(s->low, v); /* NaN is ignored */
    s->high = fmax(s->high, v);
  }
}

static scale find_scale(const lapis_report *w, int64_t first, int64_t end)
{
  scale s = {INFINITY, -INFINITY, 0};
  for (int64_t j = first; j < end; j++) {
    widen(&w->input, j, &s);
    widen(&w->clean, j, &s);
    for (int64_t i = 0; !mat_empty(&w->removed) && i < w->removed.rows; i++)
      s.most = fmax(s.most, fabs(lapis_mat_at(&w->removed, i, j)));
  }
  return s;
}

static unsigned char level(double share)
{
  return (unsigned char)(255 * fmin(fmax(share, 0), 1) + 0.5);
}

/* Grey from the lowest to the highest; magenta where nothing was seen. */
static void grey(double v, const scale *s, unsigned char rgb[3])
{
  double wide = s->high - s->low;
  unsigned char g = level(wide > 0 ? (v - s->low) / wide : 0.5);
  rgb[0] = rgb[2] = isnan(v) ? 255 : g;
  rgb[1] = isnan(v) ? 0 : g;
}

/* White is nothing; red too high in the input, blue too low. */
static void signed_colour(double v, const scale *s, unsigned char rgb[3])
{
  double share = s->most > 0 ? v / s->most : 0;
  rgb[0] = level(1 + fmin(share, 0));
  rgb[1] = level(1 - fabs(share));
  rgb[2] = level(1 - fmax(share, 0));
}

typedef void (*colour_fn)(double v, const scale *s, unsigned char rgb[3]);

static void draw(page *p, const lapis_report *w, const lapis_mat *A, int64_t j,
                 const scale *s, colour_fn colour, const char *what)
{
  unsigned char *rgb = base_alloc_raw(p->ctx, 3 * A->rows, 1);
  char alt[80];
  if (rgb == NULL) {
    p->status = LAPIS_ENOMEM;
    return;
  }
  for (int64_t i = 0; i < A->rows; i++)
    colour(lapis_mat_at(A, i, j), s, rgb + 3 * i);
  snprintf(alt, sizeof alt, "%s, sample %" PRId64, what, j + 1);
  page_print(p, "<td>");
  page_picture(p, rgb, w->height, w->width, alt);
  page_print(p, "</td>");
  base_free(rgb);
}

static void draw_row(page *p, const lapis_report *w, int64_t j, const scale *s)
{
  page_print(p, "<tr><th>%" PRId64 "</th>", j + 1);
  if (!mat_empty(&w->input)) {
    draw(p, w, &w->input, j, s, grey, "input");
    page_print(p, "<td>=</td>");
  }
  draw(p, w, &w->clean, j, s, grey, "clean");
  if (!mat_empty(&w->removed)) {
    page_print(p, "<td>+</td>");
    draw(p, w, &w->removed, j, s, signed_colour, "removed");
  }
  if (!mat_empty(&w->filled)) draw(p, w, &w->filled, j, s, grey, "filled");
  page_print(p, "</tr>\n");
}

static void put_pictures(page *p, const lapis_report *w)
{
  if (w->height == 0 || mat_empty(&w->clean)) return;
  int64_t end = w->first + w->count;
  if (end > w->clean.cols) end = w->clean.cols;
  scale s = find_scale(w, w->first, end);
  page_print(p, "<h2>Samples</h2>\n<table class=\"samples\">\n<tr><th></th>");
  if (!mat_empty(&w->input)) page_print(p, "<th>input</th><th></th>");
  page_print(p, "<th>clean</th>");
  if (!mat_empty(&w->removed)) page_print(p, "<th></th><th>removed</th>");
  if (!mat_empty(&w->filled)) page_print(p, "<th>filled</th>");
  page_print(p, "</tr>\n");
  for (int64_t j = w->first; j < end; j++) draw_row(p, w, j, &s);
  page_print(p,
             "</table>\n<p>Grey: %g to %g. Removed: red too high, blue too "
             "low, full colour at %g. Magenta: missing.</p>\n",
             s.low, s.high, s.most);
}

/* ---- curves -------------------------------------------------------------*/
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
  if (mat_empty(H) || H->dtype != LAPIS_F64) return;
  c.stride = H->ld;
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

/* ---- numbers ------------------------------------------------------------*/
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

/* ---- facts and settings -------------------------------------------------*/
static void put_rows(page *p, const char *title, const lapis_report_row *row,
                     int64_t count)
{
  if (count == 0) return;
  page_print(p, "<h2>%s</h2>\n<table class=\"rows\">\n", title);
  for (int64_t i = 0; i < count; i++) {
    page_print(p, "<tr><th>");
    page_escape(p, row[i].name);
    page_print(p, "</th><td>");
    page_escape(p, row[i].value);
    page_print(p, "</td></tr>\n");
  }
  page_print(p, "</table>\n");
}

static void put_command(page *p, const char *command)
{
  if (command == NULL) return;
  page_print(p, "<pre><code>");
  page_escape(p, command);
  page_print(p, "</code></pre>\n");
}

/* ---- the page -----------------------------------------------------------*/
static void put_head(page *p, const char *title)
{
  page_print(p, "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" "
                "lang=\"en\">\n<head><meta charset=\"utf-8\"/><title>");
  page_escape(p, title);
  page_print(p, "</title>\n<style>"
                "body{font:16px sans-serif;max-width:60em;margin:2em auto}"
                "img{image-rendering:pixelated}td,th{padding:2px 6px}"
                "svg text{font:12px sans-serif}.grid{stroke:#ddd}"
                ".line{fill:none;stroke-width:1.5}"
                "figcaption{font-weight:bold}</style></head>\n<body><h1>");
  page_escape(p, title);
  page_print(p, "</h1>\n");
}

static void compose(page *p, const lapis_report *w)
{
  put_head(p, w->title == NULL ? "LAPIS" : w->title);
  if (!mat_empty(&w->clean))
    page_print(p, "<p>%" PRId64 " samples of %" PRId64 " features.</p>\n",
               w->clean.cols, w->clean.rows);
  put_rows(p, "Figures", w->fact, w->facts);
  put_pictures(p, w);
  put_singular_values(p, w);
  put_convergence(p, w);
  put_numbers(p, w);
  put_rows(p, "Settings", w->setting, w->settings);
  put_command(p, w->command);
  page_print(p, "</body></html>\n");
}

lapis_status lapis_report_write(lapis_ctx *ctx, const lapis_report *what,
                                const char *path)
{
  page p = {.ctx = ctx};
  TRY(check(ctx, what));
  compose(&p, what);
  lapis_status s = p.status;
  if (s >= 0) s = lapis_file_write(ctx, path, p.text, (size_t)p.used);
  page_free(&p);
  return s;
}
