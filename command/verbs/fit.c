/* fit.c - lapis fit METHOD [DATA]: learn, or solve. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/answers/candidate_sheet.h"
#include "command/answers/importance_sheet.h"
#include "command/command.h"
#include "command/run/grids.h"

static const cli_option options[] = {
    {"map", 0, "MAP",
     "how features are changed before the method reads them: none, l1, l2, "
     "sqrt, l1-sqrt, standard, scale:NUMBER, scale:auto (mean size 1), chi2, "
     "impute (gaps filled from what was seen of the sample), trim (cells far "
     "from the others of their feature count as gaps); of several kinds "
     "blocks:N+N first, balance "
     "last; a kernel as features: nystrom:WIDTH:COUNT last; "
     "chain with commas"},
    {"map-priv", 0, "MAP", "the same for privileged features"},
    {"output", 'o', "F.npz",
     "write the result: scores, labels, low_rank, ...; F.csv, F.tsv: a table "
     "of the answers, a row a sample; F.html: a page of them; DIR/: in parts, "
     "each process its own"},
    {"completed", 0, "F.csv",
     "write the table again with its holes, the empty cells of features and of "
     "targets, filled; a feature of listed values, or of 0 and 1, with the "
     "nearest"},
    CLI_SURE_ROW,
    {"positive", 0, "WORD",
     "of two words of the targets the positive one (default: the last in their "
     "order); misvm: that of which a bag holds an instance"},
    {"model", 0, "F.lapis", "write the model, for lapis predict"},
    CLI_JOBS_ROW(
        "choosing settings, looking for suspects, and the classes of svmplus"),
    {"checkpoint", 0, "F",
     "keep what a killed or interrupted run needs; the same command continues "
     "from there"},
    {"suspects", 0, "M",
     "also the M given labels (10 where no number follows) that look wrong, "
     "most doubtful first (suspect_index, suspect_margin)"},
    {"again", 0, "F.npz",
     "auto: keep the method and settings of the fit whose -o this is, and "
     "compare none; for the same features with other labels"},
    {"config", 0, "F.json",
     "the settings and the map that lapis cv --config wrote; options on the "
     "command line come first"},
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
  lapis_arrays earlier; /* of --again */
  bool chooses;         /* settings, and a map of X, by hidden labels */
  bool finished;        /* nothing is left to go on with */
  double deadline;      /* on clock_seconds' clock */
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
  lapis_arrays_free(&j->earlier);
}

/* *before is what stands before the next one. */
static void print_number(const char *name, double value, const char *format,
                         const char **before)
{
  if (isnan(value)) return;
  printf("%s%s ", *before, name);
  printf(format, value);
  *before = "  ";
}

/* What the method that answers has of it. */
static void print_info(const lapis_method *m, const lapis_info *info)
{
  const char *before = "";
  printf("%s", lapis_status_name(info->status));
  if (info->iterations > 0)
    printf(" after %lld iteration%s", (long long)info->iterations,
           cli_s(info->iterations));
  printf(", %.2f s", info->seconds);
  if (info->rank >= 0 && m->counted == NULL)
    printf(" (%.2f s in singular values)", info->svd_seconds);
  printf("\n");
  print_number("objective", info->objective, "%.10g", &before);
  print_number("dual", info->dual, "%.10g", &before);
  print_number("gap", info->gap, "%.1e", &before);
  print_number("residual", info->residual, "%.1e", &before);
  double rank = info->rank < 0 ? NAN : (double)info->rank;
  print_number(m->counted == NULL ? "rank" : m->counted, rank, "%.0f", &before);
  if (*before != '\0') printf("\n");
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
  const lapis_data *data = lapis_dataset_data(j->ds);
  cli_counts all = count_data(c, data);
  printf("%s: %lld sample%s of %lld feature%s", c->method->name,
         (long long)all.samples, cli_s(all.samples), (long long)data->X.rows,
         cli_s(data->X.rows));
  if (data->Y.rows > 0)
    printf(", %lld target%s", (long long)data->Y.rows, cli_s(data->Y.rows));
  if (j->data.P.rows > 0)
    printf(", %lld privileged feature%s", (long long)j->data.P.rows,
           cli_s(j->data.P.rows));
  printf("; missing: %lld feature%s, %lld target%s\n", (long long)all.features,
         cli_s(all.features), (long long)all.targets, cli_s(all.targets));
  print_info(c->method, lapis_result_info(j->solver));
  tell_instances(j);
}

