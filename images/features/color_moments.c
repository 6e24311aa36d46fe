/* color_moments.c - the kind "color-moments" [RR16]: an image is cut
 * into grid x grid cells; of each cell and each of red, green, blue the mean
 * and the variance (mean square deviation), in levels 0..255.
 *
 * Place of a number: ((row grid + column) 3 + channel) 2 + (0 mean, 1
 * variance).  Cell i of n pixels begins at floor(i n / grid); one of less than
 * a pixel takes the pixel it begins in. */
#include "images/features/feature.h"
#include "images/image/ops.h"
#include "lapis/images.h"

enum { CHANNELS = 3, MOMENTS = 2 };
static const double LEVELS = 255;

static void borders(int64_t i, int64_t grid, int64_t n, int64_t *from,
                    int64_t *to)
{
  *from = i * n / grid;
  *to = (i + 1) * n / grid;
  if (*to == *from) (*to)++;
}

/* Two passes: a difference of squares would lose a flat cell's variance. */
static void moments(const lapis_image *m, const image_box *cell, int64_t c,
                    double to[MOMENTS])
{
  double sum = 0, squares = 0;
  double count = (double)(cell->width * cell->height);
  for (int pass = 0; pass < 2; pass++) {
    double mean = sum / count;
    for (int64_t y = cell->y; y < cell->y + cell->height; y++)
      for (int64_t x = cell->x; x < cell->x + cell->width; x++) {
        double v = (double)m->pixels[(y * m->width + x) * CHANNELS + c];
        if (pass == 0)
          sum += v;
        else
          squares += (v - mean) * (v - mean);
      }
  }
  to[0] = LEVELS * sum / count;
  to[1] = LEVELS * LEVELS * squares / count;
}

static void fill(const lapis_image *m, int64_t grid, double *to)
{
  for (int64_t row = 0; row < grid; row++)
    for (int64_t column = 0; column < grid; column++) {
      image_box cell;
      borders(column, grid, m->width, &cell.x, &cell.width);
      borders(row, grid, m->height, &cell.y, &cell.height);
      cell.width -= cell.x;
      cell.height -= cell.y;
      for (int64_t c = 0; c < CHANNELS; c++, to += MOMENTS)
        moments(m, &cell, c, to);
    }
}

static lapis_status begin(feature_job *j)
{
  (void)j;
  return LAPIS_OK;
}

static lapis_status make(const feature_job *j, const feature_view *v,
                         feature_piece *out)
{
  const lapis_color_moments_settings *set = j->settings;
  lapis_image rgb;
  TRY(image_rgb(v->ctx, v->image, &rgb));
  double *to =
      feature_room(v, out, 0, set->grid * set->grid * CHANNELS * MOMENTS, 1);
  if (to != NULL) fill(&rgb, set->grid, to);
  lapis_image_free(&rgb);
  return to == NULL ? LAPIS_ENOMEM : LAPIS_OK;
}

static bool fits(const feature_job *j, const feature_slot *s)
{
  const lapis_color_moments_settings *set = j->settings;
  int64_t count = set->grid * set->grid * CHANNELS * MOMENTS;
  return feature_finite(&s->piece.item[0], LAPIS_F64, count, 1);
}

#define AT(field) offsetof(lapis_color_moments_settings, field)
static const lapis_param params[] = {
    INT("grid", grid, .value = 8, FROM_TO(1, 64),
        .help = "cells along each side of the image"),
};

const feature_kind feature_color_moments = {
    .shown = {.name = "color-moments",
              .title = "colour moments on a grid",
              .summary = "mean and variance of red, green and blue in each "
                         "cell of a grid.",
              .source = "[RR16]",
              .params = params,
              .n_params = sizeof params / sizeof *params,
              .settings_size = sizeof(lapis_color_moments_settings)},
    .array = {{"X", NULL, NULL}},
    .begin = begin,
    .make = make,
    .fits = fits};
