/* lapis_report.h - a page that shows what was found: one file, no network.
 *
 * The page is XHTML with its pictures, drawings (SVG) and all it needs inside.
 * Every part of lapis_report may be left empty; the page then lacks the section
 * that would show it.  docs/report.md says what the page looks like. */
#ifndef LAPIS_REPORT_H
#define LAPIS_REPORT_H
#include <string.h>

#include "lapis.h"
#include "lapis_image.h"
#include "lapis_locate.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- pictures and what lies over them ------------------------------------
 * Coordinates are pixels of the picture as lapis_locate.h counts them.
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
  double margin; /* larger: the label is contradicted more */
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

  /* samples and their labels, cell by cell as labels.csv has them; the page
   * exports `labels` with the changes that its reader accepted */
  lapis_mat names;       /* TEXT, n: of samples; they become column "name" */
  lapis_mat label_names; /* TEXT, k: the other columns of labels.csv */
  lapis_mat labels;      /* TEXT, k x n: as given, "" where unknown */
  lapis_mat answers;     /* TEXT, k x n: as found */
  lapis_mat class_names; /* TEXT, c */
  lapis_mat scores;      /* c x n */
  lapis_mat held_out;    /* c x n: score that each label got while it was
                            hidden; empty: ROC curves are drawn of scores */
  lapis_mat truth;       /* c x n, or one row of c classes 0 .. c - 1, for
                            ROC curves; NaN: not known, or not to count */
  const lapis_report_suspect *suspect; /* suspects, in the order shown */
  int64_t suspects;

  const lapis_report_picture *picture; /* pictures */
  int64_t pictures;
  lapis_mat points; /* 4 x m: picture, number of the point, x, y; the same
                       number in several pictures is the same point */

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

#ifdef __cplusplus
}
#endif
#endif
