/* assign.c - lapis assign COST.npy: rectangular linear assignment. */
#include <stdlib.h>

#include "command/command.h"
#include "lapis/methods.h"

static const cli_option options[] = {
    {"output", 'o', "F.npz",
     "write the result: match (a column for each row, from 0), price; a row a "
     "problem where there are several"},
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

/* Problems of one file: costs of two axes are one, of three several. */
typedef struct problems {
  bool several; /* three axes */
  int64_t count, rows, columns;
  lapis_mat *cost;        /* count */
  lapis_assignment *each; /* count; their arrays follow one another in: */
  int64_t *match;         /* count x rows */
  double *price;          /* count x columns */
} problems;

static void free_problems(problems *p)
{
  free(p->cost);
  free(p->each);
  free(p->match);
  free(p->price);
}

/* cost: floats, all of them, as `shape` of `axes` says. */
static int open_problems(const lapis_mat *cost, int axes, const int64_t *shape,
                         problems *p)
{
  *p = (problems){.count = 1, .rows = cost->cols, .columns = cost->rows};
  if (axes == 3)
    *p = (problems){true, shape[0], shape[1], shape[2], NULL, NULL, NULL, NULL};
  size_t count = (size_t)p->count;
  size_t size = cost->dtype == LAPIS_F64 ? sizeof(double) : sizeof(float);
  p->cost = calloc(count + 1, sizeof *p->cost);
  p->each = calloc(count + 1, sizeof *p->each);
  p->match = calloc(count * (size_t)p->rows + 1, sizeof *p->match);
  p->price = calloc(count * (size_t)p->columns + 1, sizeof *p->price);
  if (p->cost == NULL || p->each == NULL || p->match == NULL ||
      p->price == NULL)
    return cli_fail(EXIT_FAILED, "out of memory");
  for (int64_t k = 0; k < p->count; k++) {
    p->cost[k] = *cost;
    p->cost[k].cols = p->rows;
    p->cost[k].rows = p->columns;
    if (p->several) p->cost[k].ld = p->columns;
    p->cost[k].val =
        (char *)cost->val + (size_t)(k * p->rows * p->columns) * size;
    p->each[k].match = p->match + k * p->rows;
    p->each[k].price = p->price + k * p->columns;
  }
  return EXIT_DONE;
}

static lapis_status write_result(cli *c, const problems *p)
{
  const char *path = args_get(&c->args, "output");
  if (path == NULL) return LAPIS_OK;
  bool one = !p->several;
  lapis_named item[] = {{.name = "match",
                         .mat = lapis_mat_i64(p->match, p->rows, p->count),
                         .flat = one},
                        {.name = "price",
                         .mat = lapis_mat_f64(p->price, p->columns, p->count),
                         .flat = one}};
  if (one) {
    item[0].mat = lapis_mat_i64(p->match, 1, p->rows);
    item[1].mat = lapis_mat_f64(p->price, 1, p->columns);
  }
  return lapis_arrays_write(c->ctx, path, "npz", item, 2);
}

static void print_result(cli *c, const problems *p)
{
  double objective = 0;
  for (int64_t k = 0; k < p->count; k++) objective += p->each[k].objective;
  if (!c->json) {
    printf("assign: ");
    if (p->several) printf("%lld problems of ", (long long)p->count);
    printf("%lld row%s, %lld column%s\nobjective %.17g\n", (long long)p->rows,
           cli_s(p->rows), (long long)p->columns, cli_s(p->columns), objective);
    return;
  }
  lapis_json *to = lapis_json_object(), *info = lapis_json_object();
  lapis_json *data = lapis_json_object();
  lapis_json_put_text(to, "lapis", lapis_version());
  lapis_json_put_text(to, "method", "assign");
  lapis_json_put_text(to, "status", lapis_status_name(LAPIS_OK));
  if (p->several) lapis_json_put_integer(data, "problems", p->count);
  lapis_json_put_integer(data, "rows", p->rows);
  lapis_json_put_integer(data, "columns", p->columns);
  lapis_json_put(to, "data", data);
  lapis_json_put_number(to, "objective", objective);
  lapis_json_put_number(info, "objective", objective);
  lapis_json_put_integer(info, "threads", lapis_ctx_threads(c->ctx));
  lapis_json_put(to, "info", info);
  print_json(to);
}

static int assign(cli *c, const lapis_array *a, const lapis_mat *cost)
{
  problems p;
  int code = open_problems(cost, a->axes, a->shape, &p);
  lapis_status s = LAPIS_OK;
  if (code == EXIT_DONE)
    s = lapis_assign_batch(c->ctx, p.count, p.cost, p.each);
  if (code == EXIT_DONE && s >= 0) s = write_result(c, &p);
  if (s < 0) code = cli_fail_status(c, s);
  if (code == EXIT_DONE) print_result(c, &p);
  free_problems(&p);
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
    return cli_fail(EXIT_MISUSE, "assign: name one file of costs, a row for "
                                 "each worker and a column for each task");
  int code = check_writable(c, args_get(&c->args, "output"));
  if (code != EXIT_DONE) return code;
  lapis_arrays all;
  lapis_status s = lapis_arrays_read(c->ctx, c->args.word[0], &all);
  if (s < 0) return cli_fail_status(c, s);
  const lapis_array *a = find_cost(&all);
  lapis_mat cost;
  double *owned = NULL;
  if (a == NULL || (a->axes != 2 && a->axes != 3))
    code = cli_fail(EXIT_INPUT,
                    "%s: a matrix is needed (or several: three axes), called "
                    "cost if the file holds more than one array",
                    c->args.word[0]);
  if (code == EXIT_DONE) code = as_floats(&a->mat, &owned, &cost);
  if (code == EXIT_DONE) code = assign(c, a, &cost);
  free(owned);
  lapis_arrays_free(&all);
  return code;
}

const cli_verb verb_assign = {
    .name = "assign",
    .synopsis = "assign COST.npy [--json] [-o F.npz]",
    .help =
        "give each row a column of its own at the least total cost (linear "
        "assignment; rows <= columns; costs of three axes: several problems)",
    .options = options,
    .run = run};
