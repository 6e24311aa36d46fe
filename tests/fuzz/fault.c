/* fault.c - preloaded (LD_PRELOAD) by tools/break: the k-th write or allocation
 * of the command fails.
 *
 *   LAPIS_FAULT=KIND:K   eio: the k-th write fails; enospc: it and all later
 *                        ones; short: it takes half; alloc: the k-th
 *                        allocation and all later ones fail; kill: before the
 *                        k-th write or other step on files the process is
 *                        killed.  K 0: none does
 *   LAPIS_FAULT_LOG=F    at its end the process appends its counts to F
 *
 * Writes are those to regular files, with fsync and rename; other steps make
 * and remove files and folders and lock them; allocations are those that the
 * command itself asks for, since what libraries do without memory is theirs. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_long writes, allocations, steps;
static uintptr_t first, last; /* addresses of the command's own code */
static long at;
static char kind; /* e, n (enospc), s, a, k; 0: none */

static int find_command(struct dl_phdr_info *info, size_t size, void *user)
{
  (void)size;
  (void)user;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    if (p->p_type != PT_LOAD || (p->p_flags & PF_X) == 0) continue;
    first = info->dlpi_addr + p->p_vaddr;
    last = first + p->p_memsz;
  }
  return 1; /* it comes first */
}

__attribute__((constructor)) static void begin(void)
{
  const char *text = getenv("LAPIS_FAULT");
  const char *colon = text == NULL ? NULL : strchr(text, ':');
  dl_iterate_phdr(find_command, NULL);
  if (colon == NULL) return;
  at = atol(colon + 1);
  if (at > 0) kind = strncmp(text, "enospc", 6) == 0 ? 'n' : text[0];
}

__attribute__((destructor)) static void end(void)
{
  const char *path = getenv("LAPIS_FAULT_LOG");
  kind = 0;
  FILE *f = path == NULL ? NULL : fopen(path, "a");
  if (f == NULL) return;
  fprintf(f, "%ld %ld %ld\n", atomic_load(&writes), atomic_load(&allocations),
          atomic_load(&steps));
  fclose(f);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* ---- steps --------------------------------------------------------------*/
static void step(void)
{
  if (atomic_fetch_add(&steps, 1) + 1 == at && kind == 'k')
    (void)kill(getpid(), SIGKILL);
}

/* Only what makes a file is a step. */
int open(const char *path, int how, ...)
{
  va_list rest;
  va_start(rest, how);
  int mode = (how & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, int) : 0;
  va_end(rest);
  if ((how & O_CREAT) != 0) step();
  return REAL(open)(path, how, mode);
}

int unlink(const char *path)
{
  step();
  return REAL(unlink)(path);
}

int unlinkat(int folder, const char *path, int how)
{
  step();
  return REAL(unlinkat)(folder, path, how);
}

int mkdir(const char *path, mode_t mode)
{
  step();
  return REAL(mkdir)(path, mode);
}

int rmdir(const char *path)
{
  step();
  return REAL(rmdir)(path);
}

int flock(int fd, int how)
{
  step();
  return REAL(flock)(fd, how);
}

/* ---- writes -------------------------------------------------------------*/
/* 0: as usual, 1: half of it, -1: errno is set. */
static int fate(int fd)
{
  struct stat st;
  if (fd >= 0 && (fd <= 2 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)))
    return 0;
  step();
  long k = atomic_fetch_add(&writes, 1) + 1;
  if (kind == 'n' && k >= at) {
    errno = ENOSPC;
    return -1;
  }
  if (kind == 'e' && k == at) {
    errno = EIO;
    return -1;
  }
  return kind == 's' && k == at;
}

ssize_t write(int fd, const void *bytes, size_t size)
{
  int f = fate(fd);
  if (f < 0) return -1;
  return REAL(write)(fd, bytes, f > 0 && size > 1 ? size / 2 : size);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
  int f = fate(fd);
  if (f < 0) return -1;
  return REAL(pwrite)(fd, bytes, f > 0 && size > 1 ? size / 2 : size, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t offset)
{
  int f = fate(fd);
  if (f < 0) return -1;
  return REAL(pwrite64)(fd, bytes, f > 0 && size > 1 ? size / 2 : size, offset);
}

/* A stream's short write is an error of the device: it goes on by itself. */
size_t fwrite(const void *bytes, size_t size, size_t count, FILE *to)
{
  int f = fate(fileno(to));
  if (f < 0) return 0;
  return REAL(fwrite)(bytes, size, count, to);
}

int fsync(int fd)
{
  return fate(fd) < 0 ? -1 : REAL(fsync)(fd);
}

int rename(const char *from, const char *to)
{
  return fate(-1) < 0 ? -1 : REAL(rename)(from, to);
}

/* ---- memory -------------------------------------------------------------*/
static int starves(const void *caller)
{
  uintptr_t from = (uintptr_t)caller;
  if (from < first || from >= last) return 0;
  long k = atomic_fetch_add(&allocations, 1) + 1;
  if (kind != 'a' || k < at) return 0;
  errno = ENOMEM;
  return 1;
}

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

#ifndef ONLY_WRITES
void *malloc(size_t size)
{
  return starves(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
  return starves(__builtin_return_address(0)) ? NULL
                                              : __libc_calloc(count, size);
}

void *realloc(void *p, size_t size)
{
  return starves(__builtin_return_address(0)) ? NULL : __libc_realloc(p, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
  return starves(__builtin_return_address(0))
             ? NULL
             : __libc_memalign(alignment, size);
}
#endif
