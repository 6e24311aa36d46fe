/* svt_track.c - singular values of a matrix that moves a little, where the
 * caller accepts an error: against LAPACK's full decomposition of the same
 * matrix.  What is promised is held: the distance, the rank where no value lies
 * near the threshold, the nuclear norm of the answer itself, and that a value
 * out of nowhere is found a few calls later. */
#include <float.h>

#include "la_case.h"
#include "op/svt/svt.h"
#include "remarks.h"

enum { RANK = 6, CALLS = 12 };

#define OK(call) assert_int_equal((call), LAPIS_OK)

typedef struct moving {
  int64_t m, n;
  la_array U, V, W, A, B; /* W = U V' + noise */
  op_svt *s, *full;
} moving;

static void fill(la_array *A, double size, uint64_t *seed)
{
  for (int64_t i = 0; i < A->rows * A->cols; i++)
    ((double *)A->data)[i] += size * check_normal(seed);
}

static moving open_moving(la *h, int64_t m, int64_t n, uint64_t *seed)
{
  moving p = {.m = m, .n = n};
  p.U = la_case_new(h, m, RANK);
  p.V = la_case_new(h, n, RANK);
  p.W = la_case_new(h, m, n);
  p.A = la_case_new(h, m, n);
  p.B = la_case_new(h, m, n);
  fill(&p.U, 1, seed);
  fill(&p.V, 1, seed);
  OK(op_svt_new(h, m, n, &p.s));
  OK(op_svt_new(h, m, n, &p.full));
  op_svt_force(p.s, SVT_SUBSPACE);
  op_svt_force(p.full, SVT_FULL);
  return p;
}

static void close_moving(la *h, moving *p)
{
  la_array *all[] = {&p->U, &p->V, &p->W, &p->A, &p->B};
  for (int i = 0; i < 5; i++) h->ops->free(h, all[i]);
  op_svt_free(p->s);
  op_svt_free(p->full);
}

/* W = U V' + noise of this size, of which the singular values are about
 * noise (sqrt m + sqrt n). */
static void move(la *h, moving *p, double by, double noise, uint64_t *seed)
{
  fill(&p->U, by, seed);
  fill(&p->V, by, seed);
  OK(la_zero(h, &p->W));
  fill(&p->W, noise, seed);
  OK(h->ops->gemm(h, LA_N, LA_T, 1, &p->U, &p->V, 1, &p->W));
}

static double nuclear_norm(const moving *p)
{
  double values[200], sum = 0;
  int64_t k = p->m < p->n ? p->m : p->n;
  OK(op_singular_values(p->full, &p->A, values));
  for (int64_t i = 0; i < k; i++) sum += values[i];
  return sum;
}

static bool tracked(const svt_report *r)
{
  return strstr(r->why, NEAR_LAST_CALL) != NULL;
}

/* The answer is that of a matrix within `accept` of W. */
static svt_report compare(moving *p, double t, double accept)
{
  svt_report r, f;
  OK(op_svt_apply(p->s, &p->W, t, &p->A, &r));
  OK(op_svt_apply(p->full, &p->W, t, &p->B, &f));
  assert_int_equal(r.rank, f.rank);
  CHECK_AT_MOST(la_case_distance(&p->A, &p->B), accept * f.sigma_1);
  CHECK_NEAR(r.nuclear, nuclear_norm(p), 1e-9 * f.nuclear);
  return r;
}

static void what_moves_is_followed(void **state)
{
  static const double accepts[] = {1e-2, 1e-4, 1e-7};
  la_pair pair = la_pair_open();
  la *h = &pair.fast;
  for (uint64_t i = 0; i < 6; i++) {
    uint64_t seed = 500 + i;
    double accept = accepts[i % 3];
    int64_t k = 160, l = 190 + 60 * (int64_t)i;
    moving p = open_moving(h, i % 2 ? k : l, i % 2 ? l : k, &seed);
    int count = 0;
    op_svt_accept(p.s, accept);
    for (int call = 0; call < CALLS; call++) {
      move(h, &p, 3 * accept, 0.1, &seed);
      svt_report r = compare(&p, 6, accept);
      assert_int_equal(r.rank, RANK);
      count += tracked(&r);
    }
    assert_true(count >= CALLS - 4);
    close_moving(h, &p);
  }
  lapis_ctx_free(pair.ctx);
}

/* Far away, a threshold that crosses values, nothing beside the low rank, and
 * nothing at all: another way is taken, or the answer is as good. */
static void what_jumps_is_found(void **state)
{
  static const double noises[] = {0.1, 0, 1e-9, 1};
  la_pair pair = la_pair_open();
  la *h = &pair.fast;
  for (uint64_t i = 0; i < 4; i++) {
    uint64_t seed = 900 + i;
    moving p = open_moving(h, 170, 150, &seed);
    op_svt_accept(p.s, 1e-5);
    for (int call = 0; call < CALLS; call++) {
      bool far = call % 5 == 4;
      double t = noises[i] > 0.5 ? 40 : 6;
      if (call == 8) t = 1e4; /* above all */
      move(h, &p, far ? 1 : 1e-6, noises[i], &seed);
      svt_report r = compare(&p, t, 1e-5);
      assert_int_equal(r.rank, call == 8 ? 0 : RANK);
    }
    close_moving(h, &p);
  }
  lapis_ctx_free(pair.ctx);
}

