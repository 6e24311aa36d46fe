/* The command: what is typed, what is read, what goes wrong. */
#include "command.h"
#include "remarks.h"

/* n samples of two features, labels by the first; a few unknown. */
static void write_table(const command *c, const char *name, int n)
{
  char text[8192];
  int used = snprintf(text, sizeof text, "who,a,b,wears\n");
  for (int i = 0; i < n; i++)
    used += snprintf(text + used, sizeof text - (size_t)used, "s%d,%d,%d,%s\n",
                     i, i % 7 + (i % 2) * 10, i % 3 + 1,
                     i % 5 == 4   ? ""
                     : i % 2 == 0 ? "no"
                                  : "yes");
  command_write(c, name, text, (size_t)used);
}

static double number_at(const char *json, const char *path[])
{
  lapis_json *v = command_json(json);
  const lapis_json *at = v;
  int i = 0;
  for (; path[i + 1] != NULL; i++) at = lapis_json_get(at, path[i]);
  double out = lapis_json_number(at, path[i], NAN);
  lapis_json_free(v);
  return out;
}
#define NUMBER(json, ...) number_at(json, (const char *[]){__VA_ARGS__, NULL})

static void a_table_with_names(void **state)
{
  command c;
  command_begin(&c);
  write_table(&c, "t.csv", 30);
  command_do(&c, "fit mc t.csv --target wears --id who --mu-rel .001 "
                 "--lambda 1 --json -o r.npz");
  assert_string_equal(c.err, "");
  CHECK_NEAR(NUMBER(c.out, "data", "samples"), 30, 0);
  CHECK_NEAR(NUMBER(c.out, "data", "features"), 2, 0);
  CHECK_NEAR(NUMBER(c.out, "data", "missing_targets"), 6, 0);
  CHECK_NEAR(NUMBER(c.out, "settings", "lambda"), 1, 0);
  CHECK_AT_MOST(NUMBER(c.out, "info", "gap"), 1e-4);
  assert_non_null(strstr(c.out, "\"status\": \"solved\""));
  lapis_arrays all;
  command_arrays(&c, "r.npz", &all);
  const lapis_array *labels = lapis_arrays_find(&all, "labels");
  const lapis_array *names = lapis_arrays_find(&all, "names");
  assert_non_null(labels);
  assert_non_null(names);
  assert_int_equal(labels->axes, 1);
  assert_int_equal(labels->shape[0], 30);
  const char *const *text = labels->mat.val;
  for (int i = 0; i < 30; i++)
    assert_string_equal(text[i], i % 2 == 0 ? "no" : "yes");
  assert_string_equal(((const char *const *)names->mat.val)[29], "s29");
  lapis_arrays_free(&all);
  command_run(&c, "eval auroc --truth t.csv --scores r.npz");
  command_end(&c);
}

