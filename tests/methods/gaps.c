/* A feature that is known where the target is, and nowhere else, is named,
 * whatever the method and the kind of target; gaps that are alike are not. */
#include "check.h"
#include "remarks.h"
#include "room.h"

enum { N = 60, D = 3, OPEN = 20 };

/* The remark of the fit, "" if there is none. */
static void remark_of(const char *method, const lapis_data *data,
                      const char *targets, char *text, size_t size)
{
  lapis_ctx *ctx = lapis_ctx_new();
  const lapis_method *m = lapis_method_find(method);
  double settings[128];
  lapis_solver *s;
  lapis_mat notes;
  lapis_settings_default(m, settings);
  if (targets != NULL)
    assert_int_equal(lapis_settings_set(ctx, m, settings, "targets", targets),
                     LAPIS_OK);
  if (lapis_solver_new(ctx, m, data, settings, &s) < 0 || lapis_solve(s) < 0)
    fail_msg("%s: %s", method, lapis_ctx_error(ctx));
  assert_int_equal(lapis_result_get(s, "notes", &notes), LAPIS_OK);
  *text = '\0';
  const char *const *cell = notes.val;
  for (int64_t j = 0; j < notes.cols; j++)
    if (strcmp(cell[j * notes.ld + 1], "gaps-differ") == 0)
      (void)snprintf(text, size, "%s", cell[j * notes.ld + 2]);
  lapis_solver_free(s);
  lapis_ctx_free(ctx);
}

static void what_is_known_afterwards_is_named(void **state)
{
  static const char *const names[D] = {"age", "weight", "outcome"};
  uint64_t seed = 3;
  double X[D * N], Y[N];
  char text[600];
  for (int j = 0; j < N; j++) {
    for (int i = 0; i < D; i++) X[j * D + i] = check_normal(&seed);
    if (j % 4 == 0) X[j * D + 1] = NAN; /* of both */
    Y[j] = j < OPEN ? NAN : X[j * D] > 0;
  }
  lapis_data data = {.X = lapis_mat_f64(X, D, N),
                     .Y = lapis_mat_f64(Y, 1, N),
                     .feature_names = lapis_mat_text(names, 1, D)};
  for (int k = 0; k < 3; k++) {
    static const char *const methods[] = {"auto", "mc", "auto"};
    const char *targets = k == 2 ? "numbers" : NULL;
    for (int j = 0; j < N && k == 2; j++)
      if (j >= OPEN) Y[j] = X[j * D] + .3 * check_normal(&seed);
    remark_of(methods[k], &data, targets, text, sizeof text);
    assert_string_equal(text, "");
    double kept[OPEN];
    for (int j = 0; j < OPEN; j++) {
      kept[j] = X[j * D + 2];
      X[j * D + 2] = j == 3 ? kept[j] : NAN;
    }
    remark_of(methods[k], &data, targets, text, sizeof text);
    assert_non_null(strstr(text, "outcome is known for 40 of 40"));
    assert_non_null(strstr(text, "for 1 of 20 without"));
    assert_non_null(strstr(text, KNOWN_AFTERWARDS));
    for (int j = 0; j < OPEN; j++) X[j * D + 2] = kept[j];
  }
}

int test_gaps(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_known_afterwards_is_named)};
  return run_cases(tests, NULL, NULL);
}
