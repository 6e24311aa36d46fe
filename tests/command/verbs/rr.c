/* The command on rpca, rr, rlda and clean: files in, files out, refusals. */
#include "command.h"
#include "fixture.h"
#include "remarks.h"

static void robust_pca(void **state)
{
  fixture f;
  fixture_open(&f, "rpca_missing", false);
  command c;
  command_begin(&c);
  command_do(&c,
             "fit rpca %s/data.npz --lambda %.17g --tol 1e-9 --certificate "
             "--json -o out.npz --model m.lapis",
             f.folder, fixture_number(&f, "lam"));
  double best = fixture_number(&f, "objective");
  CHECK_NEAR(command_info(c.out, "objective"), best, 1e-7 * best);
  CHECK_AT_MOST(command_info(c.out, "gap"), 1e-9);
  assert_true(command_exists(&c, "out.npz"));
  command_do(&c, "predict m.lapis %s/data.npz --json -o p.npz", f.folder);
  assert_true(command_exists(&c, "p.npz"));
  command_end(&c);
  fixture_close(&f);
}

/* The dictionary beside X is found, and can be named. */
static void cleaning(void **state)
{
  fixture f;
  fixture_open(&f, "clean_test", false);
  double best = fixture_number(&f, "objective");
  command c;
  command_begin(&c);
  for (int named = 0; named < 2; named++) {
    char option[1200] = "";
    if (named)
      snprintf(option, sizeof option, "--dictionary %s/data.npz:dictionary",
               f.folder);
    command_do(&c,
               "fit clean %s/data.npz %s --lambda .3 --joint --weight paper "
               "--tol 1e-9 --json -o out.npz",
               f.folder, option);
    CHECK_NEAR(command_info(c.out, "objective"), best, 1e-7 * best);
  }
  command_end(&c);
  fixture_close(&f);
}

static void regression(void **state)
{
  fixture f;
  fixture_open(&f, "rr_alm_lowrank", false);
  command c;
  command_begin(&c);
  command_do(&c,
             "fit rr %s/data.npz --eta 5 --lambda .2 --gamma .1 --rho 1.05 "
             "--weight %s/data.npz:W --json -o out.npz --model m.lapis",
             f.folder, f.folder);
  double alm = fixture_number(&f, "objective_alm");
  CHECK_AT_MOST(command_info(c.out, "objective"), alm * (1 + 1e-6));
  assert_true(isnan(command_info(c.out, "gap")));
  command_do(&c, "predict m.lapis %s/data.npz --scores -o p.npz", f.folder);
  command_do(&c, "predict m.lapis %s/data.npz --clean none --scores", f.folder);
  command_end(&c);
  fixture_close(&f);
}

/* An answer that is all error or all data says which way to go. */
static void empty_answers_say_where_to_go(void **state)
{
  static const char *const fits[] = {"rpca", "rr -Y y.csv", "rlda -Y c.csv",
                                     "rr --denoise rpca -Y y.csv"};
  command c;
  command_begin(&c);
  const char x[] = "1,2,4\n3,4,9\n5,7,1\n2,8,6\n", y[] = "1\n2\n3\n9\n";
  const char classes[] = "1\n2\n2\n1\n", gone[] = "1,2,3\n,,\n";
  command_write(&c, "x.csv", x, sizeof x - 1);
  command_write(&c, "y.csv", y, sizeof y - 1);
  command_write(&c, "c.csv", classes, sizeof classes - 1);
  command_write(&c, "gone.csv", gone, sizeof gone - 1);
  for (int k = 0; k < 4; k++) {
    command_run(&c, "fit %s -X x.csv --lambda 1e-6", fits[k]);
    /* jointly, what the targets ask for stays in D */
    command_expect(&c, 0, k % 3 == 0 ? "a larger --lambda" : "");
    command_run(&c, "fit %s -X x.csv --lambda 100 --model m.lapis", fits[k]);
    command_expect(&c, 0, "a smaller --lambda");
    command_run(&c, "predict m.lapis -X gone.csv");
    command_expect(&c, 0, "row 2 of X: no feature is observed");
  }
  command_run(&c, "fit rr -X x.csv -Y y.csv --gamma 0");
  command_expect(&c, 2, "");
  command_do(&c, "cv rlda -X x.csv -Y c.csv --grid lambda=.1,1 --folds 2 "
                 "--metric accuracy");
  assert_non_null(strstr(c.out, "<- best"));
  command_end(&c);
}

