/* The passes of the sparse error: fast against plain, entry by entry. */
#include "check.h"
#include "la/backend.h"
#include "through.h"

enum { ARRAYS = 8 };

typedef struct side {
  la h;
  lapis_ctx *ctx;
  la_array a[ARRAYS]; /* X, A, S, W, B, G1, G2, F */
} side;

static void fill_side(side *s, const char *backend, int64_t d, int64_t n,
                      uint64_t seed)
{
  s->ctx = lapis_ctx_new();
  assert_int_equal(lapis_ctx_set(s->ctx, "backend", backend), LAPIS_OK);
  assert_int_equal(la_open(s->ctx, &s->h), LAPIS_OK);
  if (s->h.ops == &la_openblas) test_go_through(&s->h);
  for (int k = 0; k < ARRAYS; k++) {
    assert_int_equal(s->h.ops->alloc(&s->h, LAPIS_F64, d, n, &s->a[k]), 0);
    double *p = s->a[k].data;
    for (int64_t i = 0; i < d * n; i++) {
      p[i] = check_normal(&seed);
      if (k == 0 && check_uniform(&seed) < 0.3) p[i] = NAN;
    }
  }
}

static void drop(side *s)
{
  for (int k = 0; k < ARRAYS; k++) s->h.ops->free(&s->h, &s->a[k]);
  lapis_ctx_free(s->ctx);
}

static void same(const side *f, const side *g, int k, int64_t count)
{
  const double *a = f->a[k].data, *b = g->a[k].data;
  for (int64_t i = 0; i < count; i++) CHECK_NEAR(a[i], b[i], 1e-13);
}

static void run_all(side *s, double t, double sums[11])
{
  const la_backend *ops = s->h.ops;
  la_array *a = s->a;
  la_l1 p = {.t = t, .relax = 1.6, .rescale = 0.7};
  la_alm q = {.X = &a[0],
              .D = &a[1],
              .F = &a[7],
              .B = &a[4],
              .G1 = &a[5],
              .G2 = &a[6],
              .Z = &a[7],
              .lambda = t,
              .mu1 = 1.3,
              .mu2 = 0.8,
              .next1 = 1.5,
              .next2 = 0.9};
  la_array Z;
  assert_int_equal(ops->alloc(&s->h, LAPIS_F64, a[0].rows, a[0].cols, &Z), 0);
  q.Z = &Z;
  assert_int_equal(ops->l1_step(&s->h, &p, &a[0], &a[1], &a[2], &a[3], sums),
                   LAPIS_OK);
  assert_int_equal(ops->l1_alm(&s->h, &q, sums + 6), LAPIS_OK);
  assert_int_equal(ops->l1_dual(&s->h, t, &a[0], &a[2], &a[4]), LAPIS_OK);
  assert_int_equal(ops->l1_sums(&s->h, &a[0], &a[1], &a[4], sums + 9), 0);
  assert_int_equal(ops->axpby(&s->h, 1, &Z, 0, &a[7]), LAPIS_OK);
  ops->free(&s->h, &Z);
}

static void twins(void **state)
{
  uint64_t r = 8;
  for (uint64_t seed = 0; seed < 60; seed++) {
    int64_t d = (int64_t)(30 * check_uniform(&r));
    int64_t n = (int64_t)(30 * check_uniform(&r));
    side f, g;
    double a[11], b[11];
    fill_side(&f, "openblas", d, n, seed);
    fill_side(&g, "reference", d, n, seed);
    run_all(&f, 0.4, a);
    run_all(&g, 0.4, b);
    for (int k = 0; k < 11; k++) CHECK_NEAR(a[k], b[k], 1e-11);
    for (int k = 1; k < ARRAYS; k++) same(&f, &g, k, d * n);
    drop(&f);
    drop(&g);
  }
}

int test_l1(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(twins)};
  return run_cases(tests, NULL, NULL);
}
