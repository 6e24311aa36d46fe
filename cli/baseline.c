/* baseline.c - LIBLINEAR behind one function; nothing else includes it. */
#include "baseline.h"

#include <linear.h>
#include <math.h>
#include <stdlib.h>

static void no_print(const char *text)
{
  (void)text;
}

bool baseline_built(void)
{
  return true;
}

/* The non-zero entries of column j, a bias of 1 behind them. */
static struct feature_node *sparse_column(const lapis_mat *X, int64_t j,
                                          struct feature_node *to)
{
  bool dense = X->colptr == NULL;
  const double *val = X->val;
  for (int64_t i = 0; dense && i < X->rows; i++) {
    double v = lapis_mat_at(X, i, j);
    if (v != 0) *to++ = (struct feature_node){(int)i + 1, v};
  }
  for (int64_t k = dense ? 0 : X->colptr[j]; !dense && k < X->colptr[j + 1];
       k++)
    *to++ = (struct feature_node){X->rowidx[k] + 1, val[k]};
  *to++ = (struct feature_node){(int)X->rows + 1, 1};
  *to++ = (struct feature_node){-1, 0};
  return to;
}

/* Everything LIBLINEAR borrows while it trains. */
typedef struct training {
  struct problem p;
  struct feature_node *nodes;
} training;

static bool prepare(const lapis_mat *X, const double *y, training *t)
{
  size_t n = (size_t)X->cols;
  t->p.n = (int)X->rows + 1;
  t->p.y = malloc(n * sizeof *t->p.y);
  t->p.x = malloc(n * sizeof *t->p.x);
  size_t entries =
      X->colptr == NULL ? n * (size_t)X->rows : (size_t)X->colptr[X->cols];
  t->nodes = malloc((entries + 2 * n) * sizeof *t->nodes);
  if (t->p.y == NULL || t->p.x == NULL || t->nodes == NULL) return false;
  double high = -INFINITY, low = INFINITY;
  for (int64_t j = 0; j < X->cols; j++) {
    high = isnan(y[j]) ? high : fmax(high, y[j]);
    low = isnan(y[j]) ? low : fmin(low, y[j]);
  }
  struct feature_node *at = t->nodes;
  for (int64_t j = 0; j < X->cols; j++) {
    if (isnan(y[j])) continue;
    t->p.x[t->p.l] = at;
    t->p.y[t->p.l++] = y[j] >= high ? 1 : -1;
    at = sparse_column(X, j, at);
  }
  return low < high;
}

static void release(training *t)
{
  free(t->p.y);
  free(t->p.x);
  free(t->nodes);
}

static void score_all(const struct model *m, const lapis_mat *X, double *scores)
{
  double sign = m->label[0] > 0 ? 1 : -1;
  for (int64_t j = 0; j < X->cols; j++) {
    double f = m->w[X->rows];
    const double *val = X->val;
    for (int64_t i = 0; X->colptr == NULL && i < X->rows; i++)
      f += m->w[i] * lapis_mat_at(X, i, j);
    for (int64_t k = X->colptr == NULL ? 0 : X->colptr[j];
         X->colptr != NULL && k < X->colptr[j + 1]; k++)
      f += m->w[X->rowidx[k]] * val[k];
    scores[j] = sign * f;
  }
}

bool baseline_scores(const lapis_mat *X, const double *y, double C,
                     double *scores)
{
  training t = {.p = {.l = 0, .bias = -1}};
  bool ok = prepare(X, y, &t);
  if (ok) {
    struct parameter how = {
        .solver_type = L2R_L1LOSS_SVC_DUAL, .eps = 1e-3, .C = C};
    srand(1);
    set_print_string_function(no_print);
    struct model *m = train(&t.p, &how);
    score_all(m, X, scores);
    free_and_destroy_model(&m);
  }
  release(&t);
  return ok;
}
