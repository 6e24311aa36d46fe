/* page.c - the page of a pipeline: read back as XML and in a browser, what
 * it exports read back as a table, its size, its refusals; small copies of
 * images; the ROC curve. */
#include "command.h"
#include "folds/rank.h"
#include "images/image/image.h"
#include "lapis/choose.h"
#include "lapis/images.h"
#include "oracle.h"
#include "python.h"
#include "scarce.h"

enum {
  PICTURES = 6,
  CLASSES = 2,
  COLUMNS = 2,
  SUSPECTS = 5,
  POINTS = 5,
  WIDE = 200,
  HIGH = 150
};

/* What a page has to survive: markup, quotes, a comma, other scripts, bytes
 * that are no UTF-8, a control character. */
static const char *const names[PICTURES] = {
    "a <b>&amp; \"c\".png",           "it's, here.png",
    "=x()</script><script>x()//.png", "\xc3\xa4\xe6\xbc\xa2.png",
    "\t]]> --> ;tab\t.png",           " plain.png "};
static const char *const class_names[CLASSES] = {"eyes & \"brows\"", "<none>"};
static const char *const columns[COLUMNS] = {"label", "age, \"years\""};
static const char *const ages[PICTURES] = {"31", "", "8", "0", "1", "64"};

typedef struct scene {
  lapis_ctx *ctx;
  lapis_image image[PICTURES];
  lapis_report_picture picture[PICTURES];
  lapis_report_box box[PICTURES][2];
  lapis_report_heat heat[PICTURES][CLASSES];
  lapis_report_suspect suspect[SUSPECTS];
  lapis_report_row row[2];
  const char *label[COLUMNS * PICTURES], *answer[COLUMNS * PICTURES];
  double level[CLASSES][20 * 15], regions[20 * 15];
  double scores[CLASSES * PICTURES], truth[PICTURES], points[4 * 64];
  lapis_report report;
} scene;

static lapis_mat texts(const char *const *text, int64_t rows, int64_t cols)
{
  return lapis_mat_text(text, rows, cols);
}

static lapis_mat text_row(const char *const *text, int64_t n)
{
  return texts(text, 1, n);
}

static void paint(lapis_image *m, int64_t wide, int64_t high, uint64_t seed)
{
  *m = (lapis_image){.width = wide, .height = high, .channels = 3};
  m->pixels = malloc((size_t)(wide * high * 3) * sizeof *m->pixels);
  assert_non_null(m->pixels);
  double a = fabs(check_normal(&seed)), b = fabs(check_normal(&seed));
  for (int64_t k = 0; k < wide * high * 3; k++) {
    double x = (double)(k / 3 % wide) / (double)wide;
    double y = (double)(k / 3 / wide) / (double)high;
    m->pixels[k] =
        (float)(0.5 + 0.5 * sin((double)(k % 3) + 9 * a * x + 7 * b * y));
  }
}

static void paint_layers(scene *s, int i)
{
  s->box[i][0] =
      (lapis_report_box){{20 + 5 * i, 30, 60, 40, 0.25 * i}, "eyes", 0, false};
  s->box[i][1] = (lapis_report_box){{90, 70, 80, 60, NAN}, "truth", 1, true};
  if (i == PICTURES - 1) s->box[i][1].at = (lapis_box){0, 0, WIDE, HIGH, NAN};
  for (int c = 0; c < CLASSES; c++)
    s->heat[i][c] = (lapis_report_heat){lapis_mat_f64(s->level[c], 20, 15), c};
  s->picture[i] =
      (lapis_report_picture){.sample = i,
                             .image = &s->image[i],
                             .box = s->box[i],
                             .boxes = 2,
                             .heat = s->heat[i],
                             .heats = CLASSES,
                             .regions = lapis_mat_f64(s->regions, 20, 15),
                             .note = i == 1 ? "a <note>" : NULL};
}

static void paint_points(scene *s)
{
  int64_t m = 0;
  for (int i = 0; i < PICTURES; i++)
    for (int p = 0; p < POINTS; p++) {
      if (i == 2 && p == 1) continue; /* not seen there */
      double at[4] = {i, 7 + p, 25 + 30 * p + 3 * i, 40 + 15 * p};
      memcpy(s->points + 4 * m++, at, sizeof at);
    }
  s->report.points = lapis_mat_f64(s->points, 4, m);
}

