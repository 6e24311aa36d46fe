/* cuda.c - the plug-in lapis-cuda: memory, transfers and kernels of NVIDIA's
 * devices.
 *
 * No header and no library of CUDA is needed to build it: the driver, NVRTC,
 * which compiles the kernels when a device is opened, cuBLAS for products and
 * cuSOLVER for eigenvalues are opened at run time, of CUDA 12 or 13, by their
 * usual names or in the folders that LAPIS_CUDA_LIBRARIES lists.  What was
 * compiled is kept.  Calls go to the device's default stream, one after the
 * other; transfers wait for them. */
#define _GNU_SOURCE /* secure_getenv */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device_kernels.h"
#include "la/device/device_api.h"
#include "preludes.h"

enum { MOST_KERNELS = 64, NAME_SIZE = 256, WHY_SIZE = 512, PATH_SIZE = 4096 };
enum { MOST_Y = 65535 };         /* of a grid's second side */
enum { OUT_OF_MEMORY = 2 };      /* CUDA_ERROR_OUT_OF_MEMORY */
enum { HOST = 1, DEVICE = 2 };   /* CUmemorytype */
enum { MAJOR = 75, MINOR = 76 }; /* CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_* */

/* ---- CUDA's functions -----------------------------------------------------*/
typedef unsigned long long address;
typedef struct copy { /* CUDA_MEMCPY2D */
  size_t from_x, from_y;
  int from_kind;
  const void *from_host;
  address from_device;
  void *from_array;
  size_t from_pitch, to_x, to_y;
  int to_kind;
  void *to_host;
  address to_device;
  void *to_array;
  size_t to_pitch, width, height;
} copy;

#define DRIVER(X)                                                              \
  X(cuInit, (unsigned))                                                        \
  X(cuDeviceGetCount, (int *))                                                 \
  X(cuDeviceGet, (int *, int))                                                 \
  X(cuDeviceGetName, (char *, int, int))                                       \
  X(cuDeviceTotalMem_v2, (size_t *, int))                                      \
  X(cuDeviceGetAttribute, (int *, int, int))                                   \
  X(cuDevicePrimaryCtxRetain, (void **, int))                                  \
  X(cuDevicePrimaryCtxRelease_v2, (int))                                       \
  X(cuCtxSetCurrent, (void *))                                                 \
  X(cuMemAlloc_v2, (address *, size_t))                                        \
  X(cuMemFree_v2, (address))                                                   \
  X(cuMemsetD8_v2, (address, unsigned char, size_t))                           \
  X(cuMemcpyHtoD_v2, (address, const void *, size_t))                          \
  X(cuMemcpyDtoH_v2, (void *, address, size_t))                                \
  X(cuMemcpy2D_v2, (const copy *))                                             \
  X(cuModuleLoadData, (void **, const void *))                                 \
  X(cuModuleUnload, (void *))                                                  \
  X(cuModuleGetFunction, (void **, void *, const char *))                      \
  X(cuLaunchKernel, (void *, unsigned, unsigned, unsigned, unsigned, unsigned, \
                     unsigned, unsigned, void *, void **, void **))
#define NVRTC(X)                                                    \
  X(nvrtcVersion, (int *, int *))                                   \
  X(nvrtcCreateProgram, (void **, const char *, const char *, int,  \
                         const char *const *, const char *const *)) \
  X(nvrtcDestroyProgram, (void **))                                 \
  X(nvrtcCompileProgram, (void *, int, const char *const *))        \
  X(nvrtcGetCUBINSize, (void *, size_t *))                          \
  X(nvrtcGetCUBIN, (void *, char *))                                \
  X(nvrtcGetProgramLogSize, (void *, size_t *))                     \
  X(nvrtcGetProgramLog, (void *, char *))
#define CUBLAS(X)                                                          \
  X(cublasCreate_v2, (void **))                                            \
  X(cublasDestroy_v2, (void *))                                            \
  X(cublasDgemm_v2_64,                                                     \
    (void *, int, int, int64_t, int64_t, int64_t, const double *, address, \
     int64_t, address, int64_t, const double *, address, int64_t))
