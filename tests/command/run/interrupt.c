/* Ctrl-C, --time-limit and --checkpoint at the command. */
#include <dirent.h>
#include <signal.h>
#include <time.h>

#include "command.h"
#include "remarks.h"

enum { N = 120, D = 40 };

/* A matrix of rank 4 with holes, a third of its labels unknown. */
static void write_problem(const command *c)
{
  static double X[D * N], Y[N];
  uint64_t r = 3;
  double basis[4 * D];
  for (int i = 0; i < 4 * D; i++) basis[i] = check_normal(&r);
  for (int j = 0; j < N; j++) {
    double z[4];
    for (int k = 0; k < 4; k++) z[k] = check_normal(&r);
    for (int i = 0; i < D; i++) {
      double *x = &X[j * D + i];
      *x = 0.2 * check_normal(&r);
      for (int k = 0; k < 4; k++) *x += basis[k * D + i] * z[k];
      if (check_uniform(&r) < 0.1) *x = NAN;
    }
    Y[j] = check_uniform(&r) < 0.3 ? NAN : z[0] > 0;
  }
  lapis_named item[] = {{.name = "X", .mat = lapis_mat_f64(X, D, N)},
                        {.name = "Y", .mat = lapis_mat_f64(Y, 1, N)}};
  char path[160];
  lapis_ctx *ctx = lapis_ctx_new();
  snprintf(path, sizeof path, "%s/d.npz", c->folder);
  assert_int_equal(lapis_arrays_write(ctx, path, "npz", item, 2), LAPIS_OK);
  lapis_ctx_free(ctx);
}

static int count_temporary(const command *c)
{
  int count = 0;
  DIR *d = opendir(c->folder);
  assert_non_null(d);
  for (struct dirent *e; (e = readdir(d)) != NULL;)
    count += strstr(e->d_name, ".tmp") != NULL;
  closedir(d);
  return count;
}

/* The command listens, and has said this: '[' is the bar, which shows that a
 * step is done. */
static bool has_said(const command *c, const char *words)
{
  char path[160], text[256] = "";
  snprintf(path, sizeof path, "%s/.stderr", c->folder);
  FILE *f = fopen(path, "rb");
  if (f == NULL) return false;
  size_t n = fread(text, 1, sizeof text - 1, f);
  fclose(f);
  text[n] = '\0';
  return strstr(text, words) != NULL;
}

/* Runs "lapis ARGUMENTS", which takes long, and interrupts it as soon as it has
 * said these words. */
static int interrupt_at(command *c, int signal, const char *words,
                        const char *arguments)
{
  char line[1024], path[160];
  struct timespec wait = {0, 20000000};
  int status = 0;
  snprintf(line, sizeof line,
           "cd %s && exec %s %s >.stdout 2>.stderr </dev/null", c->folder,
           getenv("LAPIS_COMMAND"), arguments);
  snprintf(path, sizeof path, "%s/.stderr", c->folder);
  (void)unlink(path); /* of an earlier run */
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    (void)execl("/bin/sh", "sh", "-c", line, (char *)NULL);
    _exit(127);
  }
  while (!has_said(c, words)) {
    if (waitpid(child, &status, WNOHANG) == child) fail_msg("%s ended", line);
    (void)nanosleep(&wait, NULL);
  }
  assert_int_equal(kill(child, signal), 0);
  assert_int_equal(waitpid(child, &status, 0), child);
  c->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  command_slurp(c, ".stdout", c->out, sizeof c->out);
  command_slurp(c, ".stderr", c->err, sizeof c->err);
  return c->code;
}

/* One that would never end, as soon as it shows progress. */
static int interrupt(command *c, int signal, const char *arguments)
{
  char line[900];
  snprintf(line, sizeof line, "%s --progress always", arguments);
  return interrupt_at(c, signal, "[", line);
}

static const char endless[] = "fit mc d.npz --mu-rel .1 --solver fpc --tol 0 "
                              "--max-iters 1000000000 --threads 1 ";

