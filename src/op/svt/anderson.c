/* anderson.c - Anderson acceleration, type II, safeguarded.
 *
 * With x the state, g = G(x) the step's image and f = g - x, the next state is
 * g - dG c, where c minimizes |f - dF c|_2 over the last differences of f and
 * g.  Where the multiplier of a problem is nearly degenerate the plain
 * iteration creeps; the differences then span the few slow directions.
 *
 * Numerics: the normal equations are regularized by a given share of their
 * trace; a state whose own f turns out more than twice the last is given up
 * for the plain image, and the past with it. */
#include "op/svt/anderson.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double WORSE = 2, FARTHEST = 20;

void anderson_new(la *h, int64_t rows, int64_t cols, int parts,
                  const anderson_options *o, anderson *a)
{
  memset(a, 0, sizeof *a);
  a->h = h;
  a->rows = rows;
  a->cols = cols;
  a->parts = parts;
  a->memory = o->memory;
  a->regular = o->regular;
  a->firm = o->firm;
  a->whole = o->whole;
  anderson_reset(a);
}

/* Not before it is needed: many an iteration ends before it creeps. */
static lapis_status take_memory(anderson *a)
{
  la *h = a->h;
  if (a->parts == 0 || a->c.rows > 0) return LAPIS_OK;
  for (int p = 0; p < a->parts; p++) {
    int64_t size = a->rows * a->cols;
    TRY(h->ops->alloc(h, LAPIS_F64, a->rows, a->cols, &a->old[p]));
    TRY(h->ops->alloc(h, LAPIS_F64, a->rows, a->cols, &a->f[p]));
    TRY(h->ops->alloc(h, LAPIS_F64, a->rows, a->cols, &a->g[p]));
    TRY(h->ops->alloc(h, LAPIS_F64, size, a->memory, &a->dF[p]));
    TRY(h->ops->alloc(h, LAPIS_F64, size, a->memory, &a->dG[p]));
  }
  return h->ops->alloc(h, LAPIS_F64, a->memory, 2, &a->c);
}

void anderson_free(anderson *a)
{
  for (int p = 0; p < a->parts; p++) {
    la_array *all[] = {&a->old[p], &a->f[p], &a->g[p], &a->dF[p], &a->dG[p]};
    for (int i = 0; i < 5; i++) a->h->ops->free(a->h, all[i]);
  }
  if (a->parts > 0) a->h->ops->free(a->h, &a->c);
  a->parts = 0;
}

void anderson_reset(anderson *a)
{
  a->have = a->next = 0;
  a->last = a->least = -1;
}

static void keep_part(anderson *a, loop *l, const char *name, int p,
                      const la_array *A, int64_t blocks)
{
  char text[KEEP_NAME];
  (void)snprintf(text, sizeof text, "accel.%s.%d", name, p);
  la_keep(l, text, A);
  if (!a->whole) loop_divide(l, blocks);
}

void anderson_keep(anderson *a, loop *l)
{
  if (a->parts == 0 || !l->scope.open) return;
  if (take_memory(a) < 0) {
    l->status = LAPIS_ENOMEM;
    return;
  }
  loop_keep_whole(l, "accel.have", &a->have, 1, 0, ANDERSON_MOST);
  loop_keep_whole(l, "accel.next", &a->next, 1, 0, ANDERSON_MOST - 1);
  loop_keep(l, "accel.last", &a->last, 1);
  if (a->firm) loop_keep(l, "accel.least", &a->least, 1);
  loop_keep(l, "accel.gram", a->gram, ANDERSON_MOST * ANDERSON_MOST);
  for (int p = 0; p < a->parts; p++) {
    keep_part(a, l, "f", p, &a->f[p], 1);
    keep_part(a, l, "g", p, &a->g[p], 1);
    keep_part(a, l, "dF", p, &a->dF[p], a->memory);
    keep_part(a, l, "dG", p, &a->dG[p], a->memory);
  }
}

static lapis_status copy(anderson *a, la_array *const from[], la_array *to)
{
  for (int p = 0; p < a->parts; p++) TRY(la_copy(a->h, from[p], &to[p]));
  return LAPIS_OK;
}

