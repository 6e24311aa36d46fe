/* fft.h - discrete Fourier transforms of one length, a power of two. */
#ifndef LAPIS_VISION_FFT_H
#define LAPIS_VISION_FFT_H
#include "base/base.h"

typedef struct fft_number {
  double re, im;
} fft_number;

typedef struct fft_plan { /* base_alloc'd arrays; fft_free */
  int64_t n;
  fft_number *root; /* n / 2: exp(-2 pi i k / n) */
  int64_t *place;   /* n: k with its bits in reverse */
} fft_plan;

lapis_status fft_new(lapis_ctx *ctx, int64_t n, fft_plan *p);
void fft_free(fft_plan *p);
/* z(k) <- sum_j z(j) exp(-+ 2 pi i j k / n), without a factor; in place. */
void fft_line(const fft_plan *p, bool inverse, fft_number *z);
/* The same along both sides of z (n x n); column: n of scratch. */
void fft_square(const fft_plan *p, bool inverse, fft_number *z,
                fft_number *column);

#endif
