/* checkpoint.c - the file a killed run goes on from.
 *
 * Like a model: a .npz of named arrays with a JSON header.  The store below
 * holds a copy of every array that was handed over, by path; it is taken at
 * the boundary of an iteration and written from there, so that any thread can
 * write the last completed iteration while the next one is at work.
 *
 * Copying may take a twentieth of the time and writing a tenth: with large
 * arrays and short iterations some boundaries are passed over.
 *
 * Where samples are divided among processes rank 0 alone has the file and the
 * whole store (what the others hold is the part of a former run's array that
 * they are about to use), so that the file is that of one process, and any
 * number of them go on from it.  When to copy is what rank 0 says. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/param.h"
#include "base/resume.h"
#include "files/io.h"
#include "lapis/tools.h"
#include "mat/mat.h"
#include "model/divided.h"
#include "model/model.h"

enum { FORMAT = 3, TEXT_SIZE = 4096, MOST_ARRAYS = 8 * KEEP_ROWS };
static const double COPY_SHARE = 20, WRITE_SHARE = 10; /* times their cost */

typedef struct entry {
  char path[KEEP_PATH];
  lapis_dtype dtype;
  void *val;
  int64_t count, room; /* room: bytes */
  bool loaded;         /* a former run's, not yet used */
  void *mine;          /* of several processes: our part of what was loaded */
} entry;

struct lapis_checkpoint {
  lapis_ctx *ctx, *own; /* the run's; of whoever writes */
  char *path, *header;
  entry *item;
  int count, room;
  pthread_mutex_t lock; /* of item, count, dirty, own */
  bool dirty, warned;
  double every, taken, copy_cost, written, write_cost;
};

/* ---- the store ----------------------------------------------------------*/
static entry *entry_of(lapis_checkpoint *c, const char *path)
{
  for (int i = 0; i < c->count; i++)
    if (strcmp(c->item[i].path, path) == 0) return &c->item[i];
  return NULL;
}

static lapis_status add_entry(lapis_checkpoint *c, const char *path,
                              entry **out)
{
  if (c->count == c->room) {
    void *p = c->item;
    int room = c->room == 0 ? 64 : 2 * c->room;
    TRY(base_grow(c->own, &p, c->count, room, sizeof *c->item));
    c->item = p;
    c->room = room;
  }
  *out = &c->item[c->count++];
  **out = (entry){.count = 0};
  (void)snprintf((*out)->path, sizeof(*out)->path, "%s", path);
  return LAPIS_OK;
}

static int64_t size_of(lapis_dtype dtype)
{
  return dtype == LAPIS_U8 ? 1 : 8;
}

/* Room for an array, whose contents are to come. */
static lapis_status reserve(lapis_checkpoint *c, const char *path,
                            lapis_dtype dtype, int64_t count, entry **out)
{
  entry *e = entry_of(c, path);
  int64_t bytes = count * size_of(dtype);
  if (e == NULL) TRY(add_entry(c, path, &e));
  if (bytes > e->room || e->val == NULL) {
    int64_t room = bytes + bytes / 2; /* histories grow */
    void *larger = base_alloc_raw(c->own, room, 1);
    if (larger == NULL) return LAPIS_ENOMEM;
    base_free(e->val);
    e->val = larger;
    e->room = room;
  }
  e->dtype = dtype;
  e->count = count;
  e->loaded = false;
  *out = e;
  return LAPIS_OK;
}

static lapis_status put(lapis_checkpoint *c, const char *path,
                        lapis_dtype dtype, const void *val, int64_t count)
{
  entry *e;
  TRY(reserve(c, path, dtype, count, &e));
  if (count > 0) memcpy(e->val, val, (size_t)(count * size_of(dtype)));
  return LAPIS_OK;
}

static void empty(entry *e)
{
  base_free(e->val);
  base_free(e->mine);
}

/* Drops entries below a path: all of them, or those of this run; or only what
 * lies in scopes further in. */
static void drop(lapis_checkpoint *c, const char *path, bool all, bool inner)
{
  size_t length = strlen(path);
  int kept = 0;
  for (int i = 0; i < c->count; i++) {
    entry *e = &c->item[i];
    bool below = strncmp(e->path, path, length) == 0 && e->path[length] == '/';
    if (below && inner) below = strchr(e->path + length + 1, '/') != NULL;
    if (below && (all || !e->loaded))
      empty(e);
    else
      c->item[kept++] = *e;
  }
  c->count = kept;
}

