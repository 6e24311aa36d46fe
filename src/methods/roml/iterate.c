/* iterate.c - the iteration from a start to a fixed point (roml.c has the
 * problem and what is known of its end). */
#include <math.h>
#include <string.h>

#include "methods/roml/roml.h"

enum { PATIENCE = 4, ASK_AGAIN = 20 };

static const double ROUNDING = 1e-12;

static int64_t entries(const roml_state *s)
{
  return s->at.rows * s->at.cols;
}

/* L <- SVT(D - E - Y/rho, 1/rho) */
static lapis_status update_low_rank(roml_state *s)
{
  op_alm a = roml_alm(s);
  if (!s->ahead) op_alm_shift(&a, 1 / s->rho);
  s->ahead = false;
  return op_svt_apply(s->svt, &s->W, 1 / s->rho, &s->L, &s->low_rank);
}

/* E <- soft(D - L - Y/rho, lambda/rho); W <- M = L + E + Y/rho; |E|_1 */
static double update_sparse(roml_state *s)
{
  op_alm a = roml_alm(s);
  return op_alm_sparse(&a, 1 / s->rho, s->lambda / s->rho);
}

/* P <- assignments at M; which images changed is found by comparing. */
static lapis_status update_matches(roml *w, roml_state *s, int64_t *changed)
{
  int64_t n = s->at.n;
  size_t size = (size_t)n * sizeof *s->pick;
  int64_t *old = w->picks;
  memcpy(old, s->pick, (size_t)w->p.K * size);
  TRY(roml_match(s->matcher, s->W.data, w->set.fix_first ? 1 : 0, s->pick));
  *changed = 0;
  for (int64_t k = 0; k < w->p.K; k++) {
    bool same = true;
    for (int64_t j = 0; j < n; j++) {
      if (old[k * n + j] == s->pick[k * n + j]) continue;
      roml_fill_slot(&w->p, s, k, j);
      same = false;
    }
    *changed += !same;
  }
  return LAPIS_OK;
}

/* Y <- Y + rho (L + E - D); |L + E - D| / |D|; W is made for the next L. */
static double update_multiplier(roml_state *s)
{
  op_alm a = roml_alm(s);
  double rho = s->rho;
  s->rho *= s->growth;
  op_alm_sums sums = op_alm_multiply(&a, rho, 1 / s->rho);
  s->ahead = true;
  return sqrt(sums.residual / fmax(sums.size, 1e-300));
}

/* Whether P is a fixed point at this rho and above. */
static lapis_status ask_fixed(roml *w, roml_state *s, bool *fixed)
{
  double nuclear, *W = s->W.data, t = 1 / s->rho;
  const double *D = s->D.data;
  s->ahead = false;
  TRY(roml_nuclear(s, &nuclear, fixed));
  if (!*fixed) return LAPIS_OK;
  for (int64_t i = 0; i < entries(s); i++) W[i] = D[i] - t * W[i];
  size_t size = (size_t)(w->p.K * s->at.n) * sizeof *s->pick;
  memcpy(w->picks, s->pick, size);
  TRY(roml_match(s->matcher, W, w->set.fix_first ? 1 : 0, w->picks));
  *fixed = memcmp(w->picks, s->pick, size) == 0;
  if (!*fixed) roml_matcher_forget(s->matcher);
  return LAPIS_OK;
}

lapis_status roml_step(roml *w, roml_state *s, roml_progress *now)
{
  TRY(update_low_rank(s));
  now->objective = s->lambda * update_sparse(s) + s->low_rank.nuclear;
  TRY(update_matches(w, s, &now->changed));
  now->residual = update_multiplier(s);
  return LAPIS_OK;
}

static lapis_status record(roml *w, const roml_state *s,
                           const roml_progress *now)
{
  loop *l = &w->base.loop;
  double row[] = {now->objective, now->residual, (double)s->low_rank.rank,
                  (double)now->changed, s->rho / s->growth};
  TRY(loop_record(l, row));
  base_say(l->ctx, 2,
           "roml: %" PRId64 " objective %.8g residual %.2e, %" PRId64
           " images changed",
           l->iter, now->objective, now->residual, now->changed);
  roml_show(w, now->objective, now->residual);
  return LAPIS_OK;
}

static void from_nothing(roml_state *s)
{
  s->now = (roml_progress){.residual = INFINITY};
  s->still = 0;
  s->ask = PATIENCE;
  memset(s->E.data, 0, (size_t)entries(s) * sizeof(double));
  memset(s->Y.data, 0, (size_t)entries(s) * sizeof(double));
}

lapis_status roml_iterate(roml *w, roml_state *s, bool resumed)
{
  loop *l = &w->base.loop;
  bool fixed = false;
  if (!resumed) from_nothing(s);
  s->ahead = false;
  roml_matcher_forget(s->matcher);
  while (!fixed && !(s->now.residual <= w->set.stop.tol) && loop_next(l)) {
    TRY(roml_step(w, s, &s->now));
    TRY(record(w, s, &s->now));
    s->still = s->now.changed == 0 ? s->still + 1 : 0;
    if (s->still == 0) s->ask = PATIENCE;
    if (s->still < s->ask) continue;
    s->ask = s->still + ASK_AGAIN;
    TRY(ask_fixed(w, s, &fixed));
  }
  w->base.info.residual = l->iter == 0 || fixed ? 0 : s->now.residual;
  return LAPIS_OK;
}

