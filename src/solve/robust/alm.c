/* alm.c - the augmented Lagrangian for T, D and E together [RR16 Alg. 1].
 *
 *   T from Dh;  Dh from T;  D = SVT at 1/(mu1 + mu2);  E;  G1, G2;  mu *= rho
 *
 * Deviations from the printed algorithm (docs/methods/rr.md gives the
 * reasons): mu starts at d n / (4 |X|_1), the printed product is a slip; the
 * loop runs once before its residuals are looked at, both are 0 at entry, and
 * goes on while either is above the tolerance; E is made from the new D; the
 * multiplier of Dh is [X; 0]/|X|_2.  T is solved once more at the end, for the
 * D that is returned.
 *
 * J is not convex in (T, D): residuals and J are reported, never a gap. */
#include <math.h>
#include <string.h>

#include "solve/robust/robust.h"

/* ---- memory -------------------------------------------------------------*/
lapis_status rr_alm_alloc(rr *w)
{
  la *h = &w->h;
  bool joint = w->set.denoise == LAPIS_RR_JOINT && !w->fixed;
  la_array *same[] = {&w->B, &w->G1, &w->Z}, *tall[] = {&w->G2, &w->N};
  for (int i = 0; joint && i < 3; i++)
    TRY(h->ops->alloc(h, LAPIS_F64, w->d, w->n, same[i]));
  for (int i = 0; joint && i < 2; i++)
    TRY(h->ops->alloc(h, LAPIS_F64, w->d + 1, w->n, tall[i]));
  TRY(h->ops->alloc(h, LAPIS_F64, w->d + 1, w->K, &w->TW));
  TRY(h->ops->alloc(h, LAPIS_F64, w->K, w->n, &w->WY));
  TRY(h->ops->alloc(h, LAPIS_F64, w->K, w->n, &w->H));
  return h->ops->alloc(h, LAPIS_F64, w->K, w->K, &w->M);
}

void rr_alm_free(rr *w)
{
  la_array *all[] = {&w->B,  &w->G1, &w->Z, &w->G2, &w->N,
                     &w->TW, &w->WY, &w->H, &w->M};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    w->h.ops->free(&w->h, all[i]);
}

/* ---- starting -----------------------------------------------------------*/
static lapis_status first_mu(rr *w)
{
  double sums[2] = {0, 0}, cells = (double)(w->d * w->n);
  la *h = &w->h;
  TRY(la_zero(h, &w->Z));
  TRY(h->ops->l1_sums(h, &w->step.X, &w->Z, NULL, sums));
  w->mu = w->set.mu;
  if (isnan(w->mu)) w->mu = sums[0] > 0 ? cells / (4 * sums[0]) : 1;
  w->set.mu = w->mu;
  return LAPIS_OK;
}

lapis_status rr_alm_targets(rr *w)
{
  la *h = &w->h;
  la_array Wm = la_wrap(w->W, w->K, w->K), Y = la_wrap(w->Y, w->K, w->n);
  TRY(h->ops->gemm(h, LA_N, LA_N, 1, &Wm, &Y, 0, &w->WY));
  return rr_tstep_set(h, &w->t, w->Y, w->W, w->set.gamma);
}

static void set_last_row(la_array *A, double value)
{
  double *a = A->data;
  for (int64_t j = 0; j < A->cols; j++) a[j * A->ld + A->rows - 1] = value;
}

/* D = B = X, 0 where not observed; Dh = [X; 1]; G1 = X/|X|_2,
 * G2 = [X; 0]/|X|_2. */
static lapis_status start(rr *w)
{
  la *h = &w->h;
  double norm;
  la_array Dh = la_rows(&w->t.Dh, 0, w->d), G2 = la_rows(&w->G2, 0, w->d);
  TRY(first_mu(w));
  TRY(h->ops->l1_dual(h, INFINITY, &w->step.X, &w->Z, &w->B));
  TRY(op_norm2_upper(w->step.svt, &w->B, &norm));
  double scale = norm > 0 ? 1 / norm : 0;
  TRY(la_copy(h, &w->B, &w->step.A));
  TRY(la_copy(h, &w->B, &Dh));
  TRY(h->ops->axpby(h, scale, &w->B, 0, &w->G1));
  TRY(h->ops->axpby(h, scale, &w->B, 0, &G2));
  set_last_row(&w->t.Dh, 1);
  set_last_row(&w->G2, 0);
  /* Z = (G1 + mu B + G2) / (2 mu), what the first step on D takes less Dh */
  TRY(la_copy(h, &w->B, &w->Z));
  TRY(h->ops->axpby(h, 1 / w->mu, &w->G1, 1, &w->Z));
  TRY(h->ops->axpby(h, 1 / w->mu, &G2, 1, &w->Z));
  return la_scale(h, 0.5, &w->Z);
}

