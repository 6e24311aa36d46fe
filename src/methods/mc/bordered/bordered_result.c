/* bordered_result.c - the small problem's answer, for all samples.
 *
 * A sample with a column has its own; one of the rest has the column
 * Z~ O_j, O_j = back [1; x_j] (compress.c): what is known of it is an affine
 * map of its features.  Its scores are Z~_Y back [1; x], and these K x (D + 1)
 * numbers are the `weights`.  Where nothing was compressed the weights are
 * those of folding in (fold.c), which for mc1 and features all seen is
 *
 *   b = h + (I - h A_1) H^-1 A_X'x,  H = tau I + A_X'A_X,  h ~ H^-1 A_1',
 *
 * scores A_Y b: again an affine map.  Everything of order n is made in blocks
 * of samples; what would be of order n D only where it fits, or on request. */
#include <math.h>
#include <string.h>

#include "methods/mc/bordered/bordered.h"

/* low_rank and sparse together, in doubles: 1 GB. */
static const double FITS = 134217728;

static double *column(const la_array *A, int64_t j)
{
  return (double *)A->data + j * A->ld;
}

/* Memory for the results, kept from solve to solve. */
static lapis_status room(mc *w, double **p, int64_t count)
{
  if (*p == NULL)
    *p = arena_keep(&w->base.arena,
                    base_alloc_raw(w->base.ctx, count, sizeof **p));
  return arena_status(&w->base.arena);
}

/* ---- the affine map of the scores ---------------------------------------*/
/* A = [u_T; P u_X] sqrt(s - tau): Z's low-rank part is A B, |A| = |B|. */
static lapis_status factors(mc *w, double *A, int64_t *rank)
{
  bordered *b = w->state;
  border_svt *s = &b->svt;
  int64_t m = w->p.m, K = b->K, D = w->p.D;
  la_array PU = {0};
  lapis_status z = w->h.ops->alloc(&w->h, LAPIS_F64, D, s->R, &PU);
  if (z >= 0) z = w->h.ops->gemm(&w->h, LA_N, LA_N, 1, &b->x.P, &s->uX, 0, &PU);
  for (int64_t k = 0; z >= 0 && k < s->R; k++) {
    double root = sqrt(s->s[k] - s->tau), *a = A + k * m;
    const double *uT = column(&s->uT, k), *uX = column(&PU, k);
    for (int64_t i = 0; i < K; i++) a[i] = root * uT[i];
    for (int64_t i = 0; i < D; i++) a[K + i] = root * uX[i];
    a[m - 1] = root * uT[K];
  }
  *rank = s->R;
  w->h.ops->free(&w->h, &PU);
  return z;
}

typedef struct fold_in {
  la_array AY, AX, one, H, Y; /* views of A; 1' as a column; R x R; R x K */
  la_array h, map;            /* R x 1; K x D */
} fold_in;

/* weights = [A_Y h, A_Y (I - h A_1) H^-1 A_X'] */
static lapis_status fold_map(mc *w, fold_in *q, double *weights)
{
  const la_backend *ops = w->h.ops;
  bordered *b = w->state;
  double along;
  TRY(ops->syrk(&w->h, LA_T, &q->AX, &q->H));
  for (int64_t k = 0; k < q->H.rows; k++) column(&q->H, k)[k] += b->tau;
  TRY(ops->potrf(&w->h, &q->H));
  TRY(la_copy(&w->h, &q->one, &q->h));
  TRY(ops->potrs(&w->h, &q->H, &q->h));
  TRY(ops->dot(&w->h, &q->one, &q->h, &along));
  if (!(along > 0)) return LAPIS_OK; /* the row of ones is empty: no map */
  TRY(la_scale(&w->h, 1 / along, &q->h));
  la_array first = la_wrap(weights, b->K, 1);
  TRY(ops->gemv(&w->h, LA_N, 1, &q->AY, &q->h, 0, &first));
  for (int64_t c = 0; c < b->K; c++) /* Y = A_Y' - A_1' (A_Y h)_c */
    for (int64_t k = 0; k < q->H.rows; k++)
      column(&q->Y, c)[k] =
          column(&q->AY, k)[c] - column(&q->one, 0)[k] * weights[c];
  TRY(ops->potrs(&w->h, &q->H, &q->Y));
  la_array rest = la_wrap(weights + b->K, b->K, w->p.D);
  return ops->gemm(&w->h, LA_T, LA_T, 1, &q->Y, &q->AX, 0, &rest);
}

