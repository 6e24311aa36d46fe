/* locate.c - lapis locate IMAGE...: the object common to all images. */
#include <string.h>

#include "command/command.h"

static const cli_option options[] = {
    {"output", 'o', "F.html",
     "a page with the images and their boxes; F.csv, F.tsv: as --csv"},
    {"csv", 0, "F.csv", "write the boxes, as a table that --boxes reads"},
    {"result", 0, "F.npz", "write boxes, names, candidates, ..."},
    CLI_IMAGE_ROWS,
    {NULL, 0, NULL, NULL}};

static int print(cli *c, const lapis_solver *f)
{
  lapis_mat names = result_of(f, "names"), boxes = result_of(f, "boxes");
  lapis_mat sure = result_of(f, "inlier");
  int wide = flow_longest(&names, 5);
  (void)c;
  printf("%-*s  %7s  %7s  %7s  %7s\n", wide, "image", "x", "y", "width",
         "height");
  for (int64_t k = 0; k < names.cols; k++) {
    flow_print_text(flow_text_at(&names, k), wide);
    for (int64_t i = 0; i < 4; i++)
      printf("  %7.6g", lapis_mat_at(&boxes, i, k));
    printf("%s\n", lapis_mat_at(&sure, 0, k) < 0.5 ? "  doubtful" : "");
  }
  return EXIT_DONE;
}

static void put_json(lapis_json *to, const lapis_solver *f)
{
  static const char *const names_of[] = {"x", "y", "width", "height", "score"};
  lapis_mat names = result_of(f, "names"), boxes = result_of(f, "boxes");
  lapis_mat sure = result_of(f, "inlier");
  lapis_json *images = lapis_json_list();
  for (int64_t k = 0; k < names.cols; k++) {
    lapis_json *one = lapis_json_object();
    lapis_json_put_text(one, "name", flow_text_at(&names, k));
    for (int64_t i = 0; i < 5; i++)
      lapis_json_put_number(one, names_of[i], lapis_mat_at(&boxes, i, k));
    lapis_json_put_bool(one, "doubtful", lapis_mat_at(&sure, 0, k) < 0.5);
    lapis_json_put(images, NULL, one);
  }
  lapis_json_put(to, "images", images);
}

static int run(cli *c)
{
  static const flow_verb verb = {.print = print, .put_json = put_json};
  return flow_run(c, &verb);
}

const cli_verb verb_locate = {
    .name = "locate",
    .synopsis = "locate IMAGE... [--boxes F.csv]",
    .help = "find the object that all images share: a box in each, right in "
            "about half of photographs",
    .options = options,
    .pipeline = "locate",
    .run = run};
