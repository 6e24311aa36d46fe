/* lapis label that ends early: out of time, and interrupted. */
#include "label_case.h"
#include "remarks.h"

enum { MANY = 96, KNOWN = 64 };

/* Images whose completion takes the reference machine long, by ADMM (pos). */
static void begin_slow(command *c)
{
  uint64_t state = 11;
  char table[4096] = "";
  command_begin(c);
  folder(c, "in");
  for (int i = 0; i < MANY; i++) {
    picture p;
    char name[32];
    stripes(&p, i % 2, &state);
    snprintf(name, sizeof name, "in/a%02d.pgm", i);
    write_picture(c, name, &p);
    if (i < KNOWN)
      sprintf(table + strlen(table), "a%02d,%s\n", i,
              i % 2 == 0 ? "flat" : "upright");
  }
  write_text(c, "labels.csv", table);
}

#define SLOW                                                                  \
  "label in --labels labels.csv --features pixels --size 64x64 --cache kept " \
  "--backend reference --threads 1 "
#define FILES "--result r.npz --labels-out full.csv -o page.html "

static const char *const files[] = {"r.npz", "full.csv", "page.html"};

/* All of them, or none; and nothing half-written here or in the cache. */
static void files_are(const command *c, bool there)
{
  for (int k = 0; k < 3; k++)
    if (command_exists(c, files[k]) != there)
      fail_msg("%s is%s there", files[k], there ? " not" : "");
  shell(c, "test -z \"$(find . -name '*.tmp*')\"");
}

/* Given labels as they were, and one of the two for every other image. */
static void table_is_whole(const command *c)
{
  for (int i = 0; i < MANY; i++) {
    char name[32];
    snprintf(name, sizeof name, "in/a%02d.pgm ", i);
    const char *line = strstr(c->out, name);
    assert_non_null(line);
    const char *end = strchr(line, '\n'), *flat = strstr(line, " flat ");
    const char *upright = strstr(line, " upright ");
    bool is_flat = flat != NULL && flat < end;
    assert_true(is_flat != (upright != NULL && upright < end));
    if (i < KNOWN) assert_int_equal(is_flat, i % 2 == 0);
  }
}

/* ---- out of time --------------------------------------------------------*/
static void without_time_there_is_no_answer(void **state)
{
  command c;
  begin_slow(&c);
  command_run(&c, SLOW FILES "--time-limit 0");
  command_expect(&c, 1, "--time-limit cache");
  assert_string_equal(c.out, "");
  files_are(&c, false);
  command_run(&c, SLOW "--no-cache --time-limit 0");
  command_expect(&c, 1, "--time-limit");
  command_end(&c);
}

/* With more time where there was too little for the features: machines
 * differ.  The completion takes longer than any of these. */
static void run_out_of_time(command *c, double seconds, const char *arguments)
{
  for (double limit = seconds; limit <= 256 * seconds; limit *= 2) {
    char line[1024];
    snprintf(line, sizeof line, SLOW "%s --time-limit %g", arguments, limit);
    command_run(c, line);
    if (strstr(c->err, BEFORE_LABELS) == NULL) return;
  }
}

/* Features are made and the completion is not done: what there is is written,
 * and said to be so. */
static void an_answer_out_of_time_is_written(void **state)
{
  command c;
  lapis_arrays all;
  begin_slow(&c);
  run_out_of_time(&c, .25, FILES GIVEN " --variant pos --suspects 0");
  command_expect(&c, 0, "label: stopped before (time-limit)");
  table_is_whole(&c);
  files_are(&c, true);
  command_arrays(&c, "r.npz", &all);
  assert_int_equal(lapis_arrays_find(&all, "scores")->mat.cols, MANY);
  lapis_arrays_free(&all);
  shell(&c, "test $(wc -l < full.csv) -eq 97");
  run_out_of_time(&c, .25, GIVEN " --variant pos --suspects 0 --strict -q");
  assert_int_equal(c.code, 1); /* and the warnings of an answer */
  table_is_whole(&c);
  run_out_of_time(&c, .25, GIVEN " --variant pos --suspects 0 --json");
  command_expect(&c, 0, "");
  lapis_json *v = command_json(c.out);
  assert_string_equal(lapis_json_text(v, "status", ""), "time-limit");
  lapis_json_free(v);
  command_end(&c);
}

/* Choosing has half of the time and looking for wrong labels half of the rest:
 * the first says that it was cut short, and the answer still has its share. */
static void choosing_leaves_time_for_an_answer(void **state)
{
  command c;
  begin_slow(&c);
  run_out_of_time(&c, .5, FILES "--variant pos ");
  command_expect(&c, 0, "");
  assert_true(strstr(c.err, "no time to compare candidates") != NULL ||
              strstr(c.err, TIME_RAN_OUT) != NULL);
  table_is_whole(&c);
  files_are(&c, true);
  command_end(&c);
}

/* ---- interrupted --------------------------------------------------------*/
/* Runs "lapis ARGUMENTS", which would take long, and sends a signal. */
static void interrupt(command *c, double seconds, const char *signal,
                      const char *arguments)
{
  char line[1024];
  snprintf(line, sizeof line,
           "cd %s && timeout --preserve-status -k 60 -s %s %g %s %s "
           ">.stdout 2>.stderr </dev/null",
           c->folder, signal, seconds, getenv("LAPIS_COMMAND"), arguments);
  int status = system(line);
  c->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  command_slurp(c, ".stdout", c->out, sizeof c->out);
  command_slurp(c, ".stderr", c->err, sizeof c->err);
}

/* One sentence, the exit code, and files that were there stay as they were. */
static void an_interruption_writes_nothing(void **state)
{
  static const double seconds[] = {1.5, .3};
  static const char *const signals[] = {"INT", "TERM"};
  command c;
  for (int k = 0; k < 2; k++) {
    begin_slow(&c);
    write_text(&c, "full.csv", "as it was\n");
    /* a slow machine has not begun to listen: later, then */
    for (double at = seconds[k]; at < 30; at *= 3) {
      interrupt(&c, at, signals[k], SLOW FILES "--variant pos -q");
      if (c.err[0] != '\0') break;
    }
    if (c.code != 130) fail_msg("exit %d, '%s'", c.code, c.err);
    assert_string_equal(c.out, "");
    const char *said = c.err[0] == '\n' ? c.err + 1 : c.err;
    assert_memory_equal(said, "lapis: ", 7);
    assert_non_null(strstr(said, "interrupted"));
    assert_string_equal(strchr(said, '\n'), "\n");
    shell(&c, "test \"$(cat full.csv)\" = 'as it was'; rm full.csv");
    files_are(&c, false);
    command_end(&c);
  }
}

int test_ends(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_time_there_is_no_answer),
      cmocka_unit_test(an_answer_out_of_time_is_written),
      cmocka_unit_test(choosing_leaves_time_for_an_answer),
      cmocka_unit_test(an_interruption_writes_nothing),
  };
  return run_cases(tests, NULL, NULL);
}
