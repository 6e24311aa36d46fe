/* kernel_map.c - the rbf kernel as features, Nystrom's.
 *
 * With K(L, L) = V diag(v) V', the features of x are
 *   diag(v)^(-1/2) V' k(L, x),
 * eigenvalues v below 1e-10 of the largest left out; so there may be fewer
 * features than landmarks.  Landmarks are drawn uniformly, which looks at the
 * data once; drawing by distance (k-means++) prefers outliers, of which
 * standardised features have many.
 *
 * Gaps hold the training samples' means: distances need whole samples. */
#include "op/map/kernel_map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lapis/tools.h"
#include "op/dense/kernel.h"

enum { PAIRS_OF = 500, TRAILER = 4, DRAW = 0x6b6d6170 };
static const double LEAST = 1e-10; /* of the largest eigenvalue */
static const double MOST_COUNT = 1e6;

/* ---- reading ------------------------------------------------------------*/
static bool read_width(const char **at, kernel_map *k)
{
  k->width = 1;
  bool number = strncmp(*at, "auto", 4) != 0;
  if (number && !lapis_number_read(*at, at, &k->width)) return false;
  k->automatic = strncmp(*at, "auto", 4) == 0;
  if (k->automatic) *at += 4;
  return isfinite(k->width) && k->width > 0 && **at == ':';
}

lapis_status kernel_map_read(lapis_ctx *ctx, const char *word, kernel_map *out,
                             bool *named)
{
  const char *at = strchr(word, ':');
  size_t size = at == NULL ? strlen(word) : (size_t)(at - word);
  *out = (kernel_map){.count = 0};
  *named = size == 7 && strncmp(word, "nystrom", 7) == 0;
  if (!*named) return LAPIS_OK;
  double count = 0;
  bool fine = at != NULL && (++at, read_width(&at, out)) &&
              lapis_number_read(at + 1, &at, &count) && *at == '\0' &&
              floor(count) == count && count >= 1 && count <= MOST_COUNT;
  if (!fine)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "map '%s': nystrom:WIDTH:COUNT is needed, where WIDTH is "
                      "above 0 (a number, auto, or a multiple such as 4auto) "
                      "and COUNT a whole number of samples, 1 or more",
                      word);
  out->count = (int64_t)count;
  return LAPIS_OK;
}

int64_t kernel_map_draw(lapis_ctx *ctx, const kernel_map *k, int64_t n,
                        int64_t *index)
{
  int64_t wanted = k->count;
  if (k->automatic && wanted < PAIRS_OF) wanted = PAIRS_OF;
  rng_shuffle(base_seed(ctx), DRAW, index, n);
  return wanted < n ? wanted : n;
}

/* ---- width --------------------------------------------------------------*/
enum { ABREAST = 8 };

/* |x - z_j|^2 of `count` columns side by side, each summed in its own order. */
static void distances(const double *x, const double *z, int64_t d,
                      int64_t count, double *out)
{
  double sum[ABREAST] = {0};
  for (int64_t i = 0; i < d; i++)
    for (int64_t k = 0; k < count; k++) {
      double off = x[i] - z[k * d + i];
      sum[k] += off * off;
    }
  memcpy(out, sum, (size_t)count * sizeof *out);
}

static void all_distances(const double *X, int64_t d, int64_t n, double *all)
{
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < i; j += ABREAST) {
      int64_t count = i - j < ABREAST ? i - j : ABREAST;
      if (count == ABREAST) /* a number that the compiler knows */
        distances(X + i * d, X + j * d, d, ABREAST, all);
      else
        distances(X + i * d, X + j * d, d, count, all);
      all += count;
    }
}

/* What stands at place k of n when they are sorted; all are moved. */
static double select_place(double *v, int64_t n, int64_t k)
{
  int64_t low = 0, high = n - 1;
  while (low < high) {
    double middle = v[low + (high - low) / 2];
    int64_t i = low, j = high;
    while (i <= j) {
      while (v[i] < middle) i++;
      while (v[j] > middle) j--;
      if (i > j) break;
      double other = v[i];
      v[i++] = v[j];
      v[j--] = other;
    }
    if (k <= j)
      high = j;
    else if (k >= i)
      low = i;
    else
      break;
  }
  return v[k];
}

