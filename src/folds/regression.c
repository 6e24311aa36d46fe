/* regression.c - relative absolute error, R^2, squared and angle error.
 *
 *   rae          |S - Y|_F / |Y|_F [RR16 5.1.1], and the same row by row
 *   r2           1 - |s - y|^2 / |y - mean(y)|^2 of each row y with more than
 *                one value, and the mean over these rows
 *   rmse         root of the mean of (S - Y)^2, and the same row by row
 *   angle-error  rows cos and sin: mean absolute difference in degrees */
#include "folds/regression.h"

#include <math.h>

#include "mat/mat.h"

static lapis_status check(lapis_ctx *ctx, const char *name,
                          const lapis_mat *truth, const lapis_mat *scores,
                          int64_t rows)
{
  bool fits = scores->cols == truth->cols && scores->rows == truth->rows &&
              (rows == 0 || truth->rows == rows);
  if (fits) TRY(mat_check_finite(ctx, name, "the truth", truth, true));
  if (fits) return mat_check_finite(ctx, name, "scores", scores, false);
  return lapis_fail(ctx, LAPIS_ESHAPE,
                    "%s: truth has %" PRId64 " sample(s) of %" PRId64
                    " output(s), scores have %" PRId64 " of %" PRId64 "%s",
                    name, truth->cols, truth->rows, scores->cols, scores->rows,
                    rows == 2 ? "; cosine and sine are needed" : "");
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

lapis_status regression_rae(lapis_ctx *ctx, const lapis_mat *truth,
                            const lapis_mat *part, const lapis_mat *scores,
                            double *per_row, double *out)
{
  double miss = 0, size = 0;
  TRY(check(ctx, "rae", truth, scores, 0));
  for (int64_t i = 0; i < truth->rows; i++) {
    double m = 0, s = 0;
    add_row(part, scores, i, &m, &s);
    miss += m;
    size += s;
    if (per_row != NULL) per_row[i] = s > 0 ? sqrt(m / s) : NAN;
  }
  *out = size > 0 ? sqrt(miss / size) : NAN;
  return LAPIS_OK;
}

/* The mean of row i's known values; NaN where they do not vary: told by the
 * values themselves, as the mean of equal ones need not be one of them. */
static double centre(const lapis_mat *Y, int64_t i)
{
  double sum = 0, low = INFINITY, high = -INFINITY;
  int64_t n = 0;
  for (int64_t j = 0; j < Y->cols; j++) {
    double y = lapis_mat_at(Y, i, j);
    if (isnan(y)) continue;
    sum += y;
    low = fmin(low, y);
    high = fmax(high, y);
    n++;
  }
  return low < high ? sum / (double)n : NAN;
}

lapis_status regression_r2(lapis_ctx *ctx, const lapis_mat *truth,
                           const lapis_mat *part, const lapis_mat *scores,
                           double *per_row, double *out)
{
  double sum = 0;
  int64_t have = 0;
  TRY(check(ctx, "r2", truth, scores, 0));
  for (int64_t i = 0; i < truth->rows; i++) {
    double miss = 0, spread = 0, mean = centre(part, i), size = 0, r2 = NAN;
    add_row(part, scores, i, &miss, &size);
    for (int64_t j = 0; j < part->cols; j++) {
      double off = lapis_mat_at(part, i, j) - mean;
      if (!isnan(off)) spread += off * off;
    }
    if (spread > 0) r2 = 1 - miss / spread;
    if (per_row != NULL) per_row[i] = r2;
    if (isnan(r2)) continue;
    sum += r2;
    have++;
  }
  *out = have > 0 ? sum / (double)have : NAN;
  return LAPIS_OK;
}

lapis_status regression_rmse(lapis_ctx *ctx, const lapis_mat *truth,
                             const lapis_mat *part, const lapis_mat *scores,
                             double *per_row, double *out)
{
  double miss = 0, count = 0;
  TRY(check(ctx, "rmse", truth, scores, 0));
  for (int64_t i = 0; i < truth->rows; i++) {
    double m = 0, size = 0, known = 0;
    add_row(part, scores, i, &m, &size);
    for (int64_t j = 0; j < part->cols; j++)
      known += !isnan(lapis_mat_at(part, i, j));
    miss += m;
    count += known;
    if (per_row != NULL) per_row[i] = known > 0 ? sqrt(m / known) : NAN;
  }
  *out = count > 0 ? sqrt(miss / count) : NAN;
  return LAPIS_OK;
}

static double angle(const lapis_mat *A, int64_t j)
{
  return atan2(lapis_mat_at(A, 1, j), lapis_mat_at(A, 0, j));
}

lapis_status regression_angle(lapis_ctx *ctx, const lapis_mat *truth,
                              const lapis_mat *part, const lapis_mat *scores,
                              double *per_row, double *out)
{
  const double degrees = 57.295779513082323;
  double sum = 0;
  int64_t n = 0;
  TRY(check(ctx, "angle-error", truth, scores, 2));
  for (int64_t j = 0; j < truth->cols; j++) {
    double d = angle(scores, j) - angle(part, j);
    if (isnan(d)) continue;
    sum += fabs(atan2(sin(d), cos(d))) * degrees;
    n++;
  }
  *out = n > 0 ? sum / (double)n : NAN;
  for (int64_t i = 0; per_row != NULL && i < 2; i++) per_row[i] = NAN;
  return LAPIS_OK;
}
