/* stops.c - what takes long and is no solve hears that it is cancelled, or out
 * of time: reading, maps, writing. */
#include <fcntl.h>

#include "files.h"
#include "lapis/methods.h"

enum { LINES = 100000 }; /* megabytes, so that it asks more than once */

static const char *put_lines(files *f, const char *name, const char *head,
                             const char *line)
{
  size_t size = strlen(line), begin = strlen(head);
  char *text = malloc(begin + size * LINES);
  assert_non_null(text);
  memcpy(text, head, begin);
  for (size_t i = 0; i < LINES; i++)
    memcpy(text + begin + i * size, line, size);
  (void)files_put(f, name, text, begin + size * LINES);
  free(text);
  return f->path;
}

static lapis_status read_by(files *f, const lapis_table_options *opt)
{
  lapis_dataset *ds;
  CHECK_OK(f, lapis_dataset_new(f->ctx, &ds));
  lapis_status s = lapis_dataset_read(ds, f->path, opt);
  lapis_dataset_free(ds);
  return s;
}

static void refused(lapis_ctx *ctx, lapis_status got, lapis_status wanted,
                    const char *words)
{
  assert_int_equal(got, wanted);
  check_says(lapis_ctx_error(ctx), words);
}

static void check_reading(files *f, const lapis_table_options *opt)
{
  lapis_ctx_limit(f->ctx, -1);
  refused(f->ctx, read_by(f, opt), LAPIS_ELATE, "while reading");
  lapis_ctx_limit(f->ctx, INFINITY);
  lapis_ctx_cancel(f->ctx);
  refused(f->ctx, read_by(f, opt), LAPIS_ESTOPPED, "while reading");
  assert_int_equal(read_by(f, opt), LAPIS_OK); /* heard once */
}

static void reading_stops(void **state)
{
  files *f = *state;
  static const char line[] = "0.1234567890123,0.2345678901234,abc\n";
  const lapis_table_options opt = {.target = "3"}, hot = {.one_hot = "3"};
  put_lines(f, "a.csv", "", line);
  check_reading(f, &opt);
  check_reading(f, &hot);
  put_lines(f, "a.svm", "", "1 1:0.12345678901 2:0.2345678901234567\n");
  check_reading(f, NULL);
  put_lines(f, "a.arff",
            "@relation r\n@attribute a numeric\n@attribute b numeric\n"
            "@attribute c {abc,d}\n@data\n",
            line);
  check_reading(f, NULL);
}

static double ones[4 * 200];

static lapis_status map_by(files *f, const char *spec)
{
  lapis_map *m;
  double *memory = NULL;
  const lapis_mat X = lapis_mat_f64(ones, 4, 200);
  lapis_mat out;
  CHECK_OK(f, lapis_map_new(f->ctx, spec, &m));
  lapis_status s = lapis_map_fit(f->ctx, m, &X);
  if (s >= 0) s = lapis_map_make(f->ctx, m, &X, &memory, &out);
  free(memory);
  lapis_map_free(m);
  return s;
}

static void maps_stop(void **state)
{
  files *f = *state;
  static const char *const spec[] = {"standard", "scale:auto", "l2",
                                     "impute",   "chi2",       "nystrom:1:3"};
  for (int k = 0; k < 4 * 200; k++) ones[k] = 1 + k % 7;
  for (size_t i = 0; i < sizeof spec / sizeof *spec; i++) {
    lapis_ctx_limit(f->ctx, -1);
    refused(f->ctx, map_by(f, spec[i]), LAPIS_ELATE, "while mapping");
    lapis_ctx_limit(f->ctx, INFINITY);
    lapis_ctx_cancel(f->ctx);
    refused(f->ctx, map_by(f, spec[i]), LAPIS_ESTOPPED, "while mapping");
    CHECK_OK(f, map_by(f, spec[i]));
  }
}

