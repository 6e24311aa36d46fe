/* problem.c - from data to phi: checks, Z_0, weights, mu. */
#include <math.h>

#include "methods/mc/mc.h"
#include "methods/mc/observed.h"

/* A histogram may miss 1 by what summing 10^4 rounded entries costs. */

/* ---- checks -------------------------------------------------------------*/
static bool seen(const lapis_mat *A, int64_t i, int64_t j)
{
  return !isnan(lapis_mat_at(A, i, j));
}

/* counts: rows of X. */
static lapis_status look_at_features(lapis_ctx *ctx, const lapis_mat *X,
                                     double *counts)
{
  for (int64_t i = 0; i < X->rows; i++) {
    int64_t j = 0;
    while (j < X->cols && !seen(X, i, j)) j++;
    counts[i] = j < X->cols;
  }
  TRY(base_sum(ctx, counts, X->rows));
  for (int64_t i = 0; i < X->rows; i++)
    if (!(counts[i] > 0))
      return lapis_fail(ctx, LAPIS_EMISSING,
                        "mc: feature %" PRId64
                        " of X is observed in no sample; "
                        "leave it out",
                        i + 1);
  return LAPIS_OK;
}

static lapis_status check_every_feature(lapis_ctx *ctx, const lapis_mat *X)
{
  double *counts = base_alloc(ctx, X->rows, sizeof *counts);
  if (counts == NULL) return LAPIS_ENOMEM;
  lapis_status s = look_at_features(ctx, X, counts);
  base_free(counts);
  return s;
}

static lapis_status check_shapes(lapis_ctx *ctx, const lapis_data *data)
{
  const lapis_mat *X = &data->X, *Y = &data->Y;
  TRY(mat_check_samples(ctx, "mc", X));
  return mat_empty(Y) ? LAPIS_OK : mat_check_beside(ctx, "mc", "Y", Y, X);
}

/* What a sparse X leaves out is not observed. */
bool mc_leaves_out(const lapis_mc_settings *set, const lapis_data *data)
{
  return data->X.colptr != NULL && set->absent == LAPIS_ABSENT_MISSING;
}

/* Features of which nothing is stored: the first, and how many. */
static lapis_status check_stored(lapis_ctx *ctx, const lapis_mat *X)
{
  int64_t features = 0, feature = 0;
  double *seen_rows = base_alloc(ctx, X->rows, sizeof *seen_rows);
  if (seen_rows == NULL) return LAPIS_ENOMEM;
  for (int64_t k = X->colptr[0]; k < X->colptr[X->cols]; k++)
    seen_rows[X->rowidx[k]] = 1;
  lapis_status s = base_sum(ctx, seen_rows, X->rows);
  for (int64_t i = X->rows - 1; i >= 0; i--) {
    if (seen_rows[i] > 0) continue;
    feature = i + 1;
    features++;
  }
  base_free(seen_rows);
  TRY(s);
  if (features == 0) return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_EMISSING,
                    "mc: %" PRId64 " feature%s observed in no sample, column "
                    "%" PRId64 " %s; leave out what is empty",
                    features, features > 1 ? "s are" : " is", feature,
                    features > 1 ? "first" : "of X");
}

lapis_status mc_check_data(lapis_ctx *ctx, const lapis_mc_settings *set,
                           const lapis_data *data)
{
  TRY(check_shapes(ctx, data));
  if (mc_leaves_out(set, data)) {
    TRY(observed_check(ctx, &data->X));
    TRY(mat_check_finite(ctx, "mc", "Y", &data->Y, true));
    return check_stored(ctx, &data->X);
  }
  TRY(mc_check_features(ctx, set->variant, &data->X));
  TRY(mat_check_finite(ctx, "mc", "Y", &data->Y, true));
  return check_every_feature(ctx, &data->X);
}

/* Of the targets of data, encoded. */
static lapis_status check_labels(lapis_ctx *ctx, const targets *t)
{
  return targets_check_kinds(ctx, "mc", t,
                             "; without Y the features alone are completed");
}

