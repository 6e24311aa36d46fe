/* factored_step.c - one sweep of alternating least squares.
 *
 * With B fixed every row of [c, A] is a ridge regression of its own on the
 * samples where it is seen, with A fixed every row of B is one on the entries
 * seen of its sample: normal equations of order R.  Label entries have the
 * logistic loss instead: a few Newton steps, each never uphill.  The offset is
 * a column of ones behind B whose ridge tau alpha^2 comes from
 *   |e| sqrt(1 + |c|^2) = min over alpha of (alpha^2 (1 + |c|^2) +
 *                         |e|^2 / alpha^2) / 2,  alpha^2 = |e| / sqrt(1 +
 * |c|^2).
 */
#include <float.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "la/parts.h"
#include "methods/mc/factored/factored.h"

enum { NEWTON = 3, HALVINGS = 30 };
static const uint64_t STREAM = 0x6d6366;

/* ---- room ---------------------------------------------------------------*/
/* Rows of another length, what fits kept. */
static lapis_status relay(lapis_ctx *ctx, tall *A, int64_t ld)
{
  if (A->ld == ld && A->v != NULL) return LAPIS_OK;
  double *v = base_alloc(ctx, A->rows * ld, sizeof *v);
  if (v == NULL) return LAPIS_ENOMEM;
  int64_t copied = A->ld < ld ? A->ld : ld;
  for (int64_t i = 0; A->v != NULL && i < A->rows; i++)
    memcpy(v + i * ld, A->v + i * A->ld, (size_t)copied * sizeof *v);
  base_free(A->v);
  A->v = v;
  A->ld = ld;
  return LAPIS_OK;
}

static lapis_status again(lapis_ctx *ctx, double **p, int64_t count)
{
  base_free(*p);
  *p = base_alloc(ctx, count, sizeof **p);
  return *p == NULL ? LAPIS_ENOMEM : LAPIS_OK;
}

/* Numbers of one row's normal equations: a triangle and a right side. */
static int64_t equations(int64_t q)
{
  return q * (q + 1) / 2 + q;
}

/* Rows whose equations processes sum by one message. */
static int64_t rows_at_once(const factored *f, int64_t ld)
{
  const int64_t most = 1 << 20; /* numbers */
  int64_t rows = most / (equations(ld) + 1);
  return rows < 1 ? 1 : rows < f->m ? rows : f->m;
}

static lapis_status resize_work(mc *w, int64_t ld, int64_t ldq)
{
  factored *f = w->state;
  int64_t wide = ld > ldq ? ld : ldq;
  f->room = 2 * ld * ld + (TALL_CHUNK + 1) * ld + 4 * ld + 2 * TALL_CHUNK;
  TRY(again(w->base.ctx, &f->scratch, w->h.threads * f->room));
  if (base_ranks(w->base.ctx) > 1)
    TRY(again(w->base.ctx, &f->normal, rows_at_once(f, ld) * equations(ld)));
  return again(w->base.ctx, &f->small, 3 * wide * wide);
}

/* Guards begin anywhere. */
static void draw_guards(mc *w, int64_t first, int64_t end)
{
  factored *f = w->state;
  uint64_t seed = base_seed(w->base.ctx);
  for (int64_t k = first; k < end; k++)
    for (int64_t i = 0; i < f->GV.rows; i++)
      f->GV.v[i * f->GV.ld + k] =
          rng_normal(seed, STREAM, (uint64_t)f->drawn++);
}

lapis_status factored_reserve(mc *w, int64_t R, int64_t q)
{
  factored *f = w->state;
  lapis_ctx *ctx = w->base.ctx;
  int64_t ld = tall_ld(f->off + R), ldq = tall_ld(q);
  bool grown = f->scratch == NULL || ld != f->A.ld || ldq != f->V.ld;
  TRY(relay(ctx, &f->A, ld));
  TRY(relay(ctx, &f->B, ld));
  TRY(relay(ctx, &f->V, ldq));
  TRY(relay(ctx, &f->GV, ldq));
  TRY(relay(ctx, &f->T, ldq));
  TRY(relay(ctx, &f->sigma, ld));
  TRY(relay(ctx, &f->theta, ldq));
  TRY(relay(ctx, &f->error, ldq));
  if (grown) TRY(resize_work(w, ld, ldq));
  draw_guards(w, f->q, q);
  f->R = f->shape[0] = R;
  f->q = f->shape[1] = q;
  return LAPIS_OK;
}

