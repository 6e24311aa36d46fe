/* fit auto --coverage: sets and intervals are columns of tables, of the fit and
 * of what its model predicts; the page begins with what is to be looked at; who
 * has no sets says who has. */
#include "check.h"
#include "command.h"
#include "remarks.h"

enum { N = 240, KNOWN = 200 };

/* A noisy level, as a word and as a number. */
static void write_data(command *c)
{
  char path[512];
  uint64_t seed = 3;
  snprintf(path, sizeof path, "%s/t.csv", c->folder);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fprintf(f, "name,a,b,word,height\n");
  for (int j = 0; j < N; j++) {
    double a = check_normal(&seed), z = a + .5 * check_normal(&seed);
    fprintf(f, "n%d,%.3f,%.3f,", j, a, check_normal(&seed));
    if (j < KNOWN)
      fprintf(f, "%s,%.3f\n", z < -.5 ? "low" : z > .5 ? "top" : "mid", z);
    else
      fprintf(f, ",\n");
  }
  fclose(f);
}

/* The n-th cell of line j, counted from 0; without quotation marks. */
static const char *cell(const char *table, int j, int n, char to[64])
{
  for (; j > 0; j--) table = strchr(table, '\n') + 1;
  for (; n > 0; n--) table = strchr(table, ',') + 1;
  bool quoted = *table == '"';
  snprintf(to, 64, "%.*s", (int)strcspn(table + quoted, quoted ? "\"" : ",\n"),
           table + quoted);
  return to;
}

/* Visits of one person are no votes of their own. */
static void groups_count_once(void **state)
{
  char text[1 << 14] = "person,a,word\n", said[64];
  uint64_t seed = 4;
  command c;
  command_begin(&c);
  for (int j = 0; j < 160; j++) {
    static double own;
    if (j % 8 == 0) own = check_normal(&seed);
    sprintf(text + strlen(text), "p%d,%.3f,%s\n", j / 8,
            own + .2 * check_normal(&seed),
            own + check_normal(&seed) > 0 ? "yes" : "no");
  }
  command_write(&c, "g.csv", text, strlen(text));
  for (int k = 0; k < 2; k++) {
    double from, to;
    command_do(&c,
               "fit auto g.csv --target word --candidates linear "
               "--coverage .9 -o a.csv %s",
               k == 0 ? "--drop person" : "-G person");
    snprintf(said, sizeof said, "with %s" TRUE_SHARE_IS,
             k == 0 ? "so many" : "20 groups, which err together,");
    const char *at = strstr(c.err, said);
    assert_non_null(at);
    assert_int_equal(sscanf(at + strlen(said), "%lf to %lf", &from, &to), 2);
    CHECK_NEAR(to - from, k == 0 ? 9.4 : 26, 2); /* Wilson's, of 160 and 20 */
  }
  command_end(&c);
}

static void sets_are_columns(void **state)
{
  command c;
  char said[64], set[64], table[64000];
  int several = 0;
  command_begin(&c);
  write_data(&c);
  command_run(&c, "fit auto t.csv --id name --target word --drop height "
                  "--candidates linear --coverage .9 --model m.lapis -o a.csv");
  command_expect(&c, 0, "sets for 90 % of new samples");
  command_slurp(&c, "a.csv", table, sizeof table);
  assert_string_equal(cell(table, 0, 4, set), "set");
  for (int j = 1; j <= N; j++) {
    cell(table, j, 1, said);
    cell(table, j, 4, set);
    if (j > KNOWN) assert_non_null(strstr(set, said));
    several += strchr(set, ';') != NULL;
  }
  assert_true(several > 5 && several < N);
  command_run(&c, "info m.lapis"); /* the models of folds: one line */
  char *folds = strstr(c.out, "arrays fold.");
  assert_non_null(folds);
  assert_null(strstr(folds + 12, "fold."));
  command_run(&c, "predict m.lapis t.csv --id name --drop word,height "
                  "--coverage .999 --coverage-by class -o b.csv");
  command_expect(&c, 0, "");
  command_slurp(&c, "b.csv", table, sizeof table);
  assert_string_equal(cell(table, 0, 2, set), "set");
  assert_string_equal(cell(table, 7, 2, set), "low;mid;top");
  command_run(&c, "predict m.lapis t.csv --id name --drop word,height "
                  "--coverage 0 -o b.csv");
  command_slurp(&c, "b.csv", table, sizeof table);
  assert_string_equal(cell(table, 0, 2, set), "probability of low");
  command_run(&c, "predict m.lapis t.csv --id name --drop word,height "
                  "--coverage .999 --coverage-by class");
  assert_non_null(strstr(c.out, "\tlow;mid;top\n"));
  command_run(&c, "predict m.lapis t.csv --id name --drop word,height --json");
  assert_non_null(strstr(c.out, "\"set\": ["));
  command_run(&c, "info m.lapis");
  assert_non_null(strstr(c.out, "of coverage 0.9"));
  command_end(&c);
}

