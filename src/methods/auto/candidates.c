/* candidates.c - the candidates of a race, and how they answer for a fold.
 *
 * A handful is enough: over 53 tasks a grid of 34 settings was no better than
 * the seven of mc here.  Labels are coded with the rarer known value as 1,
 * counted once over all known labels; every solve starts cold, so that what a
 * candidate answers does not depend on who ran before. */
#include "methods/auto/candidates.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "methods/method_entry.h"
#include "op/learn/ridge.h"
#include "solver/solver.h"

static const double LOOSE_TOL = 1e-3;
enum { LOOSE_ITERS = 200 };

enum { ROWS = 6 };
static const struct {
  variant_maps maps;
  mc_row row[ROWS];
} of_variant[] = {
    [LAPIS_MC_1] = {{.map = "standard",
                     .sparse = "none",
                     .alone = "standard",
                     .counts = true},
                    {{LAPIS_MC_LABELS_RARE, .3, .1, 3},
                     {LAPIS_MC_LABELS_RARE, .3, 1, 3},
                     {LAPIS_MC_LABELS_RARE, .7, 1, 3},
                     {LAPIS_MC_LABELS_PM, .3, .1, 10},
                     {LAPIS_MC_LABELS_PM, .02, .1, 3}}},
    [LAPIS_MC_POS] = {{.map = "scale:auto,scale:10", .alone = "none"},
                      {{LAPIS_MC_LABELS_RARE, .016, .1, 1},
                       {LAPIS_MC_LABELS_RARE, .008, .1, 1},
                       {LAPIS_MC_LABELS_RARE, .004, .1, 1},
                       {LAPIS_MC_LABELS_RARE, .002, .1, 1},
                       {LAPIS_MC_LABELS_RARE, .008, .01, 1},
                       {LAPIS_MC_LABELS_RARE, .002, .01, 1}}},
    [LAPIS_MC_SIMPLEX] = {{.map = "none", .sparse = "none", .alone = "none"},
                          {{LAPIS_MC_LABELS_RARE, .3, .01, 3},
                           {LAPIS_MC_LABELS_RARE, .1, .01, 3},
                           {LAPIS_MC_LABELS_RARE, .03, .01, 3},
                           {LAPIS_MC_LABELS_RARE, .1, .1, 3},
                           {LAPIS_MC_LABELS_RARE, .03, .1, 3}}}};
/* of what counts are read as beside `standard` */
static const mc_row of_counts[ROWS] = {{LAPIS_MC_LABELS_RARE, .3, 1, 3},
                                       {LAPIS_MC_LABELS_RARE, .3, .1, 3}};
static const double weights[] = {.01, .1, 1}; /* C of linear ones */
enum { LEAF = 2 }; /* of trees; 1 follows flipped labels, 3 loses classes */
static const int64_t leaves[] = {1, 3}; /* of forests */
static const double BOOSTED_RATE = .1;
enum { BOOSTED = 2 };
static const int64_t boosted[BOOSTED][2] = {{100, 2}, {100, 4}};
/* Behind a kernel, whose features are of length 1 at most: C, and widths. */
static const double kernel_weights[] = {1, 10}, widths[] = {1, .25};

/* misvm, of bags */
static const double svm_weights[] = {1, 10};
static const int svm_kernels[] = {LAPIS_KERNEL_RBF, LAPIS_KERNEL_LINEAR};

const variant_maps *candidates_maps(int variant)
{
  return &of_variant[variant].maps;
}

/* ---- the list -----------------------------------------------------------*/
static bool same(const candidate *a, const candidate *b)
{
  return a->kind == b->kind && a->filled == b->filled && a->map == b->map &&
         a->C == b->C && a->kernel == b->kernel && a->leaf == b->leaf &&
         a->grown == b->grown && a->count == b->count && a->depth == b->depth &&
         a->rate == b->rate && (a->share >= 1) == (b->share >= 1) &&
         a->svm_kernel == b->svm_kernel && a->turned == b->turned &&
         a->set.labels == b->set.labels && a->set.lambda == b->set.lambda &&
         a->set.gamma == b->set.gamma && a->set.mu_rel == b->set.mu_rel;
}

int candidates_place(comparison *r, const candidate *x)
{
  for (int i = 0; i < r->count; i++)
    if (same(&r->run[i], x)) return i;
  if (r->count == MOST_CANDIDATES) return -1;
  r->run[r->count] = *x;
  return r->count++;
}

