/* vocabulary_file.c - vocabularies as numpy archives. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "files/io.h"
#include "images/words/vocabulary.h"

enum { MEMBERS = VOCABULARY_LEVELS + 3, MOST_BRANCH = 1000000 };
static const char *const level_names[VOCABULARY_LEVELS] = {
    "level_1", "level_2", "level_3", "level_4"};

static lapis_mat floats(float *val, int64_t rows, int64_t cols)
{
  return lapis_mat_f32(val, rows, cols);
}

lapis_status vocabulary_write(lapis_ctx *ctx, const char *path,
                              const vocabulary *v)
{
  lapis_named item[MEMBERS] = {{.name = NULL}};
  const char *const text[] = {v->made};
  int n = 0;
  for (int64_t l = 0; l < v->levels; l++)
    item[n++] =
        (lapis_named){.name = level_names[l],
                      .mat = floats(v->level[l].val, v->d, v->level[l].count)};
  item[n++] = (lapis_named){
      .name = "shift", .mat = floats(v->shift, 1, v->d), .flat = true};
  item[n++] = (lapis_named){
      .name = "scale", .mat = floats(v->scale, 1, v->d), .flat = true};
  item[n++] = (lapis_named){
      .name = "made", .mat = lapis_mat_text(text, 1, 1), .flat = true};
  return io_npz_write(ctx, path, item, n);
}

/* ---- reading ------------------------------------------------------------*/
typedef struct reading {
  lapis_ctx *ctx;
  const char *path;
  lapis_arrays all;
  vocabulary *v;
} reading;

/* An array of finite floats with so many rows, or a sentence. */
static lapis_status find(const reading *r, const char *name, int64_t rows,
                         const lapis_mat **out)
{
  const lapis_array *a = lapis_arrays_find(&r->all, name);
  if (a == NULL)
    return lapis_fail(r->ctx, LAPIS_EFORMAT,
                      "%s: has no member %s; no vocabulary that LAPIS wrote",
                      r->path, name);
  const lapis_mat *m = *out = &a->mat;
  if (m->dtype != LAPIS_F32 || m->colptr != NULL || m->rows != rows ||
      m->cols < 1)
    return lapis_fail(r->ctx, LAPIS_EFORMAT,
                      "%s: member %s is %" PRId64 " x %" PRId64
                      "; rows of %" PRId64 " float32 numbers are needed",
                      r->path, name, m->cols, m->rows, rows);
  const float *x = m->val;
  for (int64_t j = 0; j < m->cols; j++)
    for (int64_t i = 0; i < m->rows; i++)
      if (!isfinite(x[j * m->ld + i]))
        return lapis_fail(r->ctx, LAPIS_EDATA,
                          "%s: member %s: row %" PRId64 ", column %" PRId64
                          " is not a finite number",
                          r->path, name, j + 1, i + 1);
  return LAPIS_OK;
}

static void copy(const lapis_mat *from, float *to)
{
  for (int64_t j = 0; j < from->cols; j++)
    memcpy(to + j * from->rows, (const float *)from->val + j * from->ld,
           (size_t)from->rows * sizeof *to);
}

static lapis_status read_row(const reading *r, const char *name, float **out)
{
  const lapis_mat *m;
  TRY(find(r, name, 1, &m));
  if (m->cols != r->v->d)
    return lapis_fail(r->ctx, LAPIS_EFORMAT,
                      "%s: member %s has %" PRId64 " numbers, not %" PRId64,
                      r->path, name, m->cols, r->v->d);
  *out = base_alloc(r->ctx, m->cols, sizeof **out);
  if (*out == NULL) return LAPIS_ENOMEM;
  copy(m, *out);
  return LAPIS_OK;
}

