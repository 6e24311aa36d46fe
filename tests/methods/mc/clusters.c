/* What a class looks like: made problems whose classes have two views each. */
#include "command.h"
#include "remarks.h"

enum { WORDS = 30, CLASSES = 2, VIEWS = 4, PICTURES = 60 };

/* Histograms of counts.  View v has words 6 v .. 6 v + 5, in shares that rise;
 * words 24 .. 29 are of the background.  A picture shows one of the two views
 * of a class, some pictures both classes; the last ten have no label. */
typedef struct views {
  double truth[VIEWS * WORDS]; /* sums to 1 each */
  double X[PICTURES * WORDS], Y[PICTURES * CLASSES];
  lapis_data data;
} views;

static void show(views *p, int j, int view, uint64_t *seed)
{
  double amount = 60 + 20 * check_uniform(seed);
  for (int i = 0; i < WORDS; i++)
    p->X[j * WORDS + i] += amount * p->truth[view * WORDS + i] *
                           (0.95 + 0.1 * check_uniform(seed));
}

static void make_views(views *p)
{
  uint64_t seed = 5;
  memset(p, 0, sizeof *p);
  for (int v = 0; v < VIEWS; v++)
    for (int i = 0; i < 6; i++)
      p->truth[v * WORDS + 6 * v + i] = (i + 1) / 21.0;
  for (int j = 0; j < PICTURES; j++) {
    for (int c = 0; c < CLASSES; c++) {
      bool has = j % 5 == 4 || j % 2 == c;
      int view = 2 * c + (j / 2) % 2;
      p->Y[j * CLASSES + c] = j >= PICTURES - 10 ? NAN : has ? 1 : -1;
      if (has) show(p, j, view, &seed);
    }
    for (int i = 24; i < WORDS; i++)
      p->X[j * WORDS + i] += 3 * check_uniform(&seed);
  }
  p->data.X = lapis_mat_f64(p->X, WORDS, PICTURES);
  p->data.Y = lapis_mat_f64(p->Y, CLASSES, PICTURES);
}

static lapis_mc_settings settings_of(double tol)
{
  lapis_mc_settings set = lapis_mc_defaults();
  set.variant = LAPIS_MC_POS;
  set.mu_rel = 0.01;
  set.class_features = true;
  set.stop.tol = tol;
  set.stop.max_iters = 100000;
  return set;
}

static lapis_solver *solve(lapis_ctx *ctx, const lapis_data *data,
                           const lapis_mc_settings *set)
{
  lapis_solver *s;
  if (lapis_mc_new(ctx, data, set, &s) < 0 || lapis_solve(s) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  return s;
}

static double cosine(const double *a, const lapis_mat *B, int64_t r)
{
  double ab = 0, aa = 0, bb = 0;
  for (int i = 0; i < WORDS; i++) {
    double b = lapis_mat_at(B, i, r);
    ab += a[i] * b, aa += a[i] * a[i], bb += b * b;
  }
  return ab / sqrt(aa * bb);
}

static void hear(int level, const char *text, void *user)
{
  (void)level;
  *(int *)user += strstr(text, CLASSES_LOOK_SAME) != NULL;
}

/* Of rank 1 the features of all classes are one vector, and that is said. */
static void classes_that_are_alike_are_named(void **state)
{
  static views p;
  make_views(&p);
  for (int k = 0; k < 2; k++) {
    int heard = 0;
    lapis_ctx *ctx = lapis_ctx_new();
    lapis_ctx_on_message(ctx, hear, &heard);
    lapis_mc_settings set = settings_of(1e-4);
    lapis_mat reps;
    set.mu_rel = k == 0 ? 0.5 : 0.01;
    lapis_solver *s = solve(ctx, &p.data, &set);
    assert_int_equal(lapis_result_get(s, "class_features", &reps), LAPIS_OK);
    double like = cosine(reps.val, &reps, 1);
    assert_int_equal(heard, k == 0);
    if (k == 0) CHECK_AT_LEAST(like, 1 - 1e-6);
    lapis_solver_free(s);
    lapis_ctx_free(ctx);
  }
}

/* Of numbers on both sides of 0 the features of two classes may be opposite. */
static void opposite_classes_differ(void **state)
{
  enum { n = 40 };
  static double X[4 * n], Y[2 * n];
  uint64_t seed = 4;
  int heard = 0;
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_ctx_on_message(ctx, hear, &heard);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < 4; i++) {
      X[4 * j + i] = (j % 2 ? 1 : -1) * (i + 1) + 0.1 * check_normal(&seed);
      Y[2 * j + i % 2] = (i % 2 == j % 2) ? 1 : -1;
    }
  lapis_data data = {.X = lapis_mat_f64(X, 4, n), .Y = lapis_mat_f64(Y, 2, n)};
  lapis_mc_settings set = settings_of(1e-6);
  lapis_mat reps;
  set.variant = LAPIS_MC_1;
  set.mu_rel = 0.3;
  lapis_solver *s = solve(ctx, &data, &set);
  assert_int_equal(lapis_result_get(s, "class_features", &reps), LAPIS_OK);
  assert_true(lapis_mat_at(&reps, 3, 0) * lapis_mat_at(&reps, 3, 1) < 0);
  assert_int_equal(heard, 0);
  lapis_solver_free(s);
  lapis_ctx_free(ctx);
}