/* ---- losses of one label -------------------------------------------------*/
/* l(z), l'(z) and l''(z) of a label of sample j with target v. */
static void label_loss(const mc *w, int64_t j, double v, double z,
                       double out[3])
{
  const entry_par par = factored_label(w, j, 1);
  e_newton(w->p.phi.block[0].kind, z, v, &par, out); /* labels come first */
}

/* ---- one row, given the other factor -------------------------------------*/
typedef struct line { /* what one row sees: labels first */
  const int32_t *at;
  const double *value;
  int64_t count, labels;
  int64_t sample; /* whose row of B it is, or -1: a row of A */
  bool divided;   /* its labels are those of this process's samples */
} line;

static int64_t sample_of(const line *e, int64_t k)
{
  return e->sample >= 0 ? e->sample : e->at[k];
}

typedef struct room { /* one thread's */
  double *G, *H, *h, *g, *step, *trial, *weight, *slope, *panel;
} room;

static room room_of(const factored *f, int thread)
{
  int64_t ld = f->A.ld;
  double *p = f->scratch + thread * f->room;
  return (room){.G = p,
                .H = p + ld * ld,
                .h = p + 2 * ld * ld,
                .g = p + 2 * ld * ld + ld,
                .step = p + 2 * ld * ld + 2 * ld,
                .trial = p + 2 * ld * ld + 3 * ld,
                .weight = p + 2 * ld * ld + 4 * ld,
                .slope = p + 2 * ld * ld + 4 * ld + TALL_CHUNK,
                .panel = p + 2 * ld * ld + 4 * ld + 2 * TALL_CHUNK};
}

/* The first unknown is 1. */
static void pin(int64_t q, double *G, double *h)
{
  for (int64_t c = 1; c < q; c++) {
    if (h != NULL) h[c] -= G[c];
    G[c] = 0;
  }
  G[0] = 1;
  if (h != NULL) h[0] = 1;
}

/* g = G x - h, G by its upper triangle. */
static void gradient(int64_t q, int64_t ld, const room *r, const double *x)
{
  for (int64_t i = 0; i < q; i++) r->g[i] = r->G[i * ld + i] * x[i] - r->h[i];
  for (int64_t i = 0; i < q; i++)
    for (int64_t j = i + 1; j < q; j++) {
      r->g[i] += r->G[i * ld + j] * x[j];
      r->g[j] += r->G[i * ld + j] * x[i];
    }
}

/* Of what all processes have alike, the first brings it into a sum. */
static bool brings(const mc *w, const line *e)
{
  return !e->divided || base_rank(w->base.ctx) == 0;
}

/* x'G x / 2 - h'x + the label losses; r->g is overwritten. */
static lapis_status value_at(const mc *w, const room *r, const line *e,
                             const tall *F, int64_t q, const double *x,
                             double *out)
{
  double sum = 0, loss[3];
  gradient(q, F->ld, r, x);
  for (int64_t i = 0; brings(w, e) && i < q; i++)
    sum += 0.5 * x[i] * (r->g[i] - r->h[i]);
  for (int64_t k = 0; k < e->labels; k++) {
    double z = tall_dot(F->ld, F->v + e->at[k] * F->ld, x);
    label_loss(w, sample_of(e, k), e->value[k], z, loss);
    sum += loss[0];
  }
  *out = sum;
  return e->divided ? base_sum(w->base.ctx, out, 1) : LAPIS_OK;
}

