/* eval.c - lapis eval METRIC --truth F --scores F. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval.h"

static const cli_option options[] = {
    {"truth", 0, "FILE",
     "the known answers: a .npy or .csv file, or FILE.npz:NAME (default: its "
     "Y)"},
    {"scores", 0, "FILE",
     "what was answered (.npz: default member scores, or labels where the "
     "metric compares labels); a table of answers as fit -o F.csv writes it"},
    CLI_TABLE_ROWS,
    CLI_UNFOLD_ROW,
    {"positive", 0, "WORD",
     "of two words of the truth the one that scores are of (default: the last "
     "in their order)"},
    {"output", 'o', "F.csv", "write the figures as a table, too"},
    {NULL, 0, NULL, NULL}};

/* Where some labels were given: what was measured, and the others alone. */
static void print_filled(const char *metric, const eval_figures *filled)
{
  if (filled->given == 0) return;
  if (filled->labels == 0)
    printf("  all of these %lld labels were given; to measure what is filled "
           "in, the truth needs labels that were not given\n",
           (long long)filled->given);
  else
    printf("  of the %lld label%s filled in alone: %s %.6f (%lld "
           "other%s given, and counted above)\n",
           (long long)filled->labels,
           filled->labels == 1 ? " that was" : "s that were", metric,
           filled->mean, (long long)filled->given, cli_s(filled->given));
}

static void print_text(const char *metric, const lapis_mat *names,
                       const char *of, const double *per_class, int64_t classes,
                       double mean)
{
  printf("%s %.6f\n", metric, mean);
  if (of != NULL) printf("  of the class %s\n", of);
  bool any = false; /* metrics of all classes together have none */
  for (int64_t k = 0; k < classes; k++) any |= !isnan(per_class[k]);
  for (int64_t k = 0; any && classes > 1 && k < classes; k++)
    if (names->cols == classes)
      printf("  %-20s %.6f\n", ((const char *const *)names->val)[k],
             per_class[k]);
    else
      printf("  class %-14lld %.6f\n", (long long)k + 1, per_class[k]);
}

static lapis_json *filled_json(const eval_figures *filled, int64_t classes)
{
  lapis_json *to = lapis_json_object(), *list = lapis_json_list();
  for (int64_t k = 0; k < classes; k++)
    lapis_json_put_number(list, NULL, filled->per_class[k]);
  lapis_json_put_integer(to, "labels", filled->labels);
  lapis_json_put_integer(to, "given", filled->given);
  lapis_json_put_number(to, "mean", filled->mean);
  lapis_json_put(to, "per_class", list);
  return to;
}

static void print_values(const char *metric, const lapis_mat *names,
                         const char *of, const double *per_class,
                         int64_t classes, double mean,
                         const eval_figures *filled)
{
  lapis_json *to = lapis_json_object(), *list = lapis_json_list();
  lapis_json *called = lapis_json_list();
  for (int64_t k = 0; k < classes; k++) {
    lapis_json_put_number(list, NULL, per_class[k]);
    if (names->cols == classes)
      lapis_json_put_text(called, NULL, ((const char *const *)names->val)[k]);
  }
  lapis_json_put_text(to, "metric", metric);
  lapis_json_put_number(to, "mean", mean);
  lapis_json_put(to, "per_class", list);
  if (of != NULL) lapis_json_put_text(to, "class", of);
  if (names->cols == classes)
    lapis_json_put(to, "classes", called);
  else
    lapis_json_free(called);
  if (filled->given > 0)
    lapis_json_put(to, "filled", filled_json(filled, classes));
  print_json(to);
}

