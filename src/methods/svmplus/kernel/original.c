/* original.c - SVM+ with free biases, [SVMP16 (4)].
 *
 *   min 1/2 (a o y)'K(a o y) - 1'a + 1/(2 gamma) e'Kt e,  e = a + s - C
 *   s.t. y'a = 0, 1'e = 0, a >= 0, s >= 0
 *
 * The multipliers of the two equalities are the biases: f = K(a o y) + b,
 * slack xi = Kt e / gamma + b~; those of a >= 0 and s >= 0 are, at the answer,
 * y f - 1 + xi and xi.  Mehrotra's predictor and corrector on (a, e), one
 * Cholesky factorisation of order 2n a step:
 *   [ H + t1 + t2     -t2        ]
 *   [    -t2       Kt/gamma + t2 ],   t1 = l/a, t2 = x/s,
 * and a 2 x 2 Schur complement for the equalities.  Without privileged
 * features e is free and s = C - a: the plain SVM, of order n.
 *
 * The gap sets (4) against (1) at w, v from (a, e), with b~ raised until
 * every slack is large enough. */
#include <math.h>
#include <string.h>

#include "methods/svmplus/svmplus.h"

static const double BACK_OFF = 0.995;
static const double RIDGE = 1e-14; /* of the diagonal: steps only */
enum { PATIENCE = 4 };

typedef struct original {
  const sv_data *q;
  /* n x n each, Kp NULL: plain.  No 1 is added to them: y'a = 0 and 1'e = 0
   * would take it out. */
  const double *K, *Kp;
  double *a, *s;               /* n each */
  double b, slack_b;           /* multipliers of the two equalities */
  double objective, dual, gap; /* objective of (4); gap of the pair */
} original;

typedef struct state {
  original *o;
  int64_t n, N;    /* N: 2n, or n without privileged features */
  double *M;       /* N x N */
  double *B;       /* N x 3: the right side, (y, 0), (0, 1) */
  double *e;       /* n */
  double *l, *x;   /* n each: multipliers of a, s */
  double *Ha, *Ke; /* n each: y o K(a o y), Kt e / gamma */
  double *da, *de, *dl, *dx;
  double *best_a, *best_s, best[5]; /* b, b~, objective, dual, gap */
} state;

static double slack_direction(const state *t, int64_t i)
{
  return (t->o->q->plain ? 0 : t->de[i]) - t->da[i];
}

/* out = f K (v o y) o y, y NULL: 1 */
static lapis_status product(state *t, const double *K, const double *y,
                            const double *v, double f, double *out)
{
  la *h = t->o->q->h;
  int64_t n = t->n;
  double *copy = t->B; /* free between two solves */
  for (int64_t i = 0; i < n; i++) copy[i] = v[i] * (y == NULL ? 1 : y[i]);
  la_array A = la_wrap((double *)(uintptr_t)K, n, n);
  la_array b = la_wrap(copy, n, 1), c = la_wrap(out, n, 1);
  TRY(h->ops->gemm(h, LA_N, LA_N, f, &A, &b, 0, &c));
  for (int64_t i = 0; i < n && y != NULL; i++) out[i] *= y[i];
  return LAPIS_OK;
}

static lapis_status products(state *t)
{
  const sv_data *q = t->o->q;
  TRY(product(t, t->o->K, q->y, t->o->a, 1, t->Ha));
  if (q->plain) return LAPIS_OK;
  for (int64_t i = 0; i < t->n; i++)
    t->e[i] = t->o->a[i] - q->C[i] + t->o->s[i];
  return product(t, t->o->Kp, NULL, t->e, 1 / q->gamma, t->Ke);
}

