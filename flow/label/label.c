/* label.c - images and incomplete labels -> all labels.
 *
 *   table -> features -> settings -> suspects -> completion -> where
 *
 * Features of all images and the labels that are known are completed together
 * [MC15]; settings are chosen by hiding known labels; what is learnt of the
 * features themselves (words) comes from the labelled images, unless asked
 * otherwise, so that the others are as new as they would be later. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "flow/flow.h"

/* ---- beginning ----------------------------------------------------------*/
/* Before the table is held against their names: an image that is not there, or
 * all of them where they may be left out. */
static lapis_status check_there(const lapis_flow *f)
{
  const char *gone = NULL;
  int64_t count = 0;
  for (int64_t i = 0; i < f->count; i++) {
    if (strcmp(f->path[i], "-") == 0 || access(f->path[i], F_OK) == 0) continue;
    if (gone == NULL) gone = f->path[i];
    count++;
  }
  if (count == 0 || (f->set.keep_going && count < f->count)) return LAPIS_OK;
  return lapis_fail(f->ctx, LAPIS_EIO, "%s: does not exist", gone);
}

/* People write 0 or -1 for unknown, too. */
static bool has_three_signs(const labels *l)
{
  static const char *const sign[] = {"-1", "0", "1"};
  int found = 0;
  for (int64_t k = 0; k < l->n_names && l->kind == LABEL_CLASS; k++)
    for (int i = 0; i < 3; i++) found += strcmp(l->name[k], sign[i]) == 0;
  return found == 3 && l->K == 3;
}

/* Of the names of classes, one that may mean that the class is not known. */
static const char *doubtful_name(const labels *l)
{
  for (int64_t k = 0; k < l->n_names; k++)
    if (strcmp(l->name[k], "-") == 0 || strcasecmp(l->name[k], "unknown") == 0)
      return l->name[k];
  return NULL;
}

static lapis_status read_table(lapis_flow *f)
{
  label_request r = {.path = f->set.labels,
                     .target = f->set.target,
                     .groups = f->set.groups,
                     .header = f->set.header,
                     .keep_going = f->set.keep_going,
                     .image = f->path,
                     .n = f->count};
  if (r.path == NULL)
    return lapis_fail(f->ctx, LAPIS_EINVAL,
                      "label: --labels F.csv says which labels are known");
  TRY(labels_read(f->ctx, &r, &f->given));
  if (f->given.skipped > 0)
    flow_note(f,
              "%s: %" PRId64 " rows name none of the images and are left out",
              r.path, f->given.skipped);
  if (has_three_signs(&f->given))
    flow_note(f,
              "%s: the labels -1, 0 and 1 are three classes; if one of them "
              "means unknown, leave its cells empty",
              r.path);
  const char *doubtful = doubtful_name(&f->given);
  if (doubtful != NULL)
    flow_note(f,
              "%s: '%s' is taken for a class; if it means unknown, leave its "
              "cells empty",
              r.path, doubtful);
  return LAPIS_OK;
}

static lapis_status find_kind(lapis_flow *f)
{
  const char *name = f->set.features == NULL ? "sift-bow" : f->set.features;
  f->kind = lapis_feature_find(name);
  if (f->kind != NULL) return LAPIS_OK;
  return lapis_fail(f->ctx, LAPIS_EINVAL,
                    "label: there is no kind of features '%s'; 'lapis features "
                    "--help' lists them",
                    name);
}

/* ---- features -----------------------------------------------------------*/
static bool is_labelled(const labels *l, int64_t i)
{
  for (int64_t c = 0; c < l->rows; c++)
    if (!isnan(l->Y[i * l->rows + c])) return true;
  return false;
}

static lapis_status make_features(lapis_flow *f)
{
  bool *study = calloc((size_t)f->count, sizeof *study);
  if (study == NULL) return flow_no_memory(f);
  for (int64_t i = 0; i < f->count; i++)
    study[i] = f->set.words_from == 1 || is_labelled(&f->given, i);
  lapis_status s = flow_features(f, f->kind, f->set.kind, study);
  free(study);
  return s;
}

