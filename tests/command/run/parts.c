/* lapis cv in parts: joined they are the whole, to the last digit. */
#include "command.h"

enum { N = 60, D = 5 };

static void write_problem(const command *c)
{
  double X[D * N], P[2 * N], Y[N];
  uint64_t r = 7;
  for (int j = 0; j < N; j++) {
    for (int i = 0; i < D; i++) X[j * D + i] = check_normal(&r);
    for (int i = 0; i < 2; i++)
      P[j * 2 + i] = X[j * D + i] + 0.1 * check_normal(&r);
    Y[j] = X[j * D] + X[j * D + 1] + check_normal(&r) > 0 ? 1 : -1;
  }
  lapis_named item[] = {{.name = "X", .mat = lapis_mat_f64(X, D, N)},
                        {.name = "P", .mat = lapis_mat_f64(P, 2, N)},
                        {.name = "Y", .mat = lapis_mat_f64(Y, 1, N)}};
  static const char *const file[] = {"d.npz", "other.npz"};
  lapis_ctx *ctx = lapis_ctx_new();
  for (int k = 0; k < 2; k++) {
    char path[160];
    snprintf(path, sizeof path, "%s/%s", c->folder, file[k]);
    assert_int_equal(lapis_arrays_write(ctx, path, "npz", item, 3), 0);
    X[0] += 1;
  }
  lapis_ctx_free(ctx);
}

static void run_parts(command *c, const char *what, int parts)
{
  for (int k = 1; k <= parts; k++) {
    command_do(c, "cv %s --part %d/%d -o p%d.npz", what, k, parts, k);
    assert_string_equal(c->out, "");
  }
}

static void parts_are_the_whole(void **state)
{
  static const char *const runs[] = {
      "mc d.npz --grid mu-rel=1:.01:3",
      "mc d.npz --solver fpc --map standard --grid mu-rel=1,.1",
      "svmplus d.npz --grid C=.1,1 --grid gamma=.1,1 --folds 4",
      "rlda d.npz --grid lambda=.1,1 --metric rae"}; /* less is better */
  static char whole[65536], best[65536];
  command c;
  command_begin(&c);
  write_problem(&c);
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    char line[256];
    snprintf(line, sizeof line, "%s --threads 1", runs[i]);
    command_do(&c, "cv %s --json --config best.json", line);
    strcpy(whole, c.out);
    command_drop_seconds(whole);
    assert_non_null(strstr(whole, "\"best\""));
    command_slurp(&c, "best.json", best, sizeof best);
    run_parts(&c, line, 3);
    command_do(&c, "cv --join p3.npz p1.npz p2.npz --json --config b.json");
    command_drop_seconds(c.out);
    assert_string_equal(c.out, whole);
    command_slurp(&c, "b.json", c.out, sizeof c.out);
    assert_string_equal(c.out, best);
  }
  command_do(&c, "cv --join p1.npz p2.npz p3.npz");
  assert_non_null(strstr(c.out, "rae, mean and deviation over folds\n"));
  assert_non_null(strstr(c.out, "(5 folds, "));
  assert_non_null(strstr(c.out, "<- best"));
  command_do(&c, "info p2.npz");
  assert_non_null(strstr(c.out,
                         "p2.npz: folds of a cross-validation, by cv --part\n"
                         "  of lapis cv rlda, version "));
  assert_non_null(strstr(c.out, "  done: part 2 of 3, of 5 folds\n"
                                "  lapis cv --join p2.npz ... "));
  command_end(&c);
}

static void wrong_parts_are_named(void **state)
{
  static const char *const others[][2] = {
      {"rlda other.npz --grid lambda=.1,1", "the data's X is "},
      {"rlda d.npz --grid lambda=.1,1 --seed 1", "seed is 0, and not 1"},
      {"rlda d.npz --grid lambda=.1,2", "the grid is 1, and not 2"},
      {"rlda d.npz --grid lambda=.1", "the grid is of another number"},
      {"rlda d.npz --grid lambda=.1,1 --gamma 2", "--gamma is "},
      {"rlda d.npz --grid lambda=.1,1 --metric accuracy", "metric is auroc"},
      {"rlda d.npz --grid lambda=.1,1 --folds 6", "folds is 5, and not 6"},
      {"svmplus d.npz --grid C=.1,1", "method is rlda, and not svmplus"}};
  command c;
  command_begin(&c);
  write_problem(&c);
  run_parts(&c, "rlda d.npz --grid lambda=.1,1", 3);
  command_run(&c, "cv --join p1.npz p3.npz");
  command_expect(&c, 4, "2 3");
  command_run(&c, "cv --join p1.npz p2.npz p3.npz p2.npz");
  command_expect(&c, 4, "2 3 p2.npz");
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    command_do(&c, "cv %s --part 1/3 -o q.npz", others[i][0]);
    command_run(&c, "cv --join q.npz p2.npz p3.npz");
    command_expect(&c, 4, "p2.npz q.npz");
    command_expect(&c, 4, others[i][1]);
  }
  command_run(&c, "cv rlda d.npz --grid lambda=.1,1 --part 1/2 -o q.npz");
  command_run(&c, "cv --join q.npz p2.npz p3.npz");
  command_expect(&c, 4, "3 5 2");
  command_run(&c, "cv --join d.npz p2.npz p3.npz");
  command_expect(&c, 4, "d.npz");
  command_run(&c, "cv --join gone.npz");
  command_expect(&c, 4, "gone.npz");
  command_end(&c);
}

