/* backend.c - the fast backend against the reference one, and both
 * against what defines each operation. */
#include <float.h>
#include <math.h>

#include "la_case.h"
#include "remarks.h"
#include "through.h"

enum { CASES = 300 };
static const double EPS = 2.220446049250313e-16;

#define OK(call) assert_int_equal((call), LAPIS_OK)

/* ---- products -----------------------------------------------------------*/

static void gemm_case(la_pair *p, uint64_t *seed)
{
  la *h = &p->fast;
  la_trans ta = check_uniform(seed) < 0.5 ? LA_N : LA_T;
  la_trans tb = check_uniform(seed) < 0.5 ? LA_N : LA_T;
  int64_t m = la_case_side(seed), n = la_case_side(seed);
  int64_t k = la_case_side(seed);
  la_array A = la_case_random(h, ta == LA_N ? m : k, ta == LA_N ? k : m, seed);
  la_array B = la_case_random(h, tb == LA_N ? k : n, tb == LA_N ? n : k, seed);
  la_array C = la_case_random(h, m, n, seed), D = la_case_copy(h, &C);
  double beta = check_uniform(seed) < 0.3 ? 0 : 0.7;
  double scale =
      la_case_norm(&A) * la_case_norm(&B) + la_case_norm(&C) + 1e-300;
  if (beta < 0.5 && m > 0 && n > 0) *la_case_at(&C, m - 1, n - 1) = NAN;
  OK(p->fast.ops->gemm(&p->fast, ta, tb, 1.5, &A, &B, beta, &C));
  OK(p->slow.ops->gemm(&p->slow, ta, tb, 1.5, &A, &B, beta, &D));
  CHECK_AT_MOST(la_case_distance(&C, &D), 50 * EPS * scale);
  LA_RELEASE(h, &A, &B, &C, &D);
}

static void gemv_case(la_pair *p, uint64_t *seed)
{
  la *h = &p->fast;
  la_trans t = check_uniform(seed) < 0.5 ? LA_N : LA_T;
  la_array A = la_case_random(h, la_case_side(seed), la_case_side(seed), seed);
  int64_t k = t == LA_N ? A.cols : A.rows, m = A.rows + A.cols - k;
  la_array x = la_case_random(h, k, 1, seed), y = la_case_random(h, m, 1, seed);
  la_array z = la_case_copy(h, &y);
  double beta = check_uniform(seed) < 0.3 ? 0 : 0.7;
  double scale =
      la_case_norm(&A) * la_case_norm(&x) + la_case_norm(&y) + 1e-300;
  if (beta < 0.5 && m > 0) *la_case_at(&y, m - 1, 0) = NAN;
  OK(p->fast.ops->gemv(&p->fast, t, 1.5, &A, &x, beta, &y));
  OK(p->slow.ops->gemv(&p->slow, t, 1.5, &A, &x, beta, &z));
  CHECK_AT_MOST(la_case_distance(&y, &z), 50 * EPS * scale);
  LA_RELEASE(h, &A, &x, &y, &z);
}

static void products_agree(void **state)
{
  for (uint64_t i = 0; i < CASES; i++) {
    uint64_t seed = i;
    gemm_case(*state, &seed);
    gemv_case(*state, &seed);
  }
}

static void grams_agree(void **state)
{
  la_pair *p = *state;
  la *h = &p->fast;
  for (uint64_t i = 0; i < CASES; i++) {
    uint64_t seed = 1000 + i;
    la_trans t = i % 2 ? LA_N : LA_T;
    la_array A =
        la_case_random(h, 3 * la_case_side(&seed), la_case_side(&seed), &seed);
    int64_t n = t == LA_N ? A.rows : A.cols;
    la_array C = la_case_new(h, n, n), D = la_case_new(h, n, n);
    if (n > 0) *la_case_at(&C, 0, n - 1) = NAN; /* must be overwritten */
    OK(p->fast.ops->syrk(&p->fast, t, &A, &C));
    OK(p->slow.ops->syrk(&p->slow, t, &A, &D));
    double scale = la_case_norm(&A);
    CHECK_AT_MOST(la_case_distance(&C, &D), 200 * EPS * scale * scale);
    LA_RELEASE(h, &A, &C, &D);
  }
}

