/* small_eigh.c - C = Q diag(values) Q' of a small symmetric C.
 *
 * Householder reflections to tridiagonal form, the product of them beside it
 * (EISPACK's tred2: Martin, Reinsch and Wilkinson 1968), and QL steps with
 * Wilkinson's shift, without square roots (Pal, Walker and Kahan: Parlett, The
 * Symmetric Eigenvalue Problem, 8.15).  LAPACK does the same by parts for large
 * matrices, and takes the form without roots for eigenvalues alone; of one of
 * order 30 its calls cost more than the arithmetic.  Here a column is a few
 * registers.  What a step of QL takes is waiting: each rotation needs the one
 * before it.  The recurrence in squares has one quotient in its chain, where
 * that in sines and cosines has a root and three products more; it gives
 * squares of the cosines and sines, of which the roots are taken side by side
 * afterwards.  While it waits, the rotations of the step before turn Q.
 * bench/roml.c, order 30, Zen 4: see bench/results/roml.md.
 *
 * Numerics: C is scaled by a power of two to entries below 2, so that no square
 * overflows, and one that vanishes is less than rounding; of subnormal entries
 * by the largest that is a double.  Reflections and rotations are backward
 * stable: gamma = c g, of the cosine c of the rotation before and the number g
 * that makes the next one, has the rounding of its own terms, so that g has
 * that of |T|.  An e_i is left out where it is below eps of its neighbours, or
 * of eps/16 |T|: n of them move no eigenvalue by more than eps n |T| / 16.
 * Compiled with contraction (CMakeLists.txt). */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/width.h"
#include "la/host/host.h"

#define INLINED WIDTH_INLINED

enum { ALIGN = 8, STEPS = 30 }; /* STEPS: QL steps for one eigenvalue */
/* A sum of squares below this is 0 beside a norm of 1; above, it has all its
 * digits. */
static const double NOTHING = 1e-290;
/* A g^2 below this is 0, too; above, it and its square have all their digits.
 */
static const double NO_SQUARE = 1e-140;

typedef struct rotation {
  double c, s;
} rotation;

typedef struct small {
  int64_t n, ld;
  double *A, *Z; /* ld x n: C, then what is left of it; Q */
  double *d, *e; /* n: diagonal, and beside it; of QL, e |e| for e */
  double *u, *p; /* ld: a reflection I - u u'/h; A u, Z u */
  /* n each, of a step of QL: as they are found, the squares with the signs; and
   * those of the step before, of which first .. last - 1 have yet to turn Z. */
  rotation *turn, *due;
  int64_t first, last;
  int64_t *order; /* n */
} small;

/* The first e_m from e_l on that can be left out. */
static int64_t end_of_block(const small *s, int64_t l, double least)
{
  int64_t m = l;
  for (; m + 1 < s->n; m++) {
    double near = DBL_EPSILON * (fabs(s->d[m]) + fabs(s->d[m + 1]));
    double square = fabs(s->e[m]);
    if (!(square > least * least && square > near * near)) break;
  }
  return m;
}

/* The eigenvalue nearer to d_l of T's block of d_l, d_l+1. */
static double wilkinson_shift(const small *s, int64_t l)
{
  double half = (s->d[l + 1] - s->d[l]) / 2, square = fabs(s->e[l]);
  double root = sqrt(half * half + square);
  return s->d[l] - square / (half + copysign(root, half));
}

static void turn_round(double *v, int64_t n)
{
  for (int64_t i = 0; i < n - 1 - i; i++) {
    double x = v[i];
    v[i] = v[n - 1 - i];
    v[n - 1 - i] = x;
  }
}

