/* --jobs N: the answers of one job, and nothing left behind by any end. */
#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <time.h>

#include "label_case.h"

enum { N = 60, D = 5, JOBS = 2 };

static void write_problem(const command *c)
{
  double X[D * N], P[2 * N], Y[N];
  char path[160];
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
  lapis_ctx *ctx = lapis_ctx_new();
  snprintf(path, sizeof path, "%s/d.npz", c->folder);
  assert_int_equal(lapis_arrays_write(ctx, path, "npz", item, 3), 0);
  lapis_ctx_free(ctx);
}

/* What both streams said with so many jobs, but for times. */
static void run(command *c, const char *what, int jobs)
{
  command_run(c, "%s --threads 1 --jobs %d", what, jobs);
  if (c->code != 0) fail_msg("%s: exit %d, '%s'", what, c->code, c->err);
  command_drop_seconds(c->out);
}

static void answers_are_those_of_one_job(void **state)
{
  static const char *const runs[] = {
      "cv mc d.npz --grid mu-rel=1:.01:3 --json",
      "cv mc d.npz --grid mu-rel=1,.1 --pooled --map standard --json",
      "cv mc d.npz --solver fpc --grid mu-rel=1,.1 --metric accuracy --json",
      "cv rr d.npz --grid lambda=.1,1 --metric rae --json",
      "cv svmplus d.npz --grid C=.1,1 --grid gamma=.1,1 --folds 4 --json",
      "cv rlda d.npz --grid lambda=.1,1 --json"};
  static char one[65536];
  command c;
  command_begin(&c);
  write_problem(&c);
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    run(&c, runs[i], 1);
    strcpy(one, c.out);
    assert_non_null(strstr(one, "\"best\""));
    for (int jobs = 2; jobs <= 7; jobs += 5) { /* 7: more than folds */
      run(&c, runs[i], jobs);
      assert_string_equal(c.out, one);
      const char *line = strchr(c.err, '\n'); /* P, where it is not read */
      assert_true(*c.err == '\0' || (line != NULL && line[1] == '\0' &&
                                     strstr(c.err, "makes no use of P\n")));
    }
  }
  run(&c, "cv rlda d.npz --grid lambda=.1,1 --part 1/2 -o a.npz", 1);
  run(&c, "cv rlda d.npz --grid lambda=.1,1 --part 2/2 -o b.npz", 2);
  command_run(&c, "cv --join a.npz b.npz --json");
  command_drop_seconds(c.out);
  assert_string_equal(c.out, one);
  command_do(&c, "cv rlda d.npz --grid lambda=.1,1 --jobs auto");
  command_end(&c);
}

/* A fold of one kind of labels is left out with a sentence (-vv: cv's solves
 * are one level quieter), in the order of the folds. */
static void messages_keep_their_order(void **state)
{
  static char one[65536];
  const char *what =
      "cv rlda d.npz --grid lambda=.1,1 --grid gamma=.5,2 -vv --json";
  command c;
  command_begin(&c);
  write_problem(&c);
  run(&c, what, 1);
  strcpy(one, c.err);
  run(&c, what, JOBS);
  char *rest = strchr(c.err, '\n'); /* the first line is on the jobs */
  assert_memory_equal(c.err, "lapis: cv: 2 jobs, 1 thread each; ", 34);
  assert_non_null(rest);
  assert_string_equal(rest + 1, one);
  command_end(&c);
}

/* gaps.npz: X with holes; classes.npz: three classes; cells.npz: two labels,
 * a third of each unknown. */
