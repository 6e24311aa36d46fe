/* results.c - the rows that say what a method answers with, held against what
 * it does: with every value of every choice, each switch and a few numbers, on
 * data of several kinds, and of predicting with each model.  What is published
 * has a row whose type, shape and condition are true; what a row promises is
 * there; and every row is met. */
#include "methods/any_problem.h"
#include "result_rows.h"

/* ---- one answer ----------------------------------------------------------*/
enum { TABLES = 32 };
typedef struct met { /* rows of a table that were */
  const lapis_method *table;
  bool row[ROWS];
} met;
typedef struct meeting {
  files *f;
  met of[TABLES];
} meeting;

static met *met_of(meeting *w, const lapis_method *m)
{
  int i = 0;
  while (w->of[i].table != NULL && w->of[i].table != m) i++;
  assert_true(i < TABLES);
  w->of[i].table = m;
  return &w->of[i];
}

/* who: "svmplus kernel=rbf", for a message. */
static void check_met(meeting *w, const lapis_solver *s, const lapis_method *m,
                      const void *set, const lapis_data *data, symbols t,
                      const char *who)
{
  check_answer(w->f, s, m, set, lapis_data_has(data), t, who,
               met_of(w, m)->row);
}

/* ---- data of several kinds -----------------------------------------------*/
enum { KINDS = 6 };
typedef struct example {
  problem p;
  double labels[2 * N];
  double weights[(D + 1) * 2];
} example;

/* Images of one object of four features; or of four points, moved. */
static void make_images(example *e, bool points)
{
  uint64_t seed = 5;
  int64_t d = points ? 2 : D;
  for (int64_t k = 0; k < d * N; k++)
    e->p.X[k] = (double)(k % (6 * d) * k % (6 * d) % 17) +
                (k % (6 * d) < 4 * d ? .01 : 9) * check_normal(&seed);
  e->p.data.X = lapis_mat_f64(e->p.X, d, N);
}

/* Two classes; three; two labels; with gaps, of three classes too; features of
 * unlike sizes. */
static void make_kind(example *e, const char *method, int kind)
{
  bool numbers = lapis_method_find(method)->numbers;
  make(&e->p, method);
  lapis_data *data = &e->p.data;
  bool images = strcmp(method, "roml") == 0;
  if (images && kind >= 4) make_images(e, kind == 5);
  for (int i = 0; i < 2 * (D + 1); i++) e->weights[i] = .1;
  if (kind == 1 || kind == 4)
    for (int j = 0; j < N; j++) e->p.Y[j] = j % 3;
  for (int j = 0; kind == 2 && data->Y.rows > 0 && j < N; j++) {
    e->labels[2 * j] = j % 2;
    e->labels[2 * j + 1] = j % 3 == 0;
    data->Y = lapis_mat_f64(e->labels, 2, N);
  }
  for (int j = 0; (kind == 3 || kind == 4) && j < N; j += 7) e->p.Y[j] = NAN;
  for (int j = 0; kind == 5 && !images && j < N; j++) {
    e->p.X[j * D] = 1e4 * e->p.X[j * D] + 1e5;
    e->p.P[2 * j] = 1e4 * e->p.P[2 * j];
    if (numbers) e->p.Y[j] *= 1e3;
  }
}

static symbols symbols_of(const lapis_data *data)
{
  symbols t = {.count = 0};
  define(&t, "n", data->X.cols);
  define(&t, "d", data->X.rows);
  define(&t, "p", data->P.rows);
  define(&t, "c", data->Y.rows);
  return t;
}

/* ---- predicting ----------------------------------------------------------*/
static void check_predicting(meeting *w, lapis_solver *fit,
                             const lapis_method *m, const lapis_data *data,
                             const char *who)
{
  double set[64] = {0};
  char words[160];
  lapis_model *model;
  lapis_solver *s;
  if (lapis_predict_method(m) == NULL || lapis_model_new(fit, &model) < 0)
    return;
  /* of auto: the model of who answers */
  const lapis_method *table = lapis_predict_method(lapis_model_method(model));
  assert_true(table->settings_size <= sizeof set);
  lapis_settings_default(table, set);
  lapis_data later = lapis_data_with(data, table->reads);
  (void)snprintf(words, sizeof words, "predict: %s", who);
  if (lapis_predict_new(w->f->ctx, &later, model, set, &s) >= 0) {
    symbols t = symbols_of(data);
    if (lapis_solve(s) < 0) fail_msg("%s", lapis_ctx_error(w->f->ctx));
    check_met(w, s, table, set, &later, t, words);
    lapis_solver_free(s);
  }
  lapis_model_free(model);
}

/* ---- all settings --------------------------------------------------------*/
typedef union any_settings {
  double bytes[128];
  lapis_mc_settings mc;
  lapis_rr_settings rr;
  lapis_clean_settings clean;
  lapis_auto_settings of_auto;
} any_settings;

static bool set_if_there(files *f, const lapis_method *m, any_settings *set,
                         const char *name, const char *value)
{
  return lapis_param_find(m, name) != NULL &&
         lapis_settings_set(f->ctx, m, set, name, value) >= 0;
}

