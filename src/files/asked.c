/* asked.c - options of tables: which of them a file makes use of, and targets
 * that are named of a container's Y; members of it that are of no use. */
#include <stdio.h>
#include <string.h>

#include "files/io.h"
#include "mat/mat.h"

enum {
  TARGET = 1,
  ID = 2,
  HEADER = 4,
  ARFF_LABELS = 8,
  FEATURES = 16,
  USE = 32,
  DROP = 64,
  ONE_HOT = 128,
  TRIPLETS = 256,
  DECIMAL = 512,
  OF_FEATURES = FEATURES | USE | DROP | ONE_HOT | TRIPLETS
};
static const struct {
  unsigned bit;
  const char *option, *of; /* what makes use of it */
} options[] = {{TARGET, "target", "columns of a table, or targets of a Y"},
               {ID, "id", "columns of a table"},
               {HEADER, "header", ".csv and .tsv tables"},
               {ARFF_LABELS, "arff-labels", ".arff files"},
               {USE, "use", "columns of .csv, .tsv and .arff tables"},
               {DROP, "drop", "columns of .csv, .tsv and .arff tables"},
               {ONE_HOT, "one-hot", "columns of .csv, .tsv and .arff tables"},
               {TRIPLETS, "triplets", "tables of row, column and value"},
               {DECIMAL, "decimal", ".csv and .tsv tables"}};

static unsigned given(const lapis_table_options *opt)
{
  unsigned bits = 0;
  if (opt == NULL) return bits;
  if (opt->target != NULL) bits |= TARGET;
  if (opt->id != NULL) bits |= ID;
  if (opt->header != LAPIS_HEADER_AUTO) bits |= HEADER;
  if (opt->labels != NULL) bits |= ARFF_LABELS;
  if (opt->use != NULL) bits |= USE;
  if (opt->drop != NULL) bits |= DROP;
  if (opt->one_hot != NULL) bits |= ONE_HOT;
  if (opt->triplets != LAPIS_TRIPLETS_HEADED) bits |= TRIPLETS;
  if (opt->decimal != '\0') bits |= DECIMAL;
  return bits;
}

/* Of a file of this format; a table of entries makes a sparse X. */
static unsigned read_by(io_format format, bool sparse)
{
  unsigned columns = TARGET | ID | USE | DROP | ONE_HOT;
  switch (format) {
  case IO_CSV:
  case IO_TSV:
    return sparse ? FEATURES | TRIPLETS : columns | HEADER | DECIMAL;
  case IO_ARFF:
    return columns | ARFF_LABELS;
  case IO_SVM:
    return FEATURES;
  default:
    return 0;
  }
}

lapis_status io_options_check(lapis_ctx *ctx, const lapis_table_options *opt)
{
  if (opt == NULL) return LAPIS_OK;
  if (opt->header < LAPIS_HEADER_AUTO || opt->header > LAPIS_HEADER_NO)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "table options: header is %d; it must be "
                      "LAPIS_HEADER_AUTO (%d), _YES (%d) or _NO (%d)",
                      opt->header, LAPIS_HEADER_AUTO, LAPIS_HEADER_YES,
                      LAPIS_HEADER_NO);
  if (opt->triplets < LAPIS_TRIPLETS_HEADED ||
      opt->triplets > LAPIS_TRIPLETS_FROM_0)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "table options: triplets is %d; it must be "
                      "LAPIS_TRIPLETS_HEADED (%d), _FROM_1 (%d) or _FROM_0 "
                      "(%d)",
                      opt->triplets, LAPIS_TRIPLETS_HEADED,
                      LAPIS_TRIPLETS_FROM_1, LAPIS_TRIPLETS_FROM_0);
  if (opt->decimal == '\0' || opt->decimal == ',' || opt->decimal == '.')
    return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_EINVAL,
                    "table options: decimal is the character %d; it must be "
                    "',' (as in 1.234,5), '.' (as in 1,234.5) or 0 (1234.5)",
                    opt->decimal);
}

lapis_status io_asked_check(lapis_ctx *ctx, const io_asked *a)
{
  unsigned idle = a->given & ~a->used;
  for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
    if ((idle & options[k].bit) == 0) continue;
    if (options[k].bit == TARGET && *a->missed != '\0')
      return lapis_fail(ctx, LAPIS_EINVAL, "%s", a->missed);
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "%s: makes no use of --%s, which is for %s; leave it out",
                      a->file, options[k].option, options[k].of);
  }
  return LAPIS_OK;
}

