/* eval.c - the executable: eval beside names and lists. */
#include "command/verbs/people_case.h"
#include "remarks.h"

/* Answers of images, beside a truth of others, too, called otherwise. */
static void answers_are_joined_by_name(void **state)
{
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
  command_expect(&c, 0, "a.csv: " JOINED_WITH "truth.csv");
  assert_non_null(strstr(c.out, "accuracy 0.666667\n"));
  assert_non_null(strstr(c.out, "the 2 labels that were filled in alone: "
                                "accuracy 0.500000"));
  put(&c, "truth.csv",
      "image,label\na/1_2.png,dog\nb/1_2.png,cat\n2_7.png,cat\n");
  put(&c, "b.csv", "image,label\n2_7,cat\n1_2,dog\n");
  command_run(&c, "eval accuracy --truth truth.csv --id image --target label "
                  "--scores b.csv");
  command_expect(&c, 4, "1_2 truth.csv");
  put(&c, "truth.csv", "image,label\n1_2,dog\n2_7,cat\n");
  put(&c, "b.csv", "image,label\n2_7.png,cat\na/1_2.png,dog\nb/1_2.png,cat\n");
  command_run(&c, "eval accuracy --truth truth.csv --id image --target label "
                  "--scores b.csv");
  command_expect(&c, 4, "1_2 b.csv 2 3 truth.csv");
  for (int more = 0; more < 2; more++) { /* of other rows, as many or not */
    put(&c, "s.csv",
        more ? "image,label,score of dog\n7_7,cat,.1\n"
             : "image,label,score of dog\n7_7,cat,.1\nx,dog,.9\n");
    command_run(&c,
                "eval %s --truth truth.csv --id image --target label "
                "--scores s.csv",
                more ? "accuracy" : "auroc");
    command_expect(&c, 4, "s.csv truth.csv");
    command_run(&c, "eval accuracy --truth truth.csv --id image --target label "
                    "--scores s.csv");
    command_expect(&c, 4, "s.csv truth.csv");
  }
  command_end(&c);
}

static const char LISTS[] = "image,what\na,sun; sea\nb,sun\nc,sea\n"
                            "d,sun;sea\ne,\n";
static const char COLUMNS[] = "image,sun,sea\na,1,1\nb,1,0\nc,0,1\nd,1,1\n"
                              "e,,\n";
static const char SWAPPED[] = "image,sea,sun\na,1,1\nb,0,1\nc,1,0\nd,1,1\n"
                              "e,,\n";

/* Lists of labels as label -o writes them, beside a truth of lists in another
 * order of entries, or of columns in another order. */
static void lists_of_labels_are_evaluated(void **state)
{
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
  put(&c, "lists.csv", LISTS);
  put(&c, "columns.csv", COLUMNS);
  put(&c, "a.csv",
      "image,label,origin,rather,origin of sea,origin of sun,score of sea,"
      "score of sun\n"
      "a,sea;sun,given,,given,given,1,.8\n"
      "b,sun,given,,given,given,-.5,.9\n"
      "c,sea,given,,given,given,2,-1\n"
      "d,sun,filled,,filled,filled,-1,.7\n"
      "e,sea,filled,,filled,filled,1,-1\n");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    command_do(&c, "eval %s --id image --scores a.csv", cases[i].ask);
    if (strstr(c.out, cases[i].said) == NULL)
      fail_msg("%s: '%s'", cases[i].ask, c.out);
  }
  put(&c, "more.csv", "image,what\na,sun;sea\nb,sun;tree\nc,sea\nd,sun\ne,\n");
  command_run(&c, "eval auroc --truth more.csv --id image --scores a.csv");
  command_expect(&c, 4, "a.csv truth");
  command_end(&c);
}

/* Scores of five images as label --result writes them; classes: two names, or
 * NULL for an archive that does not say. */
static void put_archive(const command *c, const char *const *classes)
{
  static const char *const names[] = {"a", "b", "c", "d", "e"};
  double scores[] = {.8, 1, .9, -.5, -1, 2, .7, -1, -1, 1};
  char path[160];
  lapis_named item[] = {
      {.name = "scores", .mat = lapis_mat_f64(scores, 2, 5)},
      {.name = "names", .mat = lapis_mat_text(names, 1, 5), .flat = true},
      {.name = "classes", .flat = true}};
  if (classes != NULL) item[2].mat = lapis_mat_text(classes, 1, 2);
  lapis_ctx *ctx = lapis_ctx_new();
  snprintf(path, sizeof path, "%s/a.npz", c->folder);
  assert_int_equal(
      lapis_arrays_write(ctx, path, "npz", item, classes == NULL ? 2 : 3),
      LAPIS_OK);
  lapis_ctx_free(ctx);
}

