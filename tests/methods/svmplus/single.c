/* Kernel SVM+ in single precision: where it may be believed, and where it
 * hands over to double. */
#include "methods/svmplus/svmplus.h"
#include "svmplus_case.h"

/* Calls of what only double precision needs. */
static int in_double;
lapis_status __real_sv_gram_slack(sv_gram *k, double C, double gamma,
                                  const double *c);
lapis_status __wrap_sv_gram_slack(sv_gram *k, double C, double gamma,
                                  const double *c);
lapis_status __wrap_sv_gram_slack(sv_gram *k, double C, double gamma,
                                  const double *c)
{
  in_double++;
  return __real_sv_gram_slack(k, C, gamma, c);
}

/* The product of single precision, or that it has no numbers for it. */
static bool overflows;
lapis_status __real_sv_single_times(sv_single *x, const double *a, double *g);
lapis_status __wrap_sv_single_times(sv_single *x, const double *a, double *g);
lapis_status __wrap_sv_single_times(sv_single *x, const double *a, double *g)
{
  for (int64_t i = 0; i < x->n && overflows; i++) g[i] = NAN;
  return overflows ? LAPIS_OK : __real_sv_single_times(x, a, g);
}

/* Kt has the eigenvalue 1 - B along (1, -1, 0, 0), and the inverse is a tenth
 * short of it: what is told of the error of Qa holds. */
static void doubt_holds_below_zero(void **state)
{
  enum { N = 4 };
  const double B = 1.9, t = 1, C = 2, up = 1 / (t + 1 + B);
  double K[N * N], Kp[N * N], g[N];
  double y[N] = {1, -1, -1, 1}, a[N] = {.4, .1, .3, .2};
  float inverse[N * N] = {0}, Q[N * N];
  double down = .9 / (t + 1 - B);
  for (int i = 0; i < N * N; i++) K[i] = Kp[i] = -1; /* their 1 is not there */
  for (int i = 0; i < N; i++) {
    K[i * N + i] += 2;
    Kp[i * N + i] += 1;
    inverse[i * N + i] = (float)(i < 2 ? (up + down) / 2 : 1 / (t + 1));
  }
  Kp[1] = Kp[N] = B - 1;
  inverse[1] = inverse[N] = (float)((up - down) / 2);
  lapis_ctx *ctx = lapis_ctx_new();
  la h;
  assert_int_equal(la_open_host(ctx, &h), 0);
  double diag[N];
  sv_single x, given = {.h = &h,
                        .n = N,
                        .K = K,
                        .Kp = Kp,
                        .y = y,
                        .inverse = inverse,
                        .t = t,
                        .C = C,
                        .tol = 1,
                        .below = B - 1,
                        .Q = Q};
  assert_int_equal(sv_single_new(&given, diag, &x), 0);
  assert_int_equal(sv_single_times(&x, a, g), 0);
  double mean = (a[0] + a[1]) / 2 * up, half = (a[0] - a[1]) / 2;
  double u[N] = {mean + half / (t + 1 - B), mean - half / (t + 1 - B),
                 a[2] / (t + 1), a[3] / (t + 1)};
  double off = 0;
  for (int i = 0; i < N; i++)
    off += pow(g[i] - 2 * a[i] - (a[i] - t * u[i]) / C, 2);
  CHECK_AT_LEAST(sqrt(off), 1e-6); /* there is something to be told */
  CHECK_AT_MOST(sqrt(off), x.doubt * (1 + 1e-3));
  sv_single_free(&x);
  lapis_ctx_free(ctx);
}

/* f X'X of as many features as samples, well conditioned. */
static double *products(uint64_t seed, int64_t n, double f)
{
  double *X = malloc((size_t)(n * n) * sizeof *X);
  double *K = malloc((size_t)(n * n) * sizeof *K);
  for (int64_t i = 0; i < n * n; i++) X[i] = check_normal(&seed);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i <= j; i++) {
      double sum = i == j ? (double)n : 0;
      for (int64_t k = 0; k < n; k++) sum += X[i * n + k] * X[j * n + k];
      K[j * n + i] = K[i * n + j] = f * sum / (double)n;
    }
  free(X);
  return K;
}

