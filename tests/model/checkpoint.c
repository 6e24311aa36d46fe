/* Runs that are stopped, or killed, and go on: the same answer and the same
 * history as a run that nobody disturbed. */
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "cv_points.h"
#include "files.h"
#include "model/model.h"
#include "remarks.h"

enum { N = 60, D = 20, P = 3, BAG = 4 };

typedef struct people { /* one dataset for every method */
  double X[D * N], holes[D * N], binary[N], some[N], classes[N], real[N];
  double privileged[P * N];
  int64_t bag[N];
} people;

/* Samples near a space of 4 dimensions, some entries far off, labels from a
 * plane through it with a tenth of them wrong. */
static people make_set(void)
{
  people s;
  uint64_t r = 5;
  double basis[4 * D], plane[4];
  for (int i = 0; i < 4 * D; i++) basis[i] = check_normal(&r);
  for (int i = 0; i < 4; i++) plane[i] = check_normal(&r);
  for (int j = 0; j < N; j++) {
    double c[4], side = 0;
    for (int k = 0; k < 4; k++) side += plane[k] * (c[k] = check_normal(&r));
    for (int i = 0; i < D; i++) {
      double x = 0.2 * check_normal(&r);
      for (int k = 0; k < 4; k++) x += basis[k * D + i] * c[k];
      if (check_uniform(&r) < 0.05) x += 6;
      s.X[j * D + i] = x;
      s.holes[j * D + i] = check_uniform(&r) < 0.1 ? NAN : x;
    }
    bool wrong = check_uniform(&r) < 0.1;
    s.binary[j] = (side > 0) != wrong;
    s.some[j] = check_uniform(&r) < 0.4 ? NAN : s.binary[j];
    s.classes[j] = side < -0.5 ? 0 : side < 0.5 ? 1 : 2;
    s.real[j] = side;
    for (int i = 0; i < P; i++)
      s.privileged[j * P + i] = check_normal(&r) + (i == 0 ? 3 * side : 0);
    s.bag[j] = j / BAG;
  }
  for (int j = 0; j < N; j++) /* roml: an image a bag, noisy copies */
    if (j % BAG == 0 && s.binary[j] > 0) s.bag[j] = j / BAG;
  return s;
}

/* ---- stopped by --max-iters ----------------------------------------------*/
enum { SETTINGS = 5 };
typedef struct kind {
  const char *method, *y; /* binary, some, classes, real, bags; or points */
  const char *setting[SETTINGS][2];
} kind;

