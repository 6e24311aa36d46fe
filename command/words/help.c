/* help.c - texts made from the tables. */
#include <string.h>

#include "option_rows.h"

static void list_rows(FILE *to, const char *heading,
                      const lapis_method *(*at)(int i))
{
  const lapis_method *m;
  fputs(heading, to);
  for (int i = 0; (m = at(i)) != NULL; i++) {
    char text[512];
    snprintf(text, sizeof text, "%s: %s%s%s", m->title, m->summary,
             *m->source != '\0' ? " " : "", m->source);
    help_entry(to, m->name, 18, text);
  }
}

static void put_names(FILE *to, const char *title,
                      const lapis_method *(*at)(int i))
{
  char names[512] = "";
  size_t n = 0;
  for (int i = 0; at(i) != NULL && n < sizeof names; i++)
    n += (size_t)snprintf(names + n, sizeof names - n, " %s", at(i)->name);
  help_entry(to, title, 12, names + 1);
}

int help_all(FILE *to, verb_list *verb_at)
{
  fprintf(to,
          "lapis %s: fill in missing labels, find wrong ones, repair data\n\n"
          "Start with 'lapis info FILE': it says what FILE holds and what to "
          "type next.\n\n",
          lapis_version());
  for (int i = 0; verb_at(i) != NULL; i++) {
    char brief[80]; /* what stands before a colon or a bracket */
    const char *help = verb_at(i)->help;
    snprintf(brief, sizeof brief, "%.*s", (int)strcspn(help, ":("), help);
    help_entry(to, verb_at(i)->name, 12, brief);
  }
  fputc('\n', to);
  put_names(to, "methods", lapis_method_at);
  put_names(to, "features", lapis_feature_at);
  fprintf(to, "\n'lapis help WORD' explains one of these, or lists options and "
              "results with\nanother word; 'lapis help methods' and 'lapis "
              "help features' say what each is\nfor. 'lapis help --man "
              "[PAGE]', --bash and --zsh print manual pages and\n"
              "completions.\n"
              "Exit: 0 done, 1 failed, 2 misuse, 3 not built in, 4 bad input, "
              "130 interrupted.\n");
  return EXIT_DONE;
}

static void print_row(const option_row *r, void *user)
{
  char left[96];
  row_left(r, left, sizeof left);
  size_t n = strlen(left);
  while (n > 0 && left[n - 1] == ' ') left[--n] = '\0';
  help_entry(user, left, 26, r->help);
}

static void print_method(FILE *to, const lapis_method *m)
{
  char text[512];
  snprintf(text, sizeof text, "%s (%s)%s%s: %s", m->name, m->title,
           *m->source != '\0' ? " " : "", m->source, m->summary);
  fputc('\n', to);
  help_put(to, text, 0, 0);
  rows_of_method(m, print_row, to);
}

static void print_result(const char *name, const char *text, void *user)
{
  help_entry(user, name, 26, text);
}

static void print_results(FILE *to, const lapis_method *m)
{
  if (lapis_method_result(m, 0) == NULL) return;
  fprintf(
      to,
      lapis_flow_find(m->name) == m
          ? "\nResults (n images, d features, K classes or labels):\n"
          : "\nResults (n samples, d features, c columns of Y, K classes or "
            "labels):\n");
  rows_of_results(m, print_result, to);
}

void help_results(FILE *to, const lapis_method *m)
{
  const lapis_method *predict = lapis_predict_method(m);
  print_results(to, m);
  if (lapis_method_result(predict, 0) != NULL)
    fputs("\nResults of predicting:\n", to);
  rows_of_results(predict, print_result, to);
}

static void print_examples(FILE *to, const char *page)
{
  for (int i = 0; example_of(page, i) != NULL; i++)
    fprintf(to, "%s  %s\n", i == 0 ? "\nFor instance:\n" : "",
            example_of(page, i));
}

