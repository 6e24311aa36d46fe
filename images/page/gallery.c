/* gallery.c - pictures, what lies over them, and what they are said to show.
 *
 * Each picture is one drawing in its own pixels: the image, shrunk to its share
 * of the page's size, and the layers above it.  Which layers are seen is
 * decided by check boxes and the style sheet alone. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "images/image/image.h"
#include "images/page/page.h"
#include "mat/mat.h"

/* The page's room: for the files of all images, for the borders of regions. */
enum { IMAGE_BYTES = 14 << 20, REGION_BYTES = 3 << 20, IMAGE_SIDE = 640 };
enum { BEST_SCORES = 3, FRAME_WIDTH = 320, FRAME_HEIGHT = 240 };
enum { DRAWN = 60 }; /* pictures that are drawn at once */

static bool has_gallery(const lapis_report *w)
{
  return w->pictures > 0;
}

/* ---- labels -------------------------------------------------------------*/
/* One column: its text.  Several: the names of those that are 1. */
static void put_cells(page *p, const lapis_report *w, const lapis_mat *A,
                      int64_t j)
{
  bool known = false, any = false;
  for (int64_t c = 0; c < A->rows; c++) {
    const char *text = page_text_at(A, c, j);
    if (text[0] == '\0') continue;
    known = true;
    if (A->rows > 1 && strcmp(text, "0") == 0) continue;
    if (any) page_words(p, ", ");
    any = true;
    if (A->rows > 1) page_escape(p, page_text_at(&w->label_names, 0, c));
    if (A->rows > 1 && strcmp(text, "1") == 0) continue;
    if (A->rows > 1) page_words(p, " ");
    page_escape(p, text);
  }
  if (!any) page_words(p, known ? "none" : "unknown");
}

/* Where both what was given and what was found are known. */
page_origins page_origin(const lapis_report *w, int64_t sample)
{
  int64_t given = 0, rows = w->labels.rows;
  if (mat_empty(&w->labels) || mat_empty(&w->answers)) return ORIGIN_UNKNOWN;
  for (int64_t c = 0; c < rows; c++)
    given += page_text_at(&w->labels, c, sample)[0] != '\0';
  if (given == 0) return ORIGIN_FILLED;
  return given == rows ? ORIGIN_GIVEN : ORIGIN_PARTLY;
}

static bool is_doubted(const lapis_report *w, int64_t sample)
{
  for (int64_t k = 0; k < w->suspects; k++)
    if (w->suspect[k].sample == sample) return true;
  return false;
}

static bool labels_differ(const lapis_report *w, int64_t j)
{
  if (mat_empty(&w->labels) || mat_empty(&w->answers)) return false;
  for (int64_t c = 0; c < w->labels.rows; c++) {
    const char *a = page_text_at(&w->labels, c, j);
    const char *b = page_text_at(&w->answers, c, j);
    if (a[0] != '\0' && b[0] != '\0' && strcmp(a, b) != 0) return true;
  }
  return false;
}

void page_labels(page *p, const lapis_report *w, int64_t sample)
{
  bool given = !mat_empty(&w->labels), found = !mat_empty(&w->answers);
  page_origins origin = page_origin(w, sample);
  bool filled = origin == ORIGIN_FILLED;
  if (origin == ORIGIN_GIVEN && !labels_differ(w, sample)) found = false;
  if (given && !filled) page_words(p, "given: ");
  if (given && !filled) put_cells(p, w, &w->labels, sample);
  if (given && found && !filled) page_words(p, "; ");
  if (found) page_words(p, filled ? "filled in: " : "found: ");
  if (found) put_cells(p, w, &w->answers, sample);
}

/* The best class below (score, class) of the one before; -1: none. */
static int64_t next_best(const lapis_report *w, int64_t j, int64_t before)
{
  int64_t best = -1;
  for (int64_t c = 0; c < w->scores.rows; c++) {
    double v = lapis_mat_at(&w->scores, c, j);
    if (!isfinite(v) || c == before) continue;
    if (before >= 0) {
      double last = lapis_mat_at(&w->scores, before, j);
      if (v > last || (v == last && c < before)) continue;
    }
    if (best < 0 || v > lapis_mat_at(&w->scores, best, j)) best = c;
  }
  return best;
}