/* r->H = G + sum l'' f f', r->g = G x - h + sum l' f. */
static lapis_status newton_system(const mc *w, const room *r, const line *e,
                                  const tall *F, int64_t q, const double *x)
{
  int64_t ld = F->ld;
  gradient(q, ld, r, x);
  memcpy(r->H, r->G, (size_t)(ld * ld) * sizeof *r->H);
  if (!brings(w, e)) memset(r->H, 0, (size_t)(ld * ld) * sizeof *r->H);
  if (!brings(w, e)) memset(r->g, 0, (size_t)ld * sizeof *r->g);
  for (int64_t first = 0; first < e->labels; first += TALL_CHUNK) {
    int64_t n = e->labels - first < TALL_CHUNK ? e->labels - first : TALL_CHUNK;
    double loss[3];
    for (int64_t k = 0; k < n; k++) {
      double z = tall_dot(ld, F->v + e->at[first + k] * ld, x);
      label_loss(w, sample_of(e, first + k), e->value[first + k], z, loss);
      r->slope[k] = loss[1];
      r->weight[k] = loss[2];
    }
    tall_weighted(ld, F->v, e->at + first, n, r->weight, r->panel, r->H);
    tall_combine(ld, F->v, e->at + first, n, r->slope, r->panel);
    for (int64_t c = 0; c < q; c++) r->g[c] += r->panel[c];
  }
  if (!e->divided) return LAPIS_OK;
  TRY(base_sum_later(w->base.ctx, r->g, q));
  TRY(base_sum(w->base.ctx, r->H, ld * ld));
  return base_sum_due(w->base.ctx);
}

/* x goes down by Newton steps from where it is; LAPIS_ENUMERIC: no
 * factorisation. */
static lapis_status newton(const mc *w, const room *r, const line *e,
                           const tall *F, int64_t q, bool fixed, double *x)
{
  double value;
  TRY(value_at(w, r, e, F, q, x, &value));
  for (int it = 0; it < NEWTON; it++) {
    double slope = 0, length = 1, next = INFINITY;
    TRY(newton_system(w, r, e, F, q, x));
    if (fixed) {
      pin(q, r->H, NULL);
      r->g[0] = 0;
    }
    for (int64_t c = 0; c < q; c++) r->step[c] = -r->g[c];
    if (!tall_cholesky(q, F->ld, r->H)) return LAPIS_ENUMERIC;
    tall_solve(q, F->ld, r->H, r->step);
    for (int64_t c = 0; c < q; c++) slope += r->g[c] * r->step[c];
    if (-slope <= 4 * DBL_EPSILON * fabs(value)) return LAPIS_OK;
    for (int k = 0; k < HALVINGS; k++, length /= 2) {
      for (int64_t c = 0; c < F->ld; c++)
        r->trial[c] = c < q ? x[c] + length * r->step[c] : 0;
      TRY(value_at(w, r, e, F, q, r->trial, &next));
      if (next <= value + 1e-4 * length * slope) break;
    }
    if (!(next < value)) return LAPIS_OK;
    memcpy(x, r->trial, (size_t)q * sizeof *x);
    value = next;
  }
  return LAPIS_OK;
}

static int64_t entries_of_whole(const factored *f, const tall *F)
{
  return F == &f->A ? F->rows - f->o.K : F->rows;
}

/* r->G, r->h <- the normal equations of the features of e; whole: G of a line
 * where nothing is missing, or NULL. */
static void normal_equations(const mc *w, const room *r, const line *e,
                             const tall *F, const double *whole)
{
  const factored *f = w->state;
  int64_t ld = F->ld, seen = e->count - e->labels;
  if (whole != NULL && seen == entries_of_whole(f, F)) {
    memcpy(r->G, whole, (size_t)(ld * ld) * sizeof *r->G);
    tall_combine(ld, F->v, e->at + e->labels, seen, e->value + e->labels, r->h);
    return;
  }
  memset(r->G, 0, (size_t)(ld * ld) * sizeof *r->G);
  memset(r->h, 0, (size_t)ld * sizeof *r->h);
  tall_normal(ld, f->off + f->R, F->v, e->at + e->labels, seen,
              e->value + e->labels, r->panel, r->G, r->h);
}

