/* plain_case.h - a problem of N samples of D features, K labels each, that is
 * drawn by a test which has defined these, and what becomes of it. */
#ifndef LAPIS_PLAIN_CASE_H
#define LAPIS_PLAIN_CASE_H
#include "check.h"

typedef struct problem {
  lapis_ctx *ctx;
  double X[D * N], Y[K * N];
  int truth[N];
  lapis_data data;
} problem;

static problem *empty_problem(void)
{
  problem *p = calloc(1, sizeof *p);
  assert_non_null(p);
  p->ctx = lapis_ctx_new();
  p->data.X = lapis_mat_f64(p->X, D, N);
  p->data.Y = lapis_mat_f64(p->Y, 1, N);
  return p;
}

/* What a constructor has made, or why it made nothing. */
static lapis_solver *solved(problem *p, lapis_status status, lapis_solver *s)
{
  if (status < 0 || lapis_solve(s) != 0)
    fail_msg("%s", lapis_ctx_error(p->ctx));
  return s;
}

static void discard(problem *p, lapis_solver *s)
{
  lapis_solver_free(s);
  lapis_ctx_free(p->ctx);
  free(p);
}
#endif
