/* Units of work by several processes: what they give, say, and how they end. */
#include "parallel/jobs.h"

#include <signal.h>
#include <unistd.h>

#include "check.h"
#include "cv_points.h"
#include "lapis/choose.h"
#include "scarce.h"

enum { UNITS = 20, LARGE = 300000 };

typedef struct tally {
  lapis_ctx *ctx;
  int given[UNITS], done[UNITS], said[UNITS], n_said;
  double sum;
  int64_t special; /* the unit that ends in the way of the test */
  int how;
} tally;

static void on_message(int level, const char *text, void *user)
{
  tally *t = user;
  assert_int_equal(level, 0);
  assert_true(t->n_said < UNITS);
  assert_int_equal(sscanf(text, "unit %d", &t->said[t->n_said++]), 1);
}

/* The last units are the quickest to do. */
static lapis_status work(void *user, int64_t unit, job_line *to)
{
  tally *t = user;
  static double numbers[LARGE];
  size_t count = unit == 0 ? LARGE : 1;
  base_say(t->ctx, 0, "unit %d", (int)unit);
  for (size_t k = 0; k < count; k++) numbers[k] = (double)unit + 1;
  assert_int_equal(base_threads(t->ctx), 2);
  if (!jobs_give(to, numbers, count * sizeof *numbers)) return LAPIS_CANCELLED;
  return LAPIS_OK;
}

static lapis_status take(void *user, int64_t unit, const void *bytes,
                         size_t size)
{
  tally *t = user;
  const double *x = bytes;
  for (size_t k = 0; k < size / sizeof *x; k++) t->sum += x[k];
  t->given[unit]++;
  return LAPIS_OK;
}

static lapis_status done(void *user, int64_t unit)
{
  tally *t = user;
  assert_int_equal(t->given[unit], 1);
  t->done[unit]++;
  return LAPIS_OK;
}

/* units: of the list, which runs backwards. */
static lapis_status run(tally *t, job_list list, int64_t units, int jobs)
{
  int64_t unit[UNITS];
  int64_t special = t->special;
  int how = t->how;
  *t = (tally){.ctx = lapis_ctx_new(), .special = special, .how = how};
  for (int64_t k = 0; k < units; k++) unit[k] = units - 1 - k;
  list.ctx = t->ctx;
  list.who = "test";
  list.unit = unit;
  list.count = units;
  list.user = t;
  lapis_ctx_on_message(t->ctx, on_message, t);
  lapis_ctx_set(t->ctx, "threads", "7");
  int threads = jobs_divide(t->ctx, "test", 3);
  assert_int_equal(base_threads(t->ctx), 2);
  lapis_status s = jobs_run(&list, jobs);
  jobs_undivide(t->ctx, threads);
  assert_int_equal(base_threads(t->ctx), 7);
  return s;
}

static void all_units_are_done_and_speak_in_turn(void **state)
{
  tally t = {.special = -1};
  job_list list = {.work = work, .take = take, .done = done};
  for (int jobs = 1; jobs <= 5; jobs += 2) {
    assert_int_equal(run(&t, list, UNITS, jobs), LAPIS_OK);
    assert_int_equal(t.n_said, UNITS);
    for (int k = 0; k < UNITS; k++) {
      assert_int_equal(t.done[k], 1);
      assert_int_equal(t.said[k], UNITS - 1 - k);
    }
    /* 1 of unit 0 so often, and 2 + 3 + ... + UNITS */
    assert_true(t.sum == LARGE + UNITS * (UNITS + 1) / 2 - 1);
    lapis_ctx_free(t.ctx);
  }
}

/* ---- ends ---------------------------------------------------------------*/
static lapis_status end(void *user, int64_t unit, job_line *to)
{
  tally *t = user;
  if (unit != t->special) return work(user, unit, to);
  if (t->how > 0) (void)raise(t->how);
  if (t->how == 0) _exit(3);
  if (t->how == LAPIS_TIME_LIMIT - 100) return LAPIS_TIME_LIMIT;
  return lapis_fail(t->ctx, LAPIS_EDATA, "unit %d: is wrong", (int)unit);
}

