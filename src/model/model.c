/* model.c - a model owns a copy of all it needs. */
#include "model/model.h"
#include "solver/answer.h"

#include <math.h>
#include <string.h>

#include "lapis/files.h"
#include "mat/mat.h"
#include "methods/method_entry.h"
#include "model/learnt_from.h"
#include "op/map/map.h"

lapis_status model_alloc(lapis_ctx *ctx, const lapis_method *method,
                         lapis_model **out)
{
  lapis_model *m = base_alloc(ctx, 1, sizeof *m);
  *out = m;
  if (m == NULL) return LAPIS_ENOMEM;
  m->method = method;
  m->settings = base_alloc(ctx, 1, method->settings_size);
  if (m->settings != NULL) return LAPIS_OK;
  lapis_model_free(m);
  *out = NULL;
  return LAPIS_ENOMEM;
}

void lapis_model_free(lapis_model *m)
{
  if (m == NULL) return;
  lapis_model_free(m->filler);
  lapis_model_free(m->beside);
  lapis_model_free(m->fold);
  lapis_model_free(m->bags);
  lapis_model_free(m->instances);
  for (int i = 0; i < m->learned.count; i++) {
    base_free((void *)(uintptr_t)m->learned.item[i].name);
    base_free(m->learned.item[i].mat.val);
  }
  lapis_map_free(m->map);
  lapis_map_free(m->map_priv);
  base_free(m->settings);
  base_free(m);
}

static lapis_status fill(lapis_solver *s, lapis_model *m)
{
  TRY(s->cls->learn(s));
  for (int i = 0; i < s->learned.count; i++)
    if (!answer_is_finite(&s->learned.item[i].mat))
      return lapis_fail(s->ctx, LAPIS_ENUMERIC,
                        "%s: the model's '%s' is not finite, so no model is "
                        "kept; bring the features near 1 (--map standard)",
                        s->cls->method, s->learned.item[i].name);
  for (int i = 0; i < s->learned.count; i++)
    TRY(model_put(s->ctx, m, s->learned.item[i].name, &s->learned.item[i].mat));
  m->features = s->features;
  memcpy(m->settings, s->settings, m->method->settings_size);
  return LAPIS_OK;
}

static lapis_status make(lapis_solver *s, lapis_model **out)
{
  const lapis_method *method = lapis_method_find(s->cls->method);
  if (s->model != NULL && s->result.count > 0) return s->model(s, out);
  if (s->cls->learn == NULL || method == NULL)
    return lapis_fail(s->ctx, LAPIS_ENOTBUILT,
                      "%s: this method solves for the data at hand and learns "
                      "no model",
                      s->cls->method);
  if (s->result.count == 0)
    return lapis_fail(s->ctx, LAPIS_EINVAL,
                      "%s: there is no model yet; solve first", s->cls->method);
  lapis_model *m;
  TRY(model_alloc(s->ctx, method, &m));
  lapis_status status = fill(s, m);
  if (status >= 0)
    *out = m;
  else
    lapis_model_free(m);
  return status;
}

/* A model of a run that a limit or Ctrl-C ended says so, and its gap where
 * there is one; LAPIS before this passes over both. */
static lapis_status note_stop(const lapis_solver *s, lapis_model *m)
{
  const lapis_info *info = &s->info;
  const char *name = lapis_status_name(info->status);
  lapis_mat text = lapis_mat_text(&name, 1, 1);
  double gap = info->gap;
  lapis_mat number = lapis_mat_f64(&gap, 1, 1);
  if (info->status != LAPIS_CANCELLED && info->status != LAPIS_TIME_LIMIT &&
      info->status != LAPIS_MAX_ITERS)
    return LAPIS_OK;
  TRY(model_put(s->ctx, m, "stopped", &text));
  return isfinite(gap) ? model_put(s->ctx, m, "stopped_gap", &number)
                       : LAPIS_OK;
}

