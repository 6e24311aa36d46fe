/* shrink.c - the linear problem of many samples by way of few.
 *
 * About d + p + 2 constraints bind at the answer, so that most samples decide
 * nothing: the interior point solves for some, all others are looked at with
 * its w and v, and those that contradict join in.  A sample that is not at work
 * keeps a and s:
 *   SVM+    a = s = 0, its constraints left out.  The others bind more and
 * more; raising v's bias by what is still violated certifies the whole. plain
 * a = 0 beyond the margin, a = C inside it.  The first w, of some samples that
 * stand for all, tells which; those near the margin are at work from then on.
 * What is kept adds a linear term to the part's problem (sv_data.rest), whose
 * dual value is that of the whole.  Where the samples at work come to be too
 * many, the caller takes all. */
#include <math.h>
#include <string.h>

#include "methods/svmplus/columns.h"
#include "methods/svmplus/svmplus.h"

enum { EACH = 20, LEAST = 2000, ROUNDS = 12, FIRST = 10 };
static const double CLOSER = 0.3; /* of the tolerance: asked of a part */
static const double MOST = 0.5;   /* of the samples */

typedef struct shrink {
  sv_linear *point; /* of all samples */
  bool *in;         /* n: at work */
  int64_t count;
  double *wrong; /* n: how far a sample contradicts, or from the margin */
  double *y, *C; /* count: of those at work */
  double *rest;  /* d + p + 2 */
  double scale;  /* of C: those at work stand for all */
  double *X, *P; /* copies of those at work */
  sv_data part;
  loop own;
} shrink;

/* ---- the part -----------------------------------------------------------*/
static void make_rest(shrink *t)
{
  const sv_linear *point = t->point;
  const sv_data *q = point->q;
  memset(t->rest, 0, (size_t)(q->d + q->p + 2) * sizeof *t->rest);
  t->part.rest_a = 0;
  for (int64_t i = 0; i < q->n; i++) {
    if (t->in[i]) continue;
    if (!q->plain) column_add(&q->P, i, q->C[i], t->rest + q->d + 1);
    if (!(point->a[i] > 0)) continue;
    column_add(&q->X, i, -q->y[i] * point->a[i], t->rest);
    t->part.rest_a += point->a[i];
  }
}

static lapis_status make_part(shrink *t)
{
  const sv_data *q = t->point->q;
  int64_t at = 0;
  t->part = *q;
  t->part.n = t->count;
  t->part.loop = &t->own;
  t->part.y = t->y;
  t->part.C = t->C;
  for (int64_t i = 0; i < q->n; i++) {
    if (!t->in[i]) continue;
    t->y[at] = q->y[i];
    t->C[at++] = q->C[i] * t->scale;
  }
  if (t->scale <= 1) {
    make_rest(t);
    t->part.rest = t->rest;
  }
  TRY(mat_pick(q->ctx, &q->X, t->in, &t->X, &t->part.X));
  return q->plain ? LAPIS_OK
                  : mat_pick(q->ctx, &q->P, t->in, &t->P, &t->part.P);
}

static void take_answer(shrink *t, const sv_linear *part)
{
  sv_linear *point = t->point;
  size_t N = (size_t)(point->q->d + point->q->p + 2) * sizeof *point->w;
  int64_t at = 0;
  for (int64_t i = 0; i < point->q->n && t->scale <= 1; i++) {
    if (!t->in[i]) continue;
    point->a[i] = part->a[at];
    point->s[i] = part->s[at++];
  }
  memcpy(point->w, part->w, N); /* and v */
  memcpy(point->u, part->u, N);
  point->beside = part->beside;
  point->dual = part->dual;
}

/* A loop of its own: what a part's steps record is of the part. */
static void open_loop(shrink *t)
{
  const loop *l = t->point->q->loop;
  t->own = (loop){.ctx = l->ctx,
                  .method = l->method,
                  .stop = l->stop,
                  .iter = l->iter,
                  .start = l->start,
                  .shown = l->shown,
                  .first_gap = NAN,
                  .n_columns = l->n_columns};
}

static lapis_status solve_part(shrink *t, double tol)
{
  sv_linear part = {0};
  open_loop(t);
  lapis_status s = make_part(t);
  if (s >= 0) s = sv_linear_new(&t->part, &part);
  if (s >= 0) s = sv_ipm(&part, tol);
  if (s >= 0) take_answer(t, &part);
  t->point->q->loop->iter = t->own.iter;
  sv_linear_free(&part);
  base_free(t->X);
  base_free(t->P);
  t->X = t->P = NULL;
  loop_free(&t->own);
  return s;
}

