/* Several kinds of features side by side, in lapis features and label. */
#include "label_case.h"

static const char *const kinds3[] = {"across", "down", "slanted"};
#define SMALL "--words 8 --levels 1 --count 200 --learn 2000 --restarts 1"

static void features_are_joined(void **state)
{
  command c;
  begin_stripes(&c, 3);
  command_do(&c, "features sift-bow,texton-bow in -o f.npz " SMALL
                 " --save-vocabulary words.npz");
  assert_non_null(
      strstr(c.out, "sift-bow,texton-bow: 24 images, X is 24 x 16"));
  assert_non_null(strstr(c.out, "texton-bow from column 9"));
  assert_non_null(strstr(c.out, "--map blocks:8+8,standard,balance"));
  assert_true(command_exists(&c, "words.sift-bow.npz"));
  assert_true(command_exists(&c, "words.texton-bow.npz"));
  command_do(&c, "features sift-bow,texton-bow in -o g.npz --count 200 "
                 "--vocabulary words.npz --json");
  lapis_json *v = command_json(c.out);
  assert_string_equal(lapis_json_text(v, "method", ""), "sift-bow,texton-bow");
  const lapis_json *texton =
      lapis_json_get(lapis_json_get(v, "settings"), "texton-bow");
  CHECK_NEAR(lapis_json_number(texton, "words", 0), 8, 0);
  assert_non_null(lapis_json_get(v, "blocks"));
  lapis_json_free(v);
  shell(&c, "cmp f.npz g.npz");
  command_run(&c, "fit mc f.npz --map blocks:8+8,l1-sqrt,standard,balance "
                  "-Y labels.csv --mu-rel .1");
  command_end(&c);
}

static void labels_come_from_joined_features(void **state)
{
  command c;
  begin_stripes(&c, 3);
  write_labels(&c, kinds3, 3, 15);
  command_do(&c, "label in --labels labels.csv --features sift-bow,gist " SMALL
                 " " GIVEN " --no-cache --json");
  lapis_json *v = command_json(c.out);
  const lapis_json *label = lapis_json_get(v, "label");
  assert_string_equal(lapis_json_text(label, "features", ""), "sift-bow,gist");
  lapis_json_free(v);
  command_do(&c, "label in --labels labels.csv --features sift-bow,gist " SMALL
                 " " GIVEN " --no-cache");
  for (int i = 0; i < IMAGES; i++) table_says(&c, i, kinds3[i % 3]);
  command_end(&c);
}

/* Stripes in two colours: a photograph in colours has two kinds by default. */
static void colours_add_textons(void **state)
{
  command c;
  command_begin(&c);
  folder(&c, "in");
  uint64_t seed = 5;
  for (int i = 0; i < 12; i++) {
    unsigned char bytes[32 + 3 * SIDE * SIDE];
    char name[32];
    picture p;
    stripes(&p, i % 2, &seed);
    int head = sprintf((char *)bytes, "P6\n%d %d\n255\n", SIDE, SIDE);
    for (int k = 0; k < SIDE * SIDE; k++)
      for (int b = 0; b < 3; b++)
        bytes[head + 3 * k + b] =
            (unsigned char)fmin(fmax(p.pixel[k] + 30 * b, 0), 255);
    snprintf(name, sizeof name, "in/a%02d.ppm", i);
    command_write(&c, name, bytes, (size_t)(head + 3 * SIDE * SIDE));
  }
  write_text(&c, "labels.csv",
             "file,what\na00.ppm,x\na01.ppm,y\na02.ppm,x\na03.ppm,y\n"
             "a04.ppm,x\na05.ppm,y\n");
  command_do(&c, "label in --labels labels.csv " SMALL " " GIVEN
                 " --no-cache --json");
  lapis_json *v = command_json(c.out);
  assert_string_equal(
      lapis_json_text(lapis_json_get(v, "label"), "features", ""),
      "sift-bow,texton-bow");
  lapis_json_free(v);
  command_end(&c);
}

static const command_misuse misuses[] = {
    {"features hog,sharp in -o f.npz", 2, "sharp"},
    {"features hog,hog in -o f.npz", 2, ""},
    {"features hog,sift in -o f.npz", 2, ""},
    {"features hog,gist in -o f.npz --words 3", 2, "--words"},
    {"features hog, in -o f.npz", 2, ""},
    {"label in --labels labels.csv --features hog,gist --words 3", 2,
     "--words"},
    {"label in --labels labels.csv --features sift-bow,gist --where", 2,
     "--where"},
};

static void misuse_is_refused(void **state)
{
  command c;
  begin_stripes(&c, 3);
  write_labels(&c, kinds3, 3, 15);
  command_refuses(&c, misuses, sizeof misuses / sizeof *misuses, "");
  assert_false(command_exists(&c, "f.npz"));
  command_end(&c);
}

int test_joined(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(features_are_joined),
      cmocka_unit_test(labels_come_from_joined_features),
      cmocka_unit_test(colours_add_textons),
      cmocka_unit_test(misuse_is_refused),
  };
  return run_cases(tests, NULL, NULL);
}