static lapis_status put_scope(lapis_checkpoint *c, const keep_scope *s)
{
  char path[KEEP_PATH];
  for (int i = 0; i < s->count; i++) {
    const keep_row *r = &s->row[i];
    keep_path(s, r->name, path);
    TRY(keep_fetch(r));
    TRY(put(c, path, keep_dtype(r), r->val, r->count));
  }
  return LAPIS_OK;
}

/* ---- parts of processes -------------------------------------------------*/
/* What rank 0 has loaded for a row, to all: whether there is something, and how
 * many numbers. */
static lapis_status tell_size(lapis_checkpoint *c, const entry *e,
                              const keep_row *row, bool *there, int64_t *count)
{
  bool loaded = e != NULL && e->loaded && e->dtype == keep_dtype(row);
  int64_t about[2] = {loaded, loaded ? e->count : 0};
  TRY(divided_tell(c->ctx, about, sizeof about));
  *there = about[0] != 0;
  *count = about[1];
  return LAPIS_OK;
}

/* Ours of an array of rank 0 that fits the row.  mine: room for it. */
static lapis_status receive(lapis_checkpoint *c, const entry *e,
                            const divided *d, int64_t bytes, void *mine)
{
  bool first = base_rank(c->ctx) == 0;
  if (d->blocks > 0)
    return divided_hand_out(c->ctx, d, first ? e->val : NULL, mine);
  if (first) memcpy(mine, e->val, (size_t)bytes);
  return divided_tell(c->ctx, mine, bytes);
}

/* *e: the entry with our part, where there is one that fits. */
static lapis_status fetch(lapis_checkpoint *c, const char *path,
                          const keep_row *row, bool *there, entry **e,
                          int64_t *count, int64_t *wanted)
{
  divided d = {0};
  entry *own = entry_of(c, path);
  TRY(tell_size(c, own, row, there, count));
  if (!*there) return LAPIS_OK;
  if (row->divided > 0)
    TRY(divided_place(c->ctx, row->count, row->divided, &d));
  *wanted = d.blocks > 0 ? d.blocks * d.all : *wanted;
  *e = own;
  if (d.blocks > 0 && *count != *wanted) return LAPIS_OK;
  int64_t numbers = d.blocks > 0 ? row->count : *count;
  int64_t bytes = numbers * size_of(keep_dtype(row));
  void *mine = base_alloc_raw(c->ctx, bytes + 1, 1);
  lapis_status s = mine == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  if (s >= 0 && own == NULL) s = add_entry(c, path, e);
  s = base_agree(c->ctx, s);
  if (s >= 0 && mine != NULL) s = receive(c, *e, &d, bytes, mine);
  if (s < 0) {
    base_free(mine);
    return s;
  }
  (*e)->dtype = keep_dtype(row);
  (*e)->mine = mine;
  (*e)->loaded = true;
  if (own == NULL) (*e)->count = *count;
  return LAPIS_OK;
}

/* Every process asks at the same place, and has its part at the same time. */
static lapis_status find_part(lapis_checkpoint *c, const char *path,
                              const keep_row *row, const void **val,
                              int64_t *count, int64_t *wanted)
{
  static const char none = 0; /* of another size: not to be read */
  entry *e = entry_of(c, path);
  if (e == NULL || e->mine == NULL) {
    bool there;
    *wanted = row->count;
    TRY(fetch(c, path, row, &there, &e, count, wanted));
    *val = there ? &none : NULL;
    if (e == NULL || e->mine == NULL) return LAPIS_OK;
  }
  *count = e->count;
  if (row->divided > 0) *count = *wanted = row->count;
  *val = e->mine;
  return LAPIS_OK;
}

static lapis_status join_row(lapis_checkpoint *c, const keep_row *r,
                             const char *path)
{
  divided d;
  entry *e = NULL;
  TRY(divided_place(c->ctx, r->count, r->divided, &d));
  lapis_status s = LAPIS_OK;
  if (base_rank(c->ctx) == 0)
    s = reserve(c, path, keep_dtype(r), d.blocks * d.all, &e);
  TRY(divided_join(c->ctx, &d, r->val, s < 0 || e == NULL ? NULL : e->val));
  return s;
}

