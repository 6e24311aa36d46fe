/* host.h - shared by the host backends only: memory, checks, passes. */
#ifndef LAPIS_LA_HOST_H
#define LAPIS_LA_HOST_H
#include "la/backend.h"

static inline double *host_col(const la_array *A, int64_t j)
{
  return (double *)A->data + j * A->ld;
}

/* The weight of a block in column j. */
static inline double host_weight(const la_penalty *phi, const la_block *b,
                                 int64_t j)
{
  const la_array *times = la_times(phi, b);
  return times == NULL ? b->weight : b->weight * *host_col(times, j);
}

/* ---- memory: the same for every host backend ----------------------------*/
lapis_status host_alloc(la *h, lapis_dtype t, int64_t rows, int64_t cols,
                        la_array *out);
void host_free(la *h, la_array *a);
lapis_status host_upload(la *h, const lapis_mat *from, la_array *to);
lapis_status host_download(la *h, const la_array *from, lapis_mat *to);
/* count doubles: the handle's scratch where it is large enough, else
 * allocated; give back with host_release.  NULL: no memory. */
double *host_borrow(la *h, int64_t count);
void host_release(la *h, double *p);

/* ---- checks: one sentence each ------------------------------------------*/
/* There can be such an array. */
lapis_status host_check_size(la *h, lapis_dtype t, int64_t rows, int64_t cols);
/* m, of numbers, has the shape of a. */
lapis_status host_check_transfer(la *h, const lapis_mat *m, const la_array *a);
/* A is rows x cols doubles. */
lapis_status host_check_shape(la *h, const char *what, const la_array *A,
                              int64_t rows, int64_t cols);
/* The same of either type. */
lapis_status host_check_sides(la *h, const char *what, const la_array *A,
                              int64_t rows, int64_t cols);
/* LAPIS_ENUMERIC at the first NaN or infinity: LAPACK may hang on them. */
lapis_status host_check_finite(la *h, const char *what, const la_array *A);
/* C = op(A) op(B) fits together; *inner: the length summed over. */
lapis_status host_check_gemm(la *h, la_trans ta, la_trans tb, const la_array *A,
                             const la_array *B, const la_array *C,
                             int64_t *inner);
/* X and Y are skinny arrays of the side of A's Gram matrix. */
lapis_status host_check_gram_times(la *h, la_trans t, const la_array *A,
                                   const la_array *X, const la_array *Y);
/* Thin SVD: U and Vt both or neither, of the right shapes. */
lapis_status host_check_svd(la *h, const la_array *A, const la_array *U,
                            const la_array *Vt);
/* A penalty over arrays of the shape of Z. */
lapis_status host_check_penalty(la *h, const char *what, const la_penalty *phi,
                                const la_array *Z);

/* ---- fast elementwise passes (passes.c, vectors.c) ----------------------*/
lapis_status host_axpby(la *h, double alpha, const la_array *A, double beta,
                        la_array *B);
lapis_status host_axpby_cols(la *h, const double *f, const int64_t *w,
                             const la_array *A, double beta, la_array *B);
lapis_status host_scale_rows(la *h, const double *f, la_array *A);
lapis_status host_add_to_cols(la *h, const double *f, la_array *A);
lapis_status host_fill(la *h, double value, la_array *A);
lapis_status host_add_diagonal(la *h, double f, la_array *A);
lapis_status host_dot(la *h, const la_array *A, const la_array *B, double *out);
lapis_status host_dot_cols(la *h, const la_array *A, const la_array *B,
                           double *out);
lapis_status host_reflect(la *h, const la_penalty *phi, double rho,
                          const la_array *A, const la_array *V, la_array *B,
                          la_array *W, double sums[4]);
lapis_status host_prox(la *h, const la_penalty *phi, double rho,
                       const la_array *V, la_array *B);
lapis_status host_loss(la *h, const la_penalty *phi, const la_array *Z,
                       double *out);
lapis_status host_gradient_step(la *h, const la_penalty *phi, double tau,
                                const la_array *Z, la_array *A);
lapis_status host_project(la *h, const la_penalty *phi, la_array *Z);
lapis_status host_clamp(la *h, const la_penalty *phi, la_array *G);
lapis_status host_conjugate(la *h, const la_penalty *phi, double scale,
                            const la_array *G, double *out);

/* ---- skinny products (gram_times.c) --------------------------------------*/
lapis_status host_two_products(la *h, la_trans t, const la_array *A,
                               const la_array *X, la_array *Y);
lapis_status host_gram_times(la *h, la_trans t, const la_array *A,
                             const la_array *X, la_array *Y);

