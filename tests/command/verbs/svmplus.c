/* svmplus and misvm at the command line: fit, model, predict, refusals. */
#include "command.h"
#include "remarks.h"

/* n rows: x1, x2 (its sum decides), label; P beside it. */
static void write_problem(const command *c, int n)
{
  char x[8192], p[8192];
  int a = 0, b = 0;
  uint64_t seed = 5;
  for (int i = 0; i < n; i++) {
    double u = check_normal(&seed), v = check_normal(&seed);
    int y = u + v > 0;
    a += snprintf(x + a, sizeof x - (size_t)a, "%.4f,%.4f,%d\n", u, v, y);
    b +=
        snprintf(p + b, sizeof p - (size_t)b, "%.4f\n", (y ? 1 : -1) * (u + v));
  }
  command_write(c, "t.csv", x, (size_t)a);
  command_write(c, "p.csv", p, (size_t)b);
}

static void fit_then_predict(void **state)
{
  static const char *const kinds[] = {
      "", "--kernel rbf --kernel-priv rbf",
      "--kernel rbf --kernel-priv linear --formulation original"};
  for (int k = 0; k < 3; k++) {
    command c;
    command_begin(&c);
    write_problem(&c, 40);
    command_do(&c,
               "fit svmplus t.csv --target 3 -P p.csv %s --C 1 --gamma 1 "
               "--tol 1e-8 --model m.lapis --json -o r.npz",
               kinds[k]);
    assert_non_null(strstr(c.out, "\"status\": \"solved\""));
    command_do(&c, "predict m.lapis t.csv --target 3 -o q.npz");
    lapis_arrays one, two;
    command_arrays(&c, "r.npz", &one);
    command_arrays(&c, "q.npz", &two);
    static const char *const names[] = {"scores", "labels"};
    for (int m = 0; m < 2; m++) {
      const lapis_array *f = lapis_arrays_find(&one, names[m]);
      const lapis_array *g = lapis_arrays_find(&two, names[m]);
      assert_non_null(f);
      assert_non_null(g);
      for (int j = 0; j < 40; j++)
        CHECK_NEAR(lapis_mat_at(&f->mat, 0, j), lapis_mat_at(&g->mat, 0, j),
                   1e-9);
    }
    lapis_arrays_free(&one);
    lapis_arrays_free(&two);
    command_end(&c);
  }
}

/* A class of four in a hundred amid the other: the hinge loss is least where
 * none is told to be of it, which is right for 96 and is said. */
static void a_class_that_nothing_is_told_to_be_is_named(void **state)
{
  command c;
  char t[8192];
  int used = sprintf(t, "x1,x2,who\n");
  uint64_t seed = 9;
  for (int i = 0; i < 100; i++)
    used += sprintf(t + used, "%.4f,%.4f,%s\n",
                    check_normal(&seed) + (i % 25 == 0 ? .5 : 0),
                    check_normal(&seed), i % 25 == 0 ? "fraud" : "ok");
  command_begin(&c);
  command_write(&c, "rare.csv", t, (size_t)used);
  static const char *const said =
      "no sample is predicted to be \"fraud\", which 4 "
      "of 100 are";
  command_run(&c, "fit svmplus rare.csv --target who -o r.csv");
  command_expect(&c, 0, said);
  check_says(c.err, "--balanced count --C");
  command_do(&c, "fit svmplus rare.csv --target who -q");
  command_do(&c, "fit svmplus rare.csv --target who --balanced");
  assert_null(strstr(c.err, "no sample"));
  command_run(&c, "fit linear rare.csv --target who --C .01");
  command_expect(&c, 0, said);
  assert_null(strstr(c.err, "--balanced"));
  assert_null(strstr(c.err, "--C")); /* it is given */
  command_end(&c);
}

/* Privileged features beside new samples are ignored, which is said once. */
/* Columns of the table, by -P or --priv, or of a table named with them, are the
 * file of these columns, and no features. */
