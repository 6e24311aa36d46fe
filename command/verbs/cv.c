/* cv.c - lapis cv METHOD [DATA] --grid NAME=V,V: settings by k folds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "command/run/grids.h"

static const cli_option options[] = {
    {"grid", 0, "NAME=V,V",
     "values to try, or LOW:HIGH:COUNT spaced evenly on a log scale; each name "
     "once; paper: those of the method's paper"},
    {"folds", 0, NULL, NULL}, /* these of lapis_cv_table */
    {"folds-of", 0, NULL, NULL},
    {"groups", 0, NULL, NULL},
    {"metric", 0, NULL, NULL},
    {"pooled", 0, NULL, NULL},
    {"map", 0, NULL, NULL},
    {"map-priv", 0, NULL, NULL},
    {"baseline", 0, NULL,
     "also the method linear on the same folds and, where P is given, the "
     "method without it, and whether they are beaten"},
    {"positive", 0, "WORD",
     "of two words of the targets the positive one (default: the last in their "
     "order); misvm: that of which a bag holds an instance"},
    CLI_JOBS_ROW("folds"),
    {"checkpoint", 0, "F",
     "keep what a killed or interrupted run needs; the same command continues "
     "from there"},
    {"config", 0, "F.json",
     "write the settings of the best point there, for lapis fit --config"},
    {"part", 0, "K/N",
     "evaluate only the folds K, K + N, ... and write the scores to -o; a "
     "part a process, at most as many as there are folds"},
    {"output", 'o', "F.npz", "of --part: the file for --join"},
    {"join", 0, NULL,
     "what the parts found, together: lapis cv --join F1 F2 ..., without a "
     "method and data"},
    {NULL, 0, NULL, NULL}};

typedef struct point {
  double mean, deviation, seconds;
  int64_t folds;
} point;

static double number_at(const lapis_solver *cv, const char *name, int64_t i)
{
  lapis_mat all = result_of(cv, name);
  return lapis_mat_at(&all, 0, i);
}

static point point_at(const lapis_solver *cv, int64_t i)
{
  return (point){number_at(cv, "mean", i), number_at(cv, "deviation", i),
                 number_at(cv, "seconds", i),
                 (int64_t)number_at(cv, "folds", i)};
}

static const char *text_of(const lapis_solver *cv, const char *name)
{
  lapis_mat text = result_of(cv, name);
  return text.cols > 0 ? flow_text_at(&text, 0) : NULL;
}

static void print_point(const lapis_solver *cv, const grid_text *g, int64_t i,
                        const char *mark)
{
  point p = point_at(cv, i);
  for (int k = 0; k < g->count; k++)
    printf("%s=%-12s ", g->grid[k].name, cv_value(cv, i, k));
  bool judged = !isnan(p.mean);
  if (judged)
    printf("%.4f", p.mean);
  else
    printf("not scored");
  if (judged && !isnan(p.deviation)) printf(" +- %.4f", p.deviation);
  printf("  (");
  if (p.folds > 0 || !judged) /* pooled: none may have a value of its own */
    printf("%lld fold%s, ", (long long)p.folds, cli_s(p.folds));
  printf("%.2f s)%s\n", p.seconds, mark);
}

static void print_text(const lapis_solver *cv, const grid_text *g, bool pooled)
{
  int64_t best = cv_best(cv);
  printf("%s%s\n", text_of(cv, "metric"),
         pooled ? " of all hidden samples, and its standard error"
                : ", mean and deviation over folds");
  for (int64_t i = 0; i < result_of(cv, "mean").cols; i++)
    print_point(cv, g, i, i == best ? "  <- best" : "");
}

static lapis_json *point_json(const lapis_solver *cv, const grid_text *g,
                              int64_t i)
{
  lapis_json *to = lapis_json_object(), *at = lapis_json_object();
  point p = point_at(cv, i);
  for (int k = 0; k < g->count; k++)
    lapis_json_put_text(at, g->grid[k].name, cv_value(cv, i, k));
  lapis_json_put(to, "settings", at);
  lapis_json_put_number(to, "mean", p.mean);
  lapis_json_put_number(to, "deviation", p.deviation);
  lapis_json_put_integer(to, "folds", p.folds);
  lapis_json_put_number(to, "seconds", p.seconds);
  return to;
}

