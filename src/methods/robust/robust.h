/* robust.h - robust PCA, regression, discriminant analysis and cleaning,
 * between the files of the room.
 *
 *   symbol  in [RR16]               shape
 *   X       features                d x n
 *   D       their low rank part     d x n
 *   E       sparse error, X - D     d x n
 *   Y       targets                 K x n
 *   T       weights, bias last      K x (d + 1), kept transposed
 *   W       weight of the targets   K x K
 *   Dh      D-hat: D above a row of ones      (d + 1) x n
 *   G1, G2  Gamma_1 of X = D + E, Gamma_2 of Dh = [D; 1]  d x n, (d + 1) x n
 *   B       X - E                   d x n
 *   Z       coefficients of new samples in D  n x samples
 * eta, lambda, gamma, rho, mu are the settings of the same name. */
#ifndef LAPIS_ROBUST_H
#define LAPIS_ROBUST_H
#include "base/param.h"
#include "la/backend.h"
#include "mat/mat.h"
#include "op/svt/anderson.h"
#include "op/svt/svt.h"
#include "solver/loop.h"
#include "solver/solver.h"

/* ---- what all share: checks, what is learnt from D ----------------------*/
/* D = U S V' without the values below 1e-9 sigma_1: all that cleaning needs,
 * since the best Z lies in the span of V. */
typedef struct rr_basis {
  int64_t d, n, r;
  double nuclear; /* |D|_* */
  double *K;      /* d x r: U S */
  double *sigma;  /* r */
  double *Vt;     /* r x n */
} rr_basis;
/* rank: that of D where it is known, or 0. */
lapis_status rr_basis_new(la *h, const lapis_mat *D, int64_t rank,
                          rr_basis *out);
void rr_basis_free(rr_basis *b);
/* basis (d x r), sigma (1 x r), loadings (r x n), and back: views. */
lapis_status rr_basis_put(const rr_basis *b, lapis_solver *s);
bool rr_basis_get(const named_list *from, rr_basis *out);

/* X of at least one sample and feature; Inf refused with its place, NaN
 * allowed; a sample observed nowhere refused. */
lapis_status rr_check_X(lapis_ctx *ctx, const char *method, const lapis_mat *X);
/* The same of new samples, of which nothing need be observed. */
lapis_status rr_check_new(lapis_ctx *ctx, const char *method,
                          const lapis_mat *X);
/* Of X that nothing cleans: every entry has to be there. */
lapis_status rr_check_raw(lapis_ctx *ctx, const char *method,
                          const lapis_mat *X);
/* lambda, or 1 / sqrt(max(d, n)), n samples of all processes. */
double rr_lambda(double lambda, int64_t d, int64_t n);
/* sparse = X - D where X was seen, 0 elsewhere; d x n each. */
void rr_residual(const double *X, const double *D, int64_t count,
                 double *sparse);
/* Of the largest known number: less is no error. */
extern const double RR_NO_ERROR;
/* Warns of an answer of s that is all low rank or all error, unless s ended
 * before it had one.  largest, or NULL: the largest known number, then 0. */
lapis_status rr_warn_if_empty(const lapis_solver *s, int64_t rank,
                              const double *sparse, const double *X,
                              int64_t count, double *largest);

/* Rows of their tables, as those of lapis_rows.h. */
#define RR_REFILL                                                    \
  INT("refill", refill, .symbol = "N", .value = 0, FROM_TO(0, 1000), \
      .help = "rounds of finding covered entries and filling them")
#define RR_TAU                                              \
  REAL("tau", tau, .symbol = "tau", .value = 0.2, ABOVE(0), \
       .goes_with = "refill",                               \
       .help = "refill: an entry off by more is covered")
#define RR_CLEAN_WEIGHT(text)                                               \
  REAL("clean-weight", clean_weight, .symbol = "w", .value = NAN, ABOVE(0), \
       .help = (text))
#define RR_FITTED_CLEAN_WEIGHT                                               \
  RR_CLEAN_WEIGHT(                                                           \
      "predicting: weight of the error, relative (auto: 1; 2.5 where D has " \
      "full rank)")
#define RR_JOINT(text) \
  BOOL("joint", joint, \
       .help = text "; answers then depend on the other samples")