static void privileged_features_are_columns(void **state)
{
  static const char *const way[] = {
      "x.csv --target y -P p.csv", "t.csv --target y -P p,q",
      "t.csv --target y --priv p,q", "t.csv --target y -P t.csv:p,q",
      "x.csv --target y -P t.csv:p,q"};
  char t[8192] = "a,b,p,q,y\n", x[8192] = "a,b,y\n", p[8192] = "p,q\n";
  command c;
  double first = 0;
  uint64_t seed = 7;
  command_begin(&c);
  for (int j = 0; j < 40; j++) {
    double a = check_normal(&seed), b = check_normal(&seed), s = a + b;
    int y = s + check_normal(&seed) > 0;
    sprintf(t + strlen(t), "%.3f,%.3f,%.3f,%.3f,%d\n", a, b, s, s * s, y);
    sprintf(x + strlen(x), "%.3f,%.3f,%d\n", a, b, y);
    sprintf(p + strlen(p), "%.3f,%.3f\n", s, s * s);
  }
  command_write(&c, "t.csv", t, strlen(t));
  command_write(&c, "x.csv", x, strlen(x));
  command_write(&c, "p.csv", p, strlen(p));
  for (int k = 0; k < 5; k++) {
    double objective;
    command_do(&c, "fit svmplus %s --model m", way[k]);
    assert_non_null(strstr(c.out, "of 2 features, 1 target, 2 privileged f"));
    assert_int_equal(
        sscanf(strstr(c.out, "objective"), "objective %lf", &objective), 1);
    if (k == 0) first = objective;
    CHECK_NEAR(objective, first, 0);
    command_do(&c, "predict m t.csv -o a.csv");
  }
  command_run(&c, "fit svmplus t.csv --target y --priv p,zz");
  command_expect(&c, 2, "no column \"zz\"");
  static const char *const twice[] = {"--priv p,q --drop b,q", "--drop y",
                                      "-G y"};
  for (int k = 0; k < 3; k++) { /* a column has one use */
    command_run(&c, "fit svmplus t.csv --target y %s --C 1", twice[k]);
    assert_int_not_equal(c.code, 0);
    assert_non_null(strstr(c.err, "--drop"));
  }
  command_run(&c, "fit svmplus x.csv --target y -P x.csv:a,b --use a,b");
  assert_int_not_equal(c.code, 0);
  command_run(&c, "fit svmplus -X p.csv -P p.csv -Y t.csv:y");
  command_expect(&c, 4, "P is X");
  command_run(&c, "fit mc t.csv --target y --priv p --mu-rel .1");
  command_expect(&c, 2, "-P");
  command_end(&c);
}

static void predict_refuses_P(void **state)
{
  command c;
  command_begin(&c);
  write_problem(&c, 40);
  command_do(&c, "fit svmplus t.csv --target 3 -P p.csv --model m.lapis");
  command_run(&c, "predict m.lapis t.csv --target 3 -P p.csv");
  command_expect(&c, 2, "svmplus -P");
  command_end(&c);
}

/* Automatic settings of a model without P are read back. */
static void models_without_P(void **state)
{
  command c;
  command_begin(&c);
  write_problem(&c, 12);
  command_write(&c, "y.csv", "1\n1\n1\n1\n1\n1\n0\n0\n0\n0\n0\n0\n", 24);
  command_write(&c, "g.csv", "1\n1\n1\n3\n3\n3\n2\n2\n2\n4\n4\n4\n", 24);
  static const char *const runs[] = {"svmplus -X t.csv -Y y.csv",
                                     "svmplus -X t.csv -Y y.csv --kernel rbf",
                                     "misvm -X t.csv -Y y.csv -G g.csv"};
  for (int k = 0; k < 3; k++) {
    command_do(&c, "fit %s --model m.lapis", runs[k]);
    command_do(&c, "predict m.lapis -X t.csv --scores");
  }
  command_end(&c);
}

