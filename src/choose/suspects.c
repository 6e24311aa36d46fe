/* suspects.c - known labels that the rest of the data contradicts.
 *
 * In the fit itself every known label is fitted, so known labels are hidden
 * fold by fold, completed, and ranked by s (threshold - z). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "choose/select.h"
#include "methods/method_entry.h"
#include "solver/solver.h"

typedef struct suspect {
  double margin;
  int64_t sample, class_;
} suspect;

static int largest_first(const void *a, const void *b)
{
  const suspect *x = a, *y = b;
  if (x->margin != y->margin) return x->margin < y->margin ? 1 : -1;
  return (x->sample > y->sample) - (x->sample < y->sample);
}

/* Above which a score of the method is a yes. */
static lapis_status threshold_of(lapis_ctx *ctx, const lapis_method *m,
                                 const void *settings, const targets *t,
                                 double *out)
{
  const method_entry *e = method_entry_of(m);
  *out = 0;
  if (e == NULL || e->zero_one == NULL) return LAPIS_OK;
  void *own = base_alloc(ctx, 1, m->settings_size);
  if (own == NULL) return LAPIS_ENOMEM;
  lapis_status s = lapis_settings_copy(ctx, m, settings, own);
  if (s >= 0) *out = targets_threshold(e->zero_one(own, t));
  base_free(own);
  return s;
}

/* By how far the score of its class c lies on the other side. */
static double margin_of(const targets *t, double threshold,
                        const lapis_mat *scores, int64_t j, int64_t c)
{
  double sign = t->sign[j * t->classes + c];
  return sign * (threshold - lapis_mat_at(scores, c, j));
}

/* A label of classes is one, by its own class or by the likeliest other,
 * whichever contradicts it more. */
static suspect of_class(const targets *t, double threshold,
                        const lapis_mat *scores, int64_t j)
{
  int64_t own, other = doubt_class(t, scores, j, &own);
  double by_own = margin_of(t, threshold, scores, j, own);
  double by_other = margin_of(t, threshold, scores, j, other);
  return (suspect){fmax(by_own, by_other), j, other};
}

static int64_t rank(const targets *t, double threshold, const lapis_mat *scores,
                    suspect *all)
{
  int64_t n = 0;
  bool one = t->kind == TARGETS_CLASS;
  for (int64_t j = 0; j < t->samples; j++)
    for (int64_t c = 0; c < (one ? 1 : t->classes); c++) {
      all[n] = one ? of_class(t, threshold, scores, j)
                   : (suspect){margin_of(t, threshold, scores, j, c), j, c};
      n += !isnan(all[n].margin);
    }
  qsort(all, (size_t)n, sizeof *all, largest_first);
  return n;
}

static lapis_status refuse_numbers(lapis_ctx *ctx, const lapis_mat *Y)
{
  bool numbers;
  TRY(targets_are_numbers(ctx, Y, &numbers));
  if (!numbers) return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_EINVAL,
                    "suspects: Y holds numbers, and labels are doubted alone; "
                    "auto lists those that are far from what all others say "
                    "(result outliers), and its {held-out} says what each is "
                    "predicted to be while it is hidden");
}

lapis_status lapis_suspects_check(lapis_ctx *ctx, const lapis_data *data)
{
  NEEDS(ctx, ctx, data);
  TRY(mat_check_numbers(ctx, "suspects", "Y", &data->Y));
  return mat_empty(&data->words) ? refuse_numbers(ctx, &data->Y) : LAPIS_OK;
}

lapis_status lapis_suspects_of(lapis_ctx *ctx, const lapis_mat *Y,
                               const lapis_mat *scores, double threshold,
                               int64_t count, int64_t *index, double *margin,
                               int64_t *found)
{
  targets t;
  NEEDS(ctx, ctx, Y, scores, index, margin, found);
  *found = 0;
  TRY(mat_check_numbers(ctx, "suspects", "scores", scores));
  if (scores->rows <= Y->rows) TRY(refuse_numbers(ctx, Y));
  TRY(targets_encode(ctx, "suspects", Y, &t));
  bool fits = scores->rows == t.classes && scores->cols == t.samples;
  suspect *all = base_alloc(ctx, t.classes * t.samples, sizeof *all);
  int64_t n = all != NULL && fits ? rank(&t, threshold, scores, all) : 0;
  *found = n < count ? n : count;
  for (int64_t i = 0; i < *found; i++) {
    index[2 * i] = all[i].sample;
    index[2 * i + 1] = all[i].class_;
    margin[i] = all[i].margin;
  }
  lapis_status s = all == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  base_free(all);
  targets_free(&t);
  if (s < 0 || fits) return s;
  return lapis_fail(ctx, LAPIS_ESHAPE,
                    "suspects: scores of every known label are needed, %" PRId64
                    " x %" PRId64 ", not %" PRId64 " x %" PRId64,
                    t.classes, t.samples, scores->rows, scores->cols);
}