/* ---- the steps ----------------------------------------------------------*/
/* TW = T'W' */
static lapis_status weigh(rr *w)
{
  la_array Wm = la_wrap(w->W, w->K, w->K);
  return w->h.ops->gemm(&w->h, LA_N, LA_T, 1, &w->t.Tt, &Wm, 0, &w->TW);
}

/* Dh = N + K'(mu/eta I + K K')^-1 (W Y - K N), K = W T, N = [D; 1] - G2/mu:
 * the (d + 1) x (d + 1) system of Alg. 1 by its K x K twin. */
static lapis_status update_augmented(rr *w)
{
  la *h = &w->h;
  la_array top = la_rows(&w->N, 0, w->d);
  TRY(la_copy(h, &w->step.A, &top));
  set_last_row(&w->N, 1);
  TRY(h->ops->axpby(h, -1 / w->mu, &w->G2, 1, &w->N));
  TRY(h->ops->syrk(h, LA_T, &w->TW, &w->M));
  TRY(la_add_diagonal(h, w->mu / w->set.eta, &w->M));
  TRY(h->ops->potrf(h, &w->M));
  TRY(la_copy(h, &w->WY, &w->H));
  TRY(h->ops->gemm(h, LA_T, LA_N, -1, &w->TW, &w->N, 1, &w->H));
  TRY(h->ops->potrs(h, &w->M, &w->H));
  TRY(la_copy(h, &w->N, &w->t.Dh));
  return h->ops->gemm(h, LA_N, LA_N, 1, &w->TW, &w->H, 1, &w->t.Dh);
}

/* D = SVT((G1 + mu (X - E) + G2 + mu Dh) / (2 mu), 1/(2 mu)) */
static lapis_status update_low_rank(rr *w)
{
  la_array Dh = la_rows(&w->t.Dh, 0, w->d);
  TRY(w->h.ops->axpby(&w->h, 0.5, &Dh, 1, &w->Z));
  return op_svt_apply(w->step.svt, &w->Z, 1 / (2 * w->mu), &w->step.A,
                      &w->step.low_rank);
}

/* The last row of Dh and G2, which D has not; returns |Dh_last - 1|^2. */
static double update_last_row(rr *w)
{
  double *g = w->G2.data, sum = 0;
  const double *f = w->t.Dh.data;
  for (int64_t j = 0; j < w->n; j++) {
    int64_t k = j * (w->d + 1) + w->d;
    double apart = f[k] - 1;
    g[k] += w->mu * apart;
    sum += apart * apart;
  }
  return sum;
}

/* E, G1, G2, mu; relative residuals. */
static lapis_status update_multipliers(rr *w, double size, double sums[3])
{
  la *h = &w->h;
  double next = w->mu * w->set.rho, whole;
  la_array Dh = la_rows(&w->t.Dh, 0, w->d), G2 = la_rows(&w->G2, 0, w->d);
  la_alm p = {.X = &w->step.X,
              .D = &w->step.A,
              .F = &Dh,
              .B = &w->B,
              .G1 = &w->G1,
              .G2 = &G2,
              .Z = &w->Z,
              .lambda = w->set.lambda,
              .mu1 = w->mu,
              .mu2 = w->mu,
              .next1 = next,
              .next2 = next};
  TRY(h->ops->l1_alm(h, &p, sums));
  TRY(h->ops->dot(h, &w->t.Dh, &w->t.Dh, &whole));
  sums[1] += update_last_row(w);
  w->residual[0] = sqrt(sums[0]) / size;
  w->residual[1] = sqrt(sums[1] / fmax(whole, 1e-300));
  w->mu = next;
  return LAPIS_OK;
}