/* What is stated stays as it is. */
bool candidates_add_mc(comparison *r, int map, const mc_row *at)
{
  candidate x = {.map = map, .set = r->set};
  unsigned stated = r->o.stated;
  if ((stated & STATED_LABELS) == 0) x.set.labels = at->labels;
  if ((stated & STATED_LAMBDA) == 0) x.set.lambda = at->lambda;
  if ((stated & STATED_GAMMA) == 0) x.set.gamma = at->gamma;
  if ((stated & STATED_MU) == 0) {
    x.set.mu = NAN;
    x.set.mu_rel = at->mu_rel;
  }
  if (x.set.labels == LAPIS_MC_LABELS_RARE && r->labels.kind == TARGETS_CLASS)
    x.set.labels = LAPIS_MC_LABELS_01; /* a class has a row of its own */
  return candidates_add(r, &x);
}

/* Logistic regressions behind kernels, widths together. */
static lapis_status add_kernels(comparison *r, int map)
{
  for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
    candidate x = {.kind = CANDIDATE_LINEAR, .map = map};
    TRY(kernels_find(r, map, widths[w], &x.kernel));
    for (int fills = 0; x.kernel > 0 && fills <= (r->fills && map == 0);
         fills++)
      for (size_t k = 0; k < sizeof kernel_weights / sizeof(double); k++) {
        x.filled = fills;
        x.C = kernel_weights[k];
        candidates_add(r, &x);
      }
  }
  return LAPIS_OK;
}

void candidates_filler(comparison *r)
{
  candidates_add_mc(r, 0, &of_variant[r->set.variant].row[0]);
}

static bool trees_pay(const comparison *r)
{
  return r->o.trees && r->n <= MOST_GROWN;
}

/* Of d features: three tenths, of many fewer; as it is written. */
static double boosted_share(int64_t d)
{
  return round(100 * fmin(.3, 3 / sqrt((double)d))) / 100;
}

candidate candidates_boosted_at(const comparison *r, int k)
{
  return (candidate){.kind = CANDIDATE_BOOSTED,
                     .grown = TREES_BOOSTED,
                     .count = boosted[k][0],
                     .depth = boosted[k][1],
                     .share = boosted_share(r->X[0].rows),
                     .rate = BOOSTED_RATE,
                     .leaf = BOOSTED_LEAF};
}

void candidates_boosted(comparison *r)
{
  for (int k = 0; k < BOOSTED; k++) {
    candidate x = candidates_boosted_at(r, k);
    candidates_add(r, &x);
  }
}

void candidate_complete(const comparison *r, candidate *x)
{
  candidate first = {.count = RACE_TREES, .leaf = LEAF, .share = NAN};
  if (x->kind == CANDIDATE_MC && isnan(x->set.mu) && isnan(x->set.mu_rel))
    x->set.mu_rel = of_variant[r->set.variant].row[0].mu_rel;
  if (x->kind == CANDIDATE_LINEAR && !(x->C > 0))
    x->C = lapis_linear_defaults().C;
  if (x->kind == CANDIDATE_MISVM && !(x->C > 0)) x->C = svm_weights[0];
  if (!candidate_grows(x)) return;
  if (x->grown == TREES_FOREST) first.leaf = leaves[0];
  if (x->kind == CANDIDATE_BOOSTED) first = candidates_boosted_at(r, 0);
  if (x->count == 0) x->count = first.count;
  if (x->leaf == 0) x->leaf = first.leaf;
  if (x->depth == 0) x->depth = first.depth;
  if (x->rate == 0) x->rate = first.rate;
  if (isnan(x->share)) x->share = first.share;
}

static void list_svms(comparison *r)
{
  for (int k = 0; r->o.misvm && k < 4; k++)
    for (int i = 0; i < 2; i++)
      candidates_add(r, &(candidate){.kind = CANDIDATE_MISVM,
                                     .svm_kernel = svm_kernels[k % 2],
                                     .turned = k > 1,
                                     .C = svm_weights[i]});
}

