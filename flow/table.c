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
         "features first through these maps, as lapis fit (default: pos none, "
         "simplex l1, mc1 sqrt for counts, else standard)"),
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
    TEXT("cache", cache, "FOLDER",
         "keep features there (default $XDG_CACHE_HOME/lapis or "
         "~/.cache/lapis)"),
    SWITCH("no-cache", no_cache, "keep no features"),
    SWITCH("keep-going", keep_going,
           "leave out images and rows that are refused; exit 4 at the end"),
    {"time-limit", NULL, LAPIS_PARAM_REAL, AT(seconds), INFINITY, 0, INFINITY,
     false, NULL, "S", "stop after this many seconds"},
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

const lapis_method *lapis_flow_find(const char *name)
{
  return strcmp(name, label_method.name) == 0 ? &label_method : NULL;
}
