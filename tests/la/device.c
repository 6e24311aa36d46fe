/* device.c - what the library asks of a plug-in for devices: here one of
 * the test's own, in the host's memory, which counts what is taken and
 * returned, and fails where it is told to. */
#include <stdlib.h>
#include <string.h>

#include "device_case.h"
#include "la/device/device_api.h"
#include "parallel/plugin.h"

enum { MOST_Y = 2 };

static struct {
  int opened, closed, buffers; /* buffers: that are taken now */
  int launches, products;
  int64_t widest; /* y of a launch */
  bool no_memory, absent;
  device_status product; /* what multiply answers */
} seen;

static int list(int i, char *text, size_t size)
{
  (void)text;
  (void)size;
  return i < 0;
}

static void *open_one(int i, const char *cache, char *why, size_t size)
{
  (void)cache;
  if (i == 99) snprintf(why, size, "there is no device 99");
  if (i == 99) return NULL;
  seen.opened++;
  return malloc(1);
}

static void close_one(void *self)
{
  seen.closed++;
  free(self);
}

static const char *sentence(void *self)
{
  (void)self;
  return "it has no memory left";
}

static device_status take(void *self, size_t bytes, void **out)
{
  (void)self;
  *out = seen.no_memory ? NULL : calloc(1, bytes);
  seen.buffers += *out != NULL;
  return *out != NULL ? DEVICE_DONE : DEVICE_NO_MEMORY;
}

static void release(void *self, void *buffer, size_t bytes)
{
  (void)self;
  (void)bytes;
  seen.buffers -= buffer != NULL;
  free(buffer);
}

static double *at(const device_block *b, int64_t i, int64_t j)
{
  return (double *)b->buffer + b->first + j * b->ld + i;
}

static device_status put(void *self, const device_block *to, const double *from,
                         int64_t ld)
{
  (void)self;
  for (int64_t j = 0; j < to->cols; j++)
    for (int64_t i = 0; i < to->rows; i++) *at(to, i, j) = from[j * ld + i];
  return DEVICE_DONE;
}

static device_status get(void *self, const device_block *from, double *to,
                         int64_t ld)
{
  (void)self;
  for (int64_t j = 0; j < from->cols; j++)
    for (int64_t i = 0; i < from->rows; i++) to[j * ld + i] = *at(from, i, j);
  return DEVICE_DONE;
}

static device_block block(const device_arg *a)
{
  return (device_block){a[0].buffer, a[1].whole, 0, 0, a[2].whole};
}

/* The kernel gemm, in the tiles that the groups reach and no others. */
static void gemm(int64_t x, int64_t y, const device_arg *a)
{
  int64_t m = a[2].whole, n = a[3].whole, depth = a[4].whole;
  device_block A = block(a + 6), B = block(a + 9), C = block(a + 13);
  for (int64_t j = 0; j < n && j < y * DEVICE_TILE; j++)
    for (int64_t i = 0; i < m && i < x * DEVICE_TILE; i++) {
      double sum = 0;
      for (int64_t k = 0; k < depth; k++)
        sum += *(a[0].whole ? at(&A, k, i) : at(&A, i, k)) *
               *(a[1].whole ? at(&B, j, k) : at(&B, k, j));
      double before = a[12].real == 0 ? 0 : a[12].real * *at(&C, i, j);
      *at(&C, i, j) = a[5].real * sum + before;
    }
}

static device_status run(void *self, const char *kernel, int64_t x, int64_t y,
                         const device_arg *args, int count)
{
  (void)self;
  seen.launches++;
  if (y > seen.widest) seen.widest = y;
  if (strcmp(kernel, "gemm") != 0) return DEVICE_FAILED;
  assert_int_equal(count, 17);
  gemm(x, y, args);
  return DEVICE_DONE;
}

static device_status multiply(void *self, const device_product *p)
{
  (void)self;
  (void)p;
  seen.products++;
  return seen.product;
}

static const device_api api = {.version = DEVICE_API_VERSION,
                               .name = "opencl",
                               .list = list,
                               .open = open_one,
                               .close = close_one,
                               .describe = sentence,
                               .why = sentence,
                               .alloc = take,
                               .free = release,
                               .write = put,
                               .read = get,
                               .multiply = multiply,
                               .most_y = MOST_Y,
                               .run = run};

static bool stands_in;
const void *__real_base_plugin(const base_plugin_kind *k, char *why,
                               size_t size);
const void *__wrap_base_plugin(const base_plugin_kind *k, char *why,
                               size_t size);
const void *__wrap_base_plugin(const base_plugin_kind *k, char *why,
                               size_t size)
{
  if (!stands_in) return __real_base_plugin(k, why, size);
  if (seen.absent) snprintf(why, size, "the plug-in is not installed");
  if (seen.absent) return NULL;
  assert_string_equal(k->symbol, "lapis_opencl");
  return &api;
}

/* ---- tests --------------------------------------------------------------*/
/* What a failed opening took, the device first of all, it returns; the next one
 * starts afresh. */
static void failed_openings_leave_nothing(void **state)
{
  memset(&seen, 0, sizeof seen);
  seen.absent = true;
  refused("opencl:1", LAPIS_ENOTBUILT, "not installed");
  seen.absent = false;
  refused("opencl:99", LAPIS_EDEVICE, "there is no device 99");
  assert_int_equal(seen.closed, 0);
  seen.no_memory = true;
  for (int again = 1; again < 4; again++) {
    refused("opencl:1", LAPIS_EDEVICE, "it has no memory left");
    assert_int_equal(seen.opened, again);
    assert_int_equal(seen.closed, again);
  }
  assert_int_equal(seen.buffers, 0);
  seen.no_memory = false;
  (void)on("opencl:1");
  assert_int_equal(seen.opened - seen.closed, 1);
  (void)on("opencl:1"); /* the same one */
  assert_int_equal(seen.opened - seen.closed, 1);
}

