/* assign.c - assignment against certificates, enumeration and fixtures.
 *
 * Only costs are compared, never assignments: optima need not be unique. */
#include "check.h"
#include "fixture.h"
#include "lapis/methods.h"

typedef struct problem {
  int64_t rows, cols;
  double *c; /* cols x rows */
  int64_t *match;
  double *price;
} problem;

static problem make(int64_t rows, int64_t cols)
{
  problem p = {.rows = rows, .cols = cols};
  p.c = calloc((size_t)(rows * cols) + 1, sizeof *p.c);
  p.match = calloc((size_t)rows + 1, sizeof *p.match);
  p.price = calloc((size_t)cols + 1, sizeof *p.price);
  return p;
}

static void drop(problem *p)
{
  free(p->c), free(p->match), free(p->price);
}

static lapis_mat costs(const problem *p)
{
  return lapis_mat_f64(p->c, p->cols, p->rows);
}

/* kinds: uniform, small integers (ties, zeros), negative, huge, tiny */
static void fill(problem *p, int kind, uint64_t *state)
{
  for (int64_t k = 0; k < p->rows * p->cols; k++) {
    double u = check_uniform(state);
    p->c[k] = kind == 0   ? u
              : kind == 1 ? floor(4 * u)
              : kind == 2 ? -10 * u
              : kind == 3 ? (u - 0.5) * 1e12
                          : (u - 0.5) * 1e-12;
  }
}

static double largest(const problem *p)
{
  double m = 0;
  for (int64_t k = 0; k < p->rows * p->cols; k++) m = fmax(m, fabs(p->c[k]));
  return m;
}

/* An assignment, its cost as reported, and prices that prove it: nothing but
 * the costs is believed. */
static void certify(const problem *p, double objective)
{
  double sum = 0, dual = 0, unit = largest(p) * 1e-13 * (double)(p->rows + 1);
  char *seen = calloc((size_t)p->cols + 1, 1);
  for (int64_t i = 0; i < p->rows; i++) {
    int64_t j = p->match[i];
    assert_in_range(j, 0, p->cols - 1);
    assert_int_equal(seen[j], 0);
    seen[j] = 1;
    sum += p->c[i * p->cols + j];
    double least = INFINITY;
    for (int64_t k = 0; k < p->cols; k++)
      least = fmin(least, p->c[i * p->cols + k] - p->price[k]);
    dual += least;
  }
  for (int64_t k = 0; k < p->cols; k++) {
    CHECK_AT_MOST(p->price[k], 0);
    if (!seen[k]) CHECK_AT_LEAST(p->price[k], 0);
    dual += p->price[k];
  }
  CHECK_NEAR(sum, objective, unit);
  CHECK_NEAR(sum, dual, unit);
  free(seen);
}

static double solve(lapis_ctx *ctx, problem *p, bool warm)
{
  lapis_mat c = costs(p);
  lapis_assignment a = {p->match, p->price, warm, 0};
  if (lapis_assign(ctx, &c, &a) < 0) fail_msg("%s", lapis_ctx_error(ctx));
  certify(p, a.objective);
  return a.objective;
}

static void optima_are_certified(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  for (uint64_t seed = 1; seed <= 300; seed++) {
    uint64_t s = seed;
    int64_t rows = 1 + (int64_t)(check_uniform(&s) * 40);
    int64_t cols = rows + (int64_t)(check_uniform(&s) * 200);
    problem p = make(rows, cols);
    fill(&p, (int)(seed % 5), &s);
    solve(ctx, &p, false);
    drop(&p);
  }
  lapis_ctx_free(ctx);
}

/* The twin: every injective map, for tiny problems. */
static double enumerate(const problem *p, int64_t row, unsigned used)
{
  if (row == p->rows) return 0;
  double best = INFINITY;
  for (int64_t j = 0; j < p->cols; j++)
    if (!(used >> j & 1))
      best = fmin(best, p->c[row * p->cols + j] +
                            enumerate(p, row + 1, used | 1u << j));
  return best;
}

static void tiny_ones_equal_enumeration(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  for (uint64_t seed = 1; seed <= 200; seed++) {
    uint64_t s = seed;
    int64_t rows = 1 + (int64_t)(check_uniform(&s) * 5);
    problem p = make(rows, rows + (int64_t)(check_uniform(&s) * 3));
    fill(&p, (int)(seed % 5), &s);
    double best = enumerate(&p, 0, 0);
    CHECK_NEAR(solve(ctx, &p, false), best, 1e-13 * (1e-300 + largest(&p)) * 5);
    drop(&p);
  }
  lapis_ctx_free(ctx);
}

/* Law: what a solve starts from does not change its cost. */
static void warm_starts_change_nothing(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  for (uint64_t seed = 1; seed <= 200; seed++) {
    uint64_t s = seed;
    int64_t rows = 1 + (int64_t)(check_uniform(&s) * 30);
    problem p = make(rows, rows + (int64_t)(check_uniform(&s) * 60));
    fill(&p, (int)(seed % 5), &s);
    double first = solve(ctx, &p, false), size = largest(&p);
    CHECK_NEAR(solve(ctx, &p, true), first, 1e-13 * size * 40);
    double step = seed % 3 == 0 ? 1 : seed % 3 == 1 ? 0.1 : 1e-6;
    for (int64_t k = 0; k < p.rows * p.cols; k++)
      p.c[k] += step * size * (check_uniform(&s) - 0.5);
    double warm = solve(ctx, &p, true);
    CHECK_NEAR(solve(ctx, &p, false), warm, 1e-13 * (size + 1e-300) * 60);
    for (int64_t i = 0; i < p.rows; i++) p.match[i] = i % 2 == 0 ? -1 : 0;
    for (int64_t j = 0; j < p.cols; j++)
      p.price[j] = size * (check_uniform(&s) - 0.5);
    CHECK_NEAR(solve(ctx, &p, true), warm, 1e-13 * (size + 1e-300) * 60);
    drop(&p);
  }
  lapis_ctx_free(ctx);
}

