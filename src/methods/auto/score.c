/* score.c - what a candidate's answers for hidden labels are worth.
 *
 * The judge is the log-loss of what would be answered, after Platt's sigmoid a
 * label, or the softmax of several classes: it sees ranks and decisions, and
 * scores that have shrunken to one side are not judged by where they are.  A
 * sample of weight w counts as w of them.  Samples err as a whole (groups,
 * where they were hidden as groups), so that errors are from sums of units. */
#include <math.h>
#include <string.h>

#include "folds/unsure.h"
#include "lapis/choose.h"
#include "methods/auto/candidates.h"

static bool counts(const comparison *r, const candidate *x, int64_t k)
{
  return !isnan(r->labels.sign[k]) && (x == NULL || !isnan(x->score[k]));
}

/* ---- losses -------------------------------------------------------------*/
static double loss_at(const comparison *r, const candidate *x, int64_t k)
{
  if (r->o.numbers) {
    double off = (x->mean_of_all ? 0 : x->score[k]) - r->labels.sign[k];
    return off * off;
  }
  calibration of = race_calibration(r, x, x->score);
  return calibrate_loss(&of, x->answer, k);
}

/* Mean of a sum over units, and its standard error. */
static double mean_of(const comparison *r, const double *sum,
                      const double *count, double *error)
{
  double all = 0, labels = 0, square = 0, units = 0;
  for (int64_t u = 0; u < r->plan.units; u++) {
    all += sum[u];
    labels += count[u];
    units += count[u] > 0;
  }
  double mean = all / labels;
  for (int64_t u = 0; u < r->plan.units; u++) {
    double off = sum[u] - count[u] * mean;
    square += off * off;
  }
  *error = units > 1 ? sqrt(square * units / (units - 1)) / labels : NAN;
  return mean;
}

void race_losses(const comparison *r, const candidate *a, const candidate *b,
                 double *sum, double *count)
{
  calibration of = race_calibration(r, a, a->score);
  for (int64_t k = 0; k < r->K * r->n; k += calibrate_step(&of)) {
    if (!counts(r, a, k) || (b != NULL && !counts(r, b, k))) continue;
    int64_t u = r->plan.unit[k / r->K];
    double w = r->weight == NULL ? 1 : r->weight[k / r->K];
    sum[u] += w * (loss_at(r, a, k) - (b == NULL ? 0 : loss_at(r, b, k)));
    count[u] += w;
  }
}

static double mean_loss(const comparison *r, const candidate *a,
                        const candidate *b, double *error)
{
  double *sum = base_alloc(r->ctx, 2 * r->plan.units, sizeof *sum);
  *error = NAN;
  if (sum == NULL) return NAN;
  double *count = sum + r->plan.units;
  race_losses(r, a, b, sum, count);
  double mean = mean_of(r, sum, count, error);
  base_free(sum);
  return mean;
}

double race_behind(const comparison *r, const candidate *a, const candidate *b,
                   double *error)
{
  return mean_loss(r, a, b, error);
}

/* What is trained on all classes at once needs no biases beside its own; those
 * of mc's rows are shrunken the more, the fewer labels a class has. */
calibration race_calibration(const comparison *r, const candidate *x,
                             const double *score)
{
  return (calibration){.score = score,
                       .sign = r->labels.sign,
                       .weight = r->weight,
                       .K = r->K,
                       .n = r->n,
                       .classes = r->labels.kind == TARGETS_CLASS,
                       .ridge = x->kind == CANDIDATE_LINEAR ? INFINITY
                                                            : (double)r->K};
}

/* The shares as a candidate: what knowing nothing of the features loses. */
static lapis_status shares(const comparison *r, const candidate *like,
                           candidate *out)
{
  calibration x = race_calibration(r, like, like->score);
  *out = (candidate){.score = like->score};
  out->answer = base_alloc(r->ctx, r->K, sizeof *out->answer);
  if (out->answer == NULL) return LAPIS_ENOMEM;
  for (int64_t c = 0; c < r->K; c++) out->answer[c] = calibrate_share(&x, c);
  return LAPIS_OK;
}

/* ---- answers ------------------------------------------------------------*/
static int64_t class_of(const comparison *r, const double *score,
                        const sigmoid *at, int64_t j)
{
  int64_t best = 0;
  double most = -INFINITY;
  for (int64_t c = 0; c < r->K; c++) {
    double f = at[c].slope * score[j * r->K + c] + at[c].bias;
    if (f > most) most = f, best = c;
  }
  return best;
}

int64_t candidate_right(const comparison *r, const double *score,
                        const sigmoid *at, double *right, double *all)
{
  int64_t first = -1, answers = 0;
  bool classes = r->labels.kind == TARGETS_CLASS;
  for (int64_t k = 0; k < r->K * r->n; k += classes ? r->K : 1) {
    if (isnan(r->labels.sign[k]) || isnan(score[k])) continue;
    double f = at[k % r->K].slope * score[k] + at[k % r->K].bias;
    int64_t said = classes ? class_of(r, score, at, k / r->K) : f > 0;
    bool sign = r->labels.sign[classes ? k + said : k] > 0;
    right[r->plan.unit[k / r->K]] += classes ? sign : sign == (said > 0);
    all[r->plan.unit[k / r->K]]++;
    if (answers == 0 || (answers == 1 && said != first)) answers++;
    first = said;
  }
  return answers;
}

