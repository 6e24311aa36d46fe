/* bags.c - samples by group, and bags as samples. */
#include "mat/bags.h"

#include <math.h>
#include <stdlib.h>

#include "mat/mat.h"

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

/* to: mean, largest and least of feature i, d apart. */
static void describe(const bag *b, const lapis_mat *X, int64_t i, double *to)
{
  int64_t d = X->rows, seen = 0;
  double sum = 0, most = -INFINITY, least = INFINITY;
  for (int64_t k = 0; k < b->count; k++) {
    double x = lapis_mat_at(X, i, b->member[k]);
    if (isnan(x)) continue;
    sum += x;
    most = fmax(most, x);
    least = fmin(least, x);
    seen++;
  }
  to[i] = seen > 0 ? sum / (double)seen : NAN;
  to[d + i] = seen > 0 ? most : NAN;
  to[2 * d + i] = seen > 0 ? least : NAN;
}

void bag_statistics(const bag_list *b, const lapis_mat *X, double *out)
{
  for (int64_t k = 0; k < b->count; k++)
    for (int64_t i = 0; i < X->rows; i++)
      describe(&b->item[k], X, i, out + k * BAG_STATISTICS * X->rows);
}

void bags_spread(const bag_list *b, const lapis_mat *of, double *out)
{
  for (int64_t k = 0; k < b->count; k++)
    for (int64_t m = 0; m < b->item[k].count; m++)
      for (int64_t i = 0; i < of->rows; i++)
        out[b->item[k].member[m] * of->rows + i] = lapis_mat_at(of, i, k);
}
