/* width.c - the library's own kernels at every width of registers that
 * this processor has: the reference's answer, and the same bits each time. */
#include <string.h>

#include "la_case.h"
#include "op/dense/product.h"

static const char *const widths[] = {"plain", "neon", "avx2", "avx512"};
enum { NAMES = sizeof widths / sizeof *widths };

static double *numbers(int64_t count, uint64_t stream)
{
  double *v = malloc((size_t)(count > 0 ? count : 1) * sizeof *v);
  for (int64_t i = 0; i < count; i++) v[i] = rng_normal(1, stream, (uint64_t)i);
  return v;
}

static double furthest(const double *a, const double *b, int64_t count)
{
  double most = 0;
  for (int64_t i = 0; i < count; i++) most = fmax(most, fabs(a[i] - b[i]));
  return most;
}

/* A A'X or A'A X of sizes that leave every kind of rest, against the
 * reference. */
static void check_gram_times(la_pair *p, la_trans t, int64_t m, int64_t n,
                             int64_t cols)
{
  int64_t rows = t == LA_N ? m : n;
  double *a = numbers(m * n, 1), *x = numbers(rows * cols, 2);
  double *y = numbers(rows * cols, 3), *z = numbers(rows * cols, 3);
  double *again = numbers(rows * cols, 3);
  la_array A = la_wrap(a, m, n), X = la_wrap(x, rows, cols);
  la_array Y = la_wrap(y, rows, cols), Z = la_wrap(z, rows, cols);
  la_array Again = la_wrap(again, rows, cols);
  la *slow = &p->slow, *fast = &p->fast;
  assert_int_equal(slow->ops->gram_times(slow, t, &A, &X, &Y), LAPIS_OK);
  assert_int_equal(fast->ops->gram_times(fast, t, &A, &X, &Z), LAPIS_OK);
  assert_int_equal(fast->ops->gram_times(fast, t, &A, &X, &Again), LAPIS_OK);
  double bound = 1e-14 * (double)((m + 1) * (n + 1));
  assert_true(furthest(y, z, rows * cols) <= bound);
  assert_memory_equal(z, again, (size_t)(rows * cols) * sizeof *z);
  free(a);
  free(x);
  free(y);
  free(z);
  free(again);
}

/* alpha A B + beta C and alpha A'B + beta C of few columns of B, against the
 * reference, by any number of threads. */
static void check_skinny(la_pair *p, la_trans t, int64_t m, int64_t n,
                         int64_t cols, double alpha, double beta)
{
  int64_t rows = t == LA_N ? m : n, inner = t == LA_N ? n : m;
  double *a = numbers(m * n, 1), *b = numbers(inner * cols, 2);
  double *y = numbers(rows * cols, 3), *z = numbers(rows * cols, 3);
  double *one = numbers(rows * cols, 3);
  la_array A = la_wrap(a, m, n), B = la_wrap(b, inner, cols);
  la_array Y = la_wrap(y, rows, cols), Z = la_wrap(z, rows, cols);
  la_array One = la_wrap(one, rows, cols);
  la *slow = &p->slow, fast = p->fast;
  assert_int_equal(slow->ops->gemm(slow, t, LA_N, alpha, &A, &B, beta, &Y),
                   LAPIS_OK);
  fast.threads = 3;
  assert_int_equal(fast.ops->gemm(&fast, t, LA_N, alpha, &A, &B, beta, &Z),
                   LAPIS_OK);
  fast.threads = 1;
  assert_int_equal(fast.ops->gemm(&fast, t, LA_N, alpha, &A, &B, beta, &One),
                   LAPIS_OK);
  assert_true(furthest(y, z, rows * cols) <= 1e-14 * (double)inner * 100);
  assert_true(furthest(z, one, rows * cols) <= 1e-14 * (double)inner * 100);
  free(a);
  free(b);
  free(y);
  free(z);
  free(one);
}

static double at(lapis_dtype type, const void *v, int64_t i)
{
  return type == LAPIS_F64 ? ((const double *)v)[i] : ((const float *)v)[i];
}

