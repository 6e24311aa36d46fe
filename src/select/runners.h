/* runners.h - who runs, and how they answer; between the race's files. */
#ifndef LAPIS_RUNNERS_H
#define LAPIS_RUNNERS_H
#include "base/keep.h"
#include "folds/calibrate.h"
#include "op/logistic.h"
#include "op/trees.h"
#include "select/race.h"
#include "select/select.h"

enum {
  MOST_RUNNERS = 60,
  MOST_MAPS = 2,
  MOST_KERNELS = 12,
  MOST_FOLDS = 20,
  RACE_TREES = 300
};
typedef enum runner_kind {
  RUNNER_MC,
  RUNNER_LINEAR,
  RUNNER_TREES,
  RUNNER_KINDS,              /* of runners that answer by themselves */
  RUNNER_MEAN = RUNNER_KINDS /* of the best of several of these kinds */
} runner_kind;
typedef struct runner {
  runner_kind kind;
  int of[RUNNER_KINDS], parts; /* means: the runners whose mean it is */
  bool filled; /* linear, trees: gaps hold what the filler completes, not what
                * the map does */
  int map;     /* place among the maps */
  int kernel;  /* linear: which of the race's it reads, from 1; 0: none */
  lapis_mc_settings set;
  double C;        /* linear */
  int64_t leaf;    /* trees */
  double *score;   /* K x n of hidden labels, NaN elsewhere; for the larger
                    * value */
  sigmoid *platt;  /* K: what judged */
  sigmoid *answer; /* K: what answers; one class of K: the softmax's */
  double loss, error, auroc, accuracy;
  double least, most; /* accuracy that new samples may have */
  double guess;       /* log-loss of the shares, over what was answered */
  double ahead, ahead_error; /* of that */
  bool one_answer;           /* to all hidden labels */
  bool learnt, judged;
} runner;

typedef struct race_features {
  double *F; /* rows x n, free(); NULL: not made */
  int64_t rows;
} race_features;
/* A kernel in front of logistic regression; text: the whole map, whose part
 * from `tail` on is the kernel. */
typedef struct race_kernel {
  int map;
  double width; /* in medians */
  char *text;
  size_t tail;
  race_features features;
} race_kernel;

struct lapis_race {
  lapis_ctx *ctx;
  lapis_mc_settings set; /* what the user stated */
  lapis_race_options o;
  const lapis_data *data; /* borrowed while it runs */
  targets labels;
  fold_plan plan;
  bool cells;
  int64_t K, n, used; /* used: folds */
  int64_t known;      /* rows, or groups, of which a label is known */
  double *weight;     /* n, or NULL */
  double *turn;       /* K: -1 where the rarer value is the smaller one */
  int n_maps;
  const char *map[MOST_MAPS];
  char *own_map;
  double *memory[MOST_MAPS]; /* behind X */
  double *filled[MOST_MAPS]; /* X without gaps, for linear ones, or NULL */
  bool imputes;              /* gaps by factors, else by means */
  char *imputing;            /* the first map with `impute` behind it */
  char scaled[32];           /* scale:NUMBER, of a sparse X that pos reads */
  /* X in which an mc, the first runner, has filled the gaps, a fold each */
  bool fills;
  double *completed[MOST_FOLDS];
  int n_kernels;
  race_kernel kernel[MOST_KERNELS];
  race_features of_filled; /* of what is completed, the last that was asked */
  int filled_kernel;
  int64_t filled_fold;
  lapis_mat X[MOST_MAPS];
  bool tried[MOST_MAPS];           /* to make the common solver */
  lapis_solver *common[MOST_MAPS]; /* of all labels, which takes a fold's */
  int count, widened;
  runner run[MOST_RUNNERS];
  int order[MOST_RUNNERS]; /* best first */
  /* What a run that goes on finds again: who has answered for which fold, if
   * only that it has too little (MOST_RUNNERS x used), and where time ran out,
   * by the first of the runners that ran then. */
  keep_scope scope;
  bool *answered, late[MOST_RUNNERS];
};

/* The candidates of the settings that are left open. */
lapis_status runners_list(lapis_race *r);
/* Further ones, where the best stands at an end of what was tried; *more: how
 * many. */
lapis_status runners_widen(lapis_race *r, int best, int *more);
/* The mean of the probabilities of some runners, as a further one. */
lapis_status runners_mean(lapis_race *r, const int *of, int parts);
/* Answers of a runner for what this fold hides.  LAPIS_EDATA where the fold
 * leaves too little to learn from. */
lapis_status runner_answers(lapis_race *r, runner *x, int64_t fold);
/* Place for its scores, none known; nothing where it is there. */
lapis_status runner_room(const lapis_race *r, runner *x);
/* What runners first .. last have in common over folds, made before the first
 * answer for processes that share it. */
lapis_status runners_share(lapis_race *r, int first, int last);
/* Place for the scores of runners first .. last and, once for each of them,
 * what a former run has kept of their answers. */
lapis_status runners_restore(lapis_race *r, int first, int last);
static inline bool *runner_answered(const lapis_race *r, int i, int64_t fold)
{
  return &r->answered[i * r->used + fold];
}
/* Of those from first on: time is up, and a run that goes on does no more. */
void runners_end(lapis_race *r, int first);
/* As if x had never been asked about the fold. */
void runner_forget(const lapis_race *r, runner *x, int64_t fold);

/* X behind each map, and the end of what only running needs. */
lapis_status race_make_maps(lapis_race *r, const lapis_mat *X);
void race_drop_data(lapis_race *r);
/* i is the number of a runner that was judged. */
bool race_has(const lapis_race *r, int i);
/* What an mc runner ran with. */
void race_take(const runner *x, lapis_mc_settings *set);

/* The bar; false: stop. */
bool race_show(lapis_race *r, int64_t done, int64_t all, double started);

/* race_jobs.c: as many processes as are asked for and of use to runners from
 * first on; their answers over all folds; what is kept where time runs out. */
int race_jobs(const lapis_race *r, int first);
lapis_status race_run_jobs(lapis_race *r, int first);
/* Of runner k alone, by a function that answers for one fold. */
typedef lapis_status runner_answer_fn(lapis_race *r, int k, int64_t fold);
lapis_status race_ask_jobs(lapis_race *r, int k, runner_answer_fn *answer);

/* kernels.c.  Whether kernels run at all; the place of one, from 1 (0: there is
 * no more room); features for runner x of a fold, NULL where the gaps are not
 * filled yet. */
bool kernels_pay(const lapis_race *r);
lapis_status kernels_find(lapis_race *r, int map, double width, int *place);
lapis_status kernels_features(lapis_race *r, const runner *x, int64_t fold,
                              const race_features **out);
void kernels_drop(lapis_race *r); /* features, which running needs */
void kernels_free(lapis_race *r);
/* fill.c.  X behind a map, its gaps filled: d x n. */
lapis_status runners_fill(lapis_race *r, int map, const double **out);
/* The map from features as given; and from those that were filled. */
const char *runner_map(const lapis_race *r, const runner *x);
const char *runner_map_of_filled(const lapis_race *r, const runner *x);

/* A runner's scores, as what calibrates them. */
calibration race_calibration(const lapis_race *r, const double *score);
/* What shrinks the biases of several classes while a runner is calibrated. */
double runner_ridge(const lapis_race *r, const runner *x);
/* judge.c: loss, error, AUROC, accuracy, sigmoids of a runner. */
lapis_status runner_judge(lapis_race *r, runner *x);
double race_behind(const lapis_race *r, const runner *a, const runner *b,
                   double *error);

#endif