/* Narrow and wide X, whole and broken tiles, columns apart. */
static void skinny_products_agree(void **state)
{
  la_pair *p = *state;
  la *h = &p->fast;
  for (uint64_t i = 0; i < CASES; i++) {
    uint64_t seed = 3000 + i;
    la_trans t = i % 2 ? LA_N : LA_T;
    int64_t far = i % 7 == 0 ? 30 : 3;
    int64_t m = far * la_case_side(&seed), n = far * la_case_side(&seed);
    int64_t side = t == LA_N ? m : n, c = la_case_side(&seed);
    la_array A = la_case_random(h, m, n, &seed);
    la_array B = la_case_random(h, side + 3, c, &seed);
    la_array C = la_case_new(h, side + 5, c), D = la_case_new(h, side, c);
    la_array X = la_rows(&B, 1, side), Y = la_rows(&C, 2, side);
    for (int64_t j = 0; j < c; j++)
      for (int64_t r = 0; r < side; r++) *la_case_at(&Y, r, j) = NAN;
    OK(p->fast.ops->gram_times(&p->fast, t, &A, &X, &Y));
    OK(p->slow.ops->gram_times(&p->slow, t, &A, &X, &D));
    double scale = la_case_norm(&A);
    scale *= scale * la_case_norm(&B);
    CHECK_AT_MOST(la_case_distance(&Y, &D), 100 * EPS * scale);
    for (int64_t j = 0; j < c; j++) /* the rows around Y */
      CHECK_NEAR(*la_case_at(&C, 1, j) + *la_case_at(&C, side + 2, j), 0, 0);
    la_array wrong = la_rows(&B, 0, side + 1);
    assert_int_equal(h->ops->gram_times(h, t, &A, &wrong, &Y), LAPIS_ESHAPE);
    LA_RELEASE(h, &A, &B, &C, &D);
  }
}

/* ---- eigenvalues --------------------------------------------------------*/

static la_array symmetric(la *h, int64_t n, uint64_t *seed)
{
  la_array A = la_case_random(h, n, n, seed);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < j; i++)
      *la_case_at(&A, i, j) = *la_case_at(&A, j, i);
  return A;
}

/* max |A Q - Q w| over the first count columns. */
static double eigen_error(const la_array *A, const la_array *Q, const double *w,
                          int64_t count)
{
  double worst = 0;
  for (int64_t j = 0; j < count; j++)
    for (int64_t i = 0; i < A->rows; i++) {
      double sum = -w[j] * *la_case_at(Q, i, j);
      for (int64_t k = 0; k < A->cols; k++)
        sum += *la_case_at(A, i, k) * *la_case_at(Q, k, j);
      if (!(fabs(sum) <= worst)) worst = fabs(sum);
    }
  return worst;
}

static void check_eigen(la *h, const la_array *A, double above,
                        const double *truth, int64_t expected)
{
  int64_t n = A->rows, count = -1;
  double w[200], bound = (double)(20 * n + 20) * EPS * la_case_norm(A);
  la_array C = la_case_copy(h, A), Q = la_case_new(h, n, n);
  OK(h->ops->eigh(h, &C, above, w, &Q, &count));
  assert_int_equal(count, expected);
  la_array found = la_cols(&Q, 0, count);
  for (int64_t i = 0; i < count; i++) CHECK_NEAR(w[i], truth[i], bound);
  CHECK_AT_MOST(eigen_error(A, &Q, w, count), bound);
  CHECK_AT_MOST(la_case_skew(&found), (double)(200 * n + 20) * EPS);
  h->ops->free(h, &C);
  C = la_case_copy(h, A);
  OK(h->ops->eigh(h, &C, above, w, NULL, &count));
  assert_int_equal(count, expected);
  for (int64_t i = 0; i < count; i++) CHECK_NEAR(w[i], truth[i], bound);
  LA_RELEASE(h, &C, &Q);
}

static void eigen_case(la_pair *p, int64_t n, uint64_t *seed)
{
  double truth[200];
  int64_t count;
  la_array A = symmetric(&p->fast, n, seed), C = la_case_copy(&p->slow, &A);
  OK(p->slow.ops->eigh(&p->slow, &C, -INFINITY, truth, NULL, &count));
  assert_int_equal(count, n);
  check_eigen(&p->fast, &A, -INFINITY, truth, n);
  check_eigen(&p->slow, &A, -INFINITY, truth, n);
  int64_t k = (int64_t)(check_uniform(seed) * (double)n);
  double scale = la_case_norm(&A), gap = k > 0 ? truth[k - 1] - truth[k] : 0;
  if (k > 0 && gap > 1e-6 * scale) {
    check_eigen(&p->fast, &A, truth[k] + gap / 2, truth, k);
    check_eigen(&p->slow, &A, truth[k] + gap / 2, truth, k);
  }
  check_eigen(&p->fast, &A, 2 * scale + 1, truth, 0);
  LA_RELEASE(&p->fast, &A, &C);
}

static void eigenvalues_agree(void **state)
{
  for (uint64_t i = 0; i < CASES; i++) {
    uint64_t seed = 2000 + i;
    eigen_case(*state, la_case_side(&seed), &seed);
  }
  for (uint64_t i = 0; i < 4; i++) { /* few of many: the other algorithm */
    uint64_t seed = 2500 + i;
    eigen_case(*state, 120, &seed);
  }
}

/* Values on the threshold are not above it, and a zero pivot there does not
 * hide those that are. */
static void thresholds_are_strict(void **state)
{
  la_pair *p = *state;
  la *both[] = {&p->fast, &p->slow};
  for (int i = 0; i < 2; i++)
    for (int vectors = 0; vectors < 2; vectors++) {
      double c[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 3, 0, 0, 0, 0, 2};
      double q[16], w[4];
      int64_t count;
      la_array C = la_wrap(c, 4, 4), Q = la_wrap(q, 4, 4);
      OK(both[i]->ops->eigh(both[i], &C, 1, w, vectors ? &Q : NULL, &count));
      assert_int_equal(count, 2);
      CHECK_NEAR(w[0], 3, 0);
      CHECK_NEAR(w[1], 2, 0);
      if (vectors) CHECK_NEAR(fabs(q[2]) + fabs(q[7]), 2, 1e-15);
    }
}

