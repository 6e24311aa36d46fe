/* svt_proof.c - whether a basis misses none of the singular values above t:
 * what its vectors leave, by their residuals, the norm of the rest, or a random
 * test (svt_subspace.c has the argument). */
#include <float.h>
#include <math.h>

#include "op/svt/svt_inside.h"

/* Y = G X */
lapis_status svt_inside_times(svt_subspace *s, const la_array *W,
                              const la_array *X, la_array *Y)
{
  s->columns += X->cols;
  s->sums++;
  TRY(s->h->ops->gram_times(s->h, s->side, W, X, Y));
  return la_sum(s->h, Y);
}

/* Y = G B, and T, from which the answer is made where no column joins B. */
lapis_status svt_inside_product(svt_subspace *s, const la_array *W,
                                const la_array *B, la_array *Y)
{
  la *h = s->h;
  bool tall = s->side == LA_T;
  int64_t rows = tall ? W->rows : W->cols;
  if (s->T.rows != rows || s->T.cols != B->cols) {
    h->ops->free(h, &s->T);
    TRY(h->ops->alloc(h, LAPIS_F64, rows, B->cols, &s->T));
  }
  s->columns += B->cols;
  s->sums++;
  s->whole = true;
  TRY(h->ops->gemm(h, tall ? LA_N : LA_T, LA_N, 1, W, B, 0, &s->T));
  TRY(h->ops->gemm(h, s->side, LA_N, 1, W, &s->T, 0, Y));
  return la_sum(h, Y);
}

/* Columns first .. end - 1 of X and of G X (in R). */
lapis_status svt_inside_ritz_vectors(svt_subspace *s, int64_t first,
                                     int64_t end)
{
  la *h = s->h;
  int64_t count = end - first;
  la_array B = la_cols(&s->B, 0, s->used), GB = la_cols(&s->GB, 0, s->used);
  la_array top = la_rows(&s->S, 0, s->used), S = la_cols(&top, first, count);
  la_array X = la_cols(&s->X, first, count), R = la_cols(&s->R, first, count);
  TRY(h->ops->gemm(h, LA_N, LA_N, 1, &B, &S, 0, &X));
  return h->ops->gemm(h, LA_N, LA_N, 1, &GB, &S, 0, &R);
}

/* R = G X - X Theta from column `first` on; of all of them the error of the
 * answer, sqrt(sum |R_i|^2 / theta_i). */
lapis_status svt_inside_residuals(svt_subspace *s, int64_t first,
                                  double *answer)
{
  double sum = 0;
  int64_t count = s->shown - first;
  la_array X = la_cols(&s->X, first, count), R = la_cols(&s->R, first, count);
  for (int64_t i = 0; i < count; i++) s->host[i] = -s->theta[first + i];
  TRY(s->h->ops->axpby_cols(s->h, s->host, NULL, &X, 1, &R));
  TRY(svt_basis_norms(s, &R, s->error + first));
  for (int64_t i = first; i < s->shown && i < s->rank; i++)
    sum += s->error[i] * (s->error[i] / s->theta[i]);
  if (answer != NULL) *answer = sqrt(sum);
  return LAPIS_OK;
}

/* ---- nothing missed -----------------------------------------------------*/
bool svt_inside_due(svt_subspace *s, const svt_question *q)
{
  enum { TEST_EVERY = 4 };
  bool same = q->rough && !s->cold && s->rank == s->before;
  s->untested = same ? (s->untested + 1) % TEST_EVERY : 0;
  return s->untested == 0;
}

/* What P G P is guessed to stay below where U takes the first p and leaves
 * `left` of t^2. */
static double guess_below(const svt_subspace *s, int64_t p, double left)
{
  int64_t last = p - 1, next = p < s->used ? p : s->used - 1;
  double above = last >= s->rank ? s->theta[last] + s->error[last] : INFINITY;
  /* where all guards are taken, what is left lies below the last of them */
  if (p == s->shown && above < (1 - 2e-4) * left)
    return fmax(above, 0.2 * left);
  /* a quarter of the way up, for what the guess may lack */
  double guess = fmin(fmax(s->theta[next], 0.2 * left), (1 - 2e-3) * left);
  return 0.75 * guess + 0.25 * left;
}

/* Takes guards into U, each of which leaves less of t^2, while they cost a
 * tenth of it at most: as many as leave most room above *c, the guess.  Returns
 * what is left. */
static double take_guards(svt_subspace *s, double t, double *c)
{
  double square = t * t, left = square, best = square;
  *c = square;
  for (int64_t p = s->rank; p <= s->shown; p++) {
    double below = guess_below(s, p, left);
    if (p == s->rank || below * best < *c * left) {
      *c = below;
      best = left;
      s->proved = p;
    }
    if (p == s->shown) break;
    double under = square - s->theta[p], e = s->error[p];
    if (!(e * e < (left - 0.9 * square) * under)) break;
    left -= e * (e / under);
  }
  return best;
}

