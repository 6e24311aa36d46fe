/* smo.c - sequential minimal optimisation of the kernel problem.
 *
 *   minimize f(a) = a'Qa / 2,   a >= 0,  1'a = 1               [SVMP16 (22)]
 *
 * A step moves d from a_j to a_i: i has the smallest gradient g = Qa, j
 * promises the largest decrease among a_j > 0, to second order.  Since
 * f(a) - f* <= a'Qa - min g, the loop stops on that bound relative to f: the
 * absolute 1e-3 of one-class solvers is larger than f itself here.
 *
 * Where Q does not fit, the steps are those of approximate.c.
 *
 * Numerics: a'Qa follows from the steps and is made anew, with g, whenever
 * the bound says that the end is reached. */
#include <math.h>

#include "base/width.h"
#include "methods/svmplus/svmplus.h"

enum { GROUP = 64 };

/* The least value of each of LANES interleaved sequences, then its place:
 * several comparisons at a time (bench/svmplus.c, kernel). */
WIDTH_INLINED int64_t smallest(const double *g, int64_t n)
{
  enum { LANES = 8 };
  double low[LANES];
  int64_t i = 0, best = 0;
  for (int c = 0; c < LANES; c++) low[c] = g[0];
  for (; i + LANES <= n; i += LANES)
    for (int c = 0; c < LANES; c++)
      low[c] = g[i + c] < low[c] ? g[i + c] : low[c];
  for (; i < n; i++) low[0] = g[i] < low[0] ? g[i] : low[0];
  for (int c = 1; c < LANES; c++) low[0] = low[c] < low[0] ? low[c] : low[0];
  while (best < n - 1 && g[best] > low[0]) best++;
  return best;
}

/* Q_ii + Q_jj - 2 Q_ij, where rounding leaves anything of it. */
WIDTH_INLINED double curve_of(const sv_quadratic *q, int64_t j, double own,
                              const double *row)
{
  double eta = own + q->diag[j] - 2 * row[j], least = 1e-14 * own;
  return eta > least ? eta : least;
}

/* j with the largest (g_j - g_i)^2 / (Q_ii + Q_jj - 2 Q_ij), or -1.  Few groups
 * hold one that is larger than those before: whether this one does is asked of
 * all of it at once. */
WIDTH_CLONES static int64_t partner(const sv_quadratic *q, int64_t i,
                                    const double *row, double *curve)
{
  int64_t best = -1, n = q->n;
  double most = 0, least = q->g[i], own = q->diag[i];
  const double *a = q->a, *g = q->g;
  for (int64_t first = 0; first < n; first += GROUP) {
    int64_t end = first + GROUP < n ? first + GROUP : n;
    double larger = 0;
    WIDTH_SIMD(reduction(max : larger))
    for (int64_t j = first; j < end; j++) {
      double drop = a[j] > 0 ? g[j] - least : 0;
      double more = drop * drop - most * curve_of(q, j, own, row);
      larger = more > larger ? more : larger;
    }
    for (int64_t j = first; j < end && larger > 0; j++) {
      double drop = g[j] - least, eta = curve_of(q, j, own, row);
      if (drop * drop <= most * eta || !(a[j] > 0)) continue;
      most = drop * drop / eta;
      *curve = eta;
      best = j;
    }
  }
  return best;
}

/* g += d (Q_i - Q_j); returns where it is smallest. */
WIDTH_CLONES static int64_t update(sv_quadratic *q, double d, const double *qi,
                                   const double *qj)
{
  double *restrict g = q->g;
  for (int64_t k = 0; k < q->n; k++) g[k] += d * (qi[k] - qj[k]);
  return smallest(g, q->n);
}

/* Row i of Q, in `wide` (n) where it has to be made. */
static const double *row(const sv_quadratic *q, int64_t i, double *wide)
{
  if (q->single == NULL) return q->Q + i * q->n;
  sv_single_row(q->single, i, wide);
  return wide;
}

