/* svt_subspace.c - singular values found in a growing subspace against
 * LAPACK's full decomposition: the same rank, always, and the same matrix.
 * Spectra are made, so that the right rank is known without any of them. */
#include "la_case.h"
#include "op/svt/svt.h"

enum { MOST = 320 };

#define OK(call) assert_int_equal((call), LAPIS_OK)

typedef enum spectrum {
  POWER,     /* 1, 1/2, 1/3, ... */
  GEOMETRIC, /* 1, q, q^2, ... */
  FLAT,      /* equal ones, and noise below */
  CROWDED,   /* equal ones, and noise up to just below the threshold */
  LOW_RANK,  /* nothing behind the first few */
  ALL_ABOVE, /* full rank above the threshold */
  NONE_ABOVE,
  SPECTRA
} spectrum;

/* W = Q_1 diag(s) Q_2', Q a product of three reflections. */
typedef struct made {
  int64_t m, n, k, rank;
  double s[MOST], t;
  la_array W, A, B;
} made;

static void reflect(la_array *W, bool rows, uint64_t *seed)
{
  int64_t length = rows ? W->rows : W->cols, others = rows ? W->cols : W->rows;
  double v[2 * MOST], square = 0;
  for (int64_t i = 0; i < length; i++) {
    v[i] = check_normal(seed);
    square += v[i] * v[i];
  }
  for (int64_t j = 0; j < others; j++) {
    double dot = 0;
    for (int64_t i = 0; i < length; i++)
      dot += v[i] * *la_case_at(W, rows ? i : j, rows ? j : i);
    for (int64_t i = 0; i < length; i++)
      *la_case_at(W, rows ? i : j, rows ? j : i) -= 2 * dot / square * v[i];
  }
}

static double value(spectrum kind, int64_t i, int64_t rank, uint64_t *seed)
{
  double u = check_uniform(seed);
  switch (kind) {
  case POWER:
    return 1 / (double)(i + 1);
  case GEOMETRIC:
    return pow(0.8, (double)i);
  case FLAT:
    return i < rank ? 1 : 0.5 * u;
  case CROWDED:
    return i < rank ? 1 : 0.8 * (1 - 1e-2 * u * u);
  case LOW_RANK:
    return i < rank ? 1 + u : 0;
  case ALL_ABOVE:
    return 1 + u;
  default:
    return 0.7 * u;
  }
}

static void build(la *h, made *p, spectrum kind, double scale, uint64_t *seed)
{
  p->k = p->m < p->n ? p->m : p->n;
  p->W = la_case_new(h, p->m, p->n);
  p->A = la_case_new(h, p->m, p->n);
  p->B = la_case_new(h, p->m, p->n);
  for (int64_t i = 0; i < p->k; i++) {
    p->s[i] = scale * value(kind, i, p->rank, seed);
    *la_case_at(&p->W, i, i) = p->s[i];
  }
  for (int i = 0; i < 3; i++) reflect(&p->W, true, seed);
  for (int i = 0; i < 3; i++) reflect(&p->W, false, seed);
}

static void release(la *h, made *p)
{
  h->ops->free(h, &p->W);
  h->ops->free(h, &p->A);
  h->ops->free(h, &p->B);
}

static double threshold(spectrum kind, int64_t rank)
{
  double r = (double)rank;
  if (kind == POWER) return rank > 0 ? 1 / (r + 0.5) : 1.5;
  if (kind == GEOMETRIC) return pow(0.8, r - 0.5);
  return 0.801;
}

static int64_t count_above(const made *p)
{
  int64_t count = 0;
  for (int64_t i = 0; i < p->k; i++) count += p->s[i] > p->t;
  return count;
}

/* A, from s, against B from LAPACK. */
static svt_report agree(op_svt *s, op_svt *full, made *p)
{
  svt_report r, f;
  OK(op_svt_apply(s, &p->W, p->t, &p->A, &r));
  OK(op_svt_apply(full, &p->W, p->t, &p->B, &f));
  double size = fmax(f.sigma_1, 1e-300);
  assert_int_equal(r.rank, f.rank);
  CHECK_AT_MOST(la_case_distance(&p->A, &p->B), 1e-9 * size);
  CHECK_NEAR(r.nuclear, f.nuclear, 1e-9 * (size + f.nuclear));
  if (r.rank > 0) CHECK_NEAR(r.sigma_1, f.sigma_1, 1e-12 * size);
  return r;
}