/* ---- singular values, QR ------------------------------------------------*/

/* max |A - U diag(s) Vt|. */
static double svd_error(const la_array *A, const la_array *U, const double *s,
                        const la_array *Vt)
{
  double worst = 0;
  for (int64_t j = 0; j < A->cols; j++)
    for (int64_t i = 0; i < A->rows; i++) {
      double sum = -*la_case_at(A, i, j);
      for (int64_t k = 0; k < U->cols; k++)
        sum += *la_case_at(U, i, k) * s[k] * *la_case_at(Vt, k, j);
      if (!(fabs(sum) <= worst)) worst = fabs(sum);
    }
  return worst;
}

static la_array transposed(la *h, const la_array *A)
{
  la_array B = la_case_new(h, A->cols, A->rows);
  for (int64_t j = 0; j < A->cols; j++)
    for (int64_t i = 0; i < A->rows; i++)
      *la_case_at(&B, j, i) = *la_case_at(A, i, j);
  return B;
}

static void check_svd(la *h, const la_array *A, double *s)
{
  int64_t m = A->rows, n = A->cols, k = m < n ? m : n;
  double values[200], bound = (double)(40 * k + m + n + 40) * EPS;
  la_array C = la_case_copy(h, A), D = la_case_copy(h, A);
  la_array U = la_case_new(h, m, k), Vt = la_case_new(h, k, n);
  OK(h->ops->svd(h, &C, &U, s, &Vt));
  OK(h->ops->svd(h, &D, NULL, values, NULL));
  la_array V = transposed(h, &Vt);
  CHECK_AT_MOST(svd_error(A, &U, s, &Vt), bound * la_case_norm(A));
  CHECK_AT_MOST(la_case_skew(&U), bound);
  CHECK_AT_MOST(la_case_skew(&V), bound);
  for (int64_t i = 0; i < k; i++) {
    CHECK_NEAR(s[i], values[i], bound * la_case_norm(A));
    CHECK_AT_LEAST(s[i], i + 1 < k ? s[i + 1] : 0);
  }
  LA_RELEASE(h, &C, &D, &U, &V, &Vt);
}

static void singular_values_agree(void **state)
{
  la_pair *p = *state;
  for (uint64_t i = 0; i < CASES; i++) {
    uint64_t seed = 3000 + i;
    int64_t m = la_case_side(&seed), n = la_case_side(&seed);
    double a[200], b[200];
    if (i % 3 == 0) m *= 4;
    la_array A = la_case_random(&p->fast, m, n, &seed);
    check_svd(&p->fast, &A, a);
    check_svd(&p->slow, &A, b);
    for (int64_t k = 0; k < m && k < n; k++)
      CHECK_NEAR(a[k], b[k], 1000 * EPS * la_case_norm(&A));
    LA_RELEASE(&p->fast, &A);
  }
}

static void check_qr(la *h, const la_array *A)
{
  int64_t k = A->cols;
  la_array Q = la_case_copy(h, A), R = la_case_new(h, k, k);
  la_array C = la_case_copy(h, A);
  OK(h->ops->qr(h, &Q, &R));
  CHECK_AT_MOST(la_case_skew(&Q), 50 * (double)(k + 1) * EPS);
  for (int64_t j = 0; j < k; j++)
    for (int64_t i = j + 1; i < k; i++) CHECK_NEAR(*la_case_at(&R, i, j), 0, 0);
  OK(h->ops->gemm(h, LA_N, LA_N, 1, &Q, &R, -1, &C));
  CHECK_AT_MOST(la_case_norm(&C),
                50 * (double)(A->rows + 1) * EPS * la_case_norm(A));
  LA_RELEASE(h, &Q, &R, &C);
}

static void bases_are_orthonormal(void **state)
{
  la_pair *p = *state;
  for (uint64_t i = 0; i < CASES; i++) {
    uint64_t seed = 4000 + i;
    int64_t k = la_case_side(&seed), m = k + la_case_side(&seed);
    la_array A = la_case_random(&p->fast, m, k, &seed);
    check_qr(&p->fast, &A);
    check_qr(&p->slow, &A);
    LA_RELEASE(&p->fast, &A);
  }
}

/* ---- Cholesky -----------------------------------------------------------*/

static void check_cholesky(la *h, const la_array *A, const la_array *B)
{
  la_array L = la_case_copy(h, A), X = la_case_copy(h, B);
  la_array R = la_case_copy(h, B);
  OK(h->ops->potrf(h, &L));
  OK(h->ops->potrs(h, &L, &X));
  OK(h->ops->gemm(h, LA_N, LA_N, 1, A, &X, -1, &R));
  double scale = la_case_norm(A) * la_case_norm(&X) + la_case_norm(B);
  CHECK_AT_MOST(la_case_norm(&R), 50 * (double)(A->rows + 1) * EPS * scale);
  LA_RELEASE(h, &L, &X, &R);
}