/* What came of it, and where it is. */
static void print_filled(cli *c, const job *j)
{
  lapis_mat labels;
  const lapis_data *data = lapis_dataset_data(j->ds);
  const char *what = has_result(j, "labels", &labels) ? "label" : "number";
  long long filled = (long long)count_data(c, data).targets;
  if (data->Y.rows > 0 && filled == 0)
    printf("no %s was missing, so none is filled in%s",
           strcmp(what, "number") == 0 ? "target" : what,
           lapis_predict_method(c->method) == NULL ||
                   args_get(&c->args, "model") != NULL
               ? ""
               : "; --model F keeps what was learnt for lapis predict");
  else if (data->Y.rows > 0)
    printf("%lld %s%s filled in", filled, what, cli_s(filled));
  const char *before = data->Y.rows == 0 ? "written to "
                       : filled > 0      ? ", written to "
                                         : "; written to ";
  if (print_written(c, before) || data->Y.rows > 0) printf("\n");
}

static bool says(cli *c, const void *settings, const char *name,
                 const char *value)
{
  char text[32];
  return lapis_settings_get(c->ctx, c->method, settings, name, text,
                            sizeof text) >= 0 &&
         strcmp(text, value) == 0;
}

/* misvm --threshold auto: what it found, or NULL. */
static const double *threshold_of(const job *j)
{
  lapis_mat t;
  return has_result(j, "threshold", &t) ? t.val : NULL;
}

/* Of targets that are numbers, how answers are written. */
static lapis_status put_decimals(cli *c, const job *j, lapis_model *m)
{
  enum { ROOM = 12 };
  const lapis_mat *Y = &lapis_dataset_data(j->ds)->Y;
  lapis_mat labels, table = lapis_dataset_text(j->ds, "target_decimals");
  lapis_status s = LAPIS_OK;
  if (Y->rows == 0 || (has_result(j, "labels", &labels) && table.cols == 0))
    return s;
  char(*room)[ROOM] = calloc((size_t)Y->rows, sizeof *room);
  const char **text = calloc((size_t)Y->rows, sizeof *text);
  if (room == NULL || text == NULL)
    s = lapis_fail(c->ctx, LAPIS_ENOMEM, "out of memory");
  for (int64_t k = 0; s >= 0 && k < Y->rows; k++) {
    snprintf(room[k], ROOM, "%d", target_decimals(c, j->ds, k));
    text[k] = room[k];
  }
  lapis_mat row = lapis_mat_text(text, 1, Y->rows);
  if (s >= 0) s = lapis_model_set_text(c->ctx, m, "target_decimals", &row);
  free(room);
  free(text);
  return s;
}

/* The method that chose another one to answer, of what, and of how many. */
static lapis_status put_chooser(cli *c, const job *j, lapis_model *m)
{
  char targets[24];
  bool classes = result_of(j->solver, "labels").cols > 0;
  const char *text[] = {c->method->name, classes ? "classes" : "numbers",
                        targets};
  lapis_mat row = lapis_mat_text(text, 1, 3);
  int64_t count = lapis_dataset_data(j->ds)->Y.rows;
  if (lapis_model_method(m) == c->method || count == 0) return LAPIS_OK;
  snprintf(targets, sizeof targets, "%lld", (long long)count);
  return lapis_model_set_text(c->ctx, m, "chosen_by", &row);
}

