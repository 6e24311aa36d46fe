/* factored_proof.c - how large the residual can be, and the gap it proves.
 *
 * S (m x n) is minus the gradient of the losses at Z, 0 where nothing is seen.
 * For any s with s |S|_2 <= tau, s S is a dual point: plain completion has
 *   dual = s <S, X> - s^2 |S|^2 / 2,
 * and with labels the row of ones that is best for s S gives, exactly,
 *   dual = sqrt(tau^2 |e|^2 - s^2 |S e|^2) + the same + the labels' part
 * (proofs.md).  All that is needed is a bound of |S|_2 from above.
 *
 * Random.  G = S S' or S'S on the smaller side.  V holds Ritz vectors of a
 * block that starts from the factor (at the optimum singular vectors of S with
 * value tau) and guards.  With U its first k, T = U'G U, E = |(I - UU') G U|_F
 * and c a bound of (I - UU') G (I - UU'),
 *   |S|^2 <= (t + c) / 2 + sqrt((t - c)^2 / 4 + E^2),  t = theta_1.
 * c is shown as in src/op/svt/svt_subspace.c: were there a unit vector y of the
 * complement with y'G y >= c, |T_d z| >= T_d(c) |y'z| for the Chebyshev
 * polynomial T_d of [0, c'], c' < c, so if |T_d z| < T_d(c) / 100 for 8 fresh
 * normal z, all 8 have |y'z| < 1/100: probability below 0.008^8 < 2e-17.
 *
 * Exact.  t^2 I - G - shift is factored by Cholesky; the shift covers what
 * rounding can hide [Rump 2006]: (k + 2) eps |G's diagonal| for the
 * factorisation, eps times entries of a line for the sums in G, both in terms
 * of the trace, |S|_F^2. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "la/parts.h"
#include "methods/mc/factored/factored.h"

enum { REFINE = 12, MOST_DEGREE = 400, BISECT = 40 };
static const double UNLIKELY = 0.01;
static const double EASY = 1.2;   /* c / next eigenvalue: about 14 degrees */
static const double HARD = 1.004; /* below it no test is begun */
static const uint64_t STREAM = 0x70726f;

/* ---- products with S ------------------------------------------------------*/
static lapis_status times_rest(const mc *w, bool to_rows, const tall *X,
                               tall *Y)
{
  const factored *f = w->state;
  const observed *o = &f->o;
  const int64_t *at = to_rows ? o->at_t : o->at;
  const int32_t *index = to_rows ? o->col_t : o->row;
  const double *rest = to_rows ? o->rest_t : o->rest;
#pragma omp parallel for num_threads(base_team(w->base.ctx, f->threads)) \
    schedule(dynamic, 32)
  for (int64_t i = 0; i < Y->rows; i++)
    tall_combine(Y->ld, X->v, index + at[i], at[i + 1] - at[i], rest + at[i],
                 Y->v + i * Y->ld);
  return to_rows ? base_sum(w->base.ctx, Y->v, Y->rows * Y->ld) : LAPIS_OK;
}

lapis_status factored_out(const mc *w, const tall *X, tall *Y)
{
  return times_rest(w, ((const factored *)w->state)->by_sample, X, Y);
}

lapis_status factored_back(const mc *w, const tall *X, tall *Y)
{
  return times_rest(w, !((const factored *)w->state)->by_sample, X, Y);
}

/* ---- the block ------------------------------------------------------------*/
/* V = [the factor's directions, guards from the last step]. */
static void begin_block(factored *f)
{
  const tall *F = f->by_sample ? &f->B : &f->A;
  int64_t ldq = f->V.ld;
  for (int64_t i = 0; i < f->V.rows; i++) {
    double *v = f->V.v + i * ldq;
    const double *guard = f->GV.v + i * ldq;
    for (int64_t k = 0; k < f->q; k++)
      v[k] = k < f->R ? F->v[i * F->ld + f->off + k] / sqrt(f->sigma.v[k])
                      : guard[k];
    for (int64_t k = f->q; k < ldq; k++) v[k] = 0;
  }
}