static lapis_status join_scope(lapis_checkpoint *c, const keep_scope *s)
{
  char path[KEEP_PATH];
  lapis_status status = LAPIS_OK;
  for (int i = 0; i < s->count; i++) {
    const keep_row *r = &s->row[i];
    lapis_status now = LAPIS_OK, fetched = keep_fetch(r);
    keep_path(s, r->name, path);
    entry *e = entry_of(c, path);
    if (e != NULL) {
      base_free(e->mine);
      e->mine = NULL;
    }
    if (r->divided > 0)
      now = join_row(c, r, path);
    else if (base_rank(c->ctx) == 0)
      now = put(c, path, keep_dtype(r), r->val, r->count);
    if (fetched < 0) status = fetched;
    if (now < 0) status = now; /* the others go on, and so do we */
  }
  return status;
}

/* ---- what base asks of it -----------------------------------------------*/
static lapis_status find(void *self, const char *path, const keep_row *row,
                         const void **val, int64_t *count, int64_t *wanted)
{
  lapis_checkpoint *c = self;
  if (base_ranks(c->ctx) > 1)
    return find_part(c, path, row, val, count, wanted);
  const entry *e = entry_of(c, path);
  *val = NULL;
  if (e == NULL || !e->loaded || e->dtype != keep_dtype(row)) return LAPIS_OK;
  *count = e->count;
  *val = e->val;
  return LAPIS_OK;
}

static void spend(void *self, const char *path)
{
  entry *e = entry_of(self, path);
  if (e == NULL) return;
  e->loaded = false;
  base_free(e->mine);
  e->mine = NULL;
}

static void forget(void *self, const char *path, bool all)
{
  lapis_checkpoint *c = self;
  pthread_mutex_lock(&c->lock);
  drop(c, path, all, false);
  pthread_mutex_unlock(&c->lock);
}

static bool write_is_due(const lapis_checkpoint *c, double now)
{
  return now - c->written >= c->every &&
         now - c->written >= WRITE_SHARE * c->write_cost;
}

static lapis_status write_if_due(lapis_checkpoint *c)
{
  if (!write_is_due(c, base_seconds())) return LAPIS_OK;
  lapis_status s = lapis_checkpoint_write(c);
  if (s < 0 && !c->warned) {
    c->warned = true; /* a run is worth more than its checkpoint */
    base_say(c->ctx, 0, "checkpoint: %s; the run goes on without",
             lapis_ctx_error(c->own));
  }
  return LAPIS_OK;
}

/* Copying is dear where parts have to travel: only what is to be written. */
static lapis_status is_due(lapis_checkpoint *c, bool must, double now,
                           bool *due)
{
  bool many = base_ranks(c->ctx) > 1;
  *due = must || now - c->taken >= COPY_SHARE * c->copy_cost;
  if (!many || must) return LAPIS_OK;
  double first = base_rank(c->ctx) == 0 && *due && write_is_due(c, now);
  TRY(base_sum(c->ctx, &first, 1));
  *due = first > 0;
  return LAPIS_OK;
}

static lapis_status take(void *self, const keep_scope *innermost, bool must)
{
  lapis_checkpoint *c = self;
  double now = base_seconds();
  bool due, many = base_ranks(c->ctx) > 1;
  TRY(is_due(c, must, now, &due));
  if (!due) return LAPIS_OK;
  lapis_status status = LAPIS_OK;
  char path[KEEP_PATH];
  keep_path(innermost, NULL, path);
  pthread_mutex_lock(&c->lock);
  drop(c, path, true, true); /* solves inside, which have ended */
  for (const keep_scope *s = innermost; s != NULL && status >= 0; s = s->outer)
    status = many ? join_scope(c, s) : put_scope(c, s);
  c->dirty = status >= 0 && base_rank(c->ctx) == 0;
  pthread_mutex_unlock(&c->lock);
  if (status < 0) return status;
  c->taken = base_seconds();
  c->copy_cost = c->taken - now;
  return write_if_due(c);
}

/* ---- the file -----------------------------------------------------------*/
static lapis_status write_items(lapis_checkpoint *c, lapis_named *item)
{
  item[0] = (lapis_named){
      .name = "lapis",
      .flat = true,
      .mat = lapis_mat_text((const char *const *)&c->header, 1, 1)};
  for (int i = 0; i < c->count; i++) {
    const entry *e = &c->item[i];
    item[i + 1] =
        (lapis_named){.name = e->path,
                      .flat = true,
                      .mat = {e->dtype, 1, e->count, 1, e->val, NULL, NULL}};
  }
  return io_npz_write(c->own, c->path, item, c->count + 1);
}

