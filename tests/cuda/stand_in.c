/* stand_in.c - what lapis-cuda asks of CUDA, done on the processor: memory of
 * the host, kernels by OpenCL (pocl) from the same text, products by BLAS and
 * eigenvalues by LAPACK.  One library with the names of four.
 *
 * CUDA_STAND_IN=NAME=CODE lets a function fail, NAME@K=CODE from its K-th call
 * on.  CUDA_STAND_IN_LOG=FILE lists the calls that are not transfers. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <cblas.h>
#include <lapacke.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/preludes.h"

#define CALL __attribute__((visibility("default"))) int
enum { MOST = 4096, MEMORY = 1 << 30, OUT_OF_MEMORY = 2, BAD_IMAGE = 200 };
static const char MARK[] = "STAND-IN\n";
typedef unsigned long long address;
typedef struct copy {
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

static struct {
  cl_device_id id;
  cl_context context;
  cl_command_queue queue;
  char *begin[MOST];
  size_t size[MOST], used;
  cl_mem buffer[MOST];
  int count, calls;
} here;

/* The code that CUDA_STAND_IN wants of this call; 0: none. */
static int failure(const char *name)
{
  const char *asked = getenv("CUDA_STAND_IN"),
             *log = getenv("CUDA_STAND_IN_LOG");
  FILE *to = log == NULL ? NULL : fopen(log, "a");
  if (to != NULL) (void)fprintf(to, "%s\n", name);
  if (to != NULL) (void)fclose(to);
  size_t n = strlen(name);
  if (asked == NULL || strncmp(asked, name, n) != 0) return 0;
  if (asked[n] == '=') return atoi(asked + n + 1);
  if (asked[n] != '@') return 0;
  return ++here.calls >= atoi(asked + n + 1) ? atoi(strchr(asked, '=') + 1) : 0;
}
#define MAY_FAIL                   \
  do {                             \
    int code_ = failure(__func__); \
    if (code_ != 0) return code_;  \
  } while (0)

/* ---- the driver -----------------------------------------------------------*/
CALL cuInit(unsigned flags)
{
  cl_platform_id platform;
  (void)flags;
  MAY_FAIL;
  return clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
         clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &here.id, NULL) !=
             CL_SUCCESS;
}

CALL cuDeviceGetCount(int *count)
{
  const char *none = getenv("CUDA_STAND_IN");
  *count = none != NULL && strcmp(none, "none") == 0 ? 0 : 1;
  return 0;
}

CALL cuDeviceGet(int *id, int i)
{
  *id = i;
  return i == 0 ? 0 : 101;
}

CALL cuDeviceGetName(char *to, int size, int id)
{
  (void)id;
  return snprintf(to, (size_t)size, "Stand-in") < 0;
}

CALL cuDeviceTotalMem_v2(size_t *bytes, int id)
{
  (void)id;
  *bytes = MEMORY;
  return 0;
}

CALL cuDeviceGetAttribute(int *value, int what, int id)
{
  (void)id;
  *value = what == 75 ? 9 : 0;
  return 0;
}

CALL cuDevicePrimaryCtxRetain(void **out, int id)
{
  cl_int code = 0;
  (void)id;
  MAY_FAIL;
  here.context = clCreateContext(NULL, 1, &here.id, NULL, NULL, &code);
  if (code == 0)
    here.queue = clCreateCommandQueue(here.context, here.id, 0, &code);
  *out = &here;
  return code;
}

CALL cuDevicePrimaryCtxRelease_v2(int id)
{
  (void)id;
  (void)clReleaseCommandQueue(here.queue);
  return clReleaseContext(here.context);
}

CALL cuCtxSetCurrent(void *context)
{
  return context != &here;
}

/* ---- memory ---------------------------------------------------------------*/
static void *host(address p)
{
  return (void *)(uintptr_t)p;
}

CALL cuMemAlloc_v2(address *out, size_t bytes)
{
  cl_int code;
  MAY_FAIL;
  if (bytes > MEMORY - here.used || here.count == MOST) return OUT_OF_MEMORY;
  int k = here.count;
  here.begin[k] = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (here.begin[k] == NULL) return OUT_OF_MEMORY;
  here.buffer[k] = clCreateBuffer(here.context, CL_MEM_USE_HOST_PTR, bytes,
                                  here.begin[k], &code);
  here.size[k] = bytes;
  here.used += bytes;
  here.count++;
  *out = (address)(uintptr_t)here.begin[k];
  return code;
}

