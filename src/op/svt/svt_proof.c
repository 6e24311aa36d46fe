/* svt_proof.c - whether a basis misses none of the singular values above t:
 * what its vectors leave, by their residuals, the norm of the rest, or a random
 * test of Chebyshev polynomials (svt_subspace.c has the argument). */
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

/* T_d z with what is needed to tell its size: T = T_d(t^2 - nu). */
typedef struct test {
  double square, c;    /* t^2 - nu; T_d is that of [0, c] */
  double x, before, T; /* T_d(x), x = 2/c square - 1; T_(d-1) */
} test;

/* Whether T_d z is small enough; else Z[2] = P G T_d z, and whether a Rayleigh
 * quotient exceeds t^2 - nu. */
static lapis_status probe(svt_subspace *s, const la_array *W, const test *e,
                          verdict *out)
{
  la *h = s->h;
  la_array U = la_cols(&s->X, 0, s->proved);
  double size[SVT_PROBES], quotient[SVT_PROBES], largest = 0;
  TRY(svt_basis_norms(s, &s->Z[1], size));
  for (int64_t j = 0; j < SVT_PROBES; j++) {
    if (!(size[j] <= 1e150)) {
      *out = OVERFLOWN;
      return LAPIS_OK;
    }
    largest = fmax(largest, size[j]);
  }
  if (largest < s->unlikely * e->T) *out = PROVED;
  if (*out == PROVED) return LAPIS_OK;
  TRY(svt_inside_times(s, W, &s->Z[1], &s->Z[2]));
  TRY(svt_basis_project_out(s, &U, &s->Z[2]));
  TRY(h->ops->dot_cols(h, &s->Z[1], &s->Z[2], quotient));
  for (int64_t j = 0; j < SVT_PROBES; j++)
    if (quotient[j] > e->square * size[j] * size[j]) *out = MISSED;
  return LAPIS_OK;
}

/* Z[0], Z[1] = T_d z, T_(d+1) z with T_(d+1) = 2 (2/c G - 1) T_d - T_(d-1),
 * and T_1 = (2/c G - 1) T_0. */
static lapis_status recur(svt_subspace *s, double c, bool first)
{
  double f = first ? 1 : 2;
  const la_backend *ops = s->h->ops;
  TRY(ops->axpby(s->h, -f, &s->Z[1], first ? 0 : -1, &s->Z[0]));
  TRY(ops->axpby(s->h, 2 * f / c, &s->Z[2], 1, &s->Z[0]));
  la_array next = s->Z[0];
  s->Z[0] = s->Z[1];
  s->Z[1] = next;
  return LAPIS_OK;
}

static void next_degree(test *e, bool first)
{
  double T = (first ? 1 : 2) * e->x * e->T - (first ? 0 : e->before);
  e->before = e->T;
  e->T = T;
}

/* Whether it is known beforehand that the test ends at its last degree: |T_d z|
 * is about as large as |z|, and T about e^(a d)/2. */
static bool hopeless(const test *e, double size, double unlikely, int64_t most)
{
  return acosh(size / unlikely) > (double)most * acosh(e->x);
}

/* The random test until a verdict or until it costs too much. */
static lapis_status chebyshev(svt_subspace *s, const la_array *W, double square,
                              double c, verdict *out)
{
  la_array U = la_cols(&s->X, 0, s->proved);
  test e = {.square = square, .c = c, .x = 2 * (square / c) - 1, .T = 1};
  int64_t most = s->k < 16 * 32 ? 16 : s->k / 32; /* a Gram matrix is cheaper */
  if (hopeless(&e, sqrt((double)s->k), s->unlikely, most)) return LAPIS_OK;
  TRY(svt_basis_draw(s, &s->Z[1]));
  TRY(svt_basis_project_out(s, &U, &s->Z[1]));
  for (int64_t d = 0; d <= most; d++) {
    TRY(probe(s, W, &e, out));
    if (*out == PROVED || *out == MISSED) return LAPIS_OK;
    if (*out == OVERFLOWN) break;
    TRY(recur(s, c, d == 0));
    next_degree(&e, d == 0);
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
  return chebyshev(s, q->W, left, c, out);
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
