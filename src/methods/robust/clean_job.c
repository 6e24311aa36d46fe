/* clean_job.c - a batch to clean: plain, or with what is covered found first.
 *
 * Refill (ours): a covered block is no sparse error.  Each round cleans every
 * sample on the entries not yet found covered, with a weight of 2 w first and
 * 4 w later, because fewer entries are left to be wrong; then an entry is
 * covered where D z misses it by more than tau. */
#include <math.h>
#include <string.h>

#include "mat/mat.h"
#include "methods/robust/robust.h"

/* z of x / unit in D / size is z size / unit; the weight becomes w size, and
 * that divided by unit where the form is nuclear, of which one term has x
 * twice.
 */
static lapis_status set_units(clean_job *job, const rr_basis *from)
{
  rr_basis *b = &job->basis;
  int64_t count = from->d * from->r;
  *b = *from;
  job->size = from->r > 0 ? mat_unit_of(from->sigma[0]) : 1;
  if (!(job->size < 1 || job->size > 1)) return LAPIS_OK;
  b->K = arena_reals(&job->arena, count);
  b->sigma = arena_reals(&job->arena, from->r);
  TRY(arena_status(&job->arena));
  memcpy(b->K, from->K, (size_t)count * sizeof *b->K);
  memcpy(b->sigma, from->sigma, (size_t)from->r * sizeof *b->sigma);
  mat_multiply(b->K, count, 1 / job->size);
  mat_multiply(b->sigma, from->r, 1 / job->size);
  b->nuclear /= job->size;
  return LAPIS_OK;
}

lapis_status clean_job_new(la *h, const rr_basis *basis, const lapis_mat *X,
                           const clean_options *opt, clean_job *job)
{
  int64_t count = X->rows * X->cols;
  if (opt->joint && base_ranks(h->ctx) > 1)
    return lapis_fail(h->ctx, LAPIS_EINVAL,
                      "--joint is not divided among processes; leave it out");
  *job = (clean_job){
      .refill = opt->refill, .tau = opt->tau, .arena = {.ctx = h->ctx}};
  arena *a = &job->arena;
  job->X = arena_reals(a, count);
  job->low_rank = arena_reals(a, count);
  job->sparse = arena_reals(a, count);
  if (opt->refill > 0) job->filled = arena_reals(a, count);
  if (opt->certificate) job->dual = arena_reals(a, count);
  TRY(arena_status(a));
  TRY(set_units(job, basis));
  TRY(cleaner_new(h, &job->basis, X->cols, opt->joint, &job->c));
  mat_to_f64(X, job->X, X->rows);
  TRY(mat_unit(NULL, job->X, count, &job->unit));
  job->c.nuclear = opt->nuclear;
  job->c.scale = job->unit / job->size * (opt->nuclear ? job->unit : 1);
  return LAPIS_OK;
}

void clean_job_free(clean_job *job)
{
  cleaner_free(&job->c);
  arena_free(&job->arena);
  *job = (clean_job){.X = NULL};
}

/* X where D z comes within tau of it, else NaN. */
static void cover(clean_job *job, int64_t count)
{
  double tau = job->tau / job->unit;
  for (int64_t k = 0; k < count; k++) {
    double x = job->X[k];
    job->filled[k] = fabs(x - job->low_rank[k]) <= tau ? x : NAN;
  }
}

/* A sample of which nothing is left is taken whole again. */
static void restore(clean_job *job, int64_t d, int64_t n)
{
  for (int64_t j = 0; j < n; j++) {
    int64_t i = 0;
    while (i < d && isnan(job->filled[j * d + i])) i++;
    for (int64_t k = 0; i == d && k < d; k++)
      job->filled[j * d + k] = job->X[j * d + k];
  }
}

static lapis_status run_rounds(clean_job *job, double weight, loop *l,
                               double tol)
{
  cleaner *c = &job->c;
  int64_t count = c->d * c->n;
  lapis_mat masked = lapis_mat_f64(job->filled, c->d, c->n);
  bool resumed;
  for (int64_t k = 0; k < count; k++) job->filled[k] = job->X[k];
  job->round = 0;
  loop_keep_whole(l, "round", &job->round, 1, 0, job->refill);
  loop_keep_holes(l, "filled", job->filled, count);
  TRY(loop_resume(l, &resumed));
  for (; job->round < job->refill; job->round++) {
    int64_t round = job->round;
    loop_set_stage(l, round);
    TRY(cleaner_run(c, &masked, (round == 0 ? 2 : 4) * weight, l, tol));
    TRY(cleaner_read(c, job->low_rank, job->coefficients, job->dual));
    cover(job, count);
    if (round + 1 < job->refill) restore(job, c->d, c->n);
  }
  rr_doubt_tau(c->h->ctx, job->X, job->low_rank, count, job->tau / job->unit);
  for (int64_t k = 0; k < count; k++)
    if (isnan(job->filled[k])) job->filled[k] = job->low_rank[k];
  return LAPIS_OK;
}

static void restore_units(clean_job *job)
{
  cleaner *c = &job->c;
  int64_t count = c->d * c->n;
  double *all[] = {job->X, job->low_rank, job->sparse, job->filled};
  for (int i = 0; i < 4; i++) mat_multiply(all[i], count, job->unit);
  mat_multiply(job->coefficients, c->basis->n * c->n, job->unit / job->size);
  mat_multiply(job->dual, count, 1 / job->size);
  c->info.objective *= c->scale;
  c->info.dual *= c->scale;
}

/* As large as the dictionary has samples: only where they are asked for. */
static lapis_status take_coefficients(clean_job *job, bool brief)
{
  if (brief || job->coefficients != NULL) return LAPIS_OK;
  job->coefficients = arena_reals(&job->arena, job->basis.n * job->c.n);
  return arena_status(&job->arena);
}

lapis_status clean_job_run(clean_job *job, lapis_solver *s, double weight,
                           double tol)
{
  cleaner *c = &job->c;
  loop *l = &s->loop;
  TRY(take_coefficients(job, s->brief));
  lapis_mat X = lapis_mat_f64(job->X, c->d, c->n);
  mat_multiply(job->X, c->d * c->n, 1 / job->unit);
  weight *= job->size / (c->nuclear ? job->unit : 1);
  if (job->refill > 0) {
    TRY(run_rounds(job, weight, l, tol));
  } else {
    TRY(cleaner_run(c, &X, weight, l, tol));
    TRY(cleaner_read(c, job->low_rank, job->coefficients, job->dual));
  }
  rr_residual(job->X, job->low_rank, c->d * c->n, job->sparse);
  restore_units(job);
  return LAPIS_OK;
}

void clean_job_publish(clean_job *job, lapis_solver *s)
{
  const cleaner *c = &job->c;
  solver_publish(s, "low_rank", lapis_mat_f64(job->low_rank, c->d, c->n));
  solver_publish(s, "sparse", lapis_mat_f64(job->sparse, c->d, c->n));
  if (job->coefficients != NULL)
    solver_publish(s, "coefficients",
                   lapis_mat_f64(job->coefficients, c->basis->n, c->n));
  if (job->filled != NULL)
    solver_publish(s, "filled", lapis_mat_f64(job->filled, c->d, c->n));
  if (job->dual != NULL)
    solver_publish(s, "dual", lapis_mat_f64(job->dual, c->d, c->n));
  s->info.objective = c->info.objective;
  s->info.dual = c->info.dual;
  s->info.gap = c->info.gap;
  s->info.rank = c->info.rank;
  if (c->svt != NULL) s->info.svd_seconds = op_svt_seconds(c->svt);
}