/* x <- argmin tau |x|^2 / 2 (first: its own ridge, or fixed at 1) + losses, of
 * features by r->G and r->h; labels: there are some. */
static lapis_status solve_line(const mc *w, const room *r, const line *e,
                               const tall *F, double first, bool fixed,
                               bool labels, double *x)
{
  const factored *f = w->state;
  int64_t ld = F->ld, q = f->off + f->R;
  for (int64_t c = 0; c < q; c++)
    r->G[c * ld + c] += c < f->off ? first : f->tau;
  if (fixed) pin(q, r->G, r->h);
  if (labels) return newton(w, r, e, F, q, fixed, x);
  if (!tall_cholesky(q, ld, r->G)) return LAPIS_ENUMERIC;
  memcpy(x, r->h, (size_t)q * sizeof *x);
  tall_solve(q, ld, r->G, x);
  return LAPIS_OK;
}

/* ---- the two halves ------------------------------------------------------*/
static line row_line(const observed *o, int64_t i)
{
  int64_t at = o->at_t[i], count = o->at_t[i + 1] - at;
  return (line){o->col_t + at, o->value_t + at, count, i < o->K ? count : 0, -1,
                false};
}

static line sample_line(const observed *o, int64_t j)
{
  int64_t at = o->at[j], count = o->at[j + 1] - at;
  return (line){o->row + at, o->value + at,
                count,       o->K > 0 ? observed_labels(o, j) : 0,
                j,           false};
}

/* x goes `relax` times the way to its minimum, of labels to the end. */
static lapis_status move_line(const mc *w, const room *r, const line *e,
                              const tall *F, double first, bool fixed,
                              bool labels, double *x)
{
  const factored *f = w->state;
  bool relaxed = f->relax > 1 && !labels;
  if (relaxed) memcpy(r->step, x, (size_t)F->ld * sizeof *x);
  TRY(solve_line(w, r, e, F, first, fixed, labels, x));
  for (int64_t c = 0; relaxed && c < F->ld; c++)
    x[c] = r->step[c] + f->relax * (x[c] - r->step[c]);
  return LAPIS_OK;
}

static lapis_status not_factored(mc *w, const char *what)
{
  return lapis_fail(w->base.ctx, LAPIS_ENUMERIC,
                    "mc: the normal equations of a %s cannot be factored; "
                    "rescale X (--map standard) or raise mu",
                    what);
}

/* G of the first line where nothing is missing, which all of them share; NULL:
 * there is none. */
static const double *share_whole(mc *w, bool samples, const tall *F)
{
  factored *f = w->state;
  int64_t rows = samples ? f->B.rows : f->A.rows, ld = F->ld;
  for (int64_t i = 0; i < rows; i++) {
    line e = samples ? sample_line(&f->o, i) : row_line(&f->o, i);
    int64_t seen = e.count - e.labels;
    if (seen == 0 || seen < entries_of_whole(f, F)) continue;
    memset(f->small, 0, (size_t)(ld * ld) * sizeof *f->small);
    tall_normal(ld, f->off + f->R, F->v, e.at + e.labels, seen, NULL,
                room_of(f, 0).panel, f->small, NULL);
    return f->small;
  }
  return NULL;
}

static lapis_status half(mc *w, bool samples)
{
  factored *f = w->state;
  tall *X = samples ? &f->B : &f->A;
  const tall *F = samples ? &f->A : &f->B;
  bool fixed = samples && f->off > 0;
  double first = f->tau * f->alpha2;
  const double *whole = share_whole(w, samples, F);
  int failed = 0;
#pragma omp parallel for num_threads(base_team(w->base.ctx, f->threads)) \
    schedule(dynamic, 32) reduction(|                                    \
                                    : failed)
  for (int64_t i = 0; i < X->rows; i++) {
    room r = room_of(f, omp_get_thread_num());
    line e = samples ? sample_line(&f->o, i) : row_line(&f->o, i);
    normal_equations(w, &r, &e, F, whole);
    if (move_line(w, &r, &e, F, first, fixed, e.labels > 0, X->v + i * X->ld) <
        0)
      failed = 1;
  }
  return failed == 0 ? LAPIS_OK
                     : not_factored(w, samples ? "sample" : "feature");
}

