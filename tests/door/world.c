/* world.c - makes one of everything, then runs each call in a process of its
 * own.  Small and quick: every process has a copy of it. */
#include "world.h"

#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* SECONDS: of processor time */
enum { SECONDS = 20, NO_SENTENCE = 9, RUBBISH = 10 };
world w;
static const char stale[] = "no such key"; /* in a sentence of before */
static char rubbish;                       /* what w.pointer held before */
enum { FILLED = 0x5a };                    /* and w.big */

static void must(bool fine, const char *what)
{
  if (fine) return;
  fprintf(stderr, "door: no %s: %s\n", what, lapis_ctx_error(w.ctx));
  exit(2);
}

void world_status(lapis_status s, int has_context, int makes)
{
  if (s < 0 && makes == 1 && w.pointer == &rubbish) _exit(RUBBISH);
  if (s < 0 && makes == 2 && w.big[0] == FILLED) _exit(RUBBISH);
  if (s < 0 && has_context && strstr(lapis_ctx_error(w.ctx), stale) != NULL)
    _exit(NO_SENTENCE);
}

void world_fill(void)
{
  memset(w.big, FILLED, ROOM);
}

bool world_progress(const lapis_progress *now, void *user)
{
  (void)now;
  (void)user;
  return true;
}

void world_message(int level, const char *text, void *user)
{
  (void)level;
  (void)text;
  (void)user;
}

/* ---- bad matrices -------------------------------------------------------*/
void world_short_ld(lapis_mat *m)
{
  m->ld = m->rows - 1;
}
void world_no_values(lapis_mat *m)
{
  m->val = NULL;
}
void world_negative_rows(lapis_mat *m)
{
  m->rows = -3;
}
void world_negative_cols(lapis_mat *m)
{
  m->cols = -3;
}
void world_huge(lapis_mat *m)
{
  m->rows = m->cols = m->ld = INT64_MAX / 2;
}
void world_no_type(lapis_mat *m)
{
  m->dtype = (lapis_dtype)77;
}

/* Sparse, with an entry in each column; then something is wrong. */
static void make_sparse(lapis_mat *m)
{
  static int64_t start[COLS + 1];
  static int32_t row[COLS];
  for (int64_t j = 0; j <= COLS; j++) start[j] = j;
  for (int64_t j = 0; j < COLS; j++) row[j] = 0;
  m->colptr = start;
  m->rowidx = row;
}

void world_bad_row(lapis_mat *m)
{
  make_sparse(m);
  ((int32_t *)(void *)m->rowidx)[1] = 1000000000;
}

void world_bad_start(lapis_mat *m)
{
  make_sparse(m);
  ((int64_t *)(void *)m->colptr)[1] = INT64_MAX;
}

void world_no_rows(lapis_mat *m)
{
  make_sparse(m);
  m->rowidx = NULL;
}

void world_text(lapis_mat *m)
{
  static const char *word[ROWS * COLS];
  m->dtype = LAPIS_TEXT; /* and every text is NULL */
  m->val = (void *)word;
}

