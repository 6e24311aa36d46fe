/* C and gamma left open: what held-out samples choose, and whether P pays. */
#include "cv_points.h"
#include "remarks.h"
#include "svmplus_case.h"

static void remember(int level, const char *text, void *user)
{
  char *said = user;
  (void)level;
  if (strstr(text, "held-out folds; P") != NULL)
    snprintf(said, 512, "%s", text);
}

/* 120 samples in a plane, y by a line and noise; P: the noise, or another. */
static sv_case make(uint64_t seed, bool tells)
{
  sv_case c = sv_random(seed, 120, 2, 1);
  for (int j = 0; j < 120; j++) {
    double e = 1.5 * check_normal(&seed), f = 3 * check_normal(&seed);
    c.X[2 * j] = f;
    c.X[2 * j + 1] = check_normal(&seed);
    c.y[j] = f + e > 0 ? 1 : -1;
    c.P[j] = tells ? (f + e) * c.y[j] : check_normal(&seed);
  }
  return c;
}

/* P of noise is left out: the answer is that of the SVM without it, with the C
 * that is said, to the bit; what is stated stays. */
static void noise_is_left_out(void **state)
{
  int without = 0;
  for (uint64_t seed = 1; seed <= 4; seed++) {
    char said[512] = "";
    lapis_ctx *ctx = lapis_ctx_new();
    lapis_ctx_on_message(ctx, remember, said);
    sv_case c = make(seed, false);
    lapis_svmplus_settings set = lapis_svmplus_defaults();
    lapis_solver *open = sv_solve(ctx, &c.data, &set);
    const lapis_svmplus_settings *used = lapis_result_settings(open);
    assert_true(used->C > .09 && used->C < 101);
    assert_true(strstr(said, "clear") != NULL || strstr(said, "a toss-up"));
    if (strstr(said, "P is left out") != NULL) {
      without++;
      lapis_data plain = c.data;
      plain.P = (lapis_mat){0};
      set.C = used->C;
      lapis_solver *one = sv_solve(ctx, &plain, &set);
      assert_memory_equal(sv_array(open, "scores"), sv_array(one, "scores"),
                          120 * sizeof(double));
      lapis_solver_free(one);
    }
    lapis_solver_free(open);
    set = lapis_svmplus_defaults();
    set.C = 3;
    open = sv_solve(ctx, &c.data, &set);
    used = lapis_result_settings(open);
    CHECK_NEAR(used->C, 3, 0);
    lapis_solver_free(open);
    set = lapis_svmplus_defaults();
    set.gamma = .5; /* who states it uses P, noise as it is */
    open = sv_solve(ctx, &c.data, &set);
    set = *(const lapis_svmplus_settings *)lapis_result_settings(open);
    CHECK_NEAR(set.gamma, .5, 0);
    lapis_solver *same = sv_solve(ctx, &c.data, &set);
    assert_memory_equal(sv_array(open, "scores"), sv_array(same, "scores"),
                        120 * sizeof(double));
    lapis_solver_free(same);
    lapis_solver_free(open);
    sv_drop(&c);
    lapis_ctx_free(ctx);
  }
  assert_true(without >= 2);
}

/* A grid of C while gamma is open, and the other way round: each value has the
 * figure that it has alone. */
static void values_of_a_grid_are_fitted_alike(void **state)
{
  static const char *const C[] = {".05", "20"}, *const gamma[] = {".02", "50"};
  const lapis_grid both[] = {{"C", 2, C}, {"gamma", 2, gamma}};
  lapis_ctx *ctx = lapis_ctx_new();
  const lapis_method *m = lapis_method_find("svmplus");
  lapis_cv_options o = lapis_cv_defaults();
  o.folds = 3;
  sv_case c = make(9, true);
  for (int k = 0; k < 2; k++) {
    lapis_solver *all, *alone;
    assert_int_equal(cv_run(ctx, m, &c.data, NULL, &o, &both[k], 1, &all), 0);
    for (int i = 0; i < 2; i++) {
      lapis_grid one = {both[k].name, 1, both[k].value + i};
      assert_int_equal(cv_run(ctx, m, &c.data, NULL, &o, &one, 1, &alone), 0);
      CHECK_NEAR(cv_at(all, i).mean, cv_at(alone, 0).mean, 1e-12);
      lapis_solver_free(alone);
    }
    lapis_solver_free(all);
  }
  sv_drop(&c);
  lapis_ctx_free(ctx);
}

enum { ASKED = 20 };
typedef struct doubted {
  int64_t index[2 * ASKED], found;
  double margin[ASKED];
} doubted;

