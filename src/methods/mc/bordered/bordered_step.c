/* bordered_step.c - singular value thresholding of [T; X] for a fixed X.
 *
 * With X = P Xr, Xr Xr' = diag(S2), found once, the left singular vectors of
 * W = [T; X] are those of a matrix that is diagonal but for a border of p:
 *
 *   W W' = [T T', E; E', diag(S2)]   in the basis P,   E = T Xr'.
 *
 * Eigenvalues of S2 well below tau^2 cannot pass the threshold but through
 * the border, so of their coordinates only the Krylov space
 * orth[E', S2 E', S2^2 E', ..] takes part.  What that leaves out is measured
 * by the proof (inertia.c).  A step costs two products of T's rows with X and
 * an eigenproblem of order p + head + p blocks.  The rows of T in the answer:
 *
 *   L = (u_T f u_T') T + (u_T f u_X') Xr,   f = 1 - tau / s.
 *
 * Where D > N the rows of X are turned by X'X = Q S2 Q' into Xr = S Q', which
 * has N of them; else Xr = P'X is made once where that takes no memory that
 * matters, and P enters every product where it does.
 *
 * Numerics: squares.  A singular value of X below 1e-8 of the largest is
 * noise, so tau has to lie well above (bordered.c asks). */
#include <float.h>
#include <math.h>
#include <string.h>

#include "methods/mc/bordered/bordered.h"

enum { SMALL = 1 << 22 };       /* entries: 32 MB */
static const double HEAD = 0.7; /* of tau: what takes part as it is */

static double *column(const la_array *A, int64_t j)
{
  return (double *)A->data + j * A->ld;
}

/* ---- the spectrum of X, once --------------------------------------------*/
/* S2 and Q of C, which is destroyed; negative values are rounding. */
static lapis_status eigenpairs(la *h, la_array *C, la_array *Q, double *S2)
{
  int64_t found = 0;
  TRY(h->ops->eigh(h, C, -INFINITY, S2, Q, &found));
  for (int64_t i = 0; i < found; i++) S2[i] = fmax(S2[i], 0);
  return LAPIS_OK;
}

/* X <- S Q' (N x N), P = X Q S^-1. */
static lapis_status turn(border_spectrum *s, const la_array *X, la_array *Q)
{
  la *h = s->h;
  TRY(h->ops->alloc(h, LAPIS_F64, X->rows, s->r, &s->P));
  TRY(h->ops->alloc(h, LAPIS_F64, s->r, s->r, &s->X));
  TRY(h->ops->gemm(h, LA_N, LA_N, 1, X, Q, 0, &s->P));
  double least = 1e-14 * sqrt(s->S2[0]);
  for (int64_t k = 0; k < s->r; k++) {
    double sigma = sqrt(s->S2[k]), *q = column(Q, k), *p = column(&s->P, k);
    for (int64_t i = 0; i < s->r; i++) column(&s->X, i)[k] = sigma * q[i];
    for (int64_t i = 0; i < X->rows; i++)
      p[i] = sigma > least ? p[i] / sigma : 0;
  }
  s->turned = true;
  return LAPIS_OK;
}

/* Xr = P'X beside a wide X: what the steps would turn again and again.  Only a
 * copy of X is replaced, or one that is small. */
static lapis_status turn_wide(border_spectrum *s, la_array *X)
{
  la *h = s->h;
  bool small = X->rows * X->cols <= SMALL;
  s->X = *X;
  s->X.view = true;
  if (X->view && !small) return LAPIS_OK;
  la_array turned = {0};
  TRY(h->ops->alloc(h, LAPIS_F64, s->r, X->cols, &turned));
  s->X = turned;
  s->turned = true;
  TRY(h->ops->gemm(h, LA_T, LA_N, 1, &s->P, X, 0, &s->X));
  h->ops->free(h, X);
  return LAPIS_OK;
}

lapis_status border_spectrum_new(la *h, la_array *X, border_spectrum *out)
{
  bool wide = X->rows <= X->cols;
  *out = (border_spectrum){.h = h, .r = wide ? X->rows : X->cols};
  la_array C = {0}, Q = {0};
  out->S2 = base_alloc(h->ctx, out->r, sizeof *out->S2);
  lapis_status s = out->S2 == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  if (s >= 0) s = h->ops->alloc(h, LAPIS_F64, out->r, out->r, &C);
  if (s >= 0) s = h->ops->alloc(h, LAPIS_F64, out->r, out->r, &Q);
  if (s >= 0) s = h->ops->syrk(h, wide ? LA_N : LA_T, X, &C);
  if (s >= 0) s = eigenpairs(h, &C, &Q, out->S2);
  if (s >= 0 && !wide) s = turn(out, X, &Q);
  if (s >= 0 && wide) {
    out->P = Q;
    Q = (la_array){0};
    s = turn_wide(out, X);
  }
  for (int64_t i = 0; s >= 0 && i < out->r; i++) out->square += out->S2[i];
  h->ops->free(h, &C);
  h->ops->free(h, &Q);
  return s;
}

