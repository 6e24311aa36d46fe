/* label.c - images and incomplete labels -> all labels.
 *
 *   table -> features -> settings -> suspects -> completion -> where
 *
 * Features of all images and the labels that are known are completed together
 * [MC15]; settings are chosen by hiding known labels; what is learnt of the
 * features themselves (words) comes from the labelled images, unless asked
 * otherwise, so that the others are as new as they would be later. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "images/label/label.h"

/* ---- beginning ----------------------------------------------------------*/
/* Before the table is held against their names: an image that is not there, or
 * all of them where they may be left out. */
static lapis_status check_there(const label_run *w)
{
  const char *gone = NULL;
  int64_t count = 0;
  for (int64_t i = 0; i < w->flow->count; i++) {
    if (strcmp(w->flow->path[i], "-") == 0 ||
        access(w->flow->path[i], F_OK) == 0)
      continue;
    if (gone == NULL) gone = w->flow->path[i];
    count++;
  }
  if (count == 0 || (w->set.keep_going && count < w->flow->count))
    return LAPIS_OK;
  return lapis_fail(w->flow->ctx, LAPIS_EIO,
                    count == w->flow->count
                        ? "%s: does not exist; is it spelt right?"
                        : "%s: does not exist; --keep-going leaves out images "
                          "that are not there",
                    gone);
}

/* People write 0 or -1 for unknown, too. */
static bool has_three_signs(const labels *table)
{
  static const char *const sign[] = {"-1", "0", "1"};
  int found = 0;
  for (int64_t k = 0; k < table->n_names && table->kind == LABEL_CLASS; k++)
    for (int i = 0; i < 3; i++) found += strcmp(table->name[k], sign[i]) == 0;
  return found == 3 && table->K == 3;
}

/* Of the names of classes, one that may mean that the class is not known. */
static const char *doubtful_name(const labels *table)
{
  bool plus = false;
  for (int64_t k = 0; k < table->n_names; k++)
    plus = plus || strcmp(table->name[k], "+") == 0;
  for (int64_t k = 0; k < table->n_names; k++)
    if (lapis_text_unsure(table->name[k]) &&
        !(plus && strcmp(table->name[k], "-") == 0))
      return table->name[k];
  return NULL;
}

/* Images that are given class k. */
static int64_t count_of(const labels *given, int64_t k)
{
  int64_t count = 0;
  bool many = given->rows > 1;
  for (int64_t i = 0; i < given->n; i++) {
    double y = given->Y[i * given->rows + (many ? k : 0)];
    bool first = given->kind == LABEL_TWO && k == 0;
    count += given->kind == LABEL_CLASS ? y == (double)k
             : first                    ? y < 0
                                        : y > 0;
  }
  return count;
}

static lapis_status tell_twins(label_run *w, const char *path)
{
  enum { BYTES = 512 };
  const labels *given = &w->given;
  char both[BYTES], write[BYTES];
  bool folders = w->set.folder_is_class;
  int64_t *times = malloc((size_t)(given->n_names + 1) * sizeof *times);
  if (times == NULL) return flow_no_memory(w->flow);
  for (int64_t k = 0; k < given->n_names; k++) times[k] = count_of(given, k);
  int64_t twins = lapis_text_twins(given->name, given->n_names, times, "and",
                                   both, sizeof both);
  (void)lapis_text_twins(given->name, given->n_names, times,
                         folders ? "into" : "as", write, sizeof write);
  free(times);
  if (twins > 0)
    flow_remark(w->flow, "classes-alike",
                folders ? "%s: the classes %s differ in case or blanks alone; "
                          "if they are one, move the images of folder %s"
                        : "%s: the classes %s differ in case or blanks alone; "
                          "if they are one, write %s in this table",
                path, both, write);
  return LAPIS_OK;
}

/* A class of one image, unless it is another one in other letters. */
static void tell_rare(const label_run *w, const char *path)
{
  const labels *given = &w->given;
  for (int64_t k = 0; k < given->n_names && given->kind == LABEL_CLASS; k++)
    if (count_of(given, k) == 1 &&
        lapis_text_twin(given->name, given->n_names, k) < 0)
      flow_remark(w->flow, "class-of-one",
                  "%s: the class \"%.60s\" has one image alone, so that its "
                  "label cannot be doubted; is it spelt right?",
                  path, given->name[k]);
}

