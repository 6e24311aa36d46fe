/* The command on what is mostly unseen: triplets, --absent, --pairs. */
#include "command.h"
#include "remarks.h"

static void write_text(const command *c, const char *name, const char *text)
{
  command_write(c, name, text, strlen(text));
}

/* Rank one, a third left out. */
static void write_triplets(const command *c, const char *name, int base)
{
  static char text[1 << 16];
  size_t used =
      (size_t)snprintf(text, sizeof text, "%s\n",
                       base == 1 ? "row,column,value" : "row0,column0,value");
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 9; j++)
      if ((i + 2 * j) % 3 != 0)
        used += (size_t)snprintf(text + used, sizeof text - used, "%d,%d,%d\n",
                                 i + base, j + base, (i + 1) * (j + 2));
  write_text(c, name, text);
}

static double number(const command *c, const char *group, const char *key)
{
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_json *v;
  assert_int_equal(lapis_json_parse(ctx, c->out, strlen(c->out), "out", &v), 0);
  double value = lapis_json_number(lapis_json_get(v, group), key, NAN);
  lapis_json_free(v);
  lapis_ctx_free(ctx);
  return value;
}

static void triplets_and_pairs(void **state)
{
  command c;
  command_begin(&c);
  write_triplets(&c, "one.csv", 1);
  write_triplets(&c, "zero.csv", 0);
  command_do(&c, "fit mc -X one.csv --absent missing --mu 1e-3 --tol 1e-8 "
                 "--model m.lapis --json");
  double objective = number(&c, "info", "objective");
  CHECK_NEAR(number(&c, "data", "missing_features"), 36, 0);
  CHECK_AT_MOST(number(&c, "info", "gap"), 1e-8);
  command_run(&c, "fit mc -X zero.csv --absent missing --mu 1e-3 --tol 1e-8 "
                  "--solver admm --json");
  CHECK_NEAR(number(&c, "info", "objective"), objective, 2e-8 * objective);
  /* (3, 4) was seen, (1, 1) was not */
  write_text(&c, "pairs.csv", "row,column\n3,4\n1,1\n");
  command_do(&c, "predict m.lapis --pairs pairs.csv");
  char text[256];
  double seen, unseen, a, b;
  assert_int_equal(sscanf(c.out, "%lf %lf", &seen, &unseen), 2);
  CHECK_NEAR(seen, 15, 0.05);
  CHECK_NEAR(unseen, 2, 0.05);
  write_text(&c, "zero.csv", "row0,column0\n2,3\n0,0\n");
  char before[256];
  snprintf(before, sizeof before, "%.255s", c.out);
  command_run(&c, "predict m.lapis --pairs zero.csv");
  assert_string_equal(c.out, before);
  write_text(&c, "far.csv", "row,column\n3,4\n1,10\n");
  /* a table is one by its ending, and is sparse data again */
  command_do(&c, "predict m.lapis --pairs pairs.csv -o v.csv -q");
  assert_string_equal(c.out, "2 values predicted, written to v.csv\n");
  command_slurp(&c, "v.csv", text, sizeof text);
  assert_int_equal(sscanf(text, "row,column,value\n3,4,%lf\n1,1,%lf\n", &a, &b),
                   2);
  CHECK_NEAR(a, seen, 1e-5 * fabs(seen)); /* six digits */
  CHECK_NEAR(b, unseen, 1e-5 * fabs(unseen));
  command_run(&c, "predict m.lapis --pairs zero.csv -o v.tsv -q");
  command_slurp(&c, "v.tsv", text, sizeof text);
  assert_int_equal(sscanf(text, "row0 column0 value\n2\t3\t%lf", &a), 1);
  CHECK_NEAR(a, seen, 1e-5 * fabs(seen));
  command_run(&c, "predict m.lapis --pairs pairs.csv -o parts/");
  command_expect(&c, 2, "parts/");
  command_run(&c, "predict m.lapis --pairs pairs.csv -o p.html");
  command_expect(&c, 2, "p.html");
  command_run(&c, "predict m.lapis --pairs pairs.csv --scores");
  command_expect(&c, 2, "--scores");
  command_run(&c, "predict m.lapis --pairs pairs.csv --completed f.csv");
  command_expect(&c, 2, "--completed");
  command_run(&c, "predict m.lapis one.csv --pairs pairs.csv");
  command_expect(&c, 2, "--pairs");
  command_run(&c, "predict m.lapis --pairs far.csv");
  command_expect(&c, 4, "2 10 9");
  write_text(&c, "none.csv", "row,column\n");
  command_run(&c, "predict m.lapis --pairs none.csv");
  command_expect(&c, 4, "none.csv");
  command_end(&c);
}

