/* lapis_mex.c - the gateway of Octave and MATLAB.
 *
 *   [result, info] = lapis_mex ("solve", METHOD, DATA, SETTINGS)
 *   [result, info] = lapis_mex ("predict", FILE, DATA, SETTINGS)
 *   points = lapis_mex ("cv", METHOD, DATA, SETTINGS, OPTIONS)
 *   arrays = lapis_mex ("read", FILE)
 *
 * DATA and SETTINGS are structs: members X, Y, P, group, weight, xy; settings
 * by name, '_' for '-'.  A row is a sample, as in files, and matrices there
 * are stored by columns: they are transposed on the way in and out.  Rows of
 * X are counted from 1 there, and 0 is absent.
 *
 * Ctrl-C ends a solve, which is then an error: nothing half done comes back.
 *
 * An error there jumps out of this file: what mxMalloc gave goes by itself,
 * everything of the library is freed first (job_fail). */
#include <math.h>
#include <mex.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "lapis/files.h"
#include "lapis/lapis.h"
#include "lapis/tools.h"

enum { TALK = 8192, NAME = 64 };
static const double WHOLE = 9007199254740992; /* 2^53 */

typedef struct job {
  lapis_ctx *ctx;
  lapis_model *model;
  lapis_solver *solver;
  lapis_arrays arrays;
  lapis_grid **grid; /* n_grid of them */
  int n_grid;
  bool verbose;
  char talk[TALK]; /* warnings, one a line */
} job;

static void job_free(job *j)
{
  lapis_solver_free(j->solver);
  lapis_model_free(j->model);
  lapis_arrays_free(&j->arrays);
  for (int i = 0; i < j->n_grid; i++) lapis_grid_free(j->grid[i]);
  lapis_ctx_free(j->ctx);
  *j = (job){.ctx = NULL};
}

static void job_fail(job *j, const char *id, const char *text)
{
  char kept[TALK];
  snprintf(kept, sizeof kept, "%s", text);
  job_free(j);
  mexErrMsgIdAndTxt(id, "%s", kept);
}

static void check(job *j, lapis_status s)
{
  if (s < 0) job_fail(j, "lapis:failed", lapis_ctx_error(j->ctx));
}

/* ---- Ctrl-C ---------------------------------------------------------------*/
static lapis_ctx *volatile running;

static void on_interrupt(int signal)
{
  (void)signal;
  if (running != NULL) lapis_ctx_cancel(running);
}

typedef struct listener {
  struct sigaction action;
  sigset_t mask;
} listener;

/* While the library works the key is its; `old` is who had it.  Octave keeps
 * the key from this thread and waits for it in another. */
static void listen_in(job *j, listener *old)
{
  struct sigaction ours = {.sa_handler = on_interrupt};
  sigset_t key;
  sigemptyset(&ours.sa_mask);
  sigemptyset(&key);
  sigaddset(&key, SIGINT);
  running = j->ctx;
  sigaction(SIGINT, &ours, &old->action);
  pthread_sigmask(SIG_UNBLOCK, &key, &old->mask);
}

static void listen_out(job *j, const listener *old, const char *method,
                       lapis_status s)
{
  char text[TALK];
  pthread_sigmask(SIG_SETMASK, &old->mask, NULL);
  sigaction(SIGINT, &old->action, NULL);
  running = NULL;
  check(j, s);
  if (s != LAPIS_CANCELLED) return;
  snprintf(text, sizeof text, "%s: stopped by Ctrl-C", method);
  job_fail(j, "lapis:interrupted", text);
}

/* ---- matrices in ---------------------------------------------------------*/
/* A matrix there (rows x cols) as cols x rows here; from its entries `from` is
 * taken, so that rows counted from 1 become rows counted from 0. */
static lapis_mat matrix_in(job *j, const char *name, const mxArray *a,
                           double from)
{
  if (!mxIsDouble(a) || mxIsComplex(a) || mxIsSparse(a) ||
      mxGetNumberOfDimensions(a) > 2) {
    char text[TALK];
    snprintf(text, sizeof text,
             "%s is not a full real matrix of doubles; full(double(%s)) is",
             name, name);
    job_fail(j, "lapis:type", text);
  }
  size_t rows = mxGetM(a), cols = mxGetN(a);
  const double *x = mxGetPr(a);
  double *to = mxMalloc((rows * cols + 1) * sizeof *to);
  for (size_t i = 0; i < rows; i++)
    for (size_t k = 0; k < cols; k++) to[i * cols + k] = x[k * rows + i] - from;
  return lapis_mat_f64(to, (int64_t)cols, (int64_t)rows);
}