static void expect_sun_and_sea(const command *c)
{
  if (strstr(c->out, "  sun                  1.000000\n") == NULL ||
      strstr(c->out, "  sea                  0.666667\n") == NULL)
    fail_msg("'%s'", c->out);
}

/* The rows of an archive are of its classes, whose order is nobody else's. */
static void rows_of_an_archive_go_by_its_classes(void **state)
{
  static const char *const classes[] = {"sun", "sea"}, *const others[] = {
                                                           "sun", "lake"};
  static const char *const truths[] = {LISTS, COLUMNS, SWAPPED};
  static const char *const files[] = {"a.npz", "a.npz:scores"};
  command c;
  begin(&c);
  for (int i = 0; i < 6; i++) {
    put_archive(&c, classes);
    put(&c, "truth.csv", truths[i % 3]);
    command_do(&c, "eval auroc --truth truth.csv --id image --scores %s",
               files[i / 3]);
    expect_sun_and_sea(&c);
    put_archive(&c, others);
    command_run(&c, "eval auroc --truth truth.csv --id image --scores %s",
                files[i / 3]);
    command_expect(&c, 4, "sea truth");
  }
  put_archive(&c, NULL);
  put(&c, "truth.csv", LISTS);
  command_run(&c, "eval auroc --truth truth.csv --id image --scores a.npz");
  command_expect(&c, 4, "classes a.npz scores");
  put(&c, "truth.csv", COLUMNS); /* by their places, as nothing is named */
  command_do(&c, "eval auroc --truth truth.csv --id image --scores a.npz");
  expect_sun_and_sea(&c);
  command_end(&c);
}

/* Columns "probability of L" as fit mc and fit linear write them. */
static void probabilities_go_by_their_titles(void **state)
{
  static const char *const truths[] = {LISTS, COLUMNS, SWAPPED};
  command c;
  begin(&c);
  for (int i = 0; i < 3; i++) {
    put(&c, "truth.csv", truths[i]);
    for (int of = 0; of < 3; of++) {
      static const char *const sea[] = {"probability of sea", "score of sea",
                                        "probability of lake"};
      char table[1000];
      snprintf(table, sizeof table,
               "image,label,%s,probability of sun\na,sea;sun,1,.8\n"
               "b,sun,.3,.9\nc,sea,1,.1\nd,sun,.2,.7\ne,sea,1,.1\n",
               sea[of]);
      put(&c, "a.csv", table);
      command_run(&c, "eval auroc --truth truth.csv --id image --scores a.csv");
      command_expect(&c, of < 2 ? 0 : 4,
                     of < 2 ? ""
                            : "a.csv: has no column \"score of sea\" or "
                              "\"probability of sea\", and the truth has that "
                              "label");
      if (of < 2) expect_sun_and_sea(&c);
    }
  }
  put(&c, "a.csv", /* of a fit that takes a list for one class */
      "image,label,probability of sea,probability of sea;sun,"
      "probability of sun\na,sea;sun,.1,.8,.1\nb,sun,.1,.2,.7\n"
      "c,sea,.8,.1,.1\nd,sun,.1,.1,.8\ne,sea,.8,.1,.1\n");
  for (int i = 0; i < 3; i++) {
    put(&c, "truth.csv", truths[i]);
    command_run(&c, "eval auroc --truth truth.csv --id image --scores a.csv");
    command_expect(&c, 4, "sea;sun a.csv scores 0 1");
  }
  put(&c, "a.csv", /* of data whose targets have no names */
      "image,label 1,label 2,score of 1,score of 2\na,1,1,.8,1\n"
      "b,1,0,.9,.3\nc,0,1,.1,1\nd,1,0,.7,.2\ne,0,1,.1,1\n");
  put(&c, "truth.csv", COLUMNS);
  command_do(&c, "eval auroc --truth truth.csv --id image --scores a.csv");
  expect_sun_and_sea(&c);
  command_end(&c);
}

/* What fit and predict write of columns says which is which, though the truth
 * has them in another order than the fit. */
