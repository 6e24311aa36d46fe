/* whole.c - relative absolute error, angle error, accuracy.
 *
 *   rae          |S - Y|_F / |Y|_F [RR16 5.1.1], and the same row by row
 *   angle-error  rows cos and sin: mean absolute difference in degrees
 *   accuracy     share of samples whose label is right; scores of several
 *                rows stand for the largest one's class */
#include "eval/whole.h"

#include <math.h>

#include "mat/mat.h"

static lapis_status check(lapis_ctx *ctx, const char *name,
                          const lapis_mat *truth, const lapis_mat *scores,
                          int64_t rows)
{
  bool fits = scores->cols == truth->cols && scores->rows == truth->rows &&
              (rows == 0 || truth->rows == rows);
  if (fits) return mat_check_finite(ctx, name, "scores", scores, false);
  return lapis_fail(ctx, LAPIS_ESHAPE,
                    "%s: truth has %" PRId64 " samples of %" PRId64
                    " outputs, scores have %" PRId64 " of %" PRId64 "%s",
                    name, truth->cols, truth->rows, scores->cols, scores->rows,
                    rows == 2 ? "; cosine and sine are wanted" : "");
}

static void add_row(const lapis_mat *truth, const lapis_mat *scores, int64_t i,
                    double *miss, double *size)
{
  for (int64_t j = 0; j < truth->cols; j++) {
    double y = lapis_mat_at(truth, i, j);
    if (isnan(y)) continue;
    double e = lapis_mat_at(scores, i, j) - y;
    *miss += e * e;
    *size += y * y;
  }
}

lapis_status whole_rae(lapis_ctx *ctx, const lapis_mat *truth,
                       const lapis_mat *scores, double *per_row, double *out)
{
  double miss = 0, size = 0;
  TRY(check(ctx, "rae", truth, scores, 0));
  for (int64_t i = 0; i < truth->rows; i++) {
    double m = 0, s = 0;
    add_row(truth, scores, i, &m, &s);
    miss += m;
    size += s;
    if (per_row != NULL) per_row[i] = s > 0 ? sqrt(m / s) : NAN;
  }
  *out = size > 0 ? sqrt(miss / size) : NAN;
  return LAPIS_OK;
}

static double angle(const lapis_mat *A, int64_t j)
{
  return atan2(lapis_mat_at(A, 1, j), lapis_mat_at(A, 0, j));
}

lapis_status whole_angle(lapis_ctx *ctx, const lapis_mat *truth,
                         const lapis_mat *scores, double *per_row, double *out)
{
  const double degrees = 57.295779513082323;
  double sum = 0;
  int64_t n = 0;
  TRY(check(ctx, "angle-error", truth, scores, 2));
  for (int64_t j = 0; j < truth->cols; j++) {
    double d = angle(scores, j) - angle(truth, j);
    if (isnan(d)) continue;
    sum += fabs(atan2(sin(d), cos(d))) * degrees;
    n++;
  }
  *out = n > 0 ? sum / (double)n : NAN;
  for (int64_t i = 0; per_row != NULL && i < 2; i++) per_row[i] = NAN;
  return LAPIS_OK;
}

/* The class of the largest score: its number in the order of the values. */
static double label_of(const lapis_mat *scores, int64_t j, const targets *t)
{
  int64_t best = 0;
  if (scores->rows == 1) return lapis_mat_at(scores, 0, j);
  for (int64_t i = 1; i < scores->rows; i++)
    if (lapis_mat_at(scores, i, j) > lapis_mat_at(scores, best, j)) best = i;
  return best < t->n_values ? t->value[best] : NAN;
}

static double share_right(const lapis_mat *truth, const lapis_mat *scores,
                          const targets *t)
{
  double right = 0;
  int64_t n = 0;
  for (int64_t j = 0; j < truth->cols; j++) {
    double y = lapis_mat_at(truth, 0, j);
    if (isnan(y)) continue;
    right += fabs(label_of(scores, j, t) - y) <= 1e-9 * fabs(y);
    n++;
  }
  return n > 0 ? right / (double)n : NAN;
}

lapis_status whole_accuracy(lapis_ctx *ctx, const lapis_mat *truth,
                            const lapis_mat *scores, double *per_row,
                            double *out)
{
  targets t;
  if (truth->rows != 1 || truth->cols != scores->cols)
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "accuracy: truth has %" PRId64 " samples of %" PRId64
                      " columns, scores have %" PRId64
                      "; one column of classes is wanted",
                      truth->cols, truth->rows, scores->cols);
  TRY(targets_encode(ctx, "accuracy", truth, &t));
  *out = share_right(truth, scores, &t);
  targets_free(&t);
  for (int64_t i = 0; per_row != NULL && i < scores->rows; i++)
    per_row[i] = NAN;
  return LAPIS_OK;
}