/* v_d = p_d(P G P / square) z of each probe, by Lanczos' polynomials:
 *   v_(d+1) = P G v_d / square - a v_d - b v_(d-1),
 * a the Rayleigh quotient of v_d, b = |v_d|^2 / |v_(d-1)|^2, which make |v_d|
 * the least of all polynomials that begin with 1. */
typedef struct test {
  double square;                             /* t^2 - nu */
  double unlikely;                           /* |y'z| */
  double size[SVT_PROBES];                   /* |v_d| */
  double a[SVT_PROBES], b[SVT_PROBES];       /* b: 0 of the first */
  double at[SVT_PROBES], before[SVT_PROBES]; /* p_d(1), p_(d-1)(1) */
} test;

/* Of a W that a cache holds 4 columns cost half of what 8 do, and need less
 * than twice the products for a chance that is as small, (6.4e-5)^4 < 2e-17. */
static int64_t probes(const svt_subspace *s)
{
  return s->cached ? SVT_PROBES / 2 : SVT_PROBES;
}

static double unlikely(const svt_subspace *s)
{
  return s->cached ? 0.8 * s->unlikely * s->unlikely : s->unlikely;
}

static void take_probes(svt_subspace *s, int64_t count)
{
  for (int i = 0; i < 3; i++) s->Z[i].cols = count;
}

static lapis_status begin_test(svt_subspace *s, double square, test *e)
{
  la_array U = la_cols(&s->X, 0, s->proved);
  *e = (test){.square = square, .unlikely = unlikely(s)};
  take_probes(s, probes(s));
  for (int64_t j = 0; j < s->Z[1].cols; j++) e->at[j] = 1;
  TRY(svt_basis_draw(s, &s->Z[1]));
  return svt_basis_project_out(s, &U, &s->Z[1]);
}

/* |v_d| of each probe, and b; whether all are small enough. */
static lapis_status measure(svt_subspace *s, bool first, test *e, verdict *out)
{
  double size[SVT_PROBES];
  bool small = true;
  TRY(svt_basis_norms(s, &s->Z[1], size));
  for (int64_t j = 0; j < s->Z[1].cols; j++) {
    double grown = first || e->size[j] <= 0 ? 0 : size[j] / e->size[j];
    if (!(size[j] <= 1e150)) *out = OVERFLOWN;
    small = small && size[j] < e->unlikely * e->at[j];
    e->b[j] = grown * grown;
    e->size[j] = size[j];
  }
  if (*out == UNKNOWN && small) *out = PROVED;
  return LAPIS_OK;
}

/* Z[2] = P G v_d, and a; whether a zero of p_(d+1), a Ritz value, is above 1.
 * p_(d+1)(1) follows. */
static lapis_status multiply_probes(svt_subspace *s, const la_array *W, test *e,
                                    verdict *out)
{
  la_array U = la_cols(&s->X, 0, s->proved);
  double quotient[SVT_PROBES];
  TRY(svt_inside_times(s, W, &s->Z[1], &s->Z[2]));
  TRY(svt_basis_project_out(s, &U, &s->Z[2]));
  TRY(s->h->ops->dot_cols(s->h, &s->Z[1], &s->Z[2], quotient));
  for (int64_t j = 0; j < s->Z[1].cols; j++) {
    double length = e->size[j] * e->size[j], at = e->at[j];
    e->a[j] = length > 0 ? quotient[j] / length / e->square : 0;
    e->at[j] = (1 - e->a[j]) * at - e->b[j] * e->before[j];
    e->before[j] = at;
    if (!(e->at[j] > 0)) *out = MISSED;
  }
  return LAPIS_OK;
}

/* Z[0], Z[1] = v_d, v_(d+1) */
static lapis_status recur(svt_subspace *s, bool first, test *e)
{
  const la_backend *ops = s->h->ops;
  for (int64_t j = 0; j < s->Z[1].cols; j++) {
    e->a[j] = -e->a[j];
    e->b[j] = -e->b[j];
  }
  if (!first) TRY(la_scale_cols(s->h, e->b, &s->Z[0]));
  TRY(ops->axpby_cols(s->h, e->a, NULL, &s->Z[1], first ? 0 : 1, &s->Z[0]));
  TRY(ops->axpby(s->h, 1 / e->square, &s->Z[2], 1, &s->Z[0]));
  la_array next = s->Z[0];
  s->Z[0] = s->Z[1];
  s->Z[1] = next;
  return LAPIS_OK;
}

/* Whether it is known beforehand that the test ends at its last degree: the
 * Chebyshev polynomial of [0, c] leaves |z| as it is and is e^(a d)/2 at
 * `square`. */
static bool hopeless(const svt_subspace *s, double square, double c,
                     int64_t most)
{
  double size = sqrt((double)s->k);
  return acosh(size / unlikely(s)) > (double)most * acosh(2 * (square / c) - 1);
}

