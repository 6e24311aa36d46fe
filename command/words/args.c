/* args.c - from argv to named values; every option is a row of a table. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "option_rows.h"

/* A row that both tables and parameters can be seen as. */
typedef struct row {
  const char *name;
  bool takes_value;
  const char *arg; /* of the value, in words: "F.npz" */
} row;

static bool find_in(const cli_verb *v, const cli_option *options,
                    const char *name, size_t length, char letter, row *out)
{
  for (; options->name != NULL; options++) {
    bool by_name = name != NULL && strlen(options->name) == length &&
                   strncmp(options->name, name, length) == 0;
    bool by_letter = name == NULL && options->letter == letter;
    if (!by_name && !by_letter) continue;
    *out = (row){options->name, option_takes_value(v, options), options->arg};
    return true;
  }
  return false;
}

static bool find_param(const lapis_method *m, const char *name, size_t length,
                       row *out)
{
  const lapis_param *p;
  for (int i = 0; (p = lapis_method_param(m, i)) != NULL; i++) {
    if (strlen(p->name) != length || strncmp(p->name, name, length) != 0)
      continue;
    *out = (row){p->name, p->type != LAPIS_PARAM_BOOL,
                 p->arg != NULL ? p->arg : p->choices};
    return true;
  }
  return false;
}

static bool find_kind_param(const cli *c, const char *name, size_t length,
                            row *out)
{
  for (int i = 0; i < c->kinds.count; i++)
    if (find_param(c->kinds.kind[i], name, length, out)) return true;
  return false;
}

static bool find_also(const cli_verb *v, const char *name, size_t length,
                      row *out)
{
  for (int i = 0; v->also_at != NULL && v->also_at(i) != NULL; i++)
    if (find_param(v->also_at(i), name, length, out)) return true;
  return false;
}

static bool find_row(const cli *c, const char *name, size_t length, char letter,
                     row *out)
{
  const cli_verb *v = c->verb;
  return find_in(v, common_options, name, length, letter, out) ||
         find_in(v, v->options, name, length, letter, out) ||
         (v->reads_data &&
          find_in(v, data_options, name, length, letter, out)) ||
         (name != NULL && (find_param(c->method, name, length, out) ||
                           find_kind_param(c, name, length, out) ||
                           find_also(v, name, length, out)));
}

/* What is also called otherwise: --priv.  Two words that name something else
 * elsewhere (of label: a table, kinds of
 * features) are taken for what says how a file is read, too.  Where the method
 * has a setting of that name the value decides: a number and a list in XML are
 * of the file, but for the setting's own words. */
static const struct {
  const char *word, *option;
} reading[] = {
    {"labels", "arff-labels"}, {"features", "feature-count"}, {"priv", "P"}};

static bool is_of_file(const cli *c, const char *name, const char *value)
{
  const lapis_param *p = lapis_param_find(c->method, name);
  const char *own = p == NULL ? NULL : p->choices;
  size_t size = strlen(value), digits = strspn(value, "-0123456789");
  for (; own != NULL && *own != '\0';
       own += strcspn(own, "|"), own += *own != 0)
    if (strcspn(own, "|") == size && strncmp(own, value, size) == 0)
      return false;
  return (size > 0 && digits == size) ||
         (size > 4 && strcmp(value + size - 4, ".xml") == 0);
}

static void read_as(const cli *c, const char *name, size_t length,
                    const char *value, bool found, row *r)
{
  for (size_t k = 0; k < sizeof reading / sizeof *reading; k++) {
    const char *word = reading[k].word, *option = reading[k].option;
    row other;
    if (strlen(word) != length || strncmp(word, name, length) != 0) continue;
    if (found && (value == NULL || !is_of_file(c, word, value))) continue;
    if (find_row(c, option, strlen(option), 0, &other)) *r = other;
  }
}

int args_fail_twice(const cli *c, const char *option, const char *before,
                    const char *value)
{
  bool output = strcmp(option, "output") == 0;
  bool page = output && strcmp(c->verb->name, "fit") == 0;
  return cli_fail(
      EXIT_MISUSE, "%s: %s%s is given twice, as '%s' and as '%s'; %s",
      c->verb->name, strlen(option) > 1 ? "--" : "-", option, before, value,
      page     ? "a run writes one of them: run it once for each, or write "
                 "F.npz, of which 'lapis report F.npz -o F.html' makes the page"
      : output ? "a run writes one of them: run it once for each"
               : "give it once");
}