static void put(lapis_dtype type, void *v, int64_t i, double x)
{
  if (type == LAPIS_F64)
    ((double *)v)[i] = x;
  else
    ((float *)v)[i] = (float)x;
}

/* Costs of `count` features against `vectors` vectors; out: doubles. */
static void find_costs(lapis_ctx *ctx, lapis_dtype type, int64_t d,
                       int64_t count, int64_t vectors, double *out)
{
  op_panels p;
  double *f = numbers(d * count, 4), *m = numbers(d * vectors, 5);
  double *half = numbers(count, 6);
  void *room = calloc((size_t)(d * op_panels_room(vectors)), sizeof *f);
  void *c = calloc((size_t)(count * vectors), sizeof *f);
  for (int64_t i = 0; i < d * vectors; i++) put(type, room, i, m[i]);
  assert_int_equal(op_panels_new(ctx, type, d, count, &p), LAPIS_OK);
  for (int64_t i = 0; i < count; i++) op_panels_set(&p, i, f + i * d, 1);
  op_panels_costs(&p, 0, count, room, vectors, half, c, count);
  for (int64_t i = 0; i < count * vectors; i++) out[i] = at(type, c, i);
  op_panels_free(&p);
  free(f);
  free(m);
  free(half);
  free(room);
  free(c);
}

static void check_products(lapis_ctx *ctx, lapis_dtype type, int64_t d,
                           int64_t count, int64_t vectors)
{
  double *f = numbers(d * count, 4), *m = numbers(d * vectors, 5);
  double *half = numbers(count, 6), *c = numbers(count * vectors, 7);
  double unit = type == LAPIS_F64 ? 1e-15 : 6e-7;
  find_costs(ctx, type, d, count, vectors, c);
  for (int64_t s = 0; s < vectors; s++)
    for (int64_t i = 0; i < count; i++) {
      double sum = half[i], size = fabs(half[i]);
      for (int64_t a = 0; a < d; a++) {
        sum -= f[i * d + a] * m[s * d + a];
        size += fabs(f[i * d + a] * m[s * d + a]);
      }
      assert_true(fabs(c[s * count + i] - sum) <= 4 * unit * size);
    }
  free(f);
  free(m);
  free(half);
  free(c);
}

/* Where both fuse, the width of the registers does not show. */
static void wide_products_have_the_same_bits(void **state)
{
  enum { D = 50, COUNT = 301, VECTORS = 7 };
  lapis_ctx *ctx = lapis_ctx_new();
  static double first[COUNT * VECTORS], next[COUNT * VECTORS];
  for (int t = 0; t < 2; t++) {
    lapis_dtype type = t == 0 ? LAPIS_F64 : LAPIS_F32;
    if (lapis_ctx_set(ctx, "kernels", "avx512") != LAPIS_OK) break;
    find_costs(ctx, type, D, COUNT, VECTORS, first);
    assert_int_equal(lapis_ctx_set(ctx, "kernels", "avx2"), LAPIS_OK);
    find_costs(ctx, type, D, COUNT, VECTORS, next);
    assert_memory_equal(first, next, sizeof first);
  }
  lapis_ctx_free(ctx);
}