/* u_k'S v_k of the factor's own directions, before T is rotated. */
static lapis_status own_values(const mc *w, double *own)
{
  const factored *f = w->state;
  const tall *F = f->by_sample ? &f->A : &f->B;
  for (int64_t k = 0; k < f->R; k++) own[k] = 0;
  for (int64_t i = 0; i < f->T.rows; i++)
    for (int64_t k = 0; k < f->R; k++)
      own[k] += f->T.v[i * f->T.ld + k] * F->v[i * F->ld + f->off + k];
  TRY(base_sum(w->base.ctx, own, f->T.divided ? f->R : 0));
  for (int64_t k = 0; k < f->R; k++) own[k] /= sqrt(f->sigma.v[k]);
  return LAPIS_OK;
}

/* theta_i and |G v_i - theta_i v_i| */
static void ritz_errors(factored *f)
{
  int64_t ldq = f->V.ld;
  for (int64_t k = 0; k < f->q; k++) f->error.v[k] = 0;
  for (int64_t i = 0; i < f->V.rows; i++)
    for (int64_t k = 0; k < f->q; k++) {
      double r = f->GV.v[i * ldq + k] - f->theta.v[k] * f->V.v[i * ldq + k];
      f->error.v[k] += r * r;
    }
  for (int64_t k = 0; k < f->q; k++) f->error.v[k] = sqrt(f->error.v[k]);
}

lapis_status factored_ritz(mc *w, bool anew, double *own)
{
  factored *f = w->state;
  int64_t ldq = f->V.ld, q = f->q, count;
  double *G = f->small, *Q = G + ldq * ldq, *C = Q + ldq * ldq;
  la one = la_beside(&w->h);
  one.threads = 1;
  if (anew)
    begin_block(f);
  else
    memcpy(f->V.v, f->GV.v, (size_t)(f->V.rows * ldq) * sizeof *f->V.v);
  TRY(tall_orthonormal(&w->h, &f->V, q));
  TRY(factored_out(w, &f->V, &f->T));
  if (own != NULL) TRY(own_values(w, own));
  TRY(factored_back(w, &f->T, &f->GV));
  TRY(tall_gram(&w->h, &f->T, G));
  for (int64_t j = 0; j < q; j++)
    for (int64_t i = 0; i < q; i++) C[j * q + i] = G[j * ldq + i];
  la_array c = la_wrap(C, q, q), vectors = la_wrap(Q, q, q);
  TRY(one.ops->eigh(&one, &c, -INFINITY, f->theta.v, &vectors, &count));
  memset(G, 0, (size_t)(ldq * ldq) * sizeof *G);
  for (int64_t j = 0; j < q; j++)
    for (int64_t i = 0; i < q; i++) G[i * ldq + j] = Q[j * q + i];
  TRY(tall_times(&w->h, &f->V, G, &f->V));
  TRY(tall_times(&w->h, &f->T, G, &f->T));
  TRY(tall_times(&w->h, &f->GV, G, &f->GV));
  ritz_errors(f);
  return LAPIS_OK;
}

/* The largest eigenvalue of a small H >= 0: squared 40 times, what is left is
 * the projector on its eigenvectors. */
static double largest_of(double H[FACTORED_PROBES * FACTORED_PROBES])
{
  enum { Q = FACTORED_PROBES };
  double P[Q * Q], S[Q * Q], trace = 0, value = 0;
  memcpy(P, H, sizeof P);
  for (int step = 0; step < 40; step++) {
    trace = 0;
    for (int i = 0; i < Q; i++) trace += P[i * Q + i];
    if (!(trace > 0)) return 0;
    for (int i = 0; i < Q * Q; i++) P[i] /= trace;
    for (int i = 0; i < Q; i++)
      for (int j = 0; j < Q; j++) {
        S[i * Q + j] = 0;
        for (int k = 0; k < Q; k++) S[i * Q + j] += P[i * Q + k] * P[k * Q + j];
      }
    memcpy(P, S, sizeof P);
  }
  trace = 0;
  for (int i = 0; i < Q; i++) trace += P[i * Q + i];
  for (int i = 0; i < Q * Q; i++) value += P[i] * H[i];
  return value / trace;
}

