/* linear_gap.c - what linear calls solved is near the best, whatever the units
 * and C: objective and bound are computed here, from data, weights and dual. */
#include "check.h"

enum { MOST = 4096, KINDS = 4 };

typedef struct drawn {
  int d, n, K;
  double C, X[MOST], Y[MOST], weight[MOST];
  bool classes, weighted;
  bool sparse; /* X is given so */
  double stored[MOST];
  int64_t colptr[MOST];
  int32_t rowidx[MOST];
} drawn;

/* Units from unit to 1e7, features that repeat others or are constant, kinds
 * that a line tells apart or does not. */
static void draw(drawn *p, uint64_t *seed, int k)
{
  static const double C[] = {.01, 1, 1e3, 1e4, 1e6, 1e8};
  p->classes = k % 3 == 1;
  p->weighted = k % 5 == 2;
  p->n = 20 + (int)(60 * check_uniform(seed));
  p->d = k % 7 == 6 ? 50 : 1 + (int)(8 * check_uniform(seed));
  p->K = p->classes ? 3 : 1 + k % 2;
  p->C = C[k % 6];
  double units = k / 2 % 3 == 0 ? 0 : 7, spread = 3 * check_uniform(seed);
  for (int i = 0; i < p->d; i++) {
    double unit = pow(10, units * check_uniform(seed));
    double shift = units > 0 ? unit * 30 * check_normal(seed) : 0;
    for (int j = 0; j < p->n; j++) {
      double x = check_normal(seed) + (i == 0 ? spread * (j % 3) : 0);
      p->X[j * p->d + i] = shift + unit * x;
      if (i == 3 && k % 4 == 0) p->X[j * p->d + i] = 2 * p->X[j * p->d] + 1;
      if (i == 4 && k % 4 == 0) p->X[j * p->d + i] = 5;
    }
  }
  for (int j = 0; j < p->n; j++) {
    p->weight[j] = p->weighted ? floor(4 * check_uniform(seed)) : 1;
    for (int c = 0; c < p->K; c++)
      p->Y[j * p->K + c] = p->classes ? 0 : (j + c) % 3 > 0;
    if (p->classes) p->Y[j] = j % 3;
    if (!p->classes && check_uniform(seed) < .1) p->Y[j * p->K] = NAN;
  }
}

/* Makes most of X 0, and stores the rest. */
static void thin(drawn *p, uint64_t *seed)
{
  int64_t count = 0;
  p->sparse = true;
  for (int j = 0; j < p->n; j++) {
    p->colptr[j] = count;
    for (int i = 0; i < p->d; i++) {
      double *x = &p->X[j * p->d + i];
      if (check_uniform(seed) < .6) *x = 0;
      if (*x == 0) continue;
      p->stored[count] = *x;
      p->rowidx[count++] = i;
    }
  }
  p->colptr[p->n] = count;
}

/* s of sample j and line c: 1, -1, 0: not known. */
static int sign(const drawn *p, int j, int c)
{
  double y = p->Y[p->classes ? j : j * p->K + c];
  if (isnan(y) || !(p->weight[j] > 0)) return 0;
  return p->classes ? (y == c ? 1 : -1) : y > 0 ? 1 : -1;
}

static long double entropy(long double part)
{
  return part > 0 ? -part * logl(part) : 0;
}

/* The same of 1 - part. */
static long double entropy_of_rest(long double part)
{
  return part < 1 ? -(1 - part) * log1pl(-part) : 0;
}

/* The objective of the weights. */
static long double objective(const drawn *p, const double *W)
{
  long double sum = 0, F[8];
  for (int c = 0; c < p->K; c++)
    for (int i = 0; i < p->d; i++) {
      long double w = W[c * (p->d + 1) + i];
      sum += w * w / 2;
    }
  for (int j = 0; j < p->n; j++) {
    long double most = -1e300L, all = 0, cost = p->C * p->weight[j], own = 0;
    for (int c = 0; c < p->K; c++) {
      const double *w = W + c * (p->d + 1);
      F[c] = w[p->d];
      for (int i = 0; i < p->d; i++)
        F[c] += (long double)w[i] * p->X[j * p->d + i];
      int s = sign(p, j, c);
      long double u = s * F[c];
      if (!p->classes && s != 0)
        sum += cost * ((u > 0 ? 0 : -u) + log1pl(expl(-fabsl(u))));
      most = fmaxl(most, F[c]);
      if (s > 0) own = F[c];
    }
    for (int c = 0; c < p->K; c++)
      if (sign(p, j, c) < 0) all += expl(F[c] - own);
    if (p->classes && p->weight[j] > 0)
      sum += cost * (most - own < 100 ? log1pl(all) : most - own);
  }
  return sum;
}

/* The bound of the dual, which is checked to be feasible: what is left of its
 * sums is said, as a share of its terms. */
