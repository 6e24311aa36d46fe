/* locate.c - images that show one kind of object -> where it is in each.
 *
 *   boxes -> edges and colours -> rounds of choosing -> one box an image
 *   (with the boxes of images without the object beside them: --without)
 *   boxes, a network's map -> rounds of choosing -> one box an image (--net)
 *   boxes -> GIST -> roml with one slot -> one box an image (--look gist)
 *
 * As [ROML16] Sec. 6: candidate boxes are described, and the box of each image
 * is chosen so that all that are chosen are alike. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "images/pipeline/pipeline.h"
#include "lapis/rows.h"

typedef struct locate {
  lapis_locate_settings set;
  double *pick, *likeness, *agreement; /* n, chosen in rounds */
  int64_t *match;                      /* n: pick */
  unsigned char *sure;                 /* n */
  double *X;                           /* rows of X x n, of these */
  int64_t *image;                      /* n: 0, 1, ... */
  double *box;                         /* 5 x n */
  lapis_report_box *shown;             /* n */
  lapis_array other_paths;             /* of images without the object */
  lapis_solver *others;                /* their boxes */
  lapis_solver *map;                   /* of a network, or NULL */
} locate;

/* Two boxes show the same from this IoU on. */
static const double SURE = 0.5;

/* ---- the network --------------------------------------------------------*/
static lapis_onnx_settings net_settings(const lapis_locate_settings *of)
{
  lapis_onnx_settings set;
  lapis_settings_default(lapis_feature_find("onnx"), &set);
  COPY_OF_NET(&set, of);
  set.grid = of->grid;
  return set;
}

/* What is wrong with it is said before boxes are described. */
static lapis_status try_net(const lapis_flow *f)
{
  const locate *w = f->own;
  lapis_onnx_settings set = net_settings(&w->set);
  lapis_solver *tried = NULL;
  lapis_status s = lapis_features_new(f->ctx, lapis_feature_find("onnx"), &set,
                                      f->path, f->count, NULL, &tried);
  if (s >= 0) {
    const lapis_onnx_settings *is = lapis_result_settings(tried);
    if (is->grid < 2)
      s = lapis_fail(f->ctx, LAPIS_EINVAL,
                     "locate: '%.200s' has no places; --layer names a value "
                     "inside the network that has",
                     is->layer);
  }
  lapis_solver_free(tried);
  return s;
}

/* The map of images whose boxes are described. */
static lapis_status read_map(lapis_flow *f)
{
  locate *w = f->own;
  lapis_onnx_settings set = net_settings(&w->set);
  flow_kinds kinds = {
      .count = 1, .kind = {lapis_feature_find("onnx")}, .settings = {&set}};
  lapis_mat read, refused;
  lapis_status s =
      flow_features_of(f, &kinds, NULL, f->names.val, f->n, true, &w->map);
  if (s != LAPIS_OK) return s;
  TRY(lapis_result_get(w->map, "names", &read));
  if (read.cols == f->n) return LAPIS_OK;
  TRY(lapis_result_get(w->map, "refused", &refused));
  return lapis_fail(f->ctx, LAPIS_EDATA, "locate: %s",
                    ((const char *const *)refused.val)[0]);
}

/* ---- beginning ----------------------------------------------------------*/
static lapis_status begin(lapis_flow *f)
{
  locate *w = f->own;
  w->set = *(const lapis_locate_settings *)f->settings;
  f->common = FLOW_COMMON(&w->set);
  return w->set.net == NULL ? LAPIS_OK : try_net(f);
}

static void forget(lapis_flow *f)
{
  locate *w = f->own;
  free(w->pick), free(w->match), free(w->likeness), free(w->agreement),
      free(w->sure);
  free(w->X), free(w->image);
  free(w->box);
  free(w->shown);
  lapis_array_free(&w->other_paths);
  lapis_solver_free(w->others);
  lapis_solver_free(w->map);
}

/* ---- boxes --------------------------------------------------------------*/
static lapis_status describe_others(lapis_flow *f, const flow_kinds *kinds)
{
  locate *w = f->own;
  struct stat is;
  if (stat(w->set.without, &is) != 0 || !S_ISDIR(is.st_mode))
    return lapis_fail(f->ctx, LAPIS_EIO,
                      "{without %s}: is no folder; the images without the "
                      "object are those of one folder",
                      w->set.without);
  TRY(lapis_image_list(f->ctx, &w->set.without, 1, &w->other_paths));
  const lapis_mat *path = &w->other_paths.mat;
  return flow_features_of(f, kinds, NULL, path->val, path->cols, false,
                          &w->others);
}

static lapis_status describe_boxes(lapis_flow *f)
{
  const locate *w = f->own;
  const lapis_method *kind = lapis_feature_find("gist-boxes");
  lapis_gist_boxes_settings set;
  lapis_settings_default(kind, &set);
  set.boxes = w->set.boxes;
  if (set.boxes == NULL) set.candidates = w->set.candidates;
  set.aspect = w->set.aspect;
  set.noise = w->set.noise;
  set.gist.side = w->set.side;
  set.look = w->set.look;
  flow_kinds kinds = {.count = 1, .kind = {kind}, .settings = {&set}};
  lapis_status s = flow_features(f, &kinds, NULL);
  if (s != LAPIS_OK || w->set.without == NULL) return s;
  set.boxes = NULL; /* the table is of the images with the object */
  set.candidates = w->set.candidates;
  return describe_others(f, &kinds);
}