/* *out: NULL where it did not end. */
static lapis_status run_cv(lapis_ctx *ctx, const lapis_method *m,
                           const lapis_data *data, const void *settings,
                           const lapis_cv_options *o, const grid_text *g,
                           lapis_solver **out)
{
  lapis_status s =
      lapis_cv_new(ctx, m, data, settings, o, g->grid, g->count, out);
  if (s >= 0) s = lapis_solve(*out);
  if (s >= 0 && s != LAPIS_CANCELLED) return s;
  lapis_solver_free(*out);
  *out = NULL;
  return s;
}

/* What is put beside the answer, on the same folds. */
typedef struct rival {
  grid_text grid;   /* borrowed values */
  lapis_solver *cv; /* NULL: there is none */
} rival;

/* Before any work. */
static int check_rival(const cli *c, const lapis_cv_options *o)
{
  if (args_get(&c->args, "baseline") == NULL) return EXIT_DONE;
  if (o->folds_of == LAPIS_FOLDS_OF_CELLS)
    return cli_fail(EXIT_MISUSE, "cv: --baseline learns from whole rows; "
                                 "--folds-of rows hides those");
  if (answers_numbers(c))
    return cli_fail(EXIT_MISUSE,
                    "cv: --baseline is logistic regression, which predicts "
                    "classes; %s predicts numbers",
                    c->method->name);
  return EXIT_DONE;
}

/* linear, its C chosen likewise.  Features come standardised where they are
 * dense and no kernel is made of them. */
static int ask_linear(cli *c, const lapis_data *data,
                      const lapis_cv_options *folds, rival *r)
{
  static const char *const Cs[] = {".001", ".01", ".1", "1", "10", "100"};
  const lapis_method *linear = lapis_method_find("linear");
  lapis_linear_settings settings = lapis_linear_defaults();
  lapis_cv_options o = *folds;
  lapis_data plain = *data;
  char map[4096];
  if (args_get(&c->args, "baseline") == NULL) return EXIT_DONE;
  bool mapped = o.map != NULL && strcmp(o.map, "none") != 0;
  if (data->X.colptr == NULL && !(mapped && strstr(o.map, "nystrom:"))) {
    int n = snprintf(map, sizeof map, "%s%sstandard", mapped ? o.map : "",
                     mapped ? "," : "");
    if (n > 0 && (size_t)n < sizeof map) o.map = map;
  }
  o.map_priv = NULL;
  plain.P = (lapis_mat){0};
  r->grid.grid[r->grid.count++] = (lapis_grid){"C", 6, Cs};
  lapis_status s =
      run_cv(c->ctx, linear, &plain, &settings, &o, &r->grid, &r->cv);
  return s < 0 || s == LAPIS_CANCELLED ? cli_fail_status(c, s) : EXIT_DONE;
}

/* ---- what P is worth: the same folds and grid without it ------------------*/
static bool says_nothing(const char *name)
{
  static const char *const of_P[] = {"gamma", "kernel-priv", "width-priv",
                                     "rank"};
  for (size_t i = 0; i < sizeof of_P / sizeof *of_P; i++)
    if (strcmp(name, of_P[i]) == 0) return true;
  return false;
}

static int leave_out_P(cli *c, const lapis_data *data, const void *settings,
                       const lapis_cv_options *folds, const grid_text *g,
                       rival *w)
{
  lapis_data plain = *data;
  lapis_cv_options o = *folds;
  bool reads = (c->method->reads & LAPIS_READS_P) != 0;
  if (!reads || data->P.rows == 0 || !args_get(&c->args, "baseline"))
    return EXIT_DONE;
  for (int i = 0; i < g->count; i++)
    if (!says_nothing(g->grid[i].name))
      w->grid.grid[w->grid.count++] = g->grid[i];
  plain.P = (lapis_mat){0};
  o.map_priv = NULL;
  lapis_status s =
      run_cv(c->ctx, c->method, &plain, settings, &o, &w->grid, &w->cv);
  return s < 0 || s == LAPIS_CANCELLED ? cli_fail_status(c, s) : EXIT_DONE;
}

/* By how much the best point is ahead of the rival's, fold by fold where both
 * have values; NaN: nothing to compare.  far: errors that make it clear, NaN of
 * two folds, whose differences do not say how much they vary. */
typedef struct verdict {
  double ahead, error, far;
} verdict;

/* Folds share what they learn from: the variance of the mean of k differences
 * is that of one times 1/k + 1/(k - 1) [Nadeau and Bengio 2003].  Pooled, the
 * errors of both are taken as if they were of different samples. */
