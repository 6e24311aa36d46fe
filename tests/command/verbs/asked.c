/* What an option asks for is in every kind of output, or is refused in one
 * sentence before the work. */
#include <glob.h>

#include "label_case.h"

/* One part of the options of a verb, and what shows each in an output; NULL: it
 * has to be refused there by the option's name. */
typedef struct asked {
  const char *command, *option;
  const char *printed, *json, *table, *page, *array, *model;
} asked;

static void put_classes(const command *c)
{
  static char text[8192];
  uint64_t seed = 7;
  int used = sprintf(text, "a,b,kind,size\n");
  for (int j = 0; j < 60; j++) {
    double a = check_normal(&seed), b = check_normal(&seed);
    bool known = j % 5 != 0;
    used += sprintf(text + used, "%.3f,%.3f,%s,", a, b,
                    !known            ? ""
                    : a + b / 4 > 0.5 ? "high"
                                      : "low");
    used += known ? sprintf(text + used, "%.1f\n", 9 + a - b)
                  : sprintf(text + used, "\n");
  }
  command_write(c, "t.csv", text, (size_t)used);
}

static bool has_array(const command *c, const char *file, const char *name)
{
  char path[160];
  lapis_arrays all;
  lapis_ctx *ctx = lapis_ctx_new();
  snprintf(path, sizeof path, "%s/%s", c->folder, file);
  assert_true(lapis_arrays_read(ctx, path, &all) >= 0);
  bool found = lapis_arrays_find(&all, name) != NULL;
  lapis_arrays_free(&all);
  lapis_ctx_free(ctx);
  return found;
}

static bool file_has(const command *c, const char *file, const char *words)
{
  static char text[1 << 22];
  command_slurp(c, file, text, sizeof text);
  return strstr(text, words) != NULL;
}

/* Of a result in parts, the one that there is. */
static bool part_has(const command *c, const char *name)
{
  char path[160];
  glob_t found;
  snprintf(path, sizeof path, "%s/parts/*.npz", c->folder);
  assert_int_equal(glob(path, 0, NULL, &found), 0);
  snprintf(path, sizeof path, "%s", found.gl_pathv[0] + strlen(c->folder) + 1);
  globfree(&found);
  return has_array(c, path, name);
}

/* words: what shows it; NULL: it is refused. */
static void check_output(command *c, const asked *a, const char *output,
                         const char *words)
{
  char option[64];
  snprintf(option, sizeof option, "%.*s", (int)strcspn(a->option, " "),
           a->option);
  command_run(c, "%s %s %s", a->command, a->option, output);
  if (words == NULL) {
    command_expect(c, 2, option);
    return;
  }
  if (c->code != 0)
    fail_msg("%s %s %s: %s", a->command, a->option, output, c->err);
  const char *file = strncmp(output, "-o ", 3) == 0         ? output + 3
                     : strncmp(output, "--result ", 9) == 0 ? output + 9
                                                            : NULL;
  bool array = file != NULL &&
               (strstr(file, ".npz") != NULL || strchr(file, '/') != NULL);
  bool shown = file == NULL                ? strstr(c->out, words) != NULL
               : !array                    ? file_has(c, file, words)
               : strchr(file, '/') != NULL ? part_has(c, words)
                                           : has_array(c, file, words);
  if (!shown) fail_msg("%s %s %s: no %s", a->command, a->option, output, words);
}

static void fit_keeps_what_is_asked(void **state)
{
  static const asked tried[] = {
      {"fit auto t.csv --target kind --drop size --candidates linear",
       "--coverage .8", NULL, NULL, ",set,", "set", "classes_kept",
       "filled in"},
      {"fit auto t.csv --target size --drop kind --candidates linear",
       "--coverage .8", NULL, NULL, ",low,high", "low", "set_low", "filled in"},
      {"fit auto t.csv --target kind --drop size --candidates linear",
       "--held-out 4", NULL, NULL, ",held-out probability of low",
       "held-out probability", "held_out", NULL},
      {"fit auto t.csv --target size --drop kind --candidates linear",
       "--held-out 4", NULL, NULL, ",held-out value of size\n",
       "held-out value", "held_out", NULL},
      {"fit auto t.csv --target kind --drop size --candidates linear",
       "--suspects 3", "labels", "\"suspects\"", ",rather,", "rather",
       "suspect_index", "labels"},
      {"fit mc t.csv --target kind --drop size --mu-rel .1", "--certificate",
       NULL, NULL, NULL, NULL, "dual", NULL},
      {"fit mc t.csv --target kind --drop size --mu-rel .1", "--class-features",
       NULL, NULL, NULL, NULL, "class_features", NULL},
      {"fit linear t.csv --target kind --drop size", "--certificate", NULL,
       NULL, NULL, NULL, "dual", NULL},
      {"fit rpca t.csv --drop kind,size", "--certificate", NULL, NULL, NULL,
       NULL, "dual", NULL},
      {"fit svmplus t.csv --target kind --drop size --C 1", "--probability",
       NULL, NULL, "probability of low", "probability of low", "probabilities",
       "filled in"},
      {"fit svmplus t.csv --target kind --drop size --C 1", "--certificate",
       NULL, NULL, NULL, NULL, "alpha", NULL},
  };
  command c;
  command_begin(&c);
  put_classes(&c);
  for (size_t k = 0; k < sizeof tried / sizeof *tried; k++) {
    const asked *a = &tried[k];
    check_output(&c, a, "", a->printed);
    check_output(&c, a, "--json", a->json);
    check_output(&c, a, "-o o.csv", a->table);
    if (strstr(a->command, "rpca") == NULL)
      check_output(&c, a, "-o o.html", a->page);
    check_output(&c, a, "-o o.npz", a->array);
    check_output(&c, a, "-o parts/", a->array);
    check_output(&c, a, "--model m.lapis", a->model);
  }
  command_end(&c);
}

