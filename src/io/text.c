/* text.c - UTF-8, arrays of text, and numbers whatever the locale. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "io/io.h"

enum { NUMBER_BYTES = 512 };

/* A lead byte's length and the smallest code that needs it: shorter codes in
 * longer forms are not UTF-8. */
static int utf8_lead(unsigned char c, uint32_t *code, uint32_t *least)
{
  *code = c;
  *least = 0;
  if (c < 0x80) return 1;
  if (c >= 0xc2 && c < 0xe0) {
    *code = c & 0x1f;
    *least = 0x80;
    return 2;
  }
  if (c >= 0xe0 && c < 0xf0) {
    *code = c & 0x0f;
    *least = 0x800;
    return 3;
  }
  *code = c & 0x07;
  *least = 0x10000;
  return c >= 0xf0 && c < 0xf5 ? 4 : 0;
}

static bool is_character(uint32_t code)
{
  return code < 0xd800 || (code > 0xdfff && code < 0x110000);
}

int utf8_decode(const char *s, const char *end, uint32_t *code)
{
  uint32_t least;
  int length = utf8_lead((unsigned char)*s, code, &least);
  if (length == 0 || end - s < length) return 0;
  for (int i = 1; i < length; i++) {
    unsigned char c = (unsigned char)s[i];
    if ((c & 0xc0) != 0x80) return 0;
    *code = *code << 6 | (c & 0x3f);
  }
  return *code >= least && is_character(*code) ? length : 0;
}

int utf8_encode(uint32_t code, char *out)
{
  if (!is_character(code)) return 0;
  if (code < 0x80) {
    out[0] = (char)code;
    return 1;
  }
  int length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  for (int i = length - 1; i > 0; i--) {
    out[i] = (char)(0x80 | (code & 0x3f));
    code >>= 6;
  }
  out[0] = (char)((0xf00 >> length) | code);
  return length;
}

int64_t utf8_length(const char *s)
{
  const char *end = s + strlen(s);
  int64_t count = 0;
  while (s < end) {
    uint32_t code;
    int length = utf8_decode(s, end, &code);
    if (length == 0) return -1;
    s += length;
    count++;
  }
  return count;
}

static void set_matrix(lapis_array *a, lapis_dtype dtype, int64_t rows,
                       int64_t cols)
{
  a->mat = (lapis_mat){.dtype = dtype,
                       .rows = rows,
                       .cols = cols,
                       .ld = rows > 0 ? rows : 1,
                       .val = a->memory};
  a->axes = 2;
  a->shape[0] = cols;
  a->shape[1] = rows;
}

lapis_status io_text_array(lapis_ctx *ctx, int64_t rows, int64_t cols,
                           int64_t bytes, lapis_array *out, char **pool)
{
  int64_t count = rows * cols;
  *out = (lapis_array){.kind = IO_HEAP};
  if (bytes > INT64_MAX / 2 || count > (INT64_MAX / 2) / 8)
    return lapis_fail(ctx, LAPIS_ENOMEM, "out of memory: %" PRId64 " texts",
                      count);
  out->bytes = (size_t)count * sizeof(char *) + (size_t)bytes;
  out->memory = base_alloc(ctx, (int64_t)out->bytes, 1);
  if (out->memory == NULL) return LAPIS_ENOMEM;
  set_matrix(out, LAPIS_TEXT, rows, cols);
  *pool = (char *)out->memory + (size_t)count * sizeof(char *);
  return LAPIS_OK;
}

/* size 0: pointers to texts, NULL for an empty one. */
static const char *text_at(const char *raw, size_t size, int64_t i,
                           size_t *length)
{
  const char *text = size == 0 ? ((char *const *)(const void *)raw)[i]
                               : raw + (size_t)i * size;
  if (text == NULL) text = "";
  *length = size == 0 ? strlen(text) : strnlen(text, size);
  return text;
}

