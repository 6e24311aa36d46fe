/* features.c - lapis features as people run it. */
#include "command.h"
#include "lapis/images.h"
#include "remarks.h"

/* A pattern that differs from image to image. */
static void put_image(const command *c, const char *name, int seed)
{
  enum { W = 20, H = 12 };
  char file[64 + 3 * W * H];
  int n = sprintf(file, "P6\n# %s\n%d %d\n255\n", name, W, H);
  for (int k = 0; k < 3 * W * H; k++)
    file[n + k] = (char)(unsigned char)(k * k * seed / 7 + 13 * k);
  command_write(c, name, file, (size_t)(n + 3 * W * H));
}

static void begin(command *c)
{
  command_begin(c);
  command_run(c, "--version >/dev/null && mkdir in");
  put_image(c, "in/b.ppm", 3);
  put_image(c, "in/a.ppm", 5);
  put_image(c, "c.ppm", 8);
}

static void folders_and_files_become_arrays(void **state)
{
  command c;
  lapis_arrays all;
  begin(&c);
  command_do(&c, "features color-moments c.ppm in -o f.npz --grid 4");
  assert_string_equal(c.out, "color-moments: 3 images, X is 3 x 96\n");
  command_arrays(&c, "f.npz", &all);
  assert_int_equal(all.count, 4);
  const lapis_array *names = lapis_arrays_find(&all, "names");
  const lapis_array *size = lapis_arrays_find(&all, "image_size");
  static const char *const wanted[] = {"c.ppm", "in/a.ppm", "in/b.ppm"};
  assert_int_equal(names->axes, 1);
  for (int i = 0; i < 3; i++)
    assert_string_equal(((const char *const *)names->mat.val)[i], wanted[i]);
  assert_int_equal(size->shape[0], 3);
  assert_int_equal(size->shape[1], 2);
  assert_int_equal(lapis_mat_at(&size->mat, 0, 0), 20);
  assert_int_equal(lapis_mat_at(&size->mat, 1, 2), 12);
  lapis_arrays_free(&all);
  command_end(&c);
}

/* What features writes, fit reads, with the names. */
static void methods_read_them(void **state)
{
  command c;
  begin(&c);
  command_do(&c, "features pixels c.ppm in --size 5x4 -o f.npz -q");
  command_do(&c, "fit rpca f.npz -o r.npz --model m.lapis");
  command_run(&c, "info r.npz");
  assert_non_null(strstr(c.out, "names"));
  assert_non_null(strstr(c.out, "3 x 20"));
  command_end(&c);
}

/* The table f.ENDING has the numbers of f.npz to the last bit, and begins with
 * this row's name. */
static void expect_table(command *c, const char *ending, const char *first)
{
  lapis_arrays all, table;
  command_do(c, "convert f.%s t.npz --id name -q", ending);
  command_arrays(c, "t.npz", &table);
  command_arrays(c, "f.npz", &all);
  const lapis_mat *a = &lapis_arrays_find(&all, "X")->mat;
  const lapis_mat *b = &lapis_arrays_find(&table, "X")->mat;
  const lapis_array *names = lapis_arrays_find(&table, "names");
  assert_int_equal(a->rows, b->rows);
  assert_int_equal(a->cols, b->cols);
  for (int64_t j = 0; j < a->cols; j++)
    for (int64_t i = 0; i < a->rows; i++)
      assert_true(lapis_mat_at(a, i, j) == lapis_mat_at(b, i, j));
  assert_string_equal(((const char *const *)names->mat.val)[0], first);
  lapis_arrays_free(&all);
  lapis_arrays_free(&table);
}

static void vectors_are_a_table_too(void **state)
{
  static const char boxes[] = "name,x,y,width,height\na.ppm,2,1,12,10\n"
                              "a.ppm,3.5,2,8,8\nb.ppm,0,0,10,9\n";
  static const char *const kinds[][2] = {
      {"pixels --size 5x4", "in/a.ppm"},
      {"gist,color-moments --grid 2", "in/a.ppm"},
      {"sift-bow --count 50 --words 5 --levels 1 --learn 100", "in/a.ppm"},
      {"gist-boxes --boxes b.csv", "in/a.ppm 2 1 12 10"},
  };
  command c;
  begin(&c);
  command_write(&c, "b.csv", boxes, strlen(boxes));
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    command_do(&c, "features %s in -o f.npz -q", kinds[k][0]);
    command_do(&c, "features %s in -o f.csv -q", kinds[k][0]);
    command_do(&c, "features %s in -o f.tsv -q", kinds[k][0]);
    expect_table(&c, "csv", kinds[k][1]);
    expect_table(&c, "tsv", kinds[k][1]);
  }
  command_end(&c);
}

