/* settings.c - every constructor asks the table: no settings are the
 * defaults, and what makes no sense is refused with a sentence. */
#include "base/param.h"
#include "cv_points.h"
#include "files.h"
#include "lapis/choose.h"
#include "lapis/images.h"
#include "methods/any_problem.h"

static lapis_status solver_of(files *f, const lapis_method *m, const void *set)
{
  problem p;
  lapis_solver *s;
  make(&p, m->name);
  lapis_status status = lapis_solver_new(f->ctx, m, &p.data, set, &s);
  assert_true((status >= 0) == (s != NULL));
  lapis_solver_free(s);
  return status;
}

/* clean has no default dictionary, and says so. */
static void no_settings_are_the_defaults(void **state)
{
  files *f = *state;
  for (int i = 0; lapis_method_at(i) != NULL; i++) {
    const lapis_method *m = lapis_method_at(i);
    lapis_status wanted = LAPIS_OK;
    if (strcmp(m->name, "clean") == 0) wanted = LAPIS_EMISSING;
    if (solver_of(f, m, NULL) != wanted)
      fail_msg("%s: %s", m->name, lapis_ctx_error(f->ctx));
    CHECK_OK(f, settings_check(f->ctx, m, NULL));
  }
}

static void pipelines_take_none_too(void **state)
{
  files *f = *state;
  const char *const paths[] = {"a.png", "b.png", "c.png"};
  lapis_solver *flow;
  CHECK_OK(f, lapis_match_new(f->ctx, paths, 3, NULL, &flow));
  lapis_solver_free(flow);
  CHECK_OK(f, lapis_locate_new(f->ctx, paths, 3, NULL, &flow));
  lapis_solver_free(flow);
  CHECK_REFUSED(f, lapis_label_new(f->ctx, paths, 3, NULL, &flow), LAPIS_EINVAL,
                "labels");
  assert_null(flow);
}

/* ---- what makes no sense -------------------------------------------------*/
static void put(const lapis_param *p, void *set, double v)
{
  void *to = (char *)set + p->offset;
  if (p->type == LAPIS_PARAM_REAL) *(double *)to = v;
  if (p->type == LAPIS_PARAM_INT) *(int64_t *)to = (int64_t)v;
  if (p->type == LAPIS_PARAM_ENUM) *(int *)to = (int)v;
}

/* A value outside the bounds of a row; false: it has none outside. */
static bool outside(const lapis_param *p, bool above, double *v)
{
  if (p->type == LAPIS_PARAM_ENUM) {
    int choices = 1;
    for (const char *c = p->choices; *c != '\0'; c++) choices += *c == '|';
    *v = above ? choices : -1;
    return true;
  }
  if (p->type != LAPIS_PARAM_REAL && p->type != LAPIS_PARAM_INT) return false;
  *v = above ? p->high + 7 : p->low - 9;
  return isfinite(*v);
}

typedef lapis_status (*asked)(files *f, const lapis_method *m, const void *set);

/* Defaults pass; each row's values below and above do not, nor another size.
 * The sentence names the setting. */
static void check_table(files *f, const lapis_method *m, asked ask)
{
  void *set = calloc(1, m->settings_size);
  char word[64];
  lapis_settings_default(m, set);
  CHECK_OK(f, settings_check(f->ctx, m, set));
  for (int i = 0; i < 2 * m->n_params; i++) {
    const lapis_param *p = &m->params[i / 2];
    double v;
    if (!outside(p, i % 2 == 1, &v)) continue;
    lapis_settings_default(m, set);
    put(p, set, v);
    (void)snprintf(word, sizeof word, "%s: %s is ", m->name, p->name);
    for (char *c = strchr(word, ':'); *c != '\0'; c++)
      *c = *c == '-' ? '_' : *c;
    CHECK_REFUSED(f, ask(f, m, set), LAPIS_EINVAL, word);
    if (p->type == LAPIS_PARAM_ENUM)
      CHECK_REFUSED(f, ask(f, m, set), LAPIS_EINVAL, p->choices);
    if (p->type == LAPIS_PARAM_REAL && !isnan(p->value)) {
      put(p, set, NAN);
      CHECK_REFUSED(f, ask(f, m, set), LAPIS_EINVAL, word);
    }
  }
  lapis_settings_default(m, set);
  *(size_t *)set = 0;
  CHECK_REFUSED(f, ask(f, m, set), LAPIS_EINVAL, "0");
  *(size_t *)set = m->settings_size + 8;
  CHECK_REFUSED(f, ask(f, m, set), LAPIS_EINVAL, "");
  free(set);
}

