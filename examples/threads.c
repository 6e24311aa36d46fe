/* threads.c - two solves in two threads; one shows progress and is cancelled.
 *
 * A context belongs to one thread at a time; only lapis_ctx_cancel may be
 * called from any.  What a cancelled solve has found so far is there all the
 * same.
 *
 * It prints:
 *   one: solved
 *   two: cancelled
 */
#define _POSIX_C_SOURCE 200809L /* nanosleep */
#include <lapis/lapis.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

enum { FEATURES = 300, SAMPLES = 400, ENOUGH = 5 };

typedef struct job {
  const char *name;
  lapis_ctx *ctx;
  lapis_data data;
  bool endless;
  atomic_int iterations; /* so far: written by one thread, read by the other */
  lapis_status status;
} job;

/* Called by the solving thread, some ten times a second. */
static bool show(const lapis_progress *now, void *user)
{
  job *j = user;
  atomic_store(&j->iterations, (int)now->iter);
  return true; /* false would end the solve, too */
}

static void *work(void *user)
{
  job *j = user;
  lapis_rpca_settings set = lapis_rpca_defaults();
  lapis_solver *solver = NULL;
  if (j->endless) set.stop.tol = 0;
  set.stop.max_iters = 1000000000;
  j->status = lapis_rpca_new(j->ctx, &j->data, &set, &solver);
  if (j->status >= 0) j->status = lapis_solve(solver);
  lapis_solver_free(solver);
  return NULL;
}

int main(void)
{
  static double x[SAMPLES][FEATURES];
  job jobs[2] = {{.name = "one"}, {.name = "two", .endless = true}};
  pthread_t thread[2];
  for (int j = 0; j < SAMPLES; j++)
    for (int i = 0; i < FEATURES; i++)
      x[j][i] = sin(0.3 * i) * cos(0.7 * j) + ((i + 7 * j) % 19 == 0 ? 3 : 0) +
                sin(1e4 * sin(1.0 + i + 1e3 * j)); /* noise */
  for (int k = 0; k < 2; k++) {
    jobs[k].data.X = lapis_mat_f64(&x[0][0], FEATURES, SAMPLES);
    jobs[k].ctx = lapis_ctx_new();
    if (jobs[k].ctx == NULL || lapis_ctx_set(jobs[k].ctx, "threads", "1") < 0)
      return 1;
    lapis_ctx_on_progress(jobs[k].ctx, show, &jobs[k]);
  }
  for (int k = 0; k < 2; k++)
    if (pthread_create(&thread[k], NULL, work, &jobs[k]) != 0) return 1;
  /* a program with a window would look at its events here */
  while (atomic_load(&jobs[1].iterations) < ENOUGH)
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  lapis_ctx_cancel(jobs[1].ctx);
  for (int k = 0; k < 2; k++) {
    pthread_join(thread[k], NULL);
    printf("%s: %s\n", jobs[k].name, lapis_status_name(jobs[k].status));
    if (jobs[k].status < 0)
      fprintf(stderr, "%s\n", lapis_ctx_error(jobs[k].ctx));
    lapis_ctx_free(jobs[k].ctx);
  }
  return 0;
}
