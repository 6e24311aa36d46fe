/* parts.c - a result in a folder to which every process writes its own part.
 *
 * part-0001-of-0004-RUN.npz has the first process's samples of what is divided,
 * and all of what is not; index.json says how many parts there are, which
 * arrays are divided, and RUN, the hash of the whole.  The parts of a new
 * result lie beside those of the old one until the index takes its place by
 * rename: at that moment, and on every file system, the one result is replaced
 * by the other, and then the old parts go.  Parts that no index names are
 * nobody's, and go when the folder is next written to. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/io.h"
#include "files/parts_folder.h"
#include "mat/mat.h"

enum { FORMAT = 2, MOST = 9999 };
static const char header_name[] = "lapis";

/* ---- writing ------------------------------------------------------------*/
struct lapis_parts {
  lapis_ctx *ctx;
  char folder[PATH_BYTES], path[PATH_BYTES]; /* path: of the index */
  parts_hold hold;                           /* with the first process */
};

typedef struct writing {
  lapis_ctx *ctx;
  lapis_parts *to;
  const lapis_named *item; /* count */
  const bool *divided;     /* count; NULL: none is */
  int count, part, parts;  /* part from 1 */
  char run[RUN_BYTES];
} writing;

static bool is_divided(const writing *w, int i)
{
  return w->divided != NULL && w->divided[i];
}

static uint64_t hash_text(const char *text)
{
  lapis_mat view = lapis_mat_text(&text, 1, 1);
  return mat_hash_columns(&view, 0);
}

/* Equal hashes are equal results: their names count, too. */
static lapis_status hash_whole(writing *w)
{
  uint64_t hash = 0;
  for (int i = 0; i < w->count; i++) {
    const lapis_mat *A = &w->item[i].mat;
    int64_t first = 0, all;
    uint64_t by = 2 * (uint64_t)i + 1;
    if (is_divided(w, i)) TRY(base_place(w->ctx, A->cols, &first, &all));
    if (w->part == 1) hash += by * hash_text(w->item[i].name);
    if (is_divided(w, i) || w->part == 1)
      hash += by * mat_hash_columns(A, first);
  }
  TRY(base_sum_word(w->ctx, &hash));
  hash += (uint64_t)w->parts;
  (void)snprintf(w->run, sizeof w->run, "%016" PRIx64, hash);
  return LAPIS_OK;
}

/* What index and parts say of themselves. */
static lapis_json *header(const writing *w, const char *kind)
{
  lapis_json *to = lapis_json_object();
  lapis_json_put_text(to, "lapis", lapis_version());
  lapis_json_put_text(to, "kind", kind);
  lapis_json_put_integer(to, "format", FORMAT);
  lapis_json_put_integer(to, "parts", w->parts);
  lapis_json_put_text(to, "run", w->run);
  return to;
}

static lapis_status print(lapis_ctx *ctx, lapis_json *v, char **out)
{
  *out = lapis_json_print(v);
  lapis_json_free(v);
  return *out == NULL ? lapis_fail(ctx, LAPIS_ENOMEM, "out of memory")
                      : LAPIS_OK;
}

/* Into the temporary file of a part that is not there yet. */
static lapis_status write_part(const writing *w, io_out *o)
{
  char *text;
  lapis_json *head = header(w, "part");
  lapis_json_put_integer(head, "part", w->part);
  TRY(print(w->ctx, head, &text));
  lapis_named *item = base_alloc(w->ctx, w->count + 1, sizeof *item);
  lapis_status s = item == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  int count = 0;
  if (s >= 0)
    item[count++] =
        (lapis_named){.name = header_name,
                      .flat = true,
                      .mat = lapis_mat_text((const char *const *)&text, 1, 1)};
  for (int i = 0; s >= 0 && i < w->count; i++)
    if (w->part == 1 || is_divided(w, i)) item[count++] = w->item[i];
  if (s >= 0) s = npz_write(o, item, count);
  base_free(item);
  free(text);
  return s;
}

static lapis_status write_index(const writing *w)
{
  char *text;
  lapis_json *head = header(w, "parts"), *list = lapis_json_list();
  for (int i = 0; i < w->count; i++)
    if (is_divided(w, i)) lapis_json_put_text(list, NULL, w->item[i].name);
  lapis_json_put(head, "divided", list);
  TRY(print(w->ctx, head, &text));
  lapis_status s = lapis_file_write(w->ctx, w->to->path, text, strlen(text));
  free(text);
  return s;
}

