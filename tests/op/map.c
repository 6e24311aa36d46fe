/* Kernels as features: their inner products against the kernel itself, and
 * what methods make of them. */
#include <unistd.h>

#include "check.h"
#include "cv_points.h"
#include "lapis/choose.h"
#include "op/map/map.h"

enum { D = 4, N = 200 };

typedef struct samples {
  lapis_ctx *ctx;
  double x[D * N];
  lapis_mat X;
} samples;

static samples *begin(void **state)
{
  samples *s = test_calloc(1, sizeof *s);
  uint64_t seed = 5;
  s->ctx = lapis_ctx_new();
  for (int k = 0; k < D * N; k++) s->x[k] = check_normal(&seed);
  s->X = lapis_mat_f64(s->x, D, N);
  *state = s;
  return s;
}

static void end(samples *s)
{
  lapis_ctx_free(s->ctx);
  test_free(s);
}

/* A fitted map. */
static lapis_map *fitted(lapis_ctx *ctx, const char *spec, const lapis_mat *X)
{
  lapis_map *m;
  if (lapis_map_new(ctx, spec, &m) < 0 || lapis_map_fit(ctx, m, X) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  return m;
}

/* Features of X, for the caller to free; *rows of them. */
static double *mapped(lapis_ctx *ctx, const char *spec, const lapis_mat *X,
                      int64_t *rows)
{
  lapis_map *m = fitted(ctx, spec, X);
  double *out;
  lapis_mat to;
  assert_int_equal(lapis_map_make(ctx, m, X, &out, &to), LAPIS_OK);
  *rows = lapis_map_rows(m, X->rows);
  assert_int_equal(to.rows, *rows);
  lapis_map_free(m);
  return out;
}

static double far(const double *x, const double *z, int64_t d)
{
  double sum = 0;
  for (int64_t i = 0; i < d; i++) sum += (x[i] - z[i]) * (x[i] - z[i]);
  return sum;
}

static double product(const double *x, const double *z, int64_t d)
{
  double sum = 0;
  for (int64_t i = 0; i < d; i++) sum += x[i] * z[i];
  return sum;
}

static int ascending(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(const double *x)
{
  double all[N * (N - 1) / 2];
  int at = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < i; j++) all[at++] = far(x + i * D, x + j * D, D);
  qsort(all, (size_t)at, sizeof *all, ascending);
  return all[at / 2];
}

/* Root mean square of what inner products miss of the kernel; *worst. */
static double miss(const samples *s, const char *spec, double width,
                   double *worst)
{
  int64_t rows;
  double *f = mapped(s->ctx, spec, &s->X, &rows), sum = 0;
  *worst = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      double k = exp(-far(s->x + i * D, s->x + j * D, D) / width);
      double off = fabs(product(f + i * rows, f + j * rows, rows) - k);
      sum += off * off;
      *worst = fmax(*worst, off);
    }
  free(f);
  return sqrt(sum / (N * N));
}

static void all_landmarks_are_the_kernel(void **state)
{
  samples *s = begin(state);
  double worst;
  miss(s, "nystrom:3:200", 3, &worst);
  CHECK_AT_MOST(worst, 1e-8);
  miss(s, "nystrom:auto:500", median(s->x), &worst);
  CHECK_AT_MOST(worst, 1e-8);
  miss(s, "nystrom:.25auto:300", median(s->x) / 4, &worst);
  CHECK_AT_MOST(worst, 1e-8);
  for (int k = 0; k < D * 9; k++) s->x[k] = s->x[k + D * 9]; /* twice there */
  miss(s, "nystrom:3:200", 3, &worst);
  CHECK_AT_MOST(worst, 1e-8);
  end(s);
}

/* With few landmarks K - F'F is 0 at them and never negative. */
static void few_landmarks_are_exact_where_they_are(void **state)
{
  samples *s = begin(state);
  int64_t rows;
  int exact = 0;
  double *f = mapped(s->ctx, "nystrom:2:12", &s->X, &rows), *g;
  assert_int_equal(rows, 12);
  for (int j = 0; j < N; j++) {
    double own = product(f + j * rows, f + j * rows, rows);
    CHECK_AT_MOST(own, 1 + 1e-9);
    exact += own > 1 - 1e-9;
  }
  assert_int_equal(exact, 12);
  g = mapped(s->ctx, "nystrom:2:12", &s->X, &rows);
  assert_memory_equal(f, g, sizeof *f * N * 12);
  free(g);
  assert_int_equal(lapis_ctx_set(s->ctx, "seed", "8"),
                   LAPIS_OK); /* other ones are drawn */
  g = mapped(s->ctx, "nystrom:2:12", &s->X, &rows);
  assert_true(memcmp(f, g, sizeof *f * N * 12) != 0);
  free(f);
  free(g);
  end(s);
}

