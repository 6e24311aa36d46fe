/* start.c - where the iteration begins: P_0, rho_0, growth.
 *
 * P_0 decides.  From a small rho_0, as printed, L = 0 and the first costs are
 * all ties; P then wanders until 1/rho reaches the bulk singular value of D,
 * about sqrt(n), and P_0 is forgotten.  So rho_0 = 0.95 / median sigma of D at
 * random P, where L starts to hold what P_0 agrees on and nothing else. */
#include <math.h>
#include <string.h>

#include "methods/roml/roml.h"

static const double BULK = 0.95, FIXED = 2; /* rho_0 times median sigma */
/* Of descriptors [ROML16 Sec. 3.2.3], of coordinates [Sec. 5.1]. */
static const double PAPER_RHO[] = {1e-4, 1e-6},
                    PAPER_GROWTH[] = {1.001, 1.0001};
static const double GROWTH[] = {
    [LAPIS_ROML_FAST] = 1.01, [LAPIS_ROML_CAREFUL] = 1.003};
enum { STREAM_SCHEDULE = 101, STREAM_START = 102 };

static const char *const words[] = {"auto", "seeded", "mst",
                                    "sync", "first",  NULL};

bool roml_start_known(const char *start)
{
  if (start == NULL) return true;
  for (int i = 0; words[i] != NULL; i++)
    if (strcmp(words[i], start) == 0) return true;
  return false;
}

/* ---- simple starts ------------------------------------------------------*/
static lapis_status random_picks(roml *w, roml_state *s, uint64_t stream)
{
  const roml_problem *p = &w->p;
  int64_t n = s->at.n;
  int64_t *order = base_alloc(w->base.ctx, p->largest, sizeof *order);
  if (order == NULL) return LAPIS_ENOMEM;
  for (int64_t k = 0; k < p->K; k++) {
    uint64_t mine = stream + 1000 * (uint64_t)k;
    rng_shuffle(base_seed(w->base.ctx), mine, order, roml_count(p, k));
    memcpy(s->pick + k * n, order, (size_t)n * sizeof *order);
  }
  base_free(order);
  return LAPIS_OK;
}

/* Every image is assigned to the first n features of the first one. */
static lapis_status start_template(roml *w, roml_state *s)
{
  const roml_problem *p = &w->p;
  int64_t n = s->at.n;
  for (int64_t k = 0; k < p->K; k++)
    for (int64_t j = 0; j < n; j++) s->pick[k * n + j] = j;
  for (int64_t j = 0; j < n; j++) roml_fill_slot(p, s, 0, j);
  double *D = s->D.data;
  for (int64_t k = 1; k < p->K; k++)
    for (int64_t j = 0; j < n; j++)
      memcpy(D + roml_block(&s->at, k, j), D + roml_block(&s->at, 0, j),
             (size_t)p->d * sizeof *D);
  roml_matcher_forget(s->matcher);
  return roml_match(s->matcher, D, 1, s->pick);
}

/* Slots that the given start leaves out (-1) take free features. */
static void complete_image(const roml_problem *p, roml_state *s, int64_t k)
{
  int64_t n = s->at.n, free = 0, *pick = s->pick + k * n;
  for (int64_t j = 0; j < n; j++) {
    if (pick[j] >= 0) continue;
    for (int64_t i = 0; i < n; i++)
      if (pick[i] == free) free++, i = -1;
    pick[j] = free < roml_count(p, k) ? free : 0;
  }
}

static lapis_status check_given(roml *w, const roml_state *s)
{
  int64_t n = s->at.n;
  for (int64_t k = 0; k < w->p.K; k++)
    for (int64_t j = 0; j < n; j++)
      for (int64_t i = 0; i < j; i++)
        if (s->pick[k * n + i] == s->pick[k * n + j])
          return lapis_fail(w->base.ctx, LAPIS_EDATA,
                            "roml: the start gives slots %" PRId64
                            " and %" PRId64 " of image %" PRId64
                            " the same feature",
                            i + 1, j + 1, k + 1);
  return LAPIS_OK;
}

static lapis_status take_given(roml *w, roml_state *s)
{
  size_t count = (size_t)(w->p.K * s->at.n);
  memcpy(s->pick, w->given, count * sizeof *s->pick);
  for (int64_t k = 0; k < w->p.K; k++) complete_image(&w->p, s, k);
  return check_given(w, s);
}

/* ---- rho_0 --------------------------------------------------------------*/
static double median_of_falling(const double *v, int64_t n)
{
  return n % 2 == 1 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* Leaves D at random P. */
static lapis_status set_schedule(roml *w, roml_state *s)
{
  const lapis_roml_settings *set = &w->set;
  bool paper = set->schedule == LAPIS_ROML_PAPER;
  s->growth = set->growth;
  if (isnan(s->growth))
    s->growth = paper ? PAPER_GROWTH[w->p.coordinates] : GROWTH[set->schedule];
  s->rho = set->rho0;
  if (isnan(s->rho) && paper) s->rho = PAPER_RHO[w->p.coordinates];
  if (!isnan(s->rho)) return LAPIS_OK;
  TRY(random_picks(w, s, STREAM_SCHEDULE));
  roml_fill(&w->p, s);
  TRY(op_singular_values(s->svt, &s->D, s->sigma));
  double sigma = median_of_falling(s->sigma, s->U.cols);
  if (!(sigma > 1e-12 * s->sigma[0])) sigma = s->sigma[0];
  if (!(sigma > 0)) sigma = 1;
  s->rho = (set->fix_first ? FIXED : BULK) / sigma;
  return LAPIS_OK;
}

/* ---- the choice ---------------------------------------------------------*/
static lapis_status by_word(roml *w, roml_state *s, const char *word)
{
  if (strcmp(word, "seeded") == 0) return roml_start_seeded(w, s);
  if (strcmp(word, "sync") == 0) return roml_start_sync(w, s);
  if (strcmp(word, "mst") == 0) return roml_start_mst(w, s);
  return random_picks(w, s, STREAM_START);
}

static const char *automatic(const roml *w)
{
  if (w->set.schedule == LAPIS_ROML_PAPER) return "random";
  return w->p.coordinates ? "mst" : "seeded";
}

lapis_status roml_start(roml *w, roml_state *s)
{
  const char *word = w->set.start;
  TRY(set_schedule(w, s));
  if (w->given != NULL) return take_given(w, s);
  bool first = word != NULL && strcmp(word, "first") == 0;
  if (first || w->set.fix_first) return start_template(w, s);
  if (word == NULL || strcmp(word, "auto") == 0) word = automatic(w);
  base_say(w->base.ctx, 1, "roml: start %s, rho_0 %.4g, growth %g", word,
           s->rho, s->growth);
  return by_word(w, s, word);
}
