/* report.c - lapis report RESULT -o page.html: one page of what was found. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "lapis/lapis_ops.h"
#include "lapis/lapis_report.h"

static const cli_option options[] = {
    {"output", 'o', "F.html", "the page"},
    {"data", 0, "FILE", "what was fitted: X, whose missing entries are marked"},
    {"shape", 0, "HxW", "samples are pictures of H rows of W pixels"},
    {"first", 0, "N", "first sample that is drawn, from 1 (default 1)"},
    {"count", 0, "N", "samples that are drawn (default 8)"},
    {"title", 0, "TEXT", "heading (default: the name of RESULT)"},
    {NULL, 0, NULL, NULL}};

/* A whole number of at least low, and no more than fits a picture or a file
 * that can be read. */
static int read_count(cli *c, const char *name, int64_t low, int64_t *out)
{
  const char *text = args_get(&c->args, name);
  char *end;
  if (text == NULL) return EXIT_DONE;
  long long v = strtoll(text, &end, 10);
  if (end == text || *end != '\0' || v < low || v > 1000000000)
    return cli_fail(EXIT_MISUSE,
                    "report: --%s '%s' is no whole number of at least %lld",
                    name, text, (long long)low);
  *out = v;
  return EXIT_DONE;
}

static int read_shape(cli *c, lapis_report *to)
{
  const char *text = args_get(&c->args, "shape");
  char *end, *last;
  if (text == NULL) return EXIT_DONE;
  to->height = strtoll(text, &end, 10);
  to->width = *end == 'x' ? strtoll(end + 1, &last, 10) : 0;
  if (to->height < 1 || to->width < 1 || *last != '\0')
    return cli_fail(EXIT_MISUSE, "report: --shape '%s' is not HxW, as 32x32",
                    text);
  return EXIT_DONE;
}

static int read_options(cli *c, lapis_report *to)
{
  int64_t first = 1;
  int code = read_shape(c, to);
  if (code == EXIT_DONE) code = read_count(c, "first", 1, &first);
  if (code == EXIT_DONE) code = read_count(c, "count", 0, &to->count);
  to->first = first - 1;
  to->title = args_get(&c->args, "title");
  if (to->title == NULL) to->title = c->args.word[0];
  return code;
}

/* A numeric member of the result, or an empty view. */
static lapis_mat member(const lapis_arrays *all, const char *name)
{
  const lapis_array *a = lapis_arrays_find(all, name);
  bool numbers = a != NULL && a->mat.dtype == LAPIS_F64;
  return numbers ? a->mat : (lapis_mat){.cols = 0};
}

/* The input, where it was not given: the two parts together. */
static int add_parts(const lapis_report *r, double **owned, lapis_mat *out)
{
  int64_t d = r->clean.rows, n = r->clean.cols;
  if (r->removed.rows != d || r->removed.cols != n) return EXIT_DONE;
  *owned = malloc((size_t)(d * n) * sizeof **owned);
  if (*owned == NULL) return cli_fail(EXIT_FAILED, "out of memory");
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < d; i++)
      (*owned)[j * d + i] =
          lapis_mat_at(&r->clean, i, j) + lapis_mat_at(&r->removed, i, j);
  *out = lapis_mat_f64(*owned, d, n);
  return EXIT_DONE;
}

/* What the page needs and the result does not hold. */
typedef struct derived {
  lapis_dataset *ds;
  double *input, *values;
} derived;

static int derive(cli *c, lapis_report *r, derived *own)
{
  const char *data = args_get(&c->args, "data");
  int64_t d = r->clean.rows, n = r->clean.cols, k = d < n ? d : n;
  int code = EXIT_DONE;
  lapis_status s = LAPIS_OK;
  if (data != NULL) {
    lapis_table_options table = {.header = -1};
    s = lapis_dataset_new(c->ctx, &own->ds);
    if (s >= 0) s = lapis_dataset_read_member(own->ds, "X", data, &table);
    if (s >= 0) s = lapis_dataset_finish(own->ds);
    if (s >= 0) r->input = lapis_dataset_data(own->ds)->X;
  } else if (k > 0) {
    code = add_parts(r, &own->input, &r->input);
  }
  if (s >= 0 && code == EXIT_DONE && k > 0) {
    own->values = malloc((size_t)k * sizeof *own->values);
    if (own->values == NULL) return cli_fail(EXIT_FAILED, "out of memory");
    s = lapis_singular_values(c->ctx, &r->clean, own->values);
    r->singular_values = lapis_mat_f64(own->values, 1, k);
  }
  return s < 0 ? cli_fail_status(c, s) : code;
}

static int write_page(cli *c, const lapis_arrays *all, const char *path)
{
  lapis_report r = lapis_report_defaults();
  derived own = {.ds = NULL};
  const lapis_array *names = lapis_arrays_find(all, "history_columns");
  r.clean = member(all, "low_rank");
  r.removed = member(all, "sparse");
  r.filled = member(all, "filled");
  r.history = member(all, "history");
  if (names != NULL && names->mat.dtype == LAPIS_TEXT)
    r.history_columns = names->mat;
  int code = read_options(c, &r);
  if (code == EXIT_DONE) code = derive(c, &r, &own);
  if (code == EXIT_DONE) {
    lapis_status s = lapis_report_write(c->ctx, &r, path);
    if (s < 0) code = cli_fail_status(c, s);
  }
  lapis_dataset_free(own.ds);
  free(own.input);
  free(own.values);
  return code;
}

static int run(cli *c)
{
  const char *path = args_get(&c->args, "output");
  if (c->args.n_words != 1 || path == NULL)
    return cli_fail(EXIT_MISUSE,
                    "report: name one result (.npz) and the page: -o F.html");
  int code = check_writable(c, path);
  if (code != EXIT_DONE) return code;
  lapis_arrays all;
  lapis_status s = lapis_arrays_read(c->ctx, c->args.word[0], &all);
  if (s < 0) return cli_fail_status(c, s);
  code = write_page(c, &all, path);
  lapis_arrays_free(&all);
  return code;
}

const cli_verb verb_report = {
    .name = "report",
    .synopsis = "report RESULT -o page.html [--shape HxW]",
    .help = "one page of a result: pictures, curves, numbers",
    .options = options,
    .run = run};
