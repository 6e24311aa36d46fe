/* match.c - lapis match: what is put into pictures comes out. */
#include "lapis/images.h"
#include "remarks.h"
#include "scenes.h"

enum { IMAGES = 6, INLIERS = 12 };

static const scene places[IMAGES] = {
    {70, 80, 50, 0},    {110, 95, 55, 0.3}, {120, 70, 45, -0.5},
    {85, 120, 60, 0.9}, {100, 100, 48, 2},  {75, 110, 52, -0.2},
};

/* Keypoints need VLFeat: without it the first run says so. */
static void begin(command *c)
{
  static const double least[2] = {0.05, 0.05}, most[2] = {0.15, 0.15};
  scenes_begin(c, places, IMAGES, least, most, 30);
  command_run(c, "features sift a.pgm -o s.npz -q");
  if (c->code == 3) {
    command_end(c);
    skip();
  }
  command_expect(c, 0, "");
}

/* Of pairs of points that are said to be one: those that are one place of the
 * object (within 4 % of its side), by the transforms that made the pictures. */
static double share_right(const lapis_arrays *all)
{
  const lapis_mat *at = &lapis_arrays_find(all, "points")->mat;
  double right = 0, pairs = 0;
  assert_int_equal(at->rows, 4);
  for (int64_t i = 0; i < at->cols; i++)
    for (int64_t j = 0; j < i; j++) {
      double u[2], v[2];
      if (fabs(lapis_mat_at(at, 1, i) - lapis_mat_at(at, 1, j)) > 0.5) continue;
      for (int k = 0; k < 2; k++) {
        int64_t p = k == 0 ? i : j;
        scene_into(&places[(int)lapis_mat_at(at, 0, p)], lapis_mat_at(at, 2, p),
                   lapis_mat_at(at, 3, p), &u[k], &v[k]);
      }
      pairs++;
      right += hypot(u[0] - u[1], v[0] - v[1]) < 0.08 && fabs(u[0]) < 1.1 &&
               fabs(v[0]) < 1.1;
    }
  return right / pairs;
}

static void one_object_is_found_in_all(void **state)
{
  command c;
  lapis_arrays all;
  begin(&c);
  command_do(&c, "match ?.pgm --inliers 12 --no-cache --result r.npz "
                 "-o page.html -q");
  assert_non_null(strstr(c.out, "6 images, 12 inliers, "));
  command_arrays(&c, "r.npz", &all);
  const lapis_mat *match = &lapis_arrays_find(&all, "match")->mat;
  assert_int_equal(match->rows, INLIERS);
  assert_int_equal(match->cols, IMAGES);
  const lapis_mat *points = &lapis_arrays_find(&all, "points")->mat;
  CHECK_AT_LEAST((double)points->cols, 0.7 * INLIERS * IMAGES);
  CHECK_AT_LEAST(share_right(&all), 0.95);
  assert_true(command_exists(&c, "page.html"));
  scenes_report(&c);
  lapis_arrays_free(&all);
  command_end(&c);
}

/* ---- points made elsewhere ----------------------------------------------*/
enum { GRID = 4, EACH = GRID * GRID };

/* A grid on the object, in every image in another order: the point of a row. */
static void write_points(const command *c, int64_t point[IMAGES * EACH])
{
  static char text[IMAGES * EACH * 100];
  size_t used = (size_t)sprintf(text, "file,x,y,scale,angle\n");
  uint64_t seed = 3;
  for (int k = 0; k < IMAGES; k++) {
    const scene *s = &places[k];
    int64_t *of = point + (int64_t)k * EACH;
    for (int i = 0; i < EACH; i++) of[i] = i;
    for (int i = EACH - 1; i > 0; i--) {
      int j = (int)(check_uniform(&seed) * (i + 1));
      int64_t t = of[i];
      of[i] = of[j], of[j] = t;
    }
    for (int i = 0; i < EACH; i++) {
      double u = .35 * (double)(of[i] % GRID) - .525; /* NOLINT: whole */
      double v = .35 * (double)(of[i] / GRID) - .525; /* NOLINT: whole */
      double x = s->x + s->half * (u * cos(s->angle) - v * sin(s->angle));
      double y = s->y + s->half * (u * sin(s->angle) + v * cos(s->angle));
      used += (size_t)sprintf(text + used, "%c.pgm,%.9g,%.9g,%g,%g\n", 'a' + k,
                              x, y, s->half / 25, s->angle);
    }
  }
  command_write(c, "p.csv", text, used);
}

/* Points strewn on the object, which is moved, turned and scaled from picture
 * to picture: positions alone put them in order, and are sure of most.  What
 * does not go with --map positions is refused by name. */
