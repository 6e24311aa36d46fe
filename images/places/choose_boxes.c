/* choose_boxes.c - one box an image, so that all that are chosen look alike.
 *
 * Boxes come with what outline.c says of them: x = [edges; colours; contrast].
 * Edges and colours are each freed of what all boxes of the set share,
 *   y = U'^-1 (x - m),  z = y / |y|,  U'U = C + ridge tr(C)/d I,
 * m and C their mean and covariance over the boxes of all images, so that
 * z_a'z_b tells whether a and b are alike in what other boxes are not (linear
 * discriminant analysis against the background: Hariharan, Malik, Ramanan, ECCV
 * 2012).  Both are put side by side, weighted by the roots of their shares.
 *
 * What an image says by itself of its box b is
 *   u_b = (score_b / largest score + contrast_b / largest contrast) / 2.
 * Round by round, of all boxes at once:
 *   p_b <- exp(t_b / heat) / sum over the image,  t_b = u_b at first
 *   m_k <- sum over the boxes of all images but k of p_b z_b
 *   s_b <- z_b'm_k / |m_k|, over the deviation of all s
 *   t_b <- u_b + weight s_b - place/2 sum of ((g_b - a) / (v + 0.1))^2
 * where g_b is the box's middle, as shares of the image's sides, and the
 * logarithms of the shares that its sides have; a and v are the mean and the
 * deviation of g under p: what is common stands at like places and is alike in
 * size.  After the last round the box of the greatest t is chosen.  Leaving an
 * image out of its own mean keeps it from holding on to its first guess.
 *
 * Boxes of images without the object (settings: without) are whitened with the
 * others, and a box gains by what they have not: u_b <- u_b + unlike d_b, d as
 * contrast.c has it, less its mean, over its deviation.
 *
 * This takes the place of [ROML16] (5) with one slot: the mean is the
 * rank that is left where all chosen boxes are alike, and p weighs boxes that
 * are nearly as good, where a permutation has to take one.
 *
 * What an image says (u) and what the others say (s) may want different boxes;
 * a box that both want is right more often (bench/results/localisation.md). */
#include <math.h>
#include <string.h>

#include "images/places/contrast.h"
#include "images/places/places.h"
#include "lapis/images.h"
#include "op/dense/thin.h"

static const double blur = 0.1; /* of places */

enum {
  PLACE = CONTRAST_PLACE,
  EDGES = LAPIS_OUTLINE_EDGES,
  COLOURS = LAPIS_OUTLINE_COLOURS,
  LENGTH = CONTRAST_LENGTH,
  STRIDE = (EDGES + 7) / 8 * 8 /* as tall_cholesky wants rows */
};

typedef struct choice {
  const lapis_choose_settings *set;
  int64_t K, N;          /* images, their boxes */
  int64_t all;           /* boxes of those without the object, too */
  int64_t *first;        /* K + 1: image k has boxes first[k] .. */
  double *z;             /* LENGTH x all */
  double *u, *t, *s, *p; /* N */
  double *g;             /* PLACE x all */
  double *mean;          /* LENGTH x (K + 1): sums of p z: each image's, all */
  double *C;             /* EDGES x STRIDE, scratch */
} choice;

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

/* ---- an image by itself -------------------------------------------------*/
/* Adds half of v over the image's largest v; what is unknown adds nothing. */
static void add_share(choice *c, int64_t k, const lapis_mat *m, int64_t row)
{
  double most = 0;
  for (int64_t b = c->first[k]; b < c->first[k + 1]; b++)
    most = fmax(most, lapis_mat_at(m, row, b));
  for (int64_t b = c->first[k]; b < c->first[k + 1] && most > 0; b++) {
    double v = lapis_mat_at(m, row, b);
    if (!isnan(v)) c->u[b] += v / most / 2;
  }
}

/* The middle and the logarithms of the sides, as shares of the image's. */
static void put_place(const lapis_mat *box, int64_t b, const lapis_mat *size,
                      int64_t k, double *g)
{
  for (int64_t i = 0; i < 2; i++) {
    double whole = lapis_mat_at(size, i, k);
    double side = lapis_mat_at(box, 2 + i, b) / whole;
    g[i] = lapis_mat_at(box, i, b) / whole + side / 2;
    g[2 + i] = log(side);
  }
}

static double group_of(const lapis_mat *group, int64_t b)
{
  return group->rows == 1 ? lapis_mat_at(group, 0, b)
                          : lapis_mat_at(group, b, 0);
}

/* The boxes of some images, as boxes `at` and on. */
static void take_boxes(choice *c, const lapis_choose_boxes *from, int64_t at)
{
  for (int64_t b = 0; b < from->X->cols; b++) {
    for (int64_t i = 0; i < LENGTH; i++)
      c->z[(at + b) * LENGTH + i] = lapis_mat_at(from->X, i, b);
    put_place(from->box, b, from->size, (int64_t)group_of(from->group, b),
              c->g + (at + b) * PLACE);
  }
}

