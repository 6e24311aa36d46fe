/* Robust regression and LDA: the paper's path, the convex step certified, the
 * regression step, models, refusals. */
#include "methods/robust/robust.h"

#include "fixture.h"
#include "oracle.h"

static lapis_solver *solve(lapis_ctx *ctx, bool lda, const lapis_data *data,
                           const lapis_rr_settings *set)
{
  lapis_solver *s;
  lapis_status made = lda ? lapis_rlda_new(ctx, data, set, &s)
                          : lapis_rr_new(ctx, data, set, &s);
  if (made < 0) fail_msg("%s", lapis_ctx_error(ctx));
  if (lapis_solve(s) < 0) fail_msg("%s", lapis_ctx_error(ctx));
  return s;
}

/* ---- the regression step ------------------------------------------------*/
static void regression_step(void **state)
{
  fixture f;
  fixture_open(&f, "t_update", false);
  /* column-per-sample arrays on disk: views are their transposes */
  lapis_mat Dh = fixture_mat(&f.data, "Dh"), Y = fixture_mat(&f.data, "Y");
  lapis_mat W = fixture_mat(&f.data, "W"), T = fixture_mat(&f.data, "T");
  int64_t d1 = Dh.cols, n = Dh.rows, K = Y.cols;
  double *y = malloc((size_t)(K * n) * sizeof *y), worst = 0, size = 0;
  la h;
  rr_tstep t;
  assert_int_equal(la_open_host(f.ctx, &h), LAPIS_OK);
  assert_int_equal(rr_tstep_new(&h, d1 - 1, n, K, NULL, &t), LAPIS_OK);
  for (int64_t j = 0; j < n; j++) {
    for (int64_t i = 0; i < d1; i++)
      ((double *)t.Dh.data)[j * d1 + i] = lapis_mat_at(&Dh, j, i);
    for (int64_t k = 0; k < K; k++) y[j * K + k] = lapis_mat_at(&Y, j, k);
  }
  assert_int_equal(rr_tstep_set(&h, &t, y, W.val, fixture_number(&f, "gamma")),
                   LAPIS_OK);
  assert_int_equal(rr_tstep_run(&h, &t), LAPIS_OK);
  for (int64_t k = 0; k < K; k++)
    for (int64_t i = 0; i < d1; i++) {
      double want = lapis_mat_at(&T, i, k);
      worst = fmax(worst, fabs(((double *)t.Tt.data)[k * d1 + i] - want));
      size = fmax(size, fabs(want));
    }
  CHECK_AT_MOST(worst, 1e-9 * size);
  rr_tstep_free(&h, &t);
  free(y);
  fixture_close(&f);
}

/* ---- the paper's path ---------------------------------------------------*/
/* J from X, Y, W, T' and D alone. */
static double objective(const lapis_data *data, const lapis_mat *W,
                        const lapis_rr_settings *set, const double *T,
                        const double *D, bool with_gamma)
{
  int64_t d = data->X.rows, n = data->X.cols, K = data->Y.rows;
  double nuclear, unused, l1 = 0, fit = 0, size = 0;
  oracle_norms(D, d, n, &nuclear, &unused);
  for (int64_t k = 0; k < K * (d + 1); k++) size += T[k] * T[k];
  for (int64_t j = 0; j < n; j++) {
    double miss[16];
    for (int64_t i = 0; i < d; i++) {
      double x = lapis_mat_at(&data->X, i, j);
      if (!isnan(x)) l1 += fabs(x - D[j * d + i]);
    }
    for (int64_t k = 0; k < K; k++) {
      miss[k] = lapis_mat_at(&data->Y, k, j) - T[k * (d + 1) + d];
      for (int64_t i = 0; i < d; i++)
        miss[k] -= T[k * (d + 1) + i] * D[j * d + i];
    }
    for (int64_t k = 0; k < K; k++) {
      double v = 0;
      for (int64_t c = 0; c < K; c++) v += lapis_mat_at(W, c, k) * miss[c];
      fit += v * v;
    }
  }
  return nuclear + set->lambda * l1 +
         set->eta / 2 * (fit + (with_gamma ? set->gamma * size : 0));
}

