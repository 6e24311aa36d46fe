/* threshold.c - the score above which a bag is positive, from held-out bags.
 *
 * A bag's score is the largest of its instances' scores, and the largest of
 * many is above 0 in most bags that were not learnt from, positive or not.
 * So bags, each kind spread evenly, are split into folds; those of a fold are
 * scored by a model of the others, and a sigmoid p = 1 / (1 + exp(-(a f_b +
 * b))) of these scores (folds/calibrate.c) says where a bag is positive as
 * likely as not: t = -b / a. Where that is no answer (a is 0: a higher score
 * speaks against; or all bags would be called alike), t is by which most are
 * right: t = argmax #{positive b: f_b > t} + #{negative b: f_b <= t} in the
 * middle between two neighbouring scores; of several, next to 0. Scores of two
 * l2 models compare as f / rho, rho = a'Qa: the margin is 1. */
#include <math.h>
#include <stdlib.h>

#include "methods/svmplus/svmplus.h"

enum { FOLDS = 5 };

typedef struct held_bag {
  double score; /* f / rho */
  bool positive;
} held_bag;

typedef struct splitting {
  const svmplus *w;
  method_new_fn make;       /* of a fold's fit */
  lapis_misvm_settings set; /* of a fold's model */
  const bag_list *bags;
  fold_plan folds;
  held_bag *held; /* bags */
} splitting;

/* ---- which bags go together ---------------------------------------------*/
/* As many folds as every one can have both kinds, at most FOLDS. */
static int64_t count_folds(const splitting *p)
{
  int64_t kind[2] = {0, 0};
  for (int64_t k = 0; k < p->bags->count; k++) kind[p->held[k].positive]++;
  int64_t least = kind[0] < kind[1] ? kind[0] : kind[1];
  return least < FOLDS ? least : FOLDS;
}

static lapis_status split(splitting *p, int64_t folds)
{
  int64_t n = p->w->q.n;
  double *y = base_alloc(p->w->base.ctx, n, sizeof *y);
  if (y == NULL) return LAPIS_ENOMEM;
  lapis_mat Y = lapis_mat_f64(y, 1, n);
  for (int64_t k = 0; k < p->bags->count; k++)
    for (int64_t m = 0; m < p->bags->item[k].count; m++)
      y[p->bags->item[k].member[m]] = p->held[k].positive;
  fold_draw how = {.method = "misvm",
                   .use = FOLDS_BAGS,
                   .samples = n,
                   .folds = folds,
                   .group = p->w->data.group,
                   .Y = &Y};
  lapis_status s = folds_draw(p->w->base.ctx, &how, &p->folds);
  base_free(y);
  return s;
}

/* ---- scores of one fold -------------------------------------------------*/
/* Bags come back by rising name, which is their place in the list. */
static void take_scores(splitting *p, int64_t fold, const lapis_mat *f,
                        double rho)
{
  int64_t at = 0;
  for (int64_t b = 0; b < p->bags->count; b++)
    if (p->folds.fold[p->bags->item[b].member[0]] == fold)
      p->held[b].score = mat_col(f, at++)[0] / fmax(rho, 1e-300);
}

static lapis_status score_fold(splitting *p, int64_t fold,
                               const lapis_data *shown,
                               const lapis_data *hidden)
{
  lapis_ctx *ctx = p->w->base.ctx;
  lapis_solver *s = NULL, *q = NULL;
  TRY(p->make(ctx, shown, &p->set, &s));
  lapis_status status = lapis_solve(s);
  bool whole = status == LAPIS_OK || status == LAPIS_MAX_ITERS ||
               status == LAPIS_PRECISION_FLOOR;
  lapis_status learned = whole ? s->cls->learn(s) : status;
  if (whole && learned >= 0)
    learned =
        misvm_predict_new(ctx, hidden, s->settings, &s->learned, NULL, &q);
  if (whole && learned >= 0) learned = lapis_solve(q);
  if (whole && learned >= 0)
    take_scores(p, fold, named_find(&q->result, "bag_scores"),
                2 * s->info.objective);
  lapis_solver_free(q);
  lapis_solver_free(s);
  return whole && learned >= 0 ? LAPIS_OK : learned;
}

static lapis_status one_fold(splitting *p, int64_t fold)
{
  fold_part hidden, shown;
  lapis_status s = sv_split(p->w, &p->folds, fold, &hidden, &shown);
  if (s >= 0) s = score_fold(p, fold, &shown.data, &hidden.data);
  fold_part_free(&hidden);
  fold_part_free(&shown);
  return s;
}

/* ---- the choice ---------------------------------------------------------*/
static int by_score(const void *a, const void *b)
{
  const held_bag *x = a, *y = b;
  return (x->score > y->score) - (x->score < y->score);
}

