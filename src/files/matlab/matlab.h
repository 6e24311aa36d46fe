/* matlab.h - MATLAB 5 files, between the files that read them. */
#ifndef LAPIS_IO_MAT_H
#define LAPIS_IO_MAT_H
#include "files/io.h"

/* Types of elements. */
enum {
  MI_INT8 = 1,
  MI_UINT8 = 2,
  MI_INT16 = 3,
  MI_UINT16 = 4,
  MI_INT32 = 5,
  MI_UINT32 = 6,
  MI_SINGLE = 7,
  MI_DOUBLE = 9,
  MI_INT64 = 12,
  MI_UINT64 = 13,
  MI_MATRIX = 14,
  MI_COMPRESSED = 15,
  MI_UTF8 = 16,
  MI_UTF16 = 17
};
/* Classes of variables. */
enum {
  MX_CELL = 1,
  MX_STRUCT = 2,
  MX_CHAR = 4,
  MX_SPARSE = 5,
  MX_DOUBLE = 6,
  MX_SINGLE = 7,
  MX_INT8 = 8,
  MX_UINT64 = 15
};

typedef struct mat_bytes { /* elements one after the other */
  lapis_ctx *ctx;
  const char *what; /* "a.mat", "a.mat: variable X" */
  const unsigned char *at, *end;
  bool big;
} mat_bytes;
typedef struct mat_element {
  uint32_t type;
  const unsigned char *data;
  int64_t size;
} mat_element;
/* The next element; its bytes are all there. */
lapis_status mat_next(mat_bytes *b, mat_element *e);

typedef struct mat_variable {
  int class;
  bool logical, complex;
  char name[256];
  int axes;
  int64_t shape[LAPIS_MAX_AXES], count;
  mat_bytes rest; /* what follows the name */
} mat_variable;
/* The head of the variable in a matrix element. */
lapis_status mat_head(const mat_bytes *outer, const mat_element *matrix,
                      mat_variable *v);
/* What it holds; skipped: it is nothing an array can be. */
lapis_status mat_value(mat_variable *v, lapis_array *out, bool *skipped);

#endif
