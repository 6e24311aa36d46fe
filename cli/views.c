/* views.c - settings that are matrices: an option names a file, the settings
 * struct holds a view of what is in it. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef struct view {
  const char *method, *param;
  const char *member; /* of the data file, where the option is not given */
  size_t offset;      /* of the lapis_mat in the settings */
} view;

static const view views[] = {
    {"clean", "dictionary", "dictionary",
     offsetof(lapis_clean_settings, dictionary)},
    {"rr", "weight", NULL, offsetof(lapis_rr_settings, W)},
    {"rr", "fix-weights", NULL, offsetof(lapis_rr_settings, weights)},
    {"roml", "start", NULL, offsetof(lapis_roml_settings, start_match)},
};
enum { VIEWS = sizeof views / sizeof *views };

/* Values that are no file. */
static const char *words_of(const lapis_method *m, const char *param)
{
  for (int i = 0; i < m->n_params; i++)
    if (strcmp(m->params[i].name, param) == 0) return m->params[i].choices;
  return NULL;
}

static bool is_word(const char *words, const char *value)
{
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

static int read_view(cli *c, const char *spec, bool needed, void *to,
                     lapis_dataset **kept)
{
  lapis_dataset *ds;
  lapis_status s = lapis_dataset_new(c->ctx, &ds);
  if (s < 0) return cli_fail_status(c, s);
  s = lapis_dataset_read_member(ds, "X", spec, NULL);
  if (s >= 0) s = lapis_dataset_finish(ds);
  if (s >= 0) {
    *(lapis_mat *)to = lapis_dataset_data(ds)->X;
    *kept = ds;
    return EXIT_DONE;
  }
  lapis_dataset_free(ds);
  return needed ? cli_fail_status(c, s) : EXIT_DONE;
}

int views_read(cli *c, void *settings, cli_views *out)
{
  *out = (cli_views){.count = 0};
  for (int i = 0; i < VIEWS; i++) {
    const view *v = &views[i];
    char found[4096];
    const char *spec = args_get(&c->args, v->param);
    if (strcmp(v->method, c->method->name) != 0) continue;
    if (spec != NULL && is_word(words_of(c->method, v->param), spec)) continue;
    bool given = spec != NULL;
    if (!given && spec_in_data(c, v->member, found, sizeof found)) spec = found;
    if (spec == NULL) continue;
    lapis_dataset *ds = NULL;
    int code = read_view(c, spec, given, (char *)settings + v->offset, &ds);
    if (code != EXIT_DONE) return code;
    if (ds != NULL) out->ds[out->count++] = ds;
  }
  return EXIT_DONE;
}

void views_free(cli_views *v)
{
  for (int i = 0; i < v->count; i++) lapis_dataset_free(v->ds[i]);
  v->count = 0;
}
