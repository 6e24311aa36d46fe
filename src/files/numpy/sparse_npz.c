/* sparse_npz.c - sparse matrices as members of an archive, as scipy's
 * save_npz names them: format, shape, data, indices, indptr (csr, csc) or row,
 * col (coo).  These are X; a further matrix has its name and a dot before
 * each: P.data, P.indices. */
#include <stdio.h>
#include <string.h>

#include "files/io.h"
#include "mat/mat.h"

/* The first five are written. */
static const char *const parts[] = {"format", "shape", "data", "indices",
                                    "indptr", "row",   "col",  "offsets"};
enum { PARTS = sizeof parts / sizeof *parts };

const char *io_sparse_owner(const char *name, char *to, size_t size)
{
  const char *dot = strrchr(name, '.');
  const char *part = dot == NULL ? name : dot + 1;
  int i = 0;
  while (i < PARTS && strcmp(parts[i], part) != 0) i++;
  if (i == PARTS || dot == name) return NULL;
  if (dot == NULL)
    (void)snprintf(to, size, "X");
  else
    (void)snprintf(to, size, "%.*s", (int)(dot - name), name);
  return to;
}

/* The part of a matrix among all arrays; NULL: not there. */
static const lapis_array *part_of(const lapis_arrays *all, const char *prefix,
                                  const char *part)
{
  char name[600];
  (void)snprintf(name, sizeof name, "%s%s", prefix, part);
  return lapis_arrays_find(all, name);
}

typedef struct scipy { /* one matrix being made */
  lapis_ctx *ctx;
  char what[300]; /* "a.npz: X" */
  const lapis_arrays *all;
  const char *prefix;
  int64_t samples, features, nnz;
  int64_t *at[2]; /* owned: two of its lists */
  double *value;
} scipy;

static lapis_status fail_part(const scipy *s, const char *part,
                              const char *wanted)
{
  return lapis_fail(s->ctx, LAPIS_EFORMAT, "%s: its sparse member %s%s %s",
                    s->what, s->prefix, part, wanted);
}

/* A part as integers, count of them, or any number where count is -1. */
static lapis_status integers(const scipy *s, const char *part, int64_t count,
                             const lapis_mat **out)
{
  const lapis_array *a = part_of(s->all, s->prefix, part);
  if (a == NULL) return fail_part(s, part, "is missing");
  if (a->axes != 1 || (a->mat.dtype != LAPIS_I64 && a->mat.dtype != LAPIS_U8))
    return fail_part(s, part, "is not a list of integers");
  if (count >= 0 && a->mat.cols != count)
    return lapis_fail(s->ctx, LAPIS_ESHAPE,
                      "%s: its sparse member %s%s has %" PRId64
                      " entries, %" PRId64 " are needed",
                      s->what, s->prefix, part, a->mat.cols, count);
  *out = &a->mat;
  return LAPIS_OK;
}

static void copy_integers(const lapis_mat *from, int64_t *to)
{
  for (int64_t k = 0; k < from->cols; k++)
    to[k] = from->dtype == LAPIS_I64
                ? ((const int64_t *)from->val)[k * from->ld]
                : ((const uint8_t *)from->val)[k * from->ld];
}

static lapis_status take_part(const scipy *s, const char *part, int64_t count,
                              int64_t *to)
{
  const lapis_mat *from = NULL;
  TRY(integers(s, part, count, &from));
  copy_integers(from, to);
  return LAPIS_OK;
}

static lapis_status check_layout(const scipy *s, const char *layout)
{
  static const char *const known[] = {"csr", "csc", "coo", NULL};
  if (io_is_wanted(known, layout)) return LAPIS_OK;
  return lapis_fail(s->ctx, LAPIS_EFORMAT,
                    "%s: is a sparse matrix of layout %.20s; csr, csc and coo "
                    "are read: save A.tocsr()",
                    s->what, layout);
}

static lapis_status take_shape(scipy *s)
{
  int64_t shape[2];
  TRY(take_part(s, "shape", 2, shape));
  s->samples = shape[0];
  s->features = shape[1];
  const lapis_array *data = part_of(s->all, s->prefix, "data");
  if (data == NULL) return fail_part(s, "data", "is missing");
  if (data->axes != 1 || data->mat.dtype == LAPIS_TEXT)
    return fail_part(s, "data", "is not a list of numbers");
  s->nnz = data->mat.cols;
  if (shape[0] < 0 || shape[1] < 0 || shape[1] > INT32_MAX)
    return lapis_fail(s->ctx, LAPIS_ESHAPE,
                      "%s: is sparse of shape %" PRId64 " x %" PRId64
                      "; at most %d features are read",
                      s->what, shape[0], shape[1], INT32_MAX);
  return LAPIS_OK;
}

