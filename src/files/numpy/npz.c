/* npz.c - archives of .npy files, through libzip.
 *
 * Reading: an archive is a stranger's claim.  A member may be as large as its
 * compressed bytes justify: deflate makes at most 1032 bytes out of one, a
 * stored member exactly as many as it has, and all members together have no
 * more bytes than the file (members that share bytes are how bombs are made).
 * Members are stored or deflated, as numpy does it; others are no arrays.
 *
 * Large stored members are mapped where their values can be read as they lie
 * (npz_map.c), like a .npy file.
 *
 * Writing: members are stored, so that numpy can map them; libzip asks for
 * their bytes piece by piece, so arrays are not copied.  Times are fixed:
 * equal arrays give equal files. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

#include "files/io.h"
#include "mat/mat.h"

enum { DEFLATE_LIMIT = 1032, WHAT_BYTES = 512 };
enum { MAPPED_FROM = 1 << 20, COMPARED = 1 << 16 }; /* bytes */
enum { DOS_DATE = 1 << 5 | 1 }; /* 1980-01-01, the first there is */

/* ---- errors -------------------------------------------------------------*/
static lapis_status fail_zip(lapis_ctx *ctx, lapis_status status,
                             const char *what, const char *did, zip_error_t *e)
{
  if (zip_error_code_zip(e) == ZIP_ER_MEMORY) status = LAPIS_ENOMEM;
  if (zip_error_system_type(e) == ZIP_ET_SYS && zip_error_code_system(e) != 0)
    return lapis_fail(ctx, status == LAPIS_ENOMEM ? status : LAPIS_EIO,
                      "%s: %s: %s", what, did,
                      strerror(zip_error_code_system(e)));
  return lapis_fail(ctx, status, "%s: %s: %s", what, did,
                    zip_error_strerror(e));
}

/* ---- reading ------------------------------------------------------------*/
typedef struct archive {
  lapis_ctx *ctx;
  const char *name, *path; /* path NULL: its bytes are in memory */
  zip_t *zip;
  int64_t count, bytes; /* members; of the file */
  bool any_place;       /* io_request */
  io_share share;       /* the same */
} archive;

typedef struct member {
  int64_t index, size;   /* size: uncompressed */
  bool stored;           /* as it is */
  char name[WHAT_BYTES]; /* without .npy */
  char what[WHAT_BYTES]; /* "faces.npz: member X" */
} member;

static zip_source_t *source_of(const io_file *f, zip_error_t *e)
{
  if (f->data == NULL) return zip_source_file_create(f->path, 0, -1, e);
  return zip_source_buffer_create(f->data, (zip_uint64_t)f->size, 0, e);
}

static lapis_status archive_open(lapis_ctx *ctx, const io_file *f, archive *out)
{
  zip_error_t e;
  zip_error_init(&e);
  *out = (archive){.ctx = ctx,
                   .name = io_name(f->path),
                   .path = f->data == NULL ? f->path : NULL};
  zip_source_t *source = source_of(f, &e);
  zip_stat_t st;
  zip_stat_init(&st);
  if (source != NULL && zip_source_stat(source, &st) == 0)
    out->bytes = (int64_t)st.size;
  if (source != NULL) out->zip = zip_open_from_source(source, ZIP_RDONLY, &e);
  lapis_status status = LAPIS_OK;
  if (out->zip == NULL) {
    status = fail_zip(
        ctx, LAPIS_EFORMAT, out->name,
        "is not a readable zip archive (was it written to its end?)", &e);
    zip_source_free(source);
  } else {
    out->count = zip_get_num_entries(out->zip, 0);
  }
  zip_error_fini(&e);
  return status;
}

/* Later members of the same name would replace what was checked before. */
static lapis_status check_unique(const archive *a, int64_t index,
                                 const char *name)
{
  if (zip_name_locate(a->zip, name, 0) == index) return LAPIS_OK;
  return lapis_fail(
      a->ctx, LAPIS_EFORMAT,
      "%s: has two members named %.200s; write it again, with each name once",
      a->name, name);
}

