/* room.c - the program of a room's tests.
 *
 *   tests/ROOM             every group, each in a process of its own
 *   tests/ROOM GROUP       the cases of tests/ROOM/GROUP.c
 *   tests/ROOM CASE        those cases alone; * and ? stand for other letters
 *   tests/ROOM --list      the names of groups and cases
 *
 * LAPIS_TEST_ALL=1 adds the long cases; LAPIS_TEST_MOST=N takes N cases of a
 * group at the most, evenly spread; LAPIS_TEST_TIMES=1 prints the processor
 * time of each case.  Exit 1 where a case failed or none ran. */
#include "room.h"

#include <errno.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const char LONG_CASE[] = "a long case";
static const char *wanted; /* the case that was asked for, or NULL */
static bool lists;
static int ran;
enum { NONE_RAN = 2 }; /* an exit code */

bool room_all(void)
{
  const char *text = getenv("LAPIS_TEST_ALL");
  return text != NULL && strcmp(text, "1") == 0;
}

long room_step(long k)
{
  return room_all() ? 1 : 1 + k / 8;
}

/* Which of n cases LAPIS_TEST_MOST leaves. */
static bool is_taken(size_t i, size_t n)
{
  const char *text = getenv("LAPIS_TEST_MOST");
  size_t most = text == NULL ? 0 : (size_t)atol(text);
  if (most == 0 || most >= n || room_all() || wanted != NULL) return true;
  return i * most / n != (i + 1) * most / n;
}

/* Its mark stands where cmocka keeps what a case begins with: no test of ours
 * uses that. */
struct CMUnitTest room_long(struct CMUnitTest one)
{
  one.initial_state = (void *)(uintptr_t)LONG_CASE;
  return one;
}

static double processor_seconds(void)
{
  struct rusage u[2];
  double seconds = 0;
  getrusage(RUSAGE_SELF, &u[0]);
  getrusage(RUSAGE_CHILDREN, &u[1]);
  for (int i = 0; i < 2; i++)
    seconds += (double)(u[i].ru_utime.tv_sec + u[i].ru_stime.tv_sec) +
               1e-6 * (double)(u[i].ru_utime.tv_usec + u[i].ru_stime.tv_usec);
  return seconds;
}

static int run_all(const struct CMUnitTest *run, size_t n,
                   CMFixtureFunction setup, CMFixtureFunction teardown)
{
  int failed = 0;
  if (n == 0) return 0;
  if (getenv("LAPIS_TEST_TIMES") == NULL)
    return _cmocka_run_group_tests("cases", run, n, setup, teardown);
  for (size_t i = 0; i < n; i++) {
    double begun = processor_seconds();
    failed += _cmocka_run_group_tests("cases", run + i, 1, setup, teardown);
    printf("%7.2f s of %s\n", processor_seconds() - begun, run[i].name);
  }
  return failed;
}

int room_run(const struct CMUnitTest *all, size_t count,
             CMFixtureFunction setup, CMFixtureFunction teardown)
{
  struct CMUnitTest *run = calloc(count, sizeof *run);
  size_t n = 0, left = 0;
  if (run == NULL) return 1;
  for (size_t i = 0; i < count; i++) {
    bool is_long = all[i].initial_state == LONG_CASE;
    if (lists) printf("  %s%s\n", all[i].name, is_long ? " (long)" : "");
    if (lists || !is_taken(i, count) ||
        (wanted != NULL && fnmatch(wanted, all[i].name, 0) != 0))
      continue;
    if (is_long && wanted == NULL && !room_all()) {
      left++;
      continue;
    }
    run[n] = all[i];
    run[n++].initial_state = NULL;
  }
  if (left > 0) printf("%zu long cases are left to --all\n", left);
  int failed = run_all(run, n, setup, teardown);
  ran += (int)n;
  free(run);
  return failed;
}

/* What tests write lies below one folder, removed with all that failed tests
 * leave; a TMPDIR that is set is its owner's. */
static char folder[] = "/tmp/lapis-XXXXXX";
static bool make_folder(void)
{
  if (getenv("TMPDIR") != NULL) return false;
  if (mkdtemp(folder) == NULL) exit(1);
  return setenv("TMPDIR", folder, 1) == 0;
}

static void remove_folder(void)
{
  char line[64];
  (void)snprintf(line, sizeof line, "chmod -R u+rwX %s; rm -rf %s", folder,
                 folder);
  if (system(line) != 0) (void)fprintf(stderr, "%s is left\n", folder);
}

/* What runs leads a group of processes: what a failed test leaves at work ends
 * with it, and all of it when we are told to end. */
static pid_t running;
static volatile sig_atomic_t stopped;
static void end_running(int signal_number)
{
  stopped = signal_number;
  if (running > 0) (void)kill(-running, SIGKILL);
}

static int run_apart(const char *name, int (*run)(void))
{
  int status = 0;
  (void)fflush(NULL);
  running = fork();
  if (running < 0) return 1;
  (void)setpgid(running, 0); /* here and there: whoever comes first */
  if (running == 0) {
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
    (void)signal(SIGHUP, SIG_DFL); /* nohup has it ignored */
    int failed = run();
    (void)fflush(NULL);
    if (wanted != NULL && ran == 0) exit(NONE_RAN);
    exit(failed != 0); /* leaks are looked for here */
  }
  while (waitpid(running, &status, 0) < 0 && errno == EINTR) continue;
  end_running(stopped);
  if (WIFSIGNALED(status))
    printf("%s: ended by signal %d\n", name, WTERMSIG(status));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int run_groups(void)
{
  int failed = 0;
  for (const room_group *g = room_groups; g->name != NULL; g++) {
    if (lists) printf("%s\n", g->name);
    failed += g->run();
  }
  return failed;
}

int main(int argc, char **argv)
{
  int code = 0;
  const char *word = argc > 1 ? argv[1] : NULL;
  const room_group *g = room_groups;
  lists = word != NULL && strcmp(word, "--list") == 0;
  if (lists) return run_groups();
  bool own = make_folder();
  (void)signal(SIGINT, end_running);
  (void)signal(SIGTERM, end_running);
  while (word != NULL && g->name != NULL && strcmp(g->name, word) != 0) g++;
  if (word != NULL && g->name == NULL) {
    wanted = word;
    code = run_apart(word, run_groups);
  } else if (word != NULL) {
    code = run_apart(word, g->run);
  } else {
    for (; g->name != NULL && stopped == 0; g++)
      if (run_apart(g->name, g->run) != 0) code = 1;
  }
  if (own) remove_folder();
  if (code == NONE_RAN)
    (void)fprintf(stderr, "%s: no case called %s; --list names all\n", argv[0],
                  word);
  return stopped != 0 ? 128 + stopped : code != 0;
}