typedef struct listing { /* what lapis_suspects answers */
  int64_t count, *index;
  double *margin;
  int64_t found, wrong[5];
} listing;

static lapis_status list(lapis_ctx *ctx, const lapis_method *m,
                         const void *settings, const lapis_data *data,
                         const lapis_solver *cv, listing *l)
{
  targets t;
  const lapis_mat *scores = named_find(&cv->result, "held_out");
  if (scores == NULL) return LAPIS_OK; /* no time for a fold */
  TRY(targets_encode(ctx, "suspects", &data->Y, &t));
  double threshold;
  lapis_status s = threshold_of(ctx, m, settings, &t, &threshold);
  targets_free(&t);
  if (s < 0) return s;
  s = lapis_suspects_of(ctx, &data->Y, scores, threshold, l->count, l->index,
                        l->margin, &l->found);
  for (int64_t i = 0; i < l->found; i++) l->wrong[4] += l->margin[i] > 0;
  return s;
}

/* As fit does: what these labels rather are, and how many are wrong, or why
 * that cannot be said. */
static lapis_status doubt(lapis_ctx *ctx, const lapis_data *data,
                          const lapis_mat *held_out, listing *l)
{
  char text[320];
  TRY(lapis_doubts(ctx, &data->Y, data->group, held_out, l->count, l->index,
                   l->margin, &l->wrong[4], l->wrong));
  l->found = lapis_doubts_shown(l->wrong, l->count);
  bool said = l->found > 0 && !isnan(l->margin[0]);
  if (l->wrong[2] > 0)
    base_note(ctx, said ? BASE_NOTE : BASE_WARNING, "doubts", "suspects: %s",
              lapis_doubts_text(l->wrong, text, sizeof text));
  return LAPIS_OK;
}

/* Of settings that are open: by what is said of labels held out. */
static lapis_status of_chosen(lapis_ctx *ctx, const lapis_method *m,
                              const lapis_data *data, const void *settings,
                              int64_t folds, listing *l)
{
  char text[32];
  lapis_solver *s = NULL;
  void *own = base_alloc(ctx, 1, m->settings_size);
  lapis_status status = own == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  (void)snprintf(text, sizeof text, "%" PRId64, folds > 0 ? folds : 5);
  if (status >= 0) status = lapis_settings_copy(ctx, m, settings, own);
  if (status >= 0) status = lapis_settings_set(ctx, m, own, "held-out", text);
  if (status >= 0 && lapis_param_find(m, "doubted") != NULL) /* of all */
    status = lapis_settings_set(ctx, m, own, "doubted", "learn");
  if (status >= 0) status = lapis_solver_new(ctx, m, data, own, &s);
  if (status >= 0) status = lapis_solve(s);
  const lapis_mat *there =
      status >= 0 && s != NULL ? named_find(&s->result, "held_out") : NULL;
  if (there != NULL && status != LAPIS_CANCELLED) {
    lapis_status listed = doubt(ctx, data, there, l);
    if (listed < 0) status = listed;
  }
  lapis_solver_free(s);
  base_free(own);
  return status;
}

lapis_status lapis_suspects(lapis_ctx *ctx, const lapis_method *m,
                            const lapis_data *data, const void *settings,
                            const lapis_cv_options *options, int64_t count,
                            int64_t *index, double *margin, int64_t *found,
                            int64_t *wrong)
{
  NEEDS(ctx, ctx, m, data, index, margin, found);
  listing l = {.count = count, .index = index, .margin = margin};
  lapis_cv_options o;
  lapis_solver *cv;
  TRY(lapis_suspects_check(ctx, data));
  TRY(cv_options_take(ctx, options, &o));
  if (options == NULL) o.folds = 0;
  o.keep_scores = true;
  *found = 0;
  lapis_status s, listed = LAPIS_OK;
  if (lapis_method_chooses(m, settings, lapis_data_has(data))) {
    s = of_chosen(ctx, m, data, settings, o.folds, &l);
  } else {
    TRY(lapis_cv_new(ctx, m, data, settings, &o, NULL, 0, &cv));
    s = lapis_solve(cv);
    if (s >= 0 && s != LAPIS_CANCELLED)
      listed = list(ctx, m, settings, data, cv, &l);
    lapis_solver_free(cv);
  }
  *found = l.found;
  if (wrong != NULL) memcpy(wrong, l.wrong, sizeof l.wrong);
  return listed < 0 ? listed : s; /* out of time: of the folds that are done */
}