static int find(address p)
{
  int k = 0;
  while (k < here.count && here.begin[k] != host(p)) k++;
  return k;
}

CALL cuMemFree_v2(address p)
{
  int k = find(p);
  if (k == here.count) return 1;
  (void)clReleaseMemObject(here.buffer[k]);
  free(here.begin[k]);
  here.used -= here.size[k];
  here.count--;
  here.begin[k] = here.begin[here.count];
  here.size[k] = here.size[here.count];
  here.buffer[k] = here.buffer[here.count];
  return 0;
}

CALL cuMemsetD8_v2(address p, unsigned char value, size_t bytes)
{
  memset(host(p), value, bytes);
  return 0;
}

CALL cuMemcpyHtoD_v2(address to, const void *from, size_t bytes)
{
  memcpy(host(to), from, bytes);
  return 0;
}

CALL cuMemcpyDtoH_v2(void *to, address from, size_t bytes)
{
  MAY_FAIL;
  memcpy(to, host(from), bytes);
  return 0;
}

CALL cuMemcpy2D_v2(const copy *c)
{
  const char *from = c->from_kind == 1 ? c->from_host : host(c->from_device);
  char *to = c->to_kind == 1 ? c->to_host : host(c->to_device);
  if (c->from_kind == c->to_kind || c->from_pitch < c->width ||
      c->to_pitch < c->width)
    return 1;
  for (size_t j = 0; j < c->height; j++)
    memcpy(to + j * c->to_pitch, from + j * c->from_pitch, c->width);
  return 0;
}

/* ---- kernels --------------------------------------------------------------*/
/* The text as OpenCL reads it, for the processor here. */
static cl_program build(const char *text)
{
  const char *all[] = {OPENCL_PRELUDE, text};
  cl_int code;
  cl_program p = clCreateProgramWithSource(here.context, 2, all, NULL, &code);
  if (code == 0)
    code = clBuildProgram(p, 1, &here.id, "-cl-std=CL1.2", NULL, NULL);
  static char log[1 << 16];
  if (code != 0 && clGetProgramBuildInfo(p, here.id, CL_PROGRAM_BUILD_LOG,
                                         sizeof log, log, NULL) == 0)
    (void)fprintf(stderr, "stand-in: %s\n", log);
  return code == 0 ? p : NULL;
}

CALL cuModuleLoadData(void **out, const void *image)
{
  MAY_FAIL;
  if (strncmp(image, MARK, sizeof MARK - 1) != 0) return BAD_IMAGE;
  *out = build((const char *)image + sizeof MARK - 1);
  return *out == NULL ? BAD_IMAGE : 0;
}

CALL cuModuleUnload(void *module)
{
  return clReleaseProgram(module);
}

CALL cuModuleGetFunction(void **out, void *module, const char *name)
{
  cl_int code;
  *out = clCreateKernel(module, name, &code);
  return code == 0 ? 0 : 500;
}

/* All arguments have eight bytes; a buffer is known by its address. */
CALL cuLaunchKernel(void *kernel, unsigned x, unsigned y, unsigned z,
                    unsigned across, unsigned down, unsigned deep,
                    unsigned shared, void *stream, void **value, void **extra)
{
  size_t global[2] = {(size_t)x * across, y}, local[2] = {across, 1};
  cl_uint count = 0;
  MAY_FAIL;
  if (z != 1 || down != 1 || deep != 1 || across != 256 || shared != 0 ||
      y > 65535 || stream != NULL || extra != NULL || x == 0 || y == 0)
    return 1;
  cl_int code =
      clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof count, &count, NULL);
  for (cl_uint i = 0; i < count && code == 0; i++) {
    address a;
    memcpy(&a, value[i], sizeof a);
    int k = find(a);
    code = a != 0 && k < here.count
               ? clSetKernelArg(kernel, i, sizeof(cl_mem), &here.buffer[k])
               : clSetKernelArg(kernel, i, sizeof a, value[i]);
  }
  if (code == 0)
    code = clEnqueueNDRangeKernel(here.queue, kernel, 2, NULL, global, local, 0,
                                  NULL, NULL);
  return code == 0 ? clFinish(here.queue) : code;
}

/* ---- NVRTC ----------------------------------------------------------------*/
typedef struct program {
  char *text, *made;
} program;

CALL nvrtcVersion(int *major, int *minor)
{
  *major = 12;
  *minor = 0;
  return 0;
}

