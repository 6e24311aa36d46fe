/* One process's samples of a file: those of the whole, and nothing else of the
 * file is read. */
#include <stdarg.h>
#include <unistd.h>

#include "files.h"

enum { N = 11, D = 4, MOST_PARTS = 13 };

typedef struct set { /* samples x features, and what else files hold */
  double X[D * N], Y[N], P[2 * N], weight[N];
  int64_t group[N];
  const char *names[N];
} set;

static set make_set(void)
{
  static char text[N][16];
  set s;
  uint64_t seed = 4;
  for (int i = 0; i < D * N; i++)
    s.X[i] = check_uniform(&seed) < 0.4 ? 0 : check_normal(&seed);
  for (int i = 0; i < 2 * N; i++) s.P[i] = check_normal(&seed);
  for (int j = 0; j < N; j++) {
    s.Y[j] = j % 3;
    s.weight[j] = 1 + j;
    s.group[j] = j / 2;
    (void)snprintf(text[j], sizeof text[j], "n%d", j);
    s.names[j] = text[j];
  }
  return s;
}

/* ---- what is read is a part of the whole ----------------------------------*/
static lapis_dataset *read_part(files *f, const char *path, bool alone,
                                int part, int parts)
{
  lapis_dataset *ds;
  CHECK_OK(f, lapis_dataset_new(f->ctx, &ds));
  if (parts > 0) lapis_dataset_divide(ds, part, parts);
  if (alone)
    CHECK_OK(f, lapis_dataset_read_member(ds, "X", path, NULL));
  else
    CHECK_OK(f, lapis_dataset_read(ds, path, NULL));
  CHECK_OK(f, lapis_dataset_finish(ds));
  return ds;
}

static void check_columns(const lapis_mat *part, const lapis_mat *whole,
                          int64_t first, int64_t count)
{
  if (whole->rows == 0) return;
  assert_int_equal(part->rows, whole->rows);
  assert_int_equal(part->cols, count);
  assert_true((part->colptr == NULL) == (whole->colptr == NULL));
  if (part->colptr != NULL) assert_int_equal(part->colptr[0], 0);
  for (int64_t j = 0; j < count; j++)
    for (int64_t i = 0; i < whole->rows; i++)
      CHECK_NEAR(lapis_mat_at(part, i, j), lapis_mat_at(whole, i, first + j),
                 0);
}

static void check_file(files *f, const char *path, bool alone)
{
  lapis_dataset *all = read_part(f, path, alone, 0, 0);
  const lapis_data *w = lapis_dataset_data(all);
  int64_t n = w->X.cols;
  for (int parts = 1; parts <= MOST_PARTS; parts += parts < 4 ? 1 : 3)
    for (int k = 0; k < parts; k++) {
      lapis_dataset *own = read_part(f, path, alone, k, parts);
      const lapis_data *d = lapis_dataset_data(own);
      int64_t first = n * k / parts, count = n * (k + 1) / parts - first;
      assert_int_equal(lapis_dataset_samples(own), n);
      check_columns(&d->X, &w->X, first, count);
      check_columns(&d->Y, &w->Y, first, count);
      check_columns(&d->P, &w->P, first, count);
      assert_true((d->group == NULL) == (w->group == NULL));
      for (int64_t j = 0; d->group != NULL && j < count; j++)
        assert_int_equal(d->group[j], w->group[first + j]);
      assert_int_equal(lapis_dataset_text(own, "names").cols,
                       lapis_dataset_text(all, "names").cols);
      lapis_dataset_free(own);
    }
  lapis_dataset_free(all);
}

/* Every second entry of X sparse; 0 is not stored. */
typedef struct sparse {
  double value[D * N];
  int64_t start[N + 1];
  int32_t row[D * N];
} sparse;

static lapis_mat make_sparse(const set *s, sparse *to)
{
  int64_t count = 0;
  for (int j = 0; j < N; j++) {
    to->start[j] = count;
    for (int i = 0; i < D; i++)
      if (s->X[j * D + i] != 0) {
        to->row[count] = i;
        to->value[count++] = s->X[j * D + i];
      }
  }
  to->start[N] = count;
  return (lapis_mat){.dtype = LAPIS_F64,
                     .rows = D,
                     .cols = N,
                     .ld = D,
                     .val = to->value,
                     .colptr = to->start,
                     .rowidx = to->row};
}

