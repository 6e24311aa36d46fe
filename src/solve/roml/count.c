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
 * the largest ratio of all decides. */
#include <math.h>
#include <string.h>

#include "solve/roml/roml.h"

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

static lapis_status gamma_of(roml *w, int64_t n, double *out)
{
  double objective;
  TRY(roml_resize(w, n));
  TRY(roml_run(w, &w->s, &objective));
  TRY(largest_nuclear(w, out));
  w->base.loop.status = LAPIS_OK; /* of this n, not of the whole */
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
 * returns where the search begins, 1 if no step did. */
static lapis_status climb(roml *w, int64_t most, int64_t *from)
{
  double mean = 0;
  int64_t last = most;
  *from = 1;
  for (int64_t n = 1; n <= last && !loop_must_end(&w->base.loop); n++) {
    double *gamma = &w->gamma[n - 1];
    TRY(gamma_of(w, n, gamma));
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

lapis_status roml_count_inliers(roml *w)
{
  int64_t most = roml_fewest(&w->p), from;
  base_free(w->gamma);
  w->n_gamma = 0;
  w->gamma = base_alloc(w->base.ctx, most, sizeof *w->gamma);
  if (w->gamma == NULL) return LAPIS_ENOMEM;
  TRY(climb(w, most, &from));
  if (w->n_gamma == 0) TRY(gamma_of(w, 1, &w->gamma[w->n_gamma++]));
  w->set.inliers = largest_ratio(w->gamma, from, w->n_gamma);
  return roml_resize(w, w->set.inliers);
}
