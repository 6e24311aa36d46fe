/* run.c - many images, several at a time; what comes out does not depend on
 * which of them was done first.
 *
 * Images are taken in batches; the threads share a batch, each with a context
 * of its own, and what an image gives goes into its slot.  Between batches one
 * thread looks at the slots in their order, so the first image refused is the
 * same for any number of threads. */
#include "images/features/run.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "images/features/cache.h"
#include "images/features/how_made.h"

enum { BATCH_A_THREAD = 4 };

bool feature_is_single(const feature_kind *kind)
{
  return kind->array[0].group == NULL && kind->array[0].start == NULL;
}

static void release_result(feature_job *j)
{
  for (int k = 0; k < FEATURE_ARRAYS; k++) {
    base_free(j->whole[k].val);
    base_free(j->start[k]);
    base_free(j->group[k]);
    j->whole[k] = (lapis_mat){0};
    j->start[k] = j->group[k] = NULL;
  }
  made_release(j);
  base_free(j->image_size);
  base_free(j->names);
  base_free(j->refused);
  j->image_size = NULL;
  j->names = j->refused = NULL;
}

static void release_slots(feature_job *j)
{
  for (int64_t i = 0; j->slot != NULL && i < j->count; i++) {
    feature_slot *s = &j->slot[i];
    feature_piece_free(&s->piece);
    base_free(s->sentence);
    *s = (feature_slot){0};
  }
}

void run_release(feature_job *j)
{
  release_result(j);
  release_slots(j);
  base_free(j->slot);
  base_free(j->shelf);
  for (int t = 0; j->own != NULL && t < j->threads; t++)
    lapis_ctx_free(j->own[t]);
  base_free(j->own);
}

lapis_status run_prepare(feature_job *j)
{
  lapis_ctx *ctx = j->base.ctx;
  j->threads = base_threads(ctx);
  j->slot = base_alloc(ctx, j->count, sizeof *j->slot);
  j->own = base_alloc(ctx, j->threads, sizeof *j->own);
  if (j->slot == NULL || j->own == NULL) return LAPIS_ENOMEM;
  for (int t = 0; t < j->threads; t++) {
    j->own[t] = base_ctx_branch(ctx);
    if (j->own[t] == NULL) return LAPIS_ENOMEM;
  }
  return LAPIS_OK;
}

/* ---- one image ----------------------------------------------------------*/
static lapis_status look(feature_job *j, feature_pass pass, feature_view *v,
                         feature_slot *s)
{
  lapis_image image;
  lapis_status read = lapis_image_read(v->ctx, j->path[v->index], &image);
  if (read == LAPIS_ESTOPPED) return LAPIS_CANCELLED;
  TRY(read);
  v->image = &image;
  s->width = image.width;
  s->height = image.height;
  lapis_status status =
      base_must_stop(v->ctx) ? LAPIS_CANCELLED : pass(j, v, &s->piece);
  lapis_image_free(&image);
  v->image = NULL;
  return status;
}

static bool is_studied(const feature_job *j, int64_t index)
{
  return j->studied == NULL || j->studied[index];
}

static void take(feature_job *j, feature_pass pass, int64_t index)
{
  feature_slot *s = &j->slot[index];
  feature_view v = {.ctx = j->own[omp_get_thread_num()], .index = index};
  bool making = pass == j->kind->make;
  if (s->status < 0 || (!making && !is_studied(j, index))) return;
  s->unfinished = base_must_stop(v.ctx);
  if (s->unfinished) return;
  if (making && cache_take(j, v.ctx, index, s)) return;
  s->status = look(j, pass, &v, s);
  if (s->status > 0) { /* gave up */
    s->unfinished = true;
    s->status = LAPIS_OK;
    feature_piece_free(&s->piece);
    return;
  }
  if (s->status >= 0 && making) cache_put(j, v.ctx, index, s);
  if (s->status >= 0) return;
  feature_piece_free(&s->piece);
  s->sentence = base_strdup(NULL, lapis_ctx_error(v.ctx));
}

/* ---- all of them --------------------------------------------------------*/
/* An image's own fault, which the others need not pay for. */
static bool is_refusal(lapis_status s)
{
  return s == LAPIS_EIO || s == LAPIS_EFORMAT || s == LAPIS_EDATA ||
         s == LAPIS_ESHAPE || s == LAPIS_EMISSING || s == LAPIS_ENOTBUILT;
}

static bool fails(const feature_job *j, const feature_slot *s)
{
  return s->status < 0 && !(j->keep_going && is_refusal(s->status));
}

/* Names of the others of images first .. last - 1 that are refused, as many as
 * there is room for; how many there are. */
static int64_t name_others(const feature_job *j, int64_t first, int64_t last,
                           char *text, size_t size)
{
  int64_t others = 0;
  size_t used = 0;
  bool room = true;
  text[0] = '\0';
  for (int64_t i = first; i < last; i++) {
    if (!is_refusal(j->slot[i].status)) continue;
    size_t more = strlen(j->path[i]) + 2;
    room = room && used + more + 8 < size;
    if (room) (void)snprintf(text + used, size - used, ", %s", j->path[i]);
    if (room) used += more;
    if (!room && text[used] == '\0')
      (void)snprintf(text + used, size - used, ", ...");
    others++;
  }
  return others;
}

