/* joined_kinds.c - several kinds of features of the same images, side by side.
 *
 * Each kind is run as it is alone, one after the other, and X holds their
 * numbers one below the other, as they are: what is done to the kinds so that
 * they weigh the same is a map (blocks:N+N, balance).  An image that one kind
 * refuses is left out of all: the kinds are then run again without it, so that
 * no words are learnt from it. */
#include <stdio.h>
#include <string.h>

#include "images/features/feature.h"
#include "lapis/images.h"
#include "lapis/tools.h"
#include "solver/solver.h"

static const char MADE[] = "feature_settings";
enum { MOST_KINDS = 8, MOST_EXTRA = 12, EXTRA_NAME = 64 };

typedef struct joined_job {
  lapis_solver base;
  int kinds;
  const lapis_method *kind[MOST_KINDS];
  void *settings[MOST_KINDS];
  lapis_features_options how;
  int64_t count; /* of paths */
  const char *const *path;
  int64_t kept;           /* of the images that no kind refused */
  const char **kept_path; /* kept */
  bool *kept_study;       /* kept */
  int64_t refusals;
  char **refused; /* refusals sentences, room for count */
  lapis_solver *part[MOST_KINDS];
  /* the result */
  double *X;
  int64_t block_start[MOST_KINDS + 1];
  const char *block_kinds[MOST_KINDS];
  const char **made; /* how each kind was made, one after the other */
  char extra[MOST_EXTRA][EXTRA_NAME];
  int extras;
} joined_job;

/* ---- beginning and end --------------------------------------------------*/
static void free_parts(joined_job *j)
{
  for (int k = 0; k < j->kinds; k++) lapis_solver_free(j->part[k]);
  memset(j->part, 0, sizeof j->part);
}

static void free_refused(joined_job *j)
{
  for (int64_t i = 0; j->refused != NULL && i < j->refusals; i++)
    base_free(j->refused[i]);
  j->refusals = 0;
}

static void free_job(lapis_solver *s)
{
  joined_job *j = (joined_job *)s;
  free_parts(j);
  free_refused(j);
  for (int k = 0; k < j->kinds; k++) base_free(j->settings[k]);
  base_free(j->refused);
  base_free(j->kept_path);
  base_free(j->kept_study);
  base_free(j->X);
  base_free(j->made);
}

/* ---- running ------------------------------------------------------------*/
static const lapis_mat *array_of(const lapis_solver *s, const char *name)
{
  return named_find(&s->result, name);
}

/* Without the images that a kind refused, which it says in words. */
static lapis_status leave_out(joined_job *j, const lapis_solver *part)
{
  const lapis_mat *names = array_of(part, "names");
  const lapis_mat *refused = array_of(part, "refused");
  int64_t kept = 0;
  for (int64_t i = 0; refused != NULL && i < refused->cols; i++) {
    const char *text = ((const char *const *)refused->val)[i];
    j->refused[j->refusals] = base_strdup(j->base.ctx, text);
    if (j->refused[j->refusals] == NULL) return LAPIS_ENOMEM;
    j->refusals++;
  }
  for (int64_t i = 0; kept < names->cols; i++) { /* in the order of the paths */
    if (((const char *const *)names->val)[kept] != j->kept_path[i]) continue;
    j->kept_path[kept] = j->kept_path[i];
    j->kept_study[kept++] = j->kept_study[i];
  }
  j->kept = kept;
  return LAPIS_OK;
}

/* One kind of the images that are left; *again: it left some out, and kinds
 * that have run before it saw them. */
static lapis_status run_kind(joined_job *j, int k, bool *again)
{
  lapis_features_options how = j->how;
  int64_t before = j->kept;
  if (how.study != NULL) how.study = j->kept_study;
  TRY(lapis_features_new(j->base.ctx, j->kind[k], j->settings[k], j->kept_path,
                         j->kept, &how, &j->part[k]));
  lapis_status s = lapis_solve(j->part[k]);
  if (s != LAPIS_OK) return s;
  if (array_of(j->part[k], "names")->cols < before)
    TRY(leave_out(j, j->part[k]));
  *again = j->kept < before && k > 0;
  return LAPIS_OK;
}