static lapis_status write_store(lapis_checkpoint *c)
{
  if (!c->dirty) return LAPIS_OK;
  double before = base_seconds();
  lapis_named *item = base_alloc(c->own, c->count + 1, sizeof *item);
  if (item == NULL) return LAPIS_ENOMEM;
  lapis_status s = write_items(c, item);
  base_free(item);
  c->written = base_seconds();
  c->write_cost = c->written - before;
  c->dirty = s < 0;
  return s;
}

lapis_status lapis_checkpoint_write(lapis_checkpoint *c)
{
  NEEDS(c == NULL ? NULL : c->ctx, c);
  pthread_mutex_lock(&c->lock);
  lapis_status s = write_store(c);
  pthread_mutex_unlock(&c->lock);
  return s;
}

/* ---- whose run it is ----------------------------------------------------*/
/* A sum over samples, whoever has them. */
static lapis_status put_hash(lapis_ctx *ctx, lapis_json *to, const char *name,
                             const lapis_mat *A)
{
  char text[96];
  int64_t first, all;
  TRY(base_place(ctx, A->cols, &first, &all));
  if (A->rows == 0 || all == 0) return LAPIS_OK;
  uint64_t hash = mat_hash_columns(A, first);
  TRY(base_sum_word(ctx, &hash));
  (void)snprintf(text, sizeof text, "%" PRId64 " x %" PRId64 ", %016" PRIx64,
                 A->rows, all, hash);
  lapis_json_put_text(to, name, text);
  return LAPIS_OK;
}

static lapis_status put_data(lapis_ctx *ctx, lapis_json *to,
                             const lapis_data *d)
{
  int64_t n = d->X.cols;
  lapis_mat group = lapis_mat_i64((int64_t *)(uintptr_t)d->group, 1, n);
  lapis_mat weight = lapis_mat_f64((double *)(uintptr_t)d->weight, 1, n);
  TRY(put_hash(ctx, to, "X", &d->X));
  TRY(put_hash(ctx, to, "Y", &d->Y));
  TRY(put_hash(ctx, to, "P", &d->P));
  TRY(put_hash(ctx, to, "xy", &d->xy));
  if (d->group != NULL) TRY(put_hash(ctx, to, "group", &group));
  if (d->weight != NULL) TRY(put_hash(ctx, to, "weight", &weight));
  return LAPIS_OK;
}

/* A run that goes on may go further; a finished one is as it is. */
static bool may_differ(const char *name, bool goes_on)
{
  return strcmp(name, "time-limit") == 0 ||
         (goes_on && strcmp(name, "max-iters") == 0);
}

static lapis_json *settings_json(lapis_ctx *ctx, const lapis_method *m,
                                 const void *settings, bool goes_on)
{
  lapis_json *to = lapis_json_object();
  for (int i = 0; i < m->n_params; i++) {
    char text[TEXT_SIZE];
    const char *name = m->params[i].name;
    if (may_differ(name, goes_on)) continue;
    lapis_settings_get(ctx, m, settings, name, text, sizeof text);
    lapis_json_put_text(to, name, text);
  }
  return to;
}

static lapis_json *also_json(lapis_ctx *ctx, const char *const *also,
                             int n_also)
{
  char seed[32];
  lapis_json *to = lapis_json_object();
  (void)snprintf(seed, sizeof seed, "%" PRIu64, base_seed(ctx));
  lapis_json_put_text(to, "seed", seed);
  for (int i = 0; i < n_also; i++) {
    char name[64];
    size_t length = strcspn(also[i], "=");
    (void)snprintf(name, sizeof name, "%.*s", (int)length, also[i]);
    lapis_json_put_text(to, name, also[i] + length + 1);
  }
  return to;
}

