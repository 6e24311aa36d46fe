/* cv_parts.c - a cross-validation in parts: what one run found, in a file, and
 * all of them together.
 *
 * A part has whole folds, since solves are warm from point to point inside a
 * fold and never across folds: so the parts find the bits of the whole.  The
 * file says what the run was of (data, settings, seed, folds, as hashes or
 * text), and all files must say the same. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "choose/cv.h"
#include "files/io.h"
#include "model/model.h"

enum { FORMAT = 1, MAX_ALSO = 8, ALSO_SIZE = 1024, TEXT_SIZE = 4096 };
static const char KIND[] = "cv-part";

/* ---- writing ------------------------------------------------------------*/
static uint64_t hash_folds(const fold_plan *plan)
{
  lapis_mat all = lapis_mat_i64(plan->fold, 1, plan->samples);
  if (plan->cell != NULL)
    all = lapis_mat_i64(plan->cell, plan->K, plan->samples);
  return lapis_mat_hash(&all);
}

static void list_also(const cv_job *cv, char text[MAX_ALSO][ALSO_SIZE],
                      const char **at, int *count)
{
  const lapis_cv_options *o = &cv->options;
  (void)snprintf(text[0], ALSO_SIZE, "metric=%s", cv->metric->name);
  (void)snprintf(text[1], ALSO_SIZE, "folds=%" PRId64, o->folds);
  (void)snprintf(text[2], ALSO_SIZE, "folds drawn=%016" PRIx64,
                 hash_folds(&cv->plan));
  *count = 3;
  if (o->map != NULL)
    (void)snprintf(text[(*count)++], ALSO_SIZE, "map=%s", o->map);
  if (o->map_priv != NULL)
    (void)snprintf(text[(*count)++], ALSO_SIZE, "map-priv=%s", o->map_priv);
  for (int i = 0; i < *count; i++) at[i] = text[i];
}

static lapis_status write_part(cv_job *cv, const char *head)
{
  const lapis_cv_options *o = &cv->options;
  int64_t share[] = {o->part, o->parts, o->folds};
  lapis_named item[] = {
      {.name = "lapis", .flat = true, .mat = lapis_mat_text(&head, 1, 1)},
      {.name = "part", .flat = true, .mat = lapis_mat_i64(share, 1, 3)},
      {.name = "names",
       .flat = true,
       .mat = lapis_mat_text(cv->name, 1, cv->n_grid)},
      {.name = "points",
       .mat = lapis_mat_text((const char *const *)cv->text, cv->n_grid,
                             cv->n_points)},
      {.name = "value",
       .mat = lapis_mat_f64(cv->value, cv->n_points, cv->folds)},
      {.name = "seconds",
       .flat = true,
       .mat = lapis_mat_f64(cv->seconds, 1, cv->n_points)}};
  return io_npz_write(cv->base.ctx, o->part_file, item,
                      sizeof item / sizeof *item);
}

lapis_status cv_write_part(cv_job *cv)
{
  char text[MAX_ALSO][ALSO_SIZE], *head = NULL;
  const char *at[MAX_ALSO];
  int count;
  const part_source *from = &cv->from;
  list_also(cv, text, at, &count);
  lapis_status s = run_header(from->ctx, KIND, FORMAT, from->method, from->data,
                              cv->settings, at, count, &head);
  if (s >= 0) s = write_part(cv, head);
  free(head);
  return s;
}

lapis_status cv_check_share(lapis_ctx *ctx, const lapis_cv_options *o,
                            int n_grid)
{
  if (o->part < 1 || o->part > o->parts)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "cv: there is no part %" PRId64 " of %" PRId64
                      "; parts are counted from 1",
                      o->part, o->parts);
  if (o->parts > o->folds)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "cv: %" PRId64 " parts of %" PRId64
                      " folds; a part has whole folds, so that there are at "
                      "most as many",
                      o->parts, o->folds);
  if (o->pooled || o->keep_scores)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "cv: a part judges its own folds; what needs the scores "
                      "of all (pooled, keep_scores) is done in one run");
  if (n_grid < 1)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "cv: a part needs a grid; give --grid NAME=V,V");
  if (o->part_file == NULL)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "cv: a part needs a file to write its scores");
  return LAPIS_OK;
}

