/* compare.c - settings that nobody gave: candidates, folds like what is
 * missing, and a judge.  The policy and what it was measured on:
 * docs/defaults.md. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "folds/unsure.h"
#include "methods/auto/candidates.h"
#include "methods/method_entry.h"

enum { FOLDS = 3, FEW = 100, ROUNDS = 2 };

/* ---- preparing ----------------------------------------------------------*/
/* The rarer known value is 1 inside; a tie leaves the larger. */
static lapis_status find_turns(comparison *r)
{
  if (r->o.numbers) return LAPIS_OK;
  r->turn = base_alloc(r->ctx, r->K, sizeof *r->turn);
  if (r->turn == NULL) return LAPIS_ENOMEM;
  for (int64_t c = 0; c < r->K; c++) {
    int64_t count[2];
    targets_count(&r->labels, c, count);
    bool class_ = r->labels.kind == TARGETS_CLASS;
    r->turn[c] = !class_ && count[0] < count[1] ? -1 : 1;
  }
  return LAPIS_OK;
}

/* Rows, or groups, some label of which is known; -1: no memory. */
static int64_t labelled_units(const comparison *r)
{
  bool *any = base_alloc(r->ctx, r->plan.units, sizeof *any);
  int64_t count = 0;
  if (any == NULL) return -1;
  for (int64_t k = 0; k < r->K * r->n; k++)
    any[r->plan.unit[k / r->K]] |= !isnan(r->labels.sign[k]);
  for (int64_t u = 0; u < r->plan.units; u++) count += any[u];
  base_free(any);
  return count;
}

static lapis_status draw(comparison *r)
{
  lapis_cv_options o = lapis_cv_defaults();
  o.by_group = r->grouped;
  lapis_data given = *r->data;
  if (r->o.given != NULL) given.Y = *r->o.given; /* as labels are missing */
  lapis_folds_of of = lapis_cv_hides(lapis_method_find("mc"), &given, &o);
  if (r->o.numbers && of == LAPIS_FOLDS_OF_CELLS) of = LAPIS_FOLDS_OF_ROWS;
  r->cells = of == LAPIS_FOLDS_OF_CELLS;
  lapis_status s = cv_draw_folds(r->ctx, r->data, FOLDS, of, &r->plan);
  if (s == LAPIS_EINVAL) s = cv_draw_folds(r->ctx, r->data, 2, of, &r->plan);
  TRY(s);
  r->known = labelled_units(r);
  if (r->known < 0) return LAPIS_ENOMEM;
  r->used = r->plan.folds;
  return LAPIS_OK;
}

/* ---- running ------------------------------------------------------------*/

/* Out of time within a fold: what only some have answered decides nothing, and
 * candidates that came later have to have answered all that the first ones did.
 */
static void drop_unfinished(comparison *r, int first, int64_t fold)
{
  for (int64_t f = first > 0 ? 0 : fold; f <= fold; f++)
    for (int i = first; i < r->count; i++) candidate_forget(r, &r->run[i], f);
}

static bool have_answered(const comparison *r, int first, int64_t f)
{
  for (int i = first; i < r->count; i++)
    if (!*candidate_answered(r, i, f)) return false;
  return true;
}

/* One after the other, of folds from .. to - 1. */
static lapis_status run_here(comparison *r, int first, int64_t from, int64_t to)
{
  double started = base_seconds();
  int64_t all = (r->count - first) * r->used;
  for (int64_t f = from; f < to; f++)
    for (int i = first; i < r->count; i++) {
      if (*candidate_answered(r, i, f)) continue;
      lapis_status s = candidate_answers(r, &r->run[i], f);
      if (s == LAPIS_EDATA ||
          s == LAPIS_EMISSING) { /* the fold has too little */
        candidate_forget(r, &r->run[i], f);
        s = LAPIS_OK;
      }
      if (s < 0 || s == LAPIS_CANCELLED) return s;
      if (!base_late(r->ctx)) {
        *candidate_answered(r, i, f) = true;
        (void)keep_take(r->ctx, true);
      }
      if (!race_show(r, f * (r->count - first) + i - first + 1, all, started))
        return LAPIS_CANCELLED;
      if (!base_late(r->ctx)) continue;
      bool whole = s == LAPIS_OK && have_answered(r, i + 1, f);
      if (!whole || (first > 0 && f < r->used - 1))
        drop_unfinished(r, first, f);
      return LAPIS_TIME_LIMIT;
    }
  return LAPIS_OK;
}

