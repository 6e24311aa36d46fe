/* seeded.c - the seeded start.
 *
 * A feature of the object has a good match in most images, an outlier only by
 * chance.  Every feature of some reference images is scored by its best
 * matches; the best few times n of them become seeds.  A seed is refined by
 * averaging: its best match in every image, then their mean, a few rounds.
 * Seeds that have come to the same features are one; the n best are the slots,
 * and each image is assigned to them.  Several reference images, since one of
 * them may lack a part of the object.
 *
 * Likeness is <q, f> - |f|^2/2, for unit features the cosine but for a
 * constant; products are those of the matching step. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "methods/roml/roml.h"

enum {
  REFERENCES = 5,
  FEW_REFERENCES = 3, /* where all pairs would cost too much */
  FEW_PROBES = 8,
  SEEDS_EACH = 2, /* times n, from each reference */
  SEEDS_ALL = 8,  /* times n, at least in total */
  SEEDS_LEAST = 48,
  ROUNDS = 3,
  POLISH = 2,
  STREAM = 103,
  BLOCK = 64 /* vectors at a time, a multiple of a tile */
};
static const double MANY = 4e9; /* multiplications of all pairs */
static const int64_t PARALLEL = 1 << 23;

typedef struct seeding {
  roml *w;
  const roml_problem *p;
  lapis_ctx *ctx;
  int threads;
  int64_t n, references, probes, each, count; /* count: seeds */
  int64_t ld;
  void *C, *Q;     /* ld x BLOCK for each thread; d x seeds, or largest */
  double *mean;    /* d x seeds */
  double *score;   /* seeds, or largest */
  double *like;    /* the same: of one image */
  int64_t *best;   /* seeds x K: the best feature */
  int64_t *found;  /* the same of one image, largest or seeds */
  int64_t *order;  /* largest or seeds */
  int64_t *chosen; /* n seeds */
} seeding;

/* ---- best matches -------------------------------------------------------*/
/* For each of the vectors Q[at ..] the feature of image k most like it. */
static void best_of_block(seeding *g, int64_t k, int64_t at, int64_t vectors,
                          void *C)
{
  const roml_problem *p = g->p;
  size_t size = p->F.dtype == LAPIS_F64 ? sizeof(double) : sizeof(float);
  const char *Q = (const char *)g->Q + (size_t)(at * p->d) * size;
  int64_t count = roml_count(p, k);
  op_panels_costs(&p->F, p->panel[k], count, Q, vectors,
                  p->half == NULL ? NULL : p->half + p->first[k], C, g->ld);
  assign_costs costs = {p->F.dtype, vectors, count, g->ld, C};
  for (int64_t q = 0; q < vectors; q++) {
    int64_t i = op_assign_row_minimum(&costs, q);
    if (i < 0) i = 0;
    g->found[at + q] = i;
    g->like[at + q] = p->F.dtype == LAPIS_F64
                          ? -((const double *)C)[q * g->ld + i]
                          : -(double)((const float *)C)[q * g->ld + i];
  }
}

static void best_in_image(seeding *g, int64_t vectors, int64_t k)
{
  const roml_problem *p = g->p;
  size_t each = (size_t)(g->ld * BLOCK) *
                (p->F.dtype == LAPIS_F64 ? sizeof(double) : sizeof(float));
  int64_t blocks = (vectors + BLOCK - 1) / BLOCK;
#pragma omp parallel for num_threads(roml_count(p, k) * vectors * p->d > \
                                             PARALLEL                    \
                                         ? base_team(g->ctx, g->threads) \
                                         : 1) schedule(static, 1)
  for (int t = 0; t < g->threads; t++)
    for (int64_t b = t; b < blocks; b += g->threads) {
      int64_t at = b * BLOCK, left = vectors - at;
      best_of_block(g, k, at, left < BLOCK ? left : BLOCK,
                    (char *)g->C + (size_t)t * each);
    }
}

/* ---- seeds --------------------------------------------------------------*/
typedef struct ranked_seed {
  double score;
  int64_t at;
} ranked_seed;