/* held, sorted; 0 where all scores are one. */
static double best_cut(const held_bag *held, int64_t count, int64_t *right)
{
  int64_t now = 0;
  double best = 0;
  *right = -1;
  for (int64_t k = 0; k < count; k++) now += held[k].positive;
  for (int64_t k = 0; k + 1 < count; k++) { /* between k and k + 1 */
    double t = held[k].score + (held[k + 1].score - held[k].score) / 2;
    now += held[k].positive ? -1 : 1;
    if (held[k].score == held[k + 1].score) continue;
    if (now > *right || (now == *right && fabs(t) < fabs(best))) {
      *right = now;
      best = t;
    }
  }
  return best;
}

static int64_t count_right(const splitting *p, double t, int64_t *called)
{
  int64_t right = 0;
  *called = 0;
  for (int64_t k = 0; k < p->bags->count; k++) {
    bool above = p->held[k].score > t;
    *called += above;
    right += above == p->held[k].positive;
  }
  return right;
}

/* Where the sigmoid is 1/2, NAN where it says nothing, and its log-loss; room:
 * twice as many as bags. */
static lapis_status middle(const splitting *p, double *room, double *t,
                           double *loss)
{
  int64_t count = p->bags->count, called;
  double *score = room, *sign = room + count;
  calibration x = {.score = score, .sign = sign, .K = 1, .n = count};
  sigmoid by;
  for (int64_t k = 0; k < count; k++) {
    score[k] = p->held[k].score;
    sign[k] = p->held[k].positive ? 1 : -1;
  }
  TRY(calibrate(p->w->base.ctx, &x, &by));
  *loss = calibrate_entropy(&x, 0, by);
  *t = by.slope > 0 ? -by.bias / by.slope : NAN;
  if (isfinite(*t)) (void)count_right(p, *t, &called);
  if (!isfinite(*t) || called == 0 || called == count) *t = NAN;
  return LAPIS_OK;
}

static lapis_status choose(splitting *p, double *room, double *out,
                           double *loss)
{
  int64_t right, called, count = p->bags->count;
  int64_t before = count_right(p, 0, &called);
  double t;
  TRY(middle(p, room, &t, loss));
  if (isnan(t)) {
    qsort(p->held, (size_t)count, sizeof *p->held, by_score);
    t = best_cut(p->held, count, &right);
  } else {
    right = count_right(p, t, &called);
  }
  if (right >= 0)
    base_say(p->w->base.ctx, 1,
             "misvm: threshold %.4g margins: %" PRId64 " of %" PRId64
             " held-out bags right, %" PRId64 " by 0",
             t, right, count, before);
  *out = t;
  return LAPIS_OK;
}

bool bags_are_enough(const bag_list *b, const double *sign)
{
  int64_t kind[2] = {0, 0};
  for (int64_t k = 0; k < b->count; k++) kind[sign[b->item[k].member[0]] > 0]++;
  return kind[0] > 1 && kind[1] > 1;
}

lapis_status bag_threshold(const svmplus *w, const lapis_misvm_settings *set,
                           method_new_fn make, const bag_list *b,
                           const double *sign, double seconds, double *out,
                           double *loss)
{
  splitting p = {.w = w, .make = make, .set = *set, .bags = b};
  lapis_ctx *ctx = w->base.ctx;
  double start = base_seconds(), unused;
  p.set.threshold = LAPIS_THRESHOLD_FIXED;
  p.set.scale = LAPIS_SCALE_NONE; /* w->data are scaled, where they are */
  p.held = base_alloc(ctx, b->count, sizeof *p.held);
  double *room = base_alloc(ctx, 2 * b->count, sizeof *room);
  lapis_status s = p.held == NULL || room == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  for (int64_t k = 0; s >= 0 && k < b->count; k++)
    p.held[k].positive = sign[b->item[k].member[0]] > 0;
  int64_t folds = s >= 0 ? count_folds(&p) : 0;
  if (s >= 0 && folds < 2)
    base_note(ctx, BASE_WARNING, "no-threshold",
              "misvm: {threshold auto} needs two bags of either kind; the "
              "threshold stays 0");
  if (s >= 0 && folds > 1) s = split(&p, folds);
  for (int64_t k = 0; folds > 1 && k < folds && s == LAPIS_OK; k++) {
    p.set.stop.seconds = fmax(0, seconds - (base_seconds() - start));
    s = one_fold(&p, k);
  }
  if (s == LAPIS_OK && folds > 1)
    s = choose(&p, room, out, loss != NULL ? loss : &unused);
  base_free(room);
  base_free(p.held);
  folds_free(&p.folds);
  return s;
}