/* A gap is where the mean is; and no sample's answer depends on those beside
 * it. */
static void gaps_hold_means(void **state)
{
  samples *s = begin(state);
  const char *const specs[] = {"nystrom:2:20", "standard,nystrom:auto:20"};
  for (int k = 0; k < 2; k++) {
    double mean = 0, at[20], out[20 * N];
    s->x[7] = NAN;
    for (int j = 0; j < N; j++)
      if (j != 1) mean += s->x[j * D + 3] / (N - 1);
    lapis_map *m = fitted(s->ctx, specs[k], &s->X);
    lapis_mat one = lapis_mat_f64(s->x + D, D, 1);
    assert_int_equal(lapis_map_rows(m, D), 20);
    assert_int_equal(lapis_map_apply(s->ctx, m, &s->X, out), LAPIS_OK);
    assert_int_equal(lapis_map_apply(s->ctx, m, &one, at), LAPIS_OK);
    for (int i = 0; i < 20; i++) CHECK_NEAR(at[i], out[20 + i], 0);
    s->x[7] = mean;
    assert_int_equal(lapis_map_apply(s->ctx, m, &one, out), LAPIS_OK);
    for (int i = 0; i < 20; i++) CHECK_NEAR(at[i], out[i], 1e-12);
    lapis_map_free(m);
  }
  end(s);
}

static void wrong_maps_are_refused(void **state)
{
  samples *s = begin(state);
  lapis_map *m;
  const char *const bad[] = {
      "nystrom",           "nystrom:auto",    "nystrom:0:5",
      "nystrom:-1:5",      "nystrom:inf:5",   "nystrom:auto:0",
      "nystrom:auto:2.5",  "nystrom:autox:4", "nystrom:1:2:3",
      "nystrom:1:1e9",     "nystrom:1:4,l2",  "nystrom:1:4,nystrom:1:4",
      "nystrom:0auto:500", "rff:1:4"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_int_equal(lapis_map_new(s->ctx, bad[i], &m), LAPIS_EINVAL);
  m = fitted(s->ctx, "nystrom:1:4", &s->X);
  lapis_mat less = lapis_mat_f64(s->x, D - 1, 2), none = s->X;
  double out[4 * N];
  assert_int_equal(lapis_map_apply(s->ctx, m, &less, out), LAPIS_ESHAPE);
  s->x[D + 2] = INFINITY;
  assert_int_equal(lapis_map_apply(s->ctx, m, &s->X, out), LAPIS_EDATA);
  check_says(lapis_ctx_error(s->ctx), "2");
  assert_int_equal(lapis_map_fit(s->ctx, m, &s->X), LAPIS_EDATA);
  none.cols = 0;
  assert_int_equal(lapis_map_fit(s->ctx, m, &none), LAPIS_EMISSING);
  lapis_map_free(m);
  end(s);
}

/* A map would spread what is infinite over a feature, or make NaN of it. */
static void infinite_values_are_named(void **state)
{
  static const char *const specs[] = {"l2",      "standard", "scale:2",
                                      "balance", "trim",     "impute"};
  samples *s = begin(state);
  double out[D * N];
  s->x[D * 7 + 2] = INFINITY;
  for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
    lapis_map *m;
    s->x[D * 7 + 2] = INFINITY;
    assert_int_equal(lapis_map_new(s->ctx, specs[i], &m), LAPIS_OK);
    assert_int_equal(lapis_map_fit(s->ctx, m, &s->X), LAPIS_EDATA);
    check_says(lapis_ctx_error(s->ctx), "8 3");
    s->x[D * 7 + 2] = 1;
    assert_int_equal(lapis_map_fit(s->ctx, m, &s->X), LAPIS_OK);
    s->x[D * 7 + 2] = -INFINITY;
    assert_int_equal(lapis_map_apply(s->ctx, m, &s->X, out), LAPIS_EDATA);
    check_says(lapis_ctx_error(s->ctx), "8 3");
    lapis_map_free(m);
  }
  end(s);
}

