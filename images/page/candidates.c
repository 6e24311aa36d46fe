/* candidates.c - what was compared to choose, best first. */
#include <math.h>
#include <stdio.h>

#include "images/page/page.h"
#include "lapis/choose.h"
#include "mat/mat.h"

enum { VERDICT = 96 };

static bool has_candidates(const lapis_report *w)
{
  return !mat_empty(&w->candidates) && w->candidates.rows == 2 &&
         w->candidate_figures.rows > LAPIS_FIGURE_LEARNT &&
         w->candidate_figures.cols == w->candidates.cols;
}

/* Numbers have no accuracy. */
static bool are_numbers(const lapis_report *w)
{
  return isnan(lapis_mat_at(&w->candidate_figures, LAPIS_FIGURE_ACCURACY, 0));
}

bool page_expects(const lapis_report *w)
{
  return has_candidates(w) && w->chosen >= 0 &&
         w->chosen < w->candidates.cols &&
         isfinite(lapis_mat_at(&w->candidate_figures, LAPIS_FIGURE_LEAST,
                               w->chosen));
}

void page_expected(page *p, const lapis_report *w)
{
  char text[256];
  page_print(
      p,
      "<div class=\"sentence\"><dt>expected on new samples</dt>"
      "<dd>%s</dd></div>\n",
      lapis_expected_text(&w->candidate_figures, w->chosen, text, sizeof text));
}

/* Against the best. */
static void judge(const lapis_report *w, int64_t k, char to[VERDICT])
{
  const lapis_mat *f = &w->candidate_figures;
  double by = lapis_mat_at(f, LAPIS_FIGURE_BEHIND, k);
  double error = lapis_mat_at(f, LAPIS_FIGURE_BEHIND_ERROR, k);
  bool learnt = lapis_mat_at(f, LAPIS_FIGURE_LEARNT, k) > 0;
  if (k == w->chosen)
    snprintf(to, VERDICT, "answers%s",
             learnt ? "" : "; not clearly better than guessing");
  else if (!learnt)
    snprintf(to, VERDICT, "not clearly better than guessing");
  else if (by > 0)
    snprintf(to, VERDICT, "worse by %.4f +- %.4f, %s", by, error,
             by > 2 * error ? "clear" : "a toss-up");
  else
    snprintf(to, VERDICT, "the best by itself");
}

static void put_candidate(page *p, const lapis_report *w, int64_t k)
{
  const lapis_mat *f = &w->candidate_figures;
  char verdict[VERDICT];
  judge(w, k, verdict);
  page_words(p, "<tr><th scope=\"row\">");
  page_escape(p, page_text_at(&w->candidates, 0, k));
  page_words(p, "</th><td>");
  page_escape(p, page_text_at(&w->candidates, 1, k));
  if (are_numbers(w))
    page_print(p, "</td><td>%.4f +- %.4f</td>",
               lapis_mat_at(f, LAPIS_FIGURE_AUROC, k),
               lapis_mat_at(f, LAPIS_FIGURE_ERROR, k));
  else
    page_print(p, "</td><td>%.4f +- %.4f</td><td>%.4f</td><td>%.4f</td>",
               lapis_mat_at(f, LAPIS_FIGURE_LOSS, k),
               lapis_mat_at(f, LAPIS_FIGURE_ERROR, k),
               lapis_mat_at(f, LAPIS_FIGURE_AUROC, k),
               lapis_mat_at(f, LAPIS_FIGURE_ACCURACY, k));
  page_print(p, "<td>%s</td></tr>\n", verdict);
}

static void put_candidates(page *p, const lapis_report *w)
{
  page_print(
      p,
      "<details><summary>Figures on what was hidden, best first (%" PRId64
      ")</summary>\n",
      w->candidates.cols);
  page_wide_table(p, "Candidates", "rows compared");
  page_words(p, "<thead><tr><th scope=\"col\">method</th>"
                "<th scope=\"col\">settings</th>");
  page_words(p, are_numbers(w)
                    ? "<th scope=\"col\">R^2</th>"
                    : "<th scope=\"col\">log-loss</th><th scope=\"col\">AUROC"
                      "</th><th scope=\"col\">accuracy</th>");
  page_words(p, "<th scope=\"col\">against the best</th></tr></thead>\n"
                "<tbody>\n");
  for (int64_t k = 0; k < w->candidates.cols; k++) put_candidate(p, w, k);
  page_words(p, "</tbody></table></div>\n</details>\n");
}

const page_view view_candidates = {"compared", "What was compared",
                                   has_candidates, put_candidates, NULL};