lapis_status factored_power(la *h, const observed *o, bool ones, tall *V,
                            tall *T, double *value)
{
  enum { Q = FACTORED_PROBES };
  double H[Q * Q], sum[Q] = {0};
  TRY(tall_orthonormal(h, V, Q));
#pragma omp parallel for num_threads(parts_team(h, o->count)) \
    schedule(dynamic, 32)
  for (int64_t i = 0; i < o->rows; i++)
    tall_combine(Q, V->v, o->col_t + o->at_t[i], o->at_t[i + 1] - o->at_t[i],
                 o->value_t + o->at_t[i], T->v + i * Q);
  for (int64_t j = 0; ones && j < o->cols; j++)
    for (int k = 0; k < Q; k++) sum[k] += V->v[j * Q + k];
  TRY(base_sum_later(h->ctx, sum, Q));
  TRY(base_sum(h->ctx, T->v, T->rows * Q));
  TRY(tall_gram(h, T, H));
  for (int i = 0; i < Q; i++)
    for (int j = 0; j < Q; j++) H[i * Q + j] += sum[i] * sum[j];
  *value = sqrt(largest_of(H));
#pragma omp parallel for num_threads(parts_team(h, o->count)) \
    schedule(dynamic, 32)
  for (int64_t j = 0; j < o->cols; j++) {
    double *v = V->v + j * Q;
    tall_combine(Q, T->v, o->row + o->at[j], o->at[j + 1] - o->at[j],
                 o->value + o->at[j], v);
    for (int k = 0; k < Q; k++) v[k] += sum[k];
  }
  return LAPIS_OK;
}

/* ---- bounds ---------------------------------------------------------------*/
/* sum over known labels of the conjugate at s g, g = -rest. */
static lapis_status labels_conjugate(const mc *w, double s, double *out)
{
  const observed *o = &((const factored *)w->state)->o;
  int kind = w->p.phi.block[0].kind;
  double sum = 0;
  for (int64_t k = 0; k < o->at_t[o->K]; k++) {
    const entry_par par = factored_label(w, o->col_t[k], s);
    double g = e_clamp(kind, -o->rest_t[k], o->value_t[k], &par);
    sum += e_conj(kind, g, o->value_t[k], &par);
  }
  *out = sum;
  return base_sum(w->base.ctx, out, 1);
}

/* += squares of the factor's rows */
static void add_squares(const factored *f, const tall *A, double *sum)
{
  for (int64_t i = 0; i < A->rows; i++)
    for (int64_t k = f->off; k < f->off + f->R; k++)
      *sum += A->v[i * A->ld + k] * A->v[i * A->ld + k];
}

/* tau times an upper bound of |Z|_*, the ones' row included; of A, which all
 * processes have, the first speaks. */
static lapis_status nuclear(const mc *w, double *out)
{
  const factored *f = w->state;
  double half = 0, cc = 1;
  for (int64_t i = 0; f->off > 0 && i < f->m; i++)
    cc += f->A.v[i * f->A.ld] * f->A.v[i * f->A.ld];
  if (base_rank(w->base.ctx) == 0) add_squares(f, &f->A, &half);
  add_squares(f, &f->B, &half);
  TRY(base_sum(w->base.ctx, &half, 1));
  double ones = f->off > 0 ? sqrt((double)f->all) * sqrt(cc) : 0;
  *out = f->tau * (half / 2 + ones);
  return LAPIS_OK;
}

static lapis_status dual_at(const mc *w, double s, double *out)
{
  const factored *f = w->state;
  double value = s * f->inner - s * s * f->square / 2, labels;
  *out = value;
  if (f->off == 0) return LAPIS_OK;
  double ge = 0, room = f->tau * f->tau * (double)f->all;
  for (int64_t i = 0; i < f->m; i++) ge += f->push[i] * f->push[i];
  TRY(labels_conjugate(w, s, &labels));
  *out = value + sqrt(fmax(room - s * s * ge, 0)) - labels;
  return LAPIS_OK;
}