lapis_status mc_weighted(lapis_ctx *ctx, arena *own, const lapis_data *data,
                         lapis_data *out)
{
  *out = *data;
  if (data->weight == NULL || mat_empty(&data->Y)) return LAPIS_OK;
  TRY(check_shapes(ctx, data));
  TRY(mat_check_weights(ctx, "mc", data->weight, data->Y.cols));
  return mat_weighted_targets(own, &data->Y, data->weight, &out->Y);
}

lapis_status mc_check(lapis_ctx *ctx, const lapis_data *data,
                      const void *settings)
{
  targets labels = {.classes = 0};
  arena own = {.ctx = ctx};
  lapis_data counted;
  lapis_status s = mc_weighted(ctx, &own, data, &counted);
  if (s >= 0) s = mc_check_data(ctx, settings, &counted);
  if (s >= 0) s = targets_encode(ctx, "mc", &counted.Y, &labels);
  if (s >= 0) s = check_labels(ctx, &labels);
  targets_free(&labels);
  arena_free(&own);
  return s;
}

/* Around 0 and 1 it matters which of two values is 1: the nuclear norm pulls
 * every score towards 0.  The rarer known value is 1 with labels `rare`, a tie
 * leaves the larger; then labels that say the same have the same answer,
 * however they are spelt.  A class among several is a row of its own.  From
 * here on the signs are those of the rows of Z. */
static lapis_status turn_labels(mc *w)
{
  targets *t = &w->p.labels;
  w->p.turn = base_alloc(w->base.ctx, t->classes, sizeof *w->p.turn);
  if (w->p.turn == NULL) return LAPIS_ENOMEM;
  bool rare = w->set.labels == LAPIS_MC_LABELS_RARE && t->kind != TARGETS_CLASS;
  for (int64_t c = 0; c < t->classes; c++) {
    int64_t count[2] = {0, 0};
    if (rare) TRY(targets_count_all(w->base.ctx, t, c, count));
    w->p.turn[c] = count[0] < count[1] ? -1 : 1;
    for (int64_t j = 0; j < t->samples && w->p.turn[c] < 0; j++)
      t->sign[j * t->classes + c] *= -1;
  }
  return LAPIS_OK;
}

/* ---- building -----------------------------------------------------------*/
bool mc_zero_one(const void *settings, const targets *t)
{
  const lapis_mc_settings *set = settings;
  if (set->labels == LAPIS_MC_LABELS_AUTO) return t->zero_one;
  return set->labels != LAPIS_MC_LABELS_PM;
}

static lapis_status count_seen_labels(mc *w)
{
  mc_problem *p = &w->p;
  double added = (double)(p->K * (p->n - p->samples));
  p->seen_Y = p->K * (p->n - p->samples);
  p->weight_Y = added;
  p->most = 1;
  for (int64_t k = 0; k < p->K * p->samples; k++) {
    if (isnan(p->labels.sign[k])) continue;
    double times = mc_times(p, k / p->K);
    p->seen_Y++;
    p->weight_Y += times;
    if (p->weight != NULL) p->most = fmax(p->most, times);
  }
  TRY(base_sum(w->base.ctx, &p->weight_Y, 1));
  TRY(base_max(w->base.ctx, &p->most, 1));
  return base_sum_whole(w->base.ctx, &p->seen_Y, 1);
}

static lapis_status count_seen_features(mc *w, const lapis_data *data)
{
  mc_problem *p = &w->p;
  int64_t first;
  TRY(base_place(w->base.ctx, p->n, &first, &p->all));
  p->seen_X = mc_leaves_out(&w->set, data)
                  ? data->X.colptr[p->samples] - data->X.colptr[0]
                  : p->D * p->samples - lapis_mat_missing(&data->X);
  return base_sum_whole(w->base.ctx, &p->seen_X, 1);
}

