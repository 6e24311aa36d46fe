/* foreign.c - a file is read, and no other that it names: bait lies where it
 * points, and nobody touches it. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <time.h>

#include "files.h"
#include "files/io.h"
#include "lapis/images.h"
#include "remarks.h"

typedef struct bait {
  files *f;
  int watch, here; /* what happened to it; the folder of before */
} bait;

/* bait.h5 in the folder, which becomes the current one: a file, or a pipe that
 * nobody writes to. */
static bait lay(files *f, bool pipe)
{
  bait b = {.f = f,
            .watch = inotify_init1(IN_NONBLOCK),
            .here = open(".", O_RDONLY | O_DIRECTORY)};
  assert_true(b.watch >= 0 && b.here >= 0);
  if (pipe) {
    assert_int_equal(mkfifo(files_path(f, "bait.h5"), 0600), 0);
  } else {
    char path[1200];
    size_t size;
    snprintf(path, sizeof path, "%s/hdf5_names/bait.h5", check_fixtures());
    unsigned char *raw = files_get(path, &size);
    files_put(f, "bait.h5", raw, size);
    free(raw);
  }
  assert_true(inotify_add_watch(b.watch, f->path, IN_OPEN | IN_ACCESS) >= 0);
  assert_int_equal(chdir(f->folder), 0);
  return b;
}

static void take_in(bait *b, const char *of)
{
  char event[4096];
  ssize_t got = read(b->watch, event, sizeof event);
  if (got > 0) fail_msg("%s: bait.h5 was opened", of);
  assert_int_equal(fchdir(b->here), 0);
  (void)close(b->here);
  (void)close(b->watch);
  (void)unlink(files_path(b->f, "bait.h5"));
}

static void copy_fixture(files *f, const char *name)
{
  char path[1200];
  size_t size;
  snprintf(path, sizeof path, "%s/hdf5_names/%s", check_fixtures(), name);
  unsigned char *raw = files_get(path, &size);
  files_put(f, name, raw, size);
  free(raw);
}

static bool has_hdf5(void)
{
  for (int i = 0; lapis_format_at(i) != NULL; i++)
    if (strcmp(lapis_format_at(i)->name, "h5") == 0)
      return lapis_format_at(i)->built;
  return false;
}

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Raw values elsewhere, links into other files (also on the way of a link
 * within), virtual data sets, a filter that is a library, a list of a sparse
 * matrix, and MATLAB's. */
static void what_hdf5_names_is_not_opened(void **state)
{
  static const struct {
    const char *file, *member, *words;
  } tried[] = {{"raw.h5", "X", "keeps its values in the file bait.h5"},
               {"matlab.h5", "X", "keeps its values in the file bait.h5"},
               {"link.h5", "X", "is a link into the file bait.h5"},
               {"soft.h5", "X", "is a link into the file bait.h5"},
               {"virtual.h5", "X", "takes its values from the file bait.h5"},
               {"virtual_many.h5", "X", "is virtual"},
               {"sparse.h5", "indices", "keeps its values in the file bait.h5"},
               {"filter.h5", "X", "filter 32015 (zstd)"}};
  files *f = *state;
  if (!has_hdf5()) skip();
  for (int pipe = 0; pipe < 2; pipe++)
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
      char member[64];
      lapis_arrays all;
      copy_fixture(f, tried[i].file);
      bait b = lay(f, pipe == 1);
      double begun = now();
      lapis_status s = lapis_arrays_read(f->ctx, tried[i].file, &all);
      CHECK_AT_MOST(now() - begun, 5);
      take_in(&b, tried[i].file);
      const char *said = lapis_ctx_error(f->ctx);
      snprintf(member, sizeof member, "member %s", tried[i].member);
      if (s != LAPIS_EFORMAT || strstr(said, tried[i].words) == NULL ||
          strstr(said, member) == NULL)
        fail_msg("%s: %d, %s", tried[i].file, (int)s, said);
    }
}

/* A link that is not asked for does no harm. */
static void what_is_not_asked_for_may_lie_elsewhere(void **state)
{
  files *f = *state;
  lapis_dataset *ds;
  if (!has_hdf5()) skip();
  copy_fixture(f, "beside.h5");
  bait b = lay(f, true);
  CHECK_OK(f, lapis_dataset_new(f->ctx, &ds));
  CHECK_OK(f, lapis_dataset_read(ds, "beside.h5", NULL));
  CHECK_OK(f, lapis_dataset_finish(ds));
  assert_int_equal(lapis_dataset_data(ds)->X.cols, 4);
  CHECK_NEAR(lapis_mat_at(&lapis_dataset_data(ds)->X, 1, 3), 8, 0);
  lapis_dataset_free(ds);
  take_in(&b, "beside.h5");
}