static void put_scores(page *p, const lapis_report *w, int64_t j)
{
  if (mat_empty(&w->scores)) return;
  int64_t c = next_best(w, j, -1);
  page_words(p, "<p class=\"quiet\">");
  page_words(p, w->scores.rows == 1 ? "score of " : "scores: ");
  for (int k = 0; k < BEST_SCORES && c >= 0; k++, c = next_best(w, j, c)) {
    if (k > 0) page_words(p, " \xc2\xb7 ");
    page_class_name(p, w, c);
    page_print(p, " %.3g", lapis_mat_at(&w->scores, c, j));
  }
  page_words(p, "</p>\n");
}

/* ---- one picture --------------------------------------------------------*/
/* Far enough for what lies over it. */
static void frame_alone(frame *f)
{
  const lapis_report_picture *of = f->of;
  const lapis_mat *P = &f->w->points;
  f->width = (double)of->width;
  f->height = (double)of->height;
  if (of->width > 0 && of->height > 0) return;
  for (int64_t i = 0; i < of->boxes; i++) {
    f->width = fmax(f->width, of->box[i].at.x + of->box[i].at.width);
    f->height = fmax(f->height, of->box[i].at.y + of->box[i].at.height);
  }
  for (int64_t j = 0; !mat_empty(P) && j < P->cols; j++) {
    if (lapis_mat_at(P, 0, j) != (double)f->index) continue;
    f->width = fmax(f->width, lapis_mat_at(P, 2, j) * 1.05);
    f->height = fmax(f->height, lapis_mat_at(P, 3, j) * 1.05);
  }
  if (f->width <= 0) f->width = FRAME_WIDTH;
  if (f->height <= 0) f->height = FRAME_HEIGHT;
}

/* The image's small copy; without one only the frame. */
static lapis_status take_image(lapis_ctx *ctx, frame *f, int64_t most,
                               image_shown *out)
{
  const lapis_report_picture *of = f->of;
  lapis_image read = {.width = 0};
  const lapis_image *image = of->image;
  *out = (image_shown){.width = 0};
  frame_alone(f);
  if (image == NULL && of->path == NULL) return LAPIS_OK;
  if (image == NULL) {
    lapis_status s = lapis_image_read(ctx, of->path, &read);
    if (s == LAPIS_ENOMEM) return s;
    if (s < 0) base_say(ctx, 0, "%s", lapis_ctx_error(ctx));
    if (s < 0) return LAPIS_OK;
    image = &read;
  }
  if (of->width == 0 || of->height == 0) {
    f->width = (double)image->width;
    f->height = (double)image->height;
  }
  lapis_status s = image_preview(ctx, image, IMAGE_SIDE, most, out);
  lapis_image_free(&read);
  if (s != LAPIS_ENOTBUILT) return s;
  if (f->index == 0) base_say(ctx, 0, "%s", lapis_ctx_error(ctx));
  return LAPIS_OK;
}

/* A symbol, so that labels in doubt and followed points can show it too. */
static void put_image(page *p, const frame *f, const image_shown *image)
{
  page_print(p,
             "<symbol id=\"p%" PRId64 "\" viewBox=\"0 0 %g %g\">"
             "<rect class=\"frame\" width=\"%g\" height=\"%g\"/>",
             f->index, f->width, f->height, f->width, f->height);
  if (image->bytes != NULL) {
    page_print(p,
               "<image%s preserveAspectRatio=\"none\" width=\"%g\" "
               "height=\"%g\" href=\"data:%s;base64,",
               f->width < FRAME_WIDTH ? " class=\"small\"" : "", f->width,
               f->height, image->type);
    page_base64(p, image->bytes, (int64_t)image->size);
    page_words(p, "\"/>");
  }
  page_print(p,
             "</symbol>\n<use href=\"#p%" PRId64
             "\" width=\"%g\" height=\"%g\"/>\n",
             f->index, f->width, f->height);
}

static void put_caption(page *p, const frame *f)
{
  int64_t j = f->of->sample;
  page_words(p, "<figcaption><strong>");
  page_sample_name(p, f->w, j);
  page_words(p, "</strong>\n");
  if (!mat_empty(&f->w->labels) || !mat_empty(&f->w->answers)) {
    page_words(p, "<p class=\"labels\">");
    page_labels(p, f->w, j);
    page_words(p, "</p>\n");
  }
  put_scores(p, f->w, j);
  if (f->of->note != NULL) page_element(p, "p class=\"quiet\"", f->of->note);
  page_words(p, "</figcaption>\n");
}

