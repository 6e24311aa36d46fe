/* affine.c - matches of two images of points, some of them wrong.
 *
 * Assignment on min(|A p - q|^2, cap^2) and an affine map A fitted to the
 * matches below the cap, in turn.  The cap lets a wrong point cost no more than
 * a missing one, and Cauchy weights 1/(1 + (d/s)^2) keep it from pulling A.  A
 * begins as the cheaper of the identity and of the shift of medians, which some
 * wrong points move little: images need not lie in one frame. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "methods/roml/roml.h"

static const double SPREAD = 1.5, PIXEL = 0.5; /* s = max(1.5 median d, .5) */
enum { REWEIGHT = 3 };

typedef struct affine {
  double m[2][3];
} affine;

void roml_solve_small(int m, double A[4][4], double *b)
{
  for (int i = 0; i < m; i++) {
    double pivot = fmax(A[i][i], 1e-300);
    for (int r = i + 1; r < m; r++) {
      double f = A[r][i] / pivot;
      for (int c = i; c < m; c++) A[r][c] -= f * A[i][c];
      b[r] -= f * b[i];
    }
  }
  for (int i = m - 1; i >= 0; i--) {
    for (int c = i + 1; c < m; c++) b[i] -= A[i][c] * b[c];
    b[i] /= fmax(A[i][i], 1e-300);
  }
}

double roml_median(double *v, int64_t count)
{
  if (count == 0) return 0;
  qsort(v, (size_t)count, sizeof *v, base_ascending);
  return v[count / 2];
}

static void move(const affine *t, const double *p, double q[2])
{
  for (int r = 0; r < 2; r++)
    q[r] = t->m[r][0] * p[0] + t->m[r][1] * p[1] + t->m[r][2];
}

static double distance(const affine *t, const double *p, const double *q)
{
  double moved[2];
  move(t, p, moved);
  return hypot(moved[0] - q[0], moved[1] - q[1]);
}

/* Rows: image a, which has no more points than b. */
static lapis_status capped_assignment(robust *g, int64_t a, int64_t b,
                                      const affine *t, double cap)
{
  int64_t rows = roml_count(g->p, a), cols = roml_count(g->p, b);
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < cols; j++) {
      double d =
          distance(t, roml_feature(g->p, a, i), roml_feature(g->p, b, j));
      g->cost[i * cols + j] = fmin(d * d, cap * cap);
    }
  assign_costs costs = {LAPIS_F64, rows, cols, cols, g->cost};
  if (op_assign_solve(g->solver, &costs, false) < 0) return LAPIS_OK;
  return lapis_fail(g->h.ctx, LAPIS_ENUMERIC,
                    "roml: distances overflow; scale X down");
}

/* One weighted least squares fit of both rows, as changes of the identity. */
static void fit_once(robust *g, int64_t a, int64_t b, affine *t, double cap,
                     double s)
{
  const int64_t *match = g->solver->match;
  double A[2][4][4] = {{{0}}}, y[2][4] = {{0}};
  for (int64_t i = 0; i < roml_count(g->p, a); i++) {
    const double *p = roml_feature(g->p, a, i);
    const double *q = roml_feature(g->p, b, match[i]);
    double d = distance(t, p, q), x[3] = {p[0], p[1], 1};
    if (!(d < cap)) continue;
    double weight = 1 / (1 + d * d / (s * s));
    for (int u = 0; u < 3; u++) {
      for (int r = 0; r < 2; r++) y[r][u] += weight * x[u] * (q[r] - p[r]);
      for (int v = 0; v < 3; v++) A[0][u][v] += weight * x[u] * x[v];
    }
  }
  /* towards the identity where points do not decide */
  for (int u = 0; u < 3; u++) A[0][u][u] += 1e-9 * (A[0][u][u] + 1);
  memcpy(A[1], A[0], sizeof A[0]);
  for (int r = 0; r < 2; r++) {
    roml_solve_small(3, A[r], y[r]);
    for (int u = 0; u < 3; u++) t->m[r][u] = y[r][u] + (u == r ? 1 : 0);
  }
}

static void fit_affine(robust *g, int64_t a, int64_t b, affine *t, double cap)
{
  for (int again = 0; again < REWEIGHT; again++) {
    int64_t count = 0;
    for (int64_t i = 0; i < roml_count(g->p, a); i++) {
      double d = distance(t, roml_feature(g->p, a, i),
                          roml_feature(g->p, b, g->solver->match[i]));
      if (d < cap) g->cost[count++] = d;
    }
    if (count < 4) return;
    double s = fmax(SPREAD * roml_median(g->cost, count), PIXEL);
    fit_once(g, a, b, t, cap, s);
  }
}

static double capped_cost(const robust *g, int64_t a, int64_t b)
{
  double sum = 0;
  for (int64_t i = 0; i < roml_count(g->p, a); i++)
    sum += g->cost[i * roml_count(g->p, b) + g->solver->match[i]];
  return sum;
}

static double middle(robust *g, int64_t k, int r)
{
  int64_t count = roml_count(g->p, k);
  for (int64_t i = 0; i < count; i++) g->cost[i] = roml_feature(g->p, k, i)[r];
  return roml_median(g->cost, count);
}

static lapis_status first_map(robust *g, int64_t a, int64_t b, affine *t)
{
  affine shift = {{{1, 0, 0}, {0, 1, 0}}};
  *t = shift;
  TRY(capped_assignment(g, a, b, t, g->tau));
  double stay = capped_cost(g, a, b);
  for (int r = 0; r < 2; r++) shift.m[r][2] = middle(g, b, r) - middle(g, a, r);
  TRY(capped_assignment(g, a, b, &shift, g->tau));
  if (capped_cost(g, a, b) < stay) *t = shift;
  return LAPIS_OK;
}

static void keep_matches(robust *g, int64_t a, int64_t b, const affine *t,
                         double cap)
{
  const roml_problem *p = g->p;
  double sum = 0;
  for (int64_t j = 0; j < roml_count(p, b); j++)
    g->partner[a * p->N + p->first[b] + j] = -1;
  for (int64_t i = 0; i < roml_count(p, a); i++) {
    int64_t j = g->solver->match[i];
    double d = distance(t, roml_feature(p, a, i), roml_feature(p, b, j));
    bool near = d < cap;
    sum += fmin(d * d, g->tau * g->tau);
    g->partner[b * p->N + p->first[a] + i] = near ? (int32_t)j : -1;
    if (near) g->partner[a * p->N + p->first[b] + j] = (int32_t)i;
  }
  g->W[a * p->K + b] = g->W[b * p->K + a] = sum / (double)roml_count(p, a);
}

lapis_status roml_affine_pairs(robust *g, int rounds, int half)
{
  const roml_problem *p = g->p;
  for (int64_t k = 0; k < p->K; k++)
    for (int64_t l = k + 1; l < p->K; l++) {
      bool less = roml_count(p, k) <= roml_count(p, l);
      int64_t a = less ? k : l, b = less ? l : k;
      affine t;
      double cap = g->tau;
      TRY(first_map(g, a, b, &t));
      for (int r = 0; r < rounds; r++) {
        cap = r >= half ? g->tau / 2 : g->tau;
        TRY(capped_assignment(g, a, b, &t, cap));
        fit_affine(g, a, b, &t, cap);
      }
      TRY(capped_assignment(g, a, b, &t, cap));
      keep_matches(g, a, b, &t, cap);
    }
  return LAPIS_OK;
}