static double number_after(const char *text, const char *object,
                           const char *name)
{
  const char *at = strstr(text, object);
  assert_non_null(at);
  at = strstr(at, name);
  assert_non_null(at);
  return strtod(at + strlen(name), NULL);
}

/* --threshold auto is said, is in the JSON, and is what predict goes by. */
static void bags_have_a_threshold(void **state)
{
  command c;
  lapis_arrays one, two;
  command_begin(&c);
  write_problem(&c, 12);
  command_write(&c, "y.csv", "1\n1\n1\n1\n1\n1\n0\n0\n0\n0\n0\n0\n", 24);
  command_write(&c, "g.csv", "1\n1\n1\n3\n3\n3\n2\n2\n2\n4\n4\n4\n", 24);
  command_run(&c,
              "fit misvm -X t.csv -Y y.csv -G g.csv --threshold auto --json "
              "-o r.npz --model m.lapis");
  command_expect(&c, 0, "lapis: misvm: " BAG_RULE);
  const char *set = strstr(c.out, "\"threshold\": \"auto\"");
  assert_non_null(set);
  double said = number_after(c.out, "\"metrics\"", "\"threshold\": ");
  command_do(&c, "predict m.lapis -X t.csv -G g.csv -o q.npz");
  command_arrays(&c, "r.npz", &one);
  command_arrays(&c, "q.npz", &two);
  const lapis_array *t = lapis_arrays_find(&one, "threshold");
  const lapis_array *f = lapis_arrays_find(&two, "bag_scores");
  const lapis_array *b = lapis_arrays_find(&two, "bag_labels");
  assert_true(t != NULL && f != NULL && b != NULL && b->mat.cols == 4);
  double found = lapis_mat_at(&t->mat, 0, 0);
  CHECK_NEAR(said, found, 1e-12);
  for (int k = 0; k < 4; k++)
    assert_true(lapis_mat_at(&b->mat, 0, k) ==
                (lapis_mat_at(&f->mat, 0, k) > found));
  lapis_arrays_free(&one);
  lapis_arrays_free(&two);
  command_do(&c, "fit misvm -X t.csv -Y y.csv -G g.csv --C 1 --json");
  assert_null(strstr(c.err, BAG_RULE));
  assert_null(strstr(c.out, "bag_labels"));
  command_end(&c);
}

/* What is printed beside SVM+ is what the command says of the same data when
 * it is not given P. */
static void cv_says_what_P_is_worth(void **state)
{
  command c;
  command_begin(&c);
  write_problem(&c, 60);
  const char *metric[] = {"auroc", "accuracy"};
  for (int k = 0; k < 2; k++) {
    command_do(&c,
               "cv svmplus t.csv --target 3 --grid C=.01,10 --metric %s "
               "--json",
               metric[k]);
    double alone = number_after(c.out, "\"best\"", "\"mean\": ");
    command_do(&c,
               "cv svmplus t.csv --target 3 -P p.csv --grid C=.01,10 "
               "--grid gamma=.1,1 --metric %s --baseline --json",
               metric[k]);
    CHECK_NEAR(number_after(c.out, "\"without_P\"", "\"mean\": "), alone,
               1e-12);
    double best = number_after(c.out, "\"best\"", "\"mean\": ");
    CHECK_NEAR(number_after(c.out, "\"against_without_P\"", "\"ahead\": "),
               best - alone, 1e-12);
  }
  /* the last lines are verdicts: P that says nothing is left out */
  char noise[60 * 24];
  uint64_t seed = 5;
  size_t used = 0;
  for (int j = 0; j < 60; j++)
    used += (size_t)snprintf(noise + used, sizeof noise - used, "%.6f\n",
                             check_normal(&seed));
  command_write(&c, "noise.csv", noise, used);
  command_do(&c, "cv svmplus t.csv --target 3 -P noise.csv --grid C=1 "
                 "--baseline --metric accuracy");
  assert_non_null(strstr(c.out, "leave P out\n"));
  assert_non_null(strstr(c.out, "\nsvmplus is "));
  assert_int_equal(c.out[strlen(c.out) - 1], '\n');
  command_end(&c);
}