/* Numbers are judged as numbers, unless they are two values. */
static void folds_judge_numbers(void **state)
{
  enum { ROWS = 30 };
  char text[4000], two[4000];
  uint64_t seed = 8;
  int used = sprintf(text, "a,b,y,z\n"), used_two = sprintf(two, "a,b,y\n");
  command c;
  command_begin(&c);
  for (int j = 0; j < ROWS; j++) {
    double a = check_normal(&seed), b = check_normal(&seed);
    used += sprintf(text + used, "%.9g,%.9g,%.9g,%.9g\n", a, b, a - b, a + b);
    used_two += sprintf(two + used_two, "%.9g,%.9g,%d\n", a, b, a > b);
  }
  command_write(&c, "t.csv", text, (size_t)used);
  command_write(&c, "two.csv", two, (size_t)used_two);
  for (int several = 0; several < 2; several++) {
    const char *named = several ? "--target y,z" : "--target y --drop z";
    command_do(&c, "cv rr t.csv %s --folds 3 --grid lambda=.5,2 --json", named);
    lapis_json *v = command_json(c.out);
    const lapis_json *best = lapis_json_get(v, "best");
    assert_string_equal(lapis_json_text(v, "metric", ""), "rae");
    CHECK_AT_MOST(lapis_json_number(best, "mean", NAN), .9);
    assert_int_equal(lapis_json_number(best, "folds", NAN), 3);
    lapis_json_free(v);
    command_run(&c,
                "cv rr t.csv %s --folds 3 --grid lambda=.5,2 --metric "
                "auroc",
                named);
    command_expect(&c, 2, "--metric");
  }
  double best[2]; /* R^2 of one column and of all folds is 1 - c rae^2 */
  for (int k = 0; k < 2; k++) {
    command_do(&c,
               "cv rr t.csv --target y --drop z --folds 3 --pooled --grid "
               "lambda=.05,.5,2 --metric %s --json",
               k == 0 ? "rae" : "r2");
    lapis_json *v = command_json(c.out);
    const lapis_json *set =
        lapis_json_get(lapis_json_get(v, "best"), "settings");
    best[k] = strtod(lapis_json_text(set, "lambda", "nan"), NULL);
    lapis_json_free(v);
  }
  CHECK_NEAR(best[0], best[1], 0);
  command_do(&c, "cv rr two.csv --target y --folds 3 --grid lambda=.5,2 "
                 "--metric auroc");
  assert_memory_equal(c.out, "auroc, ", 7);
  command_end(&c);
}

/* Gaps where nothing cleans: what is added fills them, in the model too. */
static void gaps_without_cleaning_are_imputed(void **state)
{
  static const char *const said =
      "row 2, column 2; nothing fills it in without "
      "cleaning (--denoise none, --clean none): add "
      "--map standard,impute";
  command c;
  command_begin(&c);
  const char text[] = "a,b,c,y\n1,2,2,1\n3,,1,2\n5,7,4,5\n2,3,6,4\n";
  command_write(&c, "t.csv", text, sizeof text - 1);
  command_run(&c, "fit rr t.csv --target y --denoise none");
  command_expect(&c, 4, said);
  assert_null(strstr(c.err, NO_MISSING_VALUES));
  command_do(&c, "fit rr t.csv --target y --model m.lapis");
  command_run(&c, "predict m.lapis t.csv --clean none");
  command_expect(&c, 4, said);
  command_do(&c, "fit rr t.csv --target y --denoise none --map "
                 "standard,impute --model m.lapis");
  command_do(&c, "predict m.lapis t.csv");
  command_end(&c);
}

