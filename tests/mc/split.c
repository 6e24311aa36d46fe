/* Several representatives of a class: a made problem whose classes have two
 * views each, and the same problem written out by hand. */
#include "command.h"
#include "mc_oracle.h"
#include "oracle.h"
#include "scarce.h"

enum { WORDS = 30, CLASSES = 2, VIEWS = 4, PICTURES = 60, ALL = 68 };

/* Histograms of counts.  View v has words 6 v .. 6 v + 5, in shares that rise;
 * words 24 .. 29 are of the background.  A picture shows one of the two views
 * of a class, some pictures both classes; the last ten have no label. */
typedef struct views {
  double truth[VIEWS * WORDS]; /* sums to 1 each */
  double X[PICTURES * WORDS], Y[PICTURES * CLASSES];
  int view[PICTURES * CLASSES]; /* of a class in a picture, or -1 */
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
      p->view[j * CLASSES + c] = has ? view : -1;
      p->Y[j * CLASSES + c] = j >= PICTURES - 10 ? NAN : has ? 1 : -1;
      if (has) show(p, j, view, &seed);
    }
    for (int i = 24; i < WORDS; i++)
      p->X[j * WORDS + i] += 3 * check_uniform(&seed);
  }
  p->data.X = lapis_mat_f64(p->X, WORDS, PICTURES);
  p->data.Y = lapis_mat_f64(p->Y, CLASSES, PICTURES);
}

