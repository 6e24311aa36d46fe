/* match.c - lapis match IMAGE...: the same points in all images. */
#include <string.h>

#include "command/command.h"

static const cli_option options[] = {
    {"output", 'o', "F.html",
     "a page with the images and their points; F.csv, F.tsv: a table, a row a "
     "point an image"},
    {"result", 0, "F.npz", "write match, inlier, xy, names, ..."},
    CLI_IMAGE_ROWS,
    {NULL, 0, NULL, NULL}};

static int64_t doubtful(const lapis_mat *inlier, int64_t image)
{
  int64_t count = 0;
  for (int64_t j = 0; j < inlier->rows; j++)
    count += lapis_mat_at(inlier, j, image) < 0.5;
  return count;
}

static int64_t points_of(const lapis_mat *group, int64_t image)
{
  int64_t count = 0;
  for (int64_t j = 0; j < group->cols; j++)
    count += lapis_mat_at(group, 0, j) == (double)image;
  return count;
}

static int64_t instances_of(const lapis_solver *f)
{
  lapis_mat of = result_of(f, "instance");
  double most = 0;
  for (int64_t j = 0; j < of.cols; j++)
    if (lapis_mat_at(&of, 0, j) > most) most = lapis_mat_at(&of, 0, j);
  return (int64_t)most;
}

/* Whether all of its points are in doubt, together. */
static bool is_misplaced(const lapis_solver *f, int64_t image)
{
  lapis_mat placed = result_of(f, "placed");
  return placed.cols > 0 && lapis_mat_at(&placed, 0, image) < 0.5;
}

static int print(cli *c, const lapis_solver *f)
{
  lapis_mat names = result_of(f, "names"), group = result_of(f, "group");
  lapis_mat inlier = result_of(f, "inlier");
  bool estimated = result_of(f, "tried").cols > 0;
  int wide = flow_longest(&names, 5);
  int64_t all = 0;
  (void)c;
  for (int64_t k = 0; k < names.cols; k++) all += doubtful(&inlier, k);
  printf("%-*s  %9s  %8s  %8s\n", wide, "image", "keypoints", "matched",
         "doubtful");
  for (int64_t k = 0; k < names.cols; k++) {
    int64_t less = doubtful(&inlier, k);
    flow_print_text(flow_text_at(&names, k), wide);
    printf("  %9lld  %8lld  %8lld%s\n", (long long)points_of(&group, k),
           (long long)(inlier.rows - less), (long long)less,
           is_misplaced(f, k) ? "  placement doubtful" : "");
  }
  int64_t points = inlier.rows * inlier.cols;
  printf("\n%lld image%s, %lld inlier%s%s", (long long)names.cols,
         cli_s(names.cols), (long long)inlier.rows, cli_s(inlier.rows),
         estimated ? " (estimated)" : "");
  if (instances_of(f) > 1)
    printf(" of %lld instances", (long long)instances_of(f));
  printf(", %lld of %lld point%s doubtful\n", (long long)all, (long long)points,
         cli_s(points));
  return EXIT_DONE;
}

/* A slot of an image: its place, and whether it is in doubt. */
static lapis_json *slot_json(const lapis_solver *f, int64_t slot, int64_t image)
{
  lapis_mat match = result_of(f, "match"), xy = result_of(f, "xy");
  lapis_mat inlier = result_of(f, "inlier"), of = result_of(f, "instance");
  int64_t at = (int64_t)lapis_mat_at(&match, slot, image);
  lapis_mat names = result_of(f, "point_names");
  lapis_json *one = lapis_json_object();
  if (names.cols > 0)
    lapis_json_put_text(one, "point", flow_text_at(&names, slot));
  lapis_json_put_integer(one, "instance", (int64_t)lapis_mat_at(&of, 0, slot));
  lapis_json_put_integer(one, "keypoint", at);
  if (at < 0) return one;
  lapis_json_put_number(one, "x", lapis_mat_at(&xy, 0, at));
  lapis_json_put_number(one, "y", lapis_mat_at(&xy, 1, at));
  lapis_json_put_bool(one, "doubtful",
                      lapis_mat_at(&inlier, slot, image) < 0.5);
  return one;
}

static void put_json(lapis_json *to, const lapis_solver *f)
{
  lapis_mat names = result_of(f, "names"), group = result_of(f, "group");
  lapis_mat match = result_of(f, "match"), inlier = result_of(f, "inlier");
  lapis_json *images = lapis_json_list();
  for (int64_t k = 0; k < names.cols; k++) {
    lapis_json *one = lapis_json_object(), *points = lapis_json_list();
    for (int64_t j = 0; j < match.rows; j++)
      lapis_json_put(points, NULL, slot_json(f, j, k));
    lapis_json_put_text(one, "name", flow_text_at(&names, k));
    lapis_json_put_integer(one, "keypoints", points_of(&group, k));
    lapis_json_put_integer(one, "doubtful", doubtful(&inlier, k));
    if (result_of(f, "placed").cols > 0)
      lapis_json_put_bool(one, "placement_doubtful", is_misplaced(f, k));
    lapis_json_put(one, "points", points);
    lapis_json_put(images, NULL, one);
  }
  lapis_json_put_integer(to, "inliers", match.rows);
  lapis_json_put_integer(to, "instances", instances_of(f));
  lapis_json_put(to, "images", images);
}

static int run(cli *c)
{
  static const flow_verb verb = {.print = print, .put_json = put_json};
  return flow_run(c, &verb);
}

const cli_verb verb_match = {
    .name = "match",
    .synopsis = "match IMAGE... [--inliers N]",
    .help = "find the same points of one object in all images",
    .options = options,
    .pipeline = "match",
    .run = run};