/* ---- targets of a container ---------------------------------------------*/
static lapis_array *find(lapis_arrays *all, const char *name)
{
  for (int i = 0; i < all->count; i++)
    if (strcmp(all->item[i].name, name) == 0) return &all->item[i];
  return NULL;
}

/* TEXT, one for each of the rows of Y: titles, or names of labels. */
static lapis_array *titles_of(lapis_arrays *all, int64_t rows)
{
  static const char *const where[] = {"target_names", "class_names"};
  for (int i = 0; i < 2; i++) {
    lapis_array *a = find(all, where[i]);
    bool names = a != NULL && a->mat.dtype == LAPIS_TEXT && a->mat.rows == 1 &&
                 a->mat.cols == rows && (i == 0 || rows > 1);
    if (names) return a;
  }
  return NULL;
}

/* A title, or a number from 1; -1: neither. */
static int64_t row_named(const lapis_array *titles, int64_t rows,
                         const char *at, size_t length)
{
  double v;
  for (int64_t i = 0; titles != NULL && i < rows; i++) {
    const char *title = ((const char *const *)titles->mat.val)[i];
    if (strlen(title) == length && strncmp(title, at, length) == 0) return i;
  }
  bool number = io_number(at, (int64_t)length, &v) && v >= 1 &&
                v <= (double)rows && v == (double)(int64_t)v;
  return number ? (int64_t)v - 1 : -1;
}

static void miss(io_asked *a, const char *path, const lapis_array *titles,
                 const lapis_mat *Y, const char *at, size_t length)
{
  char list[256] = "";
  for (int64_t i = 0; titles != NULL && i < Y->rows && i < 8; i++) {
    size_t used = strlen(list);
    (void)snprintf(list + used, sizeof list - used, "%s%s",
                   i > 0 ? ", " : "; it has ",
                   ((const char *const *)titles->mat.val)[i]);
  }
  if (titles == NULL)
    (void)snprintf(list, sizeof list,
                   "; it has no target_names, and --target takes numbers from "
                   "1 to %lld",
                   (long long)Y->rows);
  (void)snprintf(a->missed, sizeof a->missed, "%s: Y has no target '%.*s'%s",
                 path, (int)length, at, list);
}

/* Rows of a column become those listed; of numbers in new memory. */
static lapis_status keep_rows(lapis_ctx *ctx, lapis_array *a,
                              const int64_t *row, int64_t count)
{
  lapis_array out;
  lapis_mat *from = &a->mat;
  if (from->dtype == LAPIS_TEXT) {
    const char *text[IO_MOST_ASKED], **all = from->val;
    for (int64_t j = 0; j < from->cols; j++) {
      for (int64_t i = 0; i < count; i++) text[i] = all[j * from->ld + row[i]];
      memcpy(all + j * from->ld, text, (size_t)count * sizeof *text);
    }
    from->rows = count;
    return LAPIS_OK;
  }
  TRY(io_number_array(ctx, LAPIS_F64, count, from->cols, &out));
  for (int64_t j = 0; j < from->cols; j++)
    for (int64_t i = 0; i < count; i++)
      mat_col(&out.mat, j)[i] = lapis_mat_at(from, row[i], j);
  out.name = a->name;
  out.axes = a->axes;
  memcpy(out.shape, a->shape, sizeof out.shape);
  a->name = NULL;
  lapis_array_free(a);
  *a = out;
  return LAPIS_OK;
}

/* A row of names becomes those of the rows listed. */
static void keep_names(lapis_array *a, const int64_t *row, int64_t count)
{
  const char *text[IO_MOST_ASKED], **all = a->mat.val;
  for (int64_t i = 0; i < count; i++) text[i] = all[row[i] * a->mat.ld];
  for (int64_t i = 0; i < count; i++) all[i * a->mat.ld] = text[i];
  a->mat.cols = count;
  if (a->axes > 0) a->shape[0] = count;
}

/* Of one target that is left its texts are its classes. */
static lapis_status call_it(lapis_ctx *ctx, lapis_array *a, const char *name)
{
  char *copy = base_strdup(ctx, name);
  if (copy == NULL) return LAPIS_ENOMEM;
  base_free(a->name);
  a->name = copy;
  return LAPIS_OK;
}

