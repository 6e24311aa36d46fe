/* predict.c - lapis predict MODEL [DATA]: answers for new samples. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/answers/answer_sheet.h"

static const cli_option options[] = {
    {"scores", 0, NULL,
     "print scores, not labels; where a model has no labels (rr), they are "
     "printed anyway"},
    {"output", 'o', "F.npz",
     "write the result and print no answers: scores, labels, ...; F.csv, "
     "F.tsv: a table of the answers, a row a sample; F.html: a page of them; "
     "DIR/: in parts"},
    {"completed", 0, "F.csv",
     "write the table again with its empty cells filled, of features and of "
     "targets; a feature of listed values, or of 0 and 1, with the nearest"},
    CLI_SURE_ROW,
    {"pairs", 0, "F",
     "mc, factored: instead of DATA, print completed entries: F has two "
     "columns, row and column counted from 1 (row0,column0 above them: from "
     "0); -o F.csv writes them with their places"},
    {"coverage", 0, "C",
     "where the model was fitted with --coverage: the share of new samples "
     "whose set, or interval, is to hold the truth; 0: no sets"},
    {"coverage-by", 0, "B",
     "all or class: of all new samples, or each class's"},
    {"mpi", 0, NULL,
     "divide the samples among the processes that mpirun started"},
    {NULL, 0, NULL, NULL}};

/* ---- what is printed ----------------------------------------------------*/
static void print_value(const lapis_mat *text, int decimals, double v)
{
  lapis_sheet_column as = {.rounded = true,
                           .decimals = decimals > 0 ? decimals : -1};
  int64_t code = (int64_t)v;
  char number[400];
  lapis_sheet_number(&as, v, 10, number, sizeof number);
  bool named = text->cols > 0 && code >= 0 && code < text->cols;
  printf("\t%s", named ? ((const char *const *)text->val)[code] : number);
}

/* ---- sets and intervals, as tables have them ----------------------------*/
static void print_sets(const sheet *t, int64_t j)
{
  static const lapis_mat none = {.cols = 0};
  for (int k = t->set; k < t->set + t->sets; k++) {
    const lapis_mat *m = &t->column[k].values;
    if (m->dtype == LAPIS_TEXT)
      printf("\t%s", ((const char *const *)m->val)[j * m->ld]);
    else
      print_value(&none, t->column[k].decimals, lapis_mat_at(m, 0, j));
  }
}

static void put_sets(lapis_json *to, const sheet *t)
{
  for (int k = t->set; k < t->set + t->sets; k++) {
    const lapis_mat *m = &t->column[k].values;
    lapis_json *list = lapis_json_list();
    for (int64_t j = 0; j < t->n; j++)
      if (m->dtype == LAPIS_TEXT)
        lapis_json_put_text(list, NULL,
                            ((const char *const *)m->val)[j * m->ld]);
      else
        lapis_json_put_number(list, NULL, lapis_mat_at(m, 0, j));
    lapis_json_put(to, t->column[k].title, list);
  }
}

/* One line a sample: its name or number, then its labels or scores, and sets.
 * targets: what holds answers, not scores of classes. */
static void print_rows(cli *c, const lapis_dataset *ds, const lapis_mat *what,
                       bool targets, const lapis_mat *text, const sheet *t)
{
  lapis_mat names = lapis_dataset_text(ds, "names");
  for (int64_t j = 0; j < what->cols; j++) {
    if (names.cols == what->cols)
      printf("%s", ((const char *const *)names.val)[j]);
    else
      printf("%lld", (long long)j + 1);
    for (int64_t i = 0; i < what->rows; i++)
      print_value(text, targets ? target_decimals(c, ds, i) : -1,
                  lapis_mat_at(what, i, j));
    print_sets(t, j);
    printf("\n");
  }
}

static lapis_json *rows_json(const lapis_mat *what, const lapis_mat *text)
{
  lapis_json *list = lapis_json_list();
  for (int64_t j = 0; j < what->cols; j++) {
    lapis_json *row = what->rows > 1 ? lapis_json_list() : list;
    for (int64_t i = 0; i < what->rows; i++) {
      double v = lapis_mat_at(what, i, j);
      int64_t code = (int64_t)v;
      if (text->cols > 0 && code >= 0 && code < text->cols)
        lapis_json_put_text(row, NULL, ((const char *const *)text->val)[code]);
      else
        lapis_json_put_number(row, NULL, v);
    }
    if (row != list) lapis_json_put(list, NULL, row);
  }
  return list;
}

