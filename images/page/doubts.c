/* doubts.c - labels to be checked: a list of those in doubt, a desk where they
 * and all that has a picture are confirmed or corrected, and the table that is
 * saved.
 *
 * What a person decides stays in the browser; page.js writes the table below
 * with the cells that were decided. */
#include <math.h>
#include <string.h>

#include "images/page/page.h"
#include "lapis/tools.h"
#include "mat/mat.h"

static const double MOST = 1e9; /* of a number that page.js reads */

/* There are labels, and something to look at. */
static bool has_desk(const lapis_report *w)
{
  return w->suspects > 0 || (w->pictures > 0 && !mat_empty(&w->names) &&
                             !mat_empty(&w->labels) && !mat_empty(&w->answers));
}

/* The picture of a sample, or -1. */
static int64_t picture_of(const lapis_report *w, int64_t sample)
{
  for (int64_t i = 0; i < w->pictures; i++)
    if (w->picture[i].sample == sample) return i;
  return -1;
}

/* The picture is in the gallery already: a second view of it. */
void page_thumbnail(page *p, const lapis_report *w, int64_t sample)
{
  int64_t i = picture_of(w, sample);
  if (i < 0) return;
  page_print(p,
             "<a class=\"thumb\" href=\"#i%" PRId64 "\"><svg "
             "xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 4 3\" "
             "role=\"img\" aria-label=\"",
             i);
  page_sample_name(p, w, sample);
  page_print(p,
             "\"><use href=\"#p%" PRId64 "\" width=\"4\" height=\"3\"/></svg>"
             "</a>\n",
             i);
}

static bool is_text(const char *text)
{
  return text != NULL && text[0] != '\0';
}

/* The given label is proposed: it does not look wrong, but fits little. */
static bool is_kept(const lapis_report_suspect *s)
{
  return is_text(s->given) && is_text(s->proposed) &&
         strcmp(s->given, s->proposed) == 0;
}

/* One entry for another, one less, one more; or the given one, which may stay.
 */
static void put_change(page *p, const lapis_report_suspect *s, bool fits)
{
  bool given = is_text(s->given), proposed = is_text(s->proposed);
  page_words(p, ": ");
  if (fits) {
    page_escape(p, s->given);
    return;
  }
  if (!proposed) page_words(p, "not ");
  if (given) page_element(p, "del", s->given);
  if (given && proposed)
    page_words(p, " <span aria-hidden=\"true\">\xe2\x86\x92</span> ");
  if (!given) page_words(p, "also ");
  if (proposed) page_element(p, "ins", s->proposed);
}

static void put_suspect(page *p, const lapis_report *w, int64_t i)
{
  const lapis_report_suspect *s = &w->suspect[i];
  page_words(p, "<li>\n");
  page_thumbnail(p, w, s->sample);
  page_words(p, "<div class=\"doubt\"><strong>");
  page_sample_name(p, w, s->sample);
  page_words(p, "</strong>\n<span>");
  page_escape(p, page_text_at(&w->label_names, 0, s->column));
  put_change(p, s, w->suspects_fit_least || is_kept(s));
  page_words(p, "</span>\n");
  if (!isnan(s->probability)) {
    char number[32];
    const lapis_dialect d = lapis_dialect_for(w->dialect, NULL);
    lapis_number_print(number, sizeof number, "%.3f", s->probability);
    lapis_dialect_number(&d, number);
    page_print(p, "<span class=\"quiet\">wrong with probability %s</span>\n",
               number);
  }
  page_words(p, "</div></li>\n");
}

/* ---- what page.js shows and saves ---------------------------------------*/
static void put_row(page *p, const lapis_mat *A, int64_t j, const char *before)
{
  for (int64_t c = 0; c < A->rows; c++) {
    page_words(p, c == 0 ? before : ",");
    page_json_text(p, page_text_at(A, c, j));
  }
}

