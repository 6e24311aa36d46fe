/* Completion of wholly seen features: the same optimum as admm's, proved on
 * the original problem whatever was compressed, by X, Y and what was written
 * alone. */
#include "mc_oracle.h"
#include "solver/solver.h"

typedef struct problem {
  int64_t K, D, n, labelled;
  double *X, *Y; /* D x n, K x n */
} problem;

/* Rank 3 and noise, an offset; labels known in the first samples, two in
 * three of them. */
static problem make(int64_t K, int64_t D, int64_t n, int64_t labelled,
                    uint64_t seed)
{
  problem p = {K,
               D,
               n,
               labelled,
               malloc((size_t)(D * n) * sizeof(double)),
               malloc((size_t)(K * n) * sizeof(double))};
  double *A = malloc((size_t)((D + K) * 3) * sizeof *A);
  for (int64_t i = 0; i < (D + K) * 3; i++) A[i] = check_normal(&seed);
  for (int64_t j = 0; j < n; j++) {
    double h[3] = {check_normal(&seed), check_normal(&seed),
                   check_normal(&seed)};
    for (int64_t i = 0; i < D + K; i++) {
      double v = 0;
      for (int k = 0; k < 3; k++) v += A[i * 3 + k] * h[k];
      if (i < D) {
        p.X[j * D + i] = v + 0.7 + 0.3 * check_normal(&seed);
        continue;
      }
      bool known = j < labelled && (K == 1 || (i + j) % 3 != 0);
      p.Y[j * K + i - D] = known ? (v > 0 ? 1 : -1) : NAN;
    }
  }
  free(A);
  return p;
}

static void drop(problem *p)
{
  free(p->X);
  free(p->Y);
}

static lapis_data data_of(const problem *p)
{
  return (lapis_data){.X = lapis_mat_f64(p->X, p->D, p->n),
                      .Y = lapis_mat_f64(p->Y, p->K, p->n)};
}

static lapis_mc_settings settings(int solver, double tol)
{
  lapis_mc_settings set = lapis_mc_defaults();
  set.mu_rel = 0.1;
  set.stop.tol = tol;
  set.certificate = true;
  set.solver = solver;
  return set;
}

