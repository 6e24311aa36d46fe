/* Matrix completion: certificates recomputed from outside, verified answers,
 * laws, refusals. */
#include "fixture.h"
#include "mc_oracle.h"
#include "mc_problem.h"

typedef struct answer {
  lapis_solver *solver;
  lapis_mat scores, low_rank, dual;
  lapis_info info;
} answer;

static answer solve(lapis_ctx *ctx, const lapis_data *data,
                    const lapis_mc_settings *set)
{
  answer a = {0};
  lapis_status s = lapis_mc_new(ctx, data, set, &a.solver);
  if (s < 0) fail_msg("%s", lapis_ctx_error(ctx));
  s = lapis_solve(a.solver);
  if (s < 0) fail_msg("%s", lapis_ctx_error(ctx));
  a.info = *lapis_result_info(a.solver);
  if (data->Y.rows > 0)
    assert_int_equal(lapis_result_get(a.solver, "scores", &a.scores), 0);
  assert_int_equal(lapis_result_get(a.solver, "low_rank", &a.low_rank), 0);
  if (set->certificate)
    assert_int_equal(lapis_result_get(a.solver, "dual", &a.dual), 0);
  return a;
}

static lapis_mc_settings tight(int variant, int labels, double lambda,
                               double gamma, double mu)
{
  lapis_mc_settings set = lapis_mc_defaults();
  set.variant = variant;
  set.labels = labels;
  set.lambda = lambda;
  set.gamma = gamma;
  set.mu = mu;
  set.stop.tol = 1e-9;
  set.certificate = true;
  return set;
}

static mc_truth recompute(const lapis_data *data, const lapis_mc_settings *set,
                          bool zero_one, const answer *a)
{
  mc_case c = {.variant = set->variant,
               .zero_one = zero_one,
               .K = data->Y.rows,
               .D = data->X.rows,
               .n = data->X.cols,
               .X = data->X.val,
               .Y = data->Y.val,
               .lambda = set->lambda,
               .gamma = set->gamma,
               .mu = set->mu};
  return oracle_mc(&c, a->scores.val, &a->low_rank, a->dual.val);
}

static double farthest(const lapis_mat *a, const lapis_mat *b)
{
  double worst = 0, size = 0;
  for (int64_t j = 0; j < a->cols; j++)
    for (int64_t i = 0; i < a->rows; i++) {
      double x = lapis_mat_at(a, i, j), y = lapis_mat_at(b, i, j);
      worst = fmax(worst, fabs(x - y));
      size = fmax(size, fabs(y));
    }
  return worst / fmax(size, 1e-300);
}

/* ---- verified problems --------------------------------------------------*/
static int choice(const char *text, const char *const *names)
{
  int i = 0;
  while (names[i] != NULL && strcmp(names[i], text) != 0) i++;
  return i;
}

static void check_fixture(const char *name)
{
  static const char *const variants[] = {"mc1", "pos", "simplex", NULL};
  static const char *const codings[] = {"auto", "pm", "01", NULL};
  fixture f;
  fixture_open(&f, name, true);
  const char *coding = lapis_json_text(f.say, "labels", "");
  lapis_data data = {.X = fixture_mat(&f.data, "X"),
                     .Y = fixture_mat(&f.data, "Y")};
  lapis_mc_settings set =
      tight(choice(lapis_json_text(f.say, "model", ""), variants),
            choice(coding, codings), fixture_number(&f, "lam"),
            fixture_number(&f, "gamma"), fixture_number(&f, "mu"));
  answer a = solve(f.ctx, &data, &set);
  mc_truth t = recompute(&data, &set, strcmp(coding, "01") == 0, &a);
  double truth = fixture_number(&f, "objective");
  CHECK_NEAR(t.primal, truth, 1e-7 * truth);
  CHECK_NEAR(a.info.objective, t.primal, 1e-12 * truth);
  CHECK_NEAR(a.info.dual, t.dual, 1e-12 * truth);
  CHECK_AT_MOST(t.gap, 1e-8);
  CHECK_AT_LEAST(t.gap, -1e-13);
  CHECK_AT_MOST(t.spectral, set.mu * (1 + 1e-12));
  CHECK_AT_MOST(t.infeasible, 1e-9);
  lapis_mat scores = fixture_mat(&f.expected, "scores");
  lapis_mat low_rank = fixture_mat(&f.expected, "low_rank");
  CHECK_AT_MOST(farthest(&a.scores, &scores), 1e-3);
  CHECK_AT_MOST(farthest(&a.low_rank, &low_rank), 1e-3);
  CHECK_NEAR((double)a.info.rank, fixture_number(&f, "rank"), 0);
  lapis_solver_free(a.solver);
  fixture_close(&f);
}

