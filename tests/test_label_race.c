/* lapis label where settings are left to LAPIS: who was tried is told, in JSON
 * and on the page, and the answer is good on photographs. */
#include "label_case.h"

static const char *const two[] = {"flat", "upright"};

/* The number behind a key, from *at on. */
static double behind(const char *at, const char *key)
{
  double v = NAN;
  const char *found = strstr(at, key);
  assert_non_null(found);
  assert_int_equal(sscanf(found + strlen(key), "\": %lf", &v), 1);
  return v;
}

/* Each runner of the JSON stands on the page with its figures. */
static void who_was_tried_is_told(void **state)
{
  (void)state;
  command c;
  char line[400];
  int n = 0;
  begin_stripes(&c, 2);
  write_labels(&c, two, 2, 10);
  command_run(&c, CHOOSING " --no-cache --json -o page.html");
  command_expect(&c, 0, "");
  const char *at = strstr(c.out, "\"runners\"");
  assert_non_null(at);
  double least = behind(at, "log_loss");
  while ((at = strstr(at, "\"settings\": \"")) != NULL) {
    at += strlen("\"settings\": \"");
    double loss = behind(at, "log_loss");
    CHECK_AT_LEAST(loss, least - .002);
    snprintf(line, sizeof line,
             "grep -qF -e '%.*s</th><td>%.4f +- %.4f</td><td>%.3f</td><td>' "
             "page.html",
             (int)strcspn(at, "\""), at, loss, behind(at, "error"),
             behind(at, "auroc"));
    shell(&c, line);
    n++;
  }
  CHECK_AT_LEAST((double)n, 8);
  shell(&c, "test $(grep -c '</td><td>answers' page.html) = 1");
  shell(&c, "grep -qE '(a toss-up|clear|nothing was learnt)</td>' page.html");
  command_run(&c, "%s --no-cache --json", LABEL);
  command_expect(&c, 0, "");
  assert_null(strstr(c.out, "\"runners\"")); /* settings are given */
  command_end(&c);
}

/* All labels are right, but two folds of four people foretell them badly; who
 * errs on a whole person has no reason to doubt that person's labels. */
static void right_labels_of_a_few_people_stay(void **state)
{
  (void)state;
  command c;
  command_begin(&c);
  folder(&c, "people");
  shell(&c, "for p in an2i at33 boland bpm ch4f cheyer; do cp " LAPIS_TREE
            "/data/cmu_faces/images/${p}_straight_* people; done");
  shell(&c, "cut -d, -f1,2,5 " LAPIS_TREE "/data/cmu_faces/index.csv | grep -E "
            "'^(name|(an2i|at33|boland|bpm)_straight)' >labels.csv");
  for (int where = 0; where < 2; where++) {
    command_run(&c,
                "label people --labels labels.csv --target eyes --groups "
                "subject --count 2000 --words 125 --learn 10000 --folds 2 "
                "--cache kept --json%s",
                where ? " --where" : "");
    command_expect(&c, 0, "");
    assert_non_null(strstr(c.out, "\"suspects\": []"));
  }
  command_end(&c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(who_was_tried_is_told),
      cmocka_unit_test(right_labels_of_a_few_people_stay),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