static void intervals_are_columns(void **state)
{
  command c;
  char low[64], said[64], high[64], table[64000];
  command_begin(&c);
  write_data(&c);
  command_run(&c, "fit auto t.csv --id name --target height --drop word "
                  "--candidates linear --coverage .8 --model m.lapis -o a.tsv");
  command_expect(&c, 0, "intervals for 80 % of new samples");
  command_run(&c,
              "predict m.lapis t.csv --id name --drop word,height -o b.csv");
  command_expect(&c, 0, "");
  command_slurp(&c, "b.csv", table, sizeof table);
  assert_string_equal(cell(table, 0, 2, low), "low");
  assert_string_equal(cell(table, 0, 3, high), "high");
  for (int j = 1; j <= N; j++) {
    double from = strtod(cell(table, j, 2, low), NULL);
    double to = strtod(cell(table, j, 3, high), NULL);
    double y = strtod(cell(table, j, 1, said), NULL);
    assert_true(from < y && y < to && to - from < 2);
  }
  command_end(&c);
}

/* Rows of the page that are to be looked at stand before the others. */
static void the_page_begins_with_large_sets(void **state)
{
  command c;
  static char page[4000000];
  command_begin(&c);
  write_data(&c);
  command_run(&c, "fit auto t.csv --id name --target word --drop height "
                  "--candidates linear --coverage .8 -o p.html");
  command_expect(&c, 0, "sets for 80 %");
  command_slurp(&c, "p.html", page, sizeof page);
  const char *rows = strstr(page, "<tbody>");
  assert_non_null(rows);
  const char *first = strstr(rows, "<tr class=\"several\">");
  const char *other = strstr(rows, "<tr class=\"\">");
  assert_true(first != NULL && other != NULL && first < other);
  assert_null(strstr(other, "<tr class=\"several\">"));
  assert_non_null(strstr(page, SETS_OF_SEVERAL));
  command_end(&c);
}

static void what_has_no_sets_says_who_has(void **state)
{
  command c;
  command_begin(&c);
  write_data(&c);
  command_run(&c, "fit linear t.csv --id name --target word --drop height "
                  "--coverage .9");
  command_expect(&c, 2, "'lapis fit auto' has it");
  command_run(&c, "fit auto t.csv --id name --target word --drop height "
                  "--coverage 90");
  command_expect(&c, 2, "--coverage is 90");
  command_run(&c, "fit auto t.csv --id name --target word --drop height "
                  "--coverage-by class");
  command_expect(&c, 2, "goes with --coverage");
  command_run(&c, "fit linear t.csv --id name --target word --drop height "
                  "--model m.lapis");
  command_run(&c, "predict m.lapis t.csv --id name --drop word,height "
                  "--coverage .9");
  command_expect(&c, 2, FIT_WITH_COVERAGE);
  command_end(&c);
}

int test_coverage(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(groups_count_once), cmocka_unit_test(sets_are_columns),
      cmocka_unit_test(intervals_are_columns),
      cmocka_unit_test(the_page_begins_with_large_sets),
      cmocka_unit_test(what_has_no_sets_says_who_has)};
  return run_cases(tests, NULL, NULL);
}
