/* representatives.c - what each class looks like: the features that the
 * completion gives to a sample of one class alone, its representative.
 *
 * As a picture where samples are pictures, else as a profile, a bar a feature
 * (or a group of neighbours, of which the one that is farthest from 0); in
 * words, what it has more of than the mean of all; and the samples that are
 * most like it. */
#include <math.h>
#include <stdio.h>

#include "images/page/page.h"
#include "mat/mat.h"

enum { BARS = 200, STANDING_OUT = 5, NEAREST = 4, TALL = 40 };

static bool has_classes(const lapis_report *w)
{
  return !mat_empty(&w->class_features);
}

/* ---- the whole of it ----------------------------------------------------*/
/* The entry of rows first .. last - 1 that is farthest from 0. */
static double farthest(const lapis_mat *A, int64_t r, int64_t first,
                       int64_t last)
{
  double most = 0;
  for (int64_t i = first; i < last; i++) {
    double v = lapis_mat_at(A, i, r);
    if (fabs(v) > fabs(most)) most = v;
  }
  return most;
}

static void put_profile(page *p, const lapis_report *w, int64_t r)
{
  const lapis_mat *A = &w->class_features;
  int64_t d = A->rows, bars = d < BARS ? d : BARS;
  double most = fabs(farthest(A, r, 0, d)), low = 0;
  for (int64_t i = 0; i < d; i++) low = fmin(low, lapis_mat_at(A, i, r));
  double room = most > 0 ? most : 1, zero = low < 0 ? TALL / 2.0 : TALL;
  page_print(p,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %" PRId64
             " %d\" preserveAspectRatio=\"none\" class=\"profile\" "
             "role=\"img\" aria-label=\"%" PRId64 " features, from %.3g to "
             "%.3g\"><path d=\"",
             bars, TALL, d, low, most);
  for (int64_t b = 0; b < bars; b++) {
    double v = farthest(A, r, b * d / bars, (b + 1) * d / bars);
    page_print(p, "M%" PRId64 " %.4gv%.3gh1v%.3gz", b, zero, -zero * v / room,
               zero * v / room);
  }
  page_words(p, "\"/></svg>\n");
}

static void put_picture(page *p, const lapis_report *w, int64_t r)
{
  const lapis_mat *A = &w->class_features;
  double low = INFINITY, high = -INFINITY;
  char alt[64];
  for (int64_t i = 0; i < A->rows; i++) {
    low = fmin(low, lapis_mat_at(A, i, r));
    high = fmax(high, lapis_mat_at(A, i, r));
  }
  snprintf(alt, sizeof alt, "representative %" PRId64, r + 1);
  page_sample(p, w, A, r, low, high, alt);
}

/* ---- what it has more of ------------------------------------------------*/
static double column_size(const lapis_mat *A, int64_t j)
{
  double sum = 0;
  for (int64_t i = 0; i < A->rows; i++) sum += fabs(lapis_mat_at(A, i, j));
  return sum > 0 ? sum : 1;
}

/* mean: d, of the representatives as shares of their sums. */
static void find_mean(const lapis_mat *A, double *mean)
{
  for (int64_t k = 0; k < A->cols; k++) {
    double all = column_size(A, k) * (double)A->cols;
    for (int64_t i = 0; i < A->rows; i++)
      mean[i] += lapis_mat_at(A, i, k) / all;
  }
}

/* Features by what their shares are above the mean; the first of equal ones. */
static void put_standing_out(page *p, const lapis_mat *A, const double *mean,
                             int64_t r)
{
  int64_t last = -1;
  double before = INFINITY, size = column_size(A, r);
  for (int k = 0; k < STANDING_OUT; k++) {
    int64_t best = -1;
    double most = 0;
    for (int64_t i = 0; i < A->rows; i++) {
      double v = lapis_mat_at(A, i, r) / size - mean[i];
      bool left = v < before || (v <= before && i > last);
      if (!left || v <= most) continue;
      most = v;
      best = i;
    }
    if (best < 0) break;
    page_print(p, "%s%" PRId64,
               k == 0 ? "<p>More than others of feature " : ", ", best + 1);
    last = best;
    before = most;
  }
  if (last >= 0) page_words(p, "</p>\n");
}

/* ---- samples like it ----------------------------------------------------*/
static double alike(const lapis_report *w, int64_t r, int64_t j)
{
  double both = 0, own = 0;
  for (int64_t i = 0; i < w->clean.rows; i++) {
    double x = lapis_mat_at(&w->clean, i, j);
    both += x * lapis_mat_at(&w->class_features, i, r);
    own += x * x;
  }
  return own > 0 ? both / sqrt(own) : 0;
}

/* likeness: room for a number a sample. */
static void put_nearest(page *p, const lapis_report *w, int64_t r,
                        double *likeness)
{
  int64_t n = w->clean.cols;
  bool any = false;
  for (int64_t j = 0; j < n; j++) likeness[j] = alike(w, r, j);
  for (int k = 0; k < NEAREST; k++) {
    int64_t best = -1;
    for (int64_t j = 0; j < n; j++)
      if (isfinite(likeness[j]) && (best < 0 || likeness[j] > likeness[best]))
        best = j;
    if (best < 0) break;
    page_words(p, any ? "<li>"
                      : "<p>Most like it:</p>\n<ul class=\"like\">\n<li>");
    page_thumbnail(p, w, best);
    if (mat_empty(&w->names))
      page_print(p, "sample %" PRId64, best + 1);
    else
      page_sample_name(p, w, best);
    page_words(p, "</li>\n");
    likeness[best] = -INFINITY;
    any = true;
  }
  if (any) page_words(p, "</ul>\n");
}

static void put_all(page *p, const lapis_report *w, const double *mean,
                    double *likeness)
{
  const lapis_mat *A = &w->class_features;
  bool picture = w->height * w->width == A->rows;
  for (int64_t r = 0; r < A->cols; r++) {
    page_print(p, "<div id=\"r%" PRId64 "\">\n", r);
    page_words(p, "<strong>");
    page_class_name(p, w, r);
    page_words(p, "</strong>\n");
    if (picture)
      put_picture(p, w, r);
    else
      put_profile(p, w, r);
    if (!picture) put_standing_out(p, A, mean, r);
    if (w->clean.rows == A->rows) put_nearest(p, w, r, likeness);
    page_words(p, "</div>\n");
  }
}

static void put_classes(page *p, const lapis_report *w)
{
  double *mean = base_alloc(p->ctx, w->class_features.rows, sizeof *mean);
  double *likeness = base_alloc(p->ctx, w->clean.cols, sizeof *likeness);
  bool room = mean != NULL && likeness != NULL;
  if (!room) p->status = LAPIS_ENOMEM;
  page_words(p,
             "<p>What the completion gives to a sample that is of this class "
             "alone.</p>\n<div class=\"classes\">\n");
  if (room) find_mean(&w->class_features, mean);
  if (room) put_all(p, w, mean, likeness);
  page_words(p, "</div>\n");
  base_free(mean);
  base_free(likeness);
}

const page_view view_classes = {"classes", "What classes look like",
                                has_classes, put_classes, NULL};
