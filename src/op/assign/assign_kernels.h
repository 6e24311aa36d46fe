/* assign_kernels.h - the inner loops of assignment for one type of costs.
 *
 * assign.c includes this file once for each type: REAL is the type, and
 * KERNEL(name) the name of that type's function.  A minimum does not depend on
 * the order of its terms, so that a compiler may use wide registers for it
 * (WIDTH_SIMD); its place is looked for afterwards.  Compiled for three kinds
 * of processor. */

/* The first j with c[j] <= value; there is one below n. */
WIDTH_INLINED int64_t KERNEL(find)(const REAL *c, int64_t n, REAL value)
{
  for (int64_t j = 0; j < n; j += BLOCK) {
    int32_t first = BLOCK, count = n - j < BLOCK ? (int32_t)(n - j) : BLOCK;
    WIDTH_SIMD(reduction(min : first))
    for (int32_t l = 0; l < count; l++) {
      int32_t here = c[j + l] <= value ? l : BLOCK;
      first = here < first ? here : first;
    }
    if (first < BLOCK) return j + first;
  }
  return n - 1;
}

/* Column of the smallest of c[0..n); -1 if one of them is not finite: x - x is
 * 0 for the finite only. */
WIDTH_CLONES static int64_t KERNEL(row_minimum)(const REAL *c, int64_t n)
{
  REAL best = c[0], bad = 0;
  WIDTH_SIMD(reduction(min : best) reduction(+ : bad))
  for (int64_t j = 0; j < n; j++) {
    bad += c[j] - c[j];
    best = c[j] < best ? c[j] : best;
  }
  return bad == 0 ? KERNEL(find)(c, n, best) : -1;
}

/* least[i]: the smallest of row i, of columns where shut is 0 (else it is
 * infinite). */
WIDTH_CLONES static void KERNEL(least_open)(const REAL *c, int64_t ld,
                                            int64_t rows, int64_t cols,
                                            const REAL *shut, double *least)
{
  for (int64_t i = 0; i < rows; i++, c += ld) {
    REAL best = INFINITY;
    WIDTH_SIMD(reduction(min : best))
    for (int64_t j = 0; j < cols; j++) {
      REAL v = c[j] + shut[j];
      best = v < best ? v : best;
    }
    least[i] = best;
  }
}

/* The first j with c[j] - price[j] <= value; there is one below n. */
WIDTH_INLINED int64_t KERNEL(find_reduced)(const REAL *c, const double *price,
                                           int64_t n, double value)
{
  int64_t j = 0;
  for (; j + BLOCK <= n; j += BLOCK) {
    int any = 0;
    WIDTH_SIMD(reduction(| : any))
    for (int l = 0; l < BLOCK; l++)
      any |= (double)c[j + l] - price[j + l] <= value;
    if (any) break;
  }
  while (j < n - 1 && (double)c[j] - price[j] > value) j++;
  return j;
}

/* Column of the smallest c[j] - price[j], which goes to *value; -1 if one
 * is not finite. */
WIDTH_CLONES static int64_t KERNEL(reduced_minimum)(const REAL *c,
                                                    const double *price,
                                                    int64_t n, double *value)
{
  double best = (double)c[0] - price[0], bad = 0;
  WIDTH_SIMD(reduction(min : best) reduction(+ : bad))
  for (int64_t j = 0; j < n; j++) {
    double r = (double)c[j] - price[j];
    bad += r - r;
    best = r < best ? r : best;
  }
  *value = best;
  return bad == 0 ? KERNEL(find_reduced)(c, price, n, best) : -1;
}

/* Column of the smallest c[j] - price[j], which goes to *first; the next larger
 * one, of another column, to *second (infinite: there is none). */
WIDTH_CLONES static int64_t KERNEL(two_minima)(const REAL *c,
                                               const double *price, int64_t n,
                                               double *first, double *second)
{
  double best = INFINITY, next = INFINITY;
  WIDTH_SIMD(reduction(min : best))
  for (int64_t j = 0; j < n; j++) {
    double r = (double)c[j] - price[j];
    best = r < best ? r : best;
  }
  int64_t at = KERNEL(find_reduced)(c, price, n, best);
  WIDTH_SIMD(reduction(min : next))
  for (int64_t j = 0; j < n; j++) {
    double r = j == at ? INFINITY : (double)c[j] - price[j];
    next = r < next ? r : next;
  }
  *first = best;
  *second = next;
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
WIDTH_CLONES static int64_t KERNEL(relax)(const REAL *c, double shift,
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
WIDTH_CLONES static int64_t KERNEL(relax_all)(const REAL *c, double shift,
                                              int32_t row, int64_t n,
                                              const column_arrays *t)
{
  const double *restrict held = t->held;
  double *restrict dist = t->dist;
  int32_t *restrict from = t->from;
  double best = INFINITY;
  WIDTH_SIMD(reduction(min : best))
  for (int64_t k = 0; k < n; k++) {
    double r = (double)c[k] - held[k] + shift, d = dist[k];
    from[k] = r < d ? row : from[k];
    d = r < d ? r : d;
    dist[k] = d;
    best = d < best ? d : best;
  }
  return find_f64(dist, n, best);
}
