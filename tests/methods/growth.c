/* growth.c - a program goes on working with a library whose structs have grown:
 * what its own lack is at its default, and nothing behind their end is read. */
#include "base/param.h"
#include "cv_points.h"
#include "files.h"
#include "lapis/images.h"
#include "methods/any_problem.h"
#include "remarks.h"

/* The k-th table of settings there is: methods, predicting with their models,
 * kinds of features, pipelines; NULL past the end. */
static const lapis_method *table_at(int k)
{
  static const char *const flow[] = {"label", "match", "locate"};
  int methods = 0, kinds = 0;
  while (lapis_method_at(methods) != NULL) methods++;
  while (lapis_feature_at(kinds) != NULL) kinds++;
  if (k < methods) return lapis_method_at(k);
  if (k < 2 * methods) {
    const lapis_method *p = lapis_predict_method(lapis_method_at(k - methods));
    return p == NULL ? lapis_method_at(0) : p; /* clean has none */
  }
  k -= 2 * methods;
  if (k < kinds) return lapis_feature_at(k);
  return k < kinds + 3 ? lapis_flow_find(flow[k - kinds]) : NULL;
}

/* Where a struct of an older header may have ended: behind its size, behind
 * each row's field and each matrix; 0: no more. */
static size_t end_at(const lapis_method *m, int k)
{
  static const size_t room[] = {sizeof(double), sizeof(int64_t), sizeof(bool),
                                sizeof(int), sizeof(char *)};
  if (k == 0) return sizeof(size_t);
  const lapis_param *p = lapis_method_param(m, k - 1);
  if (p != NULL) return p->offset + room[p->type];
  const lapis_matrix_setting *at = lapis_method_matrix(m, k - 1 - m->n_params);
  return at == NULL ? 0 : at->offset + sizeof(lapis_mat);
}

/* size bytes of which the program has `reach`: those of the defaults.  Behind
 * them lies what is NaN, no choice, and no address. */
static void *cut(const void *defaults, size_t size, size_t reach)
{
  char *given = malloc(size);
  memcpy(given, defaults, reach);
  memcpy(given, &reach, sizeof reach);
  memset(given + reach, 0xff, size - reach);
  return given;
}

static void *defaults_of(const lapis_method *m)
{
  void *set = malloc(m->settings_size);
  lapis_settings_default(m, set);
  return set;
}

/* ---- the tables ---------------------------------------------------------*/
static void a_short_struct_is_filled_up(void **state)
{
  files *f = *state;
  const lapis_method *m;
  for (int k = 0; (m = table_at(k)) != NULL; k++) {
    void *all = defaults_of(m), *own = malloc(m->settings_size);
    size_t reach;
    for (int i = 0; (reach = end_at(m, i)) > 0; i++) {
      void *set = cut(all, m->settings_size, reach);
      CHECK_OK(f, settings_check(f->ctx, m, set));
      CHECK_OK(f, lapis_settings_copy(f->ctx, m, set, own));
      assert_memory_equal(own, all, m->settings_size);
      free(set);
    }
    free(all), free(own);
  }
}

static void defaults_stay_inside_the_struct(void **state)
{
  const lapis_method *m;
  for (int k = 0; (m = table_at(k)) != NULL; k++) {
    void *all = defaults_of(m), *own = malloc(m->settings_size);
    size_t reach;
    for (int i = 0; (reach = end_at(m, i)) > 0; i++) {
      void *wanted = cut(all, m->settings_size, reach);
      memset(own, 0xff, m->settings_size);
      lapis_settings_fill(m, own, reach);
      assert_memory_equal(own, wanted, m->settings_size);
      free(wanted);
    }
    free(all), free(own);
  }
}

/* get says the default's text of what the struct lacks, set refuses it and
 * writes nothing. */