lapis_status run_header(lapis_ctx *ctx, const char *kind, int format,
                        const lapis_method *m, const lapis_data *data,
                        const void *settings, const char *const *also,
                        int n_also, char **out)
{
  bool goes_on = strcmp(kind, "checkpoint") == 0;
  lapis_json *to = lapis_json_object(), *of_data = lapis_json_object();
  lapis_status s = put_data(ctx, of_data, data);
  lapis_json_put_text(to, "lapis", lapis_version());
  lapis_json_put_text(to, "kind", kind);
  lapis_json_put_integer(to, "format", format);
  lapis_json_put_text(to, "method", m->name);
  lapis_json_put(to, "settings", settings_json(ctx, m, settings, goes_on));
  lapis_json_put(to, "data", of_data);
  lapis_json_put(to, "also", also_json(ctx, also, n_also));
  *out = s < 0 ? NULL : lapis_json_print(to);
  lapis_json_free(to);
  if (s >= 0 && *out == NULL)
    s = lapis_fail(ctx, LAPIS_ENOMEM, "out of memory");
  return s;
}

/* One of the header's objects: everything here must be there, and no more. */
static lapis_status compare(lapis_checkpoint *c, const lapis_json *here,
                            const lapis_json *there, const char *what,
                            const char *dashes)
{
  const char *key;
  char value[TEXT_SIZE];
  const lapis_json *both[] = {lapis_json_get(here, what),
                              lapis_json_get(there, what)};
  for (int side = 0; side < 2; side++)
    for (int i = 0; lapis_json_entry(both[side], i, &key, value, sizeof value);
         i++) {
      const char *other = lapis_json_text(both[1 - side], key, "not given");
      if (strcmp(value, other) == 0) continue;
      return lapis_fail(c->ctx, LAPIS_EDATA,
                        "%s: is of another run: %s%s was %s and is %s; name "
                        "another file, or remove this one to start anew",
                        c->path, dashes, key, side == 0 ? other : value,
                        side == 0 ? value : other);
    }
  return LAPIS_OK;
}

/* Formats have numbers that grow. */
static lapis_status check_format(lapis_ctx *ctx, const char *path,
                                 const lapis_json *there)
{
  double format = lapis_json_number(there, "format", 0);
  const char *kind = lapis_json_text(there, "kind", "");
  char version[64];
  (void)lapis_text_shown(lapis_json_text(there, "lapis", "?"), version,
                         sizeof version);
  if (strcmp(kind, "checkpoint") != 0 || !(format >= 1))
    return lapis_fail(ctx, LAPIS_EFORMAT,
                      "%s: is not a checkpoint; name another file", path);
  if (format == FORMAT) return LAPIS_OK;
  return lapis_fail(
      ctx, LAPIS_EFORMAT,
      "%s: is the checkpoint of %s LAPIS (%s, format %g; this one, %s, reads "
      "format %d); go on with that one, or remove the file to start anew",
      path, format < FORMAT ? "an older" : "a newer", version, format,
      lapis_version(), FORMAT);
}

static lapis_status check_header(lapis_checkpoint *c, const lapis_json *there)
{
  lapis_json *here;
  TRY(check_format(c->ctx, c->path, there));
  TRY(lapis_json_parse(c->ctx, c->header, strlen(c->header), "header", &here));
  const char *was = lapis_json_text(there, "method", "");
  const char *is = lapis_json_text(here, "method", "");
  lapis_status s = LAPIS_OK;
  if (strcmp(was, is) != 0)
    s = lapis_fail(c->ctx, LAPIS_EDATA,
                   "%s: is of another run: the method was %s and is %s; name "
                   "another file",
                   c->path, was, is);
  if (s >= 0) s = compare(c, here, there, "data", "the data's ");
  if (s >= 0) s = compare(c, here, there, "settings", "--");
  if (s >= 0) s = compare(c, here, there, "also", "--");
  lapis_json_free(here);
  return s;
}

static lapis_status load_items(lapis_checkpoint *c, const lapis_arrays *all)
{
  if (all->count > MOST_ARRAYS)
    return lapis_fail(c->ctx, LAPIS_EFORMAT,
                      "%s: holds %d arrays; a checkpoint has at most %d",
                      c->path, all->count, MOST_ARRAYS);
  for (int i = 0; i < all->count; i++) {
    const lapis_array *a = &all->item[i];
    if (strcmp(a->name, "lapis") == 0) continue;
    bool known = a->mat.dtype == LAPIS_F64 || a->mat.dtype == LAPIS_I64 ||
                 a->mat.dtype == LAPIS_U8;
    if (!known || a->mat.rows != 1 || strlen(a->name) >= KEEP_PATH)
      return lapis_fail(c->ctx, LAPIS_EFORMAT,
                        "%s: its array '%s' is not one that a checkpoint has",
                        c->path, a->name);
    if (put(c, a->name, a->mat.dtype, a->mat.val, a->mat.cols) < 0)
      return lapis_fail(c->ctx, LAPIS_ENOMEM, "out of memory");
    entry_of(c, a->name)->loaded = true;
  }
  return LAPIS_OK;
}