/* A sparse matrix there is compressed by column, a feature; here by sample. */
static lapis_mat sparse_in(job *j, const char *name, const mxArray *a)
{
  size_t rows = mxGetM(a), cols = mxGetN(a);
  const mwIndex *start = mxGetJc(a), *row = mxGetIr(a);
  const double *value = mxGetPr(a);
  size_t count = start[cols];
  if (mxIsComplex(a) || cols > INT32_MAX) {
    char text[TALK];
    snprintf(text, sizeof text,
             "%s is complex or has more than %d columns; a real matrix of "
             "fewer is taken",
             name, INT32_MAX);
    job_fail(j, "lapis:type", text);
  }
  int64_t *at = mxCalloc(rows + 2, sizeof *at);
  int32_t *feature = mxMalloc((count + 1) * sizeof *feature);
  double *to = mxMalloc((count + 1) * sizeof *to);
  /* counted two places on: while a sample fills, its next place is one on */
  for (size_t k = 0; k < count; k++) at[row[k] + 2]++;
  for (size_t i = 0; i < rows; i++) at[i + 2] += at[i + 1];
  for (size_t c = 0; c < cols; c++)
    for (mwIndex k = start[c]; k < start[c + 1]; k++) {
      int64_t place = at[row[k] + 1]++;
      feature[place] = (int32_t)c;
      to[place] = value[k];
    }
  return (lapis_mat){.dtype = LAPIS_F64,
                     .rows = (int64_t)cols,
                     .cols = (int64_t)rows,
                     .ld = (int64_t)cols,
                     .val = to,
                     .colptr = at,
                     .rowidx = feature};
}

static lapis_mat member(job *j, const mxArray *data, const char *name)
{
  const mxArray *a = mxGetField(data, 0, name);
  if (a == NULL || mxIsEmpty(a)) return (lapis_mat){.rows = 0};
  if (strcmp(name, "X") == 0 && mxIsSparse(a) && mxIsDouble(a))
    return sparse_in(j, name, a);
  return matrix_in(j, name, a, 0);
}

/* A vector of n whole numbers, or NULL. */
static int64_t *groups(job *j, const mxArray *data, int64_t n)
{
  lapis_mat g = member(j, data, "group");
  if (g.rows * g.cols == 0) return NULL;
  if (g.rows * g.cols != n)
    job_fail(j, "lapis:shape", "group: one number a row of X is needed");
  int64_t *to = mxMalloc((size_t)n * sizeof *to);
  const double *number = g.val;
  for (int64_t i = 0; i < n; i++) {
    /* beyond 2^53 two groups may be one double; NaN is in no range */
    if (!(fabs(number[i]) <= WHOLE) || number[i] != floor(number[i])) {
      char text[TALK], value[NAME] = "NaN";
      if (!isnan(number[i])) snprintf(value, sizeof value, "%g", number[i]);
      snprintf(text, sizeof text,
               "group: %s at row %lld is not a whole number of at most 2^53",
               value, (long long)i + 1);
      job_fail(j, "lapis:type", text);
    }
    to[i] = (int64_t)number[i];
  }
  return to;
}

static const double *weights(job *j, const mxArray *data, int64_t n)
{
  lapis_mat w = member(j, data, "weight");
  if (w.rows * w.cols == 0) return NULL;
  if (w.rows * w.cols != n)
    job_fail(j, "lapis:shape", "weight: one number a row of X is needed");
  return w.val;
}

static lapis_data data_in(job *j, const mxArray *a)
{
  lapis_data d = {.X = member(j, a, "X"),
                  .Y = member(j, a, "Y"),
                  .P = member(j, a, "P"),
                  .xy = member(j, a, "xy")};
  d.group = groups(j, a, d.X.cols);
  d.weight = weights(j, a, d.X.cols);
  return d;
}

