/* device.h - the backend of devices: arrays in their memory, passes by their
 * kernels (plugin/kernels.cl), all through a plug-in (device_api.h).  For the
 * files device*.c alone, but for opening one. */
#ifndef LAPIS_LA_DEVICE_H
#define LAPIS_LA_DEVICE_H
#include "la/device/device_api.h"
#include "la/device_memory.h"
#include "lapis/tools.h"

/* Whether a backend of this name is a device: opencl, cuda, or opencl:N. */
bool device_is_named(const char *name);
lapis_status device_open(lapis_ctx *ctx, const char *name, la *out);
/* Row i of those that were found, for lapis_backend_at; NULL past the last. */
const lapis_backend *device_row(int i);

/* ---- running a kernel -----------------------------------------------------*/
/* Its arguments, in order. */
typedef struct device_call {
  device_arg arg[DEVICE_MOST_ARGS];
  int count;
  const la_backend *ops; /* whose arrays may be handed over */
  bool foreign;          /* one of another memory was */
} device_call;

device_call device_begin(const la *h);
void device_whole(device_call *c, int64_t value);
void device_real(device_call *c, double value);
void device_array(device_call *c, const la_array *A);  /* three arguments */
void device_buffer(device_call *c, const la_array *A); /* the buffer alone */
/* rows, cols */
void device_shape(device_call *c, const la_array *A);
/* x times y groups, y at most device_most_y. */
int64_t device_most_y(const la *h);
lapis_status device_run(la *h, const char *kernel, device_call *c, int64_t x,
                        int64_t y);
/* C = alpha op(A) op(B) + beta C by the plug-in's own means; *done: it has
 * some.
 */
lapis_status device_multiply(la *h, la_trans ta, la_trans tb, double alpha,
                             const la_array *A, const la_array *B, double beta,
                             la_array *C, bool *done);
/* Eigenvalues by the plug-in's own means, smallest first, with vectors in C. */
lapis_status device_eigh_there(la *h, la_array *C, bool vectors, double *values,
                               bool *done);
/* Groups that share so many entries; 1 at least. */
int64_t device_groups(int64_t entries);
/* Runs it by so many groups, each of which leaves `count` sums, the kernel's
 * last argument; adds theirs to sums. */
enum { DEVICE_MOST_GROUPS = 512, DEVICE_MOST_SUMS = 6 };
lapis_status device_run_sums(la *h, const char *kernel, device_call *c,
                             int64_t groups, int count, double *sums);

/* ---- squares on the host ----------------------------------------------------
 * device_factor.c: what is small is factored there, by the handle la_beside. */
/* *out: a copy of A there. */
lapis_status device_fetch(la *h, const la_array *A, la *host, la_array *out);
/* A = the copy, where all went well; the copy's end. */
lapis_status device_send(la *h, lapis_status status, la *host, la_array *copy,
                         la_array *A);

/* ---- the table ------------------------------------------------------------*/
lapis_status device_alloc(la *h, lapis_dtype t, int64_t rows, int64_t cols,
                          la_array *out);
void device_free(la *h, la_array *a);
lapis_status device_upload(la *h, const lapis_mat *from, la_array *to);
lapis_status device_download(la *h, const la_array *from, lapis_mat *to);
/* device_products.c */
lapis_status device_gemm(la *h, la_trans ta, la_trans tb, double alpha,
                         const la_array *A, const la_array *B, double beta,
                         la_array *C);
lapis_status device_gemv(la *h, la_trans t, double alpha, const la_array *A,
                         const la_array *x, double beta, la_array *y);
lapis_status device_symv(la *h, double alpha, const la_array *A,
                         const la_array *x, double beta, la_array *y);
lapis_status device_syrk(la *h, la_trans t, const la_array *A, la_array *C);
lapis_status device_gram_times(la *h, la_trans t, const la_array *A,
                               const la_array *X, la_array *Y);
/* C = alpha A op(A)' + beta C, C symmetric: A A' of LA_N, A'A of LA_T. */
lapis_status device_symmetric(la *h, la_trans t, double alpha,
                              const la_array *A, double beta, la_array *C);
lapis_status device_potrs(la *h, const la_array *L, la_array *B);
lapis_status device_trsm(la *h, const la_array *L, la_array *B);
/* device_factor.c, device_qr.c */
lapis_status device_eigh(la *h, la_array *C, double above, double *values,
                         la_array *Q, int64_t *count);
lapis_status device_svd(la *h, la_array *A, la_array *U, double *s,
                        la_array *Vt);
lapis_status device_qr(la *h, la_array *A, la_array *R);
lapis_status device_potrf(la *h, la_array *A);
lapis_status device_potri(la *h, la_array *L);
/* device_passes.c */
lapis_status device_axpby(la *h, double alpha, const la_array *A, double beta,
                          la_array *B);
lapis_status device_axpby_cols(la *h, const double *f, const int64_t *w,
                               const la_array *A, double beta, la_array *B);
lapis_status device_dot_cols(la *h, const la_array *A, const la_array *B,
                             double *out);
lapis_status device_scale_rows(la *h, const double *f, la_array *A);
lapis_status device_add_to_cols(la *h, const double *f, la_array *A);
lapis_status device_fill(la *h, double value, la_array *A);
lapis_status device_add_diagonal(la *h, double f, la_array *A);
lapis_status device_dot(la *h, const la_array *A, const la_array *B,
                        double *out);
lapis_status device_reflect(la *h, const la_penalty *phi, double rho,
                            const la_array *A, const la_array *V, la_array *B,
                            la_array *W, double sums[4]);
lapis_status device_prox(la *h, const la_penalty *phi, double rho,
                         const la_array *V, la_array *B);
lapis_status device_loss(la *h, const la_penalty *phi, const la_array *Z,
                         double *out);
lapis_status device_gradient_step(la *h, const la_penalty *phi, double tau,
                                  const la_array *Z, la_array *A);
lapis_status device_project(la *h, const la_penalty *phi, la_array *Z);
lapis_status device_clamp(la *h, const la_penalty *phi, la_array *G);
lapis_status device_conjugate(la *h, const la_penalty *phi, double scale,
                              const la_array *G, double *out);
lapis_status device_l1_step(la *h, const la_l1 *p, const la_array *X,
                            const la_array *A, la_array *S, la_array *W,
                            double sums[6]);
lapis_status device_l1_dual(la *h, double t, const la_array *X,
                            const la_array *S, la_array *C);
lapis_status device_l1_sums(la *h, const la_array *X, const la_array *A,
                            const la_array *C, double sums[2]);
lapis_status device_l1_alm(la *h, const la_alm *p, double sums[3]);

#endif
