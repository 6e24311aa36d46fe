/* pipeline_settings.c - the settings of the pipelines and what they answer
 * with, a row each. */
#include <math.h>
#include <string.h>

#include "lapis/rows.h"
#include "pipeline.h"

#define AT(field) offsetof(lapis_label_settings, field)
#define CHOSEN(row, field, text) \
  REAL(row, field, .value = NAN, ABOVE(0), .help = (text))

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
         .help = "kinds of features, with their options (default sift-bow; "
                 "colour photographs: sift-bow,texton-bow), auto: the best of "
                 "the cheap ones, or table:F[:MEMBER], vectors made elsewhere"),
    TEXT("names", names, .arg = "F.txt",
         .help = "with table:F, the image of each of its rows, one a line"),
    CHOICE("words-from", words_from, "labelled|all", .value = 0, .arg = "WHICH",
           .help = "images that visual words are learnt from"),
    CHOICE("variant", variant, "auto|" LAPIS_MC_VARIANTS,
           .value = LAPIS_LABEL_AUTO, .arg = "V",
           .help = "variant of mc, the completion; auto: mc1, or pos with "
                   "--where and counts of words"),
    TEXT("candidates", candidates, .arg = "M,M",
         .help = "methods to compare, of mc, linear and trees (default: all; "
                 "with --where or --mu-rel mc)"),
    TEXT("again", again, .arg = "F.npz",
         .help = "keep the method and settings of the run whose --result this "
                 "is, and compare none; for the same images with other labels"),
    TEXT("map", map, .arg = "MAP",
         .help = "how features are scaled first, as lapis fit --map has it "
                 "(default: LAPIS chooses by what the features are)"),
    CHOSEN("lambda", lambda,
           "weight of the labels against the features; auto: chosen"),
    CHOSEN("gamma", gamma, "how sharply labels are separated; auto: chosen"),
    CHOSEN("mu-rel", mu_rel,
           "how simple (low in rank) the answer is; auto: chosen"),
    INT_IN("folds", folds, "K", .value = 4, FROM_TO(2, 1000),
           .help = "hold out the known labels in K folds to find wrong ones "
                   "(at most 20)"),
    INT_IN("suspects", suspects, "M", .value = 10, FROM_TO(0, 1e6),
           .help = "list at most M given labels that look wrong"),
    INT_IN("ask", ask, "N", .value = 0, FROM_TO(0, 1e6),
           .help = "also name the N images without a label whose labels would "
                   "help most: answers are unsure, and features unlike each "
                   "other"),
    REAL_IN("coverage", coverage, "C", .value = 0, FROM_TO(0, .999),
            .help = "also the set of labels that holds the right one for this "
                    "share of new images, such as .9; 0: without"),
    BOOL("where", where,
         .help = "also say where in the image: needs features that are words"),
    TEXT("segments", segments, .arg = "FOLDER", .goes_with = "where",
         .help = "with several classes: your own segments in place of SLIC's, "
                 "for each image a picture or .npy of its name with the number "
                 "of each pixel's segment"),
    INT_IN("places", places, "N", .value = 1, FROM_TO(1, 1000),
           .goes_with = "where",
           .help = "at most N separate places of a class in each image"),
    TEXT("checkpoint", checkpoint, .arg = "F",
         .help = "keep what a killed or interrupted run needs; the same "
                 "command continues from there"),
    INT_IN("pictures", pictures, "N", .value = 600, FROM_TO(1, 10000),
           .help = "at most N pictures on the page: labels in doubt, the least "
                   "sure ones, some of each class"),
    COMMON_ROWS("features", "no features", "images and rows"),
};

#define RESULT_NAMES                       \
  RESULT("names", "n", .type = LAPIS_TEXT, \
         .help = "paths of the images that could be read")
#define RESULT_SIZE(...)                           \
  RESULT("image_size", "n x 2", .type = LAPIS_I64, \
         .help = "width and height in pixels", __VA_ARGS__)
#define RESULT_REFUSED                                                   \
  RESULT("refused", "refused", .type = LAPIS_TEXT, .when = "keep-going", \
         .where = "images were refused", .help = "a sentence on each of them")

