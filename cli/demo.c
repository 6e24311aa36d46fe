/* demo.c - lapis demo: who wears sunglasses?
 *
 * The experiment of [MC11] Table 1 on the bundled CMU faces: word histograms
 * of 624 images, labels known for some people's images, asked for those of
 * the others.  First the answer at settings known to be good, at once.  Then
 * settings are chosen by cross-validation over the training people, who are
 * hidden one fold after the other; a linear SVM gets the same choice; a few
 * training labels are flipped and looked for. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "baseline.h"
#include "choose.h"
#include "faces.h"

static const cli_option options[] = {
    {"output", 'o', "DIR", "write X, Y, settings and scores there"},
    {"people", 0, "N,N,..", "training people, of 0 to 19 (default: 0 to 7)"},
    {"quick", 0, NULL,
     "only mc1 and pos, with settings that are known to be good"},
    {NULL, 0, NULL, NULL}};

/* lambda, gamma, mu_rel: known to be good; grids: one setting after another,
 * mu first, each with the values of those before that did best.  What a setting
 * has already stands in the grid of mu alone. */
enum { AXES = 3 };
typedef struct trial {
  const char *name, *map, *features;
  const char *lambda, *gamma, *mu_rel;
  const char *grid[AXES];
  const char *iters; /* at most, of a fit that helps to choose */
  const char *tol;   /* of the fit with what was chosen */
  double paper;
} trial;

static const trial trials[] = {{"mc1",
                                "sqrt",
                                "square-rooted counts",
                                ".1",
                                "3",
                                ".02",
                                {"mu-rel=.05,.02,.01", "lambda=.3", "gamma=10"},
                                "10",
                                "1e-4",
                                0.96},
                               {"pos",
                                "none",
                                "counts",
                                ".01",
                                "1",
                                ".002",
                                {"mu-rel=.004,.002", "lambda=.1", "gamma=3"},
                                "5",
                                "1e-3",
                                0.97},
                               {"simplex",
                                "l1",
                                "histograms of sum 1",
                                ".01",
                                "3",
                                ".1",
                                {"mu-rel=.3,.1", "lambda=.001", NULL},
                                "5",
                                "1e-3",
                                0.96}};
enum { TRIALS = sizeof trials / sizeof *trials, QUICK_TRIALS = 2 };
enum { FOLDS = 4, SUSPECTS = 10 };
/* While choosing: enough to tell which setting is better, not what the best
 * gives.  pos and simplex, whose steps are dear, choose after 5 what they
 * choose after 10 (for people 0 to 7, and for 12 to 19); mc1 does not. */
static const char *const LOOSE_TOL = "1e-2";

typedef struct outcome {
  double auroc, lambda, gamma, mu_rel;
  double folded; /* AUROC of test people folded into a fit without them */
  bool chosen;   /* its settings, or known to be good */
  lapis_info info;
} outcome;

typedef struct rivals { /* linear SVM: test AUROC by features */
  double l1, roots;
} rivals;

typedef struct suspects {
  int64_t found, hits, flips;
  int64_t index[2 * SUSPECTS];
  double margin[SUSPECTS];
  bool flipped[SUSPECTS];
} suspects;

static int set(cli *c, lapis_mc_settings *to, const char *name,
               const char *value)
{
  lapis_status s =
      lapis_settings_set(c->ctx, lapis_method_find("mc"), to, name, value);
  return s < 0 ? cli_fail_status(c, s) : EXIT_DONE;
}

/* ---- choosing -----------------------------------------------------------*/
static lapis_cv_options by_person(void)
{
  lapis_cv_options o = lapis_cv_defaults();
  o.by_group = true;
  o.folds = FOLDS;
  return o;
}

/* The best point of a grid takes its place in settings where it beats *best,
 * the mean over folds of what settings hold (NAN: nothing yet). */
