/* race.h - settings that nobody gave: a race of candidates.
 *
 * Known labels are hidden as labels are missing, a handful of candidates (and
 * plain ones beside them) answer for them, and the answers, made probabilities
 * by Platt's sigmoid a label, are judged by their log-loss. */
#ifndef LAPIS_RACE_H
#define LAPIS_RACE_H
#include "lapis/lapis.h"

typedef struct lapis_race lapis_race;
enum { /* settings that are stated and stay; the others are chosen */
       LAPIS_STATED_LABELS = 1,
       LAPIS_STATED_LAMBDA = 2,
       LAPIS_STATED_GAMMA = 4,
       LAPIS_STATED_MU = 8
};
typedef struct lapis_race_options {
  size_t size;
  const char *map; /* NULL: standard, for counts also l1-sqrt,standard (mc1);
                    * scale:auto,scale:10 (pos); none (simplex) */
  bool by_group;   /* data->group is needed; where there is one, it stays
                    * whole anyway */
  unsigned stated; /* LAPIS_STATED_* */
  /* who runs: mc; logistic regressions, lines and, up to 5000 samples, behind a
   * kernel (map nystrom); trees.  Gaps of the latter two as map impute fills
   * them, and, where mc runs, as mc does */
  bool mc, linear, trees;
  const char *kept_as; /* its name in a checkpoint that has several, of at most
                        * 31 letters; NULL or empty: race */
} lapis_race_options;

enum { LAPIS_RUNNER_TEXT = 128 };
typedef struct lapis_runner {
  const char *method; /* "mc", "linear", "trees", or "mean": of probabilities
                       * of the best of several of these */
  char settings[LAPIS_RUNNER_TEXT]; /* as options of the command */
  double loss, error;     /* log-loss of hidden labels, its standard error */
  double auroc, accuracy; /* of hidden labels; means over labels */
  double behind, behind_error; /* its loss less the best runner's, paired */
  bool learnt; /* better than the shares of the labels by more than chance
                * does, and not one answer for all */
} lapis_runner;

/* What a fit would refuse whatever were chosen: not for want of labels. */
lapis_status race_check(lapis_ctx *ctx, const lapis_data *data,
                        const lapis_mc_settings *set,
                        const lapis_race_options *o);
/* set: the settings that are stated, the variant, and how long to solve.
 * LAPIS_EINVAL with a sentence where too few labels are known. */
lapis_status lapis_race_run(lapis_ctx *ctx, const lapis_data *data,
                            const lapis_mc_settings *set,
                            const lapis_race_options *options,
                            lapis_race **out);
void lapis_race_free(lapis_race *race); /* NULL is fine */
/* Best first. */
int lapis_race_count(const lapis_race *race);
lapis_runner lapis_race_at(const lapis_race *race, int i);
/* Why runner i does not count as having learnt something, as a sentence; ""
 * where it does.  Returns text. */
char *lapis_race_unsure(const lapis_race *race, int i, char *text, size_t size);
/* The first of a method; NULL: who should answer, which is the best of the
 * first of mc, linear and trees, or the mean of it and those that are not three
 * standard errors behind it; -1: none. */
int lapis_race_best(const lapis_race *race, const char *method);
/* The map that a runner reads its features through. */
const char *lapis_race_map(const lapis_race *race, int i);
/* What an mc runner ran with, into *set. */
void lapis_race_settings(const lapis_race *race, int i, lapis_mc_settings *set);
/* A solver that answers as runner i did, for data as the race was given: its
 * results, and lapis_model_new, have the maps that go with it.  set: how long
 * to solve, and what else mc is to publish.  Borrows data and the race until it
 * is freed.  Results: those of the method; of a mean those of the first with
 * scores, which are probabilities, and labels of the mean. */
lapis_status lapis_race_answer_new(lapis_ctx *ctx, const lapis_race *race,
                                   int i, const lapis_data *data,
                                   const lapis_mc_settings *set,
                                   lapis_solver **out);
/* Where nothing can be compared: the first of mc, linear and trees that is
 * asked, with its usual settings, behind a map; which these are; and its
 * solver. */
const char *race_default_method(const lapis_race_options *o);
const char *race_default_map(const lapis_race_options *o,
                             const lapis_mc_settings *set,
                             const lapis_data *data);
lapis_status race_default_new(lapis_ctx *ctx, const lapis_race_options *o,
                              const lapis_data *data,
                              const lapis_mc_settings *set, lapis_solver **out);
int64_t lapis_race_labels(const lapis_race *race); /* K of held_out */
/* What runner i says of every known label while it is hidden, in folds like
 * the race's: probabilities of yes, or of each class, K x n; NaN where a label
 * is not known or time ran out.  data: as the race was given, still there. */
lapis_status lapis_race_held_out(lapis_ctx *ctx, const lapis_race *race, int i,
                                 const lapis_data *data, int64_t folds,
                                 double *p);
/* Loss of i less that of j on the same labels, and its standard error. */
double lapis_race_difference(const lapis_race *race, int i, int j,
                             double *error);
/* The same for runner j of another race that hid the same labels in the same
 * folds: of other features of the same samples. */
double lapis_race_against(const lapis_race *race, int i,
                          const lapis_race *other, int j, double *error);
/* The accuracy that new samples may have by what hidden labels say of runner i:
 * a 95 % interval, the wider, the fewer labels were hidden, of groups by how
 * far they differ; NaN where there is no runner i. */
void lapis_race_accuracy(const lapis_race *race, int i, double *least,
                         double *most);
typedef struct lapis_race_hidden {
  lapis_folds_of of;
  int64_t folds, labels; /* folds that were answered, labels hidden in them */
  int widened;           /* runners added because the best stood at an end */
  double loss;           /* of the labels' shares, for comparison */
} lapis_race_hidden;
lapis_race_hidden lapis_race_what(const lapis_race *race);

#endif
