/* lines.c - lines of help, no longer than a terminal's. */
#include <string.h>

#include "option_rows.h"

enum { WIDTH = 79 };

/* Words from a column on, in lines no longer than a terminal's; at: where the
 * cursor is. */
void help_put(FILE *to, const char *text, int column, int at)
{
  while (*text != '\0') {
    int n = (int)strcspn(text, " ");
    if (at > column && at + 1 + n > WIDTH) {
      fputc('\n', to);
      at = 0;
    }
    if (at < column)
      at += fprintf(to, "%*s", column - at, "");
    else if (at > column)
      at += fprintf(to, " ");
    at += fprintf(to, "%.*s", n, text);
    text += n + (text[n] == ' ');
  }
  fputc('\n', to);
}

void help_entry(FILE *to, const char *left, int column, const char *text)
{
  int at = fprintf(to, "  %s", left);
  if (at >= column) {
    fputc('\n', to);
    at = 0;
  }
  help_put(to, text, column, at);
}
