/* mc.h - the matrix completion problem, between the files of the method.
 *
 *   symbol            in [MC15], in words                    shape
 *   Z                 labels, features, ones                 m x n
 *   Z0                what is known of Z, NaN elsewhere      m x n
 *   Y, X              labels and features: rows of Z         K x n, D x n
 *   Omega_Y, Omega_X  where they were seen
 *   A                 Z as a low-rank matrix (fpc: Z)        m x n
 *   B                 Z as losses and constraints want it    m x n
 *   V                 B is the proximal step of phi at V     m x n
 *   G                 multiplier, rho (V - B)                m x n
 *   e                 the row of ones                        1 x n
 *   tau               mu / a, where a solver divides by a    a number
 *
 * m = K + D + 1; mu, lambda, gamma are the settings of these names;
 * a = 1/|Omega_X| and b = lambda/|Omega_Y| are the weights of the losses.  With
 * weights v_j of samples the loss of a label of sample j is multiplied by v_j,
 * and |Omega_Y| is the sum of v_j over the labels: a label of whole weight k
 * counts as k labels do.  Weight 0: the sample's labels are not known.  The
 * features' loss and the nuclear norm know no weights. */
#ifndef LAPIS_MC_H
#define LAPIS_MC_H
#include "base/param.h"
#include "la/backend.h"
#include "mat/mat.h"
#include "op/svt/anderson.h"
#include "op/svt/svt.h"
#include "solver/solver.h"

struct mc;
/* A variant of the problem: a row of variant.c. */
typedef struct mc_variant {
  la_kind loss; /* of features */
  /* Refuses features that are not possible; NULL: any numbers are. */
  lapis_status (*check)(lapis_ctx *ctx, const lapis_mat *X);
  bool sums_to_1; /* so that 0 is no answer */
  /* admm: sets w->rho; what mc_balance says; the first accelerated iteration, 0
   * where accelerated steps are mostly taken back. */
  lapis_status (*first_rho)(struct mc *w);
  double (*balance)(int64_t k, const double sums[4]);
  int64_t accelerated;
} mc_variant;

/*   minimize  F(Z) = mu |Z|_* + phi(Z),  Z of m = K + D + ones rows, n columns:
 * labels, features, a row of ones; phi holds losses and constraints.  The row
 * of ones is the labels' intercept: without labels there is none, and mc1 is
 * the plain completion of the field (softImpute's problem).
 */
typedef struct mc_problem {
  int64_t K, D, n, m;
  int64_t ones;           /* 1, or 0 where K is 0 */
  int64_t samples;        /* of the data; n also counts class representatives */
  int64_t all;            /* n of all processes */
  int64_t seen_X, seen_Y; /* |Omega_X|, |Omega_Y| */
  double weight_Y;        /* sum of the weights of Omega_Y */
  double most;            /* the largest of them */
  double a, b;            /* 1 / |Omega_X|, lambda / weight_Y */
  double mu, sigma_1;     /* sigma_1(Z_0), unknown entries 0; 0: not asked */
  double threshold;       /* a score above it is a positive label */
  const mc_variant *variant;
  double gamma;
  double *calibration;  /* 2 x K, or NULL: decide.c */
  double *turn;         /* K: -1 where a row of Z holds 1 - label, else 1 */
  const double *weight; /* of the samples, borrowed; NULL: 1 each */
  targets labels;
  la_penalty phi; /* Z0 with NaN where unobserved; how labels are coded */
} mc_problem;

/* What a label of column j counts; class representatives count once. */
static inline double mc_times(const mc_problem *p, int64_t j)
{
  return p->weight == NULL || j >= p->samples ? 1 : p->weight[j];
}

/* What a primal point and a multiplier prove together. */
typedef struct mc_bounds {
  double primal, dual, gap;
  double norm; /* |G|_2 / mu before scaling */
} mc_bounds;

