/* png.c - pictures as PNG (ISO/IEC 15948), not compressed: stored blocks of
 * deflate (RFC 1951) in a zlib stream (RFC 1950).  The pictures here have a
 * few thousand pixels; a compressor would be more code than they are bytes. */
#include <string.h>

#include "report/page.h"

enum { BLOCK = 65535, WRAP = 65521 }; /* WRAP: the modulus of Adler-32 */

typedef struct stream {
  unsigned char *at;
} stream;

static void put(stream *s, const void *bytes, int64_t size)
{
  memcpy(s->at, bytes, (size_t)size);
  s->at += size;
}

static void put_u32(stream *s, uint32_t v)
{
  unsigned char b[4] = {(unsigned char)(v >> 24), (unsigned char)(v >> 16),
                        (unsigned char)(v >> 8), (unsigned char)v};
  put(s, b, 4);
}

/* CRC-32 bit by bit. */
static uint32_t crc(const unsigned char *bytes, int64_t size)
{
  uint32_t c = 0xffffffffU;
  for (int64_t k = 0; k < size; k++) {
    c ^= bytes[k];
    for (int bit = 0; bit < 8; bit++)
      c = c & 1 ? 0xedb88320U ^ (c >> 1) : c >> 1;
  }
  return ~c;
}

static uint32_t adler(const unsigned char *bytes, int64_t size)
{
  uint32_t a = 1, b = 0;
  for (int64_t k = 0; k < size; k++) {
    a = (a + bytes[k]) % WRAP;
    b = (b + a) % WRAP;
  }
  return b << 16 | a;
}

/* Length, type, then what the caller puts; end_chunk adds the check. */
static unsigned char *begin_chunk(stream *s, int64_t size, const char *type)
{
  put_u32(s, (uint32_t)size);
  put(s, type, 4);
  return s->at - 4;
}

static void end_chunk(stream *s, const unsigned char *from)
{
  put_u32(s, crc(from, s->at - from));
}

static void put_zlib(stream *s, const unsigned char *raw, int64_t size)
{
  put(s, "\x78\x01", 2);
  for (int64_t k = 0; k < size; k += BLOCK) {
    int64_t n = size - k < BLOCK ? size - k : BLOCK;
    unsigned char head[5] = {k + n == size, n & 255, (unsigned char)(n >> 8),
                             ~n & 255, ~(n >> 8) & 255};
    put(s, head, 5);
    put(s, raw + k, n);
  }
  put_u32(s, adler(raw, size));
}

/* raw: height rows of a 0 (no filter) and `row` bytes. */
static void encode(stream *s, const raster *r, const unsigned char *raw,
                   int64_t row)
{
  int64_t size = r->height * (row + 1);
  int64_t blocks = (size + BLOCK - 1) / BLOCK;
  bool indexed = r->palette != NULL;
  put(s, "\x89PNG\r\n\x1a\n", 8);
  unsigned char *from = begin_chunk(s, 13, "IHDR");
  put_u32(s, (uint32_t)r->width);
  put_u32(s, (uint32_t)r->height);
  put(s, indexed ? "\x08\x03\0\0\0" : "\x08\x02\0\0\0", 5); /* 8 bits */
  end_chunk(s, from);
  if (indexed) {
    from = begin_chunk(s, 3 * r->colours, "PLTE");
    for (int k = 0; k < r->colours; k++) put(s, r->palette + 4 * k, 3);
    end_chunk(s, from);
    from = begin_chunk(s, r->colours, "tRNS");
    for (int k = 0; k < r->colours; k++) put(s, r->palette + 4 * k + 3, 1);
    end_chunk(s, from);
  }
  from = begin_chunk(s, 2 + 5 * blocks + size + 4, "IDAT");
  put_zlib(s, raw, size);
  end_chunk(s, from);
  end_chunk(s, begin_chunk(s, 0, "IEND"));
}

void page_png(page *p, const raster *r)
{
  int64_t row = r->width * (r->palette != NULL ? 1 : 3);
  int64_t size = r->height * (row + 1);
  int64_t room = size + 5 * (size / BLOCK + 1) + 6 + 8 + 25 + 12 + 12 +
                 (r->palette != NULL ? 24 + 4 * r->colours : 0);
  unsigned char *raw = base_alloc_raw(p->ctx, size, 1);
  unsigned char *file = base_alloc_raw(p->ctx, room, 1);
  stream s = {file};
  if (raw == NULL || file == NULL) {
    p->status = LAPIS_ENOMEM;
  } else {
    for (int64_t i = 0; i < r->height; i++) {
      raw[i * (row + 1)] = 0;
      memcpy(raw + i * (row + 1) + 1, r->pixels + i * row, (size_t)row);
    }
    encode(&s, r, raw, row);
    page_words(p, "data:image/png;base64,");
    page_base64(p, file, s.at - file);
  }
  base_free(raw);
  base_free(file);
}
