/* gist.c - the kind "gist": the shape of a scene (Oliva and Torralba, IJCV
 * 2001): how strongly an image answers to Gabor filters, coarsely where.
 *
 * The image is made grey and s x s, its values spread over 0..255, and put into
 * n x n, n = 2 s, by mirroring at its borders.  With q the low-pass filter
 *   Q(f) = exp(-log(2) f^2 / 4^2),  f in cycles along s pixels,
 * what all images share is taken out:
 *   v = log(1 + I),  h = v - q * v,  p = h / (0.2 + sqrt(q * h^2)).
 * Filter (k, j) of scale k and orientation j of o has the spectrum
 *   G(r, t) = exp(-3.5 (r / r_k - 1)^2 - 2 pi (o/8)^2 d(t, -pi j / o)^2),
 * r in cycles a pixel, r_k = 0.3 / 1.85^k, t the angle, d a difference of
 * angles; it lies on one side of 0, so |g * p| is the strength whatever the
 * phase.  Its mean over each block of blocks x blocks is a number, at place
 * ((k o + j) blocks + row) blocks + column.
 *
 * Numerics: rows of a spectrum below 1e-9 are left out, far under the float of
 * the pixels; of the answer only the middle, the image itself, is computed. */
#include "images/features/gist.h"

#include <math.h>
#include <string.h>

#include "images/features/feature.h"
#include "images/image/fft.h"

static const double NOTHING = 1e-9, LOW_PASS = 4, FLOOR = 0.2;
static const double COARSEST = 3.5, FINEST = 0.3, STEP = 1.85;

struct gist_bank {
  int64_t side, n, filters, orientations, blocks;
  fft_plan plan;   /* of n */
  double *low;     /* n x n: Q */
  double *spectra; /* filters x n x n */
  bool *row_used;  /* filters x n */
};

typedef struct work {      /* of one description */
  fft_number *z, *product; /* n x n */
  fft_number *column;      /* n */
  float *square;           /* side x side */
} work;

/* ---- filters ------------------------------------------------------------*/
/* Frequency number k of n, in -n/2..n/2 - 1. */
static double frequency(int64_t k, int64_t n)
{
  return (double)(k < n / 2 ? k : k - n);
}

static double gabor(const gist_bank *b, int64_t filter, double fx, double fy)
{
  const double pi = acos(-1.0);
  double o = (double)b->orientations;
  int64_t scale = filter / b->orientations;
  double centre = FINEST / pow(STEP, (double)scale);
  double turn = pi * (double)(filter % b->orientations) / o;
  double r = sqrt(fx * fx + fy * fy) / (double)b->n / centre - 1;
  double d = remainder(atan2(fy, fx) + turn, 2 * pi);
  return exp(-COARSEST * r * r - 2 * pi * (o * o / 64) * d * d);
}

static void fill_filter(gist_bank *b, int64_t filter)
{
  int64_t n = b->n;
  for (int64_t y = 0; y < n; y++) {
    double most = 0;
    double *row = b->spectra + (filter * n + y) * n;
    for (int64_t x = 0; x < n; x++) {
      row[x] = gabor(b, filter, frequency(x, n), frequency(y, n));
      most = fmax(most, row[x]);
    }
    b->row_used[filter * n + y] = most > NOTHING;
  }
}

static void fill_low(gist_bank *b)
{
  double unit = (double)b->side / (double)b->n;
  for (int64_t y = 0; y < b->n; y++)
    for (int64_t x = 0; x < b->n; x++) {
      double fx = unit * frequency(x, b->n), fy = unit * frequency(y, b->n);
      b->low[y * b->n + x] =
          exp(-log(2) * (fx * fx + fy * fy) / (LOW_PASS * LOW_PASS));
    }
}

static lapis_status make_bank(lapis_ctx *ctx, gist_bank *b)
{
  int64_t size = b->n * b->n;
  b->low = base_alloc(ctx, size, sizeof *b->low);
  b->spectra = base_alloc_raw(ctx, b->filters * size, sizeof *b->spectra);
  b->row_used = base_alloc(ctx, b->filters * b->n, sizeof *b->row_used);
  if (b->low == NULL || b->spectra == NULL || b->row_used == NULL)
    return LAPIS_ENOMEM;
  TRY(fft_new(ctx, b->n, &b->plan));
  fill_low(b);
  for (int64_t f = 0; f < b->filters; f++) fill_filter(b, f);
  return LAPIS_OK;
}

