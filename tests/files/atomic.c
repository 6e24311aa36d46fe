/* atomic.c - a file is either the old one or the whole new one. */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include "files.h"

static void check_content(const files *f, const char *text)
{
  size_t size;
  unsigned char *got = files_get(f->path, &size);
  assert_int_equal(size, strlen(text));
  assert_memory_equal(got, text, size);
  free(got);
}

static void files_are_replaced(void **state)
{
  files *f = *state;
  files_path(f, "a.txt");
  CHECK_OK(f, lapis_file_write(f->ctx, f->path, "first", 5));
  check_content(f, "first");
  CHECK_OK(f, lapis_file_write(f->ctx, f->path, "second one", 10));
  check_content(f, "second one");
  CHECK_OK(f, lapis_file_write(f->ctx, f->path, "", 0));
  check_content(f, "");
  assert_int_equal(files_count(f, false), 1);
}

static void permissions_are_kept(void **state)
{
  files *f = *state;
  struct stat st;
  files_put_text(f, "a.txt", "old");
  assert_int_equal(chmod(f->path, 0640), 0);
  CHECK_OK(f, lapis_file_write(f->ctx, f->path, "new", 3));
  assert_int_equal(stat(f->path, &st), 0);
  assert_int_equal(st.st_mode & 07777, 0640);
}

static void a_link_to_itself_is_refused(void **state)
{
  files *f = *state;
  char other[512];
  (void)snprintf(other, sizeof other, "%s", files_path(f, "other"));
  files_path(f, "link");
  assert_int_equal(symlink("link", f->path), 0);
  CHECK_REFUSED(f, lapis_file_write(f->ctx, f->path, "new", 3), LAPIS_EIO,
                "link that leads to itself");
  assert_int_equal(unlink(f->path), 0);
  assert_int_equal(symlink(other, f->path), 0);
  assert_int_equal(symlink("link", other), 0);
  CHECK_REFUSED(f, lapis_file_write(f->ctx, other, "new", 3), LAPIS_EIO,
                "other that leads to itself");
  assert_int_equal(files_count(f, false), 2);
}

static void links_keep_pointing(void **state)
{
  files *f = *state;
  struct stat st;
  char link[512];
  (void)snprintf(link, sizeof link, "%s", files_path(f, "link"));
  files_put_text(f, "a.txt", "old");
  assert_int_equal(symlink(f->path, link), 0);
  CHECK_OK(f, lapis_file_write(f->ctx, link, "new", 3));
  assert_int_equal(lstat(link, &st), 0);
  assert_true(S_ISLNK(st.st_mode));
  check_content(f, "new");
}

