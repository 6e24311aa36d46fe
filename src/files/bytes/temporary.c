/* temporary.c - files that are being written, and what dead writers left.
 *
 * "folder/.NAME.lapis-0.tmp" and so on, the first that is free.  Its writer
 * holds a lock on it, which the system releases however the writer ends: a
 * file that can be locked is nobody's, and is removed by whoever next writes
 * NAME.  Process numbers would not do: they come again, and those of another
 * machine or container say nothing here.  Where a file system has no locks,
 * nothing is removed.
 *
 * A writer keeps its lock until the file has its name or is gone.  One that
 * made a file and was not yet the one to lock it finds it removed, and takes
 * the next name. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "files/io.h"

enum { LOOKED_AT = 32, MOST = 1000, WAITS = 10, WAIT_NS = 50000000 };

typedef enum stand { FREE, ALIVE, UNKNOWN } stand;

static void name_of(const char *target, int k, char *to)
{
  const char *slash = strrchr(target, '/');
  int folder = slash == NULL ? 0 : (int)(slash + 1 - target);
  (void)snprintf(to, PATH_MAX, "%.*s.%.100s.lapis-%d.tmp", folder, target,
                 target + folder, k);
}

static bool is_temporary(const char *name)
{
  const char *mark = strstr(name, ".lapis-");
  int k, used = 0;
  return name[0] == '.' && mark != NULL &&
         sscanf(mark, ".lapis-%d.tmp%n", &k, &used) == 1 && used > 0 &&
         mark[used] == '\0';
}

static bool same(const struct stat *a, const struct stat *b)
{
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Who stands under that name; what a dead writer left is removed. */
static stand look(const char *path)
{
  int how = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  struct stat own, at;
  int fd = open(path, O_RDWR | how); /* NFS locks what can be written */
  if (fd < 0 && errno == EACCES) fd = open(path, O_RDONLY | how);
  if (fd < 0) return errno == ENOENT ? FREE : UNKNOWN;
  stand is = UNKNOWN;
  if (fstat(fd, &own) != 0 || !S_ISREG(own.st_mode))
    is = UNKNOWN;
  else if (flock(fd, LOCK_EX | LOCK_NB) != 0)
    is = errno == EWOULDBLOCK ? ALIVE : UNKNOWN;
  else if (lstat(path, &at) != 0 || !same(&own, &at)) /* it has its name now */
    is = ALIVE;
  else if (unlink(path) == 0)
    is = FREE;
  (void)close(fd);
  return is;
}

/* -1: errno; EEXIST where another was there, or took it for a dead one's. */
static int make(const char *path, mode_t mode)
{
  struct stat st;
  int how = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
  int fd = open(path, how, mode);
  if (fd < 0) return -1;
  bool taken = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (!taken && fstat(fd, &st) == 0 && st.st_nlink > 0) return fd;
  (void)close(fd);
  errno = EEXIST;
  return -1;
}

int io_temporary(const char *target, mode_t mode, char *path)
{
  int fd = -1;
  char other[PATH_MAX];
  for (int k = 0; k < (fd < 0 ? MOST : LOOKED_AT); k++) {
    name_of(target, k, other);
    if (look(other) != FREE || fd >= 0) continue;
    fd = make(other, mode);
    if (fd < 0 && errno != EEXIST) return -1;
    memcpy(path, other, strlen(other) + 1);
  }
  if (fd < 0) errno = EEXIST;
  return fd;
}

/* A killed writer's child may hold its lock for some moments more. */
int io_temporary_alone(const char *target, mode_t mode, char *path)
{
  const struct timespec moment = {.tv_nsec = WAIT_NS};
  stand is = FREE;
  name_of(target, 0, path);
  for (int k = 0; k < WAITS; k++) {
    is = look(path);
    int fd = is == FREE ? make(path, mode) : -1;
    if (fd >= 0 || (is == FREE && errno != EEXIST)) return fd;
    if (is == UNKNOWN) break;
    (void)nanosleep(&moment, NULL);
  }
  errno = is == UNKNOWN ? EEXIST : EBUSY;
  return -1;
}

void io_temporary_tidy(const char *target)
{
  char path[PATH_MAX];
  for (int k = 0; k < LOOKED_AT; k++) {
    name_of(target, k, path);
    (void)look(path);
  }
}

/* Of the files that this process has open those that it holds the lock of:
 * another lock on the same opening is granted. */
void lapis_file_abandon(void)
{
  char path[PATH_MAX];
  DIR *d = opendir("/proc/self/fd");
  for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
    int fd;
    ssize_t size = readlinkat(dirfd(d), e->d_name, path, sizeof path - 1);
    if (size <= 0 || sscanf(e->d_name, "%d", &fd) != 1) continue;
    path[size] = '\0';
    const char *slash = strrchr(path, '/');
    if (slash != NULL && is_temporary(slash + 1) &&
        flock(fd, LOCK_EX | LOCK_NB) == 0)
      (void)unlink(path);
  }
  if (d != NULL) (void)closedir(d);
}
