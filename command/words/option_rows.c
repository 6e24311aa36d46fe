/* option_rows.c - every option a verb takes, as the tables have it, one by one:
 * what help, manual pages and shell completion are made from. */
#include <stdlib.h>
#include <string.h>

#include "option_rows.h"

typedef struct walk {
  row_fn fn;
  void *user;
} walk;

/* ", (a|b; default x)": what the table knows beyond the sentence. */
static void param_help(const lapis_method *m, const void *defaults,
                       const lapis_param *p, char *text, size_t size)
{
  char value[64] = "";
  lapis_settings_get(NULL, m, defaults, p->name, value, sizeof value);
  if (p->type == LAPIS_PARAM_ENUM)
    snprintf(text, size, "%s (%s; default %s)", p->help, p->choices, value);
  else if (p->type == LAPIS_PARAM_REAL || p->type == LAPIS_PARAM_INT)
    snprintf(text, size, "%s (default %s)", p->help, value);
  else
    snprintf(text, size, "%s", p->help);
}

/* The rows of m, or that of a name. */
static void rows_named(const lapis_method *m, const char *name, row_fn fn,
                       void *user)
{
  void *defaults = calloc(1, m->settings_size);
  if (defaults == NULL) return;
  lapis_settings_default(m, defaults);
  const lapis_param *p;
  for (int i = 0; (p = lapis_method_param(m, i)) != NULL; i++) {
    char help[512];
    if (name != NULL && strcmp(p->name, name) != 0) continue;
    param_help(m, defaults, p, help, sizeof help);
    option_row r = {.name = p->name,
                    .arg = p->arg,
                    .help = help,
                    .choices = p->choices,
                    .file = p->type == LAPIS_PARAM_TEXT};
    fn(&r, user);
  }
  free(defaults);
}

void rows_of_method(const lapis_method *m, row_fn fn, void *user)
{
  rows_named(m, NULL, fn, user);
}

bool option_takes_value(const cli_verb *v, const cli_option *o)
{
  if (o->help != NULL) return o->arg != NULL;
  return lapis_param_find(v->table(), o->name)->type != LAPIS_PARAM_BOOL;
}

/* "with --certificate and Y": the condition of a result, in words. */
static void put_when(const lapis_method *m, const char *at, char *to,
                     size_t size)
{
  for (bool first = true; at != NULL && *at != '\0'; first = false) {
    char name[64];
    size_t used = strlen(to), length = strcspn(at + (*at == '!'), "=, ");
    bool without = *at == '!';
    snprintf(name, sizeof name, "%.*s", (int)length, at + without);
    at += without + length;
    snprintf(to + used, size - used, "%s%s%s", first ? ", " : "",
             without ? "without "
             : first ? "with "
                     : "",
             lapis_param_find(m, name) != NULL ? "--" : "");
    used = strlen(to);
    used += (size_t)snprintf(to + used, size - used, "%s", name);
    for (; *at != '\0' && *at != ' ' && *at != ','; used = strlen(to)) {
      size_t word = strcspn(at + 1, "|, ");
      snprintf(to + used, size - used, "%s%.*s", *at == '=' ? " " : " or ",
               (int)word, at + 1);
      at += 1 + word;
    }
    snprintf(to + used, size - used, "%s",
             *at == ' '   ? " and "
             : *at == ',' ? " or "
                          : "");
    at += *at != '\0';
  }
}

void rows_of_results(const lapis_method *m, result_fn fn, void *user)
{
  const lapis_result_row *r;
  for (int i = 0; (r = lapis_method_result(m, i)) != NULL; i++) {
    char text[512];
    snprintf(text, sizeof text, "%s", r->shape);
    put_when(m, r->when, text, sizeof text);
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, "%s%s: %s",
             r->where == NULL ? "" : ", where ",
             r->where == NULL ? "" : r->where, r->help);
    fn(r->name, text, user);
  }
}

const lapis_method *rows_table_at(int i)
{
  int methods = 0;
  while (lapis_method_at(methods) != NULL) methods++;
  return i < methods ? lapis_method_at(i) : lapis_feature_at(i - methods);
}

const lapis_method *rows_table_find(const char *name)
{
  const lapis_method *m = lapis_method_find(name);
  return m != NULL ? m : lapis_feature_find(name);
}

/* "yes|no" are the values themselves; F, FILE, DIR and F.npz name files. */
static void rows_of_table(const cli_verb *v, const cli_option *o, const walk *w)
{
  for (; o->name != NULL; o++) {
    if (o->help == NULL) {
      rows_named(v->table(), o->name, w->fn, w->user);
      continue;
    }
    bool words = o->arg != NULL && strchr(o->arg, '|') != NULL;
    bool file = o->arg != NULL && !words &&
                (o->arg[0] == 'F' || strcmp(o->arg, "DIR") == 0);
    option_row r = {.name = o->name,
                    .letter = o->letter,
                    .arg = o->arg,
                    .help = o->help,
                    .choices = words ? o->arg : NULL,
                    .file = file};
    w->fn(&r, w->user);
  }
}

void rows_of_verb(const cli_verb *v, row_fn fn, void *user)
{
  walk w = {fn, user};
  if (v->pipeline != NULL)
    rows_of_method(lapis_flow_find(v->pipeline), fn, user);
  if (v->reads_data) rows_of_table(v, data_options, &w);
  rows_of_table(v, v->options, &w);
}

void rows_everywhere(row_fn fn, void *user)
{
  walk w = {fn, user};
  rows_of_table(NULL, common_options, &w);
}

void row_left(const option_row *r, char *text, size_t size)
{
  const char *arg = r->arg != NULL ? r->arg : "";
  if (r->letter != 0 && strlen(r->name) == 1)
    snprintf(text, size, "-%c %s", r->letter, arg);
  else if (r->letter != 0)
    snprintf(text, size, "-%c, --%s %s", r->letter, r->name, arg);
  else
    snprintf(text, size, "--%s %s", r->name, arg);
}
