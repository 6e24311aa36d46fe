/* The factored solver: what it proves, recomputed from outside; bad critical
 * points escaped; what it must not claim; what it refuses. */
#include "fixture.h"
#include "mc_oracle.h"

/* ---- problems -------------------------------------------------------------*/
/* Rank r plus noise, a share of the entries seen; each row and column keeps at
 * least one.  Dense with NaN, and the same in compressed columns. */
typedef struct planted {
  int64_t D, n, count;
  double *X; /* D x n */
  int64_t *at;
  int32_t *row;
  double *value;
} planted;

static planted plant(int64_t D, int64_t n, int64_t r, double seen, double noise,
                     uint64_t seed)
{
  planted p = {.D = D, .n = n};
  uint64_t random = seed;
  double *L = malloc((size_t)(D * r) * sizeof *L);
  double *R = malloc((size_t)(n * r) * sizeof *R);
  for (int64_t k = 0; k < D * r; k++) L[k] = check_normal(&random);
  for (int64_t k = 0; k < n * r; k++) R[k] = check_normal(&random);
  p.X = malloc((size_t)(D * n) * sizeof *p.X);
  p.at = calloc((size_t)n + 1, sizeof *p.at);
  p.row = malloc((size_t)(D * n) * sizeof *p.row);
  p.value = malloc((size_t)(D * n) * sizeof *p.value);
  for (int64_t j = 0; j < n; j++) {
    for (int64_t i = 0; i < D; i++) {
      double x = noise * check_normal(&random);
      for (int64_t k = 0; k < r; k++) x += L[i * r + k] * R[j * r + k];
      bool keep = check_uniform(&random) < seen || i == j % D || j == i % n;
      p.X[j * D + i] = keep ? x : NAN;
      if (!keep) continue;
      p.row[p.count] = (int32_t)i;
      p.value[p.count++] = x;
    }
    p.at[j + 1] = p.count;
  }
  free(L);
  free(R);
  return p;
}

static void plant_free(planted *p)
{
  free(p->X);
  free(p->at);
  free(p->row);
  free(p->value);
}

static lapis_mat dense_of(const planted *p)
{
  return lapis_mat_f64(p->X, p->D, p->n);
}

static lapis_mat sparse_of(const planted *p)
{
  return (lapis_mat){.dtype = LAPIS_F64,
                     .rows = p->D,
                     .cols = p->n,
                     .ld = p->D,
                     .val = p->value,
                     .colptr = p->at,
                     .rowidx = p->row};
}

/* Two times the norm of the noise on Omega, in units of 1 / |Omega|. */
static double above_noise(const planted *p, double noise)
{
  double share = (double)p->count / (double)(p->D * p->n);
  double edge =
      noise * (sqrt((double)p->D * share) + sqrt((double)p->n * share));
  return 2 * edge / (double)p->count;
}

static lapis_mc_settings factored(double mu, double tol)
{
  lapis_mc_settings set = lapis_mc_defaults();
  set.lambda = .1;
  set.gamma = 3;
  set.solver = LAPIS_MC_FACTORED;
  set.mu = mu;
  set.stop.tol = tol;
  set.certificate = true;
  return set;
}

typedef struct answer {
  lapis_solver *solver;
  lapis_info info;
  lapis_mat low_rank, scores;
  double *dual; /* dense, m x n */
} answer;

static double *dense_dual(const lapis_mat *G)
{
  double *out = calloc((size_t)(G->rows * G->cols), sizeof *out);
  for (int64_t j = 0; j < G->cols; j++)
    for (int64_t i = 0; i < G->rows; i++)
      out[j * G->rows + i] = lapis_mat_at(G, i, j);
  return out;
}