static void parts_of_containers(void **state)
{
  static const char *const names[] = {"a.npz", "a.mat", "a73.mat", "a.h5",
                                      "a.csv"};
  files *f = *state;
  set s = make_set();
  sparse room;
  lapis_named item[] = {
      {.name = "X", .mat = lapis_mat_f64(s.X, D, N)},
      {.name = "Y", .mat = lapis_mat_f64(s.Y, 1, N)},
      {.name = "names", .flat = true, .mat = lapis_mat_text(s.names, 1, N)},
      {.name = "P", .mat = lapis_mat_f64(s.P, 2, N)},
      {.name = "weight", .flat = true, .mat = lapis_mat_f64(s.weight, 1, N)},
      {.name = "group", .flat = true, .mat = lapis_mat_i64(s.group, 1, N)}};
  for (int i = 0; i < 5; i++)
    for (int k = 0; k < 2; k++) {
      const char *path = files_path(f, names[i]);
      bool table = strcmp(names[i], "a.csv") == 0;
      item[0].mat = k == 0 ? lapis_mat_f64(s.X, D, N) : make_sparse(&s, &room);
      if (table && k == 1) continue;
      lapis_status status = lapis_arrays_write(
          f->ctx, path, strcmp(names[i], "a73.mat") == 0 ? "mat73" : NULL, item,
          table ? 1 : 6);
      if (status == LAPIS_ENOTBUILT) continue;
      CHECK_OK(f, status);
      check_file(f, path, false);
    }
}

/* At the end of a text of 4000 bytes at most. */
static void put_text(char *text, const char *format, ...)
{
  va_list args;
  size_t used = strlen(text);
  va_start(args, format);
  (void)vsnprintf(text + used, 4000 - used, format, args);
  va_end(args);
}

/* descr 8 bytes or 4; C order or Fortran's. */
static const char *put_npy(files *f, const char *name, const char *descr,
                           bool fortran, const double *x, int d, int n)
{
  size_t size = descr[2] == '4' ? 4 : 8;
  char *all = calloc(1, 128 + size * (size_t)(d * n)), *at = all + 128;
  assert_non_null(all);
  memcpy(all, "\x93NUMPY\x01\x00\x76\x00", 10);
  memset(all + 10, ' ', 118);
  int used = snprintf(all + 10, 118,
                      "{'descr': '%s', 'fortran_order': %s, 'shape': (%d, "
                      "%d), }",
                      descr, fortran ? "True" : "False", n, d);
  all[10 + used] = ' ';
  all[127] = '\n';
  for (int k = 0; k < d * n; k++, at += size) {
    double v = fortran ? x[k % n * d + k / n] : x[k];
    float single = (float)v;
    int32_t whole = (int32_t)(8 * v);
    if (size == 8) memcpy(at, &v, 8);
    if (size == 4 && descr[1] == 'f') memcpy(at, &single, 4);
    if (size == 4 && descr[1] == 'i') memcpy(at, &whole, 4);
  }
  const char *path = files_put(f, name, all, 128 + size * (size_t)(d * n));
  free(all);
  return path;
}

static void parts_of_arrays(void **state)
{
  files *f = *state;
  set s = make_set();
  static const char *const descr[] = {"<f8", "<f4", "<i4"};
  for (int i = 0; i < 3; i++)
    for (int fortran = 0; fortran < 2; fortran++)
      check_file(f, put_npy(f, "x.npy", descr[i], fortran, s.X, D, N), true);
}

/* Read whole, then cut: columns whose first entry is not the file's. */
static void parts_of_text(void **state)
{
  files *f = *state;
  set s = make_set();
  char svm[4000] = "", arff[4000] = "@relation r\n";
  for (int i = 0; i < D; i++) put_text(arff, "@attribute a%d numeric\n", i);
  put_text(arff, "@data\n");
  for (int j = 0; j < N; j++) {
    const char *comma = "";
    put_text(svm, "%d", j % 3);
    put_text(arff, "{");
    for (int i = 0; i < D; i++) {
      double x = s.X[j * D + i];
      if (x == 0) continue;
      put_text(svm, " %d:%.17g", i + 1, x);
      put_text(arff, "%s%d %.17g", comma, i, x);
      comma = ",";
    }
    put_text(svm, "\n");
    put_text(arff, "}\n");
  }
  check_file(f, files_put(f, "a.svm", svm, strlen(svm)), false);
  check_file(f, files_put(f, "a.arff", arff, strlen(arff)), false);
}

static void other_counts_are_told_of_the_whole(void **state)
{
  files *f = *state;
  set s = make_set();
  lapis_dataset *ds;
  char y[600];
  (void)snprintf(y, sizeof y, "%s",
                 put_npy(f, "y.npy", "<f8", false, s.X, 1, N - 1));
  CHECK_OK(f, lapis_dataset_new(f->ctx, &ds));
  lapis_dataset_divide(ds, 0, 4); /* whose parts are as long */
  CHECK_OK(f, lapis_dataset_read_member(
                  ds, "X", put_npy(f, "x.npy", "<f8", false, s.X, D, N), NULL));
  CHECK_OK(f, lapis_dataset_read_member(ds, "Y", y, NULL));
  CHECK_REFUSED(f, lapis_dataset_finish(ds), LAPIS_ESHAPE, "Y 10 X 11");
  lapis_dataset_free(ds);
}

/* ---- what is read of the file
 * ----------------------------------------------*/
enum { LONG = 8192, WIDE = 256, PARTS = 4 };
static const double BYTES = 8.0 * LONG * WIDE, SLACK = 4.4e6;

