/* targets.c - Y as people give it: two values, many classes, many labels. */
#include <math.h>
#include <stdlib.h>

#include "mat/mat.h"
#include "solver/solver.h"

enum { MAX_CLASSES = 10000 };

/* Sorts and returns how many different ones there are, which come first. */
static int64_t unique(double *value, int64_t known)
{
  int64_t count = 0;
  qsort(value, (size_t)known, sizeof *value, base_ascending);
  for (int64_t k = 0; k < known; k++)
    if (k == 0 || value[k] > value[count - 1]) value[count++] = value[k];
  return count;
}

/* The distinct known values of row i, sorted, into value (room for n);
 * returns how many. */
static int64_t distinct(const lapis_mat *Y, int64_t i, double *value)
{
  int64_t known = 0;
  for (int64_t j = 0; j < Y->cols; j++) {
    double v = lapis_mat_at(Y, i, j);
    if (!isnan(v)) value[known++] = v;
  }
  return unique(value, known);
}

/* The values of all processes, in a new *value with room for two more. */
static lapis_status unite(lapis_ctx *ctx, double **value, int64_t *count)
{
  int64_t first, all;
  if (base_ranks(ctx) == 1) return LAPIS_OK;
  TRY(base_place(ctx, *count, &first, &all));
  double *whole = base_alloc(ctx, all + 2, sizeof *whole);
  if (whole == NULL) return LAPIS_ENOMEM;
  lapis_status s = base_share(ctx, *value, *count, first, whole, all);
  *count = unique(whole, all);
  base_free(*value);
  *value = whole;
  return s;
}

static bool is_zero_one(const double *value, int64_t count)
{
  for (int64_t k = 0; k < count; k++)
    if (value[k] != 0 && value[k] != 1) return false;
  return true;
}

static bool is_plus_minus(const double *value, int64_t count)
{
  for (int64_t k = 0; k < count; k++)
    if (value[k] != -1 && value[k] != 1) return false;
  return true;
}

static void set_pair(targets *t, double negative, double positive)
{
  t->value[0] = negative;
  t->value[1] = positive;
  t->n_values = 2;
}

/* One row, at most two values: signs by comparison with the larger. */
static void encode_binary(const lapis_mat *Y, int64_t count, targets *t)
{
  t->kind = TARGETS_BINARY;
  t->zero_one = is_zero_one(t->value, count);
  if (t->zero_one)
    set_pair(t, 0, 1);
  else if (is_plus_minus(t->value, count))
    set_pair(t, -1, 1);
  else if (count == 2)
    t->n_values = 2;
  else
    set_pair(t, t->value[0], t->value[0]); /* a single value: all positive */
  for (int64_t j = 0; j < t->samples; j++) {
    double v = lapis_mat_at(Y, 0, j);
    t->sign[j] = isnan(v) ? NAN : v == t->value[1] ? 1 : -1;
  }
}

/* People write 0 or -1 for unknown, too. */
static void warn_of_three_signs(lapis_ctx *ctx, const char *method,
                                const targets *t)
{
  if (t->classes == 3 && t->value[0] == -1 && t->value[1] == 0 &&
      t->value[2] == 1)
    base_warn_once(
        ctx, BASE_THREE_SIGNS, "three-signs",
        "%s: Y holds -1, 0 and 1, which are three classes; if one of "
        "them means unknown, write nan for it (in a table an empty "
        "cell)",
        method);
}

/* One row of class values: one indicator row a class. */
static void encode_classes(const lapis_mat *Y, targets *t)
{
  t->kind = TARGETS_CLASS;
  t->zero_one = true;
  t->n_values = t->classes;
  for (int64_t j = 0; j < t->samples; j++) {
    double v = lapis_mat_at(Y, 0, j);
    for (int64_t c = 0; c < t->classes; c++)
      t->sign[j * t->classes + c] = isnan(v) ? NAN : v == t->value[c] ? 1 : -1;
  }
}

static lapis_status bad_label(lapis_ctx *ctx, const char *method, double v,
                              int64_t i, int64_t j, bool zero_one)
{
  return lapis_fail(ctx, LAPIS_EDATA,
                    "%s: Y is %g at %s; several targets are all %s, NaN where "
                    "unknown",
                    method, v, CELL(ctx, j, "target", i),
                    zero_one ? "0 or 1" : "-1 or 1 (or all 0 or 1)");
}

/* As lapis_mat_at, for loops over all labels. */
static inline double label_at(const lapis_mat *Y, int64_t i, int64_t j)
{
  bool plain = Y->dtype == LAPIS_F64 && Y->colptr == NULL;
  return plain ? mat_col(Y, j)[i] : lapis_mat_at(Y, i, j);
}