static lapis_svmplus_settings precomputed(double C, double gamma, double tol)
{
  lapis_svmplus_settings set = lapis_svmplus_defaults();
  set.C = set.gamma = 1;
  set.kernel = set.kernel_priv = LAPIS_KERNEL_PRECOMPUTED;
  set.C = C;
  set.gamma = gamma;
  set.stop.tol = tol;
  set.certificate = true;
  return set;
}

/* G does not matter beside such kernels: the answer is the same in both, and
 * only the smaller one is in reach of single precision. */
static void what_single_cannot_hold_is_done_in_double(void **state)
{
  enum { N = 220 };
  lapis_ctx *ctx = lapis_ctx_new();
  sv_case c = sv_random(3, N, 3, 3);
  double *Kp = products(5, N, 1), found[2];
  const double size[] = {1e30, 1e39};
  for (int k = 0; k < 2; k++) {
    double *K = products(4, N, size[k]);
    lapis_data data = {.X = lapis_mat_f64(K, N, N),
                       .Y = c.data.Y,
                       .P = lapis_mat_f64(Kp, N, N)};
    lapis_svmplus_settings set = precomputed(1, 1, 1e-8);
    in_double = 0;
    lapis_solver *s = sv_solve(ctx, &data, &set);
    assert_int_equal(in_double > 0, k == 1);
    CHECK_AT_MOST(lapis_result_info(s)->gap, 1e-8);
    found[k] = lapis_result_info(s)->objective / size[k];
    lapis_solver_free(s);
    free(K);
  }
  CHECK_NEAR(found[0], found[1], 2e-8 * found[0]);
  free(Kp);
  sv_drop(&c);
  lapis_ctx_free(ctx);
}

static void numbers_that_overflow_are_made_in_double(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  sv_case c = sv_random(10, 220, 5, 5);
  lapis_svmplus_settings set = lapis_svmplus_defaults();
  set.C = set.gamma = 1;
  set.kernel = set.kernel_priv = LAPIS_KERNEL_RBF;
  set.stop.tol = 1e-8;
  lapis_solver *plain = sv_solve(ctx, &c.data, &set);
  overflows = true;
  lapis_solver *s = sv_solve(ctx, &c.data, &set);
  overflows = false;
  double f = lapis_result_info(plain)->objective;
  CHECK_AT_MOST(lapis_result_info(s)->gap, 1e-8);
  CHECK_NEAR(lapis_result_info(s)->objective, f, 2e-8 * f);
  lapis_solver_free(plain);
  lapis_solver_free(s);
  sv_drop(&c);
  lapis_ctx_free(ctx);
}

/* A precomputed kernel may be below 0 by a little: where gamma / C comes near
 * to that, double precision decides. */
static void near_zero_double_decides(void **state)
{
  enum { N = 260 };
  lapis_ctx *ctx = lapis_ctx_new();
  sv_case c = sv_random(6, N, 2, 2);
  double *K = products(7, N, 1), *Kp = products(8, N, 1);
  for (int64_t i = 0; i < N; i++) { /* -1e-7 along (1, -1) of the first two */
    Kp[i] = Kp[i * N] = Kp[N + i] = Kp[i * N + 1] = 0;
  }
  Kp[0] = Kp[N + 1] = 1;
  Kp[1] = Kp[N] = 1 + 1e-7;
  lapis_data data = {
      .X = lapis_mat_f64(K, N, N), .Y = c.data.Y, .P = lapis_mat_f64(Kp, N, N)};
  const double t[] = {4e-7, 1e-2}; /* the shift that is allowed is above 5e-7 */
  for (int k = 0; k < 2; k++) {
    lapis_svmplus_settings set = precomputed(1, t[k], 1e-3);
    in_double = 0;
    lapis_solver *s = sv_solve(ctx, &data, &set);
    assert_int_equal(in_double > 0, k == 0);
    lapis_solver_free(s);
  }
  free(K);
  free(Kp);
  sv_drop(&c);
  lapis_ctx_free(ctx);
}

