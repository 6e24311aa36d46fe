/* Uses what an installation promises: a solve, its certificate, a file. */
#include <lapis/choose.h>
#include <lapis/files.h>
#include <stdio.h>

enum { D = 4, N = 6 };

static int solve(lapis_ctx *ctx, const lapis_data *data, const char *path)
{
  lapis_solver *s;
  lapis_mat low_rank;
  lapis_status status = lapis_rpca_new(ctx, data, NULL, &s);
  if (status >= 0) status = lapis_solve(s);
  if (status >= 0) status = lapis_result_get(s, "low_rank", &low_rank);
  double gap = status >= 0 ? lapis_result_info(s)->gap : 1;
  lapis_named item = {.name = "low_rank", .mat = low_rank};
  if (status >= 0) status = lapis_arrays_write(ctx, path, "npz", &item, 1);
  lapis_solver_free(s);
  return status >= 0 && gap < 1e-3 ? 0 : 1;
}

int main(int argc, char **argv)
{
  double x[D * N];
  for (int j = 0; j < N; j++)
    for (int i = 0; i < D; i++) x[j * D + i] = (i + 1) * (j - 2.5);
  x[7] += 9;
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_data data = {.X = lapis_mat_f64(x, D, N)};
  int code = argc == 2 ? solve(ctx, &data, argv[1]) : 2;
  if (code != 0) fprintf(stderr, "consumer: %s\n", lapis_ctx_error(ctx));
  if (code == 0) printf("lapis %s\n", lapis_version());
  lapis_ctx_free(ctx);
  return code;
}