static void scene_begin(scene *s)
{
  lapis_report r = lapis_report_defaults();
  *s = (scene){.ctx = lapis_ctx_new(), .report = r};
  for (int k = 0; k < 20 * 15; k++) {
    double x = k % 20 - 10, y = k / 20 - 7; /* NOLINT: whole steps */
    s->level[0][k] = exp(-(x * x + y * y) / 20);
    s->level[1][k] = k % 7 == 0 ? NAN : x;
    double far = x * x + y * y; /* a ring around a hole, and a corner */
    s->regions[k] = far < 30 && far > 5 ? 0 : x > 6 && y > 4 ? 1 : -1;
  }
  for (int i = 0; i < PICTURES; i++) {
    paint(&s->image[i], WIDE, HIGH, 1 + (uint64_t)i);
    paint_layers(s, i);
    s->label[2 * i] = i == 3 ? "" : class_names[i % 2];
    s->answer[2 * i] = class_names[i < 2 ? 1 - i % 2 : i % 2];
    s->label[2 * i + 1] = ages[i];
    s->answer[2 * i + 1] = "";
    s->truth[i] = i % 2;
    for (int c = 0; c < CLASSES; c++)
      s->scores[CLASSES * i + c] = (i % 2 == c) + 0.3 * i * (c - 0.4);
  }
  paint_points(s);
  for (int i = 0; i < 3; i++)
    s->suspect[i] = (lapis_report_suspect){i, 0, s->label[2 * i],
                                           class_names[1 - i % 2], 2.5 - i};
  /* cells that are lists: one entry more, then one less */
  s->suspect[3] = (lapis_report_suspect){5, 0, NULL, "more", -1};
  s->suspect[4] = (lapis_report_suspect){5, 0, class_names[1], "", -2};
  s->row[0] = (lapis_report_row){"kind", "dense-sift-bow"};
  s->row[1] = (lapis_report_row){"words <d>", "1000"};
  lapis_report *w = &s->report;
  w->title = "What is <in> the \"pictures\" & where";
  w->names = text_row(names, PICTURES);
  w->label_names = text_row(columns, COLUMNS);
  w->class_names = text_row(class_names, CLASSES);
  w->labels = texts(s->label, COLUMNS, PICTURES);
  w->answers = texts(s->answer, COLUMNS, PICTURES);
  w->scores = lapis_mat_f64(s->scores, CLASSES, PICTURES);
  w->truth = lapis_mat_f64(s->truth, 1, PICTURES);
  w->suspect = s->suspect;
  w->suspects = SUSPECTS;
  w->picture = s->picture;
  w->pictures = PICTURES;
  w->fact = s->row;
  w->facts = w->settings = 2;
  w->setting = s->row;
  w->command = "lapis label 'a b' --labels labels.csv && echo \"<done>\"";
}

static void scene_end(scene *s)
{
  for (int i = 0; i < PICTURES; i++) free(s->image[i].pixels);
  lapis_ctx_free(s->ctx);
}

static void scene_write(scene *s, const command *c, const char *name)
{
  char path[160];
  snprintf(path, sizeof path, "%s/%s", c->folder, name);
  if (lapis_report_write(s->ctx, &s->report, path) != LAPIS_OK)
    fail_msg("%s", lapis_ctx_error(s->ctx));
}

/* ---- tests --------------------------------------------------------------*/
static void page_holds_all(void **state)
{
  command_need_images();
  python_need("xml, zlib");
  scene s;
  command c;
  char words[160];
  command_begin(&c);
  scene_begin(&s);
  scene_write(&s, &c, "page.html");
  snprintf(words, sizeof words, "%s/page.html", c.folder);
  python_run("check_layers.py", words);
  scene_end(&s);
  command_end(&c);
}

