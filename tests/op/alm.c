/* alm.c - the passes of an augmented Lagrangian iteration against what
 * alm.h says of each number, and the optimality of the step on E. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "check.h"
#include "op/svt/alm.h"

enum { MOST = 1100 };

typedef struct arrays {
  double D[MOST + 1], L[MOST + 1], E[MOST + 1], Y[MOST + 1], W[MOST + 1];
} arrays;

static const double GUARD = 77;

static void fill(arrays *a, int64_t count)
{
  double *all[] = {a->D, a->L, a->E, a->Y, a->W};
  for (int k = 0; k < 5; k++) {
    for (int64_t i = 0; i < count; i++)
      all[k][i] = rng_normal(1, 40 + (uint64_t)k, (uint64_t)i);
    all[k][count] = GUARD;
  }
}

static void check_guards(const arrays *a, int64_t count)
{
  assert_true(a->E[count] == GUARD && a->Y[count] == GUARD);
  assert_true(a->W[count] == GUARD);
}

static void check_passes(int64_t count)
{
  static arrays old, new;
  static double ahead[MOST + 1];
  const double t = 0.7, next = 0.6, cut = 0.4, tiny = 1e-15;
  double size = 0, residual = 0, sum = 0;
  fill(&old, count);
  new = old;
  op_alm a = {count, new.D, new.L, new.E, new.Y, new.W};
  op_alm_shift(&a, t);
  for (int64_t i = 0; i < count; i++)
    CHECK_NEAR(new.W[i], old.D[i] - old.E[i] - t * old.Y[i], 8 * tiny);
  double found = op_alm_sparse(&a, t, cut);
  for (int64_t i = 0; i < count; i++) {
    /* e minimizes cut |e| + (e - v)^2 / 2: v - e is a subgradient */
    double v = old.D[i] - old.L[i] - t * old.Y[i], e = new.E[i];
    if (fabs(e) > 0)
      CHECK_NEAR(v - e, copysign(cut, e), 8 * tiny);
    else
      CHECK_AT_MOST(fabs(v), cut + 8 * tiny);
    CHECK_NEAR(new.W[i], old.L[i] + e + t * old.Y[i], 8 * tiny);
    sum += fabs(e);
  }
  CHECK_NEAR(found, sum, tiny * (double)(count + 1) * (sum + 1));
  op_alm_sums sums = op_alm_multiply(&a, 1 / t, next);
  for (int64_t i = 0; i < count; i++) {
    double r = old.L[i] + new.E[i] - old.D[i];
    CHECK_NEAR(new.Y[i], old.Y[i] + r / t, 20 * tiny);
    ahead[i] = new.W[i];
    residual += r * r;
    size += old.D[i] * old.D[i];
  }
  CHECK_NEAR(sums.residual, residual, tiny * (double)count * (residual + 1));
  CHECK_NEAR(sums.size, size, tiny * (double)count * (size + 1));
  op_alm_shift(&a, next);
  assert_memory_equal(new.W, ahead, (size_t)count * sizeof *ahead);
  check_guards(&new, count);
}

static void passes_do_what_they_say(void **state)
{
  for (int64_t count = 0; count <= 40; count++) check_passes(count);
  for (int64_t count = 250; count <= MOST; count += 37) check_passes(count);
}

int test_alm(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(passes_do_what_they_say)};
  return run_cases(tests, NULL, NULL);
}
