/* load.c - loops get no more threads than other programs leave processors. */
#include "base/base.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static void keep_message(int level, const char *text, void *user)
{
  if (level == 1 && strstr(text, "threads: ") != NULL)
    snprintf(user, 300, "%s", text);
}

/* A processor each for as many programs as there are processors. */
static int start_others(pid_t *pid, int count)
{
  int ready[2], begun = 0;
  char byte;
  assert_int_equal(pipe(ready), 0);
  for (int k = 0; k < count; k++) {
    pid[k] = fork();
    assert_true(pid[k] >= 0);
    if (pid[k] != 0) continue;
    if (write(ready[1], "x", 1) != 1) _exit(1);
    for (volatile unsigned long i = 0;; i++) continue;
  }
  while (begun < count && read(ready[0], &byte, 1) == 1) begun++;
  (void)close(ready[0]);
  (void)close(ready[1]);
  return begun;
}

static void end_others(const pid_t *pid, int count)
{
  for (int k = 0; k < count; k++) {
    (void)kill(pid[k], SIGKILL);
    (void)waitpid(pid[k], NULL, 0);
  }
}

/* -1: the system does not say. */
static int all_running(void)
{
  int all = -1;
  FILE *f = fopen("/proc/loadavg", "r");
  if (f == NULL) return -1;
  if (fscanf(f, "%*f %*f %*f %d/", &all) != 1) all = -1;
  (void)fclose(f);
  return all;
}

static void busy_processors_get_no_team(void **state)
{
  enum { MOST = 256 };
  pid_t pid[MOST];
  char said[300] = "";
  int count = (int)sysconf(_SC_NPROCESSORS_ONLN);
  (void)state;
  unsetenv("LAPIS_FREE_PROCESSORS");
  if (count > MOST || all_running() < 0) skip();
  assert_int_equal(start_others(pid, count), count);
  lapis_ctx *ctx = lapis_ctx_new();
  assert_non_null(ctx);
  assert_int_equal(lapis_ctx_set(ctx, "verbose", "1"), LAPIS_OK);
  lapis_ctx_on_message(ctx, keep_message, said);
  bool seen = all_running() >= count;
  int team = base_team(ctx, 64);
  end_others(pid, count);
  lapis_ctx_free(ctx);
  if (!seen) skip(); /* it counts others than ours */
  assert_int_equal(team, 1);
  check_says(said, "64 1 processors");
}

static void what_is_free_bounds_a_team(void **state)
{
  (void)state;
  assert_int_equal(setenv("LAPIS_FREE_PROCESSORS", "3", 1), 0);
  lapis_ctx *ctx = lapis_ctx_new();
  assert_non_null(ctx);
  assert_int_equal(base_team(ctx, 1), 1);
  assert_int_equal(base_team(ctx, 2), 2);
  assert_int_equal(base_team(ctx, 64), 3);
  assert_true(base_threads(ctx) >= 1);
  lapis_ctx_free(ctx);
  unsetenv("LAPIS_FREE_PROCESSORS");
}

int test_load(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(busy_processors_get_no_team),
      cmocka_unit_test(what_is_free_bounds_a_team),
  };
  return run_cases(tests, NULL, NULL);
}