static lapis_mc_settings settings_of(int64_t count, double tol)
{
  lapis_mc_settings set = lapis_mc_defaults();
  set.variant = LAPIS_MC_POS;
  set.mu_rel = 0.01;
  set.class_features = count;
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

/* The least, over the views of all classes, of how much the best of the
 * representatives of its class looks like it. */
static double worst_view(const views *p, const lapis_mat *reps,
                         const lapis_mat *of)
{
  double worst = 1;
  for (int v = 0; v < VIEWS; v++) {
    double best = -1;
    for (int64_t r = 0; r < reps->cols; r++) {
      int64_t c = of == NULL ? r : (int64_t)lapis_mat_at(of, 0, r);
      if (c == v / 2) best = fmax(best, cosine(p->truth + v * WORDS, reps, r));
    }
    worst = fmin(worst, best);
  }
  return worst;
}

static void hear(int level, const char *text, void *user)
{
  (void)level;
  *(int *)user += strstr(text, "features of all classes are the same") != NULL;
}

/* Of rank 1 the features of all classes are one vector, and that is said. */
static void classes_that_are_alike_are_named(void **state)
{
  (void)state;
  static views p;
  make_views(&p);
  for (int k = 0; k < 2; k++) {
    int heard = 0;
    lapis_ctx *ctx = lapis_ctx_new();
    lapis_ctx_on_message(ctx, hear, &heard);
    lapis_mc_settings set = settings_of(1, 1e-4);
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
  (void)state;
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
  lapis_mc_settings set = settings_of(1, 1e-6);
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

static void two_find_both_views(void **state)
{
  (void)state;
  static views p;
  make_views(&p);
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_mc_settings one = settings_of(1, 1e-6), two = settings_of(2, 1e-6);
  lapis_solver *a = solve(ctx, &p.data, &one), *b = solve(ctx, &p.data, &two);
  lapis_mat reps, of, clusters, none;
  assert_int_equal(lapis_result_get(a, "class_features", &reps), LAPIS_OK);
  assert_int_equal(reps.cols, CLASSES);
  CHECK_AT_MOST(worst_view(&p, &reps, NULL), 0.8);
  assert_true(lapis_result_get(a, "class_features_of", &none) < 0);
  assert_int_equal(lapis_result_get(b, "class_features", &reps), LAPIS_OK);
  assert_int_equal(lapis_result_get(b, "class_features_of", &of), LAPIS_OK);
  assert_int_equal(lapis_result_get(b, "class_clusters", &clusters), LAPIS_OK);
  assert_int_equal(reps.cols, VIEWS);
  assert_int_equal(of.cols, VIEWS);
  assert_int_equal(clusters.rows, CLASSES);
  assert_int_equal(clusters.cols, PICTURES);
  for (int r = 0; r < VIEWS; r++)
    assert_int_equal((int)lapis_mat_at(&of, 0, r), r / 2);
  CHECK_AT_LEAST(worst_view(&p, &reps, &of), 0.95);
  /* a cluster is a view, those of unknown label are in none */
  int view_of[VIEWS] = {-1, -1, -1, -1};
  for (int j = 0; j < PICTURES; j++)
    for (int c = 0; c < CLASSES; c++) {
      double r = lapis_mat_at(&clusters, c, j);
      bool yes = p.Y[j * CLASSES + c] > 0;
      if (!yes) assert_true(r == -1);
      if (!yes) continue;
      assert_true(r >= 2 * c && r < 2 * c + 2);
      if (view_of[(int)r] < 0) view_of[(int)r] = p.view[j * CLASSES + c];
      assert_int_equal(view_of[(int)r], p.view[j * CLASSES + c]);
    }
  lapis_solver_free(a);
  lapis_solver_free(b);
  lapis_ctx_free(ctx);
}

/* ---- the same problem by hand -------------------------------------------*/
enum { ROWS = CLASSES + VIEWS, COLUMNS = PICTURES + VIEWS };

typedef struct by_hand {
  double X[COLUMNS * WORDS], Y[COLUMNS * ROWS];
  int64_t labels, seen; /* known of the classes; known at all */
  lapis_data data;
} by_hand;

/* Labels, then a row a cluster: yes for what is in it, no for what is not,
 * nothing where the label of the class is unknown; a representative is a sample
 * without features. */
static void write_out(const views *p, const lapis_mat *clusters, by_hand *h)
{
  h->labels = h->seen = 0;
  for (int j = 0; j < COLUMNS; j++) {
    int rep = j - PICTURES;
    for (int i = 0; i < WORDS; i++)
      h->X[j * WORDS + i] = rep < 0 ? p->X[j * WORDS + i] : NAN;
    for (int c = 0; c < CLASSES; c++)
      h->Y[j * ROWS + c] = rep < 0        ? p->Y[j * CLASSES + c]
                           : rep / 2 == c ? 1
                                          : -1;
    for (int r = 0; r < VIEWS; r++) {
      double own = rep < 0 ? lapis_mat_at(clusters, r / 2, j) : rep;
      bool known = rep >= 0 || !isnan(p->Y[j * CLASSES + r / 2]);
      h->Y[j * ROWS + CLASSES + r] = !known ? NAN : own == r ? 1 : -1;
    }
    for (int k = 0; k < ROWS; k++) {
      h->labels += k < CLASSES && !isnan(h->Y[j * ROWS + k]);
      h->seen += !isnan(h->Y[j * ROWS + k]);
    }
  }
  h->data.X = lapis_mat_f64(h->X, WORDS, COLUMNS);
  h->data.Y = lapis_mat_f64(h->Y, ROWS, COLUMNS);
}

static void is_the_problem_written_out(void **state)
{
  (void)state;
  static views p;
  static by_hand h;
  make_views(&p);
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_mc_settings set = settings_of(2, 1e-9);
  set.certificate = true;
  lapis_solver *a = solve(ctx, &p.data, &set);
  const lapis_mc_settings *used = lapis_result_settings(a);
  lapis_mat clusters, reps, scores, low_rank, dual;
  assert_int_equal(lapis_result_get(a, "class_clusters", &clusters), LAPIS_OK);
  assert_int_equal(lapis_result_get(a, "class_features", &reps), LAPIS_OK);
  assert_int_equal(lapis_result_get(a, "scores", &scores), LAPIS_OK);
  assert_int_equal(lapis_result_get(a, "dual", &dual), LAPIS_OK);
  write_out(&p, &clusters, &h);
  lapis_mc_settings plain = settings_of(0, 1e-9);
  plain.mu = used->mu;
  plain.lambda = set.lambda * (double)h.seen / (double)h.labels;
  lapis_solver *b = solve(ctx, &h.data, &plain);
  const double *hand = check_result(b, "scores");
  assert_int_equal(lapis_result_get(b, "low_rank", &low_rank), LAPIS_OK);
  double objective = lapis_result_info(a)->objective;
  CHECK_NEAR(objective, lapis_result_info(b)->objective, 1e-7 * objective);
  for (int j = 0; j < PICTURES; j++)
    for (int c = 0; c < CLASSES; c++)
      CHECK_NEAR(lapis_mat_at(&scores, c, j), hand[j * ROWS + c], 2e-3);
  for (int r = 0; r < VIEWS; r++)
    for (int i = 0; i < WORDS; i++)
      CHECK_NEAR(lapis_mat_at(&reps, i, r),
                 lapis_mat_at(&low_rank, i, PICTURES + r), 2e-2);
  /* its own multiplier proves the bound of the problem by hand: rows there are
   * labels, clusters, features, ones */
  static double G[COLUMNS * (ROWS + WORDS + 1)];
  int64_t m = ROWS + WORDS + 1;
  assert_int_equal(dual.rows, m);
  assert_int_equal(dual.cols, COLUMNS);
  for (int64_t j = 0; j < COLUMNS; j++)
    for (int64_t i = 0; i < m; i++) {
      int64_t at = i < CLASSES           ? i
                   : i < CLASSES + WORDS ? i + VIEWS
                   : i < m - 1           ? i - WORDS
                                         : i;
      G[j * m + at] = lapis_mat_at(&dual, i, j);
    }
  mc_case problem = {.variant = ORACLE_POS,
                     .K = ROWS,
                     .D = WORDS,
                     .n = COLUMNS,
                     .X = h.X,
                     .Y = h.Y,
                     .lambda = plain.lambda,
                     .gamma = set.gamma,
                     .mu = used->mu};
  mc_truth t = oracle_mc(&problem, hand, &low_rank, G);
  CHECK_AT_MOST(t.infeasible, 0);
  CHECK_AT_MOST(t.spectral, used->mu * (1 + 1e-9));
  CHECK_NEAR(t.primal, objective, 1e-7 * objective);
  CHECK_AT_MOST(t.gap, 1e-7);
  CHECK_AT_LEAST(t.gap, -1e-12);
  lapis_solver_free(a);
  lapis_solver_free(b);
  lapis_ctx_free(ctx);
}

/* ---- what stays as it was -----------------------------------------------*/
static void one_is_what_it_was(void **state)
{
  (void)state;
  static views p;
  make_views(&p);
  lapis_ctx *ctx = lapis_ctx_new();
  const lapis_method *mc = lapis_method_find("mc");
  static const char *const ways[] = {"true", "1"};
  const double *first = NULL;
  lapis_solver *all[2];
  for (int i = 0; i < 2; i++) {
    lapis_mc_settings set = settings_of(0, 1e-4);
    assert_int_equal(
        lapis_settings_set(ctx, mc, &set, "class-features", ways[i]), LAPIS_OK);
    all[i] = solve(ctx, &p.data, &set);
    const double *x = check_result(all[i], "class_features");
    if (first == NULL) first = x;
    for (int k = 0; k < CLASSES * WORDS; k++) assert_true(x[k] == first[k]);
  }
  lapis_solver_free(all[0]);
  lapis_solver_free(all[1]);
  lapis_mc_settings set = settings_of(1, 1e-4);
  assert_int_equal(lapis_settings_set(ctx, mc, &set, "class-features", "false"),
                   LAPIS_OK);
  assert_int_equal(set.class_features, 0);
  lapis_ctx_free(ctx);
}

/* New samples are asked for labels alone: those of the fit that had none get
 * their own scores back. */
static void models_answer(void **state)
{
  (void)state;
  static views p;
  make_views(&p);
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_mc_settings set = settings_of(2, 1e-8);
  lapis_solver *s = solve(ctx, &p.data, &set), *fold;
  lapis_model *m;
  assert_int_equal(lapis_model_new(s, &m), LAPIS_OK);
  lapis_mc_fold_settings how;
  lapis_settings_default(lapis_predict_method(lapis_model_method(m)), &how);
  how.stop.tol = 1e-9;
  assert_int_equal(lapis_predict_new(ctx, &p.data, m, &how, &fold), LAPIS_OK);
  assert_true(lapis_solve(fold) >= 0);
  const double *was = check_result(s, "scores");
  const double *is = check_result(fold, "scores");
  for (int k = (PICTURES - 10) * CLASSES; k < PICTURES * CLASSES; k++)
    CHECK_NEAR(is[k], was[k], 1e-3);
  static const char *const looks[] = {"class_features", "class_features_of"};
  for (int i = 0; i < 2; i++) {
    lapis_mat first, kept;
    assert_int_equal(lapis_result_get(s, looks[i], &first), LAPIS_OK);
    assert_int_equal(lapis_result_get(fold, looks[i], &kept), LAPIS_OK);
    assert_int_equal(kept.cols, first.cols);
    assert_int_equal(kept.rows, first.rows);
    for (int64_t k = 0; k < kept.rows * kept.cols; k++)
      assert_true(lapis_mat_at(&kept, k % kept.rows, k / kept.rows) ==
                  lapis_mat_at(&first, k % kept.rows, k / kept.rows));
  }
  lapis_solver_free(fold);
  lapis_model_free(m);
  lapis_solver_free(s);
  lapis_ctx_free(ctx);
}

/* ---- nonsense -----------------------------------------------------------*/
static void keep_message(int level, const char *text, void *user)
{
  char *all = user;
  if (level == 0) snprintf(all, 512, "%s", text);
}

static void nonsense_is_refused(void **state)
{
  (void)state;
  static views p;
  char said[512] = "";
  make_views(&p);
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_solver *s = NULL;
  const lapis_method *mc = lapis_method_find("mc");
  lapis_mc_settings set = settings_of(-1, 1e-2);
  lapis_status got = lapis_mc_new(ctx, &p.data, &set, &s);
  check_refused(ctx, got, LAPIS_EINVAL, s,
                "--class-features is -1; it must be at least 0");
  set = settings_of(PICTURES + 1, 1e-2);
  got = lapis_mc_new(ctx, &p.data, &set, &s);
  check_refused(ctx, got, LAPIS_EINVAL, s, "more than the 60 samples");
  got = lapis_settings_set(ctx, mc, &set, "class-features", "2.5");
  check_refused(ctx, got, LAPIS_EINVAL, NULL, "is not a whole number");
  got = lapis_settings_set(ctx, mc, &set, "class-features", "many");
  check_refused(ctx, got, LAPIS_EINVAL, NULL, "is not a number");
  /* a class of one sample has one, and that is said */
  lapis_ctx_on_message(ctx, keep_message, said);
  for (int j = 1; j < PICTURES; j++)
    if (p.Y[j * CLASSES] > 0) p.Y[j * CLASSES] = NAN;
  set = settings_of(2, 1e-4);
  s = solve(ctx, &p.data, &set);
  assert_non_null(
      strstr(said, "class 1 has 1 sample, and 1 representative, not 2"));
  lapis_mat reps;
  assert_int_equal(lapis_result_get(s, "class_features", &reps), LAPIS_OK);
  assert_int_equal(reps.cols, 3);
  lapis_solver_free(s);
  lapis_ctx_free(ctx);
}

/* Samples that are all alike are one cluster. */
static void alike_samples_are_one_cluster(void **state)
{
  (void)state;
  static views p;
  make_views(&p);
  for (int j = 0; j < PICTURES; j++)
    if (p.Y[j * CLASSES] > 0) memcpy(p.X + j * WORDS, p.X, WORDS * sizeof *p.X);
  lapis_ctx *ctx = lapis_ctx_new();
  char said[512] = "";
  lapis_ctx_on_message(ctx, keep_message, said);
  lapis_mc_settings set = settings_of(2, 1e-4);
  lapis_solver *s = solve(ctx, &p.data, &set);
  lapis_mat reps;
  assert_int_equal(lapis_result_get(s, "class_features", &reps), LAPIS_OK);
  assert_int_equal(reps.cols, 3);
  assert_non_null(strstr(said, "alike"));
  lapis_solver_free(s);
  lapis_ctx_free(ctx);
}

/* Features of any size, also beyond what single precision holds. */
static void any_size_has_its_clusters(void **state)
{
  (void)state;
  static const int power[] = {-300, -200, 200, 300};
  static views p;
  for (int k = 0; k < 2 * 4; k++) {
    lapis_mc_settings set = settings_of(2, 1);
    set.variant = k < 4 ? LAPIS_MC_POS : LAPIS_MC_1;
    set.stop.max_iters = 1;
    make_views(&p);
    for (int i = 0; i < PICTURES * WORDS; i++)
      p.X[i] = ldexp(p.X[i], power[k % 4]);
    lapis_ctx *ctx = lapis_ctx_new();
    lapis_solver *s = solve(ctx, &p.data, &set);
    lapis_mat reps;
    assert_int_equal(lapis_result_get(s, "class_features", &reps), LAPIS_OK);
    assert_int_equal(reps.cols, VIEWS);
    lapis_solver_free(s);
    lapis_ctx_free(ctx);
  }
}

/* A run that is stopped at once, or that is out of time, has the problem that
 * it would have had: its checkpoint is of that one. */
static void stops_change_no_problem(void **state)
{
  (void)state;
  static views p;
  make_views(&p);
  for (int late = 0; late < 2; late++) {
    lapis_ctx *ctx = lapis_ctx_new();
    char said[512] = "";
    lapis_ctx_on_message(ctx, keep_message, said);
    lapis_mc_settings set = settings_of(2, 1e-4);
    if (late) lapis_ctx_limit(ctx, 0);
    if (!late) lapis_ctx_cancel(ctx);
    lapis_solver *s = solve(ctx, &p.data, &set);
    lapis_mat reps;
    assert_int_equal(lapis_result_get(s, "class_features", &reps), LAPIS_OK);
    assert_int_equal(reps.cols, VIEWS);
    assert_null(strstr(said, "alike"));
    lapis_solver_free(s);
    lapis_ctx_free(ctx);
  }
}

/* Every class of one cluster: the problem is that of one representative. */
static void without_clusters_nothing_is_added(void **state)
{
  (void)state;
  static views p;
  make_views(&p);
  lapis_ctx *ctx = lapis_ctx_new();
  for (int j = 2; j < PICTURES; j++)
    for (int c = 0; c < CLASSES; c++)
      if (p.Y[j * CLASSES + c] > 0) p.Y[j * CLASSES + c] = NAN;
  lapis_mc_settings one = settings_of(1, 1e-4), two = settings_of(2, 1e-4);
  lapis_solver *a = solve(ctx, &p.data, &one), *b = solve(ctx, &p.data, &two);
  assert_true(lapis_result_info(a)->objective ==
              lapis_result_info(b)->objective);
  lapis_solver_free(a);
  lapis_solver_free(b);
  lapis_ctx_free(ctx);
}

static void every_allocation_may_fail(void **state)
{
  (void)state;
  static views p;
  make_views(&p);
  bool ran = false;
  for (long k = 0; !ran; k++) {
    lapis_ctx *ctx = lapis_ctx_new();
    lapis_mc_settings set = settings_of(2, 1e-2);
    set.stop.max_iters = 2;
    lapis_solver *s = NULL;
    lapis_model *m = NULL;
    scarce.failed = false;
    scarce.countdown = k;
    lapis_status got = lapis_mc_new(ctx, &p.data, &set, &s);
    if (got >= 0) got = lapis_solve(s);
    if (got >= 0) got = lapis_model_new(s, &m);
    scarce.countdown = -1;
    ran = !scarce.failed;
    if (ran) assert_true(got >= 0);
    if (got < 0) assert_int_equal(got, LAPIS_ENOMEM);
    if (got < 0) assert_true(strlen(lapis_ctx_error(ctx)) > 0);
    lapis_model_free(m);
    lapis_solver_free(s);
    lapis_ctx_free(ctx);
  }
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
  (void)state;
  static views p;
  static command c;
  static char page[1 << 20];
  make_views(&p);
  command_begin(&c);
  write_table(&c, &p);
  command_run(&c, FIT "--class-features -q --json -o one.npz");
  command_expect(&c, 0, "");
  assert_non_null(strstr(c.out, "\"class-features\": 1"));
  command_run(&c,
              FIT "-q --class-features 2 --json -o two.npz --model m.lapis");
  command_expect(&c, 0, "");
  assert_non_null(strstr(c.out, "\"class-features\": 2"));
  command_run(&c,
              "predict m.lapis x.csv --header no --target 31,32 -q -o p.npz");
  command_expect(&c, 0, "");
  command_run(&c, FIT "--class-features -1 -o out.npz");
  command_expect(&c, 2, "--class-features is -1; it must be at least 0");
  command_run(&c, FIT "--class-features 2 --class-features 3 -o out.npz");
  command_expect(&c, 2, "is given twice");
  command_run(&c, "report two.npz -o page.html");
  command_expect(&c, 0, "");
  command_slurp(&c, "page.html", page, sizeof page);
  assert_non_null(strstr(page, "What classes look like"));
  assert_int_equal(count_words(page, "class=\"profile\""), VIEWS);
  assert_int_equal(count_words(page, "</strong> 1 of 2, "), CLASSES);
  assert_int_equal(count_words(page, "</strong> 2 of 2, "), CLASSES);
  command_run(&c, "report two.npz --shape 5x6 -o page.html");
  command_expect(&c, 0, "");
  command_slurp(&c, "page.html", page, sizeof page);
  assert_int_equal(count_words(page, "alt=\"representative "), VIEWS);
  command_run(&c, "report one.npz -o page.html");
  command_expect(&c, 0, "");
  command_slurp(&c, "page.html", page, sizeof page);
  assert_int_equal(count_words(page, "class=\"profile\""), CLASSES);
  command_end(&c);
}

int test_split(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(classes_that_are_alike_are_named),
      cmocka_unit_test(opposite_classes_differ),
      cmocka_unit_test(two_find_both_views),
      cmocka_unit_test(is_the_problem_written_out),
      cmocka_unit_test(one_is_what_it_was),
      cmocka_unit_test(models_answer),
      cmocka_unit_test(nonsense_is_refused),
      cmocka_unit_test(alike_samples_are_one_cluster),
      cmocka_unit_test(any_size_has_its_clusters),
      cmocka_unit_test(stops_change_no_problem),
      cmocka_unit_test(without_clusters_nothing_is_added),
      cmocka_unit_test(every_allocation_may_fail),
      cmocka_unit_test(command_and_page),
  };
  return run_cases(tests, NULL, NULL);
}