/* The median |x - z|^2; where most samples are the same, the mean. */
static lapis_status median_distance(lapis_ctx *ctx, const double *X, int64_t d,
                                    int64_t n, double *out)
{
  if (n > PAIRS_OF) n = PAIRS_OF;
  int64_t pairs = n * (n - 1) / 2;
  double *all = base_alloc_raw(ctx, pairs + 1, sizeof *all), sum = 0;
  if (all == NULL) return LAPIS_ENOMEM;
  all_distances(X, d, n, all);
  for (int64_t k = 0; k < pairs; k++) sum += all[k];
  *out = pairs == 0 ? 0 : select_place(all, pairs, pairs / 2);
  if (!(*out > 0) && pairs > 0) *out = sum / (double)pairs;
  base_free(all);
  if (isfinite(*out) && *out > 0) return LAPIS_OK;
  base_note(ctx, BASE_WARNING, "constant-kernel",
            "all samples are the same: their kernel is constant");
  *out = 1;
  return LAPIS_OK;
}

/* ---- fitting ------------------------------------------------------------*/
static int64_t length_of(int64_t d, int64_t count, int64_t rows)
{
  return d + d * count + count * rows + TRAILER;
}

/* root (count x rows) of the landmarks' kernel matrix; *rows of them. */
static lapis_status find_root(la *h, double width, const double *point,
                              int64_t d, int64_t count, double *root,
                              int64_t *rows)
{
  op_kernel kernel;
  la_array K = {0}, Q = {0};
  lapis_mat L = lapis_mat_f64((double *)point, d, count);
  int64_t found = 0;
  TRY(op_kernel_new(h, LAPIS_KERNEL_RBF, width, "X", &L, &kernel));
  double *value = base_alloc_raw(h->ctx, count, sizeof *value);
  lapis_status s = value == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  if (s >= 0) s = h->ops->alloc(h, LAPIS_F64, count, count, &K);
  if (s >= 0) s = h->ops->alloc(h, LAPIS_F64, count, count, &Q);
  if (s >= 0) s = op_kernel_own(h, &kernel, 0, count, K.data);
  if (s >= 0) s = h->ops->eigh(h, &K, -INFINITY, value, &Q, &found);
  *rows = 0;
  while (s >= 0 && *rows < found && value[*rows] > LEAST * value[0]) {
    const double *v = (const double *)Q.data + *rows * Q.ld;
    double *to = root + *rows * count;
    for (int64_t i = 0; i < count; i++) to[i] = v[i] / sqrt(value[*rows]);
    ++*rows;
  }
  h->ops->free(h, &K);
  h->ops->free(h, &Q);
  base_free(value);
  op_kernel_free(&kernel);
  return s;
}

lapis_status kernel_map_fit(lapis_ctx *ctx, const kernel_map *k,
                            const double *mean, const double *X, int64_t d,
                            int64_t n, int64_t before, double **state,
                            int64_t *length)
{
  la h;
  double width = k->width, median = 1;
  int64_t count = k->count < n ? k->count : n, rows = count;
  TRY(la_open_host(ctx, &h));
  if (k->automatic) TRY(median_distance(ctx, X, d, n, &median));
  width *= median;
  double *all =
      base_alloc_raw(ctx, before + length_of(d, count, rows), sizeof *all);
  if (all == NULL) return LAPIS_ENOMEM;
  double *to = all + before, *point = to + d;
  memcpy(to, mean, (size_t)d * sizeof *to);
  memcpy(point, X, (size_t)(d * count) * sizeof *point);
  lapis_status s =
      find_root(&h, width, point, d, count, point + d * count, &rows);
  if (s < 0) {
    base_free(all);
    return s;
  }
  *length = length_of(d, count, rows);
  const double trailer[TRAILER] = {(double)d, (double)count, (double)rows,
                                   width};
  memcpy(to + *length - TRAILER, trailer, sizeof trailer);
  *state = all;
  return LAPIS_OK;
}

