/* given.c - nothing that is given is dropped without a word: what the command
 * line names and this run makes no use of is refused, what a file holds besides
 * is named. */
#include <string.h>
#include <sys/stat.h>

#include "command/command.h"

/* The option that gives a member. */
static const char *option_of(const lapis_member *m)
{
  return m->bit == LAPIS_READS_GROUP    ? "G"
         : m->bit == LAPIS_READS_WEIGHT ? "weights"
                                        : m->name;
}

/* "predict: rr", "fit: linear" */
static const char *who(const cli *c)
{
  return c->model != NULL ? lapis_model_method(c->model)->name
                          : c->method->name;
}

static int refuse(const cli *c, const lapis_member *m)
{
  const char *option = option_of(m), *value = args_get(&c->args, option);
  bool column = group_spec(c, option) != value;
  char hint[512] = "";
  if (column) snprintf(hint, sizeof hint, ": --drop %s does so", value);
  bool sometimes = c->model == NULL && (c->method->reads & m->bit) != 0;
  return cli_fail(
      EXIT_MISUSE, "%s: %s makes no use of %s%s (%s)%s; leave it out%s",
      c->verb->name, who(c), strlen(option) > 1 ? "--" : "-", option, m->what,
      sometimes ? " with these settings" : "", hint);
}

/* Columns of a table that are targets are no features, whoever reads it: known
 * by the model's titles, that need not be said. */
static bool is_left_out(const cli *c, const char *file)
{
  const lapis_format *f = NULL;
  if (c->model == NULL && args_get(&c->args, "target") != NULL) return false;
  struct stat st;
  if (file == NULL || strcmp(file, "-") == 0) return true;
  if (stat(file, &st) == 0 && !S_ISREG(st.st_mode)) return true; /* a pipe */
  return lapis_format_of_file(c->ctx, file, &f) >= 0 && !f->container;
}

int given_members(cli *c, const lapis_dataset *ds, unsigned used,
                  lapis_data *out)
{
  const lapis_data *data = lapis_dataset_data(ds);
  unsigned idle = lapis_data_has(data) & ~used;
  char list[64] = "";
  const char *file =
      c->args.n_words > 0 ? c->args.word[0] : args_get(&c->args, "X");
  *out = lapis_data_with(data, used);
  const lapis_member *m;
  for (int k = 0; (m = lapis_member_at(k)) != NULL; k++) {
    size_t length = strlen(list);
    if (m->bit == LAPIS_READS_X || (idle & m->bit) == 0) continue;
    if (args_get(&c->args, option_of(m)) != NULL) return refuse(c, m);
    if (m->bit == LAPIS_READS_Y && is_left_out(c, file)) continue;
    snprintf(list + length, sizeof list - length, "%s%s",
             length > 0 ? ", " : "", m->name);
  }
  if (*list != '\0')
    snprintf(c->idle, sizeof c->idle, "%.200s: %s makes no use of %s", file,
             who(c), list);
  return EXIT_DONE;
}

void given_say(cli *c)
{
  if (*c->idle != '\0' && !c->quiet && c->ranks.rank == 0)
    fprintf(stderr, "lapis: %s: %s\n", c->verb->name, c->idle);
  *c->idle = '\0';
}

int given_settings(cli *c, const void *settings, unsigned has,
                   const char *tried)
{
  for (int i = 0; i < c->args.n_given - c->args.n_kept; i++) { /* typed */
    lapis_status s = lapis_settings_check_effect(
        c->ctx, c->method, settings, has, c->args.given[i].name, tried);
    if (s < 0) return cli_fail_status(c, s);
  }
  if (args_get(&c->args, "map-priv") == NULL || (has & LAPIS_READS_P) != 0)
    return EXIT_DONE;
  return cli_fail(EXIT_MISUSE,
                  "%s: --map-priv changes privileged features, and there are "
                  "none; -P names them",
                  c->verb->name);
}

/* ---- results that are asked for -----------------------------------------*/
/* Whether a result comes by that setting, whatever its value. */
static bool comes_by(const lapis_result_row *r, const char *name)
{
  size_t size = strlen(name);
  return r->when != NULL && strncmp(r->when, name, size) == 0 &&
         r->when[size] != '=' && r->when[size] != '-';
}

static bool is_word_of(const char *const *all, size_t count, const char *word)
{
  size_t k = 0;
  while (k < count && strcmp(all[k], word) != 0) k++;
  return k < count;
}

/* Settings that change the answer; their results are by-products. */
static bool is_more(const char *setting)
{
  static const char *const more[] = {"refill", "bags"};
  return is_word_of(more, sizeof more / sizeof *more, setting);
}

static bool is_printed(const char *result)
{
  static const char *const printed[] = {"importance", "ask_index",
                                        "ask_margin"};
  return is_word_of(printed, sizeof printed / sizeof *printed, result);
}

/* What a table and a page have of what was asked for. */
static bool is_shown(const char *result)
{
  static const char *const shown[] = {"held_out",     "probabilities",
                                      "classes_kept", "kept_values",
                                      "set_low",      "set_high"};
  return is_word_of(shown, sizeof shown / sizeof *shown, result);
}

/* A model has all of that but what was said of the labels of the fit; arrays
 * are all there. */
static bool is_kept(const cli *c, const char *result)
{
  const char *output = args_get(&c->args, "output");
  bool model = args_get(&c->args, "model") != NULL;
  if (output != NULL && !is_sheet(output) && !is_page(output)) return true;
  bool held = strcmp(result, "held_out") == 0;
  return is_shown(result) && (output != NULL || (model && !held));
}

int given_results(cli *c)
{
  for (int i = 0; i < c->args.n_given - c->args.n_kept; i++) {
    const char *name = c->args.given[i].name;
    const lapis_param *p = lapis_param_find(c->method, name);
    const lapis_result_row *r;
    if (p == NULL || is_more(name)) continue;
    for (int k = 0; (r = lapis_method_result(c->method, k)) != NULL; k++)
      if (comes_by(r, name) && !is_printed(r->name) && !is_kept(c, r->name))
        return cli_fail(EXIT_MISUSE,
                        "%s: what --%s asks for (%s) is not printed%s; write "
                        "it: -o F.%s",
                        c->verb->name, name, r->name,
                        args_get(&c->args, "output") != NULL
                            ? ", nor in a table or on a page"
                            : "",
                        is_shown(r->name) ? "csv" : "npz");
  }
  return EXIT_DONE;
}
