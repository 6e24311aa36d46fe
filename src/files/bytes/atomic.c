/* atomic.c - a file is either the old one or the whole new one.
 *
 * Bytes go to a temporary file in the target's folder, are forced to the
 * disk, and take the target's name by rename, which is atomic; then the folder
 * is forced to the disk, where the system lets us.  Links are followed, so
 * that a link keeps pointing at the file.  What is no file ("-", a pipe,
 * /dev/null) has no old content to lose and is written directly. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/io.h"

enum { TRIES = 100, SUFFIX_BYTES = 64, COPY_BYTES = 1 << 16 };

static lapis_status fail_write(const io_out *o)
{
  return io_fail_errno(o->ctx,
                       strcmp(o->path, "-") == 0 ? "standard output" : o->path,
                       "cannot be written");
}

/* The path with links followed; the path itself where nothing is there yet.
 */
static char *resolve(lapis_ctx *ctx, const char *path)
{
  char real[PATH_MAX];
  return base_strdup(ctx, realpath(path, real) == NULL ? path : real);
}

/* "folder/.NAME.PID-ADDRESS-TRY.tmp", which does not exist at this moment:
 * two writers at work have not both the same process and the same address. */
static lapis_status choose_temp(io_out *o)
{
  const char *slash = strrchr(o->target, '/');
  size_t folder = slash == NULL ? 0 : (size_t)(slash + 1 - o->target);
  size_t size = strlen(o->target) + SUFFIX_BYTES;
  o->temp = base_alloc(o->ctx, (int64_t)size, 1);
  if (o->temp == NULL) return LAPIS_ENOMEM;
  memcpy(o->temp, o->target, folder);
  for (int i = 0; i < TRIES; i++) {
    (void)snprintf(o->temp + folder, size - folder, ".%.100s.%ld-%jx-%d.tmp",
                   o->target + folder, (long)getpid(), (uintmax_t)(uintptr_t)o,
                   i);
    if (access(o->temp, F_OK) != 0) return LAPIS_OK;
  }
  errno = EEXIST;
  return fail_write(o);
}

static lapis_status check_target(const io_out *o, bool *direct)
{
  struct stat st;
  *direct = strcmp(o->path, "-") == 0;
  if (*o->path == '\0')
    return lapis_fail(o->ctx, LAPIS_EINVAL, "a file name is empty");
  if (*direct || stat(o->path, &st) != 0) return LAPIS_OK;
  if (S_ISDIR(st.st_mode))
    return lapis_fail(o->ctx, LAPIS_EIO, "%s: is a folder; name a file in it",
                      o->path);
  *direct = !S_ISREG(st.st_mode);
  return LAPIS_OK;
}

static void release(io_out *o)
{
  base_free(o->target);
  base_free(o->temp);
  o->target = o->temp = NULL;
}

/* A folder for what goes to no file: npz needs a file to seek in. */
static lapis_status scratch_target(io_out *o)
{
  const char *folder = getenv("TMPDIR");
  if (folder == NULL || *folder == '\0') folder = "/tmp";
  size_t size = strlen(folder) + SUFFIX_BYTES;
  o->target = base_alloc(o->ctx, (int64_t)size, 1);
  if (o->target == NULL) return LAPIS_ENOMEM;
  (void)snprintf(o->target, size, "%s/lapis", folder);
  return LAPIS_OK;
}

lapis_status io_out_begin(lapis_ctx *ctx, const char *path, io_out *out)
{
  *out = (io_out){.ctx = ctx, .path = path, .fd = -1};
  TRY(check_target(out, &out->direct));
  lapis_status status = LAPIS_OK;
  if (out->direct)
    status = scratch_target(out);
  else if ((out->target = resolve(ctx, path)) == NULL)
    status = LAPIS_ENOMEM;
  if (status == LAPIS_OK) status = choose_temp(out);
  if (status < 0) release(out);
  return status;
}