static int best_first(const void *a, const void *b)
{
  const ranked_seed *x = a, *y = b;
  if (x->score > y->score || x->score < y->score)
    return x->score > y->score ? -1 : 1;
  return x->at < y->at ? -1 : 1;
}

static lapis_status rank(seeding *g, int64_t count)
{
  ranked_seed *r = base_alloc(g->ctx, count, sizeof *r);
  if (r == NULL) return LAPIS_ENOMEM;
  for (int64_t i = 0; i < count; i++) r[i] = (ranked_seed){g->score[i], i};
  qsort(r, (size_t)count, sizeof *r, best_first);
  for (int64_t i = 0; i < count; i++) g->order[i] = r[i].at;
  base_free(r);
  return LAPIS_OK;
}

/* Vector q of Q is scale m. */
static void set_vector(seeding *g, int64_t q, const double *m, double scale)
{
  for (int64_t a = 0; a < g->p->d; a++)
    if (g->p->F.dtype == LAPIS_F64)
      ((double *)g->Q)[q * g->p->d + a] = scale * m[a];
    else
      ((float *)g->Q)[q * g->p->d + a] = (float)(scale * m[a]);
}

static void set_feature(seeding *g, int64_t q, int64_t k, int64_t i)
{
  set_vector(g, q, roml_feature(g->p, k, i), g->p->scale[g->p->first[k] + i]);
}

/* Feature i of image k begins a seed. */
static void add_seed(seeding *g, int64_t k, int64_t i)
{
  double *m = g->mean + g->count++ * g->p->d;
  const double *f = roml_feature(g->p, k, i);
  for (int64_t a = 0; a < g->p->d; a++)
    m[a] = f[a] * g->p->scale[g->p->first[k] + i];
}

/* Scores image r's features by their best matches; the best become seeds. */
static lapis_status seeds_of(seeding *g, int64_t r)
{
  const roml_problem *p = g->p;
  int64_t count = roml_count(p, r);
  uint64_t seed = base_seed(g->ctx);
  for (int64_t i = 0; i < count; i++) set_feature(g, i, r, i);
  memset(g->score, 0, (size_t)count * sizeof *g->score);
  for (int64_t t = 0; t < g->probes; t++) {
    uint64_t turn = rng_bits(seed, STREAM, (uint64_t)r) % (uint64_t)(p->K - 1);
    int64_t step =
        1 + (t * ((p->K - 1) / g->probes) + (int64_t)turn) % (p->K - 1);
    int64_t k = (r + step) % p->K;
    best_in_image(g, count, k);
    for (int64_t i = 0; i < count; i++) g->score[i] += g->like[i];
  }
  TRY(rank(g, count));
  for (int64_t i = 0; i < g->each && i < count; i++)
    add_seed(g, r, g->order[i]);
  return LAPIS_OK;
}

/* ---- refinement ---------------------------------------------------------*/
/* Q <- the mean of the features found, as long as a feature is. */
static void set_prototypes(seeding *g, int64_t count)
{
  int64_t d = g->p->d;
  for (int64_t q = 0; q < count; q++) {
    double *m = g->mean + q * d, sum = 0, scale = 1 / (double)g->p->K;
    for (int64_t a = 0; a < d; a++) sum += m[a] * m[a];
    if (g->p->half == NULL) scale = sum > 0 ? 1 / sqrt(sum) : 1;
    for (int64_t a = 0; a < d; a++) m[a] *= scale;
    set_vector(g, q, m, 1);
  }
}

/* How much a match counts.  Where an image lacks the part, the best match is
 * an outlier, and only its likeness tells; the cube keeps it small.  Features
 * that keep their length have no likeness of a known scale. */
static double trust(const seeding *g, double like)
{
  if (g->p->half != NULL) return 1;
  return like > 0 ? like * like * like : 0;
}

