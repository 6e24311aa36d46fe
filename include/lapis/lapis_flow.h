/* lapis_flow.h - pipelines: from image files to answers.
 *
 *   images + settings -> flow -> run -> result
 *
 * A pipeline runs the library's own steps one after the other: make features,
 * choose settings, solve, find places in the images.  Its settings are
 * described as a method's are, by a lapis_method, so that
 * lapis_settings_fill, _set and _get work on them. */
#ifndef LAPIS_FLOW_H
#define LAPIS_FLOW_H
#include "lapis.h"

#ifdef __cplusplus
extern "C" {
#endif

/* name: "label", "match" or "locate"; NULL where there is none of this name. */
LAPIS_API const lapis_method *lapis_flow_find(const char *name);

/* ---- label: images and incomplete labels -> all labels ------------------*/
typedef enum lapis_label_variant {
  LAPIS_LABEL_AUTO, /* pos where features are counts of words, else mc1 */
  LAPIS_LABEL_MC1,
  LAPIS_LABEL_POS,
  LAPIS_LABEL_SIMPLEX
} lapis_label_variant;
typedef struct lapis_label_settings { /* a text NULL: automatic, or none */
  size_t size;
  const char *labels; /* the table: .csv */
  const char *target, *groups;
  int header;          /* lapis_header of lapis_io.h */
  const char *missing; /* "WORD,WORD": no label yet; NULL: NA, ? and the like */
  /* Kinds of features, "a,b" side by side; or "auto", whichever of
   * LAPIS_LABEL_AUTO_KINDS tell hidden labels best; or "table:FILE[:MEMBER]", a
   * vector an image made elsewhere; NULL: lapis_label_features */
  const char *features;
  const char *names;      /* a file with the image of each row of a table */
  int words_from;         /* 0: labelled images, 1: all */
  int variant;            /* lapis_label_variant */
  const char *candidates; /* of auto, where mu is open; NULL: all */
  const char *map;
  double lambda, gamma, mu_rel; /* NaN: chosen by cross-validation */
  int64_t folds, suspects;
  bool where;
  const char *segments;
  const char *cache;
  bool no_cache, keep_going;
  double seconds;
  /* settings of each kind of features, in their order, or NULL;
   * lapis_settings_set does not reach these */
  const void *const *kinds;
  const char *checkpoint; /* a file: what a killed run needs to go on */
  int64_t pictures;       /* that the page shows at most */
  /* In place of a table: of the folder that holds all images, the one below it
   * in which an image lies names its label; images that lie in none, or in one
   * called unknown, unlabelled or unlabeled, are asked. */
  bool folder_is_class;
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
  int64_t inliers; /* points of the object; -1: estimated */
  int64_t points;  /* most keypoints used in an image */
  double peak;     /* as lapis_sift_settings */
  int64_t longest;
  const char *xy; /* the table of points: .csv; NULL: keypoints */
  double scale;   /* as lapis_sift_settings */
  int map;        /* lapis_match_map */
  double xi;      /* as lapis_roml_settings; infinity: not looked at */
  const char *cache;
  bool no_cache, keep_going;
  double seconds;
  int64_t instances; /* as lapis_roml_settings */
} lapis_match_settings;

/* ---- locate: images of one kind of object -> where it is in each --------*/
typedef struct lapis_locate_settings {
  size_t size;
  const char *boxes;    /* the table of candidates: .csv; NULL: proposed */
  int64_t candidates;   /* most boxes proposed in an image */
  double aspect, noise; /* as lapis_gist_boxes_settings */
  int64_t side;         /* of the square GIST is computed on */
  const char *cache;
  bool no_cache, keep_going;
  double seconds;
  int look;       /* lapis_box_look; OUTLINE: chosen in rounds, GIST: roml */
  int64_t rounds; /* of choosing */
  const char *without; /* an image without the object, or a folder of them */
} lapis_locate_settings;

typedef struct lapis_flow lapis_flow;
/* Checks the settings, and reads the table of labels.  paths (count of them)
 * and what the settings point to are borrowed until the flow is freed. */
LAPIS_API lapis_status lapis_label_new(lapis_ctx *ctx, const char *const *paths,
                                       int64_t count,
                                       const lapis_label_settings *settings,
                                       lapis_flow **out);
LAPIS_API lapis_status lapis_match_new(lapis_ctx *ctx, const char *const *paths,
                                       int64_t count,
                                       const lapis_match_settings *settings,
                                       lapis_flow **out);
LAPIS_API lapis_status lapis_locate_new(lapis_ctx *ctx,
                                        const char *const *paths, int64_t count,
                                        const lapis_locate_settings *settings,
                                        lapis_flow **out);
/* A positive status: the run was stopped early, and has only the arrays that
 * lapis_flow_get finds. */
LAPIS_API lapis_status lapis_flow_run(lapis_flow *f);
LAPIS_API void lapis_flow_free(lapis_flow *f); /* NULL is fine */

/* Named arrays of n images.
 *
 * Every pipeline: names (n, paths of the images that could be read), image_size
 * (2 x n: width, height) and, where there are such, notes (TEXT: remarks on the
 * run, a sentence each) and refused (TEXT: a sentence on each thing that was
 * left out).
 *
 * match, of m keypoints in all images and N slots:
 *   xy (4 x m: x, y, scale, angle), group (m: image)
 *   match (N x n)   keypoint of each slot (a slot is one point of the object);
 *                   inlier (N x n): 0 where that is in doubt
 *   points (4 x p)  image, slot, x, y of the p matches not in doubt
 *   support (N x n) share of the other images that agree with it
 *   instance (N)    whose point a slot is, from 1
 *   tried (1)       slots of which N were kept, where N was estimated
 *
 * locate, of m candidates in all images:
 *   candidate (5 x m: x, y, width, height, score), group (m: image)
 *   match (n)       the candidate chosen; inlier (n): 0 where in doubt
 *   boxes (5 x n)   the chosen candidate as a box
 *   likeness (n), agreement (n)   as lapis_boxes_choose, where that chose
 *
 * label, of K classes (two classes: K = 1), with m doubted labels, c kinds of
 * features and b boxes:
 *   labels (n)      TEXT: the given label where there is one, else the
 *                   completed one; several of one image are joined by ';'
 *   scores (K x n)  above 0: yes; of several classes the largest is the label;
 *                   where settings were chosen log-odds, and probabilities
 *                   (K x n); low_rank (d x n): repaired features
 *   known (n)       1 where labels were given; partly (n): 1 where others of
 *                   the image were not
 *   classes (K)     TEXT; of two classes both names, the positive one last
 *   by (1)          TEXT, where settings were chosen: who answers, of auto's
 *                   candidates; candidates, candidate_figures, chosen, hidden
 * as for auto suspect_index (2 x m)  image and class, from 0, of a label in
 * doubt; where more than two classes exclude each other, an image stands once,
 * with the class it rather is suspect_margin (m)     probability that the label
 * is wrong, largest first suspect_rather (m)     TEXT: where classes exclude
 * each other, the name of that class; suspect_add (m): where they do not, 1:
 * the class is to be added, 0: taken away expected_wrong (3)     labels likely
 * to be wrong: at least, at most, of how many held_out (K x n)       score that
 * a known label had while it was hidden, NaN elsewhere; only where wrong labels
 * were looked for kinds (c)       TEXT, of features "auto": what was compared,
 * features (1) the best of them, and kinds_judged (6 x c): log-loss of hidden
 * labels, its standard error, AUROC, accuracy, and how far its loss is behind
 * the best one's, with the standard error rows_left_out (1)      rows of the
 * table that name none of the images, where there are such and keep_going is
 * set boxes (5 x b)   x, y, width, height, score; box_image (b), box_class (b)
 *   region_mask     bytes, one for each pixel of the image, rows from the top,
 *                   1 inside the region; for each box that surrounds a region,
 *                   in the order of boxes */
LAPIS_API lapis_status lapis_flow_get(const lapis_flow *f, const char *name,
                                      lapis_mat *out);
/* Name of the i-th array, NULL past the end. */
LAPIS_API const char *lapis_flow_name(const lapis_flow *f, int i);
/* The solver of the flow's method (mc or roml), and the data it was given; NULL
 * before the method has run. */
LAPIS_API const lapis_solver *lapis_flow_solver(const lapis_flow *f);
LAPIS_API const lapis_data *lapis_flow_data(const lapis_flow *f);
/* What the run kept for going on is of no more use, as the answer is written:
 * its file goes, where the run came to its end. */
LAPIS_API void lapis_flow_settle(lapis_flow *f);
/* Writes all arrays as .npz. */
LAPIS_API lapis_status lapis_flow_write(const lapis_flow *f, const char *path);
/* Writes the page of lapis_report.h; command: the command that repeats the run,
 * or NULL. */
LAPIS_API lapis_status lapis_flow_page(const lapis_flow *f, const char *path,
                                       const char *command);
/* Writes the labels as a table that lapis_label_new reads. */
LAPIS_API lapis_status lapis_label_write(const lapis_flow *f, const char *path);
/* Writes a row an image: label, given or filled, what is doubted, and the score
 * of each class; between tabs where path ends in .tsv. */
LAPIS_API lapis_status lapis_label_write_answers(const lapis_flow *f,
                                                 const char *path);
/* Writes the points as a table: name,point,x,y,doubtful,instance, a row a point
 * an image. */
LAPIS_API lapis_status lapis_match_write(const lapis_flow *f, const char *path);
/* Writes the boxes as a table: name,x,y,width,height,score. */
LAPIS_API lapis_status lapis_locate_write(const lapis_flow *f,
                                          const char *path);

#ifdef __cplusplus
}
#endif
#endif