void border_spectrum_free(border_spectrum *s)
{
  if (s->h == NULL) return;
  s->h->ops->free(s->h, &s->X);
  s->h->ops->free(s->h, &s->P);
  base_free(s->S2);
}

lapis_status border_onto(const border_spectrum *s, const la_array *T,
                         la_array *room, la_array *E)
{
  la *h = s->h;
  if (s->turned) return h->ops->gemm(h, LA_N, LA_T, 1, T, &s->X, 0, E);
  TRY(h->ops->gemm(h, LA_N, LA_T, 1, T, &s->X, 0, room));
  return h->ops->gemm(h, LA_N, LA_N, 1, room, &s->P, 0, E);
}

lapis_status border_back(const border_spectrum *s, const la_array *C,
                         la_array *room, double beta, la_array *L)
{
  la *h = s->h;
  if (s->turned) return h->ops->gemm(h, LA_N, LA_N, 1, C, &s->X, beta, L);
  TRY(h->ops->gemm(h, LA_N, LA_T, 1, C, &s->P, 0, room));
  return h->ops->gemm(h, LA_N, LA_N, 1, room, &s->X, beta, L);
}

/* ---- the eigenproblem ---------------------------------------------------*/
/* Lower triangle of the bordered matrix, all of the tail taken or none. */
static void put_border(const border_svt *s, la_array *M)
{
  int64_t p = s->p;
  memset(M->data, 0, (size_t)(M->ld * M->cols) * sizeof(double));
  for (int64_t j = 0; j < p; j++) {
    memcpy(column(M, j), column(&s->TT, j), (size_t)p * sizeof(double));
    for (int64_t i = 0; i < s->head; i++)
      column(M, j)[p + i] = column(&s->E, i)[j];
  }
  for (int64_t i = 0; i < s->head; i++) column(M, p + i)[p + i] = s->x->S2[i];
}

/* ---- the largest singular value -----------------------------------------*/
/* Arrays of the search below: all p rows. */
typedef struct search {
  la_array E, room, TT, F, G, V; /* F: E (lambda - S2)^-1/2; G, V: p x p */
  double *divided, *values;      /* r; p */
} search;

/* g(lambda), the largest eigenvalue of T T' + E (lambda - S2)^-1 E', and minus
 * its derivative. */
static lapis_status secular(const border_spectrum *x, search *q, double lambda,
                            double *g, double *falls)
{
  la *h = x->h;
  int64_t found = 0, p = q->TT.rows;
  for (int64_t i = 0; i < x->r; i++)
    q->divided[i] = 1 / sqrt(lambda - x->S2[i]);
  TRY(la_copy(h, &q->E, &q->F));
  TRY(la_scale_cols(h, q->divided, &q->F));
  TRY(h->ops->syrk(h, LA_N, &q->F, &q->G));
  TRY(h->ops->axpby(h, 1, &q->TT, 1, &q->G));
  TRY(h->ops->eigh(h, &q->G, -INFINITY, q->values, &q->V, &found));
  *g = q->values[0];
  *falls = 0;
  const double *v = column(&q->V, 0);
  for (int64_t i = 0; i < x->r; i++) {
    const double *f = column(&q->F, i);
    double along = 0;
    for (int64_t k = 0; k < p; k++) along += f[k] * v[k];
    *falls += along * along * q->divided[i] * q->divided[i];
  }
  return LAPIS_OK;
}

/* The largest eigenvalue lambda of [T T', E; E', diag(S2)] is the root above
 * S2[0] of lambda = g(lambda).  g falls and is convex: Newton's steps from
 * below rise to it.  Below it lies what the first entry of S2 alone gives. */
static lapis_status rise(const border_spectrum *x, search *q, double *lambda)
{
  la *h = x->h;
  int64_t p = q->TT.rows, found = 0;
  border_svt first = {.x = x, .p = p, .head = x->r > 0};
  la_array M = {0};
  double *values = base_alloc(h->ctx, p + 1, sizeof *values), above = 0;
  lapis_status s = values == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  if (s >= 0)
    s = h->ops->alloc(h, LAPIS_F64, p + first.head, p + first.head, &M);
  first.E = q->E;
  first.TT = q->TT;
  if (s >= 0) put_border(&first, &M);
  if (s >= 0) s = h->ops->eigh(h, &M, -INFINITY, values, NULL, &found);
  if (s >= 0) *lambda = fmax(values[0], 0);
  base_free(values);
  h->ops->free(h, &M);
  TRY(s);
  if (x->r > 0) above = x->S2[0] * (1 + 4 * DBL_EPSILON);
  *lambda = fmax(*lambda, above);
  for (int i = 0; i < 200 && x->r > 0 && *lambda > 0; i++) {
    double g, falls, step;
    TRY(secular(x, q, *lambda, &g, &falls));
    step = (g - *lambda) / (1 + falls);
    if (!(step > DBL_EPSILON * *lambda)) break;
    *lambda += step;
  }
  return LAPIS_OK;
}

