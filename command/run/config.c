/* config.c - settings in a file: cv writes what was best, fit reads it. */
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "grids.h"

enum { VALUE_BYTES = 4096 };
/* Of the command beside the settings of a method, for cv and fit alike. */
static const char *const shared[] = {"map", "map-priv", "positive", NULL};

int config_write(cli *c, const lapis_solver *cv, const void *settings,
                 const char *path)
{
  lapis_json *to = settings_json(c, c->method, settings);
  lapis_json_put_text(to, "method", c->method->name);
  for (int k = 0; shared[k] != NULL; k++) {
    lapis_mat of = result_of(cv, k == 1 ? "map_priv" : shared[k]); /* joined */
    const char *value =
        of.cols > 0 ? flow_text_at(&of, 0) : args_get(&c->args, shared[k]);
    if (value != NULL) lapis_json_put_text(to, shared[k], value);
  }
  char *text = lapis_json_print(to);
  lapis_json_free(to);
  lapis_status s = text == NULL
                       ? LAPIS_ENOMEM
                       : lapis_file_write(c->ctx, path, text, strlen(text));
  free(text);
  return s < 0 ? cli_fail_status(c, s) : EXIT_DONE;
}

/* The setting that LAPIS chooses by itself where nothing is said, of a choice
 * like "mu-rel=..."; or NULL. */
static const char *chosen_name(const lapis_method *m)
{
  const lapis_param *p;
  for (int i = 0; (p = lapis_method_param(m, i)) != NULL; i++) {
    size_t size = strlen(p->name);
    if (m->choose != NULL && strncmp(m->choose, p->name, size) == 0 &&
        m->choose[size] == '=')
      return p->name;
  }
  return NULL;
}

/* The name of an option as its table has it, which lives as long as we do; a
 * setting at its default need not be said. */
static const char *known_name(cli *c, const void *defaults, const char *name,
                              const char *value, bool *said)
{
  char usual[VALUE_BYTES];
  const lapis_method *m = c->method;
  for (int k = 0; shared[k] != NULL; k++)
    if (strcmp(shared[k], name) == 0) return shared[k];
  const lapis_param *p = lapis_param_find(m, name);
  if (p == NULL) return NULL;
  lapis_settings_get(c->ctx, m, defaults, name, usual, sizeof usual);
  *said = strcmp(value, "null") != 0 && strcmp(value, usual) != 0;
  return p->name;
}

/* Whether the command line says it, or what sets the same thing. */
static bool is_said(const cli *c, const char *name)
{
  const lapis_method *m = c->method;
  const char *chosen = chosen_name(m), *same = NULL;
  if (chosen != NULL && strcmp(name, chosen) == 0)
    same = m->unless;
  else if (m->unless != NULL && strcmp(name, m->unless) == 0)
    same = chosen;
  return args_get(&c->args, name) != NULL ||
         (same != NULL && args_get(&c->args, same) != NULL);
}

static int take(cli *c, const char *path, const void *defaults,
                const char *name, const char *value)
{
  bool said = true;
  if (strcmp(name, "method") == 0) return EXIT_DONE;
  const char *own = known_name(c, defaults, name, value, &said);
  if (own == NULL)
    return cli_fail(EXIT_INPUT,
                    "%s: %s has no setting '%s'; 'lapis cv %s ... --config "
                    "F.json' writes what is read here",
                    path, c->method->name, name, c->method->name);
  if (!said || is_said(c, own)) return EXIT_DONE;
  if (c->args.n_given == MAX_GIVEN)
    return cli_fail(EXIT_MISUSE, "more than %d options were given", MAX_GIVEN);
  char *kept = strdup(value);
  if (kept == NULL) return cli_fail(EXIT_FAILED, "out of memory");
  c->args.given[c->args.n_given].name = own;
  c->args.given[c->args.n_given++].value = kept;
  c->args.n_kept++;
  return EXIT_DONE;
}

/* Before any setting is: names of another method's would be strange. */
static int check_method(cli *c, const char *path, const lapis_json *from)
{
  bool none = lapis_json_get(from, "method") == NULL;
  const char *name =
      lapis_json_text(from, "method", none ? c->method->name : "?");
  if (strcmp(name, c->method->name) == 0) return EXIT_DONE;
  return cli_fail(EXIT_MISUSE,
                  "%s: has settings of %.99s, not of %s; 'lapis fit %.99s' "
                  "reads them",
                  path, name, c->method->name, name);
}