static int choose(cli *c, const lapis_data *data, const char *grid,
                  lapis_mc_settings *settings, double *best)
{
  grid_text g = {.count = 0};
  lapis_cv *cv = NULL;
  int code = grid_add(c, &g, grid);
  if (code == EXIT_DONE) {
    lapis_cv_options o = by_person();
    lapis_status s = lapis_cv_run(c->ctx, lapis_method_find("mc"), data,
                                  settings, &o, g.grid, g.count, &cv);
    if (s < 0 || s == LAPIS_CANCELLED) code = cli_fail_status(c, s);
  }
  int at = code == EXIT_DONE ? lapis_cv_best(cv) : -1;
  if (at >= 0 && !(lapis_cv_at(cv, at).mean <= *best)) {
    *best = lapis_cv_at(cv, at).mean;
    code = set(c, settings, g.grid[0].name, lapis_cv_value(cv, at, 0));
  }
  lapis_cv_free(cv);
  grid_text_free(&g);
  return code;
}

static int choose_all(cli *c, const trial *t, const lapis_data *data,
                      lapis_mc_settings *settings)
{
  lapis_mc_settings loose = *settings;
  double best = NAN;
  int code = set(c, &loose, "tol", LOOSE_TOL);
  if (code == EXIT_DONE) code = set(c, &loose, "max-iters", t->iters);
  for (int k = 0; code == EXIT_DONE && k < AXES && t->grid[k] != NULL; k++) {
    char doing[64];
    snprintf(doing, sizeof doing, "%s: trying %s", t->name, t->grid[k]);
    c->doing = doing;
    code = choose(c, data, t->grid[k], &loose, &best);
    c->doing = NULL;
  }
  settings->mu_rel = loose.mu_rel;
  settings->lambda = loose.lambda;
  settings->gamma = loose.gamma;
  return code == EXIT_DONE ? set(c, settings, "tol", t->tol) : code;
}

/* ---- one variant --------------------------------------------------------*/
static lapis_status write_trial(cli *c, const trial *t, const faces *f,
                                const lapis_solver *s, const lapis_data *data,
                                const char *folder)
{
  char path[4096];
  lapis_mat scores;
  lapis_result_get(s, "scores", &scores);
  lapis_mat person = lapis_mat_i64(f->person, 1, f->n);
  lapis_named input[] = {
      {.name = "X", .mat = data->X},
      {.name = "Y", .mat = data->Y},
      {.name = "group", .mat = person, .flat = true},
      {.name = "hidden", .mat = lapis_mat_f64(f->hidden, 1, f->n)}};
  snprintf(path, sizeof path, "%s/%s.npz", folder, t->name);
  lapis_status status = lapis_npz_write(c->ctx, path, input, 4);
  if (status < 0) return status;
  lapis_named answer = {.name = "scores", .mat = scores};
  snprintf(path, sizeof path, "%s/%s-scores.npz", folder, t->name);
  status = lapis_npz_write(c->ctx, path, &answer, 1);
  if (status < 0) return status;
  lapis_json *json = run_json(c, "mc", lapis_method_find("mc"), s, data);
  char *text = lapis_json_print(json);
  lapis_json_free(json);
  snprintf(path, sizeof path, "%s/%s.json", folder, t->name);
  status = text == NULL ? LAPIS_ENOMEM
                        : lapis_file_write(c->ctx, path, text, strlen(text));
  free(text);
  return status;
}

static lapis_status solve(cli *c, const trial *t, const faces *f,
                          const lapis_data *data, lapis_solver *s, outcome *out)
{
  lapis_status status = lapis_solve(s);
  if (status < 0 || status == LAPIS_CANCELLED) return status;
  out->info = *lapis_result_info(s);
  const char *folder = args_get(&c->args, "output");
  lapis_mat scores;
  lapis_result_get(s, "scores", &scores);
  lapis_status next =
      lapis_auroc(c->ctx, f->hidden, scores.val, f->n, &out->auroc);
  if (next >= 0 && folder != NULL) next = write_trial(c, t, f, s, data, folder);
  return next < 0 ? next : status;
}

/* The same settings on the training people alone; test people folded in.  It
 * runs beside the fit of all, with a context of its own. */