static void verified_mc1(void **state)
{
  check_fixture("mc1_pm");
  check_fixture("mc1_01_missing");
}

static void verified_pos(void **state)
{
  check_fixture("pos_pm");
  check_fixture("pos_01_missing");
  check_fixture("pos_01_classreps");
  check_fixture("pos_pm_tall");
  check_fixture("pos_pm_wide");
  check_fixture("pos_pm_tinycounts");
}

static void verified_simplex(void **state)
{
  check_fixture("simplex_pm");
  check_fixture("simplex_01_missing");
  check_fixture("simplex_pm_classreps");
}

/* Twenty steps of the papers' loop, from their start. */
static void check_fpc(const char *name, int variant)
{
  fixture f;
  fixture_open(&f, name, true);
  lapis_data data = {.X = fixture_mat(&f.data, "X"),
                     .Y = fixture_mat(&f.data, "Y")};
  lapis_mc_settings set =
      tight(variant, LAPIS_MC_LABELS_PM, fixture_number(&f, "lam"),
            fixture_number(&f, "gamma"), fixture_number(&f, "mu"));
  set.solver = LAPIS_MC_FPC;
  set.certificate = false;
  set.mu_start = set.mu;
  set.tau = fixture_number(&f, "tau");
  set.stop.tol = 0;
  set.stop.max_iters = (int64_t)fixture_number(&f, "steps");
  answer a = solve(f.ctx, &data, &set);
  assert_int_equal(a.info.iterations, set.stop.max_iters);
  assert_true(isnan(a.info.gap));
  lapis_mat scores = fixture_mat(&f.expected, "scores");
  lapis_mat low_rank = fixture_mat(&f.expected, "low_rank");
  CHECK_AT_MOST(farthest(&a.scores, &scores), 1e-8);
  CHECK_AT_MOST(farthest(&a.low_rank, &low_rank), 1e-8);
  CHECK_NEAR(a.info.objective, fixture_number(&f, "objective_after"), 1e-10);
  lapis_solver_free(a.solver);
  fixture_close(&f);
}

/* A step beyond what the losses' curvature allows is a failure, not an
 * answer. */
static void fpc_says_when_it_diverges(void **state)
{
  fixture f;
  fixture_open(&f, "fpc_mc1", false);
  lapis_data data = {.X = fixture_mat(&f.data, "X"),
                     .Y = fixture_mat(&f.data, "Y")};
  lapis_mc_settings set = tight(LAPIS_MC_1, LAPIS_MC_LABELS_PM, 1, 3, 0.015);
  lapis_solver *s;
  set.solver = LAPIS_MC_FPC;
  set.certificate = false;
  set.tau = 1e9;
  assert_int_equal(lapis_mc_new(f.ctx, &data, &set, &s), LAPIS_OK);
  assert_int_equal(lapis_solve(s), LAPIS_ENUMERIC);
  assert_non_null(strstr(lapis_ctx_error(f.ctx), "tau"));
  lapis_solver_free(s);
  fixture_close(&f);
}

static void verified_fpc(void **state)
{
  check_fpc("fpc_mc1", LAPIS_MC_1);
  check_fpc("fpc_pos", LAPIS_MC_POS);
  check_fpc("fpc_simplex", LAPIS_MC_SIMPLEX);
}

/* By the step of its own, from the papers' first mu: it says that it stopped
 * changing, not that it is solved, and the proof of another solver holds from
 * outside.  least, most: of the gap. */