/* ---- the convex step ----------------------------------------------------*/
/* What robust PCA, robust regression with given weights and refilling share.
 *
 *   minimize  |D|_* + lambda |P_Omega(X - D)|_1 + eta/2 |R - K D|_F^2
 *
 * K = W T without its bias column (k x d), R = W (Y - t0 1') (k x n); k = 0:
 * no fit term, robust PCA.  Any C and Q with |C| <= lambda on Omega, 0 off it,
 * and |C + K'Q|_2 <= 1 give the lower bound <C, X> + <Q, R> - |Q|^2/(2 eta). */
/* What a point and a multiplier prove together. */
typedef struct rr_bounds {
  double primal, dual, gap;
  double norm; /* |C + K'Q|_2 before scaling */
} rr_bounds;

/* The fit term.  C2 is D's copy here, S its Douglas-Rachford state. */
typedef struct rr_fit {
  int64_t k; /* 0: no fit term */
  double eta;
  la_array K, R, M; /* k x d, k x n, k x k: Cholesky of fit.rho/eta I + K K' */
  la_array S, P, G; /* d x n: state; P = C2 - S = K'H; scratch */
  la_array H, T;    /* k x n: Q = fit.rho H; scratch */
  double rho, before;   /* this step's, the last one's */
  double sums[4];       /* |A - C2|^2, |C2_new - C2|^2, |C2_new|^2, |P|^2 */
  double inner, square; /* <Q, R>, |Q|^2 of the last step */
  double loss;          /* |R - K A|^2 */
} rr_fit;

/* The free estimate takes a Frobenius norm for a spectral one and may be a
 * thousand times the gap; every few steps a power method guesses better.  What
 * looks proved is then proved, rounding included.  After a proof that failed
 * the next waits for a smaller guess, but not for ever: a guess is from below,
 * and may be low by as much as it likes.  Where the norm of the multiplier
 * alone is in the way, it is mended (mend.c). */
typedef struct rr_proof {
  double tol, ask; /* what is wanted; the guess that is worth a proof */
  int64_t mend;    /* iteration from which mending is worth another try */
  bool spent;      /* W holds a multiplier and must be made again */
  bool done;       /* the gap at hand is exact, and small enough */
} rr_proof;

typedef struct rr_dstep {
  la *h;
  op_svt *svt;
  int64_t d, n;
  int64_t first, all;       /* place of the first sample; of all processes */
  double lambda, rho, unit; /* unit: |X|_2, roughly */
  double scale;             /* X is what was given, divided by it */
  int64_t age;              /* steps taken, for the schedule of rho */
  la_array X, S, W, A;      /* d x n; A = D */
  la_array u, v;            /* d x 1, n x 1: power method */
  rr_fit fit;
  svt_report low_rank;
  double sums[6]; /* of la's l1_step */
  rr_bounds bounds;
  rr_proof proof;
  int64_t round;  /* of refilling */
  anderson accel; /* of S and fit.S, once rho has settled */
} rr_dstep;

/* k rows of K and R are allocated, to be filled before rr_dstep_start. */
double rr_dstep_holds(const solver_size *z);
lapis_status rr_dstep_new(la *h, const lapis_mat *X, int64_t k,
                          rr_dstep *dstep);
void rr_dstep_free(rr_dstep *dstep);
/* From S = X with zeros; or, warm, from where the last solve ended, for
 * another lambda, X, K or R. */
lapis_status rr_dstep_start(rr_dstep *dstep, double lambda, bool warm);
/* Until the certified relative gap is at most tol, or the loop ends. */
lapis_status rr_dstep_run(rr_dstep *dstep, loop *l, double tol);
/* Names what rr_dstep_run continues from; masked: X changes from round to
 * round of refilling. */
void rr_dstep_keep(rr_dstep *dstep, loop *l, bool masked);
/* The certificate: bounds at A from the multiplier of the last step, which is
 * scaled and left in W, for those who publish it (C above). */
lapis_status rr_dstep_certify(rr_dstep *dstep);
/* |A - B| / |B| of the last step. */
double rr_dstep_residual(const rr_dstep *dstep);
/* What rr_dstep_run records: 6 names. */
extern const char *const rr_dstep_columns[];

/* ---- balance.c: the two residuals of A = B --------------------------------*/
/* sums: |A - B|^2, |B_new - B|^2, |B_new|^2, |S - B_new|^2 of l1_step.  What
 * rho is multiplied by: a residual within rounding counts as rounding, so that
 * no step hangs on whether it came out as 0. */
double rr_balance(const double sums[4]);
/* A and B stand still to a few units in the last place. */
bool rr_at_rounding(const double sums[4]);

