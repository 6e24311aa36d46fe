/* classes.c - one class against the rest by several processes:
 * the bits of one, wherever the run ends. */
#include "files.h"
#include "svmplus_case.h"

enum { N = 90, D = 8, P = 3, CLASSES = 4 };

typedef struct problem {
  double X[D * N], P[P * N], Y[N], weight[N];
  lapis_data data;
} problem;

/* Classes about four points; P tells how far a sample is from its own. */
static void make(problem *p, bool privileged)
{
  uint64_t seed = 11;
  for (int j = 0; j < N; j++) {
    double far = 0;
    p->Y[j] = j % CLASSES;
    p->weight[j] = 1 + j % 2;
    for (int i = 0; i < D; i++) {
      double off = 0.8 * check_normal(&seed);
      far += off * off;
      p->X[j * D + i] = off + (i == j % CLASSES ? 2 : 0);
    }
    for (int i = 0; i < P; i++)
      p->P[j * P + i] = check_normal(&seed) + (i == 0 ? far : 0);
  }
  p->data = (lapis_data){.X = lapis_mat_f64(p->X, D, N),
                         .Y = lapis_mat_f64(p->Y, 1, N)};
  if (privileged) p->data.P = lapis_mat_f64(p->P, P, N);
}

static void set_all(lapis_ctx *ctx, const char *text,
                    lapis_svmplus_settings *set)
{
  const lapis_method *m = lapis_method_find("svmplus");
  char room[300], *rest = room;
  snprintf(room, sizeof room, "%s", text);
  lapis_settings_default(m, set);
  set->C = set->gamma = 1;
  for (char *word; (word = strtok_r(rest, ";", &rest)) != NULL;) {
    char *equal = strchr(word, '=');
    *equal = '\0';
    if (lapis_settings_set(ctx, m, set, word, equal + 1) < 0)
      fail_msg("%s", lapis_ctx_error(ctx));
  }
}

/* One thread each. */
typedef struct fitted {
  lapis_ctx *ctx;
  lapis_solver *solver;
} fitted;

static fitted fit(const problem *p, const char *settings, int jobs,
                  const char *checkpoint)
{
  fitted f = {.ctx = lapis_ctx_new()};
  lapis_svmplus_settings set;
  char text[8];
  snprintf(text, sizeof text, "%d", jobs);
  lapis_ctx_set(f.ctx, "jobs", text);
  lapis_ctx_set(f.ctx, "threads", "1");
  set_all(f.ctx, settings, &set);
  lapis_checkpoint *c = NULL;
  const lapis_method *m = lapis_method_find("svmplus");
  if (checkpoint != NULL && lapis_checkpoint_new(f.ctx, checkpoint, m, &p->data,
                                                 &set, NULL, 0, &c) < 0)
    fail_msg("%s", lapis_ctx_error(f.ctx));
  f.solver = sv_solve(f.ctx, &p->data, &set);
  if (c != NULL) assert_int_equal(lapis_checkpoint_write(c), LAPIS_OK);
  lapis_checkpoint_free(c, false);
  return f;
}

static void drop(fitted *f)
{
  lapis_solver_free(f->solver);
  lapis_ctx_free(f->ctx);
}

static void check_same(const fitted *a, const fitted *b)
{
  const lapis_info *x = lapis_result_info(a->solver);
  const lapis_info *y = lapis_result_info(b->solver);
  const char *name;
  assert_int_equal(x->iterations, y->iterations);
  assert_int_equal(x->status, y->status);
  assert_int_equal(x->rank, y->rank);
  CHECK_NEAR(x->objective, y->objective, 0);
  CHECK_NEAR(x->dual, y->dual, 0);
  CHECK_NEAR(x->gap, y->gap, 0);
  for (int i = 0; (name = lapis_result_name(a->solver, i)) != NULL; i++) {
    lapis_mat one, two;
    assert_int_equal(lapis_result_get(a->solver, name, &one), LAPIS_OK);
    assert_int_equal(lapis_result_get(b->solver, name, &two), LAPIS_OK);
    assert_int_equal(one.rows, two.rows);
    assert_int_equal(one.cols, two.cols);
    if (one.dtype != LAPIS_F64) continue;
    assert_memory_equal(one.val, two.val,
                        (size_t)(one.rows * one.cols) * sizeof(double));
  }
}

