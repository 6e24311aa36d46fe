/* locate.c - images that show one kind of object -> where it is in each.
 *
 *   boxes -> edges and colours -> rounds of choosing -> one box an image
 *   (with the boxes of images without the object beside them: --without)
 *   boxes -> GIST -> roml with one slot -> one box an image (--look gist)
 *
 * As [ROML16] Sec. 6: candidate boxes are described, and the box of each image
 * is chosen so that all that are chosen are alike. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "images/pipeline/pipeline.h"

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
} locate;

/* Two boxes show the same from this IoU on. */
static const double SURE = 0.5;

/* ---- beginning ----------------------------------------------------------*/
static lapis_status begin(lapis_flow *f)
{
  locate *w = f->own;
  w->set = *(const lapis_locate_settings *)f->settings;
  f->common = FLOW_COMMON(&w->set);
  return LAPIS_OK;
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
}

/* ---- boxes --------------------------------------------------------------*/
static lapis_status describe_others(lapis_flow *f, const flow_kinds *kinds)
{
  locate *w = f->own;
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

static lapis_status choose_in_rounds(lapis_flow *f)
{
  locate *w = f->own;
  lapis_mat group, candidate, X, other_group, other_box, size;
  const lapis_choose_boxes without = {&X, &other_group, &other_box, &size};
  lapis_choose_settings set = lapis_choose_defaults();
  set.rounds = w->set.rounds;
  if (w->others != NULL) {
    TRY(lapis_result_get(w->others, "X", &X));
    TRY(lapis_result_get(w->others, "group", &other_group));
    TRY(lapis_result_get(w->others, "candidate", &other_box));
    TRY(lapis_result_get(w->others, "image_size", &size));
    set.without = &without;
  }
  TRY(lapis_result_get(f->features, "group", &group));
  TRY(lapis_result_get(f->features, "candidate", &candidate));
  w->pick = malloc((size_t)f->n * sizeof *w->pick);
  w->match = malloc((size_t)f->n * sizeof *w->match);
  w->likeness = malloc((size_t)f->n * sizeof *w->likeness);
  w->agreement = malloc((size_t)f->n * sizeof *w->agreement);
  w->sure = malloc((size_t)f->n);
  if (w->pick == NULL || w->match == NULL || w->likeness == NULL ||
      w->agreement == NULL || w->sure == NULL)
    return flow_no_memory(f);
  set.agreement = w->agreement;
  flow_allow(f, 1);
  lapis_status s = lapis_boxes_choose(f->ctx, &f->data.X, &group, &candidate,
                                      &f->size, &set, w->pick, w->likeness);
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
  flow_step(f, 1, 2, "describing boxes");
  lapis_status s = describe_boxes(f);
  flow_step(f, 2, 2, "choosing boxes");
  if (s == LAPIS_OK) s = take_boxes(f);
  if (s != LAPIS_OK) return s;
  const locate *w = f->own;
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