static void given_positions_are_put_in_order(void **state)
{
  enum { STREWN = 14 };
  command c;
  lapis_arrays all;
  char text[IMAGES * STREWN * 60];
  int64_t of[IMAGES * STREWN];
  size_t used = 0;
  uint64_t seed = 21;
  int right = 0;
  double u[STREWN], v[STREWN];
  begin(&c);
  for (int i = 0; i < STREWN; i++) {
    u[i] = 1.8 * check_uniform(&seed) - .9;
    v[i] = 1.8 * check_uniform(&seed) - .9;
  }
  for (int k = 0; k < IMAGES; k++)
    for (int i = 0; i < STREWN; i++) { /* 5 and 14 have no common divisor */
      const scene *s = &places[k];
      int64_t p = of[k * STREWN + i] = (5 * i + 3 * k) % STREWN;
      double x = s->x + s->half * (u[p] * cos(s->angle) - v[p] * sin(s->angle));
      double y = s->y + s->half * (u[p] * sin(s->angle) + v[p] * cos(s->angle));
      used += (size_t)sprintf(text + used, "%c.pgm,%.9g,%.9g\n", 'a' + k, x, y);
    }
  command_write(&c, "p.csv", text, used);
  command_run(&c, "match ?.pgm --xy p.csv --inliers 14 --no-cache");
  command_expect(&c, 0, " of 84 points " POINTS_IN_DOUBT);
  check_says(c.err, "--map embed");
  check_says(c.err, "--map");
  command_run(&c, "match ?.pgm --xy p.csv --no-cache"); /* however many stay */
  command_expect(&c, 0, " of 84 points " POINTS_IN_DOUBT);
  command_run(&c, "match ?.pgm --xy p.csv --inliers 14 --map positions "
                  "--no-cache --result r.npz");
  command_expect(&c, 0, "similarity");
  assert_null(strstr(c.err, "--map embed"));
  command_arrays(&c, "r.npz", &all);
  const lapis_mat *match = &lapis_arrays_find(&all, "match")->mat;
  for (int64_t j = 0; j < STREWN; j++)
    for (int64_t k = 0; k < IMAGES; k++)
      right += of[(int64_t)lapis_mat_at(match, j, k)] ==
               of[(int64_t)lapis_mat_at(match, j, 0)];
  assert_int_equal(right, STREWN * IMAGES);
  CHECK_AT_LEAST((double)lapis_arrays_find(&all, "points")->mat.cols,
                 .9 * STREWN * IMAGES);
  lapis_arrays_free(&all);
  command_run(&c, "match a.pgm b.pgm --map positions -q");
  command_expect(&c, 2, "--xy F.csv");
  command_run(&c, "match a.pgm b.pgm --xy p.csv --map positions --inliers 5 "
                  "--instances 2 -q");
  command_expect(&c, 2, "--instances");
  command_end(&c);
}

static void given_points_are_put_in_order(void **state)
{
  command c;
  lapis_arrays all;
  int64_t point[IMAGES * EACH];
  int right = 0;
  begin(&c);
  write_points(&c, point);
  command_do(&c, "match ?.pgm --xy p.csv --inliers 16 --cache kept --result "
                 "r.npz -o page.html -q");
  command_arrays(&c, "r.npz", &all);
  const lapis_mat *match = &lapis_arrays_find(&all, "match")->mat;
  const lapis_mat *xy = &lapis_arrays_find(&all, "xy")->mat;
  assert_int_equal(match->rows, EACH);
  assert_int_equal(xy->cols, IMAGES * EACH);
  for (int64_t j = 0; j < EACH; j++)
    for (int64_t k = 0; k < IMAGES; k++)
      right += point[(int64_t)lapis_mat_at(match, j, k)] ==
               point[(int64_t)lapis_mat_at(match, j, 0)];
  CHECK_AT_LEAST((double)right, 0.95 * IMAGES * EACH);
  CHECK_AT_LEAST(share_right(&all), 0.95);
  assert_false(command_exists(&c, "kept")); /* points belong to names */
  lapis_arrays_free(&all);
  command_do(&c, "match ?.pgm --xy p.csv --inliers 16 -q -o points.csv");
  char table[65536];
  int lines = 0;
  command_slurp(&c, "points.csv", table, sizeof table);
  for (const char *at = table; *at != '\0'; at++) lines += *at == '\n';
  assert_int_equal(lines, 1 + EACH * IMAGES);
  assert_non_null(strstr(table, "name,point,x,y,doubtful,instance\na.pgm,1,"));
  command_end(&c);
}