/* Beside labels that name the same images. */
static void methods_read_the_table(void **state)
{
  static const char labels[] = "name,what\nc,0\na,1\nb,\n";
  command c;
  begin(&c);
  command_write(&c, "y.csv", labels, strlen(labels));
  command_do(&c, "features pixels c.ppm in --size 5x4 -o f.csv -q");
  command_do(&c, "fit linear f.csv -Y y.csv:what --id name -o a.csv --C 1");
  command_slurp(&c, "a.csv", c.out, sizeof c.out);
  assert_non_null(strstr(c.out, "c.ppm,0,given"));
  assert_non_null(strstr(c.out, "in/a.ppm,"));
  assert_non_null(strstr(c.out, ",filled"));
  command_end(&c);
}

static void json_says_all(void **state)
{
  command c;
  begin(&c);
  command_run(&c, "features pixels in nowhere.png --keep-going -o f.npz "
                  "--json");
  assert_int_equal(c.code, 4);
  lapis_json *v = command_json(c.out);
  assert_string_equal(lapis_json_text(v, "method", ""), "pixels");
  assert_string_equal(lapis_json_text(v, "status", ""), "solved");
  CHECK_NEAR(lapis_json_number(v, "images", 0), 2, 0);
  const lapis_json *settings = lapis_json_get(v, "settings");
  assert_string_equal(lapis_json_text(settings, "size", ""), "32x32");
  const lapis_json *left = lapis_json_get(v, "refused");
  const char *key;
  char text[256];
  assert_true(lapis_json_entry(left, 0, &key, text, sizeof text));
  assert_non_null(strstr(text, "nowhere.png: cannot be opened"));
  assert_false(lapis_json_entry(left, 1, &key, text, sizeof text));
  lapis_json_free(v);
  command_end(&c);
}

static void bad_images_are_named(void **state)
{
  command c;
  begin(&c);
  command_write(&c, "in/aa.ppm", "P6 3", 4);
  command_run(&c, "features pixels in -o f.npz");
  command_expect(&c, 4, "in/aa.ppm 4");
  assert_false(command_exists(&c, "f.npz"));
  command_run(&c, "features pixels in -o f.npz --keep-going");
  assert_int_equal(c.code, 4);
  assert_string_equal(c.out, "pixels: 2 images, X is 2 x 1024\n");
  assert_string_equal(
      c.err, "lapis: left out: in/aa.ppm: PNM: byte 4: the file ends where a "
             "number is expected\n"
             "lapis: features: 1 of 3 images were left out\n");
  assert_true(command_exists(&c, "f.npz"));
  command_end(&c);
}

static const command_misuse misuses[] = {
    {"features", 2, ""},
    {"features sharpness c.ppm -o f.npz", 2, "sharpness"},
    {"features pixels -o f.npz", 2, ""},
    {"features pixels c.ppm", 2, "-o F.npz"},
    {"features pixels c.ppm -o f.mat", 2, ".npz"},
    {"features pixels c.ppm -o no/f.csv", 4, "no/f.csv"},
    {"features pixels in -o in/a.ppm", 2, "in/a.ppm"},
    {"features pixels c.ppm -o no/f.npz", 4, ""},
    {"features pixels c.ppm -o f.npz --cell 3", 2, "--cell"},
    {"features pixels c.ppm -o f.npz --size 3", 2, ""},
    {"features gist c.ppm -o f.npz --side 300", 2, "16"},
    {"features gist-boxes c.ppm --look outline --blocks 2 -o f.npz", 2,
     "--blocks --look"},
    {"features gist-boxes c.ppm --boxes b.csv --candidates 9 -o f.npz", 2,
     "--candidates --boxes"},
    {"features sift c.ppm --scale 8 -o f.npz", 2, "--scale --xy"},
    {"features sift c.ppm --xy p.csv --peak 0 -o f.npz", 2, "--peak --xy"},
    {"features pixels empty -o f.npz", 4, ""},
    {"features pixels no.png --keep-going -o f.npz", 4, "1 no.png"},
};

