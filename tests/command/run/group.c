/* -G and --weights: a file, or a column of the table, which then is no feature.
 */
#include "command/verbs/people_case.h"

/* What the column says is what the member "weight" of an archive says. */
static void weights_are_a_column(void **state)
{
  command c;
  command_begin(&c);
  char text[4096] = "a,w,b,kind\n";
  uint64_t seed = 3;
  for (int j = 0; j < 40; j++) {
    double a = check_normal(&seed), b = check_normal(&seed);
    sprintf(text + strlen(text), "%.3f,%d,%.3f,%s\n", a, j % 4, b,
            a + b / 2 + .6 * check_normal(&seed) > 0 ? "yes" : "no");
  }
  put(&c, "t.csv", text);
  command_do(&c, "convert t.csv t.npz --target kind --weights w");
  command_do(&c, "fit linear t.npz --C 1 -q -o n.npz");
  command_do(&c, "fit linear t.csv --target kind --weights w --C 1 -q -o c.npz "
                 "--model m.lapis");
  assert_int_equal(command_same(&c, "n.npz", "c.npz", "scores"), 40);
  assert_int_equal(command_same(&c, "n.npz", "c.npz", "weights"), 1);
  command_do(&c, "fit linear t.csv --target kind --drop w --C 1 -q -o d.npz");
  lapis_arrays one, other;
  command_arrays(&c, "c.npz", &one);
  command_arrays(&c, "d.npz", &other);
  assert_true(lapis_mat_hash(&lapis_arrays_find(&one, "scores")->mat) !=
              lapis_mat_hash(&lapis_arrays_find(&other, "scores")->mat));
  lapis_arrays_free(&one);
  lapis_arrays_free(&other);
  command_do(&c, "predict m.lapis t.csv -q");
  put(&c, "w.csv", "w\n1\n2\n");
  static const command_misuse misuse[] = {
      {"fit rpca t.csv --drop kind --weights w", 2,
       "rpca makes no use of --weights (weights of samples); leave it out: "
       "--drop w does so"},
      {"predict m.lapis t.csv --weights w", 2, "--weights"},
      {"fit linear t.csv --target kind --weights v", 2, "has no column \"v\""},
      {"fit linear t.csv --target kind --drop w --weights b", 4,
       "a weight is a number, 0 or above"},
      {"fit linear t.csv --target kind --weights w.csv", 4, "weight has 2"}};
  command_refuses(&c, misuse, sizeof misuse / sizeof *misuse, "");
  command_end(&c);
}

/* Of several columns of a file one is named. */
static void groups_of_a_file_are_a_column(void **state)
{
  command c;
  command_begin(&c);
  char text[4096] = "a,b,kind\n", groups[4096] = "row,video\n";
  uint64_t seed = 3;
  for (int j = 0; j < 40; j++) {
    double a = check_normal(&seed), b = check_normal(&seed);
    sprintf(text + strlen(text), "%.3f,%.3f,%s\n", a, b,
            a + b / 2 > 0 ? "yes" : "no");
    sprintf(groups + strlen(groups), "%d,v%d\n", j + 1, j / 4);
  }
  put(&c, "t.csv", text);
  put(&c, "groups.csv", groups);
  command_run(&c, "cv linear t.csv --target kind --grid C=1,2 --folds 2 "
                  "-G groups.csv");
  command_expect(&c, 4,
                 "groups.csv: has 2 columns, and the group of a sample is one "
                 "of them: name it, as in groups.csv:video");
  command_do(&c, "cv linear t.csv --target kind --grid C=1,2 --folds 2 "
                 "-G groups.csv:video");
  command_run(&c, "fit linear t.csv --target kind --weights groups.csv");
  command_expect(&c, 4, "the weight of a sample is one of them");
  command_end(&c);
}

int test_group(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(weights_are_a_column),
      cmocka_unit_test(groups_of_a_file_are_a_column),
  };
  return run_cases(tests, NULL, NULL);
}
