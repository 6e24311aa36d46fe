/* test_ranks_mc.c - completion of samples that are divided among processes. */
#include "ranks_case.h"

static const char *const with_labels[] = {"low_rank", "sparse", "scores",
                                          "labels", NULL};
static const char *const features[] = {"low_rank", "sparse", NULL};

static ranks_job job_of(sample_set *s, const char *settings, bool labels)
{
  return (ranks_job){
      .method = "mc", .settings = settings, .whole = samples_view(s, labels)};
}

/* ---- bordered -----------------------------------------------------------*/
/* Few known labels: the others become columns, of one sum. */
static void bordered_that_compresses(void **state)
{
  (void)state;
  sample_set *s = samples(8, 200, 0, 0);
  for (int j = 0; j < 200; j++)
    if (j % 5 != 0) s->Y[j] = NAN;
  ranks_job job =
      job_of(s, "solver=bordered;mu-rel=0.05;max-iters=20;tol=1e-12", true);
  check_like_one(job, with_labels, 1e-10);
  check_repeats(job, 3, with_labels);
  free(s);
}

static void bordered_of_all_samples(void **state)
{
  (void)state;
  sample_set *s = samples(30, 40, 0, 0);
  static const int64_t count[] = {11, 0, 1, 28};
  ranks_job job =
      job_of(s, "solver=bordered;mu-rel=0.05;max-iters=20;tol=1e-12", true);
  check_parts_like_one(job, count, 4, with_labels, 1e-10);
  free(s);
}

static void bordered_to_the_end(void **state)
{
  (void)state;
  sample_set *s = samples(8, 200, 0, 0);
  ranks_job job = job_of(s, "mu-rel=0.05;tol=1e-7;certificate=true", true);
  static const char *const all[] = {"low_rank", "scores", "labels", "dual",
                                    NULL};
  check_like_one(job, all, 1e-7);
  free(s);
}

/* ---- admm ---------------------------------------------------------------*/
static void admm_like_one(void **state)
{
  (void)state;
  sample_set *s = samples(12, 90, 0.2, 0);
  check_like_one(job_of(s, "mu-rel=0.05;max-iters=20;tol=1e-12", true),
                 with_labels, 1e-10);
  check_like_one(job_of(s, "mu=5e-4;max-iters=20;tol=1e-12", true), with_labels,
                 1e-10);
  check_like_one(job_of(s, "mu-rel=0.05;max-iters=20;tol=1e-12", false),
                 features, 1e-10);
  check_repeats(job_of(s, "mu-rel=0.05;tol=1e-6", true), 4, with_labels);
  free(s);
}

/* Fewer samples than features, with every process and with all. */
static void admm_of_few_samples(void **state)
{
  (void)state;
  sample_set *s = samples(40, 30, 0.2, 0);
  static const int64_t count[] = {0, 17, 1, 12};
  check_parts_like_one(job_of(s, "mu-rel=0.05;max-iters=20;tol=1e-12", true),
                       count, 4, with_labels, 1e-10);
  free(s);
}

static void admm_of_histograms(void **state)
{
  (void)state;
  sample_set *s = samples(12, 90, 0, 0);
  for (int j = 0; j < 90; j++) {
    double sum = 0;
    for (int i = 0; i < 12; i++) sum += fabs(s->X[12 * j + i]);
    for (int i = 0; i < 12; i++)
      s->X[12 * j + i] = fabs(s->X[12 * j + i]) / sum;
  }
  static const char *const variants[] = {
      "variant=simplex;mu-rel=0.05;max-iters=20;tol=1e-12",
      "variant=pos;mu-rel=0.05;max-iters=20;tol=1e-12"};
  for (int i = 0; i < 2; i++)
    check_like_one(job_of(s, variants[i], true), with_labels, 1e-10);
  free(s);
}