static made random_shape(uint64_t *seed)
{
  made p = {.m = 70 + (int64_t)(120 * check_uniform(seed))};
  p.n = 70 + (int64_t)(120 * check_uniform(seed));
  if (check_uniform(seed) < 0.3) p.n += 130;
  p.rank = (int64_t)(12 * check_uniform(seed));
  return p;
}

/* Also counts how often the way asked for was the way taken. */
static void every_spectrum(void **state)
{
  la_pair pair = la_pair_open();
  la *h = &pair.fast;
  int taken = 0, cases = 0;
  for (uint64_t i = 0; i < (room_all() ? 420 : 105); i++) {
    uint64_t seed = 9000 + i;
    spectrum kind = (spectrum)(i % SPECTRA);
    made p = random_shape(&seed);
    op_svt *s, *full;
    double scale = i % 5 == 0 ? 1e5 : 1;
    build(h, &p, kind, scale, &seed);
    p.t = scale * threshold(kind, p.rank);
    OK(op_svt_new(h, p.m, p.n, &s));
    OK(op_svt_new(h, p.m, p.n, &full));
    op_svt_force(s, SVT_SUBSPACE);
    op_svt_force(full, SVT_FULL);
    svt_report r = agree(s, full, &p);
    assert_int_equal(r.rank, count_above(&p));
    if (kind == ALL_ABOVE) assert_int_equal(r.way, SVT_GRAM);
    taken += kind != ALL_ABOVE && r.way == SVT_SUBSPACE;
    cases += kind != ALL_ABOVE;
    op_svt_free(s);
    op_svt_free(full);
    release(h, &p);
  }
  CHECK_AT_LEAST(taken, 0.6 * cases);
  lapis_ctx_free(pair.ctx);
}

/* One workspace, a matrix that drifts, a threshold that moves, sometimes far:
 * the last basis is a start, never an answer. */
static void warm_calls(void **state)
{
  la_pair pair = la_pair_open();
  la *h = &pair.fast;
  for (uint64_t i = 0; i < (room_all() ? 40 : 10); i++) {
    uint64_t seed = 20000 + i;
    made p = random_shape(&seed);
    op_svt *s, *full;
    build(h, &p, i % 2 ? POWER : GEOMETRIC, 1, &seed);
    OK(op_svt_new(h, p.m, p.n, &s));
    OK(op_svt_new(h, p.m, p.n, &full));
    op_svt_force(s, SVT_SUBSPACE);
    op_svt_force(full, SVT_FULL);
    for (int call = 0; call < 10; call++) {
      double drift = call % 4 == 3 ? 0.05 : 1e-4 * check_uniform(&seed);
      for (int64_t c = 0; c < p.m * p.n; c++)
        ((double *)p.W.data)[c] += drift * check_normal(&seed) / 40;
      if (call == 6) /* another matrix altogether */
        for (int q = 0; q < 2; q++) reflect(&p.W, q == 0, &seed);
      p.t = 0.9 / (1 + 12 * check_uniform(&seed));
      (void)agree(s, full, &p);
    }
    op_svt_free(s);
    op_svt_free(full);
    release(h, &p);
  }
  lapis_ctx_free(pair.ctx);
}

/* What a basis knows nothing of must be found all the same: the new value is
 * orthogonal to everything the last call kept. */
