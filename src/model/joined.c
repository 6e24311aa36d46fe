/* joined.c - several solvers that answer as one. */
#include "model/joined.h"

#include <math.h>
#include <string.h>

#include "base/resume.h"
#include "mat/mat.h"

typedef struct joined {
  lapis_solver base;
  lapis_data data;    /* borrowed */
  int count, answers; /* parts, and those that answer */
  joined_part part[JOINED_PARTS];
  lapis_solver *solver[JOINED_PARTS];
  double *filled; /* d x n, from the part that fills */
  void (*release)(void *self);
  double *probabilities, *labels; /* K x n, rows x n, of several answers; of
                                   * numbers their mean in place of labels */
} joined;

static joined *joined_of(const lapis_solver *s)
{
  return (joined *)(uintptr_t)s;
}

lapis_solver *joined_solver(const lapis_solver *s, int k)
{
  return joined_of(s)->solver[k];
}

void *joined_self(const lapis_solver *s, int k)
{
  return joined_of(s)->part[k].self;
}

int joined_count(const lapis_solver *s)
{
  return joined_of(s)->count;
}

bool joined_answers(const lapis_solver *s, int k)
{
  return joined_of(s)->part[k].answers;
}

int joined_reads(const lapis_solver *s, int k)
{
  return joined_of(s)->part[k].reads;
}

/* ---- solving ------------------------------------------------------------*/
/* What was seen of X and what was completed of it: low_rank + sparse is X where
 * it was seen, and sparse is 0 elsewhere. */
static lapis_status fill(joined *w, int from, lapis_data *data)
{
  lapis_mat low, sparse;
  TRY(lapis_result_get(w->solver[from], "low_rank", &low));
  TRY(lapis_result_get(w->solver[from], "sparse", &sparse));
  base_free(w->filled);
  w->filled = base_alloc_raw(w->base.ctx, low.rows * low.cols, sizeof(double));
  if (w->filled == NULL) return LAPIS_ENOMEM;
  for (int64_t k = 0; k < low.rows * low.cols; k++) {
    int64_t i = k % low.rows, j = k / low.rows;
    w->filled[k] = lapis_mat_at(&low, i, j) + lapis_mat_at(&sparse, i, j);
  }
  data->X = lapis_mat_f64(w->filled, low.rows, low.cols);
  return LAPIS_OK;
}

static lapis_status run_part(joined *w, int k)
{
  const joined_part *p = &w->part[k];
  lapis_data data = w->data;
  if (p->reads >= 0) TRY(fill(w, p->reads, &data));
  lapis_solver_free(w->solver[k]);
  w->solver[k] = NULL;
  TRY(p->make(w->base.ctx, p->self, &data, &w->solver[k]));
  w->solver[k]->brief = w->base.brief;
  if (w->answers > 1 || !p->answers) w->solver[k]->look = NULL;
  return lapis_solve(w->solver[k]);
}

/* ---- the answer of one, or the mean of several --------------------------*/
static void pass_on(joined *w, const lapis_solver *from)
{
  for (int i = 0; i < from->result.count; i++)
    solver_publish(&w->base, from->result.item[i].name,
                   from->result.item[i].mat);
}

typedef struct said { /* by one that answers */
  lapis_mat p, labels;
} said;

/* Of one class: the likeliest.  Else, cell by cell, the label of whichever
 * answer decides as the mean does: one of them must. */
static void decide(joined *w, const said *by, int count,
                   const lapis_mat *classes, int64_t K, int64_t n)
{
  for (int64_t k = 0; k < K * n && classes == NULL; k++) {
    bool yes = w->probabilities[k] > 0.5;
    int whose = 0;
    while (whose < count - 1 &&
           (lapis_mat_at(&by[whose].p, k % K, k / K) > 0.5) != yes)
      whose++;
    w->labels[k] = lapis_mat_at(&by[whose].labels, k % K, k / K);
  }
  for (int64_t j = 0; j < n && classes != NULL; j++) {
    int64_t best = 0;
    for (int64_t c = 1; c < K; c++)
      if (w->probabilities[j * K + c] > w->probabilities[j * K + best])
        best = c;
    w->labels[j] = lapis_mat_at(classes, 0, best);
  }
}

static lapis_status not_alike(lapis_ctx *ctx)
{
  return lapis_fail(ctx, LAPIS_EFORMAT,
                    "predict: the models inside this one answer for other "
                    "labels; fit it again");
}

/* Alike in shape, or they are not of the same labels. */
static lapis_status hear(joined *w, said *by, int *count,
                         const lapis_mat **classes)
{
  *count = 0;
  for (int k = 0; k < w->count; k++) {
    if (!w->part[k].answers) continue;
    const lapis_solver *s = w->solver[k];
    said *x = &by[(*count)++];
    TRY(lapis_result_get(s, "probabilities", &x->p));
    TRY(lapis_result_get(s, "labels", &x->labels));
    if (*classes == NULL) *classes = named_find(&s->result, "classes");
  }
  int64_t K = by[0].p.rows, n = by[0].p.cols;
  bool alike = *classes == NULL || (*classes)->cols == K;
  for (int i = 0; i < *count; i++)
    alike = alike && by[i].p.rows == K && by[i].p.cols == n &&
            by[i].labels.rows == (*classes == NULL ? K : 1);
  return alike ? LAPIS_OK : not_alike(w->base.ctx);
}

