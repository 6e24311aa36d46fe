/* svmplus.h - SVM with privileged information, between its files.
 *
 * One binary problem at a time (sv_data); several classes are several
 * problems over the same samples, which share kernels.
 *
 *   symbol  in [SVMP16]                                 shape
 *   X       features x_i; a 1 is appended to each       d x n
 *   P       privileged features z_i, likewise           p x n
 *   y       labels, 1 and -1                            n
 *   a       alpha: multipliers of the margins           n
 *   s       zeta: multipliers of slack >= 0             n
 *   w, v    weights of f = w'x and of the slack v'z     d + 1, p + 1
 *   K, Kp   kernels of X and of P; Kt: with its 1       n x n
 *   G       Kt (gamma I + C Kt)^-1 of (18)              n x n
 *   Q       (K + 1) o yy' + G                           n x n
 *   C       weight of each sample's slack               n
 *   rho     a'Qa, the margin of the l2 problem          a number a class
 * In the struct svmplus K is the number of classes. */
#ifndef LAPIS_SVMPLUS_H
#define LAPIS_SVMPLUS_H
#include "base/base.h"
#include "base/param.h"
#include "folds/calibrate.h"
#include "folds/folds.h"
#include "la/backend.h"
#include "mat/bags.h"
#include "mat/mat.h"
#include "op/dense/kernel.h"
#include "solver/solver.h"

/* Rows that the tables of both methods have; AT is each file's own. */
#define SV_KERNELS "linear|rbf|chi2|precomputed" /* as in lapis_kernel */
#define SV_KERNEL_PRIV_ROW                                                     \
  CHOICE("kernel-priv", kernel_priv, SV_KERNELS, .value = LAPIS_KERNEL_LINEAR, \
         .arg = "K", .goes_with = "P", .help = "kernel of P")
#define SV_WIDTH_ROWS                                                    \
  REAL("width", width, .value = NAN, ABOVE(0),                           \
       .goes_with = "kernel=rbf|chi2|auto",                              \
       .help = "exp(-distance^2 / width); auto: mean squared distance"), \
      REAL("width-priv", width_priv, .value = NAN, ABOVE(0),             \
           .goes_with = "P kernel-priv=rbf|chi2", .help = "the same for P")
#define SV_SCALE_ROW                                                       \
  CHOICE("scale", scale, "auto|standard|none", .value = LAPIS_SCALE_AUTO,  \
         .arg = "S",                                                       \
         .help = "standard: every feature to deviation 1/sqrt(d) inside; " \
                 "auto: where sizes make that needed")

extern const lapis_method svmplus_method, misvm_method;
unsigned sv_idle(const void *settings); /* method_idle_fn */
/* method_holds_fn (methods/method_entry.h) */
double sv_lines_hold(const solver_size *z); /* all but kernels */
double sv_kernels_hold(const solver_size *z);
double sv_holds(const solver_size *z, const void *settings);
double misvm_holds(const solver_size *z, const void *settings);
/* A bag has a label in all its rows, or in none. */
lapis_status misvm_check_unlabelled(lapis_ctx *ctx, const char *method,
                                    const lapis_data *data,
                                    const void *settings, const bool *known);
/* method_new_fn (base/param.h); callers from outside go by methods.c. */
lapis_status svmplus_new(lapis_ctx *ctx, const lapis_data *data,
                         const void *settings, lapis_solver **out);
/* The same inside another method, which speaks for it. */
typedef lapis_status sv_maker(lapis_ctx *ctx, const lapis_data *data,
                              const lapis_svmplus_settings *set,
                              lapis_solver **out);
sv_maker sv_new;
/* What --scale auto did, where it did something. */
void sv_note_scale(const lapis_solver *s, int asked, int used);
lapis_status misvm_new(lapis_ctx *ctx, const lapis_data *data,
                       const void *settings, lapis_solver **out);
/* method_unlabelled_fn of src/methods/method_entry.h */
lapis_status sv_check_unlabelled(lapis_ctx *ctx, const char *method,
                                 const lapis_data *data, const void *settings,
                                 const bool *known);
extern const lapis_method svmplus_predict_method, misvm_predict_method;

/* What one binary problem is made of.  A 1 is appended to x and to z without
 * being stored. */
