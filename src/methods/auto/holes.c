/* holes.c - gaps of a table, filled by what fills hidden cells best.
 *
 *   draw folds of the known cells, those of a column evenly
 *   for some folds f:  fill the table without the cells of f, in each way
 *                      (holes_ways.c);  e_k: what way k is off there
 *   for each column:   weights w of the ways, w >= 0, sum w = 1, least
 *                      w' (sum e e' of the column + PRIOR (mean e e' of all)) w
 *   fill the table in each way; a gap holds the mean by its column's weights
 *
 * so that a column has its own mean of the ways as far as its hidden cells are
 * many, and that of all columns else.  Errors are in deviations of a column.
 * Adjacent features of 0 and 1, of which a sample has one 1 or knows none, are
 * one column of classes: hidden and learnt together, and filled with the class
 * of the largest answer.  A sample of weight 0 is filled and teaches nothing;
 * other weights count in lines, kernels and trees.
 *
 * A model keeps the table: new samples are filled with it, at weight 0, so that
 * what is answered of one does not depend on the others. */
#include "methods/auto/holes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "folds/folds.h"
#include "mat/mat.h"
#include "op/learn/blend.h"

enum { FOLDS = 10, ENOUGH = 2000 }; /* cells that are hidden */
static const double PRIOR = 100;    /* cells */

typedef struct holes {
  lapis_solver base;
  lapis_auto_settings set;
  holes_table t;
  lapis_data data;   /* that it is learnt from */
  int64_t d, n, all; /* n: samples that teach; all: with those that are asked */
  double *given;     /* d x all, NaN: a gap */
  double *mean, *scale, *low, *high, *weight;
  double *X, *Z; /* in units of the features; d x all, that x HOLES_WAYS */
  int ways;      /* that have been judged */
  double *gram;  /* HOLES_WAYS^2 x columns: sums of e e' */
  double *cells; /* columns: that are in them */
  double *weights, *error; /* HOLES_WAYS x d, d */
  double *filled;          /* d x all */
  double *known;           /* d x n, for a model */
  const char *called[HOLES_WAYS];
  double started, done, work; /* columns */
  bool judged, cancelled, late;
} holes;

/* ---- the table ----------------------------------------------------------*/
/* Features from i on that are one column. */
static int64_t width_at(const holes *w, int64_t i, double *sum)
{
  int64_t d = w->d;
  memset(sum, 0, (size_t)w->n * sizeof *sum);
  for (int64_t e = i; e < d; e++) {
    bool one = true;
    for (int64_t j = 0; j < w->n; j++) {
      double v = w->given[j * d + e], first = w->given[j * d + i];
      if (isnan(v) != isnan(first) || (v != 0 && v != 1 && !isnan(v))) return 1;
      if (!isnan(v)) sum[j] += v;
      if (sum[j] > 1) return 1;
      one = one && (isnan(v) || sum[j] > 0);
    }
    if (one && e > i) return e + 1 - i;
  }
  return 1;
}

static lapis_status find_columns(holes *w)
{
  double *sum = base_alloc(w->base.ctx, w->n, sizeof *sum);
  if (sum == NULL) return LAPIS_ENOMEM;
  for (int64_t i = 0; i < w->d; w->t.columns++) {
    w->t.first[w->t.columns] = i;
    i += width_at(w, i, sum);
  }
  w->t.first[w->t.columns] = w->d;
  base_free(sum);
  return LAPIS_OK;
}

/* Samples that teach, in units of their features. */
static lapis_status find_units(holes *w)
{
  lapis_mat X = lapis_mat_f64(w->given, w->d, w->n);
  mat_moments m = {w->d, w->error, w->mean, w->scale}; /* error: as room */
  TRY(mat_measure(w->base.ctx, &X, w->weight, &m));
  for (int64_t i = 0; i < w->d; i++) {
    if (!mat_varies(w->scale[i], w->mean[i])) w->scale[i] = 1;
    w->low[i] = INFINITY;
    w->high[i] = -INFINITY;
  }
  for (int64_t k = 0; k < w->d * w->all; k++) {
    int64_t i = k % w->d;
    w->X[k] = (w->given[k] - w->mean[i]) / w->scale[i];
    if (!(w->weight[k / w->d] > 0)) continue;
    w->low[i] = fmin(w->low[i], w->X[k]);
    w->high[i] = fmax(w->high[i], w->X[k]);
  }
  int64_t none = 0, first = -1;
  for (int64_t i = w->d - 1; i >= 0; i--) {
    if (w->low[i] <= w->high[i]) continue;
    w->low[i] = w->high[i] = 0;
    none++;
    first = i;
  }
  if (none > 0)
    base_note(w->base.ctx, BASE_WARNING, "never-seen",
              "auto: %" PRId64 " of %" PRId64 " features hold no value in any "
              "sample, feature %" PRId64 " first; their gaps are filled with 0",
              none, w->d, first + 1);
  return LAPIS_OK;
}