/* ---- the objective ------------------------------------------------------*/
lapis_status rr_objective(rr *w, double nuclear, double l1, double *J)
{
  la *h = &w->h;
  double fit, size;
  la_array top = la_rows(&w->TW, 0, w->d);
  double *hh = w->H.data;
  const double *tw = w->TW.data;
  TRY(la_copy(h, &w->WY, &w->H));
  TRY(h->ops->gemm(h, LA_T, LA_N, -1, &top, &w->step.A, 1, &w->H));
  for (int64_t j = 0; j < w->n; j++)
    for (int64_t k = 0; k < w->K; k++)
      hh[j * w->K + k] -= tw[k * (w->d + 1) + w->d];
  TRY(h->ops->dot(h, &w->H, &w->H, &fit));
  TRY(h->ops->dot(h, &w->t.Tt, &w->t.Tt, &size));
  *J = w->set.eta / 2 * (fit + w->set.gamma * size) + nuclear +
       w->set.lambda * l1;
  return LAPIS_OK;
}

/* ---- the loop -----------------------------------------------------------*/
static lapis_status record(rr *w, loop *l)
{
  double rank = (double)w->step.low_rank.rank;
  double worst = fmax(w->residual[0], w->residual[1]);
  lapis_progress now = {.rank = w->step.low_rank.rank,
                        .objective = w->J,
                        .gap = NAN,
                        .residual = worst};
  loop_show(l, &now, w->set.stop.tol);
  base_say(l->ctx, 2, "%s: %" PRId64 " J %.10g residuals %.2e %.2e rank %g",
           l->method, l->iter, w->J, w->residual[0], w->residual[1], rank);
  return loop_record(l, (double[]){w->J, NAN, NAN, worst, rank});
}

static lapis_status step(rr *w, double size, double sums[3])
{
  TRY(rr_tstep_run(&w->h, &w->t));
  TRY(weigh(w));
  TRY(update_augmented(w));
  TRY(update_low_rank(w));
  TRY(update_multipliers(w, size, sums));
  return rr_objective(w, w->step.low_rank.nuclear, sums[2], &w->J);
}

lapis_status rr_regress(rr *w)
{
  double sums[2] = {0, 0};
  la_array Dh = la_rows(&w->t.Dh, 0, w->d);
  TRY(la_copy(&w->h, &w->step.A, &Dh));
  set_last_row(&w->t.Dh, 1);
  TRY(rr_tstep_run(&w->h, &w->t));
  TRY(weigh(w));
  TRY(w->h.ops->l1_sums(&w->h, &w->step.X, &w->step.A, NULL, sums));
  return rr_objective(w, w->step.low_rank.nuclear, sums[0], &w->J);
}

static void keep(rr *w, loop *l)
{
  la_keep(l, "D", &w->step.A);
  la_keep(l, "Dh", &w->t.Dh);
  la_keep(l, "Tt", &w->t.Tt);
  la_keep(l, "B", &w->B);
  la_keep(l, "Z", &w->Z);
  la_keep(l, "G1", &w->G1);
  la_keep(l, "G2", &w->G2);
  loop_keep_positive(l, "mu", &w->mu, 1);
  loop_keep(l, "residual", w->residual, 2);
  loop_keep(l, "J", &w->J, 1);
  loop_keep_whole(l, "rank", &w->step.low_rank.rank, 1, 0, LOOP_MOST);
  loop_keep(l, "nuclear", &w->step.low_rank.nuclear, 1);
}

lapis_status rr_alm(rr *w, loop *l)
{
  double square, sums[3];
  bool resumed;
  TRY(start(w));
  TRY(w->h.ops->dot(&w->h, &w->B, &w->B, &square));
  double size = sqrt(fmax(square, 1e-300));
  w->residual[0] = w->residual[1] = INFINITY;
  keep(w, l);
  TRY(loop_resume(l, &resumed));
  while (fmax(w->residual[0], w->residual[1]) > w->set.stop.tol &&
         loop_next(l)) {
    TRY(step(w, size, sums));
    TRY(record(w, l));
  }
  return rr_regress(w);
}
