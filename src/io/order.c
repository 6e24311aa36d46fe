/* order.c - whether the samples of two files stand in one order.
 *
 * Members of a dataset are paired row by row.  Where two files both name their
 * samples the names must agree, row by row: another order would give a wrong
 * answer without a word.
 *
 * One sample may be called "faces/an2i.png" in one file and "an2i" in another.
 * So the folder and the ending that all names of a list share are left aside,
 * and so are folders and an ending that only one of two names has. */
#include <string.h>

#include "io/io.h"

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