/* ---- reading: as a stranger's file --------------------------------------*/
typedef struct one_part {
  lapis_ctx *ctx;
  const char *path;
  lapis_arrays all;
  lapis_json *head;
  int64_t part, parts, folds, own; /* own: folds judged by it */
  const lapis_mat *names, *points, *value, *seconds;
} one_part;

static lapis_status no_part(const one_part *p, const char *why)
{
  return lapis_fail(
      p->ctx, LAPIS_EFORMAT,
      "%s: is not a part that 'cv --part' of this LAPIS wrote: %s", p->path,
      why);
}

/* A dense member of this type and shape, or NULL. */
static const lapis_mat *member(const one_part *p, const char *name,
                               lapis_dtype dtype, int64_t rows, int64_t cols)
{
  const lapis_array *a = lapis_arrays_find(&p->all, name);
  if (a == NULL || a->mat.dtype != dtype || a->mat.colptr != NULL) return NULL;
  bool fits = a->mat.rows == rows && a->mat.cols == cols && a->mat.ld == rows;
  return fits ? &a->mat : NULL;
}

static const char *text_at(const lapis_mat *m, int64_t k)
{
  return ((const char *const *)m->val)[k];
}

static lapis_status read_head(one_part *p)
{
  const lapis_mat *text = member(p, "lapis", LAPIS_TEXT, 1, 1);
  if (text == NULL) return no_part(p, "there is no header in it");
  const char *json = text_at(text, 0);
  TRY(lapis_json_parse(p->ctx, json, strlen(json), p->path, &p->head));
  if (strcmp(lapis_json_text(p->head, "kind", ""), KIND) != 0 ||
      lapis_json_number(p->head, "format", 0) != FORMAT)
    return no_part(p, "its header is of another kind or format");
  const lapis_mat *share = member(p, "part", LAPIS_I64, 1, 3);
  if (share == NULL) return no_part(p, "it does not say which part it is");
  const int64_t *at = share->val;
  p->part = at[0];
  p->parts = at[1];
  p->folds = at[2];
  if (p->part < 1 || p->part > p->parts || p->parts > p->folds)
    return no_part(p, "its array 'part' is damaged");
  p->own = (p->folds - p->part) / p->parts + 1;
  return LAPIS_OK;
}

static lapis_status read_arrays(one_part *p)
{
  const lapis_array *names = lapis_arrays_find(&p->all, "names");
  const lapis_array *seconds = lapis_arrays_find(&p->all, "seconds");
  if (names == NULL || seconds == NULL)
    return no_part(p, "'names' or 'seconds' is missing");
  int64_t n_grid = names->mat.cols, n_points = seconds->mat.cols;
  if (n_grid < 1 || n_grid > MAX_GRID || n_points < 1 || n_points > MAX_POINTS)
    return no_part(p, "its grid is damaged");
  p->names = member(p, "names", LAPIS_TEXT, 1, n_grid);
  p->points = member(p, "points", LAPIS_TEXT, n_grid, n_points);
  p->value = member(p, "value", LAPIS_F64, n_points, p->own);
  p->seconds = member(p, "seconds", LAPIS_F64, 1, n_points);
  if (p->names == NULL || p->points == NULL || p->value == NULL ||
      p->seconds == NULL)
    return no_part(p, "an array is missing, or of another type or shape");
  for (int64_t i = 0; i < n_points; i++)
    if (!(((const double *)p->seconds->val)[i] >= 0))
      return no_part(p, "'seconds' has one below zero");
  return LAPIS_OK;
}

static lapis_status read_part(lapis_ctx *ctx, const char *path, one_part *p)
{
  *p = (one_part){.ctx = ctx, .path = path};
  TRY(lapis_arrays_read(ctx, path, &p->all));
  lapis_status s = read_head(p);
  return s < 0 ? s : read_arrays(p);
}

/* ---- of one run ---------------------------------------------------------*/
static lapis_status other_run(const one_part *a, const one_part *b,
                              const char *what, const char *of_a,
                              const char *of_b)
{
  char x[128], y[128], z[128];
  return lapis_fail(a->ctx, LAPIS_EDATA,
                    "%s: is of another run than %s: %s is %s, and not %s",
                    b->path, a->path, lapis_text_shown(what, x, sizeof x),
                    lapis_text_shown(of_b, y, sizeof y),
                    lapis_text_shown(of_a, z, sizeof z));
}

