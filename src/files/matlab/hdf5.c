/* hdf5.c - HDF5 and MATLAB 7.3, which is HDF5 behind 512 bytes of text.
 *
 * HDF5 keeps C order, so a (samples, features) data set is ours as it lies;
 * MATLAB's are the other way round.  Sparse matrices are groups: anndata's
 * (encoding-type csr_matrix or csc_matrix; data, indices, indptr, an attribute
 * shape) and MATLAB's (an attribute MATLAB_sparse; data, ir, jc).
 *
 * Sizes are checked before anything is allocated: a data set is no larger
 * than what deflate can make of the bytes it has in the file.
 *
 * A file may name others: raw values kept elsewhere, links into other files,
 * virtual data sets, and filters that are libraries.  All of these are refused
 * by name, and once the file is open its process (hdf5_apart.c) can open no
 * other. */
#include <hdf5.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "files/matlab/hdf5.h"
#include "mat/mat.h"

enum { DEFLATE_LIMIT = 1032, SPARE_BYTES = 1 << 20, WHAT_BYTES = 512 };
enum { SIEVE_BYTES = 1 << 12, NAME_BYTES = 256 };

typedef struct hdf5 {
  lapis_ctx *ctx;
  const char *path;
  hid_t file;
  hid_t access; /* how members are opened: no link leaves the file */
  double bytes; /* of the file */
  bool matlab;
  const io_request *request;
  lapis_arrays *out;
  const char *member;  /* of the root, that is being read */
  lapis_status status; /* within callbacks */
} hdf5;

static lapis_status fail_file(const hdf5 *h, const char *did)
{
  return lapis_fail(h->ctx, LAPIS_EFORMAT,
                    "%s: %s; the file is damaged, or "
                    "holds what this reader does not know",
                    h->path, did);
}

/* What a callback has said stays. */
static lapis_status fail_set(const hdf5 *h, const char *name, const char *did)
{
  if (h->status < 0) return h->status;
  return lapis_fail(h->ctx, LAPIS_EFORMAT,
                    "%s: member %s: %s; write it again, or save it as .npz",
                    h->path, name, did);
}

/* ---- other files ----------------------------------------------------------*/
static lapis_status fail_foreign(const hdf5 *h, const char *name,
                                 const char *did, const char *file)
{
  char shown[WHAT_BYTES];
  return lapis_fail(h->ctx, LAPIS_EFORMAT,
                    "%s: member %s: %s the file %s, and no file is opened that "
                    "another one names; copy the values into this file "
                    "(h5repack does), or save it as .npz",
                    h->path, name, did,
                    lapis_text_shown(file, shown, sizeof shown));
}

/* Called before a link into another file is followed, wherever it stands on
 * the way to a member. */
static herr_t refuse_link(const char *from, const char *group, const char *file,
                          const char *object, unsigned *flags, hid_t how,
                          void *user)
{
  hdf5 *h = user;
  (void)from, (void)group, (void)object, (void)flags, (void)how;
  h->status = fail_foreign(h, h->member, "is a link into", file);
  return -1;
}

/* Filters that are libraries of their own were not loaded (be_silent). */
static lapis_status check_filters(const hdf5 *h, const char *name, hid_t how)
{
  char filter[NAME_BYTES];
  for (int i = 0; i < H5Pget_nfilters(how); i++) {
    unsigned flags;
    size_t values = 0;
    filter[0] = '\0';
    H5Z_filter_t id = H5Pget_filter2(how, (unsigned)i, &flags, &values, NULL,
                                     sizeof filter, filter, NULL);
    if (id >= 0 && H5Zfilter_avail(id) > 0) continue;
    return lapis_fail(h->ctx, LAPIS_EFORMAT,
                      "%s: member %s: is packed by filter %d (%.100s), which "
                      "is not built into HDF5, and no library is loaded that a "
                      "file names; write it again with gzip, or save it as "
                      ".npz",
                      h->path, name, (int)id,
                      filter[0] == '\0' ? "no name" : filter);
  }
  return LAPIS_OK;
}