/* X = L^-1 B: X'X = B'A^-1 B. */
static void check_triangular(la *h, const la_array *A, const la_array *B)
{
  la_array L = la_case_copy(h, A), X = la_case_copy(h, B);
  la_array Y = la_case_copy(h, B), P;
  OK(h->ops->alloc(h, LAPIS_F64, B->cols, B->cols, &P));
  OK(h->ops->potrf(h, &L));
  OK(h->ops->trsm(h, &L, &X));
  OK(h->ops->potrs(h, &L, &Y));
  OK(h->ops->gemm(h, LA_T, LA_N, 1, B, &Y, 0, &P));
  double scale = la_case_norm(B) * la_case_norm(&Y);
  OK(h->ops->gemm(h, LA_T, LA_N, 1, &X, &X, -1, &P));
  CHECK_AT_MOST(la_case_norm(&P), 50 * (double)(A->rows + 1) * EPS * scale);
  LA_RELEASE(h, &L, &X, &Y, &P);
}

/* A A^-1 = I, in both triangles. */
static void check_inverse(la *h, const la_array *A)
{
  la_array L = la_case_copy(h, A), P = la_case_copy(h, A);
  OK(h->ops->potrf(h, &L));
  OK(h->ops->potri(h, &L));
  OK(h->ops->gemm(h, LA_N, LA_N, 1, A, &L, 0, &P));
  for (int64_t j = 0; j < A->cols; j++) *la_case_at(&P, j, j) -= 1;
  double scale = la_case_norm(A) * la_case_norm(&L);
  CHECK_AT_MOST(la_case_norm(&P), 50 * (double)(A->rows + 1) * EPS * scale);
  LA_RELEASE(h, &L, &P);
}

static void systems_are_solved(void **state)
{
  la_pair *p = *state;
  la *h = &p->fast;
  for (uint64_t i = 0; i < CASES; i++) {
    uint64_t seed = 5000 + i;
    int64_t n = la_case_side(&seed);
    la_array M = la_case_random(h, n, n + 3, &seed), A = la_case_new(h, n, n);
    la_array B = la_case_random(h, n, la_case_side(&seed), &seed);
    OK(h->ops->syrk(h, LA_N, &M, &A));
    double ridge = 1e-3 * la_case_norm(&A) + 1e-3;
    for (int64_t j = 0; j < n; j++) *la_case_at(&A, j, j) += ridge;
    check_cholesky(&p->fast, &A, &B);
    check_cholesky(&p->slow, &A, &B);
    check_triangular(&p->fast, &A, &B);
    check_triangular(&p->slow, &A, &B);
    check_inverse(&p->fast, &A);
    check_inverse(&p->slow, &A);
    LA_RELEASE(h, &M, &A, &B);
  }
}

/* A x = b in single precision by factor, inverse and product; A (n x n) and b
 * are doubles, what comes back is b - A x over |A| |x| + |b|, both ways. */
static void solve_single(la *h, const la_array *A, const la_array *b,
                         double *by_factor, double *by_inverse)
{
  int64_t n = A->rows;
  la_array L, x, y, z = la_case_copy(h, b);
  OK(h->ops->alloc(h, LAPIS_F32, n, n, &L));
  OK(h->ops->alloc(h, LAPIS_F32, n, 1, &x));
  OK(h->ops->alloc(h, LAPIS_F32, n, 1, &y));
  float *l = L.data, *f = x.data, *g = y.data;
  for (int64_t j = 0; j < n; j++) {
    for (int64_t i = 0; i < n; i++)
      l[j * L.ld + i] = (float)*la_case_at(A, i, j);
    f[j] = (float)*la_case_at(b, j, 0);
  }
  OK(h->ops->potrf(h, &L));
  OK(h->ops->potrs(h, &L, &x));
  for (int both = 0; both < 2; both++) {
    double rest = 0, size = 0;
    for (int64_t i = 0; i < n; i++) size += (double)f[i] * f[i];
    for (int64_t i = 0; i < n; i++) {
      double r = *la_case_at(b, i, 0);
      for (int64_t j = 0; j < n; j++) r -= *la_case_at(A, i, j) * (double)f[j];
      rest += r * r;
    }
    *(both ? by_inverse : by_factor) =
        sqrt(rest) / (la_case_norm(A) * sqrt(size) + la_case_norm(b));
    if (both) break;
    OK(h->ops->potri(h, &L));
    for (int64_t j = 0; j < n; j++) g[j] = (float)*la_case_at(&z, j, 0);
    OK(h->ops->gemv(h, LA_N, 1, &L, &y, 0, &x));
  }
  LA_RELEASE(h, &L, &x, &y, &z);
}

