/* The command on tables as people have them, and its answers as tables. */
#include "people_case.h"
#include "remarks.h"

/* What stands in the table is what stands in the .npz. */
static void answers_are_a_table(void **state)
{
  static const char *const tall[] = {"yes", "no", "yes", "no", "yes", "no"};
  static const char *const origin[] = {"given",  "given", "filled",
                                       "filled", "given", "given"};
  command c;
  lapis_arrays all;
  begin(&c);
  command_do(&c, FIT "-o a.csv --model m.lapis");
  command_do(&c, FIT "-o a.npz");
  command_arrays(&c, "a.npz", &all);
  const lapis_mat *scores = &lapis_arrays_find(&all, "scores")->mat;
  assert_string_equal(cell(&c, "a.csv", 0, 0, ','), "name");
  assert_string_equal(cell(&c, "a.csv", 0, 1, ','), "tall");
  assert_string_equal(cell(&c, "a.csv", 0, 4, ','), "score of yes");
  for (int j = 0; j < 6; j++) {
    assert_string_equal(cell(&c, "a.csv", j + 1, 1, ','), tall[j]);
    assert_string_equal(cell(&c, "a.csv", j + 1, 2, ','), origin[j]);
    CHECK_NEAR(number(&c, "a.csv", j + 1, 4), lapis_mat_at(scores, 0, j), 1e-5);
  }
  lapis_arrays_free(&all);
  command_do(&c, "predict m.lapis people.csv --id name --target tall -q "
                 "-o p.tsv");
  assert_string_equal(cell(&c, "p.tsv", 3, 0, '\t'), "eve");
  assert_string_equal(cell(&c, "p.tsv", 3, 1, '\t'), "yes");
  command_end(&c);
}

/* Known cells stay to the letter, and filled ones are in the units of the
 * table, whatever map was between. */
static void empty_cells_are_filled(void **state)
{
  command c;
  begin(&c);
  command_do(&c, FIT "--completed full.csv");
  assert_string_equal(cell(&c, "full.csv", 0, 2, ','), "reach");
  assert_string_equal(cell(&c, "full.csv", 4, 1, ','), "1.60");
  assert_string_equal(cell(&c, "full.csv", 3, 3, ','), "yes");
  assert_string_equal(cell(&c, "full.csv", 4, 3, ','), "no");
  CHECK_NEAR(number(&c, "full.csv", 2, 2), 1.65, 0.05);
  command_do(&c, "fit mc people.csv --id name --target tall --mu-rel .1 -q "
                 "--map l2,sqrt,scale:3 --completed full.csv");
  assert_string_equal(cell(&c, "full.csv", 1, 2, ','), "1.84");
  assert_true(number(&c, "full.csv", 2, 2) > 0);
  command_run(&c, "fit mc people.csv --id name --target tall --mu-rel .1 -q "
                  "--map chi2 -o early.npz --completed full.csv");
  command_expect(&c, 2, ""); /* before any work: */
  assert_non_null(strstr(c.err, "balance"));
  assert_false(command_exists(&c, "early.npz"));
  command_run(&c, "fit mc - --completed full.csv");
  command_expect(&c, 2, "");
  command_run(&c, FIT "--completed full.npz");
  command_expect(&c, 2, "");
  command_end(&c);
}

/* A completed table has the marks between its cells that it had. */
static void marks_between_cells_stay(void **state)
{
  command c;
  begin(&c);
  put(&c, "t.csv", "id;a;b\n1;2;3.5\n2;4.5;\n3;5;9\n4;;13\n");
  command_do(&c, "fit mc t.csv --id id --mu-rel .1 -q --completed full.csv");
  assert_string_equal(cell(&c, "full.csv", 0, 2, ';'), "b");
  assert_string_equal(cell(&c, "full.csv", 2, 1, ';'), "4.5");
  command_do(&c, "fit mc t.csv --id id --mu-rel .1 -q --completed full.tsv");
  assert_string_equal(cell(&c, "full.tsv", 2, 1, '\t'), "4.5");
  command_end(&c);
}

