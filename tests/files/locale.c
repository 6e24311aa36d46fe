/* locale.c - where the program's locale writes 1,5, every text that
 * LAPIS reads and writes is the one of the C locale. */
#include "comma.h"
#include "files.h"
#include "lapis/choose.h"
#include "lapis/images.h"

/* Calls write(f, path) in both locales: the files must have the same bytes. */
typedef void (*writer)(files *f, const char *path);
static void check_same_file(files *f, const char *name, writer write)
{
  size_t n_plain, n_comma;
  (void)setlocale(LC_ALL, "C"); /* a test that failed may have left another */
  write(f, files_path(f, name));
  unsigned char *plain = files_get(files_path(f, name), &n_plain);
  (void)unlink(f->path);
  comma_begin();
  write(f, files_path(f, name));
  (void)setlocale(LC_ALL, "C");
  unsigned char *comma = files_get(files_path(f, name), &n_comma);
  plain[n_plain] = comma[n_comma] = '\0';
  size_t i = 0;
  while (i < n_plain && i < n_comma && plain[i] == comma[i]) i++;
  if (n_plain != n_comma || i < n_plain)
    fail_msg("%s: byte %zu: '%.60s' became '%.60s'", name, i,
             (char *)plain + (i > 20 ? i - 20 : 0),
             (char *)comma + (i > 20 ? i - 20 : 0));
  assert_true(n_plain > 0);
  free(plain);
  free(comma);
}

/* ---- settings -----------------------------------------------------------*/
static void check_table(files *f, const lapis_method *m)
{
  void *set = calloc(1, m->settings_size), *back = calloc(1, m->settings_size);
  char text[256];
  lapis_settings_default(m, set);
  lapis_settings_default(m, back);
  for (int i = 0; i < m->n_params; i++) {
    const lapis_param *p = &m->params[i];
    if (p->type == LAPIS_PARAM_TEXT) continue;
    if (p->type == LAPIS_PARAM_REAL && 0.375 > p->low && 0.375 < p->high)
      CHECK_OK(f, lapis_settings_set(f->ctx, m, set, p->name, "0.375"));
    CHECK_OK(f, lapis_settings_get(f->ctx, m, set, p->name, text, 256));
    if (strchr(text, ',') != NULL) fail_msg("--%s is %s", p->name, text);
    CHECK_OK(f, lapis_settings_set(f->ctx, m, back, p->name, text));
  }
  assert_memory_equal(set, back, m->settings_size);
  free(set);
  free(back);
}

static void settings_read_back(void **state)
{
  static const char *const flow[] = {"label", "match", "locate"};
  files *f = *state;
  comma_begin();
  for (int i = 0; lapis_method_at(i) != NULL; i++) {
    const lapis_method *m = lapis_method_at(i);
    check_table(f, m);
    if (lapis_predict_method(m) != NULL)
      check_table(f, lapis_predict_method(m));
  }
  for (int i = 0; lapis_feature_at(i) != NULL; i++)
    check_table(f, lapis_feature_at(i));
  for (int i = 0; i < 3; i++) check_table(f, lapis_flow_find(flow[i]));
  (void)setlocale(LC_ALL, "C");
}

static void grids_and_maps_are_read(void **state)
{
  files *f = *state;
  lapis_grid *grid;
  lapis_map *map;
  double x[2] = {2, 4}, y[2];
  lapis_mat X = lapis_mat_f64(x, 1, 2);
  comma_begin();
  CHECK_OK(f, lapis_grid_new(f->ctx, "lambda=0.5:2:3", &grid));
  assert_string_equal(grid->value[0], "0.5");
  lapis_grid_free(grid);
  CHECK_OK(f, lapis_map_new(f->ctx, "scale:0.5", &map));
  CHECK_OK(f, lapis_map_fit(f->ctx, map, &X));
  CHECK_OK(f, lapis_map_apply(f->ctx, map, &X, y));
  assert_true(y[0] == 1 && y[1] == 2);
  lapis_map_free(map);
  (void)setlocale(LC_ALL, "C");
}