/* A switch may be given again, which says nothing new; of two values one would
 * be lost. */
static int check_once(const cli *c, const row *r, const char *value)
{
  const char *before = args_get(&c->args, r->name);
  bool repeats =
      c->verb->repeats != NULL && strcmp(c->verb->repeats, r->name) == 0;
  if (!r->takes_value || before == NULL || repeats) return EXIT_DONE;
  return args_fail_twice(c, r->name, before, value);
}

static int add(cli *c, const row *r, const char *value)
{
  cli_args *a = &c->args;
  int code = check_once(c, r, value);
  if (code != EXIT_DONE) return code;
  if (a->n_given == MAX_GIVEN)
    return cli_fail(EXIT_MISUSE, "more than %d options were given; give fewer",
                    MAX_GIVEN);
  a->given[a->n_given].name = r->name;
  a->given[a->n_given++].value = value;
  return EXIT_DONE;
}

static void try_row(const option_row *r, void *user)
{
  if (strlen(r->name) > 1) lapis_nearest_try(user, r->name);
}

/* Another method of which word is a setting. */
static const char *who_has(const char *word)
{
  const lapis_method *m;
  for (int i = 0; (m = lapis_method_at(i)) != NULL; i++)
    if (lapis_param_find(m, word) != NULL) return m->name;
  return NULL;
}

static int unknown(const cli *c, const char *word)
{
  bool named = c->method != NULL && c->verb->pipeline == NULL;
  const char *method = named ? c->method->name : "";
  char hint[96];
  lapis_nearest near = {.word = word + strspn(word, "-")};
  near.size = strcspn(near.word, "=");
  if (c->method != NULL) rows_of_method(c->method, try_row, &near);
  rows_of_verb(c->verb, try_row, &near);
  rows_everywhere(try_row, &near);
  const char *other = named ? who_has(near.word) : NULL;
  if (other != NULL)
    return cli_fail(EXIT_MISUSE,
                    "%s: %s has no option %s; 'lapis %s %s' has it",
                    c->verb->name, method, word, c->verb->name, other);
  return cli_fail(EXIT_MISUSE,
                  "%s: there is no option %s%s; 'lapis %s %s%s--help' lists "
                  "what there is",
                  c->verb->name, word,
                  lapis_nearest_hint(&near, "--", hint, sizeof hint),
                  c->verb->name, method, named ? " " : "");
}

/* Options whose value may be left out, and what it is then. */
static const struct {
  const char *option, *value;
} usual[] = {{"suspects", "10"}};

/* That value, or NULL where the next word is one: a number, or what is neither
 * a file nor an option. */
static const char *usual_value(const row *r, const char *next)
{
  char *end = NULL;
  if (next != NULL && *next != '\0') (void)strtol(next, &end, 10);
  bool is_value = end != NULL &&
                  (*end == '\0' || (*next != '-' && access(next, F_OK) != 0));
  for (size_t k = 0; !is_value && k < sizeof usual / sizeof *usual; k++)
    if (strcmp(usual[k].option, r->name) == 0) return usual[k].value;
  return NULL;
}

/* One option at argv[*i]; moves *i past a value it takes. */
static int parse_option(cli *c, int argc, char **argv, int *i)
{
  const char *word = argv[*i];
  bool is_long = word[1] == '-';
  const char *name = is_long ? word + 2 : NULL;
  size_t length = is_long ? strcspn(name, "=") : 0;
  const char *value = is_long && name[length] == '=' ? name + length + 1 : NULL;
  row r = {.name = NULL};
  bool found = find_row(c, name, length, is_long ? 0 : word[1], &r);
  const char *next = *i + 1 < argc ? argv[*i + 1] : NULL;
  if (is_long)
    read_as(c, name, length, value == NULL ? next : value, found, &r);
  if (r.name == NULL) return unknown(c, word);
  if (!is_long && word[2] != '\0') {
    if (!r.takes_value && word[2] == word[1]) { /* -vv */
      int code = add(c, &r, "true");
      return code != EXIT_DONE ? code : add(c, &r, "true");
    }
    value = word + 2; /* -oFILE */
  }
  if (value == NULL && r.takes_value) value = usual_value(&r, next);
  if (value == NULL && r.takes_value) {
    if (*i + 1 == argc)
      return cli_fail(EXIT_MISUSE, "%s: nothing follows %s; write %s %s",
                      c->verb->name, word, word,
                      r.arg == NULL ? "VALUE" : r.arg);
    value = argv[++*i];
  }
  return add(c, &r, value == NULL ? "true" : value);
}