static lapis_status ask_features(files *f, const lapis_method *m,
                                 const void *set)
{
  const char *const paths[] = {"a.png"};
  lapis_solver *s;
  lapis_status status = lapis_features_new(f->ctx, m, set, paths, 1, NULL, &s);
  assert_true((status >= 0) == (s != NULL));
  lapis_solver_free(s);
  return status;
}

static lapis_status ask_flow(files *f, const lapis_method *m, const void *set)
{
  const char *const paths[] = {"a.png", "b.png", "c.png"};
  lapis_solver *flow;
  lapis_status status;
  if (strcmp(m->name, "label") == 0)
    status = lapis_label_new(f->ctx, paths, 3, set, &flow);
  else if (strcmp(m->name, "match") == 0)
    status = lapis_match_new(f->ctx, paths, 3, set, &flow);
  else
    status = lapis_locate_new(f->ctx, paths, 3, set, &flow);
  assert_true((status >= 0) == (flow != NULL));
  lapis_solver_free(flow);
  return status;
}

/* Predicting with a model of the method. */
static lapis_status ask_predict(files *f, const lapis_method *m,
                                const void *set)
{
  problem p;
  lapis_solver *s;
  lapis_model *model;
  const lapis_method *of = lapis_method_find(m->name);
  make(&p, m->name);
  double plain[128]; /* the images of roml's have nothing in common */
  lapis_settings_default(of, plain);
  if (strcmp(m->name, "roml") == 0)
    CHECK_OK(f, lapis_settings_set(f->ctx, of, plain, "inliers", "2"));
  CHECK_OK(f, lapis_solver_new(f->ctx, of, &p.data, plain, &s));
  assert_true(lapis_solve(s) >= 0);
  CHECK_OK(f, lapis_model_new(s, &model));
  lapis_solver_free(s);
  lapis_data later = lapis_data_with(&p.data, m->reads);
  lapis_status status = lapis_predict_new(f->ctx, &later, model, set, &s);
  assert_true((status >= 0) == (s != NULL));
  lapis_solver_free(s);
  lapis_model_free(model);
  return status;
}

static lapis_status ask_checkpoint(files *f, const lapis_method *m,
                                   const void *set)
{
  problem p;
  lapis_checkpoint *c;
  make(&p, m->name);
  lapis_status status = lapis_checkpoint_new(f->ctx, files_path(f, "keep"), m,
                                             &p.data, set, NULL, 0, &c);
  lapis_checkpoint_free(c, true);
  return status;
}

static lapis_status ask_cv(files *f, const lapis_method *m, const void *set)
{
  problem p;
  lapis_solver *cv;
  make(&p, m->name);
  lapis_status status = cv_run(f->ctx, m, &p.data, set, NULL, NULL, 0, &cv);
  lapis_solver_free(cv);
  return status;
}

/* A row is given another value than its default, alone. */
static bool move(const lapis_method *m, const lapis_param *p, void *set)
{
  static const char *const words[] = {"1", "2", "0.5", "3", "true", "f.npz"};
  lapis_settings_default(m, set);
  const char *last = p->choices == NULL || p->type != LAPIS_PARAM_ENUM
                         ? NULL
                         : strrchr(p->choices, '|');
  if (last != NULL)
    return lapis_settings_set(NULL, m, set, p->name, last + 1) >= 0 &&
           !param_is_default(p, set);
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    if (lapis_settings_set(NULL, m, set, p->name, words[k]) >= 0 &&
        !param_is_default(p, set))
      return true;
  return false;
}

/* What the command refuses by goes_with the library refuses, whichever method,
 * where other settings are the reason; where data are, it is said. */
static void settings_without_effect_are_refused(void **state)
{
  files *f = *state;
  int refused = 0;
  for (int i = 0; lapis_method_at(i) != NULL; i++) {
    const lapis_method *m = lapis_method_at(i);
    problem p;
    make(&p, m->name);
    void *set = calloc(1, m->settings_size);
    for (int k = 0; k < m->n_params; k++) {
      const lapis_param *row = &m->params[k];
      if (row->goes_with == NULL || !move(m, row, set)) continue;
      if (param_when_holds(m, set, ~0u, row->goes_with)) continue;
      CHECK_REFUSED(f, solver_of(f, m, set), LAPIS_EINVAL, "goes with");
      if (strcmp(m->name, "svmplus") == 0)
        CHECK_REFUSED(f, ask_cv(f, m, set), LAPIS_EINVAL, "goes with");
      refused++;
    }
    free(set);
  }
  CHECK_AT_LEAST(refused, 8);
}