/* Few iterations of little; what a method does not do without. */
static void begin_settings(files *f, const lapis_method *m, example *e,
                           any_settings *set)
{
  lapis_settings_default(m, set);
  set_if_there(f, m, set, "max-iters", "20");
  set_if_there(f, m, set, "trees", "5");
  set_if_there(f, m, set, "inliers", "2");
  if (strcmp(m->name, "svmplus") == 0) { /* else P may be left out */
    set_if_there(f, m, set, "C", "1");
    set_if_there(f, m, set, "gamma", "1");
  }
  if (strcmp(m->name, "clean") == 0)
    set->clean.dictionary = lapis_mat_f64(e->p.clean, D, N);
}

/* What has no row to be set by. */
static void set_matrices(const lapis_method *m, const char *name, example *e,
                         any_settings *set)
{
  int64_t K = e->p.data.Y.rows;
  if (strcmp(m->name, "rr") == 0 && strcmp(name, "certificate") == 0)
    set->rr.weights = lapis_mat_f64(e->weights, D + 1, K);
}

static void run(meeting *w, const lapis_method *m, const any_settings *set,
                const lapis_data *data, const char *who)
{
  lapis_solver *s;
  if (lapis_solver_new(w->f->ctx, m, data, set, &s) < 0) return;
  if (lapis_solve(s) >= 0) {
    check_met(w, s, m, lapis_result_settings(s), data, symbols_of(data), who);
    check_predicting(w, s, m, data, who);
  }
  lapis_solver_free(s);
}

/* The i-th value that a row is tried with; false: there is none. */
static bool value_at(const lapis_param *p, int i, char *value, size_t size)
{
  const char *at = p->choices;
  if (p->type == LAPIS_PARAM_BOOL) at = "true";
  if (p->type == LAPIS_PARAM_REAL) at = "0.5";
  if (p->type == LAPIS_PARAM_INT) at = p->value < 0 ? "auto" : "1|2|auto";
  for (; at != NULL && *at != '\0' && i > 0; i--) {
    at += strcspn(at, "|");
    at += *at == '|';
  }
  if (at == NULL || *at == '\0') return false;
  (void)snprintf(value, size, "%.*s", (int)strcspn(at, "|"), at);
  return true;
}

static void every_setting(meeting *w, const lapis_method *m, int kind)
{
  const lapis_param *p;
  char value[64], who[128];
  for (int i = 0; (p = lapis_method_param(m, i)) != NULL; i++)
    for (int k = 0; value_at(p, k, value, sizeof value); k++) {
      example e;
      any_settings set;
      make_kind(&e, m->name, kind);
      begin_settings(w->f, m, &e, &set);
      if (!set_if_there(w->f, m, &set, p->name, value)) continue;
      set_matrices(m, p->name, &e, &set);
      (void)snprintf(who, sizeof who, "%s %s=%s, data %d", m->name, p->name,
                     value, kind);
      run(w, m, &set, &e.p.data, who);
    }
}

static void plain(meeting *w, const lapis_method *m, int kind)
{
  example e;
  any_settings set;
  char who[64];
  make_kind(&e, m->name, kind);
  begin_settings(w->f, m, &e, &set);
  (void)snprintf(who, sizeof who, "%s, data %d", m->name, kind);
  run(w, m, &set, &e.p.data, who);
  if (m->joint) e.p.data.Y = (lapis_mat){0};
  if (m->joint) run(w, m, &set, &e.p.data, "mc without Y");
}

/* Sets and intervals, of the fit and of what each candidate's model predicts.
 */
static void with_coverage(meeting *w)
{
  static const struct {
    const char *who, *targets;
  } of[] = {{"mc", "classes"}, {"linear", "classes"}, {"trees", "classes"},
            {"rr", "numbers"}, {"linear", "numbers"}, {"trees", "numbers"}};
  for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
    example e;
    char who[64];
    make_kind(&e, strcmp(of[k].targets, "numbers") == 0 ? "rr" : "auto", 0);
    e.p.data.group = NULL;
    any_settings set = {.of_auto = lapis_auto_defaults()};
    set.of_auto.candidates = of[k].who;
    set.of_auto.coverage = .5;
    assert_true(set_if_there(w->f, lapis_method_find("auto"), &set, "targets",
                             of[k].targets));
    (void)snprintf(who, sizeof who, "auto of %s, %s", of[k].who, of[k].targets);
    run(w, lapis_method_find("auto"), &set, &e.p.data, who);
  }
}

/* What models of auto itself answer: bags of three rows, of two and of
 * three classes, by their statistics or by misvm; and gaps. */
