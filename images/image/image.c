/* image.c - pictures in memory; which reader a file is for. */
#include "images/image/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "files/io.h"

static const image_kind *const kinds[] = {&image_png, &image_jpeg, &image_pnm};
enum { KINDS = sizeof kinds / sizeof *kinds };

const lapis_image_format *lapis_image_format_at(int i)
{
  return i >= 0 && i < KINDS ? &kinds[i]->shown : NULL;
}

/* ---- reading ------------------------------------------------------------*/
typedef struct stranger { /* formats we know and do not read */
  int at;
  const char *magic;
  const char *name;
} stranger;
static const stranger strangers[] = {
    {0, "GIF8", "a GIF, which may be animated"},
    {8, "WEBP", "a WebP image, which may be animated"},
    {0, "BM", "a Windows bitmap"},
    {0, "II*", "a TIFF image"},
    {0, "MM\0*", "a TIFF image"},
    {0, "P7", "a PAM image"},
    {0, "PF", "a PFM image"},
    {0, "Pf", "a PFM image"},
    {4, "ftypavif", "an AVIF image"},
    {4, "ftyphei", "a HEIF image"},
    {4, "ftypmif", "a HEIF image"},
    {4, "jP  ", "a JPEG 2000 image"},
    {0, "\xff\x4f\xff\x51", "a JPEG 2000 image"},
    {0, "\xff\x0a", "a JPEG XL image"},
    {0, "8BPS", "a Photoshop image"},
    {0, "%PDF", "a PDF document"},
    {0, "<svg", "an SVG drawing"},
    {0, "<?xml", "XML"},
};

/* "MM\0*" holds a zero, all others end at one. */
static size_t magic_size(const char *magic)
{
  return strncmp(magic, "MM", 2) == 0 ? 4 : strlen(magic);
}

static lapis_status refuse_stranger(const image_source *from)
{
  const char *what = "is not an image that LAPIS knows";
  char text[64];
  for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
    const stranger *s = &strangers[i];
    size_t size = magic_size(s->magic);
    if (from->size < s->at + (int64_t)size ||
        memcmp(from->data + s->at, s->magic, size) != 0)
      continue;
    (void)snprintf(text, sizeof text, "is %s", s->name);
    what = text;
    break;
  }
  return lapis_fail(from->ctx, LAPIS_EFORMAT,
                    "%s: %s; PNG, JPEG and PNM (P1 to P6) are read", from->path,
                    what);
}

static lapis_status read_source(const image_source *from, lapis_image *out)
{
  if (from->size == 0)
    return lapis_fail(from->ctx, LAPIS_EFORMAT,
                      "%s: is empty; was it written to its end?", from->path);
  for (int i = 0; i < KINDS; i++) {
    if (!kinds[i]->is(from->data, from->size)) continue;
    lapis_status s = kinds[i]->read(from, out);
    if (s < 0) lapis_image_free(out);
    return s;
  }
  return refuse_stranger(from);
}

lapis_status lapis_image_read(lapis_ctx *ctx, const char *path,
                              lapis_image *out)
{
  MAKES(out);
  NEEDS(ctx, ctx, path, out);
  io_file f;
  TRY(io_file_bytes(ctx, path, &f));
  image_source from = {ctx, io_name(path), f.data, f.size};
  lapis_status s = read_source(&from, out);
  io_file_close(&f);
  return s;
}

static bool has(const unsigned char *bytes, int64_t count, const char *what)
{
  int64_t size = (int64_t)strlen(what);
  for (int64_t i = 0; i + size <= count; i++)
    if (memcmp(bytes + i, what, (size_t)size) == 0) return true;
  return false;
}

/* A PNG or JPEG file that begins and ends as such: a look at a few bytes. */
static bool looks_whole(const char *path)
{
  enum { HEAD = 8, TAIL = 64 };
  unsigned char head[HEAD], tail[TAIL];
  struct stat st;
  if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size < TAIL)
    return false;
  FILE *file = fopen(path, "rb");
  if (file == NULL) return false;
  bool read = fread(head, 1, HEAD, file) == HEAD &&
              fseek(file, -TAIL, SEEK_END) == 0 &&
              fread(tail, 1, TAIL, file) == TAIL;
  (void)fclose(file);
  for (int k = 0; read && k < KINDS; k++)
    if (kinds[k]->end != NULL && kinds[k]->is(head, HEAD))
      return has(tail, TAIL, kinds[k]->end);
  return false;
}

lapis_status lapis_image_check(lapis_ctx *ctx, const char *path)
{
  lapis_image image;
  NEEDS(ctx, ctx, path);
  if (strcmp(path, "-") == 0 || looks_whole(path)) return LAPIS_OK;
  lapis_status s = lapis_image_read(ctx, path, &image);
  lapis_image_free(&image);
  return s;
}

/* ---- writing ------------------------------------------------------------*/
lapis_status image_write_png(lapis_ctx *ctx, const lapis_image *image,
                             const char *path)
{
  NEEDS(ctx, ctx, image, path);
  unsigned char *bytes;
  size_t size;
  TRY(image_encode_png(ctx, image, &bytes, &size));
  lapis_status s = lapis_file_write(ctx, path, bytes, size);
  free(bytes);
  return s;
}
