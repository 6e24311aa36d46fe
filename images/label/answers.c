/* answers.c - label by auto: who answers, and what it doubts.
 *
 * Candidates of mc, logistic regressions and trees predict labels that are
 * hidden as labels are missing; whoever predicts them best answers.  Doubts are
 * of what answers: what it says of each known label while that is hidden. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "images/label/label.h"
#include "lapis/choose.h"

enum { FEW_LABELS = 6 };
static const double LEAST = 1e-12; /* a probability is above */

/* ---- comparing ----------------------------------------------------------*/
static lapis_status get(const lapis_solver *s, const char *name, lapis_mat *out)
{
  const char *at;
  *out = (lapis_mat){.cols = 0};
  for (int i = 0; (at = lapis_result_name(s, i)) != NULL; i++)
    if (strcmp(at, name) == 0) return lapis_result_get(s, name, out);
  return LAPIS_OK;
}

const lapis_mat *label_figures(const lapis_solver *s, lapis_mat *out,
                               int64_t *chosen)
{
  lapis_mat place;
  if (s == NULL || get(s, "candidate_figures", out) < 0 || out->cols == 0 ||
      get(s, "chosen", &place) < 0)
    return NULL;
  *chosen = (int64_t)lapis_mat_at(&place, 0, 0);
  return out;
}

/* mu-rel states a problem of mc, and places are found in what mc repairs. */
static const char *who_competes(const label_run *w)
{
  if (w->set.candidates != NULL) return w->set.candidates;
  return w->set.where || !isnan(w->set.mu_rel) ? "mc" : NULL;
}

static lapis_auto_settings settings_of(const label_run *w)
{
  lapis_auto_settings set = lapis_auto_defaults();
  set.candidates = who_competes(w);
  set.targets = LAPIS_TARGETS_CLASSES;
  set.variant = w->variant;
  set.map = w->map;
  set.lambda = w->set.lambda;
  set.gamma = w->set.gamma;
  set.mu_rel = w->set.mu_rel;
  set.class_features = w->set.where && w->given.K > 1;
  set.kept_as = w->kept_as;
  set.compare_only = true;
  return set;
}

lapis_status label_compare(label_run *w)
{
  lapis_auto_settings set = settings_of(w);
  TRY(lapis_auto_new(w->flow->ctx, &w->flow->data, &set, &w->chooser));
  return lapis_solve(w->chooser);
}

/* ---- the answer ---------------------------------------------------------*/
static lapis_status take_scores(label_run *w)
{
  lapis_mat p;
  TRY(get(w->flow->solver, "probabilities", &p));
  if (p.cols == 0) { /* nothing could be compared */
    TRY(lapis_result_get(w->flow->solver, "scores", &p));
    flow_publish(w->flow, "scores", p);
    return LAPIS_OK;
  }
  w->scores = malloc((size_t)(p.rows * p.cols) * sizeof *w->scores);
  if (w->scores == NULL) return flow_no_memory(w->flow);
  for (int64_t k = 0; k < p.rows * p.cols; k++) {
    double q = lapis_mat_at(&p, k % p.rows, k / p.rows);
    q = fmin(fmax(q, LEAST), 1 - LEAST);
    w->scores[k] = log(q) - log1p(-q);
  }
  flow_publish(w->flow, "scores", lapis_mat_f64(w->scores, p.rows, p.cols));
  flow_publish(w->flow, "probabilities", p);
  return LAPIS_OK;
}

/* Images of which a person said that they have no label. */
static bool is_checked_open(const label_run *w, int64_t i)
{
  return w->checked[i] && !w->known[i];
}

static bool lacks_label(const label_run *w, int64_t i)
{
  for (int64_t k = 0; k < w->given.rows; k++)
    if (isnan(w->Y[i * w->given.rows + k])) return true;
  return false;
}

static int64_t checked_open(const label_run *w)
{
  int64_t count = 0;
  for (int64_t i = 0; i < w->flow->n; i++) count += is_checked_open(w, i);
  return count;
}

/* How many images a person can be asked about. */
static int64_t unlabelled(const label_run *w)
{
  int64_t count = -checked_open(w);
  for (int64_t i = 0; i < w->flow->n; i++) count += lacks_label(w, i);
  return count;
}

/* How many of them --ask names: all, where it is more. */
static int64_t to_ask(const label_run *w)
{
  int64_t most = unlabelled(w);
  return w->set.ask < most ? w->set.ask : most;
}