/* Several rows, all in {0,1} or all in {-1,1}; 0 anywhere decides. */
static lapis_status encode_multilabel(lapis_ctx *ctx, const char *method,
                                      const lapis_mat *Y, targets *t)
{
  double negative = 0;
  for (int64_t j = 0; j < t->samples; j++)
    for (int64_t i = 0; i < t->classes; i++)
      if (label_at(Y, i, j) == -1) negative = 1;
  TRY(base_max(ctx, &negative, 1));
  t->kind = TARGETS_MULTILABEL;
  t->zero_one = !(negative > 0);
  set_pair(t, negative > 0 ? -1 : 0, 1);
  for (int64_t j = 0; j < t->samples; j++)
    for (int64_t i = 0; i < t->classes; i++) {
      double v = label_at(Y, i, j);
      if (!isnan(v) && v != t->value[0] && v != 1)
        return bad_label(ctx, method, v, i, j, t->zero_one);
      t->sign[j * t->classes + i] = isnan(v) ? NAN : v == 1 ? 1 : -1;
    }
  return LAPIS_OK;
}

static lapis_status too_many(lapis_ctx *ctx, const char *method, int64_t values)
{
  if (values <= MAX_CLASSES) return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_EDATA,
                    "%s: Y has %" PRId64 " different values, too many for "
                    "classes (at most %d); rr predicts numbers",
                    method, values, MAX_CLASSES);
}

static lapis_status encode(lapis_ctx *ctx, const char *method,
                           const lapis_mat *Y, targets *t)
{
  int64_t values = Y->rows == 1 ? distinct(Y, 0, t->value) : 0;
  TRY(too_many(ctx, method, values));
  if (Y->rows == 1) TRY(unite(ctx, &t->value, &values));
  TRY(too_many(ctx, method, values));
  if (values > 2) t->classes = values;
  t->sign = base_alloc_raw(ctx, t->classes * t->samples, sizeof(double));
  if (t->sign == NULL) return LAPIS_ENOMEM;
  if (Y->rows > 1) return encode_multilabel(ctx, method, Y, t);
  if (values > 2) {
    encode_classes(Y, t);
    warn_of_three_signs(ctx, method, t);
  } else {
    encode_binary(Y, values, t);
  }
  return LAPIS_OK;
}

lapis_status targets_encode(lapis_ctx *ctx, const char *method,
                            const lapis_mat *Y, targets *out)
{
  int64_t first, all;
  *out = (targets){.samples = Y->cols, .classes = Y->rows};
  if (Y->rows == 0) return LAPIS_OK;
  TRY(base_place(ctx, Y->cols, &first, &all));
  if (all == 0) return LAPIS_OK;
  TRY(mat_check_finite(ctx, method, "Y", Y, true));
  out->value = base_alloc(ctx, Y->cols + 2, sizeof *out->value);
  if (out->value == NULL) return LAPIS_ENOMEM;
  lapis_status s = encode(ctx, method, Y, out);
  if (s < 0) targets_free(out);
  return s;
}

/* ---- classes or numbers -------------------------------------------------*/
enum { FEW_CLASSES = 20, FEW_OF_EACH = 3 };

/* K sorted values, of which known targets have count each. */
static bool are_numbers(const double *value, const double *count, int64_t K,
                        double known)
{
  int64_t single = 0;
  bool whole = true, many = K > FEW_CLASSES;
  for (int64_t k = 0; k < K; k++) {
    whole = whole && value[k] == rint(value[k]);
    single += count[k] <= 1;
  }
  if (!whole) return many || 2 * (double)K > known;
  bool codes = value[K - 1] - value[0] == (double)(K - 1);
  return many &&
         (2 * single > K || (!codes && FEW_OF_EACH * (double)K > known));
}

/* count: of value (K, sorted) in Y, by all processes. */
static lapis_status count_values(lapis_ctx *ctx, const lapis_mat *Y, int64_t i,
                                 const double *value, int64_t K, double *count)
{
  for (int64_t j = 0; j < Y->cols; j++) {
    double v = lapis_mat_at(Y, i, j);
    const double *at =
        isnan(v) ? NULL
                 : bsearch(&v, value, (size_t)K, sizeof *value, base_ascending);
    if (at != NULL) count[at - value]++;
  }
  return base_sum(ctx, count, K);
}

/* Of row i: whether its values are numbers, how many different ones, and known
 * targets. */