static const kind kinds[] = {
    {"mc", "some", {{"tol", "1e-8"}, {"mu-rel", "0.2"}}},
    {"mc", "some", {{"solver", "fpc"}, {"mu-rel", "0.2"}}},
    {"rpca", "", {{"tol", "1e-9"}}},
    {"rpca", "", {{"refill", "2"}, {"tau", "2"}}},
    {"rr", "real", {{"tol", "1e-8"}}},
    {"rr", "real", {{"denoise", "rpca"}}},
    {"rr", "real", {{"refill", "2"}, {"tau", "2"}, {"max-iters", "400"}}},
    {"rlda", "classes", {{"tol", "1e-8"}, {"lambda", "0.2"}}},
    {"clean", "", {{"tol", "1e-7"}}},
    {"clean", "", {{"joint", "true"}, {"tol", "1e-6"}}},
    {"clean", "", {{"refill", "2"}, {"tau", "2"}, {"max-iters", "600"}}},
    {"svmplus",
     "binary",
     {{"solver", "dcd"}, {"tol", "1e-2"}, {"C", ".01"}, {"gamma", "1"}}},
    {"svmplus",
     "classes",
     {{"solver", "ipm"}, {"tol", "1e-8"}, {"C", "1"}, {"gamma", "1"}}},
    {"svmplus",
     "classes",
     {{"kernel", "rbf"}, {"tol", "1e-8"}, {"C", "1"}, {"gamma", "1"}}},
    {"svmplus",
     "binary",
     {{"kernel", "rbf"},
      {"cache", ".01"},
      {"rank", "3"},
      {"C", "1"},
      {"gamma", "1"}}},
    {"svmplus",
     "binary",
     {{"formulation", "original"},
      {"kernel", "rbf"},
      {"C", "1"},
      {"gamma", "1"}}},
    {"svmplus",
     "binary",
     {{"probability", "true"}, {"C", "1"}, {"gamma", "1"}}},
    {"misvm", "bags", {{"C", "10"}, {"kernel", "linear"}}},
    {"roml", "", {{"inliers", "3"}}},
    {"roml", "points", {{"inliers", "4"}, {"layout", "coordinates"}}},
    {"roml",
     "points",
     {{"inliers", "4"}, {"layout", "coordinates"}, {"invariance", "shift"}}},
    {"mc",
     "some",
     {{"solver", "factored"}, {"tol", "1e-7"}, {"mu-rel", "0.1"}}},
    {"mc", "", {{"solver", "factored"}, {"tol", "1e-7"}, {"mu-rel", "0.1"}}},
    {"misvm",
     "bags",
     {{"C", "1"}, {"threshold", "auto"}, {"kernel", "linear"}}},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static lapis_data data_of(people *s, const kind *k, double *bags)
{
  lapis_data d = {.X = lapis_mat_f64(s->X, D, N)};
  bool is_mc = strcmp(k->method, "mc") == 0;
  double *y = strcmp(k->y, "some") == 0      ? s->some
              : strcmp(k->y, "classes") == 0 ? s->classes
              : strcmp(k->y, "real") == 0    ? s->real
              : strcmp(k->y, "binary") == 0  ? s->binary
              : strcmp(k->y, "bags") == 0    ? bags
                                             : NULL;
  if (is_mc || strcmp(k->method, "rpca") == 0)
    d.X = lapis_mat_f64(s->holes, D, N);
  if (strcmp(k->y, "points") == 0) d.X.rows = 2;
  if (y != NULL) d.Y = lapis_mat_f64(y, 1, N);
  if (strstr(k->method, "sv") != NULL) d.P = lapis_mat_f64(s->privileged, P, N);
  for (int j = 0; j < N; j++) bags[j] = j / BAG % 3 == 0;
  if (strcmp(k->method, "misvm") == 0 || strcmp(k->method, "roml") == 0)
    d.group = s->bag;
  return d;
}

typedef union settings {
  char bytes[1024];
  double align;
  void *pointer;
} settings;

static void settings_of(files *f, const kind *k, people *s, settings *out)
{
  const lapis_method *m = lapis_method_find(k->method);
  assert_true(m->settings_size <= sizeof *out);
  lapis_settings_default(m, out);
  for (int i = 0; i < SETTINGS && k->setting[i][0] != NULL; i++)
    CHECK_OK(f, lapis_settings_set(f->ctx, m, out, k->setting[i][0],
                                   k->setting[i][1]));
  if (strcmp(k->method, "clean") == 0)
    ((lapis_clean_settings *)(void *)out)->dictionary =
        lapis_mat_f64(s->X + 20 * D, D, 40);
}

/* A method with data and settings. */
typedef struct problem {
  people s;
  double bags[N];
  lapis_data d;
  settings set;
  const lapis_method *m;
} problem;

static void begin(files *f, const kind *k, problem *p)
{
  p->s = make_set();
  p->d = data_of(&p->s, k, p->bags);
  p->m = lapis_method_find(k->method);
  settings_of(f, k, &p->s, &p->set);
}

/* What a run left: every number it published, one after the other. */
typedef struct answer {
  int64_t count, iterations, rows;
  double *val;
  lapis_status status;
} answer;

static void add_all(answer *a, const lapis_mat *m)
{
  a->val = realloc(a->val, (size_t)(a->count + m->rows * m->cols + 1) * 8);
  assert_non_null(a->val);
  for (int64_t j = 0; j < m->cols; j++)
    for (int64_t i = 0; i < m->rows; i++)
      a->val[a->count++] = lapis_mat_at(m, i, j);
}

static answer read_answer(const lapis_solver *s, lapis_status status)
{
  answer a = {.status = status, .iterations = lapis_result_info(s)->iterations};
  for (int i = 0; lapis_result_name(s, i) != NULL; i++) {
    lapis_mat m;
    const char *name = lapis_result_name(s, i);
    assert_int_equal(lapis_result_get(s, name, &m), LAPIS_OK);
    if (m.dtype != LAPIS_TEXT) add_all(&a, &m);
    if (strcmp(name, "history") == 0) a.rows = m.cols;
  }
  return a;
}

/* Solves, stopping after most iterations (-1: as set), with a checkpoint. */
static answer run(files *f, const kind *k, const lapis_data *d, settings *set,
                  int64_t most, const char *checkpoint)
{
  const lapis_method *m = lapis_method_find(k->method);
  settings own = *set;
  lapis_checkpoint *c = NULL;
  lapis_solver *s;
  if (most >= 0)
    ((struct {
      size_t size;
      lapis_stop stop;
    } *)(void *)&own)
        ->stop.max_iters = most;
  if (checkpoint != NULL)
    CHECK_OK(f,
             lapis_checkpoint_new(f->ctx, checkpoint, m, d, &own, NULL, 0, &c));
  CHECK_OK(f, lapis_solver_new(f->ctx, m, d, &own, &s));
  lapis_status status = lapis_solve(s);
  if (status < 0) fail_msg("%s: %s", k->method, lapis_ctx_error(f->ctx));
  answer a = read_answer(s, status);
  lapis_solver_free(s);
  if (c != NULL) CHECK_OK(f, lapis_checkpoint_write(c));
  lapis_checkpoint_free(c, false);
  return a;
}

static void check_same(const kind *k, const answer *a, const answer *b)
{
  assert_int_equal(a->status, b->status);
  assert_int_equal(a->iterations, b->iterations);
  assert_int_equal(a->rows, b->rows);
  assert_int_equal(a->count, b->count);
  for (int64_t i = 0; i < a->count; i++) {
    if (memcmp(&a->val[i], &b->val[i], sizeof *a->val) == 0) continue;
    fail_msg("%s: number %ld is %.17g and was %.17g", k->method, (long)i,
             b->val[i], a->val[i]);
  }
}

static void resumes(files *f, const kind *k, people *s)
{
  double bags[N];
  settings set;
  lapis_data d = data_of(s, k, bags);
  settings_of(f, k, s, &set);
  char path[600];
  (void)snprintf(path, sizeof path, "%s/checkpoint", f->folder);
  answer whole = run(f, k, &d, &set, -1, NULL);
  int64_t at[] = {0, 1, whole.iterations / 3, whole.iterations - 1};
  for (int i = 0; i < 4; i++) {
    bool none = at[i] == 0 && strcmp(k->method, "misvm") != 0;
    if (at[i] < 1 && !none) continue; /* misvm has one round at least */
    (void)unlink(path);
    answer part = run(f, k, &d, &set, at[i], path);
    answer rest = run(f, k, &d, &set, -1, path);
    check_same(k, &whole, &rest);
    free(part.val);
    free(rest.val);
  }
  free(whole.val);
}

static void every_method_goes_on_where_it_stopped(void **state)
{
  files *f = *state;
  people s = make_set();
  for (int i = 0; i < KINDS; i++) resumes(f, &kinds[i], &s);
}

/* ---- cancelled at any iteration ------------------------------------------*/
typedef struct canceller {
  lapis_ctx *ctx;
  int64_t left; /* messages of iterations */
} canceller;

static void cancel_at(int level, const char *text, void *user)
{
  canceller *c = user;
  if (level != 2 || strstr(text, " residual ") == NULL) return;
  if (c->left-- == 0) lapis_ctx_cancel(c->ctx);
}

/* roml chooses how points are moved by five runs, and runs once more: stopped
 * in whichever, and again where it goes on, it ends with the same answer. */
static void a_choice_of_runs_goes_on(void **state)
{
  files *f = *state;
  people s = make_set();
  const kind points = {
      "roml", "points", {{"inliers", "4"}, {"layout", "coordinates"}}};
  double bags[N];
  settings set;
  lapis_data d = data_of(&s, &points, bags);
  settings_of(f, &points, &s, &set);
  answer whole = run(f, &points, &d, &set, -1, NULL);
  CHECK_OK(f, lapis_ctx_set(f->ctx, "verbose", "2"));
  for (int i = 0; i < 8; i++) {
    const char *path = files_path(f, "choice");
    canceller c = {f->ctx,
                   i < 7 ? i * whole.iterations / 7 : whole.iterations - 2};
    (void)unlink(path);
    lapis_ctx_on_message(f->ctx, cancel_at, &c);
    answer part = run(f, &points, &d, &set, -1, path);
    assert_int_equal(part.status, LAPIS_CANCELLED);
    c.left = 2;
    answer more = run(f, &points, &d, &set, -1, path);
    c.left = -1;
    answer rest = run(f, &points, &d, &set, -1, path);
    check_same(&points, &whole, &rest);
    free(part.val);
    free(more.val);
    free(rest.val);
  }
  lapis_ctx_on_message(f->ctx, NULL, NULL);
  free(whole.val);
}

/* ---- the iteration it starts from ----------------------------------------*/
static void find_resumed(int level, const char *text, void *user)
{
  const char *at = strstr(text, RESUMED);
  (void)level;
  if (at != NULL) *(long *)user = strtol(at + 24, NULL, 10);
}

static void it_starts_at_the_stored_iteration(void **state)
{
  files *f = *state;
  problem p;
  long resumed = -1;
  begin(f, &kinds[0], &p);
  CHECK_OK(f, lapis_ctx_set(f->ctx, "verbose", "1"));
  lapis_ctx_on_message(f->ctx, find_resumed, &resumed);
  const char *path = files_path(f, "checkpoint");
  free(run(f, &kinds[0], &p.d, &p.set, 17, path).val);
  assert_int_equal(resumed, -1);
  free(run(f, &kinds[0], &p.d, &p.set, -1, path).val);
  assert_int_equal(resumed, 17);
}

/* ---- killed in the middle of a path --------------------------------------*/
/* Chooses mu by folds, solves, writes scores and history; in a process of its
 * own.  Twice the same seed, threads and machine: the same bits. */
static int path_fit(const char *checkpoint, const char *out)
{
  static const char *const values[] = {"1",   "0.5",  "0.2",
                                       "0.1", "0.05", "0.02"};
  const lapis_grid grid = {"mu-rel", 6, values};
  const lapis_method *m = lapis_method_find("mc");
  people s = make_set();
  double bags[N];
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_data d = data_of(&s, &kinds[0], bags);
  lapis_mc_settings set = lapis_mc_defaults();
  lapis_cv_options o = lapis_cv_defaults();
  lapis_checkpoint *c;
  lapis_solver *cv;
  lapis_solver *solver;
  lapis_named item[] = {{.name = "scores"}, {.name = "history"}};
  set.stop.tol = 1e-9;
  if (lapis_ctx_set(ctx, "threads", "1") < 0) return 1;
  if (lapis_checkpoint_new(ctx, checkpoint, m, &d, &set, NULL, 0, &c) < 0)
    return 2;
  checkpoint_every(c, 0);
  if (cv_run(ctx, m, &d, &set, &o, &grid, 1, &cv) != LAPIS_OK) return 3;
  const char *best = cv_value(cv, cv_best(cv), 0);
  if (lapis_settings_set(ctx, m, &set, "mu-rel", best) < 0) return 4;
  if (lapis_mc_new(ctx, &d, &set, &solver) < 0) return 5;
  if (lapis_solve(solver) != LAPIS_OK) return 6;
  if (lapis_result_get(solver, "scores", &item[0].mat) < 0) return 7;
  if (lapis_result_get(solver, "history", &item[1].mat) < 0) return 8;
  if (lapis_arrays_write(ctx, out, "npz", item, 2) < 0) return 9;
  lapis_checkpoint_free(c, true);
  lapis_solver_free(solver);
  lapis_solver_free(cv);
  lapis_ctx_free(ctx);
  return 0;
}

/* true: the child ended by itself, well. */
static bool run_for(const char *checkpoint, const char *out, long nanos)
{
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) _exit(path_fit(checkpoint, out));
  int status;
  if (nanos >= 0) {
    struct timespec wait = {0, nanos};
    (void)nanosleep(&wait, NULL);
    (void)kill(child, SIGKILL);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
    fail_msg("the run ended with %d", WEXITSTATUS(status));
  return WIFEXITED(status);
}

static void check_same_files(files *f, const char *a, const char *b)
{
  lapis_arrays x, y;
  CHECK_OK(f, lapis_arrays_read(f->ctx, a, &x));
  CHECK_OK(f, lapis_arrays_read(f->ctx, b, &y));
  assert_int_equal(x.count, y.count);
  for (int k = 0; k < x.count; k++) {
    const lapis_mat *p = &x.item[k].mat, *q = &y.item[k].mat;
    assert_int_equal(p->rows, q->rows);
    assert_int_equal(p->cols, q->cols);
    for (int64_t j = 0; j < p->cols; j++)
      for (int64_t i = 0; i < p->rows; i++) {
        double u = lapis_mat_at(p, i, j), v = lapis_mat_at(q, i, j);
        if (!isnan(u) || !isnan(v)) CHECK_NEAR(u, v, 1e-10);
      }
  }
  lapis_arrays_free(&x);
  lapis_arrays_free(&y);
}

static void killed_ten_times_it_ends_the_same(void **state)
{
  files *f = *state;
  char checkpoint[600], whole[600], out[600];
  (void)snprintf(checkpoint, sizeof checkpoint, "%s/checkpoint", f->folder);
  (void)snprintf(whole, sizeof whole, "%s/whole.npz", f->folder);
  (void)snprintf(out, sizeof out, "%s/out.npz", f->folder);
  assert_true(run_for(checkpoint, whole, -1));
  assert_int_not_equal(access(checkpoint, F_OK), 0); /* finished: removed */
  uint64_t r = 9;
  int kills = 0;
  for (int i = 0; i < 10; i++)
    kills += !run_for(checkpoint, out, (long)(9e7 * check_uniform(&r)));
  assert_true(run_for(checkpoint, out, -1));
  print_message("killed %d times\n", kills);
  check_same_files(f, whole, out);
}

/* ---- whose checkpoint it is ----------------------------------------------*/
static void another_run_is_refused(void **state)
{
  files *f = *state;
  problem p;
  settings other;
  lapis_checkpoint *c;
  static const char *const folds[] = {"folds=5"}, *const fewer[] = {"folds=4"};
  begin(f, &kinds[0], &p);
  const char *path = files_path(f, "checkpoint");
  CHECK_OK(f,
           lapis_checkpoint_new(f->ctx, path, p.m, &p.d, &p.set, folds, 1, &c));
  lapis_solver *solver;
  CHECK_OK(f, lapis_solver_new(f->ctx, p.m, &p.d, &p.set, &solver));
  CHECK_OK(f, lapis_solve(solver));
  lapis_solver_free(solver);
  CHECK_OK(f, lapis_checkpoint_write(c));
  lapis_checkpoint_free(c, false);

  other = p.set;
  CHECK_OK(f, lapis_settings_set(f->ctx, p.m, &other, "lambda", "0.3"));
  CHECK_REFUSED(
      f, lapis_checkpoint_new(f->ctx, path, p.m, &p.d, &other, folds, 1, &c),
      LAPIS_EDATA, "lambda auto 0.3");
  assert_null(c);
  CHECK_REFUSED(
      f, lapis_checkpoint_new(f->ctx, path, p.m, &p.d, &p.set, fewer, 1, &c),
      LAPIS_EDATA, "folds 5 4");
  CHECK_REFUSED(
      f, lapis_checkpoint_new(f->ctx, path, p.m, &p.d, &p.set, NULL, 0, &c),
      LAPIS_EDATA, "folds 5");
  p.s.holes[7] += 1;
  CHECK_REFUSED(
      f, lapis_checkpoint_new(f->ctx, path, p.m, &p.d, &p.set, folds, 1, &c),
      LAPIS_EDATA, "X 20 60");
  p.s.holes[7] -= 1;
  lapis_rpca_settings rpca = lapis_rpca_defaults();
  CHECK_REFUSED(f,
                lapis_checkpoint_new(f->ctx, path, lapis_method_find("rpca"),
                                     &p.d, &rpca, folds, 1, &c),
                LAPIS_EDATA, "mc rpca");
  CHECK_OK(f, lapis_ctx_set(f->ctx, "seed", "4"));
  CHECK_REFUSED(
      f, lapis_checkpoint_new(f->ctx, path, p.m, &p.d, &p.set, folds, 1, &c),
      LAPIS_EDATA, "seed 0 4");
  CHECK_OK(f, lapis_ctx_set(f->ctx, "seed", "0"));
  CHECK_OK(f, lapis_settings_set(f->ctx, p.m, &p.set, "max-iters", "3"));
  CHECK_OK(f, lapis_settings_set(f->ctx, p.m, &p.set, "time-limit", "3"));
  CHECK_OK(f, lapis_ctx_set(f->ctx, "threads", "1"));
  CHECK_OK(f,
           lapis_checkpoint_new(f->ctx, path, p.m, &p.d, &p.set, folds, 1, &c));
  lapis_checkpoint_free(c, true);
  assert_int_not_equal(access(path, F_OK), 0);
}

static void what_is_no_checkpoint_is_refused(void **state)
{
  files *f = *state;
  problem p;
  lapis_checkpoint *c;
  begin(f, &kinds[0], &p);
  const char *path = files_put_text(f, "words", "these are words");
  assert_true(
      lapis_checkpoint_new(f->ctx, path, p.m, &p.d, &p.set, NULL, 0, &c) < 0);
  lapis_named item = {.name = "X", .mat = p.d.X};
  path = files_path(f, "data.npz");
  CHECK_OK(f, lapis_arrays_write(f->ctx, path, "npz", &item, 1));
  CHECK_REFUSED(
      f, lapis_checkpoint_new(f->ctx, path, p.m, &p.d, &p.set, NULL, 0, &c),
      LAPIS_EFORMAT, "");
  assert_null(c);
}

/* A header by which another LAPIS wrote the file. */
static void refused_for_format(files *f, int format, const char *words)
{
  problem p;
  lapis_checkpoint *c;
  char text[200];
  const char *header = text;
  begin(f, &kinds[0], &p);
  (void)snprintf(text, sizeof text,
                 "{\"lapis\": \"9.8.7\", \"kind\": \"checkpoint\", "
                 "\"format\": %d, \"method\": \"mc\"}",
                 format);
  lapis_named item = {
      .name = "lapis", .flat = true, .mat = lapis_mat_text(&header, 1, 1)};
  const char *path = files_path(f, "of-another");
  CHECK_OK(f, lapis_arrays_write(f->ctx, path, "npz", &item, 1));
  CHECK_REFUSED(
      f, lapis_checkpoint_new(f->ctx, path, p.m, &p.d, &p.set, NULL, 0, &c),
      LAPIS_EFORMAT, words);
  assert_null(c);
  assert_int_equal(access(path, F_OK), 0); /* it stays */
}

static void of_another_version_it_says_which(void **state)
{
  refused_for_format(*state, 2,
                     "is the checkpoint of an older LAPIS (9.8.7, format 2");
  refused_for_format(*state, 99,
                     "is the checkpoint of a newer LAPIS (9.8.7, format 99");
  refused_for_format(*state, 2, "remove the file to start anew");
  refused_for_format(*state, 0, "is not a checkpoint");
}

static void a_checkpoint_is_no_model(void **state)
{
  files *f = *state;
  problem p;
  lapis_model *model;
  begin(f, &kinds[0], &p);
  char path[600];
  (void)snprintf(path, sizeof path, "%s/kept", f->folder);
  answer part = run(f, &kinds[0], &p.d, &p.set, 3, path);
  CHECK_REFUSED(f, lapis_model_load(f->ctx, path, &model), LAPIS_EFORMAT,
                "checkpoint");
  free(part.val);
}

static void count_warnings(int level, const char *text, void *user)
{
  (void)text;
  if (level == 0) ++*(int *)user;
}

/* The answer is worth more than the checkpoint. */
static void an_unwritable_checkpoint_is_said_once(void **state)
{
  files *f = *state;
  problem p;
  lapis_checkpoint *c;
  lapis_solver *solver;
  int warnings = 0;
  begin(f, &kinds[0], &p);
  lapis_ctx_on_message(f->ctx, count_warnings, &warnings);
  const char *path = files_path(f, "no/such/folder");
  CHECK_OK(f,
           lapis_checkpoint_new(f->ctx, path, p.m, &p.d, &p.set, NULL, 0, &c));
  checkpoint_every(c, 0);
  CHECK_OK(f, lapis_solver_new(f->ctx, p.m, &p.d, &p.set, &solver));
  CHECK_OK(f, lapis_solve(solver));
  assert_int_equal(warnings, 1);
  assert_int_equal(lapis_checkpoint_write(c), LAPIS_EIO);
  lapis_solver_free(solver);
  lapis_checkpoint_free(c, false);
}

/* ---- whoever wrote it ----------------------------------------------------*/
static void put_number(lapis_mat *m, int64_t i, double v)
{
  if (m->dtype == LAPIS_F64) ((double *)m->val)[i] = v;
  if (m->dtype == LAPIS_U8) ((unsigned char *)m->val)[i] = (unsigned char)v;
  if (m->dtype == LAPIS_I64)
    ((int64_t *)m->val)[i] = v >= 9e18    ? INT64_MAX
                             : v <= -9e18 ? INT64_MIN
                             : isnan(v)   ? 0
                                          : (int64_t)v;
}

/* Writes the checkpoint with one value of one array changed. */
static void alter(files *f, const lapis_arrays *from, int array, int64_t i,
                  double v, const char *to)
{
  lapis_named item[256];
  assert_in_range(from->count, 1, 256);
  for (int k = 0; k < from->count; k++)
    item[k] = (lapis_named){
        .name = from->item[k].name, .flat = true, .mat = from->item[k].mat};
  const lapis_mat *m = &item[array].mat;
  size_t size = (size_t)m->cols * (m->dtype == LAPIS_U8 ? 1 : 8);
  void *was = malloc(size);
  assert_non_null(was);
  memcpy(was, m->val, size);
  put_number(&item[array].mat, i, v);
  CHECK_OK(f, lapis_arrays_write(f->ctx, to, "npz", item, from->count));
  memcpy(m->val, was, size);
  free(was);
}

/* Goes on from an altered file, a few iterations: an error or an end that any
 * run may have; false: refused. */
static bool goes_on(files *f, const kind *k, const lapis_data *d, settings *set,
                    int64_t most, const char *path)
{
  const lapis_method *m = lapis_method_find(k->method);
  lapis_checkpoint *c;
  lapis_solver *s;
  settings own = *set;
  ((struct {
    size_t size;
    lapis_stop stop;
  } *)(void *)&own)
      ->stop.max_iters = most;
  CHECK_OK(f, lapis_checkpoint_new(f->ctx, path, m, d, &own, NULL, 0, &c));
  checkpoint_every(c, INFINITY);
  CHECK_OK(f, lapis_solver_new(f->ctx, m, d, &own, &s));
  lapis_status status = lapis_solve(s);
  if (status < 0) assert_true(strlen(lapis_ctx_error(f->ctx)) > 10);
  lapis_solver_free(s);
  lapis_checkpoint_free(c, false);
  return status != LAPIS_EFORMAT;
}

/* Iterations after which something is kept: nothing while roml chooses how
 * points are moved. */
static int64_t early(files *f, const kind *k, const lapis_data *d,
                     settings *set)
{
  if (strcmp(k->y, "points") != 0) return 7;
  answer a = run(f, k, d, set, -1, NULL);
  free(a.val);
  return a.iterations - 1;
}

static int alter_all(files *f, const kind *k, people *s, int *tried)
{
  static const double hostile[] = {-1, 9.9e18, -9.9e18, 1e12, 1e300, NAN, 200};
  enum { HOSTILE = sizeof hostile / sizeof *hostile };
  const int every = room_all() ? 3 : HOSTILE;
  double bags[N];
  char path[600], other[600];
  int refused = 0;
  lapis_arrays all;
  settings set;
  lapis_data d = data_of(s, k, bags);
  settings_of(f, k, s, &set);
  (void)snprintf(path, sizeof path, "%s/checkpoint", f->folder);
  (void)snprintf(other, sizeof other, "%s/altered", f->folder);
  (void)unlink(path);
  int64_t most = early(f, k, &d, &set);
  free(run(f, k, &d, &set, most, path).val);
  CHECK_OK(f, lapis_arrays_read(f->ctx, path, &all));
  for (int a = 0; a < all.count; a++) {
    const lapis_mat *m = &all.item[a].mat;
    if (m->dtype == LAPIS_TEXT || m->cols == 0) continue;
    if (strstr(all.item[a].name, "accel.d") != NULL) continue; /* 80 alike */
    for (int h = a % every; h < HOSTILE; h += every, ++*tried) {
      alter(f, &all, a, h % 2 == 0 ? 0 : m->cols - 1, hostile[h], other);
      refused += !goes_on(f, k, &d, &set, most + 2, other);
    }
  }
  lapis_arrays_free(&all);
  return refused;
}

static void an_altered_checkpoint_breaks_nothing(void **state)
{
  files *f = *state;
  people s = make_set();
  int tried = 0, refused = 0;
  for (int i = 0; i < KINDS; i++)
    refused += alter_all(f, &kinds[i], &s, &tried);
  print_message("%d altered checkpoints, %d refused\n", tried, refused);
  assert_true(refused > tried / 5);
}

/* What it says of itself is held against what this run has. */
static void a_place_outside_is_refused(void **state)
{
  files *f = *state;
  static const struct {
    int kind;
    const char *array;
    double value;
  } bad[] = {{8, "solve/place", N},     {8, "solve/active", N + 1},
             {8, "solve/checked", 3},   {8, "solve/rho", 0},
             {17, "solve/seen", 0},     {17, "solve/rounds", 0},
             {18, "solve/pick", BAG},   {18, "solve/start", -1},
             {11, "solve/order", N},    {0, "solve/gap", NAN},
             {0, "solve/iteration", -4}};
  people s = make_set();
  for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
    const kind *k = &kinds[bad[b].kind];
    double bags[N];
    settings set;
    char path[600];
    lapis_arrays all;
    int a = 0;
    lapis_data d = data_of(&s, k, bags);
    settings_of(f, k, &s, &set);
    (void)snprintf(path, sizeof path, "%s/checkpoint", f->folder);
    (void)unlink(path);
    int64_t at = strcmp(k->method, "misvm") == 0 ? 1 : 5;
    free(run(f, k, &d, &set, at, path).val);
    CHECK_OK(f, lapis_arrays_read(f->ctx, path, &all));
    while (a < all.count && strcmp(all.item[a].name, bad[b].array) != 0) a++;
    if (a == all.count) fail_msg("no %s in it", bad[b].array);
    alter(f, &all, a, 0, bad[b].value, path);
    if (goes_on(f, k, &d, &set, 9, path))
      fail_msg("%s: %s = %g was taken", k->method, bad[b].array, bad[b].value);
    assert_non_null(strstr(lapis_ctx_error(f->ctx), REMOVE_THE_FILE));
    assert_non_null(strstr(lapis_ctx_error(f->ctx), bad[b].array));
    lapis_arrays_free(&all);
  }
}