/* Scores where they are asked for, or where a model answers by nothing else; of
 * a model without any, the features it completed. */
static const char *what_to_print(const cli *c, const lapis_solver *s)
{
  static const char *const all[] = {"labels", "scores", "low_rank"};
  lapis_mat rows;
  for (int i = args_get(&c->args, "scores") != NULL; i < 3; i++)
    if (lapis_result_get(s, all[i], &rows) == LAPIS_OK) return all[i];
  return "";
}

/* Of points: which of the new rows each slot has in each image. */
static void put_matches(lapis_json *to, const lapis_solver *s)
{
  static const char *const name[] = {"match", "instance"};
  lapis_mat rows, text = {.cols = 0};
  for (int i = 0; i < 2; i++)
    if (lapis_result_get(s, name[i], &rows) == LAPIS_OK)
      lapis_json_put(to, name[i], rows_json(&rows, &text));
}

/* Called by all processes; rank 0 is heard. */
static lapis_status print_answer(cli *c, const lapis_solver *s,
                                 const lapis_dataset *ds)
{
  const char *what = what_to_print(c, s);
  lapis_mat rows, text = {.cols = 0};
  void *owned = NULL;
  bool any = lapis_result_get(s, what, &rows) == LAPIS_OK;
  lapis_status status = LAPIS_OK;
  if (any)
    status = spread_join(c, s, what, lapis_dataset_samples(ds), &rows, &owned);
  if (status < 0) return status;
  if (strcmp(what, "labels") == 0) text = class_texts(c, ds);
  sheet t = {.count = 0};
  bool covered =
      result_of(s, "classes_kept").cols + result_of(s, "set_low").cols > 0;
  if (any && covered && c->ranks.size == 1)
    status = sheet_make(c, s, ds, NULL, false, "predict", &t);
  double *back = NULL;
  if (strcmp(what, "low_rank") == 0 && !c->json && c->ranks.size == 1)
    status = sheet_units(c, ds, lapis_model_map(c->model), &rows, &back);
  lapis_json *to = NULL;
  if (c->json)
    to = run_json(c, lapis_model_method(c->model)->name, c->method, s,
                  lapis_dataset_data(ds));
  if (any && to != NULL) lapis_json_put(to, what, rows_json(&rows, &text));
  if (to != NULL && has_matches(s)) put_matches(to, s);
  if (to != NULL) put_sets(to, &t);
  bool targets = strcmp(what, "low_rank") != 0 &&
                 (*what == 'l' || result_of(s, "labels").cols == 0);
  bool here = args_get(&c->args, "scores") != NULL; /* as well as in files */
  long long n = (long long)lapis_dataset_samples(ds);
  if (to == NULL && (here || !print_predicted(c, n, "sample")) && any)
    print_rows(c, ds, &rows, targets, &text, &t);
  sheet_close(&t);
  if (to != NULL) print_json(to);
  free(owned);
  free(back);
  return status;
}

/* ---- checks against the model -------------------------------------------*/
/* --max-iters is asked for; who was interrupted, or out of time, is told. */
static void warn_of_stop(cli *c)
{
  char why[80];
  if (c->quiet || c->ranks.rank > 0 ||
      !model_stopped(c, c->model, why, sizeof why) ||
      strncmp(why, "max-iters", 9) == 0)
    return;
  fprintf(stderr,
          "lapis: warning: predict: the fit of this model ended before its "
          "tolerance was met (%s); a complete one may answer differently\n",
          why);
}

