/* lowrank.c - pivoted Cholesky: one kernel column and r n operations a step,
 * always at the sample that is explained worst; what is left on the diagonal
 * bounds the error. */
#include "op/dense/lowrank.h"

#include <math.h>
#include <string.h>

typedef struct pivoted {
  la *h;
  const op_kernel *k;
  int64_t most, r;
  double *L;      /* most x n */
  double *rest;   /* n: diagonal of what is left */
  double *column; /* n */
} pivoted;

static double trace(const pivoted *t)
{
  double sum = 0;
  for (int64_t i = 0; i < t->k->n; i++) sum += t->rest[i];
  return sum;
}

static lapis_status add_pivot(pivoted *t)
{
  int64_t n = t->k->n, best = 0;
  for (int64_t i = 1; i < n; i++)
    if (t->rest[i] > t->rest[best]) best = i;
  TRY(op_kernel_own(t->h, t->k, best, 1, t->column));
  la_array L = la_wrap(t->L, t->r, n), out = la_wrap(t->column, n, 1);
  la_array x = la_wrap(t->L + best * t->most, t->r, 1);
  L.ld = t->most;
  if (t->r > 0) TRY(t->h->ops->gemv(t->h, LA_T, -1, &L, &x, 1, &out));
  double root = sqrt(t->rest[best]);
  for (int64_t i = 0; i < n; i++) {
    double *l = t->L + i * t->most;
    l[t->r] = i == best ? root : (t->column[i] + 1) / root;
    t->rest[i] = i == best ? 0 : fmax(0, t->rest[i] - l[t->r] * l[t->r]);
  }
  t->r++;
  return LAPIS_OK;
}

/* Rows most -> r of every column, in place. */
static void close_up(pivoted *t)
{
  for (int64_t i = 0; i < t->k->n; i++)
    memmove(t->L + i * t->r, t->L + i * t->most, (size_t)t->r * sizeof *t->L);
}

static lapis_status run(pivoted *t, double tol, double *left_out)
{
  double whole = 0;
  for (int64_t i = 0; i < t->k->n; i++)
    whole += t->rest[i] = op_kernel_self(t->k, i) + 1;
  double left = whole;
  while (t->r < t->most && left > tol * whole) {
    TRY(add_pivot(t));
    left = trace(t);
  }
  *left_out = left / whole;
  close_up(t);
  return LAPIS_OK;
}

lapis_status op_low_rank(la *h, const op_kernel *k, int64_t most, double tol,
                         double **out, int64_t *r, double *left_out)
{
  int64_t n = k->n;
  if (most > n) most = n;
  *out = NULL;
  pivoted t = {.h = h, .k = k, .most = most};
  t.L = base_alloc(h->ctx, most * n, sizeof *t.L);
  t.rest = base_alloc(h->ctx, 2 * n, sizeof *t.rest);
  bool ok = t.L != NULL && t.rest != NULL;
  t.column = ok ? t.rest + n : NULL;
  lapis_status s = ok ? run(&t, tol, left_out) : LAPIS_ENOMEM;
  base_free(t.rest);
  *r = t.r;
  if (s >= 0)
    *out = t.L;
  else
    base_free(t.L);
  return s;
}
