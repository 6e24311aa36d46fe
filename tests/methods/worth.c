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

/* What failed before, or inside, is no error of a solve that succeeds. */
static void a_success_leaves_no_error(void **state)
{
  double X[] = {0, 1, 2, 3, 4, 5, 7, 6}, Y[] = {0, 0, 1, 0, 1, 1, 0, 1};
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_data data = {.X = lapis_mat_f64(X, 1, 8), .Y = lapis_mat_f64(Y, 1, 8)};
  static const char *const names[] = {"linear", "trees", "svmplus"};
  for (int k = 0; k < 3; k++) {
    lapis_solver *s;
    data.Y.cols = 7;
    const lapis_method *m = lapis_method_find(names[k]);
    assert_true(lapis_solver_new(ctx, m, &data, NULL, &s) < 0);
    assert_true(strlen(lapis_ctx_error(ctx)) > 0);
    data.Y.cols = 8;
    assert_int_equal(lapis_solver_new(ctx, m, &data, NULL, &s), LAPIS_OK);
    assert_int_equal(lapis_solve(s), LAPIS_OK);
    assert_string_equal(lapis_ctx_error(ctx), "");
    lapis_solver_free(s);
  }
  lapis_ctx_free(ctx);
}

int test_worth(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_method_is_listed),
      cmocka_unit_test(a_success_leaves_no_error)};
  return run_cases(tests, NULL, NULL);
}