/* Memory for count integers of a part. */
static lapis_status list(scipy *s, const char *part, int64_t count,
                         int64_t **to)
{
  *to = base_alloc_raw(s->ctx, count, sizeof **to);
  return *to == NULL ? LAPIS_ENOMEM : take_part(s, part, count, *to);
}

static lapis_status build_compressed(scipy *s, bool by_sample, lapis_array *out)
{
  const lapis_mat *ptr = NULL;
  TRY(integers(s, "indptr", -1, &ptr));
  TRY(list(s, "indptr", ptr->cols, &s->at[0]));
  TRY(list(s, "indices", s->nnz, &s->at[1]));
  io_compressed c = {.by_sample = by_sample,
                     .samples = s->samples,
                     .features = s->features,
                     .nnz = s->nnz,
                     .n_ptr = ptr->cols,
                     .ptr = s->at[0],
                     .at = s->at[1],
                     .value = s->value};
  return io_sparse_compressed(s->ctx, s->what, &c, out);
}

static lapis_status build_triplets(scipy *s, lapis_array *out)
{
  TRY(list(s, "row", s->nnz, &s->at[0]));
  TRY(list(s, "col", s->nnz, &s->at[1]));
  io_triplets t = {.rows = s->features,
                   .cols = s->samples,
                   .nnz = s->nnz,
                   .row = s->at[1],
                   .col = s->at[0],
                   .value = s->value};
  return io_sparse_build(s->ctx, s->what, &t, out);
}

static lapis_status build(scipy *s, const char *layout, lapis_array *out)
{
  TRY(check_layout(s, layout));
  TRY(take_shape(s));
  s->value = base_alloc_raw(s->ctx, s->nnz, sizeof *s->value);
  if (s->value == NULL) return LAPIS_ENOMEM;
  mat_to_f64(&part_of(s->all, s->prefix, "data")->mat, s->value, 1);
  TRY(strcmp(layout, "coo") == 0
          ? build_triplets(s, out)
          : build_compressed(s, strcmp(layout, "csr") == 0, out));
  (void)snprintf(out->stored, sizeof out->stored, "%s", layout);
  return LAPIS_OK;
}

/* Takes a matrix's members out, but for the one at `keep`. */
static void drop_parts(lapis_arrays *all, const char *owner, int keep)
{
  char name[600];
  int count = 0;
  for (int i = 0; i < all->count; i++) {
    const char *of =
        i == keep ? NULL
                  : io_sparse_owner(all->item[i].name, name, sizeof name);
    bool drop =
        of != NULL && strcmp(of, owner) == 0 && all->item[i].mat.colptr == NULL;
    lapis_array a = all->item[i];
    if (drop)
      lapis_array_free(&a);
    else
      all->item[count++] = a;
  }
  all->count = count;
}

static lapis_status assemble(lapis_ctx *ctx, const char *path,
                             lapis_arrays *all, int at)
{
  char owner[600], prefix[600];
  const char *layout = ((const char *const *)all->item[at].mat.val)[0];
  (void)io_sparse_owner(all->item[at].name, owner, sizeof owner);
  (void)snprintf(prefix, sizeof prefix, "%.*s",
                 (int)(strlen(all->item[at].name) - strlen("format")),
                 all->item[at].name);
  scipy s = {.ctx = ctx, .all = all, .prefix = prefix};
  (void)snprintf(s.what, sizeof s.what, "%.200s: %.60s", path, owner);
  lapis_array made = {.kind = IO_NONE};
  lapis_status status = build(&s, layout, &made);
  base_free(s.at[0]);
  base_free(s.at[1]);
  base_free(s.value);
  char *name = status < 0 ? NULL : base_strdup(ctx, owner);
  if (status == LAPIS_OK && name == NULL) {
    lapis_array_free(&made);
    status = LAPIS_ENOMEM;
  }
  if (status < 0) return status;
  lapis_array_free(&all->item[at]);
  all->item[at] = made;
  all->item[at].name = name;
  drop_parts(all, owner, at);
  return LAPIS_OK;
}

