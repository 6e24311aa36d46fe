/* doubts.c - labels in doubt, and the table that is exported.
 *
 * What a person decides stays in the page; page.js writes the table below with
 * the cells of accepted proposals replaced. */
#include <math.h>

#include "images/page/page.h"
#include "mat/mat.h"

static bool has_suspects(const lapis_report *w)
{
  return w->suspects > 0;
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

static void put_button(page *p, const char *what, const char *letter)
{
  page_print(p,
             "<button type=\"button\" class=\"%s\" aria-pressed=\"false\" "
             "aria-keyshortcuts=\"%s\">%s</button>",
             what, letter, what[0] == 'a' ? "Accept" : "Reject");
}

static bool is_text(const char *text)
{
  return text != NULL && text[0] != '\0';
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
  page_print(
      p, "<li id=\"s%" PRId64 "\" tabindex=\"%d\" data-i=\"%" PRId64 "\">\n", i,
      i == 0 ? 0 : -1, i);
  page_thumbnail(p, w, s->sample);
  page_words(p, "<div class=\"doubt\"><strong>");
  page_sample_name(p, w, s->sample);
  page_words(p, "</strong>\n<span>");
  page_escape(p, page_text_at(&w->label_names, 0, s->column));
  put_change(p, s, w->suspects_fit_least);
  page_words(p, "</span>\n");
  if (!isnan(s->probability))
    page_print(p, "<span class=\"quiet\">probability %.3f</span>\n",
               s->probability);
  page_words(p, "</div>\n<div class=\"verdict script\">");
  put_button(p, "accept", "a");
  put_button(p, "reject", "r");
  page_words(p, "</div></li>\n");
}

/* ---- what page.js exports -----------------------------------------------*/
static void put_table(page *p, const lapis_report *w)
{
  int64_t k = w->label_names.cols;
  page_words(p, "<script type=\"application/json\" id=\"labels\">\n"
                "{\"columns\":[\"name\"");
  for (int64_t c = 0; c < k; c++) {
    page_words(p, ",");
    page_json_text(p, page_text_at(&w->label_names, 0, c));
  }
  page_words(p, "],\n\"rows\":[");
  for (int64_t j = 0; j < w->labels.cols; j++) {
    page_words(p, j == 0 ? "\n[" : ",\n[");
    page_json_text(p, page_text_at(&w->names, 0, j));
    for (int64_t c = 0; c < k; c++) {
      page_words(p, ",");
      page_json_text(p, page_text_at(&w->labels, c, j));
    }
    page_words(p, "]");
  }
  page_words(p, "],\n\"suspects\":[");
  for (int64_t i = 0; i < w->suspects; i++) {
    const lapis_report_suspect *s = &w->suspect[i];
    page_print(p, "%s\n{\"row\":%" PRId64 ",\"column\":%" PRId64 ",\"given\":",
               i == 0 ? "" : ",", s->sample, s->column + 1);
    page_json_text(p, is_text(s->given) ? s->given : "");
    page_words(p, ",\"proposed\":");
    page_json_text(p, is_text(s->proposed) ? s->proposed : "");
    page_words(p, "}");
  }
  page_words(p, "]}\n</script>\n");
}

static void put_suspects(page *p, const lapis_report *w)
{
  page_words(p, w->suspects_fit_least
                    ? "<p>No given label looks wrong; these fit least, the "
                      "most doubtful first.</p>\n"
                    : "<p>These given labels look wrong, the most doubtful "
                      "first.</p>\n");
  page_words(
      p, "<div "
         "class=\"tools script\"><span id=\"tally\" "
         "role=\"status\"></span>\n<button type=\"button\" id=\"export\">"
         "Download labels.csv</button>\n<p class=\"quiet keys\">Keys: "
         "<kbd>\xe2\x86\x91</kbd> <kbd>\xe2\x86\x93</kbd> move, <kbd>A</kbd> "
         "accept, <kbd>R</kbd> reject, <kbd>U</kbd> undo. Decisions last "
         "as long as this page is open.</p></div>\n"
         "<ol class=\"suspects\">\n");
  for (int64_t i = 0; i < w->suspects; i++) put_suspect(p, w, i);
  page_words(p, "</ol>\n");
  put_table(p, w);
}

const page_view view_suspects = {"suspects", "Labels in doubt", has_suspects,
                                 put_suspects, NULL};