typedef struct mc_solver mc_solver;
typedef struct mc {
  lapis_solver base;
  lapis_mc_settings set;
  const mc_solver *solver; /* the one that was chosen */
  mc_problem p;
  la h;
  mc_bounds bounds;
  svt_report low_rank;    /* of the answer */
  const mat_shift *shift; /* how X is read, borrowed; NULL: as it is */
  double *whole;          /* X as a dense matrix, where it came otherwise */
  void *state;            /* a solver's own; admm and fpc have what follows */
  op_svt *svt;
  la_array A, B, V, W; /* m x n each */
  anderson accel;      /* of V, admm's own */
  double sums[4];      /* of the last reflect */
  double residual;     /* |A - B| / |B|, of sums that have arrived */
  la_array column;     /* m x 1 */
  double rho;
  double share;    /* of what |rho U|_2 may be above mu, at the last proof */
  double ratio;    /* of the gap to its estimate, the same */
  int64_t checked; /* iteration of the last proof; -1: none */
  double path[3];  /* fpc: mu at hand, objective before, its change */
  la_array answer; /* m x n: fpc's B, while another solver proves how good */
  double *factors; /* m x rank, for a model */
  double layout[8];
  double *values; /* m: singular values, min(m, columns of all ranks) */
  /* what is published: K x n, labels, D x n twice, m x n, D x K */
  double *scores, *decided, *probabilities, *sparse, *dual, *classes;
} mc;

/* One way to solve the problem; method.c lists them and asks. */
struct mc_solver {
  const char *name; /* as the setting has it */
  bool on_host;     /* its state is the host's: a device has no part in it */
  bool proves;      /* always, by the multiplier W; else where it is asked */
  /* Why it cannot take the problem, the end of a sentence; NULL: it can.
   * Sizes, labels and counts of w->p are there, nothing else. */
  const char *(*refuses)(const mc *w, const lapis_data *data);
  /* Why auto takes it; NULL: auto asks the next. */
  const char *(*suits)(const mc *w, const lapis_data *data);
  /* Its state, results and w->p.mu; LAPIS_ENOTBUILT: another had better. */
  lapis_status (*alloc)(mc *w, const lapis_data *data);
  /* From loop_begin on; leaves w->bounds and w->low_rank.rank. */
  lapis_status (*solve)(mc *w);
  lapis_status (*publish)(mc *w);
  lapis_status (*learn)(mc *w);
  /* w->p has other weights, w->p.mu was `before`: what it has stays warm.
   * LAPIS_ENOTBUILT where these need another solver. */
  lapis_status (*retune)(mc *w, double before);
  /* w->p has other labels of the same X: begins cold with what does not depend
   * on them.  LAPIS_ENOTBUILT as above; NULL: always. */
  lapis_status (*relabel)(mc *w, const lapis_data *data);
  void (*free)(mc *w);
};
extern const mc_solver mc_bordered, mc_factored, mc_admm, mc_fpc;

extern const lapis_method mc_method;
/* method_new_fn (base/param.h); callers from outside go by methods.c. */
lapis_status mc_new(lapis_ctx *ctx, const lapis_data *data,
                    const void *settings, lapis_solver **out);

/* method_read_fn, method_reads_fn (methods/method_entry.h) */
bool mc_reads(const void *settings, const lapis_mat *X);
lapis_status mc_new_read(lapis_ctx *ctx, const lapis_data *data,
                         const mat_shift *shift, const void *settings,
                         lapis_solver **out);

const mc_variant *mc_variant_of(int variant);
/* Checks of X that both fitting and folding in make: finite, signs, sums. */
lapis_status mc_check_features(lapis_ctx *ctx, int variant, const lapis_mat *X);
/* method_open_fn, method_idle_fn, method_settle_fn (methods/method_entry.h) */
bool mc_open(const void *settings);
unsigned mc_idle(const void *settings);
/* method_holds_fn */
double mc_holds(const solver_size *z, const void *settings);
void mc_settle(void *settings);
/* Checks data against the settings' variant, allocating nothing. */
lapis_status mc_check_data(lapis_ctx *ctx, const lapis_mc_settings *set,
                           const lapis_data *data);
/* data without the labels of samples of weight 0; checks the weights. */
lapis_status mc_weighted(lapis_ctx *ctx, arena *own, const lapis_data *data,
                         lapis_data *out);
/* The same and the labels: method_check_fn (methods.h). */
lapis_status mc_check(lapis_ctx *ctx, const lapis_data *data,
                      const void *settings);