/* Before its space is asked for, which may open the parts of a virtual one. */
static lapis_status check_inside(const hdf5 *h, const char *name, hid_t set)
{
  char file[NAME_BYTES] = "";
  hid_t how = H5Dget_create_plist(set);
  if (how < 0) return fail_set(h, name, "cannot be opened");
  lapis_status status = LAPIS_OK;
  if (H5Pget_external_count(how) > 0) {
    (void)H5Pget_external(how, 0, sizeof file - 1, file, NULL, NULL);
    status = fail_foreign(h, name, "keeps its values in", file);
  } else if (H5Pget_layout(how) == H5D_VIRTUAL) {
    (void)H5Pget_virtual_filename(how, 0, file, sizeof file);
    status =
        fail_foreign(h, name, "is virtual and takes its values from", file);
  } else {
    status = check_filters(h, name, how);
  }
  (void)H5Pclose(how);
  return status;
}

/* ---- attributes ---------------------------------------------------------*/
static bool has_attribute(hid_t object, const char *name)
{
  return H5Aexists(object, name) > 0;
}

/* A text of fixed or any length, cut to size; "" where there is none. */
static void text_attribute(hid_t object, const char *name, char *to,
                           size_t size)
{
  to[0] = '\0';
  if (!has_attribute(object, name)) return;
  hid_t a = H5Aopen(object, name, H5P_DEFAULT), type = H5Aget_type(a);
  hid_t space = H5Aget_space(a);
  bool text = H5Tget_class(type) == H5T_STRING &&
              H5Sget_simple_extent_npoints(space) == 1;
  char *any = NULL;
  if (text && H5Tis_variable_str(type) > 0) {
    if (H5Aread(a, type, &any) >= 0 && any != NULL) {
      (void)snprintf(to, size, "%s", any);
      (void)H5free_memory(any);
    }
  } else if (text && H5Tget_size(type) < size) {
    memset(to, 0, size);
    if (H5Aread(a, type, to) < 0) to[0] = '\0';
  }
  (void)H5Sclose(space);
  (void)H5Tclose(type);
  (void)H5Aclose(a);
}

/* Exactly count integers. */
static bool integer_attribute(hid_t object, const char *name, int64_t *to,
                              hssize_t count)
{
  if (!has_attribute(object, name)) return false;
  hid_t a = H5Aopen(object, name, H5P_DEFAULT), space = H5Aget_space(a);
  bool fine = H5Sget_simple_extent_npoints(space) == count &&
              H5Aread(a, H5T_NATIVE_INT64, to) >= 0;
  (void)H5Sclose(space);
  (void)H5Aclose(a);
  return fine;
}

/* ---- a data set ---------------------------------------------------------*/
typedef struct data_set {
  hid_t id, type, space;
  int axes;
  int64_t shape[LAPIS_MAX_AXES], count;
  char descr[8]; /* how it is read: "<f8", "<i8", "<u8", "|u1"; "" text */
  hid_t as;      /* the same for the library */
} data_set;

static void close_set(data_set *s)
{
  if (s->space >= 0) (void)H5Sclose(s->space);
  if (s->type >= 0) (void)H5Tclose(s->type);
  if (s->id >= 0) (void)H5Dclose(s->id);
}

/* FALSE and TRUE, 0 and 1 in a byte. */
static bool is_boolean(hid_t type)
{
  if (H5Tget_size(type) != 1 || H5Tget_nmembers(type) != 2) return false;
  char *name = H5Tget_member_name(type, 0);
  bool is = name != NULL && strcasecmp(name, "false") == 0;
  (void)H5free_memory(name);
  return is;
}

/* false: an array holds no such thing. */
static bool choose_type(data_set *s)
{
  H5T_class_t class = H5Tget_class(s->type);
  size_t size = H5Tget_size(s->type);
  bool is_signed = H5Tget_sign(s->type) == H5T_SGN_2;
  const char *descr = "";
  if (class == H5T_FLOAT) {
    s->as = size <= 4 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
    descr = size <= 4 ? "<f4" : "<f8";
  } else if (class == H5T_INTEGER) {
    s->as = is_signed ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64;
    descr = is_signed ? "<i8" : "<u8";
    if (!is_signed && size == 1) {
      s->as = H5T_NATIVE_UINT8;
      descr = "|u1";
    }
  } else if (class == H5T_ENUM && is_boolean(s->type)) {
    s->as = s->type;
    descr = "|u1";
  } else if (class == H5T_ENUM &&
             H5Sget_simple_extent_ndims(s->space) != 1) { /* its numbers */
    is_signed = H5Tget_sign(s->type) == H5T_SGN_2;
    s->as = is_signed ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64;
    descr = is_signed ? "<i8" : "<u8";
  } else if (class != H5T_STRING && class != H5T_ENUM) { /* names of a list */
    return false;
  }
  (void)snprintf(s->descr, sizeof s->descr, "%s", descr);
  return true;
}

