/* align.c - images of points whose places, sizes or turns are not comparable:
 * --invariance.
 *
 * Assignments on |a - b|^2, and |D'|_* of points [ROML16 (27)], ask for images
 * in one frame.  Here every image is first moved onto the others, as far as
 * the invariance asked for lets it:
 *
 *   shift x + t    scale s x + t    rotation R x + t    similarity s R x + t
 *
 * (a scale or a turn about an unknown centre moves the image, too).  Two images
 * are laid on each other from the mean (and the radius, and each of TURNS
 * turns) by assignment and least squares in turn, a quarter of the matches left
 * out as outliers: iterated closest points with assignments.  All pairs give
 * costs; along the minimum spanning tree of these every image is laid on its
 * parent.
 *
 * auto.  What tells a right answer from a wrong one whatever the frame is how
 * alike the shapes are that it picks:
 *
 *   shape cost = |S|_* / sqrt(K),  S: D' with every image's picked points about
 *   their mean and over their size (Frobenius norm)
 *
 * It is (27) without what no frame can know: S of images that differ by turns
 * has the singular values of S of the same images upright.  The method is run
 * with each of the five invariances; of the start and the end of every run, and
 * then of the five, the one of the least shape cost is taken, the simplest of
 * equals, and run once more, as if it had been asked for.  No truth is used;
 * bench/results/roml.md has how often this is right.
 */
#include <math.h>
#include <string.h>

#include "methods/roml/roml.h"

enum { TURNS = 12, ROUNDS = 4, LEAST_POINTS = 3 };
static const double KEPT = 0.75;  /* of the matches, to least squares */
static const double EQUAL = 1e-6; /* shape costs, relative: one answer */
/* auto tries no more: pairs of images times n_k^3, some ten seconds. */
static const double MOST = 3e8;
static const double FULL_TURN = 6.283185307179586476925;

/* p -> (a p_x - b p_y + t_x, b p_x + a p_y + t_y) */
typedef struct motion {
  double a, b, t[2];
} motion;
static const motion still = {1, 0, {0, 0}};

typedef struct points { /* of an image: 2 x count */
  const double *xy;
  int64_t count;
} points;

typedef struct aligner {
  roml *w;
  const roml_problem *p;
  roml_invariance kind;
  op_assign *solver;
  double *cost, *sorted; /* largest x largest; largest */
  double *W;             /* K x K: cost of a pair */
  double *given, *moved; /* 2 x N, in image order */
  motion *now, *best;    /* K: what moves the images; the best kind's */
  bool *done;            /* K */
  bool cut;              /* cancelled, or out of time */
} aligner;

static bool turns(roml_invariance kind)
{
  return kind == ROML_ROTATION || kind == ROML_SIMILARITY;
}

static bool scales(roml_invariance kind)
{
  return kind == ROML_SCALE || kind == ROML_SIMILARITY;
}

static void move(const motion *m, const double *p, double *q)
{
  double x = p[0], y = p[1];
  q[0] = m->a * x - m->b * y + m->t[0];
  q[1] = m->b * x + m->a * y + m->t[1];
}

static motion inverse(const motion *m)
{
  double square = m->a * m->a + m->b * m->b;
  motion back = {m->a / square, -m->b / square, {0, 0}};
  double t[2];
  move(&back, m->t, t);
  back.t[0] = -t[0], back.t[1] = -t[1];
  return back;
}

static double radius(const points *s, double mean[2])
{
  double sum = 0;
  mean[0] = mean[1] = 0;
  for (int64_t i = 0; i < 2 * s->count; i++)
    mean[i % 2] += s->xy[i] / (double)s->count;
  for (int64_t i = 0; i < 2 * s->count; i++)
    sum += (s->xy[i] - mean[i % 2]) * (s->xy[i] - mean[i % 2]);
  return sum > 0 ? sqrt(sum / (double)s->count) : 1;
}

static bool must_end(aligner *g)
{
  if (!g->cut) g->cut = roml_must_end(g->w);
  return g->cut;
}

