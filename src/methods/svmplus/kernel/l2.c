/* l2.c - the l2 problem of one class [SVMP16 (18), (22)].
 *
 *   min 1/2 a'Qa,  a >= 0,  1'a = 1,   Q = (K + 1) o yy' + G
 *
 * Where n x n matrices fit into the memory granted, K, G (gram.c) and Q are
 * whole; else rows of K are made when asked for (rows.c) and G = R'R.  smo.c
 * finds the support, polish.c the last digits.  Where the privileged kernel is
 * whole, G and Q are made in single precision first (single.c). */
#include <math.h>
#include <string.h>

#include "la/parts.h"
#include "methods/svmplus/svmplus.h"

/* Q = y y' o (K + 1) + G, dense. */
static lapis_status build_Q(svmplus *w)
{
  const sv_data *q = &w->q;
  const sv_gram *k = &w->gram;
  int64_t n = q->n;
  la_array Q = la_wrap(k->Q, n, n), R = la_wrap(k->G, k->r, n);
  if (k->L != NULL) TRY(la_syrk_there(&w->h, LA_T, &R, &Q));
  const double *G = k->L != NULL ? k->Q : k->G;
  double f = k->L != NULL ? 1 : k->G_factor;
#pragma omp parallel for num_threads(parts_team(&w->h, n *n))
  for (int64_t j = 0; j < n; j++) {
    double *to = k->Q + j * n, yj = q->y[j];
    const double *main = k->K + j * n, *slack = k->plain ? NULL : G + j * n;
    for (int64_t i = 0; i < n && k->plain; i++)
      to[i] = q->y[i] * yj * (main[i] + 1);
    for (int64_t i = 0; i < n && !k->plain; i++)
      to[i] = q->y[i] * yj * (main[i] + 1) + f * slack[i];
    if (k->plain) to[j] += 1 / q->C[j];
  }
  for (int64_t j = 0; j < n; j++) w->diag[j] = k->Q[j * n + j];
  return LAPIS_OK;
}

static void prepare_rows(svmplus *w)
{
  const sv_gram *k = &w->gram;
  w->rows.y = w->q.y;
  w->rows.R = k->plain ? NULL : k->G;
  w->rows.r = k->r;
  w->rows.C = k->plain ? w->q.C : NULL;
  for (int64_t j = 0; j < w->q.n; j++) {
    double sum = op_kernel_self(&k->main, j) + 1;
    if (k->plain) sum += 1 / w->q.C[j];
    for (int64_t i = 0; i < k->r; i++)
      sum += k->G[j * k->r + i] * k->G[j * k->r + i];
    w->diag[j] = sum;
  }
}

/* y f = (Qa - Ga), so f costs no kernel. */
static void scores_from_gradient(svmplus *w, const sv_quadratic *p, int64_t c)
{
  const sv_data *q = &w->q;
  const sv_gram *k = &w->gram;
  double *Ra = w->diag; /* spent; n >= r */
  memset(Ra, 0, (size_t)q->n * sizeof *Ra);
  for (int64_t j = 0; j < q->n; j++)
    for (int64_t i = 0; i < k->r; i++) Ra[i] += p->a[j] * k->G[j * k->r + i];
  for (int64_t j = 0; j < q->n; j++) {
    double slack = k->plain ? p->a[j] / q->C[j] : 0;
    for (int64_t i = 0; i < k->r; i++) slack += Ra[i] * k->G[j * k->r + i];
    w->scores[j * w->K + c] = q->y[j] * (p->g[j] - slack);
  }
}

static lapis_status l2_solve(sv_quadratic *p)
{
  double tol = p->tol;
  /* SMO finds the support, Cholesky the digits; SMO again where it failed.
   * Where a step of SMO makes all rows, Cholesky takes over earlier. */
  bool whole = p->Q != NULL || p->single != NULL;
  double enough = whole ? 1e-3 : 1e-1;
  if (sv_phase(p->loop) % 2 == 0) {
    TRY(sv_smo(p, fmax(tol, enough)));
    if (p->gap > tol) TRY(sv_polish(p, tol, INFINITY));
    if (p->gap <= tol) return LAPIS_OK;
    if (p->single != NULL) return LAPIS_OK; /* Cholesky in double is next */
    loop_set_stage(p->loop, p->loop->stage + 1);
    return sv_smo(p, tol);
  }
  return sv_smo(p, tol);
}

/* The first two phases may be in single precision, the others are in double. */
enum { DOUBLE = 2, SINGLE_FROM = 200 /* samples */ };

static lapis_status slack_part(svmplus *w)
{
  const sv_data *q = &w->q;
  if (!sv_is_weighted(w))
    return sv_gram_slack(&w->gram, w->set.C, w->set.gamma, NULL);
  double *share = w->diag; /* filled later */
  for (int64_t i = 0; i < q->n; i++) share[i] = q->C[i] / w->set.C;
  return sv_gram_slack(&w->gram, w->set.C, w->set.gamma, share);
}

