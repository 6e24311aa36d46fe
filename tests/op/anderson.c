/* anderson.c - Anderson acceleration: it shortens a slow iteration, and an
 * accelerated state whose step is too long is given up for the plain image. */
#include "op/svt/anderson.h"
#include "la_case.h"

enum { N = 12, MEMORY = 5 };
static const anderson_options OPTIONS = {
    .memory = MEMORY, .regular = 1e-14, .firm = true};

static la_array new_state(la *h)
{
  la_array x = la_case_new(h, N / 3, 3);
  for (int64_t k = 0; k < N; k++) ((double *)x.data)[k] = cos((double)k);
  return x;
}

/* x <- factor_k x_k, whose fixed point is 0. */
static void shrink(la_array *x, double least, double most)
{
  double *p = x->data;
  for (int64_t k = 0; k < N; k++)
    p[k] *= least + (most - least) * (double)k / (N - 1);
}

static double length(const la_array *x)
{
  double sum = 0;
  const double *p = x->data;
  for (int64_t k = 0; k < N; k++) sum += p[k] * p[k];
  return sqrt(sum);
}

static void slow_iterations_are_shortened(void **state)
{
  la_pair *p = *state;
  for (int slow = 0; slow < 2; slow++) {
    la *h = slow ? &p->slow : &p->fast;
    anderson a;
    la_array x = new_state(h), plain = new_state(h);
    la_array *const all[] = {&x};
    anderson_new(h, N / 3, 3, 1, &OPTIONS, &a);
    for (int k = 0; k < 30; k++) {
      assert_int_equal(anderson_before(&a, all), LAPIS_OK);
      shrink(&x, 0.9, 0.99);
      assert_int_equal(anderson_after(&a, all), LAPIS_OK);
      shrink(&plain, 0.9, 0.99);
    }
    CHECK_AT_MOST(length(&x), 1e-3 * length(&plain));
    anderson_free(&a);
    h->ops->free(h, &x);
    h->ops->free(h, &plain);
  }
}

/* Some accelerated steps, then one whose own step grows by `much`: 3 is too
 * much, and the state is the plain image of the step before, to the bit; 1
 * is not, and the state stays near 0. */
static void worse_by(la *h, double much, bool given_up)
{
  anderson a;
  la_array x = new_state(h), image = la_case_new(h, N / 3, 3);
  la_array *const all[] = {&x};
  anderson_new(h, N / 3, 3, 1, &OPTIONS, &a);
  for (int k = 0; k < 4; k++) {
    assert_int_equal(anderson_before(&a, all), LAPIS_OK);
    shrink(&x, 0.5, 0.8);
    assert_int_equal(la_copy(h, &x, &image), LAPIS_OK);
    assert_int_equal(anderson_after(&a, all), LAPIS_OK);
  }
  CHECK_AT_LEAST(la_case_distance(&x, &image), 1e-6); /* it was accelerated */
  double step = a.least;
  assert_int_equal(anderson_before(&a, all), LAPIS_OK);
  ((double *)x.data)[0] += much * step;
  assert_int_equal(anderson_after(&a, all), LAPIS_OK);
  if (given_up)
    CHECK_NEAR(la_case_distance(&x, &image), 0, 0);
  else
    CHECK_AT_LEAST(la_case_distance(&x, &image), 1e-6);
  assert_int_equal(a.have == 0, given_up);
  CHECK_AT_MOST(a.least, step); /* what is behind stays the measure */
  anderson_free(&a);
  h->ops->free(h, &x);
  h->ops->free(h, &image);
}

static void steps_that_worsen_are_given_up(void **state)
{
  la_pair *p = *state;
  worse_by(&p->fast, 3, true);
  worse_by(&p->slow, 3, true);
  worse_by(&p->fast, 1, false);
}

static void nothing_is_done_without_memory(void **state)
{
  la_pair *p = *state;
  anderson a = {.h = &p->fast};
  la_array x = new_state(&p->fast), same = new_state(&p->fast);
  la_array *const all[] = {&x};
  assert_int_equal(anderson_before(&a, all), LAPIS_OK);
  assert_int_equal(anderson_after(&a, all), LAPIS_OK);
  CHECK_NEAR(la_case_distance(&x, &same), 0, 0);
  anderson_free(&a);
  p->fast.ops->free(&p->fast, &x);
  p->fast.ops->free(&p->fast, &same);
}

static int open_pair(void **state)
{
  static la_pair pair;
  pair = la_pair_open();
  *state = &pair;
  return 0;
}

static int close_pair(void **state)
{
  la_pair *p = *state;
  lapis_ctx_free(p->ctx);
  return 0;
}

int test_anderson(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slow_iterations_are_shortened),
      cmocka_unit_test(steps_that_worsen_are_given_up),
      cmocka_unit_test(nothing_is_done_without_memory),
  };
  return run_cases(tests, open_pair, close_pair);
}