static void results_go_by_their_columns(void **state)
{
  static const char *const files[] = {"f.npz", "p.npz"};
  command c;
  begin(&c);
  put(&c, "t.csv",
      "image,x,y,sun,sea\na,2,-1,1,0\nb,1,-2,1,0\nc,-1,1,0,1\n"
      "d,-2,2,0,1\ne,1,2,1,1\nf,-1,-1,0,0\n");
  put(&c, "swapped.csv",
      "image,x,y,sea,sun\na,2,-1,0,1\nb,1,-2,0,1\nc,-1,1,1,0\n"
      "d,-2,2,1,0\ne,1,2,1,1\nf,-1,-1,0,0\n");
  command_do(&c, "fit linear t.csv --id image --target sun,sea -q -o f.npz "
                 "--model m.lapis");
  command_do(&c, "predict m.lapis swapped.csv --id image --target sea,sun -q "
                 "-o p.npz");
  for (int i = 0; i < 4; i++) {
    command_do(&c,
               "eval auroc --truth %s --id image --target sun,sea --scores %s",
               i < 2 ? "t.csv" : "swapped.csv", files[i % 2]);
    if (strstr(c.out, "auroc 1.000000\n") == NULL)
      fail_msg("%d: '%s'", i, c.out);
  }
  command_end(&c);
}

static double first_number(const char *text)
{
  return strtod(text + strcspn(text, " "), NULL);
}

/* Tables as fit and predict write them, beside a truth of rows and labels: the
 * three metrics read the same two files; by hand. */
static void log_loss_stands_beside_accuracy_and_auroc(void **state)
{
  command c;
  begin(&c);
  put(&c, "truth.csv", "row,label\n1,yes\n2,no\n3,yes\n4,yes\n");
  put(&c, "two.csv",
      "row,label,origin,rather,probability wrong,probability of yes\n"
      "1,yes,given,,,.8\n2,no,filled,,,.3\n3,no,filled,,,.4\n"
      "4,yes,filled,,,.9\n");
  command_do(&c, "eval log-loss --truth truth.csv --id row --scores two.csv");
  CHECK_NEAR(first_number(c.out), -log(.8 * .7 * .4 * .9) / 4, 1e-6);
  command_do(&c, "eval accuracy --truth truth.csv --id row --scores two.csv");
  CHECK_NEAR(first_number(c.out), .75, 1e-6);
  command_do(&c, "eval auroc --truth truth.csv --id row --scores two.csv");
  CHECK_NEAR(first_number(c.out), 1, 1e-6);
  put(&c, "truth.csv", "row,label\n1,cat\n2,dog\n3,ape\n");
  put(&c, "three.csv",
      "row,label,probability of ape,probability of cat,probability of dog\n"
      "1,cat,.1,.7,.2\n2,ape,.6,.1,.3\n3,ape,.5,.25,.25\n");
  command_do(&c, "eval log-loss --truth truth.csv --id row --scores three.csv");
  CHECK_NEAR(first_number(c.out), -log(.7 * .3 * .5) / 3, 1e-6);
  command_do(&c, "eval accuracy --truth truth.csv --id row --scores three.csv");
  CHECK_NEAR(first_number(c.out), 2. / 3, 1e-6);
  put(&c, "three.csv",
      "row,label,score of ape,score of cat,score of dog\n"
      "1,cat,-1,7,2\n2,ape,6,1,3\n3,ape,5,2,2\n");
  command_run(&c,
              "eval log-loss --truth truth.csv --id row --scores three.csv");
  command_expect(&c, 4, AUROC_OF_SCORES);
  command_end(&c);
}

/* scikit-learn's example by hand, 1 - 1.5 / 29.1875; a column of one value has
 * none, which text, JSON and the mean say. */
static void r2_of_columns(void **state)
{
  command c;
  begin(&c);
  put(&c, "truth.csv", "y,z\n3,4\n-0.5,4\n2,4\n7,4\n");
  put(&c, "said.csv", "y,z\n2.5,4\n0,4\n2,5\n8,4\n");
  command_do(&c, "eval r2 --truth truth.csv --scores said.csv --json");
  lapis_json *v = command_json(c.out);
  CHECK_NEAR(lapis_json_number(v, "mean", NAN), 1 - 1.5 / 29.1875, 1e-15);
  assert_non_null(strstr(c.out, ",\n  null\n"));
  lapis_json_free(v);
  put(&c, "truth.csv", "y\n.1\n.1\n.1\n");
  put(&c, "said.csv", "y\n.1\n.1\n.2\n");
  command_run(&c, "eval r2 --truth truth.csv --scores said.csv --json");
  command_expect(&c, 0, "(0.1), so R^2 is not defined");
  assert_non_null(strstr(c.out, "\"mean\": null"));
  command_end(&c);
}

