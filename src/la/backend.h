/* backend.h - the one interface behind which machines differ.
 *
 * A solver keeps its state in la_array handles and works on them only through
 * the functions below, so that a device (a GPU) can keep all of it in its own
 * memory.  For host backends, those on the processor, `data` points to the
 * numbers.  "reference" is plain loops, always built, and the tests compare the
 * others with it; "openblas" is the fast one.  "opencl" is a device of
 * the plug-in lapis-opencl (device.c).  The tests have one more, which forbids
 * what a device cannot do (tests/strict.c).
 *
 * Matrices are column-major.  F32 is accepted by alloc, upload, download and
 * gemm, and on the host by gemv, symv, syrk, potrf, potrs and potri; other
 * functions take F64 unless they say more.  Whether sizes fit the
 * integers of BLAS is checked here and nowhere else.  Every function returns a
 * status, and leaves a sentence on failure in the context. */
#ifndef LAPIS_BACKEND_H
#define LAPIS_BACKEND_H
#include "la/losses.h"
#include "solver/loop.h"

typedef struct la_array {
  lapis_dtype dtype; /* F64 or F32 */
  int64_t rows, cols, ld;
  void *data; /* of a device: an address that nobody can read, by which a view
               * says where in its array it begins */
  bool view;  /* borrows data: `free` leaves it alone */
  struct apart
      *own; /* a device's array that this is, or is part of (device_memory.h);
             * NULL: data are in the host's memory */
} la_array;

typedef enum la_trans { LA_N, LA_T } la_trans;

/* ---- penalties: a cost c(z, z0) for every entry z of a block of rows ------
 * of one kind (losses.h), multiplied by weight, and in a block of labels by
 * what the entry's column counts. */
typedef struct la_block {
  la_kind kind;
  int64_t first, rows; /* rows first .. first + rows - 1 of every column */
  double weight, gamma;
} la_block;
enum { LA_MAX_BLOCKS = 4 };
typedef struct la_penalty { /* phi(Z) = sum of weight c(z, z0) over blocks */
  int n_blocks;
  la_block block[LA_MAX_BLOCKS];
  la_array Z0;    /* m x n, NaN = not observed (ONES block: anything) */
  la_array times; /* 1 x n, above 0 where a label is observed; no data: 1 */
  bool zero_one;  /* labels are 0 and 1, not -1 and 1 */
} la_penalty;

#define LA_LABEL_CASE(with, KIND, name, bend) case LA_##KIND:
static inline bool la_is_label(int kind)
{
  switch (kind) {
    LA_LABEL_LOSSES(LA_LABEL_CASE, 0)
    return true;
  }
  return false;
}
/* What the columns of this block count; NULL: 1 each. */
static inline const la_array *la_times(const la_penalty *phi, const la_block *b)
{
  return phi->times.data != NULL && la_is_label(b->kind) ? &phi->times : NULL;
}

/* ---- sparse error: X with NaN where not observed -------------------------*/
typedef struct la_l1 {
  double t;       /* lambda / rho */
  double relax;   /* over-relaxation of the step */
  double rescale; /* rho / the rho of the next step */
} la_l1;
/* One step of the augmented Lagrangian of [RR16] Alg. 1, all arrays d x n. */
typedef struct la_alm {
  const la_array *X, *D, *F; /* F: the first d rows of D-hat */
  la_array *B, *G1, *G2, *Z; /* B = X - E */
  double lambda, mu1, mu2;
  double next1, next2; /* mu1, mu2 of the next iteration */
} la_alm;