static void read_answer(lapis_ctx *ctx, const lapis_data *data, answer *a)
{
  lapis_mat dual;
  a->info = *lapis_result_info(a->solver);
  if (lapis_result_get(a->solver, "low_rank", &a->low_rank) < 0 ||
      lapis_result_get(a->solver, "dual", &dual) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  a->dual = dense_dual(&dual);
  if (data->Y.rows > 0)
    assert_int_equal(lapis_result_get(a->solver, "scores", &a->scores), 0);
}

static answer solve(lapis_ctx *ctx, const lapis_data *data,
                    const lapis_mc_settings *set)
{
  answer a = {0};
  if (lapis_mc_new(ctx, data, set, &a.solver) < 0 || lapis_solve(a.solver) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  read_answer(ctx, data, &a);
  return a;
}

static void answer_free(answer *a)
{
  free(a->dual);
  lapis_solver_free(a->solver);
}

/* X dense: what the oracle reads. */
static mc_truth recompute(const lapis_mat *X, const lapis_mat *Y,
                          const lapis_mc_settings *set, bool zero_one,
                          const answer *a)
{
  mc_case c = {.variant = ORACLE_MC1,
               .zero_one = zero_one,
               .K = Y == NULL ? 0 : Y->rows,
               .D = X->rows,
               .n = X->cols,
               .X = X->val,
               .Y = Y == NULL ? NULL : Y->val,
               .lambda = set->lambda,
               .gamma = set->gamma,
               .mu = set->mu};
  return oracle_mc(&c, a->scores.val, &a->low_rank, a->dual);
}

/* Everything claimed is true: objective, dual, norm and gap. */
static void check_claims(const mc_truth *t, const answer *a, double mu)
{
  double size = fabs(t->primal);
  /* the primal is an upper bound, tight to what the factors resolve */
  CHECK_AT_MOST(t->primal - a->info.objective, 1e-12 * size);
  CHECK_NEAR(a->info.objective, t->primal, 1e-7 * size);
  CHECK_NEAR(a->info.dual, t->dual, 1e-11 * size);
  CHECK_AT_MOST(t->spectral, mu * (1 + 1e-12));
  CHECK_AT_LEAST(t->gap, -1e-13);
  CHECK_AT_MOST(t->gap, a->info.gap + 1e-12);
}

/* ---- plain completion
 * -------------------------------------------------------*/
static void certify_plain(int64_t D, int64_t n, double seen, int proof,
                          bool stored, uint64_t seed)
{
  lapis_ctx *ctx = lapis_ctx_new();
  planted p = plant(D, n, 3, seen, 0.3, seed);
  lapis_mat X = dense_of(&p);
  lapis_data data = {.X = stored ? sparse_of(&p) : X};
  lapis_mc_settings set = factored(above_noise(&p, 0.3) / 2, 1e-7);
  set.proof = proof;
  set.absent = LAPIS_ABSENT_MISSING;
  answer a = solve(ctx, &data, &set);
  mc_truth t = recompute(&X, NULL, &set, false, &a);
  check_claims(&t, &a, set.mu);
  assert_int_equal(a.info.status, LAPIS_OK);
  CHECK_AT_MOST(t.gap, 1e-7);
  answer_free(&a);
  plant_free(&p);
  lapis_ctx_free(ctx);
}

static void gaps_are_certified(void **state)
{
  certify_plain(40, 30, 0.5, LAPIS_MC_PROOF_RANDOM, false, 1);
  certify_plain(40, 30, 0.5, LAPIS_MC_PROOF_EXACT, false, 2);
  certify_plain(30, 45, 0.4, LAPIS_MC_PROOF_RANDOM, true, 3);
  certify_plain(30, 45, 0.4, LAPIS_MC_PROOF_EXACT, true, 4);
  certify_plain(3, 50, 0.6, LAPIS_MC_PROOF_RANDOM, true, 5);
  certify_plain(50, 2, 0.9, LAPIS_MC_PROOF_EXACT, true, 6);
  certify_plain(20, 20, 1.0, LAPIS_MC_PROOF_RANDOM, false, 7);
}

static void agrees_with_admm(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  for (uint64_t seed = 1; seed <= 5; seed++) {
    planted p = plant(35, 50, 4, 0.35, 0.5, 10 + seed);
    lapis_data data = {.X = dense_of(&p)};
    lapis_mc_settings set = factored(NAN, 1e-8);
    set.mu_rel = 0.1; /* sigma_1 must be the same number */
    answer a = solve(ctx, &data, &set);
    set.solver = LAPIS_MC_ADMM;
    answer b = solve(ctx, &data, &set);
    CHECK_NEAR(a.info.objective, b.info.objective,
               2e-8 * fabs(b.info.objective));
    CHECK_NEAR(((const lapis_mc_settings *)lapis_result_settings(a.solver))->mu,
               ((const lapis_mc_settings *)lapis_result_settings(b.solver))->mu,
               1e-9 * set.mu_rel);
    answer_free(&a);
    answer_free(&b);
    plant_free(&p);
  }
  lapis_ctx_free(ctx);
}

/* A sparse X whose absent entries are missing is the dense one with NaN, for
 * every solver. */
static void absent_is_what_was_asked(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  planted p = plant(12, 15, 2, 0.6, 0.2, 21);
  static const int solvers[] = {LAPIS_MC_FACTORED, LAPIS_MC_ADMM};
  for (int i = 0; i < 2; i++) {
    lapis_data dense = {.X = dense_of(&p)}, stored = {.X = sparse_of(&p)};
    lapis_mc_settings set = factored(above_noise(&p, 0.2), 1e-8);
    set.solver = solvers[i];
    set.absent = LAPIS_ABSENT_MISSING;
    answer a = solve(ctx, &dense, &set), b = solve(ctx, &stored, &set);
    CHECK_NEAR(a.info.objective, b.info.objective, 0);
    CHECK_NEAR(a.info.dual, b.info.dual, 0);
    answer_free(&a);
    answer_free(&b);
    /* zeros are another problem */
    set.absent = LAPIS_ABSENT_ZERO;
    b = solve(ctx, &stored, &set);
    for (int64_t k = 0; k < p.D * p.n; k++)
      if (isnan(p.X[k])) p.X[k] = 0;
    a = solve(ctx, &dense, &set);
    CHECK_NEAR(a.info.objective, b.info.objective, 0);
    answer_free(&a);
    answer_free(&b);
    plant_free(&p);
    p = plant(12, 15, 2, 0.6, 0.2, 21);
  }
  plant_free(&p);
  lapis_ctx_free(ctx);
}

/* ---- with labels
 * --------------------------------------------------------------*/
static void certify_labels(bool zero_one, int64_t K, bool stored, uint64_t seed)
{
  lapis_ctx *ctx = lapis_ctx_new();
  planted p = plant(24, 36, 3, 0.5, 0.3, seed);
  uint64_t random = seed + 100;
  double *Y = malloc((size_t)(K * p.n) * sizeof *Y);
  for (int64_t k = 0; k < K * p.n; k++) {
    bool yes = check_uniform(&random) < 0.5;
    Y[k] = check_uniform(&random) < 0.4 ? NAN : yes ? 1 : zero_one ? 0 : -1;
  }
  for (int64_t c = 0; c < K; c++) {
    Y[c] = 1;
    Y[K + c] = zero_one ? 0 : -1;
  }
  lapis_mat X = dense_of(&p), labels = lapis_mat_f64(Y, K, p.n);
  lapis_data data = {.X = stored ? sparse_of(&p) : X, .Y = labels};
  lapis_mc_settings set = factored(above_noise(&p, 0.3) / 2, 1e-6);
  set.absent = LAPIS_ABSENT_MISSING;
  set.labels = zero_one ? LAPIS_MC_LABELS_01 : LAPIS_MC_LABELS_PM;
  set.lambda = 0.5;
  answer a = solve(ctx, &data, &set);
  mc_truth t = recompute(&X, &labels, &set, zero_one, &a);
  check_claims(&t, &a, set.mu);
  assert_int_equal(a.info.status, LAPIS_OK);
  set.solver = LAPIS_MC_ADMM;
  answer b = solve(ctx, &data, &set);
  CHECK_NEAR(a.info.objective, b.info.objective, 2e-6 * b.info.objective);
  answer_free(&a);
  answer_free(&b);
  free(Y);
  plant_free(&p);
  lapis_ctx_free(ctx);
}

static void labels_are_certified(void **state)
{
  certify_labels(false, 1, false, 31);
  certify_labels(true, 1, true, 32);
  certify_labels(false, 3, true, 33);
  certify_labels(true, 4, false, 34);
}

static void check_fixture(const char *name, const char *coding)
{
  fixture f;
  fixture_open(&f, name, true);
  bool zero_one = strcmp(coding, "01") == 0;
  lapis_data data = {.X = fixture_mat(&f.data, "X"),
                     .Y = fixture_mat(&f.data, "Y")};
  lapis_mc_settings set = factored(fixture_number(&f, "mu"), 1e-6);
  set.labels = zero_one ? LAPIS_MC_LABELS_01 : LAPIS_MC_LABELS_PM;
  set.lambda = fixture_number(&f, "lam");
  set.gamma = fixture_number(&f, "gamma");
  answer a = solve(f.ctx, &data, &set);
  mc_truth t = recompute(&data.X, &data.Y, &set, zero_one, &a);
  double truth = fixture_number(&f, "objective");
  check_claims(&t, &a, set.mu);
  CHECK_NEAR(a.info.objective, truth, 1.01e-6 * truth);
  answer_free(&a);
  fixture_close(&f);
}

static void verified_problems(void **state)
{
  check_fixture("mc1_pm", "pm");
  check_fixture("mc1_01_missing", "01");
}

/* ---- bad critical points
 * ------------------------------------------------------*/
/* Warm from a mu at which the rank is too small. */
static void a_rank_too_small_is_left(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  planted p = plant(40, 60, 6, 0.5, 0.1, 41);
  lapis_data data = {.X = dense_of(&p)};
  double mu = above_noise(&p, 0.1);
  lapis_mc_settings set = factored(NAN, 1e-7);
  set.mu_rel = 0.6;
  answer a = solve(ctx, &data, &set);
  assert_in_range(a.info.rank, 1, 5);
  set.mu = mu;
  set.mu_rel = NAN;
  assert_int_equal(lapis_solver_retune(a.solver, &set), 0);
  assert_int_equal(lapis_solve(a.solver), LAPIS_OK);
  lapis_info warm = *lapis_result_info(a.solver);
  answer b = solve(ctx, &data, &set);
  assert_true(warm.rank >= 6);
  CHECK_NEAR(warm.objective, b.info.objective, 2e-7 * b.info.objective);
  answer_free(&a);
  answer_free(&b);
  plant_free(&p);
  lapis_ctx_free(ctx);
}

/* Where everything is seen the first sweeps end at the answer of their rank,
 * and what is missed is told by one look: more of it than joins at once is not
 * lost. */
static void what_is_missed_joins_later(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  for (int k = 0; k < 3; k++) {
    planted p = plant(20, 20 + 5 * k, 2, 1, 1, 42 + (uint64_t)k);
    lapis_mat X = dense_of(&p);
    lapis_data data = {.X = X};
    lapis_mc_settings set = factored(0.1 / (double)p.count, 1e-6);
    answer a = solve(ctx, &data, &set);
    mc_truth t = recompute(&X, NULL, &set, false, &a);
    check_claims(&t, &a, set.mu);
    assert_int_equal(a.info.status, LAPIS_OK);
    assert_true(a.info.rank > 16);
    CHECK_AT_MOST(t.gap, 1e-6);
    answer_free(&a);
    plant_free(&p);
  }
  lapis_ctx_free(ctx);
}

/* Two blocks that share neither rows nor columns: factors that live in one of
 * them get no gradient from the other, however often they are swept. */
static void an_orthogonal_start_is_left(void **state)
{
  enum { D = 20, N = 24 };
  lapis_ctx *ctx = lapis_ctx_new();
  double X[D * N];
  for (int j = 0; j < N; j++)
    for (int i = 0; i < D; i++) {
      bool first = i < D / 2 && j < N / 2, second = i >= D / 2 && j >= N / 2;
      X[j * D + i] = first ? 5 : second ? 1 : i == 0 || j == 0 ? 0 : NAN;
      if (!first && !second && (i + j) % 3 == 0) X[j * D + i] = 0;
    }
  lapis_data data = {.X = lapis_mat_f64(X, D, N)};
  lapis_mc_settings set = factored(NAN, 1e-8);
  set.mu_rel = 0.5; /* only the first block is above it */
  answer a = solve(ctx, &data, &set);
  assert_int_equal(a.info.rank, 1);
  set.mu_rel = 0.02;
  assert_int_equal(lapis_solver_retune(a.solver, &set), 0);
  assert_int_equal(lapis_solve(a.solver), LAPIS_OK);
  lapis_info warm = *lapis_result_info(a.solver);
  set.solver = LAPIS_MC_ADMM;
  answer b = solve(ctx, &data, &set);
  assert_true(warm.rank >= 2);
  CHECK_NEAR(warm.objective, b.info.objective, 3e-8 * b.info.objective);
  answer_free(&a);
  answer_free(&b);
  lapis_ctx_free(ctx);
}

/* ---- what must not be claimed
 * ---------------------------------------------------*/
/* The noise needs more columns than there may be: what is proved is true, and
 * it is not called solved. */
static void a_cap_is_no_solution(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  planted p = plant(40, 50, 2, 0.6, 1, 51);
  lapis_mat X = dense_of(&p);
  lapis_data data = {.X = X};
  lapis_mc_settings set = factored(above_noise(&p, 1) * 0.2, 1e-4);
  set.most_rank = 5;
  answer a = solve(ctx, &data, &set);
  mc_truth t = recompute(&X, NULL, &set, false, &a);
  assert_int_equal(a.info.status, LAPIS_MAX_ITERS);
  assert_int_equal(a.info.rank, 5);
  assert_true(a.info.gap > 1e-3);
  assert_true(a.info.iterations < 2000);
  check_claims(&t, &a, set.mu);
  set.most_rank = -1;
  answer b = solve(ctx, &data, &set);
  assert_int_equal(b.info.status, LAPIS_OK);
  assert_true(b.info.rank > 5);
  assert_true(b.info.objective < a.info.objective);
  answer_free(&a);
  answer_free(&b);
  plant_free(&p);
  lapis_ctx_free(ctx);
}

/* Nothing is missing, and far more columns are wanted than there may be: the
 * cap is met soon and the run ends with it. */
static void a_cap_far_below_the_rank_ends_soon(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  planted p = plant(150, 200, 2, 1, 1, 53);
  lapis_mat X = dense_of(&p);
  lapis_data data = {.X = X};
  lapis_mc_settings set = factored(above_noise(&p, 1) * 0.02, 1e-4);
  set.most_rank = 80;
  answer a = solve(ctx, &data, &set);
  mc_truth t = recompute(&X, NULL, &set, false, &a);
  print_message("%d sweeps\n", (int)a.info.iterations);
  assert_int_equal(a.info.status, LAPIS_MAX_ITERS);
  assert_int_equal(a.info.rank, 80);
  CHECK_AT_MOST((double)a.info.iterations, 32);
  check_claims(&t, &a, set.mu);
  answer_free(&a);
  plant_free(&p);
  lapis_ctx_free(ctx);
}

static void stopping_early_claims_what_holds(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  planted p = plant(40, 50, 3, 0.5, 0.5, 52);
  lapis_mat X = dense_of(&p);
  lapis_data data = {.X = X};
  for (int64_t most = 0; most < 4; most++) {
    lapis_mc_settings set = factored(above_noise(&p, 0.5), 1e-9);
    set.stop.max_iters = most;
    answer a = solve(ctx, &data, &set);
    mc_truth t = recompute(&X, NULL, &set, false, &a);
    assert_int_equal(a.info.status, LAPIS_MAX_ITERS);
    assert_int_equal(a.info.iterations, most);
    check_claims(&t, &a, set.mu);
    answer_free(&a);
  }
  plant_free(&p);
  lapis_ctx_free(ctx);
}

/* Cancelled, or out of time, before the first sweep and after some: what is
 * claimed then holds as well. */
static void cancel_at_a_look(int level, const char *text, void *user)
{
  if (level == 2 && strstr(text, "objective") != NULL) lapis_ctx_cancel(user);
}

static void cancel_and_time_limit_claim_what_holds(void **state)
{
  planted p = plant(40, 50, 3, 0.5, 0.5, 53);
  lapis_mat X = dense_of(&p);
  lapis_data data = {.X = X};
  for (int how = 0; how < 3; how++) {
    lapis_ctx *ctx = lapis_ctx_new();
    lapis_mc_settings set = factored(above_noise(&p, 0.5), 1e-13);
    if (how == 0) set.stop.seconds = 0;
    assert_int_equal(lapis_ctx_set(ctx, "verbose", "2"), 0);
    if (how == 1) lapis_ctx_on_message(ctx, cancel_at_a_look, ctx);
    answer a = {0};
    assert_int_equal(lapis_mc_new(ctx, &data, &set, &a.solver), LAPIS_OK);
    if (how == 2) lapis_ctx_cancel(ctx);
    lapis_status wanted = how == 0 ? LAPIS_TIME_LIMIT : LAPIS_CANCELLED;
    assert_int_equal(lapis_solve(a.solver), wanted);
    read_answer(ctx, &data, &a);
    assert_true(a.info.iterations == (how == 1 ? 2 : 0));
    mc_truth t = recompute(&X, NULL, &set, false, &a);
    check_claims(&t, &a, set.mu);
    answer_free(&a);
    lapis_ctx_free(ctx);
  }
  plant_free(&p);
}

/* Rows move farther than to their minimum, but never uphill: no look finds an
 * objective above the last. */
static void relaxed_sweeps_go_down(void **state)
{
  for (uint64_t seed = 0; seed < 6; seed++) {
    lapis_ctx *ctx = lapis_ctx_new();
    planted p = plant(60, 80, 4, seed < 3 ? 0.25 : 0.6, 0.3, 90 + seed);
    lapis_data data = {.X = sparse_of(&p)};
    lapis_mc_settings set = factored(above_noise(&p, 0.3) / 2, 1e-9);
    set.absent = LAPIS_ABSENT_MISSING;
    answer a = solve(ctx, &data, &set);
    lapis_mat history;
    assert_int_equal(lapis_result_get(a.solver, "history", &history), 0);
    assert_int_equal(a.info.status, LAPIS_OK);
    for (int64_t k = 1; k < history.cols; k++)
      CHECK_AT_MOST(lapis_mat_at(&history, 1, k),
                    lapis_mat_at(&history, 1, k - 1) * (1 + 1e-12));
    answer_free(&a);
    plant_free(&p);
    lapis_ctx_free(ctx);
  }
}

/* mu in its own unit after mu as it is: the unit was never looked at, and is
 * when it is asked for. */
static void retuned_to_mu_rel(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  planted p = plant(30, 40, 2, 0.5, 0.2, 97);
  lapis_data data = {.X = sparse_of(&p)};
  lapis_mc_settings set = factored(above_noise(&p, 0.2), 1e-8);
  set.absent = LAPIS_ABSENT_MISSING;
  answer a = solve(ctx, &data, &set);
  set.mu = NAN;
  set.mu_rel = 0.1;
  assert_int_equal(lapis_solver_retune(a.solver, &set), LAPIS_ENOTBUILT);
  answer b = solve(ctx, &data, &set);
  set.mu_rel = 0.05;
  assert_int_equal(lapis_solver_retune(b.solver, &set), LAPIS_OK);
  assert_int_equal(lapis_solve(b.solver), LAPIS_OK);
  answer c = solve(ctx, &data, &set);
  CHECK_NEAR(lapis_result_info(b.solver)->objective, c.info.objective,
             2e-8 * c.info.objective);
  answer_free(&a);
  answer_free(&b);
  answer_free(&c);
  plant_free(&p);
  lapis_ctx_free(ctx);
}

/* ---- laws
 * -----------------------------------------------------------------------*/
static void threads_do_not_change_a_bit(void **state)
{
  planted p = plant(90, 160, 3, 0.4, 0.3, 61);
  double objective[2], first[2];
  for (int i = 0; i < 2; i++) {
    lapis_ctx *ctx = lapis_ctx_new();
    assert_int_equal(lapis_ctx_set(ctx, "threads", i == 0 ? "1" : "4"), 0);
    lapis_data data = {.X = sparse_of(&p)};
    lapis_mc_settings set = factored(above_noise(&p, 0.3), 1e-7);
    set.absent = LAPIS_ABSENT_MISSING;
    answer a = solve(ctx, &data, &set);
    objective[i] = a.info.objective;
    first[i] = lapis_mat_at(&a.low_rank, 7, 11);
    answer_free(&a);
    lapis_ctx_free(ctx);
  }
  assert_memory_equal(&objective[0], &objective[1], sizeof(double));
  assert_memory_equal(&first[0], &first[1], sizeof(double));
  plant_free(&p);
}

/* low_rank = factors feature_factors', and the nuclear norm is the sum of the
 * singular values that were written. */
static void factors_are_the_answer(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  planted p = plant(25, 30, 2, 0.5, 0.2, 71);
  lapis_data data = {.X = dense_of(&p)};
  lapis_mc_settings set = factored(above_noise(&p, 0.2), 1e-7);
  answer a = solve(ctx, &data, &set);
  lapis_mat B, A, s;
  assert_int_equal(lapis_result_get(a.solver, "factors", &B), 0);
  assert_int_equal(lapis_result_get(a.solver, "feature_factors", &A), 0);
  assert_int_equal(lapis_result_get(a.solver, "singular_values", &s), 0);
  for (int64_t j = 0; j < p.n; j++)
    for (int64_t i = 0; i < p.D; i++) {
      double z = 0;
      for (int64_t k = 0; k < B.rows; k++)
        z += lapis_mat_at(&B, k, j) * lapis_mat_at(&A, k, i);
      CHECK_NEAR(lapis_mat_at(&a.low_rank, i, j), z, 1e-12);
    }
  double nuclear, spectral, sum = 0;
  oracle_norms(a.low_rank.val, p.D, p.n, &nuclear, &spectral);
  for (int64_t k = 0; k < s.cols; k++) sum += lapis_mat_at(&s, 0, k);
  CHECK_NEAR(sum, nuclear, 1e-8 * nuclear);
  CHECK_NEAR(lapis_mat_at(&s, 0, 0), spectral, 1e-10 * spectral);
  answer_free(&a);
  plant_free(&p);
  lapis_ctx_free(ctx);
}

/* ---- refusals
 * ---------------------------------------------------------------------*/
static void expect(const lapis_data *data, const lapis_mc_settings *set,
                   lapis_status status, const char *words)
{
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_solver *s = NULL;
  lapis_status got = lapis_mc_new(ctx, data, set, &s);
  if (got != status || !check_has(lapis_ctx_error(ctx), words))
    fail_msg("%d '%s', wanted %d '%s'", got, lapis_ctx_error(ctx), status,
             words);
  lapis_ctx_free(ctx);
}

static void refusals(void **state)
{
  planted p = plant(6, 7, 1, 0.7, 0.1, 81);
  lapis_data data = {.X = sparse_of(&p)};
  lapis_mc_settings set = factored(0.1, 1e-4);
  set.absent = LAPIS_ABSENT_MISSING;
  double kept = p.value[3];
  p.value[3] = NAN;
  expect(&data, &set, LAPIS_EMISSING, "X stores NaN at sample 1, feature");
  p.value[3] = INFINITY;
  expect(&data, &set, LAPIS_EDATA, "an infinity at sample 1");
  p.value[3] = kept;
  int32_t row = p.row[1];
  p.row[1] = p.row[0];
  expect(&data, &set, LAPIS_EDATA,
         "sample 1 (from 1): feature 1 is stored twice");
  p.row[1] = 99;
  expect(&data, &set, LAPIS_ESHAPE, "row outside 0 to 5");
  p.row[1] = row;
  int64_t all[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  int32_t most[7] = {0, 1, 2, 3, 5, 0, 1};
  data.X.colptr = all;
  data.X.rowidx = most;
  expect(&data, &set, LAPIS_EMISSING,
         "1 feature is observed in no sample, column 5");
  data.X = dense_of(&p);
  set.variant = LAPIS_MC_POS;
  for (int64_t k = 0; k < p.D * p.n; k++) p.X[k] = fabs(p.X[k]);
  expect(&data, &set, LAPIS_EINVAL, "solver factored cannot take");
  plant_free(&p);
}

int test_factored(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gaps_are_certified),
      cmocka_unit_test(agrees_with_admm),
      cmocka_unit_test(absent_is_what_was_asked),
      cmocka_unit_test(labels_are_certified),
      cmocka_unit_test(verified_problems),
      cmocka_unit_test(a_rank_too_small_is_left),
      cmocka_unit_test(what_is_missed_joins_later),
      cmocka_unit_test(an_orthogonal_start_is_left),
      cmocka_unit_test(a_cap_is_no_solution),
      cmocka_unit_test(a_cap_far_below_the_rank_ends_soon),
      cmocka_unit_test(stopping_early_claims_what_holds),
      cmocka_unit_test(cancel_and_time_limit_claim_what_holds),
      cmocka_unit_test(relaxed_sweeps_go_down),
      cmocka_unit_test(retuned_to_mu_rel),
      cmocka_unit_test(threads_do_not_change_a_bit),
      cmocka_unit_test(factors_are_the_answer),
      cmocka_unit_test(refusals),
  };
  return run_cases(tests, NULL, NULL);
}
