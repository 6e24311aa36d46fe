/* clean_alone.c - each sample on its own (ours; [RR16] (8) has |Z|_*).
 *
 *   minimize  |q|_2 + w |P_Omega(x - K q)|_1,  K = U S
 *
 * Douglas-Rachford on a = b, a in the range of U, with a rho and a schedule of
 * its own for each sample, so that no answer depends on the batch; products
 * with U are made for all samples still at work at once.  The step on a = U y
 * minimizes |S^-1 y|_2 + rho/2 |y - p|^2, p = U'(2 b - s): with nu = |S^-1 y|,
 *   y_i = p_i rho sigma_i^2 nu / (1 + rho sigma_i^2 nu),
 * where nu > 0 is the root of sum_i (rho sigma_i p_i)^2 /
 * (1 + rho sigma_i^2 nu)^2 = 1, and y = 0 where the sum at 0 is at most 1.
 *
 * nuclear (ours): 1/2 q' S q in place of |q|_2, which is what the nuclear norm
 * of D grows by when K q becomes one more of its columns, to second order:
 * with w = lambda a new sample is divided as one more of robust PCA would be.
 * y_i = p_i rho sigma_i / (1 + rho sigma_i); the bound is
 * <c, x> - 1/2 sum_i sigma_i (U'c)_i^2. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "methods/robust/robust.h"

static const double RELAXATION = 1.6;
enum { BALANCE_EVERY = 6, LAST_BALANCE = 600, CHECK_EVERY = 5 };

/* ---- the step on a ------------------------------------------------------*/
/* N(nu) = |c(nu)| with c_i = rho sigma_i p_i / (1 + rho sigma_i^2 nu), and
 * minus its derivative. */
static double length(const cleaner *c, const double *p, double rho, double nu,
                     double *slope)
{
  const double *sigma = c->basis->sigma;
  double square = 0, bend = 0;
  for (int64_t i = 0; i < c->r; i++) {
    double g = rho * sigma[i], down = 1 / (1 + g * sigma[i] * nu);
    double v = g * p[i] * down, v2 = v * v;
    square += v2;
    bend += v2 * g * sigma[i] * down;
  }
  *slope = square > 0 ? bend / sqrt(square) : 0;
  return sqrt(square);
}

/* The root of 1/N(nu) = 1, a function so close to a line that Newton, which
 * rises to it monotonically from 0, needs a handful of steps. */
static double root(const cleaner *c, const double *p, double rho)
{
  double slope, nu = 0, N = length(c, p, rho, 0, &slope);
  if (!(N > 1)) return 0;
  for (int i = 0; i < 100; i++) {
    double step = N * (N - 1) / slope;
    nu += step;
    if (!(step > 4 * DBL_EPSILON * nu)) break;
    N = length(c, p, rho, nu, &slope);
    if (!(N > 1)) break;
  }
  return nu;
}

/* The same where the form is nuclear; returns 1/2 q' S q. */
static double shrink_nuclear(const cleaner *c, double *p, double rho)
{
  const double *sigma = c->basis->sigma;
  double sum = 0;
  for (int64_t i = 0; i < c->r; i++) {
    double g = rho * sigma[i];
    p[i] *= g / (1 + g);
    sum += p[i] * p[i] / sigma[i];
  }
  return sum / 2;
}

/* p <- y; returns |q| = nu. */
static double shrink(const cleaner *c, double *p, double rho)
{
  if (c->nuclear) return shrink_nuclear(c, p, rho);
  const double *sigma = c->basis->sigma;
  double nu = root(c, p, rho);
  for (int64_t i = 0; i < c->r; i++) {
    double g = rho * sigma[i] * sigma[i] * nu;
    p[i] *= g / (1 + g);
  }
  return nu;
}

/* ---- one step for all ---------------------------------------------------*/
static double *column(const la_array *A, int64_t j)
{
  return (double *)A->data + j * A->ld;
}

/* By how much rho of column j grows after this step. */
static double growth(const cleaner *c, int64_t j)
{
  bool due = c->age[j] % BALANCE_EVERY == 0 && c->age[j] <= LAST_BALANCE;
  return due ? rr_balance(c->sums + 6 * j) : 1;
}

static lapis_status step_column(cleaner *c, int64_t j, double nuclear)
{
  la *h = c->h;
  la_array X = la_cols(&c->X, j, 1), A = la_cols(&c->A, j, 1);
  la_array S = la_cols(&c->S, j, 1), C = la_cols(&c->C, j, 1);
  double factor = growth(c, j), *sums = c->sums + 6 * j;
  la_l1 p = {.t = c->error_weight / c->rho[j],
             .relax = RELAXATION,
             .rescale = 1 / factor};
  c->age[j]++;
  TRY(h->ops->l1_step(h, &p, &X, &A, &S, &C, sums));
  c->primal[j] = nuclear + c->error_weight * sums[4];
  c->rho[j] *= factor;
  return LAPIS_OK;
}

/* C holds 2 B - S.  The sizes of q go through dual, which the next check sets
 * anew. */
