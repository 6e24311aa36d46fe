/* box_table.c - boxes from a table: name,x,y,width,height[,score], and
 * under a title doubtful, as locate writes it. */
#include "images/image/place_table.h"
#include "images/places/places.h"

static const place_form boxes = {
    .noun = "box",
    .nouns = "boxes",
    .title = "name,x,y,width,height[,score]",
    .rows = "name,x,y,width,height or name,x,y,width,height,score",
    .column = {"x", "y", "width", "height", "score"},
    .positive = {false, false, true, true},
    .needed = 4,
    .most = 5,
    .beside = "doubtful"};

/* The names go from one to the other. */
static lapis_status take_boxes(lapis_ctx *ctx, place_table *from,
                               box_table *out)
{
  out->name = base_alloc(ctx, from->count, sizeof *out->name);
  out->box = base_alloc(ctx, from->count, sizeof *out->box);
  out->line = base_alloc(ctx, from->count, sizeof *out->line);
  if (out->name == NULL || out->box == NULL || out->line == NULL)
    return LAPIS_ENOMEM;
  for (; out->count < from->count; out->count++) {
    place_row *r = &from->row[out->count];
    out->name[out->count] = r->name;
    out->box[out->count] = (lapis_box){r->number[0], r->number[1], r->number[2],
                                       r->number[3], r->number[4]};
    out->line[out->count] = r->line;
    r->name = NULL;
  }
  return LAPIS_OK;
}

lapis_status boxes_read(lapis_ctx *ctx, const char *path, box_table *out)
{
  MAKES(out);
  NEEDS(ctx, path, out);
  place_table all;
  TRY(places_read(ctx, path, &boxes, &all));
  lapis_status status = take_boxes(ctx, &all, out);
  places_free(&all);
  if (status < 0) boxes_free(out);
  return status;
}

void boxes_free(box_table *table)
{
  if (table == NULL) return;
  for (int64_t i = 0; i < table->count; i++) base_free(table->name[i]);
  base_free(table->name), base_free(table->box), base_free(table->line);
  *table = (box_table){0};
}