/* C = A'A of a small A that host_gram_pays for: a BLAS packs it first. */
bool host_gram_pays(const la *h, const la_array *A);
void host_gram(const la *h, const la_array *A, la_array *C);
/* C = A B of a small B, likewise. */
bool host_small_product_pays(const la *h, const la_array *A, const la_array *B);
void host_small_product(const la *h, const la_array *A, const la_array *B,
                        la_array *C);
/* C = alpha A B + beta C, or of A', of a large A and very few columns of B,
 * likewise. */
bool host_skinny_pays(const la *h, la_trans t, double alpha, const la_array *A,
                      const la_array *B, double beta);
void host_skinny(la *h, la_trans t, double alpha, const la_array *A,
                 const la_array *B, double beta, la_array *C);

/* ---- the BLAS that was built in (one of blas_*.c) ------------------------*/
extern const char blas_title[]; /* "the processor, by OpenBLAS" */
const char *blas_name(void);    /* "openblas Cooperlake": a constant */
void blas_set_threads(int n);   /* of the whole process */
/* Bytes of addresses that must still be free for its products. */
double blas_address_need(void);

/* ---- products in openblas.c, factorisations in lapack.c ------------------*/
/* Gives the BLAS this handle's number of threads. */
void blas_threads(const la *h);
/* Sizes that BLAS cannot count are refused. */
lapis_status blas_check_range(la *h, const char *what, const la_array *A);
lapis_status lapack_eigh(la *h, la_array *C, double above, double *values,
                         la_array *Q, int64_t *count);
/* small_eigh.c: the same of a small C, finite, which stays as it is. *done:
 * false where QL did not converge, which never happened. */
lapis_status host_small_eigh(la *h, const la_array *C, double above,
                             double *values, la_array *Q, int64_t *count,
                             bool *done);
lapis_status lapack_svd(la *h, la_array *A, la_array *U, double *s,
                        la_array *Vt);
lapis_status lapack_qr(la *h, la_array *A, la_array *R);
lapis_status lapack_potrf(la *h, la_array *A);
lapis_status lapack_potrs(la *h, const la_array *L, la_array *B);
lapis_status lapack_potri(la *h, la_array *L);
/* The upper triangle from the lower one. */
void blas_mirror(la_array *C);

/* ---- reference: plain twins (reference_*.c) -----------------------------*/
lapis_status plain_eigh(la *h, la_array *C, double above, double *values,
                        la_array *Q, int64_t *count);
lapis_status plain_svd(la *h, la_array *A, la_array *U, double *s,
                       la_array *Vt);
lapis_status plain_qr(la *h, la_array *A, la_array *R);
lapis_status plain_potrf(la *h, la_array *A);
lapis_status plain_potrs(la *h, const la_array *L, la_array *B);
lapis_status plain_trsm(la *h, const la_array *L, la_array *B);
lapis_status plain_potri(la *h, la_array *L);
lapis_status plain_reflect(la *h, const la_penalty *phi, double rho,
                           const la_array *A, const la_array *V, la_array *B,
                           la_array *W, double sums[4]);
lapis_status plain_prox(la *h, const la_penalty *phi, double rho,
                        const la_array *V, la_array *B);
lapis_status plain_loss(la *h, const la_penalty *phi, const la_array *Z,
                        double *out);
lapis_status plain_gradient_step(la *h, const la_penalty *phi, double tau,
                                 const la_array *Z, la_array *A);
lapis_status plain_project(la *h, const la_penalty *phi, la_array *Z);
lapis_status plain_clamp(la *h, const la_penalty *phi, la_array *G);
lapis_status plain_conjugate(la *h, const la_penalty *phi, double scale,
                             const la_array *G, double *out);

/* ---- passes of the sparse error: l1.c, reference_l1.c ---------------------*/
lapis_status host_l1_step(la *h, const la_l1 *p, const la_array *X,
                          const la_array *A, la_array *S, la_array *W,
                          double sums[6]);
lapis_status host_l1_dual(la *h, double t, const la_array *X, const la_array *S,
                          la_array *C);
lapis_status host_l1_sums(la *h, const la_array *X, const la_array *A,
                          const la_array *C, double sums[2]);
lapis_status host_l1_alm(la *h, const la_alm *p, double sums[3]);
lapis_status plain_l1_step(la *h, const la_l1 *p, const la_array *X,
                           const la_array *A, la_array *S, la_array *W,
                           double sums[6]);
lapis_status plain_l1_dual(la *h, double t, const la_array *X,
                           const la_array *S, la_array *C);
lapis_status plain_l1_sums(la *h, const la_array *X, const la_array *A,
                           const la_array *C, double sums[2]);
lapis_status plain_l1_alm(la *h, const la_alm *p, double sums[3]);

#endif