typedef struct bad_points {
  const char *table, *said;
} bad_points;
static const bad_points bad[] = {
    {"a.pgm,5,5\nb.pgm,9,9\nc.pgm,9,9\n",
     "p.csv:3: 'c.pgm' is not one of the 2"},
    {"a,50,50\nb,9,9\na.pgm,50,50\n",
     "p.csv:3: the point 50,50 of a.pgm is on line 1 already"},
    {"name,x,y\na,50,50\nb,199.6,9\n",
     "p.csv:3: the point 199.6,9 lies outside the 200 x 200 pixels of b.pgm"},
    {"a,50,50\nb,5,-1\n", "p.csv:2: the point 5,-1 lies outside"},
    {"a,50,50\n", "b.pgm: has no point in p.csv"},
    {"a,50,50\nb,9\n", "p.csv:2:3: the row ends too early; a row is name,x,y"},
    {"a,50,50\nb,9,9,0\n", "p.csv:2:7: scale is \"0\"; it must be a number ab"},
    {"a,50,x\nb,9,9\n", "p.csv:1:6: y is \"x\""},
    {"a,50,50\nb,9,9\n", "a.pgm: has 1 points, fewer than --inliers 5"},
};

static void bad_points_are_refused(void **state)
{
  command c;
  begin(&c);
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    command_write(&c, "p.csv", bad[k].table, strlen(bad[k].table));
    command_run(&c, "match a.pgm b.pgm --xy p.csv --inliers 5 --no-cache "
                    "--result r.npz -q");
    command_expect(&c, 4, bad[k].said);
  }
  command_run(&c, "match a.pgm b.pgm --xy no.csv --no-cache -q");
  command_expect(&c, 4, "no.csv");
  assert_false(command_exists(&c, "r.npz"));
  command_end(&c);
}

/* ---- points of one image -------------------------------------------------*/
static const scene upright[IMAGES] = {
    {80, 80, 50, 0},     {87, 84, 51, 0},      {94, 90, 53, 0.05},
    {100, 98, 55, 0.02}, {105, 94, 53, -0.03}, {110, 102, 51, 0},
};

static void begin_upright(command *c)
{
  static const double least[2] = {0.05, 0.05}, most[2] = {0.15, 0.15};
  begin(c);
  command_end(c);
  scenes_begin(c, upright, IMAGES, least, most, 30);
}

/* Nine points of the third image, which have names. */
enum { LABELLED = 9, FROM = 2 };
static void write_first(const command *c)
{
  char text[LABELLED * 60 + 60];
  size_t used = (size_t)sprintf(text, "name,x,y,point\n");
  const scene *s = &upright[FROM];
  for (int i = 0; i < LABELLED; i++) {
    double u = .5 * (i % 3 - 1), v = .5 * (i / 3 - 1); /* NOLINT: whole */
    used += (size_t)sprintf(
        text + used, "c,%.9g,%.9g,corner %c\n",
        s->x + s->half * (u * cos(s->angle) - v * sin(s->angle)),
        s->y + s->half * (u * sin(s->angle) + v * cos(s->angle)), 'A' + i);
  }
  command_write(c, "first.csv", text, used);
}

/* By the transforms that made the pictures, within a tenth of the object. */
static void points_of_one_image_are_found_in_all(void **state)
{
  command c;
  lapis_arrays all;
  char table[16384];
  double right = 0, sure = 0, sure_right = 0;
  begin_upright(&c);
  write_first(&c);
  command_do(&c, "match ?.pgm --first first.csv --grid 4 --no-cache --result "
                 "r.npz -o page.html");
  assert_null(strstr(c.err, "max-iters"));
  command_arrays(&c, "r.npz", &all);
  const lapis_mat *match = &lapis_arrays_find(&all, "match")->mat;
  const lapis_mat *inlier = &lapis_arrays_find(&all, "inlier")->mat;
  const lapis_mat *xy = &lapis_arrays_find(&all, "xy")->mat;
  const lapis_mat *name = &lapis_arrays_find(&all, "point_names")->mat;
  assert_int_equal(match->rows, LABELLED);
  assert_int_equal(match->cols, IMAGES);
  assert_int_equal(name->cols, LABELLED);
  assert_string_equal(((const char *const *)name->val)[8], "corner I");
  for (int j = 0; j < LABELLED; j++)
    for (int k = 0; k < IMAGES; k++) {
      double u, v, want_u = .5 * (j % 3 - 1);
      double want_v = .5 * (j / 3 - 1); /* NOLINT: whole */
      int64_t at = (int64_t)lapis_mat_at(match, j, k);
      scene_into(&upright[k], lapis_mat_at(xy, 0, at), lapis_mat_at(xy, 1, at),
                 &u, &v);
      bool there = hypot(u - want_u, v - want_v) < .2;
      if (k == FROM) CHECK_NEAR(hypot(u - want_u, v - want_v), 0, 1e-5);
      right += there;
      sure += lapis_mat_at(inlier, j, k) > .5;
      sure_right += there && lapis_mat_at(inlier, j, k) > .5;
    }
  CHECK_AT_LEAST(right, .9 * LABELLED * IMAGES);
  CHECK_AT_LEAST(sure, .8 * LABELLED * IMAGES);
  CHECK_AT_LEAST(sure_right, .95 * sure);
  lapis_arrays_free(&all);
  command_do(&c, "match ?.pgm --first first.csv --grid 4 --no-cache -q -o "
                 "points.csv --json");
  check_says(c.out, "\"point\": \"corner A\"");
  command_slurp(&c, "points.csv", table, sizeof table);
  check_says(table,
             "name,point,x,y,doubtful,instance,placement\na.pgm,corner A,");
  assert_true(command_exists(&c, "page.html"));
  command_end(&c);
}

