/* label_page.c - the answer as a page: pictures with what was found in them,
 * labels in doubt, and how the run came to its settings. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "images/label/label.h"
#include "lapis/images.h"

enum { MOST_FACTS = 20, MOST_SETTINGS = 128, VALUE = 160 };

typedef struct page_memory { /* memory of one page */
  const label_run *w;
  int64_t columns;               /* of labels */
  const char **given, **answer;  /* columns x n */
  lapis_report_suspect *suspect; /* w->suspects */
  lapis_report_picture *picture; /* most of them */
  lapis_report_box *box;         /* w->places.count */
  lapis_report_heat *heat;       /* as many */
  int64_t heats;
  int64_t **region;    /* as many */
  int64_t most;        /* pictures */
  bool *drawn;         /* n */
  double *margin;      /* n */
  const char **beside; /* given.others x n */
  int64_t *place;      /* given.columns + 1: of labels.csv */
  char value[MOST_FACTS + 2 * MOST_SETTINGS][VALUE];
  lapis_report_row fact[MOST_FACTS], setting[MOST_SETTINGS + 2];
  int values;
  lapis_report page;
} page_memory;

static bool in_columns(const label_run *w)
{
  return w->given.kind == LABEL_MANY && !w->given.lists;
}

/* ---- labels -------------------------------------------------------------*/
static void fill_labels(page_memory *s)
{
  const label_run *w = s->w;
  for (int64_t i = 0; i < w->flow->n; i++)
    for (int64_t c = 0; c < s->columns; c++) {
      const double *y = w->Y + i * w->given.rows;
      bool known = in_columns(w) ? !isnan(y[c]) : w->known[i] != 0;
      const char **given = &s->given[i * s->columns + c];
      const char **answer = &s->answer[i * s->columns + c];
      *answer = !in_columns(w) ? w->answer[i] : label_has(w, i, c) ? "1" : "0";
      *given = known ? *answer : "";
    }
}

static lapis_mat text_grid(const char **text, int64_t rows, int64_t cols)
{
  lapis_mat m = lapis_mat_text(text, 1, cols);
  m.rows = m.ld = rows;
  return m;
}

static const char *proposed(const label_run *w, int64_t i, int64_t c)
{
  const labels *table = &w->given;
  if (in_columns(w)) return label_has(w, i, c) ? "0" : "1";
  if (table->kind == LABEL_TWO) return table->name[w->Y[i] > 0 ? 0 : 1];
  return table->name[c];
}

/* Of a list one entry less, or one more. */
static void fill_entry(page_memory *s, int64_t i, int64_t c,
                       lapis_report_suspect *to)
{
  const char *name = s->w->given.name[c];
  bool has = label_has(s->w, i, c);
  to->given = has ? name : "";
  to->proposed = has ? "" : name;
}

static void fill_suspects(page_memory *s)
{
  const label_run *w = s->w;
  for (int64_t k = 0; k < w->suspects; k++) {
    int64_t i = w->suspect[2 * k], c = w->suspect[2 * k + 1];
    int64_t column = in_columns(w) ? c : 0;
    lapis_report_suspect *to = &s->suspect[s->page.suspects++];
    *to = (lapis_report_suspect){.sample = i,
                                 .column = column,
                                 .given = s->given[i * s->columns + column],
                                 .proposed = proposed(w, i, c),
                                 .probability = w->doubt[k]};
    if (w->given.kind == LABEL_MANY && w->given.lists) fill_entry(s, i, c, to);
  }
  s->page.suspect = s->suspect;
}

/* ---- pictures -----------------------------------------------------------*/
static lapis_status draw_region(page_memory *s, int64_t at, int64_t place,
                                int64_t offset)
{
  const label_run *w = s->w;
  lapis_report_picture *p = &s->picture[at];
  const int64_t *size = (const int64_t *)w->flow->size.val + 2 * p->sample;
  int64_t count = size[0] * size[1];
  if (s->region[at] == NULL) {
    s->region[at] = malloc((size_t)count * sizeof **s->region);
    if (s->region[at] == NULL) return LAPIS_ENOMEM;
    for (int64_t k = 0; k < count; k++) s->region[at][k] = -1;
    p->regions = lapis_mat_i64(s->region[at], size[0], size[1]);
  }
  for (int64_t k = 0; k < count; k++)
    if (w->mask[offset + k]) s->region[at][k] = w->places.class_[place];
  return LAPIS_OK;
}