/* One column has no order: what it is called is not compared. */
static void single_columns_may_be_called_otherwise(void **state)
{
  static const char *const tried[][4] = {
      {"r2", "price\n1.5\n2\n3.25\n", "guess\n1.5\n2\n3.25\n", ""},
      {"auroc", "kind\n0\n1\n1\n", "guess\n0.1\n0.8\n0.9\n", ""},
      {"accuracy", "kind\n0\n1\n1\n", "guess\n0\n1\n1\n", ""},
      {"accuracy", "kind\nu\nv\nu\nv\nu\nu\nv\n",
       "guess\nu\nv\nu\nv\nu\nu\nv\n", ""},
      {"accuracy", "id,kind\na,u\nb,v\nc,u\nd,v\n",
       "id,guess\nb,v\na,u\nd,v\nc,u\n", "--id id --target kind"},
      {"r2", "id,price\na,1.5\nb,2\n", "id,guess\nb,2\na,1.5\n",
       "--id id --target price"}};
  command c;
  begin(&c);
  for (size_t k = 0; k < sizeof tried / sizeof *tried; k++) {
    put(&c, "truth.csv", tried[k][1]);
    put(&c, "said.csv", tried[k][2]);
    command_do(&c, "eval %s --truth truth.csv --scores said.csv %s",
               tried[k][0], tried[k][3]);
    assert_non_null(strstr(c.out, " 1.000000\n"));
  }
  put(&c, "truth.csv", "y,z\n3,4\n5,7\n");
  put(&c, "said.csv", "z,y\n4,3\n7,5\n");
  command_run(&c, "eval r2 --truth truth.csv --scores said.csv");
  command_expect(&c, 4, "'z'");
  command_end(&c);
}

/* An archive of scores of three classes, told apart without a fault. */
static void write_scores(const command *c, const char *name,
                         const char *const classes[3], const double scores[18])
{
  char path[160];
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_named item[] = {
      {.name = "scores",
       .mat = lapis_mat_f64((double *)(uintptr_t)scores, 3, 6)},
      {.name = "class_names",
       .flat = true,
       .mat = lapis_mat_text(classes, 1, 3)}};
  snprintf(path, sizeof path, "%s/%s", c->folder, name);
  assert_int_equal(lapis_arrays_write(ctx, path, "npz", item, 2), 0);
  lapis_ctx_free(ctx);
}

/* One column of single classes: scores go by the names of an archive, in any
 * order; of other names they say nothing. */
static void classes_of_an_archive_go_by_name(void **state)
{
  static const double scores[] = {1, 0, 0, 0, 2, 0, 0, 0, 3,
                                  4, 0, 0, 0, 5, 0, 0, 0, 6};
  static const char *const turned[] = {"dog", "cat", "cow"};
  static const char *const others[] = {"dog", "cat", "emu"};
  command c;
  begin(&c);
  put(&c, "t.csv", "k\ndog\ncat\ncow\ndog\ncat\ncow\n");
  put(&c, "two.csv", "id,x,k\na,1,dog\nb,2,dog\nc,-1,cat\nd,-2,cat\n");
  put(&c, "emu.csv", "id,x,k\na,1,emu\nb,2,emu\nc,-1,dog\nd,-2,dog\n");
  write_scores(&c, "s.npz", turned, scores);
  command_do(&c, "eval auroc --truth t.csv --target k --scores s.npz");
  assert_non_null(strstr(c.out, "auroc 1.000000\n"));
  write_scores(&c, "s.npz", others, scores);
  command_run(&c, "eval auroc --truth t.csv --target k --scores s.npz");
  command_expect(&c, 4, "cow s.npz");
  for (int k = 0; k < 4; k++) { /* of two classes one row of scores */
    const char *to = k % 2 == 0 ? "o.npz" : "o.csv";
    command_do(&c, "fit linear %s.csv --id id --target k -q -o %s",
               k < 2 ? "two" : "emu", to);
    command_run(&c, "eval auroc --truth two.csv --id id --target k --scores %s",
                to);
    if (k < 2)
      command_expect(&c, 0, "");
    else
      command_expect(&c, 4, "emu cat dog scores");
  }
  command_end(&c);
}

