/* alike_boxes.c - boxes compared by their edges and colours.
 *
 * Boxes come with what outline.c says of them: x = [edges; colours; contrast].
 * Edges and colours are each freed of what all boxes of the set share,
 *   y = U'^-1 (x - m),  z = y / |y|,  U'U = C + ridge tr(C)/d I,
 * m and C their mean and covariance over the boxes of all images, so that
 * z_a'z_b tells whether a and b are alike in what other boxes are not (linear
 * discriminant analysis against the background: Hariharan, Malik, Ramanan, ECCV
 * 2012).  Both are put side by side, weighted by the roots of their shares.
 *
 * In a round, from the p of choose_boxes.c,
 *   m_k <- sum over the boxes of all images but k of p_b z_b
 *   s_b <- z_b'm_k / |m_k|, over the deviation of all s
 *   t_b <- u_b + weight s_b - place/2 sum of ((g_b - a) / (v + 0.1))^2
 * where g_b is the box's middle, as shares of the image's sides, and the
 * logarithms of the shares that its sides have; a and v are the mean and the
 * deviation of g under p: what is common stands at like places and is alike in
 * size.  Leaving an image out of its own mean keeps it from holding on to its
 * first guess.  The mean is the rank that is left where all chosen boxes are
 * alike ([ROML16] (5)). */
#include <math.h>
#include <string.h>

#include "images/places/choice.h"
#include "op/dense/thin.h"

enum {
  EDGES = LAPIS_OUTLINE_EDGES,
  COLOURS = LAPIS_OUTLINE_COLOURS,
  LENGTH = CONTRAST_LENGTH,
  PLACE = CONTRAST_PLACE,
  STRIDE = CHOICE_STRIDE
};
static const double blur = 0.1; /* of places */

/* ---- what all boxes share -----------------------------------------------*/
static void centre(choice *c, int64_t from, int64_t d)
{
  for (int64_t i = from; i < from + d; i++) {
    double sum = 0;
    for (int64_t b = 0; b < c->all; b++) sum += c->z[b * LENGTH + i];
    for (int64_t b = 0; b < c->all; b++)
      c->z[b * LENGTH + i] -= sum / (double)c->all;
  }
}

/* C <- its factor U, U'U = the covariance and the ridge; false: all boxes are
 * the same. */
static bool factor(choice *c, int64_t from, int64_t d)
{
  double trace = 0;
  memset(c->C, 0, (size_t)(d * STRIDE) * sizeof *c->C);
  for (int64_t b = 0; b < c->all; b++) {
    const double *z = c->z + b * LENGTH + from;
    for (int64_t i = 0; i < d; i++)
      for (int64_t j = i; j < d; j++) c->C[i * STRIDE + j] += z[i] * z[j];
  }
  for (int64_t i = 0; i < d; i++) trace += c->C[i * STRIDE + i];
  for (int64_t i = 0; i < d; i++)
    c->C[i * STRIDE + i] += c->set->ridge * trace / (double)d;
  return trace > 0 && tall_cholesky(d, STRIDE, c->C);
}

/* z <- sqrt(share) y / |y|, y = U'^-1 (z - m), of one part of the numbers. */
static void whiten(choice *c, int64_t from, int64_t d, double share)
{
  centre(c, from, d);
  bool told = factor(c, from, d);
  for (int64_t b = 0; b < c->all; b++) {
    double *z = c->z + b * LENGTH + from, sum = 0;
    for (int64_t i = 0; told && i < d; i++) {
      const double *u = c->C + i * STRIDE;
      z[i] /= u[i];
      for (int64_t j = i + 1; j < d; j++) z[j] -= u[j] * z[i];
      sum += z[i] * z[i];
    }
    for (int64_t i = 0; i < d; i++) z[i] *= sum > 0 ? sqrt(share / sum) : 0;
  }
}

void alike_whiten(choice *c)
{
  whiten(c, 0, EDGES, c->set->edges);
  whiten(c, EDGES, COLOURS, 1 - c->set->edges);
}

/* ---- rounds -------------------------------------------------------------*/
/* The sums of p z. */
static void take_means(choice *c)
{
  double *all = c->mean + c->K * LENGTH;
  memset(c->mean, 0, (size_t)((c->K + 1) * LENGTH) * sizeof *c->mean);
  for (int64_t k = 0; k < c->K; k++) {
    double *mean = c->mean + k * LENGTH;
    for (int64_t b = c->first[k]; b < c->first[k + 1]; b++)
      for (int64_t i = 0; i < LENGTH; i++)
        mean[i] += c->p[b] * c->z[b * LENGTH + i];
    for (int64_t i = 0; i < LENGTH; i++) all[i] += mean[i];
  }
}

/* s <- likeness of every box to what the other images chose. */
static void compare(choice *c)
{
  const double *all = c->mean + c->K * LENGTH;
  double sum = 0, squares = 0, count = (double)c->N;
  for (int64_t k = 0; k < c->K; k++) {
    double *others = c->mean + k * LENGTH, length = 0;
    for (int64_t i = 0; i < LENGTH; i++) {
      others[i] = all[i] - others[i];
      length += others[i] * others[i];
    }
    for (int64_t b = c->first[k]; b < c->first[k + 1]; b++) {
      c->s[b] = 0;
      for (int64_t i = 0; i < LENGTH && length > 0; i++)
        c->s[b] += c->z[b * LENGTH + i] * others[i] / sqrt(length);
      sum += c->s[b];
      squares += c->s[b] * c->s[b];
    }
  }
  double spread = sqrt(fmax(0, squares / count - sum / count * (sum / count)));
  for (int64_t b = 0; b < c->N; b++) {
    c->s[b] = spread > 0 ? c->s[b] / spread : 0;
    c->t[b] = c->u[b] + c->set->weight * c->s[b];
  }
}

/* Takes from t what a box stands elsewhere, or is of another size. */
static void compare_places(choice *c)
{
  for (int64_t i = 0; i < PLACE; i++) {
    double mean = 0, square = 0, n = (double)c->K;
    for (int64_t b = 0; b < c->N; b++)
      mean += c->p[b] * c->g[b * PLACE + i] / n;
    for (int64_t b = 0; b < c->N; b++) {
      double off = c->g[b * PLACE + i] - mean;
      square += c->p[b] * off * off / n;
    }
    for (int64_t b = 0; b < c->N; b++) {
      double off = (c->g[b * PLACE + i] - mean) / (sqrt(square) + blur);
      c->t[b] -= c->set->place * off * off / 2;
    }
  }
}

void alike_compare(choice *c)
{
  take_means(c);
  compare(c);
  compare_places(c);
}