/* What features and classes are called. */
static lapis_status note_names(const lapis_solver *s, lapis_model *m)
{
  const lapis_mat *names = &s->data.feature_names, *words = &s->data.words;
  if (!mat_empty(names)) TRY(model_put(s->ctx, m, "feature_names", names));
  return mat_empty(words) ? LAPIS_OK
                          : model_put(s->ctx, m, "class_texts", words);
}

/* Of a solver of another, nobody asks what it has learnt from. */
static lapis_status note_data(const lapis_solver *s, lapis_model *m)
{
  const lapis_mat *X = &s->data.X;
  mat_seen *seen;
  if (!s->asked_for) return LAPIS_OK;
  TRY(note_names(s, m));
  TRY(mat_see(s->ctx, X, &seen));
  lapis_status status = learnt_from_keep(s->ctx, m, seen, X->rows, X->cols);
  base_free(seen);
  return status;
}

/* Of divided samples all processes make the same model, together. */
lapis_status lapis_model_new(lapis_solver *s, lapis_model **out)
{
  MAKES(out);
  NEEDS(s == NULL ? NULL : s->ctx, s, out);
  base_meet(s->ctx);
  lapis_status made = make(s, out);
  if (made >= 0) made = note_stop(s, *out);
  if (made >= 0) made = note_data(s, *out);
  lapis_status status = base_agree(s->ctx, made);
  if (status >= 0) return status;
  lapis_model_free(*out);
  *out = NULL;
  return status;
}

/* ---- what comes with the data -------------------------------------------*/
lapis_status lapis_model_set_map(lapis_ctx *ctx, lapis_model *m,
                                 const lapis_map *map, bool priv)
{
  NEEDS(ctx, m, map);
  lapis_map *copy = NULL;
  lapis_mat state = map_state(map);
  TRY(map_restore(ctx, map_spec(map), &state, &copy));
  lapis_map **to = priv ? &m->map_priv : &m->map;
  lapis_map_free(*to);
  *to = copy;
  int64_t features, samples; /* in units of before the map */
  const mat_seen *seen = map_seen(map, &features, &samples);
  if (priv || !learnt_from_is_kept(m)) return LAPIS_OK;
  return learnt_from_keep(ctx, m, seen, features, samples);
}

const lapis_map *lapis_model_map(const lapis_model *m)
{
  if (m == NULL) return NULL;
  return m->filler != NULL ? lapis_model_map(m->filler) : m->map;
}

lapis_status lapis_model_set_text(lapis_ctx *ctx, lapis_model *m,
                                  const char *name, const lapis_mat *text)
{
  NEEDS(ctx, m, name, text);
  TRY(mat_check_view(ctx, "model", name, text));
  return model_put(ctx, m, name, text);
}

const lapis_method *lapis_model_method(const lapis_model *m)
{
  if (m == NULL) return NULL;
  return m->method;
}

/* Who answers beside another, or behind one, answers with targets alone. */
bool lapis_model_completes(const lapis_model *m)
{
  if (m == NULL || m->filler != NULL || m->beside != NULL) return false;
  const lapis_method *table = lapis_predict_method(m->method);
  return table != NULL && table->completes;
}

int64_t lapis_model_features(const lapis_model *m)
{
  if (m == NULL) return 0;
  if (m->filler != NULL) return lapis_model_features(m->filler);
  return m->map == NULL ? m->features : map_inputs(m->map, m->features);
}

const void *lapis_model_settings(const lapis_model *m)
{
  if (m == NULL) return NULL;
  return m->settings;
}

lapis_status lapis_model_get(lapis_ctx *ctx, const lapis_model *m,
                             const char *name, lapis_mat *out)
{
  NEEDS(ctx, m, name);
  const lapis_mat *mat = named_find(&m->learned, name);
  if (mat == NULL)
    return lapis_fail(ctx, LAPIS_EINVAL, "the %s model has no array '%s'",
                      m->method->name, name);
  *out = *mat;
  return LAPIS_OK;
}