/* A limit counts what both precisions do, and ends both. */
static void a_limit_ends_both(void **state)
{
  enum { N = 300 };
  lapis_ctx *ctx = lapis_ctx_new();
  sv_case c = sv_random(9, N, 10, 10);
  for (int64_t most = 0; most < 2; most++) {
    lapis_svmplus_settings set = lapis_svmplus_defaults();
    set.C = set.gamma = 1;
    set.kernel = set.kernel_priv = LAPIS_KERNEL_RBF;
    set.width = set.width_priv = 20;
    set.C = 100;
    set.gamma = 1e-3;
    set.stop.tol = 1e-13;
    set.stop.max_iters = most;
    set.certificate = true;
    lapis_solver *s;
    in_double = 0;
    assert_int_equal(lapis_svmplus_new(ctx, &c.data, &set, &s), 0);
    assert_int_equal(lapis_solve(s), LAPIS_MAX_ITERS);
    assert_int_equal(in_double, 0);
    const lapis_info *info = lapis_result_info(s);
    assert_int_equal(info->iterations, most);
    double half, gap = sv_l2_gap(&c.data, sv_array(s, "alpha"), set.C,
                                 set.gamma, set.width, set.width_priv, &half);
    CHECK_AT_MOST(gap, info->gap + 1e-10); /* what is told holds */
    lapis_solver_free(s);
  }
  sv_drop(&c);
  lapis_ctx_free(ctx);
}

/* ---- what is told of precomputed kernels ---------------------------------*/
/* A x = b in place, A = K + 1 + t I, in long double; x over b. */
static void solve_shifted(const double *K, int64_t n, long double t,
                          long double *b)
{
  long double *L = malloc((size_t)(n * n) * sizeof *L);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = j; i < n; i++) {
      long double sum = (long double)K[j * n + i] + 1 + (i == j ? t : 0);
      for (int64_t k = 0; k < j; k++) sum -= L[i * n + k] * L[j * n + k];
      L[i * n + j] = i == j ? sqrtl(sum) : sum / L[j * n + j];
    }
  for (int64_t i = 0; i < n; i++) {
    for (int64_t k = 0; k < i; k++) b[i] -= L[i * n + k] * b[k];
    b[i] /= L[i * n + i];
  }
  for (int64_t i = n - 1; i >= 0; i--) {
    for (int64_t k = i + 1; k < n; k++) b[i] -= L[k * n + i] * b[k];
    b[i] /= L[i * n + i];
  }
  free(L);
}

/* Of alpha alone; G a = (a - t u) / C, (t I + Kt) u = a. */
static double true_gap(const double *K, const double *Kp, const double *y,
                       const double *a, int64_t n, double C, double gamma)
{
  long double t = (long double)gamma / C, norm = 0, least = INFINITY;
  long double *u = malloc((size_t)n * sizeof *u);
  for (int64_t i = 0; i < n; i++) u[i] = a[i];
  solve_shifted(Kp, n, t, u);
  for (int64_t i = 0; i < n; i++) {
    long double g = (a[i] - t * u[i]) / C;
    for (int64_t j = 0; j < n; j++)
      g += (long double)(y[i] * y[j] * a[j]) * ((long double)K[j * n + i] + 1);
    norm += a[i] * g;
    least = fminl(least, g);
  }
  free(u);
  return (double)((norm - least) / (norm / 2));
}

static double *rbf_of(const lapis_mat *X, double width)
{
  int64_t n = X->cols;
  double *K = malloc((size_t)(n * n) * sizeof *K);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < n; i++) K[j * n + i] = sv_rbf(X, i, j, width);
  return K;
}

