/* views.c - settings that are matrices: an option names a file, the settings
 * struct holds a view of what is in it. */
#include <stdlib.h>
#include <string.h>

#include "command/command.h"

/* A value that is no file. */
static bool is_word(const lapis_method *m, const char *name, const char *value)
{
  const lapis_param *p = lapis_param_find(m, name);
  const char *words = p == NULL ? NULL : p->choices;
  size_t length = strlen(value);
  while (words != NULL) {
    size_t n = strcspn(words, "|");
    if (n == length && strncmp(words, value, n) == 0) return true;
    words = words[n] == '|' ? words + n + 1 : NULL;
  }
  return false;
}

/* FILE:member of the data file; false where there is none. */
static bool spec_in_data(const cli *c, const char *member, char *spec,
                         size_t size)
{
  if (member == NULL || c->args.n_words == 0) return false;
  return snprintf(spec, size, "%s:%s", c->args.word[0], member) < (int)size;
}

/* Reads spec into *kept; where it need not be there, absence is fine. */
static int read_view(cli *c, const char *spec, bool needed,
                     lapis_dataset **kept)
{
  lapis_status s = lapis_dataset_new(c->ctx, kept);
  if (s < 0) return cli_fail_status(c, s);
  s = lapis_dataset_read_member(*kept, "X", spec, NULL);
  if (s >= 0) s = lapis_dataset_finish(*kept);
  if (s >= 0) return EXIT_DONE;
  lapis_dataset_free(*kept);
  *kept = NULL;
  return needed ? cli_fail_status(c, s) : EXIT_DONE;
}

int views_read(cli *c, void *settings, cli_views *out)
{
  *out = (cli_views){.count = 0};
  const lapis_matrix_setting *m;
  for (int i = 0; (m = lapis_method_matrix(c->method, i)) != NULL; i++) {
    char found[4096];
    const char *spec = args_get(&c->args, m->name);
    if (spec != NULL && is_word(c->method, m->name, spec)) continue;
    bool given = spec != NULL;
    if (!given && spec_in_data(c, m->member, found, sizeof found)) spec = found;
    if (spec == NULL) continue;
    lapis_dataset *ds;
    int code = read_view(c, spec, given, &ds);
    if (code != EXIT_DONE) return code;
    if (ds == NULL) continue;
    out->ds[out->count++] = ds;
    lapis_settings_set_matrix(c->ctx, c->method, settings, m->name,
                              &lapis_dataset_data(ds)->X);
  }
  return EXIT_DONE;
}

void views_free(cli_views *v)
{
  for (int i = 0; i < v->count; i++) lapis_dataset_free(v->ds[i]);
  v->count = 0;
}