/* One for each class of a picture. */
static void add_heat(page_memory *s, lapis_report_picture *p, int64_t place)
{
  const found_boxes *f = &s->w->places;
  if (p->heats > 0 && p->heat[p->heats - 1].of_class == f->class_[place])
    return;
  lapis_report_heat *heat = &s->heat[s->heats++];
  double *cell = f->heat + LABEL_HEAT * LABEL_HEAT * place;
  *heat =
      (lapis_report_heat){.values = lapis_mat_f64(cell, LABEL_HEAT, LABEL_HEAT),
                          .of_class = f->class_[place]};
  if (p->heats++ == 0) p->heat = heat;
}

static lapis_status draw_places(page_memory *s, int64_t at)
{
  const label_run *w = s->w;
  lapis_report_picture *p = &s->picture[at];
  const int64_t *size = w->flow->size.val;
  int64_t offset = 0;
  lapis_status status = LAPIS_OK;
  for (int64_t k = 0; status >= 0 && k < w->places.count; k++) {
    int64_t image = w->places.image[k];
    const double *b = w->places.box + 5 * k;
    bool shown = image == p->sample;
    if (shown) {
      lapis_report_box *box = &s->box[k];
      *box = (lapis_report_box){.at = {b[0], b[1], b[2], b[3], b[4]},
                                .of_class =
                                    w->given.K > 1 ? w->places.class_[k] : 0};
      if (p->boxes == 0) p->box = box;
      p->boxes++;
      add_heat(s, p, k);
    }
    if (w->given.K > 1) {
      if (shown) status = draw_region(s, at, k, offset);
      offset += size[2 * image] * size[2 * image + 1];
    }
  }
  return status;
}

static lapis_status draw(page_memory *s, int64_t image, const char *why)
{
  int64_t at = s->page.pictures;
  if (at == s->most || s->drawn[image]) return LAPIS_OK;
  const char *path = ((const char *const *)s->w->flow->names.val)[image];
  s->drawn[image] = true;
  s->picture[at] =
      (lapis_report_picture){.sample = image, .path = path, .note = why};
  s->page.pictures++;
  return s->w->places.count > 0 ? draw_places(s, at) : LAPIS_OK;
}

/* How far the answer on an image is from another one: of one class of several
 * the best score above the second, else the nearest to the threshold of what
 * was filled in. */
static double sureness(const label_run *w, const lapis_mat *scores, int64_t i)
{
  bool one = w->given.kind == LABEL_CLASS;
  double first = -INFINITY, second = -INFINITY, least = INFINITY;
  for (int64_t c = 0; c < scores->rows; c++) {
    double v = lapis_mat_at(scores, c, i);
    second = fmax(second, fmin(first, v));
    first = fmax(first, v);
    if (!one && isnan(w->Y[i * w->given.rows + c]))
      least = fmin(least, fabs(v));
  }
  return one ? first - second : least;
}

typedef struct filled {
  double sure;
  int64_t image;
} filled;

static int by_sureness(const void *a, const void *b)
{
  const filled *x = a, *y = b;
  if (x->sure != y->sure) return x->sure < y->sure ? -1 : 1;
  return (x->image > y->image) - (x->image < y->image);
}

static bool is_filled(const label_run *w, int64_t i)
{
  for (int64_t c = 0; c < w->given.rows; c++)
    if (isnan(w->Y[i * w->given.rows + c])) return true;
  return false;
}

