/* comma.h - a locale whose decimal point is a comma, as a German or a French
 * program has it: made by localedef, of Debian's package locales. */
#ifndef LAPIS_COMMA_H
#define LAPIS_COMMA_H
#include <locale.h>

#include "check.h"

/* The folder that holds the locale de_DE.UTF-8, made by the first call; the
 * group's teardown removes it. */
static char comma_folder[64];

static inline int comma_setup(void **state)
{
  char line[256];
  check_folder(comma_folder, sizeof comma_folder);
  (void)snprintf(line, sizeof line,
                 "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >%s/log 2>&1",
                 comma_folder, comma_folder);
  int made = system(line); /* not there: the tests are skipped */
  (void)made;
  return setenv("LOCPATH", comma_folder, 1);
}

static inline int comma_teardown(void **state)
{
  char line[128];
  (void)setlocale(LC_ALL, "C");
  (void)unsetenv("LOCPATH");
  (void)snprintf(line, sizeof line, "rm -rf %s", comma_folder);
  return system(line);
}

/* The whole process writes 1,5 from here on, or the running test is skipped;
 * setlocale(LC_ALL, "C") ends it. */
static inline void comma_begin(void)
{
  char text[8];
  if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL) {
    print_message("skipped: localedef made no de_DE.UTF-8 (locales)\n");
    skip();
  }
  (void)snprintf(text, sizeof text, "%.1f", 1.5);
  assert_string_equal(text, "1,5");
}
#endif
