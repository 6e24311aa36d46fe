/* spell.c - settings in sentences, as their reader writes them.
 *
 * A sentence names a setting as --mu-rel or {mu-rel}, with its value as {scale
 * none}.  A reader of the command sees --mu-rel and --scale none, one of the
 * library mu_rel and scale='none': the key `spelling` of the context.
 *
 * "%d known label(s)" of a format is one label where the number before is 1. */
#include <ctype.h>
#include <string.h>

#include "base/number.h"
#include "base/private.h"

typedef struct spelling {
  char *to;
  size_t used, size;
} spelling;

static void put(spelling *w, const char *text, size_t size)
{
  for (size_t k = 0; k < size && w->used + 1 < w->size; k++)
    w->to[w->used++] = text[k];
}

/* How long the name at text is. */
static size_t name_length(const char *text)
{
  size_t n = 0;
  while (isalnum((unsigned char)text[n]) || text[n] == '-') n++;
  return n;
}

static void put_keyword(spelling *w, const char *name, size_t size)
{
  for (size_t k = 0; k < size; k++) put(w, name[k] == '-' ? "_" : name + k, 1);
}

/* name[0 .. size), with its value, if any, behind a blank. */
static void put_setting(spelling *w, bool keywords, const char *name,
                        size_t size)
{
  const char *value = memchr(name, ' ', size);
  if (!keywords) {
    put(w, "--", 2);
    put(w, name, size);
  } else if (value == NULL) {
    put_keyword(w, name, size);
  } else {
    size_t named = (size_t)(value++ - name);
    bool word = isalpha((unsigned char)*value) || strncmp(value, "%s", 2) == 0;
    put_keyword(w, name, named);
    put(w, "='", word ? 2 : 1);
    put(w, value, size - named - 1);
    put(w, "'", word);
  }
}

/* Quotes hold commands, and what a user gave: they stay as they are, but for an
 * option. */
static size_t quoted(const char *text, bool begins)
{
  bool opens = *text == '\'' && begins && text[1] != '-';
  const char *end = opens ? strchr(text + 1, '\'') : NULL;
  return end == NULL ? 0 : (size_t)(end - text) + 1;
}

/* What is spelt: {mu-rel}, which only a format has, and --mu-rel. */
enum { BRACES = 1, OPTIONS = 2 };

static const char *spell(const char *text, bool keywords, int what, char *to,
                         size_t size)
{
  spelling w = {to, 0, size};
  bool begins = true;
  while (text != NULL && *text != '\0') {
    size_t length = quoted(text, begins);
    size_t brace =
        (what & BRACES) != 0 && *text == '{' ? strcspn(text, "}") : 0;
    bool named = strncmp(text, "--", 2) == 0 && begins &&
                 (isalpha((unsigned char)text[2]) || text[2] == '%');
    if (brace > 1 && text[brace] == '}' && isalpha((unsigned char)text[1])) {
      put_setting(&w, keywords, text + 1, brace - 1);
      length = brace + 1;
    } else if (named && keywords && (what & OPTIONS) != 0) {
      length = name_length(text + 2);
      put_keyword(&w, text + 2, length);
      length += 2;
    } else {
      length = length > 0 ? length : 1;
      put(&w, text, length);
    }
    begins = !isalnum((unsigned char)text[length - 1]);
    text += length;
  }
  to[w.used] = '\0';
  return to;
}

const char *spell_settings(const char *text, bool keywords, char *to,
                           size_t size)
{
  return spell(text, keywords, BRACES | OPTIONS, to, size);
}

enum { PLURAL = '\1' }; /* (s) of a format, which no text filled in is */

static void mark_plurals(char *text)
{
  char *to = text;
  for (const char *at = text; *at != '\0'; to++) {
    bool is = to > text && isalpha((unsigned char)to[-1]) &&
              strncmp(at, "(s)", 3) == 0;
    *to = is ? PLURAL : *at;
    at += is ? 3 : 1;
  }
  *to = '\0';
}

/* Whether the last number of text[0 .. n) is 1. */
static bool counts_one(const char *text, size_t n)
{
  while (n > 0 && !isdigit((unsigned char)text[n - 1])) n--;
  return n > 0 && text[n - 1] == '1' &&
         (n == 1 || strchr(" (", text[n - 2]) != NULL);
}

static void put_plurals(char *text)
{
  char *to = text;
  for (const char *at = text; *at != '\0'; at++)
    if (*at != PLURAL)
      *to++ = *at;
    else if (!counts_one(text, (size_t)(to - text)))
      *to++ = 's';
  *to = '\0';
}

void spell_sentence(bool keywords, const char *format, va_list args, char *to,
                    size_t size)
{
  char spelt[SPELT_BYTES], text[SPELT_BYTES];
  spell(format, keywords, BRACES, spelt, sizeof spelt);
  mark_plurals(spelt);
  (void)number_vprint(text, sizeof text, spelt, args);
  put_plurals(text);
  spell(text, keywords, OPTIONS, spelt, sizeof spelt);
  (void)lapis_text_shown(spelt, to, size);
}
