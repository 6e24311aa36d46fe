/* segments.c - from labels of pixels to connected segments and their graph.
 *
 * Segments are the pieces in which pixels of one label touch by a side.  One
 * that is too small joins the neighbour with the longest common border, the
 * smallest pieces first; a piece that has grown enough that way stays. */
#include <stdlib.h>
#include <string.h>

#include "images/image/image.h"
#include "images/places/places.h"
#include "lapis/files.h"

typedef struct border {
  int32_t a, b; /* pieces */
  int64_t sides;
} border;
typedef struct pieces {
  lapis_ctx *ctx;
  int64_t width, height, count;
  int32_t *of;          /* height x width */
  int32_t *queue;       /* height x width */
  int64_t *pixels;      /* count */
  int32_t *link, *tail; /* count: the members of a joined piece, a list */
  int32_t *joined;      /* count: parent in the forest of joined pieces */
  border *border;
  int64_t borders;
} pieces;

static const int64_t most_pixels = (int64_t)1 << 30;

/* ---- pieces -------------------------------------------------------------*/
static void flood(pieces *p, const int32_t *label, int64_t from)
{
  int64_t head = 0, tail = 0, w = p->width;
  p->of[from] = (int32_t)p->count;
  p->queue[tail++] = (int32_t)from;
  while (head < tail) {
    int64_t at = p->queue[head++], x = at % w, y = at / w;
    int64_t next[4] = {x > 0 ? at - 1 : -1, x + 1 < w ? at + 1 : -1,
                       y > 0 ? at - w : -1, y + 1 < p->height ? at + w : -1};
    for (int i = 0; i < 4; i++) {
      if (next[i] < 0 || p->of[next[i]] >= 0 || label[next[i]] != label[at])
        continue;
      p->of[next[i]] = (int32_t)p->count;
      p->queue[tail++] = (int32_t)next[i];
    }
  }
  p->count++;
}

static int by_pair(const void *a, const void *b)
{
  const border *p = a, *q = b;
  if (p->a != q->a) return p->a < q->a ? -1 : 1;
  return (p->b > q->b) - (p->b < q->b);
}

/* Sorted pairs of pieces, each both ways, with the sides they share. */
static void count_borders(pieces *p)
{
  qsort(p->border, (size_t)p->borders, sizeof *p->border, by_pair);
  int64_t used = 0;
  for (int64_t k = 0; k < p->borders; k++)
    if (used > 0 && by_pair(&p->border[used - 1], &p->border[k]) == 0)
      p->border[used - 1].sides += p->border[k].sides;
    else
      p->border[used++] = p->border[k];
  p->borders = used;
}

static void add_border(pieces *p, int64_t at, int64_t other)
{
  int32_t a = p->of[at], b = p->of[other];
  if (a == b) return;
  if (p->border != NULL) {
    p->border[p->borders] = (border){a, b, 1};
    p->border[p->borders + 1] = (border){b, a, 1};
  }
  p->borders += 2;
}

static lapis_status find_borders(pieces *p)
{
  for (int pass = 0; pass < 2; pass++) { /* count, then fill */
    p->borders = 0;
    for (int64_t y = 0; y < p->height; y++)
      for (int64_t x = 0; x < p->width; x++) {
        int64_t at = y * p->width + x;
        if (x + 1 < p->width) add_border(p, at, at + 1);
        if (y + 1 < p->height) add_border(p, at, at + p->width);
      }
    if (pass == 1) break;
    p->border = base_alloc_raw(p->ctx, p->borders, sizeof *p->border);
    if (p->border == NULL) return LAPIS_ENOMEM;
  }
  count_borders(p);
  return LAPIS_OK;
}

static lapis_status find_pieces(pieces *p, const int32_t *label)
{
  int64_t n = p->width * p->height;
  p->of = base_alloc_raw(p->ctx, n, sizeof *p->of);
  p->queue = base_alloc_raw(p->ctx, n, sizeof *p->queue);
  if (p->of == NULL || p->queue == NULL) return LAPIS_ENOMEM;
  for (int64_t k = 0; k < n; k++) p->of[k] = -1;
  for (int64_t k = 0; k < n; k++)
    if (p->of[k] < 0) flood(p, label, k);
  p->pixels = base_alloc(p->ctx, p->count, sizeof *p->pixels);
  p->joined = base_alloc(p->ctx, p->count, sizeof *p->joined);
  p->link = base_alloc(p->ctx, p->count, sizeof *p->link);
  p->tail = base_alloc(p->ctx, p->count, sizeof *p->tail);
  if (!(p->pixels && p->joined && p->link && p->tail)) return LAPIS_ENOMEM;
  for (int64_t k = 0; k < n; k++) p->pixels[p->of[k]]++;
  for (int64_t s = 0; s < p->count; s++) {
    p->joined[s] = p->tail[s] = (int32_t)s;
    p->link[s] = -1;
  }
  return find_borders(p);
}