/* As spreadsheets save it: a byte order mark, lines that end by CR and LF. */
static void ends_of_lines_stay(void **state)
{
  static const char *const begins = "\xef\xbb\xbfid;a;b\r\n1;2;3,5\r\n2;4,5;";
  command c;
  begin(&c);
  put(&c, "t.csv",
      "\xef\xbb\xbfid;a;b\r\n1;2;3,5\r\n2;4,5;\r\n3;5;9\r\n4;;13\r\n");
  command_do(&c, "fit mc t.csv --id id --decimal , --mu-rel .1 -q "
                 "--completed full.csv");
  char text[400];
  command_slurp(&c, "full.csv", text, sizeof text);
  assert_memory_equal(text, begins, strlen(begins));
  int lines = 0;
  for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++, lines++)
    assert_int_equal(at[-1], '\r');
  assert_int_equal(lines, 5);
  command_end(&c);
}

/* Without targets -o has other values than were given, and says so. */
static void smoothed_cells_are_told(void **state)
{
  static const char *const said = "w.csv: cells hold smoothed values; "
                                  "--completed F.csv fills only empty cells";
  command c;
  begin(&c);
  put(&c, "t.csv", "a,b,c\n1,2,3.5\n2,4.5,\n3,5,9\n4,,13\n");
  command_run(&c, "fit mc t.csv --mu-rel .1 -o w.csv");
  command_expect(&c, 0, said);
  assert_true(fabs(number(&c, "w.csv", 1, 3) - 3.5) > 1e-6);
  command_do(&c, "fit mc t.csv --mu-rel .1 -q -o w.csv");
  assert_string_equal(c.err, "");
  command_do(&c, "fit mc t.csv --mu-rel .1 -o w.csv --completed full.csv");
  assert_null(strstr(c.err, "smoothed"));
  assert_string_equal(cell(&c, "full.csv", 1, 2, ','), "3.5");
  command_do(&c, FIT "-o w.csv");
  assert_null(strstr(c.err, "smoothed"));
  command_end(&c);
}

static void several_targets_keep_their_texts(void **state)
{
  command c;
  begin(&c);
  put(&c, "m.csv",
      "a,b,c,tree,sky\n1,2,3,yes,no\n2,3,,yes,\n1,1,1,no,yes\n"
      "0,,1,no,no\n2,2,3,,no\n");
  command_do(&c, "fit mc m.csv --target tree,sky --mu-rel .1 -q -o s.csv "
                 "--completed full.csv");
  assert_string_equal(cell(&c, "s.csv", 0, 3, ','), "sky");
  assert_string_equal(cell(&c, "s.csv", 2, 4, ','), "filled");
  assert_string_equal(cell(&c, "s.csv", 5, 1, ','), "yes");
  assert_string_equal(cell(&c, "full.csv", 5, 3, ','), "yes");
  command_do(&c, "eval accuracy --truth m.csv --target tree,sky --scores "
                 "s.csv");
  assert_non_null(strstr(c.out, "accuracy 1.000000\n  all of these 8 labels "
                                "were given; "));
  command_do(&c, "convert m.csv - --as csv --target tree,sky");
  assert_non_null(strstr(c.out, "a,b,c,tree,sky\n1,2,3,yes,no\n2,3,,yes,\n"));
  command_end(&c);
}

/* Two columns of two words each, which are not the same two. */
static void each_target_has_its_own_words(void **state)
{
  static const char *const head =
      "@relation r\n@attribute a numeric\n@attribute b numeric\n"
      "@attribute windy {TRUE, FALSE}\n@attribute play {yes, no}\n@data\n";
  static const char *const rows =
      "1,2,TRUE,no\n2,3,TRUE,\n-1,1,FALSE,yes\n-2,1,FALSE,yes\n2,2,,no\n";
  command c;
  char text[512];
  begin(&c);
  snprintf(text, sizeof text, "a,b,windy,play\n%s", rows);
  put(&c, "w.csv", text);
  snprintf(text, sizeof text, "%s%s", head,
           "1,2,TRUE,no\n2,3,TRUE,?\n-1,1,FALSE,yes\n-2,1,FALSE,yes\n"
           "2,2,?,no\n");
  put(&c, "w.arff", text);
  static const char *const files[] = {"w.csv", "w.arff"};
  for (int k = 0; k < 2; k++) {
    command_do(&c,
               "fit mc %s --target play,windy --mu-rel .01 -q -o s.csv "
               "--model w.lapis",
               files[k]);
    assert_string_equal(cell(&c, "s.csv", 0, 1, ','), "windy");
    assert_string_equal(cell(&c, "s.csv", 0, 3, ','), "play");
    assert_string_equal(cell(&c, "s.csv", 1, 1, ','), "TRUE");
    assert_string_equal(cell(&c, "s.csv", 3, 1, ','), "FALSE");
    assert_string_equal(cell(&c, "s.csv", 5, 1, ','), "TRUE"); /* filled */
    assert_string_equal(cell(&c, "s.csv", 2, 3, ','), "no");   /* filled */
    assert_string_equal(cell(&c, "s.csv", 3, 3, ','), "yes");
    command_do(&c, "predict w.lapis %s --target play,windy -q -o p.csv",
               files[k]);
    assert_string_equal(cell(&c, "p.csv", 1, 1, ','), "TRUE");
    assert_string_equal(cell(&c, "p.csv", 1, 2, ','), "no");
    assert_string_equal(cell(&c, "p.csv", 3, 2, ','), "yes");
    command_do(&c,
               "eval accuracy --truth %s --target play,windy --scores p.csv",
               files[k]);
    assert_non_null(strstr(c.out, "accuracy 1.000000"));
    command_do(&c, "convert %s w.npz --target play,windy", files[k]);
    command_do(&c, "convert w.npz - --as csv");
    assert_non_null(strstr(c.out, "2,3,TRUE,\n-1,1,FALSE,yes\n"));
  }
  put(&c, "three.csv", "a,size,play\n1,S,no\n2,M,yes\n3,L,yes\n");
  command_run(&c, "fit mc three.csv --target size,play --mu-rel .1");
  command_expect(&c, 4, "S M L");
  command_end(&c);
}

