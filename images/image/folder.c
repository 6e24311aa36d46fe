/* folder.c - which files a folder of images holds, and the folders in it; which
 * class an image is of by its folder. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "files/io.h"
#include "lapis/images.h"

enum { DEEPEST = 16 }; /* folders in folders */

typedef struct list {
  lapis_ctx *ctx;
  char **path; /* base_alloc'd, each too */
  int64_t count, room, bytes;
} list;

/* Also images we do not read: better refused by name than left out. */
static const char *const others = ".gif .webp .tif .tiff .bmp .heic .avif .jp2";

static bool ends_with_one_of(const char *name, const char *endings)
{
  const char *dot = strrchr(name, '.');
  if (dot == NULL || dot == name) return false;
  size_t length = strlen(dot);
  for (const char *at = endings; *at != '\0';) {
    size_t n = strcspn(at, " ");
    if (n == length && strncasecmp(at, dot, n) == 0) return true;
    at += n + (at[n] == ' ');
  }
  return false;
}

static bool is_image_name(const char *name)
{
  if (name[0] == '.') return false;
  for (int i = 0; lapis_image_format_at(i) != NULL; i++)
    if (ends_with_one_of(name, lapis_image_format_at(i)->endings)) return true;
  return ends_with_one_of(name, others);
}

static lapis_status add(list *l, const char *folder, const char *name)
{
  size_t length = strlen(folder);
  bool slash = length > 0 && folder[length - 1] != '/';
  size_t size = length + slash + strlen(name) + 1;
  if (l->count == l->room) {
    void *p = l->path;
    int64_t room = l->room == 0 ? 64 : 2 * l->room;
    TRY(base_grow(l->ctx, &p, l->count, room, sizeof *l->path));
    l->path = p;
    l->room = room;
  }
  char *path = base_alloc(l->ctx, (int64_t)size, 1);
  if (path == NULL) return LAPIS_ENOMEM;
  (void)snprintf(path, size, "%s%s%s", folder, slash ? "/" : "", name);
  l->path[l->count++] = path;
  l->bytes += (int64_t)size;
  return LAPIS_OK;
}

static bool is_folder(const char *path)
{
  struct stat st;
  return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* A folder inside another, which is not behind a link: no way leads around. */
static bool is_inside(const char *path)
{
  struct stat st;
  return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int by_bytes(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The last path, which is no image. */
static char *take_back(list *l)
{
  char *last = l->path[--l->count];
  l->bytes -= (int64_t)strlen(last) + 1;
  return last;
}

static lapis_status add_tree(list *l, const char *folder, int depth);

static lapis_status add_entries(list *l, const char *folder, DIR *d, int depth)
{
  for (struct dirent *e; (e = readdir(d)) != NULL;) {
    if (e->d_name[0] == '.') continue;
    TRY(add(l, folder, e->d_name));
    const char *last = l->path[l->count - 1];
    if (!is_folder(last) && is_image_name(e->d_name)) continue;
    char *path = take_back(l);
    lapis_status s = is_inside(path) && depth < DEEPEST
                         ? add_tree(l, path, depth + 1)
                         : LAPIS_OK;
    base_free(path);
    TRY(s);
  }
  return LAPIS_OK;
}

static lapis_status add_tree(list *l, const char *folder, int depth)
{
  DIR *d = opendir(folder);
  if (d == NULL) return io_fail_errno(l->ctx, folder, "cannot be read");
  lapis_status s = add_entries(l, folder, d, depth);
  (void)closedir(d);
  return s;
}

static lapis_status add_folder(list *l, const char *folder)
{
  int64_t first = l->count;
  TRY(add_tree(l, folder, 0));
  if (l->count == first)
    return lapis_fail(
        l->ctx, LAPIS_EMISSING,
        "%s: holds no images; files whose names end in .png, .jpg, "
        ".pgm or .ppm are read, in it and in the folders in it",
        folder);
  qsort(l->path + first, (size_t)(l->count - first), sizeof *l->path, by_bytes);
  return LAPIS_OK;
}

static lapis_status into_array(const list *l, lapis_array *out)
{
  char *pool;
  TRY(io_text_array(l->ctx, 1, l->count, l->bytes, out, &pool));
  const char **text = out->mat.val;
  for (int64_t i = 0; i < l->count; i++) {
    size_t size = strlen(l->path[i]) + 1;
    memcpy(pool, l->path[i], size);
    text[i] = pool;
    pool += size;
  }
  return LAPIS_OK;
}

lapis_status lapis_image_list(lapis_ctx *ctx, const char *const *words,
                              int64_t count, lapis_array *out)
{
  MAKES(out);
  NEEDS(ctx, words, out);
  list l = {.ctx = ctx};
  lapis_status s = LAPIS_OK;
  for (int64_t i = 0; s >= 0 && i < count; i++)
    s = is_folder(words[i]) ? add_folder(&l, words[i]) : add(&l, "", words[i]);
  if (s >= 0) s = into_array(&l, out);
  for (int64_t i = 0; i < l.count; i++) base_free(l.path[i]);
  base_free(l.path);
  return s;
}

/* ---- classes ------------------------------------------------------------*/
/* Bytes of the folder that holds all images, with the slash behind it. */
static size_t common_folder(const char *const *path, int64_t count)
{
  size_t common = strlen(path[0]);
  for (int64_t i = 1; i < count; i++) {
    size_t k = 0;
    while (k < common && path[i][k] == path[0][k]) k++;
    common = k;
  }
  while (common > 0 && path[0][common - 1] != '/') common--;
  return common;
}

/* The class of a path behind that folder: "" where it is asked. */
static size_t class_in_path(const char *rest)
{
  static const char *const asked[] = {"unknown", "unlabelled", "unlabeled"};
  const char *slash = strchr(rest, '/');
  size_t size = slash == NULL ? 0 : (size_t)(slash - rest);
  for (int k = 0; k < 3; k++)
    if (strlen(asked[k]) == size && strncasecmp(asked[k], rest, size) == 0)
      size = 0;
  return size;
}

lapis_status lapis_image_classes(lapis_ctx *ctx, const char *const *path,
                                 int64_t count, lapis_array *out)
{
  MAKES(out);
  NEEDS(ctx, path, out);
  size_t common = count > 0 ? common_folder(path, count) : 0, bytes = 0;
  char *pool;
  for (int64_t i = 0; i < count; i++) bytes += class_in_path(path[i] + common);
  if (bytes == 0)
    return lapis_fail(ctx, LAPIS_EDATA,
                      "label: --folder-is-class: all images are in one folder, "
                      "%.*s; each class is a folder in it",
                      (int)common, common > 0 ? path[0] : "");
  TRY(io_text_array(ctx, 1, count, (int64_t)bytes + count, out, &pool));
  for (int64_t i = 0; i < count; i++) {
    size_t size = class_in_path(path[i] + common);
    ((const char **)out->mat.val)[i] = memcpy(pool, path[i] + common, size);
    pool[size] = '\0';
    pool += size + 1;
  }
  return LAPIS_OK;
}
