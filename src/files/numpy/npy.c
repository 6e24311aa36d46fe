/* npy.c - the header of a .npy file.
 *
 *   \x93NUMPY major minor length {'descr': '<f8', 'fortran_order': False,
 *   'shape': (3, 4), }
 *
 * The length has 2 bytes in version 1, 4 in 2 and 3.  The dictionary is a
 * Python literal; we read the subset that describes one array of one plain
 * type, with keys in any order, and refuse the rest.  Nothing is believed
 * until the byte count that follows from it equals the bytes that are there.
 */
#include <string.h>

#include "files/io.h"

enum { HEADER_LIMIT = 1 << 20 };

/* ---- sources ------------------------------------------------------------*/

/* ---- the dictionary -----------------------------------------------------*/
typedef struct cursor {
  io_source *source;
  const char *start, *at, *end;
} cursor;

static lapis_status fail_at(const cursor *c, const char *wanted)
{
  return lapis_fail(
      c->source->ctx, LAPIS_EFORMAT,
      "%s: .npy header, byte %td of the dictionary: %s; numpy.save writes it",
      c->source->what, c->at - c->start, wanted);
}

static void skip_space(cursor *c)
{
  while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t'))
    c->at++;
}

/* Skips space, then takes one character if it is the one wanted. */
static bool take_char(cursor *c, char wanted)
{
  skip_space(c);
  if (c->at == c->end || *c->at != wanted) return false;
  c->at++;
  return true;
}

static bool take_word(cursor *c, const char *word)
{
  size_t size = strlen(word);
  skip_space(c);
  if ((size_t)(c->end - c->at) < size || memcmp(c->at, word, size) != 0)
    return false;
  c->at += size;
  return true;
}

/* A quoted text without escapes; false if there is none or it is too long. */
static bool take_text(cursor *c, char *out, size_t size)
{
  skip_space(c);
  if (c->at == c->end || (*c->at != '\'' && *c->at != '"')) return false;
  const char *from = c->at + 1;
  const char *to = memchr(from, *c->at, (size_t)(c->end - from));
  if (to == NULL || (size_t)(to - from) >= size) return false;
  memcpy(out, from, (size_t)(to - from));
  out[to - from] = '\0';
  if (memchr(out, '\\', (size_t)(to - from)) != NULL) return false;
  c->at = to + 1;
  return true;
}

/* A number >= 0; Python 2 wrote an L behind it. */
static lapis_status take_length(cursor *c, int64_t *value)
{
  skip_space(c);
  if (c->at < c->end && *c->at == '-')
    return fail_at(c, "the length of an axis is negative");
  if (c->at == c->end || *c->at < '0' || *c->at > '9')
    return fail_at(c, "the length of an axis is needed");
  *value = 0;
  for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
    int digit = *c->at - '0';
    if (*value > (INT64_MAX - digit) / 10)
      return fail_at(c, "the length of an axis is beyond 2^63 - 1");
    *value = 10 * *value + digit;
  }
  if (c->at < c->end && *c->at == 'L') c->at++;
  return LAPIS_OK;
}

/* A tuple: (), (3,), (3, 4), (3, 4,) */
static lapis_status take_shape(cursor *c, npy_header *h)
{
  if (!take_char(c, '(')) return fail_at(c, "'shape' needs a tuple");
  while (!take_char(c, ')')) {
    if (h->axes == LAPIS_MAX_AXES)
      return fail_at(c, "'shape' has more than 8 axes");
    TRY(take_length(c, &h->shape[h->axes++]));
    bool comma = take_char(c, ',');
    skip_space(c);
    bool closes = c->at < c->end && *c->at == ')';
    if (!comma && (!closes || h->axes == 1))
      return fail_at(c, "'shape': a comma is needed");
  }
  return LAPIS_OK;
}

static lapis_status take_order(cursor *c, npy_header *h)
{
  h->fortran = take_word(c, "True");
  if (h->fortran || take_word(c, "False")) return LAPIS_OK;
  return fail_at(c, "'fortran_order' needs True or False");
}

