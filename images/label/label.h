/* label.h - between the files of the pipeline label. */
#ifndef LAPIS_LABEL_PRIVATE_H
#define LAPIS_LABEL_PRIVATE_H
#include "images/pipeline/pipeline.h"

/* ---- labels.c, meaning.c: the table of labels ---------------------------*/
typedef enum label_kind { LABEL_TWO, LABEL_CLASS, LABEL_MANY } label_kind;
typedef struct labels {
  label_kind kind;
  bool lists;             /* many: written as a;b in one column */
  int64_t K;              /* classes; two: 1 */
  int64_t rows;           /* of Y: two and class: 1 */
  int64_t n_names;        /* K; two: 2, the positive one last */
  const char **name;      /* n_names */
  int64_t n;              /* images */
  double *Y;              /* rows x n: two and many -1 or 1, class 0 .. K - 1 */
  int64_t *group;         /* n, or NULL */
  unsigned char *checked; /* n: by a person; NULL: no column says so */
  const char *title, *name_title; /* of columns; "": there are none */
  /* the other columns of the table, which are written as they were read */
  int64_t others;
  const char **other_title, **other; /* others; others x n, "": no row */
  char *other_pool;                  /* titles that are made */
  /* columns of a table that is written, in the order of the one that was read;
   * their numbers: 0 the name, 1 .. others, the labels, who was checked */
  int64_t columns, *column;
  int64_t skipped;       /* rows of no image */
  int64_t filled;        /* labels that a run before filled in: not given */
  const char *repeating; /* title of a column that may name people, or NULL */
  int64_t repeated;      /* how many different values it has */
  lapis_cells cells;     /* what names and titles point into */
  char *pool;            /* class names cut out of lists */
  const char **folder_cell; /* cells made of the names of folders, or NULL */
  lapis_array folder;       /* their names */
} labels;
typedef struct label_request {
  const char *path, *target, *groups, *missing;
  int header;
  bool keep_going, folders; /* path: how these are called */
  const char *const *image;
  int64_t n;
} label_request;
lapis_status labels_read(lapis_ctx *ctx, const label_request *r, labels *out);
void labels_free(labels *table);

/* What columns of the table hold labels, and the image of each row. */
typedef struct label_table {
  lapis_ctx *ctx;
  const label_request *r;
  const lapis_cells *cells;
  int64_t first;                /* row behind the header */
  int64_t name, group, checked; /* columns; -1: none */
  int64_t n_targets, *target;   /* columns */
  int64_t *image;               /* of each row; -1: none */
} label_table;
const char *label_cell(const label_table *s, int64_t row, int64_t column);
lapis_status classes_find(const label_table *s, labels *out);

/* ---- a run --------------------------------------------------------------*/
typedef struct found_boxes {
  int64_t count, room;
  double *box;             /* 5 x count: x, y, width, height, score */
  double *heat;            /* LABEL_HEAT^2 x count, rows from the top */
  int64_t *image, *class_; /* count each */
} found_boxes;