static void say_all_asked(const label_run *w)
{
  int64_t all = unlabelled(w);
  if (w->set.ask <= all) return;
  if (all == 0)
    flow_remark(w->flow, "all-asked",
                "no image lacks a label: {ask} has none to name");
  else
    flow_remark(w->flow, "all-asked",
                "%" PRId64 " image%s a label: {ask} names all of them", all,
                all > 1 ? "s lack" : " lacks");
}

/* Nobody is asked twice. */
static lapis_status take_asked(label_run *w)
{
  lapis_mat index, margin;
  say_all_asked(w);
  TRY(get(w->flow->solver, "ask_index", &index));
  TRY(get(w->flow->solver, "ask_margin", &margin));
  if (index.cols == 0) return LAPIS_OK;
  w->asked = calloc((size_t)index.cols, sizeof *w->asked);
  w->asked_margin = calloc((size_t)index.cols, sizeof *w->asked_margin);
  if (w->asked == NULL || w->asked_margin == NULL)
    return flow_no_memory(w->flow);
  for (int64_t k = 0; k < index.cols && w->asked_count < to_ask(w); k++) {
    int64_t i = (int64_t)lapis_mat_at(&index, 0, k);
    if (is_checked_open(w, i)) continue;
    w->asked[w->asked_count] = i;
    w->asked_margin[w->asked_count++] = lapis_mat_at(&margin, 0, k);
  }
  flow_publish(w->flow, "ask_index",
               lapis_mat_i64(w->asked, 1, w->asked_count));
  flow_publish(w->flow, "ask_margin",
               lapis_mat_f64(w->asked_margin, 1, w->asked_count));
  return LAPIS_OK;
}

/* The next solve of auto, which keeps what was compared. */
static lapis_status go_on(label_run *w, bool answer, int64_t held_out)
{
  lapis_auto_settings set = settings_of(w);
  set.compare_only = !answer;
  set.held_out = held_out;
  set.coverage = answer ? w->set.coverage : 0;
  set.ask = answer && to_ask(w) > 0 ? to_ask(w) + checked_open(w) : 0;
  TRY(lapis_solver_retune(w->chooser, &set));
  return lapis_solve(w->chooser);
}

lapis_status label_complete(label_run *w)
{
  static const char *const passed[] = {
      "low_rank", "candidates",   "candidate_figures", "chosen",
      "hidden",   "classes_kept", "kept_values",       "choice"};
  lapis_mat figures, names;
  int64_t chosen;
  flow_allow(w->flow, 1);
  lapis_status s = go_on(w, true, 0);
  if (s < 0 || s == LAPIS_CANCELLED) return s;
  w->flow->solver = w->chooser;
  w->chooser = NULL;
  flow_answers(w->flow);
  TRY(take_scores(w));
  TRY(take_asked(w));
  for (size_t k = 0; k < sizeof passed / sizeof *passed; k++)
    (void)flow_pass_on(w->flow, w->flow->solver, passed[k]);
  if (label_figures(w->flow->solver, &figures, &chosen) != NULL &&
      get(w->flow->solver, "candidates", &names) >= 0) {
    w->by = ((const char *const *)names.val)[chosen * names.rows];
    flow_publish(w->flow, "by", lapis_mat_text(&w->by, 1, 1));
  }
  lapis_status next = label_answer(w);
  return next < 0 ? next : s;
}

/* ---- doubts -------------------------------------------------------------*/
static void say_doubts(label_run *w)
{
  char text[320];
  if (w->doubts[2] > 0)
    flow_remark(w->flow, "wrong-labels", "%s",
                lapis_doubts_text(w->doubts, text, sizeof text));
}

/* Lists them, and keeps what the page draws.  What a person has checked is
 * neither doubted nor counted. */
static lapis_status list(label_run *w, double *p)
{
  int64_t K = w->given.K, cells = w->flow->n * K;
  w->held_out = malloc((size_t)cells * sizeof *w->held_out);
  w->add = calloc((size_t)cells, 1);
  if (w->add == NULL || w->held_out == NULL) return flow_no_memory(w->flow);
  for (int64_t k = 0; k < cells; k++) {
    double q = fmin(fmax(p[k], LEAST), 1 - LEAST);
    w->held_out[k] = isnan(p[k]) ? NAN : log(q) - log1p(-q);
  }
  for (int64_t k = 0; k < cells; k++)
    if (w->checked[k / K]) p[k] = NAN;
  lapis_mat said = lapis_mat_f64(p, K, w->flow->n);
  TRY(lapis_doubts(w->flow->ctx, &w->flow->data.Y, w->flow->data.group, &said,
                   w->set.suspects, w->suspect, w->doubt, &w->suspects,
                   w->doubts));
  for (int64_t k = 0; k < w->suspects; k++) {
    const int64_t *at = &w->suspect[2 * k];
    w->add[k] = w->given.kind == LABEL_MANY &&
                !(w->Y[at[0] * w->given.rows + at[1]] > 0);
  }
  flow_publish(w->flow, "held_out", lapis_mat_f64(w->held_out, K, w->flow->n));
  return LAPIS_OK;
}