/* A table of scores alone, behind names of samples or nothing: no score is
 * taken for these, or for an answer. */
static void a_table_of_scores_alone_is_read(void **state)
{
  static const struct {
    const char *truth, *scores, *id;
  } cases[] = {
      {"id,k\na,dog\nb,cat\nc,cow\nd,dog\n",
       "id,score of dog,score of cat,probability of cow\n"
       "a,3,0,0\nb,0,1,0\nc,0,0,1\nd,4,0,0\n",
       "--id id"},
      {"k\ndog\ncat\ncow\ndog\n",
       "score of dog,score of cat,probability of cow\n"
       "3,0,0\n0,1,0\n0,0,1\n4,0,0\n",
       ""},
      {"k\n7\n5\n8\n7\n",
       "score of 5,score of 7,score of 8\n0,3,0\n1,0,0\n0,0,1\n0,4,0\n", ""},
      {"dog,cat\n1,0\n0,1\n0,0\n1,1\n",
       "score of dog,score of cat\n3,0\n0,1\n0,0\n4,1\n", ""},
  };
  command c;
  begin(&c);
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    put(&c, "t.csv", cases[k].truth);
    put(&c, "s.csv", cases[k].scores);
    command_do(&c, "eval auroc --truth t.csv %s --scores s.csv %s",
               k < 3 ? "--target k" : "", cases[k].id);
    if (strstr(c.out, "auroc 1.000000\n") == NULL)
      fail_msg("%s: %s", cases[k].scores, c.out);
  }
  command_end(&c);
}

/* Names of labels without "score of", and labels that are numbers. */
static void scores_go_by_plain_names_and_numbers(void **state)
{
  static const struct {
    const char *truth, *scores, *refused;
  } cases[] = {
      {"cow\ndog\ncat\n", "dog,cat,cow\n0,0,3\n4,0,0\n0,1,0\n", NULL},
      {"cow\ndog\ncat\n", "dog,emu,cat,cow\n0,9,0,3\n4,9,0,0\n0,9,1,0\n", NULL},
      {"dog\ncat\n", "dog\n1\n0\n", NULL},
      {"dog\ncat\n", "cat\n1\n0\n", "its scores are of \"cat\""},
      {"3\n2\n4\n",
       "probability of 4,score of 2.0,score of 3\n"
       "0,0,1\n0,1,0\n1,0,0\n",
       NULL},
      {"3\n2\n4\n", "4,2,3\n0,0,1\n0,1,0\n1,0,0\n", NULL},
      {"3\n2\n4\n",
       "score of 3,score of 1,score of 2\n"
       "1,0,0\n0,0,1\n0,1,0\n",
       "s.csv: has no column \"score of 4\""},
      /* by place: counted, and words for numbers */
      {"4\n0\n5\n",
       "name,k,score of 1,score of 2,score of 3\n"
       "a,4,0,1,0\nb,0,1,0,0\nc,5,0,0,1\n",
       NULL},
      {"1\n0\n2\n",
       "name,k,score of cow,score of ant,score of bee\n"
       "a,1,0,1,0\nb,0,1,0,0\nc,2,0,0,1\n",
       NULL},
      {"cow\ndog\n", "dog,cat,cow\n0,0,3\n4,0,0\n",
       "s.csv: the truth has two labels, cow and dog, and the scores are of "
       "3; give one column of scores, of dog against cow, or a truth that has "
       "every class"},
      {"3\n2\n", "score of 2,score of 3,score of 4\n0,3,0\n4,0,0\n",
       "s.csv: the truth has two labels, 2 and 3, and the scores are of 3"},
  };
  command c;
  begin(&c);
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char truth[64];
    (void)snprintf(truth, sizeof truth, "k\n%s", cases[k].truth);
    put(&c, "t.csv", truth);
    put(&c, "s.csv", cases[k].scores);
    command_run(&c, "eval auroc --truth t.csv --scores s.csv --header yes");
    if (cases[k].refused != NULL) {
      command_expect(&c, 4, cases[k].refused);
      continue;
    }
    command_expect(&c, 0, "");
    if (strstr(c.out, "auroc 1.000000\n") == NULL)
      fail_msg("%s: %s", cases[k].scores, c.out);
  }
  put(&c, "d.csv", "x,k\n1,2\n2,3\n3,4\n1.1,2\n2.1,3\n3.1,4\n");
  command_do(&c, "fit trees d.csv --target k -q -o s.npz");
  put(&c, "t.csv", "x,k\n1,2\n2,5\n3,4\n1.1,2\n2.1,5\n3.1,4\n");
  command_do(&c, "eval auroc --truth d.csv --target k --scores s.npz --json");
  assert_non_null(strstr(c.out, "\"2\""));
  command_run(&c, "eval auroc --truth t.csv --target k --scores s.npz");
  command_expect(&c, 4, "5 s.npz");
  command_end(&c);
}