static void check_worth(const char *name, int variant, double tol, double least,
                        double most)
{
  fixture f;
  fixture_open(&f, name, false);
  lapis_data data = {.X = fixture_mat(&f.data, "X"),
                     .Y = fixture_mat(&f.data, "Y")};
  lapis_mc_settings set =
      tight(variant, LAPIS_MC_LABELS_PM, fixture_number(&f, "lam"),
            fixture_number(&f, "gamma"), fixture_number(&f, "mu"));
  set.solver = LAPIS_MC_FPC;
  set.stop.tol = tol;
  set.stop.max_iters = 100000;
  answer a = solve(f.ctx, &data, &set);
  assert_int_equal(a.info.status, LAPIS_STOPPED_CHANGING);
  mc_truth t = recompute(&data, &set, false, &a);
  CHECK_NEAR(a.info.objective, t.primal, 1e-12 * t.primal);
  CHECK_NEAR(a.info.dual, t.dual, 1e-12 * t.primal);
  CHECK_NEAR(a.info.gap, t.gap, 1e-12);
  CHECK_AT_MOST(t.infeasible, 1e-9);
  CHECK_AT_LEAST(t.gap, least);
  CHECK_AT_MOST(t.gap, most);
  set.certificate = false;
  answer b = solve(f.ctx, &data, &set);
  assert_int_equal(b.info.status, LAPIS_STOPPED_CHANGING);
  assert_true(isnan(b.info.gap));
  assert_true(b.info.objective <= a.info.objective); /* the same run */
  assert_true(b.info.objective >= a.info.objective);
  CHECK_AT_MOST(farthest(&a.scores, &b.scores), 0);
  lapis_solver_free(a.solver);
  lapis_solver_free(b.solver);
  fixture_close(&f);
}

static void fpc_says_what_it_is_worth(void **state)
{
  check_worth("fpc_mc1", LAPIS_MC_1, 1e-9, 0, 0.01);
  check_worth("fpc_pos", LAPIS_MC_POS, 1e-9, 0, 0.01);
  check_worth("fpc_simplex", LAPIS_MC_SIMPLEX, 1e-9, 0, 0.01);
  check_worth("fpc_mc1", LAPIS_MC_1, 1e-2, 1e-3, 1);
  check_worth("fpc_pos", LAPIS_MC_POS, 1e-2, 1e-3, 1);
  check_worth("fpc_simplex", LAPIS_MC_SIMPLEX, 1e-2, 1e-3, 1);
}

/* ---- random problems ----------------------------------------------------*/
/* Every variant, over shapes: the certificate holds from outside. */
static void random_certificates(void **state)
{
  static const int64_t shape[][3] = {
      {6, 1, 9}, {12, 2, 5}, {4, 3, 30}, {1, 1, 8}, {25, 1, 25}};
  lapis_ctx *ctx = lapis_ctx_new();
  for (int k = 0; k < 5; k++)
    for (int variant = 0; variant < 3; variant++)
      for (uint64_t seed = 0; seed < 3; seed++) {
        bool complete = variant == LAPIS_MC_SIMPLEX;
        problem p =
            make(shape[k][0], shape[k][1], shape[k][2], 0.4, complete, seed);
        lapis_mc_settings set = tight(variant, LAPIS_MC_LABELS_PM, 0.3, 4, NAN);
        set.mu_rel = 0.1;
        answer a = solve(ctx, &p.data, &set);
        set.mu =
            ((const lapis_mc_settings *)lapis_result_settings(a.solver))->mu;
        mc_truth t = recompute(&p.data, &set, false, &a);
        CHECK_AT_MOST(t.gap, 1e-8);
        CHECK_AT_LEAST(t.gap, -1e-12);
        CHECK_AT_MOST(t.infeasible, 1e-12);
        CHECK_AT_MOST(t.spectral, set.mu * (1 + 1e-12));
        lapis_solver_free(a.solver);
        discard(&p);
      }
  lapis_ctx_free(ctx);
}

/* mu-rel is in units of sigma_1(Z_0) / |Omega_X|. */
static void relative_mu(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  problem p = make(7, 2, 11, 0.3, false, 5);
  lapis_mc_settings set = tight(0, 0, 0.3, 4, NAN);
  set.mu_rel = 0.05;
  answer a = solve(ctx, &p.data, &set);
  double Z0[10 * 11], nuclear, spectral;
  for (int64_t j = 0; j < 11; j++) {
    for (int64_t k = 0; k < 2; k++) Z0[j * 10 + k] = p.Y[j * 2 + k];
    for (int64_t i = 0; i < 7; i++) Z0[j * 10 + 2 + i] = p.X[j * 7 + i];
    Z0[j * 10 + 9] = 1;
  }
  for (int k = 0; k < 110; k++)
    if (isnan(Z0[k])) Z0[k] = 0;
  oracle_norms(Z0, 10, 11, &nuclear, &spectral);
  const lapis_mc_settings *used = lapis_result_settings(a.solver);
  double mu = 0.05 * spectral / (double)oracle_seen(p.X, 77);
  CHECK_NEAR(used->mu, mu, 1e-12 * mu);
  lapis_solver_free(a.solver);
  discard(&p);
  lapis_ctx_free(ctx);
}