static void refusals(void **state)
{
  command c;
  command_begin(&c);
  const char text[] = "1,2\n3,4\n5,7\n";
  command_write(&c, "x.csv", text, sizeof text - 1);
  command_run(&c, "fit rr -X x.csv -Y x.csv --gamma 0");
  command_expect(&c, 2, "--gamma 0");
  command_run(&c, "fit rr -X x.csv -Y x.csv --weight none.npy");
  command_expect(&c, 4, "none.npy");
  command_run(&c, "fit clean -X x.csv");
  command_expect(&c, 4, "--dictionary");
  command_run(&c, "fit rpca -X x.csv --lambda -1");
  command_expect(&c, 2, "--lambda");
  command_end(&c);
}

/* Numbers of which gamma is less than the rounding: T is found all the same,
 * and J is that of robust PCA, beside which the fit weighs next to nothing. */
static void large_numbers_are_solved(void **state)
{
  enum { ROWS = 40, COLS = 6 };
  static char text[8000];
  uint64_t seed = 5;
  int used = sprintf(text, "a,b,c,d,e,f,y\n");
  command c;
  command_begin(&c);
  for (int j = 0; j < ROWS; j++) {
    for (int i = 0; i < COLS; i++)
      used += sprintf(text + used, "%.9g,", 1e9 * check_normal(&seed));
    used += sprintf(text + used, "%.9g\n", check_normal(&seed));
  }
  command_write(&c, "t.csv", text, (size_t)used);
  command_do(&c, "fit rpca t.csv --drop y --json");
  double least = command_info(c.out, "objective");
  command_do(&c, "fit rr t.csv --target y --scale none -o o.npz --json");
  CHECK_AT_LEAST(command_info(c.out, "objective"), least * (1 - 1e-6));
  CHECK_AT_MOST(command_info(c.out, "objective"), least * 1.02);
  command_end(&c);
}

/* ---- units ---------------------------------------------------------------*/
enum { ROWS = 80, COLS = 5 };
typedef struct units {
  double unit[COLS], off[COLS]; /* of the features */
  double times, plus;           /* of the target */
} units;

/* Five sensors of two causes; some entries are wrong, some missing. */
static void write_sensors(command *c, const char *name, const units *in,
                          uint64_t seed, double *truth)
{
  static char text[20000];
  int used = sprintf(text, "a,b,c,d,e,y\n");
  for (int j = 0; j < ROWS; j++) {
    double u = check_normal(&seed), v = check_normal(&seed);
    double x[COLS] = {u, v, u + v, u - v, 2 * u + v};
    truth[j] = u - 2 * v;
    for (int i = 0; i < COLS; i++) {
      double e = .05 * check_normal(&seed), how = check_uniform(&seed);
      if (how < .05) e = 30;
      if (how < .97)
        used += sprintf(text + used, "%.17g",
                        in->unit[i] * (x[i] + e) + in->off[i]);
      text[used++] = ',';
    }
    used += sprintf(text + used, "%.17g\n", in->times * truth[j] + in->plus);
  }
  command_write(c, name, text, (size_t)used);
}

/* What is said of the later half, in units of the plain target; R^2. */
static double told(command *c, const units *in, const char *options,
                   double *said)
{
  double truth[ROWS], square[2] = {0, 0};
  write_sensors(c, "old.csv", in, 4, truth);
  write_sensors(c, "new.csv", in, 5, truth);
  command_do(c, "fit rr old.csv --target y --model m.lapis %s", options);
  command_do(c, "predict m.lapis new.csv -q --drop y");
  const char *at = c->out;
  for (int j = 0; j < ROWS; j++) {
    char *end;
    int row = (int)strtol(at, &end, 10);
    assert_int_equal(row, j + 1);
    said[j] = (strtod(end, &end) - in->plus) / in->times;
    at = end;
    square[0] += pow(said[j] - truth[j], 2);
    square[1] += truth[j] * truth[j];
  }
  return 1 - square[0] / square[1];
}

static const units plain = {{1, 1, 1, 1, 1}, {0}, 1, 0};

