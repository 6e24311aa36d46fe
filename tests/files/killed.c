/* killed.c - a writer that is killed, at every system call: what is there is
 * the old result or the new one, whole; nobody may read it, at any moment, who
 * may not in the end; and the next writer leaves nothing else behind.  Then
 * writers at once, and what others left in the way. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "files.h"

enum { N = 40, REFUSED = 3, FAILED = 1 };

/* ---- what is written: N samples of one number ---------------------------*/
static bool is_folder(const char *path)
{
  return path[strlen(path) - 1] == '/';
}

static lapis_status put(lapis_ctx *ctx, const char *path, double value)
{
  double X[N];
  for (int k = 0; k < N; k++) X[k] = value;
  lapis_named item = {.name = "X", .mat = lapis_mat_f64(X, 1, N)};
  lapis_parts *p;
  if (!is_folder(path)) return lapis_arrays_write(ctx, path, NULL, &item, 1);
  lapis_status s = lapis_parts_new(ctx, path, &p);
  if (s < 0) return s;
  s = lapis_parts_write(p, &item, NULL, 1);
  lapis_parts_free(p);
  return s;
}

/* 0: there is none. */
static double found(const files *f, const char *path)
{
  char index[700];
  lapis_arrays all;
  (void)snprintf(index, sizeof index, "%s%s", path,
                 is_folder(path) ? "index.json" : "");
  if (access(index, F_OK) != 0) return 0;
  CHECK_OK(f, lapis_arrays_read(f->ctx, path, &all));
  const lapis_mat *X = &all.item[0].mat;
  assert_int_equal(X->cols * X->rows, N);
  double value = lapis_mat_at(X, 0, 0);
  for (int k = 0; k < N; k++)
    CHECK_NEAR(lapis_mat_at(X, X->rows == 1 ? 0 : k, X->rows == 1 ? k : 0),
               value, 0);
  lapis_arrays_free(&all);
  return value;
}

/* Files of the folder and of its folders; one that has bytes and more than the
 * mode ends the test; change: each gets the mode. */
static int walk(const char *folder, mode_t mode, bool change)
{
  int count = 0;
  DIR *d = opendir(folder);
  assert_non_null(d);
  for (struct dirent *e; (e = readdir(d)) != NULL;) {
    char path[900];
    struct stat st;
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    (void)snprintf(path, sizeof path, "%.500s/%.255s", folder, e->d_name);
    assert_int_equal(lstat(path, &st), 0);
    if (S_ISDIR(st.st_mode)) {
      count += walk(path, mode, change);
      continue;
    }
    if (change) assert_int_equal(chmod(path, mode), 0);
    if (!change && st.st_size > 0 && (st.st_mode & 0777 & ~mode) != 0)
      fail_msg("%s has mode %o", path, (unsigned)st.st_mode & 0777);
    count++;
  }
  (void)closedir(d);
  return count;
}

static void clear(const files *f)
{
  char line[600];
  (void)snprintf(line, sizeof line, "rm -rf %s/* %s/.[!.]*", f->folder,
                 f->folder);
  assert_int_equal(system(line), 0);
}

/* ---- one that is killed -------------------------------------------------*/
/* Before its call-th system call; false: it ended before.  -1: no process may
 * be watched here. */
static int write_and_die(const files *f, const char *path, int call)
{
  int how = 0;
  (void)fflush(NULL);
  pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) _exit(REFUSED);
    (void)raise(SIGSTOP);
    _exit(put(f->ctx, path, 2) == LAPIS_OK ? 0 : FAILED);
  }
  assert_int_equal(waitpid(pid, &how, 0), pid);
  for (int stop = 0; WIFSTOPPED(how) && stop < 2 * call; stop++) {
    assert_int_equal(ptrace(PTRACE_SYSCALL, pid, NULL, NULL), 0);
    assert_int_equal(waitpid(pid, &how, 0), pid);
  }
  if (WIFSTOPPED(how)) {
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, &how, 0), pid);
    return 1;
  }
  assert_true(WIFEXITED(how));
  if (WEXITSTATUS(how) == REFUSED) return -1;
  assert_int_equal(WEXITSTATUS(how), 0);
  return 0;
}