/* ---- settings ------------------------------------------------------------*/
static void check_scalar(job *j, const char *field, const mxArray *a)
{
  bool number = mxIsNumeric(a) || mxIsLogical(a);
  if (number && !mxIsComplex(a) && mxGetNumberOfElements(a) == 1) return;
  char text[TALK];
  if (number)
    snprintf(text, sizeof text,
             "%s is %s%zu x %zu; one real number or a text is taken", field,
             mxIsComplex(a) ? "complex, " : "", mxGetM(a), mxGetN(a));
  else
    snprintf(text, sizeof text,
             "%s is of class %s; one real number or a text is taken", field,
             mxGetClassName(a));
  job_fail(j, "lapis:type", text);
}

/* Text as the library reads it. */
static const char *value_text(job *j, const char *field, const mxArray *a,
                              char *text, size_t size)
{
  if (mxIsChar(a)) return mxArrayToString(a);
  check_scalar(j, field, a);
  double v = mxGetScalar(a);
  if (mxIsLogical(a))
    snprintf(text, size, "%s", v != 0 ? "true" : "false");
  else if (isnan(v))
    snprintf(text, size, "auto");
  else
    snprintf(text, size, "%.17g", v);
  return text;
}

static bool is_matrix(const lapis_method *m, const char *name)
{
  const lapis_matrix_setting *setting;
  for (int i = 0; (setting = lapis_method_matrix(m, i)) != NULL; i++)
    if (strcmp(setting->name, name) == 0) return true;
  return false;
}

static bool of_context(const char *name)
{
  return strcmp(name, "seed") == 0 || strcmp(name, "threads") == 0 ||
         strcmp(name, "verbose") == 0;
}

static void set_one(job *j, const lapis_method *m, void *settings,
                    const char *field, const mxArray *a)
{
  char name[NAME], *text = mxMalloc(NAME);
  snprintf(name, sizeof name, "%s", field);
  for (char *at = name; *at != '\0'; at++)
    if (*at == '_') *at = '-';
  if (is_matrix(m, name) && !mxIsChar(a)) {
    lapis_mat mat = matrix_in(j, field, a, strcmp(name, "start") == 0);
    check(j, lapis_settings_set_matrix(j->ctx, m, settings, name, &mat));
    return;
  }
  const char *value = value_text(j, field, a, text, NAME);
  if (strcmp(name, "verbose") == 0) j->verbose = strcmp(value, "0") != 0;
  check(j, of_context(name)
               ? lapis_ctx_set(j->ctx, name, value)
               : lapis_settings_set(j->ctx, m, settings, name, value));
}

/* "model", a file to write, is the gateway's own. */
static void *settings_in(job *j, const lapis_method *m, const mxArray *a)
{
  void *settings = mxMalloc(m->settings_size);
  lapis_settings_default(m, settings);
  for (int i = 0; i < mxGetNumberOfFields(a); i++) {
    const char *field = mxGetFieldNameByNumber(a, i);
    if (strcmp(field, "model") != 0)
      set_one(j, m, settings, field, mxGetFieldByNumber(a, 0, i));
  }
  return settings;
}

/* ---- results out ---------------------------------------------------------*/
static mxArray *texts_out(const lapis_mat *mat)
{
  const char *const *text = mat->val;
  if (mat->rows == 1) { /* a row, as in files */
    mxArray *cell = mxCreateCellMatrix(1, (mwSize)mat->cols);
    for (int64_t i = 0; i < mat->cols; i++)
      mxSetCell(cell, (mwIndex)i, mxCreateString(text[i]));
    return cell;
  }
  mxArray *cell = mxCreateCellMatrix((mwSize)mat->cols, (mwSize)mat->rows);
  for (int64_t i = 0; i < mat->cols; i++)
    for (int64_t k = 0; k < mat->rows; k++)
      mxSetCell(cell, (mwIndex)(k * mat->cols + i),
                mxCreateString(text[i * mat->rows + k]));
  return cell;
}

static mxArray *matrix_out(const lapis_mat *mat)
{
  if (mat->dtype == LAPIS_TEXT) return texts_out(mat);
  size_t rows = (size_t)mat->cols, cols = (size_t)mat->rows;
  mxArray *out = mxCreateDoubleMatrix(rows, cols, mxREAL);
  double *to = mxGetPr(out);
  for (size_t i = 0; i < rows; i++)
    for (size_t k = 0; k < cols; k++)
      to[k * rows + i] = lapis_mat_at(mat, (int64_t)k, (int64_t)i);
  return out;
}

