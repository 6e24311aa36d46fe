/* assign_kernels.h - the inner loops of assignment for one type of costs.
 *
 * assign.c includes this file once for each type: REAL is the type, and
 * KERNEL(name) the name of that type's function.  The loops keep LANES
 * independent minima, so that a compiler may use wide registers without
 * changing an order that it must keep; compiled for three kinds of processor
 * they take 0.4 of the time (bench/assign.c). */

/* Column of the smallest of c[0..n); -1 if one of them is not finite: x - x is
 * 0 for the finite only. */
ASSIGN_WIDE static int64_t KERNEL(row_minimum)(const REAL *c, int64_t n)
{
  int64_t best_block = 0, j = 0;
  REAL best = c[0], bad[LANES] = {0};
  for (; j + BLOCK <= n; j += BLOCK) {
    REAL lane[LANES];
    for (int l = 0; l < LANES; l++) lane[l] = c[j + l];
    for (int64_t i = j; i < j + BLOCK; i += LANES)
      for (int l = 0; l < LANES; l++) {
        REAL x = c[i + l];
        bad[l] += x - x;
        lane[l] = x < lane[l] ? x : lane[l];
      }
    for (int l = 0; l < LANES; l++)
      if (lane[l] < best) best = lane[l], best_block = j;
  }
  int64_t at = best_block;
  int64_t end = best_block + BLOCK < n ? best_block + BLOCK : n;
  for (int64_t i = best_block; i < end; i++) at = c[i] < c[at] ? i : at;
  for (; j < n; j++) {
    bad[0] += c[j] - c[j];
    at = c[j] < c[at] ? j : at;
  }
  for (int l = 1; l < LANES; l++) bad[0] += bad[l];
  return bad[0] == 0 ? at : -1;
}

/* Column of the smallest c[j] - price[j], which goes to *value; -1 if one
 * is not finite. */
ASSIGN_WIDE static int64_t KERNEL(reduced_minimum)(const REAL *c,
                                                   const double *price,
                                                   int64_t n, double *value)
{
  int64_t best_block = 0, j = 0;
  double best = (double)c[0] - price[0], bad[LANES] = {0};
  for (; j + BLOCK <= n; j += BLOCK) {
    double lane[LANES];
    for (int l = 0; l < LANES; l++) lane[l] = (double)c[j + l] - price[j + l];
    for (int64_t i = j; i < j + BLOCK; i += LANES)
      for (int l = 0; l < LANES; l++) {
        double r = (double)c[i + l] - price[i + l];
        bad[l] += r - r;
        lane[l] = r < lane[l] ? r : lane[l];
      }
    for (int l = 0; l < LANES; l++)
      if (lane[l] < best) best = lane[l], best_block = j;
  }
  int64_t at = best_block;
  int64_t end = best_block + BLOCK < n ? best_block + BLOCK : n;
  best = (double)c[at] - price[at];
  for (int64_t i = best_block; i < end; i++) {
    double r = (double)c[i] - price[i];
    if (r < best) best = r, at = i;
  }
  for (; j < n; j++) {
    double r = (double)c[j] - price[j];
    bad[0] += r - r;
    if (r < best) best = r, at = j;
  }
  for (int l = 1; l < LANES; l++) bad[0] += bad[l];
  *value = best;
  return bad[0] == 0 ? at : -1;
}

/* Column of the smallest c[j] - price[j], which goes to *first; the next larger
 * one, of another column, to *second (infinite: there is none). */
ASSIGN_WIDE static int64_t KERNEL(two_minima)(const REAL *c,
                                              const double *price, int64_t n,
                                              double *first, double *second)
{
  double low[LANES], next[LANES], best = INFINITY;
  int64_t best_block = 0, whole = n - n % LANES;
  for (int l = 0; l < LANES; l++) low[l] = next[l] = INFINITY;
  for (int64_t j = 0; j < whole; j += BLOCK) {
    int64_t end = j + BLOCK < whole ? j + BLOCK : whole;
    for (int64_t i = j; i < end; i += LANES)
      for (int l = 0; l < LANES; l++) {
        double r = (double)c[i + l] - price[i + l];
        double more = r < low[l] ? low[l] : r;
        next[l] = more < next[l] ? more : next[l];
        low[l] = r < low[l] ? r : low[l];
      }
    for (int l = 0; l < LANES; l++)
      if (low[l] < best) best = low[l], best_block = j;
  }
  *first = *second = INFINITY;
  for (int l = 0; l < LANES; l++) {
    double more = low[l] < *first ? *first : low[l];
    more = next[l] < more ? next[l] : more;
    *second = more < *second ? more : *second;
    *first = low[l] < *first ? low[l] : *first;
  }
  int64_t at = best_block;
  while (at < whole && (double)c[at] - price[at] > *first) at++;
  for (int64_t j = whole; j < n; j++) {
    double r = (double)c[j] - price[j];
    if (r < *first)
      *second = *first, *first = r, at = j;
    else if (r < *second)
      *second = r;
  }
  return at;
}

/* Of the columns col[0..n), the one of least cost. */
static int32_t KERNEL(list_minimum)(const REAL *c, const int32_t *col,
                                    int64_t n)
{
  int32_t at = col[0];
  REAL best = c[at];
  for (int64_t k = 1; k < n; k++)
    if (c[col[k]] < best) best = c[col[k]], at = col[k];
  return at;
}

/* Shortens the distances of n slots (taken columns) by paths through
 * one row: dist <- min(dist, c - price + shift), and from <- row where that is
 * shorter.  Returns the nearest slot. */
ASSIGN_WIDE static int64_t KERNEL(relax)(const REAL *c, double shift,
                                         int32_t row, int64_t n,
                                         const slot_arrays *s)
{
  const int32_t *restrict col = s->col;
  const double *restrict price = s->price;
  double *restrict dist = s->dist;
  int32_t *restrict from = s->from;
  for (int64_t k = 0; k < n; k++) {
    double r = (double)c[col[k]] - price[k] + shift;
    from[k] = r < dist[k] ? row : from[k];
    dist[k] = r < dist[k] ? r : dist[k];
  }
  return n > 0 ? row_minimum_f64(dist, n) : -1;
}

/* The same for all of n columns: held is their price, minus infinity where a
 * column has been scanned. */
ASSIGN_WIDE static int64_t KERNEL(relax_all)(const REAL *c, double shift,
                                             int32_t row, int64_t n,
                                             const column_arrays *t)
{
  const double *restrict held = t->held;
  double *restrict dist = t->dist;
  int32_t *restrict from = t->from;
  double low[LANES], least = INFINITY;
  int64_t best_block = 0, whole = n - n % LANES;
  for (int64_t k = 0; k < n; k++) {
    double r = (double)c[k] - held[k] + shift;
    from[k] = r < dist[k] ? row : from[k];
    dist[k] = r < dist[k] ? r : dist[k];
  }
  for (int l = 0; l < LANES; l++) low[l] = INFINITY;
  for (int64_t j = 0; j < whole; j += BLOCK) {
    int64_t end = j + BLOCK < whole ? j + BLOCK : whole;
    for (int64_t i = j; i < end; i += LANES)
      for (int l = 0; l < LANES; l++)
        low[l] = dist[i + l] < low[l] ? dist[i + l] : low[l];
    for (int l = 0; l < LANES; l++)
      if (low[l] < least) least = low[l], best_block = j;
  }
  int64_t at = best_block;
  while (at < whole && dist[at] > least) at++;
  for (int64_t j = whole; j < n; j++)
    if (dist[j] < least) least = dist[j], at = j;
  return at;
}
