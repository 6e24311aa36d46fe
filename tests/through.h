/* through.h - a backend that is judged where arrays lie in the host's memory:
 * LAPIS_TEST_THROUGH names it.  Every operand goes there, into the middle of a
 * larger array, so that offsets count, and all come back. */
#ifndef LAPIS_THROUGH_H
#define LAPIS_THROUGH_H
#include "check.h"
#include "la/host.h"

enum { MOST = 8, ABOVE = 3, LEFT = 2 };

typedef struct trip {
  la h; /* the backend under test */
  int count;
  const la_array *host[MOST];
  la_array all[MOST], part[MOST];
} trip;

static la_array *on(trip *t, const la_array *A)
{
  for (int i = 0; A != NULL && i < t->count; i++)
    if (t->host[i] == A) return &t->part[i];
  return NULL;
}

static lapis_status send(trip *t, const la_array *A)
{
  int i = t->count;
  lapis_mat from = la_as_mat(A);
  if (A == NULL || on(t, A) != NULL) return LAPIS_OK;
  la_array *all = &t->all[i];
  TRY(t->h.ops->alloc(&t->h, A->dtype, A->rows + ABOVE + 1, A->cols + LEFT,
                      all));
  t->count++;
  t->host[i] = A;
  la_array cols = la_cols(all, LEFT, A->cols);
  t->part[i] = la_rows(&cols, ABOVE, A->rows);
  TRY(t->h.ops->fill(&t->h, NAN, all));
  return t->h.ops->upload(&t->h, &from, &t->part[i]);
}

static lapis_status go(la *h, trip *t, const la_array *const used[MOST])
{
  *t = (trip){.count = 0};
  TRY(la_open(h->ctx, &t->h));
  for (int i = 0; i < MOST; i++)
    if (used[i] != NULL) TRY(send(t, used[i]));
  return LAPIS_OK;
}

static lapis_status back(trip *t, lapis_status status)
{
  for (int i = 0; i < t->count; i++) {
    lapis_mat to = la_as_mat(t->host[i]);
    lapis_status got = t->h.ops->download(&t->h, &t->part[i], &to);
    if (got < 0 && status >= 0) status = got;
    t->h.ops->free(&t->h, &t->all[i]);
  }
  return status;
}

#define GO(...)                                     \
  trip t;                                           \
  const la_array *const used[MOST] = {__VA_ARGS__}; \
  lapis_status status = go(h, &t, used);            \
  if (status < 0) return back(&t, status)
#define CALL(name, ...) back(&t, t.h.ops->name(&t.h, __VA_ARGS__))

/* Floats are not a device's. */
static lapis_status gemm(la *h, la_trans ta, la_trans tb, double alpha,
                         const la_array *A, const la_array *B, double beta,
                         la_array *C)
{
  if (C->dtype != LAPIS_F64)
    return la_openblas.gemm(h, ta, tb, alpha, A, B, beta, C);
  GO(A, B, C);
  return CALL(gemm, ta, tb, alpha, on(&t, A), on(&t, B), beta, on(&t, C));
}
static lapis_status gemv(la *h, la_trans trans, double alpha, const la_array *A,
                         const la_array *x, double beta, la_array *y)
{
  GO(A, x, y);
  return CALL(gemv, trans, alpha, on(&t, A), on(&t, x), beta, on(&t, y));
}
static lapis_status syrk(la *h, la_trans trans, const la_array *A, la_array *C)
{
  GO(A, C);
  return CALL(syrk, trans, on(&t, A), on(&t, C));
}
static lapis_status eigh(la *h, la_array *C, double above, double *values,
                         la_array *Q, int64_t *count)
{
  GO(C, Q);
  return CALL(eigh, on(&t, C), above, values, on(&t, Q), count);
}
static lapis_status svd(la *h, la_array *A, la_array *U, double *s,
                        la_array *Vt)
{
  GO(A, U, Vt);
  return CALL(svd, on(&t, A), on(&t, U), s, on(&t, Vt));
}
static lapis_status qr(la *h, la_array *A, la_array *R)
{
  GO(A, R);
  return CALL(qr, on(&t, A), on(&t, R));
}
static lapis_status potrf(la *h, la_array *A)
{
  GO(A);
  return CALL(potrf, on(&t, A));
}
static lapis_status potrs(la *h, const la_array *L, la_array *B)
{
  GO(L, B);
  return CALL(potrs, on(&t, L), on(&t, B));
}
static lapis_status trsm(la *h, const la_array *L, la_array *B)
{
  GO(L, B);
  return CALL(trsm, on(&t, L), on(&t, B));
}
static lapis_status potri(la *h, la_array *L)
{
  GO(L);
  return CALL(potri, on(&t, L));
}
static lapis_status gram_times(la *h, la_trans trans, const la_array *A,
                               const la_array *X, la_array *Y)
{
  GO(A, X, Y);
  return CALL(gram_times, trans, on(&t, A), on(&t, X), on(&t, Y));
}
static lapis_status axpby(la *h, double alpha, const la_array *A, double beta,
                          la_array *B)
{
  GO(A, B);
  return CALL(axpby, alpha, on(&t, A), beta, on(&t, B));
}
static lapis_status scale_cols(la *h, const double *f, la_array *A)
{
  GO(A);
  return CALL(scale_cols, f, on(&t, A));
}
static lapis_status scale_rows(la *h, const double *f, la_array *A)
{
  GO(A);
  return CALL(scale_rows, f, on(&t, A));
}
static lapis_status add_to_cols(la *h, const double *f, la_array *A)
{
  GO(A);
  return CALL(add_to_cols, f, on(&t, A));
}
static lapis_status fill(la *h, double value, la_array *A)
{
  GO(A);
  return CALL(fill, value, on(&t, A));
}
static lapis_status add_diagonal(la *h, double f, la_array *A)
{
  GO(A);
  return CALL(add_diagonal, f, on(&t, A));
}
static lapis_status dot(la *h, const la_array *A, const la_array *B,
                        double *out)
{
  GO(A, B);
  return CALL(dot, on(&t, A), on(&t, B), out);
}

