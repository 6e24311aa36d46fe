/* device_passes.c - the elementwise passes on a device. */
#include "la/device/device.h"
#include "la/host/host.h"

static bool empty(const la_array *A)
{
  return A->rows == 0 || A->cols == 0;
}

/* One launch over the entries of A. */
static lapis_status over(la *h, const char *kernel, device_call *c,
                         const la_array *A)
{
  return device_run(h, kernel, c, device_groups(A->rows * A->cols), 1);
}

static lapis_status sums_over(la *h, const char *kernel, device_call *c,
                              const la_array *A, int count, double *sums)
{
  int64_t groups = device_groups(A->rows * A->cols);
  return device_run_sums(h, kernel, c, groups, count, sums);
}

/* ---- without a penalty ----------------------------------------------------*/
lapis_status device_axpby(la *h, double alpha, const la_array *A, double beta,
                          la_array *B)
{
  device_call c = device_begin(h);
  TRY(host_check_shape(h, "axpby", A, A->rows, A->cols));
  TRY(host_check_shape(h, "axpby", B, A->rows, A->cols));
  device_shape(&c, A);
  device_real(&c, alpha);
  device_array(&c, A);
  device_real(&c, beta);
  device_array(&c, B);
  if (c.foreign) return apart_refuse(h);
  return empty(A) ? LAPIS_OK : over(h, "axpby", &c, A);
}

/* A kernel of A and of n numbers of the host. */
static lapis_status with_line(la *h, const char *kernel, const double *f,
                              int64_t n, la_array *A)
{
  device_call c = device_begin(h);
  la_array line;
  lapis_mat from = lapis_mat_f64((double *)(uintptr_t)f, n, 1);
  TRY(host_check_shape(h, kernel, A, A->rows, A->cols));
  if (empty(A)) return LAPIS_OK;
  TRY(device_alloc(h, LAPIS_F64, n, 1, &line));
  lapis_status status = device_upload(h, &from, &line);
  device_shape(&c, A);
  device_buffer(&c, &line);
  device_array(&c, A);
  if (status >= 0) status = over(h, kernel, &c, A);
  device_free(h, &line);
  return status;
}

/* f and w travel as one line. */
lapis_status device_axpby_cols(la *h, const double *f, const int64_t *w,
                               const la_array *A, double beta, la_array *B)
{
  int64_t n = B->cols;
  la_array line;
  device_call c = device_begin(h);
  TRY(host_check_shape(h, "axpby_cols", A, B->rows, w == NULL ? n : A->cols));
  TRY(host_check_shape(h, "axpby_cols", B, A->rows, n));
  if (empty(B)) return LAPIS_OK;
  double *both = base_alloc_raw(h->ctx, 2 * n, sizeof *both);
  if (both == NULL) return LAPIS_ENOMEM;
  for (int64_t j = 0; j < n; j++) {
    both[j] = f[j];
    both[n + j] = (double)(w == NULL ? j : w[j]);
  }
  lapis_mat from = lapis_mat_f64(both, 2 * n, 1);
  lapis_status status = device_alloc(h, LAPIS_F64, 2 * n, 1, &line);
  if (status >= 0) status = device_upload(h, &from, &line);
  base_free(both);
  device_shape(&c, B);
  device_buffer(&c, &line);
  device_array(&c, A);
  device_real(&c, beta);
  device_array(&c, B);
  if (status >= 0) status = over(h, "axpby_cols", &c, B);
  device_free(h, &line);
  return status;
}

lapis_status device_scale_rows(la *h, const double *f, la_array *A)
{
  return with_line(h, "scale_rows", f, A->rows, A);
}

lapis_status device_add_to_cols(la *h, const double *f, la_array *A)
{
  return with_line(h, "add_to_cols", f, A->rows, A);
}

lapis_status device_fill(la *h, double value, la_array *A)
{
  device_call c = device_begin(h);
  TRY(host_check_shape(h, "fill", A, A->rows, A->cols));
  device_shape(&c, A);
  device_real(&c, value);
  device_array(&c, A);
  return empty(A) ? LAPIS_OK : over(h, "fill", &c, A);
}

