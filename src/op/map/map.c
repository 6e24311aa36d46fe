/* map.c - feature maps, stage by stage.
 *
 * blocks, balance: features of several kinds stand one below the other, block
 * k of d_k rows, K blocks, d rows in all.  Behind blocks, l1 and l2 see each
 * block alone; balance multiplies block k by sqrt(d / (K d_k)), so that after
 * "standard" every kind adds d / K to the mean of |x|^2, however many numbers
 * it has, and all of them d as without balance. */
#include "op/map/map.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lapis/tools.h"
#include "mat/mat.h"
#include "op/map/chi2_map.h"
#include "op/map/impute.h"
#include "op/map/map_stages.h"
#include "op/map/trim.h"

lapis_status lapis_map_new(lapis_ctx *ctx, const char *spec, lapis_map **out)
{
  MAKES(out);
  NEEDS(ctx, spec, out);
  lapis_map *m = base_alloc(ctx, 1, sizeof *m);
  if (m == NULL) return LAPIS_ENOMEM;
  m->spec = base_strdup(ctx, spec);
  lapis_status s = m->spec == NULL ? LAPIS_ENOMEM : map_read_spec(ctx, m);
  if (s >= 0)
    *out = m;
  else
    lapis_map_free(m);
  return s;
}

void lapis_map_free(lapis_map *m)
{
  if (m == NULL) return;
  base_free(m->spec);
  base_free(m->state);
  base_free(m->seen);
  base_free(m);
}

const char *map_spec(const lapis_map *m)
{
  if (m == NULL) return NULL;
  return m->spec;
}

/* Numbers that a stage finds of samples of d. */
static int64_t stage_length(stage_kind kind, int64_t d)
{
  if (kind == STAGE_IMPUTE) return impute_length(d);
  if (kind == STAGE_TRIM) return trim_length(d);
  if (kind == STAGE_AUTO_SCALE) return 1;
  return kind == STAGE_STANDARD ? 2 * d : 0;
}

/* Numbers of a sample of so many behind the first stages. */
static int64_t behind(const lapis_map *m, int stages, int64_t rows)
{
  for (int i = 0; i < stages; i++)
    if (m->stage[i].kind == STAGE_CHI2) rows *= CHI2_ROWS;
  return rows;
}

/* The same behind all stages, before the kernel. */
static int64_t staged(const lapis_map *m, int64_t rows)
{
  return behind(m, m->n_stages, rows);
}

/* What fitting found for the kernel; false: there is none. */
static bool kernel_of(const lapis_map *m, kernel_state *out)
{
  return m->kernel.count > 0 && m->state != NULL &&
         kernel_map_state(m->state, m->n_state, out);
}

int64_t lapis_map_rows(const lapis_map *m, int64_t rows)
{
  kernel_state at;
  if (m == NULL) return 0;
  if (m->kernel.count == 0) return staged(m, rows);
  return kernel_of(m, &at) ? at.rows : m->kernel.count;
}

int64_t map_inputs(const lapis_map *m, int64_t rows)
{
  kernel_state at;
  return (kernel_of(m, &at) ? at.d : rows) / staged(m, 1);
}

/* ---- one sample through one stage; x has room for the widest -------------*/
static void divide_by_length(double *x, int64_t d, bool squared)
{
  double sum = 0;
  for (int64_t i = 0; i < d; i++)
    if (!isnan(x[i])) sum += squared ? x[i] * x[i] : fabs(x[i]);
  if (squared) sum = sqrt(sum);
  for (int64_t i = 0; i < d && sum > 0; i++) x[i] /= sum;
}

/* Rows of block k of a sample of d numbers: chi2 makes several of each. */
static int64_t block_rows(const lapis_map *m, int k, int64_t d)
{
  int64_t all = 0;
  for (int i = 0; i < m->n_blocks; i++) all += m->block[i];
  return m->n_blocks == 0 ? d : m->block[k] * (d / all);
}

static int block_count(const lapis_map *m)
{
  return m->n_blocks == 0 ? 1 : m->n_blocks;
}

