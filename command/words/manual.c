/* manual.c - the manual pages, made from the tables. */
#include <ctype.h>
#include <limits.h>
#include <string.h>

#include "option_rows.h"

enum { WIDTH = 70 };

/* One word, with dashes that stay dashes and nothing that looks like a
 * request; returns its length in the source. */
static int put_word(FILE *to, const char *text, bool first)
{
  int n = 0;
  if (first && (*text == '.' || *text == '\'')) fputs("\\&", to);
  for (; *text != '\0' && *text != ' '; text++, n++) {
    if (*text == '-')
      fputs("\\-", to);
    else if (*text == '\\')
      fputs("\\e", to);
    else
      fputc(*text, to);
  }
  return n;
}

/* Words, in lines of a source that people may read. */
static void put_wrapped(FILE *to, const char *text, int width)
{
  for (int at = 0; *text != '\0';) {
    int n = (int)strcspn(text, " ");
    if (at > 0) fputc(at + n > width ? '\n' : ' ', to);
    if (at + n > width) at = 0;
    at += put_word(to, text, at == 0) + 1;
    text += n + (text[n] == ' ');
  }
}

static void put(FILE *to, const char *text)
{
  put_wrapped(to, text, INT_MAX);
}

static void put_lines(FILE *to, const char *text)
{
  put_wrapped(to, text, WIDTH);
  fputc('\n', to);
}

static void print_row(const option_row *r, void *user)
{
  FILE *to = user;
  char left[96];
  row_left(r, left, sizeof left);
  size_t n = strlen(left);
  while (n > 0 && left[n - 1] == ' ') left[--n] = '\0';
  fputs(".TP\n.B ", to);
  put(to, left);
  fputc('\n', to);
  put_lines(to, r->help);
}

static void begin(FILE *to, const char *name, const char *what)
{
  fputs(".TH ", to);
  for (const char *c = name; *c != '\0'; c++) fputc(toupper(*c), to);
  fprintf(to, " 1 \"%s\" \"lapis %s\" \"LAPIS\"\n.SH NAME\n", LAPIS_DATE,
          lapis_version());
  put(to, name);
  fputs(" \\- ", to);
  put(to, what);
  fputs("\n.SH SYNOPSIS\n", to);
}

static void synopsis(FILE *to, const char *words)
{
  fputs(".B lapis\n", to);
  put(to, words);
  fputs("\n", to);
}

static void end(FILE *to, verb_list *verb_at, const char *page)
{
  for (int i = 0; example_of(page, i) != NULL; i++) {
    if (i == 0) fputs(".SH EXAMPLES\n.nf\n", to);
    put(to, example_of(page, i));
    fputc('\n', to);
  }
  if (example_of(page, 0) != NULL) fputs(".fi\n", to);
  fputs(".SH EXIT STATUS\n0 done; 1 failed, or stopped early under\n"
        ".BR \\-\\-strict ;\n2 misuse; 3 not built in; 4 bad input; 130 "
        "interrupted.\n.SH SEE ALSO\n.BR lapis (1)",
        to);
  for (int i = 0; verb_at(i) != NULL; i++)
    fprintf(to, ",\n.BR lapis\\-%s (1)", verb_at(i)->name);
  for (int i = 0; rows_table_at(i) != NULL; i++)
    fprintf(to, ",\n.BR lapis\\-%s (1)", rows_table_at(i)->name);
  fputc('\n', to);
}

static void list_rows(FILE *to, const char *heading,
                      const lapis_method *(*at)(int i))
{
  const lapis_method *m;
  fputs(heading, to);
  for (int i = 0; (m = at(i)) != NULL; i++) {
    char words[512];
    fputs(".TP\n.B ", to);
    put(to, m->name);
    snprintf(words, sizeof words, "%s: %s", m->title, m->summary);
    fputc('\n', to);
    put_lines(to, words);
  }
}