/* Rows that name no image are of the first one, with titles or without. */
static void points_without_a_name_are_the_first_images(void **state)
{
  static const char *const tables[] = {
      "name,x,y,point\na,60,60,1\na,95,90,2\n",
      "60,60\n95,90\n",
      "x,y\n60,60\n95,90\n",
      "x,y,name\n60,60,1\n95,90,2\n",
      "point,y,x,image\n1,60,60,a\n2,90,95,a\n",
      "60,0;60\n95;90,000\n",
      "name;x;y;point\na;60;60,0;1\na;95,0;90;2"
      "\n"};
  command c;
  char want[2048] = "", got[2048];
  begin_upright(&c);
  for (size_t k = 0; k < sizeof tables / sizeof *tables; k++) {
    command_write(&c, "p.csv", tables[k], strlen(tables[k]));
    command_do(&c, "match a.pgm b.pgm --first p.csv --no-cache -q -o f.csv");
    command_slurp(&c, "f.csv", got, sizeof got);
    check_says(got, "a.pgm,2,95,90,no");
    if (k > 0) assert_string_equal(got, want);
    memcpy(want, got, sizeof want);
  }
  command_end(&c);
}

/* Points of a picture that shows nothing of the others are in doubt. */
static void points_that_are_nowhere_else_are_doubted(void **state)
{
  static const double least[2] = {0.05, 0.05}, most[2] = {0.15, 0.1};
  scene none[3];
  command c;
  lapis_arrays all;
  double sure = 0;
  begin(&c);
  command_end(&c);
  for (int k = 0; k < 3; k++) none[k] = (scene){-9, -9, 1e-3, 0};
  scenes_begin(&c, none, 3, least, most, 60);
  write_first(&c);
  command_do(&c, "match ?.pgm --first first.csv --no-cache --result r.npz -q");
  command_arrays(&c, "r.npz", &all);
  const lapis_mat *inlier = &lapis_arrays_find(&all, "inlier")->mat;
  for (int i = 0; i < 2 * LABELLED; i++)
    sure += lapis_mat_at(inlier, i % LABELLED, i / LABELLED);
  CHECK_AT_MOST(sure, .15 * 2 * LABELLED);
  lapis_arrays_free(&all);
  command_end(&c);
}

/* A picture of noise among others: the screen, the table and the page say that
 * it is in doubt as a whole. */
static void a_picture_that_is_in_doubt_as_a_whole_is_said(void **state)
{
  enum { SIDE = 200 };
  static char noise[64 + SIDE * SIDE], table[16384];
  command c;
  uint64_t seed = 4;
  begin_upright(&c);
  write_first(&c);
  size_t used = (size_t)sprintf(noise, "P5 %d %d 255\n", SIDE, SIDE);
  for (int i = 0; i < SIDE * SIDE; i++)
    noise[used++] = (char)(unsigned char)(255 * check_uniform(&seed));
  command_write(&c, "z.pgm", noise, used);
  command_run(&c, "match ?.pgm --first first.csv --grid 4 --no-cache -o "
                  "page.html");
  command_expect(&c, 0, AT_OTHER_PLACES);
  check_says(c.out, "9  placement doubtful\n");
  command_do(&c, "match ?.pgm --first first.csv --grid 4 --no-cache -q -o "
                 "points.csv --json >all.json && grep -q "
                 "'\"placement_doubtful\": true' all.json && grep -q 'all "
                 "points in doubt' page.html");
  command_slurp(&c, "points.csv", table, sizeof table);
  int doubtful = 0;
  for (const char *at = table; (at = strstr(at, ",yes,1,doubtful\n")); at++)
    doubtful++;
  assert_int_equal(doubtful, LABELLED);
  check_says(table, ",no,1,sure\n");
  command_end(&c);
}

