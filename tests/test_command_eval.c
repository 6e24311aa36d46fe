/* test_command_eval.c - the executable: eval beside names and lists. */
#include "people_case.h"

/* Answers of images, beside a truth of others, too, called otherwise. */
static void answers_are_joined_by_name(void **state)
{
  (void)state;
  command c;
  begin(&c);
  put(&c, "truth.csv",
      "image,label\n1_10,cat\n1_2,dog\n2_7,cat\n9_9,dog\n3_1,\n");
  put(&c, "a.csv",
      "image,label,origin,rather,score of cat,score of dog\n"
      "photos/2_7.png,dog,filled,,.1,.9\n"
      "photos/3_1.png,cat,filled,,.9,.1\n"
      "photos/1_2.png,dog,given,,.1,.9\n"
      "photos/1_10.png,cat,filled,,.9,.1\n"
      "photos/new.png,cat,filled,,.9,.1\n");
  command_run(&c, "eval accuracy --truth truth.csv --id image --target label "
                  "--scores a.csv");
  command_expect(&c, 0,
                 "a.csv: rows were joined by name with truth.csv; 1 of "
                 "truth.csv are not in it; 1 rows have no such name");
  assert_non_null(strstr(c.out, "accuracy 0.666667\n"));
  assert_non_null(strstr(c.out, "the 2 labels that were filled in alone: "
                                "accuracy 0.500000"));
  put(&c, "truth.csv",
      "image,label\na/1_2.png,dog\nb/1_2.png,cat\n2_7.png,cat\n");
  put(&c, "b.csv", "image,label\n2_7,cat\n1_2,dog\n");
  command_run(&c, "eval accuracy --truth truth.csv --id image --target label "
                  "--scores b.csv");
  command_expect(&c, 4, "truth.csv: several rows are called '1_2', ");
  put(&c, "truth.csv", "image,label\n1_2,dog\n2_7,cat\n");
  put(&c, "b.csv", "image,label\n2_7.png,cat\na/1_2.png,dog\nb/1_2.png,cat\n");
  command_run(&c, "eval accuracy --truth truth.csv --id image --target label "
                  "--scores b.csv");
  command_expect(&c, 4, "b.csv: rows 2 and 3 are both '1_2' of truth.csv");
  for (int more = 0; more < 2; more++) { /* of other rows, as many or not */
    put(&c, "s.csv",
        more ? "image,label,score of dog\n7_7,cat,.1\n"
             : "image,label,score of dog\n7_7,cat,.1\nx,dog,.9\n");
    command_run(&c,
                "eval %s --truth truth.csv --id image --target label "
                "--scores s.csv",
                more ? "accuracy" : "auroc");
    command_expect(&c, 4, "s.csv: none of its rows is one of truth.csv");
    command_run(&c, "eval accuracy --truth truth.csv --id image --target label "
                    "--scores s.csv");
    command_expect(&c, 4, "s.csv: none of its rows is one of truth.csv");
  }
  command_end(&c);
}

/* Lists of labels as label -o writes them, beside a truth of lists in another
 * order of entries, or of columns in another order. */
static void lists_of_labels_are_evaluated(void **state)
{
  (void)state;
  static const struct {
    const char *ask, *said;
  } cases[] = {{"accuracy --truth lists.csv", "accuracy 0.750000\n"},
               {"hamming --truth lists.csv", "hamming 0.125000\n"},
               {"hamming --truth lists.csv",
                "of the 2 labels that were filled in alone: hamming 0.500000"},
               {"f1 --truth lists.csv", "  sea                  0.800000\n"
                                        "  sun                  1.000000\n"},
               {"auroc --truth lists.csv", "  sea                  0.666667\n"
                                           "  sun                  1.000000\n"},
               {"accuracy --truth columns.csv", "accuracy 0.750000\n"},
               {"hamming --truth columns.csv",
                "of the 2 labels that were filled in alone: hamming 0.500000"},
               {"f1 --truth columns.csv", "  sun                  1.000000\n"
                                          "  sea                  0.800000\n"},
               {"auroc --truth columns.csv",
                "  sun                  1.000000\n"
                "  sea                  0.666667\n"}};
  command c;
  begin(&c);
  put(&c, "lists.csv", "image,what\na,sun; sea\nb,sun\nc,sea\nd,sun;sea\ne,\n");
  put(&c, "columns.csv", "image,sun,sea\na,1,1\nb,1,0\nc,0,1\nd,1,1\ne,,\n");
  put(&c, "a.csv",
      "image,label,origin,rather,origin of sea,origin of sun,score of sea,"
      "score of sun\n"
      "a,sea;sun,given,,given,given,1,.8\n"
      "b,sun,given,,given,given,-.5,.9\n"
      "c,sea,given,,given,given,2,-1\n"
      "d,sun,filled,,filled,filled,-1,.7\n"
      "e,sea,filled,,filled,filled,1,-1\n");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    command_run(&c, "eval %s --id image --scores a.csv", cases[i].ask);
    command_expect(&c, 0, "");
    if (strstr(c.out, cases[i].said) == NULL)
      fail_msg("%s: '%s'", cases[i].ask, c.out);
  }
  put(&c, "more.csv", "image,what\na,sun;sea\nb,sun;tree\nc,sea\nd,sun\ne,\n");
  command_run(&c, "eval auroc --truth more.csv --id image --scores a.csv");
  command_expect(&c, 4,
                 "a.csv: has no column \"score of tree\", and the truth "
                 "has that label");
  command_end(&c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(answers_are_joined_by_name),
      cmocka_unit_test(lists_of_labels_are_evaluated),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
