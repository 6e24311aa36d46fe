/* run.c - settings, and the command that repeats the run. */
#include "report/page.h"

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

static void put_run(page *p, const lapis_report *w)
{
  put_command(p, w->command);
  if (w->settings == 0) return;
  page_words(p, "<table class=\"rows\">\n<caption>Settings</caption>\n"
                "<tbody>\n");
  for (int64_t i = 0; i < w->settings; i++) {
    page_words(p, "<tr>");
    page_element(p, "th scope=\"row\"", w->setting[i].name);
    page_element(p, "td", w->setting[i].value);
    page_words(p, "</tr>\n");
  }
  page_words(p, "</tbody></table>\n");
}

const page_view view_run = {"run", "Settings", has_run, put_run};