/* ---- methods ------------------------------------------------------------*/
/* Two circles; two samples of five have a known label. */
static void circles(samples *s, double *y, double *known)
{
  uint64_t seed = 11;
  for (int j = 0; j < N; j++) {
    double angle = 6.283185307179586 * check_uniform(&seed);
    double radius = (j % 2 ? 1 : 2) + .05 * check_normal(&seed);
    s->x[2 * j] = radius * cos(angle);
    s->x[2 * j + 1] = radius * sin(angle);
    y[j] = j % 2;
    known[j] = j % 5 > 1 ? NAN : y[j];
  }
  s->X = lapis_mat_f64(s->x, 2, N);
}

static double right(lapis_solver *s, const double *y)
{
  const double *said = check_result(s, "labels");
  double count = 0;
  for (int j = 0; j < N; j++) count += said[j] == y[j];
  return count / N;
}

/* What mc says through a map; its model, read back from a file, says it of new
 * samples. */
static double completed(samples *s, const char *spec, const double *y,
                        double *known, double *new_share)
{
  char path[64];
  lapis_mc_settings set = lapis_mc_defaults();
  set.labels = LAPIS_MC_LABELS_PM;
  set.mu_rel = .02;
  lapis_data data = {.Y = lapis_mat_f64(known, 1, N)}, new_ = {.X = s->X};
  lapis_map *m = fitted(s->ctx, spec, &s->X);
  lapis_solver *a, *b;
  lapis_model *model, *back;
  double *memory;
  check_new_file(path, sizeof path);
  assert_int_equal(lapis_map_make(s->ctx, m, &s->X, &memory, &data.X), 0);
  assert_int_equal(lapis_mc_new(s->ctx, &data, &set, &a), LAPIS_OK);
  assert_true(lapis_solve(a) >= 0);
  double share = right(a, y);
  assert_int_equal(lapis_model_new(a, &model), LAPIS_OK);
  assert_int_equal(lapis_model_set_map(s->ctx, model, m, false), LAPIS_OK);
  assert_int_equal(lapis_model_features(model), 2);
  assert_int_equal(lapis_model_save(s->ctx, model, path), LAPIS_OK);
  assert_int_equal(lapis_model_load(s->ctx, path, &back), LAPIS_OK);
  assert_int_equal(lapis_model_features(back), 2);
  assert_int_equal(lapis_predict_new(s->ctx, &new_, back, NULL, &b), LAPIS_OK);
  assert_true(lapis_solve(b) >= 0);
  *new_share = right(b, y);
  lapis_solver_free(b);
  lapis_solver_free(a);
  lapis_model_free(back);
  lapis_model_free(model);
  lapis_map_free(m);
  free(memory);
  unlink(path);
  return share;
}

static void circles_need_a_kernel(void **state)
{
  samples *s = begin(state);
  double y[N], known[N];
  circles(s, y, known);
  const char *kernel = "standard,nystrom:auto:100";
  double predicted;
  CHECK_AT_MOST(completed(s, "standard", y, known, &predicted), .8);
  CHECK_AT_LEAST(completed(s, kernel, y, known, &predicted), .98);
  CHECK_AT_LEAST(predicted, .98);
  end(s);
}

/* AUROC of what fold f hides, by a map and lines that saw the rest alone. */
static double by_hand(samples *s, const char *spec, const double *y,
                      const int64_t *fold, int64_t f)
{
  double train[2 * N], test[2 * N], ty[N], hy[N], fx[20 * N], hx[20 * N];
  double score[N], auroc;
  int64_t shown = 0, hidden = 0;
  for (int j = 0; j < N; j++) {
    bool hides = fold[j] == f;
    memcpy(hides ? test + 2 * hidden : train + 2 * shown, s->x + 2 * j, 16);
    if (hides)
      hy[hidden++] = y[j];
    else
      ty[shown++] = y[j];
  }
  lapis_mat X = lapis_mat_f64(train, 2, shown);
  lapis_mat H = lapis_mat_f64(test, 2, hidden);
  lapis_map *m = fitted(s->ctx, spec, &X);
  int64_t rows = lapis_map_rows(m, 2);
  assert_int_equal(lapis_map_apply(s->ctx, m, &X, fx), LAPIS_OK);
  assert_int_equal(lapis_map_apply(s->ctx, m, &H, hx), LAPIS_OK);
  lapis_data part = {.X = lapis_mat_f64(fx, rows, shown),
                     .Y = lapis_mat_f64(ty, 1, shown)};
  lapis_solver *solver;
  assert_int_equal(lapis_solver_new(s->ctx, lapis_method_find("linear"), &part,
                                    NULL, &solver),
                   LAPIS_OK);
  assert_true(lapis_solve(solver) >= 0);
  const double *w = check_result(solver, "weights");
  for (int64_t j = 0; j < hidden; j++)
    score[j] = product(w, hx + j * rows, rows) + w[rows];
  lapis_mat truth = lapis_mat_f64(hy, 1, hidden);
  lapis_mat scores = lapis_mat_f64(score, 1, hidden);
  assert_int_equal(lapis_metric(s->ctx, "auroc", &truth, &scores, NULL, &auroc),
                   LAPIS_OK);
  lapis_solver_free(solver);
  lapis_map_free(m);
  return auroc;
}