static void with_models_of_its_own(meeting *w)
{
  static const char *const who[] = {"linear,misvm", "misvm", "linear"};
  int64_t group[N];
  for (int k = 0; k < 3; k++) {
    example e;
    make_kind(&e, "auto", 0);
    for (int j = 0; j < N; j++) {
      group[j] = j / 3;
      e.p.Y[j] = (double)(group[j] % (k == 2 ? 3 : 2));
    }
    e.p.data.group = group;
    e.p.data.weight = NULL;
    any_settings set = {.of_auto = lapis_auto_defaults()};
    set.of_auto.candidates = who[k];
    set.of_auto.bags = true;
    run(w, lapis_method_find("auto"), &set, &e.p.data, "auto of bags");
  }
  example e;
  make_kind(&e, "auto", 0);
  lapis_data alone = {.X = e.p.data.X};
  any_settings set = {.of_auto = lapis_auto_defaults()};
  run(w, lapis_method_find("auto"), &set, &alone, "auto without Y");
}

/* A bag without a label. */
static void with_an_open_bag(meeting *w)
{
  example e;
  any_settings set;
  const lapis_method *m = lapis_method_find("misvm");
  make_kind(&e, "misvm", 0);
  begin_settings(w->f, m, &e, &set);
  for (int j = 0; j < N; j++)
    if (e.p.data.group[j] == e.p.data.group[0]) e.p.Y[j] = NAN;
  run(w, m, &set, &e.p.data, "misvm with an open bag");
}

/* What matters is said where something is learnt; of numbers one is wrong. */
static void with_importance(meeting *w)
{
  enum { MANY = 60 };
  double x[MANY], y[MANY];
  uint64_t seed = 2;
  for (int j = 0; j < MANY; j++) {
    x[j] = check_normal(&seed);
    y[j] = x[j] > 0;
  }
  lapis_data data = {.X = lapis_mat_f64(x, 1, MANY),
                     .Y = lapis_mat_f64(y, 1, MANY)};
  any_settings set = {.of_auto = lapis_auto_defaults()};
  set.of_auto.candidates = "linear";
  set.of_auto.importance = true;
  run(w, lapis_method_find("auto"), &set, &data, "auto, what matters");
  for (int j = 0; j < MANY; j++) y[j] = x[j] + .1 * check_normal(&seed);
  y[3] = 999;
  run(w, lapis_method_find("auto"), &set, &data, "auto, an outlier");
}

/* Of labels of which every twelfth is wrong. */
static void with_labels_left_out(meeting *w)
{
  enum { MANY = 240 };
  double x[MANY], y[MANY];
  uint64_t seed = 2;
  for (int j = 0; j < MANY; j++) {
    y[j] = j % 2;
    x[j] = check_normal(&seed) + 8 * y[j];
    if (j % 12 < 2 && j % 24 < 12) y[j] = 1 - y[j];
  }
  lapis_data data = {.X = lapis_mat_f64(x, 1, MANY),
                     .Y = lapis_mat_f64(y, 1, MANY)};
  any_settings set = {.of_auto = lapis_auto_defaults()};
  set.of_auto.candidates = "linear";
  set.of_auto.doubted = LAPIS_DOUBTED_OMIT;
  run(w, lapis_method_find("auto"), &set, &data, "auto, labels left out");
}

static void results_are_what_the_tables_say(void **state)
{
  meeting w = {.f = *state};
  const lapis_method *m;
  for (int i = 0; (m = lapis_method_at(i)) != NULL; i++)
    for (int kind = 0; kind < KINDS; kind++) {
      plain(&w, m, kind);
      every_setting(&w, m, kind);
    }
  with_coverage(&w);
  with_importance(&w);
  with_labels_left_out(&w);
  with_models_of_its_own(&w);
  with_an_open_bag(&w);
  for (int i = 0; i < TABLES && w.of[i].table != NULL; i++) {
    const lapis_method *table = w.of[i].table;
    const lapis_result_row *row;
    for (int k = 0; (row = lapis_method_result(table, k)) != NULL; k++)
      if (!w.of[i].row[k] && strcmp(row->name, "notes") != 0)
        fail_msg("%s (%s): nothing was ever called %s", table->name,
                 table->title, row->name);
  }
}

/* Every table has rows, each with a sentence, and no name twice. */
static void rows_are_whole(void **state)
{
  const lapis_method *m;
  for (int i = 0; (m = lapis_method_at(i)) != NULL; i++)
    for (int both = 0; both < 2; both++) {
      const lapis_method *table = both == 0 ? m : lapis_predict_method(m);
      const lapis_result_row *row;
      bool of_others = both == 1 && strcmp(m->name, "auto") == 0;
      if (table == NULL || of_others) continue;
      assert_non_null(lapis_method_result(table, 0));
      assert_null(lapis_method_result(table, -1));
      for (int k = 0; (row = lapis_method_result(table, k)) != NULL; k++) {
        assert_true(*row->name != '\0' && *row->shape != '\0');
        assert_true(*row->help != '\0' && strchr(row->help, '\n') == NULL);
        assert_int_equal(row_of(table, row->name), k);
      }
      assert_int_equal(row_of(table, "notes"), table->n_results - 1);
    }
  assert_null(lapis_method_result(NULL, 0));
}

int test_results(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(results_are_what_the_tables_say,
                                      files_setup, files_teardown),
      cmocka_unit_test(rows_are_whole)};
  return run_cases(tests, NULL, NULL);
}
