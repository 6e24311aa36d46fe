/* The page of lapis label shows first what deserves a look, and tells labels
 * that were given from those that were filled in. */
#include "label_case.h"
#include "remarks.h"

static const char *const two[] = {"flat", "upright"};
enum { KNOWN = 14, WRONG = 4, SHOWN = 14 };

/* Image WRONG has the other label. */
static void begin(command *c)
{
  char table[4096] = "file,what\n";
  begin_stripes(c, 2);
  for (int i = 0; i < KNOWN; i++)
    sprintf(table + strlen(table), "a%02d.pgm,%s\n", i,
            two[(i + (i == WRONG)) % 2]);
  write_text(c, "labels.csv", table);
}

/* Numbers of the images that the page shows, in order, and what a figure is
 * said to be. */
static int shown(const char *page, int *image, char class_[][64])
{
  int n = 0;
  for (const char *at = page; (at = strstr(at, "<figure id=\"i")) != NULL;) {
    const char *kind = strstr(at, "class=\"shot"),
               *name = strstr(at, "<strong>a");
    assert_true(kind != NULL && name != NULL && n < IMAGES);
    snprintf(class_[n], 64, "%.*s", (int)strcspn(kind + 7, "\""), kind + 7);
    image[n++] = (int)strtol(name + 9, NULL, 10);
    at = name;
  }
  return n;
}

static bool has_word(const char *class_, const char *word)
{
  const char *at = strstr(class_, word);
  return at != NULL && at[-1] == ' ' &&
         (at[strlen(word)] == ' ' || at[strlen(word)] == '\0');
}

/* Doubts; half of what is left the filled ones, the least sure first; then the
 * classes in turn. */
static void what_deserves_a_look_is_first(void **state)
{
  static char page[4 << 20];
  command c;
  lapis_arrays all;
  int image[IMAGES];
  char class_[IMAGES][64];
  begin(&c);
  command_do(&c, LABEL " --no-cache --pictures %d --result r.npz -o page.html",
             SHOWN);
  command_slurp(&c, "page.html", page, sizeof page);
  assert_int_equal(shown(page, image, class_), SHOWN);
  const char *remark = strstr(page, LABELS_WERE_HIDDEN);
  assert_true(remark > strstr(page, "<section id=\"run\""));
  assert_non_null(strstr(page, LIKE_THE_GIVEN));
  command_arrays(&c, "r.npz", &all);
  const lapis_mat *scores = &lapis_arrays_find(&all, "scores")->mat;
  const lapis_mat *doubt = &lapis_arrays_find(&all, "suspect_index")->mat;
  int doubts = (int)doubt->cols, half = doubts + (SHOWN - doubts) / 2;
  assert_true(doubts > 0 && half < SHOWN);
  assert_true(lapis_mat_at(doubt, 0, 0) == WRONG);
  for (int k = 0; k < SHOWN; k++) {
    bool filled = image[k] >= KNOWN;
    if (k < doubts) assert_true(lapis_mat_at(doubt, 0, k) == image[k]);
    if (k >= doubts && k < half) assert_true(filled);
    if (k > doubts && k < half)
      CHECK_AT_LEAST(fabs(lapis_mat_at(scores, 0, image[k])),
                     fabs(lapis_mat_at(scores, 0, image[k - 1])));
    assert_int_equal(has_word(class_[k], "filled"), filled);
    assert_int_equal(has_word(class_[k], "given"), !filled);
    assert_int_equal(has_word(class_[k], "doubted"), k < doubts);
  }
  for (int i = KNOWN; i < IMAGES; i++) { /* none less sure was left out */
    bool before = false;
    for (int k = doubts; k < half; k++) before |= image[k] == i;
    if (!before)
      CHECK_AT_LEAST(fabs(lapis_mat_at(scores, 0, i)),
                     fabs(lapis_mat_at(scores, 0, image[half - 1])));
  }
  for (int k = half + 1; k < SHOWN; k++) /* stripes say what was found */
    assert_true(image[k] % 2 != image[k - 1] % 2);
  lapis_arrays_free(&all);
  command_end(&c);
}