static const lapis_result_row label_results[] = {
    RESULT_NAMES,
    RESULT_SIZE(.where = "features were made of images"),
    RESULT("labels", "n", .type = LAPIS_TEXT,
           .help = "the given label, else the completed one; several are "
                   "joined by ';'"),
    RESULT("scores", "n x K",
           .help = "above 0: yes; of several classes the largest is the label; "
                   "log-odds where settings were chosen"),
    RESULT("probabilities", "n x K", .where = "settings were chosen",
           .help = "that the label is yes"),
    RESULT_SETS(.when = "coverage", .where = "settings were chosen"),
    RESULT("classes", "classes", .type = LAPIS_TEXT,
           .help = "their names, as columns of scores; of two classes both, "
                   "the one that scores speak for last"),
    RESULT("known", "n", .type = LAPIS_U8, .help = "1 where labels were given"),
    RESULT("partly", "n", .type = LAPIS_U8,
           .help = "1 where others of the image were not"),
    RESULT_LOW_RANK(.where = "mc has a part in the answer",
                    .help = "repaired features"),
    RESULT("by", "1", .type = LAPIS_TEXT, .where = "candidates is there",
           .help = "the method that answers"),
    RESULT_CHOICE,
    RESULT("suspect_index", "suspects x 2", .type = LAPIS_I64,
           .where = "wrong labels could be looked for",
           .help = "image and class, from 0, of a label in doubt; of classes "
                   "that exclude each other the one that it more likely is"),
    RESULT("suspect_margin", "suspects", .where = "suspect_index is there",
           .help = "probability that the label is wrong, largest first; NaN "
                   "where not clearly any label is"),
    RESULT("suspect_rather", "suspects", .type = LAPIS_TEXT,
           .where = "classes exclude each other",
           .help = "the class that the image more likely is"),
    RESULT("suspect_add", "suspects", .type = LAPIS_U8,
           .where = "an image may have many labels",
           .help = "1: the class is to be added, 0: taken away"),
    RESULT("expected_wrong", "4", .type = LAPIS_I64,
           .where = "suspect_index is there",
           .help = "labels that are wrong: at least, at most, of how many, "
                   "expected (below 0: cannot be said)"),
    RESULT_ASKED,
    RESULT("held_out", "n x K", .where = "suspect_index is there",
           .help = "score that a known label had while it was hidden, above 0: "
                   "yes; NaN elsewhere"),
    RESULT("kinds", "kinds", .type = LAPIS_TEXT, .where = "features is auto",
           .help = "kinds of features that were compared"),
    RESULT("kinds_judged", "kinds x 6", .where = "features is auto",
           .help =
               "log-loss of hidden labels, its standard error, AUROC, "
               "accuracy, log-loss less the best one's, its standard error"),
    RESULT("features", "1", .type = LAPIS_TEXT,
           .help = "the kinds that answer; of auto the best"),
    RESULT("rows_left_out", "1", .type = LAPIS_I64, .when = "keep-going",
           .where = "there are such",
           .help = "rows of the table that name none of the images"),
    RESULT("boxes", "boxes x 5", .when = "where",
           .help = "x, y, width, height, score"),
    RESULT("box_image", "boxes", .type = LAPIS_I64, .when = "where",
           .help = "the image of each, from 0"),
    RESULT("box_class", "boxes", .type = LAPIS_I64, .when = "where",
           .help = "and its class"),
    RESULT("heat", "boxes x 256", .when = "where",
           .help = "how much the words of each of 16 x 16 cells of the image "
                   "speak for the class of the box, rows from the top; NaN: no "
                   "words"),
    RESULT("region_mask", "pixels", .type = LAPIS_U8, .when = "where",
           .help = "for each box of a region, in their order, the pixels of "
                   "the image, rows from the top: 1 inside"),
    RESULT_REFUSED,
    RESULT_NOTES,
};

const lapis_method label_method = {
    .name = "label",
    .title = "images and incomplete labels",
    .summary = "fill in the labels of images, find wrong ones, and say where "
               "in the image.",
    .source = "[MC11] [MC15]",
    .params = label_params,
    .n_params = sizeof label_params / sizeof *label_params,
    .results = label_results,
    .n_results = sizeof label_results / sizeof *label_results,
    .settings_size = sizeof(lapis_label_settings)};

#undef AT
#define AT(field) offsetof(lapis_match_settings, field)
static const lapis_param match_params[] = {
    INT("inliers", inliers, .symbol = "n", .value = -1, FROM_TO(1, 1e6),
        .goes_with = "!first", .help = "points of the object in every image"),
    INT("instances", instances, .value = 1, .choices = "auto", AT_LEAST(1),
        .goes_with = "!first",
        .help = "objects of N points each in every image; auto: as many as are "
                "better than chance"),
    INT("points", points, .value = 60, FROM_TO(4, 20000),
        .goes_with = "!xy !first",
        .help = "use the N keypoints of highest contrast in each image"),
    REAL("peak", peak, .value = 0.01, FROM_TO(0, 1), .goes_with = "!xy !first",
         .help = "least contrast of a keypoint, of grey values 0 to 1"),
    INT("longest", longest, .value = 1024, FROM_TO(16, 20000),
        .help = "an image with a longer side is made smaller"),
    TEXT("xy", xy, .arg = "F.csv", .goes_with = "!first",
         .help = "points made elsewhere: rows of name,x,y[,scale[,angle]] "
                 "(default: keypoints are found)"),
    TEXT("first", first, .arg = "F.csv",
         .help = "points of one image, to be found in all others: rows of "
                 "[name,]x,y[,point], the last one their names; without name: "
                 "of the first image"),
    INT("grid", grid, .value = 8, FROM_TO(2, 1000), .goes_with = "first",
        .help = "with --first: they are looked for every N pixels"),
    REAL("scale", scale, .value = 4, ABOVE_TO(0, 1000), .goes_with = "xy,first",
         .help = "with --xy, --first: of points without one; a square 12 times "
                 "as wide is described"),
    CHOICE(
        "map", map, "none|embed|positions", .value = LAPIS_MATCH_NONE,
        .arg = "MAP", .goes_with = "!first",
        .help =
            "what points are compared by: descriptors; positions, too, in "
            "upright pictures that the object fills; positions of --xy alone"),
    REAL("xi", xi, .value = INFINITY, ABOVE(0),
         .help = "a point is also doubtful when the error of its features "
                 "reaches this (l1 norm)"),
    COMMON_ROWS("keypoints", "no keypoints", "images"),
};