/* What its reader looks at, and what labels.csv has beside the labels. */
static void fill_desk(page_memory *s)
{
  const label_run *w = s->w;
  lapis_report *p = &s->page;
  const labels *table = &w->given;
  for (int64_t i = 0; i < w->flow->n; i++) {
    s->margin[i] = sureness(w, &p->scores, i);
    for (int64_t k = 0; k < table->others; k++)
      s->beside[i * table->others + k] = label_other(w, i, k);
  }
  for (int64_t k = 0; k < w->asked_count; k++) /* before all others */
    s->margin[w->asked[k]] = (double)(k - w->asked_count);
  p->margin = lapis_mat_f64(s->margin, 1, w->flow->n);
  p->checked = lapis_mat_u8(w->checked, 1, w->flow->n);
  p->lists = table->kind == LABEL_MANY && table->lists;
  p->name_title = *table->name_title == '\0' ? NULL : table->name_title;
  p->beside_names = lapis_mat_text(table->other_title, 1, table->others);
  p->beside = text_grid(s->beside, table->others, w->flow->n);
  /* who was checked is said last where the table did not say it */
  for (int64_t k = 0; k < table->columns; k++) s->place[k] = table->column[k];
  s->place[table->columns] = table->columns;
  p->csv_order = lapis_mat_i64(
      s->place, 1, table->columns + (table->checked == NULL ? 1 : 0));
}

/* Half of the room that is left. */
static lapis_status draw_least_sure(page_memory *s)
{
  const label_run *w = s->w;
  int64_t count = 0, room = s->page.pictures + (s->most - s->page.pictures) / 2;
  filled *all = calloc((size_t)w->flow->n + 1, sizeof *all);
  if (all == NULL) return LAPIS_ENOMEM;
  for (int64_t i = 0; i < w->flow->n; i++)
    if (is_filled(w, i)) all[count++] = (filled){s->margin[i], i};
  qsort(all, (size_t)count, sizeof *all, by_sureness);
  lapis_status status = LAPIS_OK;
  for (int64_t k = 0; status >= 0 && k < count && s->page.pictures < room; k++)
    status = draw(s, all[k].image, "least sure of those filled in");
  free(all);
  return status;
}

static bool in_class(const label_run *w, int64_t i, int64_t c)
{
  if (w->given.kind == LABEL_TWO) return label_has(w, i, 0) == (c == 1);
  return label_has(w, i, c);
}

/* While it was hidden a given label was predicted otherwise. */
static bool is_contradicted(const label_run *w, int64_t i, int64_t c)
{
  const double *said =
      w->held_out == NULL ? NULL : w->held_out + i * w->given.K;
  if (said == NULL || isnan(said[0])) return false;
  if (w->given.kind == LABEL_TWO) return (said[0] > 0) != (c == 1);
  if (w->given.kind == LABEL_MANY) return said[c] < 0;
  for (int64_t k = 0; k < w->given.K; k++)
    if (said[k] > said[c]) return true;
  return false;
}

/* One of each class in turn, as long as there is one that is not shown; those
 * that were filled in come first. */
static lapis_status draw_classes(page_memory *s)
{
  const label_run *w = s->w;
  int64_t classes = w->given.n_names, n = w->flow->n;
  int64_t *next = calloc((size_t)classes, sizeof *next);
  if (next == NULL) return LAPIS_ENOMEM;
  lapis_status status = LAPIS_OK;
  for (bool more = true; more && status >= 0 && s->page.pictures < s->most;) {
    more = false;
    for (int64_t c = 0; c < classes && status >= 0; c++) {
      int64_t at = next[c];
      while (at < 2 * n && (s->drawn[at % n] || !in_class(w, at % n, c) ||
                            is_filled(w, at % n) != (at < n)))
        at++;
      next[c] = at;
      if (at < 2 * n)
        status = draw(s, at % n,
                      is_contradicted(w, at % n, c)
                          ? "its label was predicted otherwise while hidden"
                          : "an example of its class");
      more = more || at < 2 * n;
    }
  }
  free(next);
  return status;
}

/* What deserves a look first. */
static lapis_status fill_pictures(page_memory *s)
{
  const label_run *w = s->w;
  for (int64_t k = 0; k < w->suspects; k++)
    TRY(draw(s, w->suspect[2 * k], "in doubt"));
  TRY(draw_least_sure(s));
  TRY(draw_classes(s));
  for (int64_t i = 0; i < w->flow->n; i++) TRY(draw(s, i, NULL));
  s->page.picture = s->picture;
  return LAPIS_OK;
}

