/* rr_alm.c - the augmented Lagrangian for T, D and E together [RR16 Alg. 1].
 *
 *   repeat  Update T, Update D-hat, Update D, Update E, Update Gamma, mu *= rho
 *
 * The loop below has a paragraph for each, by the names of the paper's box.
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

#include "methods/robust/robust.h"

/* ---- memory -------------------------------------------------------------*/
lapis_status rr_alm_alloc(rr *w)
{
  la *h = &w->h;
  bool joint = w->set.denoise == LAPIS_RR_JOINT && !w->fixed;
  la_array *same[] = {&w->B, &w->G1, &w->input}, *tall[] = {&w->G2, &w->N};
  for (int i = 0; joint && i < 3; i++)
    TRY(h->ops->alloc(h, LAPIS_F64, w->d, w->n, same[i]));
  for (int i = 0; joint && i < 2; i++)
    TRY(h->ops->alloc(h, LAPIS_F64, w->d + 1, w->n, tall[i]));
  if (joint && w->root != NULL) {
    TRY(h->ops->alloc(h, LAPIS_F64, w->K, w->K, &w->MV));
    TRY(h->ops->alloc(h, LAPIS_F64, w->K, w->n, &w->HV));
  }
  TRY(h->ops->alloc(h, LAPIS_F64, w->d + 1, w->K, &w->TW));
  TRY(h->ops->alloc(h, LAPIS_F64, w->K, w->n, &w->WY));
  TRY(h->ops->alloc(h, LAPIS_F64, w->K, w->n, &w->H));
  TRY(h->ops->alloc(h, LAPIS_F64, w->K, w->K, &w->Wm));
  if (joint && w->root != NULL)
    w->room = arena_reals(&w->base.arena, w->K + w->n);
  w->bias = arena_reals(&w->base.arena, w->K);
  TRY(arena_status(&w->base.arena));
  return h->ops->alloc(h, LAPIS_F64, w->K, w->K, &w->M);
}

void rr_alm_free(rr *w)
{
  la_array *all[] = {&w->B,  &w->G1, &w->input, &w->G2, &w->N,  &w->TW,
                     &w->WY, &w->H,  &w->M,     &w->Wm, &w->MV, &w->HV};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    w->h.ops->free(&w->h, all[i]);
}

/* ---- starting -----------------------------------------------------------*/
static lapis_status first_mu(rr *w)
{
  double sums[2] = {0, 0}, cells = (double)(w->d * w->step.all);
  la *h = &w->h;
  TRY(la_zero(h, &w->input));
  TRY(h->ops->l1_sums(h, &w->step.X, &w->input, NULL, sums));
  TRY(base_sum(h->ctx, sums, 1));
  w->mu = w->set.mu;
  if (isnan(w->mu)) w->mu = sums[0] > 0 ? cells / (4 * sums[0]) : 1;
  w->set.mu = w->mu;
  return LAPIS_OK;
}

lapis_status rr_alm_targets(rr *w)
{
  la *h = &w->h;
  lapis_mat W = lapis_mat_f64(w->W, w->K, w->K);
  lapis_mat Y = lapis_mat_f64(w->Y, w->K, w->n);
  TRY(h->ops->upload(h, &W, &w->Wm));
  TRY(h->ops->upload(h, &Y, &w->H));
  TRY(h->ops->gemm(h, LA_N, LA_N, 1, &w->Wm, &w->H, 0, &w->WY));
  return rr_tstep_set(h, &w->t, w->Y, w->W, w->set.gamma);
}

static lapis_status set_last_row(la *h, const la_array *A, double value)
{
  la_array last = la_rows(A, A->rows - 1, 1);
  return h->ops->fill(h, value, &last);
}

/* D = B = X, 0 where not observed; Dh = [X; 1]; G1 = X/|X|_2,
 * G2 = [X; 0]/|X|_2. */
static lapis_status start(rr *w)
{
  la *h = &w->h;
  double norm;
  la_array Dh = la_rows(&w->t.Dh, 0, w->d), G2 = la_rows(&w->G2, 0, w->d);
  TRY(first_mu(w));
  TRY(h->ops->l1_dual(h, INFINITY, &w->step.X, &w->input, &w->B));
  TRY(op_norm2_upper(w->step.svt, &w->B, &norm));
  double scale = norm > 0 ? 1 / norm : 0;
  TRY(la_copy(h, &w->B, &w->step.A));
  TRY(la_copy(h, &w->B, &Dh));
  TRY(h->ops->axpby(h, scale, &w->B, 0, &w->G1));
  TRY(h->ops->axpby(h, scale, &w->B, 0, &G2));
  TRY(set_last_row(h, &w->t.Dh, 1));
  TRY(set_last_row(h, &w->G2, 0));
  /* input = (G1 + mu B + G2) / (2 mu) */
  TRY(la_copy(h, &w->B, &w->input));
  TRY(h->ops->axpby(h, 1 / w->mu, &w->G1, 1, &w->input));
  TRY(h->ops->axpby(h, 1 / w->mu, &G2, 1, &w->input));
  return la_scale(h, 0.5, &w->input);
}