static lapis_status take_shape(const hdf5 *h, const char *name, data_set *s)
{
  hsize_t shape[LAPIS_MAX_AXES];
  int axes = H5Sget_simple_extent_ndims(s->space);
  if (axes > LAPIS_MAX_AXES)
    return fail_set(h, name, "has more than 8 dimensions");
  if (axes < 0 || H5Sget_simple_extent_dims(s->space, shape, NULL) < 0)
    return fail_set(h, name, "has no readable shape");
  s->axes = axes;
  s->count = 1;
  for (int i = 0; i < axes; i++) {
    if (shape[i] > INT64_MAX / 16 ||
        (shape[i] > 0 && s->count > INT64_MAX / 16 / (int64_t)shape[i]))
      return fail_set(h, name, "has an impossible shape");
    s->shape[i] = (int64_t)shape[i];
    s->count *= s->shape[i];
  }
  if (H5Sget_simple_extent_type(s->space) == H5S_NULL) s->count = 0;
  return LAPIS_OK;
}

/* Bytes of a chunk, which the library makes room for; 0: not in chunks. */
static double chunk_bytes(const data_set *s)
{
  hsize_t chunk[LAPIS_MAX_AXES];
  hid_t how = H5Dget_create_plist(s->id);
  double bytes = (double)H5Tget_size(s->type);
  bool chunked = how >= 0 && H5Pget_layout(how) == H5D_CHUNKED;
  int axes = chunked ? H5Pget_chunk(how, LAPIS_MAX_AXES, chunk) : -1;
  for (int i = 0; i < axes; i++) bytes *= (double)chunk[i];
  if (how >= 0) (void)H5Pclose(how);
  return axes < 0 ? 0 : bytes;
}

static lapis_status check_size(const hdf5 *h, const char *name,
                               const data_set *s)
{
  char what[WHAT_BYTES];
  double kept = (double)H5Dget_storage_size(s->id);
  double claimed = (double)s->count * (double)H5Tget_size(s->type);
  if (kept > h->bytes) kept = h->bytes;
  double most = DEFLATE_LIMIT * kept + SPARE_BYTES;
  if (claimed > most || chunk_bytes(s) > most)
    return lapis_fail(h->ctx, LAPIS_EFORMAT,
                      "%s: member %s: claims %.0f bytes and has %.0f in the "
                      "file",
                      h->path, name, claimed, kept);
  (void)snprintf(what, sizeof what, "%.200s: member %.200s", h->path, name);
  double parts = h->request->share.parts > 1 ? h->request->share.parts : 1;
  return base_fits(h->ctx, what, 16.0 * (double)s->count / parts);
}

/* known false: it is nothing an array holds; then s is closed. */
static lapis_status open_set(const hdf5 *h, hid_t at, const char *name,
                             data_set *s, bool *known)
{
  *s = (data_set){.type = -1, .space = -1};
  s->id = H5Dopen2(at, name, h->access);
  if (s->id < 0) return fail_set(h, name, "cannot be opened");
  lapis_status status = check_inside(h, name, s->id);
  if (status == LAPIS_OK) s->type = H5Dget_type(s->id);
  if (status == LAPIS_OK) s->space = H5Dget_space(s->id);
  *known = s->type >= 0 && s->space >= 0 && choose_type(s);
  if (*known) status = take_shape(h, name, s);
  if (*known && status == LAPIS_OK) status = check_size(h, name, s);
  if (!*known || status < 0) close_set(s);
  return status;
}

/* ---- its values ---------------------------------------------------------*/
static void describe(const data_set *s, lapis_array *a)
{
  a->axes = s->axes;
  memcpy(a->shape, s->shape, sizeof a->shape);
  a->mat.cols = s->axes == 0 ? 1 : s->shape[0];
  a->mat.rows = a->mat.cols > 0 ? s->count / a->mat.cols : 0;
  a->mat.ld = a->mat.rows > 0 ? a->mat.rows : 1;
}