/* Those that were met. */
static void these_settings_without_effect_are_refused(void **state)
{
  files *f = *state;
  problem p;
  lapis_solver *s;
  make(&p, "rr");
  lapis_rr_settings rr = lapis_rr_defaults();
  rr.tau = .3;
  CHECK_REFUSED(f, lapis_rr_new(f->ctx, &p.data, &rr, &s), LAPIS_EINVAL,
                "rr: tau goes with refill");
  for (int k = 0; k < 2; k++) {
    rr = lapis_rr_defaults();
    if (k == 0) rr.weight = "w.npz";
    if (k == 1) rr.fix_weights = "w.npz";
    CHECK_REFUSED(f, lapis_rr_new(f->ctx, &p.data, &rr, &s), LAPIS_EINVAL,
                  k == 0 ? "rr: weight names 'w.npz', and its matrix is empty"
                         : "rr: fix_weights names 'w.npz', and its matrix");
  }
  rr = lapis_rr_defaults();
  rr.weight = "identity";
  CHECK_OK(f, lapis_rr_new(f->ctx, &p.data, &rr, &s));
  lapis_solver_free(s);
  static const char *const without[] = {"linear,trees", "trees",
                                        "linear --C 1; trees"};
  static const char *const with[] = {NULL, "mc", "linear,mc",
                                     "trees; mc --gamma 3"};
  for (int k = 0; k < 7; k++) {
    lapis_auto_settings one = lapis_auto_defaults();
    one.candidates = k < 3 ? without[k] : with[k - 3];
    one.lambda = .1;
    if (k < 3)
      CHECK_REFUSED(f, lapis_auto_new(f->ctx, &p.data, &one, &s), LAPIS_EINVAL,
                    "lambda goes without candidates or with candidates mc");
    else
      CHECK_OK(f, lapis_settings_check_effect(f->ctx, lapis_method_find("auto"),
                                              &one, LAPIS_READS_X, "lambda",
                                              NULL));
  }
  lapis_mc_settings mc = lapis_mc_defaults();
  mc.mu_rel = .1;
  mc.lambda = .5;
  p.data.Y = (lapis_mat){.val = NULL};
  lapis_mat notes;
  CHECK_OK(f, lapis_mc_new(f->ctx, &p.data, &mc, &s));
  CHECK_OK(f, lapis_solve(s));
  CHECK_OK(f, lapis_result_get(s, "notes", &notes));
  const char *const *note = notes.val;
  assert_string_equal(note[1], "no-effect");
  assert_non_null(strstr(note[2], "lambda goes with targets (Y)"));
  lapis_solver_free(s);
}

/* 0: the limit has passed before the first iteration, and the start answers;
 * bounds of the row refuse what is below, and no number. */
static void no_seconds_are_the_start(void **state)
{
  files *f = *state;
  for (int i = 0; lapis_method_at(i) != NULL; i++) {
    const lapis_method *m = lapis_method_at(i);
    const lapis_param *row = lapis_param_find(m, "time-limit");
    problem p;
    lapis_solver *s;
    if (row == NULL || strcmp(m->name, "clean") == 0) continue;
    make(&p, m->name);
    void *set = calloc(1, m->settings_size);
    lapis_settings_default(m, set);
    put(row, set, NAN);
    CHECK_REFUSED(f, solver_of(f, m, set), LAPIS_EINVAL, "time_limit is nan");
    put(row, set, -1);
    CHECK_REFUSED(f, solver_of(f, m, set), LAPIS_EINVAL, "time_limit is -1");
    put(row, set, 0);
    CHECK_OK(f, lapis_solver_new(f->ctx, m, &p.data, set, &s));
    lapis_status status = lapis_solve(s);
    if (status != LAPIS_TIME_LIMIT)
      fail_msg("%s: %d %s", m->name, status, lapis_ctx_error(f->ctx));
    CHECK_AT_MOST(lapis_result_info(s)->iterations, 1);
    lapis_solver_free(s);
    free(set);
  }
}

static lapis_status ask_check(files *f, const lapis_method *m, const void *set)
{
  return settings_check(f->ctx, m, set);
}