/* old: a result that its owner alone may read.  At every step-th call. */
static void kill_everywhere(files *f, const char *name, bool old, int step)
{
  mode_t mode = old ? 0600 : 0640; /* of the umask below */
  int more = 1, calls = 0;
  char path[600];
  (void)snprintf(path, sizeof path, "%s/%s", f->folder, name);
  for (int call = 1; more == 1; call += step) {
    clear(f);
    if (old) {
      CHECK_OK(f, put(f->ctx, path, 1));
      (void)walk(f->folder, mode, true);
    }
    more = write_and_die(f, path, call);
    if (more < 0) break;
    double value = found(f, path);
    (void)walk(f->folder, mode, false);
    if (value != 2 && (more == 0 || value != old))
      fail_msg("%s, killed at call %d: %g is there", name, call, value);
    CHECK_OK(f, put(f->ctx, path, 3));
    CHECK_NEAR(found(f, path), 3, 0);
    if (walk(f->folder, mode, false) != (is_folder(path) ? 2 : 1))
      fail_msg("%s, killed at call %d: a file is left over", name, call);
    calls = call;
  }
  clear(f);
  if (more < 0) skip();
  assert_true(calls > 20);
}

static void kill_all(files *f, int step)
{
  static const char *const names[] = {"a.npz", "out/", "a.npy", "a.mat"};
  mode_t before = umask(027);
  for (int k = 0; k < 4; k++)
    for (int old = 0; old < 2; old++) kill_everywhere(f, names[k], old, step);
  (void)umask(before);
}

static void the_old_or_the_new_is_there(void **state)
{
  kill_all(*state, 9);
}

static void at_every_call(void **state)
{
  kill_all(*state, 1);
}

/* ---- several at once ----------------------------------------------------*/
/* Whoever reads meanwhile finds one result or another, and never none. */
static void writers_at_once_are_one_after_another(void **state)
{
  enum { WRITERS = 24 };
  files *f = *state;
  pid_t pid[WRITERS];
  int done = 0;
  double before = 0;
  char path[600];
  (void)snprintf(path, sizeof path, "%s/out/", f->folder);
  (void)fflush(NULL);
  for (int k = 0; k < WRITERS; k++) {
    pid[k] = fork();
    assert_true(pid[k] >= 0);
    if (pid[k] != 0) continue;
    lapis_status s = put(f->ctx, path, k + 1);
    bool busy = strstr(lapis_ctx_error(f->ctx), "another run") != NULL;
    if (s != LAPIS_OK && !busy)
      print_message("writer %d: %s\n", k, lapis_ctx_error(f->ctx));
    (void)fflush(stdout);
    _exit(s == LAPIS_OK ? 0 : s == LAPIS_EIO && busy ? REFUSED : FAILED);
  }
  for (int k = 0; k < WRITERS; k++) {
    int how = 0;
    while (waitpid(pid[k], &how, WNOHANG) == 0) {
      double value = found(f, path);
      assert_true(value >= before);
      if (value > 0) before = 1;
    }
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) != FAILED);
    done += WEXITSTATUS(how) == 0;
  }
  assert_true(done > 0);
  assert_true(found(f, path) >= 1);
  assert_int_equal(walk(f->folder, 0777, false), 2);
  clear(f);
}

/* From the moment that the work begins. */
static void a_second_writer_is_told_before_its_work(void **state)
{
  files *f = *state;
  lapis_parts *first, *second;
  char path[600];
  (void)snprintf(path, sizeof path, "%s/out/", f->folder);
  CHECK_OK(f, put(f->ctx, path, 1));
  CHECK_OK(f, lapis_parts_new(f->ctx, path, &first));
  CHECK_REFUSED(f, lapis_parts_new(f->ctx, path, &second), LAPIS_EIO,
                "another run");
  assert_null(second);
  CHECK_NEAR(found(f, path), 1, 0);
  lapis_parts_free(first);
  CHECK_OK(f, put(f->ctx, path, 2));
  CHECK_NEAR(found(f, path), 2, 0);
  (void)snprintf(path, sizeof path, "%s/new/", f->folder);
  CHECK_OK(f, lapis_parts_new(f->ctx, path, &first));
  assert_int_equal(access(path, F_OK), 0);
  lapis_parts_free(first); /* nothing was written */
  assert_int_not_equal(access(path, F_OK), 0);
  clear(f);
}

/* ---- what is in the way -------------------------------------------------*/
static int hold(const char *path)
{
  int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  assert_true(fd >= 0);
  assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
  return fd;
}