#define CUSOLVER(X)                                        \
  X(cusolverDnCreate, (void **))                           \
  X(cusolverDnDestroy, (void *))                           \
  X(cusolverDnDsyevd_bufferSize,                           \
    (void *, int, int, int, address, int, address, int *)) \
  X(cusolverDnDsyevd,                                      \
    (void *, int, int, int, address, int, address, address, int, address))
/* NOLINTBEGIN(bugprone-macro-parentheses): declarations and names */
#define DECLARE(name, args) static int(*name) args;
/* NOLINTEND(bugprone-macro-parentheses) */
DRIVER(DECLARE)
NVRTC(DECLARE)
CUBLAS(DECLARE)
CUSOLVER(DECLARE)

/* A library by the first of its names that is found, and its functions. */
typedef struct library {
  const char *what, *files[4];
  int count;
  void **slot[24];
  const char *name[24];
} library;

enum { HOW = RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE };

/* In the folders that LAPIS_CUDA_LIBRARIES lists. */
static void *open_listed(const char *name)
{
  const char *folder = secure_getenv("LAPIS_CUDA_LIBRARIES");
  void *found = NULL;
  while (folder != NULL && *folder != '\0' && found == NULL) {
    char path[PATH_SIZE];
    size_t length = strcspn(folder, ":");
    int n = snprintf(path, sizeof path, "%.*s/%s", (int)length, folder, name);
    if (n > 0 && n < PATH_SIZE && path[0] == '/') found = dlopen(path, HOW);
    folder += length + (folder[length] == ':');
  }
  return found;
}

static int bind(const library *l, char *why, size_t size)
{
  void *found = NULL;
  for (int i = 0; l->files[i] != NULL && found == NULL; i++)
    found = open_listed(l->files[i]);
  for (int i = 0; l->files[i] != NULL && found == NULL; i++)
    found = dlopen(l->files[i], HOW);
  if (found == NULL) {
    snprintf(why, size,
             "%s is not here (%s); install CUDA 12 or 13, or name its folder "
             "by LAPIS_CUDA_LIBRARIES",
             l->what, l->files[0]);
    return 0;
  }
  for (int i = 0; i < l->count; i++) {
    *l->slot[i] = dlsym(found, l->name[i]);
    if (*l->slot[i] != NULL) continue;
    snprintf(why, size, "%s here is not of CUDA 12 or 13: it has no %s",
             l->what, l->name[i]);
    return 0;
  }
  return 1;
}

#define SLOT(name, args) (void **)&(name),
#define NAME(name, args) #name,
#define LIBRARY(title, LIST, ...)                               \
  {                                                             \
    .what = title, .files = {__VA_ARGS__},                      \
    .count = sizeof((void **[]){LIST(SLOT)}) / sizeof(void **), \
    .slot = {LIST(SLOT)}, .name = {                             \
      LIST(NAME)                                                \
    }                                                           \
  }

static int load_driver(char *why, size_t size)
{
  const library driver =
      LIBRARY("NVIDIA's driver", DRIVER, "libcuda.so.1", NULL);
  if (!bind(&driver, why, size)) return 0;
  int code = cuInit(0);
  if (code != 0)
    snprintf(why, size, "NVIDIA's driver does not start (CUDA says %d)", code);
  return code == 0;
}

/* What computes; loaded when a device is opened, not when devices are listed.
 */
static int load_rest(char *why, size_t size)
{
  const library all[] = {
      LIBRARY("NVRTC", NVRTC, "libnvrtc.so.13", "libnvrtc.so.12", NULL),
      LIBRARY("cuBLAS", CUBLAS, "libcublas.so.13", "libcublas.so.12", NULL),
      LIBRARY("cuSOLVER", CUSOLVER, "libcusolver.so.12", "libcusolver.so.11",
              NULL)};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (!bind(&all[i], why, size)) return 0;
  return 1;
}