/* The first word after the verb names the method, or kind of features. */
static int take_method(cli *c, const char *word)
{
  const cli_verb *v = c->verb;
  const lapis_method *m;
  if (v->joins && strpbrk(word, ",:") != NULL) {
    int code = kinds_named(c, word, &c->kinds);
    c->method = c->kinds.kind[0];
    return code;
  }
  for (int i = 0; (m = v->first_at(i)) != NULL; i++) {
    if (strcmp(m->name, word) != 0) continue;
    c->method = m;
    c->kinds = (cli_kinds){.count = v->joins ? 1 : 0, .kind = {m}};
    return EXIT_DONE;
  }
  if (access(word, F_OK) == 0)
    return cli_fail(EXIT_MISUSE,
                    "%s: '%s' is there already; the %s comes before it: lapis "
                    "%s %s %s, and 'lapis help %s' lists what there is",
                    v->name, word, v->first, v->name, v->first_at(0)->name,
                    word, v->name);
  char hint[64], list[512] = "";
  lapis_nearest near = {.word = word, .size = strlen(word)};
  for (int i = 0; (m = v->first_at(i)) != NULL; i++) {
    size_t used = strlen(list);
    lapis_nearest_try(&near, m->name);
    snprintf(list + used, sizeof list - used, "%s %s", i > 0 ? "," : "",
             m->name);
  }
  return cli_fail(EXIT_MISUSE, "%s: there is no %s '%s'%s; there is%s", v->name,
                  v->first, word,
                  lapis_nearest_hint(&near, "", hint, sizeof hint), list);
}

/* A model behind what was to be one, or NULL. */
static const char *later_model(cli *c, int argc, char **argv, int after)
{
  lapis_model *m = NULL;
  for (int i = after + 1; i < argc; i++) {
    if (argv[i][0] == '-' || lapis_model_load(c->ctx, argv[i], &m) < 0)
      continue;
    lapis_model_free(m);
    return argv[i];
  }
  return NULL;
}

static bool is_folder(const char *path)
{
  struct stat at;
  return stat(path, &at) == 0 && S_ISDIR(at.st_mode);
}

static int take_model(cli *c, int argc, char **argv, int at)
{
  const char *path = argv[at];
  lapis_status s = lapis_model_load(c->ctx, path, &c->model);
  c->model_path = path;
  if (s == LAPIS_EFORMAT || (s == LAPIS_EIO && is_folder(path))) {
    char why[1024];
    snprintf(why, sizeof why, "%s", lapis_ctx_error(c->ctx));
    const char *model = later_model(c, argc, argv, at);
    if (model == NULL)
      return cli_fail(cli_exit_code(c, s),
                      "%s (%s takes a model first, as fit --model writes it)",
                      why, c->verb->name);
    return cli_fail(EXIT_MISUSE,
                    "%s: '%s' is not a model and '%s' is one: the model comes "
                    "first: lapis %s %s %s",
                    c->verb->name, path, model, c->verb->name, model, path);
  }
  if (s < 0) return cli_fail_status(c, s);
  const lapis_method *m = lapis_model_method(c->model);
  c->method = lapis_predict_method(m);
  if (c->method != NULL) return EXIT_DONE;
  return cli_fail(EXIT_MISUSE,
                  "%s: a %s model does not predict new samples;  fit it again "
                  "with them among the data",
                  path, m->name);
}

bool args_no_first(const cli *c)
{
  const char *without = c->verb->no_first;
  return without != NULL && args_get(&c->args, without) != NULL;
}

int args_parse(cli *c, int argc, char **argv)
{
  bool only_words = false;
  if (c->verb->pipeline != NULL) c->method = lapis_flow_find(c->verb->pipeline);
  for (int i = 0; i < argc; i++) {
    int code = EXIT_DONE;
    const char *word = argv[i];
    bool dashed = word[0] == '-' && word[1] != '\0';
    if (!only_words && strcmp(word, "--") == 0)
      only_words = true;
    else if (!only_words && dashed)
      code = parse_option(c, argc, argv, &i);
    else if (c->verb->first_at != NULL && c->method == NULL &&
             !args_no_first(c))
      code = take_method(c, word);
    else if (c->verb->takes_model && c->model == NULL)
      code = take_model(c, argc, argv, i);
    else
      c->args.word[c->args.n_words++] = word;
    if (code != EXIT_DONE) return code;
  }
  return EXIT_DONE;
}
