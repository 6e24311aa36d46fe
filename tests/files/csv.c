/* csv.c - tables of text as people have them. */

#include "files.h"

typedef struct wanted {
  const char *text;
  lapis_table_options opt;
  int64_t d, n;
  double X[12]; /* d x n, NaN where missing */
} wanted;

static bool equal_or_nan(double a, double b)
{
  return isnan(a) ? isnan(b) : !(a < b || a > b) && !isnan(b);
}

static lapis_dataset *read_table(files *f, const char *text,
                                 const lapis_table_options *opt)
{
  lapis_dataset *ds;
  CHECK_OK(f, lapis_dataset_new(f->ctx, &ds));
  CHECK_OK(f, lapis_dataset_read(ds, files_put_text(f, "a.csv", text), opt));
  CHECK_OK(f, lapis_dataset_finish(ds));
  return ds;
}

#define NONE                    \
  {                             \
    .header = LAPIS_HEADER_AUTO \
  }
static const wanted plain[] = {
    {"1,2\n3,4\n", NONE, 2, 2, {1, 2, 3, 4}},
    {"1,2\r\n3,4\r\n", NONE, 2, 2, {1, 2, 3, 4}},
    {"1,2\r3,4", NONE, 2, 2, {1, 2, 3, 4}},
    {"\xef\xbb\xbf"
     "1;2\n3;4\n\n\n",
     NONE,
     2,
     2,
     {1, 2, 3, 4}},
    {"1\t2\n\n3\t4\n", NONE, 2, 2, {1, 2, 3, 4}},
    {"a,b\n1,2\n3,4\n", NONE, 2, 2, {1, 2, 3, 4}},
    {"\n\n a , b \n 1 , 2 \n   \n3,4\n", NONE, 2, 2, {1, 2, 3, 4}},
    {"\"a,x\",\"b\"\"c\"\n\"1\",2\n3,\"4\"\n", NONE, 2, 2, {1, 2, 3, 4}},
    {"\"a\nx\",b\n1,2\n3,4\n", NONE, 2, 2, {1, 2, 3, 4}},
    {",b\n1,2\n3,4\n", NONE, 2, 2, {1, 2, 3, 4}},
    {"1,,3\n,NA,?\nnan,NaN,null\n",
     NONE,
     3,
     3,
     {1, NAN, 3, NAN, NAN, NAN, NAN, NAN, NAN}},
    {"1,n/a,NONE\nNa,2,N/A\nNULL,-NaN,None\n",
     NONE,
     3,
     3,
     {1, NAN, NAN, NAN, 2, NAN, NAN, NAN, NAN}},
    {"#N/A,2,\"#N/A N/A\"\n<NA>,#DIV/0!,3\n#VALUE!,#REF!,#NUM!\n"
     "#null!,#Name?,#NA\n",
     NONE,
     3,
     4,
     {NAN, 2, NAN, NAN, NAN, 3, NAN, NAN, NAN, NAN, NAN, NAN}},
    {"n.a.,2\nN. A.,3\n", NONE, 2, 2, {NAN, 2, NAN, 3}},
    {"#a,b\n#N/A,2\n3,4\n", NONE, 2, 2, {NAN, 2, 3, 4}},
    {"a\tb\n1\t\n\t2\n\t\n", NONE, 2, 3, {1, NAN, NAN, 2, NAN, NAN}},
    {"1\n\n3\n", NONE, 1, 3, {1, NAN, 3}},
    {"\n1\n\n3\n\n", NONE, 1, 5, {NAN, 1, NAN, 3, NAN}},
    {"\xef\xbb\xbf\r\n\r\n1\r\n \r\n\r\n", NONE, 1, 5, {NAN, NAN, 1, NAN, NAN}},
    {"\n1", NONE, 1, 2, {NAN, 1}},
    {"sep=;\n\n1\n\n", NONE, 1, 3, {NAN, 1, NAN}},
    {"a\n\n2\n\n", NONE, 1, 3, {NAN, 2, NAN}},
    {"-1.5e-3,+.5,inf,-Infinity\n",
     NONE,
     4,
     1,
     {-1.5e-3, .5, INFINITY, -INFINITY}},
    {"1,2\n3,4\n", {.header = LAPIS_HEADER_YES}, 2, 1, {3, 4}},
    {"1,2,\n3,4,\n", NONE, 3, 2, {1, 2, NAN, 3, 4, NAN}},
    {"0.1,123456789012345678,1e-320,4.35\n",
     NONE,
     4,
     1,
     {0.1, 123456789012345678., 1e-320, 4.35}},
};

