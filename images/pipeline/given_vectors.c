/* given_vectors.c - features made elsewhere: a table with a vector an image.
 *
 * Rows belong to images by name where the table names them (a column of a CSV
 * file titled as in the table of labels, an array "names" beside the vectors,
 * or a list of names), else by their order, which is said. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "pipeline.h"

enum { PATH = 4096, SENTENCE = 512 };

struct flow_vectors {
  lapis_arrays all;        /* of a numpy, MATLAB or HDF5 file */
  lapis_cells cells, list; /* of a CSV file; of names */
  const lapis_mat *mat;    /* d x rows, in all; NULL: cells */
  const char *path;        /* for sentences */
  int64_t rows, d;
  int64_t first, name; /* CSV: row behind the titles, column of names or -1 */
  int64_t *column;     /* d: of cells */
  int64_t *row_of;     /* of each path; -1: none */
  double *X;           /* d x images that have a row */
  const char **kept;   /* their paths */
  const char **refused;
  char *text; /* of refused */
};

/* ---- titles -------------------------------------------------------------*/
bool flow_names_images(const char *title)
{
  static const char *const titles[] = {
      "name", "names",    "file",  "files",  "filename", "file_name",
      "path", "filepath", "image", "images", NULL};
  for (int i = 0; titles[i] != NULL; i++)
    if (strcasecmp(title, titles[i]) == 0) return true;
  return false;
}

static const char *cell(const flow_vectors *v, int64_t row, int64_t column)
{
  return v->cells.text[row * v->cells.columns + column];
}

static bool is_number(const char *text)
{
  double value;
  return lapis_number_read(text, NULL, &value);
}

/* ---- a CSV file ---------------------------------------------------------*/
/* The column titled as names are; or else the one whose cells are no numbers.
 * Titles: the first row, where a column of numbers has a word there. */
static void settle_columns(flow_vectors *v)
{
  int64_t last = v->cells.rows - 1;
  v->name = -1;
  for (int64_t j = 0; j < v->cells.columns && v->name < 0; j++)
    if (flow_names_images(cell(v, 0, j))) v->name = j;
  v->first = v->name >= 0;
  for (int64_t j = 0; j < v->cells.columns && v->name < 0; j++)
    if (*cell(v, last, j) != '\0' && !is_number(cell(v, last, j))) v->name = j;
  for (int64_t j = 0; j < v->cells.columns; j++)
    if (j != v->name && last > 0 && *cell(v, 0, j) != '\0' &&
        !is_number(cell(v, 0, j)) && is_number(cell(v, last, j)))
      v->first = 1;
}

static lapis_status read_csv(lapis_flow *f, flow_vectors *v)
{
  TRY(lapis_cells_read(f->ctx, v->path, NULL, &v->cells));
  settle_columns(v);
  v->rows = v->cells.rows - v->first;
  size_t columns = (size_t)v->cells.columns;
  v->column =
      columns < SIZE_MAX / 64 ? calloc(columns + 1, sizeof *v->column) : NULL;
  if (v->column == NULL) return flow_no_memory(f);
  for (int64_t j = 0; j < v->cells.columns; j++)
    if (j != v->name) v->column[v->d++] = j;
  if (v->rows > 0 && v->d > 0) return LAPIS_OK;
  return lapis_fail(
      f->ctx, LAPIS_EDATA,
      "%s: holds no rows of numbers; a line is an image's name and its vector",
      v->path);
}

/* ---- a file of arrays ---------------------------------------------------*/
static bool holds_numbers(const lapis_array *a)
{
  return a->mat.dtype != LAPIS_TEXT && a->mat.colptr == NULL;
}

