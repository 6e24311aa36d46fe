/* layers.c - what lies over a picture: heat maps, regions, boxes, points. */
#include <math.h>

#include "images/page/page.h"
#include "mat/mat.h"

/* The page's room for all heat maps; a cell is a byte before base64. */
enum { HEAT_BYTES = 2 << 20, HEAT_SIDE = 96, HEAT_LEAST = 12 };
enum { LEVELS = 64, REGION_SIDE = 160, REGION_LEAST = 24, MANY = 10000 };

typedef struct cells { /* a view of width x height numbers, looked at coarsely:
                          cells of step x step of them */
  const lapis_mat *of;
  int64_t width, height;
  double step;
} cells;

static cells cells_of(const lapis_mat *A, int64_t side)
{
  int64_t longer = A->rows > A->cols ? A->rows : A->cols;
  double step = fmax(1, (double)longer / (double)side);
  return (cells){A, (int64_t)ceil((double)A->rows / step),
                 (int64_t)ceil((double)A->cols / step), step};
}

static int64_t cell_begin(const cells *c, int64_t i)
{
  return (int64_t)floor((double)i * c->step);
}

static int64_t cell_end(const cells *c, int64_t i, int64_t size)
{
  int64_t end = (int64_t)floor((double)(i + 1) * c->step);
  return end < size ? end : size;
}

/* ---- heat maps ----------------------------------------------------------*/
/* Mean of what is there; NaN: nothing. */
static double cell_mean(const cells *c, int64_t x, int64_t y)
{
  double sum = 0, known = 0;
  for (int64_t j = cell_begin(c, y); j < cell_end(c, y, c->of->cols); j++)
    for (int64_t i = cell_begin(c, x); i < cell_end(c, x, c->of->rows); i++) {
      double v = lapis_mat_at(c->of, i, j);
      if (!isfinite(v)) continue;
      sum += v;
      known++;
    }
  return known > 0 ? sum / known : NAN;
}

/* Pale yellow and nearly clear to dark red; entry 0 is clear. */
static void fill_palette(unsigned char palette[4 * LEVELS])
{
  static const double stop[][4] = {{255, 237, 160, 40},
                                   {254, 178, 76, 130},
                                   {240, 59, 32, 190},
                                   {150, 0, 38, 225}};
  for (int k = 1; k < LEVELS; k++) {
    double at = 3 * (double)(k - 1) / (LEVELS - 2);
    int s = at >= 3 ? 2 : (int)at;
    for (int c = 0; c < 4; c++)
      palette[4 * k + c] =
          (unsigned char)(stop[s][c] +
                          (at - s) * (stop[s + 1][c] - stop[s][c]));
  }
}

/* mean: width x height, then its levels into level; {low, high} of it. */
static void find_levels(const cells *c, double *mean, unsigned char *level,
                        double range[2])
{
  int64_t n = c->width * c->height;
  range[0] = INFINITY;
  range[1] = -INFINITY;
  for (int64_t k = 0; k < n; k++) {
    mean[k] = cell_mean(c, k % c->width, k / c->width);
    range[0] = fmin(range[0], mean[k]);
    range[1] = fmax(range[1], mean[k]);
  }
  double wide = range[1] - range[0];
  for (int64_t k = 0; k < n; k++) {
    double share = wide > 0 ? (mean[k] - range[0]) / wide : 0.5;
    level[k] = isnan(mean[k]) ? 0 : (unsigned char)(1 + share * (LEVELS - 2));
  }
}

static void put_heat(page *p, const frame *f, int64_t i, int64_t side)
{
  const lapis_report_heat *h = &f->of->heat[i];
  cells c = cells_of(&h->values, side);
  unsigned char palette[4 * LEVELS] = {0};
  double range[2], *mean = base_alloc(p->ctx, c.width * c.height, sizeof *mean);
  unsigned char *level = base_alloc(p->ctx, c.width * c.height, 1);
  if (mean == NULL || level == NULL) {
    p->status = LAPIS_ENOMEM;
  } else {
    find_levels(&c, mean, level, range);
    fill_palette(palette);
    page_print(p,
               "<image class=\"heat k%" PRId64
               "%s\" width=\"%g\" height=\"%g\" "
               "preserveAspectRatio=\"none\" href=\"",
               h->of_class, i == 0 ? " first" : "", f->width, f->height);
    page_png(p, &(image_raster){c.height, c.width, level, palette, LEVELS});
    page_words(p, "\"/>\n");
  }
  base_free(mean);
  base_free(level);
}

