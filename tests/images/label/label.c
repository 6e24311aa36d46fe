/* lapis label, from outside: images made here, whose labels and places are
 * known, and tables as people write them. */
#include "folds/rank.h"
#include "label_case.h"
#include "lapis/choose.h"
#include "remarks.h"

static const char *const two[] = {"flat", "upright"};
static const char *const three[] = {"across", "down", "slanted"};
static const char *const signs[] = {"-1", "0", "1"};

/* ---- answers ------------------------------------------------------------*/
static void unknown_labels_are_found(void **state)
{
  command c;
  begin_stripes(&c, 2);
  write_labels(&c, two, 2, 10);
  command_run(&c, CHOOSING " --no-cache --folds 2");
  command_expect(&c, 0, " answers (");
  assert_non_null(strstr(c.err, ON_SAME_LABELS));
  assert_non_null(strstr(c.err, LIKE_THE_GIVEN));
  for (int i = 0; i < IMAGES; i++) table_says(&c, i, two[i % 2]);
  command_end(&c);
}

/* What auto said of who answers, cut out. */
static void take_answer(const command *c, char to[256])
{
  const char *at = strstr(c->err, "log-loss");
  at = at == NULL ? NULL : strstr(at, "auto: ");
  if (at == NULL || strstr(at, " answers (") == NULL) fail_msg("%s", c->err);
  snprintf(to, 256, "%.*s", (int)strcspn(at, ";"), at);
}

/* Whatever is stated: who answers, and its figures, are those of fit auto on
 * the same features. */
static void label_chooses_as_fit_does(void **state)
{
  static const char *const stated[] = {"--variant pos",
                                       "--mu-rel .1 --candidates mc",
                                       "--mu-rel .1 --candidates mc,trees"};
  command c;
  char said[256], wanted[256], table[1024] = "file,what\n";
  begin_stripes(&c, 2);
  for (int i = 0; i < IMAGES; i++)
    sprintf(table + strlen(table), "a%02d.pgm,%s\n", i,
            i < 16 ? two[i % 2] : "");
  write_text(&c, "labels.csv", table);
  command_do(&c, "features hog in --size 32x32 -o x.npz -q");
  for (size_t k = 0; k < sizeof stated / sizeof *stated; k++) {
    command_run(&c, CHOOSING " --no-cache --suspects 0 %s", stated[k]);
    command_expect(&c, 0, " answers (");
    take_answer(&c, said);
    command_run(&c,
                "fit auto -X x.npz:X -Y labels.csv --target what --id file "
                "%s",
                stated[k]);
    command_expect(&c, 0, " answers (");
    take_answer(&c, wanted);
    assert_string_equal(said, wanted);
  }
  command_end(&c);
}

static void classes_are_found(void **state)
{
  command c;
  begin_stripes(&c, 3);
  write_labels(&c, three, 3, 15);
  command_do(&c, "%s --no-cache --result r.npz", LABEL);
  assert_null(strstr(c.err, "three classes"));
  for (int i = 0; i < IMAGES; i++) table_says(&c, i, three[i % 3]);
  command_run(&c, "info r.npz");
  if (strstr(c.out, "suspect_margin") == NULL) fail_msg("%s", c.out);
  write_labels(&c, signs, 3, 15);
  command_run(&c, "%s --no-cache", LABEL);
  command_expect(&c, 0, THREE_CLASSES);
  for (int i = 0; i < IMAGES; i++) table_says(&c, i, signs[i % 3]);
  command_end(&c);
}

/* The curves of the page are of scores of labels that were hidden: one for each
 * known label, none else, and the area that is written is theirs. */
static void curves_are_of_hidden_labels(void **state)
{
  command c;
  lapis_arrays all;
  begin_stripes(&c, 3);
  write_labels(&c, three, 3, 15);
  command_do(&c, "%s --no-cache --result r.npz -o page.html", LABEL);
  command_arrays(&c, "r.npz", &all);
  const lapis_mat *held = &lapis_arrays_find(&all, "held_out")->mat;
  const lapis_mat *known = &lapis_arrays_find(&all, "known")->mat;
  const lapis_mat *answer = &lapis_arrays_find(&all, "labels")->mat;
  const lapis_mat *classes = &lapis_arrays_find(&all, "classes")->mat;
  assert_int_equal(held->rows, 3);
  assert_int_equal(held->cols, IMAGES);
  for (int64_t k = 0; k < 3; k++) {
    double truth[IMAGES], score[IMAGES], area;
    int64_t n = 0;
    for (int64_t i = 0; i < IMAGES; i++) {
      double v = lapis_mat_at(held, k, i);
      bool given = lapis_mat_at(known, 0, i) > 0;
      assert_int_equal(!isnan(v), given);
      if (!given) continue;
      score[n] = v;
      truth[n++] = strcmp(((const char *const *)answer->val)[i],
                          ((const char *const *)classes->val)[k]) == 0;
    }
    lapis_ctx *ctx = lapis_ctx_new();
    assert_int_equal(metric_auroc(ctx, truth, score, n, &area), LAPIS_OK);
    lapis_ctx_free(ctx);
    char line[128], page[256];
    snprintf(line, sizeof line, "<strong>%s</strong> AUROC %.3f",
             ((const char *const *)classes->val)[k], area);
    snprintf(page, sizeof page, "grep -q '%s' page.html", line);
    shell(&c, page);
  }
  shell(&c, "grep -q 'scored while its label was hidden' page.html");
  lapis_arrays_free(&all);
  command_end(&c);
}

