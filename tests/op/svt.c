/* svt.c - singular value thresholding, judged by what defines it: A
 * minimises t |A|_* + |A - W|^2/2 where W - A has a spectral norm of at most
 * t and <W - A, A> = t |A|_*. */
#include "op/svt/svt.h"
#include "la_case.h"
#include "lapis/methods.h"
#include "scarce.h"

enum { CASES = 200 };
static const double EPS = 2.220446049250313e-16;

#define OK(call) assert_int_equal((call), LAPIS_OK)

/* Exact values from the reference backend, descending. */
static void true_values(la_pair *p, const la_array *W, double *s)
{
  la_array C = la_case_copy(&p->slow, W);
  OK(p->slow.ops->svd(&p->slow, &C, NULL, s, NULL));
  p->slow.ops->free(&p->slow, &C);
}

static int64_t smaller_side(const la_array *W)
{
  return W->rows < W->cols ? W->rows : W->cols;
}

/* tolerance: of singular values, relative to sigma_1 of W. */
static void check_subgradient(la_pair *p, const la_array *W, const la_array *A,
                              double t, double tolerance)
{
  la *h = &p->slow;
  double top[400], rest[400], all[400], nuclear = 0, inner;
  la_array R = la_case_copy(h, A);
  OK(h->ops->axpby(h, 1, W, -1, &R));
  true_values(p, W, all);
  true_values(p, A, top);
  true_values(p, &R, rest);
  OK(h->ops->dot(h, &R, A, &inner));
  double size = smaller_side(W) > 0 ? all[0] : 0;
  for (int64_t i = 0; i < smaller_side(W); i++) nuclear += top[i];
  if (smaller_side(W) > 0) CHECK_AT_MOST(rest[0], t + tolerance * size);
  CHECK_NEAR(inner, t * nuclear, 40 * tolerance * size * (nuclear + t));
  h->ops->free(h, &R);
}

static void check_report(const la_array *W, const double *values, double t,
                         const svt_report *r, double tolerance)
{
  double nuclear = 0, size = smaller_side(W) > 0 ? values[0] : 0;
  int64_t surely = 0, maybe = 0;
  for (int64_t i = 0; i < smaller_side(W); i++) {
    surely += values[i] > t + tolerance * size;
    maybe += values[i] > t - tolerance * size;
    nuclear += values[i] > t ? values[i] - t : 0;
  }
  assert_true(r->rank >= surely && r->rank <= maybe);
  CHECK_NEAR(r->nuclear, nuclear, 40 * tolerance * (size + nuclear));
  if (r->rank > 0) CHECK_NEAR(r->sigma_1, size, 10 * tolerance * size);
}

/* Thresholds between, on, above and below the singular values. */
static double random_threshold(const double *values, int64_t k, uint64_t *seed)
{
  double top = k > 0 ? values[0] : 1;
  switch ((int)(6 * check_uniform(seed))) {
  case 0:
    return 0;
  case 1:
    return 2 * top + 1;
  case 2:
    return top * pow(10, -9 * check_uniform(seed));
  default:
    return top * check_uniform(seed);
  }
}

/* The Gram matrix knows singular values to eps sigma_1^2 / t, and so A. */
static double tolerance_of(svt_way way, double top, double t)
{
  double exact = 400 * EPS, ratio = t > 0 ? top / t : INFINITY;
  if (way != SVT_GRAM) return exact;
  return fmin(exact * (1 + ratio), 1e-6);
}