/* Without Y: the features alone, optimal all the same. */
static void plain_completion(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  problem p = make(9, 0, 14, 0.5, false, 8);
  lapis_mc_settings set = tight(LAPIS_MC_1, 0, 1, 1, 2e-3);
  answer a = solve(ctx, &p.data, &set);
  mc_truth t = recompute(&p.data, &set, false, &a);
  CHECK_AT_MOST(t.gap, 1e-8);
  CHECK_AT_LEAST(t.gap, -1e-12);
  lapis_mat none;
  assert_int_equal(lapis_result_get(a.solver, "scores", &none), LAPIS_EINVAL);
  lapis_solver_free(a.solver);
  discard(&p);
  lapis_ctx_free(ctx);
}

/* Columns that are all the same are 0 once they are standardised. */
static void zeros_are_completed(void **state)
{
  static const int solvers[] = {LAPIS_MC_ADMM, LAPIS_MC_FACTORED};
  double X[12] = {0};
  X[5] = NAN;
  lapis_data data = {.X = lapis_mat_f64(X, 3, 4)};
  lapis_ctx *ctx = lapis_ctx_new();
  for (int k = 0; k < 4; k++) {
    lapis_mc_settings set = lapis_mc_defaults();
    set.solver = solvers[k % 2];
    set.certificate = set.solver == LAPIS_MC_ADMM;
    if (k >= 2) set.mu = 0.1;
    answer a = solve(ctx, &data, &set);
    assert_int_equal(a.info.status, LAPIS_OK);
    CHECK_NEAR(a.info.objective, 0, 0);
    for (int64_t i = 0; i < 12; i++)
      CHECK_NEAR(lapis_mat_at(&a.low_rank, i % 3, i / 3), 0, 0);
    lapis_solver_free(a.solver);
  }
  lapis_ctx_free(ctx);
}

/* ---- laws ---------------------------------------------------------------*/
static void permuting_samples_permutes_scores(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  problem p = make(8, 2, 20, 0.3, false, 3), q = make(8, 2, 20, 0.3, false, 3);
  for (int64_t j = 0; j < 20; j++) {
    int64_t from = (7 * j + 3) % 20;
    memcpy(q.X + j * 8, p.X + from * 8, 8 * sizeof(double));
    memcpy(q.Y + j * 2, p.Y + from * 2, 2 * sizeof(double));
  }
  lapis_mc_settings set = tight(LAPIS_MC_POS, 0, 0.3, 4, 1e-3);
  set.stop.tol = 1e-11;
  answer a = solve(ctx, &p.data, &set), b = solve(ctx, &q.data, &set);
  for (int64_t j = 0; j < 20; j++)
    for (int64_t k = 0; k < 2; k++)
      CHECK_NEAR(lapis_mat_at(&b.scores, k, j),
                 lapis_mat_at(&a.scores, k, (7 * j + 3) % 20), 1e-6);
  lapis_solver_free(a.solver);
  lapis_solver_free(b.solver);
  discard(&p);
  discard(&q);
  lapis_ctx_free(ctx);
}

/* Equal bits with the same number of threads, and with any where that is asked
 * for. */
static void threads_do_not_matter(void **state)
{
  static const char *const how[5][2] = {{"1", "false"},
                                        {"2", "false"},
                                        {"2", "false"},
                                        {"1", "true"},
                                        {"2", "true"}};
  lapis_ctx *ctx[5];
  answer a[5];
  problem p = make(90, 2, 150, 0.5, true, 4);
  lapis_mc_settings set = tight(LAPIS_MC_SIMPLEX, 0, 0.3, 4, 1e-4);
  set.stop.max_iters = 100; /* by then bits would have parted */
  for (int k = 0; k < 5; k++) {
    ctx[k] = lapis_ctx_new();
    lapis_ctx_set(ctx[k], "threads", how[k][0]);
    lapis_ctx_set(ctx[k], "deterministic", how[k][1]);
    a[k] = solve(ctx[k], &p.data, &set);
  }
  CHECK_AT_MOST(farthest(&a[0].scores, &a[1].scores), 1e-10);
  size_t bytes = (size_t)(2 * 150) * sizeof(double);
  assert_memory_equal(a[1].scores.val, a[2].scores.val, bytes);
  assert_memory_equal(a[3].scores.val, a[4].scores.val, bytes);
  for (int k = 0; k < 5; k++) {
    lapis_solver_free(a[k].solver);
    lapis_ctx_free(ctx[k]);
  }
  discard(&p);
}