/* ---- two images ---------------------------------------------------------*/
/* The mean onto the mean, radius onto radius, turned by `angle`. */
static motion first_guess(const aligner *g, const points *P, const points *Q,
                          double angle)
{
  double p[2], q[2], rp = radius(P, p), rq = radius(Q, q), at[2];
  double s = scales(g->kind) ? rq / rp : 1;
  motion m = {s * cos(angle), s * sin(angle), {0, 0}};
  if (g->kind == ROML_UPRIGHT) return (motion){1, 0, {0, 0}};
  move(&m, p, at);
  m.t[0] = q[0] - at[0], m.t[1] = q[1] - at[1];
  return m;
}

/* P, the fewer, is assigned to Q; the mean squared distance. */
static lapis_status assign(aligner *g, const points *P, const points *Q,
                           const motion *m, double *mean)
{
  for (int64_t i = 0; i < P->count; i++) {
    double p[2];
    move(m, P->xy + 2 * i, p);
    for (int64_t j = 0; j < Q->count; j++) {
      double x = p[0] - Q->xy[2 * j], y = p[1] - Q->xy[2 * j + 1];
      g->cost[i * Q->count + j] = x * x + y * y;
    }
  }
  assign_costs costs = {LAPIS_F64, P->count, Q->count, Q->count, g->cost};
  if (op_assign_solve(g->solver, &costs, false) >= 0)
    return lapis_fail(g->w->base.ctx, LAPIS_ENUMERIC,
                      "roml: distances overflow; scale X down");
  *mean = g->solver->objective / (double)P->count;
  return LAPIS_OK;
}

static double own_cost(const aligner *g, const points *Q, int64_t i)
{
  return g->cost[i * Q->count + g->solver->match[i]];
}

/* The least squares motion of the nearest matches. */
static motion fit(aligner *g, const points *P, const points *Q)
{
  int64_t n = P->count, count = 0;
  const int64_t *match = g->solver->match;
  double p[2] = {0}, q[2] = {0}, along = 0, across = 0, pp = 0, qq = 0;
  for (int64_t i = 0; i < n; i++) g->sorted[i] = own_cost(g, Q, i);
  (void)roml_median(g->sorted, n); /* sorts */
  double cap = g->sorted[(int64_t)ceil(KEPT * (double)n) - 1];
  for (int64_t i = 0; i < n; i++) {
    if (own_cost(g, Q, i) > cap) continue;
    count++;
    for (int r = 0; r < 2; r++) p[r] += P->xy[2 * i + r];
    for (int r = 0; r < 2; r++) q[r] += Q->xy[2 * match[i] + r];
  }
  for (int r = 0; r < 2; r++) p[r] /= (double)count, q[r] /= (double)count;
  for (int64_t i = 0; i < n; i++) {
    if (own_cost(g, Q, i) > cap) continue;
    double x = P->xy[2 * i] - p[0], y = P->xy[2 * i + 1] - p[1];
    double u = Q->xy[2 * match[i]] - q[0], v = Q->xy[2 * match[i] + 1] - q[1];
    along += x * u + y * v, across += x * v - y * u;
    pp += x * x + y * y, qq += u * u + v * v;
  }
  double size = hypot(along, across), at[2];
  motion m = {1, 0, {0, 0}};
  if (turns(g->kind) && size > 0) m.a = along / size, m.b = across / size;
  double s = scales(g->kind) && pp > 0 && qq > 0 ? sqrt(qq / pp) : 1;
  m.a *= s, m.b *= s;
  move(&m, p, at);
  m.t[0] = q[0] - at[0], m.t[1] = q[1] - at[1];
  return m;
}

/* From one guess; *cost and *m where it is better than what they hold. */
static lapis_status refine(aligner *g, const points *P, const points *Q,
                           double angle, double *cost, motion *m)
{
  motion now = first_guess(g, P, Q, angle), last = now;
  double least = INFINITY, mean = INFINITY;
  for (int t = 0; t <= ROUNDS && !must_end(g); t++) {
    TRY(assign(g, P, Q, &now, &mean));
    if (!(mean < least * (1 - 1e-9))) break;
    least = mean, last = now;
    if (g->kind == ROML_UPRIGHT) break;
    now = fit(g, P, Q);
  }
  if (least < *cost) *cost = least, *m = last;
  return LAPIS_OK;
}