/* Moves the multiplier in W nearer to one of norm 1, within its bounds:
 * mend.c. */
lapis_status rr_mend(rr_dstep *dstep);

/* ---- the fit term: convex_fit.c ------------------------------------------*/
lapis_status rr_fit_alloc(rr_dstep *dstep, int64_t k);
void rr_fit_free(rr_dstep *dstep);
/* M for the rho at hand, and H, P from S. */
lapis_status rr_fit_factor(rr_dstep *dstep);
/* H and P from S. */
lapis_status rr_fit_project(rr_dstep *dstep);
/* S += relax (A - C2), P anew, then both for a rho grown by factor; sums. */
lapis_status rr_fit_step(rr_dstep *dstep, double relax, double factor);
/* W = (rho W + fit.rho (S + 2 P)) / (rho + fit.rho) */
lapis_status rr_fit_reflect(rr_dstep *dstep);
/* loss = |R - K A|^2 */
lapis_status rr_fit_loss(rr_dstep *dstep);

/* ---- refilling: finding what is covered, and filling it -----------------*/
/* rounds times: D on the entries that are not covered; covered = farther than
 * tau from D.  Then filled = D where covered or not observed, X elsewhere
 * (d x n).  w is left at the last round's problem. */
lapis_status rr_refill_train(rr_dstep *dstep, loop *l, int64_t rounds,
                             double tau, double tol, const double *X,
                             double *filled);
/* Warns where most of X (count numbers, NaN: not observed) is farther than tau
 * from D, and so taken for covered. */
void rr_doubt_tau(lapis_ctx *ctx, const double *X, const double *D,
                  int64_t count, double tau);
extern const lapis_method rpca_method;
/* method_new_fn (base/param.h); callers from outside go by methods.c. */
lapis_status rpca_new(lapis_ctx *ctx, const lapis_data *data,
                      const void *settings, lapis_solver **out);

/* method_holds_fn (methods/method_entry.h) */
enum { RR_COPIES = 8 }; /* of X: what is given, published and learnt from */
double rpca_holds(const solver_size *z, const void *settings);
double rr_holds(const solver_size *z, const void *settings);
double clean_holds(const solver_size *z, const void *settings);

/* ---- rr and rlda --------------------------------------------------------*/
/* Robust regression and robust LDA.
 *
 *   J(T, D) = eta/2 (|W (Y - T [D; 1]) V^(1/2)|_F^2 + gamma |T|_F^2)
 *             + |D|_* + lambda |P_Omega(X - D)|_1
 *
 * V = diag(v): weights of samples, 1 where none are given [RR16 has none].  A
 * sample of weight k is k samples to the fit, the classes and the sizes that
 * scale.c finds, and one to |D|_* and its errors.  X, D d x n; Y K x n; T K x
 * (d + 1), bias last, kept transposed. */
extern const lapis_method rr_method, rlda_method;
/* method_new_fn (base/param.h); callers from outside go by methods.c. */
/* method_idle_fn (methods/method_entry.h) */
unsigned rr_idle(const void *settings), rlda_idle(const void *settings);
lapis_status rr_new(lapis_ctx *ctx, const lapis_data *data,
                    const void *settings, lapis_solver **out);
lapis_status rlda_new(lapis_ctx *ctx, const lapis_data *data,
                      const void *settings, lapis_solver **out);
/* method_unlabelled_fn of src/methods/method_entry.h */
lapis_status rr_check_unlabelled(lapis_ctx *ctx, const char *method,
                                 const lapis_data *data, const void *settings,
                                 const bool *known);

/* T from D-hat.  W'W = Q diag(l) Q': column i of T'Q solves
 * (l_i Dh Dh' + gamma I) t = l_i Dh (Q'Y)_i'; where n < d + 1 the same through
 * Dh'Dh.  With weights v of samples columns of Dh and Y count v^(1/2). */
typedef struct rr_tstep {
  int64_t d1, n, K, side; /* d + 1; min(d + 1, n) */
  bool wide;              /* n < d + 1 */
  bool even;              /* all l equal: Cholesky instead of eigenvalues */
  double gamma, *l;       /* K */
  la_array Q;             /* K x K */
  la_array QY;            /* n x K: Y'Q */
  la_array Dh;            /* (d + 1) x n */
  la_array Dv;        /* the same with columns times root; no weights: none */
  const double *root; /* n: v^(1/2), or NULL */
  la_array Tt, TQ;    /* (d + 1) x K: T', T'Q */
  la_array GR, G, R;  /* side x (side + K); its first columns; its last:
                       * right sides */
  la_array V, S;      /* side x side, side x K */
  double *values, *size; /* side: eigenvalues; what rows are scaled by */
} rr_tstep;
/* root: n, borrowed, or NULL */
lapis_status rr_tstep_new(la *h, int64_t d, int64_t n, int64_t K,
                          const double *root, rr_tstep *t);
