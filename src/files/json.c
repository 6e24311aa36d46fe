/* json.c - JSON, through jansson.
 *
 * A lapis_json is a json_t under another name; nobody outside sees the
 * library.  Doubles are printed with 17 digits, so they read back to the same
 * double; what is no number in JSON (NaN, infinities) becomes null.  Texts
 * that are not UTF-8, such as odd file names, have their strange bytes
 * replaced by U+FFFD: JSON has no other way. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "files/io.h"

static json_t *inner(lapis_json *v)
{
  return (json_t *)v;
}

static const json_t *look(const lapis_json *v)
{
  return (const json_t *)v;
}

/* ---- making -------------------------------------------------------------*/
lapis_json *lapis_json_object(void)
{
  return (lapis_json *)json_object();
}

lapis_json *lapis_json_list(void)
{
  return (lapis_json *)json_array();
}

void lapis_json_free(lapis_json *v)
{
  json_decref(inner(v));
}

/* Copies text, U+FFFD for each byte that is no UTF-8; NULL: no memory. */
static char *clean_copy(const char *text)
{
  char *out = base_alloc(NULL, 3 * (int64_t)strlen(text) + 1, 1), *to = out;
  const char *end = text + strlen(text);
  while (out != NULL && text < end) {
    uint32_t code;
    int length = utf8_decode(text, end, &code);
    if (length > 0) {
      memcpy(to, text, (size_t)length);
      to += length;
      text += length;
    } else {
      to += utf8_encode(0xfffd, to);
      text++;
    }
  }
  return out;
}

static json_t *make_text(const char *text)
{
  if (text == NULL) return json_null();
  if (utf8_length(text) >= 0) return json_string(text);
  char *clean = clean_copy(text);
  json_t *v = clean == NULL ? NULL : json_string(clean);
  base_free(clean);
  return v;
}

static bool put_key(json_t *to, const char *key, json_t *v)
{
  if (utf8_length(key) >= 0) return json_object_set_new(to, key, v) == 0;
  char *clean = clean_copy(key);
  if (clean == NULL) json_decref(v);
  bool fine = clean != NULL && json_object_set_new(to, clean, v) == 0;
  base_free(clean);
  return fine;
}

/* v is owned by `to` from here on, or released. */
static bool put(json_t *to, const char *key, json_t *v)
{
  if (v == NULL) return false;
  if (key == NULL) return json_array_append_new(to, v) == 0;
  return put_key(to, key, v);
}

bool lapis_json_put(lapis_json *to, const char *key, lapis_json *v)
{
  return put(inner(to), key, inner(v));
}

bool lapis_json_put_number(lapis_json *to, const char *key, double v)
{
  return put(inner(to), key, isfinite(v) ? json_real(v) : json_null());
}

bool lapis_json_put_integer(lapis_json *to, const char *key, int64_t v)
{
  return put(inner(to), key, json_integer(v));
}

bool lapis_json_put_bool(lapis_json *to, const char *key, bool v)
{
  return put(inner(to), key, json_boolean(v));
}

bool lapis_json_put_text(lapis_json *to, const char *key, const char *v)
{
  return put(inner(to), key, make_text(v));
}

/* A number of 17 digits at from, rewritten at to with as few as read back to
 * the same double; both move past it. */
static void shorten_number(const char **from, char **to)
{
  char text[40];
  size_t size = strspn(*from, "+-.0123456789eE"), whole_part = 0;
  double value;
  const char *behind = *from;
  while (whole_part < size && strchr(".eE", (*from)[whole_part]) == NULL)
    whole_part++; /* no further: the rest of the text may be long */
  bool real = whole_part < size && lapis_number_read(*from, &behind, &value);
  if (real) lapis_number_text(value, text, sizeof text);
  bool whole = real && text[strcspn(text, ".e")] == '\0';
  size_t now = real ? strlen(text) + (whole ? 2 : 0) : size;
  if (now > size) real = false, now = size;
  memmove(*to, real ? text : *from, real && whole ? now - 2 : now);
  if (real && whole) memcpy(*to + now - 2, ".0", 2);
  *from += size;
  *to += now;
}

/* In place; what stands in strings is left alone. */
static void shorten_numbers(char *text)
{
  bool inside = false;
  const char *from = text;
  char *to = text;
  while (*from != '\0') {
    if (!inside && (*from == '-' || (*from >= '0' && *from <= '9'))) {
      shorten_number(&from, &to);
      continue;
    }
    if (inside && *from == '\\')
      *to++ = *from++;
    else if (*from == '"')
      inside = !inside;
    *to++ = *from++;
  }
  *to = '\0';
}

