/* ipm.c - primal-dual interior point for the linear problem.
 *
 *   min 1/2 |w|^2 + gamma/2 |v|^2 + c'v,   c = sum C_i z_i
 *   s.t. A_1 u - 1 = s1 >= 0,  A_2 u = s2 >= 0,   u = (w, v)
 *
 * with rows y_i x_i' , z_i' and multipliers a, s of the two: Mehrotra's
 * predictor and corrector.  With theta_1 = a/s1, theta_2 = s/s2 a step is
 *   (diag(1, gamma) + A_1'theta_1 A_1 + A_2'theta_2 A_2) du = rhs,
 * a system of order d + p + 2 whatever n is: 9 to 15 steps for every
 * (C, gamma) from 1e-3 to 1e3, where descent stalls.
 *
 * Without privileged features slack xi takes the place of v'z, with
 * a + s = C kept exactly: theta_1 = 1/(s1/a + xi/s) and no v.
 *
 * Numerics: u starts feasible (w = 0, v'z = 2) and a + s = C, so that only
 * the stationarity of u has to be won.  Samples are read in blocks; nothing
 * of the size of the data is copied. */
#include <math.h>
#include <string.h>

#include "methods/svmplus/columns.h"
#include "methods/svmplus/svmplus.h"

static const double BACK_OFF = 0.995; /* share of the way to the boundary */
static const double CENTRAL = 0.1;    /* products within this of their mean */
static const double REACH = 0.3;      /* what a correction aims to add */
static const double FAR = 30;         /* gaps times the tolerance */
static const double LOST = 100; /* a primal that says nothing, in bounds */
enum { BLOCK = 1024, PATIENCE = 20, LATE = 5, CORRECTIONS = 3, ROUNDS = 3 };

typedef struct ipm {
  sv_linear *point;
  int64_t D, N;          /* d + 1; order of the system */
  double *s1, *s2;       /* n: slacks (plain: s2 = xi) */
  double *da, *ds;       /* n: directions of a, s */
  double *d1, *d2;       /* n: A_1 du, A_2 du, then directions of s1, s2 */
  double *t1, *t2;       /* n: targets of a s1 and s s2 */
  double *kept, *kept_u; /* 4n, N: directions before a correction */
  double *g1, *g2;       /* n: what multiplies A_1', A_2' on the right side */
  double *u, *c;         /* N */
  double *M, *du, *part; /* N x N, N: the system, du behind it; N x N: one
                          * block's share */
  double *Bx, *Bz, *Bxz; /* block of samples, scaled */
  double *best_a, *best_s, best_gap;
  bool restoring; /* the system is that of restore() */
  double tol;     /* gap asked for */
  double total;   /* complementary pairs over all ranks */
  double most;    /* the objective at w = 0, slack 1: the optimum is below */
} ipm;

static double theta_1(const ipm *t, int64_t i)
{
  const sv_linear *point = t->point;
  double free = point->q->plain ? point->s[i] / point->q->C[i] : 1;
  if (t->restoring) return point->a[i] * point->a[i] * free * free;
  if (!point->q->plain) return point->a[i] / t->s1[i];
  return 1 / (t->s1[i] / point->a[i] + t->s2[i] / point->s[i]);
}

static double theta_2(const ipm *t, int64_t i)
{
  const sv_linear *point = t->point;
  return t->restoring ? point->s[i] * point->s[i] : point->s[i] / t->s2[i];
}

/* ---- the system ---------------------------------------------------------*/
/* Dense copies of samples first .. first + cols - 1, a 1 below each, times
 * f. */
static void scaled_block(const lapis_mat *A, int64_t first, int64_t cols,
                         const double *f, double *out)
{
  int64_t rows = A->rows + 1;
  memset(out, 0, (size_t)(rows * cols) * sizeof *out);
  for (int64_t j = 0; j < cols; j++)
    column_add(A, first + j, f[j], out + j * rows);
}

typedef struct factors { /* of one block of samples */
  double main[BLOCK], slack[BLOCK], cross[BLOCK];
} factors;