static lapis_status weights_by_folding(mc *w, double *weights)
{
  const la_backend *ops = w->h.ops;
  int64_t m = w->p.m, K = w->p.K, R = 0;
  bordered *b = w->state;
  double *A = base_alloc(w->base.ctx, m * b->svt.R, sizeof *A);
  if (A == NULL) return LAPIS_ENOMEM;
  lapis_status s = factors(w, A, &R);
  la_array all = la_wrap(A, m, R);
  fold_in q = {.AY = la_rows(&all, 0, K), .AX = la_rows(&all, K, w->p.D)};
  if (s >= 0) s = ops->alloc(&w->h, LAPIS_F64, R, 1, &q.one);
  if (s >= 0) s = ops->alloc(&w->h, LAPIS_F64, R, 1, &q.h);
  if (s >= 0) s = ops->alloc(&w->h, LAPIS_F64, R, R, &q.H);
  if (s >= 0) s = ops->alloc(&w->h, LAPIS_F64, R, K, &q.Y);
  for (int64_t k = 0; s >= 0 && k < R; k++)
    column(&q.one, 0)[k] = A[k * m + m - 1];
  if (s >= 0 && R > 0) s = fold_map(w, &q, weights);
  la_array *arrays[] = {&q.one, &q.h, &q.H, &q.Y};
  for (int i = 0; i < 4; i++) ops->free(&w->h, arrays[i]);
  base_free(A);
  return s;
}

/* weights, K x (D + 1), the constant first as in [1; x]; and turned, a row a
 * class in every other language, the constant last as of every method. */
static lapis_status make_weights(mc *w)
{
  bordered *b = w->state;
  border_columns *c = &b->columns;
  int64_t K = b->K, rows = w->p.D + 1;
  TRY(room(w, &b->weights, K * rows));
  TRY(room(w, &b->turned, K * rows));
  memset(b->weights, 0, (size_t)(K * rows) * sizeof(double));
  la_array out = la_wrap(b->weights, K, rows);
  la_array Z = la_cols(&b->B, c->own, c->rest);
  Z.rows = K;
  if (c->rest == 0)
    TRY(weights_by_folding(w, b->weights));
  else
    TRY(w->h.ops->gemm(&w->h, LA_N, LA_N, 1, &Z, &c->back, 0, &out));
  for (int64_t k = 0; k < K * rows; k++) {
    bool turn = w->p.turn[k / rows] < 0; /* this row of Z holds 1 - label */
    bool last = k % rows == rows - 1;
    double v = b->weights[(last ? 0 : k % rows + 1) * K + k / rows];
    b->turned[k] = !turn ? v : last ? 1 - v : -v;
  }
  return LAPIS_OK;
}

/* ---- blocks of samples --------------------------------------------------*/
typedef struct expansion {
  double *x; /* (D + 1) x size: [1; x] */
  int64_t size;
  la_array TU, map;   /* R x N: u_T'T; R x (D + 1): the same of the rest */
  la_array PU, right; /* D x R: P u_X; R x size */
  la_array block;     /* D x size: L_X */
  double *ge;         /* D: g_X e of the scaled multiplier */
  double *dual;       /* m x n where it is wanted */
} expansion;

static lapis_status expansion_new(mc *w, expansion *q)
{
  const la_backend *ops = w->h.ops;
  bordered *b = w->state;
  border_svt *s = &b->svt;
  int64_t D = w->p.D, R = s->R;
  q->size = border_block_size(D);
  if (q->size > w->p.n) q->size = w->p.n;
  q->x = base_alloc_raw(w->base.ctx, (D + 1) * q->size, sizeof *q->x);
  q->ge = base_alloc(w->base.ctx, D, sizeof *q->ge);
  if (q->x == NULL || q->ge == NULL) return LAPIS_ENOMEM;
  TRY(ops->alloc(&w->h, LAPIS_F64, R, b->N, &q->TU));
  TRY(ops->alloc(&w->h, LAPIS_F64, R, D + 1, &q->map));
  TRY(ops->alloc(&w->h, LAPIS_F64, D, R, &q->PU));
  TRY(ops->alloc(&w->h, LAPIS_F64, R, q->size, &q->right));
  TRY(ops->alloc(&w->h, LAPIS_F64, D, q->size, &q->block));
  TRY(ops->gemm(&w->h, LA_T, LA_N, 1, &s->uT, &b->T, 0, &q->TU));
  TRY(ops->gemm(&w->h, LA_N, LA_N, 1, &b->x.P, &s->uX, 0, &q->PU));
  la_array ge = la_wrap(q->ge, D, 1);
  TRY(ops->gemv(&w->h, LA_N, b->scale, &b->x.P, &b->Ge, 0, &ge));
  if (b->columns.rest == 0) return LAPIS_OK;
  la_array rest = la_cols(&q->TU, b->columns.own, b->columns.rest);
  return ops->gemm(&w->h, LA_N, LA_N, 1, &rest, &b->columns.back, 0, &q->map);
}