/* The first that fails, in its own sentence, and what else is like it. */
static lapis_status check_batch(feature_job *j, int64_t first, int64_t last)
{
  lapis_ctx *ctx = j->base.ctx;
  char text[512];
  while (first < last && !fails(j, &j->slot[first])) first++;
  if (first == last) return LAPIS_OK;
  const feature_slot *s = &j->slot[first];
  const char *said = s->sentence == NULL || *s->sentence == '\0'
                         ? lapis_status_name(s->status)
                         : s->sentence;
  if (!is_refusal(s->status) || j->count == 1)
    return lapis_fail(ctx, s->status, "%s", said);
  int64_t others = name_others(j, first + 1, last, text, sizeof text);
  if (others == 0)
    return lapis_fail(ctx, s->status, "%s; --keep-going leaves it out", said);
  return lapis_fail(ctx, s->status,
                    "%s; %" PRId64 " more of %" PRId64
                    " images cannot be used: %s; --keep-going leaves them out",
                    said, others, j->count, text + 2);
}

/* Before anything is described, which may take long: files that are no images
 * or end early. */
static lapis_status check_files(feature_job *j)
{
#pragma omp parallel for schedule(dynamic) \
    num_threads(base_team(j->base.ctx, j->threads))
  for (int64_t i = 0; i < j->count; i++) {
    feature_slot *s = &j->slot[i];
    lapis_ctx *ctx = j->own[omp_get_thread_num()];
    if (base_must_stop(ctx)) continue;
    lapis_status status = lapis_image_check(ctx, j->path[i]);
    if (!is_refusal(status)) continue; /* will be told where it is described */
    s->status = status;
    s->sentence = base_strdup(NULL, lapis_ctx_error(ctx));
  }
  return check_batch(j, 0, j->count);
}

static lapis_status run_pass(feature_job *j, feature_pass pass)
{
  const lapis_progress nothing = {
      .objective = NAN, .gap = NAN, .residual = NAN, .done = NAN};
  loop *l = &j->base.loop;
  int64_t batch = (int64_t)j->threads * BATCH_A_THREAD;
  for (int64_t first = 0; first < j->count; first += batch) {
    int64_t last = first + batch < j->count ? first + batch : j->count;
    if (!loop_next(l)) return l->status;
#pragma omp parallel for schedule(dynamic) \
    num_threads(base_team(j->base.ctx, j->threads))
    for (int64_t i = first; i < last; i++) take(j, pass, i);
    TRY(check_batch(j, first, last));
    for (int64_t i = first; i < last; i++)
      if (j->slot[i].unfinished)
        return base_cancelled(j->base.ctx) ? LAPIS_CANCELLED : LAPIS_TIME_LIMIT;
    loop_show(l, &nothing, NAN);
  }
  return base_cancelled(j->base.ctx) ? LAPIS_CANCELLED : LAPIS_OK;
}

static lapis_status learn(feature_job *j)
{
  lapis_status s = run_pass(j, j->kind->study);
  if (s != LAPIS_OK) return s;
  feature_piece *all = base_alloc(j->base.ctx, j->count, sizeof *all);
  if (all == NULL) return LAPIS_ENOMEM;
  for (int64_t i = 0; i < j->count; i++) all[i] = j->slot[i].piece;
  s = j->kind->learn(j, all);
  base_free(all);
  for (int64_t i = 0; i < j->count; i++) feature_piece_free(&j->slot[i].piece);
  if (s == LAPIS_OK) cache_keep_learnt(j);
  return s;
}

/* ---- the result ---------------------------------------------------------*/
static size_t entry_size(lapis_dtype dtype)
{
  return dtype == LAPIS_F32 ? sizeof(float) : sizeof(double);
}

/* Columns of array k of all images, one after the other. */
static lapis_status join(feature_job *j, int k)
{
  lapis_mat *to = &j->whole[k];
  lapis_ctx *ctx = j->base.ctx;
  for (int64_t i = 0; i < j->count; i++) {
    const lapis_mat *from = &j->slot[i].piece.item[k];
    if (j->slot[i].status < 0) continue;
    if (to->rows == 0)
      *to =
          (lapis_mat){from->dtype, from->rows, 0, from->rows, NULL, NULL, NULL};
    if (from->rows != to->rows || from->dtype != to->dtype)
      return lapis_fail(ctx, LAPIS_ESHAPE,
                        "%s: gives %" PRId64 " numbers, other images %" PRId64,
                        j->path[i], from->rows, to->rows);
    to->cols += from->cols;
  }
  size_t entry = entry_size(to->dtype);
  char *at = to->val = base_alloc_raw(ctx, to->rows * to->cols, entry);
  j->start[k] = base_alloc(ctx, j->kept + 1, sizeof **j->start);
  j->group[k] = base_alloc(ctx, to->cols, sizeof **j->group);
  if (at == NULL || j->start[k] == NULL || j->group[k] == NULL)
    return LAPIS_ENOMEM;
  for (int64_t i = 0, kept = 0, column = 0; i < j->count; i++) {
    feature_slot *s = &j->slot[i];
    const lapis_mat *from = &s->piece.item[k];
    if (s->status < 0) continue;
    size_t bytes = (size_t)(from->rows * from->cols) * entry;
    if (bytes > 0) memcpy(at, from->val, bytes);
    at += bytes;
    for (int64_t c = 0; c < from->cols; c++) j->group[k][column++] = kept;
    j->start[k][++kept] = column;
    base_free(s->piece.item[k].val);
    s->piece.item[k].val = NULL;
  }
  return LAPIS_OK;
}