/* The array that is asked for, or X, or the only one with rows of numbers. */
static lapis_status pick_array(lapis_flow *f, flow_vectors *v,
                               const char *member)
{
  const lapis_array *found =
      lapis_arrays_find(&v->all, member != NULL ? member : "X");
  int many = 0;
  if (found == NULL && member == NULL)
    for (int i = 0; i < v->all.count; i++) {
      const lapis_array *a = &v->all.item[i];
      if (!holds_numbers(a) || (a->axes != 2 && v->all.count > 1)) continue;
      found = a;
      many++;
    }
  if (found == NULL || many > 1)
    return lapis_fail(f->ctx, LAPIS_EDATA,
                      many > 1 ? "%s: holds several arrays and none called X; "
                                 "table:%s:NAME says which"
                      : member == NULL
                          ? "%s: holds no array with a row an image; table:"
                            "%s:NAME says which is"
                          : "%s: holds no array '%.200s'",
                      v->path, member == NULL ? v->path : member);
  if (!holds_numbers(found) || found->axes > 2)
    return lapis_fail(f->ctx, LAPIS_EDATA,
                      "%s: '%.200s' is not a matrix of numbers, a row an image",
                      v->path, found->name == NULL ? "" : found->name);
  v->mat = &found->mat;
  v->rows = found->mat.cols;
  v->d = found->mat.rows;
  return LAPIS_OK;
}

/* FILE, or FILE:MEMBER: path holds the file, *member what is behind it. */
static lapis_status cut_member(lapis_flow *f, const char *spec, char *path,
                               const char **member)
{
  const char *colon = strrchr(spec, ':');
  *member = NULL;
  if (strlen(spec) >= PATH)
    return lapis_fail(f->ctx, LAPIS_EINVAL,
                      "label: the path is too long; name a shorter one");
  strcpy(path, spec);
  if (access(spec, F_OK) == 0 || colon == NULL) return LAPIS_OK;
  path[colon - spec] = '\0';
  *member = colon + 1;
  return LAPIS_OK;
}

static lapis_status read_table(lapis_flow *f, flow_vectors *v, char *path,
                               const char *member)
{
  const lapis_format *format;
  v->path = path;
  TRY(lapis_format_of_file(f->ctx, path, &format));
  if (strcmp(format->name, "csv") == 0 || strcmp(format->name, "tsv") == 0)
    return read_csv(f, v);
  TRY(lapis_arrays_read(f->ctx, path, &v->all));
  return pick_array(f, v, member);
}

/* ---- names --------------------------------------------------------------*/
/* names: a file with a name a line, or NULL. */
static lapis_status read_list(lapis_flow *f, flow_vectors *v, const char *names)
{
  if (names == NULL) return LAPIS_OK;
  TRY(lapis_cells_read(f->ctx, names, NULL, &v->list));
  if (v->list.rows == v->rows) return LAPIS_OK;
  return lapis_fail(f->ctx, LAPIS_EDATA,
                    "%s: names %" PRId64 " images, and %s has %" PRId64
                    " rows; it takes a line for each row",
                    names, v->list.rows, v->path, v->rows);
}

/* Of a row; NULL: rows have no names. */
static const char *name_of(const flow_vectors *v, int64_t row)
{
  const lapis_array *own =
      v->mat == NULL ? NULL : lapis_arrays_find(&v->all, "names");
  if (v->list.rows > 0) return v->list.text[row * v->list.columns];
  if (own != NULL && own->mat.dtype == LAPIS_TEXT &&
      own->mat.rows * own->mat.cols == v->rows)
    return ((const char *const *)own->mat.val)[row];
  if (v->mat == NULL && v->name >= 0) return cell(v, v->first + row, v->name);
  return NULL;
}

/* Names that cannot be those of the rows are a mistake, not the absence of
 * names. */