static bool is_array_name(const char *name, size_t *bare)
{
  size_t size = strlen(name);
  if (size < 5 || strcmp(name + size - 4, ".npy") != 0) return false;
  *bare = size - 4;
  return *bare < WHAT_BYTES / 2;
}

static lapis_status check_size(const archive *a, const member *m,
                               const zip_stat_t *st)
{
  if (st->comp_size > (zip_uint64_t)a->bytes)
    return lapis_fail(a->ctx, LAPIS_EFORMAT,
                      "%s: claims %" PRIu64 " bytes in a file of %" PRId64,
                      m->what, (uint64_t)st->comp_size, a->bytes);
  uint64_t most = st->comp_size;
  if (st->comp_method == ZIP_CM_DEFLATE) most = DEFLATE_LIMIT * (most + 1);
  if (st->size > most ||
      (st->comp_method == ZIP_CM_STORE && st->size != st->comp_size))
    return lapis_fail(a->ctx, LAPIS_EFORMAT,
                      "%s: claims %" PRIu64 " bytes made from %" PRIu64
                      ", which is impossible",
                      m->what, (uint64_t)st->size, (uint64_t)st->comp_size);
  return LAPIS_OK;
}

static lapis_status check_kind(const archive *a, const member *m,
                               const zip_stat_t *st)
{
  zip_uint64_t wanted = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE |
                        ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
  if ((st->valid & wanted) != wanted)
    return lapis_fail(a->ctx, LAPIS_EFORMAT,
                      "%s: its size is not stated; numpy.savez writes it",
                      m->what);
  if (st->encryption_method != ZIP_EM_NONE)
    return lapis_fail(a->ctx, LAPIS_EFORMAT,
                      "%s: is encrypted; save it without a password", m->what);
  if (st->comp_method != ZIP_CM_STORE && st->comp_method != ZIP_CM_DEFLATE)
    return lapis_fail(a->ctx, LAPIS_EFORMAT,
                      "%s: is compressed by zip method %d; stored and "
                      "deflated members are read",
                      m->what, (int)st->comp_method);
  return check_size(a, m, st);
}

/* Name and honest size of a member; *is_array false: it is something else. */
static lapis_status inspect(const archive *a, int64_t index, member *m,
                            int64_t *compressed, bool *is_array)
{
  zip_stat_t st;
  size_t bare;
  *is_array = false;
  zip_stat_init(&st);
  if (zip_stat_index(a->zip, (zip_uint64_t)index, 0, &st) != 0)
    return fail_zip(a->ctx, LAPIS_EFORMAT, a->name, "has a damaged member",
                    zip_get_error(a->zip));
  if (st.name == NULL || !is_array_name(st.name, &bare)) return LAPIS_OK;
  memcpy(m->name, st.name, bare);
  m->name[bare] = '\0';
  m->index = index;
  (void)snprintf(m->what, sizeof m->what, "%.200s: member %.200s", a->name,
                 m->name);
  TRY(check_unique(a, index, st.name));
  TRY(check_kind(a, m, &st));
  m->size = (int64_t)st.size;
  m->stored = st.comp_method == ZIP_CM_STORE;
  *compressed = (int64_t)st.comp_size;
  *is_array = true;
  return LAPIS_OK;
}

static lapis_status member_read(io_source *s, void *to, int64_t size)
{
  enum { PIECE = 1 << 24 };
  zip_int64_t got = 0, done = 0;
  while (got >= 0 && done < size) {
    int64_t want = size - done < PIECE ? size - done : PIECE;
    got = zip_fread(s->self, (char *)to + done, (zip_uint64_t)want);
    if (got < want) break;
    done += got;
    if (want == PIECE) TRY(base_go_on(s->ctx, "reading", s->what));
  }
  if (done == size) return LAPIS_OK;
  if (got < 0)
    return fail_zip(s->ctx, LAPIS_EFORMAT, s->what, "cannot be unpacked",
                    zip_file_get_error(s->self));
  return lapis_fail(
      s->ctx, LAPIS_EFORMAT,
      "%s: is shorter than it claims; the file is damaged, write it again",
      s->what);
}

