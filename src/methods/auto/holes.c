/* holes.c - gaps of a table, filled by what fills hidden cells best.
 *
 *   draw folds of the known cells, those of a column evenly
 *   for some folds f:  fill the table without the cells of f, in each way
 *                      (holes_ways.c);  e_k: what way k is off there
 *   for each column:   weights w of the ways, w >= 0, sum w = 1, least
 *                      w' (sum e e' of the column + PRIOR (mean e e' of all)) w
 *                      times s in [0, 1], by the column alone: 1 - s is the
 *                      weight of the column's own mean
 *                      s = 0 where hidden cells do not come nearer than by
 *                      that alone, by a standard error (folds/unsure.h)
 *   fill the table in each way; a gap holds the mean by its column's weights
 *
 * so that a column has its own mean of the ways as far as its hidden cells are
 * many, and that of all columns else.  Errors are in deviations of a column; of
 * classes, whose mean decides for the commonest, wrong answers are counted, and
 * groups err as a whole.
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
#include <stdlib.h>
#include <string.h>

#include "folds/folds.h"
#include "folds/unsure.h"
#include "mat/mat.h"
#include "methods/common_remarks.h"
#include "op/learn/blend.h"

enum { FOLDS = 10, ENOUGH = 2000 }; /* cells that are hidden */
static const double PRIOR = 100;    /* cells */
static const double NEAR = 0.005;   /* of the squared error of all ways */

/* A feature of a hidden cell, in units of the feature. */
typedef struct hidden_cell {
  int64_t column, unit, place; /* unit: of samples that err together */
  double truth, weight;
  double said[1 + HOLES_WAYS]; /* first the mean of what was seen */
} hidden_cell;

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
  hidden_cell *held;
  int64_t n_held;
  double *gram;            /* (1 + HOLES_WAYS)^2 x columns: sums of e e' */
  double *cells;           /* columns: that are in them */
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

/* "income"; of features that are one column of classes what is before the "="
 * of their names; "feature 3" where nothing names them. */
static void call_column(const holes *w, int64_t c, char to[REMARK_VALUE])
{
  int64_t i = w->t.first[c];
  remark_feature(&w->data, i, to);
  char *end = strrchr(to, '=');
  if (w->t.first[c + 1] - i > 1 && end != NULL) *end = '\0';
}

