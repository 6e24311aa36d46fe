/* expected.c - how often who answers will be right of new samples.
 *
 * Who answers is the best of many by the labels that judge it, which flatters.
 * So hidden units are drawn with replacement, the best by those drawn answer,
 * and right answers are counted of the units that were not drawn: the
 * bias-corrected bootstrap of what was held out [TGB18].
 *
 * [TGB18] Tsamardinos, Greasidou, Borboudakis. Bootstrapping the out-of-sample
 * predictions for efficient and accurate cross-validation. Machine Learning
 * 107, 2018. */
#include <math.h>
#include <string.h>

#include "methods/auto/candidates.h"

enum { DRAWS = 200, MOST_DRAWN = 2000, CHOSEN = 0x63686f73 };

typedef struct drawing {
  comparison *r;
  int64_t U, *place; /* drawn together: of each unit of the plan which, or -1 */
  int count, at[MOST_CANDIDATES]; /* who may answer */
  double *loss, *labels;          /* count x U */
  double *said[MOST_CANDIDATES];  /* K x n: probabilities, once asked for */
  int kinds;                      /* of whose best the answer is the mean */
  candidate_kind kind[MOST_PARTS];
  int won[DRAWS][MOST_PARTS];
  double *times, *right, *all; /* U: how often each is drawn; answers */
  double *sums;                /* 2 x units of the plan */
  double *mean;                /* K x n */
  sigmoid *half;               /* K: yes from .5 on */
} drawing;

static void draw(const drawing *d, int b)
{
  uint64_t seed = base_seed(d->r->ctx), stream = CHOSEN + (uint64_t)b;
  memset(d->times, 0, (size_t)d->U * sizeof *d->times);
  for (int64_t k = 0; k < d->U; k++)
    d->times[rng_bits(seed, stream, (uint64_t)k) % (uint64_t)d->U]++;
}

/* By the units that are drawn, of each kind the candidate of least loss. */
static void choose(const drawing *d, int won[MOST_PARTS])
{
  for (int p = 0; p < d->kinds; p++) {
    double least = INFINITY;
    won[p] = -1;
    for (int i = 0; i < d->count; i++) {
      if (d->r->run[d->at[i]].kind != d->kind[p]) continue;
      double sum = 0, labels = 0;
      for (int64_t u = 0; u < d->U; u++) {
        sum += d->times[u] * d->loss[i * d->U + u];
        labels += d->times[u] * d->labels[i * d->U + u];
      }
      if (!(sum / labels < least)) continue;
      least = sum / labels;
      won[p] = i;
    }
  }
}

/* From sums of units to sums of those that are drawn together. */
static void gather(const drawing *d, const double *of_unit, double *out)
{
  memset(out, 0, (size_t)d->U * sizeof *out);
  for (int64_t u = 0; u < d->r->plan.units; u++)
    if (d->place[u] >= 0) out[d->place[u]] += of_unit[u];
}

/* Right answers and all of the mean of those that won. */
static lapis_status answer(drawing *d, const int won[MOST_PARTS])
{
  comparison *r = d->r;
  int64_t count = r->K * r->n, units = r->plan.units;
  memset(d->mean, 0, (size_t)count * sizeof *d->mean);
  memset(d->sums, 0, 2 * (size_t)units * sizeof *d->sums);
  for (int p = 0; p < d->kinds; p++) {
    double **said = &d->said[won[p]];
    if (*said == NULL) {
      *said = base_alloc_raw(r->ctx, count, sizeof **said);
      if (*said == NULL) return LAPIS_ENOMEM;
      const candidate *x = &r->run[d->at[won[p]]];
      targets_calibrate(&r->labels, (const double *)x->answer, x->score, *said);
    }
    for (int64_t k = 0; k < count; k++) d->mean[k] += (*said)[k] / d->kinds;
  }
  (void)candidate_right(r, d->mean, d->half, d->sums, d->sums + units);
  gather(d, d->sums, d->right);
  gather(d, d->sums + units, d->all);
  return LAPIS_OK;
}