static void newcomers_are_found(void **state)
{
  la_pair pair = la_pair_open();
  la *h = &pair.fast;
  made p = {.m = 150, .n = 170, .rank = 3};
  uint64_t seed = 77;
  op_svt *s, *full;
  p.W = la_case_new(h, p.m, p.n);
  p.A = la_case_new(h, p.m, p.n);
  p.B = la_case_new(h, p.m, p.n);
  p.t = 0.5;
  OK(op_svt_new(h, p.m, p.n, &s));
  OK(op_svt_new(h, p.m, p.n, &full));
  op_svt_force(s, SVT_SUBSPACE);
  op_svt_force(full, SVT_FULL);
  for (int64_t i = 0; i < 15; i++) {
    int64_t place = (int64_t)(150 * check_uniform(&seed));
    *la_case_at(&p.W, place, place) = 1; /* diagonal: nothing couples */
    svt_report r = agree(s, full, &p);
    assert_int_equal(r.way, SVT_SUBSPACE);
  }
  op_svt_free(s);
  op_svt_free(full);
  release(h, &p);
  lapis_ctx_free(pair.ctx);
}

/* Values at the threshold to the last digits: GRAM decides, and says so. */
static void crowds_fall_back(void **state)
{
  la_pair pair = la_pair_open();
  la *h = &pair.fast;
  for (uint64_t i = 0; i < 20; i++) {
    uint64_t seed = 300 + i;
    made p = {.m = 90, .n = 140, .rank = 4};
    op_svt *s, *full;
    build(h, &p, CROWDED, 1, &seed);
    p.t = 0.8 * (1 + 1e-9);
    OK(op_svt_new(h, p.m, p.n, &s));
    OK(op_svt_new(h, p.m, p.n, &full));
    op_svt_force(s, SVT_SUBSPACE);
    op_svt_force(full, SVT_FULL);
    svt_report r = agree(s, full, &p);
    assert_int_equal(r.rank, 4);
    if (r.way == SVT_GRAM) assert_non_null(strstr(r.why, "crowd"));
    op_svt_free(s);
    op_svt_free(full);
    release(h, &p);
  }
  lapis_ctx_free(pair.ctx);
}

/* Large enough for the choice itself; the same bits twice. */
static void chosen_where_it_pays(void **state)
{
  la_pair pair = la_pair_open();
  la *h = &pair.fast;
  for (uint64_t i = 0; i < 2; i++) {
    uint64_t seed = 40 + i;
    int64_t m = i ? 900 : 610, n = i ? 610 : 800;
    la_array U = la_case_new(h, m, 12), V = la_case_new(h, n, 12);
    la_array W = la_case_new(h, m, n), A = la_case_new(h, m, n);
    la_array B = la_case_new(h, m, n);
    for (int64_t c = 0; c < 12 * m; c++)
      ((double *)U.data)[c] = check_normal(&seed);
    for (int64_t c = 0; c < 12 * n; c++)
      ((double *)V.data)[c] = check_normal(&seed);
    for (int64_t c = 0; c < m * n; c++)
      ((double *)W.data)[c] = 0.5 * check_normal(&seed);
    OK(h->ops->gemm(h, LA_N, LA_T, 1, &U, &V, 1, &W));
    for (int again = 0; again < 2; again++) {
      op_svt *s;
      svt_report r;
      OK(op_svt_new(h, m, n, &s));
      OK(op_svt_apply(s, &W, 60, again ? &B : &A, &r));
      assert_int_equal(r.way, SVT_SUBSPACE);
      assert_int_equal(r.rank, 12);
      op_svt_force(s, SVT_GRAM);
      la_array C = la_case_new(h, m, n);
      OK(op_svt_apply(s, &W, 60, &C, &r));
      assert_int_equal(r.rank, 12);
      CHECK_AT_MOST(la_case_distance(&A, &C), 1e-9 * r.sigma_1);
      h->ops->free(h, &C);
      op_svt_free(s);
    }
    CHECK_NEAR(la_case_distance(&A, &B), 0, 0);
    la_array *all[] = {&U, &V, &W, &A, &B};
    for (int k = 0; k < 5; k++) h->ops->free(h, all[k]);
  }
  lapis_ctx_free(pair.ctx);
}

int test_svt_subspace(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_spectrum),
      cmocka_unit_test(warm_calls),
      cmocka_unit_test(newcomers_are_found),
      cmocka_unit_test(crowds_fall_back),
      cmocka_unit_test(chosen_where_it_pays),
  };
  return run_cases(tests, NULL, NULL);
}