static void misuse_is_exit_2(void **state)
{
  command c;
  command_begin(&c);
  write_table(&c, "t.csv", 30);
  const char *const bad[][2] = {
      {"fitt", "there is no verb 'fitt'"},
      {"fit magic t.csv", "there is no method 'magic'"},
      {"fit mc t.csv --lamda 3", "no option --lamda"},
      {"fit mc t.csv --lambda", "nothing follows --lambda; write --lambda X"},
      {"fit mc t.csv --lambda -1", "--lambda is -1; it must be above 0"},
      {"fit mc t.csv --variant best", "mc1|pos|simplex"},
      {"fit mc", "name a data file"},
      {"fit mc t.csv --threads many", "threads"},
      {"fit mc t.csv --threads 0", "without --threads it takes all cores"},
      {"fit mc t.csv --mu 1 --mu-rel .1", "--mu and --mu-rel set the same"},
      {"cv mc t.csv --mu 1 --grid mu-rel=1,.1", "give one of them"},
      {"cv mc t.csv --grid mu-rel=1,.1 --grid mu=1,2", "give one of them"},
      {"cv mc t.csv --grid mu-rel=1 --grid mu-rel=.1", "is given twice"},
      {"fit mc t.csv --tol 1e-3 --tol 1e-4",
       "--tol is given twice, as '1e-3' and as '1e-4'"},
      {"fit mc -X t.csv --lambda 1 -X t.csv", "-X is given twice"},
      {"fit mc t.csv -o a.npz --output=b.npz", "--output is given twice"},
      {"fit mc t.csv -o a.csv,a.html", GIVEN_TWICE "'a.csv' and as 'a.html'"},
      {"fit linear t.csv --target wears --output a.tsv,b,c.htm",
       GIVEN_TWICE "'a.tsv' and as 'b,c.htm'"},
      {"fit clean t.csv --model m.lapis", "learns no model"},
      {"cv rr t.csv --grid map=none,standard",
       "give --map itself, not in the grid"},
      {"cv svmplus t.csv --grid C=1,2 --grid map-priv=l1,l2",
       "give --map-priv itself"},
      {"cv clean t.csv --grid lambda=1,2", "does not predict held-out samples"},
      {"fit mc t.csv --backend cray", "backend"},
      {"fit mc t.csv --progress often", "auto, always, never"},
      {"fit mc t.csv u.csv", "'u.csv' is a second one"},
      {"fit mc t.csv --target nose", "nose"},
      {"fit mc t.csv --target wears --id who -o t.csv", "written over"},
      {"eval auroc", "name one metric"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    command_run(&c, "%s", bad[i][0]);
    command_expect(&c, 2, bad[i][1]);
  }
  command_end(&c);
}

static void bad_input_is_exit_4(void **state)
{
  command c;
  command_begin(&c);
  write_table(&c, "t.csv", 30);
  command_write(&c, "word.csv", "a,b\n1,2\n3,blue\n5,6\n", 18);
  command_write(&c, "inf.csv", "1,2,1\n3,inf,0\n5,6,1\n", 20);
  command_write(&c, "neg.csv", "1,2,1\n3,-4,0\n5,6,1\n", 19);
  command_write(&c, "sum.csv", ".5,.5,1\n.5,.4,0\n.1,.9,1\n", 24);
  command_write(&c, "short.csv", "1\n0\n", 4);
  command_write(&c, "ones.csv", "1,2,1\n3,4,1\n", 12);
  command_write(&c, "cut.npy", "\x93NUMPY\x01\x00v\x00{'descr'", 18);
  const char *const bad[][2] = {
      {"absent.npz", "absent.npz"},
      {"word.csv", "word.csv:3:3"},
      {"inf.csv --target 3", "X is infinite at row 2, column 2"},
      {"neg.csv --target 3 --variant pos", "X is -4 at row 2, column 2"},
      {"sum.csv --target 3 --variant simplex", "--map l1"},
      {"-X neg.csv -Y short.csv", "samples"},
      {"ones.csv --target 3", "holds one value alone"},
      {"cut.npy", "cut.npy"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    command_run(&c, "fit mc %s -q -o out.npz --json", bad[i][0]);
    command_expect(&c, 4, bad[i][1]);
    lapis_json *v = command_json(c.out);
    assert_non_null(strstr(lapis_json_text(v, "error", ""), bad[i][1]));
    CHECK_NEAR(lapis_json_number(v, "exit", 0), 4, 0);
    lapis_json_free(v);
    assert_false(command_exists(&c, "out.npz"));
  }
  command_run(&c, "fit mc t.csv --target wears --id who -o no/such/r.npz");
  command_expect(&c, 4, "no/such/r.npz");
  command_end(&c);
}

/* The file system says no half-way: the old file stays, nothing is left. */
static void a_full_disk_loses_nothing(void **state)
{
  command c;
  char text[16] = {0};
  command_begin(&c);
  write_table(&c, "t.csv", 200);
  command_write(&c, "out.npz", "old", 3);
  const char *lapis = getenv("LAPIS_COMMAND");
  char line[1024];
  snprintf(line, sizeof line,
           "cd %s && ulimit -f 1 && %s fit mc t.csv --target wears --id who "
           "--mu-rel .01 -q -o out.npz >/dev/null 2>.stderr",
           c.folder, lapis);
  int status = system(line);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 4);
  command_slurp(&c, "out.npz", text, sizeof text);
  assert_string_equal(text, "old");
  command_slurp(&c, ".stderr", c.err, sizeof c.err);
  assert_non_null(strstr(c.err, "out.npz"));
  snprintf(line, sizeof line, "test $(ls -A %s | wc -l) -eq 3", c.folder);
  assert_int_equal(system(line), 0);
  command_end(&c);
}

static void early_stops(void **state)
{
  command c;
  command_begin(&c);
  write_table(&c, "t.csv", 30);
  const char *common = "fit mc t.csv --target wears --id who --mu-rel .01";
  command_run(&c, "%s --max-iters 2 --json", common);
  command_expect(&c, 0, "max-iters");
  assert_non_null(strstr(c.out, "\"status\": \"max-iters\""));
  command_run(&c, "%s --max-iters 2 --strict", common);
  command_expect(&c, 1, "max-iters");
  command_end(&c);
}

/* Lines that were broken to fit a terminal, as one. */
static void unfold(char *text)
{
  char *to = text;
  for (const char *from = text; *from != '\0';) {
    bool space = *from == ' ' || *from == '\n';
    *to++ = space ? ' ' : *from;
    from += space ? strspn(from, " \n") : 1;
  }
  *to = '\0';
}

static void help_comes_from_the_tables(void **state)
{
  command c;
  command_begin(&c);
  assert_int_equal(command_run(&c, "--help"), 0);
  for (int i = 0; lapis_method_at(i) != NULL; i++) {
    const lapis_method *m = lapis_method_at(i);
    assert_non_null(strstr(c.out, m->name));
    command_do(&c, "help methods");
    unfold(c.out);
    assert_non_null(strstr(c.out, m->summary));
    command_do(&c, "fit %s --help", m->name);
    for (int k = 0; k < m->n_params; k++) {
      char option[64];
      snprintf(option, sizeof option, "--%s", m->params[k].name);
      if (strstr(c.out, option) == NULL) fail_msg("%s: %s", m->name, option);
    }
    command_run(&c, "--help");
  }
  int lines = 0; /* one screen, and the same without a word */
  for (const char *at = c.out; (at = strchr(at, '\n')) != NULL; at++) lines++;
  assert_in_range(lines, 20, 30);
  assert_int_equal(command_run(&c, "%s", ""), 2);
  assert_true(check_has(c.err, "Start with 'lapis info FILE'"));
  command_do(&c, "--version");
  assert_non_null(strstr(c.out, lapis_version()));
  command_end(&c);
}

/* Whether the help of a word of an option's or a result's own text has the row,
 * and names its page. */
static void expect_topic(command *c, const char *words, const char *left,
                         const char *page)
{
  if (command_run(c, "help --man %s", words) == 0) return; /* a page */
  command_do(c, "help %s", words);
  const char *at = strstr(c->out, left);
  unfold(c->out);
  if (at == NULL || !check_has(c->out, page))
    fail_msg("help %s: no '%s' or '%s' in\n%s", words, left, page, c->out);
}

static void help_finds_words(void **state)
{
  static const char *const others[] = {"outlier", "outliers", "anomaly",
                                       "noise", "corrupted"};
  static const char *const found[][2] = {{"boosting", "trees "},
                                         {"lightgbm", "trees "},
                                         {"lda", "rlda "},
                                         {"classification", "label "},
                                         {"calibrate", "--sure X"},
                                         {"conformal", "--coverage C"},
                                         {"active learning", "--ask"},
                                         {"segmentation", "locate "},
                                         {"alignment", "match "},
                                         {"embedding", "onnx "},
                                         {"duplicates", "info "},
                                         {"gpu", "--backend"},
                                         {"confusion", "F.html"}};
  command c;
  command_begin(&c);
  for (int i = 0; lapis_method_at(i) != NULL; i++) {
    const lapis_method *m = lapis_method_at(i);
    const int every = room_all() ? 1 : 5; /* one search finds them all */
    for (int k = i % every; k < m->n_params; k += every) {
      char left[64];
      snprintf(left, sizeof left, "  --%s", m->params[k].name);
      expect_topic(&c, m->params[k].name, left, m->name);
    }
    for (int k = 0; lapis_method_result(m, k) != NULL; k++) {
      if (k % every != i % every) continue;
      char left[64];
      const char *name = lapis_method_result(m, k)->name;
      snprintf(left, sizeof left, "  %s", name);
      expect_topic(&c, name, left, m->name);
    }
  }
  expect_topic(&c, "coverage", "--coverage C", "[auto");
  expect_topic(&c, "Suspects", "--suspects M", "label");
  expect_topic(&c, "holes", "--completed F.csv", "[fit");
  expect_topic(&c, "fit output", "-o, --output", "[fit]");
  for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
    expect_topic(&c, others[k], "--map MAP", "trim");
    expect_topic(&c, others[k], "--suspects M", "label");
    expect_topic(&c, others[k], "rpca ", "");
    expect_topic(&c, others[k], "rr ", "");
  }
  for (size_t k = 0; k < sizeof found / sizeof *found; k++)
    expect_topic(&c, found[k][0], found[k][1], "");
  expect_topic(&c, "imputation", "--completed F.csv", "[fit");
  expect_topic(&c, "seed", "--seed N", "every verb");
  command_run(&c, "help zyxwv");
  command_expect(&c, 2, "zyxwv");
  command_run(&c, "help coverage zyxwv");
  command_expect(&c, 2, "zyxwv");
  command_end(&c);
}