static void expansion_free(mc *w, expansion *q)
{
  la_array *all[] = {&q->TU, &q->map, &q->PU, &q->right, &q->block};
  for (int i = 0; i < 5; i++) w->h.ops->free(&w->h, all[i]);
  base_free(q->x);
  base_free(q->ge);
}

/* L_X of a block: P u_X f (u_T'T_j + (P u_X)'x_j). */
static lapis_status features_of(mc *w, expansion *q, int64_t first,
                                int64_t count)
{
  const la_backend *ops = w->h.ops;
  bordered *b = w->state;
  int64_t D = w->p.D;
  la_array x = la_wrap(q->x, D + 1, count),
           right = la_cols(&q->right, 0, count);
  la_array features = la_rows(&x, 1, D), out = la_cols(&q->block, 0, count);
  TRY(ops->gemm(&w->h, LA_N, LA_N, 1, &q->map, &x, 0, &right));
  for (int64_t j = 0; j < count; j++) {
    int64_t at = b->columns.place[first + j];
    if (at >= 0)
      memcpy(column(&right, j), column(&q->TU, at),
             (size_t)b->svt.R * sizeof(double));
  }
  TRY(ops->gemm(&w->h, LA_T, LA_N, 1, &q->PU, &features, 1, &right));
  for (int64_t j = 0; j < count; j++)
    for (int64_t k = 0; k < b->svt.R; k++) column(&right, j)[k] *= b->svt.f[k];
  return ops->gemm(&w->h, LA_N, LA_N, 1, &q->PU, &right, 0, &out);
}

static lapis_status scores_of(mc *w, const double *block, int64_t first,
                              int64_t count)
{
  bordered *b = w->state;
  int64_t K = b->K;
  la_array x = la_wrap((double *)block, w->p.D + 1, count);
  la_array map = la_wrap(b->weights, K, w->p.D + 1);
  la_array out = la_wrap(w->scores + first * K, K, count);
  if (b->columns.rest > 0)
    TRY(w->h.ops->gemm(&w->h, LA_N, LA_N, 1, &map, &x, 0, &out));
  for (int64_t j = first; j < first + count; j++)
    if (b->columns.place[j] >= 0)
      memcpy(w->scores + j * K, column(&b->B, b->columns.place[j]),
             (size_t)K * sizeof(double));
  return LAPIS_OK;
}

/* The multiplier of a block, a scale [U_Y; L_X - X; y]: labels of the rest are
 * unknown, so theirs is 0; y is the closed form of bordered.c. */
static void dual_of(mc *w, expansion *q, int64_t first, int64_t count)
{
  bordered *b = w->state;
  int64_t K = b->K, D = w->p.D, m = w->p.m;
  double s = b->scale, a = w->p.a, n = (double)w->p.all, square = 0;
  const double *UYe = b->UYe.data;
  for (int64_t i = 0; i < D; i++) square += q->ge[i] * q->ge[i];
  for (int64_t k = 0; k < K; k++) square += s * UYe[k] * (s * UYe[k]);
  double root = sqrt(fmax(b->tau * b->tau * n - square, 1e-300));
  for (int64_t j = 0; j < count; j++) {
    double *g = q->dual + (first + j) * m, along = 0;
    const double *x = q->x + j * (D + 1) + 1, *l = column(&q->block, j);
    int64_t at = b->columns.place[first + j];
    for (int64_t k = 0; k < K; k++) {
      g[k] = at < 0 ? 0 : s * column(&b->proof.UY, at)[k];
      along += g[k] * s * UYe[k];
    }
    for (int64_t i = 0; i < D; i++) {
      g[K + i] = s * (l[i] - x[i]);
      along += g[K + i] * q->ge[i];
    }
    g[m - 1] = -(b->tau * b->tau - along) / root;
    for (int64_t i = 0; i < m; i++) g[i] *= a;
  }
}

