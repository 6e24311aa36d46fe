/* locate.c - lapis locate: the object put into pictures is found.
 */
#include <sys/stat.h>

#include "images/places/places.h"
#include "lapis/images.h"
#include "scenes.h"

enum { IMAGES = 8 };

static const scene places[IMAGES] = {
    {60, 70, 30, 0},   {140, 60, 36, 0}, {100, 120, 33, 0}, {70, 140, 28, 0},
    {130, 130, 40, 0}, {90, 60, 32, 0},  {150, 100, 35, 0}, {50, 100, 30, 0},
};

static scene distracted[IMAGES];

static void begin(command *c, double strength)
{
  static const double least[2] = {0.1, 0.02}, most[2] = {0.25, 0.1};
  scenes_begin(c, places, IMAGES, least, most, strength);
}

static double overlap(const scene *s, const lapis_box *b)
{
  double w = fmin(s->x + s->half, b->x + b->width) - fmax(s->x - s->half, b->x);
  double h =
      fmin(s->y + s->half, b->y + b->height) - fmax(s->y - s->half, b->y);
  double both = fmax(0, w) * fmax(0, h);
  return both / (4 * s->half * s->half + b->width * b->height - both);
}

/* Boxes that the command wrote, checked to be one an image in their order. */
static void read_boxes(const command *c, lapis_ctx *ctx, const char *name,
                       box_table *t)
{
  char path[128];
  snprintf(path, sizeof path, "%s/%s", c->folder, name);
  assert_int_equal(boxes_read(ctx, path, t), LAPIS_OK);
  assert_int_equal(t->count, IMAGES);
  for (int k = 0; k < IMAGES; k++) {
    snprintf(path, sizeof path, "%c.pgm", 'a' + k);
    assert_string_equal(t->name[k], path);
  }
}

static int64_t count_right(const box_table *t, double least)
{
  int64_t right = 0;
  for (int k = 0; k < IMAGES; k++)
    right += overlap(&places[k], &t->box[k]) >= least;
  return right;
}

/* Among boxes at random, the object's own, within a pixel or two, wherever in
 * the table it stands; scores say nothing. */
static void write_candidates(const command *c, bool with_object)
{
  char text[IMAGES * 12 * 64];
  size_t used = 0;
  uint64_t seed = 11;
  for (int k = IMAGES - 1; k >= 0; k--)
    for (int b = 0; b < 12; b++) {
      double w = 40 + 60 * check_uniform(&seed);
      double h = 40 + 60 * check_uniform(&seed);
      lapis_box box = {(SCENE_SIDE - w) * check_uniform(&seed),
                       (SCENE_SIDE - h) * check_uniform(&seed), w, h, 0.5};
      if (with_object && b == (5 * k) % 12)
        box = (lapis_box){places[k].x - places[k].half + 1,
                          places[k].y - places[k].half - 1, 2 * places[k].half,
                          2 * places[k].half, 0.5};
      used += (size_t)snprintf(text + used, sizeof text - used,
                               "%c%s,%.1f,%.1f,%.1f,%.1f,%.1f\n", 'a' + k,
                               b % 2 == 0 ? ".pgm" : "", box.x, box.y,
                               box.width, box.height, box.score);
    }
  command_write(c, "boxes.csv", text, used);
}

static void the_object_is_chosen_among_given_boxes(void **state)
{
  command c;
  box_table t;
  lapis_ctx *ctx = lapis_ctx_new();
  begin(&c, 60);
  write_candidates(&c, true);
  command_do(&c, "locate ?.pgm --boxes boxes.csv --csv found.csv "
                 "--result r.npz -o page.html -q && "
                 "head -1 found.csv | grep -q ',doubtful$' && "
                 "test $(grep -c ',no$' found.csv) = 8");
  assert_true(command_exists(&c, "page.html") && command_exists(&c, "r.npz"));
  read_boxes(&c, ctx, "found.csv", &t);
  assert_int_equal(count_right(&t, 0.8), IMAGES);
  boxes_free(&t);
  /* what it wrote it reads: with one box an image there is no other answer */
  command_do(&c, "locate ?.pgm --boxes found.csv --csv again.csv -q && cmp "
                 "found.csv again.csv");
  assert_null(strstr(c.out, "doubtful"));
  scenes_report(&c);
  lapis_ctx_free(ctx);
  command_end(&c);
}