static long double bound(const drawn *p, const double *dual, double *left)
{
  long double value = 0, size = 0;
  *left = 0;
  for (int c = 0; c < p->K; c++) {
    long double sum = 0;
    for (int j = 0; j < p->n; j++) sum += dual[j * p->K + c];
    if (!p->classes) size = 0;
    for (int k = 0; k < p->n * p->K && (c == 0 || !p->classes); k++)
      if (p->classes || k % p->K == c) size += fabsl(dual[k]);
    if (size > 0) *left = fmax(*left, (double)fabsl(sum / size));
    for (int i = 0; i < p->d; i++) {
      long double w = 0;
      /* the first sample's place is no matter where the sums are 0 */
      for (int j = 0; j < p->n; j++)
        w += dual[j * p->K + c] * ((long double)p->X[j * p->d + i] - p->X[i]);
      value -= w * w / 2;
    }
  }
  for (int j = 0; j < p->n; j++) {
    long double cost = p->C * p->weight[j], all = 0;
    for (int c = 0; c < p->K; c++) {
      double a = dual[j * p->K + c];
      int s = sign(p, j, c);
      if (s == 0) {
        assert_true(a == 0);
        continue;
      }
      long double q = (s > 0 ? a : -a) / cost; /* of the other kinds */
      assert_true(q >= 0 && q <= 1 + 1e-15L);
      if (s > 0 || !p->classes) value += cost * entropy_of_rest(q);
      if (s < 0 || !p->classes) value += cost * entropy(q);
      all += s > 0 ? 1 - q : q;
    }
    if (p->classes && cost > 0) assert_true(fabsl(all - 1) < 1e-14L);
  }
  return value;
}

static lapis_status run(lapis_ctx *ctx, drawn *p, double tol, int k)
{
  lapis_data data = {.X = lapis_mat_f64(p->X, p->d, p->n)};
  if (p->sparse) {
    data.X.val = p->stored;
    data.X.colptr = p->colptr;
    data.X.rowidx = p->rowidx;
  }
  data.Y = lapis_mat_f64(p->Y, p->classes ? 1 : p->K, p->n);
  if (p->weighted) data.weight = p->weight;
  lapis_linear_settings set = lapis_linear_defaults();
  lapis_solver *s;
  set.C = p->C;
  set.stop.tol = tol;
  set.certificate = true;
  if (lapis_linear_new(ctx, &data, &set, &s) < 0 || lapis_solve(s) < 0)
    fail_msg("%d: %s", k, lapis_ctx_error(ctx));
  const lapis_info *info = lapis_result_info(s);
  lapis_status status = info->status;
  double left;
  double value = (double)objective(p, check_result(s, "weights"));
  double gap = value - (double)bound(p, check_result(s, "dual"), &left);
  CHECK_AT_MOST(left, 1e-12);
  if (isnan(info->gap)) { /* rounding lets none be proved */
    assert_int_equal(status, LAPIS_PRECISION_FLOOR);
    print_message("%d: no gap\n", k);
    lapis_solver_free(s);
    return status;
  }
  /* what the result says is what is found here, rounding added */
  CHECK_NEAR(info->objective, value, (1e-9 + info->gap) * value);
  CHECK_AT_MOST(gap / value, 1.01 * info->gap + 1e-9);
  if (status == LAPIS_OK) CHECK_AT_MOST(info->gap, tol);
  if (status == LAPIS_OK && !(gap <= 1.01 * tol * value))
    fail_msg("%d: solved with a gap of %g", k, gap / value);
  if (status != LAPIS_OK)
    print_message("%d: status %d gap %.2g (C %g d %d n %d)\n", k, status,
                  gap / value, p->C, p->d, p->n);
  lapis_solver_free(s);
  return status;
}

static void solved_is_near_the_best(void **state)
{
  enum { TRIES = 84 };
  uint64_t seed = 11;
  int solved = 0, thinned = 0, sparse = 0;
  drawn *p = calloc(1, sizeof *p);
  assert_non_null(p);
  for (int k = 0; k < TRIES; k++) {
    lapis_ctx *ctx = lapis_ctx_new();
    p->sparse = false;
    draw(p, &seed, k);
    solved += run(ctx, p, 1e-6, k) == LAPIS_OK;
    thin(p, &seed);
    sparse += run(ctx, p, 1e-6, k) == LAPIS_OK;
    p->sparse = false;
    thinned += run(ctx, p, 1e-6, k) == LAPIS_OK;
    lapis_ctx_free(ctx);
  }
  print_message("%d of %d solved, of mostly 0 %d, sparse %d\n", solved, TRIES,
                thinned, sparse);
  assert_true(solved >= TRIES - 4);
  assert_true(sparse >= thinned - 2);
  free(p);
}

int test_linear_gap(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(solved_is_near_the_best)};
  return run_cases(tests, NULL, NULL);
}
