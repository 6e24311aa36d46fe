/* images.h - pictures: files of them, features, places in them, pipelines from
 * files to answers, pages. */
#ifndef LAPIS_PUBLIC_IMAGES
#define LAPIS_PUBLIC_IMAGES
#include <math.h>
#include <string.h>

#include "files.h"
#include "lapis.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== images: pictures in memory and in files.
 *
 * Three formats are read: PNG, JPEG (turned upright as its EXIF data say) and
 * PNM (P1 to P6); the file's first bytes decide which, not its name.  Any other
 * file, and one that is damaged or too large, is refused with one sentence that
 * names the file.  PNG and JPEG are an optional part of the library:
 * LAPIS_ENOTBUILT where it was left out. */

/* An image with a longer side is refused, and one of more pixels than the
 * context's max-pixels (lapis_ctx_set). */
enum { LAPIS_IMAGE_MAX_SIDE = 32767 };

typedef struct lapis_image {
  int64_t width, height;
  int64_t channels; /* 1: grey, 3: red, green, blue (sRGB) */
  float *pixels;    /* height x width x channels, rows from the top, 0..1 */
} lapis_image;

LAPIS_API lapis_status lapis_image_read(lapis_ctx *ctx, const char *path,
                                        lapis_image *out);
/* Refuses a file that cannot be read.  One that begins and ends as an image
 * does is not looked through: it may be damaged between. */
LAPIS_API lapis_status lapis_image_check(lapis_ctx *ctx, const char *path);
/* Frees what lapis_image_read made; the image is empty afterwards. */
LAPIS_API void lapis_image_free(lapis_image *image);

/* ---- what can be read ---------------------------------------------------*/
typedef struct lapis_image_format {
  const char *name;    /* "png" */
  const char *endings; /* of file names: ".jpg .jpeg" */
  const char *title;
  const char *package; /* Debian package it needs, or NULL */
  bool built;
} lapis_image_format;
/* NULL past the end. */
LAPIS_API const lapis_image_format *lapis_image_format_at(int i);

/* ==== features: from image files to the arrays that methods read.
 *
 *   images -> kind -> settings -> solver -> solve -> result
 *
 * A kind of features is described as a method is, by a lapis_method, so that
 * lapis_settings_fill, _set and _get work on its settings.  It is run by a
 * solver: lapis_solve, lapis_result_get, lapis_solver_free. */

LAPIS_API const lapis_method *lapis_feature_at(int i); /* NULL past the end */
LAPIS_API const lapis_method *lapis_feature_find(const char *name);
/* What a list of kinds begins with, "gist,onnx:F.onnx": the kind, or NULL; how
 * many bytes there are up to the comma, and how many of them, the last ones,
 * name the file that is its setting `net`. */
LAPIS_API const lapis_method *lapis_feature_named(const char *list,
                                                  size_t *bytes, size_t *file);

/* ---- settings: lapis_settings_fill, then change a field; rows of
 * lapis_feature_find say what they are
 * ---------------------------------------*/
typedef struct lapis_pixels_settings {
  size_t size;
  const char *shape; /* "WIDTHxHEIGHT", or NULL: the default */
} lapis_pixels_settings;
typedef struct lapis_color_moments_settings {
  size_t size;
  int64_t grid;
} lapis_color_moments_settings;
typedef struct lapis_luv_histogram_settings {
  size_t size;
  int64_t bins;
} lapis_luv_histogram_settings;
typedef enum lapis_hog_variant {
  LAPIS_HOG_UOCTTI,
  LAPIS_HOG_DALAL_TRIGGS
} lapis_hog_variant;
typedef struct lapis_hog_settings {
  size_t size;
  const char *shape; /* as for pixels */
  int64_t cell, orientations;
  int variant; /* lapis_hog_variant */
} lapis_hog_settings;
typedef struct lapis_gist_settings { /* a part of another: never grows */
  size_t size;
  int64_t side, scales, orientations, blocks;
} lapis_gist_settings;

