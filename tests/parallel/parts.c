/* Results in parts: each of several processes (threads here) writes its own,
 * and the folder reads as the one file that one process writes. */
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "ranks.h"

enum { N = 11, D = 3, ARRAYS = 5 };

typedef struct whole { /* one result, and where it goes */
  double low[D * N], blocks[2 * D * N], once[4];
  const char *labels[N], *classes[2];
  const int64_t *count; /* samples a rank; NULL: N r / P */
  int size;
  char folder[600];
  lapis_status status[RANKS_MOST];
  char said[RANKS_MOST][400];
} whole;

static const bool divided[ARRAYS] = {true, true, true, false, false};

static void fill(whole *w)
{
  static const char *const words[] = {"no", "yes, with more letters"};
  uint64_t seed = 3;
  for (int i = 0; i < D * N; i++) w->low[i] = check_normal(&seed);
  for (int i = 0; i < 2 * D * N; i++) w->blocks[i] = check_normal(&seed);
  for (int i = 0; i < 4; i++) w->once[i] = i;
  for (int j = 0; j < N; j++) w->labels[j] = words[j % 3 == 0];
  w->classes[0] = words[0];
  w->classes[1] = words[1];
}

/* Columns first .. first + n - 1. */
static void items(whole *w, int64_t first, int64_t n, lapis_named *to)
{
  to[0] = (lapis_named){.name = "low_rank",
                        .mat = lapis_mat_f64(w->low + D * first, D, n)};
  to[1] = (lapis_named){
      .name = "blocks",
      .mat = lapis_mat_f64(w->blocks + (ptrdiff_t)2 * D * first, 2 * D, n),
      .axes = 3,
      .shape = {n, 2, D}};
  to[2] = (lapis_named){.name = "labels",
                        .flat = true,
                        .mat = lapis_mat_text(w->labels + first, 1, n)};
  to[3] = (lapis_named){.name = "history", .mat = lapis_mat_f64(w->once, 2, 2)};
  to[4] = (lapis_named){.name = "class_names",
                        .flat = true,
                        .mat = lapis_mat_text(w->classes, 1, 2)};
}

static void write_own(lapis_ctx *ctx, int rank, void *user)
{
  whole *w = user;
  lapis_named item[ARRAYS];
  int64_t first = (int64_t)N * rank / w->size;
  int64_t n = (int64_t)N * (rank + 1) / w->size - first;
  if (w->count != NULL) {
    first = 0;
    for (int r = 0; r < rank; r++) first += w->count[r];
    n = w->count[rank];
  }
  items(w, first, n, item);
  lapis_parts *p;
  w->status[rank] = lapis_parts_new(ctx, w->folder, &p);
  if (w->status[rank] >= 0)
    w->status[rank] = lapis_parts_write(p, item, divided, ARRAYS);
  (void)snprintf(w->said[rank], sizeof w->said[rank], "%s",
                 lapis_ctx_error(ctx));
  lapis_parts_free(p);
  if (w->size > 1) lapis_ctx_free(ctx); /* made for the rank */
}

static void write_parts(files *f, whole *w, int size, const char *name)
{
  w->size = size;
  (void)snprintf(w->folder, sizeof w->folder, "%s/%s/", f->folder, name);
  if (size > 1)
    ranks_each(size, write_own, w);
  else
    write_own(f->ctx, 0, w);
}

static void must_be_written(const whole *w)
{
  for (int r = 0; r < w->size; r++)
    if (w->status[r] != LAPIS_OK) fail_msg("rank %d: %s", r, w->said[r]);
}

/* A file in the folder of parts. */
static const char *inside(const whole *w, const char *name)
{
  static char path[800];
  (void)snprintf(path, sizeof path, "%s%s", w->folder, name);
  return path;
}

/* How many files and folders there are. */
static int files_in(const whole *w)
{
  int count = 0;
  DIR *d = opendir(w->folder);
  assert_non_null(d);
  for (struct dirent *e; (e = readdir(d)) != NULL;)
    count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
  (void)closedir(d);
  return count;
}

/* The one there whose name begins so. */
static const char *part(const whole *w, const char *begins)
{
  static char path[800];
  glob_t all;
  (void)snprintf(path, sizeof path, "%s%s*", w->folder, begins);
  assert_int_equal(glob(path, 0, NULL, &all), 0);
  assert_int_equal(all.gl_pathc, 1);
  (void)snprintf(path, sizeof path, "%s", all.gl_pathv[0]);
  globfree(&all);
  return path;
}

