/* test_command_formats.c - formats, convert and info as commands; sparse data
 * give the answers of dense data. */
#include "command.h"

static void put(const command *c, const char *name, const char *text)
{
  command_write(c, name, text, strlen(text));
}

/* 12 samples, 3 features, as LIBSVM and as a table. */
static void put_both(const command *c)
{
  char svm[2048] = "", csv[2048] = "a,b,c,y\n";
  uint64_t seed = 3;
  for (int j = 0; j < 12; j++) {
    double a = floor(9 * check_uniform(&seed)) + 1, b = check_uniform(&seed);
    int y = j % 2 == 0 ? 1 : -1;
    size_t at = strlen(svm), to = strlen(csv);
    snprintf(svm + at, sizeof svm - at, "%d 1:%.17g 3:%.17g\n", y, a + y, b);
    snprintf(csv + to, sizeof csv - to, "%.17g,0,%.17g,%d\n", a + y, b, y);
  }
  put(c, "a.svm", svm);
  put(c, "a.csv", csv);
}

static void formats_are_listed(void **state)
{
  (void)state;
  command c;
  command_begin(&c);
  command_run(&c, "formats");
  command_expect(&c, 0, "");
  for (int i = 0; lapis_format_at(i) != NULL; i++)
    assert_non_null(strstr(c.out, lapis_format_at(i)->name));
  command_run(&c, "formats --json");
  assert_non_null(strstr(c.out, "\"arff\""));
  command_run(&c, "info --json");
  assert_non_null(strstr(c.out, "\"parts\""));
  command_run(&c, "formats x");
  command_expect(&c, 2, "takes no 'x'");
  command_end(&c);
}

static double predict(command *c, const char *data, const char *model)
{
  command_run(c, "predict %s %s --scores -q", model, data);
  command_expect(c, 0, "");
  return strtod(c->out, NULL);
}

static void sparse_answers_are_dense_answers(void **state)
{
  (void)state;
  static const char *const more[] = {"", "--map l2", "--map l1,scale:2",
                                     "--kernel rbf"};
  command c;
  command_begin(&c);
  put_both(&c);
  for (int i = 0; i < 4; i++) {
    command_run(&c, "fit svmplus a.svm %s --tol 1e-8 --model s.lapis -q",
                more[i]);
    command_expect(&c, 0, "");
    command_run(&c,
                "fit svmplus a.csv --target y %s --tol 1e-8 --model d.lapis "
                "-q",
                more[i]);
    command_expect(&c, 0, "");
    put(&c, "b.svm", "1 1:2 3:.5\n");
    put(&c, "short.svm", "1 1:2\n");
    put(&c, "b.csv", "a,b,c\n2,0,.5\n");
    CHECK_NEAR(predict(&c, "b.svm", "s.lapis"), predict(&c, "b.csv", "d.lapis"),
               1e-6);
  }
  command_run(&c, "fit svmplus a.svm --model s.lapis -q");
  (void)predict(&c, "short.svm", "s.lapis"); /* its last features are 0 */
  command_end(&c);
}

static void files_are_converted(void **state)
{
  (void)state;
  command c;
  command_begin(&c);
  put_both(&c);
  command_run(&c, "convert a.svm b.npz && %s convert b.npz c.svm",
              getenv("LAPIS_COMMAND"));
  command_expect(&c, 0, "");
  command_run(&c, "convert a.svm b.npz"); /* an old output is replaced */
  command_expect(&c, 0, "");
  command_run(&c, "convert a.svm a.svm");
  command_expect(&c, 2, "is read and would be written over");
  command_run(&c, "convert a.svm b.xls");
  command_expect(&c, 2, "its name says no format");
  command_run(&c, "convert a.svm b.npy --features 2");
  command_expect(&c, 4, "has a feature 3, more than the 2");
  command_run(&c, "convert a.svm b.npy --features x");
  command_expect(&c, 2, "--features 'x' is no number");
  command_run(&c, "info b.npz c.svm");
  command_expect(&c, 0, "");
  assert_non_null(strstr(c.out, "24 stored"));
  assert_non_null(strstr(c.out, "12 samples, 3 features"));
  command_end(&c);
}

static void models_are_described(void **state)
{
  (void)state;
  command c;
  command_begin(&c);
  put_both(&c);
  command_run(&c, "fit svmplus a.csv --target y --map l2 --C 3 --model m.lapis "
                  "-q");
  command_expect(&c, 0, "");
  command_run(&c, "info m.lapis");
  command_expect(&c, 0, "");
  static const char *const words[] = {"a model of svmplus", "features: 3",
                                      "a, b, c", "map: l2", "C 3"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strstr(c.out, words[i]) == NULL) fail_msg("no %s: %s", words[i], c.out);
  command_run(&c, "info m.lapis --json");
  assert_non_null(strstr(c.out, "\"method\": \"svmplus\""));
  put(&c, "t.csv", "n,a\nx,1\ny,2\n");
  command_run(&c, "info t.csv");
  command_expect(&c, 4, "--id and --target take columns of text");
  command_run(&c, "info t.csv --id n");
  command_expect(&c, 0, "");
  command_end(&c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(formats_are_listed),
      cmocka_unit_test(sparse_answers_are_dense_answers),
      cmocka_unit_test(files_are_converted),
      cmocka_unit_test(models_are_described),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