/* How a box is described. */
typedef enum lapis_box_look {
  LAPIS_BOX_GIST,   /* GIST and shape, with noise on boxes of a low score */
  LAPIS_BOX_OUTLINE /* LAPIS_OUTLINE_EDGES numbers of edges in the box and
                       around it, LAPIS_OUTLINE_COLOURS of colours, and how
                       well its colours set the box off */
} lapis_box_look;
enum { LAPIS_OUTLINE_EDGES = 162, LAPIS_OUTLINE_COLOURS = 100 };

typedef struct lapis_gist_boxes_settings {
  size_t size;
  lapis_gist_settings gist;
  const char *boxes;
  int64_t candidates;
  double aspect, noise;
  int look; /* lapis_box_look */
} lapis_gist_boxes_settings;

/* onnx and onnx-boxes, which alone reads boxes and candidates.  NULL, NaN: as
 * the file's metadata say, else the usual. */
typedef struct lapis_onnx_settings {
  size_t size;
  const char *net, *layer; /* a file; NULL: its first output */
  const char *shape;       /* as for pixels */
  double scale;
  const char *mean, *std; /* "0.5,0.4,0.3", or one for all channels */
  bool bgr;
  int64_t grid; /* -1: as many as the map has on its shorter side */
  const char *boxes;
  int64_t candidates;
} lapis_onnx_settings;

/* sift-bow, dense-sift-bow, texton-bow and onnx-map: each reads only the fields
 * that its table of settings names, from net on as in lapis_onnx_settings.  A
 * NULL text: the default, or no file.  longest, to which larger images are made
 * smaller, and enlarge are -1 by default, and bins NULL: as the vocabulary was
 * learnt that is read; where none is, 640, 0, and sizes of the kind's own. */
typedef struct lapis_bag_settings {
  size_t size;
  int64_t words, levels;
  int64_t learn, restarts;
  const char *vocabulary, *save_vocabulary, *vocabulary_from;
  int64_t longest;
  const char *bins; /* "4,6,8" */
  double magnif;
  int64_t count, step, enlarge;
  const char *net, *layer, *shape;
  double scale;
  const char *mean, *std;
  bool bgr;
} lapis_bag_settings;

typedef struct lapis_sift_settings {
  size_t size;
  double peak, edge;
  int64_t levels, first_octave; /* first_octave -1: the image is doubled */
  int64_t most, longest;
  const char *xy;   /* .csv of points to describe; NULL: keypoints */
  double scale;     /* of points in xy that have none */
  int64_t grid;     /* pixels between points of all images; 0: none */
  lapis_mat points; /* 4 x m, or empty: image (from 0, in order), x, y, scale of
                     * points to describe, each a column of X, zeros where all
                     * around it is even; in place of xy and grid; borrowed */
} lapis_sift_settings;

/* ---- running ------------------------------------------------------------*/
typedef struct lapis_features_options {
  size_t size;     /* sizeof(lapis_features_options) */
  bool keep_going; /* leave out images that are refused */
  /* A folder, made where it is missing, that keeps the features of each image
   * under its content, the kind and the settings.  A run that was interrupted
   * goes on from there, and a second run only reads.  A damaged file there is
   * made again.  NULL: nothing is kept. */
  const char *cache;
  /* One entry a path: visual words are learnt only from the images marked
   * here.  NULL: from all. */
  const bool *study;
} lapis_features_options;

/* paths (count of them) are borrowed until the solver is freed; settings and
 * options may be NULL: the defaults.  The result has these arrays for n images:
 * X (d x n, or several columns an image where the kind says so), names (their
 * paths), image_size (2 x n: width, height), and what else the kind publishes.
 * Where images were refused and keep_going was set, the array "refused" is a
 * TEXT row with a sentence for each of them, and the other arrays leave these
 * images out.  The answer does not depend on the number of threads.  A solve
 * that was stopped early has no result. */
LAPIS_API lapis_status lapis_features_new(
    lapis_ctx *ctx, const lapis_method *kind, const void *settings,
    const char *const *paths, int64_t count,
    const lapis_features_options *options, lapis_solver **out);

