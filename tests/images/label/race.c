/* lapis label where settings are left to LAPIS: who was tried is told, in JSON
 * and on the page, and the answer is good on photographs. */
#include "label_case.h"
#include "lapis/images.h"
#include "methods/auto/compare.h"

static const char *const two[] = {"flat", "upright"};

/* The number behind a key, from *at on. */
static double behind(const char *at, const char *key)
{
  double v = NAN;
  const char *found = strstr(at, key);
  assert_non_null(found);
  assert_int_equal(sscanf(found + strlen(key), "\": %lf", &v), 1);
  return v;
}

/* Each candidate of the JSON stands on the page with its figures. */
static void who_was_tried_is_told(void **state)
{
  command c;
  char line[400];
  int n = 0;
  begin_stripes(&c, 2);
  write_labels(&c, two, 2, 10);
  command_run(&c, CHOOSING " --no-cache --json -o page.html");
  command_expect(&c, 0, "");
  const char *at = strstr(c.out, "\"candidates\"");
  assert_non_null(at);
  double least = behind(at, "log_loss");
  while ((at = strstr(at, "\"settings\": \"")) != NULL) {
    at += strlen("\"settings\": \"");
    double loss = behind(at, "log_loss");
    CHECK_AT_LEAST(loss, least - .002);
    snprintf(line, sizeof line,
             "grep -qF -e '%.*s</td><td>%.4f +- %.4f</td><td>%.4f</td><td>' "
             "page.html",
             (int)strcspn(at, "\""), at, loss, behind(at, "error"),
             behind(at, "auroc"));
    shell(&c, line);
    n++;
  }
  CHECK_AT_LEAST((double)n, 8);
  shell(&c, "test $(grep -c '</td><td>answers' page.html) = 1");
  shell(&c, "grep -qE '(a toss-up|clear|not clearly better than "
            "guessing)</td>' page.html");
  command_end(&c);
}

/* All labels are right, but two folds of four people foretell them badly; who
 * errs on a whole person has no reason to doubt that person's labels. */
static void right_labels_of_a_few_people_stay(void **state)
{
  command c;
  command_begin(&c);
  folder(&c, "people");
  shell(&c, "for p in an2i at33 boland bpm ch4f cheyer; do cp " LAPIS_TREE
            "/data/cmu_faces/images/${p}_straight_* people; done");
  shell(&c, "cut -d, -f1,2,5 " LAPIS_TREE "/data/cmu_faces/index.csv | grep -E "
            "'^(name|(an2i|at33|boland|bpm)_straight)' >labels.csv");
  for (int where = 0; where < 2; where++) {
    command_do(&c,
               "label people --labels labels.csv --target eyes --groups "
               "subject --count 2000 --words 125 --learn 10000 --folds 2 "
               "--cache kept --json%s",
               where ? " --where" : "");
    assert_non_null(strstr(c.out, "\"suspects\": []"));
  }
  command_end(&c);
}

/* ---- out of time --------------------------------------------------------*/
typedef struct stop { /* after so many answers of candidates */
  lapis_ctx *ctx;
  int left;
} stop;

/* What a race shows has no numbers of a solve. */
static bool stop_after(const lapis_progress *now, void *user)
{
  stop *s = user;
  bool race = strstr(now->method, "choosing") != NULL && now->iter > 0 &&
              isnan(now->objective);
  if (race && s->left-- == 0) lapis_ctx_limit(s->ctx, 0);
  return true;
}

static bool is_said(const lapis_solver *f, const char *words)
{
  lapis_mat notes;
  assert_int_equal(lapis_result_get(f, "notes", &notes), LAPIS_OK);
  for (int64_t i = 0; i < notes.cols; i++)
    if (strstr(((const char *const *)notes.val)[i], words) != NULL) return true;
  return false;
}

/* Time to choose runs out in the second fold: the first decides, every image
 * has its label, and it is said. */
