/* SVM+: gaps recomputed from outside, verified answers, twins, laws, models,
 * refusals, the published figures. */
#include "svmplus_case.h"

static lapis_svmplus_settings tight(void)
{
  lapis_svmplus_settings set = lapis_svmplus_defaults();
  set.C = set.gamma = 1;
  set.stop.tol = 1e-10;
  set.certificate = true;
  return set;
}

static double farthest(const double *a, const double *b, int64_t n)
{
  double worst = 0;
  for (int64_t i = 0; i < n; i++) worst = fmax(worst, fabs(a[i] - b[i]));
  return worst;
}

/* Scores of new samples through a model; free it. */
static double *predicted(lapis_ctx *ctx, lapis_solver *s, const lapis_mat *X)
{
  lapis_model *m;
  lapis_solver *p;
  lapis_data data = {.X = *X};
  lapis_mat scores;
  assert_int_equal(lapis_model_new(s, &m), 0);
  if (lapis_predict_new(ctx, &data, m, NULL, &p) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  assert_int_equal(lapis_solve(p), 0);
  assert_int_equal(lapis_result_get(p, "scores", &scores), 0);
  size_t bytes = (size_t)(scores.rows * scores.cols) * sizeof(double);
  double *out = malloc(bytes);
  memcpy(out, scores.val, bytes);
  lapis_solver_free(p);
  lapis_model_free(m);
  return out;
}

/* ---- verified problems --------------------------------------------------*/
static lapis_data fixture_data(const fixture *f)
{
  return (lapis_data){.X = fixture_mat(&f->data, "X"),
                      .Y = fixture_mat(&f->data, "Y"),
                      .P = fixture_mat(&f->data, "P")};
}

static void check_decisions(const fixture *f, lapis_solver *s, double tolerance)
{
  lapis_mat X = fixture_mat(&f->data, "X_test");
  lapis_mat want = fixture_mat(&f->expected, "decision");
  double *got = predicted(f->ctx, s, &X);
  CHECK_AT_MOST(farthest(got, want.val, X.cols), tolerance);
  free(got);
}

static void check_linear(const char *name)
{
  fixture f;
  fixture_open(&f, name, true);
  lapis_data data = fixture_data(&f);
  lapis_svmplus_settings set = tight();
  set.C = fixture_number(&f, "C");
  set.gamma = fixture_number(&f, "gamma");
  lapis_solver *s = sv_solve(f.ctx, &data, &set);
  const lapis_info *info = lapis_result_info(s);
  double dual, truth = fixture_number(&f, "dual");
  double gap = sv_linear_gap(&data, sv_array(s, "alpha"), sv_array(s, "zeta"),
                             set.C, set.gamma, &dual);
  CHECK_AT_MOST(fabs(gap), 1e-9);
  CHECK_NEAR(dual, truth, 1e-8 * truth);
  CHECK_NEAR(info->dual, truth, 1e-8 * truth);
  lapis_mat weights = fixture_mat(&f.expected, "weights");
  CHECK_AT_MOST(farthest(sv_array(s, "weights"), weights.val,
                         weights.rows * weights.cols),
                1e-6);
  check_decisions(&f, s, 1e-6);
  lapis_solver_free(s);
  fixture_close(&f);
}

static void verified_linear(void **state)
{
  check_linear("svmplus_linear_C0.1_g0.001");
  check_linear("svmplus_linear_C10_g1");
  check_linear("svmplus_linear_C1_g0.1");
  check_linear("svmplus_linear_C1_g1000");
}

static lapis_svmplus_settings kernel_settings(const fixture *f)
{
  lapis_svmplus_settings set = tight();
  set.kernel = set.kernel_priv = LAPIS_KERNEL_RBF;
  set.C = fixture_number(f, "C");
  set.gamma = fixture_number(f, "gamma");
  set.width = 1 / fixture_number(f, "rbf_gamma");
  set.width_priv = 1 / fixture_number(f, "rbf_gamma_priv");
  return set;
}

static void check_kernel(const char *name)
{
  fixture f;
  fixture_open(&f, name, true);
  lapis_data data = fixture_data(&f);
  lapis_svmplus_settings set = kernel_settings(&f);
  lapis_solver *s = sv_solve(f.ctx, &data, &set);
  double half, truth = fixture_number(&f, "half_aQa");
  double gap = sv_l2_gap(&data, sv_array(s, "alpha"), set.C, set.gamma,
                         set.width, set.width_priv, &half);
  CHECK_AT_MOST(fabs(gap), 1e-9);
  CHECK_NEAR(half, truth, 1e-8 * truth);
  CHECK_NEAR(lapis_result_info(s)->objective, truth, 1e-8 * truth);
  check_decisions(&f, s, 1e-9);
  lapis_solver_free(s);
  fixture_close(&f);
}

static void verified_kernel(void **state)
{
  check_kernel("svmplus_kernel_C1_g1");
  check_kernel("svmplus_kernel_C1_g0.001");
  check_kernel("svmplus_kernel_C100_g1000");
}

static void check_original(const char *name)
{
  fixture f;
  fixture_open(&f, name, true);
  lapis_data data = fixture_data(&f);
  lapis_svmplus_settings set = kernel_settings(&f);
  set.formulation = LAPIS_SVMPLUS_ORIGINAL;
  lapis_solver *s = sv_solve(f.ctx, &data, &set);
  double truth = fixture_number(&f, "objective_of_4");
  CHECK_NEAR(lapis_result_info(s)->objective, truth, 1e-7 * fabs(truth));
  CHECK_AT_MOST(lapis_result_info(s)->gap, 1e-9);
  check_decisions(&f, s, 1e-4);
  lapis_solver_free(s);
  fixture_close(&f);
}

static void verified_original(void **state)
{
  check_original("svmplus_original_C1_g1");
  check_original("svmplus_original_C10_g0.1");
}

/* The primal of the published w and v, which are feasible, against the dual of
 * alpha and zeta. */
static double published_gap(const lapis_data *data, lapis_solver *s, double C,
                            double gamma)
{
  const double *w = sv_array(s, "weights"), *v = sv_array(s, "weights_priv");
  int64_t d = data->X.rows, p = data->P.rows;
  double dual, primal = 0;
  (void)sv_linear_gap(data, sv_array(s, "alpha"), sv_array(s, "zeta"), C, gamma,
                      &dual);
  for (int64_t i = 0; i <= d; i++) primal += w[i] * w[i] / 2;
  for (int64_t i = 0; i <= p; i++) primal += gamma * v[i] * v[i] / 2;
  for (int64_t j = 0; j < data->X.cols; j++) {
    double m = lapis_mat_at(&data->Y, 0, j) * sv_product(&data->X, j, w);
    double slack = sv_product(&data->P, j, v);
    CHECK_AT_MOST(fmax(-slack, 1 - m - slack), 1e-12);
    primal += C * slack;
  }
  return (primal - dual) / fmax(fabs(primal), fabs(dual));
}

/* Where alpha and zeta have lost v. */
static void large_C_over_gamma_is_proved(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  sv_case c = sv_random(7, 60, 6, 4);
  for (int k = 4; k <= 10; k++) {
    lapis_svmplus_settings set = tight();
    double C = set.C = pow(10, k / 2), gamma = set.gamma = C / pow(10, k);
    set.stop.tol = 1e-6;
    lapis_solver *s = sv_solve(ctx, &c.data, &set);
    const lapis_info *info = lapis_result_info(s);
    double gap = published_gap(&c.data, s, C, gamma);
    print_message("C/gamma 1e%d: gap %.1e, said %.1e, status %d\n", k, gap,
                  info->gap, (int)info->status);
    assert_int_equal(info->status, LAPIS_OK);
    CHECK_AT_MOST(gap, 1.01 * info->gap + 1e-10);
    lapis_solver_free(s);
  }
  sv_drop(&c);
  lapis_ctx_free(ctx);
}

/* ---- every (C, gamma) ---------------------------------------------------*/
static void linear_is_certified_everywhere(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  for (int p = 0; p <= 4; p += 4) {
    sv_case c = sv_random(7, 60, 6, p);
    for (int a = -3; a <= 3; a++)
      for (int b = -3; b <= (p > 0 ? 3 : -3); b++) {
        lapis_svmplus_settings set = tight();
        set.C = pow(10, a);
        set.gamma = pow(10, b);
        lapis_solver *s = sv_solve(ctx, &c.data, &set);
        double dual,
            gap = sv_linear_gap(&c.data, sv_array(s, "alpha"),
                                sv_array(s, "zeta"), set.C, set.gamma, &dual);
        /* v = sum (a + s - C) z / gamma: C / gamma eps is what doubles hold */
        CHECK_AT_MOST(fabs(gap), 1e-10 + 1e-13 * set.C / set.gamma);
        CHECK_NEAR(dual, lapis_result_info(s)->dual, 1e-10 * dual);
        lapis_solver_free(s);
      }
    sv_drop(&c);
  }
  lapis_ctx_free(ctx);
}

static void kernel_is_certified_everywhere(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  sv_case c = sv_random(8, 40, 3, 2);
  for (int a = -3; a <= 3; a++)
    for (int b = -3; b <= 3; b++) {
      lapis_svmplus_settings set = tight();
      set.kernel = set.kernel_priv = LAPIS_KERNEL_RBF;
      set.C = pow(10, a);
      set.gamma = pow(10, b);
      set.width = set.width_priv = 4;
      lapis_solver *s = sv_solve(ctx, &c.data, &set);
      double half, gap = sv_l2_gap(&c.data, sv_array(s, "alpha"), set.C,
                                   set.gamma, 4, 4, &half);
      CHECK_AT_MOST(fabs(gap), 1e-8);
      CHECK_NEAR(half, lapis_result_info(s)->objective, 1e-8 * half);
      lapis_solver_free(s);
    }
  sv_drop(&c);
  lapis_ctx_free(ctx);
}

/* From 200 samples on, steps are taken in single precision: what is found and
 * its gap are right to the digits asked for, also where the kernels are nearly
 * singular (few features) and where single precision does not do. */
static void single_precision_is_proved(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  static const struct {
    int64_t d;
    double C, gamma, tol;
  } set_of[] = {{20, 1, 1, 1e-3},      {20, 1, 1, 1e-8},
                {20, 1e3, 1e-3, 1e-8}, {20, 1e-2, 1e3, 1e-8},
                {3, 1, 1, 1e-8},       {3, 1e-2, 1e-2, 1e-8},
                {3, 100, 1e-3, 1e-3},  {3, 1e-3, 1e3, 1e-6}};
  for (size_t k = 0; k < sizeof set_of / sizeof *set_of; k++) {
    int64_t d = set_of[k].d;
    sv_case c = sv_random(60 + k, 260, d, d);
    lapis_svmplus_settings set = tight();
    set.kernel = set.kernel_priv = LAPIS_KERNEL_RBF;
    set.C = set_of[k].C;
    set.gamma = set_of[k].gamma;
    set.stop.tol = set_of[k].tol;
    set.width = set.width_priv = (double)(2 * d);
    lapis_solver *s = sv_solve(ctx, &c.data, &set), *again;
    const lapis_info *info = lapis_result_info(s);
    double half, gap = sv_l2_gap(&c.data, sv_array(s, "alpha"), set.C,
                                 set.gamma, set.width, set.width, &half);
    CHECK_AT_MOST(info->gap, set.stop.tol);
    CHECK_AT_MOST(gap, 1.001 * set.stop.tol);
    CHECK_AT_MOST(gap, info->gap + 1e-3 * set.stop.tol);
    CHECK_NEAR(half, info->objective, 1e-2 * set.stop.tol * half);
    again = sv_solve(ctx, &c.data, &set);
    assert_memory_equal(sv_array(s, "alpha"), sv_array(again, "alpha"),
                        260 * sizeof(double));
    lapis_solver_free(s);
    lapis_solver_free(again);
    sv_drop(&c);
  }
  lapis_ctx_free(ctx);
}

/* Beyond 20,000 samples most stay out of the interior point: alpha is 0 there,
 * or C; what is found is what all samples together find. */
static void few_of_many_samples_decide(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  for (int k = 0; k < 4; k++) {
    int64_t p = k % 2 == 0 ? 0 : 3;
    sv_case c = sv_random(17, 21000, 4, p);
    lapis_svmplus_settings set = tight();
    double dual;
    set.stop.tol = 1e-5;
    set.C = k < 2 ? .1 : 10;
    set.gamma = k < 2 ? 1 : .01;
    lapis_solver *s = sv_solve(ctx, &c.data, &set);
    double gap = sv_linear_gap(&c.data, sv_array(s, "alpha"),
                               sv_array(s, "zeta"), set.C, set.gamma, &dual);
    const lapis_info *info = lapis_result_info(s);
    CHECK_AT_MOST(gap, 1e-5);
    CHECK_NEAR(dual, info->dual, 1e-10 * dual);
    int some = 0;
    for (int i = 0; i < 21000; i++) some += sv_array(s, "alpha")[i] > 0;
    CHECK_AT_MOST((double)some, .9 * 21000); /* ipm alone: all */
    assert_in_range(info->rank, 1, some);
    set.balanced = true; /* weights */
    lapis_solver *few = sv_solve(ctx, &c.data, &set);
    set.solver = LAPIS_SVMPLUS_IPM;
    lapis_solver *all = sv_solve(ctx, &c.data, &set);
    const lapis_info *of[] = {lapis_result_info(few), lapis_result_info(all)};
    CHECK_NEAR(of[0]->objective, of[1]->objective, 2e-5 * of[1]->objective);
    CHECK_AT_MOST(of[0]->gap, 1e-5);
    lapis_solver_free(s);
    lapis_solver_free(few);
    lapis_solver_free(all);
    sv_drop(&c);
  }
  lapis_ctx_free(ctx);
}

/* ---- twins --------------------------------------------------------------*/
static void descent_and_interior_point_agree(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  for (uint64_t seed = 1; seed <= 20; seed++) {
    sv_case c = sv_random(seed, 30 + (int64_t)seed, 1 + (int64_t)seed % 5,
                          (int64_t)seed % 4);
    lapis_svmplus_settings set = tight();
    set.stop.tol = 1e-7;
    set.solver = LAPIS_SVMPLUS_DCD;
    lapis_solver *one = sv_solve(ctx, &c.data, &set);
    set.solver = LAPIS_SVMPLUS_IPM;
    lapis_solver *two = sv_solve(ctx, &c.data, &set);
    double a = lapis_result_info(one)->dual, b = lapis_result_info(two)->dual;
    if (fabs(a - b) > 2e-7 * b)
      fail_msg("seed %d: %.12g %.12g", (int)seed, a, b);
    CHECK_AT_MOST(lapis_result_info(one)->gap, 1e-7);
    lapis_solver_free(one);
    lapis_solver_free(two);
    sv_drop(&c);
  }
  lapis_ctx_free(ctx);
}

/* Rows on demand and a low-rank privileged kernel against whole matrices. */
static void rows_on_demand_agree(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  for (int p = 0; p <= 2; p += room_all() ? 1 : 2) {
    sv_case c = sv_random(20 + (uint64_t)p, 330, 3, p);
    lapis_svmplus_settings set = tight();
    set.kernel = LAPIS_KERNEL_RBF;
    set.stop.tol = 1e-8;
    lapis_solver *one = sv_solve(ctx, &c.data, &set);
    set.cache = 1; /* 24 n^2 bytes do not fit */
    lapis_solver *two = sv_solve(ctx, &c.data, &set);
    double f = lapis_result_info(one)->objective;
    CHECK_NEAR(f, lapis_result_info(two)->objective, 1e-8 * f);
    CHECK_AT_MOST(
        farthest(sv_array(one, "scores"), sv_array(two, "scores"), c.n), 1e-5);
    lapis_solver_free(one);
    lapis_solver_free(two);
    sv_drop(&c);
  }
  lapis_ctx_free(ctx);
}

/* More samples than the rank of the model of the kernel: what it leaves out is
 * made up for, and the answer proves its gap against whole matrices. */
static void rows_reach_the_gap_past_the_model(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  sv_case c = sv_random(23, 1300, 20, 0);
  lapis_svmplus_settings set = tight();
  set.kernel = LAPIS_KERNEL_RBF;
  set.width = 10; /* narrow: eigenvalues fall slowly */
  set.stop.tol = 1e-6;
  lapis_solver *whole = sv_solve(ctx, &c.data, &set);
  set.cache = 1;
  set.stop.tol = 1e-3;
  lapis_solver *rows = sv_solve(ctx, &c.data, &set);
  double f = lapis_result_info(whole)->objective;
  assert_in_range(lapis_result_info(rows)->iterations, 2, 40);
  CHECK_AT_MOST(lapis_result_info(rows)->gap, 1e-3);
  CHECK_AT_MOST(lapis_result_info(rows)->objective, f * (1 + 1e-3));
  CHECK_AT_MOST(f * (1 - 2e-6), lapis_result_info(rows)->objective);
  lapis_solver_free(whole);
  lapis_solver_free(rows);
  sv_drop(&c);
  lapis_ctx_free(ctx);
}

/* Out of time before the first step, and yet within the tolerance: solved. */
static void a_met_tolerance_is_solved(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  sv_case c = sv_random(31, 60, 4, 3);
  lapis_svmplus_settings set = tight();
  set.kernel = set.kernel_priv = LAPIS_KERNEL_RBF;
  set.stop.seconds = 1e-9;
  lapis_solver *s;
  assert_int_equal(lapis_svmplus_new(ctx, &c.data, &set, &s), LAPIS_OK);
  lapis_status status = lapis_solve(s);
  assert_int_equal(lapis_result_info(s)->iterations, 0);
  CHECK_AT_MOST(lapis_result_info(s)->gap, set.stop.tol);
  assert_int_equal(status, LAPIS_OK);
  lapis_solver_free(s);
  sv_drop(&c);
  lapis_ctx_free(ctx);
}

static void check_retuned(lapis_ctx *ctx, const sv_case *c, int64_t rank)
{
  lapis_svmplus_settings set = tight();
  set.kernel = set.kernel_priv = LAPIS_KERNEL_RBF;
  set.rank = rank;
  lapis_solver *s = sv_solve(ctx, &c->data, &set);
  for (int k = 0; k < 16; k++) { /* ratios gamma / C repeat */
    set.C = pow(10, k / 4);
    set.gamma = pow(10, k % 4);
    assert_int_equal(lapis_solver_retune(s, &set), 0);
    assert_true(lapis_solve(s) >= 0);
    lapis_solver *fresh = sv_solve(ctx, &c->data, &set);
    double f = lapis_result_info(fresh)->objective;
    CHECK_NEAR(lapis_result_info(s)->objective, f, 1e-9 * f);
    CHECK_AT_MOST(
        farthest(sv_array(s, "scores"), sv_array(fresh, "scores"), c->n), 1e-9);
    lapis_solver_free(fresh);
  }
  set.kernel = LAPIS_KERNEL_LINEAR;
  assert_int_equal(lapis_solver_retune(s, &set), LAPIS_ENOTBUILT);
  lapis_solver_free(s);
}

static void retuned_is_as_new(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  sv_case c = sv_random(30, 50, 4, 3);
  check_retuned(ctx, &c, -1);
  check_retuned(ctx, &c, 50); /* factors of G */
  sv_drop(&c);
  lapis_ctx_free(ctx);
}

/* A loose tolerance lets rounding take more digits of G, and is kept. */
static void loose_gaps_hold(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  sv_case c = sv_random(31, 60, 4, 3);
  lapis_svmplus_settings set = tight();
  set.kernel = set.kernel_priv = LAPIS_KERNEL_RBF;
  set.width = set.width_priv = 4;
  for (int k = 3; k <= 7; k++) {
    double half;
    set.C = 1e-2;
    set.gamma = pow(10, k);
    set.stop.tol = 1e-3;
    lapis_solver *s = sv_solve(ctx, &c.data, &set);
    double gap =
        sv_l2_gap(&c.data, sv_array(s, "alpha"), set.C, set.gamma, 4, 4, &half);
    CHECK_AT_MOST(gap, 1.001e-3);
    CHECK_NEAR(half, lapis_result_info(s)->objective, 1e-6 * half);
    lapis_solver_free(s);
  }
  sv_drop(&c);
  lapis_ctx_free(ctx);
}

/* ---- laws ---------------------------------------------------------------*/
/* A sample of weight 2 counts as two of weight 1. */
static void weights_count_samples(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  enum { N = 24, D = 3, P = 2 };
  sv_case c = sv_random(41, N, D, P), twice = sv_random(41, 2 * N, D, P);
  double weight[N];
  for (int j = 0; j < N; j++) {
    weight[j] = 2;
    for (int copy = 0; copy < 2; copy++) {
      memcpy(twice.X + (j + copy * N) * D, c.X + j * D, D * sizeof(double));
      memcpy(twice.P + (j + copy * N) * P, c.P + j * P, P * sizeof(double));
      twice.y[j + copy * N] = c.y[j];
    }
  }
  c.data.weight = weight;
  for (int kernel = 0; kernel < 2; kernel++) {
    lapis_svmplus_settings set = tight();
    set.stop.tol = 1e-9;
    if (kernel == 1) {
      set.kernel = set.kernel_priv = LAPIS_KERNEL_RBF;
      set.width = set.width_priv = 3;
    }
    lapis_solver *one = sv_solve(ctx, &c.data, &set);
    lapis_solver *two = sv_solve(ctx, &twice.data, &set);
    CHECK_AT_MOST(farthest(sv_array(one, "scores"), sv_array(two, "scores"), N),
                  1e-6);
    lapis_solver_free(one);
    lapis_solver_free(two);
  }
  sv_drop(&c);
  sv_drop(&twice);
  lapis_ctx_free(ctx);
}

/* One against the rest is what separate binary problems say, over rho. */
static void classes_are_binary_problems(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  enum { N = 45, K = 3 };
  sv_case c = sv_random(50, N, 4, 3);
  double kinds[N], y[N];
  for (int j = 0; j < N; j++) kinds[j] = 10 + j % K;
  for (int kernel = 0; kernel < 2; kernel++) {
    lapis_svmplus_settings set = tight();
    if (kernel == 1) set.kernel = set.kernel_priv = LAPIS_KERNEL_RBF;
    lapis_data data = c.data;
    data.Y = lapis_mat_f64(kinds, 1, N);
    lapis_solver *all = sv_solve(ctx, &data, &set);
    const double *scores = sv_array(all, "scores");
    const double *labels = sv_array(all, "labels");
    for (int k = 0; k < K; k++) {
      for (int j = 0; j < N; j++) y[j] = kinds[j] == 10 + k ? 1 : -1;
      data.Y = lapis_mat_f64(y, 1, N);
      lapis_solver *one = sv_solve(ctx, &data, &set);
      double rho = kernel == 1 ? 2 * lapis_result_info(one)->objective : 1;
      for (int j = 0; j < N; j++)
        CHECK_NEAR(scores[j * K + k], sv_array(one, "scores")[j] / rho, 1e-6);
      lapis_solver_free(one);
    }
    for (int j = 0; j < N; j++)
      for (int k = 0; k < K; k++)
        assert_true(scores[j * K + k] <= scores[j * K + (int)labels[j] - 10]);
    data.Y = lapis_mat_f64(kinds, 1, N);
    double *again = predicted(ctx, all, &data.X);
    CHECK_AT_MOST(farthest(again, scores, K * N), 1e-9);
    free(again);
    lapis_solver_free(all);
  }
  sv_drop(&c);
  lapis_ctx_free(ctx);
}

/* A model answers for its own samples as the solve did, whatever the kernel. */
static void models_answer_alike(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  sv_case c = sv_random(60, 40, 3, 2);
  for (int64_t k = 0; k < c.n * c.d; k++) c.X[k] = fabs(c.X[k]);
  double *K = malloc((size_t)(c.n * c.n) * sizeof *K);
  for (int64_t j = 0; j < c.n; j++)
    for (int64_t i = 0; i < c.n; i++)
      K[j * c.n + i] = sv_rbf(&c.data.X, i, j, 2);
  for (int formulation = 0; formulation < 3; formulation++)
    for (int kernel = 0; kernel < 4; kernel++) {
      lapis_svmplus_settings set = tight();
      set.formulation = formulation;
      set.kernel = kernel;
      lapis_data data = c.data;
      if (kernel == LAPIS_KERNEL_PRECOMPUTED)
        data.X = lapis_mat_f64(K, c.n, c.n);
      lapis_solver *s = sv_solve(ctx, &data, &set);
      double *again = predicted(ctx, s, &data.X);
      CHECK_AT_MOST(farthest(again, sv_array(s, "scores"), c.n), 1e-8);
      free(again);
      lapis_solver_free(s);
    }
  free(K);
  sv_drop(&c);
  lapis_ctx_free(ctx);
}

/* ---- refusals -----------------------------------------------------------*/
static void refuse(lapis_ctx *ctx, const lapis_data *data,
                   const lapis_svmplus_settings *set, lapis_status status,
                   const char *words)
{
  lapis_solver *s;
  assert_int_equal(lapis_svmplus_new(ctx, data, set, &s), status);
  assert_null(s);
  if (!check_has(lapis_ctx_error(ctx), words))
    fail_msg("'%s' lacks '%s'", lapis_ctx_error(ctx), words);
}

static void bad_input_is_refused(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  sv_case c = sv_random(70, 20, 3, 2);
  lapis_svmplus_settings set = tight();
  lapis_data data = c.data;
  double zero[40] = {0}, ones[20];
  for (int j = 0; j < 20; j++) ones[j] = 1;
  data.P.cols = 19;
  refuse(ctx, &data, &set, LAPIS_ESHAPE, "P 19 X 20");
  data.P = lapis_mat_f64(zero, 2, 20);
  refuse(ctx, &data, &set, LAPIS_EDATA, "P");
  data = c.data;
  data.Y = lapis_mat_f64(ones, 1, 20);
  refuse(ctx, &data, &set, LAPIS_EDATA, "");
  data.Y = (lapis_mat){0};
  refuse(ctx, &data, &set, LAPIS_EMISSING, "Y");
  data = c.data;
  c.X[4] = NAN;
  refuse(ctx, &data, &set, LAPIS_EMISSING, "X 2");
  c.X[4] = 0;
  set.C = 0;
  refuse(ctx, &data, &set, LAPIS_EDATA, "C 0");
  set.C = 1;
  set.gamma = -1;
  refuse(ctx, &data, &set, LAPIS_EDATA, "gamma -1");
  set.gamma = 1;
  set.solver = LAPIS_SVMPLUS_SMO;
  refuse(ctx, &data, &set, LAPIS_EINVAL, "");
  set = tight();
  set.kernel = LAPIS_KERNEL_PRECOMPUTED;
  refuse(ctx, &data, &set, LAPIS_ESHAPE, "square");
  double K[400] = {0};
  for (int j = 0; j < 20; j++) K[j * 21] = j == 7 ? -1 : 1;
  data.X = lapis_mat_f64(K, 20, 20);
  refuse(ctx, &data, &set, LAPIS_EDATA, "");
  set = tight();
  set.kernel = LAPIS_KERNEL_CHI2;
  refuse(ctx, &c.data, &set, LAPIS_EDATA, "chi2");
  sv_drop(&c);
  lapis_ctx_free(ctx);
}

static void remember(int level, const char *text, void *user)
{
  size_t used = strlen(user);
  if (level == 0) snprintf((char *)user + used, 512 - used, "%s\n", text);
}

static void check_warning(const lapis_data *data, const char *words)
{
  char said[512] = "";
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_ctx_on_message(ctx, remember, said);
  lapis_svmplus_settings set = tight();
  lapis_solver_free(sv_solve(ctx, data, &set));
  check_says(said, words);
  lapis_ctx_free(ctx);
}

/* The system of the interior point is of order d, however few samples. */
static void a_system_too_large_is_refused(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  sv_case c = sv_random(35, 6, 60000, 2);
  lapis_svmplus_settings set = tight();
  lapis_solver *s = NULL;
  set.solver = LAPIS_SVMPLUS_IPM;
  assert_true(lapis_svmplus_new(ctx, &c.data, &set, &s) < 0);
  assert_non_null(strstr(lapis_ctx_error(ctx), "6 samples of 60000 features"));
  sv_drop(&c);
  lapis_ctx_free(ctx);
}

static void constant_P_is_told(void **state)
{
  sv_case c = sv_random(80, 20, 3, 1);
  for (int j = 0; j < 20; j++) c.P[j] = 3;
  check_warning(&c.data, "uninformative");
  sv_drop(&c);
}

/* Without P nothing is said of it. */
static void constant_X_is_told(void **state)
{
  sv_case c = sv_random(81, 20, 1, 0);
  for (int j = 0; j < 20; j++) c.X[j] = 0;
  check_warning(&c.data, "no feature separates the labels");
  sv_drop(&c);
}

/* ---- MNIST+ [SVMP16 Tables 1 and 2] --------------------------------------*/
typedef struct digits {
  int64_t n, m;
  double *X, *P, *y, *T, *truth; /* 100 x n, 21 x n, n, 100 x m, m */
} digits;

static double *scaled(const lapis_mat *A, double by)
{
  double *out = malloc((size_t)(A->rows * A->cols) * sizeof *out);
  for (int64_t j = 0; j < A->cols; j++) {
    double sum = 0;
    for (int64_t i = 0; i < A->rows; i++) sum += lapis_mat_at(A, i, j);
    for (int64_t i = 0; i < A->rows; i++)
      out[j * A->rows + i] = lapis_mat_at(A, i, j) / (by > 0 ? by : sum);
  }
  return out;
}

static double *signs(const lapis_mat *digit)
{
  int64_t n = digit->rows * digit->cols;
  double *y = malloc((size_t)n * sizeof *y);
  for (int64_t j = 0; j < n; j++)
    y[j] = lapis_mat_at(digit, 0, j) == 5 ? 1 : -1;
  return y;
}

static int64_t right_answers(lapis_ctx *ctx, const lapis_arrays *all,
                             const lapis_svmplus_settings *set, double by_x,
                             double by_p, double *objective)
{
  lapis_mat x = fixture_mat(all, "train_x"), t = fixture_mat(all, "test_x");
  lapis_mat p = fixture_mat(all, "train_poetic");
  lapis_mat dy = fixture_mat(all, "train_digit");
  lapis_mat dt = fixture_mat(all, "test_digit");
  double *X = scaled(&x, by_x), *P = scaled(&p, by_p), *T = scaled(&t, by_x);
  double *y = signs(&dy), *truth = signs(&dt);
  lapis_data data = {.X = lapis_mat_f64(X, x.rows, x.cols),
                     .P = lapis_mat_f64(P, p.rows, p.cols),
                     .Y = lapis_mat_f64(y, 1, x.cols)};
  lapis_solver *s = sv_solve(ctx, &data, set);
  *objective = lapis_result_info(s)->objective;
  lapis_mat fresh = lapis_mat_f64(T, t.rows, t.cols);
  double *f = predicted(ctx, s, &fresh);
  int64_t right = 0;
  for (int64_t j = 0; j < t.cols; j++) right += (f[j] > 0) == (truth[j] > 0);
  lapis_solver_free(s);
  double *spent[] = {X, P, T, y, truth, f};
  for (int k = 0; k < 6; k++) free(spent[k]);
  return right;
}

static void published_figures(void **state)
{
  char path[1200];
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_arrays all;
  const char *root = check_data();
  snprintf(path, sizeof path, "%s/mnist_plus/mnist_plus.npz", root);
  assert_int_equal(lapis_arrays_read(ctx, path, &all), 0);
  lapis_svmplus_settings set = lapis_svmplus_defaults();
  set.C = set.gamma = 1;
  double objective;
  set.kernel = set.kernel_priv = LAPIS_KERNEL_RBF;
  set.formulation = LAPIS_SVMPLUS_ORIGINAL;
  assert_int_equal(right_answers(ctx, &all, &set, 0, 0, &objective), 1738);
  set.formulation = LAPIS_SVMPLUS_AUTO;
  set.stop.tol = 1e-10;
  int64_t right = right_answers(ctx, &all, &set, 0, 0, &objective);
  CHECK_AT_LEAST((double)right, 0.93 * 1866);
  CHECK_NEAR(objective, 0.0108853396467, 1e-8 * 0.0108853396467);
  set.kernel = set.kernel_priv = LAPIS_KERNEL_LINEAR;
  set.C = .316;
  set.gamma = 1e-3;
  right = right_answers(ctx, &all, &set, 255, 5, &objective);
  CHECK_AT_LEAST((double)right, 0.84 * 1866);
  lapis_arrays_free(&all);
  lapis_ctx_free(ctx);
}

int test_svmplus(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(verified_linear),
      cmocka_unit_test(verified_kernel),
      cmocka_unit_test(verified_original),
      cmocka_unit_test(linear_is_certified_everywhere),
      cmocka_unit_test(large_C_over_gamma_is_proved),
      cmocka_unit_test(kernel_is_certified_everywhere),
      cmocka_unit_test(single_precision_is_proved),
      cmocka_unit_test(few_of_many_samples_decide),
      cmocka_unit_test(descent_and_interior_point_agree),
      cmocka_unit_test(rows_on_demand_agree),
      cmocka_unit_test(rows_reach_the_gap_past_the_model),
      cmocka_unit_test(a_met_tolerance_is_solved),
      cmocka_unit_test(retuned_is_as_new),
      cmocka_unit_test(loose_gaps_hold),
      cmocka_unit_test(weights_count_samples),
      cmocka_unit_test(classes_are_binary_problems),
      cmocka_unit_test(models_answer_alike),
      cmocka_unit_test(bad_input_is_refused),
      cmocka_unit_test(a_system_too_large_is_refused),
      cmocka_unit_test(constant_P_is_told),
      cmocka_unit_test(constant_X_is_told),
      cmocka_unit_test(published_figures)};
  return run_cases(tests, NULL, NULL);
}
