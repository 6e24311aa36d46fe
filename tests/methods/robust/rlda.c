/* Robust LDA whose lambda and gamma nobody gave, and how scores become
 * classes. */
#include "fixture.h"

enum { D = 5, N = 90, CLASSES = 3, TRIES = 6 };

typedef struct table {
  double X[D * N], Y[N];
  lapis_data data;
} table;

/* Three blobs, features in units from .01 to 1e4, a share of entries wrong. */
static void begin(table *t, uint64_t seed, double wrong)
{
  for (int j = 0; j < N; j++) {
    t->Y[j] = j % CLASSES + 1;
    for (int i = 0; i < D; i++) {
      double unit = pow(10, 1.5 * i - 2), side = (j + i) % CLASSES == 0;
      double x = 3 * side + check_normal(&seed);
      if (check_uniform(&seed) < wrong) x += 30;
      t->X[j * D + i] = unit * (x + 4);
    }
  }
  t->data = (lapis_data){.X = lapis_mat_f64(t->X, D, N),
                         .Y = lapis_mat_f64(t->Y, 1, N)};
}

static lapis_solver *solve(lapis_ctx *ctx, const table *t,
                           const lapis_rr_settings *set)
{
  lapis_solver *s;
  if (lapis_rlda_new(ctx, &t->data, set, &s) < 0 || lapis_solve(s) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  return s;
}

/* Share of t that the model of s tells right. */
static double told(lapis_ctx *ctx, lapis_solver *s, const table *t,
                   const char *knn)
{
  lapis_model *m;
  lapis_solver *p;
  lapis_data data = {.X = t->data.X};
  union {
    double align;
    char bytes[512];
  } how;
  assert_int_equal(lapis_model_new(s, &m), 0);
  const lapis_method *table_of =
      lapis_predict_method(lapis_method_find("rlda"));
  lapis_settings_default(table_of, &how);
  assert_int_equal(lapis_settings_set(ctx, table_of, &how, "knn", knn), 0);
  if (lapis_predict_new(ctx, &data, m, &how, &p) < 0 || lapis_solve(p) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  const double *label = check_result(p, "labels");
  double right = 0;
  for (int j = 0; j < N; j++) right += fabs(label[j] - t->Y[j]) <= 0;
  lapis_solver_free(p);
  lapis_model_free(m);
  return right / N;
}

static void left_open_it_minds_no_units(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  table a, b;
  begin(&a, 1, 0);
  begin(&b, 2, 0);
  lapis_rr_settings set = lapis_rlda_defaults();
  lapis_solver *s = solve(ctx, &a, &set);
  CHECK_AT_LEAST(told(ctx, s, &b, "0"), 0.95);
  /* nothing is wrong in a: no cleaning is worth its while */
  const lapis_rr_settings *used = lapis_result_settings(s);
  CHECK_NEAR(used->lambda, 1e3 / sqrt(N), 1e-12);
  const double *low_rank = check_result(s, "low_rank");
  for (int k = 0; k < D * N; k++)
    CHECK_NEAR(low_rank[k], a.X[k], 1e-5 * (fabs(a.X[k]) + 1));
  lapis_solver_free(s);
  set.gamma = .1; /* as stated: the largest unit decides */
  s = solve(ctx, &a, &set);
  CHECK_AT_MOST(told(ctx, s, &b, "0"), 0.9);
  lapis_solver_free(s);
  lapis_ctx_free(ctx);
}

/* scores = T [D; 1] of what is published, in the units of the data. */
static void check_units(int assign)
{
  lapis_ctx *ctx = lapis_ctx_new();
  table a;
  begin(&a, 3, .05);
  a.X[7] = NAN;
  lapis_rr_settings set = lapis_rlda_defaults();
  set.assign = assign;
  lapis_solver *s = solve(ctx, &a, &set);
  const double *T = check_result(s, "weights"), *f = check_result(s, "scores");
  const double *A = check_result(s, "low_rank"), *E = check_result(s, "sparse");
  for (int j = 0; j < N; j++) {
    for (int k = 0; k < CLASSES; k++) {
      double sum = T[k * (D + 1) + D];
      for (int i = 0; i < D; i++) sum += T[k * (D + 1) + i] * A[j * D + i];
      CHECK_NEAR(f[j * CLASSES + k], sum, 1e-8);
    }
    for (int i = 0; i < D; i++) {
      double x = a.X[j * D + i], made = A[j * D + i] + E[j * D + i];
      if (!isnan(x)) CHECK_NEAR(made, x, 1e-9 * (fabs(x) + 1));
    }
  }
  const double *tried = check_result(s, "tried");
  const lapis_rr_settings *used = lapis_result_settings(s);
  bool there = false;
  for (int t = 0; t < TRIES; t++) {
    const double *of = tried + 6 * t;
    if (isnan(of[2])) continue;
    double p = of[2]; /* a share of N, and its standard error */
    CHECK_NEAR(of[4], sqrt(p * (1 - p) / N), 1e-7);
    there = there || (fabs(of[0] - used->lambda) < 1e-12 &&
                      (!(of[1] > 0) || fabs(of[1] - used->gamma) < 1e-12) &&
                      (int)of[3] == used->denoise);
  }
  assert_true(there);
  lapis_solver_free(s);
  lapis_ctx_free(ctx);
}

static void answers_are_in_the_units_of_the_data(void **state)
{
  check_units(LAPIS_RLDA_AUTO);
  check_units(LAPIS_RLDA_KNN);
  check_units(LAPIS_RLDA_SCORE);
}

/* One setting given: the problem as stated, with the other's old default. */
static void what_is_stated_stays(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_mat none;
  table a;
  begin(&a, 4, 0);
  lapis_rr_settings set = lapis_rlda_defaults(), other = set;
  set.gamma = .1;
  other.lambda = 1 / sqrt(N);
  lapis_solver *s = solve(ctx, &a, &set), *t = solve(ctx, &a, &other);
  assert_memory_equal(check_result(s, "scores"), check_result(t, "scores"),
                      N * CLASSES * sizeof(double));
  assert_int_equal(lapis_result_get(s, "tried", &none), LAPIS_EINVAL);
  lapis_solver_free(s);
  lapis_solver_free(t);
  lapis_ctx_free(ctx);
}

/* One sample a class: no fold can be told by the other, and nothing is. */
static void a_sample_a_class_is_enough(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  table t;
  begin(&t, 7, 0);
  t.data = (lapis_data){.X = lapis_mat_f64(t.X, D, CLASSES),
                        .Y = lapis_mat_f64(t.Y, 1, CLASSES)};
  lapis_rr_settings set = lapis_rlda_defaults();
  lapis_solver *s = solve(ctx, &t, &set);
  for (int j = 0; j < CLASSES; j++)
    CHECK_NEAR(check_result(s, "labels")[j], t.Y[j], 0);
  lapis_solver_free(s);
  lapis_ctx_free(ctx);
}

static void neighbours_may_assign(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  table a, b;
  begin(&a, 5, 0);
  begin(&b, 6, 0);
  lapis_rr_settings set = lapis_rlda_defaults(), by_score;
  set.denoise = LAPIS_RR_NONE;
  by_score = set;
  set.assign = LAPIS_RLDA_KNN;
  lapis_solver *s = solve(ctx, &a, &set), *t = solve(ctx, &a, &by_score);
  CHECK_NEAR(told(ctx, s, &b, "0"), told(ctx, t, &b, "5"), 1e-12);
  CHECK_AT_LEAST(told(ctx, s, &b, "0"), 0.9);
  lapis_solver_free(s);
  lapis_solver_free(t);
  lapis_ctx_free(ctx);
}

static void refusals(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  double X[2 * 6] = {1, 2, 3, 4, 5, 7, 1, 0, 2, 2, 9, 1};
  double Y[2 * 6] = {0, 1, 1, 0, 0, 0, 1, 1, 0, 1, 1, 0};
  lapis_data data = {.X = lapis_mat_f64(X, 2, 6), .Y = lapis_mat_f64(Y, 2, 6)};
  lapis_rr_settings set = lapis_rlda_defaults();
  lapis_solver *s;
  set.assign = LAPIS_RLDA_MEAN;
  lapis_status status = lapis_rlda_new(ctx, &data, &set, &s);
  check_refused(ctx, status, LAPIS_EINVAL, s, "");
  lapis_ctx_free(ctx);
}

/* As irises are: one class far off, two side by side, features that go
 * together. What tells the two is small in plain scores. */
static void as_irises(table *t, uint64_t seed)
{
  begin(t, seed, 0);
  for (int j = 0; j < N; j++) {
    double *x = t->X + j * D, kind = t->Y[j], size = check_normal(&seed);
    for (int i = 0; i < D; i++) x[i] = .4 * check_normal(&seed) + size;
    x[0] += kind > 1 ? 6 + 1.4 * kind : 0;
    x[1] += kind > 1 ? 3 + .7 * kind : 0;
  }
}

static void scores_are_as_long_as_they_vary(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  table a, b;
  double by[2] = {0, 0};
  for (uint64_t seed = 1; seed <= 5; seed++) {
    as_irises(&a, 10 * seed);
    as_irises(&b, 10 * seed + 5);
    lapis_rr_settings set = lapis_rlda_defaults();
    lapis_solver *s = solve(ctx, &a, &set);
    by[0] += told(ctx, s, &b, "0") / 5;
    lapis_solver_free(s);
    set.lambda = 10 / sqrt(N); /* as stated: plain distances of scores */
    set.gamma = .1;
    set.assign = LAPIS_RLDA_MEAN;
    s = solve(ctx, &a, &set);
    by[1] += told(ctx, s, &b, "0") / 5;
    lapis_solver_free(s);
  }
  print_message("%.3f left open, %.3f by plain distances\n", by[0], by[1]);
  CHECK_AT_LEAST(by[0], .9);
  CHECK_AT_LEAST(by[0], by[1] + .02);
  lapis_ctx_free(ctx);
}

/* ---- few samples of many features, of which a share is wrong ------------*/
enum { WIDE = 60, FEW = 80, PEOPLE = 8, SPAN = 12 };

/* Where classes lie is the same for every seed: mean + B (centre + own), B
 * WIDE x SPAN; then a share of entries takes any value in [-6, 6]. */
static void begin_wide(double *X, double *Y, uint64_t seed, double wrong)
{
  uint64_t fixed = 77;
  double B[WIDE * SPAN], centre[PEOPLE * SPAN];
  for (int k = 0; k < WIDE * SPAN; k++) B[k] = check_normal(&fixed) / 2;
  for (int k = 0; k < PEOPLE * SPAN; k++) centre[k] = check_normal(&fixed);
  for (int j = 0; j < FEW; j++) {
    double at[SPAN];
    Y[j] = j % PEOPLE + 1;
    for (int r = 0; r < SPAN; r++)
      at[r] = centre[(j % PEOPLE) * SPAN + r] + .4 * check_normal(&seed);
    for (int i = 0; i < WIDE; i++) {
      double x = 3;
      for (int r = 0; r < SPAN; r++) x += B[r * WIDE + i] * at[r];
      if (check_uniform(&seed) < wrong) x = 12 * check_uniform(&seed) - 6;
      X[j * WIDE + i] = x;
    }
  }
}

/* Robust PCA comes first, and new samples are divided as one more of its
 * columns would be; errors of new samples are found without their class. */
static void wrong_entries_are_cleaned_away(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  static double X[WIDE * FEW], Y[FEW], Z[WIDE * FEW], W[FEW];
  begin_wide(X, Y, 1, .15);
  begin_wide(Z, W, 2, .15);
  lapis_data data = {.X = lapis_mat_f64(X, WIDE, FEW),
                     .Y = lapis_mat_f64(Y, 1, FEW)};
  lapis_data asked = {.X = lapis_mat_f64(Z, WIDE, FEW)};
  lapis_rr_settings set = lapis_rlda_defaults();
  lapis_solver *s, *p;
  lapis_model *m;
  if (lapis_rlda_new(ctx, &data, &set, &s) < 0 || lapis_solve(s) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  const lapis_rr_settings *used = lapis_result_settings(s);
  assert_int_equal(used->denoise, LAPIS_RR_RPCA);
  assert_int_equal(lapis_model_new(s, &m), 0);
  if (lapis_predict_new(ctx, &asked, m, NULL, &p) < 0 || lapis_solve(p) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  const double *label = check_result(p, "labels");
  double right = 0;
  for (int j = 0; j < FEW; j++) right += fabs(label[j] - W[j]) <= 0;
  print_message("%.3f right\n", right / FEW);
  CHECK_AT_LEAST(right / FEW, .95);
  lapis_solver_free(p);
  lapis_model_free(m);
  lapis_solver_free(s);
  lapis_ctx_free(ctx);
}

/* ---- light ---------------------------------------------------------------*/
/* Images of begin_wide, none below 0, each under a light of its own. */
static void begin_lit(double *X, double *Y, uint64_t seed)
{
  begin_wide(X, Y, seed, 0);
  for (int j = 0; j < FEW; j++) {
    double light = exp(1.5 * check_normal(&seed));
    for (int i = 0; i < WIDE; i++)
      X[j * WIDE + i] = light * fmax(X[j * WIDE + i], 0);
  }
}

/* Share right, and where `low_rank` is and has to be x itself. */
static double right_of(lapis_ctx *ctx, const lapis_model *m, const double *Z,
                       const double *W, int n)
{
  lapis_data asked = {.X = lapis_mat_f64((double *)Z, WIDE, n)};
  lapis_solver *p;
  if (lapis_predict_new(ctx, &asked, m, NULL, &p) < 0 || lapis_solve(p) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  const double *label = check_result(p, "labels");
  const double *A = check_result(p, "low_rank");
  double right = 0;
  for (int j = 0; j < n; j++) right += fabs(label[j] - W[j]) <= 0;
  for (int k = 0; k < WIDE * n; k++)
    if (!isnan(Z[k])) CHECK_NEAR(A[k], Z[k], 1e-9 * (1 + fabs(Z[k])));
  lapis_solver_free(p);
  return right / n;
}

/* Samples of length 1 leave no light; a model repeats it, gaps do not hinder
 * it, and what nothing was wrong with is not cleaned, nor tried by the joint
 * form. */
static void light_is_taken_out(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  static double X[WIDE * FEW], Y[FEW], Z[WIDE * FEW], W[FEW];
  begin_lit(X, Y, 1);
  begin_lit(Z, W, 2);
  lapis_data data = {.X = lapis_mat_f64(X, WIDE, FEW),
                     .Y = lapis_mat_f64(Y, 1, FEW)};
  lapis_rr_settings set = lapis_rlda_defaults();
  lapis_solver *s;
  lapis_model *m;
  if (lapis_rlda_new(ctx, &data, &set, &s) < 0 || lapis_solve(s) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  const double *tried = check_result(s, "tried");
  CHECK_AT_LEAST(tried[6 + 2], tried[2] + .05); /* length 1, and as it is */
  for (int t = 4; t < TRIES; t++) assert_true(isnan(tried[6 * t + 2]));
  const double *A = check_result(s, "low_rank");
  for (int k = 0; k < WIDE * FEW; k++)
    CHECK_NEAR(A[k], X[k], 1e-9 * (1 + fabs(X[k])));
  assert_int_equal(lapis_model_new(s, &m), 0);
  CHECK_AT_LEAST(right_of(ctx, m, Z, W, FEW), .95);
  for (int j = 0; j < FEW; j += 2)
    for (int i = j % 5; i < WIDE; i += 5) Z[j * WIDE + i] = NAN;
  double all = right_of(ctx, m, Z, W, FEW), each = 0;
  for (int j = 0; j < FEW; j++)
    each += right_of(ctx, m, Z + j * WIDE, W + j, 1) / FEW;
  CHECK_AT_LEAST(all, .9);
  CHECK_NEAR(all, each, 1e-12); /* others do not matter */
  lapis_model_free(m);
  lapis_solver_free(s);
  lapis_ctx_free(ctx);
}

/* A class of one sample is in one fold alone and can never be told: it says
 * nothing of cleaning. */
static void a_single_sample_chooses_nothing(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  static double X[WIDE * FEW], Y[FEW];
  int chosen[2];
  begin_wide(X, Y, 1, .25);
  for (int j = 0; j < FEW; j++) Y[j] = Y[j] > PEOPLE / 2; /* NOLINT: whole */
  Y[FEW - 1] = 2;
  for (int more = 0; more < 2; more++) {
    lapis_data data = {.X = lapis_mat_f64(X, WIDE, FEW - 1 + more),
                       .Y = lapis_mat_f64(Y, 1, FEW - 1 + more)};
    lapis_rr_settings set = lapis_rlda_defaults();
    lapis_solver *s;
    if (lapis_rlda_new(ctx, &data, &set, &s) < 0 || lapis_solve(s) < 0)
      fail_msg("%s", lapis_ctx_error(ctx));
    const lapis_rr_settings *used = lapis_result_settings(s);
    chosen[more] = used->denoise;
    lapis_solver_free(s);
  }
  assert_int_equal(chosen[0], LAPIS_RR_RPCA);
  assert_int_equal(chosen[1], LAPIS_RR_RPCA);
  lapis_ctx_free(ctx);
}

/* ---- a rare class --------------------------------------------------------*/
enum { THIN = 8, CAUSES = 3, FIRST = 200, LATER = 1980, EACH = 33 };

/* One sample in 33 is of the second class, far out on either side of the first
 * cause, so that most of what can be said of plain shares is "the first". */
static void begin_rare(double *X, double *Y, int n, uint64_t mix, uint64_t seed)
{
  double B[THIN * CAUSES];
  for (int k = 0; k < THIN * CAUSES; k++) B[k] = check_normal(&mix);
  for (int j = 0; j < n; j++) {
    double at[CAUSES];
    Y[j] = j % EACH == 0;
    for (int r = 0; r < CAUSES; r++) at[r] = check_normal(&seed);
    double side = check_normal(&seed) + .8 > 0 ? 1 : -1;
    at[0] += Y[j] > 0 ? 2.4 * side : 0;
    for (int i = 0; i < THIN; i++) {
      double x = .3 * check_normal(&seed);
      for (int r = 0; r < CAUSES; r++) x += B[i * CAUSES + r] * at[r];
      X[j * THIN + i] = x;
    }
  }
}

/* Classes count alike in what folds tell, so that to answer the frequent one
 * always is no choice. */
static void a_rare_class_is_told(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  static double X[THIN * FIRST], Y[FIRST], Z[THIN * LATER], W[LATER];
  double told_of[2] = {0, 0};
  const double rare = (FIRST - 1) / EACH + 1, draws = 3; /* NOLINT: whole */
  for (uint64_t seed = 1; seed <= 3; seed++) {
    begin_rare(X, Y, FIRST, seed, 10 * seed);
    begin_rare(Z, W, LATER, seed, 10 * seed + 5);
    lapis_data data = {.X = lapis_mat_f64(X, THIN, FIRST),
                       .Y = lapis_mat_f64(Y, 1, FIRST)};
    lapis_data asked = {.X = lapis_mat_f64(Z, THIN, LATER)};
    lapis_rr_settings set = lapis_rlda_defaults();
    lapis_solver *s, *p;
    lapis_model *m;
    if (lapis_rlda_new(ctx, &data, &set, &s) < 0 || lapis_solve(s) < 0)
      fail_msg("%s", lapis_ctx_error(ctx));
    const double *tried = check_result(s, "tried");
    for (int t = 0; t < TRIES; t++) {
      double q = tried[6 * t + 2];
      double each = 1 / rare + 1 / (FIRST - rare);
      if (isnan(q)) continue;
      CHECK_NEAR(tried[6 * t + 4], sqrt(q * (1 - q) * each) / 2, 1e-7);
    }
    assert_int_equal(lapis_model_new(s, &m), 0);
    if (lapis_predict_new(ctx, &asked, m, NULL, &p) < 0 || lapis_solve(p) < 0)
      fail_msg("%s", lapis_ctx_error(ctx));
    const double *label = check_result(p, "labels");
    for (int j = 0; j < LATER; j++) {
      double all = W[j] > 0 ? LATER / EACH : LATER - LATER / EACH; /* NOLINT */
      told_of[W[j] > 0] += (fabs(label[j] - W[j]) <= 0) / all / draws;
    }
    lapis_solver_free(p);
    lapis_model_free(m);
    lapis_solver_free(s);
  }
  print_message("%.3f and %.3f right\n", told_of[0], told_of[1]);
  CHECK_AT_LEAST(told_of[0], .7);
  CHECK_AT_LEAST(told_of[1], .65);
  lapis_ctx_free(ctx);
}

/* ---- the nuclear form of cleaning ---------------------------------------*/
enum { SIDE = 8, COUNT = 30 };

/* 1/2 c^2 / sigma + lambda |x - u c|_1 */
static double one_line(const double *u, double sigma, double lambda,
                       const double *x, double c)
{
  double sum = c * c / sigma / 2;
  for (int i = 0; i < SIDE; i++)
    sum += isnan(x[i]) ? 0 : lambda * fabs(x[i] - u[i] * c);
  return sum;
}

static double least(const double *u, double sigma, double lambda,
                    const double *x)
{
  double low = -1e3, high = 1e3;
  for (int k = 0; k < 300; k++) {
    double a = low + (high - low) / 3, b = high - (high - low) / 3;
    bool left =
        one_line(u, sigma, lambda, x, a) < one_line(u, sigma, lambda, x, b);
    *(left ? &high : &low) = left ? b : a;
  }
  return one_line(u, sigma, lambda, x, low);
}

/* D = u sigma v' of rank 1, where the least can be found by halving. */
static void nuclear_form_is_solved(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  double a[SIDE], u[SIDE], X[SIDE * COUNT], Z[SIDE * COUNT], sizes[2] = {0, 0};
  uint64_t seed = 9;
  for (int i = 0; i < SIDE; i++) a[i] = 1 + check_uniform(&seed);
  for (int i = 0; i < SIDE; i++) sizes[0] += a[i] * a[i];
  for (int i = 0; i < SIDE; i++) u[i] = a[i] / sqrt(sizes[0]);
  for (int j = 0; j < COUNT; j++) {
    double b = 40 + 10 * check_normal(&seed), own = 40 * check_uniform(&seed);
    sizes[1] += b * b;
    for (int i = 0; i < SIDE; i++) {
      X[j * SIDE + i] = a[i] * b;
      Z[j * SIDE + i] = a[i] * own + (i % 4 == j % 4 ? 60 : 0);
    }
  }
  Z[3] = NAN;
  lapis_data data = {.X = lapis_mat_f64(X, SIDE, COUNT)};
  lapis_data asked = {.X = lapis_mat_f64(Z, SIDE, COUNT)};
  lapis_rpca_settings set = lapis_rpca_defaults();
  lapis_rr_predict_settings how;
  lapis_solver *s, *p;
  lapis_model *m;
  set.lambda = .5;
  set.stop.tol = 1e-10;
  if (lapis_rpca_new(ctx, &data, &set, &s) < 0 || lapis_solve(s) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  assert_int_equal(lapis_model_new(s, &m), 0);
  lapis_settings_default(lapis_predict_method(lapis_method_find("rpca")), &how);
  how.clean = LAPIS_RR_CLEAN_NUCLEAR;
  how.stop.tol = 1e-9;
  if (lapis_predict_new(ctx, &asked, m, &how, &p) < 0 || lapis_solve(p) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  const double *A = check_result(p, "low_rank");
  double sigma = sqrt(sizes[0] * sizes[1]), total = 0;
  for (int j = 0; j < COUNT; j++) {
    const double *x = Z + j * SIDE;
    double c = A[j * SIDE] / u[0], best = least(u, sigma, .5, x);
    CHECK_NEAR(one_line(u, sigma, .5, x, c), best, 1e-7 * best);
    total += best;
  }
  CHECK_NEAR(lapis_result_info(p)->objective, total, 1e-7 * total);
  CHECK_AT_MOST(lapis_result_info(p)->gap, 1e-9);
  lapis_solver_free(p);
  how.joint = true;
  lapis_status status = lapis_predict_new(ctx, &asked, m, &how, &p);
  check_refused(ctx, status, LAPIS_EINVAL, p, "joint");
  lapis_model_free(m);
  lapis_solver_free(s);
  lapis_ctx_free(ctx);
}

int test_rlda(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(left_open_it_minds_no_units),
      cmocka_unit_test(answers_are_in_the_units_of_the_data),
      cmocka_unit_test(what_is_stated_stays),
      cmocka_unit_test(scores_are_as_long_as_they_vary),
      cmocka_unit_test(a_single_sample_chooses_nothing),
      cmocka_unit_test(wrong_entries_are_cleaned_away),
      cmocka_unit_test(light_is_taken_out),
      cmocka_unit_test(a_rare_class_is_told),
      cmocka_unit_test(nuclear_form_is_solved),
      cmocka_unit_test(a_sample_a_class_is_enough),
      cmocka_unit_test(neighbours_may_assign),
      cmocka_unit_test(refusals)};
  return run_cases(tests, NULL, NULL);
}