enum {
  LABEL_MAP = 512,
  LABEL_HEAT = 16,      /* cells along a side of a heat map */
  LABEL_KINDS = 96,     /* bytes of names of kinds */
  LABEL_CANDIDATES = 7, /* kinds of features that --features auto compares */
  LABEL_FIGURES = 6 /* log-loss, its error, AUROC, accuracy, behind, error */
};
/* n: images that could be read, flow->n; K: classes, given.K. */
typedef struct label_run {
  lapis_flow *flow;
  lapis_label_settings set;
  flow_kinds kinds;               /* of features */
  void *own_settings[FLOW_KINDS]; /* of those whose file the list names */
  const char *table;              /* of features made elsewhere, or NULL */
  lapis_mat made;                 /* its vectors, or those picked: d x n */
  /* --features auto: all that were made, and what is picked of them */
  bool is_auto, colours;
  flow_kinds made_kinds;
  double *picked[LABEL_CANDIDATES]; /* of each candidate, or NULL */
  int64_t start[FLOW_KINDS + 1];    /* first row of each kind */
  char kind_name[LABEL_CANDIDATES][LABEL_KINDS];
  const char *kind_at[LABEL_CANDIDATES], *chosen;
  double kind_figures[LABEL_CANDIDATES * LABEL_FIGURES];
  char kept_as[32];   /* what compares, in a checkpoint */
  lapis_arrays again; /* of an earlier run, who answers there in set.candidates,
                       * and what kinds of features were best, or NULL */
  const char *best_kinds;
  labels given;     /* of all paths */
  int64_t *path_at; /* n: the place of an image among the paths */
  /* data of the completion */
  double *Y;              /* given.rows x n */
  int64_t *group;         /* n */
  unsigned char *known;   /* n: has a label */
  unsigned char *partly;  /* n: ... and lacks another one */
  unsigned char *checked; /* n: a person has looked at it, and is sure */
  double *weight;         /* n, where some are checked, or NULL */
  lapis_mc_variant variant;
  const char *map;            /* NULL: auto chooses */
  char joined_map[LABEL_MAP]; /* of several kinds, or empty */
  lapis_solver *chooser;      /* auto; flow->solver once it answers */
  double *scores;             /* K x n: log-odds of what auto answers */
  const char *by;             /* who of the candidates answers */
  /* labels as they are written */
  const char **answer; /* n; NULL: none yet */
  char *answer_pool;
  /* labels in doubt, most doubtful first */
  int64_t suspects;
  int64_t *suspect;    /* 2 x suspects: image, class */
  double *doubt;       /* suspects: probability to be wrong, or NaN */
  int64_t doubts[4];   /* wrong labels, as lapis_doubts counts them */
  double *held_out;    /* K x n: scores while hidden, or NULL */
  unsigned char *add;  /* suspects, of labels of which an image may have many:
                        * the label is missing, else it is too many */
  const char **rather; /* suspects: the class it rather has, or NULL */
  /* to be labelled next */
  int64_t asked_count, *asked;
  double *asked_margin;
  /* where in the image */
  int64_t d;                              /* words of the vocabulary */
  lapis_mat words, places_xy, word_start; /* of features */
  found_boxes places;
  unsigned char *mask; /* pixels of regions, one after the other */
  int64_t mask_used, mask_room, regions_open, regions_whole;
} label_run;

/* again.c: takes who answered in the earlier run that set.again names, if any.
 */
lapis_status label_again(label_run *w);
/* label_kinds.c: the kinds of features that are named, or the usual ones. */
lapis_status label_find_kinds(label_run *w);
/* Features of the images that are read: d x n. */
lapis_status label_features_of(label_run *w, lapis_mat *X);
/* Features, variant and map, as auto is given them. */
lapis_status label_prepare(label_run *w);
/* twins.c: identical images are told, and are one group. */
lapis_status label_find_twins(label_run *w);
/* answers.c: auto chooses who answers; what it doubts. */
lapis_status label_compare(label_run *w);
/* choose_kinds.c: the same for each of the cheap kinds of features. */
bool label_is_auto(const char *features);
lapis_status label_compare_kinds(label_run *w, int steps);
lapis_status label_complete(label_run *w);
/* What a solver of auto has compared, or NULL. */
const lapis_mat *label_figures(const lapis_solver *s, lapis_mat *out,
                               int64_t *chosen);
lapis_status label_doubts(label_run *w);
/* label_answer.c: labels as texts. */
lapis_status label_answer(label_run *w);
bool label_has(const label_run *w, int64_t image, int64_t class_);
/* What other column k of the table of labels says of image i. */
const char *label_other(const label_run *w, int64_t i, int64_t k);
/* "given", "filled"; of many labels "partly given", too. */
const char *label_origin(const label_run *w, int64_t i);
const char *label_origin_at(const label_run *w, int64_t i, int64_t c);
/* where.c */
lapis_status label_check_where(label_run *w);
lapis_status label_where(label_run *w);
/* The table of labels again, all filled; label_sheet.c: the answers for people.
 */
lapis_status label_table_write(const lapis_flow *f, const char *path);
lapis_status label_sheet_write(const lapis_flow *f, const char *path);
/* label_page.c */
lapis_status label_page(const lapis_flow *f, const char *path,
                        const char *command);

#endif
