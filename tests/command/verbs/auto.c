/* fit auto: whichever candidate predicts hidden labels best answers, and its
 * model likewise; mc whose mu is open is auto with mc alone. */
#include "check.h"
#include "command.h"
#include "remarks.h"

enum { N = 150, D = 4 };

/* Three classes one behind the other: a line a class cannot cut out the middle
 * one.  Features missing with probability `gaps`; every third label unknown. */
static void write_data(command *c, const char *name, double gaps)
{
  char path[512];
  uint64_t seed = 11;
  snprintf(path, sizeof path, "%s/%s", c->folder, name);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fprintf(f, "a,b,c,d,kind\n");
  for (int j = 0; j < N; j++) {
    int kind = j / 3 % 3;
    double level = 3 * kind + check_normal(&seed);
    for (int i = 0; i < D; i++) {
      double v = i < 2 ? level + .5 * check_normal(&seed) : check_normal(&seed);
      if (check_uniform(&seed) < gaps && i > 0)
        fprintf(f, ",");
      else
        fprintf(f, "%.4f,", v);
    }
    fprintf(f, "%s\n",
            j % 3 == 0  ? ""
            : kind == 0 ? "low"
            : kind == 1 ? "mid"
                        : "top");
  }
  fclose(f);
}

static int right(const char *out)
{
  static const char *const name[] = {"low", "mid", "top"};
  int count = 0, j = 0;
  for (const char *at = out; j < N; j++) {
    const char *end = strchr(at, '\n'), *tab = strchr(at, '\t');
    assert_true(end != NULL && tab != NULL && tab < end);
    count += strncmp(tab + 1, name[j / 3 % 3], 3) == 0;
    at = end + 1;
  }
  return count;
}

/* The winner's model answers as the fit did, but for mc's part, which reads the
 * samples that it answers. */
static void the_winner_answers(void **state)
{
  command c;
  command_begin(&c);
  write_data(&c, "t.csv", 0);
  command_run(&c, "fit mc t.csv --target kind --model mc.lapis");
  command_expect(&c, 0, LABELS_WERE_HIDDEN);
  command_run(&c, "predict mc.lapis t.csv --target kind");
  int by_mc = right(c.out);
  command_run(&c, "fit auto t.csv --target kind --candidates linear,trees "
                  "--model auto.lapis --json -o auto.npz");
  command_expect(&c, 0, " answers (");
  assert_non_null(strstr(c.out, "\"candidates\": ["));
  assert_non_null(strstr(c.out, "\"answers\": true"));
  command_run(&c, "predict auto.lapis t.csv --target kind");
  assert_true(right(c.out) >= by_mc);
  CHECK_AT_LEAST(right(c.out), 130);
  command_do(&c, "predict auto.lapis t.csv --target kind -o again.npz");
  (void)command_same(&c, "auto.npz", "again.npz", "scores");
  (void)command_same(&c, "auto.npz", "again.npz", "probabilities");
  command_end(&c);
}

/* What mc answers where its mu is open is what auto does with mc alone. */
static void open_mc_is_auto(void **state)
{
  static const char *const same[] = {"scores", "probabilities", "low_rank",
                                     "candidate_figures"};
  command c;
  command_begin(&c);
  write_data(&c, "t.csv", .1);
  command_run(&c, "fit mc t.csv --target kind --gamma 2 -o mc.npz");
  command_expect(&c, 0, "");
  command_run(&c, "fit auto t.csv --target kind --candidates mc --gamma 2 -o "
                  "auto.npz");
  command_expect(&c, 0, "");
  for (size_t k = 0; k < sizeof same / sizeof *same; k++)
    assert_true(command_same(&c, "mc.npz", "auto.npz", same[k]) > 0);
  command_run(&c, "fit mc t.csv --target kind --map l2 -o mc.npz");
  command_expect(&c, 0, "--map l2 --variant");
  command_run(&c, "fit mc t.csv --target kind --mu-rel .1 --map standard -o "
                  "mc.npz");
  command_expect(&c, 0, "");
  assert_null(strstr(c.err, "hidden"));
  command_end(&c);
}

/* With gaps: filled by an mc, which the model holds; and the mean of several.
 */
