/* mat.h - views, checks, targets. */
#ifndef LAPIS_MAT_H
#define LAPIS_MAT_H
#include "base/base.h"

static inline bool mat_empty(const lapis_mat *A)
{
  return A->rows == 0 || A->cols == 0;
}
static inline double *mat_col(const lapis_mat *A, int64_t j)
{
  return (double *)A->val + j * A->ld; /* F64, dense */
}
/* The k-th value in memory, whatever its type. */
double mat_stored(const lapis_mat *A, int64_t k);
/* A number that tells matrices apart, as a sum over columns, the first of which
 * is column `first` of the whole: parts have sums that add to the whole's. */
uint64_t mat_hash_columns(const lapis_mat *A, int64_t first);
/* A view of columns first .. first + count - 1, of a matrix of numbers. */
lapis_mat mat_columns(const lapis_mat *A, int64_t first, int64_t count);
/* Copies any numeric matrix, dense or compressed, into dense doubles
 * out (rows x cols, ld). */
void mat_to_f64(const lapis_mat *A, double *out, int64_t ld);
/* What stands in row i is read as (x - off[i]) / by[i]: of a map that shifts
 * and scales features no copy is made. */
typedef struct mat_shift {
  const double *off, *by; /* rows each */
} mat_shift;
/* The same, read so; shift NULL: as it is. */
void mat_shifted(const lapis_mat *A, const mat_shift *shift, double *out,
                 int64_t ld);
/* Refuses a view that no matrix has: sizes below zero, ld below rows, no
 * values, no type, row indices or column starts outside.  An empty one is fine.
 */
lapis_status mat_check_view(lapis_ctx *ctx, const char *method,
                            const char *what, const lapis_mat *A);
/* The same, and a view of text, whose entries would be read as NaN. */
lapis_status mat_check_numbers(lapis_ctx *ctx, const char *method,
                               const char *what, const lapis_mat *A);
/* The same of X, Y, P and xy. */
lapis_status mat_check_data(lapis_ctx *ctx, const char *method,
                            const lapis_data *data);
/* Refuses an A (what: "Y") that has not a column for each sample of X. */
lapis_status mat_check_beside(lapis_ctx *ctx, const char *method,
                              const char *what, const lapis_mat *A,
                              const lapis_mat *X);
/* Refuses an X without features, or without a sample in any process. */
lapis_status mat_check_samples(lapis_ctx *ctx, const char *method,
                               const lapis_mat *X);
double mat_stored_bytes(const lapis_mat *A); /* a sparse one's lists */
/* Bytes of the files that data were read from, else of the arrays. */
double mat_made_of(const lapis_data *data);
/* Refuses a sparse matrix that would not fit into memory as a dense one, or is
 * next to nothing against it (base_unfolds). */
lapis_status mat_check_dense(lapis_ctx *ctx, const char *method,
                             const char *what, const lapis_mat *A);
/* The columns of `from` that are marked, dense or compressed, as new doubles in
 * *memory, which the caller frees. */
lapis_status mat_pick(lapis_ctx *ctx, const lapis_mat *from, const bool *keep,
                      double **memory, lapis_mat *out);
/* LAPIS_EDATA naming row (sample), column (feature) of the first Inf; also of
 * the first NaN, LAPIS_EMISSING, unless nan_ok.  what: "X"; method: "mc". */
lapis_status mat_check_finite(lapis_ctx *ctx, const char *method,
                              const char *what, const lapis_mat *A,
                              bool nan_ok);
/* Of infinite values alone. */
lapis_status mat_check_bounded(lapis_ctx *ctx, const char *method,
                               const char *what, const lapis_mat *A);
/* The same as mat_check_finite, no NaN allowed: missing says what is right
 * instead. */
lapis_status mat_check_known(lapis_ctx *ctx, const char *method,
                             const char *what, const lapis_mat *A,
                             const char *missing);
/* Weights of n samples, or NULL: LAPIS_EDATA naming the row of one that is
 * below 0 or no number, and where none is above 0. */
lapis_status mat_check_weights(lapis_ctx *ctx, const char *method,
                               const double *weight, int64_t n);
/* Y without what samples of weight 0 know, in doubles of the arena; Y itself
 * where there are none. */
lapis_status mat_weighted_targets(arena *own, const lapis_mat *Y,
                                  const double *weight, lapis_mat *out);
/* A new copy of numbers of any type without gaps, column by column or (turned)
 * row by row; NULL: no memory. */
void *mat_packed(lapis_ctx *ctx, const lapis_mat *m, bool turned);
/* Says once which samples hold no number: of a sparse X, where what is left out
 * is unknown, those of which nothing is stored.  Y: labels, or NULL; where all
 * of them have one, nothing is said. */
void mat_say_blank(lapis_ctx *ctx, const lapis_mat *X, const lapis_mat *Y,
                   bool left_out);
/* zeros.c: says once where a few samples of a dense X are all 0. */
void mat_say_zeros(lapis_ctx *ctx, const lapis_mat *X);
/* Says where X has gaps, and features in units that differ much. */
lapis_status mat_say_units(lapis_ctx *ctx, const char *method,
                           const lapis_mat *X);
/* Column j, a sample, holds no number. */
bool mat_is_blank(const lapis_mat *X, int64_t j, bool left_out);