static la_array filled(la *h, int64_t rows, int64_t cols, double *x)
{
  static uint64_t seed = 3;
  la_array A = la_case_new(h, rows, cols);
  lapis_mat from = lapis_mat_f64(x, rows, cols);
  for (int64_t k = 0; k < rows * cols; k++) x[k] = check_normal(&seed);
  OK(h->ops->upload(h, &from, &A));
  return A;
}

/* C = 2 A op(B) - C of the device against the processor, of one shape. */
static void product_is_right(la *h, la_trans tb, int64_t m, int64_t n,
                             int64_t k)
{
  static double a[64 * 300], b[64 * 300], c[64 * 300], got[64 * 300];
  la_array A = filled(h, m, k, a);
  la_array B = filled(h, tb == LA_N ? k : n, tb == LA_N ? n : k, b);
  la_array C = filled(h, m, n, c);
  la_array a1 = la_wrap(a, m, k), b1 = la_wrap(b, B.rows, B.cols);
  la_array c1 = la_wrap(c, m, n);
  lapis_mat to = lapis_mat_f64(got, m, n);
  la host = la_beside(h);
  OK(h->ops->gemm(h, LA_N, tb, 2, &A, &B, -1, &C));
  OK(host.ops->gemm(&host, LA_N, tb, 2, &a1, &b1, -1, &c1));
  OK(h->ops->download(h, &C, &to));
  for (int64_t i = 0; i < m * n; i++) CHECK_NEAR(got[i], c[i], 1e-12);
  LA_RELEASE(h, &A, &B, &C);
}

/* A launch has a second side of two tiles here, of 65535 on a real device. */
static void wide_products_go_in_slabs(void **state)
{
  la h = on("opencl:1");
  seen.product = DEVICE_ABSENT;
  seen.launches = 0;
  product_is_right(&h, LA_N, 20, 5 * DEVICE_TILE - 20, 7);
  assert_int_equal(seen.launches, 3);
  product_is_right(&h, LA_T, 20, 5 * DEVICE_TILE - 20, 7);
  product_is_right(&h, LA_N, 20, 2 * DEVICE_TILE, 7);
  assert_int_equal(seen.launches, 7);
  assert_int_equal(seen.widest, MOST_Y);
}

static void wide_gram_matrices_go_in_slabs(void **state)
{
  enum { N = 2 * DEVICE_TILE + 9, M = 3 };
  static double a[M * N], got[N * N];
  la h = on("opencl:1");
  seen.product = DEVICE_ABSENT;
  seen.launches = 0;
  la_array A = filled(&h, M, N, a), C = la_case_new(&h, N, N);
  lapis_mat to = lapis_mat_f64(got, N, N);
  OK(h.ops->syrk(&h, LA_T, &A, &C));
  OK(h.ops->download(&h, &C, &to));
  assert_int_equal(seen.launches, 2);
  for (int64_t j = 0; j < N; j++)
    for (int64_t i = 0; i < N; i++) {
      double sum = 0;
      for (int64_t k = 0; k < M; k++) sum += a[i * M + k] * a[j * M + k];
      CHECK_NEAR(got[j * N + i], sum, 1e-13);
    }
  LA_RELEASE(&h, &A, &C);
}

/* A plug-in that has a better product is asked first; its failure is one. */
static void the_plug_in_may_multiply(void **state)
{
  static double x[25];
  la h = on("opencl:1");
  la_array A = filled(&h, 5, 5, x), C = la_case_new(&h, 5, 5);
  seen.launches = seen.products = 0;
  seen.product = DEVICE_DONE;
  OK(h.ops->gemm(&h, LA_N, LA_N, 1, &A, &A, 0, &C));
  OK(h.ops->syrk(&h, LA_T, &A, &C));
  assert_int_equal(seen.products, 2);
  assert_int_equal(seen.launches, 0);
  seen.product = DEVICE_NO_MEMORY;
  assert_int_equal(h.ops->gemm(&h, LA_N, LA_N, 1, &A, &A, 0, &C), LAPIS_ENOMEM);
  check_says(lapis_ctx_error(ctx), "memory");
  assert_int_equal(seen.launches, 0);
  assert_int_equal(la_copy(&h, &A, &C), LAPIS_EDEVICE); /* no such kernel */
  LA_RELEASE(&h, &A, &C);
}

/* Too large for the device: the host's, and no word of it. */
static void what_does_not_fit_stays(void **state)
{
  enum { N = 1040 };
  static double a[N * N], c[N * N];
  la device = on("opencl:1"), h = la_beside(&device);
  la_array A = la_wrap(a, N, N), C = la_wrap(c, N, N);
  for (int64_t i = 0; i < N; i++) a[i * N + i] = 2;
  seen.no_memory = true;
  int buffers = seen.buffers;
  OK(la_syrk_there(&h, LA_N, &A, &C));
  seen.no_memory = false;
  assert_int_equal(seen.buffers, buffers);
  for (int64_t i = 0; i < N * N; i++) CHECK_NEAR(c[i], i % (N + 1) ? 0 : 4, 0);
}

int test_device(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(failed_openings_leave_nothing),
      cmocka_unit_test(wide_products_go_in_slabs),
      cmocka_unit_test(wide_gram_matrices_go_in_slabs),
      cmocka_unit_test(the_plug_in_may_multiply),
      cmocka_unit_test(what_does_not_fit_stays),
  };
  ctx = lapis_ctx_new();
  stands_in = true;
  int failed = run_cases(tests, NULL, NULL);
  stands_in = false;
  lapis_ctx_free(ctx);
  return failed;
}