lapis_status border_largest(const border_spectrum *x, const la_array *T,
                            double *sigma)
{
  la *h = x->h;
  int64_t p = T->rows;
  search q = {.divided = base_alloc(h->ctx, x->r + p, sizeof(double))};
  lapis_status z = q.divided == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  q.values = q.divided == NULL ? NULL : q.divided + x->r;
  if (z >= 0) z = h->ops->alloc(h, LAPIS_F64, p, x->r, &q.E);
  if (z >= 0) z = h->ops->alloc(h, LAPIS_F64, p, x->X.rows, &q.room);
  if (z >= 0) z = h->ops->alloc(h, LAPIS_F64, p, x->r, &q.F);
  if (z >= 0) z = h->ops->alloc(h, LAPIS_F64, p, p, &q.TT);
  if (z >= 0) z = h->ops->alloc(h, LAPIS_F64, p, p, &q.G);
  if (z >= 0) z = h->ops->alloc(h, LAPIS_F64, p, p, &q.V);
  if (z >= 0) z = border_onto(x, T, &q.room, &q.E);
  if (z >= 0) z = h->ops->syrk(h, LA_N, T, &q.TT);
  double lambda = 0;
  if (z >= 0) z = rise(x, &q, &lambda);
  if (z >= 0) *sigma = sqrt(lambda);
  la_array *all[] = {&q.E, &q.room, &q.F, &q.TT, &q.G, &q.V};
  for (int i = 0; i < 6; i++) h->ops->free(h, all[i]);
  base_free(q.divided);
  return z;
}

/* Blocks enough for the p rows at hand: the order stays below some 700. */
static int64_t krylov_blocks(int64_t p)
{
  return p <= 40 ? 5 : p <= 100 ? 3 : 2;
}

static void split(border_svt *s, int64_t blocks)
{
  const double *S2 = s->x->S2;
  int64_t r = s->x->r;
  while (s->head < r && sqrt(S2[s->head]) > HEAD * s->tau) s->head++;
  s->tail = r - s->head;
  s->blocks = krylov_blocks(s->p) > blocks ? krylov_blocks(s->p) : blocks;
  s->kept = s->p * s->blocks;
  if (s->kept < s->tail) return;
  s->head = r;
  s->tail = s->blocks = s->kept = 0;
}

lapis_status border_svt_new(const border_spectrum *x, int64_t p, double tau,
                            int64_t blocks, border_svt *out)
{
  *out = (border_svt){.x = x, .p = p, .tau = tau};
  border_svt *s = out;
  split(s, blocks);
  int64_t order = p + s->head + s->kept, r = x->r;
  la *h = x->h;
  struct {
    la_array *a;
    int64_t rows, cols;
  } all[] = {{&s->E, p, r},
             {&s->room, p, x->X.rows},
             {&s->TT, p, p},
             {&s->M, order, order},
             {&s->V, order, order},
             {&s->block, s->tail, p},
             {&s->side, s->kept, p},
             {&s->Th, s->tail, s->kept},
             {&s->allT, p, order},
             {&s->allX, r, order},
             {&s->C1, p, p},
             {&s->C2, p, r},
             {&s->ThS, s->tail, s->kept}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    TRY(h->ops->alloc(h, LAPIS_F64, all[i].rows, all[i].cols, all[i].a));
  s->values = base_alloc(h->ctx, 3 * order, sizeof *s->values);
  if (s->values == NULL) return LAPIS_ENOMEM;
  s->f = s->values + order;
  s->s = s->f + order;
  base_say(h->ctx, 2,
           "mc: bordered: %" PRId64 " of %" PRId64
           " singular values of X near tau or above; eigenproblems of order "
           "%" PRId64,
           s->head, r, order);
  return LAPIS_OK;
}

void border_svt_free(border_svt *s)
{
  if (s->x == NULL) return;
  la *h = s->x->h;
  la_array *all[] = {&s->E,     &s->room, &s->TT, &s->M,    &s->V,
                     &s->block, &s->side, &s->Th, &s->allT, &s->allX,
                     &s->C1,    &s->C2,   &s->ThS};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) h->ops->free(h, all[i]);
  base_free(s->values);
  *s = (border_svt){.x = NULL};
}