static void weigh_alone(choice *c, const lapis_mat *X, const lapis_mat *box)
{
  for (int64_t k = 0; k < c->K; k++) {
    add_share(c, k, box, 4);
    add_share(c, k, X, LENGTH);
  }
}

/* ---- images without the object ------------------------------------------*/
static lapis_status weigh_against(lapis_ctx *ctx, choice *c)
{
  double sum = 0, squares = 0, n = (double)c->N;
  lapis_status s =
      contrast_distances(ctx, c->N, c->z, c->g, c->all - c->N,
                         c->z + c->N * LENGTH, c->g + c->N * PLACE, c->s);
  if (s != LAPIS_OK) return s;
  for (int64_t b = 0; b < c->N; b++) sum += c->s[b];
  for (int64_t b = 0; b < c->N; b++)
    squares += (c->s[b] - sum / n) * (c->s[b] - sum / n);
  for (int64_t b = 0; b < c->N && squares > 0; b++)
    c->u[b] += c->set->unlike * (c->s[b] - sum / n) / sqrt(squares / n);
  memset(c->s, 0, (size_t)c->N * sizeof *c->s);
  return LAPIS_OK;
}

/* ---- rounds -------------------------------------------------------------*/
/* p <- of t, and the sums of p z. */
static void take_means(choice *c)
{
  double *all = c->mean + c->K * LENGTH;
  memset(c->mean, 0, (size_t)((c->K + 1) * LENGTH) * sizeof *c->mean);
  for (int64_t k = 0; k < c->K; k++) {
    double most = -INFINITY, sum = 0, *mean = c->mean + k * LENGTH;
    for (int64_t b = c->first[k]; b < c->first[k + 1]; b++)
      most = fmax(most, c->t[b]);
    for (int64_t b = c->first[k]; b < c->first[k + 1]; b++)
      sum += c->p[b] = exp((c->t[b] - most) / c->set->heat);
    for (int64_t b = c->first[k]; b < c->first[k + 1]; b++) {
      c->p[b] /= sum;
      for (int64_t i = 0; i < LENGTH; i++)
        mean[i] += c->p[b] * c->z[b * LENGTH + i];
    }
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

static lapis_status choose(lapis_ctx *ctx, choice *c)
{
  whiten(c, 0, EDGES, c->set->edges);
  whiten(c, EDGES, COLOURS, 1 - c->set->edges);
  lapis_status s = c->all > c->N ? weigh_against(ctx, c) : LAPIS_OK;
  memcpy(c->t, c->u, (size_t)c->N * sizeof *c->t);
  if (s != LAPIS_OK) return s;
  for (int64_t r = 0; r < c->set->rounds; r++) {
    lapis_progress now = {.method = "locate",
                          .iter = r,
                          .gap = NAN,
                          .done = (double)r / (double)c->set->rounds};
    if (!base_show(ctx, &now) || base_cancelled(ctx)) return LAPIS_CANCELLED;
    if (base_late(ctx)) return LAPIS_TIME_LIMIT;
    take_means(c);
    compare(c);
    compare_places(c);
  }
  return LAPIS_OK;
}

/* ---- the door -----------------------------------------------------------*/
static lapis_status check_boxes(lapis_ctx *ctx, const lapis_choose_boxes *of)
{
  TRY(mat_check_numbers(ctx, "boxes", "X", of->X));
  TRY(mat_check_numbers(ctx, "boxes", "group", of->group));
  TRY(mat_check_numbers(ctx, "boxes", "candidates", of->box));
  TRY(mat_check_numbers(ctx, "boxes", "sizes", of->size));
  const lapis_mat *X = of->X, *box = of->box;
  if (X->rows != LENGTH + 1 || box->rows != 5 || box->cols != X->cols ||
      of->group->rows * of->group->cols != X->cols || X->cols < 1)
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "boxes: X is %" PRId64 " x %" PRId64
                      ", candidates %" PRId64 " x %" PRId64
                      "; they must be %d x N and 5 x N, "
                      "with N groups",
                      X->rows, X->cols, box->rows, box->cols, LENGTH + 1);
  int64_t images = 0;
  for (int64_t b = 0; b < X->cols; b++) {
    double g = group_of(of->group, b);
    if (g == (double)images)
      images++;
    else if (g != (double)(images - 1))
      return lapis_fail(ctx, LAPIS_EDATA,
                        "boxes: group %" PRId64 " is %g; groups count 0, 1, "
                        "..., those of an image side by side",
                        b, g);
  }
  if (of->size->rows == 2 && of->size->cols == images) return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_ESHAPE,
                    "boxes: sizes are %" PRId64 " x %" PRId64
                    "; they must be 2 x %" PRId64 ", a width and a height an "
                    "image",
                    of->size->rows, of->size->cols, images);
}