/* ---- progress -----------------------------------------------------------*/
static bool later(void *user)
{
  holes *w = user;
  lapis_progress now = {.method = "auto",
                        .iter = (int64_t)++w->done,
                        .objective = NAN,
                        .gap = NAN,
                        .residual = NAN,
                        .seconds = base_seconds() - w->started,
                        .done = fmin(w->done / w->work, 1)};
  w->cancelled = !base_show(w->base.ctx, &now) || base_cancelled(w->base.ctx);
  w->late = base_late(w->base.ctx);
  return !w->cancelled && !w->late;
}

/* ---- hidden cells -------------------------------------------------------*/
static void add_errors(holes *w, const double *truth, int ways)
{
  int64_t size = w->d * w->all;
  for (int64_t c = 0; c < w->t.columns; c++)
    for (int64_t i = w->t.first[c]; i < w->t.first[c + 1]; i++)
      for (int64_t k = i; k < size; k += w->d) {
        if (!isnan(w->X[k]) || isnan(truth[k])) continue;
        double *G = w->gram + c * HOLES_WAYS * HOLES_WAYS;
        double v = w->weight[k / w->d];
        w->cells[c] += v;
        for (int a = 0; a < ways; a++)
          for (int b = 0; b < ways; b++)
            G[a * HOLES_WAYS + b] += v * (w->Z[a * size + k] - truth[k]) *
                                     (w->Z[b * size + k] - truth[k]);
      }
}

/* Cells of a fold become gaps of X; how many. */
static int64_t hide(holes *w, const fold_plan *plan, int64_t fold)
{
  int64_t hidden = 0;
  for (int64_t c = 0; c < w->t.columns; c++)
    for (int64_t j = 0; j < w->n; j++) {
      int64_t first = w->t.first[c];
      if (plan->cell[j * w->d + first] != fold || !(w->weight[j] > 0)) continue;
      for (int64_t i = first; i < w->t.first[c + 1]; i++, hidden++)
        w->X[j * w->d + i] = NAN;
    }
  return hidden;
}

/* Folds until cells enough were hidden; time that runs out in the first one
 * leaves the ways that were done. */
static lapis_status judge(holes *w)
{
  lapis_ctx *ctx = w->base.ctx;
  lapis_mat X = lapis_mat_f64(w->given, w->d, w->n);
  fold_draw how = {.method = "auto",
                   .use = FOLDS_CELLS,
                   .samples = w->n,
                   .folds = FOLDS,
                   .group = w->data.group,
                   .Y = &X,
                   .cells = true,
                   .or_fewer = true};
  fold_plan plan;
  int64_t hidden = 0, size = w->d * w->n;
  TRY(folds_draw(ctx, &how, &plan));
  folds_say_groups(ctx, &how, &plan);
  double *truth = base_alloc_raw(ctx, size, sizeof *truth);
  lapis_status s = truth == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  if (s >= 0) memcpy(truth, w->X, (size_t)size * sizeof *truth);
  w->ways = 1;
  for (int64_t f = 0;
       f < plan.folds && plan.folds > 1 && hidden < ENOUGH && s >= 0; f++) {
    int ways = 0;
    int64_t some = hide(w, &plan, f);
    hidden += some;
    if (f == 0)
      w->work = HOLES_WAYS * 2 * (double)w->t.columns *
                (1 + fmin(FOLDS, ceil(ENOUGH / ((double)some + 1))));
    s = holes_fill(&w->t, w->Z, &ways);
    if (s >= 0 && f == 0) w->ways = ways;
    if (s >= 0 && (f == 0 || ways == w->ways)) add_errors(w, truth, ways);
    memcpy(w->X, truth, (size_t)size * sizeof *truth);
    if (w->late || w->cancelled) break;
  }
  base_free(truth);
  folds_free(&plan);
  return s;
}