/* m: P onto Q.  cost: of the units of Q, or where images may be scaled of its
 * radius, so that a pair costs the same both ways. */
static lapis_status align(aligner *g, points P, points Q, double *cost,
                          motion *m)
{
  bool swap = P.count > Q.count;
  points a = swap ? Q : P, b = swap ? P : Q;
  double mean[2], size = scales(g->kind) ? radius(&b, mean) : 1;
  *cost = INFINITY;
  *m = (motion){1, 0, {0, 0}};
  int tries = turns(g->kind) ? TURNS : 1;
  for (int t = 0; t < tries; t++)
    TRY(refine(g, &a, &b, FULL_TURN * t / TURNS, cost, m));
  *cost /= size * size;
  if (swap) *m = inverse(m);
  return LAPIS_OK;
}

/* ---- all images ---------------------------------------------------------*/
static points image(const aligner *g, const double *xy, int64_t k)
{
  return (points){xy + 2 * g->p->first[k], roml_count(g->p, k)};
}

/* Image k as m moves it. */
static void lay(aligner *g, int64_t k, const motion *m)
{
  points own = image(g, g->given, k);
  double *out = g->moved + 2 * g->p->first[k];
  for (int64_t i = 0; i < own.count; i++) move(m, own.xy + 2 * i, out + 2 * i);
  g->now[k] = *m;
}

static void lay_all(aligner *g, const motion *m)
{
  for (int64_t k = 0; k < g->p->K; k++) lay(g, k, m == NULL ? &still : &m[k]);
}

static lapis_status all_pairs(aligner *g)
{
  motion m;
  int64_t K = g->p->K;
  for (int64_t k = 0; k < K; k++)
    for (int64_t l = 0; l < k && !g->cut; l++) {
      double *cost = &g->W[k * K + l];
      TRY(align(g, image(g, g->given, k), image(g, g->given, l), cost, &m));
      g->W[l * K + k] = *cost;
    }
  return LAPIS_OK;
}

/* Every image on its parent in Prim's tree. */
static lapis_status along_tree(aligner *g)
{
  int64_t K = g->p->K, root = roml_root(g->W, g->p->K);
  for (int64_t k = 0; k < K; k++) g->done[k] = k == root;
  for (int64_t t = 1; t < K && !g->cut; t++) {
    int64_t from = -1, to = -1;
    double cost;
    motion m;
    for (int64_t k = 0; k < K; k++)
      for (int64_t l = 0; g->done[k] && l < K; l++)
        if (!g->done[l] && (from < 0 || g->W[k * K + l] < g->W[from * K + to]))
          from = k, to = l;
    points own = image(g, g->given, to);
    TRY(align(g, own, image(g, g->moved, from), &cost, &m));
    lay(g, to, &m);
    g->done[to] = true;
  }
  return LAPIS_OK;
}

/* The points moved become the problem's. */
static lapis_status hand_over(aligner *g)
{
  const roml_problem *p = g->p;
  double *X = base_alloc_raw(g->w->base.ctx, 2 * p->N, sizeof *X);
  if (X == NULL) return LAPIS_ENOMEM;
  for (int64_t i = 0; i < p->N; i++)
    memcpy(X + 2 * p->row[i], g->moved + 2 * i, 2 * sizeof *X);
  return roml_problem_place(g->w, X);
}

/* Where it is cut short, images stay where they are. */
static lapis_status apply(aligner *g, roml_invariance kind)
{
  g->kind = kind;
  lay_all(g, NULL);
  if (kind != ROML_UPRIGHT) TRY(all_pairs(g));
  if (kind != ROML_UPRIGHT && !g->cut) TRY(along_tree(g));
  if (g->cut) lay_all(g, NULL);
  return g->cut ? LAPIS_OK : hand_over(g);
}

/* ---- the choice ---------------------------------------------------------*/