typedef struct la la;
typedef struct la_backend {
  const char *name;
  const char *(*describe)(const la *h); /* "openblas Cooperlake" */
  /* memory; alloc zeroes */
  lapis_status (*alloc)(la *h, lapis_dtype t, int64_t rows, int64_t cols,
                        la_array *out);
  void (*free)(la *h, la_array *a);
  lapis_status (*upload)(la *h, const lapis_mat *from, la_array *to);
  lapis_status (*download)(la *h, const la_array *from, lapis_mat *to);
  /* products and factorisations */
  /* C = alpha op(A) op(B) + beta C */
  lapis_status (*gemm)(la *h, la_trans ta, la_trans tb, double alpha,
                       const la_array *A, const la_array *B, double beta,
                       la_array *C);
  /* y = alpha op(A) x + beta y, one column: reads A once, without gemm's
   * packing, and rounds otherwise than a column of gemm. */
  lapis_status (*gemv)(la *h, la_trans t, double alpha, const la_array *A,
                       const la_array *x, double beta, la_array *y);
  /* The same, A symmetric, of which one triangle may be read alone. */
  lapis_status (*symv)(la *h, double alpha, const la_array *A,
                       const la_array *x, double beta, la_array *y);
  /* C = A A' (LA_N) or A' A (LA_T), both triangles written */
  lapis_status (*syrk)(la *h, la_trans t, const la_array *A, la_array *C);
  /* Eigenvalues of symmetric C (destroyed; nothing above its diagonal counts)
   * above `above`, largest first, into values (host, room for n); vectors into
   * the first *count columns of Q (n x n), or none where Q is NULL.  above =
   * -INFINITY: all. */
  lapis_status (*eigh)(la *h, la_array *C, double above, double *values,
                       la_array *Q, int64_t *count);
  /* Thin SVD of A (m x n, destroyed), k = min(m, n): U m x k, s host k
   * descending, Vt k x n.  U and Vt both NULL: values only. */
  lapis_status (*svd)(la *h, la_array *A, la_array *U, double *s, la_array *Vt);
  /* A (m x k, m >= k) becomes an orthonormal basis of its range; R k x k may
   * be NULL. */
  lapis_status (*qr)(la *h, la_array *A, la_array *R);
  /* Cholesky: lower L in A (SPD, destroyed); then A X = B solved in place. */
  lapis_status (*potrf)(la *h, la_array *A);
  lapis_status (*potrs)(la *h, const la_array *L, la_array *B);
  /* L X = B solved in place, L from potrf: half of potrs. */
  lapis_status (*trsm)(la *h, const la_array *L, la_array *B);
  /* L, from potrf of A, becomes the inverse of A, both triangles. */
  lapis_status (*potri)(la *h, la_array *L);
  /* Y = A A'X (LA_N) or A'A X (LA_T), without the Gram matrix itself; X has few
   * columns.  The fast backend may read A once for both products. */
  lapis_status (*gram_times)(la *h, la_trans t, const la_array *A,
                             const la_array *X, la_array *Y);
  /* elementwise passes */
  /* B = alpha A + beta B (beta 0 never reads B) */
  lapis_status (*axpby)(la *h, double alpha, const la_array *A, double beta,
                        la_array *B);
  /* B_j = f_j A_w(j) + beta B_j of each column of B, f and w on the host, w
   * NULL: w(j) = j; of beta 0 B is never read and may be A, where w is NULL. */
  lapis_status (*axpby_cols)(la *h, const double *f, const int64_t *w,
                             const la_array *A, double beta, la_array *B);
  /* Row i of A times f_i; f (host) added to every column. */
  lapis_status (*scale_rows)(la *h, const double *f, la_array *A);
  lapis_status (*add_to_cols)(la *h, const double *f, la_array *A);
  /* A = value in every entry; to fill a row of A, give its view */
  lapis_status (*fill)(la *h, double value, la_array *A);
  /* A += f I, A square */
  lapis_status (*add_diagonal)(la *h, double f, la_array *A);
  lapis_status (*dot)(la *h, const la_array *A, const la_array *B, double *out);
  /* <A_j, B_j> of each column, into out (host) */
  lapis_status (*dot_cols)(la *h, const la_array *A, const la_array *B,
                           double *out);
  /* The half of a Douglas-Rachford step for min g(A) + phi(B), A = B, that
   * knows phi:  B <- prox_{phi/rho}(V);  W = 2B - V, from which the step on g
   * starts.  B on entry: that of the step before, near which the new one lies.
   * V, B and W do not overlap.
   * sums: |A - B_new|^2, |B_new - B_old|^2, |B_new|^2, |V - B_new|^2. */
  lapis_status (*reflect)(la *h, const la_penalty *phi, double rho,
                          const la_array *A, const la_array *V, la_array *B,
                          la_array *W, double sums[4]);
  /* B = prox_{phi/rho}(V); B may be V. */
  lapis_status (*prox)(la *h, const la_penalty *phi, double rho,
                       const la_array *V, la_array *B);
  lapis_status (*loss)(la *h, const la_penalty *phi, const la_array *Z,
                       double *out);
  /* A = Z - tau gradient(phi)(Z), 0 gradient where unobserved and on ONES */
  lapis_status (*gradient_step)(la *h, const la_penalty *phi, double tau,
                                const la_array *Z, la_array *A);
  /* Euclidean projection onto phi's constraints, block by block, in place. */
  lapis_status (*project)(la *h, const la_penalty *phi, la_array *Z);
  /* Moves each entry y of G to the nearest point of the domain of phi*, in
   * place: exactly 0 where z costs nothing, <= 0 on unobserved chi2 entries,
   * <= weight on observed ones, 0 <= -s y / weight <= 1 on labels,
   * whose weight is the block's times the column's. */
  lapis_status (*clamp)(la *h, const la_penalty *phi, la_array *G);
  /* out = phi*(scale G), G already clamped, 0 < scale <= 1. */
  lapis_status (*conjugate)(la *h, const la_penalty *phi, double scale,
                            const la_array *G, double *out);
  /* One Douglas-Rachford step for min g(A) + lambda |P_Omega(X - B)|_1, A = B:
   *   B = prox at S;  S += relax (A - B);  B = prox at the new S;
   *   S <- B + rescale (S - B);  W = 2 B - S, from which the next step on g
   *   starts.
   * sums: |A - B|^2, |B_new - B|^2, |B_new|^2, |S - B_new|^2 before rescaling,
   * |P_Omega(X - A)|_1, <B - S, X>. */
  lapis_status (*l1_step)(la *h, const la_l1 *p, const la_array *X,
                          const la_array *A, la_array *S, la_array *W,
                          double sums[6]);
  /* C = B - S = clamp(X - S, -t, t), 0 where X is not observed. */
  lapis_status (*l1_dual)(la *h, double t, const la_array *X, const la_array *S,
                          la_array *C);
  /* sums: |P_Omega(X - A)|_1 and <C, X> over Omega, the observed entries of X
   * (C NULL: 0). */
  lapis_status (*l1_sums)(la *h, const la_array *X, const la_array *A,
                          const la_array *C, double sums[2]);
  /* E = soft(X - D + G1/mu1, lambda/mu1), not shrunk where X is not observed;
   * G1 += mu1 (X - D - E); G2 += mu2 (F - D);
   * Z = (G1 + next1 (X - E) + G2) / (next1 + next2).
   * sums: |X - D - E|^2, |F - D|^2, |P_Omega(X - D)|_1. */
  lapis_status (*l1_alm)(la *h, const la_alm *p, double sums[3]);
} la_backend;

