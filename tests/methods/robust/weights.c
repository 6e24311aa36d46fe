/* Weights of samples in rr and rlda: they multiply the squares of the fit.
 * Without cleaning a sample of weight k is k samples
 * (tests/methods/weights.c); here is the joint form, recomputed from X, Y, the
 * weights and what was answered. */
#include "check.h"
#include "lapis/tools.h"
#include "oracle.h"
#include "room.h"

enum { D = 8, N = 36, K = 2 };
static const double ETA = 3, LAMBDA = .3, GAMMA = .5;

typedef struct problem {
  double X[D * N], Y[K * N], weight[N];
  lapis_data data;
} problem;

static void make(problem *p, uint64_t seed)
{
  double A[2 * D];
  for (int i = 0; i < 2 * D; i++) A[i] = check_normal(&seed);
  for (int j = 0; j < N; j++) {
    double u = check_normal(&seed), v = check_normal(&seed);
    for (int i = 0; i < D; i++)
      p->X[j * D + i] = A[i] * u + A[D + i] * v +
                        (check_uniform(&seed) < .1 ? 4 : 0) +
                        .05 * check_normal(&seed);
    p->Y[j * K] = u - v + .3 * check_normal(&seed);
    p->Y[j * K + 1] = v + .3 * check_normal(&seed);
    p->weight[j] = .25 + j % 4;
  }
  p->data = (lapis_data){.X = lapis_mat_f64(p->X, D, N),
                         .Y = lapis_mat_f64(p->Y, K, N),
                         .weight = p->weight};
}

typedef struct answer {
  double D[D * N], T[(D + 1) * K], J;
} answer;

static void solve(const problem *p, bool weighted, answer *a)
{
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_rr_settings set = lapis_rr_defaults();
  lapis_data data = p->data;
  lapis_solver *s;
  lapis_mat low_rank, T;
  if (!weighted) data.weight = NULL;
  set.eta = ETA;
  set.lambda = LAMBDA;
  set.gamma = GAMMA;
  set.scale = LAPIS_SCALE_NONE;
  set.stop.tol = 1e-10;
  if (lapis_rr_new(ctx, &data, &set, &s) < 0 || lapis_solve(s) < 0 ||
      lapis_result_get(s, "low_rank", &low_rank) < 0 ||
      lapis_result_get(s, "weights", &T) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  memcpy(a->D, low_rank.val, sizeof a->D);
  memcpy(a->T, T.val, sizeof a->T);
  a->J = lapis_result_info(s)->objective;
  lapis_solver_free(s);
  lapis_ctx_free(ctx);
}

/* Y - T [D; 1] at target k of sample j. */
static double off(const problem *p, const double *low_rank, const double *T,
                  int k, int j)
{
  double sum = p->Y[j * K + k] - T[k * (D + 1) + D];
  for (int i = 0; i < D; i++) sum -= T[k * (D + 1) + i] * low_rank[j * D + i];
  return sum;
}

static double objective(const problem *p, const double *low_rank,
                        const double *T)
{
  double fit = 0, size = 0, l1 = 0, nuclear, spectral;
  for (int j = 0; j < N; j++)
    for (int k = 0; k < K; k++) {
      double e = off(p, low_rank, T, k, j);
      fit += p->weight[j] * e * e;
    }
  for (int i = 0; i < (D + 1) * K; i++) size += T[i] * T[i];
  for (int i = 0; i < D * N; i++) l1 += fabs(p->X[i] - low_rank[i]);
  oracle_norms(low_rank, D, N, &nuclear, &spectral);
  return ETA / 2 * (fit + GAMMA * size) + nuclear + LAMBDA * l1;
}

static void the_joint_form_is_weighted(void **state)
{
  static problem p;
  static answer one, plain, moved;
  uint64_t seed = 91;
  for (uint64_t k = 0; k < 4; k++) {
    make(&p, 17 + k);
    solve(&p, true, &one);
    solve(&p, false, &plain);
    double J = objective(&p, one.D, one.T);
    CHECK_NEAR(one.J, J, 1e-9 * J);
    CHECK_AT_MOST(J, objective(&p, plain.D, plain.T) - 1e-3);
    /* T is best for D: ((Y - T [D; 1]) V [D; 1]' = gamma T */
    for (int c = 0; c < K; c++)
      for (int i = 0; i < D + 1; i++) {
        double sum = -GAMMA * one.T[c * (D + 1) + i];
        for (int j = 0; j < N; j++)
          sum += p.weight[j] * off(&p, one.D, one.T, c, j) *
                 (i < D ? one.D[j * D + i] : 1);
        CHECK_NEAR(sum, 0, 1e-9);
      }
    /* and D for T: nothing near is better */
    for (int t = 0; t < 200; t++) {
      double u[D], v[N];
      for (int i = 0; i < D; i++) u[i] = check_normal(&seed);
      for (int j = 0; j < N; j++)
        v[j] = t % 2 ? check_normal(&seed) : j == t / 6;
      memcpy(moved.D, one.D, sizeof moved.D);
      for (int i = 0; i < D * N; i++) moved.D[i] += 1e-4 * u[i % D] * v[i / D];
      CHECK_AT_LEAST(objective(&p, moved.D, one.T) - J, -1e-7);
    }
  }
}

/* Samples of weight 0 are asked; neighbours and given weights T know none. */
static void what_takes_no_part(void **state)
{
  static problem p;
  double without[K * N], near[N];
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_solver *s, *t;
  lapis_mat a, b;
  make(&p, 5);
  for (int j = 0; j < N; j++) {
    if (j % 3 == 0) p.weight[j] = 0;
    for (int k = 0; k < K; k++)
      without[j * K + k] = p.weight[j] > 0 ? p.Y[j * K + k] : NAN;
  }
  lapis_data other = p.data;
  other.Y = lapis_mat_f64(without, K, N);
  if (lapis_rr_new(ctx, &p.data, NULL, &s) < 0 || lapis_solve(s) < 0 ||
      lapis_rr_new(ctx, &other, NULL, &t) < 0 || lapis_solve(t) < 0 ||
      lapis_result_get(s, "scores", &a) < 0 ||
      lapis_result_get(t, "scores", &b) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  assert_memory_equal(a.val, b.val, sizeof without);
  lapis_solver_free(s);
  lapis_solver_free(t);
  lapis_rr_settings set = lapis_rlda_defaults();
  set.assign = LAPIS_RLDA_KNN;
  for (int j = 0; j < N; j++) near[j] = p.Y[j * K] > 0;
  other.Y = lapis_mat_f64(near, 1, N);
  assert_int_equal(lapis_rlda_new(ctx, &other, &set, &s), LAPIS_EINVAL);
  assert_non_null(strstr(lapis_ctx_error(ctx), "weight"));
  set = lapis_rr_defaults();
  double T[(D + 1) * K] = {0};
  set.weights = lapis_mat_f64(T, D + 1, K);
  assert_int_equal(lapis_rr_new(ctx, &p.data, &set, &s), LAPIS_EINVAL);
  assert_non_null(strstr(lapis_ctx_error(ctx), "weight"));
  lapis_ctx_free(ctx);
}

int test_weights(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_joint_form_is_weighted),
      cmocka_unit_test(what_takes_no_part)};
  return run_cases(tests, NULL, NULL);
}
