/* embed.c - positions and descriptors in one feature, [ROML16] Appendix 1
 * after Torki and Elgammal (2010).
 *
 * A is N x N: exp(-|x_i - x_j|^2 / 2 s_x^2) on positions within an image,
 * exp(-|f_i - f_j|^2 / 2 s_f^2) on descriptors between images, ones on the
 * diagonal.  The bottom eigenvectors of the generalised problem (29),
 * L_A f = beta D_A f, are D_A^-1/2 v for the top eigenvectors v of
 * D_A^-1/2 A D_A^-1/2; the first, constant one says nothing and is dropped.
 *
 * That alone (--sigma-layout inf) loses the object among clutter: descriptors
 * that are like many others gather most of A, and eigenvectors of no
 * eigenvalue count as much as the leading ones.  Three additions:
 *   layout    between images, A also has exp(-|u_i - u_j|^2 / 2 s_u^2), with u
 *             the position about the mean of its image's, over their radius:
 *             where in the picture a feature lies.  No shift or scale matters;
 *             an upright view is assumed.
 *   balance   each block between two images is scaled, a few rounds of
 *             b_ij / sqrt(row sum, column sum), so that none matches all.
 *   weights   a vector counts by its eigenvalue, its share of what images
 *             agree on: a dim that is too large then does no harm.
 *
 * Widths, where not given: s_x is a share of an image's radius (the root mean
 * square distance from the mean position), s_f one of the median distance to
 * the nearest descriptor of another image. */
#include <math.h>
#include <string.h>

#include "la/parts.h"
#include "methods/roml/roml.h"

enum { BALANCING = 6 };
static const double NOTHING = 1e-290;
static const int64_t MOST = 20000; /* features: A is N x N */
static const double SPATIAL = 0.12, DESCRIPTOR = 0.25;

typedef struct embedding {
  roml *w;
  roml_problem *p;
  la h;
  const lapis_mat *xy;
  int64_t dim;
  bool printed; /* Appendix 1 as it is printed */
  double su, sf;
  la_array F, A, V;     /* d x N, N x N, N x dim */
  int64_t *image;       /* N */
  double *u;            /* 2 x N: positions about the mean, over the radius */
  double *radius;       /* K, at least a tiny number */
  double *degree, *sum; /* N each; N x K: of a row over an image */
  double *theta;        /* dim */
} embedding;

/* ---- layout -------------------------------------------------------------*/
static void lay_out_image(embedding *e, int64_t k)
{
  const roml_problem *p = e->p;
  double count = (double)roml_count(p, k), square = 0;
  for (int axis = 0; axis < 2; axis++) {
    double mean = 0;
    for (int64_t i = p->first[k]; i < p->first[k + 1]; i++)
      mean += lapis_mat_at(e->xy, axis, p->row[i]) / count;
    for (int64_t i = p->first[k]; i < p->first[k + 1]; i++) {
      double from = lapis_mat_at(e->xy, axis, p->row[i]) - mean;
      e->u[2 * i + axis] = from;
      square += from * from / count;
    }
  }
  e->radius[k] = square > 0 ? sqrt(square) : 1;
  for (int64_t i = p->first[k]; i < p->first[k + 1]; i++) {
    e->image[i] = k;
    e->u[2 * i] /= e->radius[k];
    e->u[2 * i + 1] /= e->radius[k];
  }
}

static double layout_distance2(const embedding *e, int64_t i, int64_t j)
{
  double x = e->u[2 * i] - e->u[2 * j];
  double y = e->u[2 * i + 1] - e->u[2 * j + 1];
  return x * x + y * y;
}

/* ---- affinity -----------------------------------------------------------*/
/* A <- squared distances of descriptors */
static lapis_status descriptor_distances(embedding *e)
{
  int64_t N = e->p->N;
  double *A = e->A.data, *norm = e->degree;
  TRY(la_syrk_there(&e->h, LA_T, &e->F, &e->A));
  for (int64_t i = 0; i < N; i++) norm[i] = A[i * e->A.ld + i];
  for (int64_t j = 0; j < N; j++)
    for (int64_t i = 0; i < N; i++)
      A[j * e->A.ld + i] = norm[i] + norm[j] - 2 * A[j * e->A.ld + i];
  return LAPIS_OK;
}

static void set_descriptor_width(embedding *e)
{
  int64_t N = e->p->N;
  const double *A = e->A.data;
  for (int64_t j = 0; j < N; j++) {
    double least = INFINITY;
    for (int64_t i = 0; i < N; i++)
      if (e->image[i] != e->image[j]) least = fmin(least, A[j * e->A.ld + i]);
    e->degree[j] = fmax(least, 0);
  }
  e->sf = e->w->set.sigma_descriptor;
  if (isnan(e->sf)) e->sf = DESCRIPTOR * sqrt(roml_median(e->degree, N));
  if (!(e->sf > 0)) e->sf = 1;
}

/* log of the affinity of features i and j; d2: of their descriptors */
static double closeness(const embedding *e, int64_t i, int64_t j, double d2)
{
  double layout2 = layout_distance2(e, i, j), s = e->w->set.sigma_spatial;
  if (e->image[i] == e->image[j]) {
    double share = isnan(s) ? SPATIAL : s / e->radius[e->image[i]];
    return -layout2 / (share * share) / 2;
  }
  double between = fmax(d2, 0) / (e->sf * e->sf);
  if (!e->printed) between += layout2 / (e->su * e->su);
  return -between / 2;
}

