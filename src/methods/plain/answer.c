/* answer.c - from weights, or trees, to scores, probabilities and labels.
 *
 * A score is the log-odds of yes, or of the class against all the others; so
 * the shares that a softmax gives need no calibration to be probabilities. */
#include <math.h>

#include "methods/plain/linear.h"
#include "op/learn/samples.h"

lapis_status linear_answer_alloc(lapis_solver *s, linear_answer *a)
{
  arena *own = &s->arena;
  a->scores = arena_reals(own, a->K * a->n);
  a->probabilities = arena_reals(own, a->K * a->n);
  if (!a->numbers)
    a->decided = arena_reals(own, targets_label_rows(&a->labels) * a->n);
  return arena_status(own);
}

lapis_status linear_fill(lapis_solver *s, const lapis_mat *X,
                         const double *fill, linear_answer *a)
{
  bool sparse = a->sparse && X->colptr != NULL;
  int64_t count = sparse ? X->colptr[X->cols] : X->rows * X->cols;
  double *to = arena_reals(&s->arena, count);
  TRY(arena_status(&s->arena));
  a->X = lapis_mat_f64(to, X->rows, X->cols);
  if (sparse) {
    a->X.colptr = X->colptr;
    a->X.rowidx = X->rowidx;
    for (int64_t k = 0; k < count; k++) to[k] = mat_stored(X, k);
  } else {
    mat_to_f64(X, to, X->rows);
  }
  for (int64_t k = 0; k < count && !(a->gaps > 0); k++)
    if (isnan(to[k])) to[k] = fill[sparse ? X->rowidx[k] : k % X->rows];
  return LAPIS_OK;
}

/* In an order that does not depend on the samples beside it. */
static double line(const double *w, const lapis_mat *X, int64_t j)
{
  int64_t d, first = op_sample(X, j, &d);
  const double *x = (const double *)X->val + first;
  double sum[4] = {0};
  if (X->colptr != NULL) {
    for (int64_t k = 0; k < d; k++) sum[0] += w[X->rowidx[first + k]] * x[k];
    return sum[0] + w[X->rows];
  }
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
  int64_t K = a->K;
  for (int64_t k = 0; k < K * a->n; k++)
    a->scores[k] = line(W + k % K * (a->d + 1), &a->X, k / K);
  if (!a->numbers) targets_log_odds(&a->labels, a->scores, a->probabilities);
  publish(s, a);
}

void trees_answer_give(lapis_solver *s, linear_answer *a, const trees *t)
{
  trees_answer(t, a->X.val, a->d, a->n, NULL, a->scores);
  for (int64_t j = 0; j < a->n && !a->numbers && !t->scores; j++)
    trees_log_odds(t, a->scores + j * a->K);
  if (!a->numbers && t->scores)
    targets_log_odds(&a->labels, a->scores, a->probabilities);
  publish(s, a);
}
