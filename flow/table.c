/* table.c - the settings of the pipelines, a row each. */
#include <math.h>
#include <string.h>

#include "flow.h"
#include "lapis/rows.h"

#define AT(field) offsetof(lapis_label_settings, field)
#define CHOSEN(row, field, text) \
  REAL(row, field, .value = NAN, ABOVE(0), .help = text)

/* The last rows of every table, settings that are a flow_common: what is kept,
 * what nothing kept is called, and what may be left out. */
#define COMMON_ROWS(kept, none, left)                                         \
  TEXT("cache", cache, .arg = "FOLDER",                                       \
       .help = "keep " kept " there (default $XDG_CACHE_HOME/lapis or "       \
               "~/.cache/lapis)"),                                            \
      BOOL("no-cache", no_cache, .help = "keep " none),                       \
      BOOL("keep-going", keep_going,                                          \
           .help = "leave out " left " that are refused; exit 4 at the end"), \
      PARAM_TIME_LIMIT_AT(seconds)

static const lapis_param label_params[] = {
    TEXT("labels", labels, .arg = "F.csv",
         .help =
             "the labels that are known: image names and labels, any missing"),
    BOOL("folder-is-class", folder_is_class,
         .help = "in place of --labels: photos/cat/1.jpg is a cat; those in "
                 "photos itself, or in photos/unknown, have no label yet"),
    TEXT("target", target, .arg = "COL,..",
         .help = "columns that hold labels, by title or number"),
    TEXT("groups", groups, .arg = "COL",
         .help = "column of e.g. the person: images of one stay together when "
                 "settings are chosen"),
    CHOICE("header", header, "auto|yes|no", .value = LAPIS_HEADER_AUTO,
           .arg = "WHEN", .help = "whether the first line holds titles"),
    TEXT("missing", missing, .arg = "WORD,..",
         .help =
             "words that mean \"no label yet\", as empty cells do (default: "
             "NA, ?, none and the like)"),
    TEXT("features", features, .arg = "KIND,..",
         .help =
             "kinds of features, whose own options are taken, too (default "
             "sift-bow; colour photographs: sift-bow,texton-bow), or auto, "
             "the cheap one that predicts hidden labels best, or "
             "table:F[:MEMBER], vectors made elsewhere, one for each image"),
    TEXT("names", names, .arg = "F.txt",
         .help = "with table:F, the image of each of its rows, one a line"),
    CHOICE("words-from", words_from, "labelled|all", .value = 0, .arg = "WHICH",
           .help = "images that visual words are learnt from"),
    CHOICE("variant", variant, "auto|mc1|pos|simplex",
           .value = LAPIS_LABEL_AUTO, .arg = "V",
           .help = "variant of mc, the completion; auto: mc1, or pos with "
                   "--where and counts of words"),
    TEXT("candidates", candidates, .arg = "M,M",
         .help = "methods that compete to answer, of mc, linear and trees; all "
                 "of them where none is named"),
    TEXT("map", map, .arg = "MAP",
         .help = "how features are scaled first, as lapis fit --map has it "
                 "(default: LAPIS chooses by what the features are)"),
    CHOSEN("lambda", lambda,
           "weight of the labels against the features; auto: chosen"),
    CHOSEN("gamma", gamma, "how sharply labels are told apart; auto: chosen"),
    CHOSEN("mu-rel", mu_rel,
           "how simple (low in rank) the answer is; auto: chosen"),
    INT_IN("folds", folds, "K", .value = 4, FROM_TO(2, 1000),
           .help = "hide the known labels in K parts, one after another, to "
                   "find wrong ones (at most 20) and, with --where, settings"),
    INT_IN("suspects", suspects, "M", .value = 10, FROM_TO(0, 1e6),
           .help = "list at most M given labels that look wrong"),
    BOOL("where", where,
         .help = "also say where in the image: needs features that are words"),
    TEXT("segments", segments, .arg = "FOLDER", .goes_with = "where",
         .help =
             "with --where and several classes: your own segments, for each "
             "image a picture or .npy of its name with the number of each "
             "pixel's segment, in place of those that LAPIS makes (SLIC)"),
    TEXT("checkpoint", checkpoint, .arg = "F",
         .help = "keep what a killed or interrupted run needs to go on; the "
                 "same command goes on from there"),
    INT_IN("pictures", pictures, "N", .value = 60, FROM_TO(1, 10000),
           .help = "the page shows N pictures at most: labels in doubt, then "
                   "labels that were filled in and are least sure, then some "
                   "of each class"),
    COMMON_ROWS("features", "no features", "images and rows"),
};