bool kernel_map_state(const double *state, int64_t length, kernel_state *out)
{
  if (length < TRAILER) return false;
  const double *t = state + length - TRAILER;
  bool fine = t[3] > 0 && isfinite(t[3]);
  for (int i = 0; fine && i < 3; i++)
    fine = t[i] >= 1 && t[i] <= (double)length && floor(t[i]) == t[i];
  if (!fine || t[0] * t[1] > (double)length || t[1] * t[2] > 1e15) return false;
  *out = (kernel_state){.d = (int64_t)t[0],
                        .count = (int64_t)t[1],
                        .rows = (int64_t)t[2],
                        .width = t[3]};
  out->length = length_of(out->d, out->count, out->rows);
  if (out->length > length) return false;
  out->mean = state + length - out->length;
  out->point = out->mean + out->d;
  out->root = out->point + out->d * out->count;
  return true;
}

/* ---- applying -----------------------------------------------------------*/
struct kernel_mapper {
  la h;
  kernel_state at;
  op_kernel kernel;   /* of the landmarks */
  double *X, *K, *to; /* d, count, rows x KERNEL_MAP_BLOCK */
};

lapis_status kernel_mapper_new(lapis_ctx *ctx, const kernel_state *from,
                               kernel_mapper **out)
{
  kernel_mapper *w = base_alloc(ctx, 1, sizeof *w);
  int64_t all = from->d + from->count + from->rows;
  if (w == NULL) return LAPIS_ENOMEM;
  w->at = *from;
  lapis_status s = la_open_host(ctx, &w->h);
  w->X = base_alloc(ctx, all * KERNEL_MAP_BLOCK, sizeof *w->X);
  if (s >= 0 && w->X == NULL) s = LAPIS_ENOMEM;
  lapis_mat L = lapis_mat_f64((double *)from->point, from->d, from->count);
  if (s >= 0)
    s = op_kernel_new(&w->h, LAPIS_KERNEL_RBF, from->width, "X", &L,
                      &w->kernel);
  if (s < 0) {
    kernel_mapper_free(w);
    return s;
  }
  w->K = w->X + from->d * KERNEL_MAP_BLOCK;
  w->to = w->K + from->count * KERNEL_MAP_BLOCK;
  *out = w;
  return LAPIS_OK;
}

void kernel_mapper_free(kernel_mapper *w)
{
  if (w == NULL) return;
  op_kernel_free(&w->kernel);
  base_free(w->X);
  base_free(w);
}

double *kernel_mapper_room(kernel_mapper *w)
{
  return w->X;
}

lapis_status kernel_mapper_run(kernel_mapper *w, int64_t cols, double *out)
{
  const kernel_state *at = &w->at;
  la *h = &w->h;
  /* Always whole blocks: which sums a product takes depends on its shape. */
  memset(w->X + at->d * cols, 0,
         (size_t)(at->d * (KERNEL_MAP_BLOCK - cols)) * sizeof *w->X);
  for (int64_t k = 0; k < at->d * cols; k++)
    if (isnan(w->X[k])) w->X[k] = at->mean[k % at->d];
  lapis_mat B = lapis_mat_f64(w->X, at->d, KERNEL_MAP_BLOCK);
  la_array K = la_wrap(w->K, at->count, KERNEL_MAP_BLOCK);
  la_array R = la_wrap((double *)at->root, at->count, at->rows);
  la_array to = la_wrap(w->to, at->rows, KERNEL_MAP_BLOCK);
  TRY(op_kernel_block(h, &w->kernel, &B, w->K));
  TRY(h->ops->gemm(h, LA_T, LA_N, 1, &R, &K, 0, &to));
  memcpy(out, w->to, (size_t)(at->rows * cols) * sizeof *out);
  return LAPIS_OK;
}