/* What predicts hidden labels no better than by their shares has nothing to say
 * against a given one; of samples that are apart, some labels more than a few
 * may still show one of them wrong. */
static bool may_doubt(label_run *w, const lapis_solver *s)
{
  lapis_mat figures, hidden;
  int64_t chosen;
  bool apart = w->given.group == NULL;
  if (label_figures(s, &figures, &chosen) == NULL) {
    flow_remark(w->flow, "not-looked",
                "wrong labels are not looked for: too few labels are given to "
                "hold some out");
    return false;
  }
  if (get(s, "hidden", &hidden) < 0) return false;
  bool few = lapis_mat_at(&hidden, 0, 0) < FEW_LABELS;
  if (lapis_mat_at(&figures, LAPIS_FIGURE_LEARNT, chosen) > 0 ||
      (apart && !few))
    return true;
  flow_remark(w->flow, "not-looked",
              "wrong labels are not looked for: hidden labels are not clearly "
              "predicted better than by guessing, so nothing speaks against a "
              "given one");
  return false;
}

/* LAPIS_EINVAL: there is nothing to doubt by. */
static lapis_status hold_out(label_run *w, double *p)
{
  lapis_mat held;
  if (!may_doubt(w, w->chooser)) return LAPIS_EINVAL;
  lapis_status s = go_on(w, false, w->set.folds);
  if (s != LAPIS_OK) return s;
  TRY(get(w->chooser, "held_out", &held));
  if (held.cols == 0) return LAPIS_EINVAL; /* fewer groups than folds */
  memcpy(p, held.val, (size_t)(held.rows * held.cols) * sizeof *p);
  return LAPIS_OK;
}

/* How the classes that doubted images rather have are called. */
static lapis_status name_rather(label_run *w)
{
  w->rather = calloc((size_t)w->suspects + 1, sizeof *w->rather);
  if (w->rather == NULL) return flow_no_memory(w->flow);
  for (int64_t k = 0; k < w->suspects; k++)
    w->rather[k] = w->given.name[w->suspect[2 * k + 1]];
  flow_publish(w->flow, "suspect_rather",
               lapis_mat_text(w->rather, 1, w->suspects));
  return LAPIS_OK;
}

static lapis_status publish(label_run *w)
{
  say_doubts(w);
  flow_publish(w->flow, "suspect_index",
               lapis_mat_i64(w->suspect, 2, w->suspects));
  flow_publish(w->flow, "suspect_margin",
               lapis_mat_f64(w->doubt, 1, w->suspects));
  if (w->given.kind == LABEL_MANY)
    flow_publish(w->flow, "suspect_add", lapis_mat_u8(w->add, 1, w->suspects));
  flow_publish(w->flow, "expected_wrong", lapis_mat_i64(w->doubts, 1, 4));
  return w->given.kind == LABEL_CLASS ? name_rather(w) : LAPIS_OK;
}

lapis_status label_doubts(label_run *w)
{
  int64_t cells = w->flow->n * w->given.K;
  if (w->set.suspects == 0) return LAPIS_OK;
  w->suspect = calloc((size_t)cells, 2 * sizeof *w->suspect);
  w->doubt = calloc((size_t)cells, sizeof *w->doubt);
  double *p = malloc((size_t)cells * sizeof *p);
  lapis_status s = LAPIS_OK;
  if (p == NULL) return flow_no_memory(w->flow);
  if (w->suspect == NULL || w->doubt == NULL) s = flow_no_memory(w->flow);
  for (int64_t k = 0; s >= 0 && k < cells; k++) p[k] = NAN;
  flow_allow(w->flow, .5);
  if (s >= 0) s = hold_out(w, p);
  bool none = s == LAPIS_EINVAL;
  if (s == LAPIS_TIME_LIMIT)
    flow_remark(w->flow, "not-looked",
                "there was no time left to look for wrong labels; give a "
                "larger {time-limit}");
  if (s == LAPIS_OK) {
    lapis_status listed = list(w, p);
    if (listed >= 0) listed = publish(w);
    if (listed < 0) s = listed;
  }
  free(p);
  if (none) return LAPIS_OK;
  return s < 0 || s == LAPIS_CANCELLED ? s : LAPIS_OK;
}