static void put(mxArray *to, const char *name, mxArray *value)
{
  mxAddField(to, name);
  mxSetField(to, 0, name, value);
}

/* Rows of X are counted from 1, so that 0 is absent. */
static void count_from_one(mxArray *a)
{
  double *x = mxGetPr(a);
  for (size_t i = 0; i < mxGetNumberOfElements(a); i++) x[i] += 1;
}

static mxArray *result_out(const job *j)
{
  mxArray *out = mxCreateStructMatrix(1, 1, 0, NULL);
  const char *name;
  for (int i = 0; (name = lapis_result_name(j->solver, i)) != NULL; i++) {
    lapis_mat mat;
    lapis_result_get(j->solver, name, &mat);
    mxArray *a = matrix_out(&mat);
    if (mat.dtype == LAPIS_I64) count_from_one(a);
    put(out, name, a);
  }
  return out;
}

static mxArray *info_out(const job *j)
{
  const lapis_info *info = lapis_result_info(j->solver);
  mxArray *out = mxCreateStructMatrix(1, 1, 0, NULL);
  put(out, "status", mxCreateString(lapis_status_name(info->status)));
  put(out, "iterations", mxCreateDoubleScalar((double)info->iterations));
  put(out, "rank", mxCreateDoubleScalar((double)info->rank));
  put(out, "objective", mxCreateDoubleScalar(info->objective));
  put(out, "dual", mxCreateDoubleScalar(info->dual));
  put(out, "gap", mxCreateDoubleScalar(info->gap));
  put(out, "residual", mxCreateDoubleScalar(info->residual));
  put(out, "seconds", mxCreateDoubleScalar(info->seconds));
  put(out, "backend", mxCreateString(lapis_ctx_backend(j->ctx)));
  return out;
}

/* ---- the verbs -----------------------------------------------------------*/
static void finish(job *j, const char *method, int nlhs, mxArray **plhs)
{
  listener old;
  listen_in(j, &old);
  lapis_status s = lapis_solve(j->solver);
  listen_out(j, &old, method, s);
  plhs[0] = result_out(j);
  if (nlhs > 1) plhs[1] = info_out(j);
}

static void save_model(job *j, const mxArray *settings)
{
  const mxArray *path = mxGetField(settings, 0, "model");
  if (path == NULL) return;
  check(j, lapis_model_new(j->solver, &j->model));
  check(j, lapis_model_save(j->ctx, j->model, mxArrayToString(path)));
}

static const lapis_method *method_of(job *j, const char *name)
{
  const lapis_method *m = lapis_method_find(name);
  char text[TALK] = "there is no such method; there are";
  size_t used = strlen(text);
  if (m != NULL) return m;
  for (int i = 0; (m = lapis_method_at(i)) != NULL && used < TALK; i++)
    used += (size_t)snprintf(text + used, TALK - used, " %s", m->name);
  job_fail(j, "lapis:method", text);
  return NULL;
}

/* What is given says something beside the rest. */
static void check_effect(job *j, const lapis_method *m, const void *settings,
                         const lapis_data *data, const mxArray *given)
{
  for (int i = 0; i < mxGetNumberOfFields(given); i++) {
    char name[64];
    snprintf(name, sizeof name, "%s", mxGetFieldNameByNumber(given, i));
    for (char *at = name; *at != '\0'; at++)
      if (*at == '_') *at = '-';
    check(j, lapis_settings_check_effect(j->ctx, m, settings,
                                         lapis_data_has(data), name, NULL));
  }
}

static void solve(job *j, int nlhs, mxArray **plhs, const mxArray **prhs)
{
  const char *name = mxArrayToString(prhs[1]);
  const lapis_method *m = method_of(j, name);
  lapis_data data = data_in(j, prhs[2]);
  void *settings = settings_in(j, m, prhs[3]);
  check_effect(j, m, settings, &data, prhs[3]);
  check(j, lapis_solver_new(j->ctx, m, &data, settings, &j->solver));
  finish(j, name, nlhs, plhs);
  save_model(j, prhs[3]);
}

