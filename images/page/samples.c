/* samples.c - samples taken apart: input = clean + removed, as pictures. */
#include <math.h>
#include <stdio.h>

#include "images/page/page.h"
#include "mat/mat.h"

typedef struct scale {
  double low, high, most; /* of what is seen; largest |removed| */
} scale;

static void widen(const lapis_mat *A, int64_t j, scale *s)
{
  for (int64_t i = 0; !mat_empty(A) && i < A->rows; i++) {
    double v = lapis_mat_at(A, i, j);
    s->low = fmin(s->low, v); /* NaN is ignored */
    s->high = fmax(s->high, v);
  }
}

static scale find_scale(const lapis_report *w, int64_t first, int64_t end)
{
  scale s = {INFINITY, -INFINITY, 0};
  for (int64_t j = first; j < end; j++) {
    widen(&w->input, j, &s);
    widen(&w->clean, j, &s);
    for (int64_t i = 0; !mat_empty(&w->removed) && i < w->removed.rows; i++)
      s.most = fmax(s.most, fabs(lapis_mat_at(&w->removed, i, j)));
  }
  return s;
}

static unsigned char level(double share)
{
  return (unsigned char)(255 * fmin(fmax(share, 0), 1) + 0.5);
}

/* Grey from the lowest to the highest; magenta where nothing was seen. */
static void grey(double v, const scale *s, unsigned char rgb[3])
{
  double wide = s->high - s->low;
  unsigned char g = level(wide > 0 ? (v - s->low) / wide : 0.5);
  rgb[0] = rgb[2] = isnan(v) ? 255 : g;
  rgb[1] = isnan(v) ? 0 : g;
}

/* White is nothing; red too high in the input, blue too low. */
static void signed_colour(double v, const scale *s, unsigned char rgb[3])
{
  double share = s->most > 0 ? v / s->most : 0;
  rgb[0] = level(1 + fmin(share, 0));
  rgb[1] = level(1 - fabs(share));
  rgb[2] = level(1 - fmax(share, 0));
}

typedef void (*colour_fn)(double v, const scale *s, unsigned char rgb[3]);

static void draw_picture(page *p, const lapis_report *w, const lapis_mat *A,
                         int64_t j, const scale *s, colour_fn colour,
                         const char *alt)
{
  unsigned char *rgb = base_alloc_raw(p->ctx, 3 * A->rows, 1);
  if (rgb == NULL) {
    p->status = LAPIS_ENOMEM;
    return;
  }
  for (int64_t i = 0; i < A->rows; i++)
    colour(lapis_mat_at(A, i, j), s, rgb + 3 * i);
  int64_t zoom = 1 + 95 / w->width;
  page_print(
      p, "<img width=\"%" PRId64 "\" height=\"%" PRId64 "\" alt=\"%s\" src=\"",
      w->width * zoom, w->height * zoom, alt);
  image_raster r = {.height = w->height, .width = w->width, .pixels = rgb};
  page_png(p, &r);
  page_words(p, "\"/>");
  base_free(rgb);
}

void page_sample(page *p, const lapis_report *w, const lapis_mat *A, int64_t j,
                 double low, double high, const char *alt)
{
  draw_picture(p, w, A, j, &(scale){low, high, 0}, grey, alt);
}

static void draw(page *p, const lapis_report *w, const lapis_mat *A, int64_t j,
                 const scale *s, colour_fn colour, const char *what)
{
  char alt[80];
  snprintf(alt, sizeof alt, "%s, sample %" PRId64, what, j + 1);
  page_words(p, "<td>");
  draw_picture(p, w, A, j, s, colour, alt);
  page_words(p, "</td>");
}

static void draw_row(page *p, const lapis_report *w, int64_t j, const scale *s)
{
  page_print(p, "<tr><th scope=\"row\">%" PRId64 "</th>", j + 1);
  if (!mat_empty(&w->input)) {
    draw(p, w, &w->input, j, s, grey, "input");
    page_print(p, "<td>=</td>");
  }
  draw(p, w, &w->clean, j, s, grey, "clean");
  if (!mat_empty(&w->removed)) {
    page_print(p, "<td>+</td>");
    draw(p, w, &w->removed, j, s, signed_colour, "removed");
  }
  if (!mat_empty(&w->filled)) draw(p, w, &w->filled, j, s, grey, "filled");
  page_print(p, "</tr>\n");
}

static void put_samples(page *p, const lapis_report *w)
{
  int64_t end = w->first + w->count;
  if (end > w->clean.cols) end = w->clean.cols;
  scale s = find_scale(w, w->first, end);
  page_wide_table(p, "Samples taken apart", "samples");
  page_words(p, "<tr><th scope=\"col\">row</th>");
  if (!mat_empty(&w->input))
    page_words(p, "<th scope=\"col\">input</th><td></td>");
  page_words(p, "<th scope=\"col\">clean</th>");
  if (!mat_empty(&w->removed))
    page_words(p, "<td></td><th scope=\"col\">removed</th>");
  if (!mat_empty(&w->filled)) page_words(p, "<th scope=\"col\">filled</th>");
  page_words(p, "</tr>\n");
  for (int64_t j = w->first; j < end; j++) draw_row(p, w, j, &s);
  page_print(
      p,
      "</table></div>\n<p>Grey: %g to %g. Removed: red too high, blue too "
      "low, full colour at %g. Magenta: missing.</p>\n",
      s.low, s.high, s.most);
}

static bool has_samples(const lapis_report *w)
{
  return w->height > 0 && !mat_empty(&w->clean);
}

const page_view view_samples = {"samples", "Samples", has_samples, put_samples,
                                NULL};
