/* holdout.c - what a candidate says of every known label while it is hidden.
 *
 * A race hides some labels to compare; doubts need all of them.  Folds as in
 * the race, all of them; what makes probabilities of a fold's scores is fitted
 * on the other folds, so that no label has a part in what is said of it. */
#include <math.h>
#include <string.h>

#include "methods/auto/candidates.h"
#include "parallel/jobs.h"

lapis_status race_draw(const comparison *r, const lapis_data *data,
                       int64_t folds, fold_plan *out)
{
  lapis_folds_of of = r->cells     ? LAPIS_FOLDS_OF_CELLS
                      : r->grouped ? LAPIS_FOLDS_OF_GROUPS
                                   : LAPIS_FOLDS_OF_ROWS;
  lapis_status s = cv_draw_folds(r->ctx, data, folds, of, out);
  if (s == LAPIS_EINVAL && folds > 2)
    s = cv_draw_folds(r->ctx, data, 2, of, out);
  return s;
}

/* A copy that runs by itself; the maps, targets and units stay the race's. */
static lapis_status begin(const comparison *from, const lapis_data *data,
                          int64_t folds, comparison *r)
{
  *r = *from;
  r->fewer = false;
  r->data = data;
  memset(r->completed, 0, sizeof r->completed);
  memset(r->filled, 0, sizeof r->filled);
  memset(r->raw, 0, sizeof r->raw);
  memset(r->memory, 0, sizeof r->memory);
  r->plan = (fold_plan){0};
  r->of_filled = (race_features){0};
  for (int k = 0; k < r->n_kernels; k++)
    r->kernel[k].features = (race_features){0};
  for (int k = 0; k < r->count; k++) {
    r->run[k].score = NULL;
    r->run[k].answer = NULL;
  }
  folds = folds < MOST_FOLDS ? folds : MOST_FOLDS;
  lapis_status s = race_draw(r, data, folds, &r->plan);
  r->used = r->plan.folds;
  memset(r->late, 0, sizeof r->late);
  r->answered = base_alloc(r->ctx, MOST_CANDIDATES * r->used, sizeof(bool));
  if (s >= 0 && r->answered == NULL) s = LAPIS_ENOMEM;
  return s < 0 ? s : race_make_maps(r, &data->X);
}

static void end(comparison *r)
{
  for (int k = 0; k < r->count; k++) {
    base_free(r->run[k].score);
    base_free(r->run[k].answer);
  }
  base_free(r->answered);
  race_drop_data(r);
  for (int f = 0; f < MOST_FOLDS; f++) base_free(r->completed[f]);
  folds_free(&r->plan);
}

/* Runner k, where it reads what another has filled after that one; what was
 * filled is large and serves one fold. */
static lapis_status answer(comparison *r, int k, int64_t fold)
{
  lapis_status s = LAPIS_OK;
  if (r->run[k].filled) s = candidate_answers(r, r->run, fold);
  if (s >= 0 && s != LAPIS_CANCELLED)
    s = candidate_answers(r, &r->run[k], fold);
  base_free(r->completed[fold]);
  r->completed[fold] = NULL;
  return s;
}

static lapis_status answer_all(comparison *r, int k)
{
  TRY(candidates_restore(r, k, k));
  if (jobs_of(r->ctx, r->used) > 1) return race_ask_jobs(r, k, answer);
  for (int64_t f = 0; f < r->used; f++) {
    if (*candidate_answered(r, k, f)) continue;
    lapis_status s = answer(r, k, f);
    bool none = s == LAPIS_EDATA || s == LAPIS_EMISSING;
    if ((s < 0 && !none) || s == LAPIS_CANCELLED) return s;
    if (!none && base_late(r->ctx)) return LAPIS_TIME_LIMIT;
    *candidate_answered(r, k, f) = true;
    (void)keep_take(r->ctx, true);
  }
  return LAPIS_OK;
}

static bool in_fold(const comparison *r, int64_t f, int64_t k)
{
  return fold_hides(&r->plan, f, k % r->K, k / r->K);
}

