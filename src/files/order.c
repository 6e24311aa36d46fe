/* order.c - whether the samples of two files stand in one order.
 *
 * Members of a dataset are paired row by row.  Where two files both name their
 * samples, rows in another order are joined by their names.
 *
 * One sample may be called "faces/an2i.png" in one file and "an2i" in another.
 * So the folder and the ending that all names of a list share are left aside,
 * and so are folders and an ending that only one of two names has. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/io.h"
#include "files/twice.h"

void io_order_clear(io_order *o)
{
  lapis_array_free(&o->names);
  base_free(o->file);
  o->file = NULL;
}

/* ---- one name -----------------------------------------------------------*/
static const char *base_of(const char *name)
{
  const char *slash = strrchr(name, '/');
  return slash == NULL ? name : slash + 1;
}

/* ".png", or "" */
static const char *ending_of(const char *name)
{
  const char *base = base_of(name), *dot = strrchr(base, '.');
  return dot == NULL || dot == base ? name + strlen(name) : dot;
}

typedef struct piece {
  const char *at;
  size_t size;
} piece;

/* a is b behind some folders. */
static bool ends_in(piece a, piece b)
{
  if (a.size < b.size) return false;
  size_t before = a.size - b.size;
  return memcmp(a.at + before, b.at, b.size) == 0 &&
         (before == 0 || a.at[before - 1] == '/');
}

/* ... and perhaps before an ending. */
static bool is_longer(piece a, piece b)
{
  size_t bare = (size_t)(ending_of(a.at) - a.at);
  return ends_in(a, b) || (bare < a.size && ends_in((piece){a.at, bare}, b));
}

/* ---- one list -----------------------------------------------------------*/
typedef struct list {
  const char *const *name;
  int64_t n;
  size_t folder, ending; /* bytes that all names share */
} list;

static list list_of(const lapis_array *names)
{
  list l = {.name = names->mat.val, .n = names->mat.cols};
  if (l.n == 0) return l;
  const char *first = l.name[0], *ending = ending_of(first);
  l.folder = (size_t)(base_of(first) - first);
  l.ending = strlen(ending);
  for (int64_t j = 1; j < l.n; j++) {
    while (l.folder > 0 && strncmp(first, l.name[j], l.folder) != 0) {
      l.folder--;
      while (l.folder > 0 && first[l.folder - 1] != '/') l.folder--;
    }
    if (strcmp(ending, ending_of(l.name[j])) != 0) l.ending = 0;
  }
  return l;
}

static piece piece_of(const list *l, int64_t j)
{
  const char *name = l->name[j];
  return (piece){name + l->folder, strlen(name) - l->folder - l->ending};
}

/* ---- another order ------------------------------------------------------*/
typedef struct stem { /* a name's file, without folders and ending */
  piece is;
  int64_t row;
} stem;

static piece stem_of(const char *name)
{
  const char *base = base_of(name);
  return (piece){base, (size_t)(ending_of(name) - base)};
}

