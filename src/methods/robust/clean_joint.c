/* clean_joint.c - a batch together [RR16 (8), (10)].
 *
 *   minimize  |Q|_* + w |P_Omega(X - K Q)|_1,  K = U S, Z = V Q
 *
 * Deviation: [RR16] Alg. 2 linearizes the term D Z (and takes |D'D|_F^2 where
 * |D|_2^2 is meant).  We split (Q, B) from a point (Z, K Z) of the graph of K
 * instead, the projection onto which is diagonal in S: every step is exact,
 * and the multiplier of B is the certificate.  ratio weighs the distances of
 * the two parts, which have different units. */
#include <math.h>
#include <string.h>

#include "methods/robust/robust.h"

static const double RELAXATION = 1.6;
enum { BALANCE_EVERY = 6, LAST_BALANCE = 600, CHECK_EVERY = 5 };

lapis_status clean_joint_alloc(cleaner *c)
{
  la *h = c->h;
  la_array *all[] = {&c->SQ, &c->QA, &c->Z, &c->G};
  for (int i = 0; i < 4; i++)
    TRY(h->ops->alloc(h, LAPIS_F64, c->r, c->n, all[i]));
  return op_svt_new(h, c->r, c->n, &c->svt);
}

void clean_joint_free(cleaner *c)
{
  la_array *all[] = {&c->SQ, &c->QA, &c->Z, &c->G};
  for (int i = 0; i < 4; i++) c->h->ops->free(c->h, all[i]);
  op_svt_free(c->svt);
}

/* ---- the steps ----------------------------------------------------------*/
/* Z nearest to (2 Q - SQ, C) in the graph: (ratio + sigma^2) Z = ratio
 * (2 Q - SQ) + S U'C; then A = K Z. */
static lapis_status project(cleaner *c)
{
  la *h = c->h;
  const double *sigma = c->basis->sigma;
  TRY(h->ops->gemm(h, LA_T, LA_N, 1, &c->U, &c->C, 0, &c->Z));
  TRY(h->ops->scale_rows(h, sigma, &c->Z));
  TRY(h->ops->axpby(h, 2 * c->ratio, &c->QA, 1, &c->Z));
  TRY(h->ops->axpby(h, -c->ratio, &c->SQ, 1, &c->Z));
  for (int64_t i = 0; i < c->r; i++)
    c->weight[i] = 1 / (c->ratio + sigma[i] * sigma[i]);
  TRY(h->ops->scale_rows(h, c->weight, &c->Z));
  TRY(la_copy(h, &c->Z, &c->P));
  TRY(h->ops->scale_rows(h, sigma, &c->P));
  return h->ops->gemm(h, LA_N, LA_N, 1, &c->U, &c->P, 0, &c->A);
}

/* Q = SVT(SQ, 1/(ratio rho)) */
static lapis_status update_Q(cleaner *c)
{
  return op_svt_apply(c->svt, &c->SQ, 1 / (c->ratio * c->rho[0]), &c->QA,
                      &c->low_rank);
}

static double growth(const cleaner *c, int64_t iter)
{
  bool due = iter % BALANCE_EVERY == 0 && iter <= LAST_BALANCE;
  return due ? rr_balance(c->sums) : 1;
}

static lapis_status step(cleaner *c, int64_t iter)
{
  la *h = c->h;
  double factor = growth(c, iter);
  la_l1 p = {.t = c->error_weight / c->rho[0],
             .relax = RELAXATION,
             .rescale = 1 / factor};
  TRY(update_Q(c));
  TRY(project(c));
  TRY(h->ops->l1_step(h, &p, &c->X, &c->A, &c->S, &c->C, c->sums));
  TRY(h->ops->axpby(h, p.relax, &c->Z, 1, &c->SQ));
  TRY(h->ops->axpby(h, -p.relax, &c->QA, 1, &c->SQ));
  if (factor == 1) return LAPIS_OK;
  /* SQ - SVT(SQ) is the multiplier over rho: it shrinks as rho grows. */
  TRY(update_Q(c));
  TRY(h->ops->axpby(h, 1 - p.rescale, &c->QA, p.rescale, &c->SQ));
  c->rho[0] *= factor;
  return LAPIS_OK;
}

