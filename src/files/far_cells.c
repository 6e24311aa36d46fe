/* far_cells.c - the cells of a column that are far from all its others: a
 * decimal that slipped, a code for unknown, what cannot be. */
#include "files/far_cells.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mat/far.h"

enum { NAMED = 3 };

/* The first ones by value and row; returns the value that several have, all of
 * them, or NaN. */
static double name(const double *number, int64_t rows, double low, double high,
                   char *to, size_t size)
{
  double first = NAN;
  bool same = true;
  int count = 0;
  for (int64_t i = 0; i < rows; i++) {
    if (!(number[i] < low || number[i] > high)) continue;
    if (count == 0) first = number[i];
    same = same && number[i] == first;
    size_t used = strlen(to);
    if (count++ < NAMED)
      (void)snprintf(to + used, size - used, "%s%.15g in row %" PRId64,
                     count > 1 ? ", " : "", number[i], i + 1);
  }
  size_t used = strlen(to);
  if (count > NAMED) (void)snprintf(to + used, size - used, ", ...");
  return same && count > 1 ? first : NAN;
}

/* Returns what name does. */
static double say(const double *number, int64_t rows, int64_t count, double low,
                  double high, char said[FACTS_BYTES])
{
  char cells[NAMED * 48 + 8] = "",
                          right[64] = "--map trim reads such as unknown";
  double first = name(number, rows, low, high, cells, sizeof cells);
  if (!isnan(first))
    (void)snprintf(right, sizeof right,
                   "if it means unknown, give --missing %.15g", first);
  (void)snprintf(said, FACTS_BYTES,
                 "%" PRId64 " value%s far from all others (%s): %s", count,
                 count > 1 ? "s are" : " is", cells, right);
  return first;
}

static void say_heaps(const double *sorted, int64_t n, int64_t upper,
                      char said[FACTS_BYTES])
{
  (void)snprintf(said, FACTS_BYTES,
                 "%" PRId64 " values are from %.6g to %.6g and %" PRId64
                 " from %.6g to %.6g, with none between: are they in one unit?",
                 upper, sorted[0], sorted[upper - 1], n - upper, sorted[upper],
                 sorted[n - 1]);
}

lapis_status far_cells_say(lapis_ctx *ctx, const io_facts *facts,
                           double *number, int64_t rows, int64_t columns,
                           char said[FACTS_BYTES], double *code)
{
  double low, high;
  int64_t n = 0;
  *code = NAN;
  *said = '\0';
  double *sorted = base_alloc_raw(ctx, rows + 1, sizeof *sorted);
  if (sorted == NULL) return LAPIS_ENOMEM;
  for (int64_t i = 0; i < rows; i++) {
    if (facts_is_sentinel(facts, number[i])) number[i] = NAN; /* is said */
    if (isfinite(number[i])) sorted[n++] = number[i];
  }
  qsort(sorted, (size_t)n, sizeof *sorted, base_ascending);
  int64_t count = mat_count_apart(sorted, n, columns, &low, &high);
  int64_t upper = mat_upper_heap(sorted, n);
  if (upper > 0) say_heaps(sorted, n, upper, said);
  base_free(sorted);
  if (count > 0) *code = say(number, rows, count, low, high, said);
  return LAPIS_OK;
}
