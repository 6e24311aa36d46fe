/* l1.c - the passes of robust PCA and robust regression, fast and on the host.
 *
 * With c = clamp(x - s, -t, t), which is 0 where x is not observed, the
 * proximal step of t |x - .| at s is b = s + c: no branch on the sign, and c
 * is the multiplier in units of rho.  Each pass reads and writes every array
 * once; columns are shared out as in passes.c. */
#include <math.h>
#include <string.h>

#include "la/host.h"
#include "la/parts.h"

/* clamp(v, -t, t), 0 for NaN: every comparison with NaN is false. */
static inline double clamp(double v, double t)
{
  double low = v > -t ? v : -t;
  double c = low < t ? low : t;
  return v == v ? c : 0;
}

/* ---- one Douglas-Rachford step ------------------------------------------*/
typedef struct step_pass {
  const la_l1 *p;
  const la_array *X, *A;
  la_array *S, *W;
} step_pass;

static void step_column(const step_pass *q, int64_t j, double sums[6])
{
  const double *x = host_col(q->X, j), *a = host_col(q->A, j);
  double *s = host_col(q->S, j), *w = host_col(q->W, j);
  double t = q->p->t, relax = q->p->relax, keep = q->p->rescale;
  double lost[6] = {0, 0, 0, 0, 0, 0};
  for (int64_t i = 0; i < q->X->rows; i++) {
    double c = clamp(x[i] - s[i], t), b = s[i] + c, r = a[i] - b;
    double moved = s[i] + relax * r, next = clamp(x[i] - moved, t);
    double fit = moved + next, change = fit - b, miss = x[i] - a[i];
    bool seen = x[i] == x[i];
    s[i] = fit - keep * next;
    w[i] = fit + keep * next;
    lost[0] += r * r;
    lost[1] += change * change;
    lost[2] += fit * fit;
    lost[3] += next * next;
    lost[4] += seen ? fabs(miss) : 0;
    lost[5] += seen ? c * x[i] : 0;
  }
  for (int k = 0; k < 6; k++) sums[k] += lost[k];
}

lapis_status host_l1_step(la *h, const la_l1 *p, const la_array *X,
                          const la_array *A, la_array *S, la_array *W,
                          double sums[6])
{
  TRY(host_check_shape(h, "l1_step", A, X->rows, X->cols));
  TRY(host_check_shape(h, "l1_step", S, X->rows, X->cols));
  TRY(host_check_shape(h, "l1_step", W, X->rows, X->cols));
  step_pass q = {p, X, A, S, W};
  double part[PARTS][6] = {{0}};
#pragma omp parallel for num_threads(h->threads) \
    schedule(dynamic) if (X->rows * X->cols > PARTS_WORTH_THREADS)
  for (int k = 0; k < PARTS; k++) {
    double local[6] = {0, 0, 0, 0, 0, 0};
    int64_t end = part_begin(X->cols, k + 1);
    for (int64_t j = part_begin(X->cols, k); j < end; j++)
      step_column(&q, j, local);
    memcpy(part[k], local, sizeof local);
  }
  for (int c = 0; c < 6; c++) sums[c] = 0;
  for (int k = 0; k < PARTS; k++)
    for (int c = 0; c < 6; c++) sums[c] += part[k][c];
  return LAPIS_OK;
}

/* ---- the multiplier -----------------------------------------------------*/
lapis_status host_l1_dual(la *h, double t, const la_array *X, const la_array *S,
                          la_array *C)
{
  TRY(host_check_shape(h, "l1_dual", S, X->rows, X->cols));
  TRY(host_check_shape(h, "l1_dual", C, X->rows, X->cols));
#pragma omp parallel for num_threads(h->threads) if (X->rows * X->cols > \
                                                     PARTS_WORTH_THREADS)
  for (int64_t j = 0; j < X->cols; j++) {
    const double *x = host_col(X, j), *s = host_col(S, j);
    double *c = host_col(C, j);
    for (int64_t i = 0; i < X->rows; i++) c[i] = clamp(x[i] - s[i], t);
  }
  return LAPIS_OK;
}