/* block, the next of the space, against what is there; then it joins. */
static lapis_status join(border_svt *s, int64_t b)
{
  la *h = s->x->h;
  la_array Th = la_cols(&s->Th, 0, b * s->p),
           to = la_cols(&s->Th, b * s->p, s->p);
  la_array side = la_rows(&s->side, 0, b * s->p);
  for (int i = 0; i < 2 && b > 0; i++) {
    TRY(h->ops->gemm(h, LA_T, LA_N, 1, &Th, &s->block, 0, &side));
    TRY(h->ops->gemm(h, LA_N, LA_N, -1, &Th, &side, 1, &s->block));
  }
  TRY(h->ops->qr(h, &s->block, NULL));
  return h->ops->axpby(h, 1, &s->block, 0, &to);
}

/* Th = orth[E_t', S2_t E_t', ..], once more orthogonal in the end: a block
 * that was nothing but rounding may lean on those before it. */
static lapis_status krylov(border_svt *s)
{
  const double *S2 = s->x->S2 + s->head;
  for (int64_t j = 0; j < s->p; j++)
    for (int64_t i = 0; i < s->tail; i++)
      column(&s->block, j)[i] = column(&s->E, s->head + i)[j];
  for (int64_t b = 0; b < s->blocks; b++) {
    TRY(join(s, b));
    for (int64_t j = 0; j < s->p; j++)
      for (int64_t i = 0; i < s->tail; i++)
        column(&s->block, j)[i] *= S2[0] > 0 ? S2[i] / S2[0] : 0;
  }
  return s->x->h->ops->qr(s->x->h, &s->Th, NULL);
}

static la_array corner(const la_array *M, int64_t i, int64_t j, int64_t rows,
                       int64_t cols)
{
  la_array part = la_cols(M, j, cols);
  return la_rows(&part, i, rows);
}

/* The tail's part of M: Th'E_t' beside T T', Th' S2_t Th in the corner. */
static lapis_status put_tail(border_svt *s)
{
  la *h = s->x->h;
  const double *S2 = s->x->S2 + s->head;
  int64_t at = s->p + s->head;
  la_array Et = la_cols(&s->E, s->head, s->tail);
  la_array beside = corner(&s->M, at, 0, s->kept, s->p);
  la_array square = corner(&s->M, at, at, s->kept, s->kept);
  for (int64_t j = 0; j < s->kept; j++)
    for (int64_t i = 0; i < s->tail; i++)
      column(&s->ThS, j)[i] = S2[i] * column(&s->Th, j)[i];
  TRY(h->ops->gemm(h, LA_T, LA_T, 1, &s->Th, &Et, 0, &beside));
  return h->ops->gemm(h, LA_T, LA_N, 1, &s->Th, &s->ThS, 0, &square);
}

/* u_T, u_X from the vectors V: heads as they are, the tail through Th. */
static lapis_status take_vectors(border_svt *s)
{
  la *h = s->x->h;
  s->uT = la_cols(&s->allT, 0, s->R);
  s->uX = la_cols(&s->allX, 0, s->R);
  for (int64_t k = 0; k < s->R; k++) {
    const double *v = column(&s->V, k);
    memcpy(column(&s->uT, k), v, (size_t)s->p * sizeof *v);
    memcpy(column(&s->uX, k), v + s->p, (size_t)s->head * sizeof *v);
    s->s[k] = sqrt(s->values[k]);
    s->f[k] = 1 - s->tau / s->s[k];
  }
  if (s->tail == 0) return LAPIS_OK;
  la_array V = corner(&s->V, s->p + s->head, 0, s->kept, s->R);
  la_array to = la_rows(&s->uX, s->head, s->tail);
  return h->ops->gemm(h, LA_N, LA_N, 1, &s->Th, &V, 0, &to);
}

lapis_status border_svt_apply(border_svt *s, const la_array *T, la_array *L)
{
  la *h = s->x->h;
  TRY(border_onto(s->x, T, &s->room, &s->E));
  TRY(h->ops->syrk(h, LA_N, T, &s->TT));
  put_border(s, &s->M);
  if (s->tail > 0) {
    TRY(krylov(s));
    TRY(put_tail(s));
  }
  double threshold = s->tau * s->tau;
  TRY(h->ops->eigh(h, &s->M, threshold, s->values, &s->V, &s->R));
  TRY(take_vectors(s));
  la_array G = la_cols(&s->V, 0, s->R); /* the vectors have been taken */
  G.rows = s->p;
  TRY(h->ops->axpby(h, 1, &s->uT, 0, &G));
  TRY(la_scale_cols(h, s->f, &G));
  TRY(h->ops->gemm(h, LA_N, LA_T, 1, &G, &s->uT, 0, &s->C1));
  TRY(h->ops->gemm(h, LA_N, LA_T, 1, &G, &s->uX, 0, &s->C2));
  TRY(h->ops->gemm(h, LA_N, LA_N, 1, &s->C1, T, 0, L));
  return border_back(s->x, &s->C2, &s->room, 1, L);
}
