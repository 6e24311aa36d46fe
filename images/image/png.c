/* png.c - PNG by libpng, the only file that knows it.
 *
 * Every colour type and depth becomes grey or RGB of 8 or 16 bits.  What is
 * transparent is laid over white, in the values as stored, as browsers do.
 * Animations (acTL) are refused.
 *
 * libpng reports an error by leaving through longjmp: guarded() is the only
 * place it can come back to, and everything that then has to be released is in
 * the job. */
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "images/image/image.h"

enum { CHUNK_BYTES = 1 << 23, CHUNKS_KEPT = 128, MESSAGE = 128 };

typedef struct job {
  lapis_ctx *ctx;
  jmp_buf escape;
  png_structp png;
  png_infop info;
  char message[MESSAGE]; /* libpng's */
  lapis_status status;   /* ours */
  /* reading */
  const image_source *from;
  int64_t at;
  lapis_image *out;
  png_bytep raster; /* all rows of an interlaced image, else one */
  /* writing */
  const lapis_image *image; /* this, or that */
  const image_raster *bare;
  unsigned char *bytes;
  size_t size, room;
} job;

static void on_error(png_structp png, png_const_charp text)
{
  job *j = png_get_error_ptr(png);
  (void)snprintf(j->message, sizeof j->message, "%s", text);
  longjmp(j->escape, 1);
}

static void on_warning(png_structp png, png_const_charp text)
{
  (void)png;
  (void)text;
}

static png_voidp allocate(png_structp png, png_alloc_size_t size)
{
  job *j = png_get_mem_ptr(png);
  void *p = base_alloc_raw(j->ctx, (int64_t)size, 1);
  if (p == NULL) j->status = LAPIS_ENOMEM;
  return p;
}

static void release(png_structp png, png_voidp p)
{
  (void)png;
  base_free(p);
}

/* false: libpng gave up, and j->message says why. */
static bool guarded(job *j, void (*steps)(job *))
{
  if (setjmp(j->escape) != 0) return false;
  steps(j);
  return true;
}

/* ---- reading ------------------------------------------------------------*/
static void give(png_structp png, png_bytep to, size_t size)
{
  job *j = png_get_io_ptr(png);
  if (size > (size_t)(j->from->size - j->at)) png_error(png, "is cut short");
  memcpy(to, j->from->data + j->at, size);
  j->at += (int64_t)size;
}

static uint32_t big_endian(const unsigned char *p)
{
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 |
         p[3];
}

/* An acTL chunk stands before the first IDAT. */
static bool is_animated(const image_source *from)
{
  for (int64_t at = 8; at + 12 <= from->size;) {
    const unsigned char *p = from->data + at;
    if (memcmp(p + 4, "acTL", 4) == 0) return true;
    if (memcmp(p + 4, "IDAT", 4) == 0) return false;
    at += 12 + (int64_t)big_endian(p);
  }
  return false;
}

static void transform(job *j)
{
  int type = png_get_color_type(j->png, j->info);
  if (type == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(j->png);
  if (type == PNG_COLOR_TYPE_GRAY && png_get_bit_depth(j->png, j->info) < 8)
    png_set_expand_gray_1_2_4_to_8(j->png);
  if (png_get_valid(j->png, j->info, PNG_INFO_tRNS))
    png_set_tRNS_to_alpha(j->png);
}

/* One row of 8 or 16 bits, with or without alpha, over white. */
static void convert(const job *j, const png_byte *row, int64_t y)
{
  int stored = png_get_channels(j->png, j->info);
  int bytes = png_get_bit_depth(j->png, j->info) / 8;
  int64_t channels = j->out->channels, width = j->out->width;
  double most = bytes == 2 ? 65535 : 255;
  float *to = j->out->pixels + y * width * channels;
  for (int64_t x = 0; x < width; x++, row += stored * bytes) {
    double v[4];
    for (int c = 0; c < stored; c++)
      v[c] = (bytes == 2 ? row[2 * c] << 8 | row[2 * c + 1] : row[c]) / most;
    double alpha = stored > channels ? v[channels] : 1;
    for (int64_t c = 0; c < channels; c++)
      *to++ = (float)(alpha < 1 ? alpha * v[c] + (1 - alpha) : v[c]);
  }
}

static void read_rows(job *j, int passes)
{
  int64_t height = j->out->height;
  int64_t row_bytes = (int64_t)png_get_rowbytes(j->png, j->info);
  int64_t kept = passes > 1 ? height : 1;
  j->raster = base_alloc(j->ctx, kept * row_bytes, 1);
  if (j->raster == NULL) {
    j->status = LAPIS_ENOMEM;
    return;
  }
  for (int pass = 0; pass < passes; pass++)
    for (int64_t y = 0; y < height; y++) {
      png_bytep row = j->raster + (passes > 1 ? y * row_bytes : 0);
      png_read_row(j->png, row, NULL);
      if (pass == passes - 1) convert(j, row, y);
      j->status = base_branch_on(j->ctx, "reading", j->from->path);
      if (j->status < 0) return;
    }
  png_read_end(j->png, NULL);
}

static void read_image(job *j)
{
  png_set_read_fn(j->png, j, give);
  png_set_user_limits(j->png, 0x7fffffff, 0x7fffffff); /* ours say more */
  png_set_chunk_malloc_max(j->png, CHUNK_BYTES);
  png_set_chunk_cache_max(j->png, CHUNKS_KEPT);
  png_read_info(j->png, j->info);
  double width = png_get_image_width(j->png, j->info);
  double height = png_get_image_height(j->png, j->info);
  int type = png_get_color_type(j->png, j->info);
  j->status = image_check_size(j->ctx, j->from->path, width, height);
  if (j->status < 0) return;
  transform(j);
  int passes = png_set_interlace_handling(j->png);
  png_read_update_info(j->png, j->info);
  j->status = image_alloc(j->ctx, (int64_t)width, (int64_t)height,
                          type & PNG_COLOR_MASK_COLOR ? 3 : 1, j->out);
  if (j->status >= 0) read_rows(j, passes);
}

static lapis_status read_png(const image_source *from, lapis_image *out)
{
  job j = {.ctx = from->ctx, .from = from, .out = out};
  if (is_animated(from))
    return lapis_fail(from->ctx, LAPIS_EFORMAT,
                      "%s: PNG: is animated; save one of its frames as PNG",
                      from->path);
  j.png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &j, on_error,
                                   on_warning, &j, allocate, release);
  if (j.png != NULL) j.info = png_create_info_struct(j.png);
  if (j.info == NULL)
    j.status = LAPIS_ENOMEM;
  else if (!guarded(&j, read_image) && j.status >= 0)
    j.status = lapis_fail(from->ctx, LAPIS_EFORMAT, "%s: PNG: %s", from->path,
                          j.message);
  base_free(j.raster);
  png_destroy_read_struct(&j.png, &j.info, NULL);
  return j.status;
}