static void put_figure(page *p, const frame *f, const image_shown *image)
{
  static const char *const origin[] = {"", " given", " filled",
                                       " given filled"};
  page_print(p, "<figure id=\"i%" PRId64 "\" class=\"shot%s%s%s", f->index,
             labels_differ(f->w, f->of->sample) ? " differs" : "",
             origin[page_origin(f->w, f->of->sample)],
             is_doubted(f->w, f->of->sample) ? " doubted" : "");
  layer_classes(p, f);
  page_print(p,
             "\">\n<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g "
             "%g\" role=\"img\" aria-label=\"",
             f->width, f->height);
  page_sample_name(p, f->w, f->of->sample);
  layer_words(p, f);
  page_words(p, "\">\n");
  put_image(p, f, image);
  layer_heat(p, f, layer_heat_bytes(f->w));
  layer_regions(p, f, REGION_BYTES / f->w->pictures);
  layer_boxes(p, f);
  layer_points(p, f);
  page_words(p, "</svg>\n");
  put_caption(p, f);
  page_words(p, "</figure>\n");
}

static int64_t image_bytes(const lapis_report *w)
{
  int64_t files = 0;
  for (int64_t i = 0; i < w->pictures; i++)
    files += w->picture[i].image != NULL || w->picture[i].path != NULL;
  return IMAGE_BYTES / (files > 0 ? files : 1);
}

/* ---- what is switched on and off ----------------------------------------*/
typedef struct layers { /* that some picture has */
  bool boxes, heat, regions, points, classes, differs;
  int64_t given, filled, doubted; /* pictures */
} layers;

static layers find_layers(const lapis_report *w)
{
  layers l = {.points = !mat_empty(&w->points)};
  for (int64_t i = 0; i < w->pictures; i++) {
    const lapis_report_picture *of = &w->picture[i];
    l.boxes |= of->boxes > 0;
    l.heat |= of->heats > 0;
    l.regions |= !mat_empty(&of->regions);
    l.differs |= labels_differ(w, of->sample);
    page_origins origin = page_origin(w, of->sample);
    l.given += origin == ORIGIN_GIVEN || origin == ORIGIN_PARTLY;
    l.filled += origin == ORIGIN_FILLED || origin == ORIGIN_PARTLY;
    l.doubted += is_doubted(w, of->sample);
    for (int64_t b = 0; b < of->boxes; b++)
      l.classes |= of->box[b].of_class >= 0;
  }
  l.classes = (l.classes || l.heat || l.regions) && w->class_names.cols > 1;
  return l;
}

static void put_switch(page *p, const char *id, const char *text, bool on)
{
  page_print(p, "<label><input type=\"checkbox\" id=\"%s\"%s/> %s</label>\n",
             id, on ? " checked=\"checked\"" : "", text);
}

static void put_choice(page *p, const char *group, const char *id, bool on)
{
  page_print(p, "<label><input type=\"radio\" name=\"%s\" id=\"%s\"%s/> ",
             group, id, on ? " checked=\"checked\"" : "");
}

/* One class at a time. */
static void put_class_style(page *p, const lapis_report *w)
{
  bool any = find_layers(w).classes;
  for (int64_t c = 0; any && c < w->class_names.cols; c++)
    page_print(p,
               "body:has(#only-%" PRId64 ":checked) :is(.shot,.heat,.regions "
               "path,.box):not(.k%" PRId64 "){display:none}\n"
               "body:has(#only-%" PRId64 ":checked) .heat.k%" PRId64
               "{display:inline}\n",
               c, c, c, c);
}

static void put_class_choice(page *p, const lapis_report *w)
{
  char id[32];
  page_words(p, "<fieldset><legend>Class</legend>\n");
  put_choice(p, "class", "kall", true);
  page_words(p, "all</label>\n");
  for (int64_t c = 0; c < w->class_names.cols; c++) {
    (void)snprintf(id, sizeof id, "only-%" PRId64, c);
    put_choice(p, "class", id, false);
    page_print(p, "<span class=\"swatch c%d\"></span>", (int)(c % COLOURS));
    page_class_name(p, w, c);
    page_words(p, "</label>\n");
  }
  page_words(p, "</fieldset>\n");
}