typedef struct folding {
  lapis_ctx *ctx;
  const trial *t;
  const faces *f;
  const lapis_mc_settings *settings;
  double auroc;
  lapis_status status;
} folding;

/* Answers for the test people by a model that has never seen them, as exact as
 * the fit. */
static lapis_status predict(const folding *g, const lapis_model *m,
                            const lapis_mat *X, const double *truth,
                            double *out)
{
  lapis_solver *s = NULL;
  lapis_mat scores;
  lapis_data data = {.X = *X};
  const lapis_method *how = lapis_predict_method(lapis_model_method(m));
  void *settings = malloc(how->settings_size);
  if (settings == NULL) return LAPIS_ENOMEM;
  lapis_settings_default(how, settings);
  lapis_status status =
      lapis_settings_set(g->ctx, how, settings, "tol", g->t->tol);
  if (status >= 0) status = lapis_predict_new(g->ctx, &data, m, settings, &s);
  if (status >= 0) status = lapis_solve(s);
  if (status >= 0) status = lapis_result_get(s, "scores", &scores);
  if (status >= 0)
    status = lapis_auroc(g->ctx, truth, scores.val, X->cols, out);
  lapis_solver_free(s);
  free(settings);
  return status;
}

static lapis_status fold_in(const folding *g, double *out)
{
  const faces *f = g->f;
  lapis_ctx *ctx = g->ctx;
  double *X = malloc((size_t)((f->d + 1) * f->n) * sizeof *X);
  if (X == NULL) return LAPIS_ENOMEM;
  double *y = X + f->d * f->n;
  int64_t n = faces_pick(f, f->known, X, y);
  lapis_data train = {.X = lapis_mat_f64(X, f->d, n),
                      .Y = lapis_mat_f64(y, 1, n)};
  lapis_solver *s;
  lapis_model *m = NULL;
  lapis_status status = lapis_mc_new(ctx, &train, g->settings, &s);
  if (status >= 0) status = lapis_solve(s);
  if (status >= 0) status = lapis_model_new(s, &m);
  lapis_solver_free(s);
  n = faces_pick(f, f->hidden, X, y);
  lapis_mat test = lapis_mat_f64(X, f->d, n);
  if (status >= 0) status = predict(g, m, &test, y, out);
  lapis_model_free(m);
  free(X);
  return status;
}

static void *fold_in_thread(void *to)
{
  folding *g = to;
  g->status = fold_in(g, &g->auroc);
  return NULL;
}

static lapis_status set_threads(lapis_ctx *ctx, const char *key, int count)
{
  char text[16];
  snprintf(text, sizeof text, "%d", count);
  return lapis_ctx_set(ctx, key, text);
}

/* A context that computes as the command's does. */
static lapis_status copy_context(cli *c, lapis_ctx *to)
{
  static const char *const keys[] = {"seed", "backend", "deterministic"};
  lapis_status status = LAPIS_OK;
  for (size_t i = 0; status >= 0 && i < sizeof keys / sizeof *keys; i++) {
    const char *value = args_get(&c->args, keys[i]);
    if (value != NULL) status = lapis_ctx_set(to, keys[i], value);
  }
  return status;
}

/* The fit, and beside it the fold-in, each with half of the threads. */
static lapis_status solve_both(cli *c, const trial *t, const faces *f,
                               const lapis_data *data, lapis_solver *s,
                               const lapis_mc_settings *settings, outcome *out)
{
  pthread_t thread;
  folding g = {.t = t, .f = f, .settings = settings};
  g.ctx = lapis_ctx_new();
  if (g.ctx == NULL) return LAPIS_ENOMEM;
  int all = lapis_ctx_threads(c->ctx), half = all > 1 ? all / 2 : 1;
  lapis_status status = copy_context(c, g.ctx);
  if (status >= 0) status = set_threads(g.ctx, "threads", half);
  if (status >= 0) status = set_threads(c->ctx, "threads", half);
  bool beside = status >= 0 && all > 1 &&
                pthread_create(&thread, NULL, fold_in_thread, &g) == 0;
  if (status >= 0) status = solve(c, t, f, data, s, out);
  bool goes_on = status >= 0 && status != LAPIS_CANCELLED;
  if (!goes_on) lapis_ctx_cancel(g.ctx);
  if (beside) (void)pthread_join(thread, NULL);
  if (!beside && goes_on) (void)fold_in_thread(&g);
  (void)set_threads(c->ctx, "threads", all);
  if (goes_on && g.status < 0)
    status = lapis_fail(c->ctx, g.status, "%s", lapis_ctx_error(g.ctx));
  out->folded = g.auroc;
  lapis_ctx_free(g.ctx);
  return status;
}