static lapis_status put_texts(cli *c, const job *j, lapis_model *m)
{
  lapis_mat texts = class_texts(c, j->ds);
  lapis_status s = LAPIS_OK;
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
  const char *missing = args_get(&c->args, "missing");
  lapis_mat words = lapis_mat_text(&missing, 1, 1);
  if (s >= 0 && missing != NULL)
    s = lapis_model_set_text(c->ctx, m, "missing", &words);
  lapis_mat mark = lapis_mat_text(&c->decimal, 1, 1);
  if (s >= 0 && c->decimal != NULL)
    s = lapis_model_set_text(c->ctx, m, "decimal", &mark);
  lapis_mat dialect = lapis_dataset_text(j->ds, "dialect");
  if (s >= 0 && dialect.cols > 0)
    s = lapis_model_set_text(c->ctx, m, "dialect", &dialect);
  if (s >= 0) s = put_chooser(c, j, m);
  return s < 0 ? s : put_decimals(c, j, m);
}

static lapis_status write_model(cli *c, const job *j, const char *path)
{
  lapis_model *m;
  lapis_status s = lapis_model_new(j->solver, &m);
  if (s < 0) return s;
  if (j->map != NULL) s = lapis_model_set_map(c->ctx, m, j->map, false);
  if (s >= 0 && j->map_priv != NULL)
    s = lapis_model_set_map(c->ctx, m, j->map_priv, true);
  if (s >= 0) s = put_texts(c, j, m);
  if (s >= 0 && c->ranks.rank == 0) s = lapis_model_save(c->ctx, m, path);
  lapis_model_free(m);
  return spread_settle(c, s);
}

/* What chooses has a map of its own, that of *m, but for what auto has filled.
 */
static lapis_status find_map(const job *j, lapis_model **m,
                             const lapis_map **map)
{
  lapis_mat filled;
  *m = NULL;
  *map = j->map;
  if (!j->chooses || has_result(j, "completed", &filled)) return LAPIS_OK;
  lapis_status s = lapis_model_new(j->solver, m);
  *map = s >= 0 ? lapis_model_map(*m) : NULL;
  return s;
}

static lapis_status complete(cli *c, const job *j)
{
  lapis_model *m;
  const lapis_map *map;
  if (args_get(&c->args, "completed") == NULL) return LAPIS_OK;
  lapis_status s = find_map(j, &m, &map);
  if (s >= 0) s = completed_write(c, j->solver, j->ds, map);
  lapis_model_free(m);
  return s;
}

static lapis_status write_answers(cli *c, const job *j, const char *output)
{
  lapis_model *m = NULL;
  const lapis_map *map = NULL;
  lapis_status s = LAPIS_OK;
  if (lapis_dataset_data(j->ds)->Y.rows == 0) s = find_map(j, &m, &map);
  if (s >= 0) s = answers_write(c, j->solver, j->ds, map, true, output);
  lapis_model_free(m);
  return s;
}

static lapis_status write_files(cli *c, const job *j)
{
  const char *output = args_get(&c->args, "output");
  const char *model = args_get(&c->args, "model");
  lapis_status s = complete(c, j); /* a page shows it */
  /* a result is kept even where no model comes of it */
  if (s >= 0 && output != NULL)
    s = is_sheet(output) || is_page(output)
            ? write_answers(c, j, output)
            : result_write(c, j->solver, j->ds, output);
  if (s >= 0 && model != NULL) s = write_model(c, j, model);
  return s;
}

static cli_candidates candidates(const job *j)
{
  lapis_mat chosen;
  cli_candidates of = {.chosen = -1};
  if (!has_result(j, "candidates", &of.names) ||
      !has_result(j, "candidate_figures", &of.figures) ||
      !has_result(j, "chosen", &chosen))
    return (cli_candidates){.chosen = -1};
  of.chosen = (int64_t)lapis_mat_at(&chosen, 0, 0);
  return of;
}

/* Samples whose labels would help most. */
static void print_asked(const job *j)
{
  char name[256];
  lapis_mat index, margin;
  if (!has_result(j, "ask_index", &index) ||
      !has_result(j, "ask_margin", &margin) || index.cols == 0)
    return;
  printf("samples whose labels would help most, the least sure first (%s)\n",
         CLI_MARGIN);
  for (int64_t k = 0; k < index.cols; k++) {
    int64_t at = (int64_t)lapis_mat_at(&index, 0, k);
    sample_name(j->ds, at, name, sizeof name);
    printf("  %-20s margin %.3f\n", name, lapis_mat_at(&margin, 0, k));
  }
}

