/* rows.c - products with Q where n x n does not fit: kernel rows are
 * made some at a time and forgotten. */
#include <string.h>

#include "methods/svmplus/svmplus.h"

enum { AT_ONCE = 64 }; /* rows made together: one product of matrices */

lapis_status sv_rows_new(la *h, const op_kernel *kernel, sv_rows *out)
{
  int64_t n = kernel->n;
  *out = (sv_rows){.h = h, .kernel = kernel, .n = n};
  out->made = base_alloc_raw(h->ctx, AT_ONCE * n, sizeof *out->made);
  return out->made != NULL ? LAPIS_OK : LAPIS_ENOMEM;
}

void sv_rows_free(sv_rows *c)
{
  base_free(c->made);
  base_free(c->L);
  *c = (sv_rows){0};
}

/* ---- Q of some samples among themselves ----------------------------------*/
/* A += R_F'R_F + diag 1/C */
static lapis_status add_slack(const sv_rows *c, const int64_t *index,
                              int64_t count, double *A)
{
  for (int64_t k = 0; k < count && c->C != NULL; k++)
    A[k * count + k] += 1 / c->C[index[k]];
  if (c->R == NULL) return LAPIS_OK;
  double *some = base_alloc_raw(c->h->ctx, c->r * count, sizeof *some);
  if (some == NULL) return LAPIS_ENOMEM;
  for (int64_t k = 0; k < count; k++)
    memcpy(some + k * c->r, c->R + index[k] * c->r,
           (size_t)c->r * sizeof *some);
  la_array R = la_wrap(some, c->r, count), out = la_wrap(A, count, count);
  lapis_status s = c->h->ops->gemm(c->h, LA_T, LA_N, 1, &R, &R, 1, &out);
  base_free(some);
  return s;
}

lapis_status sv_rows_square(sv_rows *c, const int64_t *index, int64_t count,
                            double *A)
{
  for (int64_t first = 0; first < count; first += AT_ONCE) {
    int64_t some = count - first < AT_ONCE ? count - first : AT_ONCE;
    TRY(op_kernel_some(c->h, c->kernel, index + first, some, c->made));
    for (int64_t k = 0; k < some; k++) {
      const double *row = c->made + k * c->n;
      double own = c->y[index[first + k]], *to = A + (first + k) * count;
      for (int64_t r = 0; r < count; r++)
        to[r] = own * c->y[index[r]] * (row[index[r]] + 1);
    }
  }
  return add_slack(c, index, count, A);
}

/* ---- Q a ----------------------------------------------------------------*/
/* g += R'(R a) + a / C */
static lapis_status slack_times(const sv_rows *c, const double *a, double *g)
{
  for (int64_t i = 0; i < c->n && c->C != NULL; i++) g[i] += a[i] / c->C[i];
  if (c->R == NULL) return LAPIS_OK;
  double *room = base_alloc(c->h->ctx, c->r, sizeof *room);
  if (room == NULL) return LAPIS_ENOMEM;
  la_array R = la_wrap((double *)(uintptr_t)c->R, c->r, c->n);
  la_array x = la_wrap((double *)(uintptr_t)a, c->n, 1);
  la_array Ra = la_wrap(room, c->r, 1), out = la_wrap(g, c->n, 1);
  lapis_status s = c->h->ops->gemv(c->h, LA_N, 1, &R, &x, 0, &Ra);
  if (s >= 0) s = c->h->ops->gemv(c->h, LA_T, 1, &R, &Ra, 1, &out);
  base_free(room);
  return s;
}

/* g += sum f_k k(x_k, .) of the rows asked for */
static lapis_status add_rows(sv_rows *c, const int64_t *index, double *f,
                             int64_t count, double *g)
{
  TRY(op_kernel_some(c->h, c->kernel, index, count, c->made));
  la_array K = la_wrap(c->made, c->n, count), x = la_wrap(f, count, 1);
  la_array out = la_wrap(g, c->n, 1);
  return c->h->ops->gemv(c->h, LA_N, 1, &K, &x, 1, &out);
}

lapis_status sv_rows_times(sv_rows *c, const double *a, double *g)
{
  int64_t index[AT_ONCE], count = 0;
  double f[AT_ONCE], sum = 0;
  memset(g, 0, (size_t)c->n * sizeof *g);
  for (int64_t i = 0; i < c->n; i++) {
    if (a[i] != 0) {
      sum += f[count] = a[i] * c->y[i];
      index[count++] = i;
    }
    if (count == 0 || (count < AT_ONCE && i < c->n - 1)) continue;
    TRY(add_rows(c, index, f, count, g));
    count = 0;
  }
  for (int64_t i = 0; i < c->n; i++) g[i] = c->y[i] * (g[i] + sum);
  return slack_times(c, a, g);
}
