/* dataset.c - lapis_data and the memory behind it: members from any number of
 * files, later ones in the place of earlier ones, made what methods read. */
#include <stdio.h>
#include <string.h>

#include "files/forget.h"
#include "files/io.h"
#include "files/paired.h"
#include "mat/mat.h"

typedef enum which {
  M_X,
  M_Y,
  M_P,
  M_GROUP,
  M_WEIGHT,
  M_XY,
  M_NAMES,
  M_FEATURE_NAMES,
  M_CLASS_NAMES, /* to M_TARGET_VALUES: of Y */
  M_TARGET_NAMES,
  M_TARGET_DECIMALS,
  M_TARGET_VALUES,
  M_ID_NAME,
  M_FEATURE_SETTINGS, /* text, or what another program calls so */
  M_DIALECT,          /* of the first table of text; of no container; last */
  MEMBERS
} which;

/* By which, up to a NULL for containers. */
static const char *const member_names[MEMBERS + 1] = {
    [M_X] = "X",
    [M_Y] = "Y",
    [M_P] = "P",
    [M_GROUP] = "group",
    [M_WEIGHT] = "weight",
    [M_XY] = "xy",
    [M_NAMES] = "names",
    [M_FEATURE_NAMES] = "feature_names",
    [M_CLASS_NAMES] = "class_names",
    [M_TARGET_NAMES] = "target_names",
    [M_TARGET_VALUES] = "target_values",
    [M_TARGET_DECIMALS] = "target_decimals",
    [M_ID_NAME] = "id_name",
    [M_FEATURE_SETTINGS] = "feature_settings",
    [M_DIALECT] = "dialect"};

typedef struct slot {
  bool set;
  lapis_array array;
  int64_t samples; /* of the file, of which array may have some */
  char *origin;    /* "faces.npz: member X" */
  char *file;      /* "faces.npz" */
} slot;

struct lapis_dataset {
  lapis_ctx *ctx;
  slot slot[MEMBERS];
  io_order order; /* the samples' names in the first file that has any */
  char *seen;     /* why there is no X: what was there instead */
  bool keep_f32;
  const char *positive; /* a word of Y that is to be the last, or NULL */
  bool counted;         /* X is of a table that numbers its rows itself */
  bool told;            /* how rows were paired */
  double stored;        /* bytes of the files */
  io_share share;
  io_asked asked;
  lapis_data data;
};

lapis_status lapis_dataset_new(lapis_ctx *ctx, lapis_dataset **out)
{
  MAKES(out);
  NEEDS(ctx, out);
  *out = base_alloc(ctx, 1, sizeof **out);
  if (*out != NULL) (*out)->ctx = ctx;
  return *out == NULL ? LAPIS_ENOMEM : LAPIS_OK;
}

static void slot_clear(slot *s)
{
  lapis_array_free(&s->array);
  base_free(s->origin);
  base_free(s->file);
  *s = (slot){.set = false};
}

void lapis_dataset_free(lapis_dataset *ds)
{
  if (ds == NULL) return;
  for (int i = 0; i < MEMBERS; i++) slot_clear(&ds->slot[i]);
  io_order_clear(&ds->order);
  base_free(ds->seen);
  base_free(ds);
}

static which which_of(const char *name)
{
  int i = 0;
  while (i < MEMBERS && strcmp(member_names[i], name) != 0) i++;
  return (which)i;
}

/* ---- collecting ---------------------------------------------------------*/
/* Of a shape that was turned (stand_up) the first number is 1. */
static bool is_share(const lapis_array *a)
{
  return a->axes > 0 && a->shape[0] > a->mat.cols;
}

/* Members that may be read in part, up to a NULL: MATLAB has Y as a row. */
static const char *const shared[] = {"X", "P", "Y", NULL},
                         *const shared_matlab[] = {"X", "P", NULL};

static io_share share_in(const lapis_dataset *ds, io_format format)
{
  io_share s = ds->share;
  s.of = format == IO_MAT || format == IO_MAT73 ? shared_matlab : shared;
  return s;
}