static lapis_status run_folds(comparison *r, int first, int64_t from,
                              int64_t to)
{
  if (race_jobs(r, first) > 1) return race_run_jobs(r, first, from, to);
  return run_here(r, first, from, to);
}

/* Candidates first .. count - 1 over all folds, but for those that end after
 * the first one.  Out of time: the folds that all have run
 * decide, where there is one. */
static lapis_status run_all(comparison *r, int first)
{
  bool ends = r->used > 1 && r->known >= FEW && r->o.named_as == NULL;
  int64_t head = ends ? 1 : r->used;
  TRY(candidates_restore(r, first, r->count - 1));
  lapis_status s =
      r->late[first] ? LAPIS_TIME_LIMIT : run_folds(r, first, 0, head);
  if (ends && (s == LAPIS_OK || s == LAPIS_TIME_LIMIT))
    TRY(race_end_behind(r, first));
  if (s == LAPIS_OK) s = run_folds(r, first, head, r->used);
  if (s == LAPIS_TIME_LIMIT) candidates_end(r, first);
  return s;
}

/* Ranks worse than chance's are chance, too. */
static double rank_of(const candidate *x)
{
  return fmax(x->auroc, .5);
}

/* By loss; those that tie with the best by AUROC, then by the larger mu. */
static int best_of(const comparison *r, int from)
{
  double least = INFINITY;
  int best = -1;
  for (int i = from; i < r->count; i++)
    if (r->run[r->order[i]].judged)
      least = fmin(least, r->run[r->order[i]].loss);
  for (int i = from; i < r->count; i++) {
    const candidate *x = &r->run[r->order[i]];
    const candidate *b = best < 0 ? NULL : &r->run[r->order[best]];
    if (!x->judged || x->loss > least + race_tie(r)) continue;
    if (b == NULL || rank_of(x) > rank_of(b) ||
        (rank_of(x) >= rank_of(b) && x->set.mu_rel > b->set.mu_rel))
      best = i;
  }
  return best;
}

static void sort(comparison *r)
{
  for (int i = 0; i < r->count; i++) r->order[i] = i;
  for (int i = 0; i < r->count; i++) {
    int best = best_of(r, i);
    if (best < 0) return;
    int at = r->order[best];
    memmove(r->order + i + 1, r->order + i,
            (size_t)(best - i) * sizeof *r->order);
    r->order[i] = at;
  }
}

static lapis_status judge_from(comparison *r, int first)
{
  for (int i = first; i < r->count; i++)
    if (r->run[i].score != NULL && !r->run[i].ended)
      TRY(candidate_judge(r, &r->run[i]));
  sort(r);
  return LAPIS_OK;
}

/* More trees than those that are clearly behind lead nowhere, and cost much. */
static bool pays_to_widen(const comparison *r, const candidate *x)
{
  double error, by = race_behind(r, x, &r->run[r->order[0]], &error);
  return x->kind != CANDIDATE_BOOSTED || !(by > CLEARLY_BEHIND * error);
}

/* Further candidates where the best of a kind stands at an end; how many. */
static lapis_status widen(comparison *r, int *more)
{
  enum { WIDENED = 5 }; /* mc, lines, behind a kernel, misvm, boosted trees */
  int best[WIDENED] = {-1, -1, -1, -1, -1};
  *more = 0;
  for (int i = comparison_count(r) - 1; i >= 0; i--) {
    const candidate *x = &r->run[r->order[i]];
    bool line = x->kind == CANDIDATE_LINEAR, svm = x->kind == CANDIDATE_MISVM;
    bool grown = x->kind == CANDIDATE_BOOSTED;
    if (!line && !svm && !grown && x->kind != CANDIDATE_MC) continue;
    best[grown ? 4 : svm ? 3 : !line ? 0 : x->kernel > 0 ? 2 : 1] = r->order[i];
  }
  if ((r->o.stated & STATED_MU) != 0) best[0] = -1;
  for (int k = 0; k < WIDENED; k++)
    if (best[k] >= 0 && pays_to_widen(r, &r->run[best[k]]))
      TRY(candidates_widen(r, best[k], more));
  return LAPIS_OK;
}

static int first_of(const comparison *r, candidate_kind kind)
{
  for (int i = 0; i < comparison_count(r); i++)
    if (r->run[r->order[i]].kind == kind) return i;
  return -1;
}

/* The best of each kind, as far as none is clearly behind the best of all:
 * numbers of candidates in the order of kinds; *best: whose none is ahead.  How
 * many. */
