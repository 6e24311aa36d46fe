/* Two contexts in two threads know nothing of each other: each answer has the
 * bits of the run alone.  tools/check-threads runs this under Helgrind. */
#include <pthread.h>

#include "mc_problem.h"

enum { KINDS = 2, TIMES = 6, FEATURES = 8, LABELS = 2, SAMPLES = 20 };
enum { COUNT = FEATURES * SAMPLES, SCORES = LABELS * SAMPLES };

typedef struct answer { /* of a method: features x samples, labels x samples */
  double low_rank[COUNT], scores[SCORES];
  double objective;
} answer;

typedef struct worker {
  problem p[KINDS];
  answer alone[KINDS], beside[KINDS][TIMES];
  int first; /* the method that it begins with */
  bool failed;
} worker;

static lapis_status make_solver(lapis_ctx *ctx, const problem *p, int kind,
                                lapis_solver **out)
{
  lapis_data data = p->data;
  if (kind == 0) {
    lapis_mc_settings set = lapis_mc_defaults();
    set.lambda = 1;
    set.mu = 1e-3;
    set.stop.max_iters = 200;
    return lapis_mc_new(ctx, &data, &set, out);
  }
  lapis_rpca_settings set = lapis_rpca_defaults();
  set.stop.max_iters = 200;
  data.Y = (lapis_mat){.rows = 0};
  return lapis_rpca_new(ctx, &data, &set, out);
}

/* cmocka judges in its own thread alone: here a failure is handed back. */
static bool run(const problem *p, int kind, answer *to)
{
  lapis_mat low_rank, scores;
  lapis_solver *s = NULL;
  lapis_ctx *ctx = lapis_ctx_new();
  memset(to, 0, sizeof *to);
  bool ok = ctx != NULL && lapis_ctx_set(ctx, "threads", "1") >= 0 &&
            lapis_ctx_set(ctx, "deterministic", "true") >= 0 &&
            make_solver(ctx, p, kind, &s) >= 0 && lapis_solve(s) >= 0 &&
            lapis_result_get(s, "low_rank", &low_rank) >= 0;
  if (ok) memcpy(to->low_rank, low_rank.val, sizeof to->low_rank);
  if (ok) to->objective = lapis_result_info(s)->objective;
  if (ok && kind == 0) {
    ok = lapis_result_get(s, "scores", &scores) >= 0;
    if (ok) memcpy(to->scores, scores.val, sizeof to->scores);
  }
  lapis_solver_free(s);
  lapis_ctx_free(ctx);
  return ok;
}

static void *work(void *of)
{
  worker *w = of;
  for (int t = 0; t < TIMES; t++)
    for (int k = 0; k < KINDS; k++) {
      int kind = (w->first + k) % KINDS;
      if (!run(&w->p[kind], kind, &w->beside[kind][t])) w->failed = true;
    }
  return NULL;
}

static void each_gives_the_bits_of_the_run_alone(void **state)
{
  worker *w = calloc(2, sizeof *w);
  pthread_t thread[2];
  assert_non_null(w);
  for (int i = 0; i < 2; i++) {
    w[i].first = i;
    for (int k = 0; k < KINDS; k++) {
      w[i].p[k] =
          make(FEATURES, LABELS, SAMPLES, 0.2, false, 3 + 2 * (uint64_t)i);
      assert_true(run(&w[i].p[k], k, &w[i].alone[k]));
      assert_true(w[i].alone[k].objective > 0);
    }
  }
  for (int i = 0; i < 2; i++)
    assert_int_equal(pthread_create(&thread[i], NULL, work, &w[i]), 0);
  for (int i = 0; i < 2; i++)
    assert_int_equal(pthread_join(thread[i], NULL), 0);
  for (int i = 0; i < 2; i++) {
    assert_false(w[i].failed);
    for (int k = 0; k < KINDS; k++) {
      for (int t = 0; t < TIMES; t++)
        assert_memory_equal(&w[i].beside[k][t], &w[i].alone[k], sizeof(answer));
      discard(&w[i].p[k]);
    }
  }
  free(w);
}

int test_two_contexts(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_gives_the_bits_of_the_run_alone),
  };
  return run_cases(tests, NULL, NULL);
}