struct la {
  const la_backend *ops;
  lapis_ctx *ctx;
  int threads;
  /* Memory that a caller lends to eigh, svd and qr when it calls them in a loop
   * (a copy of this struct carries it); NULL: they allocate for each call. */
  double *scratch;
  int64_t scratch_count;
};

/* How many doubles of scratch are enough for every factorisation of a
 * rows x cols array, or of a square one of its smaller side. */
static inline int64_t la_scratch_count(int64_t rows, int64_t cols)
{
  int64_t k = rows < cols ? rows : cols;
  return rows * cols + 6 * k * k + 80 * (rows + cols) + 6000;
}

/* The backend the context asks for; LAPIS_EINVAL lists the known ones. */
lapis_status la_open(lapis_ctx *ctx, la *out);
/* The same for work on numbers in the host's memory: in a device's place the
 * host backend that stands beside it. */
lapis_status la_open_host(lapis_ctx *ctx, la *out);
/* A handle for such work beside one that is open. */
la la_beside(const la *h);
/* The methods that keep their state behind the table. */
extern const char la_methods_behind_the_seam[];
extern const la_backend la_reference, la_openblas;
/* By its name; NULL: there is none. */
const la_backend *la_named(const char *name);

/* ---- what solvers call most often ---------------------------------------*/
/* B = A */
static inline lapis_status la_copy(la *h, const la_array *A, la_array *B)
{
  return h->ops->axpby(h, 1, A, 0, B);
}
/* A = 0, even where it held NaN */
static inline lapis_status la_zero(la *h, la_array *A)
{
  return h->ops->fill(h, 0, A);
}
/* A *= f */
static inline lapis_status la_scale(la *h, double f, la_array *A)
{
  return h->ops->axpby(h, 0, A, f, A);
}
/* Column j of A times f_j */
static inline lapis_status la_scale_cols(la *h, const double *f, la_array *A)
{
  return h->ops->axpby_cols(h, f, NULL, A, 0, A);
}
/* A += f I */
static inline lapis_status la_add_diagonal(la *h, double f, la_array *A)
{
  return h->ops->add_diagonal(h, f, A);
}