static bool is_layout(const lapis_arrays *all, const lapis_array *a)
{
  size_t size = strlen(a->name), tail = strlen("format");
  char data[600];
  bool named = size >= tail && strcmp(a->name + size - tail, "format") == 0 &&
               (size == tail || a->name[size - tail - 1] == '.');
  if (!named || a->mat.dtype != LAPIS_TEXT || a->mat.rows * a->mat.cols != 1)
    return false;
  (void)snprintf(data, sizeof data, "%.*sdata", (int)(size - tail), a->name);
  return lapis_arrays_find(all, data) != NULL;
}

lapis_status io_sparse_assemble(lapis_ctx *ctx, const char *path,
                                lapis_arrays *all)
{
  for (int i = 0; i < all->count; i++)
    if (is_layout(all, &all->item[i])) {
      TRY(assemble(ctx, path, all, i));
      i = -1; /* members moved */
    }
  return LAPIS_OK;
}

/* ---- writing ------------------------------------------------------------*/
enum { WRITTEN = 5 };

/* A sparse matrix as five members, whose memory is block's. */
typedef struct expanded {
  int64_t *indices, shape[2];
  const char *layout;
  char name[WRITTEN][600];
} expanded;

static lapis_mat list_of(lapis_dtype type, const void *val, int64_t count)
{
  return (lapis_mat){.dtype = type,
                     .rows = 1,
                     .cols = count,
                     .ld = 1,
                     .val = (void *)(uintptr_t)val};
}

static lapis_status expand(lapis_ctx *ctx, const lapis_named *from, expanded *e,
                           lapis_named *to)
{
  const lapis_mat *m = &from->mat;
  int64_t first = m->colptr[0], nnz = m->colptr[m->cols] - first;
  e->indices = base_alloc_raw(ctx, nnz + m->cols + 1, sizeof *e->indices);
  if (e->indices == NULL) return LAPIS_ENOMEM;
  int64_t *indptr = e->indices + nnz;
  for (int64_t k = 0; k < nnz; k++) e->indices[k] = m->rowidx[first + k];
  for (int64_t j = 0; j <= m->cols; j++) indptr[j] = m->colptr[j] - first;
  const lapis_mat value[WRITTEN] = {
      list_of(LAPIS_TEXT, &e->layout, 1), list_of(LAPIS_I64, e->shape, 2),
      list_of(LAPIS_F64, (const double *)m->val + first, nnz),
      list_of(LAPIS_I64, e->indices, nnz),
      list_of(LAPIS_I64, indptr, m->cols + 1)};
  e->layout = "csr";
  e->shape[0] = m->cols;
  e->shape[1] = m->rows;
  bool X = strcmp(from->name, "X") == 0;
  for (int i = 0; i < WRITTEN; i++) {
    (void)snprintf(e->name[i], sizeof e->name[i], "%.200s%s%s",
                   X ? "" : from->name, X ? "" : ".", parts[i]);
    to[i] = (lapis_named){.name = e->name[i], .mat = value[i], .flat = true};
  }
  return LAPIS_OK;
}

static lapis_status expand_all(lapis_ctx *ctx, const char *path,
                               const lapis_named *item, int count,
                               npz_items *out)
{
  for (int i = 0; i < count; i++) {
    if (item[i].mat.colptr == NULL) {
      out->item[out->count++] = item[i];
      continue;
    }
    if (item[i].mat.dtype != LAPIS_F64)
      return lapis_fail(ctx, LAPIS_EINVAL,
                        "%s: member %s: is sparse of another type than double",
                        path, item[i].name);
    expanded *e = &((expanded *)out->memory)[i];
    TRY(expand(ctx, &item[i], e, out->item + out->count));
    out->count += WRITTEN;
  }
  return LAPIS_OK;
}

lapis_status npz_items_new(lapis_ctx *ctx, const char *path,
                           const lapis_named *item, int count, npz_items *out)
{
  *out = (npz_items){.members = count};
  out->item = base_alloc(ctx, (int64_t)WRITTEN * count, sizeof *out->item);
  out->memory = base_alloc(ctx, count, sizeof(expanded));
  lapis_status status = out->item == NULL || out->memory == NULL
                            ? LAPIS_ENOMEM
                            : expand_all(ctx, path, item, count, out);
  if (status < 0) npz_items_free(out);
  return status;
}

void npz_items_free(npz_items *items)
{
  expanded *e = items->memory;
  for (int i = 0; e != NULL && i < items->members; i++) base_free(e[i].indices);
  base_free(items->memory);
  base_free(items->item);
  *items = (npz_items){.count = 0};
}
