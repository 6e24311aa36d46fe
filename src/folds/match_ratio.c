/* match_ratio.c - how much of a true correspondence was found.
 *
 * Pairs of images are counted, not slots: two features of different images are
 * a pair when they share a slot.  So neither the order of slots matters nor
 * which of them is called which. */
#include <math.h>

#include "lapis/choose.h"
#include "mat/mat.h"

/* ---- checks -------------------------------------------------------------*/
static lapis_status check_entries(lapis_ctx *ctx, const char *what,
                                  const lapis_mat *A)
{
  for (int64_t k = 0; k < A->cols; k++)
    for (int64_t j = 0; j < A->rows; j++) {
      double v = lapis_mat_at(A, j, k);
      if (!(v >= -1) || v > 0x1p40 || v != floor(v))
        return lapis_fail(ctx, LAPIS_EDATA,
                          "match-ratio: %s is %g at image %" PRId64
                          ", slot %" PRId64 "; rows of X are whole numbers, "
                          "-1 where missing",
                          what, v, k + 1, j + 1);
    }
  return LAPIS_OK;
}

static lapis_status check(lapis_ctx *ctx, const lapis_mat *truth,
                          const lapis_mat *found, const lapis_mat *inlier)
{
  if (truth->cols != found->cols || truth->rows == 0 || found->rows == 0)
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "match-ratio: the truth has %" PRId64
                      " images, the answer %" PRId64
                      "; a row is an image in both",
                      truth->cols, found->cols);
  if (inlier != NULL &&
      (inlier->rows != found->rows || inlier->cols != found->cols))
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "match-ratio: inlier and match differ in shape; both "
                      "have a row an image, a column a point");
  TRY(check_entries(ctx, "the truth", truth));
  return check_entries(ctx, "the answer", found);
}

/* ---- counting -----------------------------------------------------------*/
static int64_t row_at(const lapis_mat *A, int64_t j, int64_t k)
{
  return (int64_t)lapis_mat_at(A, j, k);
}

static int64_t largest(const lapis_mat *A, const lapis_mat *B)
{
  int64_t most = 0;
  const lapis_mat *both[] = {A, B};
  for (int i = 0; i < 2; i++)
    for (int64_t k = 0; k < both[i]->cols; k++)
      for (int64_t j = 0; j < both[i]->rows; j++) {
        int64_t r = row_at(both[i], j, k);
        most = r > most ? r : most;
      }
  return most;
}

/* Pairs within a slot that has m features: m (m - 1) / 2. */
static double pairs(double m)
{
  return m * (m - 1) / 2;
}

static double pairs_in(const lapis_mat *A)
{
  double sum = 0;
  for (int64_t j = 0; j < A->rows; j++) {
    double m = 0;
    for (int64_t k = 0; k < A->cols; k++) m += row_at(A, j, k) >= 0;
    sum += pairs(m);
  }
  return sum;
}

/* Pairs of one found slot and one true slot: of the features both hold. */
static double pairs_in_both(const lapis_mat *found, const int32_t *slot,
                            double *count, int64_t slots)
{
  double sum = 0;
  for (int64_t j = 0; j < found->rows; j++) {
    for (int64_t t = 0; t < slots; t++) count[t] = 0;
    for (int64_t k = 0; k < found->cols; k++) {
      int64_t r = row_at(found, j, k);
      if (r >= 0 && slot[r] > 0) count[slot[r] - 1]++;
    }
    for (int64_t t = 0; t < slots; t++) sum += pairs(count[t]);
  }
  return sum;
}

static void score_inliers(const lapis_mat *truth, const lapis_mat *found,
                          const lapis_mat *inlier, const int32_t *slot,
                          lapis_match_scores *out)
{
  double marked = 0, right = 0, all = 0;
  for (int64_t k = 0; k < found->cols; k++)
    for (int64_t j = 0; j < found->rows; j++) {
      int64_t r = row_at(found, j, k);
      bool yes = inlier == NULL || lapis_mat_at(inlier, j, k) > 0;
      if (r < 0 || !yes) continue;
      marked++;
      right += slot[r] > 0;
    }
  for (int64_t k = 0; k < truth->cols; k++)
    for (int64_t j = 0; j < truth->rows; j++) all += row_at(truth, j, k) >= 0;
  out->precision = marked > 0 ? right / marked : NAN;
  out->recall = all > 0 ? right / all : NAN;
}

lapis_status lapis_match_ratio(lapis_ctx *ctx, const lapis_mat *truth,
                               const lapis_mat *found, const lapis_mat *inlier,
                               lapis_match_scores *out)
{
  NEEDS(ctx, truth, found, out);
  *out = (lapis_match_scores){NAN, NAN, NAN, NAN};
  TRY(mat_check_numbers(ctx, "match", "the truth", truth));
  TRY(mat_check_numbers(ctx, "match", "the answer", found));
  if (inlier != NULL) TRY(mat_check_numbers(ctx, "match", "inlier", inlier));
  TRY(check(ctx, truth, found, inlier));
  int64_t rows = largest(truth, found) + 1;
  int32_t *slot = base_alloc(ctx, rows, sizeof *slot); /* 0: none */
  double *count = base_alloc(ctx, truth->rows, sizeof *count);
  if (slot != NULL && count != NULL) {
    for (int64_t k = 0; k < truth->cols; k++)
      for (int64_t j = 0; j < truth->rows; j++)
        if (row_at(truth, j, k) >= 0)
          slot[row_at(truth, j, k)] = (int32_t)(j + 1);
    double both = pairs_in_both(found, slot, count, truth->rows);
    out->match_ratio = both / pairs_in(found);
    out->identification_ratio = both / pairs_in(truth);
    score_inliers(truth, found, inlier, slot, out);
  }
  bool ok = slot != NULL && count != NULL;
  base_free(slot);
  base_free(count);
  return ok ? LAPIS_OK : LAPIS_ENOMEM;
}
