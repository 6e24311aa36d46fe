/* Gaps filled by factor analysis: against the same steps with whole covariance
 * matrices, and what becomes of samples and models. */
#include <unistd.h>

#include "check.h"
#include "op/map/impute.h"
#include "op/map/map.h"
#include "remarks.h"

enum { D = 6, K = 5, N = 60, STATE = D * (2 + K) };

typedef struct table {
  lapis_ctx *ctx;
  double x[D * N], state[STATE];
  lapis_mat X;
} table;

/* Two factors and noise; a third of the entries is missing, of the first sample
 * all. */
static table *begin(void)
{
  table *t = test_calloc(1, sizeof *t);
  uint64_t seed = 8;
  double load[2 * D];
  t->ctx = lapis_ctx_new();
  for (int k = 0; k < 2 * D; k++) load[k] = check_normal(&seed);
  for (int j = 0; j < N; j++) {
    double a = check_normal(&seed), b = check_normal(&seed);
    for (int i = 0; i < D; i++) {
      double x = 3 * i + load[2 * i] * a + load[2 * i + 1] * b;
      x = (i + 1) * (x + .2 * check_normal(&seed));
      t->x[j * D + i] = j == 0 || check_uniform(&seed) < .33 ? NAN : x;
    }
  }
  t->X = lapis_mat_f64(t->x, D, N);
  return t;
}

static void end(table *t)
{
  lapis_ctx_free(t->ctx);
  test_free(t);
}

/* A X = B of n x n A and n x m B, by elimination; both are destroyed. */
static void eliminate(int n, int m, double A[D][D], double B[D][D])
{
  for (int p = 0; p < n; p++)
    for (int i = 0; i < n; i++) {
      double f = A[i][p] / A[p][p];
      if (i == p) continue;
      for (int c = 0; c < n; c++) A[i][c] -= f * A[p][c];
      for (int c = 0; c < m; c++) B[i][c] -= f * B[p][c];
    }
  for (int p = 0; p < n; p++)
    for (int c = 0; c < m; c++) B[p][c] /= A[p][p];
}

/* S of W W' + diag(p), rows seen; B: what the caller asks of S^-1 B. */
static int seen_covariance(const double *x, const double *p, const double *W,
                           double S[D][D], int *of)
{
  int n = 0;
  for (int i = 0; i < D; i++)
    if (!isnan(x[i])) of[n++] = i;
  for (int a = 0; a < n; a++)
    for (int b = 0; b < n; b++) {
      S[a][b] = a == b ? p[of[a]] : 0;
      for (int k = 0; k < K; k++)
        S[a][b] += W[of[a] * K + k] * W[of[b] * K + k];
    }
  return n;
}

/* E(z | x) and E(zz' | x) of residuals x. */
static void expected(const double *x, const double *p, const double *W,
                     double *z, double zz[K][K])
{
  double S[D][D], B[D][D];
  int of[D], n = seen_covariance(x, p, W, S, of);
  for (int a = 0; a < n; a++)
    for (int k = 0; k < K; k++) B[a][k] = W[of[a] * K + k];
  eliminate(n, K, S, B);
  for (int k = 0; k < K; k++) {
    z[k] = 0;
    for (int a = 0; a < n; a++) z[k] += B[a][k] * x[of[a]];
  }
  for (int k = 0; k < K; k++)
    for (int c = 0; c < K; c++) {
      zz[k][c] = (k == c) + z[k] * z[c];
      for (int a = 0; a < n; a++) zz[k][c] -= B[a][k] * W[of[a] * K + c];
    }
}

