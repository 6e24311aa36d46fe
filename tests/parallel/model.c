/* model.c - models of samples that are divided among processes: they
 * answer new samples as the model of one process does. */
#include "ranks_case.h"
#include "remarks.h"

enum { NEW = 25, MOST_NUMBERS = 4000 };

typedef struct models {
  lapis_model *of[RANKS_MOST];
  lapis_status made[RANKS_MOST];
} models;

static void learn(ranks_part *part, void *user)
{
  models *m = user;
  m->made[part->rank] = lapis_model_new(part->solver, &m->of[part->rank]);
}

/* All numbers that the model publishes for the first NEW samples, with other
 * numbers in a few places; where cleaning them iterates, to the last digits. */
static int64_t answer(const lapis_model *m, const lapis_data *whole,
                      double *out)
{
  int64_t d = whole->X.rows, count = 0;
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_solver *s;
  const char *name;
  lapis_mat got;
  double *X = calloc((size_t)(NEW * d), sizeof *X);
  memcpy(X, whole->X.val, (size_t)(NEW * d) * sizeof *X);
  for (int64_t j = 0; j < NEW; j++) X[j * d + j % d] += 0.1;
  lapis_data data = {.X = lapis_mat_f64(X, d, NEW)};
  const lapis_method *table = lapis_predict_method(lapis_model_method(m));
  void *set = calloc(1, table->settings_size);
  lapis_settings_default(table, set);
  if (strcmp(lapis_model_method(m)->name, "rpca") == 0)
    lapis_settings_set(ctx, table, set, "tol", "1e-11");
  lapis_ctx_set(ctx, "threads", "1");
  if (lapis_predict_new(ctx, &data, m, set, &s) < 0 || lapis_solve(s) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  free(set);
  for (int i = 0; (name = lapis_result_name(s, i)) != NULL; i++) {
    assert_int_equal(lapis_result_get(s, name, &got), LAPIS_OK);
    if (got.dtype != LAPIS_F64 || got.cols != NEW) continue;
    for (int64_t k = 0; k < got.rows * NEW; k++)
      out[count++] = lapis_mat_at(&got, k % got.rows, k / got.rows);
  }
  assert_true(count > 0 && count <= MOST_NUMBERS);
  lapis_solver_free(s);
  lapis_ctx_free(ctx);
  free(X);
  return count;
}

/* The answers of every process's model. */
static int64_t fit(ranks_job job, int size, double out[][MOST_NUMBERS])
{
  models m = {{NULL}, {LAPIS_OK}};
  ranks_run run;
  int64_t count = 0;
  job.size = size;
  job.after = learn;
  job.user = &m;
  ranks_solve(&job, &run);
  for (int r = 0; r < size; r++) {
    if (m.made[r] < 0) fail_msg("%s", lapis_ctx_error(run.part[r].ctx));
    count = answer(m.of[r], &job.whole, out[r]);
    lapis_model_free(m.of[r]);
  }
  ranks_free(&run);
  return count;
}

static void check_models(ranks_job job, double near)
{
  static const int sizes[] = {2, 3, 4, 7};
  static double one[1][MOST_NUMBERS], many[RANKS_MOST][MOST_NUMBERS];
  int64_t count = fit(job, 1, one);
  for (int i = 0; i < 4; i++) {
    assert_int_equal(fit(job, sizes[i], many), count);
    for (int r = 0; r < sizes[i]; r++) {
      double off = 0, size = 0;
      for (int64_t k = 0; k < count; k++) {
        if (isnan(one[0][k]) && isnan(many[r][k])) continue;
        off += (many[r][k] - one[0][k]) * (many[r][k] - one[0][k]);
        size += one[0][k] * one[0][k];
      }
      CHECK_AT_MOST(sqrt(off / size), near);
    }
  }
}

static ranks_job job_of(const char *method, sample_set *s, const char *settings)
{
  return (ranks_job){
      .method = method, .settings = settings, .whole = samples_view(s, true)};
}

static void of_completion(void **state)
{
  sample_set *s = samples(12, 90, 0.2, 0), *t = samples(8, 200, 0, 0);
  check_models(job_of("mc", s, "mu-rel=0.05;max-iters=20;tol=1e-12"), 1e-10);
  for (int j = 0; j < 90; j++) s->Y[j] = j % 3 == 2 ? NAN : 3 + j / 30;
  check_models(job_of("mc", s, "mu-rel=0.05;max-iters=20;tol=1e-12"), 1e-10);
  check_models(
      job_of("mc", t, "solver=bordered;mu-rel=0.05;max-iters=20;tol=1e-12"),
      1e-10);
  ranks_job job =
      job_of("mc", s, "solver=factored;mu-rel=0.05;max-iters=20;tol=1e-14");
  job.whole.Y = (lapis_mat){0};
  check_models(job, 1e-10);
  free(s);
  free(t);
}

static void of_few_samples(void **state)
{
  sample_set *s = samples(40, 30, 0.1, 0.05);
  check_models(job_of("mc", s, "mu-rel=0.05;max-iters=20;tol=1e-12"), 1e-10);
  ranks_job job = job_of("rpca", s, "max-iters=20;tol=1e-12");
  job.whole.Y.cols = 0;
  check_models(job, 1e-9); /* what tol leaves open */
  free(s);
}

static void of_robust_methods(void **state)
{
  sample_set *s = samples(12, 90, 0.1, 0.05);
  for (int j = 0; j < 90; j++) s->Y[j] = j / 30;
  check_models(job_of("rlda", s, "gamma=1;max-iters=20;tol=1e-12"), 1e-10);
  check_models(job_of("rr", s, "max-iters=20;tol=1e-12"), 1e-10);
  check_models(job_of("rr", s, "denoise=rpca;max-iters=20;tol=1e-12"), 1e-10);
  ranks_job job = job_of("rpca", s, "max-iters=20;tol=1e-12");
  job.whole.Y.cols = 0;
  check_models(job, 1e-10);
  free(s);
}

static void of_margins(void **state)
{
  sample_set *s = samples(12, 90, 0, 0);
  for (int j = 0; j < 90; j++) s->Y[j] = s->X[12 * j] > 0 ? 1 : -1;
  check_models(job_of("svmplus", s, "solver=ipm;C=0.01;max-iters=6"), 1e-9);
  for (int j = 0; j < 90; j++) s->Y[j] = j / 30;
  check_models(
      job_of("svmplus", s, "solver=ipm;C=0.01;scale=standard;max-iters=6"),
      1e-9);
  free(s);
}

/* What cannot be learnt is said by all. */
static void of_nothing(void **state)
{
  sample_set *s = samples(12, 90, 0.2, 0);
  ranks_job job = job_of("mc", s, "mu=1e9;max-iters=0");
  models m = {{NULL}, {LAPIS_OK}};
  ranks_run run;
  job.size = 3;
  job.after = learn;
  job.user = &m;
  ranks_solve(&job, &run);
  for (int r = 0; r < 3; r++) {
    assert_int_equal(m.made[r], LAPIS_ENUMERIC);
    assert_null(m.of[r]);
    assert_non_null(
        strstr(lapis_ctx_error(run.part[r].ctx), COMPLETED_IS_ZERO));
  }
  ranks_free(&run);
  free(s);
}

int test_model(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(of_completion),     cmocka_unit_test(of_few_samples),
      cmocka_unit_test(of_robust_methods), cmocka_unit_test(of_margins),
      cmocka_unit_test(of_nothing),
  };
  return run_cases(tests, NULL, NULL);
}