/* Of numbers, which have no probabilities: the mean of the scores. */
static lapis_status take_mean_score(joined *w)
{
  lapis_mat scores;
  int64_t K = 0, n = 0, count = 0;
  for (int k = 0; k < w->count; k++) {
    if (!w->part[k].answers) continue;
    TRY(lapis_result_get(w->solver[k], "scores", &scores));
    if (count++ == 0) {
      K = scores.rows;
      n = scores.cols;
      if (w->labels == NULL) w->labels = arena_reals(&w->base.arena, K * n);
      TRY(arena_status(&w->base.arena));
      memset(w->labels, 0, (size_t)(K * n) * sizeof *w->labels);
    }
    if (scores.rows != K || scores.cols != n) return not_alike(w->base.ctx);
    for (int64_t i = 0; i < K * n; i++)
      w->labels[i] += lapis_mat_at(&scores, i % K, i / K) / w->answers;
  }
  solver_publish(&w->base, "scores", lapis_mat_f64(w->labels, K, n));
  return LAPIS_OK;
}

static lapis_status take_mean(joined *w, const lapis_solver *first)
{
  if (named_find(&first->result, "probabilities") == NULL)
    return take_mean_score(w);
  said by[JOINED_PARTS] = {0};
  const lapis_mat *classes = NULL;
  int count;
  TRY(hear(w, by, &count, &classes));
  int64_t K = by[0].p.rows, n = by[0].p.cols, rows = by[0].labels.rows;
  if (w->probabilities == NULL) {
    w->probabilities = arena_reals(&w->base.arena, K * n);
    w->labels = arena_reals(&w->base.arena, rows * n);
    TRY(arena_status(&w->base.arena));
  }
  for (int64_t k = 0; k < K * n; k++) {
    double sum = 0;
    for (int i = 0; i < count; i++) sum += lapis_mat_at(&by[i].p, k % K, k / K);
    w->probabilities[k] = sum / count;
  }
  decide(w, by, count, classes, K, n);
  lapis_mat mean = lapis_mat_f64(w->probabilities, K, n);
  solver_publish(&w->base, "scores", mean);
  solver_publish(&w->base, "probabilities", mean);
  solver_publish(&w->base, "labels", lapis_mat_f64(w->labels, rows, n));
  return LAPIS_OK;
}

static lapis_status gather(joined *w)
{
  const lapis_solver *first = NULL;
  int answers = 0;
  for (int k = 0; k < w->count; k++) {
    if (!w->part[k].answers) continue;
    if (answers++ == 0) first = w->solver[k];
  }
  double seconds = w->base.info.seconds;
  w->base.info = first->info;
  w->base.info.seconds = seconds;
  w->base.settings = first->settings;
  w->base.features = first->features;
  w->base.called = first->cls->method;
  w->base.table = first->table;
  pass_on(w, first);
  if (answers == 1) return LAPIS_OK;
  w->base.info =
      (lapis_info){.size = sizeof w->base.info, /* each has its own */
                   .rank = -1,
                   .objective = NAN,
                   .dual = NAN,
                   .gap = NAN,
                   .residual = NAN,
                   .seconds = seconds,
                   .status = first->info.status};
  return take_mean(w, first);
}

static lapis_status solve(lapis_solver *s)
{
  joined *w = joined_of(s);
  lapis_status status = LAPIS_OK;
  double started = base_seconds();
  if (w->count > 1) keep_pause(s->ctx, true); /* two solves of one name */
  for (int k = 0; k < w->count && status >= 0 && status != LAPIS_CANCELLED;
       k++) {
    lapis_status part = run_part(w, k);
    if (part < 0 || part == LAPIS_CANCELLED || status == LAPIS_OK)
      status = part;
  }
  if (w->count > 1) keep_pause(s->ctx, false);
  s->info.seconds = base_seconds() - started;
  bool whole = status != LAPIS_CANCELLED || w->count == 1;
  if (status < 0 || !whole) return status; /* of several, some said nothing */
  TRY(gather(w));
  return status;
}

/* ---- constructor --------------------------------------------------------*/
static void release(lapis_solver *s)
{
  joined *w = joined_of(s);
  for (int k = 0; k < w->count; k++) {
    lapis_solver_free(w->solver[k]);
    if (w->release != NULL) w->release(w->part[k].self);
  }
  base_free(w->filled);
}

static const solver_class joined_class = {
    .method = "joined", .solve = solve, .free = release};

lapis_status joined_new(lapis_ctx *ctx, const lapis_data *data,
                        const joined_part *part, int count,
                        void (*give_back)(void *self), lapis_solver **out)
{
  lapis_solver *s;
  *out = NULL;
  TRY(solver_alloc(ctx, &joined_class, sizeof(joined), &s));
  joined *w = joined_of(s);
  w->data = *data;
  w->count = count;
  w->release = give_back;
  memcpy(w->part, part, (size_t)count * sizeof *part);
  for (int k = 0; k < count; k++) w->answers += part[k].answers;
  *out = s;
  return LAPIS_OK;
}

void joined_teach(lapis_solver *s,
                  lapis_status (*model)(lapis_solver *s, lapis_model **out))
{
  s->model = model;
}
