/* cache.c - what was made of an image, kept by its content.
 *
 *   CACHE/KIND-KEY/CONTENT.npz   one image: its columns of every array
 *   CACHE/KIND-KEY.npz           what was learnt from a set of images
 *
 * KEY is a hash of everything but the image that decides what is made: version,
 * kind, settings, seed, and what was learnt.  CONTENT is a hash of the file's
 * bytes, so that a renamed image is found again and a changed one is not.  A
 * file that cannot be read, or is not what was written, is made again, and that
 * is said; a cache that cannot be written is a warning, for the answer does not
 * need it, and so is one that others can write to: it is not used. */
#include "images/features/cache.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "files/io.h"
#include "images/features/how_made.h"
#include "parallel/plugin.h"

enum { KEY_TEXT = 8192, PATH_TEXT = 4096 };

/* ---- names --------------------------------------------------------------*/
/* Version, kind, seed and settings, but for the names of files. */
static uint64_t hash_settings(const feature_job *j)
{
  const lapis_method *m = &j->kind->shown;
  char text[KEY_TEXT], value[1024];
  size_t used =
      (size_t)snprintf(text, sizeof text, "%s %s %" PRIu64, lapis_version(),
                       m->name, base_seed(j->base.ctx));
  if (j->given != 0)
    used += (size_t)snprintf(text + used, sizeof text - used,
                             " given %016" PRIx64, j->given);
  if (j->kind->edition > 0)
    used += (size_t)snprintf(text + used, sizeof text - used, " edition %d",
                             j->kind->edition);
  for (int i = 0; i < m->n_params && used < sizeof text; i++) {
    if (made_names_file(&m->params[i])) continue;
    if (lapis_settings_get(NULL, m, j->settings, m->params[i].name, value,
                           sizeof value) < 0)
      value[0] = '\0';
    used += (size_t)snprintf(text + used, sizeof text - used, " %s=%s",
                             m->params[i].name, value);
  }
  return image_hash(text, used < sizeof text ? (int64_t)used : KEY_TEXT, 1);
}

static bool make_folder(const char *path)
{
  return mkdir(path, 0700) == 0 || errno == EEXIST;
}

static bool is_refused(feature_job *j, const char *path)
{
  if (!io_exists(path) || base_is_ours(path)) return false;
  base_say(j->base.ctx, 0,
           "%s: %s: others can write to this folder or to one above it, so it "
           "is not used as a cache (chmod go-w)",
           j->kind->shown.name, path);
  j->cache = NULL;
  return true;
}

/* CACHE and the folders above it. */
static bool make_folders(const char *path)
{
  char part[PATH_TEXT];
  size_t size = strlen(path);
  if (size == 0 || size >= sizeof part) return false;
  for (size_t i = 1; i <= size; i++) {
    if (path[i] != '/' && path[i] != '\0') continue;
    memcpy(part, path, i);
    part[i] = '\0';
    if (!make_folder(part)) return false;
  }
  return true;
}

static void give_up(feature_job *j, const char *path)
{
  base_say(j->base.ctx, 0,
           "%s: %s: cannot be written (%s); nothing is kept for the next run",
           j->kind->shown.name, path, strerror(errno));
  j->cache = NULL;
}

void cache_open(feature_job *j)
{
  char path[PATH_TEXT];
  uint64_t key[2] = {hash_settings(j), 0};
  if (j->cache == NULL || is_refused(j, j->cache)) return;
  if (j->kind->learnt != NULL) key[1] = j->kind->learnt(j);
  snprintf(path, sizeof path, "%s/%s-%016" PRIx64, j->cache,
           j->kind->shown.name, image_hash(key, sizeof key, 1));
  if (!make_folders(path)) {
    give_up(j, path);
    return;
  }
  if (is_refused(j, path)) return;
  base_free(j->shelf);
  j->shelf = base_strdup(NULL, path);
}

/* ---- what was learnt ----------------------------------------------------*/
/* Of the images that are learnt from, in their order; false: some cannot be
 * read, and the run will say so. */
static bool learnt_path(const feature_job *j, char *path, size_t size)
{
  uint64_t *id = base_alloc(NULL, 2 * j->count + 1, sizeof *id);
  int64_t n = 0;
  bool fine = id != NULL;
  if (fine) id[n++] = hash_settings(j);
  for (int64_t i = 0; fine && i < j->count; i++) {
    if (j->studied != NULL && !j->studied[i]) continue;
    fine = image_content(j->own[0], j->path[i], id + n) >= 0;
    n += 2;
  }
  if (fine)
    snprintf(path, size, "%s/%s-%016" PRIx64 ".npz", j->cache,
             j->kind->shown.name, image_hash(id, n * (int64_t)sizeof *id, 1));
  base_free(id);
  return fine;
}