static void block_factors(const ipm *t, int64_t first, int64_t cols, factors *f)
{
  const sv_linear *point = t->point;
  for (int64_t j = 0; j < cols; j++) {
    int64_t i = first + j;
    double one = theta_1(t, i);
    f->main[j] = sqrt(one);
    if (point->q->plain) continue;
    f->slack[j] = sqrt(one + theta_2(t, i));
    f->cross[j] = point->q->y[i] * sqrt(one);
  }
}

/* M += the share of one block: xx' theta_1, y xz' theta_1, zz'(theta_1 +
 * theta_2). */
static lapis_status add_block(ipm *t, int64_t first, int64_t cols)
{
  const sv_data *q = t->point->q;
  int64_t D = t->D, S = t->N - t->D;
  factors f;
  block_factors(t, first, cols, &f);
  la_array M = la_wrap(t->M, t->N, t->N), T = la_wrap(t->part, D, D);
  la_array Bx = la_wrap(t->Bx, D, cols), Bz = la_wrap(t->Bz, S, cols);
  la_array Bxz = la_wrap(t->Bxz, S, cols);
  la_array left = la_cols(&M, 0, D), right = la_cols(&M, D, S);
  la_array xx = la_rows(&left, 0, D), zx = la_rows(&left, D, S);
  la_array zz = la_rows(&right, D, S);
  scaled_block(&q->X, first, cols, f.main, t->Bx);
  TRY(q->h->ops->syrk(q->h, LA_N, &Bx, &T));
  TRY(q->h->ops->axpby(q->h, 1, &T, 1, &xx));
  if (q->plain) return LAPIS_OK;
  scaled_block(&q->P, first, cols, f.slack, t->Bz);
  T = la_wrap(t->part, S, S);
  TRY(q->h->ops->syrk(q->h, LA_N, &Bz, &T));
  TRY(q->h->ops->axpby(q->h, 1, &T, 1, &zz));
  scaled_block(&q->P, first, cols, f.cross, t->Bxz);
  return q->h->ops->gemm(q->h, LA_N, LA_T, 1, &Bxz, &Bx, 1, &zx);
}

/* Of the Hessian; restoring: next to nothing, against a singular system. */
static double diagonal(const ipm *t, int64_t k)
{
  if (t->restoring) return 1e-13 * t->M[k * t->N + k];
  return k < t->D ? 1 : t->point->q->gamma;
}

/* M without what all processes have alike. */
static lapis_status make_system(ipm *t)
{
  const sv_data *q = t->point->q;
  memset(t->M, 0, (size_t)(t->N * t->N) * sizeof *t->M);
  for (int64_t i = 0; i < q->n; i += BLOCK)
    TRY(add_block(t, i, q->n - i < BLOCK ? q->n - i : BLOCK));
  return LAPIS_OK;
}

/* Of M, summed. */
static lapis_status factorise(ipm *t)
{
  const sv_data *q = t->point->q;
  for (int64_t k = 0; k < t->N; k++) t->M[k * t->N + k] += diagonal(t, k);
  la_array M = la_wrap(t->M, t->N, t->N);
  return q->h->ops->potrf(q->h, &M);
}

/* du = A_1'g1 + A_2'g2 of this process's samples. */
static void make_right_side(ipm *t)
{
  const sv_data *q = t->point->q;
  double *du = t->du;
  memset(du, 0, (size_t)t->N * sizeof *du);
  for (int64_t i = 0; i < q->n; i++) {
    if (t->g1[i] != 0) column_add(&q->X, i, q->y[i] * t->g1[i], du);
    if (!q->plain) column_add(&q->P, i, t->g1[i] + t->g2[i], du + t->D);
  }
}

/* du, d1 = A_1 du and d2 = A_2 du for right-hand side -(H u + c) + du, du
 * summed. */
