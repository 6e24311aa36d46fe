/* common_remarks.c - what is remarked alike of every method's data and answer:
 * targets that look like numbers, a class of one sample, a class that no sample
 * is predicted to be.  They are of one row of targets, whose values are
 * classes.
 */
#include "methods/common_remarks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/param.h"
#include "lapis/choose.h"
#include "lapis/tools.h"
#include "mat/mat.h"
#include "methods/method_entry.h"

/* ---- targets ------------------------------------------------------------*/
typedef struct value_count {
  double value, count;
} value_count;

/* The different values of Y in their order, and how often each is; *out is
 * freed by base_free. */
static lapis_status count_values(lapis_ctx *ctx, const lapis_mat *Y,
                                 value_count **out, int64_t *count)
{
  *count = 0;
  *out = base_alloc(ctx, Y->cols, sizeof **out);
  double *value = base_alloc(ctx, Y->cols, sizeof *value);
  int64_t n = 0;
  for (int64_t j = 0; value != NULL && j < Y->cols; j++) {
    double v = lapis_mat_at(Y, 0, j);
    if (isfinite(v)) value[n++] = v;
  }
  if (value != NULL) qsort(value, (size_t)n, sizeof *value, base_ascending);
  for (int64_t k = 0; *out != NULL && k < n; k++) {
    bool first = k == 0 || value[k] > value[k - 1];
    if (first) (*out)[(*count)++].value = value[k];
    (*out)[*count - 1].count++;
  }
  bool room = *out != NULL && value != NULL;
  base_free(value);
  return room ? LAPIS_OK : LAPIS_ENOMEM;
}

/* The same of words, whose samples are those of all processes. */
static lapis_status count_words(lapis_ctx *ctx, const lapis_data *data,
                                value_count **out, int64_t *count)
{
  int64_t K = *count = data->words.cols;
  *out = base_alloc(ctx, K, sizeof **out);
  double *number = base_alloc(ctx, K, sizeof *number);
  lapis_status s = *out == NULL || number == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  for (int64_t j = 0; s >= 0 && j < data->Y.cols; j++) {
    int64_t k = remark_word(data, lapis_mat_at(&data->Y, 0, j));
    if (k >= 0) number[k]++;
  }
  if (s >= 0) s = base_sum(ctx, number, K);
  for (int64_t k = 0; s >= 0 && k < K; k++)
    (*out)[k] = (value_count){(double)k, number[k]};
  base_free(number);
  return s;
}

/* Whether values look like a measure, not like the codes of classes: fractions,
 * or many values that are mostly met once or lie far apart. */
static bool is_measure(const value_count *of, int64_t count)
{
  enum { MANY = 6, APART = 4 };
  int64_t once = 0;
  bool whole = true;
  if (count <= 2) return false;
  for (int64_t k = 0; k < count; k++) {
    once += of[k].count <= 1;
    whole = whole && number_is_whole(of[k].value, -HUGE_VAL, HUGE_VAL);
  }
  double apart = (of[count - 1].value - of[0].value) / (double)count;
  return !whole || (count >= MANY && (2 * once > count || apart >= APART));
}

/* A class that one sample has, where another has several: perhaps "opne" for
 * "open". */
static void remark_rare(lapis_ctx *ctx, const char *method,
                        const lapis_data *data, const value_count *of,
                        int64_t count)
{
  enum { NAMED = 3, SEVERAL = 3 };
  char name[REMARK_VALUE];
  double most = 0;
  int64_t rare = 0;
  bool words = data->words.cols > 0;
  for (int64_t k = 0; k < count; k++) most = fmax(most, of[k].count);
  for (int64_t k = 0; k < count && most >= SEVERAL; k++)
    if (of[k].count == 1 && rare++ < NAMED)
      base_note(ctx, BASE_WARNING, "rare-class",
                "%s: the class \"%s\" has one sample: is it %s?", method,
                remark_value(data, of[k].value, name),
                words ? "spelt right" : "right");
  if (rare > NAMED)
    base_note(ctx, BASE_WARNING, "rare-class",
              "%s: %" PRId64 " classes have one sample each", method, rare);
}

/* -1 beside several values of 0 and above: most who write it mean "not known".
 * Of -1, 0 and 1 the encoding of targets speaks (three-signs). */