/* Encodes the labels; sets K, D, n, m, and counts what is seen. */
lapis_status mc_problem_size(mc *w, const lapis_data *data);
/* The same for other labels of the same X. */
lapis_status mc_problem_relabel(mc *w, const lapis_data *data);
/* An X that is sparse, or is read by a shift, as a dense one of the solver's
 * own; what a sparse one leaves out is NaN or 0 as the settings say. */
lapis_status mc_densify(mc *w, lapis_data *data);
/* Whether labels are read as 0 and 1: as is stated, or as they are written
 * (method_zero_one_fn). */
bool mc_zero_one(const void *settings, const targets *t);
/* What settings alone say: of the problem, also of a model's. */
void mc_problem_stated(mc_problem *p, const lapis_mc_settings *set);
/* The same, and how labels are coded. */
void mc_problem_kind(mc *w);
/* Fills phi, Z0, weights, mu; leaves Z_0 with zeros in W. */
lapis_status mc_problem_build(mc *w, const lapis_data *data);
void mc_problem_free(mc *w);
/* Labels of n samples' scores (K x n) and, where p is calibrated, their
 * probabilities (K x n). */
void mc_decide(const mc_problem *p, const double *scores, int64_t n,
               double *labels, double *probabilities);
/* Rows of factors A (m x r) of turned labels speak for the larger value. */
void mc_turn_back(const mc_problem *p, double *A, int64_t r);
/* scores (the label rows of Z, in w->scores), labels, probabilities. */
void mc_publish_labels(mc *w);
/* Copies a calibration, where there is one. */
lapis_status mc_calibrate(lapis_ctx *ctx, mc_problem *p,
                          const lapis_mat *calibration);
/* The K labels of column j as the loss wants them, NaN unknown. */
void mc_label_column(const mc *w, int64_t j, double *out);
/* Where all that is known is 0, so that mu-rel has no unit, the unit is 1: the
 * answer is 0 for any mu. */
void mc_check_unit(mc *w);
/* Weights and mu from the settings, for data already in place. */
void mc_set_weights(mc *w);
/* phi's blocks from K, D, a, b, variant, gamma and the coding. */
void mc_set_blocks(mc_problem *p);

/* F(B), and the dual value of G = rho (V - B); W is scratch and returns holding
 * the feasible, scaled multiplier. */
lapis_status mc_certify(mc *w, mc_bounds *out);

/* The gap by what the low-rank step knows: |B|_* from below by the subgradient
 * at A = SVT(W), W = 2B - V, and norm as |rho (V - B)|_2.  W is scratch. */
lapis_status mc_estimate(mc *w, double norm, double *gap);

/* scores, labels and, where they are calibrated, probabilities: once. */
lapis_status mc_labels_alloc(mc *w);
/* Result arrays, from B and from W, which holds the multiplier. */
lapis_status mc_results_alloc(mc *w);
lapis_status mc_publish(mc *w);
/* (primal - dual) / max(|primal|, |dual|) */
double mc_relative_gap(double primal, double dual);
/* F(B) of mu w->p.mu; W is scratch. */
lapis_status mc_primal(mc *w, double *out);

/* What to multiply rho by after iteration k to balance the relative residuals
 * of reflect's sums; 1 except at iterations 10, 20, 40, 80, 160. */
double mc_balance(int64_t k, const double sums[4]);

/* Shows rank, objective and gap beside the bar. */
void mc_show(mc *w);

/* X is sparse, and what it leaves out was not observed. */
bool mc_leaves_out(const lapis_mc_settings *set, const lapis_data *data);

/* Names what mc continues from when it was killed. */
void mc_keep(mc *w);

/* The dense state of admm and fpc. */
lapis_status mc_state_alloc(mc *w, const lapis_data *data);
lapis_status mc_state_retune(mc *w, double before);
void mc_state_free(mc *w);

/* ---- new samples, in fold.c ------------------------------------------*/
extern const lapis_method mc_fold_method;
lapis_status mc_learn(mc *w);
/* The same for w->factors that are there. */
lapis_status mc_learn_factors(mc *w, int64_t rank);
lapis_status mc_fold_new(lapis_ctx *ctx, const lapis_data *data,
                         const void *settings, const named_list *learned,
                         const void *options, lapis_solver **out);

#endif
