/* table_titles.c - numbers in the first row that are titles: pandas writes
 * 0,1,2,.. (behind an empty cell where it writes row numbers, too), and columns
 * may be years.
 *
 * They rise by one step all the way, or are years; the second row does not go
 * on like that; and the columns below are of another kind: no whole numbers, or
 * none of that size.  Or they rise or fall and are all of another size than
 * what is below them, as wavelengths above reflectances are. */
#include <inttypes.h>
#include <string.h>

#include "files/table/table.h"

enum { SURE = 5, LEAST = 3 }; /* titles */

typedef struct run { /* of the numbers in a row */
  double first, last, step;
  int64_t count;
  bool whole, even, years, rises, falls;
} run;

static void take(run *r, double v)
{
  if (r->count == 0) r->first = v;
  if (r->count == 1) r->step = v - r->last;
  r->rises = r->rises && (r->count == 0 || v > r->last);
  r->falls = r->falls && (r->count == 0 || v < r->last);
  r->even = r->even && (r->count < 2 || v - r->last == r->step);
  r->years = r->years && v >= 1500 && v <= 2200;
  r->whole = r->whole && v >= -1e9 && v <= 1e9 && v == (double)(int64_t)v;
  r->last = v;
  r->count++;
}

static const run NONE = {
    .whole = true, .even = true, .years = true, .rises = true, .falls = true};

static bool is_run(const run *r)
{
  return r->whole && r->rises && (r->even || r->years);
}

/* Whether a title is of another size than the numbers below it. */
static bool is_far(const io_facts *f, double title)
{
  double width = f->high.value - f->low.value;
  return title < f->low.value - width || title > f->high.value + width;
}

/* Whether the cells of a column are of another kind than its title. */
static bool is_other(const io_facts *f, double title)
{
  if (f->numbers == 0) return f->texts > 0;
  return !f->whole || is_far(f, title);
}

table_titled table_numbers_are_titles(const table *t)
{
  run titles = NONE, below = NONE;
  int64_t other = 0, far = 0;
  bool index = t->columns > 1 && t->column[0].title.size == 0;
  if (t->rows < 2) return TABLE_DATA;
  for (int64_t j = 0; j < t->columns; j++) {
    const column *c = &t->column[j];
    double v;
    if (c->first == CSV_MISSING && (j > 0 || !index)) return TABLE_DATA;
    if (csv_value(&c->title, &v) != CSV_NUMBER) continue;
    take(&titles, v);
    if (c->facts.odd && c->facts.whole) return TABLE_DATA;
    if (c->facts.numbers > 0) take(&below, c->facts.start);
    other += is_other(&c->facts, v);
    far += c->facts.numbers > 0 && is_far(&c->facts, v);
  }
  const io_facts *first = &t->column[0].facts;
  int64_t missing = 0;
  for (int k = 0; k < CSV_ABSENCES; k++) missing += first->absent[k];
  index = index && missing == 0;
  if (titles.count >= SURE && far == titles.count &&
      (titles.rises || titles.falls))
    return TABLE_RATHER_TITLES;
  if (titles.count == 0 || !is_run(&titles)) return TABLE_DATA;
  if (below.count == titles.count && titles.count > 1 && is_run(&below) &&
      below.even == titles.even && below.step == titles.step && !index)
    return TABLE_DATA;
  if (index && (titles.count == 1 || titles.first == 0 || titles.years ||
                2 * other >= titles.count))
    return TABLE_TITLES;
  bool most = 2 * other >= titles.count;
  bool counts = titles.step == 1 && (titles.first == 0 || titles.first == 1);
  if (titles.count < LEAST)
    return other == titles.count && titles.count > 1 && (counts || titles.years)
               ? TABLE_RATHER_DATA
               : TABLE_DATA;
  if (most || (counts && titles.count >= SURE)) return TABLE_RATHER_TITLES;
  return counts || titles.years ? TABLE_RATHER_DATA : TABLE_DATA;
}
