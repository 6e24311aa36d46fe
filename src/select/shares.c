/* shares.c - a cross-validation in parts: what one run found, in a file, and
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

#include "io/io.h"
#include "model/model.h"
#include "select/cv.h"

enum { FORMAT = 1, MAX_ALSO = 8, ALSO_SIZE = 1024, TEXT_SIZE = 4096 };
static const char KIND[] = "cv-part";

/* ---- writing ------------------------------------------------------------*/
static void list_also(const lapis_cv *cv, const lapis_cv_options *o,
                      int64_t folds, char text[MAX_ALSO][ALSO_SIZE],
                      const char **at, int *count)
{
  (void)snprintf(text[0], ALSO_SIZE, "metric=%s", cv->metric->name);
  (void)snprintf(text[1], ALSO_SIZE, "folds=%" PRId64, folds);
  (void)snprintf(text[2], ALSO_SIZE, "folds drawn=%016" PRIx64, cv->drawn);
  *count = 3;
  if (o->map != NULL)
    (void)snprintf(text[(*count)++], ALSO_SIZE, "map=%s", o->map);
  if (o->map_priv != NULL)
    (void)snprintf(text[(*count)++], ALSO_SIZE, "map-priv=%s", o->map_priv);
  for (int i = 0; i < *count; i++) at[i] = text[i];
}

static lapis_status write_part(lapis_ctx *ctx, const lapis_cv *cv,
                               const lapis_grid *grid, const char *head,
                               const int64_t share[3], const char *path)
{
  const char *name[MAX_GRID];
  for (int k = 0; k < cv->n_grid; k++) name[k] = grid[k].name;
  lapis_named item[] = {
      {.name = "lapis", .flat = true, .mat = lapis_mat_text(&head, 1, 1)},
      {.name = "part",
       .flat = true,
       .mat = lapis_mat_i64((int64_t *)(uintptr_t)share, 1, 3)},
      {.name = "names",
       .flat = true,
       .mat = lapis_mat_text(name, 1, cv->n_grid)},
      {.name = "points",
       .mat = lapis_mat_text((const char *const *)cv->text, cv->n_grid,
                             cv->n_points)},
      {.name = "value",
       .mat = lapis_mat_f64(cv->value, cv->n_points, cv->folds)},
      {.name = "seconds",
       .flat = true,
       .mat = lapis_mat_f64(cv->seconds, 1, cv->n_points)}};
  return io_npz_write(ctx, path, item, sizeof item / sizeof *item);
}

static lapis_status describe(lapis_ctx *ctx, const lapis_cv *cv,
                             const lapis_method *m, const lapis_data *data,
                             const void *settings, const lapis_cv_options *o,
                             char **head)
{
  char text[MAX_ALSO][ALSO_SIZE];
  const char *at[MAX_ALSO];
  int count;
  void *own = base_alloc(ctx, 1, m->settings_size); /* NULL: the defaults */
  if (own == NULL) return LAPIS_ENOMEM;
  lapis_status s = lapis_settings_copy(ctx, m, settings, own);
  list_also(cv, o, o->folds, text, at, &count);
  if (s >= 0) s = run_header(ctx, KIND, FORMAT, m, data, own, at, count, head);
  base_free(own);
  return s;
}

static lapis_status check_share(lapis_ctx *ctx, const lapis_cv_options *o,
                                int n_grid, int64_t part, int64_t parts)
{
  if (part < 1 || part > parts)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "cv: there is no part %" PRId64 " of %" PRId64
                      "; parts are counted from 1",
                      part, parts);
  if (parts > o->folds)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "cv: %" PRId64 " parts of %" PRId64
                      " folds; a part has whole folds, so that there are at "
                      "most as many",
                      parts, o->folds);
  if (o->pooled || o->keep_scores)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "cv: a part judges its own folds; what needs the scores "
                      "of all (pooled, keep_scores) is done in one run");
  if (n_grid < 1)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "cv: a part needs a grid; give --grid NAME=V,V");
  return LAPIS_OK;
}