/* ---- which there are ----------------------------------------------------*/
static int list(int i, char *text, size_t size)
{
  int count = 0, id, major = 0, minor = 0;
  size_t bytes = 0;
  char name[200] = "";
  if (!load_driver(text, size) || cuDeviceGetCount(&count) != 0 || i >= count ||
      cuDeviceGet(&id, i) != 0 || cuDeviceGetName(name, sizeof name, id) != 0 ||
      cuDeviceTotalMem_v2(&bytes, id) != 0 ||
      cuDeviceGetAttribute(&major, MAJOR, id) != 0 ||
      cuDeviceGetAttribute(&minor, MINOR, id) != 0)
    return 0;
  snprintf(text, size, "%s, CUDA %d.%d, %.1f GB", name, major, minor,
           (double)bytes / 1e9);
  return 1;
}

/* ---- a device -------------------------------------------------------------*/
typedef struct device {
  int id;
  void *context, *module, *blas, *solver;
  void *kernel[MOST_KERNELS];
  char kernel_name[MOST_KERNELS][64];
  int kernels;
  address work; /* of cuSOLVER */
  size_t work_size, used, room;
  char name[NAME_SIZE], text[NAME_SIZE + 32], why[WHY_SIZE];
} device;

static device_status failed(device *d, const char *what, int code)
{
  if (code == OUT_OF_MEMORY)
    snprintf(d->why, sizeof d->why,
             "%s has no memory left for %s (%.2f of %.2f GB are taken)",
             d->name, what, (double)d->used / 1e9, (double)d->room / 1e9);
  else
    snprintf(d->why, sizeof d->why, "%s failed at %s (CUDA says %d)", d->name,
             what, code);
  return code == OUT_OF_MEMORY ? DEVICE_NO_MEMORY : DEVICE_FAILED;
}

/* ---- kernels --------------------------------------------------------------*/
typedef struct binary {
  char *bytes;
  size_t size;
} binary;

/* The file of what these options make of this text; "": there is none. */
static void name_file(const char *cache, const char *const *option, int options,
                      char path[PATH_SIZE])
{
  uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */
  int major = 0, minor = 0;
  path[0] = '\0';
  if (cache == NULL || nvrtcVersion(&major, &minor) != 0) return;
  for (int64_t i = 0; i < device_kernels_size; i++)
    hash = (hash ^ device_kernels[i]) * 0x100000001b3;
  for (const char *p = CUDA_PRELUDE; *p != '\0'; p++)
    hash = (hash ^ (unsigned char)*p) * 0x100000001b3;
  for (int i = 0; i < options; i++)
    for (const char *p = option[i]; *p != '\0'; p++)
      hash = (hash ^ (unsigned char)*p) * 0x100000001b3;
  int n = snprintf(path, PATH_SIZE, "%s/cuda-%d.%d-%016" PRIx64 ".cubin", cache,
                   major, minor, hash);
  if (n < 0 || n >= PATH_SIZE) path[0] = '\0';
}

static binary read_file(const char *path)
{
  binary b = {NULL, 0};
  struct stat s;
  FILE *from = path[0] == '\0' ? NULL : fopen(path, "rb");
  if (from == NULL) return b;
  if (fstat(fileno(from), &s) == 0 && S_ISREG(s.st_mode) && s.st_size > 0 &&
      s.st_size < 1 << 28)
    b.bytes = malloc((size_t)s.st_size);
  if (b.bytes != NULL) b.size = fread(b.bytes, 1, (size_t)s.st_size, from);
  if (b.bytes != NULL && b.size != (size_t)s.st_size) {
    free(b.bytes);
    b = (binary){NULL, 0};
  }
  (void)fclose(from);
  return b;
}

/* Whoever reads it meets the whole; that it cannot be kept costs a second the
 * next time. */
static void write_file(const char *path, const binary *b)
{
  char made[PATH_SIZE + 16];
  if (path[0] == '\0') return;
  snprintf(made, sizeof made, "%s.XXXXXX", path);
  int file = mkstemp(made);
  FILE *to = file < 0 ? NULL : fdopen(file, "wb");
  if (to == NULL) return;
  int good = fwrite(b->bytes, 1, b->size, to) == b->size;
  good = fclose(to) == 0 && good;
  if (!good || rename(made, path) != 0) (void)unlink(made);
}

