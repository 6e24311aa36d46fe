/* chance.c - what a match would cost if the images had nothing in common.
 *
 * Any n features of every image can be put in slots, and those of least |D|_*
 * always look somewhat alike: they were chosen for it.  How much is found by
 * doing the same to images of which each was turned by itself.  With m the mean
 * and C = V S V' the covariance of all features, image k's become
 *
 *   m + V S^1/2 Q_k S^-1/2 V' (f - m),   Q_k a random rotation:
 *
 * features of the same mean and covariance, as near to each other within their
 * image as before, of which no two images share any.  The whole method runs on
 * them, and the share |D|_* / |D of turned images|_* tells an object (well
 * below 1) from chance (1, of photographs .95 and more: their parts have
 * structure that C does not hold).  No truth is used, and no scale of features
 * matters. */
#include <math.h>
#include <string.h>

#include "methods/roml/roml.h"

enum { STREAM = 105 };
/* Directions of a smaller share of the variance are rounding. */
static const double RANK = 1e-9;

typedef struct turner {
  roml *w;
  const roml_problem *from;
  la h;
  int64_t d, N, r;            /* r: directions that are turned */
  la_array F, Z, T, C, V, Q;  /* d x N, r x N twice, d x d twice, r x r */
  double *mean, *root, *back; /* d each; sqrt of eigenvalues and inverses */
} turner;

/* F <- the features, scaled, less their mean; in image order. */
static void centre(turner *t)
{
  const roml_problem *p = t->from;
  double *F = t->F.data;
  memset(t->mean, 0, (size_t)t->d * sizeof *t->mean);
  for (int64_t k = 0, i = 0; k < p->K; k++)
    for (int64_t j = 0; j < roml_count(p, k); j++, i++) {
      const double *f = roml_feature(p, k, j);
      for (int64_t a = 0; a < t->d; a++) {
        F[i * t->F.ld + a] = p->scale[i] * f[a];
        t->mean[a] += F[i * t->F.ld + a] / (double)t->N;
      }
    }
  for (int64_t i = 0; i < t->N; i++)
    for (int64_t a = 0; a < t->d; a++) F[i * t->F.ld + a] -= t->mean[a];
}

/* The largest entry of each column of V becomes positive: signs are the
 * eigensolver's, and random turns of other directions are other turns. */
static void fix_signs(turner *t)
{
  for (int64_t c = 0; c < t->r; c++) {
    double *v = (double *)t->V.data + c * t->V.ld, largest = 0;
    for (int64_t a = 0; a < t->d; a++)
      if (fabs(v[a]) > fabs(largest)) largest = v[a];
    for (int64_t a = 0; a < t->d && largest < 0; a++) v[a] = -v[a];
  }
}

/* V, and the roots of the eigenvalues that count; r of them. */
static lapis_status decompose(turner *t)
{
  const la_backend *ops = t->h.ops;
  int64_t count;
  TRY(ops->syrk(&t->h, LA_N, &t->F, &t->C));
  TRY(ops->eigh(&t->h, &t->C, -INFINITY, t->root, &t->V, &count));
  double least = RANK * fmax(t->root[0], 0);
  while (t->r < t->d && t->root[t->r] > least && t->root[t->r] > 0) t->r++;
  for (int64_t i = 0; i < t->r; i++) {
    t->root[i] = sqrt(t->root[i]);
    t->back[i] = 1 / t->root[i];
  }
  fix_signs(t);
  if (t->r == 0) return LAPIS_OK; /* all features are one */
  TRY(ops->alloc(&t->h, LAPIS_F64, t->r, t->N, &t->Z));
  TRY(ops->alloc(&t->h, LAPIS_F64, t->r, t->N, &t->T));
  return ops->alloc(&t->h, LAPIS_F64, t->r, t->r, &t->Q);
}

static void scale_rows(turner *t, la_array *A, const double *by)
{
  double *v = A->data;
  for (int64_t i = 0; i < t->N; i++)
    for (int64_t a = 0; a < t->r; a++) v[i * A->ld + a] *= by[a];
}