lapis_status gist_bank_new(lapis_ctx *ctx, const lapis_gist_settings *set,
                           gist_bank **out)
{
  *out = NULL;
  if ((set->side & (set->side - 1)) != 0 || set->blocks > set->side)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "gist: --side %" PRId64
                      " is not a power of two, at least "
                      "as large as --blocks",
                      set->side);
  gist_bank *b = base_alloc(ctx, 1, sizeof *b);
  if (b == NULL) return LAPIS_ENOMEM;
  b->side = set->side;
  b->n = 2 * set->side;
  b->orientations = set->orientations;
  b->filters = set->scales * set->orientations;
  b->blocks = set->blocks;
  lapis_status s = make_bank(ctx, b);
  if (s < 0)
    gist_bank_free(b);
  else
    *out = b;
  return s;
}

void gist_bank_free(gist_bank *b)
{
  if (b == NULL) return;
  fft_free(&b->plan);
  base_free(b->low);
  base_free(b->spectra);
  base_free(b->row_used);
  base_free(b);
}

int64_t gist_length(const gist_bank *b)
{
  return b->filters * b->blocks * b->blocks;
}

/* ---- before the filters -------------------------------------------------*/
/* Values over 0..255, then their logarithm; a flat image is all 0. */
static void spread(int64_t count, float *v)
{
  float low = v[0], high = v[0];
  for (int64_t k = 1; k < count; k++) {
    low = fminf(low, v[k]);
    high = fmaxf(high, v[k]);
  }
  float scale = high > low ? 255 / (high - low) : 0;
  for (int64_t k = 0; k < count; k++) v[k] = log1pf((v[k] - low) * scale);
}

/* z <- the square, mirrored around (edge pixels twice). */
static void mirror(const gist_bank *b, const float *square, fft_number *z)
{
  int64_t s = b->side, n = b->n, margin = s / 2;
  for (int64_t y = 0; y < n; y++)
    for (int64_t x = 0; x < n; x++) {
      int64_t u = x - margin, v = y - margin;
      u = u < 0 ? -1 - u : u >= s ? 2 * s - 1 - u : u;
      v = v < 0 ? -1 - v : v >= s ? 2 * s - 1 - v : v;
      z[y * n + x] = (fft_number){(double)square[v * s + u], 0};
    }
}

/* product <- q * z; z is spent. */
static void smooth(const gist_bank *b, work *w, fft_number *z)
{
  int64_t size = b->n * b->n;
  fft_square(&b->plan, false, z, w->column);
  for (int64_t k = 0; k < size; k++) {
    double q = b->low[k] / (double)size;
    z[k].re *= q;
    z[k].im *= q;
  }
  fft_square(&b->plan, true, z, w->column);
}

/* The square without what is common, and with contrasts alike: h / (.2 + c). */
static void even_out(const gist_bank *b, work *w)
{
  int64_t size = b->n * b->n, s = b->side, margin = s / 2;
  mirror(b, w->square, w->z);
  memcpy(w->product, w->z, (size_t)size * sizeof *w->z);
  smooth(b, w, w->product);
  for (int64_t k = 0; k < size; k++) {
    double h = w->z[k].re - w->product[k].re;
    w->z[k] = (fft_number){h, 0};
    w->product[k] = (fft_number){h * h, 0};
  }
  smooth(b, w, w->product);
  for (int64_t y = 0; y < s; y++)
    for (int64_t x = 0; x < s; x++) {
      int64_t k = (y + margin) * b->n + x + margin;
      double contrast = sqrt(fabs(w->product[k].re));
      w->square[y * s + x] = (float)(w->z[k].re / (FLOOR + contrast));
    }
}

/* ---- the filters --------------------------------------------------------*/
/* Rows of the product of spectra, taken back along rows. */
static void filter_rows(const gist_bank *b, work *w, int64_t filter)
{
  int64_t n = b->n;
  for (int64_t y = 0; y < n; y++) {
    const double *g = b->spectra + (filter * n + y) * n;
    fft_number *to = w->product + y * n;
    if (!b->row_used[filter * n + y]) {
      memset(to, 0, (size_t)n * sizeof *to);
      continue;
    }
    for (int64_t x = 0; x < n; x++) {
      to[x].re = g[x] * w->z[y * n + x].re;
      to[x].im = g[x] * w->z[y * n + x].im;
    }
    fft_line(&b->plan, true, to);
  }
}

static int64_t block_of(const gist_bank *b, int64_t i)
{
  return ((i + 1) * b->blocks - 1) / b->side;
}

static int64_t block_size(const gist_bank *b, int64_t block)
{
  return (block + 1) * b->side / b->blocks - block * b->side / b->blocks;
}