/* Codes of an archive have names of their own, which may be numbers, too; and
 * answers may count from 0 what the truth calls something. */
static void codes_go_by_place(void **state)
{
  enum { CLASSES = 3, SAMPLES = 12 };
  static const char *const names[][CLASSES] = {
      {"2", "0", "1"}, {"3", "5", "8"}, {"10", "20", "3"}};
  double X[SAMPLES], Y[SAMPLES];
  char path[160];
  command c;
  begin(&c);
  lapis_ctx *ctx = lapis_ctx_new();
  for (int j = 0; j < SAMPLES; j++) Y[j] = X[j] = j % CLASSES;
  snprintf(path, sizeof path, "%s/d.npz", c.folder);
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    lapis_named item[] = {
        {.name = "X", .mat = lapis_mat_f64(X, 1, SAMPLES)},
        {.name = "Y", .mat = lapis_mat_f64(Y, 1, SAMPLES)},
        {.name = "class_names", .mat = lapis_mat_text(names[k], 1, CLASSES)}};
    assert_int_equal(lapis_arrays_write(ctx, path, "npz", item, 3), 0);
    for (int table = 0; table < 2; table++) {
      const char *to = table ? "s.csv" : "s.npz";
      command_do(&c, "fit trees d.npz -q -o %s", to);
      for (int member = 0; member < 2; member++) {
        command_do(&c, "eval auroc --truth d.npz%s --scores %s",
                   member ? ":Y" : "", to);
        assert_non_null(strstr(c.out, "auroc 1.000000\n"));
      }
    }
  }
  put(&c, "x.csv", "x\n0\n1\n2\n0\n1\n2\n");
  put(&c, "y.csv", "y\n0\n1\n2\n0\n1\n2\n");
  put(&c, "w.csv", "y\na\nb\nc\na\nb\nc\n");
  command_do(&c, "fit trees -X x.csv -Y y.csv -q -o s.csv");
  command_slurp(&c, "s.csv", c.out, sizeof c.out);
  assert_non_null(strstr(c.out, "probability of 0"));
  command_do(&c, "eval auroc --truth w.csv --target y --scores s.csv");
  assert_non_null(strstr(c.out, "auroc 1.000000\n"));
  lapis_ctx_free(ctx);
  command_end(&c);
}

/* Where the truth's labels are texts, so are those of the answers; where they
 * are one number in another spelling, that is said. */
static void two_spellings_are_told(void **state)
{
  (void)state;
  static const char *const tried[][3] = {{"01234", "02110", "1234"},
                                         {"1.10", "1.1", "1.100"},
                                         {"007", "07", "7"},
                                         {"0x", "x0", NULL}};
  command c;
  char text[400];
  command_begin(&c);
  for (size_t k = 0; k < sizeof tried / sizeof *tried; k++) {
    const char *const *of = tried[k], *other = of[2] != NULL ? of[2] : "x1";
    snprintf(text, sizeof text, "id,code\na,%s\nb,%s\nc,%s\nd,%s\n", of[0],
             of[1], of[0], of[1]);
    command_write(&c, "t.csv", text, strlen(text));
    snprintf(text, sizeof text, "id,code\na,%s\nb,%s\nc,%s\nd,%s\n", other,
             of[1], of[0], of[1]);
    command_write(&c, "s.csv", text, strlen(text));
    command_run(&c, "eval accuracy --truth t.csv --id id --target code "
                    "--scores s.csv");
    command_expect(&c, 0, "");
    if (strstr(c.out, "accuracy 0.75") == NULL) fail_msg("%s", c.out);
    assert_int_equal(strstr(c.err, TWO_SPELLINGS) != NULL, of[2] != NULL);
  }
  command_end(&c);
}

/* Words are no numbers, a class is the one that is asked for, and what can
 * hardly be meant is said. */
