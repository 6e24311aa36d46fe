/* Sigmoids tell the truth: they find the line, never rank otherwise than the
 * scores, count weights, and share what labels have in common. */
#include "folds/calibrate.h"

#include "check.h"
#include "methods/auto/compare.h"

/* Where scores are log-odds up to a line, the sigmoid finds the line; where
 * they say the contrary, the share is left. */
static void sigmoids_find_the_line(void **state)
{
  enum { MANY = 20000 };
  double *score = malloc(2 * MANY * sizeof *score), *sign = score + MANY;
  uint64_t seed = 9;
  lapis_ctx *ctx = lapis_ctx_new();
  for (int j = 0; j < MANY; j++) {
    score[j] = check_normal(&seed);
    double p = 1 / (1 + exp(-(2 * score[j] - .5)));
    sign[j] = j % 10 == 0 ? NAN : check_uniform(&seed) < p ? 1 : -1;
  }
  calibration of = {.score = score, .sign = sign, .K = 1, .n = MANY};
  sigmoid s;
  assert_int_equal(calibrate(ctx, &of, &s), LAPIS_OK);
  CHECK_NEAR(s.slope, 2, .1);
  CHECK_NEAR(s.bias, -.5, .05);
  for (int j = 0; j < MANY; j++) score[j] = -score[j];
  assert_int_equal(calibrate(ctx, &of, &s), LAPIS_OK);
  CHECK_NEAR(s.slope, 0, 0);
  lapis_ctx_free(ctx);
  free(score);
}

/* ---- labels together ----------------------------------------------------*/
enum { K = 6, MANY = 3000, FEW = 3 };

/* Labels of one slope, 2; the last one has FEW positives, whose scores say the
 * contrary by chance. */
static void make_labels(double *score, double *sign)
{
  uint64_t seed = 12;
  int rare = 0;
  for (int j = 0; j < MANY; j++)
    for (int c = 0; c < K; c++) {
      double s = check_normal(&seed), p = 1 / (1 + exp(-(2 * s - c / 2.)));
      score[j * K + c] = s;
      sign[j * K + c] = check_uniform(&seed) < p ? 1 : -1;
      if (c < K - 1) continue;
      sign[j * K + c] = s < -.2 && s > -.3 && rare < FEW ? 1 : -1;
      rare += sign[j * K + c] > 0;
    }
}

/* A label of many cases keeps its slope, one of few has nearly that of all; a
 * change of the scores' unit changes slopes by it, and nothing else. */
static void rare_labels_share_the_slope(void **state)
{
  static double score[K * MANY], sign[K * MANY];
  lapis_ctx *ctx = lapis_ctx_new();
  sigmoid s[K], alone, scaled[K];
  make_labels(score, sign);
  calibration of = {.score = score, .sign = sign, .K = K, .n = MANY};
  assert_int_equal(calibrate(ctx, &of, s), LAPIS_OK);
  for (int c = 0; c < K - 1; c++) CHECK_NEAR(s[c].slope, 2, .25);
  CHECK_AT_LEAST(s[K - 1].slope, .6);
  for (int k = 0; k < K * MANY; k++) score[k] *= 1000;
  assert_int_equal(calibrate(ctx, &of, scaled), LAPIS_OK);
  for (int c = 0; c < K; c++) {
    CHECK_NEAR(scaled[c].slope * 1000, s[c].slope, 1e-6);
    CHECK_NEAR(scaled[c].bias, s[c].bias, 1e-6);
  }
  for (int j = 0; j < MANY; j++) {
    score[j] = score[j * K + K - 1];
    sign[j] = sign[j * K + K - 1];
  }
  of.K = 1;
  assert_int_equal(calibrate(ctx, &of, &alone), LAPIS_OK);
  CHECK_NEAR(alone.slope, 0, 0); /* of these three cases alone */
  lapis_ctx_free(ctx);
}