static lapis_status solve_system(ipm *t)
{
  const sv_data *q = t->point->q;
  double *du = t->du;
  for (int64_t k = 0; k < t->N; k++)
    du[k] -= (k < t->D ? 1 : q->gamma) * t->u[k] + t->c[k];
  la_array M = la_wrap(t->M, t->N, t->N), b = la_wrap(du, t->N, 1);
  TRY(q->h->ops->potrs(q->h, &M, &b));
  for (int64_t i = 0; i < q->n; i++) {
    t->d2[i] = q->plain ? 0 : column_dot(&q->P, i, du + t->D);
    t->d1[i] = q->y[i] * column_dot(&q->X, i, du) + t->d2[i];
  }
  return LAPIS_OK;
}

/* ---- directions ---------------------------------------------------------*/
/* How far u and its slacks, and how far the multipliers may go.  The dual
 * point is feasible by itself (w and v follow from a and s), so that the two
 * need not go equally far; without privileged features xi and s are tied. */
typedef struct steps {
  double primal, dual;
} steps;

/* Residuals of s1 and s2 (plain: of s1 alone). */
static double off_1(const ipm *t, int64_t i)
{
  const sv_linear *point = t->point;
  double slack = point->q->plain ? t->s2[i] : point->r[i];
  return point->m[i] + slack - 1 - t->s1[i];
}

/* Targets of the products a s1 and s s2: mu, less the second-order terms that
 * the predictor left in d1 da and d2 ds (mu 0: the predictor itself). */
static void set_targets(ipm *t, double mu)
{
  for (int64_t i = 0; i < t->point->q->n; i++) {
    t->t1[i] = mu > 0 ? mu - t->d1[i] * t->da[i] : 0;
    t->t2[i] = mu > 0 ? mu - t->d2[i] * t->ds[i] : 0;
  }
}

/* What keeps a product within a tenth and ten times mu after a step, itself
 * not below -10 mu. */
static double towards(double product, double mu)
{
  double goal = fmin(fmax(product, CENTRAL * mu), mu / CENTRAL);
  return fmax(goal - product, -mu / CENTRAL);
}

/* A centrality correction of the targets for a step somewhat longer than
 * what is possible (Gondzio 1996). */
static void centre(ipm *t, double mu, steps by)
{
  const sv_linear *point = t->point;
  double p = fmin(1, by.primal + REACH), d = fmin(1, by.dual + REACH);
  for (int64_t i = 0; i < point->q->n; i++) {
    t->t1[i] +=
        towards((point->a[i] + d * t->da[i]) * (t->s1[i] + p * t->d1[i]), mu);
    t->t2[i] +=
        towards((point->s[i] + d * t->ds[i]) * (t->s2[i] + p * t->d2[i]), mu);
  }
}

/* g from the targets, and du from g. */
static void right_side(ipm *t)
{
  const sv_linear *point = t->point;
  for (int64_t i = 0; i < point->q->n; i++) {
    double r1 = t->t1[i], r2 = t->t2[i];
    if (point->q->plain) {
      /* what remains of the pair equations once xi and s are eliminated */
      double need = r1 / point->a[i] - r2 / point->s[i] - off_1(t, i);
      need += t->s2[i] - t->s1[i];
      t->g1[i] = point->a[i] + theta_1(t, i) * need;
      t->g2[i] = r2;
    } else {
      t->g1[i] = (r1 - point->a[i] * off_1(t, i)) / t->s1[i];
      t->g2[i] = (r2 - point->s[i] * (point->r[i] - t->s2[i])) / t->s2[i];
    }
  }
  make_right_side(t);
}

/* From A du to the directions of s1, s2, a, s. */
static void directions(ipm *t)
{
  const sv_linear *point = t->point;
  for (int64_t i = 0; i < point->q->n; i++) {
    double a = point->a[i], s = point->s[i], off = off_1(t, i);
    t->da[i] = t->g1[i] - a - theta_1(t, i) * t->d1[i];
    if (point->q->plain) {
      t->ds[i] = -t->da[i];
      t->d2[i] = (t->g2[i] - s * t->s2[i] + t->s2[i] * t->da[i]) / s;
      t->d1[i] += t->d2[i] + off;
    } else {
      t->ds[i] = t->g2[i] - s - s / t->s2[i] * t->d2[i];
      t->d1[i] += off;
      t->d2[i] += point->r[i] - t->s2[i];
    }
  }
}