const lapis_method label_method = {
    .name = "label",
    .title = "images and incomplete labels",
    .summary = "fill in the labels of images, find wrong ones, and say where "
               "in the image.",
    .source = "[MC11] [MC15]",
    .params = label_params,
    .n_params = sizeof label_params / sizeof *label_params,
    .settings_size = sizeof(lapis_label_settings)};

#undef AT
#define AT(field) offsetof(lapis_match_settings, field)
static const lapis_param match_params[] = {
    INT("inliers", inliers, .symbol = "n", .value = -1, FROM_TO(1, 1e6),
        .help = "points of the object in every image"),
    INT("instances", instances, .value = 1, .choices = "auto", AT_LEAST(1),
        .help = "objects of N points each in every image; auto: as many as are "
                "better than chance"),
    INT("points", points, .value = 60, FROM_TO(4, 20000), .goes_with = "!xy",
        .help = "look at the N keypoints of most contrast in an image"),
    REAL("peak", peak, .value = 0.01, FROM_TO(0, 1), .goes_with = "!xy",
         .help = "least contrast of a keypoint, of grey values 0 to 1"),
    INT("longest", longest, .value = 1024, FROM_TO(16, 20000),
        .help = "an image with a longer side is made smaller"),
    TEXT("xy", xy, .arg = "F.csv",
         .help = "points made elsewhere: rows of name,x,y[,scale[,angle]] "
                 "(default: keypoints are found)"),
    REAL("scale", scale, .value = 4, ABOVE_TO(0, 1000), .goes_with = "xy",
         .help = "with --xy: of points without one; a square 12 times as wide "
                 "is described"),
    CHOICE("map", map, "none|embed|positions", .value = LAPIS_MATCH_NONE,
           .arg = "MAP",
           .help = "what points are compared by: descriptors; positions and "
                   "descriptors, for upright pictures that the object fills; "
                   "of --xy, positions alone, shifted, scaled or turned"),
    REAL("xi", xi, .value = INFINITY, ABOVE(0),
         .help =
             "a point of an image is also doubtful when the error of its "
             "features adds up to this (l1 norm), as lapis fit roml has it"),
    COMMON_ROWS("keypoints", "no keypoints", "images"),
};

const lapis_method match_method = {
    .name = "match",
    .title = "the same points in all images",
    .summary = "find points of one object in every image, and which is which.",
    .source = "[ROML16]",
    .params = match_params,
    .n_params = sizeof match_params / sizeof *match_params,
    .settings_size = sizeof(lapis_match_settings)};

#undef AT
#define AT(field) offsetof(lapis_locate_settings, field)
static const lapis_param locate_params[] = {
    TEXT("boxes", boxes, .arg = "F.csv",
         .help = "candidates: rows of name,x,y,width,height[,score] (default: "
                 "proposed by the density of edges)"),
    INT("candidates", candidates, .value = 100, FROM_TO(1, 10000),
        .goes_with = "!boxes,without", .help = "boxes proposed in an image"),
    REAL("aspect", aspect, .symbol = "kappa_r", .value = 0.08, AT_LEAST(0),
         .goes_with = "look=gist",
         .help = "gist: weight of width / height beside GIST"),
    REAL("noise", noise, .symbol = "kappa_n", .value = 0.05, AT_LEAST(0),
         .goes_with = "look=gist",
         .help = "gist: noise on boxes of a low score"),
    INT("side", side, .value = 64, FROM_TO(16, 256), .goes_with = "look=gist",
        .help = "gist: side of the square of a box, a power of two"),
    CHOICE("look", look, "gist|outline", .value = LAPIS_BOX_OUTLINE, .arg = "L",
           .help = "edges and colours in and around a box, chosen in rounds; "
                   "or GIST, chosen by roml"),
    INT("rounds", rounds, .value = 8, FROM_TO(0, 1000),
        .goes_with = "look=outline",
        .help = "rounds of choosing; 0: each image's best by itself"),
    TEXT("without", without, .arg = "FOLDER", .goes_with = "look=outline",
         .help = "images without the object: what they show, too, is not it"),
    COMMON_ROWS("what describes proposed boxes", "nothing", "images"),
};

const lapis_method locate_method = {
    .name = "locate",
    .title = "the object common to all images",
    .summary = "choose a box in every image so that all boxes look alike.",
    .source = "[ROML16]",
    .params = locate_params,
    .n_params = sizeof locate_params / sizeof *locate_params,
    .settings_size = sizeof(lapis_locate_settings)};

const lapis_method *lapis_flow_find(const char *name)
{
  static const lapis_method *const all[] = {&label_method, &match_method,
                                            &locate_method};
  if (name == NULL) return NULL;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (strcmp(name, all[i]->name) == 0) return all[i];
  return NULL;
}
