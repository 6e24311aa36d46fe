/* Every k-th allocation of the library fails: no crash, no leak, no half-made
 * object, and a status that says so. */
#include <unistd.h>

#include "check.h"
#include "cv_points.h"
#include "lapis/files.h"
#include "lapis/tools.h"
#include "scarce.h"

typedef struct paths {
  char folder[64], csv[96], npz[96], model[96], out[96];
} paths;

enum { N = 12, D = 4 };
static const char old[] = "what was here before";

static void write_csv(const char *path)
{
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fprintf(f, "name,a,b,c,class\n");
  uint64_t s = 1;
  for (int i = 0; i < N; i++)
    fprintf(f, "n%d,%.3f,%.3f,,%s\n", i, check_uniform(&s), check_uniform(&s),
            i % 3 == 0   ? "x"
            : i % 3 == 1 ? "y"
                         : "z");
  fprintf(f, "last,1,1,1,\n");
  fclose(f);
}

static void put_old(const paths *p)
{
  FILE *f = fopen(p->out, "w");
  assert_non_null(f);
  fputs(old, f);
  fclose(f);
}

/* The output is the old one, byte for byte, or a whole new one. */
static void check_output(const paths *p, long k)
{
  char text[sizeof old + 1] = "";
  FILE *f = fopen(p->out, "r");
  assert_non_null(f);
  size_t n = fread(text, 1, sizeof text - 1, f);
  fclose(f);
  if (n == sizeof old - 1 && strcmp(text, old) == 0) return;
  lapis_arrays all;
  lapis_ctx *ctx = lapis_ctx_new();
  if (lapis_arrays_read(ctx, p->out, &all) < 0)
    fail_msg("allocation %ld: the output is neither old nor new: %s", k,
             lapis_ctx_error(ctx));
  lapis_arrays_free(&all);
  lapis_ctx_free(ctx);
}

static void write_npz(const char *path)
{
  double X[D * N], Y[N];
  uint64_t s = 2;
  lapis_ctx *ctx = lapis_ctx_new();
  for (int i = 0; i < D * N; i++) X[i] = check_normal(&s);
  for (int i = 0; i < N; i++) Y[i] = i % 2;
  lapis_named item[] = {{.name = "X", .mat = lapis_mat_f64(X, D, N)},
                        {.name = "Y", .mat = lapis_mat_f64(Y, 1, N)}};
  assert_int_equal(lapis_arrays_write(ctx, path, "npz", item, 2), LAPIS_OK);
  lapis_ctx_free(ctx);
}

static void prepare(paths *p)
{
  check_folder(p->folder, sizeof p->folder);
  snprintf(p->csv, sizeof p->csv, "%s/in.csv", p->folder);
  snprintf(p->npz, sizeof p->npz, "%s/in.npz", p->folder);
  snprintf(p->model, sizeof p->model, "%s/m.lapis", p->folder);
  snprintf(p->out, sizeof p->out, "%s/out.npz", p->folder);
  write_csv(p->csv);
  write_npz(p->npz);
}

static void clean_up(const paths *p)
{
  unlink(p->csv);
  unlink(p->npz);
  unlink(p->model);
  unlink(p->out);
  if (rmdir(p->folder) != 0) fail_msg("something is left in %s", p->folder);
}

/* ---- jobs ---------------------------------------------------------------*/
typedef union settings {
  char bytes[1024];
  double align;
  void *pointer;
} settings;

static lapis_status write_result(lapis_ctx *ctx, lapis_solver *s,
                                 const char *name, const char *out)
{
  lapis_mat mat;
  lapis_status status = lapis_result_get(s, name, &mat);
  lapis_named item = {.name = name, .mat = mat};
  return status < 0 ? status : lapis_arrays_write(ctx, out, "npz", &item, 1);
}

static const char *result_of(const lapis_method *m)
{
  if (strcmp(m->name, "roml") == 0) return "match";
  bool plain = strcmp(m->name, "rpca") == 0 || strcmp(m->name, "clean") == 0;
  return plain ? "low_rank" : "scores";
}