static verdict judge_rival(cli *c, const lapis_solver *cv, const rival *r)
{
  verdict out = {NAN, NAN, NAN};
  const lapis_metric_kind *metric;
  int64_t a = cv_best(cv), b = r->cv == NULL ? -1 : cv_best(r->cv), k = 0;
  if (a < 0 || b < 0 ||
      lapis_metric_find(c->ctx, text_of(cv, "metric"), &metric) < 0)
    return out;
  double sign = metric->less_is_better ? -1 : 1, sum = 0, square = 0;
  lapis_mat own = result_of(cv, "fold_values");
  lapis_mat other = result_of(r->cv, "fold_values");
  for (int64_t f = 0; f < own.cols && f < other.cols; f++) {
    double by = sign * (lapis_mat_at(&own, a, f) - lapis_mat_at(&other, b, f));
    if (isnan(by)) continue;
    sum += by;
    square += by * by;
    k++;
  }
  point x = point_at(cv, a), y = point_at(r->cv, b);
  if (args_get(&c->args, "pooled") != NULL)
    return (verdict){sign * (x.mean - y.mean), hypot(x.deviation, y.deviation),
                     lapis_far_errors(INFINITY)};
  if (k < 2) return out;
  double n = (double)k, spread = fmax(square - sum * sum / n, 0) / (n - 1);
  return (verdict){sum / n, sqrt(spread * (1 / n + 1 / (n - 1))),
                   k < 3 ? NAN : lapis_far_errors(n)};
}

static const char *weight_of(verdict v)
{
  if (isnan(v.far)) return "too few folds for a verdict";
  return fabs(v.ahead) > v.far * v.error ? "clear" : "a toss-up";
}

static void print_verdict(verdict v, const char *who, const char *worth)
{
  if (isnan(v.ahead) || isnan(v.error)) return;
  printf("%s %s by %.4f +- %.4f: %s%s\n", who,
         v.ahead < 0 ? "is behind" : "is ahead", fabs(v.ahead), v.error,
         weight_of(v), v.ahead > v.far * v.error || isnan(v.far) ? "" : worth);
}

static void put_verdict(lapis_json *to, verdict v, const char *name)
{
  if (isnan(v.ahead) || isnan(v.error)) return;
  lapis_json *of = lapis_json_object();
  lapis_json_put_number(of, "ahead", v.ahead);
  lapis_json_put_number(of, "error", v.error);
  lapis_json_put_text(of, "verdict", weight_of(v));
  lapis_json_put(to, name, of);
}

static void print_rival(const rival *r, const char *what)
{
  if (r->cv == NULL || cv_best(r->cv) < 0) return;
  printf("%s on the same folds, its best:\n", what);
  print_point(r->cv, &r->grid, cv_best(r->cv), "");
}

static void put_rival(lapis_json *to, const rival *r, const char *name)
{
  if (r->cv == NULL || cv_best(r->cv) < 0) return;
  lapis_json_put(to, name, point_json(r->cv, &r->grid, cv_best(r->cv)));
}

static void print_cv_json(cli *c, const lapis_solver *cv, const grid_text *g,
                          const rival *linear, const rival *without_P)
{
  lapis_json *to = lapis_json_object(), *points = lapis_json_list();
  int64_t best = cv_best(cv);
  for (int64_t i = 0; i < result_of(cv, "mean").cols; i++)
    lapis_json_put(points, NULL, point_json(cv, g, i));
  lapis_json_put_text(to, "lapis", lapis_version());
  lapis_json_put_text(to, "method", c->method->name);
  lapis_json_put_text(to, "metric", text_of(cv, "metric"));
  lapis_json_put(to, "points", points);
  if (best >= 0) lapis_json_put(to, "best", point_json(cv, g, best));
  put_rival(to, linear, "baseline");
  put_rival(to, without_P, "without_P");
  put_verdict(to, judge_rival(c, cv, linear), "against_baseline");
  put_verdict(to, judge_rival(c, cv, without_P), "against_without_P");
  print_json(to);
}

static int write_best(cli *c, const lapis_solver *cv, const grid_text *g,
                      void *settings)
{
  const char *path = args_get(&c->args, "config");
  int64_t best = cv_best(cv);
  if (best < 0) return EXIT_DONE;
  for (int k = 0; k < g->count; k++)
    lapis_settings_set(c->ctx, c->method, settings, g->grid[k].name,
                       cv_value(cv, best, k));
  return path == NULL ? EXIT_DONE : config_write(c, cv, settings, path);
}

