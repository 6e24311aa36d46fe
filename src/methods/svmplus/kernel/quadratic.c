/* quadratic.c - what a point of the kernel problem is worth.
 *
 * f(a) - f* <= a'Qa - min g, g = Qa, on the simplex (smo.c). */
#include <math.h>
#include <string.h>

#include "base/width.h"
#include "methods/svmplus/svmplus.h"

void sv_quadratic_set_gap(sv_quadratic *q, double least)
{
  q->gap = (q->norm - least) / fmax(q->norm / 2, 1e-300);
}

WIDTH_CLONES static void add_column(double *restrict g, double a,
                                    const double *restrict Q, int64_t n)
{
  for (int64_t i = 0; i < n; i++) g[i] += a * Q[i];
}

static lapis_status gradient(sv_quadratic *q)
{
  int64_t n = q->n;
  if (q->single != NULL) return sv_single_times(q->single, q->a, q->g);
  if (q->Q == NULL) return sv_rows_times(q->source, q->a, q->g);
  memset(q->g, 0, (size_t)n * sizeof *q->g);
  for (int64_t j = 0; j < n; j++)
    if (q->a[j] > 0) add_column(q->g, q->a[j], q->Q + j * n, n);
  return LAPIS_OK;
}

lapis_status sv_quadratic_certify(sv_quadratic *q)
{
  double least = INFINITY;
  TRY(gradient(q));
  q->norm = 0;
  for (int64_t i = 0; i < q->n; i++) {
    q->norm += q->a[i] * q->g[i];
    least = fmin(least, q->g[i]);
  }
  sv_quadratic_set_gap(q, least);
  if (q->single != NULL) /* |a| <= 1: of a'Qa and of min Qa */
    q->gap += 4 * q->single->doubt / fmax(q->norm, 1e-300);
  if (isfinite(q->gap)) return LAPIS_OK;
  return lapis_fail(
      q->ctx, LAPIS_ENUMERIC,
      "svmplus: the numbers overflow; scale the features (--map standard)");
}

lapis_status sv_quadratic_record(sv_quadratic *q, double tol)
{
  double f = q->norm / 2;
  TRY(loop_record(q->loop, (double[]){f, f * (1 - q->gap), q->gap}));
  base_say(q->ctx, 2, "svmplus: %" PRId64 " objective %.10g gap %.2e",
           q->loop->iter, f, q->gap);
  lapis_progress now = {.objective = f, .gap = q->gap, .residual = NAN};
  loop_show(q->loop, &now, tol);
  return LAPIS_OK;
}