static lapis_status take_boxes(lapis_flow *f)
{
  lapis_mat group;
  if (f->n < 2)
    return lapis_fail(f->ctx, LAPIS_EMISSING,
                      "locate: only one image is left; two or more are needed");
  TRY(lapis_result_get(f->features, "X", &f->data.X));
  TRY(lapis_result_get(f->features, "group", &group));
  f->data.group = group.val;
  flow_pass_on(f, f->features, "candidate");
  flow_publish(f, "group", group);
  return LAPIS_OK;
}

/* ---- choosing -----------------------------------------------------------*/
static lapis_status publish_boxes(lapis_flow *f)
{
  locate *w = f->own;
  lapis_mat choice, candidate;
  TRY(flow_get(f, "match", &choice));
  TRY(flow_get(f, "candidate", &candidate));
  w->box = malloc((size_t)(5 * f->n) * sizeof *w->box);
  w->shown = calloc((size_t)f->n, sizeof *w->shown);
  if (w->box == NULL || w->shown == NULL) return flow_no_memory(f);
  for (int64_t k = 0; k < f->n; k++) {
    int64_t at = (int64_t)lapis_mat_at(&choice, 0, k);
    double *b = w->box + 5 * k;
    for (int64_t i = 0; i < 5; i++) b[i] = lapis_mat_at(&candidate, i, at);
    /* a score is the candidate's, as it was proposed, and not the answer's */
    w->shown[k].at = (lapis_box){b[0], b[1], b[2], b[3], NAN};
    w->shown[k].of_class = -1;
  }
  flow_publish(f, "boxes", lapis_mat_f64(w->box, 5, f->n));
  return LAPIS_OK;
}

static lapis_status choose_by_roml(lapis_flow *f)
{
  lapis_roml_settings roml = lapis_roml_defaults();
  roml.inliers = 1;
  flow_allow(f, 1);
  lapis_status s = lapis_roml_new(f->ctx, &f->data, &roml, &f->solver);
  if (s >= 0) s = lapis_solve(f->solver);
  flow_answers(f);
  if (s < 0 || s == LAPIS_CANCELLED) return s;
  flow_pass_on(f, f->solver, "match");
  flow_pass_on(f, f->solver, "inlier");
  return s;
}

/* What was chosen in rounds, as roml's only candidates: its figures are of how
 * alike they are. */
static lapis_status take_chosen(lapis_flow *f)
{
  locate *w = f->own;
  lapis_mat X = f->data.X;
  w->X = malloc((size_t)(X.rows * f->n) * sizeof *w->X);
  w->image = malloc((size_t)f->n * sizeof *w->image);
  if (w->X == NULL || w->image == NULL) return flow_no_memory(f);
  for (int64_t k = 0; k < f->n; k++) {
    w->image[k] = k;
    for (int64_t i = 0; i < X.rows; i++)
      w->X[k * X.rows + i] = lapis_mat_at(&X, i, w->match[k]);
  }
  f->data.X = lapis_mat_f64(w->X, X.rows, f->n);
  f->data.group = w->image;
  return LAPIS_OK;
}

/* What boxes are chosen by; its members are views of the solvers'. */
typedef struct evidence {
  lapis_mat group, candidate, map;
  lapis_mat X, other_group, other_box, size; /* --without */
  lapis_choose_boxes without;
  lapis_choose_settings set;
} evidence;

static lapis_status gather_others(const locate *w, evidence *e)
{
  TRY(lapis_result_get(w->others, "X", &e->X));
  TRY(lapis_result_get(w->others, "group", &e->other_group));
  TRY(lapis_result_get(w->others, "candidate", &e->other_box));
  TRY(lapis_result_get(w->others, "image_size", &e->size));
  e->without =
      (lapis_choose_boxes){&e->X, &e->other_group, &e->other_box, &e->size};
  e->set.without = &e->without;
  return LAPIS_OK;
}

static lapis_status gather(const lapis_flow *f, evidence *e)
{
  const locate *w = f->own;
  e->set = lapis_choose_defaults();
  e->set.rounds = w->set.rounds;
  if (w->others != NULL) TRY(gather_others(w, e));
  TRY(lapis_result_get(f->features, "group", &e->group));
  TRY(lapis_result_get(f->features, "candidate", &e->candidate));
  if (w->map == NULL) return LAPIS_OK;
  const lapis_onnx_settings *net = lapis_result_settings(w->map);
  e->set.map = &e->map;
  e->set.grid = net->grid;
  return lapis_result_get(w->map, "X", &e->map);
}

