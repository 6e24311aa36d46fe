/* pipeline.h - between the files of the pipelines.  Public headers only. */
#ifndef LAPIS_FLOW_PRIVATE_H
#define LAPIS_FLOW_PRIVATE_H
#include <inttypes.h>

#include "lapis/files.h"
#include "lapis/images.h"
#include "lapis/tools.h"

#define TRY(x)                               \
  do {                                       \
    lapis_status try_status_ = (x);          \
    if (try_status_ < 0) return try_status_; \
  } while (0)

/* ---- image_names.c: images by the names that people write for them ------*/
typedef struct image_entry {
  const char *base; /* of the path, behind its last '/' */
  size_t stem;      /* bytes of base before its ending */
  int64_t image;
} image_entry;
typedef struct image_index {
  int64_t n;
  const char *const *path;
  image_entry *entry; /* n, by stem */
} image_index;
lapis_status index_new(lapis_ctx *ctx, const char *const *path, int64_t n,
                       image_index *out);
void index_free(image_index *x);
/* How many images a name stands for, with or without folders and ending; the
 * first two. */
int64_t index_find(const image_index *x, const char *written, int64_t found[2]);

/* The image's file whose name differs in the case of letters alone; or NULL. */
const char *index_near(const image_index *x, const char *written);

/* ---- letters.c: one form of letters with marks --------------------------*/
/* The text with its letters and their marks apart, as macOS names files; false:
 * it has none, or there is no room. */
bool letters_apart(const char *text, char *to, size_t size);

/* ---- csv_writer.c: a table to be written --------------------------------*/
typedef struct csv_writer {
  lapis_dialect d;
  char *text;
  size_t used, room;
  bool lost; /* no memory */
} csv_writer;
/* dialect: of the table that it answers, as lapis_cells has it; or NULL. */
void csv_writer_begin(csv_writer *s, const char *dialect, const char *path);
/* A cell, quoted where it would else end early; last: of its row. */
void csv_writer_put(csv_writer *s, const char *text, bool last);
/* As it was read: NA stays what it was. */
void csv_writer_copy(csv_writer *s, const char *text, bool last);
/* NaN: an empty cell. */
void csv_writer_put_number(csv_writer *s, const char *format, double value,
                           bool last) LAPIS_PRINTF(2, 0);
/* Writes the file and empties the writer. */
lapis_status csv_writer_write(lapis_ctx *ctx, csv_writer *s, const char *path);

/* ---- given_vectors.c: features made elsewhere
 * ---------------------------------*/
typedef struct flow_vectors flow_vectors;
/* Whether a column of this title names images. */
bool flow_names_images(const char *title);
/* spec: FILE or FILE:MEMBER; names: a file with the name of each row, or NULL.
 * X: d x f->n, of the images that have a row, in their order; these are
 * published as f->names. */
typedef struct lapis_flow lapis_flow;
lapis_status flow_vectors_read(lapis_flow *f, const char *spec,
                               const char *names, lapis_mat *X);
void flow_vectors_free(flow_vectors *v);

/* ---- a run --------------------------------------------------------------*/
enum { FLOW_KINDS = 8 };
typedef struct left_out { /* what left_out.c publishes */
  const char **name, **refused;
  int64_t *size;
  char *text;
} left_out;

typedef struct flow_class { /* a pipeline */
  lapis_work work;          /* FLOW_WORK(table) */
  int64_t least;            /* so many images, or more */
  size_t own;               /* bytes of f->own, which begins as zeros */
  lapis_status (*begin)(lapis_flow *f);
  lapis_status (*run)(lapis_flow *f);
  void (*forget)(lapis_flow *f); /* releases what f->own has, not f->own */
  lapis_status (*page)(const lapis_flow *f, const char *path,
                       const char *command);
  /* as its own settings read it, and as people do */
  lapis_status (*table)(const lapis_flow *f, const char *path);
  lapis_status (*sheet)(const lapis_flow *f, const char *path);
} flow_class;
typedef struct flow_common { /* settings of all pipelines */
  const char *cache;         /* NULL: the user's */
  bool no_cache, keep_going;
  double seconds;
} flow_common;

struct lapis_flow {
  lapis_ctx *ctx;
  const flow_class *class_;
  lapis_solver *shown; /* what the program has of it */
  void *settings;      /* of the pipeline's table */
  flow_common common;
  const char *const *path;
  int64_t count; /* of paths */
  double end;    /* when time is up, by the monotonic clock; infinity: never */
  double step, said; /* when this step began, and when it last said how far */
  void *own;         /* the pipeline's: label_run, match, locate */
  /* of the images that could be read */
  lapis_solver *features, *solver;
  int64_t n;
  left_out left;
  flow_vectors *vectors;
  lapis_checkpoint *checkpoint; /* NULL: nothing is kept */
  bool ended;                   /* by itself */
  bool unwritten;               /* and its answer could not be written */
  lapis_data data;
  lapis_mat names, size; /* of features */
};

/* ---- pipeline.c
 * -------------------------------------------------------------*/
