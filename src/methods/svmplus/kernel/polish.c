/* polish.c - the last digits of the kernel problem.
 *
 * On its support F the answer solves Q_FF b = 1, a = b / 1'b, because the
 * gradient is constant there: a'Qa is homogeneous, so that the simplex only
 * sets the scale.  Cholesky gives b; samples with b <= 0 leave F, samples
 * whose gradient is far below a'Qa enter, and the best point by its
 * certified gap is kept.  SMO provides F and takes over where this does not
 * settle.  Asked early, from an F far from the answer's, it leaves SMO where it
 * was unless it settles: its rounds lower a'Qa only in the end. */
#include <math.h>
#include <string.h>

#include "methods/svmplus/svmplus.h"

enum { ROUNDS = 20, IDLE = 4 /* without gain */, MOST = 12000 };
static const double WORST = 0.1; /* of the largest violation */

typedef struct polish {
  sv_quadratic *q;
  int64_t *F, count;      /* n */
  double *A, *b, *r;      /* count x count, in double; n, n */
  sv_support support;     /* in single precision */
  double *best;           /* n */
  double taken;           /* points of a larger gap are not */
  double best_gap, least; /* least: a'Qa so far */
  int idle;               /* rounds since either fell */
} polish;

static lapis_status support_matrix(polish *t)
{
  sv_quadratic *q = t->q;
  if (q->Q == NULL) return sv_rows_square(q->source, t->F, t->count, t->A);
  for (int64_t c = 0; c < t->count; c++)
    for (int64_t r = 0; r < t->count; r++)
      t->A[c * t->count + r] = q->Q[t->F[c] * q->n + t->F[r]];
  return LAPIS_OK;
}

/* b with Q_FF b = 1 */
static lapis_status solve_support(polish *t)
{
  sv_quadratic *q = t->q;
  if (q->single != NULL) {
    for (int64_t c = 0; c < t->count; c++) {
      t->b[c] = q->a[t->F[c]] / q->norm;
      t->r[c] = 1 - q->g[t->F[c]] / q->norm;
    }
    return sv_single_solve(q->single, &t->support, t->F, t->count, t->b, t->r);
  }
  for (int64_t c = 0; c < t->count; c++) t->b[c] = 1;
  TRY(support_matrix(t));
  la_array A = la_wrap(t->A, t->count, t->count);
  la_array b = la_wrap(t->b, t->count, 1);
  TRY(q->h->ops->potrf(q->h, &A));
  return q->h->ops->potrs(q->h, &A, &b);
}

/* a = b / 1'b on F; false where some b are not positive: they leave F. */
static bool place(polish *t)
{
  sv_quadratic *q = t->q;
  int64_t kept = 0;
  double sum = 0;
  for (int64_t c = 0; c < t->count; c++) {
    if (!(t->b[c] > 0)) continue;
    sum += t->b[c];
    t->b[kept] = t->b[c];
    t->F[kept++] = t->F[c];
  }
  bool whole = kept == t->count;
  t->count = kept;
  memset(q->a, 0, (size_t)q->n * sizeof *q->a);
  for (int64_t c = 0; c < kept; c++) q->a[t->F[c]] = t->b[c] / sum;
  return whole;
}

/* The worst ones: most of the others are put right by these. */
static void enter(polish *t)
{
  sv_quadratic *q = t->q;
  double worst = q->gap * q->norm / 2; /* a'Qa - min g */
  double limit = fmin(q->norm * (1 - 1e-13), q->norm - WORST * worst);
  for (int64_t i = 0; i < q->n; i++)
    if (!(q->a[i] > 0) && q->g[i] < limit) t->F[t->count++] = i;
}

static lapis_status one_round(polish *t, bool *settled)
{
  sv_quadratic *q = t->q;
  TRY(solve_support(t));
  bool whole = place(t);
  if (t->count == 0) {
    *settled = true;
    return LAPIS_OK;
  }
  TRY(sv_quadratic_certify(q));
  t->idle = q->gap < t->best_gap || q->norm < t->least ? 0 : t->idle + 1;
  t->least = fmin(t->least, q->norm);
  if (q->gap < t->best_gap && q->gap <= t->taken) {
    t->best_gap = q->gap;
    memcpy(t->best, q->a, (size_t)q->n * sizeof *q->a);
  }
  int64_t before = t->count;
  if (whole) enter(t);
  *settled = whole && (t->count == before || t->count > MOST);
  return LAPIS_OK;
}

static lapis_status run(polish *t, double tol)
{
  bool settled = false, early = isfinite(t->taken);
  double enough = t->q->single != NULL ? .1 : 1e-3;
  for (int k = 0; k < ROUNDS && !settled; k++) {
    if (early && t->idle == IDLE) break;
    if (base_cancelled(t->q->ctx)) break; /* time limits end steps, not this */
    lapis_status s = one_round(t, &settled);
    if (s == LAPIS_ENUMERIC) break; /* a singular Q_FF: SMO's answer stands */
    TRY(s);
    if (t->best_gap <= enough * tol) break;
  }
  bool there = t->count > 0 && t->q->gap == t->best_gap;
  if (there) return LAPIS_OK; /* the best is what was certified last */
  memcpy(t->q->a, t->best, (size_t)t->q->n * sizeof *t->best);
  return sv_quadratic_certify(t->q);
}

lapis_status sv_polish(sv_quadratic *q, double tol, double taken)
{
  int64_t n = q->n, count = 0;
  for (int64_t i = 0; i < n; i++) count += q->a[i] > 0;
  if (count > MOST) return LAPIS_OK;
  int64_t room = n < MOST ? n : MOST;
  polish t = {.q = q, .taken = taken, .best_gap = q->gap, .least = q->norm};
  t.F = base_alloc(q->ctx, n, sizeof *t.F);
  if (q->single == NULL) t.A = base_alloc_raw(q->ctx, room * room, sizeof *t.A);
  t.b = base_alloc_raw(q->ctx, 3 * n, sizeof *t.b);
  bool ok = t.F != NULL && t.b != NULL && (q->single != NULL || t.A != NULL);
  lapis_status s = ok ? LAPIS_OK : LAPIS_ENOMEM;
  if (s >= 0 && q->single != NULL)
    s = sv_support_new(q->ctx, n, room, &t.support);
  if (s >= 0) {
    t.r = t.b + n;
    t.best = t.r + n;
    memcpy(t.best, q->a, (size_t)n * sizeof *t.best);
    for (int64_t i = 0; i < n; i++)
      if (q->a[i] > 0) t.F[t.count++] = i;
    s = run(&t, tol);
  }
  sv_support_free(&t.support);
  base_free(t.F);
  base_free(t.A);
  base_free(t.b);
  return s;
}