/* What the folds make use of, and that all that was given is. */
static int check_given(cli *c, const lapis_dataset *ds, const void *settings,
                       const grid_text *g, const lapis_cv_options *o,
                       lapis_data *out)
{
  char tried[1024] = "";
  unsigned used = lapis_method_reads(c->method, settings);
  if (o->by_group) used |= LAPIS_READS_GROUP;
  int code = given_members(c, ds, used, out);
  for (int k = 0; k < g->count; k++) {
    size_t length = strlen(tried);
    snprintf(tried + length, sizeof tried - length, "%s ", g->grid[k].name);
  }
  unsigned has = lapis_data_has(out);
  return code == EXIT_DONE ? given_settings(c, settings, has, tried) : code;
}

static void show(cli *c, const lapis_solver *cv, const grid_text *g,
                 const lapis_cv_options *o, const rival *linear,
                 const rival *without_P)
{
  cli_wipe_bar(c);
  if (c->json) {
    print_cv_json(c, cv, g, linear, without_P);
    return;
  }
  bool itself = c->method == lapis_method_find("linear");
  print_text(cv, g, o->pooled);
  print_rival(without_P, "without P");
  print_rival(linear, itself ? "the baseline, linear with other C," : "linear");
  verdict P = judge_rival(c, cv, without_P);
  if (P.ahead == 0 && P.error == 0)
    printf("P made no difference on any fold (--gamma G uses it in each fit): "
           "leave P out\n");
  else
    print_verdict(P, "with P it", "; leave P out");
  print_verdict(judge_rival(c, cv, linear),
                itself ? "linear as asked for" : c->method->name,
                itself ? "" : "; linear is simpler");
}

/* The limit, or what the last fold that was left out said, or that none could
 * say anything. */
static int nothing_judged(const cli *c, lapis_status s, const lapis_solver *cv)
{
  char why[1024];
  const lapis_metric_kind *metric;
  snprintf(why, sizeof why, "%s", lapis_ctx_error(c->ctx));
  bool numbers =
      lapis_metric_find(c->ctx, text_of(cv, "metric"), &metric) >= 0 &&
      metric->reads == LAPIS_METRIC_VALUES;
  if (s == LAPIS_TIME_LIMIT)
    return cli_fail(EXIT_FAILED,
                    "cv: the time limit ended before a fold was scored; give a "
                    "larger --time-limit, or --jobs auto");
  return cli_fail(EXIT_INPUT, "cv: no point could be scored: %s",
                  *why != '\0' ? why
                  : numbers    ? "a fold needs two different values; take "
                                 "fewer --folds, or --pooled"
                               : "every fold lacks labels of both kinds; label "
                                 "more samples, or take fewer --folds");
}

static int judge(cli *c, const lapis_dataset *ds, void *settings,
                 const grid_text *g)
{
  lapis_cv_options o;
  lapis_solver *cv;
  lapis_data data;
  int code = cv_options_from_args(c, lapis_dataset_data(ds), &o);
  if (code == EXIT_DONE) code = check_rival(c, &o);
  if (code == EXIT_DONE) code = check_given(c, ds, settings, g, &o, &data);
  if (code != EXIT_DONE) return code;
  code = checkpoint_open(c, &data, settings, NULL);
  if (code != EXIT_DONE) return code;
  lapis_ctx_limit(c->ctx, time_limit(c, settings));
  lapis_status s = run_cv(c->ctx, c->method, &data, settings, &o, g, &cv);
  (void)checkpoint_close(c, EXIT_DONE, s == LAPIS_OK);
  if (s >= 0) given_say(c);
  if (s < 0 || s == LAPIS_CANCELLED) return cli_fail_status(c, s);
  rival linear = {.cv = NULL}, without_P = {.cv = NULL};
  if (cv_best(cv) < 0) code = nothing_judged(c, s, cv); /* before others run */
  if (code == EXIT_DONE) code = ask_linear(c, &data, &o, &linear);
  if (code == EXIT_DONE)
    code = leave_out_P(c, &data, settings, &o, g, &without_P);
  show(c, cv, g, &o, &linear, &without_P);
  lapis_solver_free(linear.cv);
  lapis_solver_free(without_P.cv);
  if (code == EXIT_DONE) code = write_best(c, cv, g, settings);
  if (code == EXIT_DONE) config_say(c, cv, settings, g->grid, g->count);
  lapis_solver_free(cv);
  return code == EXIT_DONE ? cli_exit_code(c, s) : code;
}