static void write_races(const command *c)
{
  enum { FEATURES = 8 };
  static const char *const name[] = {"gaps", "classes", "cells"};
  static double X[FEATURES * N], Y[2 * N];
  lapis_ctx *ctx = lapis_ctx_new();
  for (int kind = 0; kind < 3; kind++) {
    char path[160];
    uint64_t r = 11;
    int rows = kind == 2 ? 2 : 1;
    for (int j = 0; j < N; j++) {
      double z[2] = {check_normal(&r), check_normal(&r)};
      for (int i = 0; i < FEATURES; i++) {
        bool hole = kind == 0 && check_uniform(&r) < .15;
        X[j * FEATURES + i] =
            hole ? NAN : z[i % 2] * (i + 1) + check_normal(&r);
      }
      double y = z[0] + .5 * check_normal(&r);
      for (int k = 0; k < rows; k++) {
        bool unknown = kind == 2 && check_uniform(&r) < .33;
        Y[j * rows + k] = unknown ? NAN : k == 0 ? y > 0 : z[1] > 0;
      }
      if (kind == 1) Y[j] = (y > -.5) + (y > .5);
    }
    lapis_named item[] = {{.name = "X", .mat = lapis_mat_f64(X, FEATURES, N)},
                          {.name = "Y", .mat = lapis_mat_f64(Y, rows, N)}};
    snprintf(path, sizeof path, "%s/%s.npz", c->folder, name[kind]);
    assert_int_equal(lapis_arrays_write(ctx, path, "npz", item, 2), 0);
  }
  lapis_ctx_free(ctx);
}

/* Who was tried, how each did and who answers; suspects. */
static void choices_are_those_of_one_job(void **state)
{
  static const char *const runs[] = {
      "fit mc gaps.npz --json", "fit auto classes.npz --json",
      "fit mc cells.npz --suspects 7 --json",
      "fit auto cells.npz --mu-rel .1 --candidates mc --json"};
  static char one[65536], said[65536];
  command c;
  command_begin(&c);
  write_races(&c);
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    run(&c, runs[i], 1);
    strcpy(one, c.out);
    strcpy(said, c.err);
    assert_non_null(strstr(said, "were hidden"));
    for (int jobs = 2; jobs <= 5; jobs += 3) {
      run(&c, runs[i], jobs);
      assert_string_equal(c.out, one);
      assert_string_equal(c.err, said);
    }
  }
  command_end(&c);
}

static void label_answers_as_with_one_job(void **state)
{
  static const char *const kinds[] = {"across", "down", "slanted"};
  static char one[65536];
  command c;
  command_need_images();
  begin_stripes(&c, 3);
  write_labels(&c, kinds, 3, 15);
  run(&c, CHOOSING " --no-cache --folds 3", 1);
  strcpy(one, c.out);
  assert_non_null(strstr(one, "labels"));
  run(&c, CHOOSING " --no-cache --folds 3", 3);
  assert_string_equal(c.out, one);
  command_end(&c);
}

static void refusals(void **state)
{
  static const command_misuse bad[] = {
      {"cv mc d.npz --jobs -1", 2, "-1"},
      {"cv mc d.npz --jobs many", 2, "many"},
      {"cv mc d.npz --jobs 2 --lambda -1", 2, "--lambda -1 0"},
      {"cv mc d.npz --jobs 2 --grid gamma=1,-1", 2, "--gamma -1"}};
  command c;
  command_begin(&c);
  write_problem(&c);
  command_refuses(&c, bad, sizeof bad / sizeof *bad, "--grid mu-rel=1,.1");
  command_end(&c);
}

/* ---- ends ---------------------------------------------------------------*/
static const char endless[] =
    "cv mc d.npz --solver fpc --tol 0 --max-iters 1000000000 --threads 1 "
    "--grid mu-rel=1,.1 --jobs 2 --checkpoint ck";

static pid_t begin(const command *c, const char *arguments)
{
  char line[1024];
  snprintf(line, sizeof line, "cd %s && exec %s %s >.stdout 2>.stderr",
           c->folder, getenv("LAPIS_COMMAND"), arguments);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    (void)execl("/bin/sh", "sh", "-c", line, (char *)NULL);
    _exit(127);
  }
  return child;
}

/* Of a process: its parent, or -1 where it is gone or waits to be counted. */
static int parent_of(int pid)
{
  char path[64], text[512] = "", state;
  int parent;
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  FILE *f = fopen(path, "rb");
  if (f == NULL) return -1;
  size_t n = fread(text, 1, sizeof text - 1, f);
  fclose(f);
  text[n] = '\0';
  const char *at = strrchr(text, ')');
  if (at == NULL || sscanf(at + 1, " %c %d", &state, &parent) != 2) return -1;
  return state == 'Z' ? -1 : parent;
}