/* The text of the prelude and the kernels; NULL: no memory. */
static char *whole_text(void)
{
  size_t head = strlen(CUDA_PRELUDE), rest = (size_t)device_kernels_size;
  char *text = malloc(head + rest + 1);
  if (text == NULL) return NULL;
  memcpy(text, CUDA_PRELUDE, head);
  memcpy(text + head, device_kernels, rest);
  text[head + rest] = '\0';
  return text;
}

static void say_log(void *program, int code, char *why, size_t size)
{
  size_t length = 0;
  char *log = nvrtcGetProgramLogSize(program, &length) == 0 && length > 0
                  ? calloc(1, length + 1)
                  : NULL;
  if (log != NULL && nvrtcGetProgramLog(program, log) != 0) log[0] = '\0';
  if (log != NULL) log[strcspn(log, "\n")] = '\0';
  snprintf(why, size, "NVRTC does not compile the kernels (it says %d%s%.200s)",
           code, log == NULL || log[0] == '\0' ? "" : ": ",
           log == NULL ? "" : log);
  free(log);
}

static binary compile(const char *const *option, int options, char *why,
                      size_t size)
{
  binary b = {NULL, 0};
  void *program = NULL;
  char *text = whole_text();
  int code = text == NULL ? OUT_OF_MEMORY
                          : nvrtcCreateProgram(&program, text, "kernels.cu", 0,
                                               NULL, NULL);
  if (code == 0) code = nvrtcCompileProgram(program, options, option);
  if (code == 0) code = nvrtcGetCUBINSize(program, &b.size);
  if (code == 0) b.bytes = malloc(b.size);
  if (code == 0)
    code = b.bytes == NULL ? OUT_OF_MEMORY : nvrtcGetCUBIN(program, b.bytes);
  if (code != 0) say_log(program, code, why, size);
  if (code != 0) free(b.bytes);
  if (program != NULL) (void)nvrtcDestroyProgram(&program);
  free(text);
  return code == 0 ? b : (binary){NULL, 0};
}

/* What was kept, where it still loads; else it is made anew. */
static int load_kernels(device *d, const char *cache, char *why, size_t size)
{
  char arch[64], path[PATH_SIZE];
  int major = 0, minor = 0, code;
  if (cuDeviceGetAttribute(&major, MAJOR, d->id) != 0 ||
      cuDeviceGetAttribute(&minor, MINOR, d->id) != 0)
    major = 0;
  snprintf(arch, sizeof arch, "--gpu-architecture=sm_%d%d", major, minor);
  const char *option[] = {arch, "--device-as-default-execution-space",
                          "--fmad=false", "--std=c++20"};
  enum { OPTIONS = sizeof option / sizeof *option };
  name_file(cache, option, OPTIONS, path);
  binary b = read_file(path);
  code = b.bytes == NULL ? -1 : cuModuleLoadData(&d->module, b.bytes);
  free(b.bytes);
  if (code == 0) return 1;
  b = compile(option, OPTIONS, why, size);
  if (b.bytes == NULL) return 0;
  code = cuModuleLoadData(&d->module, b.bytes);
  if (code == 0) write_file(path, &b);
  if (code != 0)
    snprintf(why, size, "the driver does not take the kernels (CUDA says %d)",
             code);
  free(b.bytes);
  return code == 0;
}

/* ---- opening --------------------------------------------------------------*/
static void cuda_close(void *self)
{
  device *d = self;
  if (d->context != NULL) (void)cuCtxSetCurrent(d->context);
  if (d->work != 0) (void)cuMemFree_v2(d->work);
  if (d->solver != NULL) (void)cusolverDnDestroy(d->solver);
  if (d->blas != NULL) (void)cublasDestroy_v2(d->blas);
  if (d->module != NULL) (void)cuModuleUnload(d->module);
  if (d->context != NULL) (void)cuDevicePrimaryCtxRelease_v2(d->id);
  free(d);
}

static int start(device *d, const char *cache, char *why, size_t size)
{
  int code = cuDevicePrimaryCtxRetain(&d->context, d->id);
  if (code == 0) code = cuCtxSetCurrent(d->context);
  if (code == 0) code = cuDeviceTotalMem_v2(&d->room, d->id);
  if (code != 0)
    snprintf(why, size, "%s cannot be used (CUDA says %d)", d->name, code);
  if (code != 0 || !load_kernels(d, cache, why, size)) return 0;
  code = cublasCreate_v2(&d->blas);
  if (code == 0) code = cusolverDnCreate(&d->solver);
  if (code != 0)
    snprintf(why, size, "cuBLAS or cuSOLVER does not start on %s (it says %d)",
             d->name, code);
  return code == 0;
}

