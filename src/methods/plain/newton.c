/* newton.c - Newton's steps to the best lines, at any scale.
 *
 * The second derivative is A'A, a row of A being
 *
 *   sqrt(c_j) (diag(sqrt(q)) - sqrt(q) q') x (T_j, 1)    G rows a sample
 *   sqrt(ridge_i)                                        a row a weight
 *
 * (of a label q(1 - q) of both kinds).  A step solves A'A step = -slope by the
 * triangle of A = QR, twice: A itself is not squared, so that what raw units
 * and a large C make of its condition, up to 1e12 here, is halved in digits;
 * what the triangle loses is found again by the next step [Bjorck 1987].
 * Offsets of classes may all rise together: a row more forbids it.
 *
 * Where there are more features than samples the weights are rotated: they lie
 * in the span of the samples.
 *
 * Steps are halved until the objective falls, or where rounding hides that, the
 * gap.  Steps that bring neither end the part: that is the precision floor. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "mat/mat.h"
#include "methods/plain/prove.h"

enum { HALVINGS = 40, IDLE = 4 };
static const double ENOUGH = 1e-4; /* of the decrease that the slope promises */
static const double PROGRESS = 1e-6;  /* of the objective, worth a step */
static const double MOST_WORK = 2e10; /* operations a step */
static const double MOST_ROOM = 1e9;  /* bytes of A */

typedef struct newton {
  lines p;              /* in the rotated coordinates */
  int64_t r, n, G, len; /* len: (r + 1) G */
  double tol;
  loop *l;
  double *a, *next, *g, *step; /* len */
  double *F, *rise, *R;        /* n x G: scores, of the step, slopes */
  double *TR;                  /* r x G */
  double *A, *triangle;        /* rows x len, len x len */
  int64_t rows;
} newton;

static int64_t count_rows(int64_t r, int64_t n, int64_t G)
{
  return (n + r) * G + 1;
}

double lines_newton_holds(double d, double n, double G)
{
  double r = fmin(d, n), rows = (n + r) * G + 1, len = (r + 1) * G;
  bool fits = 2 * rows * len * len <= MOST_WORK &&
              8 * rows * len <= MOST_ROOM && 2 * d * n * r <= MOST_WORK;
  return fits ? rows * len + len * len + 4 * n * G + 2 * d * n : 0;
}

bool lines_newton_fits(const lines *p)
{
  return lines_newton_holds((double)p->T.X.rows, (double)p->T.X.cols,
                            (double)lines_together(p)) > 0;
}

/* ---- a step ---------------------------------------------------------------*/
/* The probability of line g by its slope, or what is missing to 1: each without
 * loss where it is small. */
static double chance(const newton *w, int64_t j, int64_t g, double cost,
                     bool rest)
{
  double part = fmin(fabs(w->R[g * w->n + j]) / cost, 1);
  bool of_own = w->R[g * w->n + j] < 0;
  return of_own == rest ? part : 1 - part;
}

static void put_sample(newton *w, int64_t j, double cost)
{
  const double *T = (const double *)w->p.T.X.val + j * w->p.T.X.ld;
  for (int64_t g = 0; g < w->G; g++)
    for (int64_t e = 0; e < w->G; e++) {
      double v = sqrt(cost * chance(w, j, g, cost, false));
      if (w->G == 1)
        v *= sqrt(chance(w, j, g, cost, true));
      else
        v *= g == e ? chance(w, j, g, cost, true)
                    : -chance(w, j, e, cost, false);
      double *to = w->A + e * (w->r + 1) * w->rows + j * w->G + g;
      for (int64_t i = 0; i <= w->r; i++)
        to[i * w->rows] = v * (i < w->r ? T[i] : 1);
    }
}

static lapis_status factor(newton *w, int64_t c)
{
  memset(w->A, 0, (size_t)(w->rows * w->len) * sizeof *w->A);
  double most = 0;
  for (int64_t j = 0; j < w->n; j++) {
    double cost = w->p.weight == NULL ? w->p.C : w->p.C * w->p.weight[j];
    bool known = false;
    for (int64_t g = 0; g < w->G; g++)
      known |= w->G == 1 ? !isnan(w->p.sign[j * w->p.K + c])
                         : w->p.sign[j * w->p.K + g] > 0;
    if (!known || !(cost > 0)) continue;
    put_sample(w, j, cost);
    most += cost;
  }
  for (int64_t k = 0; k < w->len; k++) {
    int64_t i = k % (w->r + 1), g = k / (w->r + 1);
    double *column = w->A + k * w->rows;
    if (i < w->r)
      column[w->n * w->G + g * w->r + i] =
          w->p.ridge == NULL ? 1 : sqrt(w->p.ridge[i]);
    else if (w->G > 1)
      column[w->rows - 1] = sqrt(most / (double)w->G);
  }
  la_array A = la_wrap(w->A, w->rows, w->len);
  la_array triangle = la_wrap(w->triangle, w->len, w->len);
  return w->p.h->ops->qr(w->p.h, &A, &triangle);
}

