/* compare.h - settings that nobody gave: candidates that are compared.
 *
 * Known labels are hidden as labels are missing, a handful of candidates (and
 * plain ones beside them) answer for them, and the probabilities they would
 * answer with are judged by their log-loss. */
#ifndef LAPIS_RACE_H
#define LAPIS_RACE_H
#include "lapis/lapis.h"

typedef struct comparison comparison;
enum { /* settings that are stated and stay; the others are chosen */
       STATED_LABELS = 1,
       STATED_LAMBDA = 2,
       STATED_GAMMA = 4,
       STATED_MU = 8
};
typedef struct auto_options {
  const char *map; /* NULL: standard, for counts also l1-sqrt,standard, for
                    * lines of what has one unit also l2,standard (mc1);
                    * scale:auto,scale:10 (pos); none (simplex) */
  unsigned stated; /* STATED_* */
  /* who runs: mc; logistic regressions, lines and, up to 5000 samples, behind a
   * kernel (map nystrom); trees.  Gaps of the latter two as map impute fills
   * them, and, where mc runs, as mc does */
  bool mc, linear, trees;
  bool named;           /* these were asked for, whatever they cost */
  const char *named_as; /* with their settings, so that nobody is compared */
  bool numbers, rr;     /* targets are numbers; rr takes the place of mc */
  bool omits;           /* of numbers outliers are not known */
  /* labels that Y lacks because they are doubted; and Y with them, or NULL */
  int64_t left_out;
  const lapis_mat *given;
  const struct bagged *bags; /* samples are bags; or NULL */
  bool misvm;                /* of bags: it runs */
  const char *kept_as; /* its name in a checkpoint that has several, of at most
                        * 31 letters; NULL or empty: race */
} auto_options;

enum { CANDIDATE_TEXT = 768 };
typedef struct candidate_figures {
  const char *method; /* "mc", "linear", "trees", "rr", "misvm", or "mean": of
                       * what the best of several of these say */
  char settings[CANDIDATE_TEXT]; /* as options of the command */
  double loss, error;     /* log-loss of hidden labels, its standard error; of
                           * numbers the squared error relative to the mean's */
  double auroc, accuracy; /* of hidden labels; means over labels; of numbers
                           * R^2 and NaN */
  double commonest; /* accuracy of always the commonest answer to a label */
  double behind, behind_error; /* its loss less the best candidate's, paired */
  bool learnt; /* better than the shares of the labels by more than chance
                * does, and not one answer for all */
} candidate_figures;

/* What a fit would refuse whatever were chosen: not for want of labels. */
lapis_status race_check(lapis_ctx *ctx, const lapis_data *data,
                        const lapis_mc_settings *set, const auto_options *o);
/* set: the settings that are stated, the variant, and how long to solve.
 * LAPIS_EINVAL with a sentence where too few labels are known. */
lapis_status comparison_run(lapis_ctx *ctx, const lapis_data *data,
                            const lapis_mc_settings *set,
                            const auto_options *options, comparison **out);
void comparison_free(comparison *race); /* NULL is fine */
/* Best first. */
int comparison_count(const comparison *race);
candidate_figures comparison_at(const comparison *race, int i);
/* Why candidate i does not count as having learnt something, as a sentence; ""
 * where it does.  Returns text. */
char *comparison_unsure(const comparison *race, int i, char *text, size_t size);
/* The first of a method; NULL: who should answer, which is the best of the
 * first of mc, linear and trees, or the mean of it and those that are not three
 * standard errors behind it; of bags misvm where it is before that; -1: none.
 */
int comparison_best(const comparison *race, const char *method);
/* The map that a candidate reads its features through. */
const char *comparison_map(const comparison *race, int i);
/* Who answered, as named_as has it, base_free(); NULL: there is no candidate i,
 * or no memory. */
char *comparison_choice(const comparison *race, int i);
/* What an mc candidate ran with, into *set. */
void comparison_settings(const comparison *race, int i, lapis_mc_settings *set);
/* A solver that answers as candidate i did, for data as the race was given: its
 * results, and lapis_model_new, have the maps that go with it.  set: how long
 * to solve, and what else mc is to publish.  Borrows data and the race until it
 * is freed.  Results: those of the method; of a mean those of the first with
 * scores, which are probabilities, and labels of the mean. */
lapis_status comparison_answer_new(lapis_ctx *ctx, const comparison *race,
                                   int i, const lapis_data *data,
                                   const lapis_mc_settings *set,
                                   lapis_solver **out);
/* Numbers: the first robust regression, or (false) ridge regression without a
 * kernel; -1: none. */
int comparison_cleaned(const comparison *race, bool cleaned);
/* Where nothing can be compared: the first of mc, rr, linear and trees that is
 * asked, with its usual settings, behind a map; which these are; and its
 * solver. */
const char *race_default_method(const auto_options *o);
const char *race_default_map(const auto_options *o,
                             const lapis_mc_settings *set,
                             const lapis_data *data);
lapis_status race_default_new(lapis_ctx *ctx, const auto_options *o,
                              const lapis_data *data,
                              const lapis_mc_settings *set, lapis_solver **out);
/* Known numbers that are far from what all others say of them, the farthest
 * first: sample and target, 2 x so many; Y without them, where nobody learnt
 * from them or was judged by them; and a warning of them. */
lapis_mat comparison_outliers(const comparison *race);
bool comparison_others(const comparison *race, lapis_mat *Y);
void comparison_remark_outliers(const comparison *race, const char *name);
int64_t comparison_labels(const comparison *race); /* K of held_out */
/* What candidate i says of every known label while it is hidden, in folds like
 * the race's: probabilities of yes, or of each class, K x n; NaN where a label
 * is not known or time ran out.  data: as the race was given, still there. */
lapis_status comparison_hold_out(lapis_ctx *ctx, const comparison *race, int i,
                                 const lapis_data *data, int64_t folds,
                                 double *p);
/* What candidate i said of the labels that the race hid, in the race's own
 * folds: as above. */
lapis_status comparison_said(comparison *race, int i, double *p);
/* Loss of i less that of j on the same labels, and its standard error. */
double comparison_difference(const comparison *race, int i, int j,
                             double *error);
/* The same for candidate j of another race that hid the same labels in the same
 * folds: of other features of the same samples. */
double comparison_against(const comparison *race, int i,
                          const comparison *other, int j, double *error);
/* The accuracy that new samples may have by what hidden labels say of candidate
 * i: a 95 % interval, the wider, the fewer labels were hidden, of groups by how
 * far they differ; NaN where there is no candidate i. */
void comparison_accuracy(const comparison *race, int i, double *least,
                         double *most);
typedef struct auto_hidden {
  lapis_folds_of of;
  int64_t folds, labels; /* folds that were answered, labels hidden in them */
  int widened;           /* candidates added because the best stood at an end */
  int ended;    /* further candidates, clearly behind in the first fold */
  int dear;     /* and those left out for what they would cost */
  double saved; /* which is roughly so many seconds */
  double loss;  /* of the labels' shares, for comparison */
} auto_hidden;
auto_hidden comparison_what(const comparison *race);

#endif
