/* sheet.c - the answers, a row a sample.
 *
 * The first rows stand in the page, all of them beside it as data: page.js
 * sorts, searches and shows so many at a time. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "images/page/page.h"
#include "lapis/tools.h"
#include "mat/mat.h"

enum { SHOWN = 25, NUMBER = 40 };

static bool has_sheet(const lapis_report *w)
{
  return w->columns > 0;
}

static bool is_share(const lapis_sheet_column *c)
{
  return c->values.dtype != LAPIS_TEXT &&
         strncmp(c->title, "probability", strlen("probability")) == 0;
}

/* As it is shown; "": not known. */
static const char *number(const lapis_sheet_column *c, int64_t j,
                          char to[NUMBER])
{
  double v = lapis_mat_at(&c->values, 0, j);
  if (isnan(v)) return "";
  lapis_sheet_number(c, v, LAPIS_PAGE_DIGITS, to, NUMBER);
  return to;
}

static const char *shown(const lapis_sheet_column *c, int64_t j,
                         char to[NUMBER])
{
  const char *text;
  if (c->values.dtype != LAPIS_TEXT) return number(c, j, to);
  text = page_text_at(&c->values, 0, j);
  return text == NULL ? "" : text;
}

static const char *mark_of(const lapis_report *w, int64_t j)
{
  const char *mark = page_text_at(&w->marks, 0, j);
  return mark == NULL ? "" : mark;
}

/* ---- what is seen without a script ---------------------------------------*/
static void put_head(page *p, const lapis_report *w)
{
  page_wide_table(p, "Table of answers", "sheet");
  page_words(p, "<thead><tr>");
  for (int64_t k = 0; k < w->columns; k++) {
    page_words(p, "<th scope=\"col\">");
    page_element(p, "button type=\"button\"", w->column[k].title);
    page_words(p, "</th>");
  }
  page_words(p, "</tr></thead>\n<tbody>\n");
}

/* A number by the decimal mark of its table. */
static const char *in_dialect(const lapis_report *w, char room[NUMBER])
{
  const lapis_dialect d = lapis_dialect_for(w->dialect, NULL);
  lapis_dialect_number(&d, room);
  return room;
}

static void put_cell(page *p, const lapis_report *w,
                     const lapis_sheet_column *c, int64_t j)
{
  char room[NUMBER];
  const char *text = shown(c, j, room);
  bool share = is_share(c) && *text != '\0';
  page_words(p, c->values.dtype == LAPIS_TEXT ? "<td>" : "<td class=\"n\">");
  if (share) page_print(p, "<meter value=\"%s\"></meter> ", text);
  page_escape(p, text == room ? in_dialect(w, room) : text);
  page_words(p, "</td>");
}

static void put_rows(page *p, const lapis_report *w)
{
  int64_t n = w->column[0].values.cols;
  int64_t left = SHOWN;
  for (int64_t i = 0; i < 2 * n && left > 0; i++) { /* those to look at first */
    char room[NUMBER];
    int64_t j = i % n;
    if ((strcmp(mark_of(w, j), "several") == 0) != (i < n)) continue;
    left--;
    page_print(p, "<tr class=\"%s\">", mark_of(w, j));
    page_element(p, "th scope=\"row\"", shown(&w->column[0], j, room));
    for (int64_t k = 1; k < w->columns; k++) put_cell(p, w, &w->column[k], j);
    page_words(p, "</tr>\n");
  }
  page_words(p, "</tbody></table></div>\n");
}

/* ---- what page.js reads -------------------------------------------------*/
static void put_values(page *p, const lapis_sheet_column *c)
{
  char room[NUMBER];
  page_words(p, "[");
  for (int64_t j = 0; j < c->values.cols; j++) {
    const char *text = shown(c, j, room);
    bool plain = c->values.dtype != LAPIS_TEXT &&
                 isfinite(lapis_mat_at(&c->values, 0, j));
    if (j > 0) page_words(p, ",");
    if (plain)
      page_words(p, text);
    else
      page_json_text(p, text);
  }
  page_words(p, "]");
}

static void put_data(page *p, const lapis_report *w)
{
  page_words(p, "<script type=\"application/json\" id=\"sheet\">\n"
                "{\"columns\":[");
  for (int64_t k = 0; k < w->columns; k++) {
    page_print(p, "%s\n{\"share\":%s,\"values\":", k == 0 ? "" : ",",
               is_share(&w->column[k]) ? "true" : "false");
    put_values(p, &w->column[k]);
    page_words(p, "}");
  }
  page_words(p, "],\n\"marks\":");
  const lapis_sheet_column marks = {.values = w->marks};
  if (mat_empty(&w->marks))
    page_words(p, "[]");
  else
    put_values(p, &marks);
  page_print(p, ",\n\"decimal\":\"%c\"}\n</script>\n",
             lapis_dialect_for(w->dialect, NULL).decimal);
}

static bool marks_any(const lapis_report *w, const char *wanted)
{
  for (int64_t j = 0; j < w->marks.cols; j++)
    if (strcmp(mark_of(w, j), wanted) == 0) return true;
  return false;
}

static void put_tools(page *p, const lapis_report *w)
{
  bool doubted = marks_any(w, "doubted"), unsure = marks_any(w, "unsure");
  bool several = marks_any(w, "several");
  page_words(p,
             "<div class=\"tools script\"><label>Find <input type=\"search\" "
             "id=\"find-row\"/></label>\n");
  if (doubted || unsure || several) {
    page_words(p, "<label>Show <select id=\"which\"><option value=\"\">all "
                  "rows</option>");
    if (several)
      page_words(p, "<option value=\"several\">sets of more than one class"
                    "</option>");
    if (unsure)
      page_words(p, "<option value=\"unsure\">unsure answers</option>");
    if (doubted)
      page_words(p, "<option value=\"doubted\">given labels that look wrong"
                    "</option>");
    page_words(p, "</select></label>\n");
  }
  page_words(p, "<button type=\"button\" id=\"earlier\">Previous</button>"
                "<span id=\"range\" role=\"status\"></span>"
                "<button type=\"button\" id=\"later\">Next</button></div>\n");
}

static void put_sheet(page *p, const lapis_report *w)
{
  int64_t n = w->column[0].values.cols;
  put_tools(p, w);
  if (marks_any(w, "several"))
    page_words(p, "<p class=\"quiet\"><i class=\"bar several\"></i> look at "
                  "these first: the set has more than one class</p>\n");
  if (marks_any(w, "unsure"))
    page_words(p, "<p class=\"quiet\"><i class=\"bar unsure\"></i> an unsure "
                  "answer</p>\n");
  if (marks_any(w, "doubted"))
    page_words(p,
               "<p class=\"quiet\"><i class=\"bar doubted\"></i> a given label "
               "that looks wrong, with what it rather is</p>\n");
  if (n > SHOWN)
    page_print(p,
               "<p class=\"quiet unscripted\">The first %d of %" PRId64
               " rows; a browser with scripts shows all.</p>\n",
               SHOWN, n);
  put_head(p, w);
  put_rows(p, w);
  put_data(p, w);
}

const page_view view_sheet = {"answers", "Answers", has_sheet, put_sheet, NULL};