/* The proof at the end: what one process proves, to the tolerance. */
static void admm_to_the_end(void **state)
{
  (void)state;
  sample_set *s = samples(12, 90, 0.2, 0);
  ranks_job job = job_of(s, "mu-rel=0.05;tol=1e-6;certificate=true", true);
  ranks_run one, many;
  job.size = 1;
  ranks_solve(&job, &one);
  job.size = 4;
  ranks_solve(&job, &many);
  const lapis_info *a = check_agreed(&one), *b = check_agreed(&many);
  assert_int_equal(b->status, LAPIS_OK);
  CHECK_AT_MOST(b->gap, 1e-6);
  CHECK_NEAR(b->objective / a->objective, 1, 2e-6);
  CHECK_AT_MOST(ranks_distance(&many, &one, "labels"), 0);
  ranks_free(&one);
  ranks_free(&many);
  free(s);
}

/* ---- labels of which each process sees a part ---------------------------*/
static void classes_are_those_of_all(void **state)
{
  (void)state;
  sample_set *s = samples(12, 90, 0, 0);
  /* sorted: a process may have one class, and no process has all */
  for (int j = 0; j < 90; j++) s->Y[j] = j % 3 == 2 ? NAN : 3 + j / 30;
  ranks_job job = job_of(s, "mu-rel=0.05;max-iters=20;tol=1e-12", true);
  check_like_one(job, with_labels, 1e-10);
  for (int j = 0; j < 90; j++) s->Y[j] = j < 45 ? -1 : 1;
  check_like_one(job, with_labels, 1e-10);
  free(s);
}

static void many_labels_are_those_of_all(void **state)
{
  (void)state;
  sample_set *s = samples(12, 90, 0.1, 0);
  double *Y = calloc(180, sizeof *Y); /* -1 in the last part alone */
  for (int j = 0; j < 90; j++) {
    Y[2 * j] = j < 80 ? 1 : -1;
    Y[2 * j + 1] = j < 60 ? 1 : j < 75 ? NAN : -1;
  }
  ranks_job job = job_of(s, "mu-rel=0.05;max-iters=20;tol=1e-12", false);
  job.whole.Y = lapis_mat_f64(Y, 2, 90);
  check_like_one(job, with_labels, 1e-10);
  free(Y);
  free(s);
}

/* ---- refusals -----------------------------------------------------------*/
static void what_cannot_be_divided(void **state)
{
  (void)state;
  static const struct {
    const char *settings, *words;
  } all[] = {{"solver=factored", "samples are divided among processes"},
             {"solver=fpc", "samples are divided among processes"},
             {"debias=true", "--debias is not divided"},
             {"class-features=true", "--class-features is not divided"}};
  sample_set *s = samples(12, 90, 0.2, 0);
  for (int i = 0; i < 4; i++) {
    ranks_job job = job_of(s, all[i].settings, true);
    job.size = 3;
    check_all_refused(&job, LAPIS_EINVAL, all[i].words);
  }
  free(s);
}

static void what_is_wrong_in_one_part(void **state)
{
  (void)state;
  sample_set *s = samples(12, 90, 0.2, 0);
  ranks_job job = job_of(s, "mu-rel=0.05", true);
  job.size = 4;
  s->Y[1] = INFINITY;
  check_all_refused(&job, LAPIS_EDATA, "(process 1 of 4)");
  s->Y[1] = 1;
  for (int i = 0; i < 12; i++) s->X[12 * 80 + i] = NAN; /* and Y_80 is NaN */
  check_all_refused(&job, LAPIS_EMISSING, "neither a feature nor a label");
  s->X[12 * 80] = 1;
  for (int j = 0; j < 90; j++) s->X[12 * j + 7] = NAN; /* everywhere */
  check_all_refused(&job, LAPIS_EMISSING, "column 8");
  free(s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bordered_that_compresses),
      cmocka_unit_test(bordered_of_all_samples),
      cmocka_unit_test(bordered_to_the_end),
      cmocka_unit_test(admm_like_one),
      cmocka_unit_test(admm_of_few_samples),
      cmocka_unit_test(admm_of_histograms),
      cmocka_unit_test(admm_to_the_end),
      cmocka_unit_test(classes_are_those_of_all),
      cmocka_unit_test(many_labels_are_those_of_all),
      cmocka_unit_test(what_cannot_be_divided),
      cmocka_unit_test(what_is_wrong_in_one_part),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