static void info_says_what_is_inside(void **state)
{
  command c;
  command_begin(&c);
  write_table(&c, "t.csv", 30);
  command_do(&c, "info t.csv --target wears --id who --json");
  CHECK_NEAR(NUMBER(c.out, "samples"), 30, 0);
  CHECK_NEAR(NUMBER(c.out, "features"), 2, 0);
  assert_non_null(strstr(c.out, "\"unknown\": 6"));
  command_do(&c, "info");
  assert_non_null(strstr(c.out, "backend"));
  command_run(&c, "info nothing.npz");
  command_expect(&c, 4, "nothing.npz");
  assert_int_equal(command_run(&c, "info rpca"), 0);
  assert_non_null(strstr(c.out, "n x d, with --certificate: "));
  assert_non_null(strstr(c.out, "Results of predicting:"));
  assert_int_equal(command_run(&c, "info rpca --json"), 0);
  assert_non_null(strstr(c.out, "\"when\": \"certificate\""));
  assert_int_equal(command_run(&c, "fit rpca --help"), 0);
  assert_non_null(strstr(c.out, "n x d, with --certificate: "));
  write_table(&c, "rpca", 3); /* a file of that name is what is meant */
  command_run(&c, "info rpca");
  assert_null(strstr(c.out, "certificate"));
  command_end(&c);
}

