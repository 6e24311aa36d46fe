/* roml_embed.c - positions and descriptors in one feature, [ROML16] Appendix 1
 * after Torki and Elgammal (2010).
 *
 * A is N x N: exp(-|x_i - x_j|^2 / 2 s_x^2) on positions within an image,
 * exp(-|f_i - f_j|^2 / 2 s_f^2) on descriptors between images, ones on the
 * diagonal.  The bottom eigenvectors of the generalised problem (29),
 * L_A f = beta D_A f, are D_A^-1/2 v for the top eigenvectors v of
 * D_A^-1/2 A D_A^-1/2; the first, constant one says nothing and is dropped.
 * Only the space they span matters, since features are compared by angles: it
 * is found by block power iteration with the constant one projected out.
 *
 * Widths, where not given: s_x is a share of the median distance of two points
 * of an image; s_f one of the median distance to the nearest descriptor of
 * another image. */
#include <math.h>
#include <string.h>

#include "solve/roml_robust.h"

enum { POWERS = 40, SAMPLES = 2000, STREAM = 105 };
static const int64_t MOST = 20000; /* features: A is N x N */
static const double SPATIAL = 0.25, DESCRIPTOR = 0.5;

typedef struct embedding {
  roml *w;
  roml_problem *p;
  la h;
  const lapis_mat *xy;
  int64_t dim;
  double sx, sf;
  la_array F, A, V, T;          /* d x N, N x N, N x dim twice */
  double *degree, *norm, *work; /* N each */
} embedding;

static double point_distance2(const embedding *e, int64_t i, int64_t j)
{
  int64_t a = e->p->row[i], b = e->p->row[j];
  double x = lapis_mat_at(e->xy, 0, a) - lapis_mat_at(e->xy, 0, b);
  double y = lapis_mat_at(e->xy, 1, a) - lapis_mat_at(e->xy, 1, b);
  return x * x + y * y;
}

/* ---- widths -------------------------------------------------------------*/
/* Some pairs within images, the same for every number of threads. */
static void set_spatial(embedding *e)
{
  const roml_problem *p = e->p;
  uint64_t seed = base_seed(e->h.ctx), at = 0;
  int64_t count = 0;
  for (int64_t t = 0; t < p->N && t < SAMPLES; t++) {
    int64_t k = (int64_t)(rng_bits(seed, STREAM, at++) % (uint64_t)p->K);
    uint64_t many = (uint64_t)roml_count(p, k);
    int64_t i = (int64_t)(rng_bits(seed, STREAM, at++) % many);
    int64_t j = (int64_t)(rng_bits(seed, STREAM, at++) % many);
    if (i == j) continue;
    e->work[count++] = point_distance2(e, p->first[k] + i, p->first[k] + j);
  }
  e->sx = e->w->set.sigma_spatial;
  if (isnan(e->sx)) e->sx = SPATIAL * sqrt(roml_median(e->work, count));
  if (!(e->sx > 0)) e->sx = 1;
}

/* A holds squared distances of descriptors. */
static void set_descriptor(embedding *e)
{
  const roml_problem *p = e->p;
  const double *A = e->A.data;
  int64_t count = 0;
  for (int64_t k = 0; k < p->K; k++)
    for (int64_t i = p->first[k]; i < p->first[k + 1]; i++) {
      double least = INFINITY;
      for (int64_t j = 0; j < p->N; j++)
        if (j < p->first[k] || j >= p->first[k + 1])
          least = fmin(least, A[i * e->A.ld + j]);
      e->work[count++] = fmax(least, 0);
    }
  e->sf = e->w->set.sigma_descriptor;
  if (isnan(e->sf)) e->sf = DESCRIPTOR * sqrt(roml_median(e->work, count));
  if (!(e->sf > 0)) e->sf = 1;
}

/* ---- affinity -----------------------------------------------------------*/
static lapis_status descriptor_distances(embedding *e)
{
  int64_t N = e->p->N;
  double *A = e->A.data;
  TRY(e->h.ops->syrk(&e->h, LA_T, &e->F, &e->A));
  for (int64_t i = 0; i < N; i++) e->norm[i] = A[i * e->A.ld + i];
  for (int64_t j = 0; j < N; j++)
    for (int64_t i = 0; i < N; i++)
      A[j * e->A.ld + i] = e->norm[i] + e->norm[j] - 2 * A[j * e->A.ld + i];
  return LAPIS_OK;
}

static void fill_affinity(embedding *e)
{
  const roml_problem *p = e->p;
  double *A = e->A.data;
  for (int64_t k = 0; k < p->K; k++)
    for (int64_t j = p->first[k]; j < p->first[k + 1]; j++) {
      double *a = A + j * e->A.ld;
      for (int64_t i = 0; i < p->N; i++) {
        bool same = i >= p->first[k] && i < p->first[k + 1];
        double d2 = same ? point_distance2(e, i, j) / (e->sx * e->sx)
                         : fmax(a[i], 0) / (e->sf * e->sf);
        a[i] = exp(-d2 / 2);
      }
      a[j] = 1;
    }
  for (int64_t j = 0; j < p->N; j++) {
    e->degree[j] = 0;
    for (int64_t i = 0; i < p->N; i++) e->degree[j] += A[j * e->A.ld + i];
  }
  for (int64_t j = 0; j < p->N; j++)
    for (int64_t i = 0; i < p->N; i++)
      A[j * e->A.ld + i] /= sqrt(e->degree[i] * e->degree[j]);
}

