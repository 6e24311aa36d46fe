/* labelled.c - methods that learn from samples with targets, given some
 * without: those with all their targets are learnt from, unless their weight is
 * 0; the others are asked what the model says of new samples.
 *
 * Results that have a column a sample have one for all of them; what only
 * training samples have (alpha, dual) is 0 for the others, which is what it is:
 * they have no part in the fit.  `used` says who was learnt from.  Everything
 * else is the fit's own, to the bit.  Messages of the fit and of the answer
 * name the rows of all samples. */
#include "methods/labelled.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/resume.h"
#include "folds/folds.h"
#include "lapis/tools.h"
#include "mat/mat.h"

typedef struct labelled {
  lapis_solver base;
  const method_entry *e;
  int64_t n, count;     /* samples, and those that are used */
  bool *known;          /* n */
  int64_t *row;         /* n: the samples that are used, then the others */
  fold_part part, rest; /* those, and X of the others */
  lapis_solver *fit, *answer;
  double *used; /* n: 1 or 0 */
} labelled;

static labelled *labelled_of(const lapis_solver *s)
{
  return (labelled *)(uintptr_t)s;
}

/* ---- who has targets ----------------------------------------------------*/
static bool has_all(const lapis_mat *Y, int64_t j)
{
  for (int64_t i = 0; i < Y->rows; i++)
    if (isnan(lapis_mat_at(Y, i, j))) return false;
  return true;
}

static bool is_used(const lapis_data *data, int64_t j)
{
  bool counts = data->weight == NULL || data->weight[j] > 0;
  return counts && has_all(&data->Y, j);
}

/* A weight below 0 is the method's to refuse. */
static bool any_of_no_weight(const lapis_data *data)
{
  bool any = false;
  for (int64_t j = 0; data->weight != NULL && j < data->X.cols; j++) {
    if (!(data->weight[j] >= 0)) return false;
    any = any || !(data->weight[j] > 0);
  }
  return any;
}

bool labelled_is_needed(lapis_ctx *ctx, const method_entry *e,
                        const lapis_data *data)
{
  int64_t n = data->X.cols;
  bool fits = data->Y.rows > 0 && data->Y.cols == n &&
              (data->P.rows == 0 || data->P.cols == n);
  return e->labelled_only && base_ranks(ctx) == 1 && fits &&
         (lapis_mat_missing(&data->Y) > 0 || any_of_no_weight(data));
}

/* ---- solving ------------------------------------------------------------*/
static base_rows name_used(const labelled *w)
{
  return base_name_rows(w->base.ctx, (base_rows){w->row, w->count});
}

static base_rows name_others(const labelled *w)
{
  return base_name_rows(w->base.ctx,
                        (base_rows){w->row + w->count, w->n - w->count});
}

/* What is left of the fit's time limit. */
static lapis_status set_limit(const labelled *w, void *options)
{
  const lapis_method *table = w->e->predict_method;
  char text[64];
  double limit;
  TRY(lapis_settings_get(w->base.ctx, w->e->method, w->fit->settings,
                         "time-limit", text, sizeof text));
  if (!lapis_number_read(text, NULL, &limit) || !isfinite(limit))
    return LAPIS_OK;
  if (lapis_param_find(table, "time-limit") == NULL) return LAPIS_OK;
  snprintf(text, sizeof text, "%.17g",
           fmax(limit - w->fit->info.seconds, 1e-3));
  return lapis_settings_set(w->base.ctx, table, options, "time-limit", text);
}

static lapis_status ask(labelled *w)
{
  const method_entry *e = w->e;
  lapis_ctx *ctx = w->base.ctx;
  lapis_solver_free(w->answer);
  w->answer = NULL;
  void *options = base_alloc(ctx, 1, e->predict_method->settings_size);
  if (options == NULL) return LAPIS_ENOMEM;
  lapis_status s = lapis_settings_copy(ctx, e->predict_method, NULL, options);
  if (s >= 0) s = set_limit(w, options);
  if (s >= 0) s = w->fit->cls->learn(w->fit);
  base_rows before = name_others(w);
  if (s >= 0)
    s = e->predict(ctx, &w->rest.data, w->fit->settings, &w->fit->learned,
                   options, &w->answer);
  base_free(options);
  keep_pause(ctx, true); /* quick: a resumed run repeats it */
  if (s >= 0) s = lapis_solve(w->answer);
  keep_pause(ctx, false);
  (void)base_name_rows(ctx, before);
  return s;
}