/* The checksum is verified by the read that finds the end. */
static lapis_status check_end(io_source *s)
{
  char byte;
  zip_int64_t got = zip_fread(s->self, &byte, 1);
  if (got == 0) return LAPIS_OK;
  if (got < 0)
    return fail_zip(s->ctx, LAPIS_EFORMAT, s->what, "cannot be unpacked",
                    zip_file_get_error(s->self));
  return lapis_fail(
      s->ctx, LAPIS_EFORMAT,
      "%s: is longer than it claims; the file is damaged, write it again",
      s->what);
}

/* Lists of a sparse matrix have no samples. */
static io_share share_of(const archive *a, const member *m)
{
  char owner[WHAT_BYTES];
  bool part = io_sparse_owner(m->name, owner, sizeof owner) != NULL;
  return part ? (io_share){.parts = 0} : a->share;
}

static lapis_status read_member(const archive *a, const member *m,
                                lapis_arrays *out)
{
  zip_file_t *file = zip_fopen_index(a->zip, (zip_uint64_t)m->index, 0);
  if (file == NULL)
    return fail_zip(a->ctx, LAPIS_EFORMAT, m->what, "cannot be unpacked",
                    zip_get_error(a->zip));
  lapis_array array;
  io_source s = {.ctx = a->ctx,
                 .what = m->what,
                 .left = m->size,
                 .read = member_read,
                 .self = file};
  io_share share = share_of(a, m);
  npy_header h;
  lapis_status status = npy_header_read(&s, &h);
  if (status == LAPIS_OK)
    status = npy_share_read(&s, &h, &share, m->name, &array);
  if (status == LAPIS_OK) {
    status = check_end(&s);
    if (status == LAPIS_OK)
      status = io_arrays_add(a->ctx, out, m->name, &array);
    else
      lapis_array_free(&array);
  }
  (void)zip_fclose(file);
  return status;
}

/* What libzip unpacks is what is mapped, from byte `from` to `to`: its place is
 * right.  Of a whole member the checksum, which the read of the end verifies,
 * holds as well. */
static lapis_status compare(const archive *a, const member *m,
                            const unsigned char *data, int64_t from, int64_t to)
{
  bool whole = from == 0 && to == m->size;
  zip_file_t *file = zip_fopen_index(a->zip, (zip_uint64_t)m->index, 0);
  if (file == NULL)
    return fail_zip(a->ctx, LAPIS_EFORMAT, m->what, "cannot be unpacked",
                    zip_get_error(a->zip));
  io_source s = {.ctx = a->ctx, .what = m->what, .self = file};
  char *block = base_alloc_raw(a->ctx, COMPARED, 1);
  lapis_status status = block == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  if (status == LAPIS_OK && from > 0 && zip_fseek(file, from, SEEK_SET) != 0)
    status = fail_zip(a->ctx, LAPIS_EFORMAT, m->what, "cannot be unpacked",
                      zip_file_get_error(file));
  for (int64_t at = from; at < to && status == LAPIS_OK; at += COMPARED) {
    int64_t n = to - at < COMPARED ? to - at : COMPARED;
    status = member_read(&s, block, n);
    if (status == LAPIS_OK && memcmp(block, data + at, (size_t)n) != 0)
      status = lapis_fail(a->ctx, LAPIS_EFORMAT,
                          "%s: changed while it was read; run again when no "
                          "other program writes to it",
                          m->what);
  }
  if (status == LAPIS_OK && whole) status = check_end(&s);
  base_free(block);
  (void)zip_fclose(file);
  return status;
}

/* The bytes of a mapped member that were read: all, or a share of it in C
 * order; of one in Fortran order, which lies everywhere, the header. */
static lapis_status compare_read(const archive *a, const member *m,
                                 const unsigned char *data, int64_t header,
                                 const npy_header *h, const io_share *share)
{
  int64_t first, count;
  if (h->axes == 0 || !io_share_of(share, m->name, h->shape[0], &first, &count))
    return compare(a, m, data, 0, m->size);
  if (!npy_is_straight(h)) return compare(a, m, data, 0, header);
  int64_t row = h->count / h->shape[0] * h->item;
  return compare(a, m, data, header + first * row,
                 header + (first + count) * row);
}