/* ---- figures and settings -----------------------------------------------*/
static void add_fact(page_memory *s, const char *name, const char *format,
                     long long value)
{
  char *text = s->value[s->values++];
  snprintf(text, VALUE, format, value);
  s->fact[s->page.facts++] = (lapis_report_row){name, text};
}

static void fill_facts(page_memory *s)
{
  const label_run *w = s->w;
  long long known = 0;
  for (int64_t i = 0; i < w->flow->n; i++) known += w->known[i];
  add_fact(s, "images", "%lld", (long long)w->flow->n);
  add_fact(s, "labels given", "%lld", known);
  add_fact(s, "classes", "%lld", (long long)w->given.n_names);
  add_fact(s, "pictures shown",
           s->page.pictures < w->flow->n ? "%lld; more by --pictures" : "%lld",
           (long long)s->page.pictures);
  s->page.fact = s->fact;
}

/* Whether the method remarked it, of how it was chosen and solved. */
static bool is_of_method(const lapis_mat *notes, const char *text)
{
  for (int64_t i = 0; i < notes->cols; i++)
    if (strcmp(((const char *const *)notes->val)[3 * i + 2], text) == 0)
      return true;
  return false;
}

/* What was remarked of the images and the labels stands above the pictures;
 * the rest is for those who read the settings. */
static void fill_notes(page_memory *s)
{
  lapis_mat all, own;
  lapis_report *p = &s->page;
  if (flow_get(s->w->flow, "notes", &all) < 0) return;
  if (lapis_result_get(s->w->flow->solver, "notes", &own) < 0) own.cols = 0;
  if (own.cols > 0)
    s->setting[p->settings++] = (lapis_report_row){NULL, "Remarks"};
  const char *const *cell = all.val; /* level, name, text of each */
  for (int64_t i = 0; i < all.cols; i++) {
    const lapis_report_row row = {cell[3 * i], cell[3 * i + 2]};
    if (!is_of_method(&own, row.value) && p->facts < MOST_FACTS)
      s->fact[p->facts++] = row;
    else if (p->settings < MOST_SETTINGS)
      s->setting[p->settings++] = row;
  }
  if (p->settings > 0)
    s->setting[p->settings++] = (lapis_report_row){NULL, "Settings"};
}

/* But for those that `later` has, too: what it ran with is said there. */
static void add_settings(page_memory *s, const lapis_method *m,
                         const void *settings, const lapis_method *later)
{
  const lapis_param *p;
  for (int i = 0; (p = lapis_method_param(m, i)) != NULL &&
                  s->page.settings < MOST_SETTINGS;
       i++) {
    if (lapis_param_find(later, p->name) != NULL) continue;
    char *text = s->value[s->values++];
    (void)lapis_settings_get(NULL, m, settings, p->name, text, VALUE); /* cut */
    s->setting[s->page.settings++] = (lapis_report_row){p->name, text};
  }
}

static void fill_history(page_memory *s)
{
  const lapis_solver *from = s->w->flow->solver;
  const char *name;
  for (int i = 0; (name = lapis_result_name(from, i)) != NULL; i++) {
    if (strcmp(name, "history") == 0)
      lapis_result_get(from, name, &s->page.history);
    if (strcmp(name, "history_columns") == 0)
      lapis_result_get(from, name, &s->page.history_columns);
  }
}