/* A folder in parts that holds a pipe instead of a file: nobody waits. */
static void pipes_within_folders_are_not_waited_for(void **state)
{
  static const char *const names[] = {"index.json", "part-*"};
  files *f = *state;
  lapis_parts *p;
  glob_t all_of;
  double X[2] = {1, 2};
  lapis_named item = {.name = "X", .mat = lapis_mat_f64(X, 1, 2)};
  lapis_arrays all;
  char folder[300], path[400];
  snprintf(folder, sizeof folder, "%s/parts", f->folder);
  for (int i = 0; i < 2; i++) {
    CHECK_OK(f, lapis_parts_new(f->ctx, folder, &p));
    CHECK_OK(f, lapis_parts_write(p, &item, NULL, 1));
    lapis_parts_free(p);
    CHECK_OK(f, lapis_arrays_read(f->ctx, folder, &all));
    lapis_arrays_free(&all);
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    assert_int_equal(glob(path, 0, NULL, &all_of), 0);
    assert_int_equal(all_of.gl_pathc, 1);
    snprintf(path, sizeof path, "%s", all_of.gl_pathv[0]);
    globfree(&all_of);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_true(lapis_arrays_read(f->ctx, folder, &all) < 0);
    assert_int_equal(unlink(path), 0);
  }
  snprintf(path, sizeof path, "rm -r %s", folder);
  assert_int_equal(system(path), 0);
}

/* ---- the list of SECURITY.md ----------------------------------------------*/
static const char *table_of_readers(void)
{
  static char text[1 << 16];
  FILE *in = fopen(LAPIS_TREE "/SECURITY.md", "r");
  assert_non_null(in);
  text[fread(text, 1, sizeof text - 1, in)] = '\0';
  (void)fclose(in);
  const char *table = strstr(text, "| what is read |");
  assert_non_null(table);
  return table;
}

static void check_listed(const char *name)
{
  char cell[64];
  snprintf(cell, sizeof cell, "`%s`", name);
  if (strstr(table_of_readers(), cell) == NULL)
    fail_msg("SECURITY.md does not say what a file of %s may open", name);
}

static void every_reader_is_listed(void **state)
{
  for (int i = 0; lapis_format_at(i) != NULL; i++)
    check_listed(lapis_format_at(i)->name);
  for (int i = 0; lapis_image_format_at(i) != NULL; i++)
    check_listed(lapis_image_format_at(i)->name);
}

/* Names of samples, features and classes that are paths of the bait. */
static void no_format_opens_what_it_names(void **state)
{
  files *f = *state;
  double X[] = {1, 2, 3, 4}, Y[] = {0, 1};
  const char *names[] = {"bait.h5", "file:bait.h5"};
  lapis_named item[] = {
      {.name = "X", .mat = lapis_mat_f64(X, 2, 2)},
      {.name = "Y", .mat = lapis_mat_f64(Y, 1, 2), .flat = true},
      {.name = "names", .mat = lapis_mat_text(names, 1, 2), .flat = true},
      {.name = "feature_names",
       .mat = lapis_mat_text(names, 1, 2),
       .flat = true},
      {.name = "class_names",
       .mat = lapis_mat_text(names, 1, 2),
       .flat = true}};
  static const char arff[] = "@relation 'bait.h5: -C 1'\n"
                             "@attribute 'bait.h5' {'bait.h5','file:bait.h5'}\n"
                             "@attribute b numeric\n@data\n'bait.h5',1\n";
  for (int i = 0; lapis_format_at(i) != NULL; i++) {
    const lapis_format *k = lapis_format_at(i);
    lapis_arrays all;
    lapis_dataset *ds;
    if (!k->built || strcmp(k->name, "parts") == 0) continue;
    bait b = lay(f, true);
    if (strcmp(k->name, "arff") == 0)
      files_put_text(f, "a", arff);
    else
      CHECK_OK(f, lapis_arrays_write(f->ctx, "a", k->name, item, 5));
    if (lapis_arrays_read(f->ctx, "a", &all) == LAPIS_OK)
      lapis_arrays_free(&all);
    CHECK_OK(f, lapis_dataset_new(f->ctx, &ds));
    (void)lapis_dataset_read(ds, "a", NULL);
    lapis_dataset_free(ds);
    take_in(&b, k->name);
  }
}

/* ---- a reader in a process of its own -------------------------------------*/
static lapis_status read_by(files *f, io_reader read)
{
  lapis_arrays all = {.count = 0};
  io_request request = {.want = NULL};
  io_file file = {.path = "it", .format = IO_HDF5};
  return io_read_apart(f->ctx, &file, 100, &request, read, &all);
}

static lapis_status wait_for_ever(lapis_ctx *ctx, io_file *file,
                                  const io_request *request, lapis_arrays *out)
{
  while (!request->any_place) (void)pause(); /* which it never is */
  return LAPIS_OK;
}

static lapis_status open_another(lapis_ctx *ctx, io_file *file,
                                 const io_request *request, lapis_arrays *out)
{
  io_open_no_more();
  bool opened = open("/dev/null", O_RDONLY) >= 0 || errno != EMFILE;
  return lapis_fail(ctx, LAPIS_EDATA, opened ? "opened" : "shut");
}

