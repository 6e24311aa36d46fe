/* svmplus_rows.c - rows of Q on demand, for n where n x n does not fit.
 *
 *   Q_ij = y_i y_j (k(x_i, x_j) + 1) + R_i'R_j + [i = j] / C_i
 *
 * The least recently used row makes room. */
#include <string.h>

#include "solve/svmplus.h"

lapis_status sv_rows_new(la *h, const op_kernel *kernel, int64_t slots,
                         sv_rows *out)
{
  int64_t n = kernel->n;
  if (slots < 2) slots = 2;
  if (slots > n) slots = n;
  *out = (sv_rows){.h = h, .kernel = kernel, .n = n, .slots = slots};
  out->row = base_alloc_raw(h->ctx, slots * n, sizeof *out->row);
  out->of = base_alloc_raw(h->ctx, n, sizeof *out->of);
  out->holds = base_alloc_raw(h->ctx, 2 * slots, sizeof *out->holds);
  if (out->row == NULL || out->of == NULL || out->holds == NULL)
    return LAPIS_ENOMEM;
  out->used = out->holds + slots;
  sv_rows_clear(out);
  return LAPIS_OK;
}

void sv_rows_free(sv_rows *c)
{
  base_free(c->row);
  base_free(c->of);
  base_free(c->holds);
  *c = (sv_rows){0};
}

void sv_rows_clear(sv_rows *c)
{
  for (int64_t i = 0; i < c->n; i++) c->of[i] = -1;
  for (int64_t s = 0; s < c->slots; s++) {
    c->holds[s] = -1;
    c->used[s] = 0;
  }
  c->clock = 0;
}

static int64_t oldest(const sv_rows *c)
{
  int64_t best = 0;
  for (int64_t s = 1; s < c->slots; s++)
    if (c->used[s] < c->used[best]) best = s;
  return best;
}

static lapis_status fill(const sv_rows *c, int64_t i, double *row)
{
  TRY(op_kernel_own(c->h, c->kernel, i, 1, row));
  for (int64_t j = 0; j < c->n; j++) row[j] = c->y[i] * c->y[j] * (row[j] + 1);
  if (c->C != NULL) row[i] += 1 / c->C[i];
  if (c->R == NULL) return LAPIS_OK;
  la_array R = la_wrap((double *)(uintptr_t)c->R, c->r, c->n);
  la_array x = la_cols(&R, i, 1), out = la_wrap(row, c->n, 1);
  return c->h->ops->gemm(c->h, LA_T, LA_N, 1, &R, &x, 1, &out);
}

lapis_status sv_rows_get(sv_rows *c, int64_t i, const double **row)
{
  int64_t s = c->of[i];
  if (s < 0) {
    s = oldest(c);
    double *at = c->row + s * c->n;
    if (c->holds[s] >= 0) c->of[c->holds[s]] = -1;
    c->holds[s] = -1;
    TRY(fill(c, i, at));
    c->holds[s] = i;
    c->of[i] = s;
  }
  c->used[s] = ++c->clock;
  *row = c->row + s * c->n;
  return LAPIS_OK;
}