static int close_to_best(const comparison *r, int of[CANDIDATE_KINDS],
                         int *best)
{
  int count = 0, place[CANDIDATE_KINDS];
  *best = -1;
  for (int kind = 0; kind < CANDIDATE_KINDS; kind++) {
    place[kind] = first_of(r, (candidate_kind)kind);
    if (place[kind] >= 0 && (*best < 0 || place[kind] < *best))
      *best = place[kind];
  }
  int *grown = &place[CANDIDATE_TREES], *boosted = &place[CANDIDATE_BOOSTED];
  if (*grown >= 0 && *boosted >= 0) *(*grown < *boosted ? boosted : grown) = -1;
  for (int kind = 0; kind < CANDIDATE_KINDS; kind++) {
    double error;
    if (place[kind] < 0) continue;
    double by = comparison_difference(r, place[kind], *best, &error);
    if (place[kind] == *best || fabs(by) <= CLEARLY_BEHIND * error)
      of[count++] = r->order[place[kind]];
  }
  return count;
}

/* The mean of who contends. */
static lapis_status join_best(comparison *r)
{
  int of[CANDIDATE_KINDS], best, before = r->count;
  if (r->o.numbers) {
    TRY(numbers_join(r));
    return judge_from(r, before);
  }
  int count = close_to_best(r, of, &best);
  if (count > 1) TRY(candidates_mean(r, of, count));
  return judge_from(r, before);
}

/* Some of its parts tells some label: a mean of shares has no order left. */
static bool tells(const comparison *r, const candidate *mean)
{
  for (int k = 0; k < mean->parts; k++)
    for (int64_t c = 0; c < r->K; c++)
      if (r->run[mean->of[k]].answer[c].slope > 0) return true;
  return false;
}

/* Who is named, of several their mean. */
static int named_answers(const comparison *r)
{
  if (r->n_named > 1) return first_of(r, CANDIDATE_MEAN);
  for (int i = 0; i < comparison_count(r); i++)
    if (r->order[i] == r->named[0]) return i;
  return -1;
}

/* The best where that is clear, against the mean itself, too; else the mean of
 * all that contend, which is right where any is. */
static int who_answers(const comparison *r)
{
  if (r->o.named_as != NULL) return named_answers(r);
  if (r->o.numbers) return comparison_count(r) > 0 ? 0 : -1;
  int of[CANDIDATE_KINDS], best, count = close_to_best(r, of, &best);
  int mean = count > 1 ? first_of(r, CANDIDATE_MEAN) : -1;
  double error,
      by = mean < 0 ? 0 : comparison_difference(r, mean, best, &error);
  bool joint = mean >= 0 && tells(r, &r->run[r->order[mean]]);
  int who = joint && !lapis_is_clear(by, error) ? mean : best;
  int svm = first_of(r, CANDIDATE_MISVM);
  return svm >= 0 && (who < 0 || svm < who) ? svm : who;
}

/* Those that are named, and what they say together. */
static lapis_status run_named(comparison *r)
{
  TRY(race_list_named(r));
  int count = r->count;
  lapis_status s = run_all(r, 0);
  if (s < 0 || s == LAPIS_CANCELLED) return s;
  TRY(judge_from(r, 0));
  TRY(race_join_named(r));
  TRY(judge_from(r, count));
  return s;
}

static lapis_status run_rounds(comparison *r)
{
  int first = 0;
  lapis_status s = LAPIS_OK;
  TRY(r->o.numbers ? numbers_list(r) : candidates_list(r));
  cost_admit(r, 0);
  for (int round = 0; s == LAPIS_OK && round <= ROUNDS; round++) {
    s = run_all(r, first);
    if (s < 0 || s == LAPIS_CANCELLED) return s;
    TRY(judge_from(r, first));
    first = r->count;
    if (s != LAPIS_OK || round == ROUNDS) break;
    int more;
    TRY(widen(r, &more));
    cost_admit(r, first);
    r->widened += r->count - first;
    if (r->count == first) break;
  }
  TRY(join_best(r));
  return s;
}

