/* weigh.c - what a fit, or an answer, will hold at its most, against what its
 * data are made of and against the memory that there is: said before anything
 * large is taken.  What each method holds stands in its own room
 * (method_entry.holds). */
#include <math.h>
#include <stdio.h>

#include "mat/mat.h"
#include "methods/method_entry.h"

enum { NUMBER = 8 }; /* bytes */

static solver_size size_of(const method_entry *e, const lapis_data *data)
{
  const lapis_mat *X = &data->X;
  solver_size z = {.d = (double)X->rows,
                   .n = (double)X->cols,
                   .K = (double)data->Y.rows,
                   .p = (double)data->P.rows,
                   .groups = 1};
  for (int64_t j = 1; data->group != NULL && j < X->cols; j++)
    z.groups += data->group[j] != data->group[j - 1];
  z.small = fmin(z.d, z.n);
  z.features = z.d * z.n;
  z.sparse = e->sparse && X->colptr != NULL;
  if (z.sparse) z.features = mat_stored_bytes(X) / NUMBER;
  return z;
}

static lapis_status weigh(lapis_ctx *ctx, const method_entry *e,
                          const lapis_data *data, const solver_size *z,
                          double numbers)
{
  char what[160];
  (void)snprintf(what, sizeof what, "%s: %.0f samples of %.0f features",
                 e->method->name, z->n, z->d);
  if (z->K > 1)
    (void)snprintf(what, sizeof what,
                   "%s: %.0f samples of %.0f features and %.0f %s",
                   e->method->name, z->n, z->d, z->K,
                   data->Y.rows > 1 ? "targets" : "classes");
  return base_holds(ctx, what, NUMBER * numbers, mat_made_of(data));
}

lapis_status method_weigh(lapis_ctx *ctx, const method_entry *e,
                          const lapis_data *data, const void *settings)
{
  solver_size z = size_of(e, data);
  int64_t K;
  z.numbers = method_of_numbers(e->method, settings);
  bool counts = data->Y.rows == 1 && !z.numbers;
  if (counts) z.K = z.n; /* no more classes than samples */
  z.gaps = true;
  double most = NUMBER * e->holds(&z, settings);
  if (most <= base_may_hold(ctx, mat_made_of(data))) return LAPIS_OK;
  if (counts) TRY(targets_rows(ctx, &data->Y, &K));
  if (counts) z.K = (double)K;
  z.gaps = !z.sparse && lapis_mat_missing(&data->X) > 0;
  return weigh(ctx, e, data, &z, e->holds(&z, settings));
}

/* Of a model that knows classes, how many; else 1. */
static double classes_of(const named_list *learned)
{
  const lapis_mat *m = named_find(learned, "classes");
  if (m == NULL) m = named_find(learned, "class_values");
  return m == NULL ? 1 : (double)m->cols;
}

static const double COPIES = 5; /* of X, of the answers */

lapis_status method_weigh_new(lapis_ctx *ctx, const method_entry *e,
                              const lapis_data *data, const named_list *learned)
{
  solver_size z = size_of(e, data);
  z.K = classes_of(learned);
  return weigh(ctx, e, data, &z, COPIES * (z.features + z.n * z.K));
}
