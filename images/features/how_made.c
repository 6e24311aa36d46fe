/* how_made.c - how X was made, in texts that can be held against others.
 *
 * "KIND", "KIND words HASH" where some were learnt (of a network its file's),
 * "KIND --NAME VALUE" for
 * each setting that decides X.  A model keeps them (feature_settings): numbers
 * that were made otherwise may be as many, and mean something else. */
#include "images/features/how_made.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_SIZE = 512 };

bool made_names_file(const lapis_param *p)
{
  return p->type == LAPIS_PARAM_TEXT && p->arg != NULL && p->arg[0] == 'F';
}

static bool is_aside(const feature_kind *kind, const char *name)
{
  const char *const *aside = kind->aside;
  while (aside != NULL && *aside != NULL && strcmp(*aside, name) != 0) aside++;
  return aside != NULL && *aside != NULL;
}

static lapis_status add(feature_job *j, const char *text)
{
  char *own = base_strdup(j->base.ctx, text);
  if (own == NULL) return LAPIS_ENOMEM;
  j->made[j->n_made++] = own;
  return LAPIS_OK;
}

lapis_status made_describe(feature_job *j)
{
  const lapis_method *m = &j->kind->shown;
  char text[TEXT_SIZE], value[TEXT_SIZE / 2];
  made_release(j);
  j->made = base_alloc(j->base.ctx, m->n_params + 2, sizeof *j->made);
  if (j->made == NULL) return LAPIS_ENOMEM;
  TRY(add(j, m->name));
  if (j->kind->learnt != NULL) {
    const char *what = j->kind->learns == NULL ? "words" : j->kind->learns;
    snprintf(text, sizeof text, "%s %s %016" PRIx64, m->name, what,
             j->kind->learnt(j));
    TRY(add(j, text));
  }
  for (int i = 0; i < m->n_params; i++) {
    const lapis_param *p = &m->params[i];
    if (made_names_file(p) || is_aside(j->kind, p->name)) continue;
    TRY(lapis_settings_get(j->base.ctx, m, j->settings, p->name, value,
                           sizeof value));
    snprintf(text, sizeof text, "%s --%s %s", m->name, p->name, value);
    TRY(add(j, text));
  }
  return LAPIS_OK;
}

void made_release(feature_job *j)
{
  for (int i = 0; i < j->n_made; i++) base_free((void *)(uintptr_t)j->made[i]);
  base_free(j->made);
  j->made = NULL;
  j->n_made = 0;
}