static void backends_agree(void **state)
{
  problem p = make(10, 1, 16, 0.3, false, 6);
  lapis_mc_settings set = tight(LAPIS_MC_POS, 0, 0.3, 4, 1e-3);
  set.stop.tol = 1e-10;
  lapis_ctx *fast = lapis_ctx_new(), *slow = lapis_ctx_new();
  assert_int_equal(lapis_ctx_set(slow, "backend", "reference"), LAPIS_OK);
  answer a = solve(fast, &p.data, &set), b = solve(slow, &p.data, &set);
  CHECK_NEAR(a.info.objective, b.info.objective, 1e-9);
  CHECK_AT_MOST(farthest(&a.scores, &b.scores), 1e-5);
  lapis_solver_free(a.solver);
  lapis_solver_free(b.solver);
  lapis_ctx_free(fast);
  lapis_ctx_free(slow);
  discard(&p);
}

/* Class representatives asked for are those appended by hand. */
static void class_representatives(void **state)
{
  fixture f;
  fixture_open(&f, "pos_01_classreps", true);
  lapis_data data = {.X = fixture_mat(&f.data, "X"),
                     .Y = fixture_mat(&f.data, "Y")};
  lapis_mat scores = fixture_mat(&f.expected, "scores"), features;
  lapis_mat low_rank = fixture_mat(&f.expected, "low_rank");
  data.X.cols = data.Y.cols = 40;
  scores.cols = 40;
  lapis_mc_settings set =
      tight(LAPIS_MC_POS, LAPIS_MC_LABELS_01, fixture_number(&f, "lam"),
            fixture_number(&f, "gamma"), fixture_number(&f, "mu"));
  set.class_features = true;
  answer a = solve(f.ctx, &data, &set);
  double truth = fixture_number(&f, "objective");
  CHECK_NEAR(a.info.objective, truth, 1e-7 * truth);
  CHECK_AT_MOST(farthest(&a.scores, &scores), 1e-3);
  assert_int_equal(lapis_result_get(a.solver, "class_features", &features), 0);
  assert_int_equal(features.cols, 4);
  low_rank.val = (double *)low_rank.val + 40 * low_rank.ld;
  low_rank.cols = 4;
  CHECK_AT_MOST(farthest(&features, &low_rank), 1e-3);
  lapis_solver_free(a.solver);
  fixture_close(&f);
}

/* labels come back in the values they were given in */
static void labels_in_their_own_values(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  problem p = make(8, 1, 30, 0, true, 11);
  for (int64_t j = 0; j < 30; j++) p.Y[j] = p.Y[j] > 0 ? 7 : 3;
  lapis_mc_settings set = tight(LAPIS_MC_1, 0, 10, 4, 1e-7);
  answer a = solve(ctx, &p.data, &set);
  lapis_mat labels;
  assert_int_equal(lapis_result_get(a.solver, "labels", &labels), LAPIS_OK);
  for (int64_t j = 0; j < 30; j++)
    CHECK_NEAR(lapis_mat_at(&labels, 0, j), p.Y[j], 0);
  lapis_solver_free(a.solver);
  for (int64_t j = 0; j < 30; j++) p.Y[j] = (double)(j % 3) * 10;
  a = solve(ctx, &p.data, &set);
  assert_int_equal(a.scores.rows, 3);
  lapis_mat classes;
  assert_int_equal(lapis_result_get(a.solver, "classes", &classes), LAPIS_OK);
  CHECK_NEAR(lapis_mat_at(&classes, 0, 2), 20, 0);
  lapis_solver_free(a.solver);
  discard(&p);
  lapis_ctx_free(ctx);
}