static lapis_status check_names(lapis_flow *f, const flow_vectors *v)
{
  const lapis_array *own =
      v->mat == NULL ? NULL : lapis_arrays_find(&v->all, "names");
  if (own == NULL || v->list.rows > 0) return LAPIS_OK;
  int64_t count = own->mat.rows * own->mat.cols;
  if (own->mat.dtype == LAPIS_TEXT && count == v->rows) return LAPIS_OK;
  return lapis_fail(
      f->ctx, LAPIS_EDATA,
      "%s: its member names has %" PRId64 " %s, and there are %" PRId64
      " rows; a text for each row is needed",
      v->path, count, own->mat.dtype == LAPIS_TEXT ? "texts" : "numbers",
      v->rows);
}

/* ---- rows and images ----------------------------------------------------*/
static lapis_status by_order(lapis_flow *f, flow_vectors *v)
{
  if (v->rows != f->count)
    return lapis_fail(f->ctx, LAPIS_EDATA,
                      "%s: its rows have no names; it has %" PRId64
                      " of them and there are %" PRId64
                      " images: give a row for each image in their order, or "
                      "names (--names LIST.txt)",
                      v->path, v->rows, f->count);
  for (int64_t i = 0; i < f->count; i++) v->row_of[i] = i;
  flow_remark(
      f, "in-order",
      "%.200s: its rows have no names; they are taken for the images in "
      "their order, the first for %.100s, the last for %.100s",
      v->path, f->path[0], f->path[f->count - 1]);
  return LAPIS_OK;
}

static lapis_status bad_row(lapis_flow *f, const flow_vectors *v, int64_t row,
                            int64_t count, const int64_t *found)
{
  const char *name = name_of(v, row);
  if (count > 1)
    return lapis_fail(f->ctx, LAPIS_EDATA,
                      "%s: row %" PRId64 ": '%.200s' may be %s or %s; write "
                      "more of the path",
                      v->path, row + 1, name, f->path[found[0]],
                      f->path[found[1]]);
  return lapis_fail(f->ctx, LAPIS_EDATA,
                    "%s: row %" PRId64 ": '%.200s' is not one of the %" PRId64
                    " images; --keep-going leaves such rows out",
                    v->path, row + 1, name, f->count);
}

static lapis_status by_name(lapis_flow *f, flow_vectors *v,
                            const image_index *x)
{
  int64_t skipped = 0;
  for (int64_t row = 0; row < v->rows; row++) {
    int64_t found[2], count = index_find(x, name_of(v, row), found);
    if (count == 0 && f->common.keep_going) {
      skipped++;
      continue;
    }
    if (count != 1) return bad_row(f, v, row, count, found);
    if (v->row_of[found[0]] >= 0)
      return lapis_fail(f->ctx, LAPIS_EDATA,
                        "%s: row %" PRId64 ": '%.200s' is in row %" PRId64
                        " already; an image has one row",
                        v->path, row + 1, name_of(v, row),
                        v->row_of[found[0]] + 1);
    v->row_of[found[0]] = row;
  }
  if (skipped > 0)
    flow_remark(f, "rows-left-out",
                "%.200s: %" PRId64 " row(s) left out: none of the images is so "
                "named",
                v->path, skipped);
  return LAPIS_OK;
}

static lapis_status match_rows(lapis_flow *f, flow_vectors *v)
{
  image_index x;
  TRY(check_names(f, v));
  v->row_of = malloc((size_t)f->count * sizeof *v->row_of);
  if (v->row_of == NULL) return flow_no_memory(f);
  for (int64_t i = 0; i < f->count; i++) v->row_of[i] = -1;
  if (name_of(v, 0) == NULL) return by_order(f, v);
  TRY(index_new(f->ctx, f->path, f->count, &x));
  lapis_status s = by_name(f, v, &x);
  index_free(&x);
  return s;
}