/* As a text of JSON, ends of lines included. */
static void put_signs(page *p, const char *text)
{
  page_words(p, "\"");
  for (; *text != '\0'; text++)
    if (*text == '\r' || *text == '\n')
      page_words(p, *text == '\r' ? "\\r" : "\\n");
    else
      page_print(p, "%c", *text);
  page_words(p, "\"");
}

static void put_columns(page *p, const lapis_report *w)
{
  page_words(p, "{\"columns\":[");
  page_json_text(p, w->name_title == NULL ? "name" : w->name_title);
  for (int64_t c = 0; c < w->beside_names.cols; c++) {
    page_words(p, ",");
    page_json_text(p, page_text_at(&w->beside_names, 0, c));
  }
  for (int64_t c = 0; c < w->label_names.cols; c++) {
    page_words(p, ",");
    page_json_text(p, page_text_at(&w->label_names, 0, c));
  }
  page_print(p, "],\n\"first\":%" PRId64 ",\"lists\":%s", 1 + w->beside.rows,
             w->lists ? "true" : "false");
  const lapis_dialect d = lapis_dialect_for(w->dialect, "labels.csv");
  page_print(p, ",\"delimiter\":\"%c\",\"begin\":", d.delimiter);
  put_signs(p, d.begin);
  page_words(p, ",\"end\":");
  put_signs(p, d.end);
}

static void put_rows(page *p, const lapis_report *w)
{
  int64_t n = w->labels.cols;
  page_words(p, ",\n\"rows\":[");
  for (int64_t j = 0; j < n; j++) {
    page_words(p, j == 0 ? "\n[" : ",\n[");
    page_json_text(p, page_text_at(&w->names, 0, j));
    put_row(p, &w->beside, j, ",");
    put_row(p, &w->labels, j, ",");
    page_words(p, "]");
  }
  page_words(p, "],\n\"found\":[");
  for (int64_t j = 0; j < w->answers.cols; j++) {
    put_row(p, &w->answers, j, j == 0 ? "[" : ",[");
    page_words(p, "]");
  }
}

static void put_numbers(page *p, const char *name, const lapis_mat *A)
{
  if (mat_empty(A)) return;
  page_print(p, ",\n\"%s\":[", name);
  for (int64_t j = 0; j < A->cols; j++)
    page_print(p, "%s%.4g", j == 0 ? "" : ",",
               fmin(lapis_mat_at(A, 0, j), MOST));
  page_words(p, "]");
}

static void put_order(page *p, const lapis_mat *order)
{
  if (mat_empty(order)) return;
  page_words(p, ",\n\"order\":[");
  for (int64_t k = 0; k < order->cols; k++)
    page_print(p, "%s%" PRId64, k == 0 ? "" : ",",
               (int64_t)lapis_mat_at(order, 0, k));
  page_words(p, "]");
}

static void put_suspects(page *p, const lapis_report *w)
{
  page_words(p, "],\n\"suspects\":[");
  for (int64_t i = 0; i < w->suspects; i++) {
    const lapis_report_suspect *s = &w->suspect[i];
    page_print(p, "%s\n{\"row\":%" PRId64 ",\"column\":%" PRId64 ",\"given\":",
               i == 0 ? "" : ",", s->sample, s->column + 1 + w->beside.rows);
    page_json_text(p, is_text(s->given) ? s->given : "");
    page_words(p, ",\"proposed\":");
    page_json_text(p, is_text(s->proposed) && !is_kept(s) ? s->proposed : "");
    page_words(p, "}");
  }
  page_words(p, "],\n\"pictures\":[");
  for (int64_t i = 0; i < w->pictures; i++)
    page_print(p, "%s%" PRId64, i == 0 ? "" : ",", w->picture[i].sample);
  page_words(p, "]");
  put_numbers(p, "checked", &w->checked);
  put_numbers(p, "margin", &w->margin);
  put_order(p, &w->csv_order);
  page_words(p, "}\n");
}

