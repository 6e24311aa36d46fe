/* predict.c - the points of new images, matched to the slots of a model.
 *
 * Slot j is expected at q_j = mean_j + (basis c)_j.  An image's features are
 * assigned to slots at cost |f - q_j|^2 / reach_j^2; being absent costs 1, what
 * a feature at the reach does, so that nothing farther away is taken.
 *
 * Coordinates: c says from where the new image shows the object.  Assignment
 * and the fit of c to the points taken alternate, from the views that were
 * matched in training and come nearest, with a reach that shrinks to its own
 * size; the cheapest of these answers is kept. */
#include <math.h>
#include <string.h>

#include "methods/roml/roml.h"

enum { VIEWS = 6, ROUNDS = 6 };
static const double WIDEN[ROUNDS] = {4, 4, 2, 2, 1, 1};
/* How much the variance of c in training holds it back, beside points. */
static const double PRIOR = 0.01;
static const double MOST = 1e9; /* of a cost */

typedef struct finder_settings { /* nothing to choose but when to stop */
  size_t size;
  lapis_stop stop;
} finder_settings;
#define AT(field) offsetof(finder_settings, field)
static const lapis_param params[] = {PARAM_TIME_LIMIT};

static const lapis_result_row results[] = {
    RESULT("labels", "n", .help = "the slot of a point, from 1; 0: none"),
    RESULT("scores", "n", .help = "1 - distance / reach of the nearest slot"),
    RESULT("match", "images x inliers", .type = LAPIS_I64,
           .help = "rows of X, a column a slot; -1: absent"),
    RESULT("distance", "images x inliers",
           .help = "of the point from where its slot is expected"),
    RESULT("instance", "inliers", .type = LAPIS_I64,
           .help = "whose slot it is, from 1"),
    RESULT_NOTES,
};

const lapis_method roml_predict_method = {
    .name = "roml",
    .title = "matching objects in a set of images: new images",
    .summary =
        "which points of new images are the object's, and which of its points",
    .source = "[ROML16]",
    .reads = LAPIS_READS_X | LAPIS_READS_GROUP,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .results = results,
    .n_results = sizeof results / sizeof *results,
    .settings_size = sizeof(finder_settings)};

typedef struct finder {
  lapis_solver base;
  finder_settings set;
  roml_problem p;
  int64_t d, S, r, T;                           /* T: views of training */
  const double *mean, *basis, *columns, *reach; /* the model's; see learn.c */
  const double *whose;
  op_assign *solver;       /* S x (largest + S) */
  double *cost;            /* the same */
  double *q;               /* d x S: where slots are expected */
  double *c, *A;           /* r; r x (r + 1): the normal equations */
  double *variance, *kept; /* r each; kept: the best c so far */
  double *price;           /* T: of each view as it is */
  int64_t *pick, *best;    /* S: -1 absent */
  /* results */
  int64_t *match, *instance;          /* S x K; S */
  double *distance, *labels, *scores; /* S x K; N; N */
} finder;

/* ---- expectations -------------------------------------------------------*/
static void expect(finder *w, const double *c)
{
  int64_t rows = w->d * w->S;
  memcpy(w->q, w->mean, (size_t)rows * sizeof *w->q);
  for (int64_t a = 0; a < w->r; a++)
    for (int64_t i = 0; i < rows; i++) w->q[i] += c[a] * w->basis[a * rows + i];
}

static double cost_of(const finder *w, int64_t k, int64_t i, int64_t j)
{
  const double *f = roml_feature(&w->p, k, i), *q = w->q + j * w->d;
  double scale = w->p.scale[w->p.first[k] + i], sum = 0;
  for (int64_t a = 0; a < w->d; a++)
    sum += (scale * f[a] - q[a]) * (scale * f[a] - q[a]);
  return sum / (w->reach[j] * w->reach[j]);
}

/* pick <- image k's features for the slots; *total: what it costs. */
static lapis_status assign(finder *w, int64_t k, double widen, double *total)
{
  int64_t count = roml_count(&w->p, k), cols = count + w->S;
  for (int64_t j = 0; j < w->S; j++)
    for (int64_t i = 0; i < cols; i++)
      w->cost[j * cols + i] =
          i < count ? fmin(cost_of(w, k, i, j) / (widen * widen), MOST) : 1;
  assign_costs costs = {LAPIS_F64, w->S, cols, cols, w->cost};
  if (op_assign_solve(w->solver, &costs, false) >= 0)
    return lapis_fail(w->base.ctx, LAPIS_ENUMERIC,
                      "roml: distances overflow; X is not of the kind that "
                      "the model was learnt from");
  *total = w->solver->objective;
  for (int64_t j = 0; j < w->S; j++) {
    int64_t i = w->solver->match[j];
    w->pick[j] = i < count ? i : -1;
  }
  return LAPIS_OK;
}

