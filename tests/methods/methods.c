/* The one door: whichever constructor is called, by its name or through the
 * list of methods, the same checks are made and the same is known. */
#include "check.h"
#include "methods/method_entry.h"

/* ---- one row a method: its constructor by name ---------------------------*/
typedef lapis_status (*make_fn)(lapis_ctx *ctx, const lapis_data *data,
                                const void *set, lapis_solver **out);
#define BY_NAME(method)                                                     \
  static lapis_status make_##method(lapis_ctx *ctx, const lapis_data *data, \
                                    const void *set, lapis_solver **out)    \
  {                                                                         \
    return lapis_##method##_new(ctx, data, set, out);                       \
  }
BY_NAME(mc)
BY_NAME(rpca)
BY_NAME(rr)
BY_NAME(rlda)
BY_NAME(clean)
BY_NAME(roml)
BY_NAME(svmplus)
BY_NAME(misvm)
BY_NAME(linear)
BY_NAME(trees)
BY_NAME(auto)

static const struct named {
  const char *name;
  make_fn make;
} named[] = {
    {"auto", make_auto},     {"mc", make_mc},           {"rpca", make_rpca},
    {"rr", make_rr},         {"rlda", make_rlda},       {"clean", make_clean},
    {"roml", make_roml},     {"svmplus", make_svmplus}, {"misvm", make_misvm},
    {"linear", make_linear}, {"trees", make_trees}};
enum { NAMED = sizeof named / sizeof *named, ROWS = 3, SAMPLES = 12 };

static make_fn by_name(const char *name)
{
  for (int i = 0; i < NAMED; i++)
    if (strcmp(named[i].name, name) == 0) return named[i].make;
  fail_msg("no constructor of %s is tried here", name);
  return NULL;
}

/* ---- data that all methods but roml take ---------------------------------*/
typedef struct problem {
  lapis_ctx *ctx;
  double X[SAMPLES * ROWS], Y[SAMPLES];
  int64_t group[SAMPLES];
  lapis_data data;
} problem;

static void problem_new(problem *p)
{
  uint64_t seed = 1;
  p->ctx = lapis_ctx_new();
  for (int j = 0; j < SAMPLES; j++) {
    p->Y[j] = j % 2 == 0 ? 1 : -1;
    p->group[j] = j;
    for (int i = 0; i < ROWS; i++)
      p->X[j * ROWS + i] = 2 * p->Y[j] + check_normal(&seed);
  }
  p->data = (lapis_data){.X = lapis_mat_f64(p->X, ROWS, SAMPLES),
                         .Y = lapis_mat_f64(p->Y, 1, SAMPLES),
                         .group = p->group};
}

/* What the method reads of it, as it comes. */
static lapis_data data_for(const problem *p, const lapis_method *m)
{
  double plain[128];
  lapis_settings_default(m, plain);
  return lapis_data_with(&p->data, lapis_method_reads(m, plain));
}

/* ---- what a model knows --------------------------------------------------*/
static void check_features(problem *p, const lapis_method *m, make_fn make)
{
  lapis_solver *s = NULL;
  lapis_model *model = NULL;
  lapis_data data = data_for(p, m);
  lapis_status status = make == NULL
                            ? lapis_solver_new(p->ctx, m, &data, NULL, &s)
                            : make(p->ctx, &data, NULL, &s);
  if (status >= 0) status = lapis_solve(s);
  if (status >= 0) status = lapis_model_new(s, &model);
  if (status < 0) fail_msg("%s: %s", m->name, lapis_ctx_error(p->ctx));
  if (lapis_model_features(model) != ROWS)
    fail_msg("%s: a model of %d features says %d", m->name, ROWS,
             (int)lapis_model_features(model));
  lapis_model_free(model);
  lapis_solver_free(s);
}

static void models_know_their_features(void **state)
{
  problem p;
  problem_new(&p);
  for (int i = 0; lapis_method_at(i) != NULL; i++) {
    const lapis_method *m = lapis_method_at(i);
    if (lapis_predict_method(m) == NULL) continue; /* learns no model */
    check_features(&p, m, NULL);
    check_features(&p, m, by_name(m->name));
  }
  lapis_ctx_free(p.ctx);
}

/* ---- which classes scores are of ------------------------------------------*/
static void has_classes(problem *p, const char *name, lapis_solver *s)
{
  lapis_mat classes;
  if (lapis_solve(s) < 0 || lapis_result_get(s, "classes", &classes) < 0)
    fail_msg("%s: %s", name, lapis_ctx_error(p->ctx));
  assert_int_equal(classes.rows, 1);
  assert_int_equal(classes.cols, 3);
  for (int c = 0; c < 3; c++)
    CHECK_NEAR(lapis_mat_at(&classes, 0, c), 10 + c, 0);
}

static void classes_are_told_by_fit_and_predict(void **state)
{
  static const char *const name[] = {"mc", "rlda", "svmplus", "linear",
                                     "trees"};
  problem p;
  problem_new(&p);
  for (int j = 0; j < SAMPLES; j++) p.Y[j] = 10 + j % 3;
  for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
    lapis_solver *fit = NULL, *predict = NULL;
    lapis_model *model = NULL;
    lapis_data data = data_for(&p, lapis_method_find(name[i]));
    lapis_status s = by_name(name[i])(p.ctx, &data, NULL, &fit);
    if (s < 0) fail_msg("%s", lapis_ctx_error(p.ctx));
    has_classes(&p, name[i], fit);
    s = lapis_model_new(fit, &model);
    lapis_data later = {.X = p.data.X};
    if (s >= 0) s = lapis_predict_new(p.ctx, &later, model, NULL, &predict);
    if (s < 0) fail_msg("%s: %s", name[i], lapis_ctx_error(p.ctx));
    has_classes(&p, name[i], predict);
    lapis_solver_free(predict);
    lapis_model_free(model);
    lapis_solver_free(fit);
  }
  lapis_ctx_free(p.ctx);
}