lapis_status candidates_list(comparison *r)
{
  for (int i = 0; r->o.mc && i < ROWS; i++)
    if (of_variant[r->set.variant].row[i].gamma > 0)
      candidates_add_mc(r, 0, &of_variant[r->set.variant].row[i]);
  int maps = r->counts ? r->n_maps : 1; /* lines alone read lengths */
  for (int i = 0; r->o.mc && r->counts && i < ROWS; i++)
    if (of_counts[i].gamma > 0) candidates_add_mc(r, 1, &of_counts[i]);
  for (int map = 0; r->o.linear && map < r->n_maps; map++)
    for (size_t k = 0; k < sizeof weights / sizeof *weights; k++) {
      candidate x = {.kind = CANDIDATE_LINEAR, .map = map, .C = weights[k]};
      candidates_add(r, &x);
      x.filled = true;
      if (r->fills && map == 0) candidates_add(r, &x);
    }
  for (int map = 0; kernels_pay(r) && map < maps; map++)
    TRY(add_kernels(r, map));
  for (int map = 0; trees_pay(r) && map < maps; map++) {
    candidate x = {.kind = CANDIDATE_TREES,
                   .map = map,
                   .count = RACE_TREES,
                   .share = NAN,
                   .leaf = LEAF};
    if (r->imputes || !r->fills || map > 0) candidates_add(r, &x);
    x.filled = true;
    if (r->fills && map == 0) candidates_add(r, &x);
  }
  for (size_t k = 0; trees_pay(r) && k < sizeof leaves / sizeof *leaves; k++)
    candidates_add(r, &(candidate){.kind = CANDIDATE_TREES,
                                   .grown = TREES_FOREST,
                                   .count = RACE_TREES,
                                   .share = NAN,
                                   .leaf = leaves[k]});
  if (trees_pay(r)) candidates_boosted(r);
  list_svms(r);
  return LAPIS_OK;
}

/* ---- what a fold shows --------------------------------------------------*/
static bool hides(const comparison *r, int64_t fold, int64_t c, int64_t j)
{
  if (r->cells) return fold_hides(&r->plan, fold, c, j);
  return r->plan.fold[j] == fold;
}

/* Signs of what is shown, NaN where hidden; turned for coding by rarity. */
static double *shown(const comparison *r, int64_t fold, bool turned)
{
  double *y = base_alloc_raw(r->ctx, r->K * r->n, sizeof *y);
  for (int64_t k = 0; y != NULL && k < r->K * r->n; k++) {
    int64_t c = k % r->K, j = k / r->K;
    double s = r->labels.sign[k] * (turned ? r->turn[c] : 1);
    y[k] = hides(r, fold, c, j) ? NAN : s;
  }
  return y;
}

static void keep_hidden(const comparison *r, candidate *x, int64_t fold,
                        const double *score, bool turned)
{
  for (int64_t k = 0; k < r->K * r->n; k++) {
    int64_t c = k % r->K;
    if (isnan(r->labels.sign[k]) || !hides(r, fold, c, k / r->K)) continue;
    x->score[k] = turned && r->turn[c] < 0 ? 1 - score[k] : score[k];
  }
}

void candidate_forget(const comparison *r, candidate *x, int64_t fold)
{
  for (int64_t k = 0; x->score != NULL && k < r->K * r->n; k++)
    if (hides(r, fold, k % r->K, k / r->K)) x->score[k] = NAN;
}

/* A label of sample j is known, and hidden from y. */
static bool is_asked(const comparison *r, const double *y, int64_t j)
{
  for (int64_t k = j * r->K; k < (j + 1) * r->K; k++)
    if (!isnan(r->labels.sign[k]) && isnan(y[k])) return true;
  return false;
}

/* ---- mc -----------------------------------------------------------------*/
static void give_up(comparison *r, int map)
{
  lapis_solver_free(r->common[map]);
  r->common[map] = NULL;
}

/* Its settings are those of the whole, which were checked there. */
static lapis_status mc_part(const comparison *r, int map,
                            const lapis_data *data,
                            const lapis_mc_settings *set, lapis_solver **out)
{
  return method_solve_read(r->ctx, lapis_method_find("mc"), data,
                           race_shift(r, map), set, out);
}

/* The solver of all labels takes those at hand; where it cannot, or there is
 * none, one of their own is made: *own. */
static lapis_status solver_for(comparison *r, int map, const lapis_data *data,
                               const lapis_mc_settings *set, bool *own,
                               lapis_solver **out)
{
  if (r->common[map] != NULL) {
    lapis_status s = solver_relabel(r->common[map], data, set);
    *out = r->common[map];
    *own = false;
    if (s != LAPIS_ENOTBUILT) return s;
    give_up(r, map);
  }
  *own = true;
  return mc_part(r, map, data, set, out);
}

