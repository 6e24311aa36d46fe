/* cleaner.c - what both forms of cleaning share: memory, the dictionary in
 * its reduced form, answers. */
#include <math.h>
#include <string.h>

#include "mat/mat.h"
#include "methods/robust/robust.h"

const char *const clean_columns[] = {"iteration", "objective", "dual",
                                     "gap",       "active",    "rank"};

double clean_weight(const rr_basis *b, double lambda, bool paper)
{
  double size = sqrt((double)b->r * (double)b->n);
  return lambda * (paper ? 1 : size) / b->nuclear;
}

/* U = K / sigma */
static lapis_status set_U(cleaner *c)
{
  const rr_basis *b = c->basis;
  lapis_mat K = lapis_mat_f64(b->K, b->d, b->r);
  lapis_mat U;
  TRY(c->h->ops->upload(c->h, &K, &c->U));
  TRY(la_borrow(c->h, &c->U, &U));
  for (int64_t i = 0; i < b->r; i++) {
    double *u = (double *)U.val + i * U.ld;
    for (int64_t k = 0; k < b->d; k++) u[k] /= b->sigma[i];
  }
  return la_give_back(c->h, &U, &c->U);
}

static lapis_status allocate(cleaner *c)
{
  la *h = c->h;
  int64_t d = c->d, n = c->n, r = c->r;
  la_array *tall[] = {&c->X, &c->S, &c->A, &c->C};
  TRY(h->ops->alloc(h, LAPIS_F64, d, r, &c->U));
  for (int i = 0; i < 4; i++) TRY(h->ops->alloc(h, LAPIS_F64, d, n, tall[i]));
  TRY(h->ops->alloc(h, LAPIS_F64, r, n, &c->P));
  c->Q = base_alloc(h->ctx, r * n, sizeof *c->Q);
  c->place = base_alloc(h->ctx, n, sizeof *c->place);
  c->age = base_alloc(h->ctx, n, sizeof *c->age);
  c->rho = base_alloc(h->ctx, n, sizeof *c->rho);
  c->primal = base_alloc(h->ctx, n, sizeof *c->primal);
  c->dual = base_alloc(h->ctx, n, sizeof *c->dual);
  c->sums = base_alloc(h->ctx, 6 * n, sizeof *c->sums);
  c->weight = base_alloc(h->ctx, r, sizeof *c->weight);
  bool ok = c->Q != NULL && c->place != NULL && c->age != NULL &&
            c->rho != NULL && c->primal != NULL && c->dual != NULL &&
            c->sums != NULL && c->weight != NULL;
  if (!ok) return LAPIS_ENOMEM;
  TRY(set_U(c));
  return c->joint ? clean_joint_alloc(c) : LAPIS_OK;
}

lapis_status cleaner_new(la *h, const rr_basis *basis, int64_t n, bool joint,
                         cleaner *c)
{
  *c = (cleaner){.own = joint ? *h : la_beside(h),
                 .basis = basis,
                 .d = basis->d,
                 .n = n,
                 .scale = 1,
                 .r = basis->r,
                 .joint = joint};
  c->h = &c->own;
  lapis_status s = allocate(c);
  if (s < 0) cleaner_free(c);
  return s;
}

void cleaner_free(cleaner *c)
{
  if (c->h == NULL) return;
  la_array *all[] = {&c->U, &c->X, &c->S, &c->A, &c->C, &c->P};
  for (int i = 0; i < 6; i++) c->h->ops->free(c->h, all[i]);
  clean_joint_free(c);
  void *plain[] = {c->Q,      c->place, c->age,  c->rho,
                   c->primal, c->dual,  c->sums, c->weight};
  for (int i = 0; i < 8; i++) base_free(plain[i]);
  *c = (cleaner){.h = NULL};
}

/* S = X, 0 where not observed. */
static lapis_status start(cleaner *c, const lapis_mat *X)
{
  la *h = c->h;
  TRY(h->ops->upload(h, X, &c->X));
  TRY(la_zero(h, &c->S));
  TRY(h->ops->l1_dual(h, INFINITY, &c->X, &c->S, &c->C));
  return la_copy(h, &c->C, &c->S);
}

lapis_status cleaner_run(cleaner *c, const lapis_mat *X, double weight, loop *l,
                         double tol)
{
  TRY(la_zero(c->h, &c->S));
  c->error_weight = weight;
  TRY(start(c, X));
  TRY(c->joint ? clean_joint(c, l, tol) : clean_alone(c, l, tol));
  double size = fmax(fmax(fabs(c->info.objective), fabs(c->info.dual)), 1e-300);
  c->info.gap = (c->info.objective - c->info.dual) / size;
  return LAPIS_OK;
}

lapis_status cleaner_read(cleaner *c, double *low_rank, double *coefficients,
                          double *dual)
{
  la h = la_beside(c->h); /* the dictionary is in the host's memory */
  const rr_basis *b = c->basis;
  lapis_mat C = lapis_mat_f64(dual, c->d, c->n);
  la_array K = la_wrap(b->K, b->d, b->r), V = la_wrap(b->Vt, b->r, b->n);
  la_array Q = la_wrap(c->Q, c->r, c->n), D = la_wrap(low_rank, c->d, c->n);
  TRY(h.ops->gemm(&h, LA_N, LA_N, 1, &K, &Q, 0, &D));
  if (dual != NULL) TRY(c->h->ops->download(c->h, &c->C, &C));
  if (coefficients == NULL) return LAPIS_OK;
  la_array Z = la_wrap(coefficients, b->n, c->n);
  return h.ops->gemm(&h, LA_T, LA_N, 1, &V, &Q, 0, &Z);
}
