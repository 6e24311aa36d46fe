/* Robust PCA: certificates recomputed from outside, verified answers, laws,
 * refusals. */
#include <time.h>

#include "fixture.h"
#include "oracle.h"

static lapis_solver *solve(lapis_ctx *ctx, const lapis_data *data,
                           const lapis_rpca_settings *set)
{
  lapis_solver *s;
  if (lapis_rpca_new(ctx, data, set, &s) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  if (lapis_solve(s) < 0) fail_msg("%s", lapis_ctx_error(ctx));
  return s;
}

typedef struct truth {
  double primal, dual, gap, spectral, outside;
} truth;

/* From X, D and C alone. */
static truth recompute(const lapis_mat *X, const double *D, const double *C,
                       double lambda)
{
  truth t = {0};
  double nuclear, unused;
  oracle_norms(D, X->rows, X->cols, &nuclear, &unused);
  oracle_norms(C, X->rows, X->cols, &unused, &t.spectral);
  t.primal = nuclear;
  for (int64_t j = 0; j < X->cols; j++)
    for (int64_t i = 0; i < X->rows; i++) {
      double x = lapis_mat_at(X, i, j), c = C[j * X->rows + i];
      t.outside = fmax(t.outside, isnan(x) ? fabs(c) : fabs(c) - lambda);
      if (isnan(x)) continue;
      t.primal += lambda * fabs(x - D[j * X->rows + i]);
      t.dual += c * x;
    }
  t.gap = (t.primal - t.dual) / fmax(t.primal, 1e-300);
  return t;
}

static void check_certificate(const lapis_mat *X, const lapis_solver *s,
                              double lambda, double tol)
{
  truth t = recompute(X, check_result(s, "low_rank"), check_result(s, "dual"),
                      lambda);
  const lapis_info *info = lapis_result_info(s);
  CHECK_AT_MOST(t.gap, tol);
  CHECK_AT_LEAST(t.gap, -1e-13);
  CHECK_AT_MOST(t.spectral, 1 + 1e-12);
  CHECK_AT_MOST(t.outside, 1e-14);
  CHECK_NEAR(info->objective, t.primal, 1e-12 * t.primal);
  CHECK_NEAR(info->dual, t.dual, 1e-12 * t.primal);
}

/* ---- verified problems --------------------------------------------------*/
static void check_fixture(const char *name)
{
  fixture f;
  fixture_open(&f, name, true);
  lapis_data data = {.X = fixture_mat(&f.data, "X")};
  lapis_rpca_settings set = lapis_rpca_defaults();
  set.lambda = fixture_number(&f, "lam");
  set.stop.tol = 1e-9;
  set.certificate = true;
  lapis_solver *s = solve(f.ctx, &data, &set);
  const lapis_info *info = lapis_result_info(s);
  double best = fixture_number(&f, "objective");
  CHECK_NEAR(info->objective, best, 1e-8 * best);
  check_certificate(&data.X, s, set.lambda, 1e-9);
  lapis_mat D = fixture_mat(&f.expected, "low_rank");
  const double *got = check_result(s, "low_rank");
  for (int64_t j = 0; j < D.cols; j++)
    for (int64_t i = 0; i < D.rows; i++)
      CHECK_NEAR(got[j * D.rows + i], lapis_mat_at(&D, i, j), 1e-5);
  CHECK_NEAR((double)info->rank, fixture_number(&f, "rank"), 0);
  lapis_solver_free(s);
  fixture_close(&f);
}

static void verified(void **state)
{
  check_fixture("rpca_pcp");
  check_fixture("rpca_missing");
}

/* ---- random problems ----------------------------------------------------*/
typedef struct problem {
  int64_t d, n;
  double *X, *D;
  lapis_data data;
} problem;

/* Rank r, a share of the entries wrong, a share hidden; the first of every
 * column is seen. */
static problem make(int64_t d, int64_t n, int r, double wrong, double hidden,
                    uint64_t seed)
{
  problem p = {d,
               n,
               calloc((size_t)(d * n) + 1, sizeof(double)),
               calloc((size_t)(d * n) + 1, sizeof(double)),
               {.group = NULL}};
  uint64_t s = seed * 7919 + 3;
  double *A = calloc((size_t)(d * r) + 1, sizeof *A);
  for (int64_t k = 0; k < d * r; k++) A[k] = check_normal(&s);
  for (int64_t j = 0; j < n; j++) {
    for (int k = 0; k < r; k++) {
      double b = check_normal(&s);
      for (int64_t i = 0; i < d; i++) p.D[j * d + i] += A[k * d + i] * b;
    }
    for (int64_t i = 0; i < d; i++) {
      double *x = &p.X[j * d + i];
      *x = p.D[j * d + i];
      if (check_uniform(&s) < wrong) *x += 10 * (check_uniform(&s) - 0.5);
      if (check_uniform(&s) < hidden && i > 0) *x = NAN;
    }
  }
  free(A);
  p.data.X = lapis_mat_f64(p.X, d, n);
  return p;
}

static void drop(problem *p)
{
  free(p->X);
  free(p->D);
}

static void certified_on_random_shapes(void **state)
{
  static const int shape[][3] = {{1, 1, 1},   {1, 9, 1},   {9, 1, 1},
                                 {12, 30, 2}, {30, 12, 2}, {20, 20, 20},
                                 {25, 40, 0}};
  for (int k = 0; k < 7; k++)
    for (int hidden = 0; hidden < 2; hidden++) {
      problem p = make(shape[k][0], shape[k][1], shape[k][2], 0.1, 0.2 * hidden,
                       (uint64_t)k);
      lapis_ctx *ctx = lapis_ctx_new();
      lapis_rpca_settings set = lapis_rpca_defaults();
      set.stop.tol = 1e-8;
      set.certificate = true;
      set.lambda = 0.25;
      lapis_solver *s = solve(ctx, &p.data, &set);
      check_certificate(&p.data.X, s, set.lambda, 1e-8);
      lapis_solver_free(s);
      lapis_ctx_free(ctx);
      drop(&p);
    }
}

static void recovers_what_was_hidden(void **state)
{
  problem p = make(60, 80, 3, 0.05, 0, 11);
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_solver *s = solve(ctx, &p.data, NULL);
  const double *D = check_result(s, "low_rank"), *E = check_result(s, "sparse");
  double miss = 0, size = 0;
  for (int64_t k = 0; k < 60 * 80; k++) {
    miss += (D[k] - p.D[k]) * (D[k] - p.D[k]);
    size += p.D[k] * p.D[k];
    CHECK_NEAR(D[k] + E[k], p.X[k], 1e-12);
  }
  CHECK_AT_MOST(sqrt(miss / size), 1e-6);
  lapis_solver_free(s);
  lapis_ctx_free(ctx);
  drop(&p);
}

/* Scaling X scales D; other settings on the same solver, warm, give what a
 * new solver gives. */
static void laws(void **state)
{
  problem p = make(20, 30, 2, 0.1, 0.1, 5);
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_rpca_settings set = lapis_rpca_defaults();
  set.lambda = 0.2;
  set.stop.tol = 1e-9;
  lapis_solver *s = solve(ctx, &p.data, &set);
  double first = lapis_result_info(s)->objective;
  set.lambda = 0.22;
  lapis_solver *fresh = solve(ctx, &p.data, &set);
  double other = lapis_result_info(fresh)->objective;
  assert_int_equal(lapis_solver_retune(s, &set), LAPIS_OK);
  assert_true(lapis_solve(s) >= 0);
  CHECK_NEAR(lapis_result_info(s)->objective, other, 1e-8 * other);
  lapis_solver_free(fresh);
  for (int64_t k = 0; k < 600; k++) p.X[k] *= 1e6;
  set.lambda = 0.2;
  fresh = solve(ctx, &p.data, &set);
  CHECK_NEAR(lapis_result_info(fresh)->objective / 1e6, first, 1e-8 * first);
  lapis_solver_free(fresh);
  lapis_solver_free(s);
  lapis_ctx_free(ctx);
  drop(&p);
}

/* Noise alone leaves most numbers off the low-rank part; few errors do not. */
static void noise_everywhere_is_said(void **state)
{
  (void)state;
  enum { D = 12, N = 60 };
  for (int noise = 0; noise < 2; noise++) {
    double X[D * N];
    uint64_t seed = 5;
    for (int k = 0; k < D * N; k++) {
      double error = check_uniform(&seed) < .05 ? 10 : 0;
      double wave = sin(k / D + 1) * cos(k % D);
      X[k] = noise ? check_normal(&seed) : wave + error;
    }
    lapis_ctx *ctx = lapis_ctx_new();
    lapis_data data = {.X = lapis_mat_f64(X, D, N)};
    lapis_solver *s;
    assert_int_equal(lapis_rpca_new(ctx, &data, NULL, &s), LAPIS_OK);
    assert_int_equal(lapis_solve(s), LAPIS_OK);
    assert_true((check_note(s, "noise") != NULL) == (noise == 1));
    lapis_solver_free(s);
    lapis_ctx_free(ctx);
  }
}

static void zeros_are_zero(void **state)
{
  double X[12] = {0};
  lapis_data data = {.X = lapis_mat_f64(X, 3, 4)};
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_solver *s = solve(ctx, &data, NULL);
  CHECK_NEAR(lapis_result_info(s)->objective, 0, 0);
  assert_int_equal(lapis_result_info(s)->rank, 0);
  lapis_solver_free(s);
  lapis_ctx_free(ctx);
}

static void remember(int level, const char *text, void *user)
{
  if (level == 0) snprintf(user, 512, "%s", text);
}

/* Of a low-rank part that had no time to begin, lambda is not to blame. */
static void only_an_answer_is_called_empty(void **state)
{
  double X[12] = {1, 2, 3, 4, 5, 7, 2, 1, 9, 3, 1, 4};
  for (int late = 0; late <= 1; late++) {
    char said[512] = "";
    lapis_data data = {.X = lapis_mat_f64(X, 3, 4)};
    lapis_rpca_settings set = lapis_rpca_defaults();
    lapis_ctx *ctx = lapis_ctx_new();
    lapis_ctx_on_message(ctx, remember, said);
    set.lambda = 1e-3;
    if (late) set.stop.seconds = 1e-9;
    lapis_solver *s = solve(ctx, &data, &set);
    assert_int_equal(lapis_result_info(s)->status,
                     late ? LAPIS_TIME_LIMIT : LAPIS_OK);
    assert_int_equal(lapis_result_info(s)->rank, 0);
    assert_true((strstr(said, "all of X is error") == NULL) == late);
    lapis_solver_free(s);
    lapis_ctx_free(ctx);
  }
}

/* Where all of X is an error B is 0, and the residual still a number. */
static void all_errors_are_told(void **state)
{
  double X[9] = {4e8, -4e8, 6e8, -3e8, 0, 3e8, 3e8, -5e8, 1e8};
  lapis_data data = {.X = lapis_mat_f64(X, 3, 3)};
  lapis_rpca_settings set = lapis_rpca_defaults();
  set.lambda = 0.05;
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_solver *s = solve(ctx, &data, &set);
  assert_int_equal(lapis_result_info(s)->rank, 0);
  lapis_mat history;
  assert_int_equal(lapis_result_get(s, "history", &history), 0);
  for (int64_t k = 0; k < history.rows * history.cols; k++)
    assert_true(isfinite(((const double *)history.val)[k]));
  lapis_solver_free(s);
  lapis_ctx_free(ctx);
}

/* Rank one and a fifth of the entries one and the same value, as wrong as
 * data can be without being noise: the multiplier is nearly degenerate. */
static void degenerate(uint64_t seed, int64_t d, int64_t n, double *X)
{
  double u[30], wrong = 5 * check_normal(&seed);
  for (int64_t i = 0; i < d; i++) u[i] = check_normal(&seed);
  for (int64_t j = 0; j < n; j++) {
    double v = check_normal(&seed);
    for (int64_t i = 0; i < d; i++)
      X[j * d + i] = check_uniform(&seed) < 0.2 ? wrong : u[i] * v;
  }
}

/* All but one in twenty reach 1e-9; that one ends near it (openblas 2e-9,
 * opencl 1.02e-8: sums in another order). */
static void slow_ones_end_too(void **state)
{
  int ended = 0;
  double X[30 * 30];
  for (uint64_t seed = 1; seed <= 20; seed++) {
    uint64_t sizes = seed;
    int64_t d = 2 + (int64_t)(28 * check_uniform(&sizes));
    int64_t n = 2 + (int64_t)(28 * check_uniform(&sizes));
    degenerate(seed, d, n, X);
    lapis_data data = {.X = lapis_mat_f64(X, d, n)};
    lapis_ctx *ctx = lapis_ctx_new();
    lapis_rpca_settings set = lapis_rpca_defaults();
    set.stop.tol = 1e-9;
    lapis_solver *s = solve(ctx, &data, &set);
    const lapis_info *info = lapis_result_info(s);
    ended += info->status == LAPIS_OK || info->status == LAPIS_PRECISION_FLOOR;
    CHECK_AT_MOST(info->gap, 2e-8);
    lapis_solver_free(s);
    lapis_ctx_free(ctx);
  }
  assert_in_range(ended, 19, 20);
}

/* A block of one value over part of the samples is found and filled. */
static void refill_fills_what_is_covered(void **state)
{
  problem p = make(40, 60, 2, 0, 0, 21);
  for (int64_t k = 0; k < 2400; k++) p.X[k] = p.D[k] = 0.5 + 0.05 * p.D[k];
  for (int64_t j = 0; j < 60; j += 3)
    for (int64_t i = 0; i < 8; i++) p.X[j * 40 + (7 * j + i) % 40] = -1;
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_rpca_settings set = lapis_rpca_defaults();
  set.refill = 3;
  lapis_solver *s = solve(ctx, &p.data, &set);
  const double *filled = check_result(s, "filled");
  for (int64_t k = 0; k < 2400; k++) CHECK_NEAR(filled[k], p.D[k], 0.05);
  lapis_solver_free(s);
  lapis_ctx_free(ctx);
  drop(&p);
}

/* The rounds one by one, each a solve of its own on what the last one left:
 * entries that D misses by more than tau are not observed. */
static void refill_is_its_rounds(void **state)
{
  problem p = make(30, 40, 2, 0, 0, 5);
  double masked[1200];
  for (int k = 0; k < 1200; k++) p.X[k] = 0.5 + 0.05 * p.D[k];
  for (int j = 0; j < 40; j += 4)
    for (int i = 0; i < 9; i++) p.X[j * 30 + (5 * j + i) % 30] = 0;
  memcpy(masked, p.X, sizeof masked);
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_rpca_settings set = lapis_rpca_defaults();
  set.stop.tol = 1e-9;
  for (int round = 0; round < 3; round++) {
    lapis_data data = {.X = lapis_mat_f64(masked, 30, 40)};
    lapis_solver *s = solve(ctx, &data, &set);
    const double *D = check_result(s, "low_rank");
    for (int k = 0; k < 1200; k++) {
      bool far = fabs(p.X[k] - D[k]) > set.tau;
      masked[k] = !far ? p.X[k] : round < 2 ? NAN : D[k];
    }
    lapis_solver_free(s);
  }
  set.refill = 3;
  lapis_solver *s = solve(ctx, &p.data, &set);
  const double *filled = check_result(s, "filled");
  for (int k = 0; k < 1200; k++) CHECK_NEAR(filled[k], masked[k], 1e-4);
  lapis_solver_free(s);
  lapis_ctx_free(ctx);
  drop(&p);
}

/* Progress is shown every tenth of a second: what an iteration says takes as
 * long. */
static void linger(int level, const char *text, void *user)
{
  (void)level, (void)text, (void)user;
  (void)nanosleep(&(struct timespec){.tv_nsec = 110000000}, NULL);
}

static bool hear(const lapis_progress *now, void *share)
{
  double *most = share;
  if (now->done > *most) *most = now->done;
  return true;
}

/* By the gap, not by the most iterations. */
static void it_says_how_far_it_is(void **state)
{
  problem p = make(30, 40, 2, .05, 0, 5);
  double most = 0;
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_rpca_settings set = lapis_rpca_defaults();
  set.stop.tol = 1e-5;
  assert_int_equal(lapis_ctx_set(ctx, "verbose", "2"), LAPIS_OK);
  lapis_ctx_on_message(ctx, linger, NULL);
  lapis_ctx_on_progress(ctx, hear, &most);
  lapis_solver *s = solve(ctx, &p.data, &set);
  CHECK_AT_LEAST(most, .5);
  lapis_solver_free(s);
  lapis_ctx_free(ctx);
  drop(&p);
}

/* No iteration, or a small lambda: the low-rank part is 0, and a model says so
 * of new samples, too. */
static void a_model_of_rank_0_answers(void **state)
{
  double X[] = {1, 2, NAN, 3, -1, 4, 0, 1};
  lapis_data data = {.X = lapis_mat_f64(X, 2, 4)};
  lapis_ctx *ctx = lapis_ctx_new();
  for (int small = 0; small < 2; small++) {
    lapis_rpca_settings set = lapis_rpca_defaults();
    lapis_model *m;
    lapis_solver *answer;
    if (small)
      set.lambda = 1e-9;
    else
      set.stop.max_iters = 0;
    lapis_solver *s = solve(ctx, &data, &set);
    assert_int_equal(lapis_result_info(s)->rank, 0);
    assert_int_equal(lapis_model_new(s, &m), LAPIS_OK);
    assert_int_equal(lapis_predict_new(ctx, &data, m, NULL, &answer), LAPIS_OK);
    assert_int_equal(lapis_solve(answer), LAPIS_OK);
    const double *low_rank = check_result(answer, "low_rank");
    const double *sparse = check_result(answer, "sparse");
    for (int i = 0; i < 8; i++) {
      CHECK_NEAR(low_rank[i], 0, 0);
      CHECK_NEAR(sparse[i], isnan(X[i]) ? 0 : X[i], 0);
    }
    lapis_solver_free(answer);
    lapis_model_free(m);
    lapis_solver_free(s);
  }
  lapis_ctx_free(ctx);
}

/* ---- refusals -----------------------------------------------------------*/
static void refused(lapis_data data, const lapis_rpca_settings *set,
                    lapis_status wanted, const char *words)
{
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_solver *s;
  lapis_status got = lapis_rpca_new(ctx, &data, set, &s);
  check_refused(ctx, got, wanted, s, words);
  lapis_ctx_free(ctx);
}

static void refusals(void **state)
{
  double X[6] = {1, 2, NAN, NAN, 5, 6};
  lapis_data data = {.X = lapis_mat_f64(X, 2, 3)};
  refused(data, NULL, LAPIS_EMISSING, "2");
  X[2] = INFINITY;
  refused(data, NULL, LAPIS_EDATA, "2");
  data.X = lapis_mat_f64(X, 0, 3);
  refused(data, NULL, LAPIS_ESHAPE, "0");
  X[2] = 1;
  data.X = lapis_mat_f64(X, 2, 3);
  lapis_rpca_settings set = lapis_rpca_defaults();
  set.lambda = 0;
  refused(data, &set, LAPIS_EINVAL, "lambda");
}

int test_rpca(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(verified),
      cmocka_unit_test(certified_on_random_shapes),
      cmocka_unit_test(recovers_what_was_hidden),
      cmocka_unit_test(laws),
      cmocka_unit_test(noise_everywhere_is_said),
      cmocka_unit_test(zeros_are_zero),
      cmocka_unit_test(only_an_answer_is_called_empty),
      cmocka_unit_test(all_errors_are_told),
      LONG(cmocka_unit_test(slow_ones_end_too)),
      cmocka_unit_test(refill_fills_what_is_covered),
      cmocka_unit_test(refill_is_its_rounds),
      cmocka_unit_test(it_says_how_far_it_is),
      cmocka_unit_test(a_model_of_rank_0_answers),
      cmocka_unit_test(refusals),
  };
  return run_cases(tests, NULL, NULL);
}
