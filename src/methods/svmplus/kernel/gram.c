/* gram.c - the kernels and G of the l2 problem.
 *
 *   G = Kt (gamma I + C Kt)^-1,  Kt = privileged kernel + 1   [SVMP16 Alg. 2]
 *
 * Two ways, which agree:
 *  - inverse: (1/C) [I - gamma (gamma I + C Kt)^-1], n^3 operations; loses
 *    log10(gamma / (C |Kt|)) digits, hence only where that is below 4, or
 *    leaves 6 digits more than the gap asked for;
 *  - solve: Cholesky and n right-hand sides, 7/3 n^3; loses nothing.
 * C G depends on gamma / C alone, so a grid of settings shares G along its
 * diagonals, as a matrix and a factor.  (An eigendecomposition of Kt would
 * serve all of a grid, but V diag(l / (gamma + C l)) V' costs as much as the
 * inverse and the vectors nine times that.) A privileged kernel of low rank, Kt
 * = L'L with L r x n (linear: exactly, r = p + 1; others: pivoted Cholesky,
 * with the trace it leaves out), never forms n x n: G = R'R, R = chol(gamma I +
 * C LL')^-1 L.
 *
 * Sample weights c_i multiply C: with S = D Kt D, D = diag(sqrt c_i),
 * G = D^-1 S (gamma I + C S)^-1 D^-1. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "methods/svmplus/svmplus.h"
#include "op/dense/lowrank.h"

/* Factors by which rounding may be magnified: always; of the tolerance. */
static const double TO_LOSE = 1e4, LEAVES = 1e-6;

/* ---- kernels ------------------------------------------------------------*/
/* One that is given stays where it lies. */
static lapis_status whole_kernel(la *h, const op_kernel *k, double **out)
{
  *out = k->X;
  if (k->kind == LAPIS_KERNEL_PRECOMPUTED) return LAPIS_OK;
  *out = base_alloc_raw(h->ctx, k->n * k->n, sizeof **out);
  return *out == NULL ? LAPIS_ENOMEM : op_kernel_own(h, k, 0, k->n, *out);
}

static void free_kernel(const op_kernel *k, double *whole)
{
  if (whole != k->X) base_free(whole);
}

/* Columns [z; 1] of a linear privileged kernel: L'L = Kt + 1. */
static lapis_status linear_factor(sv_gram *k)
{
  int64_t p = k->priv.d;
  k->r = p + 1;
  k->L = base_alloc_raw(k->h->ctx, k->r * k->n, sizeof *k->L);
  if (k->L == NULL) return LAPIS_ENOMEM;
  for (int64_t j = 0; j < k->n; j++) {
    for (int64_t i = 0; i < p; i++) k->L[j * k->r + i] = k->priv.X[j * p + i];
    k->L[j * k->r + p] = 1;
  }
  return LAPIS_OK;
}

static bool is_short(const sv_gram *k)
{
  return k->priv.kind == LAPIS_KERNEL_LINEAR && k->rank != SV_WHOLE &&
         k->priv.d + 1 < k->n / 2;
}

/* Bytes of the n x n matrices that a solve holds at once: K, Q and a factor of
 * the support; with a whole privileged kernel it, its inverse in single
 * precision and G, too, or, of the original problem, the system of its interior
 * point, (2n)^2. */
static double matrices(const sv_gram *k)
{
  bool low = k->plain || is_short(k) || k->rank >= 0;
  double count = low ? 3 : k->rank == SV_WHOLE ? 6.5 : 5.5;
  return 8 * count * (double)k->n * (double)k->n;
}

static lapis_status privileged_part(sv_gram *k)
{
  int64_t most = k->rank;
  if (k->plain) return LAPIS_OK;
  if (is_short(k) || (k->priv.kind == LAPIS_KERNEL_LINEAR && !k->dense))
    return linear_factor(k);
  if (most < 0 && k->dense) return whole_kernel(k->h, &k->priv, &k->Kp);
  if (most < 0) most = k->n < 1000 ? k->n : 1000;
  TRY(op_low_rank(k->h, &k->priv, most, 1e-12, &k->L, &k->r, &k->left_out));
  base_say(k->h->ctx, k->left_out > 1e-6 ? 0 : 1,
           "svmplus: the privileged kernel at rank %" PRId64
           " leaves out a share of at most %.1e of its trace",
           k->r, k->left_out);
  return LAPIS_OK;
}

static int64_t count_of(const sv_gram *k)
{
  return (k->L != NULL ? k->r : k->n) * k->n;
}