/* ---- views ---------------------------------------------------------------*/
/* A view of columns first .. first + cols - 1. */
static inline la_array la_cols(const la_array *A, int64_t first, int64_t cols)
{
  size_t size = A->dtype == LAPIS_F64 ? sizeof(double) : sizeof(float);
  char *p = (char *)A->data + (size_t)(first * A->ld) * size;
  return (la_array){A->dtype, A->rows, cols, A->ld, p, true, A->own};
}
/* A view of rows first .. first + rows - 1. */
static inline la_array la_rows(const la_array *A, int64_t first, int64_t rows)
{
  size_t size = A->dtype == LAPIS_F64 ? sizeof(double) : sizeof(float);
  char *p = (char *)A->data + (size_t)first * size;
  return (la_array){A->dtype, rows, A->cols, A->ld, p, true, A->own};
}
/* The entries of A, whole and without gaps, in another shape. */
static inline la_array la_reshape(const la_array *A, int64_t rows, int64_t cols)
{
  return (la_array){A->dtype, rows, cols,  rows > 0 ? rows : 1,
                    A->data,  true, A->own};
}
/* A borrowed view of host doubles: for handles of la_open_host and la_beside.
 */
static inline la_array la_wrap(double *p, int64_t rows, int64_t cols)
{
  return (la_array){LAPIS_F64, rows, cols, rows > 0 ? rows : 1, p, true, NULL};
}
static inline la_array la_wrap_single(float *p, int64_t rows, int64_t cols)
{
  return (la_array){LAPIS_F32, rows, cols, rows > 0 ? rows : 1, p, true, NULL};
}
static inline lapis_mat la_as_mat(const la_array *A)
{
  return (lapis_mat){.dtype = A->dtype,
                     .rows = A->rows,
                     .cols = A->cols,
                     .ld = A->ld,
                     .val = A->data};
}

/* ---- what the host sees ---------------------------------------------------
 * Of host backends these are views, and cost nothing; a device transfers what
 * the view A covers, through memory that lives as long as its array. */
/* The numbers of A, to be read until A is written. */
lapis_status la_borrow(la *h, const la_array *A, lapis_mat *out);
/* A = what was borrowed, after it was written. */
lapis_status la_give_back(la *h, const lapis_mat *from, la_array *A);
/* p, rows x cols of the host, as an array of h: of host backends p itself; a
 * device has a copy, or room alone where not `full`.  h->ops->free ends it. */
lapis_status la_lend(la *h, const double *p, bool full, int64_t rows,
                     int64_t cols, la_array *out);
/* Its end: p = its numbers where status is no failure, which is returned. */
lapis_status la_return(la *h, lapis_status status, la_array *A, double *p);
/* syrk of the host's numbers, by the device that the context asks for where its
 * operations are worth the way there and back. */
lapis_status la_syrk_there(la *h, la_trans t, const la_array *A, la_array *C);
/* Whether h's arrays lie in the host's memory. */
bool la_is_host(const la *h);
/* A, whole columns of an array, summed over processes. */
lapis_status la_sum(la *h, la_array *A);
/* Makes A part of the checkpoint, from which a killed run goes on. */
void la_keep(loop *l, const char *name, const la_array *A);
/* Each process has its samples' columns of A. */
void la_keep_part(loop *l, const char *name, const la_array *A);
/* The same for data with missing entries (NaN). */
void la_keep_part_holes(loop *l, const char *name, const la_array *A);

#endif
