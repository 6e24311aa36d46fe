/* roml.c - the executable: fit roml, assign, eval match-ratio. */
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "lapis/files.h"
#include "lapis/tools.h"
#include "roml_data.h"

typedef struct workplace {
  lapis_ctx *ctx;
  const char *command;
  char folder[64], text[1 << 16];
  scene c;
} workplace;

/* Runs "lapis ARGUMENTS" in the folder; its exit code, its output in text. */
static int lapis(workplace *w, const char *arguments)
{
  char line[2048];
  snprintf(line, sizeof line, "cd %s && '%s' %s 2>err.txt", w->folder,
           w->command, arguments);
  FILE *p = popen(line, "r");
  assert_non_null(p);
  size_t n = fread(w->text, 1, sizeof w->text - 1, p);
  w->text[n] = '\0';
  int status = pclose(p);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void write_npz(workplace *w, const char *name, const lapis_named *item,
                      int count)
{
  char path[128];
  snprintf(path, sizeof path, "%s/%s", w->folder, name);
  if (lapis_arrays_write(w->ctx, path, "npz", item, count) < 0)
    fail_msg("%s", lapis_ctx_error(w->ctx));
}

static lapis_mat whole(int64_t *val, int64_t rows, int64_t cols)
{
  return lapis_mat_i64(val, rows, cols);
}

static int setup(void **state)
{
  workplace *w = calloc(1, sizeof *w);
  w->command = getenv("LAPIS_COMMAND");
  w->ctx = lapis_ctx_new();
  check_folder(w->folder, sizeof w->folder);
  w->c = scene_new(8, 20, 5, 30, 0.2, 0, 3);
  double xy[2 * 160];
  uint64_t s = 5;
  for (int i = 0; i < 320; i++) xy[i] = 100 * check_uniform(&s);
  lapis_named data[] = {
      {.name = "X", .mat = lapis_mat_f64(w->c.X, 30, 160)},
      {.name = "group", .mat = whole(w->c.group, 1, 160), .flat = true},
      {.name = "xy", .mat = lapis_mat_f64(xy, 2, 160)}};
  write_npz(w, "data.npz", data, 2);
  write_npz(w, "placed.npz", data, 3);
  write_npz(w, "xy.npz", data + 2, 1);
  lapis_named truth = {.name = "match", .mat = whole(w->c.truth, 5, 8)};
  write_npz(w, "truth.npz", &truth, 1);
  *state = w;
  return 0;
}

static int teardown(void **state)
{
  workplace *w = *state;
  char line[128];
  snprintf(line, sizeof line, "rm -r %s", w->folder);
  int code = system(line);
  scene_free(&w->c);
  lapis_ctx_free(w->ctx);
  free(w);
  return code;
}

static void need_command(const workplace *w)
{
  if (w->command != NULL) return;
  print_message("skipped: LAPIS_COMMAND is not set\n");
  skip();
}

static lapis_json *parsed(workplace *w)
{
  lapis_json *v;
  if (lapis_json_parse(w->ctx, w->text, strlen(w->text), "stdout", &v) < 0)
    fail_msg("%s", lapis_ctx_error(w->ctx));
  return v;
}

static void fit_writes_matches(void **state)
{
  workplace *w = *state;
  need_command(w);
  assert_int_equal(lapis(w, "fit roml data.npz --inliers 5 --json -o out.npz"),
                   0);
  lapis_json *v = parsed(w);
  assert_string_equal(lapis_json_text(v, "status", ""), "solved");
  assert_non_null(strstr(w->text, "\"untested\"")); /* a number was given */
  double objective =
      lapis_json_number(lapis_json_get(v, "info"), "objective", NAN);
  CHECK_AT_LEAST(objective, 1);
  lapis_json_free(v);
  lapis_arrays all;
  char path[128];
  snprintf(path, sizeof path, "%s/out.npz", w->folder);
  assert_int_equal(lapis_arrays_read(w->ctx, path, &all), LAPIS_OK);
  const lapis_array *low = lapis_arrays_find(&all, "low_rank");
  const lapis_array *match = lapis_arrays_find(&all, "match");
  assert_int_equal(low->axes, 3);
  assert_int_equal(low->shape[0], 8);
  assert_int_equal(low->shape[1], 5);
  assert_int_equal(low->shape[2], 30);
  assert_int_equal(match->mat.dtype, LAPIS_I64);
  assert_int_equal(match->shape[0], 8);
  assert_int_equal(match->shape[1], 5);
  lapis_arrays_free(&all);
  assert_int_equal(
      lapis(w, "eval match-ratio --truth truth.npz --scores out.npz --json"),
      0);
  v = parsed(w);
  CHECK_AT_LEAST(lapis_json_number(v, "match_ratio", NAN), 0.999);
  CHECK_AT_LEAST(lapis_json_number(v, "identification_ratio", NAN), 0.999);
  lapis_json_free(v);
}

static void a_start_is_read_from_a_file(void **state)
{
  workplace *w = *state;
  need_command(w);
  assert_int_equal(lapis(w, "fit roml data.npz --inliers 5 --max-iters 0 "
                            "--start truth.npz:match -o out.npz -q"),
                   0);
  assert_int_equal(
      lapis(w, "eval match-ratio --truth truth.npz --scores out.npz --json"),
      0);
  lapis_json *v = parsed(w);
  CHECK_AT_LEAST(lapis_json_number(v, "match_ratio", NAN), 1);
  lapis_json_free(v);
  assert_int_equal(
      lapis(w, "fit roml data.npz --inliers 4 --start truth.npz:match"), 4);
}

static double objective(workplace *w)
{
  lapis_json *v = parsed(w);
  double x = lapis_json_number(lapis_json_get(v, "info"), "objective", NAN);
  lapis_json_free(v);
  return x;
}

/* Positions come with the data, or as a member of their own. */
static void positions_are_read_by_themselves(void **state)
{
  workplace *w = *state;
  need_command(w);
  assert_int_equal(
      lapis(w, "fit roml placed.npz --inliers 5 --map embed --json"), 0);
  double together = objective(w);
  assert_int_equal(
      lapis(w, "fit roml data.npz --xy xy.npz:xy --inliers 5 --map embed "
               "--json"),
      0);
  CHECK_NEAR(objective(w), together, 1e-12 * together);
  assert_int_equal(
      lapis(w, "fit roml data.npz --xy xy.npz:xy --inliers 5 --json"), 0);
  CHECK_AT_LEAST(fabs(objective(w) - together), 1e-3);
}

/* --map: maps of X alone as everywhere, embed last. */
static void maps_of_features_come_before_the_embedding(void **state)
{
  workplace *w = *state;
  need_command(w);
  assert_int_equal(lapis(w, "convert placed.npz l1.npz --map l1"), 0);
  static const char *const same[][2] = {
      {"placed.npz --map l1", "l1.npz"},
      {"placed.npz --map l1,embed", "l1.npz --map embed"},
      {"placed.npz --map embed", "placed.npz --map none,embed"},
      {"placed.npz --map none", "placed.npz"}};
  double last = 0;
  for (int i = 0; i < 4; i++) {
    double value[2];
    for (int side = 0; side < 2; side++) {
      char line[256];
      snprintf(line, sizeof line,
               "fit roml %s --inliers 5 --normalise none --rho0 1 --json",
               same[i][side]);
      assert_int_equal(lapis(w, line), 0);
      value[side] = objective(w);
    }
    CHECK_NEAR(value[0], value[1], 1e-9 * value[0]);
    CHECK_AT_LEAST(fabs(value[0] - last), 1e-6); /* maps do something */
    last = value[0];
  }
}

static void refuse(workplace *w, int code, const char *arguments,
                   const char *says)
{
  char text[1024], path[128];
  int got = lapis(w, arguments);
  snprintf(path, sizeof path, "%s/err.txt", w->folder);
  FILE *f = fopen(path, "r");
  size_t n = fread(text, 1, sizeof text - 1, f);
  text[n] = '\0';
  fclose(f);
  if (got != code || !check_has(text, says) ||
      strchr(text, '\n') != text + n - 1)
    fail_msg("%s: exit %d, '%s'; %d, '%s' wanted", arguments, got, text, code,
             says);
}

static void write_changed(workplace *w, const char *name, int64_t row,
                          double value)
{
  double *X = malloc(160 * 30 * sizeof *X);
  memcpy(X, w->c.X, 160 * 30 * sizeof *X);
  for (int a = 0; a < (isnan(value) ? 1 : 30); a++) X[row * 30 + a] = value;
  lapis_named data[] = {
      {.name = "X", .mat = lapis_mat_f64(X, 30, 160)},
      {.name = "group", .mat = whole(w->c.group, 1, 160), .flat = true}};
  write_npz(w, name, data, 2);
  free(X);
}

static void each_refusal_is_one_sentence(void **state)
{
  workplace *w = *state;
  need_command(w);
  int64_t one[160] = {0};
  lapis_named alone[] = {
      {.name = "X", .mat = lapis_mat_f64(w->c.X, 30, 160)},
      {.name = "group", .mat = whole(one, 1, 160), .flat = true}};
  write_npz(w, "alone.npz", alone, 2);
  write_changed(w, "zero.npz", 6, 0);
  write_changed(w, "nan.npz", 6, NAN);
  refuse(w, 4, "fit roml data.npz --inliers 21", "0 20 --inliers 21");
  refuse(w, 4, "fit roml alone.npz --inliers 5", "");
  refuse(w, 4, "fit roml zero.npz --inliers 5", "7 X");
  assert_int_equal(
      lapis(w, "fit roml zero.npz --inliers 5 --normalise none -q"), 0);
  refuse(w, 4, "fit roml nan.npz --inliers 5", "7 1");
  refuse(w, 4, "fit roml data.npz --inliers 0", "--inliers 1");
  refuse(w, 4, "fit roml data.npz --inliers 4 --start truth.npz:match",
         "5 8 4");
  refuse(w, 4, "fit roml data.npz --inliers 5 --map embed", "xy");
  refuse(w, 2, "fit roml data.npz --inliers 5 --map embed,l2", "X");
  refuse(w, 2, "fit roml data.npz --inliers 5 --map other", "other");
  refuse(w, 2, "fit roml placed.npz --xy xy.npz:xy --inliers 5 -o xy.npz", "");
}

static void bad_input_exits_with_4(void **state)
{
  workplace *w = *state;
  need_command(w);
  assert_int_equal(lapis(w, "fit roml data.npz --inliers 0"), 4);
  assert_int_equal(lapis(w, "fit roml data.npz --inliers 21"), 4);
  assert_int_equal(lapis(w, "fit roml truth.npz --inliers 1"), 4);
  assert_int_equal(lapis(w, "fit roml data.npz --inliers 5 --start no.npz:m"),
                   4);
}

static void assign_prints_the_optimum(void **state)
{
  workplace *w = *state;
  need_command(w);
  double c[] = {4, 1, 3, 2, 0, 5}; /* 2 x 3: 1 + 2 */
  lapis_named item = {.name = "cost", .mat = lapis_mat_f64(c, 3, 2)};
  write_npz(w, "cost.npz", &item, 1);
  assert_int_equal(lapis(w, "assign cost.npz --json -o a.npz"), 0);
  lapis_json *v = parsed(w);
  CHECK_NEAR(lapis_json_number(v, "objective", NAN), 3, 0);
  CHECK_NEAR(lapis_json_number(lapis_json_get(v, "info"), "objective", NAN), 3,
             0);
  lapis_json_free(v);
  c[4] = NAN;
  write_npz(w, "cost.npz", &item, 1);
  assert_int_equal(lapis(w, "assign cost.npz"), 4);
  item.mat = lapis_mat_f64(c, 2, 3);
  write_npz(w, "cost.npz", &item, 1);
  assert_int_equal(lapis(w, "assign cost.npz"), 4);
}

/* Two problems of 2 x 3; the second prefers other columns. */
static void assign_takes_several_problems(void **state)
{
  workplace *w = *state;
  need_command(w);
  double c[] = {4, 1, 3, 2, 0, 5, 9, 9, 1, 9, 2, 9};
  lapis_named item = {.name = "cost",
                      .mat = lapis_mat_f64(c, 6, 2),
                      .axes = 3,
                      .shape = {2, 2, 3}};
  write_npz(w, "costs.npz", &item, 1);
  assert_int_equal(lapis(w, "assign costs.npz --json -o all.npz"), 0);
  lapis_json *v = parsed(w);
  CHECK_NEAR(lapis_json_number(v, "objective", NAN), 6, 0);
  CHECK_NEAR(lapis_json_number(lapis_json_get(v, "data"), "problems", NAN), 2,
             0);
  lapis_json_free(v);
  lapis_arrays all;
  char path[128];
  snprintf(path, sizeof path, "%s/all.npz", w->folder);
  assert_int_equal(lapis_arrays_read(w->ctx, path, &all), LAPIS_OK);
  const lapis_array *match = lapis_arrays_find(&all, "match");
  static const int64_t right[] = {1, 0, 2, 1}; /* 1 + 2, 1 + 2 */
  assert_int_equal(match->shape[0], 2);
  for (int64_t k = 0; k < 4; k++)
    CHECK_NEAR(lapis_mat_at(&match->mat, k % 2, k / 2), (double)right[k], 0);
  lapis_arrays_free(&all);
  c[7] = NAN;
  write_npz(w, "costs.npz", &item, 1);
  assert_int_equal(lapis(w, "assign costs.npz"), 4);
}

/* Tables of the fit and of the model's answers, a row a feature: they name the
 * same points, and each row's image, and who is nobody's has none. */
static void tables_name_instances(void **state)
{
  workplace *w = *state;
  need_command(w);
  char line[2][160], path[128];
  int rows = 0, points = 0;
  assert_int_equal(lapis(w, "fit roml data.npz --inliers 5 --instances auto "
                            "-o fit.csv --model m.lapis --json"),
                   0);
  lapis_json *v = parsed(w);
  assert_string_equal(
      lapis_json_text(lapis_json_get(v, "settings"), "instances", "1"), "1");
  lapis_json_free(v);
  assert_int_equal(lapis(w, "predict m.lapis data.npz -o new.csv --json"), 0);
  v = parsed(w);
  assert_non_null(lapis_json_get(v, "match"));
  assert_non_null(lapis_json_get(v, "instance"));
  assert_non_null(lapis_json_get(v, "labels"));
  lapis_json_free(v);
  FILE *f[2];
  for (int i = 0; i < 2; i++) {
    snprintf(path, sizeof path, "%s/%s", w->folder,
             i == 0 ? "fit.csv" : "new.csv");
    f[i] = fopen(path, "r");
    assert_non_null(f[i]);
    assert_non_null(fgets(line[i], sizeof line[i], f[i]));
  }
  assert_string_equal(line[0], "id,image,instance,point,doubtful\n");
  assert_string_equal(line[1], "id,image,instance,point,distance\n");
  while (fgets(line[0], sizeof line[0], f[0]) != NULL &&
         fgets(line[1], sizeof line[1], f[1]) != NULL) {
    double id = 0, image = 0, instance = 0, point = 0;
    int cells =
        sscanf(line[0], "%lf,%lf,%lf,%lf", &id, &image, &instance, &point);
    assert_true(cells == 2 || cells == 4);
    CHECK_NEAR(id, ++rows, 0);
    CHECK_NEAR(image, (double)w->c.group[rows - 1], 0);
    if (cells == 4) CHECK_NEAR(instance, 1, 0);
    points += cells == 4;
    size_t same = (size_t)(strrchr(line[0], ',') - line[0]);
    assert_int_equal(strncmp(line[0], line[1], same), 0);
  }
  fclose(f[0]);
  fclose(f[1]);
  assert_int_equal(rows, 160);
  assert_int_equal(points, 40);
  assert_int_equal(lapis(w, "fit roml data.npz --instances auto"), 2);
}

int test_roml(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fit_writes_matches),
      cmocka_unit_test(a_start_is_read_from_a_file),
      cmocka_unit_test(positions_are_read_by_themselves),
      cmocka_unit_test(maps_of_features_come_before_the_embedding),
      cmocka_unit_test(each_refusal_is_one_sentence),
      cmocka_unit_test(bad_input_exits_with_4),
      cmocka_unit_test(assign_prints_the_optimum),
      cmocka_unit_test(assign_takes_several_problems),
      cmocka_unit_test(tables_name_instances),
  };
  return run_cases(tests, setup, teardown);
}
