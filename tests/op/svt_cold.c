/* svt_cold.c - one call of lapis_svt, with nothing known before, against
 * LAPACK's full decomposition of the same matrix, where sides are large enough
 * for every way of finding singular values.  Spectra are made, so that the
 * right rank is known without either. */
#include "la_case.h"
#include "lapis/methods.h"
#include "op/svt/svt_basis.h"

#define OK(call) assert_int_equal((call), LAPIS_OK)

typedef enum spectrum {
  GAP,        /* equal ones, many up to 1 % below the threshold */
  DECAY,      /* 1, .95, .95^2, ... */
  CLUSTERED,  /* half above, half below, by 1e-3 of the threshold at most */
  TWO_LEVELS, /* some 10 times the threshold, some just above, many below */
  SLOW,       /* 1, 2^-.4, 3^-.4, ...: no gap, and a long tail */
  FLAT,       /* 1, 2^-.25, 3^-.25, ...: the next ones are as large as t */
  STEEP,      /* equal ones, as many just above, then .79, .79 x .9, ... */
  EQUAL,      /* ones, then halves */
  PLATEAU,    /* ones, then .7, less up to 1e-3 of it */
  ZERO,
  SPECTRA
} spectrum;

typedef struct made {
  int64_t m, n, k, rank;
  double t, top;
  double *W, *A, *again, *U, *s, *Vt;
} made;

static double value(spectrum kind, int64_t i, int64_t rank, uint64_t *seed)
{
  double u = check_uniform(seed);
  switch (kind) {
  case GAP:
    return i < rank ? 1 : 0.792 * u;
  case DECAY:
    return fmax(pow(0.95, (double)i), 1e-4);
  case SLOW:
    return pow((double)i + 1, -0.4);
  case FLAT:
    return pow((double)i + 1, -0.25);
  case CLUSTERED:
    return 0.8 * (i < rank ? 1 + 1e-3 * (u + 0.01) : 1 - 1e-3 * (u + 0.01));
  case TWO_LEVELS:
    return i < rank / 2 ? 4 + u : i < rank ? 0.82 + 0.1 * u : 0.79 * u;
  case STEEP:
    return i < rank / 2 ? 1
           : i < rank   ? 0.801
                        : 0.79 * pow(0.9, (double)(i - rank));
  case EQUAL:
    return i < rank ? 1 : 0.5;
  case PLATEAU:
    return i < rank ? 1 : 0.7 * (1 - 1e-3 * u);
  default:
    return 0;
  }
}

/* W -= 2 v (v'W) / v'v, or W -= 2 (W v) v' / v'v */
static void reflect(made *p, bool left, uint64_t *seed)
{
  int64_t m = p->m, n = p->n, length = left ? m : n;
  double *v = calloc((size_t)length, sizeof *v);
  double *d = calloc((size_t)(left ? n : m), sizeof *d), square = 0;
  for (int64_t i = 0; i < length; i++) {
    v[i] = check_normal(seed);
    square += v[i] * v[i];
  }
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < m; i++)
      d[left ? j : i] += p->W[j * m + i] * v[left ? i : j];
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < m; i++)
      p->W[j * m + i] -= 2 / square * v[left ? i : j] * d[left ? j : i];
  free(v);
  free(d);
}

static void build(made *p, spectrum kind, double scale)
{
  uint64_t seed = 17 + (uint64_t)kind;
  int64_t m = p->m, n = p->n;
  size_t all = (size_t)(m * n);
  p->k = m < n ? m : n;
  double **each[] = {&p->W, &p->A, &p->again};
  for (int i = 0; i < 3; i++) *each[i] = calloc(all, sizeof(double));
  p->U = calloc((size_t)(m * p->k), sizeof(double));
  p->Vt = calloc((size_t)(p->k * n), sizeof(double));
  p->s = calloc((size_t)p->k, sizeof(double));
  for (int64_t i = 0; i < p->k; i++)
    p->W[i * (m + 1)] = scale * value(kind, i, p->rank, &seed);
  for (int i = 0; i < 4; i++) reflect(p, i % 2, &seed);
  p->t = kind == DECAY  ? pow(0.95, (double)p->rank - 0.5)
         : kind == SLOW ? pow((double)p->rank + 0.5, -0.4)
         : kind == FLAT ? pow((double)p->rank + 0.5, -0.25)
                        : 0.8;
  p->t *= scale;
}