static void svt_case(la_pair *p, la *h, svt_way way, uint64_t *seed)
{
  int64_t m = la_case_side(seed), n = la_case_side(seed);
  double values[400];
  svt_report r;
  op_svt *s;
  if (check_uniform(seed) < 0.3) m *= 5;
  la_array W = la_case_random(h, m, n, seed), A = la_case_new(h, m, n);
  la_array before = la_case_copy(h, &W);
  for (int64_t i = 0; i < m * n; i++) ((double *)A.data)[i] = NAN;
  true_values(p, &W, values);
  double t = random_threshold(values, smaller_side(&W), seed);
  OK(op_svt_new(h, m, n, &s));
  op_svt_force(s, way);
  for (int again = 0; again < 2; again++) OK(op_svt_apply(s, &W, t, &A, &r));
  double top = smaller_side(&W) > 0 ? values[0] : 0;
  double tolerance = tolerance_of(r.way, top, t);
  if (tolerance < 1e-9) check_subgradient(p, &W, &A, t, tolerance);
  if (tolerance < 1e-9) check_report(&W, values, t, &r, tolerance);
  if (way == SVT_AUTO) CHECK_AT_MOST(tolerance, 1e-7);
  if (way != SVT_AUTO) assert_int_equal(r.way, way);
  CHECK_NEAR(la_case_distance(&W, &before), 0, 0); /* W is only read */
  op_svt_free(s);
  h->ops->free(h, &W);
  h->ops->free(h, &A);
  h->ops->free(h, &before);
}

static void every_way_is_optimal(void **state)
{
  static const svt_way ways[] = {SVT_AUTO, SVT_GRAM, SVT_FULL, SVT_QR};
  la_pair p = la_pair_open();
  for (uint64_t i = 0; i < 4 * CASES; i++) {
    uint64_t seed = i;
    svt_case(&p, i % 5 == 0 ? &p.slow : &p.fast, ways[i % 4], &seed);
  }
  lapis_ctx_free(p.ctx);
}

/* W = U diag(s) V' with known s: nothing above t is missed, and the way
 * follows the threshold. */
static void choice_follows_threshold(void **state)
{
  la_pair p = la_pair_open();
  la *h = &p.fast;
  static const struct {
    int64_t rows, cols;
    double t;
    svt_way way;
    int64_t rank;
  } want[] = {{30, 10, 0.5, SVT_GRAM, 1},  {10, 30, 0.05, SVT_GRAM, 2},
              {30, 10, 2e-5, SVT_GRAM, 5}, {30, 10, 2e-6, SVT_FULL, 6},
              {50, 10, 2e-9, SVT_QR, 9},   {10, 50, 2e-9, SVT_QR, 9},
              {10, 50, 1.5, SVT_GRAM, 0}};
  for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
    uint64_t seed = 500 + i;
    op_svt *s;
    svt_report r;
    la_array U = la_case_new(h, want[i].rows, 10), V, W, A;
    V = la_case_new(h, want[i].cols, 10);
    W = la_case_new(h, want[i].rows, want[i].cols);
    A = la_case_new(h, want[i].rows, want[i].cols);
    for (int64_t k = 0; k < 10 * U.rows; k++)
      ((double *)U.data)[k] = check_normal(&seed);
    for (int64_t k = 0; k < 10 * V.rows; k++)
      ((double *)V.data)[k] = check_normal(&seed);
    OK(h->ops->qr(h, &U, NULL));
    OK(h->ops->qr(h, &V, NULL));
    double f[10]; /* 1, 0.1, ... 1e-9 */
    for (int k = 0; k < 10; k++) f[k] = pow(10, -k);
    OK(la_scale_cols(h, f, &U));
    OK(h->ops->gemm(h, LA_N, LA_T, 1, &U, &V, 0, &W));
    OK(op_svt_new(h, W.rows, W.cols, &s));
    OK(op_svt_apply(s, &W, want[i].t, &A, &r));
    assert_int_equal(r.way, want[i].way);
    assert_int_equal(r.rank, want[i].rank);
    CHECK_AT_LEAST(op_svt_seconds(s), 0);
    op_svt_free(s);
    la_array *all[] = {&U, &V, &W, &A};
    for (int k = 0; k < 4; k++) h->ops->free(h, all[k]);
  }
  lapis_ctx_free(p.ctx);
}