/* A temperature is no class; codes of classes are, whatever their number. */
static void numbers_as_classes_are_warned_of(void **state)
{
  static const char *const said = "; rr is for numbers";
  static const struct {
    const char *values[8];
    bool warned;
  } columns[] = {
      {{"64", "85", "70", "68", "72", "69", "70", "?"}, true}, /* once */
      {{"1.5", "2", "1.5", "2", "3", "3", "1.5", "?"}, true},  /* fractions */
      {{"90", "90", "150", "200", "200", "300", "150", "?"}, false}, /* few */
      {{"1", "2", "3", "1", "2", "3", "3", "?"}, false},
      {{"-1", "1", "1", "-1", "1", "-1", "1", "?"}, false},
      {{"0.5", "1", "1", "0.5", "1", "0.5", "1", "?"}, false}};
  command c;
  begin(&c);
  for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
    char text[1000];
    int used = sprintf(text, "@relation w\n@attribute a real\n@attribute b "
                             "real\n@attribute t numeric\n@data\n");
    for (int j = 0; j < 8; j++)
      used += sprintf(text + used, "%d,%d,%s\n", j, j * j % 5,
                      columns[k].values[j]);
    put(&c, "w.arff", text);
    command_run(&c, "fit mc w.arff --target t --mu-rel .1");
    command_expect(&c, 0, columns[k].warned ? said : "");
    if ((strstr(c.err, said) != NULL) != columns[k].warned)
      fail_msg("column %zu: '%s'", k, c.err);
    command_do(&c, "fit rr w.arff --target t");
    assert_null(strstr(c.err, said));
  }
  char apart[2000] = "a,b,t\n"; /* prices that repeat */
  for (int j = 0; j < 24; j++) {
    size_t used = strlen(apart);
    snprintf(apart + used, sizeof apart - used, "%d,%d,%d\n", j, j % 5,
             100 + 25 * (j % 8));
  }
  put(&c, "p.csv", apart);
  command_run(&c, "fit mc p.csv --target t --mu-rel .1");
  command_expect(&c, 0, FOR_NUMBERS);
  command_end(&c);
}

/* bob and eve are wrong by this truth: 4 of 6 are right. */
static void texts_are_evaluated(void **state)
{
  static const char *const files[] = {"a.csv", "a.npz"};
  command c;
  begin(&c);
  put(&c, "truth.csv",
      "name,tall\nann,yes\nbob,yes\neve,no\nian,no\njoe,yes\nkim,no\n");
  put(&c, "other.csv",
      "name,tall\nbob,no\nann,yes\neve,no\nian,no\njoe,yes\nkim,no\n");
  for (int i = 0; i < 2; i++) {
    command_do(&c, FIT "-o %s", files[i]);
    command_do(&c,
               "eval accuracy --truth truth.csv --target tall --id name "
               "--scores %s -o e.csv",
               files[i]);
    assert_non_null(strstr(c.out, "accuracy 0.666667"));
    CHECK_NEAR(number(&c, "e.csv", 1, 1), 4 / 6.0, 1e-12);
    assert_int_equal(i == 0, strstr(c.out, "filled in alone") != NULL);
    command_do(&c,
               "eval auroc --truth truth.csv --target tall --id name "
               "--scores %s",
               files[i]);
    command_run(&c,
                "eval accuracy --truth other.csv --target tall --id name "
                "--scores %s",
                files[i]);
    command_expect(&c, 0, JOINED_WITH "other.csv");
    assert_non_null(strstr(c.out, "accuracy 0.833333"));
  }
  command_end(&c);
}

