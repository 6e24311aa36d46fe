/* info.c - lapis info FILE...: what is in a file; lapis info: what is built. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "info.h"

static const cli_option options[] = {CLI_TABLE_OPTIONS, {NULL, 0, NULL, NULL}};

static void shape_text(const lapis_array *a, char *text, size_t size)
{
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; i < a->axes && used < size; i++) {
    int n = snprintf(text + used, size - used, "%s%lld", i > 0 ? " x " : "",
                     (long long)a->shape[i]);
    used += n > 0 ? (size_t)n : 0;
  }
  if (a->axes == 0) snprintf(text, size, "scalar");
}

/* Entries a sparse matrix stores; all of a dense one. */
static int64_t stored(const lapis_mat *A)
{
  return A->colptr == NULL ? A->rows * A->cols
                           : A->colptr[A->cols] - A->colptr[0];
}

static void range(const lapis_mat *A, double *low, double *high)
{
  bool sparse = A->colptr != NULL;
  bool zeros = sparse && stored(A) < A->rows * A->cols;
  const double *val = A->val;
  *low = zeros ? 0 : INFINITY;
  *high = zeros ? 0 : -INFINITY;
  for (int64_t k = sparse ? A->colptr[0] : 0; sparse && k < A->colptr[A->cols];
       k++) {
    *low = fmin(*low, val[k]);
    *high = fmax(*high, val[k]);
  }
  for (int64_t j = 0; !sparse && j < A->cols; j++)
    for (int64_t i = 0; i < A->rows; i++) {
      double v = lapis_mat_at(A, i, j);
      *low = fmin(*low, v);
      *high = fmax(*high, v);
    }
}

static void print_array(const lapis_array *a)
{
  char shape[128], name[512], stored_as[128];
  shape_text(a, shape, sizeof shape);
  printf(
      "  %-16s %-6s %-18s",
      lapis_text_shown(a->name != NULL ? a->name : "array", name, sizeof name),
      lapis_text_shown(a->stored, stored_as, sizeof stored_as), shape);
  if (a->mat.dtype != LAPIS_TEXT && a->mat.rows * a->mat.cols > 0) {
    double low, high;
    range(&a->mat, &low, &high);
    printf(" %.6g .. %.6g, %lld missing", low, high,
           (long long)lapis_mat_missing(&a->mat));
  }
  if (a->mat.dtype == LAPIS_TEXT && a->mat.rows * a->mat.cols > 0)
    info_texts(&a->mat);
  if (a->mat.colptr != NULL)
    printf(", %lld stored", (long long)stored(&a->mat));
  printf("\n");
}

static lapis_json *array_json(const lapis_array *a)
{
  lapis_json *to = lapis_json_object(), *shape = lapis_json_list();
  for (int i = 0; i < a->axes; i++)
    lapis_json_put_integer(shape, NULL, a->shape[i]);
  lapis_json_put_text(to, "name", a->name != NULL ? a->name : "");
  lapis_json_put_text(to, "type", a->stored);
  lapis_json_put(to, "shape", shape);
  lapis_json_put_integer(to, "missing", lapis_mat_missing(&a->mat));
  if (a->mat.colptr != NULL)
    lapis_json_put_integer(to, "stored", stored(&a->mat));
  return to;
}

/* Known values of a target row and how often each occurs. */
typedef struct balance {
  double value[8];
  int64_t count[8], unknown, others;
  int kinds;
} balance;

static balance count_row(const lapis_mat *Y, int64_t i)
{
  balance b = {.kinds = 0};
  for (int64_t j = 0; j < Y->cols; j++) {
    double v = lapis_mat_at(Y, i, j);
    int k = 0;
    while (k < b.kinds && b.value[k] != v) k++;
    if (isnan(v))
      b.unknown++;
    else if (k == 8)
      b.others++;
    else {
      b.value[k] = v;
      b.count[k]++;
      if (k == b.kinds) b.kinds++;
    }
  }
  return b;
}

static void print_balance(const lapis_mat *Y, const lapis_mat *names)
{
  for (int64_t i = 0; i < Y->rows && i < 20; i++) {
    char name[512];
    balance b = count_row(Y, i);
    if (Y->rows > 1 && names->cols == Y->rows)
      printf("  %-16s", lapis_text_shown(((const char *const *)names->val)[i],
                                         name, sizeof name));
    else
      printf("  target %-9lld", (long long)i + 1);
    for (int k = 0; k < b.kinds; k++)
      printf(" %g: %lld", b.value[k], (long long)b.count[k]);
    if (b.others > 0) printf(" other values: %lld", (long long)b.others);
    printf(" unknown: %lld\n", (long long)b.unknown);
  }
  if (Y->rows > 20) printf("  ... %lld targets\n", (long long)Y->rows);
}

