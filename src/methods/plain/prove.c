/* prove.c - Fenchel's dual of logistic regression.
 *
 * The slopes of the losses at the lines' own scores give the best bound near
 * the optimum: the gap is then |w + T R|^2 / 2, a square.  Their sum over the
 * samples, which has to be 0, is 0 at the best offset alone; elsewhere they are
 * made so within what is feasible, at a price of first order.
 *
 * Numerics: of a probability near 1 what is missing is kept, by log1p. */
#include "methods/plain/prove.h"

#include <float.h>
#include <math.h>
#include <string.h>

static double cost_of(const lines *p, int64_t j)
{
  return p->weight == NULL ? p->C : p->C * p->weight[j];
}

static bool is_of(const lines *p, int64_t j, int64_t g)
{
  return p->sign[j * p->K + g] > 0;
}

/* The class of sample j; K: not known. */
static int64_t class_of(const lines *p, int64_t j)
{
  int64_t y = 0;
  while (y < p->K && !is_of(p, j, y)) y++;
  return y;
}

bool lines_one_kind(const lines *p, int64_t c)
{
  bool seen[2] = {false, false};
  for (int64_t j = 0; j < p->T.X.cols && !p->classes; j++) {
    double s = p->sign[j * p->K + c];
    if (!isnan(s) && cost_of(p, j) > 0) seen[s > 0] = true;
  }
  return !p->classes && !(seen[0] && seen[1]);
}

double lines_rounding(const lines *p)
{
  return 4 * DBL_EPSILON * sqrt((double)(p->T.X.cols + p->T.X.rows));
}

/* ---- losses ---------------------------------------------------------------*/
static double label_loss(const lines *p, int64_t c, double *F)
{
  double sum = 0;
  for (int64_t j = 0; j < p->T.X.cols; j++) {
    double s = p->sign[j * p->K + c], cost = cost_of(p, j);
    if (isnan(s)) {
      F[j] = 0;
      continue;
    }
    double u = s * F[j], e = exp(-fabs(u));
    sum += cost * ((u > 0 ? 0 : -u) + log1p(e));
    F[j] = -cost * s * (u > 0 ? e : 1) / (1 + e);
  }
  return sum;
}

static double class_loss(const lines *p, double *F)
{
  int64_t n = p->T.X.cols, K = p->K;
  double sum = 0;
  for (int64_t j = 0; j < n; j++) {
    int64_t y = class_of(p, j);
    double cost = y < K ? cost_of(p, j) : 0, most = -INFINITY, all = 0,
           rest = 0;
    double own = y < K ? F[y * n + j] : 0;
    for (int64_t g = 0; g < K; g++) most = fmax(most, F[g * n + j]);
    for (int64_t g = 0; g < K; g++) {
      double e = exp(F[g * n + j] - most);
      all += F[g * n + j] = e;
      rest += g == y ? 0 : e;
    }
    for (int64_t g = 0; g < K; g++)
      F[g * n + j] = cost * (g == y ? -rest : F[g * n + j]) / all;
    /* log of all / own, which is 1 + rest where own is the most */
    if (y < K)
      sum += cost * (own == most ? log1p(rest) : log(all) + most - own);
  }
  return sum;
}

double lines_loss(const lines *p, int64_t c, double *F)
{
  return p->classes ? class_loss(p, F) : label_loss(p, c, F);
}

double lines_square(const lines *p, const double *W)
{
  int64_t r = p->T.X.rows;
  double sum = 0;
  for (int64_t g = 0; g < lines_together(p); g++)
    for (int64_t i = 0; i < r; i++) {
      double w = W[g * (r + 1) + i];
      sum += (p->ridge == NULL ? 1 : p->ridge[i]) * w * w;
    }
  return sum / 2;
}

lapis_status lines_score(const lines *p, const double *W, double *F)
{
  int64_t r = p->T.X.rows, n = p->T.X.cols, G = lines_together(p);
  TRY(op_samples_dot(p->h, &p->T, W, r + 1, G, F));
  for (int64_t k = 0; k < n * G; k++) F[k] += W[k / n * (r + 1) + r];
  return LAPIS_OK;
}