static lapis_status look(lapis_ctx *ctx, const lapis_mat *Y, int64_t i,
                         bool *numbers, int64_t *K, double *known)
{
  double *count = NULL, *value = base_alloc(ctx, Y->cols + 2, sizeof *value);
  lapis_status s = value == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  *K = s < 0 ? 0 : distinct(Y, i, value);
  if (s >= 0) s = unite(ctx, &value, K);
  if (s >= 0) count = base_alloc(ctx, *K, sizeof *count);
  if (s >= 0 && count == NULL) s = LAPIS_ENOMEM;
  if (s >= 0) s = count_values(ctx, Y, i, value, *K, count);
  for (int64_t k = 0; s >= 0 && k < *K; k++) *known += count[k];
  *numbers = s >= 0 && *K > 2 && are_numbers(value, count, *K, *known);
  base_free(count);
  base_free(value);
  return s;
}

lapis_status targets_rows(lapis_ctx *ctx, const lapis_mat *Y, int64_t *K)
{
  *K = Y->rows;
  if (Y->rows != 1) return LAPIS_OK;
  double *value = base_alloc_raw(ctx, Y->cols, sizeof *value);
  if (value == NULL) return LAPIS_ENOMEM;
  int64_t values = distinct(Y, 0, value);
  base_free(value);
  if (values > 2 && values <= MAX_CLASSES) *K = values;
  return LAPIS_OK;
}

lapis_status targets_are_numbers(lapis_ctx *ctx, const lapis_mat *Y, bool *out)
{
  *out = false;
  for (int64_t i = 0; i < Y->rows && !*out; i++) {
    double known = 0;
    int64_t K;
    TRY(look(ctx, Y, i, out, &K, &known));
  }
  return LAPIS_OK;
}

lapis_status targets_check_classes(lapis_ctx *ctx, const char *method,
                                   const lapis_mat *Y)
{
  bool numbers = false;
  double known = 0;
  int64_t K = 0;
  if (Y->rows == 1) TRY(look(ctx, Y, 0, &numbers, &K, &known));
  if (!numbers) return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_EDATA,
                    "%s: Y has %" PRId64 " different values for %.0f known "
                    "targets: numbers, not classes; rr, trees and auto predict "
                    "numbers, and names that look like numbers are written as "
                    "words (a letter before each)",
                    method, K, known);
}

static double best_class(const targets *t, const double *score)
{
  int64_t best = 0;
  for (int64_t c = 1; c < t->classes; c++)
    if (score[c] > score[best]) best = c;
  return t->value[best];
}

int64_t targets_label_rows(const targets *t)
{
  return t->kind == TARGETS_MULTILABEL ? t->classes : 1;
}

void targets_publish(const targets *t, double *labels, int64_t n,
                     lapis_solver *s)
{
  solver_publish(s, "labels", lapis_mat_f64(labels, targets_label_rows(t), n));
  if (t->kind == TARGETS_CLASS)
    solver_publish(s, "classes", lapis_mat_f64(t->value, 1, t->classes));
}

void targets_count(const targets *t, int64_t c, int64_t count[2])
{
  count[0] = count[1] = 0;
  for (int64_t j = 0; j < t->samples; j++) {
    double s = t->sign[j * t->classes + c];
    if (!isnan(s)) count[s > 0]++;
  }
}

lapis_status targets_count_all(lapis_ctx *ctx, const targets *t, int64_t c,
                               int64_t count[2])
{
  targets_count(t, c, count);
  return base_sum_whole(ctx, count, 2);
}

/* ---- whether there is something to learn from ---------------------------*/
/* Known labels, and classes that have some of both kinds; *out: negative and
 * positive ones of each class, 2 x K, which the caller frees.  One pass, sample
 * by sample. */
static lapis_status count_kinds(lapis_ctx *ctx, const targets *t,
                                int64_t *known, int64_t *whole, int64_t **out)
{
  int64_t K = t->classes, *count = base_alloc(ctx, 2 * K, sizeof *count);
  *known = *whole = 0;
  *out = count;
  if (count == NULL) return LAPIS_ENOMEM;
  for (int64_t j = 0; j < t->samples; j++)
    for (int64_t c = 0; c < K; c++) {
      double s = t->sign[j * K + c];
      if (!isnan(s)) count[2 * c + (s > 0)]++;
    }
  TRY(base_sum_whole(ctx, count, 2 * K));
  for (int64_t c = 0; c < K; c++) {
    *known += count[2 * c] + count[2 * c + 1];
    *whole += count[2 * c] > 0 && count[2 * c + 1] > 0;
  }
  return LAPIS_OK;
}