lapis_status flow_begin(void *self, lapis_solver *s);
lapis_status flow_solve(void *self);
void flow_free(void *self);
#define FLOW_WORK(of)                                         \
  {                                                           \
    .table = &(of), .begin = flow_begin, .solve = flow_solve, \
    .free = flow_free                                         \
  }
/* What begin takes of the pipeline's settings s. */
#define FLOW_COMMON(s) \
  ((flow_common){(s)->cache, (s)->no_cache, (s)->keep_going, (s)->seconds})
/* f->features of all images, solved, and their names published. */
typedef struct flow_kinds { /* of features, side by side */
  int count;
  const lapis_method *kind[FLOW_KINDS];
  const void *settings[FLOW_KINDS]; /* or NULL */
} flow_kinds;
lapis_status flow_features(lapis_flow *f, const flow_kinds *kinds,
                           const bool *study);
/* Of any images, into a solver that is the caller's. */
lapis_status flow_features_of(lapis_flow *f, const flow_kinds *kinds,
                              const bool *study, const char *const *path,
                              int64_t count, bool keep_going,
                              lapis_solver **out);
/* left_out.c: once, of the images that were read, those marked: with a sentence
 * behind their names. */
lapis_status flow_leave_out(lapis_flow *f, const bool *out, const char *why);
void left_out_free(left_out *left);
/* Publishes an array of a solver; false: it has none of this name. */
bool flow_pass_on(lapis_flow *f, const lapis_solver *from, const char *name);
lapis_status flow_no_memory(const lapis_flow *f);
void flow_publish(lapis_flow *f, const char *name, lapis_mat mat);
/* What was published. */
lapis_status flow_get(const lapis_flow *f, const char *name, lapis_mat *out);
/* f->solver answers, to f->data. */
void flow_answers(lapis_flow *f);
/* A remark, as by lapis_remark. */
#define flow_note(f, ...) flow_remark(f, "chosen", __VA_ARGS__)
#define flow_remark(f, name, ...) lapis_remark((f)->ctx, -1, name, __VA_ARGS__)
double flow_clock(void);
/* LAPIS_OK, or why a run is to end here. */
lapis_status flow_stops(const lapis_flow *f);
/* Step k of n begins, as progress then says; n 0: all steps are done. */
void flow_step(lapis_flow *f, int k, int n, const char *what);
/* A share of this step is done, 0..1; as flow_stops. */
lapis_status flow_done(lapis_flow *f, double share);
/* The context may use this share of the time that is left. */
void flow_allow(lapis_flow *f, double share);

/* ---- votes.c: which matches are borne out by the other images -----------*/
typedef struct flow_votes {
  int64_t d, K, n;      /* length of a feature, images, slots */
  const double *X;      /* d x m */
  const int64_t *first; /* K + 1: image k has features first[k] .. */
  const double *at;     /* 4 x m: x, y, scale, angle; or NULL */
  const int64_t *pick;  /* n x K: feature of each slot */
  double *support;      /* n x K: share of the other images that agree */
  unsigned char *sure;  /* n x K: most agree */
  bool *good;           /* n: sure in most images */
} flow_votes;
/* Fills support, sure and good, of which there are *points.  False: no memory.
 */
bool flow_vote(const flow_votes *v, int64_t *points);

/* ---- follow.c: the points of one image, found in all others -------------*/
typedef struct flow_follow {
  int64_t d, K, n;       /* length of a feature, images, points */
  const double *X;       /* d x m */
  const double *at;      /* 4 x m: x, y, ... */
  const int64_t *first;  /* K + 1: image k has features first[k] .. */
  int64_t from;          /* the image whose first n features the points are */
  double near;           /* pixels: two places less apart than that are one */
  int64_t *pick;         /* n x K: feature of each point */
  unsigned char *sure;   /* n x K: found in two ways */
  unsigned char *placed; /* K: not in doubt as a whole */
} flow_follow;
/* Fills pick, sure and placed; LAPIS_OK where it came to the end. */
lapis_status flow_find_points(lapis_flow *f, const flow_follow *v);
/* shift.c: nothing stays sure or placed in images whose points look, close by,
 * more like other places of the marked image; as: how features were made. */
lapis_status flow_doubt_shifted(lapis_flow *f, const flow_follow *v,
                                const lapis_sift_settings *as);

/* ---- pictures.c: the page of pictures in which something was found -------*/
typedef struct flow_pictures {
  const char *title;
  const void *settings;          /* of the pipeline's table */
  lapis_report_row fact;         /* beside the number of images */
  const char *doubtful;          /* what of the answers is in doubt is called */
  const char *measured;          /* how often such answers are right, or NULL */
  const lapis_report_box *box;   /* n, one a picture, or NULL */
  lapis_mat points, point_names; /* as lapis_report has them, or empty */
  const unsigned char
      *placed; /* n: 0 where all of a picture is in doubt; NULL */
} flow_pictures;
lapis_status flow_pictures_page(const lapis_flow *f, const flow_pictures *shown,
                                const char *path, const char *command);

extern const lapis_method label_method, match_method, locate_method;
extern const flow_class label_class, match_class, locate_class;

#endif