/* A model keeps them, and a prediction has them again. */
static void models_answer(void **state)
{
  static views p;
  make_views(&p);
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_mc_settings set = settings_of(1e-4);
  lapis_solver *s = solve(ctx, &p.data, &set), *fold;
  lapis_model *m;
  lapis_mat first, kept;
  assert_int_equal(lapis_model_new(s, &m), LAPIS_OK);
  assert_int_equal(lapis_predict_new(ctx, &p.data, m, NULL, &fold), LAPIS_OK);
  assert_true(lapis_solve(fold) >= 0);
  assert_int_equal(lapis_result_get(s, "class_features", &first), LAPIS_OK);
  assert_int_equal(lapis_result_get(fold, "class_features", &kept), LAPIS_OK);
  assert_int_equal(kept.cols, CLASSES);
  assert_int_equal(kept.rows, WORDS);
  for (int64_t k = 0; k < WORDS * CLASSES; k++)
    assert_true(lapis_mat_at(&kept, k % WORDS, k / WORDS) ==
                lapis_mat_at(&first, k % WORDS, k / WORDS));
  lapis_solver_free(fold);
  lapis_model_free(m);
  lapis_solver_free(s);
  lapis_ctx_free(ctx);
}

/* ---- the command and its page -------------------------------------------*/
static void write_table(const command *c, const views *p)
{
  char text[32768];
  int used = 0;
  for (int j = 0; j < PICTURES; j++) {
    for (int i = 0; i < WORDS; i++)
      used += snprintf(text + used, sizeof text - (size_t)used, "%.3f,",
                       p->X[j * WORDS + i]);
    for (int k = 0; k < CLASSES; k++) {
      double y = p->Y[j * CLASSES + k];
      const char *word = isnan(y) ? "" : y > 0 ? "1" : "-1";
      used += snprintf(text + used, sizeof text - (size_t)used, "%s%s", word,
                       k == CLASSES - 1 ? "\n" : ",");
    }
  }
  command_write(c, "x.csv", text, (size_t)used);
}

#define FIT \
  "fit mc x.csv --header no --target 31,32 --variant pos --mu-rel .01 "

static int count_words(const char *text, const char *words)
{
  int count = 0;
  for (; (text = strstr(text, words)) != NULL; text++) count++;
  return count;
}

static void command_and_page(void **state)
{
  static views p;
  static command c;
  static char page[1 << 20];
  make_views(&p);
  command_begin(&c);
  write_table(&c, &p);
  command_do(&c, FIT "-q --class-features --json -o one.npz --model m.lapis");
  assert_non_null(strstr(c.out, "\"class-features\": true"));
  command_do(&c,
             "predict m.lapis x.csv --header no --target 31,32 -q -o p.npz");
  command_do(&c, "report one.npz -o page.html");
  command_slurp(&c, "page.html", page, sizeof page);
  assert_non_null(strstr(page, CLASSES_LOOK_LIKE));
  assert_int_equal(count_words(page, "class=\"profile\""), CLASSES);
  assert_int_equal(count_words(page, "Most like it:"), CLASSES);
  command_do(&c, "report one.npz --shape 5x6 -o page.html");
  command_slurp(&c, "page.html", page, sizeof page);
  assert_int_equal(count_words(page, "alt=\"representative "), CLASSES);
  command_run(&c, FIT "--class-features 2 -o out.npz");
  command_expect(&c, 2, "");
  command_end(&c);
}

int test_clusters(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(classes_that_are_alike_are_named),
      cmocka_unit_test(opposite_classes_differ),
      cmocka_unit_test(models_answer),
      cmocka_unit_test(command_and_page),
  };
  return run_cases(tests, NULL, NULL);
}
