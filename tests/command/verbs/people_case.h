/* people_case.h - a small table with gaps, and the cells of tables written. */
#ifndef LAPIS_PEOPLE_CASE_H
#define LAPIS_PEOPLE_CASE_H
#include "command.h"

static const char PEOPLE[] = "name,height,reach,tall\n"
                             "ann,1.81,1.84,yes\n"
                             "bob,1.62,,no\n"
                             "eve,1.85,1.88,\n"
                             "ian,1.60,1.61,\n"
                             "joe,1.79,1.83,yes\n"
                             "kim,1.58,1.60,no\n";

static inline void put(const command *c, const char *name, const char *text)
{
  command_write(c, name, text, strlen(text));
}

static inline void begin(command *c)
{
  command_begin(c);
  put(c, "people.csv", PEOPLE);
}

/* Cell `column` of line `line`, both from 0; no cell is quoted. */
static inline const char *cell(const command *c, const char *name, int line,
                               int column, char behind)
{
  static char text[65536], out[256];
  command_slurp(c, name, text, sizeof text);
  char *at = text, ends[] = {behind, '\n', '\0'};
  while (line-- > 0) at = strchr(at, '\n') + 1;
  while (column-- > 0) at += strcspn(at, ends) + 1;
  snprintf(out, sizeof out, "%.*s", (int)strcspn(at, ends), at);
  return out;
}

static inline double number(const command *c, const char *name, int line,
                            int column)
{
  return strtod(cell(c, name, line, column, ','), NULL);
}

#define FIT                                                   \
  "fit mc people.csv --id name --target tall --map standard " \
  "--mu-rel .1 -q "

#endif
