/* predict.c - answers for new samples: checks, maps, then the method's own. */
#include <string.h>

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
  int64_t rows = lapis_map_rows(m->map, X->rows);
  double *val = base_alloc_raw(ctx, rows * X->cols, sizeof *val);
  if (val == NULL) return LAPIS_ENOMEM;
  lapis_status s = lapis_map_apply(ctx, m->map, X, val);
  if (s < 0) {
    base_free(val);
    return s;
  }
  *to = lapis_mat_f64(val, rows, X->cols);
  *out = val;
  return LAPIS_OK;
}

lapis_status lapis_predict_new(lapis_ctx *ctx, const lapis_data *data,
                               const lapis_model *m, const void *options,
                               lapis_solver **out)
{
  *out = NULL;
  const method_entry *e = method_entry_of(m->method);
  if (e->predict == NULL)
    return lapis_fail(ctx, LAPIS_ENOTBUILT,
                      "%s: a model of this method answers no new samples",
                      m->method->name);
  if (mat_empty(&data->X))
    return lapis_fail(ctx, LAPIS_ESHAPE, "predict: X has no samples");
  lapis_data mapped = *data;
  double *owned;
  TRY(apply_map(ctx, m, &data->X, &owned, &mapped.X));
  lapis_status s =
      e->predict(ctx, &mapped, m->settings, &m->learned, options, out);
  if (s < 0)
    base_free(owned);
  else
    (*out)->owned = owned;
  return s;
}
