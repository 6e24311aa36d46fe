/* device.c - opening a device, its memory, and how its kernels are run.
 *
 * A device is one of the process, as OpenBLAS's threads are: opened when it is
 * first asked for, kept until the end, and shared by contexts, whose calls wait
 * for each other.  It does not outlive a fork: there is no driver that could.
 * What goes to and fro is counted in the context (base_traffic). */
#define _GNU_SOURCE /* secure_getenv */
#include "la/device/device.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "la/host/host.h"
#include "mat/mat.h"
#include "parallel/plugin.h"

static const struct {
  const char *name; /* of its backends */
  base_plugin_kind plugin;
} kinds[] = {{"opencl",
              {.file = "lapis-opencl",
               .symbol = "lapis_opencl",
               .package = "ocl-icd-opencl-dev",
               .version = DEVICE_API_VERSION}},
             {"cuda",
              {.file = "lapis-cuda",
               .symbol = "lapis_cuda",
               .package = "lapis-cuda",
               .version = DEVICE_API_VERSION}}};
enum { KINDS = sizeof kinds / sizeof *kinds, WHY_SIZE = 1024 };

typedef struct device {
  la_backend ops; /* first: a handle's table says which device it is */
  const device_api *api;
  void *self;
  int kind, index; /* as it was asked for; index -1: any */
  pid_t owner;
  pthread_mutex_t lock;
  void *parts; /* DEVICE_MOST_GROUPS x DEVICE_MOST_SUMS */
  struct device *next;
} device;

static device *opened;
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

static device *device_of(const la *h)
{
  return (device *)(uintptr_t)h->ops;
}

/* ---- calls of the plug-in ---------------------------------------------------
 * LAPIS_OK and the lock, or a sentence. */
static lapis_status enter(const la *h)
{
  device *d = device_of(h);
  if (d->owner != getpid())
    return lapis_fail(h->ctx, LAPIS_EINVAL,
                      "%s: a device that was opened before a fork cannot be "
                      "used after it; take --jobs 1",
                      d->api->name);
  (void)pthread_mutex_lock(&d->lock);
  return LAPIS_OK;
}

static lapis_status leave(const la *h, device_status status)
{
  device *d = device_of(h);
  lapis_status result = LAPIS_OK;
  if (status != DEVICE_DONE)
    result = lapis_fail(
        h->ctx, status == DEVICE_NO_MEMORY ? LAPIS_ENOMEM : LAPIS_EDEVICE,
        "%s: %s", d->api->name, d->api->why(d->self));
  (void)pthread_mutex_unlock(&d->lock);
  return result;
}

/* ---- memory
 * -----------------------------------------------------------------*/
static size_t bytes_of(const la_array *A)
{
  int64_t count = A->rows * A->cols;
  return (size_t)(count > 0 ? count : 1) * sizeof(double);
}

lapis_status device_alloc(la *h, lapis_dtype t, int64_t rows, int64_t cols,
                          la_array *out)
{
  device *d = device_of(h);
  *out = (la_array){.dtype = t, .ld = 1};
  if (t != LAPIS_F64)
    return lapis_fail(h->ctx, LAPIS_EINVAL, "la: backend %s keeps doubles",
                      d->ops.name);
  TRY(apart_new(h, t, rows, cols, out));
  lapis_status status = enter(h);
  if (status >= 0)
    status = leave(h, d->api->alloc(d->self, bytes_of(out), &out->own->buffer));
  if (status >= 0) return LAPIS_OK;
  apart_free(out->own);
  *out = (la_array){.dtype = t, .ld = 1};
  return status;
}

void device_free(la *h, la_array *a)
{
  device *d = device_of(h);
  if (!a->view && a->own != NULL) {
    if (enter(h) >= 0) {
      d->api->free(d->self, a->own->buffer, bytes_of(&a->own->all));
      (void)leave(h, DEVICE_DONE);
    }
    apart_free(a->own);
  }
  *a = (la_array){.dtype = a->dtype, .ld = 1};
}

static bool is_foreign(const la *h, const la_array *A)
{
  return A->own == NULL || A->own->h.ops != h->ops;
}

static device_block block_of(const la_array *A)
{
  return (device_block){A->own->buffer, apart_offset(A), A->rows, A->cols,
                        A->ld};
}

static uint64_t count_of(const la_array *A)
{
  return (uint64_t)(A->rows * A->cols) * sizeof(double);
}

