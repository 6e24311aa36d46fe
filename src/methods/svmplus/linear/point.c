/* point.c - a point of the linear problem (linear.c), and what it proves. */
#include <math.h>
#include <string.h>

#include "methods/svmplus/columns.h"
#include "methods/svmplus/svmplus.h"

lapis_status sv_linear_new(const sv_data *q, sv_linear *out)
{
  int64_t n = q->n;
  *out = (sv_linear){.q = q, .gap = INFINITY};
  out->a = base_alloc(q->ctx, 4 * n + 2 * (q->d + q->p + 2), sizeof(double));
  if (out->a == NULL) return LAPIS_ENOMEM;
  out->s = out->a + n;
  out->m = out->s + n;
  out->r = out->m + n;
  out->w = out->r + n;
  out->v = out->w + q->d + 1;
  out->u = out->v + q->p + 1;
  return LAPIS_OK;
}

void sv_linear_free(sv_linear *point)
{
  base_free(point->a);
  *point = (sv_linear){0};
}

static lapis_status weights_from_dual(sv_linear *point)
{
  const sv_data *q = point->q;
  memset(point->w, 0, (size_t)(q->d + q->p + 2) * sizeof *point->w);
  for (int64_t i = 0; i < q->n; i++) {
    if (point->a[i] > 0) column_add(&q->X, i, point->a[i] * q->y[i], point->w);
    if (!q->plain)
      column_add(&q->P, i, (point->a[i] - q->C[i] + point->s[i]) / q->gamma,
                 point->v);
  }
  for (int64_t k = 0; q->rest != NULL && k < q->d + q->p + 2; k++)
    point->w[k] -= q->rest[k] / (k <= q->d ? 1 : q->gamma);
  return base_sum(q->ctx, point->w, q->d + q->p + 2); /* w and v adjoin */
}

static double square(const double *x, int64_t n)
{
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += x[i] * x[i];
  return sum;
}

/* sum of a, of the slack's cost, of C; returns how far v must be raised. */
static double sums(sv_linear *point, double out[3])
{
  const sv_data *q = point->q;
  double t = 0;
  for (int64_t i = 0; i < q->n; i++) {
    point->m[i] = q->y[i] * column_dot(&q->X, i, point->w);
    point->r[i] =
        q->plain ? fmax(0, 1 - point->m[i]) : column_dot(&q->P, i, point->v);
    out[0] += point->a[i];
    out[1] += q->C[i] * point->r[i];
    out[2] += q->C[i];
    t = fmax(t, fmax(-point->r[i], 1 - point->m[i] - point->r[i]));
  }
  return t;
}

/* The linear cost of samples that are not here (q->rest): theirs of the slack,
 * or of w where they are fixed at a = C; *C: the sum of their weights. */
static double rest_of(const sv_linear *point, double *C)
{
  const sv_data *q = point->q;
  double sum = q->rest_a;
  *C = 0;
  if (q->rest == NULL) return 0;
  for (int64_t k = 0; k <= q->d; k++) sum += q->rest[k] * point->w[k];
  for (int64_t k = 0; k <= q->p && !q->plain; k++)
    sum += q->rest[q->d + 1 + k] * point->v[k];
  if (!q->plain) *C = q->rest[q->d + 1 + q->p];
  return sum;
}

lapis_status sv_linear_primal(sv_linear *point, double *sum_a, double *own)
{
  const sv_data *q = point->q;
  double sum[3] = {0, 0, 0}, rest_C;
  double t = sums(point, sum), rest = rest_of(point, &rest_C);
  TRY(base_sum_later(q->ctx, sum, 3));
  TRY(base_max(q->ctx, &t, 1));
  double w = square(point->w, q->d + 1) / 2, b = point->v[q->p];
  double v = q->plain ? 0 : q->gamma / 2 * square(point->v, q->p + 1);
  /* gamma/2 ((b + t)^2 - b^2) is what raising the bias adds */
  double raise =
      q->plain ? 0 : q->gamma / 2 * t * (2 * b + t) + (sum[2] + rest_C) * t;
  point->primal = w + v + sum[1] + rest + raise;
  *sum_a = sum[0] + q->rest_a;
  *own = w + v;
  return LAPIS_OK;
}

static void exchange(double *a, double *b, int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    double x = a[i];
    a[i] = b[i];
    b[i] = x;
  }
}

/* The better of the primals at w(a), v(a) and at u, which comes to stand in
 * their place. */
static lapis_status look_beside(sv_linear *point)
{
  const sv_data *q = point->q;
  int64_t N = q->d + q->p + 2;
  double before = point->primal, sum, own;
  exchange(point->w, point->u, N);
  lapis_status s = sv_linear_primal(point, &sum, &own);
  bool better = s >= 0 && point->primal < before;
  if (better)
    memcpy(point->u, point->w, (size_t)N * sizeof *point->w);
  else
    exchange(point->w, point->u, N);
  if (!better) s = s < 0 ? s : sv_linear_primal(point, &sum, &own);
  return s;
}

void sv_linear_set_gap(sv_linear *point)
{
  double size = fmax(fmax(fabs(point->primal), fabs(point->dual)), 1e-300);
  point->gap = (point->primal - point->dual) / size;
}

lapis_status sv_linear_certify(sv_linear *point)
{
  const sv_data *q = point->q;
  double sum, own;
  TRY(weights_from_dual(point));
  TRY(sv_linear_primal(point, &sum, &own));
  point->dual = sum - own;
  if (point->beside) TRY(look_beside(point));
  sv_linear_set_gap(point);
  if (isfinite(point->gap)) return LAPIS_OK;
  return lapis_fail(
      q->ctx, LAPIS_ENUMERIC,
      "svmplus: the numbers overflow; scale the features (--map standard)");
}

void sv_linear_keep(sv_linear *point)
{
  const sv_data *q = point->q;
  loop_keep(q->loop, "point", point->a, 4 * q->n);
  loop_divide(q->loop, 4);
  loop_keep(q->loop, "point.w", point->w, 2 * (q->d + q->p + 2));
  loop_keep_whole(q->loop, "beside", &point->beside, 1, 0, 1);
  loop_keep(q->loop, "primal", &point->primal, 1);
  loop_keep(q->loop, "dual", &point->dual, 1);
  loop_keep(q->loop, "gap", &point->gap, 1);
}

lapis_status sv_linear_record(sv_linear *point, double tol)
{
  loop *l = point->q->loop;
  TRY(loop_record(l, (double[]){point->primal, point->dual, point->gap}));
  base_say(point->q->ctx, 2,
           "svmplus: %" PRId64 " primal %.10g dual %.10g gap %.2e", l->iter,
           point->primal, point->dual, point->gap);
  lapis_progress now = {
      .objective = point->primal, .gap = point->gap, .residual = NAN};
  loop_show(l, &now, tol);
  return LAPIS_OK;
}