/* Labels that were given are told rightly by whoever has them: the others are
 * measured apart, with the classes of all. */
static void what_was_filled_is_measured_apart(void **state)
{
  command c;
  begin(&c);
  put(&c, "truth.csv",
      "name,tall\nann,yes\nbob,yes\neve,no\nian,no\njoe,yes\nkim,no\n");
  command_run(&c, FIT "-o a.csv");
  command_do(&c, "eval accuracy --truth truth.csv --target tall --id name "
                 "--scores a.csv -o e.csv");
  assert_non_null(strstr(c.out,
                         "\n  of the 2 labels that were filled in alone: "
                         "accuracy 0.500000 (4 others given"));
  CHECK_NEAR(number(&c, "e.csv", 1, 2), .5, 1e-12); /* eve no, ian yes */
  assert_string_equal(cell(&c, "e.csv", 0, 2, ','), "accuracy of filled");
  put(&c, "t3.csv", "id,k\na,x\nb,y\nc,z\nd,x\ne,y\nf,x\n");
  put(&c, "a3.csv",
      "id,k,origin,rather,score of x,score of y,score of z\n"
      "a,x,given,,3,1,0\nb,y,given,,0,2,1\nc,z,given,,0,1,2\n"
      "d,x,filled,,2,1,0\ne,x,filled,,2,1,0\nf,y,filled,,1,2,0\n");
  command_do(&c, "eval accuracy --truth t3.csv --target k --id id --scores "
                 "a3.csv --json");
  lapis_json *v = command_json(c.out);
  const lapis_json *of = lapis_json_get(v, "filled");
  CHECK_NEAR(lapis_json_number(v, "mean", 0), 4 / 6., 1e-12);
  CHECK_NEAR(lapis_json_number(of, "mean", 0), 1 / 3., 1e-12);
  assert_true(lapis_json_number(of, "labels", 0) == 3);
  assert_true(lapis_json_number(of, "given", 0) == 3);
  lapis_json_free(v);
  /* x: d and f against e's 2: half of one of two pairs; y: e's 1 against 1 and
   * 2; of z there is none */
  command_do(&c, "eval auroc --truth t3.csv --target k --id id --scores "
                 "a3.csv -o e3.csv");
  CHECK_NEAR(number(&c, "e3.csv", 1, 2), .25, 1e-12);
  CHECK_NEAR(number(&c, "e3.csv", 2, 2), .25, 1e-12);
  assert_string_equal(cell(&c, "e3.csv", 3, 2, ','), "");
  command_end(&c);
}

/* A table of labels alone, as label --labels-out writes it. */
static void labels_alone_are_evaluated(void **state)
{
  command c;
  begin(&c);
  put(&c, "t.csv", "id,k\na,x\nb,y\nc,z\nd,x\n");
  put(&c, "l.csv", "size,id,k\n3,a,x\n4,b,x\n5,c,z\n6,d,y\n");
  put(&c, "two.csv", "id,k\na,x\nc,z\nb,y\nd,x\n");
  command_do(&c, "eval accuracy --truth t.csv --target k --id id --scores "
                 "l.csv");
  assert_string_equal(c.out, "accuracy 0.500000\n");
  command_run(&c, "eval accuracy --truth t.csv --target k --id id --scores "
                  "two.csv");
  command_expect(&c, 0, "two.csv: " JOINED_WITH "t.csv");
  assert_string_equal(c.out, "accuracy 1.000000\n");
  command_do(&c, "eval accuracy --truth t.csv --target k --id id --scores "
                 "t.csv");
  assert_string_equal(c.out, "accuracy 1.000000\n");
  put(&c, "two.csv", "id,k,m\na,x,no\nb,y,yes\nc,x,no\nd,x,yes\n");
  put(&c, "turned.csv", "id,m,k\na,no,x\nb,yes,y\nc,no,x\nd,yes,x\n");
  static const char *const target[] = {"k,m", "m,k"};
  for (int i = 0; i < 2; i++) { /* the order of the list tells nothing */
    command_do(&c,
               "eval hamming --truth two.csv --target %s --id id --scores "
               "two.csv",
               target[i]);
    assert_string_equal(c.out, "hamming 0.000000\n");
    command_run(&c,
                "eval hamming --truth two.csv --target %s --id id --scores "
                "turned.csv",
                target[i]);
    command_expect(&c, 4, "");
  }
  command_end(&c);
}