static int first_settings(cli *c, const trial *t, lapis_mc_settings *to)
{
  lapis_settings_default(lapis_method_find("mc"), to);
  int code = set(c, to, "variant", t->name);
  if (code == EXIT_DONE) code = set(c, to, "lambda", t->lambda);
  if (code == EXIT_DONE) code = set(c, to, "gamma", t->gamma);
  return code == EXIT_DONE ? set(c, to, "mu-rel", t->mu_rel) : code;
}

/* With settings that are known to be good, or chosen here. */
static int run_trial(cli *c, const trial *t, faces *f, bool choosing,
                     outcome *out)
{
  lapis_mc_settings settings;
  lapis_solver *s;
  int code = faces_map(c, f, t->map);
  if (code == EXIT_DONE) code = first_settings(c, t, &settings);
  if (code != EXIT_DONE) return code;
  lapis_data data = faces_data(f, f->known);
  if (choosing) code = choose_all(c, t, &data, &settings);
  if (code != EXIT_DONE) return code;
  out->chosen = choosing;
  out->lambda = settings.lambda;
  out->gamma = settings.gamma;
  out->mu_rel = settings.mu_rel;
  lapis_status status = lapis_mc_new(c->ctx, &data, &settings, &s);
  out->folded = NAN;
  if (status >= 0 && choosing)
    status = solve_both(c, t, f, &data, s, &settings, out);
  else if (status >= 0)
    status = solve(c, t, f, &data, s, out);
  lapis_solver_free(s);
  if (status == LAPIS_CANCELLED) return EXIT_INTERRUPTED;
  return status < 0 ? cli_fail_status(c, status) : EXIT_DONE;
}

/* ---- the rival ----------------------------------------------------------*/
/* Test AUROC of the C that does best on training people hidden in turn. */
static double rival(cli *c, const faces *f, const lapis_cv *cv)
{
  lapis_mat X = lapis_mat_f64(f->mapped, f->d, f->n);
  double best_C = 1, best = -1, out = NAN;
  double *y = malloc((size_t)f->n * 3 * sizeof *y);
  if (y == NULL) return NAN;
  double *scores = y + f->n, *truth = scores + f->n;
  for (int power = -2; power <= 4; power++) {
    double C = pow(10, power), sum = 0, v;
    for (int64_t k = 0; k < FOLDS; k++) {
      for (int64_t j = 0; j < f->n; j++) {
        bool in = lapis_cv_folds(cv)[j] == k;
        y[j] = in ? NAN : f->known[j];
        truth[j] = in ? f->known[j] : NAN;
      }
      if (baseline_scores(&X, y, C, scores) &&
          lapis_auroc(c->ctx, truth, scores, f->n, &v) >= 0 && !isnan(v))
        sum += v;
    }
    if (sum > best) best_C = C;
    if (sum > best) best = sum;
  }
  if (baseline_scores(&X, f->known, best_C, scores))
    lapis_auroc(c->ctx, f->hidden, scores, f->n, &out);
  free(y);
  return out;
}

