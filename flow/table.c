/* table.c - the settings of the pipelines, a row each. */
#include <math.h>
#include <string.h>

#include "flow.h"

#define AT(field) offsetof(lapis_label_settings, field)
#define TEXT(name, field, arg, help)                                         \
  {                                                                          \
    name, NULL, LAPIS_PARAM_TEXT, AT(field), 0, 0, 0, false, NULL, arg, help \
  }
#define SWITCH(name, field, help)                                             \
  {                                                                           \
    name, NULL, LAPIS_PARAM_BOOL, AT(field), 0, 0, 1, false, NULL, NULL, help \
  }
#define CHOSEN(name, field, help)                                          \
  {                                                                        \
    name, NULL, LAPIS_PARAM_REAL, AT(field), NAN, 0, INFINITY, true, NULL, \
        "X", help                                                          \
  }

/* The last rows of every table, settings that are a flow_common: what is kept,
 * what nothing kept is called, and what may be left out. */
#define COMMON_ROWS(kept, none, left)                                         \
  TEXT("cache", cache, "FOLDER",                                              \
       "keep " kept " there (default $XDG_CACHE_HOME/lapis or "               \
       "~/.cache/lapis)"),                                                    \
      SWITCH("no-cache", no_cache, "keep " none),                             \
      SWITCH("keep-going", keep_going,                                        \
             "leave out " left " that are refused; exit 4 at the end"),       \
  {                                                                           \
    "time-limit", NULL, LAPIS_PARAM_REAL, AT(seconds), INFINITY, 0, INFINITY, \
        false, NULL, "S", "stop after this many seconds"                      \
  }

static const lapis_param label_params[] = {
    TEXT("labels", labels, "F.csv",
         "the labels that are known: image names and labels, any missing"),
    TEXT("target", target, "COL,..",
         "columns that hold labels, by title or number"),
    TEXT("groups", groups, "COL",
         "column of e.g. the person: images of one stay together when "
         "settings are chosen"),
    {"header", NULL, LAPIS_PARAM_ENUM, AT(header), 0, 0, 2, false,
     "auto|yes|no", "WHEN", "whether the first line holds titles"},
    TEXT("features", features, "KIND",
         "kind of features, whose own options are taken, too (default "
         "sift-bow)"),
    {"words-from", NULL, LAPIS_PARAM_ENUM, AT(words_from), 0, 0, 1, false,
     "labelled|all", "WHICH", "images that visual words are learnt from"},
    {"variant", NULL, LAPIS_PARAM_ENUM, AT(variant), LAPIS_LABEL_AUTO, 0, 3,
     false, "auto|mc1|pos|simplex", "V",
     "of the completion; auto: pos for counts of words, else mc1"},
    TEXT("map", map, "MAP",
         "features first through these maps, as lapis fit (default: pos none "
         "for sift-bow, else l1,scale:100; simplex l1; mc1 sqrt for counts, "
         "else "
         "standard)"),
    CHOSEN("lambda", lambda, "weight of the label loss; auto: chosen"),
    CHOSEN("gamma", gamma, "steepness of the label loss; auto: chosen"),
    CHOSEN("mu-rel", mu_rel, "weight of the nuclear norm; auto: chosen"),
    {"folds", NULL, LAPIS_PARAM_INT, AT(folds), 4, 2, 1000, false, NULL, "K",
     "of the known labels, when settings are chosen"},
    {"suspects", NULL, LAPIS_PARAM_INT, AT(suspects), 10, 0, 1e6, false, NULL,
     "M", "list at most M known labels that the rest contradicts"},
    SWITCH("where", where,
           "also say where in the image: needs features that are words"),
    TEXT("segments", segments, "FOLDER",
         "with --where, several classes: label images or .npy of these names, "
         "in place of SLIC"),
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
    {"inliers", "n", LAPIS_PARAM_INT, AT(inliers), -1, 1, 1e6, false, NULL, "N",
     "points of the object in every image"},
    {"points", NULL, LAPIS_PARAM_INT, AT(points), 60, 4, 20000, false, NULL,
     "N", "look at the N keypoints of most contrast in an image"},
    {"peak", NULL, LAPIS_PARAM_REAL, AT(peak), 0.01, 0, 1, false, NULL, "X",
     "least contrast of a keypoint, of grey values 0 to 1"},
    {"longest", NULL, LAPIS_PARAM_INT, AT(longest), 1024, 16, 20000, false,
     NULL, "N", "an image with a longer side is made smaller"},
    TEXT("xy", xy, "F.csv",
         "points made elsewhere: rows of name,x,y[,scale[,angle]] (default: "
         "keypoints are found)"),
    {"scale", NULL, LAPIS_PARAM_REAL, AT(scale), 4, 0, 1000, true, NULL, "X",
     "with --xy: of points without one; a square 12 times as wide is "
     "described"},
    {"map", NULL, LAPIS_PARAM_ENUM, AT(map), LAPIS_MATCH_NONE, 0, 1, false,
     "none|embed", "MAP",
     "what points are compared by: descriptors; or positions and descriptors, "
     "for upright pictures that the object fills"},
    {"xi", NULL, LAPIS_PARAM_REAL, AT(xi), 4, 0, INFINITY, true, NULL, "X",
     "a point of an image is doubtful when its error reaches this l1 norm"},
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
    TEXT("boxes", boxes, "F.csv",
         "candidates: rows of name,x,y,width,height[,score] (default: proposed "
         "by the density of edges)"),
    {"candidates", NULL, LAPIS_PARAM_INT, AT(candidates), 100, 1, 10000, false,
     NULL, "N", "boxes proposed in an image"},
    {"aspect", "kappa_r", LAPIS_PARAM_REAL, AT(aspect), 0.08, 0, INFINITY,
     false, NULL, "X", "weight of width / height beside GIST"},
    {"noise", "kappa_n", LAPIS_PARAM_REAL, AT(noise), 0.05, 0, INFINITY, false,
     NULL, "X", "noise on boxes of a low score"},
    {"side", NULL, LAPIS_PARAM_INT, AT(side), 64, 16, 256, false, NULL, "N",
     "side of the square a box is brought to, a power of two"},
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
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (strcmp(name, all[i]->name) == 0) return all[i];
  return NULL;
}