/* Of two images; three of four points that agree are what chance gives. */
static void of_few_points_all_are_sure_or_none(void **state)
{
  enum { FEW = 4 };
  char text[256] = "name,x,y\nc,6,6\n";
  const scene *s = &upright[FROM];
  int sure = 0;
  command c;
  lapis_arrays all;
  begin_upright(&c);
  for (int i = 0; i + 1 < FEW; i++) {
    double u = .5 * (i % 2), v = .5 * (i > 1);
    sprintf(text + strlen(text), "c,%.9g,%.9g\n",
            s->x + s->half * (u * cos(s->angle) - v * sin(s->angle)),
            s->y + s->half * (u * sin(s->angle) + v * cos(s->angle)));
  }
  command_write(&c, "first.csv", text, strlen(text));
  command_run(&c, "match c.pgm a.pgm --first first.csv --grid 4 --no-cache "
                  "--result r.npz");
  command_expect(&c, 0, LITTLE_IS_SHARED);
  command_arrays(&c, "r.npz", &all);
  const lapis_mat *inlier = &lapis_arrays_find(&all, "inlier")->mat;
  for (int j = 0; j < FEW; j++) sure += lapis_mat_at(inlier, j, 1) > .5;
  assert_int_equal(sure, 0);
  lapis_arrays_free(&all);
  command_end(&c);
}

static const bad_points bad_first[] = {
    {"a,50,50\nb,9,9\n", "p.csv: holds points of 2 images"},
    {"c,50,50\n", "p.csv:1: 'c' is not one of the 2 images"},
    {"a,50,50,4\n", "a row is [name,]x,y[,point]"},
    {"50,50\n60,60,4\n", "p.csv:2:4: the row goes on after this"},
    {"left,top\n50,50\n", "p.csv:1: x [name,]x,y[,point]"},
    {"x,y\n50,50\n50,250\n", "p.csv:3: the point 50,250 lies outside"},
    {"x,y,point\n50,50,eye\n60,60,eye\n",
     "p.csv:3: the point 'eye' is on line 2 already"},
    {"a,50,250\n", "p.csv:1: the point 50,250 lies outside"},
    {"name,x,y,point\na,50,50,eye\na,60,60,eye\n",
     "p.csv:3: the point 'eye' is on line 2 already"},
};

static void bad_first_points_are_refused(void **state)
{
  static const command_misuse wrong[] = {
      {"match a.pgm b.pgm --first p.csv --xy p.csv", 2, "--xy"},
      {"match a.pgm b.pgm --first p.csv --inliers 4", 2, "--inliers"},
      {"match a.pgm b.pgm --first p.csv --map embed", 2, "--map"},
      {"match a.pgm b.pgm --grid 4", 2, "--grid --first"},
  };
  command c;
  begin(&c);
  for (size_t k = 0; k < sizeof bad_first / sizeof *bad_first; k++) {
    command_write(&c, "p.csv", bad_first[k].table, strlen(bad_first[k].table));
    command_run(&c, "match a.pgm b.pgm --first p.csv --no-cache -q");
    command_expect(&c, 4, bad_first[k].said);
  }
  command_refuses(&c, wrong, sizeof wrong / sizeof *wrong, "-q --no-cache");
  command_end(&c);
}

/* ---- how many points the object has -------------------------------------*/
static double estimated(command *c)
{
  lapis_json *v = command_json(c->out);
  double inliers = lapis_json_number(v, "inliers", NAN);
  lapis_json_free(v);
  return inliers;
}

/* All keypoints of a picture are found again in its copies, and one with
 * several directions is one point. */
static void copies_match_wholly(void **state)
{
  command c;
  begin(&c);
  command_do(&c, "features sift a.pgm --most 60 -o s.npz --json -q");
  lapis_arrays keys;
  command_arrays(&c, "s.npz", &keys);
  const lapis_mat *at = &lapis_arrays_find(&keys, "xy")->mat;
  int64_t all = 0;
  for (int64_t j = 0; j < at->cols; j++) {
    bool twin = false;
    for (int64_t i = 0; i < j; i++)
      twin |= hypot(lapis_mat_at(at, 0, i) - lapis_mat_at(at, 0, j),
                    lapis_mat_at(at, 1, i) - lapis_mat_at(at, 1, j)) == 0;
    all += !twin;
  }
  assert_true(all < at->cols);
  lapis_arrays_free(&keys);
  char line[128];
  snprintf(line, sizeof line, "cd %s && cp a.pgm y.pgm && cp a.pgm z.pgm",
           c.folder);
  assert_int_equal(system(line), 0);
  command_do(&c, "match a.pgm y.pgm z.pgm --no-cache --json -q");
  CHECK_NEAR(estimated(&c), (double)all, 0);
  assert_null(strstr(c.out, "\"doubtful\": true"));
  command_end(&c);
}