static void remark_minus_one(lapis_ctx *ctx, const char *method,
                             const value_count *of, int64_t count)
{
  bool signs = count == 3 && of[1].value == 0 && of[2].value == 1;
  if (count < 3 || of[0].value != -1 || of[1].value < 0 || signs) return;
  base_note(
      ctx, BASE_WARNING, "minus-one",
      "%s: %.0f target%s -1 beside others of 0 and above, and -1 is taken "
      "for a class of its own; if it means not known, write nan for it "
      "({missing -1})",
      method, of[0].count, of[0].count == 1 ? " is" : "s are");
}

/* A bag is positive by one instance, so that it matters which value is. */
static void remark_positive(lapis_ctx *ctx, const lapis_method *m,
                            const lapis_data *data, const value_count *of)
{
  char yes[REMARK_VALUE], no[REMARK_VALUE];
  base_note(ctx, BASE_NOTE, "positive",
            "%s: a bag is positive, as some instance of it is, where its label "
            "is \"%s\", and negative where it is \"%s\" (--positive exchanges "
            "them)",
            m->name, remark_value(data, of[1].value, yes),
            remark_value(data, of[0].value, no));
}

/* The least and the largest of each row of Y, of all processes and of samples
 * that count: 2 x rows, freed by base_free; NaN: none is known. */
static lapis_status find_ranges(lapis_ctx *ctx, const lapis_data *data,
                                lapis_mat *out)
{
  const lapis_mat *Y = &data->Y;
  double *range = base_alloc(ctx, 2 * Y->rows, sizeof *range);
  *out = lapis_mat_f64(range, Y->rows, 2);
  if (range == NULL) return LAPIS_ENOMEM;
  for (int64_t i = 0; i < 2 * Y->rows; i++) range[i] = -INFINITY;
  for (int64_t j = 0; j < Y->cols; j++)
    for (int64_t i = 0; i < Y->rows; i++) {
      double y = lapis_mat_at(Y, i, j);
      if (isnan(y) || (data->weight != NULL && !(data->weight[j] > 0)))
        continue;
      range[i] = fmax(range[i], -y);
      range[Y->rows + i] = fmax(range[Y->rows + i], y);
    }
  lapis_status s = base_max(ctx, range, 2 * Y->rows);
  for (int64_t i = 0; i < Y->rows; i++)
    range[i] = isinf(range[i]) ? NAN : -range[i];
  for (int64_t i = 0; i < Y->rows; i++)
    if (isnan(range[i])) range[Y->rows + i] = NAN;
  return s;
}

static const char *constant_text(const lapis_mat *range, int64_t i,
                                 char text[REMARK_VALUE])
{
  return lapis_constant_text(lapis_mat_at(range, i, 0),
                             lapis_mat_at(range, i, 1),
                             range->rows > 1 ? i + 1 : 0, text, REMARK_VALUE);
}

lapis_status remark_is_constant(lapis_ctx *ctx, const lapis_data *data,
                                bool *out)
{
  lapis_mat range;
  char text[REMARK_VALUE];
  lapis_status s = find_ranges(ctx, data, &range);
  *out = s >= 0;
  for (int64_t i = 0; i < range.rows && *out; i++)
    *out = *constant_text(&range, i, text) != '\0';
  base_free(range.val);
  return s;
}

static lapis_status remark_constant(lapis_ctx *ctx, const char *method,
                                    const lapis_data *data)
{
  lapis_mat range;
  char text[REMARK_VALUE];
  lapis_status s = find_ranges(ctx, data, &range);
  for (int64_t i = 0; i < range.rows && s >= 0; i++)
    if (*constant_text(&range, i, text) != '\0')
      base_note(ctx, BASE_WARNING, "constant-target", "%s: %s", method, text);
  base_free(range.val);
  return s;
}