static lapis_status step(cleaner *c)
{
  la *h = c->h;
  la_array C = la_cols(&c->C, 0, c->active), P = la_cols(&c->P, 0, c->active);
  la_array A = la_cols(&c->A, 0, c->active);
  TRY(h->ops->gemm(h, LA_T, LA_N, 1, &c->U, &C, 0, &P));
  for (int64_t j = 0; j < c->active; j++)
    c->dual[j] = shrink(c, column(&c->P, j), c->rho[j]);
  TRY(h->ops->gemm(h, LA_N, LA_N, 1, &c->U, &P, 0, &A));
  for (int64_t j = 0; j < c->active; j++) TRY(step_column(c, j, c->dual[j]));
  return LAPIS_OK;
}

/* ---- certificates -------------------------------------------------------*/
/* nuclear: the best share t <= 1 of the multiplier; square: sum sigma v^2. */
static double nuclear_bound(double rho, double inner, double square)
{
  double t = rho * square > inner ? inner / (rho * square) : 1;
  return t * rho * (inner - t * rho * square / 2);
}

/* dual = <C, x> / max(1, |K'c|), P' is U'C: exact up to rounding. */
static void bound_column(cleaner *c, int64_t j, const double *v)
{
  const double *x = column(&c->X, j), *m = column(&c->C, j);
  double norm = 0, inner = 0, square = 0;
  for (int64_t i = 0; i < c->r; i++) {
    double g = c->basis->sigma[i] * v[i];
    norm += g * g;
    square += g * v[i];
  }
  for (int64_t i = 0; i < c->d; i++) inner += isnan(x[i]) ? 0 : m[i] * x[i];
  double rho = c->rho[j], length = rho * sqrt(norm) * (1 + 1e-14);
  double scale = length > 1 ? rho / length : rho;
  double proved =
      c->nuclear ? nuclear_bound(rho, fmax(inner, 0), square) : inner * scale;
  c->dual[j] = fmax(proved, 0); /* C = 0 proves that much */
}

/* C = B - S, the multiplier in units of rho. */
static lapis_status multiplier(cleaner *c)
{
  for (int64_t j = 0; j < c->active; j++) {
    la_array X = la_cols(&c->X, j, 1), S = la_cols(&c->S, j, 1);
    la_array C = la_cols(&c->C, j, 1);
    TRY(c->h->ops->l1_dual(c->h, c->error_weight / c->rho[j], &X, &S, &C));
  }
  return LAPIS_OK;
}

/* Leaves C as the multiplier; G (r x active) is scratch. */
static lapis_status bound(cleaner *c, la_array *G)
{
  la *h = c->h;
  TRY(multiplier(c));
  la_array C = la_cols(&c->C, 0, c->active);
  TRY(h->ops->gemm(h, LA_T, LA_N, 1, &c->U, &C, 0, G));
  for (int64_t j = 0; j < c->active; j++) bound_column(c, j, column(G, j));
  return LAPIS_OK;
}

static void swap(double *a, double *b, int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    double t = a[i];
    a[i] = b[i];
    b[i] = t;
  }
}

/* Columns j and k change places in everything. */
static void exchange(cleaner *c, int64_t j, int64_t k)
{
  if (j == k) return;
  swap(column(&c->X, j), column(&c->X, k), c->d);
  swap(column(&c->S, j), column(&c->S, k), c->d);
  swap(column(&c->C, j), column(&c->C, k), c->d);
  swap(column(&c->P, j), column(&c->P, k), c->r);
  swap(c->rho + j, c->rho + k, 1);
  swap(c->primal + j, c->primal + k, 1);
  swap(c->dual + j, c->dual + k, 1);
  swap(c->sums + 6 * j, c->sums + 6 * k, 6);
  int64_t place = c->place[j], age = c->age[j];
  c->place[j] = c->place[k];
  c->age[j] = c->age[k];
  c->place[k] = place;
  c->age[k] = age;
}

static double gap_of(const cleaner *c, int64_t j)
{
  double size = fmax(fmax(fabs(c->primal[j]), fabs(c->dual[j])), 1e-300);
  return (c->primal[j] - c->dual[j]) / size;
}

/* Puts what is proved (or stuck) behind the active columns. */
static void retire(cleaner *c, loop *l, double tol)
{
  for (int64_t j = c->active - 1; j >= 0; j--) {
    bool proved = gap_of(c, j) <= tol, stuck = rr_at_rounding(c->sums + 6 * j);
    if (!proved && !stuck) continue;
    if (!proved) l->status = LAPIS_PRECISION_FLOOR;
    exchange(c, j, --c->active);
  }
}

/* C = B - S becomes the reflected point 2 B - S. */
static lapis_status reflect(cleaner *c)
{
  la_array C = la_cols(&c->C, 0, c->active), S = la_cols(&c->S, 0, c->active);
  return c->h->ops->axpby(c->h, 1, &S, 2, &C);
}