/* Lists in one column, and the same as a column a label. */
static void many_labels_are_found(void **state)
{
  command c;
  char lists[2048] = "name,tags\n",
       columns[2048] = "name,dark,wide,origin of dark,origin of wide\n";
  begin_stripes(&c, 3);
  for (int i = 0; i < 15; i++) {
    static const char *const tags[] = {"dark", "wide", "dark;wide"};
    static const char *const bits[] = {"1,0", "0,1", "1,1"};
    sprintf(lists + strlen(lists), "a%02d,%s\n", i, tags[i % 3]);
    sprintf(columns + strlen(columns), "a%02d,%s\n", i, bits[i % 3]);
  }
  write_text(&c, "lists.csv", lists);
  write_text(&c, "columns.csv", columns);
  static const char run[] =
      "label in --features hog --size 32x32 --no-cache " GIVEN
      " --labels %s.csv --labels-out out.csv";
  command_do(&c, run, "lists");
  for (int i = 2; i < IMAGES; i += 3) table_says(&c, i, "dark;wide");
  command_slurp(&c, "out.csv", c.out, sizeof c.out);
  assert_non_null(strstr(c.out, "in/a20.pgm,\"dark;wide\",filled\n"));
  command_do(&c, run, "columns");
  command_slurp(&c, "out.csv", c.out, sizeof c.out);
  assert_non_null(
      strstr(c.out, "name,dark,wide,origin of dark,origin of wide\n"));
  assert_non_null(strstr(c.out, "in/a20.pgm,1,1,filled,filled\n"));
  assert_non_null(strstr(c.out, "in/a21.pgm,1,0,filled,filled\n"));
  command_end(&c);
}

/* However it is written; what only may mean it is warned of.  A row that ends
 * early has nothing in the cells left out. */
static void missing_labels_are_no_class(void **state)
{
  static const char *const spelt[] = {"",    "n.a.",  "N/a", "#N/A",
                                      "NaN", "n. a.", "?"};
  command c;
  char table[2048] = "file,what,other\n";
  begin_stripes(&c, 2);
  for (int i = 0; i < 10; i++)
    sprintf(table + strlen(table), "a%02d,%s,1\n", i, two[i % 2]);
  for (int i = 10; i < 17; i++)
    sprintf(table + strlen(table), "a%02d,%s,1\n", i, spelt[i - 10]);
  strcat(table, "a17\n");
  write_text(&c, "labels.csv", table);
  command_do(&c, "%s --target what --suspects 0 --no-cache", LABEL);
  assert_null(strstr(c.err, TAKEN_FOR_CLASS));
  for (int i = 0; i < IMAGES; i++) table_says(&c, i, two[i % 2]);
  shell(&c, "sed -i s/a17/a17,Unknown/ labels.csv");
  command_run(&c, "%s --target what --suspects 0 --no-cache", LABEL);
  command_expect(&c, 0, "labels.csv: 'Unknown' " TAKEN_FOR_CLASS);
  table_says(&c, 17, "Unknown");
  shell(&c, "sed -i s/Unknown/unclear/ labels.csv");
  command_run(&c, "%s --target what --suspects 0 --no-cache", LABEL);
  command_expect(&c, 0, "labels.csv: 'unclear' " TAKEN_FOR_CLASS);
  command_end(&c);
}

static void a_wrong_label_is_doubted(void **state)
{
  command c;
  char table[2048] = "";
  begin_stripes(&c, 2);
  for (int i = 0; i < 20; i++)
    sprintf(table + strlen(table), "a%02d.pgm;%s\n", i,
            two[(i + (i == 6)) % 2]);
  write_text(&c, "labels.csv", table);
  command_do(&c, "%s --no-cache -o page.html", LABEL);
  const char *list = strstr(c.out, DOUBTS_FIRST);
  assert_non_null(list);
  list = strchr(list, '\n') + 1;
  if (strncmp(list, "  in/a06.pgm  upright", 21) != 0)
    fail_msg("'%.80s'", list);
  command_slurp(&c, "page.html", c.out, sizeof c.out);
  assert_non_null(strstr(c.out, "Check labels"));
  command_end(&c);
}

