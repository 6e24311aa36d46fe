/* A sample of weight k counts as k samples do, in every method that learns
 * from samples one by one: the same answers as from samples repeated.  mc
 * completes all samples together, and weighs their labels
 * (tests/methods/mc/weights.c).
 */
#include "check.h"
#include "lapis/tools.h"
#include "room.h"

enum { N = 30, D = 4, MOST = 3 * N };
typedef enum kind { TWO, THREE, SEVERAL } kind;

typedef struct problem {
  double X[MOST * D], Y[MOST * 2], weight[MOST];
  lapis_data data;
} problem;

/* Features with gaps where gaps are taken; weights 0 to 3. */
static void make(problem *p, kind k, bool gaps, uint64_t seed)
{
  int rows = k == SEVERAL ? 2 : 1;
  for (int j = 0; j < N; j++) {
    double *x = p->X + j * D, *y = p->Y + j * rows;
    for (int i = 0; i < D; i++) x[i] = check_normal(&seed);
    double level = x[0] + .5 * x[1] + .7 * check_normal(&seed);
    y[0] = k == THREE ? (level > -.4) + (level > .5) : level > 0;
    if (rows > 1) y[1] = x[2] + check_normal(&seed) > 0;
    if (rows > 1 && j % 7 == 3) y[1] = NAN;
    if (gaps && j % 5 == 2) x[j % D] = NAN;
    p->weight[j] = (double)(j % 4);
  }
  p->data = (lapis_data){.X = lapis_mat_f64(p->X, D, N),
                         .Y = lapis_mat_f64(p->Y, rows, N),
                         .weight = p->weight};
}

/* Each sample as often as its weight says; those without come last, and are not
 * learnt from: they are asked alone. */
static void repeat(const problem *of, problem *to)
{
  int rows = (int)of->data.Y.rows, n = 0;
  for (int j = 0; j < N; j++)
    for (int k = 0; k < (int)of->weight[j]; k++, n++) {
      memcpy(to->X + n * D, of->X + j * D, D * sizeof(double));
      memcpy(to->Y + n * rows, of->Y + j * rows, (size_t)rows * sizeof(double));
    }
  to->data = (lapis_data){.X = lapis_mat_f64(to->X, D, n),
                          .Y = lapis_mat_f64(to->Y, rows, n)};
}