/* ---- the view -----------------------------------------------------------*/
/* A symmetric positive system, r x (r + 1) with its right side, in place. */
static void solve_normal(double *A, int64_t r, double *x)
{
  for (int64_t i = 0; i < r; i++) {
    double pivot = fmax(A[i * (r + 1) + i], 1e-300);
    for (int64_t k = i + 1; k < r; k++) {
      double f = A[k * (r + 1) + i] / pivot;
      for (int64_t c = i; c <= r; c++)
        A[k * (r + 1) + c] -= f * A[i * (r + 1) + c];
    }
  }
  for (int64_t i = r - 1; i >= 0; i--) {
    x[i] = A[i * (r + 1) + r];
    for (int64_t c = i + 1; c < r; c++) x[i] -= A[i * (r + 1) + c] * x[c];
    x[i] /= fmax(A[i * (r + 1) + i], 1e-300);
  }
}

/* c <- the view that the points taken are best seen from. */
static void fit_view(finder *w, int64_t k)
{
  int64_t r = w->r, rows = w->d * w->S;
  memset(w->A, 0, (size_t)(r * (r + 1)) * sizeof *w->A);
  for (int64_t j = 0; j < w->S; j++) {
    if (w->pick[j] < 0) continue;
    const double *f = roml_feature(&w->p, k, w->pick[j]);
    double weight = 1 / (w->reach[j] * w->reach[j]);
    for (int64_t a = 0; a < w->d; a++) {
      const double *u = w->basis + j * w->d + a;
      double off = f[a] - w->mean[j * w->d + a];
      for (int64_t x = 0; x < r; x++) {
        for (int64_t y = 0; y < r; y++)
          w->A[x * (r + 1) + y] += weight * u[x * rows] * u[y * rows];
        w->A[x * (r + 1) + r] += weight * u[x * rows] * off;
      }
    }
  }
  for (int64_t x = 0; x < r; x++)
    w->A[x * (r + 1) + x] += PRIOR / w->variance[x];
  solve_normal(w->A, r, w->c);
}

/* An image that is cut short is not answered. */
static bool must_end(finder *w)
{
  lapis_progress now = {
      .rank = w->r, .objective = NAN, .gap = NAN, .residual = NAN};
  loop_show(&w->base.loop, &now, NAN);
  return loop_cut_short(&w->base.loop);
}

static lapis_status price_views(finder *w, int64_t k)
{
  for (int64_t t = 0; t < w->T && !must_end(w); t++) {
    expect(w, w->columns + t * w->r);
    TRY(assign(w, k, WIDEN[0], &w->price[t]));
  }
  return LAPIS_OK;
}

/* The cheapest view that was not taken yet; its price is spent. */
static int64_t next_view(finder *w)
{
  int64_t best = -1;
  for (int64_t t = 0; t < w->T; t++)
    if (w->price[t] < INFINITY && (best < 0 || w->price[t] < w->price[best]))
      best = t;
  if (best >= 0) w->price[best] = INFINITY;
  return best;
}

/* From one view of training; keeps it where it is cheaper than *least. */
static lapis_status settle_view(finder *w, int64_t k, int64_t view,
                                double *least)
{
  double total;
  memcpy(w->c, w->columns + view * w->r, (size_t)w->r * sizeof *w->c);
  for (int t = 0; t < ROUNDS; t++) {
    expect(w, w->c);
    TRY(assign(w, k, WIDEN[t], &total));
    fit_view(w, k);
  }
  expect(w, w->c);
  TRY(assign(w, k, 1, &total));
  if (!(total < *least)) return LAPIS_OK;
  *least = total;
  memcpy(w->best, w->pick, (size_t)w->S * sizeof *w->best);
  memcpy(w->kept, w->c, (size_t)w->r * sizeof *w->c);
  return LAPIS_OK;
}