/* Where classes exclude each other an image is doubted once, with the label it
 * was given and the one that it has. */
static void a_wrong_class_is_doubted_once(void **state)
{
  command c;
  lapis_arrays all;
  char table[2048] = "";
  begin_stripes(&c, 3);
  for (int i = 0; i < 21; i++)
    sprintf(table + strlen(table), "a%02d.pgm;%s\n", i,
            three[(i + (i == 6)) % 3]);
  write_text(&c, "labels.csv", table);
  command_do(&c, "%s --no-cache -o page.html --result r.npz", LABEL);
  const char *list = strstr(c.out, DOUBTS_FIRST);
  assert_non_null(list);
  list = strchr(list, '\n') + 1;
  if (strncmp(list, "  in/a06.pgm  down, rather across", 33) != 0)
    fail_msg("'%.80s'", list);
  assert_null(strstr(list + 3, "in/a06.pgm"));
  command_arrays(&c, "r.npz", &all);
  const lapis_mat *pair = &lapis_arrays_find(&all, "suspect_index")->mat;
  CHECK_NEAR(lapis_mat_at(pair, 0, 0), 6, 0);
  CHECK_NEAR(lapis_mat_at(pair, 1, 0), 0, 0); /* across */
  const lapis_mat *rather = &lapis_arrays_find(&all, "suspect_rather")->mat;
  assert_string_equal(((const char *const *)rather->val)[0], "across");
  lapis_arrays_free(&all);
  command_do(&c, "%s --no-cache --json", LABEL);
  assert_non_null(strstr(c.out, "\"rather\": \"across\""));
  command_end(&c);
}

/* ---- the same answer ----------------------------------------------------*/
static const char BAG[] =
    "label in --labels labels.csv --count 300 --words 27 --learn 2000 --bins "
    "2,3 --mu-rel .01 --lambda .1 --gamma 3 --suspects 0 -q";

static void same(command *c, const char *a, const char *b)
{
  char line[256];
  snprintf(line, sizeof line, "cd %s && cmp %s %s", c->folder, a, b);
  if (system(line) != 0) fail_msg("%s and %s differ", a, b);
}

static void the_cache_changes_nothing(void **state)
{
  command c;
  begin_stripes(&c, 2);
  write_labels(&c, two, 2, 10);
  command_run(&c, "%s --no-cache --result plain.npz", BAG);
  if (c.code == 3) { /* there is no VLFeat */
    command_end(&c);
    skip();
  }
  command_expect(&c, 0, "");
  assert_false(command_exists(&c, "kept"));
  command_do(&c, "%s --cache kept --result 1.npz", BAG);
  same(&c, "plain.npz", "1.npz");
  shell(&c, "test $(ls kept/sift-bow-*/*.npz | wc -l) -eq 24");
  shell(&c, "ls -li --time-style=full-iso kept/*/ > before");
  command_do(&c, "%s --cache kept --result 2.npz", BAG);
  same(&c, "plain.npz", "2.npz");
  shell(&c, "ls -li --time-style=full-iso kept/*/ > after");
  same(&c, "before", "after"); /* all was read, nothing made */
  command_end(&c);
}

/* Entries that are cut, changed, empty, or gone: what a killed run, a bad disk
 * and people leave. */
static void a_damaged_cache_is_made_again(void **state)
{
  command c;
  begin_stripes(&c, 2);
  write_labels(&c, two, 2, 10);
  command_run(&c, "%s --cache kept --result plain.npz", BAG);
  if (c.code == 3) {
    command_end(&c);
    skip();
  }
  command_expect(&c, 0, "");
  shell(&c, "set -- kept/*/*.npz; truncate -s 100 $1; truncate -s 0 $2; "
            "rm $3 $4; printf junk > $5; printf XXXX | "
            "dd of=$6 bs=1 seek=700 conv=notrunc 2>/dev/null; "
            "for f in kept/*.npz; do truncate -s 900 $f; done");
  command_do(&c, "%s --cache kept --result 1.npz", BAG);
  same(&c, "plain.npz", "1.npz");
  command_do(&c, "%s --cache kept --result 2.npz", BAG);
  same(&c, "plain.npz", "2.npz");
  command_end(&c);
}

static void a_cache_that_cannot_be_is_a_warning(void **state)
{
  command c;
  begin_stripes(&c, 2);
  write_labels(&c, two, 2, 10);
  write_text(&c, "file", "x");
  command_run(&c, "%s --cache file/kept", LABEL);
  command_expect(&c, 0, NOTHING_KEPT);
  command_end(&c);
}