typedef struct sv_data {
  lapis_ctx *ctx;
  la *h;
  loop *loop;     /* counts epochs, steps of an interior point, sweeps */
  lapis_mat X, P; /* d x n, p x n doubles, dense or compressed */
  int64_t n, d, p;
  bool plain; /* no privileged features: slack is free */
  double gamma;
  double *y; /* n: 1, -1 */
  double *C; /* n: weight of each sample's slack */
  /* A part of the samples (shrink.c), or NULL: what the others' fixed a and s
   * add, (-sum a y x, sum (C - a - s) z), and the sum of these a. */
  const double *rest; /* d + p + 2 */
  double rest_a;
} sv_data;

/* ---- the linear problem [SVMP16 (7)] -------------------------------------*/
typedef struct sv_linear {
  const sv_data *q;
  double *a, *s;  /* n each: alpha, zeta (plain: C - alpha) */
  double *w, *v;  /* d + 1, p + 1, bias last */
  double *m, *r;  /* n each: y w'x, v'z */
  double *u;      /* d + p + 2: w and v found beside alpha */
  int64_t beside; /* 1: u is such a point, 0: nothing yet */
  double primal, dual, gap;
} sv_linear;
lapis_status sv_linear_new(const sv_data *q, sv_linear *out);
void sv_linear_free(sv_linear *point);
/* m, r and the primal at w and v, v's bias raised; the sum of a; *own: |w|^2/2
 * + gamma |v|^2/2. */
lapis_status sv_linear_primal(sv_linear *point, double *sum_a, double *own);
/* gap from primal and dual. */
void sv_linear_set_gap(sv_linear *point);
/* w, v, primal, dual and relative gap from a and s alone, or from u where the
 * primal is less there. */
lapis_status sv_linear_certify(sv_linear *point);
/* Names the point, for a killed run to go on from. */
void sv_linear_keep(sv_linear *point);
/* Records one row of history. */
lapis_status sv_linear_record(sv_linear *point, double tol);
/* Epochs of descent that auto gives it. */
enum { SV_EPOCHS = 300 };
/* Both run until gap <= tol, the loop ends or rounding decides; descent also
 * until it has used its epochs (solved: false). */
lapis_status sv_dcd(sv_linear *point, double tol, int64_t epochs, bool *solved);
lapis_status sv_ipm(sv_linear *point, double tol);
/* Many samples by way of few, which the interior point solves for; solved:
 * false where that does not pay. */
lapis_status sv_shrink(sv_linear *point, double tol, bool *solved);
/* Solves for the free dual variables; keeps the better of the two points. */
lapis_status sv_vertex(sv_linear *point);

/* ---- the kernel problem [SVMP16 (22)] ------------------------------------
 *   minimize a'Qa / 2,  a >= 0,  1'a = 1,   Q = (K + 1) o yy' + G */
typedef struct sv_quadratic {
  lapis_ctx *ctx;
  la *h;
  loop *loop;
  int64_t n;
  const double *Q;          /* n x n, or NULL: it is */
  struct sv_single *single; /* in single precision, or, where NULL, */
  struct sv_rows *source;   /* made by rows */
  const double *diag;       /* n */
  double *a, *g;            /* n each: alpha, Qa */
  double *wide;             /* 2 n: rows of single */
  double norm, gap;         /* a'Qa; (a'Qa - min g) / (a'Qa / 2) */
  double tol;               /* gap asked for in the end */
  int64_t sweeps;           /* of this sv_smo */
} sv_quadratic;
/* From a as it stands (1'a = 1) or, where a is 0, from its own start. */
lapis_status sv_smo(sv_quadratic *q, double tol);
/* At most n steps of sv_smo; more: the end was not reached. */
lapis_status sv_sweep(sv_quadratic *q, double tol, bool *more);
/* The same where Q does not fit and rows of it are made on demand: Newton
 * steps with a low-rank model of Q. */
typedef struct sv_model sv_model;
lapis_status sv_model_new(sv_quadratic *q, sv_model **out);
void sv_model_free(sv_model *t);
/* Names what was learnt, for a killed run to go on from. */
void sv_model_keep(sv_model *t);
/* *moved: some way; the bound is not of the new point yet. */
lapis_status sv_model_step(sv_model *t, bool *moved);
/* Solves Q_FF b = 1 on the support and corrects it; keeps the better of the
 * two points, but none whose gap is above taken. */
lapis_status sv_polish(sv_quadratic *q, double tol, double taken);
/* gap of norm and the least entry of g. */
void sv_quadratic_set_gap(sv_quadratic *q, double least);
/* g, norm and gap from a alone. */
lapis_status sv_quadratic_certify(sv_quadratic *q);
lapis_status sv_quadratic_record(sv_quadratic *q, double tol);

