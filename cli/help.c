/* help.c - texts made from the tables. */
#include <math.h>
#include <string.h>

#include "cli.h"

int help_all(FILE *to)
{
  fprintf(to, "lapis %s: learn from visual data as it really is\n\n",
          lapis_version());
  for (int i = 0; verb_at(i) != NULL; i++)
    fprintf(to, "  lapis %-38s %s\n", verb_at(i)->synopsis, verb_at(i)->help);
  fprintf(to, "\nMethods:\n");
  for (int i = 0; i < lapis_method_count(); i++) {
    const lapis_method *m = lapis_method_at(i);
    fprintf(to, "  %-9s %s: %s %s\n", m->name, m->title, m->summary, m->source);
  }
  fprintf(to, "\n'lapis VERB --help' and 'lapis fit METHOD --help' tell more.\n"
              "Exit: 0 done, 1 failed, 2 misuse, 3 not built in, 4 bad input, "
              "130 interrupted.\n");
  return EXIT_DONE;
}

static void print_option(FILE *to, const char *name, char letter,
                         const char *arg, const char *help)
{
  char left[64];
  if (letter != 0 && strlen(name) == 1)
    snprintf(left, sizeof left, "-%c %s", letter, arg != NULL ? arg : "");
  else if (letter != 0)
    snprintf(left, sizeof left, "-%c, --%s %s", letter, name,
             arg != NULL ? arg : "");
  else
    snprintf(left, sizeof left, "--%s %s", name, arg != NULL ? arg : "");
  fprintf(to, "  %-22s %s\n", left, help);
}

/* "(default 0.1, above 0)", from the table alone. */
static void print_param(FILE *to, const lapis_method *m, const void *defaults,
                        const lapis_param *p)
{
  char value[64] = "", help[512];
  lapis_settings_get(NULL, m, defaults, p->name, value, sizeof value);
  int n = snprintf(help, sizeof help, "%s", p->help);
  size_t used = (size_t)n < sizeof help ? (size_t)n : sizeof help - 1;
  char *at = help + used;
  size_t room = sizeof help - used;
  if (p->type == LAPIS_PARAM_ENUM)
    snprintf(at, room, " (%s; default %s)", p->choices, value);
  else if (p->type == LAPIS_PARAM_REAL || p->type == LAPIS_PARAM_INT)
    snprintf(at, room, " (default %s)", value);
  print_option(to, p->name, 0, p->arg, help);
}

static void print_method(FILE *to, const lapis_method *m)
{
  union {
    char bytes[1024];
    double align;
    void *pointer;
  } defaults;
  if (m->settings_size > sizeof defaults) return;
  lapis_settings_default(m, &defaults);
  fprintf(to, "\n%s (%s) %s: %s\n", m->name, m->title, m->source, m->summary);
  for (int i = 0; i < m->n_params; i++)
    print_param(to, m, &defaults, &m->params[i]);
}

int help_verb(FILE *to, const cli_verb *v, const lapis_method *m)
{
  fprintf(to, "lapis %s: %s\n", v->synopsis, v->help);
  if (v->takes_method && m != NULL) print_method(to, m);
  if (v->takes_method && m == NULL) {
    fprintf(to, "\nMethods ('lapis %s METHOD --help'):\n", v->name);
    for (int i = 0; i < lapis_method_count(); i++)
      fprintf(to, "  %-9s %s: %s\n", lapis_method_at(i)->name,
              lapis_method_at(i)->title, lapis_method_at(i)->summary);
  }
  if (v->takes_model && m != NULL) print_method(to, m);
  if (v->takes_model && m == NULL)
    fprintf(to, "\n'lapis %s MODEL --help' lists what its method takes.\n",
            v->name);
  if (v->options->name != NULL || v->reads_data)
    fprintf(to, "\nData and files:\n");
  for (const cli_option *o = data_options; v->reads_data && o->name != NULL;
       o++)
    print_option(to, o->name, o->letter, o->arg, o->help);
  for (const cli_option *o = v->options; o->name != NULL; o++)
    print_option(to, o->name, o->letter, o->arg, o->help);
  fprintf(to, "\nEverywhere:\n");
  for (const cli_option *o = common_options; o->name != NULL; o++)
    print_option(to, o->name, o->letter, o->arg, o->help);
  return EXIT_DONE;
}
