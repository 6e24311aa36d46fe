/* page.h - the text of a page while it grows, and the views that make it. */
#ifndef LAPIS_PAGE_H
#define LAPIS_PAGE_H
#include "base/base.h"
#include "images/image/image.h"
#include "lapis/images.h"

/* Appending never fails at once: the first failure is kept, and later calls do
 * nothing. */
typedef struct page {
  lapis_ctx *ctx;
  char *text;
  int64_t used, room;
  lapis_status status;
  int64_t folder; /* bytes of the folder that all samples' names begin with */
} page;
void page_free(page *p);
void page_print(page *p, const char *format, ...) LAPIS_PRINTF(2, 3);
void page_bytes(page *p, const char *bytes, int64_t size);
void page_words(page *p, const char *text); /* text as it is */
/* Text escaped for XML; a character that XML cannot hold becomes U+FFFD.
 * NULL: nothing. */
void page_escape(page *p, const char *text);
void page_escape_part(page *p, const char *text, size_t bytes);
/* Text as a JSON string, without any character that XML or HTML would have to
 * escape. */
void page_json_text(page *p, const char *text);
void page_base64(page *p, const unsigned char *bytes, int64_t size);
/* <NAME>text</NAME>; name may have attributes. */
void page_element(page *p, const char *name, const char *text);
/* Begins a table of that class in a part that scrolls sideways, by keys, too;
 * label: what a screen reader calls it.  It ends in </table></div>. */
void page_wide_table(page *p, const char *label, const char *class_);

/* Entry (i, j) of a TEXT view; NULL: the view is empty. */
const char *page_text_at(const lapis_mat *A, int64_t i, int64_t j);
/* The name of class c; where it has none, words of our own. */
void page_class_name(page *p, const lapis_report *w, int64_t c);
/* Sets p->folder, with the last '/' counted. */
void page_find_folder(page *p, const lapis_report *w);
/* A sample's name without the folder that all share. */
void page_sample_name(page *p, const lapis_report *w, int64_t j);

/* digest.c: 'sha256-...', as a policy names a script or a style sheet. */
void page_digest(page *p, const char *text, int64_t size);

/* ---- page.css, page.js --------------------------------------------------*/
extern const unsigned char page_style[], page_script[];
extern const int64_t page_style_size, page_script_size;

/* data:image/png;base64,..., or no picture where libpng is not built in. */
void page_png(page *p, const image_raster *r);

/* ---- chart.c ------------------------------------------------------------*/
enum { CHART_LINES = 4 };
typedef struct chart {
  const char *title, *x_name;
  int n_lines;
  const char *name[CHART_LINES];
  const double *y[CHART_LINES]; /* n values each, stride apart; a value is drawn
                                   if finite and above 0 */
  int64_t n, stride;
  double x0, step; /* x of the first value, and from one to the next */
} chart;
/* <figure> with a logarithmic y axis. */
void page_chart(page *p, const chart *c);

/* ---- check.c ------------------------------------------------------------*/
lapis_status page_check(lapis_ctx *ctx, const lapis_report *w);

/* candidates.c: a fact of the page, the accuracy of who answers, where that is
 * known. */
bool page_expects(const lapis_report *w);
void page_expected(page *p, const lapis_report *w);

/* ---- views: sections of the page ----------------------------------------
 * has: whether there is something to show; put: shows it; style: rules of its
 * own, or NULL. */
typedef struct page_view {
  const char *id, *title;
  bool (*has)(const lapis_report *w);
  void (*put)(page *p, const lapis_report *w);
  void (*style)(page *p, const lapis_report *w);
} page_view;
extern const page_view view_sheet, view_suspects, view_gallery, view_roc,
    view_samples, view_classes, view_curves, view_run, view_sure,
    view_candidates, view_cells, view_importance;

/* samples.c: column j of A as a grey picture, w->height x w->width. */
void page_sample(page *p, const lapis_report *w, const lapis_mat *A, int64_t j,
                 double low, double high, const char *alt);
/* doubts.c: the picture of a sample, small, where the page has it. */
void page_thumbnail(page *p, const lapis_report *w, int64_t sample);

/* ---- gallery.c, layers.c ------------------------------------------------*/
enum { COLOURS = 8 }; /* shared in turn by classes and points: .c0 .. .c7 */
/* "given: a; found: b", or nothing. */
void page_labels(page *p, const lapis_report *w, int64_t sample);
typedef enum page_origins {
  ORIGIN_UNKNOWN,
  ORIGIN_GIVEN,
  ORIGIN_FILLED,
  ORIGIN_PARTLY
} page_origins;
page_origins page_origin(const lapis_report *w, int64_t sample);
typedef struct frame { /* a picture as it is drawn */
  const lapis_report *w;
  int64_t index; /* of the picture */
  const lapis_report_picture *of;
  double width, height;
} frame;
int64_t layer_heat_bytes(const lapis_report *w); /* for each heat map */
void layer_heat(page *p, const frame *f, int64_t most);
void layer_regions(page *p, const frame *f, int64_t most);
void layer_boxes(page *p, const frame *f);
void layer_points(page *p, const frame *f);
/* " k0 k3": the classes drawn over the picture. */
void layer_classes(page *p, const frame *f);
/* What is drawn over the picture, in words, for those who cannot see it. */
void layer_words(page *p, const frame *f);

/* ---- border.c ----------------------------------------------------------*/
typedef struct mask { /* width x height cells, rows from the top */
  int64_t width, height;
  int64_t *of; /* class of a cell */
} mask;
/* The attribute d of an SVG path around the cells of a class; a cell is one
 * unit wide. */
void page_outline(page *p, const mask *m, int64_t of_class);

#endif
