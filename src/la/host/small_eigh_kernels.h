/* small_eigh_kernels.h - the inner loops of small_eigh.c at one width.
 *
 * Included once a width, with LANES numbers a register, the attribute TARGET,
 * KERNEL(name), and STRIP registers of rows that are held at a time.  A matrix
 * has columns of ld numbers, a multiple of ALIGN, zero beyond the last row. */
typedef double KERNEL(pack)
    __attribute__((vector_size(LANES * sizeof(double)), aligned(8), may_alias));
#define PACK KERNEL(pack)

/* y <- A x over columns first .. last - 1, of `packs` registers of rows. */
INLINED void KERNEL(times_strip)(const double *A, int64_t ld, int64_t first,
                                 int64_t last, const double *x, double *y,
                                 int packs)
{
  PACK sum[STRIP];
#pragma GCC unroll 8
  for (int i = 0; i < packs; i++) sum[i] = (PACK){0};
  for (int64_t j = first; j < last; j++) {
    const double *a = A + j * ld;
    double b = x[j];
#pragma GCC unroll 8
    for (int i = 0; i < packs; i++)
      sum[i] += *(const PACK *)(a + i * LANES) * b;
  }
#pragma GCC unroll 8
  for (int i = 0; i < packs; i++) *(PACK *)(y + i * LANES) = sum[i];
}

/* A <- A - f x' - g y' over the same; g NULL: A - f x'. */
INLINED void KERNEL(less_strip)(double *A, int64_t ld, int64_t first,
                                int64_t last, const double *f, const double *x,
                                const double *g, const double *y, int packs)
{
  for (int64_t j = first; j < last; j++) {
    double *a = A + j * ld, b = x[j], c = g == NULL ? 0 : y[j];
#pragma GCC unroll 8
    for (int i = 0; i < packs; i++) {
      PACK v = *(PACK *)(a + i * LANES) - *(const PACK *)(f + i * LANES) * b;
      if (g != NULL) v -= *(const PACK *)(g + i * LANES) * c;
      *(PACK *)(a + i * LANES) = v;
    }
  }
}