/* Q where n x n does not fit: kernel rows on demand and G = R'R, or diag 1/C.
 *   Q_ij = y_i y_j (k(x_i, x_j) + 1) + R_i'R_j + [i = j] / C_i */
typedef struct sv_rows {
  la *h;
  const op_kernel *kernel;
  const double *y; /* n */
  const double *R; /* r x n, or NULL */
  const double *C; /* n: G = diag 1/C, or NULL */
  int64_t r, n;
  double *made; /* n x some: rows k(x_i, .) being used */
  /* K + 1 at low rank for all classes and stages; made when first asked for */
  double *L; /* rank x n, or NULL */
  int64_t rank;
  double left_out;
} sv_rows;
lapis_status sv_rows_new(la *h, const op_kernel *kernel, sv_rows *out);
void sv_rows_free(sv_rows *c);
/* A (count x count) = Q of these samples among themselves. */
lapis_status sv_rows_square(sv_rows *c, const int64_t *index, int64_t count,
                            double *A);
/* g = Q a; rows of samples with a = 0 are not made. */
lapis_status sv_rows_times(sv_rows *c, const double *a, double *g);

/* Q in single precision, Qa in double (single.c). */
typedef struct sv_single {
  la *h;
  int64_t n;
  const double *K, *Kp, *y; /* n x n: without their 1; n */
  const float *inverse;     /* n x n: of t I + Kt */
  double t, C, tol;
  double below; /* eigenvalues of Kt are at least -below; below < t */
  float *Q;     /* n x n: room for it is given */
  double doubt; /* the last Qa is off by at most that, in length */
  double *work; /* 3 n */
  float *some;  /* 2 n */
} sv_single;
/* From what is given down to Q; diag (n): of Q. */
lapis_status sv_single_new(const sv_single *given, double *diag,
                           sv_single *out);
void sv_single_free(sv_single *x);
void sv_single_row(const sv_single *x, int64_t i, double *row);
/* g = Q a */
lapis_status sv_single_times(sv_single *x, const double *a, double *g);
/* Q_FF d = r in single precision on supports F that change (support.c). */
enum { SV_EDGES = 32 };
typedef struct sv_support {
  int64_t n, count, edges; /* count: of B; 0: there is no factor yet */
  int64_t *B;              /* count: the samples of the factor */
  int64_t *place, *now;    /* n each: in B, or -1; 1: in F */
  int64_t *edge;           /* edges: samples in one of B and F */
  float *A, *W;            /* the factor of Q_BB; W, and two columns */
  double S[SV_EDGES * SV_EDGES];
} sv_support;
/* most: samples that F has at most */
lapis_status sv_support_new(lapis_ctx *ctx, int64_t n, int64_t most,
                            sv_support *out);
void sv_support_free(sv_support *t);
/* F (count) is the support from now on. */
lapis_status sv_support_set(const sv_single *x, sv_support *t, const int64_t *F,
                            int64_t count);
/* d (n): r on F becomes the solution. */
lapis_status sv_support_solve(const sv_single *x, sv_support *t, double *d);
/* b with (Qb)_F = 1 on F, of as many digits as it needs, from b and r = 1 -
 * (Qb)_F as they are (count each).  The factor of the last support stays where
 * the new one differs from it by few samples. */
lapis_status sv_single_solve(sv_single *x, sv_support *t, const int64_t *F,
                             int64_t count, double *b, double *r);

/* ---- kernels and G ------------------------------------------------------*/
enum { SV_SHARED = 16, SV_WHOLE = -2 /* a rank: n x n, whatever P is */ };
typedef struct sv_gram {
  la *h;
  int64_t n;
  op_kernel main, priv;
  bool dense;   /* n x n matrices fit into the memory granted */
  bool plain;   /* no privileged features: G = I / C */
  double *K;    /* n x n: K without its 1; dense only */
  double *Kp;   /* n x n: Kt without its 1; dense, full rank only */
  double *Q;    /* n x n: room for the l2 problem's; dense only */
  double below; /* what rounding may have put eigenvalues of Kp below 0 by */
  double *L;    /* r x n: Kt + 1 = L'L, low rank only */
  int64_t r;
  double left_out;      /* trace(Kt + 1 - L'L) / trace(Kt + 1) */
  double *G;            /* n x n, or r x n: R with G = R'R; or one of shared */
  double G_factor;      /* n x n: G is so many times what is there */
  double G_C, G_gamma;  /* what G was made for */
  int64_t rank;         /* as asked: SV_WHOLE, < 0: by itself, or at most */
  double memory, spare; /* bytes: granted; that a grid may still keep */
  bool made;            /* K, Kp, Q and L are, as far as they are wanted */
  bool grid;            /* settings will change: keep what they share */
  double tol;           /* gap asked for */
  double *shared[SV_SHARED]; /* G by gamma / C */
  double ratio[SV_SHARED], shared_C[SV_SHARED];
  int n_inverses; /* (t I + Kt)^-1, n x n; NULL: single is too coarse */
  float *inverse[SV_SHARED];
  double inverse_t[SV_SHARED];
} sv_gram;
lapis_status sv_gram_new(la *h, const lapis_svmplus_settings *set,
                         const lapis_data *data, sv_gram *out);
