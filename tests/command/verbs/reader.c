/* What a first reader trips over: holes where others have none, few labels,
 * wrong scales, arguments in another order. */
#include "check.h"
#include "command.h"
#include "remarks.h"

enum { N = 60, D = 4 };

/* Two classes by the sign of a + b: of `known` rows the word is there.  Row 6
 * is blank where asked; feature i is times scale[i]. */
static void write_table(const command *c, const char *name, int known,
                        bool blank, const double *scale)
{
  static char text[16384];
  uint64_t seed = 5;
  int used = snprintf(text, sizeof text, "a,b,c,d,tree\n");
  for (int j = 0; j < N; j++) {
    double x[D];
    for (int i = 0; i < D; i++) x[i] = check_normal(&seed);
    for (int i = 0; i < D; i++)
      used += blank && j == 5
                  ? snprintf(text + used, 2, ",")
                  : snprintf(text + used, sizeof text - used, "%.6g,",
                             x[i] * (scale ? scale[i] : 1));
    used += snprintf(text + used, sizeof text - used, "%s\n",
                     j >= known        ? ""
                     : x[0] + x[1] > 0 ? "pine"
                                       : "oak");
  }
  command_write(c, name, text, (size_t)used);
}

static int lines(const char *text)
{
  int n = 0;
  for (; *text != '\0'; text++) n += *text == '\n';
  return n;
}

/* One blank row does not keep the others from their answers. */
static void a_blank_row_is_answered(void **state)
{
  static const char *const method[] = {"mc", "rlda"};
  command c;
  command_begin(&c);
  write_table(&c, "all.csv", N, false, NULL);
  write_table(&c, "blank.csv", N, true, NULL);
  for (int k = 0; k < 2; k++) {
    command_do(&c, "fit %s all.csv --target tree --model m.lapis -q",
               method[k]);
    command_do(&c, "predict m.lapis all.csv --target tree");
    char whole[sizeof c.out];
    memcpy(whole, c.out, sizeof whole);
    command_run(&c, "predict m.lapis blank.csv --target tree");
    command_expect(&c, 0, "row 6 of X: no feature is observed");
    assert_int_equal(lines(c.out), N);
    assert_int_equal(lines(c.err), 1);
    const char *a = whole, *b = c.out;
    for (int j = 0; j < N; j++) { /* the others as before */
      size_t size = strcspn(a, "\n");
      if (j != 5) assert_memory_equal(a, b, size);
      a += size + 1;
      b += strcspn(b, "\n") + 1;
    }
  }
  command_end(&c);
}

static void few_labels_are_standardised(void **state)
{
  command c;
  command_begin(&c);
  static const char rows[] = "a,k\n1000,x\n2000,y\n3000,y\n1500,\n";
  command_write(&c, "few.csv", rows, sizeof rows - 1);
  command_run(&c, "fit mc few.csv --target k --model few.lapis");
  command_expect(&c, 0, "features after map standard");
  command_run(&c, "info few.lapis");
  command_expect(&c, 0, "");
  assert_non_null(strstr(c.out, "map: standard"));
  assert_non_null(strstr(c.out, "labels pm"));
  command_run(&c, "fit mc few.csv --target k --map none --model few.lapis -q");
  command_run(&c, "info few.lapis"); /* a map that is stated stays */
  assert_null(strstr(c.out, "map: standard"));
  command_end(&c);
}

static void suspects_are_printed(void **state)
{
  command c;
  command_begin(&c);
  write_table(&c, "t.csv", 40, false, NULL);
  command_do(&c, "fit mc t.csv --target tree --mu-rel .1 --suspects 3");
  const char *at = strstr(c.out, "margin above 0");
  assert_non_null(at);
  assert_int_equal(lines(at), 5); /* the last says what was filled in */
  assert_true(strstr(at, "given oak") || strstr(at, "given pine"));
  command_run(&c, "fit mc t.csv --target tree --mu-rel .1 --suspects 3 --json");
  assert_non_null(strstr(c.out, "\"suspects\""));
  command_run(&c,
              "fit mc t.csv --target tree --mu-rel .1 --suspects 3 -o o.npz");
  at = strstr(c.out, "margin above 0"); /* as without a file */
  assert_true(at != NULL &&
              (strstr(at, "given oak") || strstr(at, "given pine")));
  command_end(&c);
}

static void what_is_wrong_is_said(void **state)
{
  static char text[4096];
  int used = snprintf(text, sizeof text, "a,b\n");
  command c;
  command_begin(&c);
  write_table(&c, "t.csv", 40, false, NULL);
  command_run(&c, "fit auto t.csv --target tree --model m.lapis -q");
  command_expect(&c, 0, "");
  command_run(&c, "predict t.csv m.lapis");
  command_expect(&c, 2, "predict m.lapis t.csv");
  command_run(&c, "predict t.csv");
  command_expect(&c, 4, "predict");
  command_run(&c, "info m.lapis");
  assert_non_null(strstr(c.out, "and of linear beside it"));
  command_run(&c, "cv misvm t.csv --target tree --grid C=1,2");
  command_expect(&c, 4, "misvm");
  assert_null(strstr(c.out, "nan"));
  for (int i = 0; i < 40; i++)
    used += snprintf(text + used, sizeof text - used, "%d,%s\n", 2 * i,
                     i == 17   ? "off"
                     : i == 30 ? "n/m"
                               : (const char *[]){"1.5", "2"}[i % 2]);
  command_write(&c, "mixed.csv", text, (size_t)used);
  command_run(&c, "info mixed.csv");
  assert_non_null(strstr(c.out, "38 numbers and 2 texts: \"off\", \"n/m\""));
  command_end(&c);
}

static void one_sample_of_a_class_is_doubted(void **state)
{
  static const char rows[] = "a,k\n1,open\n2,open\n3,open\n7,shut\n8,shut\n"
                             "9,shut\n1.5,opne\n8.5,\n";
  command c;
  command_begin(&c);
  command_write(&c, "t.csv", rows, sizeof rows - 1);
  command_run(&c, "fit mc t.csv --target k --mu-rel .1");
  command_expect(&c, 0, ONE_SAMPLE);
  assert_null(strstr(c.err, "\"open\""));
  command_end(&c);
}

int test_reader(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_blank_row_is_answered),
      cmocka_unit_test(few_labels_are_standardised),
      cmocka_unit_test(suspects_are_printed),
      cmocka_unit_test(what_is_wrong_is_said),
      cmocka_unit_test(one_sample_of_a_class_is_doubted),
  };
  return run_cases(tests, NULL, NULL);
}