/* ---- the page -----------------------------------------------------------*/
static bool allocate(page_memory *s)
{
  int64_t n = s->w->flow->n, cells = n * s->columns;
  s->given = calloc((size_t)cells, sizeof *s->given);
  s->answer = calloc((size_t)cells, sizeof *s->answer);
  s->suspect = calloc((size_t)s->w->suspects + 1, sizeof *s->suspect);
  s->most = s->w->set.pictures < n ? s->w->set.pictures : n;
  s->picture = calloc((size_t)s->most + 1, sizeof *s->picture);
  s->region = calloc((size_t)s->most + 1, sizeof *s->region);
  s->box = calloc((size_t)s->w->places.count + 1, sizeof *s->box);
  s->heat = calloc((size_t)s->w->places.count + 1, sizeof *s->heat);
  s->drawn = calloc((size_t)n, sizeof *s->drawn);
  s->margin = calloc((size_t)n, sizeof *s->margin);
  int64_t others = n * s->w->given.others;
  s->beside = calloc((size_t)others + 1, sizeof *s->beside);
  s->place = calloc((size_t)s->w->given.columns + 1, sizeof *s->place);
  return s->given != NULL && s->answer != NULL && s->suspect != NULL &&
         s->picture != NULL && s->region != NULL && s->box != NULL &&
         s->heat != NULL && s->drawn != NULL && s->margin != NULL &&
         s->beside != NULL && s->place != NULL;
}

static void release(page_memory *s)
{
  for (int64_t k = 0; s->region != NULL && k < s->most; k++) free(s->region[k]);
  free((void *)s->given);
  free((void *)s->answer);
  free(s->suspect);
  free(s->picture);
  free(s->region);
  free(s->box);
  free(s->heat);
  free(s->drawn);
  free(s->margin);
  free((void *)s->beside);
  free(s->place);
  free(s);
}

static lapis_status fill(page_memory *s, const char *const *title)
{
  const label_run *w = s->w;
  const labels *table = &w->given;
  lapis_report *p = &s->page;
  fill_labels(s);
  p->dialect = w->given.cells.dialect;
  p->names = w->flow->names;
  p->label_names =
      lapis_mat_text(in_columns(w) ? table->name : title, 1, s->columns);
  p->labels = text_grid(s->given, s->columns, w->flow->n);
  p->answers = text_grid(s->answer, s->columns, w->flow->n);
  p->class_names = table->kind == LABEL_TWO
                       ? lapis_mat_text(table->name + 1, 1, 1)
                       : lapis_mat_text(table->name, 1, table->n_names);
  TRY(flow_get(w->flow, "scores", &p->scores));
  if (w->held_out != NULL)
    p->held_out = lapis_mat_f64(w->held_out, w->given.K, w->flow->n);
  if (w->held_out != NULL) p->truth = w->flow->data.Y;
  fill_suspects(s);
  fill_desk(s);
  TRY(fill_pictures(s));
  if (label_figures(w->flow->solver, &p->candidate_figures, &p->chosen) ==
          NULL ||
      lapis_result_get(w->flow->solver, "candidates", &p->candidates) < 0)
    p->candidates.cols = 0;
  fill_facts(s);
  fill_notes(s);
  const lapis_method *method = lapis_result_method(w->flow->solver);
  add_settings(s, &label_method, &w->set, method);
  add_settings(s, method, lapis_result_settings(w->flow->solver), NULL);
  p->setting = s->setting;
  fill_history(s);
  return LAPIS_OK;
}

lapis_status label_page(const lapis_flow *f, const char *path,
                        const char *command)
{
  const label_run *w = f->own;
  if (w->answer == NULL)
    return lapis_fail(w->flow->ctx, LAPIS_EINVAL,
                      "label: there are no labels yet");
  page_memory *s = calloc(1, sizeof *s);
  const char *title = *w->given.title == '\0' ? "label" : w->given.title;
  lapis_status status = LAPIS_ENOMEM;
  if (s == NULL)
    return lapis_fail(w->flow->ctx, status, "label: out of memory");
  s->w = w;
  s->columns = in_columns(w) ? w->given.K : 1;
  s->page = lapis_report_defaults();
  s->page.title = "Labels of images";
  s->page.command = command;
  if (allocate(s)) status = fill(s, &title);
  if (status == LAPIS_ENOMEM)
    (void)lapis_fail(w->flow->ctx, status, "label: out of memory");
  if (status >= 0) status = lapis_report_write(w->flow->ctx, &s->page, path);
  release(s);
  return status;
}