static void the_object_is_found_among_proposed_boxes(void **state)
{
  command c;
  box_table t;
  lapis_ctx *ctx = lapis_ctx_new();
  begin(&c, 8);
  command_do(&c, "locate ?.pgm --candidates 30 --no-cache --csv found.csv -q");
  read_boxes(&c, ctx, "found.csv", &t);
  CHECK_AT_LEAST((double)count_right(&t, 0.5), IMAGES - 1);
  boxes_free(&t);
  lapis_ctx_free(ctx);
  command_end(&c);
}

/* Picture k: a faint object (NULL: none) and a square of more contrast, which
 * stands out by itself. */
static void write_distracted(const command *c, const char *name, int k,
                             const scene_texture *object,
                             const scene_texture *other)
{
  static char file[64 + SCENE_SIDE * SCENE_SIDE];
  static const scene corner[4] = {
      {45, 45, 30, 0}, {155, 45, 30, 0}, {45, 155, 30, 0}, {155, 155, 30, 0}};
  scene_texture ground;
  scene at = corner[(k + 2) % 4], off = corner[(3 * k + 1) % 4];
  if (at.x == off.x && at.y == off.y) off = corner[(3 * k + 2) % 4];
  distracted[k] = at;
  scene_texture_make(&ground, 100 + (uint64_t)k, 0.02, 0.1);
  int n = sprintf(file, "P5 %d %d 255\n", SCENE_SIDE, SCENE_SIDE);
  for (int y = 0; y < SCENE_SIDE; y++)
    for (int x = 0; x < SCENE_SIDE; x++) {
      double u, v, p, q;
      scene_into(&at, x, y, &u, &v);
      scene_into(&off, x, y, &p, &q);
      double value =
          128 + (object != NULL && fabs(u) <= 1 && fabs(v) <= 1
                     ? 32 * scene_texture_at(object, u, v)
                 : fabs(p) <= 1 && fabs(q) <= 1
                     ? 40 * scene_texture_at(other, p, q)
                     : 4 * scene_texture_at(&ground, 2.4 * x / SCENE_SIDE - 1.2,
                                            2.4 * y / SCENE_SIDE - 1.2));
      file[n++] = (char)(unsigned char)fmin(255, fmax(0, value));
    }
  command_write(c, name, file, (size_t)n);
}

static int64_t count_distracted(const command *c, lapis_ctx *ctx)
{
  box_table t;
  int64_t right = 0;
  read_boxes(c, ctx, "found.csv", &t);
  for (int k = 0; k < IMAGES; k++)
    right += overlap(&distracted[k], &t.box[k]) >= 0.5;
  boxes_free(&t);
  return right;
}

static double shared(const lapis_box *a, const lapis_box *b)
{
  double w = fmin(a->x + a->width, b->x + b->width) - fmax(a->x, b->x);
  double h = fmin(a->y + a->height, b->y + b->height) - fmax(a->y, b->y);
  double both = fmax(w, 0) * fmax(h, 0);
  return both / (a->width * a->height + b->width * b->height - both);
}

/* Where an image by itself (alone.csv) wants another box than the one that was
 * chosen (found.csv, r.npz) the box is in doubt. */