static void misuse_is_refused(void **state)
{
  command c;
  begin(&c);
  command_run(&c, "--version >/dev/null && mkdir empty");
  command_refuses(&c, misuses, sizeof misuses / sizeof *misuses, "");
  assert_false(command_exists(&c, "f.npz"));
  command_end(&c);
}

static void a_bar_is_shown(void **state)
{
  command c;
  char words[2048] =
      "features gist --side 256 --threads 2 --progress always -o f.npz";
  begin(&c);
  for (int i = 0; i < 20; i++) strcat(words, " c.ppm");
  command_run(&c, "%s", words);
  assert_int_equal(c.code, 0);
  assert_non_null(strstr(c.err, "gist [#"));
  command_end(&c);
}

/* Files below the cache's folder. */
static int count_kept(command *c)
{
  char line[256];
  snprintf(line, sizeof line, "find %s/kept -type f | wc -l >%s/.count",
           c->folder, c->folder);
  assert_int_equal(system(line), 0);
  command_slurp(c, ".count", c->out, sizeof c->out);
  return atoi(c->out);
}

/* Two at once fill one cache; a run of all images takes them from there. */
static void parts_fill_one_cache(void **state)
{
  enum { PIXELS = 5 * 4 * 3 };
  const char *kind = "features pixels in c.ppm --size 5x4 --cache kept";
  command c;
  begin(&c);
  command_do(&c,
             "%s --part 1/2 >1.out & cd %s && %s %s --part 2/2 >2.out; wait",
             kind, c.folder, getenv("LAPIS_COMMAND"), kind);
  command_slurp(&c, "1.out", c.out, sizeof c.out);
  assert_string_equal(c.out, "pixels: 2 images are in kept\n");
  command_slurp(&c, "2.out", c.out, sizeof c.out);
  assert_string_equal(c.out, "pixels: 1 image is in kept\n");
  assert_int_equal(count_kept(&c), 3);
  command_do(&c, "%s -o f.npz", kind);
  assert_int_equal(count_kept(&c), 3);
  command_do(&c, "features pixels in c.ppm --size 5x4 -o g.npz");
  assert_int_equal(command_same(&c, "f.npz", "g.npz", "X"), 3);
  command_run(&c, "--version && find kept -type f -exec cp c.ppm {} ';'");
  command_run(&c, "%s -o f.npz", kind); /* it is there that they come from */
  command_expect(&c, 0, MADE_AGAIN);
  command_end(&c);
}

static void parts_are_refused_by_name(void **state)
{
  static const command_misuse bad[] = {
      {"features pixels --part 1/2", 2, "--part --cache"},
      {"features pixels --part 1/2 --cache k -o f.npz", 2, "--part"},
      {"features pixels --part 3/2 --cache k", 2, "K/N"},
      {"features pixels --part 1/4 --cache k", 2, "4 3"},
      {"features texton-bow --part 1/2 --cache k", 2, "--vocabulary F"}};
  command c;
  begin(&c);
  command_refuses(&c, bad, sizeof bad / sizeof *bad, "c.ppm in");
  assert_false(command_exists(&c, "k"));
  command_end(&c);
}

/* Of the first column of images, the sum of its words: textons count pixels.
 */
static double count_pixels(const command *c, const char *file)
{
  lapis_arrays all;
  double sum = 0;
  command_arrays(c, file, &all);
  const lapis_mat *X = &lapis_arrays_find(&all, "X")->mat;
  for (int64_t k = 0; k < X->rows; k++) sum += lapis_mat_at(X, k, 0);
  lapis_arrays_free(&all);
  return sum;
}

/* Images of 20 x 12 are brought to what words were learnt at, or to what is
 * asked for, which is then said. */