static void floats_and_batches_agree(void **state)
{
  enum { COUNT = 20, ROWS = 17, COLS = 41 };
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_mat mats[2 * COUNT];
  lapis_assignment io[2 * COUNT];
  problem p[COUNT];
  float *f[COUNT];
  int64_t matches[COUNT][ROWS];
  uint64_t s = 5;
  for (int t = 0; t < COUNT; t++) {
    p[t] = make(ROWS, COLS);
    f[t] = malloc(sizeof(float) * ROWS * COLS);
    for (int k = 0; k < ROWS * COLS; k++) {
      f[t][k] = (float)check_normal(&s);
      p[t].c[k] = (double)f[t][k];
    }
    mats[t] = costs(&p[t]);
    mats[COUNT + t] = mats[t];
    mats[COUNT + t].dtype = LAPIS_F32;
    mats[COUNT + t].val = f[t];
    io[t] = (lapis_assignment){p[t].match, p[t].price, false, 0};
    io[COUNT + t] = (lapis_assignment){matches[t], NULL, false, 0};
  }
  assert_int_equal(lapis_assign_batch(ctx, 2 * COUNT, mats, io), LAPIS_OK);
  for (int t = 0; t < COUNT; t++) {
    certify(&p[t], io[t].objective);
    CHECK_NEAR(io[t].objective, io[COUNT + t].objective, 1e-12);
    drop(&p[t]);
    free(f[t]);
  }
  lapis_ctx_free(ctx);
}

static void refuse(lapis_ctx *ctx, const lapis_mat *c, lapis_assignment *a,
                   lapis_status wanted, const char *says)
{
  assert_int_equal(lapis_assign(ctx, c, a), wanted);
  if (!check_has(lapis_ctx_error(ctx), says))
    fail_msg("'%s' does not say '%s'", lapis_ctx_error(ctx), says);
}

static void bad_problems_are_refused(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  problem p = make(70, 80);
  lapis_assignment a = {p.match, p.price, false, 0};
  lapis_mat c = costs(&p);
  p.c[3 * 80 + 79] = NAN;
  refuse(ctx, &c, &a, LAPIS_EMISSING, "4 80");
  p.c[3 * 80 + 79] = 0;
  p.c[69 * 80] = INFINITY;
  refuse(ctx, &c, &a, LAPIS_EDATA, "70 1");
  p.c[69 * 80] = -INFINITY;
  a.warm = true;
  refuse(ctx, &c, &a, LAPIS_EDATA, "70 1");
  p.c[69 * 80] = 0;
  p.match[5] = 80;
  refuse(ctx, &c, &a, LAPIS_EINVAL, "6 81");
  p.match[5] = 0;
  a.price = NULL;
  refuse(ctx, &c, &a, LAPIS_EINVAL, "");
  lapis_mat wide = lapis_mat_f64(p.c, 70, 80);
  a.warm = false;
  refuse(ctx, &wide, &a, LAPIS_ESHAPE, "80");
  c.dtype = LAPIS_I64;
  refuse(ctx, &c, &a, LAPIS_EINVAL, "float64 float32");
  lapis_mat none = lapis_mat_f64(p.c, 5, 0);
  assert_int_equal(lapis_assign(ctx, &none, &a), LAPIS_OK);
  assert_int_equal(lapis_assign(ctx, &none, NULL), LAPIS_EINVAL);
  c.dtype = LAPIS_F64;
  a.match = NULL;
  refuse(ctx, &c, &a, LAPIS_EINVAL, "match NULL");
  CHECK_NEAR(a.objective, 0, 0);
  drop(&p);
  lapis_ctx_free(ctx);
}

static void fixtures(void **state)
{
  static const char *const names[] = {"lsap_4x4", "lsap_7x30", "lsap_60x200"};
  for (int i = 0; i < 3; i++) {
    fixture f;
    fixture_open(&f, names[i], false);
    lapis_mat c = fixture_mat(&f.data, "cost");
    problem p = make(c.cols, c.rows);
    memcpy(p.c, c.val, (size_t)(c.cols * c.rows) * sizeof *p.c);
    double optimum = fixture_number(&f, "optimum");
    CHECK_NEAR(solve(f.ctx, &p, false), optimum, 1e-12 * fabs(optimum));
    drop(&p);
    fixture_close(&f);
  }
}

int test_assign(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(optima_are_certified),
      cmocka_unit_test(tiny_ones_equal_enumeration),
      cmocka_unit_test(warm_starts_change_nothing),
      cmocka_unit_test(floats_and_batches_agree),
      cmocka_unit_test(bad_problems_are_refused),
      cmocka_unit_test(fixtures),
  };
  return run_cases(tests, NULL, NULL);
}