static lapis_status read_table(label_run *w)
{
  label_request r = {.path = w->set.labels,
                     .target = w->set.target,
                     .groups = w->set.groups,
                     .missing = w->set.missing,
                     .header = w->set.header,
                     .keep_going = w->set.keep_going,
                     .image = w->flow->path,
                     .n = w->flow->count};
  if (r.path != NULL && w->set.folder_is_class)
    return lapis_fail(w->flow->ctx, LAPIS_EINVAL,
                      "label: --labels and --folder-is-class both say which "
                      "labels are known; give one of them");
  if (w->set.folder_is_class && (r.target != NULL || r.groups != NULL))
    return lapis_fail(w->flow->ctx, LAPIS_EINVAL,
                      "label: --target and --groups name columns of a table; "
                      "with --folder-is-class there is none");
  r.folders = w->set.folder_is_class;
  if (r.folders) r.path = "the folders of the images";
  if (r.path == NULL)
    return lapis_fail(w->flow->ctx, LAPIS_EINVAL,
                      "label: --labels F.csv says which labels are known, on "
                      "each line the name of an image and its label; or "
                      "--folder-is-class, where the folder of an image does");
  TRY(labels_read(w->flow->ctx, &r, &w->given));
  if (w->given.skipped > 0) {
    flow_publish(w->flow, "rows_left_out",
                 lapis_mat_i64(&w->given.skipped, 1, 1));
    flow_remark(w->flow, "rows-left-out",
                "%s: %" PRId64
                " row(s) left out: none of the images is so named",
                r.path, w->given.skipped);
  }
  if (w->given.filled > 0)
    flow_remark(
        w->flow, "filled",
        "%s: %" PRId64
        " label(s) not taken as given: column origin says filled; write "
        "given there, or yes in a column checked, where a person has "
        "decided",
        r.path, w->given.filled);
  if (w->given.repeating != NULL)
    flow_remark(w->flow, "groups",
                "%s: column %s has %" PRId64
                " different values, each of several images; if each is one "
                "person, scene or video, give {groups %s} where images of "
                "others are to be labelled: images of one then stay together "
                "when labels are hidden, so the figures hold for others, too",
                r.path, w->given.repeating, w->given.repeated,
                w->given.repeating);
  if (has_three_signs(&w->given))
    flow_remark(w->flow, "three-signs",
                "%s: the labels -1, 0 and 1 are three classes; if one of them "
                "means unknown, leave its cells empty",
                r.path);
  const char *doubtful = doubtful_name(&w->given);
  if (doubtful != NULL)
    flow_remark(w->flow, "unknown-class",
                "%s: '%s' is taken for a class; if it means unknown, leave its "
                "cells empty",
                r.path, doubtful);
  TRY(tell_twins(w, r.path));
  tell_rare(w, r.path);
  return LAPIS_OK;
}

/* ---- features -----------------------------------------------------------*/
static bool is_labelled(const labels *table, int64_t i)
{
  for (int64_t c = 0; c < table->rows; c++)
    if (!isnan(table->Y[i * table->rows + c])) return true;
  return false;
}

static lapis_status make_features(label_run *w)
{
  if (w->table != NULL)
    return flow_vectors_read(w->flow, w->table, w->set.names, &w->made);
  bool *study = calloc((size_t)w->flow->count, sizeof *study);
  if (study == NULL) return flow_no_memory(w->flow);
  for (int64_t i = 0; i < w->flow->count; i++)
    study[i] = w->set.words_from == 1 || is_labelled(&w->given, i);
  lapis_status s = flow_features(w->flow, &w->kinds, study);
  free(study);
  return s;
}

/* ---- data of the images that could be read ------------------------------*/
/* Names are paths in their order, those that could be read. */
static lapis_status find_paths(label_run *w)
{
  const lapis_flow *f = w->flow;
  const char *const *name = f->names.val;
  int64_t at = 0;
  for (int64_t i = 0; i < f->n; i++, at++) {
    while (at < f->count && strcmp(f->path[at], name[i]) != 0) at++;
    if (at == f->count)
      return lapis_fail(f->ctx, LAPIS_EINVAL,
                        "label: %s has features but is not one of the images",
                        name[i]);
    w->path_at[i] = at;
  }
  return LAPIS_OK;
}