static void threads_change_nothing(void **state)
{
  command c;
  begin_stripes(&c, 2);
  write_labels(&c, two, 2, 10);
  static const char run[] = "%s --no-cache --threads %d --result %d.npz "
                            "--labels-out %d.csv";
  for (int t = 1; t <= 2; t++) command_do(&c, run, LABEL, t, t, t);
  same(&c, "1.csv", "2.csv");
  lapis_arrays a[2];
  command_arrays(&c, "1.npz", &a[0]);
  command_arrays(&c, "2.npz", &a[1]);
  const lapis_mat *x = &lapis_arrays_find(&a[0], "scores")->mat;
  const lapis_mat *y = &lapis_arrays_find(&a[1], "scores")->mat;
  assert_int_equal(x->cols, IMAGES);
  for (int64_t j = 0; j < x->cols; j++)
    CHECK_NEAR(lapis_mat_at(x, 0, j), lapis_mat_at(y, 0, j), 1e-10);
  for (int t = 0; t < 2; t++) lapis_arrays_free(&a[t]);
  command_end(&c);
}

/* ---- where --------------------------------------------------------------*/
/* Stripes that differ from image to image, and in half of the images a patch
 * of fine checks somewhere: what they share. */
static void hide_patch(picture *p, bool has, int *x0, int *y0, uint64_t *state)
{
  enum { PATCH = 20 };
  *x0 = (int)(check_uniform(state) * (SIDE - PATCH));
  *y0 = (int)(check_uniform(state) * (SIDE - PATCH));
  double turn = 6 * check_uniform(state), fine = .4 + check_uniform(state);
  for (int y = 0; y < SIDE; y++)
    for (int x = 0; x < SIDE; x++) {
      bool in =
          has && x >= *x0 && x < *x0 + PATCH && y >= *y0 && y < *y0 + PATCH;
      double check = (x / 2 + y / 2) % 2 != 0 ? 90 : -90;
      double wave = 50 * sin(fine * (cos(turn) * x + sin(turn) * y));
      p->pixel[y * SIDE + x] =
          128 + (in ? check : wave) + 6 * check_normal(state);
    }
  *x0 += PATCH / 2;
  *y0 += PATCH / 2;
}

/* Mean of the heat map of box k within the patch whose middle is x, y, less the
 * mean elsewhere. */
static double heat_at(const lapis_mat *heat, int64_t k, int x, int y)
{
  double sum[2] = {0}, count[2] = {0};
  assert_int_equal(heat->rows, 16 * 16);
  for (int i = 0; i < 16 * 16; i++) {
    double v = lapis_mat_at(heat, i, k);
    bool in = fabs((i % 16 + .5) * SIDE / 16 - x) < 10 &&
              fabs((i / 16 + .5) * SIDE / 16 - y) < 10;
    if (isnan(v)) continue;
    sum[in] += v;
    count[in]++;
  }
  return sum[1] / count[1] - sum[0] / count[0];
}

static bool apart(const lapis_mat *b, int64_t i, int64_t j)
{
  double shared = 1, area = 0;
  for (int d = 0; d < 2; d++) {
    double low = fmax(lapis_mat_at(b, d, i), lapis_mat_at(b, d, j));
    double high = fmin(lapis_mat_at(b, d, i) + lapis_mat_at(b, d + 2, i),
                       lapis_mat_at(b, d, j) + lapis_mat_at(b, d + 2, j));
    shared *= fmax(high - low, 0);
  }
  area += lapis_mat_at(b, 2, i) * lapis_mat_at(b, 3, i);
  area += lapis_mat_at(b, 2, j) * lapis_mat_at(b, 3, j);
  return shared < .5 * (area - shared);
}