static lapis_status run_kinds(joined_job *j)
{
  bool again = true;
  while (again) {
    again = false;
    free_parts(j);
    for (int k = 0; k < j->kinds && !again; k++) {
      lapis_status s = run_kind(j, k, &again);
      if (s != LAPIS_OK) return s;
    }
  }
  return LAPIS_OK;
}

/* ---- the result ---------------------------------------------------------*/
static lapis_status join(joined_job *j)
{
  int64_t rows = 0;
  for (int k = 0; k < j->kinds; k++) {
    j->block_start[k] = rows;
    rows += array_of(j->part[k], "X")->rows;
  }
  j->block_start[j->kinds] = rows;
  base_free(j->X);
  j->X = base_alloc_raw(j->base.ctx, rows * j->kept, sizeof *j->X);
  if (j->X == NULL) return LAPIS_ENOMEM;
  for (int k = 0; k < j->kinds; k++) {
    const lapis_mat *from = array_of(j->part[k], "X");
    for (int64_t i = 0; i < j->kept; i++)
      for (int64_t r = 0; r < from->rows; r++)
        j->X[i * rows + j->block_start[k] + r] = lapis_mat_at(from, r, i);
  }
  solver_publish(&j->base, "X", lapis_mat_f64(j->X, rows, j->kept));
  solver_publish(&j->base, "block_start",
                 lapis_mat_i64(j->block_start, 1, j->kinds + 1));
  solver_publish(&j->base, "block_kinds",
                 lapis_mat_text(j->block_kinds, 1, j->kinds));
  return LAPIS_OK;
}

static lapis_status join_made(joined_job *j)
{
  int64_t count = 0;
  for (int k = 0; k < j->kinds; k++) count += array_of(j->part[k], MADE)->cols;
  base_free(j->made);
  const char **to = j->made = base_alloc(j->base.ctx, count, sizeof *to);
  if (to == NULL) return LAPIS_ENOMEM;
  for (int k = 0; k < j->kinds; k++) {
    const lapis_mat *from = array_of(j->part[k], MADE);
    for (int64_t i = 0; i < from->cols; i++)
      *to++ = ((const char *const *)from->val)[i];
  }
  solver_publish(&j->base, MADE, lapis_mat_text(j->made, 1, count));
  return LAPIS_OK;
}

/* What a kind publishes beside X and what all have: KIND.NAME. */
static void publish_own(joined_job *j, int k)
{
  static const char *const shared[] = {"X", "names", "image_size", MADE,
                                       "refused"};
  const named_list *list = &j->part[k]->result;
  for (int i = 0; i < list->count; i++) {
    bool own = j->extras < MOST_EXTRA;
    for (size_t a = 0; a < sizeof shared / sizeof *shared; a++)
      own = own && strcmp(list->item[i].name, shared[a]) != 0;
    if (!own) continue;
    char *name = j->extra[j->extras++];
    snprintf(name, EXTRA_NAME, "%s.%s", j->kind[k]->name, list->item[i].name);
    solver_publish(&j->base, name, list->item[i].mat);
  }
}

static lapis_status solve(lapis_solver *s)
{
  joined_job *j = (joined_job *)s;
  j->base.result.count = 0;
  free_refused(j);
  j->extras = 0;
  j->kept = j->count;
  for (int64_t i = 0; i < j->count; i++) {
    j->kept_path[i] = j->path[i];
    j->kept_study[i] = j->how.study == NULL || j->how.study[i];
  }
  lapis_status status = run_kinds(j);
  if (status == LAPIS_OK) status = join(j);
  if (status == LAPIS_OK) status = join_made(j);
  if (status != LAPIS_OK) return status;
  const lapis_solver *last = j->part[j->kinds - 1];
  solver_publish(s, "names", *array_of(last, "names"));
  solver_publish(s, "image_size", *array_of(last, "image_size"));
  for (int k = 0; k < j->kinds; k++) publish_own(j, k);
  if (j->refusals > 0)
    solver_publish(s, "refused",
                   lapis_mat_text((const char **)j->refused, 1, j->refusals));
  s->info.iterations = j->kept;
  s->info.seconds = 0;
  for (int k = 0; k < j->kinds; k++)
    s->info.seconds += j->part[k]->info.seconds;
  return LAPIS_OK;
}

