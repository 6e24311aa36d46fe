/* vertex.c - the last digits of the linear problem.
 *
 * Once it is known which dual variables are free (F), they solve
 *   Q_FF b = e_F,   Q of [SVMP16 (9)] with Q_aa = x'x + z'z/gamma,
 * that is, the gradients y w'x - 1 + v'z (of a) and v'z (of s) vanish there.
 * Newton steps on that system, residuals in long double, repair what an
 * interior point loses to rounding: theta |x|^2 eps / gamma.  Variables that
 * become negative leave F, those with a negative gradient enter, and the best
 * point by its certified gap is kept.
 *
 * A variable is 2i (a_i) or 2i + 1 (s_i).  Plain SVM: a alone, 0 <= a <= C. */
#include <math.h>
#include <string.h>

#include "methods/svmplus/columns.h"
#include "methods/svmplus/svmplus.h"

enum { ROUNDS = 12, REFINEMENTS = 3, MOST = 3000 };
static const double RIDGE = 1e-13; /* dependent columns; refined away */

typedef struct vertex {
  sv_linear *point;
  int64_t *F, count;
  bool *in;       /* 2n: in F */
  double *A;      /* count x count: Cholesky factor of Q_FF */
  double *B;      /* (d + p + 2) x count: columns (y x, z / sqrt gamma) */
  double *step;   /* count */
  long double *u; /* d + p + 2: w and v */
  double *best_a, *best_s, best_gap;
} vertex;

static double *value(vertex *t, int64_t k)
{
  return (k % 2 == 0 ? t->point->a : t->point->s) + k / 2;
}

/* ---- gradients in long double -------------------------------------------*/
static void add_long(const lapis_mat *A, int64_t j, long double f,
                     long double *weights)
{
  const double *val = A->val;
  bool dense = A->colptr == NULL;
  int64_t first = dense ? j * A->ld : A->colptr[j];
  int64_t last = dense ? first + A->rows : A->colptr[j + 1];
  for (int64_t k = first; k < last; k++)
    weights[dense ? k - first : A->rowidx[k]] += f * val[k];
  weights[A->rows] += f;
}

static long double dot_long(const lapis_mat *A, int64_t j,
                            const long double *weights)
{
  const double *val = A->val;
  bool dense = A->colptr == NULL;
  int64_t first = dense ? j * A->ld : A->colptr[j];
  int64_t last = dense ? first + A->rows : A->colptr[j + 1];
  long double sum = weights[A->rows];
  for (int64_t k = first; k < last; k++)
    sum += weights[dense ? k - first : A->rowidx[k]] * val[k];
  return sum;
}

static void weights(vertex *t)
{
  const sv_linear *point = t->point;
  const sv_data *q = point->q;
  memset(t->u, 0, (size_t)(q->d + q->p + 2) * sizeof *t->u);
  for (int64_t i = 0; i < q->n; i++) {
    if (point->a[i] > 0)
      add_long(&q->X, i, (long double)point->a[i] * q->y[i], t->u);
    long double slack = (long double)point->a[i] + point->s[i] - q->C[i];
    if (!q->plain) add_long(&q->P, i, slack / q->gamma, t->u + q->d + 1);
  }
}

/* y w'x - 1 + v'z of a, v'z of s. */
static double gradient(const vertex *t, int64_t k)
{
  const sv_data *q = t->point->q;
  int64_t i = k / 2;
  long double sum = 0;
  if (!q->plain) sum = dot_long(&q->P, i, t->u + q->d + 1);
  if (k % 2 == 0) sum += q->y[i] * dot_long(&q->X, i, t->u) - 1;
  return (double)sum;
}

/* ---- the system ---------------------------------------------------------*/
static lapis_status factorise(vertex *t)
{
  const sv_data *q = t->point->q;
  int64_t N = q->d + q->p + 2, m = t->count;
  memset(t->B, 0, (size_t)(N * m) * sizeof *t->B);
  for (int64_t c = 0; c < m; c++) {
    int64_t i = t->F[c] / 2;
    double *to = t->B + c * N;
    if (t->F[c] % 2 == 0) column_add(&q->X, i, q->y[i], to);
    if (!q->plain) column_add(&q->P, i, 1 / sqrt(q->gamma), to + q->d + 1);
  }
  la_array B = la_wrap(t->B, N, m), A = la_wrap(t->A, m, m);
  TRY(q->h->ops->syrk(q->h, LA_T, &B, &A));
  for (int64_t c = 0; c < m; c++) t->A[c * m + c] *= 1 + RIDGE;
  return q->h->ops->potrf(q->h, &A);
}

static lapis_status newton(vertex *t)
{
  const sv_data *q = t->point->q;
  la_array A = la_wrap(t->A, t->count, t->count);
  la_array b = la_wrap(t->step, t->count, 1);
  for (int k = 0; k < REFINEMENTS; k++) {
    weights(t);
    for (int64_t c = 0; c < t->count; c++) t->step[c] = -gradient(t, t->F[c]);
    TRY(q->h->ops->potrs(q->h, &A, &b));
    for (int64_t c = 0; c < t->count; c++) *value(t, t->F[c]) += t->step[c];
  }
  return LAPIS_OK;
}