/* Without an option, and with what is usually asked for, the answer is sound
 * and goes along with the units. */
static void units_do_not_matter(void **state)
{
  static const units other[] = {
      {{1, 1, 1, 1, 1}, {0}, 1, 1000},
      {{1, 1, 1, 1, 1}, {0}, 1e-4, 20},
      {{1e3, 1e-3, 1, 25.4, 1e5}, {0}, 1, 0},
      {{1, 1.8, 1, 1, 1e-2}, {5, 32, -700, 0, 3}, 1e6, -3e7}};
  static const char *const options[] = {"", "--lambda .3", "--denoise rpca",
                                        "--gamma 1 --scale standard"};
  command c;
  command_begin(&c);
  for (int k = 0; k < 4; k++) {
    double one[ROWS], two[ROWS];
    double first = told(&c, &plain, options[k], one);
    print_message("'%s': R^2 %.3f\n", options[k], first);
    CHECK_AT_LEAST(first, k == 0 ? .95 : .3);
    for (int o = 0; o < 4; o++) {
      CHECK_NEAR(told(&c, &other[o], options[k], two), first, 1e-4);
      for (int j = 0; j < ROWS; j++) CHECK_NEAR(two[j], one[j], 1e-3);
    }
  }
  command_end(&c);
}

/* eta and lambda together, or --scale none, state the problem of the data as
 * they are, in which a target's mean is dear; a scale that is asked for is
 * that of eta and lambda, too. */
static void what_is_stated_stays(void **state)
{
  static const units far = {{1, 1, 1, 1, 1}, {0}, 1, 20};
  double said[ROWS];
  command c;
  command_begin(&c);
  CHECK_AT_LEAST(told(&c, &far, "", said), .95);
  CHECK_AT_MOST(told(&c, &far, "--scale none", said), .5);
  CHECK_AT_MOST(told(&c, &far, "--eta 10 --lambda .112", said), .5);
  CHECK_AT_LEAST(told(&c, &far, "--eta 10 --lambda .112 --scale robust", said),
                 .7);
  write_sensors(&c, "old.csv", &plain, 4, said);
  command_write(&c, "T.csv", "1,1,1,1,1,0\n", 12);
  command_run(&c, "fit rr old.csv --target y --fix-weights T.csv --scale "
                  "robust");
  command_expect(&c, 2, "--scale --fix-weights");
  command_do(&c, "cv rr old.csv --target y --grid lambda=.2,.4 --folds 2");
  command_end(&c);
}

/* ---- features that are no normal numbers ---------------------------------*/
enum { FEATURES = 6, LEARNT = 120, ASKED = 120 };
typedef double (*feature)(uint64_t *seed, int i);

/* Pareto's tail of 1.5: large numbers that are true. */
static double heavy_tailed(uint64_t *seed, int i)
{
  double sign = check_uniform(seed) < .5 ? -1 : 1;
  (void)i;
  return sign * pow(check_uniform(seed), -1 / 1.5);
}

/* Two sensors rest for most of the time, but for noise. */
static double at_rest(uint64_t *seed, int i)
{
  double x = check_normal(seed);
  double rests = i == 0 ? .8 : .6;
  if (i > 1) rests = 0;
  return check_uniform(seed) < rests ? 1e-7 * x : x;
}

/* Of a target that is a sum of the features, learnt from `wrong` of them moved
 * by 100: R^2 of later samples. */
