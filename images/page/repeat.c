/* repeat.c - settings, and the command that repeats the run. */
#include <string.h>

#include "images/page/page.h"

static bool has_run(const lapis_report *w)
{
  return w->settings > 0 || w->command != NULL;
}

static void put_command(page *p, const char *command)
{
  if (command == NULL) return;
  page_words(p, "<p>This command repeats the run:</p>\n<div "
                "class=\"command\">");
  page_words(p, "<pre id=\"command\" tabindex=\"0\"><code>");
  page_escape(p, command);
  page_words(p, "</code></pre><button type=\"button\" class=\"script\" "
                "id=\"copy\">Copy</button></div>\n");
}

/* The piece of text before a tab; *at: behind the tab, NULL at the end. */
static void put_piece(page *p, const char *start, const char *end,
                      const char **at)
{
  size_t bytes = strcspn(*at, "\t");
  page_words(p, start);
  page_escape_part(p, *at, bytes);
  page_words(p, end);
  *at = (*at)[bytes] == '\0' ? NULL : *at + bytes + 1;
}

/* text: the caption, and titles where there are some. */
static void begin_table(page *p, const char *text)
{
  page_words(p, "<table class=\"rows\">\n");
  put_piece(p, "<caption>", "</caption>\n", &text);
  if (text != NULL) page_words(p, "<thead><tr>");
  bool titles = text != NULL;
  while (text != NULL) put_piece(p, "<th scope=\"col\">", "</th>", &text);
  page_words(p, titles ? "</tr></thead>\n<tbody>\n" : "<tbody>\n");
}

static void put_row(page *p, const lapis_report_row *row)
{
  page_words(p, "<tr>");
  page_element(p, "th scope=\"row\"", row->name);
  const char *at = row->value == NULL ? "" : row->value;
  while (at != NULL) put_piece(p, "<td>", "</td>", &at);
  page_words(p, "</tr>\n");
}

static void put_run(page *p, const lapis_report *w)
{
  put_command(p, w->command);
  for (int64_t i = 0; i < w->settings; i++) {
    const lapis_report_row *row = &w->setting[i];
    bool begins = row->name == NULL;
    if (i > 0 && begins) page_words(p, "</tbody></table>\n");
    if (begins)
      begin_table(p, row->value == NULL ? "" : row->value);
    else if (i == 0)
      begin_table(p, "Settings");
    if (!begins) put_row(p, row);
  }
  if (w->settings > 0) page_words(p, "</tbody></table>\n");
}

const page_view view_run = {"run", "Settings", has_run, put_run, NULL};
