/* model_file.c - the model file: a .npz of named arrays with a JSON header.
 *
 * Members: "lapis" (one text: the header), the learnt arrays under their own
 * names, "map" and "map_priv" (numbers that fitting the maps found). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/io.h"
#include "lapis/tools.h"
#include "mat/mat.h"
#include "model/coverage.h"
#include "op/map/map.h"

enum { FORMAT = 1, TEXT_SIZE = 4096 };
/* Models inside a model: their members begin with this and a stroke. */
enum {
  INNER = 5,
  MOST_BESIDE = 5,
  MOST_MODELS = 2 * MOST_BESIDE * (1 + COVERAGE_FOLDS) + 2,
  NAME_SIZE = 128
};
static const char *const inner[INNER] = {"filler", "beside", "fold", "bags",
                                         "instances"};

static lapis_model **inner_at(lapis_model *m, int k)
{
  lapis_model **all[INNER] = {&m->filler, &m->beside, &m->fold, &m->bags,
                              &m->instances};
  return all[k];
}

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

/* What is said of each model; of one inside another under its name there. */
static void describe(lapis_ctx *ctx, const lapis_model *m, lapis_json *to)
{
  lapis_json_put_text(to, "method", m->method->name);
  lapis_json_put_integer(to, "features", m->features);
  lapis_json_put(to, "settings", settings_json(ctx, m));
  if (m->map != NULL) lapis_json_put_text(to, "map", map_spec(m->map));
  if (m->map_priv != NULL)
    lapis_json_put_text(to, "map_priv", map_spec(m->map_priv));
  for (int k = 0; k < INNER; k++) {
    const lapis_model *part = *inner_at((lapis_model *)(uintptr_t)m, k);
    if (part == NULL) continue;
    lapis_json *own = lapis_json_object();
    if (own != NULL) describe(ctx, part, own);
    lapis_json_put(to, inner[k], own);
  }
}

static char *header(lapis_ctx *ctx, const lapis_model *m)
{
  lapis_json *to = lapis_json_object();
  if (to == NULL) return NULL;
  lapis_json_put_text(to, "lapis", lapis_version());
  lapis_json_put_integer(to, "format", FORMAT);
  describe(ctx, m, to);
  char *text = lapis_json_print(to);
  lapis_json_free(to);
  return text;
}

typedef struct members { /* of the file to be written */
  int count;
  lapis_named item[MOST_MODELS * (NAMED_MAX + 2) + 1];
  char name[MOST_MODELS * (NAMED_MAX + 2) + 1][NAME_SIZE];
} members;

static void add(members *to, const char *before, const char *name,
                lapis_mat mat)
{
  char *own = to->name[to->count];
  snprintf(own, NAME_SIZE, "%s%s", before, name);
  to->item[to->count++] =
      (lapis_named){.name = own,
                    .mat = mat,
                    .flat = mat.dtype == LAPIS_TEXT && mat.rows == 1};
}

static void add_model(members *to, const lapis_model *m, const char *before)
{
  for (int i = 0; i < m->learned.count; i++)
    add(to, before, m->learned.item[i].name, m->learned.item[i].mat);
  if (m->map != NULL) add(to, before, "map", map_state(m->map));
  if (m->map_priv != NULL) add(to, before, "map_priv", map_state(m->map_priv));
  for (int k = 0; k < INNER; k++) {
    char deeper[NAME_SIZE];
    const lapis_model *part = *inner_at((lapis_model *)(uintptr_t)m, k);
    snprintf(deeper, sizeof deeper, "%s%s.", before, inner[k]);
    if (part != NULL) add_model(to, part, deeper);
  }
}

