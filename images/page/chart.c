/* chart.c - curves over a logarithmic axis, as SVG. */
#include <math.h>

#include "images/page/page.h"

enum { LEFT = 60, TOP = 28, WIDE = 440, HIGH = 220, POINTS = 600 };

typedef struct range {
  int low, high; /* decades */
} range;

static bool drawn(double y)
{
  return isfinite(y) && y > 0;
}

/* Decades that hold every value; false where there is nothing to draw. */
static bool find_range(const chart *c, range *r)
{
  double low = INFINITY, high = 0;
  for (int k = 0; k < c->n_lines; k++)
    for (int64_t i = 0; i < c->n; i++) {
      double y = c->y[k][i * c->stride];
      if (!drawn(y)) continue;
      low = fmin(low, y);
      high = fmax(high, y);
    }
  if (!(high > 0)) return false;
  r->low = (int)floor(log10(low));
  r->high = (int)ceil(log10(high));
  if (r->high <= r->low) r->high = r->low + 1;
  return true;
}

static double place_y(const range *r, double y)
{
  return TOP + HIGH * (r->high - log10(y)) / (r->high - r->low);
}

static double place_x(const chart *c, int64_t i)
{
  return LEFT + (c->n > 1 ? WIDE * (double)i / (double)(c->n - 1) : 0);
}

static void draw_axes(page *p, const chart *c, const range *r)
{
  int step = 1 + (r->high - r->low) / 8;
  for (int e = r->low; e <= r->high; e += step) {
    double y = place_y(r, pow(10, e));
    page_print(p,
               "<path class=\"grid\" d=\"M%d %.1fH%d\"/>"
               "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">1e%d</text>\n",
               LEFT, y, LEFT + WIDE, LEFT - 6, y + 4, e);
  }
  double last = c->x0 + c->step * (double)(c->n - 1);
  page_print(p, "<text x=\"%d\" y=\"%d\">%g</text>", LEFT, TOP + HIGH + 18,
             c->x0);
  page_print(p, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%g</text>",
             LEFT + WIDE, TOP + HIGH + 18, last);
  page_print(p, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">",
             LEFT + WIDE / 2, TOP + HIGH + 18);
  page_escape(p, c->x_name);
  page_print(p, "</text>\n");
}

/* At most POINTS points, the last one among them. */
static void draw_line(page *p, const chart *c, const range *r, int k)
{
  int64_t every = 1 + (c->n - 1) / POINTS;
  char pen = 'M';
  page_print(p, "<path class=\"line l%d\" d=\"", k);
  for (int64_t i = (c->n - 1) % every; i < c->n; i += every) {
    double y = c->y[k][i * c->stride];
    if (!drawn(y)) {
      pen = 'M';
      continue;
    }
    page_print(p, "%c%.1f %.1f", pen, place_x(c, i), place_y(r, y));
    pen = 'L';
  }
  page_words(p, "\"/>\n");
}

/* Of the lines, above them all. */
static void put_names(page *p, const chart *c)
{
  page_print(p, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", LEFT + WIDE,
             TOP - 12);
  for (int k = 0; k < c->n_lines; k++) {
    page_print(p, "<tspan class=\"l%d\"%s>", k, k == 0 ? "" : " dx=\"16\"");
    page_escape(p, c->name[k]);
    page_words(p, "</tspan>");
  }
  page_words(p, "</text>\n");
}

/* Where each curve begins and ends, for those who do not see it. */
static void put_words(page *p, const chart *c)
{
  page_escape(p, c->title);
  for (int k = 0; k < c->n_lines; k++) {
    page_words(p, k == 0 ? ": " : "; ");
    page_escape(p, c->name[k]);
    page_print(p, " from %.3g to %.3g", c->y[k][0],
               c->y[k][(c->n - 1) * c->stride]);
  }
}

void page_chart(page *p, const chart *c)
{
  range r;
  if (c->n < 1 || !find_range(c, &r)) return;
  page_print(p, "<figure><figcaption>");
  page_escape(p, c->title);
  page_print(p,
             "</figcaption>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
             "viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"",
             LEFT + WIDE + 12, TOP + HIGH + 30);
  put_words(p, c);
  page_words(p, "\">\n");
  draw_axes(p, c, &r);
  for (int k = 0; k < c->n_lines; k++) draw_line(p, c, &r, k);
  put_names(p, c);
  page_print(p, "</svg></figure>\n");
}