/* ---- rows whose samples are divided --------------------------------------*/
/* The triangle of r->G and r->h into p, or back. */
static void pack(int64_t q, int64_t ld, const room *r, double *p, bool back)
{
  if (back) memset(r->G, 0, (size_t)(ld * ld) * sizeof *r->G);
  if (back) memset(r->h, 0, (size_t)ld * sizeof *r->h);
  for (int64_t i = 0; i <= q; i++) {
    double *from = i < q ? r->G + i * ld + i : r->h;
    int64_t count = i < q ? q - i : q;
    memcpy(back ? from : p, back ? p : from, (size_t)count * sizeof *p);
    p += count;
  }
}

/* Features first .. first + count - 1: their equations are summed, and all
 * processes solve them. */
static lapis_status feature_rows(mc *w, int64_t first, int64_t count)
{
  factored *f = w->state;
  int64_t ld = f->A.ld, q = f->off + f->R, size = equations(q);
  double ridge = f->tau * f->alpha2;
  int failed = 0;
#pragma omp parallel for num_threads(base_team(w->base.ctx, f->threads)) \
    schedule(dynamic, 32)
  for (int64_t i = 0; i < count; i++) {
    room r = room_of(f, omp_get_thread_num());
    line e = row_line(&f->o, first + i);
    normal_equations(w, &r, &e, &f->B, NULL);
    pack(q, ld, &r, f->normal + i * size, false);
  }
  TRY(base_sum(w->base.ctx, f->normal, count * size));
#pragma omp parallel for num_threads(base_team(w->base.ctx, f->threads)) \
    schedule(dynamic, 32) reduction(|                                    \
                                    : failed)
  for (int64_t i = 0; i < count; i++) {
    room r = room_of(f, omp_get_thread_num());
    line e = row_line(&f->o, first + i);
    pack(q, ld, &r, f->normal + i * size, true);
    double *x = f->A.v + (first + i) * ld;
    if (move_line(w, &r, &e, &f->B, ridge, false, false, x) < 0) failed = 1;
  }
  return failed == 0 ? LAPIS_OK : not_factored(w, "feature");
}

/* Labels, one after the other: every step of Newton's is summed. */
static lapis_status label_row(mc *w, int64_t i)
{
  factored *f = w->state;
  room r = room_of(f, 0);
  line e = row_line(&f->o, i);
  int64_t known = e.labels;
  TRY(base_sum_whole(w->base.ctx, &known, 1));
  e.divided = true;
  normal_equations(w, &r, &e, &f->B, NULL);
  lapis_status s = move_line(w, &r, &e, &f->B, f->tau * f->alpha2, false,
                             known > 0, f->A.v + i * f->A.ld);
  return s == LAPIS_ENUMERIC ? not_factored(w, "label") : s;
}

static lapis_status divided_rows(mc *w)
{
  factored *f = w->state;
  int64_t K = f->o.K, most = rows_at_once(f, f->A.ld);
  for (int64_t i = 0; i < K; i++) TRY(label_row(w, i));
  for (int64_t i = K; i < f->m; i += most)
    TRY(feature_rows(w, i, f->m - i < most ? f->m - i : most));
  return LAPIS_OK;
}

/* alpha^2 = |e| / sqrt(1 + |c|^2) */
static void set_alpha(factored *f)
{
  double cc = 1;
  for (int64_t i = 0; i < f->m; i++)
    cc += f->A.v[i * f->A.ld] * f->A.v[i * f->A.ld];
  f->alpha2 = sqrt((double)f->all / cc);
}