/* ---- good things --------------------------------------------------------*/
static void make_numbers(void)
{
  static double x[ROWS * COLS], y[COLS], other[ROWS * COLS];
  static int64_t group[COLS], start[3] = {0, 1, 2};
  static int32_t neighbour[2] = {1, 0}, label[16 * 16];
  static int64_t pixels[2] = {128, 128};
  static float picture[16 * 16 * 3];
  for (int k = 0; k < ROWS * COLS; k++) x[k] = sin(7.0 * k) + 0.1 * (k % 5);
  for (int j = 0; j < COLS; j++) {
    y[j] = x[j * ROWS] > 0;
    group[j] = j / 2;
  }
  for (int k = 0; k < 16 * 16 * 3; k++) picture[k] = (float)(k % 7) / 7;
  for (int k = 0; k < 16 * 16; k++) label[k] = k % 16 < 8;
  w.mat = lapis_mat_f64(x, ROWS, COLS);
  w.other = lapis_mat_f64(other, ROWS, COLS);
  w.labels = lapis_mat_f64(y, 1, COLS);
  w.data = (lapis_data){.X = w.mat, .Y = w.labels};
  w.grouped = w.data;
  w.grouped.group = group;
  w.image = (lapis_image){16, 16, 3, picture};
  w.words = (lapis_words){lapis_mat_f64(y, 1, COLS), lapis_mat_f64(x, 2, COLS),
                          2, 16, 16};
  w.graph = (lapis_graph){2, start, neighbour};
  w.segments = (lapis_segments){16, 16, label, pixels, w.graph};
  w.numbers = calloc(ROOM, 1);
  w.integers = calloc(ROOM, 1);
  w.bytes = calloc(ROOM, 1);
  w.big = calloc(ROOM, 1);
  w.room = calloc(ROOM, 1);
  w.named = (lapis_named){.name = "X", .mat = w.mat};
  w.assignment = (lapis_assignment){.match = w.integers};
  w.comm = (lapis_comm){.size = 1};
  w.column = (lapis_sheet_column){.title = "x", .values = w.labels};
  w.text = "a text";
}

static void make_settings(void)
{
  w.mc = lapis_mc_defaults();
  w.rpca = lapis_rpca_defaults();
  w.rr = lapis_rr_defaults();
  w.clean = lapis_clean_defaults();
  w.clean.dictionary = w.mat;
  w.roml = lapis_roml_defaults();
  w.svmplus = lapis_svmplus_defaults();
  w.svmplus.C = w.svmplus.gamma = 1;
  w.misvm = lapis_misvm_defaults();
  w.linear = lapis_linear_defaults();
  w.chooser = lapis_auto_defaults();
  w.trees = lapis_trees_defaults();
  w.window = lapis_window_defaults();
  w.slic = lapis_slic_defaults();
  w.region = lapis_region_defaults();
  w.choose = lapis_choose_defaults();
  w.cv_options = lapis_cv_defaults();
  w.cv_options.folds = 2;
  w.report = lapis_report_defaults();
  w.features_options.size = sizeof w.features_options;
  static const char *const flows[] = {"label", "match", "locate"};
  void **const to[] = {&w.label, &w.match, &w.locate};
  for (int k = 0; k < 3; k++) {
    *to[k] = calloc(1, ROOM);
    lapis_settings_default(lapis_flow_find(flows[k]), *to[k]);
  }
  w.method = lapis_method_find("rpca");
  w.kinds[0] = w.kinds[1] = lapis_feature_find("pixels");
  w.settings = calloc(1, ROOM);
  lapis_settings_default(w.method, w.settings);
  lapis_settings_default(lapis_method_find("mc"), &w.mc);
  w.mc.mu_rel = .2;
}

static bool write_picture(const char *path)
{
  FILE *to = fopen(path, "wb");
  if (to == NULL) return false;
  (void)fprintf(to, "P6 16 16 255\n");
  for (int k = 0; k < 3 * 16 * 16; k++) (void)fputc(k % 251, to);
  return fclose(to) == 0;
}

static lapis_status begin_nothing(void *self, lapis_solver *s)
{
  return self == NULL || s == NULL ? LAPIS_EINVAL : LAPIS_OK;
}

static lapis_status solve_nothing(void *self)
{
  return self == NULL ? LAPIS_EINVAL : LAPIS_OK;
}

static void free_nothing(void *self)
{
  (void)self;
}