CALL nvrtcCreateProgram(void **out, const char *text, const char *name,
                        int headers, const char *const *header,
                        const char *const *names)
{
  program *p = calloc(1, sizeof *p);
  (void)name;
  MAY_FAIL;
  if (p == NULL || headers != 0 || header != NULL || names != NULL) return 1;
  p->text = strdup(text);
  *out = p;
  return p->text == NULL;
}

CALL nvrtcDestroyProgram(void **at)
{
  program *p = *at;
  free(p->text);
  free(p->made);
  free(p);
  *at = NULL;
  return 0;
}

CALL nvrtcCompileProgram(void *at, int options, const char *const *option)
{
  program *p = at;
  MAY_FAIL;
  char *rest = strstr(p->text, PRELUDE_END);
  if (options != 4 || strcmp(option[0], "--gpu-architecture=sm_90") != 0 ||
      strncmp(p->text, CUDA_PRELUDE, strlen(CUDA_PRELUDE)) != 0)
    return 5;
  rest += strlen(PRELUDE_END);
  p->made = malloc(strlen(rest) + sizeof MARK);
  if (p->made == NULL) return 1;
  strcpy(p->made, MARK);
  strcat(p->made, rest);
  return 0;
}

CALL nvrtcGetCUBINSize(void *at, size_t *size)
{
  *size = strlen(((program *)at)->made) + 1;
  return 0;
}

CALL nvrtcGetCUBIN(void *at, char *to)
{
  strcpy(to, ((program *)at)->made);
  return 0;
}

static const char complaint[] = "kernels(7): error: of the stand-in\nmore";
CALL nvrtcGetProgramLogSize(void *at, size_t *size)
{
  (void)at;
  *size = sizeof complaint;
  return 0;
}

CALL nvrtcGetProgramLog(void *at, char *to)
{
  (void)at;
  strcpy(to, complaint);
  return 0;
}

/* A device has no threads that a program could set: their number, where BLAS
 * has one, must not matter here.  How many it was. */
void openblas_set_num_threads(int n) __attribute__((weak));
int openblas_get_num_threads(void) __attribute__((weak));
static int take_threads(int n)
{
  if (openblas_set_num_threads == NULL) return n;
  int before = openblas_get_num_threads();
  openblas_set_num_threads(n);
  return before;
}

/* ---- cuBLAS and cuSOLVER --------------------------------------------------*/
CALL cublasCreate_v2(void **out)
{
  MAY_FAIL;
  *out = &here;
  return 0;
}

CALL cublasDestroy_v2(void *at)
{
  return at != &here;
}

CALL cublasDgemm_v2_64(void *at, int ta, int tb, int64_t m, int64_t n,
                       int64_t k, const double *alpha, address A, int64_t lda,
                       address B, int64_t ldb, const double *beta, address C,
                       int64_t ldc)
{
  MAY_FAIL;
  if (at != &here || m <= 0 || n <= 0 || k <= 0) return 7;
  int before = take_threads(1);
  cblas_dgemm(CblasColMajor, ta ? CblasTrans : CblasNoTrans,
              tb ? CblasTrans : CblasNoTrans, (int)m, (int)n, (int)k, *alpha,
              host(A), (int)lda, host(B), (int)ldb, *beta, host(C), (int)ldc);
  (void)take_threads(before);
  return 0;
}

CALL cusolverDnCreate(void **out)
{
  MAY_FAIL;
  *out = &here;
  return 0;
}

CALL cusolverDnDestroy(void *at)
{
  return at != &here;
}

CALL cusolverDnDsyevd_bufferSize(void *at, int vectors, int upper, int n,
                                 address A, int ld, address w, int *length)
{
  (void)A;
  (void)w;
  *length = 3 * n;
  return at != &here || vectors > 1 || upper != 0 || ld < n;
}

CALL cusolverDnDsyevd(void *at, int vectors, int upper, int n, address A,
                      int ld, address w, address work, int length, address info)
{
  MAY_FAIL;
  if (at != &here || upper != 0 || length < 3 * n || work == 0) return 7;
  int before = take_threads(1);
  int code = LAPACKE_dsyevd(LAPACK_COL_MAJOR, vectors ? 'V' : 'N', 'L', n,
                            host(A), ld, host(w));
  (void)take_threads(before);
  memcpy(host(info), &code, sizeof code);
  return 0;
}