/* How often the commonest answer to each label, or the commonest class, is
 * right: what accuracy comes to without any feature. */
static lapis_status take_commonest(const comparison *r, candidate *x)
{
  bool classes = r->labels.kind == TARGETS_CLASS;
  double *yes = base_alloc(r->ctx, 2 * r->K, sizeof *yes), all = 0, right = 0;
  if (yes == NULL) return LAPIS_ENOMEM;
  double *count = yes + r->K;
  for (int64_t k = 0; k < r->K * r->n; k++) {
    if (!counts(r, x, k)) continue;
    yes[k % r->K] += r->labels.sign[k] > 0;
    count[k % r->K]++;
  }
  for (int64_t c = 0; c < r->K; c++) {
    all += classes && c > 0 ? 0 : count[c];
    right =
        classes ? fmax(right, yes[c]) : right + fmax(yes[c], count[c] - yes[c]);
  }
  x->commonest = right / all;
  base_free(yes);
  return LAPIS_OK;
}

/* Accuracy, and Wilson's interval, whose trials are fewer than the labels.
 * Those of one unit err together: they are as many as have the standard error
 * that units show, and where units show none, a trial each.  So do those of
 * different folds, as their fits share samples: errors of folds correlate by
 * about the share that a fold hides [Nadeau, Bengio 2003], and the variance of
 * a mean over J of F folds is 1 + (J - 1) / F times that of independent
 * labels. */
static lapis_status take_accuracy(comparison *r, candidate *x)
{
  double *right = base_alloc(r->ctx, 2 * r->plan.units, sizeof *right), error;
  if (right == NULL) return LAPIS_ENOMEM;
  double *all = right + r->plan.units, units = 0, labels = 0;
  x->one_answer = candidate_right(r, x->score, x->answer, right, all) < 2;
  double f = x->accuracy = mean_of(r, right, all, &error);
  for (int64_t u = 0; u < r->plan.units; u++) {
    units += all[u] > 0;
    labels += all[u];
  }
  double trials = error > 0 ? f * (1 - f) / (error * error) : units;
  double folds = 1 + (double)(r->used - 1) / (double)r->plan.folds;
  x->trials = fmax(fmin(trials, labels) / folds, 1);
  lapis_share_interval(f, x->trials, &x->least, &x->most);
  base_free(right);
  return LAPIS_OK;
}

/* The standard error of the AUROC of an order by lot [Mann and Whitney]: the
 * mean of those of labels, which err together; so do samples of a unit. */
static double chance_of(const comparison *r, const candidate *x)
{
  double sum = 0, labels = 0;
  for (int64_t c = 0; c < r->K; c++) {
    double of[2] = {0, 0};
    for (int64_t j = 0; j < r->n; j++)
      if (counts(r, x, j * r->K + c)) of[r->labels.sign[j * r->K + c] > 0]++;
    if (of[0] * of[1] <= 0) continue;
    sum += sqrt((of[0] + of[1] + 1) / (12 * of[0] * of[1]));
    labels++;
  }
  return sum / labels * sqrt((double)r->n / (double)r->plan.units);
}

/* Of the samples of which some label counts. */
static lapis_status rank_of(const comparison *r, candidate *x)
{
  int64_t K = r->K, n = 0;
  double *score = base_alloc_raw(r->ctx, 2 * K * r->n, sizeof *score);
  if (score == NULL) return LAPIS_ENOMEM;
  double *given = score + K * r->n;
  for (int64_t j = 0; j < r->n; j++) {
    bool any = false;
    for (int64_t c = 0; c < K; c++) {
      bool one = counts(r, x, j * K + c);
      score[n * K + c] = one ? x->score[j * K + c] : 0;
      given[n * K + c] = one ? r->labels.sign[j * K + c] : NAN;
      any = any || one;
    }
    n += any;
  }
  lapis_mat truth = lapis_mat_f64(given, K, n);
  lapis_mat scores = lapis_mat_f64(score, K, n);
  lapis_status s =
      lapis_metric(r->ctx, "auroc", &truth, &scores, NULL, &x->auroc);
  base_free(score);
  x->auroc_by_chance = chance_of(r, x);
  return s;
}

/* By what scores, some of x's or all, become probabilities; a mean's are. */
static lapis_status find_answer(const comparison *r, const double *score,
                                candidate *x)
{
  calibration of = race_calibration(r, x, score);
  if (x->answer == NULL)
    x->answer = base_alloc(r->ctx, r->K, sizeof *x->answer);
  if (x->answer == NULL) return LAPIS_ENOMEM;
  for (int64_t c = 0; c < r->K; c++) x->answer[c] = (sigmoid){1, 0};
  return x->parts > 0 ? LAPIS_OK : calibrate(r->ctx, &of, x->answer);
}