static void dialects_are_understood(void **state)
{
  files *f = *state;
  for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
    lapis_dataset *ds = read_table(f, plain[i].text, &plain[i].opt);
    const lapis_mat *X = &lapis_dataset_data(ds)->X;
    assert_int_equal(X->rows, plain[i].d);
    assert_int_equal(X->cols, plain[i].n);
    for (int64_t k = 0; k < X->rows * X->cols; k++)
      if (!equal_or_nan(((double *)X->val)[k], plain[i].X[k]))
        fail_msg("table %zu, entry %d", i, (int)k);
    lapis_dataset_free(ds);
  }
}

/* ---- targets and names --------------------------------------------------*/
#define IRIS                                                    \
  "id,petal,kind,sepal\n"                                       \
  "a1,1,setosa,10\na2,2,\"virgi\"\"nica\",20\nNA,3,setosa,30\n" \
  "a4,,?,40\n"

static void check_iris(lapis_dataset *ds)
{
  const lapis_data *data = lapis_dataset_data(ds);
  lapis_mat names = lapis_dataset_text(ds, "names");
  lapis_mat features = lapis_dataset_text(ds, "feature_names");
  lapis_mat classes = lapis_dataset_text(ds, "class_names");
  const double codes[] = {0, 1, 0, NAN};
  assert_int_equal(data->X.rows, 2);
  assert_int_equal(data->X.cols, 4);
  assert_true(isnan(lapis_mat_at(&data->X, 0, 3)));
  assert_true(lapis_mat_at(&data->X, 1, 3) == 40);
  for (int i = 0; i < 4; i++)
    assert_true(equal_or_nan(lapis_mat_at(&data->Y, 0, i), codes[i]));
  assert_int_equal(names.cols, 4);
  assert_string_equal(((char **)names.val)[2], "NA");
  assert_int_equal(features.cols, 2);
  assert_string_equal(((char **)features.val)[1], "sepal");
  assert_int_equal(classes.cols, 2);
  assert_string_equal(((char **)classes.val)[0], "setosa");
  assert_string_equal(((char **)classes.val)[1], "virgi\"nica");
}

static void targets_are_found_by_name_or_number(void **state)
{
  static const lapis_table_options opt[] = {
      {.target = "kind", .id = "id", .header = LAPIS_HEADER_AUTO},
      {.target = "3", .id = "1", .header = 1},
      {.target = "-2", .id = "-4", .header = LAPIS_HEADER_AUTO}};
  for (int i = 0; i < 3; i++) {
    lapis_dataset *ds = read_table(*state, IRIS, &opt[i]);
    check_iris(ds);
    lapis_dataset_free(ds);
  }
}

static void several_targets_keep_their_titles(void **state)
{
  lapis_table_options opt = {.target = "sad,happy",
                             .header = LAPIS_HEADER_AUTO};
  lapis_dataset *ds =
      read_table(*state, "x,happy,sad\n1,no,yes\n2,yes,\n", &opt);
  const lapis_mat *Y = &lapis_dataset_data(ds)->Y;
  lapis_mat classes = lapis_dataset_text(ds, "class_names");
  assert_int_equal(Y->rows, 2);
  assert_string_equal(((char **)classes.val)[0], "happy");
  assert_string_equal(((char **)classes.val)[1], "sad");
  assert_true(lapis_mat_at(Y, 0, 0) == 0 && lapis_mat_at(Y, 1, 0) == 1);
  assert_true(lapis_mat_at(Y, 0, 1) == 1 && isnan(lapis_mat_at(Y, 1, 1)));
  lapis_dataset_free(ds);
}

/* A target asked for by a name proves that the first row is a header, even
 * where every column is text. */
