/* roml.h - matching objects in a set of images, between the files of the
 * method.
 *
 * K images of n_k features of length d; n of them in each belong to the
 * object.  Slot j of image k holds feature pick[k * n + j], a number within
 * the image.  D, L, E, Y hold one block of d numbers for each (slot, image),
 * at slot * slot_step + image * image_step:
 *   descriptor   D  = dn x K: slot_step d, image_step dn     [ROML16 (2)]
 *   coordinates  D' = dK x n: slot_step dK, image_step d     [ROML16 (27)]
 *
 *   symbol  in [ROML16]                              shape
 *   P       permutations, as pick                    K x n
 *   D       the features that P picks                rows x cols, as above
 *   L, E    low rank and sparse parts of D           as D
 *   Y       multiplier of L + E = D                  as D
 *   W       scratch of a step                        as D
 *   M       what images are assigned to, per image   d x n
 * lambda is the weight of |E|_1, rho the penalty of L + E = D. */
#ifndef LAPIS_ROML_H
#define LAPIS_ROML_H
#include "base/param.h"
#include "la/backend.h"
#include "mat/mat.h"
#include "op/assign/assign.h"
#include "op/dense/product.h"
#include "op/svt/alm.h"
#include "op/svt/svt.h"
#include "solver/solver.h"

typedef struct roml_problem {
  int64_t K, d, N;  /* images, length of a feature, features */
  lapis_mat X;      /* d x N, borrowed */
  double *embedded; /* d x N where a map made X, else NULL */
  int64_t *first;   /* K + 1: an image's features are row[first[k]] .. */
  int64_t *row;     /* N: sample of X */
  int64_t largest;  /* largest n_k */
  double *scale;    /* N: what a feature is multiplied by, in image order */
  double *half;     /* N: |f|^2 / 2 after scaling, or NULL where all are 1/2 */
  double longest;   /* largest |f| after scaling */
  bool coordinates;
  /* Features after scaling, packed, in the type that products use: float32
   * where there are many.  Image k's begin at feature panel[k]. */
  op_panels F;
  int64_t *panel; /* K + 1 */
} roml_problem;

/* The blocks of D, and how to find one. */
typedef struct roml_shape {
  int64_t n, rows, cols, slot_step, image_step;
} roml_shape;

typedef struct roml_matcher roml_matcher;

typedef struct roml_progress {
  double objective, residual; /* |L|_* + lambda |E|_1; |L + E - D| / |D| */
  int64_t changed;            /* images whose P changed */
} roml_progress;

/* One problem with n slots: what the iteration works on. */
typedef struct roml_state {
  roml_shape at;
  la h;
  op_svt *svt;
  la_array L, E, Y, D, W; /* rows x cols each */
  la_array U, V;          /* thin SVD of D: rows x k, k x cols */
  la_array G, Q;          /* k x k: Gram matrix of D, its eigenvectors */
  double *sigma, *scale;  /* k = min(rows, cols) */
  int64_t *pick, *kept;   /* K x n: now, and the start's */
  roml_matcher *matcher;
  double lambda, rho, growth;
  svt_report low_rank;
  bool ahead; /* W is D - E - Y/rho of the next iteration */
  /* of the iteration: what is at hand; the start's objective; rounds without
   * a change, and when to ask whether there will be one */
  roml_progress now;
  double before;
  int64_t still, ask;
} roml_state;

/* How images of points may differ besides; names are in align.c. */
typedef enum roml_invariance {
  ROML_ANY, /* auto */
  ROML_UPRIGHT,
  ROML_SHIFT,
  ROML_SCALE,
  ROML_ROTATION,
  ROML_SIMILARITY,
  ROML_INVARIANCES
} roml_invariance;

typedef struct roml {
  lapis_solver base;
  lapis_roml_settings set;
  la h;
  roml_problem p;
  roml_state s;
  int64_t *given; /* K x n from settings.start_match, features in images */
  int64_t *picks; /* K x n, scratch */
  bool whole;     /* s is the one problem there is, and can be resumed */
  /* what is published */
  int64_t *match;            /* n x K, rows of X */
  uint8_t *inlier;           /* n x K */
  double *low_rank, *sparse; /* d x n x K */
  double *gamma;             /* n_gamma, when estimating */
  int64_t n_gamma;
  /* several instances */
  lapis_mat xy;              /* positions, borrowed, or empty */
  int64_t *instance, *whose; /* slots: from 1; as published */
  double *chance;            /* n_chance: of each set that was looked at */
  int64_t n_chance;
  double *learnt; /* what a model keeps; see learn.c */
  /* points: how images were moved (each 2 x 3, row after row), and whether the
   * better of start and end is the one of the least shape cost (align.c) */
  roml_invariance invariance;
  double *transform; /* 6 x K, or NULL */
  const char *moved; /* the name of invariance, as published */
  int64_t chosen;    /* invariance, as kept for a resumed run */
  bool by_shape;
} roml;

