/* predict.c - answers for new samples: checks, maps, then the method's own. */
#include <string.h>

#include "lapis/lapis_tools.h"
#include "mat/mat.h"
#include "model/model.h"
#include "op/map.h"
#include "solve/methods.h"

/* X through the model's map, into memory that the caller frees. */
static lapis_status apply_map(lapis_ctx *ctx, const lapis_model *m,
                              const lapis_mat *X, double **out, lapis_mat *to)
{
  *out = NULL;
  *to = *X;
  if (m->map == NULL) return LAPIS_OK;
  TRY(method_check_map(ctx, m->method, m->settings, m->map, X));
  return lapis_map_make(ctx, m->map, X, out, to);
}

lapis_status lapis_predict_new(lapis_ctx *ctx, const lapis_data *data,
                               const lapis_model *m, const void *options,
                               lapis_solver **out)
{
  *out = NULL;
  const method_entry *e = method_entry_of(m->method);
  TRY(method_alone(ctx, m->method->name));
  if (e->predict == NULL)
    return lapis_fail(ctx, LAPIS_ENOTBUILT,
                      "%s: a model of this method answers no new samples",
                      m->method->name);
  if (mat_empty(&data->X))
    return lapis_fail(ctx, LAPIS_ESHAPE, "predict: X has no samples");
  lapis_data mapped = *data;
  double *owned = NULL;
  void *set = base_alloc(ctx, 1, e->predict_method->settings_size);
  lapis_status s = LAPIS_ENOMEM;
  if (set != NULL)
    s = lapis_settings_copy(ctx, e->predict_method, options, set);
  if (s >= 0) s = apply_map(ctx, m, &data->X, &owned, &mapped.X);
  if (s >= 0) s = method_check(ctx, e, &mapped);
  if (s >= 0) s = e->predict(ctx, &mapped, m->settings, &m->learned, set, out);
  base_free(set);
  if (s < 0)
    base_free(owned);
  else
    (*out)->owned = owned;
  return s;
}