static double shorten(double step, double x, double dx)
{
  return dx < 0 && -x / dx < step ? -x / dx : step;
}

static lapis_status longest_steps(ipm *t, double most, steps *out)
{
  const sv_linear *point = t->point;
  double best[2] = {most, most};
  for (int64_t i = 0; i < point->q->n; i++) {
    best[0] = shorten(best[0], t->s1[i], t->d1[i]);
    best[0] = shorten(best[0], t->s2[i], t->d2[i]);
    best[1] = shorten(best[1], point->a[i], t->da[i]);
    best[1] = shorten(best[1], point->s[i], t->ds[i]);
  }
  best[0] = -best[0];
  best[1] = -best[1];
  TRY(base_max(point->q->ctx, best, 2));
  *out = (steps){-best[0], -best[1]};
  return LAPIS_OK;
}

/* Mean complementarity after a step. */
static lapis_status complementarity(ipm *t, steps by, double *mu)
{
  const sv_linear *point = t->point;
  double sum = 0, p = by.primal, d = by.dual;
  for (int64_t i = 0; i < point->q->n; i++) {
    sum += (point->a[i] + d * t->da[i]) * (t->s1[i] + p * t->d1[i]);
    sum += (point->s[i] + d * t->ds[i]) * (t->s2[i] + p * t->d2[i]);
  }
  TRY(base_sum(point->q->ctx, &sum, 1));
  *mu = sum / t->total;
  return LAPIS_OK;
}

static void move(ipm *t, steps by)
{
  sv_linear *point = t->point;
  bool plain = point->q->plain;
  for (int64_t i = 0; i < point->q->n; i++) {
    /* A_1 du = direction of s1 less what it owed; m follows w only */
    double owed = off_1(t, i),
           du2 = t->d2[i] - (plain ? 0 : point->r[i] - t->s2[i]);
    point->m[i] += by.primal * (t->d1[i] - owed - du2);
    if (!plain) point->r[i] += by.primal * du2;
    point->a[i] += by.dual * t->da[i];
    point->s[i] += by.dual * t->ds[i]; /* C - a would lose the small ones */
    t->s1[i] += by.primal * t->d1[i];
    t->s2[i] += by.primal * t->d2[i];
  }
  for (int64_t k = 0; k < t->N; k++) t->u[k] += by.primal * t->du[k];
}

/* From the summed right side to directions and how far they may go. */
static lapis_status direct(ipm *t, double most, steps *by)
{
  TRY(solve_system(t));
  directions(t);
  return longest_steps(t, most, by);
}

/* From targets there, with the system at hand. */
static lapis_status aim(ipm *t, double most, steps *by)
{
  right_side(t);
  TRY(base_sum(t->point->q->ctx, t->du, t->N));
  return direct(t, most, by);
}

/* The system and, by the same sum, the predictor. */
static lapis_status predict(ipm *t, steps *by)
{
  set_targets(t, 0);
  right_side(t);
  TRY(make_system(t));
  TRY(base_sum(t->point->q->ctx, t->M, t->N * t->N + t->N));
  TRY(factorise(t));
  return direct(t, 1, by);
}

/* da, ds, d1, d2, u's direction: to the copy or back. */
static void keep_directions(ipm *t, bool back)
{
  size_t n = (size_t)(4 * t->point->q->n) * sizeof *t->da;
  memcpy(back ? t->da : t->kept, back ? t->kept : t->da, n);
  size_t N = (size_t)t->N * sizeof *t->du;
  memcpy(back ? t->du : t->kept_u, back ? t->kept_u : t->du, N);
}

/* Corrections while they lengthen the steps. */
static lapis_status correct(ipm *t, double mu, steps *by)
{
  for (int k = 0; k < CORRECTIONS && fmin(by->primal, by->dual) < 0.9; k++) {
    steps longer;
    keep_directions(t, false);
    centre(t, mu, *by);
    TRY(aim(t, 1 / BACK_OFF, &longer));
    bool better =
        longer.primal + longer.dual >= by->primal + by->dual + 0.1 * REACH;
    if (!better) {
      keep_directions(t, true);
      return LAPIS_OK;
    }
    *by = longer;
  }
  return LAPIS_OK;
}