static void check_doubts(const command *c, lapis_ctx *ctx)
{
  box_table alone, found;
  lapis_arrays all;
  int64_t apart = 0;
  read_boxes(c, ctx, "alone.csv", &alone);
  read_boxes(c, ctx, "found.csv", &found);
  command_arrays(c, "r.npz", &all);
  const lapis_mat *sure = &lapis_arrays_find(&all, "inlier")->mat;
  const lapis_mat *agreement = &lapis_arrays_find(&all, "agreement")->mat;
  for (int k = 0; k < IMAGES; k++) {
    double both = shared(&alone.box[k], &found.box[k]);
    apart += both < 0.5;
    CHECK_AT_MOST(lapis_mat_at(agreement, 0, k), both + 1e-9);
    if (both < 0.5) CHECK_NEAR(lapis_mat_at(sure, 0, k), 0, 0);
  }
  CHECK_AT_LEAST((double)apart, IMAGES / 2);
  lapis_arrays_free(&all);
  boxes_free(&alone);
  boxes_free(&found);
}

static void the_set_finds_what_an_image_alone_does_not(void **state)
{
  command c;
  scene_texture object, other;
  char name[16];
  lapis_ctx *ctx = lapis_ctx_new();
  command_begin(&c);
  scene_texture_make(&object, 7, 0.1, 0.25);
  for (int k = 0; k < IMAGES; k++) { /* another square in each */
    snprintf(name, sizeof name, "%c.pgm", 'a' + k);
    scene_texture_make(&other, 200 + (uint64_t)k, 0.1, 0.25);
    write_distracted(&c, name, k, &object, &other);
  }
  command_do(&c, "locate ?.pgm --rounds 0 --no-cache --csv found.csv -q");
  assert_null(strstr(c.out, "doubtful")); /* nobody else was asked */
  command_run(&c, "locate ?.pgm --rounds 0 --no-cache --csv alone.csv -q");
  CHECK_AT_MOST((double)count_distracted(&c, ctx), IMAGES / 2);
  command_do(&c, "locate ?.pgm --no-cache --csv found.csv --result r.npz -q");
  CHECK_AT_LEAST((double)count_distracted(&c, ctx), IMAGES - 1);
  check_doubts(&c, ctx);
  command_do(&c, "locate ?.pgm --no-cache -o page.html -q");
  double lines = 0;
  for (const char *at = c.out; (at = strstr(at, "  doubtful\n")) != NULL; at++)
    lines++;
  command_run(&c, "formats >/dev/null; grep -ac 'quiet.>doubtful' page.html");
  CHECK_AT_LEAST(lines, 1);
  CHECK_NEAR(strtod(c.out, NULL), lines, 0);
  command_run(&c, "formats >/dev/null; sed -n "
                  "'s:.*<dt>doubtful boxes</dt><dd>::p' page.html");
  CHECK_NEAR(strtod(c.out, NULL), lines, 0);
  command_do(&c, "formats >/dev/null; grep -q '[.]55.*[.]49' page.html");
  /* the same bits again, with other threads */
  command_do(&c, "locate ?.pgm --no-cache --csv again.csv --threads 2 -q && "
                 "cmp found.csv again.csv");
  lapis_ctx_free(ctx);
  command_end(&c);
}

static void make_folder(const command *c, const char *name)
{
  char path[128];
  snprintf(path, sizeof path, "%s/%s", c->folder, name);
  assert_int_equal(mkdir(path, 0777), 0);
}

/* Two things are common to all pictures; pictures without the fainter say which
 * is meant. */
static void what_other_pictures_show_is_not_the_object(void **state)
{
  command c;
  scene_texture object, other;
  char name[16];
  lapis_ctx *ctx = lapis_ctx_new();
  command_begin(&c);
  scene_texture_make(&object, 7, 0.1, 0.25);
  scene_texture_make(&other, 200, 0.1, 0.25);
  make_folder(&c, "others");
  for (int k = 0; k < IMAGES; k++) {
    snprintf(name, sizeof name, "%c.pgm", 'a' + k);
    write_distracted(&c, name, k, &object, &other);
    snprintf(name, sizeof name, "others/%c.pgm", 'a' + k);
    write_distracted(&c, name, k, NULL, &other);
  }
  command_do(&c, "locate ?.pgm --no-cache --csv found.csv -q");
  CHECK_AT_MOST((double)count_distracted(&c, ctx), 1);
  command_do(&c, "locate ?.pgm --without others --no-cache --csv found.csv "
                 "-q");
  CHECK_AT_LEAST((double)count_distracted(&c, ctx), IMAGES - 1);
  lapis_ctx_free(ctx);
  command_end(&c);
}

