/* state.c - D and its convex part: for one choice of features,
 *
 *   minimize |L|_* + lambda |E|_1  subject to L + E = D.
 *
 * Often E = 0: with D = U S V', the multiplier U V' proves L = D, E = 0
 * optimal as soon as max |U V'| <= lambda, because it is a subgradient of
 * |.|_* at D and lies in lambda [-1, 1], the subgradients of lambda |.|_1 at 0.
 * At the usual lambda this holds, and |D|_* is the objective to all digits. */
#include <math.h>
#include <string.h>

#include "methods/roml/roml.h"

/* Singular values below this share of the largest are rounding. */
static const double NOISE = 1e-12;
/* Eigenvalues of the Gram matrix above this share of the largest: sigma is
 * right to 1e-10 and better. */
static const double GRAM = 1e-6;
/* Multiplications of one Gram matrix below which threads only wait. */
static const double SERIAL = 3e7;
enum { FIT_ITERATIONS = 3000 };

static roml_shape shape(const roml_problem *p, int64_t n)
{
  if (p->coordinates) return (roml_shape){n, p->d * p->K, n, p->d * p->K, p->d};
  return (roml_shape){n, p->d * n, p->K, p->d, p->d * n};
}

static lapis_status allocate(roml *w, roml_state *s)
{
  const roml_shape *at = &s->at;
  int64_t k = at->rows < at->cols ? at->rows : at->cols;
  TRY(op_svt_new(&s->h, at->rows, at->cols, &s->svt));
  la_array *all[] = {&s->L, &s->E, &s->Y, &s->D, &s->W};
  for (int i = 0; i < 5; i++)
    TRY(s->h.ops->alloc(&s->h, LAPIS_F64, at->rows, at->cols, all[i]));
  TRY(s->h.ops->alloc(&s->h, LAPIS_F64, at->rows, k, &s->U));
  TRY(s->h.ops->alloc(&s->h, LAPIS_F64, k, at->cols, &s->V));
  TRY(s->h.ops->alloc(&s->h, LAPIS_F64, k, k, &s->G));
  TRY(s->h.ops->alloc(&s->h, LAPIS_F64, k, k, &s->Q));
  s->sigma = base_alloc(w->base.ctx, k, sizeof *s->sigma);
  s->scale = base_alloc(w->base.ctx, k, sizeof *s->scale);
  s->pick = base_alloc(w->base.ctx, w->p.K * at->n, sizeof *s->pick);
  s->kept = base_alloc(w->base.ctx, w->p.K * at->n, sizeof *s->kept);
  if (s->sigma == NULL || s->scale == NULL || s->pick == NULL ||
      s->kept == NULL)
    return LAPIS_ENOMEM;
  return roml_matcher_new(w, at, &s->matcher);
}

lapis_status roml_state_new(roml *w, int64_t n, roml_state *s)
{
  *s = (roml_state){.at = shape(&w->p, n), .h = w->h};
  s->lambda =
      isnan(w->set.lambda) ? 5 / sqrt((double)s->at.rows) : w->set.lambda;
  double work = (double)s->at.rows * (double)s->at.cols *
                (double)(s->at.rows < s->at.cols ? s->at.rows : s->at.cols);
  if (work < SERIAL) s->h.threads = 1;
  lapis_status status = allocate(w, s);
  if (status < 0) roml_state_free(s);
  return status;
}

void roml_state_free(roml_state *s)
{
  if (s->h.ops == NULL) return;
  la_array *all[] = {&s->L, &s->E, &s->Y, &s->D, &s->W,
                     &s->U, &s->V, &s->G, &s->Q};
  for (int i = 0; i < 9; i++) s->h.ops->free(&s->h, all[i]);
  op_svt_free(s->svt);
  roml_matcher_free(s->matcher);
  base_free(s->sigma);
  base_free(s->scale);
  base_free(s->pick);
  base_free(s->kept);
  *s = (roml_state){.rho = 0};
}

void roml_fill_slot(const roml_problem *p, roml_state *s, int64_t k, int64_t j)
{
  int64_t i = s->pick[k * s->at.n + j];
  double *to = (double *)s->D.data + roml_block(&s->at, k, j);
  const double *f = roml_feature(p, k, i);
  double scale = p->scale[p->first[k] + i];
  for (int64_t a = 0; a < p->d; a++) to[a] = scale * f[a];
}

void roml_fill(const roml_problem *p, roml_state *s)
{
  for (int64_t k = 0; k < p->K; k++)
    for (int64_t j = 0; j < s->at.n; j++) roml_fill_slot(p, s, k, j);
}

op_alm roml_alm(const roml_state *s)
{
  return (op_alm){.count = s->at.rows * s->at.cols,
                  .D = s->D.data,
                  .L = s->L.data,
                  .E = s->E.data,
                  .Y = s->Y.data,
                  .W = s->W.data};
}

/* Thin SVD: |D|_*, and U V' over the singular values that are not rounding. */
static lapis_status polar_by_svd(roml_state *s, double *nuclear)
{
  int64_t k = s->U.cols, rank = 0;
  const la_backend *ops = s->h.ops;
  TRY(ops->axpby(&s->h, 1, &s->D, 0, &s->W));
  TRY(ops->svd(&s->h, &s->W, &s->U, s->sigma, &s->V));
  *nuclear = 0;
  for (int64_t i = k - 1; i >= 0; i--) *nuclear += s->sigma[i];
  while (rank < k && s->sigma[rank] > NOISE * s->sigma[0]) rank++;
  la_array U = la_cols(&s->U, 0, rank), V = la_rows(&s->V, 0, rank);
  return ops->gemm(&s->h, LA_N, LA_N, 1, &U, &V, 0, &s->W);
}

