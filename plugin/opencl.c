/* opencl.c - the plug-in lapis-opencl: memory, transfers and kernels of a
 * device that OpenCL knows.
 *
 * This file alone includes OpenCL; it becomes a shared library that LAPIS opens
 * at run time.  OpenCL 1.2 with doubles is enough.  The kernels are compiled
 * when a device is opened; what they were compiled to is kept by the driver
 * (pocl: ~/.cache/pocl). */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device_kernels.h"
#include "la/device/device_api.h"
#include "preludes.h"

enum { MOST_PLATFORMS = 16, MOST_DEVICES = 16, MOST_KERNELS = 64 };
enum { NAME_SIZE = 256, WHY_SIZE = 512 };
/* Groups along the second side of a launch: OpenCL sets no limit, but NVIDIA's
 * driver hands them to CUDA, which does. */
enum { MOST_Y = 65535 };

/* CLBlastDgemm of CLBlast 1.5, whose header nothing else needs. */
enum { CLBLAST_BY_COLUMNS = 102, CLBLAST_PLAIN = 111, CLBLAST_TURNED = 112 };
typedef int clblast_gemm(int layout, int ta, int tb, size_t m, size_t n,
                         size_t depth, double alpha, cl_mem A, size_t A_at,
                         size_t A_ld, cl_mem B, size_t B_at, size_t B_ld,
                         double beta, cl_mem C, size_t C_at, size_t C_ld,
                         cl_command_queue *queue, cl_event *event);

typedef struct device {
  cl_context context;
  cl_command_queue queue;
  cl_kernel kernel[MOST_KERNELS];
  char kernel_name[MOST_KERNELS][64];
  cl_uint kernels;
  clblast_gemm *gemm; /* NULL: by our own kernel */
  size_t used, room;  /* bytes */
  char name[NAME_SIZE], text[NAME_SIZE + 32], why[WHY_SIZE];
} device;

/* ---- which there are ----------------------------------------------------*/
/* Device i of all platforms. */
static int find(int i, cl_device_id *out)
{
  cl_platform_id platform[MOST_PLATFORMS];
  cl_uint platforms = 0;
  if (clGetPlatformIDs(MOST_PLATFORMS, platform, &platforms) != CL_SUCCESS)
    return 0;
  if (platforms > MOST_PLATFORMS) platforms = MOST_PLATFORMS;
  for (cl_uint p = 0; p < platforms; p++) {
    cl_device_id all[MOST_DEVICES];
    cl_uint count = 0;
    if (clGetDeviceIDs(platform[p], CL_DEVICE_TYPE_ALL, MOST_DEVICES, all,
                       &count) != CL_SUCCESS)
      continue;
    if (count > MOST_DEVICES) count = MOST_DEVICES;
    if (i < (int)count) {
      *out = all[i];
      return 1;
    }
    i -= (int)count;
  }
  return 0;
}

static void name_of(cl_device_id id, char name[NAME_SIZE])
{
  char full[1024] = "";
  if (clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof full, full, NULL) !=
      CL_SUCCESS)
    full[0] = '\0';
  snprintf(name, NAME_SIZE, "%.200s", full[0] == '\0' ? "unnamed" : full);
}

static cl_ulong number_of(cl_device_id id, cl_device_info what)
{
  cl_ulong value = 0;
  if (clGetDeviceInfo(id, what, sizeof value, &value, NULL) != CL_SUCCESS)
    return 0;
  return value;
}