static void fill_affinity(embedding *e)
{
  int64_t N = e->p->N;
  double *A = e->A.data;
#pragma omp parallel for num_threads(parts_team(&e->h, N *N))
  for (int64_t j = 0; j < N; j++)
    for (int64_t i = 0; i < N; i++)
      A[j * e->A.ld + i] =
          i == j ? 1 : exp(closeness(e, i, j, A[j * e->A.ld + i]));
}

/* Blocks between images: b_ij / sqrt(sum of row i, sum of column j).  Sums
 * below NOTHING are those of features unlike all of an image: the product of
 * two roots of their inverses would overflow, and 0 times it is no number. */
static void balance(embedding *e)
{
  int64_t N = e->p->N, K = e->p->K;
  double *A = e->A.data;
  for (int t = 0; t < BALANCING; t++) {
#pragma omp parallel for num_threads(parts_team(&e->h, N *N))
    for (int64_t j = 0; j < N; j++) {
      double *sum = e->sum + j * K;
      memset(sum, 0, (size_t)K * sizeof *sum);
      for (int64_t i = 0; i < N; i++) sum[e->image[i]] += A[j * e->A.ld + i];
      for (int64_t k = 0; k < K; k++)
        sum[k] = k == e->image[j] || !(sum[k] > NOTHING) ? 1 : 1 / sqrt(sum[k]);
    }
#pragma omp parallel for num_threads(parts_team(&e->h, N *N))
    for (int64_t j = 0; j < N; j++)
      for (int64_t i = 0; i < N; i++)
        A[j * e->A.ld + i] *=
            e->sum[j * K + e->image[i]] * e->sum[i * K + e->image[j]];
  }
}

/* A <- D_A^-1/2 A D_A^-1/2; degree <- D_A^1/2, its eigenvector for 1 */
static void normalise(embedding *e)
{
  int64_t N = e->p->N;
  double *A = e->A.data;
  for (int64_t j = 0; j < N; j++) {
    double sum = 0;
    for (int64_t i = 0; i < N; i++) sum += A[j * e->A.ld + i];
    e->degree[j] = sqrt(sum);
  }
  for (int64_t j = 0; j < N; j++)
    for (int64_t i = 0; i < N; i++)
      A[j * e->A.ld + i] /= e->degree[i] * e->degree[j];
}

/* ---- features -----------------------------------------------------------*/
/* X <- the rows of D_A^-1/2 V, a feature a column, in the order of X. */
static lapis_status hand_over(embedding *e)
{
  roml_problem *p = e->p;
  const double *V = e->V.data;
  double *X = base_alloc(e->h.ctx, e->dim * p->N, sizeof *X);
  if (X == NULL) return LAPIS_ENOMEM;
  for (int64_t c = 0; c < e->dim; c++) {
    double weight = e->printed ? 1 : fmax(e->theta[c], 0);
    for (int64_t i = 0; i < p->N; i++)
      X[p->row[i] * e->dim + c] = weight * V[c * e->V.ld + i] / e->degree[i];
  }
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
  e->image = base_alloc(ctx, p->N, sizeof *e->image);
  e->u = base_alloc(ctx, 2 * p->N, sizeof *e->u);
  e->radius = base_alloc(ctx, p->K, sizeof *e->radius);
  e->degree = base_alloc(ctx, p->N, sizeof *e->degree);
  e->sum = base_alloc(ctx, p->N * p->K, sizeof *e->sum);
  e->theta = base_alloc(ctx, e->dim, sizeof *e->theta);
  if (e->image == NULL || e->u == NULL || e->radius == NULL ||
      e->degree == NULL || e->sum == NULL || e->theta == NULL)
    return LAPIS_ENOMEM;
  TRY(ops->alloc(&e->h, LAPIS_F64, p->X.rows, p->N, &e->F));
  TRY(ops->alloc(&e->h, LAPIS_F64, p->N, p->N, &e->A));
  return ops->alloc(&e->h, LAPIS_F64, p->N, e->dim, &e->V);
}

static lapis_status embed(embedding *e)
{
  const roml_problem *p = e->p;
  for (int64_t i = 0; i < p->N; i++)
    memcpy((double *)e->F.data + i * e->F.ld, mat_col(&p->X, p->row[i]),
           (size_t)p->X.rows * sizeof(double));
  for (int64_t k = 0; k < p->K; k++) lay_out_image(e, k);
  TRY(descriptor_distances(e));
  set_descriptor_width(e);
  fill_affinity(e);
  if (!e->printed) balance(e);
  normalise(e);
  TRY(roml_leading_vectors(&e->h, &e->A, e->degree, &e->V, e->theta));
  return hand_over(e);
}

static void release(embedding *e)
{
  base_free(e->image), base_free(e->u), base_free(e->radius);
  base_free(e->degree), base_free(e->sum), base_free(e->theta);
  la_array *all[] = {&e->F, &e->A, &e->V};
  for (int i = 0; i < 3; i++) e->h.ops->free(&e->h, all[i]);
}

lapis_status roml_embed(roml *w, const lapis_data *data)
{
  embedding e = {.w = w, .p = &w->p, .h = w->h, .xy = &data->xy};
  e.dim = w->set.dim < w->p.N - 1 ? w->set.dim : w->p.N - 1;
  e.su = w->set.sigma_layout;
  e.printed = isinf(e.su);
  if (w->p.N > MOST || e.dim < 1)
    return lapis_fail(w->base.ctx, LAPIS_ESHAPE,
                      "roml: --map embed compares all %" PRId64
                      " features with each other; it takes 2 to %" PRId64,
                      w->p.N, MOST);
  lapis_status status = allocate(&e);
  if (status >= 0) status = embed(&e);
  release(&e);
  return status;
}
