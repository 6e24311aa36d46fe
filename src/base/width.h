/* width.h - the vector registers that the library's own kernels use.
 *
 * A kernel that is worth it is compiled once for each width, and the context
 * says which copy runs (its key `kernels`).  OpenBLAS chooses its own. */
#ifndef LAPIS_WIDTH_H
#define LAPIS_WIDTH_H
#include "lapis/lapis.h"

typedef enum base_width {
  WIDTH_PLAIN,  /* what every processor of the kind has; neon on AArch64 */
  WIDTH_AVX2,   /* 16 registers of 4 doubles, fused multiply-adds */
  WIDTH_AVX512, /* 32 registers of 8 doubles */
  WIDTHS
} base_width;

/* The one that the context asks for; by itself, and of no context (NULL), the
 * widest of this processor. */
base_width base_width_of(const lapis_ctx *ctx);
const char *base_width_name(base_width width);

#if defined(__x86_64__) && defined(__GNUC__)
#define WIDTH_MANY 1
#define WIDTH_TARGET_AVX512 __attribute__((target("avx512f")))
#define WIDTH_TARGET_AVX2_FMA __attribute__((target("avx2,fma")))
#endif
/* One copy of a static function a width, chosen when the library is loaded: for
 * loops whose copies give the same bits, whatever `kernels` says. */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && \
    !defined(__clang__)
#define WIDTH_CLONES \
  __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDTH_CLONES
#endif
/* Before a loop that a minimum, a bitwise or, or a sum that is 0 comes of, in
 * whatever order: gcc then uses wide registers.  (clang would warn where it
 * does not.) */
#if defined(__GNUC__) && !defined(__clang__) && defined(_OPENMP)
#define WIDTH_PRAGMA(words) _Pragma(#words)
#define WIDTH_SIMD(clauses) WIDTH_PRAGMA(omp simd clauses)
#else
#define WIDTH_SIMD(clauses)
#endif
#if defined(__GNUC__)
#define WIDTH_INLINED static inline __attribute__((always_inline))
#else
#define WIDTH_INLINED static inline
#endif

#endif