/* One of the header's objects, both ways. */
static lapis_status same_object(const one_part *a, const one_part *b,
                                const char *what, const char *before)
{
  const char *key;
  char value[TEXT_SIZE], said[128];
  const lapis_json *both[] = {lapis_json_get(a->head, what),
                              lapis_json_get(b->head, what)};
  for (int side = 0; side < 2; side++)
    for (int i = 0; lapis_json_entry(both[side], i, &key, value, sizeof value);
         i++) {
      const char *other = lapis_json_text(both[1 - side], key, "not given");
      if (strcmp(value, other) == 0) continue;
      (void)snprintf(said, sizeof said, "%s%s", before, key);
      return other_run(a, b, said, side == 0 ? value : other,
                       side == 0 ? other : value);
    }
  return LAPIS_OK;
}

static lapis_status same_texts(const one_part *a, const one_part *b,
                               const lapis_mat *x, const lapis_mat *y)
{
  if (x->rows != y->rows || x->cols != y->cols)
    return other_run(a, b, "the grid", "of as many points",
                     "of another number");
  for (int64_t k = 0; k < x->rows * x->cols; k++)
    if (strcmp(text_at(x, k), text_at(y, k)) != 0)
      return other_run(a, b, "the grid", text_at(x, k), text_at(y, k));
  return LAPIS_OK;
}

static lapis_status same_run(const one_part *a, const one_part *b)
{
  static const char *const text[] = {"method", "lapis"};
  static const char *const object[][2] = {
      {"data", "the data's "}, {"settings", "--"}, {"also", ""}};
  for (int i = 0; i < 2; i++) {
    const char *x = lapis_json_text(a->head, text[i], "");
    const char *y = lapis_json_text(b->head, text[i], "");
    if (strcmp(x, y) != 0) return other_run(a, b, text[i], x, y);
  }
  for (int i = 0; i < 3; i++)
    TRY(same_object(a, b, object[i][0], object[i][1]));
  TRY(same_texts(a, b, a->names, b->names));
  TRY(same_texts(a, b, a->points, b->points));
  char x[64], y[64];
  (void)snprintf(x, sizeof x, "%" PRId64 " of %" PRId64, a->parts, a->folds);
  (void)snprintf(y, sizeof y, "%" PRId64 " of %" PRId64, b->parts, b->folds);
  return strcmp(x, y) == 0 ? LAPIS_OK
                           : other_run(a, b, "the number of parts", x, y);
}

static lapis_status all_there(const one_part *p, int count)
{
  for (int i = 0; i < count; i++)
    for (int j = 0; j < i; j++)
      if (p[i].part == p[j].part)
        return lapis_fail(p->ctx, LAPIS_EDATA,
                          "%s: is part %" PRId64 " of %" PRId64
                          ", and so is %s; give each part once",
                          p[i].path, p[i].part, p[i].parts, p[j].path);
  for (int64_t k = 1; k <= p->parts; k++) {
    bool found = false;
    for (int i = 0; i < count; i++) found = found || p[i].part == k;
    if (!found)
      return lapis_fail(p->ctx, LAPIS_EMISSING,
                        "cv: part %" PRId64 " of %" PRId64 " is missing", k,
                        p->parts);
  }
  return LAPIS_OK;
}

/* ---- together -----------------------------------------------------------*/
static const char *own_name(const lapis_method *m, const char *name)
{
  const lapis_param *p = lapis_param_find(m, name);
  return p == NULL ? NULL : p->name;
}

/* What the header says is tried on the method, as the grid's values are. */
static lapis_status take_settings(const one_part *p, cv_job *cv)
{
  const lapis_method *m = lapis_method_find(cv->method);
  const lapis_json *all = lapis_json_get(cv->head, "settings");
  const char *key;
  char value[TEXT_SIZE];
  cv->settings = base_alloc(p->ctx, 1, m->settings_size);
  if (cv->settings == NULL) return LAPIS_ENOMEM;
  cv->base.settings = cv->settings;
  lapis_settings_default(m, cv->settings);
  for (int i = 0; lapis_json_entry(all, i, &key, value, sizeof value); i++) {
    const char *text = lapis_json_text(all, key, "");
    bool automatic = strcmp(text, "auto") == 0 || *text == '\0';
    if (!automatic) TRY(lapis_settings_set(p->ctx, m, cv->settings, key, text));
  }
  return LAPIS_OK;
}

