/* milp.h - what the library and its plug-in lapis-cbc say to each other.
 *
 *   maximize gain'x  subject to  rows of A x <= high,  x in {0, 1}
 *
 * The plug-in is loaded when it is needed, so nothing here may depend on how
 * either side was built but plain C; a change of this file is a new version. */
#ifndef LAPIS_VISION_MILP_H
#define LAPIS_VISION_MILP_H

enum { MILP_VERSION = 1 };

typedef struct milp {
  int cols, rows;
  const double *gain;  /* cols */
  const int *start;    /* rows + 1 */
  const int *col;      /* start[rows] */
  const double *value; /* start[rows] */
  const double *high;  /* rows */
  double known;        /* only a greater gain is asked for */
  double seconds;      /* that an answer may take */
  double *x;           /* cols; out */
  double bound;        /* out: no x has a greater gain */
} milp;

typedef enum milp_status {
  MILP_SOLVED,
  MILP_STOPPED, /* out of time: bound holds, x may be nothing */
  MILP_FAILED
} milp_status;

/* The one symbol of the plug-in, lapis_cbc, is of this type. */
typedef struct milp_api {
  int version; /* MILP_VERSION */
  const char *name;
  void *(*open)(void); /* NULL: no memory */
  void (*close)(void *self);
  /* x in [0, 1]; later calls with more rows go on from there. */
  milp_status (*relax)(void *self, milp *p);
  /* x in {0, 1}; bound = known where none is greater. */
  milp_status (*solve)(void *self, milp *p);
} milp_api;

#endif