static double told_of(command *c, feature of, double wrong)
{
  static char text[40000];
  uint64_t seed = 12;
  double truth[ASKED], square[2] = {0, 0};
  int used = 0;
  for (int j = 0; j < LEARNT + ASKED; j++) {
    double y = .01 * check_normal(&seed);
    if (j == 0 || j == LEARNT) used = sprintf(text, "a,b,c,d,e,f,y\n");
    for (int i = 0; i < FEATURES; i++) {
      double x = of(&seed, i), off = check_uniform(&seed) < wrong ? 100 : 0;
      y += (i + 1) * x;
      used += sprintf(text + used, "%.17g,", x + (j < LEARNT ? off : 0));
    }
    used += sprintf(text + used, "%.17g\n", y);
    if (j >= LEARNT) truth[j - LEARNT] = y;
    if (j + 1 == LEARNT) command_write(c, "old.csv", text, (size_t)used);
  }
  command_write(c, "new.csv", text, (size_t)used);
  command_run(c, "fit rr old.csv --target y --model m.lapis");
  command_expect(c, 0, wrong > 0 ? "robust PCA first" : "removing errors");
  if (wrong > 0) {
    double gap = INFINITY; /* what "solved" was proved to */
    const char *proved = strstr(c->err, "proved to a gap of ");
    assert_non_null(proved);
    assert_int_equal(sscanf(proved, "proved to a gap of %lf", &gap), 1);
    CHECK_AT_MOST(gap, 1e-6);
    assert_null(strstr(c->err, "removing errors"));
  }
  assert_non_null(strstr(c->err, "MAD"));
  command_do(c, "predict m.lapis new.csv -q --drop y");
  char *at = c->out;
  for (int j = 0; j < ASKED; j++) {
    assert_int_equal(strtol(at, &at, 10), j + 1);
    square[0] += pow(strtod(at, &at) - truth[j], 2);
    square[1] += truth[j] * truth[j];
  }
  return 1 - square[0] / square[1];
}

/* Where nothing is wrong all is kept, whatever the features are like; gross
 * errors do not stretch the size of a feature. */
static void what_is_true_is_kept(void **state)
{
  command c;
  command_begin(&c);
  CHECK_AT_LEAST(told_of(&c, heavy_tailed, 0), .999);
  CHECK_AT_LEAST(told_of(&c, at_rest, 0), .999);
  CHECK_AT_LEAST(told_of(&c, at_rest, .03), .7);
  command_end(&c);
}

/* A model of which nothing is left tells the mean, of rows with gaps, too. */
static void a_model_of_rank_0_tells_its_bias(void **state)
{
  static char text[40000];
  uint64_t seed = 3;
  int used = 0;
  command c;
  command_begin(&c);
  const char x[] = "1,2,4\n3,4,9\n5,7,1\n2,8,6\n", y[] = "1\n2\n3\n9\n";
  command_write(&c, "x.csv", x, sizeof x - 1);
  command_write(&c, "y.csv", y, sizeof y - 1);
  command_write(&c, "gap.csv", "1,,3\n1,2,3\n", 11);
  command_run(&c, "fit rr -X x.csv -Y y.csv --denoise rpca --lambda 1e-6 "
                  "--model m.lapis");
  command_expect(&c, 0, "all of X is error");
  command_do(&c, "predict m.lapis -X gap.csv");
  assert_string_equal(c.out, "1\t3.75\n2\t3.75\n");
  /* noise, most of it missing: what is chosen can be asked */
  for (int i = 0; i < 60; i++) used += sprintf(text + used, "x%d,", i);
  used += sprintf(text + used, "y\n");
  for (int j = 0; j < 30; j++) {
    for (int i = 0; i < 60; i++) {
      double v = check_normal(&seed);
      if (check_uniform(&seed) < .4) used += sprintf(text + used, "%.9g", v);
      text[used++] = ',';
    }
    used += sprintf(text + used, "%.9g\n", check_normal(&seed));
  }
  command_write(&c, "noise.csv", text, (size_t)used);
  command_run(&c, "fit rr noise.csv --target y --model m.lapis");
  command_expect(&c, 0, "on two folds");
  command_do(&c, "predict m.lapis noise.csv --drop y");
  command_end(&c);
}

/* R^2 of one sample is none; of all together it is. */
static void folds_of_one_sample_are_judged_together(void **state)
{
  static const char table[] = "a,y\n.1,1\n.3,2\n.2,2\n.7,4\n.4,3\n.9,6\n";
  static const char line[] = "cv rr t.csv --target y --metric r2 --folds 6 "
                             "--lambda 1 --grid gamma=1";
  command c;
  command_begin(&c);
  command_write(&c, "t.csv", table, sizeof table - 1);
  command_run(&c, "%s", line);
  command_expect(&c, 4, "--folds --pooled");
  command_do(&c, "%s --pooled", line);
  assert_null(strstr(c.out, "not scored"));
  assert_non_null(strstr(c.out, " +- "));
  command_end(&c);
}