/* ---- what T is used for -------------------------------------------------*/
/* TW = T'W' */
static lapis_status weigh(rr *w)
{
  return w->h.ops->gemm(&w->h, LA_N, LA_T, 1, &w->t.Tt, &w->Wm, 0, &w->TW);
}

/* ---- the objective ------------------------------------------------------*/
/* H (or what is like it) minus the constants of W T in every column. */
lapis_status rr_take_constants(rr *w, la_array *H)
{
  la_array last = la_rows(&w->TW, w->d, 1);
  lapis_mat own;
  TRY(la_borrow(&w->h, &last, &own));
  for (int64_t k = 0; k < w->K; k++) w->bias[k] = -lapis_mat_at(&own, 0, k);
  return w->h.ops->add_to_cols(&w->h, w->bias, H);
}

lapis_status rr_objective(rr *w, double nuclear, const double *l1, double *J)
{
  la *h = &w->h;
  double fit, size;
  la_array top = la_rows(&w->TW, 0, w->d);
  TRY(la_copy(h, &w->WY, &w->H));
  TRY(h->ops->gemm(h, LA_T, LA_N, -1, &top, &w->step.A, 1, &w->H));
  TRY(rr_take_constants(w, &w->H));
  if (w->root != NULL) TRY(la_scale_cols(h, w->root, &w->H));
  TRY(h->ops->dot(h, &w->H, &w->H, &fit));
  TRY(base_sum(h->ctx, &fit, 1));
  TRY(h->ops->dot(h, &w->t.Tt, &w->t.Tt, &size));
  *J = w->set.eta / 2 * (fit + w->set.gamma * size) + nuclear +
       w->set.lambda * *l1;
  return LAPIS_OK;
}

/* ---- the loop -----------------------------------------------------------*/
/* H <- (mu/(eta v_j) I + K K')^-1 H_j in every column j; K K' = V l V'. */
static lapis_status solve_columns(rr *w)
{
  la *h = &w->h;
  int64_t count;
  TRY(h->ops->syrk(h, LA_T, &w->TW, &w->M));
  if (w->root != NULL) {
    double *l = w->room, *f = l + w->K;
    TRY(h->ops->eigh(h, &w->M, -INFINITY, l, &w->MV, &count));
    TRY(h->ops->gemm(h, LA_T, LA_N, 1, &w->MV, &w->H, 0, &w->HV));
    for (int64_t k = 0; k < w->K; k++) {
      la_array row = la_rows(&w->HV, k, 1);
      for (int64_t j = 0; j < w->n; j++) {
        double v = w->set.eta * w->weight[j];
        f[j] = v / (w->mu + v * fmax(l[k], 0));
      }
      TRY(la_scale_cols(h, f, &row));
    }
    return h->ops->gemm(h, LA_N, LA_N, 1, &w->MV, &w->HV, 0, &w->H);
  }
  TRY(la_add_diagonal(h, w->mu / w->set.eta, &w->M));
  TRY(h->ops->potrf(h, &w->M));
  return h->ops->potrs(h, &w->M, &w->H);
}

/* Gamma2 += mu (Dh - 1) in the last row; adds |Dh - 1|^2 there to *sum. */
static lapis_status update_last_row(rr *w, double *sum)
{
  la_array f = la_rows(&w->t.Dh, w->d, 1), g = la_rows(&w->G2, w->d, 1);
  lapis_mat Dh, G2;
  double own = 0;
  TRY(la_borrow(&w->h, &f, &Dh));
  TRY(la_borrow(&w->h, &g, &G2));
  for (int64_t j = 0; j < w->n; j++) {
    double off = ((const double *)Dh.val)[j * Dh.ld] - 1;
    ((double *)G2.val)[j * G2.ld] += w->mu * off;
    own += off * off;
  }
  *sum += own;
  return la_give_back(&w->h, &G2, &g);
}

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

lapis_status rr_regress(rr *w)
{
  double sums[2] = {0, 0};
  la_array Dh = la_rows(&w->t.Dh, 0, w->d);
  TRY(la_copy(&w->h, &w->step.A, &Dh));
  TRY(set_last_row(&w->h, &w->t.Dh, 1));
  TRY(rr_tstep_run(&w->h, &w->t));
  TRY(weigh(w));
  TRY(w->h.ops->l1_sums(&w->h, &w->step.X, &w->step.A, NULL, sums));
  TRY(base_sum_later(w->h.ctx, sums, 1));
  return rr_objective(w, w->step.low_rank.nuclear, sums, &w->J);
}

