/* pnm.c - portable bitmaps, greymaps and pixmaps, plain (P1 P2 P3) and raw
 * (P4 P5 P6), as the netpbm project describes them.
 *
 *   P5                  a number sign begins a comment, to the end of its line
 *   # comment
 *   width height
 *   maxval              1..65535; bitmaps have none
 *   pixels              raw: behind one blank; above 255 two bytes, high first
 *
 * A bitmap's 1 is black.  A raw raster's size is known before any memory is
 * asked for; a plain one needs at least a byte a number, so neither kind can
 * ask for more than a few times its own size. */
#include "images/image/image.h"

enum { MAXVAL = 65535, NUMBER = 1000000000 };

typedef struct scan {
  const image_source *from;
  int64_t at;
  int kind; /* 1..6 */
  int64_t width, height, channels, maxval;
} scan;

static lapis_status bad(const scan *s, const char *what)
{
  return lapis_fail(s->from->ctx, LAPIS_EFORMAT,
                    "%s: PNM: byte %" PRId64 ": %s", s->from->path, s->at,
                    what);
}

static bool is_blank(unsigned char c)
{
  return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool at_end(const scan *s)
{
  return s->at >= s->from->size;
}

static void skip_blanks(scan *s)
{
  bool comment = false;
  for (; !at_end(s); s->at++) {
    unsigned char c = s->from->data[s->at];
    if (comment)
      comment = c != '\n' && c != '\r';
    else if (c == '#')
      comment = true;
    else if (!is_blank(c))
      break;
  }
}

static lapis_status number(scan *s, int64_t *out)
{
  skip_blanks(s);
  int64_t start = s->at, v = 0;
  for (; !at_end(s) && v < NUMBER; s->at++) {
    int digit = s->from->data[s->at] - '0';
    if (digit < 0 || digit > 9) break;
    v = 10 * v + digit;
  }
  *out = v;
  if (s->at > start) return LAPIS_OK;
  return bad(s, at_end(s) ? "the file ends where a number is expected"
                          : "a number is expected here");
}

static lapis_status header(scan *s)
{
  s->kind = s->from->data[1] - '0';
  s->at = 2;
  s->channels = s->kind % 3 == 0 ? 3 : 1;
  s->maxval = 1;
  TRY(number(s, &s->width));
  TRY(number(s, &s->height));
  if (s->kind % 3 != 1) TRY(number(s, &s->maxval));
  if (s->maxval < 1 || s->maxval > MAXVAL)
    return bad(s, "the largest value must be from 1 to 65535");
  TRY(image_check_size(s->from->ctx, s->from->path, (double)s->width,
                       (double)s->height));
  if (at_end(s)) return bad(s, "the file ends before its pixels");
  if (!is_blank(s->from->data[s->at]))
    return bad(s, "a blank is needed before the pixels");
  s->at++;
  return LAPIS_OK;
}

/* Bytes the pixels need, at least. */
static int64_t least_bytes(const scan *s)
{
  int64_t row = s->width * s->channels;
  if (s->kind == 4) return (row + 7) / 8 * s->height;
  return row * s->height * (s->kind > 4 && s->maxval > 255 ? 2 : 1);
}

/* ---- pixels -------------------------------------------------------------*/
static void raw_bits(const scan *s, float *to)
{
  const unsigned char *row = s->from->data + s->at;
  for (int64_t y = 0; y < s->height; y++, row += (s->width + 7) / 8)
    for (int64_t x = 0; x < s->width; x++)
      *to++ = row[x / 8] >> (7 - x % 8) & 1 ? 0.0f : 1.0f;
}

static lapis_status raw_values(scan *s, int64_t count, float *to)
{
  int bytes = s->maxval > 255 ? 2 : 1;
  const unsigned char *p = s->from->data + s->at;
  for (int64_t k = 0; k < count; k++, p += bytes) {
    int64_t v = bytes == 1 ? p[0] : p[0] << 8 | p[1];
    if (v > s->maxval) {
      s->at = p - s->from->data;
      return bad(s, "a value is above the largest that was declared");
    }
    to[k] = (float)((double)v / (double)s->maxval);
  }
  return LAPIS_OK;
}

/* The bits of a plain bitmap may stand without blanks between them. */
static lapis_status plain_bit(scan *s, int64_t *out)
{
  skip_blanks(s);
  if (at_end(s)) return bad(s, "the file ends within its pixels");
  int digit = s->from->data[s->at] - '0';
  if (digit != 0 && digit != 1) return bad(s, "0 or 1 is expected here");
  s->at++;
  *out = 1 - digit;
  return LAPIS_OK;
}

static lapis_status plain_values(scan *s, int64_t count, float *to)
{
  for (int64_t k = 0; k < count; k++) {
    int64_t v;
    if (k % 4096 == 0)
      TRY(base_branch_on(s->from->ctx, "reading", s->from->path));
    TRY(s->kind == 1 ? plain_bit(s, &v) : number(s, &v));
    if (v > s->maxval)
      return bad(s, "a value is above the largest that was declared");
    to[k] = (float)((double)v / (double)s->maxval);
  }
  return LAPIS_OK;
}

static lapis_status pixels(scan *s, lapis_image *out)
{
  int64_t count = image_count(out);
  if (s->kind <= 3) return plain_values(s, count, out->pixels);
  if (s->kind == 4)
    raw_bits(s, out->pixels);
  else
    TRY(raw_values(s, count, out->pixels));
  s->at += least_bytes(s);
  return LAPIS_OK;
}

static lapis_status read_pnm(const image_source *from, lapis_image *out)
{
  scan s = {.from = from};
  TRY(header(&s));
  int64_t left = from->size - s.at;
  if (left < least_bytes(&s))
    return lapis_fail(from->ctx, LAPIS_EFORMAT,
                      "%s: PNM: is cut short, %" PRId64 " bytes of at least "
                      "%" PRId64 " for %" PRId64 " x %" PRId64 " pixels",
                      from->path, left, least_bytes(&s), s.width, s.height);
  TRY(image_alloc(from->ctx, s.width, s.height, s.channels, out));
  TRY(pixels(&s, out));
  skip_blanks(&s);
  if (at_end(&s)) return LAPIS_OK;
  return bad(&s, "the file goes on after its pixels; one image a file is read");
}

static bool is_pnm(const unsigned char *head, int64_t size)
{
  return size >= 2 && head[0] == 'P' && head[1] >= '1' && head[1] <= '6';
}

const image_kind image_pnm = {{"pnm", ".pnm .pbm .pgm .ppm",
                               "PNM: bitmaps, greymaps, pixmaps", NULL, true},
                              is_pnm,
                              read_pnm,
                              NULL};
