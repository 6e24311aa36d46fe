/* The context, the parameter tables, the loop, memory, random numbers. */
#include <omp.h>

#include "base/base.h"
#include "check.h"
#include "solver/loop.h"

static void every_status_has_a_name(void **state)
{
  for (int s = LAPIS_EDEVICE; s <= LAPIS_STOPPED_CHANGING; s++)
    assert_string_not_equal(lapis_status_name((lapis_status)s),
                            "unknown status");
  assert_string_equal(lapis_status_name(LAPIS_OK), "solved");
  assert_string_equal(lapis_status_name(LAPIS_PRECISION_FLOOR),
                      "precision-floor");
  assert_string_equal(lapis_status_name((lapis_status)99), "unknown status");
  assert_string_equal(lapis_status_name((lapis_status)-99), "unknown status");
}

static void context_settings(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  assert_int_equal(lapis_ctx_set(ctx, "threads", "3"), LAPIS_OK);
  assert_int_equal(lapis_ctx_threads(ctx), 3);
  assert_int_equal(lapis_ctx_set(ctx, "seed", "18446744073709551615"),
                   LAPIS_OK);
  assert_true(base_seed(ctx) == UINT64_MAX);
  const char *const bad[][2] = {{"threads", "-1"},
                                {"threads", "two"},
                                {"threads", ""},
                                {"seed", "1.5"},
                                {"seed", "18446744073709551616"},
                                {"verbose", "3"},
                                {"deterministic", "maybe"},
                                {"colour", "red"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_int_equal(lapis_ctx_set(ctx, bad[i][0], bad[i][1]), LAPIS_EINVAL);
    assert_non_null(strstr(lapis_ctx_error(ctx), bad[i][0]));
  }
  lapis_ctx_free(ctx);
  lapis_ctx_free(NULL);
}

/* ---- parameter tables ---------------------------------------------------*/
/* Without a number of its own a context takes what OpenMP allows. */
static void threads_are_what_openmp_allows(void **state)
{
  int most = omp_get_max_threads(), processors = omp_get_num_procs();
  omp_set_num_threads(1);
  lapis_ctx *one = lapis_ctx_new();
  omp_set_num_threads(4096);
  lapis_ctx *many = lapis_ctx_new();
  omp_set_num_threads(most);
  assert_int_equal(lapis_ctx_threads(one), 1);
  assert_true(lapis_ctx_threads(many) <= processors);
  assert_int_equal(lapis_ctx_set(one, "threads", "3"), LAPIS_OK);
  assert_int_equal(lapis_ctx_threads(one), 3);
  assert_int_equal(lapis_ctx_set(one, "threads", "0"), LAPIS_OK);
  assert_int_equal(lapis_ctx_threads(one), 1);
  lapis_ctx_free(one);
  lapis_ctx_free(many);
}

static void defaults_lie_within_bounds(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  for (int i = 0; lapis_method_at(i) != NULL; i++) {
    const lapis_method *m = lapis_method_at(i);
    void *set = calloc(1, m->settings_size),
         *back = calloc(1, m->settings_size);
    lapis_settings_default(m, set);
    lapis_settings_default(m, back);
    for (int k = 0; k < m->n_params; k++) {
      char text[256];
      const char *name = m->params[k].name;
      if (m->params[k].type == LAPIS_PARAM_TEXT) continue;
      assert_int_equal(lapis_settings_get(ctx, m, set, name, text, 256), 0);
      if (lapis_settings_set(ctx, m, back, name, text) != LAPIS_OK)
        fail_msg("%s", lapis_ctx_error(ctx));
      assert_non_null(m->params[k].help);
    }
    assert_memory_equal(set, back, m->settings_size);
    free(set);
    free(back);
  }
  lapis_ctx_free(ctx);
}

/* A text that does not fit is refused, with the room that it takes. */
static void long_settings_are_refused(void **state)
{
  static const char LONG_TEXT[] = "linear --map standard --C 0.1, trees, mc";
  lapis_ctx *ctx = lapis_ctx_new();
  const lapis_method *m = lapis_method_find("auto");
  lapis_auto_settings set;
  char text[64], words[32];
  lapis_settings_default(m, &set);
  assert_int_equal(lapis_settings_set(ctx, m, &set, "candidates", LONG_TEXT),
                   0);
  snprintf(words, sizeof words, "takes %zu bytes", sizeof LONG_TEXT);
  for (size_t size = 0; size < sizeof LONG_TEXT; size++) {
    assert_int_equal(lapis_settings_get(ctx, m, &set, "candidates", text, size),
                     LAPIS_ESHAPE);
    assert_non_null(strstr(lapis_ctx_error(ctx), words));
  }
  assert_int_equal(
      lapis_settings_get(ctx, m, &set, "candidates", text, sizeof LONG_TEXT),
      LAPIS_OK);
  assert_string_equal(text, LONG_TEXT);
  lapis_ctx_free(ctx);
}

/* ... by methods that would not open it, too, before anything else. */
static void unknown_backends_are_refused_at_once(void **state)
{
  static const char *const method[] = {"trees", "linear", "auto", "mc"};
  double x = 1, y = 0, set[128];
  lapis_data data = {.X = lapis_mat_f64(&x, 1, 1),
                     .Y = lapis_mat_f64(&y, 1, 1)};
  lapis_ctx *ctx = lapis_ctx_new();
  assert_int_equal(lapis_ctx_set(ctx, "backend", "abacus"), LAPIS_OK);
  for (int i = 0; i < 4; i++) {
    lapis_solver *s;
    const lapis_method *m = lapis_method_find(method[i]);
    lapis_settings_default(m, set);
    assert_int_equal(lapis_solver_new(ctx, m, &data, set, &s), LAPIS_EINVAL);
    assert_non_null(strstr(lapis_ctx_error(ctx), "\"abacus\" is not known"));
    assert_null(s);
  }
  lapis_ctx_free(ctx);
}

static void settings_by_name(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  const lapis_method *mc = lapis_method_find("mc");
  lapis_mc_settings set = lapis_mc_defaults();
  char text[64];
  assert_int_equal(lapis_settings_set(ctx, mc, &set, "lambda", "0.1"), 0);
  lapis_settings_get(ctx, mc, &set, "lambda", text, sizeof text);
  assert_string_equal(text, "0.1");
  assert_int_equal(lapis_settings_set(ctx, mc, &set, "mu", "1e-300"), 0);
  lapis_settings_get(ctx, mc, &set, "mu", text, sizeof text);
  CHECK_NEAR(strtod(text, NULL), 1e-300, 0);
  assert_int_equal(lapis_settings_set(ctx, mc, &set, "mu", "auto"), 0);
  assert_true(isnan(set.mu));
  assert_int_equal(lapis_settings_set(ctx, mc, &set, "variant", "simplex"), 0);
  assert_int_equal(set.variant, LAPIS_MC_SIMPLEX);
  assert_int_equal(lapis_settings_set(ctx, mc, &set, "certificate", "true"), 0);
  assert_true(set.certificate);
  assert_int_equal(lapis_settings_set(ctx, mc, &set, "mu_rel", ".1"), 0);
  CHECK_NEAR(set.mu_rel, .1, 0);
  const char *const bad[][3] = {{"variant", "mc2", "mc1|pos|simplex"},
                                {"lambda", "0", "above 0"},
                                {"lambda", "-1", "above 0"},
                                {"lambda", "1,5", "a number"},
                                {"lambda", "", "a number"},
                                {"lambda", "nan", "a number"},
                                {"max-iters", "2.5", "whole number"},
                                {"tol", "2", "at most 1"},
                                {"certificate", "yes", "true or false"},
                                {"lamda", "1", "there is no lamda"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_int_equal(lapis_settings_set(ctx, mc, &set, bad[i][0], bad[i][1]),
                     LAPIS_EINVAL);
    if (strstr(lapis_ctx_error(ctx), bad[i][2]) == NULL)
      fail_msg("'%s' lacks '%s'", lapis_ctx_error(ctx), bad[i][2]);
  }
  lapis_ctx_free(ctx);
}

/* Every matrix has its row in the table, and lands in its field. */
static void matrices_by_name(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  double x[6] = {1, 2, 3, 4, 5, 6};
  lapis_mat mat = lapis_mat_f64(x, 3, 2);
  int count = 0;
  for (int i = 0; lapis_method_at(i) != NULL; i++) {
    const lapis_method *m = lapis_method_at(i);
    void *set = malloc(m->settings_size);
    lapis_settings_default(m, set);
    for (int k = 0; k < m->n_matrices; k++, count++) {
      const char *name = m->matrices[k].name;
      char text[64];
      assert_int_equal(lapis_settings_get(ctx, m, set, name, text, sizeof text),
                       0);
      assert_int_equal(lapis_settings_set_matrix(ctx, m, set, name, &mat), 0);
      assert_memory_equal((char *)set + m->matrices[k].offset, &mat,
                          sizeof mat);
    }
    assert_int_equal(lapis_settings_set_matrix(ctx, m, set, "lambda", &mat),
                     LAPIS_EINVAL);
    free(set);
  }
  assert_int_equal(count, 4); /* dictionary, weight, fix-weights, start */
  lapis_rr_settings rr = lapis_rr_defaults();
  lapis_settings_set_matrix(ctx, lapis_method_find("rr"), &rr, "fix-weights",
                            &mat);
  assert_ptr_equal(rr.weights.val, x);
  assert_null(rr.W.val);
  lapis_ctx_free(ctx);
}

/* ---- memory -------------------------------------------------------------*/
static void impossible_sizes_are_refused(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  assert_null(base_alloc(ctx, INT64_MAX, 16));
  check_says(lapis_ctx_error(ctx), "memory");
  assert_null(base_alloc(ctx, -1, 8));
  double *p = base_alloc(ctx, 0, 8);
  assert_non_null(p);
  base_free(p);
  p = base_alloc(ctx, 3, sizeof *p);
  p[2] = 5;
  void *grown = p;
  assert_int_equal(base_grow(ctx, &grown, 3, 1000, sizeof *p), LAPIS_OK);
  CHECK_NEAR(((double *)grown)[2], 5, 0);
  CHECK_NEAR(((double *)grown)[999], 0, 0);
  assert_true((uintptr_t)grown % 64 == 0);
  base_free(grown);
  lapis_ctx_free(ctx);
}

/* ---- random numbers -----------------------------------------------------*/
/* First words of the generator's published known answers. */
/* Arrays are zeroed and apart; after one that cannot be had there are no more,
 * and those that were had go with the rest. */
static void arenas_give_until_they_fail(void **state)
{
  enum { MANY = 100 };
  lapis_ctx *ctx = lapis_ctx_new();
  arena a = {.ctx = ctx};
  double *x[MANY];
  for (int i = 0; i < MANY; i++) {
    x[i] = arena_reals(&a, i + 1);
    assert_non_null(x[i]);
    for (int k = 0; k <= i; k++) {
      CHECK_NEAR(x[i][k], 0, 0);
      x[i][k] = i;
    }
  }
  for (int i = 0; i < MANY; i++) CHECK_NEAR(x[i][i], i, 0);
  char *text = base_strdup(ctx, "taken over");
  assert_ptr_equal(arena_keep(&a, text), text);
  assert_int_equal(arena_status(&a), LAPIS_OK);
  assert_null(arena_take(&a, INT64_MAX, 8));
  assert_int_equal(arena_status(&a), LAPIS_ENOMEM);
  check_says(lapis_ctx_error(ctx), "memory");
  assert_null(arena_reals(&a, 1));
  assert_null(arena_keep(&a, base_strdup(ctx, "freed at once")));
  arena_free(&a);
  assert_int_equal(arena_status(&a), LAPIS_OK);
  assert_non_null(arena_reals(&a, 1)); /* empty again */
  arena_free(&a);
  lapis_ctx_free(ctx);
}

static void philox_known_answers(void **state)
{
  assert_true(rng_bits(0, 0, 0) == 0xe169c58d6627e8d5u);
  assert_true(rng_bits(UINT64_MAX, UINT64_MAX, UINT64_MAX) ==
              0x41c83b0e408f276du);
}

static void random_numbers_are_spread(void **state)
{
  enum { N = 20000 };
  double mean = 0, normal = 0, square = 0;
  for (uint64_t i = 0; i < N; i++) {
    double u = rng_uniform(7, 3, i), z = rng_normal(7, 3, i);
    assert_true(u >= 0 && u < 1);
    mean += u / N;
    normal += z / N;
    square += z * z / N;
  }
  CHECK_NEAR(mean, 0.5, 5 * sqrt(1.0 / 12 / N));
  CHECK_NEAR(normal, 0, 5 / sqrt(N));
  CHECK_NEAR(square, 1, 5 * sqrt(2.0 / N));
}

/* Odd counts end inside a pair; the sine is as good as the cosine. */
static void normal_numbers_come_in_pairs(void **state)
{
  enum { N = 20001 };
  static double z[N], fewer[N];
  double mean = 0, square = 0, both = 0;
  rng_normals(7, 3, 10, z, N);
  rng_normals(7, 3, 10, fewer, N - 2);
  for (int i = 0; i < N; i++) {
    mean += z[i] / N;
    square += z[i] * z[i] / N;
    if (i > 0) both += z[i] * z[i - 1] / N;
    if (i < N - 2) assert_true(z[i] == fewer[i]);
    if (i % 2 == 0)
      CHECK_NEAR(z[i], rng_normal(7, 3, (uint64_t)(10 + i) / 2), 1e-15);
  }
  CHECK_NEAR(mean, 0, 5 / sqrt(N));
  CHECK_NEAR(square, 1, 5 * sqrt(2.0 / N));
  CHECK_NEAR(both, 0, 5 / sqrt(N));
}

static void a_shuffle_is_a_permutation(void **state)
{
  int64_t order[100], seen[100] = {0}, moved = 0;
  rng_shuffle(1, 2, order, 100);
  for (int64_t i = 0; i < 100; i++) {
    seen[order[i]]++;
    moved += order[i] != i;
  }
  for (int64_t i = 0; i < 100; i++) assert_int_equal(seen[i], 1);
  assert_true(moved > 80);
}

/* ---- the loop -----------------------------------------------------------*/
static bool stop_at_five(const lapis_progress *now, void *user)
{
  ++*(int *)user;
  return now->iter < 5;
}

static void loop_counts_records_and_stops(void **state)
{
  static const char *const columns[] = {"iteration", "objective"};
  lapis_ctx *ctx = lapis_ctx_new();
  loop l = {0};
  lapis_stop stop = {.max_iters = 200, .seconds = INFINITY};
  loop_begin(&l, ctx, "test", &stop, 2, columns);
  while (loop_next(&l)) loop_record(&l, (double[]){(double)l.iter * 2});
  assert_int_equal(l.iter, 200);
  assert_int_equal(l.status, LAPIS_MAX_ITERS);
  assert_int_equal(l.n_rows, 200);
  CHECK_NEAR(l.history[2 * 150], 151, 0);
  CHECK_NEAR(l.history[2 * 150 + 1], 302, 0);
  int calls = 0;
  lapis_ctx_on_progress(ctx, stop_at_five, &calls);
  stop.max_iters = -1;
  loop_begin(&l, ctx, "test", &stop, 2, columns);
  while (loop_next(&l)) {
    l.shown = -1; /* as if the last showing were long ago */
    loop_show(&l, &(lapis_progress){.gap = 1}, 0.1);
  }
  assert_int_equal(l.status, LAPIS_CANCELLED);
  assert_int_equal(l.iter, 5);
  assert_int_equal(calls, 5);
  loop_free(&l);
  lapis_ctx_free(ctx);
}

/* ---- the communicator ---------------------------------------------------*/
static int twice(void *self, double *x, int64_t n)
{
  (void)self;
  for (int64_t i = 0; i < n; i++) x[i] *= 2;
  return 0;
}
static int broken(void *self, double *x, int64_t n)
{
  (void)self;
  (void)x;
  (void)n;
  return 7;
}

static void communicator(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  double x = 3;
  assert_int_equal(base_sum(ctx, &x, 1), LAPIS_OK);
  CHECK_NEAR(x, 3, 0);
  lapis_comm two = {.size = 2, .rank = 1, .sum = twice, .max = broken};
  lapis_ctx_set_comm(ctx, &two);
  assert_int_equal(base_ranks(ctx), 2);
  assert_int_equal(base_sum(ctx, &x, 1), LAPIS_OK);
  CHECK_NEAR(x, 6, 0);
  double many[4096] = {0}; /* few numbers have places in a sum */
  assert_int_equal(base_max(ctx, many, 4096), LAPIS_EIO);
  check_says(lapis_ctx_error(ctx), "7 1 2");
  lapis_ctx_set_comm(ctx, NULL);
  assert_int_equal(base_ranks(ctx), 1);
  lapis_ctx_free(ctx);
}

/* What fills a sentence is spelt as its format is; commands and names in quotes
 * stay as they are. */
static void sentences_are_spelt_whole(void **state)
{
  static const char *const said[] = {
      "mc: held_out goes without most_rank; a {b}.csv; {.X = ...}; "
      "'fit --mu-rel 1'",
      "mc: --held-out goes without --most-rank; a {b}.csv; {.X = ...}; "
      "'fit --mu-rel 1'"};
  (void)state;
  for (int options = 0; options < 2; options++) {
    lapis_ctx *ctx = lapis_ctx_new();
    lapis_ctx_set(ctx, "spelling", options ? "options" : "keywords");
    lapis_fail(ctx, LAPIS_EINVAL,
               "mc: --%s %s; %s; {.X = ...}; 'fit --mu-rel 1'", "held-out",
               "goes without --most-rank", "a {b}.csv");
    assert_string_equal(lapis_ctx_error(ctx), said[options]);
    lapis_ctx_free(ctx);
  }
}

/* "(s)" of a format goes with the last number before it; what is filled in
 * stays as it is. */
static void sentences_count(void **state)
{
  static const char *const said[] = {"0 known labels of 1 fold",
                                     "1 known label of 21 folds",
                                     "11 known labels of 1.1 folds"};
  static const double folds[] = {1, 21, 1.1};
  static const int labels[] = {0, 1, 11};
  lapis_ctx *ctx = lapis_ctx_new();
  for (int k = 0; k < 3; k++) {
    lapis_fail(ctx, LAPIS_EINVAL, "%d known label(s) of %g fold(s)", labels[k],
               folds[k]);
    assert_string_equal(lapis_ctx_error(ctx), said[k]);
  }
  lapis_fail(ctx, LAPIS_EINVAL, "%d %s, (s)", 1, "time(s)");
  assert_string_equal(lapis_ctx_error(ctx), "1 time(s), (s)");
  lapis_ctx_free(ctx);
}

int test_base(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sentences_are_spelt_whole),
      cmocka_unit_test(sentences_count),
      cmocka_unit_test(every_status_has_a_name),
      cmocka_unit_test(context_settings),
      cmocka_unit_test(threads_are_what_openmp_allows),
      cmocka_unit_test(defaults_lie_within_bounds),
      cmocka_unit_test(settings_by_name),
      cmocka_unit_test(long_settings_are_refused),
      cmocka_unit_test(unknown_backends_are_refused_at_once),
      cmocka_unit_test(matrices_by_name),
      cmocka_unit_test(impossible_sizes_are_refused),
      cmocka_unit_test(arenas_give_until_they_fail),
      cmocka_unit_test(philox_known_answers),
      cmocka_unit_test(random_numbers_are_spread),
      cmocka_unit_test(normal_numbers_come_in_pairs),
      cmocka_unit_test(a_shuffle_is_a_permutation),
      cmocka_unit_test(loop_counts_records_and_stops),
      cmocka_unit_test(communicator),
  };
  return run_cases(tests, NULL, NULL);
}
