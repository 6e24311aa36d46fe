/* atomic.c - a file is either the old one or the whole new one.
 *
 * Bytes go to a temporary file in the target's folder, are forced to the
 * disk, and take the target's name by rename, which is atomic; then the folder
 * is forced to the disk, where the system lets us.  Nobody may read the new
 * file, at any moment, who may not read the old one.  Links are followed, so
 * that a link keeps pointing at the file.  What is no file ("-", a pipe,
 * /dev/null) has no old content to lose and is written directly. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/io.h"

enum { LINKS = 16, COPY_BYTES = 1 << 16 };

static lapis_status fail_write(const io_out *o)
{
  return io_fail_errno(o->ctx,
                       strcmp(o->path, "-") == 0 ? "standard output" : o->path,
                       "cannot be written");
}

/* ---- where --------------------------------------------------------------*/
/* The path with its links followed, up to what is not there yet. */
static char *resolve(lapis_ctx *ctx, const char *path)
{
  char at[PATH_MAX], to[PATH_MAX], next[PATH_MAX];
  (void)snprintf(at, sizeof at, "%s", path);
  for (int k = 0; k < LINKS && realpath(at, next) == NULL; k++) {
    ssize_t size = readlink(at, to, sizeof to - 1);
    if (size < 0) return base_strdup(ctx, k == 0 ? path : at);
    to[size] = '\0';
    const char *slash = *to == '/' ? NULL : strrchr(at, '/');
    int folder = slash == NULL ? 0 : (int)(slash + 1 - at);
    if (folder + size >= (ssize_t)sizeof next) break;
    memmove(at + folder, to, (size_t)size + 1);
  }
  return base_strdup(ctx, realpath(at, next) == NULL ? path : next);
}

static lapis_status check_target(const io_out *o, bool *direct)
{
  struct stat st;
  *direct = strcmp(o->path, "-") == 0;
  if (*o->path == '\0')
    return lapis_fail(o->ctx, LAPIS_EINVAL, "a file name is empty");
  if (*direct) return LAPIS_OK;
  if (stat(o->path, &st) != 0)
    return errno != ELOOP ? LAPIS_OK
                          : lapis_fail(o->ctx, LAPIS_EIO,
                                       "%s: is a link that leads to itself; "
                                       "remove it, or name another file",
                                       o->path);
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

/* For what goes to no file: npz needs a file to seek in. */
static char *scratch_target(lapis_ctx *ctx)
{
  char path[PATH_MAX];
  const char *folder = getenv("TMPDIR");
  if (folder == NULL || *folder == '\0') folder = "/tmp";
  (void)snprintf(path, sizeof path, "%s/lapis", folder);
  return base_strdup(ctx, path);
}

/* ---- who may read it ----------------------------------------------------*/
/* Those who might read the old file: where the group cannot be kept, it is
 * no more than the others are.  We can write it ourselves until it is whole. */
static void keep_readers(io_out *o, const struct stat *old)
{
  struct stat st;
  if (fstat(o->fd, &st) != 0) return;
  bool same = st.st_uid == old->st_uid && st.st_gid == old->st_gid;
  o->mode = old->st_mode & 0777;
  o->kept = true;
  if (!same && fchown(o->fd, old->st_uid, old->st_gid) != 0 &&
      st.st_gid != old->st_gid && fchown(o->fd, (uid_t)-1, old->st_gid) != 0)
    o->mode &= (mode_t)~070 | (o->mode & 07) << 3;
  (void)fchmod(o->fd, o->mode | S_IRUSR | S_IWUSR);
}

/* like: the file whose readers are the new one's, where it is there. */
static lapis_status open_temporary(io_out *o, const char *like)
{
  struct stat old;
  char path[PATH_MAX];
  bool kept = !o->direct && stat(like, &old) == 0;
  mode_t mode = kept || o->direct ? S_IRUSR | S_IWUSR : 0666;
  o->fd = io_temporary(o->target, mode, path);
  if (o->fd < 0) return fail_write(o);
  if (kept) keep_readers(o, &old);
  o->temp = base_strdup(o->ctx, path);
  if (o->temp != NULL) return LAPIS_OK;
  (void)unlink(path);
  (void)close(o->fd);
  o->fd = -1;
  return LAPIS_ENOMEM;
}

lapis_status io_out_begin_like(lapis_ctx *ctx, const char *path,
                               const char *like, io_out *out)
{
  *out = (io_out){.ctx = ctx, .path = path, .fd = -1};
  TRY(check_target(out, &out->direct));
  out->target = out->direct ? scratch_target(ctx) : resolve(ctx, path);
  if (out->target == NULL) return LAPIS_ENOMEM;
  lapis_status s = open_temporary(out, like == NULL ? out->target : like);
  if (s < 0) release(out);
  return s;
}

lapis_status io_out_begin(lapis_ctx *ctx, const char *path, io_out *out)
{
  return io_out_begin_like(ctx, path, NULL, out);
}

void io_tidy(const char *path)
{
  char *target = resolve(NULL, path);
  if (target != NULL) io_temporary_tidy(target);
  base_free(target);
}

/* ---- what ---------------------------------------------------------------*/
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

/* It has its name before its lock goes. */
static lapis_status commit(io_out *o)
{
  bool fine = !o->kept || fchmod(o->fd, o->mode) == 0;
  if (!fine || fsync(o->fd) != 0 || rename(o->temp, o->target) != 0)
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

lapis_status io_out_end(io_out *o, lapis_status status)
{
  if (status == LAPIS_OK) status = o->direct ? deliver(o) : commit(o);
  if (o->temp != NULL && (status < 0 || o->direct)) (void)unlink(o->temp);
  if (o->fd >= 0) (void)close(o->fd);
  o->fd = -1;
  release(o);
  return status;
}

lapis_status lapis_file_write(lapis_ctx *ctx, const char *path,
                              const void *bytes, size_t size)
{
  NEEDS(ctx, path);
  io_out o;
  TRY(io_out_begin(ctx, path, &o));
  return io_out_end(&o, io_out_write(&o, bytes, (int64_t)size));
}