static lapis_status refuse_few(lapis_ctx *ctx, const char *method,
                               const targets *t, int64_t known, int64_t whole,
                               const char *also)
{
  if (known == 0)
    return lapis_fail(ctx, LAPIS_EDATA,
                      "%s: Y holds no known label; samples of both kinds are "
                      "needed%s",
                      method, also);
  if (t->classes > 1 || whole > 0) return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_EDATA,
                    "%s: Y has one class only; two are needed to learn from%s",
                    method, also);
}

lapis_status targets_check_known(lapis_ctx *ctx, const char *method,
                                 const targets *t, const char *also)
{
  int64_t known, whole, *count;
  if (t->classes == 0) return LAPIS_OK;
  lapis_status s = count_kinds(ctx, t, &known, &whole, &count);
  base_free(count);
  return s < 0 ? s : refuse_few(ctx, method, t, known, whole, also);
}

lapis_status targets_check_kinds(lapis_ctx *ctx, const char *method,
                                 const targets *t, const char *also)
{
  int64_t known, whole, *count;
  if (t->classes == 0) return LAPIS_OK;
  lapis_status s = count_kinds(ctx, t, &known, &whole, &count);
  if (s >= 0) s = refuse_few(ctx, method, t, known, whole, also);
  if (s >= 0 && whole == 0)
    s = lapis_fail(ctx, LAPIS_EDATA,
                   "%s: no class has known labels of both kinds%s", method,
                   also);
  for (int64_t c = 0; c < t->classes && s >= 0; c++)
    if (count[2 * c] == 0 || count[2 * c + 1] == 0)
      base_note(ctx, BASE_WARNING, "one-kind",
                "%s: class %" PRId64 " has %" PRId64 " negative and %" PRId64
                " positive known labels: nothing distinguishes them",
                method, c + 1, count[2 * c], count[2 * c + 1]);
  base_free(count);
  return s;
}

void targets_decode(const targets *t, const double *scores, double threshold,
                    double *labels)
{
  if (t->kind == TARGETS_CLASS) {
    for (int64_t j = 0; j < t->samples; j++)
      labels[j] = best_class(t, scores + j * t->classes);
    return;
  }
  for (int64_t k = 0; k < t->classes * t->samples; k++)
    labels[k] = t->value[scores[k] > threshold];
}

/* logit (K) becomes probabilities. */
static void softmax(double *logit, int64_t K)
{
  double most = -INFINITY, sum = 0;
  for (int64_t c = 0; c < K; c++) most = fmax(most, logit[c]);
  for (int64_t c = 0; c < K; c++) sum += logit[c] = exp(logit[c] - most);
  for (int64_t c = 0; c < K; c++) logit[c] /= sum;
}

static void sigmoids(double *logit, int64_t K)
{
  for (int64_t c = 0; c < K; c++) {
    double e = exp(-fabs(logit[c]));
    logit[c] = (logit[c] > 0 ? 1 : e) / (1 + e);
  }
}

void targets_calibrate(const targets *t, const double *calibration,
                       const double *scores, double *probabilities)
{
  int64_t K = t->classes;
  for (int64_t j = 0; j < t->samples; j++) {
    double *p = probabilities + j * K;
    for (int64_t c = 0; c < K; c++)
      p[c] = calibration[2 * c] * scores[j * K + c] + calibration[2 * c + 1];
    if (t->kind == TARGETS_CLASS)
      softmax(p, K);
    else
      sigmoids(p, K);
  }
}

static double odds_of_top(const double *f, int64_t K, int64_t top)
{
  double most = -INFINITY, sum = 0;
  for (int64_t o = 0; o < K; o++)
    if (o != top) most = fmax(most, f[o]);
  for (int64_t o = 0; o < K; o++)
    if (o != top) sum += exp(f[o] - most);
  return f[top] - most - log(sum);
}

/* f_c less the log of the sum of exp of the others: those before c, and those
 * behind it (room). */
void targets_log_odds(const targets *t, double *f, double *room)
{
  int64_t K = t->classes;
  if (t->kind != TARGETS_CLASS) return;
  for (int64_t j = 0; j < t->samples; j++, f += K) {
    int64_t top = 0;
    double before = 0, behind = 0;
    for (int64_t c = 1; c < K; c++)
      if (f[c] > f[top]) top = c;
    double most = f[top], odds = odds_of_top(f, K, top);
    for (int64_t c = K - 1; c >= 0; c--) {
      room[c] = behind;
      behind += exp(f[c] - most);
    }
    for (int64_t c = 0; c < K; c++) {
      double own = exp(f[c] - most);
      f[c] = f[c] - most - log(before + room[c]);
      before += own;
    }
    f[top] = odds;
  }
}

void targets_free(targets *t)
{
  base_free(t->sign);
  base_free(t->value);
  *t = (targets){0};
}