lapis_status device_add_diagonal(la *h, double f, la_array *A)
{
  device_call c = device_begin(h);
  TRY(host_check_shape(h, "add_diagonal", A, A->rows, A->rows));
  if (empty(A)) return LAPIS_OK;
  device_whole(&c, A->rows);
  device_real(&c, f);
  device_array(&c, A);
  return device_run(h, "add_diagonal", &c, device_groups(A->rows), 1);
}

lapis_status device_dot(la *h, const la_array *A, const la_array *B,
                        double *out)
{
  device_call c = device_begin(h);
  TRY(host_check_shape(h, "dot", A, A->rows, A->cols));
  TRY(host_check_shape(h, "dot", B, A->rows, A->cols));
  device_shape(&c, A);
  device_array(&c, A);
  device_array(&c, B);
  *out = 0;
  return empty(A) ? LAPIS_OK : sums_over(h, "dot_parts", &c, A, 1, out);
}

lapis_status device_dot_cols(la *h, const la_array *A, const la_array *B,
                             double *out)
{
  device_call c = device_begin(h);
  la_array line;
  lapis_mat to = lapis_mat_f64(out, A->cols, 1);
  TRY(host_check_shape(h, "dot_cols", A, A->rows, A->cols));
  TRY(host_check_shape(h, "dot_cols", B, A->rows, A->cols));
  if (A->cols == 0) return LAPIS_OK;
  TRY(device_alloc(h, LAPIS_F64, A->cols, 1, &line));
  device_shape(&c, A);
  device_array(&c, A);
  device_array(&c, B);
  device_buffer(&c, &line);
  lapis_status status = device_run(h, "dot_cols", &c, A->cols, 1);
  if (status >= 0) status = device_download(h, &line, &to);
  device_free(h, &line);
  return status;
}

/* ---- the sparse error -----------------------------------------------------*/
lapis_status device_l1_step(la *h, const la_l1 *p, const la_array *X,
                            const la_array *A, la_array *S, la_array *W,
                            double sums[6])
{
  device_call c = device_begin(h);
  TRY(host_check_shape(h, "l1_step", A, X->rows, X->cols));
  TRY(host_check_shape(h, "l1_step", S, X->rows, X->cols));
  TRY(host_check_shape(h, "l1_step", W, X->rows, X->cols));
  for (int k = 0; k < 6; k++) sums[k] = 0;
  device_shape(&c, X);
  device_real(&c, p->t);
  device_real(&c, p->relax);
  device_real(&c, p->rescale);
  device_array(&c, X);
  device_array(&c, A);
  device_array(&c, S);
  device_array(&c, W);
  return empty(X) ? LAPIS_OK : sums_over(h, "l1_step", &c, X, 6, sums);
}

lapis_status device_l1_dual(la *h, double t, const la_array *X,
                            const la_array *S, la_array *C)
{
  device_call c = device_begin(h);
  TRY(host_check_shape(h, "l1_dual", S, X->rows, X->cols));
  TRY(host_check_shape(h, "l1_dual", C, X->rows, X->cols));
  device_shape(&c, X);
  device_real(&c, t);
  device_array(&c, X);
  device_array(&c, S);
  device_array(&c, C);
  return empty(X) ? LAPIS_OK : over(h, "l1_dual", &c, X);
}

lapis_status device_l1_sums(la *h, const la_array *X, const la_array *A,
                            const la_array *C, double sums[2])
{
  device_call c = device_begin(h);
  TRY(host_check_shape(h, "l1_sums", A, X->rows, X->cols));
  if (C != NULL) TRY(host_check_shape(h, "l1_sums", C, X->rows, X->cols));
  sums[0] = sums[1] = 0;
  device_shape(&c, X);
  device_whole(&c, C != NULL);
  device_array(&c, X);
  device_array(&c, A);
  device_array(&c, C != NULL ? C : X);
  return empty(X) ? LAPIS_OK : sums_over(h, "l1_sums", &c, X, 2, sums);
}