static void divide_blocks(const lapis_map *m, double *x, int64_t d,
                          bool squared)
{
  for (int k = 0; k < block_count(m); k++) {
    int64_t rows = block_rows(m, k, d);
    divide_by_length(x, rows, squared);
    x += rows;
  }
}

static void balance(const lapis_map *m, double *x, int64_t d)
{
  int count = block_count(m);
  for (int k = 0; k < count; k++) {
    int64_t rows = block_rows(m, k, d);
    double times = sqrt((double)d / ((double)count * (double)rows));
    for (int64_t i = 0; i < rows; i++) x[i] *= times;
    x += rows;
  }
}

static void standardise(double *x, int64_t d, const double *state)
{
  for (int64_t i = 0; i < d; i++) x[i] = (x[i] - state[i]) / state[d + i];
}

/* The first negative entry, or -1. */
static int64_t negative(const double *x, int64_t d)
{
  for (int64_t i = 0; i < d; i++)
    if (x[i] < 0) return i;
  return -1;
}

typedef struct run { /* a sample on its way through the stages */
  const lapis_map *map;
  const int32_t *row;  /* of the entries of a sparse sample, or NULL */
  const double *state; /* of the next stage that has one */
  double *x;
  int64_t d;
} run;

static lapis_status apply_stage(lapis_ctx *ctx, run *r, int i, int64_t sample)
{
  stage_kind kind = r->map->stage[i].kind;
  bool needs_sign = kind == STAGE_SQRT || kind == STAGE_CHI2;
  int64_t bad = needs_sign ? negative(r->x, r->d) : -1;
  if (bad >= 0)
    return lapis_fail(
        ctx, LAPIS_EDATA, "map %s: the value at %s is %g; %s takes 0 or more",
        r->map->spec,
        CELL(ctx, sample, "feature", r->row == NULL ? bad : r->row[bad]),
        r->x[bad], kind == STAGE_SQRT ? "sqrt" : "chi2");
  switch (kind) {
  case STAGE_L1:
    divide_blocks(r->map, r->x, r->d, false);
    break;
  case STAGE_L2:
    divide_blocks(r->map, r->x, r->d, true);
    break;
  case STAGE_BALANCE:
    balance(r->map, r->x, r->d);
    break;
  case STAGE_SQRT:
    for (int64_t k = 0; k < r->d; k++) r->x[k] = sqrt(r->x[k]);
    break;
  case STAGE_SCALE:
    for (int64_t k = 0; k < r->d; k++) r->x[k] *= r->map->stage[i].number;
    break;
  case STAGE_AUTO_SCALE:
    for (int64_t k = 0; k < r->d; k++) r->x[k] *= *r->state;
    r->state += stage_length(kind, r->d);
    break;
  case STAGE_STANDARD:
    standardise(r->x, r->d, r->state);
    r->state += stage_length(kind, r->d);
    break;
  case STAGE_IMPUTE:
    impute_fill(r->state, r->x, r->d);
    r->state += stage_length(kind, r->d);
    break;
  case STAGE_TRIM:
    trim_cells(r->state, r->x, r->d);
    r->state += stage_length(kind, r->d);
    break;
  case STAGE_CHI2:
    chi2_features(r->x, r->d);
    r->d *= CHI2_ROWS;
    break;
  }
  return LAPIS_OK;
}

static lapis_status go_on(lapis_ctx *ctx, const lapis_map *m, int64_t sample)
{
  enum { EVERY = 64 };
  bool asks = sample % EVERY == EVERY - 1;
  return asks ? base_go_on(ctx, "mapping by", m->spec) : LAPIS_OK;
}

/* Sample j through the first `stages` stages into x. */
static lapis_status apply_column(lapis_ctx *ctx, const lapis_map *m, int stages,
                                 const lapis_mat *X, int64_t j, double *x,
                                 int64_t *d)
{
  run r = {.map = m, .state = m->state, .x = x, .d = X->rows};
  TRY(go_on(ctx, m, j));
  lapis_mat column = mat_columns(X, j, 1);
  mat_to_f64(&column, x, X->rows);
  for (int i = 0; i < stages; i++) TRY(apply_stage(ctx, &r, i, j));
  *d = r.d;
  return LAPIS_OK;
}

