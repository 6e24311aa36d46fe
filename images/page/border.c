/* border.c - the border of a group of cells, as a path.
 *
 * A border is walked along the edges of cells with the group on its right, so
 * that holes are walked the other way round and stay empty when the path is
 * filled.  Where cells meet only at a corner the walk turns right: such cells
 * are not neighbours. */
#include "images/page/page.h"

typedef struct walk {
  const mask *m;
  int64_t of_class;
  unsigned char *seen; /* width x height: the upper edge of a cell */
} walk;

/* East, south, west, north. */
static const int step_x[] = {1, 0, -1, 0}, step_y[] = {0, 1, 0, -1};

static bool inside(const walk *w, int64_t x, int64_t y)
{
  const mask *m = w->m;
  return x >= 0 && y >= 0 && x < m->width && y < m->height &&
         m->of[y * m->width + x] == w->of_class;
}

/* The cell ahead of corner (x, y) on the left (side 0) or right (1) of one who
 * walks that way. */
static bool ahead(const walk *w, int64_t x, int64_t y, int way, int side)
{
  static const int dx[2][4] = {{0, 0, -1, -1}, {0, -1, -1, 0}};
  static const int dy[2][4] = {{-1, 0, 0, -1}, {0, 0, -1, -1}};
  return inside(w, x + dx[side][way], y + dy[side][way]);
}

static void put_steps(page *p, int way, int64_t steps)
{
  page_print(p, "%c%" PRId64, way % 2 == 0 ? 'h' : 'v',
             steps * (step_x[way] + step_y[way]));
}

static void walk_around(page *p, const walk *w, int64_t x0, int64_t y0)
{
  int64_t x = x0, y = y0, steps = 0;
  int way = 0;
  page_print(p, "M%" PRId64 " %" PRId64, x, y);
  do {
    if (way == 0) w->seen[y * w->m->width + x] = 1;
    x += step_x[way];
    y += step_y[way];
    steps++;
    int turn = !ahead(w, x, y, way, 1) ? 1 : ahead(w, x, y, way, 0) ? 3 : 0;
    if (turn == 0) continue;
    put_steps(p, way, steps);
    steps = 0;
    way = (way + turn) % 4;
  } while (x != x0 || y != y0 || way != 0);
  page_print(p, "z");
}

void page_outline(page *p, const mask *m, int64_t of_class)
{
  walk w = {m, of_class,
            base_alloc(p->ctx, m->width * m->height, sizeof *w.seen)};
  if (w.seen == NULL) {
    p->status = LAPIS_ENOMEM;
    return;
  }
  for (int64_t y = 0; y < m->height; y++)
    for (int64_t x = 0; x < m->width; x++)
      if (inside(&w, x, y) && !inside(&w, x, y - 1) &&
          !w.seen[y * m->width + x])
        walk_around(p, &w, x, y);
  base_free(w.seen);
}
