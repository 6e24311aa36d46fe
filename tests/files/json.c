/* json.c - numbers come back as they went, nothing else is lost. */
#include "files.h"

static lapis_json *again(files *f, lapis_json *v)
{
  lapis_json *back = NULL;
  char *text = lapis_json_print(v);
  assert_non_null(text);
  CHECK_OK(f, lapis_json_parse(f->ctx, text, strlen(text), "text", &back));
  free(text);
  lapis_json_free(v);
  return back;
}

static void numbers_read_back_to_the_same_double(void **state)
{
  uint64_t seed = 11;
  lapis_json *v = lapis_json_object();
  double value[500];
  char key[16];
  for (int i = 0; i < 500; i++) {
    uint64_t bits = 0;
    for (int k = 0; k < 4; k++)
      bits = bits << 16 | (uint64_t)(65536 * check_uniform(&seed));
    memcpy(&value[i], &bits, sizeof bits);
    if (!isfinite(value[i])) value[i] = -0.0;
    (void)snprintf(key, sizeof key, "%d", i);
    assert_true(lapis_json_put_number(v, key, value[i]));
  }
  v = again(*state, v);
  for (int i = 0; i < 500; i++) {
    (void)snprintf(key, sizeof key, "%d", i);
    double back = lapis_json_number(v, key, NAN);
    assert_memory_equal(&back, &value[i], sizeof back);
  }
  lapis_json_free(v);
}

static void numbers_are_as_short_as_they_read_back(void **state)
{
  static const struct {
    double value;
    const char *text;
  } cases[] = {{0.1, "0.1"},
               {0.9, "0.9"},
               {3, "3.0"},
               {-0.0, "-0.0"},
               {1e22, "1e22"},
               {1e-5, "1e-05"},
               {0.1 + 0.2, "0.30000000000000004"},
               {-2.5e-300, "-2.5e-300"},
               {123456789, "123456789.0"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    lapis_json *list = lapis_json_list();
    assert_true(lapis_json_put_number(list, NULL, cases[i].value));
    assert_true(lapis_json_put_text(list, NULL, "0.10000000000000001 \"-3.00"));
    assert_true(lapis_json_put_integer(list, NULL, -100));
    char wanted[160];
    (void)snprintf(wanted, sizeof wanted,
                   "[\n %s,\n \"0.10000000000000001 \\\"-3.00\",\n -100\n]",
                   cases[i].text);
    char *text = lapis_json_print(list);
    assert_string_equal(text, wanted);
    free(text);
    lapis_json_free(list);
  }
}

static void what_is_no_number_is_null(void **state)
{
  lapis_json *v = lapis_json_object();
  assert_true(lapis_json_put_number(v, "nan", NAN));
  assert_true(lapis_json_put_number(v, "inf", -INFINITY));
  v = again(*state, v);
  assert_true(lapis_json_number(v, "nan", 7) == 7);
  assert_true(lapis_json_number(v, "inf", 7) == 7);
  assert_non_null(lapis_json_get(v, "nan"));
  assert_null(lapis_json_get(v, "absent"));
  lapis_json_free(v);
}

static void structure_survives(void **state)
{
  lapis_json *v = lapis_json_object(), *list = lapis_json_list();
  assert_true(lapis_json_put_text(list, NULL, "\xc3\xa9 \"quoted\""));
  assert_true(lapis_json_put_bool(list, NULL, true));
  assert_true(lapis_json_put_integer(list, NULL, INT64_MIN));
  assert_true(lapis_json_put_number(list, NULL, 0.1));
  assert_true(lapis_json_put_text(list, NULL, NULL));
  assert_true(lapis_json_put(v, "z", list));
  assert_true(lapis_json_put_text(v, "a", "last"));
  v = again(*state, v);
  static const char *const wanted[] = {"\xc3\xa9 \"quoted\"", "true",
                                       "-9223372036854775808", "0.1", "null"};
  const lapis_json *back = lapis_json_get(v, "z");
  const char *key;
  char text[64];
  for (int i = 0; i < 5; i++) {
    assert_true(lapis_json_entry(back, i, &key, text, sizeof text));
    assert_null(key);
    assert_string_equal(text, wanted[i]);
  }
  assert_false(lapis_json_entry(back, 5, &key, text, sizeof text));
  /* keys keep the order they were put in */
  assert_true(lapis_json_entry(v, 0, &key, text, sizeof text));
  assert_string_equal(key, "z");
  assert_string_equal(text, "");
  assert_true(lapis_json_entry(v, 1, &key, text, sizeof text));
  assert_string_equal(text, "last");
  assert_false(lapis_json_entry(v, 2, &key, text, sizeof text));
  assert_string_equal(lapis_json_text(v, "a", "none"), "last");
  assert_string_equal(lapis_json_text(v, "z", "none"), "none");
  lapis_json_free(v);
}

/* A file name may be any bytes; JSON may not. */
static void strange_bytes_are_replaced(void **state)
{
  lapis_json *v = lapis_json_object();
  assert_true(lapis_json_put_text(v, "k\xff", "caf\xe9.npz"));
  v = again(*state, v);
  assert_string_equal(lapis_json_text(v, "k\xef\xbf\xbd", ""),
                      "caf\xef\xbf\xbd.npz");
  lapis_json_free(v);
}

static void bad_text_is_refused(void **state)
{
  static const char *const bad[] = {"",
                                    "{",
                                    "{\"a\": }",
                                    "[1, 2",
                                    "{} {}",
                                    "{\"a\": NaN}",
                                    "{\"a\": 1e999}",
                                    "nul",
                                    "{\"a\":1,\"a\":2}"};
  files *f = *state;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    lapis_json *v;
    CHECK_REFUSED(
        f, lapis_json_parse(f->ctx, bad[i], strlen(bad[i]), "run.json", &v),
        LAPIS_EFORMAT, "run.json:1:");
    assert_null(v);
  }
}

static void files_are_read(void **state)
{
  files *f = *state;
  lapis_json *v;
  files_put_text(f, "run.json", "{\n \"mu\": 0.5,\n \"x\": ]\n}\n");
  CHECK_REFUSED(f, lapis_json_read(f->ctx, f->path, &v), LAPIS_EFORMAT,
                "run.json:3:");
  files_put_text(f, "run.json", "{\n \"mu\": 0.5\n}\n");
  CHECK_OK(f, lapis_json_read(f->ctx, f->path, &v));
  assert_true(lapis_json_number(v, "mu", 0) == 0.5);
  lapis_json_free(v);
  CHECK_REFUSED(f, lapis_json_read(f->ctx, "/nowhere.json", &v), LAPIS_EIO,
                "/nowhere.json");
  assert_null(v);
}

#define FILES_TEST(t) \
  cmocka_unit_test_setup_teardown(t, files_setup, files_teardown)

int test_json(void)
{
  const struct CMUnitTest tests[] = {
      FILES_TEST(numbers_read_back_to_the_same_double),
      cmocka_unit_test(numbers_are_as_short_as_they_read_back),
      FILES_TEST(what_is_no_number_is_null),
      FILES_TEST(structure_survives),
      FILES_TEST(strange_bytes_are_replaced),
      FILES_TEST(bad_text_is_refused),
      FILES_TEST(files_are_read),
  };
  return run_cases(tests, NULL, NULL);
}
