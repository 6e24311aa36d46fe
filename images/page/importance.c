/* importance.c - what matters: what is lost once a feature is shuffled. */
#include <math.h>

#include "images/page/page.h"
#include "mat/mat.h"

enum { SHOWN = 12 };

static bool has_importance(const lapis_report *w)
{
  return !mat_empty(&w->importance) && w->importance.rows == 2 &&
         w->importance_names.cols == w->importance.cols &&
         w->importance_ways.cols == w->importance.cols;
}

static void put_row(page *p, const lapis_report *w, int64_t k, double most)
{
  double v = lapis_mat_at(&w->importance, 0, k);
  double error = lapis_mat_at(&w->importance, 1, k);
  page_words(p, "<tr>");
  page_element(p, "th scope=\"row\"", page_text_at(&w->importance_names, 0, k));
  page_print(p, "<td><meter value=\"%.4f\"></meter> %.4f &#177; %.4f%s</td>",
             fmax(v, 0) / most, v, error,
             lapis_is_clear_among(v, error, w->importance.cols)
                 ? ""
                 : ", not clearly missed");
  page_element(p, "td", page_text_at(&w->importance_ways, 0, k));
  page_words(p, "</tr>\n");
}

static void put_rows(page *p, const lapis_report *w, int64_t from, int64_t to)
{
  double most = fmax(lapis_mat_at(&w->importance, 0, 0), 1e-12);
  page_wide_table(
      p, from > 0 ? "Features that matter less" : "Features that matter",
      "rows matters");
  page_words(p, "<thead><tr><th scope=\"col\">feature</th>");
  page_element(p, "th scope=\"col\"",
               w->importance_of_numbers ? "R^2 lost" : "log-loss gained");
  page_words(p, "<th scope=\"col\">and how</th></tr></thead>\n<tbody>\n");
  for (int64_t k = from; k < to; k++) put_row(p, w, k, most);
  page_words(p, "</tbody></table></div>\n");
}

static void put_importance(page *p, const lapis_report *w)
{
  int64_t all = w->importance.cols, first = all < SHOWN ? all : SHOWN;
  page_print(p,
             "<p>How much worse hidden %s are predicted once the values of one "
             "feature are shuffled. It says what the answers lean on, not what "
             "causes what; of features that say the same, each is missed "
             "little.</p>\n",
             w->importance_of_numbers ? "numbers" : "labels");
  put_rows(p, w, 0, first);
  if (first == all) return;
  page_print(p, "<details><summary>%" PRId64 " more</summary>\n", all - first);
  put_rows(p, w, first, all);
  page_words(p, "</details>\n");
}

const page_view view_importance = {"importance", "What matters", has_importance,
                                   put_importance, NULL};