/* All ways to solve, and with a limit that falls into the second class. */
static const char *const ways[] = {"solver=ipm;certificate=true",
                                   "solver=dcd;C=0.1;tol=1e-3;certificate=true",
                                   "kernel=rbf;certificate=true",
                                   "kernel=rbf;balanced=true",
                                   "kernel=rbf;cache=0.01;rank=3",
                                   "formulation=original;kernel=rbf",
                                   "solver=ipm;probability=true",
                                   "solver=ipm;tol=1e-9;max-iters=15",
                                   "kernel=rbf;tol=1e-9;max-iters=4",
                                   "solver=dcd;tol=1e-9;max-iters=30"};
enum { WAYS = sizeof ways / sizeof *ways };

static void bits_of_one_process(void **state)
{
  problem p;
  for (int privileged = 0; privileged < 2; privileged++) {
    make(&p, privileged);
    for (int i = 0; i < WAYS; i++) {
      fitted one = fit(&p, ways[i], 1, NULL);
      for (int jobs = 2; jobs < 4; jobs++) {
        fitted many = fit(&p, ways[i], jobs, NULL);
        check_same(&one, &many);
        drop(&many);
      }
      drop(&one);
    }
  }
}

/* Stopped by 2 jobs, gone on with by 1 or 3, and the other way round. */
static void whole_classes_are_kept(void **state)
{
  files *f = *state;
  static const int jobs[][2] = {{2, 1}, {1, 3}, {2, 3}};
  problem p;
  char path[600];
  make(&p, true);
  (void)snprintf(path, sizeof path, "%s", files_path(f, "run"));
  fitted whole = fit(&p, "solver=ipm;tol=1e-9", 1, NULL);
  int64_t all = lapis_result_info(whole.solver)->iterations;
  for (int64_t most = 1; most < all; most += all / 7 + 1)
    for (int i = 0; i < 3; i++) {
      char limited[100];
      snprintf(limited, sizeof limited, "solver=ipm;tol=1e-9;max-iters=%d",
               (int)most);
      fitted part = fit(&p, limited, jobs[i][0], path);
      assert_int_equal(lapis_result_info(part.solver)->status, LAPIS_MAX_ITERS);
      fitted rest = fit(&p, "solver=ipm;tol=1e-9", jobs[i][1], path);
      check_same(&whole, &rest);
      drop(&part);
      drop(&rest);
      (void)remove(path);
    }
  drop(&whole);
}

/* Ctrl-C ends all, and the next solve is whole. */
static void cancelled_and_again(void **state)
{
  problem p;
  make(&p, true);
  fitted one = fit(&p, "kernel=rbf", 1, NULL), again = {lapis_ctx_new(), NULL};
  lapis_svmplus_settings set;
  lapis_ctx_set(again.ctx, "jobs", "2");
  lapis_ctx_set(again.ctx, "threads", "1");
  set_all(again.ctx, "kernel=rbf", &set);
  assert_int_equal(lapis_svmplus_new(again.ctx, &p.data, &set, &again.solver),
                   LAPIS_OK);
  lapis_ctx_cancel(again.ctx);
  assert_int_equal(lapis_solve(again.solver), LAPIS_CANCELLED);
  lapis_solver_free(again.solver);
  again.solver = sv_solve(again.ctx, &p.data, &set);
  check_same(&one, &again);
  drop(&one);
  drop(&again);
}

int test_classes(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bits_of_one_process),
      cmocka_unit_test_setup_teardown(whole_classes_are_kept, files_setup,
                                      files_teardown),
      cmocka_unit_test(cancelled_and_again),
  };
  return run_cases(tests, NULL, NULL);
}