/* phi with its Z0 there. */
static la_penalty over(trip *t, const la_penalty *phi)
{
  la_penalty there = *phi;
  there.Z0 = *on(t, &phi->Z0);
  return there;
}
#define GO_PHI(...)          \
  GO(&phi->Z0, __VA_ARGS__); \
  la_penalty there = over(&t, phi)

static lapis_status reflect(la *h, const la_penalty *phi, double rho,
                            const la_array *A, const la_array *V, la_array *B,
                            la_array *W, double sums[4])
{
  GO_PHI(A, V, B, W);
  return CALL(reflect, &there, rho, on(&t, A), on(&t, V), on(&t, B), on(&t, W),
              sums);
}
static lapis_status prox(la *h, const la_penalty *phi, double rho,
                         const la_array *V, la_array *B)
{
  GO_PHI(V, B);
  return CALL(prox, &there, rho, on(&t, V), on(&t, B));
}
static lapis_status loss(la *h, const la_penalty *phi, const la_array *Z,
                         double *out)
{
  GO_PHI(Z);
  return CALL(loss, &there, on(&t, Z), out);
}
static lapis_status gradient_step(la *h, const la_penalty *phi, double tau,
                                  const la_array *Z, la_array *A)
{
  GO_PHI(Z, A);
  return CALL(gradient_step, &there, tau, on(&t, Z), on(&t, A));
}
static lapis_status project(la *h, const la_penalty *phi, la_array *Z)
{
  GO_PHI(Z);
  return CALL(project, &there, on(&t, Z));
}
static lapis_status clamp(la *h, const la_penalty *phi, la_array *G)
{
  GO_PHI(G);
  return CALL(clamp, &there, on(&t, G));
}
static lapis_status conjugate(la *h, const la_penalty *phi, double scale,
                              const la_array *G, double *out)
{
  GO_PHI(G);
  return CALL(conjugate, &there, scale, on(&t, G), out);
}

static lapis_status l1_step(la *h, const la_l1 *p, const la_array *X,
                            const la_array *A, la_array *S, la_array *W,
                            double sums[6])
{
  GO(X, A, S, W);
  return CALL(l1_step, p, on(&t, X), on(&t, A), on(&t, S), on(&t, W), sums);
}
static lapis_status l1_dual(la *h, double at, const la_array *X,
                            const la_array *S, la_array *C)
{
  GO(X, S, C);
  return CALL(l1_dual, at, on(&t, X), on(&t, S), on(&t, C));
}
static lapis_status l1_sums(la *h, const la_array *X, const la_array *A,
                            const la_array *C, double sums[2])
{
  GO(X, A, C);
  return CALL(l1_sums, on(&t, X), on(&t, A), on(&t, C), sums);
}
static lapis_status l1_alm(la *h, const la_alm *p, double sums[3])
{
  GO(p->X, p->D, p->F, p->B, p->G1, p->G2, p->Z);
  la_alm there = *p;
  there.X = on(&t, p->X);
  there.D = on(&t, p->D);
  there.F = on(&t, p->F);
  there.B = on(&t, p->B);
  there.G1 = on(&t, p->G1);
  there.G2 = on(&t, p->G2);
  there.Z = on(&t, p->Z);
  return CALL(l1_alm, &there, sums);
}

static const char *describe(const la *h)
{
  (void)h;
  return "openblas by way of another";
}

static const la_backend test_through = {
    .name = "through",
    .describe = describe,
    .alloc = host_alloc,
    .free = host_free,
    .upload = host_upload,
    .download = host_download,
    .gemm = gemm,
    .gemv = gemv,
    .syrk = syrk,
    .gram_times = gram_times,
    .eigh = eigh,
    .svd = svd,
    .qr = qr,
    .potrf = potrf,
    .potrs = potrs,
    .trsm = trsm,
    .potri = potri,
    .axpby = axpby,
    .scale_cols = scale_cols,
    .scale_rows = scale_rows,
    .add_to_cols = add_to_cols,
    .fill = fill,
    .add_diagonal = add_diagonal,
    .dot = dot,
    .reflect = reflect,
    .prox = prox,
    .loss = loss,
    .gradient_step = gradient_step,
    .project = project,
    .clamp = clamp,
    .conjugate = conjugate,
    .l1_step = l1_step,
    .l1_dual = l1_dual,
    .l1_sums = l1_sums,
    .l1_alm = l1_alm,
};

/* h computes by way of it, where one is named; its context is set to it. */
static void test_go_through(la *h)
{
  const char *name = getenv("LAPIS_TEST_THROUGH");
  if (name == NULL) return;
  if (lapis_ctx_set(h->ctx, "backend", name) < 0) abort();
  h->ops = &test_through;
}

#endif