static int run_rivals(cli *c, faces *f, const lapis_cv *cv, rivals *out)
{
  *out = (rivals){NAN, NAN};
  if (!baseline_built()) return EXIT_DONE;
  int code = faces_map(c, f, "l1");
  if (code == EXIT_DONE) out->l1 = rival(c, f, cv);
  if (code == EXIT_DONE) code = faces_map(c, f, "sqrt");
  if (code == EXIT_DONE) out->roots = rival(c, f, cv);
  return code;
}

/* ---- wrong labels -------------------------------------------------------*/
/* Flips one training label in twenty, evenly spread by a multiplier that
 * shares no factor with their number. */
static int64_t flip(const faces *f, double *y, bool *flipped)
{
  int64_t training = 0, flips = 0, at = 0;
  for (int64_t j = 0; j < f->n; j++) training += !isnan(f->known[j]);
  for (int64_t j = 0; j < f->n; j++) {
    y[j] = f->known[j];
    bool known = !isnan(y[j]) && training > 0;
    flipped[j] = known && (at++ * 97) % training < training / 20;
    if (flipped[j]) y[j] = -y[j];
    flips += flipped[j];
  }
  return flips;
}

static int flip_and_find(cli *c, faces *f, const outcome *mc1, suspects *out)
{
  lapis_mc_settings settings;
  double *y = malloc((size_t)f->n * sizeof *y);
  bool *flipped = malloc((size_t)f->n * sizeof *flipped);
  int code = y == NULL || flipped == NULL
                 ? cli_fail(EXIT_FAILED, "out of memory")
                 : faces_map(c, f, trials[0].map);
  if (code == EXIT_DONE) code = first_settings(c, &trials[0], &settings);
  if (code == EXIT_DONE) {
    out->flips = flip(f, y, flipped);
    settings.lambda = mc1->lambda;
    settings.gamma = mc1->gamma;
    settings.mu_rel = mc1->mu_rel;
    set(c, &settings, "tol", LOOSE_TOL);
    lapis_data data = faces_data(f, y);
    lapis_cv_options o = by_person();
    c->doing = "looking for wrong labels";
    lapis_status s =
        lapis_suspects(c->ctx, lapis_method_find("mc"), &data, &settings, &o,
                       SUSPECTS, out->index, out->margin, &out->found);
    c->doing = NULL;
    if (s < 0 || s == LAPIS_CANCELLED) code = cli_fail_status(c, s);
  }
  for (int64_t i = 0; code == EXIT_DONE && i < out->found; i++)
    out->hits += out->flipped[i] = flipped[out->index[2 * i]];
  free(y);
  free(flipped);
  return code;
}

/* ---- the answer ---------------------------------------------------------*/
static lapis_json *trial_json(const outcome *o)
{
  lapis_json *to = lapis_json_object();
  lapis_json_put_number(to, "folded_in_auroc", o->folded);
  lapis_json_put_number(to, "lambda", o->lambda);
  lapis_json_put_number(to, "gamma", o->gamma);
  lapis_json_put_number(to, "mu-rel", o->mu_rel);
  lapis_json_put_integer(to, "rank", o->info.rank);
  lapis_json_put_integer(to, "iterations", o->info.iterations);
  lapis_json_put_number(to, "seconds", o->info.seconds);
  return to;
}

static lapis_json *suspects_json(const suspects *s)
{
  lapis_json *list = lapis_json_list();
  for (int64_t i = 0; i < s->found; i++) {
    lapis_json *one = lapis_json_object();
    lapis_json_put_integer(one, "sample", s->index[2 * i]);
    lapis_json_put_number(one, "margin", s->margin[i]);
    lapis_json_put_bool(one, "flipped", s->flipped[i]);
    lapis_json_put(list, NULL, one);
  }
  return list;
}

