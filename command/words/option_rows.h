/* option_rows.h - the options of a verb, one by one, wherever they are
 * declared. */
#ifndef LAPIS_ROWS_H
#define LAPIS_ROWS_H
#include "command/command.h"

typedef struct option_row {
  const char *name; /* without dashes */
  char letter;      /* or 0 */
  const char *arg;  /* NULL: a switch */
  const char *help;
  const char *choices; /* "a|b", or NULL */
  bool file;           /* the value may name a file */
} option_row;
typedef void (*row_fn)(const option_row *r, void *user);

void rows_of_method(const lapis_method *m, row_fn fn, void *user);
/* What the method answers with: "n x d, with --certificate: ...". */
typedef void (*result_fn)(const char *name, const char *text, void *user);
void rows_of_results(const lapis_method *m, result_fn fn, void *user);
void rows_of_verb(const cli_verb *v, row_fn fn, void *user);
/* Every method, then every kind of features; NULL past the end. */
const lapis_method *rows_table_at(int i);
const lapis_method *rows_table_find(const char *name);
void rows_everywhere(row_fn fn, void *user);
/* "-o, --output F.npz" */
void row_left(const option_row *r, char *text, size_t size);

/* lines.c: words from a column on; at: where the cursor is. */
void help_put(FILE *to, const char *text, int column, int at);
/* "  left   words"; a left side that is too long has a line of its own. */
void help_entry(FILE *to, const char *left, int column, const char *text);

/* topics.c: where words occur; false: nowhere. */
bool help_topic(FILE *to, verb_list *verb_at, int n_words, char **word);

/* examples.c: the i-th command of a verb's, method's or kind's page, or NULL.
 */
const char *example_of(const char *page, int i);

/* manual.c: the page of a name, in man's language: "lapis", "lapis-fit" or
 * "fit", "lapis-mc"; complete.c: what a shell reads.  false: there is no such.
 */
bool manual_page(FILE *to, verb_list *verb_at, const char *name);
void manual_names(FILE *to, verb_list *verb_at);
bool completion_of(FILE *to, verb_list *verb_at, const char *shell);

#endif