static void check_path(const char *name, bool lda)
{
  fixture f;
  fixture_open(&f, name, false);
  lapis_data data = {.X = fixture_mat(&f.data, "X"),
                     .Y = fixture_mat(&f.data, "Y")};
  lapis_mat W = fixture_mat(&f.data, "W");
  lapis_rr_settings set = lda ? lapis_rlda_defaults() : lapis_rr_defaults();
  set.eta = fixture_number(&f, "eta");
  set.lambda = fixture_number(&f, "lam");
  set.gamma = fixture_number(&f, "gamma");
  set.rho = fixture_number(&f, "rho");
  if (!lda) set.W = W;
  lapis_solver *s = solve(f.ctx, lda, &data, &set);
  const lapis_info *info = lapis_result_info(s);
  double J = objective(&data, &W, &set, check_result(s, "weights"),
                       check_result(s, "low_rank"), true);
  double alm = fixture_number(&f, "objective_alm");
  CHECK_AT_MOST(J, alm * (1 + 1e-6));
  CHECK_NEAR(info->objective, J, 1e-11 * J);
  CHECK_NEAR((double)info->iterations, fixture_number(&f, "iterations"), 1);
  assert_true(isnan(info->gap));
  lapis_solver_free(s);
  fixture_close(&f);
}

static void papers_path(void **state)
{
  check_path("rr_alm_synth", false);
  check_path("rr_alm_lowrank", false);
  check_path("rr_alm_missing_rlda", false);
  check_path("rr_alm_missing_rlda", true);
}

/* ---- fixed weights ------------------------------------------------------*/
static void check_fixed(const char *name)
{
  fixture f;
  fixture_open(&f, name, true);
  lapis_data data = {.X = fixture_mat(&f.data, "X"),
                     .Y = fixture_mat(&f.data, "Y")};
  lapis_rr_settings set = lapis_rr_defaults();
  set.eta = fixture_number(&f, "eta");
  set.lambda = fixture_number(&f, "lam");
  set.W = fixture_mat(&f.data, "W");
  set.weights = fixture_mat(&f.expected, "weights");
  set.stop.tol = 1e-8;
  lapis_solver *s = solve(f.ctx, false, &data, &set);
  double J = objective(&data, &set.W, &set, set.weights.val,
                       check_result(s, "low_rank"), false);
  double best = fixture_number(&f, "objective");
  CHECK_NEAR(J, best, 1e-7 * best);
  CHECK_NEAR(lapis_result_info(s)->objective, J, 1e-12 * J);
  CHECK_AT_MOST(lapis_result_info(s)->gap, 1e-8);
  CHECK_AT_MOST(lapis_result_info(s)->dual, best * (1 + 1e-12));
  lapis_solver_free(s);
  fixture_close(&f);
}

static void fixed_weights(void **state)
{
  check_fixed("rr_fixedT_synth");
  check_fixed("rr_fixedT_lowrank");
  check_fixed("rr_fixedT_missing_multilabelW");
  check_fixed("rpca_pcp");
  check_fixed("rpca_missing");
}

/* Where features are all 0 the first copy of D stands still at once; that is
 * no floor while the fit's moves. */
static void fixed_weights_of_zeros(void **state)
{
  double X[12] = {0}, Y[4] = {0.2, -0.4, 0.1, 0.6}, T[4] = {1, 2, -1, 0.5};
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_data data = {.X = lapis_mat_f64(X, 3, 4), .Y = lapis_mat_f64(Y, 1, 4)};
  lapis_rr_settings set = lapis_rr_defaults();
  double one = 1;
  lapis_mat W = lapis_mat_f64(&one, 1, 1);
  set.weights = lapis_mat_f64(T, 4, 1);
  set.eta = 1;
  set.lambda = 0.1;
  set.stop.tol = 1e-8;
  lapis_solver *s = solve(ctx, false, &data, &set);
  const lapis_info *info = lapis_result_info(s);
  assert_int_equal(info->status, LAPIS_OK);
  CHECK_AT_MOST(info->gap, 1e-8);
  double J = objective(&data, &W, &set, T, check_result(s, "low_rank"), false);
  CHECK_NEAR(info->objective, J, 1e-12 * J);
  lapis_solver_free(s);
  lapis_ctx_free(ctx);
}