static lapis_status bound_at(const mc *w, double primal, double norm,
                             factored_bounds *out)
{
  *out = (factored_bounds){.primal = primal, .norm = norm};
  out->scale = norm > 1 ? 1 / norm : 1;
  TRY(dual_at(w, out->scale, &out->dual));
  double size = fmax(fmax(fabs(primal), fabs(out->dual)), 1e-300);
  out->gap = (primal - out->dual) / size;
  return LAPIS_OK;
}

lapis_status factored_bound(mc *w, double norm, factored_bounds *out)
{
  factored *f = w->state;
  double weight;
  TRY(nuclear(w, &weight));
  return bound_at(w, f->loss + weight, norm, out);
}

/* The largest bound of |S|_2 / tau that leaves a gap of `gap`. */
static lapis_status norm_allowed(const mc *w, double primal, double from,
                                 double gap, double *out)
{
  double low = from, high = 2 * fmax(from, 1);
  factored_bounds b;
  for (int k = 0; k < BISECT; k++) {
    double middle = (low + high) / 2;
    TRY(bound_at(w, primal, middle, &b));
    if (b.gap <= gap)
      low = middle;
    else
      high = middle;
  }
  *out = low;
  return LAPIS_OK;
}

/* ---- random ---------------------------------------------------------------*/
/* What the first k Ritz vectors leave room for: the largest c with
 * (t + c)/2 + sqrt((t - c)^2/4 + E^2) <= square. */
static double room_for_rest(const factored *f, int64_t k, double square)
{
  double t = f->theta.v[0], ee = 0;
  for (int64_t i = 0; i < k; i++) ee += f->error.v[i] * f->error.v[i];
  if (k == 0) return square;
  return t < square ? square - ee / (square - t) : 0;
}

/* How many Ritz vectors to take: where c stands farthest above what is next. */
static double best_split(const factored *f, double square, int64_t *k)
{
  double best = 0;
  *k = 0;
  for (int64_t i = 0; i <= f->q; i++) {
    double next = f->theta.v[i < f->q ? i : f->q - 1];
    double ratio = room_for_rest(f, i, square) / fmax(next, 1e-300);
    if (!(ratio > best)) continue;
    best = ratio;
    *k = i;
  }
  return best;
}

/* Z -= U U'Z, U the first k columns of V. */
static lapis_status project_out(mc *w, int64_t k, tall *Z)
{
  factored *f = w->state;
  double *C = f->small;
  if (k == 0) return LAPIS_OK;
  TRY(tall_cross(&w->h, &f->V, Z, C));
  for (int64_t i = k; i < f->V.ld; i++)
    memset(C + i * Z->ld, 0, (size_t)Z->ld * sizeof *C);
  TRY(tall_times(&w->h, &f->V, C, &f->Z[3]));
  for (int64_t i = 0; i < Z->rows * Z->ld; i++) Z->v[i] -= f->Z[3].v[i];
  return LAPIS_OK;
}

static double longest(const tall *Z)
{
  double sum[FACTORED_PROBES] = {0}, most = 0;
  for (int64_t i = 0; i < Z->rows; i++)
    for (int k = 0; k < FACTORED_PROBES; k++)
      sum[k] += Z->v[i * Z->ld + k] * Z->v[i * Z->ld + k];
  for (int k = 0; k < FACTORED_PROBES; k++) most = fmax(most, sum[k]);
  return sqrt(most);
}

/* Z[0], Z[1] <- T_d z, T_(d+1) z, Z[2] = P G T_d z. */
static void recur(factored *f, double c, bool first)
{
  double g = first ? 1 : 2;
  double *old = f->Z[0].v, *now = f->Z[1].v, *product = f->Z[2].v;
  for (int64_t i = 0; i < f->Z[0].rows * f->Z[0].ld; i++) {
    double next = g * (2 / c * product[i] - now[i]) - (first ? 0 : old[i]);
    old[i] = now[i];
    now[i] = next;
  }
}

