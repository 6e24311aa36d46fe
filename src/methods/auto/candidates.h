/* candidates.h - who runs, and how they answer; between the race's files. */
#ifndef LAPIS_CANDIDATES_H
#define LAPIS_CANDIDATES_H
#include "base/resume.h"
#include "choose/select.h"
#include "folds/calibrate.h"
#include "methods/auto/compare.h"
#include "op/learn/logistic.h"
#include "op/learn/trees.h"

enum {
  MOST_CANDIDATES = 60,
  MOST_MAPS = 2,
  MOST_KERNELS = 12,
  MOST_FOLDS = 20,
  RACE_TREES = 300, /* but of boosted ones */
  BOOSTED_LEAF = 5,
  MOST_GROWN = 100000, /* samples, of which trees are grown */
  MOST_PARTS = 5       /* of a mean */
};
#define RACE_TRIMMED "trim,standard" /* a second map, of numbers */
typedef enum candidate_kind {
  CANDIDATE_MC,
  CANDIDATE_LINEAR,
  CANDIDATE_TREES, /* by lot, or a forest */
  CANDIDATE_BOOSTED,
  CANDIDATE_RR,    /* of numbers */
  CANDIDATE_KINDS, /* of candidates that answer by themselves */
  CANDIDATE_MEAN = CANDIDATE_KINDS, /* of the best of several of these kinds */
  CANDIDATE_MISVM                   /* of bags */
} candidate_kind;
typedef struct candidate {
  candidate_kind kind;
  int of[MOST_PARTS], parts; /* means: the candidates whose mean it is */
  bool filled; /* linear, trees: gaps hold what the filler completes, not what
                * the map does */
  int map;     /* place among the maps */
  int kernel;  /* linear: which of the race's it reads, from 1; 0: none */
  lapis_mc_settings set;
  double C;       /* linear, misvm */
  int svm_kernel; /* misvm */
  bool turned;    /* misvm: bags of the smaller value have such an instance */
  /* trees of every kind: how many, and what they grow by (lapis_trees_settings)
   */
  trees_kind grown;
  int64_t count, leaf, depth;
  double share, rate;
  double *score;   /* K x n of hidden labels, NaN elsewhere; for the larger
                    * value */
  sigmoid *answer; /* K: of its probabilities; one class of K: a softmax */
  double loss, error, auroc, accuracy;
  double auroc_by_chance; /* how far one of nothing is from .5, as a standard
                           * error */
  double trials;          /* that its answers count as */
  double least, most;     /* accuracy that new samples may have */
  double commonest; /* accuracy of always the commonest answer to a label */
  double guess;     /* log-loss of the shares, over what was answered */
  double ahead, ahead_error; /* of that */
  bool one_answer;           /* to all hidden labels */
  bool mean_of_all; /* of numbers: answers 0, whatever its scores are */
  bool learnt, judged;
  bool ended; /* after the first fold, by which it was clearly behind; not
               * judged */
} candidate;

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

/* Trees; and those of them that read gaps as they are. */
static inline bool candidate_grows(const candidate *x)
{
  return x->kind == CANDIDATE_TREES || x->kind == CANDIDATE_BOOSTED;
}

static inline bool candidate_reads_gaps(const candidate *x)
{
  return candidate_grows(x) && x->grown != TREES_RANDOM;
}

/* Of one kind, lines and kernels apart, trees by lot and forests. */
static inline bool candidates_alike(const candidate *a, const candidate *b)
{
  return a->kind == b->kind && (a->kernel > 0) == (b->kernel > 0) &&
         a->grown == b->grown;
}

/* How features are changed before mc reads them in a variant. */
typedef struct variant_maps {
  const char *map;    /* also of a sparse X that fits as a dense one */
  const char *sparse; /* of one that does not; NULL: what is known is scaled */
  const char *alone;  /* of a dense X, where nothing could be compared */
  bool counts;        /* are also tried as shares */
} variant_maps;
const variant_maps *candidates_maps(int variant);

