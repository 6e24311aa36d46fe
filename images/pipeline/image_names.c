/* image_names.c - images by the names that people write for them. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "pipeline.h"

static const char *base_of(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash == NULL ? path : slash + 1;
}

static size_t stem_of(const char *base)
{
  const char *dot = strrchr(base, '.');
  return dot == NULL || dot == base ? strlen(base) : (size_t)(dot - base);
}

static int compare_stems(const char *a, size_t n, const char *b, size_t m)
{
  int order = memcmp(a, b, n < m ? n : m);
  return order != 0 ? order : (n > m) - (n < m);
}

static int by_stem(const void *a, const void *b)
{
  const image_entry *x = a, *y = b;
  int order = compare_stems(x->base, x->stem, y->base, y->stem);
  return order != 0 ? order : (x->image > y->image) - (x->image < y->image);
}

lapis_status index_new(lapis_ctx *ctx, const char *const *path, int64_t n,
                       image_index *out)
{
  *out = (image_index){.n = n, .path = path};
  out->entry = calloc((size_t)n + 1, sizeof *out->entry);
  if (out->entry == NULL) return lapis_fail(ctx, LAPIS_ENOMEM, "out of memory");
  for (int64_t i = 0; i < n; i++) {
    const char *base = base_of(path[i]);
    out->entry[i] = (image_entry){base, stem_of(base), i};
  }
  qsort(out->entry, (size_t)n, sizeof *out->entry, by_stem);
  return LAPIS_OK;
}

void index_free(image_index *x)
{
  free(x->entry);
  *x = (image_index){.n = 0};
}

/* The first entry whose stem is not less. */
static int64_t lower(const image_index *x, const char *stem, size_t size)
{
  int64_t low = 0, high = x->n;
  while (low < high) {
    int64_t mid = low + (high - low) / 2;
    const image_entry *e = &x->entry[mid];
    if (compare_stems(e->base, e->stem, stem, size) < 0)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

/* path is written, or ends in '/' and written, up to its ending where that is
 * left out (bare). */
static bool ends_as(const char *path, const char *written, bool bare)
{
  size_t n = strlen(path), m = strlen(written);
  if (bare) n = (size_t)(base_of(path) - path) + stem_of(base_of(path));
  if (m > n || memcmp(path + n - m, written, m) != 0) return false;
  return m == n || path[n - m - 1] == '/';
}

typedef struct hits {
  int64_t count, first, second;
} hits;

static void add_hit(hits *found, int64_t image)
{
  if (found->count == 0) found->first = image;
  if (found->count == 1) found->second = image;
  found->count++;
}

/* Images of this stem.  near: whose folders, too, are as written; all: whose
 * file names are. */
static void collect(const image_index *x, const char *written, bool bare,
                    hits *near, hits *all)
{
  const char *base = base_of(written);
  size_t stem = bare ? strlen(base) : stem_of(base);
  for (int64_t k = lower(x, base, stem); k < x->n; k++) {
    const image_entry *e = &x->entry[k];
    if (compare_stems(e->base, e->stem, base, stem) != 0) break;
    if (!bare && strcmp(e->base, base) != 0) continue;
    add_hit(all, e->image);
    if (ends_as(x->path[e->image], written, bare)) add_hit(near, e->image);
  }
}

/* Letters with marks may be one code point here and two there. */
static void collect_apart(const image_index *x, const char *written, hits *all)
{
  char asked[4096], path[4096];
  if (!letters_apart(written, asked, sizeof asked)) return;
  for (int bare = 0; bare < 2 && all->count == 0; bare++)
    for (int64_t i = 0; i < x->n; i++)
      if (letters_apart(x->path[i], path, sizeof path) &&
          ends_as(path, asked, bare))
        add_hit(all, i);
}

const char *index_near(const image_index *x, const char *written)
{
  const char *base = base_of(written), *slash = strrchr(base, '\\');
  if (slash != NULL) base = slash + 1;
  for (int64_t k = 0; k < x->n; k++)
    if (strcasecmp(x->entry[k].base, base) == 0) return x->entry[k].base;
  return NULL;
}

int64_t index_find(const image_index *x, const char *written, int64_t found[2])
{
  hits near = {0}, all = {0};
  char path[4096]; /* as Windows writes it, with \ for / */
  if (*written == '\0') return 0;
  collect(x, written, false, &near, &all);
  if (all.count == 0) collect(x, written, true, &near, &all);
  if (all.count == 0 && strchr(written, '\\') != NULL &&
      strlen(written) < sizeof path) {
    strcpy(path, written);
    for (char *at = path; (at = strchr(at, '\\')) != NULL;) *at = '/';
    collect(x, path, false, &near, &all);
    if (all.count == 0) collect(x, path, true, &near, &all);
  }
  if (all.count == 0) collect_apart(x, written, &all);
  const hits *list = near.count > 0 ? &near : &all;
  found[0] = list->first;
  found[1] = list->second;
  return list->count;
}
