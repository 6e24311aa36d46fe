/* choose_boxes.c - one box an image, so that all that are chosen look alike.
 *
 * What an image says by itself of its box b is
 *   u_b = (score_b / largest score + contrast_b / largest contrast) / 2.
 * Round by round, of all boxes at once:
 *   p_b <- exp(t_b / heat) / sum over the image,  t_b = u_b at first
 *   s_b <- what the other images say of b, from all p
 *   t_b <- u_b and s_b
 * by edges and colours (alike_boxes.c) or by the places of a network's map
 * (map_boxes.c).  After the last round the box of the greatest t is chosen.
 *
 * Boxes of images without the object (settings: without) are whitened with the
 * others, and a box gains by what they have not: u_b <- u_b + unlike d_b, d as
 * contrast.c has it, less its mean, over its deviation.
 *
 * This takes the place of [ROML16] (5) with one slot: p weighs boxes that are
 * nearly as good, where a permutation has to take one.
 *
 * What an image says (u) and what the others say (s) may want different boxes;
 * a box that both want is right more often (bench/results/localisation.md). */
#include <math.h>
#include <string.h>

#include "images/places/choice.h"

enum {
  LENGTH = CONTRAST_LENGTH,
  PLACE = CONTRAST_PLACE,
  MOST_GRID = 64 /* places along each side of a map */
};

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
/* p <- of t. */
static void prefer(choice *c)
{
  for (int64_t k = 0; k < c->K; k++) {
    double most = -INFINITY, sum = 0;
    for (int64_t b = c->first[k]; b < c->first[k + 1]; b++)
      most = fmax(most, c->t[b]);
    for (int64_t b = c->first[k]; b < c->first[k + 1]; b++)
      sum += c->p[b] = exp((c->t[b] - most) / c->set->heat);
    for (int64_t b = c->first[k]; b < c->first[k + 1]; b++) c->p[b] /= sum;
  }
}

static lapis_status goes_on(lapis_ctx *ctx, int64_t round, int64_t rounds)
{
  lapis_progress now = {.method = "locate",
                        .iter = round,
                        .gap = NAN,
                        .done = (double)round / (double)rounds};
  if (!base_show(ctx, &now) || base_cancelled(ctx)) return LAPIS_CANCELLED;
  return base_late(ctx) ? LAPIS_TIME_LIMIT : LAPIS_OK;
}

static lapis_status choose(lapis_ctx *ctx, choice *c,
                           const lapis_choose_boxes *of)
{
  place_map *map = NULL;
  alike_whiten(c);
  lapis_status s = c->all > c->N ? weigh_against(ctx, c) : LAPIS_OK;
  memcpy(c->t, c->u, (size_t)c->N * sizeof *c->t);
  if (s == LAPIS_OK && c->set->map != NULL)
    s = map_new(ctx, c, of->box, of->size, &map);
  for (int64_t r = 0; s == LAPIS_OK && r < c->set->rounds; r++) {
    s = goes_on(ctx, r, c->set->rounds);
    if (s != LAPIS_OK) break;
    prefer(c);
    if (map != NULL)
      map_compare(map, c);
    else
      alike_compare(c);
  }
  map_free(map);
  return s;
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
  if (set->map == NULL) return LAPIS_OK;
  if (set->without != NULL)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "boxes: a map goes without images without the object");
  if (!(set->grid >= 2 && set->grid <= MOST_GRID))
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "boxes: the grid of the map is %" PRId64
                      "; it must be from 2 to %d",
                      set->grid, MOST_GRID);
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
  c->C = base_alloc(ctx, LAPIS_OUTLINE_EDGES * CHOICE_STRIDE, sizeof *c->C);
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
    s = choose(ctx, &c, &of);
  }
  if (s >= 0) answer(&c, box, pick, likeness);
  release(&c);
  return s;
}
