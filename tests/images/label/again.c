/* lapis label --again: who answered in an earlier run answers, with other
 * labels, and nothing is compared. */
#include "label_case.h"
#include "remarks.h"

static const char *const two[] = {"flat", "upright"};
#define RUN CHOOSING " --cache kept --threads 1 "

static int64_t compared(const command *c, const char *name)
{
  lapis_arrays all;
  command_arrays(c, name, &all);
  const lapis_array *a = lapis_arrays_find(&all, "candidates");
  int64_t count = a == NULL ? 0 : a->mat.cols;
  lapis_arrays_free(&all);
  return count;
}

/* Of the same labels it says the same to the bit, as does that run again. */
static void the_same_study_again(void **state)
{
  static const char *const same[] = {"scores", "probabilities", "labels",
                                     "known",  "held_out",      "choice"};
  command c;
  begin_stripes(&c, 2);
  write_labels(&c, two, 2, 14);
  command_do(&c, RUN "--result a.npz -q");
  CHECK_AT_LEAST((double)compared(&c, "a.npz"), 5);
  command_run(&c, RUN "--again a.npz --result b.npz");
  command_expect(&c, 0, ANSWERS_AGAIN);
  assert_null(strstr(c.err, "candidate"));
  command_do(&c, RUN "--again b.npz --result c.npz -q");
  for (size_t k = 0; k < sizeof same / sizeof *same; k++) {
    assert_true(command_same(&c, "a.npz", "b.npz", same[k]) > 0);
    assert_true(command_same(&c, "b.npz", "c.npz", same[k]) > 0);
  }
  CHECK_AT_MOST((double)compared(&c, "b.npz"), 4);
  write_labels(&c, two, 2, 18);
  command_do(&c, RUN "--again b.npz");
  for (int i = 18; i < IMAGES; i++) table_says(&c, i, two[i % 2]);
  command_end(&c);
}

static void what_it_cannot_go_on_from(void **state)
{
  command c;
  begin_stripes(&c, 2);
  write_labels(&c, two, 2, 14);
  command_do(&c, RUN "--candidates linear --result a.npz -q");
  const command_misuse row[] = {
      {RUN "--again none.npz", 4, "none.npz"},
      {RUN "--again a.npz --candidates mc", 2, "--candidates"},
      {"label in --labels labels.csv --features gist --again a.npz", 4, "gist"},
      {RUN "--again a.npz --map l2", 4, "linear --map standard"},
      {"label in/a00.pgm in/a01.pgm in/a20.pgm --labels two.csv --features hog "
       "--again other.npz",
       4, "other.npz"},
  };
  write_text(&c, "two.csv", "file,what\na00.pgm,flat\na01.pgm,upright\n");
  shell(&c, "mkdir other && cp in/a1*.pgm in/a0*.pgm other");
  command_do(&c, "label other --labels labels.csv --features hog --size 32x32 "
                 "--candidates linear --keep-going --result other.npz -q");
  command_refuses(&c, row, sizeof row / sizeof *row, "-q");
  command_do(&c, RUN "--candidates linear --folds 2 -q --result d.npz");
  command_end(&c);
}

/* The best kinds, too, are found once. */
static void kinds_stay(void **state)
{
  command c;
  begin_stripes(&c, 2);
  write_labels(&c, two, 2, 14);
#define AUTO                                                             \
  "label in --labels labels.csv --features auto --words 27 --count 100 " \
  "--cache kept --threads 1 --candidates linear -q --json "
#define NAMELESS                                                         \
  "label in --labels labels.csv --features auto --words 27 --count 100 " \
  "--cache kept --threads 1 -q --json "
  command_do(&c, AUTO "--result a.npz");
  command_do(&c, NAMELESS "--again a.npz --result b.npz");
  assert_true(command_same(&c, "a.npz", "b.npz", "features") > 0);
  assert_true(command_same(&c, "a.npz", "b.npz", "scores") > 0);
  command_end(&c);
}

int test_again(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_same_study_again),
      cmocka_unit_test(what_it_cannot_go_on_from),
      LONG(cmocka_unit_test(kinds_stay)),
  };
  return run_cases(tests, NULL, NULL);
}