static int print_demo_json(cli *c, const faces *f, const outcome *o, int n,
                           const rivals *r, const suspects *s)
{
  lapis_json *to = lapis_json_object(), *metrics = lapis_json_object();
  lapis_json *auroc = lapis_json_object(), *gap = lapis_json_object();
  lapis_json *data = lapis_json_object(), *fits = lapis_json_object();
  for (int i = 0; i < n; i++) {
    lapis_json_put_number(auroc, trials[i].name, o[i].auroc);
    lapis_json_put_number(gap, trials[i].name, o[i].info.gap);
    lapis_json_put(fits, trials[i].name, trial_json(&o[i]));
  }
  if (!isnan(r->l1)) lapis_json_put_number(auroc, "svm", r->l1);
  if (!isnan(r->l1)) lapis_json_put_number(auroc, "svm_sqrt", r->roots);
  lapis_json_put_text(to, "lapis", lapis_version());
  lapis_json_put_text(to, "method", "demo");
  lapis_json_put_integer(data, "samples", f->n);
  lapis_json_put_integer(data, "features", f->d);
  lapis_json_put(to, "data", data);
  lapis_json_put(metrics, "auroc", auroc);
  lapis_json_put(metrics, "gap", gap);
  if (n == TRIALS) lapis_json_put_integer(metrics, "suspects_flipped", s->hits);
  lapis_json_put(to, "metrics", metrics);
  lapis_json_put(to, "fits", fits);
  if (n == TRIALS) lapis_json_put(to, "suspects", suspects_json(s));
  lapis_json_put_text(to, "backend", lapis_ctx_backend(c->ctx));
  lapis_json_put_integer(to, "threads", lapis_ctx_threads(c->ctx));
  return print_json(to);
}

static void print_suspects(const faces *f, const suspects *s)
{
  const lapis_array *names = lapis_arrays_find(&f->file, "names");
  printf(
      "\nWrong labels: %lld of the known ones were flipped on purpose; %lld of "
      "the %lld most\nsuspicious are among them.  A name says what its image "
      "shows; 'contradicted by'\nis how far beyond the threshold the score "
      "lies, towards the other label.\n",
      (long long)s->flips, (long long)s->hits, (long long)s->found);
  for (int64_t i = 0; i < s->found; i++) {
    const char *const *name = names == NULL ? NULL : names->mat.val;
    printf("  %-32s contradicted by %.3f%s\n",
           name == NULL ? "" : name[s->index[2 * i]], s->margin[i],
           s->flipped[i] ? "  (flipped)" : "");
  }
}

/* ---- the table, row by row as the answers come ---------------------------*/
static void print_head(const cli *c, const faces *f)
{
  if (c->json) return;
  printf("Who wears sunglasses?  CMU faces, %lld images, word histograms "
         "only.\nLabels of some people's images are known; these are the "
         "answers for the others.\n\n",
         (long long)f->n);
  printf("  %-8s %-21s %6s %6s %8s %4s %7s %6s %5s %6s  %s\n", "", "features",
         "AUROC", "folded", "paper's", "rank", "gap", "lambda", "gamma",
         "mu-rel", "settings");
  fflush(stdout);
}

static void print_trial(cli *c, const trial *t, const outcome *o)
{
  char folded[16] = "";
  if (c->json) return;
  cli_wipe_bar(c);
  if (!isnan(o->folded)) snprintf(folded, sizeof folded, "%.4f", o->folded);
  printf("  %-8s %-21s %6.4f %6s %8.2f %4lld %7.1e %6g %5g %6g  %s\n", t->name,
         t->features, o->auroc, folded, t->paper, (long long)o->info.rank,
         o->info.gap, o->lambda, o->gamma, o->mu_rel,
         o->chosen ? "chosen" : "known");
  fflush(stdout);
}

static void print_rivals(cli *c, const rivals *r)
{
  if (c->json || isnan(r->l1)) return;
  cli_wipe_bar(c);
  printf("  %-8s %-21s %6.4f %6s %8.2f\n", "SVM", trials[2].features, r->l1, "",
         .90);
  printf("  %-8s %-21s %6.4f\n", "SVM", trials[0].features, r->roots);
  fflush(stdout);
}

