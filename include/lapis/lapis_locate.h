/* lapis_locate.h - where in an image an object or a class is: windows,
 * regions.
 *
 * Pixels are counted from the left and the top; an image of `width` x `height`
 * pixels covers [0, width) x [0, height), and pixel (x, y) is the square whose
 * corner is (x, y).  docs/localisation.md says when to use what. */
#ifndef LAPIS_LOCATE_H
#define LAPIS_LOCATE_H
#include <math.h>

#include "lapis.h"
#include "lapis_image.h"

#ifdef __cplusplus
extern "C" {
#endif

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
 * src/vision/locate/choose.c tells how. */
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
} lapis_choose_settings;
static inline lapis_choose_settings lapis_choose_defaults(void)
{
  lapis_choose_settings to = {sizeof to, 8, 0.3, 0.04, 0.05,
                              0.7,       1, 0.2, NULL, NULL};
  return to;
}
/* X, group, box, size: as in lapis_choose_boxes.  pick: for each image the
 * number of its box, a column of X; likeness: how much that is like what the
 * other images chose, by numbers from which the mean of all boxes is taken off;
 * divided by the standard deviation of all boxes' likenesses, whose own mean
 * stays (0: as little like as unlike). */
LAPIS_API lapis_status lapis_boxes_choose(lapis_ctx *ctx, const lapis_mat *X,
                                          const lapis_mat *group,
                                          const lapis_mat *box,
                                          const lapis_mat *size,
                                          const lapis_choose_settings *set,
                                          double *pick, double *likeness);

#ifdef __cplusplus
}
#endif
#endif