static void models_without_labels_print_features(void **state)
{
  command c;
  begin(&c);
  command_do(&c, "fit rpca people.csv --id name --drop tall -q --model m.lapis "
                 "-o clean.csv");
  assert_string_equal(cell(&c, "clean.csv", 0, 2, ','), "reach");
  command_do(&c, "predict m.lapis people.csv --id name --drop tall");
  assert_non_null(strstr(c.out, "ann\t1.8"));
  command_end(&c);
}

/* Three texts become three features; a lost one is filled with a text. */
static void nominals_are_features(void **state)
{
  command c;
  lapis_arrays all;
  begin(&c);
  put(&c, "w.arff",
      "@relation w\n@attribute outlook {sunny, overcast, rainy}\n"
      "@attribute heat real\n@attribute play {yes, no}\n@data\n"
      "sunny,30,no\novercast,20,yes\nrainy,10,yes\n?,31,no\nsunny,?,?\n");
  command_do(&c, "convert w.arff w.npz --target play");
  command_arrays(&c, "w.npz", &all);
  const lapis_mat *X = &lapis_arrays_find(&all, "X")->mat;
  assert_int_equal(X->rows, 4);
  for (int j = 0; j < 3; j++)
    for (int i = 0; i < 3; i++) CHECK_NEAR(lapis_mat_at(X, i, j), i == j, 0);
  assert_true(isnan(lapis_mat_at(X, 1, 3)));
  lapis_arrays_free(&all);
  command_do(&c, "fit mc w.arff --target play --mu-rel .1 -q --completed "
                 "w.csv");
  assert_string_equal(cell(&c, "w.csv", 0, 0, ','), "outlook");
  assert_string_equal(cell(&c, "w.csv", 1, 2, ','), "no");
  assert_string_equal(cell(&c, "w.csv", 4, 0, ','), "sunny");
  assert_true(number(&c, "w.csv", 5, 1) > 0);
  command_end(&c);
}

/* An attribute declared integer stays one. */
static void whole_numbers_are_filled_in(void **state)
{
  command c;
  lapis_arrays all;
  int broken = 0;
  begin(&c);
  put(&c, "w.arff",
      "@relation w\n@attribute rooms INTEGER\n@attribute size real\n"
      "@attribute floor integer\n@attribute sold {yes, no}\n@data\n"
      "3,90.5,-2,no\n2,60.5,3,yes\n?,75.2,?,no\n5,?,-4,no\n4,120,?,yes\n"
      "?,33,1,?\n");
  command_do(&c, "fit mc w.arff --target sold --mu-rel .1 -q --completed "
                 "w.csv -o w.npz");
  command_arrays(&c, "w.npz", &all);
  const lapis_mat *Z = &lapis_arrays_find(&all, "low_rank")->mat;
  static const int gap[][2] = {{2, 0}, {5, 0}, {2, 2}, {4, 2}, {3, 1}};
  for (int k = 0; k < 5; k++) {
    double v = lapis_mat_at(Z, gap[k][1], gap[k][0]);
    broken += v != round(v);
    CHECK_NEAR(number(&c, "w.csv", gap[k][0] + 1, gap[k][1]),
               k < 4 ? round(v) : v, k < 4 ? 0 : 1e-3); /* six digits */
  }
  assert_int_equal(broken, 5); /* or nothing was rounded */
  assert_string_equal(cell(&c, "w.csv", 1, 2, ','), "-2");
  lapis_arrays_free(&all);
  command_end(&c);
}

/* Cells of listed values are filled with one of them: the nearest to what the
 * result has. */