static void names_stay_inside_the_struct(void **state)
{
  files *f = *state;
  const lapis_method *m;
  const lapis_param *p;
  for (int k = 0; (m = table_at(k)) != NULL; k++) {
    void *all = defaults_of(m);
    void *set = cut(all, m->settings_size, sizeof(size_t));
    void *before = cut(all, m->settings_size, sizeof(size_t));
    for (int i = 0; (p = lapis_method_param(m, i)) != NULL; i++) {
      char wanted[256], text[256];
      CHECK_OK(f, lapis_settings_get(f->ctx, m, all, p->name, wanted, 256));
      CHECK_OK(f, lapis_settings_get(f->ctx, m, set, p->name, text, 256));
      assert_string_equal(text, wanted);
      CHECK_REFUSED(f, lapis_settings_set(f->ctx, m, set, p->name, wanted),
                    LAPIS_EINVAL, "8");
    }
    const lapis_matrix_setting *at;
    lapis_mat none = {0};
    for (int i = 0; (at = lapis_method_matrix(m, i)) != NULL; i++)
      CHECK_REFUSED(f,
                    lapis_settings_set_matrix(f->ctx, m, set, at->name, &none),
                    LAPIS_EINVAL, "8");
    assert_memory_equal(set, before, m->settings_size);
    free(all), free(set), free(before);
  }
}

/* Bounds of what is given count, of what lies behind the end they do not. */
static void bounds_end_with_the_struct(void **state)
{
  files *f = *state;
  const lapis_method *m = lapis_method_find("misvm");
  lapis_misvm_settings set = lapis_misvm_defaults();
  set.positive_ratio = 2;
  set.size = offsetof(lapis_misvm_settings, scale);
  CHECK_REFUSED(f, settings_check(f->ctx, m, &set), LAPIS_EINVAL,
                "positive_ratio is 2");
  set.size = offsetof(lapis_misvm_settings, positive_ratio);
  CHECK_OK(f, settings_check(f->ctx, m, &set));
}

static void rows_are_reached_one_by_one(void **state)
{
  const lapis_method *m;
  for (int k = 0; (m = table_at(k)) != NULL; k++) {
    for (int i = 0; i < m->n_params; i++)
      assert_ptr_equal(lapis_method_param(m, i), &m->params[i]);
    for (int i = 0; i < m->n_matrices; i++)
      assert_ptr_equal(lapis_method_matrix(m, i), &m->matrices[i]);
    assert_null(lapis_method_param(m, m->n_params));
    assert_null(lapis_method_matrix(m, m->n_matrices));
    assert_null(lapis_method_param(m, -1));
    assert_null(lapis_method_matrix(m, -1));
  }
  assert_null(lapis_method_param(NULL, 0));
  assert_null(lapis_method_matrix(NULL, 0));
}

/* ---- answers ------------------------------------------------------------*/
/* Of all numbers that a solver publishes, but history, which has seconds; of a
 * refusal its sentence. */
static uint64_t solved(files *f, lapis_status made, lapis_solver *s)
{
  uint64_t h = 7;
  const char *name;
  if (made < 0)
    assert_null(s);
  else
    made = lapis_solve(s);
  if (made < 0) {
    for (name = lapis_ctx_error(f->ctx); *name != '\0'; name++)
      h = 31 * h + (unsigned char)*name;
    lapis_solver_free(s);
    return h;
  }
  for (int i = 0; (name = lapis_result_name(s, i)) != NULL; i++) {
    lapis_mat at;
    if (strncmp(name, "history", 7) == 0) continue;
    CHECK_OK(f, lapis_result_get(s, name, &at));
    if (at.dtype != LAPIS_TEXT) h = 31 * h + lapis_mat_hash(&at);
  }
  lapis_solver_free(s);
  return h;
}

static void methods_answer_alike(void **state)
{
  files *f = *state;
  for (int k = 0; lapis_method_at(k) != NULL; k++) {
    const lapis_method *m = lapis_method_at(k);
    void *all = defaults_of(m);
    problem p;
    lapis_solver *s;
    size_t reach;
    make(&p, m->name);
    lapis_status made = lapis_solver_new(f->ctx, m, &p.data, NULL, &s);
    uint64_t wanted = solved(f, made, s);
    for (int i = 0; (reach = end_at(m, i)) > 0; i++) {
      void *set = cut(all, m->settings_size, reach);
      made = lapis_solver_new(f->ctx, m, &p.data, set, &s);
      if (solved(f, made, s) != wanted)
        fail_msg("%s: %zu bytes answer otherwise", m->name, reach);
      free(set);
    }
    free(all);
  }
}