/* ---- means and deviations of features (moments.c) ------------------------*/
typedef struct mat_moments {
  int64_t d;
  double *count, *mean; /* d each; count: what is known, by weight */
  double *deviation;    /* d; 0: a constant, or unknown.  NULL: means alone */
} mat_moments;
/* A deviation that is more than the rounding of a constant. */
bool mat_varies(double deviation, double mean);
/* One sample x (d) of pass 0, means, or 1, deviations, of fields that were 0 at
 * first; and the end of a pass, over the samples of all processes. */
void mat_moments_add(const mat_moments *m, int pass, const double *x,
                     double weight);
lapis_status mat_moments_end(lapis_ctx *ctx, const mat_moments *m, int pass);
/* Both passes of X; weight: of the samples, or NULL. */
lapis_status mat_measure(lapis_ctx *ctx, const lapis_mat *X,
                         const double *weight, const mat_moments *m);
/* Whether features seem to have one unit, so that a sample has a length: by
 * root mean square none is more than ten times as large as half of them. */
lapis_status mat_one_unit(lapis_ctx *ctx, const lapis_mat *X, bool *out);

/* ---- units (unit.c) -----------------------------------------------------*/
/* 1, or, where numbers are far from it, a power of two near the mean size of
 * what is known and not 0; of all processes where there is a ctx. */
lapis_status mat_unit(lapis_ctx *ctx, const double *X, int64_t count,
                      double *unit);
double mat_unit_of(double size);
/* X, which may be NULL, times factor. */
void mat_multiply(double *X, int64_t count, double factor);
/* LAPIS_EDATA where no value that is not 0 reaches 1e-150: its square, too,
 * would be 0. */
lapis_status mat_check_size(lapis_ctx *ctx, const char *method,
                            const char *what, const lapis_mat *A);

/* ---- targets: Y as people give it -> signs of K classes ------------------
 * One row of {0,1}, {-1,1} or any two values is binary, the larger positive;
 * one row of more values is a class, expanded; several rows are multi-label,
 * all in {0,1} or all in {-1,1}.  NaN stays NaN.  Where samples are divided
 * among processes the values of all decide. */
typedef enum targets_kind {
  TARGETS_BINARY,
  TARGETS_CLASS,
  TARGETS_MULTILABEL
} targets_kind;
typedef struct targets {
  targets_kind kind;
  int64_t classes, samples; /* K, n */
  double *sign;             /* K x n: 1, -1 or NaN */
  double *value;            /* binary: {negative, positive}; class: K values;
                               multi-label: {negative, positive} */
  int64_t n_values;
  bool zero_one; /* given as {0,1} */
} targets;
/* A label of this sign as numbers that losses read, 1 and -1 or 1 and 0, and
 * the score above which it is a yes. */
static inline double targets_coded(double sign, bool zero_one)
{
  return zero_one && sign < 0 ? 0 : sign;
}
static inline double targets_threshold(bool zero_one)
{
  return zero_one ? 0.5 : 0;
}
lapis_status targets_encode(lapis_ctx *ctx, const char *method,
                            const lapis_mat *Y, targets *out);
/* scores K x n -> labels in the values Y came in: 1 x n (binary: above the
 * threshold; class: largest score) or K x n (multi-label). */
void targets_decode(const targets *t, const double *scores, double threshold,
                    double *labels);
int64_t targets_label_rows(const targets *t);
/* Labels of n samples, decoded, as the result "labels"; where Y has several
 * classes their values as "classes". */
void targets_publish(const targets *t, double *labels, int64_t n,
                     lapis_solver *s);
/* scores K x n -> probabilities: of yes, 1 / (1 + exp(-(slope s + bias))), or
 * of each class, ~ exp(slope s_c + bias_c).  calibration: slope and bias of
 * each of K. */
void targets_calibrate(const targets *t, const double *calibration,
                       const double *scores, double *probabilities);
/* Known negative and positive labels of class c; of all processes. */
lapis_status targets_count_all(lapis_ctx *ctx, const targets *t, int64_t c,
                               int64_t count[2]);
/* Of several classes: lines f (K x n) become log p_c / (1 - p_c) of their
 * softmax; else they stay.  room: K. */
void targets_log_odds(const targets *t, double *f, double *room);
/* The same of this one's samples. */
void targets_count(const targets *t, int64_t c, int64_t count[2]);
/* Labels that targets_encode will make of Y: its rows, or its classes. */
lapis_status targets_rows(lapis_ctx *ctx, const lapis_mat *Y, int64_t *K);
/* Of one row, given as numbers: whether they can be no classes.  Those of which
 * most stand for one sample, fractions of more than a few values, and many
 * whole ones with gaps between them of which few samples have each can not; of
 * several rows those of more than two values can not be labels.  Asked of all
 * samples, before folds hide any. */
lapis_status targets_are_numbers(lapis_ctx *ctx, const lapis_mat *Y, bool *out);
/* Refuses one row of numbers. */
lapis_status targets_check_classes(lapis_ctx *ctx, const char *method,
                                   const lapis_mat *Y);
/* Refuses Y without a known label, and one row of it with one class; also: what
 * else would be right, "; without Y ..." or "". */
lapis_status targets_check_known(lapis_ctx *ctx, const char *method,
                                 const targets *t, const char *also);
/* The same, and classes none of which has known labels of both kinds; warns of
 * some that have not. */
lapis_status targets_check_kinds(lapis_ctx *ctx, const char *method,
                                 const targets *t, const char *also);
void targets_free(targets *t);

#endif