static const lapis_result_row match_results[] = {
    RESULT_NAMES,
    RESULT_SIZE(),
    RESULT("xy", "points x 4",
           .help = "x, y, scale, angle of each keypoint, or given point; the "
                   "centre of the first pixel is 0, 0"),
    RESULT("group", "points", .type = LAPIS_I64,
           .help = "the image of each, from 0"),
    RESULT("match", "n x inliers", .type = LAPIS_I64,
           .help = "row of xy in an image of each slot; a slot is one point of "
                   "the object"),
    RESULT("inlier", "n x inliers", .type = LAPIS_U8,
           .help = "0 where that is in doubt"),
    RESULT("support", "n x inliers", .when = "!first",
           .help = "share of the other images that agree with it"),
    RESULT("instance", "inliers", .type = LAPIS_I64,
           .help = "whose point a slot is, from 1"),
    RESULT("point_names", "inliers", .type = LAPIS_TEXT, .when = "first",
           .help = "what the table calls the point of a slot"),
    RESULT("placed", "n", .type = LAPIS_U8, .when = "first",
           .help = "0 where all points of an image are in doubt, as few or no "
                   "other images confirm where they are"),
    RESULT("points", "sure x 4",
           .help = "image, slot, x, y of the matches that are not in doubt"),
    RESULT("tried", "1", .type = LAPIS_I64, .where = "inliers are estimated",
           .help = "slots of which the inliers were kept"),
    RESULT_REFUSED,
    RESULT_NOTES,
};

const lapis_method match_method = {
    .name = "match",
    .title = "the same points in all images",
    .summary = "find points of one object in every image, and which is which.",
    .source = "[ROML16]",
    .params = match_params,
    .n_params = sizeof match_params / sizeof *match_params,
    .results = match_results,
    .n_results = sizeof match_results / sizeof *match_results,
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
         .help = "gist: weight of width / height against GIST"),
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
    TEXT(
        "without", without, .arg = "FOLDER", .goes_with = "look=outline",
        .help =
            "images without the object: what they also show is not the object"),
    TEXT("net", net, .arg = "F.onnx", .goes_with = "look=outline !without",
         .help = "compare boxes by the map of a network in the ONNX format, in "
                 "place of edges and colours"),
    PARAMS_OF_NET(.goes_with = "net"),
    INT("grid", grid, .value = -1, .choices = "auto", FROM_TO(2, 64),
        .goes_with = "net",
        .help = "places along each side of the map; auto: as many as it has on "
                "its shorter side"),
    COMMON_ROWS("what describes proposed boxes", "nothing", "images"),
};

static const lapis_result_row locate_results[] = {
    RESULT_NAMES,
    RESULT_SIZE(),
    RESULT("candidate", "candidates x 5",
           .help = "x, y, width, height, score of each box"),
    RESULT("group", "candidates", .type = LAPIS_I64,
           .help = "the image of each, from 0"),
    RESULT("match", "n", .type = LAPIS_I64, .help = "the candidate chosen"),
    RESULT("inlier", "n", .type = LAPIS_U8, .help = "0 where it is in doubt"),
    RESULT("boxes", "n x 5", .help = "the chosen candidate as a box"),
    RESULT("likeness", "n", .when = "look=outline",
           .help = "similarity to the boxes chosen in the other images, in "
                   "standard deviations of all similarities; with net how "
                   "much of the object the box holds, relative to the box of "
                   "its image that holds most"),
    RESULT("agreement", "n", .when = "look=outline",
           .help =
               "the smaller IoU of the box with the one best for its image "
               "alone, and with the one most similar to those of the others"),
    RESULT_REFUSED,
    RESULT_NOTES,
};

const lapis_method locate_method = {
    .name = "locate",
    .title = "the object common to all images",
    .summary = "choose a box in every image so that all boxes look alike: of "
               "nine sets of photographs .55 of the boxes were right, the "
               "highest score alone, .49.",
    .source = "[ROML16]",
    .params = locate_params,
    .n_params = sizeof locate_params / sizeof *locate_params,
    .results = locate_results,
    .n_results = sizeof locate_results / sizeof *locate_results,
    .settings_size = sizeof(lapis_locate_settings)};