/* The same for one array that is read as that member. */
static io_share share_as(const lapis_dataset *ds, io_format format,
                         const char *member)
{
  io_share s = share_in(ds, format);
  if (!io_is_wanted(s.of, member)) s.parts = 0;
  s.of = NULL;
  return s;
}

static lapis_status slot_make(lapis_ctx *ctx, const char *path,
                              const char *member, lapis_array *a, slot *out)
{
  const char *name = io_name(path), *link = ": member ";
  if (member == NULL) member = link = "";
  size_t size = strlen(name) + strlen(link) + strlen(member) + 1;
  *out = (slot){.set = true};
  out->file = base_strdup(ctx, name);
  out->origin = base_alloc(ctx, (int64_t)size, 1);
  if (out->origin != NULL)
    (void)snprintf(out->origin, size, "%s%s%s", name, link, member);
  if (out->file == NULL || out->origin == NULL) {
    slot_clear(out);
    return LAPIS_ENOMEM;
  }
  out->array = *a;
  out->samples = a->mat.cols;
  if (is_share(a)) out->samples = a->shape[0];
  *a = (lapis_array){.kind = IO_NONE};
  return LAPIS_OK;
}

/* What has one value for each sample may be a row in MATLAB. */
static void stand_up(which m, lapis_array *a)
{
  bool row = a->axes == 2 && a->shape[0] == 1 && a->mat.rows > 1;
  if (!row || a->mat.colptr != NULL || m == M_X || m == M_P || m == M_XY)
    return;
  a->mat.cols = a->mat.rows;
  a->mat.rows = a->mat.ld = 1;
}

/* Takes the arrays that are members.  Names of what was replaced go with it:
 * they would name the wrong things. */
static lapis_status take_arrays(lapis_dataset *ds, const char *path,
                                io_format format, lapis_arrays *all)
{
  bool container = io_kind_of(format)->shown.container;
  bool matlab = format == IO_MAT || format == IO_MAT73;
  slot fresh[MEMBERS] = {{.set = false}};
  lapis_status status = LAPIS_OK;
  for (int i = 0; i < all->count && status == LAPIS_OK; i++) {
    which m = which_of(all->item[i].name);
    if (m == MEMBERS) continue;
    slot_clear(&fresh[m]);
    if (matlab) stand_up(m, &all->item[i]);
    status = slot_make(ds->ctx, path, container ? all->item[i].name : NULL,
                       &all->item[i], &fresh[m]);
  }
  for (int m = 0; m < MEMBERS; m++) {
    which of = m >= M_CLASS_NAMES && m <= M_TARGET_VALUES ? M_Y
               : m == M_ID_NAME                           ? M_NAMES
               : m >= M_FEATURE_NAMES                     ? M_X
                                                          : m;
    if (status < 0) slot_clear(&fresh[m]);
    if (status < 0 || !(fresh[m].set || fresh[of].set)) continue;
    slot_clear(&ds->slot[m]);
    ds->slot[m] = fresh[m];
  }
  return status;
}

static lapis_status rename_only(lapis_ctx *ctx, lapis_arrays *all,
                                const char *member)
{
  base_free(all->item[0].name);
  all->item[0].name = base_strdup(ctx, member);
  if (all->item[0].name != NULL) return LAPIS_OK;
  lapis_arrays_free(all);
  return LAPIS_ENOMEM;
}

/* The array of a .npy file is named by the file. */
static lapis_status read_file(lapis_dataset *ds, io_file *f,
                              const io_request *request, const char *member,
                              lapis_arrays *out)
{
  TRY(io_read(ds->ctx, f, request, out));
  return f->format == IO_NPY ? rename_only(ds->ctx, out, member) : LAPIS_OK;
}

/* A member of a container for itself: what cannot be read is none. */
static lapis_status read_apart(lapis_ctx *ctx, io_file *f, const char *name,
                               lapis_arrays *out)
{
  const char *const want[] = {name, NULL};
  lapis_status status = io_read(ctx, f, &(io_request){.want = want}, out);
  bool none = status < 0 && status != LAPIS_ENOMEM;
  return none ? lapis_fail(ctx, LAPIS_OK, "%s", "") : status; /* no sentence */
}