lapis_status device_l1_alm(la *h, const la_alm *p, double sums[3])
{
  const la_array *all[] = {p->X, p->D, p->F, p->B, p->G1, p->G2, p->Z};
  device_call c = device_begin(h);
  for (int k = 0; k < 3; k++) sums[k] = 0;
  device_shape(&c, p->X);
  device_real(&c, p->lambda / p->mu1);
  device_real(&c, p->mu1);
  device_real(&c, p->mu2);
  device_real(&c, p->next1);
  device_real(&c, p->next2);
  for (int i = 0; i < 7; i++) {
    TRY(host_check_shape(h, "l1_alm", all[i], p->X->rows, p->X->cols));
    device_array(&c, all[i]);
  }
  return empty(p->X) ? LAPIS_OK : sums_over(h, "l1_alm", &c, p->X, 3, sums);
}

/* ---- over a penalty ------------------------------------------------------*/
static la_array rows_of(const la_array *A, const la_block *b)
{
  return la_rows(A, b->first, b->rows);
}

static lapis_status simplex_prox(la *h, const la_array *Z0, double t,
                                 const la_array *V, const la_array *B)
{
  device_call c = device_begin(h);
  device_shape(&c, V);
  device_real(&c, t);
  device_array(&c, Z0);
  device_array(&c, V);
  device_array(&c, B);
  return device_run(h, "simplex_prox", &c, device_groups(V->cols), 1);
}

/* How labels are coded; what columns count, as kernels take it: whether they
 * do, and an array. */
static void put_labels(device_call *c, const la_penalty *phi, const la_block *b,
                       const la_array *instead)
{
  const la_array *times = la_times(phi, b);
  device_whole(c, phi->zero_one);
  device_whole(c, times != NULL);
  device_array(c, times != NULL ? times : instead);
}

/* factor: rho of a prox, tau of a gradient step. */
static lapis_status map_block(la *h, la_pass pass, const la_penalty *phi,
                              const la_block *b, double factor,
                              const la_array part[3])
{
  const la_array *Z0 = &part[0], *V = &part[1], *B = &part[2];
  device_call c = device_begin(h);
  double t = pass == LA_PROX ? b->weight / factor : b->weight * factor;
  if (b->kind == LA_CHI2_SIMPLEX && pass == LA_PROX)
    return simplex_prox(h, Z0, t, V, B);
  if (b->kind == LA_CHI2_SIMPLEX && pass == LA_PROJECT)
    return simplex_prox(h, Z0, 0, V, B);
  device_whole(&c, pass);
  device_whole(&c, b->kind);
  device_shape(&c, V);
  device_real(&c, t);
  device_real(&c, b->weight);
  device_real(&c, b->gamma);
  put_labels(&c, phi, b, Z0);
  for (int i = 0; i < 3; i++) device_array(&c, &part[i]);
  return over(h, "map", &c, V);
}

static lapis_status map(la *h, const char *what, la_pass pass,
                        const la_penalty *phi, double factor, const la_array *V,
                        la_array *B)
{
  TRY(host_check_penalty(h, what, phi, V));
  TRY(host_check_shape(h, what, B, V->rows, V->cols));
  for (int k = 0; k < phi->n_blocks; k++) {
    const la_block *b = &phi->block[k];
    la_array part[3] = {rows_of(&phi->Z0, b), rows_of(V, b), rows_of(B, b)};
    if (empty(&part[1])) continue;
    TRY(map_block(h, pass, phi, b, factor, part));
  }
  return LAPIS_OK;
}

lapis_status device_prox(la *h, const la_penalty *phi, double rho,
                         const la_array *V, la_array *B)
{
  return map(h, "prox", LA_PROX, phi, rho, V, B);
}

lapis_status device_gradient_step(la *h, const la_penalty *phi, double tau,
                                  const la_array *Z, la_array *A)
{
  return map(h, "gradient_step", LA_STEP, phi, tau, Z, A);
}

lapis_status device_project(la *h, const la_penalty *phi, la_array *Z)
{
  return map(h, "project", LA_PROJECT, phi, 1, Z, Z);
}

lapis_status device_clamp(la *h, const la_penalty *phi, la_array *G)
{
  return map(h, "clamp", LA_CLAMP, phi, 1, G, G);
}