/* A weight of w is w samples, in sigmoids and softmax. */
static void weights_are_samples(void **state)
{
  enum { L = 3, SOME = 60, MOST = 3 * SOME };
  double score[2 * L * MOST], sign[2 * L * MOST], weight[MOST];
  lapis_ctx *ctx = lapis_ctx_new();
  double *again = score + L * MOST, *sign_again = sign + L * MOST;
  uint64_t seed = 3;
  int n = 0;
  for (int j = 0; j < SOME; j++) {
    int y = (int)(check_uniform(&seed) * L), times = j % 4 > 0 ? j % 4 : 2;
    weight[j] = times;
    for (int c = 0; c < L; c++) {
      score[j * L + c] = check_normal(&seed) + (c == y);
      sign[j * L + c] = c == y ? 1 : -1;
    }
    for (int t = 0; t < times; t++, n++)
      for (int c = 0; c < L; c++) {
        again[n * L + c] = score[j * L + c];
        sign_again[n * L + c] = sign[j * L + c];
      }
  }
  calibration one = {
      .score = score, .sign = sign, .weight = weight, .K = L, .n = SOME};
  calibration other = {.score = again, .sign = sign_again, .K = L, .n = n};
  sigmoid a[L], b[L];
  for (int soft = 0; soft < 2; soft++) {
    one.classes = other.classes = soft;
    one.ridge = other.ridge = 2;
    assert_int_equal(calibrate(ctx, &one, a), LAPIS_OK);
    assert_int_equal(calibrate(ctx, &other, b), LAPIS_OK);
    for (int c = 0; c < L; c++) {
      CHECK_NEAR(a[c].slope, b[c].slope, 1e-3);
      CHECK_NEAR(a[c].bias, b[c].bias, 1e-3);
      CHECK_NEAR(calibrate_entropy(&one, c, a[c]),
                 calibrate_entropy(&other, c, a[c]), 1e-9);
    }
  }
  lapis_ctx_free(ctx);
}

/* What the log-loss of softmaxes grows by, by their biases and, last, by the
 * slope: of n samples each has 1/(n + 2) of the others' classes. */
static void add_gradient(const calibration *of, const sigmoid *s, double *g)
{
  enum { MOST = 12 };
  int classes = (int)of->K;
  const double other = 1. / ((double)of->n + 2) / (classes - 1);
  assert_in_range(classes, 2, MOST);
  for (int64_t j = 0; j < of->n; j++) {
    double p[MOST], sum = 0;
    const double *score = of->score + j * classes,
                 *sign = of->sign + j * classes;
    for (int c = 0; c < classes; c++)
      sum += p[c] = exp(s[c].slope * score[c] + s[c].bias);
    for (int c = 0; c < classes; c++) {
      double off =
          p[c] / sum - (sign[c] > 0 ? 1 - other * (classes - 1) : other);
      g[c] += off;
      g[classes] += off * score[c];
    }
  }
}

/* The softmax's stationarity, slope and biases recomputed from outside: of n
 * samples each has 1/(n + 2) of the others' classes. */
static void softmaxes_are_stationary(void **state)
{
  enum { L = 3, SOME = 300 };
  static double score[L * SOME], sign[L * SOME];
  const double ridge = 2, other = 1. / (SOME + 2) / (L - 1);
  uint64_t seed = 2;
  lapis_ctx *ctx = lapis_ctx_new();
  for (int j = 0; j < SOME; j++) {
    int y = (int)(check_uniform(&seed) * L);
    for (int c = 0; c < L; c++) {
      score[j * L + c] = check_normal(&seed) / 2 + (c == y) + c;
      sign[j * L + c] = c == y ? 1 : -1;
    }
  }
  sigmoid s[L];
  calibration of = {.score = score,
                    .sign = sign,
                    .K = L,
                    .n = SOME,
                    .classes = true,
                    .ridge = ridge};
  assert_int_equal(calibrate(ctx, &of, s), 0);
  double g[L + 1] = {0};
  add_gradient(&of, s, g);
  for (int c = 0; c < L; c++) CHECK_NEAR(g[c] + ridge * s[c].bias, 0, .5);
  CHECK_NEAR(g[L], 0, .5);
  of.ridge = INFINITY;
  assert_int_equal(calibrate(ctx, &of, s), 0);
  g[L] = 0;
  for (int j = 0; j < SOME; j++) {
    double sum = 0;
    for (int c = 0; c < L; c++) sum += exp(s[c].slope * score[j * L + c]);
    for (int c = 0; c < L; c++)
      g[L] += score[j * L + c] *
              (exp(s[c].slope * score[j * L + c]) / sum -
               (sign[j * L + c] > 0 ? 1 - other * (L - 1) : other));
  }
  for (int c = 0; c < L; c++) CHECK_NEAR(s[c].bias, 0, 0);
  CHECK_NEAR(g[L], 0, .5);
  lapis_ctx_free(ctx);
}