static lapis_status race(comparison *r)
{
  r->answered = base_alloc(r->ctx, MOST_CANDIDATES * r->used, sizeof(bool));
  if (r->answered == NULL) return LAPIS_ENOMEM;
  bool named = r->o.kept_as != NULL && *r->o.kept_as != '\0';
  keep_open(r->ctx, &r->scope, named ? r->o.kept_as : "race");
  lapis_status s = r->o.named_as != NULL ? run_named(r) : run_rounds(r);
  int best =
      s < 0 || s == LAPIS_CANCELLED || r->o.numbers ? -1 : who_answers(r);
  if (best >= 0) {
    lapis_status told = candidate_expect(r, &r->run[r->order[best]]);
    if (told < 0) s = told;
  }
  keep_close(r->ctx, &r->scope, s >= 0 && s != LAPIS_CANCELLED);
  return s;
}

/* Rows are those of the data; a map of the user's may make what the variant
 * needs. */
static lapis_status check(lapis_ctx *ctx, const lapis_data *data,
                          const lapis_mc_settings *set, int variant)
{
  const method_entry *e = method_entry_of(lapis_method_find("mc"));
  lapis_mc_settings own = *set;
  own.variant = variant;
  TRY(mat_check_data(ctx, "mc", data));
  return e->check(ctx, data, &own);
}

static lapis_status check_map(lapis_ctx *ctx, const char *spec)
{
  lapis_map *map;
  if (spec == NULL || strcmp(spec, "none") == 0) return LAPIS_OK;
  TRY(lapis_map_new(ctx, spec, &map));
  lapis_map_free(map);
  return LAPIS_OK;
}

/* Before candidates are compared: there are two classes to be distinguished. */
static lapis_status check_labels(lapis_ctx *ctx, const lapis_mat *Y)
{
  targets t;
  TRY(targets_encode(ctx, "auto", Y, &t));
  lapis_status s = targets_check_known(ctx, "auto", &t, "");
  targets_free(&t);
  return s;
}

lapis_status race_check(lapis_ctx *ctx, const lapis_data *data,
                        const lapis_mc_settings *set, const auto_options *o)
{
  TRY(check_map(ctx, o->map));
  if (!o->numbers) TRY(check_labels(ctx, &data->Y));
  bool mapped = o->map != NULL;
  if (!o->mc) return mat_check_finite(ctx, "auto", "X", &data->X, true);
  return check(ctx, data, set, mapped ? LAPIS_MC_1 : set->variant);
}

static lapis_status copy_weights(comparison *r)
{
  const double *from = r->data->weight;
  if (from == NULL) return LAPIS_OK;
  r->weight = base_alloc(r->ctx, r->n, sizeof *r->weight);
  if (r->weight == NULL) return LAPIS_ENOMEM;
  memcpy(r->weight, from, (size_t)r->n * sizeof *from);
  return LAPIS_OK;
}

/* Of numbers: what is learnt from and judged by. */
static lapis_status leave_out(comparison *r)
{
  lapis_mat Y;
  TRY(outliers_find(r));
  if (!comparison_others(r, &Y)) return LAPIS_OK;
  TRY(numbers_encode(r));
  r->known = labelled_units(r);
  return r->known < 0 ? LAPIS_ENOMEM : LAPIS_OK;
}

static lapis_status prepare(comparison *r)
{
  TRY(race_check(r->ctx, r->data, &r->set, &r->o));
  TRY(r->o.numbers ? numbers_encode(r)
                   : targets_encode(r->ctx, "mc", &r->data->Y, &r->labels));
  r->K = r->labels.classes;
  TRY(find_turns(r));
  TRY(copy_weights(r));
  TRY(draw(r));
  TRY(race_make_maps(r, &r->data->X));
  if (r->o.numbers) return leave_out(r);
  if (r->own_map == NULL || !r->o.mc) return LAPIS_OK;
  lapis_data mapped = *r->data;
  mapped.X = r->X[0];
  return check(r->ctx, &mapped, &r->set, r->set.variant);
}

/* What only running needs: copies of X, and what was made of them. */
void race_drop_data(comparison *r)
{
  kernels_drop(r);
  for (int k = 0; k < MOST_MAPS; k++) {
    lapis_solver_free(r->common[k]);
    free(r->memory[k]);
    base_free(r->filled[k]);
    base_free(r->raw[k]);
    r->common[k] = NULL;
    r->tried[k] = false;
    r->memory[k] = r->filled[k] = r->raw[k] = NULL;
  }
  r->data = NULL;
}