static void interrupted_runs_can_go_on(void **state)
{
  command c;
  char line[512];
  command_begin(&c);
  write_problem(&c);
  snprintf(line, sizeof line, "%s --checkpoint ck", endless);
  assert_int_equal(interrupt(&c, SIGINT, line), 130);
  assert_true(command_exists(&c, "ck"));
  assert_int_equal(count_temporary(&c), 0);
  char info[65536];
  command_do(&c, "info ck");
  memcpy(info, c.out, sizeof info);
  assert_non_null(strstr(info, "ck: checkpoint: " UNENDED_RUN));
  assert_non_null(strstr(info, "  settings: variant mc1, "));
  assert_non_null(strstr(info, ", mu-rel 0.1, "));
  assert_non_null(strstr(info, "  the same command, with --checkpoint ck, goes "
                               "on from it"));
  assert_null(strstr(info, "solve/")); /* internals */
  const char *came = strstr(info, "  done: ");
  command_do(&c, "info ck --json");
  lapis_json *v = command_json(c.out);
  const lapis_json *run = lapis_json_get(v, "run");
  assert_string_equal(lapis_json_text(run, "of", ""), "fit mc");
  assert_true(came != NULL &&
              atoi(lapis_json_text(run, "done", "")) == atoi(came + 8));
  lapis_json_free(v);
  /* where it stopped is farther than this */
  command_run(&c, "fit mc d.npz --mu-rel .1 --solver fpc --tol 0 --max-iters 3 "
                  "--checkpoint ck -v");
  assert_int_equal(c.code, 0);
  const char *done = strstr(c.err, "ck: " GOES_ON);
  const char *resumed = strstr(c.err, RESUMED);
  assert_true(done != NULL && resumed > done);
  assert_int_equal(atoi(strstr(done, "already: ") + 9), atoi(resumed + 24));
  assert_int_equal(atoi(came + 8), atoi(resumed + 24));
  assert_non_null(strstr(c.out, "max-iters after "));
  assert_null(strstr(c.out, "max-iters after 3 "));
  assert_true(command_exists(&c, "ck")); /* not finished */
  command_run(&c, "fit mc d.npz --mu-rel .2 --solver fpc --checkpoint ck");
  command_expect(&c, 4, "--mu-rel 0.1 0.2");
  command_end(&c);
}

static void a_termination_is_an_interruption(void **state)
{
  static const int signals[] = {SIGTERM, SIGHUP};
  command c;
  char line[512];
  command_begin(&c);
  write_problem(&c);
  for (int i = 0; i < 2; i++) { /* each leaves a last checkpoint */
    snprintf(line, sizeof line, "%s --checkpoint ck%d", endless, i);
    assert_int_equal(interrupt(&c, signals[i], line), 130);
    assert_true(command_exists(&c, i == 0 ? "ck0" : "ck1"));
  }
  assert_int_equal(count_temporary(&c), 0);
  command_end(&c);
}

static void interrupted_folds_are_not_repeated(void **state)
{
  command c;
  char line[512];
  const char *grid = "cv mc d.npz --solver fpc --tol 0 --max-iters 20 "
                     "--grid mu-rel=1:.01:%d --checkpoint ck %s";
  command_begin(&c);
  write_problem(&c);
  snprintf(line, sizeof line, grid, 900, "");
  assert_int_equal(interrupt(&c, SIGINT, line), 130);
  assert_true(command_exists(&c, "ck"));
  snprintf(line, sizeof line, grid, 901, "");
  command_run(&c, "%s", line);
  command_expect(&c, 4, "--grid mu-rel=1:.01:900 mu-rel=1:.01:901");
  lapis_arrays all;
  lapis_ctx *ctx = lapis_ctx_new();
  snprintf(line, sizeof line, "%s/ck", c.folder);
  assert_int_equal(lapis_arrays_read(ctx, line, &all), LAPIS_OK);
  const lapis_array *cells = lapis_arrays_find(&all, "cv/done");
  assert_non_null(cells);
  assert_true(lapis_mat_at(&cells->mat, 0, 0) > 0);
  lapis_arrays_free(&all);
  lapis_ctx_free(ctx);
  command_end(&c);
}

/* Nothing is wrong with the data: the sentence names the time alone. */
static void no_time_to_judge_is_said(void **state)
{
  command c;
  command_begin(&c);
  write_problem(&c);
  for (int i = 0; i < 2; i++) {
    command_run(&c, "cv mc d.npz --grid mu-rel=.1 --time-limit 1e-6 -q %s",
                i == 0 ? "" : "--solver fpc");
    command_expect(&c, 1, "--time-limit");
    assert_null(strstr(c.err, "new problem"));
    assert_null(strstr(c.err, "both kinds"));
  }
  command_end(&c);
}

/* Choosing and fitting both fit in, and there is an answer; how far either
 * comes in a second is the machine's. */
static void a_time_limit_covers_the_choice(void **state)
{
  command c;
  command_begin(&c);
  write_problem(&c);
  command_run(&c, "fit mc d.npz --tol 0 --max-iters 1000000000 --solver fpc "
                  "--time-limit 1 --json -o o.npz");
  command_expect(&c, 0, "map standard");
  assert_non_null(strstr(c.out, "\"status\": \"time-limit\""));
  assert_true(strstr(c.err, " answers (") != NULL ||
              strstr(c.err, "no time to compare ") != NULL);
  assert_true(command_exists(&c, "o.npz"));
  command_run(&c, "fit mc d.npz --tol 0 --max-iters 1000000000 --solver fpc "
                  "--time-limit .5 --strict -q");
  assert_int_equal(c.code, 1);
  command_end(&c);
}

#define TRIAL "mc: solver fpc: as asked"
/* A trial is no answer: one sentence says so, and that of a test inside an
 * earlier trial, which may fail, is not it. */
