/* answer_page.c - answers as a page: the table of answers first, given labels
 * that look wrong, then what was remarked, compared and set, and the command.
 */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "answer_sheet.h"
#include "candidate_sheet.h"
#include "command/run/grids.h"
#include "lapis/images.h"

enum { MOST_ROWS = 512, TEXT = 512, MOST_FACTS = 8 };
static const double SURE = .6; /* the least probability of a sure answer */

typedef struct answer_page {
  lapis_report r;
  lapis_report_row row[MOST_ROWS], fact[MOST_FACTS];
  char text[MOST_ROWS][TEXT], fact_text[MOST_FACTS][TEXT];
  const char **marks, **names, **given;
  const char *title;
  lapis_report_suspect *suspect;
  char *numbers; /* behind names that are numbers */
  lapis_json *run;
} answer_page;

static void page_close(answer_page *p)
{
  if (p == NULL) return;
  free(p->marks);
  free(p->names);
  free(p->given);
  free(p->suspect);
  free(p->numbers);
  lapis_json_free(p->run);
  free(p);
}

static const char *cell(const sheet *t, int column, int64_t j)
{
  const lapis_mat *m = &t->column[column].values;
  const char *text = column > 0 && m->dtype == LAPIS_TEXT
                         ? ((const char *const *)m->val)[j * m->ld]
                         : NULL;
  return text == NULL ? "" : text;
}

/* ---- figures, remarks, settings -----------------------------------------*/
LAPIS_PRINTF(3, 4)
static void add_fact(answer_page *p, const char *name, const char *format, ...)
{
  if (p->r.facts == MOST_FACTS) return;
  va_list args;
  va_start(args, format);
  vsnprintf(p->fact_text[p->r.facts], TEXT, format, args);
  va_end(args);
  p->fact[p->r.facts] = (lapis_report_row){name, p->fact_text[p->r.facts]};
  p->r.facts++;
}

LAPIS_PRINTF(3, 4)
static void add_row(answer_page *p, const char *name, const char *format, ...)
{
  if (p->r.settings == MOST_ROWS) return;
  char *to = p->text[p->r.settings];
  va_list args;
  va_start(args, format);
  vsnprintf(to, TEXT, format, args);
  va_end(args);
  p->row[p->r.settings++] = (lapis_report_row){name, to};
}

static void add_candidates(answer_page *p, const lapis_solver *s)
{
  lapis_mat names = result_of(s, "candidates"), chosen = result_of(s, "chosen");
  lapis_mat figures = result_of(s, "candidate_figures");
  if (names.cols == 0 || figures.cols != names.cols || chosen.cols != 1) return;
  int64_t best = (int64_t)lapis_mat_at(&chosen, 0, 0);
  const char *const *text = names.val;
  add_fact(p, "answered by", "%s %s", text[best * names.rows],
           text[best * names.rows + 1]);
  if (isnan(lapis_mat_at(&figures, 3, best)))
    add_fact(p, "R^2 on hidden numbers", "%.3f",
             lapis_mat_at(&figures, 2, best));
  if (isfinite(lapis_mat_at(&figures, 4, best)))
    add_fact(p, "expected accuracy on new samples",
             "%.0f to %.0f %% (95 %% interval)",
             100 * lapis_mat_at(&figures, 4, best),
             100 * lapis_mat_at(&figures, 5, best));
  bool numbers = isnan(lapis_mat_at(&figures, 3, best));
  add_row(p, NULL,
          "Compared on what was hidden, best first\tmethod\tsettings\t%s",
          numbers ? "relative error\tR^2\tanswers"
                  : "log-loss\tAUROC\taccuracy\tanswers");
  for (int64_t k = 0; k < names.cols; k++) {
    char accuracy[32] = "";
    if (!numbers)
      snprintf(accuracy, sizeof accuracy, "\t%.4f",
               lapis_mat_at(&figures, 3, k));
    add_row(p, text[k * names.rows], "%.300s\t%.4f\t%.4f%s\t%s",
            text[k * names.rows + 1], lapis_mat_at(&figures, 0, k),
            lapis_mat_at(&figures, 2, k), accuracy, k == best ? "yes" : "");
  }
}