/* Grounds without the object have nothing in common. */
static void noise_is_said_to_match_nothing(void **state)
{
  static const double least[2] = {0.05, 0.05}, most[2] = {0.15, 0.1};
  scene none[IMAGES];
  command c;
  for (int k = 0; k < IMAGES; k++) none[k] = (scene){-9, -9, 1e-3, 0};
  begin(&c); /* with the object */
  command_run(&c, "match a.pgm b.pgm --no-cache");
  if (c.code != 0 || strstr(c.err, LITTLE_IS_SHARED)) fail_msg("%s", c.err);
  command_end(&c);
  for (int images = 2; images <= IMAGES; images += 4) {
    scenes_begin(&c, none, images, least, most, 60);
    command_run(&c, "match ?.pgm --no-cache");
    command_expect(&c, 0, NO_POINT_HOLDS);
    assert_non_null(strstr(c.out, "1 inlier (estimated)"));
    assert_non_null(strstr(c.out, images == 2 ? "2 of 2 points doubtful"
                                              : "6 of 6 points doubtful"));
    for (int k = 0; k + 1 < images; k++) { /* by chance a point, or two */
      command_run(&c, "match %c.pgm %c.pgm --no-cache", 'a' + k, 'b' + k);
      command_expect(&c, 0, LITTLE_IS_SHARED);
    }
    command_end(&c);
  }
}

/* Three pictures that share one point among others say so, and doubt it. */
static void one_point_alone_is_doubted(void **state)
{
  static const char *const shared = "90,60,4,0";
  char text[2048];
  size_t used = 0;
  command c;
  begin(&c);
  char line[128];
  snprintf(line, sizeof line, "cd %s && cp a.pgm y.pgm && cp a.pgm z.pgm",
           c.folder);
  assert_int_equal(system(line), 0);
  for (int k = 0; k < 3; k++) {
    char name = k == 0 ? 'a' : (char)('x' + k);
    used += (size_t)sprintf(text + used, "%c.pgm,%s\n", name, shared);
    for (int i = 0; i < 5; i++)
      used += (size_t)sprintf(text + used, "%c.pgm,%d,%d\n", name,
                              30 + 11 * (7 * i + 5 * k) % 140,
                              150 - 50 * k + 7 * i);
  }
  command_write(&c, "p.csv", text, used);
  command_run(&c, "match a.pgm y.pgm z.pgm --xy p.csv --no-cache");
  command_expect(&c, 0, LITTLE_IS_SHARED);
  check_says(c.out, "3 of 3 points doubtful");
  command_end(&c);
}

/* A grid on the object, and points of the ground behind it, which are others in
 * every picture: as many as the grid has are found, and hardly another. */
static void as_many_as_there_are(void **state)
{
  for (int others = 8; others <= 24; others += 16) {
    command c;
    lapis_arrays all;
    int64_t point[IMAGES * EACH];
    uint64_t seed = 9;
    char path[160];
    begin(&c);
    write_points(&c, point);
    snprintf(path, sizeof path, "%s/p.csv", c.folder);
    FILE *f = fopen(path, "a");
    assert_non_null(f);
    for (int k = 0; k < IMAGES; k++)
      for (int i = 0; i < others;) {
        double u, v, x = 4 + 190 * check_uniform(&seed);
        double y = 4 + 190 * check_uniform(&seed);
        scene_into(&places[k], x, y, &u, &v);
        if (fabs(u) < 1.5 && fabs(v) < 1.5) continue;
        fprintf(f, "%c.pgm,%.9g,%.9g,%g,0\n", 'a' + k, x, y,
                places[k].half / 25);
        i++;
      }
    fclose(f);
    command_do(&c, "match ?.pgm --xy p.csv --no-cache --json -q --result "
                   "r.npz");
    CHECK_AT_LEAST(estimated(&c), EACH - 1);
    CHECK_AT_MOST(estimated(&c), EACH);
    command_arrays(&c, "r.npz", &all);
    CHECK_AT_LEAST((double)lapis_arrays_find(&all, "points")->mat.cols,
                   .9 * EACH * IMAGES);
    CHECK_AT_LEAST(share_right(&all), 0.95);
    lapis_arrays_free(&all);
    command_end(&c);
  }
}

/* Whoever asks for more than there are gets doubts with them. */
static void too_many_are_doubted(void **state)
{
  command c;
  lapis_arrays all;
  begin(&c);
  for (int k = 0; k < 2; k++) {
    command_do(&c, "match ?.pgm --no-cache -q --result r.npz %s",
               k == 0 ? "" : "--inliers 40");
    command_arrays(&c, "r.npz", &all);
    CHECK_AT_LEAST(share_right(&all), 0.95);
    CHECK_AT_LEAST((double)lapis_arrays_find(&all, "points")->mat.cols,
                   8 * IMAGES);
    lapis_arrays_free(&all);
  }
  command_end(&c);
}