static void a_race_cut_short_is_said(void **state)
{
  command c;
  static char path[IMAGES][160];
  const char *paths[IMAGES];
  char labels[160];
  lapis_label_settings set;
  const lapis_method *method = lapis_flow_find("label");
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_solver *f;
  lapis_mat answer;
  begin_stripes(&c, 2);
  write_labels(&c, two, 2, 16);
  snprintf(labels, sizeof labels, "%s/labels.csv", c.folder);
  for (int i = 0; i < IMAGES; i++) {
    snprintf(path[i], sizeof path[i], "%s/in/a%02d.pgm", c.folder, i);
    paths[i] = path[i];
  }
  lapis_settings_default(method, &set);
  set.labels = labels;
  set.features = "hog";
  set.no_cache = true;
  enum { MANY = 1000 };
  stop at = {ctx, MANY};
  lapis_ctx_on_progress(ctx, stop_after, &at);
  assert_int_equal(lapis_label_new(ctx, paths, IMAGES, &set, &f), LAPIS_OK);
  assert_int_equal(lapis_solve(f), LAPIS_OK);
  assert_int_equal(lapis_result_get(f, "hidden", &answer), LAPIS_OK);
  int folds = (int)lapis_mat_at(&answer, 0, 1);
  lapis_solver_free(f);
  at.left = (MANY - at.left) / folds + 1; /* some came later, in all folds */
  assert_int_equal(lapis_label_new(ctx, paths, IMAGES, &set, &f), LAPIS_OK);
  assert_int_equal(lapis_solve(f), LAPIS_TIME_LIMIT);
  assert_true(is_said(f, "time ran out before all candidates had answered"));
  assert_int_equal(lapis_result_get(f, "hidden", &answer), LAPIS_OK);
  CHECK_NEAR(lapis_mat_at(&answer, 0, 1), 1, 0); /* folds */
  assert_int_equal(lapis_result_get(f, "labels", &answer), LAPIS_OK);
  for (int i = 0; i < IMAGES; i++)
    assert_string_equal(((const char *const *)answer.val)[i], two[i % 2]);
  lapis_solver_free(f);
  lapis_ctx_free(ctx);
  command_end(&c);
}

/* ---- spellings ----------------------------------------------------------*/
enum { BLOBS = 100, GIVEN_BLOBS = 30 };

static bool is_tall(int i)
{
  return i % 5 < 2;
}

/* Two blobs far from 0, whose images hold nothing. */
static void begin_blobs(command *c)
{
  char name[32], vectors[BLOBS * 64] = "image,x,y\n";
  uint64_t seed = 4;
  command_begin(c);
  folder(c, "in");
  for (int i = 0; i < BLOBS; i++) {
    double x = 150 + check_normal(&seed) + 12 * is_tall(i);
    snprintf(name, sizeof name, "in/b%02d.pgm", i);
    command_write(c, name, "P5 1 1 255\n0", 12);
    sprintf(vectors + strlen(vectors), "b%02d.pgm,%.9g,%.9g\n", i, x,
            50 + check_normal(&seed));
  }
  write_text(c, "v.csv", vectors);
}

/* Labels of all, and probabilities of `tall`, for labels written so. */
static void tell_blobs(command *c, const char *no, const char *yes,
                       double p[BLOBS])
{
  char table[BLOBS * 32] = "image,what\n";
  lapis_arrays all;
  for (int i = 0; i < GIVEN_BLOBS; i++)
    sprintf(table + strlen(table), "b%02d.pgm,%s\n", i, is_tall(i) ? yes : no);
  write_text(c, "labels.csv", table);
  command_do(c, "label in --labels labels.csv --features table:v.csv "
                "--no-cache --threads 1 --result r.npz -q");
  command_arrays(c, "r.npz", &all);
  const lapis_mat *scores = &lapis_arrays_find(&all, "scores")->mat;
  const char *const *label = lapis_arrays_find(&all, "labels")->mat.val;
  const char *const *name = lapis_arrays_find(&all, "classes")->mat.val;
  assert_int_equal(scores->cols, BLOBS);
  for (int i = 0; i < BLOBS; i++) {
    double s = lapis_mat_at(scores, 0, i);
    assert_string_equal(label[i], is_tall(i) ? yes : no);
    p[i] = 1 / (1 + exp(strcmp(name[1], yes) == 0 ? -s : s));
  }
  lapis_arrays_free(&all);
}