/* Made of all labels; where that is refused, folds are left to themselves. */
static void make_common(comparison *r, int map, const lapis_mc_settings *set)
{
  double *y = shown(r, -2, false); /* no fold: nothing is hidden */
  lapis_data all = {
      .X = r->X[map], .Y = lapis_mat_f64(y, r->K, r->n), .weight = r->weight};
  r->tried[map] = true;
  if (y == NULL) return;
  lapis_status s = mc_part(r, map, &all, set, &r->common[map]);
  if (s >= 0) r->common[map]->brief = true;
  base_free(y);
}

/* X with its gaps filled: low_rank + sparse is X where it was seen, and sparse
 * is 0 elsewhere. */
static lapis_status keep_completed(comparison *r, int64_t fold,
                                   const lapis_solver *s)
{
  lapis_mat low, sparse;
  TRY(lapis_result_get(s, "low_rank", &low));
  TRY(lapis_result_get(s, "sparse", &sparse));
  double **to = &r->completed[fold];
  if (*to == NULL)
    *to = base_alloc_raw(r->ctx, low.rows * low.cols, sizeof **to);
  if (*to == NULL) return LAPIS_ENOMEM;
  for (int64_t k = 0; k < low.rows * low.cols; k++) {
    int64_t i = k % low.rows, j = k / low.rows;
    (*to)[k] = lapis_mat_at(&low, i, j) + lapis_mat_at(&sparse, i, j);
  }
  return LAPIS_OK;
}

static bool is_turned(const candidate *x)
{
  return x->set.labels == LAPIS_MC_LABELS_RARE;
}

/* A race needs no more than this. */
static lapis_mc_settings loosened(const candidate *x)
{
  lapis_mc_settings set = x->set;
  if (is_turned(x)) set.labels = LAPIS_MC_LABELS_01;
  set.stop.tol = fmax(set.stop.tol, LOOSE_TOL);
  set.stop.max_iters = LOOSE_ITERS;
  set.stop.seconds = INFINITY;
  set.certificate = set.class_features = false;
  return set;
}

static bool completes_gaps(const comparison *r, const candidate *x)
{
  return r->fills && x == r->run;
}

static lapis_status solve_mc(comparison *r, candidate *x, lapis_data *data,
                             int64_t fold)
{
  lapis_mc_settings set = loosened(x);
  lapis_solver *s;
  lapis_mat scores;
  bool own = false, completes = completes_gaps(r, x);
  if (completes) {
    set.dense = own = true;
    TRY(mc_part(r, x->map, data, &set, &s));
  } else {
    if (!r->tried[x->map]) make_common(r, x->map, &set);
    TRY(solver_for(r, x->map, data, &set, &own, &s));
  }
  lapis_status status = lapis_solve(s);
  if (status >= 0 && status != LAPIS_CANCELLED) {
    lapis_status got = lapis_result_get(s, "scores", &scores);
    if (got < 0) status = got;
  }
  if (status >= 0 && status != LAPIS_CANCELLED)
    keep_hidden(r, x, fold, scores.val, is_turned(x));
  if (status >= 0 && completes) {
    lapis_status kept = keep_completed(r, fold, s);
    if (kept < 0) status = kept;
  }
  if (own) lapis_solver_free(s);
  return status;
}

static lapis_status mc_answers(comparison *r, candidate *x, int64_t fold)
{
  const method_entry *mc = method_entry_of(lapis_method_find("mc"));
  bool zero_one = mc->zero_one(&x->set, &r->labels);
  double *y = shown(r, fold, is_turned(x));
  if (y == NULL) return LAPIS_ENOMEM;
  for (int64_t k = 0; k < r->K * r->n; k++)
    y[k] = targets_coded(y[k], zero_one);
  lapis_data data = {.X = r->X[x->map],
                     .Y = lapis_mat_f64(y, r->K, r->n),
                     .weight = r->weight};
  lapis_status s = solve_mc(r, x, &data, fold);
  base_free(y);
  return s;
}

/* ---- logistic regression ------------------------------------------------*/

/* What some label is shown of: X (d x m), sign (K x m), weight (m) or NULL. */
typedef struct lesson {
  double *X, *sign, *weight;
  int64_t m;
} lesson;