static void name_of_target_proves_a_header(void **state)
{
  files *f = *state;
  lapis_table_options opt = {.target = "kind", .header = LAPIS_HEADER_AUTO};
  lapis_dataset *ds;
  CHECK_OK(f, lapis_dataset_new(f->ctx, &ds));
  files_put_text(f, "y.csv", "word,kind\na,ham\nb,spam\n");
  CHECK_OK(f, lapis_dataset_read_member(ds, "Y", f->path, &opt));
  files_put_text(f, "x.csv", "1\n2\n");
  CHECK_OK(f, lapis_dataset_read_member(ds, "X", f->path, NULL));
  CHECK_OK(f, lapis_dataset_finish(ds));
  assert_int_equal(lapis_dataset_data(ds)->Y.cols, 2);
  assert_string_equal(((char **)lapis_dataset_text(ds, "class_names").val)[1],
                      "spam");
  lapis_dataset_free(ds);
}

/* An empty line of labels alone is a sample of unknown label, at the ends, too;
 * of several columns it is no row. */
static void labels_at_the_ends_may_be_unknown(void **state)
{
  files *f = *state;
  static const struct {
    const char *text;
    int64_t n;
  } all[] = {{"\n\nham\n\nspam\nham\n\n", 7},
             {"kind\n\nham\nspam\n\n\n", 5},
             {"\n\nkind,word\nham,b\n\nspam,c\n\n", 2}};
  lapis_table_options opt = {.target = "kind", .header = LAPIS_HEADER_AUTO};
  for (int i = 0; i < 3; i++) {
    lapis_dataset *ds;
    CHECK_OK(f, lapis_dataset_new(f->ctx, &ds));
    files_put_text(f, "y.csv", all[i].text);
    CHECK_OK(f,
             lapis_dataset_read_member(ds, "Y", f->path, i == 0 ? NULL : &opt));
    char rows[16] = "";
    for (int64_t j = 0; j < all[i].n; j++) strcat(rows, "1\n");
    files_put_text(f, "x.csv", rows);
    CHECK_OK(f, lapis_dataset_read_member(ds, "X", f->path, NULL));
    CHECK_OK(f, lapis_dataset_finish(ds));
    const lapis_mat *Y = &lapis_dataset_data(ds)->Y;
    assert_int_equal(Y->cols, all[i].n);
    if (i < 2) assert_true(isnan(lapis_mat_at(Y, 0, 0)));
    if (i < 2) assert_true(isnan(lapis_mat_at(Y, 0, Y->cols - 1)));
    lapis_dataset_free(ds);
  }
}

