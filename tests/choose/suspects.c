/* suspects.c - a label of classes is one suspect, however it is found. */
#include "check.h"
#include "lapis/choose.h"

enum { K = 3, N = 60, D = 3, MOST = 2 * N };

typedef struct example {
  double X[D * N], Y[N], p[K * N];
  lapis_data data;
} example;

/* Three groups, some labels turned; p: what their distances say. */
static void make(example *e)
{
  uint64_t seed = 11;
  for (int j = 0; j < N; j++) {
    double sum = 0;
    for (int c = 0; c < K; c++) {
      double x = e->X[j * D + c] = 2 * (c == j % K) + check_normal(&seed);
      sum += e->p[j * K + c] = exp(2 * x);
    }
    for (int c = 0; c < K; c++) e->p[j * K + c] /= sum;
    e->Y[j] = j % 7 == 0 ? (j + 1) % K : j % K;
  }
  e->data = (lapis_data){.X = lapis_mat_f64(e->X, D, N),
                         .Y = lapis_mat_f64(e->Y, 1, N)};
}

/* Every sample once, at another class than is given. */
static void check_once(const example *e, const int64_t *index, int64_t found)
{
  bool seen[N] = {false};
  for (int64_t i = 0; i < found; i++) {
    int64_t j = index[2 * i], c = index[2 * i + 1];
    assert_in_range(j, 0, N - 1);
    assert_in_range(c, 0, K - 1);
    assert_false(seen[j]);
    assert_int_not_equal(c, (int64_t)e->Y[j]);
    seen[j] = true;
  }
}

/* The class is the likeliest other, the margin the larger of both. */
static void by_scores_and_by_doubts(void **state)
{
  example e;
  int64_t index[2 * MOST], found, wrong[3], rather[N];
  double margin[MOST];
  lapis_ctx *ctx = lapis_ctx_new();
  make(&e);
  lapis_mat p = lapis_mat_f64(e.p, K, N);
  assert_true(lapis_suspects_of(ctx, &e.data.Y, &p, .5, MOST, index, margin,
                                &found) >= 0);
  assert_int_equal(found, N);
  check_once(&e, index, found);
  for (int64_t i = 0; i < found; i++) {
    int64_t j = index[2 * i], own = (int64_t)e.Y[j];
    int64_t last = K - own - index[2 * i + 1];
    double other = e.p[j * K + index[2 * i + 1]];
    assert_true(other >= e.p[j * K + last]);
    CHECK_NEAR(margin[i], fmax(.5 - e.p[j * K + own], other - .5), 0);
    if (i > 0) assert_true(margin[i] <= margin[i - 1]);
    rather[j] = index[2 * i + 1];
  }
  assert_true(lapis_doubts(ctx, &e.data.Y, NULL, &p, MOST, index, margin,
                           &found, wrong) >= 0);
  assert_true(found > 0);
  check_once(&e, index, found);
  for (int64_t i = 0; i < found; i++)
    assert_int_equal(index[2 * i + 1], rather[index[2 * i]]);
  lapis_ctx_free(ctx);
}

/* As many as are asked for, at given settings and at chosen ones. */
static void by_folds(void **state)
{
  static const char *const names[] = {"svmplus", "linear", "mc"};
  example e;
  int64_t index[2 * N], found;
  double margin[N];
  make(&e);
  for (int k = 0; k < 3; k++)
    for (int64_t count = 20; count <= N; count += 40) {
      lapis_ctx *ctx = lapis_ctx_new();
      assert_true(lapis_suspects(ctx, lapis_method_find(names[k]), &e.data,
                                 NULL, NULL, count, index, margin,
                                 &found) >= 0);
      assert_int_equal(found, count);
      check_once(&e, index, found);
      lapis_ctx_free(ctx);
    }
}

int test_suspects(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(by_scores_and_by_doubts),
                                     cmocka_unit_test(by_folds)};
  return run_cases(tests, NULL, NULL);
}
