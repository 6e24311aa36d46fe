/* Tables whose columns have different units, completed without options: against
 * what the empty cells would have held. */
#include "command.h"
#include "remarks.h"

enum { ROWS = 80, COLUMNS = 6 };

typedef struct plants {
  double whole[ROWS][COLUMNS];
  bool hole[ROWS][COLUMNS];
} plants;

/* Two sources and a little noise; column k in units of unit^k. */
static void draw(plants *p, double unit)
{
  static const double a[] = {1, .5, -.7, .2, .9, -.4};
  static const double b[] = {.3, -1, .6, .8, -.2, .7};
  uint64_t seed = 5;
  for (int j = 0; j < ROWS; j++) {
    double u = check_normal(&seed), v = check_normal(&seed);
    for (int k = 0; k < COLUMNS; k++) {
      double z = 3 + a[k] * u + b[k] * v + .1 * check_normal(&seed);
      p->whole[j][k] = z * pow(unit, k - 2);
      p->hole[j][k] = check_uniform(&seed) < .2;
    }
  }
}

static void write_table(const command *c, const plants *p)
{
  static char text[ROWS * COLUMNS * 30];
  size_t at = (size_t)sprintf(text, "a,b,c,d,e,f\n");
  for (int j = 0; j < ROWS; j++)
    for (int k = 0; k < COLUMNS; k++) {
      if (!p->hole[j][k])
        at += (size_t)sprintf(text + at, "%.12g", p->whole[j][k]);
      at += (size_t)sprintf(text + at, k + 1 < COLUMNS ? "," : "\n");
    }
  command_write(c, "t.csv", text, at);
}

/* The least R^2 of the filled cells of a column: 0 is what its mean does. */
static double least_r2(const command *c, const plants *p, const char *name)
{
  static char text[ROWS * COLUMNS * 40];
  double least = 1, cells[ROWS][COLUMNS];
  command_slurp(c, name, text, sizeof text);
  char *at = strchr(text, '\n') + 1;
  for (int j = 0; j < ROWS; j++)
    for (int k = 0; k < COLUMNS; k++, at++) cells[j][k] = strtod(at, &at);
  for (int k = 0; k < COLUMNS; k++) {
    double mean = 0, seen = 0, off = 0, all = 0;
    for (int j = 0; j < ROWS; j++)
      if (!p->hole[j][k]) mean += p->whole[j][k], seen++;
    mean /= seen;
    for (int j = 0; j < ROWS; j++) {
      if (!p->hole[j][k]) {
        CHECK_NEAR(cells[j][k], p->whole[j][k], 1e-10 * fabs(cells[j][k]));
        continue;
      }
      off += pow(cells[j][k] - p->whole[j][k], 2);
      all += pow(mean - p->whole[j][k], 2);
    }
    least = fmin(least, 1 - off / all);
  }
  return least;
}

static void columns_of_all_units_are_filled(void **state)
{
  static plants p;
  static char told[ROWS * COLUMNS * 40], stated[ROWS * COLUMNS * 40];
  command c;
  command_begin(&c);
  draw(&p, 20);
  write_table(&c, &p);
  command_run(&c, "fit mc t.csv --completed full.csv");
  command_expect(&c, 0, ONE_SCALE);
  CHECK_AT_LEAST(least_r2(&c, &p, "full.csv"), .8);
  command_do(&c, "fit mc t.csv --map standard -q --completed same.csv");
  command_slurp(&c, "full.csv", told, sizeof told);
  command_slurp(&c, "same.csv", stated, sizeof stated);
  assert_string_equal(told, stated);
  command_run(&c, "fit mc t.csv --map none --completed full.csv");
  command_expect(&c, 0, LARGEST_DECIDE);
  CHECK_AT_MOST(least_r2(&c, &p, "full.csv"), .1);
  command_end(&c);
}

