/* answer.c - from weights, or trees, to scores, probabilities and labels.
 *
 * A score is the log-odds of yes, or of the class against all the others; so
 * the shares that a softmax gives need no calibration to be probabilities. */
#include <math.h>

#include "methods/plain/linear.h"

lapis_status linear_answer_alloc(lapis_solver *s, linear_answer *a)
{
  arena *own = &s->arena;
  a->X = arena_reals(own, a->d * a->n);
  a->scores = arena_reals(own, a->K * a->n);
  a->probabilities = arena_reals(own, a->K * a->n);
  if (!a->numbers)
    a->decided = arena_reals(own, targets_label_rows(&a->labels) * a->n);
  return arena_status(own);
}

void linear_fill(const lapis_mat *X, const double *fill, linear_answer *a)
{
  mat_to_f64(X, a->X, X->rows);
  for (int64_t k = 0; k < X->rows * X->cols && !(a->gaps > 0); k++)
    if (isnan(a->X[k])) a->X[k] = fill[k % X->rows];
}

/* In an order that does not depend on the samples beside it. */
static double line(const double *w, const double *x, int64_t d)
{
  double sum[4] = {0};
  int64_t i = 0;
  for (; i + 4 <= d; i += 4)
    for (int k = 0; k < 4; k++) sum[k] += w[i + k] * x[i + k];
  for (; i < d; i++) sum[0] += w[i] * x[i];
  return sum[0] + sum[1] + (sum[2] + sum[3]) + w[d];
}

static double share(double odds)
{
  double e = exp(-fabs(odds));
  return (odds > 0 ? 1 : e) / (1 + e);
}

/* Shares of a sample's classes are of one whole.  A softmax's are; trees hold
 * each class half a vote above 0, which of many classes is more than a little.
 */
static void make_whole(double *p, int64_t K)
{
  double sum = 0;
  for (int64_t c = 0; c < K; c++) sum += p[c];
  for (int64_t c = 0; c < K; c++) p[c] /= sum;
}

static void publish(lapis_solver *s, linear_answer *a)
{
  const targets *t = &a->labels;
  int64_t K = a->K, n = a->n;
  solver_publish(s, "scores", lapis_mat_f64(a->scores, K, n));
  if (a->numbers) return;
  for (int64_t k = 0; k < K * n; k++) a->probabilities[k] = share(a->scores[k]);
  for (int64_t j = 0; t->kind == TARGETS_CLASS && j < n; j++)
    make_whole(a->probabilities + j * K, K);
  if (a->calibration != NULL)
    targets_calibrate(t, a->calibration, a->scores, a->probabilities);
  targets_decode(t, a->probabilities, 0.5, a->decided);
  solver_publish(s, "probabilities", lapis_mat_f64(a->probabilities, K, n));
  targets_publish(t, a->decided, n, s);
}

void linear_answer_give(lapis_solver *s, linear_answer *a, const double *W)
{
  int64_t d = a->d, K = a->K, n = a->n;
  for (int64_t k = 0; k < K * n; k++)
    a->scores[k] = line(W + k % K * (d + 1), a->X + k / K * d, d);
  if (!a->numbers) targets_log_odds(&a->labels, a->scores, a->probabilities);
  publish(s, a);
}

void trees_answer_give(lapis_solver *s, linear_answer *a, const trees *t)
{
  for (int64_t j = 0; j < a->n; j++) {
    trees_answer(t, a->X + j * a->d, a->scores + j * a->K);
    if (!a->numbers) trees_log_odds(t, a->scores + j * a->K);
  }
  publish(s, a);
}
