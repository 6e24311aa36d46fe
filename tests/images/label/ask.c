/* lapis label --ask: images whose labels would help most, by what the answer
 * itself says of them. */
#include "label_case.h"
#include "remarks.h"

static const char *const two[] = {"flat", "upright"};
#define RUN CHOOSING " --candidates linear --cache kept --threads 1 "
enum { KNOWN = 14, ASKED = 3, FAR = 5 };

static double at(const lapis_arrays *all, const char *name, int64_t k)
{
  const lapis_array *a = lapis_arrays_find(all, name);
  assert_true(a != NULL && k < a->mat.cols);
  return lapis_mat_at(&a->mat, 0, k);
}

static double margin_of(const lapis_arrays *all, int64_t image)
{
  return fabs(2 * at(all, "probabilities", image) - 1);
}

/* How many that are not labelled are less sure. */
static int less_sure(const lapis_arrays *all, int64_t image)
{
  int count = 0;
  for (int64_t i = 0; i < IMAGES; i++)
    count +=
        at(all, "known", i) == 0 && margin_of(all, i) < margin_of(all, image);
  return count;
}

/* They have no label, the least sure are first, and none is sure. */
static void what_is_asked_is_unsure(void **state)
{
  command c;
  lapis_arrays all;
  begin_stripes(&c, 2);
  write_labels(&c, two, 2, KNOWN);
  command_do(&c, RUN "--ask 3 --result a.npz -o a.csv --json -q");
  assert_non_null(strstr(c.out, "\"ask\": ["));
  command_arrays(&c, "a.npz", &all);
  for (int64_t k = 0; k < ASKED; k++) {
    int64_t image = (int64_t)at(&all, "ask_index", k);
    char words[128];
    assert_true(at(&all, "known", image) == 0);
    CHECK_AT_MOST(fabs(at(&all, "ask_margin", k) - margin_of(&all, image)),
                  1e-12);
    if (k > 0)
      CHECK_AT_MOST(at(&all, "ask_margin", k - 1), at(&all, "ask_margin", k));
    CHECK_AT_MOST((double)less_sure(&all, image),
                  fmin(FAR * ASKED, fmax((IMAGES - KNOWN) / 2, ASKED)) - 1);
    snprintf(words, sizeof words,
             "grep -q '^in/a%02d.pgm,[^,]*,filled,,%d,' a.csv", (int)image,
             (int)k + 1);
    shell(&c, words);
  }
  shell(&c, "test $(cut -d, -f5 a.csv | grep -c '^[1-9]') = 3");
  lapis_arrays_free(&all);
  command_do(&c, RUN "--ask 99 -o page.html");
  check_says(c.err, NAMES_ALL_ASKED);
  check_says(c.err, "10 images");
  assert_non_null(strstr(c.out, HELP_MOST));
  command_do(&c, RUN "--ask 10");
  assert_null(strstr(c.err, NAMES_ALL_ASKED));
  command_do(&c, RUN "-q");
  assert_null(strstr(c.out, HELP_MOST));
  command_end(&c);
}

/* Of which a person said that they have none. */
static void nobody_is_asked_twice(void **state)
{
  command c;
  lapis_arrays all;
  char table[4096] = "file,what,checked\n";
  begin_stripes(&c, 2);
  for (int i = 0; i < IMAGES; i++)
    sprintf(table + strlen(table), "a%02d.pgm,%s,%s\n", i,
            i < KNOWN ? two[i % 2] : "", i >= IMAGES - 2 ? "yes" : "");
  write_text(&c, "labels.csv", table);
  command_do(&c, RUN "--ask 99 --result a.npz");
  check_says(c.err, "8 images");
  command_arrays(&c, "a.npz", &all);
  const lapis_array *asked = lapis_arrays_find(&all, "ask_index");
  assert_true(asked != NULL && asked->mat.cols == IMAGES - KNOWN - 2);
  for (int64_t k = 0; k < asked->mat.cols; k++)
    assert_true(at(&all, "ask_index", k) < IMAGES - 2);
  lapis_arrays_free(&all);
  command_end(&c);
}

int test_ask(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_asked_is_unsure),
      cmocka_unit_test(nobody_is_asked_twice),
  };
  return run_cases(tests, NULL, NULL);
}
