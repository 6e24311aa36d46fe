/* settings.c - settings, from the options that were given; and as JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"

/* What a method's own setting of an option's name can be, "a|b|c", or NULL. */
static const char *own_choices(const cli *c, const char *option)
{
  const lapis_param *p = lapis_param_find(c->method, option);
  return p == NULL ? NULL : p->choices;
}

static bool is_choice(const char *choices, const char *word, size_t length)
{
  for (const char *at = choices; at != NULL; at = strchr(at, '|')) {
    at += *at == '|';
    if (strncmp(at, word, length) == 0 &&
        (at[length] == '|' || at[length] == '\0'))
      return true;
  }
  return false;
}

/* A method may end the chain of --map with a word of its own (roml: embed),
 * which is no map of X alone: where the first such word starts, or the end. */
static const char *own_word(const cli *c, const char *option, const char *spec)
{
  const char *choices = own_choices(c, option), *at = spec;
  while (choices != NULL && *at != '\0') {
    size_t length = strcspn(at, ",");
    bool none = length == 4 && strncmp(at, "none", 4) == 0;
    if (!none && is_choice(choices, at, length)) return at;
    at += length + (at[length] == ',');
  }
  return spec + strlen(spec);
}

/* Given, or tried by --grid NAME=... */
static bool is_given(const cli *c, const char *name, size_t length)
{
  for (int i = 0; i < c->args.n_given; i++) {
    bool grid = strcmp(c->args.given[i].name, "grid") == 0;
    const char *at = grid ? c->args.given[i].value : c->args.given[i].name;
    if (strncmp(at, name, length) == 0 && at[length] == (grid ? '=' : '\0'))
      return true;
  }
  return false;
}

/* Two settings for one thing, of which the method would take one: --mu. */
static int check_alternatives(const cli *c)
{
  const lapis_method *m = c->method;
  if (m->choose == NULL || m->unless == NULL) return EXIT_DONE;
  int length = (int)strcspn(m->choose, "=");
  if (!is_given(c, m->choose, (size_t)length) ||
      !is_given(c, m->unless, strlen(m->unless)))
    return EXIT_DONE;
  return cli_fail(EXIT_MISUSE,
                  "%s: --%s and --%.*s set the same thing; give one of them",
                  c->verb->name, m->unless, length, m->choose);
}

int settings_from_args(cli *c, void **out)
{
  int code = check_alternatives(c);
  return code == EXIT_DONE ? settings_beside(c, c->method, out) : code;
}

int settings_beside(cli *c, const lapis_method *m, void **out)
{
  *out = calloc(1, m->settings_size);
  if (*out == NULL) return cli_fail(EXIT_FAILED, "out of memory");
  lapis_settings_default(m, *out);
  const lapis_param *p;
  for (int i = 0; (p = lapis_method_param(m, i)) != NULL; i++) {
    const char *name = p->name;
    const char *value = args_get(&c->args, name);
    if (c->verb->pipeline != NULL && m != c->method &&
        lapis_param_find(c->method, name))
      continue;
    if (strcmp(name, "map") == 0 && own_choices(c, name) == NULL &&
        c->verb->pipeline == NULL)
      continue; /* a stage in front; fit gives it to what chooses */
    if (value != NULL && strcmp(name, "map") == 0 && own_choices(c, name)) {
      value = own_word(c, name, value);
      if (strchr(value, ',') != NULL)
        return cli_fail(EXIT_MISUSE,
                        "--map %s: the maps of X alone come first, this last",
                        value);
      if (*value == '\0') continue;
    }
    if (value == NULL) continue;
    lapis_status s = lapis_settings_set(c->ctx, m, *out, name, value);
    if (s < 0) return cli_fail_status(c, s);
  }
  return EXIT_DONE;
}

static void put_setting(lapis_json *to, const lapis_param *p, const char *text)
{
  double v;
  bool number = p->type == LAPIS_PARAM_REAL || p->type == LAPIS_PARAM_INT;
  number = number && lapis_number_read(text, NULL, &v) && /* else "auto" */
           (isfinite(v) || isinf(p->value));              /* or "inf" */
  if (number && p->type == LAPIS_PARAM_INT)
    lapis_json_put_integer(to, p->name, (int64_t)v);
  else if (number)
    lapis_json_put_number(to, p->name, v);
  else if (p->type == LAPIS_PARAM_BOOL)
    lapis_json_put_bool(to, p->name, strcmp(text, "true") == 0);
  else
    lapis_json_put_text(to, p->name, text);
}

lapis_json *settings_json(cli *c, const lapis_method *m, const void *settings)
{
  lapis_json *to = lapis_json_object();
  const lapis_param *p;
  for (int i = 0; (p = lapis_method_param(m, i)) != NULL; i++) {
    char text[4096];
    lapis_settings_get(c->ctx, m, settings, p->name, text, sizeof text);
    put_setting(to, p, text);
  }
  return to;
}

static lapis_status new_map(cli *c, const char *option, const char *spec,
                            lapis_map **map)
{
  size_t length = (size_t)(own_word(c, option, spec) - spec);
  if (length == 0 && *spec != '\0') return LAPIS_OK; /* the method's alone */
  bool followed = spec[length] != '\0';
  char *ours = strndup(spec, followed ? length - 1 : length);
  if (ours == NULL) return LAPIS_ENOMEM;
  lapis_status s = lapis_map_new(c->ctx, ours, map);
  free(ours);
  return s;
}

int map_from_args(cli *c, const char *option, const lapis_mat *X,
                  lapis_map **map, double **owned, lapis_mat *out)
{
  const char *spec = args_get(&c->args, option);
  *map = NULL;
  *owned = NULL;
  *out = *X;
  bool none = X->rows == 0 || (X->cols == 0 && c->ranks.size <= 1);
  if (spec == NULL || none) return EXIT_DONE;
  lapis_status s = new_map(c, option, spec, map);
  if (s >= 0 && *map == NULL) return EXIT_DONE;
  if (s >= 0) s = lapis_map_fit(c->ctx, *map, X);
  if (s < 0) return cli_fail_status(c, s);
  s = lapis_map_make(c->ctx, *map, X, owned, out);
  const char *absent = args_get(&c->args, "absent");
  if (s >= 0 && absent != NULL && strcmp(absent, "missing") == 0 &&
      X->colptr != NULL && out->colptr == NULL)
    return cli_fail(EXIT_MISUSE,
                    "--%s %s makes numbers of what a sparse X leaves out; with "
                    "--absent missing use scale, l1, l2 or sqrt",
                    option, spec);
  return s < 0 ? cli_fail_status(c, s) : EXIT_DONE;
}
