/* compare_jobs.c - the candidates of a race, and what one says of every hidden
 * label, by several processes.
 *
 * A unit is a fold and what reads the same in it: every mc by itself, logistic
 * regressions of the same features together, and those that read what an mc has
 * filled with that mc.  Every solve of a race starts cold, so that who else ran
 * in the same process changes nothing. */
#include <math.h>
#include <string.h>

#include "methods/auto/candidates.h"
#include "parallel/jobs.h"

bool race_show(comparison *r, int64_t done, int64_t all, double started)
{
  lapis_progress now = {.method = "auto",
                        .iter = done,
                        .objective = NAN,
                        .gap = NAN,
                        .residual = NAN,
                        .seconds = base_seconds() - started,
                        .done = (double)done / (double)all};
  return base_show(r->ctx, &now) && !base_cancelled(r->ctx);
}

typedef struct field {
  comparison *r;
  int first;
  int leader[MOST_CANDIDATES];
  int64_t done, all;
  double started;
  candidate_answer_fn
      *answer; /* of one candidate; NULL: of those from first on */
} field;

enum { COMPLETED = -1 }; /* in place of a candidate's number */

/* ---- scores of a fold, packed -------------------------------------------*/
static int64_t move_scores(const comparison *r, double *score, int64_t f,
                           double *at, bool back)
{
  int64_t n = 0;
  for (int64_t k = 0; k < r->K * r->n; k++) {
    if (!fold_hides(&r->plan, f, k % r->K, k / r->K)) continue;
    if (at != NULL && back) score[k] = at[n];
    if (at != NULL && !back) at[n] = score[k];
    n++;
  }
  return n;
}

/* ---- in a worker --------------------------------------------------------*/
static lapis_status give(const comparison *r, int who, int64_t f, job_line *to)
{
  const lapis_mat *X = &r->X[0];
  bool completed = who == COMPLETED;
  int64_t count =
      completed ? X->rows * X->cols : move_scores(r, NULL, f, NULL, false);
  double *all = base_alloc_raw(r->ctx, count + 1, sizeof *all);
  if (all == NULL) return LAPIS_ENOMEM;
  all[0] = who;
  if (completed)
    memcpy(all + 1, r->completed[f], (size_t)count * sizeof *all);
  else
    (void)move_scores(r, r->run[who].score, f, all + 1, false);
  bool heard = jobs_give(to, all, ((size_t)count + 1) * sizeof *all);
  base_free(all);
  return heard ? LAPIS_OK : LAPIS_CANCELLED;
}

/* LAPIS_TIME_LIMIT, and nothing is given, where time cut the answer short. */
static lapis_status answer_one(const field *x, int i, int64_t f, job_line *to)
{
  comparison *r = x->r;
  lapis_status s = x->answer != NULL ? x->answer(r, i, f)
                                     : candidate_answers(r, &r->run[i], f);
  if (s == LAPIS_EDATA || s == LAPIS_EMISSING) { /* the fold has too little */
    candidate_forget(r, &r->run[i], f);
    s = LAPIS_OK;
  }
  if (s < 0 || s == LAPIS_CANCELLED) return s;
  if (s != LAPIS_OK && base_late(r->ctx)) return LAPIS_TIME_LIMIT;
  return give(r, i, f, to);
}

static lapis_status work(void *user, int64_t unit, job_line *to)
{
  field *x = user;
  comparison *r = x->r;
  int64_t f = unit / MOST_CANDIDATES;
  int leader = (int)(unit % MOST_CANDIDATES);
  for (int i = leader; i < r->count; i++) {
    if (x->leader[i] != leader || *candidate_answered(r, i, f)) continue;
    lapis_status s = answer_one(x, i, f, to);
    if (s != LAPIS_OK) return s;
    if (base_late(r->ctx)) return LAPIS_TIME_LIMIT;
  }
  bool filled = leader == 0 && x->answer == NULL && r->completed[f] != NULL;
  return filled ? give(r, COMPLETED, f, to) : LAPIS_OK;
}

/* ---- in the caller ------------------------------------------------------*/
static lapis_status take_completed(comparison *r, int64_t f, const double *all,
                                   int64_t count)
{
  const lapis_mat *X = &r->X[0];
  if (count != X->rows * X->cols) return LAPIS_ENUMERIC;
  if (r->completed[f] == NULL)
    r->completed[f] = base_alloc_raw(r->ctx, count, sizeof *all);
  if (r->completed[f] == NULL) return LAPIS_ENOMEM;
  memcpy(r->completed[f], all, (size_t)count * sizeof *all);
  return LAPIS_OK;
}