/* Puts what crossed a bound onto it; counts them. */
static int64_t leave(vertex *t)
{
  sv_linear *point = t->point;
  bool plain = point->q->plain;
  int64_t kept = 0, before = t->count;
  for (int64_t c = 0; c < before; c++) {
    int64_t k = t->F[c];
    double *b = value(t, k), top = plain ? point->q->C[k / 2] : INFINITY;
    bool inside = *b > 0 && *b < top;
    if (!inside) *b = *b > 0 ? top : 0;
    t->in[k] = inside;
    if (inside) t->F[kept++] = k;
  }
  t->count = kept;
  for (int64_t i = 0; plain && i < point->q->n; i++)
    point->s[i] = point->q->C[i] - point->a[i];
  return before - kept;
}

static int64_t enter(vertex *t)
{
  const sv_data *q = t->point->q;
  int64_t before = t->count;
  weights(t);
  for (int64_t k = 0; k < 2 * q->n && t->count < MOST; k++) {
    if (t->in[k] || (q->plain && k % 2 == 1)) continue;
    bool top = q->plain && *value(t, k) > 0;
    double g = gradient(t, k), rounding = 1e-13;
    if (top ? g <= rounding : g >= -rounding) continue;
    t->in[k] = true;
    t->F[t->count++] = k;
  }
  return t->count - before;
}

/* ---- rounds -------------------------------------------------------------*/
static lapis_status one_round(vertex *t, bool *settled)
{
  sv_linear *point = t->point;
  size_t bytes = (size_t)point->q->n * sizeof *point->a;
  TRY(factorise(t));
  TRY(newton(t));
  int64_t left = leave(t);
  TRY(sv_linear_certify(point));
  if (point->gap < t->best_gap) {
    t->best_gap = point->gap;
    memcpy(t->best_a, point->a, bytes);
    memcpy(t->best_s, point->s, bytes);
  }
  *settled = left == 0 && enter(t) == 0;
  return LAPIS_OK;
}

/* m, r: y w'x and v'z of the interior point; slack above its multiplier
 * means a constraint that does not bind. */
static bool starts_free(const sv_linear *point, int64_t k)
{
  const sv_data *q = point->q;
  int64_t i = k / 2;
  double b = k % 2 == 0 ? point->a[i] : point->s[i];
  double g =
      k % 2 == 0 ? point->m[i] - 1 + (q->plain ? 0 : point->r[i]) : point->r[i];
  if (!q->plain) return b > q->C[i] * 1e-14 && b / q->C[i] > g;
  double low = b / q->C[i], high = 1 - low;
  return k % 2 == 0 && low > g && high > -g && low > 1e-14 && high > 1e-14;
}

static lapis_status choose(vertex *t)
{
  sv_linear *point = t->point;
  for (int64_t k = 0; k < 2 * point->q->n; k++) {
    t->in[k] = starts_free(point, k);
    if (t->in[k] && t->count == MOST) return LAPIS_MAX_ITERS;
    if (t->in[k]) t->F[t->count++] = k;
  }
  for (int64_t k = 0; k < 2 * point->q->n; k++) {
    double *b = value(t, k), C = point->q->C[k / 2];
    if (t->in[k]) continue;
    bool top = point->q->plain && k % 2 == 0 && *b > C / 2;
    *b = top ? C : 0;
  }
  return LAPIS_OK;
}

static lapis_status run(vertex *t)
{
  sv_linear *point = t->point;
  bool settled = false;
  size_t bytes = (size_t)point->q->n * sizeof *point->a;
  memcpy(t->best_a, point->a, bytes);
  memcpy(t->best_s, point->s, bytes);
  lapis_status s = choose(t);
  for (int k = 0; k < ROUNDS && !settled && s == LAPIS_OK; k++)
    s = one_round(t, &settled);
  if (s < 0 && s != LAPIS_ENUMERIC) return s;
  memcpy(point->a, t->best_a, bytes);
  memcpy(point->s, t->best_s, bytes);
  return sv_linear_certify(point);
}

lapis_status sv_vertex(sv_linear *point)
{
  const sv_data *q = point->q;
  lapis_ctx *ctx = q->ctx;
  int64_t n = q->n, N = q->d + q->p + 2, m = 2 * n < MOST ? 2 * n : MOST;
  vertex t = {.point = point, .best_gap = point->gap};
  t.F = base_alloc(ctx, m, sizeof *t.F);
  t.in = base_alloc(ctx, 2 * n, sizeof *t.in);
  t.u = base_alloc(ctx, N, sizeof *t.u);
  t.A = base_alloc_raw(ctx, m * m + N * m + m + 2 * n, sizeof *t.A);
  bool ok = t.F != NULL && t.in != NULL && t.u != NULL && t.A != NULL;
  lapis_status s = ok ? LAPIS_OK : LAPIS_ENOMEM;
  if (ok) {
    t.B = t.A + m * m;
    t.step = t.B + N * m;
    t.best_a = t.step + m;
    t.best_s = t.best_a + n;
    s = run(&t);
  }
  base_free(t.F);
  base_free(t.in);
  base_free(t.u);
  base_free(t.A);
  return s;
}
