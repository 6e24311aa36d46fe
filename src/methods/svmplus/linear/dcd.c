/* dcd.c - dual coordinate descent for the linear problem.
 *
 * [SVMP16 Alg. 1] with three differences.  The step is exact in the pair
 * (a_i, s_i): with u = a + s the dual separates in (a, u) up to a <= u, and
 *   a* = a - (y w'x - 1) / qx,  u* = u - v'z / qz,
 *   qx = x'x,  qz = z'z / gamma
 * is the answer where 0 <= a* <= u*; (0, max(0, u*)) where a* <= 0; else
 * a = u = max(0, (qx a* + qz u*) / (qx + qz)).  (Step 2 of Alg. 1
 * prints x'x and z'z for Q_aa = x'x + z'z/gamma and Q_ss = z'z/gamma: it
 * overshoots for gamma < 1.)  Samples come in a new random order each epoch,
 * and those at (0, 0) with both gradients well positive are left out until
 * the next certificate.  Whether it is enough is asked from outside, by the
 * certified gap, at epochs that grow geometrically.
 *
 * Numerics: w and v drift by rounding; every certificate makes them anew.
 * For gamma <= 1e-2 descent may need 1e4 epochs and more: hence the cap. */
#include <math.h>
#include <stdlib.h>

#include "methods/svmplus/columns.h"
#include "methods/svmplus/svmplus.h"

typedef struct dcd {
  sv_linear *point;
  double *qx, *qz; /* n each */
  int64_t *order;  /* n: samples in play come first */
  int64_t active;
  int64_t before; /* epochs of other classes */
  double bar;     /* gradients above it leave play */
  double worst;   /* largest violation of this epoch */
} dcd;

/* The exact minimiser over 0 <= a <= u, given the free one. */
static void pair_answer(double qx, double qz, double *a, double *u)
{
  if (*a <= 0) {
    *a = 0;
    *u = fmax(0, *u);
  } else if (*a > *u) {
    *a = *u = fmax(0, (qx * *a + qz * *u) / (qx + qz));
  }
}

/* false: sample i leaves play. */
static bool step_pair(dcd *t, int64_t i)
{
  sv_linear *point = t->point;
  const sv_data *q = point->q;
  double qx = t->qx[i], qz = t->qz[i];
  double slope = q->y[i] * column_dot(&q->X, i, point->w) - 1;
  double slack = column_dot(&q->P, i, point->v);
  double a = point->a[i], u = a + point->s[i];
  if (u <= 0 && slack > t->bar && slope + slack > t->bar) return false;
  double new_a = a - slope / qx, new_u = u - slack / qz;
  pair_answer(qx, qz, &new_a, &new_u);
  double da = new_a - a, du = new_u - u;
  if (da != 0) column_add(&q->X, i, da * q->y[i], point->w);
  if (du != 0) column_add(&q->P, i, du / q->gamma, point->v);
  point->a[i] = new_a;
  point->s[i] = new_u - new_a;
  t->worst = fmax(t->worst, fmax(fabs(da) * qx, fabs(du) * qz));
  return true;
}

/* The same for 0 <= a <= C. */
static bool step_plain(dcd *t, int64_t i)
{
  sv_linear *point = t->point;
  const sv_data *q = point->q;
  double slope = q->y[i] * column_dot(&q->X, i, point->w) - 1, a = point->a[i];
  if (a <= 0 && slope > t->bar) return false;
  if (a >= q->C[i] && slope < -t->bar) return false;
  double new_a = fmin(fmax(a - slope / t->qx[i], 0), q->C[i]);
  double da = new_a - a;
  if (da != 0) column_add(&q->X, i, da * q->y[i], point->w);
  point->a[i] = new_a;
  point->s[i] = q->C[i] - new_a;
  t->worst = fmax(t->worst, fabs(da) * t->qx[i]);
  return true;
}

static void epoch(dcd *t)
{
  const sv_data *q = t->point->q;
  t->worst = 0;
  uint64_t draw = (uint64_t)(q->loop->iter - t->before);
  rng_permute(base_seed(q->ctx), draw, t->order, t->active);
  for (int64_t k = 0; k < t->active;) {
    int64_t i = t->order[k];
    if (q->plain ? step_plain(t, i) : step_pair(t, i)) {
      k++;
      continue;
    }
    t->order[k] = t->order[--t->active];
    t->order[t->active] = i;
  }
  t->bar = t->worst;
}

static void everyone_plays(dcd *t)
{
  t->active = t->point->q->n;
  t->bar = INFINITY;
}

static lapis_status run(dcd *t, double tol, int64_t epochs, bool *solved)
{
  sv_linear *point = t->point;
  loop *l = point->q->loop;
  int64_t next = 4, first = l->iter;
  bool resumed;
  TRY(sv_linear_certify(point));
  everyone_plays(t);
  loop_keep_order(l, "order", t->order, point->q->n);
  loop_keep_whole(l, "active", &t->active, 1, 0, point->q->n);
  loop_keep_whole(l, "next", &next, 1, 0, LOOP_MOST);
  loop_keep_whole(l, "first", &first, 1, 0, LOOP_MOST);
  loop_keep(l, "bar", &t->bar, 1);
  sv_linear_keep(point);
  TRY(loop_resume(l, &resumed));
  /* orders are drawn by the class's own count, whichever ran before it */
  t->before = sv_phase(l) > 0 ? first - SV_EPOCHS : first;
  while (point->gap > tol && loop_next(point->q->loop)) {
    int64_t done = point->q->loop->iter - first;
    epoch(t);
    if (done < next && done < epochs) continue;
    TRY(sv_linear_certify(point));
    TRY(sv_linear_record(point, tol));
    everyone_plays(t);
    next = done + 2 + done / 4;
    if (done >= epochs) break;
  }
  if (point->q->loop->status != LAPIS_OK) TRY(sv_linear_certify(point));
  *solved = point->gap <= tol;
  return LAPIS_OK;
}

lapis_status sv_dcd(sv_linear *point, double tol, int64_t epochs, bool *solved)
{
  const sv_data *q = point->q;
  int64_t n = q->n;
  double *room = base_alloc(q->ctx, 3 * n, sizeof *room);
  if (room == NULL) return LAPIS_ENOMEM;
  dcd t = {.point = point,
           .qx = room,
           .qz = room + n,
           .order = (int64_t *)(void *)(room + 2 * n)};
  for (int64_t i = 0; i < n; i++) {
    t.order[i] = i;
    t.qx[i] = column_square(&q->X, i);
    if (!q->plain) t.qz[i] = column_square(&q->P, i) / q->gamma;
  }
  lapis_status s = run(&t, tol, epochs, solved);
  base_free(room);
  return s;
}