static lapis_status encode(mc *w, const lapis_data *data)
{
  mc_problem *p = &w->p;
  lapis_data counted;
  TRY(mc_weighted(w->base.ctx, &w->base.arena, data, &counted));
  p->weight = mat_empty(&data->Y) ? NULL : data->weight;
  TRY(targets_encode(w->base.ctx, "mc", &counted.Y, &p->labels));
  TRY(check_labels(w->base.ctx, &p->labels));
  TRY(turn_labels(w));
  p->K = p->labels.classes;
  p->D = data->X.rows;
  p->samples = data->X.cols;
  bool last = base_rank(w->base.ctx) == base_ranks(w->base.ctx) - 1;
  p->n = p->samples + (last && w->set.class_features ? p->K : 0);
  p->ones = p->K > 0;
  p->m = p->K + p->D + p->ones;
  return count_seen_labels(w);
}

/* A later set of labels says nothing more of X. */
static lapis_status say_blank(mc *w, const lapis_data *data)
{
  lapis_data counted;
  TRY(mc_weighted(w->base.ctx, &w->base.arena, data, &counted));
  mat_say_blank(w->base.ctx, &data->X, &counted.Y,
                mc_leaves_out(&w->set, data));
  return LAPIS_OK;
}

lapis_status mc_problem_size(mc *w, const lapis_data *data)
{
  TRY(say_blank(w, data));
  TRY(encode(w, data));
  return count_seen_features(w, data);
}

lapis_status mc_problem_relabel(mc *w, const lapis_data *data)
{
  mc_problem *p = &w->p;
  targets labels = p->labels;
  double *turn = p->turn;
  p->labels = (targets){.classes = 0};
  base_free(p->calibration); /* of other labels */
  p->turn = p->calibration = NULL;
  lapis_status s = encode(w, data);
  targets_free(&labels);
  base_free(turn);
  return s;
}

/* c_y */
static const la_kind LABEL_LOSS = LA_LOGISTIC;

void mc_set_blocks(mc_problem *p)
{
  la_penalty *phi = &p->phi;
  phi->n_blocks = 0;
  if (p->K > 0)
    phi->block[phi->n_blocks++] =
        (la_block){LABEL_LOSS, 0, p->K, p->b, p->gamma};
  phi->block[phi->n_blocks++] =
      (la_block){p->variant->loss, p->K, p->D, p->a, 0};
  if (p->ones > 0)
    phi->block[phi->n_blocks++] = (la_block){LA_ONES, p->K + p->D, 1, 0, 0};
  p->threshold = targets_threshold(phi->zero_one);
}

void mc_set_weights(mc *w)
{
  mc_problem *p = &w->p;
  p->a = p->seen_X > 0 ? 1.0 / (double)p->seen_X : 0;
  p->b = p->weight_Y > 0 ? w->set.lambda / p->weight_Y : 0;
  mc_problem_stated(p, &w->set);
  p->mu = isnan(w->set.mu) ? w->set.mu_rel * p->a * p->sigma_1 : w->set.mu;
  w->set.mu = p->mu;
  mc_set_blocks(p);
}

/* Sign of label c of column j.  Behind the samples stand the class
 * representatives [MC15 Sec. 4.5]: one a class, with its label alone and
 * nothing known of its features. */
static double sign_at(const mc_problem *p, int64_t c, int64_t j)
{
  if (j < p->samples) return p->labels.sign[j * p->K + c];
  return c == j - p->samples ? p->turn[c] : -p->turn[c];
}

/* Label column j as the loss wants it: in {-1, 1} or {0, 1}. */
void mc_label_column(const mc *w, int64_t j, double *out)
{
  for (int64_t c = 0; c < w->p.K; c++)
    out[c] = targets_coded(sign_at(&w->p, c, j), w->p.phi.zero_one);
}

/* Z_0: labels, features, ones, a column a sample (m x n). */
static lapis_status fill(mc *w, const lapis_data *data, double *Z0)
{
  int64_t K = w->p.K, m = w->p.m;
  mat_to_f64(&data->X, Z0 + K, m);
  for (int64_t j = 0; j < w->p.n; j++) {
    mc_label_column(w, j, Z0 + j * m);
    for (int64_t i = 0; j >= w->p.samples && i < w->p.D; i++)
      Z0[j * m + K + i] = NAN;
    if (w->p.ones > 0) Z0[j * m + m - 1] = 1;
  }
  lapis_mat view = lapis_mat_f64(Z0, m, w->p.n);
  return w->h.ops->upload(&w->h, &view, &w->p.phi.Z0);
}