struct comparison {
  lapis_ctx *ctx;
  lapis_mc_settings set; /* what the user stated */
  auto_options o;
  const lapis_data *data; /* borrowed while it runs */
  targets labels; /* of numbers sign holds them, mean 0 and variance 1 each */
  double *centre; /* of numbers: what was taken off and divided by, K x 2 */
  int64_t outliers;
  double *outlier; /* 2 x outliers: sample and target, the farthest first */
  double *others;  /* Y without them, K x n, or NULL */
  fold_plan plan;
  bool cells, grouped;
  int64_t K, n, used; /* used: folds */
  int64_t known;      /* rows, or groups, of which a label is known */
  double *weight;     /* n, or NULL */
  double *turn;       /* K: -1 where the rarer value is the smaller one */
  int n_maps;
  bool counts; /* the second map is that of counts, else of lengths */
  const char *map[MOST_MAPS];
  char *own_map;
  double *memory[MOST_MAPS];    /* behind X */
  lapis_map *fitted[MOST_MAPS]; /* the map; NULL: none */
  /* Of one that shifts features, (x - off) / by: where off is there, X is as
   * it was given, and read so. */
  mat_shift shift[MOST_MAPS];
  double *filled[MOST_MAPS]; /* X without gaps, for linear ones, or NULL */
  double *raw[MOST_MAPS];    /* X with its gaps, for forests, or NULL */
  bool imputes;              /* gaps by factors, else by means */
  char *imputing;            /* the first map with `impute` behind it */
  char scaled[32];           /* scale:NUMBER, of a sparse X that pos reads */
  /* X in which an mc, the first candidate, has filled the gaps, a fold each */
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
  int count, widened, dear;        /* dear: left out for what they would cost */
  double spent;                    /* cost.c: by those taken so far */
  double saved;                    /* seconds, by those left out */
  bool fewer;                      /* trees that are compared: half of them */
  candidate run[MOST_CANDIDATES];
  int order[MOST_CANDIDATES];     /* best first */
  int named[MOST_PARTS], n_named; /* who answers, where that is stated */
  /* What a run that goes on finds again: who has answered for which fold, if
   * only that it has too little (MOST_CANDIDATES x used), and where time ran
   * out, by the first of the candidates that ran then. */
  keep_scope scope;
  bool *answered, late[MOST_CANDIDATES];
};

/* Trees that a fold grows. */
static inline int64_t candidate_trees(const comparison *r, const candidate *x)
{
  bool half = r->fewer && x->kind == CANDIDATE_TREES;
  return half ? (x->count + 1) / 2 : x->count;
}

/* The mc that fills the gaps for others, before all of them. */
void candidates_filler(comparison *r);
/* named.c: those that o.named_as names; their mean, where they are several; and
 * a candidate, or the parts of a mean, in such words, base_free(); NULL: no
 * memory. */
lapis_status race_list_named(comparison *r);
lapis_status race_join_named(comparison *r);
char *candidate_named(const comparison *r, const candidate *x);
/* Who may compete, of text as the setting `candidates` has it, into *o. */
lapis_status candidates_read(lapis_ctx *ctx, const char *text, bool bags,
                             auto_options *o);
typedef struct mc_row { /* of a table of candidates */
  int labels;
  double mu_rel, lambda, gamma;
} mc_row;
/* What is stated stays as it is; whether it was not there. */
bool candidates_add_mc(comparison *r, int map, const mc_row *at);
/* What the words of a candidate leave out, as lines have it by default, and the
 * first candidate of another kind. */
void candidate_complete(const comparison *r, candidate *x);
/* The candidates of the settings that are left open. */
lapis_status candidates_list(comparison *r);
void candidates_boosted(comparison *r); /* those of them, as far as here */
candidate candidates_boosted_at(const comparison *r, int k);
/* widen.c: further ones, where the best stands at an end of what was tried;
 * *more: how many. */
lapis_status candidates_widen(comparison *r, int best, int *more);
/* means.c: the mean of the probabilities of some candidates, as a further one.
 */
lapis_status candidates_mean(comparison *r, const int *of, int parts);
/* Answers of a candidate for what this fold hides.  LAPIS_EDATA where the fold
 * leaves too little to learn from. */
lapis_status candidate_answers(comparison *r, candidate *x, int64_t fold);
/* Place for its scores, none known; nothing where it is there. */
lapis_status candidate_room(const comparison *r, candidate *x);
/* What candidates first .. last have in common over folds, made before the
 * first answer for processes that share it. */
lapis_status candidates_share(comparison *r, int first, int last);
/* Place for the scores of candidates first .. last and, once for each of them,
 * what a former run has kept of their answers. */
lapis_status candidates_restore(comparison *r, int first, int last);
static inline bool *candidate_answered(const comparison *r, int i, int64_t fold)
{
  return &r->answered[i * r->used + fold];
}
/* Of those from first on: time is up, and a run that goes on does no more. */
void candidates_end(comparison *r, int first);
/* As if x had never been asked about the fold. */
void candidate_forget(const comparison *r, candidate *x, int64_t fold);

/* X behind each map, and the end of what only running needs. */
lapis_status race_make_maps(comparison *r, const lapis_mat *X);
/* A map with its gaps filled by what was seen of the sample, where they are;
 * and whether they are. */
const char *race_map_filled(const comparison *r, int map);
bool race_imputes(const comparison *r, int map);
void race_drop_data(comparison *r);
/* How X behind a map is read: NULL, as it is. */
static inline const mat_shift *race_shift(const comparison *r, int map)
{
  return r->shift[map].off == NULL ? NULL : &r->shift[map];
}
void race_free_maps(comparison *r);
/* i is the number of a candidate that was judged. */
bool race_has(const comparison *r, int i);
/* What an mc candidate ran with. */
void race_take(const candidate *x, lapis_mc_settings *set);

/* The bar; false: stop. */
bool race_show(comparison *r, int64_t done, int64_t all, double started);

/* compare_jobs.c: as many processes as are asked for and of use to candidates
 * from first on; their answers over folds from .. to - 1; what is kept where
 * time runs out. */