static lapis_status take(void *user, int64_t unit, const void *bytes,
                         size_t size)
{
  field *x = user;
  comparison *r = x->r;
  const double *all = bytes;
  int64_t f = unit / MOST_CANDIDATES, count = (int64_t)(size / sizeof *all) - 1;
  int who = (int)all[0];
  if (who == COMPLETED) return take_completed(r, f, all + 1, count);
  candidate *of = &r->run[who];
  if (count != move_scores(r, NULL, f, NULL, false)) return LAPIS_ENUMERIC;
  TRY(candidate_room(r, of));
  (void)move_scores(r, of->score, f, (double *)(uintptr_t)(all + 1), true);
  *candidate_answered(r, who, f) = true;
  x->done++;
  bool on = x->answer != NULL || race_show(r, x->done, x->all, x->started);
  return on ? LAPIS_OK : LAPIS_CANCELLED;
}

/* What only some have answered decides nothing, and candidates that came later
 * have to have answered all that the first ones did. */
static void drop_unfinished(const field *x)
{
  comparison *r = x->r;
  bool all = true;
  for (int64_t f = 0; f < r->used; f++)
    for (int i = x->first; i < r->count; i++)
      all = all && *candidate_answered(r, i, f);
  for (int64_t f = 0; !all && f < r->used; f++) {
    bool whole = x->first == 0;
    for (int i = x->first; i < r->count; i++)
      whole = whole && *candidate_answered(r, i, f);
    for (int i = x->first; !whole && i < r->count; i++)
      candidate_forget(r, &r->run[i], f);
  }
}

static bool reads_alike(const candidate *a, const candidate *b)
{
  return a->kind == CANDIDATE_LINEAR && b->kind == CANDIDATE_LINEAR &&
         a->map == b->map && a->kernel == b->kernel && a->filled == b->filled;
}

static void find_leaders(field *x)
{
  const comparison *r = x->r;
  for (int i = x->first; i < r->count; i++) {
    int at = x->first;
    while (at < i && !reads_alike(&r->run[at], &r->run[i])) at++;
    bool after_filler = r->run[i].filled && x->first == 0;
    x->leader[i] = after_filler ? 0 : at;
  }
}

static lapis_status keep_unit(void *user, int64_t unit)
{
  const field *x = user;
  (void)unit;
  (void)keep_take(x->r->ctx, true);
  return LAPIS_OK;
}

static lapis_status run(field *x, const int64_t *unit, int64_t count, int jobs)
{
  comparison *r = x->r;
  job_list list = {.ctx = r->ctx,
                   .who = "race",
                   .unit = unit,
                   .count = count,
                   .work = work,
                   .take = take,
                   .done = keep_unit,
                   .user = x};
  if (count == 0) return LAPIS_OK;
  int threads = jobs_divide(r->ctx, "race", jobs);
  x->started = base_seconds();
  lapis_status s = candidates_share(
      r, x->first, x->answer == NULL ? r->count - 1 : x->first);
  if (s == LAPIS_OK) s = jobs_run(&list, jobs);
  jobs_undivide(r->ctx, threads);
  if (s == LAPIS_TIME_LIMIT && x->answer == NULL) drop_unfinished(x);
  return s;
}

int race_jobs(const comparison *r, int first)
{
  return jobs_of(r->ctx, (r->count - first) * r->used);
}

/* How many that a candidate leads are to answer for a fold. */
static int64_t left_of(const field *x, int leader, int64_t f)
{
  int64_t left = 0;
  for (int i = leader; i < x->r->count; i++)
    left += x->leader[i] == leader && !*candidate_answered(x->r, i, f);
  return left;
}

lapis_status race_run_jobs(comparison *r, int first, int64_t from, int64_t to)
{
  field x = {.r = r, .first = first, .all = (r->count - first) * r->used};
  int64_t unit[MOST_FOLDS * MOST_CANDIDATES], count = 0;
  find_leaders(&x);
  for (int64_t f = 0; f < r->used; f++)
    for (int i = first; i < r->count; i++) {
      int64_t left = left_of(&x, i, f);
      x.done -= left;
      if (left > 0 && f >= from && f < to)
        unit[count++] = f * MOST_CANDIDATES + i;
    }
  x.done += x.all;
  return run(&x, unit, count, jobs_of(r->ctx, count));
}

lapis_status race_ask_jobs(comparison *r, int k, candidate_answer_fn *answer)
{
  field x = {.r = r, .first = k, .answer = answer, .all = r->used};
  int64_t unit[MOST_FOLDS];
  for (int i = 0; i < r->count; i++) x.leader[i] = i;
  int64_t count = 0;
  for (int64_t f = 0; f < r->used; f++)
    if (!*candidate_answered(r, k, f)) unit[count++] = f * MOST_CANDIDATES + k;
  return run(&x, unit, count, jobs_of(r->ctx, r->used));
}