static void the_window_lies_on_the_patch(void **state)
{
  enum { N = 40, KNOWN = 20 };
  command c;
  uint64_t random = 5;
  int x[N], y[N], hits = 0, boxes = 0, warm = 0, last = -1;
  char table[2048] = "";
  command_begin(&c);
  folder(&c, "in");
  for (int i = 0; i < N; i++) {
    picture p;
    char name[32];
    hide_patch(&p, i % 2 == 1, &x[i], &y[i], &random);
    snprintf(name, sizeof name, "in/a%02d.pgm", i);
    write_picture(&c, name, &p);
    if (i < KNOWN) sprintf(table + strlen(table), "a%02d,%d\n", i, i % 2);
  }
  write_text(&c, "labels.csv", table);
  command_run(&c, "label in --labels labels.csv --count 2000 --words 64 "
                  "--levels 2 --learn 8000 --bins 2,3 --no-cache --where "
                  "--places 2 --result r.npz -o page.html");
  if (c.code == 3) {
    command_end(&c);
    skip();
  }
  command_expect(&c, 0, TAKEN_FOR_ABSENCE);
  assert_non_null(strstr(c.out, "  where 1 is (x,y"));
  lapis_arrays all;
  command_arrays(&c, "r.npz", &all);
  const lapis_mat *b = &lapis_arrays_find(&all, "boxes")->mat;
  const lapis_mat *of = &lapis_arrays_find(&all, "box_image")->mat;
  const lapis_mat *heat = &lapis_arrays_find(&all, "heat")->mat;
  assert_int_equal(heat->cols, b->cols);
  assert_in_range(b->cols, N - 4, N + 4); /* two places of half of them */
  for (int64_t k = 0; k < b->cols; k++) {
    int i = (int)lapis_mat_at(of, 0, k);
    if (i == last) assert_true(apart(b, k, k - 1)); /* the second place */
    if (i == last || i < KNOWN || i % 2 == 0) continue;
    last = i;
    warm += heat_at(heat, k, x[i], y[i]) > 0;
    double cx = lapis_mat_at(b, 0, k) + lapis_mat_at(b, 2, k) / 2;
    double cy = lapis_mat_at(b, 1, k) + lapis_mat_at(b, 3, k) / 2;
    boxes++;
    hits += fabs(cx - x[i]) <= 9 && fabs(cy - y[i]) <= 9;
  }
  lapis_arrays_free(&all);
  assert_int_equal(boxes, (N - KNOWN) / 2);
  CHECK_AT_LEAST(hits, 8);
  CHECK_AT_LEAST(warm, 8);
  shell(&c, "grep -q 'class=.heat k[01] first' page.html");
  command_end(&c);
}

/* ---- regions in segments that are given ----------------------------------*/
enum { FIRST = 14, PARTS = 36, KNOWN_PARTS = 24 };

static double texture(int kind, int x, int y, const double turn[2])
{
  if (kind == 0) return (x / 2 + y / 2) % 2 != 0 ? 70 : -70;
  return 60 * sin((kind == 1 ? .45 * x : .9 * y) + turn[kind - 1]);
}

/* Two of three textures side by side, which meet at `cut`; which is left. */
static int side_by_side(picture *p, int image, int *cut, uint64_t *state)
{
  int left = image % 3, right = (left + 1 + image / 3 % 2) % 3;
  double turn[2] = {6 * check_uniform(state), 6 * check_uniform(state)};
  *cut = FIRST + (int)((SIDE - 2 * FIRST) * check_uniform(state));
  for (int y = 0; y < SIDE; y++)
    for (int x = 0; x < SIDE; x++)
      p->pixel[y * SIDE + x] = 128 + 5 * check_normal(state) +
                               texture(x < *cut ? left : right, x, y, turn);
  return 3 * left + right;
}

/* in/NAME.pgm, its segments in parts/: label images and .npy in turn, and the
 * table of the first images. */
static void begin_parts(command *c, int cut[PARTS], int kinds[PARTS])
{
  uint64_t state = 3;
  char table[4096] = "name,what\n", name[64];
  lapis_ctx *ctx = lapis_ctx_new();
  command_begin(c);
  folder(c, "in");
  folder(c, "parts");
  for (int i = 0; i < PARTS; i++) {
    picture p, parts;
    static int64_t row[SIDE * SIDE];
    kinds[i] = side_by_side(&p, i, &cut[i], &state);
    snprintf(name, sizeof name, "in/p%02d.pgm", i);
    write_picture(c, name, &p);
    for (int k = 0; k < SIDE * SIDE; k++)
      parts.pixel[k] = (double)(row[k] = k % SIDE < cut[i] ? 40 : 200);
    snprintf(name, sizeof name, "parts/p%02d.pgm", i);
    if (i % 2 == 0) write_picture(c, name, &parts);
    char path[160];
    snprintf(path, sizeof path, "%s/parts/p%02d.npy", c->folder, i);
    lapis_named mat = {.mat = lapis_mat_i64(row, SIDE, SIDE)};
    if (i % 2 != 0)
      assert_int_equal(lapis_arrays_write(ctx, path, "npy", &mat, 1), LAPIS_OK);
    if (i < KNOWN_PARTS)
      sprintf(table + strlen(table), "p%02d,%s;%s\n", i, three[kinds[i] / 3],
              three[kinds[i] % 3]);
  }
  write_text(c, "labels.csv", table);
  lapis_ctx_free(ctx);
}

static const char PARTED[] =
    "label in --labels labels.csv --count 800 --words 25 --levels 2 --learn "
    "3000 --bins 2,3 --no-cache --where --segments parts --suspects 0 " GIVEN
    " -q";

/* Each region is one of the two segments, and such shares of all, and of the
 * hidden ones, that of its class. */