#if defined(WIDTH_MANY)
#define KERNEL(name) name##_avx512
#define TARGET WIDTH_TARGET_AVX512
#define LANES 8
#define STRIP 4
#include "la/host/small_eigh_kernels.h"
#define KERNEL(name) name##_avx2
#define TARGET WIDTH_TARGET_AVX2_FMA
#define LANES 4
#define STRIP 8
#include "la/host/small_eigh_kernels.h"
#endif
#define KERNEL(name) name##_plain
#define TARGET
#define LANES 2
#define STRIP 4
#include "la/host/small_eigh_kernels.h"

typedef bool decompose_kernel(small *s);
static decompose_kernel *const decompose[WIDTHS] = {
    [WIDTH_PLAIN] = decompose_plain,
#if defined(WIDTH_MANY)
    [WIDTH_AVX2] = decompose_avx2,
    [WIDTH_AVX512] = decompose_avx512,
#endif
};

/* A <- C / scale, a power of two; Z <- I. */
static double begin(small *s, const la_array *C)
{
  double most = 0;
  for (int64_t j = 0; j < s->n; j++)
    for (int64_t i = j; i < s->n; i++) {
      double size = fabs(host_col(C, j)[i]);
      most = size > most ? size : most;
    }
  int exponent = 0;
  frexp(most, &exponent);
  if (exponent < DBL_MIN_EXP) exponent = DBL_MIN_EXP;
  if (exponent >= DBL_MAX_EXP) exponent = DBL_MAX_EXP - 1;
  double factor = ldexp(1, -exponent);
  memset(s->A, 0, (size_t)(2 * s->ld * s->n) * sizeof *s->A); /* and Z */
  for (int64_t j = 0; j < s->n; j++) {
    for (int64_t i = j; i < s->n; i++)
      s->A[j * s->ld + i] = s->A[i * s->ld + j] = host_col(C, j)[i] * factor;
    s->Z[j * s->ld + j] = 1;
  }
  return ldexp(1, exponent);
}

/* A NaN is no answer. */
static bool all_finite(const small *s, double scale)
{
  for (int64_t i = 0; i < s->n; i++)
    if (!isfinite(s->d[i] * scale)) return false;
  return true;
}

/* Those above, largest first. */
static int64_t sort_above(small *s, double above, double scale)
{
  int64_t count = 0;
  for (int64_t i = 0; i < s->n; i++) {
    double v = s->d[i];
    if (!(v * scale > above)) continue;
    int64_t at = count++;
    for (; at > 0 && s->d[s->order[at - 1]] < v; at--)
      s->order[at] = s->order[at - 1];
    s->order[at] = i;
  }
  return count;
}

lapis_status host_small_eigh(la *h, const la_array *C, double above,
                             double *values, la_array *Q, int64_t *count,
                             bool *done)
{
  int64_t n = C->rows, ld = (n + ALIGN - 1) / ALIGN * ALIGN;
  double *memory = host_borrow(h, 2 * ld * n + 2 * ld + 7 * n);
  if (memory == NULL) return LAPIS_ENOMEM;
  small s = {.n = n, .ld = ld, .A = memory};
  s.Z = s.A + ld * n;
  s.u = s.Z + ld * n;
  s.p = s.u + ld;
  s.d = s.p + ld;
  s.e = s.d + n;
  s.turn = (rotation *)(s.e + n);
  s.due = s.turn + n;
  s.order = (int64_t *)(s.due + n);
  double scale = begin(&s, C);
  *done = decompose[base_width_of(h->ctx)](&s);
  *done = *done && all_finite(&s, 1);
  bool known = all_finite(&s, scale);
  *count = *done && known ? sort_above(&s, above, scale) : 0;
  for (int64_t k = 0; k < *count; k++) {
    int64_t j = s.order[k];
    values[k] = s.d[j] * scale;
    memcpy(host_col(Q, k), s.Z + j * ld, (size_t)n * sizeof(double));
  }
  host_release(h, memory);
  if (*done && !known)
    return lapis_fail(h->ctx, LAPIS_ENUMERIC,
                      "la: eigh: an eigenvalue is too large for a double");
  return LAPIS_OK;
}
