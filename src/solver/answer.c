/* answer.c - the last look at an answer, the same for every method.
 *
 * Where the numbers of the data lie far outside what squares of doubles can
 * hold, steps underflow or overflow and a method may end with NaN, or with a
 * bound above its own objective.  Neither is an answer: NaN is an error, and
 * what is not proved is not called solved. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "solver/answer.h"

/* A bound is computed to this part of the objective at worst: sums of 1e9
 * terms in doubles. */
static const double ROUNDING = 1e-9;

/* Arrays with NaN where something is unknown: values that are missing in the
 * data, columns of the history that a method has not, scores not given, what
 * could not be compared, is no probability, or has no words (heat); and
 * intervals, which may have no end. */
static bool may_have_holes(const char *name)
{
  static const char *const names[] = {
      "history",           "sparse",  "filled",
      "candidate",         "tried",   "held_out",
      "candidate_figures", "boxes",   "heat",
      "kinds_judged",      "mean",    "deviation",
      "fold_values",       "set_low", "set_high",
      "suspect_margin"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(name, names[i]) == 0) return true;
  return false;
}

static bool finite_column(const lapis_mat *m, int64_t j)
{
  const double *d = (const double *)m->val + j * m->ld;
  const float *f = (const float *)m->val + j * m->ld;
  for (int64_t i = 0; i < m->rows; i++)
    if (!isfinite(m->dtype == LAPIS_F64 ? d[i] : (double)f[i])) return false;
  return true;
}

bool answer_is_finite(const lapis_mat *m)
{
  bool numbers = m->dtype == LAPIS_F64 || m->dtype == LAPIS_F32;
  for (int64_t j = 0; numbers && m->colptr == NULL && j < m->cols; j++)
    if (!finite_column(m, j)) return false;
  return true;
}

static lapis_status check_arrays(const lapis_solver *s)
{
  for (int i = 0; i < s->result.count; i++) {
    const char *name = s->result.item[i].name;
    if (may_have_holes(name) || answer_is_finite(&s->result.item[i].mat))
      continue;
    return lapis_fail(s->ctx, LAPIS_ENUMERIC,
                      "%s: the answer's '%s' is not finite: the numbers of the "
                      "data, or a setting, are too large or too small; bring "
                      "them near 1 (--map standard)",
                      s->cls->method, name);
  }
  return LAPIS_OK;
}

/* Solved means a bound below the objective, and near it.  A method that has
 * no bound leaves gap and dual NaN; a gap of no number beside a bound proves
 * nothing. */
static bool is_proved(const lapis_solver *s)
{
  const lapis_info *info = &s->info;
  if (isnan(info->gap)) return isnan(info->dual);
  return info->gap >= -ROUNDING && isfinite(info->gap);
}

/* Rounding ended it while the bound was not even half of the objective: such a
 * point may be anything, and what was learnt from it is no model. */
static const double HALF_PROVED = 0.5;
static bool proves_nothing(const lapis_solver *s, lapis_status status)
{
  return status == LAPIS_PRECISION_FLOOR && s->info.gap > HALF_PROVED;
}

static lapis_status prove_nothing(lapis_solver *s)
{
  s->result.count = 0;
  return lapis_fail(s->ctx, LAPIS_ENUMERIC,
                    "%s: rounding ended it with nothing proved (gap %.2g): the "
                    "features, or the settings, are of very different sizes; "
                    "--map standard brings features near 1",
                    s->cls->method, s->info.gap);
}

/* What a tool deep inside met says nothing to who called the method. */
static lapis_status explain(const lapis_solver *s, lapis_status status)
{
  const char *said = lapis_ctx_error(s->ctx);
  size_t length = strlen(s->cls->method);
  if (status != LAPIS_ENUMERIC || strncmp(said, s->cls->method, length) == 0)
    return status;
  char inside[256];
  (void)snprintf(inside, sizeof inside, "%s", said);
  return lapis_fail(s->ctx, status,
                    "%s: the numbers of the data, or a setting, are too large "
                    "or too small (%s); bring them near 1 (--map standard)",
                    s->cls->method, inside);
}

lapis_status answer_check(lapis_solver *s, lapis_status status)
{
  if (status < 0) return explain(s, status);
  lapis_status wrong = check_arrays(s);
  if (wrong < 0) {
    s->result.count = 0; /* what is wrong is not published */
    return wrong;
  }
  if (proves_nothing(s, status)) return prove_nothing(s);
  if (isinf(s->info.residual)) s->info.residual = NAN; /* none was measured */
  if (status != LAPIS_OK || is_proved(s)) return status;
  if (isnan(s->info.objective)) return prove_nothing(s);
  char what[96] = "its gap is not a finite number";
  if (isfinite(s->info.gap))
    snprintf(what, sizeof what,
             "the bound lies above the objective by %.1e of it, which no "
             "optimum does",
             -s->info.gap);
  base_note(s->ctx, BASE_WARNING, "unproved",
            "%s: not solved: %s; the numbers of the data, or a setting, are "
            "too large or too small",
            s->cls->method, what);
  return LAPIS_PRECISION_FLOOR;
}