static void *cuda_open(int i, const char *cache, char *why, size_t size)
{
  int count = 0, id = 0;
  if (!load_driver(why, size)) return NULL;
  if (cuDeviceGetCount(&count) != 0 || i >= count || count == 0 ||
      cuDeviceGet(&id, i < 0 ? 0 : i) != 0) {
    if (count == 0)
      snprintf(why, size, "there is no device of NVIDIA here");
    else
      snprintf(why, size, "there is no CUDA device %d; lapis info lists them",
               i);
    return NULL;
  }
  if (!load_rest(why, size)) return NULL;
  device *d = calloc(1, sizeof *d);
  if (d == NULL) {
    snprintf(why, size, "out of memory");
    return NULL;
  }
  d->id = id;
  if (cuDeviceGetName(d->name, 200, id) != 0)
    snprintf(d->name, sizeof d->name, "CUDA device %d", id);
  snprintf(d->text, sizeof d->text, "cuda %s", d->name);
  if (start(d, cache, why, size)) return d;
  cuda_close(d);
  return NULL;
}

static const char *cuda_describe(void *self)
{
  return ((device *)self)->text;
}

static const char *cuda_why(void *self)
{
  return ((device *)self)->why;
}

/* ---- memory ---------------------------------------------------------------*/
/* Whoever calls may be another thread than the last time. */
static device *current(void *self)
{
  device *d = self;
  (void)cuCtxSetCurrent(d->context);
  return d;
}

static void release(void *self, void *buffer, size_t bytes)
{
  device *d = current(self);
  if (buffer == NULL) return;
  (void)cuMemFree_v2((address)(uintptr_t)buffer);
  d->used -= bytes;
}

static device_status take(void *self, size_t bytes, void **out)
{
  device *d = current(self);
  address p = 0;
  char what[64];
  snprintf(what, sizeof what, "an array of %.2f GB", (double)bytes / 1e9);
  *out = NULL;
  int code = cuMemAlloc_v2(&p, bytes);
  if (code != 0) return failed(d, what, code);
  d->used += bytes;
  code = cuMemsetD8_v2(p, 0, bytes);
  if (code == 0) *out = (void *)(uintptr_t)p;
  if (code == 0) return DEVICE_DONE;
  release(d, (void *)(uintptr_t)p, bytes);
  return failed(d, what, code);
}

static address at(const device_block *b)
{
  return (address)(uintptr_t)b->buffer + sizeof(double) * (address)b->first;
}

static size_t bytes_of(int64_t count)
{
  return sizeof(double) * (size_t)count;
}

static device_status put(void *self, const device_block *to, const double *from,
                         int64_t ld)
{
  device *d = current(self);
  copy c = {.from_kind = HOST,
            .from_host = from,
            .from_pitch = bytes_of(ld),
            .to_kind = DEVICE,
            .to_device = at(to),
            .to_pitch = bytes_of(to->ld),
            .width = bytes_of(to->rows),
            .height = (size_t)to->cols};
  int code = device_is_whole(to, ld)
                 ? cuMemcpyHtoD_v2(at(to), from, bytes_of(to->rows * to->cols))
                 : cuMemcpy2D_v2(&c);
  return code == 0 ? DEVICE_DONE : failed(d, "a transfer", code);
}

static device_status get(void *self, const device_block *from, double *to,
                         int64_t ld)
{
  device *d = current(self);
  copy c = {.from_kind = DEVICE,
            .from_device = at(from),
            .from_pitch = bytes_of(from->ld),
            .to_kind = HOST,
            .to_host = to,
            .to_pitch = bytes_of(ld),
            .width = bytes_of(from->rows),
            .height = (size_t)from->cols};
  int code =
      device_is_whole(from, ld)
          ? cuMemcpyDtoH_v2(to, at(from), bytes_of(from->rows * from->cols))
          : cuMemcpy2D_v2(&c);
  return code == 0 ? DEVICE_DONE : failed(d, "a transfer", code);
}

