/* number.h - numbers as text: what lapis_tools.h has not. */
#ifndef LAPIS_NUMBER_H
#define LAPIS_NUMBER_H
#include <locale.h>
#include <stdarg.h>

#include "lapis/tools.h"

/* From number_begin to number_end this thread reads and prints numbers as the
 * C locale does: around the calls of a library that prints by itself. */
typedef struct number_scope {
  locale_t plain, old;
} number_scope;
number_scope number_begin(void);
void number_end(number_scope s);

int number_vprint(char *text, size_t size, const char *format, va_list args)
    LAPIS_PRINTF(3, 0);

#endif