/* Some of the labels that image i may have are given, and others are not. */
static bool is_partly_given(const label_run *w, int64_t i)
{
  int64_t given = 0, rows = w->given.rows;
  for (int64_t c = 0; c < rows; c++) given += !isnan(w->Y[i * rows + c]);
  return given > 0 && given < rows;
}

/* What a person has checked counts for two of what nobody has; all known labels
 * together weigh as if they were alike (bench/results/ask.md). */
static lapis_status weigh_checked(label_run *w)
{
  double known = 0, sum = 0;
  for (int64_t i = 0; i < w->flow->n; i++) {
    known += w->known[i];
    sum += w->known[i] * (1 + w->checked[i]);
  }
  if (!(sum > known)) return LAPIS_OK;
  w->weight = malloc((size_t)w->flow->n * sizeof *w->weight);
  if (w->weight == NULL) return flow_no_memory(w->flow);
  for (int64_t i = 0; i < w->flow->n; i++)
    w->weight[i] = (1 + w->known[i] * w->checked[i]) * known / sum;
  w->flow->data.weight = w->weight;
  return LAPIS_OK;
}

static lapis_status take_data(label_run *w)
{
  const labels *table = &w->given;
  int64_t n = w->flow->n = w->flow->names.cols, known = 0;
  w->path_at = calloc((size_t)n, sizeof *w->path_at);
  w->Y = malloc((size_t)(n * table->rows) * sizeof *w->Y);
  w->known = calloc((size_t)n, 1);
  w->partly = calloc((size_t)n, 1);
  w->checked = calloc((size_t)n, 1);
  w->group = calloc((size_t)n, sizeof *w->group);
  if (w->path_at == NULL || w->Y == NULL || w->known == NULL ||
      w->partly == NULL || w->checked == NULL || w->group == NULL)
    return flow_no_memory(w->flow);
  TRY(find_paths(w));
  for (int64_t i = 0; i < n; i++) {
    const double *y = table->Y + w->path_at[i] * table->rows;
    memcpy(w->Y + i * table->rows, y, (size_t)table->rows * sizeof *y);
    if (table->group != NULL) w->group[i] = table->group[w->path_at[i]];
    known += w->known[i] = is_labelled(table, w->path_at[i]);
    w->partly[i] = is_partly_given(w, i);
    if (table->checked != NULL) w->checked[i] = table->checked[w->path_at[i]];
  }
  w->flow->data.Y = lapis_mat_f64(w->Y, table->rows, n);
  w->flow->data.group = table->group != NULL ? w->group : NULL;
  if (table->kind != LABEL_MANY)
    w->flow->data.words = lapis_mat_text(table->name, 1, table->n_names);
  TRY(weigh_checked(w));
  if (w->table == NULL) TRY(label_find_twins(w));
  flow_publish(w->flow, "known", lapis_mat_u8(w->known, 1, n));
  flow_publish(w->flow, "partly", lapis_mat_u8(w->partly, 1, n));
  flow_publish(w->flow, "classes",
               lapis_mat_text(table->name, 1, table->n_names));
  w->chosen = w->table != NULL ? "table" : w->set.features;
  if (!w->is_auto)
    flow_publish(w->flow, "features", lapis_mat_text(&w->chosen, 1, 1));
  if (known > 0) return LAPIS_OK;
  return lapis_fail(w->flow->ctx, LAPIS_EMISSING,
                    "label: none of the images that could be read is labelled; "
                    "write the labels of some of them into the table");
}

/* ---- going on later -----------------------------------------------------*/
/* Settings that decide nothing beyond the data, or nothing at all, are the same
 * for every run. */
static lapis_label_settings that_decide(const label_run *w)
{
  lapis_label_settings set = w->set, none;
  lapis_settings_default(&label_method, &none);
  set.labels = set.target = set.groups = set.features = set.names = NULL;
  set.missing = NULL;
  set.header = none.header;
  set.words_from = none.words_from;
  set.suspects = none.suspects;
  set.pictures = none.pictures;
  set.ask = none.ask;
  set.folder_is_class = false;
  set.cache = set.checkpoint = set.again = NULL;
  set.no_cache = set.keep_going = false;
  return set;
}

/* A run of the same features, labels and settings goes on where it was. */
static lapis_status open_checkpoint(label_run *w)
{
  if (w->set.checkpoint == NULL) return LAPIS_OK;
  lapis_label_settings set = that_decide(w);
  return lapis_checkpoint_new(w->flow->ctx, w->set.checkpoint, &label_method,
                              &w->flow->data, &set, NULL, 0,
                              &w->flow->checkpoint);
}