/* Few features: kernels are nearly singular. */
static void gaps_of_given_kernels_are_true(void **state)
{
  enum { N = 230 };
  static const int64_t features[] = {2, 6, 60};
  static const double settings[][2] = {{1e3, 1e-3}, {1, 1}, {1e3, 1e3}};
  lapis_ctx *ctx = lapis_ctx_new();
  for (int k = 0; k < 3; k++) {
    int64_t d = features[k];
    sv_case c = sv_random(20 + (uint64_t)k, N, d, d);
    double *K = rbf_of(&c.data.X, 2. * (double)d);
    double *Kp = rbf_of(&c.data.P, 2. * (double)d);
    lapis_data data = {.X = lapis_mat_f64(K, N, N),
                       .Y = c.data.Y,
                       .P = lapis_mat_f64(Kp, N, N)};
    double y[N];
    for (int i = 0; i < N; i++) y[i] = lapis_mat_at(&c.data.Y, 0, i);
    for (int m = k % 2; m < 6; m += room_all() ? 1 : 2) {
      double C = settings[m / 2][0], gamma = settings[m / 2][1];
      double tol = m % 2 == 0 ? 1e-6 : 1e-3;
      lapis_svmplus_settings set = precomputed(C, gamma, tol);
      lapis_solver *s = sv_solve(ctx, &data, &set);
      double told = lapis_result_info(s)->gap;
      double found = true_gap(K, Kp, y, sv_array(s, "alpha"), N, C, gamma);
      CHECK_AT_MOST(told, tol);
      CHECK_AT_MOST(found, told + .05 * tol);
      lapis_solver_free(s);
    }
    free(K);
    free(Kp);
    sv_drop(&c);
  }
  lapis_ctx_free(ctx);
}

/* ---- supports -----------------------------------------------------------*/
/* The largest entry of r - Q_FF d. */
static double left_of(const float *Q, int64_t n, const int64_t *F,
                      int64_t count, const double *d)
{
  double most = 0;
  for (int64_t c = 0; c < count; c++) {
    double sum = (double)(c % 3 + 1);
    for (int64_t e = 0; e < count; e++)
      sum -= (double)Q[F[e] * n + F[c]] * d[F[e]];
    most = fmax(most, fabs(sum));
  }
  return most;
}

/* Samples come, leave and return; what is not in F gets nothing. */
static void supports_may_change(void **state)
{
  enum { N = 200 };
  lapis_ctx *ctx = lapis_ctx_new();
  la h;
  assert_int_equal(la_open_host(ctx, &h), 0);
  double *K = products(11, N, 1), d[N];
  float Q[N * N];
  for (int i = 0; i < N * N; i++) Q[i] = (float)K[i];
  sv_single x = {.h = &h, .n = N, .Q = Q};
  sv_support t;
  assert_int_equal(sv_support_new(ctx, N, N, &t), 0);
  for (int round = 0; round < 5; round++) {
    int64_t F[N], count = 0;
    for (int64_t i = N - 1; i >= 0; i--) {
      bool in = i % 4 != 1;
      if (round == 1) in = in && i % 50 != 7;
      if (round == 2) in = in || i % 60 == 5;
      if (round == 3) in = i % 70 == 5 || (in && i % 80 != 3);
      if (round == 4) in = i % 2 == 0; /* too many for a border */
      if (in) F[count++] = i;
    }
    for (int i = 0; i < N; i++) d[i] = 0;
    for (int64_t c = 0; c < count; c++) d[F[c]] = (double)(c % 3 + 1);
    assert_int_equal(sv_support_set(&x, &t, F, count), 0);
    assert_int_equal(t.edges > 0, round > 0 && round < 4);
    assert_int_equal(sv_support_solve(&x, &t, d), 0);
    CHECK_AT_MOST(left_of(Q, N, F, count, d), 1e-4);
    double outside = 0;
    for (int64_t i = 0; i < N; i++) outside += fabs(d[i]);
    for (int64_t c = 0; c < count; c++) outside -= fabs(d[F[c]]);
    CHECK_AT_MOST(fabs(outside), 1e-12);
  }
  sv_support_free(&t);
  free(K);
  lapis_ctx_free(ctx);
}

int test_single(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(doubt_holds_below_zero),
      cmocka_unit_test(what_single_cannot_hold_is_done_in_double),
      cmocka_unit_test(numbers_that_overflow_are_made_in_double),
      cmocka_unit_test(near_zero_double_decides),
      cmocka_unit_test(a_limit_ends_both),
      cmocka_unit_test(gaps_of_given_kernels_are_true),
      cmocka_unit_test(supports_may_change)};
  return run_cases(tests, NULL, NULL);
}
