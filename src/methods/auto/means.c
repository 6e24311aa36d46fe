/* means.c - the mean of the probabilities of some candidates, as a further one.
 */
#include <math.h>
#include <string.h>

#include "methods/auto/candidates.h"

/* The score that a sigmoid, or a softmax, of slope 1 and bias 0 makes p. */
static double score_of(double p, bool of_class)
{
  const double least = 1e-12;
  p = fmin(fmax(p, least), 1 - least);
  return log(p) - (of_class ? 0 : log1p(-p));
}

lapis_status candidates_mean(comparison *r, const int *of, int parts)
{
  candidate x = {
      .kind = CANDIDATE_MEAN, .parts = parts, .map = r->run[of[0]].map};
  int64_t count = r->K * r->n;
  if (r->count == MOST_CANDIDATES) return LAPIS_OK;
  memcpy(x.of, of, (size_t)parts * sizeof *of);
  double *p = base_alloc_raw(r->ctx, count, sizeof *p);
  x.score = base_alloc(r->ctx, count, sizeof *x.score);
  if (p == NULL || x.score == NULL) {
    base_free(p);
    base_free(x.score);
    return LAPIS_ENOMEM;
  }
  for (int i = 0; i < parts; i++) {
    const candidate *one = &r->run[of[i]];
    targets_calibrate(&r->labels, (const double *)one->answer, one->score, p);
    for (int64_t k = 0; k < count; k++)
      x.score[k] += isnan(one->score[k]) ? NAN : p[k];
  }
  for (int64_t k = 0; k < count; k++)
    x.score[k] = isnan(x.score[k]) ? NAN
                                   : score_of(x.score[k] / parts,
                                              r->labels.kind == TARGETS_CLASS);
  base_free(p);
  r->run[r->count++] = x;
  return LAPIS_OK;
}
