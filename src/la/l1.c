/* l1.c - the passes of robust PCA and robust regression, fast and on the host.
 *
 * With c = clamp(x - s, -t, t), which is 0 where x is not observed, the
 * proximal step of t |x - .| at s is b = s + c: no branch on the sign, and c
 * is the multiplier in units of rho.  Each pass reads and writes every array
 * once; columns are shared out as in passes.c. */
#include <math.h>
#include <string.h>

#include "base/width.h"
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

/* Sums run side by side in SIDE lanes, at every width of registers: the same
 * bits. */
enum { SIDE = 8 };

WIDTH_INLINED void step_entry(const la_l1 *p, double x, double a, double *s,
                              double *w, double lost[6][SIDE], int64_t lane)
{
  double c = clamp(x - *s, p->t), b = *s + c, r = a - b;
  double moved = *s + p->relax * r, next = clamp(x - moved, p->t);
  double fit = moved + next, change = fit - b, miss = fabs(x - a), own = c * x;
  bool seen = x == x;
  *s = fit - p->rescale * next;
  *w = fit + p->rescale * next;
  lost[0][lane] += r * r;
  lost[1][lane] += change * change;
  lost[2][lane] += fit * fit;
  lost[3][lane] += next * next;
  lost[4][lane] += seen ? miss : 0;
  lost[5][lane] += seen ? own : 0;
}

WIDTH_INLINED void step_entries(const step_pass *q, int64_t j, double sums[6])
{
  const la_l1 p = *q->p;
  const double *restrict x = host_col(q->X, j), *restrict a = host_col(q->A, j);
  double *restrict s = host_col(q->S, j), *restrict w = host_col(q->W, j);
  double lost[6][SIDE] = {{0}};
  int64_t i = 0, n = q->X->rows;
  for (; i + SIDE <= n; i += SIDE)
    for (int64_t l = 0; l < SIDE; l++)
      step_entry(&p, x[i + l], a[i + l], s + i + l, w + i + l, lost, l);
  for (; i < n; i++) step_entry(&p, x[i], a[i], s + i, w + i, lost, i % SIDE);
  for (int k = 0; k < 6; k++)
    for (int l = 0; l < SIDE; l++) sums[k] += lost[k][l];
}

typedef void step_column(const step_pass *q, int64_t j, double sums[6]);

#define STEP_COLUMN(width)                                       \
  static void step_column_##width(const step_pass *q, int64_t j, \
                                  double sums[6])                \
  {                                                              \
    step_entries(q, j, sums);                                    \
  }
STEP_COLUMN(plain)
#if defined(WIDTH_MANY)
WIDTH_TARGET_AVX2_FMA STEP_COLUMN(avx2)
WIDTH_TARGET_AVX512 STEP_COLUMN(avx512)
#endif
    static step_column *const step_columns[WIDTHS] = {
        [WIDTH_PLAIN] = step_column_plain,
#if defined(WIDTH_MANY)
        [WIDTH_AVX2] = step_column_avx2,
        [WIDTH_AVX512] = step_column_avx512,
#endif
};

lapis_status host_l1_step(la *h, const la_l1 *p, const la_array *X,
                          const la_array *A, la_array *S, la_array *W,
                          double sums[6])
{
  TRY(host_check_shape(h, "l1_step", A, X->rows, X->cols));
  TRY(host_check_shape(h, "l1_step", S, X->rows, X->cols));
  TRY(host_check_shape(h, "l1_step", W, X->rows, X->cols));
  step_pass q = {p, X, A, S, W};
  step_column *run = step_columns[base_width_of(h->ctx)];
  double part[PARTS][6] = {{0}};
#pragma omp parallel for num_threads(h->threads) \
    schedule(dynamic) if (X->rows * X->cols > PARTS_WORTH_THREADS)
  for (int k = 0; k < PARTS; k++) {
    double local[6] = {0, 0, 0, 0, 0, 0};
    int64_t end = part_begin(X->cols, k + 1);
    for (int64_t j = part_begin(X->cols, k); j < end; j++) run(&q, j, local);
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