static void release(made *p)
{
  double *each[] = {p->W, p->A, p->again, p->U, p->s, p->Vt};
  for (int i = 0; i < 6; i++) free(each[i]);
}

/* p->again = U max(S - t, 0) V' by LAPACK; its rank. */
static int64_t by_lapack(lapis_ctx *ctx, made *p)
{
  la h;
  la_array U = la_wrap(p->U, p->m, p->k), Vt = la_wrap(p->Vt, p->k, p->n);
  la_array W = la_wrap(p->W, p->m, p->n);
  OK(la_open_host(ctx, &h));
  OK(h.ops->svd(&h, &W, &U, p->s, &Vt)); /* W is destroyed */
  int64_t rank = 0;
  while (rank < p->k && p->s[rank] > p->t) rank++;
  for (int64_t j = 0; j < p->n; j++)
    for (int64_t i = 0; i < p->m; i++) p->again[j * p->m + i] = 0;
  for (int64_t j = 0; j < p->n; j++)
    for (int64_t r = 0; r < rank; r++) {
      double f = (p->s[r] - p->t) * p->Vt[j * p->k + r];
      for (int64_t i = 0; i < p->m; i++)
        p->again[j * p->m + i] += f * p->U[r * p->m + i];
    }
  return rank;
}

static double distance(const made *p)
{
  double sum = 0;
  for (int64_t i = 0; i < p->m * p->n; i++)
    sum += (p->A[i] - p->again[i]) * (p->A[i] - p->again[i]);
  return sqrt(sum);
}

/* Twice the same bits, and LAPACK's answer. */
static void one(spectrum kind, int64_t m, int64_t n, int64_t rank, double scale)
{
  made p = {.m = m, .n = n, .rank = kind == ZERO ? 0 : rank};
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_svt_info found;
  build(&p, kind, scale);
  lapis_mat W = lapis_mat_f64(p.W, m, n), A = lapis_mat_f64(p.A, m, n);
  lapis_mat B = lapis_mat_f64(p.again, m, n);
  OK(lapis_svt(ctx, &W, p.t, &A, &found));
  OK(lapis_svt(ctx, &W, p.t, &B, NULL));
  assert_memory_equal(p.A, p.again, (size_t)(m * n) * sizeof(double));
  int64_t right = by_lapack(ctx, &p);
  assert_int_equal(right, p.rank);
  assert_int_equal(found.rank, right);
  double size = fmax(p.s[0], 1e-300), nuclear = 0;
  for (int64_t i = 0; i < right; i++) nuclear += p.s[i] - p.t;
  bool falls = kind == SLOW || kind == DECAY || kind == FLAT;
  if (falls && (p.k >= 600 || rank < 8))
    assert_string_equal(found.way, "subspace");
  CHECK_AT_MOST(distance(&p), 1e-9 * size);
  CHECK_NEAR(found.nuclear, nuclear, 1e-9 * (size + nuclear));
  release(&p);
  lapis_ctx_free(ctx);
}

static void every_spectrum(void **state)
{
  for (int kind = 0; kind < SPECTRA; kind++)
    one((spectrum)kind, 610, 700, 40, 1);
}

static void wide_tall_and_scaled(void **state)
{
  one(GAP, 605, 1400, 8, 1e-60);
  if (!room_all()) return;
  one(GAP, 700, 620, 70, 1e6);
  one(TWO_LEVELS, 1300, 600, 20, 1e60);
}