static void models_answer_alike(void **state)
{
  files *f = *state;
  for (int k = 0; lapis_method_at(k) != NULL; k++) {
    const lapis_method *m = lapis_method_at(k), *e = lapis_predict_method(m);
    if (e == NULL || strcmp(m->name, "roml") == 0)
      continue; /* as no_settings */
    void *all = defaults_of(e);
    problem p;
    lapis_solver *s;
    lapis_model *model;
    size_t reach;
    make(&p, m->name);
    CHECK_OK(f, lapis_solver_new(f->ctx, m, &p.data, NULL, &s));
    assert_true(lapis_solve(s) >= 0);
    CHECK_OK(f, lapis_model_new(s, &model));
    lapis_solver_free(s);
    lapis_status made = lapis_predict_new(f->ctx, &p.data, model, NULL, &s);
    uint64_t wanted = solved(f, made, s);
    for (int i = 0; (reach = end_at(e, i)) > 0; i++) {
      void *set = cut(all, e->settings_size, reach);
      made = lapis_predict_new(f->ctx, &p.data, model, set, &s);
      assert_true(solved(f, made, s) == wanted);
      free(set);
    }
    lapis_model_free(model);
    free(all);
  }
}

static void features_are_made_alike(void **state)
{
  files *f = *state;
  const char *const paths[] = {"a.png"};
  for (int k = 0; lapis_feature_at(k) != NULL; k++) {
    const lapis_method *m = lapis_feature_at(k);
    if (lapis_param_find(m, "net") != NULL) continue; /* needs a file */
    void *all = defaults_of(m);
    lapis_solver *s, *t;
    size_t reach;
    CHECK_OK(f, lapis_features_new(f->ctx, m, NULL, paths, 1, NULL, &s));
    for (int i = 0; (reach = end_at(m, i)) > 0; i++) {
      void *set = cut(all, m->settings_size, reach);
      CHECK_OK(f, lapis_features_new(f->ctx, m, set, paths, 1, NULL, &t));
      assert_memory_equal(lapis_result_settings(t), lapis_result_settings(s),
                          m->settings_size);
      lapis_solver_free(t);
      free(set);
    }
    lapis_solver_free(s);
    free(all);
  }
}

/* ---- structs that no table describes ------------------------------------*/
typedef uint64_t (*asked)(files *f, const void *options);

static uint64_t hash_bytes(const void *from, size_t size)
{
  uint64_t h = 7;
  for (size_t i = 0; i < size; i++)
    h = 31 * h + ((const unsigned char *)from)[i];
  return h;
}

/* 0: refused, with a sentence. */
static uint64_t answer(files *f, lapis_status s, const void *from, size_t size)
{
  if (s >= 0) return hash_bytes(from, size) | 1;
  assert_true(strlen(lapis_ctx_error(f->ctx)) > 0);
  return 0;
}

static uint64_t ask_draw(files *f, const void *options)
{
  problem p;
  int64_t fold[N];
  make(&p, "svmplus");
  lapis_status s = lapis_cv_draw(f->ctx, &p.data, options, fold);
  return answer(f, s, fold, sizeof fold);
}

static uint64_t ask_cv(files *f, const void *options)
{
  problem p;
  lapis_solver *cv;
  make(&p, "svmplus");
  lapis_status s = cv_run(f->ctx, lapis_method_find("svmplus"), &p.data, NULL,
                          options, NULL, 0, &cv);
  double mean = cv == NULL ? 0 : cv_at(cv, 0).mean;
  lapis_solver_free(cv);
  return answer(f, s, &mean, sizeof mean);
}

static uint64_t ask_suspects(files *f, const void *options)
{
  problem p;
  int64_t index[8], found;
  double margin[4] = {0};
  make(&p, "mc");
  lapis_status s =
      lapis_suspects(f->ctx, lapis_method_find("mc"), &p.data, NULL, options, 4,
                     index, margin, &found, NULL);
  return answer(f, s, margin, sizeof margin);
}

