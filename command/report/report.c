/* report.c - lapis report RESULT -o page.html: one page of what was found. */
#include <stdlib.h>

#include "lapis/methods.h"
#include "report.h"

static const cli_option options[] = {
    {"output", 'o', "F.html", "the page"},
    {"data", 0, "FILE",
     "what was fitted: X, whose missing entries are marked; labels (Y); "
     "positions of points (xy)"},
    {"truth", 0, "FILE", "the truth, as lapis eval reads it: draws ROC curves"},
    {"images", 0, "FOLDER", "images of the samples, or those of the matches"},
    {"run", 0, "F.json", "what the run printed with --json: its settings"},
    CLI_TABLE_OPTIONS,
    {"shape", 0, "HxW", "samples are pictures of H rows of W pixels"},
    {"first", 0, "N",
     "number of the first sample that is drawn, from 1 (default 1)"},
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
                    "report: --%s '%s' is not a whole number of at least %lld",
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

void report_parts_free(report_parts *own)
{
  lapis_arrays_free(&own->all);
  lapis_dataset_free(own->data);
  lapis_dataset_free(own->truth);
  lapis_array_free(&own->files);
  lapis_json_free(own->run);
  report_values_free(&own->kinds);
  void *const all[] = {own->input,   own->values,      own->picture,
                       own->box,     own->points,      own->codes,
                       own->suspect, own->label_names, own->labels,
                       own->answers, own->class_names, own->texts,
                       own->names,   own->settings,    own->facts,
                       own->column,  own->titles,      own->numbers};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

/* ---- samples taken apart ------------------------------------------------*/
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

static int read_data(cli *c, report_parts *own)
{
  const char *data = args_get(&c->args, "data");
  lapis_table_options table;
  if (data == NULL) return EXIT_DONE;
  int code = table_from_args(c, &table);
  if (code != EXIT_DONE) return code;
  lapis_status s = lapis_dataset_new(c->ctx, &own->data);
  if (s >= 0) s = lapis_dataset_read(own->data, data, &table);
  if (s >= 0) s = lapis_dataset_finish(own->data);
  return s < 0 ? cli_fail_status(c, s) : EXIT_DONE;
}

static int take_apart(cli *c, report_parts *own, lapis_report *r)
{
  int64_t d = r->clean.rows, n = r->clean.cols, k = d < n ? d : n;
  bool matches = lapis_arrays_find(&own->all, "match") != NULL;
  int code = EXIT_DONE;
  if (own->data != NULL && !matches)
    r->input = lapis_dataset_data(own->data)->X;
  else if (k > 0 && !matches)
    code = add_parts(r, &own->input, &r->input);
  if (code != EXIT_DONE || k == 0) return code;
  own->values = malloc((size_t)k * sizeof *own->values);
  if (own->values == NULL) return cli_fail(EXIT_FAILED, "out of memory");
  lapis_status s = lapis_singular_values(c->ctx, &r->clean, own->values);
  r->singular_values = lapis_mat_f64(own->values, 1, k);
  return s < 0 ? cli_fail_status(c, s) : EXIT_DONE;
}

/* ---- the page -----------------------------------------------------------*/
static int fill(cli *c, report_parts *own, lapis_report *r)
{
  const lapis_array *names = lapis_arrays_find(&own->all, "history_columns");
  const lapis_array *dialect = lapis_arrays_find(&own->all, "dialect");
  r->clean = report_member(own, "low_rank");
  r->removed = report_member(own, "sparse");
  r->filled = report_member(own, "filled");
  r->class_features = report_member(own, "class_features");
  r->history = report_member(own, "history");
  if (names != NULL && names->mat.dtype == LAPIS_TEXT)
    r->history_columns = names->mat;
  int code = read_options(c, r);
  if (code == EXIT_DONE) code = read_data(c, own);
  if (code == EXIT_DONE) code = take_apart(c, own, r);
  if (code == EXIT_DONE) code = report_labels(c, own, r);
  if (code == EXIT_DONE) code = report_pictures(c, own, r);
  if (code == EXIT_DONE) code = report_answers(own, r);
  if (dialect != NULL && dialect->mat.dtype == LAPIS_TEXT &&
      dialect->mat.cols == 1)
    r->dialect = *(const char *const *)dialect->mat.val;
  if (code == EXIT_DONE) code = report_run(c, own, r);
  return code;
}

static int write_page(cli *c, report_parts *own, const char *path)
{
  lapis_report r = lapis_report_defaults();
  lapis_status s = lapis_arrays_read(c->ctx, c->args.word[0], &own->all);
  if (s < 0) return cli_fail_status(c, s);
  int code = fill(c, own, &r);
  if (code != EXIT_DONE) return code;
  s = lapis_report_write(c->ctx, &r, path);
  return s < 0 ? cli_fail_status(c, s) : EXIT_DONE;
}

static int run(cli *c)
{
  const char *path = args_get(&c->args, "output");
  if (c->args.n_words != 1 || path == NULL)
    return cli_fail(EXIT_MISUSE,
                    "report: name one result (.npz) and the page: -o F.html");
  if (is_sheet(c->args.word[0]))
    return cli_fail(EXIT_INPUT,
                    "report: '%s' is a table, which holds answers alone; a "
                    "page is made of the result, as fit -o F.npz writes it, or "
                    "by the fit itself, -o F.html",
                    c->args.word[0]);
  int code = check_page(c, path, false);
  if (code != EXIT_DONE) return code;
  report_parts own = {.data = NULL};
  code = write_page(c, &own, path);
  report_parts_free(&own);
  return code;
}

const cli_verb verb_report = {
    .name = "report",
    .synopsis = "report RESULT -o page.html [--shape HxW]",
    .help = "show a result on one page: pictures, curves, numbers",
    .options = options,
    .run = run};
