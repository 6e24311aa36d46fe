/* twins.c - identical pictures under several names: they are told, and hidden
 * together, since a copy that is learnt from gives the other's label away. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "images/label/label.h"

enum { NAMED = 4, ROOM = 1024 };

/* Both have a label, and another one. */
static bool differ(const label_run *w, int64_t i, int64_t k)
{
  int64_t rows = w->given.rows;
  for (int64_t r = 0; r < rows; r++) {
    double a = w->Y[i * rows + r], b = w->Y[k * rows + r];
    if (!isnan(a) && !isnan(b) && (a < b || a > b)) return true;
  }
  return false;
}

static void append(char text[ROOM], const char *more)
{
  size_t used = strlen(text);
  snprintf(text + used, ROOM - used, "%s", more);
}

/* next: the next image like this one, -1: there is none.  "a.jpg = b.jpg, c.jpg
 * = d.jpg, ...", of those whose labels differ or of all; returns how many
 * images these are. */
static int64_t list(const label_run *w, const int64_t *first,
                    const int64_t *next, bool differing, char text[ROOM])
{
  const char *const *name = w->flow->names.val;
  int64_t count = 0, n = w->flow->n;
  int sets = 0;
  *text = '\0';
  for (int64_t i = 0; i < n; i++) {
    bool any = false;
    if (first[i] != i) continue;
    for (int64_t k = next[i]; k >= 0; k = next[k])
      any = any || !differing || differ(w, i, k);
    if (any && sets++ < NAMED) append(text, sets > 1 ? ", " : "");
    for (int64_t k = i; any && k >= 0; k = next[k]) {
      count++;
      if (sets <= NAMED && k > i) append(text, " = ");
      if (sets <= NAMED) append(text, name[k]);
    }
  }
  if (sets > NAMED) append(text, ", ...");
  return count;
}

static void say(const label_run *w, const int64_t *first, const int64_t *next)
{
  char text[ROOM];
  int64_t count = list(w, first, next, false, text);
  flow_remark(w->flow, "identical",
              "%" PRId64 " images are identical with others, and hidden "
              "together with these: %s",
              count, text);
  count = list(w, first, next, true, text);
  if (count > 0)
    flow_remark(w->flow, "identical-differ",
                "%" PRId64 " identical images have different labels: %s", count,
                text);
}

/* Without groups each image is one; those of twins become one. */
static void join(label_run *w, const int64_t *first)
{
  int64_t n = w->flow->n;
  bool given = w->given.group != NULL;
  for (int64_t i = 0; i < n; i++) {
    int64_t from = w->group[i], to = w->group[first[i]];
    if (!given) w->group[i] = first[i];
    for (int64_t k = 0; given && k < n && from != to; k++)
      if (w->group[k] == from) w->group[k] = to;
  }
  w->flow->data.group = w->group;
}

lapis_status label_find_twins(label_run *w)
{
  int64_t n = w->flow->n;
  bool any = false;
  int64_t *first = calloc(3 * (size_t)n + 1, sizeof *first);
  if (first == NULL) return flow_no_memory(w->flow);
  int64_t *next = first + n, *last = next + n;
  lapis_status s =
      lapis_image_twins(w->flow->ctx, w->flow->names.val, n, first);
  for (int64_t i = 0; s >= 0 && i < n; i++) {
    next[i] = -1;
    if (first[i] != i) next[last[first[i]]] = i;
    last[first[i]] = i;
    any = any || first[i] != i;
  }
  if (any) say(w, first, next);
  if (any) join(w, first);
  free(first);
  return s;
}