/* The same entries as write_triplets, dense, "" where one is left out. */
static void write_dense(const command *c, const char *name)
{
  static char text[1 << 16];
  size_t used = 0;
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 9; j++) {
      bool seen = (i + 2 * j) % 3 != 0;
      used += (size_t)snprintf(
          text + used, sizeof text - used, seen ? "%d%s" : "%.0d%s",
          seen ? (i + 1) * (j + 2) : 0, j == 8 ? "\n" : ",");
    }
  write_text(c, name, text);
}

/* A model remembers what leaving out meant; so do the folds of cv. */
static void new_samples_leave_out_too(void **state)
{
  command c;
  lapis_arrays sparse, dense;
  lapis_ctx *ctx = lapis_ctx_new();
  char path[160];
  command_begin(&c);
  write_triplets(&c, "x.csv", 1);
  write_dense(&c, "dense.csv");
  command_do(&c, "fit mc -X x.csv --absent missing --mu 1e-3 --tol 1e-8 "
                 "--model m.lapis");
  command_do(&c, "predict m.lapis -X x.csv --tol 1e-6 -o a.npz");
  command_do(&c, "predict m.lapis -X dense.csv --tol 1e-6 -o b.npz");
  snprintf(path, sizeof path, "%s/a.npz", c.folder);
  assert_int_equal(lapis_arrays_read(ctx, path, &sparse), 0);
  snprintf(path, sizeof path, "%s/b.npz", c.folder);
  assert_int_equal(lapis_arrays_read(ctx, path, &dense), 0);
  const lapis_mat *a = &lapis_arrays_find(&sparse, "low_rank")->mat;
  const lapis_mat *b = &lapis_arrays_find(&dense, "low_rank")->mat;
  for (int64_t k = 0; k < 12 * 9; k++)
    CHECK_NEAR(((double *)a->val)[k], ((double *)b->val)[k], 0);
  CHECK_NEAR(lapis_mat_at(a, 0, 0), 2, 0.05); /* was left out */
  lapis_arrays_free(&sparse);
  lapis_arrays_free(&dense);
  lapis_ctx_free(ctx);
  write_text(&c, "bad.csv", "row,column,value\n1,1,1\n3,9,1\n");
  command_run(&c, "predict m.lapis -X bad.csv");
  command_expect(&c, 0, "row 2 of X: no feature is observed");
  command_end(&c);
}

/* A line a sample, its number first, then low_rank of that file. */
static void expect_completed(const command *c, const char *name,
                             const char *printed)
{
  lapis_arrays all;
  lapis_ctx *ctx = lapis_ctx_new();
  char path[160], *end;
  snprintf(path, sizeof path, "%s/%s", c->folder, name);
  assert_int_equal(lapis_arrays_read(ctx, path, &all), 0);
  const lapis_mat *D = &lapis_arrays_find(&all, "low_rank")->mat;
  assert_int_equal(D->rows, 9);
  assert_int_equal(D->cols, 12);
  for (int64_t j = 0; j < D->cols; j++) {
    CHECK_NEAR(strtod(printed, &end), (double)j + 1, 0);
    for (int64_t i = 0; i < D->rows; i++) {
      double v = lapis_mat_at(D, i, j);
      CHECK_NEAR(strtod(end, &end), v, 1e-9 * fabs(v));
    }
    assert_int_equal(*end, '\n');
    printed = end + 1;
  }
  assert_int_equal(*printed, '\0');
  lapis_arrays_free(&all);
  lapis_ctx_free(ctx);
}

/* What predict prints, whatever the model has: completed features at last. */
static void a_model_without_labels_answers(void **state)
{
  command c;
  command_begin(&c);
  write_triplets(&c, "x.csv", 1);
  command_run(&c, "fit mc -X x.csv --absent missing --mu 1e-3 --model m.lapis");
  command_run(&c, "predict m.lapis -X x.csv");
  assert_string_equal(c.err, "");
  static char printed[sizeof c.out];
  strcpy(printed, c.out);
  command_run(&c, "predict m.lapis -X x.csv -o a.npz");
  assert_string_equal(c.err, "");
  expect_completed(&c, "a.npz", printed);
  write_text(&c, "t.csv", "a,b,y\n1,2,3.5\n2,1,1.5\n3,5,8\n2,2,4\n0,1,1\n");
  command_do(&c, "fit rr t.csv --target y --model r.lapis");
  command_run(&c, "predict r.lapis t.csv --target y --scores");
  char scores[256];
  snprintf(scores, sizeof scores, "%.255s", c.out);
  assert_non_null(strstr(scores, "\n5\t"));
  command_run(&c, "predict r.lapis t.csv --target y");
  assert_string_equal(c.out, scores);
  command_end(&c);
}