/* ---- what does not fit ---------------------------------------------------*/
/* Four entries of 10^9 rows and 10^4 columns: 80 TB where it is made dense. */
static void sparse_data_past_memory_are_refused(void **state)
{
  enum { COLS = 10000 };
  lapis_ctx *ctx = lapis_ctx_new();
  int64_t *start = calloc(COLS + 1, sizeof *start);
  int32_t row[] = {0, 1, 2, 3};
  double value[] = {1, 2, 3, 4};
  double *Y = calloc(COLS, sizeof *Y);
  for (int j = 0; j <= COLS; j++) start[j] = j < 4 ? j : 4;
  lapis_data data, all = {.X = {.dtype = LAPIS_F64,
                                .rows = 1000000000,
                                .cols = COLS,
                                .val = value,
                                .colptr = start,
                                .rowidx = row},
                          .Y = lapis_mat_f64(Y, 1, COLS)};
  for (int i = 0; lapis_method_at(i) != NULL; i++) {
    const lapis_method *m = lapis_method_at(i);
    lapis_solver *s = NULL;
    if (strcmp(m->name, "svmplus") == 0) continue; /* keeps it sparse */
    data = lapis_data_with(&all, m->reads);
    lapis_status got = by_name(m->name)(ctx, &data, NULL, &s);
    check_refused(ctx, got, LAPIS_ENOMEM, s, "features");
    assert_non_null(strstr(lapis_ctx_error(ctx), m->name));
    got = lapis_solver_new(ctx, m, &data, NULL, &s);
    check_refused(ctx, got, LAPIS_ENOMEM, s, "features");
  }
  free(start);
  free(Y);
  lapis_ctx_free(ctx);
}

/* ---- several processes ---------------------------------------------------*/
static int not_asked(void *self, double *x, int64_t n)
{
  (void)self, (void)x, (void)n;
  fail_msg("a sum over processes was begun");
  return 1;
}

static const lapis_comm two = {
    .size = 2, .rank = 0, .sum = not_asked, .max = not_asked};

static void processes_are_refused(void **state)
{
  problem p;
  problem_new(&p);
  lapis_ctx_set_comm(p.ctx, &two);
  for (int i = 0; lapis_method_at(i) != NULL; i++) {
    const lapis_method *m = lapis_method_at(i);
    char words[96];
    lapis_solver *s = NULL;
    if (method_entry_of(m)->splits) continue; /* tests/parallel */
    snprintf(words, sizeof words,
             "%s: this method needs all samples in one process, and there are "
             "2; run it in one",
             m->name);
    lapis_status got = by_name(m->name)(p.ctx, &p.data, NULL, &s);
    check_refused(p.ctx, got, LAPIS_EINVAL, s, words);
    got = lapis_solver_new(p.ctx, m, &p.data, NULL, &s);
    check_refused(p.ctx, got, LAPIS_EINVAL, s, words);
  }
  lapis_ctx_free(p.ctx);
}

/* A solver was made for one process: it does not wait for others later. */
static void solvers_keep_their_processes(void **state)
{
  problem p;
  problem_new(&p);
  for (int i = 0; lapis_method_at(i) != NULL; i++) {
    const lapis_method *m = lapis_method_at(i);
    lapis_solver *s = NULL;
    if (lapis_predict_method(m) == NULL) continue; /* other data */
    lapis_data data = data_for(&p, m);
    assert_int_equal(lapis_solver_new(p.ctx, m, &data, NULL, &s), 0);
    lapis_ctx_set_comm(p.ctx, &two);
    assert_int_equal(lapis_solve(s), LAPIS_EINVAL);
    check_says(lapis_ctx_error(p.ctx), "1");
    lapis_ctx_set_comm(p.ctx, NULL);
    assert_true(lapis_solve(s) >= 0);
    lapis_model *model;
    lapis_solver *predict = NULL;
    assert_int_equal(lapis_model_new(s, &model), 0);
    if (!method_entry_of(m)->answers_parts) { /* those: parallel/model.c */
      lapis_ctx_set_comm(p.ctx, &two);
      lapis_status got =
          lapis_predict_new(p.ctx, &p.data, model, NULL, &predict);
      check_refused(p.ctx, got, LAPIS_EINVAL, predict, "");
      lapis_ctx_set_comm(p.ctx, NULL);
    }
    lapis_model_free(model);
    lapis_solver_free(s);
  }
  lapis_ctx_free(p.ctx);
}

int test_methods(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(models_know_their_features),
      cmocka_unit_test(classes_are_told_by_fit_and_predict),
      cmocka_unit_test(sparse_data_past_memory_are_refused),
      cmocka_unit_test(processes_are_refused),
      cmocka_unit_test(solvers_keep_their_processes),
  };
  return run_cases(tests, NULL, NULL);
}
