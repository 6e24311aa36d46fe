/* report.c - the page: its head, its views in order, its end. */
#include "lapis/images.h"

#include <string.h>

#include "images/page/page.h"
#include "lapis/files.h"
#include "mat/mat.h"

static const page_view *const views[] = {
    &view_sheet,      &view_suspects, &view_gallery,    &view_sure,
    &view_importance, &view_cells,    &view_roc,        &view_classes,
    &view_samples,    &view_curves,   &view_candidates, &view_run,
};
enum { VIEWS = sizeof views / sizeof *views };
enum { FIGURE = 24 }; /* bytes; what is longer is a sentence */

/* What stands between <style> and </style>. */
static void put_style(page *p, const lapis_report *w)
{
  page_words(p, "/*<![CDATA[*/\n");
  page_bytes(p, (const char *)page_style, page_style_size);
  for (int i = 0; i < VIEWS; i++)
    if (views[i]->style != NULL && views[i]->has(w)) views[i]->style(p, w);
  page_words(p, "/*]]>*/");
}

static void put_script(page *p)
{
  page_words(p, "//<![CDATA[\n");
  page_bytes(p, (const char *)page_script, page_script_size);
  page_words(p, "//]]>");
}

/* Nothing may be fetched, and no script or style but these is used, whatever a
 * name or a label holds. */
static void put_policy(page *p, const page *style)
{
  page script = {.ctx = p->ctx}, policy = {.ctx = p->ctx};
  put_script(&script);
  page_words(&policy, "default-src 'none'; img-src data:; style-src ");
  page_digest(&policy, style->text, style->used);
  page_words(&policy, "; script-src ");
  page_digest(&policy, script.text, script.used);
  page_words(&policy, "; base-uri 'none'; form-action 'none'");
  page_escape_part(p, policy.text, (size_t)policy.used);
  if (p->status >= 0)
    p->status = script.status < 0 ? script.status : policy.status;
  page_free(&script);
  page_free(&policy);
}

static void put_head(page *p, const lapis_report *w, const char *title)
{
  page style = {.ctx = p->ctx};
  put_style(&style, w);
  page_words(p, "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" "
                "lang=\"en\">\n<head><meta charset=\"utf-8\"/>\n"
                "<meta name=\"viewport\" content=\"width=device-width, "
                "initial-scale=1\"/>\n<meta name=\"color-scheme\" "
                "content=\"light dark\"/>\n"
                "<meta http-equiv=\"Content-Security-Policy\" content=\"");
  put_policy(p, &style);
  page_words(p, "\"/>\n<title>");
  page_escape(p, title);
  page_words(p, "</title>\n<style>");
  page_bytes(p, style.text, style.used);
  page_words(p, "</style></head>\n<body>\n");
  if (p->status >= 0) p->status = style.status;
  page_free(&style);
}

static void put_facts(page *p, const lapis_report *w)
{
  if (!mat_empty(&w->clean))
    page_print(p, "<p>%" PRId64 " samples of %" PRId64 " features.</p>\n",
               w->clean.cols, w->clean.rows);
  if (w->facts == 0 && !page_expects(w)) return;
  page_words(p, "<dl class=\"facts\">\n");
  for (int64_t i = 0; i < w->facts; i++) {
    bool sentence = strlen(w->fact[i].value) > FIGURE;
    page_words(p, sentence ? "<div class=\"sentence\">" : "<div>");
    page_element(p, "dt", w->fact[i].name);
    page_element(p, "dd", w->fact[i].value);
    page_words(p, "</div>\n");
  }
  if (page_expects(w)) page_expected(p, w);
  page_words(p, "</dl>\n");
}

static void put_contents(page *p, const lapis_report *w)
{
  page_words(p, "<nav aria-label=\"Contents\"><ul>\n");
  for (int i = 0; i < VIEWS; i++)
    if (views[i]->has(w))
      page_print(p, "<li><a href=\"#%s\">%s</a></li>\n", views[i]->id,
                 views[i]->title);
  page_words(p, "</ul></nav>\n");
}

static void put_view(page *p, const page_view *v, const lapis_report *w)
{
  if (!v->has(w)) return;
  page_print(p,
             "<section id=\"%s\" aria-labelledby=\"%s-title\">\n"
             "<h2 id=\"%s-title\">%s</h2>\n",
             v->id, v->id, v->id, v->title);
  v->put(p, w);
  page_words(p, "</section>\n");
}

static void compose(page *p, const lapis_report *w)
{
  const char *title = w->title == NULL ? "LAPIS" : w->title;
  put_head(p, w, title);
  page_find_folder(p, w);
  page_words(p, "<header>\n");
  page_element(p, "h1", title);
  page_words(p, "\n");
  put_facts(p, w);
  put_contents(p, w);
  page_words(p, "</header>\n<main>\n");
  for (int i = 0; i < VIEWS; i++) put_view(p, views[i], w);
  page_words(p, "</main>\n<footer><p>Made by LAPIS ");
  page_words(p, lapis_version());
  page_words(p, ". This file holds all it shows and needs no "
                "network.</p></footer>\n<script>");
  put_script(p);
  page_words(p, "</script>\n</body></html>\n");
}

static bool shows_anything(const lapis_report *w)
{
  for (int i = 0; i < VIEWS; i++)
    if (views[i]->has(w)) return true;
  return w->facts > 0 || !mat_empty(&w->clean);
}

lapis_status lapis_report_write(lapis_ctx *ctx, const lapis_report *what,
                                const char *path)
{
  NEEDS(ctx, what);
  page p = {.ctx = ctx};
  lapis_report own = lapis_report_defaults();
  TRY(base_take(ctx, "report: its parts", what, &own, sizeof own));
  if (!shows_anything(&own))
    return lapis_fail(ctx, LAPIS_EMISSING,
                      "report: there is nothing to show: no clean part "
                      "(low_rank), labels in doubt, matches or history");
  TRY(page_check(ctx, &own));
  compose(&p, &own);
  lapis_status s = p.status;
  if (s >= 0) s = lapis_file_write(ctx, path, p.text, (size_t)p.used);
  page_free(&p);
  return s;
}
