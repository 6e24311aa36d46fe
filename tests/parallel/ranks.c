/* ranks.c - samples divided among processes: no process that waits, the
 * same singular values, and robust PCA as one process has it. */
#include "la_case.h"
#include "op/svt/svt.h"
#include "ranks_case.h"
#include "remarks.h"

/* ---- agreeing -----------------------------------------------------------*/
typedef struct words {
  lapis_status status[RANKS_MOST];
  char said[RANKS_MOST][200];
} words;

static void keep_words(words *w, lapis_ctx *ctx, int rank, lapis_status s)
{
  w->status[rank] = s;
  snprintf(w->said[rank], sizeof w->said[rank], "%s", lapis_ctx_error(ctx));
  lapis_ctx_free(ctx);
}

/* Ranks 1 and 2 fail, each with a sentence of its own. */
static void some_fail(lapis_ctx *ctx, int rank, void *user)
{
  lapis_status s = LAPIS_OK;
  if (rank == 1) s = lapis_fail(ctx, LAPIS_EIO, "the disk of rank one");
  if (rank == 2) s = lapis_fail(ctx, LAPIS_EDATA, "the data of rank two");
  keep_words(user, ctx, rank, lapis_ctx_agree(ctx, s));
}

static void the_first_that_failed_is_heard(void **state)
{
  words w;
  ranks_each(4, some_fail, &w);
  for (int r = 0; r < 4; r++) {
    assert_int_equal(w.status[r], LAPIS_EIO);
    assert_string_equal(w.said[r], "the disk of rank one (process 2 of 4)");
  }
}

/* Rank 0 sums three numbers where the others sum two. */
static void other_sums(lapis_ctx *ctx, int rank, void *user)
{
  double x[3] = {1, 2, 3};
  base_meet(ctx);
  keep_words(user, ctx, rank, base_sum(ctx, x, rank == 0 ? 3 : 2));
}

static void ways_that_part_are_an_error(void **state)
{
  words w;
  ranks_each(3, other_sums, &w);
  for (int r = 0; r < 3; r++) {
    assert_int_equal(w.status[r], LAPIS_EIO);
    assert_non_null(strstr(w.said[r], NOT_AT_ONE_PLACE));
  }
}

typedef struct sums {
  double small[RANKS_MOST], large[RANKS_MOST], most[RANKS_MOST];
  int64_t first[RANKS_MOST], all[RANKS_MOST], whole[RANKS_MOST];
  double shared[RANKS_MOST][6];
} sums;

static void sum_up(lapis_ctx *ctx, int rank, void *user)
{
  sums *s = user;
  double x[100], own[3] = {rank, rank, rank};
  for (int i = 0; i < 100; i++) x[i] = rank + i;
  s->small[rank] = rank + 1;
  s->most[rank] = -rank;
  s->whole[rank] = 10 + rank;
  (void)base_sum(ctx, &s->small[rank], 1);
  (void)base_sum(ctx, x, 100);
  (void)base_max(ctx, &s->most[rank], 1);
  (void)base_sum_whole(ctx, &s->whole[rank], 1);
  (void)base_place(ctx, rank + 1, &s->first[rank], &s->all[rank]);
  (void)base_share(ctx, own, rank + 1, s->first[rank], s->shared[rank], 6);
  s->large[rank] = x[99];
  lapis_ctx_free(ctx);
}

static void sums_of_any_length(void **state)
{
  static const int64_t first[] = {0, 1, 3};
  static const double shared[] = {0, 1, 1, 2, 2, 2};
  sums s;
  ranks_each(3, sum_up, &s);
  for (int r = 0; r < 3; r++) {
    CHECK_NEAR(s.small[r], 6, 0);
    CHECK_NEAR(s.large[r], 300, 0);
    CHECK_NEAR(s.most[r], 0, 0);
    assert_int_equal(s.whole[r], 33);
    assert_int_equal(s.first[r], first[r]);
    assert_int_equal(s.all[r], 6);
    assert_memory_equal(s.shared[r], shared, sizeof shared);
  }
}

/* What waits travels with the next message: a sum, a maximum, an agreement. */
typedef struct waiting {
  double early[RANKS_MOST][4], most[RANKS_MOST];
  lapis_status agreed[RANKS_MOST];
} waiting;

static void wait_for_sums(lapis_ctx *ctx, int rank, void *user)
{
  waiting *w = user;
  double *x = w->early[rank], now = 1;
  for (int k = 0; k < 4; k++) x[k] = rank + k;
  w->most[rank] = rank == 1 ? INFINITY : rank;
  (void)base_sum_later(ctx, &x[0], 1);
  (void)base_sum_later(ctx, &x[1], 1);
  (void)base_sum(ctx, &now, 1);
  (void)base_sum_later(ctx, &x[2], 1);
  (void)base_max(ctx, &w->most[rank], 1);
  (void)base_sum_later(ctx, &x[3], 1);
  w->agreed[rank] = base_agree(ctx, LAPIS_OK);
  lapis_ctx_free(ctx);
}

