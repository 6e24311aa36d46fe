/* missing.c - words that mean "unknown" in a table of text. */
#include <string.h>
#include <strings.h>

#include "files/io.h"

/* Words for "not known" that nobody uses for something else: of R and pandas,
 * and what a spreadsheet writes for a formula without a value.  A # begins no
 * comment here. */
static const char *const markers[] = {
    "na",      "nan",     "n/a",   "n.a.",   "n. a.",    "-nan",
    "?",       "<na>",    "#n/a",  "#na",    "#n/a n/a", "#null!",
    "#div/0!", "#value!", "#ref!", "#name?", "#num!",    NULL};

static const char *const words[] = {"null", "none", NULL};

/* What people write who could not tell. */
static const char *const unsure[] = {
    "-",         "unsure",      "unclear",   "unknown",    "undecided",
    "not sure",  "don't know",  "dont know", "can't tell", "cannot tell",
    "not known", "unbekannt",   "unklar",    "unsicher",   "weiss nicht",
    "inconnu",   "desconocido", NULL};

static bool is_one_of(const char *text, int64_t size, const char *const *list)
{
  for (; *list != NULL; list++)
    if ((int64_t)strlen(*list) == size &&
        strncasecmp(*list, text, (size_t)size) == 0)
      return true;
  return false;
}

csv_absence io_absence_of(const char *text, int64_t size)
{
  if (size == 0) return CSV_EMPTY;
  if (strchr("nN-?<#", *text) == NULL || (*text == '-' && size != 4))
    return CSV_PRESENT; /* nearly all */
  return is_one_of(text, size, markers) ? CSV_MARKER
         : is_one_of(text, size, words) ? CSV_WORD
                                        : CSV_PRESENT;
}

bool io_is_unsure(const char *text, int64_t size)
{
  if (size == 0 || strchr("-uUnNdDcCwWiI", *text) == NULL) return false;
  return is_one_of(text, size, unsure);
}

bool lapis_text_unsure(const char *text)
{
  return text != NULL && io_is_unsure(text, (int64_t)strlen(text));
}

bool lapis_text_missing(const char *text)
{
  if (text == NULL) return true;
  text += strspn(text, " \t");
  size_t size = strlen(text);
  while (size > 0 && strchr(" \t", text[size - 1]) != NULL) size--;
  return io_absence_of(text, (int64_t)size) != CSV_PRESENT;
}