lapis_status io_text_copy(lapis_ctx *ctx, const char *what, const char *raw,
                          size_t size, int64_t count, lapis_array *out)
{
  size_t length;
  int64_t bytes = 0;
  char *pool = NULL;
  for (int64_t i = 0; i < count; i++) {
    (void)text_at(raw, size, i, &length);
    bytes += (int64_t)length + 1;
  }
  TRY(io_text_array(ctx, 1, count, bytes, out, &pool));
  for (int64_t i = 0; pool != NULL && i < count; i++) {
    const char *text = text_at(raw, size, i, &length);
    memcpy(pool, text, length);
    pool[length] = '\0';
    ((const char **)out->mat.val)[i] = pool;
    if (utf8_length(pool) < 0) {
      lapis_array_free(out);
      return lapis_fail(ctx, LAPIS_EFORMAT,
                        "%s: holds text that is not UTF-8; save it as UTF-8",
                        what);
    }
    pool += length + 1;
  }
  return LAPIS_OK;
}

lapis_status io_number_array(lapis_ctx *ctx, lapis_dtype dtype, int64_t rows,
                             int64_t cols, lapis_array *out)
{
  *out = (lapis_array){.kind = IO_HEAP};
  if (cols > 0 && rows > INT64_MAX / cols)
    return lapis_fail(ctx, LAPIS_ENOMEM,
                      "out of memory: %" PRId64 " x %" PRId64 " numbers", rows,
                      cols);
  out->memory = base_alloc(ctx, rows * cols, 8);
  if (out->memory == NULL) return LAPIS_ENOMEM;
  out->bytes = (size_t)(rows * cols) * 8;
  set_matrix(out, dtype, rows, cols);
  return LAPIS_OK;
}

static bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}

static const char *skip_digits(const char *s)
{
  while (is_digit(*s)) s++;
  return s;
}

static bool is_infinity(const char *s)
{
  static const char *const spelt[] = {"inf", "Inf", "INF", "infinity",
                                      "Infinity"};
  if (*s != 'i' && *s != 'I') return false;
  for (size_t i = 0; i < sizeof spelt / sizeof *spelt; i++)
    if (strcmp(s, spelt[i]) == 0) return true;
  return false;
}

/* [digits][.digits][e[+-]digits] with a digit before the exponent: strtod
 * alone would take hexadecimal numbers too. */
static bool is_decimal(const char *s)
{
  const char *start = s;
  s = skip_digits(s);
  int64_t digits = s - start;
  if (*s == '.') {
    const char *fraction = s + 1;
    s = skip_digits(fraction);
    digits += s - fraction;
  }
  if (digits == 0) return false;
  if (*s == 'e' || *s == 'E') {
    s++;
    if (*s == '+' || *s == '-') s++;
    if (!is_digit(*s)) return false;
    s = skip_digits(s);
  }
  return *s == '\0';
}

/* Digits of a small number need no library and no locale: an integer below
 * 2^53 divided by an exact power of ten is rounded once. */
static bool quick_number(const char *s, double *value)
{
  static const double ten[] = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                               1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  int64_t whole = 0;
  int digits = 0, places = 0;
  for (bool point = false; *s != '\0'; s++) {
    if (*s == '.') {
      point = true;
      continue;
    }
    if (!is_digit(*s) || ++digits > 15) return false;
    whole = 10 * whole + (*s - '0');
    places += point;
  }
  *value = (double)whole / ten[places];
  return true;
}

bool io_number(const char *text, int64_t size, double *value)
{
  char copy[NUMBER_BYTES];
  if (size <= 0 || size >= NUMBER_BYTES) return false;
  memcpy(copy, text, (size_t)size);
  copy[size] = '\0';
  bool minus = copy[0] == '-';
  const char *s = copy + (minus || copy[0] == '+');
  bool infinite = is_infinity(s);
  if (!infinite && !is_decimal(s)) return false;
  if (value == NULL) return true;
  if (infinite)
    *value = INFINITY;
  else if (!quick_number(s, value))
    (void)lapis_number_read(s, NULL, value);
  if (minus) *value = -*value;
  return true;
}