static void count_read(const la *h, uint64_t bytes)
{
  base_traffic_of(h->ctx)->down += bytes;
  base_traffic_of(h->ctx)->reads++;
}

static lapis_status write_block(la *h, const double *from, int64_t ld,
                                la_array *to)
{
  device *d = device_of(h);
  device_block block = block_of(to);
  TRY(enter(h));
  base_traffic_of(h->ctx)->up += count_of(to);
  return leave(h, d->api->write(d->self, &block, from, ld));
}

static lapis_status read_block(la *h, const la_array *from, double *to,
                               int64_t ld)
{
  device *d = device_of(h);
  device_block block = block_of(from);
  TRY(enter(h));
  count_read(h, count_of(from));
  return leave(h, d->api->read(d->self, &block, to, ld));
}

/* What holds no doubles goes through a copy that does. */
lapis_status device_upload(la *h, const lapis_mat *from, la_array *to)
{
  if (is_foreign(h, to)) return apart_refuse(h);
  TRY(host_check_transfer(h, from, to));
  if (mat_empty(from)) return LAPIS_OK;
  if (from->dtype == LAPIS_F64 && from->colptr == NULL)
    return write_block(h, from->val, from->ld, to);
  double *copy = base_alloc_raw(h->ctx, from->rows * from->cols, sizeof *copy);
  if (copy == NULL) return LAPIS_ENOMEM;
  mat_to_f64(from, copy, from->rows);
  lapis_status status = write_block(h, copy, from->rows, to);
  base_free(copy);
  return status;
}

lapis_status device_download(la *h, const la_array *from, lapis_mat *to)
{
  if (is_foreign(h, from)) return apart_refuse(h);
  TRY(host_check_transfer(h, to, from));
  if (mat_empty(to)) return LAPIS_OK;
  if (to->dtype == LAPIS_F64 && to->colptr == NULL)
    return read_block(h, from, to->val, to->ld);
  double *copy = base_alloc_raw(h->ctx, from->rows * from->cols, sizeof *copy);
  if (copy == NULL) return LAPIS_ENOMEM;
  la_array host = la_wrap(copy, from->rows, from->cols);
  lapis_status status = read_block(h, from, copy, from->rows);
  if (status >= 0) status = host_download(h, &host, to);
  base_free(copy);
  return status;
}

/* ---- kernels
 * ----------------------------------------------------------------*/
device_call device_begin(const la *h)
{
  return (device_call){.ops = h->ops};
}

static device_arg *next(device_call *c)
{
  return &c->arg[c->count++];
}

void device_whole(device_call *c, int64_t value)
{
  *next(c) = (device_arg){.kind = DEVICE_WHOLE, .whole = value};
}

void device_real(device_call *c, double value)
{
  *next(c) = (device_arg){.kind = DEVICE_REAL, .real = value};
}

void device_buffer(device_call *c, const la_array *A)
{
  la h = {.ops = c->ops};
  c->foreign = c->foreign || is_foreign(&h, A);
  *next(c) = (device_arg){.kind = DEVICE_BUFFER};
  if (!c->foreign) c->arg[c->count - 1].buffer = A->own->buffer;
}

void device_array(device_call *c, const la_array *A)
{
  device_buffer(c, A);
  device_whole(c, c->foreign ? 0 : apart_offset(A));
  device_whole(c, A->ld);
}

void device_shape(device_call *c, const la_array *A)
{
  device_whole(c, A->rows);
  device_whole(c, A->cols);
}

int64_t device_groups(int64_t entries)
{
  int64_t groups = (entries + DEVICE_GROUP - 1) / DEVICE_GROUP;
  if (groups < 1) return 1;
  return groups < DEVICE_MOST_GROUPS ? groups : DEVICE_MOST_GROUPS;
}

int64_t device_most_y(const la *h)
{
  return device_of(h)->api->most_y;
}

lapis_status device_multiply(la *h, la_trans ta, la_trans tb, double alpha,
                             const la_array *A, const la_array *B, double beta,
                             la_array *C, bool *done)
{
  device *d = device_of(h);
  *done = false;
  if (is_foreign(h, A) || is_foreign(h, B) || is_foreign(h, C))
    return apart_refuse(h);
  device_product p = {.ta = ta == LA_T,
                      .tb = tb == LA_T,
                      .alpha = alpha,
                      .beta = beta,
                      .A = block_of(A),
                      .B = block_of(B),
                      .C = block_of(C)};
  TRY(enter(h));
  device_status status = d->api->multiply(d->self, &p);
  *done = status == DEVICE_DONE;
  if (*done) base_traffic_of(h->ctx)->launches++;
  return leave(h, status == DEVICE_ABSENT ? DEVICE_DONE : status);
}