/* Rows of match are keypoints of that image, and no keypoint is used twice. */
static void slots_are_keypoints_of_their_image(void **state)
{
  command c;
  lapis_arrays all;
  begin(&c);
  command_do(&c, "match ?.pgm --points 30 --no-cache --result r.npz -q");
  assert_non_null(strstr(c.out, "inliers (estimated)"));
  command_arrays(&c, "r.npz", &all);
  const lapis_mat *match = &lapis_arrays_find(&all, "match")->mat;
  const lapis_mat *group = &lapis_arrays_find(&all, "group")->mat;
  assert_non_null(lapis_arrays_find(&all, "tried"));
  for (int64_t k = 0; k < match->cols; k++)
    for (int64_t j = 0; j < match->rows; j++) {
      int64_t at = (int64_t)lapis_mat_at(match, j, k);
      assert_true(at >= 0 && at < group->cols);
      CHECK_NEAR(lapis_mat_at(group, 0, at), (double)k, 0);
      for (int64_t i = 0; i < j; i++)
        assert_true(lapis_mat_at(match, i, k) != (double)at);
    }
  lapis_arrays_free(&all);
  command_end(&c);
}

/* The archive of keypoints as it is, and with nothing but what roml reads. */
static void keypoints_are_fitted_as_they_are(void **state)
{
  command c;
  lapis_arrays keys, found[2];
  static double xy[2 * 4096];
  char path[160];
  lapis_ctx *ctx = lapis_ctx_new();
  begin(&c);
  command_do(&c, "features sift ?.pgm --most 30 -o s.npz -q");
  command_arrays(&c, "s.npz", &keys);
  const lapis_mat *at = &lapis_arrays_find(&keys, "xy")->mat;
  assert_int_equal(at->rows, 4);
  assert_in_range(at->cols, 12, 4096);
  for (int64_t j = 0; j < 2 * at->cols; j++)
    xy[j] = lapis_mat_at(at, j % 2, j / 2);
  lapis_named bare[] = {
      {.name = "X", .mat = lapis_arrays_find(&keys, "X")->mat},
      {.name = "group",
       .mat = lapis_arrays_find(&keys, "group")->mat,
       .flat = true},
      {.name = "xy", .mat = lapis_mat_f64(xy, 2, at->cols)}};
  snprintf(path, sizeof path, "%s/bare.npz", c.folder);
  assert_int_equal(lapis_arrays_write(ctx, path, "npz", bare, 3), LAPIS_OK);
  for (int k = 0; k < 2; k++) {
    command_do(&c, "fit roml %s.npz --map embed --inliers 8 -o r.npz -q",
               k == 0 ? "s" : "bare");
    command_arrays(&c, "r.npz", &found[k]);
  }
  const lapis_mat *a = &lapis_arrays_find(&found[0], "match")->mat;
  const lapis_mat *b = &lapis_arrays_find(&found[1], "match")->mat;
  assert_int_equal(a->cols, IMAGES);
  assert_int_equal(b->cols, IMAGES);
  for (int64_t j = 0; j < 8 * IMAGES; j++)
    CHECK_NEAR(lapis_mat_at(a, j % 8, j / 8), lapis_mat_at(b, j % 8, j / 8), 0);
  command_do(&c, "report r.npz --data s.npz --images . -o page.html");
  for (int k = 0; k < 2; k++) lapis_arrays_free(&found[k]);
  lapis_arrays_free(&keys);
  lapis_ctx_free(ctx);
  command_end(&c);
}

/* Keypoints of which some are like nothing in another image. */
static void positions_help_where_asked(void **state)
{
  command c;
  begin(&c);
  command_do(&c, "match ?.pgm --map embed --inliers 8 --no-cache -q");
  assert_non_null(strstr(c.out, "6 images, 8 inliers, "));
  command_end(&c);
}

/* JSON says the same as the archive, and a cache does not change it. */
static void json_and_cache_agree(void **state)
{
  command c, again;
  begin(&c);
  command_do(&c, "match ?.pgm --inliers 5 --cache kept --json -q");
  lapis_json *v = command_json(c.out);
  CHECK_NEAR(lapis_json_number(v, "inliers", 0), 5, 0);
  assert_string_equal(lapis_json_text(v, "method", ""), "match");
  const lapis_json *used = lapis_json_get(v, "match");
  CHECK_NEAR(lapis_json_number(used, "points", 0), 60, 0);
  const char *first = strstr(c.out, "\"images\"");
  assert_non_null(first);
  again = c;
  command_run(&again, "match ?.pgm --inliers 5 --cache kept --json -q");
  command_expect(&again, 0, "");
  assert_string_equal(strstr(again.out, "\"images\""), first);
  assert_true(command_exists(&c, "kept"));
  lapis_json_free(v);
  command_end(&c);
}