/* K, Q, and Kp or L, at the first call. */
lapis_status sv_gram_make(sv_gram *k);
/* Before others are made beside them: where both do not fit, the matrices go
 * until the next solve. */
void sv_gram_yield(sv_gram *k);
/* Takes bytes of what a grid may keep; false: there are not so many left. */
bool sv_gram_keeps(sv_gram *k, double bytes);
void sv_gram_free(sv_gram *k);
/* G for slack weights C c_i; c NULL: all 1. */
lapis_status sv_gram_slack(sv_gram *k, double C, double gamma, const double *c);

/* y = alpha (K + 1) x + beta y; K n x n. */
lapis_status sv_kernel_times(la *h, const double *K, int64_t n, double alpha,
                             const double *x, double beta, double *y);
/* (t I + Kt)^-1 in single precision, or NULL: it does not do there. */
lapis_status sv_gram_inverse(sv_gram *k, double t, const float **out);

/* ---- features at one size (scale.c) -------------------------------------*/
typedef struct sv_scale {
  bool used; /* false: features stay as they are */
  int64_t d;
  double *centre, *factor; /* d each, adjoining: x' = (x - centre) factor */
} sv_scale;
lapis_status sv_scale_check(lapis_ctx *ctx, const char *method,
                            const lapis_svmplus_settings *set);
/* Looks at X, doubles; mode: lapis_scale. */
lapis_status sv_scale_fit(arena *a, int mode, int kernel, double width,
                          const lapis_mat *X, sv_scale *out);
/* X, doubles, scaled into *memory, which the caller frees (on failure too). */
lapis_status sv_scale_apply(lapis_ctx *ctx, const sv_scale *z,
                            const lapis_mat *X, double **memory,
                            lapis_mat *out);
/* w (d + 1, bias last) for the features as they were. */
void sv_scale_weights(const sv_scale *z, double *w);

/* ---- the whole solver ---------------------------------------------------*/
typedef enum sv_kind { SV_LINEAR, SV_L2, SV_ORIGINAL } sv_kind;
typedef struct svmplus {
  lapis_solver base;
  lapis_svmplus_settings set;
  sv_kind kind;
  bool linear; /* kernel linear: weights are published */
  la h;
  targets labels;
  lapis_data data; /* borrowed views, as doubles, or scaled copies */
  sv_scale scale, scale_priv;
  sv_data q;
  sv_gram gram;
  double *diag; /* n */
  sv_rows rows;
  int64_t K;
  /* results; K x n where per sample */
  double *scores, *decided, *alpha, *zeta;
  double *weights;       /* (d + 1) x K */
  double *slack;         /* (p + 1) x K: v, feasible, where it is published */
  double *bias, *rho;    /* K each */
  fold_plan folds;       /* of --probability */
  double *platt;         /* 2 x K: slope and bias of probabilities */
  double *probabilities; /* K x n */
  /* what a model keeps */
  int64_t n_support;
  double *support, *coefficients, *index, *kind_value, *means;
} svmplus;

lapis_status sv_check_data(lapis_ctx *ctx, const char *method,
                           const lapis_svmplus_settings *set,
                           const lapis_data *data);
lapis_status sv_check_settings(lapis_ctx *ctx, const char *method, double C,
                               double gamma);
/* Encodes Y and refuses classes without both kinds. */
lapis_status sv_encode(lapis_ctx *ctx, const char *method, const lapis_mat *Y,
                       targets *out);
/* Warns of a P that is the same for all samples and so says nothing. */
void sv_warn_constant(lapis_ctx *ctx, const char *method, const lapis_mat *P);
/* ---- formulations: each has its file -------------------------------------
 * X_part solves class c from w->q, starting from w->alpha where that is not 0,
 * and keeps scores, alpha, zeta, weights, bias and rho of the class. */