lapis_status factored_rows(mc *w)
{
  factored *f = w->state;
  TRY(f->B.divided ? divided_rows(w) : half(w, false));
  if (f->off > 0) set_alpha(f);
  return LAPIS_OK;
}

lapis_status factored_samples(mc *w)
{
  return half(w, true);
}

/* ---- balance --------------------------------------------------------------
 * A = U1 S1 Q1' by the eigenpairs of A'A; S1 Q1'(B'B) Q1 S1 = P Sigma^2 P' has
 * the singular values of A B'.  A <- A Q1 S1^-1 P Sigma^(1/2) and
 * B <- B Q1 S1 P Sigma^(-1/2) leave A B' what it was, whatever rounding does
 * to S1 and Sigma, because Q1 and P are orthogonal. */
static lapis_status eigen(mc *w, double *C, int64_t R, double *values,
                          double *Q)
{
  la one = la_beside(&w->h);
  one.threads = 1; /* the same bits for any number of threads */
  la_array c = la_wrap(C, R, R), q = la_wrap(Q, R, R);
  int64_t count;
  return one.ops->eigh(&one, &c, -INFINITY, values, &q, &count);
}

/* C = diag(s) E'G E diag(s), R x R; t is scratch. */
static void between(int64_t R, const double *E, const double *s,
                    const double *G, double *t, double *C)
{
  for (int64_t j = 0; j < R; j++)
    for (int64_t i = 0; i < R; i++) {
      double sum = 0;
      for (int64_t k = 0; k < R; k++) sum += G[i * R + k] * E[j * R + k];
      t[j * R + i] = sum * s[j];
    }
  for (int64_t j = 0; j < R; j++)
    for (int64_t i = 0; i < R; i++) {
      double sum = 0;
      for (int64_t k = 0; k < R; k++) sum += E[i * R + k] * t[j * R + k];
      C[j * R + i] = sum * s[i];
    }
}

/* T row after row, ld long, from (at, at) on: the first `kept` columns of
 * Q1 S1^-1 P Sigma^(1/2), or of its inverse transposed. */
static void transform(const factored_pair *p, bool inverse, int64_t at,
                      int64_t ld, double *T)
{
  int64_t R = p->R;
  memset(T, 0, (size_t)(ld * ld) * sizeof *T);
  for (int64_t k = 0; k < at; k++) T[k * ld + k] = 1;
  for (int64_t j = 0; j < p->kept; j++)
    for (int64_t k = 0; k < R; k++) {
      if (!(p->s[k] > 0)) continue;
      double ratio = p->s[k] / sqrt(p->sigma[j]);
      double weight = p->P[j * R + k] * (inverse ? ratio : 1 / ratio);
      for (int64_t i = 0; i < R; i++)
        T[(i + at) * ld + j + at] += p->Q[k * R + i] * weight;
    }
}

lapis_status factored_pair_new(mc *w, int64_t R, const double *GA,
                               const double *GB, factored_pair *p)
{
  const double resolved = 1e-16; /* of the largest square: eps */
  *p = (factored_pair){.R = R};
  double *all = base_alloc(w->base.ctx, 4 * R * R + 2 * R, sizeof *all);
  if (all == NULL) return LAPIS_ENOMEM;
  double *t = all + 2 * R * R + 2 * R, *C = t + R * R;
  p->Q = all;
  p->P = all + R * R;
  p->s = p->P + R * R;
  p->sigma = p->s + R;
  memcpy(C, GA, (size_t)(R * R) * sizeof *C);
  lapis_status status = eigen(w, C, R, p->s, p->Q);
  for (int64_t k = 0; k < R; k++)
    p->s[k] = p->s[k] > resolved * p->s[0] ? sqrt(p->s[k]) : 0;
  between(R, p->Q, p->s, GB, t, C);
  if (status >= 0) status = eigen(w, C, R, p->sigma, p->P);
  for (int64_t k = 0; k < R; k++) {
    bool keep = p->sigma[k] > resolved * p->sigma[0];
    p->sigma[k] = keep ? sqrt(p->sigma[k]) : 0;
    p->kept += keep;
  }
  if (status < 0) factored_pair_free(p);
  return status;
}