lapis_status lapis_cv_part(lapis_ctx *ctx, const lapis_method *m,
                           const lapis_data *data, const void *settings,
                           const lapis_cv_options *options,
                           const lapis_grid *grid, int n_grid, int64_t part,
                           int64_t parts, const char *path)
{
  lapis_cv *cv = NULL;
  lapis_cv_options own;
  NEEDS(ctx, ctx, m, data, path);
  if (n_grid > 0) NEEDS(ctx, grid);
  TRY(cv_options_take(ctx, options, &own));
  TRY(mat_check_data(ctx, "cv", data));
  TRY(mat_check_beside(ctx, "cv", "Y", &data->Y, &data->X));
  TRY(cv_settle_folds(ctx, data, &own));
  TRY(check_share(ctx, &own, n_grid, part, parts));
  lapis_status s = cv_run_share(ctx, m, data, settings, &own, grid, n_grid,
                                (cv_share){part - 1, parts, true}, &cv);
  if (s == LAPIS_OK) {
    char *head = NULL;
    s = describe(ctx, cv, m, data, settings, &own, &head);
    if (s >= 0)
      s = write_part(ctx, cv, grid, head, (int64_t[]){part, parts, own.folds},
                     path);
    free(head);
  }
  if (s == LAPIS_TIME_LIMIT)
    (void)lapis_fail(
        ctx, s,
        "cv: the time limit ended part %" PRId64 " of %" PRId64
        "; nothing was written; give it a larger --time-limit, or more parts",
        part, parts);
  lapis_cv_free(cv);
  return s;
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
  return lapis_fail(p->ctx, LAPIS_EFORMAT,
                    "%s: is no part that 'cv --part' of this LAPIS wrote: %s",
                    p->path, why);
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
    return no_part(p, "its array 'part' is none");
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
    return no_part(p, "its grid is none");
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
static lapis_status take_settings(const one_part *p, lapis_cv *cv)
{
  const lapis_method *m = cv->facts.method;
  const lapis_json *all = lapis_json_get(cv->head, "settings");
  const char *key;
  char value[TEXT_SIZE];
  cv->settings = base_alloc(p->ctx, 1, m->settings_size);
  if (cv->settings == NULL) return LAPIS_ENOMEM;
  lapis_settings_default(m, cv->settings);
  for (int i = 0; lapis_json_entry(all, i, &key, value, sizeof value); i++) {
    const char *text = lapis_json_text(all, key, "");
    bool automatic = strcmp(text, "auto") == 0 || *text == '\0';
    if (!automatic) TRY(lapis_settings_set(p->ctx, m, cv->settings, key, text));
  }
  return LAPIS_OK;
}

static lapis_status take_grid(const one_part *p, lapis_cv *cv)
{
  void *tried = base_alloc(p->ctx, 1, cv->facts.method->settings_size);
  if (tried == NULL) return LAPIS_ENOMEM;
  lapis_settings_default(cv->facts.method, tried);
  lapis_status s = LAPIS_OK;
  for (int k = 0; s >= 0 && k < cv->n_grid; k++) {
    cv->name[k] = own_name(cv->facts.method, text_at(p->names, k));
    if (cv->name[k] == NULL) s = no_part(p, "the grid is of no such settings");
  }
  for (int k = 0; s >= 0 && k < cv->n_points * cv->n_grid; k++) {
    const char *text = text_at(p->points, k);
    char shown[TEXT_SIZE];
    s = lapis_settings_set(p->ctx, cv->facts.method, tried,
                           cv->name[k % cv->n_grid], text);
    if (s >= 0 &&
        strcmp(lapis_text_shown(text, shown, sizeof shown), text) != 0)
      s = no_part(p, "the grid has a value that cannot be shown");
    cv->text[k] = s < 0 ? NULL : base_strdup(p->ctx, text);
    if (s >= 0 && cv->text[k] == NULL) s = LAPIS_ENOMEM;
  }
  base_free(tried);
  return s;
}

static lapis_status alloc_joined(const one_part *p, lapis_cv *cv)
{
  cv->n_grid = (int)p->names->cols;
  cv->n_points = (int)p->seconds->cols;
  cv->folds = p->folds;
  cv->step = 1;
  cv->text = base_alloc(p->ctx, cv->n_points * cv->n_grid, sizeof *cv->text);
  cv->point = base_alloc(p->ctx, cv->n_points, sizeof *cv->point);
  cv->value = base_alloc(p->ctx, cv->folds * cv->n_points, sizeof *cv->value);
  cv->seconds = base_alloc(p->ctx, cv->n_points, sizeof *cv->seconds);
  bool done = cv->text != NULL && cv->point != NULL && cv->value != NULL &&
              cv->seconds != NULL;
  return done ? LAPIS_OK : LAPIS_ENOMEM;
}

/* Every fold from the part that judged it. */
static void take_values(const one_part *p, int count, lapis_cv *cv)
{
  size_t row = (size_t)cv->n_points * sizeof *cv->value;
  for (int i = 0; i < count; i++) {
    const double *value = p[i].value->val, *seconds = p[i].seconds->val;
    for (int64_t f = 0; f < p[i].own; f++)
      memcpy(cv->value + (p[i].part - 1 + f * p[i].parts) * cv->n_points,
             value + f * cv->n_points, row);
    for (int k = 0; k < cv->n_points; k++) cv->seconds[k] += seconds[k];
  }
  cv_summarise(cv);
}

static lapis_status join(one_part *p, int count, lapis_cv *cv)
{
  for (int i = 1; i < count; i++) TRY(same_run(&p[0], &p[i]));
  TRY(all_there(p, count));
  const lapis_json *also = lapis_json_get(p->head, "also");
  cv->facts.method = lapis_method_find(lapis_json_text(p->head, "method", ""));
  if (cv->facts.method == NULL) return no_part(p, "there is no such method");
  TRY(lapis_metric_find(p->ctx, lapis_json_text(also, "metric", ""),
                        &cv->metric));
  cv->less_is_better = cv->metric->less_is_better;
  TRY(alloc_joined(p, cv));
  cv->head = p->head; /* handed over */
  p->head = NULL;
  TRY(take_settings(p, cv));
  also = lapis_json_get(cv->head, "also");
  cv->facts.size = sizeof cv->facts;
  cv->facts.metric = cv->metric->name;
  cv->facts.settings = cv->settings;
  cv->facts.map = lapis_json_text(also, "map", NULL);
  cv->facts.map_priv = lapis_json_text(also, "map-priv", NULL);
  TRY(take_grid(p, cv));
  take_values(p, count, cv);
  return LAPIS_OK;
}

lapis_status lapis_cv_join(lapis_ctx *ctx, const char *const *path, int count,
                           lapis_cv **out)
{
  MAKES(out);
  NEEDS(ctx, ctx, path, out);
  if (count < 1)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "cv: name the files that the parts wrote");
  for (int i = 0; i < count; i++) NEEDS(ctx, path[i]);
  one_part *p = base_alloc(ctx, count, sizeof *p);
  lapis_cv *cv = base_alloc(ctx, 1, sizeof *cv);
  lapis_status s = p == NULL || cv == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  for (int i = 0; s >= 0 && i < count; i++) s = read_part(ctx, path[i], &p[i]);
  if (s >= 0) s = join(p, count, cv);
  for (int i = 0; p != NULL && i < count; i++) {
    lapis_arrays_free(&p[i].all);
    lapis_json_free(p[i].head);
  }
  base_free(p);
  if (s < 0)
    lapis_cv_free(cv);
  else
    *out = cv;
  return s;
}

const char *lapis_cv_name(const lapis_cv *cv, int k)
{
  return cv == NULL || k < 0 || k >= cv->n_grid ? NULL : cv->name[k];
}

const lapis_cv_facts *lapis_cv_about(const lapis_cv *cv)
{
  return cv == NULL ? NULL : &cv->facts;
}
