/* assign.c - lapis assign COST.npy: rectangular linear assignment. */
#include <stdlib.h>

#include "cli.h"
#include "lapis/lapis_ops.h"

static const cli_option options[] = {
    {"output", 'o', "F.npz",
     "write the result: match (a column for each row, from 0), price"},
    {NULL, 0, NULL, NULL}};

/* Costs of any numeric type as doubles; borrowed where they are floats. */
static int as_floats(const lapis_mat *from, double **owned, lapis_mat *to)
{
  *owned = NULL;
  *to = *from;
  if (from->dtype == LAPIS_F64 || from->dtype == LAPIS_F32) return EXIT_DONE;
  if (from->dtype == LAPIS_TEXT)
    return cli_fail(EXIT_INPUT, "assign: costs are numbers, not text");
  double *c = calloc((size_t)(from->rows * from->cols) + 1, sizeof *c);
  if (c == NULL) return cli_fail(EXIT_FAILED, "out of memory");
  for (int64_t j = 0; j < from->cols; j++)
    for (int64_t i = 0; i < from->rows; i++)
      c[j * from->rows + i] = lapis_mat_at(from, i, j);
  *owned = c;
  *to = lapis_mat_f64(c, from->rows, from->cols);
  return EXIT_DONE;
}

static lapis_status write_result(cli *c, const lapis_mat *cost,
                                 lapis_assignment *a)
{
  const char *path = args_get(&c->args, "output");
  if (path == NULL) return LAPIS_OK;
  lapis_named item[] = {{.name = "match",
                         .mat = lapis_mat_i64(a->match, 1, cost->cols),
                         .flat = true},
                        {.name = "price",
                         .mat = lapis_mat_f64(a->price, 1, cost->rows),
                         .flat = true}};
  return lapis_npz_write(c->ctx, path, item, 2);
}

static void print_result(cli *c, const lapis_mat *cost,
                         const lapis_assignment *a)
{
  if (!c->json) {
    printf("assign: %lld rows, %lld columns\nobjective %.17g\n",
           (long long)cost->cols, (long long)cost->rows, a->objective);
    return;
  }
  lapis_json *to = lapis_json_object(), *info = lapis_json_object();
  lapis_json *data = lapis_json_object();
  lapis_json_put_text(to, "lapis", lapis_version());
  lapis_json_put_text(to, "method", "assign");
  lapis_json_put_text(to, "status", lapis_status_name(LAPIS_OK));
  lapis_json_put_integer(data, "rows", cost->cols);
  lapis_json_put_integer(data, "columns", cost->rows);
  lapis_json_put(to, "data", data);
  lapis_json_put_number(to, "objective", a->objective);
  lapis_json_put_number(info, "objective", a->objective);
  lapis_json_put_integer(info, "threads", lapis_ctx_threads(c->ctx));
  lapis_json_put(to, "info", info);
  print_json(to);
}

static int assign(cli *c, const lapis_mat *cost)
{
  lapis_assignment a = {.objective = 0};
  a.match = calloc((size_t)cost->cols + 1, sizeof *a.match);
  a.price = calloc((size_t)cost->rows + 1, sizeof *a.price);
  int code = EXIT_DONE;
  if (a.match == NULL || a.price == NULL)
    code = cli_fail(EXIT_FAILED, "out of memory");
  lapis_status s = LAPIS_OK;
  if (code == EXIT_DONE) s = lapis_assign(c->ctx, cost, &a);
  if (code == EXIT_DONE && s >= 0) s = write_result(c, cost, &a);
  if (s < 0) code = cli_fail_status(c, s);
  if (code == EXIT_DONE) print_result(c, cost, &a);
  free(a.match);
  free(a.price);
  return code;
}

/* The member called cost, or the only one. */
static const lapis_array *find_cost(const lapis_arrays *all)
{
  const lapis_array *a = lapis_arrays_find(all, "cost");
  return a == NULL && all->count == 1 ? &all->item[0] : a;
}

static int run(cli *c)
{
  if (c->args.n_words != 1)
    return cli_fail(EXIT_MISUSE, "assign: name one file of costs");
  int code = check_writable(c, args_get(&c->args, "output"));
  if (code != EXIT_DONE) return code;
  lapis_arrays all;
  lapis_status s = lapis_arrays_read(c->ctx, c->args.word[0], &all);
  if (s < 0) return cli_fail_status(c, s);
  const lapis_array *a = find_cost(&all);
  lapis_mat cost;
  double *owned = NULL;
  if (a == NULL || a->axes != 2)
    code = cli_fail(EXIT_INPUT,
                    "%s: a matrix is needed, called cost if the "
                    "file holds more than one array",
                    c->args.word[0]);
  if (code == EXIT_DONE) code = as_floats(&a->mat, &owned, &cost);
  if (code == EXIT_DONE) code = assign(c, &cost);
  free(owned);
  lapis_arrays_free(&all);
  return code;
}

const cli_verb verb_assign = {
    .name = "assign",
    .synopsis = "assign COST.npy [--json] [-o F.npz]",
    .help = "rectangular linear assignment, rows <= columns",
    .options = options,
    .run = run};