/* What sparse sample j stores, where zeros stay 0 (map_keeps_zeros). */
static lapis_status apply_stored(lapis_ctx *ctx, const lapis_map *m, int stages,
                                 const lapis_mat *X, int64_t j, double *x,
                                 int64_t *d)
{
  int64_t first = X->colptr[j];
  TRY(go_on(ctx, m, j));
  run r = {.map = m,
           .row = X->rowidx + first,
           .state = m->state,
           .x = x,
           .d = X->colptr[j + 1] - first};
  for (int64_t k = 0; k < r.d; k++) x[k] = mat_stored(X, first + k);
  for (int i = 0; i < stages; i++) TRY(apply_stage(ctx, &r, i, j));
  *d = r.d;
  return LAPIS_OK;
}

static bool reads_stored(const lapis_map *m, const lapis_mat *X)
{
  return X->colptr != NULL && map_keeps_zeros(m);
}

/* ---- fitting ------------------------------------------------------------*/
/* Means, then deviations, of what reaches stage i; a constant or unseen feature
 * is divided by 1. */
static lapis_status fit_standard(lapis_ctx *ctx, lapis_map *m, int i,
                                 const lapis_mat *X, double *x, double *mean,
                                 double *deviation, double *count)
{
  mat_moments of = {behind(m, i, X->rows), count, mean, deviation};
  int64_t unused;
  for (int pass = 0; pass < 2; pass++) {
    for (int64_t j = 0; j < X->cols; j++) {
      TRY(apply_column(ctx, m, i, X, j, x, &unused));
      mat_moments_add(&of, pass, x, 1);
    }
    TRY(mat_moments_end(ctx, &of, pass));
  }
  for (int64_t k = 0; k < of.d; k++)
    if (!(deviation[k] > 0)) deviation[k] = 1;
  return LAPIS_OK;
}

/* Of what the stages make of finite numbers; row: as people count it. */
static lapis_status check_finite(lapis_ctx *ctx, const lapis_map *m,
                                 const char *what, const double *x, int64_t d,
                                 int64_t row)
{
  for (int64_t k = 0; k < d; k++)
    if (isinf(x[k]))
      return lapis_fail(ctx, LAPIS_EDATA,
                        "map %s: sample %" PRId64 " holds %g; %s "
                        "needs finite numbers",
                        m->spec, row, x[k], what);
  return LAPIS_OK;
}

/* 1 / the mean size of a known entry of what reaches stage i, over the samples
 * of all processes; 1 where all is 0. */
static lapis_status fit_scale(lapis_ctx *ctx, const lapis_map *m, int i,
                              const lapis_mat *X, double *x, double *times)
{
  double sum_and_count[2] = {0, 0};
  int64_t d;
  bool stored = reads_stored(m, X);
  for (int64_t j = 0; j < X->cols; j++) {
    TRY((stored ? apply_stored : apply_column)(ctx, m, i, X, j, x, &d));
    if (stored) sum_and_count[1] += (double)(X->rows - d);
    for (int64_t k = 0; k < d; k++) {
      if (isnan(x[k])) continue;
      sum_and_count[0] += fabs(x[k]);
      sum_and_count[1]++;
    }
  }
  TRY(base_sum(ctx, sum_and_count, 2));
  *times = sum_and_count[1] / sum_and_count[0];
  if (!(isfinite(*times) && *times > 0)) *times = 1;
  return LAPIS_OK;
}