/* What the user states stays; units that differ are told. */
static void a_stated_problem_stays(void **state)
{
  static plants p;
  command c;
  command_begin(&c);
  draw(&p, 20);
  write_table(&c, &p);
  command_run(&c, "fit mc t.csv --mu-rel .05 --completed full.csv");
  command_expect(&c, 0, LARGEST_DECIDE "--map standard");
  CHECK_AT_MOST(least_r2(&c, &p, "full.csv"), .1);
  command_run(&c, "fit mc t.csv -o a.npz");
  command_expect(&c, 0, LARGEST_DECIDE "--map standard");
  command_run(&c, "fit rpca t.csv --completed full.csv");
  command_expect(&c, 0, "rpca: deviations of features from ");
  CHECK_AT_MOST(least_r2(&c, &p, "full.csv"), .1);
  command_run(&c, "fit rpca full.csv -o a.npz"); /* without gaps */
  command_expect(&c, 0, "");
  assert_null(strstr(c.err, "one scale"));
  command_do(&c, "fit rpca t.csv --map standard --completed full.csv");
  assert_null(strstr(c.err, "one scale"));
  command_run(&c,
              "formats >/dev/null; (cd %s && awk '{ print $0 (NR == 1 ? "
              "\",k\" : NR %% 2 ? \",u\" : \",v\") }' t.csv >k.csv)",
              c.folder);
  assert_int_equal(c.code, 0);
  command_run(&c, "fit mc k.csv --target k --mu-rel .05 --completed full.csv");
  command_expect(&c, 0, LARGEST_DECIDE "--map standard");
  draw(&p, 1.2);
  write_table(&c, &p);
  command_do(&c, "fit mc t.csv -o a.npz");
  assert_null(strstr(c.err, "one scale"));
  /* of one unit, but far from 0 */
  command_do(&c, "fit mc t.csv -q --completed full.csv");
  CHECK_AT_LEAST(least_r2(&c, &p, "full.csv"), .8);
  command_end(&c);
}

/* What a method without targets answers is in the units of the table whatever
 * map it saw: where the table has gaps, as the completed table has it. */
static void answers_are_in_the_units_of_the_table(void **state)
{
  static plants p;
  command c;
  command_begin(&c);
  draw(&p, 20);
  write_table(&c, &p);
  command_do(&c,
             "fit rpca t.csv --map standard -o out.csv --completed full.csv "
             "--model m.lapis");
  command_do(&c, "predict m.lapis t.csv -o new.csv --completed again.csv");
  static const char *const of[][2] = {{"full.csv", "out.csv"},
                                      {"again.csv", "new.csv"}};
  for (int k = 0; k < 2; k++) {
    int gaps = 0, apart = 1;
    command_run(&c,
                "formats >/dev/null; (cd %s && awk -F, "
                "'FILENAME == \"t.csv\" { for (i = 1; i <= NF; i++) "
                "t[FNR, i] = $i } FILENAME == \"%s\" { for (i = 1; i <= "
                "NF; i++) f[FNR, i] = $i } FNR > 1 && FILENAME == \"%s\" { for "
                "(i = 2; i <= NF; i++) if (t[FNR, i - 1] == \"\") { gaps++; "
                "d = $i - f[FNR, i - 1]; if (d * d > 1e-4 * ($i * $i + 1)) "
                "apart++ } } END { print gaps + 0, apart + 0 }' "
                "t.csv %s %s)",
                c.folder, of[k][0], of[k][1], of[k][0], of[k][1]);
    assert_int_equal(sscanf(c.out, "%d %d", &gaps, &apart), 2);
    assert_true(gaps > 20);
    assert_int_equal(apart, 0);
  }
  command_end(&c);
}

int test_units(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(columns_of_all_units_are_filled),
      cmocka_unit_test(a_stated_problem_stays),
      cmocka_unit_test(answers_are_in_the_units_of_the_table),
  };
  return run_cases(tests, NULL, NULL);
}
