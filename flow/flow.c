/* flow.c - what the pipelines share: a run, its features, named arrays. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "flow.h"

/* ---- small things -------------------------------------------------------*/
lapis_status flow_no_memory(const lapis_flow *f)
{
  return lapis_fail(f->ctx, LAPIS_ENOMEM, "%s: out of memory",
                    f->class_->table->name);
}

double flow_clock(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void flow_allow(lapis_flow *f, double share)
{
  double left = f->end - flow_clock();
  lapis_ctx_limit(f->ctx, fmax(left, 0) * share);
}

void flow_publish(lapis_flow *f, const char *name, lapis_mat mat)
{
  int i = 0;
  while (i < f->n_arrays && strcmp(f->array[i].name, name) != 0) i++;
  if (i == FLOW_ARRAYS) return;
  if (i == f->n_arrays) f->n_arrays++;
  f->array[i].name = name;
  f->array[i].mat = mat;
}

void flow_note(lapis_flow *f, const char *format, ...)
{
  if (f->n_notes == FLOW_NOTES) return;
  va_list args;
  va_start(args, format);
  vsnprintf(f->note[f->n_notes], FLOW_NOTE, format, args);
  va_end(args);
  f->note_at[f->n_notes] = f->note[f->n_notes];
  f->n_notes++;
  flow_publish(f, "notes", lapis_mat_text(f->note_at, 1, f->n_notes));
}

void flow_notes_of(lapis_flow *f, const lapis_solver *s)
{
  lapis_mat notes;
  if (lapis_result_get(s, "notes", &notes) < 0) return;
  for (int64_t k = 0; k < notes.cols; k++)
    flow_note(f, "%s",
              ((const char *const *)notes.val)[notes.rows * (k + 1) - 1]);
}

lapis_status flow_lacks(lapis_ctx *ctx, const char *what)
{
  return lapis_fail(ctx, LAPIS_EINVAL, "the pipeline is given no %s (NULL)",
                    what);
}

lapis_status flow_needs(lapis_ctx *ctx, const char *const *paths, int64_t count,
                        lapis_flow **out)
{
  if (out != NULL) *out = NULL;
  if (ctx == NULL) return LAPIS_EINVAL;
  bool there = out != NULL && (paths != NULL || count <= 0);
  return there ? LAPIS_OK : flow_lacks(ctx, "images or room");
}

/* ---- beginning and end --------------------------------------------------*/
lapis_status flow_new(lapis_ctx *ctx, const flow_class *class_,
                      const flow_common *set, const char *const *paths,
                      int64_t count, lapis_flow **out)
{
  *out = NULL;
  if (count < class_->least)
    return lapis_fail(
        ctx, LAPIS_EMISSING,
        count == 0
            ? "%s: there are no images; name image files, or folders of them"
            : "%s: there is one image; it takes two or more",
        class_->table->name);
  lapis_flow *f = calloc(1, sizeof *f);
  if (f == NULL)
    return lapis_fail(ctx, LAPIS_ENOMEM, "%s: out of memory",
                      class_->table->name);
  f->ctx = ctx;
  f->class_ = class_;
  f->path = paths;
  f->count = count;
  f->common = *set;
  *out = f;
  return LAPIS_OK;
}

lapis_status flow_made(lapis_status s, lapis_flow **out)
{
  if (s >= 0) return s;
  lapis_flow_free(*out);
  *out = NULL;
  return s;
}

void lapis_flow_settle(lapis_flow *f)
{
  if (f == NULL) return;
  f->settled = f->ended;
}

/* The file stays, as of now, while the run may go on. */
static void close_checkpoint(lapis_flow *f)
{
  if (f->checkpoint == NULL) return;
  if (!f->settled && lapis_checkpoint_write(f->checkpoint) < 0)
    flow_note(f, "the checkpoint could not be written");
  lapis_checkpoint_free(f->checkpoint, f->settled);
}

void lapis_flow_free(lapis_flow *f)
{
  if (f == NULL) return;
  close_checkpoint(f);
  lapis_solver_free(f->solver);
  lapis_solver_free(f->features);
  f->class_->forget(f);
  left_out_free(&f->left);
  flow_vectors_free(f->vectors);
  free(f);
}

lapis_status lapis_flow_run(lapis_flow *f)
{
  if (f == NULL) return LAPIS_EINVAL;
  f->end = flow_clock() + f->common.seconds;
  lapis_status s = f->class_->run(f);
  f->ended = s >= 0 && s != LAPIS_CANCELLED && s != LAPIS_TIME_LIMIT;
  flow_step(f, 0, 0, NULL);
  return s;
}

void flow_step(lapis_flow *f, int k, int n, const char *what)
{
  char text[96];
  snprintf(text, sizeof text, "%s %d of %d: %s", f->class_->table->name, k, n,
           what == NULL ? "" : what);
  lapis_ctx_phase(f->ctx, what == NULL ? NULL : text);
}

/* ---- features -----------------------------------------------------------*/
/* The folder for features; NULL: none. */
static const char *cache_folder(const lapis_flow *f, char *text, size_t size)
{
  const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  if (f->common.no_cache) return NULL;
  if (f->common.cache != NULL) return f->common.cache;
  if (cache != NULL && *cache == '/')
    snprintf(text, size, "%s/lapis", cache);
  else if (home != NULL && *home == '/')
    snprintf(text, size, "%s/.cache/lapis", home);
  else
    return NULL;
  return text;
}

bool flow_pass_on(lapis_flow *f, const lapis_solver *from, const char *name)
{
  lapis_mat mat;
  for (int i = 0; lapis_result_name(from, i) != NULL; i++)
    if (strcmp(lapis_result_name(from, i), name) == 0 &&
        lapis_result_get(from, name, &mat) >= 0) {
      flow_publish(f, name, mat);
      return true;
    }
  return false;
}

lapis_status flow_features_of(lapis_flow *f, const flow_kinds *kinds,
                              const bool *study, const char *const *path,
                              int64_t count, bool keep_going,
                              lapis_solver **out)
{
  char folder[4096];
  lapis_features_options o = {.size = sizeof o,
                              .keep_going = keep_going,
                              .cache = cache_folder(f, folder, sizeof folder),
                              .study = study};
  flow_allow(f, 1);
  lapis_status s =
      kinds->count == 1
          ? lapis_features_new(f->ctx, kinds->kind[0], kinds->settings[0], path,
                               count, &o, out)
          : lapis_features_joined_new(f->ctx, kinds->kind, kinds->settings,
                                      kinds->count, path, count, &o, out);
  return s < 0 ? s : lapis_solve(*out);
}

lapis_status flow_features(lapis_flow *f, const flow_kinds *kinds,
                           const bool *study)
{
  lapis_status s = flow_features_of(f, kinds, study, f->path, f->count,
                                    f->common.keep_going, &f->features);
  if (s != LAPIS_OK) return s;
  flow_pass_on(f, f->features, "image_size");
  flow_pass_on(f, f->features, "refused");
  flow_pass_on(f, f->features, "names");
  lapis_flow_get(f, "names", &f->names);
  lapis_flow_get(f, "image_size", &f->size);
  f->n = f->names.cols;
  return LAPIS_OK;
}

/* ---- results ------------------------------------------------------------*/
lapis_status lapis_flow_get(const lapis_flow *f, const char *name,
                            lapis_mat *out)
{
  if (f == NULL) return LAPIS_EINVAL;
  if (name == NULL || out == NULL) return flow_lacks(f->ctx, "name or room");
  for (int i = 0; i < f->n_arrays; i++) {
    if (strcmp(f->array[i].name, name) != 0) continue;
    *out = f->array[i].mat;
    return LAPIS_OK;
  }
  *out = (lapis_mat){.cols = 0};
  return lapis_fail(f->ctx, LAPIS_EINVAL, "%s: there is no result '%s'",
                    f->class_->table->name, name);
}

const char *lapis_flow_name(const lapis_flow *f, int i)
{
  return f != NULL && i >= 0 && i < f->n_arrays ? f->array[i].name : NULL;
}

const lapis_solver *lapis_flow_solver(const lapis_flow *f)
{
  return f == NULL ? NULL : f->solver;
}

const lapis_data *lapis_flow_data(const lapis_flow *f)
{
  return f == NULL || f->solver == NULL ? NULL : &f->data;
}

lapis_status lapis_flow_write(const lapis_flow *f, const char *path)
{
  lapis_named item[FLOW_ARRAYS];
  if (f == NULL) return LAPIS_EINVAL;
  for (int i = 0; i < f->n_arrays; i++) {
    const lapis_mat *m = &f->array[i].mat;
    bool list = m->rows == 1 && strcmp(f->array[i].name, "scores") != 0;
    item[i] = (lapis_named){.name = f->array[i].name, .mat = *m, .flat = list};
  }
  return lapis_arrays_write(f->ctx, path, "npz", item, f->n_arrays);
}

lapis_status lapis_flow_page(const lapis_flow *f, const char *path,
                             const char *command)
{
  if (f == NULL) return LAPIS_EINVAL;
  if (path == NULL) return flow_lacks(f->ctx, "path");
  if (f->solver != NULL) return f->class_->page(f, path, command);
  return lapis_fail(f->ctx, LAPIS_EINVAL, "%s: there is no answer yet",
                    f->class_->table->name);
}
