/* lapis label --features auto: hidden labels say which kind of features tells
 * most; the answer is that of a run that names it. */
#include "label_case.h"
#include "remarks.h"

static const char *const two[] = {"cold", "warm"};

/* Noise without any shape: red is stronger in one class. */
static void begin_colours(command *c)
{
  uint64_t state = 5;
  command_begin(c);
  folder(c, "in");
  for (int i = 0; i < IMAGES; i++) {
    unsigned char bytes[32 + 3 * SIDE * SIDE];
    char name[32];
    int head = sprintf((char *)bytes, "P6\n%d %d\n255\n", SIDE, SIDE);
    double grey = 100 + 60 * check_uniform(&state);
    for (int k = 0; k < 3 * SIDE * SIDE; k++) {
      double red = k % 3 == 0 ? 25 * (i % 2) : 0;
      double v = grey + red + 20 * check_normal(&state);
      bytes[head + k] = (unsigned char)fmin(fmax(v, 0), 255);
    }
    snprintf(name, sizeof name, "in/a%02d.ppm", i);
    command_write(c, name, bytes, (size_t)(head + 3 * SIDE * SIDE));
  }
  char table[4096] = "file,what\n";
  for (int i = 0; i < 16; i++)
    sprintf(table + strlen(table), "a%02d,%s\n", i, two[i % 2]);
  write_text(c, "labels.csv", table);
}

/* few words of few places: looking for centres is most of the time */
#define OF_WORDS " --words 64"
#define OF_PLACES " --count 400"
#define WORDS OF_WORDS OF_PLACES
#define RUN "label in --labels labels.csv --cache kept --threads 1 --json -q "

/* A figure of a kind of features in the JSON that was printed. */
static double figure(const char *json, const char *kind, const char *name)
{
  char start[128], key[64];
  double v = NAN;
  snprintf(start, sizeof start, "\"features\": \"%s\"", kind);
  snprintf(key, sizeof key, "\"%s\": ", name);
  const char *at = strstr(json, "\"kinds\": [");
  if (at != NULL) at = strstr(at, start);
  if (at != NULL) at = strstr(at, key);
  if (at == NULL || sscanf(at + strlen(key), "%lf", &v) != 1)
    fail_msg("no %s of %s", name, kind);
  return v;
}

/* What was chosen, and what was printed; the run that names it says the same of
 * every image. */
static const char *choose(command *c, char chosen[96])
{
  static char first[sizeof c->out];
  command_do(c, RUN "--features auto" WORDS);
  strcpy(first, c->out);
  lapis_json *v = command_json(first);
  snprintf(chosen, 96, "%s", lapis_json_text(v, "features", ""));
  lapis_json_free(v);
  command_do(c, RUN "--features %s%s%s", chosen,
             strstr(chosen, "bow") == NULL ? "" : OF_WORDS,
             strstr(chosen, "sift-bow") == NULL ? "" : OF_PLACES);
  const char *a = strstr(first, "\"images\""),
             *b = strstr(c->out, "\"images\"");
  assert_true(a != NULL && b != NULL);
  const char *end = strstr(a, "\"suspects\"");
  assert_true(end != NULL && end - a > 50 * IMAGES);
  assert_memory_equal(a, b, (size_t)(end - a));
  return first;
}

static void colours_are_told_by_colours(void **state)
{
  command c;
  char chosen[96];
  begin_colours(&c);
  const char *v = choose(&c, chosen);
  if (strstr(chosen, "color-moments") == NULL &&
      strstr(chosen, "texton-bow") == NULL) /* which see colours */
    fail_msg("%s was chosen", chosen);
  for (int k = 0; k < 2; k++) {
    const char *blind = k == 0 ? "hog" : "gist";
    CHECK_AT_LEAST(figure(v, blind, "behind"),
                   2 * figure(v, blind, "behind_error"));
  }
  command_end(&c);
}

static void directions_are_told_by_shapes(void **state)
{
  command c;
  char chosen[96];
  begin_stripes(&c, 2);
  write_labels(&c, two, 2, 16);
  const char *v = choose(&c, chosen);
  /* many kinds see directions: words of SIFT and of texture do, too */
  assert_string_not_equal(chosen, "color-moments");
  CHECK_AT_LEAST(figure(v, "color-moments", "behind"),
                 2 * figure(v, "color-moments", "behind_error"));
  CHECK_NEAR(figure(v, chosen, "behind"), 0, 0);
  command_end(&c);
}

#define AUTO "label in --labels labels.csv --features auto "

/* Why is said; places want one kind that is named; with too few
 * labels to hide some the usual kinds answer. */
static void words_of_auto(void **state)
{
  command c;
  static const command_misuse wrong[] = {
      {AUTO "--where", 2, "takes one kind of features, not auto"},
      {AUTO "--inliers 3", 2, "inliers"},
  };
  begin_stripes(&c, 2);
  write_labels(&c, two, 2, 16);
  command_refuses(&c, wrong, 2, "");
  command_run(&c, AUTO "--cache kept" WORDS);
  command_expect(&c, 0, "--features");
  assert_non_null(strstr(c.err, "lapis: hog: log-loss "));
  assert_non_null(strstr(c.err, "lapis: sift-bow,texton-bow: log-loss "));
  write_labels(&c, two, 2, 2);
  command_run(&c, AUTO "--cache kept" WORDS);
  command_expect(&c, 0, TOO_FEW_LABELS);
  command_end(&c);
}

int test_auto(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(colours_are_told_by_colours),
      cmocka_unit_test(directions_are_told_by_shapes),
      cmocka_unit_test(words_of_auto),
  };
  return run_cases(tests, NULL, NULL);
}