lapis_status device_eigh_there(la *h, la_array *C, bool vectors, double *values,
                               bool *done)
{
  device *d = device_of(h);
  *done = false;
  if (d->api->eigh == NULL) return LAPIS_OK;
  if (is_foreign(h, C)) return apart_refuse(h);
  device_block block = block_of(C);
  TRY(enter(h));
  device_status status = d->api->eigh(d->self, &block, vectors, values);
  *done = status == DEVICE_DONE;
  if (*done) base_traffic_of(h->ctx)->launches++;
  if (*done) count_read(h, (uint64_t)C->rows * sizeof *values);
  return leave(h, status == DEVICE_ABSENT ? DEVICE_DONE : status);
}

lapis_status device_run(la *h, const char *kernel, device_call *c, int64_t x,
                        int64_t y)
{
  device *d = device_of(h);
  if (c->foreign) return apart_refuse(h);
  TRY(enter(h));
  base_traffic_of(h->ctx)->launches++;
  return leave(h, d->api->run(d->self, kernel, x, y, c->arg, c->count));
}

lapis_status device_run_sums(la *h, const char *kernel, device_call *c,
                             int64_t groups, int count, double *sums)
{
  device *d = device_of(h);
  double part[DEVICE_MOST_GROUPS * DEVICE_MOST_SUMS];
  device_block block = {d->parts, 0, groups * count, 1, groups * count};
  if (c->foreign) return apart_refuse(h);
  *next(c) = (device_arg){.kind = DEVICE_BUFFER, .buffer = d->parts};
  TRY(enter(h));
  base_traffic_of(h->ctx)->launches++;
  count_read(h, (uint64_t)block.rows * sizeof *part);
  device_status status =
      d->api->run(d->self, kernel, groups, 1, c->arg, c->count);
  if (status == DEVICE_DONE)
    status = d->api->read(d->self, &block, part, block.ld);
  TRY(leave(h, status));
  for (int64_t g = 0; g < groups; g++)
    for (int i = 0; i < count; i++) sums[i] += part[g * count + i];
  return LAPIS_OK;
}

/* ---- opening
 * ----------------------------------------------------------------*/
static const char *describe(const la *h)
{
  const device *d = device_of(h);
  return d->api->describe(d->self);
}

/* Its name is its kind's. */
static const la_backend table = {
    .describe = describe,
    .alloc = device_alloc,
    .free = device_free,
    .upload = device_upload,
    .download = device_download,
#define LA_ENTRY(name, ...) .name = device_##name,
#include "la/entries.h"
};

/* The kind that a name begins with, and the number behind "opencl:", -1: there
 * is none; false: the name is wrong. */
static bool read_name(const char *name, int *kind, int *index)
{
  size_t n = strcspn(name, ":");
  char *end;
  for (*kind = 0; *kind < KINDS; ++*kind)
    if (strlen(kinds[*kind].name) == n &&
        strncmp(name, kinds[*kind].name, n) == 0)
      break;
  *index = -1;
  if (*kind == KINDS) return false;
  if (name[n] == '\0') return true;
  if (name[n + 1] < '0' || name[n + 1] > '9') return false;
  long i = strtol(name + n + 1, &end, 10);
  *index = (int)i;
  return *end == '\0' && i < 1000;
}

bool device_is_named(const char *name)
{
  int kind, index;
  return read_name(name, &kind, &index);
}

/* A folder of ours for what drivers compile, made where it is not there. */
static const char *cache_folder(char *text, size_t size)
{
  const char *given = secure_getenv("XDG_CACHE_HOME");
  const char *home = secure_getenv("HOME");
  int n = -1;
  if (given != NULL && given[0] == '/')
    n = snprintf(text, size, "%s", given);
  else if (home != NULL && home[0] == '/')
    n = snprintf(text, size, "%s/.cache", home);
  if (n < 0 || (size_t)n + sizeof "/lapis" > size) return NULL;
  (void)mkdir(text, 0700);
  memcpy(text + n, "/lapis", sizeof "/lapis");
  (void)mkdir(text, 0700);
  return base_is_ours(text) ? text : NULL;
}