/* Nearly none, and more than the third that a subspace may hold. */
static void ranks(void **state)
{
  one(GAP, 600, 610, 0, 1);
  one(GAP, 600, 610, 250, 1);
  one(STEEP, 640, 600, 90, 1); /* more equal ones than the first block has */
  if (!room_all()) return;
  one(FLAT, 1000, 1400, 5, 1);
  one(GAP, 600, 610, 1, 1);
  one(TWO_LEVELS, 610, 600, 90, 1);
  one(CLUSTERED, 600, 640, 300, 1);
  one(STEEP, 600, 640, 1, 1);
}

/* More equal ones than a block has columns, that only the test can miss; small
 * sides, that may give up. */
static void equal_ones(void **state)
{
  for (int64_t rank = 1; rank < 40; rank += rank < 12 ? 2 : 20) {
    one(EQUAL, 210, 230, rank, 1);
    one(PLATEAU, 230, 210, rank, 1);
    one(FLAT, 210, 280, rank, 1);
    one(STEEP, 210, 220, rank, 1);
  }
  one(EQUAL, 610, 620, 30, 1);
  one(PLATEAU, 620, 610, 5, 1);
}

static void tiny(void **state)
{
  for (int64_t m = 1; m < 4; m++)
    for (int64_t n = 1; n < 4; n++) {
      one(GAP, m, n, 1, 1);
      one(ZERO, m, n, 0, 1);
    }
}

/* ---- the bound by single precision --------------------------------------*/

enum { K = 16, L = 20480 };

/* Rows like each other, all of one sign or not, of numbers that single
 * precision has to round: every sum of theirs rounds the same way. */
static void alike(int kind, la_array *W)
{
  uint64_t seed = 9;
  for (int64_t j = 0; j < L; j++)
    for (int64_t i = 0; i < K; i++) {
      double x = check_normal(&seed), sign = x > 0 ? 1 : -1;
      *la_case_at(W, i, j) = kind == 0   ? 1.37 * sign
                             : kind == 1 ? 1.37 + 1e-3 * x
                                         : x;
    }
}

/* Largest eigenvalue of a symmetric A, which is destroyed; Q: vectors. */
static double top_of(la *h, la_array *A, double *values, la_array *Q)
{
  int64_t count;
  OK(h->ops->eigh(h, A, -INFINITY, values, Q, &count));
  assert_int_equal(count, K);
  return values[0];
}

/* A <- P A P / 2 + (P A P)' / 2, P = I - U U' */
static void compress(la *h, const la_array *U, la_array *A)
{
  la_array P = la_case_new(h, K, K), T = la_case_new(h, K, K);
  for (int64_t i = 0; i < K; i++) *la_case_at(&P, i, i) = 1;
  if (U->cols > 0) OK(h->ops->gemm(h, LA_N, LA_T, -1, U, U, 1, &P));
  OK(h->ops->gemm(h, LA_N, LA_N, 1, &P, A, 0, &T));
  OK(h->ops->gemm(h, LA_N, LA_N, .5, &T, &P, 0, A));
  OK(h->ops->gemm(h, LA_N, LA_T, .5, &P, &T, 1, A));
  LA_RELEASE(h, &P, &T);
}

/* What H has outside U is at most c, so that an eigenvalue l > c of G there
 * shows in (G - H) y, y its vector: no rounding hides it. */