/* The factors of what reaches stage i, or its medians and limits. */
static lapis_status fit_whole(lapis_ctx *ctx, const lapis_map *m, int i,
                              const lapis_mat *X, double *state)
{
  bool trims = m->stage[i].kind == STAGE_TRIM;
  if (trims && base_ranks(ctx) > 1)
    return lapis_fail(ctx, LAPIS_ENOTBUILT,
                      "map %s: trim orders all samples, which are divided "
                      "among %d processes",
                      m->spec, base_ranks(ctx));
  int64_t d = behind(m, i, X->rows), unused;
  double *all = base_alloc_raw(ctx, d * X->cols + 1, sizeof *all);
  lapis_status s = all == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  for (int64_t j = 0; j < X->cols && s >= 0; j++) {
    s = apply_column(ctx, m, i, X, j, all + j * d, &unused);
    if (s >= 0)
      s = check_finite(ctx, m, trims ? "trim" : "impute", all + j * d, d,
                       base_row(ctx, j, X->cols));
  }
  if (s >= 0) s = (trims ? trim_fit : impute_fit)(ctx, all, d, X->cols, state);
  base_free(all);
  return s;
}

static lapis_status fit_stages(lapis_ctx *ctx, lapis_map *m, const lapis_mat *X,
                               double *x, double *count)
{
  int64_t d = X->rows, used = 0;
  for (int i = 0; i < m->n_stages; i++) {
    stage_kind kind = m->stage[i].kind;
    double *at = m->state + used;
    if (kind == STAGE_CHI2) d *= CHI2_ROWS;
    if (kind == STAGE_STANDARD) memset(count, 0, (size_t)d * sizeof *count);
    if (kind == STAGE_STANDARD)
      TRY(fit_standard(ctx, m, i, X, x, at, at + d, count));
    if (kind == STAGE_AUTO_SCALE) TRY(fit_scale(ctx, m, i, X, x, at));
    if (kind == STAGE_IMPUTE || kind == STAGE_TRIM)
      TRY(fit_whole(ctx, m, i, X, at));
    used += stage_length(kind, d);
  }
  return LAPIS_OK;
}

/* Numbers that fitting to samples of d features finds for the stages. */
static int64_t stages_length(const lapis_map *m, int64_t d)
{
  int64_t total = 0;
  for (int i = 0; i < m->n_stages; i++) {
    if (m->stage[i].kind == STAGE_CHI2) d *= CHI2_ROWS;
    total += stage_length(m->stage[i].kind, d);
  }
  return total;
}

static lapis_status check_blocks(lapis_ctx *ctx, const lapis_map *m, int64_t d)
{
  int64_t all = 0;
  for (int k = 0; k < m->n_blocks; k++) all += m->block[k];
  if (m->n_blocks == 0 || all == d) return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_ESHAPE,
                    "map '%s': its blocks hold %" PRId64
                    " features, and a sample has %" PRId64,
                    m->spec, all, d);
}

/* Means of what reaches the kernel; 0 of what is never seen. */
static lapis_status find_means(lapis_ctx *ctx, const lapis_map *m,
                               const lapis_mat *X, double *x, double *mean,
                               double *count)
{
  int64_t d = staged(m, X->rows), unused;
  mat_moments of = {d, count, mean, NULL};
  memset(count, 0, (size_t)d * sizeof *count);
  memset(mean, 0, (size_t)d * sizeof *mean);
  for (int64_t j = 0; j < X->cols; j++) {
    TRY(apply_column(ctx, m, m->n_stages, X, j, x, &unused));
    TRY(check_finite(ctx, m, "a distance", x, d, base_row(ctx, j, X->cols)));
    mat_moments_add(&of, 0, x, 1);
  }
  return mat_moments_end(ctx, &of, 0);
}

/* The samples that were drawn, d x count, gaps filled. */
static lapis_status draw_samples(lapis_ctx *ctx, const lapis_map *m,
                                 const lapis_mat *X, const double *mean,
                                 double **out, int64_t *count)
{
  int64_t d = staged(m, X->rows), unused;
  int64_t *index = base_alloc_raw(ctx, X->cols, sizeof *index);
  if (index == NULL) return LAPIS_ENOMEM;
  *count = kernel_map_draw(ctx, &m->kernel, X->cols, index);
  double *to = base_alloc_raw(ctx, d * *count + 1, sizeof *to);
  lapis_status s = to == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  for (int64_t j = 0; s >= 0 && j < *count; j++)
    s = apply_column(ctx, m, m->n_stages, X, index[j], to + j * d, &unused);
  for (int64_t k = 0; s >= 0 && k < d * *count; k++)
    if (isnan(to[k])) to[k] = mean[k % d];
  base_free(index);
  *out = to;
  return s;
}