lapis_status sv_gram_new(la *h, const lapis_svmplus_settings *set,
                         const lapis_data *data, sv_gram *out)
{
  *out = (sv_gram){.h = h, .n = data->X.cols, .plain = mat_empty(&data->P)};
  sv_gram *k = out;
  k->rank = set->rank;
  k->tol = set->stop.tol;
  TRY(op_kernel_new(h, set->kernel, set->width, "X", &data->X, &k->main));
  if (!k->plain)
    TRY(op_kernel_new(h, set->kernel_priv, set->width_priv, "P", &data->P,
                      &k->priv));
  k->memory = fmin(set->cache * 1e6, base_may_hold(h->ctx, mat_made_of(data)));
  k->spare = k->memory - matrices(k);
  k->dense = k->spare >= 0;
  return LAPIS_OK;
}

bool sv_gram_keeps(sv_gram *k, double bytes)
{
  if (!k->grid || bytes > k->spare) return false;
  k->spare -= bytes;
  return true;
}

static bool is_shared(const sv_gram *k)
{
  for (int i = 0; i < SV_SHARED; i++)
    if (k->G != NULL && k->G == k->shared[i]) return true;
  return false;
}

static void free_matrices(sv_gram *k)
{
  free_kernel(&k->main, k->K);
  free_kernel(&k->priv, k->Kp);
  base_free(k->Q);
  base_free(k->L);
  if (!is_shared(k)) base_free(k->G);
  for (int i = 0; i < SV_SHARED; i++) base_free(k->shared[i]);
  for (int i = 0; i < k->n_inverses; i++) base_free(k->inverse[i]);
}

static void forget_matrices(sv_gram *k)
{
  free_matrices(k);
  k->K = k->Kp = k->Q = k->L = k->G = NULL;
  memset(k->shared, 0, sizeof k->shared);
  k->n_inverses = 0;
  k->G_C = 0;
  k->made = false;
  k->spare = k->memory - matrices(k);
}

static lapis_status make_matrices(sv_gram *k)
{
  if (k->dense) TRY(whole_kernel(k->h, &k->main, &k->K));
  if (k->dense && k->rank != SV_WHOLE) {
    k->Q = base_alloc_raw(k->h->ctx, k->n * k->n, sizeof *k->Q);
    if (k->Q == NULL) return LAPIS_ENOMEM;
  }
  return privileged_part(k);
}

lapis_status sv_gram_make(sv_gram *k)
{
  if (k->made) return LAPIS_OK;
  lapis_status s = make_matrices(k);
  if (s < 0) forget_matrices(k);
  k->made = s >= 0;
  return s;
}

void sv_gram_yield(sv_gram *k)
{
  if (k->dense && k->spare < matrices(k)) forget_matrices(k);
}

void sv_gram_free(sv_gram *k)
{
  free_matrices(k);
  op_kernel_free(&k->main);
  op_kernel_free(&k->priv);
  *k = (sv_gram){0};
}

/* ---- G ------------------------------------------------------------------*/
static double weight(const double *c, int64_t i)
{
  return c == NULL ? 1 : sqrt(c[i]);
}

/* f S into A: f D Kt D. */
static void weigh(const sv_gram *k, const double *c, double f, double *A)
{
  int64_t n = k->n;
  for (int64_t j = 0; j < n; j++) {
    double *to = A + j * n;
    const double *from = k->Kp + j * n;
    double own = f * weight(c, j);
    for (int64_t i = 0; i < n; i++) to[i] = (from[i] + 1) * own;
    for (int64_t i = 0; i < n && c != NULL; i++) to[i] *= weight(c, i);
  }
}

static void unweigh(int64_t n, const double *c, double *A)
{
  for (int64_t j = 0; j < n && c != NULL; j++)
    for (int64_t i = 0; i < n; i++) A[j * n + i] /= weight(c, i) * weight(c, j);
}

/* At most |Kt|_2: the largest diagonal entry. */
static double size_of(const sv_gram *k)
{
  double most = 0;
  for (int64_t i = 0; i < k->n; i++) most = fmax(most, k->Kp[i * k->n + i]);
  return most + 1;
}

static lapis_status by_inverse(sv_gram *k, double C, double gamma,
                               const double *c)
{
  int64_t n = k->n;
  la_array A = la_wrap(k->G, n, n);
  weigh(k, c, C, k->G);
  TRY(la_add_diagonal(k->h, gamma, &A));
  TRY(k->h->ops->potrf(k->h, &A));
  TRY(k->h->ops->potri(k->h, &A));
  TRY(la_scale(k->h, -gamma / C, &A));
  TRY(la_add_diagonal(k->h, 1 / C, &A));
  unweigh(n, c, k->G);
  return LAPIS_OK;
}