static void check_regions(const command *c, const int *cut, const int *kinds,
                          const double least[2])
{
  lapis_arrays all;
  int right = 0, hidden = 0;
  command_arrays(c, "r.npz", &all);
  const lapis_mat *b = &lapis_arrays_find(&all, "boxes")->mat;
  const lapis_mat *at = &lapis_arrays_find(&all, "box_image")->mat;
  const lapis_mat *of = &lapis_arrays_find(&all, "box_class")->mat;
  const lapis_mat *mask = &lapis_arrays_find(&all, "region_mask")->mat;
  assert_int_equal(mask->cols, b->cols * SIDE * SIDE);
  for (int64_t k = 0; k < b->cols; k++) {
    int i = (int)lapis_mat_at(at, 0, k), class_ = (int)lapis_mat_at(of, 0, k);
    bool left = lapis_mat_at(b, 0, k) < 1;
    double wide = lapis_mat_at(b, 2, k), inside = 0;
    if (wide < SIDE) CHECK_NEAR(wide, left ? cut[i] : SIDE - cut[i], 0);
    for (int64_t p = 0; p < SIDE * SIDE; p++)
      inside += lapis_mat_at(mask, 0, k * SIDE * SIDE + p);
    CHECK_NEAR(inside, wide * SIDE, 0);
    bool is = wide < SIDE && class_ == (left ? kinds[i] / 3 : kinds[i] % 3);
    right += is;
    hidden += is && i >= KNOWN_PARTS;
  }
  print_message("%lld regions, %d right, %d of hidden labels\n",
                (long long)b->cols, right, hidden);
  CHECK_AT_LEAST(right, least[0] * 2 * PARTS);
  CHECK_AT_LEAST(hidden, least[1] * 2 * (PARTS - KNOWN_PARTS));
  lapis_arrays_free(&all);
}

static void places_that_are_whole_pictures_are_told(void **state)
{
  static const char *const kinds[] = {"flat", "upright", "slanted"};
  command c;
  picture grey = {.pixel = {0}};
  begin_stripes(&c, 3);
  write_labels(&c, kinds, 3, 18);
  folder(&c, "one");
  for (int i = 0; i < IMAGES; i++) {
    char name[32];
    snprintf(name, sizeof name, "one/a%02d.pgm", i);
    write_picture(&c, name, &grey);
  }
  command_run(&c, "label in --labels labels.csv --count 800 --words 25 "
                  "--levels 2 --learn 3000 --bins 2,3 --no-cache --where "
                  "--segments one --suspects 0 " GIVEN);
  if (c.code == 3) {
    command_end(&c);
    skip();
  }
  command_expect(&c, 0, NEARLY_WHOLE);
  command_end(&c);
}

static void regions_are_segments_that_were_given(void **state)
{
  command c;
  int cut[PARTS], kinds[PARTS];
  begin_parts(&c, cut, kinds);
  command_run(&c, "%s --result r.npz -o page.html", PARTED);
  if (c.code == 3) {
    command_end(&c);
    skip();
  }
  command_expect(&c, 0, "");
  check_regions(&c, cut, kinds, (double[]){0.9, 0.75});
  command_end(&c);
}

static void bad_segments_are_refused(void **state)
{
  command c;
  int cut[PARTS], kinds[PARTS];
  begin_parts(&c, cut, kinds);
  write_text(&c, "parts/p04.pgm", "P2 3 2 9 1 1 1 2 2 2");
  command_run(&c, "%s --result r.npz", PARTED);
  if (c.code == 3) {
    command_end(&c);
    skip();
  }
  command_expect(&c, 4, "parts/p04.pgm 3 2 48");
  shell(&c, "rm parts/p04.pgm");
  command_run(&c, "%s --result r.npz", PARTED);
  command_expect(&c, 4, "in/p04.pgm");
  assert_false(command_exists(&c, "r.npz"));
  shell(&c, "rm -r parts");
  command_run(&c, "%s --result r.npz", PARTED);
  command_expect(&c, 4, "parts: ");
  command_end(&c);
}

/* ---- refusals -----------------------------------------------------------*/
typedef struct refusal {
  const char *table, *options, *words;
} refusal;