/* ---- writing ------------------------------------------------------------*/
static void take(png_structp png, png_bytep from, size_t size)
{
  job *j = png_get_io_ptr(png);
  if (size > j->room - j->size) {
    size_t room = 2 * j->room + size;
    unsigned char *bytes = realloc(j->bytes, room);
    if (bytes == NULL) png_error(png, "out of memory");
    j->bytes = bytes;
    j->room = room;
  }
  memcpy(j->bytes + j->size, from, size);
  j->size += size;
}

static void flush(png_structp png)
{
  (void)png;
}

static void set_palette(job *j, const image_raster *r)
{
  png_color colour[256];
  png_byte alpha[256];
  for (int k = 0; k < r->colours; k++) {
    const unsigned char *c = r->palette + 4 * k;
    colour[k] = (png_color){c[0], c[1], c[2]};
    alpha[k] = c[3];
  }
  png_set_PLTE(j->png, j->info, colour, r->colours);
  png_set_tRNS(j->png, j->info, alpha, r->colours, NULL);
}

static void write_raster(job *j)
{
  const image_raster *r = j->bare;
  int64_t row = r->width * (r->palette != NULL ? 1 : 3);
  png_set_write_fn(j->png, j, take, flush);
  png_set_IHDR(j->png, j->info, (png_uint_32)r->width, (png_uint_32)r->height,
               8,
               r->palette != NULL ? PNG_COLOR_TYPE_PALETTE : PNG_COLOR_TYPE_RGB,
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  if (r->palette != NULL) set_palette(j, r);
  png_set_filter(j->png, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE);
  png_write_info(j->png, j->info);
  for (int64_t y = 0; y < r->height; y++)
    png_write_row(j->png, r->pixels + y * row);
  png_write_end(j->png, NULL);
}

static void write_image(job *j)
{
  const lapis_image *m = j->image;
  int64_t row = m->width * m->channels;
  png_set_write_fn(j->png, j, take, flush);
  png_set_IHDR(j->png, j->info, (png_uint_32)m->width, (png_uint_32)m->height,
               8, m->channels == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY,
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_write_info(j->png, j->info);
  for (int64_t y = 0; y < m->height; y++) {
    for (int64_t k = 0; k < row; k++)
      j->raster[k] = image_level(m->pixels[y * row + k]);
    png_write_row(j->png, j->raster);
  }
  png_write_end(j->png, NULL);
}

static lapis_status encode(job *j, void (*steps)(job *))
{
  j->png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, j, on_error,
                                     on_warning, j, allocate, release);
  if (j->png != NULL) j->info = png_create_info_struct(j->png);
  if (j->info == NULL) return LAPIS_ENOMEM;
  if (guarded(j, steps) || j->status < 0) return j->status;
  return lapis_fail(j->ctx, LAPIS_ENOMEM, "writing an image as PNG: %s",
                    j->message);
}

static lapis_status finish(job *j, lapis_status s, unsigned char **bytes,
                           size_t *size)
{
  base_free(j->raster);
  png_destroy_write_struct(&j->png, &j->info);
  if (s < 0) {
    free(j->bytes);
    return s;
  }
  *bytes = j->bytes;
  *size = j->size;
  return LAPIS_OK;
}

lapis_status image_encode_raster(lapis_ctx *ctx, const image_raster *r,
                                 unsigned char **bytes, size_t *size)
{
  job j = {.ctx = ctx, .bare = r};
  *bytes = NULL;
  return finish(&j, encode(&j, write_raster), bytes, size);
}

lapis_status image_encode_png(lapis_ctx *ctx, const lapis_image *image,
                              unsigned char **bytes, size_t *size)
{
  MAKES(bytes);
  NEEDS(ctx, ctx, image, bytes, size);
  job j = {.ctx = ctx, .image = image};
  *size = 0;
  TRY(image_check(ctx, "writing an image as PNG", image));
  TRY(image_check_size(ctx, "writing an image as PNG", (double)image->width,
                       (double)image->height));
  j.raster = base_alloc(ctx, image->width * image->channels, 1);
  lapis_status s = j.raster == NULL ? LAPIS_ENOMEM : encode(&j, write_image);
  return finish(&j, s, bytes, size);
}

const image_kind image_png = {
    {IMAGE_PNG_SHOWN, true}, image_is_png, read_png, "IEND"};