static uint64_t features_of(files *f, const void *options, int count)
{
  const lapis_method *kind = lapis_feature_find("pixels");
  const lapis_method *const kinds[] = {kind,
                                       lapis_feature_find("color-moments")};
  const void *const none[] = {NULL, NULL};
  char text[16 + 64] = "P5 8 8 255\n";
  memset(text + 11, 'g', 64);
  const char *const paths[] = {files_path(f, "a.pgm")};
  CHECK_OK(f, lapis_file_write(f->ctx, paths[0], text, 11 + 64));
  lapis_solver *s;
  lapis_status made =
      count == 1 ? lapis_features_new(f->ctx, kind, NULL, paths, 1, options, &s)
                 : lapis_features_joined_new(f->ctx, kinds, none, count, paths,
                                             1, options, &s);
  return made < 0 ? answer(f, made, NULL, 0) : solved(f, made, s) | 1;
}

static uint64_t ask_features(files *f, const void *options)
{
  return features_of(f, options, 1);
}

static uint64_t ask_joined(files *f, const void *options)
{
  return features_of(f, options, 2);
}

static uint64_t ask_report(files *f, const void *options)
{
  return answer(f, lapis_report_write(f->ctx, options, files_path(f, "r.html")),
                "", 1);
}

static uint64_t ask_windows(files *f, const void *options)
{
  double word[4] = {0, 1, 0, 1}, xy[8] = {1, 1, 20, 3, 5, 30, 40, 40};
  double one[2] = {1, 2};
  lapis_words words = {lapis_mat_f64(word, 1, 4), lapis_mat_f64(xy, 2, 4), 2,
                       64, 64};
  lapis_mat target = lapis_mat_f64(one, 2, 1);
  lapis_box box[3] = {{0}};
  int64_t found;
  lapis_status s = lapis_windows_find(f->ctx, &words, &target, options, 3, box,
                                      &found, NULL);
  return answer(f, s, box, sizeof box);
}

static uint64_t ask_region(files *f, const void *options)
{
  const int64_t start[4] = {0, 1, 3, 4};
  const int32_t neighbour[4] = {1, 0, 2, 1};
  lapis_graph graph = {3, start, neighbour};
  const double score[3] = {2, -1, 3};
  unsigned char inside[3];
  lapis_status s =
      lapis_region_find(f->ctx, &graph, score, options, inside, NULL);
  return answer(f, s, inside, sizeof inside);
}

static void paint(lapis_image *image, float *pixel)
{
  uint64_t seed = 3;
  for (int i = 0; i < 3 * 32 * 32; i++) pixel[i] = (float)check_uniform(&seed);
  *image =
      (lapis_image){.width = 32, .height = 32, .channels = 3, .pixels = pixel};
}

static uint64_t ask_slic(files *f, const void *options)
{
  float pixel[3 * 32 * 32];
  lapis_image image;
  lapis_segments segments;
  paint(&image, pixel);
  lapis_status s = lapis_segments_slic(f->ctx, &image, options, &segments);
  if (s < 0) return answer(f, s, NULL, 0);
  uint64_t h = answer(f, s, segments.label, 32 * 32 * sizeof(int32_t));
  lapis_segments_free(&segments);
  return h;
}

static uint64_t ask_choose(files *f, const void *options)
{
  enum { BOXES = 6, LENGTH = LAPIS_OUTLINE_EDGES + LAPIS_OUTLINE_COLOURS + 1 };
  static double x[LENGTH * BOXES];
  double group[BOXES] = {0, 0, 0, 1, 1, 1}, at[5 * BOXES], sides[4];
  double pick[2], likeness[2];
  uint64_t seed = 4;
  for (int i = 0; i < LENGTH * BOXES; i++) x[i] = check_uniform(&seed);
  for (int i = 0; i < 5 * BOXES; i++) at[i] = 1 + 9 * check_uniform(&seed);
  for (int i = 0; i < 4; i++) sides[i] = 32;
  lapis_mat X = lapis_mat_f64(x, LENGTH, BOXES);
  lapis_mat of = lapis_mat_f64(group, 1, BOXES);
  lapis_mat box = lapis_mat_f64(at, 5, BOXES);
  lapis_mat size = lapis_mat_f64(sides, 2, 2);
  lapis_status s =
      lapis_boxes_choose(f->ctx, &X, &of, &box, &size, options, pick, likeness);
  return answer(f, s, likeness, sizeof likeness);
}