static void predict(job *j, int nlhs, mxArray **plhs, const mxArray **prhs)
{
  check(j, lapis_model_load(j->ctx, mxArrayToString(prhs[1]), &j->model));
  const lapis_method *m = lapis_predict_method(lapis_model_method(j->model));
  if (m == NULL)
    job_fail(j, "lapis:method", "this model answers no new samples");
  lapis_data data = data_in(j, prhs[2]);
  void *settings = settings_in(j, m, prhs[3]);
  check_effect(j, m, settings, &data, prhs[3]);
  check(j, lapis_predict_new(j->ctx, &data, j->model, settings, &j->solver));
  finish(j, "predict", nlhs, plhs);
}

/* ---- cross-validation
 * ------------------------------------------------------*/
static const char *text_field(const mxArray *options, const char *name)
{
  const mxArray *a = mxGetField(options, 0, name);
  return a == NULL ? NULL : mxArrayToString(a);
}

static bool is_true(const mxArray *options, const char *name)
{
  const mxArray *a = mxGetField(options, 0, name);
  return a != NULL && mxGetScalar(a) != 0;
}

static lapis_cv_options cv_options(const mxArray *a)
{
  lapis_cv_options o = lapis_cv_defaults();
  const char *metric = text_field(a, "metric");
  if (metric != NULL) o.metric = metric;
  if (mxGetField(a, 0, "folds") != NULL)
    o.folds = (int64_t)mxGetScalar(mxGetField(a, 0, "folds"));
  o.by_group = is_true(a, "by_group");
  o.pooled = is_true(a, "pooled");
  o.map = text_field(a, "map");
  o.map_priv = text_field(a, "map_priv");
  return o;
}

/* The texts "name=v,v" of OPTIONS.grid, a cell. */
static const lapis_grid *grid_in(job *j, const mxArray *options)
{
  const mxArray *cell = mxGetField(options, 0, "grid");
  int count = cell == NULL ? 0 : (int)mxGetNumberOfElements(cell);
  lapis_grid *all = mxCalloc((size_t)count + 1, sizeof *all);
  j->grid = mxCalloc((size_t)count + 1, sizeof(lapis_grid *));
  for (int i = 0; i < count; i++) {
    const char *text = mxArrayToString(mxGetCell(cell, (mwIndex)i));
    check(j, lapis_grid_new(j->ctx, text, &j->grid[i]));
    all[i] = *j->grid[i];
    j->n_grid = i + 1;
  }
  return all;
}

/* values (points x names, texts), mean, deviation, folds, best (from 1). */
static mxArray *points_out(const job *j)
{
  lapis_mat all[3], best, points;
  static const char *const title[] = {"mean", "deviation", "folds"};
  for (int k = 0; k < 3; k++)
    (void)lapis_result_get(j->solver, title[k], &all[k]);
  bool judged = lapis_result_get(j->solver, "best", &best) >= 0;
  (void)lapis_result_get(j->solver, "points", &points);
  mwSize count = (mwSize)all[0].cols, names = (mwSize)j->n_grid;
  mxArray *out = mxCreateStructMatrix(1, 1, 0, NULL);
  mxArray *value = mxCreateCellMatrix(count, names);
  mxArray *number[3];
  for (int k = 0; k < 3; k++)
    number[k] = mxCreateDoubleMatrix(count, 1, mxREAL);
  for (mwSize i = 0; i < count; i++) {
    for (int k = 0; k < 3; k++)
      mxGetPr(number[k])[i] = lapis_mat_at(&all[k], 0, (int64_t)i);
    for (mwSize k = 0; k < names; k++)
      mxSetCell(
          value, (mwIndex)(k * count + i),
          mxCreateString(((const char *const *)points.val)[i * names + k]));
  }
  put(out, "value", value);
  for (int k = 0; k < 3; k++) put(out, title[k], number[k]);
  put(out, "best",
      mxCreateDoubleScalar(judged ? lapis_mat_at(&best, 0, 0) + 1 : 0));
  return out;
}

static void cross_validate(job *j, mxArray **plhs, const mxArray **prhs)
{
  const char *name = mxArrayToString(prhs[1]);
  const lapis_method *m = method_of(j, name);
  lapis_data data = data_in(j, prhs[2]);
  void *settings = settings_in(j, m, prhs[3]);
  lapis_cv_options o = cv_options(prhs[4]);
  const lapis_grid *grid = grid_in(j, prhs[4]);
  listener old;
  listen_in(j, &old);
  lapis_status s =
      lapis_cv_new(j->ctx, m, &data, settings, &o, grid, j->n_grid, &j->solver);
  if (s >= 0) s = lapis_solve(j->solver);
  listen_out(j, &old, "cv", s);
  plhs[0] = points_out(j);
}

