/* fft.c - the transform by halves (Cooley and Tukey, 1965). */
#include "images/image/fft.h"

#include <math.h>

lapis_status fft_new(lapis_ctx *ctx, int64_t n, fft_plan *p)
{
  const double turn = 2 * acos(-1.0);
  *p = (fft_plan){.n = n};
  p->root = base_alloc(ctx, n / 2 + 1, sizeof *p->root);
  p->place = base_alloc(ctx, n, sizeof *p->place);
  if (p->root == NULL || p->place == NULL) {
    fft_free(p);
    return LAPIS_ENOMEM;
  }
  for (int64_t k = 0; k < n / 2; k++) {
    double angle = -turn * (double)k / (double)n;
    p->root[k] = (fft_number){cos(angle), sin(angle)};
  }
  for (int64_t k = 1; k < n; k++)
    p->place[k] = p->place[k / 2] / 2 + (k % 2) * (n / 2);
  return LAPIS_OK;
}

void fft_free(fft_plan *p)
{
  base_free(p->root);
  base_free(p->place);
  *p = (fft_plan){0};
}

static void reorder(const fft_plan *p, fft_number *z)
{
  for (int64_t k = 0; k < p->n; k++) {
    int64_t j = p->place[k];
    if (j <= k) continue;
    fft_number t = z[k];
    z[k] = z[j];
    z[j] = t;
  }
}

/* a, b <- a + w b, a - w b */
static void butterfly(fft_number w, fft_number *a, fft_number *b)
{
  fft_number t = {w.re * b->re - w.im * b->im, w.re * b->im + w.im * b->re};
  *b = (fft_number){a->re - t.re, a->im - t.im};
  *a = (fft_number){a->re + t.re, a->im + t.im};
}

void fft_line(const fft_plan *p, bool inverse, fft_number *z)
{
  double sign = inverse ? -1 : 1;
  reorder(p, z);
  for (int64_t half = 1; half < p->n; half *= 2)
    for (int64_t start = 0; start < p->n; start += 2 * half)
      for (int64_t k = 0; k < half; k++) {
        fft_number w = p->root[k * (p->n / 2 / half)];
        w.im *= sign;
        butterfly(w, &z[start + k], &z[start + half + k]);
      }
}

void fft_square(const fft_plan *p, bool inverse, fft_number *z,
                fft_number *column)
{
  for (int64_t y = 0; y < p->n; y++) fft_line(p, inverse, z + y * p->n);
  for (int64_t x = 0; x < p->n; x++) {
    for (int64_t y = 0; y < p->n; y++) column[y] = z[y * p->n + x];
    fft_line(p, inverse, column);
    for (int64_t y = 0; y < p->n; y++) z[y * p->n + x] = column[y];
  }
}
