/* answer_page.c - answers as a page: the table of answers first, given labels
 * that look wrong, then what was remarked, compared and set, and the command.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answer_sheet.h"
#include "candidate_sheet.h"
#include "command/run/grids.h"
#include "command/run/page_rows.h"
#include "importance_sheet.h"
#include "lapis/images.h"

typedef struct answer_page {
  lapis_report r;
  page_rows settings, facts;
  const char **marks, **names, **given;
  const char *title;
  lapis_report_suspect *suspect;
  char *numbers; /* behind names that are numbers */
  lapis_json *run;
  /* of labels that were hidden: log-odds, truth, and classes */
  double *held, *truth;
  const char **classes;
  char value[2][32];         /* of labels that are numbers, the lower first */
  lapis_cells before, after; /* of a table that was completed */
  const char **cells;
  unsigned char *filled;
  cli_importance importance;
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
  free(p->held);
  free(p->truth);
  free(p->classes);
  lapis_cells_free(&p->before);
  lapis_cells_free(&p->after);
  free(p->cells);
  free(p->filled);
  importance_free(&p->importance);
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
static void add_candidates(answer_page *p, const lapis_solver *s)
{
  lapis_mat names = result_of(s, "candidates"), chosen = result_of(s, "chosen");
  lapis_mat figures = result_of(s, "candidate_figures");
  if (names.cols == 0 || figures.cols != names.cols || chosen.cols != 1) return;
  int64_t best = (int64_t)lapis_mat_at(&chosen, 0, 0);
  const char *const *text = names.val;
  const char *method = text[best * names.rows];
  page_rows_add(&p->facts, "answered by", "%s%s %s", method,
                strcmp(method, "mean") == 0 ? " of" : "",
                text[best * names.rows + 1]);
  if (isnan(lapis_mat_at(&figures, 3, best)))
    page_rows_add(&p->facts, "R^2 on hidden numbers", "%.3f +- %.3f",
                  lapis_mat_at(&figures, 2, best),
                  lapis_mat_at(&figures, 1, best));
  p->r.candidates = names;
  p->r.candidate_figures = figures;
  p->r.chosen = best;
}

static lapis_status add_importance(cli *c, answer_page *p,
                                   const lapis_solver *s,
                                   const lapis_dataset *ds)
{
  cli_importance *of = &p->importance;
  lapis_status status = importance_read(c, s, ds, of);
  if (status < 0 || of->count == 0) return status;
  p->r.importance = lapis_mat_f64(of->value, 2, of->count);
  p->r.importance_names = lapis_mat_text(of->name, 1, of->count);
  p->r.importance_ways = lapis_mat_text(of->way, 1, of->count);
  p->r.importance_of_numbers = of->numbers;
  return LAPIS_OK;
}