/* Squares of these entries vanish or overflow. */
static void extreme_scales_survive(void **state)
{
  la_pair p = la_pair_open();
  static const double scale[] = {1e-170, 1e170};
  for (int i = 0; i < 2; i++) {
    double w[6] = {3, 0, 0, 0, 1, 0}, a[6], values[2];
    svt_report r;
    op_svt *s;
    for (int k = 0; k < 6; k++) w[k] *= scale[i];
    la_array W = la_wrap(w, 3, 2), A = la_wrap(a, 3, 2);
    OK(op_svt_new(&p.fast, 3, 2, &s));
    OK(op_svt_apply(s, &W, 2 * scale[i], &A, &r));
    assert_int_equal(r.rank, 1);
    CHECK_NEAR(a[0], scale[i], 1e-14 * scale[i]);
    CHECK_NEAR(a[4], 0, 1e-14 * scale[i]);
    OK(op_singular_values(s, &W, values));
    CHECK_NEAR(values[0], 3 * scale[i], 1e-14 * scale[i]);
    CHECK_NEAR(values[1], scale[i], 1e-14 * scale[i]);
    op_svt_free(s);
  }
  lapis_ctx_free(p.ctx);
}

/* ---- values and norms ---------------------------------------------------*/

static void values_and_bounds(void **state)
{
  la_pair p = la_pair_open();
  for (uint64_t i = 0; i < 2 * CASES; i++) {
    uint64_t seed = 1000 + i;
    la *h = i % 4 == 0 ? &p.slow : &p.fast;
    int64_t m = la_case_side(&seed), n = 3 * la_case_side(&seed);
    double values[400], truth[400], bound;
    op_svt *s;
    la_array W = la_case_random(h, m, n, &seed);
    int64_t k = smaller_side(&W);
    true_values(&p, &W, truth);
    OK(op_svt_new(h, m, n, &s));
    OK(op_singular_values(s, &W, values));
    OK(op_norm2_upper(s, &W, &bound));
    double top = k > 0 ? truth[0] : 0;
    for (int64_t j = 0; j < k; j++)
      CHECK_NEAR(values[j], truth[j], 400 * EPS * top);
    CHECK_AT_LEAST(bound, top);
    CHECK_AT_MOST(bound, top * (1 + 1e-11));
    bool within;
    OK(op_norm2_within(s, &W, top * (1 + 1e-9) + 1e-300, &within));
    assert_int_equal(within, top > 0);
    OK(op_norm2_within(s, &W, top * (1 - 1e-9), &within));
    assert_false(within);
    op_svt_free(s);
    h->ops->free(h, &W);
  }
  lapis_ctx_free(p.ctx);
}

/* ---- refusals and the public function -----------------------------------*/

static void bad_calls_are_refused(void **state)
{
  la_pair p = la_pair_open();
  double w[6] = {1, 2, 3, 4, 5, NAN}, a[6];
  la_array W = la_wrap(w, 3, 2), A = la_wrap(a, 3, 2), B = la_wrap(a, 2, 3);
  svt_report r;
  op_svt *s;
  OK(op_svt_new(&p.fast, 3, 2, &s));
  assert_int_equal(op_svt_apply(s, &W, 1, &B, &r), LAPIS_ESHAPE);
  assert_int_equal(op_svt_apply(s, &W, -1, &A, &r), LAPIS_EINVAL);
  assert_int_equal(op_svt_apply(s, &W, NAN, &A, &r), LAPIS_EINVAL);
  assert_int_equal(op_svt_apply(s, &W, INFINITY, &A, &r), LAPIS_EINVAL);
  for (int way = SVT_AUTO; way <= SVT_SUBSPACE; way++) {
    op_svt_force(s, (svt_way)way);
    assert_int_equal(op_svt_apply(s, &W, 1, &A, &r), LAPIS_ENUMERIC);
  }
  w[5] = 6;
  op_svt_force(s, SVT_AUTO);
  OK(op_svt_apply(s, &W, 1, &A, NULL));
  op_svt_free(s);
  op_svt_free(NULL);
  lapis_ctx_free(p.ctx);
}