/* ---- joining what is too small --------------------------------------------*/
static int32_t find_joined(pieces *p, int32_t s)
{
  while (p->joined[s] != s) s = p->joined[s] = p->joined[p->joined[s]];
  return s;
}

typedef struct small_piece {
  int64_t pixels;
  int32_t piece;
} small_piece;
static int by_size(const void *a, const void *b)
{
  const small_piece *p = a, *q = b;
  if (p->pixels != q->pixels) return p->pixels < q->pixels ? -1 : 1;
  return (p->piece > q->piece) - (p->piece < q->piece);
}

/* The neighbour of the joined piece s with the longest border; -1: none.
 * total: count zeros, given back as such. */
static int32_t longest_border(pieces *p, int32_t s, const int64_t *first,
                              int64_t *total)
{
  int32_t best = -1;
  for (int32_t m = s; m >= 0; m = p->link[m])
    for (int64_t k = first[m]; k < first[m + 1]; k++) {
      int32_t other = find_joined(p, p->border[k].b);
      if (other == s) continue;
      total[other] += p->border[k].sides;
      if (best < 0 || total[other] > total[best] ||
          (total[other] == total[best] && other < best))
        best = other;
    }
  for (int32_t m = s; m >= 0; m = p->link[m])
    for (int64_t k = first[m]; k < first[m + 1]; k++)
      total[find_joined(p, p->border[k].b)] = 0;
  return best;
}

static void join(pieces *p, int32_t from, int32_t into)
{
  p->joined[from] = into;
  p->pixels[into] += p->pixels[from];
  p->link[p->tail[into]] = from;
  p->tail[into] = p->tail[from];
}

static void join_in_order(pieces *p, int64_t least, small_piece *small,
                          int64_t *first, int64_t *total)
{
  int64_t n = 0;
  for (int64_t k = 0; k < p->borders; k++) first[p->border[k].a + 1]++;
  for (int64_t s = 0; s < p->count; s++) {
    first[s + 1] += first[s];
    if (p->pixels[s] < least)
      small[n++] = (small_piece){p->pixels[s], (int32_t)s};
  }
  qsort(small, (size_t)n, sizeof *small, by_size);
  for (int64_t k = 0; k < n; k++) {
    int32_t s = find_joined(p, small[k].piece);
    if (p->pixels[s] >= least) continue;
    int32_t into = longest_border(p, s, first, total);
    if (into >= 0) join(p, s, into);
  }
}

static lapis_status join_small(pieces *p, int64_t least)
{
  small_piece *small = base_alloc(p->ctx, p->count, sizeof *small);
  int64_t *first = base_alloc(p->ctx, p->count + 1, sizeof *first);
  int64_t *total = base_alloc(p->ctx, p->count, sizeof *total);
  bool made = small != NULL && first != NULL && total != NULL;
  if (made) join_in_order(p, least, small, first, total);
  base_free(small), base_free(first), base_free(total);
  return made ? LAPIS_OK : LAPIS_ENOMEM;
}

/* ---- what is handed over --------------------------------------------------*/
/* Pieces that were joined get one number, in reading order. */
static int64_t renumber(pieces *p, int32_t *number, lapis_segments *out)
{
  int32_t n = 0;
  for (int64_t s = 0; s < p->count; s++) number[s] = -1;
  for (int64_t k = 0; k < p->width * p->height; k++) {
    int32_t s = find_joined(p, p->of[k]);
    if (number[s] < 0) number[s] = n++;
    out->label[k] = number[s];
  }
  for (int64_t k = 0; k < p->borders; k++) {
    p->border[k].a = number[find_joined(p, p->border[k].a)];
    p->border[k].b = number[find_joined(p, p->border[k].b)];
  }
  count_borders(p);
  return n;
}

static lapis_status make_graph(const pieces *p, int64_t n, lapis_segments *out)
{
  int64_t *start = base_alloc(p->ctx, n + 1, sizeof *start);
  int32_t *next = base_alloc(p->ctx, p->borders, sizeof *next);
  out->graph = (lapis_graph){n, start, next};
  out->pixels = base_alloc(p->ctx, n, sizeof *out->pixels);
  if (start == NULL || next == NULL || out->pixels == NULL) return LAPIS_ENOMEM;
  int64_t used = 0;
  for (int64_t k = 0; k < p->borders; k++) {
    if (p->border[k].a == p->border[k].b) continue;
    next[used++] = p->border[k].b;
    start[p->border[k].a + 1] = used;
  }
  for (int64_t s = 0; s < n; s++) /* segments without neighbours */
    if (start[s + 1] < start[s]) start[s + 1] = start[s];
  for (int64_t k = 0; k < p->width * p->height; k++)
    out->pixels[out->label[k]]++;
  return LAPIS_OK;
}