static lapis_status take_grid(const one_part *p, cv_job *cv)
{
  const lapis_method *m = lapis_method_find(cv->method);
  void *tried = base_alloc(p->ctx, 1, m->settings_size);
  if (tried == NULL) return LAPIS_ENOMEM;
  lapis_settings_default(m, tried);
  lapis_status s = LAPIS_OK;
  for (int k = 0; s >= 0 && k < cv->n_grid; k++) {
    cv->name[k] = own_name(m, text_at(p->names, k));
    if (cv->name[k] == NULL)
      s = no_part(p, "the grid has a setting that the method does not have");
  }
  for (int k = 0; s >= 0 && k < cv->n_points * cv->n_grid; k++) {
    const char *text = text_at(p->points, k);
    char shown[TEXT_SIZE];
    s = lapis_settings_set(p->ctx, m, tried, cv->name[k % cv->n_grid], text);
    if (s >= 0 &&
        strcmp(lapis_text_shown(text, shown, sizeof shown), text) != 0)
      s = no_part(p, "the grid has a value that cannot be shown");
    cv->text[k] = s < 0 ? NULL : base_strdup(p->ctx, text);
    if (s >= 0 && cv->text[k] == NULL) s = LAPIS_ENOMEM;
  }
  base_free(tried);
  return s;
}

static lapis_status alloc_joined(const one_part *p, cv_job *cv)
{
  cv->n_grid = (int)p->names->cols;
  cv->n_points = (int)p->seconds->cols;
  cv->folds = p->folds;
  return cv_alloc_points(cv);
}

/* Every fold from the part that judged it. */
static void take_values(const one_part *p, int count, cv_job *cv)
{
  size_t row = (size_t)cv->n_points * sizeof *cv->value;
  for (int i = 0; i < count; i++) {
    const double *value = p[i].value->val, *seconds = p[i].seconds->val;
    for (int64_t f = 0; f < p[i].own; f++)
      memcpy(cv->value + (p[i].part - 1 + f * p[i].parts) * cv->n_points,
             value + f * cv->n_points, row);
    for (int k = 0; k < cv->n_points; k++) cv->seconds[k] += seconds[k];
  }
}

static lapis_status join(one_part *p, int count, cv_job *cv)
{
  for (int i = 1; i < count; i++) TRY(same_run(&p[0], &p[i]));
  TRY(all_there(p, count));
  const lapis_json *also = lapis_json_get(p->head, "also");
  const lapis_method *m =
      lapis_method_find(lapis_json_text(p->head, "method", ""));
  if (m == NULL) return no_part(p, "there is no such method");
  cv->method = m->name;
  TRY(lapis_metric_find(p->ctx, lapis_json_text(also, "metric", ""),
                        &cv->metric));
  TRY(alloc_joined(p, cv));
  cv->head = p->head; /* handed over */
  p->head = NULL;
  TRY(take_settings(p, cv));
  also = lapis_json_get(cv->head, "also");
  cv->map = lapis_json_text(also, "map", NULL);
  cv->map_priv = lapis_json_text(also, "map-priv", NULL);
  TRY(take_grid(p, cv));
  take_values(p, count, cv);
  cv_publish(cv);
  return LAPIS_OK;
}

static lapis_status find_nothing(lapis_solver *s)
{
  (void)s; /* all is known */
  return LAPIS_OK;
}

static const solver_class joined_class = {
    .method = "cv", .solve = find_nothing, .free = cv_free};

lapis_status lapis_cv_join(lapis_ctx *ctx, const char *const *path, int count,
                           lapis_solver **out)
{
  MAKES(out);
  NEEDS(ctx, ctx, path, out);
  if (count < 1)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "cv: name the files that the parts wrote");
  for (int i = 0; i < count; i++) NEEDS(ctx, path[i]);
  one_part *p = base_alloc(ctx, count, sizeof *p);
  cv_job *cv = NULL;
  lapis_status s = p == NULL ? LAPIS_ENOMEM : cv_alloc(ctx, &joined_class, &cv);
  for (int i = 0; s >= 0 && i < count; i++) s = read_part(ctx, path[i], &p[i]);
  if (s >= 0) s = join(p, count, cv);
  for (int i = 0; p != NULL && i < count; i++) {
    lapis_arrays_free(&p[i].all);
    lapis_json_free(p[i].head);
  }
  base_free(p);
  return cv == NULL ? s : solver_deliver(&cv->base, s, out);
}
