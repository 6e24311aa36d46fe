/* passes.c - the elementwise passes over a penalty, fast and on the host.
 *
 * Every pass runs over columns, and inside a column over blocks; what is done
 * to an entry is chosen once a block, outside the inner loop (losses.h).  The
 * drivers take that choice as a constant function pointer and must be inlined
 * with it: a call an entry would cost more than most of the work. */
#include <string.h>

#include "la/host/chi2.h"
#include "la/host/host.h"
#include "la/host/simplex.h"
#include "la/losses.h"
#include "la/parts.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

typedef double (*entry_fn)(int kind, double x, double z0, const entry_par *p);

/* One block of one column. */
typedef struct span {
  int64_t n;
  const double *z0, *in;
  double *out;
  entry_par par;
} span;

static span make_span(const la_penalty *phi, int k, int64_t j,
                      const la_array *in, const la_array *out)
{
  const la_block *b = &phi->block[k];
  span s = {.n = b->rows,
            .z0 = host_col(&phi->Z0, j) + b->first,
            .in = host_col(in, j) + b->first,
            .out = out == NULL ? NULL : host_col(out, j) + b->first,
            .par = {.weight = host_weight(phi, b, j),
                    .gamma = b->gamma,
                    .scale = 1,
                    .zero_one = phi->zero_one}};
  return s;
}