void rr_tstep_free(la *h, rr_tstep *t);
/* Y (K x n) and W (K x K) on the host. */
lapis_status rr_tstep_set(la *h, rr_tstep *t, const double *Y, const double *W,
                          double gamma);
lapis_status rr_tstep_run(la *h, rr_tstep *t);

/* What is taken from numbers of d kinds, and what divides the rest: scale.c. */
typedef struct rr_scale {
  int64_t d;
  double *centre, *size; /* d each, adjoining; NULL: nothing is done */
} rr_scale;
/* mode: standard or robust; X: d x n, NaN where not observed; weight: n, how
 * many samples each counts as, or NULL. */
lapis_status rr_scale_fit(arena *a, int mode, const lapis_mat *X,
                          const double *weight, rr_scale *out);
/* Of features that have one size: a model of these answers as one of scaled
 * features does. */
lapis_status rr_scale_nothing(arena *a, int64_t d, rr_scale *out);
/* centre: d, then as many sizes. */
void rr_scale_apply(const double *centre, int64_t d, int64_t n, double *X);
/* D (and E = X - D, or NULL) back to the units of the data; length: n, what
 * samples were divided by, or NULL. */
void rr_scale_restore(const double *centre, const double *length, int64_t d,
                      int64_t n, double *D, double *E);
/* Divides samples by their length, which is that of what was observed times
 * sqrt(d / observed), and not 0; length: n. */
void rr_divide_by_length(int64_t d, int64_t n, double *X, double *length);
/* T' ((x->d + 1) x K) back to them, of features and targets. */
void rr_scale_weights(const rr_scale *x, const rr_scale *y, int64_t K,
                      double *T);

typedef struct rr {
  lapis_solver base;
  lapis_rr_settings set;
  bool lda, solved, fixed;
  bool stepped; /* step has a state of a former solve */
  la h;
  int64_t d, n, K;
  targets labels;       /* rlda */
  double *Y, *W;        /* K x n, K x K */
  const int64_t *group; /* n, borrowed, or NULL */
  const double *weight; /* n, borrowed, or NULL: 1 each */
  double *root;         /* n: their roots, or NULL */
  rr_dstep step;        /* X; D in A */
  rr_tstep t;
  /* the augmented Lagrangian, d x n unless said; D is step.A, Dh is t.Dh */
  la_array B, G1; /* X - E; Gamma1 */
  la_array input; /* what Update D thresholds, without Dh / 2 between steps */
  la_array G2, N; /* (d + 1) x n: Gamma2; [D; 1] - Gamma2/mu */
  la_array TW;    /* (d + 1) x K: T'W' */
  la_array WY;    /* K x n: W Y */
  la_array H;     /* K x n: Update D-hat; in rr_objective W (Y - T [D; 1]) */
  la_array M;     /* K x K: mu/eta I + K K', K = W T, and its Cholesky factor */
  la_array MV, HV; /* K x K, K x n: vectors of K K', H in them; with weights */
  la_array Wm;     /* K x K: W */
  double *room;    /* K + n: eigenvalues of K K', shares; with weights */
  double *bias;    /* K: minus the constants of W T */
  double mu, residual[2], J;
  rr_basis basis;
  /* what is published */
  double *X, *low_rank, *sparse, *filled, *dual; /* d x n */
  double *scores, *decided, *weights;            /* K x n, labels, T' */
  /* Behind scale.c X, Y and all of the above but what is published are of one
   * size. */
  rr_scale scale, target_scale;
  double *own_low_rank; /* d x n of that size, made when the model is learnt */
  double *own_weights;  /* rlda: T' as the model has it, not as published */
  /* what was asked, before it was settled */
  int asked, asked_denoise, asked_scale;
  /* choose.c: settings are left open */
  bool open;
  bool in_fold;     /* one of the solves that choose: says nothing */
  bool shrink;      /* rlda: gamma is taken from the data */
  double *tried;    /* RR_TRIED x rr_tries */
  double units;     /* that err together, where settings were compared */
  double chosen[4]; /* lambda, gamma (0: from the data), denoise, 1: samples of
                     * length 1; NaN: not yet */
  /* rlda: samples of length 1 */
  lapis_mat given; /* X, borrowed */
  bool unit;
  double *length;   /* n: what samples were divided by */
  rr_scale of_unit; /* of features of these */
  /* rlda.c */
  bool round;           /* scores are brought to where classes are balls */
  double *plain_scores; /* of T itself, for neighbours; with means */
  double *means;        /* rows of scores x classes */
} rr;