/* What stands behind the numbers of the stages. */
static lapis_status fit_kernel(lapis_ctx *ctx, lapis_map *m, const lapis_mat *X,
                               double *x, double *count)
{
  int64_t d = staged(m, X->rows), drawn, length, before = m->n_state;
  if (base_ranks(ctx) > 1)
    return lapis_fail(
        ctx, LAPIS_ENOTBUILT,
        "map %s: kernels draw from all samples, which are divided "
        "among %d processes; the other maps are fitted to them",
        m->spec, base_ranks(ctx));
  double *samples = NULL, *all = NULL;
  if (X->cols == 0)
    return lapis_fail(ctx, LAPIS_EMISSING,
                      "map %s: X has no sample to measure distances to",
                      m->spec);
  double *mean = base_alloc(ctx, d, sizeof *mean);
  if (mean == NULL) return LAPIS_ENOMEM;
  lapis_status s = find_means(ctx, m, X, x, mean, count);
  if (s >= 0) s = draw_samples(ctx, m, X, mean, &samples, &drawn);
  if (s >= 0)
    s = kernel_map_fit(ctx, &m->kernel, mean, samples, d, drawn, before, &all,
                       &length);
  base_free(mean);
  base_free(samples);
  if (s < 0) return s;
  memcpy(all, m->state, (size_t)before * sizeof *all);
  base_free(m->state);
  m->state = all;
  m->n_state = before + length;
  return LAPIS_OK;
}

static int64_t most_stored(const lapis_mat *X)
{
  int64_t most = 0;
  for (int64_t j = 0; j < X->cols; j++)
    if (X->colptr[j + 1] - X->colptr[j] > most)
      most = X->colptr[j + 1] - X->colptr[j];
  return most;
}

/* An infinite value would spread over its feature, or its sample. */
static lapis_status check_input(lapis_ctx *ctx, const lapis_mat *X)
{
  TRY(mat_check_numbers(ctx, "map", "X", X));
  return mat_check_bounded(ctx, "map", "a value", X);
}

static lapis_status fit(lapis_ctx *ctx, lapis_map *m, const lapis_mat *X)
{
  TRY(check_input(ctx, X));
  mat_say_zeros(ctx, X);
  TRY(check_blocks(ctx, m, X->rows));
  int64_t widest = staged(m, X->rows);
  lapis_mat wide = *X;
  wide.rows = widest;
  if (!reads_stored(m, X)) TRY(mat_check_dense(ctx, "map", "X", &wide));
  if (reads_stored(m, X)) widest = most_stored(X);
  base_free(m->state);
  m->n_state = stages_length(m, X->rows);
  m->state = base_alloc(ctx, m->n_state, sizeof *m->state);
  double *work = base_alloc(ctx, 2 * widest, sizeof *work);
  lapis_status s = m->state == NULL || work == NULL
                       ? LAPIS_ENOMEM
                       : fit_stages(ctx, m, X, work, work + widest);
  if (s >= 0 && m->kernel.count > 0)
    s = fit_kernel(ctx, m, X, work, work + widest);
  base_free(work);
  base_free(m->seen);
  m->seen = NULL;
  m->n_seen = X->rows;
  m->samples = X->cols;
  return s < 0 ? s : mat_see(ctx, X, &m->seen);
}

lapis_status lapis_map_fit(lapis_ctx *ctx, lapis_map *m, const lapis_mat *X)
{
  NEEDS(ctx, ctx, m, X);
  base_meet(ctx);
  return base_agree(ctx, fit(ctx, m, X));
}