/* ---- weights ------------------------------------------------------------*/
static void weigh_ways(holes *w)
{
  enum { SQUARE = HOLES_WAYS * HOLES_WAYS };
  double all[SQUARE] = {0}, cells = 0, G[SQUARE];
  for (int64_t c = 0; c < w->t.columns; c++) {
    cells += w->cells[c];
    for (int k = 0; k < SQUARE; k++) all[k] += w->gram[c * SQUARE + k];
  }
  memset(w->weights, 0, (size_t)(HOLES_WAYS * w->d) * sizeof *w->weights);
  for (int64_t c = 0; c < w->t.columns; c++) {
    double x[HOLES_WAYS] = {0};
    const double *own = w->gram + c * SQUARE;
    for (int k = 0; k < SQUARE; k++)
      G[k] = own[k] + (cells > 0 ? PRIOR * all[k] / cells : 0);
    op_blend(G, HOLES_WAYS, w->ways, x);
    double error =
        w->cells[c] > 0
            ? sqrt(op_blend_error(own, HOLES_WAYS, w->ways, x) / w->cells[c])
            : 1;
    for (int64_t i = w->t.first[c]; i < w->t.first[c + 1]; i++) {
      memcpy(w->weights + i * HOLES_WAYS, x, sizeof x);
      w->error[i] = error;
    }
  }
}

/* Only so many have filled the gaps. */
static void drop_ways(holes *w, int ways)
{
  w->ways = ways;
  for (int64_t i = 0; i < w->d; i++) {
    double sum = 0, *x = w->weights + i * HOLES_WAYS;
    for (int a = 0; a < ways; a++) sum += x[a];
    if (!(sum > 0)) x[0] = sum = 1;
    for (int a = 0; a < HOLES_WAYS; a++) x[a] = a < ways ? x[a] / sum : 0;
  }
}

/* ---- filling ------------------------------------------------------------*/
/* The class of the largest answer. */
static void decide(holes *w, int64_t j, int64_t from, int64_t to)
{
  double *x = w->filled + j * w->d;
  int64_t best = from;
  for (int64_t i = from; i < to; i++)
    if (x[i] > x[best]) best = i;
  for (int64_t i = from; i < to; i++) x[i] = i == best;
}

static void mix(holes *w)
{
  int64_t d = w->d, size = d * w->all;
  for (int64_t k = 0; k < size; k++) {
    const double *x = w->weights + k % d * HOLES_WAYS;
    double sum = 0;
    for (int a = 0; a < HOLES_WAYS; a++)
      if (x[a] > 0) sum += x[a] * w->Z[a * size + k];
    bool gap = isnan(w->given[k]);
    w->filled[k] = gap ? w->mean[k % d] + w->scale[k % d] * sum : w->given[k];
  }
  for (int64_t c = 0; c < w->t.columns; c++)
    for (int64_t j = 0; j < w->all; j++)
      if (w->t.first[c + 1] - w->t.first[c] > 1 &&
          isnan(w->given[j * d + w->t.first[c]]))
        decide(w, j, w->t.first[c], w->t.first[c + 1]);
}

/* Who has most weight in how many columns, and what hidden cells of these are
 * off. */
static void remark(const holes *w)
{
  char text[600] = "";
  for (int a = 0; a < HOLES_WAYS; a++) {
    int64_t columns = 0;
    double sum = 0;
    for (int64_t c = 0; c < w->t.columns; c++) {
      const double *x = w->weights + w->t.first[c] * HOLES_WAYS;
      bool most = w->cells[c] > 0;
      for (int b = 0; b < HOLES_WAYS; b++)
        most = most && (x[b] < x[a] || (x[b] == x[a] && b >= a));
      double e = w->error[w->t.first[c]];
      if (most) columns++, sum += e * e;
    }
    size_t used = strlen(text);
    if (columns > 0)
      (void)snprintf(text + used, sizeof text - used,
                     "%s%s in %" PRId64 " (%.3f)", used > 0 ? ", " : "",
                     w->called[a], columns, sqrt(sum / (double)columns));
  }
  if (*text != '\0')
    base_note(w->base.ctx, BASE_NOTE, "filled",
              "auto: gaps hold a mean of %d ways, each column's own; most "
              "weight has %s; in brackets the root mean squared error of "
              "hidden cells, in deviations of a column",
              w->ways, text);
}

