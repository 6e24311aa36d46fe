/* image_ops.c - colours, filters, other sizes: each against a slow twin
 * or a law, and against what scikit-image, SciPy and OpenCV make of it. */
#include "files.h"
#include "images/image/ops.h"
#include "python.h"

static lapis_image random_image(files *f, int64_t width, int64_t height,
                                int64_t channels, uint64_t *seed)
{
  lapis_image m;
  CHECK_OK(f, image_alloc(f->ctx, width, height, channels, &m));
  for (int64_t k = 0; k < image_count(&m); k++)
    m.pixels[k] = (float)check_uniform(seed);
  return m;
}

static double at(const lapis_image *m, int64_t x, int64_t y, int64_t c)
{
  x = x < 0 ? 0 : x >= m->width ? m->width - 1 : x;
  y = y < 0 ? 0 : y >= m->height ? m->height - 1 : y;
  return (double)m->pixels[(y * m->width + x) * m->channels + c];
}

/* ---- colours ------------------------------------------------------------*/
typedef struct colour {
  float rgb[3];
  double luma, lab[3];
} colour;
/* Lab of the corners of the sRGB cube, as published with the standard */
static const colour colours[] = {
    {{1, 1, 1}, 1, {100, 0, 0}},
    {{0, 0, 0}, 0, {0, 0, 0}},
    {{.5f, .5f, .5f}, .5, {53.389, 0, 0}},
    {{1, 0, 0}, .299, {53.2408, 80.0925, 67.2032}},
    {{0, 1, 0}, .587, {87.7347, -86.1827, 83.1793}},
    {{0, 0, 1}, .114, {32.2970, 79.1875, -107.8602}},
};

static void colours_are_as_the_standards_say(void **state)
{
  files *f = *state;
  for (size_t i = 0; i < sizeof colours / sizeof *colours; i++) {
    float pixels[3];
    memcpy(pixels, colours[i].rgb, sizeof pixels);
    lapis_image m = {1, 1, 3, pixels}, grey, lab;
    CHECK_OK(f, image_grey(f->ctx, &m, &grey));
    CHECK_OK(f, image_lab(f->ctx, &m, &lab));
    CHECK_NEAR((double)grey.pixels[0], colours[i].luma, 1e-6);
    for (int c = 0; c < 3; c++)
      CHECK_NEAR((double)lab.pixels[c], colours[i].lab[c], 5e-4);
    lapis_image_free(&grey);
    lapis_image_free(&lab);
  }
}

static void grey_and_three_equal_channels_agree(void **state)
{
  files *f = *state;
  uint64_t seed = 5;
  lapis_image m = random_image(f, 6, 5, 1, &seed), rgb, a, b;
  CHECK_OK(f, image_rgb(f->ctx, &m, &rgb));
  CHECK_OK(f, image_lab(f->ctx, &m, &a));
  CHECK_OK(f, image_lab(f->ctx, &rgb, &b));
  for (int k = 0; k < 90; k++)
    CHECK_NEAR((double)a.pixels[k], (double)b.pixels[k], 1e-5);
  lapis_image_free(&a);
  CHECK_OK(f, image_grey(f->ctx, &rgb, &a));
  for (int k = 0; k < 30; k++)
    CHECK_NEAR((double)a.pixels[k], (double)m.pixels[k], 1e-6);
  lapis_image_free(&a);
  lapis_image_free(&b);
  lapis_image_free(&rgb);
  lapis_image_free(&m);
}

/* ---- filters ------------------------------------------------------------*/
static image_kernel random_kernel(int64_t radius, double *room, uint64_t *seed)
{
  for (int64_t i = 0; i <= 2 * radius; i++) room[i] = check_normal(seed);
  return (image_kernel){radius, room};
}

static double slow(const lapis_image *m, const image_kernel *kx,
                   const image_kernel *ky, int64_t x, int64_t y, int64_t c)
{
  double v = 0;
  for (int64_t j = -ky->radius; j <= ky->radius; j++)
    for (int64_t i = -kx->radius; i <= kx->radius; i++)
      v += kx->value[kx->radius + i] * ky->value[ky->radius + j] *
           at(m, x + i, y + j, c);
  return v;
}