static void *bytes_of(const char *path, size_t *size)
{
  static char all[2][20000];
  static int next;
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  next = 1 - next;
  *size = fread(all[next], 1, sizeof all[next], file);
  assert_true(*size < sizeof all[next]);
  assert_int_equal(fclose(file), 0);
  return all[next];
}

/* What is read from the folder, written as one file, is that file. */
static void check_joined(files *f, const whole *w)
{
  whole copy = *w;
  lapis_named item[ARRAYS], joined[ARRAYS];
  lapis_arrays all;
  size_t a, b;
  char one[600], two[600];
  (void)snprintf(one, sizeof one, "%s/one.npz", f->folder);
  (void)snprintf(two, sizeof two, "%s/two.npz", f->folder);
  items(&copy, 0, N, item);
  CHECK_OK(f, lapis_arrays_write(f->ctx, one, "npz", item, ARRAYS));
  CHECK_OK(f, lapis_arrays_read(f->ctx, w->folder, &all));
  assert_int_equal(all.count, ARRAYS);
  for (int i = 0; i < ARRAYS; i++) {
    joined[i] = (lapis_named){.name = all.item[i].name,
                              .mat = all.item[i].mat,
                              .axes = all.item[i].axes};
    memcpy(joined[i].shape, all.item[i].shape, sizeof joined[i].shape);
  }
  CHECK_OK(f, lapis_arrays_write(f->ctx, two, "npz", joined, ARRAYS));
  lapis_arrays_free(&all);
  void *x = bytes_of(one, &a), *y = bytes_of(two, &b);
  assert_int_equal(a, b);
  assert_memory_equal(x, y, a);
}

static void they_read_as_the_one_file(void **state)
{
  static const int64_t uneven[] = {4, 0, 6, 1};
  static const int sizes[] = {7, 1, 2, 3, 4}; /* over what was there */
  files *f = *state;
  whole w = {.count = NULL};
  fill(&w);
  for (int i = 0; i < 5; i++) {
    write_parts(f, &w, sizes[i], "kept");
    must_be_written(&w);
    check_joined(f, &w);
  }
  assert_int_equal(files_in(&w), 4 + 1); /* those of the last, its index */
  w.count = uneven;
  write_parts(f, &w, 4, "uneven");
  must_be_written(&w);
  check_joined(f, &w);
}

static void one_member_is_read_alone(void **state)
{
  files *f = *state;
  whole w = {.count = NULL};
  lapis_dataset *ds;
  char spec[700];
  fill(&w);
  write_parts(f, &w, 3, "kept");
  must_be_written(&w);
  (void)snprintf(spec, sizeof spec, "%s:low_rank", w.folder);
  CHECK_OK(f, lapis_dataset_new(f->ctx, &ds));
  CHECK_OK(f, lapis_dataset_read_member(ds, "X", spec, NULL));
  CHECK_OK(f, lapis_dataset_finish(ds));
  const lapis_mat *X = &lapis_dataset_data(ds)->X;
  assert_int_equal(X->cols, N);
  for (int k = 0; k < D * N; k++)
    CHECK_NEAR(lapis_mat_at(X, k % D, k / D), w.low[k], 0);
  lapis_dataset_free(ds);
}

static void refuse_to_read(files *f, const whole *w, const char *words)
{
  lapis_arrays all;
  lapis_status s = lapis_arrays_read(f->ctx, w->folder, &all);
  assert_true(s < 0);
  if (!check_has(lapis_ctx_error(f->ctx), words))
    fail_msg("'%s', '%s' wanted", lapis_ctx_error(f->ctx), words);
}

static void a_part_that_is_not_right_is_named(void **state)
{
  files *f = *state;
  whole w = {.count = NULL}, other = {.count = NULL};
  struct stat st;
  char from[800];
  fill(&w);
  write_parts(f, &w, 3, "kept");
  assert_int_equal(unlink(part(&w, "part-0002-of-0003")), 0);
  refuse_to_read(f, &w, "part 2 of 3 (part-0002-of-0003 is missing");

  write_parts(f, &w, 3, "kept");
  must_be_written(&w);
  const char *torn = part(&w, "part-0003-of-0003");
  assert_int_equal(stat(torn, &st), 0);
  assert_int_equal(truncate(torn, st.st_size - 100), 0);
  refuse_to_read(f, &w, "part 3 of 3 (part-0003-of-0003 is cut short");

  write_parts(f, &w, 3, "kept");
  fill(&other);
  other.low[0] += 1;
  write_parts(f, &other, 3, "other");
  must_be_written(&other);
  (void)snprintf(from, sizeof from, "%s", part(&other, "part-0001-of-0003"));
  assert_int_equal(rename(from, part(&w, "part-0001-of-0003")), 0);
  refuse_to_read(f, &w, "part 1 of 3 (part-0001-of-0003 is of another run");

  write_parts(f, &w, 2, "kept");
  must_be_written(&w);
  assert_int_equal(unlink(inside(&w, "index.json")), 0);
  refuse_to_read(f, &w, "no index.json: the run that wrote them did not end");
}