/* Labels of which a third is turned: where no fold tells anything, that is not
 * said of P, and no difference of nothing is shown as one. */
static void nothing_compared_is_said(void **state)
{
  char text[8192];
  int said = 0;
  command c;
  command_begin(&c);
  for (uint64_t seed = 1; seed <= 24; seed++) {
    uint64_t draw = seed;
    int used = sprintf(text, "a,b,c,d,e,f,p,y\n");
    for (int j = 0; j < 60; j++) {
      double first = check_normal(&draw);
      bool turned = check_uniform(&draw) < .33, y = (first > 0) != turned;
      used += sprintf(text + used, "%.3f", first);
      for (int i = 0; i < 5; i++)
        used += sprintf(text + used, ",%.3f", check_normal(&draw));
      used += sprintf(text + used, ",%.2f,%s\n",
                      turned + .1 * check_normal(&draw), y ? "v" : "u");
    }
    command_write(&c, "t.csv", text, (size_t)used);
    command_run(&c, "fit svmplus t.csv --target y --priv p");
    assert_null(strstr(c.err, "0.0000 +- 0.0000"));
    said += strstr(c.err, NOT_SHOWN) != NULL;
  }
  assert_in_range(said, 1, 12);
  command_end(&c);
}

/* The line that cv proposes runs; where no fold was answered it says why, and
 * what is beside it does not change that. */
static void cv_proposes_what_runs(void **state)
{
  char text[4096] = "x,d,p,g,y\n", holes[4096] = "x,z,p,y\n";
  uint64_t seed = 4;
  command c;
  command_begin(&c);
  for (int j = 0; j < 60; j++) {
    double a = check_uniform(&seed), b = check_uniform(&seed);
    const char *y = a > .5 ? "yes" : "no";
    sprintf(text + strlen(text), "%.3f,2020-01-0%d,%.3f,c%d,%s\n", a, 1 + j % 9,
            a + b, j / 3, y);
    char third[16] = "";
    if (j % 7) sprintf(third, "%.3f", a + b);
    sprintf(holes + strlen(holes), "%.3f,%.3f,%s,%s\n", a, b, third, y);
  }
  command_write(&c, "g.csv", text, strlen(text));
  static const char *const options[] = {"--drop d -G g", "--use x -G g",
                                        "--drop d,g"};
  for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
    command_do(&c, "cv svmplus g.csv --target y --priv p --grid C=.1,1 %s",
               options[k]);
    char *line = strstr(c.err, ON_ALL_SAMPLES);
    assert_non_null(line);
    line[strcspn(line, "\n")] = '\0';
    command_do(&c, "%s", strcpy(text, line + strlen(ON_ALL_SAMPLES)));
    assert_non_null(strstr(c.out, "1 privileged feature"));
  }
  command_do(&c, "cv svmplus g.csv --target y --priv p --grid C=1 --drop d,g "
                 "--baseline"); /* P is x and noise: it is in no fit */
  assert_non_null(strstr(c.out, NO_DIFFERENCE_OF_P));
  command_write(&c, "t.csv", holes, strlen(holes));
  for (int k = 0; k < 2; k++) {
    command_run(&c,
                "cv svmplus t.csv --target y --priv p --gamma 1 --grid C=1%s",
                k == 0 ? "" : " --baseline");
    command_expect(&c, 4, "P is NaN at row 1, column 1");
  }
  command_end(&c);
}

/* Few folds say little of how much they vary: 4.3 errors of three are clear, of
 * two there is no verdict. */