static void what_waits_comes_with_the_next(void **state)
{
  waiting w;
  ranks_sums made = ranks_each(3, wait_for_sums, &w);
  assert_int_equal(made.sums, 3);
  for (int r = 0; r < 3; r++) {
    for (int k = 0; k < 4; k++) CHECK_NEAR(w.early[r][k], 3 + 3 * k, 0);
    assert_true(isinf(w.most[r]));
    assert_int_equal(w.agreed[r], LAPIS_OK);
  }
}

/* Who leaves with something waiting leaves nothing behind. */
static void wait_and_fail(lapis_ctx *ctx, int rank, void *user)
{
  double x = 1;
  base_meet(ctx);
  (void)base_sum_later(ctx, &x, 1);
  lapis_status s = rank == 1 ? lapis_fail(ctx, LAPIS_EIO, "gone") : LAPIS_OK;
  keep_words(user, ctx, rank, base_agree(ctx, s));
}

static void one_that_fails_waits_for_nothing(void **state)
{
  words w;
  ranks_each(3, wait_and_fail, &w);
  for (int r = 0; r < 3; r++) {
    assert_int_equal(w.status[r], LAPIS_EIO);
    assert_string_equal(w.said[r], "gone (process 2 of 3)");
  }
}

/* ---- singular values ----------------------------------------------------*/
typedef struct svt_case {
  svt_way way;
  int64_t m, n;
  double t;
  double *W, *A, *values; /* m x n twice; min(m, n) */
  int size;
  int64_t rank[RANKS_MOST];
  double nuclear[RANKS_MOST];
  lapis_status status[RANKS_MOST];
} svt_case;

static lapis_status threshold(svt_case *c, la *h, int rank)
{
  int64_t first = c->n * rank / c->size;
  int64_t count = c->n * (rank + 1) / c->size - first;
  la_array W = la_wrap(c->W + first * c->m, c->m, count);
  la_array A = la_wrap(c->A + first * c->m, c->m, count);
  double *values = calloc((size_t)c->m, sizeof *values);
  op_svt *s = NULL;
  svt_report r = {.rank = -1};
  lapis_status status = op_svt_new(h, c->m, count, &s);
  if (status >= 0) op_svt_force(s, c->way);
  if (status >= 0) status = op_svt_apply(s, &W, c->t, &A, &r);
  if (status >= 0) status = op_singular_values(s, &W, values);
  if (rank == 0)
    memcpy(c->values, values,
           (size_t)(c->m < c->n ? c->m : c->n) * sizeof *values);
  c->rank[rank] = r.rank;
  c->nuclear[rank] = r.nuclear;
  op_svt_free(s);
  free(values);
  return status;
}

static void threshold_in_rank(lapis_ctx *ctx, int rank, void *user)
{
  svt_case *c = user;
  la h;
  c->status[rank] = la_open(ctx, &h);
  if (c->status[rank] >= 0) c->status[rank] = threshold(c, &h, rank);
  lapis_ctx_free(ctx);
}

/* Values 1, 1/2, 1/4, .. times 2^20: thresholds far below the largest. */
static svt_case svt_case_new(svt_way way, int64_t m, int64_t n, double t)
{
  svt_case c = {.way = way, .m = m, .n = n, .t = t};
  uint64_t seed = 11;
  c.W = calloc((size_t)(m * n), sizeof(double));
  c.A = calloc((size_t)(m * n), sizeof(double));
  c.values = calloc((size_t)m, sizeof(double));
  for (int r = 0; r < 5; r++) {
    double scale = ldexp(1, 20 - 7 * r), u[800];
    for (int64_t i = 0; i < m; i++) u[i] = check_normal(&seed);
    for (int64_t j = 0; j < n; j++) {
      double v = scale * check_normal(&seed);
      for (int64_t i = 0; i < m; i++) c.W[j * m + i] += u[i] * v;
    }
  }
  return c;
}