/* The same loop once for each kind. */
#define MAP(with, KIND, name, bend) \
  case LA_##KIND:                   \
    map_kind(s, LA_##KIND, f);      \
    break;
#define SUM(with, KIND, name, bend) \
  case LA_##KIND:                   \
    return add_kind(s, LA_##KIND, f);

ALWAYS_INLINE void map_kind(const span *s, int kind, entry_fn f)
{
  for (int64_t i = 0; i < s->n; i++)
    s->out[i] = f(kind, s->in[i], s->z0[i], &s->par);
}

ALWAYS_INLINE void map_span(const span *s, la_kind kind, entry_fn f)
{
  switch (kind) {
    LA_LOSSES(MAP, 0)
  }
}

ALWAYS_INLINE double add_kind(const span *s, int kind, entry_fn f)
{
  double sum = 0;
  for (int64_t i = 0; i < s->n; i++)
    sum += f(kind, s->in[i], s->z0[i], &s->par);
  return sum;
}

ALWAYS_INLINE double sum_span(const span *s, la_kind kind, entry_fn f)
{
  switch (kind) {
    LA_LOSSES(SUM, 0)
  }
  return 0;
}

/* Runs f(phi, j, arguments) for every column j, threaded. */
typedef struct pass {
  const la_penalty *phi;
  const la_array *in;
  la_array *out;
  double factor; /* rho, tau or scale */
} pass;
typedef void (*map_fn)(const span *s, la_kind kind, double factor);
typedef double (*sum_fn)(const span *s, la_kind kind, double factor);

static void run_map(la *h, const pass *q, map_fn f)
{
  int64_t n = q->in->cols;
#pragma omp parallel for num_threads(parts_team(h, n * q->in->rows)) \
    schedule(dynamic)
  for (int p = 0; p < PARTS; p++)
    for (int64_t j = part_begin(n, p); j < part_begin(n, p + 1); j++)
      for (int k = 0; k < q->phi->n_blocks; k++) {
        span s = make_span(q->phi, k, j, q->in, q->out);
        if (s.n > 0) f(&s, q->phi->block[k].kind, q->factor);
      }
}

/* Columns are summed one by one before they meet: the partial sums stay near
 * each other in size. */
static double part_sum(const pass *q, int p, sum_fn f)
{
  int64_t n = q->in->cols;
  double sum = 0;
  for (int64_t j = part_begin(n, p); j < part_begin(n, p + 1); j++)
    for (int k = 0; k < q->phi->n_blocks; k++) {
      span s = make_span(q->phi, k, j, q->in, NULL);
      if (s.n > 0) sum += f(&s, q->phi->block[k].kind, q->factor);
    }
  return sum;
}

static double run_sum(la *h, const pass *q, sum_fn f)
{
  double part[PARTS];
#pragma omp parallel for num_threads(parts_team(h, q->in->cols * q->in->rows)) \
    schedule(dynamic)
  for (int p = 0; p < PARTS; p++) part[p] = part_sum(q, p, f);
  return parts_sum(part);
}

/* ---- the step on phi ----------------------------------------------------*/

typedef struct reflect_span {
  int64_t n;
  const double *a, *z0, *v;
  double *b, *w;
  entry_par par;
} reflect_span;

/* Adds one entry's share, given its new B. */
ALWAYS_INLINE void reflect_entry(const reflect_span *s, int64_t i, double z,
                                 double sums[4])
{
  e_reflect(s->a[i], s->v[i], z, &s->b[i], &s->w[i], sums);
}

ALWAYS_INLINE void reflect_kind(const reflect_span *s, int kind, double sums[4])
{
  for (int64_t i = 0; i < s->n; i++)
    reflect_entry(s, i, e_prox(kind, s->v[i], s->z0[i], &s->par), sums);
}

/* The two that work on many entries at once; W carries B meanwhile. */
ALWAYS_INLINE void reflect_chi2(const reflect_span *s, bool simplex,
                                double sums[4])
{
  if (simplex)
    simplex_prox(s->n, s->v, s->z0, s->par.t, s->b, s->w);
  else
    chi2_prox(s->n, s->v, s->z0, s->par.t, s->w);
  for (int64_t i = 0; i < s->n; i++) reflect_entry(s, i, s->w[i], sums);
}

#define REFLECT(with, KIND, name, bend) \
  case LA_##KIND:                       \
    reflect_kind(s, LA_##KIND, local);  \
    break;
static void reflect_block(const reflect_span *s, la_kind kind, double sums[4])
{
  double local[4] = {0, 0, 0, 0};
  if (kind == LA_CHI2 || kind == LA_CHI2_SIMPLEX)
    reflect_chi2(s, kind == LA_CHI2_SIMPLEX, local);
  else
    switch (kind) {
      LA_LOSSES(REFLECT, 0)
    }
  for (int c = 0; c < 4; c++) sums[c] += local[c];
}

typedef struct reflect_pass {
  const la_penalty *phi;
  double rho;
  const la_array *A, *V;
  la_array *B, *W;
} reflect_pass;

static void reflect_column(const reflect_pass *q, int64_t j, double sums[4])
{
  for (int k = 0; k < q->phi->n_blocks; k++) {
    const la_block *b = &q->phi->block[k];
    double weight = host_weight(q->phi, b, j);
    reflect_span s = {
        .n = b->rows,
        .a = host_col(q->A, j) + b->first,
        .z0 = host_col(&q->phi->Z0, j) + b->first,
        .v = host_col(q->V, j) + b->first,
        .b = host_col(q->B, j) + b->first,
        .w = host_col(q->W, j) + b->first,
        .par = {weight / q->rho, weight, b->gamma, 1, q->phi->zero_one}};
    if (s.n > 0) reflect_block(&s, b->kind, sums);
  }
}

lapis_status host_reflect(la *h, const la_penalty *phi, double rho,
                          const la_array *A, const la_array *V, la_array *B,
                          la_array *W, double sums[4])
{
  TRY(host_check_penalty(h, "reflect", phi, A));
  TRY(host_check_shape(h, "reflect", V, A->rows, A->cols));
  TRY(host_check_shape(h, "reflect", B, A->rows, A->cols));
  TRY(host_check_shape(h, "reflect", W, A->rows, A->cols));
  reflect_pass q = {phi, rho, A, V, B, W};
  double part[PARTS][4] = {{0}};
#pragma omp parallel for num_threads(parts_team(h, A->rows * A->cols)) \
    schedule(dynamic)
  for (int p = 0; p < PARTS; p++) {
    double local[4] = {0, 0, 0, 0};
    int64_t end = part_begin(A->cols, p + 1);
    for (int64_t j = part_begin(A->cols, p); j < end; j++)
      reflect_column(&q, j, local);
    memcpy(part[p], local, sizeof local);
  }
  for (int c = 0; c < 4; c++) sums[c] = 0;
  for (int p = 0; p < PARTS; p++)
    for (int c = 0; c < 4; c++) sums[c] += part[p][c];
  return LAPIS_OK;
}

/* ---- prox ---------------------------------------------------------------*/

static void simplex_map(const span *s, const double *z0, double t)
{
  simplex_root r = simplex_solve(s->n, s->in, z0, t);
  simplex_fill(&r, s->n, s->in, z0, t, s->out);
}

static void prox_block(const span *given, la_kind kind, double rho)
{
  span s = *given;
  s.par.t = s.par.weight / rho;
  if (kind == LA_CHI2)
    chi2_prox(s.n, s.in, s.z0, s.par.t, s.out);
  else if (kind == LA_CHI2_SIMPLEX)
    simplex_map(&s, s.z0, s.par.t);
  else
    map_span(&s, kind, e_prox);
}

lapis_status host_prox(la *h, const la_penalty *phi, double rho,
                       const la_array *V, la_array *B)
{
  TRY(host_check_penalty(h, "prox", phi, V));
  TRY(host_check_shape(h, "prox", B, V->rows, V->cols));
  run_map(h, &(pass){phi, V, B, rho}, prox_block);
  return LAPIS_OK;
}

/* ---- loss ---------------------------------------------------------------*/

static double loss_block(const span *s, la_kind kind, double unused)
{
  (void)unused;
  return s->par.weight > 0 ? s->par.weight * sum_span(s, kind, e_loss) : 0;
}

lapis_status host_loss(la *h, const la_penalty *phi, const la_array *Z,
                       double *out)
{
  TRY(host_check_penalty(h, "loss", phi, Z));
  *out = run_sum(h, &(pass){phi, Z, NULL, 1}, loss_block);
  return LAPIS_OK;
}

/* ---- gradient step ------------------------------------------------------*/

static void step_block(const span *given, la_kind kind, double tau)
{
  span s = *given;
  s.par.t = s.par.weight * tau;
  map_span(&s, kind, e_step);
}

lapis_status host_gradient_step(la *h, const la_penalty *phi, double tau,
                                const la_array *Z, la_array *A)
{
  TRY(host_check_penalty(h, "gradient_step", phi, Z));
  TRY(host_check_shape(h, "gradient_step", A, Z->rows, Z->cols));
  run_map(h, &(pass){phi, Z, A, tau}, step_block);
  return LAPIS_OK;
}

/* ---- projection and clamping --------------------------------------------*/

static void project_block(const span *s, la_kind kind, double unused)
{
  (void)unused;
  if (kind == LA_CHI2_SIMPLEX)
    simplex_map(s, NULL, 0);
  else
    map_span(s, kind, e_project);
}

lapis_status host_project(la *h, const la_penalty *phi, la_array *Z)
{
  TRY(host_check_penalty(h, "project", phi, Z));
  run_map(h, &(pass){phi, Z, Z, 1}, project_block);
  return LAPIS_OK;
}

static void clamp_block(const span *s, la_kind kind, double unused)
{
  (void)unused;
  map_span(s, kind, e_clamp);
}

lapis_status host_clamp(la *h, const la_penalty *phi, la_array *G)
{
  TRY(host_check_penalty(h, "clamp", phi, G));
  run_map(h, &(pass){phi, G, G, 1}, clamp_block);
  return LAPIS_OK;
}

/* ---- conjugate ----------------------------------------------------------*/

static double conjugate_block(const span *given, la_kind kind, double scale)
{
  span s = *given;
  s.par.scale = scale;
  if (kind == LA_CHI2_SIMPLEX)
    return simplex_conjugate(s.n, s.in, s.z0, s.par.weight, scale);
  return sum_span(&s, kind, e_conj);
}

lapis_status host_conjugate(la *h, const la_penalty *phi, double scale,
                            const la_array *G, double *out)
{
  TRY(host_check_penalty(h, "conjugate", phi, G));
  *out = run_sum(h, &(pass){phi, G, NULL, scale}, conjugate_block);
  return LAPIS_OK;
}