/* A metric that no class has is an answer (null), but not a silent one. */
static void warn_of_none(const char *metric, const lapis_mat *truth,
                         double mean)
{
  char text[128] = "";
  double low = INFINITY, high = -INFINITY;
  for (int64_t j = 0; j < truth->cols; j++) { /* fmin and fmax leave NaN out */
    low = fmin(low, lapis_mat_at(truth, 0, j));
    high = fmax(high, lapis_mat_at(truth, 0, j));
  }
  if (strcmp(metric, "r2") == 0)
    (void)lapis_constant_text(low, high, truth->rows > 1, text, sizeof text);
  if (!isnan(mean)) return;
  if (*text != '\0')
    fprintf(stderr, "lapis: eval: %s\n", text);
  else
    fprintf(stderr,
            "lapis: eval: there is no value of %s: the known truth is all of "
            "one kind or value, all 0, or there is none\n",
            metric);
}

/* The answers as a table: a row a class, and their mean; where some labels
 * were given a column more, of the others alone. */
static lapis_status write_values(cli *c, const char *metric, const eval_pair *p,
                                 double *per_class, int64_t classes,
                                 double mean, const eval_figures *filled,
                                 const char *path)
{
  const lapis_mat *names = &p->names;
  char of_filled[64];
  snprintf(of_filled, sizeof of_filled, "%s of filled", metric);
  const char **text = calloc((size_t)classes + 1, sizeof *text);
  char(*number)[24] = calloc((size_t)classes + 1, sizeof *number);
  lapis_status s = LAPIS_ENOMEM;
  for (int64_t k = 0; text != NULL && number != NULL && k < classes; k++) {
    snprintf(number[k], sizeof *number, "%lld", (long long)k + 1);
    text[k] = names->cols == classes ? ((const char *const *)names->val)[k]
                                     : number[k];
  }
  if (text != NULL && number != NULL) {
    text[classes] = "mean";
    per_class[classes] = mean;
    bool rows = classes > 1;
    int64_t first = rows ? 0 : classes, count = rows ? classes + 1 : 1;
    lapis_sheet_column column[] = {
        {.title = "class", .values = lapis_mat_text(text + first, 1, count)},
        {.title = metric, .values = lapis_mat_f64(per_class + first, 1, count)},
        {.title = of_filled}};
    bool more = filled->given > 0;
    if (more) {
      filled->per_class[classes] = filled->mean;
      column[2].values = lapis_mat_f64(filled->per_class + first, 1, count);
    }
    s = lapis_sheet_write(c->ctx, path, p->dialect, column, more ? 3 : 2);
  }
  free(text);
  free(number);
  return s;
}

/* Of two classes, which one this is the f1 or the precision of; NULL: of both.
 */
static const char *class_of(const char *metric, const eval_pair *p,
                            int64_t classes)
{
  bool one = strcmp(metric, "f1") == 0 || strcmp(metric, "map") == 0 ||
             strcmp(metric, "average-precision") == 0;
  return one && classes == 1 && p->names.cols == 2
             ? ((const char *const *)p->names.val)[1]
             : NULL;
}

/* Labels that are equal are counted; numbers rarely are. */
static void warn_of_numbers(const char *metric, const lapis_mat *truth)
{
  for (int64_t k = 0; k < truth->rows * truth->cols; k++) {
    double v = lapis_mat_at(truth, k % truth->rows, k / truth->rows);
    if (isnan(v) || v == floor(v)) continue;
    fprintf(stderr,
            "lapis: warning: eval: %s counts numbers as right that are equal; "
            "rmse and r2 say how far answers are off\n",
            metric);
    return;
  }
}