static void print_end(cli *c, const faces *f, int n, const suspects *s)
{
  cli_wipe_bar(c);
  printf(
      "\nAUROC: how well the answers put those with sunglasses before the "
      "others: 1 is\nperfect, 0.5 chance.  paper's: [MC11] Table 1, on words "
      "of its own.  gap: the\nobjective is proved to be within this share of "
      "the best one.\n%s, %d threads.\n",
      lapis_ctx_backend(c->ctx), lapis_ctx_threads(c->ctx));
  if (n == TRIALS)
    printf("folded: AUROC of a model made without the test images, which it "
           "answers later.\nsettings: known to be good, or chosen on the "
           "training people.  SVM: linear,\nby LIBLINEAR, its C chosen "
           "likewise.\n");
  else
    printf("'lapis demo' chooses the settings itself, compares with a linear "
           "SVM and looks for\nwrong labels (less than a minute).\n");
  if (s->found > 0) print_suspects(f, s);
}

static int prepare_folder(const char *folder)
{
  if (folder == NULL || mkdir(folder, 0777) == 0 || errno == EEXIST)
    return EXIT_DONE;
  return cli_fail(EXIT_INPUT, "%s: cannot be made: %s", folder,
                  strerror(errno));
}

/* Folds alone, for the rival: a cross-validation of no points. */
static int draw_folds(cli *c, const faces *f, lapis_cv **cv)
{
  lapis_cv_options o = by_person();
  lapis_data data = faces_data(f, f->known);
  lapis_mc_settings settings = lapis_mc_defaults();
  lapis_grid none = {"max-iters", 1, (const char *const[]){"0"}};
  lapis_status s = lapis_cv_run(c->ctx, lapis_method_find("mc"), &data,
                                &settings, &o, &none, 1, cv);
  return s < 0 || s == LAPIS_CANCELLED ? cli_fail_status(c, s) : EXIT_DONE;
}

/* What choosing, comparing and doubting add. */
static int run_rest(cli *c, faces *f, const outcome *mc1, rivals *r,
                    suspects *s)
{
  lapis_cv *cv = NULL;
  int code = draw_folds(c, f, &cv);
  if (code == EXIT_DONE) code = run_rivals(c, f, cv, r);
  if (code == EXIT_DONE) print_rivals(c, r);
  if (code == EXIT_DONE) code = flip_and_find(c, f, mc1, s);
  lapis_cv_free(cv);
  return code;
}

static int run_all(cli *c, faces *f)
{
  outcome o[TRIALS];
  rivals r = {NAN, NAN};
  suspects s = {.found = 0};
  bool quick = args_get(&c->args, "quick") != NULL;
  int code = EXIT_DONE, n = quick ? QUICK_TRIALS : TRIALS;
  print_head(c, f);
  if (!quick) /* folds are solved beside each other, by a process each */
    (void)set_threads(c->ctx, "jobs", lapis_ctx_threads(c->ctx));
  if (!quick) { /* the first answer, at once */
    code = run_trial(c, &trials[0], f, false, &o[0]);
    if (code == EXIT_DONE) print_trial(c, &trials[0], &o[0]);
  }
  for (int i = 0; code == EXIT_DONE && i < n; i++) {
    code = run_trial(c, &trials[i], f, !quick, &o[i]);
    if (code == EXIT_DONE) print_trial(c, &trials[i], &o[i]);
  }
  if (code == EXIT_DONE && !quick) code = run_rest(c, f, &o[0], &r, &s);
  if (code != EXIT_DONE) return code;
  if (c->json) return print_demo_json(c, f, o, n, &r, &s);
  print_end(c, f, n, &s);
  return EXIT_DONE;
}

static int run(cli *c)
{
  faces f = {.n = 0};
  int code = prepare_folder(args_get(&c->args, "output"));
  if (code == EXIT_DONE) code = faces_load(c, args_get(&c->args, "people"), &f);
  if (code == EXIT_DONE) code = run_all(c, &f);
  faces_free(&f);
  return code;
}

const cli_verb verb_demo = {
    .name = "demo",
    .synopsis = "demo [--quick] [-o DIR]",
    .help = "try LAPIS on real faces: who wears sunglasses?",
    .options = options,
    .run = run};
