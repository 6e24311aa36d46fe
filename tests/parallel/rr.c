/* rr.c - robust regression and discriminants of samples that are
 * divided among processes. */
#include "ranks_case.h"

static const char *const fitted[] = {"low_rank", "sparse", "scores", NULL};
static const char *const decided[] = {"low_rank", "scores", "labels", NULL};

static ranks_job job_of(const char *method, sample_set *s, const char *settings)
{
  for (int64_t j = 0; j < s->n; j++)
    if (isnan(s->Y[j])) s->Y[j] = j % 2 == 0 ? 1 : -1;
  return (ranks_job){
      .method = method, .settings = settings, .whole = samples_view(s, true)};
}

static void rr_like_one(void **state)
{
  static const char *const ways[] = {"max-iters=20;tol=1e-12",
                                     "denoise=rpca;max-iters=20;tol=1e-12"};
  sample_set *s = samples(12, 90, 0.1, 0.05);
  for (int i = 0; i < 2; i++)
    check_like_one(job_of("rr", s, ways[i]), fitted, 1e-10);
  check_repeats(job_of("rr", s, "tol=1e-6"), 3, fitted);
  free(s);
}

/* What folds of whole groups told of each attempt, and its error, whichever
 * parts a group lies in. */
static void groups_like_one(void **state)
{
  sample_set *s = samples(12, 90, 0.1, 0.05);
  int64_t group[90];
  ranks_run one, many;
  lapis_mat a, b;
  for (int j = 0; j < 90; j++) group[j] = j * 7 % 11;
  ranks_job job = job_of("rr", s, "tol=1e-9");
  job.whole.group = group;
  job.size = 1;
  ranks_solve(&job, &one);
  job.size = 3;
  ranks_solve(&job, &many);
  assert_int_equal(lapis_result_get(one.part[0].solver, "tried", &a), LAPIS_OK);
  for (int r = 0; r < 3; r++) {
    assert_int_equal(lapis_result_get(many.part[r].solver, "tried", &b),
                     LAPIS_OK);
    for (int64_t t = 0; t < a.cols; t++)
      for (int64_t i = 0; i < a.rows; i++) {
        assert_false(isnan(lapis_mat_at(&a, i, t)));
        CHECK_NEAR(lapis_mat_at(&b, i, t), lapis_mat_at(&a, i, t), 1e-3);
      }
  }
  ranks_free(&one);
  ranks_free(&many);
  free(s);
}

static void rlda_like_one(void **state)
{
  sample_set *s = samples(12, 90, 0.1, 0.05);
  check_like_one(job_of("rlda", s, "gamma=1;max-iters=20;tol=1e-12"), decided,
                 1e-10);
  for (int j = 0; j < 90; j++) s->Y[j] = j / 30; /* sorted: one class a part */
  check_like_one(job_of("rlda", s, "gamma=1;max-iters=20;tol=1e-12"), decided,
                 1e-10);
  free(s);
}

static void ridge_like_one(void **state)
{
  sample_set *s = samples(12, 90, 0, 0);
  check_like_one(job_of("rr", s, "denoise=none"), fitted, 1e-10);
  free(s);
}

static void few_samples(void **state)
{
  static const int64_t count[] = {0, 17, 1, 12};
  sample_set *s = samples(40, 30, 0.1, 0.05);
  check_parts_like_one(job_of("rr", s, "max-iters=20;tol=1e-12"), count, 4,
                       fitted, 1e-10);
  check_parts_like_one(job_of("rlda", s, "gamma=1;max-iters=20;tol=1e-12"),
                       count, 4, decided, 1e-10);
  free(s);
}

static void given_weights(ranks_part *part, void *settings, void *user)
{
  (void)part;
  lapis_rr_settings *set = settings;
  set->weights = lapis_mat_f64(user, 13, 1);
}

/* Convex, proved. */
static void fixed_weights_like_one(void **state)
{
  sample_set *s = samples(12, 90, 0.1, 0.05);
  double T[13];
  for (int i = 0; i < 13; i++) T[i] = 0.1 * (i % 5) - 0.2;
  ranks_job job = job_of("rr", s, "max-iters=20;tol=1e-12;certificate=true");
  static const char *const all[] = {"low_rank", "scores", "dual", NULL};
  job.before = given_weights;
  job.user = T;
  check_like_one(job, all, 1e-9);
  free(s);
}

static void what_is_refused(void **state)
{
  sample_set *s = samples(12, 90, 0.1, 0);
  ranks_job job = job_of("rr", s, "refill=1");
  job.size = 3;
  check_all_refused(&job, LAPIS_EINVAL, "refill is not divided");
  job = job_of("rlda", s, "tol=1e-6");
  job.size = 4;
  check_all_refused(&job, LAPIS_EINVAL, "give lambda or gamma");
  job.settings = "gamma=1;assign=knn";
  check_all_refused(&job, LAPIS_EINVAL, "assign score");
  job.settings = "gamma=1";
  s->Y[3] = NAN;
  check_all_refused(&job, LAPIS_EMISSING, "(process 1 of 4)");
  job = job_of("rr", s, "tol=1e-6");
  job.size = 4;
  s->X[12 * 89] = INFINITY; /* the last rank's */
  check_all_refused(&job, LAPIS_EDATA, "(process 4 of 4)");
  job.settings = "denoise=none"; /* holes are everywhere */
  s->X[12 * 89] = 1;
  check_all_refused(&job, LAPIS_EMISSING, "(process 1 of 4)");
  free(s);
}

int test_rr(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rr_like_one),
      cmocka_unit_test(groups_like_one),
      cmocka_unit_test(rlda_like_one),
      cmocka_unit_test(ridge_like_one),
      cmocka_unit_test(few_samples),
      cmocka_unit_test(fixed_weights_like_one),
      cmocka_unit_test(what_is_refused),
  };
  return run_cases(tests, NULL, NULL);
}