/* Opens it, and takes the room for sums. */
static bool start(device *d, char *why)
{
  size_t size =
      sizeof(double) * (size_t)(DEVICE_MOST_GROUPS * DEVICE_MOST_SUMS);
  char cache[4096];
  const char *folder = cache_folder(cache, sizeof cache);
  d->self = d->api->open(d->index, folder, why, WHY_SIZE);
  if (d->self == NULL) return false;
  if (d->api->alloc(d->self, size, &d->parts) != DEVICE_DONE)
    snprintf(why, WHY_SIZE, "%s", d->api->why(d->self));
  else if (pthread_mutex_init(&d->lock, NULL) == 0)
    return true;
  else
    d->api->free(d->self, d->parts, size);
  d->api->close(d->self);
  return false;
}

static device *open_new(const device_api *api, int kind, int index, char *why)
{
  device *d = base_alloc(NULL, 1, sizeof *d);
  snprintf(why, WHY_SIZE, "out of memory");
  if (d == NULL) return NULL;
  *d = (device){.ops = table,
                .api = api,
                .kind = kind,
                .index = index,
                .owner = getpid()};
  d->ops.name = kinds[kind].name;
  if (!start(d, why)) {
    base_free(d);
    return NULL;
  }
  d->next = opened;
  opened = d;
  return d;
}

static device *find_or_open(const device_api *api, int kind, int index,
                            char *why)
{
  device *d = opened;
  while (d != NULL && (d->kind != kind || d->index != index)) d = d->next;
  return d != NULL ? d : open_new(api, kind, index, why);
}

lapis_status device_open(lapis_ctx *ctx, const char *name, la *out)
{
  char why[WHY_SIZE];
  int kind, index;
  (void)read_name(name, &kind, &index);
  (void)pthread_mutex_lock(&opening);
  const device_api *api = base_plugin(&kinds[kind].plugin, why, WHY_SIZE);
  device *d = api == NULL ? NULL : find_or_open(api, kind, index, why);
  (void)pthread_mutex_unlock(&opening);
  if (d == NULL)
    return lapis_fail(ctx, api == NULL ? LAPIS_ENOTBUILT : LAPIS_EDEVICE,
                      "backend %s: %s", name, why);
  *out = (la){.ops = &d->ops, .ctx = ctx, .threads = base_threads(ctx)};
  base_traffic_of(ctx)->device = d->ops.name;
  TRY(enter(out));
  return leave(out, DEVICE_DONE);
}

/* ---- the list
 * ---------------------------------------------------------------*/
enum { MOST_ROWS = 16, TEXT_SIZE = 512 };
static struct {
  lapis_backend row[MOST_ROWS];
  char name[MOST_ROWS][32], what[MOST_ROWS][TEXT_SIZE];
  int count;
} found;

static void look_for(int kind)
{
  char why[WHY_SIZE];
  const device_api *api = base_plugin(&kinds[kind].plugin, why, sizeof why);
  for (int i = 0; api != NULL && found.count < MOST_ROWS; i++) {
    int k = found.count;
    if (!api->list(i, found.what[k], TEXT_SIZE)) break;
    snprintf(found.name[k], sizeof found.name[k], "%s:%d", api->name, i);
    found.row[k] = (lapis_backend){found.name[k], found.what[k],
                                   la_methods_behind_the_seam};
    found.count++;
  }
}

static void look(void)
{
  for (int kind = 0; kind < KINDS; kind++) look_for(kind);
}

const lapis_backend *device_row(int i)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  (void)pthread_once(&once, look);
  return i >= 0 && i < found.count ? &found.row[i] : NULL;
}

bool lapis_device_is_there(const char *kind, char *why, size_t size)
{
  char unseen[WHY_SIZE];
  int k, index;
  if (why == NULL) {
    why = unseen;
    size = sizeof unseen;
  }
  snprintf(why, size, "there is no such kind of device");
  return kind != NULL && read_name(kind, &k, &index) &&
         base_plugin(&kinds[k].plugin, why, size) != NULL;
}

const char la_methods_behind_the_seam[] =
    "mc (admm, fpc, factored), rpca, rr, rlda, clean --joint; Gram matrices of "
    "mc (bordered), svmplus (kernels), roml (points)";