/* Every step is one of all processes: none takes the next before all can. */
static lapis_status write_folder(writing *w)
{
  char name[NAME_BYTES], path[PATH_BYTES];
  io_out o;
  bool first = w->part == 1;
  TRY(hash_whole(w));
  parts_name(w->part, w->parts, w->run, name);
  parts_join(w->to->folder, name, path);
  lapis_status own = io_out_begin_like(w->ctx, path, w->to->path, &o);
  if (own >= 0) own = io_out_end(&o, write_part(w, &o));
  TRY(base_agree(w->ctx, own));
  return base_agree(w->ctx, first ? write_index(w) : LAPIS_OK);
}

/* What is not named by the index that stands there. */
static void sweep_others(const lapis_parts *p)
{
  lapis_json *index = NULL;
  bool there = io_exists(p->path);
  if (there &&
      (!io_is_file(p->path) || lapis_json_read(NULL, p->path, &index) < 0))
    return; /* nobody knows what was whole */
  parts_sweep(p->folder, there ? lapis_json_text(index, "run", "") : "");
  lapis_json_free(index);
}

lapis_status lapis_parts_new(lapis_ctx *ctx, const char *folder,
                             lapis_parts **out)
{
  MAKES(out);
  NEEDS(ctx, ctx, folder, out);
  base_meet(ctx);
  lapis_parts *p = base_alloc(ctx, 1, sizeof *p);
  lapis_status s = p == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  if (s >= 0 && base_ranks(ctx) > MOST)
    s = lapis_fail(ctx, LAPIS_EINVAL, "%s: at most %d processes write parts",
                   folder, MOST);
  if (s >= 0) {
    p->ctx = ctx;
    p->hold.fd = -1;
    (void)snprintf(p->folder, sizeof p->folder, "%s", folder);
    parts_join(folder, parts_index, p->path);
  }
  if (s >= 0 && base_rank(ctx) == 0) {
    s = parts_lock(ctx, folder, &p->hold);
    if (s >= 0) sweep_others(p);
  }
  s = base_agree(ctx, s);
  if (s >= 0)
    *out = p;
  else
    lapis_parts_free(p);
  return s;
}

lapis_status lapis_parts_write(lapis_parts *p, const lapis_named *item,
                               const bool *divided, int count)
{
  NEEDS(p == NULL ? NULL : p->ctx, p, item);
  base_meet(p->ctx);
  writing w = {.ctx = p->ctx,
               .to = p,
               .item = item,
               .divided = divided,
               .count = count,
               .part = base_rank(p->ctx) + 1,
               .parts = base_ranks(p->ctx)};
  lapis_status s = npz_check(p->ctx, p->folder, item, count);
  TRY(base_agree(p->ctx, s));
  return write_folder(&w);
}

void lapis_parts_free(lapis_parts *p)
{
  if (p == NULL) return;
  if (p->hold.fd >= 0) {
    sweep_others(p);
    parts_unlock(p->folder, &p->hold);
  }
  base_free(p);
}

static lapis_status write_one(lapis_ctx *ctx, const char *path,
                              const lapis_named *item, int count)
{
  lapis_parts *p;
  TRY(npz_check(ctx, path, item, count));
  TRY(lapis_parts_new(ctx, path, &p));
  lapis_status s = lapis_parts_write(p, item, NULL, count);
  lapis_parts_free(p);
  return s;
}

/* ---- reading ------------------------------------------------------------*/
typedef struct reading {
  lapis_ctx *ctx;
  const char *folder;
  lapis_json *index, *divided; /* divided: its list of names, as keys */
  const char *run;
  int parts;
  lapis_arrays *part; /* parts */
  double stored;      /* bytes of their files */
} reading;

static lapis_status fail_part(const reading *r, int part, const char *what)
{
  char name[NAME_BYTES];
  parts_name(part, r->parts, r->run, name);
  return lapis_fail(
      r->ctx, LAPIS_EFORMAT,
      "%s: part %d of %d (%s) %s; run what wrote the folder again", r->folder,
      part, r->parts, name, what);
}

static lapis_status read_index(reading *r)
{
  char path[PATH_BYTES];
  parts_join(r->folder, parts_index, path);
  TRY(lapis_json_read(r->ctx, path, &r->index));
  double parts = lapis_json_number(r->index, "parts", 0);
  double format = lapis_json_number(r->index, "format", 0);
  r->run = lapis_json_text(r->index, "run", "");
  if (strcmp(lapis_json_text(r->index, "kind", ""), "parts") != 0 ||
      format != FORMAT || !(parts >= 1 && parts <= MOST) ||
      strlen(r->run) != RUN_BYTES - 1 ||
      strspn(r->run, "0123456789abcdef") != RUN_BYTES - 1)
    return lapis_fail(r->ctx, LAPIS_EFORMAT,
                      "%s: is not an index of a result in parts of format %d",
                      path, FORMAT);
  r->parts = (int)parts;
  r->part = base_alloc(r->ctx, r->parts, sizeof *r->part);
  return r->part == NULL ? LAPIS_ENOMEM : LAPIS_OK;
}