/* Places first .. first + count - 1 of one axis, all of the others. */
static bool read_slab(const data_set *s, int axis, int64_t first, int64_t count,
                      void *to)
{
  hsize_t start[LAPIS_MAX_AXES] = {0}, size[LAPIS_MAX_AXES];
  for (int i = 0; i < s->axes; i++) size[i] = (hsize_t)s->shape[i];
  start[axis] = (hsize_t)first;
  size[axis] = (hsize_t)count;
  hid_t here = H5Screate_simple(s->axes, size, NULL);
  bool fine = here >= 0 &&
              H5Sselect_hyperslab(s->space, H5S_SELECT_SET, start, NULL, size,
                                  NULL) >= 0 &&
              H5Dread(s->id, s->as, here, s->space, H5P_DEFAULT, to) >= 0;
  if (here >= 0) (void)H5Sclose(here);
  return fine;
}

static lapis_status read_raw(const hdf5 *h, const char *name, const data_set *s,
                             const npy_header *n, int64_t first, char *raw)
{
  if (n->count == 0) return LAPIS_OK;
  bool fine =
      n->count < s->count
          ? read_slab(s, h->matlab ? s->axes - 1 : 0, first, n->shape[0], raw)
          : H5Dread(s->id, s->as, H5S_ALL, H5S_ALL, H5P_DEFAULT, raw) >= 0;
  return fine ? LAPIS_OK : fail_set(h, name, "cannot be read");
}

/* What is wanted along the axis of samples. */
typedef struct span {
  const io_share *share; /* or NULL: */
  int64_t first, count;  /* -1: all */
} span;

static lapis_status choose(const hdf5 *h, const char *name, const span *w,
                           npy_header *n, int64_t *first)
{
  int64_t all = n->axes > 0 ? n->shape[0] : 1, count = all;
  *first = 0;
  if (n->axes > 0 && w->share != NULL)
    (void)io_share_of(w->share, name, all, first, &count);
  if (w->share == NULL && w->count >= 0) {
    *first = w->first;
    count = w->count;
  }
  if (n->axes == 0 || (count == all && *first == 0)) return LAPIS_OK;
  if (count > all - *first)
    return fail_set(h, name, "is shorter than its pointers say");
  n->count = n->count / all * count;
  n->shape[0] = count;
  return LAPIS_OK;
}

/* Numbers go through the reader of .npy, which knows order and types. */
static lapis_status read_numbers(const hdf5 *h, const char *name,
                                 const span *wanted, const data_set *s,
                                 lapis_array *out)
{
  npy_header n = {.kind = s->descr[1],
                  .item = s->descr[2] - '0',
                  .fortran = h->matlab,
                  .axes = s->axes,
                  .count = s->count};
  char what[WHAT_BYTES];
  (void)snprintf(n.descr, sizeof n.descr, "%s", s->descr);
  for (int i = 0; i < s->axes; i++)
    n.shape[i] = s->shape[h->matlab ? s->axes - 1 - i : i];
  int64_t samples = n.shape[0], first;
  TRY(choose(h, name, wanted, &n, &first));
  char *raw = base_alloc_raw(h->ctx, n.count, (size_t)n.item);
  if (raw == NULL) return LAPIS_ENOMEM;
  (void)snprintf(what, sizeof what, "%.200s: member %.200s", h->path, name);
  lapis_status status = read_raw(h, name, s, &n, first, raw);
  io_source from = io_source_memory(h->ctx, what, raw, n.count * n.item);
  if (status == LAPIS_OK) status = npy_data_read(&from, &n, out);
  if (status == LAPIS_OK) out->shape[0] = samples;
  if (status == LAPIS_OK && out->kind == IO_BORROWED) {
    out->memory = raw;
    out->bytes = (size_t)(n.count * n.item);
    out->kind = IO_HEAP;
    return LAPIS_OK;
  }
  base_free(raw);
  return status;
}

/* *raw, values of an enumeration of *size bytes each, becomes their names. */
static bool name_values(const hdf5 *h, const data_set *s, char **raw,
                        size_t *size)
{
  char *name, *from = *raw, *value = from;
  size_t width = 1;
  for (int k = 0; k < H5Tget_nmembers(s->type); k++) {
    if ((name = H5Tget_member_name(s->type, (unsigned)k)) == NULL) continue;
    width = strlen(name) >= width ? strlen(name) + 1 : width;
    (void)H5free_memory(name);
  }
  name = *raw = base_alloc(h->ctx, s->count, width);
  bool fine = name != NULL;
  for (int64_t k = 0; k < s->count && fine; k++, value += *size, name += width)
    fine = H5Tenum_nameof(s->type, value, name, width) >= 0;
  base_free(from);
  *size = width;
  return fine;
}