/* ---- what is gone on from ------------------------------------------------*/
static bool called(const char *path, const char *name, bool begins)
{
  const char *slash = strrchr(path, '/');
  const char *last = slash == NULL ? path : slash + 1;
  return begins ? strncmp(last, name, strlen(name)) == 0
                : strcmp(last, name) == 0;
}

/* Fits to some of the labels, which others are told by: the answers of a race
 * (a switch each) and the cells of a grid (of each fold, how many are done). */
static void count_fits(const lapis_arrays *of, double *done, double *all)
{
  *done = *all = 0;
  for (int i = 0; i < of->count; i++) {
    const lapis_mat *m = &of->item[i].mat;
    const char *path = of->item[i].name;
    bool answers = m->dtype == LAPIS_U8 && called(path, "answered-", true);
    bool folds = m->dtype == LAPIS_I64 && called(path, "done", false);
    bool cells = m->dtype == LAPIS_F64 && called(path, "value", false);
    for (int64_t k = 0; answers && k < m->cols; k++)
      *done += ((const signed char *)m->val)[k] != 0;
    for (int64_t k = 0; folds && k < m->cols; k++)
      *done += (double)((const int64_t *)m->val)[k];
    if (answers || cells) *all += (double)m->cols;
  }
}

/* Of the solve that was at hand; -1: none. */
static int64_t iteration_of(const lapis_arrays *of)
{
  int64_t most = -1;
  for (int i = 0; i < of->count; i++) {
    const lapis_mat *m = &of->item[i].mat;
    if (m->dtype == LAPIS_I64 && m->cols == 1 &&
        called(of->item[i].name, "iteration", false))
      most = *(const int64_t *)m->val;
  }
  return most;
}

/* What is there already, as text; "": nothing that can be counted. */
static void write_done(const lapis_arrays *of, char *text, size_t size)
{
  double done, all;
  int64_t iteration = iteration_of(of);
  char fits[96] = "", steps[64] = "";
  count_fits(of, &done, &all);
  if (all > 0)
    (void)snprintf(fits, sizeof fits, "%.0f of the %.0f trial fits begun", done,
                   all);
  if (iteration >= 0)
    (void)snprintf(steps, sizeof steps, "%s%" PRId64 " iterations of a solve",
                   all > 0 ? " and " : "", iteration);
  (void)snprintf(text, size, "%s%s", fits, steps);
}

static void say_what_is_there(const lapis_checkpoint *c, const lapis_arrays *of)
{
  char done[160];
  if (c->count == 0) return;
  write_done(of, done, sizeof done);
  base_say(c->ctx, -1,
           "%s: goes on where an earlier run stopped; done already%s%s",
           c->path, *done == '\0' ? "" : ": ", done);
}

/* ---- reading it ---------------------------------------------------------*/
static lapis_status read_header(lapis_ctx *ctx, const char *path,
                                const lapis_arrays *all, lapis_json **out)
{
  const lapis_array *a = lapis_arrays_find(all, "lapis");
  bool text =
      a != NULL && a->mat.dtype == LAPIS_TEXT && a->mat.rows * a->mat.cols == 1;
  if (!text)
    return lapis_fail(ctx, LAPIS_EFORMAT,
                      "%s: is not a checkpoint: there is no header in it; name "
                      "another file",
                      path);
  const char *json = ((const char *const *)a->mat.val)[0];
  return lapis_json_parse(ctx, json, strlen(json), path, out);
}

static lapis_status load_arrays(lapis_checkpoint *c, const lapis_arrays *all)
{
  lapis_json *head;
  TRY(read_header(c->ctx, c->path, all, &head));
  lapis_status s = check_header(c, head);
  lapis_json_free(head);
  return s < 0 ? s : load_items(c, all);
}

