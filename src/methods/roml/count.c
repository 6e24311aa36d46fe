/* count.c - how many inliers there are, [ROML16 (24), (25)].
 *
 * With n slots too many, one of them must take outliers, and the nuclear norm
 * of its features over the images jumps:
 *   gamma_n = max_j |D_j|_*, D_j = d x K of slot j.
 * The number is the first n with (gamma_{n+1} - mean)/mean > delta, mean over
 * gamma_1 .. gamma_n.  The paper's example delta, 0.05, is within the ordinary
 * variation of gamma; see the table of settings for ours.  A part whose errors
 * are large takes half of the step, so one more gamma is looked at: the larger
 * of the two ratios gamma_{n+1}/gamma_n counts.  Where no step exceeds delta,
 * the largest ratio of all decides; but if all features together are much
 * better than chance (chance.c), as in images that are alike, all are inliers.
 *
 * A curve without an object has a largest step, too.  So the number that was
 * found has to be better than chance, or nothing was. */
#include <math.h>
#include <string.h>

#include "methods/roml/roml.h"

/* Shares of chance.  Of unrelated features the least seen was .988, of objects
 * with errors on .8 of every feature in ten images .984. */
static const double NOTHING = 0.987;

/* |D_j|_* of every slot: the largest. */
static lapis_status largest_nuclear(roml *w, double *out)
{
  const roml_state *s = &w->s;
  int64_t d = w->p.d, K = w->p.K, least = d < K ? d : K;
  la_array A = {0};
  double *sigma = base_alloc(w->base.ctx, least, sizeof *sigma);
  lapis_status status = sigma == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  if (status >= 0) status = w->h.ops->alloc(&w->h, LAPIS_F64, d, K, &A);
  *out = 0;
  for (int64_t j = 0; status >= 0 && j < s->at.n; j++) {
    double sum = 0;
    for (int64_t k = 0; k < K; k++)
      memcpy((double *)A.data + k * A.ld,
             (double *)s->D.data + roml_block(&s->at, k, j),
             (size_t)d * sizeof(double));
    status = w->h.ops->svd(&w->h, &A, NULL, sigma, NULL);
    for (int64_t i = least - 1; i >= 0; i--) sum += sigma[i];
    *out = fmax(*out, sum);
  }
  w->h.ops->free(&w->h, &A);
  base_free(sigma);
  return status;
}

/* How it ended is of this n, not of the whole; but who cancels means all. */
static void go_on(roml *w)
{
  loop *l = &w->base.loop;
  if (l->status != LAPIS_CANCELLED) l->status = LAPIS_OK;
}

static lapis_status gamma_of(roml *w, int64_t n, double *out, double *objective)
{
  TRY(roml_resize(w, n));
  TRY(roml_run(w, &w->s, objective));
  TRY(largest_nuclear(w, out));
  go_on(w);
  base_say(w->base.ctx, 1, "roml: gamma_%" PRId64 " = %.6g", n, *out);
  return LAPIS_OK;
}

/* Of from .. count - 1; count where that is none. */
static int64_t largest_ratio(const double *gamma, int64_t from, int64_t count)
{
  int64_t best = count;
  double most = 0;
  for (int64_t n = from; n < count; n++)
    if (gamma[n] > most * gamma[n - 1]) {
      most = gamma[n] / gamma[n - 1];
      best = n;
    }
  return best;
}

/* gamma_1, gamma_2, ... until one step after the first that exceeds delta;
 * from: where the search begins; 0 if no step did.  cost: |D|_* of each n. */
static lapis_status climb(roml *w, int64_t most, double *cost, int64_t *from)
{
  double mean = 0;
  int64_t last = most;
  *from = 0;
  for (int64_t n = 1; n <= last && !loop_must_end(&w->base.loop); n++) {
    double *gamma = &w->gamma[n - 1];
    TRY(gamma_of(w, n, gamma, &cost[n - 1]));
    w->n_gamma = n;
    bool step = n > 1 && *gamma - mean > w->set.delta * mean;
    if (step && last == most) {
      *from = n - 1;
      last = n + 1 < most ? n + 1 : most;
      if (n == most) break;
    }
    mean += (*gamma - mean) / (double)n;
  }
  return LAPIS_OK;
}

/* *share: NaN where it was cut short. */
static lapis_status share_of(roml *w, int64_t n, const double *cost,
                             double *share)
{
  double chance;
  *share = NAN;
  TRY(roml_by_chance(w, n, &chance));
  if (loop_must_end(&w->base.loop)) return LAPIS_OK;
  go_on(w);
  *share = cost[n - 1] / fmax(chance, 1e-300);
  base_say(w->base.ctx, 1, "roml: %" PRId64 " features are %.4g of chance", n,
           *share);
  return LAPIS_OK;
}

static lapis_status choose(roml *w, int64_t most, const double *cost,
                           int64_t from)
{
  double share = 0;
  bool points = w->p.coordinates, early = loop_must_end(&w->base.loop);
  w->set.inliers = largest_ratio(w->gamma, from > 0 ? from : 1, w->n_gamma);
  if (points || early) return LAPIS_OK; /* chance.c is for descriptors */
  if (from == 0) {
    TRY(share_of(w, most, cost, &share));
    if (share < ROML_BETTER) w->set.inliers = most;
    if (isnan(share) || share < ROML_BETTER) return LAPIS_OK;
  }
  TRY(share_of(w, w->set.inliers, cost, &share));
  if (isnan(share) || share < NOTHING) return LAPIS_OK;
  return lapis_fail(w->base.ctx, LAPIS_EDATA,
                    "roml: nothing that the images have in common was found: "
                    "no number of features is better than chance (%.3g of what "
                    "unrelated images cost); --inliers N shows the best N all "
                    "the same",
                    share);
}

lapis_status roml_count_inliers(roml *w)
{
  int64_t most = roml_fewest(&w->p), from;
  base_free(w->gamma);
  w->n_gamma = 0;
  w->gamma = base_alloc(w->base.ctx, most, sizeof *w->gamma);
  double *cost = base_alloc(w->base.ctx, most, sizeof *cost);
  bool ok = w->gamma != NULL && cost != NULL;
  lapis_status s = ok ? climb(w, most, cost, &from) : LAPIS_ENOMEM;
  if (s >= 0 && w->n_gamma == 0)
    s = gamma_of(w, 1, &w->gamma[w->n_gamma++], cost);
  if (s >= 0) s = choose(w, most, cost, from);
  base_free(cost);
  return s < 0 ? s : roml_resize(w, w->set.inliers);
}