/* Another X, and what comes with it, begins anew. */
static lapis_status order_of_file(lapis_dataset *ds, const char *path,
                                  const lapis_arrays *all)
{
  const lapis_array *of = lapis_arrays_find(all, "X");
  if (of != NULL) io_order_clear(&ds->order);
  if (of == NULL) of = lapis_arrays_find(all, "Y");
  const lapis_array *names = lapis_arrays_find(all, "names");
  return io_order_add(ds->ctx, &ds->order, path, names, of);
}

lapis_status lapis_dataset_read(lapis_dataset *ds, const char *path,
                                const lapis_table_options *opt)
{
  NEEDS(ds == NULL ? NULL : ds->ctx, ds, path);
  io_file f;
  lapis_arrays all, made = {.count = 0};
  char *seen = NULL;
  const char *want[MEMBERS]; /* all but how X was made */
  memcpy(want, member_names, sizeof want);
  want[M_FEATURE_SETTINGS] = NULL;
  io_request request = {.table = {.opt = opt, .features = "X", .targets = "Y"},
                        .any_place = true,
                        .want = want,
                        .seen = &seen};
  TRY(io_options_check(ds->ctx, opt));
  TRY(io_file_open(ds->ctx, path, &f));
  request.share = share_in(ds, f.format);
  lapis_status status = read_file(ds, &f, &request, "X", &all);
  if (status >= 0) status = io_check_members(ds->ctx, &f, seen, &all);
  const char *rows = NULL;
  if (status >= 0) status = io_rows_title(ds->ctx, &f, opt, NULL, &rows);
  ds->counted = rows != NULL;
  if (status < 0) {
    io_file_close(&f);
    lapis_arrays_free(&all);
    base_free(seen);
    return status;
  }
  status = io_ask(ds->ctx, &ds->asked, opt, &f, NULL, &all);
  if (status == LAPIS_OK) status = io_forget(ds->ctx, opt, f.format, &all);
  if (status == LAPIS_OK && io_kind_of(f.format)->shown.container)
    status = read_apart(ds->ctx, &f, "feature_settings", &made);
  ds->stored += f.stored;
  io_file_close(&f);
  if (status == LAPIS_OK) status = order_of_file(ds, path, &all);
  if (status == LAPIS_OK) status = take_arrays(ds, path, f.format, &all);
  if (status == LAPIS_OK) status = take_arrays(ds, path, f.format, &made);
  lapis_arrays_free(&all);
  lapis_arrays_free(&made);
  base_free(ds->seen);
  ds->seen = seen;
  return status;
}

/* ---- one member ---------------------------------------------------------*/
/* "A", or the parts of one sparse matrix: "data, indices, ...". */
static bool is_single(const char *seen)
{
  char name[600], owner[600];
  if (seen == NULL) return false;
  if (strchr(seen, ',') == NULL) return true;
  while (*seen != '\0') {
    size_t n = strcspn(seen, ",");
    (void)snprintf(name, sizeof name, "%.*s", (int)n, seen);
    if (io_sparse_owner(name, owner, sizeof owner) == NULL ||
        strcmp(owner, "X") != 0)
      return false;
    seen += n;
    seen += strspn(seen, ", ");
  }
  return true;
}

/* The container's array of the name asked for, else of the member's own name,
 * else its only one: a sparse matrix without a name is X. */
static lapis_status read_container(const lapis_dataset *ds, io_file *f,
                                   const char *asked, const char *member,
                                   lapis_arrays *out)
{
  lapis_ctx *ctx = ds->ctx;
  char *seen = NULL;
  const char *const want[] = {asked == NULL ? member : asked, NULL};
  io_request all = {.any_place = true,
                    .share = share_as(ds, f->format, member)};
  io_request one = all;
  one.want = want;
  one.seen = &seen;
  TRY(io_read(ctx, f, &one, out));
  lapis_status status = LAPIS_OK;
  if (out->count == 0 && asked == NULL && is_single(seen))
    status = io_read(ctx, f, &all, out);
  if (status == LAPIS_OK && out->count == 0)
    status = io_fail_member(ctx, io_name(f->path), want[0], seen);
  base_free(seen);
  return status < 0 ? status : rename_only(ctx, out, member);
}

