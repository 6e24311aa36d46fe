/* auto: what it leaves out for its cost, by counts alone. */
#include "check.h"
#include "methods/auto/candidates.h"

typedef struct table {
  int64_t n, d, K;
} table;

/* A comparison of which only what a cost is made of is there. */
static comparison *make(lapis_ctx *ctx, table of)
{
  comparison *r = test_calloc(1, sizeof *r);
  *r = (comparison){.ctx = ctx, .n = of.n, .K = of.K, .used = 2, .n_maps = 1};
  r->o = (auto_options){.mc = true, .linear = true, .trees = true};
  r->known = of.n;
  r->plan.folds = 3;
  double *X = test_calloc((size_t)(of.n * of.d), sizeof(double));
  r->X[0] = lapis_mat_f64(X, of.d, of.n);
  r->labels.sign = test_calloc((size_t)(of.n * of.K), sizeof(double));
  r->set.variant = LAPIS_MC_1;
  r->map[0] = "standard";
  if (candidates_list(r) < 0) fail_msg("%s", lapis_ctx_error(ctx));
  return r;
}

static void discard(comparison *r)
{
  kernels_free(r);
  test_free(r->labels.sign);
  test_free(r->X[0].val);
  test_free(r);
}

static int of_kind(const comparison *r, candidate_kind kind)
{
  int count = 0;
  for (int i = 0; i < r->count; i++) count += r->run[i].kind == kind;
  return count;
}

static void what_is_small_is_compared_whole(void **state)
{
  static const table small[] = {
      {150, 4, 3}, {500, 294, 6}, {400, 1024, 10}, {4500, 30, 1}};
  lapis_ctx *ctx = lapis_ctx_new();
  for (int k = 0; k < 4; k++) {
    comparison *r = make(ctx, small[k]);
    int before = r->count;
    cost_admit(r, 0);
    assert_true(r->count == before && r->dear == 0 && r->used == 2);
    discard(r);
  }
  lapis_ctx_free(ctx);
}

/* What is dear goes first; what is there is counted; lines stay. */
static void many_labels_leave_the_cheap_ones(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  comparison *r = make(ctx, (table){4500, 499, 374});
  int before = r->count, lines = of_kind(r, CANDIDATE_LINEAR);
  cost_admit(r, 0);
  assert_true(r->used == 1 && r->dear == before - r->count && r->dear > 0);
  assert_int_equal(of_kind(r, CANDIDATE_TREES), 0);
  assert_true(r->saved > 60);
  assert_in_range(of_kind(r, CANDIDATE_LINEAR), 1, lines - 1);
  candidate next = r->run[0];
  int then = r->count;
  next.C = 100; /* nor does a later round bring it back */
  candidates_add(r, &next);
  cost_admit(r, then);
  assert_int_equal(r->count, then);
  discard(r);
  lapis_ctx_free(ctx);
}

/* Rows without labels cost mc little where X has no gaps. */
static void unlabelled_rows_leave_mc(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  comparison *r = make(ctx, (table){60000, 256, 8});
  for (int64_t k = 900 * r->K; k < r->n * r->K; k++) r->labels.sign[k] = NAN;
  int before = r->count;
  cost_admit(r, 0);
  assert_true(r->count == before && r->dear == 0 && r->used == 2);
  discard(r);
  lapis_ctx_free(ctx);
}

/* Ten times the labels never have more candidates; some are always left. */
static void more_labels_have_no_more_candidates(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  int last = MOST_CANDIDATES;
  for (int64_t K = 1; K <= 10000; K *= 10) {
    comparison *r = make(ctx, (table){2000, 300, K});
    cost_admit(r, 0);
    assert_in_range(r->count, 1, last);
    last = r->count;
    discard(r);
  }
  assert_true(last < 3);
  lapis_ctx_free(ctx);
}

/* Who was asked for by name runs; and so do who alone can read X, and what
 * fills the gaps that others read. */
static void some_are_exempt(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  for (int k = 0; k < 3; k++) {
    comparison *r = make(ctx, (table){4500, 499, 374});
    int before = r->count;
    r->o.named = k == 0;
    if (k == 1) r->o.linear = r->o.trees = false;
    r->fills = k == 2;
    cost_admit(r, 0);
    assert_true(r->run[0].kind == CANDIDATE_MC);
    assert_true(k == 2 || (r->count == before && r->used == 2));
    discard(r);
  }
  lapis_ctx_free(ctx);
}

/* Of numbers, too: lines and boosted trees stay, whole trees are dear. */
static void many_numbers_leave_the_cheap_ones(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  for (int64_t n = 500; n <= 16000; n *= 32) {
    comparison *r = make(ctx, (table){n, 60, 1});
    r->o.numbers = true;
    r->o.rr = false;
    r->count = 0;
    r->n_maps = 1;
    assert_int_equal(numbers_list(r), 0);
    int before = r->count, lines = of_kind(r, CANDIDATE_LINEAR);
    int boosted = of_kind(r, CANDIDATE_BOOSTED);
    cost_admit(r, 0);
    assert_true(n > 500 ? r->dear > 0 : r->count == before);
    assert_int_equal(of_kind(r, CANDIDATE_LINEAR), lines);
    assert_int_equal(of_kind(r, CANDIDATE_BOOSTED), boosted);
    discard(r);
  }
  lapis_ctx_free(ctx);
}

/* Where all would take long, half of the trees are compared: of boosted ones
 * and of those that are named, or tell numbers, all. */
static void half_of_the_trees_are_compared(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  for (int k = 0; k < 4; k++) {
    comparison *r =
        make(ctx, k == 0 ? (table){150, 4, 3} : (table){2000, 512, 20});
    if (k == 2) r->o.named_as = "trees";
    r->o.numbers = k == 3;
    cost_admit(r, 0);
    for (int i = 0; i < r->count; i++) {
      const candidate *x = &r->run[i];
      bool half = k == 1 && x->kind == CANDIDATE_TREES;
      if (!candidate_grows(x)) continue;
      assert_int_equal(candidate_trees(r, x), x->count / (half ? 2 : 1));
    }
    assert_true(of_kind(r, CANDIDATE_TREES) + of_kind(r, CANDIDATE_BOOSTED) >
                0);
    discard(r);
  }
  lapis_ctx_free(ctx);
}

int test_cost(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_small_is_compared_whole),
      cmocka_unit_test(many_labels_leave_the_cheap_ones),
      cmocka_unit_test(unlabelled_rows_leave_mc),
      cmocka_unit_test(more_labels_have_no_more_candidates),
      cmocka_unit_test(many_numbers_leave_the_cheap_ones),
      cmocka_unit_test(some_are_exempt),
      cmocka_unit_test(half_of_the_trees_are_compared)};
  return run_cases(tests, NULL, NULL);
}
