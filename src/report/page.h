/* page.h - the text of a page while it grows, pictures and charts in it. */
#ifndef LAPIS_PAGE_H
#define LAPIS_PAGE_H
#include "base/base.h"

/* Appending never fails at once: the first failure is kept, and later calls do
 * nothing. */
typedef struct page {
  lapis_ctx *ctx;
  char *text;
  int64_t used, room;
  lapis_status status;
} page;
void page_free(page *p);
void page_print(page *p, const char *format, ...) LAPIS_PRINTF(2, 3);
void page_bytes(page *p, const char *bytes, int64_t size);
/* Text as XML has it; characters that XML cannot hold are left out. */
void page_escape(page *p, const char *text);
void page_base64(page *p, const unsigned char *bytes, int64_t size);

/* ---- png.c --------------------------------------------------------------*/
/* <img/> of height x width pixels, 3 bytes each, rows from the top. */
void page_picture(page *p, const unsigned char *rgb, int64_t height,
                  int64_t width, const char *alt);

/* ---- chart.c ------------------------------------------------------------*/
enum { CHART_LINES = 4 };
typedef struct chart {
  const char *title, *x_name;
  int n_lines;
  const char *name[CHART_LINES];
  const double *y[CHART_LINES]; /* n values each, stride apart; drawn where
                                   finite and above 0 */
  int64_t n, stride;
  double x0, step; /* x of the first value, and from one to the next */
} chart;
/* <figure> with a logarithmic y axis. */
void page_chart(page *p, const chart *c);

#endif