/* ---- sums over what was observed ----------------------------------------*/
static void sums_column(const double *x, const double *a, const double *c,
                        int64_t n, double sums[2])
{
  double l1 = 0, inner = 0;
  for (int64_t i = 0; i < n; i++) {
    bool seen = x[i] == x[i];
    double miss = x[i] - a[i];
    l1 += seen ? fabs(miss) : 0;
    inner += seen && c != NULL ? c[i] * x[i] : 0;
  }
  sums[0] += l1;
  sums[1] += inner;
}

lapis_status host_l1_sums(la *h, const la_array *X, const la_array *A,
                          const la_array *C, double sums[2])
{
  TRY(host_check_shape(h, "l1_sums", A, X->rows, X->cols));
  if (C != NULL) TRY(host_check_shape(h, "l1_sums", C, X->rows, X->cols));
  double part[PARTS][2] = {{0}};
#pragma omp parallel for num_threads(h->threads) if (X->rows * X->cols > \
                                                     PARTS_WORTH_THREADS)
  for (int k = 0; k < PARTS; k++) {
    double local[2] = {0, 0};
    int64_t end = part_begin(X->cols, k + 1);
    for (int64_t j = part_begin(X->cols, k); j < end; j++)
      sums_column(host_col(X, j), host_col(A, j),
                  C == NULL ? NULL : host_col(C, j), X->rows, local);
    memcpy(part[k], local, sizeof local);
  }
  sums[0] = sums[1] = 0;
  for (int k = 0; k < PARTS; k++)
    for (int c = 0; c < 2; c++) sums[c] += part[k][c];
  return LAPIS_OK;
}

/* ---- one step of the augmented Lagrangian -------------------------------*/
static void alm_column(const la_alm *p, int64_t j, double sums[3])
{
  const double *x = host_col(p->X, j), *d = host_col(p->D, j);
  const double *f = host_col(p->F, j);
  double *b = host_col(p->B, j), *g1 = host_col(p->G1, j);
  double *g2 = host_col(p->G2, j), *z = host_col(p->Z, j);
  double t = p->lambda / p->mu1, beta = p->next1 + p->next2;
  double lost[3] = {0, 0, 0};
  for (int64_t i = 0; i < p->X->rows; i++) {
    bool seen = x[i] == x[i];
    double old = g1[i] / p->mu1, miss = x[i] - d[i];
    double c = clamp(miss + old, t), step = seen ? c - old : 0;
    double apart = f[i] - d[i];
    b[i] = d[i] + step; /* X - E; D where nothing was observed */
    g1[i] = p->mu1 * c;
    g2[i] += p->mu2 * apart;
    z[i] = (g1[i] + p->next1 * b[i] + g2[i]) / beta;
    lost[0] += step * step;
    lost[1] += apart * apart;
    lost[2] += seen ? fabs(miss) : 0;
  }
  for (int k = 0; k < 3; k++) sums[k] += lost[k];
}

lapis_status host_l1_alm(la *h, const la_alm *p, double sums[3])
{
  const la_array *all[] = {p->D, p->F, p->B, p->G1, p->G2, p->Z};
  for (int i = 0; i < 6; i++)
    TRY(host_check_shape(h, "l1_alm", all[i], p->X->rows, p->X->cols));
  double part[PARTS][3] = {{0}};
#pragma omp parallel for num_threads(h->threads) \
    schedule(dynamic) if (p->X->rows * p->X->cols > PARTS_WORTH_THREADS)
  for (int k = 0; k < PARTS; k++) {
    double local[3] = {0, 0, 0};
    int64_t end = part_begin(p->X->cols, k + 1);
    for (int64_t j = part_begin(p->X->cols, k); j < end; j++)
      alm_column(p, j, local);
    memcpy(part[k], local, sizeof local);
  }
  for (int c = 0; c < 3; c++) sums[c] = 0;
  for (int k = 0; k < PARTS; k++)
    for (int c = 0; c < 3; c++) sums[c] += part[k][c];
  return LAPIS_OK;
}
