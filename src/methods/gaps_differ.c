/* gaps_differ.c - features that are known of samples with a target, and are not
 * of those without, or the other way: held-out samples are of the first, so
 * that what is measured there may not hold for the others. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mat/mat.h"
#include "methods/common_remarks.h"

static bool has_target(const lapis_mat *Y, int64_t j)
{
  for (int64_t i = 0; i < Y->rows; i++)
    if (!isnan(lapis_mat_at(Y, i, j))) return true;
  return false;
}

/* By a fifth of the samples, and by four standard errors; to each side one
 * sample is added that is known and one that is not, without which few samples
 * seem sure (Agresti and Caffo 2000). */
bool remark_shares_differ(known_share a, known_share b)
{
  static const double LEAST = .2, ERRORS = 4;
  if (!(a.all > 0) || !(b.all > 0)) return false;
  double p = (a.known + 1) / (a.all + 2), q = (b.known + 1) / (b.all + 2);
  double error = sqrt(p * (1 - p) / (a.all + 2) + q * (1 - q) / (b.all + 2));
  return fabs(a.known / a.all - b.known / b.all) >= LEAST &&
         fabs(p - q) >= ERRORS * error;
}

static void say(lapis_ctx *ctx, const char *method, const lapis_data *data,
                int64_t i, known_share with, known_share without)
{
  char name[REMARK_VALUE];
  base_note(ctx, BASE_WARNING, "gaps-differ",
            "%s: %s is known for %.0f of %.0f samples with a target, and for "
            "%.0f of %.0f without: what is measured on the first, as accuracy, "
            "R^2 and probabilities, may not hold for the others; leave the "
            "feature out if it is known only afterwards",
            method, remark_feature(data, i, name), with.known, with.all,
            without.known, without.all);
}

/* Of each feature, how many samples know it: without a target, with one. */
static void count_known(const lapis_mat *X, const lapis_mat *Y,
                        known_share (*of)[2])
{
  double all[2] = {0, 0};
  for (int64_t j = 0; j < X->cols; j++) {
    bool target = has_target(Y, j);
    all[target]++;
    for (int64_t i = 0; i < X->rows; i++)
      of[i][target].known += !isnan(lapis_mat_at(X, i, j));
  }
  for (int64_t i = 0; i < X->rows; i++)
    for (int k = 0; k < 2; k++) of[i][k].all = all[k];
}

lapis_status remark_gaps(lapis_ctx *ctx, const char *method,
                         const lapis_data *data)
{
  enum { NAMED = 3 };
  const lapis_mat *X = &data->X, *Y = &data->Y;
  int64_t more = -NAMED;
  if (X->colptr != NULL || Y->colptr != NULL || base_ranks(ctx) > 1 ||
      lapis_mat_missing(X) == 0)
    return LAPIS_OK;
  known_share(*of)[2] = base_alloc(ctx, X->rows, sizeof *of);
  if (of == NULL) return LAPIS_ENOMEM;
  count_known(X, Y, of);
  for (int64_t i = 0; i < X->rows; i++)
    if (remark_shares_differ(of[i][0], of[i][1]) && more++ < 0)
      say(ctx, method, data, i, of[i][1], of[i][0]);
  base_free(of);
  if (more > 0)
    base_note(ctx, BASE_WARNING, "gaps-differ",
              "%s: so do the gaps of %" PRId64 " feature(s) more", method,
              more);
  return LAPIS_OK;
}