static lapis_status reflect_block(la *h, const la_penalty *phi,
                                  const la_block *b, double t,
                                  const la_array part[5], double sums[4])
{
  const la_array *Z0 = &part[0], *V = &part[2], *W = &part[4];
  device_call c = device_begin(h);
  if (b->kind == LA_CHI2_SIMPLEX) TRY(simplex_prox(h, Z0, t, V, W));
  device_whole(&c, b->kind);
  device_shape(&c, V);
  device_real(&c, t);
  device_real(&c, b->weight);
  device_real(&c, b->gamma);
  put_labels(&c, phi, b, Z0);
  for (int i = 0; i < 5; i++) device_array(&c, &part[i]);
  return sums_over(h, "reflect", &c, V, 4, sums);
}

lapis_status device_reflect(la *h, const la_penalty *phi, double rho,
                            const la_array *A, const la_array *V, la_array *B,
                            la_array *W, double sums[4])
{
  const la_array *all[] = {&phi->Z0, A, V, B, W};
  TRY(host_check_penalty(h, "reflect", phi, A));
  for (int i = 2; i < 5; i++)
    TRY(host_check_shape(h, "reflect", all[i], A->rows, A->cols));
  for (int k = 0; k < 4; k++) sums[k] = 0;
  for (int k = 0; k < phi->n_blocks; k++) {
    const la_block *b = &phi->block[k];
    la_array part[5];
    for (int i = 0; i < 5; i++) part[i] = rows_of(all[i], b);
    if (empty(&part[0])) continue;
    TRY(reflect_block(h, phi, b, b->weight / rho, part, sums));
  }
  return LAPIS_OK;
}

static lapis_status add_block(la *h, la_pass pass, const la_penalty *phi,
                              const la_block *b, double scale,
                              const la_array part[2], double *sum)
{
  device_call c = device_begin(h);
  device_whole(&c, pass);
  device_whole(&c, b->kind);
  device_shape(&c, &part[1]);
  device_real(&c, b->weight);
  device_real(&c, b->gamma);
  device_real(&c, scale);
  put_labels(&c, phi, b, &part[0]);
  for (int i = 0; i < 2; i++) device_array(&c, &part[i]);
  return sums_over(h, "add_up", &c, &part[1], 1, sum);
}

static lapis_status simplex_conjugate(la *h, const la_block *b, double scale,
                                      const la_array *Z0, const la_array *G,
                                      double *sum)
{
  device_call c = device_begin(h);
  device_shape(&c, G);
  device_real(&c, b->weight);
  device_real(&c, scale);
  device_array(&c, Z0);
  device_array(&c, G);
  return device_run_sums(h, "simplex_conjugate", &c, device_groups(G->cols), 1,
                         sum);
}

static lapis_status add_up(la *h, const char *what, la_pass pass,
                           const la_penalty *phi, double scale,
                           const la_array *V, double *out)
{
  TRY(host_check_penalty(h, what, phi, V));
  *out = 0;
  for (int k = 0; k < phi->n_blocks; k++) {
    const la_block *b = &phi->block[k];
    la_array part[2] = {rows_of(&phi->Z0, b), rows_of(V, b)};
    double sum = 0;
    if (empty(&part[1])) continue;
    if (b->kind == LA_CHI2_SIMPLEX && pass == LA_CONJUGATE)
      TRY(simplex_conjugate(h, b, scale, &part[0], &part[1], &sum));
    else
      TRY(add_block(h, pass, phi, b, scale, part, &sum));
    if (pass == LA_LOSS) sum = b->weight > 0 ? b->weight * sum : 0;
    *out += sum;
  }
  return LAPIS_OK;
}

lapis_status device_loss(la *h, const la_penalty *phi, const la_array *Z,
                         double *out)
{
  return add_up(h, "loss", LA_LOSS, phi, 1, Z, out);
}

lapis_status device_conjugate(la *h, const la_penalty *phi, double scale,
                              const la_array *G, double *out)
{
  return add_up(h, "conjugate", LA_CONJUGATE, phi, scale, G, out);
}