/* <x, y> of this process's samples. */
static lapis_status inner(anderson *a, const la_array *x, const la_array *y,
                          double *out)
{
  *out = 0;
  for (int p = 0; p < a->parts; p++) {
    double part;
    TRY(a->h->ops->dot(a->h, &x[p], &y[p], &part));
    *out += part;
  }
  return LAPIS_OK;
}

static lapis_status sum(const anderson *a, double *x, int64_t n)
{
  return a->whole ? LAPIS_OK : base_sum(a->h->ctx, x, n);
}

/* The entries of A as one column. */
static la_array flat(const la_array *A)
{
  return la_reshape(A, A->rows * A->cols, 1);
}

/* Column k of D in the shape of the state's part p. */
static la_array shaped(const anderson *a, const la_array *D, int64_t k, int p)
{
  la_array column = la_cols(D, k, 1);
  return la_reshape(&column, a->f[p].rows, a->f[p].cols);
}

/* c = dF'x and dF'y, this process's share, a number a difference each. */
static lapis_status inner_all(anderson *a, const la_array x[],
                              const la_array y[], double *c)
{
  la_array out = la_rows(&a->c, 0, a->have);
  lapis_mat own = lapis_mat_f64(c, a->have, 2);
  for (int k = 0; k < 2; k++)
    for (int p = 0; p < a->parts; p++) {
      la_array dF = la_cols(&a->dF[p], 0, a->have), to = la_cols(&out, k, 1);
      la_array column = flat(k == 0 ? &x[p] : &y[p]);
      TRY(a->h->ops->gemv(a->h, LA_T, 1, &dF, &column, p > 0, &to));
    }
  return a->h->ops->download(a->h, &out, &own);
}

lapis_status anderson_before(anderson *a, la_array *const state[])
{
  TRY(take_memory(a));
  return copy(a, state, a->old);
}

/* dF, dG of the newest pair from f, g (now) and what a->f, a->g still hold;
 * old holds f. */
static lapis_status remember(anderson *a, la_array *const state[])
{
  la *h = a->h;
  int64_t k = a->next;
  for (int p = 0; p < a->parts; p++) {
    la_array dF = shaped(a, &a->dF[p], k, p), dG = shaped(a, &a->dG[p], k, p);
    TRY(la_copy(h, &a->old[p], &dF));
    TRY(h->ops->axpby(h, -1, &a->f[p], 1, &dF));
    TRY(la_copy(h, state[p], &dG));
    TRY(h->ops->axpby(h, -1, &a->g[p], 1, &dG));
  }
  a->next = (k + 1) % a->memory;
  if (a->have < a->memory) a->have++;
  return LAPIS_OK;
}

/* What the next step is made of: |f|^2, a column of dF'dF, dF'f. */
typedef struct products {
  double square, gram[ANDERSON_MOST], c[ANDERSON_MOST];
} products;

/* With the newest pair where there is one; old holds f.  Processes sum all of
 * it at once. */
static lapis_status measure(anderson *a, bool pair, int64_t newest, products *q)
{
  int64_t m = pair ? a->have : 0;
  double x[1 + 2 * ANDERSON_MOST];
  TRY(inner(a, a->old, a->old, &x[0]));
  la_array pair_dF[ANDERSON_PARTS];
  for (int p = 0; p < a->parts; p++) pair_dF[p] = la_cols(&a->dF[p], newest, 1);
  if (m > 0) TRY(inner_all(a, pair_dF, a->old, x + 1));
  TRY(sum(a, x, 1 + 2 * m));
  q->square = x[0];
  memcpy(q->gram, x + 1, (size_t)m * sizeof *x);
  memcpy(q->c, x + 1 + m, (size_t)m * sizeof *x);
  return LAPIS_OK;
}

/* Cholesky in place of the m x m matrix M (row length ANDERSON_MOST) and
 * c <- M^-1 c; false where it is not positive definite. */