static void words_bring_the_size_of_their_images(void **state)
{
  static const struct {
    const char *learnt, *given;
    double pixels; /* that are counted */
    const char *said;
  } tries[] = {
      {"--enlarge 40", "", 40 * 24, NULL},
      {"--enlarge 40", "--enlarge 40", 40 * 24, NULL},
      {"--enlarge 40", "--enlarge 0", 20 * 12,
       "texton-bow: --enlarge 0 is used, though v.npz was learnt with "
       "--enlarge 40"},
      {"--longest 16", "", 16 * 10, NULL},
      {"--longest 16", "--longest 640", 20 * 12,
       "texton-bow: --longest 640 is used, though v.npz was learnt with "
       "--longest 16"},
      {"", "", 20 * 12, NULL},
      {"", "--enlarge 40", 40 * 24,
       "--enlarge 40 is used, though v.npz was learnt with --enlarge 0"}};
  command c;
  begin(&c);
  for (size_t k = 0; k < sizeof tries / sizeof *tries; k++) {
    command_do(&c,
               "features texton-bow c.ppm in --words 4 --learn 300 %s "
               "--save-vocabulary v.npz -o l.npz -q",
               tries[k].learnt);
    command_run(&c, "features texton-bow c.ppm --vocabulary v.npz %s -o f.npz",
                tries[k].given);
    command_expect(&c, 0, tries[k].said == NULL ? "" : tries[k].said);
    if (tries[k].said == NULL) assert_null(strstr(c.err, "learnt"));
    CHECK_NEAR(count_pixels(&c, "f.npz"), tries[k].pixels, 0);
  }
  command_run(&c, "features texton-bow in --words 4 --learn 300 --longest 16 "
                  "--save-vocabulary v.npz -o l.npz -q");
  command_run(&c, "features texton-bow in --vocabulary v.npz -o f.npz --json");
  lapis_json *v = command_json(c.out);
  const lapis_json *settings = lapis_json_get(v, "settings");
  CHECK_NEAR(lapis_json_number(settings, "longest", -1), 16, 0);
  CHECK_NEAR(lapis_json_number(settings, "enlarge", -1), 0, 0);
  lapis_json_free(v);
  command_run(&c, "features texton-bow in --vocabulary v.npz -o f.npz "
                  "--enlarge 20");
  command_expect(&c, 2, "--enlarge 20 --longest 16");
  command_end(&c);
}

/* Patches of dense SIFT are as wide as those that words were learnt from, or as
 * is asked for, which is then said. */
static void words_bring_the_size_of_their_patches(void **state)
{
  static const struct {
    const char *given, *said;
    int64_t patches; /* steps of 4 across 20 x 12, in each size */
  } tries[] = {
      {"", NULL, 4 * 2 + 3 * 1},
      {"--bins 2,3", NULL, 4 * 2 + 3 * 1},
      {"--bins 2",
       "dense-sift-bow: --bins 2 is used, though v.npz was learnt with "
       "--bins 2,3",
       4 * 2}};
  command c;
  begin(&c);
  command_do(&c, "features dense-sift-bow c.ppm in --words 4 --bins 2,3 "
                 "--save-vocabulary v.npz -o l.npz -q");
  for (size_t k = 0; k < sizeof tries / sizeof *tries; k++) {
    lapis_arrays all;
    command_run(&c,
                "features dense-sift-bow c.ppm --vocabulary v.npz %s -o f.npz",
                tries[k].given);
    command_expect(&c, 0, tries[k].said == NULL ? "" : tries[k].said);
    if (tries[k].said == NULL) assert_null(strstr(c.err, "learnt"));
    command_arrays(&c, "f.npz", &all);
    const lapis_mat *word = &lapis_arrays_find(&all, "word")->mat;
    assert_int_equal(word->rows * word->cols, tries[k].patches);
    lapis_arrays_free(&all);
  }
  command_end(&c);
}

/* Numbers that were made in another way are as many, and mean something else:
 * a model answers for those alone that were made as its own were. */