/* The random test until a verdict or until it costs too much. */
static lapis_status random_test(svt_subspace *s, const la_array *W,
                                double square, double c, verdict *out)
{
  test e;
  int64_t most = s->k < 16 * 32 ? 16 : s->k / 32; /* a Gram matrix is cheaper */
  if (hopeless(s, square, c, most)) return LAPIS_OK;
  TRY(begin_test(s, square, &e));
  for (int64_t d = 0; d <= most; d++) {
    TRY(measure(s, d == 0, &e, out));
    if (*out == UNKNOWN) TRY(multiply_probes(s, W, &e, out));
    if (*out == PROVED || *out == MISSED) return LAPIS_OK;
    if (*out == OVERFLOWN) break;
    TRY(recur(s, d == 0, &e));
  }
  *out = UNKNOWN;
  return LAPIS_OK;
}

/* The same of an H made in single precision, with P H P <= c: one product. */
static lapis_status factored(svt_subspace *s, const la_array *W, double square,
                             double c, verdict *out)
{
  la_array U = la_cols(&s->X, 0, s->proved);
  double size[SVT_PROBES];
  bool found;
  take_probes(s, SVT_PROBES);
  TRY(svt_basis_draw(s, &s->Z[1]));
  TRY(svt_filter_below(s->filter, &U, s->theta, c, &s->Z[1], &s->Z[2], &found));
  if (!found) return LAPIS_OK;
  TRY(svt_inside_times(s, W, &s->Z[1], &s->Z[0]));
  TRY(s->h->ops->axpby(s->h, -1, &s->Z[2], 1, &s->Z[0]));
  TRY(svt_basis_norms(s, &s->Z[0], size));
  for (int64_t j = 0; j < SVT_PROBES; j++)
    if (!(size[j] < s->unlikely * (square - c))) return LAPIS_OK; /* NaN, too */
  *out = PROVED;
  return LAPIS_OK;
}

/* |W|_F^2, rounding included, without the first `count` Ritz values. */
static double left_by(const svt_subspace *s, const svt_question *q,
                      int64_t count)
{
  double rest = q->square * (1 + DBL_EPSILON * q->sides);
  for (int64_t i = 0; i < count; i++) rest -= s->theta[i];
  return rest;
}

static lapis_status show(svt_subspace *s, int64_t count)
{
  int64_t first = s->shown;
  TRY(svt_inside_ritz_vectors(s, first, count));
  s->shown = count;
  return svt_inside_residuals(s, first, NULL);
}

/* The guards that leave a small rest join those that are shown, where that
 * costs less than a test would: 4 products with W and W' and 8 columns, by
 * operations over 4 k. */
static lapis_status show_more(svt_subspace *s, const svt_question *q)
{
  const double enough = 0.7 * q->t * q->t, price = 32;
  int64_t first = s->shown, m = first;
  double rest = left_by(s, q, first), length = q->sides - (double)s->k;
  while (m < s->used && rest > enough) rest -= s->theta[m++];
  if (rest > enough || (double)((m - first) * s->used) > price * length)
    return LAPIS_OK;
  return show(s, m);
}

/* Guards that make the degree of a test small: of a Krylov space a third of
 * what it has below t are good enough. */
static lapis_status show_guards(svt_subspace *s)
{
  int64_t m = s->rank + (s->used - s->rank) / 3;
  return s->cold && s->filter == NULL && m > s->shown ? show(s, m) : LAPIS_OK;
}

/* Whether the rest is small as a whole, with any number of guards in U. */
static bool small_rest(const svt_subspace *s, const svt_question *q)
{
  double square = q->t * q->t, nu = 0, rest = left_by(s, q, s->rank);
  for (int64_t i = s->rank; i < s->shown && !(rest + nu <= square); i++) {
    nu += s->error[i] * (s->error[i] / (square - s->theta[i]));
    rest -= s->theta[i];
  }
  return rest + nu <= square;
}

static lapis_status test_rest(svt_subspace *s, const svt_question *q,
                              verdict *out)
{
  double c, left = take_guards(s, q->t, &c);
  if (s->filter != NULL)
    TRY(factored(s, q->W, left, 0.75 * c + 0.25 * left, out));
  if (*out != UNKNOWN) return LAPIS_OK;
  return random_test(s, q->W, left, c, out);
}

/* Whether no more than s->rank singular values exceed t. */
lapis_status svt_inside_certify(svt_subspace *s, const svt_question *q,
                                verdict *out)
{
  int64_t shown = s->shown;
  TRY(show_more(s, q));
  *out = small_rest(s, q) ? PROVED : UNKNOWN;
  s->shown = shown;
  if (*out == PROVED) return LAPIS_OK;
  TRY(show_guards(s));
  TRY(test_rest(s, q, out));
  s->shown = shown;
  return LAPIS_OK;
}
