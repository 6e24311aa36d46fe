/* parts.h - how host passes share columns among threads.
 *
 * The columns are cut into a fixed number of parts; each part is summed by
 * one thread, and the parts are added in order: the number of threads cannot
 * change a bit of the result. */
#ifndef LAPIS_PARTS_H
#define LAPIS_PARTS_H
#include <stdint.h>

#include "la/backend.h"

/* A team that waits for a processor which another program has takes longer than
 * one thread does for fewer entries (bench/results/jobs.md). */
enum { PARTS = 64, PARTS_WORTH_THREADS = 100000 /* entries */ };

/* How many threads a pass over so many entries gets. */
static inline int parts_team(const la *h, int64_t entries)
{
  return entries > PARTS_WORTH_THREADS ? base_team(h->ctx, h->threads) : 1;
}

static inline int64_t part_begin(int64_t cols, int part)
{
  return cols / PARTS * part + cols % PARTS * part / PARTS;
}
static inline double parts_sum(const double part[PARTS])
{
  double sum = 0;
  for (int p = 0; p < PARTS; p++) sum += part[p];
  return sum;
}

#endif