/* NULL: all in double. */
static lapis_status single_inverse(svmplus *w, const float **out)
{
  const sv_gram *k = &w->gram;
  *out = NULL;
  if (!k->dense || k->Kp == NULL || sv_is_weighted(w) || k->n < SINGLE_FROM)
    return LAPIS_OK;
  return sv_gram_inverse(&w->gram, w->set.gamma / w->set.C, out);
}

lapis_status sv_l2_share(svmplus *w)
{
  const float *inverse;
  if (w->kind != SV_L2 || sv_is_weighted(w)) return LAPIS_OK;
  TRY(single_inverse(w, &inverse));
  return inverse == NULL ? slack_part(w) : LAPIS_OK;
}

static void keep_l2(svmplus *w, const sv_quadratic *p, int64_t c)
{
  const sv_data *q = &w->q;
  w->rho[c] = p->norm;
  w->bias[c] = 0;
  for (int64_t i = 0; i < q->n; i++) {
    w->alpha[i * w->K + c] = p->a[i];
    w->bias[c] += p->a[i] * q->y[i];
  }
  sv_add_info(w, p->norm / 2, p->norm / 2 * (1 - p->gap), p->gap);
}

static void start_warm(const svmplus *w, sv_quadratic *p, int64_t c)
{
  for (int64_t i = 0; i < p->n; i++) p->a[i] = w->alpha[i * w->K + c];
}

/* done: false where it has to be done in double; a limit ends it here. */
static lapis_status solve_in_single(svmplus *w, sv_quadratic *p, int64_t c,
                                    bool *done)
{
  const float *inverse = NULL;
  *done = false;
  if (sv_phase(p->loop) < DOUBLE) TRY(single_inverse(w, &inverse));
  if (inverse == NULL) return LAPIS_OK;
  sv_single x, given = {.h = &w->h,
                        .n = p->n,
                        .K = w->gram.K,
                        .Kp = w->gram.Kp,
                        .y = w->q.y,
                        .inverse = inverse,
                        .Q = (float *)w->gram.Q,
                        .t = w->set.gamma / w->set.C,
                        .C = w->set.C,
                        .below = w->gram.below,
                        .tol = w->set.stop.tol};
  TRY(sv_single_new(&given, w->diag, &x));
  p->single = &x;
  lapis_status s = l2_solve(p);
  p->single = NULL;
  sv_single_free(&x);
  *done = p->gap <= w->set.stop.tol || p->loop->status != LAPIS_OK ||
          loop_must_end(p->loop);
  if (s == LAPIS_ENUMERIC) { /* out of the range of single precision */
    *done = false;
    start_warm(w, p, c);
    s = LAPIS_OK;
  }
  if (s >= 0 && !*done)
    loop_set_stage(p->loop, p->loop->stage - sv_phase(p->loop) + DOUBLE);
  return s;
}

static lapis_status solve_in_double(svmplus *w, sv_quadratic *p)
{
  TRY(slack_part(w));
  if (w->gram.dense) {
    TRY(build_Q(w));
    p->Q = w->gram.Q;
  } else {
    prepare_rows(w);
  }
  return l2_solve(p);
}

lapis_status sv_l2_part(svmplus *w, int64_t c)
{
  const sv_data *q = &w->q;
  bool dense = w->gram.dense;
  sv_quadratic p = {.ctx = q->ctx,
                    .h = &w->h,
                    .loop = q->loop,
                    .n = q->n,
                    .tol = w->set.stop.tol,
                    .source = &w->rows,
                    .diag = w->diag};
  p.a = base_alloc(q->ctx, 4 * q->n, sizeof *p.a);
  if (p.a == NULL) return LAPIS_ENOMEM;
  p.g = p.a + q->n;
  p.wide = p.g + q->n;
  start_warm(w, &p, c);
  bool done;
  lapis_status s = solve_in_single(w, &p, c, &done);
  if (s >= 0 && !done) s = solve_in_double(w, &p);
  if (s >= 0) keep_l2(w, &p, c);
  if (s >= 0 && dense) s = sv_kernel_scores(w, p.a, c, 0);
  if (s >= 0 && !dense) scores_from_gradient(w, &p, c);
  if (s >= 0) s = sv_warn_zero(w, c, p.gap * p.norm / 2, p.norm);
  base_free(p.a);
  return s;
}

lapis_status sv_l2_alloc(svmplus *w)
{
  int64_t n = w->q.n;
  TRY(sv_kernels(w, w->set.rank));
  w->diag = arena_reals(&w->base.arena, n);
  TRY(arena_status(&w->base.arena));
  if (w->gram.dense) return LAPIS_OK;
  return sv_rows_new(&w->h, &w->gram.main, &w->rows);
}
