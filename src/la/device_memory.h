/* device_memory.h - arrays that do not lie in the host's memory, by their
 * record.
 *
 * Each has a range of addresses that nobody can read: views are made by
 * counting addresses, as on the host, and following one is a crash. */
#ifndef LAPIS_LA_APART_H
#define LAPIS_LA_APART_H
#include "la/backend.h"

typedef struct apart {
  la h;               /* whose it is */
  la_array all;       /* the whole array */
  size_t bytes;       /* of the range, whole pages */
  double *mirror;     /* what the host sees of it; NULL: nothing yet */
  void *buffer;       /* a device's memory */
  struct apart *next; /* in a backend's list */
} apart;

/* A range of addresses and its record: *out is the whole array. */
lapis_status apart_new(la *h, lapis_dtype t, int64_t rows, int64_t cols,
                       la_array *out);
void apart_free(apart *a);
/* LAPIS_EINVAL: memory of the host was handed to a device. */
lapis_status apart_refuse(la *h);
/* How many entries lie before the first one of A in its array. */
static inline int64_t apart_offset(const la_array *A)
{
  int64_t size = A->dtype == LAPIS_F64 ? 8 : 4;
  return ((const char *)A->data - (const char *)A->own->all.data) / size;
}

#endif
