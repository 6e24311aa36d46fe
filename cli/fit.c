/* fit.c - lapis fit METHOD [DATA]: learn, or solve. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "choose.h"
#include "cli.h"
#include "race.h"

static const cli_option options[] = {
    {"map", 0, "MAP",
     "how features are changed before the method reads them: none, l1, l2, "
     "sqrt, l1-sqrt, standard, scale:NUMBER, scale:auto (mean size 1), chi2, "
     "impute (gaps filled from what was seen of the sample); of several kinds "
     "blocks:N+N first, balance "
     "last; a kernel as features: nystrom:WIDTH:COUNT last; "
     "chain with commas"},
    {"map-priv", 0, "MAP", "the same for privileged features"},
    {"output", 'o', "F.npz",
     "write the result: scores, labels, low_rank, ...; F.csv, F.tsv: a table "
     "of the answers, a row a sample; DIR/: in parts, each process its own"},
    {"completed", 0, "F.csv",
     "write the table again with its empty cells filled, of features and of "
     "targets; a feature of listed values, or of 0 and 1, with the nearest"},
    {"model", 0, "F.lapis", "write the model, for lapis predict"},
    CLI_JOBS_ROW(
        "choosing settings, looking for suspects, and the classes of svmplus"),
    {"checkpoint", 0, "F",
     "keep what a killed or interrupted run needs to go on; the same command "
     "goes on from there"},
    {"suspects", 0, "M",
     "also the M known labels that the rest of the data "
     "contradicts most (suspect_index, suspect_margin)"},
    {"threshold", 0, "auto|fixed",
     "mc: where the border between two labels lies: where labels that were "
     "hidden say (auto, the default where mu is left to LAPIS), or in the "
     "middle of the numbers that stand for them (fixed)"},
    {"by", 0, "mc|linear|trees|both|auto",
     "mc, where mu is left to LAPIS: who answers: its own best candidate (mc, "
     "the default), logistic regression, plain or with a kernel (linear), "
     "trees, the mean of mc and linear (both), or whichever of mc, linear and "
     "trees tells hidden labels best, the mean in a toss-up (auto)"},
    {"config", 0, "F.json",
     "the settings and the map that lapis cv --config wrote; what stands on "
     "the command line counts before them"},
    {"mpi", 0, NULL,
     "divide the samples among the processes that mpirun started"},
    {NULL, 0, NULL, NULL}};

/* Everything a fit holds, freed in one place. */
typedef struct job {
  void *settings;
  lapis_dataset *ds;
  lapis_data data; /* as the method sees it: mapped */
  lapis_map *map, *map_priv;
  double *X, *P;
  lapis_solver *solver;
  cli_views views;
  void *suspects;
  lapis_race *race; /* that chose settings, or NULL */
  int by;           /* who of it answers instead of mc, or -1 */
  bool finished;    /* nothing is left to go on with */
} job;

static void job_free(job *j)
{
  lapis_solver_free(j->solver);
  views_free(&j->views);
  lapis_dataset_free(j->ds);
  lapis_map_free(j->map);
  lapis_map_free(j->map_priv);
  free(j->X);
  free(j->P);
  free(j->settings);
  free(j->suspects);
  lapis_race_free(j->race);
}

static void print_number(const char *name, double value, const char *format)
{
  if (isnan(value)) return;
  printf("%s ", name);
  printf(format, value);
  printf("  ");
}

/* Who answers: the method that was named, or a runner of its race. */
static const char *answers(const cli *c, const job *j)
{
  return j->by < 0 ? c->method->name : lapis_race_at(j->race, j->by).method;
}

/* The table of its settings. */
static const lapis_method *table_of(const cli *c, const job *j)
{
  return j->by < 0 ? c->method : lapis_race_method(answers(c, j));
}