lapis_status lines_slope(const lines *p, const double *W, const double *R,
                         double *g)
{
  int64_t r = p->T.X.rows, n = p->T.X.cols, G = lines_together(p);
  TRY(op_samples_add(p->h, &p->T, R, G, g, r + 1));
  for (int64_t k = 0; k < G; k++) {
    double *of = g + k * (r + 1);
    of[r] = 0;
    for (int64_t j = 0; j < n; j++) of[r] += R[k * n + j];
    for (int64_t i = 0; i < r; i++)
      of[i] += (p->ridge == NULL ? 1 : p->ridge[i]) * W[k * (r + 1) + i];
  }
  return LAPIS_OK;
}

/* ---- the bound ------------------------------------------------------------*/
/* The larger of what pulls up and down becomes as large as the other. */
static void balance_label(const lines *p, double *R)
{
  double sum[2] = {0, 0};
  for (int64_t j = 0; j < p->T.X.cols; j++) sum[R[j] > 0] += fabs(R[j]);
  int larger = sum[1] > sum[0];
  double share = sum[larger] > 0 ? sum[!larger] / sum[larger] : 1;
  for (int64_t j = 0; j < p->T.X.cols; j++)
    if ((R[j] > 0) == larger) R[j] *= share;
}

/* Probabilities of classes that have too much of them shrink, sample by sample,
 * and what becomes free (n) goes to those that lack some, by their shares (K).
 */
static void balance_classes(const lines *p, double *R, double *freed,
                            double *share)
{
  int64_t n = p->T.X.cols, K = p->K;
  double lacking = 0;
  memset(freed, 0, (size_t)n * sizeof *freed);
  for (int64_t g = 0; g < K; g++) {
    double off = 0, held = 0, *of = R + g * n;
    for (int64_t j = 0; j < n; j++) {
      off += of[j];
      held += of[j] + (is_of(p, j, g) ? cost_of(p, j) : 0);
    }
    share[g] = fmax(-off, 0);
    lacking += share[g];
    for (int64_t j = 0; off > 0 && j < n; j++) {
      double own = is_of(p, j, g) ? cost_of(p, j) : 0;
      double less = (of[j] + own) * (off / held);
      of[j] -= less;
      freed[j] += less;
    }
  }
  for (int64_t k = 0; lacking > 0 && k < K * n; k++)
    R[k] += freed[k % n] * (share[k / n] / lacking);
}

/* cost H, of what R says. */
static double label_entropy(const lines *p, const double *R)
{
  double sum = 0;
  for (int64_t j = 0; j < p->T.X.cols; j++) {
    double cost = cost_of(p, j), a = fmin(fabs(R[j]), cost), b = cost - a;
    if (a > 0) sum -= a * (log(a) - log(cost)); /* a may have no digits */
    if (b > 0) sum -= b * (a < b ? log1p(-a / cost) : log(b / cost));
  }
  return sum;
}

static double class_entropy(const lines *p, const double *R)
{
  int64_t n = p->T.X.cols;
  double sum = 0;
  for (int64_t j = 0; j < n; j++) {
    int64_t y = class_of(p, j);
    double cost = cost_of(p, j);
    if (y == p->K || !(cost > 0)) continue;
    for (int64_t g = 0; g < p->K; g++) {
      double a = R[g * n + j] / cost; /* of the own class: q - 1 */
      if (g != y && a > 0) sum -= cost * a * log(a);
      if (g == y && a > -1) sum -= cost * (1 + a) * log1p(a);
    }
  }
  return sum;
}

lapis_status lines_bound(const lines *p, double *R, double *TR, double *bound)
{
  int64_t r = p->T.X.rows, n = p->T.X.cols, G = lines_together(p);
  int64_t room = n + G > r ? n + G : r;
  double *spare = base_alloc_raw(p->h->ctx, room, sizeof *spare), square = 0;
  if (spare == NULL) return LAPIS_ENOMEM;
  if (p->classes)
    balance_classes(p, R, spare, spare + n);
  else
    balance_label(p, R);
  lapis_status s = op_samples_add(p->h, &p->T, R, G, TR, r);
  for (int64_t g = 0; s >= 0 && g < G; g++) {
    op_samples_rounding(&p->T, R + g * n, spare);
    for (int64_t i = 0; i < r; i++) {
      double w = fabs(TR[g * r + i]) + spare[i];
      square += w * w / (p->ridge == NULL ? 1 : p->ridge[i]);
    }
  }
  base_free(spare);
  *bound =
      (p->classes ? class_entropy(p, R) : label_entropy(p, R)) - square / 2;
  return s;
}