lapis_status remark_data(lapis_ctx *ctx, const lapis_method *m,
                         const void *settings, const lapis_data *data)
{
  const lapis_mat *Y = &data->Y;
  bool words = data->words.cols > 0, alone = base_ranks(ctx) == 1;
  value_count *of = NULL;
  int64_t count;
  mat_say_zeros(ctx, &data->X);
  if (base_muted(ctx) > 0 || base_is_inside(ctx) ||
      (m->reads & LAPIS_READS_Y) == 0 || Y->rows < 1 || Y->colptr != NULL)
    return LAPIS_OK;
  TRY(remark_gaps(ctx, m->name, data));
  if (method_of_numbers(m, settings))
    return remark_constant(ctx, m->name, data);
  if (Y->rows != 1 || (!words && !alone)) return LAPIS_OK;
  lapis_status s = words ? count_words(ctx, data, &of, &count)
                         : count_values(ctx, Y, &of, &count);
  if (s >= 0 && !words) remark_minus_one(ctx, m->name, of, count);
  if (s >= 0 && !words && is_measure(of, count))
    base_note(ctx, BASE_WARNING, "number-targets",
              "%s: the targets look like numbers and are taken as %" PRId64
              " classes; rr is for numbers",
              m->name, count);
  else if (s >= 0)
    remark_rare(ctx, m->name, data, of, count);
  if (s >= 0 && count == 2 && lapis_param_find(m, "positive-ratio") != NULL)
    remark_positive(ctx, m, data, of);
  base_free(of);
  return s;
}

/* ---- answers ------------------------------------------------------------*/
/* The method has this setting, and it is what it is where nobody gave it. */
static bool is_default(const lapis_solver *s, const lapis_method *m,
                       const char *name)
{
  const lapis_param *p = lapis_param_find(m, name);
  return p != NULL && param_is_default(p, s->settings);
}

/* C, where it was left open and nothing chose it. */
static bool is_one(const lapis_solver *s, const lapis_method *m,
                   const char *name)
{
  char text[32];
  const lapis_param *p = lapis_param_find(m, name);
  return p != NULL && isnan(p->value) &&
         lapis_settings_get(s->ctx, m, s->settings, name, text, sizeof text) >=
             0 &&
         strcmp(text, "1") == 0;
}

/* Two values that are known of Y, and how often; false: there are others. */
static bool two_values(const lapis_mat *Y, value_count of[2])
{
  of[0] = of[1] = (value_count){NAN, 0};
  for (int64_t j = 0; j < Y->cols; j++) {
    double y = lapis_mat_at(Y, 0, j);
    if (isnan(y)) continue;
    int i = isnan(of[0].value) || y == of[0].value ? 0 : 1;
    if (i == 1 && !isnan(of[1].value) && y != of[1].value) return false;
    of[i].value = y;
    of[i].count++;
  }
  return of[1].count > 0;
}

/* Of two values the rarer, which no sample that has it, or any other, is
 * predicted to be: right for most samples, and no answer to which are. */
lapis_status remark_answer(lapis_solver *s)
{
  const lapis_method *m = lapis_method_find(s->cls->method);
  const lapis_mat *Y = &s->data.Y;
  const lapis_mat *said = named_numbers(&s->result, "labels", 1, Y->cols);
  value_count of[2];
  char name[REMARK_VALUE];
  if (m == NULL || m->numbers || s->brief || Y->rows != 1 || said == NULL ||
      base_ranks(s->ctx) > 1 || !two_values(Y, of))
    return LAPIS_OK;
  const value_count *rare = &of[of[1].count < of[0].count];
  for (int64_t j = 0; j < Y->cols; j++)
    if (lapis_mat_at(said, 0, j) == rare->value) return LAPIS_OK;
  const char *balanced = "", *closer = "", *order = "";
  if (named_find(&s->result, "candidate_figures") ==
      NULL) /* else it is known */
    order = "; the order of the scores may still show which are";
  if (is_default(s, m, "balanced"))
    balanced = "; {balanced} makes both kinds count equally";
  if (is_default(s, m, "C") || is_one(s, m, "C"))
    closer = "; a larger {C} fits training samples closer";
  char format[512];
  (void)snprintf(format, sizeof format,
                 "%%s: no sample is predicted to be \"%%s\", which %%.0f of "
                 "%%.0f %%s%s%s%s",
                 order, balanced, closer);
  base_note(s->ctx, BASE_WARNING, "never-predicted", format, m->name,
            remark_value(&s->data, rare->value, name), rare->count,
            of[0].count + of[1].count, rare->count > 1 ? "are" : "is");
  return LAPIS_OK;
}