static void add_remarks(answer_page *p, const lapis_solver *s)
{
  lapis_mat notes = result_of(s, "notes");
  const char *const *text = notes.val;
  if (notes.cols > 0) add_row(p, NULL, "Remarks");
  for (int64_t k = 0; k < notes.cols; k++)
    add_row(p, text[3 * k], "%s", text[3 * k + 2]);
}

static void add_settings(answer_page *p)
{
  const lapis_json *from = lapis_json_get(p->run, "settings");
  const char *key = NULL;
  char value[TEXT];
  if (lapis_json_entry(from, 0, &key, value, sizeof value))
    add_row(p, NULL, "Settings");
  key = NULL;
  for (int i = 0; lapis_json_entry(from, i, &key, value, sizeof value); i++)
    if (value[0] != '\0' && strcmp(value, "null") != 0)
      add_row(p, key, "%s", value);
}

/* ---- rows to look at, labels in doubt -----------------------------------*/
/* The set of an answer that is not given holds more than one class. */
static bool has_several(const sheet *t, int64_t j)
{
  int64_t values = t->kept.cols > 0 ? t->kept.rows / t->targets : 0;
  for (int k = 0; k < t->targets; k++) {
    double kept = 0;
    for (int64_t v = 0; v < values; v++)
      kept += lapis_mat_at(&t->kept, k * values + v, j);
    if (kept > 1 && !sheet_is_given(t, k, j)) return true;
  }
  return false;
}

/* No probability is that of a sure answer; of several targets, in one of those
 * that were filled in. */
static bool is_unsure(const sheet *t, int64_t j)
{
  double most = 0;
  bool one = t->share == t->count - 1;
  for (int k = t->share; k > 0 && k < t->count; k++) {
    double v = lapis_mat_at(&t->column[k].values, 0, j);
    double surest = one || t->targets > 1 ? fmax(v, 1 - v) : v;
    if (t->targets > 1 && surest < SURE && !sheet_is_given(t, k - t->share, j))
      return true;
    most = fmax(most, surest);
  }
  return t->share > 0 && most < SURE && !sheet_is_given(t, 0, j);
}

static bool mark(answer_page *p, const sheet *t)
{
  p->marks = calloc((size_t)t->n + 1, sizeof *p->marks);
  if (p->marks == NULL) return false;
  for (int64_t j = 0; j < t->n; j++)
    p->marks[j] = *cell(t, t->rather, j) != '\0'         ? "doubted"
                  : has_several(t, j)                    ? "several"
                  : t->kept.cols == 0 && is_unsure(t, j) ? "unsure"
                                                         : "";
  p->r.marks = lapis_mat_text(p->marks, 1, t->n);
  return true;
}

/* Names of samples as texts. */
static bool name_samples(answer_page *p, const sheet *t)
{
  enum { DIGITS = 24 };
  const lapis_mat *from = &t->column[0].values;
  p->r.names = *from;
  if (from->dtype == LAPIS_TEXT) return true;
  p->names = calloc((size_t)t->n + 1, sizeof *p->names);
  p->numbers = malloc((size_t)t->n * DIGITS + 1);
  if (p->names == NULL || p->numbers == NULL) return false;
  for (int64_t j = 0; j < t->n; j++) {
    p->names[j] = p->numbers + j * DIGITS;
    lapis_number_text(lapis_mat_at(from, 0, j), p->numbers + j * DIGITS,
                      DIGITS);
  }
  p->r.names = lapis_mat_text(p->names, 1, t->n);
  return true;
}

/* Of one target of texts: its given labels, and those that look wrong, as
 * --suspects orders them. */