/* ---- a disk that is full ------------------------------------------------*/
static void limit_file_size(rlim_t bytes_)
{
  struct rlimit limit;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
  limit.rlim_cur = bytes_ == 0 ? limit.rlim_max : bytes_;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static double large[20000]; /* 160 kB of zeros, above the limit */

static lapis_status write_kind(files *f, int kind)
{
  lapis_named item = {.name = "X", .mat = lapis_mat_f64(large, 100, 200)};
  if (kind == 0) return lapis_file_write(f->ctx, f->path, large, sizeof large);
  if (kind == 1) return lapis_arrays_write(f->ctx, f->path, "npy", &item, 1);
  return lapis_arrays_write(f->ctx, f->path, "npz", &item, 1);
}

static void full_disk_leaves_the_old_file(void **state)
{
  files *f = *state;
  (void)signal(SIGXFSZ, SIG_IGN);
  for (int kind = 0; kind < 3; kind++)
    for (int old = 0; old < 2; old++) {
      if (old) files_put_text(f, "a.out", "old");
      files_path(f, "a.out");
      limit_file_size(50000);
      lapis_status s = write_kind(f, kind);
      limit_file_size(0);
      CHECK_REFUSED(f, s, LAPIS_EIO, "a.out");
      if (old) check_content(f, "old");
      assert_int_equal(files_count(f, true), old);
    }
}

static void missing_folder_is_named(void **state)
{
  files *f = *state;
  for (int kind = 0; kind < 3; kind++) {
    files_path(f, "none/a.out");
    CHECK_REFUSED(f, write_kind(f, kind), LAPIS_EIO, "none/a.out");
  }
  (void)snprintf(f->path, sizeof f->path, "%s", f->folder);
  CHECK_REFUSED(f, write_kind(f, 2), LAPIS_EIO, "");
  f->path[0] = '\0';
  CHECK_REFUSED(f, write_kind(f, 1), LAPIS_EINVAL, "");
}

/* Root may write anywhere, and so becomes nobody for the question. */
static void unwritable_folder_is_named(void **state)
{
  enum { NOBODY = 65534 };
  files *f = *state;
  bool root = geteuid() == 0;
  assert_int_equal(chmod(f->folder, 0555), 0);
  for (int kind = 0; kind < 3; kind++) {
    files_path(f, "a.out");
    assert_int_equal(root ? seteuid(NOBODY) : 0, 0);
    lapis_status s = write_kind(f, kind);
    assert_int_equal(root ? seteuid(0) : 0, 0);
    CHECK_REFUSED(f, s, LAPIS_EIO, "");
  }
  assert_int_equal(chmod(f->folder, 0700), 0);
}

/* ---- what is no file ----------------------------------------------------*/
static void devices_are_written_directly(void **state)
{
  files *f = *state;
  struct stat st;
  (void)snprintf(f->path, sizeof f->path, "/dev/null");
  for (int kind = 0; kind < 3; kind++) CHECK_OK(f, write_kind(f, kind));
  assert_int_equal(stat("/dev/null", &st), 0);
  assert_true(S_ISCHR(st.st_mode));
  if (access("/dev/full", W_OK) != 0) return;
  (void)snprintf(f->path, sizeof f->path, "/dev/full");
  for (int kind = 0; kind < 3; kind++)
    CHECK_REFUSED(f, write_kind(f, kind), LAPIS_EIO, "");
}

/* Lets descriptor `fd` be the file for one call; returns the old one. */
static int divert(int fd, const char *path, int flags)
{
  int old = dup(fd), file = open(path, flags, 0600);
  assert_true(old >= 0 && file >= 0);
  (void)fflush(stdout);
  assert_true(dup2(file, fd) == fd);
  (void)close(file);
  return old;
}

static void restore(int fd, int old)
{
  assert_true(dup2(old, fd) == fd);
  (void)close(old);
}

static void dash_is_standard_input_and_output(void **state)
{
  files *f = *state;
  char path[512];
  lapis_arrays all;
  double value[] = {1, 2, 3};
  lapis_named item = {.name = "X", .mat = lapis_mat_f64(value, 1, 3)};
  for (int kind = 0; kind < 2; kind++) {
    (void)snprintf(path, sizeof path, "%s", files_path(f, "stream"));
    int old = divert(STDOUT_FILENO, path, O_WRONLY | O_CREAT | O_TRUNC);
    lapis_status s = kind == 0
                         ? lapis_arrays_write(f->ctx, "-", "npy", &item, 1)
                         : lapis_arrays_write(f->ctx, "-", "npz", &item, 1);
    restore(STDOUT_FILENO, old);
    CHECK_OK(f, s);
    old = divert(STDIN_FILENO, path, O_RDONLY);
    s = lapis_arrays_read(f->ctx, "-", &all);
    restore(STDIN_FILENO, old);
    CHECK_OK(f, s);
    assert_memory_equal(all.item[0].mat.val, value, sizeof value);
    lapis_arrays_free(&all);
  }
}

#define FILES_TEST(t) \
  cmocka_unit_test_setup_teardown(t, files_setup, files_teardown)

int test_atomic(void)
{
  const struct CMUnitTest tests[] = {
      FILES_TEST(files_are_replaced),
      FILES_TEST(permissions_are_kept),
      FILES_TEST(links_keep_pointing),
      FILES_TEST(a_link_to_itself_is_refused),
      FILES_TEST(full_disk_leaves_the_old_file),
      FILES_TEST(missing_folder_is_named),
      FILES_TEST(unwritable_folder_is_named),
      FILES_TEST(devices_are_written_directly),
      FILES_TEST(dash_is_standard_input_and_output),
  };
  return run_cases(tests, NULL, NULL);
}