/* [MC15] Fig. 5: two classes at -1 and +1 in R^500, noise N(0, 400 I), half
 * of the labels hidden; the Bayes classifier has 0.868.  Draws differ by about
 * 0.01, and these five are kinder than most. */
static double figure_5(lapis_ctx *ctx, uint64_t seed)
{
  enum { D = 500, N = 2000 };
  double *X = malloc(D * N * sizeof *X), *Y = malloc(N * sizeof *Y);
  uint64_t s = seed;
  for (int64_t j = 0; j < N; j++) {
    double y = j % 2 == 0 ? 1 : -1;
    for (int64_t i = 0; i < D; i++) X[j * D + i] = y + 20 * check_normal(&s);
    Y[j] = j < N / 2 ? y : NAN;
  }
  lapis_data data = {.X = lapis_mat_f64(X, D, N), .Y = lapis_mat_f64(Y, 1, N)};
  lapis_mc_settings set = lapis_mc_defaults();
  set.mu = 1500.0 / ((double)D * N);
  set.lambda = 1e3;
  answer a = solve(ctx, &data, &set);
  int64_t right = 0;
  for (int64_t j = N / 2; j < N; j++)
    right += (lapis_mat_at(&a.scores, 0, j) > 0) == (j % 2 == 0);
  lapis_solver_free(a.solver);
  free(X);
  free(Y);
  return (double)right / (N / 2);
}

/* Of two values the rarer is 1 inside, with labels `rare`: the answer is that
 * of the problem written so, for every spelling, and the same score for
 * "larger value" up to z and 1 - z; so is a model's. */
static void rarer_value_is_one(void **state)
{
  static const double spelt[][2] = {{0, 1}, {1, 0}, {-1, 1}, {1, -1},
                                    {1, 2}, {2, 1}, {3, 7}};
  enum { SPELLINGS = sizeof spelt / sizeof *spelt, N = 30 };
  lapis_ctx *ctx = lapis_ctx_new();
  problem p = make(8, 1, N, 0, true, 11);
  double rare[N], mean = 0;
  for (int j = 0; j < N; j++) mean += p.X[j * 8] / N;
  for (int j = 0; j < N; j++)
    p.Y[j] = rare[j] = j % 4 == 3 ? NAN : p.X[j * 8] > 1.2 * mean;
  lapis_mc_settings set = tight(LAPIS_MC_1, LAPIS_MC_LABELS_01, .5, 3, 1e-3);
  answer want = solve(ctx, &p.data, &set);
  set.labels = LAPIS_MC_LABELS_RARE;
  for (int k = 0; k < SPELLINGS; k++) {
    for (int j = 0; j < N; j++)
      p.Y[j] = isnan(rare[j]) ? NAN : spelt[k][(int)rare[j]];
    bool turned = spelt[k][1] < spelt[k][0];
    answer got = solve(ctx, &p.data, &set);
    const double *labels = check_result(got.solver, "labels");
    lapis_model *m;
    lapis_solver *fold;
    assert_int_equal(lapis_model_new(got.solver, &m), 0);
    assert_int_equal(lapis_predict_new(ctx, &p.data, m, NULL, &fold), 0);
    assert_true(lapis_solve(fold) >= 0);
    const double *folded = check_result(fold, "scores");
    for (int j = 0; j < N; j++) {
      double z = lapis_mat_at(&want.scores, 0, j);
      double s = lapis_mat_at(&got.scores, 0, j);
      CHECK_NEAR(s, turned ? 1 - z : z, 0);
      CHECK_NEAR(labels[j], spelt[k][z > 0.5], 0);
      if (isnan(rare[j])) CHECK_NEAR(folded[j], s, 1e-3);
    }
    lapis_solver_free(fold);
    lapis_model_free(m);
    lapis_solver_free(got.solver);
  }
  lapis_solver_free(want.solver);
  lapis_ctx_free(ctx);
  discard(&p);
}

static void two_gaussians(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  double sum = 0;
  for (uint64_t seed = 1; seed <= 5; seed++) sum += figure_5(ctx, seed);
  CHECK_AT_LEAST(sum / 5, 0.84);
  lapis_ctx_free(ctx);
}

