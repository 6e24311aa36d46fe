/* demo.c - lapis demo: who wears sunglasses?
 *
 * The experiment of [MC11] Table 1 on the bundled CMU faces: word histograms
 * of 624 images, labels known for the 254 images of 8 people, asked for the
 * 370 images of 12 others. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

static const cli_option options[] = {
    {"output", 'o', "DIR", "write X, Y, settings and scores there"},
    {NULL, 0, NULL, NULL}};

typedef struct faces {
  lapis_arrays file;
  int64_t d, n;
  double *counts, *roots; /* d x n */
  /* n: labels; NaN outside the training images; NaN on them */
  double *truth, *known, *hidden;
} faces;

typedef struct trial {
  const char *name, *variant, *features;
  bool roots;
  const char *lambda, *gamma, *mu_rel;
  double paper;
} trial;

static const trial trials[] = {
    {"mc1", "mc1", "square-rooted counts", true, ".1", "3", ".02", 0.96},
    {"pos", "pos", "counts", false, ".01", "1", ".002", 0.97}};
enum { TRIALS = sizeof trials / sizeof *trials };

typedef struct outcome {
  double auroc;
  lapis_info info;
} outcome;

/* ---- the data -----------------------------------------------------------*/
/* LAPIS_SHARE, beside the executable, installed, in the source tree. */
static bool find_faces(char *path, size_t size)
{
  char self[4096];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  self[length > 0 ? length : 0] = '\0';
  char *slash = strrchr(self, '/');
  if (slash != NULL) *slash = '\0';
  const char *share = getenv("LAPIS_SHARE");
  const char *const roots[][2] = {{share != NULL ? share : "", ""},
                                  {self, "/../share/lapis"},
                                  {LAPIS_INSTALL_DATA, ""},
                                  {LAPIS_SOURCE_DATA, ""}};
  for (size_t i = share == NULL; i < sizeof roots / sizeof *roots; i++) {
    int n = snprintf(path, size, "%s%s/cmu_faces/faces.npz", roots[i][0],
                     roots[i][1]);
    if (n > 0 && (size_t)n < size && access(path, R_OK) == 0) return true;
  }
  return false;
}

static void faces_free(faces *f)
{
  lapis_arrays_free(&f->file);
  free(f->counts);
  free(f->roots);
  free(f->truth);
  free(f->known);
  free(f->hidden);
}

static bool allocate(faces *f)
{
  size_t entries = (size_t)(f->d * f->n), n = (size_t)f->n;
  f->counts = malloc(entries * sizeof(double));
  f->roots = malloc(entries * sizeof(double));
  f->truth = malloc(n * sizeof(double));
  f->known = malloc(n * sizeof(double));
  f->hidden = malloc(n * sizeof(double));
  return f->counts != NULL && f->roots != NULL && f->truth != NULL &&
         f->known != NULL && f->hidden != NULL;
}

static void fill(faces *f, const lapis_mat *counts, const lapis_mat *label,
                 const lapis_mat *train)
{
  for (int64_t j = 0; j < f->n; j++) {
    f->truth[j] = lapis_mat_at(label, 0, j);
    bool training = lapis_mat_at(train, 0, j) > 0;
    f->known[j] = training ? f->truth[j] : NAN;
    f->hidden[j] = training ? NAN : f->truth[j];
    for (int64_t i = 0; i < f->d; i++) {
      double v = lapis_mat_at(counts, i, j);
      f->counts[j * f->d + i] = v;
      f->roots[j * f->d + i] = sqrt(v);
    }
  }
}

static int load(cli *c, faces *f)
{
  char path[8192];
  if (!find_faces(path, sizeof path))
    return cli_fail(EXIT_INPUT,
                    "demo: cmu_faces/faces.npz is not found; LAPIS_SHARE may "
                    "name the folder that holds cmu_faces");
  lapis_status s = lapis_arrays_read(c->ctx, path, &f->file);
  if (s < 0) return cli_fail_status(c, s);
  const lapis_array *counts = lapis_arrays_find(&f->file, "counts");
  const lapis_array *label = lapis_arrays_find(&f->file, "label");
  const lapis_array *train = lapis_arrays_find(&f->file, "is_train");
  if (counts == NULL || label == NULL || train == NULL)
    return cli_fail(EXIT_INPUT, "%s: counts, label or is_train is missing",
                    path);
  f->d = counts->mat.rows;
  f->n = counts->mat.cols;
  if (!allocate(f)) return cli_fail(EXIT_FAILED, "out of memory");
  fill(f, &counts->mat, &label->mat, &train->mat);
  return EXIT_DONE;
}