static lapis_status by_solve(sv_gram *k, double C, double gamma,
                             const double *c)
{
  int64_t n = k->n;
  double *A = base_alloc_raw(k->h->ctx, n * n, sizeof *A);
  if (A == NULL) return LAPIS_ENOMEM;
  la_array L = la_wrap(A, n, n), B = la_wrap(k->G, n, n);
  weigh(k, c, C, A);
  weigh(k, c, 1, k->G);
  lapis_status s = la_add_diagonal(k->h, gamma, &L);
  if (s >= 0) s = k->h->ops->potrf(k->h, &L);
  if (s >= 0) s = k->h->ops->potrs(k->h, &L, &B);
  base_free(A);
  TRY(s);
  for (int64_t j = 0; j < n; j++) /* symmetric to the last bit */
    for (int64_t i = 0; i < j; i++) k->G[i * n + j] = k->G[j * n + i];
  unweigh(n, c, k->G);
  return LAPIS_OK;
}

/* R = chol(gamma I + C L D^2 L')^-1 L, so that G = R'R; r x n. */
static lapis_status low_rank_factor(sv_gram *k, double C, double gamma,
                                    const double *c)
{
  int64_t r = k->r, n = k->n;
  la *h = k->h;
  double *A = base_alloc_raw(h->ctx, r * r, sizeof *A);
  if (A == NULL) return LAPIS_ENOMEM;
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < r; i++)
      k->G[j * r + i] = k->L[j * r + i] * weight(c, j);
  la_array W = la_wrap(A, r, r), R = la_wrap(k->G, r, n);
  lapis_status s = h->ops->syrk(h, LA_N, &R, &W);
  if (s >= 0) s = la_scale(h, C, &W);
  if (s >= 0) s = la_add_diagonal(h, gamma, &W);
  if (s >= 0) s = h->ops->potrf(h, &W);
  memcpy(k->G, k->L, (size_t)(r * n) * sizeof *A);
  if (s >= 0) s = h->ops->trsm(h, &W, &R);
  base_free(A);
  return s;
}

static lapis_status make(sv_gram *k, double C, double gamma, const double *c)
{
  if (k->L != NULL) return low_rank_factor(k, C, gamma, c);
  double most = fmax(TO_LOSE, LEAVES * k->tol / DBL_EPSILON);
  if (gamma <= most * C * size_of(k)) return by_inverse(k, C, gamma, c);
  return by_solve(k, C, gamma, c);
}

static bool close_to(double a, double b)
{
  return fabs(a - b) <= 1e-14 * fabs(b);
}

/* G is what C_old / C_new makes of the one with the same gamma / C. */
static bool take_shared(sv_gram *k, double C, double gamma)
{
  for (int s = 0; s < SV_SHARED; s++) {
    if (k->shared[s] == NULL || !close_to(k->ratio[s], gamma / C)) continue;
    double f = k->shared_C[s] / C;
    if (k->L == NULL) {
      if (!is_shared(k)) base_free(k->G);
      k->G = k->shared[s];
      k->G_factor = f;
      return true;
    }
    for (int64_t i = 0; i < count_of(k); i++) /* R'R */
      k->G[i] = sqrt(f) * k->shared[s][i];
    return true;
  }
  return false;
}

/* Keeps G, of a low rank a copy, where memory allows; doing without is no
 * failure. */
static void share(sv_gram *k, double C, double gamma)
{
  int64_t count = count_of(k);
  int s = 0;
  while (s < SV_SHARED && k->shared[s] != NULL) s++;
  if (s == SV_SHARED || !sv_gram_keeps(k, 8.0 * (double)count)) return;
  if (k->L != NULL) {
    k->shared[s] = base_alloc_raw(k->h->ctx, count, sizeof(double));
    if (k->shared[s] == NULL) return;
    memcpy(k->shared[s], k->G, (size_t)count * sizeof(double));
  } else {
    k->shared[s] = k->G;
  }
  k->shared_C[s] = C;
  k->ratio[s] = gamma / C;
}

/* What is shared is not written over. */
static lapis_status make_anew(sv_gram *k, double C, double gamma,
                              const double *c)
{
  if (k->G == NULL || is_shared(k)) {
    k->G = base_alloc_raw(k->h->ctx, count_of(k), sizeof *k->G);
    if (k->G == NULL) return LAPIS_ENOMEM;
  }
  k->G_factor = 1;
  TRY(make(k, C, gamma, c));
  if (c == NULL) share(k, C, gamma);
  return LAPIS_OK;
}

lapis_status sv_gram_slack(sv_gram *k, double C, double gamma, const double *c)
{
  bool same = close_to(k->G_C, C) && close_to(k->G_gamma, gamma);
  if (k->plain || (same && c == NULL)) return LAPIS_OK;
  k->G_C = 0;
  if (c != NULL || !take_shared(k, C, gamma)) TRY(make_anew(k, C, gamma, c));
  k->G_C = c == NULL ? C : 0; /* weighted: never shared */
  k->G_gamma = gamma;
  return LAPIS_OK;
}