static int answer(cli *c, const lapis_dataset *ds, const void *settings)
{
  lapis_data data;
  lapis_solver *s;
  int code = given_members(c, ds, c->method->reads, &data);
  if (code == EXIT_DONE)
    code = given_settings(c, settings, lapis_data_has(&data), NULL);
  if (code == EXIT_DONE && lapis_model_completes(c->model))
    code = check_back(c, lapis_model_map(c->model), &data.X);
  if (code != EXIT_DONE) return code;
  lapis_status status =
      lapis_predict_new(c->ctx, &data, c->model, settings, &s);
  lapis_ctx_limit(c->ctx, INFINITY); /* the solve has its own */
  if (status >= 0) given_say(c);
  if (status >= 0) warn_of_stop(c);
  if (status >= 0) status = lapis_solve(s);
  const char *output = args_get(&c->args, "output");
  lapis_status stop = status;
  if (status >= 0 && args_get(&c->args, "completed") != NULL)
    status = completed_write(c, s, ds, lapis_model_map(c->model));
  if (status >= 0 && output != NULL) /* a page shows what was completed */
    status =
        is_sheet(output) || is_page(output)
            ? answers_write(c, s, ds, lapis_model_map(c->model), false, output)
            : result_write(c, s, ds, output);
  cli_wipe_bar(c);
  if (status >= 0) status = print_answer(c, s, ds);
  lapis_solver_free(s);
  return status < 0 ? cli_fail_status(c, status) : cli_exit_code(c, stop);
}

/* Which columns are texts a model knows by its features' titles. */
static int check_one_hot(cli *c)
{
  lapis_mat names;
  const char *header = args_get(&c->args, "header");
  bool titled = header == NULL || strcmp(header, "no") != 0;
  if (args_get(&c->args, "one-hot") == NULL || !titled ||
      lapis_model_get(c->ctx, c->model, "feature_names", &names) < 0)
    return EXIT_DONE;
  return cli_fail(EXIT_MISUSE,
                  "predict: the model knows which columns are --one-hot, by "
                  "their titles; leave it out");
}

/* Another share than that of the fit. */
static int set_coverage(cli *c)
{
  const char *share = args_get(&c->args, "coverage");
  const char *by = args_get(&c->args, "coverage-by");
  lapis_mat kept;
  double value = 0;
  if (share == NULL && by == NULL) return EXIT_DONE;
  bool each = by != NULL && strcmp(by, "class") == 0;
  if (by != NULL && !each && strcmp(by, "all") != 0)
    return cli_fail(EXIT_MISUSE, "--coverage-by %s: is all or class", by);
  if (share == NULL &&
      lapis_model_get(c->ctx, c->model, "coverage", &kept) >= 0)
    value = lapis_mat_at(&kept, 0, 0);
  if (share != NULL && !lapis_number_read(share, NULL, &value))
    return cli_fail(EXIT_MISUSE, "--coverage %s: is a number, such as .9",
                    share);
  lapis_status s = lapis_model_set_coverage(c->ctx, c->model, value, each);
  return s < 0 ? cli_fail_status(c, s) : EXIT_DONE;
}

static int run(cli *c)
{
  void *settings = NULL;
  lapis_dataset *ds = NULL;
  if (c->model == NULL)
    return cli_fail(EXIT_MISUSE, "predict: name a model file");
  int code = settings_from_args(c, &settings);
  if (code == EXIT_DONE) code = check_one_hot(c);
  if (code == EXIT_DONE) code = set_coverage(c);
  if (code == EXIT_DONE) code = check_answers(c, args_get(&c->args, "output"));
  if (code == EXIT_DONE) code = check_completed(c);
  const char *pairs = args_get(&c->args, "pairs");
  if (code == EXIT_DONE && pairs != NULL) {
    free(settings);
    return predict_pairs(c, pairs);
  }
  lapis_ctx_limit(c->ctx, time_limit(c, settings));
  if (code == EXIT_DONE) code = dataset_from_args(c, &ds);
  if (code == EXIT_DONE) code = check_made(c, ds);
  code = spread_agree(c, code);
  if (code == EXIT_DONE) code = answer(c, ds, settings);
  lapis_dataset_free(ds);
  free(settings);
  return code;
}

const cli_verb verb_predict = {
    .name = "predict",
    .synopsis = "predict MODEL [DATA] [options]",
    .help = "predict new samples with a model that fit wrote",
    .options = options,
    .takes_model = true,
    .answers = true,
    .reads_data = true,
    .run = run};