static void systems_are_solved_in_single(void **state)
{
  la_pair *p = *state;
  la host;
  OK(la_open_host(p->ctx, &host));
  la *both[] = {&host, &p->slow};
  for (uint64_t i = 0; i < CASES; i++) {
    uint64_t seed = 5500 + i;
    int64_t n = 1 + la_case_side(&seed);
    la_array M = la_case_random(&p->slow, n, n + 3, &seed);
    la_array A = la_case_new(&p->slow, n, n);
    la_array b = la_case_new(&p->slow, n, 1);
    OK(p->slow.ops->syrk(&p->slow, LA_N, &M, &A));
    double ridge = 1e-2 * la_case_norm(&A) + 1e-2;
    for (int64_t j = 0; j < n; j++) *la_case_at(&A, j, j) += ridge;
    for (int64_t j = 0; j < n; j++) *la_case_at(&b, j, 0) = check_normal(&seed);
    for (int k = 0; k < 2; k++) {
      double factor = NAN, inverse = NAN;
      solve_single(both[k], &A, &b, &factor, &inverse);
      CHECK_AT_MOST(factor, 50 * (double)(n + 1) * FLT_EPSILON);
      /* an inverse loses the condition, at most 1 + 100 */
      CHECK_AT_MOST(inverse, 5000 * (double)(n + 1) * FLT_EPSILON);
    }
    LA_RELEASE(&p->slow, &M, &A, &b);
  }
}

static void indefinite_is_refused(void **state)
{
  la_pair *p = *state;
  la *both[] = {&p->fast, &p->slow};
  for (int i = 0; i < 2; i++) {
    double a[4] = {1, 2, 2, 1}; /* eigenvalues 3 and -1 */
    la_array A = la_wrap(a, 2, 2);
    assert_int_equal(both[i]->ops->potrf(both[i], &A), LAPIS_ENUMERIC);
    assert_non_null(strstr(lapis_ctx_error(p->ctx), NOT_DEFINITE));
  }
}

/* ---- passes -------------------------------------------------------------*/

/* Counts: many zeros, tiny, ordinary and huge ones, some or all missing. */
static double random_count(uint64_t *seed, double missing)
{
  static const double value[] = {0, 0, 1e-12, 1, 3, 1e6};
  if (check_uniform(seed) < missing) return NAN;
  double base = value[(int)(6 * check_uniform(seed))];
  return check_uniform(seed) < 0.5 ? base : base * check_uniform(seed);
}

static int some(size_t count, uint64_t *seed)
{
  return (int)((double)count * check_uniform(seed));
}

/* Every kind of block, over rows 0 .. : labels, features, ones. */
#define KIND_OF(with, KIND, name, bend) LA_##KIND,
static la_penalty random_penalty(la *h, int64_t K, int64_t D, int64_t n,
                                 uint64_t *seed)
{
  static const la_kind features[] = {LA_FEATURE_LOSSES(KIND_OF, 0)};
  static const la_kind labels[] = {LA_LABEL_LOSSES(KIND_OF, 0)};
  bool pm = check_uniform(seed) < 0.5;
  la_penalty phi = {
      .n_blocks = 3, .Z0 = la_case_new(h, K + D + 1, n), .zero_one = !pm};
  la_kind kind = features[some(sizeof features / sizeof *features, seed)];
  phi.block[0] = (la_block){labels[some(sizeof labels / sizeof *labels, seed)],
                            0, K, pow(10, 4 * check_uniform(seed) - 3),
                            pow(10, 3 * check_uniform(seed) - 1)};
  phi.block[1] =
      (la_block){kind, K, D, pow(10, 4 * check_uniform(seed) - 3), 0};
  phi.block[2] = (la_block){LA_ONES, K + D, 1, 0, 0};
  if (check_uniform(seed) < 0.05) phi.block[1].weight = 0;
  double missing = check_uniform(seed) < 0.2 ? 1 : 0.4 * check_uniform(seed);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < K + D + 1; i++) {
      double y = check_uniform(seed) < 0.5 ? (pm ? -1 : 0) : 1;
      *la_case_at(&phi.Z0, i, j) =
          i >= K ? random_count(seed, missing)
                 : (check_uniform(seed) < missing ? NAN : y);
    }
  if (check_uniform(seed) < 0.5) return phi;
  phi.times = la_case_new(h, 1, n);
  for (int64_t j = 0; j < n; j++)
    *la_case_at(&phi.times, 0, j) = pow(10, 2 * check_uniform(seed) - 1);
  return phi;
}

static la_array random_like(la *h, const la_penalty *phi, double scale,
                            uint64_t *seed)
{
  la_array A = la_case_new(h, phi->Z0.rows, phi->Z0.cols);
  for (int64_t j = 0; j < A.cols; j++)
    for (int64_t i = 0; i < A.rows; i++)
      *la_case_at(&A, i, j) = scale * check_normal(seed);
  return A;
}

/* |a - b| <= tolerance (1 + |a|), entry by entry. */
static void check_same(const la_array *A, const la_array *B, double tolerance)
{
  for (int64_t j = 0; j < A->cols; j++)
    for (int64_t i = 0; i < A->rows; i++) {
      double a = *la_case_at(A, i, j), b = *la_case_at(B, i, j);
      CHECK_NEAR(a, b, tolerance * (1 + fabs(a)));
    }
}