/* of: a column a sample that was used; rest: one of each of the others, or
 * NULL.  Memory of an earlier solve is taken again. */
static lapis_status scatter(labelled *w, const char *name, const lapis_mat *of,
                            const lapis_mat *rest)
{
  const lapis_mat *before = named_find(&w->base.result, name);
  bool again = before != NULL && before->rows == of->rows;
  double *to =
      again ? before->val : arena_reals(&w->base.arena, of->rows * w->n);
  int64_t at[2] = {0, 0};
  if (to == NULL) return LAPIS_ENOMEM;
  for (int64_t j = 0; j < w->n; j++) {
    const lapis_mat *from = w->known[j] ? of : rest;
    int64_t k = at[w->known[j]]++;
    for (int64_t i = 0; i < of->rows; i++)
      to[j * of->rows + i] = from == NULL ? 0 : lapis_mat_at(from, i, k);
  }
  solver_publish(&w->base, name, lapis_mat_f64(to, of->rows, w->n));
  return LAPIS_OK;
}

/* A column a bag, those that were learnt from first. */
static lapis_status join(labelled *w, const char *name, const lapis_mat *of,
                         const lapis_mat *rest)
{
  int64_t rows = of->rows, cols = of->cols + rest->cols;
  double *to = arena_reals(&w->base.arena, rows * cols);
  TRY(arena_status(&w->base.arena));
  for (int64_t j = 0; j < cols; j++)
    for (int64_t i = 0; i < rows; i++)
      to[j * rows + i] = j < of->cols ? lapis_mat_at(of, i, j)
                                      : lapis_mat_at(rest, i, j - of->cols);
  solver_publish(&w->base, name, lapis_mat_f64(to, rows, cols));
  return LAPIS_OK;
}

static lapis_status publish(labelled *w)
{
  const named_list *all = &w->fit->result;
  for (int i = 0; i < all->count; i++) {
    const char *name = all->item[i].name;
    const lapis_mat *of = &all->item[i].mat, *rest = NULL;
    if (w->answer != NULL) rest = named_find(&w->answer->result, name);
    if (rest != NULL && rest->rows != of->rows) rest = NULL;
    if (solver_is_of_samples(w->e->method, name) && of->cols == w->count)
      TRY(scatter(w, name, of, rest));
    else if (rest != NULL && solver_is_of_bags(w->e->method, name))
      TRY(join(w, name, of, rest));
    else
      solver_publish(&w->base, name, *of);
  }
  solver_publish(&w->base, "used", lapis_mat_f64(w->used, 1, w->n));
  return LAPIS_OK;
}

static lapis_status solve(lapis_solver *s)
{
  labelled *w = labelled_of(s);
  w->fit->brief = s->brief;
  base_rows before = name_used(w);
  lapis_status status = lapis_solve(w->fit);
  (void)base_name_rows(s->ctx, before);
  if (status < 0) return status;
  lapis_status asked =
      s->brief || status == LAPIS_CANCELLED ? LAPIS_OK : ask(w);
  if (asked < 0) return asked;
  s->info = w->fit->info;
  s->settings = w->fit->settings;
  TRY(publish(w));
  return status == LAPIS_OK || asked == LAPIS_CANCELLED ? asked : status;
}

static lapis_status learn(lapis_solver *s)
{
  labelled *w = labelled_of(s);
  TRY(w->fit->cls->learn(w->fit));
  s->learned = w->fit->learned;
  return LAPIS_OK;
}

static lapis_status retune(lapis_solver *s, const void *settings)
{
  labelled *w = labelled_of(s);
  TRY(lapis_solver_retune(w->fit, settings));
  s->settings = w->fit->settings;
  return LAPIS_OK;
}

/* ---- constructor --------------------------------------------------------*/
static void release(lapis_solver *s)
{
  labelled *w = labelled_of(s);
  lapis_solver_free(w->answer);
  lapis_solver_free(w->fit);
  fold_part_free(&w->part);
  fold_part_free(&w->rest);
  base_free(w->known);
  base_free(w->row);
}