static lapis_status find_view(finder *w, int64_t k, double *least)
{
  *least = INFINITY;
  TRY(price_views(w, k));
  for (int v = 0; v < VIEWS; v++) {
    int64_t view = next_view(w);
    if (view < 0 || must_end(w)) break;
    TRY(settle_view(w, k, view, least));
  }
  expect(w, w->kept);
  memcpy(w->pick, w->best, (size_t)w->S * sizeof *w->pick);
  return LAPIS_OK;
}

/* ---- the answer ---------------------------------------------------------*/
static void note_image(finder *w, int64_t k)
{
  const roml_problem *p = &w->p;
  for (int64_t i = 0; i < roml_count(p, k); i++) {
    double least = INFINITY;
    for (int64_t j = 0; j < w->S; j++) least = fmin(least, cost_of(w, k, i, j));
    w->scores[p->row[p->first[k] + i]] = 1 - sqrt(least);
  }
  for (int64_t j = 0; j < w->S; j++) {
    int64_t i = w->pick[j], at = k * w->S + j;
    w->match[at] = i < 0 ? -1 : p->row[p->first[k] + i];
    w->distance[at] = i < 0 ? -1 : sqrt(cost_of(w, k, i, j)) * w->reach[j];
    if (i >= 0) w->labels[w->match[at]] = (double)j + 1;
  }
}

static lapis_status look_at(finder *w, int64_t k, double *cost)
{
  if (w->r > 0) return find_view(w, k, cost);
  expect(w, NULL);
  return assign(w, k, 1, cost);
}

/* How many images were looked at. */
static lapis_status look_at_all(finder *w, int64_t *looked, double *total)
{
  loop *l = &w->base.loop;
  double cost;
  *total = 0;
  for (*looked = 0; *looked < w->p.K && !must_end(w) && loop_next(l);) {
    TRY(look_at(w, *looked, &cost));
    if (l->status != LAPIS_OK) return LAPIS_OK;
    note_image(w, *looked);
    *total += cost;
    ++*looked;
    base_say(l->ctx, 2, "roml: image %" PRId64 " of %" PRId64 " costs %.4g",
             *looked, w->p.K, cost);
  }
  return LAPIS_OK;
}

static void forget_answers(finder *w)
{
  int64_t slots = w->S * w->p.K;
  memset(w->labels, 0, (size_t)w->p.N * sizeof *w->labels);
  memset(w->scores, 0, (size_t)w->p.N * sizeof *w->scores);
  for (int64_t i = 0; i < slots; i++) w->match[i] = -1, w->distance[i] = -1;
}

static lapis_status solve(lapis_solver *s)
{
  finder *w = (finder *)s;
  static const char *const columns[] = {"iteration"};
  int64_t looked, K = w->p.K;
  lapis_stop stop = {.max_iters = K, .seconds = w->set.stop.seconds};
  TRY(loop_begin(&s->loop, s->ctx, "roml", &stop, 1, columns));
  forget_answers(w);
  TRY(look_at_all(w, &looked, &s->info.objective));
  if (looked < K)
    base_note(s->ctx, BASE_WARNING, "images-left-out",
              "roml: it ended after %" PRId64 " of %" PRId64
              " images; the points of the others are not there in the answer",
              looked, K);
  s->info.rank = w->r;
  s->info.iterations = looked;
  s->info.seconds = loop_seconds(&s->loop);
  solver_publish(s, "labels", lapis_mat_f64(w->labels, 1, w->p.N));
  solver_publish(s, "scores", lapis_mat_f64(w->scores, 1, w->p.N));
  solver_publish(s, "match", lapis_mat_i64(w->match, w->S, K));
  solver_publish(s, "distance", lapis_mat_f64(w->distance, w->S, K));
  solver_publish(s, "instance", lapis_mat_i64(w->instance, 1, w->S));
  return s->loop.status;
}

static void release(lapis_solver *s)
{
  finder *w = (finder *)s;
  roml_problem_free(&w->p);
  op_assign_free(w->solver);
}

static const solver_class finder_class = {
    .method = "roml", .solve = solve, .free = release};

/* ---- the model ----------------------------------------------------------*/
static lapis_status bad_model(const finder *w)
{
  return lapis_fail(w->base.ctx, LAPIS_EFORMAT,
                    "roml: the model's arrays do not fit together; a model is "
                    "what 'lapis fit roml ... --model F.lapis' writes");
}