/* ---- the convex step before another -------------------------------------*/
/* While it is far from its end the convex step takes singular values less
 * exactly (forced here: the way that can).  Whoever shares its workspace
 * afterwards, as the joint path does after refilling, gets them to the last
 * digits again. */
static void steps_leave_svt_exact(void **state)
{
  enum { N = 150 };
  static double X[N * N], W[N * N], A[2][N * N];
  lapis_ctx *ctx = lapis_ctx_new();
  uint64_t seed = 6;
  la h;
  loop l = {.iter = 0};
  rr_dstep step;
  svt_report report;
  for (int i = 0; i < N; i++) W[i * (N + 1)] = pow(0.9, N - i);
  for (int k = 0; k < N * N; k++) X[k] = check_normal(&seed);
  lapis_mat view = lapis_mat_f64(X, N, N);
  assert_int_equal(la_open_host(ctx, &h), LAPIS_OK);
  assert_int_equal(rr_dstep_new(&h, &view, 0, &step), LAPIS_OK);
  op_svt_force(step.svt, SVT_SUBSPACE);
  lapis_stop stop = {.tol = 0, .max_iters = 1, .seconds = INFINITY};
  assert_int_equal(loop_begin(&l, ctx, "rr", &stop, 6, rr_dstep_columns),
                   LAPIS_OK);
  assert_int_equal(rr_dstep_start(&step, 0.1, false), LAPIS_OK);
  assert_int_equal(rr_dstep_run(&step, &l, stop.tol), LAPIS_OK);
  for (int k = 0; k < 2; k++) {
    la_array from = la_wrap(W, N, N), to = la_wrap(A[k], N, N);
    assert_int_equal(op_svt_apply(step.svt, &from, 0.5, &to, &report),
                     LAPIS_OK);
    assert_int_equal(report.way, k == 0 ? SVT_SUBSPACE : SVT_FULL);
    op_svt_force(step.svt, SVT_FULL);
  }
  double worst = 0;
  for (int k = 0; k < N * N; k++) worst = fmax(worst, fabs(A[0][k] - A[1][k]));
  CHECK_AT_MOST(worst, 1e-10);
  rr_dstep_free(&step);
  loop_free(&l);
  lapis_ctx_free(ctx);
}

/* ---- models -------------------------------------------------------------*/
enum { D1 = 15, N1 = 90 };

/* Three classes around centres in a plane, one entry in ten wrong. */
static void make_classes(double *X, double *Y, uint64_t seed)
{
  double A[D1 * 2];
  uint64_t fixed = 31;
  for (int k = 0; k < D1 * 2; k++) A[k] = check_normal(&fixed);
  for (int j = 0; j < N1; j++) {
    double a = 2.0943951 * (j % 3), u = 3 * cos(a), v = 3 * sin(a);
    u += 0.3 * check_normal(&seed);
    v += 0.3 * check_normal(&seed);
    Y[j] = 10 * (j % 3);
    for (int i = 0; i < D1; i++) {
      X[j * D1 + i] = A[i] * u + A[D1 + i] * v;
      if (check_uniform(&seed) < 0.1) X[j * D1 + i] += 8;
    }
  }
}

