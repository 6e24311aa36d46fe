/* pairs.c - single entries of a matrix that was completed by factors. */
#include "mat/mat.h"
#include "model/model.h"

static lapis_status check_pair(lapis_ctx *ctx, int64_t k, int64_t sample,
                               int64_t samples, int64_t feature,
                               int64_t features)
{
  bool row = sample >= 0 && sample < samples;
  if (row && feature >= 0 && feature < features) return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_ESHAPE,
                    "predict: pair %" PRId64 ": %s %" PRId64 " of %" PRId64
                    ", counted from 1, is not in the model",
                    k + 1, row ? "column" : "row", (row ? feature : sample) + 1,
                    row ? features : samples);
}

lapis_status lapis_model_pairs(lapis_ctx *ctx, const lapis_model *m,
                               int64_t count, const int64_t *sample,
                               const int64_t *feature, double *out)
{
  NEEDS(ctx, m);
  const lapis_mat *A = named_numbers(&m->learned, "factors", -1, -1);
  const lapis_mat *B = named_numbers(&m->learned, "sample_factors", -1, -1);
  if (A == NULL || B == NULL || A->cols != B->rows || m->features < 1 ||
      A->rows < m->features)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "predict: the %s model keeps no factors of its samples; "
                      "'fit mc --solver factored --model F.lapis' writes one "
                      "that does",
                      m->method->name);
  /* its rows: labels, features and, with labels, the ones */
  int64_t rest = A->rows - m->features, first = rest > 0 ? rest - 1 : 0;
  for (int64_t k = 0; k < count; k++) {
    TRY(check_pair(ctx, k, sample[k], B->cols, feature[k], m->features));
    out[k] = 0;
    for (int64_t c = 0; c < B->rows; c++)
      out[k] += lapis_mat_at(A, first + feature[k], c) *
                lapis_mat_at(B, c, sample[k]);
  }
  return LAPIS_OK;
}