static void prox_case(la_pair *p, const la_penalty *phi, uint64_t *seed)
{
  double rho = pow(10, 4 * check_uniform(seed) - 2);
  double scale = pow(10, 3 * check_uniform(seed) - 1);
  la_array V = random_like(&p->fast, phi, scale, seed);
  la_array A = la_case_copy(&p->fast, &V), B = la_case_copy(&p->fast, &V);
  OK(p->fast.ops->prox(&p->fast, phi, rho, &V, &A));
  OK(p->slow.ops->prox(&p->slow, phi, rho, &V, &B));
  check_same(&A, &B, 2e-13 * (1 + scale));
  OK(p->fast.ops->prox(&p->fast, phi, rho, &V, &V)); /* in place */
  CHECK_NEAR(la_case_distance(&A, &V), 0, 0);
  LA_RELEASE(&p->fast, &V, &A, &B);
}

static void reflect_case(la_pair *p, const la_penalty *phi, uint64_t *seed)
{
  double rho = pow(10, 2 * check_uniform(seed) - 1), f[4], g[4];
  la_array A = random_like(&p->fast, phi, 1, seed);
  la_array V = random_like(&p->fast, phi, 1, seed);
  la_array B = random_like(&p->fast, phi, 1, seed);
  la_array C = la_case_copy(&p->fast, &B);
  la_array W = la_case_copy(&p->fast, &B), X = la_case_copy(&p->fast, &B);
  OK(p->fast.ops->reflect(&p->fast, phi, rho, &A, &V, &B, &W, f));
  OK(p->slow.ops->reflect(&p->slow, phi, rho, &A, &V, &C, &X, g));
  check_same(&B, &C, 1e-12);
  check_same(&W, &X, 1e-12);
  for (int c = 0; c < 4; c++) CHECK_NEAR(f[c], g[c], 1e-11 * (1 + g[c]));
  LA_RELEASE(&p->fast, &A, &V, &B, &C, &W, &X);
}

/* Points where phi is finite: the prox of anything. */
static void loss_case(la_pair *p, const la_penalty *phi, uint64_t *seed)
{
  double a, b;
  la_array Z = random_like(&p->fast, phi, 2, seed);
  OK(p->fast.ops->prox(&p->fast, phi, 1, &Z, &Z));
  OK(p->fast.ops->loss(&p->fast, phi, &Z, &a));
  OK(p->slow.ops->loss(&p->slow, phi, &Z, &b));
  CHECK_NEAR(a, b, 1e-12 * (1 + fabs(b)));
  la_array A = la_case_copy(&p->fast, &Z), B = la_case_copy(&p->fast, &Z);
  OK(p->fast.ops->gradient_step(&p->fast, phi, 0.3, &Z, &A));
  OK(p->slow.ops->gradient_step(&p->slow, phi, 0.3, &Z, &B));
  check_same(&A, &B, 1e-12);
  LA_RELEASE(&p->fast, &Z, &A, &B);
}

static void constraint_case(la_pair *p, const la_penalty *phi, uint64_t *seed)
{
  double a, b, scale = 0.1 + 0.9 * check_uniform(seed);
  la_array A = random_like(&p->fast, phi, 2, seed);
  la_array B = la_case_copy(&p->fast, &A), G = la_case_copy(&p->fast, &A);
  la_array H = la_case_copy(&p->fast, &A);
  OK(p->fast.ops->project(&p->fast, phi, &A));
  OK(p->slow.ops->project(&p->slow, phi, &B));
  check_same(&A, &B, 1e-14);
  OK(p->fast.ops->clamp(&p->fast, phi, &G));
  OK(p->slow.ops->clamp(&p->slow, phi, &H));
  CHECK_NEAR(la_case_distance(&G, &H), 0, 1e-16);
  OK(p->fast.ops->conjugate(&p->fast, phi, scale, &G, &a));
  OK(p->slow.ops->conjugate(&p->slow, phi, scale, &G, &b));
  double size = la_case_norm(&G) * (1 + la_case_norm(&G));
  for (int64_t j = 0; j < G.cols; j++) /* terms: at most about |g| z0 */
    for (int64_t i = 0; i < G.rows; i++) {
      double z0 = *la_case_at(&phi->Z0, i, j);
      if (!isnan(z0)) size += z0 * (fabs(*la_case_at(&G, i, j)) + 1);
    }
  CHECK_NEAR(a, b, 1e-13 * (1 + size));
  LA_RELEASE(&p->fast, &A, &B, &G, &H);
}

static void for_penalties(void **state, uint64_t first,
                          void (*run)(la_pair *, const la_penalty *,
                                      uint64_t *))
{
  la_pair *p = *state;
  for (uint64_t i = 0; i < CASES; i++) {
    uint64_t seed = first + i;
    int64_t K = (int64_t)(4 * check_uniform(&seed));
    int64_t D = 1 + (int64_t)(12 * check_uniform(&seed));
    int64_t n = (int64_t)(6 * check_uniform(&seed));
    la_penalty phi = random_penalty(&p->fast, K, D, n, &seed);
    run(p, &phi, &seed);
    LA_RELEASE(&p->fast, &phi.Z0, &phi.times);
  }
}

static void proximal_steps_agree(void **state)
{
  for_penalties(state, 6000, prox_case);
}
static void admm_passes_agree(void **state)
{
  for_penalties(state, 7000, reflect_case);
}
static void losses_agree(void **state)
{
  for_penalties(state, 8000, loss_case);
}
static void constraints_agree(void **state)
{
  for_penalties(state, 9000, constraint_case);
}

