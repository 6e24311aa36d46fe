/* mpi_parts.c - what several processes read and write in parts. */
#include <glob.h>

#include "mpirun.h"

enum { FEATURES = 6, SAMPLES = 30 };

/* Rows near a plane, some entries unseen, half of the labels known. */
static void put_data(const command *c)
{
  double X[FEATURES * SAMPLES], y[SAMPLES], slope[2 * FEATURES];
  uint64_t seed = 7;
  for (int k = 0; k < 2 * FEATURES; k++) slope[k] = check_normal(&seed);
  for (int j = 0; j < SAMPLES; j++) {
    double a = check_normal(&seed), b = check_normal(&seed);
    for (int i = 0; i < FEATURES; i++) {
      double x = a * slope[2 * i] + b * slope[2 * i + 1];
      X[j * FEATURES + i] = check_uniform(&seed) < 0.2 ? NAN : x;
    }
    y[j] = j % 2 == 0 ? NAN : a > 0 ? 1 : -1;
  }
  mpirun_put(c, "X.npy", X, SAMPLES, FEATURES);
  mpirun_put(c, "y.npy", y, SAMPLES, 1);
}

static const char fit[] =
    "fit mc -X X.npy -Y y.npy --mu-rel 0.05 --max-iters 20 --mpi --threads 1";

static void must(command *c, int code, const char *words)
{
  if (c->code != code || !check_has(c->err, words))
    fail_msg("exit %d, '%s'; %d and '%s' wanted", c->code, c->err, code, words);
}

/* The one file whose path begins so, in to. */
static bool has_part(const command *c, const char *begins, char *to)
{
  glob_t all;
  char path[400];
  snprintf(path, sizeof path, "%s/%s*", c->folder, begins);
  bool one = glob(path, 0, NULL, &all) == 0 && all.gl_pathc == 1;
  if (one) snprintf(to, 100, "%s", strrchr(all.gl_pathv[0], '/') + 1);
  globfree(&all);
  return one;
}

static void same_bytes(command *c, const char *a, const char *b)
{
  char line[300];
  snprintf(line, sizeof line, "cd %s && cmp %s %s", c->folder, a, b);
  assert_int_equal(system(line), 0);
}

/* A folder that all have written, joined, is the file that one has written. */
static void a_folder_is_the_file(void **state)
{
  command c;
  char line[400], part[40], name[100];
  mpirun_begin(&c);
  put_data(&c);
  for (int n = 1; n <= 4; n++) {
    snprintf(line, sizeof line, "%s -o file.npz", fit);
    mpirun_run(&c, n, "", line);
    must(&c, 0, "");
    snprintf(line, sizeof line, "%s -o parts/", fit);
    mpirun_run(&c, n, "", line);
    must(&c, 0, "");
    snprintf(part, sizeof part, "parts/part-%04d-of-%04d-", n, n);
    assert_true(has_part(&c, part, name));
    command_do(&c, "convert parts/ joined.npz");
    same_bytes(&c, "file.npz", "joined.npz");
  }
  command_run(&c, "info parts");
  assert_non_null(strstr(c.out, "result in parts"));
  assert_non_null(strstr(c.out, "30 x 6"));
  static char of_file[sizeof c.out];
  command_do(&c, "eval accuracy --truth y.npy --scores file.npz");
  memcpy(of_file, c.out, sizeof of_file);
  command_run(&c, "eval accuracy --truth y.npy --scores parts");
  assert_string_equal(c.out, of_file);
  command_end(&c);
}

/* Whatever file holds the samples, the bits are those of .npy. */
static void every_format_gives_the_same_bits(void **state)
{
  static const char *const kept[] = {"X.npz", "X.h5", "turned.mat --as mat73",
                                     "X.csv"};
  command c;
  char line[500];
  mpirun_begin(&c);
  put_data(&c);
  snprintf(line, sizeof line, "%s -o wanted.npz", fit);
  mpirun_run(&c, 3, "", line);
  must(&c, 0, "");
  for (int i = 0; i < 4; i++) {
    command_run(&c, "convert X.npy %s", kept[i]);
    if (c.code == 3) continue; /* HDF5 is not built in */
    command_expect(&c, 0, "");
    snprintf(line, sizeof line,
             "fit mc -X %.*s -Y y.npy --mu-rel 0.05 --max-iters 20 --mpi "
             "--threads 1 -o r.npz",
             (int)strcspn(kept[i], " "), kept[i]);
    mpirun_run(&c, 3, "", line);
    must(&c, 0, "");
    if (i == 3) /* has names of its features */
      mpirun_same(&c, "wanted.npz", "r.npz");
    else
      same_bytes(&c, "wanted.npz", "r.npz");
  }
  command_end(&c);
}

/* One process has a folder, too; what is read of it is what it holds. */
static void one_process_writes_one_part(void **state)
{
  command c;
  char name[100];
  command_begin(&c);
  put_data(&c);
  command_do(&c, "fit mc -X X.npy -Y y.npy --mu-rel 0.05 --max-iters 20 "
                 "--model m.lapis -o parts/");
  command_do(&c, "predict m.lapis -X parts:low_rank -o answers/");
  assert_true(has_part(&c, "answers/part-0001-of-0001-", name));
  command_run(&c, "predict m.lapis -X parts/:low_rank -o parts/");
  command_expect(&c, 2, "parts/");
  command_write(&c, "parts/notes", "a", 1);
  command_run(&c, "fit rpca -X X.npy -o parts/"); /* before any work */
  command_expect(&c, 4, "parts/");
  command_run(&c, "fit rpca -X X.npy -o none/deeper/");
  command_expect(&c, 4, "none/deeper/");
  command_end(&c);
}

/* The second process cannot write its part: a folder is in its place. */
static void one_that_cannot_write_ends_all(void **state)
{
  command c;
  char line[400], name[100];
  mpirun_begin(&c);
  put_data(&c);
  snprintf(line, sizeof line, "%s -o like/", fit);
  mpirun_run(&c, 3, "", line);
  must(&c, 0, "");
  assert_true(has_part(&c, "like/part-0002-of-0003-", name));
  snprintf(line, sizeof line, "mkdir -p %s/parts/%s", c.folder, name);
  assert_int_equal(system(line), 0);
  snprintf(line, sizeof line, "%s -o parts/", fit);
  mpirun_run(&c, 3, "", line);
  must(&c, 4, "is a folder; name a file in it (process 2 of 3)");
  assert_ptr_equal(strchr(c.err, '\n'), strrchr(c.err, '\n'));
  assert_null(strstr(c.err, "(process 1 of 3)")); /* said once */
  assert_false(command_exists(&c, "parts/index.json"));
  assert_false(has_part(&c, "parts/part-0001-of-0003-", name));
  command_end(&c);
}

int test_mpi_parts(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_folder_is_the_file),
      cmocka_unit_test(every_format_gives_the_same_bits),
      cmocka_unit_test(one_process_writes_one_part),
      cmocka_unit_test(one_that_cannot_write_ends_all),
  };
  return run_cases(tests, NULL, NULL);
}
