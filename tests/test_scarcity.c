/* Every k-th allocation of the library fails: no crash, no leak, no half-made
 * object, and a status that says so. */
#include <unistd.h>

#include "check.h"
#include "lapis/lapis_io.h"

/* The library allocates in one place only; the linker sends it here. */
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

static long countdown = -1; /* allocations until the one that fails */
static bool failed;

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
  if (countdown == 0) {
    failed = true;
    return NULL;
  }
  if (countdown > 0) countdown--;
  return __real_aligned_alloc(alignment, size);
}

typedef struct paths {
  char folder[64], in[96], out[96];
} paths;

static void prepare(paths *p)
{
  strcpy(p->folder, "/tmp/lapis-scarcity-XXXXXX");
  assert_non_null(mkdtemp(p->folder));
  snprintf(p->in, sizeof p->in, "%s/in.csv", p->folder);
  snprintf(p->out, sizeof p->out, "%s/out.npz", p->folder);
  FILE *f = fopen(p->in, "w");
  assert_non_null(f);
  fprintf(f, "name,a,b,c,class\n");
  uint64_t s = 1;
  for (int i = 0; i < 12; i++)
    fprintf(f, "n%d,%.3f,%.3f,,%s\n", i, check_uniform(&s), check_uniform(&s),
            i % 3 == 0   ? "x"
            : i % 3 == 1 ? "y"
                         : "z");
  fprintf(f, "last,1,1,1,\n");
  fclose(f);
}

static void clean_up(const paths *p)
{
  unlink(p->in);
  unlink(p->out);
  rmdir(p->folder);
}

static lapis_status solve_and_write(lapis_ctx *ctx, const lapis_data *data,
                                    const char *out)
{
  lapis_mc_settings set = lapis_mc_defaults();
  lapis_solver *s;
  lapis_mat scores;
  set.certificate = true;
  set.stop.max_iters = 130; /* history grows beyond its first allocation */
  set.stop.tol = 0;
  lapis_status status = lapis_mc_new(ctx, data, &set, &s);
  if (status < 0) {
    assert_null(s);
    return status;
  }
  status = lapis_solve(s);
  if (status >= 0) status = lapis_result_get(s, "scores", &scores);
  lapis_named item = {.name = "scores", .mat = scores};
  if (status >= 0) status = lapis_npz_write(ctx, out, &item, 1);
  lapis_solver_free(s);
  return status;
}

static lapis_status job(const paths *p)
{
  lapis_ctx *ctx = lapis_ctx_new();
  if (ctx == NULL) return LAPIS_ENOMEM;
  lapis_dataset *ds = NULL;
  lapis_table_options t = {.target = "class", .id = "name", .header = -1};
  lapis_status s = lapis_dataset_new(ctx, &ds);
  if (s >= 0) s = lapis_dataset_read(ds, p->in, &t);
  if (s >= 0) s = lapis_dataset_finish(ds);
  if (s >= 0) s = solve_and_write(ctx, lapis_dataset_data(ds), p->out);
  lapis_dataset_free(ds);
  lapis_ctx_free(ctx);
  return s;
}

static void fit_survives_scarcity(void **state)
{
  (void)state;
  paths p;
  prepare(&p);
  long k = 0;
  for (;; k++) {
    countdown = k;
    failed = false;
    lapis_status s = job(&p);
    countdown = -1;
    if (!failed) {
      assert_true(s >= 0);
      break;
    }
    if (s != LAPIS_ENOMEM) fail_msg("allocation %ld: status %d", k, s);
  }
  print_message("%ld allocations failed in turn\n", k);
  assert_true(k > 20);
  assert_true(job(&p) >= 0);
  clean_up(&p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(fit_survives_scarcity)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