static lapis_status keep_texts(lapis_ctx *ctx, lapis_arrays *all,
                               lapis_array *titles, int64_t rows,
                               const int64_t *row, int64_t count)
{
  lapis_array *values = find(all, "target_values");
  if (values != NULL && values->mat.dtype == LAPIS_TEXT) {
    if (values->mat.rows == rows && rows > 1)
      TRY(keep_rows(ctx, values, row, count));
    if (count == 1) TRY(call_it(ctx, values, "class_names"));
  }
  if (titles == NULL) return LAPIS_OK;
  keep_names(titles, row, count);
  return count == 1 ? call_it(ctx, titles, "target_names") : LAPIS_OK;
}

static lapis_status take_targets(lapis_ctx *ctx, io_asked *a, const char *path,
                                 const char *target, lapis_arrays *all)
{
  int64_t row[IO_MOST_ASKED], count = 0;
  lapis_array *Y = find(all, "Y");
  if (target == NULL || Y == NULL || Y->mat.colptr != NULL) return LAPIS_OK;
  int64_t rows = Y->mat.rows;
  lapis_array *titles = titles_of(all, rows);
  for (const char *at = target; count < IO_MOST_ASKED; at++) {
    size_t length = strcspn(at, ",");
    row[count] = row_named(titles, rows, at, length);
    if (row[count] < 0) {
      miss(a, path, titles, &Y->mat, at, length);
      return LAPIS_OK;
    }
    count++;
    at += length;
    if (*at == '\0') break;
  }
  a->used |= TARGET;
  if (rows == 1) return LAPIS_OK;
  TRY(keep_rows(ctx, Y, row, count));
  return keep_texts(ctx, all, titles, rows, row, count);
}

lapis_status io_ask(lapis_ctx *ctx, io_asked *a, const lapis_table_options *opt,
                    const io_file *f, const char *member, lapis_arrays *all)
{
  const char *path = io_name(f->path);
  const lapis_array *of = lapis_arrays_find(all, member == NULL ? "X" : member);
  bool features =
      member == NULL || strcmp(member, "X") == 0 || strcmp(member, "P") == 0;
  unsigned used = read_by(f->format, of != NULL && of->mat.colptr != NULL);
  a->given |= given(opt);
  a->used |= features ? used : used & ~(unsigned)OF_FEATURES;
  if (*a->file == '\0') (void)snprintf(a->file, sizeof a->file, "%s", path);
  if ((read_by(f->format, false) & TARGET) != 0 || opt == NULL) return LAPIS_OK;
  return take_targets(ctx, a, path, opt->target, all);
}

/* ---- members of containers -----------------------------------------------*/
/* Members without a name of ours may be X by their own names, where any of them
 * is read at all. */
static lapis_status check_types(lapis_ctx *ctx, io_file *f, const char *seen)
{
  lapis_arrays every = {.count = 0};
  TRY(io_read(ctx, f, &(io_request){.any_place = true}, &every));
  bool any = every.count > 0;
  lapis_arrays_free(&every);
  if (any) return LAPIS_OK;
  if (f->format == IO_MAT)
    return io_fail_member(ctx, io_name(f->path), seen, seen);
  return lapis_fail(ctx, LAPIS_EMISSING,
                    "%s: X is missing; %s holds no numbers itself; -X "
                    "FILE:/%.*s/NAME says which array of a group it is",
                    io_name(f->path), seen, (int)strcspn(seen, ","), seen);
}

lapis_status io_check_members(lapis_ctx *ctx, io_file *f, const char *seen,
                              lapis_arrays *all)
{
  static const char *const numbers[] = {"X",      "Y",  "P", "group",
                                        "weight", "xy", NULL};
  const char *const *names = numbers;
  for (; seen != NULL && *names != NULL; names++) {
    if (!io_is_seen(seen, *names) || lapis_arrays_find(all, *names) != NULL)
      continue;
    lapis_arrays_free(all);
    return io_fail_member(ctx, io_name(f->path), *names, seen);
  }
  enum { SMALL = 1 << 24 }; /* bytes */
  bool typed =
      f->format == IO_MAT || f->format == IO_MAT73 || f->format == IO_HDF5;
  bool none = typed && all->count == 0 && seen != NULL && f->size <= SMALL;
  return none ? check_types(ctx, f, seen) : LAPIS_OK;
}