static void a_model_knows_how_its_features_were_made(void **state)
{
  static const struct {
    const char *made, *refused; /* NULL: answered */
  } tries[] = {
      {"dense-sift-bow c.ppm in --vocabulary v.npz", NULL},
      {"dense-sift-bow c.ppm in --words 4 --bins 2,3",
       "predict: X counts other words (dense-sift-bow) than the model's; give "
       "features --vocabulary the file that --save-vocabulary wrote for the "
       "training images; if there is none, make features of those images again "
       "with --save-vocabulary"},
      {"dense-sift-bow c.ppm in --vocabulary v.npz --step 2",
       "predict: X was made by 'dense-sift-bow --step 2', what the model was "
       "fitted with by 'dense-sift-bow --step 4'"},
      {"pixels c.ppm in --size 2x2",
       "predict: X was made by 'pixels', what the model was fitted with by "
       "'dense-sift-bow'"},
  };
  command c;
  begin(&c);
  put_image(&c, "d.ppm", 4);
  command_do(&c, "features dense-sift-bow d.ppm in --words 4 --bins 2,3 "
                 "--save-vocabulary v.npz -o l.npz -q");
  command_do(&c, "fit rpca l.npz --model m.lapis -q");
  for (size_t k = 0; k < sizeof tries / sizeof *tries; k++)
    for (int whole = 0; whole < 2; whole++) {
      command_do(&c, "features %s -o f.npz -q", tries[k].made);
      command_run(&c, "predict m.lapis %s -o p.npz",
                  whole ? "f.npz" : "-X f.npz:X");
      if (tries[k].refused == NULL)
        command_expect(&c, 0, "");
      else
        command_expect(&c, 4, tries[k].refused);
    }
  command_run(&c, "info m.lapis");
  assert_non_null(strstr(c.out, "made by: dense-sift-bow, dense-sift-bow "
                                "words "));
  command_end(&c);
}

/* A file that does not say how it was made is answered as it is; so is one
 * whose X a map has changed, or in which the words mean something else. */
static void what_does_not_say_is_answered(void **state)
{
  command c;
  char path[160];
  double x[] = {1, 2, 3, 4, 5, 6, 7, 8}, other[] = {1, 2, 3};
  lapis_named item[] = {
      {.name = "X", .mat = lapis_mat_f64(x, 4, 2)},
      {.name = "feature_settings", .mat = lapis_mat_f64(other, 3, 1)}};
  begin(&c);
  command_run(&c, "features pixels c.ppm in --size 2x2 -o f.npz -q");
  command_run(&c, "features pixels c.ppm in --size 4x1 -o g.npz -q");
  command_do(&c, "fit rpca f.npz --model m.lapis -q");
  command_run(&c, "predict m.lapis g.npz");
  command_expect(&c, 4, "--size 4x1'");
  command_do(&c, "convert g.npz same.npz");
  command_run(&c, "predict m.lapis same.npz");
  command_expect(&c, 4, "--size 4x1'");
  command_do(&c, "convert g.npz mapped.npz --map l2");
  command_do(&c, "predict m.lapis mapped.npz -o p.npz");
  (void)snprintf(path, sizeof path, "%s/foreign.npz", c.folder);
  lapis_ctx *ctx = lapis_ctx_new();
  assert_int_equal(lapis_arrays_write(ctx, path, "npz", item, 2), LAPIS_OK);
  lapis_ctx_free(ctx);
  command_do(&c, "predict m.lapis foreign.npz -o p.npz");
  command_do(&c, "fit rpca foreign.npz --model n.lapis -q");
  command_do(&c, "predict n.lapis f.npz -o p.npz");
  command_end(&c);
}

/* Makes the numbers of a member of an archive such that cannot be read. */
static void spoil(const char *path, const char *member, const char *type)
{
  char text[8192];
  FILE *f = fopen(path, "r+b");
  assert_non_null(f);
  size_t n = fread(text, 1, sizeof text, f), at = 0, from = strlen(member);
  while (at + from <= n && memcmp(text + at, member, from) != 0) at++;
  while (at + 3 <= n && memcmp(text + at, "<f8", 3) != 0) at++;
  assert_true(at + 3 <= n);
  assert_int_equal(fseek(f, (long)at, SEEK_SET), 0);
  assert_int_equal(fwrite(type, 1, 3, f), 3);
  assert_int_equal(fclose(f), 0);
}

/* Another program's feature_settings may be of any type: the file is read as
 * if they were not there, and its names are checked. */