/* ---- refusals -----------------------------------------------------------*/
static const struct {
  const char *text;
  lapis_table_options opt;
  lapis_status status;
  const char *words;
} bad[] = {
    {"a,b\n1,2\n3\n", NONE, LAPIS_ESHAPE,
     "a.csv:3:1: this row has only 1 cell, the first row has 2; a cell that "
     "holds "
     "nothing is written, too"},
    {"a,b\n1,2\n3,4,5\n", NONE, LAPIS_ESHAPE, ":3:5: this row has more than 2"},
    {"a,b\n1,2\n3,x y\n", NONE, LAPIS_EFORMAT,
     ":3:3: column 2 (\"b\") holds the text \"x y\"; its other cells are"},
    {"a,b\n1,2\n3,-\n", NONE, LAPIS_EFORMAT, "missing - reads it so"},
    {"a,b\n1,2\n3,36.0 years\n", NONE, LAPIS_EFORMAT,
     "\"36.0 years\"; write 36.0 alone"},
    {"a,b\n1,2 kg\n3,5 kg\n", NONE, LAPIS_EFORMAT, "write 2 alone"},
    {"a;b\n1;2,5 tis.\n3;5 tis.\n", NONE, LAPIS_EFORMAT, "write 2,5 alone"},
    {"a,b\n1,$ 20\n3,$ 21\n", NONE, LAPIS_EFORMAT, "write 20 alone"},
    {"a,b\n1,5+kk\n3,4+kk\n", NONE, LAPIS_EFORMAT, "hot b makes"},
    {"b,c,d,e f,g\nu,1,x,y,v 2\nu,2,x,y,w 3\n", NONE, LAPIS_EFORMAT,
     "hot b,d,4,g makes"},
    {"1,2\n3,x\n", NONE, LAPIS_EFORMAT,
     "header yes is for a first row of names"},
    {"1,x\n3,4\n5,6\n", NONE, LAPIS_EFORMAT,
     "header yes is for a first row of names"},
    {"1;2\n1,5;2\n", NONE, LAPIS_EFORMAT, "decimal point"},
    {"1,2;1\n1,5;2\n",
     {.target = "1", .header = LAPIS_HEADER_AUTO},
     LAPIS_EFORMAT,
     "decimal point"},
    {"0x10,1\n", NONE, LAPIS_EFORMAT, "0x10"},
    {"a,b\n1,2\n#3,4\n", NONE, LAPIS_EFORMAT, "holds the text \"#3\""},
    {"a,b\n1,2\n#REF,4\n", NONE, LAPIS_EFORMAT, "the text \"#REF\""},
    {"a,b\n1,\"2\n", NONE, LAPIS_EFORMAT, ":2:3: this quote is never closed"},
    {"a,b\n1,\"2\"3\n", NONE, LAPIS_EFORMAT, "follows the closing quote"},
    {"a,b\n", {.header = LAPIS_HEADER_YES}, LAPIS_EFORMAT, "no rows below it"},
    {"\n\n", NONE, LAPIS_EFORMAT, "holds no rows"},
    {"a,b\n1,2\n",
     {.target = "c", .header = LAPIS_HEADER_AUTO},
     LAPIS_EINVAL,
     "has no column \"c\""},
    {"a,b\n1,2\n",
     {.target = "3", .header = LAPIS_HEADER_AUTO},
     LAPIS_EINVAL,
     "has no column \"3\""},
    {"a,b\n1,2\n",
     {.target = "-3", .header = LAPIS_HEADER_AUTO},
     LAPIS_EINVAL,
     "has no column \"-3\""},
    {"a,a\n1,2\n",
     {.target = "a", .header = LAPIS_HEADER_AUTO},
     LAPIS_EINVAL,
     "2 columns are named"},
    {"a,b\n1,2\n",
     {.target = "a,b", .header = LAPIS_HEADER_AUTO},
     LAPIS_EINVAL,
     "no column is left for X"},
    {"a,b\n1,2\n",
     {.target = "a", .id = "a", .header = LAPIS_HEADER_AUTO},
     LAPIS_EINVAL,
     "cannot be both"},
    {"a,b\n1,2\nx,3\n",
     {.target = "a", .header = LAPIS_HEADER_AUTO},
     LAPIS_EFORMAT,
     "a target is all numbers or all text"},
    {"a,b,c\n1,2,x\n1,3,y\n",
     {.target = "b,c", .header = LAPIS_HEADER_AUTO},
     LAPIS_EFORMAT,
     "one kind"},
    {"a,b\n1,\xe9\n", NONE, LAPIS_EFORMAT, "a.csv:2:3: is not UTF-8"},
    {"1\n",
     {.header = LAPIS_HEADER_AUTO, .decimal = 'x'},
     LAPIS_EINVAL,
     "decimal is the character 120"},
    {"1\n",
     {.header = LAPIS_HEADER_AUTO, .triplets = 3},
     LAPIS_EINVAL,
     "triplets is 3"},
    {"\xff\xfe"
     "1",
     NONE, LAPIS_EFORMAT, "UTF-16"},
};

static void bad_tables_are_refused(void **state)
{
  files *f = *state;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    lapis_dataset *ds;
    files_put_text(f, "a.csv", bad[i].text);
    CHECK_OK(f, lapis_dataset_new(f->ctx, &ds));
    CHECK_REFUSED(f, lapis_dataset_read(ds, f->path, &bad[i].opt),
                  bad[i].status, bad[i].words);
    lapis_dataset_free(ds);
  }
}

/* Cut anywhere, a table is refused or is the table of its whole rows; what
 * the last number lost is not to be known. */