static void models_hold_models(void **state)
{
  command c;
  command_begin(&c);
  write_data(&c, "t.csv", .4);
  command_run(&c, "fit auto t.csv --target kind --model a.lapis --json");
  command_expect(&c, 0, "gaps filled by mc");
  command_run(&c, "predict a.lapis t.csv --target kind");
  CHECK_AT_LEAST(right(c.out), 110);
  command_run(&c, "info a.lapis");
  command_expect(&c, 0, "");
  command_run(&c, "fit auto t.csv --target kind --candidates linear,trees "
                  "--model b.lapis --json");
  command_expect(&c, 0, "");
  assert_null(strstr(c.out, "\"method\": \"mc\""));
  assert_null(strstr(c.err, "filled by mc"));
  command_run(&c, "predict b.lapis t.csv --target kind");
  CHECK_AT_LEAST(right(c.out), 110);
  command_end(&c);
}

/* What an earlier run chose, named with its settings, answers to the bit alike:
 * one, a mean, behind what mc has filled, of labels and of numbers. */
static void who_is_named_answers(void **state)
{
  static const struct {
    double gaps;
    const char *target, *who;
  } row[] = {{0, "--target kind", ""},
             {.4, "--target kind", ""},
             {.4, "--target kind", "--candidates trees"},
             {.1, "--target a --drop kind --targets numbers", ""}};
  command c;
  command_begin(&c);
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    lapis_arrays all;
    write_data(&c, "t.csv", row[k].gaps);
    command_do(&c, "fit auto t.csv %s %s -o a.npz -q", row[k].target,
               row[k].who);
    command_arrays(&c, "a.npz", &all);
    const lapis_array *choice = lapis_arrays_find(&all, "choice");
    assert_non_null(choice);
    command_run(&c, "fit auto t.csv %s --candidates '%s' -o b.npz",
                row[k].target, *(const char *const *)choice->mat.val);
    command_expect(&c, 0, NOBODY_COMPARED);
    lapis_arrays_free(&all);
    assert_true(command_same(&c, "a.npz", "b.npz", "scores") > 0);
    command_do(&c, "fit auto t.csv %s --again b.npz -o a.npz -q",
               row[k].target);
    assert_true(command_same(&c, "a.npz", "b.npz", "scores") > 0);
    assert_true(command_same(&c, "a.npz", "b.npz", "choice") > 0);
  }
  command_end(&c);
}

/* Rows without a label, the least sure first; of three classes by the two
 * likeliest. */
static void what_to_ask(void **state)
{
  command c;
  lapis_arrays all;
  command_begin(&c);
  write_data(&c, "t.csv", .1);
  command_do(&c, "fit auto t.csv --target kind --candidates linear --ask 4 "
                 "--json -o a.npz -q");
  assert_non_null(strstr(c.out, "\"ask\": ["));
  command_arrays(&c, "a.npz", &all);
  const lapis_mat *p = &lapis_arrays_find(&all, "probabilities")->mat;
  const lapis_array *asked = lapis_arrays_find(&all, "ask_index");
  const lapis_array *margin = lapis_arrays_find(&all, "ask_margin");
  assert_true(asked != NULL && asked->mat.cols == 4 && margin != NULL);
  for (int64_t k = 0; k < 4; k++) {
    int64_t j = (int64_t)lapis_mat_at(&asked->mat, 0, k);
    double q[3], by = lapis_mat_at(&margin->mat, 0, k), least = 1;
    assert_int_equal(j % 3, 0);
    for (int i = 0; i < 3; i++) q[i] = lapis_mat_at(p, i, j);
    double most = fmax(fmax(q[0], q[1]), q[2]);
    for (int i = 0; i < 3; i++)
      if (q[i] < most) least = fmin(least, most - q[i]);
    CHECK_AT_MOST(fabs(least - by), 1e-12);
    if (k > 0) CHECK_AT_MOST(lapis_mat_at(&margin->mat, 0, k - 1), by);
  }
  lapis_arrays_free(&all);
  command_run(&c, "fit auto t.csv --target kind --candidates linear --ask 2");
  command_expect(&c, 0, "");
  assert_non_null(strstr(c.out, HELP_MOST));
  command_run(&c, "fit auto t.csv --target a --drop kind --targets numbers "
                  "--ask 2");
  command_expect(&c, 2, "--ask");
  static const char bags[] = "bag,a,kind\n1,1,low\n1,2,low\n2,3,top\n";
  command_write(&c, "bags.csv", bags, strlen(bags));
  command_run(&c, "fit auto bags.csv --target kind -G bag --bags --ask 2");
  command_expect(&c, 2, "--ask");
  command_end(&c);
}

