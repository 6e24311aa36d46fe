/* sure.c - how far to trust an answer, by labels that were hidden: whether
 * answers of a probability are as often right, and what is taken for what. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "images/page/page.h"
#include "mat/mat.h"

enum { BINS = 10, FEW = 5, SIDE = 200, EDGE = 8, MOST_CLASSES = 20 };

typedef struct bin {
  double probability, right, count; /* sums */
} bin;

/* Each label was given, and predicted while it was hidden. */
static bool has_sure(const lapis_report *w)
{
  return !mat_empty(&w->held_out) && !mat_empty(&w->truth);
}

/* One class of several is the truth. */
static bool of_classes(const lapis_report *w)
{
  return w->held_out.rows > 1 && w->truth.rows == 1;
}

static double probability(double log_odds)
{
  return 1 / (1 + exp(-log_odds));
}

static int64_t likeliest(const lapis_report *w, int64_t j)
{
  int64_t best = 0;
  for (int64_t c = 1; c < w->held_out.rows; c++)
    if (lapis_mat_at(&w->held_out, c, j) > lapis_mat_at(&w->held_out, best, j))
      best = c;
  return best;
}

static void note(bin *bins, double p, bool right)
{
  int at = (int)(p * BINS);
  bin *b = &bins[at < BINS ? at : BINS - 1];
  b->probability += p;
  b->right += right;
  b->count++;
}

static void fill(const lapis_report *w, bin bins[BINS])
{
  memset(bins, 0, BINS * sizeof *bins);
  for (int64_t j = 0; j < w->held_out.cols; j++)
    for (int64_t c = 0; c < (of_classes(w) ? 1 : w->held_out.rows); c++) {
      int64_t said = of_classes(w) ? likeliest(w, j) : c;
      double truth = lapis_mat_at(&w->truth, of_classes(w) ? 0 : c, j);
      double p = probability(lapis_mat_at(&w->held_out, said, j));
      if (isnan(truth) || isnan(p)) continue;
      if (of_classes(w))
        note(bins, p, truth == (double)said);
      else
        note(bins, fmax(p, 1 - p), (p > .5) == (truth > 0));
    }
}

/* ---- the curve ----------------------------------------------------------*/
static void put_curve(page *p, const bin bins[BINS])
{
  int wide = SIDE + 2 * EDGE;
  bool first = true;
  page_print(p,
             "<figure class=\"roc\"><svg xmlns=\"http://www.w3.org/2000/svg\" "
             "viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Share of right "
             "answers by their probability\"><path class=\"area\" d=\"M%d "
             "%dh%dv%dh%dz\"/><path class=\"grid\" d=\"M%d %dL%d %d\"/><path "
             "class=\"line l0\" d=\"",
             wide, wide, EDGE, EDGE, SIDE, SIDE, -SIDE, EDGE, EDGE + SIDE,
             EDGE + SIDE, EDGE);
  for (int i = 0; i < BINS; i++) {
    const bin *b = &bins[i];
    if (b->count < FEW) continue; /* says nothing */
    page_print(p, "%c%.1f %.1f", first ? 'M' : 'L',
               EDGE + SIDE * b->probability / b->count,
               EDGE + SIDE * (1 - b->right / b->count));
    first = false;
  }
  page_words(p, "\"/></svg><figcaption class=\"quiet\">right: probability of "
                "the answer; up: share that was right</figcaption></figure>\n");
}

static void put_bins(page *p, const bin bins[BINS])
{
  page_words(p, "<div class=\"wide\"><table class=\"counts\">\n<thead><tr><th "
                "scope=\"col\">probability</th><th scope=\"col\">answers</th>"
                "<th scope=\"col\">right</th></tr></thead>\n<tbody>\n");
  for (int i = 0; i < BINS; i++)
    if (bins[i].count > 0)
      page_print(p,
                 "<tr><th scope=\"row\">%d to %d %%</th><td class=\"n\">%.0f"
                 "</td><td class=\"n\">%.0f %%</td></tr>\n",
                 i * 100 / BINS, (i + 1) * 100 / BINS, bins[i].count,
                 100 * bins[i].right / bins[i].count);
  page_words(p, "</tbody></table></div>\n");
}

/* ---- what is taken for what ---------------------------------------------*/
/* The name of a value: of one score the text that a label of it has. */
static const char *name_of(const lapis_report *w, int64_t k)
{
  if (w->held_out.rows > 1) return page_text_at(&w->class_names, 0, k);
  for (int64_t j = 0; j < w->labels.cols; j++) {
    double truth = lapis_mat_at(&w->truth, 0, j);
    const char *text = page_text_at(&w->labels, 0, j);
    if (!isnan(truth) && (truth > 0) == (k > 0) && *text != '\0') return text;
  }
  return NULL;
}

static int64_t values_of(const lapis_report *w)
{
  bool one = w->held_out.rows == 1 && w->labels.rows == 1;
  return of_classes(w) ? w->held_out.rows : one ? 2 : 0;
}

static double count_pairs(const lapis_report *w, int64_t given, int64_t said)
{
  double count = 0;
  for (int64_t j = 0; j < w->held_out.cols; j++) {
    double truth = lapis_mat_at(&w->truth, 0, j);
    double s = lapis_mat_at(&w->held_out, 0, j);
    if (isnan(truth) || isnan(s)) continue;
    int64_t of = of_classes(w) ? (int64_t)truth : truth > 0;
    int64_t to = of_classes(w) ? likeliest(w, j) : s > 0;
    count += of == given && to == said;
  }
  return count;
}

static void put_confusion(page *p, const lapis_report *w)
{
  int64_t K = values_of(w);
  if (K < 2 || K > MOST_CLASSES) return;
  for (int64_t k = 0; k < K; k++)
    if (name_of(w, k) == NULL) return;
  page_wide_table(p, "Given and predicted", "counts confusion");
  page_words(p, "<caption>Given, and predicted while hidden</caption>\n"
                "<thead><tr><th scope=\"col\">given</th>");
  for (int64_t k = 0; k < K; k++)
    page_element(p, "th scope=\"col\"", name_of(w, k));
  page_words(p, "</tr></thead>\n<tbody>\n");
  for (int64_t i = 0; i < K; i++) {
    page_words(p, "<tr>");
    page_element(p, "th scope=\"row\"", name_of(w, i));
    for (int64_t k = 0; k < K; k++)
      page_print(p, "<td class=\"n%s\">%.0f</td>", i == k ? " same" : "",
                 count_pairs(w, i, k));
    page_words(p, "</tr>\n");
  }
  page_words(p, "</tbody></table></div>\n");
}

static void put_sure(page *p, const lapis_report *w)
{
  bin bins[BINS];
  fill(w, bins);
  page_words(p, "<p>Each given label was hidden and predicted from the others. "
                "Where probabilities are true, the line follows the "
                "diagonal.</p>\n<div class=\"sure\">\n");
  put_curve(p, bins);
  put_bins(p, bins);
  put_confusion(p, w);
  page_words(p, "</div>\n");
}

const page_view view_sure = {"sure", "How sure", has_sure, put_sure, NULL};