static void filters_equal_their_slow_twin(void **state)
{
  files *f = *state;
  for (uint64_t s = 0; s < 60; s++) {
    uint64_t seed = s;
    double room_x[15], room_y[15];
    int64_t width = 1 + (int64_t)(9 * check_uniform(&seed));
    int64_t height = 1 + (int64_t)(9 * check_uniform(&seed));
    int64_t channels = 1 + (int64_t)(3 * check_uniform(&seed));
    image_kernel kx =
        random_kernel((int64_t)(7 * check_uniform(&seed)), room_x, &seed);
    image_kernel ky =
        random_kernel((int64_t)(7 * check_uniform(&seed)), room_y, &seed);
    lapis_image m = random_image(f, width, height, channels, &seed), out;
    CHECK_OK(f, image_correlate(f->ctx, &m, &kx, &ky, &out));
    for (int64_t k = 0; k < image_count(&m); k++) {
      int64_t p = k / channels;
      CHECK_NEAR((double)out.pixels[k],
                 slow(&m, &kx, &ky, p % width, p / width, k % channels), 1e-4);
    }
    lapis_image_free(&out);
    lapis_image_free(&m);
  }
}

/* Of a + b x + c y + d x y + e x^2: derivatives are known away from borders. */
static void gaussians_derive_polynomials(void **state)
{
  enum { SIDE = 41, MIDDLE = SIDE / 2 };
  files *f = *state;
  const double sigma = 2, b = .3, c = -.2, d = .05, e = .02;
  static const int orders[][2] = {{1, 0}, {0, 1}, {2, 0}, {0, 2}, {1, 1}};
  const double wanted[] = {b, c, 2 * e, 0, d};
  lapis_image m, out;
  CHECK_OK(f, image_alloc(f->ctx, SIDE, SIDE, 1, &m));
  for (int y = 0; y < SIDE; y++)
    for (int x = 0; x < SIDE; x++) {
      double u = x - MIDDLE, v = y - MIDDLE;
      m.pixels[y * SIDE + x] =
          (float)(.7 + b * u + c * v + d * u * v + e * u * u);
    }
  for (int i = 0; i < 5; i++) {
    CHECK_OK(
        f, image_gaussian(f->ctx, &m, sigma, orders[i][0], orders[i][1], &out));
    /* cut at 4 deviations, where 8 phi(4) = 1e-3 of x^2 is lost */
    CHECK_NEAR((double)out.pixels[MIDDLE * SIDE + MIDDLE], wanted[i], 5e-4);
    lapis_image_free(&out);
  }
  lapis_image_free(&m);
}

/* ---- other sizes --------------------------------------------------------*/
/* The mean of the image, seen as flat squares, over a rectangle. */
static double mean_over(const lapis_image *m, double x0, double x1, double y0,
                        double y1)
{
  double sum = 0;
  for (int64_t y = 0; y < m->height; y++)
    for (int64_t x = 0; x < m->width; x++) {
      double w = fmin(x1, (double)x + 1) - fmax(x0, (double)x);
      double h = fmin(y1, (double)y + 1) - fmax(y0, (double)y);
      if (w > 0 && h > 0) sum += w * h * at(m, x, y, 0);
    }
  return sum / ((x1 - x0) * (y1 - y0));
}

static void shrinking_averages(void **state)
{
  files *f = *state;
  for (uint64_t s = 0; s < 60; s++) {
    uint64_t seed = s;
    int64_t from[2], to[2];
    for (int i = 0; i < 2; i++) {
      from[i] = 1 + (int64_t)(20 * check_uniform(&seed));
      to[i] = 1 + (int64_t)((double)from[i] * check_uniform(&seed));
    }
    lapis_image m = random_image(f, from[0], from[1], 1, &seed), out;
    CHECK_OK(f, image_resize(f->ctx, &m, to[0], to[1], &out));
    double sx = (double)from[0] / (double)to[0];
    double sy = (double)from[1] / (double)to[1];
    for (int64_t k = 0; k < to[0] * to[1]; k++) {
      double x = (double)(k % to[0]), y = (double)(k / to[0]);
      CHECK_NEAR((double)out.pixels[k],
                 mean_over(&m, x * sx, (x + 1) * sx, y * sy, (y + 1) * sy),
                 2e-6);
    }
    lapis_image_free(&out);
    lapis_image_free(&m);
  }
}

