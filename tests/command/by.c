/* fit mc --by: who answers after a race, and that models answer likewise. */
#include "check.h"
#include "command.h"

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

/* An array of both files, bit for bit. */
static void check_same(const command *c, const char *one, const char *two,
                       const char *name)
{
  char path[512];
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_arrays a, b;
  snprintf(path, sizeof path, "%s/%s", c->folder, one);
  assert_int_equal(lapis_arrays_read(ctx, path, &a), 0);
  snprintf(path, sizeof path, "%s/%s", c->folder, two);
  assert_int_equal(lapis_arrays_read(ctx, path, &b), 0);
  const lapis_array *x = lapis_arrays_find(&a, name);
  const lapis_array *y = lapis_arrays_find(&b, name);
  assert_true(x != NULL && y != NULL && x->mat.cols == y->mat.cols);
  assert_memory_equal(x->mat.val, y->mat.val,
                      (size_t)(x->mat.rows * x->mat.cols) * sizeof(double));
  lapis_arrays_free(&a);
  lapis_arrays_free(&b);
  lapis_ctx_free(ctx);
}

/* Here mc is clearly behind, and the winner's model answers as the fit did. */
static void the_winner_answers(void **state)
{
  (void)state;
  command c;
  command_begin(&c);
  write_data(&c, "t.csv", 0);
  command_run(&c, "fit mc t.csv --target kind --by mc --model mc.lapis");
  command_expect(&c, 0, "trees on the same labels");
  command_run(&c, "predict mc.lapis t.csv --target kind");
  int by_mc = right(c.out);
  command_run(&c, "fit mc t.csv --target kind --by auto --model auto.lapis "
                  "--json -o auto.npz");
  command_expect(&c, 0, "chose ");
  command_run(&c, "predict auto.lapis t.csv --target kind -o again.npz");
  assert_true(right(c.out) >= by_mc);
  CHECK_AT_LEAST(right(c.out), 130);
  check_same(&c, "auto.npz", "again.npz", "scores");
  check_same(&c, "auto.npz", "again.npz", "probabilities");
  command_end(&c);
}

/* With gaps: filled by an mc, which the model holds; and the mean of both. */
static void models_hold_models(void **state)
{
  (void)state;
  command c;
  command_begin(&c);
  write_data(&c, "t.csv", .4);
  command_run(&c, "fit mc t.csv --target kind --by linear --model l.lapis");
  command_expect(&c, 0, "gaps filled by mc");
  command_run(&c, "predict l.lapis t.csv --target kind");
  CHECK_AT_LEAST(right(c.out), 110);
  command_run(&c,
              "fit mc t.csv --target kind --by both --model b.lapis -o b.npz");
  command_expect(&c, 0, "chose mean, mc and");
  assert_non_null(strstr(c.out, "both: 150 samples"));
  command_run(&c, "predict b.lapis t.csv --target kind");
  CHECK_AT_LEAST(right(c.out), 110);
  command_run(&c, "info b.lapis");
  command_expect(&c, 0, "");
  command_end(&c);
}

static void what_makes_no_sense(void **state)
{
  (void)state;
  static const struct {
    const char *options, *words;
    int code;
  } row[] = {{"--by best", "none of mc, linear, trees, both, auto", 2},
             {"--by auto --mu-rel .1", "give one of them", 2},
             {"--by auto --threshold fixed", "probabilities decide", 2},
             {"--by linear --suspects 3", "--suspects asks mc", 2}};
  command c;
  command_begin(&c);
  write_data(&c, "t.csv", 0);
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    command_run(&c, "fit mc t.csv --target kind %s", row[k].options);
    command_expect(&c, row[k].code, row[k].words);
  }
  command_write(&c, "few.csv", "a,k\n1,x\n2,y\n3,x\n4,\n", 19);
  command_run(&c, "fit mc few.csv --target k --by linear");
  command_expect(&c, 4, "linear");
  command_run(&c, "fit mc few.csv --target k --by trees");
  command_expect(&c, 4, "trees");
  command_run(&c, "fit mc few.csv --target k --by auto -q");
  command_expect(&c, 0, "");
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
  (void)state;
  static const char *const said = "trees and kernels were not tried";
  command c;
  command_begin(&c);
  write_product(&c, 5001);
  command_run(&c, "fit mc p.csv --target kind --by auto");
  command_expect(&c, 0, said);
  command_run(&c, "fit mc p.csv --target kind --by trees");
  command_expect(&c, 4, "5001");
  assert_null(strstr(c.err, "too few"));
  write_product(&c, 300);
  command_run(&c, "fit mc p.csv --target kind");
  command_expect(&c, 0, "--by auto answers with who is best");
  assert_null(strstr(c.err, said));
  command_run(&c, "fit mc p.csv --target kind --by trees -q");
  command_expect(&c, 0, "");
  command_end(&c);
}

int test_by(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_winner_answers),
      cmocka_unit_test(models_hold_models),
      cmocka_unit_test(what_makes_no_sense),
      cmocka_unit_test(what_was_not_tried_is_said),
  };
  return run_cases(tests, NULL, NULL);
}