/* An older struct answers as the defaults do; one that says no size, and a
 * newer one, are refused. */
static void check_options(files *f, const char *name, const void *defaults,
                          size_t size, asked ask)
{
  char grown[2048] = {0};
  size_t none = 0, more = size + 8;
  uint64_t wanted = ask(f, defaults);
  assert_true(size + 8 <= sizeof grown);
  for (size_t reach = sizeof reach; reach < size; reach += 8) {
    void *given = cut(defaults, size, reach);
    if (ask(f, given) != wanted)
      fail_msg("%s: %zu bytes of %zu answer otherwise", name, reach, size);
    free(given);
  }
  memcpy(grown, defaults, size);
  memcpy(grown, &more, sizeof more);
  assert_int_equal(ask(f, grown), 0);
  assert_non_null(
      strstr(lapis_ctx_error(f->ctx), "of a newer version of LAPIS"));
  memcpy(grown, &none, sizeof none);
  assert_int_equal(ask(f, grown), 0);
  assert_non_null(strstr(lapis_ctx_error(f->ctx), START_FROM_DEFAULTS));
}

static void options_are_filled_up(void **state)
{
  files *f = *state;
  lapis_cv_options cv = lapis_cv_defaults();
  lapis_features_options features = {.size = sizeof features};
  lapis_report report = lapis_report_defaults();
  problem p;
  void *short_cv = cut(&cv, sizeof cv, sizeof(size_t));
  make(&p, "rlda");
  assert_int_equal(lapis_cv_hides(lapis_method_find("rlda"), &p.data, short_cv),
                   LAPIS_FOLDS_OF_ROWS);
  free(short_cv);
  check_options(f, "cv", &cv, sizeof cv, ask_draw);
  check_options(f, "cv", &cv, sizeof cv, ask_cv);
  check_options(f, "suspects", &cv, sizeof cv, ask_suspects);
  check_options(f, "features", &features, sizeof features, ask_features);
  check_options(f, "joined", &features, sizeof features, ask_joined);
  check_options(f, "report", &report, sizeof report, ask_report);
}

static void searches_are_filled_up(void **state)
{
  files *f = *state;
  lapis_window_settings window = lapis_window_defaults();
  lapis_region_settings region = lapis_region_defaults();
  lapis_slic_settings slic = lapis_slic_defaults();
  lapis_choose_settings choose = lapis_choose_defaults();
  check_options(f, "window", &window, sizeof window, ask_windows);
  check_options(f, "region", &region, sizeof region, ask_region);
  if (ask_slic(f, NULL) != 0)
    check_options(f, "slic", &slic, sizeof slic, ask_slic);
  check_options(f, "choose", &choose, sizeof choose, ask_choose);
}

/* What decides for labels that contradict is behind the end, too. */
static void suspects_of_short_settings_are_the_same(void **state)
{
  files *f = *state;
  const lapis_method *m = lapis_method_find("mc");
  void *all = defaults_of(m);
  void *set = cut(all, m->settings_size, sizeof(size_t));
  int64_t index[8], found;
  double margin[2][4] = {{0}};
  problem p;
  make(&p, "mc");
  CHECK_OK(f, lapis_suspects(f->ctx, m, &p.data, NULL, NULL, 4, index,
                             margin[0], &found, NULL));
  CHECK_OK(f, lapis_suspects(f->ctx, m, &p.data, set, NULL, 4, index, margin[1],
                             &found, NULL));
  assert_memory_equal(margin[0], margin[1], sizeof margin[0]);
  free(all), free(set);
}

static uint64_t hash_file(const char *path)
{
  FILE *from = fopen(path, "rb");
  uint64_t h = 7;
  assert_non_null(from);
  for (int c; (c = fgetc(from)) != EOF;) h = 31 * h + (uint64_t)c;
  (void)fclose(from);
  return h;
}