lapis_status comparison_run(lapis_ctx *ctx, const lapis_data *data,
                            const lapis_mc_settings *set,
                            const auto_options *options, comparison **out)
{
  MAKES(out);
  NEEDS(ctx, ctx, data, set, options, out);
  TRY(mat_check_data(ctx, "auto", data));
  if (mat_empty(&data->X) || mat_empty(&data->Y) ||
      data->X.cols != data->Y.cols)
    return lapis_fail(
        ctx, LAPIS_EMISSING,
        "auto: X and Y are needed, with a row for each sample in both");
  lapis_mc_settings own;
  TRY(lapis_settings_copy(ctx, lapis_method_find("mc"), set, &own));
  own.map = NULL; /* the race's own */
  comparison *r = base_alloc(ctx, 1, sizeof *r);
  if (r == NULL) return LAPIS_ENOMEM;
  *r = (comparison){.ctx = ctx,
                    .set = own,
                    .o = *options,
                    .data = data,
                    .grouped = data->group != NULL,
                    .n = data->X.cols};
  lapis_status s = LAPIS_OK;
  if (options->map != NULL) {
    r->own_map = base_strdup(ctx, options->map);
    if (r->own_map == NULL) s = LAPIS_ENOMEM;
  }
  base_mute(ctx, true);
  if (s >= 0) s = prepare(r);
  if (s >= 0) s = race(r);
  base_mute(ctx, false);
  race_drop_data(r);
  if (s == LAPIS_CANCELLED) base_rearm(ctx);
  if (s < 0 || s == LAPIS_CANCELLED) {
    comparison_free(r);
    return s;
  }
  *out = r;
  return s;
}

void comparison_free(comparison *r)
{
  if (r == NULL) return;
  for (int i = 0; i < r->count; i++) {
    base_free(r->run[i].score);
    base_free(r->run[i].answer);
  }
  race_drop_data(r);
  race_free_maps(r);
  for (int f = 0; f < MOST_FOLDS; f++) base_free(r->completed[f]);
  folds_free(&r->plan);
  targets_free(&r->labels);
  base_free(r->turn);
  base_free(r->centre);
  base_free(r->outlier);
  base_free(r->others);
  base_free(r->weight);
  base_free(r->answered);
  base_free(r->own_map);
  base_free(r->imputing);
  kernels_free(r);
  base_free(r);
}

/* ---- telling ------------------------------------------------------------*/
int64_t comparison_labels(const comparison *r)
{
  return r->K;
}

int comparison_count(const comparison *r)
{
  if (r == NULL) return 0;
  int n = 0;
  for (int i = 0; i < r->count; i++) n += r->run[i].judged;
  return n;
}

bool race_has(const comparison *r, int i)
{
  return i >= 0 && i < comparison_count(r);
}

int comparison_best(const comparison *r, const char *method)
{
  if (r == NULL) return -1;
  if (method == NULL) return who_answers(r);
  for (int k = 0; k <= CANDIDATE_MISVM; k++)
    if (strcmp(method, candidate_method((candidate_kind)k)) == 0)
      return first_of(r, (candidate_kind)k);
  return -1;
}

const char *comparison_map(const comparison *r, int i)
{
  if (!race_has(r, i)) return NULL;
  return candidate_map(r, &r->run[r->order[i]]);
}

candidate_figures comparison_at(const comparison *r, int i)
{
  if (!race_has(r, i)) return (candidate_figures){0};
  const candidate *x = &r->run[r->order[i]];
  candidate_figures out = {.method = candidate_method(x->kind),
                           .loss = x->loss,
                           .error = x->error,
                           .auroc = x->auroc,
                           .accuracy = x->accuracy,
                           .commonest = x->commonest,
                           .learnt = x->learnt};
  candidate_describe(r, x, out.settings);
  out.behind = comparison_difference(r, i, 0, &out.behind_error);
  return out;
}

/* Of many samples no border was tried that is not a line. */
static const char *help_of(const comparison *r)
{
  bool curved = !r->o.linear && !r->o.trees;
  for (int i = 0; i < r->count; i++)
    curved = curved || candidate_grows(&r->run[i]) || r->run[i].kernel > 0;
  return curved ? "; more labels, or other features, may help"
                : "; trees and kernels were not tried on so many samples: "
                  "'lapis fit trees', more labels or other features may help";
}

/* Where the order of the scores says more than chance, its words. */
static const char *order_of(const comparison *r, const candidate *x, char *text,
                            size_t size)
{
  double far = lapis_far_errors((double)r->known) * x->auroc_by_chance;
  *text = '\0';
  if (x->auroc - .5 > far)
    snprintf(text, size,
             "; the order of the scores may still be informative (AUROC %.3f, "
             "by chance 0.5)",
             x->auroc);
  return text;
}