/* What was not done is not said to be done. */
static void what_is_not_done_is_said(void **state)
{
  command c;
  command_begin(&c);
  const char few[] = "a,b,y\n1,2,3\n2,1,5\n4,4,1\n0,2,2\n1,7,1\n5,1,4\n";
  const char two[] = "a,b,c\n1,2,u\n2,1,v\n4,4,u\n0,2,v\n1,7,u\n5,1,v\n";
  const char one[] = "a,b,c\n1,2,u\n2,1,v\n4,4,u\n0,2,u\n1,7,u\n5,1,u\n6,1,u\n"
                     "3,1,u\n2,5,u\n7,1,u\n3,3,u\n";
  command_write(&c, "few.csv", few, sizeof few - 1);
  command_write(&c, "two.csv", two, sizeof two - 1);
  command_write(&c, "one.csv", one, sizeof one - 1);
  command_run(&c, "fit rlda one.csv --target c");
  command_expect(&c, 0, NO_FOLD_JUDGED);
  const char short_one[] = "a,b,c\n1,2,u\n2,1,v\n4,4,u\n";
  command_write(&c, "short.csv", short_one, sizeof short_one - 1);
  command_run(&c, "fit rlda short.csv --target c");
  command_expect(&c, 0, NO_FOLD_JUDGED);
  command_run(&c, "fit rr few.csv --target y");
  command_expect(&c, 0, FEW_SAMPLES);
  assert_null(strstr(c.err, "folds"));
  command_do(&c, "fit rlda two.csv --target c --refill 2 --lambda .5");
  command_run(&c, "fit rlda two.csv --target c --refill 2 --scale robust");
  command_expect(&c, 2, "--scale --refill");
  command_do(&c, "fit rlda two.csv --target c --refill 2 --lambda .5 "
                 "--tau 99 --model two.lapis");
  command_do(&c, "predict two.lapis two.csv --clean-weight .05 --json");
  assert_null(strstr(c.out, "\"mostly-covered\""));
  const char far[] = "a,b,c\n100,-900,u\n-700,800,v\n";
  command_write(&c, "far.csv", far, sizeof far - 1);
  command_do(&c, "predict two.lapis far.csv --clean-weight .05 --json");
  assert_non_null(strstr(c.out, "\"mostly-covered\""));
  static const char unscaled[] = "features are not scaled";
  command_run(&c, "cv rr few.csv --target y --folds 2 --grid eta=1,10 "
                  "--grid lambda=.2");
  command_expect(&c, 0, NOT_SCALED);
  check_says(c.err, "--scale robust");
  assert_null(strstr(strstr(c.err, unscaled) + 1, unscaled));
  command_do(&c, "cv rr few.csv --target y --folds 2 --grid eta=1,10 "
                 "--lambda .2 --scale robust");
  assert_null(strstr(c.err, unscaled));
  command_end(&c);
}

int test_rr(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(units_do_not_matter),
      cmocka_unit_test(what_is_stated_stays),
      cmocka_unit_test(what_is_true_is_kept),
      cmocka_unit_test(a_model_of_rank_0_tells_its_bias),
      cmocka_unit_test(folds_of_one_sample_are_judged_together),
      cmocka_unit_test(what_is_not_done_is_said),
      cmocka_unit_test(large_numbers_are_solved),
      cmocka_unit_test(robust_pca),
      cmocka_unit_test(cleaning),
      cmocka_unit_test(regression),
      cmocka_unit_test(empty_answers_say_where_to_go),
      cmocka_unit_test(folds_judge_numbers),
      cmocka_unit_test(gaps_without_cleaning_are_imputed),
      cmocka_unit_test(refusals)};
  return run_cases(tests, NULL, NULL);
}