/* jansson writes 17 digits of every real number: .1 as 0.10000000000000001 */
char *lapis_json_print(const lapis_json *v)
{
  number_scope s = number_begin();
  char *text = json_dumps(look(v), JSON_INDENT(1) | JSON_REAL_PRECISION(17) |
                                       JSON_ENCODE_ANY);
  number_end(s);
  if (text != NULL) shorten_numbers(text);
  return text;
}

/* ---- reading ------------------------------------------------------------*/
lapis_status lapis_json_parse(lapis_ctx *ctx, const char *text, size_t size,
                              const char *origin, lapis_json **out)
{
  MAKES(out);
  NEEDS(ctx, out);
  json_error_t e;
  number_scope s = number_begin();
  json_t *v = json_loadb(text, size, JSON_REJECT_DUPLICATES, &e);
  number_end(s);
  *out = (lapis_json *)v;
  if (v != NULL) return LAPIS_OK;
  if (json_error_code(&e) == json_error_out_of_memory)
    return lapis_fail(ctx, LAPIS_ENOMEM, "%s: out of memory", origin);
  return lapis_fail(ctx, LAPIS_EFORMAT, "%s:%d:%d: is not JSON: %s", origin,
                    e.line, e.column, e.text);
}

lapis_status lapis_json_read(lapis_ctx *ctx, const char *path, lapis_json **out)
{
  MAKES(out);
  NEEDS(ctx, path, out);
  io_file f;
  TRY(io_file_open(ctx, path, &f));
  lapis_status status;
  if (f.data == NULL || f.format == IO_NPY)
    status =
        lapis_fail(ctx, LAPIS_EFORMAT,
                   "%s: holds arrays, a JSON text is needed", io_name(path));
  else
    status = lapis_json_parse(ctx, (const char *)f.data, (size_t)f.size,
                              io_name(path), out);
  io_file_close(&f);
  return status;
}

/* ---- looking ------------------------------------------------------------*/
const lapis_json *lapis_json_get(const lapis_json *v, const char *key)
{
  return v == NULL ? NULL : (const lapis_json *)json_object_get(look(v), key);
}

const char *lapis_json_text(const lapis_json *v, const char *key,
                            const char *fallback)
{
  const json_t *found = look(lapis_json_get(v, key));
  return json_is_string(found) ? json_string_value(found) : fallback;
}

double lapis_json_number(const lapis_json *v, const char *key, double fallback)
{
  const json_t *found = look(lapis_json_get(v, key));
  return json_is_number(found) ? json_number_value(found) : fallback;
}

static void scalar_text(const json_t *v, char *text, size_t size)
{
  *text = '\0';
  if (json_is_string(v))
    (void)snprintf(text, size, "%s", json_string_value(v));
  else if (json_is_integer(v))
    (void)snprintf(text, size, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
  else if (json_is_real(v))
    lapis_number_text(json_real_value(v), text, size);
  else if (json_is_boolean(v))
    (void)snprintf(text, size, "%s", json_is_true(v) ? "true" : "false");
  else if (json_is_null(v))
    (void)snprintf(text, size, "null");
}

/* The i-th value of an object, and its key; the one before, where *key has it,
 * is found at once. */
static const json_t *object_entry(const json_t *v, int i, const char **key)
{
  /* jansson walks objects that are not const, and changes nothing */
  json_t *object = (json_t *)(uintptr_t)v;
  void *at = i > 0 && *key != NULL ? json_object_iter_at(object, *key) : NULL;
  if (at != NULL)
    i = 1;
  else
    at = json_object_iter(object);
  *key = NULL;
  for (; at != NULL && i > 0; i--) at = json_object_iter_next(object, at);
  if (at == NULL) return NULL;
  *key = json_object_iter_key(at);
  return json_object_iter_value(at);
}

bool lapis_json_entry(const lapis_json *v, int i, const char **key, char *text,
                      size_t size)
{
  if (key == NULL) return false;
  bool object = json_is_object(look(v));
  if (!object || i < 0 || size == 0) *key = NULL;
  if (v == NULL || i < 0 || size == 0) return false;
  const json_t *found = object ? object_entry(look(v), i, key)
                               : json_array_get(look(v), (size_t)i);
  if (found == NULL) return false;
  scalar_text(found, text, size);
  return true;
}