/* Y, group and names may be text; Y and names may be some of the columns, and
 * whatever is no features the column that was asked for. */
static lapis_status read_columns(const lapis_dataset *ds, io_file *f,
                                 const char *asked, const char *member,
                                 const lapis_table_options *opt,
                                 lapis_arrays *out)
{
  which m = which_of(member);
  lapis_table_options own = {.header = LAPIS_HEADER_AUTO};
  if (opt != NULL) own = *opt;
  if (asked != NULL) own.target = asked;
  bool chosen = own.target != NULL && *own.target != '\0';
  bool one = asked != NULL || m == M_Y || m == M_NAMES;
  if (m != M_X && !one) own.target = NULL;
  bool text = m >= M_NAMES, some = one && chosen;
  char named[16] = "";
  if (m != M_X && m < M_NAMES)
    TRY(io_order_column(ds->ctx, &ds->order, f, named));
  table_request table = {.opt = &own,
                         .features = member,
                         .targets = m == M_X ? "Y" : member,
                         .targets_only = some,
                         .all_targets =
                             !some && (m == M_Y || m == M_GROUP || text),
                         .as_text = text,
                         .id_optional = m != M_X,
                         .named_by = *named == '\0' ? NULL : named,
                         .find_id = m == M_Y && some && ds->slot[M_X].set &&
                                    ds->order.file == NULL};
  return io_read(ds->ctx, f, &(io_request){.table = table}, out);
}

/* A lone column of words does not show whether its first row is a title, but
 * one that is a row longer than X does. */
static lapis_status read_table(lapis_dataset *ds, io_file *f, const char *asked,
                               const char *member,
                               const lapis_table_options *opt,
                               lapis_arrays *out)
{
  const slot *X = &ds->slot[M_X];
  lapis_table_options titled = {.header = LAPIS_HEADER_AUTO};
  const char *rows;
  if (opt != NULL) titled = *opt;
  TRY(io_rows_title(ds->ctx, f, opt, asked, &rows));
  if (which_of(member) == M_X) ds->counted = rows != NULL;
  if (rows != NULL && which_of(member) == M_Y && X->set && !ds->counted) {
    titled.header = LAPIS_HEADER_YES;
    titled.id = rows;
    TRY(read_columns(ds, f, asked, member, &titled, out));
    return io_rows_place(ds->ctx, f, rows, X->samples, member, out);
  }
  TRY(read_columns(ds, f, asked, member, opt, out));
  const lapis_array *of = lapis_arrays_find(out, member);
  if (of == NULL || of->mat.dtype != LAPIS_TEXT || !X->set ||
      titled.header != LAPIS_HEADER_AUTO || of->mat.cols != X->samples + 1)
    return LAPIS_OK;
  lapis_arrays_free(out);
  titled.header = LAPIS_HEADER_YES;
  return read_columns(ds, f, asked, member, &titled, out);
}

/* X brings all along, Y its classes, and names where there are none. */
static bool may_bring(const lapis_dataset *ds, which asked, const char *name)
{
  which m = which_of(name);
  if (asked == M_X || (m == M_DIALECT && !ds->slot[m].set)) return true;
  if (asked == M_Y && (m == M_NAMES || m == M_ID_NAME))
    return !ds->slot[M_NAMES].set;
  return m == asked ||
         (asked == M_Y && m >= M_CLASS_NAMES && m <= M_TARGET_DECIMALS);
}

static lapis_status take_member(lapis_dataset *ds, const char *member,
                                const char *path, io_format format,
                                lapis_arrays *all)
{
  for (int i = 0; i < all->count; i++)
    if (!may_bring(ds, which_of(member), all->item[i].name))
      all->item[i].name[0] = '\0';
  return take_arrays(ds, path, format, all);
}