static void what_makes_no_sense(void **state)
{
  static const struct {
    const char *options, *words;
    int code;
  } row[] = {{"--candidates best", "'best'", 2},
             {"--candidates mc,,trees", "''", 2},
             {"--candidates 'best --C 1'", "'best'", 2},
             {"--candidates 'linear --C 0'", "linear --C 0", 4},
             {"--candidates 'linear --C'", "linear --C", 4},
             {"--candidates 'linear --map l7 --C 1'", "l7", 4},
             {"--candidates 'mc --mu-rel x'", "mu-rel", 4},
             {"--candidates 'mc --variant pos --mu-rel .1'", "pos", 4},
             {"--candidates 'linear --C 1; '", "''", 2},
             {"--map nonsense", "nonsense", 2},
             {"--mu .1", "mu", 2}};
  command c;
  command_begin(&c);
  write_data(&c, "t.csv", 0);
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    command_run(&c, "fit auto t.csv --target kind %s", row[k].options);
    command_expect(&c, row[k].code, row[k].words);
  }
  command_run(&c, "fit linear t.csv --target kind --again a.npz");
  command_expect(&c, 2, "--again");
  command_do(&c, "fit linear t.csv --target kind -o a.npz -q");
  command_run(&c, "fit auto t.csv --target kind --again a.npz");
  command_expect(&c, 4, "a.npz");
  command_run(&c, "fit auto t.csv --drop kind");
  command_expect(&c, 4, "--target");
  command_write(&c, "few.csv", "a,k\n1,x\n2,y\n3,x\n4,\n", 19);
  for (int k = 0; k < 3; k++) {
    static const char *const who[] = {"mc", "linear", "trees"};
    command_run(&c, "fit auto few.csv --target k --candidates %s -o f.csv",
                who[k]);
    command_expect(&c, 0, who[k]);
    assert_non_null(strstr(c.err, TOO_FEW_LABELS));
  }
  command_end(&c);
}

/* A label that was turned stands first among those in doubt, on standard output
 * and in a table; the command that JSON and page show repeats the run. */
static void suspects_are_told(void **state)
{
  command c;
  command_begin(&c);
  char text[8000];
  size_t used = (size_t)sprintf(text, "id,a,kind\n");
  uint64_t seed = 5;
  for (int i = 0; i < 80; i++)
    used += (size_t)sprintf(text + used, "r%d,%.3f,%s\n", i,
                            6 * (i % 2) + check_normal(&seed),
                            (i % 2 == 1) != (i == 7) ? "yes" : "no");
  command_write(&c, "t.csv", text, used);
  command_do(&c, "fit auto t.csv --id id --target kind --suspects 2 -o a.csv "
                 "--json -q");
  char command_line[512], *at = strstr(c.out, "\"command\": \"lapis ");
  assert_non_null(at);
  snprintf(command_line, sizeof command_line, "%.*s",
           (int)strcspn(at + 18, "\""), at + 18);
  assert_non_null(strstr(c.out, "\"sample\": 7,"));
  command_run(&c, "--version && grep -q '^r7,no,given,1,' a.csv && rm a.csv");
  command_expect(&c, 0, "");
  command_do(&c, "%s", command_line);
  assert_true(command_exists(&c, "a.csv"));
  command_do(&c, "fit mc t.csv --id id --target kind --suspects 2 -o a.csv -q");
  assert_non_null(strstr(c.out, "  r7 "));
  /* one of the two looks wrong, on the page as in the list */
  static char page[400000];
  command_do(&c, "fit auto t.csv --id id --target kind --suspects 2 -q");
  assert_non_null(strstr(c.out, ONE_OF_THESE_LOOKS));
  command_do(&c, "fit auto t.csv --id id --target kind --suspects 2 -q "
                 "-o a.html");
  command_slurp(&c, "a.html", page, sizeof page);
  assert_non_null(strstr(page, ONE_OF_THESE_LOOKS));
  assert_null(strstr(page, NONE_LOOKS_WRONG));
  assert_null(strstr(page, THESE_LOOK_WRONG));
  command_end(&c);
}

/* Of three classes as many rows as are asked for, each once, with what it
 * rather is; numbers are named as texts are.  One that is wrong of 80 is not
 * enough to say with which probability it is. */
static void suspects_of_classes_are_rows(void **state)
{
  static const char *const as[][3] = {{"no", "so", "yes"}, {"1", "3", "7"}};
  static const char *const first[] = {
      "  r7                   given yes, rather so\n",
      "  r7                   given 7, rather 3\n"};
  for (int k = 0; k < 2; k++) {
    command c;
    command_begin(&c);
    char text[8000];
    size_t used = (size_t)sprintf(text, "id,a,b,kind\n");
    uint64_t seed = 5;
    for (int i = 0; i < 80; i++)
      used += (size_t)sprintf(text + used, "r%d,%.3f,%.3f,%s\n", i,
                              6 * (i % 3 == 1) + check_normal(&seed),
                              6 * (i % 3 == 2) + check_normal(&seed),
                              as[k][i == 7 ? 2 : i % 3]);
    command_write(&c, "t.csv", text, used);
    command_do(&c, "fit mc t.csv --id id --target kind "
                   "--suspects 12 -q");
    assert_non_null(strstr(c.out, first[k]));
    int lines = 0;
    for (const char *at = c.out; (at = strstr(at, "\n  r")) != NULL; at++)
      lines++;
    assert_int_equal(lines, 12);
    command_end(&c);
  }
}

