/* svmplus.c - linear SVM+ of samples that are divided among
 * processes. */
#include "ranks_case.h"

static const char *const answers[] = {"scores", "labels", NULL};
static const char *const proof[] = {"scores", "alpha", "zeta", NULL};

/* Privileged features: a little of X, and noise; where they explain all labels
 * w is 0, and scores are rounding. */
static ranks_job job_of(sample_set *s, double *P, const char *settings)
{
  uint64_t seed = 9;
  for (int64_t j = 0; j < s->n; j++) {
    s->Y[j] = s->X[j * s->d] + 0.1 * check_normal(&seed) > 0 ? 1 : -1;
    for (int k = 0; P != NULL && k < 2; k++)
      P[2 * j + k] = 0.1 * s->X[j * s->d + k] + check_normal(&seed);
  }
  ranks_job job = {.method = "svmplus",
                   .settings = settings,
                   .whole = samples_view(s, true)};
  if (P != NULL) job.whole.P = lapis_mat_f64(P, 2, s->n);
  return job;
}

/* After 6 steps. */
static void like_one(void **state)
{
  static const char *const ways[] = {
      "solver=ipm;gamma=1;C=0.01;max-iters=6",
      "max-iters=6;gamma=1;C=0.01;balanced=true",
      "max-iters=6;gamma=1;C=0.01;scale=standard",
      "max-iters=6;gamma=1;C=0.01;certificate=true"};
  sample_set *s = samples(6, 120, 0, 0);
  double P[240];
  for (int i = 0; i < 4; i++) {
    check_like_one(job_of(s, P, ways[i]), i < 3 ? answers : proof, 1e-9);
    check_like_one(job_of(s, NULL, ways[i]), i < 3 ? answers : proof, 1e-9);
  }
  check_repeats(job_of(s, P, "tol=1e-8"), 3, answers);
  free(s);
}

static void to_the_end(void **state)
{
  sample_set *s = samples(6, 120, 0, 0);
  double P[240];
  for (int plus = 0; plus < 2; plus++) {
    ranks_job job =
        job_of(s, plus ? P : NULL, "solver=ipm;C=1;gamma=1;tol=1e-5");
    ranks_run one, many;
    solve_whole_and_parts(job, NULL, 4, &one, &many);
    const lapis_info *a = check_agreed(&one), *b = check_agreed(&many);
    assert_int_equal(b->status, LAPIS_OK);
    CHECK_AT_MOST(b->gap, 1e-5);
    CHECK_NEAR(b->objective / a->objective, 1, 2e-5);
    CHECK_AT_MOST(ranks_distance(&many, &one, "labels"), 0);
    ranks_free(&one);
    ranks_free(&many);
  }
  free(s);
}

/* Sorted by class, a part without a sample, one with a single one. */
static void classes_are_those_of_all(void **state)
{
  static const int64_t count[] = {40, 0, 1, 79};
  sample_set *s = samples(6, 120, 0, 0);
  double P[240];
  ranks_job job = job_of(s, P, "max-iters=6;gamma=1;C=0.01");
  for (int j = 0; j < 120; j++) s->Y[j] = j / 40;
  check_parts_like_one(job, count, 4, answers, 1e-9);
  for (int j = 0; j < 120; j++) {
    bool turned = (s->X[6 * j] > 0) != (j >= 60);
    for (int i = 0; i < 6 && turned; i++) s->X[6 * j + i] *= -1;
    s->Y[j] = j < 60 ? -1 : 1;
  }
  check_parts_like_one(job, count, 4, answers, 1e-9);
  free(s);
}

/* Fewer than features, with every process and with all. */
static void few_samples(void **state)
{
  static const int64_t count[] = {0, 17, 1, 12};
  sample_set *s = samples(40, 30, 0, 0);
  double P[60];
  for (int plus = 0; plus < 2; plus++)
    check_parts_like_one(
        job_of(s, plus ? P : NULL, "max-iters=6;gamma=1;C=0.01"), count, 4,
        answers, 1e-9);
  free(s);
}

static void what_is_refused(void **state)
{
  static const char *const all[] = {"kernel=rbf", "solver=dcd",
                                    "probability=true"};
  sample_set *s = samples(6, 120, 0, 0);
  for (int i = 0; i < 3; i++) {
    ranks_job job = job_of(s, NULL, all[i]);
    job.size = 3;
    check_all_refused(&job, LAPIS_EINVAL, "only the linear problem");
  }
  ranks_job job = job_of(s, NULL, "C=1");
  job.size = 3;
  s->X[6 * 119] = NAN;
  check_all_refused(&job, LAPIS_EMISSING, "(process 3 of 3)");
  free(s);
}

int test_svmplus(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(like_one),
      cmocka_unit_test(to_the_end),
      cmocka_unit_test(classes_are_those_of_all),
      cmocka_unit_test(few_samples),
      cmocka_unit_test(what_is_refused),
  };
  return run_cases(tests, NULL, NULL);
}