static void add_settings(answer_page *p, const lapis_solver *s)
{
  lapis_mat notes = result_of(s, "notes");
  if (notes.cols > 0) page_rows_add(&p->settings, NULL, "Remarks");
  page_rows_notes(&p->settings, &notes);
  page_rows_add(&p->settings, NULL, "Settings");
  page_rows_json(&p->settings, lapis_json_get(p->run, "settings"), 17);
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
static bool is_unsure(const sheet *t, int64_t j, double sure)
{
  double most = 0;
  bool one = t->shares == 1;
  for (int k = t->share; k < t->share + t->shares; k++) {
    double v = lapis_mat_at(&t->column[k].values, 0, j);
    double surest = one || t->targets > 1 ? fmax(v, 1 - v) : v;
    if (t->targets > 1 && surest < sure && !sheet_is_given(t, k - t->share, j))
      return true;
    most = fmax(most, surest);
  }
  return t->share > 0 && most < sure && !sheet_is_given(t, 0, j);
}

/* A given label or number is rather another. */
static bool is_doubted(const sheet *t, int64_t j)
{
  const lapis_mat *m = &t->column[t->rather].values;
  if (t->rather == 0) return false;
  return m->dtype == LAPIS_TEXT ? *cell(t, t->rather, j) != '\0'
                                : !isnan(lapis_mat_at(m, 0, j));
}

static bool mark(answer_page *p, const sheet *t, double sure)
{
  p->marks = calloc((size_t)t->n + 1, sizeof *p->marks);
  if (p->marks == NULL) return false;
  for (int64_t j = 0; j < t->n; j++)
    p->marks[j] = is_doubted(t, j)                             ? "doubted"
                  : has_several(t, j)                          ? "several"
                  : t->kept.cols == 0 && is_unsure(t, j, sure) ? "unsure"
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

/* The given labels of one target. */
static bool give(answer_page *p, const sheet *t, const lapis_mat *Y)
{
  double low = INFINITY;
  if (t->origin == 0 || Y->rows != 1) return true;
  p->given = calloc((size_t)t->n + 1, sizeof *p->given);
  if (p->given == NULL) return false;
  for (int64_t j = 0; j < t->n; j++)
    low = fmin(low, lapis_mat_at(Y, 0, j)); /* NaN aside */
  for (int64_t j = 0; j < t->n; j++) {
    double v = lapis_mat_at(Y, 0, j);
    bool text = t->column[1].values.dtype == LAPIS_TEXT;
    p->given[j] = isnan(v) ? "" : text ? cell(t, 1, j) : p->value[v > low];
    if (!isnan(v) && !text)
      lapis_number_text(v, p->value[v > low], sizeof p->value[0]);
  }
  p->title = t->column[1].title;
  p->r.label_names = lapis_mat_text(&p->title, 1, 1);
  p->r.labels = lapis_mat_text(p->given, 1, t->n);
  return true;
}

/* ---- labels that were hidden ---------------------------------------------*/
/* One of several classes: its place among them; else whether it is the larger
 * value. */
static double truth_of(const lapis_mat *classes, const lapis_mat *Y, double v,
                       double low)
{
  int64_t k = 0;
  if (isnan(v)) return NAN;
  if (Y->rows > 1 || classes->cols < 3) return v > low;
  while (k < classes->cols - 1 && lapis_mat_at(classes, 0, k) != v) k++;
  return (double)k;
}

/* What was said of them, and what they are. */
static bool hold(answer_page *p, const lapis_solver *s, const lapis_mat *Y,
                 const sheet *t)
{
  static const double LEAST = 1e-12;
  static const char of[] = "probability of ";
  lapis_mat held = result_of(s, "held_out"), classes = result_of(s, "classes");
  int64_t K = held.rows, n = held.cols, rows = Y->rows;
  bool fits = t->share > 0 && n == Y->cols && (rows == 1 || rows == K);
  if (n == 0 || !fits || t->shares != K) return true;
  p->held = malloc((size_t)(K * n) * sizeof *p->held);
  p->truth = malloc((size_t)(rows * n) * sizeof *p->truth);
  p->classes = calloc((size_t)K, sizeof *p->classes);
  if (p->held == NULL || p->truth == NULL || p->classes == NULL) return false;
  for (int64_t k = 0; k < K * n; k++) {
    double q = lapis_mat_at(&held, k % K, k / K);
    q = isnan(q) ? q : fmin(fmax(q, LEAST), 1 - LEAST);
    p->held[k] = log(q) - log1p(-q);
  }
  for (int64_t i = 0; i < rows; i++) {
    double low = INFINITY;
    for (int64_t j = 0; j < n; j++) low = fmin(low, lapis_mat_at(Y, i, j));
    for (int64_t j = 0; j < n; j++)
      p->truth[j * rows + i] =
          truth_of(&classes, Y, lapis_mat_at(Y, i, j), low);
  }
  for (int64_t k = 0; k < K; k++) {
    const char *title = t->column[t->share + k].title;
    bool named = strncmp(title, of, strlen(of)) == 0;
    p->classes[k] = named ? title + strlen(of) : t->column[1].title;
  }
  p->r.held_out = p->r.scores = lapis_mat_f64(p->held, K, n);
  p->r.truth = lapis_mat_f64(p->truth, rows, n);
  p->r.class_names = lapis_mat_text(p->classes, 1, K);
  return true;
}

/* ---- the table that was completed ----------------------------------------*/
/* Cells of a row that are filled in now. */
static int64_t fill_row(const answer_page *p, int64_t row, int64_t columns,
                        unsigned char *filled)
{
  int64_t count = 0;
  for (int64_t i = 0; i < columns; i++) {
    int64_t at = row * p->before.columns + i;
    filled[i] = *p->before.text[at] == '\0' && *p->after.text[at] != '\0';
    count += filled[i];
  }
  return count;
}

/* The first rows that had an empty cell. */
static lapis_status complete(cli *c, answer_page *p)
{
  enum { MOST_SHOWN = 25, MOST_COLUMNS = 60 };
  const char *to = args_get(&c->args, "completed");
  const char *missing = args_get(&c->args, "missing");
  const char *header = args_get(&c->args, "header");
  const lapis_format *format =
      to == NULL ? NULL : lapis_format_of_name(c->args.word[0]);
  bool titled = header == NULL || strcmp(header, "no") != 0;
  if (format == NULL || !is_sheet(c->args.word[0]) || !titled) return LAPIS_OK;
  lapis_status s =
      lapis_cells_read(c->ctx, c->args.word[0], missing, &p->before);
  if (s >= 0) s = lapis_cells_read(c->ctx, to, missing, &p->after);
  if (s < 0) return s;
  int64_t columns = p->after.columns, shown = 0, all = 0;
  if (p->before.rows != p->after.rows || p->before.columns != columns)
    return LAPIS_OK;
  if (columns > MOST_COLUMNS) columns = MOST_COLUMNS;
  p->cells = calloc((size_t)columns * MOST_SHOWN, sizeof *p->cells);
  p->filled = calloc((size_t)columns * (MOST_SHOWN + 1), 1);
  if (p->cells == NULL || p->filled == NULL) return LAPIS_ENOMEM;
  for (int64_t row = 1; row < p->after.rows; row++) {
    if (fill_row(p, row, columns, p->filled + shown * columns) == 0) continue;
    all++;
    if (shown == MOST_SHOWN) continue;
    for (int64_t i = 0; i < columns; i++)
      p->cells[shown * columns + i] = p->after.text[row * p->after.columns + i];
    shown++;
  }
  p->r.cell_titles = lapis_mat_text(p->after.text, 1, columns);
  p->r.cells = lapis_mat_text(p->cells, columns, shown);
  p->r.cells_filled = lapis_mat_u8(p->filled, columns, shown);
  p->r.cell_rows = all;
  return LAPIS_OK;
}

/* Of one target of texts all that --suspects lists, in its order; what does not
 * look wrong is proposed as it is given. */
static bool doubt(cli *c, answer_page *p, const sheet *t)
{
  const lapis_mat *index, *doubts;
  int64_t wrong = t->rather == 0 ? -1 : suspects_found(c, &index, &doubts);
  if (wrong < 0) return true;
  bool probable = wrong_labels(c) != NULL;
  p->suspect = calloc((size_t)index->cols + 1, sizeof *p->suspect);
  bool fine = p->suspect != NULL && name_samples(p, t);
  for (int64_t k = 0; fine && k < index->cols; k++) {
    int64_t j = (int64_t)lapis_mat_at(index, 0, k);
    const char *other = cell(t, t->rather, j);
    p->suspect[p->r.suspects++] = (lapis_report_suspect){
        j, 0, p->given[j], *other != '\0' ? other : p->given[j],
        probable ? lapis_mat_at(doubts, 0, k) : NAN};
  }
  p->r.suspect = p->suspect;
  p->r.suspects_fit_least = wrong == 0;
  return fine;
}

/* ---- the page -----------------------------------------------------------*/
static void count_rows(const cli *c, answer_page *p, const sheet *t)
{
  int64_t given = 0, unsure = 0, several = 0, doubted = 0;
  const char *share = args_get(&c->args, "coverage");
  for (int64_t j = 0; j < t->n; j++) {
    doubted += strcmp(p->marks[j], "doubted") == 0;
    given += sheet_is_given(t, 0, j);
    unsure += strcmp(p->marks[j], "unsure") == 0;
    several += strcmp(p->marks[j], "several") == 0;
  }
  page_rows_add(&p->facts, "samples", "%lld", (long long)t->n);
  if (t->origin > 0 && t->targets == 1)
    page_rows_add(&p->facts, t->share > 0 ? "labels filled in" : "filled in",
                  "%lld", (long long)(t->n - given));
  if (doubted > 0 && t->column[t->rather].values.dtype != LAPIS_TEXT)
    page_rows_add(&p->facts, "given numbers far from what all others say",
                  "%lld", (long long)doubted);
  if (share != NULL && t->kept.cols == 0 && t->sets > 0)
    page_rows_add(&p->facts, "low to high", "holds a share of %s", share);
  char sentence[320];
  const int64_t *wrong = wrong_labels(c);
  if (wrong != NULL)
    page_rows_add(&p->facts, "wrong labels", "%s",
                  lapis_doubts_text(wrong, sentence, sizeof sentence));
  if (t->kept.cols > 0)
    page_rows_add(&p->facts, "sets of more than one class", "%lld",
                  (long long)several);
  else if (t->share > 0)
    page_rows_add(&p->facts, "unsure answers", "%lld (below %g)",
                  (long long)unsure, sure_from(c));
}

static lapis_status compose(cli *c, const lapis_solver *s,
                            const lapis_dataset *ds, const sheet *t,
                            answer_page *p)
{
  const lapis_mat *Y = &lapis_dataset_data(ds)->Y;
  const char *data = c->args.n_words > 0 ? c->args.word[c->args.n_words - 1]
                                         : args_get(&c->args, "X");
  const char *slash = data == NULL ? NULL : strrchr(data, '/');
  p->r = lapis_report_defaults();
  if (data != NULL) p->r.title = slash == NULL ? data : slash + 1;
  p->r.dialect = dialect_of(c, ds);
  p->r.column = t->column;
  p->r.columns = t->count;
  p->r.fact = p->facts.row;
  p->r.setting = p->settings.row;
  p->run = run_json(c, c->method->name, c->method, s, lapis_dataset_data(ds));
  if (p->run == NULL || !mark(p, t, sure_from(c)) || !give(p, t, Y) ||
      !hold(p, s, Y, t) || !doubt(c, p, t))
    return LAPIS_ENOMEM;
  count_rows(c, p, t);
  add_candidates(p, s);
  add_settings(p, s);
  p->r.facts = p->facts.count;
  p->r.settings = p->settings.count;
  p->r.command = lapis_json_text(p->run, "command", NULL);
  lapis_status status = add_importance(c, p, s, ds);
  return status < 0 ? status : complete(c, p);
}

static lapis_status write_page(cli *c, const lapis_solver *s,
                               const lapis_dataset *ds, const sheet *t,
                               const char *path)
{
  answer_page *p = calloc(1, sizeof *p);
  lapis_status status = p == NULL ? LAPIS_ENOMEM : compose(c, s, ds, t, p);
  if (status == LAPIS_ENOMEM)
    (void)lapis_fail(c->ctx, status, "%s: out of memory", path);
  if (status >= 0) status = lapis_report_write(c->ctx, &p->r, path);
  page_close(p);
  return status;
}

/* Of given labels what was said of them while they were hidden: a probability
 * that has learnt from a label does not confirm it.  Where none were, a page
 * says nothing, and a table what the method does. */
static lapis_status show_held_out(cli *c, const lapis_solver *s,
                                  const char *path, sheet *t)
{
  lapis_mat held = result_of(s, "held_out");
  bool fits = held.cols == t->n && held.rows == t->shares;
  bool shows = t->origin > 0 && (fits || is_page(path));
  for (int i = 0; shows && i < t->shares; i++) {
    int k = t->share + i;
    double *own = malloc(((size_t)t->n + 1) * sizeof *own);
    if (own == NULL)
      return lapis_fail(c->ctx, LAPIS_ENOMEM, "the page: out of memory");
    for (int64_t j = 0; j < t->n; j++)
      own[j] = !sheet_is_given(t, t->targets > 1 ? i : 0, j)
                   ? lapis_mat_at(&t->column[k].values, 0, j)
               : fits ? lapis_mat_at(&held, i, j)
                      : NAN;
    t->owned[k] = own;
    t->column[k].values = lapis_mat_f64(own, 1, t->n);
  }
  return LAPIS_OK;
}

lapis_status answers_write(cli *c, const lapis_solver *s,
                           const lapis_dataset *ds, const lapis_map *map,
                           bool origins, const char *path)
{
  if (has_matches(s)) return matches_write(c, s, ds, path);
  sheet t;
  lapis_status status = sheet_make(c, s, ds, map, origins, path, &t);
  if (status >= 0) status = show_held_out(c, s, path, &t);
  if (status >= 0)
    status = is_page(path) ? write_page(c, s, ds, &t, path)
                           : lapis_sheet_write(c->ctx, path, dialect_of(c, ds),
                                               t.column, t.count);
  sheet_close(&t);
  if (status >= 0 && t.targets == 0 && !c->quiet &&
      result_of(s, "completed").cols == 0 &&
      args_get(&c->args, "completed") == NULL)
    fprintf(stderr,
            "lapis: %s: %s: cells hold smoothed values; --completed F.csv "
            "fills only empty cells\n",
            c->verb->name, path);
  return status;
}