static void spellings_do_not_matter(void **state)
{
  static const char *const spelt[][2] = {{"0", "1"},    {"1", "0"},
                                         {"-1", "1"},   {"1", "2"},
                                         {"low", "up"}, {"up", "low"}};
  double first[BLOBS], p[BLOBS];
  command c;
  begin_blobs(&c);
  for (int k = 0; k < 6; k++) {
    tell_blobs(&c, spelt[k][0], spelt[k][1], k == 0 ? first : p);
    for (int i = 0; k > 0 && i < BLOBS; i++) CHECK_NEAR(p[i], first[i], 1e-9);
  }
  command_end(&c);
}

/* ---- wrong labels of many classes ----------------------------------------*/
enum { KINDS = 8, MANY = 160 };

/* MANY images of KINDS classes about a circle, so wide apart; every `nth` label
 * is another.  How many of those are listed, and of others. */
static void doubt_kinds(command *c, double apart, int nth, int64_t expected[2],
                        int *found, int *other)
{
  char name[32], vectors[MANY * 64] = "image,x,y\n";
  char table[MANY * 32] = "image,what\n";
  uint64_t seed = 11;
  lapis_arrays all;
  for (int i = 0; i < MANY; i++) {
    int kind = i % KINDS, told = kind;
    if (nth > 0 && i % nth == 0) told = (kind + 1 + i / nth % 7) % KINDS;
    double turn = 6.283185307179586 * kind / KINDS;
    snprintf(name, sizeof name, "in/k%03d.pgm", i);
    command_write(c, name, "P5 1 1 255\n0", 12);
    sprintf(vectors + strlen(vectors), "k%03d.pgm,%.9g,%.9g\n", i,
            apart * cos(turn) + check_normal(&seed),
            apart * sin(turn) + check_normal(&seed));
    sprintf(table + strlen(table), "k%03d.pgm,kind%d\n", i, told);
  }
  write_text(c, "v.csv", vectors);
  write_text(c, "labels.csv", table);
  command_do(c, "label in --labels labels.csv --features table:v.csv "
                "--no-cache --threads 1 --result r.npz --suspects 1000 -q");
  command_arrays(c, "r.npz", &all);
  const int64_t *said = lapis_arrays_find(&all, "expected_wrong")->mat.val;
  const lapis_mat *index = &lapis_arrays_find(&all, "suspect_index")->mat;
  const int64_t *image = index->val;
  expected[0] = said[0], expected[1] = said[1];
  *found = *other = 0;
  for (int64_t k = 0; k < index->cols; k++)
    (*(nth > 0 && image[2 * k] % nth == 0 ? found : other))++;
  lapis_arrays_free(&all);
}

/* A label that is unlikely among many is no sign of a wrong one where none is
 * told well; and where they are told, wrong ones are found. */
static void many_classes_are_doubted_with_care(void **state)
{
  int64_t expected[2];
  int found, other;
  command c;
  command_begin(&c);
  folder(&c, "in");
  doubt_kinds(&c, 1.5, 0, expected, &found, &other);
  assert_int_equal(expected[0], 0);
  CHECK_AT_MOST(other, MANY / 6);
  doubt_kinds(&c, 10, 10, expected, &found, &other); /* 16 are wrong */
  CHECK_AT_LEAST(found, 12);
  CHECK_AT_MOST(other, 1);
  CHECK_AT_MOST((double)expected[0], 16);
  CHECK_AT_LEAST((double)expected[1], 16);
  command_end(&c);
}

int test_race(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(who_was_tried_is_told),
      cmocka_unit_test(right_labels_of_a_few_people_stay),
      cmocka_unit_test(a_race_cut_short_is_said),
      cmocka_unit_test(spellings_do_not_matter),
      cmocka_unit_test(many_classes_are_doubted_with_care),
  };
  return run_cases(tests, NULL, NULL);
}