static const refusal refusals[] = {
    {"a00.pgm,x\nb.pgm,y\n", "", "labels.csv:2: 'b.pgm' is not one of the 24"},
    {"name,l\na00,x\na01,y\na00,x\n", "",
     "labels.csv:4: 'a00' is on line 2 already"},
    {"a00,x\nin/a00.pgm,y\n", "", "labels.csv:2: 'in/a00.pgm' is on line 1"},
    {"name,l\na00,x\na01,y\n", "--target colour", "--target colour: there is"},
    {"name,l\na00,x\na01,y\n", "--groups who", "--groups who: there is no"},
    {"name,l\na00,x\na01,y\n", "--target l --groups l", "cannot be --groups"},
    {"name,l\na00,x\na01,y\n", "--target name", "cannot be a label, too"},
    {"name,l\na00,x\na01,x\n", "", "every label is 'x'; label some"},
    {"name,l\na00,\na01,?\n", "",
     "no image is labelled; column 2 is empty: write labels"},
    {"name,p,q\na00,x,1\na01,y,2\n", "", "several columns may hold the labels"},
    {"name,p,q\na00,1,0\na01,0,2\n", "--target p,q", "labels.csv:3: '2' in"},
    {"name,p,q\na00,1,0\na01,-1,1\n", "", "labels.csv:3: '-1' in column 2"},
    {"name\na00\na01\n", "", "a column of names and none of labels"},
    {"name,l\n", "", "titles and no rows below them"},
    {"name,label\na00,x\na01,red, round\n", "",
     "labels.csv:3: 'round' in column 3 goes beyond the 2 titles"},
    {"", "", "labels.csv: is empty"},
    {"name,l\na00,caf\xe9\n", "", "labels.csv:2:8: is not UTF-8 text"},
    {"\xff\xfen\0a\0", "", "labels.csv: is UTF-16 text"},
    {"name,l\na00,x\na01,y\n", "--grid 3", "--grid is not an option of hog"},
    {"name,l\na00,x\na01,y\n", "--where", "--where needs features with"},
    {"name,l\na00,x\na01,y\n", "--segments in", "--segments goes with --where"},
};

static void bad_tables_are_refused(void **state)
{
  command c;
  begin_stripes(&c, 2);
  for (size_t k = 0; k < sizeof refusals / sizeof *refusals; k++) {
    const refusal *r = &refusals[k];
    write_text(&c, "labels.csv", r->table);
    command_run(&c, "%s --no-cache %s", LABEL, r->options);
    bool misuse = strstr(r->options, "--grid") ||
                  strstr(r->options, "--where") ||
                  strstr(r->options, "--segments");
    command_expect(&c, misuse ? 2 : 4, r->words);
    assert_string_equal(c.out, "");
  }
  command_run(&c, "label in --features hog");
  command_expect(&c, 2, "--labels F.csv");
  command_run(&c, "label --labels labels.csv");
  command_expect(&c, 2, "");
  command_run(&c, "label in --labels none.csv --features hog");
  command_expect(&c, 4, "none.csv");
  command_run(&c, "label in --labels labels.csv --features fog");
  command_expect(&c, 2, "fog");
  command_end(&c);
}

/* What is read stays as it is: images by name or in a folder, the table, given
 * segments; and no two outputs have one name. */
static void inputs_are_not_written_over(void **state)
{
  static const char *const over[] = {"-o in/a03.pgm",
                                     "-o ./in/../in/a00.pgm",
                                     "-o labels.csv",
                                     "--labels-out labels.csv",
                                     "--labels-out ./labels.csv",
                                     "--segments seg --where -o seg/a00.npy",
                                     "--save-vocabulary labels.csv",
                                     "--vocabulary w.npz --result w.npz"};
  static const char *const twice[] = {"-o x.html --labels-out x.html",
                                      "--result x --labels-out ./x"};
  command c;
  begin_stripes(&c, 2);
  write_labels(&c, two, 2, 10);
  shell(&c, "mkdir seg && touch seg/a00.npy w.npz in/page.html");
  shell(&c, "find . -type f ! -name '.*' | sort | xargs md5sum >.was");
  for (size_t i = 0; i < sizeof over / sizeof *over; i++) {
    command_run(&c, "label in --labels labels.csv --no-cache %s", over[i]);
    command_expect(&c, 2, "");
  }
  for (size_t i = 0; i < sizeof twice / sizeof *twice; i++) {
    command_run(&c, "%s --no-cache %s", LABEL, twice[i]);
    command_expect(&c, 2, "");
  }
  shell(&c, "md5sum --quiet -c .was && test ! -e x.html && test ! -e x");
  command_run(&c, "features pixels in -o in/a03.pgm");
  command_expect(&c, 2, "");
  command_run(&c, "match in -o in/a03.pgm");
  command_expect(&c, 2, "");
  write_text(&c, "boxes.csv", "a00,1,1,8,8\n");
  command_run(&c, "locate in --boxes boxes.csv --csv boxes.csv");
  command_expect(&c, 2, "");
  command_do(&c, "%s --no-cache --suspects 0 -o in/page.html",
             LABEL); /* an old output is replaced */
  command_end(&c);
}

/* Two folders with images of one name: only more of the path tells. */
static void ambiguous_names_are_refused(void **state)
{
  command c;
  begin_stripes(&c, 2);
  shell(&c, "mkdir more && cp in/a00.pgm in/a01.pgm more");
  write_text(&c, "labels.csv", "a00.pgm,x\na01.pgm,y\n");
  command_run(&c, "label in more --labels labels.csv --features hog");
  command_expect(&c, 4, "a00.pgm labels.csv:1 in/a00.pgm more/");
  write_text(&c, "labels.csv", "more/a00.pgm,x\nin/a01,y\n");
  command_do(&c, "label in more --labels labels.csv --features hog "
                 "--no-cache " GIVEN);
  command_end(&c);
}