/* p of the labels of fold f; scores: room for K x n. */
static lapis_status calibrate_fold(comparison *r, const candidate *x, int64_t f,
                                   double *scores, sigmoid *by, double *p)
{
  int64_t count = r->K * r->n;
  for (int64_t k = 0; k < count; k++)
    scores[k] = in_fold(r, f, k) ? NAN : x->score[k];
  calibration of = race_calibration(r, x, scores);
  TRY(calibrate(r->ctx, &of, by));
  targets_calibrate(&r->labels, (const double *)by, x->score, scores);
  for (int64_t k = 0; k < count; k++)
    if (in_fold(r, f, k) && !isnan(x->score[k])) p[k] = scores[k];
  return LAPIS_OK;
}

static lapis_status calibrate_all(comparison *r, const candidate *x, double *p)
{
  if (r->o.numbers) {
    memcpy(p, x->score, (size_t)(r->K * r->n) * sizeof *p);
    numbers_restore(r, p);
    return LAPIS_OK;
  }
  double *scores = base_alloc_raw(r->ctx, r->K * r->n, sizeof *scores);
  sigmoid *by = base_alloc(r->ctx, r->K, sizeof *by);
  lapis_status s = scores == NULL || by == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  for (int64_t k = 0; k < r->K * r->n; k++) p[k] = NAN;
  for (int64_t f = 0; s >= 0 && f < r->used; f++)
    s = calibrate_fold(r, x, f, scores, by, p);
  base_free(scores);
  base_free(by);
  return s;
}

static lapis_status say(comparison *r, int k, double *p)
{
  lapis_status s = LAPIS_OK;
  if (r->run[k].score == NULL) s = answer_all(r, k);
  if (s < 0 || s == LAPIS_CANCELLED || r->run[k].score == NULL) return s;
  TRY(calibrate_all(r, &r->run[k], p));
  return s;
}

static lapis_status say_mean(comparison *r, const candidate *x, double *p)
{
  double *q = base_alloc_raw(r->ctx, r->K * r->n, sizeof *q);
  lapis_status s = q == NULL ? LAPIS_ENOMEM : say(r, x->of[0], p);
  for (int i = 1; s == LAPIS_OK && i < x->parts; i++) {
    s = say(r, x->of[i], q);
    for (int64_t k = 0; s == LAPIS_OK && k < r->K * r->n; k++)
      p[k] = (i * p[k] + q[k]) / (i + 1);
  }
  base_free(q);
  return s;
}

lapis_status comparison_said(comparison *r, int i, double *p)
{
  int at = r->order[i];
  for (int64_t k = 0; k < r->K * r->n; k++) p[k] = NAN;
  return r->run[at].parts > 0 ? say_mean(r, &r->run[at], p) : say(r, at, p);
}

lapis_status comparison_hold_out(lapis_ctx *ctx, const comparison *race, int i,
                                 const lapis_data *data, int64_t folds,
                                 double *p)
{
  NEEDS(ctx, ctx, race, data, p);
  if (!race_has(race, i))
    return lapis_fail(ctx, LAPIS_EINVAL, "auto: there is no candidate %d", i);
  TRY(mat_check_numbers(ctx, "auto", "X", &data->X));
  TRY(mat_check_numbers(ctx, "auto", "Y", &data->Y));
  if (data->X.cols != race->n || data->Y.cols != race->n)
    return lapis_fail(
        ctx, LAPIS_ESHAPE,
        "auto: data of %lld samples, and candidates were compared on  %lld",
        (long long)data->X.cols, (long long)race->n);
  comparison *r = base_alloc(ctx, 1, sizeof *r);
  if (r == NULL) return LAPIS_ENOMEM;
  base_mute(ctx, true);
  lapis_status s = begin(race, data, folds, r);
  keep_open(ctx, &r->scope, "held-out");
  if (s >= 0) s = comparison_said(r, i, p);
  keep_close(ctx, &r->scope, s == LAPIS_OK);
  end(r);
  base_mute(ctx, false);
  base_free(r);
  if (s == LAPIS_CANCELLED) base_rearm(ctx);
  return s;
}