/* Several kinds side by side: kinds and their settings (NULL, or some NULL: the
 * defaults), count of each, at most 8.  X holds the numbers of each kind below
 * those of the one before, as they are; block_start (count + 1) says in which
 * row each begins, block_kinds their names.  What else a kind publishes is
 * called KIND.NAME.  An image that one kind refuses is left out of all.  Kinds
 * that give many vectors an image are refused. */
LAPIS_API lapis_status lapis_features_joined_new(
    lapis_ctx *ctx, const lapis_method *const *kinds,
    const void *const *settings, int count, const char *const *paths,
    int64_t images, const lapis_features_options *options, lapis_solver **out);
/* Settings that kind k of these ran with; NULL before it has run. */
LAPIS_API const void *lapis_features_joined_settings(const lapis_solver *s,
                                                     int k);

/* The image files that words (paths) name: a folder stands for the files in it
 * and in the folders in it (but those whose names begin with a dot, and links)
 * whose names end as those of images do, sorted by byte.  Anything else stands
 * for itself.  out: a TEXT row, to be freed by
 * lapis_array_free. */
LAPIS_API lapis_status lapis_image_list(lapis_ctx *ctx,
                                        const char *const *words, int64_t count,
                                        lapis_array *out);
/* The class of each image where folders are classes: the folder that it is in,
 * below the one that holds all; "" in one called unknown, unlabelled or
 * unlabeled, and in none.  LAPIS_EDATA: all images are in one folder.  out: a
 * TEXT row, to be freed by lapis_array_free. */
LAPIS_API lapis_status lapis_image_classes(lapis_ctx *ctx,
                                           const char *const *path,
                                           int64_t count, lapis_array *out);
/* first[i]: the first image whose file has the bytes of image i's, i where that
 * is the first; count of them.  What cannot be read is like no other. */
LAPIS_API lapis_status lapis_image_twins(lapis_ctx *ctx,
                                         const char *const *path, int64_t count,
                                         int64_t *first);

/* ==== places: where in an image an object or a class is: windows,
 * regions.
 *
 * Pixels are counted from the left and the top; an image of `width` x `height`
 * pixels covers [0, width) x [0, height), and pixel (x, y) is the square whose
 * corner is (x, y).  docs/localisation.md says when to use what. */

/* Visual words of one image, as `lapis features` finds them: m places, each
 * with the number of the vocabulary's entry that looks most like it. */
typedef struct lapis_words {
  lapis_mat word;        /* 1 x m: 0 .. vocabulary - 1 */
  lapis_mat xy;          /* 2 or more rows x m: x, y; other rows are ignored */
  int64_t vocabulary;    /* d */
  int64_t width, height; /* of the image, in pixels */
} lapis_words;

typedef struct lapis_box {
  double x, y, width, height, score;
} lapis_box;

/* The boxes w x h that are tried: corners and sides are multiples of `step`.
 * sqrt(w h) takes `scales` values from smallest to largest, as shares of
 * sqrt(width height), in geometric progression; w / h takes `aspects` values
 * from aspect_low to aspect_high likewise; both sides are rounded to the grid,
 * and sizes that do not fit into the image are left out. */
typedef struct lapis_box_grid {
  int64_t step; /* pixels; -1: a 32nd of the image's longer side */
  double smallest, largest;
  int64_t scales;
  double aspect_low, aspect_high;
  int64_t aspects;
} lapis_box_grid;

/* ---- windows: two classes [MC15 Sec. 4.3] --------------------------------
 * The box whose histogram of words h is nearest to a target t, both divided by
 * their sums: it has the least chi2(h, t) = sum (h - t)^2 / (h + t), between 0
 * and 2.  Among the boxes of the grid that hold at least `least` words the
 * answer is exact. */
typedef struct lapis_window_settings {
  size_t size;
  lapis_box_grid grid;
  int64_t least;  /* words in a box; -1: a hundredth of the image's */
  double overlap; /* two boxes are distinct where their intersection over
                     union (IoU) is below this */
} lapis_window_settings;
static inline lapis_window_settings lapis_window_defaults(void)
{
  lapis_window_settings to = {sizeof to, {-1, 0.2, 0.4, 4, 1, 2, 2}, -1, 0.5};
  return to;
}