/* A greenish square and, in every other picture, a red or a blue one. */
static void write_coloured(const command *c, const char *name, int k)
{
  static char file[64 + 3 * SCENE_SIDE * SCENE_SIDE];
  static const double corner[4][2] = {
      {45, 45}, {155, 45}, {45, 155}, {155, 155}};
  const double *at = corner[k % 4], *off = corner[(k + 1 + k / 4) % 4];
  double level[3];
  uint64_t seed = (uint64_t)k;
  distracted[k] = (scene){at[0], at[1], 30, 0};
  int n = sprintf(file, "P6 %d %d 255\n", SCENE_SIDE, SCENE_SIDE);
  for (int y = 0; y < SCENE_SIDE; y++)
    for (int x = 0; x < SCENE_SIDE; x++) {
      bool in = fabs(x - at[0]) <= 30 && fabs(y - at[1]) <= 30;
      bool other =
          k % 2 == 1 && fabs(x - off[0]) <= 30 && fabs(y - off[1]) <= 30;
      double bright = (in ? 20 : other ? 70 : 4) * (check_uniform(&seed) - .5);
      for (int i = 0; i < 3; i++) {
        level[i] = 120 + bright;
        if (in) level[i] += i == 1 ? 20 : -10;
        if (other) level[i] += i == k / 2 % 2 * 2 ? 20 : -10;
        file[n++] = (char)(unsigned char)level[i];
      }
    }
  command_write(c, name, file, (size_t)n);
}

/* As tests/onnx/stand_in.c reads it: means of colours. */
static void write_net(const command *c, const char *name, const char *lines)
{
  char text[256];
  snprintf(text, sizeof text, "stand-in\nin 1 3 40 40\n%s", lines);
  command_write(c, name, text, strlen(text));
}

static bool begin_net(command *c)
{
  const char *library = getenv("LAPIS_TEST_ONNX");
  if (library == NULL) return false;
  assert_int_equal(setenv("LAPIS_ONNXRUNTIME", library, 1), 0);
  command_begin(c);
  for (int k = 0; k < IMAGES; k++) {
    char name[16];
    snprintf(name, sizeof name, "%c.ppm", 'a' + k);
    write_coloured(c, name, k);
  }
  return true;
}

/* The four corners, of which the red or blue one has the best score. */
static void write_corners(const command *c)
{
  char text[IMAGES * 4 * 64];
  size_t used = 0;
  for (int k = 0; k < IMAGES; k++)
    for (int b = 0; b < 4; b++)
      used += (size_t)snprintf(
          text + used, sizeof text - used, "%c.ppm,%d,%d,60,60,%s\n", 'a' + k,
          b % 2 * 110 + 15, b / 2 * 110 + 15,
          k % 2 == 1 && b == (k + 1 + k / 4) % 4 ? "1" : ".5");
  command_write(c, "corners.csv", text, used);
}

static int64_t count_coloured(command *c, lapis_ctx *ctx)
{
  command_do(c, "formats >/dev/null; sed -i s/.ppm/.pgm/ found.csv");
  return count_distracted(c, ctx);
}