/* Means of the strength over blocks; out: blocks x blocks. */
static void pool(const gist_bank *b, work *w, double *out)
{
  int64_t n = b->n, margin = b->side / 2;
  double size = (double)(n * n);
  for (int64_t x = 0; x < b->side; x++) {
    for (int64_t y = 0; y < n; y++)
      w->column[y] = w->product[y * n + x + margin];
    fft_line(&b->plan, true, w->column);
    for (int64_t y = 0; y < b->side; y++) {
      fft_number v = w->column[y + margin];
      out[block_of(b, y) * b->blocks + block_of(b, x)] +=
          sqrt(v.re * v.re + v.im * v.im) / size;
    }
  }
  for (int64_t i = 0; i < b->blocks; i++)
    for (int64_t k = 0; k < b->blocks; k++)
      out[i * b->blocks + k] /= (double)(block_size(b, i) * block_size(b, k));
}

static void describe(const gist_bank *b, work *w, double *out)
{
  int64_t cells = b->blocks * b->blocks;
  spread(b->side * b->side, w->square);
  even_out(b, w);
  mirror(b, w->square, w->z);
  fft_square(&b->plan, false, w->z, w->column);
  memset(out, 0, (size_t)gist_length(b) * sizeof *out);
  for (int64_t f = 0; f < b->filters; f++) {
    filter_rows(b, w, f);
    pool(b, w, out + f * cells);
  }
}

/* The grey square that is described. */
static lapis_status make_square(lapis_ctx *ctx, int64_t side,
                                const lapis_image *image, const image_box *box,
                                lapis_image *out)
{
  lapis_image part = {.width = 0}, grey = {.width = 0};
  image_box all = {0, 0, image->width, image->height};
  lapis_status s = image_crop(ctx, image, box != NULL ? box : &all, &part);
  if (s >= 0) s = image_grey(ctx, &part, &grey);
  if (s >= 0) s = image_resize(ctx, &grey, side, side, out);
  lapis_image_free(&part);
  lapis_image_free(&grey);
  return s;
}

lapis_status gist_describe(lapis_ctx *ctx, const gist_bank *b,
                           const lapis_image *image, const image_box *box,
                           double *out)
{
  lapis_image square = {.width = 0};
  int64_t size = b->n * b->n;
  TRY(make_square(ctx, b->side, image, box, &square));
  work w = {.square = square.pixels};
  w.z = base_alloc_raw(ctx, size, sizeof *w.z);
  w.product = base_alloc_raw(ctx, size, sizeof *w.product);
  w.column = base_alloc_raw(ctx, b->n, sizeof *w.column);
  bool room = w.z != NULL && w.product != NULL && w.column != NULL;
  if (room) describe(b, &w, out);
  base_free(w.z);
  base_free(w.product);
  base_free(w.column);
  lapis_image_free(&square);
  return room ? LAPIS_OK : LAPIS_ENOMEM;
}

/* ---- the kind -----------------------------------------------------------*/
static lapis_status begin(feature_job *j)
{
  gist_bank *b;
  TRY(gist_bank_new(j->base.ctx, j->settings, &b));
  j->state = b;
  return LAPIS_OK;
}

static lapis_status make(const feature_job *j, const feature_view *v,
                         feature_piece *out)
{
  double *to = feature_room(v, out, 0, gist_length(j->state), 1);
  if (to == NULL) return LAPIS_ENOMEM;
  return gist_describe(v->ctx, j->state, v->image, NULL, to);
}

static bool fits(const feature_job *j, const feature_slot *s)
{
  return feature_finite(&s->piece.item[0], LAPIS_F64, gist_length(j->state), 1);
}

static void end(feature_job *j)
{
  gist_bank_free(j->state);
}

#define AT(field) offsetof(lapis_gist_settings, field)
static const lapis_param params[] = {
    INT("side", side, .value = 128, FROM_TO(16, 256),
        .help = "side of the square an image is brought to, a power of two"),
    INT("scales", scales, .value = 4, FROM_TO(1, 6),
        .help = "scales of the filters"),
    INT("orientations", orientations, .value = 8, FROM_TO(1, 16),
        .help = "orientations of the filters"),
    INT("blocks", blocks, .value = 4, FROM_TO(1, 16),
        .help = "blocks along each side that answers are averaged over"),
};

const feature_kind feature_gist = {
    .shown = {.name = "gist",
              .title = "the shape of a scene",
              .summary = "answers to Gabor filters, averaged over blocks: for "
                         "scenes and candidate boxes.",
              .source = "[OT01]",
              .params = params,
              .n_params = sizeof params / sizeof *params,
              .settings_size = sizeof(lapis_gist_settings)},
    .array = {{"X", NULL, NULL}},
    .begin = begin,
    .make = make,
    .fits = fits,
    .end = end};