/* Whether the part says that it is this part of this run. */
static lapis_status check_part(const reading *r, int part)
{
  const lapis_array *a = lapis_arrays_find(&r->part[part - 1], header_name);
  lapis_json *head;
  if (a == NULL || a->mat.dtype != LAPIS_TEXT || a->mat.cols != 1)
    return fail_part(r, part, "has no header");
  const char *text = ((const char *const *)a->mat.val)[0];
  if (lapis_json_parse(r->ctx, text, strlen(text), "header", &head) < 0)
    return fail_part(r, part, "has no header");
  bool same = strcmp(lapis_json_text(head, "run", ""), r->run) == 0 &&
              lapis_json_number(head, "part", 0) == part &&
              lapis_json_number(head, "parts", 0) == r->parts;
  lapis_json_free(head);
  return same ? LAPIS_OK : fail_part(r, part, "is of another run");
}

static lapis_status read_part(reading *r, int part, const io_request *request,
                              char **seen)
{
  char name[NAME_BYTES], path[PATH_BYTES];
  io_file f;
  io_request own = *request;
  parts_name(part, r->parts, r->run, name);
  parts_join(r->folder, name, path);
  own.seen = seen;
  if (!io_is_file(path)) return fail_part(r, part, "is missing");
  lapis_status s = io_file_open(r->ctx, path, &f);
  if (s >= 0 && f.format != IO_NPZ) s = LAPIS_EFORMAT;
  if (s >= 0) s = io_read_by(r->ctx, npz_read, &f, &own, &r->part[part - 1]);
  r->stored += f.stored;
  io_file_close(&f);
  if (s == LAPIS_ENOMEM) return s;
  return s < 0 ? fail_part(r, part, "is cut short or damaged")
               : check_part(r, part);
}

/* Its members of that name, one a part, are alike. */
static lapis_status measure(const reading *r, const lapis_array *like,
                            int64_t *cols, int64_t *bytes)
{
  *cols = *bytes = 0;
  for (int k = 0; k < r->parts; k++) {
    const lapis_array *a = lapis_arrays_find(&r->part[k], like->name);
    if (a == NULL || a->mat.dtype != like->mat.dtype ||
        a->mat.rows != like->mat.rows || a->mat.colptr != NULL ||
        a->axes != like->axes)
      return fail_part(r, k + 1, "does not fit the first one");
    *cols += a->mat.cols;
    const char *const *text = a->mat.val;
    for (int64_t i = 0;
         a->mat.dtype == LAPIS_TEXT && i < a->mat.rows * a->mat.cols; i++)
      *bytes += (int64_t)strlen(text[i]) + 1;
  }
  return LAPIS_OK;
}

static size_t entry_bytes(lapis_dtype t)
{
  return t == LAPIS_U8 ? 1 : t == LAPIS_F32 ? sizeof(float) : sizeof(double);
}

static void copy_texts(const lapis_mat *from, const char **to, char **pool)
{
  const char *const *text = from->val;
  for (int64_t i = 0; i < from->rows * from->cols; i++) {
    size_t length = strlen(text[i]) + 1;
    to[i] = memcpy(*pool, text[i], length);
    *pool += length;
  }
}

/* Columns of all parts, one part behind the other; like: of the first. */
static lapis_status join_array(const reading *r, const lapis_array *like,
                               lapis_array *out)
{
  int64_t cols, bytes, done = 0, rows = like->mat.rows;
  char *pool = NULL;
  TRY(measure(r, like, &cols, &bytes));
  bool text = like->mat.dtype == LAPIS_TEXT;
  size_t entry = entry_bytes(like->mat.dtype);
  *out = (lapis_array){.kind = IO_HEAP};
  if (text) {
    TRY(io_text_array(r->ctx, rows, cols, bytes, out, &pool));
  } else {
    out->bytes = (size_t)(rows * cols) * entry;
    out->memory = base_alloc_raw(r->ctx, rows * cols, entry);
    if (out->memory == NULL) return LAPIS_ENOMEM;
  }
  void *val = text ? out->mat.val : out->memory;
  out->mat = like->mat;
  out->mat.val = val;
  out->mat.cols = cols;
  out->axes = like->axes;
  memcpy(out->shape, like->shape, sizeof out->shape);
  memcpy(out->stored, like->stored, sizeof out->stored);
  out->shape[0] = cols;
  for (int k = 0; k < r->parts; k++) {
    const lapis_mat *A = &lapis_arrays_find(&r->part[k], like->name)->mat;
    if (text)
      copy_texts(A, (const char **)val + done, &pool);
    else if (A->cols > 0 && rows > 0)
      memcpy((char *)val + (size_t)done * entry, A->val,
             (size_t)(rows * A->cols) * entry);
    done += rows * A->cols;
  }
  return LAPIS_OK;
}