/* What was found in time is written, however late it is. */
static void writing_stops(void **state)
{
  files *f = *state;
  lapis_ctx *ctx = f->ctx;
  double *x = calloc(4 * LINES, sizeof *x);
  assert_non_null(x);
  for (int k = 0; k < 4 * LINES; k++) x[k] = k / 7.0;
  const lapis_named X = {.name = "X", .mat = lapis_mat_f64(x, 4, LINES)};
  static const char *const to[] = {"o.csv", "o.npz", "o.npy",
                                   "o.mat", "o.h5",  "o.svm"};
  for (int k = 0; k < 6; k++) {
    files_put_text(f, to[k], "old");
    lapis_ctx_cancel(ctx);
    lapis_status s = lapis_arrays_write(ctx, f->path, NULL, &X, 1);
    if (s == LAPIS_ENOTBUILT) continue;
    if (s != LAPIS_ESTOPPED) fail_msg("%s: %d", to[k], s);
    refused(ctx, s, LAPIS_ESTOPPED, "while writing");
    size_t size;
    unsigned char *left = files_get(f->path, &size);
    assert_int_equal(size, 3);
    free(left);
    lapis_ctx_limit(ctx, -1);
    assert_int_equal(lapis_arrays_write(ctx, f->path, NULL, &X, 1), LAPIS_OK);
    lapis_ctx_limit(ctx, INFINITY);
  }
  assert_true(files_count(f, false) >= 5);
  free(x);
}

/* Who writes to the pipe says nothing. */
static void a_silent_pipe_is_not_waited_for(void **state)
{
  files *f = *state;
  files_put_text(f, "pipe", "");
  assert_int_equal(unlink(f->path), 0);
  assert_int_equal(mkfifo(f->path, 0600), 0);
  int end = open(f->path, O_RDWR);
  assert_true(end >= 0);
  assert_int_equal(write(end, "1,2\n", 4), 4);
  lapis_ctx_limit(f->ctx, .3);
  refused(f->ctx, read_by(f, NULL), LAPIS_ELATE, "while reading");
  lapis_ctx_limit(f->ctx, INFINITY);
  close(end);
}

/* The map of a model is no solve. */
static void a_map_of_a_model_stops(void **state)
{
  files *f = *state;
  lapis_data data = {.X = lapis_mat_f64(ones, 4, 200)};
  static double y[200];
  for (int k = 0; k < 4 * 200; k++) ones[k] = 1 + k % 7 + k / 90;
  for (int j = 0; j < 200; j++) y[j] = j % 2;
  data.Y = lapis_mat_f64(y, 1, 200);
  lapis_map *map;
  double *memory;
  CHECK_OK(f, lapis_map_new(f->ctx, "standard", &map));
  CHECK_OK(f, lapis_map_fit(f->ctx, map, &data.X));
  lapis_data mapped = data;
  CHECK_OK(f, lapis_map_make(f->ctx, map, &data.X, &memory, &mapped.X));
  lapis_solver *s, *p;
  lapis_model *m;
  CHECK_OK(f, lapis_solver_new(f->ctx, lapis_method_find("linear"), &mapped,
                               NULL, &s));
  CHECK_OK(f, lapis_solve(s));
  CHECK_OK(f, lapis_model_new(s, &m));
  CHECK_OK(f, lapis_model_set_map(f->ctx, m, map, false));
  data.Y = lapis_mat_f64(NULL, 0, 0);
  lapis_ctx_limit(f->ctx, -1);
  refused(f->ctx, lapis_predict_new(f->ctx, &data, m, NULL, &p), LAPIS_ELATE,
          "while mapping");
  lapis_ctx_limit(f->ctx, INFINITY);
  CHECK_OK(f, lapis_predict_new(f->ctx, &data, m, NULL, &p));
  lapis_solver_free(p);
  lapis_model_free(m);
  lapis_solver_free(s);
  lapis_map_free(map);
  free(memory);
}

#define FILES_TEST(t) \
  cmocka_unit_test_setup_teardown(t, files_setup, files_teardown)

int test_stops(void)
{
  const struct CMUnitTest tests[] = {
      FILES_TEST(reading_stops), FILES_TEST(maps_stop),
      FILES_TEST(writing_stops), FILES_TEST(a_silent_pipe_is_not_waited_for),
      FILES_TEST(a_map_of_a_model_stops)};
  return run_cases(tests, NULL, NULL);
}