static lapis_status read_member(lapis_dataset *ds, const char *member,
                                const char *path, const char *asked,
                                const lapis_table_options *opt)
{
  io_file f;
  lapis_arrays all = {.count = 0}, named = {.count = 0}, made = {.count = 0};
  lapis_status status;
  TRY(io_file_open(ds->ctx, path, &f));
  const io_format format = f.format;
  bool container = io_kind_of(format)->shown.container;
  bool titled = format == IO_CSV || format == IO_ARFF;
  lapis_table_options columns = io_columns_alone(opt, asked);
  if (asked != NULL && titled && which_of(member) == M_P) {
    opt = &columns;
    asked = NULL;
  }
  if (asked != NULL && !container && (which_of(member) == M_X || !titled))
    status = lapis_fail(
        ds->ctx, LAPIS_EINVAL,
        titled ? "%s: is a table; name the file alone, and columns by {use}"
               : "%s: holds one array; name the file alone",
        path);
  else if (container)
    status = read_container(ds, &f, asked, member, &all);
  else if (f.format == IO_NPY)
    status = read_file(ds, &f,
                       &(io_request){.share = share_as(ds, f.format, member)},
                       member, &all);
  else
    status = read_table(ds, &f, asked, member, opt, &all);
  if (status == LAPIS_OK)
    status = io_ask(ds->ctx, &ds->asked, opt, &f, member, &all);
  if (status == LAPIS_OK) status = io_forget(ds->ctx, opt, format, &all);
  if (status == LAPIS_OK && container)
    status = read_apart(ds->ctx, &f, "names", &named);
  if (status == LAPIS_OK && container && which_of(member) == M_X &&
      (asked == NULL || which_of(asked) == M_X))
    status = read_apart(ds->ctx, &f, "feature_settings", &made);
  ds->stored += f.stored;
  if (status == LAPIS_OK && which_of(member) < M_NAMES)
    status = io_order_join(ds->ctx, &ds->order, &f, container ? &named : &all,
                           member, &all);
  io_file_close(&f);
  if (status == LAPIS_OK && which_of(member) < M_NAMES)
    status = io_order_add(ds->ctx, &ds->order, path,
                          lapis_arrays_find(container ? &named : &all, "names"),
                          lapis_arrays_find(&all, member));
  if (status == LAPIS_OK) status = take_member(ds, member, path, format, &all);
  if (status == LAPIS_OK) status = take_arrays(ds, path, format, &made);
  lapis_arrays_free(&all);
  lapis_arrays_free(&named);
  lapis_arrays_free(&made);
  return status;
}

lapis_status lapis_dataset_read_member(lapis_dataset *ds, const char *member,
                                       const char *spec,
                                       const lapis_table_options *opt)
{
  NEEDS(ds == NULL ? NULL : ds->ctx, ds, member, spec);
  char *path;
  const char *asked;
  if (which_of(member) == MEMBERS)
    return lapis_fail(ds->ctx, LAPIS_EINVAL,
                      "there is no member %s; X, Y, P, group, weight, xy and "
                      "names can be read",
                      member);
  TRY(io_options_check(ds->ctx, opt));
  TRY(io_spec_split(ds->ctx, spec, &path, &asked));
  lapis_status status = read_member(ds, member, path, asked, opt);
  base_free(path);
  return status;
}

/* ---- converting ---------------------------------------------------------*/
static void replace(slot *s, lapis_array *with)
{
  lapis_array_free(&s->array);
  s->array = *with;
}

static lapis_status make_f64(lapis_dataset *ds, which m)
{
  slot *s = &ds->slot[m];
  lapis_array a;
  bool stays = m == M_X && ds->keep_f32 && s->array.mat.colptr == NULL;
  lapis_dtype stored = s->array.mat.dtype;
  if (!s->set || stored == LAPIS_F64 || (stays && stored == LAPIS_F32))
    return LAPIS_OK;
  if (stored == LAPIS_TEXT)
    return lapis_fail(ds->ctx, LAPIS_EFORMAT,
                      "%s: is text; numbers are needed for %s", s->origin,
                      member_names[m]);
  const lapis_mat *from = &s->array.mat;
  TRY(io_number_array(ds->ctx, LAPIS_F64, from->rows, from->cols, &a));
  mat_to_f64(from, a.mat.val, a.mat.ld);
  replace(s, &a);
  return LAPIS_OK;
}