static void add_feature(const seeding *g, int64_t k, int64_t i, double weight,
                        double *m)
{
  const double *f = roml_feature(g->p, k, i);
  double scale = weight * g->p->scale[g->p->first[k] + i];
  for (int64_t a = 0; a < g->p->d; a++) m[a] += scale * f[a];
}

static void refine_round(seeding *g)
{
  const roml_problem *p = g->p;
  memset(g->mean, 0, (size_t)(p->d * g->count) * sizeof *g->mean);
  memset(g->score, 0, (size_t)g->count * sizeof *g->score);
  for (int64_t k = 0; k < p->K; k++) {
    best_in_image(g, g->count, k);
#pragma omp parallel for num_threads( \
    g->count * p->d > PARALLEL ? base_team(g->ctx, g->threads) : 1)
    for (int64_t q = 0; q < g->count; q++) {
      g->best[q * p->K + k] = g->found[q];
      double weight = trust(g, g->like[q]);
      g->score[q] += p->half == NULL ? weight : g->like[q];
      add_feature(g, k, g->found[q], weight, g->mean + q * p->d);
    }
  }
  set_prototypes(g, g->count);
}

/* ---- the n best that differ ---------------------------------------------*/
static bool overlaps(const seeding *g, int64_t a, int64_t b)
{
  int64_t same = 0, K = g->p->K;
  for (int64_t k = 0; k < K; k++)
    same += g->best[a * K + k] == g->best[b * K + k];
  return 3 * same >= K;
}

static bool is_new(const seeding *g, int64_t q, int64_t chosen)
{
  for (int64_t j = 0; j < chosen; j++)
    if (overlaps(g, q, g->chosen[j])) return false;
  return true;
}

/* Seeds in falling order of their scores, those first that overlap none; then
 * any, so that there are n. */
static void choose(seeding *g)
{
  int64_t chosen = 0;
  for (int64_t i = 0; i < g->count && chosen < g->n; i++) {
    int64_t q = g->order[i];
    if (!is_new(g, q, chosen)) continue;
    g->chosen[chosen++] = q;
    g->order[i] = -1;
  }
  for (int64_t i = 0; i < g->count && chosen < g->n; i++)
    if (g->order[i] >= 0) g->chosen[chosen++] = g->order[i];
}

/* Slots at the chosen seeds; assignment and averaging in turn. */
static lapis_status assign_to(seeding *g, roml_state *s)
{
  const roml_problem *p = g->p;
  double *M = s->W.data;
  for (int64_t k = 0; k < p->K; k++)
    for (int64_t j = 0; j < g->n; j++)
      memcpy(M + roml_block(&s->at, k, j), g->mean + j * p->d,
             (size_t)p->d * sizeof *M);
  roml_matcher_forget(s->matcher);
  return roml_match(s->matcher, M, 0, s->pick);
}

/* How like the prototype of slot j, which set_prototypes left in W. */
static double likeness(const seeding *g, const roml_state *s, int64_t k,
                       int64_t j)
{
  int64_t i = s->pick[k * g->n + j];
  const double *f = roml_feature(g->p, k, i);
  const double *m = (const double *)s->W.data + roml_block(&s->at, k, j);
  double sum = 0;
  for (int64_t a = 0; a < g->p->d; a++) sum += f[a] * m[a];
  return sum * g->p->scale[g->p->first[k] + i];
}

static void average_slots(seeding *g, const roml_state *s)
{
  const roml_problem *p = g->p;
  memset(g->mean, 0, (size_t)(p->d * g->n) * sizeof *g->mean);
  for (int64_t k = 0; k < p->K; k++)
    for (int64_t j = 0; j < g->n; j++)
      add_feature(g, k, s->pick[k * g->n + j], trust(g, likeness(g, s, k, j)),
                  g->mean + j * p->d);
}