/* ---- applying -----------------------------------------------------------*/
/* Samples in blocks: through the stages, then to the kernel. */
static lapis_status apply_kernel(lapis_ctx *ctx, const lapis_map *m,
                                 const kernel_state *at, const lapis_mat *X,
                                 double *out)
{
  kernel_mapper *w;
  int64_t d;
  TRY(kernel_mapper_new(ctx, at, &w));
  lapis_status s = LAPIS_OK;
  for (int64_t j = 0; j < X->cols && s >= 0; j += KERNEL_MAP_BLOCK) {
    int64_t left = X->cols - j;
    int64_t cols = left < KERNEL_MAP_BLOCK ? left : KERNEL_MAP_BLOCK;
    for (int64_t k = 0; k < cols && s >= 0; k++) {
      double *x = kernel_mapper_room(w) + k * at->d;
      s = apply_column(ctx, m, m->n_stages, X, j + k, x, &d);
      if (s >= 0)
        s = check_finite(ctx, m, "a distance", x, d,
                         base_row(ctx, j + k, X->cols));
    }
    if (s >= 0) s = kernel_mapper_run(w, cols, out + j * at->rows);
  }
  kernel_mapper_free(w);
  return s;
}

/* The state is of samples with so many features. */
static bool fits(const lapis_map *m, int64_t rows)
{
  kernel_state at;
  int64_t length = stages_length(m, rows);
  if (m->kernel.count == 0) return length == m->n_state;
  return kernel_of(m, &at) && at.d == staged(m, rows) &&
         length + at.length == m->n_state;
}

/* Somebody may have written the numbers of impute and of scale:auto. */
static bool sound(const lapis_map *m, int64_t d)
{
  int64_t at = 0;
  for (int i = 0; i < m->n_stages; i++) {
    if (m->stage[i].kind == STAGE_CHI2) d *= CHI2_ROWS;
    if (m->stage[i].kind == STAGE_IMPUTE && !impute_sound(m->state + at, d))
      return false;
    if (m->stage[i].kind == STAGE_TRIM && !trim_sound(m->state + at, d))
      return false;
    if (m->stage[i].kind == STAGE_AUTO_SCALE &&
        !(isnormal(m->state[at]) && m->state[at] > 0))
      return false;
    at += stage_length(m->stage[i].kind, d);
  }
  return true;
}

static lapis_status misfit(lapis_ctx *ctx, const char *spec)
{
  return lapis_fail(ctx, LAPIS_EFORMAT,
                    "map %s: its numbers do not fit together; fit it again",
                    spec);
}

lapis_status lapis_map_apply(lapis_ctx *ctx, const lapis_map *m,
                             const lapis_mat *X, double *out)
{
  kernel_state at;
  NEEDS(ctx, m, X, out);
  TRY(check_input(ctx, X));
  int64_t rows = lapis_map_rows(m, X->rows), d;
  TRY(check_blocks(ctx, m, X->rows));
  if (!fits(m, X->rows))
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "X has %" PRId64
                      " features, and map %s was fitted to another number; "
                      "give the features of the fit, in their order",
                      X->rows, m->spec);
  if (!sound(m, X->rows)) return misfit(ctx, m->spec);
  if (kernel_of(m, &at)) return apply_kernel(ctx, m, &at, X, out);
  for (int64_t j = 0; j < X->cols; j++)
    TRY(apply_column(ctx, m, m->n_stages, X, j, out + j * rows, &d));
  return LAPIS_OK;
}

/* A fitted number that is off the scale of the others' product cannot be told
 * from one that is not: whoever reads X so looks at what comes out. */
bool map_shift(const lapis_map *m, int64_t d, double *off, double *by)
{
  const double *state = m->state;
  if (m->kernel.count > 0 || !fits(m, d)) return false;
  for (int64_t k = 0; k < d; k++) off[k] = 0, by[k] = 1;
  for (int i = 0; i < m->n_stages; i++) {
    stage_kind kind = m->stage[i].kind;
    bool scales = kind == STAGE_SCALE || kind == STAGE_AUTO_SCALE;
    if (scales) {
      double times = kind == STAGE_SCALE ? m->stage[i].number : *state;
      for (int64_t k = 0; k < d; k++) by[k] /= times;
    } else if (kind == STAGE_STANDARD) {
      for (int64_t k = 0; k < d; k++) {
        off[k] += by[k] * state[k];
        by[k] *= state[d + k];
      }
    } else {
      return false;
    }
    state += stage_length(kind, d);
  }
  return true;
}