/* step = -(R'R)^-1 g */
static void solve_step(newton *w)
{
  int64_t m = w->len;
  double *x = w->step;
  for (int64_t k = 0; k < m; k++) {
    const double *column = w->triangle + k * m;
    double sum = -w->g[k];
    for (int64_t i = 0; i < k; i++) sum -= column[i] * x[i];
    x[k] = fabs(column[k]) > DBL_MIN ? sum / column[k] : 0;
  }
  for (int64_t k = m - 1; k >= 0; k--) {
    const double *column = w->triangle + k * m;
    x[k] = fabs(column[k]) > DBL_MIN ? x[k] / column[k] : 0;
    for (int64_t i = 0; i < k; i++) x[i] -= column[i] * x[k];
  }
}

/* ---- a part ---------------------------------------------------------------*/
/* The objective at the scores in R, which become slopes. */
static double value_at(newton *w, int64_t c, const double *a)
{
  return lines_loss(&w->p, c, w->R) + lines_square(&w->p, a);
}

/* What R proves, kept where it is the best; R stays as it is. */
static lapis_status prove(newton *w, int64_t c, lines_proof *proof)
{
  size_t bytes = (size_t)(w->n * w->G) * sizeof *w->R;
  double bound;
  memcpy(w->rise, w->R, bytes);
  TRY(lines_bound(&w->p, w->rise, w->TR, &bound));
  if (!(bound > proof->bound[c])) return LAPIS_OK;
  proof->bound[c] = bound;
  memcpy(proof->R + c * w->n, w->rise, bytes);
  return LAPIS_OK;
}