static lapis_json *balance_json(const lapis_mat *Y)
{
  lapis_json *list = lapis_json_list();
  for (int64_t i = 0; i < Y->rows; i++) {
    balance b = count_row(Y, i);
    lapis_json *one = lapis_json_object();
    for (int k = 0; k < b.kinds; k++) {
      char value[32];
      snprintf(value, sizeof value, "%g", b.value[k]);
      lapis_json_put_integer(one, value, b.count[k]);
    }
    lapis_json_put_integer(one, "unknown", b.unknown);
    lapis_json_put(list, NULL, one);
  }
  return list;
}

/* The file read as a dataset: only where it can be. */
static lapis_dataset *as_dataset(cli *c, const char *path,
                                 const lapis_table_options *table)
{
  lapis_dataset *ds;
  if (lapis_dataset_new(c->ctx, &ds) < 0) return NULL;
  lapis_status s = lapis_dataset_read(ds, path, table);
  if (s >= 0) s = lapis_dataset_finish(ds);
  if (s >= 0) return ds;
  lapis_dataset_free(ds);
  return NULL;
}

static void describe_dataset(const lapis_dataset *ds)
{
  const lapis_data *d = lapis_dataset_data(ds);
  lapis_mat names = lapis_dataset_text(ds, "class_names");
  printf("  as data: %lld sample%s, %lld feature%s (%lld missing), %lld "
         "target%s",
         (long long)d->X.cols, cli_s(d->X.cols), (long long)d->X.rows,
         cli_s(d->X.rows), (long long)lapis_mat_missing(&d->X),
         (long long)d->Y.rows, cli_s(d->Y.rows));
  if (d->X.colptr != NULL)
    printf(", sparse: %lld entries", (long long)stored(&d->X));
  info_rows r = info_rows_of(&d->X);
  if (r.blank > 0)
    printf(", %lld row%s wholly missing", (long long)r.blank, cli_s(r.blank));
  if (r.zero > 0)
    printf(", %lld row%s all zero", (long long)r.zero, cli_s(r.zero));
  if (r.infinite > 0)
    printf(", %lld infinite value%s", (long long)r.infinite, cli_s(r.infinite));
  printf("\n");
  print_balance(&d->Y, &names);
}

static void dataset_json(lapis_json *to, const lapis_dataset *ds)
{
  const lapis_data *d = lapis_dataset_data(ds);
  lapis_json_put_integer(to, "samples", d->X.cols);
  lapis_json_put_integer(to, "features", d->X.rows);
  lapis_json_put_integer(to, "missing_features", lapis_mat_missing(&d->X));
  if (d->X.colptr != NULL) lapis_json_put_integer(to, "stored", stored(&d->X));
  info_rows r = info_rows_of(&d->X);
  lapis_json_put_integer(to, "missing_rows", r.blank);
  lapis_json_put_integer(to, "zero_rows", r.zero);
  lapis_json_put_integer(to, "infinite", r.infinite);
  lapis_json_put(to, "targets", balance_json(&d->Y));
}

typedef struct found {     /* what a file turned out to be */
  const char *path, *name; /* name: as it was given */
  const lapis_format *format;
  lapis_arrays all;
  lapis_dataset *ds;     /* or NULL */
  lapis_model *model;    /* or NULL */
  lapis_columns columns; /* of a table of text */
  char why[1024];        /* why it is no dataset as it stands */
  off_t begin;           /* of standard input */
} found;

static bool is_table(const lapis_format *format)
{
  return strcmp(format->name, "csv") == 0 || strcmp(format->name, "arff") == 0;
}

static bool is_input(const found *f)
{
  return strcmp(f->path, "-") == 0;
}

static void from_begin(const found *f)
{
  if (is_input(f)) (void)lseek(STDIN_FILENO, f->begin, SEEK_SET);
}

/* What the archive was written for, which its format alone does not say. */
static const char *title(cli *c, const found *f)
{
  const lapis_arrays *a = &f->all;
  if (strcmp(f->format->name, "npz") != 0) return f->format->title;
  if (f->model != NULL) return "model";
  const char *run = info_run_title(c, a);
  if (run != NULL) return run;
  if (a->count == 1 && a->item[0].mat.colptr != NULL)
    return "scipy sparse matrix";
  return "numpy archive";
}