static int find_workers(int of, int worker[JOBS])
{
  int n = 0;
  DIR *d = opendir("/proc");
  assert_non_null(d);
  for (struct dirent *e; (e = readdir(d)) != NULL;)
    if (isdigit((unsigned char)e->d_name[0]) && n < JOBS &&
        parent_of(atoi(e->d_name)) == of)
      worker[n++] = atoi(e->d_name);
  closedir(d);
  return n;
}

static void wait_a_moment(void)
{
  const struct timespec moment = {0, 20000000};
  (void)nanosleep(&moment, NULL);
}

/* Kills the command, or one worker of it, as soon as both are there; then no
 * worker is there any more. */
static void end_by(command *c, int signal, bool of_worker)
{
  int worker[JOBS], status;
  pid_t child = begin(c, endless);
  while (find_workers(child, worker) < JOBS) {
    if (waitpid(child, &status, WNOHANG) == child) fail_msg("it ended");
    wait_a_moment();
  }
  assert_int_equal(kill(of_worker ? worker[1] : child, signal), 0);
  assert_int_equal(waitpid(child, &status, 0), child);
  for (int k = 0; k < JOBS; k++)
    while (parent_of(worker[k]) >= 0) wait_a_moment();
  c->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  command_slurp(c, ".stdout", c->out, sizeof c->out);
  command_slurp(c, ".stderr", c->err, sizeof c->err);
  assert_string_equal(c->out, "");
}

static void no_end_leaves_a_process(void **state)
{
  command c;
  command_begin(&c);
  write_problem(&c);
  end_by(&c, SIGKILL, true);
  command_expect(&c, 1, "2 memory");
  check_says(c.err, "cv");
  end_by(&c, SIGSEGV, true);
  command_expect(&c, 1, "2 11");
  end_by(&c, SIGINT, false);
  assert_int_equal(c.code, 130);
  assert_non_null(strstr(c.err, "interrupted"));
  end_by(&c, SIGKILL, false);
  assert_int_equal(c.code, -1);
  assert_string_equal(c.err, "");
  command_end(&c);
}

/* What is judged is not judged again, whatever the number of jobs; and time
 * that runs out ends all jobs. */
static void checkpoints_hold_whole_folds(void **state)
{
  static lapis_arrays all;
  const char *part = "cv mc d.npz --solver fpc --tol 0 --max-iters 4 "
                     "--threads 1 --grid mu-rel=1:.01:40 --folds 20 "
                     "--part 1/1";
  command c;
  command_begin(&c);
  write_problem(&c);
  command_run(&c, "%s --jobs 2 -o p.npz --checkpoint ck --time-limit .02",
              part);
  command_expect(&c, 1, "1");
  if (command_exists(&c, "ck")) {
    command_arrays(&c, "ck", &all);
    const lapis_array *done = lapis_arrays_find(&all, "cv/done");
    assert_non_null(done);
    assert_int_equal(done->mat.cols, 20);
    for (int f = 0; f < 20; f++)
      assert_true((int)lapis_mat_at(&done->mat, 0, f) % 40 == 0);
    lapis_arrays_free(&all);
  }
  command_do(&c, "%s --jobs 3 -o p.npz --checkpoint ck", part);
  assert_false(command_exists(&c, "ck"));
  command_do(&c, "%s -o w.npz", part);
  assert_int_equal(command_same(&c, "p.npz", "w.npz", "value"), 20);
  command_end(&c);
}

int test_jobs(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(answers_are_those_of_one_job),
      cmocka_unit_test(choices_are_those_of_one_job),
      cmocka_unit_test(label_answers_as_with_one_job),
      cmocka_unit_test(messages_keep_their_order),
      cmocka_unit_test(refusals),
      cmocka_unit_test(no_end_leaves_a_process),
      cmocka_unit_test(checkpoints_hold_whole_folds),
  };
  return run_cases(tests, NULL, NULL);
}