static void listed_values_are_filled_in(void **state)
{
  command c;
  lapis_arrays all;
  begin(&c);
  put(&c, "w.arff",
      "@relation w\n@attribute windy {no, yes}\n@attribute size {3, 5, 9}\n"
      "@attribute heat real\n@attribute play {yes, no}\n@data\n"
      "yes,9,30,no\nno,3,20,yes\nno,3,18,yes\n?,?,31,no\nyes,?,29,?\n"
      "?,5,19,yes\nno,?,?,yes\n");
  command_do(&c, "fit mc w.arff --target play --mu-rel .1 -q --completed "
                 "w.csv -o w.npz");
  command_arrays(&c, "w.npz", &all);
  const lapis_mat *Z = &lapis_arrays_find(&all, "low_rank")->mat;
  static const char *const windy[] = {"no", "yes"}, *const size[] = {"3", "5",
                                                                     "9"};
  for (int j = 3; j < 7; j++) {
    double w = lapis_mat_at(Z, 0, j), s = lapis_mat_at(Z, 1, j);
    if (j == 3 || j == 5)
      assert_string_equal(cell(&c, "w.csv", j + 1, 0, ','), windy[w > .5]);
    if (j != 5)
      assert_string_equal(cell(&c, "w.csv", j + 1, 1, ','),
                          size[(s > 4) + (s > 7)]);
  }
  lapis_arrays_free(&all);
  assert_string_equal(cell(&c, "w.csv", 1, 0, ','), "yes");
  put(&c, "b.csv",
      "sick,age,tall\n0,30,yes\n1,60,no\n,58,no\n0,,yes\n"
      ",31,\n1,62,no\n");
  command_do(&c, "fit mc b.csv --target tall --map standard --mu-rel .1 -q "
                 "--completed b.tsv");
  assert_string_equal(cell(&c, "b.tsv", 3, 0, '\t'), "1");
  assert_string_equal(cell(&c, "b.tsv", 5, 0, '\t'), "0");
  command_end(&c);
}

/* A model's own values make the features of new tables. */
static void one_hot_columns_follow_the_model(void **state)
{
  command c;
  begin(&c);
  put(&c, "t.csv",
      "colour,size,kind\nred,2.5,a\nblue,,b\nred,1.5,\n,2.25,a\n"
      "green,3,b\n");
  put(&c, "new.csv", "colour,size\nblue,2\npink,1\n,2\n");
  command_run(&c, "fit mc t.csv --target kind --mu-rel .1 -q");
  command_expect(&c, 4, "colour red 1");
  assert_non_null(strstr(c.err, "--one-hot"));
  command_do(&c, "fit mc t.csv --target kind --mu-rel .1 -q --one-hot col* "
                 "--model m.lapis");
  command_run(&c, "predict m.lapis new.csv");
  command_expect(&c, 0, "new.csv:3:1: \"pink\" " NO_VALUE_OF);
  put(&c, "new.csv", "color,size\nblue,2\n");
  command_run(&c, "predict m.lapis new.csv");
  command_expect(&c, 4, "colour color colour=blue");
  put(&c, "twins.csv", "x,x,kind\n1,2,a\n2,1,b\n1,3,a\n3,1,\n");
  command_do(&c, "fit mc twins.csv --target kind --mu-rel .1 -q --model "
                 "w.lapis");
  put(&c, "one.csv", "x,kind\n1,a\n");
  command_run(&c, "predict w.lapis one.csv");
  command_expect(&c, 4, "x 2");
  command_do(&c, "convert t.csv - --as csv --target kind --one-hot colour");
  assert_non_null(strstr(
      c.out, "colour=blue,colour=green,colour=red,size,kind\n0,0,1,2.5,a\n"
             "1,0,0,,b\n"));
  command_end(&c);
}

static void decimal_commas_and_dates(void **state)
{
  static const struct {
    const char *decimal, *cell;
    double value; /* NaN: refused */
  } tried[] = {{",", "1.200,50", 1200.5},   {",", "1200,5", 1200.5},
               {",", "1.234.567", 1234567}, {",", "12.00,5", NAN},
               {",", "-,5", -0.5},          {".", "1,200.50", 1200.5},
               {".", "1,2,3", NAN},         {",", ".500", NAN},
               {",", "1.2000", NAN},        {",", "1.23e4", NAN},
               {",", "1e1.234", NAN},       {".", "1,23e4", NAN},
               {",", "1.234,5e3", 1234500}, {",", "-1.234,5", -1234.5},
               {",", "0.123", NAN},         {".", "0,123", NAN}};
  command c;
  begin(&c);
  for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
    char text[300];
    snprintf(text, sizeof text, "a;b\n1;%s\n2;3\n", tried[i].cell);
    put(&c, "d.csv", text);
    command_run(&c, "convert d.csv d.tsv --decimal %s", tried[i].decimal);
    command_expect(&c, isnan(tried[i].value) ? 4 : 0, "");
    if (!isnan(tried[i].value))
      CHECK_NEAR(strtod(cell(&c, "d.tsv", 1, 1, '\t'), NULL), tried[i].value,
                 0);
  }
  put(&c, "e.csv",
      ";datum;preis;klasse\n0;2021-01-02;1.200,50;ja\n"
      "1;2021-01-03;1.300,50;nein\n2;2021-01-04;;ja\n"
      "3;2021-01-05;1.400,00;\n4;2021-01-06;1.500,00;nein\n");
  command_run(&c, "fit mc e.csv --target klasse --mu-rel .1 -q");
  command_expect(&c, 4, "datum 2021-01-02");
  command_run(&c, "fit mc e.csv --target klasse --mu-rel .1 --drop datum");
  command_expect(&c, 4, "--decimal");
  command_run(&c, "fit mc e.csv --target klasse --mu-rel .1 --drop datum "
                  "--decimal , --completed full.csv");
  command_expect(&c, 0, NUMBERS_THE_ROWS);
  assert_string_equal(cell(&c, "full.csv", 1, 2, ';'), "1.200,50");
  assert_non_null(strchr(cell(&c, "full.csv", 3, 2, ';'), ','));
  command_run(&c, "info e.csv --decimal x");
  command_expect(&c, 2, "");
  command_end(&c);
}