/* What ends a run: a failure, or a stop that leaves nothing to go on with. */
static bool ends(lapis_status s)
{
  return s < 0 || s == LAPIS_CANCELLED;
}

static lapis_status run(lapis_flow *f)
{
  label_run *w = f->own;
  int steps = w->set.where ? 5 : 4;
  flow_step(f, 1, steps,
            w->table != NULL ? "reading vectors" : "describing images");
  lapis_status s = make_features(w);
  if (s != LAPIS_OK) return s;
  flow_step(f, 2, steps, "choosing settings");
  s = take_data(w);
  if (!ends(s)) s = label_prepare(w);
  if (!ends(s)) s = open_checkpoint(w);
  flow_allow(f, .5);
  if (!ends(s))
    s = w->is_auto ? label_compare_kinds(w, steps) : label_compare(w);
  if (ends(s)) return s;
  flow_step(f, 3, steps, "looking for wrong labels");
  s = label_doubts(w);
  if (ends(s)) return s;
  flow_step(f, 4, steps, "completing labels");
  s = label_complete(w);
  if (ends(s) || !w->set.where) return s;
  flow_step(f, 5, steps, "looking where");
  lapis_status where = label_where(w);
  return where != LAPIS_OK ? where : s;
}

/* What is wrong with the table is told beside what is wrong with the images, so
 * that both can be mended at once. */
static lapis_status fail_both(label_run *w, lapis_status status)
{
  enum { NAMED = 5, ROOM = 1024 };
  const lapis_flow *f = w->flow;
  char said[2 * ROOM], text[ROOM] = "";
  int64_t count = 0;
  if (status != LAPIS_EDATA || w->table != NULL) return status;
  snprintf(said, sizeof said, "%s", lapis_ctx_error(f->ctx));
  for (int64_t i = 0; i < f->count; i++) {
    if (lapis_image_check(f->ctx, f->path[i]) >= 0) continue;
    size_t used = strlen(text);
    if (count++ <= NAMED)
      snprintf(text + used, ROOM - used, "%s%.150s", count > 1 ? ", " : "",
               count > NAMED ? "..." : f->path[i]);
  }
  return count == 0 ? lapis_fail(f->ctx, status, "%s", said)
                    : lapis_fail(f->ctx, status,
                                 "%s; and %" PRId64 " of %" PRId64
                                 " images cannot be used: %s",
                                 said, count, f->count, text);
}

static void forget(lapis_flow *f)
{
  label_run *w = f->own;
  lapis_solver_free(w->chooser);
  free(w->scores);
  for (int k = 0; k < LABEL_CANDIDATES; k++) free(w->picked[k]);
  for (int k = 0; k < FLOW_KINDS; k++) free(w->own_settings[k]);
  free(w->add);
  free(w->Y);
  free(w->group);
  free(w->path_at);
  free(w->known);
  free(w->partly);
  free(w->checked);
  free(w->weight);
  free((void *)w->answer);
  free(w->answer_pool);
  free(w->suspect);
  free(w->doubt);
  free(w->held_out);
  free(w->asked);
  free(w->asked_margin);
  free((void *)w->rather);
  free(w->mask);
  free(w->places.box);
  free(w->places.heat);
  free(w->places.image);
  free(w->places.class_);
  labels_free(&w->given);
  lapis_arrays_free(&w->again);
}

static lapis_status begin(lapis_flow *f)
{
  label_run *w = f->own;
  w->flow = f;
  w->set = *(const lapis_label_settings *)f->settings;
  f->common = FLOW_COMMON(&w->set);
  TRY(label_find_kinds(w));
  TRY(label_again(w));
  TRY(label_check_where(w));
  if (w->set.labels != NULL || w->set.folder_is_class) TRY(check_there(w));
  lapis_status s = read_table(w);
  return s < 0 ? fail_both(w, s) : s;
}

const flow_class label_class = {.work = FLOW_WORK(label_method),
                                .least = 1,
                                .own = sizeof(label_run),
                                .begin = begin,
                                .run = run,
                                .forget = forget,
                                .page = label_page,
                                .table = label_table_write,
                                .sheet = label_sheet_write};
