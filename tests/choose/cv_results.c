/* What a cross-validation answers with is what its rows say: of a grid and of
 * none, pooled, with scores, by cells, and joined of parts; every row is met,
 * and a second solve says the same. */
#include "cv_points.h"
#include "result_rows.h"

enum { D = 3, N = 24 };
typedef struct example {
  double X[D * N], Y[2 * N];
  lapis_data data;
} example;

static void make(example *e, int labels)
{
  uint64_t seed = 3;
  for (int k = 0; k < D * N; k++) e->X[k] = check_normal(&seed);
  for (int j = 0; j < N; j++)
    for (int c = 0; c < labels; c++)
      e->Y[j * labels + c] = e->X[j * D + c] > 0 ? 1 : -1;
  e->data = (lapis_data){.X = lapis_mat_f64(e->X, D, N),
                         .Y = lapis_mat_f64(e->Y, labels, N)};
}

static void check(files *f, lapis_solver *cv, const lapis_cv_options *o,
                  const char *who, bool *seen)
{
  symbols t = {.count = 0};
  define(&t, "n", N);
  CHECK_OK(f, lapis_solve(cv));
  check_answer(f, cv, lapis_cv_table(), o, 0, t, who, seen);
  double first = cv_at(cv, 0).mean;
  CHECK_OK(f, lapis_solve(cv));
  assert_memory_equal(&first, &(double){cv_at(cv, 0).mean}, sizeof first);
  lapis_solver_free(cv);
}

static void run(files *f, const example *e, const lapis_cv_options *o,
                int grids, const char *who, bool *seen)
{
  const lapis_grid grid[] = {{"mu-rel", 2, (const char *const[]){".1", ".5"}},
                             {"lambda", 2, (const char *const[]){".1", "1"}}};
  lapis_mc_settings set = lapis_mc_defaults();
  lapis_solver *cv;
  set.mu_rel = .2;
  CHECK_OK(f, lapis_cv_new(f->ctx, lapis_method_find("mc"), &e->data, &set, o,
                           grid, grids, &cv));
  if (o->part == 0) check(f, cv, o, who, seen);
  if (o->part == 0) return;
  CHECK_OK(f, lapis_solve(cv));
  assert_null(lapis_result_name(cv, 0)); /* they are in the file */
  lapis_solver_free(cv);
}

static void results_are_what_the_table_says(void **state)
{
  static bool seen[ROWS];
  files *f = *state;
  example e;
  char path[2][300];
  const char *paths[] = {path[0], path[1]};
  lapis_cv_options o = lapis_cv_defaults();
  o.folds = 3;
  make(&e, 1);
  run(f, &e, &o, 0, "cv", seen);
  run(f, &e, &o, 2, "cv of a grid", seen);
  o.pooled = o.keep_scores = true;
  run(f, &e, &o, 1, "cv pooled", seen);
  make(&e, 2);
  o.folds_of = LAPIS_FOLDS_OF_CELLS;
  run(f, &e, &o, 1, "cv of cells", seen);
  o = lapis_cv_defaults();
  o.map = o.map_priv = "standard";
  o.parts = 2;
  for (int k = 0; k < 2; k++) {
    (void)snprintf(path[k], sizeof path[k], "%s/%d.npz", f->folder, k);
    o.part = k + 1;
    o.part_file = path[k];
    run(f, &e, &o, 1, "part", seen);
  }
  lapis_solver *joined;
  CHECK_OK(f, lapis_cv_join(f->ctx, paths, 2, &joined));
  check(f, joined, &o, "joined", seen);
  const lapis_result_row *row;
  for (int i = 0; (row = lapis_method_result(lapis_cv_table(), i)) != NULL; i++)
    if (!seen[i] && strcmp(row->name, "notes") != 0)
      fail_msg("cv: nothing was ever called %s", row->name);
}

int test_cv_results(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(
      results_are_what_the_table_says, files_setup, files_teardown)};
  return run_cases(tests, NULL, NULL);
}
