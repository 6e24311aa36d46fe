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

/* Squares of a chess board in two features; further ones say nothing. */
static inline problem *chess_board(int known)
{
  problem *p = empty_problem();
  uint64_t seed = 9;
  for (int j = 0; j < N; j++) {
    for (int i = 0; i < D; i++) p->X[D * j + i] = 2 * check_uniform(&seed) - 1;
    p->truth[j] = (p->X[D * j] > 0) != (p->X[D * j + 1] > 0);
    p->Y[j] = j < known ? p->truth[j] : NAN;
  }
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