/* Of somebody, where there are several processes: all leave together. */
static bool was_cancelled(mc *w)
{
  bool cancelled = base_cancelled(w->base.ctx), late;
  if (base_ranks(w->base.ctx) > 1)
    (void)base_pulse(w->base.ctx, &cancelled, &late);
  return cancelled;
}

/* Whether the complement of the first k Ritz vectors stays below c. */
static lapis_status chebyshev(mc *w, int64_t k, double c, double next,
                              bool *passed)
{
  factored *f = w->state;
  /* c' of the head: it decides how soon a test passes, not what it proves */
  double inside = next + 0.25 * (c - next);
  double x = 2 * (c / inside) - 1, T = 1, before = x;
  uint64_t seed = base_seed(w->base.ctx);
  *passed = false;
  f->tests++;
  for (int64_t i = 0; i < f->Z[1].rows * f->Z[1].ld; i++)
    f->Z[1].v[i] = rng_normal(seed, STREAM, (uint64_t)f->drawn++);
  TRY(project_out(w, k, &f->Z[1]));
  for (f->degree = 0; f->degree <= MOST_DEGREE; f->degree++) {
    double length = longest(&f->Z[1]);
    *passed = length < UNLIKELY * T;
    if (*passed || !isfinite(length) || was_cancelled(w)) break;
    TRY(factored_out(w, &f->Z[1], &f->W));
    TRY(factored_back(w, &f->W, &f->Z[2]));
    TRY(project_out(w, k, &f->Z[2]));
    recur(f, inside, f->degree == 0);
    double following = f->degree == 0 ? x : 2 * x * T - before;
    before = T;
    T = following;
  }
  return LAPIS_OK;
}

/* What a failed test met joins the guards. */
static void guards_from_probes(factored *f)
{
  int64_t ldq = f->GV.ld, first = f->q - FACTORED_PROBES;
  if (first < f->R) first = f->R;
  for (int64_t i = 0; i < f->GV.rows; i++)
    for (int64_t k = first; k < f->q; k++)
      f->GV.v[i * ldq + k] = f->Z[1].v[i * f->Z[1].ld + k - first];
}

static lapis_status prove_random(mc *w, double square, bool *passed)
{
  factored *f = w->state;
  int64_t k;
  double ratio = best_split(f, square, &k);
  for (int step = 0; step < REFINE && ratio < EASY; step++) {
    double before = ratio;
    TRY(factored_ritz(w, false, NULL));
    ratio = best_split(f, square, &k);
    if (step > 2 && ratio > HARD && ratio < before * 1.001) break;
  }
  *passed = false;
  if (ratio < HARD) return LAPIS_OK;
  double c = room_for_rest(f, k, square);
  TRY(chebyshev(w, k, c, f->theta.v[k < f->q ? k : f->q - 1], passed));
  if (!*passed) guards_from_probes(f);
  base_say(w->base.ctx, 2,
           "mc: random proof: %" PRId64 " vectors taken out, the rest below "
           "%.6f tau by degree %" PRId64 ": %s",
           k, sqrt(c) / f->tau, f->degree, *passed ? "holds" : "not shown");
  return LAPIS_OK;
}

/* ---- exact ----------------------------------------------------------------*/
/* Lower triangle of S S' (or S'S), a line of the other side at a time. */
static void gram_of_rest(const factored *f, double *G, int64_t k)
{
  const observed *o = &f->o;
  const int64_t *at = f->by_sample ? o->at_t : o->at;
  const int32_t *index = f->by_sample ? o->col_t : o->row;
  const double *rest = f->by_sample ? o->rest_t : o->rest;
  for (int64_t line = 0; line < f->T.rows; line++)
    for (int64_t b = at[line]; b < at[line + 1]; b++) {
      double *column = G + index[b] * k;
      for (int64_t a = b; a < at[line + 1]; a++)
        column[index[a]] += rest[b] * rest[a];
    }
}

static int64_t longest_line(const factored *f)
{
  const int64_t *at = f->by_sample ? f->o.at : f->o.at_t;
  int64_t most = 0;
  for (int64_t i = 0; i < f->V.rows; i++)
    if (at[i + 1] - at[i] > most) most = at[i + 1] - at[i];
  return most;
}