/* A large stored member stays in the file, mapped, where its values can be
 * read as they lie, or where some of them are wanted; *done false: it has to be
 * copied. */
static lapis_status map_member(const archive *a, const member *m,
                               lapis_arrays *out, bool *done)
{
  char name[WHAT_BYTES + 4];
  npz_place place;
  lapis_array array;
  *done = false;
  if (!m->stored || m->size < MAPPED_FROM || a->path == NULL) return LAPIS_OK;
  (void)snprintf(name, sizeof name, "%s.npy", m->name);
  if (!npz_map(a->path, m->index, name, m->size, &place)) return LAPIS_OK;
  io_source s = io_source_memory(a->ctx, m->what, place.data, m->size);
  s.any_place = a->any_place;
  io_share share = share_of(a, m);
  npy_header h;
  lapis_status status = npy_header_read(&s, &h);
  if (status == LAPIS_OK && (npy_stays(&s, &h) || share.parts > 1)) {
    status = compare_read(a, m, place.data, m->size - s.left, &h, &share);
    if (status == LAPIS_OK)
      status = npy_share_read(&s, &h, &share, m->name, &array);
    *done = status == LAPIS_OK;
  }
  if (*done && array.kind == IO_BORROWED) {
    array.kind = IO_MAPPED;
    array.memory = place.map;
    array.bytes = place.bytes;
  } else {
    io_release(place.map, place.bytes, IO_MAPPED);
  }
  return *done ? io_arrays_add(a->ctx, out, m->name, &array) : status;
}

/* The parts of a sparse matrix are wanted where the matrix is. */
static bool is_wanted(const archive *a, const char *const *want,
                      const char *name)
{
  char owner[WHAT_BYTES], format[WHAT_BYTES + 16];
  if (io_is_wanted(want, name)) return true;
  if (io_sparse_owner(name, owner, sizeof owner) == NULL ||
      !io_is_wanted(want, owner))
    return false;
  const char *dot = strrchr(name, '.');
  (void)snprintf(format, sizeof format, "%.*sformat.npy",
                 dot == NULL ? 0 : (int)(dot + 1 - name), name);
  return zip_name_locate(a->zip, format, 0) >= 0;
}

static lapis_status read_all(const archive *a, const char *const *want,
                             lapis_arrays *out, char **seen)
{
  int64_t left = a->bytes;
  for (int64_t i = 0; i < a->count; i++) {
    member m;
    int64_t compressed;
    bool is_array;
    TRY(inspect(a, i, &m, &compressed, &is_array));
    if (!is_array) continue;
    if (compressed > left)
      return lapis_fail(a->ctx, LAPIS_EFORMAT,
                        "%s: its members claim more bytes than the file has; "
                        "the file is damaged, write it again",
                        a->name);
    left -= compressed;
    if (seen != NULL) TRY(io_note_seen(a->ctx, seen, m.name));
    if (!is_wanted(a, want, m.name)) continue;
    bool mapped;
    TRY(map_member(a, &m, out, &mapped));
    if (!mapped) TRY(read_member(a, &m, out));
  }
  return LAPIS_OK;
}

lapis_status npz_read(lapis_ctx *ctx, io_file *f, const io_request *request,
                      lapis_arrays *out)
{
  archive a;
  TRY(archive_open(ctx, f, &a));
  a.any_place = request->any_place;
  a.share = request->share;
  lapis_status status = read_all(&a, request->want, out, request->seen);
  zip_discard(a.zip);
  return status < 0 ? status : io_sparse_assemble(ctx, io_name(f->path), out);
}

/* ---- writing ------------------------------------------------------------*/
typedef struct feed {
  const io_out *out;
  lapis_status status; /* why nothing more is given */
  npy_stream stream;
  zip_error_t error;
} feed;