static void keep(rr *w, loop *l)
{
  la_keep_part(l, "D", &w->step.A);
  la_keep_part(l, "Dh", &w->t.Dh);
  la_keep(l, "Tt", &w->t.Tt);
  la_keep_part(l, "B", &w->B);
  la_keep_part(l, "Z", &w->input);
  la_keep_part(l, "G1", &w->G1);
  la_keep_part(l, "G2", &w->G2);
  loop_keep_positive(l, "mu", &w->mu, 1);
  loop_keep(l, "residual", w->residual, 2);
  loop_keep(l, "J", &w->J, 1);
  loop_keep_whole(l, "rank", &w->step.low_rank.rank, 1, 0, LOOP_MOST);
  loop_keep(l, "nuclear", &w->step.low_rank.nuclear, 1);
}

lapis_status rr_alm(rr *w, loop *l)
{
  la *h = &w->h;
  la_array *D = &w->step.A, *Dh = &w->t.Dh, *N = &w->N;
  la_array Dh_top = la_rows(Dh, 0, w->d), N_top = la_rows(N, 0, w->d);
  la_array G2_top = la_rows(&w->G2, 0, w->d);
  double size, sums[4]; /* of l1_alm; |Dh|^2 */
  bool resumed;
  TRY(start(w));
  TRY(h->ops->dot(h, &w->B, &w->B, &size));
  TRY(base_sum(h->ctx, &size, 1));
  size = sqrt(fmax(size, 1e-300));
  w->residual[0] = w->residual[1] = INFINITY;
  keep(w, l);
  TRY(loop_resume(l, &resumed));
  while (fmax(w->residual[0], w->residual[1]) > w->set.stop.tol &&
         loop_next(l)) {
    double mu = w->mu, next = mu * w->set.rho;

    /* Update T: min |W (Y - T Dh)|^2 + gamma |T|^2, exactly (regression_step.c)
     */
    TRY(rr_tstep_run(h, &w->t));
    TRY(weigh(w));

    /* Update D-hat: min eta/2 |W (Y - T Dh)|^2 + mu/2 |Dh - N|^2 with
     * N = [D; 1] - Gamma2/mu.  The (d + 1) x (d + 1) system of Alg. 1 by its
     * K x K twin, K = W T:
     *   Dh = N + K'H,  H = (mu/eta I + K K')^-1 (W Y - K N)
     * (with weights mu/(eta v_j) in column j) */
    TRY(la_copy(h, D, &N_top));
    TRY(set_last_row(h, N, 1));
    TRY(h->ops->axpby(h, -1 / mu, &w->G2, 1, N));
    TRY(la_copy(h, &w->WY, &w->H));
    TRY(h->ops->gemm(h, LA_T, LA_N, -1, &w->TW, N, 1, &w->H));
    TRY(solve_columns(w));
    TRY(la_copy(h, N, Dh));
    TRY(h->ops->gemm(h, LA_N, LA_N, 1, &w->TW, &w->H, 1, Dh));

    /* Update D: singular values of (Gamma1 + mu (X - E) + Gamma2 + mu Dh)
     * / (2 mu) shrunk by 1/(2 mu).  All but Dh/2 is in input already. */
    TRY(h->ops->axpby(h, 0.5, &Dh_top, 1, &w->input));
    TRY(op_svt_apply(w->step.svt, &w->input, 1 / (2 * mu), D,
                     &w->step.low_rank));

    /* Update E: soft(X - D + Gamma1/mu, lambda/mu), kept as B = X - E.
     * Update Gamma: Gamma1 += mu (X - D - E), Gamma2 += mu (Dh - [D; 1]).
     * One pass over the data, which leaves the next input; the last row of
     * Gamma2 has no D. */
    la_alm pass = {.X = &w->step.X,
                   .D = D,
                   .F = &Dh_top,
                   .B = &w->B,
                   .G1 = &w->G1,
                   .G2 = &G2_top,
                   .Z = &w->input,
                   .lambda = w->set.lambda,
                   .mu1 = mu,
                   .mu2 = mu,
                   .next1 = next,
                   .next2 = next};
    TRY(h->ops->l1_alm(h, &pass, sums));
    TRY(update_last_row(w, &sums[1]));

    /* Update mu, and how far X = D + E and Dh = [D; 1] are from true */
    w->mu = next;
    TRY(h->ops->dot(h, Dh, Dh, &sums[3]));
    TRY(base_sum_later(h->ctx, sums, 4));
    TRY(rr_objective(w, w->step.low_rank.nuclear, &sums[2], &w->J));
    w->residual[0] = sqrt(sums[0]) / size;
    w->residual[1] = sqrt(sums[1] / fmax(sums[3], 1e-300));
    TRY(record(w, l));
  }
  return rr_regress(w);
}