/* ---- of a solver --------------------------------------------------------*/
/* A kernel that is computed is off by c eps in each product of d numbers of
 * this size, and by n times as much as a matrix. */
static double rounding_of(const op_kernel *k)
{
  double most = 0;
  for (int64_t i = 0; i < k->n; i++) most = fmax(most, k->square[i]);
  double size = k->kind == LAPIS_KERNEL_LINEAR ? most
                : k->kind == LAPIS_KERNEL_RBF  ? 1 + 4 * most / k->width
                                               : 1;
  return DBL_EPSILON * (double)k->n * (double)(k->d + 4) * size;
}

/* Whether X, less than what rounding in single precision may hide, has a
 * factor there.  Rounding moves eigenvalues by some eps n max |X|. */
static bool is_clearly_definite(la *h, const op_kernel *k, double most,
                                float *A)
{
  int64_t n = k->n;
  for (int64_t i = 0; i < n * n; i++) A[i] = (float)k->X[i];
  for (int64_t i = 0; i < n; i++)
    A[i * n + i] -= (float)(8 * FLT_EPSILON * (double)n * most);
  la_array L = la_wrap_single(A, n, n);
  if (h->ops->potrf(h, &L) < 0) return false;
  for (int64_t i = 0; i < n; i++) /* NaN passes for a pivot above 0 */
    if (!isfinite(A[i * n + i])) return false;
  return true;
}

/* Slightly shifted, a positive semidefinite matrix has a Cholesky factor.
 * *below: eigenvalues are at least -*below. */
static lapis_status check_definite(svmplus *w, const char *name,
                                   const op_kernel *k, double *below)
{
  *below = rounding_of(k);
  if (k->kind != LAPIS_KERNEL_PRECOMPUTED) return LAPIS_OK;
  int64_t n = k->n;
  double most = 0;
  for (int64_t i = 0; i < n; i++) most = fmax(most, fabs(k->X[i * n + i]));
  double *A = base_alloc_raw(w->base.ctx, n * n, sizeof *A);
  if (A == NULL) return LAPIS_ENOMEM;
  lapis_status s = LAPIS_OK;
  *below = DBL_EPSILON * (double)n; /* of the 1 that is added */
  if (!is_clearly_definite(&w->h, k, most, (float *)A)) {
    memcpy(A, k->X, (size_t)(n * n) * sizeof *A);
    la_array L = la_wrap(A, n, n);
    double shift = 1e-9 * (double)n * most;
    *below += shift;
    s = la_add_diagonal(&w->h, shift, &L);
    if (s >= 0) s = w->h.ops->potrf(&w->h, &L);
  }
  base_free(A);
  if (s != LAPIS_ENUMERIC) return s;
  return lapis_fail(w->base.ctx, LAPIS_EDATA,
                    "svmplus: the precomputed kernel %s is not positive "
                    "semidefinite; add to its diagonal, or use another kernel",
                    name);
}

lapis_status sv_kernels(svmplus *w, int64_t rank)
{
  sv_gram *k = &w->gram;
  lapis_svmplus_settings set = w->set;
  set.rank = rank;
  TRY(sv_gram_new(&w->h, &set, &w->data, k));
  double below;
  TRY(check_definite(w, "X", &k->main, &below));
  if (!k->plain) TRY(check_definite(w, "P", &k->priv, &k->below));
  w->set.width = k->main.width;
  if (!k->plain) w->set.width_priv = k->priv.width;
  return LAPIS_OK;
}

/* y = alpha (K + 1) x + beta y */
lapis_status sv_kernel_times(la *h, const double *K, int64_t n, double alpha,
                             const double *x, double beta, double *y)
{
  double sum = 0;
  la_array A = la_wrap((double *)(uintptr_t)K, n, n);
  la_array in = la_wrap((double *)(uintptr_t)x, n, 1), out = la_wrap(y, n, 1);
  TRY(h->ops->symv(h, alpha, &A, &in, beta, &out));
  for (int64_t i = 0; i < n; i++) sum += x[i];
  for (int64_t i = 0; i < n; i++) y[i] += alpha * sum;
  return LAPIS_OK;
}

/* f = (K + 1) (a o y) */
lapis_status sv_kernel_scores(svmplus *w, const double *a, int64_t c, double b)
{
  const sv_data *q = &w->q;
  int64_t n = q->n;
  double *ay = base_alloc(q->ctx, 2 * n, sizeof *ay);
  if (ay == NULL) return LAPIS_ENOMEM;
  for (int64_t i = 0; i < n; i++) ay[i] = a[i] * q->y[i];
  lapis_status s = sv_kernel_times(&w->h, w->gram.K, n, 1, ay, 0, ay + n);
  for (int64_t i = 0; i < n; i++) w->scores[i * w->K + c] = ay[n + i] + b;
  base_free(ay);
  return s;
}