/* In the list, in JSON and on a page, which has it unasked; a column of names
 * is one, by its title. */
static void what_matters_is_told(void **state)
{
  static const char *const dye[] = {"red", "green", "blue"};
  static char text[20000], page[400000];
  command c;
  command_begin(&c);
  size_t used = (size_t)sprintf(text, "age,dye,noise,kind\n");
  uint64_t seed = 5;
  for (int i = 0; i < 150; i++) {
    double age = check_normal(&seed), other = check_normal(&seed);
    int k = (int)(3 * check_uniform(&seed));
    double z = age + k - 1 + .5 * check_normal(&seed);
    used += (size_t)sprintf(text + used, "%.3f,%s,%.3f,%s\n", age, dye[k],
                            other, z > 0 ? "tall" : "flat");
  }
  command_write(&c, "t.csv", text, used);
  command_do(&c, "fit auto t.csv --target kind --one-hot dye --candidates "
                 "linear --importance -q");
  assert_non_null(strstr(c.out, "  age "));
  assert_non_null(strstr(c.out, "as it grows, tall is likelier"));
  assert_non_null(strstr(c.out, "  dye "));
  assert_null(strstr(c.out, "dye=red"));
  command_do(&c, "fit auto t.csv --target kind --one-hot dye --candidates "
                 "linear -o p.html --json -q");
  assert_non_null(strstr(c.out, "\"feature\": \"dye\""));
  command_slurp(&c, "p.html", page, sizeof page);
  assert_non_null(strstr(page, "id=\"importance\""));
  command_run(&c, "fit auto t.csv --target kind --one-hot dye --bags -G dye "
                  "--importance -q");
  assert_int_not_equal(c.code, 0);
  command_end(&c);
}

static void suspects_are_found(void **state)
{
  static const char *const who[] = {"auto", "mc"};
  command c;
  command_begin(&c);
  write_data(&c, "t.csv", 0);
  for (int k = 0; k < 2; k++) {
    command_run(&c, "fit %s t.csv --target kind --suspects 4 --json -q",
                who[k]);
    command_expect(&c, 0, "");
    assert_non_null(strstr(c.out, "\"suspects\": ["));
    assert_non_null(strstr(c.out, "\"probability_wrong\""));
  }
  command_end(&c);
}

/* The sign of a product, which no line tells; every third is asked. */
static void write_product(const command *c, int n)
{
  char path[512];
  uint64_t seed = 3;
  snprintf(path, sizeof path, "%s/p.csv", c->folder);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fprintf(f, "a,b,kind\n");
  for (int j = 0; j < n; j++) {
    double a = check_normal(&seed), b = check_normal(&seed);
    const char *kind = a * b > 0 ? "same" : "other";
    fprintf(f, "%.4f,%.4f,%s\n", a, b, j % 3 == 0 ? "" : kind);
  }
  fclose(f);
}

/* Of many samples neither trees nor kernels are compared; then it is said, and
 * labels are not called too few. */
static void what_was_not_tried_is_said(void **state)
{
  static const char *const said = "trees and kernels were not tried";
  command c;
  command_begin(&c);
  write_product(&c, 100001);
  command_run(&c, "fit auto p.csv --target kind");
  command_expect(&c, 0, said);
  write_product(&c, 300);
  command_run(&c, "fit auto p.csv --target kind");
  command_expect(&c, 0, " answers (");
  assert_null(strstr(c.err, said));
  command_end(&c);
}

int test_auto(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_winner_answers),
      cmocka_unit_test(open_mc_is_auto),
      cmocka_unit_test(models_hold_models),
      cmocka_unit_test(who_is_named_answers),
      cmocka_unit_test(what_to_ask),
      cmocka_unit_test(what_makes_no_sense),
      cmocka_unit_test(suspects_are_found),
      cmocka_unit_test(what_matters_is_told),
      cmocka_unit_test(suspects_of_classes_are_rows),
      cmocka_unit_test(suspects_are_told),
      cmocka_unit_test(what_was_not_tried_is_said),
  };
  return run_cases(tests, NULL, NULL);
}