int64_t layer_heat_bytes(const lapis_report *w)
{
  int64_t heats = 0;
  for (int64_t i = 0; i < w->pictures; i++) heats += w->picture[i].heats;
  return heats > 0 ? HEAT_BYTES / heats : HEAT_BYTES;
}

void layer_heat(page *p, const frame *f, int64_t most)
{
  double side = fmin(fmax(sqrt((double)most), HEAT_LEAST), HEAT_SIDE);
  for (int64_t i = 0; i < f->of->heats; i++)
    if (!mat_empty(&f->of->heat[i].values)) put_heat(p, f, i, (int64_t)side);
}

/* ---- regions ------------------------------------------------------------*/
/* The middle of each cell decides. */
static lapis_status mask_new(lapis_ctx *ctx, const lapis_mat *A, int64_t side,
                             mask *m)
{
  cells c = cells_of(A, side);
  *m = (mask){c.width, c.height, NULL};
  m->of = base_alloc(ctx, m->width * m->height, sizeof *m->of);
  if (m->of == NULL) return LAPIS_ENOMEM;
  for (int64_t y = 0; y < m->height; y++)
    for (int64_t x = 0; x < m->width; x++) {
      int64_t i = (cell_begin(&c, x) + cell_end(&c, x, A->rows)) / 2;
      int64_t j = (cell_begin(&c, y) + cell_end(&c, y, A->cols)) / 2;
      double v = lapis_mat_at(A, i, j);
      m->of[y * m->width + x] = v >= 0 && v < MANY ? (int64_t)v : -1;
    }
  return LAPIS_OK;
}

/* The next class after `last` that the mask holds, or -1. */
static int64_t next_class(const mask *m, int64_t last)
{
  int64_t best = -1;
  for (int64_t k = 0; k < m->width * m->height; k++)
    if (m->of[k] > last && (best < 0 || m->of[k] < best)) best = m->of[k];
  return best;
}

static void put_regions(page *p, const frame *f, const mask *m)
{
  page_print(p, "<g class=\"regions\" transform=\"scale(%.5g %.5g)\">\n",
             f->width / (double)m->width, f->height / (double)m->height);
  for (int64_t c = -1; (c = next_class(m, c)) >= 0;) {
    page_print(p, "<path class=\"k%" PRId64 " c%d\" d=\"", c,
               (int)(c % COLOURS));
    page_outline(p, m, c);
    page_words(p, "\"/>\n");
  }
  page_words(p, "</g>\n");
}

void layer_regions(page *p, const frame *f, int64_t most)
{
  int64_t before = p->used;
  if (mat_empty(&f->of->regions)) return;
  for (int64_t side = REGION_SIDE; p->status >= 0; side = side * 3 / 4) {
    mask m;
    lapis_status s = mask_new(p->ctx, &f->of->regions, side, &m);
    p->used = before;
    if (s >= 0) put_regions(p, f, &m);
    base_free(m.of);
    if (s < 0) p->status = s;
    if (p->used - before <= most || side <= REGION_LEAST) return;
  }
}

/* ---- boxes and points ---------------------------------------------------*/
/* Where the text of a box stands: above it, below it, or, where the picture has
 * no room there, inside. */
static double line_of(const frame *f, const lapis_box *b, double size)
{
  double below = b->y + b->height + size;
  if (b->y > size * 1.2) return b->y - size * 0.3;
  return below + size * 0.3 < f->height ? below : fmax(b->y, 0) + size * 1.1;
}

static void put_box(page *p, const frame *f, const lapis_report_box *b)
{
  double size = fmax(f->width, f->height) / 20, y = line_of(f, &b->at, size);
  page_print(p, "<g class=\"box%s k%" PRId64 " c%d\">",
             b->given ? " given" : "", b->of_class,
             (int)(b->of_class < 0 ? 0 : b->of_class % COLOURS));
  for (int i = 0; i < 2; i++) /* a dark casing below, the colour above */
    page_print(p,
               "<rect class=\"%s\" x=\"%g\" y=\"%g\" width=\"%g\" "
               "height=\"%g\"/>",
               i == 0 ? "casing" : "edge", b->at.x, b->at.y, b->at.width,
               b->at.height);
  if (b->text != NULL || !isnan(b->at.score)) {
    page_print(p, "<text x=\"%g\" y=\"%g\" font-size=\"%g\">", b->at.x, y,
               size);
    page_escape(p, b->text);
    if (!isnan(b->at.score)) page_print(p, " %.3g", b->at.score);
    page_words(p, "</text>");
  }
  page_words(p, "</g>\n");
}