typedef struct lapis_window_info {
  int64_t candidates, evaluated; /* boxes; boxes that a bound could not
                                    rule out */
  double seconds;
} lapis_window_info;
/* target: d numbers >= 0, not all zero, in one row or one column.  box: the
 * best `count` boxes, each distinct from those before it, nearest first; its
 * score is the distance.  *found <= count: how many there are.  set and info
 * may be NULL. */
LAPIS_API lapis_status lapis_windows_find(
    lapis_ctx *ctx, const lapis_words *words, const lapis_mat *target,
    const lapis_window_settings *set, int64_t count, lapis_box *box,
    int64_t *found, lapis_window_info *info);

/* ---- what words say for a class [MC15] Sec. 4.5 -------------------------
 * weight: d, how much each word speaks for class c.  The representative of a
 * class is the histogram of words that stands for it (d x K, `class_features`
 * of mc).  weight is the representative of c minus its own mean, as in [MC15];
 * or, with contrast, minus the mean of all classes' representatives (each
 * divided by its sum), which leaves out what every class has. */
LAPIS_API lapis_status lapis_class_weights(lapis_ctx *ctx,
                                           const lapis_mat *representatives,
                                           int64_t c, bool contrast,
                                           double *weight);
/* A heat map of across x down cells over the whole image: the mean weight of
 * the words in each, rows from the top; NaN: no word lies there. */
LAPIS_API lapis_status lapis_heat_map(lapis_ctx *ctx, const lapis_words *words,
                                      const double *weight, int64_t across,
                                      int64_t down, double *value);
/* ---- segments -------------------------------------------------------------
 * A partition of an image into connected pieces, and which of them touch (by a
 * side of a pixel). */
typedef struct lapis_graph { /* n nodes; an edge is listed at both its ends */
  int64_t count;
  const int64_t
      *start; /* n + 1: neighbours of node i are start[i] .. start[i + 1] - 1 */
  const int32_t *neighbour; /* start[n], rising for each node */
} lapis_graph;
typedef struct lapis_segments {
  int64_t width, height;
  int32_t *label;  /* height x width, rows from the top: 0 .. graph.count - 1 */
  int64_t *pixels; /* of each segment: how many it has */
  lapis_graph graph;
} lapis_segments;
/* Frees what the functions below made; s is empty afterwards. */
LAPIS_API void lapis_segments_free(lapis_segments *s);
/* Of a file: pixels of one number that touch are a segment, numbered in reading
 * order of their first pixels; one of fewer than `least` pixels joins the
 * neighbour with which it shares most sides.  The file: a .npy of whole numbers
 * (height, width), or an image whose colours are the labels. */
LAPIS_API lapis_status lapis_segments_read(lapis_ctx *ctx, const char *path,
                                           int64_t least, lapis_segments *out);
/* SLIC superpixels: segments of similar colour (in CIELab) of about side x side
 * pixels each; the greater regularity, the squarer they are.  Made by VLFeat:
 * LAPIS_ENOTBUILT without it. */
typedef struct lapis_slic_settings {
  size_t size;
  int64_t side;      /* pixels; -1: for about 300 segments */
  double regularity; /* weight of place against colour */
  int64_t least;     /* pixels of a segment; -1: side^2 / 4 */
} lapis_slic_settings;
static inline lapis_slic_settings lapis_slic_defaults(void)
{
  lapis_slic_settings to = {sizeof to, -1, 15, -1};
  return to;
}
LAPIS_API lapis_status lapis_segments_slic(lapis_ctx *ctx,
                                           const lapis_image *image,
                                           const lapis_slic_settings *set,
                                           lapis_segments *out);
/* score: of each segment, the sum of its words' weights. */
LAPIS_API lapis_status lapis_segment_scores(lapis_ctx *ctx,
                                            const lapis_words *words,
                                            const lapis_segments *segments,
                                            const double *weight,
                                            double *score);