static lapis_json *asked_json(const lapis_mat *index, const lapis_mat *margin)
{
  lapis_json *list = lapis_json_list();
  for (int64_t k = 0; k < index->cols; k++) {
    lapis_json *to = lapis_json_object();
    lapis_json_put_integer(to, "sample", (int64_t)lapis_mat_at(index, 0, k));
    lapis_json_put_number(to, "margin", lapis_mat_at(margin, 0, k));
    lapis_json_put(list, NULL, to);
  }
  return list;
}

/* What a list of labels that look wrong leads to. */
static void offer_without_doubted(const cli *c)
{
  const lapis_mat *pair, *doubt;
  bool clear = wrong_labels(c) != NULL &&
               suspects_found(c, &pair, &doubt) > 0 &&
               !isnan(lapis_mat_at(doubt, 0, 0));
  if (clear && !c->quiet && lapis_param_find(c->method, "doubted") != NULL)
    fprintf(stderr,
            "lapis: fit: --doubted omit, in place of --suspects, learns "
            "from the others alone\n");
}

static int report(cli *c, const job *j)
{
  const lapis_info *info = lapis_result_info(j->solver);
  cli_wipe_bar(c);
  cli_candidates of = candidates(j);
  if (!c->quiet) candidates_print(&of);
  lapis_status status = write_files(c, j);
  cli_importance matters = {.count = 0};
  if (status >= 0) status = importance_read(c, j->solver, j->ds, &matters);
  if (status < 0) return cli_fail_status(c, status);
  if (c->json) {
    lapis_json *to = run_json(c, c->method->name, c->method, j->solver,
                              lapis_dataset_data(j->ds));
    const double *threshold = threshold_of(j);
    if (threshold != NULL) lapis_json_put_number(to, "threshold", *threshold);
    if (of.names.cols > 0)
      lapis_json_put(to, "candidates", candidates_json(&of));
    if (j->suspects != NULL)
      lapis_json_put(to, "suspects", contradicted_json(c));
    lapis_json *left_out = left_out_json(j->solver);
    if (left_out != NULL) lapis_json_put(to, "doubted", left_out);
    lapis_mat index, margin;
    if (has_result(j, "ask_index", &index) &&
        has_result(j, "ask_margin", &margin))
      lapis_json_put(to, "ask", asked_json(&index, &margin));
    if (matters.count > 0)
      lapis_json_put(to, "importance", importance_json(&matters));
    if (wrong_labels(c) != NULL)
      lapis_json_put(to, "expected_wrong", wrong_json(c));
    print_json(to);
  } else {
    print_text(c, j);
    print_contradicted(c, j->ds);
    offer_without_doubted(c);
    print_left_out(c, j->solver, j->ds);
    print_far(c, j->solver, j->ds);
    print_asked(j);
    importance_print(&matters);
    print_filled(c, j);
  }
  importance_free(&matters);
  return cli_exit_code(c, info->status);
}

static lapis_status make(cli *c, job *j)
{
  unsigned reads = lapis_method_reads(c->method, j->settings);
  lapis_data data = lapis_data_with(&j->data, reads);
  return lapis_solver_new(c->ctx, c->method, &data, j->settings, &j->solver);
}

/* Known labels that are predicted to be others: by what is said of each while
 * it is hidden, where hidden labels choose; else by a cross-validation at the
 * settings that are given. */
static int suspects(cli *c, job *j)
{
  lapis_mat held_out;
  if (has_result(j, "held_out", &held_out))
    return find_suspects(c, &j->data, NULL, &held_out, &j->suspects);
  if (j->chooses) return EXIT_DONE; /* few labels, no time: it is remarked */
  lapis_ctx_limit(c->ctx, j->deadline - clock_seconds());
  return find_suspects(c, &j->data, lapis_result_settings(j->solver), NULL,
                       &j->suspects);
}

