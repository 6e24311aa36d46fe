/* fit.c - lapis fit METHOD [DATA]: learn, or solve. */
#include <math.h>
#include <stdlib.h>

#include "cli.h"

static const cli_option options[] = {
    {"X", 'X', "FILE", "features: .npy .csv .tsv .npz:NAME, a row a sample"},
    {"Y", 'Y', "FILE", "targets, NaN where unknown"},
    {"P", 'P', "FILE", "privileged features"},
    {"G", 'G', "FILE", "group of each sample: bag, subject, image"},
    {"target", 0, "COL,..", "columns of a table that are targets"},
    {"id", 0, "COL", "column of a table that names the samples"},
    {"header", 0, "yes|no", "whether a table has a header (default: find out)"},
    {"output", 'o', "F.npz", "write the result: scores, labels, low_rank, ..."},
    {NULL, 0, NULL, NULL}};

static void print_text(cli *c, const lapis_solver *s, const lapis_data *data)
{
  const lapis_info *info = lapis_result_info(s);
  printf("%s: %lld samples of %lld features", c->method->name,
         (long long)data->X.cols, (long long)data->X.rows);
  if (data->Y.rows > 0)
    printf(", %lld target%s", (long long)data->Y.rows,
           data->Y.rows > 1 ? "s" : "");
  printf("; missing: %lld features, %lld targets\n",
         (long long)lapis_mat_missing(&data->X),
         (long long)lapis_mat_missing(&data->Y));
  printf("%s after %lld iterations, %.2f s (%.2f s in singular values)\n",
         lapis_status_name(info->status), (long long)info->iterations,
         info->seconds, info->svd_seconds);
  printf("objective %.10g  dual %.10g  gap %.1e  rank %lld\n", info->objective,
         info->dual, info->gap, (long long)info->rank);
}

static void warn_if_stopped(cli *c, const lapis_info *info)
{
  if (info->status == LAPIS_OK || c->quiet) return;
  cli_wipe_bar(c);
  fprintf(stderr, "lapis: %s: stopped before the tolerance was met (%s)\n",
          c->method->name, lapis_status_name(info->status));
}

static int report(cli *c, const lapis_solver *s, const lapis_dataset *ds)
{
  const lapis_data *data = lapis_dataset_data(ds);
  const char *output = args_get(&c->args, "output");
  const lapis_info *info = lapis_result_info(s);
  cli_wipe_bar(c);
  warn_if_stopped(c, info);
  if (output != NULL) {
    lapis_status status = result_write(c, s, ds, output);
    if (status < 0) return cli_fail_status(c, status);
  }
  if (c->json)
    print_json(run_json(c, c->method, s, data));
  else
    print_text(c, s, data);
  return cli_exit_code(c, info->status);
}

static int fit(cli *c, const lapis_dataset *ds, const void *settings)
{
  lapis_solver *s;
  lapis_status status =
      lapis_solver_new(c->ctx, c->method, lapis_dataset_data(ds), settings, &s);
  if (status >= 0) status = lapis_solve(s);
  int code = status < 0 ? cli_fail_status(c, status) : report(c, s, ds);
  lapis_solver_free(s);
  return code;
}

static int run(cli *c)
{
  void *settings = NULL;
  lapis_dataset *ds = NULL;
  int code = settings_from_args(c, &settings);
  if (code == EXIT_DONE) code = check_writable(c, args_get(&c->args, "output"));
  if (code == EXIT_DONE) code = dataset_from_args(c, &ds);
  if (code == EXIT_DONE) code = fit(c, ds, settings);
  lapis_dataset_free(ds);
  free(settings);
  return code;
}

const cli_verb verb_fit = {"fit",
                           "fit METHOD [DATA] [options]",
                           "learn (mc and roml: solve)",
                           options,
                           true,
                           run};