/* The same from the smaller Gram matrix Q L Q': U V' = D Q L^(-1/2) Q' or
 * Q L^(-1/2) Q' D.  Wrong by eps sigma_1^2/sigma^2, so *done only where no
 * sigma is small. */
static lapis_status polar_by_gram(roml_state *s, double *nuclear, bool *done)
{
  int64_t k = s->U.cols, count;
  const la_backend *ops = s->h.ops;
  bool tall = s->at.rows >= s->at.cols;
  TRY(ops->syrk(&s->h, tall ? LA_T : LA_N, &s->D, &s->G));
  TRY(ops->eigh(&s->h, &s->G, -INFINITY, s->sigma, &s->Q, &count));
  *done = s->sigma[k - 1] > GRAM * s->sigma[0];
  if (!*done) return LAPIS_OK;
  *nuclear = 0;
  for (int64_t i = k - 1; i >= 0; i--) {
    s->sigma[i] = sqrt(s->sigma[i]);
    *nuclear += s->sigma[i];
  }
  for (int64_t i = 0; i < k; i++) s->scale[i] = 1 / sqrt(s->sigma[i]);
  TRY(la_scale_cols(&s->h, s->scale, &s->Q));
  TRY(ops->gemm(&s->h, LA_N, LA_T, 1, &s->Q, &s->Q, 0, &s->G));
  if (tall) return ops->gemm(&s->h, LA_N, LA_N, 1, &s->D, &s->G, 0, &s->W);
  return ops->gemm(&s->h, LA_N, LA_N, 1, &s->G, &s->D, 0, &s->W);
}

lapis_status roml_nuclear(roml_state *s, double *nuclear, bool *clean)
{
  bool done;
  TRY(polar_by_gram(s, nuclear, &done));
  if (!done) TRY(polar_by_svd(s, nuclear));
  const double *W = s->W.data;
  double most = 0;
  for (int64_t i = 0; i < s->at.rows * s->at.cols; i++)
    most = fabs(W[i]) > most ? fabs(W[i]) : most;
  *clean = most <= s->lambda;
  return LAPIS_OK;
}

/* ---- robust PCA of D: the inexact augmented Lagrangian -------------------*/
/* roughly: for marking doubtful slots.  Of the growths 1.05 to 1.5 that were
 * tried, 1.4 is the one that comes out at [ROML16] Table 2 with its xi = 4; the
 * exact optimum marks .07 fewer of the true parts in its last cell. */
const roml_effort roml_exactly = {1e-10, 1.05, 1e3},
                  roml_roughly = {1e-5, 1.4, 1e3};

lapis_status roml_fit(roml_state *s, double lambda, const roml_effort *effort,
                      double *objective)
{
  int64_t count = s->at.rows * s->at.cols;
  op_alm a = roml_alm(s);
  double old = INFINITY;
  memset(s->E.data, 0, (size_t)count * sizeof(double));
  memset(s->Y.data, 0, (size_t)count * sizeof(double));
  TRY(op_singular_values(s->svt, &s->D, s->sigma));
  double rho = 1.25 / fmax(s->sigma[0], 1e-300), rho_most = rho * effort->most;
  op_alm_shift(&a, 1 / rho);
  for (int t = 0; t < FIT_ITERATIONS; t++) {
    TRY(op_svt_apply(s->svt, &s->W, 1 / rho, &s->L, &s->low_rank));
    double sparse = op_alm_sparse(&a, 1 / rho, lambda / rho);
    double next = fmin(rho * effort->growth, rho_most);
    op_alm_sums sums = op_alm_multiply(&a, rho, 1 / next);
    *objective = s->low_rank.nuclear + lambda * sparse;
    bool still = fabs(*objective - old) <= effort->tol * *objective;
    double most = effort->tol * effort->tol * sums.size;
    if (still && sums.residual <= most) break;
    old = *objective;
    rho = next;
  }
  return LAPIS_OK;
}

lapis_status roml_shape_cost(roml_state *s, double *cost)
{
  int64_t n = s->at.n, K = s->at.rows / 2;
  const double *D = s->D.data;
  double *W = s->W.data;
  for (int64_t k = 0; k < K; k++) {
    double mean[2] = {0}, size = 0;
    for (int64_t i = 0; i < 2 * n; i++)
      mean[i % 2] += D[roml_block(&s->at, k, i / 2) + i % 2] / (double)n;
    for (int64_t i = 0; i < 2 * n; i++) {
      int64_t at = roml_block(&s->at, k, i / 2) + i % 2;
      W[at] = D[at] - mean[i % 2];
      size += W[at] * W[at];
    }
    size = size > 0 ? 1 / sqrt(size * (double)K) : 0;
    for (int64_t i = 0; i < 2 * n; i++)
      W[roml_block(&s->at, k, i / 2) + i % 2] *= size;
  }
  TRY(op_singular_values(s->svt, &s->W, s->sigma));
  *cost = 0;
  for (int64_t i = s->U.cols - 1; i >= 0; i--) *cost += s->sigma[i];
  return LAPIS_OK;
}

bool roml_must_end(roml *w)
{
  roml_show(w, NAN, NAN);
  return loop_cut_short(&w->base.loop);
}

void roml_show(roml *w, double objective, double residual)
{
  lapis_progress now = {.rank = w->s.low_rank.rank,
                        .objective = objective,
                        .gap = NAN,
                        .residual = residual};
  loop_show(&w->base.loop, &now, w->set.stop.tol);
}
