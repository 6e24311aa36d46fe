/* comm_api.h - what the library and its plug-in for MPI say to each other.
 *
 * The plug-in is loaded when it is asked for, so nothing here may depend on how
 * either side was built but plain C; a change of this file, or of lapis_comm,
 * is a new version. */
#ifndef LAPIS_COMM_API_H
#define LAPIS_COMM_API_H
#include "lapis/lapis.h"

enum { COMM_API_VERSION = 1 };

/* The one symbol of the plug-in, lapis_mpi, is of this type. */
typedef struct comm_api {
  int version; /* COMM_API_VERSION */
  const char *name;
  /* Every process that mpirun started, in *out; near: how many of them are on
   * this machine.  0, or a code and a reason in why (size bytes). */
  int (*open)(lapis_comm *out, int *near, char *why, size_t size);
  void (*close)(void); /* the end of it, by all */
} comm_api;

#endif