/* ---- eigenvectors -------------------------------------------------------*/
/* Takes the constant eigenvector, D^1/2 1, out of V. */
static void drop_constant(embedding *e)
{
  int64_t N = e->p->N;
  double *V = e->V.data, total = 0;
  for (int64_t i = 0; i < N; i++) total += e->degree[i];
  for (int64_t c = 0; c < e->dim; c++) {
    double *v = V + c * e->V.ld, along = 0;
    for (int64_t i = 0; i < N; i++) along += v[i] * sqrt(e->degree[i]);
    for (int64_t i = 0; i < N; i++) v[i] -= along / total * sqrt(e->degree[i]);
  }
}

static lapis_status eigenvectors(embedding *e)
{
  uint64_t seed = base_seed(e->h.ctx);
  int64_t N = e->p->N;
  double *V = e->V.data;
  for (int64_t c = 0; c < e->dim; c++)
    for (int64_t i = 0; i < N; i++)
      V[c * e->V.ld + i] = rng_normal(seed, STREAM + 1, (uint64_t)(c * N + i));
  for (int t = 0; t < POWERS; t++) {
    drop_constant(e);
    TRY(e->h.ops->qr(&e->h, &e->V, NULL));
    TRY(e->h.ops->gemm(&e->h, LA_N, LA_N, 1, &e->A, &e->V, 0, &e->T));
    TRY(e->h.ops->axpby(&e->h, 1, &e->T, 0, &e->V));
  }
  drop_constant(e);
  return e->h.ops->qr(&e->h, &e->V, NULL);
}

/* X <- the rows of D^-1/2 V, a feature a column, in the order of X. */
static lapis_status hand_over(embedding *e)
{
  roml_problem *p = e->p;
  const double *V = e->V.data;
  double *X = base_alloc(e->h.ctx, e->dim * p->N, sizeof *X);
  if (X == NULL) return LAPIS_ENOMEM;
  for (int64_t i = 0; i < p->N; i++)
    for (int64_t c = 0; c < e->dim; c++)
      X[p->row[i] * e->dim + c] = V[c * e->V.ld + i] / sqrt(e->degree[i]);
  base_free(p->embedded);
  p->embedded = X;
  p->X = lapis_mat_f64(X, e->dim, p->N);
  return LAPIS_OK;
}

/* ---- the whole ----------------------------------------------------------*/
static lapis_status allocate(embedding *e)
{
  const roml_problem *p = e->p;
  lapis_ctx *ctx = e->h.ctx;
  const la_backend *ops = e->h.ops;
  e->degree = base_alloc(ctx, p->N, sizeof *e->degree);
  e->norm = base_alloc(ctx, p->N, sizeof *e->norm);
  e->work = base_alloc(ctx, p->N, sizeof *e->work);
  if (e->degree == NULL || e->norm == NULL || e->work == NULL)
    return LAPIS_ENOMEM;
  TRY(ops->alloc(&e->h, LAPIS_F64, p->X.rows, p->N, &e->F));
  TRY(ops->alloc(&e->h, LAPIS_F64, p->N, p->N, &e->A));
  TRY(ops->alloc(&e->h, LAPIS_F64, p->N, e->dim, &e->V));
  return ops->alloc(&e->h, LAPIS_F64, p->N, e->dim, &e->T);
}

static lapis_status embed(embedding *e)
{
  const roml_problem *p = e->p;
  for (int64_t i = 0; i < p->N; i++)
    memcpy((double *)e->F.data + i * e->F.ld, mat_col(&p->X, p->row[i]),
           (size_t)p->X.rows * sizeof(double));
  TRY(descriptor_distances(e));
  set_spatial(e);
  set_descriptor(e);
  e->w->set.sigma_spatial = e->sx;
  e->w->set.sigma_descriptor = e->sf;
  fill_affinity(e);
  TRY(eigenvectors(e));
  return hand_over(e);
}

lapis_status roml_embed(roml *w, const lapis_data *data)
{
  embedding e = {.w = w, .p = &w->p, .h = w->h, .xy = &data->xy};
  e.dim = w->set.dim < w->p.N - 1 ? w->set.dim : w->p.N - 1;
  if (w->p.N > MOST || e.dim < 1)
    return lapis_fail(w->base.ctx, LAPIS_ESHAPE,
                      "roml: --map embed compares all %" PRId64
                      " features with each other; it takes 2 to %" PRId64,
                      w->p.N, MOST);
  lapis_status status = allocate(&e);
  if (status >= 0) status = embed(&e);
  base_free(e.degree), base_free(e.norm), base_free(e.work);
  la_array *all[] = {&e.F, &e.A, &e.V, &e.T};
  for (int i = 0; i < 4; i++) w->h.ops->free(&w->h, all[i]);
  return status;
}
