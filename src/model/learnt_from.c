/* learnt_from.c - where features of a fit lie and how often they are known,
 * kept in its model, and new samples that are otherwise: metres for kilometres,
 * a point that was lost, a column that nobody filled in.
 *
 * Two texts of the model, a cell a feature: feature_range, "LOW TENTH MEDIAN
 * NINTH HIGH" or "" where no value is known, and feature_known, "KNOWN
 * SAMPLES".
 *
 * A share where a per cent was learnt lies inside the range.  Values are taken
 * for multiplied where the span from the tenth to the ninth and the median are
 * so by about the same factor, 8 at least; where the median is nothing beside
 * the span, by the span alone, of which more is asked, 30.  Samples of one kind
 * have small spans, too, but seldom medians that are as small; rows out of a
 * sorted table may have both, and then lack the tails, or are whole numbers
 * still. */
#include "model/learnt_from.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lapis/tools.h"
#include "mat/mat.h"
#include "methods/common_remarks.h"

enum { ROOM = 96, NAMED = 3 };
static const char RANGE[] = "feature_range", KNOWN[] = "feature_known";

/* ---- in a model ---------------------------------------------------------*/
static lapis_status put(lapis_ctx *ctx, lapis_model *m, const char *name,
                        char (*cell)[ROOM], int64_t count)
{
  const char **text = base_alloc_raw(ctx, count, sizeof *text);
  if (text == NULL) return LAPIS_ENOMEM;
  for (int64_t i = 0; i < count; i++) text[i] = cell[i];
  lapis_mat row = lapis_mat_text(text, 1, count);
  lapis_status s = model_put(ctx, m, name, &row);
  base_free(text);
  return s;
}

lapis_status learnt_from_keep(lapis_ctx *ctx, lapis_model *m,
                              const mat_seen *seen, int64_t features,
                              int64_t samples)
{
  model_drop(m, RANGE);
  model_drop(m, KNOWN);
  if (seen == NULL) return LAPIS_OK;
  char(*cell)[ROOM] = base_alloc(ctx, features, sizeof *cell);
  if (cell == NULL) return LAPIS_ENOMEM;
  for (int64_t i = 0; i < features; i++)
    if (seen[i].low <= seen[i].high)
      (void)snprintf(cell[i], ROOM, "%.9g %.9g %.9g %.9g %.9g", seen[i].low,
                     seen[i].tenth, seen[i].median, seen[i].ninth,
                     seen[i].high);
  lapis_status s = put(ctx, m, RANGE, cell, features);
  for (int64_t i = 0; i < features; i++)
    (void)snprintf(cell[i], ROOM, "%" PRId64 " %" PRId64, seen[i].known,
                   samples);
  if (s >= 0) s = put(ctx, m, KNOWN, cell, features);
  base_free(cell);
  return s;
}

bool learnt_from_is_kept(const lapis_model *m)
{
  return named_find(&m->learned, RANGE) != NULL;
}

/* The numbers of a feature; false: somebody wrote something else. */
static bool get(const lapis_mat *text, int64_t i, int64_t features, int count,
                double *to)
{
  if (text == NULL || text->dtype != LAPIS_TEXT || text->rows != 1 ||
      text->cols != features)
    return false;
  const char *at = ((const char *const *)text->val)[i * text->ld];
  for (int k = 0; k + 1 < count; k++)
    if (!lapis_number_read(at, &at, &to[k]) || *at++ != ' ') return false;
  return lapis_number_read(at, NULL, &to[count - 1]);
}

static bool get_range(const lapis_mat *text, int64_t i, int64_t features,
                      mat_seen *to)
{
  double x[5];
  if (!get(text, i, features, 5, x)) return false;
  *to = (mat_seen){
      .low = x[0], .tenth = x[1], .median = x[2], .ninth = x[3], .high = x[4]};
  return true;
}

/* ---- against new samples ------------------------------------------------*/
typedef struct remarks { /* of a feature, as far as three are named */
  lapis_ctx *ctx;
  const lapis_data *data;
  int64_t multiplied, outside, unknown, elsewhere;
  char where[NAMED * (REMARK_VALUE + 2)]; /* who lie elsewhere */
} remarks;

static double span_of(const mat_seen *f)
{
  return f->ninth - f->tenth;
}

/* How far the tails reach, which hardly any rows of a sorted table have. */
static double tails_of(const mat_seen *f)
{
  return log((f->high - f->low) / span_of(f));
}

