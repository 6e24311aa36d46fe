/* pipeline.c - what the pipelines share: a run, its features, named arrays. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pipeline.h"

/* ---- small things -------------------------------------------------------*/
lapis_status flow_no_memory(const lapis_flow *f)
{
  return lapis_fail(f->ctx, LAPIS_ENOMEM, "%s: out of memory",
                    f->class_->work.table->name);
}

double flow_clock(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

lapis_status flow_stops(const lapis_flow *f)
{
  if (flow_clock() > f->end) return LAPIS_TIME_LIMIT;
  return lapis_ctx_must_stop(f->ctx) ? LAPIS_CANCELLED : LAPIS_OK;
}

void flow_allow(lapis_flow *f, double share)
{
  double left = f->end - flow_clock();
  lapis_ctx_limit(f->ctx, fmax(left, 0) * share);
}

void flow_publish(lapis_flow *f, const char *name, lapis_mat mat)
{
  lapis_work_publish(f->shown, name, mat);
}

lapis_status flow_get(const lapis_flow *f, const char *name, lapis_mat *out)
{
  return lapis_result_get(f->shown, name, out);
}

void flow_answers(lapis_flow *f)
{
  lapis_work_answer_by(f->shown, f->solver, &f->data);
}

/* ---- beginning and end --------------------------------------------------*/

void flow_step(lapis_flow *f, int k, int n, const char *what)
{
  char text[96];
  snprintf(text, sizeof text, "%s %d of %d: %s", f->class_->work.table->name, k,
           n, what == NULL ? "" : what);
  lapis_ctx_phase(f->ctx, what == NULL ? NULL : text);
  f->step = f->said = flow_clock();
}

lapis_status flow_done(lapis_flow *f, double share)
{
  static const double EVERY = .1; /* seconds */
  double now = flow_clock();
  if (now - f->said >= EVERY) {
    f->said = now;
    lapis_ctx_done(f->ctx, share, now - f->step);
  }
  return flow_stops(f);
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
  flow_get(f, "names", &f->names);
  flow_get(f, "image_size", &f->size);
  f->n = f->names.cols;
  return LAPIS_OK;
}

/* ---- what is written ----------------------------------------------------*/