static bool solve(double *M, int64_t m, double *c)
{
  for (int64_t j = 0; j < m; j++) {
    double *row = M + j * ANDERSON_MOST;
    for (int64_t i = 0; i <= j; i++) {
      const double *other = M + i * ANDERSON_MOST;
      double s = row[i];
      for (int64_t k = 0; k < i; k++) s -= row[k] * other[k];
      if (i == j && !(s > 0)) return false;
      row[i] = i == j ? sqrt(s) : s / other[i];
    }
  }
  for (int64_t j = 0; j < m; j++) {
    for (int64_t k = 0; k < j; k++) c[j] -= M[j * ANDERSON_MOST + k] * c[k];
    c[j] /= M[j * ANDERSON_MOST + j];
  }
  for (int64_t j = m - 1; j >= 0; j--) {
    for (int64_t k = j + 1; k < m; k++) c[j] -= M[k * ANDERSON_MOST + j] * c[k];
    c[j] /= M[j * ANDERSON_MOST + j];
  }
  return true;
}

/* old = dG c, of which `whole` is to be taken.  firm: where f hardly changes
 * from step to step the differences say nothing of how far it goes on so, and
 * |dG c| is held to FARTHEST |f|. */
static lapis_status combine(anderson *a, double *c, double *whole)
{
  la_array first = la_cols(&a->c, 0, 1), factors = la_rows(&first, 0, a->have);
  lapis_mat own = lapis_mat_f64(c, a->have, 1);
  double square = 0;
  TRY(a->h->ops->upload(a->h, &own, &factors));
  for (int p = 0; p < a->parts; p++) {
    la_array dG = la_cols(&a->dG[p], 0, a->have), out = flat(&a->old[p]);
    TRY(a->h->ops->gemv(a->h, LA_N, 1, &dG, &factors, 0, &out));
  }
  *whole = 1;
  if (!a->firm) return LAPIS_OK;
  TRY(inner(a, a->old, a->old, &square));
  TRY(sum(a, &square, 1));
  *whole = fmin(1, FARTHEST * a->last / fmax(sqrt(square), 1e-300));
  return LAPIS_OK;
}

/* state -= dG c, c from dF'f, which it becomes */
static lapis_status extrapolate(anderson *a, la_array *const state[], double *c)
{
  double M[ANDERSON_MOST * ANDERSON_MOST], trace = 0, whole;
  memcpy(M, a->gram, sizeof M);
  for (int64_t i = 0; i < a->have; i++) trace += M[i * (ANDERSON_MOST + 1)];
  for (int64_t i = 0; i < a->have; i++)
    M[i * (ANDERSON_MOST + 1)] += a->regular * trace;
  if (!solve(M, a->have, c)) {
    a->have = a->next = 0;
    return LAPIS_OK;
  }
  TRY(combine(a, c, &whole));
  for (int p = 0; p < a->parts; p++)
    TRY(a->h->ops->axpby(a->h, -whole, &a->old[p], 1, state[p]));
  return LAPIS_OK;
}

/* Back to the plain image g of the step before. */
static lapis_status give_up(anderson *a, la_array *const state[])
{
  for (int p = 0; p < a->parts; p++) TRY(la_copy(a->h, &a->g[p], state[p]));
  double least = a->least; /* what is behind stays the measure */
  anderson_reset(a);
  a->least = least;
  return LAPIS_OK;
}

lapis_status anderson_after(anderson *a, la_array *const state[])
{
  la *h = a->h;
  if (a->parts == 0) return LAPIS_OK;
  bool pair = a->last >= 0;
  int64_t newest = a->next;
  products q;
  for (int p = 0; p < a->parts; p++) /* old = f = g - x */
    TRY(h->ops->axpby(h, 1, state[p], -1, &a->old[p]));
  if (pair) TRY(remember(a, state));
  TRY(measure(a, pair, newest, &q));
  double size = sqrt(q.square);
  double limit = WORSE * (a->firm ? a->least : a->last);
  if (pair && size > limit) return give_up(a, state);
  for (int64_t i = 0; pair && i < a->have; i++)
    a->gram[i * ANDERSON_MOST + newest] = a->gram[newest * ANDERSON_MOST + i] =
        q.gram[i];
  a->last = size;
  if (a->least < 0 || size < a->least) a->least = size;
  TRY(copy(a, state, a->g));
  for (int p = 0; p < a->parts; p++) TRY(la_copy(h, &a->old[p], &a->f[p]));
  return a->have > 1 ? extrapolate(a, state, q.c) : LAPIS_OK;
}
