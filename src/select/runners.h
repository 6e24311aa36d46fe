/* runners.h - who runs, and how they answer; between the race's files. */
#ifndef LAPIS_RUNNERS_H
#define LAPIS_RUNNERS_H
#include "lapis/lapis_race.h"
#include "op/logistic.h"
#include "select/calibrate.h"
#include "select/select.h"

enum { MOST_RUNNERS = 40, MOST_MAPS = 2, MOST_FOLDS = 20 };
typedef enum runner_kind { RUNNER_MC, RUNNER_LINEAR, RUNNER_BOTH } runner_kind;
typedef struct runner {
  runner_kind kind;
  int of[2];   /* both: the runners whose mean it is */
  bool filled; /* linear: gaps hold what the filler completes, not means */
  int map;     /* place among the maps */
  lapis_mc_settings set;
  double C;        /* linear */
  double *score;   /* K x n of hidden labels, NaN elsewhere; for the larger
                    * value */
  sigmoid *platt;  /* K: what judged */
  sigmoid *answer; /* K: what answers; one class of K: the softmax's */
  double loss, error, auroc, accuracy;
  bool learnt, judged;
} runner;

struct lapis_race {
  lapis_ctx *ctx;
  lapis_mc_settings set; /* what the user stated */
  lapis_race_options o;
  const lapis_data *data; /* borrowed while it runs */
  targets labels;
  fold_plan plan;
  bool cells;
  int64_t K, n, used; /* used: folds */
  double *turn;       /* K: -1 where the rarer value is the smaller one */
  int n_maps;
  const char *map[MOST_MAPS];
  char *own_map;
  double *memory[MOST_MAPS]; /* behind X */
  double *filled[MOST_MAPS]; /* X without gaps, for linear ones, or NULL */
  /* X in which an mc, the first runner, has filled the gaps, a fold each */
  bool fills;
  double *completed[MOST_FOLDS];
  lapis_mat X[MOST_MAPS];
  bool tried[MOST_MAPS];           /* to make the common solver */
  lapis_solver *common[MOST_MAPS]; /* of all labels, which takes a fold's */
  int count, widened;
  runner run[MOST_RUNNERS];
  int order[MOST_RUNNERS]; /* best first */
  double base;             /* loss of the shares */
  int64_t *unit, units;    /* of each sample */
};

/* The candidates of the settings that are left open. */
void runners_list(lapis_race *r);
/* Further ones, where the best stands at an end of what was tried; how many. */
int runners_widen(lapis_race *r, int best);
/* The mean of the probabilities of two runners, as a further one. */
lapis_status runners_mean(lapis_race *r, int a, int b);
/* Answers of a runner for what this fold hides.  LAPIS_EDATA where the fold
 * leaves too little to learn from. */
lapis_status runner_answers(lapis_race *r, runner *x, int64_t fold);
/* Place for its scores, none known; nothing where it is there. */
lapis_status runner_room(const lapis_race *r, runner *x);
/* What runners first .. last have in common over folds, made before the first
 * answer for processes that share it. */
lapis_status runners_share(lapis_race *r, int first, int last);
/* As if x had never been asked about the fold. */
void runner_forget(const lapis_race *r, runner *x, int64_t fold);

/* X behind each map, and the end of what only running needs. */
lapis_status race_make_maps(lapis_race *r, const lapis_mat *X);
void race_drop_data(lapis_race *r);
/* i is the number of a runner that was judged. */
bool race_has(const lapis_race *r, int i);
/* What an mc runner ran with, and its calibration, borrowed. */
void race_take(const lapis_race *r, const runner *x, lapis_mc_settings *set);

/* The bar; false: stop. */
bool race_show(lapis_race *r, int64_t done, int64_t all, double started);

/* race_jobs.c: as many processes as are asked for and of use to runners from
 * first on; their answers over all folds; what is kept where time runs out. */
int race_jobs(const lapis_race *r, int first);
lapis_status race_run_jobs(lapis_race *r, int first);
/* Of runner k alone, by a function that answers for one fold. */
typedef lapis_status runner_answer_fn(lapis_race *r, int k, int64_t fold);
lapis_status race_ask_jobs(lapis_race *r, int k, runner_answer_fn *answer);

/* judge.c: loss, error, AUROC, accuracy, sigmoids of a runner. */
lapis_status runner_judge(lapis_race *r, runner *x);
double race_behind(const lapis_race *r, const runner *a, const runner *b,
                   double *error);

#endif