static void settle_settings(const lapis_method *m, const lapis_data *d,
                            settings *set)
{
  lapis_settings_default(m, set);
  if (strcmp(m->name, "clean") == 0)
    ((lapis_clean_settings *)(void *)set)->dictionary = d->X;
  if (strcmp(m->name, "roml") == 0) {
    lapis_roml_settings *roml = (lapis_roml_settings *)(void *)set;
    roml->inliers = 2;
    roml->map = 1;
  }
  if (strcmp(m->name, "svmplus") == 0)
    ((lapis_svmplus_settings *)(void *)set)->kernel = LAPIS_KERNEL_RBF;
  if (strcmp(m->name, "auto") == 0) {
    lapis_auto_settings *of = (lapis_auto_settings *)(void *)set;
    of->bags = true;
    of->candidates = "linear,misvm";
  }
}

static lapis_status learn(lapis_ctx *ctx, lapis_solver *s, const paths *p)
{
  lapis_model *model;
  lapis_status status = lapis_model_new(s, &model);
  if (status == LAPIS_ENOTBUILT) return LAPIS_OK; /* learns none */
  if (status >= 0) status = lapis_model_save(ctx, model, p->model);
  lapis_model_free(model);
  return status;
}

static lapis_status fit(lapis_ctx *ctx, const lapis_method *m,
                        const lapis_data *d, const paths *p)
{
  settings set;
  lapis_solver *s;
  settle_settings(m, d, &set);
  lapis_status status = lapis_solver_new(ctx, m, d, &set, &s);
  if (status < 0) {
    assert_null(s);
    return status;
  }
  status = lapis_solve(s);
  if (status >= 0) status = write_result(ctx, s, result_of(m), p->out);
  if (status >= 0) status = learn(ctx, s, p);
  lapis_solver_free(s);
  return status;
}

static lapis_status predict(lapis_ctx *ctx, const lapis_method *m,
                            const lapis_data *d, const paths *p)
{
  lapis_model *model;
  lapis_solver *s;
  if (access(p->model, F_OK) != 0) return LAPIS_OK; /* learns none */
  lapis_status status = lapis_model_load(ctx, p->model, &model);
  if (status < 0) return status;
  lapis_data x = {.X = d->X};
  if (strcmp(m->name, "auto") == 0) x.group = d->group; /* bags */
  status = lapis_predict_new(ctx, &x, model, NULL, &s);
  if (status >= 0) status = lapis_solve(s);
  if (status >= 0) status = write_result(ctx, s, result_of(m), p->out);
  lapis_solver_free(s);
  lapis_model_free(model);
  return status;
}

static lapis_status cv(lapis_ctx *ctx, const lapis_method *m,
                       const lapis_data *d, const paths *p)
{
  static const char *const values[] = {"0.1", "1"};
  const lapis_grid grid = {"lambda", 2, values};
  lapis_cv_options o = lapis_cv_defaults();
  settings set;
  lapis_solver *out;
  (void)p;
  o.folds = 2;
  o.keep_scores = o.pooled = true;
  o.map = "standard,l2";
  settle_settings(m, d, &set);
  lapis_status status = cv_run(ctx, m, d, &set, &o, &grid, 1, &out);
  if (status < 0) assert_null(out);
  lapis_solver_free(out);
  return status;
}

/* What lapis convert --map does. */
static lapis_status convert(lapis_ctx *ctx, const lapis_method *m,
                            const lapis_data *d, const paths *p)
{
  lapis_map *map;
  double mapped[D * (N + 1)];
  (void)m;
  lapis_status status = lapis_map_new(ctx, "standard,l2", &map);
  if (status >= 0) status = lapis_map_fit(ctx, map, &d->X);
  if (status >= 0) status = lapis_map_apply(ctx, map, &d->X, mapped);
  lapis_named item[] = {
      {.name = "X", .mat = lapis_mat_f64(mapped, D, d->X.cols)},
      {.name = "Y", .mat = d->Y}};
  if (status >= 0) status = lapis_arrays_write(ctx, p->out, "npz", item, 2);
  if (status >= 0) status = lapis_arrays_write(ctx, p->out, "npy", item, 1);
  lapis_map_free(map);
  return status;
}