static const command_misuse misuses[] = {
    {"match", 2, ""},
    {"match a.pgm", 4, ""},
    {"match a.pgm no.pgm", 4, "no.pgm"},
    {"match a.pgm flat.pgm", 4, "flat.pgm 0"},
    {"match a.pgm b.pgm --inliers 61", 2, "--inliers 61"},
    {"match a.pgm b.pgm --inliers 0", 2, "inliers"},
    {"match a.pgm b.pgm --inliers -1", 2, "--inliers -1"},
    {"match a.pgm b.pgm --boxes f.csv", 2, "--boxes"},
    {"match a.pgm b.pgm --result r.csv", 2, ".npz"},
    {"match a.pgm b.pgm -o no/page.html", 4, ""},
    {"match a.pgm no.pgm --keep-going", 4, ""},
    {"match a.pgm b.pgm --scale 8", 2, "--scale --xy"},
    {"match a.pgm b.pgm --xy f.csv --points 9", 2, "--points --xy"},
};

static void misuse_is_refused(void **state)
{
  command c;
  char flat[64 + 64 * 64];
  int n = sprintf(flat, "P5 64 64 255\n");
  memset(flat + n, 90, 64 * 64);
  begin(&c);
  command_write(&c, "flat.pgm", flat, (size_t)(n + 64 * 64));
  command_refuses(&c, misuses, sizeof misuses / sizeof *misuses,
                  "-q --no-cache");
  assert_false(command_exists(&c, "r.npz"));
  command_run(&c, "match a.pgm no.pgm b.pgm --inliers 5 --keep-going -q "
                  "--no-cache --result r.npz");
  assert_int_equal(c.code, 4);
  assert_non_null(strstr(c.out, "2 images, 5 inliers"));
  assert_true(command_exists(&c, "r.npz"));
  command_end(&c);
}

/* It is left out by name, and the others are matched as without it. */
static void an_image_of_few_keypoints_can_be_left_out(void **state)
{
  command c;
  char flat[64 + 64 * 64];
  int n = sprintf(flat, "P5 64 64 255\n");
  memset(flat + n, 90, 64 * 64);
  begin(&c);
  command_write(&c, "flat.pgm", flat, (size_t)(n + 64 * 64));
  command_do(&c, "match a.pgm b.pgm c.pgm --inliers 5 --no-cache -q "
                 "--result without.npz");
  command_run(&c, "match a.pgm flat.pgm b.pgm no.pgm c.pgm --inliers 5 "
                  "--keep-going --no-cache --result with.npz -o page.html");
  assert_int_equal(c.code, 4);
  check_says(c.err, "flat.pgm 5 needed");
  check_says(c.err, "no.pgm");
  check_says(c.err, "2 5");
  assert_non_null(strstr(c.out, "3 images, 5 inliers"));
  static const char *const same[] = {"xy", "group", "match", "inlier",
                                     "image_size"};
  for (int i = 0; i < 5; i++)
    (void)command_same(&c, "with.npz", "without.npz", same[i]);
  command_run(&c, "match a.pgm flat.pgm --keep-going --no-cache -q");
  command_expect(&c, 4, "");
  command_end(&c);
}

int test_match(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_object_is_found_in_all),
      cmocka_unit_test(slots_are_keypoints_of_their_image),
      cmocka_unit_test(given_points_are_put_in_order),
      cmocka_unit_test(given_positions_are_put_in_order),
      cmocka_unit_test(bad_points_are_refused),
      cmocka_unit_test(points_of_one_image_are_found_in_all),
      cmocka_unit_test(points_that_are_nowhere_else_are_doubted),
      cmocka_unit_test(a_picture_that_is_in_doubt_as_a_whole_is_said),
      cmocka_unit_test(points_without_a_name_are_the_first_images),
      cmocka_unit_test(of_few_points_all_are_sure_or_none),
      cmocka_unit_test(bad_first_points_are_refused),
      cmocka_unit_test(copies_match_wholly),
      cmocka_unit_test(noise_is_said_to_match_nothing),
      cmocka_unit_test(one_point_alone_is_doubted),
      cmocka_unit_test(as_many_as_there_are),
      cmocka_unit_test(too_many_are_doubted),
      cmocka_unit_test(keypoints_are_fitted_as_they_are),
      cmocka_unit_test(positions_help_where_asked),
      cmocka_unit_test(json_and_cache_agree),
      cmocka_unit_test(misuse_is_refused),
      cmocka_unit_test(an_image_of_few_keypoints_can_be_left_out),
  };
  return run_cases(tests, NULL, NULL);
}
