/* l1.c - the passes of robust PCA and robust regression, fast and on the host:
 * l1.h over columns.  Each pass reads and writes every array once; columns are
 * shared out as in passes.c. */
#include "la/l1.h"

#include <string.h>

#include "base/width.h"
#include "la/host/host.h"
#include "la/parts.h"

/* ---- one Douglas-Rachford step ------------------------------------------*/
typedef struct step_pass {
  const la_l1 *p;
  const la_array *X, *A;
  la_array *S, *W;
} step_pass;

/* Sums run side by side in SIDE lanes, at every width of registers: the same
 * bits. */
enum { SIDE = 8 };

/* One entry; its shares of the sums are those of lane l. */
WIDTH_INLINED void step_lane(const l1_step_par *par, double x, double a,
                             double *s, double *w, double lost[6][SIDE], int l)
{
  double own[6] = {0}, state = *s, reflected;
  l1_step_entry(x, a, &state, &reflected, par, own, 1);
  *s = state;
  *w = reflected;
  for (int k = 0; k < 6; k++) lost[k][l] += own[k];
}

WIDTH_INLINED void step_entries(const step_pass *q, int64_t j, double sums[6])
{
  const l1_step_par par = {q->p->t, q->p->relax, q->p->rescale};
  const double *restrict x = host_col(q->X, j), *restrict a = host_col(q->A, j);
  double *restrict s = host_col(q->S, j), *restrict w = host_col(q->W, j);
  double lost[6][SIDE] = {{0}};
  int64_t i = 0, n = q->X->rows;
  for (; i + SIDE <= n; i += SIDE) WIDTH_SIMD()
  for (int l = 0; l < SIDE; l++)
    step_lane(&par, x[i + l], a[i + l], s + i + l, w + i + l, lost, l);
  for (; i < n; i++)
    step_lane(&par, x[i], a[i], s + i, w + i, lost, (int)(i % SIDE));
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
#pragma omp parallel for num_threads(parts_team(h, X->rows * X->cols)) \
    schedule(dynamic)
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
#pragma omp parallel for num_threads(parts_team(h, X->rows * X->cols))
  for (int64_t j = 0; j < X->cols; j++) {
    const double *x = host_col(X, j), *s = host_col(S, j);
    double *c = host_col(C, j);
    for (int64_t i = 0; i < X->rows; i++) c[i] = l1_clamp(x[i] - s[i], t);
  }
  return LAPIS_OK;
}

/* ---- sums over what was observed ----------------------------------------*/
static void sums_column(const double *x, const double *a, const double *c,
                        int64_t n, double sums[2])
{
  double local[2] = {0, 0};
  for (int64_t i = 0; i < n; i++)
    l1_sums_entry(x[i], a[i], c == NULL ? 0 : c[i], local);
  for (int k = 0; k < 2; k++) sums[k] += local[k];
}

lapis_status host_l1_sums(la *h, const la_array *X, const la_array *A,
                          const la_array *C, double sums[2])
{
  TRY(host_check_shape(h, "l1_sums", A, X->rows, X->cols));
  if (C != NULL) TRY(host_check_shape(h, "l1_sums", C, X->rows, X->cols));
  double part[PARTS][2] = {{0}};
#pragma omp parallel for num_threads(parts_team(h, X->rows * X->cols))
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
  l1_alm_par par = {p->lambda / p->mu1, p->mu1, p->mu2, p->next1, p->next2};
  double lost[3] = {0, 0, 0};
  for (int64_t i = 0; i < p->X->rows; i++)
    l1_alm_entry(x[i], d[i], f[i], &b[i], &g1[i], &g2[i], &z[i], &par, lost);
  for (int k = 0; k < 3; k++) sums[k] += lost[k];
}

lapis_status host_l1_alm(la *h, const la_alm *p, double sums[3])
{
  const la_array *all[] = {p->D, p->F, p->B, p->G1, p->G2, p->Z};
  for (int i = 0; i < 6; i++)
    TRY(host_check_shape(h, "l1_alm", all[i], p->X->rows, p->X->cols));
  double part[PARTS][3] = {{0}};
#pragma omp parallel for num_threads(parts_team(h, p->X->rows * p->X->cols)) \
    schedule(dynamic)
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
