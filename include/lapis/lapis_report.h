/* lapis_report.h - a page that shows what was found: one file, no network.
 *
 * The page is XHTML with its pictures (PNG) and curves (SVG) inside, and the
 * numbers behind the curves as JSON in the element "numbers". */
#ifndef LAPIS_REPORT_H
#define LAPIS_REPORT_H
#include "lapis.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lapis_report { /* empty views are left out of the page */
  size_t size;                /* sizeof(lapis_report) */
  const char *title;
  lapis_mat input;          /* d x n, NaN: missing, drawn in magenta */
  lapis_mat clean, removed; /* d x n: input = clean + removed where seen */
  lapis_mat filled;      /* d x n: input, what was covered taken from clean */
  int64_t height, width; /* of a sample as a picture, rows first; 0: none */
  int64_t first, count;  /* samples that are drawn */
  lapis_mat singular_values; /* 1 x k */
  lapis_mat history;         /* columns x iterations */
  lapis_mat history_columns; /* TEXT row: what a column of history is */
} lapis_report;
LAPIS_API lapis_report lapis_report_defaults(void);
LAPIS_API lapis_status lapis_report_write(lapis_ctx *ctx,
                                          const lapis_report *what,
                                          const char *path);

#ifdef __cplusplus
}
#endif
#endif