/* diag(3, 1) inside 2 x 3, threshold 2, in place, with room between columns. */
static void public_function(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  double w[12] = {3, 0, 7, 7, 0, 1, 7, 7, 0, 0, 7, 7};
  lapis_mat W = {.rows = 2, .cols = 3, .ld = 4, .val = w};
  lapis_mat T = {.rows = 3, .cols = 2, .ld = 3, .val = w};
  lapis_svt_info info;
  OK(lapis_svt(ctx, &W, 2, &W, &info));
  assert_int_equal(info.rank, 1);
  assert_string_equal(info.way, "gram");
  CHECK_NEAR(info.nuclear, 1, 1e-15);
  CHECK_NEAR(info.sigma_1, 3, 1e-15);
  CHECK_NEAR(w[0], 1, 1e-15);
  CHECK_NEAR(w[5], 0, 1e-15);
  CHECK_NEAR(w[2] + w[3] + w[6] + w[7] + w[10] + w[11], 42, 0);
  assert_int_equal(lapis_svt(ctx, &W, 2, &T, &info), LAPIS_ESHAPE);
  assert_int_equal(lapis_svt(ctx, &W, -2, &W, &info), LAPIS_EINVAL);
  T = W;
  T.dtype = LAPIS_F32;
  assert_int_equal(lapis_svt(ctx, &W, 2, &T, &info), LAPIS_EINVAL);
  W.cols = 0;
  OK(lapis_svt(ctx, &W, 2, &W, NULL));
  lapis_ctx_free(ctx);
}

/* What is refused late leaves A alone, and A may lie across W. */
static void answers_stay_apart(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  double bad[4] = {3, NAN, 0, 1}, a[4] = {7, 7, 7, 7};
  double w[6] = {3, 0, 0, 1, 7, 7};
  lapis_mat B = lapis_mat_f64(bad, 2, 2), A = lapis_mat_f64(a, 2, 2);
  lapis_mat W = lapis_mat_f64(w, 2, 2), next = lapis_mat_f64(w + 2, 2, 2);
  for (int low = 0; low < 2; low++) {
    assert_true(lapis_svt(ctx, &B, low ? 0 : 2, &A, NULL) < 0);
    for (int i = 0; i < 4; i++) CHECK_NEAR(a[i], 7, 0);
  }
  OK(lapis_svt(ctx, &W, 2, &next, NULL));
  static const double right[] = {3, 0, 1, 0, 0, 0};
  for (int i = 0; i < 6; i++) CHECK_NEAR(w[i], right[i], 1e-15);
  lapis_ctx_free(ctx);
}

/* ---- scarcity -----------------------------------------------------------*/

/* Every allocation in turn: a sentence, no result, nothing lost. */
static void memory_runs_out(double t)
{
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_status status = LAPIS_ENOMEM;
  scarce.once = true;
  for (long k = 0; status != LAPIS_OK; k++) {
    double w[6] = {3, 0, 0, 1, 0, 0}, a[6] = {7, 7, 7, 7, 7, 7};
    lapis_mat W = lapis_mat_f64(w, 2, 3), A = lapis_mat_f64(a, 2, 3);
    scarce.countdown = k;
    status = lapis_svt(ctx, &W, t, &A, NULL);
    scarce.countdown = -1;
    assert_true(status == LAPIS_OK ? k > 5 : status == LAPIS_ENOMEM);
    for (int i = 0; i < 6; i++)
      if (status != LAPIS_OK) CHECK_NEAR(a[i], 7, 0);
  }
  scarce.once = false;
  lapis_ctx_free(ctx);
}

static void memory_may_run_out(void **state)
{
  memory_runs_out(2);
  memory_runs_out(1e-9); /* by the full decomposition */
}