static void weights_given_as_text_are_read(void **state)
{
  files *f = *state;
  double D[6] = {1, 0, 0, 1, 1, 1}, X[2] = {0.5, 0.25};
  lapis_data data = {.X = lapis_mat_f64(X, 2, 1)};
  lapis_clean_settings set = lapis_clean_defaults();
  lapis_solver *s;
  set.dictionary = lapis_mat_f64(D, 2, 3);
  set.weight = "0.25";
  comma_begin();
  CHECK_OK(f, lapis_clean_new(f->ctx, &data, &set, &s));
  lapis_solver_free(s);
  (void)setlocale(LC_ALL, "C");
}

static void sentences_have_points(void **state)
{
  files *f = *state;
  lapis_mc_settings set = lapis_mc_defaults();
  const lapis_method *m = lapis_method_find("mc");
  comma_begin();
  CHECK_REFUSED(f, lapis_settings_set(f->ctx, m, &set, "lambda", "-0.5"),
                LAPIS_EINVAL, "lambda -0.5");
  CHECK_REFUSED(f, lapis_settings_set(f->ctx, m, &set, "lambda", "0,5"),
                LAPIS_EINVAL, "0,5");
  (void)setlocale(LC_ALL, "C");
}

/* ---- files --------------------------------------------------------------*/
enum { D = 6, N = 20 };
static void fill(double *x, int count)
{
  uint64_t seed = 4;
  for (int i = 0; i < count; i++) x[i] = check_normal(&seed);
}

static void write_table(files *f, const char *path)
{
  double X[D * N], Y[N];
  fill(X, D * N);
  for (int j = 0; j < N; j++) Y[j] = X[D * j] > 0 ? 1 : -1;
  lapis_named item[] = {{.name = "X", .mat = lapis_mat_f64(X, D, N)},
                        {.name = "Y", .mat = lapis_mat_f64(Y, 1, N)}};
  CHECK_OK(f, lapis_arrays_write(f->ctx, path, NULL, item, 2));
}

/* What is written comes back as it was, in the locale of commas too. */
static void tables_are_the_same(void **state)
{
  static const char *const name[] = {"x.csv", "x.tsv", "x.svm"};
  files *f = *state;
  double X[D * N];
  fill(X, D * N);
  for (int i = 0; i < 3; i++) {
    lapis_dataset *ds;
    lapis_table_options o = {.header = LAPIS_HEADER_AUTO, .target = "y1"};
    check_same_file(f, name[i], write_table);
    comma_begin();
    CHECK_OK(f, lapis_dataset_new(f->ctx, &ds));
    CHECK_OK(f,
             lapis_dataset_read(ds, files_path(f, name[i]), i < 2 ? &o : NULL));
    CHECK_OK(f, lapis_dataset_finish(ds));
    (void)setlocale(LC_ALL, "C");
    const lapis_mat *back = &lapis_dataset_data(ds)->X;
    for (int k = 0; k < D * N; k++)
      assert_true(lapis_mat_at(back, k % D, k / D) == X[k]);
    lapis_dataset_free(ds);
  }
}

/* Short numbers, and long ones that the C library must read. */
static void tables_by_hand_are_read(void **state)
{
  files *f = *state;
  lapis_dataset *ds;
  files_put_text(f, "x.csv", "1.5;0.12345678901234567\n2.5;1e-3\n");
  comma_begin();
  CHECK_OK(f, lapis_dataset_new(f->ctx, &ds));
  CHECK_OK(f, lapis_dataset_read(ds, f->path, NULL));
  CHECK_OK(f, lapis_dataset_finish(ds));
  const lapis_mat *X = &lapis_dataset_data(ds)->X;
  assert_true(lapis_mat_at(X, 0, 0) == 1.5);
  assert_true(lapis_mat_at(X, 1, 0) == 0.12345678901234567);
  assert_true(lapis_mat_at(X, 1, 1) == 1e-3);
  lapis_dataset_free(ds);
  (void)setlocale(LC_ALL, "C");
}