void factored_pair_free(factored_pair *p)
{
  base_free(p->Q);
  p->Q = NULL;
}

lapis_status factored_pair_apply(la *h, const factored_pair *p, int64_t at,
                                 tall *A, tall *B)
{
  int64_t ld = A->ld;
  double *T = base_alloc(h->ctx, ld * ld, sizeof *T);
  if (T == NULL) return LAPIS_ENOMEM;
  transform(p, false, at, ld, T);
  lapis_status status = tall_times(h, A, T, A);
  transform(p, true, at, ld, T);
  if (status >= 0) status = tall_times(h, B, T, B);
  base_free(T);
  return status;
}

/* The Gram matrix without the offset, R x R, into C. */
static lapis_status gram_of(mc *w, const tall *A, double *C)
{
  factored *f = w->state;
  TRY(tall_gram(&w->h, A, f->small));
  for (int64_t j = 0; j < f->R; j++)
    for (int64_t i = 0; i < f->R; i++)
      C[j * f->R + i] = f->small[(j + f->off) * A->ld + i + f->off];
  return LAPIS_OK;
}

/* T <- T (I - 2 v v' / v'v) and its first column times `scale`; q x q of T. */
static void reflect(int64_t q, int64_t ld, const double *v, double scale,
                    double *T)
{
  double vv = 0;
  for (int64_t k = 0; k < q; k++) vv += v[k] * v[k];
  for (int64_t i = 0; i < q; i++) {
    double along = 0;
    for (int64_t k = 0; k < q; k++) along += T[i * ld + k] * v[k];
    for (int64_t k = 0; k < q; k++) T[i * ld + k] -= 2 * along / vv * v[k];
    T[i * ld] *= scale;
  }
}

/* The best split of [A B' + c e'; e'] into an offset and the rest: balanced as
 * a whole, turned so that the ones' row of A is (alpha, 0, ..., 0). */
static lapis_status split_offset(mc *w)
{
  factored *f = w->state;
  int64_t q = f->off + f->R, ld = f->A.ld, square = ld * ld;
  double *G = f->small, *GA = G + square, *GB = GA + square, alpha = 0;
  factored_pair p;
  TRY(tall_gram(&w->h, &f->A, G));
  for (int64_t k = 0; k < q * q; k++) GA[k] = G[k / q * ld + k % q];
  GA[0] += 1;
  TRY(tall_gram(&w->h, &f->B, G));
  for (int64_t k = 0; k < q * q; k++) GB[k] = G[k / q * ld + k % q];
  TRY(factored_pair_new(w, q, GA, GB, &p));
  double *TA = G, *TB = GA, *v = GB;
  transform(&p, false, 0, ld, TA);
  transform(&p, true, 0, ld, TB);
  factored_pair_free(&p);
  for (int64_t k = 0; k < q; k++) {
    v[k] = TA[k];
    alpha += v[k] * v[k];
  }
  alpha = v[0] > 0 ? -sqrt(alpha) : sqrt(alpha);
  v[0] -= alpha;
  reflect(q, ld, v, 1 / alpha, TA);
  reflect(q, ld, v, alpha, TB);
  TRY(tall_times(&w->h, &f->A, TA, &f->A));
  TRY(tall_times(&w->h, &f->B, TB, &f->B));
  for (int64_t j = 0; j < f->n; j++) f->B.v[j * ld] = 1; /* to rounding */
  set_alpha(f);
  return LAPIS_OK;
}

lapis_status factored_balance(mc *w)
{
  factored *f = w->state;
  if (f->off > 0) TRY(split_offset(w));
  int64_t R = f->R, square = f->A.ld * f->A.ld;
  double *GA = f->small + square, *GB = GA + square;
  factored_pair p;
  if (R == 0) return LAPIS_OK;
  TRY(gram_of(w, &f->A, GA));
  TRY(gram_of(w, &f->B, GB));
  TRY(factored_pair_new(w, R, GA, GB, &p));
  int64_t kept = p.kept;
  memcpy(f->sigma.v, p.sigma, (size_t)R * sizeof(double));
  lapis_status status = factored_pair_apply(&w->h, &p, f->off, &f->A, &f->B);
  factored_pair_free(&p);
  TRY(status);
  return kept < R ? factored_reserve(w, kept, f->q) : LAPIS_OK;
}

