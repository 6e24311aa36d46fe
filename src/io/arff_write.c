/* arff_write.c - ARFF as Mulan has it: features, then the targets; a sparse X
 * as sparse rows, whose indices count from 0. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/io.h"

typedef struct relation {
  io_print p;
  const lapis_mat *X, *Y, *names, *feature, *class; /* all but X may be NULL */
} relation;

static const char *text_at(const lapis_mat *row, int64_t i)
{
  const char *s = ((const char *const *)row->val)[i * row->ld];
  return s == NULL ? "" : s;
}

/* Line ends have no place in a quoted word: they become blanks. */
static void put_word(io_print *p, const char *text)
{
  io_put_text(p, "'");
  for (; *text != '\0'; text++) {
    bool escaped = *text == '\'' || *text == '\\';
    bool ends = *text == '\n' || *text == '\r';
    if (escaped) io_put_text(p, "\\");
    io_put(p, ends ? " " : text, 1);
  }
  io_put_text(p, "'");
}

static void put_value(io_print *p, double v)
{
  if (isnan(v))
    io_put_text(p, "?");
  else
    io_put_number(p, v);
}

static bool coded(const relation *r)
{
  return r->Y != NULL && r->Y->rows == 1 && r->class != NULL &&
         r->class->cols > 1;
}

static void put_attribute(relation *r, const lapis_mat *names, int64_t i,
                          const char *letter)
{
  char text[40];
  (void)snprintf(text, sizeof text, "%s%" PRId64, letter, i + 1);
  io_put_text(&r->p, "@attribute ");
  put_word(&r->p, names != NULL ? text_at(names, i) : text);
}

/* {0,1} or {-1,1} where that is all a target holds. */
static const char *nominal(const lapis_mat *Y, int64_t i)
{
  bool zero = true, minus = true;
  for (int64_t j = 0; j < Y->cols; j++) {
    double v = lapis_mat_at(Y, i, j);
    zero = zero && (isnan(v) || v == 0 || v == 1);
    minus = minus && (isnan(v) || v == -1 || v == 1);
  }
  return zero ? " {0,1}\n" : minus ? " {-1,1}\n" : " numeric\n";
}

static void put_classes(relation *r)
{
  io_put_text(&r->p, " {");
  for (int64_t c = 0; c < r->class->cols; c++) {
    if (c > 0) io_put_text(&r->p, ",");
    put_word(&r->p, text_at(r->class, c));
  }
  io_put_text(&r->p, "}\n");
}

static void put_header(relation *r)
{
  io_put_text(&r->p, "@relation lapis\n\n");
  if (r->names != NULL) io_put_text(&r->p, "@attribute id string\n");
  for (int64_t i = 0; i < r->X->rows; i++) {
    put_attribute(r, r->feature, i, "x");
    io_put_text(&r->p, " numeric\n");
  }
  for (int64_t i = 0; r->Y != NULL && i < r->Y->rows; i++) {
    bool titled = r->class != NULL && r->class->cols == r->Y->rows;
    put_attribute(r, titled ? r->class : NULL, i, "y");
    if (coded(r))
      put_classes(r);
    else
      io_put_text(&r->p, nominal(r->Y, i));
  }
  io_put_text(&r->p, "\n@data\n");
}

static void put_target(relation *r, int64_t i, int64_t j)
{
  double v = lapis_mat_at(r->Y, i, j);
  bool text = coded(r) && v >= 0 && v < (double)r->class->cols;
  if (text)
    put_word(&r->p, text_at(r->class, (int64_t)v));
  else
    put_value(&r->p, v);
}

static void put_dense(relation *r, int64_t j)
{
  if (r->names != NULL) {
    put_word(&r->p, text_at(r->names, j));
    io_put_text(&r->p, ",");
  }
  for (int64_t i = 0; i < r->X->rows; i++) {
    if (i > 0) io_put_text(&r->p, ",");
    put_value(&r->p, lapis_mat_at(r->X, i, j));
  }
  for (int64_t i = 0; r->Y != NULL && i < r->Y->rows; i++) {
    io_put_text(&r->p, ",");
    put_target(r, i, j);
  }
  io_put_text(&r->p, "\n");
}

/* Targets are always written: what a missing one means depends on its type. */
static void put_sparse(relation *r, int64_t j)
{
  int64_t k = 0, row, shift = r->names != NULL;
  double value;
  bool first = true;
  io_put_text(&r->p, "{");
  if (r->names != NULL) {
    io_put_text(&r->p, "0 ");
    put_word(&r->p, text_at(r->names, j));
    first = false;
  }
  while (io_next_stored(r->X, j, &k, &row, &value)) {
    if (!first) io_put_text(&r->p, ",");
    io_put_integer(&r->p, row + shift);
    io_put_text(&r->p, " ");
    put_value(&r->p, value);
    first = false;
  }
  for (int64_t i = 0; r->Y != NULL && i < r->Y->rows; i++) {
    if (!first) io_put_text(&r->p, ",");
    io_put_integer(&r->p, r->X->rows + shift + i);
    io_put_text(&r->p, " ");
    put_target(r, i, j);
    first = false;
  }
  io_put_text(&r->p, "}\n");
}

static const lapis_mat *find(const lapis_named *item, int count,
                             const char *name)
{
  const lapis_named *found = io_find_item(item, count, name);
  return found == NULL ? NULL : &found->mat;
}

lapis_status arff_write(lapis_ctx *ctx, const char *path,
                        const lapis_named *item, int count)
{
  static const char *const kept[] = {
      "X", "Y", "names", "feature_names", "class_names", NULL};
  relation r = {.X = find(item, count, "X"),
                .Y = find(item, count, "Y"),
                .names = find(item, count, "names"),
                .feature = find(item, count, "feature_names"),
                .class = find(item, count, "class_names")};
  if (r.X == NULL)
    return lapis_fail(ctx, LAPIS_EMISSING, "%s: there is no X to write", path);
  TRY(io_print_begin(ctx, path, &r.p));
  put_header(&r);
  for (int64_t j = 0; j < r.X->cols; j++)
    if (r.X->colptr != NULL)
      put_sparse(&r, j);
    else
      put_dense(&r, j);
  TRY(io_print_end(&r.p));
  io_warn_lost(ctx, path, item, count, kept);
  return LAPIS_OK;
}