static lapis_status take_descr(cursor *c, npy_header *h)
{
  skip_space(c);
  if (c->at < c->end && *c->at == '[')
    return lapis_fail(c->source->ctx, LAPIS_EFORMAT,
                      "%s: holds records of several fields; save each field "
                      "as an array of its own",
                      c->source->what);
  if (!take_text(c, h->descr, sizeof h->descr))
    return fail_at(c, "'descr' needs a type such as '<f8'");
  return LAPIS_OK;
}

enum { KEY_DESCR = 1, KEY_ORDER = 2, KEY_SHAPE = 4, KEY_ALL = 7 };

static lapis_status take_entry(cursor *c, npy_header *h, unsigned *seen)
{
  char key[24];
  const char *start = c->at;
  if (!take_text(c, key, sizeof key) || !take_char(c, ':'))
    return fail_at(c, "a key and a colon are needed");
  unsigned bit = strcmp(key, "descr") == 0           ? KEY_DESCR
                 : strcmp(key, "fortran_order") == 0 ? KEY_ORDER
                 : strcmp(key, "shape") == 0         ? KEY_SHAPE
                                                     : 0;
  if (bit == 0 || (*seen & bit) != 0) {
    c->at = start;
    return fail_at(c, "'descr', 'fortran_order' and 'shape' are needed, once "
                      "each");
  }
  *seen |= bit;
  if (bit == KEY_DESCR) return take_descr(c, h);
  if (bit == KEY_ORDER) return take_order(c, h);
  return take_shape(c, h);
}

static lapis_status take_dictionary(cursor *c, npy_header *h)
{
  unsigned seen = 0;
  if (!take_char(c, '{')) return fail_at(c, "'{' is needed");
  while (!take_char(c, '}')) {
    TRY(take_entry(c, h, &seen));
    skip_space(c);
    bool closes = c->at < c->end && *c->at == '}';
    if (!take_char(c, ',') && !closes)
      return fail_at(c, "a comma or '}' is needed");
  }
  if (seen != KEY_ALL)
    return fail_at(c, "'descr', 'fortran_order' and 'shape' are all needed");
  skip_space(c);
  if (c->at != c->end) return fail_at(c, "something follows the dictionary");
  return LAPIS_OK;
}

/* ---- the type -----------------------------------------------------------*/
static bool known_size(char kind, int64_t size)
{
  if (kind == 'f') return size == 2 || size == 4 || size == 8;
  if (kind == 'i' || kind == 'u')
    return size == 1 || size == 2 || size == 4 || size == 8;
  if (kind == 'b') return size == 1;
  return (kind == 'U' || kind == 'S') && size <= (1 << 24);
}

/* "<f8": byte order, kind, and bytes (characters of 4 bytes for U). */
static lapis_status decode_type(io_source *s, npy_header *h)
{
  const char *d = h->descr;
  size_t digits = strlen(d) < 2 ? 0 : strspn(d + 2, "0123456789");
  int64_t size = 0;
  for (size_t i = 0; i < digits && size < (1 << 25); i++)
    size = 10 * size + (d[2 + i] - '0');
  bool order = *d != '\0' && strchr("<>|", *d) != NULL;
  if (order && d[1] == 'O')
    return lapis_fail(s->ctx, LAPIS_EFORMAT,
                      "%s: holds Python objects (pickle), which LAPIS never "
                      "loads; save it with a numeric dtype",
                      s->what);
  if (!order || digits == 0 || d[2 + digits] != '\0' ||
      !known_size(d[1], size) || (*d == '|' && d[1] != 'S' && size > 1))
    return lapis_fail(s->ctx, LAPIS_EFORMAT,
                      "%s: has the type '%s', which is not read; f2 f4 f8, "
                      "i1 to i8, u1 to u8, b1, U and S are",
                      s->what, d);
  h->kind = d[1];
  h->item = (int)(h->kind == 'U' ? 4 * size : size);
  h->big = *d == '>';
  return LAPIS_OK;
}

