/* widen.c - further candidates of a race, where the best of a kind stands at an
 * end of what was tried. */
#include <math.h>

#include "methods/auto/candidates.h"

static const double LEAST_C = .0009, MOST_KERNEL_C = 1001, MOST_WIDTH = 17;
static const double LEAST_SVM_C = .1, MOST_SVM_C = 100;
enum { FEWEST_BOOSTED = 30, MOST_BOOSTED = 3000 };

/* Whether the best stands at the lower and at the upper end of mu (else of
 * lambda) among the mc candidates of its map, whatever else they differ in;
 * alone, at both. */
static void ends(const comparison *r, const candidate *b, bool of_mu,
                 bool end[2])
{
  end[0] = end[1] = true;
  for (int i = 0; i < r->count; i++) {
    const candidate *x = &r->run[i];
    if (x->kind != CANDIDATE_MC || x->map != b->map) continue;
    double a = of_mu ? x->set.mu_rel : x->set.lambda;
    double at = of_mu ? b->set.mu_rel : b->set.lambda;
    if (a < at) end[0] = false;
    if (a > at) end[1] = false;
  }
}

/* The next value beyond the ends of what was tried, 0 where x is none. */
static double beyond(double x, double least, double most, double factor)
{
  return x <= least ? x / factor : x >= most ? x * factor : 0;
}

/* The kernel beside the best one's, where that is the narrowest or the widest
 * of its kind. */
static lapis_status widen_kernel(comparison *r, candidate b)
{
  const race_kernel *k = &r->kernel[b.kernel - 1];
  double least = k->width, most = k->width;
  for (int i = 0; i < r->n_kernels; i++) {
    if (r->kernel[i].map != b.map) continue;
    least = fmin(least, r->kernel[i].width);
    most = fmax(most, r->kernel[i].width);
  }
  double width = beyond(k->width, least, most, 4);
  if (width == 0 || width > MOST_WIDTH || width < 1 / MOST_WIDTH)
    return LAPIS_OK;
  TRY(kernels_find(r, b.map, width, &b.kernel));
  if (b.kernel > 0) candidates_add(r, &b);
  return LAPIS_OK;
}

/* Of logistic regressions: a C ten times smaller or larger. */
static lapis_status widen_linear(comparison *r, int best)
{
  candidate b = r->run[best];
  double least = b.C, most = b.C;
  for (int i = 0; i < r->count; i++) {
    const candidate *x = &r->run[i];
    if (x->kind != CANDIDATE_LINEAR || x->map != b.map ||
        x->filled != b.filled || x->kernel != b.kernel)
      continue;
    least = fmin(least, x->C);
    most = fmax(most, x->C);
  }
  b.score = NULL;
  b.answer = NULL;
  b.judged = b.learnt = false;
  if (b.kernel > 0) TRY(widen_kernel(r, b));
  b.C = beyond(b.C, least, most, 10);
  if (b.C >= LEAST_C && (b.kernel == 0 || b.C < MOST_KERNEL_C))
    candidates_add(r, &b);
  return LAPIS_OK;
}

static void widen_mc(comparison *r, int best)
{
  const candidate b = r->run[best];
  const double factor[] = {1. / 3, 3};
  for (int of_mu = 0; of_mu < 2; of_mu++) {
    bool end[2];
    unsigned stated = of_mu ? STATED_MU : STATED_LAMBDA;
    if ((r->o.stated & stated) != 0) continue;
    ends(r, &b, of_mu, end);
    for (int k = 0; k < 2; k++) {
      mc_row at = {b.set.labels, b.set.mu_rel, b.set.lambda, b.set.gamma};
      double *moved = of_mu ? &at.mu_rel : &at.lambda;
      *moved = round(*moved * factor[k] * 1e4) / 1e4;
      if (end[k] && *moved > 0 && at.mu_rel < 1)
        candidates_add_mc(r, b.map, &at);
    }
  }
}

/* A C ten times smaller and larger, where it was not tried. */
static void widen_svm(comparison *r, int best)
{
  static const double factor[] = {.1, 10};
  for (int k = 0; k < 2; k++) {
    candidate x = {.kind = CANDIDATE_MISVM,
                   .svm_kernel = r->run[best].svm_kernel,
                   .turned = r->run[best].turned,
                   .C = r->run[best].C * factor[k]};
    if (x.C >= LEAST_SVM_C && x.C <= MOST_SVM_C) candidates_add(r, &x);
  }
}

/* Three times as many, or a third, of the same depth. */
static void widen_boosted(comparison *r, int best)
{
  candidate b = r->run[best];
  int64_t least = b.count, most = b.count;
  for (int i = 0; i < r->count; i++) {
    const candidate *x = &r->run[i];
    if (x->kind != CANDIDATE_BOOSTED || x->depth != b.depth) continue;
    least = x->count < least ? x->count : least;
    most = x->count > most ? x->count : most;
  }
  b.count = (int64_t)beyond((double)b.count, (double)least, (double)most, 3);
  b.score = NULL;
  b.answer = NULL;
  b.judged = b.learnt = false;
  if (b.count >= FEWEST_BOOSTED && b.count <= MOST_BOOSTED)
    candidates_add(r, &b);
}

lapis_status candidates_widen(comparison *r, int best, int *more)
{
  int before = r->count;
  if (r->run[best].kind == CANDIDATE_LINEAR)
    TRY(widen_linear(r, best));
  else if (r->run[best].kind == CANDIDATE_MISVM)
    widen_svm(r, best);
  else if (r->run[best].kind == CANDIDATE_BOOSTED)
    widen_boosted(r, best);
  else
    widen_mc(r, best);
  *more += r->count - before;
  return LAPIS_OK;
}
