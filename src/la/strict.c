/* strict.c - the backend that keeps the others' promise, for tests.
 *
 * It computes as openblas does, but every array lies in pages of its own that
 * are unreadable outside the functions of the table: whoever follows a host
 * pointer into the state of a solver crashes here, as it would go wrong on a
 * device, and hears which array it was.  Memory of the host that is handed to
 * the table is refused, as a device must. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "la/apart.h"
#include "la/host.h"

/* ---- the crash, with a name ----------------------------------------------*/
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static apart *known; /* every array, by its `next`: the handler's */
static struct sigaction before;

/* Says which array was read, and lets the crash happen. */
static void crash(int signal, siginfo_t *info, void *context)
{
  const char *at = info->si_addr;
  char text[160];
  (void)context;
  for (const apart *a = known; a != NULL; a = a->next) {
    const char *p = a->all.data;
    if (at < p || at >= p + a->bytes) continue;
    int n = snprintf(text, sizeof text,
                     "lapis: strict: a host pointer into a %lld x %lld array "
                     "was followed, at byte %lld\n",
                     (long long)a->all.rows, (long long)a->all.cols,
                     (long long)(at - p));
    if (write(2, text, (size_t)n) < 0) break;
  }
  (void)sigaction(signal, &before, NULL);
}

static void watch(void)
{
  struct sigaction own = {.sa_sigaction = crash, .sa_flags = SA_SIGINFO};
  (void)sigaction(SIGSEGV, &own, &before);
}

/* ---- memory -------------------------------------------------------------*/
static lapis_status alloc(la *h, lapis_dtype t, int64_t rows, int64_t cols,
                          la_array *out)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  (void)pthread_once(&once, watch);
  TRY(apart_new(h, t, rows, cols, out));
  (void)pthread_mutex_lock(&lock);
  out->own->next = known;
  known = out->own;
  (void)pthread_mutex_unlock(&lock);
  return LAPIS_OK;
}

static void release(la *h, la_array *a)
{
  (void)h;
  if (!a->view && a->own != NULL) {
    (void)pthread_mutex_lock(&lock);
    apart **at = &known;
    while (*at != a->own) at = &(*at)->next;
    *at = a->own->next;
    (void)pthread_mutex_unlock(&lock);
    apart_free(a->own);
  }
  *a = (la_array){.dtype = a->dtype, .ld = 1};
}

/* ---- the doors ----------------------------------------------------------*/
typedef const la_array *operands[8];

static lapis_status protect(const la_array *A, int how)
{
  return mprotect(A->own->all.data, A->own->bytes, how) == 0 ? LAPIS_OK
                                                             : LAPIS_ENOMEM;
}

static void shut(const operands used)
{
  for (int i = 0; i < 8; i++)
    if (used[i] != NULL) (void)protect(used[i], PROT_NONE);
}

/* The operands, NULL among them, readable; *inner: who computes. */
static lapis_status open_doors(la *h, const operands used, la *inner)
{
  *inner = la_beside(h);
  for (int i = 0; i < 8; i++) {
    if (used[i] == NULL) continue;
    if (used[i]->own == NULL) return apart_refuse(h);
  }
  for (int i = 0; i < 8; i++)
    if (used[i] != NULL && protect(used[i], PROT_READ | PROT_WRITE) < 0) {
      shut(used);
      return lapis_fail(h->ctx, LAPIS_ENOMEM,
                        "la: strict: too many arrays for this system");
    }
  return LAPIS_OK;
}

#define THROUGH(call, ...)               \
  operands used = {__VA_ARGS__};         \
  la inner;                              \
  TRY(open_doors(h, used, &inner));      \
  lapis_status status = inner.ops->call; \
  shut(used);                            \
  return status