/* Once -1 stood for "find out". */
/* Prices with their unit are no classes; sizes that repeat are. */
static void targets_with_units(void **state)
{
  files *f = *state;
  lapis_table_options opt = {.target = "price", .header = LAPIS_HEADER_AUTO};
  for (int classes = 0; classes < 2; classes++) {
    char text[2048] = "a,price\n";
    for (int i = 0; i < 60; i++)
      sprintf(text + strlen(text), "%d,%d.5 tis.\n", i,
              classes ? i % 3 : i % 40);
    lapis_dataset *ds;
    files_put_text(f, "p.csv", text);
    CHECK_OK(f, lapis_dataset_new(f->ctx, &ds));
    if (classes)
      CHECK_OK(f, lapis_dataset_read(ds, f->path, &opt));
    else
      CHECK_REFUSED(f, lapis_dataset_read(ds, f->path, &opt), LAPIS_EFORMAT,
                    "write 0.5 alone: 40 different");
    lapis_dataset_free(ds);
  }
}

static void header_is_one_of_three(void **state)
{
  files *f = *state;
  lapis_table_options opt = {.header = -1};
  lapis_dataset *ds;
  files_put_text(f, "x.csv", "1,2\n3,4\n");
  CHECK_OK(f, lapis_dataset_new(f->ctx, &ds));
  CHECK_REFUSED(f, lapis_dataset_read(ds, f->path, &opt), LAPIS_EINVAL, "-1");
  CHECK_REFUSED(f, lapis_dataset_read_member(ds, "X", f->path, &opt),
                LAPIS_EINVAL, "-1");
  lapis_dataset_free(ds);
}

static void truncations_do_no_harm(void **state)
{
  files *f = *state;
  lapis_table_options opt = {
      .target = "kind", .id = "id", .header = LAPIS_HEADER_AUTO};
  for (size_t size = 1; size < strlen(IRIS); size++) {
    lapis_dataset *ds;
    files_put(f, "a.csv", IRIS, size);
    CHECK_OK(f, lapis_dataset_new(f->ctx, &ds));
    lapis_status s = lapis_dataset_read(ds, f->path, &opt);
    if (s == LAPIS_OK) s = lapis_dataset_finish(ds);
    if (s == LAPIS_OK) {
      assert_true(lapis_dataset_data(ds)->X.cols <= 4);
      assert_true(lapis_dataset_data(ds)->X.rows == 2);
    } else {
      assert_true(s == LAPIS_EFORMAT || s == LAPIS_ESHAPE || s == LAPIS_EINVAL);
    }
    lapis_dataset_free(ds);
  }
}

/* Any byte for any other: read or refused, and the sanitizers are content. */
static void flipped_bytes_do_no_harm(void **state)
{
  files *f = *state;
  lapis_table_options opt = {
      .target = "3", .id = "1", .header = LAPIS_HEADER_AUTO};
  for (size_t at = 0; at < strlen(IRIS); at++)
    for (int bit = 0; bit < 8; bit++) {
      char text[] = IRIS;
      lapis_dataset *ds;
      text[at] ^= (char)(1 << bit);
      files_put(f, "a.csv", text, sizeof text - 1);
      CHECK_OK(f, lapis_dataset_new(f->ctx, &ds));
      if (lapis_dataset_read(ds, f->path, &opt) == LAPIS_OK)
        (void)lapis_dataset_finish(ds);
      lapis_dataset_free(ds);
    }
}

/* ---- numbers ------------------------------------------------------------*/
/* strtod is the judge, on numbers of every length. */
static void numbers_are_rounded_correctly(void **state)
{
  files *f = *state;
  uint64_t seed = 5;
  for (int round = 0; round < 20; round++) {
    char text[4000] = "";
    double value[100];
    for (int i = 0; i < 100; i++) {
      char cell[40];
      double v = check_normal(&seed) * pow(10, 40 * check_uniform(&seed) - 20);
      (void)snprintf(cell, sizeof cell, "%.*g", 1 + i % 17, v);
      value[i] = strtod(cell, NULL);
      strcat(strcat(text, i == 0 ? "" : ","), cell);
    }
    lapis_dataset *ds = read_table(f, text, NULL);
    assert_memory_equal(lapis_dataset_data(ds)->X.val, value, sizeof value);
    lapis_dataset_free(ds);
  }
}