static bool may_choose(const roml *w)
{
  const roml_problem *p = &w->p;
  const lapis_roml_settings *set = &w->set;
  const char *start = set->start;
  double n = (double)p->largest, K = (double)p->K;
  bool pairwise =
      start == NULL || strcmp(start, "auto") == 0 || strcmp(start, "mst") == 0;
  return p->d == 2 && !set->robust && !set->fix_first && w->given == NULL &&
         set->schedule != LAPIS_ROML_PAPER && pairwise &&
         roml_fewest(p) >= LEAST_POINTS &&
         (set->inliers < 0 || set->inliers >= LEAST_POINTS) &&
         K * (K - 1) / 2 * n * n * n <= MOST;
}

static void say_choice(const roml *w, roml_invariance best, const double *cost)
{
  base_say(w->base.ctx, best == ROML_UPRIGHT ? 1 : -1,
           "roml: --invariance %s: the shapes it finds cost %.4g (none %.4g, "
           "shift %.4g, scale %.4g, rotation %.4g, similarity %.4g)",
           roml_invariance_name(best), cost[best], cost[1], cost[2], cost[3],
           cost[4], cost[5]);
}

static int64_t slots(const aligner *g)
{
  return g->w->set.inliers > 0 ? g->w->set.inliers : roml_fewest(g->p);
}

/* A whole run of one kind; *cost: of what it found. */
static lapis_status try_kind(aligner *g, roml_invariance kind, double *cost)
{
  roml *w = g->w;
  double objective;
  *cost = INFINITY;
  TRY(apply(g, kind));
  if (g->cut) return LAPIS_OK;
  TRY(roml_resize(w, slots(g)));
  TRY(roml_run(w, &w->s, &objective));
  return roml_shape_cost(&w->s, cost);
}

/* found <- what the best kind picked; w's images are as that one moves them. */
static lapis_status choose(aligner *g, int64_t *found)
{
  roml *w = g->w;
  double cost[ROML_INVARIANCES] = {0};
  roml_invariance best = ROML_UPRIGHT;
  for (roml_invariance kind = ROML_UPRIGHT; kind < ROML_INVARIANCES; kind++) {
    cost[kind] = INFINITY;
    if (kind > ROML_UPRIGHT && must_end(g)) continue;
    TRY(try_kind(g, kind, &cost[kind]));
    if (kind > ROML_UPRIGHT && !(cost[kind] < cost[best] * (1 - EQUAL)))
      continue;
    best = kind;
    memcpy(g->best, g->now, (size_t)g->p->K * sizeof *g->best);
    memcpy(found, w->s.pick, (size_t)(g->p->K * w->s.at.n) * sizeof *found);
  }
  w->invariance = best;
  say_choice(w, best, cost);
  lay_all(g, g->best);
  return hand_over(g);
}

/* The last run is that of the kind chosen.  Where there is no time left for it,
 * what was found is the answer, and nothing is kept: a resumed run chooses
 * anew. */
static lapis_status choose_and_begin(aligner *g)
{
  roml *w = g->w;
  int64_t *found = base_alloc(w->base.ctx, g->p->K * slots(g), sizeof *found);
  bool whole = w->whole;
  if (found == NULL) return LAPIS_ENOMEM;
  w->whole = false;
  lapis_status s = choose(g, found);
  bool ended = must_end(g) || w->base.loop.status != LAPIS_OK;
  w->whole = whole && !ended;
  if (!ended && w->invariance > ROML_UPRIGHT)
    w->set.invariance =
        roml_invariance_name(w->invariance); /* repeats this run */
  if (s >= 0 && ended && w->set.inliers > 0)
    w->given = found;
  else
    base_free(found);
  return s;
}

/* What the run that is resumed had chosen; ROML_ANY: nothing. */
static lapis_status find_kept(const roml *w, roml_invariance *kind)
{
  const loop *l = &w->base.loop;
  const void *from = NULL;
  int64_t count = 0;
  *kind = ROML_ANY;
  if (!w->whole) return LAPIS_OK;
  TRY(keep_find(l->ctx, &l->scope, "invariance", KEEP_WHOLE, &from, &count));
  if (from == NULL) return LAPIS_OK;
  int64_t kept = count == 1 ? *(const int64_t *)from : 0;
  if (kept < ROML_UPRIGHT || kept >= ROML_INVARIANCES)
    return loop_refuse(l, "invariance");
  *kind = (roml_invariance)kept;
  return LAPIS_OK;
}