static lapis_status read_model(finder *w, const named_list *learned)
{
  const lapis_mat *mean = named_numbers(learned, "mean", -1, -1);
  if (mean == NULL || mean->rows < 1 || mean->cols < 1) return bad_model(w);
  w->d = mean->rows, w->S = mean->cols;
  const lapis_mat *reach = named_numbers(learned, "reach", 1, w->S);
  const lapis_mat *whose = named_numbers(learned, "instance", 1, w->S);
  const lapis_mat *basis = named_numbers(learned, "basis", w->d * w->S, -1);
  if (reach == NULL || whose == NULL) return bad_model(w);
  w->mean = mean->val, w->reach = reach->val, w->whose = whose->val;
  for (int64_t j = 0; j < w->S; j++)
    if (!(w->reach[j] > 0) || !number_is_whole(w->whose[j], 1, (double)w->S))
      return bad_model(w);
  if (basis == NULL || basis->cols < 1) return LAPIS_OK;
  const lapis_mat *columns = named_numbers(learned, "columns", basis->cols, -1);
  if (columns == NULL || columns->cols < 1) return bad_model(w);
  w->r = basis->cols, w->T = columns->cols;
  w->basis = basis->val, w->columns = columns->val;
  return LAPIS_OK;
}

static void set_variance(finder *w)
{
  for (int64_t a = 0; a < w->r; a++) {
    double sum = 0;
    for (int64_t t = 0; t < w->T; t++)
      sum += w->columns[t * w->r + a] * w->columns[t * w->r + a];
    w->variance[a] = fmax(sum / (double)w->T, 1e-300);
  }
}

static lapis_status allocate(finder *w)
{
  arena *a = &w->base.arena;
  int64_t cols = w->p.largest + w->S, slots = w->S * w->p.K;
  TRY(op_assign_new(w->base.ctx, w->S, cols, &w->solver));
  w->cost = arena_reals(a, w->S * cols);
  w->q = arena_reals(a, w->d * w->S);
  w->c = arena_reals(a, w->r + 1);
  w->A = arena_reals(a, w->r * (w->r + 1) + 1);
  w->variance = arena_reals(a, w->r + 1);
  w->kept = arena_reals(a, w->r + 1);
  w->price = arena_reals(a, w->T + 1);
  w->pick = arena_take(a, w->S, sizeof *w->pick);
  w->best = arena_take(a, w->S, sizeof *w->best);
  w->match = arena_take(a, slots, sizeof *w->match);
  w->instance = arena_take(a, w->S, sizeof *w->instance);
  w->distance = arena_reals(a, slots);
  w->labels = arena_reals(a, w->p.N);
  w->scores = arena_reals(a, w->p.N);
  TRY(arena_status(a));
  set_variance(w);
  for (int64_t j = 0; j < w->S; j++) w->instance[j] = (int64_t)w->whose[j];
  return LAPIS_OK;
}

/* Without groups all features are of one image. */
static lapis_status read_images(finder *w, const lapis_data *data,
                                const lapis_roml_settings *set)
{
  lapis_ctx *ctx = w->base.ctx;
  const int64_t *group = data->group;
  if (data->X.rows != w->d)
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "roml: X has %" PRId64 " column(s), the model was learnt "
                      "from %" PRId64,
                      data->X.rows, w->d);
  TRY(mat_check_finite(ctx, "roml", "X", &data->X, false));
  int64_t *one = NULL;
  if (group == NULL) group = one = base_alloc(ctx, data->X.cols, sizeof *one);
  if (group == NULL) return LAPIS_ENOMEM;
  lapis_status s = roml_problem_sort(ctx, data, group, &w->p);
  base_free(one);
  return s < 0 ? s : roml_problem_scale(ctx, set, &w->p);
}

lapis_status roml_predict_new(lapis_ctx *ctx, const lapis_data *data,
                              const void *settings, const named_list *learned,
                              const void *options, lapis_solver **out)
{
  lapis_solver *s;
  *out = NULL;
  TRY(solver_alloc(ctx, &finder_class, sizeof(finder), &s));
  finder *w = (finder *)s;
  w->set = *(const finder_settings *)options;
  s->settings = &w->set;
  lapis_status status = read_model(w, learned);
  if (status >= 0) status = read_images(w, data, settings);
  if (status >= 0) status = allocate(w);
  return solver_deliver(s, status, out);
}