static lapis_status gather(const comparison *r, const double *X, int64_t d,
                           const double *y, lesson *to)
{
  *to = (lesson){.X = base_alloc_raw(r->ctx, d * r->n, sizeof(double)),
                 .sign = base_alloc_raw(r->ctx, r->K * r->n, sizeof(double))};
  if (r->weight != NULL)
    to->weight = base_alloc_raw(r->ctx, r->n, sizeof(double));
  if (to->X == NULL || to->sign == NULL ||
      (r->weight != NULL && to->weight == NULL))
    return LAPIS_ENOMEM;
  for (int64_t j = 0; j < r->n; j++) {
    const double *of = y + j * r->K;
    bool any = false;
    for (int64_t c = 0; c < r->K; c++) any |= !isnan(of[c]);
    if (!any) continue;
    if (r->weight != NULL) to->weight[to->m] = r->weight[j];
    memcpy(to->X + to->m * d, X + j * d, (size_t)d * sizeof *X);
    memcpy(to->sign + to->m++ * r->K, of, (size_t)r->K * sizeof *of);
  }
  return LAPIS_OK;
}

/* What lines W say of the samples that are asked: gathered in `room`, where
 * those learnt from have been. */
static lapis_status say_linear(comparison *r, la *h, const double *X, int64_t d,
                               const double *y, const lesson *room, double *W,
                               double *score)
{
  int64_t m = 0, K = r->K;
  double *said = room->sign;
  for (int64_t j = 0; j < r->n; j++)
    if (is_asked(r, y, j))
      memcpy(room->X + m++ * d, X + j * d, (size_t)d * sizeof *X);
  if (m == 0) return LAPIS_OK;
  la_array x = la_wrap(room->X, d, m), w = la_wrap(W, d, K);
  la_array out = la_wrap(said, K, m);
  w.ld = d + 1;
  TRY(h->ops->gemm(h, LA_T, LA_N, 1, &w, &x, 0, &out));
  for (int64_t k = 0; k < K * m; k++) said[k] += W[k % K * (d + 1) + d];
  targets of = r->labels;
  of.samples = m;
  if (!r->o.numbers) targets_log_odds(&of, said, W);
  for (int64_t j = 0; j < r->n; j++) {
    if (!is_asked(r, y, j)) continue;
    memcpy(score + j * K, said, (size_t)K * sizeof *said);
    said += K;
  }
  return LAPIS_OK;
}

/* Lines W of the lesson. */
static lapis_status learn_linear(comparison *r, la *h, const lesson *from,
                                 int64_t d, double C, double *W)
{
  logistic_problem p = {.of = {.X = lapis_mat_f64(from->X, d, from->m)},
                        .sign = from->sign,
                        .weight = from->weight,
                        .K = r->K,
                        .classes = r->labels.kind == TARGETS_CLASS,
                        .C = C,
                        .tol = LOOSE_TOL,
                        .max_iters = LOOSE_ITERS};
  ridge_problem q = {
      .X = p.of.X, .Y = from->sign, .K = r->K, .weight = from->weight, .C = C};
  return r->o.numbers ? op_ridge(h, &q, W) : op_logistic(h, &p, W, NULL);
}

/* Some label is shown of both kinds; some numbers are. */
static bool teaches(const comparison *r, const double *y)
{
  int64_t numbers = 0;
  for (int64_t k = 0; r->o.numbers && k < r->K * r->n; k++)
    numbers += !isnan(y[k]);
  if (r->o.numbers) return numbers > 1;
  for (int64_t c = 0; c < r->K; c++) {
    bool kind[2] = {false, false};
    for (int64_t j = 0; j < r->n; j++)
      if (!isnan(y[j * r->K + c])) kind[y[j * r->K + c] > 0] = true;
    if (kind[0] && kind[1]) return true;
  }
  return false;
}

/* All known labels to those shown.  C times it weighs the losses of a fold as
 * those of all will be weighed: where C is small weights grow with their
 * number, and what calibrates the one would not fit the other. */
static double known_to_shown(const comparison *r, const double *y)
{
  double known = 0, seen = 0;
  for (int64_t k = 0; k < r->K * r->n; k++) {
    double w = r->weight == NULL ? 1 : r->weight[k / r->K];
    known += isnan(r->labels.sign[k]) ? 0 : w;
    seen += isnan(y[k]) ? 0 : w;
  }
  return seen > 0 ? known / seen : 1;
}