/* A word that is a setting of the method and says how the file is read, too:
 * the value decides, and both can be given. */
static void one_word_of_two_things(void **state)
{
  command c;
  begin(&c);
  put(&c, "two.arff",
      "@relation two\n@attribute a numeric\n@attribute b numeric\n"
      "@attribute c {0,1}\n@attribute d {0,1}\n@data\n"
      "1,2,0,1\n2,1,1,?\n3,5,?,0\n5,4,1,1\n");
  put(&c, "two.xml",
      "<labels><label name=\"c\"></label><label name=\"d\"></label></labels>");
  static const char *const read[] = {"--arff-labels 2", "--labels 2",
                                     "--labels=two.xml"};
  for (int k = 0; k < 3; k++) {
    command_do(&c, "fit mc two.arff %s --labels pm --mu-rel .1 --json -q",
               read[k]);
    lapis_json *v = command_json(c.out);
    const lapis_json *data = lapis_json_get(v, "data");
    assert_true(lapis_json_number(data, "features", 0) == 2);
    assert_true(lapis_json_number(data, "targets", 0) == 2);
    assert_true(lapis_json_number(data, "missing_targets", 0) == 2);
    assert_string_equal(
        lapis_json_text(lapis_json_get(v, "settings"), "labels", ""), "pm");
    lapis_json_free(v);
  }
  static const command_misuse wrong[] = {
      {"fit mc two.arff --labels pn --mu-rel .1", 2, "auto|pm|01|"},
      {"fit mc two.arff --labels 2 --labels 2 --mu-rel .1", 2, ""},
      {"fit mc two.arff --labels", 2, ""},
      {"info two.arff --features x", 2, "x --feature-count"},
  };
  command_refuses(&c, wrong, 4, "");
  command_end(&c);
}

/* Under --json the sentence of a failure stands where the answer would, and an
 * answer has none behind it. */
static void failures_are_json(void **state)
{
  static const struct {
    const char *words;
    int code;
  } tried[] = {{"ft --json", 2},
               {"fit mx --json", 2},
               {"fit mc people.csv --nothing --json", 2},
               {"fit mc nowhere.csv --json -q", 4},
               {"fit mc people.csv --target tall --json -q", 4},
               {"predict people.csv --json", 4}};
  command c;
  begin(&c);
  for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
    char sentence[1200];
    command_run(&c, "%s", tried[i].words);
    command_expect(&c, tried[i].code, "lapis: ");
    lapis_json *v = command_json(c.out);
    assert_true(lapis_json_number(v, "exit", -1) == tried[i].code);
    (void)snprintf(sentence, sizeof sentence, "lapis: %s\n",
                   lapis_json_text(v, "error", ""));
    assert_string_equal(sentence, c.err);
    lapis_json_free(v);
  }
  command_run(&c, FIT "--max-iters 1 --strict --json");
  command_expect(&c, 1, "");
  lapis_json *v = command_json(c.out);
  assert_string_equal(lapis_json_text(v, "status", ""), "max-iters");
  assert_null(lapis_json_get(v, "error"));
  lapis_json_free(v);
  command_run(&c, "fit mc nowhere.csv");
  command_expect(&c, 4, "nowhere.csv");
  assert_string_equal(c.out, "");
  command_end(&c);
}

/* What reads as a number under the table's decimal mark stands as it is, and
 * what a spreadsheet would run is marked. */