static bool is_whole(const mat_seen *f)
{
  const double x[] = {f->low, f->tenth, f->median, f->ninth, f->high};
  for (int k = 0; k < 5; k++)
    if (x[k] != floor(x[k])) return false;
  return true;
}

static bool has_middle(const mat_seen *f)
{
  return f->tenth > 0 || f->ninth < 0 || fabs(f->median) >= span_of(f) / 4;
}

static bool is_about(double a, double b, double times)
{
  return a / b < times && b / a < times && a / b > 0;
}

/* The factor, or 0: they are not.  A tenth of few values says little. */
static double multiplied_by(const mat_seen *learnt, const mat_seen *here)
{
  enum { LEAST = 20 };
  static const double TIMES = 8, TIMES_ALONE = 30, TAILS = .4;
  bool vary = learnt->tenth < learnt->median &&
              learnt->median < learnt->ninth && here->tenth < here->median &&
              here->median < here->ninth;
  if (!vary || here->known < LEAST) return 0;
  double times = span_of(here) / span_of(learnt);
  double off = fmax(times, 1 / times);
  if (!isfinite(off) || off < TIMES ||
      tails_of(here) < TAILS * tails_of(learnt) ||
      (times < 1 && is_whole(learnt) && is_whole(here)))
    return 0;
  if (!has_middle(learnt))
    return off >= TIMES_ALONE && !has_middle(here) ? times : 0;
  double middle = here->median / learnt->median, edge = times;
  if (learnt->tenth > 0) edge = here->tenth / learnt->tenth;
  return is_about(middle, times, 2) && is_about(edge, times, 4) ? middle : 0;
}

/* 97.8 -> 98, 1012 -> 1000 */
static double two_digits(double x)
{
  double unit = pow(10, floor(log10(x)) - 1);
  return round(x / unit) * unit;
}

/* Half of the values are beyond nine tenths of those learnt from: samples are
 * of another kind, and nothing that was measured need hold for them. */
static void check_middle(remarks *r, int64_t i, const mat_seen *here,
                         const mat_seen *learnt)
{
  enum { LEAST = 30 };
  char name[REMARK_VALUE];
  bool off = here->median > learnt->ninth || here->median < learnt->tenth;
  bool vary = learnt->low < learnt->high && learnt->tenth <= learnt->ninth;
  if (here->known < LEAST || !vary || !off) return;
  if (r->elsewhere++ >= NAMED) return;
  size_t used = strlen(r->where);
  (void)snprintf(r->where + used, sizeof r->where - used, "%s%s",
                 used > 0 ? ", " : "", remark_feature(r->data, i, name));
}

static bool check_factor(remarks *r, int64_t i, const mat_seen *here,
                         const mat_seen *learnt)
{
  char name[REMARK_VALUE];
  double times = multiplied_by(learnt, here);
  if (times == 0) return false;
  if (r->multiplied++ < NAMED)
    base_note(
        r->ctx, BASE_WARNING, "values-multiplied",
        "predict: %s: values are about %.10g times %s here (eight of ten "
        "in %.3g .. %.3g) than those learnt from (%.3g .. %.3g); are they "
        "in the same unit?",
        remark_feature(r->data, i, name), two_digits(fmax(times, 1 / times)),
        times < 1 ? "smaller" : "larger", here->tenth, here->ninth,
        learnt->tenth, learnt->ninth);
  return true;
}

/* By more than the whole range; where all is positive, of logarithms, too:
 * tails are long. */
static bool is_far(double x, double low, double high)
{
  double off = fmax(low - x, x - high);
  if (!(off > high - low)) return false;
  return !(low > 0 && x > 0) ||
         fmax(log(low / x), log(x / high)) > log(high / low);
}

/* One value is far, or half of them, and no few, are outside by a tenth of the
 * range: a dark glass on every eye is not another unit. */
static bool check_range(remarks *r, int64_t i, const mat_seen *here,
                        const mat_seen *learnt)
{
  enum { LEAST = 5 };
  const lapis_mat *X = &r->data->X;
  double low = learnt->low, high = learnt->high, wide = high - low;
  bool far = is_far(here->low, low, high) || is_far(here->high, low, high);
  int64_t outside = 0, well_outside = 0;
  char name[REMARK_VALUE];
  bool within = here->low >= low && here->high <= high;
  if (!(wide > 0) || here->known == 0 || within) return false;
  for (int64_t j = 0; j < X->cols; j++) {
    double x = lapis_mat_at(X, i, j), off = fmax(low - x, x - high);
    outside += off > 1e-6 * wide;
    well_outside += off > wide / 10;
  }
  if (!far && (here->known < LEAST || 2 * well_outside < here->known))
    return false;
  if (r->outside++ < NAMED)
    base_note(r->ctx, BASE_WARNING, "values-outside",
              "predict: %s: of %" PRId64 " values %" PRId64
              " lie outside %g .. %g, where the model has learnt (%g .. %g "
              "here); is it in the same unit?",
              remark_feature(r->data, i, name), here->known, outside, low, high,
              here->low, here->high);
  return true;
}

