/* roc.c - the ROC curve of each class, and the area under it. */
#include <math.h>

#include "folds/rank.h"
#include "images/page/page.h"
#include "lapis/choose.h"
#include "mat/mat.h"

enum { SIDE = 200, EDGE = 8, MOST_POINTS = 240 };

typedef struct curve {
  double *truth, *score, *x, *y; /* n, n, n + 1, n + 1 */
  int64_t count;                 /* of points */
  int64_t known, positives;
  double area;
} curve;

static const lapis_mat *judged(const lapis_report *w)
{
  return mat_empty(&w->held_out) ? &w->scores : &w->held_out;
}

static double truth_of(const lapis_report *w, int64_t c, int64_t j)
{
  if (w->truth.rows == judged(w)->rows) return lapis_mat_at(&w->truth, c, j);
  double v = lapis_mat_at(&w->truth, 0, j);
  return isnan(v) ? NAN : v == (double)c;
}

static void collect(const lapis_report *w, int64_t c, curve *k)
{
  const lapis_mat *scores = judged(w);
  k->known = k->positives = 0;
  for (int64_t j = 0; j < scores->cols; j++) {
    double truth = truth_of(w, c, j), score = lapis_mat_at(scores, c, j);
    if (isnan(truth) || !isfinite(score)) continue;
    k->positives += truth > 0;
    k->score[k->known] = score;
    k->truth[k->known++] = truth > 0;
  }
}

static void put_path(page *p, const curve *k)
{
  int64_t every = 1 + (k->count - 1) / MOST_POINTS;
  for (int64_t i = 0; i < k->count; i += every) {
    if (i + every >= k->count) i = k->count - 1; /* the last one for certain */
    page_print(p, "%c%.1f %.1f", i == 0 ? 'M' : 'L', EDGE + SIDE * k->x[i],
               EDGE + SIDE * (1 - k->y[i]));
  }
}

static void put_class(page *p, const lapis_report *w, int64_t c, const curve *k)
{
  int wide = SIDE + 2 * EDGE;
  page_words(p, "<figure class=\"roc\"><figcaption><strong>");
  page_class_name(p, w, c);
  page_print(p, "</strong> AUROC %.3f</figcaption>\n", k->area);
  page_print(p,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
             "role=\"img\" aria-label=\"ROC curve of ",
             wide, wide);
  page_class_name(p, w, c);
  page_print(p,
             ": area %.3f\"><path class=\"area\" d=\"M%d %dh%dv%dh%dz\"/>"
             "<path class=\"grid\" d=\"M%d %dL%d %d\"/>"
             "<path class=\"line l0\" d=\"",
             k->area, EDGE, EDGE, SIDE, SIDE, -SIDE, EDGE, EDGE + SIDE,
             EDGE + SIDE, EDGE);
  put_path(p, k);
  page_print(p,
             "\"/></svg>\n<p>%" PRId64 " positive, %" PRId64
             " negative</p></figure>\n",
             k->positives, k->known - k->positives);
}

static lapis_status put_curve(page *p, const lapis_report *w, int64_t c,
                              curve *k)
{
  collect(w, c, k);
  if (k->positives == 0 || k->positives == k->known) return LAPIS_OK;
  TRY(metric_auroc(p->ctx, k->truth, k->score, k->known, &k->area));
  TRY(metric_roc(p->ctx, k->truth, k->score, k->known, k->x, k->y, &k->count));
  put_class(p, w, c, k);
  return LAPIS_OK;
}

static void put_roc(page *p, const lapis_report *w)
{
  int64_t n = judged(w)->cols;
  double *room = base_alloc(p->ctx, 4 * (n + 1), sizeof *room);
  if (room == NULL) {
    p->status = LAPIS_ENOMEM;
    return;
  }
  curve k = {.truth = room,
             .score = room + n + 1,
             .x = room + 2 * (n + 1),
             .y = room + 3 * (n + 1)};
  page_words(p, "<p>Up: share of the positives found; right: share of the "
                "negatives taken for positives. Over the samples whose truth "
                "is known");
  page_words(p, mat_empty(&w->held_out)
                    ? ".</p>\n<div class=\"rocs\">\n"
                    : ", each scored while its label was hidden.</p>\n"
                      "<div class=\"rocs\">\n");
  for (int64_t c = 0; c < judged(w)->rows && p->status >= 0; c++) {
    lapis_status s = put_curve(p, w, c, &k);
    if (s < 0) p->status = s;
  }
  page_words(p, "</div>\n");
  base_free(room);
}

static bool has_roc(const lapis_report *w)
{
  return !mat_empty(judged(w)) && !mat_empty(&w->truth);
}

const page_view view_roc = {"roc", "ROC curves", has_roc, put_roc, NULL};