/* ---- writing what was used ----------------------------------------------*/
static lapis_status write_trial(cli *c, const trial *t, const faces *f,
                                const lapis_solver *s, const lapis_data *data,
                                const char *folder)
{
  char path[4096];
  lapis_mat scores, train = lapis_mat_f64(f->known, 1, f->n);
  lapis_result_get(s, "scores", &scores);
  lapis_named input[] = {
      {.name = "X", .mat = data->X},
      {.name = "Y", .mat = train},
      {.name = "hidden", .mat = lapis_mat_f64(f->hidden, 1, f->n)}};
  snprintf(path, sizeof path, "%s/%s.npz", folder, t->name);
  lapis_status status = lapis_npz_write(c->ctx, path, input, 3);
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

/* ---- one fit ------------------------------------------------------------*/
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

static lapis_status run_trial(cli *c, const trial *t, const faces *f,
                              outcome *out)
{
  const lapis_method *mc = lapis_method_find("mc");
  lapis_mc_settings set;
  lapis_settings_default(mc, &set);
  lapis_settings_set(c->ctx, mc, &set, "variant", t->variant);
  lapis_settings_set(c->ctx, mc, &set, "lambda", t->lambda);
  lapis_settings_set(c->ctx, mc, &set, "gamma", t->gamma);
  lapis_settings_set(c->ctx, mc, &set, "mu-rel", t->mu_rel);
  double *X = t->roots ? f->roots : f->counts;
  lapis_data data = {.X = lapis_mat_f64(X, f->d, f->n),
                     .Y = lapis_mat_f64(f->known, 1, f->n)};
  lapis_solver *s;
  lapis_status status = lapis_mc_new(c->ctx, &data, &set, &s);
  if (status >= 0) status = solve(c, t, f, &data, s, out);
  lapis_solver_free(s);
  return status;
}

/* ---- the answer ---------------------------------------------------------*/
static int print_outcomes_json(cli *c, const faces *f, const outcome *o)
{
  lapis_json *to = lapis_json_object(), *metrics = lapis_json_object();
  lapis_json *auroc = lapis_json_object(), *gap = lapis_json_object();
  lapis_json *data = lapis_json_object();
  double seconds = 0;
  for (int i = 0; i < TRIALS; i++) {
    lapis_json_put_number(auroc, trials[i].name, o[i].auroc);
    lapis_json_put_number(gap, trials[i].name, o[i].info.gap);
    seconds += o[i].info.seconds;
  }
  lapis_json_put_text(to, "lapis", lapis_version());
  lapis_json_put_text(to, "method", "demo");
  lapis_json_put_integer(data, "samples", f->n);
  lapis_json_put_integer(data, "features", f->d);
  lapis_json_put(to, "data", data);
  lapis_json_put(metrics, "auroc", auroc);
  lapis_json_put(metrics, "gap", gap);
  lapis_json_put(to, "metrics", metrics);
  lapis_json_put_number(to, "seconds", seconds);
  lapis_json_put_text(to, "backend", lapis_ctx_backend(c->ctx));
  lapis_json_put_integer(to, "threads", lapis_ctx_threads(c->ctx));
  return print_json(to);
}

static void print_outcomes(cli *c, const faces *f, const outcome *o)
{
  printf("Who wears sunglasses?  CMU faces, %lld images, word histograms "
         "only.\nLabels of 8 people's images are known; these are the answers "
         "for 12 others.\n\n",
         (long long)f->n);
  printf("  %-6s %-22s %10s %12s %6s %10s %9s\n", "", "features", "AUROC",
         "paper's", "rank", "gap", "seconds");
  for (int i = 0; i < TRIALS; i++)
    printf("  %-6s %-22s %10.4f %12.2f %6lld %10.1e %9.2f\n", trials[i].name,
           trials[i].features, o[i].auroc, trials[i].paper,
           (long long)o[i].info.rank, o[i].info.gap, o[i].info.seconds);
  printf("\nAUROC: test images, larger is better.  paper's: [MC11] Table 1, "
         "on its own words.\ngap: certified distance from the optimum, "
         "relative.  %s, %d threads.\n",
         lapis_ctx_backend(c->ctx), lapis_ctx_threads(c->ctx));
}

static int prepare_folder(const char *folder)
{
  if (folder == NULL || mkdir(folder, 0777) == 0 || errno == EEXIST)
    return EXIT_DONE;
  return cli_fail(EXIT_INPUT, "%s: cannot be made: %s", folder,
                  strerror(errno));
}

static int run_trials(cli *c, const faces *f)
{
  outcome o[TRIALS];
  for (int i = 0; i < TRIALS; i++) {
    lapis_status s = run_trial(c, &trials[i], f, &o[i]);
    if (s < 0) return cli_fail_status(c, s);
    if (s == LAPIS_CANCELLED) return EXIT_INTERRUPTED;
  }
  cli_wipe_bar(c);
  if (c->json) return print_outcomes_json(c, f, o);
  print_outcomes(c, f, o);
  return EXIT_DONE;
}

static int run(cli *c)
{
  faces f = {.n = 0};
  int code = prepare_folder(args_get(&c->args, "output"));
  if (code == EXIT_DONE) code = load(c, &f);
  if (code == EXIT_DONE) code = run_trials(c, &f);
  faces_free(&f);
  return code;
}

const cli_verb verb_demo = {.name = "demo",
                            .synopsis = "demo [-o DIR]",
                            .help =
                                "who wears sunglasses? real faces, in a minute",
                            .options = options,
                            .run = run};