static int solve(cli *c, job *j)
{
  lapis_status s = make(c, j);
  if (s >= 0) { /* what was left open is settled now */
    int code = given_settings(c, lapis_result_settings(j->solver),
                              lapis_data_has(&j->data), NULL);
    if (code != EXIT_DONE) return code;
  }
  if (s >= 0) given_say(c);
  if (s >= 0) s = lapis_solve(j->solver);
  if (s < 0) return cli_fail_status(c, s);
  int code = suspects(c, j);
  lapis_ctx_limit(c->ctx, INFINITY); /* to write it */
  j->finished = s == LAPIS_OK || s == LAPIS_PRECISION_FLOOR ||
                s == LAPIS_STOPPED_CHANGING;
  return code == EXIT_DONE ? report(c, j) : code;
}

/* Gaps of X are filled by a mean of several ways, in units of their own. */
static bool fills(cli *c, const void *settings)
{
  return says(c, settings, "fill", "false") ||
         says(c, settings, "fill", "true");
}

/* Features that are completed and nothing told of them: all squared errors
 * weigh alike, and nothing but the features says where 0 is, so deviations from
 * their means are completed, in units of their own. */
static const char *map_to_complete(const cli *c, const lapis_data *d,
                                   const lapis_mc_settings *set)
{
  static const char *const stated[] = {"map", "mpi", "mu", "mu-rel"};
  for (int i = 0; i < 4; i++)
    if (args_get(&c->args, stated[i]) != NULL) return NULL;
  if (args_get(&c->args, "completed") == NULL || d->Y.rows > 0 ||
      d->X.colptr != NULL || set->variant != LAPIS_MC_1)
    return NULL;
  if (!c->quiet)
    fprintf(stderr, "lapis: mc: --map standard puts the features on one "
                    "scale; --map none leaves them as they are\n");
  return "standard";
}

/* The map that nobody named. */
static int usual_map(cli *c, job *j)
{
  const lapis_data *d = lapis_dataset_data(j->ds);
  const char *map = c->method->joint && !fills(c, j->settings)
                        ? map_to_complete(c, d, j->settings)
                        : NULL;
  if (map == NULL) return EXIT_DONE;
  lapis_status s = lapis_map_new(c->ctx, map, &j->map);
  if (s >= 0) s = lapis_map_fit(c->ctx, j->map, &d->X);
  if (s >= 0) s = lapis_map_make(c->ctx, j->map, &d->X, &j->X, &j->data.X);
  return s < 0 ? cli_fail_status(c, s) : EXIT_DONE;
}

/* A cross-validation for suspects behind the answer has the time that it
 * leaves; what chooses shares its own out. */
static int work(cli *c, job *j)
{
  double limit = time_limit(c, j->settings);
  bool later = args_get(&c->args, "suspects") != NULL && !j->chooses;
  j->deadline = clock_seconds() + limit;
  lapis_ctx_limit(c->ctx, later ? .75 * limit : limit);
  int code = usual_map(c, j);
  if (code == EXIT_DONE) code = solve(c, j);
  return code;
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
      (c->method->reads & LAPIS_READS_XY) == 0 ||
      !says(c, settings, "layout", "coordinates") ||
      says(c, settings, "invariance", "none"))
    return EXIT_DONE;
  if (!says(c, settings, "invariance", "auto") &&
      !says(c, settings, "invariance", ""))
    return cli_fail(EXIT_MISUSE,
                    "fit: a model of points is learnt from images as they are; "
                    "leave out --invariance, or --model");
  if (!c->quiet)
    fprintf(stderr, "lapis: roml: a model of points is learnt from images as "
                    "they are: --invariance none\n");
  lapis_status s =
      lapis_settings_set(c->ctx, c->method, settings, "invariance", "none");
  return s < 0 ? cli_fail_status(c, s) : EXIT_DONE;
}

/* Of a feature that no sample has, nothing can be told: a joint method refuses
 * it by the place that it has in X, rpca fills it with zeros.  Called by all
 * processes.
 */
