/* bags.c - samples by group. */
#include "methods/svmplus/svmplus.h"

#include <math.h>
#include <stdlib.h>

typedef struct keyed {
  int64_t group, sample;
} keyed;

static int by_group(const void *a, const void *b)
{
  const keyed *x = a, *y = b;
  if (x->group != y->group) return x->group < y->group ? -1 : 1;
  return (x->sample > y->sample) - (x->sample < y->sample);
}

static void cut(bag_list *b, const keyed *all, int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    if (i == 0 || all[i].group != all[i - 1].group) {
      b->id[b->count] = (double)all[i].group;
      b->item[b->count++] = (bag){.member = b->order + i};
    }
    b->order[i] = all[i].sample;
    b->item[b->count - 1].count++;
  }
}

lapis_status bags_new(lapis_ctx *ctx, const int64_t *group, int64_t n,
                      bag_list *out)
{
  *out = (bag_list){0};
  keyed *all = base_alloc(ctx, n, sizeof *all);
  out->item = base_alloc(ctx, n, sizeof *out->item);
  out->id = base_alloc(ctx, n, sizeof *out->id);
  out->order = base_alloc(ctx, n, sizeof *out->order);
  bool ok =
      all != NULL && out->item != NULL && out->id != NULL && out->order != NULL;
  for (int64_t i = 0; ok && i < n; i++) all[i] = (keyed){group[i], i};
  if (ok) qsort(all, (size_t)n, sizeof *all, by_group);
  if (ok)
    cut(out, all, n);
  else
    bags_free(out);
  base_free(all);
  return ok ? LAPIS_OK : LAPIS_ENOMEM;
}

void bags_free(bag_list *b)
{
  base_free(b->item);
  base_free(b->id);
  base_free(b->order);
  *b = (bag_list){0};
}

void bag_scores(const bag_list *b, const double *score, double *out)
{
  for (int64_t k = 0; k < b->count; k++) {
    out[k] = -INFINITY;
    for (int64_t i = 0; i < b->item[k].count; i++)
      out[k] = fmax(out[k], score[b->item[k].member[i]]);
  }
}
