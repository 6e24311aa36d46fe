/* grid.c - grids as typed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "choose/select.h"
#include "lapis/choose.h"
#include "lapis/tools.h"

enum { MAX_VALUES = 1000, ROOM = 40 };

typedef struct range {
  double low, high;
  int64_t count;
} range;

/* ---- "NAME=1,2,3" and "NAME=1:1e-3:10" ----------------------------------*/
static bool is_range(const char *text, range *out)
{
  const char *at;
  char *end;
  if (!lapis_number_read(text, &at, &out->low) || *at != ':') return false;
  if (!lapis_number_read(at + 1, &at, &out->high) || *at != ':') return false;
  out->count = strtol(at + 1, &end, 10);
  return *end == '\0';
}

static int64_t count_values(const char *list)
{
  int64_t n = 1;
  for (; *list != '\0'; list++) n += *list == ',';
  return n;
}

static void fill_range(const char **value, char *room, const range *r)
{
  for (int64_t i = 0; i < r->count; i++, room += ROOM) {
    double share = r->count > 1 ? (double)i / ((double)r->count - 1) : 0;
    lapis_number_print(room, ROOM, "%.6g",
                       r->low * pow(r->high / r->low, share));
    value[i] = room;
  }
}

/* Splits the list where its commas are. */
static void fill_list(const char **value, char *list)
{
  for (int64_t i = 0;; i++) {
    value[i] = list;
    list += strcspn(list, ",");
    if (*list == '\0') return;
    *list++ = '\0';
  }
}

static lapis_status check_range(lapis_ctx *ctx, const char *text,
                                const range *r)
{
  if (r->low > 0 && r->high > 0 && r->count >= 1 && r->count <= MAX_VALUES)
    return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_EINVAL,
                    "--grid '%s': LOW:HIGH:COUNT takes two numbers above 0 and "
                    "1 to %d values",
                    text, MAX_VALUES);
}

/* One block: the grid, pointers to its values, the text they point into. */
static lapis_status parse(lapis_ctx *ctx, const char *text, lapis_grid **out)
{
  const char *equals = strchr(text, '=');
  range r;
  if (equals == NULL || equals == text || equals[1] == '\0')
    return lapis_fail(ctx, LAPIS_EINVAL, "--grid '%s' is not NAME=V,V", text);
  bool ranged = is_range(equals + 1, &r);
  if (ranged) TRY(check_range(ctx, text, &r));
  int64_t count = ranged ? r.count : count_values(equals + 1);
  size_t length = strlen(text) + 1, pointers = (size_t)count * sizeof text;
  size_t room = ranged ? (size_t)count * ROOM : 0;
  lapis_grid *g =
      base_alloc(ctx, (int64_t)(sizeof *g + pointers + length + room), 1);
  if (g == NULL) return LAPIS_ENOMEM;
  const char **value = (const char **)(void *)(g + 1);
  char *own = (char *)(value + count);
  memcpy(own, text, length);
  own[equals - text] = '\0';
  if (ranged)
    fill_range(value, own + length, &r);
  else
    fill_list(value, own + (equals - text) + 1);
  *g = (lapis_grid){.name = own, .count = (int)count, .value = value};
  *out = g;
  return LAPIS_OK;
}

lapis_status lapis_grid_new(lapis_ctx *ctx, const char *text, lapis_grid **out)
{
  MAKES(out);
  NEEDS(ctx, text, out);
  return parse(ctx, text, out);
}

void lapis_grid_free(lapis_grid *grid)
{
  base_free(grid);
}