static lapis_status upload(la *h, const lapis_mat *from, la_array *to)
{
  THROUGH(upload(&inner, from, to), to);
}
static lapis_status download(la *h, const la_array *from, lapis_mat *to)
{
  THROUGH(download(&inner, from, to), from);
}
static lapis_status gemm(la *h, la_trans ta, la_trans tb, double alpha,
                         const la_array *A, const la_array *B, double beta,
                         la_array *C)
{
  THROUGH(gemm(&inner, ta, tb, alpha, A, B, beta, C), A, B, C);
}
static lapis_status gemv(la *h, la_trans t, double alpha, const la_array *A,
                         const la_array *x, double beta, la_array *y)
{
  THROUGH(gemv(&inner, t, alpha, A, x, beta, y), A, x, y);
}
static lapis_status syrk(la *h, la_trans t, const la_array *A, la_array *C)
{
  THROUGH(syrk(&inner, t, A, C), A, C);
}
static lapis_status eigh(la *h, la_array *C, double above, double *values,
                         la_array *Q, int64_t *count)
{
  THROUGH(eigh(&inner, C, above, values, Q, count), C, Q);
}
static lapis_status svd(la *h, la_array *A, la_array *U, double *s,
                        la_array *Vt)
{
  THROUGH(svd(&inner, A, U, s, Vt), A, U, Vt);
}
static lapis_status qr(la *h, la_array *A, la_array *R)
{
  THROUGH(qr(&inner, A, R), A, R);
}
static lapis_status potrf(la *h, la_array *A)
{
  THROUGH(potrf(&inner, A), A);
}
static lapis_status potrs(la *h, const la_array *L, la_array *B)
{
  THROUGH(potrs(&inner, L, B), L, B);
}
static lapis_status trsm(la *h, const la_array *L, la_array *B)
{
  THROUGH(trsm(&inner, L, B), L, B);
}
static lapis_status potri(la *h, la_array *L)
{
  THROUGH(potri(&inner, L), L);
}
static lapis_status gram_times(la *h, la_trans t, const la_array *A,
                               const la_array *X, la_array *Y)
{
  THROUGH(gram_times(&inner, t, A, X, Y), A, X, Y);
}
static lapis_status axpby(la *h, double alpha, const la_array *A, double beta,
                          la_array *B)
{
  THROUGH(axpby(&inner, alpha, A, beta, B), A, B);
}
static lapis_status scale_cols(la *h, const double *f, la_array *A)
{
  THROUGH(scale_cols(&inner, f, A), A);
}
static lapis_status scale_rows(la *h, const double *f, la_array *A)
{
  THROUGH(scale_rows(&inner, f, A), A);
}
static lapis_status add_to_cols(la *h, const double *f, la_array *A)
{
  THROUGH(add_to_cols(&inner, f, A), A);
}
static lapis_status fill(la *h, double value, la_array *A)
{
  THROUGH(fill(&inner, value, A), A);
}
static lapis_status add_diagonal(la *h, double f, la_array *A)
{
  THROUGH(add_diagonal(&inner, f, A), A);
}
static lapis_status dot(la *h, const la_array *A, const la_array *B,
                        double *out)
{
  THROUGH(dot(&inner, A, B, out), A, B);
}
static lapis_status reflect(la *h, const la_penalty *phi, double rho,
                            const la_array *A, const la_array *V, la_array *B,
                            la_array *W, double sums[4])
{
  THROUGH(reflect(&inner, phi, rho, A, V, B, W, sums), &phi->Z0, A, V, B, W);
}
static lapis_status prox(la *h, const la_penalty *phi, double rho,
                         const la_array *V, la_array *B)
{
  THROUGH(prox(&inner, phi, rho, V, B), &phi->Z0, V, B);
}
static lapis_status loss(la *h, const la_penalty *phi, const la_array *Z,
                         double *out)
{
  THROUGH(loss(&inner, phi, Z, out), &phi->Z0, Z);
}
static lapis_status gradient_step(la *h, const la_penalty *phi, double tau,
                                  const la_array *Z, la_array *A)
{
  THROUGH(gradient_step(&inner, phi, tau, Z, A), &phi->Z0, Z, A);
}
static lapis_status project(la *h, const la_penalty *phi, la_array *Z)
{
  THROUGH(project(&inner, phi, Z), &phi->Z0, Z);
}
static lapis_status clamp(la *h, const la_penalty *phi, la_array *G)
{
  THROUGH(clamp(&inner, phi, G), &phi->Z0, G);
}
static lapis_status conjugate(la *h, const la_penalty *phi, double scale,
                              const la_array *G, double *out)
{
  THROUGH(conjugate(&inner, phi, scale, G, out), &phi->Z0, G);
}
static lapis_status l1_step(la *h, const la_l1 *p, const la_array *X,
                            const la_array *A, la_array *S, la_array *W,
                            double sums[6])
{
  THROUGH(l1_step(&inner, p, X, A, S, W, sums), X, A, S, W);
}
static lapis_status l1_dual(la *h, double t, const la_array *X,
                            const la_array *S, la_array *C)
{
  THROUGH(l1_dual(&inner, t, X, S, C), X, S, C);
}
static lapis_status l1_sums(la *h, const la_array *X, const la_array *A,
                            const la_array *C, double sums[2])
{
  THROUGH(l1_sums(&inner, X, A, C, sums), X, A, C);
}
static lapis_status l1_alm(la *h, const la_alm *p, double sums[3])
{
  THROUGH(l1_alm(&inner, p, sums), p->X, p->D, p->F, p->B, p->G1, p->G2, p->Z);
}

static const char *describe(const la *h)
{
  (void)h;
  return "strict";
}

const la_backend la_strict = {
    .name = "strict",
    .describe = describe,
    .alloc = alloc,
    .free = release,
    .upload = upload,
    .download = download,
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