/* Of many classes, too, each with an offset of its own that its bias has to
 * take back. */
static void offsets_are_taken_back(void **state)
{
  enum { L = 12, SOME = 240 };
  static double score[L * SOME], sign[L * SOME];
  uint64_t seed = 5;
  lapis_ctx *ctx = lapis_ctx_new();
  for (int k = 0; k < L * SOME; k++) {
    int c = k % L, y = k / L % L;
    score[k] = check_normal(&seed) + 2 * (c == y) + c % 5;
    sign[k] = c == y ? 1 : -1;
  }
  sigmoid s[L];
  calibration of = {.score = score,
                    .sign = sign,
                    .K = L,
                    .n = SOME,
                    .classes = true,
                    .ridge = L};
  assert_int_equal(calibrate(ctx, &of, s), 0);
  double g[L + 1] = {0};
  add_gradient(&of, s, g);
  for (int c = 0; c < L; c++) CHECK_NEAR(g[c] + of.ridge * s[c].bias, 0, .5);
  CHECK_NEAR(g[L], 0, .5);
  lapis_ctx_free(ctx);
}

/* Classes that scores separate leave no infinite slope, which would say that
 * nobody ever errs: one error in n + 2 is left. */
static void separated_classes_leave_doubt(void **state)
{
  enum { L = 3, SOME = 30 };
  double score[L * SOME], sign[L * SOME], loss = 0;
  lapis_ctx *ctx = lapis_ctx_new();
  sigmoid s[L];
  for (int k = 0; k < L * SOME; k++) {
    sign[k] = k % L == k / L % L ? 1 : -1;
    score[k] = 5 * sign[k];
  }
  for (int ends = 0; ends < 2; ends++) {
    calibration of = {.score = score,
                      .sign = sign,
                      .K = L,
                      .n = SOME,
                      .classes = true,
                      .ridge = ends ? INFINITY : L};
    assert_int_equal(calibrate(ctx, &of, s), LAPIS_OK);
    for (int k = 0; k < L * SOME; k += L) loss = calibrate_loss(&of, s, k);
    CHECK_NEAR(exp(-loss), 1 - 1. / (SOME + 2), 1e-4);
  }
  lapis_ctx_free(ctx);
}

/* ---- fits ---------------------------------------------------------------*/
enum { WEAK = 40, NEW = 60, D = 5, FITS = 120 };

/* Within each label no sample of a higher score has a lower probability; of
 * classes, whose sum is 1, the same of two of them: by how far the first is
 * ahead. */
static void check_order(const lapis_solver *s, bool classes)
{
  lapis_mat f, p;
  assert_int_equal(lapis_result_get(s, "scores", &f), LAPIS_OK);
  assert_int_equal(lapis_result_get(s, "probabilities", &p), LAPIS_OK);
  for (int64_t j = 0; classes && j < f.cols; j++) {
    double sum = 0;
    for (int64_t c = 0; c < f.rows; c++) sum += lapis_mat_at(&p, c, j);
    CHECK_NEAR(sum, 1, 1e-12);
    for (int64_t i = 0, c = 1; i < f.cols; i++, c = 1 + i % (f.rows - 1))
      if (lapis_mat_at(&f, 0, i) - lapis_mat_at(&f, c, i) >
          lapis_mat_at(&f, 0, j) - lapis_mat_at(&f, c, j))
        CHECK_AT_LEAST(lapis_mat_at(&p, 0, i) / lapis_mat_at(&p, c, i),
                       (1 - 1e-12) * lapis_mat_at(&p, 0, j) /
                           lapis_mat_at(&p, c, j));
  }
  for (int64_t c = 0; !classes && c < f.rows; c++)
    for (int64_t i = 0; i < f.cols; i++)
      for (int64_t j = 0; j < f.cols; j++)
        if (lapis_mat_at(&f, c, i) > lapis_mat_at(&f, c, j))
          assert_true(lapis_mat_at(&p, c, i) >= lapis_mat_at(&p, c, j));
}