static int count(const char *text, const char *word)
{
  int n = 0;
  for (; (text = strstr(text, word)) != NULL; text += strlen(word)) n++;
  return n;
}

/* Each setting stands on the page once, with what the run took. */
static void settings_stand_once(void **state)
{
  static char page[4 << 20];
  static const char *const names[] = {"lambda",  "gamma",     "mu-rel",
                                      "variant", "labels",    "pictures",
                                      "folds",   "time-limit"};
  command c;
  begin(&c);
  command_do(&c, LABEL " --no-cache -o page.html");
  command_slurp(&c, "page.html", page, sizeof page);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char row[64];
    snprintf(row, sizeof row, "<th scope=\"row\">%s</th>", names[i]);
    if (count(page, row) != 1)
      fail_msg("%s stands %d times", names[i], count(page, row));
  }
  assert_int_equal(count(page, "id=\"origin-doubted\""), 1);
  assert_int_equal(count(page, "filled in (10)"), 1);
  assert_int_equal(count(page, "given (14)"), 1);
  static const command_misuse wrong[] = {
      {LABEL " --pictures 0", 2, "pictures"}};
  command_refuses(&c, wrong, 1, "");
  command_end(&c);
}

/* The same images, labels said by folders, answer as by a table; folders are
 * looked into, hidden ones and links are not. */
static void folders_are_classes(void **state)
{
  static char by_table[65536], by_folder[65536];
  command c;
  begin_stripes(&c, 2);
  write_labels(&c, two, 2, KNOWN);
  shell(&c,
        "mkdir -p t/flat/deep/er t/upright t/Unknown t/.hidden && "
        "ln -s ../t t/loop && cp in/a00.pgm t/.hidden && "
        "for i in 00 02 04; do cp in/a$i.pgm t/flat; done && "
        "for i in 06 08 10 12; do cp in/a$i.pgm t/flat/deep/er; done && "
        "for i in 01 03 05 07 09 11 13; do cp in/a$i.pgm t/upright; done && "
        "for i in 14 15; do cp in/a$i.pgm t/Unknown; done && "
        "for i in 16 17 18 19 20 21 22 23; do cp in/a$i.pgm t; done");
#define ANSWER                                                              \
  "--features hog --size 32x32 --no-cache -q --deterministic " GIVEN " -o " \
  "a.csv"
  command_do(&c, "label in --labels labels.csv " ANSWER);
  shell(&c, "sed 's,.*/,,' a.csv | cut -d, -f1-3 | sort >table.csv");
  command_do(&c, "label t --folder-is-class " ANSWER);
  shell(&c, "sed 's,.*/,,' a.csv | cut -d, -f1-3 | sort >folder.csv");
  command_slurp(&c, "table.csv", by_table, sizeof by_table);
  command_slurp(&c, "folder.csv", by_folder, sizeof by_folder);
  assert_string_equal(by_table, by_folder);
  assert_int_equal(count(by_folder, ".pgm,"), IMAGES);
  assert_int_equal(count(by_folder, ",filled"), IMAGES - KNOWN);
  static const command_misuse wrong[] = {
      {"label t --folder-is-class --labels labels.csv", 2, ""},
      {"label in --folder-is-class", 4, "in/"},
      {"label in/a00.pgm --folder-is-class", 4, ""},
      {"label t --folder-is-class --target what", 2, "--target"},
      {"label in", 2, "--folder-is-class"}};
  command_refuses(&c, wrong, 5, "");
  command_end(&c);
}

/* Settings are those of who answered, where nothing could be compared, too. */
static void a_page_of_too_few_labels(void **state)
{
  command c;
  begin_stripes(&c, 2);
  write_labels(&c, two, 2, 2);
  command_run(&c, CHOOSING " --no-cache --json -o page.html");
  command_expect(&c, 0, TOO_FEW_LABELS);
  shell(&c, "grep -q '>held-out</th>' page.html");
  command_end(&c);
}

int test_page(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_deserves_a_look_is_first),
      cmocka_unit_test(settings_stand_once),
      cmocka_unit_test(a_page_of_too_few_labels),
      cmocka_unit_test(folders_are_classes),
  };
  return run_cases(tests, NULL, NULL);
}
