/* roml_case.h - roml solved, or refused. */
#ifndef LAPIS_ROML_CASE_H
#define LAPIS_ROML_CASE_H
#include "check.h"

typedef struct answer {
  lapis_ctx *ctx;
  lapis_solver *solver;
  lapis_mat match, inlier;
} answer;

static inline answer solve(const lapis_data *data,
                           const lapis_roml_settings *set)
{
  answer a = {.ctx = lapis_ctx_new()};
  if (lapis_roml_new(a.ctx, data, set, &a.solver) < 0 ||
      lapis_solve(a.solver) < 0)
    fail_msg("%s", lapis_ctx_error(a.ctx));
  lapis_result_get(a.solver, "match", &a.match);
  lapis_result_get(a.solver, "inlier", &a.inlier);
  return a;
}

static inline void drop(answer *a)
{
  lapis_solver_free(a->solver);
  lapis_ctx_free(a->ctx);
}

static inline void refuse(const lapis_data *data,
                          const lapis_roml_settings *set, lapis_status wanted,
                          const char *says)
{
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_solver *s;
  lapis_status got = lapis_roml_new(ctx, data, set, &s);
  check_refused(ctx, got, wanted, s, says);
  lapis_ctx_free(ctx);
}
#endif