static bool doubt(cli *c, answer_page *p, const sheet *t)
{
  const lapis_mat *index, *margin;
  if (t->rather == 0 || !suspects_found(c, &index, &margin)) return true;
  p->given = calloc((size_t)t->n + 1, sizeof *p->given);
  p->suspect = calloc((size_t)index->cols + 1, sizeof *p->suspect);
  char *once = suspects_once(index, t->n);
  bool fine = p->given != NULL && p->suspect != NULL && once != NULL &&
              name_samples(p, t);
  for (int64_t j = 0; fine && j < t->n; j++)
    p->given[j] = sheet_is_given(t, 0, j) ? cell(t, 1, j) : "";
  p->title = t->column[1].title;
  p->r.label_names = lapis_mat_text(&p->title, 1, 1);
  p->r.labels = lapis_mat_text(p->given, 1, t->n);
  for (int64_t k = 0; fine && k < index->cols; k++) {
    int64_t j = (int64_t)lapis_mat_at(index, 0, k);
    const char *other = cell(t, t->rather, j);
    if (once[k] && *other != '\0')
      p->suspect[p->r.suspects++] = (lapis_report_suspect){
          j, 0, p->given[j], other, lapis_mat_at(margin, 0, k)};
  }
  p->r.suspect = p->suspect;
  free(once);
  return fine;
}

/* ---- the page -----------------------------------------------------------*/
static void count_rows(answer_page *p, const sheet *t)
{
  int64_t given = 0, unsure = 0, several = 0;
  for (int64_t j = 0; j < t->n; j++) {
    given += sheet_is_given(t, 0, j);
    unsure += strcmp(p->marks[j], "unsure") == 0;
    several += strcmp(p->marks[j], "several") == 0;
  }
  add_fact(p, "samples", "%lld", (long long)t->n);
  if (t->origin > 0 && t->targets == 1)
    add_fact(p, t->share > 0 ? "labels filled in" : "filled in", "%lld",
             (long long)(t->n - given));
  if (t->kept.cols > 0)
    add_fact(p, "sets of more than one class", "%lld", (long long)several);
  else if (t->share > 0)
    add_fact(p, "unsure answers", "%lld (below %g)", (long long)unsure, SURE);
}

static bool compose(cli *c, const lapis_solver *s, const lapis_dataset *ds,
                    const sheet *t, answer_page *p)
{
  const char *data = c->args.n_words > 0 ? c->args.word[c->args.n_words - 1]
                                         : args_get(&c->args, "X");
  const char *slash = data == NULL ? NULL : strrchr(data, '/');
  p->r = lapis_report_defaults();
  if (data != NULL) p->r.title = slash == NULL ? data : slash + 1;
  p->r.column = t->column;
  p->r.columns = t->count;
  p->r.fact = p->fact;
  p->r.setting = p->row;
  p->run = run_json(c, c->method->name, c->method, s, lapis_dataset_data(ds));
  if (p->run == NULL || !mark(p, t) || !doubt(c, p, t)) return false;
  count_rows(p, t);
  add_remarks(p, s);
  add_candidates(p, s);
  add_settings(p);
  p->r.command = lapis_json_text(p->run, "command", NULL);
  return true;
}

static lapis_status write_page(cli *c, const lapis_solver *s,
                               const lapis_dataset *ds, const sheet *t,
                               const char *path)
{
  answer_page *p = calloc(1, sizeof *p);
  lapis_status status =
      p == NULL || !compose(c, s, ds, t, p)
          ? lapis_fail(c->ctx, LAPIS_ENOMEM, "%s: out of memory", path)
          : lapis_report_write(c->ctx, &p->r, path);
  page_close(p);
  return status;
}

lapis_status answers_write(cli *c, const lapis_solver *s,
                           const lapis_dataset *ds, bool origins,
                           const char *path)
{
  if (has_matches(s)) return matches_write(c, s, ds, path);
  sheet t;
  lapis_status status = sheet_make(c, s, ds, origins, path, &t);
  if (status >= 0)
    status = is_page(path) ? write_page(c, s, ds, &t, path)
                           : lapis_sheet_write(c->ctx, path, t.column, t.count);
  sheet_close(&t);
  if (status >= 0 && t.targets == 0 && !c->quiet &&
      args_get(&c->args, "completed") == NULL)
    fprintf(stderr,
            "lapis: %s: %s: cells hold smoothed values; --completed F.csv "
            "fills empty cells alone\n",
            c->verb->name, path);
  return status;
}
