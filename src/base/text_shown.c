/* text_shown.c - text that came from elsewhere, where it could do harm. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "lapis/tools.h"

/* Bytes of the UTF-8 character at s; 0: it is none, or the end. */
static size_t character(const unsigned char *s)
{
  size_t size = *s == '\0'                ? 0
                : *s < 0x80               ? 1
                : *s >= 0xc2 && *s < 0xe0 ? 2
                : *s >= 0xe0 && *s < 0xf0 ? 3
                : *s >= 0xf0 && *s < 0xf5 ? 4
                                          : 0;
  for (size_t i = 1; i < size; i++)
    if ((s[i] & 0xc0) != 0x80) return 0;
  return size;
}

/* Control characters of ASCII and of Latin 1 (U+80 to U+9F); signs that turn
 * the direction of what follows (U+202A to U+202E, U+2066 to U+2069). */
static bool is_obeyed(const unsigned char *s, size_t size)
{
  if (size == 1) return *s < 0x20 || *s == 0x7f;
  if (size == 2) return s[0] == 0xc2 && s[1] < 0xa0;
  if (size != 3 || s[0] != 0xe2) return false;
  return (s[1] == 0x80 && s[2] >= 0xaa && s[2] <= 0xae) ||
         (s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9);
}

char *lapis_text_shown(const char *text, char *to, size_t size)
{
  if (text == NULL || to == NULL) return NULL;
  const unsigned char *s = (const unsigned char *)text;
  size_t used = 0;
  while (size > 0 && *s != '\0') {
    size_t n = character(s);
    bool plain = n > 0 && !is_obeyed(s, n);
    size_t take = n == 0 ? 1 : n, want = plain ? take : 4 * take;
    if (used + want >= size) break;
    for (size_t i = 0; i < take; i++)
      if (plain)
        to[used + i] = (char)s[i];
      else
        (void)snprintf(to + used + 4 * i, 5, "\\x%02x", s[i]);
    used += want;
    s += take;
  }
  if (size > 0) to[used] = '\0';
  return to;
}

/* What nobody sees and programs leave out: besides, blanks that do not break,
 * signs of no width (U+200B to U+200F, U+2060 to U+2069, U+FEFF). */
static bool is_hidden(const unsigned char *s, size_t size)
{
  if (is_obeyed(s, size)) return true;
  if (size == 2) return s[0] == 0xc2 && s[1] == 0xa0;
  if (size != 3) return false;
  return (s[0] == 0xe2 && s[1] == 0x80 && s[2] >= 0x8b && s[2] <= 0x8f) ||
         (s[0] == 0xe2 && s[1] == 0x81 && s[2] >= 0xa0 && s[2] <= 0xa9) ||
         (s[0] == 0xef && s[1] == 0xbb && s[2] == 0xbf);
}

bool lapis_text_runs(const char *text)
{
  if (text == NULL) return false;
  double value;
  size_t size;
  while (*text == '\'')
    text++; /* marked already: what it was before shall show */
  if (*text == '\0' || text[1] == '\0') return false;
  const unsigned char *s = (const unsigned char *)text;
  if (is_obeyed(s, character(s))) return true;
  while ((size = character(s)) > 0 && is_hidden(s, size)) s += size;
  bool begins = *s != '\0' && strchr("=+-@", (int)*s) != NULL;
  return begins && !lapis_number_read(text, NULL, &value);
}

/* Without the blanks around it. */
static const char *trimmed(const char *text, size_t *size)
{
  text += strspn(text, " \t");
  *size = strlen(text);
  while (*size > 0 && strchr(" \t", text[*size - 1]) != NULL) --*size;
  return text;
}

static bool are_twins(const char *a, const char *b)
{
  size_t m, n;
  const char *x = trimmed(a, &m), *y = trimmed(b, &n);
  return m == n && strncasecmp(x, y, n) == 0 && strcmp(a, b) != 0;
}

int lapis_text_twin(const char *const *text, int64_t count, int64_t k)
{
  for (int64_t i = 0; text != NULL && k >= 0 && k < count && i < count; i++)
    if (text[i] != NULL && text[k] != NULL && are_twins(text[i], text[k]))
      return (int)i;
  return -1;
}

/* The text that text[k] may mean: of it and its twins the one of which there
 * are most, and of these the first. */
static int64_t commonest(const char *const *text, int64_t count,
                         const int64_t *times, int64_t k)
{
  int64_t best = -1;
  for (int64_t i = 0; i < count; i++) {
    if (text[i] == NULL || (i != k && !are_twins(text[i], text[k]))) continue;
    if (best < 0 || (times != NULL && times[i] > times[best])) best = i;
  }
  return best;
}

int64_t lapis_text_twins(const char *const *text, int64_t count,
                         const int64_t *times, const char *between, char *to,
                         size_t size)
{
  enum { ENDING = 8 };
  int64_t found = 0;
  size_t used = 0;
  bool room = true;
  if (to == NULL || size == 0 || between == NULL) return 0;
  *to = '\0';
  for (int64_t k = 0; text != NULL && k < count; k++) {
    if (text[k] == NULL) continue;
    int64_t other = commonest(text, count, times, k);
    if (other == k) continue;
    char pair[200];
    int n = snprintf(pair, sizeof pair, "%s\"%.60s\" %.20s \"%.60s\"",
                     found++ > 0 ? ", " : "", text[k], between, text[other]);
    if (!room) continue;
    room = n > 0 && used + (size_t)n + ENDING < size;
    used += (size_t)snprintf(to + used, size - used, "%s",
                             room                   ? pair
                             : size > used + ENDING ? ", ..."
                                                    : "");
  }
  return found;
}