/* A folder in the place of a part: that process cannot write. */
static void who_cannot_write_ends_all(void **state)
{
  files *f = *state;
  whole w = {.count = NULL}, like = {.count = NULL};
  char second[100];
  fill(&w);
  fill(&like);
  write_parts(f, &like, 3, "like"); /* has the names */
  must_be_written(&like);
  (void)snprintf(second, sizeof second, "%s",
                 strrchr(part(&like, "part-0002-of-0003"), '/') + 1);
  write_parts(f, &w, 2, "kept");
  must_be_written(&w);
  assert_int_equal(mkdir(inside(&w, second), 0777), 0);
  write_parts(f, &w, 3, "kept");
  for (int r = 0; r < 3; r++) {
    assert_int_equal(w.status[r], LAPIS_EIO);
    if (strstr(w.said[r], "(process 2 of 3)") == NULL)
      fail_msg("rank %d: '%s'", r, w.said[r]);
  }
  check_joined(f, &w); /* what was there is there */
  assert_int_equal(files_in(&w), 2 + 1 + 1);

  whole fresh = w;
  (void)snprintf(fresh.folder, sizeof fresh.folder, "%s/fresh/", f->folder);
  assert_int_equal(mkdir(fresh.folder, 0777), 0);
  assert_int_equal(mkdir(inside(&fresh, second), 0777), 0);
  write_parts(f, &fresh, 3, "fresh");
  assert_int_equal(files_in(&fresh), 1);
}

static void other_files_are_left_alone(void **state)
{
  files *f = *state;
  whole w = {.count = NULL};
  fill(&w);
  write_parts(f, &w, 2, "kept");
  const char *stale =
      inside(&w, ".part-0001-of-0009-0123456789abcdef.npz.lapis-0.tmp");
  FILE *file = fopen(stale, "wb"); /* of a run that was killed */
  assert_non_null(file);
  assert_int_equal(fclose(file), 0);
  write_parts(f, &w, 2, "kept");
  must_be_written(&w);
  assert_int_not_equal(access(stale, F_OK), 0);

  file = fopen(inside(&w, "thesis.tex"), "wb");
  assert_non_null(file);
  assert_int_equal(fclose(file), 0);
  lapis_parts *p;
  CHECK_REFUSED(f, lapis_parts_new(f->ctx, w.folder, &p), LAPIS_EIO,
                "thesis.tex");
  write_parts(f, &w, 2, "kept");
  assert_int_equal(w.status[1], LAPIS_EIO);
  check_joined(f, &w);
  char nowhere[700];
  (void)snprintf(nowhere, sizeof nowhere, "%s/pipe", f->folder);
  assert_int_equal(mkdir(nowhere, 0777), 0);
  (void)snprintf(nowhere, sizeof nowhere, "%s/pipe/index.json", f->folder);
  assert_int_equal(mkfifo(nowhere, 0666), 0); /* nobody reads it */
  (void)snprintf(nowhere, sizeof nowhere, "%s/pipe/", f->folder);
  CHECK_REFUSED(f, lapis_parts_new(f->ctx, nowhere, &p), LAPIS_EIO,
                "index.json");
  (void)snprintf(nowhere, sizeof nowhere, "%s/none/deeper/", f->folder);
  CHECK_REFUSED(f, lapis_parts_new(f->ctx, nowhere, &p), LAPIS_EIO, "");
}

/* The folders, too. */
static int tear_down(void **state)
{
  const files *f = *state;
  char line[300];
  (void)snprintf(line, sizeof line, "rm -rf %s/*", f->folder);
  return system(line) == 0 ? files_teardown(state) : -1;
}

int test_parts(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, files_setup, tear_down)
  const struct CMUnitTest tests[] = {
      CASE(they_read_as_the_one_file),         CASE(one_member_is_read_alone),
      CASE(a_part_that_is_not_right_is_named), CASE(who_cannot_write_ends_all),
      CASE(other_files_are_left_alone),
  };
  return run_cases(tests, NULL, NULL);
}