/* ---- the solver ---------------------------------------------------------*/
static lapis_status fill(holes *w)
{
  int ways = 0;
  int64_t d = w->d;
  TRY(holes_fill(&w->t, w->Z, &ways));
  if (w->cancelled) return LAPIS_CANCELLED;
  if (ways < w->ways) drop_ways(w, ways);
  mix(w);
  solver_publish(&w->base, "completed",
                 lapis_mat_f64(w->filled + d * (w->all - w->data.X.cols), d,
                               w->data.X.cols));
  return w->late ? LAPIS_TIME_LIMIT : LAPIS_OK;
}

static lapis_status solve(lapis_solver *s)
{
  holes *w = (holes *)s;
  lapis_ctx *ctx = s->ctx;
  double before = base_deadline(ctx);
  w->started = base_seconds();
  double end = fmin(before, w->started + w->set.stop.seconds);
  if (isfinite(end))
    base_set_deadline(ctx, w->started + .7 * (end - w->started));
  lapis_status status = w->judged ? LAPIS_OK : judge(w);
  w->judged = status >= 0 && !w->cancelled;
  base_set_deadline(ctx, end);
  if (status >= 0 && w->cancelled) status = LAPIS_CANCELLED;
  if (status == LAPIS_OK) {
    bool late = w->late;
    weigh_ways(w);
    status = fill(w);
    if (late && status == LAPIS_OK) status = LAPIS_TIME_LIMIT;
  }
  base_set_deadline(ctx, before);
  s->info.seconds = base_seconds() - w->started;
  s->info.iterations = (int64_t)w->done;
  if (status < 0 || status == LAPIS_CANCELLED) return status;
  remark(w);
  if (status == LAPIS_TIME_LIMIT)
    base_note(s->ctx, BASE_WARNING, "late",
              "auto: time ran out before all ways had filled the gaps");
  s->told = true;
  solver_publish(s, "fill_ways", lapis_mat_text(w->called, 1, HOLES_WAYS));
  solver_publish(s, "fill_weights",
                 lapis_mat_f64(w->weights, HOLES_WAYS, w->d));
  solver_publish(s, "fill_error", lapis_mat_f64(w->error, 1, w->d));
  return status;
}

static lapis_status learn(lapis_solver *s)
{
  holes *w = (holes *)s;
  int64_t size = w->d * w->n;
  if (w->known == NULL) w->known = arena_reals(&s->arena, 2 * size);
  TRY(arena_status(&s->arena));
  for (int64_t k = 0; k < size; k++) {
    w->known[k] = !isnan(w->given[k]);
    w->known[size + k] = isnan(w->given[k]) ? 0 : w->given[k];
  }
  named_put(&s->learned, "known", lapis_mat_f64(w->known, w->d, w->n));
  named_put(&s->learned, "given", lapis_mat_f64(w->known + size, w->d, w->n));
  named_put(&s->learned, "sample_weights", lapis_mat_f64(w->weight, 1, w->n));
  named_put(&s->learned, "fill_weights",
            lapis_mat_f64(w->weights, HOLES_WAYS, w->d));
  return LAPIS_OK;
}

static void release(lapis_solver *s)
{
  (void)s; /* all of it is the arena's */
}

static const solver_class holes_class = {
    .method = "auto", .solve = solve, .free = release, .learn = learn};

/* n samples that teach, and others. */
static lapis_status make(lapis_ctx *ctx, const solver_class *class_, int64_t d,
                         int64_t n, int64_t others, lapis_solver **out)
{
  TRY(solver_alloc(ctx, class_, sizeof(holes), out));
  holes *w = (holes *)*out;
  arena *a = &w->base.arena;
  int64_t size = d * (n + others);
  w->d = d;
  w->n = n;
  w->all = n + others;
  w->given = arena_reals(a, size);
  w->X = arena_reals(a, size);
  w->Z = arena_reals(a, HOLES_WAYS * size);
  w->filled = arena_reals(a, size);
  w->mean = arena_reals(a, 5 * d);
  w->weight = arena_reals(a, w->all);
  w->weights = arena_reals(a, HOLES_WAYS * d);
  w->gram = arena_reals(a, HOLES_WAYS * HOLES_WAYS * d);
  w->cells = arena_reals(a, d);
  w->t.first = arena_take(a, d + 1, sizeof *w->t.first);
  TRY(arena_status(a));
  w->scale = w->mean + d;
  w->low = w->scale + d;
  w->high = w->low + d;
  w->error = w->high + d;
  for (int k = 0; k < HOLES_WAYS; k++) w->called[k] = holes_called(k);
  return la_open_host(ctx, &w->t.h);
}