/* choose.c; what `tried` holds of each: lambda, gamma, what was told, denoise,
 * the standard error of what was told, 1 where samples had length 1 */
enum { RR_TRIED = 6 };
lapis_status rr_choose(rr *w, method_new_fn make); /* of a fold's fit */
/* What was chosen, once E is known in units of X; called by all processes. */
lapis_status rr_remark_choice(const rr *w);
/* What columns of the fit are multiplied by; weights that are all 1 are none.
 */
lapis_status rr_take_roots(rr *w, const lapis_data *data);
/* X (d x n): samples of length 1, features of one size; w->length, w->of_unit.
 */
lapis_status rr_take_unit(rr *w, double *X);
int rr_tries(const rr *w);
/* Whether what was chosen cleans: not with the largest lambda. */
bool rr_cleans(double lambda, int64_t d, int64_t n);
/* rlda.c */
bool rlda_is_of(const rr *w, int64_t j, int64_t c);
/* How many samples sample j counts as. */
static inline double rr_times(const rr *w, int64_t j)
{
  return w->weight == NULL ? 1 : w->weight[j];
}
/* shrink.c: gamma for samples A (d x n, NaN: not observed). */
lapis_status rlda_shrinkage(rr *w, const double *A, double *gamma);
/* Scores and weights L^-1 times themselves, LL' the covariance within classes.
 */
lapis_status rlda_round(rr *w);
/* means: rows x classes, of w->scores (rows x n) */
void rlda_means(const rr *w, int64_t rows, double *means);
/* Scores (rows x n) of the nearest mean, in place; room: rows. */
void rlda_lines(const double *means, int64_t rows, int64_t n, double *scores,
                double *room);
lapis_status rlda_line_weights(rr *w);
enum { RLDA_NEIGHBOURS = 5 }; /* where --assign knn says no more */

/* targets.c: checks Y, fills labels, K, Y, W. */
lapis_status rr_check_targets(lapis_ctx *ctx, bool lda,
                              const lapis_rr_settings *set,
                              const lapis_data *data);
lapis_status rr_targets_build(rr *w, const lapis_data *data);
/* rr_alm.c: [RR16] Alg. 1. */
lapis_status rr_alm_alloc(rr *w);
void rr_alm_free(rr *w);
lapis_status rr_alm(rr *w, loop *l);
/* W Y and the T-step's share of the targets; before anything else. */
lapis_status rr_alm_targets(rr *w);
/* T for D = step.A, whose nuclear norm step.low_rank holds; J. */
lapis_status rr_regress(rr *w);
/* H minus the constants of W T in every column. */
lapis_status rr_take_constants(rr *w, la_array *H);
/* J at step.A and T; the nuclear norm and the l1 norm are given, this one on
 * its way (base_sum_later). */
lapis_status rr_objective(rr *w, double nuclear, const double *l1, double *J);

/* ---- cleaning -----------------------------------------------------------*/
/* Cleaning new samples with what was learnt.
 *
 *   alone:    minimize  |z|_2 + w |P_Omega(x - D z)|_1   for every column x
 *   nuclear:  minimize  1/2 q' S q + w |P_Omega(x - D V q)|_1  likewise
 *   joint:    minimize  |Z|_* + w |P_Omega(X - D Z)|_1
 *
 * D = U S V' (rank r): the best Z is V Q, and D Z = K Q with K = U S.  A C with
 * |C| <= w on Omega, 0 off it, gives <C, X> as a lower bound where |K'c|_2 <= 1
 * (alone) or |K'C|_2 <= 1, the spectral norm (joint). */
extern const lapis_method clean_method;
/* method_new_fn (base/param.h); callers from outside go by methods.c. */
lapis_status clean_new(lapis_ctx *ctx, const lapis_data *data,
                       const void *settings, lapis_solver **out);