static int describe_json(cli *c, const found *f)
{
  lapis_json *to = lapis_json_object(), *list = lapis_json_list();
  for (int i = 0; i < f->all.count; i++)
    lapis_json_put(list, NULL, array_json(&f->all.item[i]));
  lapis_json_put_text(to, "file", f->name);
  lapis_json_put_text(to, "format", f->format->name);
  lapis_json_put(to, "arrays", list);
  if (f->columns.listed > 0)
    lapis_json_put(to, "columns", info_columns_json(&f->columns));
  if (f->ds != NULL) dataset_json(to, f->ds);
  if (f->why[0] != '\0') lapis_json_put_text(to, "not_data", f->why);
  if (f->model != NULL)
    lapis_json_put(to, "model", info_model_json(c, f->model, &f->all));
  from_begin(f);
  if (info_run_title(c, &f->all) != NULL)
    lapis_json_put(to, "run", info_run_json(c, f->path, &f->all));
  return print_json(to);
}

static int describe_text(cli *c, const found *f)
{
  char path[4096];
  const char *name = is_input(f) ? "standard input" : f->name;
  bool table = f->columns.listed > 0;
  if (table)
    info_columns(c, &f->columns, f->name);
  else
    printf("%s: %s\n", lapis_text_shown(name, path, sizeof path), title(c, f));
  if (table && !info_written(c, &f->columns, f->name))
    info_columns_next(c, &f->columns, f->name, f->why);
  if (f->model != NULL) info_model(c, f->model, &f->all);
  bool run = info_run_title(c, &f->all) != NULL;
  if (run) {
    from_begin(f);
    info_run(c, f->path, is_input(f) ? "FILE" : f->name, &f->all);
  }
  for (int i = 0; !run && i < f->all.count; i++)
    if (f->model == NULL || !info_model_tells(f->all.item[i].name))
      print_array(&f->all.item[i]);
  if (f->ds != NULL) describe_dataset(f->ds);
  if (strcmp(f->format->name, "arff") == 0 && f->ds != NULL &&
      lapis_dataset_data(f->ds)->Y.rows == 0)
    printf("  --target TITLE,.. names what to predict; --arff-labels K: "
           "the last K columns\n");
  if (!is_table(f->format) && f->model == NULL && !run)
    info_next(f->name, &f->all, f->ds);
  return EXIT_DONE;
}

/* A table that is no dataset as it stands is described by its columns, with the
 * reason. */
static int look_at_table(cli *c, found *f, const lapis_table_options *table)
{
  from_begin(f);
  lapis_status s = lapis_columns_read(c->ctx, f->path, table, &f->columns);
  if (s < 0) return cli_fail_status(c, s);
  from_begin(f);
  f->ds = as_dataset(c, f->path, table);
  if (f->ds == NULL)
    snprintf(f->why, sizeof f->why, "%s", lapis_ctx_error(c->ctx));
  return EXIT_DONE;
}

/* Tables are datasets or columns; arrays may be both, or a model. */
static int look(cli *c, found *f)
{
  lapis_table_options table;
  int code = table_from_args(c, &table);
  if (code == EXIT_DONE && is_input(f)) code = stream_keep_input(&f->begin);
  if (code != EXIT_DONE) return code;
  from_begin(f);
  lapis_status s = lapis_format_of_file(c->ctx, f->path, &f->format);
  if (s < 0) return cli_fail_status(c, s);
  if (is_table(f->format)) return look_at_table(c, f, &table);
  from_begin(f);
  s = lapis_arrays_read(c->ctx, f->path, &f->all);
  if (s == LAPIS_ESTOPPED) return cli_fail_status(c, s);
  if (!is_input(f) && lapis_arrays_find(&f->all, "lapis") != NULL &&
      lapis_model_load(c->ctx, f->path, &f->model) >= 0)
    return EXIT_DONE;
  if (s >= 0 && f->all.count == 0 && strcmp(f->format->name, "npz") == 0)
    return cli_fail(EXIT_INPUT,
                    "%s: is a zip archive without arrays of numpy; unpack it "
                    "and name one of its files",
                    f->path);
  char why[1024];
  snprintf(why, sizeof why, "%s", lapis_ctx_error(c->ctx));
  from_begin(f);
  f->ds = as_dataset(c, f->path, &table);
  if (s >= 0 || f->ds != NULL) return EXIT_DONE;
  bool container = strcmp(f->format->name, "npy") == 0 ||
                   strstr(f->format->holds, "every") != NULL;
  return cli_fail(cli_exit_code(c, s), "%s",
                  container ? why : lapis_ctx_error(c->ctx));
}

