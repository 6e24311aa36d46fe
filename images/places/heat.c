/* heat.c - what the words of an image say for a class, segment by
 * segment.
 *
 * [MC15] Sec. 4.5: a class representative is a histogram completed for a sample
 * that has this class alone; taken as the weights of a linear detector "less
 * its mean", it gives each word a score, each pixel that of its word, and a
 * region the sum over its words. */
#include <math.h>

#include "images/places/places.h"

static double column_sum(const lapis_mat *A, int64_t c)
{
  double sum = 0;
  for (int64_t i = 0; i < A->rows; i++) sum += lapis_mat_at(A, i, c);
  return sum;
}

/* weight -= mean over classes of the representatives, each divided by its
 * sum, as the c-th is; classes of sum 0 or less say nothing. */
static void subtract_others(const lapis_mat *reps, int64_t c, double *weight)
{
  int64_t classes = 0;
  for (int64_t k = 0; k < reps->cols; k++) classes += column_sum(reps, k) > 0;
  double own = column_sum(reps, c);
  for (int64_t i = 0; i < reps->rows; i++)
    weight[i] = own > 0 ? weight[i] / own : 0;
  for (int64_t k = 0; k < reps->cols; k++) {
    double sum = column_sum(reps, k) * (double)classes;
    for (int64_t i = 0; i < reps->rows && sum > 0; i++)
      weight[i] -= lapis_mat_at(reps, i, k) / sum;
  }
}

lapis_status lapis_class_weights(lapis_ctx *ctx, const lapis_mat *reps,
                                 int64_t c, bool contrast, double *weight)
{
  NEEDS(ctx, reps, weight);
  TRY(mat_check_numbers(ctx, "class weights", "the representatives", reps));
  if (c < 0 || c >= reps->cols || reps->rows < 1)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "class weights: class %" PRId64 " of %" PRId64
                      " representatives of %" PRId64 " words",
                      c, reps->cols, reps->rows);
  TRY(mat_check_finite(ctx, "class weights", "the representatives", reps,
                       false));
  double mean = contrast ? 0 : column_sum(reps, c) / (double)reps->rows;
  for (int64_t i = 0; i < reps->rows; i++)
    weight[i] = lapis_mat_at(reps, i, c) - mean;
  if (contrast) subtract_others(reps, c, weight);
  return LAPIS_OK;
}

static lapis_status check_weights(lapis_ctx *ctx, const char *what,
                                  const double *weight, int64_t d)
{
  for (int64_t i = 0; i < d; i++)
    if (!isfinite(weight[i]))
      return lapis_fail(ctx, LAPIS_EDATA,
                        "%s: the weight of word %" PRId64
                        " is %g; it must be finite",
                        what, i, weight[i]);
  return LAPIS_OK;
}

lapis_status lapis_heat_map(lapis_ctx *ctx, const lapis_words *words,
                            const double *weight, int64_t across, int64_t down,
                            double *value)
{
  NEEDS(ctx, words, weight, value);
  TRY(words_check(ctx, "heat map", words));
  TRY(check_weights(ctx, "heat map", weight, words->vocabulary));
  if (across < 1 || down < 1 || across > words->width || down > words->height)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "heat map: %" PRId64 " x %" PRId64
                      " cells of an image of %" PRId64 " x %" PRId64 " pixels",
                      across, down, words->width, words->height);
  int64_t *count = base_alloc(ctx, across * down, sizeof *count);
  if (count == NULL) return LAPIS_ENOMEM;
  for (int64_t k = 0; k < across * down; k++) value[k] = 0;
  for (int64_t j = 0; j < words->word.cols; j++) {
    int64_t x, y;
    words_pixel(words, j, &x, &y);
    int64_t k = y * down / words->height * across + x * across / words->width;
    value[k] += weight[words_index(words, j)];
    count[k]++;
  }
  for (int64_t k = 0; k < across * down; k++)
    value[k] = count[k] > 0 ? value[k] / (double)count[k] : NAN;
  base_free(count);
  return LAPIS_OK;
}

lapis_status lapis_segment_scores(lapis_ctx *ctx, const lapis_words *words,
                                  const lapis_segments *segments,
                                  const double *weight, double *score)
{
  NEEDS(ctx, words);
  TRY(words_check(ctx, "segment scores", words));
  TRY(check_weights(ctx, "segment scores", weight, words->vocabulary));
  if (words->width != segments->width || words->height != segments->height)
    return lapis_fail(
        ctx, LAPIS_ESHAPE,
        "segment scores: words of an image of %" PRId64 " x %" PRId64
        " pixels, segments of one of %" PRId64 " x %" PRId64,
        words->width, words->height, segments->width, segments->height);
  for (int64_t s = 0; s < segments->graph.count; s++) score[s] = 0;
  for (int64_t j = 0; j < words->word.cols; j++) {
    int64_t x, y;
    words_pixel(words, j, &x, &y);
    score[segments->label[y * segments->width + x]] +=
        weight[words_index(words, j)];
  }
  return LAPIS_OK;
}