/* The exported table, by the reader that lapis label has. */
static void export_is_read(const command *c, const char *const *label)
{
  char path[160];
  lapis_cells table;
  lapis_ctx *ctx = lapis_ctx_new();
  snprintf(path, sizeof path, "%s/labels.csv", c->folder);
  if (lapis_cells_read(ctx, path, NULL, &table) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  assert_true(table.rows == PICTURES + 1 && table.columns == COLUMNS + 1);
  assert_string_equal(table.text[0], "name");
  for (int k = 0; k < COLUMNS; k++)
    assert_string_equal(table.text[k + 1], columns[k]);
  for (int j = 0; j < PICTURES; j++) {
    const char **row = table.text + (j + 1) * (COLUMNS + 1);
    assert_string_equal(row[0], names[j]);
    for (int k = 0; k < COLUMNS; k++)
      assert_string_equal(row[k + 1], label[COLUMNS * j + k]);
  }
  lapis_cells_free(&table);
  lapis_ctx_free(ctx);
}

static void page_works_in_a_browser(void **state)
{
  command_need_images();
  python_need_browser();
  scene s;
  command c;
  char words[160];
  command_begin(&c);
  scene_begin(&s);
  scene_write(&s, &c, "page.html");
  snprintf(words, sizeof words, "%s", c.folder);
  python_run("browse_page.py", words);
  s.label[0] = s.label[4] = class_names[1]; /* accepted there */
  s.label[10] = "more";
  export_is_read(&c, s.label);
  scene_end(&s);
  command_end(&c);
}

static void page_stays_small(void **state)
{
  command_need_images();
  enum { MANY = 300 };
  scene s;
  command c;
  struct stat file;
  char path[160];
  lapis_report_picture *all = calloc(MANY, sizeof *all);
  uint64_t seed = 4;
  assert_non_null(all);
  command_begin(&c);
  scene_begin(&s);
  free(s.image[0].pixels);
  paint(&s.image[0], 320, 240, 1);
  for (int k = 0; k < 320 * 240 * 3; k++) /* nothing compresses worse */
    s.image[0].pixels[k] = (float)fabs(fmod(check_normal(&seed), 1));
  for (int i = 0; i < MANY; i++) all[i] = s.picture[0];
  s.report.picture = all;
  s.report.pictures = MANY;
  scene_write(&s, &c, "many.html");
  snprintf(path, sizeof path, "%s/many.html", c.folder);
  assert_int_equal(stat(path, &file), 0);
  CHECK_AT_MOST((double)file.st_size, 30e6);
  CHECK_AT_MOST(10e6, (double)file.st_size); /* the room is used */
  free(all);
  scene_end(&s);
  command_end(&c);
}

/* A small copy read back: its size, its mean; exact where it is PNG. */
static void check_preview(lapis_ctx *ctx, const lapis_image *m, int64_t side,
                          int64_t most, bool exact)
{
  command c;
  image_shown p;
  lapis_image back;
  char path[160];
  double mean[2] = {0, 0};
  command_begin(&c);
  assert_int_equal(image_preview(ctx, m, side, most, &p), LAPIS_OK);
  assert_string_equal(p.type, exact ? "image/png" : "image/jpeg");
  CHECK_AT_MOST((double)p.size, (double)most);
  command_write(&c, "small", p.bytes, p.size);
  snprintf(path, sizeof path, "%s/small", c.folder);
  assert_int_equal(lapis_image_read(ctx, path, &back), LAPIS_OK);
  assert_true(back.width == p.width && back.height == p.height);
  assert_true(back.width <= side && back.height <= side);
  CHECK_NEAR((double)back.width / (double)back.height,
             (double)m->width / (double)m->height, 0.05);
  int64_t size[2] = {m->width * m->height * 3, back.width * back.height * 3};
  for (int64_t k = 0; k < size[0]; k++) mean[0] += m->pixels[k];
  for (int64_t k = 0; k < size[1]; k++) mean[1] += back.pixels[k];
  CHECK_NEAR(mean[0] / (double)size[0], mean[1] / (double)size[1], 0.01);
  for (int64_t k = 0; exact && size[0] == size[1] && k < size[0]; k++)
    CHECK_NEAR(m->pixels[k], back.pixels[k], 0.5 / 255 + 1e-6);
  lapis_image_free(&back);
  preview_free(&p);
  command_end(&c);
}

static void images_are_made_small(void **state)
{
  command_need_images();
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_image m;
  image_shown p;
  paint(&m, 500, 300, 6);
  check_preview(ctx, &m, 640, 1 << 20, false);
  check_preview(ctx, &m, 320, 1 << 20, false);
  check_preview(ctx, &m, 640, 4096, false);
  check_preview(ctx, &m, 100, 1 << 20, true);
  free(m.pixels);
  paint(&m, 120, 128, 6);
  check_preview(ctx, &m, 640, 1 << 20, true);
  free(m.pixels);
  paint(&m, 600, 1, 6); /* a side never vanishes */
  check_preview(ctx, &(lapis_image){600, 1, 3, m.pixels}, 640, 1 << 20, false);
  m.channels = 2;
  assert_int_equal(image_preview(ctx, &m, 64, 4096, &p), LAPIS_ESHAPE);
  assert_null(p.bytes);
  free(m.pixels);
  lapis_ctx_free(ctx);
}

/* The area below the curve by trapezoids is the AUROC; each point counted by
 * hand, ties and unknown truth among the scores. */
static void curve_is_what_auroc_measures(void **state)
{
  enum { N = 60 };
  double truth[N], score[N], x[N + 1], y[N + 1], auroc;
  int64_t points;
  lapis_ctx *ctx = lapis_ctx_new();
  for (uint64_t seed = 1; seed <= 40; seed++) {
    uint64_t state_ = seed;
    double area = 0, at[2];
    for (int i = 0; i < N; i++) {
      truth[i] = i == 7 ? NAN : check_normal(&state_) > 0.3;
      score[i] = floor(3 * (truth[i] > 0) + 2 * check_normal(&state_));
    }
    assert_int_equal(metric_roc(ctx, truth, score, N, x, y, &points), LAPIS_OK);
    assert_int_equal(metric_auroc(ctx, truth, score, N, &auroc), LAPIS_OK);
    for (int64_t k = 1; k < points; k++)
      area += (x[k] - x[k - 1]) * (y[k] + y[k - 1]) / 2;
    CHECK_NEAR(area, auroc, 1e-12);
    for (int64_t k = 0; k < points; k++) { /* is it one threshold's? */
      bool found = k == 0;
      for (int i = 0; i < N && !found; i++) {
        double hit[2] = {0, 0}, all[2] = {0, 0};
        for (int j = 0; j < N; j++) {
          if (isnan(truth[j])) continue;
          all[truth[j] > 0]++;
          hit[truth[j] > 0] += score[j] >= score[i];
        }
        for (int c = 0; c < 2; c++) at[c] = hit[c] / all[c];
        found = fabs(at[0] - x[k]) < 1e-12 && fabs(at[1] - y[k]) < 1e-12;
      }
      assert_true(found);
    }
    assert_true(x[0] + y[0] == 0 && x[points - 1] + y[points - 1] == 2);
  }
  for (int i = 0; i < N; i++) truth[i] = 1;
  assert_int_equal(metric_roc(ctx, truth, score, N, x, y, &points), LAPIS_OK);
  assert_int_equal(points, 0);
  lapis_ctx_free(ctx);
}

/* Each part that does not fit is refused by its name, and no file is left. */
static void refuse(scene *s, lapis_status status, const char *words)
{
  command c;
  char path[160];
  command_begin(&c);
  snprintf(path, sizeof path, "%s/p.html", c.folder);
  assert_int_equal(lapis_report_write(s->ctx, &s->report, path), status);
  if (!check_has(lapis_ctx_error(s->ctx), words))
    fail_msg("'%s' wanted: '%s'", words, lapis_ctx_error(s->ctx));
  assert_false(command_exists(&c, "p.html"));
  command_end(&c);
}

static void refusals(void **state)
{
  scene s;
  scene_begin(&s);
  lapis_report good = s.report;
  s.report.labels = texts(s.label, COLUMNS, PICTURES - 1);
  refuse(&s, LAPIS_ESHAPE, "6");
  s.report = good;
  s.report.names = lapis_mat_f64(s.truth, 1, PICTURES);
  refuse(&s, LAPIS_ESHAPE, "");
  s.report = good;
  s.report.scores.cols = 4;
  refuse(&s, LAPIS_ESHAPE, "scores");
  s.report = good;
  s.report.labels.cols = 0;
  refuse(&s, LAPIS_EMISSING, "");
  s.report = good;
  int64_t order[COLUMNS + 1] = {2, 0, COLUMNS + 1};
  s.report.csv_order = lapis_mat_i64(order, 1, COLUMNS);
  refuse(&s, LAPIS_ESHAPE, "csv_order");
  s.report.csv_order = lapis_mat_i64(order, 1, COLUMNS + 1);
  refuse(&s, LAPIS_EINVAL, "4 3");
  s.report = good;
  s.suspect[1].sample = PICTURES;
  refuse(&s, LAPIS_EINVAL, "7 6");
  s.suspect[1] = (lapis_report_suspect){.sample = 0, .column = 2};
  refuse(&s, LAPIS_EINVAL, "3");
  s.suspect[1].column = 0;
  s.points[0] = -1;
  refuse(&s, LAPIS_EINVAL, "0");
  s.points[0] = 0;
  s.picture[3].sample = 99;
  refuse(&s, LAPIS_EINVAL, "100");
  s.report = lapis_report_defaults();
  refuse(&s, LAPIS_EMISSING, "");
  scene_end(&s);
}

static bool holds(const char *path, const char *words)
{
  char line[256];
  (void)snprintf(line, sizeof line, "grep -qF '%s' %s", words, path);
  return system(line) == 0;
}

/* The folder that all names begin with is said by no caption. */
static void folders_are_left_out(void **state)
{
  static const char *const path[] = {"/a/b/one.png", "/a/b/c/two.png"};
  lapis_report_picture picture[2] = {{.sample = 0}, {.sample = 1}};
  lapis_report r = lapis_report_defaults();
  scene s = {.ctx = lapis_ctx_new()};
  command c;
  char page[160];
  command_begin(&c);
  r.names = text_row(path, 2);
  r.picture = picture;
  r.pictures = 2;
  s.report = r;
  scene_write(&s, &c, "p.html");
  snprintf(page, sizeof page, "%s/p.html", c.folder);
  assert_true(holds(page, "<strong>one.png</strong>"));
  assert_true(holds(page, "<strong>c/two.png</strong>"));
  scene_end(&s);
  command_end(&c);
}

static void count_warnings(int level, const char *text, void *user)
{
  assert_non_null(strstr(text, "no-such.png"));
  *(int *)user += level == 0;
}

/* A file that cannot be read costs its picture, not the page. */
static void pictures_may_be_missing(void **state)
{
  scene s;
  command c;
  int warnings = 0;
  command_begin(&c);
  scene_begin(&s);
  lapis_ctx_on_message(s.ctx, count_warnings, &warnings);
  for (int i = 0; i < PICTURES; i++) s.picture[i].image = NULL;
  s.picture[2].path = "/no-such.png";
  scene_write(&s, &c, "frames.html");
  assert_int_equal(warnings, 1);
  scene_end(&s);
  command_end(&c);
}

/* Memory ends at the k-th allocation: no page, or a whole one. */
static void memory_may_end(void **state)
{
  command_need_images();
  scene s;
  command c;
  char path[160];
  lapis_status status = LAPIS_ENOMEM;
  command_begin(&c);
  scene_begin(&s);
  s.report.pictures = 2;
  s.report.points.cols = POINTS;
  snprintf(path, sizeof path, "%s/p.html", c.folder);
  long k = 0;
  for (; status != LAPIS_OK && k < 5000; k += room_step(k)) {
    scarce.countdown = k;
    status = lapis_report_write(s.ctx, &s.report, path);
    scarce.countdown = -1;
    if (status != LAPIS_OK && status != LAPIS_ENOMEM)
      fail_msg("allocation %ld: %s", k, lapis_ctx_error(s.ctx));
    assert_true((status == LAPIS_OK) == command_exists(&c, "p.html"));
  }
  assert_int_equal(status, LAPIS_OK);
  CHECK_AT_MOST(20, (double)k); /* there were some to fail */
  scene_end(&s);
  command_end(&c);
}

int test_page(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(page_holds_all),
      cmocka_unit_test(page_works_in_a_browser),
      cmocka_unit_test(page_stays_small),
      cmocka_unit_test(images_are_made_small),
      cmocka_unit_test(curve_is_what_auroc_measures),
      cmocka_unit_test(pictures_may_be_missing),
      cmocka_unit_test(folders_are_left_out),
      cmocka_unit_test(refusals),
      cmocka_unit_test(memory_may_end),
  };
  return run_cases(tests, NULL, NULL);
}
