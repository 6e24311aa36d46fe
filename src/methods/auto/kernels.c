/* kernels.c - the kernel features that logistic regressions of a race read.
 *
 * What a race standardises, or shares of counts as square roots, goes on
 * through `nystrom`; all samples are landmarks up to COUNT of them, so that the
 * regression is the kernel one.  Labels have no part in the features: they are
 * made once for all folds, but where an mc fills the gaps of each fold. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "methods/auto/candidates.h"

enum { COUNT = 500, MOST_SAMPLES = 20000, TEXT = 64 };

/* ---- who there is -------------------------------------------------------*/
bool kernels_pay(const comparison *r)
{
  const char *own = r->own_map;
  bool already = own != NULL && strstr(own, "nystrom:") != NULL;
  return r->o.linear && !already && r->n <= MOST_SAMPLES;
}

/* What stands before the kernel: shares of counts need no standard, and have no
 * gaps; nor has what is trimmed. */
static const char *base_of(const comparison *r, int map)
{
  if (map > 0 && r->counts) return "l1-sqrt";
  if (race_imputes(r, map)) return race_map_filled(r, map);
  return r->own_map == NULL ? "standard" : r->own_map;
}

lapis_status kernels_find(comparison *r, int map, double width, int *place)
{
  const char *base = base_of(r, map);
  char tail[TEXT];
  *place = 0;
  for (int k = 0; k < r->n_kernels; k++)
    if (r->kernel[k].map == map && r->kernel[k].width == width) *place = k + 1;
  if (*place > 0 || r->n_kernels == MOST_KERNELS) return LAPIS_OK;
  if (width == 1)
    snprintf(tail, sizeof tail, ",nystrom:auto:%d", COUNT);
  else
    snprintf(tail, sizeof tail, ",nystrom:%gauto:%d", width, COUNT);
  size_t size = strlen(base) + strlen(tail) + 1;
  char *text = base_alloc(r->ctx, (int64_t)size, 1);
  if (text == NULL) return LAPIS_ENOMEM;
  snprintf(text, size, "%s%s", base, tail);
  r->kernel[r->n_kernels] = (race_kernel){
      .map = map, .width = width, .text = text, .tail = strlen(base) + 1};
  *place = ++r->n_kernels;
  return LAPIS_OK;
}

const char *candidate_map(const comparison *r, const candidate *x)
{
  bool gaps = x->kind != CANDIDATE_MC && x->kind != CANDIDATE_RR &&
              !candidate_reads_gaps(x) && !x->filled;
  if (x->kernel > 0) return r->kernel[x->kernel - 1].text;
  return gaps ? race_map_filled(r, x->map) : r->map[x->map];
}

const char *candidate_map_of_filled(const comparison *r, const candidate *x)
{
  if (x->kernel == 0) return "none";
  const race_kernel *k = &r->kernel[x->kernel - 1];
  return k->text + k->tail;
}

/* ---- features -----------------------------------------------------------*/
static lapis_status make(comparison *r, const char *text, const lapis_mat *X,
                         race_features *out)
{
  lapis_map *map;
  lapis_mat unused;
  free(out->F);
  out->F = NULL;
  TRY(lapis_map_new(r->ctx, text, &map));
  lapis_status s = lapis_map_fit(r->ctx, map, X);
  if (s >= 0) s = lapis_map_make(r->ctx, map, X, &out->F, &unused);
  out->rows = lapis_map_rows(map, X->rows);
  lapis_map_free(map);
  return s;
}

lapis_status kernels_features(comparison *r, const candidate *x, int64_t fold,
                              const race_features **out)
{
  race_kernel *k = &r->kernel[x->kernel - 1];
  *out = &k->features;
  if (!x->filled) {
    const double *F;
    if (k->features.F != NULL) return LAPIS_OK;
    if (!r->imputes || x->map > 0)
      return make(r, k->text, &r->data->X, &k->features);
    TRY(candidates_fill(r, x->map, &F));
    lapis_mat X = lapis_mat_f64((double *)F, r->X[x->map].rows, r->n);
    return make(r, k->text + k->tail, &X, &k->features);
  }
  *out = &r->of_filled;
  if (r->completed[fold] == NULL) { /* the filler has not answered */
    *out = NULL;
    return LAPIS_OK;
  }
  if (r->of_filled.F != NULL && r->filled_fold == fold &&
      r->filled_kernel == x->kernel)
    return LAPIS_OK;
  lapis_mat X = lapis_mat_f64(r->completed[fold], r->X[x->map].rows, r->n);
  r->filled_fold = fold;
  r->filled_kernel = x->kernel;
  return make(r, k->text + k->tail, &X, &r->of_filled);
}

void kernels_drop(comparison *r)
{
  for (int k = 0; k < r->n_kernels; k++) {
    free(r->kernel[k].features.F);
    r->kernel[k].features.F = NULL;
  }
  free(r->of_filled.F);
  r->of_filled.F = NULL;
}

void kernels_free(comparison *r)
{
  kernels_drop(r);
  for (int k = 0; k < r->n_kernels; k++) base_free(r->kernel[k].text);
  r->n_kernels = 0;
}
