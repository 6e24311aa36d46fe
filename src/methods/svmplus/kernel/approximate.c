/* approximate.c - the kernel problem where Q does not fit: Newton steps with
 * a model of Q.
 *
 * Without 1'a = 1, which only sets the scale, the problem is
 *   minimize F(b) = b'Qb / 2 - 1'b,  b >= 0,       a = b / 1'b
 * and a step from b, g = Qb - 1, is
 *   c = argmin g'(c - b) + (c - b)'M (c - b) / 2,  c >= 0   by descent
 *   b += t (c - b),  t in [0, 1] the best one       by one product with Q
 * M is Q with the kernel at low rank, K + 1 = L'L + rest, and the diagonal of
 * the rest; G is there as it is.  So M misses what the rest has off its
 * diagonal.  What a step s teaches about that joins M as [BFGS] does,
 *   M += (Qs)(Qs)' / s'Qs - (Ms)(Ms)' / s'Ms,
 * so that Ms = Qs from then on.
 *
 * Descent keeps w = L (y o (c - b)), v = R (c - b) and the same of what was
 * learnt, as a linear SVM keeps w: a step costs the columns of these matrices,
 * whatever n is.  Samples at 0 that would fall further are passed over until
 * the others are done. */
#include <math.h>
#include <string.h>

#include "methods/svmplus/columns.h"
#include "methods/svmplus/svmplus.h"
#include "op/dense/lowrank.h"

enum { RANK = 1000, EPOCHS = 100, LEARNT = 64 /* vectors: then anew */ };
static const double INEXACT = 0.1; /* of the step's first violation */

struct sv_model {
  sv_quadratic *q;
  int64_t r;
  double *L;    /* r x n, of the rows */
  double *rest; /* n */
  int64_t learnt;
  double *E;    /* LEARNT x n: what was learnt, signs + and - in turn */
  double *diag; /* n: of M */
  double *weights, *v, *e;        /* r, of R's rows */
  double *b, *g, *step, *product; /* n each; product: Q step */
  int64_t *order;                 /* n */
  int64_t epochs;                 /* so far: each another order */
};

static void add(double f, const double *restrict a, double *restrict b,
                int64_t n)
{
  for (int64_t i = 0; i < n; i++) b[i] += f * a[i];
}

/* ---- the model ----------------------------------------------------------*/
/* Gradient of the model along sample i. */
static double slope(const sv_model *t, int64_t i)
{
  const sv_rows *Q = t->q->source;
  double g = t->g[i] + t->rest[i] * t->step[i];
  g += Q->y[i] * column_dense_dot(t->L + i * t->r, t->weights, t->r);
  if (Q->R != NULL) g += column_dense_dot(Q->R + i * Q->r, t->v, Q->r);
  if (Q->C != NULL) g += t->step[i] / Q->C[i];
  return g + column_dense_dot(t->E + i * LEARNT, t->e, t->learnt);
}

static void move(sv_model *t, int64_t i, double d)
{
  const sv_rows *Q = t->q->source;
  t->step[i] += d;
  add(d * Q->y[i], t->L + i * t->r, t->weights, t->r);
  if (Q->R != NULL) add(d, Q->R + i * Q->r, t->v, Q->r);
  for (int64_t k = 0; k < t->learnt; k++)
    t->e[k] += (k % 2 == 0 ? d : -d) * t->E[i * LEARNT + k];
}

/* One pass over the first count of order; returns the largest violation and
 * puts samples that stay at 0 behind *left. */
static double epoch(sv_model *t, int64_t count, int64_t *left)
{
  double worst = 0;
  rng_permute(base_seed(t->q->ctx), (uint64_t)t->epochs++, t->order, count);
  for (int64_t k = 0; k < count;) {
    int64_t i = t->order[k];
    double g = slope(t, i), now = t->b[i] + t->step[i];
    if (now <= 0 && g >= 0) { /* stays at 0 */
      t->order[k] = t->order[--count];
      t->order[count] = i;
      continue;
    }
    worst = fmax(worst, fabs(g));
    move(t, i, fmax(-now, -g / t->diag[i]));
    k++;
  }
  *left = count;
  return worst;
}

/* Descent from step = 0 until the largest violation is small against the
 * first one, on all samples. */
static void solve_model(sv_model *t)
{
  int64_t n = t->q->n, count = n;
  double first = INFINITY;
  memset(t->step, 0, (size_t)n * sizeof *t->step);
  memset(t->weights, 0, (size_t)t->r * sizeof *t->weights);
  memset(t->v, 0, (size_t)t->q->source->r * sizeof *t->v);
  memset(t->e, 0, sizeof *t->e * LEARNT);
  for (int e = 0; e < EPOCHS; e++) {
    bool all = count == n;
    double worst = epoch(t, count, &count);
    if (e == 0) first = worst;
    if (worst > INEXACT * first) continue;
    if (all) break;
    count = n;
  }
}

/* One vector u f of sign + or - for all samples. */
static void join(sv_model *t, const double *u, double f, double sign)
{
  for (int64_t i = 0; i < t->q->n; i++) {
    double value = f * u[i];
    t->E[i * LEARNT + t->learnt] = value;
    t->diag[i] += sign * value * value;
  }
  t->learnt++;
}