static void methods_refuse_nonsense(void **state)
{
  for (int i = 0; lapis_method_at(i) != NULL; i++) {
    check_table(*state, lapis_method_at(i), solver_of);
    check_table(*state, lapis_method_at(i), ask_check);
    check_table(*state, lapis_method_at(i), ask_checkpoint);
  }
  check_table(*state, lapis_method_find("svmplus"), ask_cv);
}

static void predictions_refuse_nonsense(void **state)
{
  for (int i = 0; lapis_method_at(i) != NULL; i++) {
    const lapis_method *m = lapis_predict_method(lapis_method_at(i));
    if (m == NULL) continue;
    check_table(*state, m, ask_check);
    if (strcmp(m->name, "auto") == 0) continue; /* models are of who answers */
    check_table(*state, m, ask_predict);
  }
}

static void features_refuse_nonsense(void **state)
{
  for (int i = 0; lapis_feature_at(i) != NULL; i++)
    check_table(*state, lapis_feature_at(i), ask_features);
}

static void pipelines_refuse_nonsense(void **state)
{
  static const char *const name[] = {"label", "match", "locate"};
  for (int i = 0; i < 3; i++)
    check_table(*state, lapis_flow_find(name[i]), ask_flow);
}

static void a_solver_refuses_other_settings_too(void **state)
{
  static const char *const name[] = {"mc", "rpca", "rr", "rlda", "svmplus"};
  files *f = *state;
  for (int i = 0; i < 5; i++) {
    const lapis_method *m = lapis_method_find(name[i]);
    double set[128];
    problem p;
    lapis_solver *s;
    assert_true(m->settings_size <= sizeof set);
    lapis_settings_default(m, set);
    make(&p, name[i]);
    if (i == 0) /* mc: nothing is left to choose */
      CHECK_OK(f, lapis_settings_set(f->ctx, m, set, "mu-rel", ".02"));
    CHECK_OK(f, lapis_solver_new(f->ctx, m, &p.data, set, &s));
    CHECK_OK(f, lapis_solver_retune(s, NULL));
    size_t none = 0;
    memcpy(set, &none, sizeof none);
    CHECK_REFUSED(f, lapis_solver_retune(s, set), LAPIS_EINVAL, "");
    lapis_solver_free(s);
  }
}

/* ---- structs that no table describes ------------------------------------*/
static void options_are_held_to_their_size(void **state)
{
  files *f = *state;
  const lapis_method *m = lapis_method_find("svmplus");
  const char *const paths[] = {"a.png"};
  problem p;
  lapis_cv_options o = lapis_cv_defaults();
  lapis_features_options keep = {.size = 0};
  int64_t fold[N], found, index[4];
  double margin[2];
  lapis_solver *cv;
  lapis_solver *s;
  make(&p, "svmplus");
  CHECK_OK(f, lapis_cv_draw(f->ctx, &p.data, NULL, fold));
  CHECK_OK(f, cv_run(f->ctx, m, &p.data, NULL, NULL, NULL, 0, &cv));
  assert_int_equal(cv_result(cv, "mean").cols, 1);
  lapis_solver_free(cv);
  CHECK_OK(f, lapis_suspects(f->ctx, m, &p.data, NULL, NULL, 2, index, margin,
                             &found, NULL));
  o.size = 0;
  CHECK_REFUSED(f, lapis_cv_draw(f->ctx, &p.data, &o, fold), LAPIS_EINVAL, "");
  CHECK_REFUSED(f, cv_run(f->ctx, m, &p.data, NULL, &o, NULL, 0, &cv),
                LAPIS_EINVAL, "");
  assert_null(cv);
  CHECK_REFUSED(f,
                lapis_suspects(f->ctx, m, &p.data, NULL, &o, 2, index, margin,
                               &found, NULL),
                LAPIS_EINVAL, "");
  CHECK_REFUSED(f,
                lapis_features_new(f->ctx, lapis_feature_at(0), NULL, paths, 1,
                                   &keep, &s),
                LAPIS_EINVAL, "");
  lapis_report r = lapis_report_defaults();
  r.size = 0;
  CHECK_REFUSED(f, lapis_report_write(f->ctx, &r, files_path(f, "r.html")),
                LAPIS_EINVAL, "");
}