static void what_cannot_be_read_says_nothing(void **state)
{
  static const char *const types[] = {"<f8", "<c8", "<M8", "|O8"};
  const char Y[] = "id,y\nd,1\nc,0\nb,1\na,0\n";
  const char *names[] = {"a", "b", "c", "d"};
  double x[] = {1, 2, 3, 4, 5, 6, 7, 8}, other[] = {1, 2, 3};
  lapis_named item[] = {
      {.name = "X", .mat = lapis_mat_f64(x, 2, 4)},
      {.name = "feature_settings", .mat = lapis_mat_f64(other, 3, 1)},
      {.name = "names",
       .mat = {
           .dtype = LAPIS_TEXT, .rows = 1, .cols = 4, .ld = 1, .val = names}}};
  lapis_ctx *ctx = lapis_ctx_new();
  command c;
  char path[160];
  command_begin(&c);
  command_write(&c, "y.csv", Y, sizeof Y - 1);
  (void)snprintf(path, sizeof path, "%s/f.npz", c.folder);
  for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
    assert_int_equal(lapis_arrays_write(ctx, path, "npz", item, 3), LAPIS_OK);
    spoil(path, "feature_settings", types[k]);
    command_do(&c, "fit rpca f.npz --model m.lapis -q");
    lapis_dataset *ds;
    assert_int_equal(lapis_dataset_new(ctx, &ds), LAPIS_OK);
    assert_int_equal(lapis_dataset_read(ds, path, NULL), LAPIS_OK);
    assert_string_equal(lapis_ctx_error(ctx), "");
    lapis_dataset_free(ds);
    for (int whole = 0; whole < 2; whole++) {
      command_run(&c, "fit rlda -X f.npz%s -Y y.csv --target y --id id",
                  whole ? "" : ":X");
      command_expect(&c, 0, "f.npz: " JOINED_WITH "y.csv");
    }
  }
  lapis_ctx_free(ctx);
  command_end(&c);
}

/* X of two features, made as up to four texts say. */
static void put_made(const command *c, const char *name,
                     const char *const made[4])
{
  char path[160];
  double x[] = {1, 2, 3, 4, 5, 7};
  int64_t count = 0;
  while (count < 4 && made[count] != NULL) count++;
  lapis_named item[] = {{.name = "X", .mat = lapis_mat_f64(x, 2, 3)},
                        {.name = "feature_settings",
                         .flat = true,
                         .mat = lapis_mat_text(made, 1, count)}};
  (void)snprintf(path, sizeof path, "%s/%s", c->folder, name);
  lapis_ctx *ctx = lapis_ctx_new();
  assert_int_equal(lapis_arrays_write(ctx, path, "npz", item, 2), LAPIS_OK);
  lapis_ctx_free(ctx);
}

/* Kinds and words must agree, and settings that both sides name, by value: one
 * that a side does not name its version did not have. */
static void what_made_features_is_held_by_name(void **state)
{
  static const struct {
    const char *was[4], *is[4], *refused; /* NULL: answered */
  } tries[] = {
      {{"pixels", "pixels --size 32x32"},
       {"pixels", "pixels --hue yes", "pixels --size 032x32"},
       NULL},
      {{"pixels", "pixels --size 32x32", "pixels --hue yes"},
       {"pixels", "pixels --size 32x31"},
       "X was made by 'pixels --size 32x31', what the model was fitted with by "
       "'pixels --size 32x32'; make X again in the same way"},
      {{"pixels", "pixels --size 3x2", "color-moments"},
       {"pixels", "pixels --size 3x2"},
       "predict: X lacks 'color-moments', with which the model was fitted"},
      {{"color-moments"},
       {"pixels", "color-moments"},
       "predict: X has 'pixels', without which the model was fitted"},
      {{"color-moments", "pixels"},
       {"pixels", "color-moments"},
       "predict: X has 'pixels' where the model was fitted with "
       "'color-moments'; make X again with its kinds in that order"},
      {{"sift-bow", "sift-bow words 01"},
       {"sift-bow", "sift-bow words 1"},
       "predict: X counts other words (sift-bow) than the model's"},
      {{"sift-bow", "sift-bow words 01"},
       {"sift-bow"},
       "predict: X counts other words (sift-bow) than the model's"},
  };
  command c;
  begin(&c);
  for (size_t k = 0; k < sizeof tries / sizeof *tries; k++) {
    put_made(&c, "was.npz", tries[k].was);
    put_made(&c, "is.npz", tries[k].is);
    command_do(&c, "fit rpca was.npz --model m.lapis -q");
    command_run(&c, "predict m.lapis is.npz -o p.npz");
    if (tries[k].refused == NULL)
      command_expect(&c, 0, "");
    else
      command_expect(&c, 4, tries[k].refused);
  }
  command_end(&c);
}