extern const lapis_method roml_method;
/* method_new_fn (base/param.h); callers from outside go by methods.c. */
/* method_holds_fn (methods/method_entry.h) */
double roml_holds(const solver_size *z, const void *settings);
lapis_status roml_new(lapis_ctx *ctx, const lapis_data *data,
                      const void *settings, lapis_solver **out);

static inline int64_t roml_count(const roml_problem *p, int64_t k)
{
  return p->first[k + 1] - p->first[k];
}
/* Feature i of image k as it stands in X; times scale[first[k] + i]. */
static inline const double *roml_feature(const roml_problem *p, int64_t k,
                                         int64_t i)
{
  return mat_col(&p->X, p->row[p->first[k] + i]);
}
static inline int64_t roml_block(const roml_shape *at, int64_t k, int64_t j)
{
  return j * at->slot_step + k * at->image_step;
}

/* ---- problem.c ------------------------------------------------------*/
/* Checks data against settings, allocating nothing. */
lapis_status roml_check_data(lapis_ctx *ctx, const lapis_roml_settings *set,
                             const lapis_data *data);
lapis_status roml_problem_build(roml *w, const lapis_data *data);
/* Its two halves: X by images; and lengths. */
lapis_status roml_problem_sort(lapis_ctx *ctx, const lapis_data *data,
                               const int64_t *group, roml_problem *p);
lapis_status roml_problem_scale(lapis_ctx *ctx, const lapis_roml_settings *set,
                                roml_problem *p);
void roml_problem_free(roml_problem *p);
int64_t roml_fewest(const roml_problem *p); /* least n_k */
/* p <- `from` without the features marked, in image order. */
lapis_status roml_problem_without(const roml *w, const roml_problem *from,
                                  const bool *out, roml_problem *p);
/* p <- the images of `from` with features F (d x N, in image order). */
lapis_status roml_problem_of(const roml *w, const roml_problem *from,
                             const la_array *F, roml_problem *p);
/* X <- other numbers of the same features, in the order of X; takes X over. */
lapis_status roml_problem_place(roml *w, double *X);
/* rows of X -> features of images; refuses what does not fit. */
lapis_status roml_read_given(roml *w);

/* ---- state.c --------------------------------------------------------*/
lapis_status roml_state_new(roml *w, int64_t n, roml_state *s);
void roml_state_free(roml_state *s);
/* D from pick: the block of image k's slot j; all blocks. */
void roml_fill_slot(const roml_problem *p, roml_state *s, int64_t k, int64_t j);
void roml_fill(const roml_problem *p, roml_state *s);
/* The arrays of an iteration. */
op_alm roml_alm(const roml_state *s);
/* |D|_*, and whether L = D, E = 0 is optimal for this pick, since the
 * multiplier U V' is within lambda; leaves U V' in W. */
lapis_status roml_nuclear(roml_state *s, double *nuclear, bool *clean);
/* min |L|_* + lambda |E|_1 over L + E = D; leaves L and E, and the multiplier
 * in Y. */
typedef struct roml_effort {
  double tol, growth, most; /* relative residual and change; of the penalty,
                               at most this many times the first */
} roml_effort;
extern const roml_effort roml_exactly, roml_roughly;
lapis_status roml_fit(roml_state *s, double lambda, const roml_effort *effort,
                      double *objective);

/* ---- match.c: every image's assignment -----------------------------*/
lapis_status roml_matcher_new(roml *w, const roml_shape *at,
                              roml_matcher **out);
void roml_matcher_free(roml_matcher *m);
/* pick_k <- assignment at cost -<M_kj, f_i> + |f_i|^2/2 for every image from
 * `from` on; M has the blocks of `at`. */
lapis_status roml_match(roml_matcher *m, const double *M, int64_t from,
                        int64_t *pick);
/* Forgets which images could be skipped: that was for another M. */
void roml_matcher_forget(roml_matcher *m);

/* ---- starts --------------------------------------------------------------*/
/* Fills pick; sets rho and growth. */
lapis_status roml_start(roml *w, roml_state *s);
lapis_status roml_start_seeded(roml *w, roml_state *s);
lapis_status roml_start_sync(roml *w, roml_state *s);
lapis_status roml_start_mst(roml *w, roml_state *s);
bool roml_start_known(const char *start);

/* ---- align.c: images of points in one frame -----------------------------*/
/* Moves the images by --invariance; sets w->invariance, transform and
 * by_shape. */
lapis_status roml_align(roml *w);
const char *roml_invariance_name(roml_invariance kind);
/* ROML_INVARIANCES where it is none of the words; NULL is auto. */
roml_invariance roml_invariance_of(const char *word);
/* How unlike the shapes in D' are, 1 at least; uses W. */
lapis_status roml_shape_cost(roml_state *s, double *cost);