/* W = Z_0 with zeros for what is unknown, for sigma_1 and the start. */
static lapis_status fill_known(mc *w, double *Z0)
{
  for (int64_t k = 0; k < w->p.m * w->p.n; k++)
    if (isnan(Z0[k])) Z0[k] = 0;
  lapis_mat view = lapis_mat_f64(Z0, w->p.m, w->p.n);
  TRY(w->h.ops->upload(&w->h, &view, &w->W));
  TRY(op_norm2_upper(w->svt, &w->W, &w->p.sigma_1));
  mc_check_unit(w);
  return LAPIS_OK;
}

void mc_check_unit(mc *w)
{
  if (!(w->p.sigma_1 > 0)) w->p.sigma_1 = 1;
}

lapis_status mc_densify(mc *w, lapis_data *data)
{
  const lapis_mat X = data->X;
  base_free(w->whole);
  double absent = mc_leaves_out(&w->set, data) ? NAN : 0;
  w->whole = base_alloc_raw(w->base.ctx, X.rows * X.cols, sizeof *w->whole);
  if (w->whole == NULL) return LAPIS_ENOMEM;
  if (X.colptr == NULL) {
    mat_shifted(&X, w->shift, w->whole, X.rows);
    data->X = lapis_mat_f64(w->whole, X.rows, X.cols);
    return mc_check_features(w->base.ctx, w->set.variant, &data->X);
  }
  for (int64_t k = 0; k < X.rows * X.cols; k++) w->whole[k] = absent;
  for (int64_t j = 0; j < X.cols; j++)
    for (int64_t k = X.colptr[j]; k < X.colptr[j + 1]; k++)
      w->whole[j * X.rows + X.rowidx[k]] = mat_stored(&X, k);
  data->X = lapis_mat_f64(w->whole, X.rows, X.cols);
  return LAPIS_OK;
}

void mc_problem_stated(mc_problem *p, const lapis_mc_settings *set)
{
  p->variant = mc_variant_of(set->variant);
  p->gamma = set->gamma;
}

void mc_problem_kind(mc *w)
{
  mc_problem_stated(&w->p, &w->set);
  w->p.phi.zero_one = mc_zero_one(&w->set, &w->p.labels);
}

/* What columns count, 1 x n. */
static lapis_status fill_times(mc *w)
{
  mc_problem *p = &w->p;
  if (p->weight == NULL) return LAPIS_OK;
  double *times = arena_reals(&w->base.arena, p->n);
  TRY(arena_status(&w->base.arena));
  for (int64_t j = 0; j < p->n; j++) times[j] = mc_times(p, j);
  lapis_mat view = lapis_mat_f64(times, 1, p->n);
  TRY(w->h.ops->alloc(&w->h, LAPIS_F64, 1, p->n, &p->phi.times));
  return w->h.ops->upload(&w->h, &view, &p->phi.times);
}

lapis_status mc_problem_build(mc *w, const lapis_data *data)
{
  mc_problem *p = &w->p;
  mc_problem_kind(w);
  TRY(fill_times(w));
  TRY(w->h.ops->alloc(&w->h, LAPIS_F64, p->m, p->n, &p->phi.Z0));
  double *host = base_alloc_raw(w->base.ctx, p->m * p->n, sizeof *host);
  if (host == NULL) return LAPIS_ENOMEM;
  lapis_status s = fill(w, data, host);
  if (s >= 0) s = fill_known(w, host);
  base_free(host);
  TRY(s);
  mc_set_weights(w);
  return LAPIS_OK;
}

void mc_problem_free(mc *w)
{
  w->h.ops->free(&w->h, &w->p.phi.Z0);
  w->h.ops->free(&w->h, &w->p.phi.times);
}