/* ---- certificate --------------------------------------------------------*/
/* At Q, with C = rho (B - S) scaled into |K'C|_2 <= 1; C returns scaled. */
static lapis_status certify(cleaner *c)
{
  la *h = c->h;
  double sums[2], norm = 0;
  TRY(update_Q(c));
  TRY(la_copy(h, &c->QA, &c->P));
  TRY(h->ops->scale_rows(h, c->basis->sigma, &c->P));
  TRY(h->ops->gemm(h, LA_N, LA_N, 1, &c->U, &c->P, 0, &c->A));
  TRY(h->ops->l1_dual(h, c->error_weight / c->rho[0], &c->X, &c->S, &c->C));
  TRY(la_scale(h, c->rho[0], &c->C));
  TRY(h->ops->l1_sums(h, &c->X, &c->A, &c->C, sums));
  TRY(h->ops->gemm(h, LA_T, LA_N, 1, &c->U, &c->C, 0, &c->G));
  TRY(h->ops->scale_rows(h, c->basis->sigma, &c->G));
  TRY(op_norm2_upper(c->svt, &c->G, &norm));
  c->info.objective = c->low_rank.nuclear + c->error_weight * sums[0];
  c->info.dual = norm > 1 ? sums[1] / norm : sums[1];
  double size = fmax(fmax(c->info.objective, fabs(c->info.dual)), 1e-300);
  c->info.gap = (c->info.objective - c->info.dual) / size;
  c->info.rank = c->low_rank.rank;
  return norm > 1 ? la_scale(h, 1 / norm, &c->C) : LAPIS_OK;
}

/* C = 2 B - S */
static lapis_status reflect(cleaner *c)
{
  la *h = c->h;
  TRY(h->ops->l1_dual(h, c->error_weight / c->rho[0], &c->X, &c->S, &c->C));
  return h->ops->axpby(h, 1, &c->S, 2, &c->C);
}

/* ---- the loop -----------------------------------------------------------*/
/* SQ: the coefficients of the projection of S; ratio: sigma's middle. */
static lapis_status begin(cleaner *c)
{
  la *h = c->h;
  const double *sigma = c->basis->sigma;
  double mean = 0;
  lapis_mat S;
  TRY(la_borrow(h, &c->S, &S));
  for (int64_t j = 0; j < c->d * c->n; j++)
    mean += fabs(((const double *)S.val)[j]);
  mean /= (double)(c->d * c->n);
  c->rho[0] = mean > 0 ? c->error_weight / mean : 1;
  c->ratio = c->r > 0 ? sigma[0] * sigma[c->r - 1] : 1;
  memset(c->sums, 0, 6 * sizeof *c->sums);
  TRY(h->ops->gemm(h, LA_T, LA_N, 1, &c->U, &c->S, 0, &c->SQ));
  for (int64_t i = 0; i < c->r; i++) c->weight[i] = 1 / sigma[i];
  TRY(h->ops->scale_rows(h, c->weight, &c->SQ));
  return reflect(c);
}

static lapis_status record(cleaner *c, loop *l, double tol)
{
  double primal = c->info.objective * c->scale;
  lapis_progress now = {.rank = c->info.rank,
                        .objective = primal,
                        .gap = c->info.gap,
                        .residual = NAN};
  base_say(l->ctx, 2,
           "%s: %" PRId64 " objective %.10g gap %.2e rank %" PRId64 " rho %.3g",
           l->method, l->iter, primal, c->info.gap, c->info.rank, c->rho[0]);
  loop_show(l, &now, tol);
  return loop_record(l, (double[]){primal, c->info.dual * c->scale, c->info.gap,
                                   (double)c->n, (double)c->info.rank});
}

static void keep(cleaner *c, loop *l)
{
  la_keep(l, "S", &c->S);
  la_keep(l, "C", &c->C);
  la_keep(l, "SQ", &c->SQ);
  la_keep(l, "QA", &c->QA);
  loop_keep_positive(l, "rho", c->rho, 1);
  loop_keep(l, "sums", c->sums, 6);
  loop_keep(l, "objective", &c->info.objective, 1);
  loop_keep(l, "bound", &c->info.dual, 1);
  loop_keep(l, "gap", &c->info.gap, 1);
  loop_keep_whole(l, "rank", &c->info.rank, 1, 0, c->r);
  loop_keep_switch(l, "checked", &c->checked);
}

lapis_status clean_joint(cleaner *c, loop *l, double tol)
{
  bool resumed, *checked = &c->checked;
  TRY(begin(c));
  *checked = false;
  c->info.gap = INFINITY;
  keep(c, l);
  TRY(loop_resume(l, &resumed));
  while (c->info.gap > tol && loop_next(l)) {
    if (*checked) TRY(reflect(c));
    TRY(step(c, l->iter));
    *checked = l->iter % CHECK_EVERY == 0;
    if (!*checked) continue;
    TRY(certify(c));
    TRY(record(c, l, tol));
    if (rr_at_rounding(c->sums) && c->info.gap > tol)
      l->status = LAPIS_PRECISION_FLOOR;
  }
  if (!*checked) TRY(certify(c));
  lapis_mat Q = lapis_mat_f64(c->Q, c->r, c->n);
  return c->h->ops->download(c->h, &c->QA, &Q);
}