static lapis_status read_texts(const hdf5 *h, const char *name,
                               const data_set *s, lapis_array *out)
{
  char what[WHAT_BYTES];
  bool any = H5Tis_variable_str(s->type) > 0;
  size_t size = H5Tget_size(s->type);
  char *raw = base_alloc(h->ctx, s->count, size);
  if (raw == NULL) return LAPIS_ENOMEM;
  lapis_status status = LAPIS_OK;
  if (s->count > 0 &&
      H5Dread(s->id, s->type, H5S_ALL, H5S_ALL, H5P_DEFAULT, raw) < 0)
    status = fail_set(h, name, "cannot be read");
  if (status == LAPIS_OK && H5Tget_class(s->type) == H5T_ENUM &&
      !name_values(h, s, &raw, &size))
    status =
        fail_set(h, name, "has a value that its enumeration does not name");
  (void)snprintf(what, sizeof what, "%.200s: member %.200s", h->path, name);
  if (status == LAPIS_OK)
    status = io_text_copy(h->ctx, what, raw, any ? 0 : size, s->count, out);
  if (status == LAPIS_OK) describe(s, out);
  if (any) (void)H5Dvlen_reclaim(s->type, s->space, H5P_DEFAULT, raw);
  base_free(raw);
  return status;
}

static lapis_status read_set(const hdf5 *h, hid_t at, const char *name,
                             const span *wanted, lapis_array *out, bool *known)
{
  data_set s;
  char class[NAME_BYTES];
  TRY(open_set(h, at, name, &s, known));
  if (!*known) return LAPIS_OK;
  text_attribute(s.id, "MATLAB_class", class, sizeof class);
  *known = strcmp(class, "char") != 0 && !has_attribute(s.id, "MATLAB_empty");
  lapis_status status = LAPIS_OK;
  if (*known)
    status = s.descr[0] == '\0' ? read_texts(h, name, &s, out)
                                : read_numbers(h, name, wanted, &s, out);
  if (*known && status == LAPIS_OK)
    (void)snprintf(out->stored, sizeof out->stored, "%s",
                   s.descr[0] == '\0' ? "text" : s.descr);
  close_set(&s);
  return status;
}

/* ---- sparse groups ------------------------------------------------------*/
typedef struct sparse_group {
  const hdf5 *h;
  hid_t at;
} sparse_group;

/* io_lists */
static lapis_status read_list(void *self, const char *name, bool integers,
                              int64_t first, int64_t count, lapis_array *out)
{
  const sparse_group *g = self;
  const span wanted = {.first = first, .count = count};
  bool known = false;
  *out = (lapis_array){.kind = IO_NONE};
  if (H5Lexists(g->at, name, g->h->access) <= 0)
    return fail_set(g->h, name, "is missing from a sparse matrix");
  TRY(read_set(g->h, g->at, name, &wanted, out, &known));
  bool fits = known && out->axes <= (count < 0 ? 2 : 1) &&
              out->mat.dtype != LAPIS_TEXT &&
              (!integers || out->mat.dtype == LAPIS_I64);
  if (fits) return LAPIS_OK;
  lapis_array_free(out);
  return fail_set(g->h, name,
                  "is not a list of numbers, as a sparse matrix needs");
}

/* known false: a group of another kind. */
static lapis_status read_group(hdf5 *h, const char *name, lapis_array *out,
                               bool *known)
{
  char type[NAME_BYTES], what[WHAT_BYTES];
  int64_t shape[2] = {0, 0};
  sparse_group g = {.h = h, .at = H5Oopen(h->file, name, h->access)};
  *known = false;
  if (g.at < 0) return LAPIS_OK;
  bool matlab = integer_attribute(g.at, "MATLAB_sparse", &shape[0], 1);
  text_attribute(g.at, "encoding-type", type, sizeof type);
  bool csr = strcmp(type, "csr_matrix") == 0;
  *known = matlab || csr || strcmp(type, "csc_matrix") == 0;
  lapis_status status = LAPIS_OK;
  if (*known && !matlab && !integer_attribute(g.at, "shape", shape, 2))
    status = fail_set(h, name, "is sparse without a shape");
  (void)snprintf(what, sizeof what, "%.200s: member %.200s", h->path, name);
  io_lists lists = {.ctx = h->ctx,
                    .what = what,
                    .ptr = matlab ? "jc" : "indptr",
                    .at = matlab ? "ir" : "indices",
                    .data = "data",
                    .by_sample = csr,
                    .samples = shape[0],
                    .features = matlab ? -1 : shape[1],
                    .read = read_list,
                    .self = &g};
  if (*known && status == LAPIS_OK)
    status = io_sparse_lists(&lists, &h->request->share, name, out);
  (void)H5Oclose(g.at);
  return status;
}