/* Complementarity against the objective: the gap, but for rounding and
 * infeasibility. */
static double left_over(const ipm *t, double mu)
{
  double size = fmax(fabs(t->point->primal), fabs(t->point->dual));
  if (size > LOST * t->most) size = t->most;
  return mu * t->total / fmax(size, 1e-300);
}

static lapis_status iterate(ipm *t, double mu)
{
  steps by;
  double ahead;
  TRY(predict(t, &by));
  TRY(complementarity(t, by, &ahead));
  double sigma = pow(fmin(fmax(ahead / mu, 0), 1), 3);
  double goal = fmax(sigma * mu, 1e-300);
  set_targets(t, goal);
  TRY(aim(t, 1 / BACK_OFF, &by));
  TRY(correct(t, goal, &by));
  by.primal = fmin(1, BACK_OFF * by.primal);
  by.dual = fmin(1, BACK_OFF * by.dual);
  /* unequal steps leave u behind (a, s): at the end both go equally far */
  if (left_over(t, mu) <= FAR * t->tol)
    by.primal = by.dual = fmin(by.primal, by.dual);
  move(t, by);
  return LAPIS_OK;
}

/* ---- the loop -----------------------------------------------------------*/
static double rest(const sv_data *q, int64_t k)
{
  return q->rest == NULL ? 0 : q->rest[k];
}

/* What a and s = C/2 are to be multiplied with so that they balance the cost of
 * all slack: that of samples which are not here, too. */
static double share(const sv_data *q)
{
  double sum = 0;
  if (q->plain || q->rest == NULL) return 1;
  for (int64_t i = 0; i < q->n; i++) sum += q->C[i];
  return 1 + rest(q, q->d + 1 + q->p) / sum;
}

static lapis_status start(ipm *t)
{
  sv_linear *point = t->point;
  const sv_data *q = point->q;
  memset(t->u, 0, (size_t)t->N * sizeof *t->u);
  double f = share(q) / 2;
  for (int64_t k = 0; k < t->N; k++) t->c[k] = rest(q, k);
  if (!q->plain) t->u[t->N - 1] = 2;
  for (int64_t i = 0; i < q->n; i++) {
    point->a[i] = point->s[i] = q->C[i] * f;
    point->m[i] = 0;
    point->r[i] = t->s2[i] = 2;
    t->s1[i] = 1;
    if (!q->plain) column_add(&q->P, i, q->C[i], t->c + t->D);
  }
  return base_sum(q->ctx, t->c, t->N);
}

static bool finite_state(const ipm *t)
{
  for (int64_t k = 0; k < t->N; k++)
    if (!isfinite(t->du[k])) return false;
  return true;
}

/* ---- certificates -------------------------------------------------------*/
/* What a and s lack for w and v to be those of u: du = (u_w - sum a y x,
 * gamma u_v - sum (a + s - C) z). */
static lapis_status behind(ipm *t)
{
  const sv_linear *point = t->point;
  const sv_data *q = point->q;
  double *du = t->du;
  memset(du, 0, (size_t)t->N * sizeof *du);
  for (int64_t i = 0; i < q->n; i++) {
    column_add(&q->X, i, -point->a[i] * q->y[i], du);
    if (!q->plain)
      column_add(&q->P, i, q->C[i] - point->a[i] - point->s[i], du + t->D);
  }
  TRY(base_sum(q->ctx, du, t->N));
  for (int64_t k = 0; k < t->N; k++)
    du[k] += (k < t->D ? 1 : q->gamma) * t->u[k] + rest(q, k);
  return LAPIS_OK;
}

/* The smallest relative change of a and s, in the least-squares sense, that
 * makes w and v those of u, which is all but feasible: with a small gamma the
 * v = sum (a + s - C) z / gamma of the iterates magnifies what the last systems
 * rounded.  At the end about N multipliers are not 0, and the system is that of
 * the constraints they belong to. */