lapis_status lapis_model_save(lapis_ctx *ctx, const lapis_model *m,
                              const char *path)
{
  NEEDS(ctx, m, path);
  char *text = header(ctx, m);
  members *to = base_alloc(ctx, 1, sizeof *to);
  lapis_status s = LAPIS_OK;
  if (text == NULL || to == NULL)
    s = lapis_fail(ctx, LAPIS_ENOMEM, "out of memory");
  if (s >= 0) {
    const char *const *one = (const char *const *)&text;
    add(to, "", "lapis", lapis_mat_text(one, 1, 1));
    add_model(to, m, "");
    s = io_npz_write(ctx, path, to->item, to->count);
  }
  base_free(to);
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

/* A model of the file: at the top, or inside another. */
typedef struct place {
  const char *path;
  const lapis_json *head;
  const lapis_arrays *all;
  const char *before; /* of the names of its members */
  bool fills;
  int deep;  /* models that answer before it */
  int folds; /* models without a fold before it */
} place;

static lapis_status read_map(lapis_ctx *ctx, const place *at, const char *name,
                             lapis_map **out)
{
  char member[NAME_SIZE];
  snprintf(member, sizeof member, "%s%s", at->before, name);
  const char *spec = lapis_json_text(at->head, name, NULL);
  const lapis_array *state = lapis_arrays_find(at->all, member);
  if (spec == NULL) return LAPIS_OK;
  if (state == NULL)
    return not_a_model(ctx, at->path, "its map has no numbers");
  return map_restore(ctx, spec, &state->mat, out);
}

/* Members that begin as this model's do, and have no further stroke. */
static lapis_status read_arrays(lapis_ctx *ctx, const place *at, lapis_model *m)
{
  size_t size = strlen(at->before);
  for (int i = 0; i < at->all->count; i++) {
    const char *name = at->all->item[i].name;
    if (strncmp(name, at->before, size) != 0) continue;
    name += size;
    if (strcmp(name, "lapis") == 0 || strcmp(name, "map") == 0 ||
        strcmp(name, "map_priv") == 0 || strchr(name, '.') != NULL)
      continue;
    TRY(model_put(ctx, m, name, &at->all->item[i].mat));
  }
  return LAPIS_OK;
}

static lapis_status read_model(lapis_ctx *ctx, const place *at,
                               lapis_model **out);

static lapis_status read_inner(lapis_ctx *ctx, const place *at, lapis_model *m)
{
  for (int k = 0; k < INNER; k++) {
    const lapis_json *head = lapis_json_get(at->head, inner[k]);
    char before[NAME_SIZE];
    if (head == NULL) continue;
    if (at->fills || (k == 1 && at->deep + 1 == MOST_BESIDE) ||
        (k == 2 && (at->deep > 0 || at->folds == COVERAGE_FOLDS)) ||
        (k > 2 && *at->before != '\0'))
      return not_a_model(ctx, at->path, "models are nested too deep");
    snprintf(before, sizeof before, "%s%s.", at->before, inner[k]);
    place deeper = {at->path,
                    head,
                    at->all,
                    before,
                    k == 0,
                    at->deep + (k == 1),
                    at->folds + (k == 2)};
    TRY(read_model(ctx, &deeper, inner_at(m, k)));
  }
  return LAPIS_OK;
}

static lapis_status fill(lapis_ctx *ctx, const place *at, lapis_model *m)
{
  double features = lapis_json_number(at->head, "features", 0);
  m->features = features > 0 && features < 1e15 ? (int64_t)features : 0;
  TRY(read_settings(ctx, at->head, m));
  TRY(read_map(ctx, at, "map", &m->map));
  TRY(read_map(ctx, at, "map_priv", &m->map_priv));
  TRY(read_arrays(ctx, at, m));
  return read_inner(ctx, at, m);
}

static lapis_status read_model(lapis_ctx *ctx, const place *at,
                               lapis_model **out)
{
  const char *name = lapis_json_text(at->head, "method", "");
  const lapis_method *method = lapis_method_find(name);
  lapis_model *m;
  if (method == NULL)
    return lapis_fail(ctx, LAPIS_EFORMAT,
                      "%s: a model of method '%s', which this LAPIS lacks; use "
                      "the version that wrote it",
                      at->path, name);
  if ((at->fills || at->deep + at->folds > 0) &&
      lapis_predict_method(method) == NULL)
    return not_a_model(ctx, at->path, "a model inside it answers nothing");
  TRY(model_alloc(ctx, method, &m));
  lapis_status s = fill(ctx, at, m);
  if (s >= 0)
    *out = m;
  else
    lapis_model_free(m);
  return s;
}

static lapis_status from_header(lapis_ctx *ctx, const char *path,
                                const lapis_json *head, const lapis_arrays *all,
                                lapis_model **out)
{
  double format = lapis_json_number(head, "format", 0);
  if (strcmp(lapis_json_text(head, "kind", "model"), "model") != 0)
    return not_a_model(ctx, path,
                       "it is a checkpoint, which the command that wrote it "
                       "goes on from");
  if (format != FORMAT)
    return lapis_fail(ctx, LAPIS_EFORMAT,
                      "%s: a model of format %g; this LAPIS reads format %d: "
                      "fit it again, or use the version that wrote it",
                      path, format, FORMAT);
  place top = {path, head, all, "", false, 0, 0};
  return read_model(ctx, &top, out);
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
  MAKES(out);
  NEEDS(ctx, path, out);
  lapis_arrays all;
  TRY(lapis_arrays_read(ctx, path, &all));
  lapis_status s = from_arrays(ctx, path, &all, out);
  lapis_arrays_free(&all);
  return s;
}
