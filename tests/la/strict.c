/* strict.c - the backend that forbids to read what a device would keep to
 * itself: it computes as openblas does, refuses the host's memory, and whoever
 * follows a pointer into its arrays crashes and is told where. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device_case.h"

enum { M = 7, N = 5 };

/* Standard error of a child that reads an entry of A; its end. */
static int read_in_child(const la_array *A, char *text, size_t size)
{
  int end[2], status;
  assert_int_equal(pipe(end), 0);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    dup2(end[1], 2);
    (void)signal(SIGALRM, SIG_DFL);
    volatile double *p = A->data;
    _exit(p[0] > 0);
  }
  close(end[1]);
  ssize_t n = read(end[0], text, size - 1);
  text[n > 0 ? n : 0] = '\0';
  close(end[0]);
  assert_int_equal(waitpid(child, &status, 0), child);
  return status;
}

static void following_a_pointer_crashes(void **state)
{
  la h = on("strict");
  char text[400];
  /* cmocka's own handler would jump out of the crash */
  struct sigaction cmocka, none = {.sa_handler = SIG_DFL};
  (void)sigaction(SIGSEGV, &none, &cmocka);
  la_array A = la_case_new(&h, M, N), part = la_cols(&A, 2, 1);
  int status = read_in_child(&part, text, sizeof text);
  OK(la_zero(&h, &A)); /* and it is still usable */
  bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
  bool exited = WIFEXITED(status) && WEXITSTATUS(status) > 1; /* a sanitizer */
  assert_true(killed || exited);
  assert_non_null(strstr(text, "a 7 x 5 array was followed, at byte 112"));
  h.ops->free(&h, &A);
  (void)sigaction(SIGSEGV, &cmocka, NULL);
}

static void memory_of_the_host_is_refused(void **state)
{
  la h = on("strict");
  double x[M * N] = {0};
  la_array A = la_case_new(&h, M, N), B = la_wrap(x, M, N);
  assert_int_equal(la_copy(&h, &A, &B), LAPIS_EINVAL);
  check_says(lapis_ctx_error(ctx), "memory");
  OK(la_copy(&h, &A, &A));
  h.ops->free(&h, &A);
}

static void put(la *h, const double *x, la_array *A)
{
  lapis_mat host = lapis_mat_f64((double *)(uintptr_t)x, A->rows, A->cols);
  OK(h->ops->upload(h, &host, A));
}

/* Views travel alone: what is around them stays. */
static void views_travel(void **state)
{
  la h = on("strict");
  double x[M * N], y[M * N];
  for (int k = 0; k < M * N; k++) x[k] = k;
  la_array A = la_case_new(&h, M, N), rows = la_rows(&A, 2, 3);
  la_array corner = la_cols(&rows, 1, 2);
  lapis_mat seen, all = lapis_mat_f64(y, M, N);
  put(&h, x, &A);
  OK(la_borrow(&h, &corner, &seen));
  for (int j = 0; j < 2; j++)
    for (int i = 0; i < 3; i++) {
      double *at = (double *)seen.val + j * seen.ld + i;
      assert_int_equal((int)*at, (j + 1) * M + i + 2);
      *at = -1;
    }
  OK(la_give_back(&h, &seen, &corner));
  OK(h.ops->download(&h, &A, &all));
  for (int j = 0; j < N; j++)
    for (int i = 0; i < M; i++) {
      bool inside = j >= 1 && j < 3 && i >= 2 && i < 5;
      assert_int_equal((int)y[j * M + i], inside ? -1 : j * M + i);
    }
  h.ops->free(&h, &A);
}

/* The same bits as the backend inside. */
static void it_computes_as_openblas(void **state)
{
  la h[2] = {on("openblas"), on("strict")};
  uint64_t seed = 3;
  double x[M * N], rows[M], out[2][M * N], gram[2][N * N], values[2][N], dot[2];
  for (int k = 0; k < M * N; k++) x[k] = check_normal(&seed);
  for (int k = 0; k < M; k++) rows[k] = check_normal(&seed);
  for (int b = 0; b < 2; b++) {
    la_array A = la_case_new(&h[b], M, N), G = la_case_new(&h[b], N, N);
    la_array Q = la_case_new(&h[b], N, N);
    lapis_mat to = lapis_mat_f64(out[b], M, N),
              g = lapis_mat_f64(gram[b], N, N);
    int64_t count;
    put(&h[b], x, &A);
    OK(h[b].ops->scale_rows(&h[b], rows, &A));
    OK(h[b].ops->add_to_cols(&h[b], rows, &A));
    OK(h[b].ops->syrk(&h[b], LA_T, &A, &G));
    OK(h[b].ops->dot(&h[b], &G, &G, &dot[b]));
    OK(h[b].ops->download(&h[b], &G, &g));
    OK(h[b].ops->eigh(&h[b], &G, -INFINITY, values[b], &Q, &count));
    OK(h[b].ops->qr(&h[b], &A, NULL));
    OK(h[b].ops->download(&h[b], &A, &to));
    LA_RELEASE(&h[b], &A, &G, &Q);
  }
  assert_memory_equal(out[0], out[1], sizeof out[0]);
  assert_memory_equal(gram[0], gram[1], sizeof gram[0]);
  assert_memory_equal(values[0], values[1], sizeof values[0]);
  assert_memory_equal(&dot[0], &dot[1], sizeof dot[0]);
}

/* A new entry of the table needs its door. */
static void every_entry_is_there(void **state)
{
  const void *entry[sizeof(la_backend) / sizeof(void *)];
  la h = on("strict");
  memcpy(entry, h.ops, sizeof entry);
  for (size_t i = 0; i < sizeof entry / sizeof *entry; i++)
    assert_non_null(entry[i]);
}

int test_strict(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(following_a_pointer_crashes),
      cmocka_unit_test(memory_of_the_host_is_refused),
      cmocka_unit_test(views_travel),
      cmocka_unit_test(it_computes_as_openblas),
      cmocka_unit_test(every_entry_is_there),
  };
  ctx = lapis_ctx_new();
  int failed = run_cases(tests, NULL, NULL);
  lapis_ctx_free(ctx);
  return failed;
}
