/* Features of any size: the answer that the law of the problem promises, or a
 * sentence; never NaN, never "solved" without its proof. */
#include "check.h"

enum { N = 40, D = 6, COUNT = N * D };
static const double factors[] = {1e-150, 1e-100, 1e-9, 1, 1e9, 1e100, 1e150};
enum { FACTORS = sizeof factors / sizeof *factors };

/* ---- data: of rank 2, some entries wrong, below 1 ------------------------*/
typedef struct problem {
  double plain[COUNT], X[COUNT], y[N], bag_y[N], real[N];
  int64_t bag[N];
} problem;

static void make_problem(problem *p)
{
  uint64_t s = 11;
  double B[2 * D];
  for (int i = 0; i < 2 * D; i++) B[i] = 0.1 * check_normal(&s);
  for (int j = 0; j < N; j++) {
    double u = check_normal(&s), v = check_normal(&s);
    for (int i = 0; i < D; i++)
      p->plain[j * D + i] = u * B[i] + v * B[D + i] + 0.005 * check_normal(&s);
    if (j % 4 == 0) p->plain[j * D + j / 4 % D] += 0.4;
    p->y[j] = u > 0 ? 1 : -1;
    p->real[j] = u + 0.01 * check_normal(&s);
    p->bag[j] = j / 4;
    p->bag_y[j] = j / 4 % 2 == 0 ? 1 : -1;
  }
  for (int k = 0; k < COUNT; k++)
    p->plain[k] = fmax(fmin(p->plain[k], 0.9), -0.9);
}