static lapis_status polish(seeding *g, roml_state *s)
{
  const roml_problem *p = g->p;
  double *kept = base_alloc(g->ctx, p->d * g->n, sizeof *kept);
  if (kept == NULL) return LAPIS_ENOMEM;
  for (int64_t j = 0; j < g->n; j++)
    memcpy(kept + j * p->d, g->mean + g->chosen[j] * p->d,
           (size_t)p->d * sizeof *kept);
  memcpy(g->mean, kept, (size_t)(p->d * g->n) * sizeof *kept);
  base_free(kept);
  for (int t = 0; t < POLISH; t++) {
    TRY(assign_to(g, s));
    average_slots(g, s);
    set_prototypes(g, g->n);
  }
  return assign_to(g, s);
}

/* ---- the whole ----------------------------------------------------------*/
static void set_sizes(seeding *g)
{
  const roml_problem *p = g->p;
  bool many = (double)p->N * (double)p->N * (double)p->d > MANY;
  int64_t most = many ? FEW_REFERENCES : REFERENCES;
  g->references = p->K < most ? p->K : most;
  g->probes = many && p->K - 1 > FEW_PROBES ? FEW_PROBES : p->K - 1;
  int64_t all = SEEDS_ALL * g->n > SEEDS_LEAST ? SEEDS_ALL * g->n : SEEDS_LEAST;
  g->each = (all + g->references - 1) / g->references;
  if (g->each < SEEDS_EACH * g->n) g->each = SEEDS_EACH * g->n;
  if (g->each > p->largest) g->each = p->largest;
  g->ld = op_panels_round(p->largest);
}

static lapis_status allocate(seeding *g)
{
  const roml_problem *p = g->p;
  lapis_ctx *ctx = g->ctx;
  int64_t seeds = g->references * g->each;
  if (seeds < g->n) seeds = g->n;
  int64_t most = seeds > p->largest ? seeds : p->largest;
  size_t size = p->F.dtype == LAPIS_F64 ? sizeof(double) : sizeof(float);
  g->C = base_alloc_raw(ctx, g->ld * BLOCK * g->threads, size);
  g->Q = base_alloc(ctx, p->d * op_panels_room(most), size);
  g->mean = base_alloc(ctx, p->d * seeds, sizeof *g->mean);
  g->score = base_alloc(ctx, most, sizeof *g->score);
  g->like = base_alloc(ctx, most, sizeof *g->like);
  g->best = base_alloc(ctx, seeds * p->K, sizeof *g->best);
  g->found = base_alloc(ctx, most, sizeof *g->found);
  g->order = base_alloc(ctx, most, sizeof *g->order);
  g->chosen = base_alloc(ctx, g->n, sizeof *g->chosen);
  bool ok = g->C != NULL && g->Q != NULL && g->mean != NULL &&
            g->score != NULL && g->like != NULL && g->best != NULL &&
            g->found != NULL && g->order != NULL && g->chosen != NULL;
  return ok ? LAPIS_OK : LAPIS_ENOMEM;
}

static void release(seeding *g)
{
  base_free(g->C), base_free(g->Q);
  base_free(g->mean), base_free(g->score), base_free(g->like);
  base_free(g->best), base_free(g->found), base_free(g->order);
  base_free(g->chosen);
}

static lapis_status find_slots(seeding *g, roml_state *s)
{
  int64_t K = g->p->K;
  for (int64_t t = 0; t < g->references; t++)
    TRY(seeds_of(g, t * K / g->references));
  for (int64_t i = 0; g->count < g->n; i++) add_seed(g, 0, i);
  for (int64_t q = 0; q < g->count; q++)
    set_vector(g, q, g->mean + q * g->p->d, 1);
  for (int t = 0; t < ROUNDS; t++) refine_round(g);
  TRY(rank(g, g->count));
  choose(g);
  return polish(g, s);
}

lapis_status roml_start_seeded(roml *w, roml_state *s)
{
  seeding g = {.w = w,
               .p = &w->p,
               .ctx = w->base.ctx,
               .threads = base_threads(w->base.ctx),
               .n = s->at.n};
  set_sizes(&g);
  lapis_status status = allocate(&g);
  if (status >= 0) status = find_slots(&g, s);
  release(&g);
  return status;
}