static void a_network_finds_what_an_image_alone_does_not(void **state)
{
  command c;
  if (!begin_net(&c)) skip();
  lapis_ctx *ctx = lapis_ctx_new();
  write_net(&c, "n.onnx", "out f 1 5\nhidden map 1 3 10 8\n");
  write_corners(&c);
  command_do(&c, "locate ?.ppm --boxes corners.csv --rounds 0 --no-cache --csv "
                 "found.csv -q");
  CHECK_NEAR((double)count_coloured(&c, ctx), IMAGES / 2, 0);
  command_do(&c, "locate ?.ppm --boxes corners.csv --net n.onnx --layer map "
                 "--cache kept --csv found.csv --result r.npz -q");
  CHECK_NEAR((double)count_coloured(&c, ctx), IMAGES, 0);
  command_do(&c, "formats >/dev/null; test -d kept/onnx-*");
  /* auto is the shorter side; the same again, with what was kept */
  command_do(&c, "locate ?.ppm --boxes corners.csv --net n.onnx --layer map "
                 "--grid 8 --cache kept --result again.npz --threads 2 -q");
  assert_int_equal(command_same(&c, "r.npz", "again.npz", "likeness"), IMAGES);
  command_do(&c, "locate ?.ppm --net n.onnx --layer map --cache kept -o "
                 "page.html");
  assert_non_null(strstr(c.err, "n.onnx"));
  command_do(&c, "formats >/dev/null; grep -q '[.]56.*[.]55.*[.]49' page.html");
  lapis_ctx_free(ctx);
  command_end(&c);
}

static void networks_that_do_not_serve_are_refused(void **state)
{
  static const command_misuse wrong[] = {
      {"locate a.ppm b.ppm --net n.onnx", 2, "'f'"},
      {"locate a.ppm b.ppm --net n.onnx --layer map --grid 9", 2, "9 8x10"},
      {"locate a.ppm b.ppm --net n.onnx --layer map --grid 1", 2, "--grid 2"},
      {"locate a.ppm b.ppm --net n.onnx --layer none", 2, "'none'"},
      {"locate a.ppm b.ppm --net n.onnx --layer map --look gist", 2,
       "--net --look"},
      {"locate a.ppm b.ppm --net n.onnx --layer map --without kept", 2,
       "--net --without"},
      {"locate a.ppm b.ppm --layer map", 2, "--layer --net"},
      {"locate a.ppm b.ppm --grid 8", 2, "--grid --net"},
      {"locate a.ppm b.ppm --bgr", 2, "--bgr --net"},
      {"locate a.ppm b.ppm --look network", 2, "'network' outline"},
      {"locate a.ppm b.ppm --net none.onnx", 4, "none.onnx"},
      {"locate a.ppm b.ppm --net a.ppm", 4, "a.ppm"},
      {"locate a.ppm b.ppm --net nan.onnx", 4, "nan.onnx"},
      {"locate a.ppm b.ppm --net nan.onnx --keep-going", 4, "nan.onnx"},
  };
  command c;
  if (!begin_net(&c)) skip();
  write_net(&c, "n.onnx", "out f 1 5\nhidden map 1 3 10 8\n");
  write_net(&c, "nan.onnx", "out f 1 3 10 8\ndo nan\n");
  command_refuses(&c, wrong, sizeof wrong / sizeof *wrong, "--no-cache");
  command_end(&c);
}

static void json_has_a_box_an_image(void **state)
{
  command c;
  const char *key;
  char text[64];
  begin(&c, 60);
  write_candidates(&c, false);
  command_do(&c, "locate ?.pgm --boxes boxes.csv --json -q");
  lapis_json *v = command_json(c.out);
  assert_string_equal(lapis_json_text(v, "method", ""), "locate");
  CHECK_NEAR(lapis_json_number(lapis_json_get(v, "locate"), "side", 0), 64, 0);
  const lapis_json *images = lapis_json_get(v, "images");
  assert_non_null(images);
  assert_true(lapis_json_entry(images, IMAGES - 1, &key, text, sizeof text));
  assert_false(lapis_json_entry(images, IMAGES, &key, text, sizeof text));
  lapis_json_free(v);
  command_end(&c);
}

/* A table stays a table, and a terminal is told nothing. */
static void names_stay_on_a_line(void **state)
{
  command c;
  char from[128], to[128];
  begin(&c, 8);
  snprintf(from, sizeof from, "%s/a.pgm", c.folder);
  snprintf(to, sizeof to, "%s/a\nb\033[1m.pgm", c.folder);
  assert_int_equal(rename(from, to), 0);
  command_do(&c, "locate *.pgm --rounds 0 --no-cache -q");
  assert_non_null(strstr(c.out, "a\\x0ab\\x1b[1m.pgm  "));
  assert_non_null(strstr(c.out, "\nb.pgm                "));
  command_end(&c);
}