/* Squared errors of a, in shares of those of b.  Who is far from the mean is in
 * both sums, so that the error is that of the ratio (the delta method), and not
 * that of a's errors alone. */
static double loss_ratio(const comparison *r, const candidate *a,
                         const candidate *b, double *error)
{
  double *sum = base_alloc(r->ctx, 3 * r->plan.units, sizeof *sum);
  *error = NAN;
  if (sum == NULL) return NAN;
  double *of = sum + r->plan.units, *count = of + r->plan.units;
  race_losses(r, a, NULL, sum, count);
  race_losses(r, b, NULL, of, count);
  double ratio = mean_of(r, sum, of, error);
  base_free(sum);
  return ratio;
}

/* By squared errors, against those of the mean of all. */
static void judge_numbers(const comparison *r, candidate *x)
{
  candidate mean = {.score = x->score, .mean_of_all = true};
  double error;
  x->guess = mean_loss(r, &mean, NULL, &error);
  x->loss = loss_ratio(r, x, &mean, &x->error);
  x->auroc = 1 - x->loss;
  x->accuracy = x->least = x->most = x->commonest = NAN;
  x->ahead = x->auroc;
  x->ahead_error = x->error;
  x->learnt = regression_is_clear(x->auroc, x->error, (double)r->known);
  x->judged = !isnan(x->loss) && x->guess > 0;
}

lapis_status candidate_judge(comparison *r, candidate *x)
{
  if (r->o.numbers) {
    judge_numbers(r, x);
    return LAPIS_OK;
  }
  candidate none;
  double error;
  TRY(find_answer(r, x->score, x));
  x->loss = mean_loss(r, x, NULL, &x->error);
  TRY(rank_of(r, x));
  TRY(take_accuracy(r, x));
  TRY(take_commonest(r, x));
  TRY(shares(r, x, &none));
  x->ahead = -mean_loss(r, x, &none, &x->ahead_error);
  x->learnt = x->ahead > lapis_far_errors((double)r->known) * x->ahead_error &&
              !x->one_answer;
  x->guess = mean_loss(r, &none, NULL, &error);
  base_free(none.answer);
  x->judged = !isnan(x->loss) && !isnan(x->auroc); /* both kinds */
  return LAPIS_OK;
}

/* ---- ending early -------------------------------------------------------*/
/* x as if the first fold were the only one: its scores in *only. */
static lapis_status judge_first(comparison *r, const candidate *x, double *only,
                                candidate *to)
{
  for (int64_t k = 0; k < r->K * r->n; k++)
    only[k] = fold_hides(&r->plan, 0, k % r->K, k / r->K) ? x->score[k] : NAN;
  bool found = to->answer != NULL;
  to->kind = x->kind;
  to->score = only;
  return r->o.numbers || found ? LAPIS_OK : find_answer(r, only, to);
}

/* The best by at[].loss, of all or of those like one; -1: none. */
static int first_by_loss(const comparison *r, const candidate *at, int like)
{
  int best = -1;
  for (int i = 0; i < r->count; i++) {
    if (like >= 0 && !candidates_alike(&r->run[i], &r->run[like])) continue;
    if (isnan(at[i].loss)) continue;
    if (best < 0 || at[i].loss < at[best].loss) best = i;
  }
  return best;
}

/* With scores of the leader in `best`, of each other one in `only`. */
static lapis_status end_behind(comparison *r, int first, candidate *at,
                               double *only, double *best)
{
  double error;
  for (int i = 0; i < r->count; i++) {
    at[i].loss = NAN;
    if (r->run[i].score == NULL) continue;
    TRY(judge_first(r, &r->run[i], only, &at[i]));
    at[i].loss = mean_loss(r, &at[i], NULL, &error);
  }
  int leader = first_by_loss(r, at, -1);
  if (leader < 0) return LAPIS_OK;
  TRY(judge_first(r, &r->run[leader], best, &at[leader]));
  for (int i = first; i < r->count; i++) {
    bool fills = r->fills && i == 0; /* others read what it makes of a fold */
    bool stays = fills || i == first_by_loss(r, at, i);
    if (r->run[i].score == NULL || stays) continue;
    TRY(judge_first(r, &r->run[i], only, &at[i]));
    double by = mean_loss(r, &at[i], &at[leader], &error);
    r->run[i].ended = by > fmax(ENDS_BEHIND * error, race_tie(r));
    for (int64_t f = 1; f < r->used; f++)
      *candidate_answered(r, i, f) |= r->run[i].ended;
  }
  return LAPIS_OK;
}

lapis_status race_end_behind(comparison *r, int first)
{
  int64_t count = r->K * r->n;
  double *only = base_alloc_raw(r->ctx, 2 * count, sizeof *only);
  candidate *at = base_alloc(r->ctx, r->count, sizeof *at);
  lapis_status s = only == NULL || at == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  if (s >= 0) s = end_behind(r, first, at, only, only + count);
  for (int i = 0; at != NULL && i < r->count; i++) base_free(at[i].answer);
  base_free(only);
  base_free(at);
  return s;
}
