/* scarce.h - memory that runs out when a test says so.  The library allocates
 * in one place only; the linker sends it to scarce.c (CMakeLists.txt). */
#ifndef LAPIS_SCARCE_H
#define LAPIS_SCARCE_H
#include <stdbool.h>

typedef struct scarcity {
  long countdown; /* allocations until one fails; -1: none does */
  bool once;      /* one alone fails, not all that follow */
  bool failed;    /* one has */
  bool counts;    /* allocations: so far, while nothing is to fail */
  long allocations;
} scarcity;
extern scarcity scarce;
/* Counts one more; whether it fails. */
bool scarce_fails(void);
#endif