/* ---- computing ------------------------------------------------------------*/
static device_status multiply(void *self, const device_product *p)
{
  device *d = current(self);
  int64_t depth = p->ta ? p->A.rows : p->A.cols;
  if (depth == 0) return DEVICE_ABSENT;
  int code = cublasDgemm_v2_64(d->blas, p->ta, p->tb, p->C.rows, p->C.cols,
                               depth, &p->alpha, at(&p->A), p->A.ld, at(&p->B),
                               p->B.ld, &p->beta, at(&p->C), p->C.ld);
  return code == 0 ? DEVICE_DONE : failed(d, "a product", code);
}

/* Of so many bytes at least. */
static int work_of(device *d, size_t bytes)
{
  if (d->work_size >= bytes) return 0;
  if (d->work != 0) (void)cuMemFree_v2(d->work);
  d->work_size = 0;
  d->work = 0;
  int code = cuMemAlloc_v2(&d->work, bytes);
  if (code == 0) d->work_size = bytes;
  return code;
}

/* The work space, then the values, then how it ended. */
static device_status eigh(void *self, const device_block *C, int vectors,
                          double *values)
{
  device *d = current(self);
  int n = (int)C->rows, ld = (int)C->ld, length = 0, info = 0;
  if (C->rows > 1 << 20 || C->ld > 1 << 30) return DEVICE_ABSENT;
  int code = cusolverDnDsyevd_bufferSize(d->solver, vectors, 0, n, at(C), ld, 0,
                                         &length);
  if (code == 0) code = work_of(d, bytes_of((int64_t)length + n + 1));
  address found = d->work + bytes_of(length), ended = found + bytes_of(n);
  if (code == 0)
    code = cusolverDnDsyevd(d->solver, vectors, 0, n, at(C), ld, found, d->work,
                            length, ended);
  if (code == 0) code = cuMemcpyDtoH_v2(values, found, bytes_of(n));
  if (code == 0) code = cuMemcpyDtoH_v2(&info, ended, sizeof info);
  if (code != 0) return failed(d, "eigenvalues", code);
  return info == 0 ? DEVICE_DONE : failed(d, "eigenvalues", info);
}

/* The kernel of this name; NULL: there is none, or no room for more. */
static void *kernel_of(device *d, const char *name, int *code)
{
  int k = 0;
  while (k < d->kernels && strcmp(d->kernel_name[k], name) != 0) k++;
  if (k < d->kernels) return d->kernel[k];
  if (k == MOST_KERNELS) *code = -1;
  if (k == MOST_KERNELS) return NULL;
  *code = cuModuleGetFunction(&d->kernel[k], d->module, name);
  if (*code != 0) return NULL;
  snprintf(d->kernel_name[k], sizeof d->kernel_name[k], "%s", name);
  return d->kernel[d->kernels++];
}

static device_status run(void *self, const char *name, int64_t x, int64_t y,
                         const device_arg *args, int count)
{
  device *d = current(self);
  device_arg own[DEVICE_MOST_ARGS];
  void *value[DEVICE_MOST_ARGS];
  int code = 0;
  void *kernel = kernel_of(d, name, &code);
  for (int i = 0; i < count; i++) {
    own[i] = args[i];
    value[i] = own[i].kind == DEVICE_BUFFER  ? (void *)&own[i].buffer
               : own[i].kind == DEVICE_WHOLE ? (void *)&own[i].whole
                                             : (void *)&own[i].real;
  }
  if (code == 0)
    code = cuLaunchKernel(kernel, (unsigned)x, (unsigned)y, 1, DEVICE_GROUP, 1,
                          1, 0, NULL, value, NULL);
  return code == 0 ? DEVICE_DONE : failed(d, name, code);
}

__attribute__((visibility("default")))
const device_api lapis_cuda = {DEVICE_API_VERSION,
                               "cuda",
                               list,
                               cuda_open,
                               cuda_close,
                               cuda_describe,
                               cuda_why,
                               take,
                               release,
                               put,
                               get,
                               multiply,
                               eigh,
                               MOST_Y,
                               run};