static int check_seen(cli *c, const lapis_dataset *ds)
{
  const lapis_mat *X = &lapis_dataset_data(ds)->X;
  lapis_mat titles = lapis_dataset_text(ds, "feature_names");
  bool fills = args_get(&c->args, "completed") != NULL && c->method->completes;
  char title[128], others[64] = "";
  int64_t first = -1, more = 0;
  if (X->colptr != NULL || titles.cols != X->rows ||
      (!fills && !c->method->joint))
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
             cli_s(more));
  return cli_fail(EXIT_INPUT,
                  "fit: column \"%s\" holds no value in any row%s, so it "
                  "cannot be used; --drop leaves it out",
                  lapis_text_shown(((const char *const *)titles.val)[first],
                                   title, sizeof title),
                  others);
}

/* Maps are fitted to the samples of all processes, and made of one's own. */
static int cut_and_map(cli *c, job *j)
{
  lapis_data own = j->data;
  int code = EXIT_DONE;
  if (!j->chooses) /* else it is a setting */
    code = map_from_args(c, "map", &own.X, &j->map, &j->X, &j->data.X);
  if (code == EXIT_DONE)
    code =
        map_from_args(c, "map-priv", &own.P, &j->map_priv, &j->P, &j->data.P);
  if (code == EXIT_DONE && (c->method->completes || c->method->joint))
    code = check_back(c, j->map, &own.X);
  return spread_agree(c, code);
}

static int check_jobs(const cli *c, const job *j)
{
  bool used =
      j->chooses || c->method->each || args_get(&c->args, "suspects") != NULL;
  if (args_get(&c->args, "jobs") == NULL || used) return EXIT_DONE;
  return cli_fail(EXIT_MISUSE,
                  "fit: %s: --jobs goes with auto, svmplus, --suspects, and mc "
                  "where mu is open",
                  c->method->name);
}

/* --completed of what chooses, where it can fill gaps of X. */
static int fill(cli *c, void *settings)
{
  if (args_get(&c->args, "completed") == NULL || !fills(c, settings))
    return EXIT_DONE;
  lapis_status s =
      lapis_settings_set(c->ctx, c->method, settings, "fill", "true");
  return s < 0 ? cli_fail_status(c, s) : EXIT_DONE;
}

/* --suspects of what chooses are by what it says of labels held out, and so is
 * how sure a page says it is. */
static int hold_out(cli *c, const lapis_dataset *ds, void *settings)
{
  enum { ROOM = 32 };
  char folds[ROOM];
  bool page = is_page(args_get(&c->args, "output")) &&
              lapis_suspects_check(c->ctx, lapis_dataset_data(ds)) >= 0;
  if ((args_get(&c->args, "suspects") == NULL && !page) ||
      lapis_settings_get(c->ctx, c->method, settings, "held-out", folds,
                         sizeof folds) < 0 ||
      strcmp(folds, "0") != 0)
    return EXIT_DONE;
  char bags[8] = "";
  (void)lapis_settings_get(c->ctx, c->method, settings, "bags", bags, 8);
  if (args_get(&c->args, "suspects") == NULL && strcmp(bags, "true") == 0)
    return EXIT_DONE; /* a page of bags is without */
  lapis_status s =
      lapis_settings_set(c->ctx, c->method, settings, "held-out", "5");
  return s < 0 ? cli_fail_status(c, s) : EXIT_DONE;
}

/* A page says what matters where that costs little. */
static int weigh(cli *c, const lapis_dataset *ds, void *settings)
{
  enum { MOST = 40, MOST_ROWS = 5000 };
  const lapis_data *data = lapis_dataset_data(ds);
  bool small = data->Y.rows > 0 && data->X.rows <= MOST &&
               data->X.colptr == NULL && data->X.cols <= MOST_ROWS;
  if (!is_page(args_get(&c->args, "output")) || !small ||
      !says(c, settings, "importance", "false") ||
      says(c, settings, "bags", "true"))
    return EXIT_DONE;
  lapis_status s =
      lapis_settings_set(c->ctx, c->method, settings, "importance", "true");
  return s < 0 ? cli_fail_status(c, s) : EXIT_DONE;
}