static int evaluate(cli *c, const eval_pair *p, const eval_columns *sheet)
{
  const char *metric = c->args.word[0];
  const char *output = args_get(&c->args, "output");
  int64_t classes;
  lapis_status s = lapis_metric_classes(c->ctx, metric, &p->truth, &classes);
  if (s < 0) return cli_fail_status(c, s);
  double *per_class = malloc(((size_t)classes + 1) * sizeof *per_class), mean;
  if (per_class == NULL) return cli_fail(EXIT_FAILED, "out of memory");
  s = lapis_metric(c->ctx, metric, &p->truth, &p->answers, per_class, &mean);
  if (s >= 0) warn_of_none(metric, &p->truth, mean);
  eval_figures filled = {.labels = -1};
  eval_answers answers = {.path = args_get(&c->args, "scores"),
                          .metric = metric,
                          .pair = p,
                          .sheet = sheet,
                          .classes = classes};
  if (s >= 0) s = eval_filled(c, &answers, &filled);
  if (s >= 0 && c->json)
    print_values(metric, &p->names, class_of(metric, p, classes), per_class,
                 classes, mean, &filled);
  if (s >= 0 && !c->json) {
    print_text(metric, &p->names, class_of(metric, p, classes), per_class,
               classes, mean);
    print_filled(metric, &filled);
  }
  if (s >= 0 && output != NULL)
    s = write_values(c, metric, p, per_class, classes, mean, &filled, output);
  free(filled.per_class);
  free(per_class);
  return s < 0 ? cli_fail_status(c, s) : EXIT_DONE;
}

/* Words have codes, and what these miss by says nothing. */
static int check_numbers(const cli *c, const lapis_dataset *ds,
                         const char *truth)
{
  const lapis_data *data = lapis_dataset_data(ds);
  if (data->words.cols == 0) return EXIT_DONE;
  return cli_fail(EXIT_INPUT,
                  "eval: %s compares numbers, and %s holds words (\"%s\"); "
                  "--missing lists those that mean unknown",
                  c->args.word[0], truth,
                  ((const char *const *)data->words.val)[0]);
}

/* Scores, or labels that are numbers. */
static int evaluate_numbers(cli *c, lapis_metric_reads reads,
                            const eval_columns *sheet,
                            const lapis_table_options *table)
{
  static const char *const member_of[] = {[LAPIS_METRIC_SCORES] = "scores",
                                          [LAPIS_METRIC_LABELS] = "labels",
                                          [LAPIS_METRIC_VALUES] = "scores",
                                          [LAPIS_METRIC_PROBABILITIES] =
                                              "probabilities"};
  bool labels = reads == LAPIS_METRIC_LABELS;
  const char *truth = args_get(&c->args, "truth");
  const char *scores = args_get(&c->args, "scores");
  char list[EVAL_LIST] = "";
  lapis_dataset *ds;
  lapis_table_options own = *table;
  own.target = NULL;
  if (own.decimal == '\0') own.decimal = sheet->decimal;
  for (int k = 0; k < sheet->count; k++) {
    size_t used = strlen(list);
    snprintf(list + used, sizeof list - used, "%s#%d", k > 0 ? "," : "",
             sheet->label[k]);
  }
  own.id = eval_id(sheet, table);
  bool scored = !labels && *sheet->scores != '\0';
  if (scored || sheet->count > 0) own.use = scored ? sheet->scores : list;
  lapis_status s = lapis_dataset_new(c->ctx, &ds);
  lapis_dataset_positive(ds, args_get(&c->args, "positive"));
  if (s >= 0) s = eval_read(ds, "X", scores, member_of[reads], &own);
  if (s >= 0) s = eval_read(ds, "Y", truth, "Y", table);
  if (s >= 0) s = lapis_dataset_finish(ds);
  int code = s < 0                        ? cli_fail_status(c, s)
             : scored || sheet->count > 0 ? eval_check_order(ds, sheet, scores)
                                          : eval_check_columns(ds, scores);
  eval_pair pair = {.y = NULL};
  if (code == EXIT_DONE && reads == LAPIS_METRIC_VALUES)
    code = check_numbers(c, ds, truth);
  if (code == EXIT_DONE && labels)
    warn_of_numbers(c->args.word[0], &lapis_dataset_data(ds)->Y);
  if (code == EXIT_DONE) {
    pair.truth = lapis_dataset_data(ds)->Y;
    pair.answers = lapis_dataset_data(ds)->X;
    pair.names = lapis_dataset_text(ds, "class_names");
    pair.dialect = dialect_of(c, ds);
    s = eval_list_scores(c, ds, scores, &pair);
    code = s < 0 ? cli_fail_status(c, s) : evaluate(c, &pair, sheet);
  }
  eval_pair_free(&pair);
  lapis_dataset_free(ds);
  return code;
}