int config_read(cli *c)
{
  const char *path = args_get(&c->args, "config"), *name;
  char value[VALUE_BYTES];
  lapis_json *from;
  if (path == NULL) return EXIT_DONE;
  lapis_status s = lapis_json_read(c->ctx, path, &from);
  if (s < 0) return cli_fail_status(c, s);
  void *defaults = calloc(1, c->method->settings_size);
  int code =
      defaults == NULL ? cli_fail(EXIT_FAILED, "out of memory") : EXIT_DONE;
  if (defaults != NULL) lapis_settings_default(c->method, defaults);
  if (code == EXIT_DONE) code = check_method(c, path, from);
  bool any = false;
  for (int i = 0; code == EXIT_DONE &&
                  lapis_json_entry(from, i, &name, value, sizeof value);
       i++) {
    if (name == NULL) break;
    any = true;
    code = take(c, path, defaults, name, value);
  }
  if (code == EXIT_DONE && !any)
    code = cli_fail(EXIT_INPUT,
                    "%s: holds no settings; it needs an object of names and "
                    "values, as cv --config writes it",
                    path);
  free(defaults);
  lapis_json_free(from);
  return code;
}

void config_free(cli *c)
{
  while (c->args.n_kept-- > 0)
    free((void *)(uintptr_t)c->args.given[--c->args.n_given].value);
}

void config_settle(const cli *c, void *settings, unsigned has)
{
  char usual[VALUE_BYTES];
  const lapis_method *m = c->method;
  void *defaults = c->args.n_kept > 0 ? calloc(1, m->settings_size) : NULL;
  if (defaults == NULL) return;
  lapis_settings_default(m, defaults);
  for (int i = c->args.n_given - c->args.n_kept; i < c->args.n_given; i++) {
    const char *name = c->args.given[i].name;
    if (lapis_param_find(m, name) == NULL ||
        lapis_settings_check_effect(NULL, m, settings, has, name, NULL) >= 0)
      continue;
    lapis_settings_get(NULL, m, defaults, name, usual, sizeof usual);
    lapis_settings_set(NULL, m, settings, name, usual);
  }
  free(defaults);
}

/* ---- the line that fits so ----------------------------------------------*/
/* Options of cv that fit has not. */
static bool is_of_fit(const cli *c, const char *name)
{
  for (int k = 0; shared[k] != NULL; k++)
    if (strcmp(shared[k], name) == 0) return true;
  for (const cli_option *o = c->verb->options; o->name != NULL; o++)
    if (strcmp(o->name, name) == 0) return false;
  for (const cli_option *o = common_options; o->name != NULL; o++)
    if (strcmp(o->name, name) == 0) return strcmp(name, "seed") == 0;
  return true;
}

/* Folds of a fit are its groups' use, or there is none: then the column is not
 * read. */
static void say_group(const cli *c, const void *settings, bool chosen)
{
  unsigned reads = lapis_method_reads(c->method, settings);
  const char *drop = args_get(&c->args, "drop");
  if ((reads & LAPIS_READS_GROUP) != 0 || !chosen) {
    shell_option(stderr, c, "G", args_get(&c->args, "G"));
    if (drop != NULL) shell_option(stderr, c, "drop", drop);
    return;
  }
  const char *columns = group_columns(c);
  if (columns == NULL) columns = "";
  if (drop == NULL) drop = "";
  size_t size = strlen(drop) + strlen(columns) + 2;
  char *all = malloc(size);
  if (all == NULL) return;
  bool both = *drop != '\0' && *columns != '\0';
  snprintf(all, size, "%s%s%s", drop, both ? "," : "", columns);
  if (*all != '\0') shell_option(stderr, c, "drop", all);
  free(all);
}

static bool has_effect(const cli *c, const void *settings, const char *name)
{
  unsigned all = ~0u; /* of members: cv has refused what none is there for */
  return lapis_settings_check_effect(NULL, c->method, settings, all, name,
                                     NULL) >= 0;
}

void config_say(const cli *c, const lapis_solver *cv, const void *settings,
                const lapis_grid *grid, int count)
{
  int64_t best = cv_best(cv);
  const char *name = chosen_name(c->method);
  bool chosen = name == NULL || is_said(c, name); /* else fit chooses it */
  bool grouped = args_get(&c->args, "G") != NULL;
  if (c->quiet || c->json || best < 0 || c->args.n_words == 0) return;
  for (int k = 0; k < count; k++)
    chosen = chosen || strcmp(grid[k].name, name) == 0 ||
             strcmp(grid[k].name, c->method->unless) == 0;
  fprintf(stderr, "lapis: cv: the best, on all samples: lapis fit %s",
          c->method->name);
  for (int i = 0; i < c->args.n_words; i++) shell_file(stderr, c->args.word[i]);
  for (int i = 0; i < c->args.n_given; i++) {
    name = c->args.given[i].name;
    bool said =
        strcmp(name, "G") == 0 || (grouped && strcmp(name, "drop") == 0);
    for (int k = 0; k < count; k++)
      said = said || strcmp(grid[k].name, name) == 0;
    if (!said && is_of_fit(c, name) && has_effect(c, settings, name))
      shell_option(stderr, c, name, c->args.given[i].value);
  }
  if (grouped) say_group(c, settings, chosen);
  for (int k = 0; k < count; k++)
    if (has_effect(c, settings, grid[k].name))
      shell_option(stderr, c, grid[k].name, cv_value(cv, best, k));
  fprintf(stderr, "\n");
}
