/* Models: the fold-in gives training samples their own answers; files; maps. */
#include <unistd.h>

#include "fixture.h"

typedef struct fitted {
  lapis_ctx *ctx;
  fixture f;
  lapis_data data;
  lapis_solver *solver;
  lapis_model *model;
} fitted;

static fitted fit_fixture(const char *name, int variant, int labels, double tol)
{
  fitted t = {.ctx = NULL};
  fixture_open(&t.f, name, false);
  t.ctx = t.f.ctx;
  t.data = (lapis_data){.X = fixture_mat(&t.f.data, "X"),
                        .Y = fixture_mat(&t.f.data, "Y")};
  lapis_mc_settings set = lapis_mc_defaults();
  set.variant = variant;
  set.labels = labels;
  set.lambda = fixture_number(&t.f, "lam");
  set.gamma = fixture_number(&t.f, "gamma");
  set.mu = fixture_number(&t.f, "mu");
  set.stop.tol = tol;
  assert_int_equal(lapis_mc_new(t.ctx, &t.data, &set, &t.solver), LAPIS_OK);
  assert_int_equal(lapis_solve(t.solver), LAPIS_OK);
  if (lapis_model_new(t.solver, &t.model) < 0)
    fail_msg("%s", lapis_ctx_error(t.ctx));
  return t;
}

static void drop(fitted *t)
{
  lapis_model_free(t->model);
  lapis_solver_free(t->solver);
  fixture_close(&t->f);
}

