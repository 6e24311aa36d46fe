/* Samples without targets, given to methods that learn from those with: the fit
 * is that of the others alone, to the bit, and the rest get what its model
 * says. */
#include "check.h"
#include "cv_points.h"
#include "lapis/choose.h"

enum { N = 40, D = 5, KNOWN = 25 };

typedef struct sample_set {
  double X[N * D], Y[2 * N], P[N * 2], weight[N];
  double Xk[N * D], Yk[2 * N], Pk[N * 2], weightk[N];
  lapis_data all, known; /* known: the labelled ones alone */
  bool has[N];
  int count;
} sample_set;

/* rows of Y: 1 or 2; classes: how many values, 0: real targets. */
static void make(sample_set *s, int rows, int classes)
{
  uint64_t seed = 3;
  memset(s, 0, sizeof *s);
  for (int j = 0; j < N; j++) {
    double *x = s->X + j * D;
    for (int i = 0; i < D; i++) x[i] = check_normal(&seed);
    for (int i = 0; i < 2; i++) s->P[2 * j + i] = x[i] + check_normal(&seed);
    for (int k = 0; k < rows; k++) {
      double f = x[0] + x[1] + .1 * check_normal(&seed);
      double v = k == 0 ? f : x[2] + x[3];
      s->Y[rows * j + k] = classes == 0   ? v
                           : classes == 2 ? v > 0
                                          : (v > -.5) + (v > .5);
    }
    s->weight[j] = 1 + (double)(j % 3);
    s->has[j] = j % 8 < 5;
    if (!s->has[j]) s->Y[rows * j + (rows - 1)] = NAN;
    if (!s->has[j]) s->P[2 * j] = NAN; /* need not be known there */
    if (!s->has[j]) continue;
    int k = s->count++;
    memcpy(s->Xk + k * D, x, D * sizeof *x);
    memcpy(s->Yk + k * rows, s->Y + j * rows, (size_t)rows * sizeof *x);
    memcpy(s->Pk + k * 2, s->P + j * 2, 2 * sizeof *x);
    s->weightk[k] = s->weight[j];
  }
  assert_int_equal(s->count, KNOWN);
  s->all = (lapis_data){.X = lapis_mat_f64(s->X, D, N),
                        .Y = lapis_mat_f64(s->Y, rows, N)};
  s->known = (lapis_data){.X = lapis_mat_f64(s->Xk, D, KNOWN),
                          .Y = lapis_mat_f64(s->Yk, rows, KNOWN)};
}

static void add_priv(sample_set *s)
{
  s->all.P = lapis_mat_f64(s->P, 2, N);
  s->known.P = lapis_mat_f64(s->Pk, 2, KNOWN);
  s->all.weight = s->weight;
  s->known.weight = s->weightk;
}