/* LAPIS_ENUMERIC: square - G was not shown to be positive.  terms: of a sum in
 * G. */
static lapis_status factor_exact(mc *w, double *G, double square, double terms)
{
  int64_t k = ((const factored *)w->state)->V.rows;
  double trace = 0;
  for (int64_t i = 0; i < k; i++) trace += G[i * k + i];
  terms += 2 * (double)k + 10;
  double shift =
      2 * DBL_EPSILON * (terms * trace + ((double)k + 2) * square * (double)k);
  for (int64_t j = 0; j < k; j++)
    for (int64_t i = j; i < k; i++)
      G[j * k + i] = (i == j ? square - shift : 0) - G[j * k + i];
  la_array M;
  TRY(la_lend(&w->h, G, true, k, k, &M));
  lapis_status status = w->h.ops->potrf(&w->h, &M);
  w->h.ops->free(&w->h, &M);
  return status;
}

static lapis_status prove_exact(mc *w, double square, bool *passed)
{
  factored *f = w->state;
  int64_t k = f->V.rows;
  double *G = base_alloc(w->base.ctx, k * k, sizeof *G);
  *passed = false;
  if (G == NULL) return LAPIS_ENOMEM;
  gram_of_rest(f, G, k);
  double terms = (double)longest_line(f);
  lapis_status status = base_sum_later(w->base.ctx, &terms, 1);
  if (status >= 0) status = base_sum(w->base.ctx, G, k * k);
  if (status >= 0) status = factor_exact(w, G, square, terms);
  base_free(G);
  *passed = status >= 0;
  return status == LAPIS_ENUMERIC ? LAPIS_OK : status;
}

/* ---- the proof ------------------------------------------------------------*/
/* A bound of whatever size, for a solve that ends before its time. */
static lapis_status prove_loosely(mc *w, double primal)
{
  factored *f = w->state;
  bool passed = false;
  double square = 1.21 * fmax(f->theta.v[0], 1e-6 * f->tau * f->tau);
  for (int k = 0; k < 4 && !passed; k++) {
    TRY(chebyshev(w, 0, square, f->theta.v[0], &passed));
    if (!passed) square *= 2;
  }
  if (!passed) /* |S|_F^2 */
    square = f->square +
             f->beta * f->beta * w->p.most * w->p.most * (double)w->p.seen_Y;
  TRY(bound_at(w, primal, sqrt(square) / f->tau, &f->now));
  f->now.proved = true;
  f->exact = false;
  return LAPIS_OK;
}

/* The bound that leaves a gap of `gap`, shown. */
static lapis_status prove_gap(mc *w, double primal, double from, double gap)
{
  factored *f = w->state;
  /* A side that the vectors at hand nearly span leaves the random proof little
   * to look at, and is small enough for the exact one. */
  bool passed, exact = w->set.proof == LAPIS_MC_PROOF_EXACT ||
                       f->V.rows <= f->q + FACTORED_PROBES;
  double norm;
  TRY(norm_allowed(w, primal, from, gap, &norm));
  double square = norm * norm * f->tau * f->tau;
  TRY(exact ? prove_exact(w, square, &passed)
            : prove_random(w, square, &passed));
  if (!passed) return LAPIS_OK;
  TRY(bound_at(w, primal, norm, &f->now));
  f->now.proved = true;
  f->exact = exact;
  return LAPIS_OK;
}

lapis_status factored_prove(mc *w, bool last)
{
  factored *f = w->state;
  double primal = f->now.primal, tol = w->set.stop.tol;
  double from = sqrt(f->theta.v[0]) / f->tau, gap = f->now.gap;
  bool near = gap <= tol;
  if (near) TRY(prove_gap(w, primal, from, gap + 0.9 * (tol - gap)));
  if (!last || f->now.proved) return LAPIS_OK;
  if (gap < 0.5) TRY(prove_gap(w, primal, from, 1.5 * gap));
  return f->now.proved ? LAPIS_OK : prove_loosely(w, primal);
}