static int evaluate_files(cli *c, lapis_metric_reads reads)
{
  bool labels = reads == LAPIS_METRIC_LABELS;
  const char *truth = args_get(&c->args, "truth");
  const char *scores = args_get(&c->args, "scores");
  lapis_table_options table;
  eval_columns sheet;
  lapis_dataset *ds;
  eval_pair pair = {.y = NULL};
  int code = table_from_args(c, &table);
  if (code != EXIT_DONE) return code;
  table.keep_counters = true;
  /* what is known is told to the end; among numbers a word is a mistake */
  table.none_is_word = reads != LAPIS_METRIC_VALUES;
  eval_files files = {.truth = truth, .scores = scores, .table = &table};
  const char *target = table.target == NULL ? "" : table.target;
  bool ranked = reads == LAPIS_METRIC_SCORES;
  if (ranked || reads == LAPIS_METRIC_PROBABILITIES) target = NULL;
  (void)eval_find_columns(c, &files, target, &sheet);
  lapis_status s =
      labels ? eval_text_labels(c, &sheet, truth, scores, &table, &ds, &pair)
             : LAPIS_EINVAL;
  bool told = s == LAPIS_EDATA || s == LAPIS_EIO ||
              (s == LAPIS_ESHAPE && sheet.count > 0);
  if (told) /* another order, or number; no such file */
    code = cli_fail_status(c, s);
  else if (s < 0)
    code = evaluate_numbers(c, reads, &sheet, &table);
  else
    code = eval_check_order(ds, &sheet, scores);
  if (s >= 0) pair.dialect = dialect_of(c, ds);
  if (s >= 0 && code == EXIT_DONE && *pair.stranger != '\0')
    fprintf(stderr,
            "lapis: warning: eval: no label is in both files, as \"%s\" is in "
            "one alone\n",
            pair.stranger);
  if (s >= 0 && code == EXIT_DONE) code = evaluate(c, &pair, &sheet);
  if (s >= 0) lapis_dataset_free(ds);
  eval_pair_free(&pair);
  return code;
}

static int fail_words(void)
{
  char list[512] = "";
  const lapis_metric_kind *kind;
  for (int i = 0; (kind = lapis_metric_at(i)) != NULL; i++) {
    size_t used = strlen(list);
    snprintf(list + used, sizeof list - used, "%s, ", kind->name);
  }
  return cli_fail(EXIT_MISUSE,
                  "eval: name one metric (%smatch-ratio, iou), --truth FILE "
                  "and --scores FILE",
                  list);
}

static int run(cli *c)
{
  const char *truth = args_get(&c->args, "truth");
  const char *scores = args_get(&c->args, "scores");
  const char *output = args_get(&c->args, "output");
  if (c->args.n_words != 1 || truth == NULL || scores == NULL)
    return fail_words();
  if (output != NULL && !is_sheet(output))
    return cli_fail(EXIT_MISUSE, "%s: figures are written as .csv or .tsv",
                    output);
  int code = check_writable(c, output);
  if (code != EXIT_DONE) return code;
  if (eval_is_match(c->args.word[0]))
    return eval_match(c, c->args.word[0], truth, scores);
  const lapis_metric_kind *kind;
  if (lapis_metric_find(c->ctx, c->args.word[0], &kind) < 0)
    return cli_fail(EXIT_MISUSE, "eval: %s, match-ratio, iou",
                    lapis_ctx_error(c->ctx));
  return evaluate_files(c, kind->reads);
}

const cli_verb verb_eval = {.name = "eval",
                            .synopsis = "eval METRIC --truth F --scores F",
                            .help = "measure answers against the truth",
                            .options = options,
                            .run = run};