static lapis_status take_memory(lapis_ctx *ctx, io_file *file,
                                const io_request *request, lapis_arrays *out)
{
  int64_t taken = 0;
  enum { STEP = 1 << 22 };
  for (char *p; taken < (int64_t)4 << 30; taken += STEP) {
    if ((p = malloc(STEP)) == NULL) break;
    memset(p, 1, STEP);
  }
  return lapis_fail(ctx, LAPIS_EDATA, "%d MB", (int)(taken >> 20));
}

#ifdef __SANITIZE_ADDRESS__ /* its allocator ends the process */
enum { SANITIZED = true };
#else
enum { SANITIZED = false };
#endif

static void on_signal(int number)
{
}

static lapis_status look_at_handlers(lapis_ctx *ctx, io_file *file,
                                     const io_request *request,
                                     lapis_arrays *out)
{
  struct sigaction act;
  sigset_t blocked;
  bool kept = sigaction(SIGUSR1, NULL, &act) != 0 || act.sa_handler != SIG_DFL;
  bool held = sigprocmask(SIG_BLOCK, NULL, &blocked) != 0 ||
              sigismember(&blocked, SIGUSR2) != 0;
  return lapis_fail(ctx, LAPIS_EDATA, kept ? "kept" : held ? "held" : "gone");
}

static void a_reader_apart_is_shut_in(void **state)
{
  files *f = *state;
  assert_int_equal(read_by(f, open_another), LAPIS_EDATA);
  assert_string_equal(lapis_ctx_error(f->ctx), "shut");
  if (!SANITIZED) {
    assert_int_equal(read_by(f, take_memory), LAPIS_EDATA);
    CHECK_AT_MOST(atof(lapis_ctx_error(f->ctx)), 256);
  }
  sigset_t two;
  (void)sigemptyset(&two);
  (void)sigaddset(&two, SIGUSR2);
  (void)signal(SIGUSR1, on_signal);
  (void)sigprocmask(SIG_BLOCK, &two, NULL);
  assert_int_equal(read_by(f, look_at_handlers), LAPIS_EDATA);
  (void)sigprocmask(SIG_UNBLOCK, &two, NULL);
  (void)signal(SIGUSR1, SIG_DFL);
  assert_string_equal(lapis_ctx_error(f->ctx), "gone");
}

static void a_reader_that_waits_is_ended(void **state)
{
  files *f = *state;
  double begun = now();
  assert_int_equal(read_by(f, wait_for_ever), LAPIS_EFORMAT);
  CHECK_AT_MOST(now() - begun, 15);
  assert_non_null(strstr(lapis_ctx_error(f->ctx), LONGER_TO_READ));
}

static int says_who; /* a pipe: the reader's number */

static lapis_status say_and_wait(lapis_ctx *ctx, io_file *file,
                                 const io_request *request, lapis_arrays *out)
{
  pid_t me = getpid();
  if (write(says_who, &me, sizeof me) != sizeof me) return LAPIS_EIO;
  return wait_for_ever(ctx, file, request, out);
}

/* Gone, or dead and not yet buried. */
static bool is_dead(pid_t who)
{
  char path[64], state = 'Z';
  snprintf(path, sizeof path, "/proc/%d/stat", (int)who);
  FILE *in = fopen(path, "r");
  if (in == NULL) return true;
  if (fscanf(in, "%*d (%*[^)]) %c", &state) != 1) state = 'Z';
  (void)fclose(in);
  return state == 'Z' || state == 'X';
}

static void a_reader_ends_with_who_asked(void **state)
{
  files *f = *state;
  int ends[2];
  pid_t reader = 0;
  const struct timespec moment = {.tv_nsec = 10000000};
  assert_int_equal(pipe(ends), 0);
  says_who = ends[1];
  pid_t asker = fork();
  if (asker == 0) {
    (void)read_by(f, say_and_wait);
    _exit(0);
  }
  assert_int_equal(read(ends[0], &reader, sizeof reader), sizeof reader);
  assert_false(is_dead(reader));
  assert_int_equal(kill(asker, SIGKILL), 0);
  assert_int_equal(waitpid(asker, NULL, 0), asker);
  for (int k = 0; k < 200 && !is_dead(reader); k++)
    (void)nanosleep(&moment, NULL);
  assert_true(is_dead(reader));
  (void)close(ends[0]);
  (void)close(ends[1]);
}

#define FILES_TEST(t) \
  cmocka_unit_test_setup_teardown(t, files_setup, files_teardown)

int test_foreign(void)
{
  const struct CMUnitTest tests[] = {
      FILES_TEST(what_hdf5_names_is_not_opened),
      FILES_TEST(what_is_not_asked_for_may_lie_elsewhere),
      FILES_TEST(pipes_within_folders_are_not_waited_for),
      cmocka_unit_test(every_reader_is_listed),
      FILES_TEST(no_format_opens_what_it_names),
      FILES_TEST(a_reader_apart_is_shut_in),
      FILES_TEST(a_reader_ends_with_who_asked),
      LONG(FILES_TEST(a_reader_that_waits_is_ended)),
  };
  return run_cases(tests, NULL, NULL);
}