void layer_boxes(page *p, const frame *f)
{
  if (f->of->boxes == 0) return;
  page_words(p, "<g class=\"boxes\">\n");
  for (int64_t i = 0; i < f->of->boxes; i++) put_box(p, f, &f->of->box[i]);
  page_words(p, "</g>\n");
}

/* Colours, each with three kinds of edges: points that stand side by side have
 * marks of their own. */
enum { MARKS = 3 * COLOURS, NUMBERED = 60 };

static int64_t count_points(const frame *f)
{
  const lapis_mat *P = &f->w->points;
  int64_t n = 0;
  for (int64_t j = 0; !mat_empty(P) && j < P->cols; j++)
    n += lapis_mat_at(P, 0, j) == (double)f->index;
  return n;
}

/* A point's name, or its number. */
static void point_name(page *p, const lapis_report *w, int64_t id)
{
  if (id >= 0 && id < w->point_names.cols)
    page_escape(p, page_text_at(&w->point_names, 0, id));
  else
    page_print(p, "%" PRId64, id);
}

void layer_points(page *p, const frame *f)
{
  const lapis_mat *P = &f->w->points;
  int64_t count = count_points(f);
  bool numbered = count <= NUMBERED; /* more would hide the picture */
  if (count == 0) return;
  page_words(p, "<g class=\"points\">\n");
  for (int64_t j = 0; j < P->cols; j++) {
    if (lapis_mat_at(P, 0, j) != (double)f->index) continue;
    int64_t id = (int64_t)lapis_mat_at(P, 1, j);
    int mark = (int)(((id % MARKS) + MARKS) % MARKS);
    double x = lapis_mat_at(P, 2, j), y = lapis_mat_at(P, 3, j);
    double r = fmax(f->width, f->height) / 70;
    page_print(p,
               "<circle class=\"c%d f%d\" data-p=\"%" PRId64 "\" cx=\"%.5g\" "
               "cy=\"%.5g\" r=\"%.3g\" data-name=\"",
               mark % COLOURS, mark / COLOURS, id, x, y, r);
    point_name(p, f->w, id);
    page_words(p, "\"/>\n");
    if (!numbered) continue;
    page_print(p, "<text x=\"%.5g\" y=\"%.5g\" font-size=\"%.3g\">",
               x + 1.2 * r, y - .6 * r, 2.2 * r);
    point_name(p, f->w, id);
    page_words(p, "</text>\n");
  }
  page_words(p, "</g>\n");
}

/* ---- in words -----------------------------------------------------------*/
static void box_words(page *p, const frame *f, const lapis_report_box *b)
{
  page_words(p, b->given ? "; given box" : "; box");
  if (b->text != NULL) {
    page_words(p, " ");
    page_escape(p, b->text);
  } else if (b->of_class >= 0) {
    page_words(p, " ");
    page_class_name(p, f->w, b->of_class);
  }
  page_print(p, " at %g, %g, %g wide, %g high", b->at.x, b->at.y, b->at.width,
             b->at.height);
}

static void region_words(page *p, const frame *f, bool names)
{
  const char *before = "; regions: ";
  mask m;
  if (mat_empty(&f->of->regions)) return;
  lapis_status s = mask_new(p->ctx, &f->of->regions, REGION_SIDE, &m);
  if (s < 0) p->status = s;
  for (int64_t c = -1; s >= 0 && (c = next_class(&m, c)) >= 0; before = ", ") {
    if (!names) {
      page_print(p, " k%" PRId64, c);
      continue;
    }
    page_words(p, before);
    page_class_name(p, f->w, c);
  }
  base_free(m.of);
}

void layer_classes(page *p, const frame *f)
{
  for (int64_t i = 0; i < f->of->boxes; i++)
    page_print(p, " k%" PRId64, f->of->box[i].of_class);
  for (int64_t i = 0; i < f->of->heats; i++)
    page_print(p, " k%" PRId64, f->of->heat[i].of_class);
  region_words(p, f, false);
}

void layer_words(page *p, const frame *f)
{
  int64_t points = count_points(f);
  for (int64_t i = 0; i < f->of->boxes; i++) box_words(p, f, &f->of->box[i]);
  for (int64_t i = 0; i < f->of->heats; i++) {
    page_words(p, "; heat map of ");
    page_class_name(p, f->w, f->of->heat[i].of_class);
  }
  region_words(p, f, true);
  if (points > 0) page_print(p, "; %" PRId64 " points", points);
}