static lapis_status list_divided(reading *r)
{
  const char *key = NULL;
  char value[NAME_BYTES * 4];
  const lapis_json *list = lapis_json_get(r->index, "divided");
  bool fine = (r->divided = lapis_json_object()) != NULL;
  for (int i = 0; fine && lapis_json_entry(list, i, &key, value, sizeof value);
       i++)
    fine = lapis_json_put_bool(r->divided, value, true);
  if (fine) return LAPIS_OK;
  return lapis_fail(r->ctx, LAPIS_ENOMEM, "%s: out of memory", r->folder);
}

static lapis_status join_all(const reading *r, const io_request *request,
                             lapis_arrays *out)
{
  for (int i = 0; i < r->part[0].count; i++) {
    lapis_array *from = &r->part[0].item[i], made;
    if (!io_is_wanted(request->want, from->name) ||
        strcmp(from->name, header_name) == 0)
      continue;
    if (r->parts > 1 && lapis_json_get(r->divided, from->name) != NULL) {
      TRY(join_array(r, from, &made));
      TRY(io_arrays_add(r->ctx, out, from->name, &made));
    } else {
      made = *from;
      made.name = NULL;
      from->memory = NULL; /* it has moved */
      from->kind = IO_NONE;
      TRY(io_arrays_add(r->ctx, out, from->name, &made));
    }
  }
  return LAPIS_OK;
}

/* Names of what is wanted, and of the header. */
static lapis_status with_header(const reading *r, const char *const *want,
                                const char ***out)
{
  int count = 0;
  while (want[count] != NULL) count++;
  *out = base_alloc(r->ctx, count + 2, sizeof **out);
  if (*out == NULL) return LAPIS_ENOMEM;
  for (int i = 0; i < count; i++) (*out)[i] = want[i];
  (*out)[count] = header_name;
  return LAPIS_OK;
}

static lapis_status read_parts(reading *r, const io_request *request,
                               lapis_arrays *out)
{
  const char **want = NULL;
  TRY(read_index(r));
  if (request->want != NULL) TRY(with_header(r, request->want, &want));
  io_request own = *request;
  own.want = (const char *const *)want;
  lapis_status s = LAPIS_OK;
  for (int k = 1; s >= 0 && k <= r->parts; k++)
    s = read_part(r, k, &own, k == 1 ? request->seen : NULL);
  base_free(want);
  if (s >= 0) s = list_divided(r);
  return s < 0 ? s : join_all(r, request, out);
}

static void reading_free(reading *r)
{
  for (int k = 0; r->part != NULL && k < r->parts; k++)
    lapis_arrays_free(&r->part[k]);
  base_free(r->part);
  lapis_json_free(r->index);
  lapis_json_free(r->divided);
}

/* Whether the folder holds another result by now. */
static bool is_replaced(const reading *r)
{
  reading now = {.folder = r->folder};
  bool other =
      r->run != NULL && read_index(&now) >= 0 && strcmp(now.run, r->run) != 0;
  reading_free(&now);
  return other;
}

static lapis_status parts_read(lapis_ctx *ctx, io_file *f,
                               const io_request *request, lapis_arrays *out)
{
  enum { TRIES = 10 };
  lapis_status s = LAPIS_OK;
  for (int k = 0; k < TRIES; k++) {
    reading r = {.ctx = ctx, .folder = f->path};
    s = read_parts(&r, request, out);
    f->stored = r.stored;
    bool again = s < 0 && out->count == 0 && is_replaced(&r);
    reading_free(&r);
    if (!again) break;
  }
  return s;
}

const io_kind io_parts = {.shown = {"parts", "", "result in parts, a folder",
                                    "every member", true, NULL, true, true},
                          .read = parts_read,
                          .write = write_one};