/* What is at fault is named: an image that is not there, or twice. */
static void images_at_fault_are_named(void **state)
{
  command c;
  begin_stripes(&c, 2);
  write_labels(&c, two, 2, 10);
  command_run(&c, "label nosuch --labels labels.csv --features hog");
  command_expect(&c, 4, "");
  command_run(&c, "label nosuch --labels labels.csv --keep-going");
  command_expect(&c, 4, "");
  command_run(&c, "label in ./in/a03.pgm --labels labels.csv --features hog");
  command_expect(&c, 4, "a03.pgm in/a03.pgm ./in/a0");
  write_text(&c, "in/dot.pgm", "P5\n1 1\n255\nx");
  command_run(&c, "label in --labels labels.csv --no-cache --words-from all");
  command_expect(&c, 4, "in/dot.pgm 1");
  shell(&c, "rm in/dot.pgm && mkfifo in/pipe.pgm");
  command_run(&c, "%s", LABEL);
  command_expect(&c, 4, "in/pipe.pgm");
  command_run(&c, "features hog in/a00.pgm in/pipe.pgm --keep-going -o f.npz");
  assert_int_equal(c.code, 4);
  check_says(c.err, "in/pipe.pgm");
  command_end(&c);
}

/* Settings that cannot be chosen: how many folds of how many. */
static void too_few_people_are_said(void **state)
{
  command c;
  char table[4096] = "file,what,who\n";
  begin_stripes(&c, 2);
  for (int i = 0; i < 12; i++)
    sprintf(table + strlen(table), "a%02d,%s,p\n", i, two[i % 2]);
  write_text(&c, "labels.csv", table);
  command_run(&c, CHOOSING " --no-cache --target what --groups who "
                           "--variant pos");
  command_expect(&c, 0, TOO_FEW_LABELS);
  command_run(&c, "label in --labels labels.csv --no-cache --target what "
                  "--where --candidates mc,trees");
  command_expect(&c, 2, "leave out --candidates mc,trees");
  command_end(&c);
}

/* The rest of the batch is unharmed, and the exit code tells. */
static void bad_images_can_be_left_out(void **state)
{
  command c;
  begin_stripes(&c, 2);
  write_labels(&c, two, 2, 10);
  write_text(&c, "in/broken.pgm", "P5\n10 10\n255\nxx");
  command_run(&c, "%s --no-cache", LABEL);
  command_expect(&c, 4, "in/broken.pgm");
  assert_string_equal(c.out, "");
  shell(&c, "echo gone.pgm,flat >> labels.csv");
  command_run(&c, "%s --no-cache --keep-going", LABEL);
  assert_int_equal(c.code, 4);
  check_says(c.err, "1 25");
  check_says(c.err, "1");
  for (int i = 0; i < IMAGES; i++) table_says(&c, i, two[i % 2]);
  shell(&c, "rm in/broken.pgm");
  command_run(&c, "%s --no-cache --keep-going -q", LABEL);
  command_expect(&c, 4, "1 labels.csv");
  for (int i = 0; i < IMAGES; i++) table_says(&c, i, two[i % 2]);
  command_end(&c);
}

int test_label(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unknown_labels_are_found),
      cmocka_unit_test(label_chooses_as_fit_does),
      cmocka_unit_test(classes_are_found),
      cmocka_unit_test(curves_are_of_hidden_labels),
      cmocka_unit_test(many_labels_are_found),
      cmocka_unit_test(missing_labels_are_no_class),
      cmocka_unit_test(a_wrong_label_is_doubted),
      cmocka_unit_test(a_wrong_class_is_doubted_once),
      cmocka_unit_test(the_cache_changes_nothing),
      cmocka_unit_test(a_damaged_cache_is_made_again),
      cmocka_unit_test(a_cache_that_cannot_be_is_a_warning),
      cmocka_unit_test(threads_change_nothing),
      cmocka_unit_test(the_window_lies_on_the_patch),
      cmocka_unit_test(regions_are_segments_that_were_given),
      cmocka_unit_test(places_that_are_whole_pictures_are_told),
      cmocka_unit_test(bad_segments_are_refused),
      cmocka_unit_test(bad_tables_are_refused),
      cmocka_unit_test(inputs_are_not_written_over),
      cmocka_unit_test(images_at_fault_are_named),
      cmocka_unit_test(too_few_people_are_said),
      cmocka_unit_test(ambiguous_names_are_refused),
      cmocka_unit_test(bad_images_can_be_left_out),
  };
  return run_cases(tests, NULL, NULL);
}