/* ---- vectors ------------------------------------------------------------*/

static void vector_case(la_pair *p, uint64_t *seed)
{
  la *h = &p->fast;
  int64_t m = la_case_side(seed), n = 3 * la_case_side(seed);
  la_array A = la_case_random(h, m, n, seed), B = la_case_random(h, m, n, seed);
  la_array C = la_case_copy(h, &B);
  double a, b, f[200], fast[200], slow[200];
  double scale = la_case_norm(&A) * la_case_norm(&B);
  int64_t w[200];
  for (int64_t j = 0; j < n || j < m; j++) f[j] = check_normal(seed);
  OK(p->fast.ops->dot(&p->fast, &A, &B, &a));
  OK(p->slow.ops->dot(&p->slow, &A, &B, &b));
  CHECK_NEAR(a, b, 100 * EPS * scale);
  OK(p->fast.ops->axpby(&p->fast, 2, &A, -0.5, &B));
  OK(p->slow.ops->axpby(&p->slow, 2, &A, -0.5, &C));
  CHECK_NEAR(la_case_distance(&B, &C), 0, 4 * EPS * (la_case_norm(&A) + 1));
  OK(la_scale_cols(&p->fast, f, &B));
  OK(la_scale_cols(&p->slow, f, &C));
  CHECK_NEAR(la_case_distance(&B, &C), 0, 40 * EPS * (la_case_norm(&A) + 1));
  for (int64_t j = 0; j < n; j++) w[j] = (7 * j + 3) % n;
  OK(p->fast.ops->axpby_cols(&p->fast, f, w, &A, -0.5, &B));
  OK(p->slow.ops->axpby_cols(&p->slow, f, w, &A, -0.5, &C));
  CHECK_NEAR(la_case_distance(&B, &C), 0, 80 * EPS * (la_case_norm(&A) + 1));
  scale = (la_case_norm(&A) + 1) * (la_case_norm(&A) + la_case_norm(&B) + 1);
  OK(p->fast.ops->dot_cols(&p->fast, &A, &B, fast));
  OK(p->slow.ops->dot_cols(&p->slow, &A, &C, slow));
  for (int j = 0; j < n; j++) CHECK_NEAR(fast[j], slow[j], 100 * EPS * scale);
  OK(p->fast.ops->scale_rows(&p->fast, f, &B));
  OK(p->slow.ops->scale_rows(&p->slow, f, &C));
  OK(p->fast.ops->add_to_cols(&p->fast, f, &B));
  OK(p->slow.ops->add_to_cols(&p->slow, f, &C));
  CHECK_NEAR(la_case_distance(&B, &C), 0, 400 * EPS * (la_case_norm(&A) + 1));
  if (m > 0 && n > 0) *la_case_at(&B, 0, 0) = NAN;
  OK(p->fast.ops->axpby(&p->fast, 1, &A, 0, &B)); /* beta 0 never reads */
  CHECK_NEAR(la_case_distance(&A, &B), 0, 0);
  for (int64_t j = 0; j < n; j++) f[j] = 1;
  if (m > 0 && n > 0) *la_case_at(&B, 0, 0) = NAN;
  OK(p->fast.ops->axpby_cols(&p->fast, f, NULL, &A, 0, &B));
  CHECK_NEAR(la_case_distance(&A, &B), 0, 0);
  LA_RELEASE(h, &A, &B, &C);
}

/* Filling, copying, scaling and shifting: the entries are known. */
static void small_pass_case(la *h, uint64_t *seed)
{
  int64_t n = la_case_side(seed);
  la_array A = la_case_random(h, n, n, seed), B = la_case_new(h, n, n);
  if (n > 0) *la_case_at(&B, n - 1, 0) = NAN; /* never read */
  OK(la_zero(h, &B));
  for (int64_t k = 0; k < n * n; k++)
    CHECK_NEAR(*la_case_at(&B, k % n, k / n), 0, 0);
  OK(la_copy(h, &A, &B));
  OK(la_scale(h, -3, &B));
  OK(la_add_diagonal(h, 0.25, &B));
  for (int64_t k = 0; k < n * n; k++) {
    int64_t i = k % n, j = k / n;
    double wanted = -3 * *la_case_at(&A, i, j) + (i == j ? 0.25 : 0);
    CHECK_NEAR(*la_case_at(&B, i, j), wanted, 0);
  }
  if (n > 0) { /* a row, and nothing beside it */
    la_array row = la_rows(&B, n - 1, 1);
    OK(h->ops->fill(h, 7, &row));
    for (int64_t j = 0; j < n; j++) CHECK_NEAR(*la_case_at(&B, n - 1, j), 7, 0);
    if (n > 1) CHECK_NEAR(*la_case_at(&B, 0, 1), -3 * *la_case_at(&A, 0, 1), 0);
  }
  LA_RELEASE(h, &A, &B);
}

