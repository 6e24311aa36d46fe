/* variant.c - what the variants of mc differ in: the loss of the features,
 * which features are possible, and the numbers by which admm begins and
 * balances. */
#include <math.h>

#include "methods/mc/mc.h"

static const double SUM_TOLERANCE = 1e-6;

/* ---- which features are possible ----------------------------------------*/
static lapis_status check_non_negative(lapis_ctx *ctx, const char *variant,
                                       const lapis_mat *X)
{
  for (int64_t j = 0; j < X->cols; j++)
    for (int64_t i = 0; i < X->rows; i++)
      if (lapis_mat_at(X, i, j) < 0)
        return lapis_fail(ctx, LAPIS_EDATA,
                          "mc: X is %g at %s; --variant %s takes counts or "
                          "shares, 0 or more (mc1 takes any)",
                          lapis_mat_at(X, i, j), CELL(ctx, j, "feature", i),
                          variant);
  return LAPIS_OK;
}

static lapis_status check_counts(lapis_ctx *ctx, const lapis_mat *X)
{
  return check_non_negative(ctx, "pos", X);
}

static lapis_status check_simplex(lapis_ctx *ctx, const lapis_mat *X)
{
  TRY(check_non_negative(ctx, "simplex", X));
  for (int64_t j = 0; j < X->cols; j++) {
    double sum = 0;
    int64_t known = 0;
    for (int64_t i = 0; i < X->rows; i++) {
      double v = lapis_mat_at(X, i, j);
      if (isnan(v)) continue;
      sum += v;
      known++;
    }
    bool whole = known == X->rows;
    if (sum > 1 + SUM_TOLERANCE || (whole && sum < 1 - SUM_TOLERANCE))
      return lapis_fail(ctx, LAPIS_EDATA,
                        "mc: %s of X sums to %g%s; --variant simplex takes "
                        "histograms that sum to 1: --map l1 makes them so",
                        CELL(ctx, j, NULL, -1), sum,
                        whole ? "" : " with entries missing");
  }
  return LAPIS_OK;
}

/* ---- rho of admm --------------------------------------------------------*/
double mc_balance(int64_t k, const double sums[4])
{
  if (k != 10 && k != 20 && k != 40 && k != 80 && k != 160) return 1;
  double primal = sqrt(sums[0] * sums[3]), dual = sqrt(sums[1] * sums[2]);
  if (!(primal > 0) || !(dual > 0)) return 1;
  return fmin(fmax(sqrt(primal / dual), 0.1), 10);
}

/* What is wrong with the multiplier rho (V - B) moves B: where A - B is
 * the larger, rho is too small, where the step of B is, too large.  Both are
 * lengths of Z, so that the one large singular value of data that are not
 * centred does not enter. */
static double balance_lengths(int64_t k, const double sums[4])
{
  bool early = k == 4 || k == 8 || k == 12;
  if (!early && k != 20 && k != 40) return 1;
  double factor = sqrt(sums[0] / sums[1]), most = early ? 10 : 3;
  if (!(factor > 0) || !isfinite(factor)) return 1;
  if (factor > 0.6 && factor < 1.6) return 1;
  return fmin(fmax(factor, 1 / most), most);
}

/* chi2 bends as 1 / z, so that features and labels have no length in
 * common.  Accelerated steps do best where the primal residual, relative to B
 * and V - B, is about a tenth of the dual one, and hardly mind: a change of
 * rho, which ends what the acceleration has learnt, waits for a first rho that
 * is wrong by far. */
static double balance_shares(int64_t k, const double sums[4])
{
  const double SHARE = 0.1, FAR = 3;
  if (k != 40 && k != 80 && k != 160) return 1;
  double primal = sqrt(sums[0] * sums[3]), dual = sqrt(sums[1] * sums[2]);
  double factor = sqrt(primal / (SHARE * dual));
  if (!(factor > 0) || !isfinite(factor)) return 1;
  if (factor < FAR && factor > 1 / FAR) return 1;
  return fmin(fmax(factor, 0.1), 10);
}

/* Between a, how much phi bends, and mu / sigma_1, how much the nuclear norm
 * does. */
static lapis_status rho_of_square(mc *w)
{
  w->rho = sqrt(6 * w->p.a * (w->p.mu / w->p.sigma_1));
  return LAPIS_OK;
}

/* Root mean square of the features that were seen; W holds Z_0, unknown
 * entries 0. */
static lapis_status typical_feature(mc *w, double *out)
{
  la_array X = la_rows(&w->W, w->p.K, w->p.D);
  TRY(w->h.ops->dot(&w->h, &X, &X, out));
  TRY(base_sum(w->base.ctx, out, 1));
  *out = sqrt(*out / fmax((double)w->p.seen_X, 1));
  return LAPIS_OK;
}

/* phi bends as a / z, labels as they do; the powers are fitted to what took the
 * fewest steps (bench/results/mc.md). */
static lapis_status rho_of_counts(mc *w)
{
  double a = w->p.a, curved = w->p.mu / w->p.sigma_1, typical;
  TRY(rho_of_square(w));
  TRY(typical_feature(w, &typical));
  if (typical > 0) w->rho = 70 * a * pow(curved / a, 0.9) * pow(typical, -0.4);
  return LAPIS_OK;
}

/* The entries are 1 / D or so, whatever the data. */
static lapis_status rho_of_simplex(mc *w)
{
  w->rho = 20 * (w->p.mu / w->p.sigma_1);
  return LAPIS_OK;
}

/* ---- the list, by lapis_mc_variant --------------------------------------*/
static const mc_variant variants[] = {
    [LAPIS_MC_1] = {.loss = LA_SQUARE,
                    .first_rho = rho_of_square,
                    .balance = balance_lengths,
                    .accelerated = 13}, /* rho is balanced before */
    [LAPIS_MC_POS] = {.loss = LA_CHI2,
                      .check = check_counts,
                      .first_rho = rho_of_counts,
                      .balance = balance_shares,
                      .accelerated = 5},
    [LAPIS_MC_SIMPLEX] = {.loss = LA_CHI2_SIMPLEX,
                          .check = check_simplex,
                          .sums_to_1 = true,
                          .first_rho = rho_of_simplex,
                          .balance = mc_balance}};

const mc_variant *mc_variant_of(int variant)
{
  return &variants[variant];
}

lapis_status mc_check_features(lapis_ctx *ctx, int variant, const lapis_mat *X)
{
  const mc_variant *v = mc_variant_of(variant);
  TRY(mat_check_finite(ctx, "mc", "X", X, true));
  return v->check == NULL ? LAPIS_OK : v->check(ctx, X);
}