static int compare_pieces(piece a, piece b)
{
  int order = memcmp(a.at, b.at, a.size < b.size ? a.size : b.size);
  return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

static int by_stem(const void *a, const void *b)
{
  const stem *x = a, *y = b;
  int order = compare_pieces(x->is, y->is);
  return order != 0 ? order : (x->row > y->row) - (x->row < y->row);
}

typedef struct found {  /* rows of a list; -1: none */
  int64_t first, again; /* that is the same to the letter as the first */
} found;

/* How many names of the list are this one, with or without folders and ending;
 * one that is the same to the letter counts alone, and once. */
static int64_t find(const stem *sorted, const lapis_array *names, piece key,
                    const char *wanted, found *at)
{
  const char *const *name = names->mat.val;
  int64_t low = 0, high = names->mat.cols, n = high, count = 0;
  piece w = {wanted, strlen(wanted)};
  bool exact = false;
  *at = (found){-1, -1};
  while (low < high) {
    int64_t mid = low + (high - low) / 2;
    if (compare_pieces(sorted[mid].is, key) < 0)
      low = mid + 1;
    else
      high = mid;
  }
  for (; low < n && compare_pieces(sorted[low].is, key) == 0; low++) {
    const char *one = name[sorted[low].row];
    piece p = {one, strlen(one)};
    bool same = strcmp(one, wanted) == 0;
    if (!same && !is_longer(p, w) && !is_longer(w, p)) continue;
    count++;
    if (same && exact && at->again < 0) at->again = sorted[low].row;
    if (same ? !exact : at->first < 0) at->first = sorted[low].row;
    exact |= same;
  }
  return exact ? 1 : count;
}

/* Which row of names every known name is; -1: none.  used: room for a mark of
 * each row. */
static lapis_status match(lapis_ctx *ctx, const io_order *known,
                          const io_file *f, const lapis_array *names,
                          const stem *sorted, int64_t *row, int64_t *used)
{
  const char *file = io_name(f->path);
  const char *const *wanted = known->names.mat.val, *const *name =
                                                        names->mat.val;
  for (int64_t j = 0; j < names->mat.cols; j++) used[j] = -1;
  for (int64_t j = 0; j < known->names.mat.cols; j++) {
    found is;
    int64_t count = find(sorted, names, stem_of(wanted[j]), wanted[j], &is);
    const char *base = base_of(wanted[j]);
    if (count == 0) /* "a.b", whose ".b" may be no ending */
      count = find(sorted, names, (piece){base, strlen(base)}, wanted[j], &is);
    int64_t at = is.first;
    if (is.again >= 0)
      return io_fail_named_twice(ctx, f, wanted[j], names->mat.cols, at,
                                 is.again);
    if (count > 1)
      return lapis_fail(ctx, LAPIS_EDATA,
                        "%s: several rows are called '%s', as row %" PRId64
                        " of %s is; names that differ are needed to join rows",
                        file, wanted[j], j + 1, known->file);
    if (count == 1 && used[at] >= 0)
      return lapis_fail(ctx, LAPIS_EDATA,
                        "%s: rows %" PRId64 " and %" PRId64
                        " are both '%s' of %s; names that differ are needed "
                        "to join rows",
                        known->file, used[at] + 1, j + 1, name[at], file);
    row[j] = count == 1 ? at : -1;
    if (count == 1) used[at] = j;
  }
  return LAPIS_OK;
}

lapis_status io_arrange(lapis_ctx *ctx, const int64_t *row, int64_t n,
                        lapis_array *a)
{
  const lapis_mat *from = &a->mat;
  lapis_array out;
  char *pool;
  bool text = from->dtype == LAPIS_TEXT;
  int64_t bytes = 0, d = from->rows;
  for (int64_t k = 0; text && k < n * d; k++) {
    int64_t j = row[k / d];
    bytes += 1;
    if (j >= 0)
      bytes += (int64_t)strlen(
          ((const char *const *)from->val)[j * from->ld + k % d]);
  }
  TRY(text ? io_text_array(ctx, d, n, bytes, &out, &pool)
           : io_number_array(ctx, LAPIS_F64, d, n, &out));
  for (int64_t k = 0; k < n * d; k++) {
    int64_t j = row[k / d], i = k % d;
    if (!text) {
      ((double *)out.mat.val)[k] = j < 0 ? NAN : lapis_mat_at(from, i, j);
      continue;
    }
    const char *is =
        j < 0 ? "" : ((const char *const *)from->val)[j * from->ld + i];
    size_t size = strlen(is) + 1;
    ((const char **)out.mat.val)[k] = memcpy(pool, is, size);
    pool += size;
  }
  out.name = a->name;
  a->name = NULL;
  lapis_array_free(a);
  *a = out;
  return LAPIS_OK;
}

/* ---- a column of names ---------------------------------------------------*/
enum { SEARCHED = 64, NAME_BYTES = 4096 };
typedef struct search {
  const lapis_array *names;
  const stem *sorted;
  int64_t rows, found[SEARCHED]; /* of each column: names that stand there */
  int64_t again[SEARCHED];       /* ... cells that are one of these again */
  bool out[SEARCHED];            /* too many are, or few are names */
  char *used;                    /* SEARCHED x n */
} search;

/* Slips alone are met twice. */
static bool is_repeated(const search *w, int64_t j)
{
  return 10 * w->again[j] > w->found[j];
}

static void look_at(search *w, const csv_cell *cell, int64_t j)
{
  char text[NAME_BYTES];
  found is;
  if (j >= SEARCHED || w->out[j] || cell->size >= NAME_BYTES) return;
  (void)csv_copy(cell, text);
  if (find(w->sorted, w->names, stem_of(text), text, &is) != 1) return;
  char *used = &w->used[j * w->names->mat.cols + is.first];
  *(*used ? &w->again[j] : &w->found[j]) += 1;
  *used = true;
}

/* Whether some column may still be that of names: of a large table that has
 * none the first rows are looked at. */
static bool may_be(search *w)
{
  enum { FIRST = 64, FEW = 4 };
  bool any = w->rows < FIRST;
  for (int64_t j = 0; w->rows == FIRST && j < SEARCHED; j++)
    w->out[j] |= FEW * w->found[j] < FIRST || is_repeated(w, j);
  for (int64_t j = 0; j < SEARCHED; j++) any |= !w->out[j];
  return any;
}

static lapis_status look_through(lapis_ctx *ctx, const io_file *f, search *w)
{
  csv_scan s;
  csv_cell cell;
  TRY(csv_open(ctx, io_name(f->path), (const char *)f->data, f->size, &s));
  for (; !csv_at_end(&s) && may_be(w); w->rows++) {
    cell.last = false;
    for (int64_t j = 0; !cell.last; j++) {
      TRY(csv_next(&s, &cell));
      look_at(w, &cell, j);
    }
    csv_skip_blank(&s);
  }
  return LAPIS_OK;
}

lapis_status io_order_column(lapis_ctx *ctx, const io_order *known,
                             const io_file *f, char column[16])
{
  *column = '\0';
  bool same = known->file != NULL && strcmp(known->file, io_name(f->path)) == 0;
  if (known->file == NULL || same || f->format != IO_CSV) return LAPIS_OK;
  int64_t n = known->names.mat.cols, best = -1;
  const char *const *name = known->names.mat.val;
  stem *sorted = base_alloc(ctx, n + 1, sizeof *sorted);
  search w = {.names = &known->names, .sorted = sorted};
  w.used = base_alloc(ctx, n + 1, SEARCHED);
  lapis_status s = sorted == NULL || w.used == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  for (int64_t j = 0; s >= 0 && j < n; j++)
    sorted[j] = (stem){stem_of(name[j]), j};
  if (s >= 0) {
    qsort(sorted, (size_t)n, sizeof *sorted, by_stem);
    s = look_through(ctx, f, &w);
  }
  int64_t least = w.rows < n ? w.rows : n;
  for (int64_t j = 0; j < SEARCHED; j++)
    if (!w.out[j] && !is_repeated(&w, j) && w.found[j] > 1 &&
        2 * w.found[j] >= least && (best < 0 || w.found[j] > w.found[best]))
      best = j;
  if (s >= 0 && best >= 0) (void)snprintf(column, 16, "#%d", (int)best + 1);
  base_free(sorted);
  base_free(w.used);
  return s;
}

static void say_joined(lapis_ctx *ctx, const io_order *known, const char *file,
                       int64_t joined, int64_t all)
{
  char lack[96] = "", more[96] = "";
  int64_t n = known->names.mat.cols;
  if (joined < all)
    (void)snprintf(lack, sizeof lack, "; %" PRId64 " of %.40s are not in it",
                   all - joined, file);
  if (joined < n)
    (void)snprintf(more, sizeof more, "; %" PRId64 " %s no such name",
                   n - joined, n - joined == 1 ? "row has" : "rows have");
  base_say(ctx, 0, "%s: rows were joined by name with %s%s%s", known->file,
           file, lack, more);
}

static bool same_order(const io_order *known, const lapis_array *names)
{
  list a = list_of(names), b = list_of(&known->names);
  for (int64_t j = 0; a.n == b.n && j < a.n; j++) {
    piece x = piece_of(&a, j), y = piece_of(&b, j);
    if (!is_longer(x, y) && !is_longer(y, x)) return false;
  }
  return a.n == b.n;
}

static lapis_status fail_strange(lapis_ctx *ctx, const io_order *known,
                                 const char *file, const lapis_array *names)
{
  return lapis_fail(ctx, LAPIS_EDATA,
                    "%s: none of its rows is one of %s by name: its first is "
                    "called '%s', the first there '%s'",
                    known->file, file,
                    ((const char *const *)known->names.mat.val)[0],
                    ((const char *const *)names->mat.val)[0]);
}

static lapis_status join(lapis_ctx *ctx, const io_order *known,
                         const io_file *f, const lapis_array *names,
                         lapis_array *of)
{
  const char *file = io_name(f->path);
  int64_t n = names->mat.cols, all = known->names.mat.cols, joined = 0;
  stem *sorted = base_alloc(ctx, n + 1, sizeof *sorted);
  int64_t *row = base_alloc(ctx, all + n + 1, sizeof *row);
  lapis_status s = sorted == NULL || row == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  for (int64_t j = 0; s >= 0 && j < n; j++)
    sorted[j] = (stem){stem_of(((const char *const *)names->mat.val)[j]), j};
  if (s >= 0) {
    qsort(sorted, (size_t)n, sizeof *sorted, by_stem);
    s = match(ctx, known, f, names, sorted, row, row + all);
  }
  for (int64_t j = 0; s >= 0 && j < all; j++) joined += row[j] >= 0;
  if (s >= 0 && joined == 0 && all > 0 && n > 0)
    s = fail_strange(ctx, known, file, names);
  if (s >= 0 && joined > 0) s = io_arrange(ctx, row, all, of);
  if (s >= 0 && joined > 0) say_joined(ctx, known, file, joined, n);
  base_free(sorted);
  base_free(row);
  return s;
}

static lapis_status compare(lapis_ctx *ctx, const io_order *known,
                            const char *file, const lapis_array *names)
{
  list a = list_of(names), b = list_of(&known->names);
  for (int64_t j = 0; a.n == b.n && j < a.n; j++) {
    piece x = piece_of(&a, j), y = piece_of(&b, j);
    if (!is_longer(x, y) && !is_longer(y, x))
      return lapis_fail(ctx, LAPIS_EDATA,
                        "%s: row %" PRId64 " is called '%s', but '%s' in %s; "
                        "bring them into one order",
                        file, j + 1, a.name[j], b.name[j], known->file);
  }
  return LAPIS_OK;
}

/* ---- taking over --------------------------------------------------------*/
/* 1 x n; a list that lies down stands up. */
static lapis_mat one_row(const lapis_mat *m)
{
  lapis_mat row = *m;
  if (m->cols != 1 || m->rows <= 1) return row;
  row.cols = m->rows;
  row.rows = row.ld = 1;
  return row;
}

static lapis_status copy(lapis_ctx *ctx, const lapis_mat *names,
                         lapis_array *out)
{
  if (names->dtype != LAPIS_TEXT) return codes_names(ctx, names, out);
  const char *const *from = names->val;
  int64_t bytes = 0;
  char *pool;
  for (int64_t j = 0; j < names->cols; j++)
    bytes += (int64_t)strlen(from[j * names->ld]) + 1;
  TRY(io_text_array(ctx, 1, names->cols, bytes, out, &pool));
  for (int64_t j = 0; j < names->cols; j++) {
    size_t size = strlen(from[j * names->ld]) + 1;
    ((const char **)out->mat.val)[j] = memcpy(pool, from[j * names->ld], size);
    pool += size;
  }
  return LAPIS_OK;
}

static lapis_status keep(lapis_ctx *ctx, io_order *known, const char *file,
                         lapis_array *names)
{
  known->file = base_strdup(ctx, file);
  if (known->file == NULL) return LAPIS_ENOMEM;
  known->names = *names;
  *names = (lapis_array){.kind = IO_NONE};
  return LAPIS_OK;
}

lapis_status io_order_join(lapis_ctx *ctx, const io_order *known,
                           const io_file *f, lapis_arrays *named,
                           const char *member, lapis_arrays *all)
{
  lapis_array own, *of = NULL, *names = NULL;
  for (int i = 0; i < all->count; i++)
    if (strcmp(all->item[i].name, member) == 0) of = &all->item[i];
  for (int i = 0; i < named->count; i++)
    if (strcmp(named->item[i].name, "names") == 0) names = &named->item[i];
  if (known->file == NULL || names == NULL || of == NULL) return LAPIS_OK;
  if (names->mat.colptr != NULL || of->mat.colptr != NULL) return LAPIS_OK;
  lapis_mat row = one_row(&names->mat);
  if (names->axes == 0 || row.rows != 1 || row.cols != of->mat.cols)
    return LAPIS_OK;
  TRY(copy(ctx, &row, &own));
  const void *before = of->mat.val;
  lapis_status status = LAPIS_OK;
  if (!same_order(known, &own)) status = join(ctx, known, f, &own, of);
  lapis_array_free(&own);
  if (status >= 0 && of->mat.val != before) names->name[0] = '\0';
  return status;
}

lapis_status io_order_add(lapis_ctx *ctx, io_order *known, const char *path,
                          const lapis_array *names, const lapis_array *of)
{
  lapis_array own;
  if (names == NULL || of == NULL || names->mat.colptr != NULL) return LAPIS_OK;
  lapis_mat row = one_row(&names->mat);
  bool fits = row.cols == of->mat.cols || row.cols == one_row(&of->mat).cols;
  if (names->axes == 0 || row.rows != 1 || !fits) return LAPIS_OK;
  TRY(copy(ctx, &row, &own));
  lapis_status status = known->file == NULL
                            ? keep(ctx, known, io_name(path), &own)
                            : compare(ctx, known, io_name(path), &own);
  lapis_array_free(&own);
  return status;
}