static void keep_features(mc *w, const expansion *q, int64_t first,
                          int64_t count)
{
  bordered *b = w->state;
  int64_t D = w->p.D;
  for (int64_t j = 0; j < count; j++)
    for (int64_t i = 0; i < D; i++) {
      double l = column(&q->block, j)[i];
      b->low_rank[(first + j) * D + i] = l;
      w->sparse[(first + j) * D + i] = q->x[j * (D + 1) + 1 + i] - l;
    }
}

static lapis_status expand(mc *w, expansion *q, bool features)
{
  bordered *b = w->state;
  TRY(expansion_new(w, q));
  for (int64_t j = 0; j < w->p.n; j += q->size) {
    int64_t count = w->p.n - j < q->size ? w->p.n - j : q->size;
    border_block(&b->columns, j, count, q->x);
    TRY(scores_of(w, q->x, j, count));
    if (!features && q->dual == NULL) continue;
    TRY(features_of(w, q, j, count));
    if (features) keep_features(w, q, j, count);
    if (q->dual != NULL) dual_of(w, q, j, count);
  }
  return LAPIS_OK;
}

/* ---- what is handed out -------------------------------------------------*/
/* Samples with a column have their scores at hand. */
static lapis_status publish_brief(mc *w)
{
  bordered *b = w->state;
  int64_t K = w->p.K;
  TRY(mc_labels_alloc(w));
  for (int64_t j = 0; j < w->p.n; j++) {
    int64_t at = b->columns.place[j];
    for (int64_t k = 0; k < K; k++)
      w->scores[j * K + k] = at >= 0 ? column(&b->B, at)[k] : 0;
  }
  mc_publish_labels(w);
  solver_publish_history(&w->base);
  return LAPIS_OK;
}

static bool wants_features(const mc *w)
{
  double entries = 2 * (double)w->p.D * (double)w->p.all;
  if (entries <= FITS || w->set.dense) return true;
  base_note(
      w->base.ctx, BASE_WARNING, "features-left-out",
      "mc: the repaired features (low_rank, %.1f GB with sparse) were not "
      "saved; {dense} saves them, and weights give the scores of any "
      "sample",
      entries * 8 / 1e9);
  return false;
}

lapis_status border_publish(mc *w)
{
  bordered *b = w->state;
  int64_t K = w->p.K, D = w->p.D, n = w->p.n, m = w->p.m;
  if (w->base.brief) return publish_brief(w);
  bool features = wants_features(w);
  TRY(mc_labels_alloc(w));
  if (features) TRY(room(w, &w->sparse, D * n));
  if (features) TRY(room(w, &b->low_rank, D * n));
  if (w->set.certificate) TRY(room(w, &w->dual, m * n));
  TRY(make_weights(w));
  expansion q = {.dual = w->dual};
  lapis_status s = expand(w, &q, features);
  expansion_free(w, &q);
  TRY(s);
  mc_publish_labels(w);
  solver_publish(&w->base, "weights", lapis_mat_f64(b->turned, D + 1, K));
  if (features) {
    solver_publish(&w->base, "low_rank", lapis_mat_f64(b->low_rank, D, n));
    solver_publish(&w->base, "sparse", lapis_mat_f64(w->sparse, D, n));
  }
  solver_publish_history(&w->base);
  solver_publish(&w->base, "dual_norm", lapis_mat_f64(&w->bounds.norm, 1, 1));
  if (w->dual != NULL)
    solver_publish(&w->base, "dual", lapis_mat_f64(w->dual, m, n));
  return LAPIS_OK;
}

lapis_status border_learn(mc *w)
{
  bordered *b = w->state;
  int64_t rank = 0;
  base_free(w->factors);
  w->factors = base_alloc(w->base.ctx, w->p.m * b->svt.R, sizeof *w->factors);
  if (w->factors == NULL) return LAPIS_ENOMEM;
  TRY(factors(w, w->factors, &rank));
  mc_turn_back(&w->p, w->factors, rank);
  TRY(make_weights(w));
  /* with rho = a folding in needs one step where every feature was seen */
  w->rho = w->p.a;
  TRY(mc_learn_factors(w, rank));
  named_put(&w->base.learned, "affine",
            lapis_mat_f64(b->turned, w->p.D + 1, w->p.K));
  return LAPIS_OK;
}