/* One round in features of mean 0 and deviation 1. */
static void round_by_hand(const double *u, double *m, double *p, double *W)
{
  double z[N][K], zz[N][K][K], next[D * K];
  for (int j = 0; j < N; j++) {
    double x[D];
    for (int i = 0; i < D; i++) x[i] = u[j * D + i] - m[i];
    expected(x, p, W, z[j], zz[j]);
  }
  for (int i = 0; i < D; i++) {
    double A[D][D] = {{0}}, B[D][D] = {{0}}, b[K] = {0}, sum = 0, n = 0;
    double square = 0;
    for (int k = 0; k < K; k++) A[k][k] = 5;
    for (int j = 0; j < N; j++) {
      double x = u[j * D + i] - m[i];
      if (isnan(x)) continue;
      n++;
      square += x * x;
      for (int k = 0; k < K; k++) {
        b[k] += z[j][k] * x;
        for (int c = 0; c < K; c++) A[k][c] += zz[j][k][c];
      }
    }
    for (int k = 0; k < K; k++) B[k][0] = b[k];
    eliminate(K, 1, A, B);
    for (int k = 0; k < K; k++) next[i * K + k] = B[k][0];
    for (int k = 0; k < K; k++) square -= B[k][0] * b[k];
    for (int j = 0; j < N; j++) {
      double left = u[j * D + i] - m[i];
      if (isnan(left)) continue;
      for (int k = 0; k < K; k++) left -= B[k][0] * z[j][k];
      sum += left;
    }
    p[i] = fmax((square + 1) / (n + 1), .01);
    m[i] += sum / n;
  }
  memcpy(W, next, sizeof next);
}

static void factors_by_hand(const table *t, double *m, double *p, double *W)
{
  double mean[D] = {0}, deviation[D] = {0}, u[D * N];
  for (int i = 0; i < D; i++) {
    double n = 0;
    for (int j = 0; j < N; j++)
      if (!isnan(t->x[j * D + i])) mean[i] += t->x[j * D + i], n++;
    mean[i] /= n;
    for (int j = 0; j < N; j++)
      if (!isnan(t->x[j * D + i]))
        deviation[i] += pow(t->x[j * D + i] - mean[i], 2) / n;
    deviation[i] = sqrt(deviation[i]);
    for (int j = 0; j < N; j++)
      u[j * D + i] = (t->x[j * D + i] - mean[i]) / deviation[i];
    m[i] = 0;
    p[i] = .5;
    for (int k = 0; k < K; k++)
      W[i * K + k] =
          .7 / sqrt(K) * rng_normal(0, 0x696d70, (uint64_t)i * K + (uint64_t)k);
  }
  for (int r = 0; r < 20; r++) round_by_hand(u, m, p, W);
  for (int i = 0; i < D; i++) {
    m[i] = mean[i] + deviation[i] * m[i];
    p[i] *= deviation[i] * deviation[i];
    for (int k = 0; k < K; k++) W[i * K + k] *= deviation[i];
  }
}

static void factors_are_those_by_hand(void **state)
{
  table *t = begin();
  double m[D], p[D], W[D * K];
  factors_by_hand(t, m, p, W);
  assert_int_equal(impute_length(D), STATE);
  assert_int_equal(impute_fit(t->ctx, t->x, D, N, t->state), LAPIS_OK);
  for (int i = 0; i < D; i++) {
    CHECK_NEAR(t->state[i], m[i], 1e-8 * fabs(m[i]) + 1e-8);
    CHECK_NEAR(t->state[D + i], p[i], 1e-8 * p[i]);
    for (int k = 0; k < K; k++)
      CHECK_NEAR(t->state[2 * D + i * K + k], W[i * K + k], 1e-7 * (i + 1));
  }
  end(t);
}

/* What is expected of a gap by the whole covariance matrix. */
static void gaps_hold_what_is_expected(void **state)
{
  table *t = begin();
  double out[D * N];
  const double *m = t->state, *p = t->state + D, *W = t->state + 2 * D;
  assert_int_equal(impute_fit(t->ctx, t->x, D, N, t->state), LAPIS_OK);
  memcpy(out, t->x, sizeof out);
  for (int j = 0; j < N; j++) {
    const double *x = t->x + j * D;
    double S[D][D], B[D][D];
    int of[D], n = seen_covariance(x, p, W, S, of);
    for (int a = 0; a < n; a++) B[a][0] = x[of[a]] - m[of[a]];
    eliminate(n, 1, S, B);
    impute_fill(t->state, out + j * D, D);
    for (int i = 0; i < D; i++) {
      double wanted = isnan(x[i]) ? m[i] : x[i];
      for (int a = 0; a < n && isnan(x[i]); a++)
        for (int k = 0; k < K; k++)
          wanted += W[i * K + k] * W[of[a] * K + k] * B[a][0];
      CHECK_NEAR(out[j * D + i], wanted,
                 isnan(x[i]) ? 1e-10 * (i + 1) * 10 : 0);
    }
  }
  end(t);
}

