/* report.h - the parts of lapis report. */
#ifndef LAPIS_CLI_REPORT_H
#define LAPIS_CLI_REPORT_H
#include "command/command.h"
#include "command/run/page_rows.h"
#include "lapis/images.h"

enum { REPORT_TITLE = 256 };
typedef struct report_values { /* distinct values of labels, rising */
  int64_t count;
  double *value;
  const char **text;
  char *room; /* behind those texts that are numbers */
} report_values;
void report_values_free(report_values *v);

/* What the page needs and the result does not hold; zeroed at first, released
 * by report_parts_free. */
typedef struct report_parts {
  lapis_arrays all;       /* the result */
  lapis_dataset *data;    /* --data, or NULL */
  lapis_dataset *truth;   /* --truth, or NULL: Y */
  double *input, *values; /* of samples taken apart */
  lapis_array files;      /* --images */
  lapis_report_picture *picture;
  lapis_report_box *box; /* one a picture */
  double *points;        /* 4 x m */
  double *codes;         /* truth as numbers of classes */
  report_values kinds;   /* of labels */
  lapis_report_suspect *suspect;
  const char **label_names, **class_names, **labels, **answers;
  const char **names; /* of samples, where they are those of files */
  char *texts;        /* behind label_names */
  page_rows *settings, *facts;
  lapis_sheet_column *column; /* of the table of answers */
  char (*titles)[REPORT_TITLE];
  double *numbers; /* of rows without names */
  lapis_json *run; /* --run */
} report_parts;
void report_parts_free(report_parts *own);

/* A member of doubles, or an empty view; of any numbers. */
lapis_mat report_member(const report_parts *own, const char *name);
lapis_mat report_numbers(const report_parts *own, const char *name);
/* report_labels.c: labels given and found, suspects, scores and truth. */
int report_labels(cli *c, report_parts *own, lapis_report *r);
/* report_pictures.c: image files, matches. */
int report_pictures(cli *c, report_parts *own, lapis_report *r);

/* report_answers.c: the answers as a table, where no pictures show them. */
int report_answers(report_parts *own, lapis_report *r);
/* report_run.c: settings and figures of --run. */
int report_run(cli *c, report_parts *own, lapis_report *r);

#endif
