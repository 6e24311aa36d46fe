/* pipelines.c - the list of pipelines, and the doors to them: a run begins,
 * ends, and writes what it found. */
#include <stdlib.h>
#include <string.h>

#include "images/pipeline/pipeline.h"

static lapis_status lacks(lapis_ctx *ctx, const char *what)
{
  return lapis_fail(ctx, LAPIS_EINVAL, "the pipeline is given no %s (NULL)",
                    what);
}

static const flow_class *const classes[] = {&label_class, &match_class,
                                            &locate_class};
enum { CLASSES = sizeof classes / sizeof *classes };

const lapis_method *lapis_flow_find(const char *name)
{
  for (int i = 0; name != NULL && i < CLASSES; i++)
    if (strcmp(name, classes[i]->work.table->name) == 0)
      return classes[i]->work.table;
  return NULL;
}

lapis_status flow_begin(void *self, lapis_solver *s)
{
  lapis_flow *f = self;
  const lapis_method *m = f->class_->work.table;
  f->shown = s;
  TRY(lapis_settings_check_effect(f->ctx, m, f->settings, 0, NULL, NULL));
  if (f->count < f->class_->least)
    return lapis_fail(
        f->ctx, LAPIS_EMISSING,
        f->count <= 0
            ? "%s: there are no images; name image files, or folders of them"
            : "%s: there is only one image; two or more are needed",
        m->name);
  return f->class_->begin(f);
}

lapis_status lapis_flow_new(lapis_ctx *ctx, const lapis_method *pipeline,
                            const char *const *paths, int64_t count,
                            const void *settings, lapis_solver **out)
{
  const flow_class *of = NULL;
  if (out != NULL) *out = NULL;
  if (ctx == NULL) return LAPIS_EINVAL;
  if (out == NULL || (paths == NULL && count > 0))
    return lacks(ctx, "images or room");
  for (int i = 0; i < CLASSES; i++)
    if (pipeline == classes[i]->work.table) of = classes[i];
  if (of == NULL)
    return lapis_fail(ctx, LAPIS_EINVAL, "'%s' is not a pipeline",
                      pipeline == NULL ? "NULL" : pipeline->name);
  lapis_flow *f = calloc(1, sizeof *f);
  if (f != NULL) f->settings = calloc(1, pipeline->settings_size);
  if (f != NULL) f->own = calloc(1, of->own);
  lapis_status s = LAPIS_OK;
  if (f == NULL || f->settings == NULL || f->own == NULL)
    s = lapis_fail(ctx, LAPIS_ENOMEM, "%s: out of memory", pipeline->name);
  if (f == NULL) return s;
  f->ctx = ctx;
  f->class_ = of;
  f->path = paths;
  f->count = count;
  if (s >= 0) s = lapis_settings_copy(ctx, pipeline, settings, f->settings);
  if (s >= 0) return lapis_work_new(ctx, &of->work, f, f->settings, out);
  flow_free(f);
  return s;
}

/* The file stays, as of now, while the run may go on. */
static void close_checkpoint(lapis_flow *f)
{
  bool done = f->ended && !f->unwritten;
  if (f->checkpoint == NULL) return;
  if (!done) (void)lapis_checkpoint_write(f->checkpoint);
  lapis_checkpoint_free(f->checkpoint, done);
}

void flow_free(void *self)
{
  lapis_flow *f = self;
  close_checkpoint(f);
  lapis_solver_free(f->solver);
  lapis_solver_free(f->features);
  if (f->own != NULL) f->class_->forget(f);
  free(f->own);
  free(f->settings);
  left_out_free(&f->left);
  flow_vectors_free(f->vectors);
  free(f);
}

lapis_status flow_solve(void *self)
{
  lapis_flow *f = self;
  f->end = flow_clock() + f->common.seconds;
  lapis_status s = f->class_->run(f);
  f->ended = s >= 0 && s != LAPIS_CANCELLED && s != LAPIS_TIME_LIMIT;
  flow_step(f, 0, 0, NULL);
  return s;
}

static lapis_status write_arrays(const lapis_flow *f, const char *path)
{
  enum { MOST = 40 };
  lapis_named item[MOST];
  int count = 0;
  const char *name;
  while (count < MOST && (name = lapis_result_name(f->shown, count)) != NULL) {
    lapis_mat mat;
    TRY(flow_get(f, name, &mat));
    bool list = mat.rows == 1 && strcmp(name, "scores") != 0;
    item[count++] = (lapis_named){.name = name, .mat = mat, .flat = list};
  }
  return lapis_arrays_write(f->ctx, path, "npz", item, count);
}

lapis_status lapis_flow_write(const lapis_solver *s, lapis_flow_file what,
                              const char *path, const char *command)
{
  lapis_flow *f = NULL;
  for (int i = 0; i < CLASSES && f == NULL; i++)
    f = lapis_work_self(s, &classes[i]->work);
  if (f == NULL) return LAPIS_EINVAL;
  if (path == NULL) return lacks(f->ctx, "path");
  lapis_status written = LAPIS_EINVAL;
  if (what == LAPIS_FLOW_ARRAYS)
    written = write_arrays(f, path);
  else if (f->solver == NULL)
    return lapis_fail(f->ctx, written, "%s: there is no answer yet",
                      f->class_->work.table->name);
  else if (what == LAPIS_FLOW_PAGE)
    written = f->class_->page(f, path, command);
  else if (what == LAPIS_FLOW_TABLE)
    written = f->class_->table(f, path);
  else if (what == LAPIS_FLOW_SHEET)
    written = f->class_->sheet(f, path);
  else
    return lapis_fail(f->ctx, written, "%s: there is no file %d to write",
                      f->class_->work.table->name, (int)what);
  if (written < 0) f->unwritten = true;
  return written;
}