lapis_status io_out_open(io_out *o)
{
  o->fd = open(o->temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  return o->fd < 0 ? fail_write(o) : LAPIS_OK;
}

static bool write_all(int fd, const char *bytes, int64_t size)
{
  while (size > 0) {
    size_t want = (size_t)(size < (1 << 30) ? size : 1 << 30);
    ssize_t done = write(fd, bytes, want);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return false;
    bytes += done;
    size -= done;
  }
  return true;
}

lapis_status io_out_write(io_out *o, const void *bytes, int64_t size)
{
  return write_all(o->fd, bytes, size) ? LAPIS_OK : fail_write(o);
}

/* A rename is on the disk when its folder is; a system that cannot promise
 * that is no reason to fail. */
static void sync_folder(const char *target)
{
  char folder[4096] = ".";
  const char *slash = strrchr(target, '/');
  if (slash != NULL && (size_t)(slash - target) < sizeof folder - 1) {
    memcpy(folder, target, (size_t)(slash - target) + 1);
    folder[slash - target + 1] = '\0';
  }
  int fd = open(folder, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  (void)fsync(fd);
  (void)close(fd);
}

/* The new file is as readable as the old one was. */
static void keep_mode(const io_out *o, int fd)
{
  struct stat st;
  if (stat(o->target, &st) == 0) (void)fchmod(fd, st.st_mode & 07777);
}

static lapis_status commit(io_out *o)
{
  keep_mode(o, o->fd);
  bool synced = fsync(o->fd) == 0;
  bool closed = close(o->fd) == 0;
  o->fd = -1;
  if (!synced || !closed || rename(o->temp, o->target) != 0)
    return fail_write(o);
  sync_folder(o->target);
  return LAPIS_OK;
}

/* Copies the temporary file to what is no file. */
static lapis_status deliver(io_out *o)
{
  char block[COPY_BYTES];
  bool output = strcmp(o->path, "-") == 0;
  int to = output ? STDOUT_FILENO : open(o->path, O_WRONLY | O_CLOEXEC);
  bool fine = to >= 0 && lseek(o->fd, 0, SEEK_SET) == 0;
  ssize_t got = 0;
  while (fine && (got = read(o->fd, block, sizeof block)) > 0)
    fine = write_all(to, block, got);
  lapis_status status = fine && got == 0 ? LAPIS_OK : fail_write(o);
  if (!output && to >= 0) (void)close(to);
  return status;
}

/* The file exists already where libzip wrote it. */
static lapis_status reopen(io_out *o)
{
  if (o->fd < 0) o->fd = open(o->temp, O_RDWR | O_CLOEXEC);
  return o->fd < 0 ? fail_write(o) : LAPIS_OK;
}

lapis_status io_out_end(io_out *o, lapis_status status)
{
  if (status == LAPIS_OK) status = reopen(o);
  if (status == LAPIS_OK) status = o->direct ? deliver(o) : commit(o);
  if (o->fd >= 0) (void)close(o->fd);
  if (status < 0 || o->direct) (void)unlink(o->temp);
  release(o);
  return status;
}

lapis_status lapis_file_write(lapis_ctx *ctx, const char *path,
                              const void *bytes, size_t size)
{
  NEEDS(ctx, path);
  io_out o;
  TRY(io_out_begin(ctx, path, &o));
  lapis_status status = io_out_open(&o);
  if (status == LAPIS_OK) status = io_out_write(&o, bytes, (int64_t)size);
  return io_out_end(&o, status);
}

/* Names begin with a point and have our number, as choose_temp makes them, and
 * may go on as libzip likes. */
static void abandon_in(const char *folder, const char *name)
{
  char start[NAME_MAX + SUFFIX_BYTES], ours[SUFFIX_BYTES];
  DIR *d = opendir(folder);
  if (d == NULL) return;
  (void)snprintf(start, sizeof start, ".%.100s", name);
  (void)snprintf(ours, sizeof ours, ".%ld-", (long)getpid());
  for (struct dirent *e; (e = readdir(d)) != NULL;) {
    const char *end = e->d_name + strlen(start);
    bool begins = strncmp(e->d_name, start, strlen(start)) == 0;
    if (begins && strstr(end, ours) != NULL)
      (void)unlinkat(dirfd(d), e->d_name, 0);
  }
  (void)closedir(d);
}

void lapis_file_abandon(const char *path)
{
  if (path == NULL) return;
  char folder[PATH_MAX], real[PATH_MAX];
  const char *scratch = getenv("TMPDIR");
  const char *target = realpath(path, real) == NULL ? path : real;
  const char *slash = strrchr(target, '/');
  const char *name = slash == NULL ? target : slash + 1;
  if (scratch == NULL || *scratch == '\0') scratch = "/tmp";
  (void)snprintf(folder, sizeof folder, "%.*s", (int)(name - target), target);
  if (slash == NULL) strcpy(folder, ".");
  abandon_in(folder, name);
  abandon_in(target, ""); /* a folder of parts */
  abandon_in(scratch, "lapis");
}