static lapis_solver *solved(lapis_ctx *ctx, const char *method,
                            const lapis_data *data, const void *set)
{
  lapis_solver *s;
  const lapis_method *m = lapis_method_find(method);
  if (lapis_solver_new(ctx, m, data, set, &s) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  assert_int_equal(lapis_solve(s), LAPIS_OK);
  return s;
}

static void check_column(const lapis_mat *a, int64_t i, const lapis_mat *b,
                         int64_t j)
{
  assert_int_equal(a->rows, b->rows);
  for (int64_t k = 0; k < a->rows; k++) {
    double x = lapis_mat_at(a, k, i), y = lapis_mat_at(b, k, j);
    assert_memory_equal(&x, &y, sizeof x);
  }
}

/* Scores of all against the fit of the known ones and what its model says. */
static void check_answers(lapis_ctx *ctx, sample_set *s, const lapis_solver *a,
                          lapis_solver *b, const char *name)
{
  lapis_mat all, known, asked;
  lapis_model *m;
  lapis_solver *p;
  lapis_data X = {.X = s->all.X};
  assert_int_equal(lapis_model_new(b, &m), 0);
  assert_int_equal(lapis_predict_new(ctx, &X, m, NULL, &p), 0);
  assert_int_equal(lapis_solve(p), 0);
  assert_int_equal(lapis_result_get(a, name, &all), 0);
  assert_int_equal(lapis_result_get(b, name, &known), 0);
  assert_int_equal(lapis_result_get(p, name, &asked), 0);
  assert_int_equal(all.cols, N);
  for (int j = 0, k = 0; j < N; j++) {
    if (s->has[j])
      check_column(&all, j, &known, k++);
    else
      for (int64_t i = 0; i < all.rows; i++) /* BLAS may sum otherwise */
        CHECK_NEAR(lapis_mat_at(&all, i, j), lapis_mat_at(&asked, i, j), 1e-9);
  }
  lapis_solver_free(p);
  lapis_model_free(m);
}

static void check_used(const sample_set *s, const lapis_solver *a)
{
  lapis_mat used;
  assert_int_equal(lapis_result_get(a, "used", &used), 0);
  for (int j = 0; j < N; j++)
    CHECK_NEAR(lapis_mat_at(&used, 0, j), s->has[j], 0);
}

static void one_case(const char *method, const void *set, int rows, int classes,
                     bool priv)
{
  static sample_set s;
  lapis_ctx *ctx = lapis_ctx_new();
  make(&s, rows, classes);
  if (priv) add_priv(&s);
  lapis_solver *a = solved(ctx, method, &s.all, set);
  lapis_solver *b = solved(ctx, method, &s.known, set);
  check_answers(ctx, &s, a, b, "scores");
  if (classes > 0) check_answers(ctx, &s, a, b, "labels");
  check_used(&s, a);
  lapis_model *m; /* the wrapped fit makes a model of its method */
  assert_int_equal(lapis_model_new(a, &m), 0);
  assert_string_equal(lapis_model_method(m)->name, method);
  assert_int_equal(lapis_model_features(m), D);
  lapis_model_free(m);
  assert_int_equal(lapis_solve(a), LAPIS_OK); /* again, over the same memory */
  check_used(&s, a);
  lapis_solver_free(a);
  lapis_solver_free(b);
  lapis_ctx_free(ctx);
}

static void regression(void **state)
{
  lapis_rr_settings set = lapis_rr_defaults();
  set.stop.tol = 1e-6;
  one_case("rr", &set, 1, 0, false);
  one_case("rr", &set, 2, 0, false); /* one of two targets: not learnt from */
  set.denoise = LAPIS_RR_NONE;
  one_case("rr", &set, 1, 0, false);
}

static void discriminants(void **state)
{
  lapis_rr_settings set = lapis_rlda_defaults();
  set.stop.tol = 1e-5;
  one_case("rlda", &set, 1, 2, false); /* settings are chosen */
  one_case("rlda", &set, 1, 3, false);
  set.gamma = .1;
  one_case("rlda", &set, 1, 3, false);
}

static void machines(void **state)
{
  lapis_svmplus_settings set = lapis_svmplus_defaults();
  set.C = set.gamma = 1;
  one_case("svmplus", &set, 1, 2, false);
  one_case("svmplus", &set, 1, 3, true);
  set.certificate = true;
  one_case("svmplus", &set, 1, 2, true);
  set.kernel = LAPIS_KERNEL_RBF;
  one_case("svmplus", &set, 1, 3, true);
  one_case("svmplus", &set, 2, 2, false);
}

/* Those who were not learnt from have no part in the proof. */
static void multipliers_of_the_others_are_0(void **state)
{
  static sample_set s;
  lapis_mat alpha;
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_svmplus_settings set = lapis_svmplus_defaults();
  set.C = set.gamma = 1;
  set.certificate = true;
  make(&s, 1, 2);
  lapis_solver *a = solved(ctx, "svmplus", &s.all, &set);
  assert_int_equal(lapis_result_get(a, "alpha", &alpha), 0);
  double sum = 0;
  for (int j = 0; j < N; j++) {
    sum += lapis_mat_at(&alpha, 0, j);
    if (!s.has[j]) CHECK_NEAR(lapis_mat_at(&alpha, 0, j), 0, 0);
  }
  assert_true(sum > 0);
  lapis_solver_free(a);
  lapis_ctx_free(ctx);
}

static void refuse(lapis_ctx *ctx, const char *method, const lapis_data *data,
                   const void *set, const char *words)
{
  lapis_solver *s;
  int status = lapis_solver_new(ctx, lapis_method_find(method), data, set, &s);
  if (status >= 0 || !check_has(lapis_ctx_error(ctx), words))
    fail_msg("%d, '%s' ('%s' wanted)", status, lapis_ctx_error(ctx), words);
}

static void hear(int level, const char *text, void *to)
{
  if (level == 0) snprintf(to, 400, "%s", text);
}

/* Rows are named as they were given, in the fit and in the answers. */
static void refusals(void **state)
{
  static sample_set s;
  lapis_ctx *ctx = lapis_ctx_new();
  make(&s, 1, 2);
  add_priv(&s);
  s.P[2 * 8] = NAN; /* row 9 has a label */
  refuse(ctx, "svmplus", &s.all, NULL, "P 9 1");
  make(&s, 1, 2);
  s.weight[9] = -1; /* row 10 is the 7th that has one */
  s.all.weight = s.weight;
  refuse(ctx, "svmplus", &s.all, NULL, "weight 10 -1");
  s.all.weight = NULL;
  lapis_svmplus_settings chi2 = lapis_svmplus_defaults();
  chi2.C = chi2.gamma = 1;
  chi2.kernel = LAPIS_KERNEL_CHI2;
  for (int k = 0; k < N * D; k++) s.X[k] = fabs(s.X[k]);
  s.X[8 * D] = -1;
  refuse(ctx, "svmplus", &s.all, &chi2, "X -1 9 1");
  char heard[400] = "";
  lapis_rr_settings rr = lapis_rr_defaults();
  make(&s, 1, 2);
  for (int i = 0; i < D; i++) s.X[14 * D + i] = NAN;
  lapis_ctx_on_message(ctx, hear, heard);
  lapis_solver_free(solved(ctx, "rr", &s.all, &rr));
  assert_non_null(strstr(heard, "row 15 of X: no feature"));
  make(&s, 1, 2);
  s.X[6 * D] = NAN; /* row 7 has no label, and is answered */
  lapis_svmplus_settings plain = lapis_svmplus_defaults();
  plain.C = plain.gamma = 1;
  lapis_solver_free(solved(ctx, "svmplus", &s.all, &plain));
  s.X[8 * D] = NAN; /* row 9 has one */
  refuse(ctx, "svmplus", &s.all, NULL, "X 9");
  for (int i = 0; i < D; i++) s.X[8 * D + i] = NAN;
  refuse(ctx, "rlda", &s.all, NULL, "9");
  s.Y[20] = INFINITY;
  refuse(ctx, "rr", &s.all, NULL, "21");
  for (int j = 0; j < N; j++) s.Y[j] = NAN;
  refuse(ctx, "rr", &s.all, NULL, "");
  lapis_svmplus_settings set = lapis_svmplus_defaults();
  set.C = set.gamma = 1;
  set.kernel = LAPIS_KERNEL_PRECOMPUTED;
  refuse(ctx, "svmplus", &s.all, &set, "");
  s.Y[0] = 1;
  refuse(ctx, "svmplus", &s.all, &set, "");
  lapis_ctx_free(ctx);
}

/* ... also in folds, which hold some of the rows, of which some are known. */
static void folds_name_rows_of_all(void **state)
{
  static const char *const maps[] = {NULL, "standard", "scale:2"};
  static sample_set s;
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_svmplus_settings svm = lapis_svmplus_defaults();
  lapis_cv_options o = lapis_cv_defaults();
  lapis_grid grid = {"C", 1, (const char *const[]){"1"}};
  (void)state;
  svm.gamma = 1;
  for (int k = 0; k < 3; k++) {
    lapis_solver *cv;
    make(&s, 1, 2);
    s.X[36 * D + 1] = INFINITY; /* row 37 has a label */
    o.map = maps[k];
    lapis_status status = cv_run(ctx, lapis_method_find("svmplus"), &s.all,
                                 &svm, &o, &grid, 1, &cv);
    check_says(lapis_ctx_error(ctx), "37 2");
    lapis_solver_free(status >= 0 ? cv : NULL);
  }
  lapis_ctx_free(ctx);
}

/* Folds hide labels of the known; rows without any are never judged. */
static void folds_judge_the_known(void **state)
{
  static sample_set s;
  lapis_ctx *ctx = lapis_ctx_new();
  make(&s, 1, 2);
  const char *values[] = {".1", "1"};
  lapis_grid grid = {.name = "C", .value = values, .count = 2};
  lapis_solver *cv;
  lapis_svmplus_settings set = lapis_svmplus_defaults();
  set.C = set.gamma = 1;
  assert_int_equal(cv_run(ctx, lapis_method_find("svmplus"), &s.all, &set, NULL,
                          &grid, 1, &cv),
                   0);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(cv_at(cv, i).folds, 5);
    CHECK_AT_LEAST(cv_at(cv, i).mean, .55);
  }
  lapis_solver_free(cv);
  lapis_ctx_free(ctx);
}

int test_labelled(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(regression),
      cmocka_unit_test(discriminants),
      cmocka_unit_test(machines),
      cmocka_unit_test(multipliers_of_the_others_are_0),
      cmocka_unit_test(refusals),
      cmocka_unit_test(folds_name_rows_of_all),
      cmocka_unit_test(folds_judge_the_known),
  };
  return run_cases(tests, NULL, NULL);
}