static lapis_mat row_of(lapis_dtype dtype, const void *val, int64_t rows,
                        int64_t cols)
{
  return (lapis_mat){.dtype = dtype,
                     .rows = rows,
                     .cols = cols,
                     .ld = rows,
                     .val = (void *)(uintptr_t)val};
}

static lapis_status describe_images(feature_job *j)
{
  lapis_ctx *ctx = j->base.ctx;
  int64_t refused = 0, kept = 0;
  j->image_size = base_alloc(ctx, 2 * j->kept, sizeof *j->image_size);
  j->names = base_alloc(ctx, j->kept, sizeof *j->names);
  j->refused = base_alloc(ctx, j->count - j->kept, sizeof *j->refused);
  if (j->image_size == NULL || j->names == NULL || j->refused == NULL)
    return LAPIS_ENOMEM;
  for (int64_t i = 0; i < j->count; i++) {
    const feature_slot *s = &j->slot[i];
    if (s->status < 0) {
      j->refused[refused++] = s->sentence == NULL ? j->path[i] : s->sentence;
      continue;
    }
    j->image_size[2 * kept] = s->width;
    j->image_size[2 * kept + 1] = s->height;
    j->names[kept++] = j->path[i];
  }
  return LAPIS_OK;
}

static void publish(feature_job *j)
{
  lapis_solver *s = &j->base;
  for (int k = 0; k < FEATURE_ARRAYS && j->kind->array[k].name != NULL; k++) {
    const feature_array *a = &j->kind->array[k];
    solver_publish(s, a->name, j->whole[k]);
    if (a->start != NULL)
      solver_publish(s, a->start,
                     row_of(LAPIS_I64, j->start[k], 1, j->kept + 1));
    if (a->group != NULL)
      solver_publish(s, a->group,
                     row_of(LAPIS_I64, j->group[k], 1, j->whole[k].cols));
  }
  solver_publish(s, "names", row_of(LAPIS_TEXT, j->names, 1, j->kept));
  solver_publish(s, "image_size", row_of(LAPIS_I64, j->image_size, 2, j->kept));
  if (j->made != NULL)
    solver_publish(s, "feature_settings",
                   row_of(LAPIS_TEXT, j->made, 1, j->n_made));
  if (j->kept < j->count)
    solver_publish(s, "refused",
                   row_of(LAPIS_TEXT, j->refused, 1, j->count - j->kept));
}

static lapis_status gather(feature_job *j)
{
  const char *first = NULL;
  for (int64_t i = 0; i < j->count; i++) {
    const feature_slot *s = &j->slot[i];
    j->kept += s->status >= 0;
    if (s->status < 0 && first == NULL) first = s->sentence;
  }
  if (j->kept == 0)
    return lapis_fail(j->base.ctx, LAPIS_EMISSING,
                      "%s: none of %" PRId64 " images can be used; the first: "
                      "%s",
                      j->kind->shown.name, j->count,
                      first == NULL ? j->path[0] : first);
  for (int k = 0; k < FEATURE_ARRAYS && j->kind->array[k].name != NULL; k++)
    TRY(join(j, k));
  TRY(describe_images(j));
  if (feature_is_single(j->kind)) TRY(made_describe(j));
  if (j->kind->finish != NULL) TRY(j->kind->finish(j));
  publish(j);
  return LAPIS_OK;
}

lapis_status run_job(feature_job *j)
{
  static const char *const columns[] = {"iteration"};
  int64_t batch = (int64_t)j->threads * BATCH_A_THREAD;
  bool studies = j->kind->study != NULL && !j->known && !cache_recall(j);
  int64_t passes = studies ? 2 : 1;
  /* as many as there will be, so that the share of the work is known */
  lapis_stop stop = {.max_iters = passes * ((j->count + batch - 1) / batch),
                     .seconds = INFINITY};
  lapis_solver *s = &j->base;
  release_result(j);
  release_slots(j);
  j->kept = 0;
  s->result.count = 0;
  TRY(loop_begin(&s->loop, s->ctx, j->kind->shown.name, &stop, 1, columns));
  TRY(check_files(j));
  lapis_status status = studies ? learn(j) : LAPIS_OK;
  if (status == LAPIS_OK) cache_open(j);
  if (status == LAPIS_OK) status = run_pass(j, j->kind->make);
  cache_say_damaged(j);
  if (status == LAPIS_OK) status = gather(j);
  s->info.iterations = j->kept;
  s->info.seconds = loop_seconds(&s->loop);
  return status;
}