/* One kind, that was asked for. */
static lapis_status move_as_told(aligner *g, roml_invariance kind)
{
  roml *w = g->w;
  TRY(apply(g, kind));
  if (!g->cut) w->invariance = kind;
  if (!g->cut) return LAPIS_OK;
  w->whole = false;
  base_note(
      w->base.ctx, BASE_WARNING, "not-moved",
      "roml: {invariance %s}: it ended before the images were moved; what "
      "is answered is of the images as they are",
      roml_invariance_name(kind));
  return LAPIS_OK;
}

/* ---- the whole ----------------------------------------------------------*/
static lapis_status allocate(aligner *g)
{
  const roml_problem *p = g->p;
  lapis_ctx *ctx = g->w->base.ctx;
  TRY(op_assign_new(ctx, p->largest, p->largest, &g->solver));
  g->cost = base_alloc_raw(ctx, p->largest * p->largest, sizeof *g->cost);
  g->sorted = base_alloc(ctx, p->largest, sizeof *g->sorted);
  g->W = base_alloc(ctx, p->K * p->K, sizeof *g->W);
  g->given = base_alloc(ctx, 2 * p->N, sizeof *g->given);
  g->moved = base_alloc(ctx, 2 * p->N, sizeof *g->moved);
  g->done = base_alloc(ctx, p->K, sizeof *g->done);
  g->now = base_alloc(ctx, p->K, sizeof *g->now);
  g->best = base_alloc(ctx, p->K, sizeof *g->best);
  bool ok = g->cost != NULL && g->sorted != NULL && g->W != NULL &&
            g->given != NULL && g->moved != NULL && g->done != NULL &&
            g->now != NULL && g->best != NULL;
  for (int64_t i = 0; ok && i < p->N; i++)
    memcpy(g->given + 2 * i, mat_col(&p->X, p->row[i]), 2 * sizeof *g->given);
  return ok ? LAPIS_OK : LAPIS_ENOMEM;
}

static void release(aligner *g)
{
  op_assign_free(g->solver);
  base_free(g->cost), base_free(g->sorted), base_free(g->W);
  base_free(g->given), base_free(g->moved), base_free(g->done);
  base_free(g->now), base_free(g->best);
}

/* w->transform: of each image the rows (a, -b, t_x), (b, a, t_y). */
static lapis_status note_transform(roml *w, const motion *m)
{
  if (w->transform == NULL)
    w->transform = base_alloc(w->base.ctx, 6 * w->p.K, sizeof *w->transform);
  if (w->transform == NULL) return LAPIS_ENOMEM;
  for (int64_t k = 0; k < w->p.K; k++) {
    const motion *of = m == NULL ? &still : &m[k];
    double rows[] = {of->a, 0 - of->b, of->t[0], of->b, of->a, of->t[1]};
    memcpy(w->transform + 6 * k, rows, sizeof rows);
  }
  return LAPIS_OK;
}

static lapis_status move_images(roml *w, roml_invariance kind)
{
  aligner g = {.w = w, .p = &w->p};
  if (kind == ROML_ANY) TRY(find_kept(w, &kind));
  lapis_status s = allocate(&g);
  w->by_shape = true;
  if (s >= 0)
    s = kind == ROML_ANY ? choose_and_begin(&g) : move_as_told(&g, kind);
  if (s >= 0) s = note_transform(w, g.now);
  release(&g);
  return s < 0 || w->set.inliers < 0 ? s : roml_resize(w, w->set.inliers);
}

lapis_status roml_align(roml *w)
{
  roml_invariance kind = roml_invariance_of(w->set.invariance);
  if (w->invariance != ROML_ANY) return LAPIS_OK; /* moved by a solve before */
  w->invariance = ROML_UPRIGHT;
  if (!w->p.coordinates || w->p.d != 2) return LAPIS_OK;
  if (kind == ROML_UPRIGHT || (kind == ROML_ANY && !may_choose(w)))
    return note_transform(w, NULL);
  return move_images(w, kind);
}