/* The main job, on fewer pictures: every line is shown, and does the same when
 * it is typed. */
static void the_demo_shows_what_it_runs(void **state)
{
  command c;
  command_need_images();
  command_begin(&c);
  static const char make[] =
      "cd %s && from=%s/data/cmu_faces && mkdir -p share/cmu_faces/images && "
      "people='(an2i|at33|boland|steffi)_straight' && "
      "for f in labels hidden; do "
      "  grep -E \"^name|^$people\" $from/$f.csv >share/cmu_faces/$f.csv; "
      "done && cp $(ls $from/images/* | grep -E \"$people\") "
      "share/cmu_faces/images && ln -s $LAPIS_COMMAND lapis";
  char line[4096];
  snprintf(line, sizeof line, make, c.folder, LAPIS_TREE);
  assert_int_equal(system(line), 0);
  snprintf(line, sizeof line, "%s/share", c.folder);
  setenv("LAPIS_SHARE", line, 1);
  command_run(&c, "demo --json");
  command_expect(&c, 2, "--json");
  command_do(&c, "demo -o faces -q");
  unsetenv("LAPIS_SHARE");
  const char *accuracy = strstr(c.out, "\naccuracy "),
             *auroc = strstr(c.out, "\nauroc ");
  assert_non_null(accuracy);
  assert_non_null(auroc);
  CHECK_AT_LEAST(atof(accuracy + 10), 0.9);
  CHECK_AT_LEAST(atof(auroc + 7), 0.95);
  assert_true(command_exists(&c, "faces/report.html"));
  command_write(&c, "said", c.out, strlen(c.out));
  snprintf(line, sizeof line,
           "cd %s && mv faces before && mkdir faces && "
           "sed -n 's/^\\$ //p' said >typed && test $(wc -l <typed) = 3 && "
           "PATH=$PWD:$PATH sh -e typed >again && grep -E '^a' said >first && "
           "cmp first again && cmp before/labels.csv faces/labels.csv",
           c.folder);
  assert_int_equal(system(line), 0);
  command_end(&c);
}