/* Features may stay sparse; nothing else is read that way. */
static lapis_status make_dense(lapis_dataset *ds, which m)
{
  slot *s = &ds->slot[m];
  lapis_array a;
  lapis_mat dense;
  if (!s->set || s->array.mat.colptr == NULL || m == M_X || m == M_P)
    return LAPIS_OK;
  TRY(io_dense(ds->ctx, s->origin, &s->array.mat, &a, &dense));
  replace(s, &a);
  return LAPIS_OK;
}

/* One text target names its classes; several keep the names of the columns,
 * and their values beside them: codes of two values in all, or of each column's
 * own two. */
static lapis_status encode_targets(lapis_dataset *ds)
{
  slot *Y = &ds->slot[M_Y], *names = &ds->slot[M_TARGET_VALUES];
  lapis_array codes, values;
  bool words = Y->set && Y->array.mat.dtype == LAPIS_TEXT;
  if (!words && ds->positive != NULL)
    return lapis_fail(ds->ctx, LAPIS_EINVAL,
                      "the positive label is one of two words; of numbers the "
                      "larger is positive");
  if (!words) return LAPIS_OK;
  if (Y->array.mat.rows == 1) names = &ds->slot[M_CLASS_NAMES];
  slot fresh = {.set = true};
  fresh.origin = base_strdup(ds->ctx, Y->origin);
  fresh.file = base_strdup(ds->ctx, Y->file);
  lapis_status status = LAPIS_ENOMEM;
  if (fresh.origin != NULL && fresh.file != NULL)
    status = codes_sorted(ds->ctx, &Y->array.mat, &codes, &values);
  if (status == LAPIS_OK) {
    if (values.mat.rows == 1)
      codes_tell_twins(ds->ctx, fresh.file, "the classes", values.mat.val,
                       values.mat.cols);
    status = codes_put_last(ds->ctx, ds->positive, &codes.mat, &values.mat);
    if (status >= 0) status = codes_by_row(ds->ctx, &codes, &values);
    fresh.array = values;
    replace(Y, &codes);
  }
  if (status < 0) {
    slot_clear(&fresh);
    return status;
  }
  slot_clear(names);
  *names = fresh;
  return LAPIS_OK;
}

/* x, y; keypoints go on with scale and angle, which nobody reads. */
static lapis_status check_positions(const lapis_dataset *ds)
{
  const slot *s = &ds->slot[M_XY];
  if (!s->set || s->array.mat.rows >= 2) return LAPIS_OK;
  return lapis_fail(ds->ctx, LAPIS_ESHAPE,
                    "%s: has %" PRId64 " value(s) for each sample, xy has 2 or "
                    "more: x, y",
                    s->origin, s->array.mat.rows);
}

static lapis_status check_rows(const lapis_dataset *ds, which m, int64_t rows)
{
  const slot *s = &ds->slot[m];
  if (!s->set || s->array.mat.rows == rows) return LAPIS_OK;
  return lapis_fail(ds->ctx, LAPIS_ESHAPE,
                    "%s: has %" PRId64 " value(s) for each sample, %s has "
                    "%" PRId64,
                    s->origin, s->array.mat.rows, member_names[m], rows);
}

static lapis_status make_group(lapis_dataset *ds)
{
  slot *s = &ds->slot[M_GROUP];
  lapis_array a;
  if (!s->set) return LAPIS_OK;
  TRY(check_rows(ds, M_GROUP, 1));
  TRY(codes_group(ds->ctx, s->origin, &s->array.mat, &a));
  replace(s, &a);
  return LAPIS_OK;
}

static lapis_status make_text(lapis_dataset *ds, which m)
{
  slot *s = &ds->slot[m];
  lapis_array a;
  if (!s->set) return LAPIS_OK;
  if (m == M_TARGET_VALUES && s->array.mat.dtype == LAPIS_TEXT) return LAPIS_OK;
  TRY(check_rows(ds, m, 1));
  if (s->array.mat.dtype == LAPIS_TEXT) return LAPIS_OK;
  TRY(codes_names(ds->ctx, &s->array.mat, &a));
  replace(s, &a);
  return LAPIS_OK;
}

