/* again.c - the same study with other labels: the method and settings of an
 * earlier run, and nothing is compared.  Its result says which, of what
 * images and of what features. */
#include <string.h>

#include "images/label/label.h"

/* The only text of that name, or NULL. */
static const char *text_of(const label_run *w, const char *name)
{
  const lapis_array *a = lapis_arrays_find(&w->again, name);
  bool one = a != NULL && a->mat.dtype == LAPIS_TEXT && a->mat.cols == 1;
  return one ? *(const char *const *)a->mat.val : NULL;
}

static bool is_of_these(const label_run *w)
{
  const lapis_array *a = lapis_arrays_find(&w->again, "names");
  if (a == NULL || a->mat.dtype != LAPIS_TEXT) return false;
  const char *const *name = a->mat.val;
  for (int64_t k = 0; k < a->mat.cols; k++)
    for (int64_t i = 0; i < w->flow->count; i++)
      if (strcmp(name[k], w->flow->path[i]) == 0) return true;
  return false;
}

static lapis_status take_features(label_run *w)
{
  const char *path = w->set.again, *of = text_of(w, "features");
  bool chosen = lapis_arrays_find(&w->again, "kinds") != NULL;
  if (w->is_auto && chosen) w->best_kinds = of;
  if (of != NULL && w->is_auto == chosen &&
      (chosen || strcmp(of, w->table != NULL ? "table" : w->set.features) == 0))
    return LAPIS_OK;
  return lapis_fail(w->flow->ctx, LAPIS_EDATA,
                    "%s: is of --features %s, and this run of %s; without "
                    "--again all settings are compared",
                    path, chosen ? "auto" : of, w->set.features);
}

lapis_status label_again(label_run *w)
{
  lapis_ctx *ctx = w->flow->ctx;
  const char *path = w->set.again;
  if (path == NULL) return LAPIS_OK;
  if (w->set.candidates != NULL)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "label: --again and --candidates both choose the method; "
                      "give one of them");
  TRY(lapis_arrays_read(ctx, path, &w->again));
  w->set.candidates = text_of(w, "choice");
  if (w->set.candidates == NULL || text_of(w, "features") == NULL)
    return lapis_fail(ctx, LAPIS_EDATA,
                      "%s: keeps no choice of method; --again takes what "
                      "label --result wrote in a run that compared settings",
                      path);
  if (!is_of_these(w))
    return lapis_fail(ctx, LAPIS_EDATA,
                      "%s: is of other images; --again goes with the images of "
                      "that run, named alike",
                      path);
  TRY(take_features(w));
  flow_remark(w->flow, "kept",
              "the method and settings of %s are kept; without {again} all "
              "are compared",
              path);
  return LAPIS_OK;
}
