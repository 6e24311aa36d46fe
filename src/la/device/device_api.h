/* device_api.h - what the library and a plug-in for devices say to each other.
 *
 * A plug-in knows memory, transfers and how to run a kernel by its name; what a
 * pass is and which kernels it takes is device.c's.  It is loaded when it is
 * asked for, so nothing here may depend on how either side was built but plain
 * C; a change of this file, or of a kernel's arguments, is a new version. */
#ifndef LAPIS_LA_DEVICE_API_H
#define LAPIS_LA_DEVICE_API_H
#include <stddef.h>
#include <stdint.h>

enum { DEVICE_API_VERSION = 4 };
/* Kernels run in groups of so many; a product's group makes a square tile. */
enum { DEVICE_GROUP = 256, DEVICE_TILE = 64, DEVICE_MOST_ARGS = 32 };

typedef enum device_status {
  DEVICE_DONE,
  DEVICE_NO_MEMORY, /* of the device */
  DEVICE_FAILED,
  DEVICE_ABSENT /* it has no such thing: do it another way */
} device_status;

typedef struct device_arg {
  enum { DEVICE_BUFFER, DEVICE_WHOLE, DEVICE_REAL } kind;
  void *buffer;
  int64_t whole; /* a long of a kernel */
  double real;
} device_arg;

/* rows x cols doubles of a buffer. */
typedef struct device_block {
  void *buffer;
  int64_t first, rows, cols, ld;
} device_block;

/* Whether it and the host's numbers, columns ld apart, lie in one piece each.
 */
static inline int device_is_whole(const device_block *b, int64_t ld)
{
  return b->cols == 1 || (b->ld == b->rows && ld == b->rows);
}

/* C = alpha op(A) op(B) + beta C, where op transposes if ta, tb say so; A's
 * block is as it lies, C is not empty, A or B may be.  beta 0 never reads C. */
typedef struct device_product {
  int ta, tb;
  double alpha, beta;
  device_block A, B, C;
} device_product;

/* Calls of one device come one at a time.  What is asked for is done in the
 * order in which it was asked for; read and write have ended when they return.
 * Where something fails, why() is a sentence without its end. */
typedef struct device_api {
  int version;      /* DEVICE_API_VERSION */
  const char *name; /* "opencl" */
  /* What device i (from 0) is, in size bytes; 0: there is none such. */
  int (*list)(int i, char *text, size_t size);
  /* Device i, -1: the first that serves, a GPU before others; NULL: why, in
   * size bytes.  cache: a folder for what was compiled, of ours alone; NULL:
   * there is none. */
  void *(*open)(int i, const char *cache, char *why, size_t size);
  /* What it allocated has been freed before. */
  void (*close)(void *self);
  const char *(*describe)(void *self); /* lives as long as the device */
  const char *(*why)(void *self);
  device_status (*alloc)(void *self, size_t bytes, void **out); /* zeroes */
  void (*free)(void *self, void *buffer, size_t bytes);
  device_status (*write)(void *self, const device_block *to, const double *from,
                         int64_t ld);
  device_status (*read)(void *self, const device_block *from, double *to,
                        int64_t ld);
  /* The product by a library that is tuned for the device, or DEVICE_ABSENT:
   * the kernel gemm does it. */
  device_status (*multiply)(void *self, const device_product *p);
  /* Eigenvalues of symmetric C, smallest first, into values (host), and where
   * `vectors` its eigenvectors in that order in C, which is destroyed else; or
   * DEVICE_ABSENT.  NULL: it has no such thing. */
  device_status (*eigh)(void *self, const device_block *C, int vectors,
                        double *values);
  /* x times y groups of a kernel, y at most most_y. */
  int64_t most_y;
  device_status (*run)(void *self, const char *kernel, int64_t x, int64_t y,
                       const device_arg *args, int count);
} device_api;

#endif