/* 30 features of 3 factors, half of the entries missing: far nearer to the
 * truth than the mean is; and each sample alone as beside the others. */
static void correlated_features_tell_gaps(void **state)
{
  enum { MANY = 30, SAMPLES = 300 };
  static double truth[MANY * SAMPLES], x[MANY * SAMPLES], out[MANY * SAMPLES];
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_map *map;
  uint64_t seed = 2;
  double load[3 * MANY], one[MANY], off = 0, of_mean = 0;
  for (int k = 0; k < 3 * MANY; k++) load[k] = check_normal(&seed);
  for (int j = 0; j < SAMPLES; j++) {
    double z[3];
    for (int k = 0; k < 3; k++) z[k] = check_normal(&seed);
    for (int i = 0; i < MANY; i++) {
      double *at = truth + j * MANY + i;
      *at = .3 * check_normal(&seed);
      for (int k = 0; k < 3; k++) *at += load[3 * i + k] * z[k];
      x[j * MANY + i] = check_uniform(&seed) < .5 ? NAN : *at;
    }
  }
  lapis_mat X = lapis_mat_f64(x, MANY, SAMPLES);
  assert_int_equal(lapis_map_new(ctx, "impute", &map), LAPIS_OK);
  assert_int_equal(lapis_map_fit(ctx, map, &X), LAPIS_OK);
  assert_int_equal(lapis_map_apply(ctx, map, &X, out), LAPIS_OK);
  for (int k = 0; k < MANY * SAMPLES; k++) {
    if (!isnan(x[k])) assert_true(out[k] == x[k]);
    if (!isnan(x[k])) continue;
    off += pow(out[k] - truth[k], 2);
    of_mean += truth[k] * truth[k];
  }
  CHECK_AT_MOST(sqrt(off / of_mean), .3);
  for (int j = 0; j < SAMPLES; j += 37) {
    lapis_mat alone = lapis_mat_f64(x + j * MANY, MANY, 1);
    assert_int_equal(lapis_map_apply(ctx, map, &alone, one), LAPIS_OK);
    assert_memory_equal(one, out + j * MANY, sizeof one);
  }
  lapis_map_free(map);
  lapis_ctx_free(ctx);
}

/* A file's model answers new samples as the fit answered them. */
static void models_fill_as_the_fit_did(void **state)
{
  table *t = begin();
  char path[64];
  double y[N], *memory;
  lapis_map *map;
  lapis_solver *a, *b;
  lapis_model *model, *back;
  lapis_mat scores, again;
  check_new_file(path, sizeof path);
  for (int j = 0; j < N; j++) y[j] = j % 2;
  lapis_data data = {.Y = lapis_mat_f64(y, 1, N)}, raw = {.X = t->X};
  assert_int_equal(lapis_map_new(t->ctx, "standard,impute", &map), LAPIS_OK);
  assert_int_equal(lapis_map_fit(t->ctx, map, &t->X), LAPIS_OK);
  assert_int_equal(lapis_map_make(t->ctx, map, &t->X, &memory, &data.X),
                   LAPIS_OK);
  assert_int_equal(lapis_mat_missing(&data.X), 0);
  assert_int_equal(lapis_linear_new(t->ctx, &data, NULL, &a), LAPIS_OK);
  assert_true(lapis_solve(a) >= 0);
  assert_int_equal(lapis_model_new(a, &model), LAPIS_OK);
  assert_int_equal(lapis_model_set_map(t->ctx, model, map, false), LAPIS_OK);
  assert_int_equal(lapis_model_save(t->ctx, model, path), LAPIS_OK);
  assert_int_equal(lapis_model_load(t->ctx, path, &back), LAPIS_OK);
  assert_int_equal(lapis_predict_new(t->ctx, &raw, back, NULL, &b), LAPIS_OK);
  assert_true(lapis_solve(b) >= 0);
  assert_int_equal(lapis_result_get(a, "scores", &scores), LAPIS_OK);
  assert_int_equal(lapis_result_get(b, "scores", &again), LAPIS_OK);
  assert_memory_equal(scores.val, again.val, N * sizeof(double));
  lapis_solver_free(a);
  lapis_solver_free(b);
  lapis_model_free(model);
  lapis_model_free(back);
  lapis_map_free(map);
  free(memory);
  unlink(path);
  end(t);
}