/* The name is the method's, by which its model is known. */
#define CLASS(name)                                                      \
  {                                                                      \
    .method = (name), .solve = solve, .free = release, .retune = retune, \
    .learn = learn                                                       \
  }
static const solver_class classes[] = {CLASS("rr"), CLASS("rlda"),
                                       CLASS("svmplus"), CLASS("misvm")};
enum { CLASSES = sizeof classes / sizeof *classes };

static const solver_class *class_of(const lapis_method *m)
{
  int k = 0;
  while (k < CLASSES - 1 && strcmp(classes[k].method, m->name) != 0) k++;
  return &classes[k];
}

/* Of all samples, under the numbers that they have there. */
static lapis_status check(labelled *w, const lapis_data *data,
                          const void *settings)
{
  lapis_ctx *ctx = w->base.ctx;
  const char *name = w->e->method->name;
  TRY(mat_check_finite(ctx, name, "Y", &data->Y, true));
  TRY(mat_check_weights(ctx, name, data->weight, data->X.cols));
  if (w->count == 0)
    return lapis_fail(ctx, LAPIS_EMISSING,
                      "%s: Y: no row has %s; samples with one are learnt from",
                      name, data->Y.rows > 1 ? "all its targets" : "a target");
  return w->e->check_unlabelled(ctx, name, data, settings, w->known);
}

static lapis_status pick(labelled *w, const lapis_data *data)
{
  lapis_ctx *ctx = w->base.ctx;
  bool *others = base_alloc(ctx, w->n, sizeof *others);
  if (others == NULL) return LAPIS_ENOMEM;
  for (int64_t j = 0; j < w->n; j++) others[j] = !w->known[j];
  lapis_status s = folds_take(ctx, data, w->known, &w->part);
  bool bags = solver_is_of_bags(w->e->method, "bags");
  lapis_data asked = {.X = data->X, .group = bags ? data->group : NULL};
  if (s >= 0) s = folds_take(ctx, &asked, others, &w->rest);
  base_free(others);
  return s;
}

static lapis_status build(labelled *w, const lapis_data *data,
                          const void *settings)
{
  lapis_ctx *ctx = w->base.ctx;
  w->n = data->X.cols;
  w->known = base_alloc(ctx, w->n, sizeof *w->known);
  w->used = arena_reals(&w->base.arena, w->n);
  w->row = base_alloc(ctx, w->n, sizeof *w->row);
  if (w->known == NULL || w->used == NULL || w->row == NULL)
    return LAPIS_ENOMEM;
  for (int64_t j = 0; j < w->n; j++) {
    w->known[j] = is_used(data, j);
    w->used[j] = w->known[j];
    w->count += w->known[j];
  }
  for (int64_t j = 0, at[2] = {w->count, 0}; j < w->n; j++)
    w->row[at[w->known[j]]++] = base_row(ctx, j, w->n) - 1;
  TRY(check(w, data, settings));
  TRY(pick(w, data));
  base_rows before = name_used(w);
  lapis_status s = w->e->create(ctx, &w->part.data, settings, &w->fit);
  (void)base_name_rows(ctx, before);
  TRY(s);
  base_note(ctx, BASE_NOTE, "rows-used",
            "%s: learnt from the %" PRId64 " of %" PRId64
            " rows that have %s%s; "
            "the others are answered",
            w->e->method->name, w->count, w->n,
            data->Y.rows > 1 ? "all their targets" : "a target",
            any_of_no_weight(data) ? " and a weight" : "");
  return LAPIS_OK;
}

lapis_status labelled_new(lapis_ctx *ctx, const method_entry *e,
                          const lapis_data *data, const void *settings,
                          lapis_solver **out)
{
  lapis_solver *s;
  TRY(solver_alloc(ctx, class_of(e->method), sizeof(labelled), &s));
  labelled *w = labelled_of(s);
  w->e = e;
  lapis_status status = build(w, data, settings);
  if (status >= 0) s->settings = w->fit->settings;
  return solver_deliver(s, status, out);
}
