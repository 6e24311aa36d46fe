/* box_source.c - boxes of an image: those of a table, cut to it, or those that
 * are proposed. */
#include "images/features/box_source.h"

#include <math.h>

#include "images/image/place_table.h"

static void warn_unknown(const feature_job *j, const box_table *t)
{
  int64_t unknown = 0, first = -1;
  for (int64_t b = 0; b < t->count; b++) {
    int64_t i = 0;
    while (i < j->count && !place_names_path(t->name[b], j->path[i])) i++;
    if (i == j->count && unknown++ == 0) first = b;
  }
  if (unknown > 0)
    base_say(j->base.ctx, 0,
             "%" PRId64 " row(s) of boxes of none of the images ('%s' is the "
             "first)",
             unknown, t->name[first]);
}

lapis_status box_source_open(feature_job *j, const char *boxes,
                             int64_t candidates, box_source *out)
{
  *out = (box_source){.boxes = boxes, .candidates = candidates};
  if (boxes == NULL) return LAPIS_OK;
  TRY(boxes_read(j->base.ctx, boxes, &out->table));
  warn_unknown(j, &out->table);
  j->cache = NULL;
  return LAPIS_OK;
}

void box_source_close(box_source *s)
{
  boxes_free(&s->table);
}

/* In whole pixels, cut to the image; whether it reached beyond. */
static bool cut_box(const lapis_box *box, int64_t width, int64_t height,
                    lapis_box *out)
{
  double left = round(box->x), right = round(box->x + box->width);
  double top = round(box->y), below = round(box->y + box->height);
  double w = (double)width, h = (double)height;
  double x0 = fmax(0, left), x1 = fmin(w, right);
  double y0 = fmax(0, top), y1 = fmin(h, below);
  *out = (lapis_box){x0, y0, x1 - x0, y1 - y0, box->score};
  return left < 0 || top < 0 || right > w || below > h;
}

/* Boxes of the table, cut to the image; their number, or a failure. */
static lapis_status take_given(const feature_job *j, const feature_view *v,
                               const box_source *s, lapis_box *to,
                               int64_t *count)
{
  int64_t w = v->image->width, h = v->image->height;
  for (int64_t b = 0; b < s->table.count; b++) {
    lapis_box box = s->table.box[b], *out = &to[*count];
    if (!place_names_path(s->table.name[b], j->path[v->index])) continue;
    (void)cut_box(&box, w, h, out);
    if (!(out->width >= 1 && out->height >= 1))
      return lapis_fail(v->ctx, LAPIS_EDATA,
                        "%s:%" PRId64 ": the box %g,%g %gx%g covers none of "
                        "the %" PRId64 " x %" PRId64 " pixels of %s",
                        s->boxes, s->table.line[b], box.x, box.y, box.width,
                        box.height, w, h, j->path[v->index]);
    ++*count;
  }
  if (*count > 0) return LAPIS_OK;
  return lapis_fail(v->ctx, LAPIS_EMISSING, "%s: has no box in %s",
                    j->path[v->index], s->boxes);
}

lapis_status box_source_find(const feature_job *j, const feature_view *v,
                             const box_source *s, lapis_box **out,
                             int64_t *count)
{
  propose_settings propose = propose_defaults();
  int64_t room = s->boxes != NULL ? s->table.count : s->candidates;
  *count = 0;
  *out = base_alloc(v->ctx, room, sizeof **out);
  if (*out == NULL) return LAPIS_ENOMEM;
  if (s->boxes != NULL) return take_given(j, v, s, *out, count);
  TRY(boxes_propose(v->ctx, v->image, &propose, room, *out, count));
  if (*count > 0) return LAPIS_OK;
  return lapis_fail(v->ctx, LAPIS_EDATA,
                    "%s: is too small, at %" PRId64 " x %" PRId64
                    " pixels, for boxes to be proposed",
                    j->path[v->index], v->image->width, v->image->height);
}

/* Boxes of images that are kept which reach beyond them; the line of the first.
 */
static int64_t count_cut(const feature_job *j, const box_table *t,
                         int64_t *line)
{
  int64_t cut = 0;
  for (int64_t b = 0; b < t->count; b++)
    for (int64_t i = 0; i < j->count; i++) {
      const feature_slot *slot = &j->slot[i];
      lapis_box unused;
      if (slot->status >= 0 && place_names_path(t->name[b], j->path[i]) &&
          cut_box(&t->box[b], slot->width, slot->height, &unused) && cut++ == 0)
        *line = t->line[b];
    }
  return cut;
}

void box_source_say_cut(const feature_job *j, const box_source *s)
{
  int64_t line = 0, cut = count_cut(j, &s->table, &line);
  if (cut > 0)
    base_say(j->base.ctx, 0,
             "%" PRId64 " box(es) reach beyond the image and were cut to it; "
             "the first: %s:%" PRId64,
             cut, s->boxes, line);
}

void box_put(const lapis_box *at, double *p)
{
  p[0] = at->x, p[1] = at->y, p[2] = at->width, p[3] = at->height;
  p[4] = at->score;
}

bool box_pieces_fit(const feature_slot *s, int64_t rows)
{
  const lapis_mat *X = &s->piece.item[0], *box = &s->piece.item[1];
  if (!feature_finite(X, LAPIS_F64, rows, -1) || box->dtype != LAPIS_F64 ||
      box->rows != BOX_ROWS || box->cols != X->cols)
    return false;
  for (int64_t b = 0; b < box->cols; b++) { /* the score may be unknown */
    double x = lapis_mat_at(box, 0, b), y = lapis_mat_at(box, 1, b);
    double width = lapis_mat_at(box, 2, b), height = lapis_mat_at(box, 3, b);
    if (isinf(lapis_mat_at(box, 4, b))) return false;
    if (!(x >= 0 && y >= 0 && width >= 1 && height >= 1 &&
          x + width <= (double)s->width && y + height <= (double)s->height))
      return false;
  }
  return true;
}