static void searches_are_held_to_their_size(void **state)
{
  files *f = *state;
  float pixel[3 * 64] = {0};
  unsigned char inside[1];
  double word[1] = {0}, xy[2] = {1, 1}, target[1] = {1}, score[1] = {1};
  int64_t start[2] = {0, 0}, found;
  lapis_image image = {.width = 8, .height = 8, .channels = 3, .pixels = pixel};
  lapis_words words = {.word = lapis_mat_f64(word, 1, 1),
                       .xy = lapis_mat_f64(xy, 2, 1),
                       .vocabulary = 1,
                       .width = 8,
                       .height = 8};
  lapis_mat t = lapis_mat_f64(target, 1, 1);
  lapis_graph graph = {.count = 1, .start = start};
  lapis_box box[1];
  lapis_segments segments;
  lapis_window_settings window = lapis_window_defaults();
  lapis_slic_settings slic = lapis_slic_defaults();
  lapis_region_settings search = lapis_region_defaults();
  window.size = slic.size = search.size = 4;
  CHECK_REFUSED(
      f, lapis_windows_find(f->ctx, &words, &t, &window, 1, box, &found, NULL),
      LAPIS_EINVAL, "");
  lapis_status slic_said =
      lapis_segments_slic(f->ctx, &image, &slic, &segments);
  if (slic_said != LAPIS_ENOTBUILT)
    CHECK_REFUSED(f, slic_said, LAPIS_EINVAL, "");
  CHECK_REFUSED(f,
                lapis_region_find(f->ctx, &graph, score, &search, inside, NULL),
                LAPIS_EINVAL, "");
}

/* ---- sentences ----------------------------------------------------------*/
static void sentences_name_choices_and_help(void **state)
{
  static const struct {
    const char *table, *help;
  } row[] = {{"mc", "'lapis help mc'"},
             {"sift", "'lapis help sift'"},
             {"label", "'lapis help label'"},
             {"match", "'lapis help match'"},
             {"locate", "'lapis help locate'"}};
  files *f = *state;
  for (int i = 0; i < 5; i++) {
    const lapis_method *m = lapis_method_find(row[i].table);
    double set[128];
    if (m == NULL) m = lapis_feature_find(row[i].table);
    if (m == NULL) m = lapis_flow_find(row[i].table);
    assert_true(m != NULL && m->settings_size <= sizeof set);
    lapis_settings_default(m, set);
    CHECK_REFUSED(f, lapis_settings_set(f->ctx, m, set, "nonsense", "1"),
                  LAPIS_EINVAL, row[i].help);
    CHECK_REFUSED(f, lapis_settings_get(f->ctx, m, set, "nonsense", NULL, 0),
                  LAPIS_EINVAL, row[i].help);
  }
  lapis_match_settings set;
  lapis_settings_default(lapis_flow_find("match"), &set);
  set.map = 7;
  CHECK_REFUSED(f, settings_check(f->ctx, lapis_flow_find("match"), &set),
                LAPIS_EINVAL, "map 7 0 2");
}

/* Only the problem in D alone is convex: without the weights nothing can be
 * certified. */
static void a_certificate_needs_fixed_weights(void **state)
{
  files *f = *state;
  problem p;
  double T[D + 1] = {0};
  lapis_rr_settings set = lapis_rr_defaults();
  lapis_solver *s;
  make(&p, "rr");
  set.certificate = true;
  CHECK_REFUSED(f, lapis_rr_new(f->ctx, &p.data, &set, &s), LAPIS_EINVAL,
                "rr certificate fix_weights");
  assert_null(s);
  set.weights = lapis_mat_f64(T, D + 1, 1);
  CHECK_OK(f, lapis_rr_new(f->ctx, &p.data, &set, &s));
  lapis_solver_free(s);
}

/* Two settings for one thing are not weighed against each other in silence. */
static void what_excludes_each_other_is_refused(void **state)
{
  files *f = *state;
  problem p;
  lapis_solver *s;
  lapis_mc_settings set = lapis_mc_defaults();
  lapis_rr_settings rr = lapis_rr_defaults();
  double T[D + 1] = {0};
  make(&p, "mc");
  set.mu = set.mu_rel = .1;
  CHECK_REFUSED(f, lapis_mc_new(f->ctx, &p.data, &set, &s), LAPIS_EINVAL,
                "mc mu_rel mu");
  lapis_ctx_set(f->ctx, "spelling", "options");
  CHECK_REFUSED(f, lapis_mc_new(f->ctx, &p.data, &set, &s), LAPIS_EINVAL,
                "mc --mu-rel --mu");
  lapis_ctx_set(f->ctx, "spelling", "keywords");
  set.mu = NAN;
  CHECK_OK(f, lapis_mc_new(f->ctx, &p.data, &set, &s));
  lapis_solver_free(s);
  make(&p, "rr");
  rr.weights = lapis_mat_f64(T, D + 1, 1);
  rr.gamma = .5;
  CHECK_REFUSED(f, lapis_rr_new(f->ctx, &p.data, &rr, &s), LAPIS_EINVAL,
                "rr gamma fix_weights");
}