/* What this process and those it has waited for have read; NAN: not told. */
static double bytes_read(void)
{
  FILE *file = fopen("/proc/self/io", "r");
  double count = NAN;
  if (file == NULL) return NAN;
  if (fscanf(file, "rchar: %lf", &count) != 1) count = NAN;
  (void)fclose(file);
  return count;
}

/* Bytes of a mapped file that were touched, as the kernel maps them: up to 2
 * MiB at once. */
static double touched(const char *path)
{
  FILE *file = fopen("/proc/self/smaps", "r");
  char line[2000], mode;
  bool ours = false;
  double sum = 0, kilobytes;
  assert_non_null(file);
  while (fgets(line, sizeof line, file) != NULL) {
    if (sscanf(line, "%*x-%*x %c", &mode) == 1)
      ours = strstr(line, path) != NULL;
    if (ours && sscanf(line, "Rss: %lf kB", &kilobytes) == 1)
      sum += 1024 * kilobytes;
  }
  (void)fclose(file);
  return sum;
}

typedef struct cost {
  double read, touched;
} cost;

static cost cost_of(files *f, const char *path, bool alone, int parts)
{
  volatile double sum = 0;
  double before = bytes_read();
  lapis_dataset *ds = read_part(f, path, alone, 1, parts);
  const lapis_mat *X = &lapis_dataset_data(ds)->X;
  cost c = {.read = bytes_read() - before};
  for (int64_t j = 0; j < X->cols; j++)
    for (int64_t i = 0; i < X->rows; i++) sum += lapis_mat_at(X, i, j);
  c.touched = touched(path);
  lapis_dataset_free(ds);
  return c;
}

/* Of a quarter of the samples a quarter of the bytes. */
static void check_cost(files *f, const char *path, bool alone)
{
  cost whole = cost_of(f, path, alone, 0),
       part = cost_of(f, path, alone, PARTS);
  double all = whole.read + whole.touched, own = part.read + part.touched;
  if (isnan(all)) skip();
  if (all < BYTES / 2) fail_msg("%s: %g bytes are too few", path, all);
  if (own > all / PARTS + SLACK)
    fail_msg("%s: %g + %g bytes read and mapped, of %g + %g", path, part.read,
             part.touched, whole.read, whole.touched);
}

static void no_more_is_read(void **state)
{
  files *f = *state;
  uint64_t seed = 9;
  double *x = malloc((size_t)LONG * WIDE * sizeof *x);
  assert_non_null(x);
  for (int i = 0; i < LONG * WIDE; i++) x[i] = check_normal(&seed);
  check_cost(f, put_npy(f, "c.npy", "<f8", false, x, WIDE, LONG), true);
  lapis_named item = {.name = "X", .mat = lapis_mat_f64(x, WIDE, LONG)};
  const char *path = files_path(f, "stored.npz");
  CHECK_OK(f, lapis_arrays_write(f->ctx, path, "npz", &item, 1));
  check_cost(f, path, false);
  path = files_path(f, "dense.h5");
  lapis_status s = lapis_arrays_write(f->ctx, path, "h5", &item, 1);
  if (s == LAPIS_OK) {
    check_cost(f, path, false);
    path = files_path(f, "turned.mat");
    CHECK_OK(f, lapis_arrays_write(f->ctx, path, "mat73", &item, 1));
    check_cost(f, path, false);
  }
  free(x);
}

/* Every entry stored: a quarter of places and values. */
static void no_more_is_read_of_sparse(void **state)
{
  files *f = *state;
  static int64_t start[LONG + 1];
  double *x = malloc((size_t)LONG * WIDE * sizeof *x);
  int32_t *row = malloc((size_t)LONG * WIDE * sizeof *row);
  assert_true(x != NULL && row != NULL);
  for (int k = 0; k < LONG * WIDE; k++) {
    x[k] = k + 1;
    row[k] = k % WIDE;
  }
  for (int j = 0; j <= LONG; j++) start[j] = (int64_t)j * WIDE;
  lapis_named item = {.name = "X", .mat = lapis_mat_f64(x, WIDE, LONG)};
  item.mat.colptr = start;
  item.mat.rowidx = row;
  const char *path = files_path(f, "sparse.h5");
  lapis_status s = lapis_arrays_write(f->ctx, path, "h5", &item, 1);
  if (s == LAPIS_OK) check_cost(f, path, false);
  free(x);
  free(row);
  if (s == LAPIS_ENOTBUILT) skip();
  CHECK_OK(f, s);
}

int test_divide(void)
{
#define CASE(name) \
  cmocka_unit_test_setup_teardown(name, files_setup, files_teardown)
  const struct CMUnitTest tests[] = {
      CASE(parts_of_containers), CASE(parts_of_arrays),
      CASE(parts_of_text),       CASE(other_counts_are_told_of_the_whole),
      CASE(no_more_is_read),     CASE(no_more_is_read_of_sparse),
  };
  return run_cases(tests, NULL, NULL);
}