/* A result that not every fit has. */
static bool has_result(const job *j, const char *wanted, lapis_mat *out)
{
  const char *name;
  int i = 0;
  while ((name = lapis_result_name(j->solver, i)) != NULL &&
         strcmp(name, wanted) != 0)
    i++;
  return name != NULL && lapis_result_get(j->solver, name, out) >= 0;
}

/* roml --instances: how many there are. */
static void tell_instances(const job *j)
{
  lapis_mat of;
  double most = 0;
  if (!has_result(j, "instance", &of)) return;
  for (int64_t k = 0; k < of.cols; k++)
    most = fmax(most, lapis_mat_at(&of, 0, k));
  if (most > 1)
    printf("%.0f instances of %.0f features each\n", most,
           (double)of.cols / most);
}

static void print_text(cli *c, const job *j)
{
  const lapis_info *info = lapis_result_info(j->solver);
  const lapis_data *data = lapis_dataset_data(j->ds);
  cli_counts all = count_data(c, data);
  printf("%s: %lld samples of %lld features", answers(c, j),
         (long long)all.samples, (long long)data->X.rows);
  if (data->Y.rows > 0)
    printf(", %lld target%s", (long long)data->Y.rows,
           data->Y.rows > 1 ? "s" : "");
  printf("; missing: %lld features, %lld targets\n", (long long)all.features,
         (long long)all.targets);
  printf("%s after %lld iterations, %.2f s (%.2f s in singular values)\n",
         lapis_status_name(info->status), (long long)info->iterations,
         info->seconds, info->svd_seconds);
  print_number("objective", info->objective, "%.10g");
  print_number("dual", info->dual, "%.10g");
  print_number("gap", info->gap, "%.1e");
  print_number("residual", info->residual, "%.1e");
  printf("rank %lld\n", (long long)info->rank);
  tell_instances(j);
}

static void warn_if_stopped(cli *c, const lapis_info *info)
{
  if (info->status == LAPIS_OK || c->quiet) return;
  cli_wipe_bar(c);
  fprintf(stderr, "lapis: %s: stopped before the tolerance was met (%s)\n",
          c->method->name, lapis_status_name(info->status));
}

static bool says(cli *c, const void *settings, const char *name,
                 const char *value)
{
  char text[32];
  return lapis_settings_get(c->ctx, c->method, settings, name, text,
                            sizeof text) >= 0 &&
         strcmp(text, value) == 0;
}

static bool has_setting(const cli *c, const char *name)
{
  int i = 0;
  while (i < c->method->n_params &&
         strcmp(c->method->params[i].name, name) != 0)
    i++;
  return i < c->method->n_params;
}

/* What `--scale auto` did, where the method has it and it did something. */
static void tell_scale(cli *c, const job *j)
{
  lapis_mat tried; /* tell_tried says it, too */
  if (has_result(j, "tried", &tried)) return;
  if (!has_setting(c, "scale") || c->quiet ||
      !says(c, j->settings, "scale", "auto") ||
      !says(c, lapis_result_settings(j->solver), "scale", "standard"))
    return;
  cli_wipe_bar(c);
  fprintf(stderr,
          "lapis: %s: the sizes of the features differ much, or are far from "
          "1: they were standardised inside (--scale none leaves them)\n",
          c->method->name);
}

/* A class of words that one sample has, where another has several: perhaps
 * "opne" for "open". */
