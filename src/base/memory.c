/* memory.c - checked, aligned allocation: the only caller of malloc. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/base.h"

enum { ALIGNMENT = 64, LARGE = 1 << 30, SMALL = 1 << 20 };

/* What a container may have. */
static double group_bytes(void)
{
  double most = INFINITY;
  FILE *f = fopen("/sys/fs/cgroup/memory.max", "r");
  if (f == NULL || fscanf(f, "%lf", &most) != 1 || !(most > 0))
    most = INFINITY; /* or "max" */
  if (f != NULL) fclose(f);
  return most;
}

double base_memory_bytes(void)
{
  double pages = (double)sysconf(_SC_PHYS_PAGES);
  double all = pages > 0 ? pages * (double)sysconf(_SC_PAGESIZE) : 1e18;
  return fmin(all, group_bytes());
}

double base_address_bytes(void)
{
  long pages = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (f == NULL) return 0;
  if (fscanf(f, "%ld", &pages) != 1) pages = 0;
  fclose(f);
  return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

double base_address_room(void)
{
  struct rlimit most;
  if (getrlimit(RLIMIT_AS, &most) != 0 || most.rlim_cur == RLIM_INFINITY)
    return INFINITY;
  return (double)most.rlim_cur - base_address_bytes();
}

int64_t base_address_pieces(int64_t bytes)
{
  FILE *f = fopen("/proc/self/maps", "r");
  int64_t count = 0;
  char line[512];
  while (f != NULL && fgets(line, sizeof line, f) != NULL) {
    uint64_t first, end, file;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " rw-p %*s %*s %" SCNu64, &first,
               &end, &file) == 3 &&
        file == 0)
      count += (int64_t)(end - first) / bytes;
  }
  if (f != NULL) fclose(f);
  return count;
}

/* A multiple of the alignment, or 0 where count * size does not fit. */
static size_t padded_size(int64_t count, size_t size)
{
  size_t limit = (size_t)INT64_MAX - ALIGNMENT;
  if (count < 0 || (size != 0 && (uint64_t)count > limit / size)) return 0;
  size_t bytes = (size_t)count * size;
  return (bytes + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
}

void *base_alloc_raw(lapis_ctx *ctx, int64_t count, size_t size)
{
  size_t bytes = padded_size(count, size);
  /* Systems promise more than they have and end who believes them. */
  bool too_much = bytes > LARGE && (double)bytes > base_memory_bytes();
  if (bytes > SMALL && !too_much)
    too_much = base_address_room() - (double)bytes < BASE_ADDRESS_RESERVE;
  bool fine = bytes > 0 && !too_much;
  void *p = fine ? aligned_alloc(ALIGNMENT, bytes) : NULL;
  if (p == NULL)
    (void)lapis_fail(ctx, LAPIS_ENOMEM,
                     "out of memory: %" PRId64 " x %zu bytes were requested",
                     count, size);
  return p;
}

static lapis_status fits(lapis_ctx *ctx, const char *what, double bytes,
                         double most)
{
  most = fmin(most, base_address_room());
  if (bytes <= most) return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_ENOMEM,
                    "%s: would take %.3g GB of memory, more than the %.3g GB "
                    "that there may be; keep it sparse (svmplus with linear "
                    "kernels does), or use fewer samples or features",
                    what, bytes / 1e9, most / 1e9);
}

static const double USUAL = 1000;

static lapis_status unfolds(lapis_ctx *ctx, const char *what, double bytes,
                            double stored, double arrays)
{
  if (bytes <= fmax(arrays * base_max_unfold(ctx), USUAL * stored))
    return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_ENOMEM,
                    "%s: would take %.3g MB of memory, made of %.3g MB; is the "
                    "number of a feature wrong, or does a column of words hold "
                    "names? If it is right, --max-unfold %.0f allows it (MB)",
                    what, bytes / 1e6, stored / 1e6,
                    ceil(bytes / arrays / 1e6));
}

lapis_status base_fits(lapis_ctx *ctx, const char *what, double bytes)
{
  return fits(ctx, what, bytes, base_memory_bytes() / 2);
}

lapis_status base_unfolds(lapis_ctx *ctx, const char *what, double bytes,
                          double stored)
{
  TRY(unfolds(ctx, what, bytes, stored, 1));
  return base_fits(ctx, what, bytes);
}

double base_may_hold(const lapis_ctx *ctx, double stored)
{
  double most = fmax(BASE_ARRAYS_HELD * base_max_unfold(ctx), USUAL * stored);
  return fmin(most, fmin(base_memory_bytes(), base_address_room()));
}

lapis_status base_holds(lapis_ctx *ctx, const char *what, double bytes,
                        double stored)
{
  TRY(unfolds(ctx, what, bytes, stored, BASE_ARRAYS_HELD));
  return fits(ctx, what, bytes, base_memory_bytes());
}

void *base_alloc(lapis_ctx *ctx, int64_t count, size_t size)
{
  void *p = base_alloc_raw(ctx, count, size);
  if (p != NULL) memset(p, 0, padded_size(count, size));
  return p;
}

lapis_status base_grow(lapis_ctx *ctx, void **p, int64_t used, int64_t count,
                       size_t size)
{
  void *larger = base_alloc(ctx, count, size);
  if (larger == NULL) return LAPIS_ENOMEM;
  if (used > 0) memcpy(larger, *p, (size_t)used * size);
  base_free(*p);
  *p = larger;
  return LAPIS_OK;
}

char *base_strdup(lapis_ctx *ctx, const char *text)
{
  size_t size = strlen(text) + 1;
  char *copy = base_alloc_raw(ctx, (int64_t)size, 1);
  if (copy != NULL) memcpy(copy, text, size);
  return copy;
}

void base_free(void *p)
{
  free(p);
}

/* ---- arenas -------------------------------------------------------------*/
void *arena_keep(arena *a, void *p)
{
  enum { FIRST_ROOM = 16 };
  a->failed = a->failed || p == NULL;
  if (!a->failed && a->count == a->room) {
    void *block = a->block;
    int64_t room = a->room == 0 ? FIRST_ROOM : 2 * a->room;
    a->failed = base_grow(a->ctx, &block, a->count, room, sizeof *a->block) < 0;
    a->block = block;
    if (!a->failed) a->room = room;
  }
  if (a->failed) {
    base_free(p);
    return NULL;
  }
  return a->block[a->count++] = p;
}

void *arena_take(arena *a, int64_t count, size_t size)
{
  return a->failed ? NULL : arena_keep(a, base_alloc(a->ctx, count, size));
}

double *arena_reals(arena *a, int64_t count)
{
  return arena_take(a, count, sizeof(double));
}

lapis_status arena_status(const arena *a)
{
  return a->failed ? LAPIS_ENOMEM : LAPIS_OK;
}

void arena_free(arena *a)
{
  for (int64_t i = 0; i < a->count; i++) base_free(a->block[i]);
  base_free(a->block);
  *a = (arena){.ctx = a->ctx};
}