/* ---- regions: the connected group of segments of the greatest total score
 * (efficient region search, [MC15] Sec. 4.5), solved exactly as a connected
 * subgraph of maximum weight. */
typedef struct lapis_region_settings {
  size_t size;
  double seconds; /* time limit a region; infinity: none */
} lapis_region_settings;
static inline lapis_region_settings lapis_region_defaults(void)
{
  lapis_region_settings to = {sizeof to, HUGE_VAL};
  return to;
}

typedef struct lapis_region_info {
  double score, bound; /* of the region; no connected group has more */
  double gap;          /* (bound - score) / max(|bound|, |score|, 1e-300) */
  int64_t members;     /* segments in the region */
  int64_t nodes;       /* subproblems that were bounded */
  int64_t left;        /* segments left to search after reductions */
  double seconds;
  lapis_status status; /* LAPIS_OK: optimal; else why it stopped early */
} lapis_region_info;
/* score: n finite numbers.  inside: n, 1 for members of the region.  Where no
 * score is positive the region is empty and its score is 0.  info may be
 * NULL. */
LAPIS_API lapis_status lapis_region_find(lapis_ctx *ctx,
                                         const lapis_graph *graph,
                                         const double *score,
                                         const lapis_region_settings *set,
                                         unsigned char *inside,
                                         lapis_region_info *info);
/* ---- one box an image, so that all look alike ------------------------------
 * images/places/choose_boxes.c tells how. */
/* Boxes of images: X, group, candidate and image_size of the features
 * `gist-boxes` with look LAPIS_BOX_OUTLINE. */
typedef struct lapis_choose_boxes {
  const lapis_mat *X, *group, *box, *size;
} lapis_choose_boxes;
typedef struct lapis_choose_settings {
  size_t size;
  int64_t rounds;
  double weight; /* of what the set says, beside what an image says */
  double place;  /* of like places and sizes */
  double heat;   /* how far from the best a box still counts */
  double edges;  /* share of edges in the likeness; the rest: colours */
  double ridge;  /* added to the covariance, in mean variances */
  double unlike; /* weight of being unlike the boxes of `without` */
  const lapis_choose_boxes *without; /* of images without the object, or NULL */
  double *agreement; /* room for a number an image, or NULL: how far both what
                      * the image says by itself and what the others say want
                      * the chosen box, as the lesser of its IoU with the box
                      * that each likes best; 1 where there are no rounds */
  /* X of the features `onnx` with this grid, a column an image, or NULL: boxes
   * are then compared by the places of a map, not by weight, place and edges,
   * and there is no `without` */
  const lapis_mat *map;
  int64_t grid;
} lapis_choose_settings;
static inline lapis_choose_settings lapis_choose_defaults(void)
{
  lapis_choose_settings to = {sizeof to, 8,   0.3,  0.04, 0.05, 0.7,
                              1,         0.2, NULL, NULL, NULL, 0};
  return to;
}
/* X, group, box, size: as in lapis_choose_boxes.  pick: for each image the
 * number of its box, a column of X; likeness: how much that is like what the
 * other images chose, by numbers from which the mean of all boxes is taken off;
 * divided by the standard deviation of all boxes' likenesses, whose own mean
 * stays (0: as little like as unlike).  By a map: how much of the object the
 * box holds, relative to the box of its image that holds most; -1 or less where
 * none does. */
LAPIS_API lapis_status lapis_boxes_choose(lapis_ctx *ctx, const lapis_mat *X,
                                          const lapis_mat *group,
                                          const lapis_mat *box,
                                          const lapis_mat *size,
                                          const lapis_choose_settings *set,
                                          double *pick, double *likeness);

/* ==== pages: a page that shows what was found: one file, no network.
 *
 * The page is XHTML with its pictures, drawings (SVG) and all it needs inside.
 * Every part of lapis_report may be left empty; the page then lacks the section
 * that would show it.  docs/report.md says what the page looks like. */

/* ---- pictures and what lies over them ------------------------------------
 * Coordinates are pixels of the picture as images.h counts them.
 * of_class is a row of `scores` and an entry of `class_names`; -1: none. */