static lapis_status turn_image(turner *t, int64_t k)
{
  base_say(t->h.ctx, 2, "roml: image %" PRId64 " of %" PRId64 " is turned",
           k + 1, t->from->K);
  uint64_t seed = base_seed(t->h.ctx), at = (uint64_t)(k * t->r * t->r);
  double *Q = t->Q.data;
  for (int64_t c = 0; c < t->r; c++)
    for (int64_t i = 0; i < t->r; i++)
      Q[c * t->Q.ld + i] =
          rng_normal(seed, STREAM, at + (uint64_t)(c * t->r + i));
  TRY(t->h.ops->qr(&t->h, &t->Q, NULL));
  int64_t first = t->from->first[k], count = roml_count(t->from, k);
  la_array from = la_cols(&t->Z, first, count);
  la_array to = la_cols(&t->T, first, count);
  return t->h.ops->gemm(&t->h, LA_N, LA_N, 1, &t->Q, &from, 0, &to);
}

/* F <- the turned features; *all: there was time for it. */
static lapis_status turn(turner *t, bool *all)
{
  const la_backend *ops = t->h.ops;
  *all = !roml_must_end(t->w);
  if (!*all) return LAPIS_OK;
  centre(t);
  TRY(decompose(t));
  if (t->r > 0) {
    la_array V = la_cols(&t->V, 0, t->r);
    TRY(ops->gemm(&t->h, LA_T, LA_N, 1, &V, &t->F, 0, &t->Z));
    scale_rows(t, &t->Z, t->back);
    for (int64_t k = 0; k < t->from->K && *all; k++) {
      TRY(turn_image(t, k));
      *all = !roml_must_end(t->w);
    }
    if (!*all) return LAPIS_OK;
    scale_rows(t, &t->T, t->root);
    TRY(ops->gemm(&t->h, LA_N, LA_N, 1, &V, &t->T, 0, &t->F));
  }
  double *F = t->F.data;
  for (int64_t i = 0; i < t->N; i++)
    for (int64_t a = 0; a < t->d; a++) F[i * t->F.ld + a] += t->mean[a];
  return LAPIS_OK;
}

static lapis_status allocate(turner *t)
{
  const la_backend *ops = t->h.ops;
  lapis_ctx *ctx = t->h.ctx;
  t->mean = base_alloc(ctx, t->d, sizeof *t->mean);
  t->root = base_alloc(ctx, t->d, sizeof *t->root);
  t->back = base_alloc(ctx, t->d, sizeof *t->back);
  if (t->mean == NULL || t->root == NULL || t->back == NULL)
    return LAPIS_ENOMEM;
  TRY(ops->alloc(&t->h, LAPIS_F64, t->d, t->N, &t->F));
  TRY(ops->alloc(&t->h, LAPIS_F64, t->d, t->d, &t->C));
  return ops->alloc(&t->h, LAPIS_F64, t->d, t->d, &t->V);
}

static void release(turner *t)
{
  la_array *all[] = {&t->F, &t->Z, &t->T, &t->C, &t->V, &t->Q};
  for (int i = 0; i < 6; i++) t->h.ops->free(&t->h, all[i]);
  base_free(t->mean), base_free(t->root), base_free(t->back);
}

lapis_status roml_by_chance(roml *w, int64_t n, double *objective)
{
  roml_problem here = w->p, turned = {.K = 0};
  turner t = {.w = w, .from = &here, .h = w->h, .d = here.d, .N = here.N};
  lapis_status s = allocate(&t);
  bool all = false;
  *objective = INFINITY;
  if (s >= 0) s = turn(&t, &all);
  if (s >= 0 && all) s = roml_problem_of(w, &here, &t.F, &turned);
  release(&t);
  if (s >= 0 && !all) roml_state_free(&w->s);
  if (s < 0 || !all) return s;
  int64_t *given = w->given; /* of the features as they are */
  w->given = NULL;
  w->p = turned;
  s = roml_resize(w, n);
  if (s >= 0) s = roml_run(w, &w->s, objective);
  roml_state_free(&w->s);
  w->p = here;
  w->given = given;
  roml_problem_free(&turned);
  return s;
}
