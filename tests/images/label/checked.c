/* Labels that a person has checked: a column of the table says which, and they
 * are neither doubted nor counted, whatever is said against them. */
#include "label_case.h"
#include "python.h"

static const char *const two[] = {"flat", "upright"};
enum { KNOWN = 14, WRONG = 4 };

/* Image WRONG has the other label; `yes` is what is said of it. */
static void write_checked(const command *c, const char *yes)
{
  char table[4096] = "file,checked,what\n";
  for (int i = 0; i < KNOWN; i++)
    sprintf(table + strlen(table), "a%02d.pgm,%s,%s\n", i,
            i == WRONG ? yes : "", two[(i + (i == WRONG)) % 2]);
  write_text(c, "labels.csv", table);
}

static void what_is_checked_is_not_doubted(void **state)
{
  command c;
  begin_stripes(&c, 2);
  write_checked(&c, "");
  command_do(&c, LABEL " --cache kept --json");
  assert_non_null(strstr(strstr(c.out, "\"suspects\""), "in/a04.pgm"));
  assert_non_null(strstr(c.err, "14 checkable"));
  assert_null(strstr(c.err, "--groups"));
  write_checked(&c, "Yes");
  command_do(&c, LABEL " --cache kept --json --labels-out all.csv");
  assert_non_null(strstr(c.out, "\"suspects\": []"));
  assert_non_null(strstr(c.err, "13 checkable"));
  shell(&c, "grep -qx 'file,checked,what,origin' all.csv && "
            "grep -qx 'in/a04.pgm,yes,upright,given' all.csv && "
            "grep -qx 'in/a05.pgm,,upright,given' all.csv");
  command_end(&c);
}

/* It is a column of labels where it is asked for, or stands alone. */
static void a_column_of_that_title(void **state)
{
  command c;
  begin_stripes(&c, 2);
  write_checked(&c, "maybe");
  command_run(&c, LABEL " --cache kept -q");
  command_expect(&c, 4, "labels.csv:6 checked maybe");
  char table[4096] = "file,checked\n";
  for (int i = 0; i < KNOWN; i++)
    sprintf(table + strlen(table), "a%02d.pgm,%s\n", i, i % 2 ? "yes" : "no");
  write_text(&c, "labels.csv", table);
  command_do(&c, LABEL " --cache kept -q");
  table_says(&c, 21, "yes");
  command_end(&c);
}

/* All of them: then nothing is left to doubt. */
static void all_is_checked(void **state)
{
  command c;
  char table[4096] = "file,what,checked\n";
  begin_stripes(&c, 2);
  for (int i = 0; i < KNOWN; i++)
    sprintf(table + strlen(table), "a%02d.pgm,%s,yes\n", i,
            two[(i + (i == WRONG)) % 2]);
  write_text(&c, "labels.csv", table);
  command_do(&c, LABEL " --cache kept --json -o page.html");
  assert_non_null(strstr(c.out, "\"suspects\": []"));
  assert_null(strstr(c.err, "checkable"));
  command_end(&c);
}

/* The whole loop, twice: what looks wrong is confirmed on the page, and what
 * was filled in corrected; the run after that takes both as they are. */
static void the_page_answers_back(void **state)
{
  command c;
  char words[200];
  python_need_browser();
  begin_stripes(&c, 2);
  write_checked(&c, "");
  command_do(&c, LABEL " --cache kept -q -o page.html");
  snprintf(words, sizeof words, "%s w '#check-no' z", c.folder);
  python_run("browse_label.py", words);
  shell(&c, "grep -qx 'file,checked,what' labels.csv && "
            "grep -qx 'in/a04.pgm,yes,upright' labels.csv && "
            "test $(grep -c ',yes,' labels.csv) = 1 && "
            "test $(grep -c ',,$' labels.csv) = 10");
  command_do(&c, LABEL " --cache kept -q --json -o page.html");
  assert_non_null(strstr(c.out, "\"suspects\": []"));
  snprintf(words, sizeof words, "%s '#check-no' q", c.folder);
  python_run("browse_label.py", words);
  shell(&c, "test $(grep -c ',yes,' labels.csv) = 3 && "
            "test $(grep -c ',,$' labels.csv) = 8 && "
            "test $(grep -c ',yes,$' labels.csv) = 1");
  command_do(&c, LABEL " --cache kept -q --json");
  assert_non_null(strstr(c.out, "\"suspects\": []"));
  command_end(&c);
}

int test_checked(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_checked_is_not_doubted),
      cmocka_unit_test(a_column_of_that_title),
      cmocka_unit_test(all_is_checked),
      cmocka_unit_test(the_page_answers_back),
  };
  return run_cases(tests, NULL, NULL);
}