char *comparison_unsure(const comparison *r, int i, char *text, size_t size)
{
  if (text == NULL || size == 0) return text;
  *text = '\0';
  if (!race_has(r, i)) return text;
  const candidate *x = &r->run[r->order[i]];
  const char *help = help_of(r);
  const char *than = "guessing each label by how frequent it is";
  char order[128];
  if (x->learnt) return text;
  if (r->o.numbers) {
    char unsure[REGRESSION_TEXT];
    snprintf(text, size, "%s",
             regression_unsure(x->auroc, x->error, (double)r->known, unsure));
    return text;
  }
  if (x->one_answer)
    snprintf(text, size,
             "all hidden labels got the same answer, so the filled-in labels "
             "mean little%s%s",
             order_of(r, x, order, sizeof order), help);
  else if (x->ahead > 0)
    snprintf(text, size,
             "it is not clear that anything was learnt: by log-loss, hidden "
             "labels are predicted %.4f +- %.4f better than by %s, which may "
             "be chance%s",
             x->ahead, x->ahead_error, than, help);
  else
    snprintf(
        text, size,
        "hidden labels are predicted no better than by %s (log-loss worse by "
        "%.4f +- %.4f), so the filled-in labels mean little%s%s",
        than, -x->ahead, x->ahead_error, order_of(r, x, order, sizeof order),
        help);
  return text;
}

double comparison_difference(const comparison *r, int i, int j, double *error)
{
  if (!race_has(r, i) || !race_has(r, j) || error == NULL) return NAN;
  return race_behind(r, &r->run[r->order[i]], &r->run[r->order[j]], error);
}

double comparison_against(const comparison *r, int i, const comparison *other,
                          int j, double *error)
{
  if (!race_has(r, i) || !race_has(other, j) || error == NULL ||
      r->K != other->K || r->n != other->n)
    return NAN;
  return race_behind(r, &r->run[r->order[i]], &other->run[other->order[j]],
                     error);
}

void race_take(const candidate *x, lapis_mc_settings *set)
{
  const lapis_mc_settings *from = &x->set;
  set->variant = from->variant;
  set->labels = from->labels;
  set->lambda = from->lambda;
  set->gamma = from->gamma;
  set->mu = from->mu;
  set->mu_rel = from->mu_rel;
}

char *comparison_choice(const comparison *r, int i)
{
  return race_has(r, i) ? candidate_named(r, &r->run[r->order[i]]) : NULL;
}

void comparison_settings(const comparison *r, int i, lapis_mc_settings *set)
{
  if (!race_has(r, i) || set == NULL) return;
  race_take(&r->run[r->order[i]], set);
}

void comparison_accuracy(const comparison *r, int i, double *least,
                         double *most)
{
  if (least == NULL || most == NULL) return;
  *least = *most = NAN;
  if (!race_has(r, i)) return;
  *least = r->run[r->order[i]].least;
  *most = r->run[r->order[i]].most;
}

/* Folds for which a candidate has answers. */
static int64_t folds_of(const comparison *r, const candidate *x)
{
  int64_t folds = 0;
  for (int64_t f = 0; f < r->used; f++) {
    int64_t k = 0, last = r->K * r->n;
    while (k < last &&
           (isnan(x->score[k]) || !fold_hides(&r->plan, f, k % r->K, k / r->K)))
      k++;
    folds += k < last;
  }
  return folds;
}

auto_hidden comparison_what(const comparison *r)
{
  if (r == NULL) return (auto_hidden){0};
  auto_hidden out = {.widened = r->widened, .loss = NAN};
  int best = comparison_best(r, NULL);
  if (best >= 0) {
    const candidate *x = &r->run[r->order[best]];
    out.folds = folds_of(r, x);
    out.loss = x->guess;
  }
  out.of = r->cells                          ? LAPIS_FOLDS_OF_CELLS
           : r->grouped || r->o.bags != NULL ? LAPIS_FOLDS_OF_GROUPS
                                             : LAPIS_FOLDS_OF_ROWS;
  for (int i = 0; i < r->count; i++) out.ended += r->run[i].ended;
  out.dear = r->dear;
  out.saved = r->saved;
  for (int64_t k = 0; best >= 0 && k < r->K * r->n; k++)
    out.labels += !isnan(r->run[r->order[best]].score[k]);
  if (r->labels.kind == TARGETS_CLASS && r->K > 0) out.labels /= r->K;
  return out;
}