/* ---- a file -------------------------------------------------------------*/
static lapis_status take_member(hdf5 *h, const char *name)
{
  H5O_info_t info;
  lapis_array a = {.kind = IO_NONE};
  bool known = false;
  h->member = name;
  if (H5Oget_info_by_name(h->file, name, &info, h->access) < 0)
    return fail_set(h, name, "cannot be opened");
  if (info.type == H5O_TYPE_GROUP)
    TRY(read_group(h, name, &a, &known));
  else if (info.type == H5O_TYPE_DATASET)
    TRY(read_set(h, h->file, name, &(span){.share = &h->request->share}, &a,
                 &known));
  return known ? io_arrays_add(h->ctx, h->out, name, &a) : LAPIS_OK;
}

/* Members of the root; a wanted one below it is asked for by its path. */
static herr_t visit(hid_t root, const char *name, const H5L_info_t *info,
                    void *user)
{
  hdf5 *h = user;
  (void)root, (void)info;
  if (name[0] == '#') return 0; /* MATLAB's own */
  if (h->request->seen != NULL)
    h->status = io_note_seen(h->ctx, h->request->seen, name);
  if (h->status == LAPIS_OK && io_is_wanted(h->request->want, name))
    h->status = take_member(h, name);
  return h->status < 0 ? -1 : 0;
}

static lapis_status take_paths(hdf5 *h)
{
  const char *const *want = h->request->want;
  for (; want != NULL && *want != NULL; want++) {
    const char *path = **want == '/' ? *want + 1 : *want;
    bool below = strchr(path, '/') != NULL || path != *want;
    h->member = path;
    bool there = below && H5Oexists_by_name(h->file, path, h->access) > 0;
    if (h->status < 0) return h->status;
    if (there) TRY(take_member(h, path));
  }
  return LAPIS_OK;
}

static lapis_status open_file(hdf5 *h, const io_file *f)
{
  hid_t how = H5Pcreate(H5P_FILE_ACCESS);
  hsize_t bytes = 0;
  (void)H5Pset_fclose_degree(how, H5F_CLOSE_STRONG);
  if (h->request->share.parts > 1) /* no more around what is asked for */
    (void)H5Pset_sieve_buf_size(how, SIEVE_BYTES);
  if (f->data != NULL) {
    (void)H5Pset_fapl_core(how, SPARE_BYTES, 0);
    (void)H5Pset_file_image(how, f->data, (size_t)f->size);
  }
  h->file = H5Fopen(f->data != NULL ? "standard input" : f->path,
                    H5F_ACC_RDONLY, how);
  (void)H5Pclose(how);
  if (h->file < 0) return fail_file(h, "cannot be opened as HDF5");
  if (H5Fget_filesize(h->file, &bytes) < 0 || bytes > INT64_MAX)
    return fail_file(h, "has no readable size");
  h->bytes = (double)bytes;
  return LAPIS_OK;
}

static lapis_status read_open(hdf5 *h)
{
  hsize_t at = 0;
  if (H5Literate(h->file, H5_INDEX_NAME, H5_ITER_INC, &at, visit, h) < 0)
    return h->status < 0 ? h->status
                         : fail_file(h, "its list of members cannot be read");
  return take_paths(h);
}

/* The library prints its errors, and loads the libraries that a file names,
 * unless it is told not to; this process ends with it. */