static void make_objects(void)
{
  lapis_ctx *c = w.ctx;
  w.work = (lapis_work){w.method, begin_nothing, solve_nothing, free_nothing};
  must(lapis_rpca_new(c, &w.data, &w.rpca, &w.solver) >= 0, "solver");
  must(lapis_solve(w.solver) >= 0, "solution");
  must(lapis_model_new(w.solver, &w.model) >= 0, "model");
  must(lapis_map_new(c, "l2", &w.map) >= 0, "map");
  must(lapis_map_fit(c, w.map, &w.mat) >= 0, "fitted map");
  must(lapis_grid_new(c, "lambda=.1,1", &w.grid) >= 0, "grid");
  must(lapis_cv_new(c, lapis_method_find("rlda"), &w.data, NULL, &w.cv_options,
                    w.grid, 1, &w.cv) >= 0,
       "cv");
  must(lapis_arrays_write(c, w.path, "npz", &w.named, 1) >= 0, "file");
  must(write_picture(w.picture), "picture");
  must(lapis_image_read(c, w.picture, &w.read) >= 0, "image");
  must(lapis_segments_read(c, w.picture, 1, &w.made) >= 0, "segments");
  must(lapis_dataset_new(c, &w.dataset) >= 0, "dataset");
  must(lapis_dataset_read(w.dataset, w.path, NULL) >= 0, "data");
  must(lapis_dataset_finish(w.dataset) >= 0, "data");
  must(lapis_arrays_read(c, w.path, &w.arrays) >= 0, "arrays");
  must(lapis_match_new(c, w.paths, 2, w.match, &w.flow) >= 0, "pipeline");
  w.json = lapis_json_object();
  must(lapis_json_put_number(w.json, "a", 1), "json");
}

static void make_world(const char *folder)
{
  static char path[4096], picture[4096];
  snprintf(path, sizeof path, "%s/in.npz", folder);
  snprintf(picture, sizeof picture, "%s/a.png", folder);
  w.path = path;
  w.picture = picture;
  w.paths[0] = w.paths[1] = w.paths[2] = picture;
  w.ctx = lapis_ctx_new();
  must(lapis_ctx_set(w.ctx, "threads", "1") >= 0, "context");
  make_numbers();
  make_settings();
  make_objects();
  (void)lapis_ctx_set(w.ctx, stale, "");
}

/* ---- running ------------------------------------------------------------*/
static void run_case(int k)
{
  char checkpoint[4096], folder[4096];
  const struct rlimit most = {SECONDS, SECONDS};
  (void)setrlimit(RLIMIT_CPU, &most);
  snprintf(checkpoint, sizeof checkpoint, "%s.%d.ck", w.path, k);
  if (lapis_checkpoint_new(w.ctx, checkpoint, w.method, &w.data, &w.rpca, NULL,
                           0, &w.checkpoint) < 0)
    _exit(NO_SENTENCE);
  snprintf(folder, sizeof folder, "%s.%d.parts", w.path, k);
  if (lapis_parts_new(w.ctx, folder, &w.parts) < 0) _exit(NO_SENTENCE);
  w.pointer = &rubbish;
  world_call(k);
  _exit(0);
}

static bool passes(int k)
{
  int status = 0;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) run_case(k);
  if (child < 0 || waitpid(child, &status, 0) < 0) return false;
  if (WIFSIGNALED(status))
    printf("%s: signal %d\n", world_name[k], WTERMSIG(status));
  else if (WEXITSTATUS(status) == NO_SENTENCE)
    printf("%s: a failure without a sentence\n", world_name[k]);
  else if (WEXITSTATUS(status) == RUBBISH)
    printf("%s: a failure that leaves behind what may not be freed\n",
           world_name[k]);
  else if (WEXITSTATUS(status) != 0)
    printf("%s: exit %d\n", world_name[k], WEXITSTATUS(status));
  return status == 0;
}

int main(int argc, char **argv)
{
  int bad = 0;
  if (argc < 2) return 2;
  make_world(argv[1]);
  puts("[ RUN      ] every_misuse_has_an_answer");
  for (int k = 0; k < world_count; k++)
    if (argc < 3 || strstr(world_name[k], argv[2]) != NULL) bad += !passes(k);
  printf("%d calls, %d of them bad\n", world_count, bad);
  puts(bad == 0 ? "[       OK ] every_misuse_has_an_answer"
                : "[  FAILED  ] every_misuse_has_an_answer");
  fflush(stdout);
  _exit(bad != 0); /* nothing is freed, and nobody looks */
}
