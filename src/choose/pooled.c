/* pooled.c - all hidden samples judged together.
 *
 * The mean over folds never sets samples of different folds against each other.
 * Where one person's scores are all higher than another's it looks too good to
 * those who will rank the pictures of many people; judged together they count.
 *
 * The error is the delete-one-block jackknife's: samples of a group err alike,
 * so that an error from single samples would be far too small. */
#include "choose/pooled.h"

#include <math.h>

/* The metric over all hidden samples but those of a block (-1: all); room has
 * place for two matrices like scores. */
static lapis_status judge_without(const pool *p, const double *scores,
                                  int64_t block, double *room, double *value)
{
  int64_t K = p->truth.rows, m = 0;
  double *truth = room, *score = room + K * p->plan->samples;
  *value = NAN;
  for (int64_t j = 0; j < p->plan->samples; j++) {
    const double *s = scores + j * K;
    int64_t answered = 0;
    for (int64_t i = 0; i < K; i++) answered += !isnan(s[i]);
    if (p->plan->fold[j] < 0 || p->plan->block[j] == block || answered == 0)
      continue;
    for (int64_t i = 0; i < K; i++) {
      truth[m * K + i] = isnan(s[i]) ? NAN : lapis_mat_at(&p->truth, i, j);
      score[m * K + i] = isnan(s[i]) ? 0 : s[i];
    }
    m++;
  }
  if (m == 0) return LAPIS_OK;
  lapis_mat T = lapis_mat_f64(truth, K, m), S = lapis_mat_f64(score, K, m);
  return lapis_metric(p->ctx, p->metric, &T, &S, NULL, value);
}

/* Blocks whose leaving out leaves nothing to be judged say nothing. */
static lapis_status jackknife(const pool *p, const double *scores, double *room,
                              double *error)
{
  double n = 0, mean = 0, square = 0;
  for (int64_t b = 0; b < p->plan->blocks; b++) {
    double v;
    TRY(judge_without(p, scores, b, room, &v));
    if (isnan(v)) continue;
    double step = v - mean; /* Welford: the values are nearly equal */
    n++;
    mean += step / n;
    square += step * (v - mean);
  }
  *error = n > 1 ? sqrt((n - 1) / n * square) : NAN;
  return LAPIS_OK;
}

lapis_status pool_judge(const pool *p, const double *scores, double *value,
                        double *error)
{
  int64_t entries = p->truth.rows * p->plan->samples;
  double *room = base_alloc_raw(p->ctx, 2 * entries, sizeof *room);
  if (room == NULL) return LAPIS_ENOMEM;
  lapis_status s = judge_without(p, scores, -1, room, value);
  if (s >= 0) s = jackknife(p, scores, room, error);
  base_free(room);
  return s;
}