typedef lapis_status (*job_fn)(lapis_ctx *ctx, const lapis_method *m,
                               const lapis_data *d, const paths *p);
typedef struct job {
  const char *name, *method;
  job_fn run;
  bool table; /* read from the table, not from the container */
} job;

static const job jobs[] = {
    {"fit a table", "mc", fit, true},
    {"fit", "mc", fit, false},
    {"predict", "mc", predict, false},
    {"fit", "rpca", fit, false},
    {"predict", "rpca", predict, false},
    {"fit", "rr", fit, false},
    {"predict", "rr", predict, false},
    {"fit", "rlda", fit, false},
    {"predict", "rlda", predict, false},
    {"fit", "clean", fit, false},
    {"fit", "svmplus", fit, false},
    {"predict", "svmplus", predict, false},
    {"fit", "misvm", fit, false},
    {"predict", "misvm", predict, false},
    {"fit bags", "auto", fit, false},
    {"predict bags", "auto", predict, false},
    {"fit", "roml", fit, false},
    {"cv", "mc", cv, false},
    {"cv", "rlda", cv, false},
    {"convert", "mc", convert, false},
    {"convert a table", "mc", convert, true},
};

static lapis_status read_and_run(lapis_ctx *ctx, const job *j, const paths *p,
                                 lapis_dataset *ds)
{
  static const int64_t bag[N] = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5};
  static double bag_label[N] = {0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1};
  lapis_table_options t = {
      .target = "class", .id = "name", .header = LAPIS_HEADER_AUTO};
  lapis_status s = j->table ? lapis_dataset_read(ds, p->csv, &t)
                            : lapis_dataset_read(ds, p->npz, NULL);
  if (s >= 0) s = lapis_dataset_finish(ds);
  if (s < 0) return s;
  lapis_data d = *lapis_dataset_data(ds);
  bool bags = strcmp(j->method, "misvm") == 0 || strcmp(j->method, "auto") == 0;
  if (bags) d.Y = lapis_mat_f64(bag_label, 1, N);
  static double xy[2 * N] = {0, 1, 5, 2, 7, 3, 1, 8};
  if (bags || strcmp(j->method, "roml") == 0) d.group = bag;
  d.xy = lapis_mat_f64(xy, 2, N);
  const lapis_method *m = lapis_method_find(j->method);
  d = lapis_data_with(&d, m->reads);
  return j->run(ctx, m, &d, p);
}

static lapis_status run(const job *j, const paths *p)
{
  lapis_ctx *ctx = lapis_ctx_new();
  if (ctx == NULL) return LAPIS_ENOMEM;
  lapis_dataset *ds = NULL;
  (void)lapis_ctx_set(ctx, "threads", "1");
  lapis_status s = lapis_dataset_new(ctx, &ds);
  if (s >= 0) s = read_and_run(ctx, j, p, ds);
  if (s < 0 && s != LAPIS_ENOMEM)
    print_message("%s %s: %s\n", j->name, j->method, lapis_ctx_error(ctx));
  lapis_dataset_free(ds);
  lapis_ctx_free(ctx);
  return s;
}

/* Fails the k-th allocation and all that follow, for every k. */
static void sweep(const job *j, const paths *p)
{
  long k = 0;
  for (;; k += room_step(k)) {
    put_old(p);
    scarce.countdown = k;
    scarce.failed = false;
    lapis_status s = run(j, p);
    scarce.countdown = -1;
    if (!scarce.failed) {
      assert_true(s >= 0);
      break;
    }
    check_output(p, k);
    if (s != LAPIS_ENOMEM)
      fail_msg("%s %s, allocation %ld: status %d", j->name, j->method, k, s);
  }
  print_message("%s %s: %ld allocations failed in turn\n", j->name, j->method,
                k);
  assert_true(k > 5);
}

static void everything_survives_scarcity(void **state)
{
  paths p;
  prepare(&p);
  for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
    if (jobs[i].run == fit) unlink(p.model);
    sweep(&jobs[i], &p);
  }
  clean_up(&p);
}

int test_scarcity(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(everything_survives_scarcity)};
  return run_cases(tests, NULL, NULL);
}