typedef struct kind {
  const char *method, *key, *value; /* a setting, or NULL */
  bool real, bags, positive, labels;
  bool law; /* always solved, and as the factor says */
} kind;
static const kind kinds[] = {
    {"rpca", "certificate", "true", .law = true},
    {"rpca", "refill", "2", .law = true},
    {"clean", "certificate", "true", .law = true},
    {"clean", "joint", "true", .law = true},
    {"rr", NULL, NULL, .real = true},
    {"rr", "denoise", "rpca", .real = true},
    {"rlda", NULL, NULL, .labels = true},
    {"rlda", "gamma", "0.1", .labels = true},
    {"linear", NULL, NULL, .labels = true},
    {"trees", "trees", "9", .labels = true},
    {"svmplus", NULL, NULL, .labels = true},
    {"svmplus", "scale", "none", .labels = true},
    {"svmplus", "kernel", "rbf", .labels = true},
    {"misvm", NULL, NULL, .labels = true, .bags = true},
    {"mc", "mu-rel", "0.1", .labels = true},
    {"mc", "variant", "pos", .labels = true, .positive = true},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

typedef union settings {
  char bytes[1024];
  double align;
  void *pointer;
} settings;

static lapis_data data_of(const kind *k, problem *p, double factor)
{
  lapis_data d = {.X = lapis_mat_f64(p->X, D, N)};
  for (int i = 0; i < COUNT; i++)
    p->X[i] = factor * (k->positive ? fabs(p->plain[i]) : p->plain[i]);
  if (k->real) d.Y = lapis_mat_f64(p->real, 1, N);
  if (k->labels) d.Y = lapis_mat_f64(p->y, 1, N);
  if (k->bags) d.Y = lapis_mat_f64(p->bag_y, 1, N);
  if (k->bags) d.group = p->bag;
  return d;
}

static lapis_status solve(lapis_ctx *ctx, const kind *k, const lapis_data *d,
                          double factor, settings *set, lapis_solver **s)
{
  const lapis_method *m = lapis_method_find(k->method);
  lapis_settings_default(m, set);
  if (strcmp(k->method, "clean") == 0)
    ((lapis_clean_settings *)(void *)set)->dictionary = d->X;
  if (k->key != NULL && strcmp(k->key, "refill") == 0)
    ((lapis_rpca_settings *)(void *)set)->tau = 0.2 * factor;
  if (strcmp(k->method, "mc") == 0)
    assert_int_equal(lapis_settings_set(ctx, m, set, "mu-rel", "0.1"), 0);
  if (k->key != NULL)
    assert_int_equal(lapis_settings_set(ctx, m, set, k->key, k->value), 0);
  lapis_status status = lapis_solver_new(ctx, m, d, set, s);
  return status < 0 ? status : lapis_solve(*s);
}

/* ---- what is promised ----------------------------------------------------*/
static bool may_have_holes(const char *name)
{
  return strcmp(name, "history") == 0 || strcmp(name, "tried") == 0;
}

static void check_numbers(const kind *k, double factor, const lapis_solver *s)
{
  const char *name;
  for (int i = 0; (name = lapis_result_name(s, i)) != NULL; i++) {
    lapis_mat m;
    assert_int_equal(lapis_result_get(s, name, &m), LAPIS_OK);
    if (may_have_holes(name) || m.dtype != LAPIS_F64) continue;
    for (int64_t j = 0; j < m.cols; j++)
      for (int64_t r = 0; r < m.rows; r++)
        if (!isfinite(lapis_mat_at(&m, r, j)))
          fail_msg("%s x %g: %s holds %g", k->method, factor, name,
                   lapis_mat_at(&m, r, j));
  }
}

static double tolerance_of(lapis_ctx *ctx, const kind *k, const settings *set)
{
  char text[64];
  const lapis_method *m = lapis_method_find(k->method);
  if (strcmp(k->method, "trees") == 0) return NAN; /* nothing converges */
  assert_int_equal(lapis_settings_get(ctx, m, set, "tol", text, sizeof text),
                   0);
  return strtod(text, NULL);
}

/* Solved: the gap is what was asked for, and no bound lies above. */
static void check_proof(lapis_ctx *ctx, const kind *k, double factor,
                        const lapis_solver *s, const settings *set)
{
  const lapis_info *info = lapis_result_info(s);
  double tol = tolerance_of(ctx, k, set);
  if (info->status != LAPIS_OK || isnan(info->gap)) return;
  if (!(info->gap <= tol) || !(info->gap >= -1e-12))
    fail_msg("%s x %g: solved with gap %g", k->method, factor, info->gap);
}

/* |C|_2 by the power method, C d x n. */
static double norm_of(const double *C)
{
  double v[N], size = 0;
  for (int j = 0; j < N; j++) v[j] = 1 + 0.1 * j;
  for (int turn = 0; turn < 300; turn++) {
    double u[D] = {0}, square = 0;
    for (int j = 0; j < N; j++)
      for (int i = 0; i < D; i++) u[i] += C[j * D + i] * v[j];
    for (int j = 0; j < N; j++) {
      v[j] = 0;
      for (int i = 0; i < D; i++) v[j] += C[j * D + i] * u[i];
      square += v[j] * v[j];
    }
    size = sqrt(square);
    for (int j = 0; j < N; j++) v[j] /= size;
  }
  return sqrt(size);
}

/* The bound of rpca from X and the multiplier alone. */
static void check_rpca(const lapis_solver *s, const double *X)
{
  const double *C = check_result(s, "dual"), lambda = 1 / sqrt(N);
  double inner = 0;
  for (int k = 0; k < COUNT; k++) {
    CHECK_AT_MOST(fabs(C[k]), lambda * (1 + 1e-12));
    inner += C[k] * X[k];
  }
  CHECK_AT_MOST(norm_of(C), 1 + 1e-9);
  CHECK_NEAR(lapis_result_info(s)->dual / inner, 1, 1e-9);
}

/* Objective and bound of clean from X, coefficients and multipliers alone. */
static void check_clean(const lapis_solver *s, const double *X)
{
  const double *Z = check_result(s, "coefficients");
  const double *C = check_result(s, "dual"), *w = check_result(s, "weight");
  double primal = 0, dual = 0;
  for (int j = 0; j < N; j++) {
    double square = 0, size = 0, most = 0;
    for (int m = 0; m < N; m++) most = fmax(most, fabs(Z[j * N + m]));
    for (int m = 0; m < N; m++) {
      double inner = 0;
      for (int i = 0; i < D; i++) inner += X[m * D + i] * C[j * D + i];
      square += inner * inner;
      if (most > 0) size += pow(Z[j * N + m] / most, 2);
    }
    CHECK_AT_MOST(square, 1 + 1e-9);
    primal += most * sqrt(size);
    for (int i = 0; i < D; i++) {
      double x = X[j * D + i], c = C[j * D + i];
      for (int m = 0; m < N; m++) x -= X[m * D + i] * Z[j * N + m];
      CHECK_AT_MOST(fabs(c), *w * (1 + 1e-12));
      primal += *w * fabs(x);
      dual += c * X[j * D + i];
    }
  }
  CHECK_NEAR(lapis_result_info(s)->objective / primal, 1, 1e-9);
  CHECK_NEAR(lapis_result_info(s)->dual / dual, 1, 1e-9);
}

/* low_rank is the factor times that of factor 1. */
static void check_law(const kind *k, double factor, const lapis_solver *s,
                      const double *one)
{
  const double *L = check_result(s, "low_rank");
  if (lapis_result_info(s)->status != LAPIS_OK)
    fail_msg("%s x %g: %s", k->method, factor,
             lapis_status_name(lapis_result_info(s)->status));
  for (int i = 0; i < COUNT; i++) CHECK_NEAR(L[i] / factor, one[i], 1e-5);
}

/* ---- every method --------------------------------------------------------*/
static void run(lapis_ctx *ctx, const kind *k, problem *p, double factor,
                double *one)
{
  settings set;
  lapis_solver *s = NULL;
  lapis_data d = data_of(k, p, factor);
  lapis_status status = solve(ctx, k, &d, factor, &set, &s);
  if (status < 0) {
    bool said = strstr(lapis_ctx_error(ctx), k->method) != NULL;
    bool kind_of = status == LAPIS_EDATA || status == LAPIS_ENUMERIC;
    bool usual =
        factor >= 1e-9 && factor <= 1e9 && strcmp(k->method, "svmplus");
    if (!said || !kind_of || k->law || usual)
      fail_msg("%s x %g: %s", k->method, factor, lapis_ctx_error(ctx));
  } else {
    check_numbers(k, factor, s);
    check_proof(ctx, k, factor, s, &set);
    if (k->law && factor == 1)
      memcpy(one, check_result(s, "low_rank"), COUNT * sizeof *one);
    if (k->law) check_law(k, factor, s, one);
    bool proof = k->key != NULL && strcmp(k->key, "certificate") == 0;
    if (proof && strcmp(k->method, "rpca") == 0) check_rpca(s, p->X);
    if (proof && strcmp(k->method, "clean") == 0) check_clean(s, p->X);
  }
  lapis_solver_free(s);
}

static lapis_ctx *begin(problem *p)
{
  lapis_ctx *ctx = lapis_ctx_new();
  assert_int_equal(lapis_ctx_set(ctx, "threads", "1"), LAPIS_OK);
  make_problem(p);
  return ctx;
}

static void any_size_is_solved_or_refused(void **state)
{
  problem p;
  double one[COUNT];
  lapis_ctx *ctx = begin(&p);
  for (int k = 0; k < KINDS; k++) {
    run(ctx, &kinds[k], &p, 1, one);
    for (int f = 0; f < FACTORS; f++) run(ctx, &kinds[k], &p, factors[f], one);
  }
  lapis_ctx_free(ctx);
}

/* Powers of two round nothing: the same bits. */
static void powers_of_two_keep_the_bits(void **state)
{
  problem p;
  double one[COUNT];
  lapis_ctx *ctx = begin(&p);
  for (int k = 0; k < KINDS; k++) {
    for (int e = -100; kinds[k].law && e <= 400; e += 500) {
      settings set;
      lapis_solver *s = NULL;
      lapis_data d = data_of(&kinds[k], &p, ldexp(1, e));
      assert_true(solve(ctx, &kinds[k], &d, ldexp(1, e), &set, &s) >= 0);
      const double *L = check_result(s, "low_rank");
      if (e < 0)
        for (int i = 0; i < COUNT; i++) one[i] = ldexp(L[i], -e);
      else
        for (int i = 0; i < COUNT; i++) assert_true(ldexp(L[i], -e) == one[i]);
      lapis_solver_free(s);
    }
  }
  lapis_ctx_free(ctx);
}

/* How many labels a linear fit of features times factor tells. */
static int right_of(lapis_ctx *ctx, problem *p, double factor)
{
  settings set;
  lapis_solver *s = NULL;
  const kind k = {"linear", NULL, NULL, .labels = true};
  lapis_data d = data_of(&k, p, factor);
  /* at 1e100 nothing can be proved of it */
  lapis_status status = solve(ctx, &k, &d, 1, &set, &s);
  assert_int_equal(status, factor > 1e50 ? LAPIS_PRECISION_FLOOR : LAPIS_OK);
  const double *scores = check_result(s, "scores");
  int right = 0;
  for (int j = 0; j < N; j++) right += scores[j] * p->y[j] > 0;
  lapis_solver_free(s);
  return right;
}

static void linear_finds_large_features(void **state)
{
  problem p;
  lapis_ctx *ctx = lapis_ctx_new();
  make_problem(&p);
  int usual = right_of(ctx, &p, 1e4), large = right_of(ctx, &p, 1e100);
  print_message("%d and %d of %d\n", usual, large, N);
  assert_true(large >= usual - 1 && large > N * 3 / 4);
  lapis_ctx_free(ctx);
}

int test_units(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_size_is_solved_or_refused),
      cmocka_unit_test(powers_of_two_keep_the_bits),
      cmocka_unit_test(linear_finds_large_features)};
  return run_cases(tests, NULL, NULL);
}