static void few_folds_are_seldom_clear(void **state)
{
  command c;
  char line[256];
  command_begin(&c);
  write_problem(&c, 60);
  for (int k = 0; k < 8; k++) {
    snprintf(line, sizeof line,
             "cv svmplus t.csv --target 3 -P p.csv --grid C=%g --folds 3 "
             "--metric accuracy --baseline --json",
             pow(10, k - 5));
    command_do(&c, line);
    double by = number_after(c.out, "\"against_baseline\"", "\"ahead\": ");
    double error = number_after(c.out, "\"against_baseline\"", "\"error\": ");
    bool clear = strstr(strstr(c.out, "\"against_baseline\""), "\"clear\"");
    assert_int_equal(clear, fabs(by) > 4.2 * error);
  }
  command_do(&c, "cv svmplus t.csv --target 3 -P p.csv --grid C=1 --folds 2 "
                 "--baseline");
  assert_non_null(strstr(c.out, TOO_FEW_FOLDS));
  assert_null(strstr(c.out, ": clear"));
  command_end(&c);
}

static void bad_input_is_exit_4(void **state)
{
  command c;
  command_begin(&c);
  write_problem(&c, 12);
  command_write(&c, "short.csv", "1\n2\n", 4);
  command_write(&c, "zero.csv", "0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n", 24);
  command_write(&c, "g.csv", "1\n1\n1\n1\n1\n1\n2\n2\n2\n2\n2\n2\n", 24);
  const char *const bad[][2] = {
      {"svmplus t.csv --target 3 -P short.csv", "samples"},
      {"svmplus t.csv --target 3 -P zero.csv", "zero everywhere"},
      {"svmplus t.csv --target 3 --C 0", "--C is 0"},
      {"svmplus t.csv --target 3 -P p.csv --gamma -1", "--gamma is -1"},
      {"svmplus t.csv", "--target COL names"},
      {"misvm t.csv --target 3", "no group"},
      {"misvm t.csv --target 3 -G g.csv", "mixed labels"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    command_run(&c, "fit %s", bad[i][0]);
    command_expect(&c, 4, bad[i][1]);
  }
  command_end(&c);
}

/* A model of a fit that was cut short says so, to info and to predict; one of a
 * whole fit says nothing, and --max-iters was asked for. */
static void models_know_that_they_were_cut_short(void **state)
{
  command c;
  command_begin(&c);
  write_problem(&c, 40);
  command_run(&c, "fit svmplus t.csv --target 3 -P p.csv --time-limit 1e-9 "
                  "--model m.lapis");
  command_expect(&c, 0, "time-limit");
  command_run(&c, "info m.lapis");
  assert_non_null(strstr(c.out, ENDED_BEFORE));
  command_run(&c, "info m.lapis --json");
  assert_non_null(strstr(c.out, "\"stopped\": \"time-limit\""));
  CHECK_AT_LEAST(strtod(strstr(c.out, "\"stopped_gap\": ") + 15, NULL), .01);
  command_run(&c, "predict m.lapis t.csv --target 3");
  command_expect(&c, 0, MODEL_ENDED_BEFORE);
  command_run(&c, "predict m.lapis t.csv --target 3 -q");
  assert_string_equal(c.err, "");
  command_do(&c, "fit svmplus t.csv --target 3 -P p.csv --model w.lapis");
  command_run(&c, "info w.lapis");
  assert_null(strstr(c.out, "ended"));
  command_run(&c, "predict w.lapis t.csv --target 3");
  assert_string_equal(c.err, "");
  command_run(&c, "fit svmplus t.csv --target 3 -P p.csv --max-iters 0 "
                  "--model n.lapis -q");
  command_run(&c, "info n.lapis");
  assert_non_null(strstr(c.out, "(max-iters"));
  command_run(&c, "predict n.lapis t.csv --target 3");
  assert_string_equal(c.err, "");
  command_end(&c);
}

/* Bags b0 .. b19 of three, in words: a table with them, their column alone with
 * its title, and the table without them. */
static void write_bags(const command *c)
{
  enum { BAGS = 20 };
  char with[8000] = "bag,x,y,z,label\n", alone[2000] = "bag\n";
  char without[8000] = "x,y,z,label\n", row[100];
  char words[8000] = "bag,x,y,z,label\n";
  uint64_t seed = 8;
  for (int k = 0; k < 3 * BAGS; k++) {
    int bag = k % BAGS; /* those of a bag do not stand together */
    snprintf(row, sizeof row, "%.4f,%.4f,%.4f,%d\n",
             check_normal(&seed) + 2 * (bag % 2), check_normal(&seed),
             check_normal(&seed), bag % 2);
    sprintf(with + strlen(with), "b%d,%s", bag, row);
    sprintf(without + strlen(without), "%s", row);
    sprintf(words + strlen(words), "b%d,%.*s,%s\n", bag,
            (int)(strrchr(row, ',') - row), row, bag % 2 ? "bad" : "good");
    sprintf(alone + strlen(alone), "b%d\n", bag);
  }
  command_write(c, "with.csv", with, strlen(with));
  command_write(c, "words.csv", words, strlen(words));
  command_write(c, "without.csv", without, strlen(without));
  command_write(c, "alone.csv", alone, strlen(alone));
}

/* The same scores of bags and instances in both results. */
static void same_scores(const command *c, const char *a, const char *b)
{
  assert_int_equal(command_same(c, a, b, "scores"), 60);
  assert_int_equal(command_same(c, a, b, "bag_scores"), 20);
}

/* With the bags as names the table of answers says of each row its bag, that
 * bag's label, as it was given or is decided, and the row's own. */
static void check_bag_columns(command *c)
{
  enum { BAG, LABEL, ORIGIN, RATHER, SCORE, OWN, WHOLE, COLUMNS };
  static char table[16384], open[16384];
  char *cell[COLUMNS];
  int rows = 0, answered = 0;
  command_slurp(c, "words.csv", table, sizeof table);
  open[0] = '\0';
  for (char *line = strtok(table, "\n"); line != NULL;
       line = strtok(NULL, "\n")) {
    bool is_open =
        strncmp(line, "b11,", 4) == 0 || strncmp(line, "b16,", 4) == 0;
    if (is_open) strrchr(line, ',')[1] = '\0';
    sprintf(open + strlen(open), "%s\n", line);
  }
  command_write(c, "open.csv", open, strlen(open));
  command_do(c, "fit misvm open.csv --target label -G bag --id bag --C 1 "
                "-o answers.csv");
  assert_null(strstr(c->err, "warning"));
  command_slurp(c, "answers.csv", table, sizeof table);
  for (char *line = table, *next; *line != '\0'; line = next, rows++) {
    next = strchr(line, '\n') + 1;
    next[-1] = '\0';
    for (int k = 0; k < COLUMNS; k++) {
      cell[k] = line;
      line += strcspn(line, ",");
      if (*line != '\0') *line++ = '\0';
    }
    if (rows == 0) {
      assert_string_equal(cell[OWN], "instance label");
      assert_string_equal(cell[WHOLE], "bag score");
      continue;
    }
    bool is_open =
        strcmp(cell[BAG], "b11") == 0 || strcmp(cell[BAG], "b16") == 0;
    double score = atof(cell[SCORE]), whole = atof(cell[WHOLE]);
    assert_string_equal(cell[ORIGIN], is_open ? "filled" : "given");
    assert_true(whole >= score - 1e-9);
    if (is_open) {
      assert_string_equal(cell[LABEL], whole > 0 ? "good" : "bad");
      assert_string_equal(cell[OWN], score > 0 ? "good" : "bad");
    }
    answered += is_open;
  }
  assert_int_equal(rows, 61);
  assert_int_equal(answered, 6);
}

/* Which of two words is positive is said, and can be turned: bad bags are those
 * of which some instance is. */
static void bags_say_which_is_positive(void **state)
{
  command c;
  static char table[16384];
  command_begin(&c);
  write_bags(&c);
  command_do(&c, "fit misvm with.csv --target label -G bag --C 1 -o c.npz");
  assert_non_null(strstr(c.err, IS_POSITIVE "\"1\""));
  command_do(&c, "fit misvm words.csv --target label -G bag --C 1 -o w.npz");
  assert_non_null(strstr(c.err, IS_POSITIVE "\"good\""));
  command_do(&c,
             "fit misvm words.csv --target label -G bag --C 1 --positive bad "
             "-o w.npz --model w.lapis");
  assert_non_null(strstr(c.err, IS_POSITIVE "\"bad\""));
  same_scores(&c, "c.npz", "w.npz");
  command_do(&c, "predict w.lapis words.csv -G bag -o p.csv");
  command_slurp(&c, "p.csv", table, sizeof table);
  assert_non_null(strstr(table, "score of bad"));
  check_bag_columns(&c);
  command_do(&c, "cv misvm words.csv --target label -G bag --groups --folds 2 "
                 "--grid C=1 --positive bad");
  command_run(&c, "eval auroc --truth words.csv:label --scores w.npz");
  command_expect(&c, 4, "--positive bad");
  command_do(&c, "eval auroc --truth words.csv:label --scores w.npz "
                 "--positive bad");
  double of_words = strtod(c.out + strlen("auroc "), NULL);
  command_do(&c, "eval auroc --truth with.csv:label --scores c.npz");
  CHECK_NEAR(of_words, strtod(c.out + strlen("auroc "), NULL), 1e-12);
  command_run(&c, "fit misvm words.csv --target label -G bag --positive bda");
  command_expect(&c, 2, "bda");
  command_run(&c, "fit misvm with.csv --target label -G bag --positive 0");
  command_expect(&c, 2, OF_NUMBERS_LARGER);
  command_end(&c);
}

/* -G names a column of the table as well as a file, in every verb, and a file
 * of one column may have a title. */
static void bags_are_a_column(void **state)
{
  command c;
  command_begin(&c);
  write_bags(&c);
  command_do(&c, "fit misvm without.csv --target label -G alone.csv --C 1 "
                 "--threshold auto --model f.lapis -o f.npz");
  command_do(&c, "fit misvm with.csv --target label -G bag --C 1 "
                 "--threshold auto --model c.lapis -o c.npz");
  same_scores(&c, "f.npz", "c.npz");
  command_do(&c, "fit misvm -X with.csv --target label -G with.csv:bag --drop "
                 "bag --C 1 --threshold auto -o d.npz");
  same_scores(&c, "f.npz", "d.npz");
  command_do(&c, "predict f.lapis without.csv -G alone.csv -o p.npz");
  command_do(&c, "predict c.lapis with.csv -G bag -o q.npz");
  same_scores(&c, "p.npz", "q.npz");
  command_do(&c, "predict f.lapis with.csv -G bag -o q.npz");
  same_scores(&c, "p.npz", "q.npz");
  command_do(&c, "cv misvm with.csv --target label -G bag --groups --folds 2 "
                 "--grid C=1,10");
  command_run(&c, "fit misvm with.csv --target label -G bga");
  command_expect(&c, 2, "bga bag -G with.csv");
  command_run(&c, "fit misvm - --target label -G bag");
  command_expect(&c, 2, "-G");
  command_do(&c, "fit misvm without.csv --target label -G alone.csv:1 --C 1 "
                 "--threshold auto -o e.npz");
  same_scores(&c, "f.npz", "e.npz");
  command_run(&c, "fit misvm with.csv --target label -G alone.csv --header no "
                  "--drop bag");
  command_expect(&c, 2, "");
  /* a file stays what it was, and it is said */
  command_run(&c,
              "formats >/dev/null; cp alone.csv bag; %s fit misvm with.csv "
              "--target label -G bag --drop bag --C 1 --threshold auto "
              "-o g.npz",
              getenv("LAPIS_COMMAND"));
  command_expect(&c, 0, "-G bag " FILE_NOT_COLUMN);
  same_scores(&c, "f.npz", "g.npz");
  command_end(&c);
}

/* Features of very different sizes as they are: rounding ends the solve with
 * nothing proved, which is a failure and leaves no model; standardised they are
 * solved. */
static void nothing_proved_is_a_failure(void **state)
{
  enum { MANY = 120, WIDE = 6 };
  static const double size[WIDE] = {1e9, 1e9, 1e10, 1e11, 1e12, 1e13};
  static char text[20000];
  uint64_t seed = 3;
  int used = sprintf(text, "a,b,c,d,e,f,y\n");
  command c;
  command_begin(&c);
  for (int j = 0; j < MANY; j++) {
    double first = 0;
    for (int i = 0; i < WIDE; i++) {
      double x = size[i] * (1 + check_normal(&seed));
      if (i == 0) first = x;
      used += sprintf(text + used, "%.6g,", x);
    }
    used += sprintf(text + used, "%d\n", first + check_normal(&seed) > 1);
  }
  command_write(&c, "t.csv", text, (size_t)used);
  command_run(&c, "fit svmplus t.csv --target y --scale none --model m.lapis "
                  "-o o.npz");
  command_expect(&c, 1, "");
  check_says(c.err, "--map");
  assert_false(command_exists(&c, "m.lapis"));
  assert_false(command_exists(&c, "o.npz"));
  command_run(&c, "fit svmplus t.csv --target y -o o.npz --json");
  command_expect(&c, 0, "standardised inside");
  assert_non_null(strstr(c.out, "\"scale\": \"standard\""));
  command_do(&c, "fit svmplus t.csv --target y --map standard --model m.lapis");
  assert_true(command_exists(&c, "m.lapis"));
  command_end(&c);
}

/* Not even where single precision, which looks first, cannot hold it. */
static void an_indefinite_kernel_is_refused(void **state)
{
  static const char *const kernel[] = {
      "1,2,0,0\n2,1,0,0\n0,0,1,2\n0,0,2,1\n",
      "1e39,2e39,0,0\n2e39,1e39,0,0\n0,0,1e39,2e39\n0,0,2e39,1e39\n"};
  command c;
  command_begin(&c);
  command_write(&c, "y.csv", "1\n0\n1\n0\n", 8);
  command_write(&c, "p.csv", "1\n2\n3\n5\n", 8);
  for (int k = 0; k < 2; k++) {
    command_write(&c, "k.csv", kernel[k], strlen(kernel[k]));
    command_run(&c, "fit svmplus -X k.csv -Y y.csv -P p.csv --kernel "
                    "precomputed --formulation l2 -o no.npz");
    assert_int_not_equal(c.code, 0);
    assert_false(command_exists(&c, "no.npz"));
  }
  command_end(&c);
}

int test_svmplus(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fit_then_predict),
      cmocka_unit_test(a_class_that_nothing_is_told_to_be_is_named),
      cmocka_unit_test(privileged_features_are_columns),
      cmocka_unit_test(predict_refuses_P),
      cmocka_unit_test(models_without_P),
      cmocka_unit_test(models_know_that_they_were_cut_short),
      cmocka_unit_test(bags_are_a_column),
      cmocka_unit_test(bags_say_which_is_positive),
      cmocka_unit_test(bags_have_a_threshold),
      cmocka_unit_test(cv_says_what_P_is_worth),
      cmocka_unit_test(nothing_compared_is_said),
      cmocka_unit_test(cv_proposes_what_runs),
      cmocka_unit_test(few_folds_are_seldom_clear),
      cmocka_unit_test(bad_input_is_exit_4),
      cmocka_unit_test(an_indefinite_kernel_is_refused),
      cmocka_unit_test(nothing_proved_is_a_failure)};
  return run_cases(tests, NULL, NULL);
}