static void only_dead_ones_are_removed(void **state)
{
  files *f = *state;
  char path[600], temp[600];
  (void)snprintf(path, sizeof path, "%s/a.npz", f->folder);
  files_put_text(f, "victim", "kept");
  assert_int_equal(symlink(f->path, files_path(f, ".a.npz.lapis-0.tmp")), 0);
  assert_int_equal(mkfifo(files_path(f, ".a.npz.lapis-1.tmp"), 0600), 0);
  assert_int_equal(mkdir(files_path(f, ".a.npz.lapis-2.tmp"), 0700), 0);
  files_put_text(f, ".a.npz.lapis-3.tmp", "dead");
  files_put_text(f, ".a.npz.lapis-9.tmp", "dead");
  (void)snprintf(temp, sizeof temp, "%s/.a.npz.lapis-4.tmp", f->folder);
  int alive = hold(temp);
  CHECK_OK(f, put(f->ctx, path, 1));
  CHECK_NEAR(found(f, path), 1, 0);
  assert_int_equal(access(temp, F_OK), 0);
  assert_int_equal(close(alive), 0);
  CHECK_OK(f, put(f->ctx, path, 2));
  assert_int_equal(walk(f->folder, 0777, false), 4); /* a, victim, link, pipe */
  size_t size;
  unsigned char *text = files_get(files_path(f, "victim"), &size);
  assert_memory_equal(text, "kept", 4);
  free(text);
  clear(f);
}

/* A folder that nobody can know to be free is named, and so is the file. */
static void what_is_no_lock_is_named(void **state)
{
  files *f = *state;
  lapis_parts *p;
  char path[600];
  (void)snprintf(path, sizeof path, "%s/out/", f->folder);
  CHECK_OK(f, put(f->ctx, path, 1));
  assert_int_equal(mkfifo(files_path(f, "out/.index.json.lapis-0.tmp"), 0600),
                   0);
  CHECK_REFUSED(f, lapis_parts_new(f->ctx, path, &p), LAPIS_EIO,
                ".index.json.lapis-0.tmp");
  CHECK_NEAR(found(f, path), 1, 0);
  clear(f);
}

static void links_to_nothing_are_followed(void **state)
{
  files *f = *state;
  struct stat st;
  char link[600];
  (void)snprintf(link, sizeof link, "%s/link.npz", f->folder);
  assert_int_equal(symlink("far.npz", link), 0);
  CHECK_OK(f, put(f->ctx, link, 1));
  assert_int_equal(lstat(link, &st), 0);
  assert_true(S_ISLNK(st.st_mode));
  CHECK_NEAR(found(f, files_path(f, "far.npz")), 1, 0);
  (void)snprintf(link, sizeof link, "%s/out", f->folder);
  assert_int_equal(symlink("nowhere", link), 0);
  strcat(link, "/");
  CHECK_REFUSED(f, put(f->ctx, link, 1), LAPIS_EIO, "out/");
  assert_int_equal(mkdir(files_path(f, "nowhere"), 0700), 0);
  CHECK_OK(f, put(f->ctx, link, 1));
  CHECK_NEAR(found(f, link), 1, 0);
  clear(f);
}

/* What we have begun goes; what another has begun and we have only looked at
 * stays. */
static void only_our_own_is_abandoned(void **state)
{
  files *f = *state;
  lapis_parts *p;
  int ends[2], how;
  char path[600], temp[600];
  (void)snprintf(path, sizeof path, "%s/out/", f->folder);
  (void)snprintf(temp, sizeof temp, "%s/.a.npz.lapis-0.tmp", f->folder);
  assert_int_equal(pipe(ends), 0);
  pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    (void)hold(temp);
    _exit(write(ends[1], "x", 1) == 1 && pause() != 0);
  }
  assert_int_equal(read(ends[0], &how, 1), 1);
  int seen = open(temp, O_RDWR | O_CLOEXEC);
  CHECK_OK(f, lapis_parts_new(f->ctx, path, &p));
  assert_int_equal(walk(f->folder, 0777, false), 2);
  lapis_file_abandon();
  assert_int_equal(walk(f->folder, 0777, false), 1);
  assert_int_equal(access(temp, F_OK), 0);
  (void)close(seen);
  lapis_parts_free(p);
  assert_int_equal(kill(pid, SIGKILL), 0);
  assert_int_equal(waitpid(pid, &how, 0), pid);
  (void)close(ends[0]);
  (void)close(ends[1]);
  clear(f);
}

#define FILES_TEST(t) \
  cmocka_unit_test_setup_teardown(t, files_setup, files_teardown)

int test_killed(void)
{
  const struct CMUnitTest tests[] = {
      FILES_TEST(the_old_or_the_new_is_there),
      LONG(FILES_TEST(at_every_call)),
      FILES_TEST(writers_at_once_are_one_after_another),
      FILES_TEST(a_second_writer_is_told_before_its_work),
      FILES_TEST(only_dead_ones_are_removed),
      FILES_TEST(what_is_no_lock_is_named),
      FILES_TEST(links_to_nothing_are_followed),
      FILES_TEST(only_our_own_is_abandoned),
  };
  return run_cases(tests, NULL, NULL);
}
