/* numbers.c - targets that are numbers: who is compared, and the means.
 *
 * Numbers are brought to mean 0 and variance 1, a column each.  The judge is
 * the mean squared error of hidden ones, relative to that of their mean: 1 less
 * R^2.  Of the best of each kind (robust regression, ridge regression, the same
 * behind a kernel, forests, random trees), as far as none is clearly behind,
 * the mean of the first two, three and so on is judged as well; whoever is
 * first answers. */
#include <math.h>
#include <string.h>

#include "methods/auto/candidates.h"

static const double line_C[] = {.001, .01, .1, 1}, kernel_C[] = {1, 10, 100};
static const double widths[] = {1, 4};
static const double MOST_CLEANED = 2e6; /* entries that rr reads */
enum { MOST_WHOLE = 20000 }; /* samples of trees with leaves of one number */

/* ---- preparing ----------------------------------------------------------*/
lapis_status numbers_encode(comparison *r)
{
  lapis_mat all = r->data->Y, *Y = &all;
  int64_t K = Y->rows, n = Y->cols;
  (void)comparison_others(r, Y);
  TRY(mat_check_finite(r->ctx, "auto", "Y", Y, true));
  base_free(r->labels.sign);
  base_free(r->centre);
  r->labels = (targets){.classes = K, .samples = n};
  r->labels.sign = base_alloc_raw(r->ctx, K * n, sizeof(double));
  r->centre = base_alloc(r->ctx, 2 * K, sizeof *r->centre);
  if (r->labels.sign == NULL || r->centre == NULL) return LAPIS_ENOMEM;
  mat_to_f64(Y, r->labels.sign, K);
  for (int64_t c = 0; c < K; c++) {
    double sum = 0, square = 0, weight = 0;
    const double *v = r->data->weight;
    for (int64_t j = 0; j < n; j++) {
      double *y = &r->labels.sign[j * K + c], w = v == NULL ? 1 : v[j];
      if (!(w > 0)) *y = NAN;
      if (!isnan(*y)) sum += w * *y, weight += w;
    }
    double mean = weight > 0 ? sum / weight : 0;
    for (int64_t j = 0; j < n; j++) {
      double off = r->labels.sign[j * K + c] - mean;
      if (!isnan(off)) square += (v == NULL ? 1 : v[j]) * off * off;
    }
    double size = weight > 0 && square > 0 ? sqrt(square / weight) : 1;
    r->centre[2 * c] = mean;
    r->centre[2 * c + 1] = size;
    for (int64_t j = 0; j < n; j++)
      r->labels.sign[j * K + c] = (r->labels.sign[j * K + c] - mean) / size;
  }
  return LAPIS_OK;
}

/* Those that read features through one map. */
static lapis_status list_plain(comparison *r, int map)
{
  bool grown = r->o.trees && r->n <= MOST_WHOLE;
  for (size_t k = 0; r->o.linear && k < sizeof line_C / sizeof *line_C; k++)
    candidates_add(
        r, &(candidate){.kind = CANDIDATE_LINEAR, .map = map, .C = line_C[k]});
  for (size_t w = 0; kernels_pay(r) && w < sizeof widths / sizeof *widths; w++)
    for (size_t k = 0; k < sizeof kernel_C / sizeof *kernel_C; k++) {
      candidate x = {.kind = CANDIDATE_LINEAR, .map = map, .C = kernel_C[k]};
      TRY(kernels_find(r, map, widths[w], &x.kernel));
      if (x.kernel > 0) candidates_add(r, &x);
    }
  for (int all = 0; grown && all < 2; all++) {
    candidate x = {.kind = CANDIDATE_TREES,
                   .map = map,
                   .count = RACE_TREES,
                   .share = all ? 1 : NAN,
                   .leaf = 1};
    candidates_add(r, &x);
    x.grown = TREES_FOREST;
    candidates_add(r, &x);
    x.leaf = 3;
    candidates_add(r, &x);
  }
  return LAPIS_OK;
}

lapis_status numbers_list(comparison *r)
{
  const lapis_mat *X = &r->X[0];
  for (int map = 0; map < r->n_maps; map++) TRY(list_plain(r, map));
  if (r->o.trees && r->n <= MOST_GROWN) candidates_boosted(r);
  if (r->o.rr && (double)X->rows * (double)X->cols <= MOST_CLEANED)
    candidates_add(r, &(candidate){.kind = CANDIDATE_RR});
  return LAPIS_OK;
}

/* ---- means --------------------------------------------------------------*/
static int judged(const comparison *r)
{
  int n = 0;
  for (int i = 0; i < r->count; i++) n += r->run[i].judged;
  return n;
}

static bool is_first(const comparison *r, int i)
{
  for (int k = 0; k < i; k++)
    if (candidates_alike(&r->run[r->order[k]], &r->run[r->order[i]]))
      return false;
  return true;
}

lapis_status numbers_mean(comparison *r, const int *of, int parts)
{
  candidate x = {.kind = CANDIDATE_MEAN, .parts = parts};
  int64_t count = r->K * r->n;
  if (r->count == MOST_CANDIDATES) return LAPIS_OK;
  memcpy(x.of, of, (size_t)parts * sizeof *of);
  x.score = base_alloc(r->ctx, count, sizeof *x.score);
  if (x.score == NULL) return LAPIS_ENOMEM;
  for (int i = 0; i < parts; i++)
    for (int64_t k = 0; k < count; k++)
      x.score[k] += r->run[of[i]].score[k] / parts;
  r->run[r->count++] = x;
  return LAPIS_OK;
}

lapis_status numbers_join(comparison *r)
{
  int of[MOST_PARTS], count = 0, all = judged(r);
  for (int i = 0; i < all && count < MOST_PARTS; i++) {
    double error,
        by = race_behind(r, &r->run[r->order[i]], &r->run[r->order[0]], &error);
    if (!is_first(r, i) || (i > 0 && !(by <= CLEARLY_BEHIND * error))) continue;
    of[count++] = r->order[i];
    if (count > 1) TRY(numbers_mean(r, of, count));
  }
  return LAPIS_OK;
}

/* ---- remarks ------------------------------------------------------------*/
int comparison_cleaned(const comparison *r, bool cleaned)
{
  for (int i = 0; i < judged(r); i++) {
    const candidate *x = &r->run[r->order[i]];
    if (cleaned ? x->kind == CANDIDATE_RR
                : x->kind == CANDIDATE_LINEAR && x->kernel == 0)
      return i;
  }
  return -1;
}

void numbers_restore(const comparison *r, double *p)
{
  for (int64_t k = 0; k < r->K * r->n; k++)
    p[k] = p[k] * r->centre[2 * (k % r->K) + 1] + r->centre[2 * (k % r->K)];
}