typedef struct cleaner {
  la *h, own; /* h: &own; alone, sample after sample, the host's */
  const rr_basis *basis;
  int64_t d, n, r;     /* n: samples to clean */
  double error_weight; /* w */
  double scale;        /* objectives are what is said, divided by it */
  bool joint, checked; /* the last step was looked at: C is a multiplier */
  bool nuclear;        /* alone: the form of that name; C is not scaled */
  la_array U;          /* d x r: orthonormal */
  la_array X, S, A;    /* d x n: X, the Douglas-Rachford state, A = K Q */
  la_array C;          /* d x n: multiplier, 2 B - S */
  la_array P;          /* r x n: U' C, and Y = S Q on return */
  double *Q;           /* r x n, samples in the order given */
  /* alone: one entry a sample, the first `active` still at work */
  int64_t active, *place, *age;       /* place: the sample a column holds */
  double *rho, *primal, *dual, *sums; /* sums: 6 a sample */
  /* joint */
  op_svt *svt;
  la_array SQ, QA, Z, G; /* r x n */
  double ratio;          /* rho of Q over rho of B */
  double *weight;        /* r */
  svt_report low_rank;
  lapis_info info; /* objective, dual, gap, rank */
} cleaner;

/* basis is borrowed.  Room for n samples, or fewer in later calls.  Alone,
 * c->nuclear may be set after it. */
lapis_status cleaner_new(la *h, const rr_basis *basis, int64_t n, bool joint,
                         cleaner *c);
void cleaner_free(cleaner *c);
/* Cleans X (d x n, NaN = not observed) until every gap is at most tol or the
 * loop ends; Q and info are set. */
lapis_status cleaner_run(cleaner *c, const lapis_mat *X, double weight, loop *l,
                         double tol);
/* low_rank (d x n) = K Q; coefficients (basis n x n) = V Q or NULL; dual
 * (d x n) or NULL. */
lapis_status cleaner_read(cleaner *c, double *low_rank, double *coefficients,
                          double *dual);

/* ---- a batch with everything that is published of it --------------------*/
typedef struct clean_job {
  cleaner c;
  rr_basis basis;    /* the dictionary divided by size: views, or own */
  double size, unit; /* while it runs X is divided by unit */
  int64_t refill;
  double tau;
  int64_t round;                 /* of refilling */
  double *X, *low_rank, *sparse; /* d x n */
  double *filled;                /* d x n, or NULL without refill */
  double *coefficients;          /* basis n x n */
  double *dual;                  /* d x n, or NULL */
  arena arena;                   /* these arrays */
} clean_job;
typedef struct clean_options {
  bool joint, certificate;
  bool nuclear; /* neither joint nor with certificate */
  int64_t refill;
  double tau;
} clean_options;
lapis_status clean_job_new(la *h, const rr_basis *basis, const lapis_mat *X,
                           const clean_options *opt, clean_job *job);
void clean_job_free(clean_job *job);
lapis_status clean_job_run(clean_job *job, lapis_solver *s, double weight,
                           double tol);
void clean_job_publish(clean_job *job, lapis_solver *s);

/* The default weight: lambda sqrt(r n) / |D|_*, or lambda / |D|_*. */
double clean_weight(const rr_basis *b, double lambda, bool paper);

/* clean_alone.c, clean_joint.c */
lapis_status clean_alone(cleaner *c, loop *l, double tol);
lapis_status clean_joint_alloc(cleaner *c);
void clean_joint_free(cleaner *c);
lapis_status clean_joint(cleaner *c, loop *l, double tol);
extern const char *const clean_columns[]; /* 6 */

/* ---- answers for new samples from rpca, rr and rlda models --------------*/
extern const lapis_method rpca_predict_method, rr_predict_method,
    rlda_predict_method;
/* method_predict_fn of src/methods/method_entry.h */
lapis_status rpca_predict_new(lapis_ctx *ctx, const lapis_data *data,
                              const void *settings, const named_list *learned,
                              const void *options, lapis_solver **out);
lapis_status rr_predict_new(lapis_ctx *ctx, const lapis_data *data,
                            const void *settings, const named_list *learned,
                            const void *options, lapis_solver **out);

/* labels (rows of signs x n) by the vote of the k training samples nearest in
 * the projected space (scores: m x n, train: m x N); signs m' x N; value as in
 * targets.  near: room for k indices, far: for k distances. */
typedef struct knn_task {
  const lapis_mat *train, *signs, *value;
  int64_t k;
  int64_t *near;
  double *far;
} knn_task;
void knn_labels(const knn_task *t, const double *scores, int64_t n,
                bool classes, double *labels);

#endif