/* ---- back again ---------------------------------------------------------*/
/* By what stage i divided each block of sample j, whose raw values X has. */
static lapis_status multiply_lengths(lapis_ctx *ctx, const lapis_map *m, int i,
                                     const lapis_mat *X, int64_t j,
                                     double *before, double *x)
{
  int64_t d;
  TRY(apply_column(ctx, m, i, X, j, before, &d));
  for (int k = 0; k < block_count(m); k++) {
    double length = 0;
    int64_t rows = block_rows(m, k, d);
    for (int64_t r = 0; r < rows; r++)
      if (!isnan(before[r]))
        length += m->stage[i].kind == STAGE_L2 ? before[r] * before[r]
                                               : fabs(before[r]);
    if (m->stage[i].kind == STAGE_L2) length = sqrt(length);
    for (int64_t r = 0; r < rows && length > 0; r++) x[r] *= length;
    before += rows;
    x += rows;
  }
  return LAPIS_OK;
}

static lapis_status undo_stage(lapis_ctx *ctx, const lapis_map *m, int i,
                               const lapis_mat *X, int64_t j, double *before,
                               double *x, const double **state)
{
  int64_t d = X->rows;
  switch (m->stage[i].kind) {
  case STAGE_L1:
  case STAGE_L2:
    return multiply_lengths(ctx, m, i, X, j, before, x);
  case STAGE_SQRT:
    for (int64_t k = 0; k < d; k++) x[k] = x[k] < 0 ? 0 : x[k] * x[k];
    break;
  case STAGE_SCALE:
    for (int64_t k = 0; k < d; k++) x[k] /= m->stage[i].number;
    break;
  case STAGE_AUTO_SCALE:
    *state -= stage_length(STAGE_AUTO_SCALE, d);
    for (int64_t k = 0; k < d; k++) x[k] /= **state;
    break;
  case STAGE_STANDARD:
    *state -= stage_length(STAGE_STANDARD, d);
    for (int64_t k = 0; k < d; k++) x[k] = x[k] * (*state)[d + k] + (*state)[k];
    break;
  case STAGE_BALANCE:
    for (int64_t k = 0; k < d; k++) before[k] = 1;
    balance(m, before, d);
    for (int64_t k = 0; k < d; k++) x[k] /= before[k];
    break;
  case STAGE_IMPUTE: /* what was filled stays so */
    *state -= stage_length(STAGE_IMPUTE, d);
    break;
  case STAGE_TRIM: /* so is what was taken out */
    *state -= stage_length(STAGE_TRIM, d);
    break;
  case STAGE_CHI2: /* refused before */
    break;
  }
  return LAPIS_OK;
}

static bool goes_back(const lapis_map *m)
{
  bool back = m->kernel.count == 0;
  for (int i = 0; i < m->n_stages; i++)
    back = back && m->stage[i].kind != STAGE_CHI2;
  return back;
}

lapis_status lapis_map_undo(lapis_ctx *ctx, const lapis_map *m,
                            const lapis_mat *X, const lapis_mat *Z, double *out)
{
  NEEDS(ctx, m, X, Z, out);
  TRY(mat_check_numbers(ctx, "map", "X", X));
  TRY(mat_check_numbers(ctx, "map", "Z", Z));
  int64_t d = X->rows;
  if (!goes_back(m))
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "map %s: its features cannot be turned back into what "
                      "they were made of; none, l1, l2, sqrt, standard, "
                      "scale, balance, impute and trim can",
                      m->spec);
  TRY(check_blocks(ctx, m, d));
  if (!fits(m, d) || Z->rows != d || Z->cols != X->cols)
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "map %s: samples and what is turned back differ in shape",
                      m->spec);
  double *before = base_alloc_raw(ctx, d, sizeof *before);
  if (before == NULL) return LAPIS_ENOMEM;
  lapis_status status = LAPIS_OK;
  for (int64_t j = 0; j < X->cols; j++) {
    double *x = out + j * d;
    const double *state = m->state + m->n_state;
    for (int64_t k = 0; k < d; k++) x[k] = lapis_mat_at(Z, k, j);
    for (int i = m->n_stages - 1; i >= 0 && status >= 0; i--)
      status = undo_stage(ctx, m, i, X, j, before, x, &state);
  }
  base_free(before);
  return status;
}

