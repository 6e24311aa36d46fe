/* chi2.c - the proximal step of chi2 for columns of entries, without branches
 * or comparisons, so that a compiler works on several at a time (comparisons
 * may trap, and keep it from doing so).  It is where the pos and
 * simplex variants spend their passes: entry by entry, k_prox_chi2 takes some
 * 80 ns, this some 15.
 *
 * With r = z0/(z + z0) in (0, 1] the optimality condition is
 *
 *   T r^3 + B r = 1,   T = 4t/z0,  B = (v + z0 - t)/z0,
 *
 * convex in r > 0 with one positive root.  Upper bounds of the root: 1; 1/B
 * where B > 1; sqrt(-B/T) + T^(-1/3) where B < 0; T^(-1/3) otherwise.  Square
 * roots give T^(-5/16), at most a third above T^(-1/3) up to T = 1e6.  From
 * there three steps of Halley's method and one polish (losses.h) are enough;
 * the last step says whether they were, and if not the careful kernel takes
 * the entry. */
#include "la/host/chi2.h"

#include "la/losses.h"

enum { CHUNK = 64, HALLEY_STEPS = 3 };

/* One copy of the loop a width of vectors, chosen when the library is loaded.
 * All copies give the same bits: they differ in width alone, nothing is fused
 * (-ffp-contract=off), and division and square root are exact to rounding. */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__)
#define EVERY_WIDTH __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define EVERY_WIDTH
#endif

static inline double larger(double a, double b)
{
  return 0.5 * (a + b + fabs(a - b));
}

static inline double smaller(double a, double b)
{
  return 0.5 * (a + b - fabs(a - b));
}

static inline double start(double T, double B)
{
  double root = sqrt(T), fourth = sqrt(root);
  double power = fourth * sqrt(sqrt(fourth)); /* T^(5/16) */
  double below = sqrt(larger(-B, 0));
  double r = (below * power + root) / (root * power);
  return smaller(r, 1 / larger(B, 1));
}

static inline double halley(double r, double T, double B)
{
  double square = T * r * r, f = (square + B) * r - 1, slope = 3 * square + B;
  return r - 2 * f * slope / (2 * slope * slope - 6 * f * T * r);
}

/* z[i] <- the answer where z0 > 0 and v > -3t, and doubt[i] <- the error left,
 * about step^2/(z + z0), less what is allowed: positive or NaN where it is not
 * certain. */
EVERY_WIDTH static void chunk(const double *v, const double *z0, double t,
                              double *z, double *doubt)
{
  for (int i = 0; i < CHUNK; i++) {
    double inverse = 1 / z0[i];
    double T = 4 * t * inverse, B = (v[i] + z0[i] - t) * inverse;
    double r = start(T, B);
    for (int k = 0; k < HALLEY_STEPS; k++) r = halley(r, T, B);
    double s = z0[i] / r, rough = s - z0[i];
    z[i] = k_chi2_polish(rough, z0[i], t, v[i] + 3 * t);
    doubt[i] = (z[i] - rough) * (z[i] - rough) - 1e-17 * s * z[i];
  }
}

/* The cases with an answer in closed form are kept from the loop above, which
 * gets a problem without difficulty in their place. */
static void chi2_chunk(const double *v, const double *z0, double t, int n,
                       double *out)
{
  double x[CHUNK], c[CHUNK], z[CHUNK], doubt[CHUNK];
  for (int i = 0; i < CHUNK; i++) {
    bool curved = i < n && z0[i] >= DBL_MIN && v[i] > -3 * t;
    x[i] = curved ? v[i] : 1 + t;
    c[i] = curved ? z0[i] : 1 + t;
  }
  chunk(x, c, t, z, doubt);
  for (int i = 0; i < n; i++) {
    double y = z[i];
    if (!(doubt[i] <= 0)) y = k_prox_chi2(x[i], c[i], t);
    if (!(v[i] > -3 * t)) y = v[i] <= -3 * t ? 0 : v[i];
    if (!(z0[i] >= DBL_MIN)) y = k_positive(isnan(z0[i]) ? v[i] : v[i] - t);
    out[i] = y;
  }
}

void chi2_prox(int64_t n, const double *v, const double *z0, double t,
               double *out)
{
  for (int64_t i = 0; i < n; i += CHUNK) {
    int64_t left = n - i;
    int count = left < CHUNK ? (int)left : CHUNK;
    chi2_chunk(v + i, z0 + i, t, count, out + i);
  }
}