/* ---- time ----------------------------------------------------------------*/
static void no_time_is_said_by_all(void **state)
{
  files *f = *state;
  people s = make_set();
  double bags[N];
  lapis_data d = data_of(&s, &kinds[0], bags);
  static const char *const values[] = {"1", "0.1"};
  const lapis_grid grid = {"mu-rel", 2, values};
  lapis_mc_settings set = lapis_mc_defaults();
  lapis_cv_options o = lapis_cv_defaults();
  lapis_solver *cv;
  lapis_solver *solver;
  const lapis_method *m = lapis_method_find("mc");
  lapis_ctx_limit(f->ctx, 0);
  assert_int_equal(cv_run(f->ctx, m, &d, &set, &o, &grid, 1, &cv),
                   LAPIS_TIME_LIMIT);
  assert_int_equal(cv_best(cv), -1);
  lapis_solver_free(cv);
  set.mu_rel = .02;
  CHECK_OK(f, lapis_mc_new(f->ctx, &d, &set, &solver));
  assert_int_equal(lapis_solve(solver), LAPIS_TIME_LIMIT);
  assert_int_equal(lapis_result_info(solver)->iterations, 0);
  lapis_solver_free(solver);
  lapis_ctx_limit(f->ctx, INFINITY);
  CHECK_OK(f, cv_run(f->ctx, m, &d, &set, &o, &grid, 1, &cv));
  assert_true(cv_best(cv) >= 0);
  lapis_solver_free(cv);
}

int test_checkpoint(void)
{
#define CASE(name) \
  cmocka_unit_test_setup_teardown(name, files_setup, files_teardown)
  const struct CMUnitTest tests[] = {
      CASE(killed_ten_times_it_ends_the_same), /* forks: before any thread */
      CASE(every_method_goes_on_where_it_stopped),
      CASE(a_choice_of_runs_goes_on),
      CASE(it_starts_at_the_stored_iteration),
      CASE(another_run_is_refused),
      CASE(what_is_no_checkpoint_is_refused),
      CASE(of_another_version_it_says_which),
      CASE(a_checkpoint_is_no_model),
      CASE(an_unwritable_checkpoint_is_said_once),
      CASE(an_altered_checkpoint_breaks_nothing),
      CASE(a_place_outside_is_refused),
      CASE(no_time_is_said_by_all),
  };
  return run_cases(tests, NULL, NULL);
}
