/* linear.c - what alpha and zeta prove about the linear problem.
 *
 *   min 1/2 |w|^2 + gamma/2 |v|^2 + sum C_i v'z_i
 *   s.t. y_i w'x_i >= 1 - v'z_i,  v'z_i >= 0                   [SVMP16 (7)]
 *
 * At w = sum a_i y_i x_i, v = (1/gamma) sum (a_i + s_i - C_i) z_i the dual is
 *   D = 1'a - |w|^2/2 - gamma |v|^2/2  (f of (9) plus a constant).
 * Raising v's bias by t = max(0, max -v'z_i, max 1 - y_i w'x_i - v'z_i) makes
 * (w, v) feasible, so the primal P there bounds the optimum from above.
 *
 * Without privileged features the slack is free: P = |w|^2/2 + sum C_i
 * max(0, 1 - y_i w'x_i), D = 1'a - |w|^2/2, 0 <= a <= C. */
#include <math.h>
#include <string.h>

#include "solve/svmplus/columns.h"
#include "solve/svmplus/svmplus.h"

lapis_status sv_linear_new(const sv_data *q, sv_linear *out)
{
  int64_t n = q->n;
  *out = (sv_linear){.q = q, .gap = INFINITY};
  out->a = base_alloc(q->ctx, 4 * n + q->d + q->p + 2, sizeof(double));
  if (out->a == NULL) return LAPIS_ENOMEM;
  out->s = out->a + n;
  out->m = out->s + n;
  out->r = out->m + n;
  out->w = out->r + n;
  out->v = out->w + q->d + 1;
  return LAPIS_OK;
}

void sv_linear_free(sv_linear *l)
{
  base_free(l->a);
  *l = (sv_linear){0};
}

static lapis_status weights_from_dual(sv_linear *l)
{
  const sv_data *q = l->q;
  memset(l->w, 0, (size_t)(q->d + q->p + 2) * sizeof *l->w);
  for (int64_t i = 0; i < q->n; i++) {
    if (l->a[i] > 0) column_add(&q->X, i, l->a[i] * q->y[i], l->w);
    if (!q->plain)
      column_add(&q->P, i, (l->a[i] - q->C[i] + l->s[i]) / q->gamma, l->v);
  }
  return base_sum(q->ctx, l->w, q->d + q->p + 2); /* w and v adjoin */
}

static double square(const double *x, int64_t n)
{
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += x[i] * x[i];
  return sum;
}

/* sum of a, of the slack's cost, of C; returns how far v must be raised. */
static double sums(sv_linear *l, double out[3])
{
  const sv_data *q = l->q;
  double t = 0;
  for (int64_t i = 0; i < q->n; i++) {
    l->m[i] = q->y[i] * column_dot(&q->X, i, l->w);
    l->r[i] = q->plain ? fmax(0, 1 - l->m[i]) : column_dot(&q->P, i, l->v);
    out[0] += l->a[i];
    out[1] += q->C[i] * l->r[i];
    out[2] += q->C[i];
    t = fmax(t, fmax(-l->r[i], 1 - l->m[i] - l->r[i]));
  }
  return t;
}

lapis_status sv_linear_certify(sv_linear *l)
{
  const sv_data *q = l->q;
  double sum[3] = {0, 0, 0};
  TRY(weights_from_dual(l));
  double t = sums(l, sum);
  TRY(base_sum(q->ctx, sum, 3));
  TRY(base_max(q->ctx, &t, 1));
  double w = square(l->w, q->d + 1) / 2, b = l->v[q->p];
  double v = q->plain ? 0 : q->gamma / 2 * square(l->v, q->p + 1);
  /* gamma/2 ((b + t)^2 - b^2) is what raising the bias adds */
  double raise = q->plain ? 0 : q->gamma / 2 * t * (2 * b + t) + sum[2] * t;
  l->primal = w + v + sum[1] + raise;
  l->dual = sum[0] - w - v;
  double size = fmax(fmax(fabs(l->primal), fabs(l->dual)), 1e-300);
  l->gap = (l->primal - l->dual) / size;
  if (isfinite(l->gap)) return LAPIS_OK;
  return lapis_fail(q->ctx, LAPIS_ENUMERIC,
                    "svmplus: the numbers overflow; scale the features");
}

void sv_linear_keep(sv_linear *l)
{
  const sv_data *q = l->q;
  loop_keep(q->loop, "point", l->a, 4 * q->n + q->d + q->p + 2);
  loop_keep(q->loop, "primal", &l->primal, 1);
  loop_keep(q->loop, "dual", &l->dual, 1);
  loop_keep(q->loop, "gap", &l->gap, 1);
}

lapis_status sv_linear_record(sv_linear *l, double tol)
{
  loop *p = l->q->loop;
  TRY(loop_record(p, (double[]){l->primal, l->dual, l->gap}));
  base_say(l->q->ctx, 2,
           "svmplus: %" PRId64 " primal %.10g dual %.10g gap %.2e", p->iter,
           l->primal, l->dual, l->gap);
  lapis_progress now = {.objective = l->primal, .gap = l->gap, .residual = NAN};
  loop_show(p, &now, tol);
  return LAPIS_OK;
}