static lapis_status check(lapis_ctx *ctx, const lapis_choose_boxes *of,
                          const lapis_choose_settings *set)
{
  TRY(check_boxes(ctx, of));
  const lapis_choose_boxes *w = set->without;
  if (w != NULL) {
    NEEDS(ctx, w->X, w->group, w->box, w->size);
    TRY(check_boxes(ctx, w));
  }
  if (!(set->rounds >= 0 && set->weight >= 0 && set->place >= 0 &&
        set->heat > 0 && set->edges >= 0 && set->edges <= 1 && set->ridge > 0 &&
        set->unlike >= 0))
    return lapis_fail(
        ctx, LAPIS_EINVAL,
        "boxes: settings must have rounds, weight, place and unlike >= 0, "
        "heat and ridge > 0, and edges from 0 to 1");
  return LAPIS_OK;
}

/* first: where each image begins. */
static void split(choice *c, const lapis_mat *group)
{
  for (int64_t b = 0; b < c->N; b++)
    if (group_of(group, b) == (double)c->K) c->first[c->K++] = b;
  c->first[c->K] = c->N;
}

static lapis_status make_room(lapis_ctx *ctx, choice *c)
{
  c->first = base_alloc(ctx, c->N + 1, sizeof *c->first);
  c->z = base_alloc_raw(ctx, c->all * LENGTH, sizeof *c->z);
  c->u = base_alloc(ctx, c->N, sizeof *c->u);
  c->t = base_alloc(ctx, c->N, sizeof *c->t);
  c->s = base_alloc(ctx, c->N, sizeof *c->s);
  c->p = base_alloc(ctx, c->N, sizeof *c->p);
  c->g = base_alloc(ctx, PLACE * c->all, sizeof *c->g);
  c->mean = base_alloc(ctx, (c->N + 1) * LENGTH, sizeof *c->mean);
  c->C = base_alloc(ctx, EDGES * STRIDE, sizeof *c->C);
  bool all = c->first != NULL && c->z != NULL && c->u != NULL && c->t != NULL &&
             c->s != NULL && c->p != NULL && c->g != NULL && c->mean != NULL &&
             c->C != NULL;
  return all ? LAPIS_OK : LAPIS_ENOMEM;
}

static void release(choice *c)
{
  base_free(c->first), base_free(c->z), base_free(c->u), base_free(c->t);
  base_free(c->s), base_free(c->p), base_free(c->g), base_free(c->mean),
      base_free(c->C);
}

/* The box of image k of which v is greatest, the first of several. */
static int64_t greatest(const choice *c, const double *v, int64_t k)
{
  int64_t best = c->first[k];
  for (int64_t b = best + 1; b < c->first[k + 1]; b++)
    if (v[b] > v[best]) best = b;
  return best;
}

static lapis_box box_at(const lapis_mat *box, int64_t b)
{
  return (lapis_box){lapis_mat_at(box, 0, b), lapis_mat_at(box, 1, b),
                     lapis_mat_at(box, 2, b), lapis_mat_at(box, 3, b), 0};
}

static void answer(const choice *c, const lapis_mat *box, double *pick,
                   double *likeness)
{
  double *agreement = c->set->agreement;
  for (int64_t k = 0; k < c->K; k++) {
    int64_t best = greatest(c, c->t, k);
    pick[k] = (double)best;
    likeness[k] = c->s[best];
    if (agreement == NULL) continue;
    lapis_box chosen = box_at(box, best);
    lapis_box alone = box_at(box, greatest(c, c->u, k));
    lapis_box alike = box_at(box, greatest(c, c->s, k));
    agreement[k] = c->set->rounds == 0 ? 1
                                       : fmin(box_overlap(&chosen, &alone),
                                              box_overlap(&chosen, &alike));
  }
}

lapis_status lapis_boxes_choose(lapis_ctx *ctx, const lapis_mat *X,
                                const lapis_mat *group, const lapis_mat *box,
                                const lapis_mat *size,
                                const lapis_choose_settings *given,
                                double *pick, double *likeness)
{
  NEEDS(ctx, X, group, box, size, pick, likeness);
  lapis_choose_settings set = lapis_choose_defaults();
  TRY(base_take(ctx, "boxes: the settings", given, &set, sizeof set));
  const lapis_choose_boxes of = {X, group, box, size};
  TRY(check(ctx, &of, &set));
  int64_t others = set.without != NULL ? set.without->X->cols : 0;
  choice c = {.set = &set, .N = X->cols, .all = X->cols + others};
  lapis_status s = make_room(ctx, &c);
  if (s >= 0) {
    split(&c, group);
    take_boxes(&c, &of, 0);
    if (others > 0) take_boxes(&c, set.without, c.N);
    weigh_alone(&c, X, box);
    s = choose(ctx, &c);
  }
  if (s >= 0) answer(&c, box, pick, likeness);
  release(&c);
  return s;
}