typedef struct lapis_report_box {
  lapis_box at;     /* its score is shown unless it is NaN */
  const char *text; /* what is in the box, or NULL */
  int64_t of_class;
  bool given; /* known, not found: drawn dashed */
} lapis_report_box;

typedef struct lapis_report_heat { /* stretched over the whole picture */
  lapis_mat values; /* across x down, as an image's rows lie in memory: the
                       value at x, y is entry (x, y); NaN: nothing there */
  int64_t of_class;
} lapis_report_heat;

typedef struct lapis_report_picture {
  int64_t sample;              /* whose picture it is: 0 .. n - 1 */
  const lapis_image *image;    /* NULL: the file `path` is read */
  const char *path;            /* of the file; NULL, or a damaged file:
                                  an empty frame is drawn */
  int64_t width, height;       /* of that frame, or 0 */
  const lapis_report_box *box; /* boxes */
  int64_t boxes;
  const lapis_report_heat *heat; /* heats, at most one a class */
  int64_t heats;
  lapis_mat regions; /* across x down, stretched, as the values of a heat map:
                        the class of each place, or less than 0: none */
  const char *note;  /* a line below the picture, or NULL */
} lapis_report_picture;

/* ---- labels that look wrong ----------------------------------------------
 * `proposed` is to replace `given` in a cell of `labels`, which may be a list
 * of entries separated by ';'.  Where given is empty an entry is added; where
 * proposed is empty the entry is taken away. */
typedef struct lapis_report_suspect {
  int64_t sample, column;
  const char *given, *proposed;
  double probability; /* that it is wrong; NaN: not shown */
} lapis_report_suspect;

/* A row of a table.  In `setting` a row without a name begins another table:
 * its value is the caption and the titles of the columns, and the value of a
 * row has a cell for each column but the first, tabs between. */
typedef struct lapis_report_row {
  const char *name, *value;
} lapis_report_row;