static void negative_numbers_stay(void **state)
{
  static const struct {
    const char *text, *decimal, *kept, *filled;
  } tried[] = {
      {"n;a;b;y\n=x;1.200,5;-3,5;yes\n-z;-1,5;;no\nu;2,5;-3,5;\n", ",", "-1,5;",
       "-3,5;"},
      {"n\ta\tb\ty\n=x\t1,200.5\t3\tyes\n-z\t-1,000.5\t\tno\n", ".", "-1,000.5",
       ""},
  };
  command c;
  char text[4096];
  begin(&c);
  for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
    put(&c, "d.csv", tried[i].text);
    command_do(&c,
               "fit mc d.csv --id n --target y --decimal %s --mu-rel .1 -q "
               "--completed od.csv",
               tried[i].decimal);
    command_slurp(&c, "od.csv", text, sizeof text);
    assert_non_null(strstr(text, tried[i].kept));
    assert_null(strstr(text, "'-1"));
    assert_null(strstr(text, "'-3"));
    assert_null(strchr(text, '\'')); /* given cells are as they were */
  }
  put(&c, "f.csv",
      "a;b;y\n-9,5;-19,5;yes\n-9,5;;no\n-9,5;-19,5;\n-8,5;-17,5;no\n");
  command_do(&c, "fit mc f.csv --target y --decimal , --mu-rel .1 -q "
                 "--completed of.csv");
  command_slurp(&c, "of.csv", text, sizeof text);
  assert_int_equal(*cell(&c, "of.csv", 2, 1, ';'), '-');
  assert_null(strchr(text, '\''));
  command_end(&c);
}

/* The column "a" is a number where the model has a feature of just that name,
 * whatever stands before "=" in another. */
static void titles_with_equals_signs(void **state)
{
  command c;
  begin(&c);
  put(&c, "q.csv", "a,a=1,y\n1,5,yes\n2,7,no\n3,,yes\n4,1,\n");
  command_do(&c, "fit mc q.csv --target y --mu-rel .1 -q --model m.lapis");
  command_do(&c, "predict m.lapis q.csv --target y");
  command_end(&c);
}

/* A target's title may begin as the columns about a target do. */
static void targets_called_like_columns_of_answers(void **state)
{
  static const char *const titles[] = {"original", "origin", "rather", "score",
                                       "scores"};
  command c;
  char text[512];
  begin(&c);
  for (size_t i = 0; i < sizeof titles / sizeof *titles; i++) {
    (void)snprintf(text, sizeof text,
                   "name,height,reach,%s\nann,1.81,1.84,yes\n"
                   "bob,1.62,,no\neve,1.85,1.88,yes\nian,1.60,1.61,no\n",
                   titles[i]);
    put(&c, "t.csv", text);
    command_do(&c,
               "fit mc t.csv --id name --target %s --mu-rel .1 -q "
               "-o t.tsv",
               titles[i]);
    command_do(&c,
               "eval accuracy --truth t.csv --target %s --id name "
               "--scores t.tsv",
               titles[i]);
    assert_non_null(strstr(c.out, "accuracy 1.000000"));
  }
  command_end(&c);
}

int test_tables(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(answers_are_a_table),
      cmocka_unit_test(empty_cells_are_filled),
      cmocka_unit_test(marks_between_cells_stay),
      cmocka_unit_test(ends_of_lines_stay),
      cmocka_unit_test(smoothed_cells_are_told),
      cmocka_unit_test(several_targets_keep_their_texts),
      cmocka_unit_test(numbers_as_classes_are_warned_of),
      cmocka_unit_test(each_target_has_its_own_words),
      cmocka_unit_test(texts_are_evaluated),
      cmocka_unit_test(what_was_filled_is_measured_apart),
      cmocka_unit_test(labels_alone_are_evaluated),
      cmocka_unit_test(models_without_labels_print_features),
      cmocka_unit_test(nominals_are_features),
      cmocka_unit_test(listed_values_are_filled_in),
      cmocka_unit_test(whole_numbers_are_filled_in),
      cmocka_unit_test(one_hot_columns_follow_the_model),
      cmocka_unit_test(decimal_commas_and_dates),
      cmocka_unit_test(negative_numbers_stay),
      cmocka_unit_test(titles_with_equals_signs),
      cmocka_unit_test(targets_called_like_columns_of_answers),
      cmocka_unit_test(one_word_of_two_things),
      cmocka_unit_test(failures_are_json),
  };
  return run_cases(tests, NULL, NULL);
}