/* A part file that says what no part can. */
static void damaged_parts_are_refused(void **state)
{
  static const char *const names[] = {"lapis",  "part",  "names",
                                      "points", "value", "seconds"};
  command c;
  command_begin(&c);
  write_problem(&c);
  run_parts(&c, "rlda d.npz --grid lambda=.1,1", 2);
  lapis_arrays all;
  command_arrays(&c, "p1.npz", &all);
  assert_int_equal(all.count, 6);
  lapis_ctx *ctx = lapis_ctx_new();
  char path[160];
  snprintf(path, sizeof path, "%s/p1.npz", c.folder);
  double wrong[60] = {-1, 2, 5}; /* of any array here up to three columns */
  const char *texts[] = {"no-such", "setting"};
  for (int change = 0; change < 3; change++) /* gone; numbers; texts */
    for (int k = 0; k < 6; k++) {
      lapis_named item[6];
      int n = 0;
      for (int i = 0; i < 6; i++) {
        const lapis_array *a = lapis_arrays_find(&all, names[i]);
        assert_non_null(a);
        item[n] = (lapis_named){
            .name = names[i], .flat = a->axes == 1, .mat = a->mat};
        assert_in_range(a->mat.rows, 1, 20);
        if (i == k && change == 1)
          item[n].mat = lapis_mat_f64(wrong, a->mat.rows,
                                      a->mat.cols < 3 ? a->mat.cols : 3);
        if (i == k && change == 2)
          item[n].mat = lapis_mat_text(texts, 1, a->mat.cols < 2 ? 1 : 2);
        n += i != k || change > 0;
      }
      assert_int_equal(lapis_arrays_write(ctx, path, "npz", item, n), 0);
      command_run(&c, "cv --join p1.npz p2.npz");
      if (k == 4 && change == 1) continue; /* other values are values */
      assert_int_equal(c.code, 4);
      assert_non_null(strstr(c.err, "p1.npz"));
    }
  lapis_ctx_free(ctx);
  lapis_arrays_free(&all);
  command_end(&c);
}

static void refusals(void **state)
{
  static const char *const bad[][2] = {
      {"--part 1/6 -o p.npz", "6 parts of 5 folds"},
      {"--part 0/2 -o p.npz", "is not K/N"},
      {"--part 3/2 -o p.npz", "is not K/N"},
      {"--part 1 -o p.npz", "is not K/N"},
      {"--part 1/2x -o p.npz", "is not K/N"},
      {"--part 1/2", "needs -o"},
      {"-o p.npz", "-o goes with --part K/N"},
      {"--part 1/2 -o p.npz --pooled", "--pooled needs all folds"},
      {"--part 1/2 -o p.npz --baseline", "--baseline needs all folds"},
      {"--part 1/2 -o p.npz --config b.json", "give --config with --join"},
      {"--part 1/2 -o d.npz", "is read and would be written over"},
      {"--join p.npz", "leave out 'rlda'"}};
  command c;
  command_begin(&c);
  write_problem(&c);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    bool joins = strncmp(bad[i][0], "--join", 6) == 0;
    command_run(&c, "cv rlda %s %s", joins ? "" : "d.npz --grid lambda=.1,1",
                bad[i][0]);
    command_expect(&c, 2, bad[i][1]);
    assert_false(command_exists(&c, "p.npz"));
  }
  command_run(&c, "cv --join");
  command_expect(&c, 2, "");
  command_run(&c, "cv --join p.npz --folds 3");
  command_expect(&c, 2, "--folds");
  command_end(&c);
}

/* Nothing is written, and the checkpoint is kept for more time. */
static void a_part_without_time_goes_on(void **state)
{
  const char *part = "cv mc d.npz --solver fpc --tol 0 --max-iters 4 "
                     "--threads 1 --grid mu-rel=1:.01:40 --part 2/2";
  command c;
  command_begin(&c);
  write_problem(&c);
  command_run(&c, "%s -o p.npz --checkpoint ck --time-limit 1e-3", part);
  command_expect(&c, 1, "2");
  assert_false(command_exists(&c, "p.npz"));
  assert_true(command_exists(&c, "ck"));
  command_do(&c, "%s -o p.npz --checkpoint ck", part);
  assert_false(command_exists(&c, "ck"));
  command_do(&c, "%s -o w.npz", part);
  assert_int_equal(command_same(&c, "p.npz", "w.npz", "value"), 2);
  command_end(&c);
}

int test_parts(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_are_the_whole),
      cmocka_unit_test(wrong_parts_are_named),
      cmocka_unit_test(damaged_parts_are_refused),
      cmocka_unit_test(refusals),
      cmocka_unit_test(a_part_without_time_goes_on),
  };
  return run_cases(tests, NULL, NULL);
}
