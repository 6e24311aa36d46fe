/* platt.c - probabilities from scores: sigmoids, or the softmax of classes.
 *
 * Scores of the training samples are too sure of themselves, so they
 * (folds/calibrate.c) are fitted to scores of held-out folds, each kind of
 * sample spread evenly over them. */
#include <string.h>

#include "methods/svmplus/svmplus.h"

enum { FOLDS = 5 };

/* ---- held-out scores ----------------------------------------------------*/
lapis_status sv_split(const svmplus *w, const fold_plan *plan, int64_t fold,
                      fold_part *hidden, fold_part *shown)
{
  TRY(folds_split(w->base.ctx, &w->data, plan, fold, hidden, shown));
  hidden->data.P = (lapis_mat){.dtype = LAPIS_F64}; /* never those samples' */
  return LAPIS_OK;
}

lapis_status sv_score_hidden(const svmplus *w, lapis_solver *s,
                             const fold_part *hidden, int64_t fold,
                             double *held)
{
  lapis_solver *p = NULL;
  TRY(sv_learn(s));
  lapis_status status = sv_predict_new(w->base.ctx, &hidden->data, s->settings,
                                       &s->learned, NULL, &p);
  if (status >= 0) status = lapis_solve(p);
  const lapis_mat *f = status < 0 ? NULL : named_find(&p->result, "scores");
  int64_t at = 0;
  for (int64_t j = 0; f != NULL && j < w->q.n; j++)
    if (w->folds.fold[j] == fold)
      memcpy(held + j * w->K, mat_col(f, at++), (size_t)w->K * sizeof *held);
  lapis_solver_free(p);
  return status;
}

static lapis_status score_fold(svmplus *w, sv_maker *make,
                               const fold_part *shown, const fold_part *hidden,
                               int64_t fold, double *held)
{
  lapis_svmplus_settings set = w->set;
  lapis_solver *s = NULL;
  set.probability = set.certificate = false;
  set.scale = LAPIS_SCALE_NONE; /* w->data are scaled, where they are */
  set.stop.seconds = loop_seconds_left(&w->base.loop);
  TRY(make(w->base.ctx, &shown->data, &set, &s));
  lapis_status status = lapis_solve(s);
  if (status == LAPIS_MAX_ITERS || status == LAPIS_PRECISION_FLOOR)
    status = LAPIS_OK;
  if (status == LAPIS_OK) status = sv_score_hidden(w, s, hidden, fold, held);
  lapis_solver_free(s);
  return status;
}

static lapis_status one_fold(svmplus *w, sv_maker *make, int64_t fold,
                             double *held)
{
  fold_part hidden, shown;
  lapis_status s = sv_split(w, &w->folds, fold, &hidden, &shown);
  if (s >= 0 && hidden.data.X.cols > 0)
    s = score_fold(w, make, &shown, &hidden, fold, held);
  fold_part_free(&hidden);
  fold_part_free(&shown);
  return s;
}

/* What is left beside each fold has both kinds of every class: scores of fewer
 * classes would have fewer columns. */
static lapis_status check_folds(const svmplus *w)
{
  const fold_plan *plan = &w->folds;
  bool whole = w->data.group != NULL;
  if (plan->folds < 2)
    return lapis_fail(w->base.ctx, LAPIS_EDATA,
                      "svmplus: --probability holds whole groups out, and all "
                      "rows are of one group; bring more groups, or leave "
                      "--probability or the groups out");
  for (int64_t c = 0; c < w->K; c++) {
    int64_t all[2] = {0, 0}, held[FOLDS][2] = {{0, 0}};
    for (int64_t i = 0; i < w->q.n; i++) {
      int yes = w->labels.sign[i * w->K + c] > 0;
      all[yes]++;
      held[plan->fold[i]][yes]++;
    }
    for (int k = 0; k < 2 * FOLDS; k++)
      if (held[k / 2][k % 2] == all[k % 2])
        return lapis_fail(
            w->base.ctx, LAPIS_EDATA,
            "svmplus: --probability holds a part of the %s out at a time, and "
            "one class has too few (%" PRId64 "%s) to be learnt from the "
            "others; bring more of it, or leave --probability out",
            whole ? "groups" : "samples", all[k % 2],
            whole ? " samples, all in groups of one fold" : "");
  }
  return LAPIS_OK;
}

lapis_status sv_platt_folds(svmplus *w)
{
  lapis_ctx *ctx = w->base.ctx;
  int64_t n = w->q.n;
  if (w->set.kernel == LAPIS_KERNEL_PRECOMPUTED ||
      w->set.kernel_priv == LAPIS_KERNEL_PRECOMPUTED)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "svmplus: --probability needs features; a precomputed "
                      "kernel cannot be split into folds");
  lapis_mat Y = lapis_mat_f64(w->labels.sign, w->K, n);
  fold_draw how = {.method = "svmplus",
                   .use = FOLDS_PLATT,
                   .samples = n,
                   .folds = FOLDS,
                   .group = w->data.group,
                   .Y = &Y,
                   .or_fewer = true};
  folds_free(&w->folds);
  TRY(folds_draw(ctx, &how, &w->folds));
  TRY(check_folds(w));
  folds_say_groups(ctx, &how, &w->folds);
  if (w->set.balanced) sv_say_balanced(ctx);
  return LAPIS_OK;
}

calibration sv_calibration(const svmplus *w, const double *held)
{
  return (calibration){.score = held,
                       .sign = w->labels.sign,
                       .weight = w->data.weight,
                       .K = w->K,
                       .n = w->q.n,
                       .classes = w->labels.kind == TARGETS_CLASS,
                       .ridge = (double)w->K};
}

lapis_status sv_platt(svmplus *w, sv_maker *make)
{
  lapis_ctx *ctx = w->base.ctx;
  loop *l = &w->base.loop;
  double *held = base_alloc(ctx, w->q.n * w->K, sizeof *held);
  if (w->platt == NULL) w->platt = arena_reals(&w->base.arena, 2 * w->K);
  bool ok = held != NULL && w->platt != NULL;
  lapis_status s = ok ? LAPIS_OK : LAPIS_ENOMEM;
  keep_pause(ctx, true);
  for (int64_t k = 0; k < w->folds.folds && s == LAPIS_OK; k++)
    s = loop_cut_short(l) ? l->status : one_fold(w, make, k, held);
  keep_pause(ctx, false);
  if (s == LAPIS_OK) {
    calibration x = sv_calibration(w, held);
    s = calibrate(ctx, &x, (sigmoid *)w->platt);
  }
  if (s > 0) { /* a sigmoid of some folds would look like any other */
    l->status = s;
    w->platt = NULL;
    base_note(ctx, BASE_WARNING, "no-probabilities",
              "svmplus: stopped before the folds of {probability} were done; "
              "there are no probabilities");
  }
  base_free(held);
  return s < 0 ? s : LAPIS_OK;
}