static lapis_status restore(ipm *t)
{
  sv_linear *point = t->point;
  const sv_data *q = point->q;
  t->restoring = true;
  lapis_status s = make_system(t);
  if (s >= 0) s = base_sum(q->ctx, t->M, t->N * t->N);
  if (s >= 0) s = factorise(t);
  t->restoring = false;
  for (int k = 0; s >= 0 && k < ROUNDS; k++) {
    s = behind(t);
    la_array M = la_wrap(t->M, t->N, t->N), b = la_wrap(t->du, t->N, 1);
    if (s >= 0) s = q->h->ops->potrs(q->h, &M, &b);
    if (s >= 0 && !finite_state(t)) break;
    for (int64_t i = 0; s >= 0 && i < q->n; i++) {
      double x = q->y[i] * column_dot(&q->X, i, t->du);
      if (q->plain) {
        double free = point->s[i] / q->C[i];
        point->a[i] *= fmax(1 + free * free * point->a[i] * x, 0.1);
        point->a[i] = fmin(point->a[i], q->C[i]);
        point->s[i] = q->C[i] - point->a[i];
        continue;
      }
      double z = column_dot(&q->P, i, t->du + t->D);
      point->a[i] *= fmax(1 + point->a[i] * (x + z), 0.1);
      point->s[i] *= fmax(1 + point->s[i] * z, 0.1);
    }
  }
  return s == LAPIS_ENUMERIC ? LAPIS_OK : s; /* the gap will tell */
}

static lapis_status certify_point(ipm *t, double tol)
{
  sv_linear *point = t->point;
  size_t bytes = (size_t)point->q->n * sizeof *point->a;
  TRY(sv_linear_certify(point));
  TRY(sv_linear_record(point, tol));
  if (!(point->gap < t->best_gap)) return LAPIS_OK;
  t->best_gap = point->gap;
  memcpy(t->best_a, point->a, bytes);
  memcpy(t->best_s, point->s, bytes);
  return LAPIS_OK;
}

/* a, s, m and r (which adjoin): to the copy or back. */
static void keep_point(ipm *t, bool back)
{
  size_t bytes = (size_t)(4 * t->point->q->n) * sizeof *t->kept;
  memcpy(back ? t->point->a : t->kept, back ? t->kept : t->point->a, bytes);
}

/* Certifies the dual point, restored where it is not complementarity that is
 * left; the iterates go on from where they were. */
static lapis_status certify(ipm *t, double mu, double tol)
{
  sv_linear *point = t->point;
  keep_point(t, false);
  TRY(certify_point(t, tol));
  bool behind_u = point->gap > tol && left_over(t, mu) < 0.5 * tol;
  keep_point(t, true);
  if (!behind_u) return LAPIS_OK;
  sv_linear before = *point;
  memcpy(point->u, t->u, (size_t)t->N * sizeof *t->u);
  point->beside = 1;
  TRY(restore(t));
  TRY(certify_point(t, tol));
  point->primal = before.primal;
  point->dual = before.dual;
  keep_point(t, true);
  return LAPIS_OK;
}

/* A certificate reads all of the data; far from the end it is not worth it. */
static bool worth_certifying(const ipm *t, double mu, double tol)
{
  return isinf(t->best_gap) || left_over(t, mu) <= FAR * tol;
}

static void keep(ipm *t, int64_t *waited)
{
  loop *l = t->point->q->loop;
  int64_t n = t->point->q->n;
  sv_linear_keep(t->point);
  loop_keep(l, "s1", t->s1, n);
  loop_divide(l, 1);
  loop_keep(l, "s2", t->s2, n);
  loop_divide(l, 1);
  loop_keep(l, "u", t->u, t->N);
  loop_keep(l, "best_a", t->best_a, n);
  loop_divide(l, 1);
  loop_keep(l, "best_s", t->best_s, n);
  loop_divide(l, 1);
  loop_keep(l, "best_gap", &t->best_gap, 1);
  loop_keep_whole(l, "waited", waited, 1, 0, LOOP_MOST);
}

