/* lapis_features.h - from image files to the arrays that methods read.
 *
 *   images -> kind -> settings -> solver -> solve -> result
 *
 * A kind of features is described as a method is, by a lapis_method, so that
 * lapis_settings_fill, _set and _get work on its settings.  It is run by a
 * solver: lapis_solve, lapis_result_get, lapis_solver_free. */
#ifndef LAPIS_FEATURES_H
#define LAPIS_FEATURES_H
#include "lapis.h"
#include "lapis_image.h"
#include "lapis_io.h"

#ifdef __cplusplus
extern "C" {
#endif

LAPIS_API const lapis_method *lapis_feature_at(int i); /* NULL past the end */
LAPIS_API const lapis_method *lapis_feature_find(const char *name);

/* ---- settings: lapis_settings_fill, then change a field ---------------*/
typedef struct lapis_pixels_settings {
  size_t size;
  const char *shape; /* "WIDTHxHEIGHT", or NULL: the default */
} lapis_pixels_settings;

typedef struct lapis_color_moments_settings {
  size_t size;
  int64_t grid; /* cells along each side */
} lapis_color_moments_settings;

typedef enum lapis_hog_variant {
  LAPIS_HOG_UOCTTI,
  LAPIS_HOG_DALAL_TRIGGS
} lapis_hog_variant;
typedef struct lapis_hog_settings {
  size_t size;
  const char *shape; /* as for pixels */
  int64_t cell;      /* pixels along its side */
  int64_t orientations;
  int variant; /* lapis_hog_variant */
} lapis_hog_settings;

typedef struct lapis_gist_settings { /* a part of another: never grows */
  size_t size;
  int64_t side; /* pixels, a power of two */
  int64_t scales, orientations;
  int64_t blocks; /* along each side */
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
  const char *boxes;  /* .csv (name,x,y,width,height,score); NULL: proposed */
  int64_t candidates; /* most boxes proposed in an image */
  double aspect;      /* weight of width / height beside GIST */
  double noise;       /* added to boxes of a low score */
  int look;           /* lapis_box_look */
} lapis_gist_boxes_settings;

/* sift-bow, dense-sift-bow and texton-bow: each reads only the fields that its
 * table of settings names.  A NULL text: the default, or no file.  longest, to
 * which larger images are made smaller, and enlarge are -1 by default, and bins
 * NULL: as the vocabulary was learnt that is read; where none is, 640, 0, and
 * sizes of the kind's own. */
typedef struct lapis_bag_settings {
  size_t size;
  int64_t words, levels;
  int64_t learn, restarts;
  const char *vocabulary, *save_vocabulary, *vocabulary_from;
  int64_t longest;
  const char *bins; /* "4,6,8" */
  double magnif;
  int64_t count;   /* sift-bow */
  int64_t step;    /* the others */
  int64_t enlarge; /* longer side that a smaller image is brought to; 0: none */
} lapis_bag_settings;

typedef struct lapis_sift_settings {
  size_t size;
  double peak, edge;
  int64_t levels, first_octave; /* first_octave -1: the image is doubled */
  int64_t most, longest;
  const char *xy; /* .csv of points to describe; NULL: keypoints */
  double scale;   /* of points in xy that have none */
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

#ifdef __cplusplus
}
#endif
#endif