static lapis_solver *solved(lapis_ctx *ctx, const lapis_data *data,
                            const lapis_mc_settings *set)
{
  lapis_solver *s;
  if (lapis_mc_new(ctx, data, set, &s) < 0 || lapis_solve(s) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  return s;
}

static lapis_mat result(const lapis_solver *s, const char *name)
{
  lapis_mat m;
  assert_int_equal(lapis_result_get(s, name, &m), LAPIS_OK);
  return m;
}

/* The certificate recomputed on the original problem. */
static mc_truth recompute(const problem *p, const lapis_solver *s, double mu)
{
  mc_case c = {.K = p->K,
               .D = p->D,
               .n = p->n,
               .X = p->X,
               .Y = p->Y,
               .lambda = .1,
               .gamma = 3,
               .mu = mu};
  lapis_mat low_rank = result(s, "low_rank");
  return oracle_mc(&c, result(s, "scores").val, &low_rank,
                   result(s, "dual").val);
}

/* Bordered proves its answer, and admm's lies within both gaps of it. */
static void check_against_admm(const problem *p, double tol)
{
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_data data = data_of(p);
  lapis_mc_settings set = settings(LAPIS_MC_BORDERED, tol);
  lapis_solver *b = solved(ctx, &data, &set);
  const lapis_info *info = lapis_result_info(b);
  const lapis_mc_settings *used = lapis_result_settings(b);
  assert_int_equal(info->status, LAPIS_OK);
  mc_truth t = recompute(p, b, used->mu);
  CHECK_AT_MOST(t.gap, tol * (1 + 1e-6));
  CHECK_AT_LEAST(t.gap, -1e-12);
  CHECK_AT_MOST(t.spectral, used->mu * (1 + 1e-11));
  CHECK_NEAR(info->objective, t.primal, 1e-10 * t.primal);
  CHECK_NEAR(info->dual, t.dual, 1e-9 * t.primal);
  set = settings(LAPIS_MC_ADMM, tol);
  set.mu = used->mu;
  set.mu_rel = NAN;
  lapis_solver *a = solved(ctx, &data, &set);
  double other = lapis_result_info(a)->objective;
  CHECK_NEAR(info->objective, other,
             (info->gap + lapis_result_info(a)->gap + 1e-12) * other);
  lapis_solver_free(a);
  lapis_solver_free(b);
  lapis_ctx_free(ctx);
}

static void compressed_is_exact(void **state)
{
  for (uint64_t seed = 0; seed < 4; seed++) {
    problem p = make(1 + (int64_t)seed % 3, 7, 90, 20, 100 + seed);
    check_against_admm(&p, 1e-9);
    drop(&p);
  }
}

static void every_sample_has_a_label(void **state)
{
  problem p = make(3, 12, 30, 30, 7);
  check_against_admm(&p, 1e-8);
  drop(&p);
}

static void more_features_than_samples(void **state)
{
  problem p = make(2, 40, 18, 12, 8);
  check_against_admm(&p, 1e-8);
  drop(&p);
}

static void many_classes(void **state)
{
  problem p = make(60, 9, 120, 60, 9);
  check_against_admm(&p, 1e-6);
  drop(&p);
}

/* The Krylov space of the tail is smaller than the tail. */
static void a_long_tail(void **state)
{
  problem p = make(1, 60, 220, 30, 11);
  check_against_admm(&p, 1e-8);
  drop(&p);
}

/* More factors than rows: their norm is never said too small. */
static void more_factors_than_rows(void **state)
{
  const double tol = 1e-4;
  for (uint64_t seed = 0; seed < 3; seed++) {
    problem p = make(3, 6, 90, seed < 2 ? 90 : 40, 20 + seed);
    lapis_ctx *ctx = lapis_ctx_new();
    lapis_data data = data_of(&p);
    lapis_mc_settings set = settings(LAPIS_MC_BORDERED, tol);
    set.mu_rel = 3e-4;
    lapis_solver *s = solved(ctx, &data, &set);
    const lapis_info *info = lapis_result_info(s);
    const lapis_mc_settings *used = lapis_result_settings(s);
    mc_truth t = recompute(&p, s, used->mu);
    assert_true(info->rank > p.D);
    CHECK_AT_LEAST(info->objective, t.primal * (1 - 1e-10));
    CHECK_AT_MOST(info->objective, t.primal * (1 + .01 * tol));
    CHECK_AT_MOST(t.gap, tol * (1 + 1e-6));
    lapis_solver_free(s);
    lapis_ctx_free(ctx);
    drop(&p);
  }
}

/* Features that repeat each other, one that is constant. */
static void dependent_features(void **state)
{
  problem p = make(2, 10, 80, 16, 10);
  for (int64_t j = 0; j < p.n; j++) {
    double *x = p.X + j * p.D;
    x[7] = 2;
    x[8] = x[0] + x[1];
    x[9] = 3 * x[2];
  }
  check_against_admm(&p, 1e-7);
  drop(&p);
}

static void floats_are_read_as_they_are(void **state)
{
  problem p = make(2, 8, 70, 15, 12);
  float *x = malloc((size_t)(p.D * p.n) * sizeof *x);
  for (int64_t k = 0; k < p.D * p.n; k++) {
    x[k] = (float)p.X[k];
    p.X[k] = x[k];
  }
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_data wide = data_of(&p), thin = wide;
  thin.X.dtype = LAPIS_F32;
  thin.X.val = x;
  lapis_mc_settings set = settings(LAPIS_MC_BORDERED, 1e-6);
  lapis_solver *a = solved(ctx, &wide, &set), *b = solved(ctx, &thin, &set);
  const double *one = result(a, "scores").val, *two = result(b, "scores").val;
  for (int64_t k = 0; k < p.K * p.n; k++) CHECK_NEAR(one[k], two[k], 0);
  lapis_solver_free(a);
  lapis_solver_free(b);
  lapis_ctx_free(ctx);
  free(x);
  drop(&p);
}

/* The scores of samples without a label are weights of their features, and
 * predicting them anew gives the same. */
static void scores_are_affine(void **state)
{
  for (int64_t labelled = 15; labelled <= 70; labelled += 55) {
    problem p = make(2, 8, 70, labelled, 13);
    lapis_ctx *ctx = lapis_ctx_new();
    lapis_data data = data_of(&p);
    lapis_mc_settings set = settings(LAPIS_MC_BORDERED, 1e-9);
    lapis_solver *s = solved(ctx, &data, &set), *q;
    lapis_mat w = result(s, "weights"), scores = result(s, "scores");
    assert_int_equal(w.rows, p.D + 1);
    assert_int_equal(w.cols, p.K);
    lapis_model *m;
    assert_int_equal(lapis_model_new(s, &m), LAPIS_OK);
    lapis_data x = {.X = data.X};
    lapis_mc_fold_settings tight = {.size = sizeof tight};
    lapis_settings_default(lapis_predict_method(lapis_model_method(m)), &tight);
    tight.stop.tol = 1e-9;
    assert_int_equal(lapis_predict_new(ctx, &x, m, &tight, &q), LAPIS_OK);
    assert_int_equal(lapis_solve(q), LAPIS_OK);
    lapis_mat again = result(q, "scores");
    for (int64_t j = 0; j < p.n; j++)
      for (int64_t c = 0; c < p.K; c++) {
        double z = lapis_mat_at(&w, p.D, c);
        for (int64_t i = 0; i < p.D; i++)
          z += lapis_mat_at(&w, i, c) * p.X[j * p.D + i];
        if (j >= labelled) CHECK_NEAR(z, lapis_mat_at(&scores, c, j), 1e-10);
        CHECK_NEAR(z, lapis_mat_at(&again, c, j), 1e-10);
      }
    lapis_solver_free(q);
    lapis_model_free(m);
    lapis_solver_free(s);
    lapis_ctx_free(ctx);
    drop(&p);
  }
}

/* Another mu and lambda: warm, and the answer of a new solver. */
static void retuned_is_as_new(void **state)
{
  problem p = make(2, 30, 150, 20, 14);
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_data data = data_of(&p);
  lapis_mc_settings set = settings(LAPIS_MC_AUTO, 1e-7);
  lapis_solver *s = solved(ctx, &data, &set);
  set.mu_rel = 0.03;
  set.lambda = 1;
  lapis_solver *fresh = solved(ctx, &data, &set);
  assert_int_equal(lapis_solver_retune(s, &set), LAPIS_OK);
  assert_int_equal(lapis_solve(s), LAPIS_OK);
  double want = lapis_result_info(fresh)->objective;
  CHECK_NEAR(lapis_result_info(s)->objective, want, 2e-7 * want);
  lapis_solver_free(fresh);
  lapis_solver_free(s);
  lapis_ctx_free(ctx);
  drop(&p);
}

static void refused(const problem *p, const lapis_mc_settings *set,
                    lapis_status status, const char *words)
{
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_data data = data_of(p);
  lapis_solver *s;
  lapis_status got = lapis_mc_new(ctx, &data, set, &s);
  check_refused(ctx, got, status, s, words);
  lapis_ctx_free(ctx);
}

static void refusals(void **state)
{
  problem p = make(2, 6, 20, 10, 15);
  lapis_mc_settings set = settings(LAPIS_MC_BORDERED, 1e-4);
  set.class_features = true;
  refused(&p, &set, LAPIS_EINVAL, "");
  set.class_features = false;
  set.mu_rel = 1e-8;
  refused(&p, &set, LAPIS_ENOTBUILT, "");
  set.mu_rel = 0.1;
  p.X[3] = NAN;
  refused(&p, &set, LAPIS_EINVAL, "");
  drop(&p);
}

/* Where squares of X would drown mu, auto takes the solver that has none. */
static void auto_falls_back(void **state)
{
  problem p = make(1, 6, 20, 10, 16);
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_data data = data_of(&p);
  lapis_mc_settings set = settings(LAPIS_MC_AUTO, 1e-4);
  lapis_solver *s;
  set.mu_rel = 1e-8;
  set.stop.max_iters = 1;
  assert_int_equal(lapis_mc_new(ctx, &data, &set, &s), LAPIS_OK);
  const lapis_mc_settings *used = lapis_result_settings(s);
  assert_int_equal(used->solver, LAPIS_MC_ADMM);
  assert_int_equal(lapis_solve(s), LAPIS_MAX_ITERS);
  lapis_solver_free(s);
  lapis_ctx_free(ctx);
  drop(&p);
}

/* ---- other labels of the same X -----------------------------------------*/
/* Y with the labels of every third labelled sample from `first` on hidden. */
static double *hide(const problem *p, int64_t first)
{
  double *y = malloc((size_t)(p->K * p->n) * sizeof *y);
  for (int64_t k = 0; k < p->K * p->n; k++) {
    bool hidden = k / p->K < p->labelled && (k / p->K) % 3 == first;
    y[k] = hidden ? NAN : p->Y[k];
  }
  return y;
}

/* The answer of s for a fold, and that of a solver made for the fold alone:
 * objectives within both gaps, scores of labelled samples alike. */
static void check_fold(lapis_ctx *ctx, const problem *p, int64_t first,
                       const lapis_mc_settings *set, lapis_solver *s)
{
  double *y = hide(p, first);
  lapis_data data = data_of(p);
  data.Y = lapis_mat_f64(y, p->K, p->n);
  assert_int_equal(solver_relabel(s, &data, set), LAPIS_OK);
  assert_int_equal(lapis_solve(s), LAPIS_OK);
  lapis_solver *alone = solved(ctx, &data, set);
  const lapis_info *a = lapis_result_info(s), *b = lapis_result_info(alone);
  CHECK_NEAR(a->objective, b->objective,
             set->stop.tol * (a->objective + b->objective));
  CHECK_AT_MOST(a->gap, set->stop.tol);
  const lapis_mc_settings *one = lapis_result_settings(s);
  const lapis_mc_settings *two = lapis_result_settings(alone);
  CHECK_NEAR(one->mu, two->mu, 1e-12 * two->mu);
  lapis_mat x = result(s, "scores"), z = result(alone, "scores");
  for (int64_t k = 0; k < p->K * p->labelled; k++)
    CHECK_NEAR(((double *)x.val)[k], ((double *)z.val)[k], 1e-3);
  lapis_solver_free(alone);
  free(y);
}

/* One solver of all labels takes fold after fold, coded in another way too;
 * the same fold again has the same bits. */
static void relabelled_is_as_new(void **state)
{
  const int64_t size[][3] = {{6, 300, 40}, {40, 30, 20}, {5, 60, 60}};
  for (int i = 0; i < 3; i++) {
    problem p = make(3, size[i][0], size[i][1], size[i][2], 31);
    lapis_ctx *ctx = lapis_ctx_new();
    lapis_data data = data_of(&p);
    lapis_mc_settings set = settings(LAPIS_MC_BORDERED, 1e-8);
    lapis_solver *s;
    set.certificate = false;
    assert_int_equal(lapis_mc_new(ctx, &data, &set, &s), LAPIS_OK);
    s->brief = true;
    check_fold(ctx, &p, 0, &set, s);
    double before = lapis_result_info(s)->objective;
    set.labels = LAPIS_MC_LABELS_01;
    check_fold(ctx, &p, 1, &set, s);
    set.labels = LAPIS_MC_LABELS_AUTO;
    check_fold(ctx, &p, 0, &set, s);
    CHECK_NEAR(lapis_result_info(s)->objective, before, 0);
    lapis_solver_free(s);
    lapis_ctx_free(ctx);
    drop(&p);
  }
}

/* A sample that was compressed has no column that a label could go to, and
 * another X, or another solver, has nothing to keep. */
static void relabelling_is_refused(void **state)
{
  problem p = make(2, 5, 200, 30, 32), other = make(2, 5, 200, 30, 33);
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_data data = data_of(&p), away = data_of(&other);
  lapis_mc_settings set = settings(LAPIS_MC_BORDERED, 1e-4);
  lapis_solver *s, *admm;
  assert_int_equal(lapis_mc_new(ctx, &data, &set, &s), LAPIS_OK);
  p.Y[2 * 150] = 1;
  assert_int_equal(solver_relabel(s, &data, &set), LAPIS_ENOTBUILT);
  p.Y[2 * 150] = NAN;
  assert_int_equal(solver_relabel(s, &away, &set), LAPIS_ENOTBUILT);
  assert_int_equal(solver_relabel(s, &data, &set), LAPIS_OK);
  set.solver = LAPIS_MC_ADMM;
  assert_int_equal(solver_relabel(s, &data, &set), LAPIS_ENOTBUILT);
  assert_int_equal(lapis_mc_new(ctx, &data, &set, &admm), LAPIS_OK);
  assert_int_equal(solver_relabel(admm, &data, &set), LAPIS_ENOTBUILT);
  lapis_solver_free(admm);
  lapis_solver_free(s);
  lapis_ctx_free(ctx);
  drop(&other);
  drop(&p);
}

/* Who cancels, or has no time, while samples are compressed hears of it: what
 * there is so far is no solution, and its gap says so. */
static void compressing_is_cut_short(void **state)
{
  problem p = make(2, 5, 400, 30, 34);
  lapis_data data = data_of(&p);
  for (int late = 0; late < 2; late++) {
    lapis_ctx *ctx = lapis_ctx_new();
    lapis_mc_settings set = settings(LAPIS_MC_BORDERED, 1e-6);
    lapis_solver *s;
    if (late)
      lapis_ctx_limit(ctx, 0);
    else
      lapis_ctx_cancel(ctx);
    assert_int_equal(lapis_mc_new(ctx, &data, &set, &s), LAPIS_OK);
    assert_int_equal(lapis_solve(s), late ? LAPIS_TIME_LIMIT : LAPIS_CANCELLED);
    const lapis_info *info = lapis_result_info(s);
    const lapis_mc_settings *used = lapis_result_settings(s);
    CHECK_AT_LEAST(info->gap, 1e-6);
    mc_truth t = recompute(&p, s, used->mu);
    CHECK_AT_MOST(t.gap, info->gap * (1 + 1e-6));
    lapis_solver_free(s);
    lapis_ctx_free(ctx);
  }
  drop(&p);
}

int test_bordered(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(compressed_is_exact),
      cmocka_unit_test(every_sample_has_a_label),
      cmocka_unit_test(more_features_than_samples),
      cmocka_unit_test(many_classes),
      cmocka_unit_test(a_long_tail),
      cmocka_unit_test(more_factors_than_rows),
      cmocka_unit_test(dependent_features),
      cmocka_unit_test(floats_are_read_as_they_are),
      cmocka_unit_test(scores_are_affine),
      cmocka_unit_test(retuned_is_as_new),
      cmocka_unit_test(refusals),
      cmocka_unit_test(auto_falls_back),
      cmocka_unit_test(relabelled_is_as_new),
      cmocka_unit_test(relabelling_is_refused),
      cmocka_unit_test(compressing_is_cut_short),
  };
  return run_cases(tests, NULL, NULL);
}
