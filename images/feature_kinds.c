/* feature_kinds.c - the table of the kinds of features. */
#include <stdlib.h>
#include <string.h>

#include "images/features/feature.h"
#include "images/features/run.h"
#include "lapis/images.h"

#define FEATURE_PLACE(name) &feature_##name,
static const feature_kind *const kinds[] = {FEATURE_KINDS(FEATURE_PLACE)};
enum { KINDS = sizeof kinds / sizeof *kinds };

const lapis_method *lapis_feature_at(int i)
{
  return i >= 0 && i < KINDS ? &kinds[i]->shown : NULL;
}

static const feature_kind *find(const char *name)
{
  for (int i = 0; i < KINDS; i++)
    if (strcmp(kinds[i]->shown.name, name) == 0) return kinds[i];
  return NULL;
}

const lapis_method *lapis_feature_find(const char *name)
{
  if (name == NULL) return NULL;
  const feature_kind *k = find(name);
  return k == NULL ? NULL : &k->shown;
}

const lapis_method *lapis_feature_named(const char *list, size_t *bytes,
                                        size_t *file)
{
  if (list == NULL) list = "";
  size_t size = strcspn(list, ","), name = strcspn(list, ",:");
  if (bytes != NULL) *bytes = size;
  if (file != NULL) *file = size > name + 1 ? size - name - 1 : 0;
  for (int i = 0; i < KINDS; i++) {
    const lapis_method *m = &kinds[i]->shown;
    if (strlen(m->name) == name && strncmp(m->name, list, name) == 0 &&
        (size == name || lapis_param_find(m, "net") != NULL))
      return m;
  }
  return NULL;
}

bool feature_kind_is_single(const lapis_method *kind)
{
  const feature_kind *k = kind == NULL ? NULL : find(kind->name);
  return k != NULL && feature_is_single(k);
}

/* ---- a job --------------------------------------------------------------*/
static void free_job(lapis_solver *s)
{
  feature_job *j = (feature_job *)s;
  if (j->kind->end != NULL) j->kind->end(j);
  run_release(j);
  base_free(j->settings);
}

static lapis_status solve(lapis_solver *s)
{
  return run_job((feature_job *)s);
}

static const solver_class job_class = {
    .method = "features", .solve = solve, .free = free_job};

static lapis_status take_settings(feature_job *j, const void *settings)
{
  const lapis_method *m = &j->kind->shown;
  j->settings = base_alloc(j->base.ctx, 1, (int64_t)m->settings_size);
  if (j->settings == NULL) return LAPIS_ENOMEM;
  j->base.settings = j->settings;
  TRY(lapis_settings_copy(j->base.ctx, m, settings, j->settings));
  return lapis_settings_check_effect(j->base.ctx, m, j->settings, 0, NULL,
                                     NULL);
}

lapis_status lapis_features_new(lapis_ctx *ctx, const lapis_method *kind,
                                const void *settings, const char *const *paths,
                                int64_t count,
                                const lapis_features_options *options,
                                lapis_solver **out)
{
  MAKES(out);
  NEEDS(ctx, ctx, out);
  const feature_kind *k = kind == NULL ? NULL : find(kind->name);
  if (k == NULL)
    return lapis_fail(ctx, LAPIS_EINVAL, "'%s' is not a kind of features",
                      kind == NULL ? "NULL" : kind->name);
  TRY(settings_check(ctx, &k->shown, settings));
  lapis_features_options how = {.size = sizeof how};
  TRY(base_take(ctx, "features: the options", options, &how, sizeof how));
  if (count < 1)
    return lapis_fail(
        ctx, LAPIS_EMISSING,
        "%s: there are no images; name image files, or folders of them",
        k->shown.name);
  lapis_solver *s;
  TRY(solver_alloc(ctx, &job_class, sizeof(feature_job), &s));
  feature_job *j = (feature_job *)s;
  j->kind = k;
  j->path = paths;
  j->count = count;
  j->keep_going = how.keep_going;
  j->studied = how.study;
  j->cache = how.cache;
  lapis_status status = take_settings(j, settings);
  if (status >= 0) status = k->begin(j);
  if (status >= 0) status = run_prepare(j);
  return solver_deliver(s, status, out);
}
