/* text.c - UTF-8, and numbers whatever the locale. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "files/io.h"

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

lapis_status io_check_utf8(lapis_ctx *ctx, const char *path, const char *at,
                           const char *end)
{
  const char *line_start = at;
  int64_t line = 1;
  while (at < end) {
    uint32_t code;
    int length = (unsigned char)*at < 0x80 && *at != '\0'
                     ? 1
                     : utf8_decode(at, end, &code);
    if (length == 0 || *at == '\0')
      return lapis_fail(ctx, LAPIS_EFORMAT,
                        "%s:%" PRId64 ":%td: is not UTF-8 text but the byte "
                        "0x%02X, as in %s; save the table as UTF-8: iconv -f "
                        "%s -t utf-8 OLD >NEW",
                        path, line, at - line_start + 1, (unsigned char)*at,
                        *at == '\0' ? "UTF-16" : "Latin-1",
                        *at == '\0' ? "utf-16" : "cp1252");
    if (*at == '\n') {
      line++;
      line_start = at + 1;
    }
    at += length;
  }
  return LAPIS_OK;
}

bool io_ends_in(const char *path, const char *words)
{
  size_t length = strlen(path);
  while (*words != '\0') {
    size_t n = strcspn(words, " ");
    if (n > 0 && length > n && memcmp(path + length - n, words, n) == 0)
      return true;
    words += n + (words[n] == ' ');
  }
  return false;
}