/* What the regression reads; *from NULL: the filler has not answered. */
static lapis_status features(comparison *r, const candidate *x, int64_t fold,
                             const double **from, int64_t *d)
{
  const race_features *kernel;
  *d = r->X[x->map].rows;
  if (x->kernel > 0) {
    TRY(kernels_features(r, x, fold, &kernel));
    *from = kernel == NULL ? NULL : kernel->F;
    if (kernel != NULL) *d = kernel->rows;
    return LAPIS_OK;
  }
  *from = r->completed[fold];
  return x->filled ? LAPIS_OK : candidates_fill(r, x->map, from);
}

static lapis_status linear_answers(comparison *r, candidate *x, int64_t fold)
{
  la h;
  int64_t d;
  const double *from;
  lesson seen = {0};
  TRY(features(r, x, fold, &from, &d));
  if (from == NULL) return LAPIS_OK;
  TRY(la_open_host(r->ctx, &h));
  double *y = shown(r, fold, false);
  double *score = base_alloc_raw(r->ctx, r->K * r->n, sizeof *score);
  double *W = base_alloc_raw(r->ctx, (d + 1) * r->K, sizeof *W);
  lapis_status s = LAPIS_ENOMEM;
  if (y != NULL && !teaches(r, y)) s = LAPIS_EDATA;
  if (s != LAPIS_EDATA && y != NULL && score != NULL && W != NULL)
    s = gather(r, from, d, y, &seen);
  if (s >= 0) s = learn_linear(r, &h, &seen, d, x->C * known_to_shown(r, y), W);
  if (s >= 0) s = say_linear(r, &h, from, d, y, &seen, W, score);
  if (s >= 0) keep_hidden(r, x, fold, score, false);
  base_free(seen.X);
  base_free(seen.sign);
  base_free(seen.weight);
  base_free(y);
  base_free(score);
  base_free(W);
  return s;
}

/* ---- robust regression --------------------------------------------------*/
/* Rows that are hidden are answered as new ones. */
static lapis_status solve_rr(comparison *r, candidate *x, int64_t fold,
                             lapis_data *data)
{
  const lapis_method *m = lapis_method_find("rr");
  lapis_rr_settings set;
  lapis_solver *s;
  lapis_mat scores;
  lapis_settings_default(m, &set);
  TRY(method_solve_part(r->ctx, m, data, &set, &s));
  lapis_status status = lapis_solve(s);
  if (status >= 0 && status != LAPIS_CANCELLED) {
    lapis_status got = lapis_result_get(s, "scores", &scores);
    if (got >= 0) keep_hidden(r, x, fold, scores.val, false);
    if (got < 0) status = got;
  }
  lapis_solver_free(s);
  return status;
}

static lapis_status rr_answers(comparison *r, candidate *x, int64_t fold)
{
  double *y = shown(r, fold, false);
  if (y == NULL) return LAPIS_ENOMEM;
  lapis_data data = {.X = r->X[x->map],
                     .Y = lapis_mat_f64(y, r->K, r->n),
                     .group = r->data->group,
                     .weight = r->weight};
  lapis_status s = solve_rr(r, x, fold, &data);
  base_free(y);
  return s;
}

/* ---- trees --------------------------------------------------------------*/
static lapis_status grow(comparison *r, const candidate *x, const double *X,
                         int64_t d, const double *y, double *score)
{
  bool *asked = base_alloc(r->ctx, r->n, sizeof *asked);
  if (asked == NULL) return LAPIS_ENOMEM;
  for (int64_t j = 0; j < r->n; j++) asked[j] = is_asked(r, y, j);
  lapis_status s = candidate_grow(r, x, X, d, y, asked, score);
  base_free(asked);
  return s;
}

static lapis_status trees_answers(comparison *r, candidate *x, int64_t fold)
{
  int64_t d;
  const double *from;
  d = r->X[x->map].rows;
  if (candidate_reads_gaps(x))
    TRY(candidates_raw(r, x->map, &from));
  else
    TRY(features(r, x, fold, &from, &d));
  if (from == NULL) return LAPIS_OK;
  double *y = shown(r, fold, false);
  double *score = base_alloc_raw(r->ctx, r->K * r->n, sizeof *score);
  lapis_status s = y == NULL || score == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  if (s >= 0) s = teaches(r, y) ? grow(r, x, from, d, y, score) : LAPIS_EDATA;
  if (s == LAPIS_OK) keep_hidden(r, x, fold, score, false);
  base_free(y);
  base_free(score);
  return s;
}