/* ---- data of the images that could be read ------------------------------*/
/* names are the paths themselves, in their order. */
static void find_places(lapis_flow *f)
{
  const char *const *name = f->names.val;
  for (int64_t i = 0, at = 0; i < f->n; i++, at++) {
    while (f->path[at] != name[i]) at++;
    f->at[i] = at;
  }
}

static lapis_status take_data(lapis_flow *f)
{
  const labels *l = &f->given;
  int64_t n = f->n = f->names.cols, known = 0;
  f->at = calloc((size_t)n, sizeof *f->at);
  f->Y = malloc((size_t)(n * l->rows) * sizeof *f->Y);
  f->known = calloc((size_t)n, 1);
  f->group = calloc((size_t)n, sizeof *f->group);
  if (f->at == NULL || f->Y == NULL || f->known == NULL || f->group == NULL)
    return flow_no_memory(f);
  find_places(f);
  for (int64_t i = 0; i < n; i++) {
    const double *y = l->Y + f->at[i] * l->rows;
    memcpy(f->Y + i * l->rows, y, (size_t)l->rows * sizeof *y);
    if (l->group != NULL) f->group[i] = l->group[f->at[i]];
    known += f->known[i] = is_labelled(l, f->at[i]);
  }
  f->data.Y = lapis_mat_f64(f->Y, l->rows, n);
  f->data.group = l->group != NULL ? f->group : NULL;
  flow_publish(
      f, "known",
      (lapis_mat){
          .dtype = LAPIS_U8, .rows = 1, .cols = n, .ld = 1, .val = f->known});
  flow_publish(f, "classes", flow_text(l->name, l->n_names));
  if (known > 0) return LAPIS_OK;
  return lapis_fail(f->ctx, LAPIS_EMISSING,
                    "label: none of the images that could be read is labelled");
}

/* ---- completing ---------------------------------------------------------*/
static lapis_status complete(lapis_flow *f)
{
  flow_allow(f, 1);
  lapis_status s = lapis_mc_new(f->ctx, &f->data, &f->mc, &f->solver);
  if (s >= 0) s = lapis_solve(f->solver);
  if (s < 0 || s == LAPIS_CANCELLED) return s;
  lapis_mat mat;
  TRY(lapis_result_get(f->solver, "scores", &mat));
  flow_publish(f, "scores", mat);
  TRY(lapis_result_get(f->solver, "low_rank", &mat));
  flow_publish(f, "low_rank", mat);
  lapis_status next = label_answer(f);
  return next < 0 ? next : s;
}

/* What ends a run: a failure, or a stop that leaves nothing to go on with. */
static bool ends(lapis_status s)
{
  return s < 0 || s == LAPIS_CANCELLED;
}

static lapis_status run(lapis_flow *f)
{
  lapis_status s = make_features(f);
  if (s != LAPIS_OK) return s;
  s = take_data(f);
  if (!ends(s)) s = label_prepare(f);
  if (!ends(s)) s = label_choose(f);
  if (!ends(s)) s = label_suspects(f);
  if (ends(s)) return s;
  s = complete(f);
  if (ends(s) || !f->set.where) return s;
  lapis_status where = label_where(f);
  return where != LAPIS_OK ? where : s;
}

static void forget(lapis_flow *f)
{
  free(f->Y);
  free(f->X);
  free(f->group);
  free(f->at);
  free(f->known);
  free((void *)f->label);
  free(f->label_pool);
  free(f->suspect);
  free(f->margin);
  free(f->held_out);
  free((void *)f->rather);
  free(f->mask);
  free(f->places.box);
  free(f->places.image);
  free(f->places.class_);
  labels_free(&f->given);
}

static const flow_class label_class = {.table = &label_method,
                                       .least = 1,
                                       .page = label_page,
                                       .run = run,
                                       .forget = forget};

lapis_status lapis_label_new(lapis_ctx *ctx, const char *const *paths,
                             int64_t count,
                             const lapis_label_settings *settings,
                             lapis_flow **out)
{
  lapis_flow *f;
  TRY(flow_new(ctx, &label_class, FLOW_COMMON(settings), paths, count, out));
  f = *out;
  f->set = *settings;
  lapis_status s = find_kind(f);
  if (s >= 0) s = label_check_where(f);
  if (s >= 0 && f->set.labels != NULL) s = check_there(f);
  if (s >= 0) s = read_table(f);
  return flow_made(s, out);
}