/* Twelve flipped labels on two clear groups: they come first. */
static void suspects_are_listed(void **state)
{
  command c;
  command_begin(&c);
  char text[8192];
  int used = 0;
  for (int i = 0; i < 60; i++)
    used += snprintf(text + used, sizeof text - (size_t)used, "%d,%d,%d\n",
                     i % 2 * 9 + i % 5, 10 - i % 2 * 9 + i % 3,
                     i == 7 || i == 30 ? 1 - i % 2 : i % 2);
  command_write(&c, "t.csv", text, (size_t)used);
  command_do(&c, "fit mc t.csv --target 3 --mu-rel .01 --lambda 1 --suspects "
                 "2 -o r.npz -q");
  lapis_arrays all;
  command_arrays(&c, "r.npz", &all);
  const lapis_array *index = lapis_arrays_find(&all, "suspect_index");
  const lapis_array *margin = lapis_arrays_find(&all, "suspect_margin");
  assert_non_null(index);
  double first = lapis_mat_at(&index->mat, 0, 0);
  double second = lapis_mat_at(&index->mat, 0, 1);
  CHECK_NEAR(first + second, 37, 0);
  CHECK_NEAR(fabs(first - second), 23, 0);
  CHECK_AT_LEAST(lapis_mat_at(&margin->mat, 0, 1), 1e-6);
  lapis_arrays_free(&all);
  command_end(&c);
}

/* A table becomes a container, mapped; mu is chosen when none is given, and a
 * model answers new rows of the same table. */
static void write_text(const command *c, const char *name, const char *text)
{
  command_write(c, name, text, strlen(text));
}

/* The classes of a value a class are called by name in JSON as in text. */
static void eval_names_classes(void **state)
{
  command c;
  command_begin(&c);
  write_text(&c, "t.csv", "indoor,people\n1,0\n0,1\n1,1\n");
  command_do(&c, "eval f1 --truth t.csv --scores t.csv --json");
  lapis_json *v = command_json(c.out);
  const char *key;
  char text[32];
  const lapis_json *classes = lapis_json_get(v, "classes");
  assert_true(lapis_json_entry(classes, 1, &key, text, sizeof text));
  assert_string_equal(text, "people");
  assert_false(lapis_json_entry(classes, 2, &key, text, sizeof text));
  lapis_json_free(v);
  write_text(&c, "t.csv", "1,0\n0,1\n1,1\n");
  command_do(&c, "eval f1 --truth t.csv --scores t.csv --json");
  assert_null(strstr(c.out, "classes")); /* they have no names */
  command_end(&c);
}

/* Rows in another order are joined by name; columns are refused. */
static void rows_are_joined_by_name(void **state)
{
  command c;
  command_begin(&c);
  write_text(&c, "truth.csv", "indoor,people\n1,0\n0,0\n1,1\n,1\n");
  write_text(&c, "swapped.csv", "people,indoor\n0,1\n1,0\n1,1\n1,1\n");
  write_text(&c, "t.csv", "name,a,b,y\nann,1,2,0\nbob,2,1,1\neve,3,1,1\n");
  write_text(&c, "r.csv", "name,a,b,y\neve,3,1,1\nbob,2,1,1\nann,1,2,0\n");
  command_run(&c, "eval f1 --truth truth.csv --scores swapped.csv");
  command_expect(&c, 4, "indoor people 1 truth");
  command_run(&c, "fit mc t.csv --id name --target y --mu-rel .1 -q -o a.npz");
  command_run(&c, "convert r.csv r.npz --id name --target y");
  command_run(&c, "eval auroc --truth r.npz --scores a.npz");
  command_expect(&c, 0, "a.npz: " JOINED_WITH "r.npz");
  assert_true(check_has(c.out, "auroc 1.000000\n"));
  command_run(&c, "convert t.csv t.npz --id name --target y");
  command_do(&c, "eval auroc --truth t.npz --scores a.npz");
  assert_string_equal(c.out, "auroc 1.000000\n");
  write_text(&c, "y.csv", "name,y\nann,0\nbob,1\neve,1\n");
  write_text(&c, "s.csv", "name,y\neve,.9\nann,.1\nbob,.8\n");
  command_run(&c, "eval auroc --truth y.csv --scores s.csv --id name");
  command_expect(&c, 0, "s.csv: " JOINED_WITH "y.csv");
  assert_string_equal(c.out, "auroc 1.000000\n");
  write_text(&c, "s.csv", "name,y\nann,.1\nbob,.8\neve,.9\n");
  command_do(&c, "eval auroc --truth y.csv --scores s.csv --id name");
  assert_string_equal(c.out, "auroc 1.000000\n");
  write_text(&c, "s.csv", "name,y\neve,.9\nann,.1\nbob,.8\n");
  command_run(&c, "eval auroc --truth y.csv --scores s.csv --target y");
  command_expect(&c, 0, "s.csv: " JOINED_WITH "y.csv");
  assert_string_equal(c.out, "auroc 1.000000\n");
  /* the same of labels beside a data file */
  write_text(&c, "y.csv", "name,y\neve,1\nbob,1\nann,0\n");
  command_run(&c, "fit mc t.npz -Y y.csv --id name --target y --mu-rel .1 -o "
                  "y.npz");
  command_expect(&c, 0, "t.npz: " JOINED_WITH "y.csv");
  command_do(&c, "eval accuracy --truth t.npz --scores y.npz:labels");
  assert_true(check_has(c.out, "accuracy 1.000000\n"));
  command_end(&c);
}

