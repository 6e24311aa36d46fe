/* rng.c - counter-based random numbers: value = f(seed, stream, index).
 *
 * Philox 4x32 with 10 rounds (Salmon et al., SC 2011).  The counter holds
 * stream and index, the key the seed, so a value does not depend on who asks
 * for it, in which order, or on how many threads. */
#include <Random123/philox.h>
#include <math.h>

#include "base/base.h"

uint64_t rng_bits(uint64_t seed, uint64_t stream, uint64_t index)
{
  philox4x32_ctr_t counter = {{(uint32_t)index, (uint32_t)(index >> 32),
                               (uint32_t)stream, (uint32_t)(stream >> 32)}};
  philox4x32_key_t key = {{(uint32_t)seed, (uint32_t)(seed >> 32)}};
  philox4x32_ctr_t r = philox4x32(counter, key);
  return ((uint64_t)r.v[1] << 32) | r.v[0];
}

double rng_uniform(uint64_t seed, uint64_t stream, uint64_t index)
{
  return (double)(rng_bits(seed, stream, index) >> 11) * 0x1p-53;
}

/* Box and Muller's transform; 1 - u keeps the logarithm finite. */
double rng_normal(uint64_t seed, uint64_t stream, uint64_t index)
{
  const double two_pi = 6.283185307179586476925;
  double u = 1.0 - rng_uniform(seed, stream, 2 * index);
  double v = rng_uniform(seed, stream, 2 * index + 1);
  return sqrt(-2.0 * log(u)) * cos(two_pi * v);
}

/* Box and Muller: the cosine and the sine of each pair of uniform numbers, of
 * which rng_normal drops one. */
void rng_normals(uint64_t seed, uint64_t stream, uint64_t first, double *out,
                 int64_t n)
{
  const double two_pi = 6.283185307179586476925;
  for (int64_t i = 0; i < n; i += 2) {
    uint64_t at = first + (uint64_t)i;
    double u = 1.0 - rng_uniform(seed, stream, at);
    double angle = two_pi * rng_uniform(seed, stream, at + 1);
    double radius = sqrt(-2.0 * log(u));
    out[i] = radius * cos(angle);
    if (i + 1 < n) out[i + 1] = radius * sin(angle);
  }
}

/* Fisher and Yates; the modulo's bias is below n / 2^64. */
void rng_shuffle(uint64_t seed, uint64_t stream, int64_t *out, int64_t n)
{
  for (int64_t i = 0; i < n; i++) out[i] = i;
  rng_permute(seed, stream, out, n);
}

/* Fisher and Yates. */
void rng_permute(uint64_t seed, uint64_t stream, int64_t *out, int64_t n)
{
  for (int64_t i = n - 1; i > 0; i--) {
    uint64_t bits = rng_bits(seed, stream, (uint64_t)i);
    int64_t j = (int64_t)(bits % (uint64_t)(i + 1));
    int64_t t = out[i];
    out[i] = out[j];
    out[j] = t;
  }
}