static lapis_status read_levels(const reading *r)
{
  vocabulary *v = r->v;
  const lapis_mat *m;
  v->words = 1;
  for (int64_t l = 0; l < VOCABULARY_LEVELS; l++) {
    if (l > 0 && lapis_arrays_find(&r->all, level_names[l]) == NULL) break;
    TRY(find(r, level_names[l], v->d, &m));
    if (l == 0) v->branch = m->cols;
    if (m->cols > MOST_BRANCH || m->cols != v->words * v->branch)
      return lapis_fail(r->ctx, LAPIS_EFORMAT,
                        "%s: member %s has %" PRId64 " words, %" PRId64
                        " are needed",
                        r->path, level_names[l], m->cols, v->words * v->branch);
    v->words = m->cols;
    TRY(nearest_new(r->ctx, v->d, m->cols, &v->level[l]));
    copy(m, v->level[l].val);
    nearest_refresh(&v->level[l]);
    v->levels = l + 1;
  }
  return LAPIS_OK;
}

/* A side, in pixels, that images were brought to. */
static lapis_status read_side(const reading *r, const lapis_json *made,
                              const char *name, int64_t least, int64_t *out)
{
  double v = lapis_json_number(made, name, -1);
  if (v != -1 && !(v >= (double)least && v <= VOCABULARY_SIDE && v == floor(v)))
    return lapis_fail(r->ctx, LAPIS_EDATA,
                      "%s: made says %s %g; a whole number from %" PRId64
                      " to %d is needed",
                      r->path, name, v, least, VOCABULARY_SIDE);
  *out = (int64_t)v;
  return LAPIS_OK;
}

/* made is a JSON object that says what the words describe. */
static lapis_status read_made(const reading *r, const char *of)
{
  const lapis_array *a = lapis_arrays_find(&r->all, "made");
  if (a == NULL || a->mat.dtype != LAPIS_TEXT || a->mat.rows * a->mat.cols != 1)
    return lapis_fail(r->ctx, LAPIS_EFORMAT,
                      "%s: has no text member made; no vocabulary that LAPIS "
                      "wrote",
                      r->path);
  const char *text = *(const char *const *)a->mat.val;
  lapis_json *json;
  TRY(lapis_json_parse(r->ctx, text, strlen(text), r->path, &json));
  lapis_status s = LAPIS_OK;
  const char *is = lapis_json_text(json, "of", "something unnamed");
  if (strcmp(is, of) != 0)
    s = lapis_fail(r->ctx, LAPIS_EINVAL,
                   "%s: is a vocabulary of %s, not of %s as these settings ask",
                   r->path, is, of);
  if (s >= 0)
    s = read_side(r, json, "longest", VOCABULARY_LONGEST, &r->v->longest);
  if (s >= 0) s = read_side(r, json, "enlarge", 0, &r->v->enlarge);
  const char *bins = lapis_json_text(json, "bins", NULL);
  if (s >= 0 && bins != NULL) {
    r->v->bins = base_strdup(r->ctx, bins);
    if (r->v->bins == NULL) s = LAPIS_ENOMEM;
  }
  lapis_json_free(json);
  if (s < 0) return s;
  r->v->made = base_strdup(r->ctx, text);
  return r->v->made == NULL ? LAPIS_ENOMEM : LAPIS_OK;
}

static lapis_status read_all(const reading *r, const char *of)
{
  vocabulary *v = r->v;
  TRY(read_made(r, of));
  TRY(read_levels(r));
  TRY(read_row(r, "shift", &v->shift));
  TRY(read_row(r, "scale", &v->scale));
  for (int64_t a = 0; a < v->d; a++)
    if (!(v->scale[a] > 0))
      return lapis_fail(r->ctx, LAPIS_EDATA,
                        "%s: member scale: number %" PRId64 " is not positive",
                        r->path, a + 1);
  return LAPIS_OK;
}

lapis_status vocabulary_read(lapis_ctx *ctx, const char *path, const char *of,
                             int64_t d, vocabulary *out)
{
  reading r = {.ctx = ctx, .path = path, .v = out};
  *out = (vocabulary){.d = d};
  TRY(lapis_arrays_read(ctx, path, &r.all));
  lapis_status s = read_all(&r, of);
  lapis_arrays_free(&r.all);
  if (s < 0) vocabulary_free(out);
  return s;
}