/* ---- in parts -----------------------------------------------------------*/
/* K/N of --part. */
static int read_share(cli *c, int64_t *part, int64_t *parts)
{
  static const char *const apart[] = {"baseline", "config", "pooled"};
  int code = part_from_args(c, part, parts);
  if (code != EXIT_DONE) return code;
  if (args_get(&c->args, "output") == NULL)
    return cli_fail(EXIT_MISUSE,
                    "cv: --part needs -o F.npz, to write its scores");
  for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
    if (args_get(&c->args, apart[i]) != NULL)
      return cli_fail(EXIT_MISUSE,
                      i == 1 ? "cv: one part does not know the best settings; "
                               "give --config with --join"
                             : "cv: --%s needs all folds and is not done in "
                               "parts",
                      apart[i]);
  return check_result(c, args_get(&c->args, "output"));
}

static int judge_part(cli *c, const lapis_dataset *ds, void *settings,
                      const grid_text *g)
{
  lapis_cv_options o;
  int64_t part, parts;
  lapis_data data;
  int code = read_share(c, &part, &parts);
  if (code == EXIT_DONE)
    code = cv_options_from_args(c, lapis_dataset_data(ds), &o);
  if (code == EXIT_DONE) code = check_given(c, ds, settings, g, &o, &data);
  if (code == EXIT_DONE) code = checkpoint_open(c, &data, settings, NULL);
  if (code != EXIT_DONE) return code;
  lapis_ctx_limit(c->ctx, time_limit(c, settings));
  o.part = part;
  o.parts = parts;
  o.part_file = args_get(&c->args, "output");
  lapis_solver *cv;
  lapis_status s = run_cv(c->ctx, c->method, &data, settings, &o, g, &cv);
  lapis_solver_free(cv);
  (void)checkpoint_close(c, EXIT_DONE, s == LAPIS_OK);
  if (s == LAPIS_OK) given_say(c);
  if (s == LAPIS_OK) return EXIT_DONE;
  code = cli_fail_status(c, s);
  return code == EXIT_DONE ? EXIT_FAILED : code; /* out of time: no part */
}

static int show_joined(cli *c, const lapis_solver *cv)
{
  grid_text g = {.count = 0};
  lapis_cv_options o = lapis_cv_defaults();
  rival none = {.cv = NULL};
  lapis_mat names = result_of(cv, "names");
  c->method = lapis_method_find(text_of(cv, "method"));
  for (; g.count < names.cols; g.count++)
    g.grid[g.count].name = flow_text_at(&names, g.count);
  show(c, cv, &g, &o, &none, &none);
  void *settings = malloc(c->method->settings_size);
  if (settings == NULL) return cli_fail(EXIT_FAILED, "out of memory");
  memcpy(settings, lapis_result_settings(cv), c->method->settings_size);
  int code = write_best(c, cv, &g, settings);
  free(settings);
  return code;
}

static int join(cli *c)
{
  static const char *const kept[] = {"join",    "config", "json",    "progress",
                                     "threads", "quiet",  "verbose", "strict",
                                     "backend", "kernels"};
  lapis_solver *cv;
  size_t n = sizeof kept / sizeof *kept;
  for (int i = 0; i < c->args.n_given; i++) {
    const char *name = c->args.given[i].name;
    size_t k = 0;
    while (k < n && strcmp(kept[k], name) != 0) k++;
    if (k == n)
      return cli_fail(EXIT_MISUSE,
                      "cv: --join reads what was run from the parts; leave "
                      "--%s out",
                      name);
  }
  if (c->method != NULL)
    return cli_fail(EXIT_MISUSE, "cv: --join takes files only; leave out '%s'",
                    c->method->name);
  int code = check_writable(c, args_get(&c->args, "config"));
  if (code != EXIT_DONE) return code;
  lapis_status s = lapis_cv_join(c->ctx, c->args.word, c->args.n_words, &cv);
  if (s < 0) return cli_fail_status(c, s);
  code = show_joined(c, cv);
  if (code == EXIT_DONE && cv_best(cv) < 0) code = nothing_judged(c, s, cv);
  lapis_solver_free(cv);
  return code;
}

/* The method has this setting, and it is given or in the grid. */
static bool is_stated(cli *c, const void *settings, const grid_text *g,
                      const char *name)
{
  char text[32];
  if (lapis_param_find(c->method, name) == NULL) return false;
  for (int k = 0; k < g->count; k++)
    if (strcmp(g->grid[k].name, name) == 0) return true;
  return lapis_settings_get(c->ctx, c->method, settings, name, text,
                            sizeof text) >= 0 &&
         strcmp(text, "auto") != 0;
}