static void growing_is_linear_between_centres(void **state)
{
  files *f = *state;
  float pixels[] = {0, 1, 4};
  const double wanted[] = {0, .25, .75, 1.75, 3.25, 4};
  lapis_image m = {3, 1, 1, pixels}, out;
  CHECK_OK(f, image_resize(f->ctx, &m, 6, 3, &out));
  for (int k = 0; k < 18; k++)
    CHECK_NEAR((double)out.pixels[k], wanted[k % 6], 1e-6);
  lapis_image_free(&out);
  CHECK_OK(f, image_resize(f->ctx, &m, 3, 1, &out));
  assert_memory_equal(out.pixels, pixels, sizeof pixels);
  lapis_image_free(&out);
}

static void boxes_are_cut_out(void **state)
{
  files *f = *state;
  uint64_t seed = 8;
  lapis_image m = random_image(f, 7, 5, 3, &seed), out;
  image_box inside = {2, 1, 3, 2}, across = {-2, 3, 5, 9}, away = {7, 0, 2, 2};
  CHECK_OK(f, image_crop(f->ctx, &m, &inside, &out));
  assert_int_equal(out.width * out.height, 6);
  for (int k = 0; k < 18; k++)
    CHECK_NEAR((double)out.pixels[k], at(&m, 2 + k / 3 % 3, 1 + k / 9, k % 3),
               0);
  lapis_image_free(&out);
  CHECK_OK(f, image_crop(f->ctx, &m, &across, &out));
  assert_int_equal(out.width, 3);
  assert_int_equal(out.height, 2);
  CHECK_NEAR((double)out.pixels[0], at(&m, 0, 3, 0), 0);
  lapis_image_free(&out);
  CHECK_REFUSED(f, image_crop(f->ctx, &m, &away, &out), LAPIS_EDATA, "7 0 2");
  lapis_image_free(&m);
}

/* ---- other programs -----------------------------------------------------*/
/* An image as NAME.npy (height, width, channels). */
static void save(files *f, const char *name, const lapis_image *m)
{
  char file[64];
  lapis_named item = {
      .name = name,
      .mat = lapis_mat_f32(m->pixels, m->width * m->channels, m->height),
      .axes = 3,
      .shape = {m->height, m->width, m->channels}};
  (void)snprintf(file, sizeof file, "%s.npy", name);
  CHECK_OK(f, lapis_arrays_write(f->ctx, files_path(f, file), "npy", &item, 1));
}

static void save_and_free(files *f, const char *name, lapis_image *m)
{
  save(f, name, m);
  lapis_image_free(m);
}

static void save_all(files *f)
{
  uint64_t seed = 12;
  lapis_image m = random_image(f, 50, 37, 3, &seed), out;
  save(f, "image", &m);
  CHECK_OK(f, image_lab(f->ctx, &m, &out));
  save_and_free(f, "lab", &out);
  CHECK_OK(f, image_grey(f->ctx, &m, &out));
  save_and_free(f, "grey", &out);
  for (int x = 0; x < 3; x++)
    for (int y = 0; y < 3; y++) {
      char name[32];
      (void)snprintf(name, sizeof name, "gaussian%d%d", x, y);
      CHECK_OK(f, image_gaussian(f->ctx, &m, 1.7, x, y, &out));
      save_and_free(f, name, &out);
    }
  CHECK_OK(f, image_resize(f->ctx, &m, 21, 16, &out));
  save_and_free(f, "small", &out);
  CHECK_OK(f, image_resize(f->ctx, &m, 128, 96, &out));
  save_and_free(f, "large", &out);
  lapis_image_free(&m);
}

static void other_programs_agree(void **state)
{
  files *f = *state;
  char words[400];
  python_need("numpy, scipy, skimage, cv2");
  save_all(f);
  (void)snprintf(words, sizeof words, "ops %s", f->folder);
  python_run("check_vision.py", words);
}

#define CASE(name) \
  cmocka_unit_test_setup_teardown(name, files_setup, files_teardown)
int test_image_ops(void)
{
  const struct CMUnitTest tests[] = {
      CASE(colours_are_as_the_standards_say),
      CASE(grey_and_three_equal_channels_agree),
      CASE(filters_equal_their_slow_twin),
      CASE(gaussians_derive_polynomials),
      CASE(shrinking_averages),
      CASE(growing_is_linear_between_centres),
      CASE(boxes_are_cut_out),
      CASE(other_programs_agree),
  };
  return run_cases(tests, NULL, NULL);
}