static void warn_of_rare(cli *c, const job *j)
{
  enum { NAMED = 3, SEVERAL = 3 };
  const lapis_mat *Y = &lapis_dataset_data(j->ds)->Y;
  lapis_mat texts = class_texts(c, j->ds);
  char shown[128];
  double most = 0;
  int64_t rare = 0;
  if (texts.cols == 0) return;
  double *count = calloc((size_t)texts.cols, sizeof *count);
  if (count == NULL) return;
  for (int64_t k = 0; k < Y->cols; k++) {
    double v = lapis_mat_at(Y, 0, k);
    if (v >= 0 && v < (double)texts.cols) count[(int64_t)v]++;
  }
  spread_count(c, count, texts.cols);
  for (int64_t k = 0; k < texts.cols; k++) most = fmax(most, count[k]);
  for (int64_t k = 0; k < texts.cols && most >= SEVERAL && !c->quiet; k++)
    if (count[k] == 1 && rare++ < NAMED)
      fprintf(stderr,
              "lapis: warning: %s: the class \"%s\" has one sample: is it "
              "spelt right?\n",
              c->method->name,
              lapis_text_shown(((const char *const *)texts.val)[k], shown,
                               sizeof shown));
  if (rare > NAMED)
    fprintf(stderr, "lapis: warning: %s: %lld classes have one sample each\n",
            c->method->name, (long long)rare);
  free(count);
}