/* Every fold by hand: what is hidden has no part in the map. */
static void folds_fit_maps_to_what_they_show(void **state)
{
  samples *s = begin(state);
  double y[N], known[N], sum = 0;
  lapis_linear_settings set = lapis_linear_defaults();
  lapis_cv_options o = lapis_cv_defaults();
  lapis_grid grid = {"C", 1, (const char *const[]){"1"}};
  lapis_solver *cv;
  circles(s, y, known);
  lapis_data data = {.X = s->X, .Y = lapis_mat_f64(y, 1, N)};
  o.folds = 3;
  o.metric = "auroc";
  o.map = "standard,nystrom:auto:20";
  assert_int_equal(cv_run(s->ctx, lapis_method_find("linear"), &data, &set, &o,
                          &grid, 1, &cv),
                   LAPIS_OK);
  for (int64_t f = 0; f < 3; f++)
    sum += by_hand(s, o.map, y, cv_result(cv, "fold").val, f) / 3;
  CHECK_NEAR(cv_at(cv, 0).mean, sum, 1e-9);
  CHECK_AT_LEAST(sum, .9);
  lapis_solver_free(cv);
  end(s);
}

/* off and by say what the map makes, to rounding; standard to the last bit. */
static void a_shift_is_what_the_map_makes(void **state)
{
  static const char *const can[] = {"standard",          "none",
                                    "scale:3",           "scale:auto",
                                    "standard,scale:-2", "scale:3,standard"};
  static const char *const cannot[] = {"l2",     "standard,trim",
                                       "impute", "blocks:2+2,balance",
                                       "chi2",   "standard,nystrom:auto:20"};
  samples *s = begin(state);
  double off[D], by[D];
  for (int k = 0; k < D * N; k++) s->x[k] = s->x[k] * (1 + k % D) + 3;
  for (int k = 0; k < 6; k++) {
    lapis_map *m = fitted(s->ctx, can[k], &s->X);
    int64_t rows;
    double *out = mapped(s->ctx, can[k], &s->X, &rows);
    assert_true(map_shift(m, D, off, by));
    for (int i = 0; i < D * N; i++) {
      double is = (s->x[i] - off[i % D]) / by[i % D];
      CHECK_NEAR(is, out[i], k == 0 ? 0 : 1e-12 * (1 + fabs(is)));
    }
    assert_false(map_shift(m, D - 1, off, by) && k == 0);
    free(out);
    lapis_map_free(m);
  }
  for (int i = 0; i < D * N; i++) s->x[i] = fabs(s->x[i]);
  for (int k = 0; k < 6; k++) {
    lapis_map *m = fitted(s->ctx, cannot[k], &s->X);
    assert_false(map_shift(m, D, off, by));
    lapis_map_free(m);
  }
  end(s);
}

int test_map(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_landmarks_are_the_kernel),
      cmocka_unit_test(few_landmarks_are_exact_where_they_are),
      cmocka_unit_test(gaps_hold_means),
      cmocka_unit_test(wrong_maps_are_refused),
      cmocka_unit_test(infinite_values_are_named),
      cmocka_unit_test(circles_need_a_kernel),
      cmocka_unit_test(a_shift_is_what_the_map_makes),
      cmocka_unit_test(folds_fit_maps_to_what_they_show)};
  return run_cases(tests, NULL, NULL);
}