/* eta and lambda together state a problem of the data as they are (rr). */
static void tell_unscaled(cli *c, const void *settings, const grid_text *g)
{
  if (c->quiet || !is_stated(c, settings, g, "eta") ||
      !is_stated(c, settings, g, "lambda") ||
      is_stated(c, settings, g, "scale"))
    return;
  fprintf(stderr,
          "lapis: %s: features are not scaled, since eta and lambda are both "
          "given; --scale robust scales them\n",
          c->method->name);
}

/* What a fit chooses for itself stands in no row of the table. */
static void tell_open_gamma(cli *c, const lapis_dataset *ds,
                            const void *settings, const grid_text *g)
{
  bool reads = lapis_dataset_data(ds)->P.rows > 0 &&
               (c->method->reads & LAPIS_READS_P) != 0;
  if (c->quiet || !reads || is_stated(c, settings, g, "gamma")) return;
  fprintf(stderr,
          "lapis: %s: --gamma is open, so each fit uses P only where folds of "
          "its own show that P pays; --gamma G uses P in every fit\n",
          c->method->name);
}

static int add_paper_grid(cli *c, grid_text *g)
{
  char one[64];
  const char *at = c->method->paper_grid;
  if (at == NULL)
    return cli_fail(EXIT_MISUSE,
                    "cv: --grid paper: the paper of %s prints no values; give "
                    "--grid NAME=V,V",
                    c->method->name);
  int code = EXIT_DONE;
  for (; code == EXIT_DONE && *at != '\0'; at += strspn(at, " ")) {
    size_t length = strcspn(at, " ");
    snprintf(one, sizeof one, "%.*s", (int)length, at);
    code = grid_add(c, g, one);
    at += length;
  }
  return code;
}

static int grids_from_args(cli *c, grid_text *g)
{
  int code = EXIT_DONE;
  for (int i = 0; code == EXIT_DONE && i < c->args.n_given; i++) {
    const char *value = c->args.given[i].value;
    if (strcmp(c->args.given[i].name, "grid") != 0) continue;
    bool paper = strcmp(value, "paper") == 0;
    code = paper ? add_paper_grid(c, g) : grid_add(c, g, value);
  }
  if (code == EXIT_DONE && g->count == 0)
    code = cli_fail(EXIT_MISUSE, "cv: give --grid NAME=V,V at least once");
  return code;
}

static int run(cli *c)
{
  if (args_no_first(c)) return join(c);
  void *settings = NULL;
  lapis_dataset *ds = NULL;
  grid_text g = {.count = 0};
  int code = EXIT_DONE;
  if (lapis_predict_method(c->method) == NULL)
    code = cli_fail(
        EXIT_MISUSE,
        "cv: %s does not predict held-out samples, so settings cannot be "
        "compared; fit it with each setting and compare what is printed",
        c->method->name);
  if (code == EXIT_DONE) code = check_writable(c, args_get(&c->args, "config"));
  if (code == EXIT_DONE) code = settings_from_args(c, &settings);
  if (code == EXIT_DONE) code = grids_from_args(c, &g);
  if (code == EXIT_DONE) lapis_ctx_limit(c->ctx, time_limit(c, settings));
  if (code == EXIT_DONE) code = dataset_from_args(c, &ds);
  if (code == EXIT_DONE) code = check_known(c, ds);
  if (code == EXIT_DONE) tell_unscaled(c, settings, &g);
  if (code == EXIT_DONE) tell_open_gamma(c, ds, settings, &g);
  bool in_parts = args_get(&c->args, "part") != NULL;
  if (code == EXIT_DONE && !in_parts && args_get(&c->args, "output") != NULL)
    code = cli_fail(EXIT_MISUSE, "cv: -o goes with --part K/N; --config F.json "
                                 "writes the best settings");
  if (code == EXIT_DONE)
    code = (in_parts ? judge_part : judge)(c, ds, settings, &g);
  grid_text_free(&g);
  lapis_dataset_free(ds);
  free(settings);
  return code;
}

const cli_verb verb_cv = {
    .name = "cv",
    .synopsis = "cv METHOD [DATA] --grid NAME=V,V",
    .help =
        "choose settings by cross-validation: hold out known answers, fold by "
        "fold, and find the settings that predict them best",
    .options = options,
    .table = lapis_cv_table,
    .first_at = lapis_method_at,
    .first = "method",
    .no_first = "join",
    .reads_data = true,
    .repeats = "grid",
    .run = run};
