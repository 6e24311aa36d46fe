/* predict.c - new samples that are divided among processes: what a
 * model says of them, and cleaning with a dictionary. */
#include "ranks_case.h"

static const char *const completed[] = {"low_rank", "sparse", "scores",
                                        "labels", NULL};
static const char *const cleaned[] = {"low_rank", "sparse", "coefficients",
                                      NULL};
static const char *const answered[] = {"scores", "labels", NULL};

/* What one process learns of the first half; a label for each sample. */
typedef struct learnt {
  lapis_ctx *ctx;
  lapis_model *model;
} learnt;

static learnt learn(sample_set *s, const char *method, const char *settings)
{
  ranks_run one;
  learnt l;
  ranks_job job = {.method = method,
                   .settings = settings,
                   .whole = samples_view(s, strcmp(method, "rpca") != 0),
                   .size = 1};
  for (int64_t j = 0; j < s->n; j++)
    if (isnan(s->Y[j])) s->Y[j] = s->X[j * s->d] > 0 ? 1 : -1;
  job.whole.X.cols = s->n / 2;
  if (job.whole.Y.rows > 0) job.whole.Y.cols = s->n / 2;
  ranks_solve(&job, &one);
  if (one.part[0].solved < 0) fail_msg("%s", lapis_ctx_error(one.part[0].ctx));
  assert_int_equal(lapis_model_new(one.part[0].solver, &l.model), LAPIS_OK);
  lapis_solver_free(one.part[0].solver); /* the model has copies */
  l.ctx = one.part[0].ctx;
  return l;
}

static void forget(learnt *l)
{
  lapis_model_free(l->model);
  lapis_ctx_free(l->ctx);
}

static ranks_job ask(const learnt *l, sample_set *s, const char *settings)
{
  ranks_job job = {
      .model = l->model, .settings = settings, .whole = samples_view(s, false)};
  job.whole.X.val = s->X + s->n / 2 * s->d;
  job.whole.X.cols = s->n - s->n / 2;
  return job;
}

/* Methods whose objective is none leave it NaN. */
static void check_answers(ranks_job job, const int64_t *count,
                          const char *const *names, double near)
{
  static const int sizes[] = {2, 3, 4, 7};
  ranks_run one, many;
  job.size = 1;
  ranks_solve(&job, &one);
  if (one.part[0].solved < 0) fail_msg("%s", lapis_ctx_error(one.part[0].ctx));
  for (int i = 0; i < 4; i++) {
    job.size = sizes[i];
    job.count = job.size == 4 ? count : NULL;
    ranks_solve(&job, &many);
    const lapis_info *a = info_of(&one, 0), *b = check_agreed(&many);
    assert_int_equal(a->iterations, b->iterations);
    assert_int_equal(a->status, b->status);
    assert_true(isnan(a->objective) == isnan(b->objective));
    if (a->objective != 0 && !isnan(a->objective))
      CHECK_NEAR(b->objective / a->objective, 1, 1e-10);
    for (int k = 0; names[k] != NULL; k++)
      CHECK_AT_MOST(ranks_distance(&many, &one, names[k]), near);
    ranks_free(&many);
  }
  ranks_free(&one);
}

/* A gap a sample, where the solve has met its tolerance. */
static void check_gaps(ranks_job job, double most)
{
  int64_t rows;
  ranks_run many;
  job.size = 3;
  ranks_solve(&job, &many);
  assert_int_equal(check_agreed(&many)->status, LAPIS_OK);
  double *gap = ranks_join(&many, "gaps", &rows);
  assert_int_equal(rows, 1);
  for (int64_t j = 0; j < job.whole.X.cols; j++)
    CHECK_AT_MOST(fabs(gap[j]), most);
  free(gap);
  ranks_free(&many);
}

static void completion_like_one(void **state)
{
  static const int64_t count[] = {20, 0, 1, 24};
  for (int holes = 0; holes < 2; holes++) {
    sample_set *s = samples(12, 90, holes ? 0.2 : 0, 0);
    learnt l = learn(s, "mc", "mu-rel=0.05;tol=1e-7");
    check_answers(ask(&l, s, "max-iters=20;tol=1e-12"), count, completed,
                  1e-10);
    check_answers(ask(&l, s, "tol=1e-8"), count, completed, 1e-10);
    check_gaps(ask(&l, s, "tol=1e-8"), 1e-5);
    if (!holes) s->X[12 * 89] = NAN; /* one way for all: that of gaps */
    check_answers(ask(&l, s, "max-iters=20;tol=1e-12"), count, completed,
                  1e-10);
    forget(&l);
    free(s);
  }
}

static void cleaning_like_one(void **state)
{
  static const int64_t count[] = {20, 0, 1, 24};
  sample_set *s = samples(12, 90, 0.1, 0.05);
  learnt l = learn(s, "rpca", "tol=1e-5");
  check_answers(ask(&l, s, "max-iters=20;tol=1e-12"), count, cleaned, 1e-10);
  check_answers(ask(&l, s, "tol=1e-6"), count, cleaned, 1e-8);
  forget(&l);
  l = learn(s, "rlda", "gamma=1;tol=1e-5");
  check_answers(ask(&l, s, "max-iters=20;tol=1e-12"), count, answered, 1e-8);
  forget(&l);
  free(s);
}

static void give_dictionary(ranks_part *part, void *settings, void *user)
{
  (void)part;
  lapis_clean_settings *set = settings;
  set->dictionary = *(const lapis_mat *)user;
}

static void a_dictionary_cleans_like_one(void **state)
{
  static const int64_t count[] = {30, 0, 1, 59};
  static const char *const ways[] = {"max-iters=20;tol=1e-12",
                                     "refill=2;tau=1;tol=1e-6"};
  sample_set *s = samples(12, 90, 0.1, 0.05), *clean = samples(12, 20, 0, 0);
  lapis_mat D = lapis_mat_f64(clean->X, 12, 20);
  for (int i = 0; i < 2; i++) {
    ranks_job job = {.method = "clean",
                     .settings = ways[i],
                     .whole = samples_view(s, false),
                     .before = give_dictionary,
                     .user = &D};
    check_answers(job, count, cleaned, 1e-9);
  }
  free(s);
  free(clean);
}

static void lines_and_trees_like_one(void **state)
{
  static const int64_t count[] = {20, 0, 1, 24};
  static const char *const all[] = {"linear", "trees", "svmplus"};
  sample_set *s = samples(12, 90, 0, 0);
  for (int i = 0; i < 3; i++) {
    learnt l = learn(s, all[i], i == 2 ? "kernel=rbf" : "");
    check_answers(ask(&l, s, ""), count, answered, 1e-14);
    forget(&l);
  }
  free(s);
}

static void what_is_refused(void **state)
{
  sample_set *s = samples(12, 90, 0, 0);
  learnt l = learn(s, "rpca", "tol=1e-3");
  ranks_job job = ask(&l, s, "joint=true");
  job.size = 3;
  check_all_refused(&job, LAPIS_EINVAL, "joint is not divided");
  job.settings = "tol=1e-3";
  s->X[12 * 89 + 4] = INFINITY; /* the last rank's */
  check_all_refused(&job, LAPIS_EDATA, "(process 3 of 3)");
  forget(&l);
  free(s);
}

int test_predict(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(completion_like_one),
      cmocka_unit_test(cleaning_like_one),
      cmocka_unit_test(a_dictionary_cleans_like_one),
      cmocka_unit_test(lines_and_trees_like_one),
      cmocka_unit_test(what_is_refused),
  };
  return run_cases(tests, NULL, NULL);
}