bool cache_recall(feature_job *j)
{
  char path[PATH_TEXT];
  if (j->cache == NULL || j->kind->recall == NULL || is_refused(j, j->cache) ||
      !learnt_path(j, path, sizeof path) || !io_exists(path))
    return false;
  if (j->kind->recall(j, path) >= 0) return true;
  base_say(j->base.ctx, 0, "%s: %s: is damaged; its words are learnt again",
           j->kind->shown.name, path);
  return false;
}

void cache_keep_learnt(feature_job *j)
{
  char path[PATH_TEXT];
  if (j->cache == NULL || j->kind->keep == NULL) return;
  if (!make_folders(j->cache)) {
    give_up(j, j->cache);
    return;
  }
  if (learnt_path(j, path, sizeof path)) (void)j->kind->keep(j, path);
}

/* ---- images -------------------------------------------------------------*/
static const char *const item_name[FEATURE_ARRAYS] = {"a0", "a1", "a2", "a3"};

static bool shelf_path(const feature_job *j, lapis_ctx *ctx, int64_t index,
                       char *path, size_t size)
{
  uint64_t id[2];
  if (j->shelf == NULL || image_content(ctx, j->path[index], id) < 0)
    return false;
  snprintf(path, size, "%s/%016" PRIx64 "%016" PRIx64 ".npz", j->shelf, id[0],
           id[1]);
  return true;
}

static size_t bytes_of(const lapis_mat *m)
{
  size_t entry = m->dtype == LAPIS_F32 ? sizeof(float) : sizeof(double);
  return (size_t)(m->rows * m->cols) * entry;
}

/* A copy in memory that the job owns. */
static bool copy_item(lapis_ctx *ctx, const lapis_mat *from, lapis_mat *to)
{
  bool known = from->dtype == LAPIS_F32 || from->dtype == LAPIS_F64 ||
               from->dtype == LAPIS_I64;
  if (!known || from->colptr != NULL || from->ld != from->rows) return false;
  void *val = base_alloc_raw(ctx, (int64_t)bytes_of(from), 1);
  if (val == NULL) return false;
  if (bytes_of(from) > 0) memcpy(val, from->val, bytes_of(from));
  *to = *from;
  to->val = val;
  return true;
}

static bool take_members(const feature_job *j, lapis_ctx *ctx,
                         const lapis_arrays *all, feature_slot *slot)
{
  const lapis_array *size = lapis_arrays_find(all, "image_size");
  if (size == NULL || size->mat.dtype != LAPIS_I64 ||
      size->mat.rows * size->mat.cols != 2)
    return false;
  slot->width = ((const int64_t *)size->mat.val)[0];
  slot->height = ((const int64_t *)size->mat.val)[1];
  if (slot->width < 1 || slot->width > LAPIS_IMAGE_MAX_SIDE ||
      slot->height < 1 || slot->height > LAPIS_IMAGE_MAX_SIDE)
    return false;
  for (int k = 0; k < FEATURE_ARRAYS && j->kind->array[k].name != NULL; k++) {
    const lapis_array *a = lapis_arrays_find(all, item_name[k]);
    if (a == NULL || !copy_item(ctx, &a->mat, &slot->piece.item[k]))
      return false;
  }
  return j->kind->fits(j, slot);
}

bool cache_take(const feature_job *j, lapis_ctx *ctx, int64_t index,
                feature_slot *slot)
{
  char path[PATH_TEXT];
  lapis_arrays all;
  if (!shelf_path(j, ctx, index, path, sizeof path) || !io_exists(path))
    return false;
  slot->damaged = true;
  if (lapis_arrays_read(ctx, path, &all) < 0) return false;
  bool fine = take_members(j, ctx, &all, slot);
  lapis_arrays_free(&all);
  if (!fine) feature_piece_free(&slot->piece);
  slot->damaged = !fine;
  return fine;
}

void cache_say_damaged(const feature_job *j)
{
  int64_t count = 0;
  for (int64_t i = 0; i < j->count; i++) count += j->slot[i].damaged;
  if (count > 0 && j->cache != NULL)
    base_say(j->base.ctx, 0,
             "%s: what %s kept of %" PRId64 " image%s was damaged, and has "
             "been made again",
             j->kind->shown.name, j->cache, count, count == 1 ? "" : "s");
}

void cache_put(const feature_job *j, lapis_ctx *ctx, int64_t index,
               const feature_slot *slot)
{
  char path[PATH_TEXT];
  lapis_named item[FEATURE_ARRAYS + 1];
  int64_t size[2] = {slot->width, slot->height};
  int n = 0;
  if (!shelf_path(j, ctx, index, path, sizeof path)) return;
  item[n++] =
      (lapis_named){.name = "image_size", .mat = lapis_mat_i64(size, 2, 1)};
  for (int k = 0; k < FEATURE_ARRAYS && j->kind->array[k].name != NULL; k++)
    item[n++] = (lapis_named){.name = item_name[k], .mat = slot->piece.item[k]};
  (void)io_npz_write(ctx, path, item, n);
}