static doubted doubt(lapis_ctx *ctx, const lapis_data *data,
                     const lapis_svmplus_settings *set)
{
  doubted d;
  memset(&d, 0, sizeof d);
  if (lapis_suspects(ctx, lapis_method_find("svmplus"), data, set, NULL, ASKED,
                     d.index, d.margin, &d.found, NULL) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  return d;
}

/* Labels are doubted by what was chosen: where P is left out, as if there were
 * none, to the bit; where it is used, not so. */
static void suspects_are_of_what_was_chosen(void **state)
{
  static const struct {
    int formulation, seed, n, d;
  } run[] = {{LAPIS_SVMPLUS_AUTO, 1, 150, 2},
             {LAPIS_SVMPLUS_AUTO, 3, 150, 12},
             {LAPIS_SVMPLUS_L2, 8, 60, 12},
             {LAPIS_SVMPLUS_L2, 7, 60, 7},
             {LAPIS_SVMPLUS_ORIGINAL, 11, 60, 2},
             {LAPIS_SVMPLUS_ORIGINAL, 14, 150, 17}};
  int without = 0, with = 0;
  for (int k = 0; k < 6; k++) {
    char said[512] = "";
    lapis_ctx *ctx = lapis_ctx_new();
    lapis_ctx_on_message(ctx, remember, said);
    sv_case c = sv_random((uint64_t)run[k].seed, run[k].n, run[k].d, 1);
    lapis_svmplus_settings set = lapis_svmplus_defaults();
    set.formulation = run[k].formulation;
    lapis_solver *open = sv_solve(ctx, &c.data, &set);
    set = *(const lapis_svmplus_settings *)lapis_result_settings(open);
    bool out = strstr(said, "P is left out") != NULL;
    lapis_data plain = c.data;
    plain.P = (lapis_mat){0};
    doubted by = doubt(ctx, &c.data, &set), as = doubt(ctx, &plain, &set);
    assert_int_equal(by.found, ASKED);
    assert_int_equal(memcmp(&by, &as, sizeof by) == 0, out);
    assert_int_equal(isinf(set.gamma) != 0, out);
    without += out;
    with += !out;
    lapis_solver_free(open);
    sv_drop(&c);
    lapis_ctx_free(ctx);
  }
  assert_true(without > 0 && with > 0);
}

static void hear_zero(int level, const char *text, void *user)
{
  (void)level;
  if (strstr(text, ZERO_WEIGHTS) != NULL) ++*(int *)user;
}

/* Where P explains all w is 0 and labels are rounding: it is said by what the
 * gap proves, and of no answer that means something. */
static void zero_is_said_to_be_zero(void **state)
{
  enum { N = 100 };
  for (int kernel = 0; kernel < 2; kernel++)
    for (int plain = 0; plain < 2; plain++) {
      int said = 0;
      lapis_ctx *ctx = lapis_ctx_new();
      lapis_ctx_on_message(ctx, hear_zero, &said);
      sv_case c = sv_random(7, N, 3, 2);
      uint64_t seed = 11;
      for (int j = 0; j < 2 * N; j++) c.P[j] = check_normal(&seed);
      if (plain) c.data.P = (lapis_mat){0};
      lapis_svmplus_settings set = lapis_svmplus_defaults();
      set.C = set.gamma = 1;
      set.kernel = kernel ? LAPIS_KERNEL_RBF : LAPIS_KERNEL_LINEAR;
      lapis_solver *s = sv_solve(ctx, &c.data, &set);
      double most = 0;
      for (int j = 0; j < N; j++)
        most = fmax(most, fabs(sv_array(s, "scores")[j]));
      bool zero = !kernel && !plain;
      assert_int_equal(said, zero);
      assert_int_equal(most < 1e-5, zero);
      lapis_solver_free(s);
      sv_drop(&c);
      lapis_ctx_free(ctx);
    }
}

/* Without P nothing is chosen: C is 1. */
static void without_P_it_is_1(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  sv_case c = make(9, false);
  c.data.P = (lapis_mat){0};
  lapis_svmplus_settings set = lapis_svmplus_defaults();
  lapis_solver *open = sv_solve(ctx, &c.data, &set);
  set.C = 1;
  lapis_solver *one = sv_solve(ctx, &c.data, &set);
  assert_memory_equal(sv_array(open, "scores"), sv_array(one, "scores"),
                      120 * sizeof(double));
  lapis_solver_free(open);
  lapis_solver_free(one);
  sv_drop(&c);
  lapis_ctx_free(ctx);
}

int test_open(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(noise_is_left_out),
      cmocka_unit_test(values_of_a_grid_are_fitted_alike),
      cmocka_unit_test(suspects_are_of_what_was_chosen),
      cmocka_unit_test(zero_is_said_to_be_zero),
      cmocka_unit_test(without_P_it_is_1)};
  return run_cases(tests, NULL, NULL);
}