/* The mean accuracy over draws, of the units that each leaves out. */
static lapis_status average(drawing *d, double *out)
{
  bool done[DRAWS] = {false};
  double sum = 0, draws = 0;
  for (int b = 0; b < DRAWS; b++) {
    draw(d, b);
    choose(d, d->won[b]);
    for (int p = 0; p < d->kinds; p++) done[b] |= d->won[b][p] < 0;
  }
  for (int b = 0; b < DRAWS; b++) {
    if (done[b]) continue;
    TRY(answer(d, d->won[b]));
    for (int same = b; same < DRAWS; same++) { /* who won there, too */
      double right = 0, all = 0;
      if (done[same] || memcmp(d->won[same], d->won[b],
                               (size_t)d->kinds * sizeof **d->won) != 0)
        continue;
      done[same] = true;
      draw(d, same);
      for (int64_t u = 0; u < d->U; u++) {
        right += d->times[u] > 0 ? 0 : d->right[u];
        all += d->times[u] > 0 ? 0 : d->all[u];
      }
      if (!(all > 0)) continue;
      sum += right / all;
      draws++;
    }
  }
  *out = draws > 0 ? sum / draws : NAN;
  return LAPIS_OK;
}

/* Which units hold labels that x answered, and who competes with it. */
static lapis_status prepare(drawing *d, const candidate *x, arena *own)
{
  comparison *r = d->r;
  int64_t units = r->plan.units, live = 0;
  d->sums = arena_reals(own, 2 * units);
  d->place = arena_take(own, units, sizeof *d->place);
  TRY(arena_status(own));
  race_losses(r, x, NULL, d->sums, d->sums + units);
  for (int64_t u = 0; u < units; u++)
    d->place[u] = d->sums[units + u] > 0 ? live++ % MOST_DRAWN : -1;
  d->U = live < MOST_DRAWN ? live : MOST_DRAWN;
  d->kinds = x->parts > 0 ? x->parts : 1;
  for (int p = 0; p < d->kinds; p++)
    d->kind[p] = x->parts > 0 ? r->run[x->of[p]].kind : x->kind;
  for (int i = 0; i < r->count; i++)
    if (r->run[i].judged && r->run[i].parts == 0) d->at[d->count++] = i;
  d->loss = arena_reals(own, 2 * d->count * d->U);
  d->labels = d->loss + d->count * d->U;
  d->times = arena_reals(own, 3 * d->U);
  d->right = d->times + d->U;
  d->all = d->right + d->U;
  d->mean = arena_reals(own, r->K * r->n);
  d->half = arena_take(own, r->K, sizeof *d->half);
  TRY(arena_status(own));
  for (int64_t c = 0; c < r->K; c++) d->half[c] = (sigmoid){1, -.5};
  for (int i = 0; i < d->count; i++) {
    memset(d->sums, 0, 2 * (size_t)units * sizeof *d->sums);
    race_losses(r, &r->run[d->at[i]], NULL, d->sums, d->sums + units);
    gather(d, d->sums, d->loss + i * d->U);
    gather(d, d->sums + units, d->labels + i * d->U);
  }
  return LAPIS_OK;
}

lapis_status candidate_expect(comparison *r, candidate *x)
{
  double f = NAN;
  arena own = {.ctx = r->ctx};
  drawing *d = base_alloc(r->ctx, 1, sizeof *d);
  if (d == NULL) return LAPIS_ENOMEM;
  d->r = r;
  lapis_status s = prepare(d, x, &own);
  if (s >= 0 && d->U > 1) s = average(d, &f);
  if (!isnan(f)) lapis_share_interval(f, x->trials, &x->least, &x->most);
  for (int i = 0; i < d->count; i++) base_free(d->said[i]);
  arena_free(&own);
  base_free(d);
  return s;
}