/* 0 stays 0 in every stage, and no entry looks at one that is 0, nor at the row
 * it stands in. */
bool map_keeps_zeros(const lapis_map *m)
{
  if (m->n_blocks > 0 || m->kernel.count > 0) return false;
  for (int i = 0; i < m->n_stages; i++)
    if (m->stage[i].kind == STAGE_STANDARD ||
        m->stage[i].kind == STAGE_BALANCE || m->stage[i].kind == STAGE_IMPUTE ||
        m->stage[i].kind == STAGE_TRIM || m->stage[i].kind == STAGE_CHI2)
      return false;
  return true;
}

static lapis_status map_sparse(lapis_ctx *ctx, const lapis_map *m,
                               const lapis_mat *X, double **memory,
                               lapis_mat *out)
{
  int64_t end = X->colptr[X->cols];
  double *val = base_alloc_raw(ctx, end, sizeof *val);
  if (val == NULL) return LAPIS_ENOMEM;
  lapis_status status = LAPIS_OK;
  int64_t d;
  for (int64_t j = 0; j < X->cols && status == LAPIS_OK; j++)
    status = apply_stored(ctx, m, m->n_stages, X, j, val + X->colptr[j], &d);
  *out = *X;
  out->dtype = LAPIS_F64;
  out->val = *memory = val;
  if (status == LAPIS_OK) return LAPIS_OK;
  base_free(val);
  *memory = NULL;
  return status;
}

lapis_status lapis_map_make(lapis_ctx *ctx, const lapis_map *m,
                            const lapis_mat *X, double **memory, lapis_mat *out)
{
  MAKES(memory);
  NEEDS(ctx, m, X, memory, out);
  TRY(check_input(ctx, X));
  if (X->colptr != NULL && map_keeps_zeros(m))
    return map_sparse(ctx, m, X, memory, out);
  int64_t rows = lapis_map_rows(m, X->rows);
  lapis_mat wide = *X;
  wide.rows = rows;
  TRY(mat_check_dense(ctx, "map", "the result", &wide));
  double *val = base_alloc_raw(ctx, rows * X->cols, sizeof *val);
  if (val == NULL) return LAPIS_ENOMEM;
  lapis_status status = lapis_map_apply(ctx, m, X, val);
  if (status < 0) {
    base_free(val);
    return status;
  }
  *memory = val;
  *out = lapis_mat_f64(val, rows, X->cols);
  return LAPIS_OK;
}

const mat_seen *map_seen(const lapis_map *m, int64_t *features,
                         int64_t *samples)
{
  *features = m->n_seen;
  *samples = m->samples;
  return m->seen;
}

/* ---- storing ------------------------------------------------------------*/
lapis_mat map_state(const lapis_map *m)
{
  return lapis_mat_f64(m->state, 1, m->n_state);
}

lapis_status map_restore(lapis_ctx *ctx, const char *spec,
                         const lapis_mat *state, lapis_map **out)
{
  TRY(lapis_map_new(ctx, spec, out));
  lapis_map *m = *out;
  m->n_state = state->rows * state->cols;
  m->state = base_alloc(ctx, m->n_state, sizeof *m->state);
  if (m->state == NULL) {
    lapis_map_free(m);
    *out = NULL;
    return LAPIS_ENOMEM;
  }
  mat_to_f64(state, m->state, state->rows > 0 ? state->rows : 1);
  kernel_state at;
  if (m->kernel.count == 0 || kernel_of(m, &at)) return LAPIS_OK;
  lapis_map_free(m);
  *out = NULL;
  return misfit(ctx, spec);
}