lapis_status sv_sweep(sv_quadratic *q, double tol, bool *more)
{
  double *wide = q->wide;
  int64_t i = smallest(q->g, q->n);
  for (int64_t k = 0; k < q->n; k++) {
    const double *qi = row(q, i, wide);
    double curve = 1;
    sv_quadratic_set_gap(q, q->g[i]);
    *more = q->gap > tol;
    if (!*more) return LAPIS_OK;
    int64_t j = partner(q, i, qi, &curve);
    *more = j >= 0;
    if (!*more) return LAPIS_OK;
    const double *qj = row(q, j, wide + q->n);
    double drop = q->g[j] - q->g[i], d = fmin(drop / curve, q->a[j]);
    q->a[i] += d;
    q->a[j] = d < q->a[j] ? q->a[j] - d : 0;
    q->norm -= d * (2 * drop - d * curve);
    i = update(q, d, qi, qj);
  }
  return LAPIS_OK;
}

static void start(sv_quadratic *q)
{
  double sum = 0;
  for (int64_t i = 0; i < q->n; i++) sum += q->a[i];
  if (sum > 0) return;
  for (int64_t i = 0; i < q->n; i++) q->a[i] = 1 / (double)q->n;
}

/* What takes more is so badly conditioned that it wants double precision. */
enum { SINGLE_SWEEPS = 100 };

static lapis_status step_of_model(sv_quadratic *q, sv_model *model, double tol,
                                  bool *more)
{
  TRY(sv_model_step(model, more));
  sv_quadratic_set_gap(q, q->g[smallest(q->g, q->n)]);
  *more = *more && q->gap > tol;
  return LAPIS_OK;
}

/* Whether these sweeps cost what factors of Q_FF do: a factor costs n / 400
 * sweeps (bench/svmplus.c, kernel).  Where many sweeps crawl along an
 * ill-conditioned Q, Cholesky ends them; asked again after twice as many. */
static bool is_due(const sv_quadratic *q)
{
  int64_t due = q->n < 1600 ? 4 : q->n / 400;
  while (due < q->sweeps) due *= 2;
  return due == q->sweeps;
}

static lapis_status minimise(sv_quadratic *q, sv_model *model, double tol)
{
  double last = INFINITY;
  /* Steps in single precision stop a little below. */
  double aim = q->single != NULL ? 0.9 * tol : tol;
  int64_t most = q->single != NULL ? SINGLE_SWEEPS : INT64_MAX;
  bool more = false;
  while (q->gap > tol && q->sweeps < most && loop_next(q->loop)) {
    q->sweeps++;
    more = true;
    TRY(model != NULL ? step_of_model(q, model, tol, &more)
                      : sv_sweep(q, aim, &more));
    if (more && model == NULL && is_due(q)) TRY(sv_polish(q, q->tol, tol));
    TRY(sv_quadratic_record(q, tol));
    if (more) continue;
    TRY(sv_quadratic_certify(q));
    /* the end was reached twice without gain: rounding decides */
    if (q->gap > 0.5 * last) break;
    last = q->gap;
  }
  /* out of time: the bound of g as the steps made it, which in single precision
   * is no bound */
  bool late = q->single == NULL && loop_must_end(q->loop);
  return more && !late ? sv_quadratic_certify(q) : LAPIS_OK;
}

static lapis_status run(sv_quadratic *q, sv_model *model, double tol)
{
  bool resumed;
  q->sweeps = 0;
  start(q);
  loop_keep(q->loop, "a", q->a, q->n);
  loop_keep(q->loop, "g", q->g, q->n);
  loop_keep(q->loop, "norm", &q->norm, 1);
  loop_keep(q->loop, "gap", &q->gap, 1);
  loop_keep_whole(q->loop, "sweeps", &q->sweeps, 1, 0, LOOP_MOST);
  if (model != NULL) sv_model_keep(model);
  TRY(loop_resume(q->loop, &resumed));
  if (!resumed) TRY(sv_quadratic_certify(q));
  return minimise(q, model, tol);
}

lapis_status sv_smo(sv_quadratic *q, double tol)
{
  sv_model *model = NULL;
  bool rows = q->Q == NULL && q->single == NULL;
  lapis_status s = rows ? sv_model_new(q, &model) : LAPIS_OK;
  if (s >= 0) s = run(q, model, tol);
  sv_model_free(model);
  return s;
}