static void write_json(files *f, const char *path)
{
  lapis_json *v = lapis_json_object(), *back;
  lapis_json_put_number(v, "half", 0.5);
  lapis_json_put_number(v, "tenth", 0.1);
  lapis_json_put_number(v, "small", 1.25e-300);
  char *text = lapis_json_print(v);
  assert_non_null(text);
  CHECK_OK(f, lapis_file_write(f->ctx, path, text, strlen(text)));
  CHECK_OK(f, lapis_json_parse(f->ctx, text, strlen(text), "text", &back));
  assert_true(lapis_json_number(back, "tenth", 0) == 0.1);
  assert_true(lapis_json_number(back, "small", 0) == 1.25e-300);
  lapis_json_free(back);
  lapis_json_free(v);
  free(text);
}

static void json_is_the_same(void **state)
{
  check_same_file(*state, "a.json", write_json);
}

/* ---- models -------------------------------------------------------------*/
static lapis_solver *fit(files *f, lapis_data *data)
{
  lapis_rpca_settings set = lapis_rpca_defaults();
  lapis_solver *s;
  set.lambda = 0.375;
  set.stop.tol = 1e-5;
  CHECK_OK(f, lapis_rpca_new(f->ctx, data, &set, &s));
  CHECK_OK(f, lapis_solve(s));
  return s;
}

/* Writes the low-rank part of X by the model in a file. */
static void write_prediction(files *f, const char *path)
{
  double X[D * N];
  lapis_data data = {.X = lapis_mat_f64(X, D, N)};
  lapis_map *map;
  lapis_model *model, *back;
  char saved[600];
  fill(X, D * N);
  (void)snprintf(saved, sizeof saved, "%s/saved.lapis", f->folder);
  lapis_solver *s = fit(f, &data);
  CHECK_OK(f, lapis_model_new(s, &model));
  CHECK_OK(f, lapis_map_new(f->ctx, "scale:0.5", &map));
  CHECK_OK(f, lapis_map_fit(f->ctx, map, &data.X));
  CHECK_OK(f, lapis_model_set_map(f->ctx, model, map, false));
  CHECK_OK(f, lapis_model_save(f->ctx, model, saved));
  CHECK_OK(f, lapis_model_load(f->ctx, saved, &back));
  const lapis_rpca_settings *set = lapis_model_settings(back);
  assert_true(set->lambda == 0.375 && set->stop.tol == 1e-5);
  lapis_model_free(model);
  lapis_map_free(map);
  lapis_solver_free(s);
  CHECK_OK(f, lapis_predict_new(f->ctx, &data, back, NULL, &s));
  CHECK_OK(f, lapis_solve(s));
  lapis_named item = {.name = "low_rank"};
  CHECK_OK(f, lapis_result_get(s, "low_rank", &item.mat));
  CHECK_OK(f, lapis_arrays_write(f->ctx, path, "npy", &item, 1));
  lapis_solver_free(s);
  lapis_model_free(back);
}

static void models_predict_the_same(void **state)
{
  check_same_file(*state, "low_rank.npy", write_prediction);
}

