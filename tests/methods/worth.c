/* worth.c - the page of mathematics says of every method what "solved" is
 * worth. */
#include "check.h"

static void every_method_is_listed(void **state)
{
  static char text[1 << 17];
  FILE *in = fopen(LAPIS_TREE "/docs/mathematics.md", "r");
  assert_non_null(in);
  text[fread(text, 1, sizeof text - 1, in)] = '\0';
  (void)fclose(in);
  char *table = strstr(text, "| method | what \"solved\" says |");
  assert_non_null(table);
  *strstr(table, "\n\n") = '\0';
  for (int i = 0; lapis_method_at(i) != NULL; i++) {
    char cell[64];
    snprintf(cell, sizeof cell, "`%s`", lapis_method_at(i)->name);
    if (strstr(table, cell) == NULL)
      fail_msg("docs/mathematics.md does not say what solved means of %s",
               lapis_method_at(i)->name);
  }
}

int test_worth(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_method_is_listed)};
  return run_cases(tests, NULL, NULL);
}