/* ---- who is at work -----------------------------------------------------*/
static void start(shrink *t)
{
  const sv_data *q = t->point->q;
  int64_t most = EACH * (q->d + q->p + 2);
  if (most < LEAST) most = LEAST;
  for (int64_t k = 0; k < most; k++) t->in[k * q->n / most] = true;
  t->count = most;
  t->scale = q->plain ? (double)q->n / (double)most : 1;
}

/* Those with `wrong` of at least `level` join in. */
static void admit(shrink *t, double level)
{
  for (int64_t i = 0; i < t->point->q->n; i++) {
    if (t->in[i] || !(t->wrong[i] >= level)) continue;
    t->in[i] = true;
    t->count++;
  }
}

/* The lowest of the levels worst, worst/2, ... that at most so many reach. */
static double level_of(const shrink *t, int64_t most)
{
  enum { LEVELS = 20 };
  int64_t reach[LEVELS] = {0};
  double worst = 0;
  int k = 0;
  for (int64_t i = 0; i < t->point->q->n; i++)
    if (!t->in[i]) worst = fmax(worst, t->wrong[i]);
  for (int64_t i = 0; i < t->point->q->n; i++) {
    if (t->in[i] || !(t->wrong[i] > 0)) continue;
    double down = -log2(t->wrong[i] / worst);
    if (down < LEVELS) reach[(int)down]++;
  }
  for (int64_t sum = reach[0]; k < LEVELS - 1; k++) {
    sum += reach[k + 1];
    if (sum > most) break;
  }
  return worst > 0 ? worst * exp2(-(k + 1)) : INFINITY;
}

/* Plain: a by the side of the margin, those next to it at work. */
static void divide(shrink *t)
{
  sv_linear *point = t->point;
  const sv_data *q = point->q;
  memset(t->in, 0, (size_t)q->n * sizeof *t->in);
  t->count = 0;
  t->scale = 1;
  for (int64_t i = 0; i < q->n; i++) {
    double off = point->m[i] - 1;
    point->a[i] = off < 0 ? q->C[i] : 0;
    point->s[i] = q->C[i] - point->a[i];
    t->wrong[i] = 1 / fmax(fabs(off), 1e-9);
  }
  admit(t, level_of(t, q->n / FIRST));
}

static void contradict(shrink *t)
{
  const sv_linear *point = t->point;
  for (int64_t i = 0; i < point->q->n; i++) {
    double need = 1 - point->m[i];
    if (!point->q->plain)
      t->wrong[i] = fmax(-point->r[i], need - point->r[i]);
    else
      t->wrong[i] = point->a[i] > 0 ? -need : need;
  }
}

/* ---- rounds -------------------------------------------------------------*/
/* The primal of all samples at the part's w and v. */
static lapis_status look(shrink *t, double tol)
{
  sv_linear *point = t->point;
  double sum, own;
  TRY(sv_linear_primal(point, &sum, &own));
  if (t->scale > 1) {
    divide(t);
    return LAPIS_OK;
  }
  sv_linear_set_gap(point);
  TRY(sv_linear_record(point, tol));
  contradict(t);
  admit(t, level_of(t, t->count));
  return LAPIS_OK;
}

static lapis_status run(shrink *t, double tol, bool *solved)
{
  sv_linear *point = t->point;
  const sv_data *q = point->q;
  start(t);
  for (int k = 0; k < ROUNDS && loop_next(q->loop); k++) {
    int64_t before = t->count;
    bool rough = k == 0;
    TRY(solve_part(t, fmax(CLOSER * tol, rough ? 1e-2 : 0)));
    TRY(look(t, tol));
    base_say(q->ctx, 1,
             "svmplus: %" PRId64 " of %" PRId64 " samples at work; gap %.2e",
             before, q->n, point->gap);
    bool more = rough || t->count > before;
    if (point->gap <= tol || !more || (double)t->count > MOST * (double)q->n)
      break;
  }
  TRY(sv_linear_certify(point));
  *solved = point->gap <= tol;
  return LAPIS_OK;
}

lapis_status sv_shrink(sv_linear *point, double tol, bool *solved)
{
  const sv_data *q = point->q;
  int64_t N = q->d + q->p + 2;
  shrink t = {.point = point};
  t.in = base_alloc(q->ctx, q->n, sizeof *t.in);
  t.wrong = base_alloc(q->ctx, 3 * q->n + N, sizeof *t.wrong);
  lapis_status s = t.in == NULL || t.wrong == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  if (s >= 0) {
    t.y = t.wrong + q->n;
    t.C = t.y + q->n;
    t.rest = t.C + q->n;
    for (int64_t i = 0; i < q->n && q->plain; i++) point->s[i] = q->C[i];
    s = run(&t, tol, solved);
  }
  base_free(t.in);
  base_free(t.wrong);
  return s;
}
