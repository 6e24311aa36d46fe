/* backend_doors.c - what both backends take, give back and refuse; single
 * precision. */
#include "la_case.h"

#define OK(call) assert_int_equal((call), LAPIS_OK)

static void matrices_travel(void **state)
{
  la_pair *p = *state;
  la *h = &p->fast;
  int64_t whole[6] = {1, 2, 3, 4, 5, 6}, start[3] = {0, 2, 3};
  int32_t row[3] = {0, 2, 1};
  double stored[3] = {7, NAN, 9}, back[8] = {0};
  lapis_mat I = {.dtype = LAPIS_I64, .rows = 3, .cols = 2, .ld = 3};
  lapis_mat S = {.rows = 3, .cols = 2, .val = stored};
  lapis_mat out = {.rows = 3, .cols = 2, .ld = 4, .val = back};
  static const lapis_dtype type[] = {LAPIS_F64, LAPIS_F32};
  I.val = whole;
  S.colptr = start;
  S.rowidx = row;
  for (int t = 0; t < 2; t++) {
    la_array A;
    OK(h->ops->alloc(h, type[t], 3, 2, &A));
    OK(h->ops->upload(h, &I, &A));
    OK(h->ops->download(h, &A, &out));
    for (int i = 0; i < 6; i++) CHECK_NEAR(back[i / 3 * 4 + i % 3], i + 1, 0);
    OK(h->ops->upload(h, &S, &A));
    OK(h->ops->download(h, &A, &out));
    CHECK_NEAR(back[0] + back[1] + back[4] + back[6], 7, 0);
    assert_true(isnan(back[2]));
    CHECK_NEAR(back[5], 9, 0);
    out.cols = 1;
    assert_int_equal(h->ops->download(h, &A, &out), LAPIS_ESHAPE);
    out.cols = 2;
    LA_RELEASE(h, &A);
  }
}

static void not_finite_is_refused(void **state)
{
  la_pair *p = *state;
  la *both[] = {&p->fast, &p->slow};
  for (int i = 0; i < 4; i++) {
    la *h = both[i % 2];
    double bad = i < 2 ? NAN : INFINITY, w[2];
    double a[4] = {1, bad, bad, 1}, q[4], u[4];
    la_array A = la_wrap(a, 2, 2), Q = la_wrap(q, 2, 2), U = la_wrap(u, 2, 2);
    int64_t count;
    assert_int_equal(h->ops->eigh(h, &A, 0, w, &Q, &count), LAPIS_ENUMERIC);
    assert_int_equal(h->ops->svd(h, &A, &Q, w, &U), LAPIS_ENUMERIC);
    assert_non_null(strstr(lapis_ctx_error(p->ctx), "NaN or infinity"));
  }
}

static void symmetric_case(la_pair *p, uint64_t *seed)
{
  la *h = &p->fast;
  int64_t n = la_case_side(seed);
  la_array A = la_case_random(h, n, n, seed);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < j; i++)
      *la_case_at(&A, i, j) = *la_case_at(&A, j, i);
  la_array x = la_case_random(h, n, 1, seed), y = la_case_random(h, n, 1, seed);
  la_array z = la_case_copy(h, &y);
  double beta = check_uniform(seed) < 0.3 ? 0 : 0.7;
  double scale =
      la_case_norm(&A) * la_case_norm(&x) + la_case_norm(&y) + 1e-300;
  if (beta < 0.5 && n > 0) *la_case_at(&y, n - 1, 0) = NAN;
  OK(p->fast.ops->symv(&p->fast, 1.5, &A, &x, beta, &y));
  OK(p->slow.ops->symv(&p->slow, 1.5, &A, &x, beta, &z));
  CHECK_AT_MOST(la_case_distance(&y, &z), 1e-14 * scale);
  LA_RELEASE(h, &A, &x, &y, &z);
}

static void symmetric_products_agree(void **state)
{
  for (uint64_t i = 0; i < 60; i++) {
    uint64_t seed = i;
    symmetric_case(*state, &seed);
  }
}