/* A result is an archive, and its own file. */
static void results_are_archives(void **state)
{
  command c;
  command_begin(&c);
  write_text(&c, "t.csv", "name,a,b,y\nann,1,2,0\nbob,2,1,1\neve,3,1,1\n");
  command_run(&c, "fit mc t.csv --id name --target y -o x.mat");
  command_expect(&c, 2, "x.mat result .npz");
  command_run(&c, "fit mc t.csv --id name --target y -o x.npz --model x.npz");
  command_expect(&c, 2, "x.npz -o --model");
  command_run(&c, "cv mc t.csv --id name --target y --grid mu-rel=.1,.2 "
                  "--config t.csv");
  command_expect(&c, 2, "t.csv");
  assert_false(command_exists(&c, "x.npz"));
  command_end(&c);
}

static void convert_choose_predict(void **state)
{
  command c;
  command_begin(&c);
  write_table(&c, "t.csv", 60);
  command_do(&c, "convert t.csv t.npz --target wears --id who --map l1-sqrt");
  command_run(&c, "info t.npz --json");
  CHECK_NEAR(NUMBER(c.out, "features"), 2, 0);
  command_run(&c, "fit mc t.csv --target wears --id who --lambda 1 --model "
                  "m.lapis --map sqrt");
  command_expect(&c, 0, "mc --map sqrt");
  command_write(&c, "new.csv", "who,a,b\nx,0,1\ny,13,2\n", 21);
  command_do(&c, "predict m.lapis new.csv --id who");
  assert_string_equal(c.out, "x\tno\ny\tyes\n");
  command_write(&c, "swapped.csv", "b,a,who\n1,0,x\n2,13,y\n", 21);
  command_do(&c, "predict m.lapis swapped.csv");
  assert_string_equal(c.out, "x\tno\ny\tyes\n");
  command_run(&c, "convert swapped.csv swapped.npz --id who");
  command_run(&c, "predict m.lapis swapped.npz");
  command_expect(&c, 4, "b 1");
  command_run(&c, "predict t.npz new.csv --id who");
  command_expect(&c, 4, "");
  command_do(&c, "cv mc t.csv --target wears --id who --grid mu-rel=.1:.001:3 "
                 "--grid lambda=1,10 --folds 3 --json");
  CHECK_AT_LEAST(NUMBER(c.out, "best", "mean"), 0.99);
  /* what does not change the problem changes no figure */
  command_do(&c, "cv mc t.csv --target wears --id who --mu-rel .1 --grid "
                 "certificate=true,false --json");
  const char *first = strstr(c.out, "\"mean\""), *second = NULL;
  if (first != NULL) second = strstr(first + 1, "\"mean\"");
  assert_non_null(second);
  CHECK_NEAR(strtod(first + 8, NULL), strtod(second + 8, NULL), 0);
  CHECK_AT_LEAST(strtod(first + 8, NULL), .5);
  command_run(&c, "cv mc t.csv --target wears --id who --grid mu=a,b");
  command_expect(&c, 2, "a");
  command_run(&c, "cv mc t.csv --target wears --id who --grid mu=1 --folds 99");
  command_expect(&c, 2, "99 folds 48");
  command_end(&c);
}

