/* choose.h - choosing settings by cross-validation, labels that the rest of
 * the data contradicts, and runs that can be killed and go on.  lapis.h
 * includes it. */
#include "methods.h"
#ifndef LAPIS_PUBLIC_CHOOSE
#define LAPIS_PUBLIC_CHOOSE

#ifdef __cplusplus
extern "C" {
#endif

/* ---- choosing settings: k folds over a grid ------------------------------
 * Folds are drawn from the context's seed; groups (bags, people, images) stay
 * whole where there are some.  A transductive method (mc) hides the known
 * labels of a fold and keeps its features; the others fit on the rest and
 * predict, maps fitted on the rest alone.  Points of the grid are visited with
 * the last name fastest, each solve warm from the one before where the method
 * can. */
typedef struct lapis_grid {
  const char *name; /* a setting of the method */
  int count;
  const char *const *value; /* as lapis_settings_set reads them */
} lapis_grid;
/* A grid as typed, "NAME=V,V,V" or "NAME=LOW:HIGH:COUNT" (log scale). */
LAPIS_API lapis_status lapis_grid_new(lapis_ctx *ctx, const char *text,
                                      lapis_grid **out);
LAPIS_API void lapis_grid_free(lapis_grid *grid); /* NULL is fine */
/* What is hidden together should be what is missing together.  auto: groups
 * where data->group has some; single cells of Y where Y has several columns and
 * more than a tenth of the rows with a label lack another (mc alone answers
 * those); else whole rows. */
typedef enum lapis_folds_of {
  LAPIS_FOLDS_OF_AUTO,
  LAPIS_FOLDS_OF_ROWS,
  LAPIS_FOLDS_OF_GROUPS,
  LAPIS_FOLDS_OF_CELLS
} lapis_folds_of;
typedef struct lapis_cv_options { /* lapis_cv_table describes them */
  size_t size;
  int64_t folds;
  bool by_group;
  const char *metric;
  const char *map, *map_priv;
  bool keep_scores;
  bool pooled;  /* the metric reads scores or values */
  int folds_of; /* lapis_folds_of */
  /* In parts, by as many runs, each with whole folds (solves are warm inside
   * one): lapis_solve writes what a part found, and what the run was of.  Where
   * time runs out nothing is written (LAPIS_TIME_LIMIT); a checkpoint goes on.
   * A part has no results. */
  int64_t part, parts;
  const char *part_file; /* .npz */
} lapis_cv_options;
/* Of options and results: settings by name, lapis_method_result. */
LAPIS_API const lapis_method *lapis_cv_table(void);
/* What a cross-validation with these options hides together; AUTO where they
 * are refused. */
LAPIS_API lapis_folds_of lapis_cv_hides(const lapis_method *m,
                                        const lapis_data *data,
                                        const lapis_cv_options *options);
static inline lapis_cv_options lapis_cv_defaults(void)
{
  lapis_cv_options to;
  lapis_settings_fill(lapis_cv_table(), &to, sizeof to);
  return to;
}

/* A solver: lapis_solve judges, and results are points of the grid.  data, grid
 * and texts of options are borrowed; options NULL: the defaults.
 * lapis_result_settings is the method's struct. */
LAPIS_API lapis_status lapis_cv_new(lapis_ctx *ctx, const lapis_method *m,
                                    const lapis_data *data,
                                    const void *settings,
                                    const lapis_cv_options *options,
                                    const lapis_grid *grid, int n_grid,
                                    lapis_solver **out);
/* Of all of its parts, in any order, to the bit what one run finds.  A part
 * that is missing, given twice, or of another run is refused and named. */
LAPIS_API lapis_status lapis_cv_join(lapis_ctx *ctx, const char *const *path,
                                     int count, lapis_solver **out);
/* The folds that it draws: fold[j] (n of them) is the one that hides sample j,
 * -1 where it has no known target.  Reads Y and group. */
LAPIS_API lapis_status lapis_cv_draw(lapis_ctx *ctx, const lapis_data *data,
                                     const lapis_cv_options *options,
                                     int64_t *fold);

/* Known labels that the rest of the data contradicts most: labels are hidden
 * fold by fold, completed with the given settings, and ranked by
 * s (threshold - z).  index: 2 x count (sample, class, from 0; one target of
 * several classes: a sample once, and the class that it rather is), margin:
 * count, largest first, positive = contradicted.  Of a method that chooses its
 * settings the list is that of lapis_doubts by labels held out, with its
 * probabilities for margins, and what it says of them is a message.  wrong, or
 * NULL: its 4 numbers (else 0), and behind them how many of those listed are
 * wrong rather than right.  options NULL: as many folds as there are units, at
 * most 5.  Out of time: those of the folds that are done. */
LAPIS_API lapis_status lapis_suspects(
    lapis_ctx *ctx, const lapis_method *m, const lapis_data *data,
    const void *settings, const lapis_cv_options *options, int64_t count,
    int64_t *index, double *margin, int64_t *found, int64_t *wrong);

/* Refuses targets that are numbers, which lapis_suspects does before it works.
 */
LAPIS_API lapis_status lapis_suspects_check(lapis_ctx *ctx,
                                            const lapis_data *data);

/* The same by K x n scores that known labels had while they were hidden (auto's
 * held_out): labels of Y whose scores lie on the other side of the threshold.
 */
LAPIS_API lapis_status lapis_suspects_of(lapis_ctx *ctx, const lapis_mat *Y,
                                         const lapis_mat *scores,
                                         double threshold, int64_t count,
                                         int64_t *index, double *margin,
                                         int64_t *found);

/* Why it cannot be said how many labels are wrong: they are too few; hidden
 * ones are not clearly predicted better than by their shares; too many may be,
 * or classes are too much alike; they are in too few groups. */
typedef enum lapis_doubts_unsaid {
  LAPIS_DOUBTS_FEW = -1,
  LAPIS_DOUBTS_GUESSED = -2,
  LAPIS_DOUBTS_HARD = -3,
  LAPIS_DOUBTS_FEW_GROUPS = -4
} lapis_doubts_unsaid;

/* By K x n probabilities that known labels had while they were hidden (auto's
 * held_out): the least likely known labels, at most count, of which the first
 * *found are wrong rather than right; index as above, its class what the label
 * rather is; probability: that the label is wrong, NaN where not clearly any
 * is.  The only label of a class, or group that has it, is not among them.
 * wrong: at least, at most, of how many known labels, and, of 4, how many are
 * expected, or a lapis_doubts_unsaid.  group: of samples that err together, n,
 * or NULL. */
LAPIS_API lapis_status lapis_doubts(lapis_ctx *ctx, const lapis_mat *Y,
                                    const int64_t *group,
                                    const lapis_mat *probabilities,
                                    int64_t count, int64_t *index,
                                    double *probability, int64_t *found,
                                    int64_t *wrong);
/* How many of `count` it has listed that are worth showing: where hidden labels
 * were guessed nothing speaks against a given one. */
LAPIS_API int64_t lapis_doubts_shown(const int64_t *wrong, int64_t count);
/* What wrong[4] says, as a sentence without a point; "" of no label.  Returns
 * text. */
LAPIS_API char *lapis_doubts_text(const int64_t *wrong, char *text,
                                  size_t size);

/* ---- checkpoints: runs that can be killed and go on ----------------------
 * While one is open, the solves and cross-validations of ctx copy what they
 * would need to go on at the boundaries of their iterations, and at most once
 * a second the copy is written to path, atomically.  Where path exists, the
 * run goes on from it; it must be of the same method, data (sizes and a hash),
 * seed and settings except max-iters and time-limit, else LAPIS_EDATA with a
 * sentence that says what differs.  also: "NAME=VALUE" texts of whatever else
 * must agree (n_also of them).  data, settings and also are read here only. */
typedef struct lapis_checkpoint lapis_checkpoint;
LAPIS_API lapis_status lapis_checkpoint_new(lapis_ctx *ctx, const char *path,
                                            const lapis_method *m,
                                            const lapis_data *data,
                                            const void *settings,
                                            const char *const *also, int n_also,
                                            lapis_checkpoint **out);
/* Writes the state after the last completed iteration, if that is not written
 * yet; from any thread. */
LAPIS_API lapis_status lapis_checkpoint_write(lapis_checkpoint *c);
/* How far the run of a checkpoint came, in words: "12 of the 36 trial fits
 * begun and 24 iterations of a solve"; "" where nothing of that is there.
 * LAPIS_EFORMAT: path is no checkpoint that this version reads. */
LAPIS_API lapis_status lapis_checkpoint_done(lapis_ctx *ctx, const char *path,
                                             char *text, size_t size);
/* Before the context is freed; finished: the file is removed. */
LAPIS_API void lapis_checkpoint_free(lapis_checkpoint *c, bool finished);

/* ==== metrics: how well answers agree with the truth.  A NaN in the
 * truth means "unknown" and is left out. */

/* What a metric compares with the truth, and which way is better. */
typedef enum lapis_metric_reads {
  LAPIS_METRIC_SCORES, /* scores, a row a class: only their order counts */
  LAPIS_METRIC_LABELS, /* answers, written with the truth's own values */
  LAPIS_METRIC_VALUES, /* real outputs */
  LAPIS_METRIC_PROBABILITIES /* as scores, from 0 to 1 */
} lapis_metric_reads;
typedef struct lapis_metric_kind {
  const char *name;
  lapis_metric_reads reads;
  bool less_is_better;
} lapis_metric_kind;
/* The i-th metric, NULL past the end. */
LAPIS_API const lapis_metric_kind *lapis_metric_at(int i);
/* LAPIS_EINVAL, with the known names, where no metric has this name. */
LAPIS_API lapis_status lapis_metric_find(lapis_ctx *ctx, const char *name,
                                         const lapis_metric_kind **out);

/* How many classes (or real outputs) lapis_metric tells apart in this truth:
 * the c below. */
LAPIS_API lapis_status lapis_metric_classes(lapis_ctx *ctx, const char *name,
                                            const lapis_mat *truth,
                                            int64_t *out);
/* A metric by name over c classes.  truth and scores are c x n; truth may also
 * be one row of class codes, which is expanded to c rows.  A metric that reads
 * labels takes labels, in the values of truth, in place of scores; where truth
 * is one row of classes it also takes scores.  per_class: c values or NULL;
 * mean: over the classes that have a value, NaN where none has. */
LAPIS_API lapis_status lapis_metric(lapis_ctx *ctx, const char *name,
                                    const lapis_mat *truth,
                                    const lapis_mat *scores, double *per_class,
                                    double *mean);

/* The same of a part of the truth, of the same shape, where NaN stands for what
 * is not to count: classes and values are those of the whole. */
LAPIS_API lapis_status lapis_metric_part(lapis_ctx *ctx, const char *name,
                                         const lapis_mat *truth,
                                         const lapis_mat *part,
                                         const lapis_mat *scores,
                                         double *per_class, double *mean);

/* ---- matches over images -------------------------------------------------
 * truth, found: slots x images.  A slot is one point of the object, its entry
 * for an image the row of X that shows it there, or -1 = missing; the order of
 * slots means nothing.  Over all pairs of images, [ROML16] footnote 4:
 *   match ratio           true pairs found / pairs found
 *   identification ratio  true pairs found / true pairs */
typedef struct lapis_match_scores {
  double match_ratio, identification_ratio;
  double precision, recall; /* of the features marked as inliers */
} lapis_match_scores;
/* inlier: the shape of found, or NULL: every slot that is not -1. */
LAPIS_API lapis_status lapis_match_ratio(lapis_ctx *ctx, const lapis_mat *truth,
                                         const lapis_mat *found,
                                         const lapis_mat *inlier,
                                         lapis_match_scores *out);

/* Boxes (x0, y0, x1, y1), 4 x n: intersection over union of each pair, into n
 * values or NULL; the mean, and the share above 1/2 (correct by the PASCAL
 * rule). */
LAPIS_API lapis_status lapis_iou(lapis_ctx *ctx, const lapis_mat *truth,
                                 const lapis_mat *found, double *each,
                                 double *mean, double *correct);

/* Wilson's 95 % interval of a share that was found in so many trials. */
LAPIS_API void lapis_share_interval(double share, double trials, double *low,
                                    double *high);

/* Standard errors that chance exceeds once in twenty, upwards or downwards:
 * Student's t of so many units (3 or more) less one, within 1 %; 1.96 of
 * many. */
LAPIS_API double lapis_far_errors(double units);
/* Whether a difference is called clear: above two of its standard errors. */
LAPIS_API bool lapis_is_clear(double difference, double error);
/* The same of one of `count` that are looked at: above as many errors as chance
 * reaches in one of twenty such lists (Bonferroni), two at least. */
LAPIS_API bool lapis_is_clear_among(double difference, double error,
                                    int64_t count);

/* Rows of the result candidate_figures (docs/methods/auto.md). */
typedef enum lapis_figure {
  LAPIS_FIGURE_LOSS,
  LAPIS_FIGURE_ERROR,
  LAPIS_FIGURE_AUROC,
  LAPIS_FIGURE_ACCURACY,
  LAPIS_FIGURE_LEAST, /* of the interval of accuracy on new samples */
  LAPIS_FIGURE_MOST,
  LAPIS_FIGURE_BEHIND,
  LAPIS_FIGURE_BEHIND_ERROR,
  LAPIS_FIGURE_LEARNT,
  LAPIS_FIGURE_COMMONEST,
  LAPIS_FIGURES
} lapis_figure;
/* What to expect on new samples of candidate k, by the result
 * candidate_figures: an interval of its accuracy beside that of always the
 * commonest answer; "" of numbers.  Returns text. */
LAPIS_API char *lapis_expected_text(const lapis_mat *figures, int64_t k,
                                    char *text, size_t size);

/* Where the least and the largest known number of a target are one: "the target
 * is the same in all known samples (5), so R^2 is not defined"; else, and of
 * NaN, "".  target: which of several, from 1; 0: the only one.  Returns text.
 */
LAPIS_API char *lapis_constant_text(double low, double high, int64_t target,
                                    char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
