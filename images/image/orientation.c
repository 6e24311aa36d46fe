/* orientation.c - the orientation in EXIF data, and turning a picture upright.
 *
 * EXIF is a TIFF file behind "Exif\0\0": byte order, 42, the place of a list of
 * 12-byte entries (tag, type, count, value); tag 0x112 is the orientation.
 * Nothing is read but this list, and no byte outside the segment. */
#include "images/image/orientation.h"

#include <string.h>

#include "images/image/image.h"

enum { TIFF_AT = 6, TIFF_HEAD = 8, ENTRY = 12, ORIENTATION = 0x112, SHORT = 3 };

typedef struct tiff {
  const unsigned char *data;
  int64_t size;
  bool big; /* endian */
} tiff;

/* bytes (2 or 4) at `at`; the caller has checked that they are there. */
static int64_t get(const tiff *t, int64_t at, int bytes)
{
  int64_t v = 0;
  for (int i = 0; i < bytes; i++)
    v |= (int64_t)t->data[at + i] << 8 * (t->big ? bytes - 1 - i : i);
  return v;
}

bool exif_orientation(const unsigned char *data, int64_t size, int *out)
{
  if (size < TIFF_AT + TIFF_HEAD || memcmp(data, "Exif\0", TIFF_AT) != 0)
    return false;
  tiff t = {data + TIFF_AT, size - TIFF_AT, data[TIFF_AT] == 'M'};
  int64_t at = get(&t, 4, 4);
  if (get(&t, 2, 2) != 42 || at > t.size - 2) return false;
  int64_t entries = get(&t, at, 2);
  at += 2;
  for (; entries > 0 && at <= t.size - ENTRY; entries--, at += ENTRY) {
    if (get(&t, at, 2) != ORIENTATION) continue;
    int64_t v = get(&t, at + 8, 2);
    if (get(&t, at + 2, 2) != SHORT || v < 1 || v > 8) return false;
    *out = (int)v;
    return true;
  }
  return false;
}

/* Where the pixel shown at (x, y) is stored: orientations 5 to 8 exchange the
 * sides; 2, 3, 7, 8 run from the right, 3, 4, 6, 7 from below. */
static const float *stored_at(const lapis_image *m, int orientation, int64_t x,
                              int64_t y)
{
  bool swap = orientation >= 5;
  int64_t u = swap ? y : x, v = swap ? x : y;
  bool right = orientation == 2 || orientation == 3 || orientation >= 7;
  bool below = orientation == 3 || orientation == 4 || orientation == 6 ||
               orientation == 7;
  if (right) u = m->width - 1 - u;
  if (below) v = m->height - 1 - v;
  return m->pixels + (v * m->width + u) * m->channels;
}

lapis_status image_turn(lapis_ctx *ctx, lapis_image *image, int orientation)
{
  lapis_image turned;
  if (orientation <= 1 || orientation > 8) return LAPIS_OK;
  bool swap = orientation >= 5;
  TRY(image_alloc(ctx, swap ? image->height : image->width,
                  swap ? image->width : image->height, image->channels,
                  &turned));
  float *to = turned.pixels;
  for (int64_t y = 0; y < turned.height; y++)
    for (int64_t x = 0; x < turned.width; x++, to += image->channels)
      memcpy(to, stored_at(image, orientation, x, y),
             (size_t)image->channels * sizeof *to);
  lapis_image_free(image);
  *image = turned;
  return LAPIS_OK;
}