/* W = U diag(s) V' of orthonormal U, V; its threshold is B. */
static void with_values(la *h, moving *p, const double *s, double t,
                        uint64_t *seed)
{
  double above[RANK];
  la_array Us = la_case_new(h, p->m, RANK);
  fill(&p->U, 1, seed);
  fill(&p->V, 1, seed);
  OK(h->ops->qr(h, &p->U, NULL));
  OK(h->ops->qr(h, &p->V, NULL));
  for (int i = 0; i < RANK; i++) above[i] = fmax(s[i] - t, 0);
  OK(la_copy(h, &p->U, &Us));
  OK(la_scale_cols(h, s, &Us));
  OK(h->ops->gemm(h, LA_N, LA_T, 1, &Us, &p->V, 0, &p->W));
  OK(la_copy(h, &p->U, &Us));
  OK(la_scale_cols(h, above, &Us));
  OK(h->ops->gemm(h, LA_N, LA_T, 1, &Us, &p->V, 0, &p->B));
  h->ops->free(h, &Us);
}

/* Of values that are t to rounding some count as above it; nothing is left of
 * them, whatever the call before kept in their places. */
static void values_at_the_threshold_vanish(void **state)
{
  static const double large[RANK] = {10, 10, 10, 10, 10, 10};
  static const double at[RANK] = {10, 7, 1, 1, 1, 1};
  la_pair pair = la_pair_open();
  la *h = &pair.fast;
  uint64_t seed = 77;
  moving p = open_moving(h, 150, 130, &seed);
  for (int call = 0; call < 40; call++) {
    double size = 1 + 0.1 * call, s[RANK];
    for (int i = 0; i < RANK; i++) s[i] = size * (call % 2 ? at : large)[i];
    svt_report r;
    with_values(h, &p, s, size, &seed);
    op_svt_accept(p.s, call % 3 == 0 ? 1e-6 : 0);
    OK(op_svt_apply(p.s, &p.W, size, &p.A, &r));
    CHECK_AT_MOST(la_case_distance(&p.A, &p.B), 2e-6 * s[0]);
    CHECK_NEAR(r.nuclear, nuclear_norm(&p), 1e-9 * s[0]);
  }
  close_moving(h, &p);
  lapis_ctx_free(pair.ctx);
}

/* Squares of squares of small numbers: an answer is as good as of others. */
static void small_numbers_are_thresholded(void **state)
{
  static const double values[RANK] = {10, 9, 8, 7, 6, 1};
  la_pair pair = la_pair_open();
  la *h = &pair.fast;
  uint64_t seed = 5;
  moving p = open_moving(h, 640, 620, &seed);
  op_svt_force(p.s, SVT_AUTO);
  for (double size = 1e-60; size > 1e-100; size *= room_all() ? 1e-3 : 1e-12) {
    double s[RANK];
    svt_report r;
    for (int i = 0; i < RANK; i++) s[i] = size * values[i];
    with_values(h, &p, s, 5 * size, &seed);
    for (int64_t k = 0; k < p.m * p.n; k++)
      ((double *)p.W.data)[k] += 0.05 * size * check_normal(&seed);
    OK(op_svt_apply(p.s, &p.W, 5 * size, &p.A, &r));
    OK(op_svt_apply(p.full, &p.W, 5 * size, &p.B, &r));
    CHECK_AT_MOST(la_case_distance(&p.A, &p.B) / size, 1e-7);
  }
  close_moving(h, &p);
  lapis_ctx_free(pair.ctx);
}

/* Diagonal, so that nothing leads from the values that are known to the new
 * one: the test, made every few calls, meets it. */
static void what_nothing_leads_to_is_found(void **state)
{
  la_pair pair = la_pair_open();
  la *h = &pair.fast;
  uint64_t seed = 7;
  moving p = open_moving(h, 160, 180, &seed);
  svt_report r;
  op_svt_accept(p.s, 1e-3);
  for (int64_t i = 0; i < 160; i++)
    *la_case_at(&p.W, i, i) = i < 4 ? 10 : 0.3 + 0.1 * check_uniform(&seed);
  for (int call = 0; call < 3; call++) (void)compare(&p, 1, 1e-3);
  for (int64_t i = 0; i < 4; i++) {
    *la_case_at(&p.W, 100 + i, 100 + i) = 5;
    int calls = 0;
    do {
      OK(op_svt_apply(p.s, &p.W, 1, &p.A, &r));
    } while (r.rank < 5 + i && ++calls < CALLS);
    assert_true(calls < 4);
    (void)compare(&p, 1, 1e-3);
  }
  close_moving(h, &p);
  lapis_ctx_free(pair.ctx);
}

/* The same calls, the same bits. */
static void calls_repeat_themselves(void **state)
{
  la_pair pair = la_pair_open();
  la *h = &pair.fast;
  la_array last = la_case_new(h, 160, 200);
  for (int again = 0; again < 2; again++) {
    uint64_t seed = 3;
    moving p = open_moving(h, 160, 200, &seed);
    svt_report r;
    op_svt_accept(p.s, 1e-3);
    for (int call = 0; call < CALLS; call++) {
      move(h, &p, 1e-3, 0.1, &seed);
      OK(op_svt_apply(p.s, &p.W, 6, &p.A, &r));
    }
    assert_true(tracked(&r));
    if (again > 0) CHECK_NEAR(la_case_distance(&p.A, &last), 0, 0);
    OK(la_copy(h, &p.A, &last));
    close_moving(h, &p);
  }
  h->ops->free(h, &last);
  lapis_ctx_free(pair.ctx);
}

int test_svt_track(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_moves_is_followed),
      cmocka_unit_test(what_jumps_is_found),
      cmocka_unit_test(values_at_the_threshold_vanish),
      cmocka_unit_test(small_numbers_are_thresholded),
      cmocka_unit_test(what_nothing_leads_to_is_found),
      cmocka_unit_test(calls_repeat_themselves),
  };
  return run_cases(tests, NULL, NULL);
}