static const solver_class joined_class = {
    .method = "features", .solve = solve, .free = free_job};

/* ---- checks -------------------------------------------------------------*/
static lapis_status check_kinds(lapis_ctx *ctx,
                                const lapis_method *const *kinds, int count)
{
  if (count < 1 || count > MOST_KINDS)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "features: %d kinds; 1 to %d can be joined", count,
                      MOST_KINDS);
  for (int k = 0; k < count; k++) {
    if (kinds[k] == NULL || lapis_feature_find(kinds[k]->name) == NULL)
      return lapis_fail(ctx, LAPIS_EINVAL, "'%s' is not a kind of features",
                        kinds[k] == NULL ? "NULL" : kinds[k]->name);
    if (count > 1 && !feature_kind_is_single(kinds[k]))
      return lapis_fail(ctx, LAPIS_EINVAL,
                        "%s gives many vectors an image and cannot be joined "
                        "with other kinds",
                        kinds[k]->name);
    for (int i = 0; i < k; i++)
      if (strcmp(kinds[i]->name, kinds[k]->name) == 0)
        return lapis_fail(ctx, LAPIS_EINVAL, "features: %s is named twice",
                          kinds[k]->name);
  }
  return LAPIS_OK;
}

static lapis_status take(joined_job *j, const lapis_method *const *kinds,
                         const void *const *settings)
{
  lapis_ctx *ctx = j->base.ctx;
  for (int k = 0; k < j->kinds; k++) {
    const void *from = settings == NULL ? NULL : settings[k];
    j->kind[k] = kinds[k];
    j->block_kinds[k] = kinds[k]->name;
    j->settings[k] = base_alloc(ctx, 1, (int64_t)kinds[k]->settings_size);
    if (j->settings[k] == NULL) return LAPIS_ENOMEM;
    TRY(lapis_settings_copy(ctx, kinds[k], from, j->settings[k]));
    TRY(lapis_settings_check_effect(ctx, kinds[k], j->settings[k], 0, NULL,
                                    NULL));
  }
  j->base.settings = j->settings[0];
  j->kept_path = base_alloc(ctx, j->count, sizeof *j->kept_path);
  j->kept_study = base_alloc(ctx, j->count, sizeof *j->kept_study);
  j->refused = base_alloc(ctx, j->count, sizeof *j->refused);
  bool room =
      j->kept_path != NULL && j->kept_study != NULL && j->refused != NULL;
  return room ? LAPIS_OK : LAPIS_ENOMEM;
}

lapis_status lapis_features_joined_new(lapis_ctx *ctx,
                                       const lapis_method *const *kinds,
                                       const void *const *settings, int count,
                                       const char *const *paths, int64_t images,
                                       const lapis_features_options *options,
                                       lapis_solver **out)
{
  MAKES(out);
  NEEDS(ctx, ctx, kinds, out);
  TRY(check_kinds(ctx, kinds, count));
  if (images < 1)
    return lapis_fail(ctx, LAPIS_EMISSING, "features: there are no images");
  lapis_features_options how = {.size = sizeof how};
  TRY(base_take(ctx, "features: the options", options, &how, sizeof how));
  lapis_solver *s;
  TRY(solver_alloc(ctx, &joined_class, sizeof(joined_job), &s));
  joined_job *j = (joined_job *)s;
  j->how = how;
  j->kinds = count;
  j->count = images;
  j->path = paths;
  lapis_status status = take(j, kinds, settings);
  /* each kind checks its own settings now, before any image is read */
  for (int k = 0; k < count && status >= 0; k++) {
    lapis_solver *part;
    status = lapis_features_new(ctx, j->kind[k], j->settings[k], paths, images,
                                &j->how, &part);
    if (status >= 0) lapis_solver_free(part);
  }
  return solver_deliver(s, status, out);
}

const void *lapis_features_joined_settings(const lapis_solver *s, int k)
{
  const joined_job *j = (const joined_job *)s;
  bool there = s != NULL && s->cls == &joined_class && k >= 0 && k < j->kinds &&
               j->part[k] != NULL;
  return there ? j->part[k]->settings : NULL;
}