/* FILE:TITLE is one column of a table. */
static int describe_column(cli *c, const char *path, const char *title)
{
  lapis_columns all;
  lapis_table_options table;
  int code = table_from_args(c, &table);
  if (code != EXIT_DONE) return code;
  lapis_status s = lapis_columns_read(c->ctx, path, &table, &all);
  if (s < 0) return cli_fail_status(c, s);
  code = info_column(c, &all, path, title);
  lapis_columns_free(&all);
  return code;
}

/* FILE:NAME is one array of a file. */
static int describe_member(cli *c, const char *path, const char *member)
{
  lapis_arrays all;
  const lapis_format *format;
  lapis_status s = lapis_format_of_file(c->ctx, path, &format);
  if (s < 0) return cli_fail_status(c, s);
  if (is_table(format)) return describe_column(c, path, member);
  s = lapis_arrays_read(c->ctx, path, &all);
  if (s < 0) return cli_fail_status(c, s);
  const lapis_array *a = lapis_arrays_find(&all, member);
  int code = EXIT_DONE;
  if (a == NULL)
    code = cli_fail(EXIT_INPUT,
                    "%s: has no member %s; 'lapis info %s' lists what it has",
                    path, member, path);
  else if (c->json)
    code = print_json(array_json(a));
  else
    print_array(a);
  lapis_arrays_free(&all);
  return code;
}

static lapis_json *results_json(const lapis_method *m)
{
  lapis_json *list = lapis_json_list();
  const lapis_result_row *r;
  for (int i = 0; (r = lapis_method_result(m, i)) != NULL; i++) {
    lapis_json *one = lapis_json_object();
    lapis_json_put_text(one, "name", r->name);
    lapis_json_put_text(one, "shape", r->shape);
    if (r->when != NULL) lapis_json_put_text(one, "when", r->when);
    if (r->where != NULL) lapis_json_put_text(one, "where", r->where);
    lapis_json_put_text(one, "help", r->help);
    lapis_json_put(list, NULL, one);
  }
  return list;
}

/* What a method answers with. */
static int describe_method(cli *c, const lapis_method *m)
{
  if (!c->json) {
    printf("%s: %s: %s %s\n", m->name, m->title, m->summary, m->source);
    help_results(stdout, m);
    return EXIT_DONE;
  }
  lapis_json *to = lapis_json_object();
  lapis_json_put_text(to, "method", m->name);
  lapis_json_put_text(to, "summary", m->summary);
  lapis_json_put(to, "results", results_json(m));
  lapis_json_put(to, "predict", results_json(lapis_predict_method(m)));
  return print_json(to);
}

static int describe(cli *c, const char *path)
{
  const lapis_method *method = lapis_method_find(path);
  if (method == NULL) method = lapis_flow_find(path);
  if (method == NULL && strcmp(path, "cv") == 0) method = lapis_cv_table();
  if (method != NULL && access(path, F_OK) != 0)
    return describe_method(c, method);
  found f = {.path = path, .name = path};
  char file[4096], room[STREAM_PATH];
  const char *member = member_of(path, file);
  if (member != NULL) return describe_member(c, file, member);
  int code = stream_keep(&f.path, room);
  if (code != EXIT_DONE) return code;
  path = f.path;
  if (is_plain_folder(path)) return info_folder(c, path);
  if (info_picture(c, path, &code)) return code;
  code = look(c, &f);
  if (code == EXIT_DONE)
    code = c->json ? describe_json(c, &f) : describe_text(c, &f);
  lapis_model_free(f.model);
  lapis_columns_free(&f.columns);
  lapis_dataset_free(f.ds);
  lapis_arrays_free(&f.all);
  return code;
}

static int run(cli *c)
{
  if (c->args.n_words == 0) return info_build(c);
  int code = EXIT_DONE;
  for (int i = 0; i < c->args.n_words && code == EXIT_DONE; i++)
    code = describe(c, c->args.word[i]);
  return code;
}

const cli_verb verb_info = {
    .name = "info",
    .synopsis = "info [FILE|METHOD...]",
    .help =
        "say what a file holds and what to type next: of a file, a folder, a "
        "part of a file (FILE:NAME) or standard input (-); of a method, its "
        "results; without a word, what is built in",
    .options = options,
    .run = run};
