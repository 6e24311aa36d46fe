/* cells.c - a table completed: the rows in which cells were filled. */
#include "images/page/page.h"
#include "mat/mat.h"

static bool has_cells(const lapis_report *w)
{
  return !mat_empty(&w->cells) && w->cell_titles.cols == w->cells.rows &&
         w->cells_filled.rows == w->cells.rows &&
         w->cells_filled.cols == w->cells.cols;
}

static void put_row(page *p, const lapis_report *w, int64_t j)
{
  page_words(p, "<tr>");
  for (int64_t i = 0; i < w->cells.rows; i++) {
    const char *text = page_text_at(&w->cells, i, j);
    bool filled = lapis_mat_at(&w->cells_filled, i, j) > 0;
    page_words(p, "<td>");
    if (filled)
      page_element(p, "ins", text);
    else
      page_escape(p, text);
    page_words(p, "</td>");
  }
  page_words(p, "</tr>\n");
}

static void put_cells(page *p, const lapis_report *w)
{
  int64_t shown = w->cells.cols, all = w->cell_rows;
  page_print(
      p,
      "<p><ins>Cells marked so</ins> were empty and are filled in. %s%" PRId64
      " row%s in which cells were filled:</p>\n",
      shown < all ? "The first of the " : "The ", all, all == 1 ? "" : "s");
  page_wide_table(p, "Cells of the table", "counts cells");
  page_words(p, "<thead><tr>");
  for (int64_t i = 0; i < w->cells.rows; i++)
    page_element(p, "th scope=\"col\"", page_text_at(&w->cell_titles, 0, i));
  page_words(p, "</tr></thead>\n<tbody>\n");
  for (int64_t j = 0; j < shown; j++) put_row(p, w, j);
  page_words(p, "</tbody></table></div>\n");
}

const page_view view_cells = {"cells", "The table, completed", has_cells,
                              put_cells, NULL};