static void check_svt(svt_way way, int64_t m, int64_t n, double t)
{
  static const int sizes[] = {1, 2, 4, 7};
  svt_case c = svt_case_new(way, m, n, t);
  int64_t k = m < n ? m : n, rank = 0;
  double *A = calloc((size_t)(m * n), sizeof *A), nuclear = 0;
  double *values = calloc((size_t)k, sizeof *values);
  for (int i = 0; i < 4; i++) {
    c.size = sizes[i];
    ranks_each(c.size, threshold_in_rank, &c);
    for (int r = 0; r < c.size; r++) {
      assert_int_equal(c.status[r], LAPIS_OK);
      assert_int_equal(c.rank[r], c.rank[0]);
    }
    if (i == 0) {
      rank = c.rank[0];
      nuclear = c.nuclear[0];
      memcpy(A, c.A, (size_t)(m * n) * sizeof *A);
      memcpy(values, c.values, (size_t)k * sizeof *values);
    }
    assert_int_equal(c.rank[0], rank);
    CHECK_NEAR(c.nuclear[0] / nuclear, 1, 1e-12);
    for (int64_t j = 0; j < k; j++)
      CHECK_NEAR(c.values[j], values[j], 1e-14 * values[0]);
    for (int64_t j = 0; j < m * n; j++)
      CHECK_NEAR(c.A[j], A[j], 1e-11 * values[0]);
  }
  free(c.W);
  free(c.A);
  free(c.values);
  free(A);
  free(values);
}

static void thresholds_like_one(void **state)
{
  check_svt(SVT_GRAM, 30, 90, 5e3);
  check_svt(SVT_QR, 30, 90, 1e-2); /* 1e-9 of the largest value */
  check_svt(SVT_QR, 40, 25, 1e-2); /* fewer samples than features */
  check_svt(SVT_AUTO, 30, 90, 1e-2);
  check_svt(SVT_AUTO, 30, 5, 5e3); /* ranks without a sample */
  check_svt(SVT_SUBSPACE, 350, 450, 1e6);
}

/* ---- rpca ---------------------------------------------------------------*/
static const char *const two[] = {"low_rank", "sparse", NULL};

static void rpca_like_one(void **state)
{
  sample_set *s = samples(12, 90, 0.1, 0.05);
  ranks_job job = {.method = "rpca",
                   .settings = "max-iters=20;tol=1e-9",
                   .whole = samples_view(s, false)};
  check_like_one(job, two, 1e-10);
  free(s);
}

static void rpca_of_uneven_parts(void **state)
{
  static const int64_t count[] = {0, 17, 1, 12};
  sample_set *s = samples(40, 30, 0.1, 0.05);
  ranks_job job = {.method = "rpca",
                   .settings = "max-iters=20;tol=1e-9",
                   .whole = samples_view(s, false)};
  check_parts_like_one(job, count, 4, two, 1e-10);
  free(s);
}

/* To the end, acceleration and all: the certificate is the judge. */
static void rpca_to_the_end(void **state)
{
  sample_set *s = samples(12, 90, 0.1, 0.05);
  ranks_job job = {.method = "rpca",
                   .settings = "tol=1e-8;certificate=true",
                   .whole = samples_view(s, false)};
  ranks_run one, many;
  solve_whole_and_parts(job, NULL, 3, &one, &many);
  const lapis_info *a = check_agreed(&one), *b = check_agreed(&many);
  assert_int_equal(b->status, LAPIS_OK);
  CHECK_AT_MOST(b->gap, 1e-8);
  CHECK_NEAR(b->objective / a->objective, 1, 2e-8);
  assert_int_equal(a->rank, b->rank);
  /* two sums an iteration, the step's and the acceleration's, beside those of
   * the Gram matrix (2) and now and then a guess and a proof */
  CHECK_AT_MOST((double)many.sums.sums, 8.0 * (double)b->iterations + 60);
  ranks_free(&one);
  ranks_free(&many);
  check_repeats(job, 3, two);
  free(s);
}

static void rpca_that_refills(void **state)
{
  sample_set *s = samples(12, 90, 0, 0.05);
  ranks_job job = {.method = "rpca",
                   .settings = "max-iters=20;refill=2;tau=1;tol=1e-9",
                   .whole = samples_view(s, false)};
  static const char *const all[] = {"low_rank", "filled", NULL};
  check_like_one(job, all, 1e-10);
  free(s);
}

/* ---- messages -----------------------------------------------------------*/
/* Between two runs of different lengths: a Gram matrix is two messages, the
 * first of which brings the sums that waited; guesses and proofs come now and
 * then. */
static void check_messages(ranks_job job, const char *settings, int few,
                           int many, double most)
{
  int64_t made[2];
  job.size = 3;
  for (int i = 0; i < 2; i++) {
    char text[200];
    ranks_run run;
    snprintf(text, sizeof text, "%s;max-iters=%d", settings,
             i == 0 ? few : many);
    job.settings = text;
    ranks_solve(&job, &run);
    assert_int_equal(check_agreed(&run)->iterations, i == 0 ? few : many);
    made[i] = run.sums.sums;
    ranks_free(&run);
  }
  double each = (double)(made[1] - made[0]) / (many - few);
  printf("%s %s: %.2f\n", job.method, settings, each);
  CHECK_AT_MOST(each, most);
}