/* A solver taken along a path of mu ends where a new one does. */
static void retuned_is_as_new(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  problem p = make(10, 2, 16, 0.3, false, 6);
  lapis_mc_settings set = tight(LAPIS_MC_POS, 0, 0.3, 4, 1e-2);
  set.stop.tol = 1e-10;
  answer warm = solve(ctx, &p.data, &set);
  for (int step = 0; step < 3; step++) {
    set.mu /= 3;
    set.lambda *= 2;
    assert_int_equal(lapis_solver_retune(warm.solver, &set), LAPIS_OK);
    assert_int_equal(lapis_solve(warm.solver), LAPIS_OK);
    answer cold = solve(ctx, &p.data, &set);
    CHECK_NEAR(lapis_result_info(warm.solver)->objective, cold.info.objective,
               1e-9);
    CHECK_AT_MOST(farthest(&warm.scores, &cold.scores), 1e-4);
    lapis_solver_free(cold.solver);
  }
  set.variant = LAPIS_MC_1;
  assert_int_equal(lapis_solver_retune(warm.solver, &set), LAPIS_ENOTBUILT);
  lapis_solver_free(warm.solver);
  discard(&p);
  lapis_ctx_free(ctx);
}

/* ---- stopping -----------------------------------------------------------*/
static void stopping_early_is_no_error(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  problem p = make(10, 1, 16, 0.3, false, 6);
  lapis_mc_settings set = tight(LAPIS_MC_POS, 0, 0.3, 4, 1e-3);
  set.stop.max_iters = 3;
  answer a = solve(ctx, &p.data, &set);
  assert_int_equal(a.info.status, LAPIS_MAX_ITERS);
  assert_int_equal(a.info.iterations, 3);
  mc_truth t = recompute(&p.data, &set, false, &a);
  CHECK_NEAR(a.info.gap, t.gap, 1e-9);
  lapis_solver_free(a.solver);
  set.stop.max_iters = -1;
  set.stop.seconds = 0;
  set.stop.max_iters = 1000;
  a = solve(ctx, &p.data, &set);
  assert_int_equal(a.info.status, LAPIS_TIME_LIMIT);
  lapis_solver_free(a.solver);
  set.stop.seconds = INFINITY;
  lapis_solver *s;
  assert_int_equal(lapis_mc_new(ctx, &p.data, &set, &s), LAPIS_OK);
  lapis_ctx_cancel(ctx);
  assert_int_equal(lapis_solve(s), LAPIS_CANCELLED);
  assert_int_equal(lapis_solve(s), LAPIS_OK);
  lapis_solver_free(s);
  discard(&p);
  lapis_ctx_free(ctx);
}

/* Asked for more than rounding allows: says so, answer as good as it gets. */
static void precision_floor(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  problem p = make(10, 1, 16, 0.3, false, 6);
  lapis_mc_settings set = tight(LAPIS_MC_POS, 0, 0.3, 4, 1e-3);
  set.stop.tol = 0;
  answer a = solve(ctx, &p.data, &set);
  assert_true(a.info.status == LAPIS_PRECISION_FLOOR ||
              a.info.status == LAPIS_OK);
  CHECK_AT_MOST(a.info.gap, 1e-13);
  lapis_solver_free(a.solver);
  discard(&p);
  lapis_ctx_free(ctx);
}

/* ---- refusals -----------------------------------------------------------*/
static void refused(problem *p, const lapis_mc_settings *set,
                    lapis_status wanted, const char *words)
{
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_solver *s = NULL;
  lapis_status got = lapis_mc_new(ctx, &p->data, set, &s);
  if (got != wanted || !check_has(lapis_ctx_error(ctx), words))
    fail_msg("wanted %d '%s', got %d '%s'", wanted, words, got,
             lapis_ctx_error(ctx));
  assert_null(s);
  lapis_ctx_free(ctx);
  discard(p);
}

/* Every number a class of its own: no classes, and the method that is meant. */
static void real_targets_are_refused(void **state)
{
  lapis_mc_settings set = tight(LAPIS_MC_1, 0, 1, 3, 1e-3);
  problem p = make(5, 1, 12, 0, true, 1);
  for (int j = 0; j < 12; j++) p.Y[j] = 0.1 * j * j;
  refused(&p, &set, LAPIS_EDATA, "Y 12");
  lapis_ctx *ctx = lapis_ctx_new();
  p = make(5, 1, 60, 0, true, 1); /* many classes of few samples are classes */
  for (int j = 0; j < 60; j++) p.Y[j] = 5 + j % 40;
  answer a = solve(ctx, &p.data, &set);
  assert_int_equal(a.scores.rows, 40);
  lapis_solver_free(a.solver);
  discard(&p);
  p = make(5, 1, 60, 0, true, 1);
  for (int j = 0; j < 60; j++) p.Y[j] = 7 * (j % 40); /* sizes */
  refused(&p, &set, LAPIS_EDATA, "Y 40 60");
  lapis_ctx_free(ctx);
}