/* Rotations turn[i] of columns i and i + 1, from last - 1 down to first. */
INLINED void KERNEL(rotate_strip)(double *Z, int64_t step, int64_t first,
                                  int64_t last, const rotation *turn, int packs)
{
  PACK held[STRIP];
#pragma GCC unroll 8
  for (int i = 0; i < packs; i++)
    held[i] = *(const PACK *)(Z + last * step + i * LANES);
  for (int64_t j = last - 1; j >= first; j--) {
    double *z = Z + j * step, *next = z + step, c = turn[j].c, s = turn[j].s;
#pragma GCC unroll 8
    for (int i = 0; i < packs; i++) {
      PACK v = *(const PACK *)(z + i * LANES);
      *(PACK *)(next + i * LANES) = s * v + c * held[i];
      held[i] = c * v - s * held[i];
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < packs; i++)
    *(PACK *)(Z + first * step + i * LANES) = held[i];
}

/* Rows `from` to ld in strips of STRIP registers, then of half as many. */
#define STRIPS(from, CALL)                                           \
  do {                                                               \
    int64_t r = (from);                                              \
    for (; r + STRIP * LANES <= ld; r += STRIP * LANES) CALL(STRIP); \
    for (; r + STRIP / 2 * LANES <= ld; r += STRIP / 2 * LANES)      \
      CALL(STRIP / 2);                                               \
    for (; r < ld; r += LANES) CALL(1);                              \
  } while (0)

INLINED void KERNEL(times)(const double *A, int64_t ld, int64_t from,
                           int64_t first, int64_t last, const double *x,
                           double *y)
{
#define CALL(packs) KERNEL(times_strip)(A + r, ld, first, last, x, y + r, packs)
  STRIPS(from, CALL);
#undef CALL
}

INLINED void KERNEL(less)(double *A, int64_t ld, int64_t from, int64_t first,
                          int64_t last, const double *f, const double *x,
                          const double *g, const double *y)
{
#define CALL(packs)                                                      \
  g == NULL                                                              \
      ? KERNEL(less_strip)(A + r, ld, first, last, f + r, x, NULL, NULL, \
                           packs)                                        \
      : KERNEL(less_strip)(A + r, ld, first, last, f + r, x, g + r, y, packs)
  STRIPS(from, CALL);
#undef CALL
}

INLINED void KERNEL(rotate)(double *Z, int64_t ld, int64_t step, int64_t first,
                            int64_t last, const rotation *turn)
{
#define CALL(packs) KERNEL(rotate_strip)(Z + r, step, first, last, turn, packs)
  STRIPS(0, CALL);
#undef CALL
}

/* u and h of the reflection that leaves column k with one number, beta, below
 * the diagonal; h = 0: it has no more already. */
INLINED double KERNEL(reflection)(small *s, int64_t k, double *beta)
{
  const double *a = s->A + k * s->ld;
  double sum = 0, alpha = a[k + 1];
  memset(s->u, 0, (size_t)s->ld * sizeof *s->u);
  for (int64_t i = k + 2; i < s->n; i++) {
    s->u[i] = a[i];
    sum += a[i] * a[i];
  }
  *beta = alpha;
  if (!(sum > NOTHING)) return 0;
  *beta = -copysign(sqrt(alpha * alpha + sum), alpha);
  s->u[k + 1] = alpha - *beta;
  return *beta * (*beta - alpha);
}

/* T = Z' A Z, its numbers in d and e. */
INLINED void KERNEL(tridiagonalise)(small *s)
{
  int64_t n = s->n, ld = s->ld;
  double *u = s->u, *p = s->p;
  for (int64_t k = 0; k + 1 < n; k++) {
    int64_t from = (k + 1) / ALIGN * ALIGN;
    double h = KERNEL(reflection)(s, k, &s->e[k]), up = 0;
    s->d[k] = s->A[k * ld + k];
    if (!(h > 0)) continue;
    KERNEL(times)(s->A, ld, from, k + 1, n, u, p);
    for (int64_t i = k + 1; i < n; i++) up += u[i] * (p[i] /= h);
    for (int64_t i = k + 1; i < n; i++) p[i] -= up / (2 * h) * u[i];
    KERNEL(less)(s->A, ld, from, k + 1, n, u, p, p, u);
    KERNEL(times)(s->Z, ld, 0, k + 1, n, u, p);
    for (int64_t i = 0; i < n; i++) p[i] /= h;
    KERNEL(less)(s->Z, ld, 0, k + 1, n, p, u, NULL, NULL);
  }
  s->d[n - 1] = s->A[(n - 1) * (ld + 1)];
  s->e[n - 1] = 0;
}

/* Rotation t of the columns z and z + step. */
INLINED void KERNEL(rotate_two)(double *z, int64_t ld, int64_t step, rotation t)
{
  for (int64_t r = 0; r < ld; r += ALIGN)
#pragma GCC unroll 8
    for (int64_t i = r; i < r + ALIGN; i += LANES) {
      PACK *x = (PACK *)(z + i), *y = (PACK *)(z + step + i), v = *x, w = *y;
      *y = t.s * v + t.c * w;
      *x = t.c * v - t.s * w;
    }
}

/* Squares with signs -> cosines and sines. */
INLINED void KERNEL(take_roots)(rotation *turn, int64_t first, int64_t last)
{
  double *v = &turn[0].c;
  for (int64_t i = 2 * first; i < 2 * last; i++)
    v[i] = copysign(sqrt(fabs(v[i])), v[i]);
}

/* Those that are still due. */
INLINED void KERNEL(rotate_due)(small *s, double *Z, int64_t step)
{
  if (s->first < s->last)
    KERNEL(rotate)(Z, s->ld, step, s->first, s->last, s->due);
  s->last = s->first;
}

/* One step of QL on rows l .. m.  With rotation c, s of rows i and i + 1, and
 * g the number in row i + 1 that it is made of, p = g^2 and r = p + e_i^2:
 *   c^2 = p/r,  s^2 = e_i^2/r,  gamma' = c^2 (d_i - shift) - s^2 gamma,
 *   p' = gamma'^2 / c^2,  where gamma is g times the cosine before.
 * r gamma' is `top`, so that p' = top^2 / (r p): one quotient after another.
 * Cosines are positive, and r has the sign of g. */
INLINED void KERNEL(sweep)(small *s, int64_t l, int64_t m, double *Z,
                           int64_t step)
{
  double *d = s->d, *e = s->e, shift = wilkinson_shift(s, l);
  double gamma = d[m] - shift, p = gamma * gamma, cosine = 1, sine = 0;
  double top = gamma, over = 1; /* gamma = top * over */
  for (int64_t i = m - 1; i >= l; i--) {
    double square = fabs(e[i]), less = square * top * over, r = p + square;
    double before = gamma;
    e[i + 1] = copysign(r, before) * sine;
    over = 1 / r;
    sine = e[i] * copysign(over, before);
    if (p > NO_SQUARE) {
      top = p * (d[i] - shift) - less;
      cosine = p * over;
      gamma = top * over;
      p = top * top / (r * p);
    } else { /* g = 0 */
      p = cosine * square;
      cosine = 0;
      sine = copysign(1, sine);
      top = gamma = -before;
      over = 1;
    }
    d[i + 1] = before + (d[i] - gamma);
    s->turn[i] = (rotation){cosine, sine};
    if (s->first < s->last) {
      s->last--;
      KERNEL(rotate_two)(Z + s->last * step, s->ld, step, s->due[s->last]);
    }
  }
  d[l] = shift + gamma;
  e[l] = copysign(p, gamma) * sine;
  e[m] = 0;
}

/* The steps of QL that leave d[l] an eigenvalue; Z's columns are `step` apart.
 * false: too many. */
INLINED bool KERNEL(settle)(small *s, int64_t l, double *Z, int64_t step,
                            double least)
{
  for (int t = 0; t < STEPS; t++) {
    int64_t m = end_of_block(s, l, least);
    if (m == l) return true;
    KERNEL(sweep)(s, l, m, Z, step);
    KERNEL(rotate_due)(s, Z, step);
    KERNEL(take_roots)(s->turn, l, m);
    rotation *done = s->due;
    s->due = s->turn;
    s->turn = done;
    s->first = l;
    s->last = m;
  }
  return false;
}

/* QL likes the large numbers of T last. */
INLINED bool KERNEL(diagonalise)(small *s)
{
  int64_t n = s->n, step = s->ld;
  double *Z = s->Z, norm = 0;
  for (int64_t i = 0; i < n; i++) {
    double size = fabs(s->d[i]) + fabs(s->e[i]);
    norm = size > norm ? size : norm;
  }
  if (fabs(s->d[0]) > fabs(s->d[n - 1])) {
    turn_round(s->d, n);
    turn_round(s->e, n - 1);
    Z += (n - 1) * step;
    step = -step;
  }
  s->first = s->last = 0;
  for (int64_t i = 0; i < n; i++) s->e[i] *= fabs(s->e[i]);
  for (int64_t l = 0; l < n; l++)
    if (!KERNEL(settle)(s, l, Z, step, DBL_EPSILON / 16 * norm)) return false;
  KERNEL(rotate_due)(s, Z, step);
  if (step < 0) turn_round(s->d, n);
  return true;
}

TARGET static bool KERNEL(decompose)(small *s)
{
  KERNEL(tridiagonalise)(s);
  return KERNEL(diagonalise)(s);
}

#undef STRIPS
#undef PACK
#undef KERNEL
#undef TARGET
#undef LANES
#undef STRIP