static int has_doubles(cl_device_id id)
{
  return number_of(id, CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
}

static int list(int i, char *text, size_t size)
{
  cl_device_id id;
  char name[NAME_SIZE], version[NAME_SIZE] = "";
  if (!find(i, &id)) return 0;
  name_of(id, name);
  if (clGetDeviceInfo(id, CL_DEVICE_VERSION, sizeof version, version, NULL) !=
      CL_SUCCESS)
    version[0] = '\0';
  snprintf(text, size, "%s, %.10s, %.1f GB%s", name, version,
           (double)number_of(id, CL_DEVICE_GLOBAL_MEM_SIZE) / 1e9,
           has_doubles(id) ? "" : "; no float64: cannot be used");
  return 1;
}

/* Device i, or the first that serves, a GPU before others. */
static int choose(int i, cl_device_id *out, char *why, size_t size)
{
  cl_device_id id;
  char name[NAME_SIZE];
  if (i >= 0 && !find(i, out)) {
    snprintf(why, size, "there is no OpenCL device %d; lapis info lists them",
             i);
    return 0;
  }
  if (i >= 0 && has_doubles(*out)) return 1;
  if (i >= 0) {
    name_of(*out, name);
    snprintf(why, size, "%s has no float64, which LAPIS computes in", name);
    return 0;
  }
  int found = 0, others = 0;
  for (int k = 0; find(k, &id); k++) {
    cl_ulong type = number_of(id, CL_DEVICE_TYPE);
    others += !has_doubles(id);
    if (!has_doubles(id) || (found && (type & CL_DEVICE_TYPE_GPU) == 0))
      continue;
    *out = id;
    found = 1;
    if ((type & CL_DEVICE_TYPE_GPU) != 0) break;
  }
  if (found) return 1;
  snprintf(why, size,
           others > 0 ? "no OpenCL device here has float64, which LAPIS "
                        "computes in"
                      : "no OpenCL device is here; Debian: pocl-opencl-icd for "
                        "the processor, or the driver of your GPU");
  return 0;
}

/* ---- errors ---------------------------------------------------------------*/
static device_status failed(device *d, const char *what, cl_int code)
{
  int memory = code == CL_MEM_OBJECT_ALLOCATION_FAILURE ||
               code == CL_OUT_OF_RESOURCES || code == CL_OUT_OF_HOST_MEMORY ||
               code == CL_INVALID_BUFFER_SIZE;
  if (code == CL_INVALID_BUFFER_SIZE)
    snprintf(d->why, sizeof d->why, "%s has no memory in one piece for %s",
             d->name, what);
  else if (memory)
    snprintf(d->why, sizeof d->why,
             "%s has no memory left for %s (%.2f of %.2f GB are taken)",
             d->name, what, (double)d->used / 1e9, (double)d->room / 1e9);
  else
    snprintf(d->why, sizeof d->why, "%s failed at %s (OpenCL says %d)", d->name,
             what, (int)code);
  return memory ? DEVICE_NO_MEMORY : DEVICE_FAILED;
}

/* ---- opening --------------------------------------------------------------*/
static cl_int build(device *d, cl_device_id id, char *log, size_t size)
{
  const char *text[] = {OPENCL_PRELUDE, (const char *)device_kernels};
  size_t length[] = {strlen(text[0]), (size_t)device_kernels_size};
  cl_int code;
  cl_program program =
      clCreateProgramWithSource(d->context, 2, text, length, &code);
  if (code != CL_SUCCESS) return code;
  code = clBuildProgram(program, 1, &id, "-cl-std=CL1.2", NULL, NULL);
  if (code != CL_SUCCESS &&
      clGetProgramBuildInfo(program, id, CL_PROGRAM_BUILD_LOG, size, log,
                            NULL) != CL_SUCCESS)
    log[0] = '\0';
  if (code == CL_SUCCESS)
    code =
        clCreateKernelsInProgram(program, MOST_KERNELS, d->kernel, &d->kernels);
  for (cl_uint k = 0; k < d->kernels && code == CL_SUCCESS; k++)
    code = clGetKernelInfo(d->kernel[k], CL_KERNEL_FUNCTION_NAME,
                           sizeof d->kernel_name[k], d->kernel_name[k], NULL);
  (void)clReleaseProgram(program); /* the kernels hold it */
  return code;
}

static cl_int start(device *d, cl_device_id id, char *log, size_t size)
{
  cl_int code;
  d->context = clCreateContext(NULL, 1, &id, NULL, NULL, &code);
  if (code != CL_SUCCESS) return code;
  d->queue = clCreateCommandQueue(d->context, id, 0, &code);
  return code == CL_SUCCESS ? build(d, id, log, size) : code;
}

/* CLBlast is tuned for GPUs; LAPIS_OPENCL_GEMM says clblast or own for all. */
static clblast_gemm *find_gemm(cl_device_id id)
{
  const char *asked = getenv("LAPIS_OPENCL_GEMM");
  int wanted = (number_of(id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_GPU) != 0;
  if (asked != NULL) wanted = strcmp(asked, "clblast") == 0;
  void *library =
      wanted ? dlopen("libclblast.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)
             : NULL;
  clblast_gemm *found = NULL;
  if (library == NULL) return NULL;
  /* a pointer to a function out of one to data: POSIX's way */
  *(void **)&found = dlsym(library, "CLBlastDgemm");
  dlclose(library);
  return found;
}

static void opencl_close(void *self)
{
  device *d = self;
  for (cl_uint k = 0; k < d->kernels; k++) (void)clReleaseKernel(d->kernel[k]);
  if (d->queue != NULL) (void)clReleaseCommandQueue(d->queue);
  if (d->context != NULL) (void)clReleaseContext(d->context);
  free(d);
}

static void *opencl_open(int i, const char *cache, char *why, size_t size)
{
  (void)cache; /* drivers keep what they compile themselves */
  enum { LOG_SIZE = 1 << 16 };
  cl_device_id id;
  if (!choose(i, &id, why, size)) return NULL;
  device *d = calloc(1, sizeof *d);
  char *log = calloc(1, LOG_SIZE);
  if (d == NULL || log == NULL) {
    snprintf(why, size, "out of memory");
    free(d), free(log);
    return NULL;
  }
  name_of(id, d->name);
  d->gemm = find_gemm(id);
  snprintf(d->text, sizeof d->text, "opencl %s%s", d->name,
           d->gemm != NULL ? " with CLBlast" : "");
  d->room = (size_t)number_of(id, CL_DEVICE_GLOBAL_MEM_SIZE);
  cl_int code = start(d, id, log, LOG_SIZE);
  if (code != CL_SUCCESS) {
    snprintf(why, size, "%s cannot be used (OpenCL says %d%s%.200s)", d->name,
             (int)code, log[0] == '\0' ? "" : ": ", log);
    opencl_close(d);
    d = NULL;
  }
  free(log);
  return d;
}

static const char *opencl_describe(void *self)
{
  return ((device *)self)->text;
}

static const char *opencl_why(void *self)
{
  return ((device *)self)->why;
}

/* ---- memory ---------------------------------------------------------------*/
static void release(void *self, void *buffer, size_t bytes)
{
  device *d = self;
  if (buffer == NULL) return;
  (void)clReleaseMemObject(buffer);
  d->used -= bytes;
}

/* Some drivers promise more than there is: what is taken is counted. */
static device_status take(void *self, size_t bytes, void **out)
{
  device *d = self;
  double zero = 0;
  cl_int code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
  char what[64];
  snprintf(what, sizeof what, "an array of %.2f GB", (double)bytes / 1e9);
  *out = NULL;
  if (bytes > d->room || d->used > d->room - bytes)
    return failed(d, what, code);
  cl_mem buffer =
      clCreateBuffer(d->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
  if (code != CL_SUCCESS) return failed(d, what, code);
  d->used += bytes;
  code = clEnqueueFillBuffer(d->queue, buffer, &zero, sizeof zero, 0, bytes, 0,
                             NULL, NULL);
  if (code != CL_SUCCESS) {
    release(d, buffer, bytes);
    return failed(d, what, code);
  }
  *out = buffer;
  return DEVICE_DONE;
}

/* A block as the rectangle that OpenCL counts in bytes. */
typedef struct rectangle {
  size_t origin[3], region[3], pitch;
} rectangle;

static rectangle rectangle_of(const device_block *b)
{
  size_t size = sizeof(double);
  return (rectangle){
      {(size_t)(b->first % b->ld) * size, (size_t)(b->first / b->ld), 0},
      {(size_t)b->rows * size, (size_t)b->cols, 1},
      (size_t)b->ld * size};
}

static device_status put(void *self, const device_block *to, const double *from,
                         int64_t ld)
{
  device *d = self;
  size_t size = sizeof *from, none[3] = {0, 0, 0};
  rectangle r = rectangle_of(to);
  cl_int code =
      device_is_whole(to, ld)
          ? clEnqueueWriteBuffer(
                d->queue, to->buffer, CL_TRUE, (size_t)to->first * size,
                (size_t)(to->rows * to->cols) * size, from, 0, NULL, NULL)
          : clEnqueueWriteBufferRect(d->queue, to->buffer, CL_TRUE, r.origin,
                                     none, r.region, r.pitch, 0,
                                     (size_t)ld * size, 0, from, 0, NULL, NULL);
  return code == CL_SUCCESS ? DEVICE_DONE : failed(d, "a transfer", code);
}

static device_status get(void *self, const device_block *from, double *to,
                         int64_t ld)
{
  device *d = self;
  size_t size = sizeof *to, none[3] = {0, 0, 0};
  rectangle r = rectangle_of(from);
  cl_int code =
      device_is_whole(from, ld)
          ? clEnqueueReadBuffer(
                d->queue, from->buffer, CL_TRUE, (size_t)from->first * size,
                (size_t)(from->rows * from->cols) * size, to, 0, NULL, NULL)
          : clEnqueueReadBufferRect(d->queue, from->buffer, CL_TRUE, r.origin,
                                    none, r.region, r.pitch, 0,
                                    (size_t)ld * size, 0, to, 0, NULL, NULL);
  return code == CL_SUCCESS ? DEVICE_DONE : failed(d, "a transfer", code);
}

/* ---- kernels --------------------------------------------------------------*/
static cl_int set_arg(cl_kernel kernel, cl_uint i, const device_arg *a)
{
  cl_mem buffer = a->buffer;
  cl_long whole = a->whole;
  cl_double real = a->real;
  if (a->kind == DEVICE_BUFFER)
    return clSetKernelArg(kernel, i, sizeof buffer, &buffer);
  if (a->kind == DEVICE_WHOLE)
    return clSetKernelArg(kernel, i, sizeof whole, &whole);
  return clSetKernelArg(kernel, i, sizeof real, &real);
}

static device_status run(void *self, const char *name, int64_t x, int64_t y,
                         const device_arg *args, int count)
{
  device *d = self;
  size_t global[2] = {(size_t)x * DEVICE_GROUP, (size_t)y};
  static const size_t local[2] = {DEVICE_GROUP, 1};
  cl_uint k = 0;
  while (k < d->kernels && strcmp(d->kernel_name[k], name) != 0) k++;
  cl_int code = k < d->kernels ? CL_SUCCESS : CL_INVALID_KERNEL_NAME;
  for (int i = 0; i < count && code == CL_SUCCESS; i++)
    code = set_arg(d->kernel[k], (cl_uint)i, &args[i]);
  if (code == CL_SUCCESS)
    code = clEnqueueNDRangeKernel(d->queue, d->kernel[k], 2, NULL, global,
                                  local, 0, NULL, NULL);
  return code == CL_SUCCESS ? DEVICE_DONE : failed(d, name, code);
}

/* CLBlast knows no empty products. */
static device_status multiply(void *self, const device_product *p)
{
  device *d = self;
  const device_block *A = &p->A, *B = &p->B, *C = &p->C;
  int64_t depth = p->ta ? A->rows : A->cols;
  if (d->gemm == NULL || depth == 0) return DEVICE_ABSENT;
  int code = d->gemm(CLBLAST_BY_COLUMNS, p->ta ? CLBLAST_TURNED : CLBLAST_PLAIN,
                     p->tb ? CLBLAST_TURNED : CLBLAST_PLAIN, (size_t)C->rows,
                     (size_t)C->cols, (size_t)depth, p->alpha, A->buffer,
                     (size_t)A->first, (size_t)A->ld, B->buffer,
                     (size_t)B->first, (size_t)B->ld, p->beta, C->buffer,
                     (size_t)C->first, (size_t)C->ld, &d->queue, NULL);
  return code == 0 ? DEVICE_DONE : failed(d, "a product by CLBlast", code);
}

__attribute__((visibility("default")))
const device_api lapis_opencl = {DEVICE_API_VERSION,
                                 "opencl",
                                 list,
                                 opencl_open,
                                 opencl_close,
                                 opencl_describe,
                                 opencl_why,
                                 take,
                                 release,
                                 put,
                                 get,
                                 multiply,
                                 NULL,
                                 MOST_Y,
                                 run};