/* Of several kinds each says so. */
static void joined_kinds_say_how_each_was_made(void **state)
{
  command c;
  begin(&c);
  command_run(&c, "features pixels,color-moments c.ppm in --grid 2 --size 3x2 "
                  "-o f.npz -q");
  command_run(&c, "features pixels,color-moments c.ppm in --grid 2 --size 2x3 "
                  "-o g.npz -q");
  command_do(&c, "fit rpca f.npz --model m.lapis -q");
  command_do(&c, "predict m.lapis f.npz -o p.npz");
  command_run(&c, "predict m.lapis g.npz");
  command_expect(&c, 4, "X --size 2x3'");
  command_end(&c);
}

/* A network by its file's name, beside other kinds; a model knows it by its
 * bytes, and how images were given to it. */
static void networks_are_named_by_their_file(void **state)
{
  static const char net[] = "stand-in\nin 1 3 8 12\nout f 1 5\n";
  static const char map[] = "stand-in\nin 1 3 8 12\nout f 1 3 4 6\n";
  static const char labels[] = "name,is\nc.ppm,x\na.ppm,y\n";
  const char *library = getenv("LAPIS_TEST_ONNX");
  command c;
  if (library == NULL) skip();
  assert_int_equal(setenv("LAPIS_ONNXRUNTIME", library, 1), 0);
  begin(&c);
  command_write(&c, "a.onnx", net, strlen(net));
  command_write(&c, "b.onnx", net, strlen(net) - 1);
  command_write(&c, "l.csv", labels, strlen(labels));
  command_do(&c, "features onnx:a.onnx c.ppm in -o f.npz");
  assert_string_equal(c.out, "onnx: 3 images, X is 3 x 5\n");
  assert_non_null(strstr(c.err, "a.onnx"));
  command_do(&c,
             "features pixels,onnx:a.onnx c.ppm in --size 12x8 -o j.npz -q");
  command_do(&c, "fit rpca f.npz --model m.lapis -q");
  command_do(&c, "predict m.lapis f.npz -o p.npz");
  command_do(&c, "features onnx --net b.onnx c.ppm in -o g.npz -q");
  command_run(&c, "predict m.lapis g.npz");
  command_expect(&c, 4, "'onnx network ");
  command_do(&c, "features onnx:a.onnx c.ppm in --scale 1 -o g.npz -q");
  command_run(&c, "predict m.lapis g.npz");
  command_expect(&c, 4, "'onnx --scale 1'");
  command_run(&c, "features gist:a.onnx c.ppm -o g.npz");
  command_expect(&c, 2, "'gist:a.onnx'");
  command_do(&c, "label c.ppm in --features onnx:a.onnx --no-cache --labels "
                 "l.csv");
  command_write(&c, "m.onnx", map, strlen(map));
  command_do(&c, "label c.ppm in --features onnx-map:m.onnx --where --no-cache "
                 "--labels l.csv -o page.html --result r.npz -q");
  lapis_arrays found;
  command_arrays(&c, "r.npz", &found);
  const lapis_array *box = lapis_arrays_find(&found, "boxes");
  assert_true(box != NULL && box->mat.cols > 0);
  lapis_arrays_free(&found);
  command_end(&c);
}

int test_features(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(folders_and_files_become_arrays),
      cmocka_unit_test(methods_read_them),
      cmocka_unit_test(vectors_are_a_table_too),
      cmocka_unit_test(methods_read_the_table),
      cmocka_unit_test(json_says_all),
      cmocka_unit_test(bad_images_are_named),
      cmocka_unit_test(misuse_is_refused),
      cmocka_unit_test(a_bar_is_shown),
      cmocka_unit_test(parts_fill_one_cache),
      cmocka_unit_test(parts_are_refused_by_name),
      cmocka_unit_test(words_bring_the_size_of_their_images),
      cmocka_unit_test(words_bring_the_size_of_their_patches),
      cmocka_unit_test(a_model_knows_how_its_features_were_made),
      cmocka_unit_test(what_does_not_say_is_answered),
      cmocka_unit_test(what_cannot_be_read_says_nothing),
      cmocka_unit_test(what_made_features_is_held_by_name),
      cmocka_unit_test(joined_kinds_say_how_each_was_made),
      cmocka_unit_test(networks_are_named_by_their_file),
  };
  return run_cases(tests, NULL, NULL);
}
