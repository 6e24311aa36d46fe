/* file.c - the model file: a .npz of named arrays with a JSON header.
 *
 * Members: "lapis" (one text: the header), the learnt arrays under their own
 * names, "map" and "map_priv" (numbers that fitting the maps found). */
#include <stdlib.h>
#include <string.h>

#include "lapis/lapis_io.h"
#include "lapis/lapis_tools.h"
#include "mat/mat.h"
#include "model/model.h"
#include "op/map.h"

enum { FORMAT = 1, TEXT_SIZE = 4096 };

/* ---- writing ------------------------------------------------------------*/
static lapis_json *settings_json(lapis_ctx *ctx, const lapis_model *m)
{
  lapis_json *to = lapis_json_object();
  for (int i = 0; to != NULL && i < m->method->n_params; i++) {
    char text[TEXT_SIZE];
    const lapis_param *p = &m->method->params[i];
    if (p->type == LAPIS_PARAM_TEXT) continue;
    lapis_settings_get(ctx, m->method, m->settings, p->name, text, sizeof text);
    lapis_json_put_text(to, p->name, text);
  }
  return to;
}

static char *header(lapis_ctx *ctx, const lapis_model *m)
{
  lapis_json *to = lapis_json_object();
  if (to == NULL) return NULL;
  lapis_json_put_text(to, "lapis", lapis_version());
  lapis_json_put_integer(to, "format", FORMAT);
  lapis_json_put_text(to, "method", m->method->name);
  lapis_json_put_integer(to, "features", m->features);
  lapis_json_put(to, "settings", settings_json(ctx, m));
  if (m->map != NULL) lapis_json_put_text(to, "map", lapis_map_spec(m->map));
  if (m->map_priv != NULL)
    lapis_json_put_text(to, "map_priv", lapis_map_spec(m->map_priv));
  char *text = lapis_json_print(to);
  lapis_json_free(to);
  return text;
}

lapis_status lapis_model_save(lapis_ctx *ctx, const lapis_model *m,
                              const char *path)
{
  lapis_named item[NAMED_MAX + 3];
  int count = 0;
  char *text = header(ctx, m);
  if (text == NULL) return lapis_fail(ctx, LAPIS_ENOMEM, "out of memory");
  item[count++] =
      (lapis_named){.name = "lapis",
                    .flat = true,
                    .mat = lapis_mat_text((const char *const *)&text, 1, 1)};
  for (int i = 0; i < m->learned.count; i++) {
    lapis_mat mat = m->learned.item[i].mat;
    item[count++] = (lapis_named){.name = m->learned.item[i].name,
                                  .mat = mat,
                                  .flat = mat.dtype == LAPIS_TEXT};
  }
  if (m->map != NULL)
    item[count++] = (lapis_named){.name = "map", .mat = map_state(m->map)};
  if (m->map_priv != NULL)
    item[count++] =
        (lapis_named){.name = "map_priv", .mat = map_state(m->map_priv)};
  lapis_status s = lapis_npz_write(ctx, path, item, count);
  free(text);
  return s;
}

/* ---- reading ------------------------------------------------------------*/
static lapis_status not_a_model(lapis_ctx *ctx, const char *path,
                                const char *why)
{
  return lapis_fail(ctx, LAPIS_EFORMAT,
                    "%s: %s; a model is what 'lapis fit ... --model F.lapis' "
                    "writes",
                    path, why);
}

static lapis_status read_settings(lapis_ctx *ctx, const lapis_json *head,
                                  lapis_model *m)
{
  const lapis_json *set = lapis_json_get(head, "settings");
  lapis_settings_default(m->method, m->settings);
  for (int i = 0; i < m->method->n_params; i++) {
    const char *name = m->method->params[i].name;
    const char *value = set == NULL ? NULL : lapis_json_text(set, name, NULL);
    if (value != NULL)
      TRY(lapis_settings_set(ctx, m->method, m->settings, name, value));
  }
  return LAPIS_OK;
}

static lapis_status read_map(lapis_ctx *ctx, const char *path,
                             const lapis_json *head, const lapis_arrays *all,
                             const char *name, lapis_map **out)
{
  const char *spec = lapis_json_text(head, name, NULL);
  const lapis_array *state = lapis_arrays_find(all, name);
  if (spec == NULL) return LAPIS_OK;
  if (state == NULL) return not_a_model(ctx, path, "its map has no numbers");
  return map_restore(ctx, spec, &state->mat, out);
}

static lapis_status read_arrays(lapis_ctx *ctx, const lapis_arrays *all,
                                lapis_model *m)
{
  for (int i = 0; i < all->count; i++) {
    const char *name = all->item[i].name;
    if (strcmp(name, "lapis") == 0 || strcmp(name, "map") == 0 ||
        strcmp(name, "map_priv") == 0)
      continue;
    TRY(model_put(ctx, m, name, &all->item[i].mat));
  }
  return LAPIS_OK;
}

static lapis_status fill(lapis_ctx *ctx, const char *path,
                         const lapis_json *head, const lapis_arrays *all,
                         lapis_model *m)
{
  double features = lapis_json_number(head, "features", 0);
  m->features = features > 0 && features < 1e15 ? (int64_t)features : 0;
  TRY(read_settings(ctx, head, m));
  TRY(read_map(ctx, path, head, all, "map", &m->map));
  TRY(read_map(ctx, path, head, all, "map_priv", &m->map_priv));
  return read_arrays(ctx, all, m);
}

static lapis_status from_header(lapis_ctx *ctx, const char *path,
                                const lapis_json *head, const lapis_arrays *all,
                                lapis_model **out)
{
  double format = lapis_json_number(head, "format", 0);
  const char *name = lapis_json_text(head, "method", "");
  const lapis_method *method = lapis_method_find(name);
  if (strcmp(lapis_json_text(head, "kind", "model"), "model") != 0)
    return not_a_model(ctx, path,
                       "it is a checkpoint, which the command that wrote it "
                       "goes on from");
  if (format != FORMAT)
    return lapis_fail(ctx, LAPIS_EFORMAT,
                      "%s: a model of format %g; this LAPIS reads format %d",
                      path, format, FORMAT);
  if (method == NULL)
    return lapis_fail(ctx, LAPIS_EFORMAT,
                      "%s: a model of method '%s', which this LAPIS lacks",
                      path, name);
  lapis_model *m;
  TRY(model_alloc(ctx, method, &m));
  lapis_status s = fill(ctx, path, head, all, m);
  if (s >= 0)
    *out = m;
  else
    lapis_model_free(m);
  return s;
}

static lapis_status from_arrays(lapis_ctx *ctx, const char *path,
                                const lapis_arrays *all, lapis_model **out)
{
  const lapis_array *a = lapis_arrays_find(all, "lapis");
  bool text = a != NULL && a->mat.dtype == LAPIS_TEXT && a->mat.cols == 1 &&
              a->mat.rows == 1;
  if (!text) return not_a_model(ctx, path, "there is no header in it");
  const char *json = ((const char *const *)a->mat.val)[0];
  lapis_json *head;
  TRY(lapis_json_parse(ctx, json, strlen(json), path, &head));
  lapis_status s = from_header(ctx, path, head, all, out);
  lapis_json_free(head);
  return s;
}

lapis_status lapis_model_load(lapis_ctx *ctx, const char *path,
                              lapis_model **out)
{
  *out = NULL;
  lapis_arrays all;
  TRY(lapis_arrays_read(ctx, path, &all));
  lapis_status s = from_arrays(ctx, path, &all, out);
  lapis_arrays_free(&all);
  return s;
}