/* Steps until the best gap is below the target, or PATIENCE certificates in a
 * row bring nothing; LATE times as fast once complementarity is gone. */
static lapis_status run(ipm *t, double tol)
{
  sv_linear *point = t->point;
  loop *l = point->q->loop;
  double mu;
  int64_t waited = 0;
  bool resumed;
  keep(t, &waited);
  TRY(loop_resume(l, &resumed));
  memset(t->da, 0, (size_t)point->q->n * 4 * sizeof *t->da);
  TRY(complementarity(t, (steps){0, 0}, &mu));
  while (t->best_gap > tol && waited < PATIENCE && loop_next(l)) {
    double before = t->best_gap, last = mu;
    lapis_status s = iterate(t, mu);
    /* rounding: the system is no longer definite */
    if (s == LAPIS_ENUMERIC || !finite_state(t)) break;
    TRY(s);
    TRY(complementarity(t, (steps){0, 0}, &mu));
    if (!worth_certifying(t, mu, tol) && mu < 0.95 * last) continue;
    TRY(certify(t, mu, tol));
    bool gained = t->best_gap < 0.9 * before;
    bool early = left_over(t, mu) > tol, falls = early && mu < 0.95 * last;
    waited = gained || falls ? 0 : waited + (early ? 1 : LATE);
  }
  return point->q->loop->status == LAPIS_OK ? LAPIS_OK : certify(t, mu, tol);
}

/* Arrays of n, then of the order of the system. */
static lapis_status allocate(ipm *t, double **room)
{
  const sv_data *q = t->point->q;
  int64_t n = q->n, N = t->N, block = n < BLOCK ? n : BLOCK;
  int64_t count = 16 * n + 4 * N + 2 * N * N + (2 * N + q->p) * block;
  double *at = *room = base_alloc_raw(q->ctx, count, sizeof *at);
  if (at == NULL) return LAPIS_ENOMEM;
  double **per_sample[] = {&t->s1,     &t->s2,     &t->da, &t->ds,
                           &t->d1,     &t->d2,     &t->g1, &t->g2,
                           &t->best_a, &t->best_s, &t->t1, &t->t2};
  for (int k = 0; k < 12; k++, at += n) *per_sample[k] = at;
  t->kept = at;
  at += 4 * n;
  double **vectors[] = {&t->u, &t->c, &t->kept_u};
  for (int k = 0; k < 3; k++, at += N) *vectors[k] = at;
  t->M = at;
  t->du = t->M + N * N;
  t->part = t->du + N;
  t->Bx = t->part + N * N;
  t->Bz = t->Bx + t->D * block;
  t->Bxz = t->Bz + (N - t->D) * block;
  return LAPIS_OK;
}

lapis_status sv_ipm(sv_linear *point, double tol)
{
  const sv_data *q = point->q;
  double *room;
  ipm t = {.point = point,
           .D = q->d + 1,
           .N = q->d + 1 + (q->plain ? 0 : q->p + 1),
           .tol = tol,
           .total = 2 * (double)q->n,
           .best_gap = INFINITY};
  TRY(base_sum(q->ctx, &t.total, 1));
  TRY(allocate(&t, &room));
  t.most = q->plain || base_rank(q->ctx) > 0 ? 0 : q->gamma / 2;
  for (int64_t i = 0; i < q->n; i++) t.most += q->C[i];
  t.most += q->rest_a + (q->plain ? 0 : rest(q, t.N - 1));
  lapis_status s = base_sum(q->ctx, &t.most, 1);
  if (s >= 0) s = start(&t);
  if (s >= 0) s = run(&t, tol);
  if (s >= 0 && isfinite(t.best_gap)) {
    memcpy(point->a, t.best_a, (size_t)q->n * sizeof *point->a);
    memcpy(point->s, t.best_s, (size_t)q->n * sizeof *point->s);
    for (int64_t i = 0; i < q->n && q->plain; i++)
      point->a[i] = fmin(point->a[i], q->C[i]);
    s = sv_linear_certify(point);
  }
  base_free(room);
  return s;
}
