/* What is written is an answer: never NaN, never "solved" with a bound above
 * the objective, however large or small the data are. */
#include "solver/answer.h"
#include "files.h"

enum { D = 6, N = 24 };

typedef struct problem {
  double X[D * N], Y[N];
  lapis_data d;
} problem;

static void begin(problem *p, double scale)
{
  uint64_t r = 3;
  for (int j = 0; j < N; j++) {
    double c = check_normal(&r);
    p->Y[j] = c > 0;
    for (int i = 0; i < D; i++)
      p->X[j * D + i] = scale * (c * (i + 1) + 0.1 * check_normal(&r));
  }
  p->d = (lapis_data){.X = lapis_mat_f64(p->X, D, N),
                      .Y = lapis_mat_f64(p->Y, 1, N)};
}

static void count_warnings(int level, const char *text, void *user)
{
  (void)text;
  if (level == 0) ++*(int *)user;
}

static bool is_open(const char *name) /* may say NaN: unknown, not measured */
{
  return strcmp(name, "history") == 0 || strcmp(name, "history_columns") == 0 ||
         strcmp(name, "tried") == 0;
}

static void check_answer(const char *method, double scale,
                         const lapis_solver *s, lapis_status status)
{
  lapis_mat m;
  const lapis_info *info = lapis_result_info(s);
  for (int k = 0; lapis_result_name(s, k) != NULL; k++) {
    const char *name = lapis_result_name(s, k);
    assert_int_equal(lapis_result_get(s, name, &m), LAPIS_OK);
    for (int64_t j = 0; !is_open(name) && m.dtype != LAPIS_TEXT && j < m.cols;
         j++)
      for (int64_t i = 0; i < m.rows; i++)
        if (!isfinite(lapis_mat_at(&m, i, j)))
          fail_msg("%s, X x %g: '%s' is not finite", method, scale, name);
  }
  if (isinf(info->residual)) fail_msg("%s: residual inf", method);
  if (status == LAPIS_OK && info->gap < -1e-9)
    fail_msg("%s, X x %g: solved, gap %g", method, scale, info->gap);
}

/* Fits and predicts; what is refused is refused with a sentence. */
static void fit(files *f, const char *method, double scale, const char *name,
                const char *value)
{
  problem p;
  lapis_solver *s;
  lapis_model *model = NULL;
  union {
    double align;
    char bytes[1024];
  } set;
  const lapis_method *m = lapis_method_find(method);
  begin(&p, scale);
  lapis_settings_default(m, &set);
  if (name != NULL)
    CHECK_OK(f, lapis_settings_set(f->ctx, m, &set, name, value));
  if (strcmp(method, "clean") == 0)
    ((lapis_clean_settings *)(void *)&set)->dictionary = p.d.X;
  if (lapis_solver_new(f->ctx, m, &p.d, &set, &s) < 0) return;
  lapis_status status = lapis_solve(s);
  if (status < 0) assert_true(strlen(lapis_ctx_error(f->ctx)) > 20);
  if (status >= 0) check_answer(method, scale, s, status);
  if (status >= 0 && lapis_model_new(s, &model) >= 0) {
    lapis_solver *q;
    if (lapis_predict_new(f->ctx, &p.d, model, NULL, &q) >= 0) {
      status = lapis_solve(q);
      if (status >= 0) check_answer(method, scale, q, status);
      lapis_solver_free(q);
    }
    lapis_model_free(model);
  }
  lapis_solver_free(s);
}

static void any_scale_gives_an_answer_or_none(void **state)
{
  files *f = *state;
  int warnings = 0;
  static const char *const methods[] = {"mc",     "rpca",    "rr",   "rlda",
                                        "clean",  "svmplus", "roml", "misvm",
                                        "linear", "trees"};
  static const double scales[] = {1,     1e9,    1e-9,   1e60,  1e-100, 1e-160,
                                  1e150, 1e-200, 1e-300, 1e300, 0};
  lapis_ctx_on_message(f->ctx, count_warnings, &warnings);
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++)
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++)
      fit(f, methods[k], scales[i], "time-limit", "5");
}

static void any_setting_gives_an_answer_or_none(void **state)
{
  files *f = *state;
  int warnings = 0;
  static const char *const rows[][3] = {
      {"clean", "lambda", "1e300"}, {"clean", "lambda", "1e-300"},
      {"rpca", "lambda", "1e300"},  {"rpca", "lambda", "1e-300"},
      {"rr", "eta", "1e300"},       {"rr", "eta", "1e-300"},
      {"rr", "max-iters", "0"},     {"rr", "time-limit", "0"},
      {"clean", "time-limit", "0"}, {"mc", "time-limit", "0"},
      {"mc", "mu", "1e-300"},       {"mc", "mu", "1e300"},
      {"svmplus", "C", "1e-300"},   {"svmplus", "C", "1e300"},
      {"linear", "C", "1e-300"},    {"linear", "C", "1e300"}};
  lapis_ctx_on_message(f->ctx, count_warnings, &warnings);
  lapis_ctx_limit(f->ctx, INFINITY);
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    fit(f, rows[k][0], 1, rows[k][1], rows[k][2]);
}

/* Without a bound a method says so by NaN twice; else a gap is a number. */
static void a_gap_of_no_number_proves_nothing(void **state)
{
  files *f = *state;
  static const solver_class none = {.method = "none"};
  static const struct {
    double objective, dual, gap;
    lapis_status status;
  } rows[] = {{1, NAN, NAN, LAPIS_OK},
              {1, 1, 0, LAPIS_OK},
              {1, 0.5, 0.5, LAPIS_OK},
              {1, 1, NAN, LAPIS_PRECISION_FLOOR},
              {NAN, NAN, NAN, LAPIS_OK}, /* answers of a model */
              {1, -INFINITY, INFINITY, LAPIS_PRECISION_FLOOR},
              {1, 2, -1, LAPIS_PRECISION_FLOOR}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    lapis_solver s = {.ctx = f->ctx,
                      .cls = &none,
                      .info = {.objective = rows[k].objective,
                               .dual = rows[k].dual,
                               .gap = rows[k].gap}};
    assert_int_equal(answer_check(&s, LAPIS_OK), rows[k].status);
  }
}

int test_answer(void)
{
#define CASE(name) \
  cmocka_unit_test_setup_teardown(name, files_setup, files_teardown)
  const struct CMUnitTest tests[] = {CASE(any_scale_gives_an_answer_or_none),
                                     CASE(any_setting_gives_an_answer_or_none),
                                     CASE(a_gap_of_no_number_proves_nothing)};
  return run_cases(tests, NULL, NULL);
}