/* ---- fitting together ---------------------------------------------------*/
static lapis_status check_axes(const lapis_dataset *ds)
{
  for (int m = 0; m < M_FEATURE_SETTINGS; m++)
    if (ds->slot[m].set && ds->slot[m].array.axes == 0)
      return lapis_fail(ds->ctx, LAPIS_ESHAPE,
                        "%s: is a single value; an array with one entry or "
                        "row for each sample is needed",
                        ds->slot[m].origin);
  return LAPIS_OK;
}

static lapis_status check_X(const lapis_dataset *ds)
{
  const slot *X = &ds->slot[M_X];
  if (!X->set && ds->seen != NULL)
    return io_fail_member(ds->ctx, NULL, "X", ds->seen);
  if (!X->set) return lapis_fail(ds->ctx, LAPIS_EMISSING, "X is missing");
  if (X->samples == 0 || X->array.mat.rows == 0)
    return lapis_fail(ds->ctx, LAPIS_EMISSING,
                      "%s: has %" PRId64 " samples of %" PRId64 " features",
                      X->origin, X->samples, X->array.mat.rows);
  return LAPIS_OK;
}

/* wanted entries, as many as X has samples or features. */
static lapis_status check_count(const lapis_dataset *ds, which m,
                                int64_t wanted, const char *noun)
{
  const slot *s = &ds->slot[m], *X = &ds->slot[M_X];
  if (!s->set || s->samples == wanted) return LAPIS_OK;
  bool same = strcmp(s->file, X->file) == 0;
  return lapis_fail(ds->ctx, LAPIS_ESHAPE,
                    "%s: %s has %" PRId64 " %s, X has %" PRId64 "%s%s%s%s",
                    s->file, member_names[m], s->samples, noun, wanted,
                    same ? "" : " (", same ? "" : X->file, same ? "" : ")",
                    io_unjoined(&ds->order, X->file, s->file));
}

/* Points in images, as lapis features sift has them: group is the image of
 * each, names are the images', and name no sample. */
static void drop_group_names(lapis_dataset *ds)
{
  slot *names = &ds->slot[M_NAMES];
  const slot *group = &ds->slot[M_GROUP];
  const lapis_mat *of = &group->array.mat;
  int64_t count = names->array.mat.cols;
  if (!names->set || count == ds->slot[M_X].samples) return;
  if (!group->set || of->dtype == LAPIS_TEXT || of->colptr != NULL) return;
  for (int64_t j = 0; j < of->cols; j++) {
    double image = lapis_mat_at(of, 0, j);
    if (!(image >= 0 && image < (double)count)) return;
  }
  slot_clear(names);
}

static lapis_status check_class_names(const lapis_dataset *ds)
{
  const slot *names = &ds->slot[M_CLASS_NAMES], *Y = &ds->slot[M_Y];
  if (!names->set || !Y->set || Y->array.mat.rows == 1) return LAPIS_OK;
  if (names->array.mat.cols == Y->array.mat.rows) return LAPIS_OK;
  return lapis_fail(ds->ctx, LAPIS_ESHAPE,
                    "%s: class_names has %" PRId64 " names, Y has %" PRId64
                    " targets",
                    names->file, names->array.mat.cols, Y->array.mat.rows);
}

static lapis_status check_fit(const lapis_dataset *ds)
{
  const slot *X = &ds->slot[M_X];
  for (int m = M_Y; m <= M_NAMES; m++)
    TRY(check_count(ds, (which)m, X->samples, "samples"));
  TRY(check_count(ds, M_FEATURE_NAMES, X->array.mat.rows, "features"));
  TRY(check_rows(ds, M_WEIGHT, 1));
  TRY(check_positions(ds));
  return check_class_names(ds);
}

/* Columns [first, first + count) of a compressed one; its memory is ours, and
 * colptr begins at 0 as everywhere. */
static void cut_sparse(lapis_mat *A, int64_t first, int64_t count)
{
  int64_t *colptr = (int64_t *)(uintptr_t)A->colptr + first, from = *colptr;
  for (int64_t j = 0; j <= count; j++) colptr[j] -= from;
  A->colptr = colptr;
  A->rowidx += from;
  A->val = (double *)A->val + from;
  A->cols = count;
}

