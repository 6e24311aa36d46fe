/* Limits that the system sets, and files that never end: a sentence, in time.
 */
#include "command.h"

/* Exit code of a shell's line, where $L is the command; its words go to c->out.
 */
static int shell(command *c, const char *line)
{
  char all[1024];
  snprintf(all, sizeof all,
           "cd %s && { ( L=%s; %s ) 2>&1 </dev/null; echo \"exit $?\"; } >.out",
           c->folder, getenv("LAPIS_COMMAND"), line);
  assert_int_equal(system(all), 0);
  command_slurp(c, ".out", c->out, sizeof c->out);
  const char *code = strstr(c->out, "exit ");
  assert_non_null(code);
  return atoi(code + 5);
}

static void refused(command *c, const char *line, const char *words)
{
  int code = shell(c, line);
  if (code == 0 || code >= 124 || strstr(c->out, words) == NULL)
    fail_msg("%s: exit %d, and should say \"%s\": %s", line, code, words,
             c->out);
}

static void files_without_end_are_refused(void **state)
{
  command c;
  command_begin(&c);
  refused(&c, "ulimit -t 60; $L info /dev/zero", "");
  refused(&c, "ulimit -t 60; $L fit rpca /dev/zero", "");
  refused(&c, "ulimit -t 60; $L fit rpca - </dev/zero", "");
  command_end(&c);
}

/* OpenBLAS, refused a buffer, asks again and again, in each of its threads.
 * Which of them runs first is chance, so that every limit is tried several
 * times. */
static void too_few_addresses_are_refused(void **state)
{
  command c;
  command_begin(&c);
  static const char table[] = "1,2,4\n2,1,7\n3,5,1\n4,4,2\n0,1,2\n";
  command_write(&c, "x.csv", table, sizeof table - 1);
  for (int i = 0; i < 40; i++) {
    int limit = 250 + i % 20 * 15;
    char line[256];
    snprintf(line, sizeof line,
             "ulimit -v %d000; ulimit -t 60; $L fit rpca x.csv --threads 1",
             limit);
    int code = shell(&c, line);
    if (code != 0 && (code >= 124 || strstr(c.out, "ulimit -v") == NULL))
      fail_msg("%d MB: exit %d: %s", limit, code, c.out);
  }
  refused(&c, "ulimit -v 300000; ulimit -t 60; $L fit rpca x.csv", "-v");
  assert_int_equal(shell(&c,
                         "ulimit -v 300000; ulimit -t 60; $L fit rpca x.csv "
                         "--backend reference --threads 1"),
                   0);
  command_end(&c);
}

/* The fit says how many threads it took. */
static void limits_on_threads_are_obeyed(void **state)
{
  static const char table[] = "1,2,4\n2,1,7\n3,5,1\n4,4,2\n0,1,2\n";
  static const char *const limits[] = {
      "OMP_NUM_THREADS=1", "OMP_THREAD_LIMIT=1", "OPENBLAS_NUM_THREADS=1",
      "taskset -c $(taskset -cp $$ | sed 's/.*[ ,-]//')"};
  command c;
  command_begin(&c);
  command_write(&c, "x.csv", table, sizeof table - 1);
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
    char line[256];
    snprintf(line, sizeof line, "env %s $L fit rpca x.csv --json", limits[i]);
    assert_int_equal(shell(&c, line), 0);
    if (strstr(c.out, "\"threads\": 1,") == NULL)
      fail_msg("%s: %s", limits[i], c.out);
  }
  command_end(&c);
}

int test_limits(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(files_without_end_are_refused),
      cmocka_unit_test(too_few_addresses_are_refused),
      cmocka_unit_test(limits_on_threads_are_obeyed),
  };
  return run_cases(tests, NULL, NULL);
}
