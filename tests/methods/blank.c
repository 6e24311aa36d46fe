/* A sample of which nothing is known is answered by every method that answers,
 * and remarked; it takes nothing from the others. */
#include "check.h"
#include "lapis/tools.h"
#include "room.h"

enum { N = 40, D = 4, BLANK = 17 };

static bool remarked(const lapis_solver *s)
{
  lapis_mat notes;
  if (lapis_result_get(s, "notes", &notes) < 0) return false;
  const char *const *cell = notes.val;
  for (int64_t k = 0; k < notes.rows * notes.cols; k++)
    if (strcmp(cell[k], "blank-row") == 0) return true;
  return false;
}

static const struct {
  const char *method, *setting, *value;
} rows[] = {{"mc", "solver", "admm"},    {"mc", "solver", "factored"},
            {"mc", "variant", "pos"},    {"mc", "mu-rel", "0.3"},
            {"linear", "C", "1"},        {"trees", "trees", "20"},
            {"rr", "denoise", "rpca"},   {"rlda", "denoise", "rpca"},
            {"rlda", "assign", "score"}, {"svmplus", "kernel", "linear"},
            {"svmplus", "kernel", "rbf"}};

static void is_answered_and_remarked(void **state)
{
  uint64_t seed = 8;
  double X[D * N], Y[N];
  for (int j = 0; j < N; j++) {
    for (int i = 0; i < D; i++) X[j * D + i] = exp(.3 * check_normal(&seed));
    Y[j] = X[j * D] + X[j * D + 1] > 2.2 ? 1 : 0;
    if (j % 4 == 1) Y[j] = NAN;
  }
  for (int i = 0; i < D; i++) X[BLANK * D + i] = NAN;
  assert_true(isnan(Y[BLANK]));
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_data data = {.X = lapis_mat_f64(X, D, N), .Y = lapis_mat_f64(Y, 1, N)};
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    const lapis_method *m = lapis_method_find(rows[r].method);
    double settings[128];
    lapis_solver *s;
    lapis_mat scores;
    lapis_settings_default(m, settings);
    if (lapis_settings_set(ctx, m, settings, rows[r].setting, rows[r].value) <
            0 ||
        lapis_solver_new(ctx, m, &data, settings, &s) < 0 ||
        lapis_solve(s) < 0 || lapis_result_get(s, "scores", &scores) < 0)
      fail_msg("%s --%s %s: %s", rows[r].method, rows[r].setting, rows[r].value,
               lapis_ctx_error(ctx));
    if (!remarked(s)) fail_msg("%s: no remark", rows[r].method);
    double low = INFINITY, high = -INFINITY, own = lapis_mat_at(&scores, 0, 17);
    for (int j = 0; j < N; j++) {
      if (j == BLANK) continue;
      low = fmin(low, lapis_mat_at(&scores, 0, j));
      high = fmax(high, lapis_mat_at(&scores, 0, j));
    }
    CHECK_AT_LEAST(own, low - 1e-9); /* between those that say most */
    CHECK_AT_MOST(own, high + 1e-9);
    lapis_solver_free(s);
  }
  lapis_ctx_free(ctx);
}

int test_blank(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(is_answered_and_remarked)};
  return run_cases(tests, NULL, NULL);
}