/* Refuses several processes where this problem cannot be divided. */
lapis_status sv_linear_divides(const svmplus *w);
lapis_status sv_linear_part(svmplus *w, int64_t c);
lapis_status sv_l2_alloc(svmplus *w);
lapis_status sv_l2_part(svmplus *w, int64_t c);
lapis_status sv_original_alloc(svmplus *w);
lapis_status sv_original_part(svmplus *w, int64_t c);
/* w->gram, and the widths that were automatic. */
lapis_status sv_kernels(svmplus *w, int64_t rank);
/* Scores of class c: f = (K + 1) (a o y) + b. */
lapis_status sv_kernel_scores(svmplus *w, const double *a, int64_t c, double b);
/* Warns where class c's scores are no larger than what the gap, primal less
 * dual, leaves unknown of them, and far below the margin: they are rounding. */
lapis_status sv_warn_zero(const svmplus *w, int64_t c, double gap,
                          double margin);
/* Adds the class to the sums that the solver reports. */
void sv_add_info(svmplus *w, double objective, double dual, double gap);
/* One class, from l->stage on; in classes.c all that are left. */
lapis_status sv_class(svmplus *w, int64_t c);
/* y of class c against the rest, and C of each sample (weights.c); whether C
 * may differ between samples. */
lapis_status sv_weigh(const svmplus *w, int64_t c);
bool sv_is_weighted(const svmplus *w);
lapis_status sv_classes(svmplus *w, bool resumed);
/* What all classes need, made before they are shared out. */
lapis_status sv_l2_share(svmplus *w);
/* A stage of the loop is a phase of a class. */
enum { SV_PHASES = 4 };
static inline int64_t sv_phase(const loop *l)
{
  return l->stage % SV_PHASES;
}

/* Of the data as the solver has them: what a fold hides, without privileged
 * features, and what it shows. */
lapis_status sv_split(const svmplus *w, const fold_plan *plan, int64_t fold,
                      fold_part *hidden, fold_part *shown);
/* Before the solve: the folds that Platt's sigmoid is fitted on; refuses what
 * cannot be split into them. */
lapis_status sv_platt_folds(svmplus *w);
/* Scores of what a fold hides, by a solved s of the others, at their columns of
 * held, K x n. */
lapis_status sv_score_hidden(const svmplus *w, lapis_solver *s,
                             const fold_part *hidden, int64_t fold,
                             double *held);
/* Such scores, as what calibrates them. */
calibration sv_calibration(const svmplus *w, const double *held);
/* choose.c: whether held-out samples choose C or gamma; a solver that does. */
bool sv_is_open(lapis_ctx *ctx, const lapis_data *data,
                const lapis_svmplus_settings *set);
lapis_status sv_open_new(lapis_ctx *ctx, const lapis_data *data,
                         const lapis_svmplus_settings *set, sv_maker *make,
                         lapis_solver **out);
/* After it: fits slopes and biases to the scores of these held-out folds, whose
 * fits `make` begins. */
lapis_status sv_platt(svmplus *w, sv_maker *make);
/* By probabilities, where there are any (else NULL) and classes do not count
 * alike; else by scores. */
void sv_decide(const targets *labels, bool balanced, const double *scores,
               const double *probabilities, double *decided);
/* A note: why labels and probabilities may disagree. */
void sv_say_balanced(lapis_ctx *ctx);
lapis_status sv_publish(svmplus *w);
lapis_status sv_learn(lapis_solver *s);
lapis_status sv_predict_new(lapis_ctx *ctx, const lapis_data *data,
                            const void *settings, const named_list *learned,
                            const void *options, lapis_solver **out);
lapis_status misvm_predict_new(lapis_ctx *ctx, const lapis_data *data,
                               const void *settings, const named_list *learned,
                               const void *options, lapis_solver **out);

/* ---- bags ----------------------------------------------------------------*/
/* Both kinds can be split into folds. */
bool bags_are_enough(const bag_list *b, const double *sign);
/* The bags' score above which a held-out bag is positive as likely as not, in
 * units of the margin rho, and the log-loss of what such scores say (NULL: not
 * wanted); LAPIS_CANCELLED or LAPIS_TIME_LIMIT: not found.
 * set: of the folds' models, of which w has the features and which `make`
 * begins; sign (n): of each sample's bag; seconds: what is left. */
lapis_status bag_threshold(const svmplus *w, const lapis_misvm_settings *set,
                           method_new_fn make, const bag_list *b,
                           const double *sign, double seconds, double *out,
                           double *loss);
#endif