/* How many, and where the first stands. */
static void boxes_that_are_cut_are_counted(void **state)
{
  static const char boxes[] = "y,x,height,width,seen,file\n10,10,60,60,1,a\n"
                              "10,150,60,51,1,a\n-1,10,60,60,1,b\n"
                              "10,10,60,60,1,b\n";
  command c;
  begin(&c, 60);
  command_write(&c, "boxes.csv", boxes, sizeof boxes - 1);
  command_run(&c, "locate a.pgm b.pgm --boxes boxes.csv --no-cache");
  command_expect(&c, 0, "2 boxes boxes.csv:3");
  check_says(c.err, "1 column 'seen'");
  command_end(&c);
}

static const command_misuse misuses[] = {
    {"locate", 2, "locate"},
    {"locate a.pgm", 4, "locate"},
    {"locate a.pgm no.pgm", 4, "no.pgm"},
    {"locate a.pgm b.pgm --boxes no.csv", 4, "no.csv"},
    {"locate a.pgm b.pgm --boxes one.csv", 4, "b.pgm one.csv"},
    {"locate a.pgm b.pgm --boxes far.csv", 4,
     "far.csv:1: 300,300 20x20 200 a.pgm"},
    {"locate a.pgm b.pgm --boxes bad.csv", 4, "-2 bad.csv:1:12"},
    {"locate a.pgm b.pgm --look gist --side 65", 2, ""},
    {"locate a.pgm b.pgm --side 32", 2, "locate --side --look"},
    {"locate a.pgm b.pgm --noise 0", 2, "--noise --look"},
    {"locate a.pgm b.pgm --aspect 1", 2, "--aspect --look"},
    {"locate a.pgm b.pgm --look gist --rounds 3", 2, "--rounds --look"},
    {"locate a.pgm b.pgm --boxes far.csv --candidates 9", 2,
     "--candidates --boxes"},
    {"locate a.pgm b.pgm --look round", 2, "gist"},
    {"locate a.pgm b.pgm --rounds -1", 2, "rounds"},
    {"locate a.pgm b.pgm --without no.pgm", 4, "no.pgm"},
    {"locate a.pgm b.pgm --without empty", 4, ""},
    {"locate a.pgm b.pgm --without a.pgm --look gist", 2, "--without --look"},
    {"locate a.pgm b.pgm --inliers 3", 2, "--inliers"},
    {"locate a.pgm b.pgm --csv no/b.csv", 4, ""},
};

static void misuse_is_refused(void **state)
{
  static const char one[] = "a,1,1,50,50\n",
                    far[] = "a,300,300,20,20\nb,1,1,9,9",
                    bad[] = "a.pgm,1,-2,-2,5\n";
  command c;
  begin(&c, 8);
  command_write(&c, "one.csv", one, sizeof one - 1);
  command_write(&c, "far.csv", far, sizeof far - 1);
  command_write(&c, "bad.csv", bad, sizeof bad - 1);
  make_folder(&c, "empty");
  command_refuses(&c, misuses, sizeof misuses / sizeof *misuses, "--no-cache");
  command_end(&c);
}

int test_locate(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_object_is_chosen_among_given_boxes),
      cmocka_unit_test(the_object_is_found_among_proposed_boxes),
      cmocka_unit_test(the_set_finds_what_an_image_alone_does_not),
      cmocka_unit_test(what_other_pictures_show_is_not_the_object),
      cmocka_unit_test(a_network_finds_what_an_image_alone_does_not),
      cmocka_unit_test(networks_that_do_not_serve_are_refused),
      cmocka_unit_test(boxes_that_are_cut_are_counted),
      cmocka_unit_test(json_has_a_box_an_image),
      cmocka_unit_test(names_stay_on_a_line),
      cmocka_unit_test(misuse_is_refused),
  };
  return run_cases(tests, NULL, NULL);
}