static void what_is_compared_is_what_is_meant(void **state)
{
  static const struct {
    const char *truth, *answers, *metric, *said;
    int code;
    const char *out;
  } tried[] = {
      {"1.5,2.5,-,4.5", "1.5,2.5,3.5,4.5", "r2", "t.csv:4 \"-\" missing", 4,
       ""},
      {"1.5,2.5,-,4.5", "1.5,2.5,3.5,4.5", "r2 --missing=-", "", 0,
       "r2 1.000000"},
      {"1.5,k.A.,k.A.,4.5", "1.5,2.5,3.5,4.5", "rmse", "\"k.A.\"", 4, ""},
      {"ja,nein,ja,ja", "1,2,3,4", "rmse", HOLDS_WORDS, 4, ""},
      {"ja,nein,ja,ja", "ja,nein,nein,nein", "f1", "", 0,
       "f1 0.500000\n  of the class nein"},
      {"ja,nein,ja,ja", "ja,nein,nein,nein", "f1 --positive ja", "", 0,
       "f1 0.500000\n  of the class ja"},
      {"ja,nein,ja,ja", "ja,nein,nein,ja", "f1 --positive ja", "", 0,
       "f1 0.800000\n  of the class ja"},
      {"ja,nein,ja,ja", "ja,nein,nein,ja", "f1 --positive dog", "not \"dog\"",
       4, ""},
      {"ja,nein,ja,ja", "Ja,nein,Ja,Ja", "accuracy", CASE_OR_BLANKS, 0,
       "accuracy 0.250000"},
      {"ja,nein,ja,ja", "yes,no,yes,yes", "accuracy", NO_COMMON_LABEL, 0,
       "accuracy 0.000000"},
      {"1.5,2.5,3.5,4.5", "1.5,2.5,3.5,4.4", "accuracy", THAT_ARE_EQUAL, 0,
       "accuracy 0.750000"}};
  command c;
  (void)state;
  command_begin(&c);
  for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
    for (int f = 0; f < 2; f++) {
      char text[256] = "id,k\n", cells[64], row = 'a';
      strcpy(cells, f == 0 ? tried[i].truth : tried[i].answers);
      for (char *at = strtok(cells, ","); at != NULL; at = strtok(NULL, ","))
        snprintf(text + strlen(text), 64, "%c,%s\n", row++, at);
      command_write(&c, f == 0 ? "t.csv" : "s.csv", text, strlen(text));
    }
    command_run(&c, "eval %s --truth t.csv --id id --target k --scores s.csv",
                tried[i].metric);
    command_expect(&c, tried[i].code, tried[i].said);
    if (strncmp(c.out, tried[i].out, strlen(tried[i].out)) != 0)
      fail_msg("%s: %s", tried[i].metric, c.out);
  }
  command_end(&c);
}

/* 01234 is not 1234, whichever of the two files has numbers alone. */
static void spellings_are_labels_in_either_file(void **state)
{
  static const struct {
    const char *truth, *answers, *said;
  } tried[] = {{"1234,5,1234,5", "01234,5,1234,05", "0.500000"},
               {"01234,5,1234,05", "1234,5,1234,5", "0.500000"},
               {"1234,5,NA,5", "01234,5,1234,5", "0.666667"},
               {"1.1,1.1,2.0,2.0", "1.10,1.1,1.10,1.1", "0.250000"},
               {"1.0,5.0,2.0,5.0", "1,5,2,5", "1.000000"},
               {"1,5,2,5", "1.0,5.0,2.0,5.0", "1.000000"},
               {"7,7,7,7", "07,7,7,7", "0.750000"}};
  command c;
  command_begin(&c);
  for (size_t i = 0; i < sizeof tried / sizeof *tried; i++)
    for (int whole = 0; whole < 3; whole++) {
      for (int f = 0; f < 2; f++) {
        char text[256], cells[64], row = 'r';
        bool sheet = f == 1 && whole > 0; /* as fit -o writes it */
        snprintf(text, sizeof text, "id,kind%s\n",
                 sheet ? ",origin,rather,score of 5" : "");
        strcpy(cells, f == 0 ? tried[i].truth : tried[i].answers);
        for (char *at = strtok(cells, ","); at != NULL; at = strtok(NULL, ","))
          snprintf(text + strlen(text), 64, "%c,%s%s\n", row++, at,
                   sheet ? ",filled,,.5" : "");
        command_write(&c, f == 0 ? "t.csv" : "a.csv", text, strlen(text));
      }
      command_run(&c,
                  "eval accuracy --truth t.csv --id id --target %s --scores "
                  "a.csv",
                  whole == 2 ? "2" : "kind");
      if (!check_has(c.out, tried[i].said))
        fail_msg("%zu, %d: %s%s", i, whole, c.out, c.err);
    }
  command_end(&c);
}