/* ---- the iteration -------------------------------------------------------*/
lapis_status roml_step(roml *w, roml_state *s, roml_progress *now);
/* resumed: s is the state of a checkpoint, to go on from. */
lapis_status roml_iterate(roml *w, roml_state *s, bool resumed);
/* For work beside it: shows that it goes on; cancelled, or out of time. */
bool roml_must_end(roml *w);
/* The same, of a step of it. */
void roml_show(roml *w, double objective, double residual);
/* Room for n slots in w->s. */
lapis_status roml_resize(roml *w, int64_t n);
/* A whole run on s: start, iterate, keep the better of start and end. */
lapis_status roml_run(roml *w, roml_state *s, double *objective);

/* ---- instances.c, chance.c ----------------------------------------------*/
/* Finds --instances sets and makes them w's problem and its start. */
lapis_status roml_find_instances(roml *w);
/* instance <- whose a slot is, by positions, where there are some. */
lapis_status roml_divide(roml *w);
/* The objective of n slots in w->p, had its images nothing in common (infinite
 * where it is cut short); w->s is empty afterwards. */
lapis_status roml_by_chance(roml *w, int64_t n, double *objective);
/* A set is an object's below this share of chance.  Chosen on seeds 0 to 2 of
 * the table in bench/results/roml.md and on its photographs; seeds from 3 came
 * afterwards. */
#define ROML_BETTER 0.945

/* ---- learn.c, predict.c: new images -------------------------------------*/
lapis_status roml_learn(lapis_solver *s);
extern const lapis_method roml_predict_method;
lapis_status roml_predict_new(lapis_ctx *ctx, const lapis_data *data,
                              const void *settings, const named_list *learned,
                              const void *options, lapis_solver **out);

/* ---- outliers.c, count.c, embed.c, result.c -----------*/
lapis_status roml_robust(roml *w, roml_state *s, double *objective);
lapis_status roml_count_inliers(roml *w);
lapis_status roml_embed(roml *w, const lapis_data *data);
/* vectors.c: V (N x dim) <- eigenvectors of A (N x N, symmetric,
 * eigenvalues in [-1, 1]) for its largest ones, theta, falling; but for the one
 * that is known (N). */
lapis_status roml_leading_vectors(la *h, const la_array *A, const double *known,
                                  la_array *V, double *theta);
/* The image from which all others are nearest; W: K x K distances. */
int64_t roml_root(const double *W, int64_t K);
/* Slots sorted by feature number in the first image. */
lapis_status roml_canonical(roml *w, roml_state *s);
lapis_status roml_publish(roml *w, roml_state *s);

/* ---- pairwise assignments, for the starts that are made of them ---------*/
typedef struct pair_work {
  roml *w;
  const roml_problem *p;
  la h;
  int64_t n;
  op_assign *solver; /* largest x largest */
  double *cost;      /* largest x largest: rows of the smaller image */
  double *W;         /* K x K, per feature */
  double *match_sum; /* N: what a feature's own matches cost, and how many */
  int64_t *match_count;
} pair_work;

lapis_status roml_pairs_new(roml *w, int64_t n, pair_work *g);
void roml_pairs_free(pair_work *g);
/* |a - b|^2 assignments, into solver: rows are the listed features of image k
 * (all where NULL), columns all of image l. */
lapis_status roml_assign_pair(pair_work *g, int64_t k, const int64_t *list,
                              int64_t rows, int64_t l);

/* ---- points of which some are wrong or missing: outliers.c ---------------*/
typedef struct robust {
  roml *w;
  const roml_problem *p;
  la h;
  int64_t n;
  double tau; /* a match farther away than this is none */
  op_assign *solver;
  double *cost;     /* largest x largest */
  double *W;        /* K x K: mean capped cost of a pair */
  int32_t *partner; /* K x N: of feature f in image l, at l * N + f, or -1 */
  int64_t *pick, *best; /* K x n, -1 absent */
  /* tracks */
  la_array A, Q;     /* N x N: adjacency; eigenvectors */
  double *value;     /* N */
  bool *edge, *used; /* K x K; N */
  /* low-rank fit */
  double *B, *C, *weight; /* K x 2 x RANK, n x RANK, K x n */
  double *fit, *work;     /* K x n x 2, K x n */
  arena arena;            /* these arrays, but for A and Q */
} robust;

enum { ROBUST_RANK = 4 };

/* Solves the symmetric positive system A x = b of order m <= 4 in place. */
void roml_solve_small(int m, double A[4][4], double *b);
double roml_median(double *v, int64_t count); /* reorders v */

/* affine.c: fills W and partner.  rounds; the cap is tau, and tau / 2
 * from round `half` on. */
lapis_status roml_affine_pairs(robust *g, int rounds, int half);
/* tracks.c: pick from the k nearest images of each. */
lapis_status roml_tracks(robust *g, int64_t nearest);
/* rank.c: improves pick; the sum of min(residual, tau). */
lapis_status roml_rank_fit(robust *g, double *score);

#endif