/* ---- misvm --------------------------------------------------------------*/
static lapis_status misvm_answers(comparison *r, candidate *x, int64_t fold)
{
  double *y = shown(r, fold, false);
  double *score = base_alloc(r->ctx, r->n, sizeof *score);
  lapis_status s = y == NULL || score == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  if (s >= 0 && !teaches(r, y)) s = LAPIS_EDATA;
  if (s >= 0) s = bags_answers(r, x, fold, score);
  if (s == LAPIS_OK || s == LAPIS_MAX_ITERS)
    keep_hidden(r, x, fold, score, false);
  base_free(y);
  base_free(score);
  return s;
}

/* ---- all ----------------------------------------------------------------*/
lapis_status candidates_share(comparison *r, int first, int last)
{
  for (int i = first; i <= last; i++) {
    const candidate *x = &r->run[i];
    const lapis_mc_settings set = loosened(x);
    bool mc = x->kind == CANDIDATE_MC && !completes_gaps(r, x);
    if (mc && !r->tried[x->map]) make_common(r, x->map, &set);
    bool gaps = x->kind != CANDIDATE_MC && x->kind != CANDIDATE_RR &&
                !candidate_reads_gaps(x) && !x->filled;
    const double *unused;
    if (gaps && (x->kernel == 0 || r->imputes))
      TRY(candidates_fill(r, x->map, &unused));
  }
  return base_cancelled(r->ctx) ? LAPIS_CANCELLED : LAPIS_OK;
}

lapis_status candidate_room(const comparison *r, candidate *x)
{
  if (x->score != NULL) return LAPIS_OK;
  x->score = base_alloc_raw(r->ctx, r->K * r->n, sizeof *x->score);
  if (x->score == NULL) return LAPIS_ENOMEM;
  for (int64_t k = 0; k < r->K * r->n; k++) x->score[k] = NAN;
  return LAPIS_OK;
}

static void add_row(comparison *r, const char *what, int i, keep_row as)
{
  char name[KEEP_NAME];
  (void)snprintf(name, sizeof name, "%s-%d", what, i);
  keep_add(&r->scope, name, as);
}

lapis_status candidates_restore(comparison *r, int first, int last)
{
  bool found;
  for (int i = first; i <= last; i++) {
    TRY(candidate_room(r, &r->run[i]));
    add_row(r, "score", i,
            (keep_row){.rule = KEEP_HOLES,
                       .val = r->run[i].score,
                       .count = r->K * r->n});
  }
  add_row(r, "answered", first,
          (keep_row){.rule = KEEP_SWITCHES,
                     .val = candidate_answered(r, first, 0),
                     .count = (last - first + 1) * r->used});
  add_row(
      r, "late", first,
      (keep_row){.rule = KEEP_SWITCHES, .val = &r->late[first], .count = 1});
  return keep_restore(r->ctx, &r->scope, &found);
}

void candidates_end(comparison *r, int first)
{
  for (int i = first; i < r->count; i++)
    for (int64_t f = 0; f < r->used; f++) *candidate_answered(r, i, f) = true;
  r->late[first] = true;
  (void)keep_take(r->ctx, true);
}

/* Of a run that goes on: the first candidate has answered, and what it filled
 * is gone. */
static lapis_status fill_again(comparison *r, const candidate *x, int64_t fold)
{
  if (!x->filled || r->completed[fold] != NULL ||
      !*candidate_answered(r, 0, fold))
    return LAPIS_OK;
  return mc_answers(r, r->run, fold);
}

lapis_status candidate_answers(comparison *r, candidate *x, int64_t fold)
{
  TRY(candidate_room(r, x));
  keep_pause(r->ctx, true); /* kept is the answer, not the way to it */
  lapis_status s = fill_again(r, x, fold);
  if (s >= 0 && s != LAPIS_CANCELLED)
    s = x->kind == CANDIDATE_RR       ? rr_answers(r, x, fold)
        : candidate_grows(x)          ? trees_answers(r, x, fold)
        : x->kind == CANDIDATE_LINEAR ? linear_answers(r, x, fold)
        : x->kind == CANDIDATE_MISVM  ? misvm_answers(r, x, fold)
                                      : mc_answers(r, x, fold);
  keep_pause(r->ctx, false);
  return s;
}
