/* strict.c - a backend that keeps the others' promise: "strict", which only the
 * programs of the tests have.
 *
 * It computes as openblas does, but every array lies in pages of its own that
 * are unreadable outside the functions of the table: whoever follows a host
 * pointer into the state of a solver crashes here, as it would go wrong on a
 * device, and hears which array it was.  Memory of the host that is handed to
 * the table is refused, as a device must. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "la/device_memory.h"
#include "la/host/host.h"

/* ---- the crash, with a name ----------------------------------------------*/
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static apart *known; /* every array, by its `next`: the handler's */
static struct sigaction before;

/* Says which array was read, and lets the crash happen. */
static void crash(int signal, siginfo_t *info, void *context)
{
  const char *at = info->si_addr;
  char text[160];
  (void)context;
  for (const apart *a = known; a != NULL; a = a->next) {
    const char *p = a->all.data;
    if (at < p || at >= p + a->bytes) continue;
    int n = snprintf(text, sizeof text,
                     "lapis: strict: a host pointer into a %lld x %lld array "
                     "was followed, at byte %lld\n",
                     (long long)a->all.rows, (long long)a->all.cols,
                     (long long)(at - p));
    if (write(2, text, (size_t)n) < 0) break;
  }
  (void)sigaction(signal, &before, NULL);
}

static void watch(void)
{
  struct sigaction own = {.sa_sigaction = crash, .sa_flags = SA_SIGINFO};
  (void)sigaction(SIGSEGV, &own, &before);
}

/* ---- memory -------------------------------------------------------------*/
static lapis_status alloc(la *h, lapis_dtype t, int64_t rows, int64_t cols,
                          la_array *out)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  (void)pthread_once(&once, watch);
  TRY(apart_new(h, t, rows, cols, out));
  (void)pthread_mutex_lock(&lock);
  out->own->next = known;
  known = out->own;
  (void)pthread_mutex_unlock(&lock);
  return LAPIS_OK;
}

static void release(la *h, la_array *a)
{
  (void)h;
  if (!a->view && a->own != NULL) {
    (void)pthread_mutex_lock(&lock);
    apart **at = &known;
    while (*at != a->own) at = &(*at)->next;
    *at = a->own->next;
    (void)pthread_mutex_unlock(&lock);
    apart_free(a->own);
  }
  *a = (la_array){.dtype = a->dtype, .ld = 1};
}

/* ---- the doors ----------------------------------------------------------*/
typedef const la_array *operands[8];

static lapis_status protect(const la_array *A, int how)
{
  return mprotect(A->own->all.data, A->own->bytes, how) == 0 ? LAPIS_OK
                                                             : LAPIS_ENOMEM;
}

static void shut(const operands used)
{
  for (int i = 0; i < 8; i++)
    if (used[i] != NULL) (void)protect(used[i], PROT_NONE);
}

/* The operands, NULL among them, readable; *inner: who computes. */
static lapis_status open_doors(la *h, const operands used, la *inner)
{
  *inner = la_beside(h);
  for (int i = 0; i < 8; i++) {
    if (used[i] == NULL) continue;
    if (used[i]->own == NULL) return apart_refuse(h);
  }
  for (int i = 0; i < 8; i++)
    if (used[i] != NULL && protect(used[i], PROT_READ | PROT_WRITE) < 0) {
      shut(used);
      return lapis_fail(h->ctx, LAPIS_ENOMEM,
                        "la: strict: too many arrays for this system");
    }
  return LAPIS_OK;
}

#define THROUGH(call, ...)               \
  operands used = {__VA_ARGS__};         \
  la inner;                              \
  TRY(open_doors(h, used, &inner));      \
  lapis_status status = inner.ops->call; \
  shut(used);                            \
  return status

static lapis_status upload(la *h, const lapis_mat *from, la_array *to)
{
  THROUGH(upload(&inner, from, to), to);
}
static lapis_status download(la *h, const la_array *from, lapis_mat *to)
{
  THROUGH(download(&inner, from, to), from);
}
#define ON(A) A
#define PHI(phi) phi
#define ALM(p) p
#define BARE(...) __VA_ARGS__
#define LA_ENTRY(name, parameters, arguments, arrays)   \
  static lapis_status name(la *h, BARE parameters)      \
  {                                                     \
    THROUGH(name(&inner, BARE arguments), BARE arrays); \
  }
#include "la/entries.h"
#undef LA_ENTRY

static const char *describe(const la *h)
{
  (void)h;
  return "strict";
}

static const la_backend la_strict = {
    .name = "strict",
    .describe = describe,
    .alloc = alloc,
    .free = release,
    .upload = upload,
    .download = download,
#define LA_ENTRY(name, ...) .name = name,
#include "la/entries.h"
};

const la_backend *__real_la_named(const char *name);
const la_backend *__wrap_la_named(const char *name);

const la_backend *__wrap_la_named(const char *name)
{
  return strcmp(name, "strict") == 0 ? &la_strict : __real_la_named(name);
}