typedef struct lapis_report {
  size_t size; /* sizeof(lapis_report) */
  const char *title;

  /* the answers as a table, first on the page: a row a sample, sorted and
   * searched by its reader; probabilities have a title that begins so */
  const lapis_sheet_column *column; /* columns */
  int64_t columns;
  lapis_mat marks; /* TEXT, a row: "doubted" (what was given looks wrong),
                      "unsure" (of its answer), "several" (classes in its set;
                      these rows come first) or ""; or empty */

  /* samples and their labels, cell by cell as labels.csv has them; the page
   * exports `labels` with the changes that its reader accepted */
  lapis_mat names;       /* TEXT, n: of samples; they become column "name" */
  lapis_mat label_names; /* TEXT, k: the other columns of labels.csv */
  lapis_mat labels;      /* TEXT, k x n: as given, "" where unknown */
  lapis_mat answers;     /* TEXT, k x n: as found */
  lapis_mat class_names; /* TEXT, c */
  lapis_mat scores;      /* c x n */
  lapis_mat held_out;    /* c x n: log-odds that each label got while it was
                            hidden; empty: ROC curves are drawn of scores */
  lapis_mat truth;       /* c x n, or one row of c classes 0 .. c - 1, for
                            ROC curves; NaN: not known, or not to count */
  const lapis_report_suspect *suspect; /* suspects, in the order shown */
  int64_t suspects;
  bool suspects_fit_least; /* none of them looks wrong; others fit better */

  const lapis_report_picture *picture; /* pictures */
  int64_t pictures;
  lapis_mat points;      /* 4 x m: picture, number of the point, x, y; the same
                            number in several pictures is the same point */
  lapis_mat point_names; /* TEXT row, by their numbers from 0; empty: numbers */

  /* samples taken apart */
  lapis_mat input;          /* d x n, NaN: missing, drawn in magenta */
  lapis_mat clean, removed; /* d x n: input = clean + removed where seen */
  lapis_mat filled;         /* d x n: input, covered entries taken from clean */
  int64_t height, width;    /* of a sample as a picture, rows first; 0: none */
  int64_t first, count;     /* samples that are drawn */

  lapis_mat class_features; /* d x classes: what classes look like */

  lapis_mat singular_values; /* 1 x k */
  lapis_mat history;         /* columns x iterations */
  lapis_mat history_columns; /* TEXT row: what a column of history is */

  const lapis_report_row *fact; /* facts: the numbers at the top of the page */
  int64_t facts;
  const lapis_report_row *setting; /* settings */
  int64_t settings;
  const char *command; /* the command that repeats the run, or NULL */

  /* what was compared: results candidates, candidate_figures and chosen */
  lapis_mat candidates, candidate_figures;
  int64_t chosen;

  /* what is lost once a feature is shuffled, the most first */
  lapis_mat importance;       /* 2 x f: log-loss, or R^2, and standard error */
  lapis_mat importance_names; /* TEXT, f */
  lapis_mat importance_ways;  /* TEXT, f: how the answer goes with it, or "" */
  bool importance_of_numbers; /* R^2 */

  /* a table, completed: its cells, of which some were empty */
  lapis_mat cell_titles;  /* TEXT, c */
  lapis_mat cells;        /* TEXT, c x rows */
  lapis_mat cells_filled; /* U8, c x rows: 1: it was empty */
  int64_t cell_rows;      /* that the table has in all */

  /* what its reader confirms and corrects: samples in doubt and in pictures */
  lapis_mat beside_names; /* TEXT, b: columns of labels.csv after the name */
  lapis_mat beside;       /* TEXT, b x n */
  lapis_mat checked;      /* U8, n: 1: a person checked it.  labels.csv says it
                             of each in a column checked; empty: of none */
  lapis_mat margin;       /* n: how far an answer is from another one; the
                             least are looked at first */
  bool lists;             /* a cell of `labels` may be a list, a;b */

  const char *dialect;    /* of the table that it answers, as lapis_dataset_text
                             says it: numbers of answers, and labels.csv, are
                             written so; or NULL */
  const char *name_title; /* of the first column of labels.csv; NULL: name */
  lapis_mat csv_order;    /* I64, columns of labels.csv as they are written,
                             from 0: the name, those of beside, the labels,
                             checked; empty: so */
} lapis_report;
static inline lapis_report lapis_report_defaults(void)
{
  lapis_report to;
  memset(&to, 0, sizeof to);
  to.size = sizeof to;
  to.title = "LAPIS";
  to.count = 8;
  return to;
}
/* A picture whose file cannot be read gives a warning and an empty frame. */
LAPIS_API lapis_status lapis_report_write(lapis_ctx *ctx,
                                          const lapis_report *what,
                                          const char *path);

/* ==== pipelines: from image files to answers.
 *
 *   images + settings -> solver -> solve -> result
 *
 * A pipeline runs the library's own steps one after the other: make features,
 * choose settings, solve, find places in the images.  A lapis_method describes
 * its settings and what it answers with. */

/* name: "label", "match" or "locate"; NULL where there is none of this name. */
LAPIS_API const lapis_method *lapis_flow_find(const char *name);

/* ---- label: images and incomplete labels -> all labels ------------------*/
/* A variant is this, pos with where and counts of words, else mc1; or 1 + a
 * lapis_mc_variant. */
enum { LAPIS_LABEL_AUTO };
/* Rows of lapis_flow_find say what settings are; NULL, NaN: chosen, or none. */
typedef struct lapis_label_settings {
  size_t size;
  const char *labels, *target, *groups;
  int header; /* lapis_header of files.h */
  const char *missing, *features, *names;
  int words_from, variant; /* 0: labelled images, 1: all */
  const char *candidates, *map;
  double lambda, gamma, mu_rel;
  int64_t folds, suspects;
  bool where;
  const char *segments, *cache;
  bool no_cache, keep_going;
  double seconds;
  /* settings of each kind of features, in their order, or NULL;
   * lapis_settings_set does not reach these */
  const void *const *kinds;
  const char *checkpoint;
  int64_t pictures;
  bool folder_is_class;
  double coverage;   /* as auto's */
  int64_t places;    /* with where: at most, of a class in an image */
  const char *again; /* result of an earlier run, of whom answers, or NULL */
  int64_t ask;       /* as auto's */
} lapis_label_settings;
/* Kinds that features "auto" makes and compares: each alone, the last two and
 * all of them side by side.  Settings in `kinds` are of these, in this order.
 */