static void an_end_is_one_sentence(void **state)
{
  static const struct {
    int how;
    lapis_status status;
    const char *said;
  } ends[] = {
      {SIGKILL, LAPIS_ENOMEM, " of 3 was killed; if no memory was left"},
      {SIGBUS, LAPIS_EIO, "test: an input file became shorter"},
      {SIGFPE, LAPIS_ENUMERIC, "ended before its work was done (signal 8)"},
      {0, LAPIS_ENUMERIC, "ended before its work was done (exit code 3)"},
      {-1, LAPIS_EDATA, "unit 9: is wrong"},
      {LAPIS_TIME_LIMIT - 100, LAPIS_TIME_LIMIT, ""}};
  job_list list = {.work = end, .take = take, .done = done};
  for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
    tally t = {.special = 9, .how = ends[k].how};
    assert_int_equal(run(&t, list, UNITS, 3), ends[k].status);
    check_says(lapis_ctx_error(t.ctx), ends[k].said);
    assert_int_equal(t.done[9], 0);
    lapis_ctx_free(t.ctx);
  }
}

static lapis_status never_end(void *user, int64_t unit, job_line *to)
{
  (void)work(user, unit, to);
  while (pause() != 0) continue;
  return LAPIS_OK;
}

static lapis_status cancel(void *user, int64_t unit, const void *bytes,
                           size_t size)
{
  tally *t = user;
  (void)bytes;
  (void)size;
  if (t->how == 1) return LAPIS_CANCELLED; /* what a bar that says stop does */
  lapis_ctx_cancel(t->ctx);
  t->given[unit]++;
  return LAPIS_OK;
}

static void a_cancelled_run_ends_its_workers(void **state)
{
  job_list list = {.work = never_end, .take = cancel};
  for (int how = 1; how <= 2; how++) {
    tally t = {.how = how};
    assert_int_equal(run(&t, list, UNITS, 3), LAPIS_CANCELLED);
    assert_false(base_cancelled(t.ctx)); /* it has been heard */
    lapis_ctx_free(t.ctx);
  }
}

static void settings_say_how_many(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  assert_int_equal(jobs_of(ctx, 5), 1);
  assert_int_equal(lapis_ctx_set(ctx, "jobs", "3"), LAPIS_OK);
  assert_int_equal(jobs_of(ctx, 5), 3);
  assert_int_equal(jobs_of(ctx, 2), 2);
  assert_int_equal(jobs_of(ctx, 0), 1);
  assert_int_equal(lapis_ctx_set(ctx, "jobs", "auto"), LAPIS_OK);
  assert_true(jobs_of(ctx, 5) >= 1 && jobs_of(ctx, 5) <= 5);
  assert_int_equal(lapis_ctx_set(ctx, "jobs", "1025"), LAPIS_EINVAL);
  assert_int_equal(lapis_ctx_set(ctx, "jobs", "2x"), LAPIS_EINVAL);
  lapis_ctx_free(ctx);
}

/* ---- memory -------------------------------------------------------------*/
/* The k-th allocation fails, in the caller or in its workers. */
static lapis_status run_cv(long k)
{
  enum { N = 12, D = 2 };
  double X[D * N], Y[N];
  uint64_t r = 5;
  for (int j = 0; j < N; j++) {
    for (int i = 0; i < D; i++) X[j * D + i] = check_normal(&r);
    Y[j] = j % 2;
  }
  static const char *const values[] = {"0.1", "1"};
  const lapis_grid grid = {"lambda", 2, values};
  lapis_data d = {.X = lapis_mat_f64(X, D, N), .Y = lapis_mat_f64(Y, 1, N)};
  lapis_cv_options o = lapis_cv_defaults();
  lapis_solver *cv = NULL;
  o.folds = 3;
  o.keep_scores = true;
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_ctx_set(ctx, "jobs", "2");
  lapis_ctx_set(ctx, "threads", "1");
  scarce.countdown = k;
  lapis_status s =
      cv_run(ctx, lapis_method_find("mc"), &d, NULL, &o, &grid, 1, &cv);
  scarce.countdown = -1;
  if (s < 0) assert_null(cv);
  if (s < 0) assert_non_null(strstr(lapis_ctx_error(ctx), "memory"));
  if (s >= 0) assert_true(cv_best(cv) >= 0);
  lapis_solver_free(cv);
  lapis_ctx_free(ctx);
  return s;
}

static void scarce_memory_is_an_error(void **state)
{
  long k = 0;
  for (lapis_status s = LAPIS_ENOMEM; s != LAPIS_OK; k += k < 40 ? 1 : 9) {
    s = run_cv(k);
    assert_true(s == LAPIS_OK || s == LAPIS_ENOMEM);
  }
  assert_true(k > 40);
}

int test_jobs(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_units_are_done_and_speak_in_turn),
      cmocka_unit_test(an_end_is_one_sentence),
      cmocka_unit_test(a_cancelled_run_ends_its_workers),
      cmocka_unit_test(settings_say_how_many),
      cmocka_unit_test(scarce_memory_is_an_error),
  };
  return run_cases(tests, NULL, NULL);
}