/* A weak signal in a few samples: two values, three classes, or two labels. */
static lapis_mat weak(uint64_t *seed, int kind, double *X, double *y)
{
  for (int j = 0; j < WEAK; j++) {
    for (int k = 0; k < D; k++) X[D * j + k] = check_normal(seed);
    double f = X[D * j] / 4 + check_normal(seed);
    y[kind == 2 ? 2 * j : j] = kind == 1 ? (f > -.5) + (f > .5) : f > 0;
    if (kind == 2) y[2 * j + 1] = check_normal(seed) > 1;
  }
  return lapis_mat_f64(y, kind == 2 ? 2 : 1, WEAK);
}

static void probabilities_rank_as_scores(void **state)
{
  uint64_t seed = 1;
  lapis_ctx *ctx = lapis_ctx_new();
  for (int t = 0; t < FITS; t++) {
    double X[D * WEAK], y[2 * WEAK], Z[D * NEW];
    lapis_data data = {.Y = weak(&seed, t % 3, X, y)}, new = {0};
    lapis_svmplus_settings set = lapis_svmplus_defaults();
    set.C = set.gamma = 1;
    lapis_solver *s, *q;
    lapis_model *m;
    data.X = lapis_mat_f64(X, D, WEAK);
    for (int k = 0; k < D * NEW; k++) Z[k] = check_normal(&seed);
    new.X = lapis_mat_f64(Z, D, NEW);
    set.probability = true;
    set.balanced = t % 2;
    set.kernel = t % 5 == 0 ? LAPIS_KERNEL_RBF : LAPIS_KERNEL_LINEAR;
    assert_int_equal(lapis_svmplus_new(ctx, &data, &set, &s), LAPIS_OK);
    assert_true(lapis_solve(s) >= 0);
    assert_int_equal(lapis_model_new(s, &m), LAPIS_OK);
    assert_int_equal(lapis_predict_new(ctx, &new, m, NULL, &q), LAPIS_OK);
    assert_int_equal(lapis_solve(q), LAPIS_OK);
    check_order(q, t % 3 == 1);
    lapis_solver_free(q);
    lapis_model_free(m);
    lapis_solver_free(s);
  }
  lapis_ctx_free(ctx);
}

/* The same of what answers for mc, labels of two values each. */
static void answers_of_a_race_rank_as_scores(void **state)
{
  uint64_t seed = 2;
  lapis_ctx *ctx = lapis_ctx_new();
  for (int t = 0; t < 6; t++) {
    double X[D * WEAK], y[2 * WEAK];
    lapis_data data = {.Y = weak(&seed, t % 2 ? 2 : 0, X, y)};
    lapis_mc_settings set = lapis_mc_defaults();
    auto_options o = {.mc = true, .linear = true, .trees = true};
    comparison *r;
    lapis_solver *s;
    data.X = lapis_mat_f64(X, D, WEAK);
    for (int k = 0; k < data.Y.rows * WEAK; k += 3) y[k] = NAN;
    assert_true(comparison_run(ctx, &data, &set, &o, &r) >= 0);
    assert_int_equal(comparison_answer_new(ctx, r, comparison_best(r, NULL),
                                           &data, &set, &s),
                     LAPIS_OK);
    assert_true(lapis_solve(s) >= 0);
    check_order(s, false);
    lapis_solver_free(s);
    comparison_free(r);
  }
  lapis_ctx_free(ctx);
}

int test_calibrate(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sigmoids_find_the_line),
      cmocka_unit_test(rare_labels_share_the_slope),
      cmocka_unit_test(weights_are_samples),
      cmocka_unit_test(softmaxes_are_stationary),
      cmocka_unit_test(offsets_are_taken_back),
      cmocka_unit_test(separated_classes_leave_doubt),
      cmocka_unit_test(probabilities_rank_as_scores),
      cmocka_unit_test(answers_of_a_race_rank_as_scores),
  };
  return run_cases(tests, NULL, NULL);
}