/* Somebody wrote the model's numbers; and what no factor can be found of. */
static void wrong_numbers_are_refused(void **state)
{
  table *t = begin();
  double out[D * N];
  static const double bad[] = {0, -1, NAN, INFINITY};
  lapis_map *map;
  assert_int_equal(impute_fit(t->ctx, t->x, D, N, t->state), LAPIS_OK);
  for (int k = 0; k < 4; k++) {
    double kept = t->state[D + 2];
    t->state[D + 2] = bad[k];
    lapis_mat numbers = lapis_mat_f64(t->state, 1, STATE);
    assert_int_equal(map_restore(t->ctx, "impute", &numbers, &map), LAPIS_OK);
    assert_int_equal(lapis_map_apply(t->ctx, map, &t->X, out), LAPIS_EFORMAT);
    lapis_map_free(map);
    t->state[D + 2] = kept;
  }
  lapis_mat few = lapis_mat_f64(t->state, 1, STATE - 1);
  assert_int_equal(map_restore(t->ctx, "impute", &few, &map), LAPIS_OK);
  assert_int_equal(lapis_map_apply(t->ctx, map, &t->X, out), LAPIS_ESHAPE);
  assert_int_equal(map_inputs(map, D), D);
  t->x[D + 1] = INFINITY;
  assert_int_equal(lapis_map_fit(t->ctx, map, &t->X), LAPIS_EDATA);
  check_says(lapis_ctx_error(t->ctx), "2");
  lapis_map_free(map);
  end(t);
}

/* One feature, a constant one, and one that is never seen. */
static void odd_tables(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_map *map;
  double x[] = {4, NAN, NAN, 4, 1, NAN, 4, 3, NAN, NAN, 2, NAN}, out[12];
  lapis_mat X = lapis_mat_f64(x, 3, 4), alone = lapis_mat_f64(x + 3, 1, 3);
  assert_int_equal(lapis_map_new(ctx, "impute", &map), LAPIS_OK);
  assert_int_equal(lapis_map_fit(ctx, map, &X), LAPIS_OK);
  assert_int_equal(lapis_map_apply(ctx, map, &X, out), LAPIS_OK);
  for (int k = 0; k < 12; k++) assert_true(isfinite(out[k]));
  CHECK_NEAR(out[9], 4, 1e-6);
  for (int j = 0; j < 4; j++) CHECK_NEAR(out[3 * j + 2], 0, 1e-12);
  assert_int_equal(lapis_map_fit(ctx, map, &alone), LAPIS_OK);
  assert_int_equal(lapis_map_apply(ctx, map, &alone, out), LAPIS_OK);
  CHECK_NEAR(out[2], 2.5, 1e-12);
  lapis_map_free(map);
  lapis_ctx_free(ctx);
}

/* What its own numbers cannot hold is said of the numbers, not of a file. */
static void sizes_without_squares_are_refused(void **state)
{
  static const double size[] = {1e200, 1e-160};
  lapis_ctx *ctx = lapis_ctx_new();
  for (int k = 0; k < 2; k++) {
    double x[] = {1, 2, NAN, 4, 3, 5, 7, 2, 4, 1, 6, 3};
    lapis_mat X = lapis_mat_f64(x, 3, 4);
    lapis_map *map;
    for (int i = 0; i < 12; i++) x[i] *= size[k];
    assert_int_equal(lapis_map_new(ctx, "impute", &map), LAPIS_OK);
    assert_int_equal(lapis_map_fit(ctx, map, &X), LAPIS_ENUMERIC);
    assert_non_null(strstr(lapis_ctx_error(ctx), OUT_OF_RANGE));
    lapis_map_free(map);
  }
  lapis_ctx_free(ctx);
}

int test_impute(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(factors_are_those_by_hand),
      cmocka_unit_test(gaps_hold_what_is_expected),
      cmocka_unit_test(correlated_features_tell_gaps),
      cmocka_unit_test(models_fill_as_the_fit_did),
      cmocka_unit_test(wrong_numbers_are_refused),
      cmocka_unit_test(sizes_without_squares_are_refused),
      cmocka_unit_test(odd_tables)};
  return run_cases(tests, NULL, NULL);
}