static void small_passes_do_what_they_say(void **state)
{
  la_pair *p = *state;
  uint64_t seed = 77;
  for (int k = 0; k < CASES; k++) {
    small_pass_case(&p->fast, &seed);
    small_pass_case(&p->slow, &seed);
  }
  la_array wide = la_case_new(&p->fast, 2, 3);
  assert_int_equal(la_add_diagonal(&p->fast, 1, &wide), LAPIS_ESHAPE);
  assert_int_equal(la_add_diagonal(&p->slow, 1, &wide), LAPIS_ESHAPE);
  LA_RELEASE(&p->fast, &wide);
}

static void vectors_agree(void **state)
{
  for (uint64_t i = 0; i < CASES; i++) {
    uint64_t seed = 10000 + i;
    vector_case(*state, &seed);
  }
}

/* ---- threads ------------------------------------------------------------*/

static void passes_with(la *h, const la_penalty *phi, la_array *B, la_array *U,
                        double out[8])
{
  uint64_t seed = 77;
  la_array A = random_like(h, phi, 1, &seed);
  la_array W = la_case_copy(h, B);
  OK(h->ops->reflect(h, phi, 0.5, &A, U, B, &W, out));
  OK(h->ops->axpby(h, 1, &W, 0, U));
  h->ops->free(h, &W);
  OK(h->ops->loss(h, phi, B, out + 4));
  OK(h->ops->dot(h, B, U, out + 5));
  OK(h->ops->clamp(h, phi, U));
  OK(h->ops->conjugate(h, phi, 0.9, U, out + 6));
  OK(h->ops->axpby(h, 1, &A, 2, U));
  OK(h->ops->gradient_step(h, phi, 0.1, B, B));
  OK(h->ops->project(h, phi, B));
  OK(h->ops->dot(h, B, U, out + 7));
  h->ops->free(h, &A);
}

/* Bits, not digits: the passes promise it. */
static void threads_do_not_change_passes(void **state)
{
  la_pair *p = *state;
  for (uint64_t i = 0; i < 12; i++) {
    uint64_t seed = 11000 + i;
    double a[8], b[8];
    la one = p->fast, two = p->fast;
    one.threads = 1;
    two.threads = 2;
    la_penalty phi = random_penalty(&one, 2, 150, 230, &seed);
    la_array B = random_like(&one, &phi, 1, &seed);
    la_array U = random_like(&one, &phi, 1, &seed);
    la_array C = la_case_copy(&one, &B), W = la_case_copy(&one, &U);
    passes_with(&one, &phi, &B, &U, a);
    passes_with(&two, &phi, &C, &W, b);
    assert_memory_equal(a, b, sizeof a);
    assert_memory_equal(B.data, C.data, (size_t)(B.rows * B.cols) * 8);
    assert_memory_equal(U.data, W.data, (size_t)(U.rows * U.cols) * 8);
    LA_RELEASE(&one, &phi.Z0, &phi.times, &B, &U, &C, &W);
  }
}

static void threads_hardly_change_products(void **state)
{
  la_pair *p = *state;
  uint64_t seed = 12000;
  la one = p->fast, two = p->fast;
  one.threads = 1;
  two.threads = 2;
  la_array A = la_case_new(&one, 300, 200), C = la_case_new(&one, 200, 200);
  la_array D = la_case_new(&one, 200, 200);
  for (int64_t i = 0; i < 60000; i++)
    ((double *)A.data)[i] = check_normal(&seed);
  OK(one.ops->syrk(&one, LA_T, &A, &C));
  OK(two.ops->syrk(&two, LA_T, &A, &D));
  CHECK_AT_MOST(la_case_distance(&C, &D), 1e-12 * la_case_norm(&C));
  OK(one.ops->gemm(&one, LA_T, LA_N, 1, &A, &A, 0, &C));
  OK(two.ops->gemm(&two, LA_T, LA_N, 1, &A, &A, 0, &D));
  CHECK_AT_MOST(la_case_distance(&C, &D), 1e-12 * la_case_norm(&C));
  LA_RELEASE(&one, &A, &C, &D);
}

static int open_pair(void **state)
{
  (void)la_case_open_pair(state);
  test_go_through(&((la_pair *)*state)->fast);
  return 0;
}

int test_backend(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(products_agree),
      cmocka_unit_test(grams_agree),
      cmocka_unit_test(skinny_products_agree),
      cmocka_unit_test(eigenvalues_agree),
      cmocka_unit_test(thresholds_are_strict),
      cmocka_unit_test(singular_values_agree),
      cmocka_unit_test(bases_are_orthonormal),
      cmocka_unit_test(systems_are_solved),
      cmocka_unit_test(systems_are_solved_in_single),
      cmocka_unit_test(indefinite_is_refused),
      cmocka_unit_test(proximal_steps_agree),
      cmocka_unit_test(admm_passes_agree),
      cmocka_unit_test(losses_agree),
      cmocka_unit_test(constraints_agree),
      cmocka_unit_test(vectors_agree),
      cmocka_unit_test(small_passes_do_what_they_say),
      cmocka_unit_test(threads_do_not_change_passes),
      cmocka_unit_test(threads_hardly_change_products),
  };
  return run_cases(tests, open_pair, la_case_close_pair);
}