static lapis_status choose_in_rounds(lapis_flow *f)
{
  locate *w = f->own;
  evidence e;
  TRY(gather(f, &e));
  w->pick = malloc((size_t)f->n * sizeof *w->pick);
  w->match = malloc((size_t)f->n * sizeof *w->match);
  w->likeness = malloc((size_t)f->n * sizeof *w->likeness);
  w->agreement = malloc((size_t)f->n * sizeof *w->agreement);
  w->sure = malloc((size_t)f->n);
  if (w->pick == NULL || w->match == NULL || w->likeness == NULL ||
      w->agreement == NULL || w->sure == NULL)
    return flow_no_memory(f);
  e.set.agreement = w->agreement;
  flow_allow(f, 1);
  lapis_status s =
      lapis_boxes_choose(f->ctx, &f->data.X, &e.group, &e.candidate, &f->size,
                         &e.set, w->pick, w->likeness);
  if (s < 0 || s == LAPIS_CANCELLED) return s;
  for (int64_t k = 0; k < f->n; k++) w->match[k] = (int64_t)w->pick[k];
  TRY(take_chosen(f));
  TRY(choose_by_roml(f));
  flow_publish(f, "match", lapis_mat_i64(w->match, 1, f->n));
  flow_publish(f, "likeness", lapis_mat_f64(w->likeness, 1, f->n));
  flow_publish(f, "agreement", lapis_mat_f64(w->agreement, 1, f->n));
  for (int64_t k = 0; k < f->n; k++) w->sure[k] = w->agreement[k] >= SURE;
  flow_publish(f, "inlier", lapis_mat_u8(w->sure, 1, f->n));
  return s;
}

static lapis_status run(lapis_flow *f)
{
  const locate *w = f->own;
  int steps = w->set.net == NULL ? 2 : 3;
  flow_step(f, 1, steps, "describing boxes");
  lapis_status s = describe_boxes(f);
  if (s == LAPIS_OK && w->set.net != NULL) {
    flow_step(f, 2, steps, "running the network");
    s = read_map(f);
  }
  flow_step(f, steps, steps, "choosing boxes");
  if (s == LAPIS_OK) s = take_boxes(f);
  if (s != LAPIS_OK) return s;
  s = w->set.look == LAPIS_BOX_GIST ? choose_by_roml(f) : choose_in_rounds(f);
  if (s < 0 || s == LAPIS_CANCELLED) return s;
  TRY(publish_boxes(f));
  return s;
}

/* ---- results ------------------------------------------------------------*/
static lapis_status table(const lapis_flow *f, const char *path)
{
  static const char *const title[] = {"name",   "x",     "y",       "width",
                                      "height", "score", "doubtful"};
  const locate *w = f->own;
  csv_writer s;
  lapis_mat sure;
  if (w->box == NULL)
    return lapis_fail(f->ctx, LAPIS_EINVAL, "locate: there are no boxes yet");
  TRY(flow_get(f, "inlier", &sure));
  csv_writer_begin(&s, NULL, path);
  for (int i = 0; i < 7; i++) csv_writer_put(&s, title[i], i == 6);
  for (int64_t k = 0; k < f->n; k++) {
    csv_writer_put(&s, ((const char *const *)f->names.val)[k], false);
    for (int i = 0; i < 5; i++)
      csv_writer_put_number(&s, "%.9g", w->box[5 * k + i], false);
    csv_writer_put(&s, lapis_mat_at(&sure, 0, k) < 0.5 ? "yes" : "no", true);
  }
  return csv_writer_write(f->ctx, &s, path);
}

/* Means of bench/results/localisation.md; NULL: nothing is known of these. */
static const char *measured(const lapis_locate_settings *set)
{
  if (set->boxes != NULL || set->look == LAPIS_BOX_GIST) return NULL;
  if (set->net != NULL)
    return "on nine sets of photographs .56 of the boxes were right with a "
           "small network, .55 without one; the highest score alone, .49";
  if (set->without != NULL)
    return "on nine sets of photographs .63 of the boxes were right; the "
           "highest score alone, .49";
  if (set->rounds == 0)
    return "on nine sets of photographs .54 of the boxes were right; the "
           "highest score alone, .49";
  return "on nine sets of photographs .55 of the boxes were right; the highest "
         "score alone, .49";
}

static lapis_status page(const lapis_flow *f, const char *path,
                         const char *command)
{
  const locate *w = f->own;
  char candidates[32];
  lapis_mat candidate;
  TRY(flow_get(f, "candidate", &candidate));
  snprintf(candidates, sizeof candidates, "%" PRId64, candidate.cols);
  flow_pictures shown = {.title = "The object common to all images",
                         .settings = &w->set,
                         .fact = {"candidate boxes", candidates},
                         .doubtful = "doubtful boxes",
                         .measured = measured(&w->set),
                         .box = w->shown};
  return flow_pictures_page(f, &shown, path, command);
}

const flow_class locate_class = {.work = FLOW_WORK(locate_method),
                                 .least = 2,
                                 .own = sizeof(locate),
                                 .begin = begin,
                                 .run = run,
                                 .forget = forget,
                                 .page = page,
                                 .table = table,
                                 .sheet = table};