/* Of an X with too few rows for a one-hot column nothing is taken. */
static void cells_beyond_X_stay_empty(void **state)
{
  files *f = *state;
  double values[] = {1, 0, 1, 0, 1, 0};
  lapis_mat X = lapis_mat_f64(values, 2, 3);
  lapis_table_options opt = {.one_hot = "colour", .header = LAPIS_HEADER_YES};
  char from[512], text[256] = "";
  int64_t filled = -1;
  (void)snprintf(from, sizeof from, "%s",
                 files_put_text(f, "a.csv", "colour,b\nred,1\nblue,2\n,3\n"));
  files_put_text(f, "b.csv", "");
  for (int64_t rows = 1; rows <= 2; rows++) {
    X.rows = rows;
    CHECK_OK(f, lapis_table_complete(f->ctx, from, &opt, &X, NULL, NULL,
                                     f->path, &filled));
    assert_int_equal(filled, rows == 2);
    FILE *file = fopen(f->path, "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    (void)fclose(file);
    assert_string_equal(text, rows == 2 ? "colour,b\nred,1\nblue,2\nblue,3\n"
                                        : "colour,b\nred,1\nblue,2\n,3\n");
  }
}

/* ---- a long table is shown while it is read and written ------------------*/
typedef struct course {
  int told;
  double done; /* of the last call */
  const char *doing;
} course;

static bool note(const lapis_progress *now, void *user)
{
  course *c = user;
  assert_string_equal(now->method, c->doing);
  if (!isnan(now->done)) {
    assert_true(now->done >= c->done);
    c->done = now->done;
  }
  c->told++;
  return true;
}

/* Each look at the clock finds it a twentieth of a second later. */
static bool hurries;
double __real_base_seconds(void);
double __wrap_base_seconds(void);
double __wrap_base_seconds(void)
{
  static double now;
  return hurries ? now += 0.05 : __real_base_seconds();
}

static void long_tables_are_shown(void **state)
{
  files *f = *state;
  static const char line[] =
      "0.123456789012345,0.234567890123456,0.34567890123456,0.456789012\n";
  enum { LINE = sizeof line - 1, LINES = 125000 };
  char *text = malloc((size_t)LINE * LINES);
  assert_non_null(text);
  for (int i = 0; i < LINES; i++) memcpy(text + (size_t)i * LINE, line, LINE);
  course c = {.doing = "reading"};
  lapis_dataset *ds;
  CHECK_OK(f, lapis_dataset_new(f->ctx, &ds));
  lapis_ctx_on_progress(f->ctx, note, &c);
  hurries = true;
  CHECK_OK(f,
           lapis_dataset_read(
               ds, files_put(f, "long.csv", text, (size_t)LINE * LINES), NULL));
  free(text);
  assert_true(c.told > 1);
  CHECK_NEAR(c.done, 1, 0);
  CHECK_OK(f, lapis_dataset_finish(ds));
  lapis_sheet_column column[2] = {
      {.title = "a", .values = lapis_dataset_data(ds)->X}};
  column[0].values.rows = 1;
  column[1] = column[0];
  c = (course){.doing = "writing"};
  CHECK_OK(f, lapis_sheet_write(f->ctx, f->path, NULL, column, 2));
  assert_true(c.told > 1);
  CHECK_NEAR(c.done, 1, 0);
  lapis_dataset_free(ds);
  hurries = false;
}

#define FILES_TEST(t) \
  cmocka_unit_test_setup_teardown(t, files_setup, files_teardown)

int test_csv(void)
{
  const struct CMUnitTest tests[] = {
      FILES_TEST(dialects_are_understood),
      FILES_TEST(targets_are_found_by_name_or_number),
      FILES_TEST(several_targets_keep_their_titles),
      FILES_TEST(name_of_target_proves_a_header),
      FILES_TEST(labels_at_the_ends_may_be_unknown),
      FILES_TEST(bad_tables_are_refused),
      FILES_TEST(targets_with_units),
      FILES_TEST(header_is_one_of_three),
      FILES_TEST(truncations_do_no_harm),
      FILES_TEST(flipped_bytes_do_no_harm),
      FILES_TEST(numbers_are_rounded_correctly),
      FILES_TEST(cells_beyond_X_stay_empty),
      FILES_TEST(long_tables_are_shown),
  };
  return run_cases(tests, NULL, NULL);
}