/* All pictures, or those whose labels came in one way. */
static void put_origins(page *p, const layers *l)
{
  page_words(p, "<fieldset><legend>Labels</legend>\n");
  put_choice(p, "origin", "origin-all", true);
  page_words(p, "all</label>\n");
  if (l->doubted > 0) {
    put_choice(p, "origin", "origin-doubted", false);
    page_print(p, "in doubt (%" PRId64 ")</label>\n", l->doubted);
  }
  put_choice(p, "origin", "origin-filled", false);
  page_print(p, "filled in (%" PRId64 ")</label>\n", l->filled);
  put_choice(p, "origin", "origin-given", false);
  page_print(p, "given (%" PRId64 ")</label>\n</fieldset>\n", l->given);
}

static void put_sizes(page *p)
{
  static const char *const size[] = {"small", "medium", "large"};
  page_words(p, "<fieldset><legend>Size</legend>\n");
  for (int i = 0; i < 3; i++) {
    put_choice(p, "size", size[i], i == 1);
    page_print(p, "%s</label>\n", size[i]);
  }
  page_words(p, "</fieldset>\n");
}

static void put_tools(page *p, const lapis_report *w)
{
  layers l = find_layers(w);
  page_words(p, "<div class=\"tools\">\n<fieldset><legend>Show</legend>\n");
  if (l.boxes) put_switch(p, "show-boxes", "boxes", true);
  if (l.regions) put_switch(p, "show-regions", "regions", true);
  if (l.heat) put_switch(p, "show-heat", "heat maps", !l.boxes && !l.regions);
  if (l.points) put_switch(p, "show-points", "points", true);
  put_switch(p, "show-captions", "captions", true);
  if (l.differs)
    put_switch(p, "only-differs", "only where given and found differ", false);
  page_words(p, "</fieldset>\n");
  if (l.classes) put_class_choice(p, w);
  if (l.filled > 0 && l.given > 0) put_origins(p, &l);
  put_sizes(p);
  page_words(p,
             "<label class=\"script\">Name or label has <input type=\"search\" "
             "id=\"find\"/></label>\n</div>\n");
  if (l.heat)
    page_words(p, "<p class=\"quiet\">Heat: each map from its lowest value "
                  "(clear) to its highest (dark red).</p>\n");
}

static void put_follow(page *p, const lapis_report *w)
{
  if (mat_empty(&w->points)) return;
  page_words(
      p, "<div id=\"follow\" class=\"script\" role=\"group\" "
         "aria-label=\"Follow a point\">\n<div class=\"tools\">"
         "<button type=\"button\" id=\"back\" aria-label=\"Previous "
         "point\">\xe2\x97\x80</button>\n<label>Point <input type=\"number\" "
         "id=\"point\"/></label>\n<button type=\"button\" id=\"next\" "
         "aria-label=\"Next point\">\xe2\x96\xb6</button>\n"
         "<button type=\"button\" id=\"leave\">All points</button>\n"
         "<span id=\"where\" role=\"status\">Point at one, or tap it, to "
         "follow it through all pictures.</span></div>\n"
         "<div id=\"patches\"></div></div>\n");
}

static void put_gallery(page *p, const lapis_report *w)
{
  put_tools(p, w);
  put_follow(p, w);
  page_words(p, "<div class=\"gallery\">\n");
  for (int64_t i = 0; i < w->pictures && p->status >= 0; i++) {
    /* what a browser with a script does not read before it is looked at */
    bool later = i >= DRAWN && mat_empty(&w->points);
    if (later && i % DRAWN == 0) page_words(p, "<noscript>\n");
    frame f = {.w = w, .index = i, .of = &w->picture[i]};
    image_shown image;
    lapis_status s = take_image(p->ctx, &f, image_bytes(w), &image);
    if (s >= 0) put_figure(p, &f, &image);
    if (s < 0) p->status = s;
    preview_free(&image);
    if (later && (i % DRAWN == DRAWN - 1 || i + 1 == w->pictures))
      page_words(p, "</noscript>\n");
  }
  page_words(p, "</div>\n");
}

const page_view view_gallery = {.id = "pictures",
                                .title = "Pictures",
                                .has = has_gallery,
                                .put = put_gallery,
                                .style = put_class_style};