/* What was read whole: texts have their codes by now. */
static void cut(lapis_dataset *ds, which m)
{
  static const size_t bytes[] = {[LAPIS_F64] = sizeof(double),
                                 [LAPIS_F32] = sizeof(float),
                                 [LAPIS_I64] = sizeof(int64_t),
                                 [LAPIS_U8] = 1};
  int64_t first, count;
  slot *s = &ds->slot[m];
  lapis_mat *A = &s->array.mat;
  bool done = A->cols < s->samples || A->dtype == LAPIS_TEXT;
  if (!s->set || ds->share.parts <= 1 || done) return;
  io_share_cut(&ds->share, A->cols, &first, &count);
  if (A->colptr != NULL) {
    cut_sparse(A, first, count);
    return;
  }
  A->cols = count;
  A->val = (char *)A->val + bytes[A->dtype] * (size_t)(first * A->ld);
}

static lapis_mat mat_of(const lapis_dataset *ds, which m)
{
  return ds->slot[m].set ? ds->slot[m].array.mat : lapis_mat_f64(NULL, 0, 0);
}

static void publish(lapis_dataset *ds)
{
  ds->data = (lapis_data){.X = mat_of(ds, M_X),
                          .Y = mat_of(ds, M_Y),
                          .P = mat_of(ds, M_P),
                          .xy = mat_of(ds, M_XY),
                          .group = mat_of(ds, M_GROUP).val,
                          .weight = mat_of(ds, M_WEIGHT).val,
                          .stored = ds->stored,
                          .feature_names = mat_of(ds, M_FEATURE_NAMES)};
  lapis_mat words = lapis_dataset_text(ds, "class_names");
  if (ds->data.Y.rows == 1 && words.cols > 1) ds->data.words = words;
}

void lapis_dataset_divide(lapis_dataset *ds, int64_t part, int64_t parts)
{
  if (ds == NULL || part < 0 || part >= parts) return;
  ds->share = (io_share){.part = part, .parts = parts};
}

void lapis_dataset_positive(lapis_dataset *ds, const char *word)
{
  if (ds != NULL) ds->positive = word;
}

int64_t lapis_dataset_samples(const lapis_dataset *ds)
{
  return ds == NULL ? 0 : ds->slot[M_X].samples;
}

void lapis_dataset_keep_f32(lapis_dataset *ds)
{
  if (ds != NULL) ds->keep_f32 = true;
}

lapis_status lapis_dataset_finish(lapis_dataset *ds)
{
  NEEDS(ds == NULL ? NULL : ds->ctx, ds);
  TRY(io_asked_check(ds->ctx, &ds->asked));
  static const which numbers[] = {M_X, M_Y, M_P, M_WEIGHT, M_XY};
  TRY(check_X(ds));
  TRY(check_axes(ds));
  drop_group_names(ds);
  TRY(check_fit(ds));
  for (int m = 0; m < M_FEATURE_SETTINGS; m++) TRY(make_dense(ds, (which)m));
  TRY(encode_targets(ds));
  TRY(make_group(ds));
  for (int m = M_X; m < M_NAMES; m++) cut(ds, (which)m);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    TRY(make_f64(ds, numbers[i]));
  for (int m = M_NAMES; m < M_FEATURE_SETTINGS; m++)
    TRY(make_text(ds, (which)m));
  if (!ds->told) io_tell_paired(ds->ctx, &ds->order, ds->slot[M_X].file);
  ds->told = true;
  publish(ds);
  return LAPIS_OK;
}

const lapis_data *lapis_dataset_data(const lapis_dataset *ds)
{
  return ds == NULL ? NULL : &ds->data;
}

lapis_mat lapis_dataset_text(const lapis_dataset *ds, const char *what)
{
  if (what == NULL) return (lapis_mat){0};
  which m = which_of(what);
  lapis_mat none = {.dtype = LAPIS_TEXT, .ld = 1};
  if (m < M_NAMES || m == MEMBERS || !ds->slot[m].set) return none;
  const lapis_mat *text = &ds->slot[m].array.mat;
  return text->dtype == LAPIS_TEXT ? *text : none;
}