int race_jobs(const comparison *r, int first);
lapis_status race_run_jobs(comparison *r, int first, int64_t from, int64_t to);
/* Of candidate k alone, by a function that answers for one fold. */
typedef lapis_status candidate_answer_fn(comparison *r, int k, int64_t fold);
lapis_status race_ask_jobs(comparison *r, int k, candidate_answer_fn *answer);

/* kernels.c.  Whether kernels run at all; the place of one, from 1 (0: there is
 * no more room); features for candidate x of a fold, NULL where the gaps are
 * not filled yet. */
bool kernels_pay(const comparison *r);
lapis_status kernels_find(comparison *r, int map, double width, int *place);
lapis_status kernels_features(comparison *r, const candidate *x, int64_t fold,
                              const race_features **out);
void kernels_drop(comparison *r); /* features, which running needs */
void kernels_free(comparison *r);
/* grown.c: trees like x of X (d x n) and y (K x n), and what they score for the
 * samples asked. */
lapis_status candidate_grow(comparison *r, const candidate *x, const double *X,
                            int64_t d, const double *y, const bool *asked,
                            double *score);
/* fill.c.  Where no row of a dense X lacks some features alone, those that lack
 * all are as the mean of the others, in a copy: an X without gaps is quicker by
 * far.  memory: NULL, or base_free. */
lapis_status fill_blank_rows(lapis_ctx *ctx, lapis_mat *X, void **memory);
/* X behind a map, its gaps filled, or as they are: d x n. */
lapis_status candidates_fill(comparison *r, int map, const double **out);
lapis_status candidates_raw(comparison *r, int map, const double **out);
/* The map from features as given; and from those that were filled. */
const char *candidate_map(const comparison *r, const candidate *x);
const char *candidate_map_of_filled(const comparison *r, const candidate *x);

/* holdout.c: folds of all known labels that hide together what the race hid so;
 * two where there are not enough units. */
lapis_status race_draw(const comparison *r, const lapis_data *data,
                       int64_t folds, fold_plan *out);
/* Scores of candidate x, as what calibrates them. */
calibration race_calibration(const comparison *r, const candidate *x,
                             const double *score);
/* The place of x among the candidates, where it is added unless it is there;
 * -1: there is no more room. */
int candidates_place(comparison *r, const candidate *x);
/* Whether it was not there. */
static inline bool candidates_add(comparison *r, const candidate *x)
{
  int before = r->count;
  return candidates_place(r, x) == before;
}
/* numbers.c: targets, candidates, means of those that contend; predictions in
 * the units of Y. */
lapis_status numbers_encode(comparison *r);
lapis_status numbers_list(comparison *r);
lapis_status numbers_join(comparison *r);
lapis_status numbers_mean(comparison *r, const int *of, int parts);
void numbers_restore(const comparison *r, double *p);
/* outliers.c: of numbers as they are encoded; X is behind its maps. */
lapis_status outliers_find(comparison *r);
/* cost.c: leaves out those from first on that would cost too much. */
void cost_admit(comparison *r, int first);
/* bags_svm.c: what misvm says of the bags that a fold hides. */
lapis_status bags_answers(comparison *r, const candidate *x, int64_t fold,
                          double *score);
/* describe.c: its method, and what a candidate ran with, as options of the
 * command; what stands behind these of one that reads what mc has filled, and
 * of a misvm whose positive bags are those of the smaller value. */
#define RACE_FILLED " (gaps filled by mc)"
#define RACE_TURNED " (the smaller value is positive)"
const char *candidate_method(candidate_kind kind);
void candidate_describe(const comparison *r, const candidate *x, char *to);
/* score.c: loss, error, AUROC, accuracy, sigmoids of a candidate. */
lapis_status candidate_judge(comparison *r, candidate *x);
/* Losses of `a` less those of `b` (NULL: nothing), of what both answered, added
 * up over each unit, and how many. */
void race_losses(const comparison *r, const candidate *a, const candidate *b,
                 double *sum, double *count);
/* Right answers by K sigmoids, and all, added up over each unit; how many
 * different answers there were, 2 for more. */
int64_t candidate_right(const comparison *r, const double *score,
                        const sigmoid *at, double *right, double *all);
/* expected.c: the interval of who was chosen to answer. */
lapis_status candidate_expect(comparison *r, candidate *x);
double race_behind(const comparison *r, const candidate *a, const candidate *b,
                   double *error);
/* So many standard errors behind the best have no part in an answer.
 */
static const double CLEARLY_BEHIND = 3;
/* Losses that differ by less do not decide. */
static inline double race_tie(const comparison *r)
{
  return r->o.numbers ? 0 : .002;
}
/* So many behind it in the first fold end there: the best of those that are
 * alike goes on anyway, so that one that ends has to be both behind by chance
 * and the best of them to be missed. */
static const double ENDS_BEHIND = 2;
/* Ends such candidates from first on, but for the best of those that are alike,
 * which says how far these are. */
lapis_status race_end_behind(comparison *r, int first);

#endif