static double share_right(lapis_ctx *ctx, const lapis_model *m,
                          const lapis_data *data, const double *Y, int64_t knn)
{
  lapis_rr_predict_settings set;
  const lapis_method *table = lapis_predict_method(lapis_model_method(m));
  lapis_solver *s;
  double right = 0;
  lapis_settings_default(table, &set);
  set.knn = knn;
  if (lapis_predict_new(ctx, data, m, &set, &s) < 0 || lapis_solve(s) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  const double *labels = check_result(s, "labels");
  check_result(s, "low_rank");
  for (int j = 0; j < N1; j++) right += fabs(labels[j] - Y[j]) < 0.5;
  lapis_solver_free(s);
  return right / N1;
}

static void models_answer_new_samples(void **state)
{
  double X[D1 * N1], Y[N1], Xn[D1 * N1], Yn[N1];
  make_classes(X, Y, 1);
  make_classes(Xn, Yn, 2);
  lapis_data data = {.X = lapis_mat_f64(X, D1, N1),
                     .Y = lapis_mat_f64(Y, 1, N1)};
  lapis_data new = {.X = lapis_mat_f64(Xn, D1, N1)};
  for (int how = 0; how < 2; how++) {
    lapis_ctx *ctx = lapis_ctx_new();
    lapis_rr_settings set = lapis_rlda_defaults();
    set.denoise = how == 0 ? LAPIS_RR_JOINT : LAPIS_RR_RPCA;
    lapis_solver *s = solve(ctx, true, &data, &set);
    lapis_model *m;
    assert_int_equal(lapis_model_new(s, &m), LAPIS_OK);
    lapis_solver_free(s);
    CHECK_AT_LEAST(share_right(ctx, m, &new, Yn, 0), 0.95);
    CHECK_AT_LEAST(share_right(ctx, m, &new, Yn, 5), 0.95);
    lapis_model_free(m);
    lapis_ctx_free(ctx);
  }
}

/* ---- the weight of cleaning ---------------------------------------------*/
static void predict_low_rank(lapis_ctx *ctx, const lapis_model *m,
                             const lapis_data *data, double weight, double *to)
{
  lapis_rr_predict_settings set;
  lapis_solver *s;
  lapis_settings_default(lapis_predict_method(lapis_model_method(m)), &set);
  set.clean_weight = weight;
  set.stop.tol = 1e-9;
  if (lapis_predict_new(ctx, data, m, &set, &s) < 0 || lapis_solve(s) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  memcpy(to, check_result(s, "low_rank"), D1 * N1 * sizeof *to);
  lapis_solver_free(s);
}

/* |z|_2 + w |x - D z|_1 by `clean`, told w in numbers, is the yardstick. */
static void clean_by_number(lapis_ctx *ctx, const lapis_mat *D,
                            const lapis_mat *X, double w, double *to)
{
  lapis_clean_settings set = lapis_clean_defaults();
  lapis_data data = {.X = *X};
  lapis_solver *s;
  char text[40];
  snprintf(text, sizeof text, "%.17g", w);
  set.weight = text;
  set.dictionary = *D;
  set.stop.tol = 1e-9;
  if (lapis_clean_new(ctx, &data, &set, &s) < 0 || lapis_solve(s) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  memcpy(to, check_result(s, "low_rank"), D1 * N1 * sizeof *to);
  lapis_solver_free(s);
}

static double nuclear_and_rank(const double *D, int64_t *rank)
{
  double nuclear, largest, s[N1];
  oracle_norms(D, D1, N1, &nuclear, &largest);
  oracle_singular_values(D, D1, N1, s);
  *rank = 0;
  for (int k = 0; k < N1; k++) *rank += s[k] > 1e-9 * largest;
  return nuclear;
}

/* A factor given to the fit is what predicting uses; one given to predicting
 * takes its place; w is that factor times lambda sqrt(r n)/|D|_*. */
static void weight_of_cleaning(void **state)
{
  double X[D1 * N1], Y[N1], Xn[D1 * N1], Yn[N1], a[D1 * N1], b[D1 * N1];
  make_classes(X, Y, 1);
  make_classes(Xn, Yn, 2);
  lapis_data data = {.X = lapis_mat_f64(X, D1, N1),
                     .Y = lapis_mat_f64(Y, 1, N1)};
  lapis_data new = {.X = lapis_mat_f64(Xn, D1, N1)};
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_rr_settings set = lapis_rlda_defaults();
  set.denoise = LAPIS_RR_RPCA;
  set.clean_weight = 3;
  lapis_solver *s = solve(ctx, true, &data, &set);
  lapis_model *m;
  int64_t rank;
  assert_int_equal(lapis_model_new(s, &m), LAPIS_OK);
  lapis_mat D;
  assert_int_equal(lapis_result_get(s, "low_rank", &D), LAPIS_OK);
  double nuclear = nuclear_and_rank(D.val, &rank);
  double unit = sqrt((double)rank * N1) / sqrt(N1 > D1 ? N1 : D1) / nuclear;
  assert_true(rank < D1);
  for (int k = 0; k < 2; k++) {
    predict_low_rank(ctx, m, &new, k == 0 ? NAN : .5, a);
    clean_by_number(ctx, &D, &new.X, (k == 0 ? 3 : .5) * unit, b);
    for (int i = 0; i < D1 * N1; i++) CHECK_NEAR(a[i], b[i], 1e-6);
  }
  lapis_solver_free(s);
  lapis_model_free(m);
  lapis_ctx_free(ctx);
}

/* Three classes in the plane, which two features span: nothing is an outlier,
 * and the automatic weight answers what the features as they are would, where
 * the plain one loses a class. */
static void weight_of_a_full_dictionary(void **state)
{
  enum { N = 90 };
  static const double at[3][2] = {{-1, -1}, {1.2, -.8}, {.1, 1.3}};
  double X[2 * N], Y[N];
  uint64_t seed = 3;
  for (int j = 0; j < N; j++) {
    Y[j] = j % 3;
    for (int i = 0; i < 2; i++)
      X[2 * j + i] = at[j % 3][i] + .1 * check_normal(&seed);
  }
  lapis_data data = {.X = lapis_mat_f64(X, 2, N), .Y = lapis_mat_f64(Y, 1, N)};
  lapis_ctx *ctx = lapis_ctx_new();
  for (int k = 0; k < 2; k++) {
    lapis_rr_settings set = lapis_rlda_defaults();
    set.gamma = .1; /* as stated */
    if (k == 1) set.clean_weight = 1;
    lapis_solver *s = solve(ctx, true, &data, &set);
    lapis_model *m;
    assert_int_equal(lapis_model_new(s, &m), LAPIS_OK);
    double right = share_right(ctx, m, &data, Y, 0);
    if (k == 0) CHECK_AT_LEAST(right, 1);
    if (k == 1) CHECK_AT_MOST(right, .9);
    lapis_solver_free(s);
    lapis_model_free(m);
  }
  lapis_ctx_free(ctx);
}

/* ---- refusals -----------------------------------------------------------*/
static void refused(bool lda, const lapis_data *data,
                    const lapis_rr_settings *set, lapis_status wanted,
                    const char *words)
{
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_solver *s;
  lapis_status got = lda ? lapis_rlda_new(ctx, data, set, &s)
                         : lapis_rr_new(ctx, data, set, &s);
  check_refused(ctx, got, wanted, s, words);
  lapis_ctx_free(ctx);
}

static void refusals(void **state)
{
  double X[8] = {1, 2, 3, 4, 5, 6, 7, 9}, Y[4] = {1, 2, 3, 4};
  double same[8] = {1, 1, 0, 0, 1, 1, 0, 0},
         empty[8] = {1, 0, 1, 0, 0, 0, 1, 0};
  lapis_data data = {.X = lapis_mat_f64(X, 2, 4)};
  lapis_rr_settings set = lapis_rr_defaults();
  refused(false, &data, &set, LAPIS_EMISSING, "Y");
  data.Y = lapis_mat_f64(Y, 1, 3);
  refused(false, &data, &set, LAPIS_ESHAPE, "3");
  data.Y = lapis_mat_f64(Y, 1, 4);
  set.gamma = 0;
  refused(false, &data, &set, LAPIS_EINVAL, "gamma");
  set.gamma = 1;
  set.W = lapis_mat_f64(X, 2, 2);
  refused(false, &data, &set, LAPIS_ESHAPE, "weight");
  set.W = (lapis_mat){.rows = 0};
  X[2] = X[3] = NAN;
  refused(false, &data, &set, LAPIS_EMISSING, "2");
  X[2] = X[3] = 1;
  data.Y = lapis_mat_f64(same, 2, 4);
  refused(true, &data, &set, LAPIS_EDATA, "");
  data.Y = lapis_mat_f64(empty, 2, 4);
  refused(true, &data, &set, LAPIS_EDATA, "2");
}

int test_rr(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(regression_step),
      cmocka_unit_test(papers_path),
      cmocka_unit_test(fixed_weights),
      cmocka_unit_test(fixed_weights_of_zeros),
      cmocka_unit_test(steps_leave_svt_exact),
      cmocka_unit_test(models_answer_new_samples),
      cmocka_unit_test(weight_of_cleaning),
      cmocka_unit_test(weight_of_a_full_dictionary),
      cmocka_unit_test(refusals),
  };
  return run_cases(tests, NULL, NULL);
}
