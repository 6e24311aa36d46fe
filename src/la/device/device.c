/* device.c - opening a device, its memory, and how its kernels are run.
 *
 * A device is one of the process, as OpenBLAS's threads are: opened when it is
 * first asked for, kept until the end, and shared by contexts, whose calls wait
 * for each other.  It does not outlive a fork: there is no driver that could.
 * What goes to and fro is counted in the context (base_traffic). */
#include "la/device/device.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "la/host/host.h"
#include "mat/mat.h"
#include "parallel/plugin.h"

static const base_plugin_kind plugin = {.file = "lapis-opencl",
                                        .symbol = "lapis_opencl",
                                        .package = "ocl-icd-opencl-dev",
                                        .version = DEVICE_API_VERSION};
enum { WHY_SIZE = 1024 };

typedef struct device {
  la_backend ops; /* first: a handle's table says which device it is */
  const device_api *api;
  void *self;
  int index; /* as it was asked for; -1: any */
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
    result = lapis_fail(h->ctx,
                        status == DEVICE_NO_MEMORY ? LAPIS_ENOMEM : LAPIS_EIO,
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
  base_traffic_of(h->ctx)->down += count_of(from);
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
  base_traffic *t = base_traffic_of(h->ctx);
  device_block block = {d->parts, 0, groups * count, 1, groups * count};
  if (c->foreign) return apart_refuse(h);
  *next(c) = (device_arg){.kind = DEVICE_BUFFER, .buffer = d->parts};
  TRY(enter(h));
  t->launches++;
  t->down += (uint64_t)block.rows * sizeof *part;
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

static const la_backend table = {
    .name = "opencl",
    .describe = describe,
    .alloc = device_alloc,
    .free = device_free,
    .upload = device_upload,
    .download = device_download,
#define LA_ENTRY(name, ...) .name = device_##name,
#include "la/entries.h"
};

/* The number behind "opencl:"; -1: there is none; -2: the name is wrong. */
static int index_of(const char *name)
{
  size_t n = strlen(table.name);
  char *end;
  if (strncmp(name, table.name, n) != 0) return -2;
  if (name[n] == '\0') return -1;
  if (name[n] != ':' || name[n + 1] < '0' || name[n + 1] > '9') return -2;
  long i = strtol(name + n + 1, &end, 10);
  return *end == '\0' && i < 1000 ? (int)i : -2;
}

bool device_is_named(const char *name)
{
  return index_of(name) > -2;
}

/* Opens it, and takes the room for sums. */
static bool start(device *d, char *why)
{
  size_t size =
      sizeof(double) * (size_t)(DEVICE_MOST_GROUPS * DEVICE_MOST_SUMS);
  d->self = d->api->open(d->index, why, WHY_SIZE);
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

static device *open_new(const device_api *api, int index, char *why)
{
  device *d = base_alloc(NULL, 1, sizeof *d);
  snprintf(why, WHY_SIZE, "out of memory");
  if (d == NULL) return NULL;
  *d = (device){.ops = table, .api = api, .index = index, .owner = getpid()};
  if (!start(d, why)) {
    base_free(d);
    return NULL;
  }
  d->next = opened;
  opened = d;
  return d;
}

static device *find_or_open(int index, char *why)
{
  const device_api *api = base_plugin(&plugin, why, WHY_SIZE);
  device *d = opened;
  if (api == NULL) return NULL;
  while (d != NULL && d->index != index) d = d->next;
  return d != NULL ? d : open_new(api, index, why);
}

lapis_status device_open(lapis_ctx *ctx, const char *name, la *out)
{
  char why[WHY_SIZE];
  (void)pthread_mutex_lock(&opening);
  device *d = find_or_open(index_of(name), why);
  (void)pthread_mutex_unlock(&opening);
  if (d == NULL)
    return lapis_fail(ctx, LAPIS_ENOTBUILT, "backend %s: %s", name, why);
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

static void look(void)
{
  char why[WHY_SIZE];
  const device_api *api = base_plugin(&plugin, why, sizeof why);
  int i = 0;
  for (; api != NULL && i < MOST_ROWS; i++) {
    if (!api->list(i, found.what[i], TEXT_SIZE)) break;
    snprintf(found.name[i], sizeof found.name[i], "%s:%d", api->name, i);
    found.row[i] = (lapis_backend){found.name[i], found.what[i],
                                   la_methods_behind_the_seam};
  }
  found.count = i;
}

const lapis_backend *device_row(int i)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  (void)pthread_once(&once, look);
  return i >= 0 && i < found.count ? &found.row[i] : NULL;
}

bool lapis_opencl_is_there(char *why, size_t size)
{
  char unseen[WHY_SIZE];
  return base_plugin(&plugin, why != NULL ? why : unseen,
                     why != NULL ? size : sizeof unseen) != NULL;
}

const char la_methods_behind_the_seam[] =
    "mc (admm, fpc, factored), rpca, rr, rlda, clean --joint";