static lapis_status load(lapis_checkpoint *c)
{
  lapis_arrays all;
  if (base_rank(c->ctx) > 0 || access(c->path, F_OK) != 0) return LAPIS_OK;
  TRY(lapis_arrays_read(c->ctx, c->path, &all));
  lapis_status s = load_arrays(c, &all);
  if (s >= 0) say_what_is_there(c, &all);
  lapis_arrays_free(&all);
  return s;
}

lapis_status lapis_checkpoint_done(lapis_ctx *ctx, const char *path, char *text,
                                   size_t size)
{
  lapis_arrays all;
  lapis_json *head = NULL;
  NEEDS(ctx, ctx, path, text);
  if (size > 0) *text = '\0';
  TRY(lapis_arrays_read(ctx, path, &all));
  lapis_status s = read_header(ctx, path, &all, &head);
  if (s >= 0) s = check_format(ctx, path, head);
  if (s >= 0) write_done(&all, text, size);
  lapis_json_free(head);
  lapis_arrays_free(&all);
  return s;
}

/* ---- opening and closing ------------------------------------------------*/
static lapis_status open_new(lapis_checkpoint *c, const char *path, char *head)
{
  c->own = lapis_ctx_new();
  c->path = base_strdup(c->ctx, path);
  c->header = base_strdup(c->ctx, head);
  if (c->own == NULL || c->path == NULL || c->header == NULL)
    return lapis_fail(c->ctx, LAPIS_ENOMEM, "out of memory");
  if (base_rank(c->ctx) == 0) io_tidy(path);
  TRY(load(c));
  c->written = c->taken = base_seconds();
  keep_hook hook = {
      .self = c, .find = find, .spend = spend, .take = take, .forget = forget};
  keep_set_hook(c->ctx, &hook);
  return LAPIS_OK;
}

static lapis_status describe(lapis_ctx *ctx, const lapis_method *m,
                             const lapis_data *data, const void *settings,
                             const char *const *also, int n_also, char **head)
{
  TRY(mat_check_data(ctx, "checkpoint", data));
  void *own = base_alloc(ctx, 1, m->settings_size); /* NULL: the defaults */
  if (own == NULL) return LAPIS_ENOMEM;
  lapis_status s = lapis_settings_copy(ctx, m, settings, own);
  if (s >= 0)
    s = run_header(ctx, "checkpoint", FORMAT, m, data, own, also, n_also, head);
  base_free(own);
  return s;
}

static lapis_status new_of(lapis_ctx *ctx, const char *path, char *head,
                           lapis_checkpoint **out)
{
  lapis_checkpoint *c = base_alloc(ctx, 1, sizeof *c);
  if (c == NULL) return LAPIS_ENOMEM;
  c->ctx = ctx;
  c->every = 1;
  if (pthread_mutex_init(&c->lock, NULL) != 0) {
    base_free(c);
    return lapis_fail(ctx, LAPIS_ENOMEM, "out of memory");
  }
  *out = c;
  return open_new(c, path, head);
}

lapis_status lapis_checkpoint_new(lapis_ctx *ctx, const char *path,
                                  const lapis_method *m, const lapis_data *data,
                                  const void *settings, const char *const *also,
                                  int n_also, lapis_checkpoint **out)
{
  MAKES(out);
  NEEDS(ctx, ctx, path, m, data, out);
  if (n_also > 0) NEEDS(ctx, also);
  char *head = NULL;
  base_meet(ctx);
  lapis_status s = describe(ctx, m, data, settings, also, n_also, &head);
  if (s >= 0) s = new_of(ctx, path, head, out);
  free(head);
  s = base_agree(ctx, s);
  if (s >= 0) return s;
  lapis_checkpoint_free(*out, false);
  *out = NULL;
  return s;
}

void checkpoint_every(lapis_checkpoint *c, double seconds)
{
  if (c == NULL) return;
  c->every = seconds;
}

void lapis_checkpoint_free(lapis_checkpoint *c, bool finished)
{
  if (c == NULL) return;
  keep_set_hook(c->ctx, NULL);
  if (finished && base_rank(c->ctx) == 0) (void)unlink(c->path);
  for (int i = 0; i < c->count; i++) empty(&c->item[i]);
  base_free(c->item);
  base_free(c->path);
  base_free(c->header);
  lapis_ctx_free(c->own);
  (void)pthread_mutex_destroy(&c->lock);
  base_free(c);
}