/* Bytes of the column that --one-hot made a feature of: "plan" of "plan=pro".
 */
static size_t column_size(const char *name)
{
  const char *value = strchr(name, '=');
  return value == NULL ? 0 : (size_t)(value - name);
}

/* Features of one column of words are known together, or not; of words that
 * nobody has met more was said. */
static void check_known(remarks *r, int64_t i, const mat_seen *here,
                        known_share learnt)
{
  char name[REMARK_VALUE];
  if (lapis_one_column(&r->data->feature_names, i)) return;
  known_share now = {(double)(here->known + here->unmet),
                     (double)r->data->X.cols};
  if (!(now.known * learnt.all < learnt.known * now.all) ||
      !remark_shares_differ(now, learnt))
    return;
  (void)remark_feature(r->data, i, name);
  if (column_size(name) > 0) name[column_size(name)] = '\0';
  if (r->unknown++ < NAMED)
    base_note(r->ctx, BASE_WARNING, "values-unknown",
              "predict: %s is known for %" PRId64 " of %" PRId64
              " samples here and for %.0f "
              "%% of those learnt from: what was measured there, as accuracy "
              "and coverage, may not hold here",
              name, here->known, r->data->X.cols,
              100 * learnt.known / learnt.all);
}

static void say_more(const remarks *r)
{
  if (r->multiplied > NAMED)
    base_note(r->ctx, BASE_WARNING, "values-multiplied",
              "predict: so are values of %" PRId64 " feature(s) more",
              r->multiplied - NAMED);
  if (r->outside > NAMED)
    base_note(r->ctx, BASE_WARNING, "values-outside",
              "predict: so do values of %" PRId64 " feature(s) more",
              r->outside - NAMED);
  if (r->elsewhere > 0)
    base_note(r->ctx, BASE_NOTE, "values-elsewhere",
              "predict: half of the values here are beyond nine tenths of "
              "those learnt from (of %" PRId64
              " feature(s): %s%s): what was measured there, as accuracy and "
              "coverage, may not hold here",
              r->elsewhere, r->where, r->elsewhere > NAMED ? ", ..." : "");
  if (r->unknown > NAMED)
    base_note(r->ctx, BASE_WARNING, "values-unknown",
              "predict: %" PRId64
              " features more are known for fewer samples here",
              r->unknown - NAMED);
}

/* As they are called here, or else in the fit. */
static void find_names(const lapis_model *m, lapis_data *data)
{
  const lapis_mat *names = named_find(&m->learned, "feature_names");
  if (data->feature_names.cols == 0 && names != NULL &&
      names->dtype == LAPIS_TEXT)
    data->feature_names = *names;
}

lapis_status learnt_from_check(lapis_ctx *ctx, const lapis_model *m,
                               const lapis_data *data)
{
  const lapis_mat *range = named_find(&m->learned, RANGE);
  const lapis_mat *known = named_find(&m->learned, KNOWN);
  mat_seen *here;
  if ((range == NULL && known == NULL) || base_muted(ctx) > 0 ||
      base_is_inside(ctx))
    return LAPIS_OK;
  TRY(mat_see(ctx, &data->X, &here));
  lapis_data named = *data;
  find_names(m, &named);
  remarks r = {.ctx = ctx, .data = &named};
  for (int64_t i = 0; here != NULL && i < data->X.rows; i++) {
    mat_seen learnt;
    double of[2];
    if (get_range(range, i, data->X.rows, &learnt) &&
        !check_factor(&r, i, &here[i], &learnt) &&
        !check_range(&r, i, &here[i], &learnt))
      check_middle(&r, i, &here[i], &learnt);
    if (get(known, i, data->X.rows, 2, of))
      check_known(&r, i, &here[i], (known_share){of[0], of[1]});
  }
  say_more(&r);
  base_free(here);
  return LAPIS_OK;
}
