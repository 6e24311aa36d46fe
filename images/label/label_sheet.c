/* label_sheet.c - the answers as a table for people: a row an image. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "images/label/label.h"

typedef struct sheet {
  const label_run *w;
  csv_writer out;
  lapis_mat scores, kept; /* kept: of --coverage, or empty */
  int64_t *ask; /* n: which is asked for first, from 1; 0: it is not */
  char *text;   /* room for all names of classes */
} sheet;

static const char *class_name(const label_run *w, int64_t c)
{
  return w->given.name[w->given.kind == LABEL_TWO ? 1 : c];
}

static void put(sheet *s, bool last, const char *text)
{
  csv_writer_put(&s->out, text, last);
}

/* What a given label is doubted to be instead: the class it rather is; of many
 * labels "+a;-b": a should be there, b should not. */
static const char *doubt_of(sheet *s, int64_t i)
{
  const label_run *w = s->w;
  size_t used = 0;
  s->text[0] = '\0';
  for (int64_t k = 0; k < w->suspects && w->set.suspects > 0; k++) {
    int64_t c = w->suspect[2 * k + 1];
    if (w->suspect[2 * k] != i) continue;
    if (w->given.kind == LABEL_CLASS) return w->given.name[c];
    if (w->given.kind == LABEL_TWO) return w->given.name[w->Y[i] > 0 ? 0 : 1];
    used += (size_t)sprintf(s->text + used, "%s%s%s", used > 0 ? ";" : "",
                            w->Y[i * w->given.rows + c] > 0 ? "-" : "+",
                            w->given.name[c]);
  }
  return s->text;
}

static bool has_wrong(const label_run *w)
{
  for (int64_t k = 0; k < w->suspects && w->set.suspects > 0; k++)
    if (!isnan(w->doubt[k])) return true;
  return false;
}

/* How probably what doubt_of doubts is wrong, in its order. */
static const char *wrong_of(sheet *s, int64_t i)
{
  const label_run *w = s->w;
  size_t used = 0;
  s->text[0] = '\0';
  for (int64_t k = 0; k < w->suspects && w->set.suspects > 0; k++) {
    if (w->suspect[2 * k] != i) continue;
    if (used > 0) s->text[used++] = ';';
    lapis_number_print(s->text + used, 16, "%.6g", w->doubt[k]);
    lapis_dialect_number(&s->out.d, s->text + used);
    used += strlen(s->text + used);
  }
  return s->text;
}

/* The labels that an image may have, by its set; of many, which of them. */
static const char *set_of(sheet *s, int64_t i)
{
  const label_run *w = s->w;
  size_t used = 0;
  bool many = w->given.kind == LABEL_MANY;
  s->text[0] = '\0';
  for (int64_t c = 0; c < w->given.n_names; c++)
    if (lapis_mat_at(&s->kept, many ? 2 * c + 1 : c, i) > 0)
      used += (size_t)sprintf(s->text + used, "%s%s", used > 0 ? ";" : "",
                              w->given.name[c]);
  return s->text;
}

/* The places of the classes that an image has: "x,y WIDTHxHEIGHT CLASS" each.
 */
static void put_places(sheet *s, int64_t i)
{
  const found_boxes *p = &s->w->places;
  size_t used = 0;
  s->text[0] = '\0';
  for (int64_t k = 0; k < p->count; k++) {
    const double *b = p->box + 5 * k;
    if (p->image[k] != i) continue;
    used += (size_t)sprintf(s->text + used, "%s%.0f,%.0f %.0fx%.0f %s",
                            used > 0 ? ";" : "", b[0], b[1], b[2], b[3],
                            s->w->given.name[p->class_[k]]);
  }
  put(s, false, s->text);
}

static void put_titles(sheet *s)
{
  const label_run *w = s->w;
  bool cells = w->given.kind == LABEL_MANY;
  put(s, false, "image");
  put(s, false, "label");
  put(s, false, "origin");
  put(s, false, "rather");
  if (has_wrong(w)) put(s, false, "probability wrong");
  if (s->w->set.ask > 0) put(s, false, "ask");
  if (s->kept.cols > 0) put(s, false, "set");
  if (s->w->set.where) put(s, false, "where");
  for (int64_t c = 0; cells && c < w->given.K; c++) {
    sprintf(s->text, "origin of %s", class_name(w, c));
    put(s, false, s->text);
  }
  for (int64_t c = 0; c < w->given.K; c++) {
    sprintf(s->text, "score of %s", class_name(w, c));
    put(s, c + 1 == w->given.K, s->text);
  }
}

static void put_image(sheet *s, int64_t i)
{
  const label_run *w = s->w;
  int64_t K = w->given.K;
  bool cells = w->given.kind == LABEL_MANY;
  put(s, false, ((const char *const *)w->flow->names.val)[i]);
  put(s, false, w->answer[i]);
  put(s, false, label_origin(w, i));
  put(s, false, doubt_of(s, i));
  if (has_wrong(w)) put(s, false, wrong_of(s, i));
  if (w->set.ask > 0) {
    *s->text = '\0';
    if (s->ask[i] > 0) sprintf(s->text, "%" PRId64, s->ask[i]);
    put(s, false, s->text);
  }
  if (s->kept.cols > 0) put(s, false, set_of(s, i));
  if (s->w->set.where) put_places(s, i);
  for (int64_t c = 0; cells && c < K; c++)
    put(s, false, label_origin_at(w, i, c));
  for (int64_t c = 0; c < K; c++)
    csv_writer_put_number(&s->out, "%.6g", lapis_mat_at(&s->scores, c, i),
                          c + 1 == K);
}

lapis_status label_sheet_write(const lapis_flow *f, const char *path)
{
  const label_run *w = f->own;
  size_t room = 64;
  if (w->answer == NULL)
    return lapis_fail(f->ctx, LAPIS_EINVAL, "label: there are no labels yet");
  sheet s = {.w = w};
  TRY(flow_get(f, "scores", &s.scores));
  if (w->set.coverage > 0 && flow_get(f, "classes_kept", &s.kept) < 0)
    s.kept.cols = 0; /* nothing could be compared */
  for (int64_t c = 0; c < w->given.n_names; c++)
    room += strlen(w->given.name[c]) + 4 + 96; /* and a box */
  s.text = malloc(room);
  s.ask = calloc((size_t)f->n, sizeof *s.ask);
  if (s.text == NULL || s.ask == NULL) {
    free(s.text);
    free(s.ask);
    return lapis_fail(f->ctx, LAPIS_ENOMEM, "label: out of memory");
  }
  for (int64_t k = 0; k < w->asked_count; k++) s.ask[w->asked[k]] = k + 1;
  csv_writer_begin(&s.out, w->given.cells.dialect, path);
  put_titles(&s);
  for (int64_t i = 0; i < f->n; i++) put_image(&s, i);
  free(s.text);
  free(s.ask);
  return csv_writer_write(f->ctx, &s.out, path);
}
