/* Weights of samples in mc: they multiply the losses of labels.  The
 * certificate is that of the weighted problem, recomputed from X, Y, the
 * weights and what was written; a whole weight is so many labels. */
#include "mc_oracle.h"
#include "mc_problem.h"
#include "room.h"

enum { D = 12, K = 2, N = 40 };

typedef struct answer {
  double scores[K * N];
  lapis_info info;
  mc_truth truth;
} answer;

static mc_case case_of(const lapis_data *data, const lapis_mc_settings *set)
{
  return (mc_case){.variant = set->variant,
                   .K = K,
                   .D = D,
                   .n = N,
                   .X = data->X.val,
                   .Y = data->Y.val,
                   .weight = data->weight,
                   .lambda = set->lambda,
                   .gamma = set->gamma,
                   .mu = set->mu};
}

static lapis_mc_settings settings(int variant, int solver)
{
  lapis_mc_settings set = lapis_mc_defaults();
  set.variant = variant;
  set.solver = solver;
  set.lambda = .4;
  set.gamma = 3;
  set.mu = 2e-3;
  set.stop.tol = 1e-8;
  set.certificate = solver != LAPIS_MC_FACTORED && solver != LAPIS_MC_FPC;
  return set;
}

static answer solve(const lapis_data *data, const lapis_mc_settings *set)
{
  answer a;
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_solver *s;
  lapis_mat scores, low_rank, dual;
  if (lapis_mc_new(ctx, data, set, &s) < 0 || lapis_solve(s) < 0 ||
      lapis_result_get(s, "scores", &scores) < 0 ||
      lapis_result_get(s, "low_rank", &low_rank) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  memcpy(a.scores, scores.val, sizeof a.scores);
  a.info = *lapis_result_info(s);
  mc_case c = case_of(data, set);
  if (set->certificate) {
    assert_int_equal(lapis_result_get(s, "dual", &dual), LAPIS_OK);
    a.truth = oracle_mc(&c, a.scores, &low_rank, dual.val);
  } else {
    static const double none[(K + D + 1) * N];
    a.truth = oracle_mc(&c, a.scores, &low_rank, none);
  }
  lapis_solver_free(s);
  lapis_ctx_free(ctx);
  return a;
}

/* Weights 0 to 3 and some that are no whole numbers. */
static void weigh(double *weight, bool whole)
{
  for (int j = 0; j < N; j++)
    weight[j] = whole || j % 3 > 0 ? (double)(j % 4) : .25 + j / 10.0;
}

static void the_certificate_is_of_the_weighted_problem(void **state)
{
  static const int variants[] = {LAPIS_MC_1, LAPIS_MC_POS, LAPIS_MC_SIMPLEX};
  double weight[N];
  weigh(weight, false);
  for (int v = 0; v < 3; v++)
    for (int complete = 0; complete < 2; complete++) {
      problem p = make(D, K, N, .3, complete, 5 + (uint64_t)v);
      p.data.weight = weight;
      lapis_mc_settings set = settings(variants[v], LAPIS_MC_ADMM);
      for (int k = 0; k < 1 + (v == 0 && complete); k++) {
        set.solver = k == 0 ? LAPIS_MC_ADMM : LAPIS_MC_BORDERED;
        answer a = solve(&p.data, &set);
        double size = fabs(a.truth.primal);
        CHECK_NEAR(a.info.objective, a.truth.primal, 1e-11 * size);
        CHECK_NEAR(a.info.dual, a.truth.dual, 1e-11 * size);
        CHECK_AT_MOST(a.truth.gap, 1e-7);
        CHECK_AT_LEAST(a.truth.gap, -1e-12);
        CHECK_AT_MOST(a.truth.spectral, set.mu * (1 + 1e-12));
      }
      discard(&p);
    }
}

/* What is minimised, from copies: a label of weight k stands k times. */
static double copies_loss(const mc_case *c, const double *scores)
{
  double sum = 0;
  int64_t all = 0;
  for (int64_t k = 0; k < K * N; k++)
    for (int copy = 0; !isnan(c->Y[k]) && copy < (int)c->weight[k / K];
         copy++) {
      sum += oracle_log1pexp(-c->gamma * c->Y[k] * scores[k]) / c->gamma;
      all++;
    }
  return c->lambda / (double)all * sum;
}

static void a_whole_weight_is_so_many_labels(void **state)
{
  double weight[N];
  problem p = make(D, K, N, .3, true, 9);
  weigh(weight, true);
  p.data.weight = weight;
  lapis_mc_settings set = settings(LAPIS_MC_1, LAPIS_MC_ADMM);
  mc_case c = case_of(&p.data, &set);
  answer a = solve(&p.data, &set);
  CHECK_NEAR(oracle_label_loss(&c, a.scores), copies_loss(&c, a.scores), 1e-14);
  mc_case plain = c;
  plain.weight = NULL;
  CHECK_AT_LEAST(
      fabs(oracle_label_loss(&plain, a.scores) - copies_loss(&c, a.scores)),
      1e-4);
  discard(&p);
}

/* Every way to the one optimum; fpc's is off by what the papers' step is. */
static void solvers_agree(void **state)
{
  static const int others[] = {LAPIS_MC_BORDERED, LAPIS_MC_FACTORED,
                               LAPIS_MC_FPC};
  double weight[N];
  weigh(weight, false);
  problem p = make(D, K, N, .3, true, 21);
  p.data.weight = weight;
  lapis_mc_settings set = settings(LAPIS_MC_1, LAPIS_MC_ADMM);
  answer a = solve(&p.data, &set);
  for (int k = 0; k < 3; k++) {
    set = settings(LAPIS_MC_1, others[k]);
    answer b = solve(&p.data, &set);
    double size = fabs(a.truth.primal), off = others[k] == LAPIS_MC_FPC;
    CHECK_NEAR(b.info.objective, b.truth.primal, (off ? 1e-3 : 1e-8) * size);
    CHECK_NEAR(b.truth.primal, a.truth.primal, (off ? 5e-3 : 2e-8) * size);
    for (int i = 0; i < K * N; i++)
      CHECK_NEAR(b.scores[i], a.scores[i], off ? .1 : 1e-3);
  }
  discard(&p);
}

/* To the bit: weights of 1 are none, a common factor says nothing, and a label
 * of weight 0 is not known. */
static void what_weights_say(void **state)
{
  static const int solvers[] = {LAPIS_MC_ADMM, LAPIS_MC_FACTORED,
                                LAPIS_MC_BORDERED, LAPIS_MC_FPC};
  for (int k = 0; k < 4; k++) {
    double weight[N], ones[N];
    problem p = make(D, K, N, .3, true, 33), q = make(D, K, N, .3, true, 33);
    lapis_mc_settings set = settings(LAPIS_MC_1, solvers[k]);
    answer none = solve(&p.data, &set);
    for (int j = 0; j < N; j++) ones[j] = 1;
    p.data.weight = ones;
    answer one = solve(&p.data, &set);
    assert_memory_equal(one.scores, none.scores, sizeof one.scores);
    weigh(weight, false);
    p.data.weight = weight;
    answer some = solve(&p.data, &set);
    assert_memory_not_equal(some.scores, none.scores, sizeof one.scores);
    for (int j = 0; j < N; j++) weight[j] *= 4;
    answer more = solve(&p.data, &set);
    assert_memory_equal(some.scores, more.scores, sizeof one.scores);
    for (int j = 0; j < N; j++) ones[j] = j % 5 > 0;
    for (int i = 0; i < K * N; i++)
      if (i / K % 5 == 0) q.Y[i] = NAN;
    p.data.weight = ones;
    one = solve(&p.data, &set);
    none = solve(&q.data, &set);
    assert_memory_equal(one.scores, none.scores, sizeof one.scores);
    discard(&p);
    discard(&q);
  }
}

int test_weights(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_certificate_is_of_the_weighted_problem),
      cmocka_unit_test(a_whole_weight_is_so_many_labels),
      cmocka_unit_test(solvers_agree), cmocka_unit_test(what_weights_say)};
  return run_cases(tests, NULL, NULL);
}