/* Two blobs, a table, no settings: every label right however they are written,
 * and what ran is said. */
static void labels_without_settings(void **state)
{
  static const char *const spelt[][2] = {
      {"0", "1"}, {"1", "0"}, {"no", "yes"}, {"-1", "1"}, {"1", "2"}};
  command c;
  char text[20000];
  command_begin(&c);
  for (int k = 0; k < 5; k++) {
    uint64_t seed = 1;
    int used = sprintf(text, "name,height,weight,tall\n");
    for (int i = 0; i < 200; i++)
      used += sprintf(text + used, "p%d,%.4f,%.4f,%s\n", i,
                      150 + 20 * (i % 2) + check_normal(&seed),
                      50 + 20 * (i % 2) + check_normal(&seed),
                      i < 80 ? spelt[k][i % 2] : "");
    write_text(&c, "t.csv", text);
    command_run(&c, "fit mc t.csv --target tall --id name --json -o a.npz "
                    "--model m.lapis");
    command_expect(&c, 0, "mc --map standard --variant mc1 --labels ");
    check_says(c.err, "mc 80");
    assert_non_null(strstr(c.out, "\"candidates\""));
    command_run(&c, "predict m.lapis t.csv --id name --target tall");
    command_expect(&c, 0, "");
    const char *line = c.out;
    for (int i = 0; i < 200; i++, line = strchr(line, '\n') + 1) {
      char want[64];
      int size = sprintf(want, "p%d\t%s\n", i, spelt[k][i % 2]);
      assert_memory_equal(line, want, (size_t)size);
    }
  }
  command_run(&c, "fit mc t.csv --target tall --id name --gamma best");
  command_expect(&c, 2, "best --gamma");
  command_end(&c);
}

/* Names that a shell would take apart: the command that is printed names them
 * still. */
static void commands_of_odd_names_run(void **state)
{
  static const char *const odd[] = {"it's a \"best\" $HOME.csv", "a;b&c.csv",
                                    "-x.csv", "=~a.csv", "tab\tname.csv"};
  command c;
  char text[20000], again[2048];
  uint64_t seed = 1;
  int used = 0;
  command_begin(&c);
  used += sprintf(text, "height,weight,\"is it 'tall'?\"\n");
  for (int i = 0; i < 40; i++)
    used += sprintf(text + used, "%.4f,%.4f,%s\n",
                    150 + 20 * (i % 2) + check_normal(&seed),
                    50 + 20 * (i % 2) + check_normal(&seed),
                    i < 30 ? i % 2 ? "1" : "0" : "");
  write_text(&c, "plain.csv", text);
  for (size_t k = 0; k < sizeof odd / sizeof *odd; k++) {
    write_text(&c, odd[k], text);
    write_text(&c, "name", odd[k]);
    command_run(&c, "cv linear --target \"is it 'tall'?\" --grid C=1,10 -- "
                    "\"$(cat name)\"");
    command_expect(&c, 0, ON_ALL_SAMPLES);
    const char *at = strstr(c.err, ON_ALL_SAMPLES) + strlen(ON_ALL_SAMPLES);
    snprintf(again, sizeof again, "%.*s", (int)strcspn(at, "\n"), at);
    command_run(&c, "%s", again);
    command_expect(&c, 0, "");
  }
  command_end(&c);
}