static void whole(FILE *to, verb_list *verb_at)
{
  begin(to, "lapis", "fill in missing labels, find wrong ones, repair data");
  for (int i = 0; verb_at(i) != NULL; i++) {
    if (i > 0) fputs(".br\n", to);
    synopsis(to, verb_at(i)->synopsis);
  }
  fputs(".SH DESCRIPTION\nLabels missing or wrong, features occluded or "
        "absent, extra information that\nexists only at training time, images "
        "whose parts have yet to be\nmatched.  Results go to "
        "standard output, messages to standard error.\n.SH VERBS\n",
        to);
  for (int i = 0; verb_at(i) != NULL; i++) {
    fprintf(to, ".TP\n.B %s\n", verb_at(i)->name);
    put_lines(to, verb_at(i)->help);
  }
  list_rows(to, ".SH METHODS\n", lapis_method_at);
  list_rows(to, ".SH KINDS OF FEATURES\n", lapis_feature_at);
  fputs(".SH OPTIONS OF EVERY VERB\n", to);
  rows_everywhere(print_row, to);
  end(to, verb_at, "");
}

static void print_result(const char *name, const char *text, void *user)
{
  FILE *to = user;
  fprintf(to, ".TP\n.B %s\n", name);
  put_lines(to, text);
}

static void results(FILE *to, const char *title, const lapis_method *m)
{
  if (lapis_method_result(m, 0) == NULL) return;
  fprintf(to, ".SH %s\n", title);
  rows_of_results(m, print_result, to);
}

static void of_verb(FILE *to, verb_list *verb_at, const cli_verb *v)
{
  char name[64];
  snprintf(name, sizeof name, "lapis-%s", v->name);
  begin(to, name, v->help);
  synopsis(to, v->synopsis);
  fputs(".SH OPTIONS\n", to);
  rows_of_verb(v, print_row, to);
  if (v->first_at != NULL)
    fprintf(to, ".PP\nThe settings of a %s are on its own page.\n", v->first);
  if (v->takes_model)
    fputs(".PP\nWhat predicting takes depends on the model's method and is on "
          "its "
          "page.\n",
          to);
  fputs(".SH OPTIONS OF EVERY VERB\n", to);
  rows_everywhere(print_row, to);
  if (v->pipeline != NULL) results(to, "RESULTS", lapis_flow_find(v->pipeline));
  if (v->table != NULL) results(to, "RESULTS", v->table());
  end(to, verb_at, v->name);
}

static void of_method(FILE *to, verb_list *verb_at, const lapis_method *m)
{
  char name[64], words[128];
  const lapis_method *predict = lapis_predict_method(m);
  snprintf(name, sizeof name, "lapis-%s", m->name);
  begin(to, name, m->title);
  bool kind = lapis_feature_find(m->name) != NULL;
  snprintf(words, sizeof words,
           kind ? "features %s IMAGE... -o F.npz [options]"
                : "fit %s [DATA] [options]",
           m->name);
  synopsis(to, words);
  fputs(".SH DESCRIPTION\n", to);
  put_lines(to, m->summary);
  if (*m->source != '\0') {
    fputs("(from ", to);
    put(to, m->source);
    fputs(").\n", to);
  }
  fputs(".SH SETTINGS\n", to);
  rows_of_method(m, print_row, to);
  if (lapis_method_param(predict, 0) != NULL) {
    fputs(".SH SETTINGS OF PREDICTING\n", to);
    rows_of_method(predict, print_row, to);
  }
  results(to, "RESULTS", m);
  results(to, "RESULTS OF PREDICTING", predict);
  end(to, verb_at, m->name);
}

bool manual_page(FILE *to, verb_list *verb_at, const char *name)
{
  const char *rest = strncmp(name, "lapis-", 6) == 0 ? name + 6 : name;
  const cli_verb *v = verb_find(verb_at, rest);
  const lapis_method *m = rows_table_find(rest);
  if (strcmp(name, "lapis") == 0)
    whole(to, verb_at);
  else if (v != NULL)
    of_verb(to, verb_at, v);
  else if (m != NULL)
    of_method(to, verb_at, m);
  else
    return false;
  return true;
}

void manual_names(FILE *to, verb_list *verb_at)
{
  fputs("lapis\n", to);
  for (int i = 0; verb_at(i) != NULL; i++)
    fprintf(to, "lapis-%s\n", verb_at(i)->name);
  for (int i = 0; rows_table_at(i) != NULL; i++)
    fprintf(to, "lapis-%s\n", rows_table_at(i)->name);
}