/* Every metric reads the table that fit writes, whatever it tells of answers
 * beside them: their origin, sets, intervals. */
static void every_metric_reads_a_table_of_fit(void **state)
{
  static const char classes[] =
      "id,kind,origin,rather,set,probability of b\n"
      "3,a,filled,,\"a;b\",.4\n1,a,given,,a,.1\n2,b,filled,,b,.8\n";
  static const char kinds[] = "who,kind,cost\n1,a,1\n2,b,2\n3,b,4\n";
  static const struct {
    const char *ask, *truth, *answers, *says, *filled;
  } cases[] = {
      {"accuracy --target kind", kinds, classes, "accuracy 0.666667\n",
       "of the 2 labels that were filled in alone: accuracy 0.500000 (1 "},
      {"f1 --target kind", kinds, classes, "f1 0.666667\n", "alone: f1 "},
      {"hamming --target kind", kinds, classes, "hamming 0.333333\n",
       "alone: hamming 0.500000"},
      {"auroc --target kind", kinds, classes, "auroc 1.000000\n",
       "alone: auroc"},
      {"rae --target cost", kinds,
       "id,cost,origin,low,high\n2,2,given,1,3\n1,1,given,0,2\n"
       "3,3,filled,2,4\n",
       "rae 0.218218\n", "alone: rae 0.250000 (2 "},
      {"r2 --target cost", kinds, /* as predict writes it */
       "id,cost,low,high\n2,2,1,3\n1,1,0,2\n3,4,2,4\n", "r2 1.000000\n", ""},
      {"r2 --target low", "who,low\n1,1\n2,2\n3,4\n", /* a target */
       "id,low,origin,low,high\n2,2,given,8,9\n1,1,given,8,9\n"
       "3,4,given,8,9\n",
       "r2 1.000000\n", "all of these 3 labels were given"},
      {"r2", "who,low,high\n1,1,2\n2,2,9\n3,4,8\n",
       "who,low,high\n1,1,2\n2,2,9\n3,4,8\n", "r2 1.000000\n", ""},
      {"rae --target b", "who,a,b\n1,1,2\n2,2,9\n3,4,8\n", /* one of two */
       "who,a,origin of a,b,origin of b,low of a,high of a,low of b,high of b\n"
       "1,7,given,2,filled,0,1,0,1\n2,7,given,9,given,0,1,0,1\n"
       "3,7,filled,8,given,0,1,0,1\n",
       "rae 0.000000\n", "of the 1 label that was filled in alone"},
  };
  command c;
  begin(&c);
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    put(&c, "t.csv", cases[k].truth);
    put(&c, "s.csv", cases[k].answers);
    command_do(&c, "eval %s --truth t.csv --id who --scores s.csv",
               cases[k].ask);
    if (strstr(c.out, cases[k].says) == NULL ||
        strstr(c.out, cases[k].filled) == NULL)
      fail_msg("%s: '%s'", cases[k].ask, c.out);
  }
  command_end(&c);
}

int test_eval(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(log_loss_stands_beside_accuracy_and_auroc),
      cmocka_unit_test(what_is_compared_is_what_is_meant),
      cmocka_unit_test(two_spellings_are_told),
      cmocka_unit_test(every_metric_reads_a_table_of_fit),
      cmocka_unit_test(answers_are_joined_by_name),
      cmocka_unit_test(lists_of_labels_are_evaluated),
      cmocka_unit_test(rows_of_an_archive_go_by_its_classes),
      cmocka_unit_test(probabilities_go_by_their_titles),
      cmocka_unit_test(results_go_by_their_columns),
      cmocka_unit_test(r2_of_columns),
      cmocka_unit_test(single_columns_may_be_called_otherwise),
      cmocka_unit_test(classes_of_an_archive_go_by_name),
      cmocka_unit_test(a_table_of_scores_alone_is_read),
      cmocka_unit_test(scores_go_by_plain_names_and_numbers),
      cmocka_unit_test(codes_go_by_place),
      cmocka_unit_test(spellings_are_labels_in_either_file),
  };
  return run_cases(tests, NULL, NULL);
}