/* What runs in a loop allocates nothing, whichever way it takes. */
static void applying_allocates_nothing(void **state)
{
  la_pair p = la_pair_open();
  la *h = &p.fast;
  for (uint64_t i = 0; i < 40; i++) {
    uint64_t seed = 3000 + i;
    double values[400], bound;
    int64_t m = la_case_side(&seed), n = la_case_side(&seed);
    la_array W = la_case_random(h, m, n, &seed), A = la_case_new(h, m, n);
    op_svt *s;
    OK(op_svt_new(h, m, n, &s));
    scarce.allocations = 0;
    scarce.counts = true;
    for (int way = SVT_AUTO; way <= SVT_QR; way++) {
      op_svt_force(s, (svt_way)way);
      OK(op_svt_apply(s, &W, 0.01 * (double)(i % 3), &A, NULL));
    }
    OK(op_singular_values(s, &W, values));
    OK(op_norm2_upper(s, &W, &bound));
    scarce.counts = false;
    assert_int_equal(scarce.allocations, 0);
    op_svt_free(s);
    h->ops->free(h, &W);
    h->ops->free(h, &A);
  }
  lapis_ctx_free(p.ctx);
}

/* W = U diag(values) Vt and LAPACK's values where the rank is told; told too
 * small a rank, it says so. */
static void a_known_rank_is_enough(void **state)
{
  enum { M = 90, N = 70, RANK = 5 };
  la_pair p = la_pair_open();
  uint64_t seed = 3;
  for (int each = 0; each < 2; each++) {
    la *h = each == 0 ? &p.fast : &p.slow;
    la_array X = la_case_new(h, M, RANK), Y = la_case_new(h, RANK, N);
    la_array W = la_case_new(h, M, N), U, Vt;
    double values[N], truth[N], rest;
    bool found;
    for (int64_t i = 0; i < M * RANK; i++)
      ((double *)X.data)[i] = check_normal(&seed);
    for (int64_t i = 0; i < RANK * N; i++)
      ((double *)Y.data)[i] = check_normal(&seed);
    OK(h->ops->gemm(h, LA_N, LA_N, 1, &X, &Y, 0, &W));
    true_values(&p, &W, truth);
    la_array C = la_case_copy(h, &W);
    OK(op_svd_of_rank(h, &C, RANK, 1e-12, &U, values, &Vt, &found));
    assert_true(found);
    for (int i = 0; i < U.cols; i++)
      CHECK_NEAR(values[i], truth[i], 1e-13 * truth[0]);
    OK(la_scale_cols(h, values, &U));
    la_array D = la_case_copy(h, &W);
    OK(h->ops->gemm(h, LA_N, LA_N, -1, &U, &Vt, 1, &D));
    OK(h->ops->dot(h, &D, &D, &rest));
    CHECK_AT_MOST(sqrt(rest), 1e-13 * truth[0]);
    la_array all[] = {X, Y, C, U, Vt, D};
    for (int i = 0; i < 6; i++) h->ops->free(h, &all[i]);
    for (int64_t i = 0; i < M * N; i++)
      ((double *)W.data)[i] = check_normal(&seed);
    OK(op_svd_of_rank(h, &W, RANK, 1e-10, &U, values, &Vt, &found));
    assert_false(found);
    assert_null(U.data);
    h->ops->free(h, &W);
  }
  lapis_ctx_free(p.ctx);
}

int test_svt(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_way_is_optimal),
      cmocka_unit_test(choice_follows_threshold),
      cmocka_unit_test(extreme_scales_survive),
      cmocka_unit_test(values_and_bounds),
      cmocka_unit_test(a_known_rank_is_enough),
      cmocka_unit_test(bad_calls_are_refused),
      cmocka_unit_test(public_function),
      cmocka_unit_test(answers_stay_apart),
      cmocka_unit_test(memory_may_run_out),
      cmocka_unit_test(applying_allocates_nothing),
  };
  return run_cases(tests, NULL, NULL);
}
