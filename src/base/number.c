/* number.c - numbers as text and back.
 *
 * printf and strtod follow the program's locale, and in half of the world that
 * is 0,5.  Files, settings and pages are for every machine: all numbers in
 * them pass through here, where the thread's locale is "C" for the time of one
 * call.  No other thread sees that, and glibc allocates nothing for it. */
#include "base/number.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

number_scope number_begin(void)
{
  number_scope s = {.plain = newlocale(LC_ALL_MASK, "C", (locale_t)0)};
  if (s.plain != (locale_t)0) s.old = uselocale(s.plain);
  return s;
}

void number_end(number_scope s)
{
  if (s.plain == (locale_t)0) return;
  (void)uselocale(s.old);
  freelocale(s.plain);
}

bool lapis_number_read(const char *text, const char **end, double *value)
{
  if (text == NULL || value == NULL) return false;
  char *behind;
  number_scope s = number_begin();
  *value = strtod(text, &behind);
  number_end(s);
  if (end != NULL) *end = behind;
  return behind != text && (end != NULL || *behind == '\0');
}

int lapis_number_limit(const char *text, double *limit)
{
  static const char *const sign[] = {"<", ">", "\u2264", "\u2265"};
  if (text == NULL || limit == NULL) return 0;
  text += strspn(text, " ");
  for (int k = 0; k < 4; k++) {
    size_t long_ = strlen(sign[k]);
    if (strncmp(text, sign[k], long_) != 0) continue;
    text += long_;
    text += k < 2 && *text == '=';
    return !lapis_number_read(text, NULL, limit) ? 0 : k % 2 == 0 ? -1 : 1;
  }
  return 0;
}

const char *lapis_number_unit(const char *text, const char **number, int *size)
{
  enum { LONG = 12 };
  static const char *const currency[] = {"$", "\u20ac", "\u00a3", "\u00a5"};
  if (text == NULL || number == NULL || size == NULL) return NULL;
  const char *at = text + strspn(text, " ");
  bool priced = false;
  for (size_t k = 0; k < sizeof currency / sizeof *currency && !priced; k++) {
    size_t long_ = strlen(currency[k]);
    priced = strncmp(at, currency[k], long_) == 0;
    at += priced ? long_ : 0;
  }
  *number = at += strspn(at, " ");
  at += *at == '+' || *at == '-';
  size_t digits = strspn(at, "0123456789"), all = strspn(at, "0123456789.,");
  const char *unit = at + all + strspn(at + all, " ");
  unsigned char first = (unsigned char)*unit;
  bool begins = isalpha(first) || first >= 0x80 || first == '%' || first == '$';
  *size = (int)(at + all - *number);
  if (digits == 0 || (first == '\0' ? !priced : !begins) ||
      strlen(unit) > LONG || strpbrk(unit, "0123456789,;:/-+") != NULL)
    return NULL;
  return unit;
}

void lapis_number_text(double value, char *text, size_t size)
{
  if (text == NULL) return;
  number_scope s = number_begin();
  for (int digits = 15; digits <= 17; digits++) {
    (void)snprintf(text, size, "%.*g", digits, value);
    double back = strtod(text, NULL);
    if (!(back < value || back > value)) break; /* equal, or NaN */
  }
  number_end(s);
}

int number_vprint(char *text, size_t size, const char *format, va_list args)
{
  if (format == NULL) {
    if (size > 0) text[0] = '\0';
    return 0;
  }
  number_scope s = number_begin();
  int length = vsnprintf(text, size, format, args);
  number_end(s);
  return length;
}

int lapis_number_print(char *text, size_t size, const char *format, ...)
{
  if (text == NULL) return 0;
  va_list args;
  va_start(args, format);
  int length = number_vprint(text, size, format, args);
  va_end(args);
  return length;
}