int help_verb(FILE *to, const cli_verb *v, const lapis_method *m)
{
  fprintf(to, "lapis %s\n  ", v->synopsis);
  help_put(to, v->help, 2, 2);
  if (v->first_at != NULL && m != NULL) print_method(to, m);
  if (v->first_at != NULL && m == NULL) {
    char heading[128];
    snprintf(heading, sizeof heading,
             "\n'lapis %s NAME --help' explains each %s:\n", v->name, v->first);
    list_rows(to, heading, v->first_at);
  }
  if (v->takes_model && m != NULL) print_method(to, m);
  if (v->takes_model && m == NULL)
    fprintf(to, "\n'lapis %s MODEL --help' lists what its method takes.\n",
            v->name);
  if (v->also_at != NULL)
    list_rows(
        to, "\nBesides what is below it takes the settings of one of these:\n",
        v->also_at);
  if (v->answers) print_results(to, m);
  if (v->options->name != NULL || v->reads_data)
    fprintf(to, "\nData and files:\n");
  rows_of_verb(v, print_row, to);
  fprintf(to, "\nEverywhere:\n");
  rows_everywhere(print_row, to);
  if (v->pipeline != NULL) print_results(to, lapis_flow_find(v->pipeline));
  if (v->table != NULL) print_results(to, v->table());
  print_examples(to, m != NULL && v->pipeline == NULL ? m->name : v->name);
  return EXIT_DONE;
}

static const lapis_method *find_row(const lapis_method *(*at)(int i),
                                    const char *name)
{
  const lapis_method *m;
  for (int i = 0; (m = at(i)) != NULL; i++)
    if (strcmp(m->name, name) == 0) return m;
  return NULL;
}

/* "fit", "cv mc"; or a method or a kind of features alone: what first takes
 * it. */
static bool help_words(verb_list *verb_at, int argc, char **argv)
{
  const cli_verb *v = verb_find(verb_at, argv[0]);
  const lapis_method *m = NULL;
  if (argc > 2 || (v == NULL && argc == 2)) return false;
  if (argc == 2 && v->first_at != NULL) m = find_row(v->first_at, argv[1]);
  if (argc == 2 && m == NULL) return false;
  for (int i = 0; v == NULL && verb_at(i) != NULL; i++) {
    if (verb_at(i)->first_at == NULL) continue;
    m = find_row(verb_at(i)->first_at, argv[0]);
    if (m != NULL) v = verb_at(i);
  }
  return v != NULL && help_verb(stdout, v, m) == EXIT_DONE;
}

int help_print(verb_list *verb_at, int argc, char **argv)
{
  const char *what = argc > 0 ? argv[0] : "";
  if (argc == 0) return help_all(stdout, verb_at);
  if (argc == 1 && strcmp(what, "methods") == 0) {
    list_rows(stdout, "Methods, for 'lapis fit':\n", lapis_method_at);
    return EXIT_DONE;
  }
  if (argc == 1 && strcmp(what, "--man") == 0) {
    manual_names(stdout, verb_at);
    return EXIT_DONE;
  }
  bool done = strcmp(what, "--man") == 0
                  ? manual_page(stdout, verb_at, argv[1])
                  : strncmp(what, "--", 2) == 0 &&
                        completion_of(stdout, verb_at, what + 2);
  if (done || help_words(verb_at, argc, argv)) return EXIT_DONE;
  if (*what != '-' && help_topic(stdout, verb_at, argc, argv)) return EXIT_DONE;
  char hint[96];
  lapis_nearest near = {.word = argv[argc - 1], .size = strlen(argv[argc - 1])};
  for (int i = 0; verb_at(i) != NULL; i++)
    lapis_nearest_try(&near, verb_at(i)->name);
  for (int i = 0; rows_table_at(i) != NULL; i++)
    lapis_nearest_try(&near, rows_table_at(i)->name);
  return cli_fail(EXIT_MISUSE,
                  "help: '%s' is not a verb, a method or a kind of features, "
                  "and no option or result has the word%s; 'lapis help' lists "
                  "those, 'lapis help --man' the manual pages",
                  argv[argc - 1],
                  lapis_nearest_hint(&near, "", hint, sizeof hint));
}