/* ---- the certificate ----------------------------------------------------*/
static double dot(const double *a, const double *b, int64_t n)
{
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* b is free, so the best one for these slacks is where the primal, a convex
 * function of b, is least; the multiplier itself is at most rounding away. */
static double primal(const state *t)
{
  const original *o = t->o;
  const sv_data *q = o->q;
  double raise = 0, cost = 0, C = 0;
  for (int64_t i = 0; i < t->n; i++) {
    double need = 1 - t->Ha[i] - q->y[i] * o->b;
    double xi = q->plain ? fmax(0, need) : t->Ke[i] + o->slack_b;
    raise = fmax(raise, fmax(need - xi, -xi));
    cost += q->C[i] * xi;
    C += q->C[i];
  }
  double v = q->plain ? 0 : dot(t->e, t->Ke, t->n) / 2;
  return dot(o->a, t->Ha, t->n) / 2 + v + cost + C * raise;
}

static lapis_status certify(state *t)
{
  original *o = t->o;
  double sum = 0, v = o->q->plain ? 0 : dot(t->e, t->Ke, t->n) / 2;
  for (int64_t i = 0; i < t->n; i++) sum += o->a[i];
  o->objective = dot(o->a, t->Ha, t->n) / 2 - sum + v;
  o->dual = -primal(t);
  double size = fmax(fmax(fabs(o->objective), fabs(o->dual)), 1e-300);
  o->gap = (o->objective - o->dual) / size;
  if (!isfinite(o->gap))
    return lapis_fail(
        o->q->ctx, LAPIS_ENUMERIC,
        "svmplus: the numbers overflow; scale the features (--map standard)");
  return LAPIS_OK;
}

/* a and s must satisfy the equalities before the pair proves anything. */
static bool feasible(const state *t)
{
  const original *o = t->o;
  double balance = 0, total = 0, size = 1e-300;
  for (int64_t i = 0; i < t->n; i++) {
    balance += o->q->y[i] * o->a[i];
    total += o->q->plain ? 0 : t->e[i];
    size += o->a[i] + fabs(t->e[i]);
  }
  return fmax(fabs(balance), fabs(total)) <= 1e-9 * size;
}

/* ---- the system ---------------------------------------------------------*/
static lapis_status factorise(state *t)
{
  const original *o = t->o;
  const sv_data *q = o->q;
  int64_t n = t->n, N = t->N;
  memset(t->M, 0, (size_t)(N * N) * sizeof *t->M);
  for (int64_t j = 0; j < n; j++) {
    double *left = t->M + j * N, *right = left + n * N;
    double t1 = t->l[j] / o->a[j], t2 = t->x[j] / o->s[j];
    for (int64_t i = 0; i < n; i++)
      left[i] = q->y[i] * q->y[j] * o->K[j * n + i];
    left[j] += t1 + t2 + RIDGE * left[j];
    if (q->plain) continue;
    left[n + j] = -t2;
    for (int64_t i = 0; i < n; i++) right[n + i] = o->Kp[j * n + i] / q->gamma;
    right[n + j] += t2 + RIDGE * right[n + j];
  }
  la_array M = la_wrap(t->M, N, N);
  return q->h->ops->potrf(q->h, &M);
}

/* The share of complementarity in the right side, divided by a or s. */
static double pull_1(const state *t, int64_t i, double mu)
{
  const original *o = t->o;
  double bend = mu > 0 ? t->da[i] * t->dl[i] : 0;
  return (mu - bend) / o->a[i] - t->l[i];
}

static double pull_2(const state *t, int64_t i, double mu)
{
  const original *o = t->o;
  double bend = mu > 0 ? slack_direction(t, i) * t->dx[i] : 0;
  return (mu - bend) / o->s[i] - t->x[i];
}

static void right_side(state *t, double mu)
{
  const original *o = t->o;
  const sv_data *q = o->q;
  int64_t n = t->n, N = t->N;
  memset(t->B, 0, (size_t)(3 * N) * sizeof *t->B);
  for (int64_t i = 0; i < n; i++) {
    double p1 = pull_1(t, i, mu), p2 = pull_2(t, i, mu);
    t->B[i] = p1 - p2 + 1 + t->l[i] - t->x[i] - t->Ha[i] - q->y[i] * o->b;
    t->B[N + i] = q->y[i];
    /* the pulls are needed after the solve */
    t->dl[i] = p1;
    t->dx[i] = p2;
    if (q->plain) continue;
    t->B[n + i] = p2 + t->x[i] - t->Ke[i] - o->slack_b;
    t->B[2 * N + n + i] = 1;
  }
}

/* Multipliers' directions db from the Schur complement, then (da, de). */
static void eliminate(state *t, double db[2])
{
  const original *o = t->o;
  const sv_data *q = o->q;
  int64_t n = t->n, N = t->N;
  const double *z = t->B, *zy = z + N, *z1 = zy + N;
  double S[4] = {0, 0, 0, 1}, r[2] = {0, 0};
  for (int64_t i = 0; i < n; i++) {
    r[0] += q->y[i] * (z[i] + o->a[i]);
    S[0] += q->y[i] * zy[i];
    S[1] += q->y[i] * z1[i];
  }
  if (!q->plain) S[3] = 0;
  for (int64_t i = 0; i < n && !q->plain; i++) {
    r[1] += z[n + i] + t->e[i];
    S[2] += zy[n + i];
    S[3] += z1[n + i];
  }
  double det = S[0] * S[3] - S[1] * S[2];
  db[0] = (r[0] * S[3] - S[1] * r[1]) / det;
  db[1] = (S[0] * r[1] - S[2] * r[0]) / det;
  for (int64_t i = 0; i < n; i++) {
    t->da[i] = z[i] - db[0] * zy[i] - db[1] * z1[i];
    if (!q->plain) t->de[i] = z[n + i] - db[0] * zy[n + i] - db[1] * z1[n + i];
  }
}

static lapis_status solve_system(state *t, double mu, double db[2])
{
  const original *o = t->o;
  la *h = o->q->h;
  right_side(t, mu);
  la_array M = la_wrap(t->M, t->N, t->N), B = la_wrap(t->B, t->N, 3);
  TRY(h->ops->potrs(h, &M, &B));
  eliminate(t, db);
  for (int64_t i = 0; i < t->n; i++) {
    t->dl[i] -= t->l[i] / o->a[i] * t->da[i];
    t->dx[i] -= t->x[i] / o->s[i] * slack_direction(t, i);
  }
  return LAPIS_OK;
}

static double shorten(double step, double x, double dx)
{
  return dx < 0 && -x / dx < step ? -x / dx : step;
}

static double longest_step(const state *t, double best)
{
  const original *o = t->o;
  for (int64_t i = 0; i < t->n; i++) {
    best = shorten(best, o->a[i], t->da[i]);
    best = shorten(best, o->s[i], slack_direction(t, i));
    best = shorten(best, t->l[i], t->dl[i]);
    best = shorten(best, t->x[i], t->dx[i]);
  }
  return best;
}

static double complementarity(const state *t, double step)
{
  const original *o = t->o;
  double sum = 0;
  for (int64_t i = 0; i < t->n; i++) {
    double ds = slack_direction(t, i);
    sum += (o->a[i] + step * t->da[i]) * (t->l[i] + step * t->dl[i]);
    sum += (o->s[i] + step * ds) * (t->x[i] + step * t->dx[i]);
  }
  return sum / (2 * (double)t->n);
}

static void move(state *t, double step, const double db[2])
{
  original *o = t->o;
  for (int64_t i = 0; i < t->n; i++) {
    o->s[i] += step * slack_direction(t, i);
    o->a[i] += step * t->da[i];
    t->l[i] += step * t->dl[i];
    t->x[i] += step * t->dx[i];
  }
  o->b += step * db[0];
  o->slack_b += step * db[1];
}

static lapis_status iterate(state *t)
{
  double db[2];
  memset(t->da, 0, (size_t)(4 * t->n) * sizeof *t->da);
  double mu = complementarity(t, 0);
  TRY(factorise(t));
  TRY(solve_system(t, 0, db));
  double ahead = complementarity(t, longest_step(t, 1));
  double sigma = pow(fmin(fmax(ahead / mu, 0), 1), 3);
  TRY(solve_system(t, fmax(sigma * mu, 1e-300), db));
  move(t, fmin(1, BACK_OFF * longest_step(t, 1 / BACK_OFF)), db);
  return products(t);
}

/* ---- the loop -----------------------------------------------------------*/
static void keep_best(state *t)
{
  original *o = t->o;
  if (!feasible(t) || !(o->gap < t->best[4])) return;
  memcpy(t->best_a, o->a, (size_t)t->n * sizeof *o->a);
  memcpy(t->best_s, o->s, (size_t)t->n * sizeof *o->s);
  const double now[] = {o->b, o->slack_b, o->objective, o->dual, o->gap};
  memcpy(t->best, now, sizeof now);
}

static lapis_status record(const state *t, double tol)
{
  const original *o = t->o;
  loop *l = o->q->loop;
  TRY(loop_record(l, (double[]){o->objective, o->dual, o->gap}));
  lapis_progress now = {
      .objective = o->objective, .gap = t->best[4], .residual = NAN};
  loop_show(l, &now, tol);
  return LAPIS_OK;
}

static void keep(state *t, int64_t *waited)
{
  original *o = t->o;
  loop *l = o->q->loop;
  double *all[] = {o->a, o->s, t->l, t->x, t->best_a, t->best_s};
  const char *name[] = {"a", "s", "l", "x", "best_a", "best_s"};
  for (int i = 0; i < 6; i++) loop_keep(l, name[i], all[i], t->n);
  loop_keep(l, "b", &o->b, 1);
  loop_keep(l, "slack_b", &o->slack_b, 1);
  loop_keep(l, "best", t->best, 5);
  loop_keep_whole(l, "waited", waited, 1, 0, LOOP_MOST);
}

static lapis_status run(state *t, double tol)
{
  original *o = t->o;
  const sv_data *q = o->q;
  int64_t waited = 0;
  bool resumed;
  for (int64_t i = 0; i < t->n; i++) {
    o->a[i] = o->s[i] = q->C[i] / 2;
    t->l[i] = t->x[i] = 1;
  }
  o->b = 0;
  o->slack_b = 1;
  t->best[4] = INFINITY;
  keep(t, &waited);
  TRY(loop_resume(q->loop, &resumed));
  TRY(products(t));
  while (t->best[4] > tol && waited < PATIENCE && loop_next(q->loop)) {
    double before = t->best[4];
    lapis_status s = iterate(t);
    if (s == LAPIS_ENUMERIC) break; /* rounding: no longer definite */
    TRY(s);
    TRY(certify(t));
    keep_best(t);
    TRY(record(t, tol));
    waited = t->best[4] < 0.9 * before || t->best[4] > 1e-2 ? 0 : waited + 1;
  }
  if (isinf(t->best[4])) return certify(t);
  memcpy(o->a, t->best_a, (size_t)t->n * sizeof *o->a);
  memcpy(o->s, t->best_s, (size_t)t->n * sizeof *o->s);
  o->b = t->best[0];
  o->slack_b = t->best[1];
  o->objective = t->best[2];
  o->dual = t->best[3];
  o->gap = t->best[4];
  return LAPIS_OK;
}

static lapis_status original_solve(original *o, double tol)
{
  const sv_data *q = o->q;
  int64_t n = q->n, N = q->plain ? n : 2 * n;
  state t = {.o = o, .n = n, .N = N};
  double *at = t.M = base_alloc(q->ctx, N * N + 3 * N + 11 * n, sizeof *at);
  if (at == NULL) return LAPIS_ENOMEM;
  double **per_sample[] = {&t.e,  &t.l,  &t.x,  &t.Ha,     &t.Ke,    &t.da,
                           &t.de, &t.dl, &t.dx, &t.best_a, &t.best_s};
  at += N * N;
  t.B = at;
  at += 3 * N;
  for (int k = 0; k < 11; k++, at += n) *per_sample[k] = at;
  lapis_status s = run(&t, tol);
  base_free(t.M);
  return s;
}

/* ---- a class of a solver -------------------------------------------------*/
lapis_status sv_original_part(svmplus *w, int64_t c)
{
  const sv_data *q = &w->q;
  int64_t n = q->n;
  double *room = base_alloc(q->ctx, 2 * n, sizeof *room);
  if (room == NULL) return LAPIS_ENOMEM;
  original o = {
      .q = q, .K = w->gram.K, .Kp = w->gram.Kp, .a = room, .s = room + n};
  lapis_status s = original_solve(&o, w->set.stop.tol);
  if (s >= 0) s = sv_kernel_scores(w, o.a, c, o.b);
  if (s >= 0) {
    sv_add_info(w, o.objective, o.dual, o.gap);
    w->bias[c] = o.b;
    w->rho[c] = 1;
    for (int64_t i = 0; i < n; i++) {
      w->alpha[i * w->K + c] = o.a[i];
      w->zeta[i * w->K + c] = o.s[i];
    }
  }
  base_free(room);
  return s;
}

lapis_status sv_original_alloc(svmplus *w)
{
  TRY(sv_kernels(w, SV_WHOLE));
  if (w->gram.dense) return LAPIS_OK;
  return lapis_fail(w->base.ctx, LAPIS_ESHAPE,
                    "svmplus: the original formulation needs whole kernels "
                    "of %" PRId64 " samples; raise --cache, or use l2",
                    w->q.n);
}