/* ---- the loop -----------------------------------------------------------*/
static lapis_status begin(cleaner *c)
{
  c->active = c->n;
  memset(c->sums, 0, (size_t)(6 * c->n) * sizeof *c->sums);
  for (int64_t j = 0; j < c->n; j++) {
    const double *s = column(&c->S, j);
    double sum = 0;
    for (int64_t i = 0; i < c->d; i++) sum += fabs(s[i]);
    c->rho[j] = sum > 0 ? c->error_weight * (double)c->d / sum : 1;
    c->place[j] = j;
    c->age[j] = 0;
    c->primal[j] = INFINITY;
  }
  TRY(multiplier(c));
  return reflect(c);
}

/* Of the samples of all processes, and how many are at work. */
static lapis_status total(cleaner *c, double *active)
{
  double sum[3] = {0, 0, (double)c->active};
  for (int64_t j = 0; j < c->n; j++) {
    sum[0] += c->primal[j];
    sum[1] += c->dual[j];
  }
  TRY(base_sum(c->h->ctx, sum, 3));
  c->info.objective = sum[0];
  c->info.dual = sum[1];
  *active = sum[2];
  return LAPIS_OK;
}

static lapis_status record(cleaner *c, loop *l, double tol)
{
  double active;
  TRY(total(c, &active));
  double gap = (c->info.objective - c->info.dual) /
               fmax(fabs(c->info.objective), 1e-300);
  lapis_progress now = {.rank = c->r,
                        .objective = c->info.objective * c->scale,
                        .gap = gap,
                        .residual = NAN};
  loop_show(l, &now, tol);
  return loop_record(l, (double[]){c->info.objective * c->scale,
                                   c->info.dual * c->scale, gap, active,
                                   (double)c->r});
}

/* Q = S^-1 Y, samples in their own order; C the scaled multiplier. */
static void finish(cleaner *c)
{
  for (int64_t j = 0; j < c->n; j++) {
    double *q = c->Q + c->place[j] * c->r;
    const double *y = column(&c->P, j), *x = column(&c->X, j);
    double *m = column(&c->C, j), inner = 0;
    for (int64_t i = 0; i < c->r; i++) q[i] = y[i] / c->basis->sigma[i];
    for (int64_t i = 0; i < c->d; i++) inner += isnan(x[i]) ? 0 : m[i] * x[i];
    double scale = inner > 0 ? c->dual[j] / inner : 0;
    for (int64_t i = 0; i < c->d; i++) m[i] *= scale;
  }
  for (int64_t j = 0; j < c->n; j++)
    while (c->place[j] != j) exchange(c, j, c->place[j]);
}

static void keep(cleaner *c, loop *l)
{
  la_keep_part_holes(l, "X", &c->X);
  la_keep(l, "S", &c->S);
  la_keep(l, "C", &c->C);
  la_keep(l, "P", &c->P);
  loop_keep_whole(l, "active", &c->active, 1, 0, c->n);
  loop_keep_order(l, "place", c->place, c->n);
  loop_keep_whole(l, "age", c->age, c->n, 0, LOOP_MOST);
  loop_keep_positive(l, "rho", c->rho, c->n);
  loop_keep(l, "primal", c->primal, c->n);
  loop_keep(l, "dual", c->dual, c->n);
  loop_keep(l, "sums", c->sums, 6 * c->n);
  loop_keep_switch(l, "checked", &c->checked);
}

/* Another step, where a process has a sample at work. */
static lapis_status next(const cleaner *c, loop *l, bool *on)
{
  double active = (double)c->active;
  TRY(base_sum(c->h->ctx, &active, 1));
  *on = active > 0 && loop_next(l);
  return LAPIS_OK;
}

/* One process has a sample that is stuck: so all say. */
static lapis_status settle(const cleaner *c, loop *l)
{
  double stuck = l->status == LAPIS_PRECISION_FLOOR;
  TRY(base_max(c->h->ctx, &stuck, 1));
  if (stuck > 0 && l->status == LAPIS_OK) l->status = LAPIS_PRECISION_FLOOR;
  return LAPIS_OK;
}

lapis_status clean_alone(cleaner *c, loop *l, double tol)
{
  la_array G = la_wrap(c->Q, c->r, c->n);
  bool resumed, on, *checked = &c->checked;
  double active;
  TRY(begin(c));
  *checked = false;
  keep(c, l);
  TRY(loop_resume(l, &resumed));
  while (true) {
    TRY(next(c, l, &on));
    if (!on) break;
    if (*checked) TRY(reflect(c));
    TRY(step(c));
    *checked = l->iter % CHECK_EVERY == 0;
    if (!*checked) continue;
    la_array part = la_cols(&G, 0, c->active);
    TRY(bound(c, &part));
    TRY(record(c, l, tol));
    retire(c, l, tol);
  }
  if (!*checked && c->active > 0) {
    la_array part = la_cols(&G, 0, c->active);
    TRY(bound(c, &part));
  }
  TRY(total(c, &active));
  finish(c);
  c->info.rank = c->r;
  return settle(c, l);
}