static double dot(const double *a, const double *b, int64_t n)
{
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* Scores along the step are a line.  *moved: the objective fell, or where it
 * cannot be told, the step is taken whole. */
static lapis_status search(newton *w, int64_t c, double *value, bool *moved)
{
  double down = dot(w->g, w->step, w->len), t = 1;
  double blind = lines_rounding(&w->p) * *value;
  *moved = false;
  TRY(lines_score(&w->p, w->step, w->rise));
  for (int k = 0; k < HALVINGS && !*moved; k++, t /= 2) {
    for (int64_t i = 0; i < w->len; i++) w->next[i] = w->a[i] + t * w->step[i];
    for (int64_t i = 0; i < w->n * w->G; i++)
      w->R[i] = w->F[i] + t * w->rise[i];
    double found = value_at(w, c, w->next);
    *moved = found <= *value + fmax(ENOUGH * t * down, -ENOUGH * blind) ||
             (-down <= blind && found <= *value + blind);
    if (*moved) *value = found;
  }
  if (*moved) memcpy(w->a, w->next, (size_t)w->len * sizeof *w->a);
  return LAPIS_OK;
}

/* Objective and slopes of a, by its own scores. */
static lapis_status look(newton *w, int64_t c, double *value)
{
  TRY(lines_score(&w->p, w->a, w->F));
  memcpy(w->R, w->F, (size_t)(w->n * w->G) * sizeof *w->R);
  *value = value_at(w, c, w->a);
  return LAPIS_OK;
}

static lapis_status record(const newton *w, double value, double gap)
{
  const lapis_progress now = {.objective = value, .gap = gap, .residual = NAN};
  TRY(loop_record(w->l, (double[]){value, NAN, gap}));
  loop_show(w->l, &now, w->tol);
  return LAPIS_OK;
}

/* a is the better of 0 and where it begins; at the end the best seen. */
static lapis_status walk(newton *w, int64_t c, double *best, lines_proof *proof)
{
  double value, zero, least = INFINITY;
  size_t bytes = (size_t)w->len * sizeof *w->a;
  memcpy(best, w->a, bytes);
  TRY(look(w, c, &value));
  memset(w->a, 0, bytes);
  TRY(look(w, c, &zero));
  if (value <= zero) memcpy(w->a, best, bytes);
  for (int idle = 0; idle <= IDLE;) {
    TRY(look(w, c, &value));
    double before = least - proof->bound[c];
    TRY(prove(w, c, proof));
    bool fell = value < (1 - PROGRESS) * least;
    if (value < least) memcpy(best, w->a, bytes);
    least = fmin(least, value);
    proof->value[c] = least;
    idle = least - proof->bound[c] < .9 * before || fell ? 0 : idle + 1;
    TRY(record(w, least, (least - proof->bound[c]) / least));
    if (lines_proved(proof, c, w->tol) || !loop_next(w->l)) break;
    bool moved;
    TRY(lines_slope(&w->p, w->a, w->R, w->g));
    TRY(factor(w, c));
    solve_step(w);
    TRY(search(w, c, &value, &moved));
    if (!moved) break;
  }
  return LAPIS_OK;
}

/* ---- rotation -------------------------------------------------------------*/
/* T of more features than samples: basis (r x n) becomes an orthonormal basis
 * of the samples in units where the ridge is 1, triangle (n x n) what they are
 * in it. */
static lapis_status rotate(const lines *p, double *basis, double *triangle)
{
  int64_t r = p->T.X.rows, n = p->T.X.cols;
  const double *T = p->T.X.val;
  for (int64_t k = 0; k < r * n; k++)
    basis[k] = T[k / r * p->T.X.ld + k % r] /
               (p->ridge == NULL ? 1 : sqrt(p->ridge[k % r]));
  la_array Q = la_wrap(basis, r, n), R = la_wrap(triangle, n, n);
  return p->h->ops->qr(p->h, &Q, &R);
}

/* a = basis' W or W = basis a, in units where the ridge is 1. */
static void turn(const newton *w, const lines *p, const double *basis,
                 double *W, bool back)
{
  int64_t r = p->T.X.rows, n = p->T.X.cols;
  for (int64_t g = 0; g < w->G; g++) {
    double *of = W + g * (r + 1), *a = w->a + g * (n + 1);
    if (back) memset(of, 0, (size_t)r * sizeof *of);
    for (int64_t k = 0; k < n; k++) {
      const double *q = basis + k * r;
      double sum = 0;
      for (int64_t i = 0; i < r; i++) {
        double unit = p->ridge == NULL ? 1 : sqrt(p->ridge[i]);
        sum += q[i] * of[i] * unit;
        if (back) of[i] += q[i] * a[k] / unit;
      }
      if (!back) a[k] = sum;
    }
    if (back)
      of[r] = a[n];
    else
      a[n] = of[r];
  }
}

/* ---- all parts
 * --------------------------------------------------------------*/
static lapis_status walk_part(newton *w, const lines *p, const double *basis,
                              int64_t c, double *W, double *best,
                              lines_proof *proof)
{
  size_t bytes = (size_t)w->len * sizeof *w->a;
  if (basis != NULL)
    turn(w, p, basis, W, false);
  else
    memcpy(w->a, W, bytes);
  TRY(walk(w, c, best, proof));
  memcpy(w->a, best, bytes);
  if (basis != NULL)
    turn(w, p, basis, W, true);
  else
    memcpy(W, best, bytes);
  return LAPIS_OK;
}

static lapis_status allocate(newton *w, arena *own)
{
  int64_t all = w->n * w->G;
  w->a = arena_reals(own, 4 * w->len);
  w->F = arena_reals(own, 3 * all);
  w->TR = arena_reals(own, w->r * w->G);
  w->A = arena_reals(own, w->rows * w->len);
  w->triangle = arena_reals(own, w->len * w->len);
  TRY(arena_status(own));
  w->next = w->a + w->len;
  w->g = w->next + w->len;
  w->step = w->g + w->len;
  w->rise = w->F + all;
  w->R = w->rise + all;
  return LAPIS_OK;
}

static lapis_status walk_parts(newton *w, const lines *p, arena *own, double *W,
                               lines_proof *proof)
{
  double *basis = NULL, *best = arena_reals(own, w->len);
  if (p->T.X.rows > w->r) {
    double *inside = arena_reals(own, w->n * w->n);
    basis = arena_reals(own, p->T.X.rows * w->n);
    TRY(arena_status(own));
    TRY(rotate(p, basis, inside));
    w->p.T = (samples){.X = lapis_mat_f64(inside, w->n, w->n)};
    w->p.ridge = NULL;
  }
  TRY(arena_status(own));
  TRY(allocate(w, own));
  for (int64_t c = 0; c < p->K; c += w->G) {
    bool due = !lines_one_kind(p, c) && !lines_proved(proof, c, w->tol);
    if (due && w->l->status == LAPIS_OK)
      TRY(walk_part(w, p, basis, c, W + c * (p->T.X.rows + 1), best, proof));
  }
  return LAPIS_OK;
}

/* p->T becomes dense. */
static lapis_status unfold(lines *p, arena *own)
{
  lapis_mat X = p->T.X;
  const double *shift = p->T.shift;
  if (X.colptr == NULL) return LAPIS_OK;
  double *to = arena_reals(own, X.rows * X.cols);
  TRY(arena_status(own));
  mat_to_f64(&X, to, X.rows);
  for (int64_t k = 0; shift != NULL && k < X.rows * X.cols; k++)
    to[k] -= shift[k % X.rows];
  p->T = (samples){.X = lapis_mat_f64(to, X.rows, X.cols)};
  return LAPIS_OK;
}

lapis_status lines_newton(const lines *p, double tol, loop *l, double *W,
                          lines_proof *proof)
{
  lines dense = *p;
  int64_t n = p->T.X.cols, r = p->T.X.rows < n ? p->T.X.rows : n;
  int64_t G = lines_together(p);
  arena own = {.ctx = p->h->ctx};
  lapis_status s = unfold(&dense, &own);
  newton w = {.p = dense, .r = r, .n = n, .G = G, .len = (r + 1) * G, .l = l};
  w.tol = tol;
  w.rows = count_rows(r, n, G);
  if (s >= 0) s = walk_parts(&w, &dense, &own, W, proof);
  arena_free(&own);
  return s;
}
