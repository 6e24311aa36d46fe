/* boxes.c - intersection over union of boxes (x0, y0, x1, y1). */
#include <math.h>

#include "lapis/choose.h"
#include "mat/mat.h"

static lapis_status check_boxes(lapis_ctx *ctx, const char *what,
                                const lapis_mat *A)
{
  TRY(mat_check_finite(ctx, "iou", what, A, false));
  for (int64_t i = 0; i < A->cols; i++)
    if (lapis_mat_at(A, 2, i) < lapis_mat_at(A, 0, i) ||
        lapis_mat_at(A, 3, i) < lapis_mat_at(A, 1, i))
      return lapis_fail(ctx, LAPIS_EDATA,
                        "iou: box %" PRId64 " of %s ends before it begins; a "
                        "row is x0, y0, x1, y1",
                        i + 1, what);
  return LAPIS_OK;
}

static double overlap(double a0, double a1, double b0, double b1)
{
  return fmax(fmin(a1, b1) - fmax(a0, b0), 0);
}

/* Boxes without area overlap with nothing, not even with themselves. */
static double box_iou(const lapis_mat *A, const lapis_mat *B, int64_t i)
{
  double a[4], b[4];
  for (int r = 0; r < 4; r++) {
    a[r] = lapis_mat_at(A, r, i);
    b[r] = lapis_mat_at(B, r, i);
  }
  double both =
      overlap(a[0], a[2], b[0], b[2]) * overlap(a[1], a[3], b[1], b[3]);
  double all = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]);
  return both > 0 ? both / (all - both) : 0;
}

lapis_status lapis_iou(lapis_ctx *ctx, const lapis_mat *truth,
                       const lapis_mat *found, double *each, double *mean,
                       double *correct)
{
  NEEDS(ctx, truth, found, mean, correct);
  *mean = *correct = NAN;
  TRY(mat_check_numbers(ctx, "iou", "the truth", truth));
  TRY(mat_check_numbers(ctx, "iou", "the answer", found));
  if (truth->rows != 4 || found->rows != 4 || truth->cols != found->cols)
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "iou: the truth is %" PRId64 " boxes of %" PRId64
                      " numbers, the answer %" PRId64 " of %" PRId64
                      "; four are needed, and as many boxes",
                      truth->cols, truth->rows, found->cols, found->rows);
  TRY(check_boxes(ctx, "truth", truth));
  TRY(check_boxes(ctx, "scores", found));
  double sum = 0, right = 0;
  for (int64_t i = 0; i < truth->cols; i++) {
    double v = box_iou(truth, found, i);
    if (each != NULL) each[i] = v;
    sum += v;
    right += v > 0.5;
  }
  if (truth->cols == 0) return LAPIS_OK;
  *mean = sum / (double)truth->cols;
  *correct = right / (double)truth->cols;
  return LAPIS_OK;
}