/* Under a key of its own: what is decided on another page is not of this. */
static void put_table(page *p, const lapis_report *w)
{
  page table = {.ctx = p->ctx};
  put_columns(&table, w);
  put_rows(&table, w);
  put_suspects(&table, w);
  if (p->status >= 0) p->status = table.status;
  if (p->status < 0) {
    page_free(&table);
    return;
  }
  page_words(p, "<script type=\"application/json\" id=\"labels\" data-key=\"");
  page_digest(p, table.text, table.used);
  page_words(p, "\">\n");
  page_bytes(p, table.text, table.used);
  page_words(p, "</script>\n");
  page_free(&table);
}

/* ---- the desk -----------------------------------------------------------*/
static void put_button(page *p, const char *name, const char *keys,
                       const char *text)
{
  page_print(p,
             "<button type=\"button\" id=\"check-%s\" "
             "aria-keyshortcuts=\"%s\">%s</button>\n",
             name, keys, text);
}

static void put_desk(page *p)
{
  page_words(
      p, "<div id=\"desk\" class=\"script\" tabindex=\"-1\" role=\"group\" "
         "aria-label=\"Check labels\">\n<div class=\"tools\">"
         "<label>Show <select id=\"check-show\"></select></label>\n"
         "<label>Name or label has <input type=\"search\" id=\"check-find\"/>"
         "</label>\n<span id=\"check-shown\"></span>\n"
         "<label><progress id=\"check-progress\"></progress> "
         "<span id=\"tally\"></span></label>\n"
         "<button type=\"button\" id=\"export\">Save labels.csv</button></div>"
         "\n<div class=\"card\"><div id=\"check-picture\"></div>\n"
         "<div class=\"judge\"><p id=\"check-said\" role=\"status\" "
         "aria-atomic=\"true\"></p>\n<div class=\"verdict\">");
  put_button(p, "yes", "W Y", "Yes");
  put_button(p, "no", "S N", "No");
  put_button(p, "unknown", "Q", "Unknown");
  page_words(p, "</div>\n<div id=\"check-classes\" class=\"verdict\" "
                "role=\"group\" aria-label=\"Label\"></div>\n"
                "<div class=\"verdict\">");
  put_button(p, "back", "A ArrowLeft", "Previous");
  put_button(p, "on", "D ArrowRight", "Next");
  put_button(p, "undo", "Z", "Undo");
  page_words(
      p, "</div></div></div>\n<div id=\"check-strip\" tabindex=\"0\" "
         "role=\"group\" aria-label=\"Samples of this choice\"><div></div>"
         "</div>\n<p class=\"quiet\">Keys, after a click or a tab into this "
         "part: <kbd>W</kbd> yes, <kbd>S</kbd> no, <kbd>1</kbd>&#8211;"
         "<kbd>9</kbd> a label, <kbd>Q</kbd> unknown, <kbd>A</kbd> "
         "<kbd>D</kbd> or arrows move, <kbd>Z</kbd> undo. "
         "<span id=\"check-kept\"></span></p></div>\n");
}

static void put_list(page *p, const lapis_report *w)
{
  int64_t kept = 0;
  for (int64_t i = 0; i < w->suspects; i++) kept += is_kept(&w->suspect[i]);
  if (w->suspects_fit_least || kept == w->suspects)
    page_words(p, "<p>No given label clearly looks wrong; these fit least, the "
                  "most doubtful first.</p>\n");
  else if (kept == 0)
    page_words(p, "<p>These given labels look wrong, the most doubtful "
                  "first.</p>\n");
  else
    page_print(p,
               "<p>%" PRId64 " of these given labels look%s wrong, the others "
               "fit least; the most doubtful first.</p>\n",
               w->suspects - kept, w->suspects - kept == 1 ? "s" : "");
  page_words(p, "<ol class=\"suspects unscripted\">\n");
  for (int64_t i = 0; i < w->suspects; i++) put_suspect(p, w, i);
  page_words(p, "</ol>\n");
}

static void put_check(page *p, const lapis_report *w)
{
  if (w->suspects > 0) put_list(p, w);
  put_desk(p);
  put_table(p, w);
}

const page_view view_suspects = {"suspects", "Check labels", has_desk,
                                 put_check, NULL};