static int by_value(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Whether n sorted values look like a measure, not like the codes of classes:
 * fractions, or many values that are mostly met once or lie far apart. */
static bool is_measure(const double *value, int64_t n, int64_t *different)
{
  enum { MANY = 6, APART = 4 };
  int64_t once = 0;
  bool whole = true;
  *different = 0;
  for (int64_t k = 0; k < n; k++) {
    bool first = k == 0 || value[k] > value[k - 1];
    *different += first;
    once += first && (k + 1 == n || value[k + 1] > value[k]);
    whole = whole && value[k] == floor(value[k]);
  }
  if (*different <= 2) return false;
  double apart = (value[n - 1] - value[0]) / (double)*different;
  return !whole ||
         (*different >= MANY && (2 * once > *different || apart >= APART));
}

/* Targets that are numbers, given to a method of classes. */
static void warn_of_numbers(cli *c, const job *j)
{
  const lapis_mat *Y = &lapis_dataset_data(j->ds)->Y;
  int64_t n = 0, different;
  bool reads = (c->method->reads & LAPIS_READS_Y) != 0;
  if (c->quiet || !reads || Y->rows != 1 || c->ranks.size > 1 ||
      answers_numbers(c) || class_texts(c, j->ds).cols > 0)
    return;
  double *value = malloc(((size_t)Y->cols + 1) * sizeof *value);
  if (value == NULL) return;
  for (int64_t k = 0; k < Y->cols; k++) {
    double v = lapis_mat_at(Y, 0, k);
    if (isfinite(v)) value[n++] = v;
  }
  qsort(value, (size_t)n, sizeof *value, by_value);
  if (is_measure(value, n, &different))
    fprintf(stderr,
            "lapis: warning: %s: the targets look like numbers and are taken "
            "as %lld classes; 'lapis fit rr' is for numbers\n",
            c->method->name, (long long)different);
  free(value);
}

/* Of two values the rarer, which no sample that has it, or any other, is told
 * to be: right for most samples, and no answer to which are.  Options that were
 * given are not named again. */
static void warn_of_silence(cli *c, const job *j)
{
  const lapis_mat *Y = &lapis_dataset_data(j->ds)->Y;
  lapis_mat said, texts = class_texts(c, j->ds);
  double value[2] = {NAN, NAN};
  int64_t known[2] = {0, 0}, told[2] = {0, 0};
  char name[128];
  bool classes = Y->rows == 1 && !answers_numbers(c) && j->race == NULL;
  if (c->quiet || c->ranks.size > 1 || !classes ||
      !has_result(j, "labels", &said) || said.rows != 1 || said.cols != Y->cols)
    return;
  for (int64_t k = 0; k < Y->cols; k++) {
    double y = lapis_mat_at(Y, 0, k);
    if (isnan(y)) continue;
    int i = isnan(value[0]) || y == value[0] ? 0 : 1;
    if (i == 1 && !isnan(value[1]) && y != value[1]) return; /* three */
    value[i] = y;
    known[i]++;
  }
  int rare = known[1] < known[0];
  for (int64_t k = 0; k < Y->cols; k++)
    told[rare] += lapis_mat_at(&said, 0, k) == value[rare];
  if (known[rare] == 0 || told[rare] > 0) return;
  if (texts.cols > 0)
    lapis_text_shown(((const char *const *)texts.val)[(int64_t)value[rare]],
                     name, sizeof name);
  else
    snprintf(name, sizeof name, "%g", value[rare]);
  cli_wipe_bar(c);
  bool balances =
      has_setting(c, "balanced") && args_get(&c->args, "balanced") == NULL;
  bool has_C = has_setting(c, "C") && args_get(&c->args, "C") == NULL;
  fprintf(stderr,
          "lapis: warning: %s: no sample is told to be \"%s\", which %lld of "
          "%lld %s; the order of the scores may still tell which are%s%s\n",
          c->method->name, name, (long long)known[rare],
          (long long)(known[0] + known[1]), known[rare] > 1 ? "are" : "is",
          balances ? "; --balanced makes both kinds count alike" : "",
          has_C ? "; a larger --C fits training samples closer" : "");
}

/* Rows that were learnt from: a method may learn from those with targets alone.
 * Called by all processes. */
static double learnt_from(cli *c, const job *j)
{
  lapis_mat used;
  double n = (double)lapis_dataset_data(j->ds)->X.cols;
  if (has_result(j, "used", &used)) {
    n = 0;
    for (int64_t k = 0; k < used.cols; k++) n += lapis_mat_at(&used, 0, k) > 0;
  }
  spread_count(c, &n, 1);
  return n;
}

static void tell_used(cli *c, const job *j)
{
  lapis_mat used;
  if (!has_result(j, "used", &used)) return;
  double n = learnt_from(c, j), all = (double)used.cols;
  spread_count(c, &all, 1);
  if (c->quiet) return;
  cli_wipe_bar(c);
  fprintf(stderr,
          "lapis: %s: learnt from the %lld of %lld rows that have %s; the "
          "others are answered\n",
          c->method->name, (long long)n, (long long)all,
          lapis_dataset_data(j->ds)->Y.rows > 1 ? "all their targets"
                                                : "a target");
}

/* misvm --threshold auto: what it found, or NULL. */
static const double *threshold_of(const job *j)
{
  lapis_mat t;
  return has_result(j, "threshold", &t) ? t.val : NULL;
}

/* misvm, C left open: what held-out bags chose, as options that say the same.
 */
static void tell_chosen(cli *c, const job *j)
{
  static const char *const names[] = {"kernel", "C", "scale", "threshold"};
  char text[4][32];
  for (int k = 0; k < 4; k++)
    (void)lapis_settings_get(c->ctx, c->method,
                             lapis_result_settings(j->solver), names[k],
                             text[k], sizeof text[k]);
  fprintf(stderr,
          "lapis: %s: chosen by held-out bags; the same again: --kernel %s "
          "--C %s --scale %s --threshold %s\n",
          c->method->name, text[0], text[1], text[2], text[3]);
}

static void tell_threshold(cli *c, const job *j)
{
  const double *t = threshold_of(j);
  if (t == NULL || c->quiet) return;
  cli_wipe_bar(c);
  if (says(c, j->settings, "C", "auto")) tell_chosen(c, j);
  fprintf(stderr,
          "lapis: %s: a bag scored above %.4g is positive, by held-out bags "
          "(--threshold fixed: above 0)\n",
          c->method->name, *t);
}

/* rr and rlda: whether anything was taken from the features, in units of their
 * size.  Called by all processes. */
static bool has_cleaned(cli *c, const job *j)
{
  static const double SEEN = 1e-3;
  lapis_mat E, scale;
  double n = 0;
  if (!has_result(j, "sparse", &E) || !has_result(j, "scale", &scale))
    return true;
  for (int64_t k = 0; k < E.rows * E.cols; k++)
    n += fabs(lapis_mat_at(&E, k % E.rows, k / E.rows)) >
         SEEN * lapis_mat_at(&scale, k % E.rows, 1);
  spread_count(c, &n, 1);
  return n > 0;
}

/* What two folds told of what was chosen, and its standard error. */
static double told_of(const lapis_mat *tried, const lapis_rr_settings *used,
                      double *error)
{
  double told = NAN;
  for (int64_t t = 0; t < tried->cols; t++) {
    double lambda = lapis_mat_at(tried, 0, t);
    double gamma = lapis_mat_at(tried, 1, t); /* 0: from the data */
    bool it = fabs(lambda - used->lambda) <= 1e-12 * lambda &&
              (!(gamma > 0) || fabs(gamma - used->gamma) <= 1e-12) &&
              (int)lapis_mat_at(tried, 3, t) == used->denoise;
    if (it) told = lapis_mat_at(tried, 2, t);
    if (it) *error = lapis_mat_at(tried, 4, t);
  }
  return told;
}

/* rr: clear of chance is one standard error.  Of tables without any signal the
 * best of 15 tries has R^2 above 0 in a quarter to a half, above one error in a
 * tenth; two errors, which mc asks for, would doubt a third of those of 40 rows
 * that have R^2 near .4. */
static void warn_if_unsure(const cli *c, double told, double error)
{
  static const char help[] =
      "; more rows that have a target, or other features, may help";
  if (!(told <= error)) return;
  if (told > 0)
    fprintf(stderr,
            "lapis: warning: %s: it is not clear that anything was learnt: "
            "hidden rows are told with R^2 %.3f +- %.3f, and chance may do "
            "that%s\n",
            c->method->name, told, error, help);
  else
    fprintf(stderr,
            "lapis: warning: %s: hidden rows are told no better than by the "
            "mean of the known targets (R^2 %.3f +- %.3f), so the values that "
            "are filled in say little%s\n",
            c->method->name, told, error, help);
}

/* rr and rlda, settings left open: what was chosen, and whether cleaning paid.
 */
static void tell_tried(cli *c, const job *j)
{
  enum { FEW = 10 }; /* of rr in solve/robust/choose.c */
  lapis_mat tried;
  if (!has_result(j, "tried", &tried)) return;
  bool cleaned = has_cleaned(c, j), few = learnt_from(c, j) < FEW;
  if (c->quiet) return;
  const lapis_rr_settings *used = lapis_result_settings(j->solver);
  double error = NAN, told = told_of(&tried, used, &error);
  bool classes = !answers_numbers(c);
  cli_wipe_bar(c);
  fprintf(stderr, "lapis: %s: %s; ", c->method->name,
          used->scale == LAPIS_SCALE_ROBUST ? "brought to one size by medians"
                                            : "standardised inside");
  if (isnan(told))
    fprintf(stderr, "%s: settings were not compared; lambda %.4g, gamma %.3g\n",
            classes ? "no fold could be judged (that takes two samples of each "
                      "of two classes)"
            : few   ? "fewer than 10 samples"
                    : "no fold could be judged",
            used->lambda, used->gamma);
  else
    fprintf(stderr,
            "%slambda %.4g and gamma %.3g chosen, %s %.3f on two folds%s%s\n",
            cleaned && used->denoise == LAPIS_RR_RPCA ? "robust PCA first, "
                                                      : "",
            used->lambda, used->gamma, classes ? "right in" : "R^2", told,
            classes ? ", classes counting alike" : "",
            cleaned ? "" : ": no cleaning was worth its while");
  if (!classes) warn_if_unsure(c, told, error);
}

static lapis_status put_texts(cli *c, const job *j, lapis_model *m)
{
  lapis_mat names = lapis_dataset_text(j->ds, "feature_names");
  lapis_mat texts = class_texts(c, j->ds);
  lapis_status s = LAPIS_OK;
  if (names.cols > 0)
    s = lapis_model_set_text(c->ctx, m, "feature_names", &names);
  lapis_mat made = lapis_dataset_text(j->ds, "feature_settings");
  if (s >= 0 && made.cols > 0)
    s = lapis_model_set_text(c->ctx, m, "feature_settings", &made);
  if (s >= 0 && texts.cols > 0)
    s = lapis_model_set_text(c->ctx, m, "class_texts", &texts);
  lapis_mat titles = lapis_dataset_text(j->ds, "target_names");
  if (s >= 0 && titles.cols > 0)
    s = lapis_model_set_text(c->ctx, m, "target_names", &titles);
  lapis_mat values = lapis_dataset_text(j->ds, "target_values");
  if (s >= 0 && values.cols > 0)
    s = lapis_model_set_text(c->ctx, m, "target_values", &values);
  lapis_mat id = lapis_dataset_text(j->ds, "id_name");
  if (s >= 0 && id.cols > 0)
    s = lapis_model_set_text(c->ctx, m, "id_name", &id);
  return s;
}

static lapis_status write_model(cli *c, const job *j, const char *path)
{
  lapis_model *m;
  lapis_status s = lapis_model_new(j->solver, &m);
  if (s < 0) return s;
  if (j->map != NULL && j->by < 0)
    s = lapis_model_set_map(c->ctx, m, j->map, false);
  if (s >= 0 && j->map_priv != NULL)
    s = lapis_model_set_map(c->ctx, m, j->map_priv, true);
  if (s >= 0) s = put_texts(c, j, m);
  if (s >= 0 && c->ranks.rank == 0) s = lapis_model_save(c->ctx, m, path);
  lapis_model_free(m);
  return spread_settle(c, s);
}

/* Who answers instead of mc has a map of its own. */
static lapis_status complete(cli *c, const job *j)
{
  lapis_model *m = NULL;
  lapis_status s = LAPIS_OK;
  if (args_get(&c->args, "completed") == NULL) return s;
  if (j->by >= 0) s = lapis_model_new(j->solver, &m);
  if (s >= 0)
    s = completed_write(c, j->solver, j->ds,
                        j->by < 0 ? j->map : lapis_model_map(m));
  lapis_model_free(m);
  return s;
}

static lapis_status write_files(cli *c, const job *j)
{
  const char *output = args_get(&c->args, "output");
  const char *model = args_get(&c->args, "model");
  lapis_status s = LAPIS_OK;
  /* a result is kept even where no model comes of it */
  if (output != NULL)
    s = is_sheet(output) ? answers_write(c, j->solver, j->ds, true, output)
                         : result_write(c, j->solver, j->ds, output);
  if (s >= 0) s = complete(c, j);
  if (s >= 0 && model != NULL) s = write_model(c, j, model);
  return s;
}

static int report(cli *c, const job *j)
{
  const lapis_info *info = lapis_result_info(j->solver);
  cli_wipe_bar(c);
  warn_if_stopped(c, info);
  warn_of_numbers(c, j);
  tell_scale(c, j);
  tell_used(c, j);
  tell_tried(c, j);
  tell_threshold(c, j);
  warn_of_silence(c, j);
  lapis_status status = write_files(c, j);
  if (status < 0) return cli_fail_status(c, status);
  if (c->json) {
    lapis_json *to = run_json(c, answers(c, j), table_of(c, j), j->solver,
                              lapis_dataset_data(j->ds));
    const double *threshold = threshold_of(j);
    if (threshold != NULL) lapis_json_put_number(to, "threshold", *threshold);
    if (j->race != NULL) lapis_json_put(to, "runners", race_json(j->race));
    if (j->suspects != NULL)
      lapis_json_put(to, "suspects", contradicted_json(c));
    print_json(to);
  } else {
    print_text(c, j);
    if (args_get(&c->args, "output") == NULL) print_contradicted(c, j->ds);
  }
  return cli_exit_code(c, info->status);
}

static int solve(cli *c, job *j)
{
  lapis_status s;
  if (j->by < 0)
    s = lapis_solver_new(c->ctx, c->method, &j->data, j->settings, &j->solver);
  else
    s = lapis_race_answer_new(c->ctx, j->race, j->by, lapis_dataset_data(j->ds),
                              j->settings, &j->solver);
  if (s >= 0) s = lapis_solve(j->solver);
  j->finished = s == LAPIS_OK || s == LAPIS_PRECISION_FLOOR;
  return s < 0 ? cli_fail_status(c, s) : report(c, j);
}

/* Settings that were left open, and the map that goes with them. */
static int choose(cli *c, job *j)
{
  const lapis_data *d = lapis_dataset_data(j->ds);
  if (strcmp(c->method->name, "rpca") == 0) units_tell(c, d);
  if (strcmp(c->method->name, "mc") != 0) return EXIT_DONE;
  const char *map;
  int code = race_settings(c, d, j->settings, &j->race, &j->by, &map);
  if (code == EXIT_DONE && map == NULL) map = units_map(c, d, j->settings);
  if (code != EXIT_DONE || map == NULL || j->by >= 0) return code;
  lapis_status s = lapis_map_new(c->ctx, map, &j->map);
  if (s >= 0) s = lapis_map_fit(c->ctx, j->map, &d->X);
  if (s >= 0) s = lapis_map_make(c->ctx, j->map, &d->X, &j->X, &j->data.X);
  return s < 0 ? cli_fail_status(c, s) : EXIT_DONE;
}

/* Choosing may take half of the time there is, suspects half of the rest. */
static int work(cli *c, job *j)
{
  double limit = time_limit(c, j->settings), start = clock_seconds();
  lapis_ctx_limit(c->ctx, limit / 2);
  int code = choose(c, j);
  lapis_ctx_limit(c->ctx, (limit - (clock_seconds() - start)) / 2);
  if (code == EXIT_DONE)
    code = find_suspects(c, &j->data, j->settings, &j->suspects);
  lapis_ctx_limit(c->ctx, limit - (clock_seconds() - start));
  return code == EXIT_DONE ? solve(c, j) : code;
}

/* Before the work, not after it. */
static int check_learns(const cli *c)
{
  if (args_get(&c->args, "model") == NULL ||
      lapis_predict_method(c->method) != NULL)
    return EXIT_DONE;
  return cli_fail(EXIT_MISUSE,
                  "fit: %s solves for the data at hand and learns no model; "
                  "leave out --model, -o F.npz writes what it found",
                  c->method->name);
}

/* New images have points where they are: a model of points is of images that
 * were not moved. */
static int check_frame(cli *c, void *settings)
{
  if (args_get(&c->args, "model") == NULL ||
      strcmp(c->method->name, "roml") != 0 ||
      !says(c, settings, "layout", "coordinates") ||
      says(c, settings, "invariance", "none"))
    return EXIT_DONE;
  if (!says(c, settings, "invariance", "auto") &&
      !says(c, settings, "invariance", ""))
    return cli_fail(EXIT_MISUSE,
                    "fit: a model of points is learnt from images as they "
                    "lie; leave out --invariance, or --model");
  if (!c->quiet)
    fprintf(stderr, "lapis: roml: a model of points is learnt from images as "
                    "they lie: --invariance none\n");
  lapis_status s =
      lapis_settings_set(c->ctx, c->method, settings, "invariance", "none");
  return s < 0 ? cli_fail_status(c, s) : EXIT_DONE;
}

/* Who answers with targets alone, or instead of mc with a map of its own, turns
 * nothing back. */
static bool fills_features(const cli *c)
{
  const char *by = args_get(&c->args, "by");
  if (by != NULL && strcmp(by, c->method->name) != 0) return false;
  return c->method->completes;
}

/* Of a feature that no sample has, nothing can be told: mc refuses it by the
 * place that it has in X, rpca fills it with zeros.  Called by all processes.
 */
static int check_seen(cli *c, const lapis_dataset *ds)
{
  const lapis_mat *X = &lapis_dataset_data(ds)->X;
  lapis_mat titles = lapis_dataset_text(ds, "feature_names");
  bool fills = args_get(&c->args, "completed") != NULL && fills_features(c);
  char title[128], others[64] = "";
  int64_t first = -1, more = 0;
  if (X->colptr != NULL || titles.cols != X->rows ||
      (!fills && strcmp(c->method->name, "mc") != 0))
    return EXIT_DONE;
  double *seen = calloc((size_t)X->rows + 1, sizeof *seen);
  if (seen == NULL) return cli_fail(EXIT_FAILED, "out of memory");
  for (int64_t i = 0; i < X->rows; i++) /* one that is seen is enough */
    for (int64_t j = 0; j < X->cols && seen[i] == 0; j++)
      seen[i] = !isnan(lapis_mat_at(X, i, j));
  spread_count(c, seen, X->rows);
  for (int64_t i = X->rows - 1; i >= 0; i--) {
    if (seen[i] > 0) continue;
    more += first >= 0;
    first = i;
  }
  free(seen);
  if (first < 0) return EXIT_DONE;
  if (more > 0)
    snprintf(others, sizeof others, ", nor do %lld other%s", (long long)more,
             more > 1 ? "s" : "");
  return cli_fail(EXIT_INPUT,
                  "fit: column \"%s\" holds no value in any row%s, so nothing "
                  "can be told of it; --drop leaves it out",
                  lapis_text_shown(((const char *const *)titles.val)[first],
                                   title, sizeof title),
                  others);
}

/* Maps are fitted to the samples of all processes, and made of one's own. */
static int cut_and_map(cli *c, job *j)
{
  j->data = *lapis_dataset_data(j->ds);
  lapis_data own = j->data;
  int code = map_from_args(c, "map", &own.X, &j->map, &j->X, &j->data.X);
  if (code == EXIT_DONE)
    code =
        map_from_args(c, "map-priv", &own.P, &j->map_priv, &j->P, &j->data.P);
  if (code == EXIT_DONE && fills_features(c))
    code = check_back(c, j->map, &own.X);
  return spread_agree(c, code);
}

static int run(cli *c)
{
  job j = {.by = -1};
  int code = check_learns(c);
  if (code == EXIT_DONE) code = config_read(c);
  if (code == EXIT_DONE) code = settings_from_args(c, &j.settings);
  if (code == EXIT_DONE) code = check_frame(c, j.settings);
  if (code == EXIT_DONE) code = check_answers(c, args_get(&c->args, "output"));
  if (code == EXIT_DONE) code = check_completed(c);
  if (code == EXIT_DONE) code = check_writable(c, args_get(&c->args, "model"));
  if (code == EXIT_DONE) code = views_read(c, j.settings, &j.views);
  if (code == EXIT_DONE) code = dataset_from_args(c, &j.ds);
  code = spread_agree(c, code);
  if (code == EXIT_DONE) code = check_known(c, j.ds);
  if (code == EXIT_DONE) code = check_seen(c, j.ds);
  if (code == EXIT_DONE) code = cut_and_map(c, &j);
  if (code == EXIT_DONE) warn_of_rare(c, &j);
  if (code == EXIT_DONE)
    code = checkpoint_open(c, &j.data, j.settings, &j.views);
  if (code == EXIT_DONE) code = work(c, &j);
  code = checkpoint_close(c, code, j.finished);
  job_free(&j);
  return code;
}

const cli_verb verb_fit = {
    .name = "fit",
    .synopsis = "fit METHOD [DATA] [options]",
    .help = "learn from data, and fill in what is missing in them",
    .options = options,
    .first_at = lapis_method_at,
    .first = "method",
    .reads_data = true,
    .run = run};