static zip_int64_t feed_stat(const feed *f, void *data)
{
  zip_stat_t *st = data;
  zip_stat_init(st);
  st->size = st->comp_size = (zip_uint64_t)f->stream.total;
  st->comp_method = ZIP_CM_STORE;
  st->valid = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
  return sizeof *st;
}

static zip_int64_t feed_bytes(void *user, void *data, zip_uint64_t size,
                              zip_source_cmd_t command)
{
  feed *f = user;
  switch (command) {
  case ZIP_SOURCE_OPEN:
    f->stream.at = 0;
    return 0;
  case ZIP_SOURCE_READ:
    f->status = base_write_on(f->out->ctx, io_name(f->out->path));
    if (f->status < 0) zip_error_set(&f->error, ZIP_ER_CANCELLED, 0);
    if (f->status < 0) return -1;
    return npy_stream_read(&f->stream, data, (int64_t)size);
  case ZIP_SOURCE_STAT:
    return feed_stat(f, data);
  case ZIP_SOURCE_ERROR:
    return zip_error_to_data(&f->error, data, size);
  case ZIP_SOURCE_CLOSE:
  case ZIP_SOURCE_FREE:
    return 0;
  case ZIP_SOURCE_SUPPORTS:
    return zip_source_make_command_bitmap(
        ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT,
        ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE, -1);
  default:
    zip_error_set(&f->error, ZIP_ER_OPNOTSUPP, 0);
    return -1;
  }
}

static lapis_status add_member(lapis_ctx *ctx, zip_t *zip, const char *path,
                               feed *f)
{
  char name[WHAT_BYTES];
  (void)snprintf(name, sizeof name, "%s.npy", f->stream.item->name);
  zip_source_t *source = zip_source_function(zip, feed_bytes, f);
  zip_int64_t at =
      source == NULL ? -1 : zip_file_add(zip, name, source, ZIP_FL_ENC_UTF_8);
  if (at < 0) zip_source_free(source);
  if (at < 0 ||
      zip_set_file_compression(zip, (zip_uint64_t)at, ZIP_CM_STORE, 0) != 0 ||
      zip_file_set_dostime(zip, (zip_uint64_t)at, 0, DOS_DATE, 0) != 0)
    return fail_zip(ctx, LAPIS_EIO, path, "cannot be written",
                    zip_get_error(zip));
  return LAPIS_OK;
}

/* Where the archive goes: libzip would make files of its own beside it. */
typedef struct sink {
  io_out *out;
  zip_error_t error;
} sink;

static zip_int64_t sink_fail(sink *k, int code, int64_t answer)
{
  zip_error_set(&k->error, code, errno);
  return answer;
}

static zip_int64_t sink_seek(sink *k, void *data, zip_uint64_t size)
{
  const zip_source_args_seek_t *to =
      ZIP_SOURCE_GET_ARGS(zip_source_args_seek_t, data, size, &k->error);
  if (to == NULL) return -1;
  bool fine = lseek(k->out->fd, (off_t)to->offset, to->whence) >= 0;
  return fine ? 0 : sink_fail(k, ZIP_ER_SEEK, -1);
}

/* An archive that is empty as yet. */
static zip_int64_t sink_stat(zip_stat_t *st)
{
  zip_stat_init(st);
  st->valid = ZIP_STAT_SIZE;
  st->size = 0;
  return sizeof *st;
}

static zip_int64_t take_bytes(void *user, void *data, zip_uint64_t size,
                              zip_source_cmd_t what)
{
  sink *k = user;
  switch (what) {
  case ZIP_SOURCE_WRITE:
    return io_out_write(k->out, data, (int64_t)size) == LAPIS_OK
               ? (zip_int64_t)size
               : sink_fail(k, ZIP_ER_WRITE, -1);
  case ZIP_SOURCE_SEEK:
  case ZIP_SOURCE_SEEK_WRITE:
    return sink_seek(k, data, size);
  case ZIP_SOURCE_TELL:
  case ZIP_SOURCE_TELL_WRITE:
    return lseek(k->out->fd, 0, SEEK_CUR);
  case ZIP_SOURCE_STAT:
    return sink_stat(data);
  case ZIP_SOURCE_ERROR:
    return zip_error_to_data(&k->error, data, size);
  case ZIP_SOURCE_SUPPORTS:
    return ZIP_SOURCE_SUPPORTS_WRITABLE;
  default: /* opened, begun, committed: that is io_out's; nothing is read */
    return 0;
  }
}