/* The dense arrays of a file, as stored: nothing is counted from 1. */
static void read_file(job *j, mxArray **plhs, const mxArray **prhs)
{
  check(j, lapis_arrays_read(j->ctx, mxArrayToString(prhs[1]), &j->arrays));
  plhs[0] = mxCreateStructMatrix(1, 1, 0, NULL);
  for (int i = 0; i < j->arrays.count; i++) {
    const lapis_array *a = &j->arrays.item[i];
    if (a->mat.colptr == NULL) put(plhs[0], a->name, matrix_out(&a->mat));
  }
}

/* Warnings wait until nothing can be lost: there they may be errors. */
static void on_message(int level, const char *text, void *user)
{
  job *j = user;
  size_t used = strlen(j->talk);
  if (level == 0)
    snprintf(j->talk + used, TALK - used, "%s\n", text);
  else if (level > 0 || j->verbose) /* notes are in the result, too */
    mexPrintf("lapis: %s\n", text);
}

/* The id of a warning: what a method remarked has a name. */
static void warning_id(const job *j, const char *text, char id[NAME])
{
  lapis_mat notes = {.cols = 0};
  if (j->solver != NULL) lapis_result_get(j->solver, "notes", &notes);
  const char *const *cell = notes.val;
  snprintf(id, NAME, "lapis:warning");
  for (int64_t k = 0; k < notes.cols; k++)
    if (strcmp(cell[3 * k + 2], text) == 0)
      snprintf(id, NAME, "lapis:%s", cell[3 * k + 1]);
}

/* The warnings, each by its id, when everything of the library is freed. */
static void end(job *j)
{
  enum { MOST = 32 };
  char talk[TALK], id[MOST][NAME];
  const char *line[MOST];
  int count = 0;
  memcpy(talk, j->talk, TALK);
  for (char *at = strtok(talk, "\n"); at != NULL && count < MOST;
       at = strtok(NULL, "\n")) {
    warning_id(j, at, id[count]);
    line[count++] = at;
  }
  job_free(j);
  for (int k = 0; k < count; k++) mexWarnMsgIdAndTxt(id[k], "%s", line[k]);
}

static void check_call(int nrhs, const mxArray **prhs, const char *verb)
{
  bool reads = nrhs == 2 && strcmp(verb, "read") == 0;
  int most = strcmp(verb, "cv") == 0 ? 5 : 4;
  bool works = nrhs == most;
  for (int i = 2; i < most && works; i++) works = mxIsStruct(prhs[i]);
  if (!mxIsChar(prhs[1]) || (!reads && !works))
    mexErrMsgIdAndTxt("lapis:usage",
                      "lapis_mex (\"solve\" | \"predict\" | \"cv\" | "
                      "\"read\", METHOD or FILE, DATA, SETTINGS, OPTIONS of "
                      "cv): see lapis_mc");
}

void mexFunction(int nlhs, mxArray **plhs, int nrhs, const mxArray **prhs)
{
  job j = {.ctx = NULL};
  char verb[NAME] = "";
  if (nrhs < 2 || mxGetString(prhs[0], verb, NAME) != 0)
    mexErrMsgIdAndTxt("lapis:usage", "lapis_mex is called by lapis_mc and "
                                     "its like");
  check_call(nrhs, prhs, verb);
  j.ctx = lapis_ctx_new();
  if (j.ctx == NULL) mexErrMsgIdAndTxt("lapis:memory", "out of memory");
  lapis_ctx_on_message(j.ctx, on_message, &j);
  if (strcmp(verb, "solve") == 0)
    solve(&j, nlhs, plhs, prhs);
  else if (strcmp(verb, "predict") == 0)
    predict(&j, nlhs, plhs, prhs);
  else if (strcmp(verb, "cv") == 0)
    cross_validate(&j, plhs, prhs);
  else if (strcmp(verb, "read") == 0)
    read_file(&j, plhs, prhs);
  else
    job_fail(&j, "lapis:usage",
             "solve, predict, cv and read are what there is");
  end(&j);
}
