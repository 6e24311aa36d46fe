/* take.c - the part of the data that a fold hides, and the part that it shows.
 */
#include "folds/folds.h"
#include "mat/mat.h"

static lapis_status pick(lapis_ctx *ctx, const lapis_mat *from,
                         const bool *marks, double **memory, lapis_mat *out)
{
  *out = lapis_mat_f64(NULL, from->rows, 0);
  return mat_empty(from) ? LAPIS_OK : mat_pick(ctx, from, marks, memory, out);
}

lapis_status folds_take(lapis_ctx *ctx, const lapis_data *from,
                        const bool *marks, fold_part *out)
{
  int64_t n = 0;
  *out = (fold_part){.data = {.X = {.dtype = LAPIS_F64}}};
  out->data.stored = from->stored;
  TRY(pick(ctx, &from->X, marks, &out->memory[0], &out->data.X));
  TRY(pick(ctx, &from->Y, marks, &out->memory[1], &out->data.Y));
  TRY(pick(ctx, &from->P, marks, &out->memory[2], &out->data.P));
  if (from->group != NULL) {
    out->group = base_alloc(ctx, out->data.X.cols, sizeof *out->group);
    if (out->group == NULL) return LAPIS_ENOMEM;
  }
  if (from->weight != NULL) {
    out->weight = base_alloc(ctx, out->data.X.cols, sizeof *out->weight);
    if (out->weight == NULL) return LAPIS_ENOMEM;
  }
  for (int64_t j = 0; j < from->X.cols; j++) {
    if (!marks[j]) continue;
    if (out->group != NULL) out->group[n] = from->group[j];
    if (out->weight != NULL) out->weight[n] = from->weight[j];
    n++;
  }
  out->data.group = out->group;
  out->data.weight = out->weight;
  return LAPIS_OK;
}

lapis_status folds_split(lapis_ctx *ctx, const lapis_data *from,
                         const fold_plan *plan, int64_t fold, fold_part *hidden,
                         fold_part *shown)
{
  *hidden = *shown = (fold_part){.group = NULL};
  bool *marks = base_alloc(ctx, plan->samples, sizeof *marks);
  if (marks == NULL) return LAPIS_ENOMEM;
  for (int64_t j = 0; j < plan->samples; j++) marks[j] = plan->fold[j] == fold;
  lapis_status s = folds_take(ctx, from, marks, hidden);
  for (int64_t j = 0; j < plan->samples; j++) marks[j] = !marks[j];
  if (s >= 0) s = folds_take(ctx, from, marks, shown);
  base_free(marks);
  return s;
}

void fold_part_free(fold_part *part)
{
  for (int i = 0; i < 3; i++) base_free(part->memory[i]);
  base_free(part->group);
  base_free(part->weight);
  *part = (fold_part){.group = NULL};
}
