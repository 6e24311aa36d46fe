/* mc.c - completion of samples that are divided among processes. */
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
  sample_set *s = samples(30, 40, 0, 0);
  static const int64_t count[] = {11, 0, 1, 28};
  ranks_job job =
      job_of(s, "solver=bordered;mu-rel=0.05;max-iters=20;tol=1e-12", true);
  check_parts_like_one(job, count, 4, with_labels, 1e-10);
  free(s);
}

static void bordered_to_the_end(void **state)
{
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
  sample_set *s = samples(40, 30, 0.2, 0);
  static const int64_t count[] = {0, 17, 1, 12};
  check_parts_like_one(job_of(s, "mu-rel=0.05;max-iters=20;tol=1e-12", true),
                       count, 4, with_labels, 1e-10);
  free(s);
}

static void make_histograms(sample_set *s)
{
  for (int64_t j = 0; j < s->n; j++) {
    double sum = 0, *x = s->X + j * s->d;
    for (int64_t i = 0; i < s->d; i++) sum += isnan(x[i]) ? 0.1 : fabs(x[i]);
    for (int64_t i = 0; i < s->d; i++) x[i] = fabs(x[i]) / sum;
  }
}

static void admm_of_histograms(void **state)
{
  sample_set *s = samples(12, 90, 0, 0);
  make_histograms(s);
  static const char *const variants[] = {
      "variant=simplex;mu-rel=0.05;max-iters=20;tol=1e-12",
      "variant=pos;mu-rel=0.05;max-iters=20;tol=1e-12"};
  for (int i = 0; i < 2; i++)
    check_like_one(job_of(s, variants[i], true), with_labels, 1e-10);
  free(s);
}

/* What one process proves, to the tolerance; count as in ranks_job. */
static void check_to_the_end(ranks_job job, const int64_t *count, int size,
                             double near)
{
  ranks_run one, many;
  solve_whole_and_parts(job, count, size, &one, &many);
  const lapis_info *a = check_agreed(&one), *b = check_agreed(&many);
  assert_int_equal(b->status, LAPIS_OK);
  CHECK_AT_MOST(b->gap, near / 2);
  CHECK_NEAR(b->objective / a->objective, 1, near);
  CHECK_AT_MOST(ranks_distance(&many, &one, "labels"), 0);
  ranks_free(&one);
  ranks_free(&many);
}

static void admm_to_the_end(void **state)
{
  sample_set *s = samples(12, 90, 0.2, 0);
  check_to_the_end(job_of(s, "mu-rel=0.05;tol=1e-6;certificate=true", true),
                   NULL, 4, 2e-6);
  free(s);
}

/* ---- fixed points, refits, representatives ------------------------------*/
static void fpc_like_one(void **state)
{
  static const int64_t count[] = {0, 17, 1, 12};
  sample_set *s = samples(12, 90, 0.2, 0), *few = samples(40, 30, 0.2, 0);
  const char *settings = "solver=fpc;mu-rel=0.05;max-iters=20;tol=1e-12";
  check_like_one(job_of(s, settings, true), with_labels, 1e-10);
  check_like_one(job_of(s, settings, false), features, 1e-10);
  check_repeats(job_of(s, settings, true), 3, with_labels);
  check_parts_like_one(job_of(few, settings, true), count, 4, with_labels,
                       1e-10);
  free(s);
  free(few);
}

static void representatives_like_one(void **state)
{
  sample_set *s = samples(12, 90, 0.2, 0);
  for (int j = 0; j < 90; j++) s->Y[j] = j % 3 == 2 ? NAN : 3 + j / 30;
  ranks_job job =
      job_of(s, "class-features=true;mu-rel=0.05;max-iters=20;tol=1e-12", true);
  check_like_one(job, with_labels, 1e-10);
  ranks_run one, many;
  solve_whole_and_parts(job, NULL, 4, &one, &many);
  for (int r = 0; r < 4; r++) {
    lapis_mat a, b;
    assert_int_equal(lapis_result_get(one.part[0].solver, "class_features", &a),
                     LAPIS_OK);
    assert_int_equal(
        lapis_result_get(many.part[r].solver, "class_features", &b), LAPIS_OK);
    assert_int_equal(a.cols, 3);
    assert_int_equal(b.cols, 3);
    for (int k = 0; k < 36; k++)
      CHECK_NEAR(lapis_mat_at(&b, k % 12, k / 12),
                 lapis_mat_at(&a, k % 12, k / 12), 1e-9);
  }
  ranks_free(&one);
  ranks_free(&many);
  free(s);
}

/* ---- factored -----------------------------------------------------------*/
/* Of labels, Newton's last step is taken or not as rounding has it: it moves Z
 * by the root of what it is worth in the objective. */
static void check_labelled(ranks_job job, const int64_t *count, int size)
{
  static const char *const none[] = {NULL};
  ranks_run one, many;
  solve_whole_and_parts(job, count, size, &one, &many);
  check_same(&many, &one, none, 1e-10);
  for (int k = 0; k < 3; k++)
    CHECK_AT_MOST(ranks_distance(&many, &one, with_labels[k]), 1e-6);
  CHECK_AT_MOST(ranks_distance(&many, &one, "labels"), 0);
  ranks_free(&many);
  ranks_free(&one);
}