/* ---- pages and pipelines ------------------------------------------------*/
static void write_page(files *f, const char *path)
{
  static const char *const column[] = {"iteration", "gap", "objective"};
  double scores[N], truth[N], history[3 * N], X[D * N], s[D];
  double points[4] = {0, 1, 1.25, 2.5};
  lapis_report_box box = {.at = {.5, 1.5, 10.25, 7.125, .375}, .of_class = 0};
  lapis_report_picture picture = {
      .width = 32, .height = 24, .box = &box, .boxes = 1};
  lapis_report r = lapis_report_defaults();
  fill(scores, N);
  fill(X, D * N);
  fill(s, D);
  for (int j = 0; j < N; j++) {
    truth[j] = j % 2 == 0 ? 1 : -1;
    history[3 * j] = j;
    history[3 * j + 1] = exp(-0.7 * j);
    history[3 * j + 2] = 3.25 + 1 / (1.0 + j);
  }
  for (int i = 0; i < D; i++) s[i] = 7.3 / (1 + i);
  r.title = "commas";
  r.scores = lapis_mat_f64(scores, 1, N);
  r.truth = lapis_mat_f64(truth, 1, N);
  r.history = lapis_mat_f64(history, 3, N);
  r.history_columns = lapis_mat_text(column, 1, 3);
  r.input = r.clean = r.removed = lapis_mat_f64(X, D, N);
  r.height = 2;
  r.width = 3;
  r.count = 3;
  r.singular_values = lapis_mat_f64(s, 1, D);
  r.picture = &picture;
  r.pictures = 1;
  r.points = lapis_mat_f64(points, 4, 1);
  CHECK_OK(f, lapis_report_write(f->ctx, &r, path));
}

static void pages_are_the_same(void **state)
{
  check_same_file(*state, "page.html", write_page);
}

/* Images of a bright square on a ramp, a little further right in each. */
static void write_boxes(files *f, const char *path)
{
  enum { SIDE = 48, IMAGES = 3 };
  char name[IMAGES][600];
  const char *paths[IMAGES];
  lapis_locate_settings set;
  lapis_solver *flow;
  for (int k = 0; k < IMAGES; k++) {
    unsigned char pgm[16 + SIDE * SIDE];
    int head = snprintf((char *)pgm, 16, "P5 %d %d 255\n", SIDE, SIDE);
    for (int i = 0; i < SIDE * SIDE; i++) {
      int x = i % SIDE - 5 * k, y = i / SIDE;
      bool in = x > 10 && x < 30 && y > 12 && y < 32;
      pgm[head + i] = (unsigned char)(in ? 200 + (x * y) % 50 : i / SIDE);
    }
    (void)snprintf(name[k], sizeof name[k], "%s/%d.pgm", f->folder, k);
    FILE *out = fopen(name[k], "wb");
    assert_non_null(out);
    size_t size = (size_t)head + SIDE * SIDE;
    assert_int_equal(fwrite(pgm, 1, size, out), size);
    assert_int_equal(fclose(out), 0);
    paths[k] = name[k];
  }
  lapis_settings_default(lapis_flow_find("locate"), &set);
  set.candidates = 10;
  set.no_cache = true;
  CHECK_OK(f, lapis_locate_new(f->ctx, paths, IMAGES, &set, &flow));
  CHECK_OK(f, lapis_solve(flow));
  CHECK_OK(f, lapis_flow_write(flow, LAPIS_FLOW_TABLE, path, NULL));
  lapis_solver_free(flow);
}

static void boxes_are_the_same(void **state)
{
  check_same_file(*state, "boxes.csv", write_boxes);
}

#define FILES_TEST(t) \
  cmocka_unit_test_setup_teardown(t, files_setup, files_teardown)

int test_locale(void)
{
  const struct CMUnitTest tests[] = {
      FILES_TEST(settings_read_back),
      FILES_TEST(grids_and_maps_are_read),
      FILES_TEST(weights_given_as_text_are_read),
      FILES_TEST(sentences_have_points),
      FILES_TEST(tables_are_the_same),
      FILES_TEST(tables_by_hand_are_read),
      FILES_TEST(json_is_the_same),
      FILES_TEST(models_predict_the_same),
      FILES_TEST(pages_are_the_same),
      FILES_TEST(boxes_are_the_same),
  };
  return run_cases(tests, comma_setup, comma_teardown);
}