/* What a fit refuses is refused before the race, by the fit's own sentence. */
static void bad_data_is_no_want_of_labels(void **state)
{
  static const struct {
    const char *row, *options, *words;
  } bad[] = {
      {"1,inf,", "", "lapis: mc: X is infinite at row 7, column 2"},
      {"-1,1,", "--variant pos", "lapis: mc: X is -1 at row 7, column 1"},
      {"-1,3,", "--variant simplex --map l1",
       "lapis: mc: X is -0.25 at row 7, column 1"},
      {"1,2,.1\n1,2,.2\n1,2,.3\n1,2,.4", "",
       "lapis: mc: Y has 6 different values for 10 known targets"},
  };
  command c;
  char text[2048];
  command_begin(&c);
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    int used = sprintf(text, "a,b,y\n");
    for (int i = 0; i < 6; i++)
      used += sprintf(text + used, "%d,%d,%d\n", i % 2, i + 1, i % 2);
    sprintf(text + used, "%s\n", bad[k].row);
    write_text(&c, "t.csv", text);
    command_run(&c, "fit mc t.csv --target y %s", bad[k].options);
    command_expect(&c, 4, bad[k].words);
  }
  write_text(&c, "t.csv", "a,b,y\n1,2,0\n2,3,1\n2,4,\n");
  command_run(&c, "fit mc t.csv --target y");
  command_expect(&c, 0, TOO_FEW_LABELS);
  command_end(&c);
}

/* The same numbers as float32, which mc reads as they are, and as float64;
 * admm, bordered and factored, and a column with a hole. */
static void float32_gives_the_same_answer(void **state)
{
  enum { ROWS = 60, COLS = 6 };
  static const char *const solvers[] = {"bordered", "admm", "factored"};
  static float narrow[ROWS * COLS];
  static double wide[ROWS * COLS], Y[ROWS];
  command c;
  char path[160];
  uint64_t seed = 5;
  command_begin(&c);
  lapis_ctx *ctx = lapis_ctx_new();
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < ROWS * COLS; i++) {
      narrow[i] = i == 7 && k > 0 ? NAN : (float)check_normal(&seed);
      wide[i] = narrow[i];
    }
    for (int j = 0; j < ROWS; j++) Y[j] = j % 3 > 0 ? NAN : wide[j * COLS] > 0;
    lapis_named y = {.mat = lapis_mat_f64(Y, 1, ROWS)};
    lapis_named x[] = {{.mat = lapis_mat_f64(wide, COLS, ROWS)},
                       {.mat = {.dtype = LAPIS_F32,
                                .rows = COLS,
                                .cols = ROWS,
                                .ld = COLS,
                                .val = narrow}}};
    snprintf(path, sizeof path, "%s/y.npy", c.folder);
    assert_int_equal(lapis_arrays_write(ctx, path, "npy", &y, 1), LAPIS_OK);
    double *scores[2];
    lapis_arrays all[2];
    for (int i = 0; i < 2; i++) {
      snprintf(path, sizeof path, "%s/x.npy", c.folder);
      assert_int_equal(lapis_arrays_write(ctx, path, "npy", &x[i], 1),
                       LAPIS_OK);
      command_run(&c,
                  "fit mc -X x.npy -Y y.npy --mu-rel .2 --solver %s "
                  "--model m.lapis -o r.npz -q",
                  solvers[k]);
      command_expect(&c, 0, "");
      command_arrays(&c, "r.npz", &all[i]);
      scores[i] = lapis_arrays_find(&all[i], "scores")->mat.val;
    }
    assert_memory_equal(scores[0], scores[1], sizeof Y);
    lapis_arrays_free(&all[0]);
    lapis_arrays_free(&all[1]);
  }
  lapis_ctx_free(ctx);
  command_end(&c);
}

int test_command(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_table_with_names),
      cmocka_unit_test(misuse_is_exit_2),
      cmocka_unit_test(bad_input_is_exit_4),
      cmocka_unit_test(a_full_disk_loses_nothing),
      cmocka_unit_test(early_stops),
      cmocka_unit_test(help_comes_from_the_tables),
      cmocka_unit_test(help_finds_words),
      cmocka_unit_test(info_says_what_is_inside),
      cmocka_unit_test(suspects_are_listed),
      cmocka_unit_test(eval_names_classes),
      cmocka_unit_test(rows_are_joined_by_name),
      cmocka_unit_test(results_are_archives),
      cmocka_unit_test(convert_choose_predict),
      cmocka_unit_test(the_demo_shows_what_it_runs),
      cmocka_unit_test(labels_without_settings),
      cmocka_unit_test(commands_of_odd_names_run),
      cmocka_unit_test(bad_data_is_no_want_of_labels),
      cmocka_unit_test(float32_gives_the_same_answer),
  };
  return run_cases(tests, NULL, NULL);
}
