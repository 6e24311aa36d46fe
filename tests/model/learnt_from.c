/* A model says of which features it has learnt otherwise than new samples are:
 * in another unit, or not known; whatever maps them, and in whatever file. */
#include "check.h"
#include "remarks.h"
#include "room.h"

enum { N = 80, D = 3 };
static const char *const names[D] = {"metres", "degrees", "income"};

typedef struct sample_set {
  double X[D * N], Y[N];
  lapis_data data;
} sample_set;

static void draw(sample_set *t, uint64_t seed)
{
  for (int j = 0; j < N; j++) {
    double a = check_normal(&seed);
    t->X[j * D] = 500 + 100 * a;
    t->X[j * D + 1] = 10 + check_normal(&seed);
    t->X[j * D + 2] = j % 20 == 0 ? NAN : check_normal(&seed);
    t->Y[j] = a > 0;
  }
  t->data = (lapis_data){.X = lapis_mat_f64(t->X, D, N),
                         .Y = lapis_mat_f64(t->Y, 1, N)};
}

/* Behind a map, whose samples are those of t. */
static lapis_model *fit(lapis_ctx *ctx, const sample_set *t, const char *spec)
{
  lapis_data data = t->data;
  lapis_map *map;
  lapis_solver *s;
  lapis_model *m;
  lapis_mat row = lapis_mat_text(names, 1, D);
  double *memory;
  assert_int_equal(lapis_map_new(ctx, spec, &map), LAPIS_OK);
  assert_int_equal(lapis_map_fit(ctx, map, &t->data.X), LAPIS_OK);
  assert_int_equal(lapis_map_make(ctx, map, &t->data.X, &memory, &data.X),
                   LAPIS_OK);
  const lapis_method *linear = lapis_method_find("linear");
  if (lapis_solver_new(ctx, linear, &data, NULL, &s) < 0 || lapis_solve(s) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  assert_int_equal(lapis_model_new(s, &m), LAPIS_OK);
  assert_int_equal(lapis_model_set_map(ctx, m, map, false), LAPIS_OK);
  assert_int_equal(lapis_model_set_text(ctx, m, "feature_names", &row),
                   LAPIS_OK);
  lapis_solver_free(s);
  lapis_map_free(map);
  free(memory);
  return m;
}

/* All that is warned of, a line each. */
static const char *said(lapis_ctx *ctx, const lapis_model *m,
                        const sample_set *t)
{
  static char text[4096];
  lapis_data data = {.X = t->data.X};
  lapis_mat notes;
  lapis_solver *s;
  if (lapis_predict_new(ctx, &data, m, NULL, &s) < 0 || lapis_solve(s) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  assert_int_equal(lapis_result_get(s, "notes", &notes), LAPIS_OK);
  const char *const *cell = notes.val;
  *text = '\0';
  for (int64_t j = 0; j < notes.cols; j++) {
    strcat(text, cell[j * notes.ld + 2]);
    strcat(text, "\n");
  }
  lapis_solver_free(s);
  return text;
}

static void other_samples_are_named(void **state)
{
  static const char *const maps[] = {"impute", "impute,standard"};
  sample_set t, new;
  lapis_ctx *ctx = lapis_ctx_new();
  draw(&t, 1);
  for (int k = 0; k < 2; k++) {
    lapis_model *m = fit(ctx, &t, maps[k]);
    draw(&new, 2);
    assert_string_equal(said(ctx, m, &new), "");
    for (int j = 0; j < N; j++) new.X[j * D] /= 1000;
    const char *text = said(ctx, m, &new);
    assert_non_null(strstr(text, "metres: "));
    assert_non_null(strstr(text, "1000 times smaller"));
    assert_non_null(strstr(text, ARE_IN_THE_SAME_UNIT));
    assert_null(strchr(strchr(text, '\n') + 1, '\n'));
    draw(&new, 2);
    for (int j = 0; j < N; j++) new.X[j * D + 2] = NAN;
    text = said(ctx, m, &new);
    assert_non_null(strstr(text, "income is known for 0 of 80 samples here"));
    assert_non_null(strstr(text, "95 %"));
    assert_non_null(strstr(text, MAY_NOT_HOLD_HERE));
    assert_null(strchr(strchr(text, '\n') + 1, '\n'));
    draw(&new, 2);
    for (int j = 0; j < N; j++) new.X[j * D + 1] += 1.8;
    text = said(ctx, m, &new);
    assert_non_null(strstr(text, "(of 1 feature: degrees)"));
    assert_non_null(strstr(text, MAY_NOT_HOLD_HERE));
    assert_null(strchr(strchr(text, '\n') + 1, '\n'));
    new.data.X.cols = 20; /* too few to say so */
    assert_string_equal(said(ctx, m, &new), "");
    draw(&new, 2);
    new.data.X.cols = 1; /* a gap by chance */
    assert_string_equal(said(ctx, m, &new), "");
    lapis_model_free(m);
  }
  lapis_ctx_free(ctx);
}

/* What --one-hot made of a column is known together, and named once. */
static void a_column_of_words_is_named_once(void **state)
{
  static const char *const words[D] = {"metres", "plan=a", "plan=b"};
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_mat row = lapis_mat_text(words, 1, D);
  sample_set t, new;
  draw(&t, 1);
  lapis_model *m = fit(ctx, &t, "impute");
  assert_int_equal(lapis_model_set_text(ctx, m, "feature_names", &row), 0);
  draw(&new, 2);
  for (int j = 0; j < N; j++) new.X[j * D + 1] = new.X[j * D + 2] = NAN;
  const char *text = said(ctx, m, &new);
  assert_non_null(strstr(text, "plan is known for 0 of 80"));
  assert_null(strchr(strchr(text, '\n') + 1, '\n'));
  lapis_model_free(m);
  lapis_ctx_free(ctx);
}

/* Positive values with a long tail are not far where it goes on. */
static void a_long_tail_is_none(void **state)
{
  sample_set t, new;
  lapis_ctx *ctx = lapis_ctx_new();
  draw(&t, 1);
  double high = 0;
  for (int j = 0; j < N; j++) {
    t.X[j * D] = exp((t.X[j * D] - 500) / 100);
    high = fmax(high, t.X[j * D]);
  }
  new = t;
  new.data.X.val = new.X;
  lapis_model *m = fit(ctx, &t, "impute");
  new.X[0] = 3 * high;
  assert_string_equal(said(ctx, m, &new), "");
  new.X[0] = -3 * high;
  assert_non_null(strstr(said(ctx, m, &new), "metres: of 80 values 1 lie"));
  lapis_model_free(m);
  lapis_ctx_free(ctx);
}

/* ---- in another unit, inside the range ----------------------------------*/
enum { LEARNT = 300, KINDS = 8 };

/* A value of some kind of feature, from a normal a. */
static double value_of(int kind, double a)
{
  double u = .5 * erfc(-a / sqrt(2));
  switch (kind) {
  case 0:
    return 100 * u; /* per cent */
  case 1:
    return 500 + 100 * a; /* millimetres */
  case 2:
    return -log(u); /* waiting times */
  case 3:
    return exp(a); /* incomes */
  case 4:
    return exp(2 * a); /* a long tail */
  case 5:
    return round(10 * exp(a)); /* counts */
  case 6:
    return a; /* around 0 */
  default:
    return fmax(0, exp(a) - .8); /* many of them 0 */
  }
}

/* n samples, a feature a kind; times > 0: theirs in the first unit. */
static void draw_kinds(double *X, int n, uint64_t seed, double times)
{
  for (int j = 0; j < n; j++)
    for (int i = 0; i < KINDS; i++)
      X[j * KINDS + i] = times * value_of(i, check_normal(&seed));
}

static lapis_model *fit_kinds(lapis_ctx *ctx, double *X, double *Y)
{
  lapis_data data = {.X = lapis_mat_f64(X, KINDS, LEARNT),
                     .Y = lapis_mat_f64(Y, 1, LEARNT)};
  lapis_solver *s;
  lapis_model *m;
  for (int j = 0; j < LEARNT; j++) Y[j] = X[j * KINDS] > 50;
  if (lapis_solver_new(ctx, lapis_method_find("linear"), &data, NULL, &s) < 0 ||
      lapis_solve(s) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  assert_int_equal(lapis_model_new(s, &m), LAPIS_OK);
  lapis_solver_free(s);
  return m;
}

static const char *said_of(lapis_ctx *ctx, const lapis_model *m, double *X,
                           int n)
{
  sample_set t = {.data.X = lapis_mat_f64(X, KINDS, n)};
  return said(ctx, m, &t);
}

static int count_lines(const char *text)
{
  int count = 0;
  for (; *text != '\0'; text++) count += *text == '\n';
  return count;
}

/* Of several kinds one at a time; of three of all more are counted. */
static void another_unit_inside_the_range_is_named(void **state)
{
  enum { NEW = 100 };
  static const double factor[] = {.01, .001, 1000};
  static const int kinds[] = {0, 1, 2, 3, 4, 6};
  double X[LEARNT * KINDS], Y[LEARNT], new[NEW * KINDS];
  char title[32];
  lapis_ctx *ctx = lapis_ctx_new();
  draw_kinds(X, LEARNT, 1, 1);
  lapis_model *m = fit_kinds(ctx, X, Y);
  for (int f = 0; f < 3; f++)
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
      draw_kinds(new, NEW, 2, 1);
      for (int j = 0; j < NEW; j++) new[j * KINDS + kinds[k]] *= factor[f];
      const char *text = said_of(ctx, m, new, NEW);
      sprintf(title, "feature %d: ", kinds[k] + 1);
      assert_non_null(strstr(text, title));
      assert_non_null(strstr(text, ARE_IN_THE_SAME_UNIT));
      assert_non_null(strstr(text, factor[f] < 1 ? "smaller" : "larger"));
      assert_int_equal(count_lines(text), 1);
      assert_null(strstr(said_of(ctx, m, new, 5), ARE_IN_THE_SAME_UNIT));
    }
  draw_kinds(new, NEW, 2, .001);
  assert_int_equal(count_lines(said_of(ctx, m, new, NEW)), 4);
  lapis_model_free(m);
  lapis_ctx_free(ctx);
}

static int by_value(const void *a, const void *b)
{
  const double *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* Samples of the same kinds, however few, all alike, or parts of a sorted table
 * or of one class, are in the same unit. */
static void parts_are_in_the_same_unit(void **state)
{
  enum { NEW = 800, PART = NEW / 4 };
  double X[LEARNT * KINDS], Y[LEARNT], new[NEW * KINDS], sorted[NEW];
  lapis_ctx *ctx = lapis_ctx_new();
  draw_kinds(X, LEARNT, 1, 1);
  lapis_model *m = fit_kinds(ctx, X, Y);
  for (uint64_t seed = 2; seed < 12; seed++) {
    static const int sizes[] = {1, 20, 30, 100, NEW};
    draw_kinds(new, NEW, seed, 1);
    for (int k = 0; k < 5; k++)
      assert_null(strstr(said_of(ctx, m, new, sizes[k]), ARE_IN_THE_SAME_UNIT));
    for (int i = 0; i < KINDS; i++) {
      for (int j = 0; j < NEW; j++) sorted[j] = new[j * KINDS + i];
      qsort(sorted, NEW, sizeof *sorted, by_value);
      for (int j = 0; j < NEW; j++) new[j * KINDS + i] = sorted[j];
    }
    for (int part = 0; part < 4; part++)
      assert_null(strstr(said_of(ctx, m, new + part *PART *KINDS, PART),
                         ARE_IN_THE_SAME_UNIT));
  }
  for (int j = 0; j < NEW; j++) /* one kind, of values close together */
    for (int i = 0; i < KINDS; i++)
      new[j * KINDS + i] = X[i] * (1 + .001 * (j % 7));
  assert_null(strstr(said_of(ctx, m, new, NEW), ARE_IN_THE_SAME_UNIT));
  for (int j = 0; j < NEW; j++)
    for (int i = 0; i < KINDS; i++) new[j * KINDS + i] = X[i] / 100;
  assert_null(strstr(said_of(ctx, m, new, NEW), ARE_IN_THE_SAME_UNIT));
  lapis_model_free(m);
  lapis_ctx_free(ctx);
}

/* What a file says that somebody else wrote, or an older LAPIS. */
static void other_texts_say_nothing(void **state)
{
  static const char *const kept[] = {"feature_range", "feature_known"};
  static const char *const words[D] = {"1", "a b", "1 2 3 4 5 6"};
  static const char *const empty[D] = {"", "", ""};
  static const char *const sizes[D] = {"5 4 3 2 -1", "0 0 0 0 0",
                                       "nan nan nan nan nan"};
  sample_set t;
  lapis_ctx *ctx = lapis_ctx_new();
  draw(&t, 1);
  for (int j = 0; j < N; j++) t.X[j * D + 2] = j;
  lapis_model *m = fit(ctx, &t, "impute");
  for (int j = 0; j < N; j++)
    for (int i = 0; i < D; i++) t.X[j * D + i] = i == 0 ? NAN : 1e9;
  const lapis_mat rows[] = {
      lapis_mat_text(words, 1, D), lapis_mat_text(empty, 1, D),
      lapis_mat_text(sizes, 1, D), lapis_mat_text(words, 1, D - 1),
      lapis_mat_text(words, D, 1), lapis_mat_text(words, 0, D),
      lapis_mat_f64(t.X, 1, D)};
  assert_string_not_equal(said(ctx, m, &t), "");
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    for (int i = 0; i < 2; i++)
      assert_int_equal(lapis_model_set_text(ctx, m, kept[i], &rows[k]),
                       LAPIS_OK);
    assert_string_equal(said(ctx, m, &t), "");
  }
  lapis_model_free(m);
  lapis_ctx_free(ctx);
}

int test_learnt_from(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(other_samples_are_named),
      cmocka_unit_test(a_column_of_words_is_named_once),
      cmocka_unit_test(a_long_tail_is_none),
      cmocka_unit_test(another_unit_inside_the_range_is_named),
      cmocka_unit_test(parts_are_in_the_same_unit),
      cmocka_unit_test(other_texts_say_nothing)};
  return run_cases(tests, NULL, NULL);
}