#define LAPIS_LABEL_AUTO_KINDS "color-moments,hog,gist,sift-bow,texton-bow"
/* The kinds that label takes of these images where none are named: of colour
 * photographs words and textons, of others words alone; where: one kind. */
LAPIS_API const char *lapis_label_features(lapis_ctx *ctx,
                                           const char *const *paths,
                                           int64_t count, bool where);

/* ---- match: images of one object -> the same points in all --------------*/
typedef enum lapis_match_map {
  LAPIS_MATCH_NONE,     /* compares descriptors alone */
  LAPIS_MATCH_EMBED,    /* compares descriptors and positions */
  LAPIS_MATCH_POSITIONS /* of given points (xy), positions alone */
} lapis_match_map;
typedef struct lapis_match_settings {
  size_t size;
  int64_t inliers, points;
  double peak;
  int64_t longest;
  const char *xy;
  double scale;
  int map;   /* lapis_match_map */
  double xi; /* infinity: not looked at */
  const char *cache;
  bool no_cache, keep_going;
  double seconds;
  int64_t instances;
  const char *first; /* .csv of the points of one image; NULL: keypoints */
  int64_t grid;      /* pixels between the places where they are looked for */
} lapis_match_settings;

/* ---- locate: images of one kind of object -> where it is in each --------*/
typedef struct lapis_locate_settings {
  size_t size;
  const char *boxes;
  int64_t candidates;
  double aspect, noise;
  int64_t side;
  const char *cache;
  bool no_cache, keep_going;
  double seconds;
  int look; /* lapis_box_look; OUTLINE: chosen in rounds, GIST: roml */
  int64_t rounds;
  const char *without;
  /* as of lapis_onnx_settings; grid -1: as many places as the map has */
  const char *net, *layer, *shape;
  double scale;
  const char *mean, *std;
  bool bgr;
  int64_t grid;
} lapis_locate_settings;

/* Checks the settings, and reads the table of labels; then lapis_solve, once,
 * and lapis_result_get: lapis_method_result lists the arrays, and `lapis info
 * label`.  paths (count of them) and what the settings point to are borrowed.
 * A positive status: the run was stopped early, and has fewer of them.  A
 * checkpoint goes with the solver where the run ended by itself and all was
 * written that was to be. */
LAPIS_API lapis_status lapis_flow_new(lapis_ctx *ctx,
                                      const lapis_method *pipeline,
                                      const char *const *paths, int64_t count,
                                      const void *settings, lapis_solver **out);
#define LAPIS_PIPELINE(name)                                              \
  static inline lapis_status lapis_##name##_new(                          \
      lapis_ctx *ctx, const char *const *paths, int64_t count,            \
      const lapis_##name##_settings *set, lapis_solver **out)             \
  {                                                                       \
    return lapis_flow_new(ctx, lapis_flow_find(#name), paths, count, set, \
                          out);                                           \
  }
LAPIS_PIPELINE(label)
LAPIS_PIPELINE(match)
LAPIS_PIPELINE(locate)

/* Files of what a pipeline answers. */
typedef enum lapis_flow_file {
  LAPIS_FLOW_ARRAYS, /* .npz: all of them */
  LAPIS_FLOW_PAGE,   /* .html; with the command that repeats the run, or NULL */
  LAPIS_FLOW_TABLE,  /* .csv: what --labels or --boxes reads; points */
  LAPIS_FLOW_SHEET   /* .csv, .tsv: of label what is given or filled, what is
                        doubted, and scores, a row an image; else the table */
} lapis_flow_file;
LAPIS_API lapis_status lapis_flow_write(const lapis_solver *s,
                                        lapis_flow_file what, const char *path,
                                        const char *command);

#ifdef __cplusplus
}
#endif
#endif
