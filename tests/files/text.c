/* Text that came from elsewhere: what a terminal would obey is shown, what a
 * spreadsheet would run is marked. */
#include "command.h"
#include "lapis/tools.h"

static void check_shown(const char *text, const char *wanted)
{
  char to[200];
  assert_string_equal(lapis_text_shown(text, to, sizeof to), wanted);
}

static void what_a_terminal_obeys_is_escaped(void **state)
{
  check_shown("", "");
  check_shown("plain text, \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", /* umlaut,
                euro, face */
              "plain text, \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
  check_shown("a\033[2Jb\r\n\t\x7f", "a\\x1b[2Jb\\x0d\\x0a\\x09\\x7f");
  check_shown("\xc2\x9b"
              "31m",
              "\\xc2\\x9b"
              "31m");
  check_shown("\x9b\xff\xc3", "\\x9b\\xff\\xc3");       /* no UTF-8 */
  check_shown("\xe2\x80\xaegnp", "\\xe2\\x80\\xaegnp"); /* turns the rest */
  check_shown("\\x1b", "\\x1b");
}

static void it_fits_its_room(void **state)
{
  char to[8];
  assert_string_equal(lapis_text_shown("12345678", to, sizeof to), "1234567");
  assert_string_equal(lapis_text_shown("12345\033", to, sizeof to), "12345");
  assert_string_equal(lapis_text_shown("123456\xc3\xa4", to, sizeof to),
                      "123456");
  memset(to, 'x', sizeof to);
  assert_ptr_equal(lapis_text_shown("1", to, 0), to);
  assert_int_equal(to[0], 'x');
  for (size_t size = 1; size < sizeof to; size++)
    assert_true(strlen(lapis_text_shown("\033\033ab", to, size)) < size);
}

static void a_formula_is_told_from_a_number(void **state)
{
  static const char *const run[] = {"=1+1",
                                    "+SUM(A1)",
                                    "-x",
                                    "@now",
                                    "--1",
                                    "\t=1+1",
                                    "\r1",
                                    "\n@now",
                                    "'\t=1+1",
                                    "=cmd|' /C calc'!A0",
                                    "\x01=1+1",
                                    "\033[2J",
                                    "\x7f-x",
                                    "\xc2\xa0=1",
                                    "\xef\xbb\xbf@now",
                                    "\xe2\x80\x8b=1+1",
                                    "\xe2\x80\xae+x",
                                    "\xc2\x9b"
                                    "1m",
                                    "\xe2\x81\xa0-1"};
  static const char *const rest[] = {"",
                                     "-1",
                                     "+2.5e3",
                                     "-inf",
                                     "-",
                                     "+",
                                     "=",
                                     "a=1",
                                     "1-1",
                                     " =1",
                                     "\t",
                                     "'\r",
                                     "\xef\xbb\xbf\0=1+1"}; /* ends at \0 */
  for (size_t i = 0; i < sizeof run / sizeof *run; i++)
    if (!lapis_text_runs(run[i])) fail_msg("%s", run[i]);
  for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
    if (lapis_text_runs(rest[i])) fail_msg("%s", rest[i]);
}

static bool is_clean(const char *text)
{
  for (; *text != '\0'; text++)
    if ((unsigned char)*text < 0x20 && *text != '\n') return false;
  return true;
}

static void sentences_and_lists_are_safe(void **state)
{
  command c;
  double x[] = {1, 2, 3, 4};
  command_begin(&c);
  command_run(&c, "info \"$(printf 'no\\033[2Jsuch')\"");
  command_expect(&c, 4, "no\\x1b[2Jsuch");
  assert_true(is_clean(c.err));
  command_run(&c, "fit \"$(printf 'm\\033]0;c\\007')\" x");
  assert_true(c.code == 2 && is_clean(c.err));
  lapis_named item = {.name = "X\xe2\x80\xaegnp",
                      .mat = lapis_mat_f64(x, 2, 2)};
  lapis_ctx *ctx = lapis_ctx_new();
  char path[160];
  (void)snprintf(path, sizeof path, "%s/d.npz", c.folder);
  assert_int_equal(lapis_arrays_write(ctx, path, "npz", &item, 1), LAPIS_OK);
  assert_int_equal(command_run(&c, "info d.npz"), 0);
  assert_true(is_clean(c.out) && is_clean(c.err));
  assert_non_null(strstr(c.out, "X\\xe2\\x80\\xaegnp"));
  lapis_ctx_free(ctx);
  command_end(&c);
}

static void tables_run_nothing(void **state)
{
  command c;
  char text[400];
  static const char table[] = "id,=x,y\n=1+1,-3,a\n@b,4,-q\n-7,5,a\n";
  command_begin(&c);
  command_write(&c, "t.csv", table, sizeof table - 1);
  command_do(&c, "convert t.csv o.csv --id id --target y");
  command_slurp(&c, "o.csv", text, sizeof text);
  assert_string_equal(text, "id,'=x,y\n'=1+1,-3,a\n'@b,4,'-q\n-7,5,a\n");
  command_end(&c);
}

static void expect_near(const char *word, const char *wanted)
{
  static const char *const names[] = {"fit", "predict", "label", "locate",
                                      "mu",  "mu-rel",  "tall"};
  lapis_nearest near = {.word = word, .size = strlen(word)};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    lapis_nearest_try(&near, names[i]);
  if (wanted == NULL ? near.name != NULL
                     : near.name == NULL || strcmp(near.name, wanted) != 0)
    fail_msg("%s: %s", word, near.name == NULL ? "none" : near.name);
}

static void a_slip_of_the_keyboard_finds_its_name(void **state)
{
  expect_near("labl", "label");
  expect_near("lable", "label"); /* neighbours swapped */
  expect_near("Predict", "predict");
  expect_near("mue", "mu");
  expect_near("mu_rel", "mu-rel");
  expect_near("frobnicate", NULL);
  expect_near("x", NULL);
  expect_near("", NULL);
  char word[200];
  memset(word, 'l', sizeof word - 1);
  word[sizeof word - 1] = '\0';
  expect_near(word, NULL);
}

/* A title is found by its first word. */
static void a_first_word_finds_its_name(void **state)
{
  lapis_nearest near = {.word = "price", .size = 5};
  lapis_nearest_try(&near, "Price (EUR)");
  assert_string_equal(near.name, "Price (EUR)");
  lapis_nearest_try(&near, "Prices"); /* nearer */
  assert_string_equal(near.name, "Prices");
  near = (lapis_nearest){.word = "pri", .size = 3};
  lapis_nearest_try(&near, "Price (EUR)");
  assert_null(near.name);
}

static void what_was_meant_is_asked(void **state)
{
  command c;
  static const char table[] = "height,weight,tall\n1,2,0\n3,4,1\n2,2,\n";
  command_begin(&c);
  command_write(&c, "t.csv", table, sizeof table - 1);
  command_do(&c, "-V");
  assert_non_null(strstr(c.out, "lapis "));
  command_do(&c, "version");
  command_run(&c, "labl x");
  command_expect(&c, 2, "labl label");
  command_run(&c, "svmplus x");
  command_expect(&c, 2, "");
  command_run(&c, "hog x");
  command_expect(&c, 2, "");
  command_run(&c, "fit rrr x");
  command_expect(&c, 2, "rr");
  command_run(&c, "fit mc t.csv --gama 3");
  command_expect(&c, 2, "--gamma --gama");
  command_run(&c, "features hogg x -o f.npz");
  command_expect(&c, 2, "hog");
  command_run(&c, "eval aurc --truth t.csv --scores t.csv");
  command_expect(&c, 2, "auroc");
  command_run(&c, "fit mc t.csv --target Tal");
  command_expect(&c, 2, "Tal tall");
  command_end(&c);
}

int test_text(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_a_terminal_obeys_is_escaped),
      cmocka_unit_test(it_fits_its_room),
      cmocka_unit_test(a_formula_is_told_from_a_number),
      cmocka_unit_test(sentences_and_lists_are_safe),
      cmocka_unit_test(tables_run_nothing),
      cmocka_unit_test(a_slip_of_the_keyboard_finds_its_name),
      cmocka_unit_test(a_first_word_finds_its_name),
      cmocka_unit_test(what_was_meant_is_asked)};
  return run_cases(tests, NULL, NULL);
}