static void refusals(void **state)
{
  lapis_mc_settings set = tight(LAPIS_MC_1, 0, 0.3, 4, 1e-3);
  problem p = make(5, 2, 12, 0, true, 1);
  p.X[3 * 5 + 2] = INFINITY;
  refused(&p, &set, LAPIS_EDATA, "X 4 3");
  p = make(5, 2, 12, 0, true, 1);
  p.Y[7 * 2] = -INFINITY;
  refused(&p, &set, LAPIS_EDATA, "Y 8 1");
  p = make(5, 2, 12, 0, true, 1);
  for (int j = 0; j < 12; j++) p.X[j * 5 + 3] = NAN;
  refused(&p, &set, LAPIS_EMISSING, "4");
  p = make(5, 2, 12, 0, true, 1);
  p.data.Y.cols = 11;
  refused(&p, &set, LAPIS_ESHAPE, "Y 11 X 12");
  p = make(5, 1, 12, 0, true, 1);
  for (int j = 0; j < 12; j++) p.Y[j] = 1;
  refused(&p, &set, LAPIS_EDATA, "");
  p = make(5, 2, 12, 0, true, 1);
  p.Y[5] = 4;
  refused(&p, &set, LAPIS_EDATA, "Y 4 3 2");
  p = make(5, 2, 12, 0, true, 1);
  p.data.X.cols = p.data.Y.cols = 0;
  refused(&p, &set, LAPIS_ESHAPE, "0");
  p = make(5, 2, 12, 0, true, 1);
  p.X[11] = -1e200;
  refused(&p, &set, LAPIS_EDATA, "X -1e+200 3 2");
  set.mu = 0;
  p = make(5, 2, 12, 0, true, 1);
  refused(&p, &set, LAPIS_EINVAL, "mu 0");
}

static void refusals_of_histograms(void **state)
{
  lapis_mc_settings set = tight(LAPIS_MC_POS, 0, 0.3, 4, 1e-3);
  problem p = make(5, 2, 12, 0, true, 1);
  p.X[4 * 5 + 1] = -0.5;
  refused(&p, &set, LAPIS_EDATA, "X -0.5 5 2");
  set.variant = LAPIS_MC_SIMPLEX;
  p = make(5, 2, 12, 0, true, 1);
  p.X[8 * 5] += 0.25;
  refused(&p, &set, LAPIS_EDATA, "9 X 1.25 variant 1 map l1");
  p = make(5, 2, 12, 0, true, 1);
  p.X[8 * 5] = NAN;
  p.X[8 * 5 + 1] = 1.5;
  refused(&p, &set, LAPIS_EDATA, "");
}

int test_mc(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(verified_mc1),
      cmocka_unit_test(verified_pos),
      cmocka_unit_test(verified_simplex),
      cmocka_unit_test(verified_fpc),
      cmocka_unit_test(fpc_says_when_it_diverges),
      cmocka_unit_test(fpc_says_what_it_is_worth),
      cmocka_unit_test(retuned_is_as_new),
      cmocka_unit_test(random_certificates),
      cmocka_unit_test(relative_mu),
      cmocka_unit_test(plain_completion),
      cmocka_unit_test(zeros_are_completed),
      cmocka_unit_test(permuting_samples_permutes_scores),
      cmocka_unit_test(threads_do_not_matter),
      cmocka_unit_test(backends_agree),
      cmocka_unit_test(class_representatives),
      cmocka_unit_test(labels_in_their_own_values),
      cmocka_unit_test(rarer_value_is_one),
      cmocka_unit_test(real_targets_are_refused),
      cmocka_unit_test(two_gaussians),
      cmocka_unit_test(stopping_early_is_no_error),
      cmocka_unit_test(precision_floor),
      cmocka_unit_test(refusals),
      cmocka_unit_test(refusals_of_histograms),
  };
  return run_cases(tests, NULL, NULL);
}