/* Predictions for X by a model. */
static lapis_solver *predict(lapis_ctx *ctx, const lapis_model *m, lapis_mat X,
                             double tol)
{
  lapis_data data = {.X = X};
  lapis_mc_fold_settings set;
  lapis_settings_default(lapis_predict_method(lapis_model_method(m)), &set);
  set.stop.tol = tol;
  lapis_solver *s;
  if (lapis_predict_new(ctx, &data, m, &set, &s) < 0 || lapis_solve(s) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  return s;
}

static bool unlabelled(const lapis_mat *Y, int64_t j)
{
  for (int64_t i = 0; i < Y->rows; i++)
    if (!isnan(lapis_mat_at(Y, i, j))) return false;
  return true;
}

/* The law, sample by sample: what is folded in alone is the fit's column. */
static void check_law(const char *name, int variant, int labels)
{
  fitted t = fit_fixture(name, variant, labels, 1e-11);
  lapis_mat own, scores;
  int tried = 0;
  lapis_result_get(t.solver, "scores", &own);
  for (int64_t j = 0; j < t.data.X.cols; j++) {
    if (!unlabelled(&t.data.Y, j)) continue;
    lapis_mat X = t.data.X;
    X.val = (double *)X.val + j * X.ld;
    X.cols = 1;
    lapis_solver *s = predict(t.ctx, t.model, X, 1e-10);
    assert_int_equal(lapis_result_get(s, "scores", &scores), LAPIS_OK);
    for (int64_t i = 0; i < own.rows; i++)
      CHECK_NEAR(lapis_mat_at(&scores, i, 0), lapis_mat_at(&own, i, j), 1e-6);
    CHECK_AT_MOST(fabs(lapis_result_info(s)->gap), 1e-9);
    lapis_solver_free(s);
    tried++;
  }
  assert_true(tried > 5);
  drop(&t);
}

static void folding_in_a_training_sample(void **state)
{
  check_law("mc1_pm", LAPIS_MC_1, LAPIS_MC_LABELS_PM);
  check_law("pos_pm", LAPIS_MC_POS, LAPIS_MC_LABELS_PM);
  check_law("pos_01_missing", LAPIS_MC_POS, LAPIS_MC_LABELS_01);
  check_law("simplex_pm", LAPIS_MC_SIMPLEX, LAPIS_MC_LABELS_PM);
}

/* Samples unlike those of the fit: theirs with the features turned round. */
static double *turned_round(const lapis_mat *X)
{
  double *to = malloc((size_t)(X->rows * X->cols) * sizeof *to);
  assert_non_null(to);
  for (int64_t j = 0; j < X->cols; j++)
    for (int64_t i = 0; i < X->rows; i++)
      to[j * X->rows + i] = lapis_mat_at(X, X->rows - 1 - i, j);
  return to;
}

/* Takes the place of the library's clock: a look at it takes a second. */
static bool hurries;
double __real_base_seconds(void);
double __wrap_base_seconds(void);
double __wrap_base_seconds(void)
{
  static double now;
  return hurries ? now += 1 : __real_base_seconds();
}

static bool note_iteration(const lapis_progress *now, void *user)
{
  int64_t *shown = user;
  if (strcmp(now->method, "mc fold-in") == 0) shown[now->iter < 10]++;
  return true;
}

/* An iteration of many samples is long: each is shown, also before the first
 * gap is known. */
static void every_iteration_is_shown(void **state)
{
  int64_t shown[2] = {0, 0}; /* from the tenth on; before */
  fitted t = fit_fixture("mc1_pm", LAPIS_MC_1, LAPIS_MC_LABELS_PM, 1e-8);
  lapis_ctx_on_progress(t.ctx, note_iteration, shown);
  hurries = true;
  lapis_solver *s = predict(t.ctx, t.model, t.data.X, 1e-8);
  hurries = false;
  assert_true(lapis_result_info(s)->iterations >= 10);
  assert_int_equal(shown[1], 9);
  assert_int_equal(shown[0] + 9, lapis_result_info(s)->iterations);
  lapis_solver_free(s);
  drop(&t);
}

/* What is printed as an objective may miss a constraint by the residual; the
 * bound beside it never lies above, wherever the run ends. */
static void bounds_stay_below(void **state)
{
  static const char *const name[] = {"mc1_pm", "pos_pm", "pos_01_missing",
                                     "simplex_pm"};
  static const int variant[] = {LAPIS_MC_1, LAPIS_MC_POS, LAPIS_MC_POS,
                                LAPIS_MC_SIMPLEX};
  for (int k = 0; k < 4; k++) {
    bool zero_one = strstr(name[k], "_01") != NULL;
    fitted t =
        fit_fixture(name[k], variant[k],
                    zero_one ? LAPIS_MC_LABELS_01 : LAPIS_MC_LABELS_PM, 1e-6);
    double *x = turned_round(&t.data.X);
    lapis_data data = {.X = lapis_mat_f64(x, t.data.X.rows, t.data.X.cols)};
    for (int64_t iters = 10; iters <= 640; iters *= 2) {
      lapis_mc_fold_settings set;
      lapis_solver *s;
      lapis_mat history, gaps;
      lapis_settings_default(lapis_predict_method(lapis_model_method(t.model)),
                             &set);
      set.stop.tol = 1e-12;
      set.stop.max_iters = iters;
      assert_int_equal(lapis_predict_new(t.ctx, &data, t.model, &set, &s), 0);
      CHECK_AT_LEAST((double)lapis_solve(s), 0);
      const lapis_info *info = lapis_result_info(s);
      CHECK_AT_LEAST(info->gap, -1e-12);
      CHECK_AT_MOST(info->dual, info->objective + 1e-12 * info->objective);
      lapis_result_get(s, "gaps", &gaps);
      for (int64_t j = 0; j < gaps.cols; j++)
        CHECK_AT_LEAST(lapis_mat_at(&gaps, 0, j), -1e-12);
      lapis_result_get(s, "history", &history);
      for (int64_t j = 0; j < history.cols; j++)
        CHECK_AT_LEAST(lapis_mat_at(&history, 3, j), -1e-12);
      lapis_solver_free(s);
    }
    free(x);
    drop(&t);
  }
}

/* The answer for a sample does not depend on what is asked beside it, and a
 * model read back from its file gives the same bits. */
static void files_keep_models(void **state)
{
  fitted t = fit_fixture("pos_pm", LAPIS_MC_POS, LAPIS_MC_LABELS_PM, 1e-9);
  char path[64];
  check_new_file(path, sizeof path);
  lapis_map *map;
  assert_int_equal(lapis_map_new(t.ctx, "scale:2,sqrt", &map), LAPIS_OK);
  assert_int_equal(lapis_map_fit(t.ctx, map, &t.data.X), LAPIS_OK);
  assert_int_equal(lapis_model_set_map(t.ctx, t.model, map, false), LAPIS_OK);
  lapis_map_free(map);
  assert_int_equal(lapis_model_save(t.ctx, t.model, path), LAPIS_OK);
  lapis_model *back;
  if (lapis_model_load(t.ctx, path, &back) < 0)
    fail_msg("%s", lapis_ctx_error(t.ctx));
  lapis_solver *a = predict(t.ctx, t.model, t.data.X, 1e-8);
  lapis_solver *b = predict(t.ctx, back, t.data.X, 1e-8);
  lapis_mat x, y;
  lapis_result_get(a, "scores", &x);
  lapis_result_get(b, "scores", &y);
  assert_memory_equal(x.val, y.val, (size_t)(x.rows * x.cols) * 8);
  lapis_solver_free(a);
  lapis_solver_free(b);
  lapis_model_free(back);
  unlink(path);
  drop(&t);
}

static void refusals(void **state)
{
  fitted t = fit_fixture("pos_pm", LAPIS_MC_POS, LAPIS_MC_LABELS_PM, 1e-6);
  lapis_solver *s;
  lapis_data data = {.X = t.data.X};
  data.X.rows--;
  assert_int_equal(lapis_predict_new(t.ctx, &data, t.model, NULL, &s),
                   LAPIS_ESHAPE);
  check_says(lapis_ctx_error(t.ctx), "19");
  double x[20];
  for (int i = 0; i < 20; i++) x[i] = i == 3 ? -1 : 1;
  data.X = lapis_mat_f64(x, 20, 1);
  assert_int_equal(lapis_predict_new(t.ctx, &data, t.model, NULL, &s),
                   LAPIS_EDATA);
  lapis_model *m;
  assert_int_equal(lapis_model_load(t.ctx, "/nowhere.lapis", &m), LAPIS_EIO);
  char path[1200];
  snprintf(path, sizeof path, "%s/data.npz", t.f.folder);
  assert_int_equal(lapis_model_load(t.ctx, path, &m), LAPIS_EFORMAT);
  assert_null(m);
  drop(&t);
}

/* ---- maps ---------------------------------------------------------------*/
static void mapped(const char *spec, const double *in, int64_t d, int64_t n,
                   double *out)
{
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_mat X = lapis_mat_f64((double *)(uintptr_t)in, d, n);
  lapis_map *m;
  if (lapis_map_new(ctx, spec, &m) < 0 || lapis_map_fit(ctx, m, &X) < 0 ||
      lapis_map_apply(ctx, m, &X, out) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  lapis_map_free(m);
  lapis_ctx_free(ctx);
}

static void maps_by_hand(void **state)
{
  const double x[] = {3, 1, NAN, 0, 0, 0, 4, 2, 2};
  double out[63];
  mapped("l1", x, 3, 3, out);
  CHECK_NEAR(out[0], 0.75, 1e-15);
  assert_true(isnan(out[2]));
  CHECK_NEAR(out[3], 0, 0); /* an empty sample stays empty */
  CHECK_NEAR(out[6] + out[7] + out[8], 1, 1e-15);
  mapped("l2", x, 3, 3, out);
  CHECK_NEAR(out[0], 3 / sqrt(10), 1e-15);
  mapped("scale:2,sqrt", x, 3, 3, out);
  CHECK_NEAR(out[6], sqrt(8), 1e-15);
  mapped("standard", x, 3, 3, out);
  CHECK_NEAR(out[0] + out[3] + out[6], 0, 1e-14);
  CHECK_NEAR(out[0] * out[0] + out[3] * out[3] + out[6] * out[6], 3, 1e-13);
  CHECK_NEAR(out[5] + out[8], 0, 1e-15); /* two seen values */
  mapped("l1-sqrt", x, 3, 3, out);
  CHECK_NEAR(out[0], sqrt(0.75), 1e-15);
}

/* scale:auto: the known entries of the training samples have the mean size 1,
 * whatever their unit; new samples have the same unit; back again as it was. */
static void scale_auto_forgets_the_unit(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  const double x[] = {3, 0, 1, 1, NAN, 5};
  double times[6], out[6], same[6], back[6];
  for (int k = 0; k < 6; k++) times[k] = 1000 * x[k];
  mapped("scale:auto", x, 2, 3, out);
  mapped("scale:auto", times, 2, 3, same);
  CHECK_NEAR(out[0] + out[1] + out[2] + out[3] + out[5], 5, 1e-14);
  for (int k = 0; k < 6; k++)
    if (k != 4) CHECK_NEAR(out[k], x[k] / 2, 1e-15);
  for (int k = 0; k < 6; k++)
    if (k != 4) CHECK_NEAR(same[k], out[k], 1e-15);
  assert_true(isnan(out[4]));
  mapped("standard", x, 2, 3, same);
  mapped("scale:auto,standard", x, 2, 3, out); /* each finds its own numbers */
  for (int k = 0; k < 6; k++)
    if (k != 4) CHECK_NEAR(out[k], same[k], 1e-14);
  lapis_map *m;
  lapis_mat X = lapis_mat_f64(times, 2, 3), T = lapis_mat_f64(same, 2, 1), Z;
  assert_int_equal(lapis_map_new(ctx, "scale:auto,l1", &m), LAPIS_OK);
  assert_int_equal(lapis_map_fit(ctx, m, &X), LAPIS_OK);
  same[0] = 4000, same[1] = 12000;
  assert_int_equal(lapis_map_apply(ctx, m, &T, back), LAPIS_OK);
  CHECK_NEAR(back[0], .25, 1e-15);
  Z = lapis_mat_f64(back, 2, 1);
  assert_int_equal(lapis_map_undo(ctx, m, &T, &Z, out), LAPIS_OK);
  CHECK_NEAR(out[1], 12000, 1e-9);
  lapis_map_free(m);
  const double none[] = {0, 0};
  mapped("scale:auto", none, 1, 2, out);
  CHECK_NEAR(out[0], 0, 0);
  lapis_ctx_free(ctx);
}

/* The mapped inner product is the kernel 2xy/(x + y) to 7 % of the
 * geometric mean, over a range of one to three hundred. */
static void chi2_map_is_the_kernel(void **state)
{
  const double x[] = {0.01, 0.05, 0.2, 1, 3, 0};
  double out[6 * 7];
  mapped("chi2", x, 1, 6, out);
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) {
      double dot = 0, sum = x[i] + x[j];
      for (int k = 0; k < 7; k++) dot += out[7 * i + k] * out[7 * j + k];
      double kernel = sum > 0 ? 2 * x[i] * x[j] / sum : 0;
      CHECK_NEAR(dot, kernel, 0.07 * sqrt(x[i] * x[j]));
    }
}

/* Two kinds of 1 and 2 features: shares are of each kind's own sum, and after
 * standard and balance each kind holds half of the squares. */
static void blocks_are_mapped_each_alone(void **state)
{
  const double x[] = {3, 1, 1, 5, 2, 6};
  double out[84], plain[6];
  mapped("blocks:1+2,l1", x, 3, 2, out);
  CHECK_NEAR(out[0], 1, 1e-15);
  CHECK_NEAR(out[1], 0.5, 1e-15);
  CHECK_NEAR(out[5], 0.75, 1e-15);
  mapped("blocks:1+2,l2", x, 3, 2, out);
  CHECK_NEAR(out[4], 2 / sqrt(40), 1e-15);
  mapped("standard", x, 3, 2, plain);
  mapped("blocks:1+2,standard,balance", x, 3, 2, out);
  for (int i = 0; i < 6; i++)
    CHECK_NEAR(out[i], plain[i] * sqrt(i % 3 == 0 ? 3. / 2 : 3. / 4), 1e-15);
  CHECK_NEAR(out[0] * out[0], out[1] * out[1] + out[2] * out[2], 1e-14);
  mapped("standard,balance", x, 3, 2, out); /* one kind: nothing to balance */
  CHECK_NEAR(out[4], plain[4], 1e-15);
  mapped("blocks:1+2,chi2,balance", x, 3, 2, out);
  mapped("chi2", x, 3, 1, out + 42);
  CHECK_NEAR(out[6], out[48] * sqrt(3. / 2), 1e-15);
  CHECK_NEAR(out[7], out[49] * sqrt(3. / 4), 1e-15);
}

static void bad_blocks_are_refused(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  double x[] = {1, 2, 3};
  lapis_mat X = lapis_mat_f64(x, 3, 1);
  lapis_map *m;
  const char *const bad[] = {
      "blocks:",     "blocks:1+",       "blocks:0+2",       "blocks:1.5+2",
      "blocks:1+2x", "sqrt,blocks:1+2", "blocks:3,blocks:3"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_int_equal(lapis_map_new(ctx, bad[i], &m), LAPIS_EINVAL);
  assert_int_equal(lapis_map_new(ctx, "blocks:1+1,sqrt", &m), LAPIS_OK);
  assert_int_equal(lapis_map_fit(ctx, m, &X), LAPIS_ESHAPE);
  check_says(lapis_ctx_error(ctx), "2 3");
  assert_int_equal(lapis_map_apply(ctx, m, &X, x), LAPIS_ESHAPE);
  lapis_map_free(m);
  lapis_ctx_free(ctx);
}

static void maps_are_fitted_on_training_samples(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  double train[] = {1, 3}, test[] = {5}, out[2];
  lapis_mat X = lapis_mat_f64(train, 1, 2), T = lapis_mat_f64(test, 1, 1);
  lapis_map *m;
  assert_int_equal(lapis_map_new(ctx, "standard", &m), LAPIS_OK);
  assert_int_equal(lapis_map_fit(ctx, m, &X), LAPIS_OK);
  assert_int_equal(lapis_map_apply(ctx, m, &T, out), LAPIS_OK);
  CHECK_NEAR(out[0], 3, 1e-15);
  lapis_mat two = lapis_mat_f64(train, 2, 1);
  assert_int_equal(lapis_map_apply(ctx, m, &two, out), LAPIS_ESHAPE);
  lapis_map_free(m);
  const char *const bad[] = {"l3", "scale:", "scale:x", "sqrt,,l1", ""};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_int_equal(lapis_map_new(ctx, bad[i], &m), LAPIS_EINVAL);
  double negative[] = {1, -2};
  lapis_mat N = lapis_mat_f64(negative, 2, 1);
  assert_int_equal(lapis_map_new(ctx, "sqrt", &m), LAPIS_OK);
  assert_int_equal(lapis_map_fit(ctx, m, &N), LAPIS_OK);
  assert_int_equal(lapis_map_apply(ctx, m, &N, out), LAPIS_EDATA);
  check_says(lapis_ctx_error(ctx), "1 2 -2");
  lapis_map_free(m);
  lapis_ctx_free(ctx);
}

/* ---- models of nothing --------------------------------------------------*/
/* Without labels 0 is the answer where mu is large, for new samples too. */
static void a_completed_matrix_of_zeros_answers_zeros(void **state)
{
  static const int solvers[] = {LAPIS_MC_ADMM, LAPIS_MC_FPC, LAPIS_MC_FACTORED};
  double x[] = {1, 2, NAN, 3, -1, 4, 0, 1};
  lapis_data data = {.X = lapis_mat_f64(x, 2, 4)};
  lapis_ctx *ctx = lapis_ctx_new();
  for (int k = 0; k < 3; k++) {
    lapis_mc_settings set = lapis_mc_defaults();
    lapis_solver *s;
    lapis_model *m;
    set.solver = solvers[k];
    set.mu = 1e3;
    assert_int_equal(lapis_mc_new(ctx, &data, &set, &s), LAPIS_OK);
    assert_true(lapis_solve(s) >= 0);
    assert_int_equal(lapis_model_new(s, &m), LAPIS_OK);
    lapis_solver *answer = predict(ctx, m, data.X, 1e-8);
    const double *low_rank = check_result(answer, "low_rank");
    for (int i = 0; i < 8; i++) CHECK_NEAR(low_rank[i], 0, 0);
    assert_int_equal(lapis_result_info(answer)->status, LAPIS_OK);
    assert_int_equal(lapis_result_info(answer)->rank, 0);
    lapis_solver_free(answer);
    lapis_model_free(m);
    lapis_solver_free(s);
  }
  lapis_ctx_free(ctx);
}

/* With labels there is a row of ones, which 0 is not: no model.  What is made
 * answers. */
static void zeros_are_no_model_of_labels(void **state)
{
  static const int solvers[] = {LAPIS_MC_ADMM, LAPIS_MC_FPC, LAPIS_MC_FACTORED};
  double x[] = {1, 2, NAN, 3, -1, 4, 0, 1}, y[] = {1, -1, 1, NAN};
  lapis_data data = {.X = lapis_mat_f64(x, 2, 4), .Y = lapis_mat_f64(y, 1, 4)};
  lapis_ctx *ctx = lapis_ctx_new();
  int refused = 0;
  for (int k = 0; k < 3; k++) {
    lapis_mc_settings set = lapis_mc_defaults();
    lapis_solver *s;
    lapis_model *m;
    set.solver = solvers[k];
    set.mu = 1;
    set.lambda = 1;
    set.stop.max_iters = 0;
    assert_int_equal(lapis_mc_new(ctx, &data, &set, &s), LAPIS_OK);
    assert_true(lapis_solve(s) >= 0);
    lapis_status made = lapis_model_new(s, &m);
    if (made == LAPIS_OK) { /* some begin at a row of ones */
      lapis_solver_free(predict(ctx, m, data.X, 1e-8));
      lapis_model_free(m);
    } else {
      refused++;
      assert_int_equal(made, LAPIS_ENUMERIC);
      check_says(lapis_ctx_error(ctx), "completed 0");
    }
    lapis_solver_free(s);
  }
  assert_true(refused >= 1);
  lapis_ctx_free(ctx);
}

/* What features and classes are called goes into the model; another order of
 * features is refused. */
static void names_travel(void **state)
{
  (void)state;
  enum { D = 2, N = 40 };
  double X[D * N], Y[N];
  uint64_t seed = 2;
  for (int k = 0; k < D * N; k++) X[k] = check_normal(&seed);
  for (int j = 0; j < N; j++) Y[j] = X[D * j] > 0;
  static const char *const words[] = {"low", "high"},
                           *const names[] = {"width", "height"},
                           *const other[] = {"height", "width"};
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_data data = {.X = lapis_mat_f64(X, D, N),
                     .Y = lapis_mat_f64(Y, 1, N),
                     .words = lapis_mat_text(words, 1, 2),
                     .feature_names = lapis_mat_text(names, 1, D)};
  lapis_solver *s, *p;
  lapis_model *m;
  lapis_mat kept;
  assert_int_equal(lapis_linear_new(ctx, &data, NULL, &s), LAPIS_OK);
  assert_int_equal(lapis_solve(s), LAPIS_OK);
  assert_int_equal(lapis_model_new(s, &m), LAPIS_OK);
  assert_int_equal(lapis_model_get(ctx, m, "feature_names", &kept), LAPIS_OK);
  assert_string_equal(((const char *const *)kept.val)[1], "height");
  assert_int_equal(lapis_model_get(ctx, m, "class_texts", &kept), LAPIS_OK);
  assert_string_equal(((const char *const *)kept.val)[1], "high");
  assert_int_equal(lapis_predict_new(ctx, &data, m, NULL, &p), LAPIS_OK);
  lapis_solver_free(p);
  data.feature_names = lapis_mat_text(other, 1, D);
  assert_int_equal(lapis_predict_new(ctx, &data, m, NULL, &p), LAPIS_EDATA);
  check_says(lapis_ctx_error(ctx), "feature 1 ");
  lapis_model_free(m);
  lapis_solver_free(s);
  lapis_ctx_free(ctx);
}

int test_model(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(folding_in_a_training_sample),
      cmocka_unit_test(every_iteration_is_shown),
      cmocka_unit_test(bounds_stay_below),
      cmocka_unit_test(files_keep_models),
      cmocka_unit_test(names_travel),
      cmocka_unit_test(refusals),
      cmocka_unit_test(a_completed_matrix_of_zeros_answers_zeros),
      cmocka_unit_test(zeros_are_no_model_of_labels),
      cmocka_unit_test(maps_by_hand),
      cmocka_unit_test(blocks_are_mapped_each_alone),
      cmocka_unit_test(bad_blocks_are_refused),
      cmocka_unit_test(scale_auto_forgets_the_unit),
      cmocka_unit_test(chi2_map_is_the_kernel),
      cmocka_unit_test(maps_are_fitted_on_training_samples),
  };
  return run_cases(tests, NULL, NULL);
}