static void be_silent(void)
{
  (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  (void)H5PLset_loading_state(0);
}

lapis_status hdf5_read(lapis_ctx *ctx, io_file *f, const io_request *request,
                       lapis_arrays *out)
{
  hdf5 h = {.ctx = ctx,
            .path = io_name(f->path),
            .file = -1,
            .access = H5Pcreate(H5P_DATASET_ACCESS),
            .matlab = f->format == IO_MAT73,
            .request = request,
            .out = out};
  be_silent();
  (void)H5Pset_elink_cb(h.access, refuse_link, &h);
  lapis_status status = open_file(&h, f);
  io_open_no_more();
  if (status == LAPIS_OK) status = read_open(&h);
  if (h.file >= 0) (void)H5Fclose(h.file);
  (void)H5Pclose(h.access);
  return status;
}

/* ---- writing ------------------------------------------------------------*/
typedef struct writing {
  lapis_ctx *ctx;
  const char *path;
  hid_t file;
  bool matlab;
} writing;

static lapis_status fail_write(const writing *w, const char *name)
{
  return lapis_fail(w->ctx, LAPIS_EIO, "%s: member %s cannot be written",
                    w->path, name);
}

static hid_t number_type(lapis_dtype t)
{
  return t == LAPIS_F64   ? H5T_IEEE_F64LE
         : t == LAPIS_F32 ? H5T_IEEE_F32LE
         : t == LAPIS_I64 ? H5T_STD_I64LE
                          : H5T_STD_U8LE;
}

static const char *matlab_class(lapis_dtype t)
{
  return t == LAPIS_F64   ? "double"
         : t == LAPIS_F32 ? "single"
         : t == LAPIS_I64 ? "int64"
                          : "uint8";
}

static bool put_text(hid_t object, const char *name, const char *text)
{
  hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
  (void)H5Tset_size(type, strlen(text));
  hid_t a = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  bool fine = a >= 0 && H5Awrite(a, type, text) >= 0;
  if (a >= 0) (void)H5Aclose(a);
  (void)H5Sclose(space);
  (void)H5Tclose(type);
  return fine;
}

static bool put_integers(hid_t object, const char *name, hid_t type,
                         const int64_t *value, int count)
{
  hsize_t n = (hsize_t)count;
  hid_t space =
      count > 1 ? H5Screate_simple(1, &n, NULL) : H5Screate(H5S_SCALAR);
  hid_t a = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  bool fine = a >= 0 && H5Awrite(a, H5T_NATIVE_INT64, value) >= 0;
  if (a >= 0) (void)H5Aclose(a);
  (void)H5Sclose(space);
  return fine;
}

/* Equal data give equal files: no times are kept.  class: MATLAB's, or NULL. */
static bool put_set(hid_t at, const char *name, hid_t type, int axes,
                    const hsize_t *shape, const void *values, const char *class)
{
  hid_t how = H5Pcreate(H5P_DATASET_CREATE);
  hid_t space = H5Screate_simple(axes, shape, NULL);
  (void)H5Pset_obj_track_times(how, false);
  hid_t id = H5Dcreate2(at, name, type, space, H5P_DEFAULT, how, H5P_DEFAULT);
  bool fine =
      id >= 0 && H5Dwrite(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
  if (fine && class != NULL) fine = put_text(id, "MATLAB_class", class);
  if (id >= 0) fine = H5Dclose(id) >= 0 && fine;
  (void)H5Sclose(space);
  (void)H5Pclose(how);
  return fine;
}

static lapis_status put_numbers(const writing *w, const lapis_named *item)
{
  const lapis_mat *m = &item->mat;
  bool flat = item->flat && !w->matlab;
  bool ready = !w->matlab && (m->ld == m->rows || m->cols <= 1);
  hsize_t shape[] = {(hsize_t)(w->matlab ? m->rows : m->cols),
                     (hsize_t)(w->matlab ? m->cols : m->rows)};
  void *copy = ready ? NULL : mat_packed(w->ctx, m, w->matlab);
  if (!ready && copy == NULL) return LAPIS_ENOMEM;
  bool fine =
      put_set(w->file, item->name, number_type(m->dtype), flat ? 1 : 2, shape,
              ready ? m->val : copy, w->matlab ? matlab_class(m->dtype) : NULL);
  base_free(copy);
  return fine ? LAPIS_OK : fail_write(w, item->name);
}

static lapis_status put_texts(const writing *w, const lapis_named *item)
{
  const lapis_mat *m = &item->mat;
  hsize_t shape[] = {(hsize_t)m->cols, (hsize_t)m->rows};
  hid_t type = H5Tcopy(H5T_C_S1);
  (void)H5Tset_size(type, H5T_VARIABLE);
  (void)H5Tset_cset(type, H5T_CSET_UTF8);
  bool fine = put_set(w->file, item->name, type, item->flat ? 1 : 2, shape,
                      m->val, NULL);
  (void)H5Tclose(type);
  return fine ? LAPIS_OK : fail_write(w, item->name);
}

/* The three lists and what says that they are a matrix. */
static bool put_lists(const writing *w, hid_t group, const lapis_mat *A,
                      const int64_t *index, const int64_t *shape)
{
  hid_t whole = w->matlab ? H5T_STD_U64LE : H5T_STD_I64LE;
  const char *class = w->matlab ? "double" : NULL;
  const char *integer = w->matlab ? "uint64" : NULL;
  hsize_t nnz = (hsize_t)A->colptr[A->cols], lines = (hsize_t)A->cols + 1;
  bool fine = put_set(group, "data", H5T_IEEE_F64LE, 1, &nnz, A->val, class) &&
              put_set(group, w->matlab ? "ir" : "indices", whole, 1, &nnz,
                      index, integer) &&
              put_set(group, w->matlab ? "jc" : "indptr", whole, 1, &lines,
                      A->colptr, integer);
  if (!fine) return false;
  if (w->matlab)
    return put_text(group, "MATLAB_class", "double") &&
           put_integers(group, "MATLAB_sparse", H5T_STD_U64LE, shape, 1);
  return put_text(group, "encoding-type", "csr_matrix") &&
         put_text(group, "encoding-version", "0.1.0") &&
         put_integers(group, "shape", H5T_STD_I64LE, shape, 2);
}

/* A: samples' columns begin at entry 0; for MATLAB features' columns. */
static lapis_status put_group(const writing *w, const char *name,
                              const lapis_mat *A, const int64_t *shape)
{
  int64_t nnz = A->colptr[A->cols];
  int64_t *index = base_alloc_raw(w->ctx, nnz, sizeof *index);
  if (index == NULL) return LAPIS_ENOMEM;
  for (int64_t k = 0; k < nnz; k++) index[k] = A->rowidx[k];
  hid_t group =
      H5Gcreate2(w->file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  bool fine = group >= 0 && put_lists(w, group, A, index, shape);
  if (group >= 0) (void)H5Gclose(group);
  base_free(index);
  return fine ? LAPIS_OK : fail_write(w, name);
}

static lapis_status put_sparse(const writing *w, const lapis_named *item)
{
  const int64_t shape[] = {item->mat.cols, item->mat.rows};
  if (!w->matlab && item->mat.colptr[0] == 0)
    return put_group(w, item->name, &item->mat, shape);
  lapis_array once, twice = {.kind = IO_NONE};
  TRY(io_sparse_transpose(w->ctx, item->name, &item->mat, &once));
  lapis_status status = LAPIS_OK;
  if (!w->matlab)
    status = io_sparse_transpose(w->ctx, item->name, &once.mat, &twice);
  if (status == LAPIS_OK)
    status =
        put_group(w, item->name, w->matlab ? &once.mat : &twice.mat, shape);
  lapis_array_free(&once);
  lapis_array_free(&twice);
  return status;
}

static lapis_status put_item(const writing *w, const lapis_named *item)
{
  if (item->mat.dtype == LAPIS_TEXT)
    return w->matlab ? LAPIS_OK : put_texts(w, item);
  if (item->mat.colptr != NULL) return put_sparse(w, item);
  return put_numbers(w, item);
}

lapis_status hdf5_write(lapis_ctx *ctx, const hdf5_target *to)
{
  writing w = {.ctx = ctx, .path = to->path, .matlab = to->matlab};
  hid_t how = H5Pcreate(H5P_FILE_CREATE), access = H5Pcreate(H5P_FILE_ACCESS);
  be_silent();
  if (w.matlab) (void)H5Pset_userblock(how, HDF5_USER_BLOCK);
  (void)H5Pset_file_locking(access, false, true); /* the lock on it is ours */
  w.file = H5Fcreate(to->temp, H5F_ACC_TRUNC, how, access);
  (void)H5Pclose(access);
  (void)H5Pclose(how);
  if (w.file < 0)
    return lapis_fail(ctx, LAPIS_EIO, "%s: cannot be written", to->path);
  lapis_status status = LAPIS_OK;
  for (int i = 0; i < to->count && status == LAPIS_OK; i++)
    status = put_item(&w, &to->item[i]);
  if (H5Fclose(w.file) >= 0 || status < 0) return status;
  return lapis_fail(ctx, LAPIS_EIO, "%s: cannot be written", to->path);
}