void factored_drop(factored *f, const bool *keep)
{
  tall *both[] = {&f->A, &f->B};
  int64_t kept = 0;
  for (int s = 0; s < 2; s++)
    for (int64_t i = 0; i < both[s]->rows; i++) {
      double *row = both[s]->v + i * both[s]->ld + f->off;
      kept = 0;
      for (int64_t k = 0; k < f->R; k++)
        if (keep[k]) row[kept++] = row[k];
      for (int64_t k = kept; k < f->R; k++) row[k] = 0;
    }
  kept = 0;
  for (int64_t k = 0; k < f->R; k++)
    if (keep[k]) f->sigma.v[kept++] = f->sigma.v[k];
  f->R = f->shape[0] = kept;
}

/* ---- the residual --------------------------------------------------------*/
typedef struct sums {
  double loss, inner, square, pad[5];
} sums;

static void rest_of_samples(const mc *w, int64_t first, int64_t end, sums *out)
{
  const factored *f = w->state;
  const observed *o = &f->o;
  int64_t ld = f->A.ld;
  for (int64_t j = first; j < end; j++)
    for (int64_t k = o->at[j]; k < o->at[j + 1]; k++) {
      double z = tall_dot(ld, f->A.v + o->row[k] * ld, f->B.v + j * ld);
      if (o->row[k] < o->K) {
        double loss[3];
        label_loss(w, j, o->value[k], z, loss);
        o->rest[k] = -loss[1];
        out->loss += loss[0];
        continue;
      }
      double s = o->value[k] - z;
      o->rest[k] = s;
      out->loss += s * s / 2;
      out->square += s * s;
      out->inner += s * o->value[k];
    }
}

/* The same numbers row by row: a product and its factors exchanged round
 * alike. */
static double rest_of_row(const mc *w, int64_t i)
{
  const factored *f = w->state;
  const observed *o = &f->o;
  int64_t ld = f->A.ld;
  double sum = 0;
  for (int64_t k = o->at_t[i]; k < o->at_t[i + 1]; k++) {
    double z = tall_dot(ld, f->A.v + i * ld, f->B.v + o->col_t[k] * ld),
           loss[3];
    if (i < o->K) {
      label_loss(w, o->col_t[k], o->value_t[k], z, loss);
      o->rest_t[k] = -loss[1];
    } else {
      o->rest_t[k] = o->value_t[k] - z;
    }
    sum += o->rest_t[k];
  }
  return sum;
}

lapis_status factored_rest(mc *w)
{
  factored *f = w->state;
  sums part[PARTS] = {{0}};
#pragma omp parallel for num_threads(base_team(w->base.ctx, f->threads)) \
    schedule(dynamic, 1)
  for (int p = 0; p < PARTS; p++)
    rest_of_samples(w, part_begin(f->n, p), part_begin(f->n, p + 1), &part[p]);
#pragma omp parallel for num_threads(base_team(w->base.ctx, f->threads)) \
    schedule(dynamic, 32)
  for (int64_t i = 0; i < f->m; i++) f->push[i] = rest_of_row(w, i);
  f->loss = f->inner = f->square = 0;
  for (int p = 0; p < PARTS; p++) {
    f->loss += part[p].loss;
    f->inner += part[p].inner;
    f->square += part[p].square;
  }
  double *one[] = {&f->loss, &f->inner, &f->square};
  for (int k = 0; k < 3; k++) TRY(base_sum_later(w->base.ctx, one[k], 1));
  TRY(base_sum(w->base.ctx, f->push, f->off > 0 ? f->m : 0));
  return base_sum_due(w->base.ctx);
}
