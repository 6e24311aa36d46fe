/* colour.c - grey, and the colours as the eye distinguishes them.
 *
 * sRGB (IEC 61966-2-1) is made linear, taken to XYZ and to L*a*b* (CIE 15):
 *
 *   L = 116 f(Y/Yn) - 16,  a = 500 (f(X/Xn) - f(Y/Yn)),
 *   b = 200 (f(Y/Yn) - f(Z/Zn)),
 *   f(t) = cbrt(t) for t > (6/29)^3, else t / (3 (6/29)^2) + 4/29.
 *
 * and to L*u*v*: u = 13 L (4 X / s - 4 Xn / sn), v = 13 L (9 Y / s - 9 Yn /
 * sn), s = X + 15 Y + 3 Z.
 *
 * The white point is what RGB = (1, 1, 1) becomes, so that greys have no
 * colour; it is D65 to four digits. */
#include <math.h>
#include <string.h>

#include "images/image/ops.h"

static const double luma[3] = {0.299, 0.587, 0.114};

/* Rows X, Y, Z; columns R, G, B. */
static const double to_xyz[3][3] = {{0.4124564, 0.3575761, 0.1804375},
                                    {0.2126729, 0.7151522, 0.0721750},
                                    {0.0193339, 0.1191920, 0.9503041}};

/* out of so many channels, for each pixel one call. */
static lapis_status each_pixel(lapis_ctx *ctx, const lapis_image *in,
                               int64_t channels,
                               void (*fn)(const float *from, float *to),
                               lapis_image *out)
{
  TRY(image_alloc(ctx, in->width, in->height, channels, out));
  const float *from = in->pixels;
  float *to = out->pixels;
  for (int64_t k = in->width * in->height; k > 0; k--) {
    fn(from, to);
    from += in->channels;
    to += channels;
  }
  return LAPIS_OK;
}

static void copy_one(const float *from, float *to)
{
  *to = *from;
}

static void copy_three(const float *from, float *to)
{
  memcpy(to, from, 3 * sizeof *to);
}

static void spread(const float *from, float *to)
{
  to[0] = to[1] = to[2] = *from;
}

static void grey(const float *from, float *to)
{
  double v = 0;
  for (int c = 0; c < 3; c++) v += luma[c] * (double)from[c];
  *to = (float)v;
}

static double linear(double v)
{
  return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

static double cube_root(double t)
{
  const double d = 6.0 / 29;
  return t > d * d * d ? cbrt(t) : t / (3 * d * d) + 4.0 / 29;
}

static void xyz_of(const float *from, double xyz[3], double white[3])
{
  double rgb[3];
  for (int c = 0; c < 3; c++) rgb[c] = linear((double)from[c]);
  for (int i = 0; i < 3; i++) {
    xyz[i] = white[i] = 0;
    for (int c = 0; c < 3; c++) {
      xyz[i] += to_xyz[i][c] * rgb[c];
      white[i] += to_xyz[i][c];
    }
  }
}

static void luv(const float *from, float *to)
{
  double a[3], n[3];
  xyz_of(from, a, n);
  double s = a[0] + 15 * a[1] + 3 * a[2], sn = n[0] + 15 * n[1] + 3 * n[2];
  double L = 116 * cube_root(a[1] / n[1]) - 16;
  to[0] = (float)L;
  to[1] = s > 0 ? (float)(13 * L * 4 * (a[0] / s - n[0] / sn)) : 0;
  to[2] = s > 0 ? (float)(13 * L * 9 * (a[1] / s - n[1] / sn)) : 0;
}

static void lab(const float *from, float *to)
{
  double f[3], xyz[3], white[3];
  xyz_of(from, xyz, white);
  for (int i = 0; i < 3; i++) f[i] = cube_root(xyz[i] / white[i]);
  to[0] = (float)(116 * f[1] - 16);
  to[1] = (float)(500 * (f[0] - f[1]));
  to[2] = (float)(200 * (f[1] - f[2]));
}

static void lab_of_grey(const float *from, float *to)
{
  to[0] = (float)(116 * cube_root(linear((double)*from)) - 16);
  to[1] = to[2] = 0;
}

lapis_status image_grey(lapis_ctx *ctx, const lapis_image *in, lapis_image *out)
{
  return each_pixel(ctx, in, 1, in->channels == 1 ? copy_one : grey, out);
}

lapis_status image_rgb(lapis_ctx *ctx, const lapis_image *in, lapis_image *out)
{
  return each_pixel(ctx, in, 3, in->channels == 1 ? spread : copy_three, out);
}

lapis_status image_lab(lapis_ctx *ctx, const lapis_image *in, lapis_image *out)
{
  return each_pixel(ctx, in, 3, in->channels == 1 ? lab_of_grey : lab, out);
}

lapis_status image_luv(lapis_ctx *ctx, const lapis_image *in, lapis_image *out)
{
  return each_pixel(ctx, in, 3, in->channels == 1 ? lab_of_grey : luv, out);
}