/* Columns of which no sample has a value. */
static void remark_never(const holes *w)
{
  char name[REMARK_VALUE];
  int64_t none = 0;
  for (int64_t c = w->t.columns - 1; c >= 0; c--) {
    if (!isnan(w->low[w->t.first[c]])) continue;
    call_column(w, c, name);
    none++;
  }
  if (none > 0)
    base_note(w->base.ctx, BASE_WARNING, "never-seen",
              "auto: %" PRId64 " of %" PRId64 " columns hold no value in any "
              "sample, %s first; their gaps are filled with 0",
              none, w->t.columns, name);
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
  for (int64_t i = 0; i < w->d; i++)
    if (!(w->low[i] <= w->high[i])) w->low[i] = w->high[i] = NAN;
  remark_never(w);
  for (int64_t i = 0; i < w->d; i++)
    if (isnan(w->low[i])) w->low[i] = w->high[i] = 0;
  holes_ends e = {w->d,    w->all,   w->X,   w->weight,
                  w->mean, w->scale, w->low, w->high};
  return holes_widen(w->base.ctx, &e);
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
static double seen_mean(const holes *w, int64_t i)
{
  double sum = 0, all = 0;
  for (int64_t j = 0; j < w->n; j++) {
    double x = w->X[j * w->d + i];
    if (isnan(x) || !(w->weight[j] > 0)) continue;
    sum += w->weight[j] * x;
    all += w->weight[j];
  }
  return all > 0 ? sum / all : 0;
}

/* What the ways say of the cells that are hidden now; error: d of room. */
static lapis_status hold(holes *w, const fold_plan *plan, const double *truth,
                         int64_t more, int ways)
{
  int64_t size = w->d * w->all;
  void *held = w->held;
  TRY(base_grow(w->base.ctx, &held, w->n_held, w->n_held + more,
                sizeof *w->held));
  w->held = held;
  for (int64_t i = 0; i < w->d; i++) w->error[i] = seen_mean(w, i);
  for (int64_t c = 0; c < w->t.columns; c++)
    for (int64_t j = 0; j < w->n; j++)
      for (int64_t i = w->t.first[c]; i < w->t.first[c + 1]; i++) {
        int64_t k = j * w->d + i;
        if (!isnan(w->X[k]) || isnan(truth[k])) continue;
        hidden_cell *to = &w->held[w->n_held++];
        *to = (hidden_cell){c,        plan->unit[j], k,
                            truth[k], w->weight[j],  {w->error[i]}};
        for (int a = 0; a < ways; a++) to->said[1 + a] = w->Z[a * size + k];
      }
  return LAPIS_OK;
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
  w->n_held = 0;
  for (int64_t f = 0;
       f < plan.folds && plan.folds > 1 && hidden < ENOUGH && s >= 0; f++) {
    int ways = HOLES_WAYS;
    int64_t some = hide(w, &plan, f);
    hidden += some;
    if (f == 0)
      w->work = HOLES_WAYS * 2 * (double)w->t.columns *
                (1 + fmin(FOLDS, ceil(ENOUGH / ((double)some + 1))));
    s = holes_fill(&w->t, w->Z, &ways);
    if (s >= 0 && f == 0) w->ways = ways;
    if (s >= 0 && (f == 0 || ways == w->ways))
      s = hold(w, &plan, truth, some, ways);
    memcpy(w->X, truth, (size_t)size * sizeof *truth);
    if (w->late || w->cancelled) break;
  }
  base_free(truth);
  folds_free(&plan);
  return s;
}

/* ---- weights ------------------------------------------------------------*/
enum { SIDE = 1 + HOLES_WAYS, SQUARE = SIDE * SIDE };

static void sum_errors(holes *w)
{
  memset(w->gram, 0, (size_t)(w->t.columns * SQUARE) * sizeof *w->gram);
  memset(w->cells, 0, (size_t)w->t.columns * sizeof *w->cells);
  for (const hidden_cell *h = w->held; h < w->held + w->n_held; h++) {
    double *G = w->gram + h->column * SQUARE;
    w->cells[h->column] += h->weight;
    for (int a = 0; a <= w->ways; a++)
      for (int b = 0; b <= w->ways; b++)
        G[a * SIDE + b] +=
            h->weight * (h->said[a] - h->truth) * (h->said[b] - h->truth);
  }
}

static double mean_by(const double *x, const hidden_cell *h)
{
  double rest = 1, sum = 0;
  for (int a = 0; a < HOLES_WAYS; a++) {
    sum += x[a] * h->said[1 + a];
    rest -= x[a];
  }
  return sum + fmax(rest, 0) * h->said[0];
}

/* What a fill by x, and one by the mean of its column, cost at a cell. */
static void find_costs(const holes *w, const double *x, const hidden_cell *cell,
                       double cost[2])
{
  int64_t c = cell->column, width = w->t.first[c + 1] - w->t.first[c];
  double most[3] = {-INFINITY, -INFINITY, -INFINITY};
  int64_t at[3] = {0}; /* the class by x, by the mean, and of the truth */
  for (int64_t i = 0; i < width; i++) {
    const hidden_cell *h = cell + i;
    double v[3] = {mean_by(x, h), h->said[0], h->truth};
    for (int k = 0; k < 3; k++) {
      int64_t f = w->t.first[c] + i;
      double of = w->mean[f] + w->scale[f] * v[k];
      if (of > most[k]) most[k] = of, at[k] = i;
    }
    for (int k = 0; k < 2; k++)
      cost[k] = h->weight *
                (width > 1 ? at[k] != at[2] : (v[k] - v[2]) * (v[k] - v[2]));
  }
}

static int by_column(const void *a, const void *b)
{
  const hidden_cell *x = a, *y = b;
  if (x->column != y->column) return x->column < y->column ? -1 : 1;
  if (x->unit != y->unit) return x->unit < y->unit ? -1 : 1;
  return (x->place > y->place) - (x->place < y->place);
}

/* Columns that are not ahead of their mean by a standard error are filled with
 * it.  Two would leave those to it that are told of a little, by few cells. */
static void prefer_means(holes *w)
{
  for (int64_t k = 0; k < w->n_held;) {
    int64_t c = w->held[k].column, first = w->t.first[c];
    int64_t end = w->t.first[c + 1];
    double error, *x = w->weights + first * HOLES_WAYS;
    regression_sums sums = {.units = 0};
    while (k < w->n_held && w->held[k].column == c) {
      int64_t unit = w->held[k].unit;
      double of[2] = {0, 0};
      for (; k < w->n_held && w->held[k].column == c && w->held[k].unit == unit;
           k += end - first) {
        double cost[2] = {0, 0};
        find_costs(w, x, w->held + k, cost);
        of[0] += cost[0];
        of[1] += cost[1];
      }
      regression_add(&sums, of[0], of[1]);
    }
    double r2 = regression_of(&sums, &error);
    if (!(r2 > error))
      memset(x, 0, (size_t)((end - first) * HOLES_WAYS) * sizeof *x);
  }
}

/* Root mean squared error of hidden cells. */
static double error_of(const holes *w, int64_t c)
{
  double x[SIDE] = {1};
  if (!(w->cells[c] > 0)) return 1;
  for (int a = 0; a < HOLES_WAYS; a++) {
    x[1 + a] = w->weights[w->t.first[c] * HOLES_WAYS + a];
    x[0] -= x[1 + a];
  }
  return sqrt(op_blend_error(w->gram + c * SQUARE, SIDE, 1 + w->ways, x) /
              w->cells[c]);
}

/* s of least error of s times x'ways and 1 - s times the mean. */
static double share_of_ways(const double *G, int ways, const double *x)
{
  double of_mean = G[0], both = 0;
  for (int a = 0; a < ways; a++) both += x[a] * G[1 + a];
  double own = op_blend_error(G + SIDE + 1, SIDE, ways, x);
  double apart = own - 2 * both + of_mean;
  return apart > 0 ? fmin(fmax((of_mean - both) / apart, 0), 1) : 0;
}

static void weigh_ways(holes *w)
{
  double all[SQUARE] = {0}, cells = 0, G[SQUARE];
  sum_errors(w);
  if (w->n_held > 0)
    qsort(w->held, (size_t)w->n_held, sizeof *w->held, by_column);
  for (int64_t c = 0; c < w->t.columns; c++) {
    cells += w->cells[c];
    for (int k = 0; k < SQUARE; k++) all[k] += w->gram[c * SQUARE + k];
  }
  memset(w->weights, 0, (size_t)(HOLES_WAYS * w->d) * sizeof *w->weights);
  for (int64_t c = 0; c < w->t.columns && cells > 0; c++) {
    double x[HOLES_WAYS] = {0};
    const double *own = w->gram + c * SQUARE;
    for (int k = 0; k < SQUARE; k++) G[k] = own[k] + PRIOR * all[k] / cells;
    op_blend(G + SIDE + 1, SIDE, w->ways, x);
    double s = w->cells[c] > 0 ? share_of_ways(own, w->ways, x) : 1;
    for (int a = 0; a < HOLES_WAYS; a++) x[a] *= s;
    for (int64_t i = w->t.first[c]; i < w->t.first[c + 1]; i++)
      memcpy(w->weights + i * HOLES_WAYS, x, sizeof x);
  }
  prefer_means(w);
  for (int64_t c = 0; c < w->t.columns; c++)
    for (int64_t i = w->t.first[c]; i < w->t.first[c + 1]; i++)
      w->error[i] = error_of(w, c);
}

/* Squared error of all hidden cells by so many ways. */
static double error_by(holes *w, int ways)
{
  double sum = 0;
  w->ways = ways;
  weigh_ways(w);
  for (int64_t c = 0; c < w->t.columns; c++)
    sum += w->cells[c] * w->error[w->t.first[c]] * w->error[w->t.first[c]];
  return sum;
}

/* The first few that are nearly as good as all: the others are dear, and would
 * have to learn the table once more for new samples. */
static void choose_ways(holes *w)
{
  int all = w->ways, ways = 1;
  double most = (1 + NEAR) * error_by(w, all);
  while (error_by(w, ways) > most && ways < all) ways++;
}

/* Only so many have filled the gaps: they have the weights of the others. */
static void drop_ways(holes *w, int ways)
{
  w->ways = ways;
  for (int64_t i = 0; i < w->d; i++) {
    double all = 0, sum = 0, *x = w->weights + i * HOLES_WAYS;
    for (int a = 0; a < HOLES_WAYS; a++) {
      all += x[a];
      sum += a < ways ? x[a] : 0;
    }
    for (int a = 0; a < HOLES_WAYS; a++)
      x[a] = a < ways && sum > 0 ? x[a] / sum * all : 0;
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

/* ---- remarks ------------------------------------------------------------*/
static bool is_mean(const holes *w, int64_t c)
{
  const double *x = w->weights + w->t.first[c] * HOLES_WAYS;
  bool some = false;
  for (int a = 0; a < HOLES_WAYS; a++) some = some || x[a] > 0;
  return w->cells[c] > 0 && w->error[w->t.first[c]] > 0 && !some;
}

/* The way of most weight; HOLES_WAYS: the mean. */
static int first_way(const holes *w, int64_t c)
{
  const double *x = w->weights + w->t.first[c] * HOLES_WAYS;
  double rest = 1;
  int best = 0;
  for (int a = 0; a < HOLES_WAYS; a++) {
    rest -= x[a];
    if (x[a] > x[best]) best = a;
  }
  return rest > x[best] ? HOLES_WAYS : best;
}

/* Who has most weight in how many columns, and what hidden cells of these are
 * off. */
static void remark_ways(const holes *w)
{
  char text[600] = "";
  for (int a = 0; a <= HOLES_WAYS; a++) {
    int64_t columns = 0;
    double sum = 0;
    for (int64_t c = 0; c < w->t.columns; c++) {
      double e = w->error[w->t.first[c]];
      if (w->cells[c] > 0 && e > 0 && !is_mean(w, c) && first_way(w, c) == a)
        columns++, sum += e * e;
    }
    size_t used = strlen(text);
    if (columns > 0)
      (void)snprintf(text + used, sizeof text - used,
                     "%s%s in %" PRId64 " (%.3f)", used > 0 ? ", " : "",
                     a < HOLES_WAYS ? w->called[a] : "the column's mean",
                     columns, sqrt(sum / (double)columns));
  }
  if (*text != '\0')
    base_note(w->base.ctx, BASE_NOTE, "filled",
              "auto: gaps are filled by a mean of the column's mean and of %d "
              "model(s), weighed for each column; most weight has %s; in "
              "brackets the root mean squared error of cells that were hidden "
              "by chance, in deviations of a column; where values are missing "
              "for being large or small it is larger",
              w->ways, text);
}

static bool has_gap(const holes *w, int64_t c)
{
  for (int64_t j = w->all - w->data.X.cols; j < w->all; j++)
    if (isnan(w->given[j * w->d + w->t.first[c]])) return true;
  return false;
}

/* What is filled as if nothing else were known of a sample. */
static void remark_means(const holes *w)
{
  enum { NAMED = 8 };
  char text[NAMED * (REMARK_VALUE + 2) + 64] = "", name[REMARK_VALUE];
  int64_t count = 0, said = 0;
  for (int64_t c = 0; c < w->t.columns; c++)
    count += is_mean(w, c) && has_gap(w, c);
  for (int64_t c = 0; c < w->t.columns && said < NAMED; c++) {
    if (!is_mean(w, c) || !has_gap(w, c)) continue;
    size_t used = strlen(text);
    bool last = ++said == count;
    call_column(w, c, name);
    (void)snprintf(text + used, sizeof text - used, "%s%s",
                   said == 1 ? ""
                   : last    ? " and "
                             : ", ",
                   name);
  }
  size_t used = strlen(text);
  if (count > said)
    (void)snprintf(text + used, sizeof text - used, " and %" PRId64 " more",
                   count - said);
  if (count > 0)
    base_note(w->base.ctx, BASE_WARNING, "filled-plain",
              "auto: %s: hidden cells are predicted no better, by a standard "
              "error, than by the column's mean or commonest word, which fills "
              "its gaps",
              text);
}

/* ---- the solver ---------------------------------------------------------*/
static lapis_status fill(holes *w)
{
  int ways = w->ways;
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
    choose_ways(w);
    status = fill(w);
    if (late && status == LAPIS_OK) status = LAPIS_TIME_LIMIT;
  }
  base_set_deadline(ctx, before);
  s->info.seconds = base_seconds() - w->started;
  if (status < 0 || status == LAPIS_CANCELLED) return status;
  remark_ways(w);
  remark_means(w);
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
  base_free(((holes *)s)->held); /* all else is the arena's */
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
  w->gram = arena_reals(a, SQUARE * d);
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
  double cells = z->d * z->n;
  double held = (double)sizeof(hidden_cell) / (double)sizeof(double);
  return (8 + HOLES_WAYS) * cells + held * fmin(cells, ENOUGH + cells / FOLDS) +
         400 * fmin(z->n, 5000);
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

/* Of those that have a weight. */
static int last_way(const lapis_mat *weights)
{
  int last = 0;
  const double *x = weights->val;
  for (int64_t k = 0; k < weights->cols * HOLES_WAYS; k++)
    if (x[k] > 0 && k % HOLES_WAYS > last) last = (int)(k % HOLES_WAYS);
  return last;
}

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
    w->ways = last_way(by) + 1;
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