static void predict_keeps_what_is_asked(void **state)
{
  static const asked tried[] = {
      {"predict k.lapis t.csv", "--coverage .95", "\tlow\tlow\n", "\"set\"",
       ",set,", "set", "classes_kept", NULL},
      {"predict n.lapis t.csv", "--coverage .95", "\t", "\"low\"", ",low,high",
       "low", "set_low", NULL},
      {"predict k.lapis t.csv", "--scores", "\t-", "\"scores\"",
       "probability of low", "probability of low", "scores", NULL},
  };
  command c;
  command_begin(&c);
  put_classes(&c);
  command_do(&c, "fit auto t.csv --target kind --drop size --candidates linear "
                 "--coverage .8 -q --model k.lapis");
  command_do(&c, "fit auto t.csv --target size --drop kind --candidates linear "
                 "--coverage .8 -q --model n.lapis");
  for (size_t k = 0; k < sizeof tried / sizeof *tried; k++) {
    const asked *a = &tried[k];
    check_output(&c, a, "", a->printed);
    check_output(&c, a, "--json", a->json);
    check_output(&c, a, "-o o.csv", a->table);
    check_output(&c, a, "-o o.html", a->page);
    check_output(&c, a, "-o o.npz", a->array);
    check_output(&c, a, "-o parts/", a->array);
  }
  command_end(&c);
}

/* Photographs with and without a patch of stripes, which is the class. */
static void put_photographs(const command *c)
{
  char table[1024], name[32];
  uint64_t seed = 5;
  int used = sprintf(table, "image,label\n");
  folder(c, "photos");
  for (int i = 0; i < IMAGES; i++) {
    picture p;
    int left = 4 + i % 20;
    for (int k = 0; k < SIDE * SIDE; k++) {
      int x = k % SIDE, y = k / SIDE;
      bool in = i % 2 == 1 && x >= left && x < left + 20 && y > 9 && y < 30;
      p.pixel[k] = 128 + 15 * check_normal(&seed) + (in ? 70 * sin(x) : 0);
    }
    sprintf(name, "photos/p%02d.pgm", i);
    write_picture(c, name, &p);
    if (i < IMAGES - 6)
      used += sprintf(table + used, "p%02d.pgm,%s\n", i,
                      i % 2 || i == 4 ? "stripes" : "none"); /* 4: wrong */
  }
  command_write(c, "labels.csv", table, (size_t)used);
}

static void label_keeps_what_is_asked(void **state)
{
#define PHOTOS "label photos --labels labels.csv --missing '' --words 27 -q"
  static const asked tried[] = {
      {PHOTOS, "--where", "where stripes is (x,y", "\"boxes\"", ",where,",
       "boxes", "boxes", NULL},
      {PHOTOS, "--coverage .8", "  set\n", "\"set\"", ",set,", "set",
       "classes_kept", NULL},
      {PHOTOS, "--suspects 2", "look wrong", "\"suspects\"", ",rather,",
       "look wrong", "suspect_index", "labels"},
  };
  command c;
  command_need_images();
  command_begin(&c);
  put_photographs(&c);
  for (size_t k = 0; k < sizeof tried / sizeof *tried; k++) {
    const asked *a = &tried[k];
    check_output(&c, a, "", a->printed);
    check_output(&c, a, "--json", a->json);
    check_output(&c, a, "-o o.csv", a->table);
    check_output(&c, a, "-o o.html", a->page);
    check_output(&c, a, "--result o.npz", a->array);
  }
  command_end(&c);
}

/* Each box is of an image that has its class. */
static void places_are_of_images_with_the_class(void **state)
{
  char path[160];
  lapis_arrays all;
  command c;
  command_need_images();
  command_begin(&c);
  put_photographs(&c);
  command_do(&c, PHOTOS " --where --result o.npz");
  lapis_ctx *ctx = lapis_ctx_new();
  snprintf(path, sizeof path, "%s/o.npz", c.folder);
  assert_true(lapis_arrays_read(ctx, path, &all) >= 0);
  const lapis_mat *image = &lapis_arrays_find(&all, "box_image")->mat;
  const lapis_mat *class_ = &lapis_arrays_find(&all, "box_class")->mat;
  const lapis_mat *label = &lapis_arrays_find(&all, "labels")->mat;
  const lapis_mat *name = &lapis_arrays_find(&all, "classes")->mat;
  assert_true(image->cols >= IMAGES / 2 - 2 && image->cols < IMAGES);
  for (int64_t k = 0; k < image->cols; k++) {
    int64_t i = (int64_t)lapis_mat_at(image, 0, k);
    int64_t of = (int64_t)lapis_mat_at(class_, 0, k);
    assert_string_equal(((const char *const *)label->val)[i],
                        ((const char *const *)name->val)[of]);
  }
  lapis_arrays_free(&all);
  lapis_ctx_free(ctx);
  command_end(&c);
}

int test_asked(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fit_keeps_what_is_asked),
      cmocka_unit_test(predict_keeps_what_is_asked),
      cmocka_unit_test(label_keeps_what_is_asked),
      cmocka_unit_test(places_are_of_images_with_the_class),
  };
  return run_cases(tests, NULL, NULL);
}