static lapis_status make_segments(pieces *p, const int32_t *label,
                                  int64_t least, lapis_segments *out)
{
  TRY(find_pieces(p, label));
  TRY(join_small(p, least));
  out->width = p->width, out->height = p->height;
  out->label = base_alloc_raw(p->ctx, p->width * p->height, sizeof *out->label);
  int32_t *number = base_alloc(p->ctx, p->count, sizeof *number);
  lapis_status status = LAPIS_ENOMEM;
  if (out->label != NULL && number != NULL)
    status = make_graph(p, renumber(p, number, out), out);
  base_free(number);
  return status;
}

lapis_status segments_of_labels(lapis_ctx *ctx, const int32_t *label,
                                int64_t width, int64_t height, int64_t least,
                                lapis_segments *out)
{
  MAKES(out);
  NEEDS(ctx, label, out);
  if (width < 1 || height < 1 || width > most_pixels / height)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "segments: %" PRId64 " x %" PRId64
                      " pixels; at least one is needed, and at most %" PRId64,
                      width, height, most_pixels);
  pieces p = {.ctx = ctx, .width = width, .height = height};
  lapis_status status = make_segments(&p, label, least, out);
  base_free(p.of), base_free(p.queue), base_free(p.pixels);
  base_free(p.joined), base_free(p.border);
  base_free(p.link), base_free(p.tail);
  if (status < 0) lapis_segments_free(out);
  return status;
}

void lapis_segments_free(lapis_segments *s)
{
  if (s == NULL) return;
  base_free(s->label), base_free(s->pixels);
  base_free((void *)s->graph.start);
  base_free((void *)s->graph.neighbour);
  *s = (lapis_segments){0};
}

/* ---- files --------------------------------------------------------------*/
static lapis_status labels_of_image(lapis_ctx *ctx, const lapis_image *image,
                                    int64_t least, lapis_segments *out)
{
  int64_t n = image->width * image->height;
  int32_t *label = base_alloc(ctx, n, sizeof *label);
  if (label == NULL) return LAPIS_ENOMEM;
  for (int64_t k = 0; k < n; k++)
    for (int64_t c = 0; c < image->channels; c++)
      label[k] = label[k] * 256 +
                 (int32_t)(255 * image->pixels[k * image->channels + c] + 0.5F);
  lapis_status status =
      segments_of_labels(ctx, label, image->width, image->height, least, out);
  base_free(label);
  return status;
}

/* A row of an image is a column of the view. */
static lapis_status labels_of_matrix(lapis_ctx *ctx, const char *path,
                                     const lapis_array *a, int64_t least,
                                     lapis_segments *out)
{
  const lapis_mat *A = &a->mat;
  if (a->axes != 2 || A->colptr != NULL ||
      (A->dtype != LAPIS_I64 && A->dtype != LAPIS_U8))
    return lapis_fail(ctx, LAPIS_EFORMAT,
                      "%s: holds %d axes of %s; segments are whole numbers of "
                      "shape (height, width)",
                      path, a->axes, a->stored);
  int32_t *label = base_alloc(ctx, A->rows * A->cols, sizeof *label);
  if (label == NULL) return LAPIS_ENOMEM;
  lapis_status status = LAPIS_OK;
  for (int64_t y = 0; y < A->cols && status == LAPIS_OK; y++)
    for (int64_t x = 0; x < A->rows; x++) {
      double v = lapis_mat_at(A, x, y);
      if (v < INT32_MIN || v > INT32_MAX)
        status = lapis_fail(ctx, LAPIS_EDATA,
                            "%s: row %" PRId64 ", column %" PRId64
                            ": label %.0f does not fit into 32 bits",
                            path, y + 1, x + 1, v);
      if (status < 0) break;
      label[y * A->rows + x] = (int32_t)v;
    }
  if (status == LAPIS_OK)
    status = segments_of_labels(ctx, label, A->rows, A->cols, least, out);
  base_free(label);
  return status;
}

static bool ends_with_npy(const char *path)
{
  size_t n = strlen(path);
  return n >= 4 && strcmp(path + n - 4, ".npy") == 0;
}

lapis_status lapis_segments_read(lapis_ctx *ctx, const char *path,
                                 int64_t least, lapis_segments *out)
{
  MAKES(out);
  NEEDS(ctx, path, out);
  if (!ends_with_npy(path)) {
    lapis_image image;
    TRY(lapis_image_read(ctx, path, &image));
    lapis_status status = labels_of_image(ctx, &image, least, out);
    lapis_image_free(&image);
    return status;
  }
  lapis_arrays all;
  TRY(lapis_arrays_read(ctx, path, &all));
  lapis_status status =
      all.count == 1
          ? labels_of_matrix(ctx, path, &all.item[0], least, out)
          : lapis_fail(ctx, LAPIS_EFORMAT, "%s: holds no array", path);
  lapis_arrays_free(&all);
  return status;
}
