/* classification.c - accuracy, Hamming loss, F1, log-loss.
 *
 *   accuracy  share of samples all of whose known labels are right
 *   hamming   share of known labels that are wrong; of classes: of samples
 *   f1        2 TP / (2 TP + FP + FN) of each class, and their mean (macro);
 *             two values: of the larger one alone
 *   log-loss  mean of -log of the probability that the truth had, which counts
 *             as 1e-15 at least */
#include "folds/classification.h"

#include <math.h>

#include "mat/mat.h"

/* What is known of every sample and what was answered, in the same coding. */
typedef struct decided {
  lapis_ctx *ctx;
  const char *name;
  const lapis_mat *truth, *part, *labels;
  targets t; /* of the truth; signs of the part */
} decided;

static lapis_status check_shape(const decided *d)
{
  const lapis_mat *y = d->truth, *l = d->labels;
  bool scores = d->t.kind == TARGETS_CLASS && l->rows == d->t.classes;
  if (l->cols == y->cols && (l->rows == y->rows || scores))
    return mat_check_finite(d->ctx, d->name, "labels", l, false);
  return lapis_fail(d->ctx, LAPIS_ESHAPE,
                    "%s: truth has %" PRId64 " sample(s) of %" PRId64
                    " column(s), labels have %" PRId64 " of %" PRId64,
                    d->name, y->cols, y->rows, l->cols, l->rows);
}

static bool is_value(const targets *t, double v)
{
  for (int64_t k = 0; k < t->n_values; k++)
    if (t->value[k] == v) return true;
  return false;
}

/* Whether it can be a label of a class that the truth lacks, which is wrong;
 * anything else must be scores taken for labels. */
static bool is_class(const targets *t, double v)
{
  bool signs = t->value[0] < 0;
  return v == floor(v) && (signs ? v == 0 : v >= 0);
}

static lapis_status check_values(const decided *d)
{
  const targets *t = &d->t;
  for (int64_t j = 0; t->kind != TARGETS_CLASS && j < d->labels->cols; j++)
    for (int64_t i = 0; i < d->labels->rows; i++)
      if (!is_value(t, lapis_mat_at(d->labels, i, j)) &&
          !is_class(t, lapis_mat_at(d->labels, i, j)))
        return lapis_fail(
            d->ctx, LAPIS_EDATA,
            "%s: the label at %s is %g, the truth has %g and %g; labels are "
            "compared, not scores",
            d->name, CELL(d->ctx, j, "target", i),
            lapis_mat_at(d->labels, i, j), t->value[0], t->value[1]);
  return LAPIS_OK;
}

void classification_keep(targets *t, const lapis_mat *part)
{
  for (int64_t k = 0; k < t->classes * t->samples; k++) {
    int64_t row = part->rows == 1 ? 0 : k % t->classes;
    if (isnan(lapis_mat_at(part, row, k / t->classes))) t->sign[k] = NAN;
  }
}

static lapis_status begin(decided *d)
{
  TRY(targets_encode(d->ctx, d->name, d->truth, &d->t));
  lapis_status s = check_shape(d);
  if (s >= 0) s = check_values(d);
  if (s >= 0) classification_keep(&d->t, d->part);
  if (s < 0) targets_free(&d->t);
  return s;
}

static double label_at(const decided *d, int64_t i, int64_t j)
{
  const lapis_mat *l = d->labels;
  if (l->rows == d->truth->rows) return lapis_mat_at(l, i, j);
  int64_t best = 0;
  for (int64_t c = 1; c < l->rows; c++)
    if (lapis_mat_at(l, c, j) > lapis_mat_at(l, best, j)) best = c;
  return d->t.value[best];
}

/* Known and wrong entries of sample j. */
static void count(const decided *d, int64_t j, int64_t *known, int64_t *wrong)
{
  *known = *wrong = 0;
  for (int64_t i = 0; i < d->truth->rows; i++) {
    double y = lapis_mat_at(d->part, i, j);
    if (isnan(y)) continue;
    *known += 1;
    *wrong += label_at(d, i, j) != y;
  }
}

static void nothing_per_class(const decided *d, double *per_class)
{
  for (int64_t c = 0; per_class != NULL && c < d->t.classes; c++)
    per_class[c] = NAN;
}

lapis_status classification_accuracy(lapis_ctx *ctx, const lapis_mat *truth,
                                     const lapis_mat *part,
                                     const lapis_mat *labels, double *per_class,
                                     double *out)
{
  decided d = {.ctx = ctx,
               .name = "accuracy",
               .truth = truth,
               .part = part,
               .labels = labels};
  TRY(begin(&d));
  int64_t samples = 0, right = 0, known, wrong;
  for (int64_t j = 0; j < truth->cols; j++) {
    count(&d, j, &known, &wrong);
    samples += known > 0;
    right += known > 0 && wrong == 0;
  }
  *out = samples > 0 ? (double)right / (double)samples : NAN;
  nothing_per_class(&d, per_class);
  targets_free(&d.t);
  return LAPIS_OK;
}