/* Images without a row are left out, or refused. */
static lapis_status choose_images(lapis_flow *f, flow_vectors *v)
{
  size_t n = (size_t)f->count + 1;
  int64_t refused = 0;
  v->kept = calloc(n, sizeof *v->kept);
  v->refused = calloc(n, sizeof *v->refused);
  v->text = calloc(n, SENTENCE);
  if (v->kept == NULL || v->refused == NULL || v->text == NULL)
    return flow_no_memory(f);
  f->n = 0;
  for (int64_t i = 0; i < f->count; i++) {
    char *text = v->text + refused * SENTENCE;
    if (v->row_of[i] >= 0) {
      v->row_of[f->n] = v->row_of[i];
      v->kept[f->n++] = f->path[i];
      continue;
    }
    if (!f->common.keep_going)
      return lapis_fail(f->ctx, LAPIS_EDATA,
                        "%s: has no row for %s; --keep-going leaves such "
                        "images out",
                        v->path, f->path[i]);
    snprintf(text, SENTENCE, "%.300s: has no row in %.100s", f->path[i],
             v->path);
    v->refused[refused++] = text;
  }
  f->names = lapis_mat_text(v->kept, 1, f->n);
  flow_publish(f, "names", f->names);
  if (refused > 0)
    flow_publish(f, "refused", lapis_mat_text(v->refused, 1, refused));
  if (f->n > 0) return LAPIS_OK;
  return lapis_fail(
      f->ctx, LAPIS_EMISSING,
      "%s: has no row for any image; its rows need the names of the images",
      v->path);
}

/* ---- numbers ------------------------------------------------------------*/
static lapis_status number_at(lapis_flow *f, const flow_vectors *v, int64_t row,
                              int64_t k, double *to)
{
  int64_t column = v->mat != NULL ? k : v->column[k];
  char shown[120];
  if (v->mat != NULL) {
    *to = lapis_mat_at(v->mat, k, row);
    if (isfinite(*to)) return LAPIS_OK;
    lapis_number_print(shown, sizeof shown, "%g", *to);
  } else {
    const char *text = cell(v, v->first + row, column);
    if (lapis_number_read(text, NULL, to) && isfinite(*to)) return LAPIS_OK;
    snprintf(shown, sizeof shown, *text == '\0' ? "missing" : "'%.100s'", text);
  }
  return lapis_fail(f->ctx, LAPIS_EDATA,
                    "%s: row %" PRId64 ", column %" PRId64
                    " is %s; every entry of a vector is a finite number",
                    v->path, row + 1, column + 1, shown);
}

static lapis_status take_numbers(lapis_flow *f, flow_vectors *v)
{
  if (v->d > 0 && f->n > INT64_MAX / (8 * v->d)) return flow_no_memory(f);
  v->X = malloc((size_t)(v->d * f->n) * sizeof *v->X);
  if (v->X == NULL) return flow_no_memory(f);
  for (int64_t i = 0; i < f->n; i++)
    for (int64_t k = 0; k < v->d; k++)
      TRY(number_at(f, v, v->row_of[i], k, &v->X[i * v->d + k]));
  return LAPIS_OK;
}

lapis_status flow_vectors_read(lapis_flow *f, const char *spec,
                               const char *names, lapis_mat *X)
{
  char path[PATH];
  const char *member;
  flow_vectors *v = f->vectors = calloc(1, sizeof *v);
  if (v == NULL) return flow_no_memory(f);
  TRY(cut_member(f, spec, path, &member));
  lapis_status s = read_table(f, v, path, member);
  if (s >= 0) s = read_list(f, v, names);
  if (s >= 0) s = match_rows(f, v);
  if (s >= 0) s = choose_images(f, v);
  if (s >= 0) s = take_numbers(f, v);
  lapis_arrays_free(&v->all);
  lapis_cells_free(&v->cells);
  lapis_cells_free(&v->list);
  v->all = (lapis_arrays){.count = 0};
  v->path = NULL;
  if (s >= 0) *X = lapis_mat_f64(v->X, v->d, f->n);
  return s;
}

void flow_vectors_free(flow_vectors *v)
{
  if (v == NULL) return;
  free(v->column);
  free(v->row_of);
  free(v->X);
  free((void *)v->kept);
  free((void *)v->refused);
  free(v->text);
  free(v);
}
