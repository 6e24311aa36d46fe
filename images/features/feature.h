/* feature.h - how a kind of features is made; one row of feature_kinds.c each.
 *
 * begin   checks settings and makes what all images share (job->state)
 * study   what one image contributes to what is learnt from all, if anything
 * learn   from all of that, in the order of the images, into job->state
 * make    one image's columns of each array
 * fits    whether a file that says what make gave can be believed
 * finish  publishes arrays of the kind's own (solver_publish)
 * end     releases job->state, whatever happened
 *
 * study and make are called for many images at a time, each on one thread with
 * a context of its own; what they do may depend on the image, its index and the
 * seed alone.  A pass that looks at base_must_stop(v->ctx) and gives up returns
 * LAPIS_CANCELLED.  Only begin, make, fits and end are needed (end where there
 * is state).
 */
#ifndef LAPIS_VISION_FEATURE_H
#define LAPIS_VISION_FEATURE_H
#include "base/param.h"
#include "images/image/image.h"
#include "solver/solver.h"

enum { FEATURE_ARRAYS = 4 };

typedef struct feature_array { /* that a kind publishes */
  const char *name;            /* NULL: there are no more */
  const char *start; /* also publish where each image's columns start (n + 1) */
  const char *group; /* also publish the image each column is of */
} feature_array;

typedef struct feature_piece { /* what one image gives: columns of each array,
                                  all of one type and number of rows */
  lapis_mat item[FEATURE_ARRAYS]; /* val: base_alloc'd, owned by the job */
} feature_piece;

typedef struct feature_view { /* an image at hand */
  lapis_ctx *ctx;             /* of this thread */
  const lapis_image *image;
  int64_t index; /* in the list of paths */
} feature_view;

typedef struct feature_job feature_job;
typedef lapis_status (*feature_pass)(const feature_job *j,
                                     const feature_view *v, feature_piece *out);

typedef struct feature_slot { /* of one path */
  feature_piece piece;
  int64_t width, height;
  lapis_status status; /* < 0: refused */
  char *sentence;      /* why */
  bool unfinished;     /* the run had to end before it was made */
  bool damaged;        /* what a cache had of it was not what is written */
} feature_slot;

typedef struct feature_kind {
  lapis_method shown;
  feature_array array[FEATURE_ARRAYS];
  int edition; /* counts up when a kind makes something else of an image: what
                  older ones kept is not read */
  lapis_status (*begin)(feature_job *j);
  feature_pass study;
  /* all: one a path; empty where an image was refused */
  lapis_status (*learn)(feature_job *j, const feature_piece *all);
  feature_pass make;
  bool (*fits)(const feature_job *j, const feature_slot *s);
  lapis_status (*finish)(feature_job *j);
  void (*end)(feature_job *j);
  /* Kinds that learn: writes what was learnt to a file, takes it from one, and
   * tells it apart from others. */
  lapis_status (*keep)(const feature_job *j, const char *path);
  lapis_status (*recall)(feature_job *j, const char *path);
  uint64_t (*learnt)(const feature_job *j);
  const char *learns;       /* what that is a hash of; NULL: "words" */
  const char *const *aside; /* up to a NULL: settings that leave X as it is once
                               all is learnt */
} feature_kind;

struct feature_job {
  lapis_solver base;
  const feature_kind *kind;
  void *settings; /* of the kind; begin may resolve what was automatic */
  void *state;
  uint64_t given;      /* begin: hash of a file that decides what is learnt */
  bool known;          /* begin: nothing is left to study and learn */
  const bool *studied; /* count: learn from these; NULL: all.  begin may set */
  bool keep_going;
  const char *cache; /* a folder, or NULL */
  char *shelf;       /* the folder in it for this job, or NULL */
  int64_t count;     /* of paths */
  const char *const *path;
  feature_slot *slot; /* count */
  int threads;
  lapis_ctx **own; /* a context a thread */
  /* the result */
  int64_t kept; /* images */
  lapis_mat whole[FEATURE_ARRAYS];
  int64_t *start[FEATURE_ARRAYS], *group[FEATURE_ARRAYS];
  int64_t *image_size;           /* 2 x kept */
  const char **names, **refused; /* kept, count - kept */
  const char **made;             /* n_made: how, where X is a column an image */
  int n_made;
};

/* X is a column an image. */
bool feature_is_single(const feature_kind *kind);
/* feature_kinds.c: the same of a row of the table. */
bool feature_kind_is_single(const lapis_method *kind);
/* ---- pieces.c -----------------------------------------------------------*/
void feature_piece_free(feature_piece *p); /* contents */
/* rows x cols zeroed doubles as piece->item[k]; NULL: no memory. */
double *feature_room(const feature_view *v, feature_piece *piece, int k,
                     int64_t rows, int64_t cols);
/* Of a foreign file: so many rows and columns (-1: any) of this type, all
 * values from low to high; feature_places: first x, then y, in the image. */
bool feature_numbers(const lapis_mat *m, lapis_dtype dtype, int64_t rows,
                     int64_t cols, double low, double high);
bool feature_finite(const lapis_mat *m, lapis_dtype dtype, int64_t rows,
                    int64_t cols);
bool feature_places(const lapis_mat *m, lapis_dtype dtype, int64_t rows,
                    int64_t cols, const feature_slot *s);
/* "WIDTHxHEIGHT", each from 1 to most. */
lapis_status feature_shape(lapis_ctx *ctx, const char *kind, const char *text,
                           int64_t most, int64_t *width, int64_t *height);

/* The kinds, feature_NAME each, in the order in which help lists them. */
#define FEATURE_KINDS(KIND) \
  KIND(pixels)              \
  KIND(color_moments)       \
  KIND(luv_histogram)       \
  KIND(hog)                 \
  KIND(gist)                \
  KIND(sift_bow)            \
  KIND(dense_sift_bow)      \
  KIND(texton_bow)          \
  KIND(sift)                \
  KIND(gist_boxes)          \
  KIND(onnx)                \
  KIND(onnx_map)            \
  KIND(onnx_boxes)
#define FEATURE_DECLARED(name) extern const feature_kind feature_##name;
FEATURE_KINDS(FEATURE_DECLARED)

#endif