/* libzip writes when it closes. */
static lapis_status write_archive(io_out *o, feed *feeds, int count)
{
  const char *path = io_name(o->path);
  sink to = {.out = o};
  zip_error_t e;
  zip_error_init(&to.error);
  zip_error_init(&e);
  zip_source_t *source = zip_source_function_create(take_bytes, &to, &e);
  zip_t *zip =
      source == NULL
          ? NULL
          : zip_open_from_source(source, ZIP_CREATE | ZIP_TRUNCATE, &e);
  lapis_status status = LAPIS_OK;
  if (zip == NULL) {
    zip_source_free(source);
    status = fail_zip(o->ctx, LAPIS_EIO, path, "cannot be written", &e);
  }
  zip_error_fini(&e);
  for (int i = 0; i < count && status == LAPIS_OK; i++)
    status = add_member(o->ctx, zip, path, &feeds[i]);
  if (status == LAPIS_OK && zip_close(zip) == 0) return LAPIS_OK;
  for (int i = 0; i < count && status == LAPIS_OK; i++)
    status = feeds[i].status;
  if (status == LAPIS_OK)
    status = fail_zip(o->ctx, LAPIS_EIO, path, "cannot be written",
                      zip_get_error(zip));
  if (zip != NULL) zip_discard(zip);
  return status;
}

lapis_status npz_check(lapis_ctx *ctx, const char *path,
                       const lapis_named *item, int count)
{
  if (count < 1)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "%s: an archive needs at least one array; give it one",
                      path);
  for (int i = 0; i < count; i++) {
    const char *name = item[i].name;
    if (name == NULL || *name == '\0' || strlen(name) >= WHAT_BYTES / 2 ||
        utf8_length(name) < 0)
      return lapis_fail(ctx, LAPIS_EINVAL,
                        "%s: array %d needs a name of 1 to %d bytes of UTF-8",
                        path, i + 1, WHAT_BYTES / 2 - 1);
    TRY(mat_check_view(ctx, path, name, &item[i].mat));
    for (int j = 0; j < i; j++)
      if (strcmp(name, item[j].name) == 0)
        return lapis_fail(ctx, LAPIS_EINVAL,
                          "%s: two arrays are named %s; give each its own name",
                          path, name);
  }
  return LAPIS_OK;
}

static lapis_status write_items(io_out *o, const lapis_named *item, int count)
{
  feed *feeds = base_alloc(o->ctx, count, sizeof *feeds);
  if (feeds == NULL) return LAPIS_ENOMEM;
  lapis_status status = LAPIS_OK;
  int opened = 0;
  for (; opened < count && status == LAPIS_OK; opened++) {
    feeds[opened].out = o;
    zip_error_init(&feeds[opened].error);
    status =
        npy_stream_open(o->ctx, o->path, &item[opened], &feeds[opened].stream);
  }
  if (status == LAPIS_OK) status = write_archive(o, feeds, count);
  for (int i = 0; i < opened; i++) {
    npy_stream_close(&feeds[i].stream);
    zip_error_fini(&feeds[i].error);
  }
  base_free(feeds);
  return status;
}

lapis_status npz_write(io_out *o, const lapis_named *item, int count)
{
  npz_items items;
  TRY(npz_check(o->ctx, o->path, item, count));
  TRY(npz_items_new(o->ctx, o->path, item, count, &items));
  lapis_status status = write_items(o, items.item, items.count);
  npz_items_free(&items);
  return status;
}

lapis_status io_npz_write(lapis_ctx *ctx, const char *path,
                          const lapis_named *item, int count)
{
  NEEDS(ctx, path, item);
  io_out o;
  TRY(npz_check(ctx, path, item, count));
  TRY(io_out_begin(ctx, path, &o));
  return io_out_end(&o, npz_write(&o, item, count));
}