/* A page is the same where the program's struct ended behind what it shows. */
static void a_page_of_an_older_struct_is_the_same(void **state)
{
  files *f = *state;
  double row[4] = {4, 3, 2, 1};
  const char *const names[] = {"objective"};
  lapis_report full = lapis_report_defaults();
  uint64_t hash[2];
  full.history = lapis_mat_f64(row, 1, 4);
  full.history_columns = lapis_mat_text(names, 1, 1);
  for (int k = 0; k < 2; k++) {
    size_t reach = k == 0 ? sizeof full : offsetof(lapis_report, fact);
    void *given = cut(&full, sizeof full, reach);
    CHECK_OK(f, lapis_report_write(f->ctx, given, files_path(f, "r.html")));
    hash[k] = hash_file(f->path);
    free(given);
  }
  assert_true(hash[0] == hash[1]);
}

/* ---- data, info, progress -----------------------------------------------*/
static void data_say_their_size_or_none(void **state)
{
  files *f = *state;
  static const size_t other[] = {1, 8, sizeof(lapis_data) - 8,
                                 sizeof(lapis_data) + 8, SIZE_MAX};
  int64_t fold[N];
  for (int k = 0; lapis_method_at(k) != NULL; k++) {
    const lapis_method *m = lapis_method_at(k);
    problem p;
    lapis_solver *s;
    make(&p, m->name);
    lapis_status made = lapis_solver_new(f->ctx, m, &p.data, NULL, &s);
    uint64_t wanted = solved(f, made, s);
    p.data.size = sizeof p.data;
    made = lapis_solver_new(f->ctx, m, &p.data, NULL, &s);
    assert_true(solved(f, made, s) == wanted);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
      p.data.size = other[i];
      CHECK_REFUSED(f, lapis_solver_new(f->ctx, m, &p.data, NULL, &s),
                    LAPIS_EINVAL, "data");
      CHECK_REFUSED(f, lapis_cv_draw(f->ctx, &p.data, NULL, fold), LAPIS_EINVAL,
                    "cv data");
    }
  }
}

static bool note_size(const lapis_progress *now, void *user)
{
  *(size_t *)user = now->size;
  return true;
}

static void info_and_progress_say_their_size(void **state)
{
  files *f = *state;
  size_t shown = 0;
  lapis_ctx_on_progress(f->ctx, note_size, &shown);
  for (int k = 0; lapis_method_at(k) != NULL; k++) {
    const lapis_method *m = lapis_method_at(k);
    problem p;
    lapis_solver *s;
    make(&p, m->name);
    if (lapis_solver_new(f->ctx, m, &p.data, NULL, &s) < 0) continue;
    assert_int_equal(lapis_result_info(s)->size, sizeof(lapis_info));
    if (lapis_solve(s) >= 0) /* roml finds nothing here */
      assert_int_equal(lapis_result_info(s)->size, sizeof(lapis_info));
    lapis_solver_free(s);
  }
  lapis_ctx_phase(f->ctx, "a phase");
  assert_int_equal(shown, sizeof(lapis_progress));
}

#define FILES_TEST(t) \
  cmocka_unit_test_setup_teardown(t, files_setup, files_teardown)

int test_growth(void)
{
  const struct CMUnitTest tests[] = {
      FILES_TEST(a_short_struct_is_filled_up),
      FILES_TEST(defaults_stay_inside_the_struct),
      FILES_TEST(names_stay_inside_the_struct),
      FILES_TEST(bounds_end_with_the_struct),
      FILES_TEST(rows_are_reached_one_by_one),
      FILES_TEST(methods_answer_alike),
      FILES_TEST(models_answer_alike),
      FILES_TEST(features_are_made_alike),
      FILES_TEST(options_are_filled_up),
      FILES_TEST(searches_are_filled_up),
      FILES_TEST(suspects_of_short_settings_are_the_same),
      FILES_TEST(a_page_of_an_older_struct_is_the_same),
      FILES_TEST(data_say_their_size_or_none),
      FILES_TEST(info_and_progress_say_their_size),
  };
  return run_cases(tests, NULL, NULL);
}