/* given and weight are there. */
static lapis_status prepare(holes *w)
{
  TRY(find_columns(w));
  TRY(find_units(w));
  w->t.d = w->d;
  w->t.n = w->all;
  w->t.learnt = w->n;
  w->t.X = w->X;
  w->t.weight = w->weight;
  w->t.low = w->low;
  w->t.high = w->high;
  w->t.later = later;
  w->t.user = w;
  return LAPIS_OK;
}

static lapis_status begin(holes *w, const lapis_data *data)
{
  w->data = *data;
  mat_to_f64(&data->X, w->given, w->d);
  for (int64_t j = 0; j < w->n; j++)
    w->weight[j] = data->weight == NULL ? 1 : data->weight[j];
  return prepare(w);
}

/* The table, ways, room; g of a kernel (op/learn/kernel_ridge.c). */
double holes_hold(const solver_size *z)
{
  return (8 + HOLES_WAYS) * z->d * z->n + 400 * fmin(z->n, 5000);
}

lapis_status holes_new(lapis_ctx *ctx, const lapis_data *data,
                       const void *settings, lapis_solver **out)
{
  lapis_solver *s;
  const lapis_mat *X = &data->X;
  *out = NULL;
  if (X->colptr != NULL)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "auto: gaps of a sparse X are filled by mc with --absent "
                      "missing; here X is a dense one with NaN");
  TRY(mat_check_samples(ctx, "auto", X));
  TRY(mat_check_finite(ctx, "auto", "X", X, true));
  TRY(mat_check_weights(ctx, "auto", data->weight, X->cols));
  lapis_status status = make(ctx, &holes_class, X->rows, X->cols, 0, &s);
  holes *w = (holes *)s;
  if (status >= 0) {
    w->set = *(const lapis_auto_settings *)settings;
    s->settings = &w->set;
    status = begin(w, data);
  }
  return s == NULL ? status : solver_deliver(s, status, out);
}

/* ---- new samples --------------------------------------------------------*/
static lapis_status answer(lapis_solver *s)
{
  holes *w = (holes *)s;
  w->started = base_seconds();
  w->work = 2 * HOLES_WAYS * (double)w->t.columns;
  return fill(w);
}

static const solver_class answer_class = {
    .method = "auto", .solve = answer, .free = release};

lapis_status holes_predict_new(lapis_ctx *ctx, const lapis_data *data,
                               const void *settings, const named_list *learned,
                               const void *options, lapis_solver **out)
{
  lapis_solver *s;
  (void)settings;
  const lapis_mat *known = named_numbers(learned, "known", -1, -1);
  *out = NULL;
  int64_t d = known == NULL ? 0 : known->rows,
          n = known == NULL ? 0 : known->cols;
  const lapis_mat *given = named_numbers(learned, "given", d, n);
  const lapis_mat *weight = named_numbers(learned, "sample_weights", 1, n);
  const lapis_mat *by = named_numbers(learned, "fill_weights", HOLES_WAYS, d);
  if (n < 1 || given == NULL || weight == NULL || by == NULL)
    return lapis_fail(ctx, LAPIS_EFORMAT,
                      "auto: the model has no table to fill gaps by");
  if (data->X.rows != d)
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "auto: the model has %" PRId64
                      " features, and X has %" PRId64,
                      d, data->X.rows);
  TRY(mat_check_dense(ctx, "auto", "X", &data->X));
  TRY(mat_check_finite(ctx, "auto", "X", &data->X, true));
  lapis_status status = make(ctx, &answer_class, d, n, data->X.cols, &s);
  holes *w = (holes *)s;
  if (status >= 0) {
    w->data = *data;
    w->ways = HOLES_WAYS;
    w->set.size = *(const size_t *)options;
    s->settings = &w->set.size;
    for (int64_t k = 0; k < d * n; k++)
      w->given[k] = ((const double *)known->val)[k] > 0
                        ? ((const double *)given->val)[k]
                        : NAN;
    mat_to_f64(&data->X, w->given + d * n, d);
    memcpy(w->weight, weight->val, (size_t)n * sizeof *w->weight);
    memcpy(w->weights, by->val, (size_t)(HOLES_WAYS * d) * sizeof *w->weights);
    status = prepare(w);
  }
  return s == NULL ? status : solver_deliver(s, status, out);
}