static void factored_like_one(void **state)
{
  static const int64_t count[] = {100, 0, 1, 199};
  static const int sizes[] = {2, 3, 4, 7};
  const char *settings = "solver=factored;mu-rel=0.05;max-iters=20;tol=1e-14";
  sample_set *s = samples(40, 300, 0.4, 0);
  check_like_one(job_of(s, settings, false), features, 1e-10);
  check_parts_like_one(job_of(s, settings, false), count, 4, features, 1e-10);
  check_repeats(job_of(s, settings, true), 3, with_labels);
  for (int i = 0; i < 4; i++)
    check_labelled(job_of(s, settings, true), NULL, sizes[i]);
  for (int j = 0; j < 300; j++) s->Y[j] = j % 3 == 2 ? NAN : 3 + j / 100;
  for (int i = 0; i < 4; i++)
    check_labelled(job_of(s, settings, true), NULL, sizes[i]);
  check_labelled(job_of(s, settings, true), count, 4);
  free(s);
}

static void factored_to_the_end(void **state)
{
  static const int64_t count[] = {30, 0, 1, 59};
  sample_set *s = samples(40, 300, 0.4, 0);
  for (int proof = 0; proof < 2; proof++) {
    ranks_job job = job_of(s,
                           proof == 0 ? "solver=factored;mu-rel=0.05;tol=1e-6"
                                      : "solver=factored;mu-rel=0.05;tol=1e-6;"
                                        "proof=exact",
                           true);
    check_to_the_end(job, NULL, 3, 2e-6);
  }
  s->n = 90;
  check_to_the_end(job_of(s, "solver=factored;mu-rel=0.05;tol=1e-6", true),
                   count, 4, 2e-6);
  free(s);
}

/* What a sparse X leaves out; no process sees every feature. */
static void factored_of_stored_entries(void **state)
{
  enum { D = 12, N = 90 };
  sample_set *s = samples(D, N, 0.4, 0);
  double value[D * N];
  int32_t row[D * N];
  int64_t at[N + 1] = {0}, count = 0;
  for (int j = 0; j < N; j++) {
    for (int i = 0; i < D; i++)
      if (!isnan(s->X[j * D + i]) && (i > 0 || j < 20)) {
        row[count] = i;
        value[count++] = s->X[j * D + i];
      }
    at[j + 1] = count;
  }
  ranks_job job =
      job_of(s, "absent=missing;mu-rel=0.05;max-iters=20;tol=1e-14", true);
  job.whole.X = (lapis_mat){.dtype = LAPIS_F64,
                            .rows = D,
                            .cols = N,
                            .ld = D,
                            .val = value,
                            .colptr = at,
                            .rowidx = row};
  check_labelled(job, NULL, 3);
  job.whole.Y = (lapis_mat){0};
  check_like_one(job, features, 1e-10);
  free(s);
}

/* ---- labels of which each process sees a part ---------------------------*/
static void classes_are_those_of_all(void **state)
{
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
  static const struct {
    const char *settings, *words;
  } all[] = {{"mu-rel=.05;solver=factored;certificate=true",
              "its certificate is not divided among processes"},
             {"mu-rel=.05;class-features=true;certificate=true",
              "certificate with class_features is not divided"}};
  sample_set *s = samples(12, 90, 0.2, 0);
  for (int i = 0; i < 2; i++) {
    ranks_job job = job_of(s, all[i].settings, true);
    job.size = 3;
    check_all_refused(&job, LAPIS_EINVAL, all[i].words);
  }
  s->n = 9;
  ranks_job job = job_of(s, "mu-rel=.05;solver=factored", true);
  job.size = 3;
  check_all_refused(&job, LAPIS_EINVAL, "fewer samples than features");
  free(s);
}

/* Whatever solves it. */
static void one_has_inf(void **state)
{
  static const char *const solvers[] = {"auto", "bordered", "admm", "fpc",
                                        "factored"};
  sample_set *s = samples(12, 90, 0, 0);
  s->X[12 * 89 + 4] = INFINITY; /* the last rank's */
  for (int i = 0; i < 5; i++) {
    char settings[60];
    snprintf(settings, sizeof settings, "mu-rel=0.05;solver=%s", solvers[i]);
    ranks_job job = job_of(s, settings, true);
    job.size = 3;
    check_all_refused(&job, LAPIS_EDATA, "(process 3 of 3)");
  }
  free(s);
}

static void what_is_wrong_in_one_part(void **state)
{
  sample_set *s = samples(12, 90, 0.2, 0);
  ranks_job job = job_of(s, "mu-rel=0.05", true);
  job.size = 4;
  s->Y[1] = INFINITY;
  check_all_refused(&job, LAPIS_EDATA, "(process 1 of 4)");
  s->Y[1] = 1;
  for (int j = 0; j < 90; j++) s->X[12 * j + 7] = NAN; /* everywhere */
  check_all_refused(&job, LAPIS_EMISSING, "feature 8");
  free(s);
}

int test_mc(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bordered_that_compresses),
      cmocka_unit_test(bordered_of_all_samples),
      cmocka_unit_test(bordered_to_the_end),
      cmocka_unit_test(admm_like_one),
      cmocka_unit_test(admm_of_few_samples),
      cmocka_unit_test(admm_of_histograms),
      cmocka_unit_test(admm_to_the_end),
      cmocka_unit_test(fpc_like_one),
      cmocka_unit_test(factored_like_one),
      cmocka_unit_test(factored_to_the_end),
      cmocka_unit_test(factored_of_stored_entries),
      cmocka_unit_test(representatives_like_one),
      cmocka_unit_test(classes_are_those_of_all),
      cmocka_unit_test(many_labels_are_those_of_all),
      cmocka_unit_test(what_cannot_be_divided),
      cmocka_unit_test(what_is_wrong_in_one_part),
      cmocka_unit_test(one_has_inf),
  };
  return run_cases(tests, NULL, NULL);
}