static void wrong_shapes_are_refused(void **state)
{
  la_pair *p = *state;
  la *both[] = {&p->fast, &p->slow};
  double a[12] = {0}, s[4], f;
  int64_t count, w[] = {3, 0};
  la_array A = la_wrap(a, 3, 4), B = la_wrap(a, 3, 3), C = la_wrap(a, 2, 2);
  la_array empty;
  la_penalty phi = {.n_blocks = 1, .block = {{LA_CHI2, 2, 2, 1, 0}}, .Z0 = B};
  for (int i = 0; i < 2; i++) {
    const la_backend *ops = both[i]->ops;
    la *h = both[i];
    assert_int_equal(ops->gemm(h, LA_N, LA_N, 1, &A, &B, 0, &C), LAPIS_ESHAPE);
    assert_int_equal(ops->gemv(h, LA_N, 1, &A, &B, 0, &C), LAPIS_ESHAPE);
    assert_int_equal(ops->symv(h, 1, &A, &B, 0, &C), LAPIS_ESHAPE);
    assert_int_equal(ops->syrk(h, LA_N, &A, &C), LAPIS_ESHAPE);
    assert_int_equal(ops->eigh(h, &A, 0, s, NULL, &count), LAPIS_ESHAPE);
    assert_int_equal(ops->svd(h, &A, &C, s, &B), LAPIS_ESHAPE);
    assert_int_equal(ops->svd(h, &A, &B, s, NULL), LAPIS_EINVAL);
    assert_int_equal(ops->qr(h, &A, NULL), LAPIS_ESHAPE);
    assert_int_equal(ops->potrf(h, &A), LAPIS_ESHAPE);
    assert_int_equal(ops->potri(h, &A), LAPIS_ESHAPE);
    assert_int_equal(ops->potrs(h, &C, &A), LAPIS_ESHAPE);
    assert_int_equal(ops->trsm(h, &C, &A), LAPIS_ESHAPE);
    assert_int_equal(ops->dot(h, &A, &B, &f), LAPIS_ESHAPE);
    assert_int_equal(ops->dot_cols(h, &A, &B, s), LAPIS_ESHAPE);
    assert_int_equal(ops->axpby_cols(h, s, NULL, &A, 0, &B), LAPIS_ESHAPE);
    assert_int_equal(ops->axpby_cols(h, s, w, &A, 0, &C), LAPIS_ESHAPE);
    assert_int_equal(ops->loss(h, &phi, &A, &f), LAPIS_ESHAPE);
    assert_int_equal(ops->loss(h, &phi, &B, &f), LAPIS_ESHAPE); /* rows */
    assert_int_equal(ops->alloc(h, LAPIS_F64, -1, 2, &empty), LAPIS_ESHAPE);
    assert_int_equal(ops->alloc(h, LAPIS_U8, 1, 2, &empty), LAPIS_EINVAL);
  }
}

static void backends_have_names(void **state)
{
  la_pair *p = *state;
  la h;
  OK(lapis_ctx_set(p->ctx, "backend", "reference"));
  assert_string_equal(lapis_ctx_backend(p->ctx), "reference");
  OK(lapis_ctx_set(p->ctx, "backend", "openblas"));
  assert_memory_equal(lapis_ctx_backend(p->ctx), "openblas", 8);
  if (lapis_ctx_set(p->ctx, "backend", "abacus") == LAPIS_OK) {
    assert_int_equal(la_open(p->ctx, &h), LAPIS_EINVAL);
    assert_non_null(strstr(lapis_ctx_error(p->ctx), "reference"));
  }
  OK(lapis_ctx_set(p->ctx, "backend", "openblas"));
}

/* A A' or A'A of either backend, single precision, is exactly `right`. */
static void both_squares_are(la_pair *p, la_trans t, const la_array *A,
                             const la_array *right)
{
  la *both[] = {&p->fast, &p->slow};
  for (int each = 0; each < 2; each++) {
    la_array C;
    OK(both[each]->ops->alloc(both[each], LAPIS_F32, right->rows, right->cols,
                              &C));
    OK(both[each]->ops->syrk(both[each], t, A, &C));
    for (int64_t i = 0; i < right->rows * right->cols; i++)
      CHECK_NEAR(((float *)C.data)[i], ((float *)right->data)[i], 0);
    both[each]->ops->free(both[each], &C);
  }
}

static void float_products_agree(void **state)
{
  la_pair *p = *state;
  la *h = &p->fast;
  uint64_t seed = 5;
  la_array X = la_case_random(h, 7, 4, &seed), A, C, D, E;
  for (int64_t i = 0; i < 28; i++) ((double *)X.data)[i] = (double)(i % 5);
  OK(h->ops->alloc(h, LAPIS_F32, 7, 4, &A));
  OK(h->ops->alloc(h, LAPIS_F32, 4, 4, &C));
  OK(h->ops->alloc(h, LAPIS_F32, 4, 4, &D));
  OK(h->ops->alloc(h, LAPIS_F32, 7, 7, &E));
  lapis_mat from = la_as_mat(&X);
  OK(h->ops->upload(h, &from, &A));
  OK(p->fast.ops->gemm(&p->fast, LA_T, LA_N, 1, &A, &A, 0, &C));
  OK(p->slow.ops->gemm(&p->slow, LA_T, LA_N, 1, &A, &A, 0, &D));
  for (int i = 0; i < 16; i++) /* small integers: exact */
    CHECK_NEAR(((float *)C.data)[i], ((float *)D.data)[i], 0);
  both_squares_are(p, LA_T, &A, &D);
  OK(p->slow.ops->gemm(&p->slow, LA_N, LA_T, 1, &A, &A, 0, &E));
  both_squares_are(p, LA_N, &A, &E);
  assert_int_equal(h->ops->gemm(h, LA_T, LA_N, 1, &A, &X, 0, &C), LAPIS_EINVAL);
  assert_int_equal(h->ops->syrk(h, LA_T, &A, &X), LAPIS_EINVAL);
  LA_RELEASE(h, &X, &A, &C, &D, &E);
}

int test_backend_doors(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(matrices_travel),
      cmocka_unit_test(not_finite_is_refused),
      cmocka_unit_test(symmetric_products_agree),
      cmocka_unit_test(wrong_shapes_are_refused),
      cmocka_unit_test(float_products_agree),
      cmocka_unit_test(backends_have_names),
  };
  return run_cases(tests, la_case_open_pair, la_case_close_pair);
}