/* The product of the shape; an axis of length 0 does not excuse the others.
 */
static lapis_status count_entries(io_source *s, npy_header *h)
{
  int64_t all = h->item > 0 ? h->item : 1;
  h->count = 1;
  for (int i = 0; i < h->axes; i++) {
    int64_t length = h->shape[i] > 0 ? h->shape[i] : 1;
    if (all > INT64_MAX / length)
      return lapis_fail(s->ctx, LAPIS_EFORMAT,
                        "%s: its shape has more than 2^63 bytes; the file is "
                        "damaged, write it again",
                        s->what);
    all *= length;
    h->count *= h->shape[i];
  }
  return LAPIS_OK;
}

static lapis_status check_bytes(io_source *s, const npy_header *h)
{
  int64_t wanted = h->count * h->item;
  if (wanted > s->left)
    return lapis_fail(s->ctx, LAPIS_EFORMAT,
                      "%s: is cut short: its shape needs %" PRId64
                      " bytes, %" PRId64 " are there",
                      s->what, wanted, s->left);
  if (wanted < s->left)
    return lapis_fail(s->ctx, LAPIS_EFORMAT,
                      "%s: %" PRId64 " bytes follow the %" PRId64
                      " of its shape",
                      s->what, s->left - wanted, wanted);
  /* Entries of no bytes would cost memory that no byte of the file pays. */
  if (h->item == 0 && h->count > 65536)
    return lapis_fail(s->ctx, LAPIS_EFORMAT,
                      "%s: claims %" PRId64 " texts of width 0", s->what,
                      h->count);
  return LAPIS_OK;
}

/* ---- the whole header ---------------------------------------------------*/
static lapis_status header_length(io_source *s, int64_t *length)
{
  unsigned char fixed[8], bytes[4] = {0};
  TRY(io_take(s, fixed, sizeof fixed));
  if (memcmp(fixed, "\x93NUMPY", 6) != 0)
    return lapis_fail(s->ctx, LAPIS_EFORMAT,
                      "%s: is not a .npy array; numpy.save writes one",
                      s->what);
  if (fixed[6] < 1 || fixed[6] > 3 || fixed[7] != 0)
    return lapis_fail(s->ctx, LAPIS_EFORMAT,
                      "%s: is .npy version %d.%d; 1.0, 2.0 and 3.0 are read: "
                      "save it with a newer numpy",
                      s->what, fixed[6], fixed[7]);
  TRY(io_take(s, bytes, fixed[6] == 1 ? 2 : 4));
  *length = (int64_t)bytes[0] | (int64_t)bytes[1] << 8 |
            (int64_t)bytes[2] << 16 | (int64_t)bytes[3] << 24;
  if (*length > HEADER_LIMIT)
    return lapis_fail(s->ctx, LAPIS_EFORMAT,
                      "%s: its .npy header claims %" PRId64
                      " bytes; one array needs far fewer",
                      s->what, *length);
  return LAPIS_OK;
}

lapis_status npy_header_read(io_source *s, npy_header *out)
{
  int64_t length = 0;
  TRY(header_length(s, &length));
  char *text = base_alloc_raw(s->ctx, length, 1);
  if (text == NULL) return LAPIS_ENOMEM;
  *out = (npy_header){.axes = 0};
  cursor c = {.source = s, .start = text, .at = text, .end = text + length};
  lapis_status status = io_take(s, text, length);
  if (status == LAPIS_OK) status = take_dictionary(&c, out);
  if (status == LAPIS_OK) status = decode_type(s, out);
  if (status == LAPIS_OK) status = count_entries(s, out);
  if (status == LAPIS_OK) status = check_bytes(s, out);
  base_free(text);
  return status;
}

lapis_status npy_read(io_source *s, lapis_array *out)
{
  npy_header h;
  *out = (lapis_array){.kind = IO_NONE};
  TRY(npy_header_read(s, &h));
  return npy_data_read(s, &h, out);
}