/* In matrices, which may lie either way, and in a table. */
static void a_place_is_named_as_its_reader_counts(void **state)
{
  files *f = *state;
  problem p;
  lapis_solver *s;
  make(&p, "mc");
  p.X[5 * D + 2] = INFINITY;
  CHECK_REFUSED(f, lapis_mc_new(f->ctx, &p.data, NULL, &s), LAPIS_EDATA,
                "mc X sample 6 feature 3 (from 1)");
  lapis_ctx_set(f->ctx, "spelling", "options");
  CHECK_REFUSED(f, lapis_mc_new(f->ctx, &p.data, NULL, &s), LAPIS_EDATA,
                "mc X row 6, column 3");
  lapis_ctx_set(f->ctx, "spelling", "keywords");
}

/* A weight without end has no objective. */
static void what_has_no_objective_is_no_answer(void **state)
{
  files *f = *state;
  problem p;
  lapis_solver *s;
  lapis_mc_settings set = lapis_mc_defaults();
  make(&p, "mc");
  set.gamma = INFINITY;
  set.mu_rel = .1;
  CHECK_OK(f, lapis_mc_new(f->ctx, &p.data, &set, &s));
  CHECK_REFUSED(f, lapis_solve(s), LAPIS_ENUMERIC, "mc");
  assert_null(lapis_result_name(s, 0));
  lapis_solver_free(s);
}

static void views_lie_without_gaps(void **state)
{
  double f64[6] = {0, 1, 2, 3, 4, 5};
  float f32[6] = {0, 1, 2, 3, 4, 5};
  int64_t i64[6] = {0, 1, 2, 3, 4, 5};
  unsigned char u8[6] = {0, 1, 2, 3, 4, 5};
  const char *text[6] = {"a", "b", "c", "d", "e", "f"};
  lapis_mat view[] = {lapis_mat_f64(f64, 2, 3), lapis_mat_f32(f32, 2, 3),
                      lapis_mat_i64(i64, 2, 3), lapis_mat_u8(u8, 2, 3)};
  for (int k = 0; k < 4; k++) {
    assert_true(view[k].rows == 2 && view[k].cols == 3 && view[k].ld == 2);
    for (int i = 0; i < 6; i++)
      assert_true(lapis_mat_at(&view[k], i % 2, i / 2) == i);
  }
  lapis_mat words = lapis_mat_text(text, 6, 1);
  assert_true(words.dtype == LAPIS_TEXT && words.ld == 6);
  assert_string_equal(((const char *const *)words.val)[5], "f");
  assert_int_equal(lapis_mat_i64(NULL, 0, 4).ld, 1);
}

static void the_versions_agree(void **state)
{
  char text[32];
  (void)snprintf(text, sizeof text, "%d.%d.%d", LAPIS_VERSION_MAJOR,
                 LAPIS_VERSION_MINOR, LAPIS_VERSION_PATCH);
  assert_string_equal(lapis_version(), text);
}

#define FILES_TEST(t) \
  cmocka_unit_test_setup_teardown(t, files_setup, files_teardown)

int test_settings(void)
{
  const struct CMUnitTest tests[] = {
      FILES_TEST(no_settings_are_the_defaults),
      FILES_TEST(pipelines_take_none_too),
      FILES_TEST(methods_refuse_nonsense),
      FILES_TEST(predictions_refuse_nonsense),
      FILES_TEST(features_refuse_nonsense),
      FILES_TEST(pipelines_refuse_nonsense),
      FILES_TEST(a_solver_refuses_other_settings_too),
      FILES_TEST(options_are_held_to_their_size),
      FILES_TEST(searches_are_held_to_their_size),
      FILES_TEST(sentences_name_choices_and_help),
      FILES_TEST(a_certificate_needs_fixed_weights),
      FILES_TEST(what_excludes_each_other_is_refused),
      FILES_TEST(settings_without_effect_are_refused),
      FILES_TEST(these_settings_without_effect_are_refused),
      FILES_TEST(no_seconds_are_the_start),
      FILES_TEST(views_lie_without_gaps),
      FILES_TEST(a_place_is_named_as_its_reader_counts),
      FILES_TEST(what_has_no_objective_is_no_answer),
      FILES_TEST(the_versions_agree),
  };
  return run_cases(tests, NULL, NULL);
}
