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

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(who_was_tried_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