static void messages_an_iteration(void **state)
{
  sample_set *s = samples(12, 90, 0.1, 0.05);
  ranks_job job = {.method = "rpca", .whole = samples_view(s, false)};
  check_messages(job, "tol=1e-15", 20, 30, 3 + 8 / 5.0); /* a guess in 5 */
  check_messages(job, "tol=1e-15", 260, 300, 3 + 8 / 5.0 + 4 / 40.0);
  job = (ranks_job){.method = "mc", .whole = samples_view(s, true)};
  check_messages(job, "tol=1e-15;mu-rel=0.05", 21, 31, 4 + 6 / 10.0);
  for (int j = 0; j < 90; j++) s->Y[j] = j % 2 == 0 ? 1 : -1;
  job = (ranks_job){.method = "rr", .whole = samples_view(s, true)};
  check_messages(job, "tol=1e-15", 10, 20, 5);
  for (int64_t k = 0; k < 12 * 90; k++)
    if (isnan(s->X[k])) s->X[k] = 0;
  job = (ranks_job){.method = "svmplus", .whole = samples_view(s, true)};
  check_messages(job, "tol=1e-15;solver=ipm;C=0.01", 2, 5, 9);
  free(s);
}

/* ---- what one process has alone -----------------------------------------*/
static void one_has_inf(void **state)
{
  sample_set *s = samples(12, 90, 0, 0);
  ranks_job job = {
      .method = "rpca", .size = 3, .whole = samples_view(s, false)};
  s->X[12 * 89 + 4] = INFINITY; /* the last rank's */
  check_all_refused(&job, LAPIS_EDATA, "feature 5");
  check_all_refused(&job, LAPIS_EDATA, "(process 3 of 3)");
  free(s);
}

static void cancel_one(ranks_part *part, void *settings, void *user)
{
  (void)settings, (void)user;
  if (part->rank == 1) lapis_ctx_cancel(part->ctx);
}

static void other_features(ranks_part *part, void *settings, void *user)
{
  (void)settings, (void)user;
  if (part->rank == 1) part->data.X.rows--;
}

static void other_count(ranks_part *part, void *settings, void *user)
{
  (void)user;
  lapis_rpca_settings *set = settings;
  if (part->rank == 1) set->stop.max_iters = 3;
}

static void no_time(ranks_part *part, void *settings, void *user)
{
  (void)user;
  lapis_rpca_settings *set = settings;
  if (part->rank == 1) set->stop.seconds = 0;
}

static void check_ended(ranks_job *job, lapis_status status)
{
  ranks_run run;
  ranks_solve(job, &run);
  assert_int_equal(check_agreed(&run)->status, status);
  ranks_free(&run);
}

static void one_ends_and_all_end(void **state)
{
  sample_set *s = samples(12, 90, 0, 0.05);
  ranks_job job = {
      .method = "rpca", .size = 3, .whole = samples_view(s, false)};
  job.before = cancel_one;
  check_ended(&job, LAPIS_CANCELLED);
  job.before = no_time;
  check_ended(&job, LAPIS_TIME_LIMIT);
  free(s);
}

static void parts_have_to_be_alike(void **state)
{
  sample_set *s = samples(12, 90, 0, 0.05);
  ranks_job job = {
      .method = "rpca", .size = 3, .whole = samples_view(s, false)};
  job.before = other_features;
  check_all_refused(&job, LAPIS_ESHAPE, "number of features in X");
  job.before = other_count;
  check_all_refused(&job, LAPIS_EIO, "not at the same place");
  free(s);
}

/* Methods that need all samples say so, and none waits. */
static void others_are_refused(void **state)
{
  static const char *const all[] = {"linear", "trees", "misvm", "roml"};
  sample_set *s = samples(12, 90, 0, 0);
  for (int i = 0; i < 4; i++) {
    ranks_job job = {
        .method = all[i], .size = 3, .whole = samples_view(s, true)};
    check_all_refused(&job, LAPIS_EINVAL,
                      "this method needs all samples in one process");
  }
  free(s);
}

int test_ranks(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_first_that_failed_is_heard),
      cmocka_unit_test(ways_that_part_are_an_error),
      cmocka_unit_test(sums_of_any_length),
      cmocka_unit_test(what_waits_comes_with_the_next),
      cmocka_unit_test(one_that_fails_waits_for_nothing),
      cmocka_unit_test(thresholds_like_one),
      cmocka_unit_test(messages_an_iteration),
      cmocka_unit_test(rpca_like_one),
      cmocka_unit_test(rpca_of_uneven_parts),
      cmocka_unit_test(rpca_to_the_end),
      cmocka_unit_test(rpca_that_refills),
      cmocka_unit_test(one_has_inf),
      cmocka_unit_test(one_ends_and_all_end),
      cmocka_unit_test(parts_have_to_be_alike),
      cmocka_unit_test(others_are_refused),
  };
  return run_cases(tests, NULL, NULL);
}