/* The pass of robust PCA: no width rounds otherwise than another. */
static void check_l1_step(la_pair *p, int64_t m, int64_t n, double *kept,
                          double kept_sums[6], bool first)
{
  double *x = numbers(m * n, 8), *a = numbers(m * n, 9), sums[6], slow[6];
  double *s = numbers(m * n, 10), *w = numbers(m * n, 11);
  double *s2 = numbers(m * n, 10), *w2 = numbers(m * n, 11);
  la_array X = la_wrap(x, m, n), A = la_wrap(a, m, n), S = la_wrap(s, m, n);
  la_array W = la_wrap(w, m, n), S2 = la_wrap(s2, m, n), W2 = la_wrap(w2, m, n);
  la_l1 how = {.t = 0.7, .relax = 1.6, .rescale = 0.4};
  size_t size = (size_t)(m * n) * sizeof *w;
  for (int64_t i = 0; i < m * n; i += 5) x[i] = NAN;
  la *fast = &p->fast, *reference = &p->slow;
  assert_int_equal(fast->ops->l1_step(fast, &how, &X, &A, &S, &W, sums),
                   LAPIS_OK);
  assert_int_equal(
      reference->ops->l1_step(reference, &how, &X, &A, &S2, &W2, slow),
      LAPIS_OK);
  assert_true(furthest(w, w2, m * n) <= 1e-14);
  assert_true(furthest(s, s2, m * n) <= 1e-14);
  for (int k = 0; k < 6; k++)
    assert_true(fabs(sums[k] - slow[k]) <= 1e-12 * (fabs(slow[k]) + 1));
  if (first) memcpy(kept, w, size), memcpy(kept_sums, sums, sizeof sums);
  assert_memory_equal(w, kept, size);
  assert_memory_equal(sums, kept_sums, sizeof sums);
  double *all[] = {x, a, s, w, s2, w2};
  for (int i = 0; i < 6; i++) free(all[i]);
}

/* ---- eigenvalues of small matrices, and A'A ------------------------------*/
/* normal; falling over 300 decades; the same number many times; rank one; one
 * number; none; so small, so large that squares vanish or overflow; two blocks
 * with next to nothing between them. */
enum { NORMAL, GRADED, EQUAL, RANK_ONE, ONE, ZERO, TINY, HUGE_, APART, KINDS };
static double entry_of(int kind, int64_t i, int64_t j, const double *v)
{
  double x = v[i] * v[j] + (i == j) + 0.1 * (v[i] + v[j]);
  switch (kind) {
  case GRADED:
    return x * pow(10, -5 * (double)(i + j));
  case EQUAL:
    return (i == j) * 2 + (i == j && i % 7 == 0);
  case RANK_ONE:
    return v[i] * v[j];
  case ONE:
    return (i == 0 && j == 0) * -3.0;
  case ZERO:
    return 0;
  case TINY:
    return x * 1e-250;
  case HUGE_:
    return x * 1e150;
  case APART:
    return (i < 5) == (j < 5) ? x : 1e-170;
  default:
    return x;
  }
}

/* |C Q - Q L|, |Q'Q - I| and the trace, from C alone. */
static void check_eigh(la_pair *p, int64_t n, int kind)
{
  double *v = numbers(n, 12), *c = numbers(n * n, 0), *kept = numbers(n * n, 0);
  double *q = numbers(n * n, 0), *w = numbers(n, 0), most = 0;
  la_array C = la_wrap(c, n, n), Q = la_wrap(q, n, n);
  int64_t count;
  for (int64_t i = 0; i < n * n; i++) {
    c[i] = kept[i] = entry_of(kind, i % n, i / n, v);
    most = fmax(most, fabs(c[i]));
  }
  la *h = &p->fast;
  assert_int_equal(h->ops->eigh(h, &C, -INFINITY, w, &Q, &count), LAPIS_OK);
  assert_int_equal(count, n);
  double bound = 1e-15 * (double)(n + 5);
  for (int64_t k = 0; k < n; k++) {
    if (k > 0) assert_true(w[k] <= w[k - 1]);
    for (int64_t i = 0; i < n; i++) {
      double sum = -w[k] * q[k * n + i], turned = -(double)(i == k);
      for (int64_t j = 0; j < n; j++) {
        sum += kept[j * n + i] * q[k * n + j];
        turned += q[i * n + j] * q[k * n + j];
      }
      assert_true(fabs(sum) <= bound * (double)n * most);
      assert_true(fabs(turned) <= 4 * bound);
    }
  }
  free(v), free(c), free(kept), free(q), free(w);
}