/* Without a header triplets are asked for, and from where they count. */
static void triplets_without_a_header(void **state)
{
  command c;
  char bare[8192];
  const char *fit = "fit mc -X %s --absent missing --mu 1e-3 --solver factored "
                    "%s -q -o o.npz --json";
  command_begin(&c);
  for (int base = 0; base < 2; base++) {
    write_triplets(&c, "headed.csv", base);
    command_do(&c, fit, "headed.csv", base ? "--triplets 1" : "");
    double objective = number(&c, "info", "objective");
    command_slurp(&c, "headed.csv", bare, sizeof bare);
    write_text(&c, "bare.csv", strchr(bare, '\n') + 1);
    command_do(&c, fit, "bare.csv", base ? "--triplets 1" : "--triplets 0");
    CHECK_NEAR(number(&c, "info", "objective"), objective, 0);
    CHECK_NEAR(number(&c, "data", "features"), 9, 0);
  }
  command_run(&c, "fit mc -X bare.csv --mu 1e-3 --json");
  CHECK_NEAR(number(&c, "data", "features"), 3, 0); /* a table */
  command_run(&c, "fit mc -X headed.csv --triplets 0 --mu 1");
  command_expect(&c, 2, "1 --triplets 0");
  command_run(&c, "fit mc -X bare.csv --triplets 2 --mu 1");
  command_expect(&c, 2, "2 --triplets 1 0");
  write_text(&c, "text.csv", "user,item,stars\n1,1,5\n");
  command_run(&c, "fit mc -X text.csv --triplets 1 --mu 1");
  command_expect(&c, 4, "user text.csv:1:1");
  command_do(&c, "info bare.csv --triplets 1 --features 11 --json");
  command_end(&c);
}

static void bad_triplets(void **state)
{
  static const struct {
    const char *text, *words;
  } bad[] = {
      {"row,column,value\n1,1,1\n0,1,2\n", ":3:1: the row '0' is not a whole"},
      {"row,column,value\n1,1.5,1\n", ":2:3: the column '1.5' is not a whole"},
      {"row,column,value\n1,1,1\n1,2,nan\n", ":3:5: the value 'nan'"},
      {"row,column,value\n1,1,\n", "the value '' is not a finite number"},
      {"row0,column0,value\n0,0,1\n1,1,2\n0,1,3\n1,1,4\n",
       ":5: row 1, column 1 stands in line 3 already"},
      {"row,column,value\n", "has a header and no entry"},
      {"row,column,value\n1,1,1\n2,4,1\n",
       "2 features are observed in no sample, column 2 first"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    command c;
    command_begin(&c);
    write_text(&c, "x.csv", bad[i].text);
    command_run(&c, "fit mc -X x.csv --absent missing --mu 1e-3");
    command_expect(&c, 4, bad[i].words);
    command_end(&c);
  }
}

static void maps_do_not_invent_entries(void **state)
{
  command c;
  command_begin(&c);
  write_triplets(&c, "x.csv", 1);
  command_run(&c, "fit mc -X x.csv --absent missing --mu 1 --map standard");
  command_expect(&c, 2, "X");
  command_do(&c, "fit mc -X x.csv --absent missing --mu 1e-3 --map scale:2");
  write_dense(&c, "dense.csv");
  write_text(&c, "y.csv", "1\n0\n1\n0\n1\n0\n1\n0\n1\n0\n1\n0\n");
  command_do(&c, "fit mc -X dense.csv --absent missing --mu 1e-3 "
                 "--map standard --model m.lapis");
  command_run(&c, "predict m.lapis -X x.csv");
  command_expect(&c, 2, "--map X");
  command_run(&c, "cv mc -X x.csv -Y y.csv --absent missing --map standard "
                  "--grid mu=1e-3 --folds 2");
  command_expect(&c, 2, "--map X");
  command_end(&c);
}

static void the_solver_is_said(void **state)
{
  command c;
  command_begin(&c);
  write_triplets(&c, "x.csv", 1);
  command_run(&c, "fit mc -X x.csv --absent missing --mu 1e-3 -v");
  command_expect(&c, 0, SPARSE_LEAVES_OUT);
  command_run(&c, "fit mc -X x.csv --mu 1e-3 -v");
  command_expect(&c, 0, "mc: solver ");
  assert_null(strstr(c.err, "factored"));
  command_end(&c);
}

int test_factored(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(triplets_and_pairs),
      cmocka_unit_test(new_samples_leave_out_too),
      cmocka_unit_test(a_model_without_labels_answers),
      cmocka_unit_test(triplets_without_a_header),
      cmocka_unit_test(bad_triplets),
      cmocka_unit_test(maps_do_not_invent_entries),
      cmocka_unit_test(the_solver_is_said),
  };
  return run_cases(tests, NULL, NULL);
}