static void a_choice_that_is_interrupted_says_so(void **state)
{
  static const struct {
    const char *arguments, *at, *said;
  } runs[] = {
      {"fit mc d.npz", TRIAL, "lapis: fit: interrupted, nothing is written\n"},
      {"fit mc d.npz --checkpoint ck",
       TRIAL "\nlapis: " TRIAL "\nlapis: " TRIAL,
       "lapis: fit: interrupted; the same command goes on from ck\n"},
      {"cv mc d.npz --grid mu-rel=.1,.2", TRIAL,
       "lapis: cv: interrupted, nothing is written\n"}};
  command c;
  char line[512];
  command_begin(&c);
  write_problem(&c);
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    snprintf(line, sizeof line,
             "%s --solver fpc --tol 0 --max-iters 1000000000 --threads 1 -vv",
             runs[i].arguments);
    /* a machine that hears of the first trial after the last one: once more */
    for (int k = 0; k < 20; k++) {
      (void)interrupt_at(&c, SIGINT, runs[i].at, line);
      if (strstr(c.err, " answers (") == NULL) break;
    }
    const char *end = strstr(c.err, runs[i].said);
    if (c.code != 130 || end == NULL || end[strlen(runs[i].said)] != '\0')
      fail_msg("%s: exit %d, '%s'", line, c.code, c.err);
    assert_null(strstr(c.err, "la: "));
    assert_string_equal(c.out, "");
  }
  command_end(&c);
}

/* What is done is done: the file goes, and nothing is asked of it. */
static void a_finished_run_leaves_no_checkpoint(void **state)
{
  command c;
  command_begin(&c);
  write_problem(&c);
  command_run(&c, "fit mc d.npz --mu-rel .2 --checkpoint ck -o o.npz");
  assert_int_equal(c.code, 0);
  assert_false(command_exists(&c, "ck"));
  command_run(&c, "fit mc d.npz --mu-rel .2 --checkpoint d.npz");
  command_expect(&c, 2, "");
  command_run(&c, "fit mc d.npz --mu-rel .2 --checkpoint o.npz");
  command_expect(&c, 4, "checkpoint");
  command_end(&c);
}

/* The command has mapped X and waits for Y, a pipe: X becomes shorter. */
static void shrink(const char *file)
{
  enum { ROWS = 40000, COLS = 8 }; /* many pages, 1.3 MB: mapped in .npz, too */
  static float X[ROWS * COLS];
  static double Y[ROWS];
  command c;
  char path[160], line[1024];
  int status = 0;
  uint64_t r = 3;
  command_begin(&c);
  lapis_ctx *ctx = lapis_ctx_new();
  for (int k = 0; k < ROWS * COLS; k++) X[k] = (float)check_normal(&r);
  for (int j = 0; j < ROWS; j++) Y[j] = j % 9 > 0 ? NAN : X[j * COLS] > 0;
  lapis_named Xa = {.name = "X", .mat = lapis_mat_f32(X, COLS, ROWS)};
  lapis_named Ya = {.mat = lapis_mat_f64(Y, 1, ROWS)};
  snprintf(path, sizeof path, "%s/%s", c.folder, file);
  assert_int_equal(lapis_arrays_write(ctx, path, NULL, &Xa, 1), LAPIS_OK);
  snprintf(path, sizeof path, "%s/y.npy", c.folder);
  assert_int_equal(lapis_arrays_write(ctx, path, "npy", &Ya, 1), LAPIS_OK);
  lapis_ctx_free(ctx);
  /* cat opens the pipe for writing once the command opens it for reading */
  snprintf(line, sizeof line,
           "cd %s && mkfifo y && { sh -c 'exec 3>y; : >%s; cat y.npy >&3' "
           "& exec %s fit mc -X %s -Y y --mu-rel .1 -o o.npz >.stdout "
           "2>.stderr </dev/null; }",
           c.folder, file, getenv("LAPIS_COMMAND"), file);
  status = system(line);
  c.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  command_slurp(&c, ".stderr", c.err, sizeof c.err);
  command_expect(&c, 4, "");
  assert_false(command_exists(&c, "o.npz"));
  assert_int_equal(count_temporary(&c), 0);
  command_end(&c);
}

static void a_file_that_shrinks_is_one_sentence(void **state)
{
  shrink("x.npy");
  shrink("x.npz");
}

int test_interrupt(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(interrupted_runs_can_go_on),
      cmocka_unit_test(a_termination_is_an_interruption),
      cmocka_unit_test(interrupted_folds_are_not_repeated),
      cmocka_unit_test(no_time_to_judge_is_said),
      cmocka_unit_test(a_time_limit_covers_the_choice),
      cmocka_unit_test(a_choice_that_is_interrupted_says_so),
      cmocka_unit_test(a_file_that_shrinks_is_one_sentence),
      cmocka_unit_test(a_finished_run_leaves_no_checkpoint),
  };
  return run_cases(tests, NULL, NULL);
}