static int check_given(cli *c, job *j)
{
  unsigned used = lapis_method_reads(c->method, j->settings);
  if (args_get(&c->args, "suspects") != NULL) used |= LAPIS_READS_GROUP;
  j->chooses = lapis_method_chooses(c->method, j->settings,
                                    lapis_data_has(lapis_dataset_data(j->ds)));
  int code = suspects_check(c, j->ds);
  if (code == EXIT_DONE) code = check_jobs(c, j);
  if (j->chooses && args_get(&c->args, "map") != NULL) {
    lapis_status s = lapis_settings_set(c->ctx, c->method, j->settings, "map",
                                        args_get(&c->args, "map"));
    if (s < 0) return cli_fail_status(c, s);
  }
  if (code == EXIT_DONE && j->chooses) code = hold_out(c, j->ds, j->settings);
  if (code == EXIT_DONE && j->chooses) code = weigh(c, j->ds, j->settings);
  if (code == EXIT_DONE && j->chooses) code = fill(c, j->settings);
  if (code == EXIT_DONE) code = given_members(c, j->ds, used, &j->data);
  if (code != EXIT_DONE) return code;
  unsigned has = lapis_data_has(&j->data);
  config_settle(c, j->settings, has);
  return given_settings(c, j->settings, has, NULL);
}

/* Who answered in the fit that --again names, as candidates reads it. */
static int take_choice(cli *c, job *j)
{
  const char *path = args_get(&c->args, "again");
  if (path == NULL) return EXIT_DONE;
  if (lapis_param_find(c->method, "candidates") == NULL)
    return cli_fail(EXIT_MISUSE,
                    "fit: %s compares no methods; --again goes with auto",
                    c->method->name);
  if (args_get(&c->args, "candidates") != NULL)
    return cli_fail(
        EXIT_MISUSE,
        "fit: --again and --candidates both choose the method; give "
        "one of them");
  lapis_status s = lapis_arrays_read(c->ctx, path, &j->earlier);
  if (s < 0) return cli_fail_status(c, s);
  const lapis_array *a = lapis_arrays_find(&j->earlier, "choice");
  if (a == NULL || a->mat.dtype != LAPIS_TEXT || a->mat.cols != 1)
    return cli_fail(EXIT_INPUT,
                    "fit: %s keeps no choice of method; --again takes what -o "
                    "F.npz of a fit auto wrote that compared candidates",
                    path);
  s = lapis_settings_set(c->ctx, c->method, j->settings, "candidates",
                         *(const char *const *)a->mat.val);
  a = lapis_arrays_find(&j->earlier, "decimal");
  if (a != NULL && a->mat.dtype == LAPIS_TEXT && a->mat.cols == 1)
    c->decimal = *(const char *const *)a->mat.val;
  return s < 0 ? cli_fail_status(c, s) : EXIT_DONE;
}

static int run(cli *c)
{
  job j = {.settings = NULL};
  int code = check_learns(c);
  if (code == EXIT_DONE) code = config_read(c);
  if (code == EXIT_DONE) code = settings_from_args(c, &j.settings);
  if (code == EXIT_DONE) code = take_choice(c, &j);
  if (code == EXIT_DONE) code = check_frame(c, j.settings);
  if (code == EXIT_DONE) code = check_answers(c, args_get(&c->args, "output"));
  if (code == EXIT_DONE) code = given_results(c);
  if (code == EXIT_DONE) code = check_completed(c);
  if (code == EXIT_DONE) code = check_writable(c, args_get(&c->args, "model"));
  if (code == EXIT_DONE) /* to read and map what it learns from */
    lapis_ctx_limit(c->ctx, time_limit(c, j.settings));
  if (code == EXIT_DONE) code = views_read(c, j.settings, &j.views);
  if (code == EXIT_DONE) code = dataset_from_args(c, &j.ds);
  if (code == EXIT_DONE) code = check_given(c, &j);
  code = spread_agree(c, code);
  if (code == EXIT_DONE) code = check_known(c, j.ds);
  if (code == EXIT_DONE) code = check_seen(c, j.ds);
  if (code == EXIT_DONE) code = cut_and_map(c, &j);
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
    .answers = true,
    .reads_data = true,
    .run = run};
