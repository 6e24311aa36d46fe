/* table_write.c - cells between commas or tabs: the samples' names, then
 * features, then targets.  A header is written where there is more than plain
 * features, so that columns can be asked for by name. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "files/io.h"

typedef struct sheet {
  io_print p;
  lapis_dialect d;
  lapis_mat X;              /* dense */
  const lapis_mat *Y;       /* or NULL */
  const lapis_mat *names;   /* of samples, or NULL */
  const lapis_mat *feature; /* names of features, or NULL */
  const lapis_mat *class; /* names of targets, or of the one target's values */
  const lapis_mat *target, *id; /* titles of targets and of names, or NULL */
  const lapis_mat *value; /* texts of the codes of several targets: a row for
                           * all, or a row each */
} sheet;

static const char *text_of(const lapis_mat *row, int64_t i)
{
  const char *s = ((const char *const *)row->val)[i * row->ld];
  return s == NULL ? "" : s;
}

static void put_cell(sheet *s, const char *text)
{
  io_put_cell(&s->p, text, s->d.delimiter);
}

/* What is not known is an empty cell; alone in its row it would be no row. */
static void put_number(sheet *s, double value)
{
  bool alone = s->names == NULL && s->X.rows + (s->Y ? s->Y->rows : 0) == 1;
  char text[40];
  if (isnan(value) && !alone) return;
  io_number_text(value, text, sizeof text);
  lapis_dialect_number(&s->d, text);
  io_put_text(&s->p, text);
}

/* Delimiter before every cell but the first of a row. */
static void next_cell(sheet *s, bool *first)
{
  if (!*first) io_put(&s->p, &s->d.delimiter, 1);
  *first = false;
}

static void put_title(sheet *s, const lapis_mat *names, int64_t i,
                      const char *letter)
{
  char text[40];
  (void)snprintf(text, sizeof text, "%s%" PRId64, letter, i + 1);
  put_cell(s, names != NULL ? text_of(names, i) : text);
}

/* Class names are titles of several targets; of one they are its values. */
static bool has_class_texts(const sheet *s)
{
  return s->Y != NULL && s->Y->rows == 1 && s->class != NULL &&
         s->class->cols > 1;
}

static void put_header(sheet *s)
{
  bool first = true;
  if (s->names != NULL) {
    next_cell(s, &first);
    put_cell(s, s->id != NULL ? text_of(s->id, 0) : "id");
  }
  for (int64_t i = 0; i < s->X.rows; i++) {
    next_cell(s, &first);
    put_title(s, s->feature, i, "x");
  }
  for (int64_t i = 0; s->Y != NULL && i < s->Y->rows; i++) {
    next_cell(s, &first);
    const lapis_mat *titles = s->target != NULL ? s->target : s->class;
    bool titled = titles != NULL && titles->cols == s->Y->rows;
    put_title(s, titled ? titles : NULL, i, "y");
  }
  io_put_text(&s->p, s->d.end);
}

static void put_target(sheet *s, int64_t i, int64_t j)
{
  double v = lapis_mat_at(s->Y, i, j);
  const lapis_mat *texts = has_class_texts(s) ? s->class : s->value;
  if (texts != NULL && v >= 0 && v < (double)texts->cols) {
    int64_t row = texts->rows == s->Y->rows ? i : 0;
    put_cell(s,
             ((const char *const *)texts->val)[(int64_t)v * texts->ld + row]);
  } else
    put_number(s, v);
}

static void put_row(sheet *s, int64_t j)
{
  bool first = true;
  if (s->names != NULL) {
    next_cell(s, &first);
    put_cell(s, text_of(s->names, j));
  }
  for (int64_t i = 0; i < s->X.rows; i++) {
    next_cell(s, &first);
    put_number(s, lapis_mat_at(&s->X, i, j));
  }
  for (int64_t i = 0; s->Y != NULL && i < s->Y->rows; i++) {
    next_cell(s, &first);
    put_target(s, i, j);
  }
  io_put_text(&s->p, s->d.end);
}

static const lapis_mat *mat_of(const lapis_named *item, int count,
                               const char *name)
{
  const lapis_named *found = io_find_item(item, count, name);
  return found == NULL ? NULL : &found->mat;
}

static lapis_status write_sheet(lapis_ctx *ctx, const char *path, sheet *s)
{
  TRY(io_print_begin(ctx, path, &s->p));
  io_put_text(&s->p, s->d.begin);
  if (s->names != NULL || s->Y != NULL || s->feature != NULL) put_header(s);
  for (int64_t j = 0; j < s->X.cols; j++) put_row(s, j);
  return io_print_end(&s->p);
}

static lapis_status write_table(lapis_ctx *ctx, const char *path,
                                const lapis_named *item, int count,
                                const char *like)
{
  static const char *const kept[] = {"X",
                                     "Y",
                                     "names",
                                     "feature_names",
                                     "class_names",
                                     "target_names",
                                     "target_values",
                                     "id_name",
                                     "dialect",
                                     NULL};
  lapis_array owned;
  const lapis_mat *dialect = mat_of(item, count, "dialect");
  sheet s = {.d = lapis_dialect_for(
                 dialect != NULL ? text_of(dialect, 0) : NULL, like),
             .Y = mat_of(item, count, "Y"),
             .names = mat_of(item, count, "names"),
             .feature = mat_of(item, count, "feature_names"),
             .class = mat_of(item, count, "class_names"),
             .target = mat_of(item, count, "target_names"),
             .id = mat_of(item, count, "id_name"),
             .value = mat_of(item, count, "target_values")};
  const lapis_mat *X = mat_of(item, count, "X");
  if (X == NULL)
    return lapis_fail(ctx, LAPIS_EMISSING, "%s: there is no X to write", path);
  TRY(io_dense(ctx, path, X, &owned, &s.X));
  lapis_status status = write_sheet(ctx, path, &s);
  lapis_array_free(&owned);
  if (status == LAPIS_OK) io_warn_lost(ctx, path, item, count, kept);
  return status;
}

lapis_status csv_write(lapis_ctx *ctx, const char *path,
                       const lapis_named *item, int count)
{
  return write_table(ctx, path, item, count, "F.csv");
}

lapis_status tsv_write(lapis_ctx *ctx, const char *path,
                       const lapis_named *item, int count)
{
  return write_table(ctx, path, item, count, "F.tsv");
}