static void forget(sv_model *t)
{
  t->learnt = 0;
  memcpy(t->diag, t->q->diag, (size_t)t->q->n * sizeof *t->diag);
}

/* From the step and its product with Q: M step = Q step hereafter. */
static void learn(sv_model *t)
{
  int64_t n = t->q->n;
  double *model = t->b; /* spent: M step */
  for (int64_t i = 0; i < n; i++) model[i] = slope(t, i) - t->g[i];
  double of_Q = column_dense_dot(t->step, t->product, n),
         of_M = column_dense_dot(t->step, model, n);
  /* a pair corrects the M it was made with: none of the old one for the new */
  if (t->learnt == LEARNT)
    forget(t);
  else if (of_Q > 0 && of_M > 0) {
    join(t, t->product, 1 / sqrt(of_Q), 1);
    join(t, model, 1 / sqrt(of_M), -1);
  }
}

/* ---- the step -----------------------------------------------------------*/
static void from_simplex(sv_model *t)
{
  const sv_quadratic *q = t->q;
  for (int64_t i = 0; i < q->n; i++) {
    t->b[i] = q->a[i] / q->norm;
    t->g[i] = q->g[i] / q->norm - 1;
  }
}

static void to_simplex(sv_model *t, double length)
{
  sv_quadratic *q = t->q;
  double sum = 0;
  for (int64_t i = 0; i < q->n; i++) {
    q->a[i] = fmax(0, t->b[i] + length * t->step[i]);
    q->g[i] = t->g[i] + 1 + length * t->product[i];
    sum += q->a[i];
  }
  for (int64_t i = 0; i < q->n; i++) {
    q->a[i] /= sum;
    q->g[i] /= sum;
  }
  q->norm = column_dense_dot(q->a, q->g, q->n);
}

lapis_status sv_model_step(sv_model *t, bool *moved)
{
  sv_quadratic *q = t->q;
  from_simplex(t);
  solve_model(t);
  TRY(sv_rows_times(q->source, t->step, t->product));
  double curve = column_dense_dot(t->step, t->product, q->n);
  double length =
      curve > 0 ? -column_dense_dot(t->g, t->step, q->n) / curve : 1;
  to_simplex(t, fmin(1, length));
  learn(t);
  *moved = length > 0;
  base_say(q->ctx, 2, "svmplus: step of length %.3f", length);
  return LAPIS_OK;
}

/* ---- constructor --------------------------------------------------------*/
static lapis_status fill(sv_model *t)
{
  sv_rows *Q = t->q->source;
  int64_t n = Q->n;
  if (Q->L == NULL)
    TRY(op_low_rank(Q->h, Q->kernel, RANK, 1e-12, &Q->L, &Q->rank,
                    &Q->left_out));
  t->L = Q->L;
  t->r = Q->rank;
  int64_t r = t->r + Q->r + LEARNT;
  t->weights = base_alloc(Q->h->ctx, r + 6 * n, sizeof *t->weights);
  t->E = base_alloc(Q->h->ctx, LEARNT * n, sizeof *t->E);
  t->order = base_alloc(Q->h->ctx, n, sizeof *t->order);
  if (t->weights == NULL || t->E == NULL || t->order == NULL)
    return LAPIS_ENOMEM;
  t->v = t->weights + t->r;
  t->e = t->v + Q->r;
  t->b = t->weights + r;
  t->g = t->b + n;
  t->step = t->g + n;
  t->product = t->step + n;
  t->rest = t->product + n;
  t->diag = t->rest + n;
  forget(t);
  for (int64_t i = 0; i < n; i++) {
    const double *l = t->L + i * t->r;
    t->rest[i] = fmax(0, op_kernel_self(Q->kernel, i) + 1 -
                             column_dense_dot(l, l, t->r));
    t->order[i] = i;
  }
  base_say(Q->h->ctx, 1,
           "svmplus: the kernel does not fit; a model of rank %" PRId64
           " leaves out a share of %.1e of its trace",
           t->r, Q->left_out);
  return LAPIS_OK;
}

lapis_status sv_model_new(sv_quadratic *q, sv_model **out)
{
  sv_model *t = *out = base_alloc(q->ctx, 1, sizeof *t);
  if (t == NULL) return LAPIS_ENOMEM;
  t->q = q;
  return fill(t);
}

void sv_model_keep(sv_model *t)
{
  loop *l = t->q->loop;
  int64_t n = t->q->n;
  loop_keep(l, "learnt", t->E, LEARNT * n);
  loop_keep(l, "diagonal", t->diag, n);
  loop_keep_order(l, "order", t->order, n);
  loop_keep_whole(l, "count", &t->learnt, 1, 0, LEARNT);
  loop_keep_whole(l, "epochs", &t->epochs, 1, 0, LOOP_MOST);
}

void sv_model_free(sv_model *t)
{
  if (t == NULL) return;
  base_free(t->weights);
  base_free(t->E);
  base_free(t->order);
  base_free(t);
}