static bool one_bound(la *h, svt_filter *f, const la_array *G, double c,
                      const la_array *U, const double *theta)
{
  double values[K], most, rounding = 1e-13 * theta[0]; /* of this test */
  bool found;
  la_array I = la_case_new(h, K, K), H = la_case_new(h, K, K);
  la_array E = la_case_new(h, K, K), Q = la_case_new(h, K, K);
  for (int64_t i = 0; i < K; i++) *la_case_at(&I, i, i) = 1;
  OK(svt_filter_below(f, U, theta, c, &I, &H, &found));
  if (found) {
    OK(la_copy(h, G, &E));
    OK(h->ops->axpby(h, -1, &H, 1, &E)); /* G - H */
    compress(h, U, &H);
    assert_true(top_of(h, &H, values, &Q) <= c + rounding);
    OK(la_copy(h, G, &H));
    compress(h, U, &H);
    double l = top_of(h, &H, values, &Q);
    la_array y = la_cols(&Q, 0, 1), Ey = la_cols(&I, 0, 1);
    OK(h->ops->gemm(h, LA_N, LA_N, 1, &E, &y, 0, &Ey));
    OK(h->ops->dot(h, &Ey, &Ey, &most));
    assert_true(sqrt(most) >= l - c - rounding);
  }
  LA_RELEASE(h, &I, &H, &E, &Q);
  return found;
}

static void single_hides_nothing(void **state)
{
  la_pair *p = *state;
  la *h = &p->fast;
  static const double off[] = {-1e-2, -1e-4, -1e-5, -3e-6, -1e-6, -1e-7,
                               1e-7,  1e-6,  3e-6,  1e-5,  1e-4,  1e-2};
  for (int kind = 0; kind < 3; kind++) {
    double values[K], unit;
    svt_filter *f;
    la_array W = la_case_new(h, K, L), G = la_case_new(h, K, K);
    la_array C = la_case_new(h, K, K), Q = la_case_new(h, K, K);
    alike(kind, &W);
    OK(h->ops->syrk(h, LA_N, &W, &G));
    OK(la_copy(h, &G, &C));
    (void)top_of(h, &C, values, &Q);
    OK(h->ops->dot(h, &W, &W, &unit));
    OK(svt_filter_new(h, LA_N, &W, unit, &f));
    for (int64_t known = 0; known < 4; known++) {
      la_array U = la_cols(&Q, 0, known), other = la_cols(&Q, K - known, known);
      for (size_t i = 0; i < sizeof off / sizeof *off; i++) {
        double c = (1 + off[i]) * values[known];
        bool found = one_bound(h, f, &G, c, &U, values);
        assert_true(found || c - values[known] < 1e-3 * values[0]);
        (void)one_bound(h, f, &G, c, &other, values);
      }
    }
    svt_filter_free(f);
    LA_RELEASE(h, &W, &G, &C, &Q);
  }
}

enum { N = 240 };

/* Memory that holds NaN before it is written: nothing of it is read. */
static void memory_that_holds_nan(void **state)
{
  la_pair *p = *state;
  la *h = &p->fast;
  svt_subspace *s;
  svt_found found;
  svt_question q = {.t = 11.5, .sides = 2 * N, .accuracy = 1e-10, .once = true};
  la_array W = la_case_new(h, N, N);
  for (int64_t i = 0; i < N; i++)
    *la_case_at(&W, i, i) = i < 4 ? 24 - (double)i : 6 - .01 * (double)i;
  q.W = &W;
  OK(h->ops->dot(h, &W, &W, &q.square));
  OK(svt_subspace_new(h, LA_N, N, &s));
  la_array *all[] = {&s->B, &s->GB, &s->X, &s->R, &s->H, &s->S, &s->C};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    OK(h->ops->fill(h, NAN, all[i]));
  OK(svt_subspace_run(s, &q, &found));
  assert_true(found.certified);
  assert_int_equal(found.rank, 4);
  svt_subspace_free(s);
  LA_RELEASE(h, &W);
}

int test_svt_cold(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_spectrum),
      cmocka_unit_test(wide_tall_and_scaled),
      cmocka_unit_test(ranks),
      cmocka_unit_test(equal_ones),
      cmocka_unit_test(tiny),
      cmocka_unit_test_setup_teardown(memory_that_holds_nan, la_case_open_pair,
                                      la_case_close_pair),
      cmocka_unit_test_setup_teardown(single_hides_nothing, la_case_open_pair,
                                      la_case_close_pair),
  };
  return run_cases(tests, NULL, NULL);
}