lapis_status classification_hamming(lapis_ctx *ctx, const lapis_mat *truth,
                                    const lapis_mat *part,
                                    const lapis_mat *labels, double *per_class,
                                    double *out)
{
  decided d = {.ctx = ctx,
               .name = "hamming",
               .truth = truth,
               .part = part,
               .labels = labels};
  TRY(begin(&d));
  int64_t all = 0, missed = 0, known, wrong;
  for (int64_t j = 0; j < truth->cols; j++) {
    count(&d, j, &known, &wrong);
    all += known;
    missed += wrong;
  }
  *out = all > 0 ? (double)missed / (double)all : NAN;
  nothing_per_class(&d, per_class);
  targets_free(&d.t);
  return LAPIS_OK;
}

static double f1_of(const decided *d, int64_t c)
{
  const targets *t = &d->t;
  bool of_class = t->kind == TARGETS_CLASS;
  double positive = of_class ? t->value[c] : t->value[1];
  int64_t hit = 0, off = 0;
  for (int64_t j = 0; j < t->samples; j++) {
    double sign = t->sign[j * t->classes + c];
    if (isnan(sign)) continue;
    bool said = label_at(d, of_class ? 0 : c, j) == positive;
    hit += said && sign > 0;
    off += said != (sign > 0);
  }
  return hit + off > 0 ? 2.0 * (double)hit / (double)(2 * hit + off) : NAN;
}

lapis_status classification_f1(lapis_ctx *ctx, const lapis_mat *truth,
                               const lapis_mat *part, const lapis_mat *labels,
                               double *per_class, double *out)
{
  decided d = {
      .ctx = ctx, .name = "f1", .truth = truth, .part = part, .labels = labels};
  TRY(begin(&d));
  double sum = 0;
  int64_t have = 0;
  for (int64_t c = 0; c < d.t.classes; c++) {
    double v = f1_of(&d, c);
    if (per_class != NULL) per_class[c] = v;
    if (isnan(v)) continue;
    sum += v;
    have++;
  }
  *out = have > 0 ? sum / (double)have : NAN;
  targets_free(&d.t);
  return LAPIS_OK;
}

/* ---- probabilities -------------------------------------------------------*/
static lapis_status check_probabilities(lapis_ctx *ctx, const targets *t,
                                        const lapis_mat *p)
{
  if (p->rows != t->classes || p->cols != t->samples)
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "log-loss: truth has %" PRId64 " sample(s) of %" PRId64
                      " classes, probabilities have %" PRId64 " of %" PRId64,
                      t->samples, t->classes, p->cols, p->rows);
  TRY(mat_check_finite(ctx, "log-loss", "probabilities", p, false));
  for (int64_t j = 0; j < p->cols; j++)
    for (int64_t c = 0; c < p->rows; c++) {
      double q = lapis_mat_at(p, c, j);
      if (q >= 0 && q <= 1) continue;
      return lapis_fail(
          ctx, LAPIS_EDATA,
          "log-loss: the answer at %s is %g; a probability, from 0 "
          "to 1, is needed; auroc compares scores",
          CELL(ctx, j, "target", c), q);
    }
  return LAPIS_OK;
}

/* Of what is true of class c of sample j. */
static double loss_at(const targets *t, const lapis_mat *p, int64_t c,
                      int64_t j)
{
  static const double LEAST = 1e-15;
  double q = lapis_mat_at(p, c, j), sum = 0;
  if (t->kind != TARGETS_CLASS && t->sign[j * t->classes + c] < 0) q = 1 - q;
  for (int64_t k = 0; t->kind == TARGETS_CLASS && k < t->classes; k++)
    sum += lapis_mat_at(p, k, j);
  return -log(fmax(sum > 0 ? q / sum : q, LEAST));
}

lapis_status classification_log_loss(lapis_ctx *ctx, const lapis_mat *truth,
                                     const lapis_mat *part,
                                     const lapis_mat *answers,
                                     double *per_class, double *out)
{
  targets t;
  double all = 0, labels = 0;
  TRY(targets_encode(ctx, "log-loss", truth, &t));
  lapis_status s = check_probabilities(ctx, &t, answers);
  if (s >= 0) classification_keep(&t, part);
  for (int64_t c = 0; s >= 0 && c < t.classes; c++) {
    double sum = 0, count = 0;
    for (int64_t j = 0; j < t.samples; j++) {
      double sign = t.sign[j * t.classes + c];
      if (isnan(sign) || (t.kind == TARGETS_CLASS && sign < 0)) continue;
      sum += loss_at(&t, answers, c, j);
      count++;
    }
    if (per_class != NULL) per_class[c] = count > 0 ? sum / count : NAN;
    all += sum;
    labels += count;
  }
  if (s >= 0) *out = labels > 0 ? all / labels : NAN;
  targets_free(&t);
  return s;
}