static void check_gram(la_pair *p, int64_t m, int64_t n)
{
  double *a = numbers(m * n, 13), *c = numbers(n * n, 0);
  la_array A = la_wrap(a, m, n), C = la_wrap(c, n, n);
  la *h = &p->fast;
  assert_int_equal(h->ops->syrk(h, LA_T, &A, &C), LAPIS_OK);
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++) {
      double sum = 0;
      for (int64_t k = 0; k < m; k++) sum += a[i * m + k] * a[j * m + k];
      assert_true(fabs(c[j * n + i] - sum) <= 1e-14 * (double)(m + 10));
      assert_true(c[j * n + i] == c[i * n + j]);
    }
  free(a), free(c);
}

static void every_width_answers_as_the_reference(void **state)
{
  la_pair p = la_pair_open();
  int met = 0;
  enum { M = 43, N = 21 };
  double kept[M * N], kept_sums[6];
  for (int i = 0; i < NAMES; i++) {
    if (lapis_ctx_set(p.ctx, "kernels", widths[i]) != LAPIS_OK) continue;
    met++;
    assert_string_equal(lapis_ctx_kernels(p.ctx), widths[i]);
    for (int64_t cols = 1; cols <= 33; cols += cols < 9 ? 1 : 8) {
      check_gram_times(&p, LA_N, 53, 37, cols);
      check_gram_times(&p, LA_N, 300, 70, cols);
      check_gram_times(&p, LA_T, 613, 59, cols);
    }
    for (int64_t cols = 1; cols <= 9; cols++) {
      check_skinny(&p, LA_N, 613, 59, cols, -1, 1);
      check_skinny(&p, LA_N, 512, 67, cols, 1, 0);
      check_skinny(&p, LA_T, 613, 59, cols, 1, 0);
      check_skinny(&p, LA_T, 65, 509, cols, 1, 1);
    }
    check_l1_step(&p, M, N, kept, kept_sums, met == 1);
    check_gram_times(&p, LA_N, 1, 1, 1);
    check_gram_times(&p, LA_N, 7, 300, 3);
    check_gram_times(&p, LA_N, 0, 4, 2);
    for (int64_t vectors = 1; vectors <= 7; vectors++) {
      check_products(p.ctx, LAPIS_F64, 19, 45, vectors);
      check_products(p.ctx, LAPIS_F32, 19, 300, vectors);
    }
    for (int64_t n = 1; n <= 70; n += n < 20 ? 1 : 7)
      for (int kind = 0; kind < KINDS; kind++) check_eigh(&p, n, kind);
    for (int64_t n = 1; n <= 33; n += 3) {
      check_gram(&p, 8 * n, n);
      check_gram(&p, 501, n);
    }
  }
  assert_true(met >= 1);
  lapis_ctx_free(p.ctx);
}

/* Threads of a parallel region have no context to fail in. */
static void products_need_no_context(void **state)
{
  check_products(NULL, LAPIS_F64, 19, 45, 7);
}

static void what_the_processor_lacks_is_refused(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  const char *widest = lapis_ctx_kernels(ctx);
  assert_int_equal(lapis_ctx_set(ctx, "kernels", "mmx"), LAPIS_EINVAL);
  assert_non_null(strstr(lapis_ctx_error(ctx), "avx512"));
  for (int i = 0; i < NAMES; i++) {
    if (lapis_ctx_set(ctx, "kernels", widths[i]) == LAPIS_OK) continue;
    assert_non_null(strstr(lapis_ctx_error(ctx), widths[i]));
    assert_non_null(strstr(lapis_ctx_error(ctx), "auto"));
  }
  assert_int_equal(lapis_ctx_set(ctx, "kernels", "auto"), LAPIS_OK);
  assert_string_equal(lapis_ctx_kernels(ctx), widest);
  lapis_ctx_free(ctx);
}

int test_width(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_width_answers_as_the_reference),
      cmocka_unit_test(wide_products_have_the_same_bits),
      cmocka_unit_test(products_need_no_context),
      cmocka_unit_test(what_the_processor_lacks_is_refused),
  };
  return run_cases(tests, NULL, NULL);
}
