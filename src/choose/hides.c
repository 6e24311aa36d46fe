/* hides.c - the options of a cross-validation, and what it hides together. */
#include <math.h>
#include <string.h>

#include "choose/select.h"
#include "methods/method_entry.h"

lapis_status cv_options_take(lapis_ctx *ctx, const lapis_cv_options *given,
                             lapis_cv_options *own)
{
  *own = lapis_cv_defaults();
  TRY(base_take(ctx, "cv: the options", given, own, sizeof *own));
  if (own->folds_of >= LAPIS_FOLDS_OF_AUTO &&
      own->folds_of <= LAPIS_FOLDS_OF_CELLS)
    return LAPIS_OK;
  return lapis_fail(
      ctx, LAPIS_EINVAL,
      "cv: folds_of is %d; it must be LAPIS_FOLDS_OF_AUTO, _ROWS, "
      "_GROUPS or _CELLS",
      own->folds_of);
}

/* More than a tenth of the rows that have a label lack another. */
static bool lacks_cells(const lapis_mat *Y)
{
  int64_t any = 0, partly = 0;
  for (int64_t j = 0; j < Y->cols; j++) {
    int64_t known = 0;
    for (int64_t i = 0; i < Y->rows; i++)
      known += !isnan(lapis_mat_at(Y, i, j));
    any += known > 0;
    partly += known > 0 && known < Y->rows;
  }
  return 10 * partly > any;
}

static lapis_folds_of rows_or_groups(const lapis_data *data,
                                     const lapis_cv_options *o)
{
  if (o->folds_of != LAPIS_FOLDS_OF_AUTO) return (lapis_folds_of)o->folds_of;
  return o->by_group || data->group != NULL ? LAPIS_FOLDS_OF_GROUPS
                                            : LAPIS_FOLDS_OF_ROWS;
}

lapis_folds_of lapis_cv_hides(const lapis_method *m, const lapis_data *data,
                              const lapis_cv_options *options)
{
  lapis_cv_options own;
  if (m == NULL || data == NULL || cv_options_take(NULL, options, &own) < 0)
    return LAPIS_FOLDS_OF_AUTO;
  lapis_folds_of of = rows_or_groups(data, &own);
  bool cells = own.folds_of == LAPIS_FOLDS_OF_AUTO &&
               of == LAPIS_FOLDS_OF_ROWS && data->Y.rows > 1 &&
               method_entry_of(m)->transductive;
  return cells && lacks_cells(&data->Y) ? LAPIS_FOLDS_OF_CELLS : of;
}

/* The usual number of folds, or as many as there are units. */
enum { USUAL_FOLDS = 5 };

lapis_status cv_settle_folds(lapis_ctx *ctx, const lapis_data *data,
                             lapis_cv_options *o)
{
  bool by_group = rows_or_groups(data, o) == LAPIS_FOLDS_OF_GROUPS;
  fold_plan plan;
  fold_draw how = {.method = "cv",
                   .use = FOLDS_CV,
                   .samples = data->X.cols,
                   .folds = USUAL_FOLDS,
                   .group = by_group ? data->group : NULL,
                   .Y = &data->Y,
                   .or_fewer = true};
  if (o->folds != 0) return LAPIS_OK;
  TRY(folds_draw(ctx, &how, &plan));
  o->folds = plan.folds < 2 ? 2 : plan.folds; /* which is refused */
  folds_free(&plan);
  return LAPIS_OK;
}

lapis_status cv_draw_folds(lapis_ctx *ctx, const lapis_data *data,
                           int64_t folds, lapis_folds_of of, fold_plan *out)
{
  bool by_group = of == LAPIS_FOLDS_OF_GROUPS;
  if (by_group && data->group == NULL)
    return lapis_fail(ctx, LAPIS_EMISSING,
                      "cv: groups are to stay whole, and no group is given");
  fold_draw how = {.method = "cv",
                   .use = FOLDS_CV,
                   .samples = data->X.cols,
                   .folds = folds,
                   .group = by_group ? data->group : NULL,
                   .Y = &data->Y,
                   .cells = of == LAPIS_FOLDS_OF_CELLS};
  return folds_draw(ctx, &how, out);
}

lapis_status lapis_cv_draw(lapis_ctx *ctx, const lapis_data *data,
                           const lapis_cv_options *options, int64_t *fold)
{
  NEEDS(ctx, ctx, data, fold);
  TRY(mat_check_data(ctx, "cv", data));
  fold_plan plan;
  lapis_cv_options own;
  TRY(cv_options_take(ctx, options, &own));
  TRY(mat_check_beside(ctx, "cv", "Y", &data->Y, &data->X));
  if (own.folds_of == LAPIS_FOLDS_OF_CELLS)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "cv: single cells are hidden, and a sample has no fold "
                      "of its own");
  TRY(cv_settle_folds(ctx, data, &own));
  TRY(cv_draw_folds(ctx, data, own.folds, rows_or_groups(data, &own), &plan));
  memcpy(fold, plan.fold, (size_t)plan.samples * sizeof *fold);
  folds_free(&plan);
  return LAPIS_OK;
}