/* What the model of a fit answers for all samples of `of`. */
static void answers(lapis_ctx *ctx, const char *method, const char *setting,
                    const char *value, const lapis_data *data,
                    const problem *of, double *scores)
{
  const lapis_method *m = lapis_method_find(method);
  double settings[128];
  lapis_solver *s, *told;
  lapis_model *model;
  lapis_mat mat;
  lapis_data asked = {.X = of->data.X};
  lapis_settings_default(m, settings);
  if (setting != NULL &&
      lapis_settings_set(ctx, m, settings, setting, value) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  if (lapis_solver_new(ctx, m, data, settings, &s) < 0 || lapis_solve(s) < 0 ||
      lapis_model_new(s, &model) < 0 ||
      lapis_predict_new(ctx, &asked, model, NULL, &told) < 0 ||
      lapis_solve(told) < 0 || lapis_result_get(told, "scores", &mat) < 0)
    fail_msg("%s: %s", method, lapis_ctx_error(ctx));
  for (int64_t k = 0; k < mat.rows * mat.cols; k++)
    scores[k] = lapis_mat_at(&mat, k % mat.rows, k / mat.rows);
  lapis_solver_free(told);
  lapis_model_free(model);
  lapis_solver_free(s);
}

static const struct {
  const char *method, *setting, *value;
  bool gaps, several, three, joint;
  double tolerance;
} rows[] = {{"linear", "tol", "1e-10", true, true, true, false, 1e-6},
            {"linear", "C", "30", true, true, true, false, 1e-3},
            {"trees", "trees", "20", true, true, true, false, 0},
            {"trees", "leaf", "4", true, true, true, false, 0},
            {"rr", "denoise", "none", false, true, false, false, 1e-9},
            {"rr", "gamma", "30", false, true, false, true, 0},
            {"rr", "tol", "1e-8", true, true, false, true, 0},
            {"rlda", "denoise", "none", false, false, true, false, 1e-9},
            {"rlda", "gamma", "30", true, false, true, true, 0},
            {"rlda", "tol", "1e-8", true, false, true, true, 0},
            {"svmplus", "tol", "1e-10", false, false, false, false, 1e-4},
            {"mc", "solver", "admm", true, true, true, true, 0},
            {"mc", "solver", "factored", true, true, true, true, 0},
            {"mc", "solver", "bordered", false, true, true, true, 0}};
enum { ROWS = sizeof rows / sizeof *rows };

static bool takes(int r, kind k)
{
  return (k != SEVERAL || rows[r].several) && (k != THREE || rows[r].three);
}

static void whole_weights_are_repetitions(void **state)
{
  static problem p, repeated;
  double one[3 * N], other[3 * N];
  lapis_ctx *ctx = lapis_ctx_new();
  for (int r = 0; r < ROWS; r++)
    for (int k = TWO; k <= SEVERAL; k++) {
      if (!takes(r, (kind)k) || rows[r].joint) continue;
      int64_t count = N * (k == TWO ? 1 : k == THREE ? 3 : 2);
      make(&p, (kind)k, rows[r].gaps, 40 + (uint64_t)k);
      repeat(&p, &repeated);
      answers(ctx, rows[r].method, rows[r].setting, rows[r].value, &p.data, &p,
              one);
      answers(ctx, rows[r].method, rows[r].setting, rows[r].value,
              &repeated.data, &p, other);
      for (int64_t i = 0; i < count; i++)
        if (!(fabs(one[i] - other[i]) <=
              rows[r].tolerance * (1 + fabs(other[i]))))
          fail_msg("%s, kind %d, answer %d: %.10g, repeated %.10g",
                   rows[r].method, k, (int)i, one[i], other[i]);
      lapis_data plain =
          lapis_data_with(&p.data, ~(unsigned)LAPIS_READS_WEIGHT);
      answers(ctx, rows[r].method, rows[r].setting, rows[r].value, &plain, &p,
              other);
      assert_memory_not_equal(one, other, (size_t)count * sizeof *one);
    }
  lapis_ctx_free(ctx);
}

/* Weights of 1 are none, to the bit. */
static void ones_are_none(void **state)
{
  static problem p;
  double one[3 * N], other[3 * N];
  lapis_ctx *ctx = lapis_ctx_new();
  for (int r = 0; r < ROWS; r++) {
    make(&p, TWO, rows[r].gaps, 7);
    for (int j = 0; j < N; j++) p.weight[j] = 1;
    lapis_data plain = lapis_data_with(&p.data, ~(unsigned)LAPIS_READS_WEIGHT);
    answers(ctx, rows[r].method, rows[r].setting, rows[r].value, &p.data, &p,
            one);
    answers(ctx, rows[r].method, rows[r].setting, rows[r].value, &plain, &p,
            other);
    assert_memory_equal(one, other, N * sizeof *one);
  }
  lapis_ctx_free(ctx);
}

/* linear: C times all weights is what counts; trees: their ratios. */
static void a_common_factor(void **state)
{
  static problem p, twice;
  double one[N], other[N];
  lapis_ctx *ctx = lapis_ctx_new();
  make(&p, TWO, true, 3);
  make(&twice, TWO, true, 3);
  for (int j = 0; j < N; j++) twice.weight[j] *= 4;
  answers(ctx, "linear", "C", "8", &p.data, &p, one);
  answers(ctx, "linear", "C", "2", &twice.data, &p, other);
  assert_memory_equal(one, other, sizeof one);
  answers(ctx, "trees", "trees", "20", &p.data, &p, one);
  answers(ctx, "trees", "trees", "20", &twice.data, &p, other);
  assert_memory_equal(one, other, sizeof one);
  lapis_ctx_free(ctx);
}

static void what_is_no_weight_is_refused(void **state)
{
  static problem p;
  static const double bad[] = {-1, NAN, INFINITY, -INFINITY};
  lapis_ctx *ctx = lapis_ctx_new();
  for (int i = 0; lapis_method_at(i) != NULL; i++) {
    const lapis_method *m = lapis_method_at(i);
    lapis_solver *s;
    if ((m->reads & LAPIS_READS_WEIGHT) == 0) continue;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
      make(&p, TWO, false, 3);
      for (int j = 0; j < N; j++) p.weight[j] = 1;
      p.weight[11] = bad[k];
      assert_int_equal(lapis_solver_new(ctx, m, &p.data, NULL, &s),
                       LAPIS_EDATA);
      assert_null(s);
      if (strstr(lapis_ctx_error(ctx), m->name) == NULL ||
          strstr(lapis_ctx_error(ctx), "12") == NULL)
        fail_msg("%s", lapis_ctx_error(ctx));
    }
    for (int j = 0; j < N; j++) p.weight[j] = 0;
    assert_int_equal(lapis_solver_new(ctx, m, &p.data, NULL, &s), LAPIS_EDATA);
  }
  lapis_ctx_free(ctx);
}

int test_weights(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(whole_weights_are_repetitions),
      cmocka_unit_test(ones_are_none), cmocka_unit_test(a_common_factor),
      cmocka_unit_test(what_is_no_weight_is_refused)};
  return run_cases(tests, NULL, NULL);
}
