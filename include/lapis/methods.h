/* methods.h - the settings of each method, what is done to features before, and
 * the building blocks.  lapis.h brings it. */
#include "lapis.h" /* which includes this before choose.h */
#ifndef LAPIS_PUBLIC_METHODS
#define LAPIS_PUBLIC_METHODS

#ifdef __cplusplus
extern "C" {
#endif

/* ---- settings by name --------------------------------------------------*/
/* Generic access to the settings struct of a method, by name.  default writes
 * m->settings_size bytes, fill the program's own struct; set checks type and
 * bounds; get writes text that set would read back to the same value, and
 * where size bytes do not hold it answers LAPIS_ESHAPE, with how many it
 * needs. */
LAPIS_API void lapis_settings_fill(const lapis_method *m, void *settings,
                                   size_t size);
static inline void lapis_settings_default(const lapis_method *m, void *settings)
{
  if (m != NULL) lapis_settings_fill(m, settings, m->settings_size);
}
LAPIS_API lapis_status lapis_settings_set(lapis_ctx *ctx, const lapis_method *m,
                                          void *settings, const char *name,
                                          const char *value);
LAPIS_API lapis_status lapis_settings_get(lapis_ctx *ctx, const lapis_method *m,
                                          const void *settings,
                                          const char *name, char *text,
                                          size_t size);
/* A setting that is a matrix, by the name of its row; borrowed. */
LAPIS_API lapis_status lapis_settings_set_matrix(lapis_ctx *ctx,
                                                 const lapis_method *m,
                                                 void *settings,
                                                 const char *name,
                                                 const lapis_mat *value);

/* ---- settings: take the defaults, change a field -------------------------
 * Each method's problem stands above its settings, whose rows
 * (lapis_method_param, `lapis help METHOD`) say what each is; NaN, -1 and NULL
 * are automatic, or none.  lapis_method_result, and `lapis info METHOD`, list
 * the arrays it answers with.  X is d x n, a sample a
 * column; |.|_* is the sum of the singular values, |.|_2 the largest.  A choice
 * is an int that holds a value of the enum named beside it: tables write it by
 * its offset, and how large an enum is, compilers decide. */
#define LAPIS_METHOD(name, type)                                               \
  static inline type lapis_##name##_defaults(void)                             \
  {                                                                            \
    type settings;                                                             \
    lapis_settings_fill(lapis_method_find(#name), &settings, sizeof settings); \
    return settings;                                                           \
  }                                                                            \
  static inline lapis_status lapis_##name##_new(                               \
      lapis_ctx *ctx, const lapis_data *data, const type *set,                 \
      lapis_solver **out)                                                      \
  {                                                                            \
    return lapis_solver_new(ctx, lapis_method_find(#name), data, set, out);    \
  }
typedef enum lapis_targets {                     /* what Y holds */
                             LAPIS_TARGETS_AUTO, /* numbers where they can be no
                                                    classes */
                             LAPIS_TARGETS_CLASSES,
                             LAPIS_TARGETS_NUMBERS
} lapis_targets;
typedef struct lapis_stop {
  int64_t max_iters; /* -1: the method's own default */
  double tol;        /* meaning: the method's page */
  double seconds;    /* time limit; infinity: none; 0: passed before the first
                      * iteration, the start answers; below 0, NaN: refused */
} lapis_stop;

typedef enum lapis_outliers { /* known numbers far from what others say */
                              LAPIS_OUTLIERS_OMIT, /* are not known */
                              LAPIS_OUTLIERS_LEARN /* are as all others */
} lapis_outliers;
typedef enum lapis_doubted { /* known labels, likelier wrong than right */
                             LAPIS_DOUBTED_LEARN, /* are as all others */
                             LAPIS_DOUBTED_OMIT   /* are not known */
} lapis_doubted;
typedef enum lapis_coverage_by { /* whose share it is */
                                 LAPIS_COVERAGE_ALL,
                                 LAPIS_COVERAGE_CLASS /* of each class */
} lapis_coverage_by;

/* auto: the method that predicts hidden labels best [docs/defaults.md].  Known
 * labels are hidden as labels are missing (groups whole), candidates predict
 * them, and the one of least log-loss answers, or the mean of the best of each
 * kind that is not three standard errors behind. */
typedef struct lapis_auto_settings {
  size_t size;
  lapis_stop stop;
  const char *candidates; /* "mc,rr,linear,trees,misvm"; NULL: all */
  const char *map;        /* how candidates read X; NULL: chosen */
  /* of mc, as there; AUTO and NaN: chosen */
  int variant, labels;
  double lambda, gamma, mu_rel;
  int absent;
  int64_t held_out;    /* folds; 0: none */
  bool compare_only;   /* no answer yet: a retune without it makes one */
  const char *kept_as; /* its name in a checkpoint that has several, of at most
                        * 31 letters, or NULL */
  bool class_features; /* of mc, as there */
  int targets;         /* lapis_targets */
  double coverage;     /* share of new samples whose truth lies in the set, or
                        * interval, of the answer; 0: no sets */
  int coverage_by;     /* lapis_coverage_by */
  bool fill;           /* the gaps of X, also beside targets */
  bool bags;           /* Y is of groups, which are bags of instances */
  int64_t ask;         /* so many samples to be labelled next; 0: none */
  bool importance;     /* of features, by shuffling them [B01] */
  int outliers;        /* lapis_outliers, of numbers */
  int doubted;         /* lapis_doubted, of classes */
} lapis_auto_settings;
LAPIS_METHOD(auto, lapis_auto_settings)
/* What the answer of a, compared on the labels that b hid, too, loses more than
 * b's, and its standard error: of other features of the same samples.  NaN
 * where one has compared nothing. */
LAPIS_API lapis_status lapis_auto_behind(const lapis_solver *a,
                                         const lapis_solver *b, double *by,
                                         double *error);

/* mc: labels and features of all samples in one matrix Z = [labels; features;
 * ones] of low rank [MC11] [MC15]; K labels, each with an offset by the ones.
 *
 *   minimize   mu |Z|_* + mean over observed X of c_x(z, x)
 *                       + lambda mean over known Y of c_y(z, y), by weight
 *   subject to the last row being 1, and Z's features being 0 or more (pos), or
 *              histograms (simplex)
 *
 * Without Y there are no labels and no ones: Z = features.
 *
 * c_x: (z - x)^2 / 2, else (z - x)^2 / (z + x); c_y: logistic, of steepness
 * gamma.  Solver factored: Z = A B' + c e' of rank r. */
typedef enum lapis_mc_variant {
  LAPIS_MC_1,
  LAPIS_MC_POS,
  LAPIS_MC_SIMPLEX
} lapis_mc_variant;
#define LAPIS_MC_VARIANTS "mc1|pos|simplex" /* their names in settings */
typedef enum lapis_mc_labels {
  LAPIS_MC_LABELS_AUTO,
  LAPIS_MC_LABELS_PM,  /* {-1, 1}, decide at 0 */
  LAPIS_MC_LABELS_01,  /* {0, 1}, decide at 0.5 */
  LAPIS_MC_LABELS_RARE /* the same; of two values the one that is known more
                          rarely is 1 inside, however Y is written */
} lapis_mc_labels;
#define LAPIS_MC_CODINGS "auto|pm|01|rare"
typedef enum lapis_mc_solver {
  LAPIS_MC_AUTO,     /* docs/methods/mc.md says which */
  LAPIS_MC_BORDERED, /* every feature seen */
  LAPIS_MC_FACTORED, /* few entries seen */
  LAPIS_MC_ADMM,
  LAPIS_MC_FPC /* no certificate */
} lapis_mc_solver;
typedef enum lapis_mc_absent {
  LAPIS_ABSENT_ZERO,
  LAPIS_ABSENT_MISSING
} lapis_mc_absent;
typedef enum lapis_mc_proof {
  LAPIS_MC_PROOF_RANDOM,
  LAPIS_MC_PROOF_EXACT
} lapis_mc_proof;
typedef struct lapis_mc_settings {
  size_t size;
  lapis_stop stop;
  int variant, labels; /* lapis_mc_variant, _labels */
  double lambda, gamma, mu;
  double mu_rel; /* mu in units of a sigma_1(Z_0); NaN, and mu too: the
                  * settings that are open are chosen by hidden labels, as
                  * auto does with mc alone; .02 without targets */
  bool certificate, class_features;
  int solver; /* lapis_mc_solver */
  bool dense;
  double mu_start, mu_decay, tau; /* fpc */
  int absent, proof;              /* lapis_mc_absent, _proof */
  int64_t most_rank;
  const char *map; /* as for auto, where settings are chosen, like held_out */
  int64_t held_out;
} lapis_mc_settings;
LAPIS_METHOD(mc, lapis_mc_settings)
/* Predicting with an mc model completes each sample by itself against the
 * features learnt. */
typedef struct lapis_mc_fold_settings {
  size_t size;
  lapis_stop stop;
} lapis_mc_fold_settings;
/* Completed entries (sample[k], feature[k]), counted from 0, of the samples
 * that an mc model of the factored solver was learnt from; as the method saw
 * them, a map applied. */
LAPIS_API lapis_status lapis_model_pairs(lapis_ctx *ctx, const lapis_model *m,
                                         int64_t count, const int64_t *sample,
                                         const int64_t *feature, double *out);

/* linear: logistic regression, the plain method beside mc; gaps of X hold the
 * mean of the feature.
 *
 *   minimize   |w|^2 / 2 + C sum of log(1 + exp(-s_j (w'x_j + b)))   a label
 *
 * or, of several classes, with the softmax of their lines. */
typedef struct lapis_linear_settings {
  size_t size;
  lapis_stop stop;
  double C;         /* weight of the losses */
  bool certificate; /* keep the dual that proves the gap */
  int targets;      /* lapis_targets: of numbers ridge regression, whose losses
                     * are (w'x_j + b - y_j)^2 / 2 */
} lapis_linear_settings;
LAPIS_METHOD(linear, lapis_linear_settings)

/* trees: extremely randomised trees [GEW06], whose gaps of X hold the mean of
 * the feature; or a random forest [B01], or boosted trees [F01], each of which
 * fits what those before it leave over; these have a side for gaps.  Of
 * classes, or of numbers. */
typedef enum lapis_trees_kind {
  LAPIS_TREES_RANDOM,
  LAPIS_TREES_FOREST,
  LAPIS_TREES_BOOSTED
} lapis_trees_kind;
typedef struct lapis_trees_settings {
  size_t size;
  lapis_stop stop;     /* seconds: fewer trees answer */
  int64_t trees, leaf; /* how many; the fewest samples of a leaf; 0: by kind */
  int kind, targets;   /* lapis_trees_kind, lapis_targets */
  double share;  /* of features that a split tries; NaN: by kind, targets */
  int64_t depth; /* boosted: splits on the way to a leaf, at most; 0: 4 */
  double rate; /* boosted: of its best a tree adds so much; NaN: by how many */
} lapis_trees_settings;
LAPIS_METHOD(trees, lapis_trees_settings)

/* rpca: X apart into a part of low rank and sparse errors [RR16] (7).
 *
 *   minimize   |D|_* + lambda sum of |X - D| over what was observed */
typedef struct lapis_rpca_settings {
  size_t size;
  lapis_stop stop;
  double lambda; /* NaN: 1/sqrt(max(d, n)) */
  bool certificate;
  int64_t refill;
  double tau;
  double clean_weight; /* predicting: see lapis_rr_predict_settings */
} lapis_rpca_settings;
LAPIS_METHOD(rpca, lapis_rpca_settings)
/* rr and rlda: regression on, and classification by, features of which some are
 * wrong or missing [RR16] (3).
 *
 *   minimize   eta/2 (|W (Y - T [D; 1])|^2 + gamma |T|^2)
 *              + |D|_* + lambda sum of |X - D| over what was observed
 *
 * rlda: Y are indicators of K classes and W = (Y Y')^(-1/2). */
typedef enum lapis_rr_denoise {
  LAPIS_RR_JOINT,   /* D comes with the regression [RR16] */
  LAPIS_RR_RPCA,    /* from robust PCA, before it */
  LAPIS_RR_NONE     /* is X: ridge regression, ridge LDA */
} lapis_rr_denoise; /* weights of samples: of the squares of the fit */
/* rlda's classes: the largest score; the nearest class mean; the nearest
 * training samples.  Auto: mean where lambda and gamma are left open. */
typedef enum lapis_rlda_assign {
  LAPIS_RLDA_AUTO,
  LAPIS_RLDA_SCORE,
  LAPIS_RLDA_MEAN,
  LAPIS_RLDA_KNN
} lapis_rlda_assign;
typedef struct lapis_rr_settings { /* rr and rlda */
  size_t size;
  lapis_stop stop;
  int denoise;               /* lapis_rr_denoise */
  double eta, lambda, gamma; /* NaN: 10; the others chosen */
  double rho, mu;            /* growth of mu, and the first one */
  const char *weight;        /* "identity", or the file W came from */
  const char *fix_weights;   /* the file weights came from, or NULL */
  bool certificate;
  int64_t refill;
  double tau;
  double clean_weight; /* predicting: see lapis_rr_predict_settings */
  lapis_mat W;         /* K x K weight of the targets, or empty: identity */
  lapis_mat weights;   /* (d + 1) x K, bias last: solve for D alone; or empty */
  int assign, scale;   /* lapis_rlda_assign, lapis_scale */
} lapis_rr_settings;
LAPIS_METHOD(rr, lapis_rr_settings)
LAPIS_METHOD(rlda, lapis_rr_settings)
/* clean: what does not fit a dictionary D of clean samples [RR16] (8).
 *
 *   alone      minimize   |z|_2 + w sum of |x - D z|, a sample at a time
 *   joint      minimize   |Z|_* + w sum of |X - D Z| */
typedef struct lapis_clean_settings {
  size_t size;
  lapis_stop stop;
  double lambda;
  const char *weight; /* "scaled", "paper", or a number: w itself */
  bool joint, certificate;
  int64_t refill;
  double tau;
  const char *dictionary_file; /* the file dictionary came from, or NULL */
  lapis_mat dictionary;        /* d x n clean samples; borrowed by the solver */
} lapis_clean_settings;
LAPIS_METHOD(clean, lapis_clean_settings)
typedef enum lapis_rr_clean {
  LAPIS_RR_CLEAN_SCALED,
  LAPIS_RR_CLEAN_PAPER,
  LAPIS_RR_CLEAN_NONE,
  LAPIS_RR_CLEAN_NUCLEAR, /* 1/2 c' S^-1 c + lambda |x - U c|_1, D = U S V' */
  LAPIS_RR_CLEAN_AUTO     /* nuclear where the fit scaled, else scaled */
} lapis_rr_clean;
/* Predicting with an rpca, rr or rlda model cleans new samples first. */
typedef struct lapis_rr_predict_settings {
  size_t size;
  lapis_stop stop;
  int clean; /* lapis_rr_clean */
  bool joint;
  int64_t knn; /* > 0: labels by this many neighbours in the projected space */
  double clean_weight; /* of a new sample's error, in units of what `clean`
                          says; NaN: as the fit was told, else automatic */
} lapis_rr_predict_settings;

/* roml: of the features (columns of X) of K images (data->group) those N that
 * belong to one object, in one order for all images [ROML16].  P^k takes N of
 * image k's features F^k; D = [vec(F^1 P^1) ... vec(F^K P^K)].
 *
 *   minimize   |L|_* + lambda |E|_1
 *   subject to L + E = D, P^k partial permutations
 *
 * Images come in rising order of group. */
typedef enum lapis_roml_schedule {
  LAPIS_ROML_FAST,
  LAPIS_ROML_CAREFUL,
  LAPIS_ROML_PAPER
} lapis_roml_schedule;
typedef enum lapis_roml_layout {
  LAPIS_ROML_DESCRIPTOR, /* an image is a column of D, dn x K */
  LAPIS_ROML_COORDINATES /* an image is d rows of D', dK x n [ROML16 (27)] */
} lapis_roml_layout;
typedef enum lapis_roml_normalise {
  LAPIS_ROML_NORMALISE_NONE,
  LAPIS_ROML_NORMALISE_AUTO /* descriptors to unit length, points not */
} lapis_roml_normalise;
typedef enum lapis_roml_map {
  LAPIS_ROML_MAP_NONE,
  LAPIS_ROML_MAP_EMBED /* xy and X into one feature [ROML16 Appendix 1] */
} lapis_roml_map;
typedef struct lapis_roml_settings {
  size_t size;
  lapis_stop stop;
  int64_t inliers; /* n; -1: estimated */
  double lambda;   /* NaN: 5 / sqrt(rows of D) */
  const char *start;
  bool robust;
  int schedule; /* lapis_roml_schedule */
  double rho0, growth;
  int layout, normalise; /* lapis_roml_layout, _normalise */
  bool fix_first;
  double xi, delta;
  int map; /* lapis_roml_map */
  double sigma_spatial, sigma_descriptor;
  double sigma_layout; /* INFINITY: the embedding as printed */
  int64_t dim;
  lapis_mat start_match; /* n x K rows of X, in place of start; copied */
  int64_t instances;     /* disjoint sets of n features; -1: all there are */
  const char *invariance;
} lapis_roml_settings;
LAPIS_METHOD(roml, lapis_roml_settings)

/* svmplus: an SVM whose slack is a function v'z of features z (P) that exist
 * while training only [SVMP16]; a 1 is appended to x and to z.
 *
 *   linear     minimize   |w|^2 / 2 + gamma/2 |v|^2 + C sum of v'z_i
 *   (7)        subject to y_i w'x_i >= 1 - v'z_i,  v'z_i >= 0
 *   l2         minimize   a'(( K + 1) o yy' + G) a / 2
 *   (18)       subject to a >= 0, sum a = 1;  G = Kt (gamma I + C Kt)^-1
 *   original   the hinge loss with free offsets (4)
 *
 * Several classes or labels: one against the rest. */
typedef enum lapis_kernel {
  LAPIS_KERNEL_LINEAR,
  LAPIS_KERNEL_RBF,         /* exp(-|x - z|^2 / width) */
  LAPIS_KERNEL_CHI2,        /* exp(-chi2(x, z) / width) */
  LAPIS_KERNEL_PRECOMPUTED, /* X is n x n; predicting: n x n_new */
  LAPIS_KERNEL_AUTO         /* misvm: rbf, or as held-out bags say */
} lapis_kernel;
typedef enum lapis_scale {
  LAPIS_SCALE_AUTO,     /* standard, where the sizes of features need it */
  LAPIS_SCALE_STANDARD, /* means 0, deviations 1 / sqrt(d), inside */
  LAPIS_SCALE_NONE,     /* as they are */
  LAPIS_SCALE_ROBUST    /* rr, rlda: by medians */
} lapis_scale;
typedef enum lapis_svmplus_formulation {
  LAPIS_SVMPLUS_AUTO, /* both kernels linear: [SVMP16] (7), else l2 */
  LAPIS_SVMPLUS_L2,   /* [SVMP16] (18) */
  LAPIS_SVMPLUS_ORIGINAL
} lapis_svmplus_formulation;
typedef enum lapis_svmplus_solver {
  LAPIS_SVMPLUS_SOLVER_AUTO,
  LAPIS_SVMPLUS_DCD,
  LAPIS_SVMPLUS_IPM,
  LAPIS_SVMPLUS_SMO
} lapis_svmplus_solver;
typedef struct lapis_svmplus_settings {
  size_t size;
  lapis_stop stop;
  int kernel, kernel_priv; /* lapis_kernel */
  double C, gamma, width, width_priv;
  int formulation, solver; /* lapis_svmplus_formulation, _solver */
  bool balanced, probability;
  int64_t rank; /* of a low-rank privileged kernel; -1: exact */
  double cache; /* MB */
  bool certificate;
  int scale; /* lapis_scale, of X and of P */
} lapis_svmplus_settings;
LAPIS_METHOD(svmplus, lapis_svmplus_settings)

/* misvm: labels are known of bags (data->group) alone; a bag is positive where
 * one of its instances is.  Alternates between the l2-SVM+ above and the labels
 * of the instances in positive bags [SVMP16] Sec. 6.2. */
typedef enum lapis_threshold {
  LAPIS_THRESHOLD_FIXED, /* 0 */
  LAPIS_THRESHOLD_AUTO,  /* where held-out bags are as likely of either kind */
  LAPIS_THRESHOLD_WITH_C /* auto where C is chosen, else fixed */
} lapis_threshold;
typedef struct lapis_misvm_settings {
  size_t size;
  lapis_stop stop;                    /* max_iters: rounds */
  int kernel, kernel_priv;            /* lapis_kernel */
  double C, gamma, width, width_priv; /* C NaN: by held-out bags */
  double positive_ratio;
  int scale, threshold; /* lapis_scale; lapis_threshold, of bag_scores */
} lapis_misvm_settings;
LAPIS_METHOD(misvm, lapis_misvm_settings)

/* ---- maps: what is done to features before a method sees them -----------
 * spec: "none", or stages joined by commas: l1, l2 (length of a sample),
 * sqrt, l1-sqrt, standard (mean 0, deviation 1 of a feature), scale:NUMBER,
 * scale:auto (mean size 1 of an entry), chi2 (homogeneous kernel map of order
 * 3: 7 numbers a feature), impute (gaps hold what factors of the training
 * samples expect), trim (cells more than four deviations from the median of
 * their feature, by the range between its tenths, are gaps).  Of several kinds:
 * blocks:400+1000 comes first, with the number of each; l1 and l2 then see each
 * kind alone, and balance at the end gives each one weight.  Last may stand
 * exp(-|x - z|^2 / WIDTH) as features: nystrom:WIDTH:COUNT (of COUNT training
 * samples); WIDTH is a number, auto (the median |x - z|^2) or a multiple,
 * 4auto.  Fitted on training samples only; NaN stays NaN but behind impute
 * (before a kernel: the mean). */
LAPIS_API lapis_status lapis_map_new(lapis_ctx *ctx, const char *spec,
                                     lapis_map **out);
LAPIS_API void lapis_map_free(lapis_map *map);
LAPIS_API lapis_status lapis_map_fit(lapis_ctx *ctx, lapis_map *map,
                                     const lapis_mat *X);
/* Rows that rows features become; before a fit, of a kernel at most. */
LAPIS_API int64_t lapis_map_rows(const lapis_map *map, int64_t rows);
/* out: lapis_map_rows(X->rows) x X->cols doubles, dense. */
LAPIS_API lapis_status lapis_map_apply(lapis_ctx *ctx, const lapis_map *map,
                                       const lapis_mat *X, double *out);
/* The same into memory of its own, for the caller to free(): sparse where X is
 * and every stage keeps zeros (l1, l2, sqrt, scale), with X's structure. */
LAPIS_API lapis_status lapis_map_make(lapis_ctx *ctx, const lapis_map *map,
                                      const lapis_mat *X, double **memory,
                                      lapis_mat *out);
/* Back, as large as X: Z, which X became and was completed (not of chi2). */
LAPIS_API lapis_status lapis_map_undo(lapis_ctx *ctx, const lapis_map *map,
                                      const lapis_mat *X, const lapis_mat *Z,
                                      double *out);

/* ==== building blocks: singular value thresholding,
 * proximal steps, projections.  Formulas: docs/mathematics.md, section 1.
 *
 * Functions of vectors take n entries and may work in place (out == v).  They
 * trust the lengths they are given, and where NaN goes in, NaN comes out. */

/* ---- singular value thresholding ----------------------------------------
 * W = U S V' is the singular value decomposition, and
 * A = U max(S - t, 0) V' is the proximal step of t |.|_*, |.|_* being the
 * nuclear norm, the sum of the singular values.  W and A are m x n doubles, and
 * A may be W.  Every singular value above t is found, or the call fails: the
 * rank is never wrong in silence. */
typedef struct lapis_svt_info {
  int64_t rank;    /* singular values above t */
  double nuclear;  /* |A|_* */
  double sigma_1;  /* largest singular value of W */
  const char *way; /* how it was done: "gram", "full", "qr", "subspace" */
  const char *why; /* why in this way, in one phrase */
} lapis_svt_info;
LAPIS_API lapis_status lapis_svt(lapis_ctx *ctx, const lapis_mat *W, double t,
                                 lapis_mat *A, lapis_svt_info *info);
/* All min(m, n) singular values of W (m x n doubles), largest first. */
LAPIS_API lapis_status lapis_singular_values(lapis_ctx *ctx, const lapis_mat *W,
                                             double *values);

/* ---- proximal steps: argmin_z t f(z) + (z - v)^2 / 2 ---------------------*/
/* f = |z|. */
LAPIS_API void lapis_prox_soft(int64_t n, const double *v, double t,
                               double *out);
/* f = chi2(z, z0) = (z - z0)^2 / (z + z0) on z >= 0; z0 >= 0.  Here and in the
 * next function t has n entries, a step for each. */
LAPIS_API void lapis_prox_chi2(int64_t n, const double *v, const double *z0,
                               const double *t, double *out);
/* f = log(1 + exp(-gamma s (z - c))) / gamma, s in {-1, 1}. */
LAPIS_API void lapis_prox_logistic(int64_t n, const double *v, const double *s,
                                   const double *c, double gamma,
                                   const double *t, double *out);
/* f = sum of chi2(z_i, z0_i) over the entries where z0 is not NaN, on the
 * probability simplex; t > 0.  One column of n entries. */
LAPIS_API void lapis_prox_chi2_simplex(int64_t n, const double *v,
                                       const double *z0, double t, double *out);
/* Euclidean projection of one column onto the probability simplex, by sorting
 * [MC11 Alg. 2].  work: n doubles. */
LAPIS_API void lapis_project_simplex(int64_t n, const double *v, double *work,
                                     double *out);

/* ---- assignment ----------------------------------------------------------
 * minimize sum_i cost[i, match(i)], where every row of the problem gets a
 * column of its own.  A row of the problem is a column of the view, as
 * everywhere: cost is (columns x rows), float64 or float32, any finite values,
 * rows <= columns.  Prices v <= 0, zero on columns that no row takes, prove
 * that the match is the best one:
 *   sum_i min_j (cost[i, j] - v_j) + sum_j v_j = objective. */
typedef struct lapis_assignment {
  int64_t *match;   /* rows; out, and where warm also in (-1: none) */
  double *price;    /* columns, or NULL; out, and where warm also in */
  bool warm;        /* match and price hold the answer to a similar
                       problem, from which this solve starts */
  double objective; /* out */
} lapis_assignment;
LAPIS_API lapis_status lapis_assign(lapis_ctx *ctx, const lapis_mat *cost,
                                    lapis_assignment *io);
/* The same for count problems, in parallel. */
LAPIS_API lapis_status lapis_assign_batch(lapis_ctx *ctx, int64_t count,
                                          const lapis_mat *cost,
                                          lapis_assignment *io);

#ifdef __cplusplus
}
#endif
#endif