/* min |L|_* + lambda |E|_1 at the pick, which decides L and E. */
static lapis_status settle(roml *w, roml_state *s, double *objective)
{
  bool clean;
  roml_fill(&w->p, s);
  TRY(roml_nuclear(s, objective, &clean));
  if (!clean) return roml_fit(s, s->lambda, &roml_exactly, objective);
  memset(s->E.data, 0, (size_t)entries(s) * sizeof(double));
  return la_copy(&s->h, &s->D, &s->L);
}

/* n different features of every image. */
static bool are_picks(const roml *w, const int64_t *pick, int64_t n)
{
  for (int64_t k = 0; k < w->p.K; k++, pick += n)
    for (int64_t j = 0; j < n; j++) {
      if (pick[j] < 0 || pick[j] >= roml_count(&w->p, k)) return false;
      for (int64_t i = 0; i < j; i++)
        if (pick[i] == pick[j]) return false;
    }
  return true;
}

/* L is made from D, E and Y, and D from the pick. */
static lapis_status resume(roml *w, roml_state *s, bool *resumed)
{
  loop *l = &w->base.loop;
  int64_t picks = w->p.K * s->at.n;
  w->chosen = w->invariance;
  loop_keep_whole(l, "invariance", &w->chosen, 1, w->chosen, w->chosen);
  loop_keep_whole(l, "pick", s->pick, picks, 0, LOOP_MOST);
  loop_keep_whole(l, "start", s->kept, picks, 0, LOOP_MOST);
  la_keep(l, "E", &s->E);
  la_keep(l, "Y", &s->Y);
  la_keep(l, "L", &s->L);
  loop_keep_positive(l, "rho", &s->rho, 1);
  loop_keep_positive(l, "growth", &s->growth, 1);
  loop_keep(l, "before", &s->before, 1);
  loop_keep(l, "objective", &s->now.objective, 1);
  loop_keep(l, "residual", &s->now.residual, 1);
  loop_keep_whole(l, "changed", &s->now.changed, 1, 0, w->p.K);
  loop_keep_whole(l, "still", &s->still, 1, 0, LOOP_MOST);
  loop_keep_whole(l, "ask", &s->ask, 1, 0, LOOP_MOST);
  TRY(loop_resume(l, resumed));
  if (!*resumed) return LAPIS_OK;
  if (!are_picks(w, s->pick, s->at.n)) return loop_refuse(l, "pick");
  if (!are_picks(w, s->kept, s->at.n)) return loop_refuse(l, "start");
  roml_fill(&w->p, s);
  return LAPIS_OK;
}

/* By the objective, or of points by how alike the shapes are that they pick,
 * which was shown to agree with the truth (align.c). */
static lapis_status end_is_better(roml *w, roml_state *s, double objective,
                                  bool *better)
{
  double end = objective, start = s->before;
  size_t size = (size_t)(w->p.K * s->at.n) * sizeof *s->pick;
  if (w->by_shape) {
    TRY(roml_shape_cost(s, &end));
    memcpy(w->picks, s->pick, size);
    memcpy(s->pick, s->kept, size);
    roml_fill(&w->p, s);
    TRY(roml_shape_cost(s, &start));
    memcpy(s->pick, w->picks, size);
    roml_fill(&w->p, s);
  }
  *better = end <= start * (1 + ROUNDING);
  if (!*better)
    base_say(w->base.ctx, 1, "roml: back to the start, %s %.8g < %.8g",
             w->by_shape ? "shape cost" : "objective", start, end);
  return LAPIS_OK;
}

lapis_status roml_run(roml *w, roml_state *s, double *objective)
{
  bool resumed = false;
  size_t size = (size_t)(w->p.K * s->at.n) * sizeof *s->pick;
  if (w->whole) TRY(resume(w, s, &resumed));
  if (!resumed) {
    TRY(roml_start(w, s));
    if (w->base.loop.status != LAPIS_OK) /* half a start is not gone on from */
      loop_keep_no_more(&w->base.loop);
    memcpy(s->kept, s->pick, size);
    TRY(settle(w, s, &s->before));
  }
  TRY(roml_iterate(w, s, resumed));
  loop_keep_no_more(&w->base.loop);
  TRY(settle(w, s, objective));
  bool better;
  TRY(end_is_better(w, s, *objective, &better));
  if (better) return LAPIS_OK;
  memcpy(s->pick, s->kept, size);
  return settle(w, s, objective);
}

lapis_status roml_resize(roml *w, int64_t n)
{
  roml_state_free(&w->s);
  base_free(w->picks);
  w->picks = base_alloc(w->base.ctx, w->p.K * n, sizeof *w->picks);
  if (w->picks == NULL) return LAPIS_ENOMEM;
  return roml_state_new(w, n, &w->s);
}
