/* logistic.c - logistic regression of several labels at once.
 *
 *   minimize over w, b   |w|^2 / 2 + C sum_j v_j log(1 + exp(-s_j (w'x_j + b)))
 *
 * for every label by itself, over the samples whose sign s_j is known; the bias
 * b is not penalised.  One class of K instead (`classes`):
 *
 *   minimize over W, b   |W|^2 / 2 - C sum_j v_j log softmax(W'x_j + b)_y_j
 *
 * A sample of weight v_j counts as v_j samples do.
 *
 * L-BFGS with an Armijo search [Liu and Nocedal 1989].  Labels walk by
 * themselves, but are evaluated together, so that the time goes into two
 * products a step; the weights of classes are one walker.
 *
 * Numerics: log(1 + exp(-u)) by its stable form.  Values tell a decrease down
 * to a gradient of the root of their rounding; from there on slopes do [Hager
 * and Zhang 2005].  A label of which one kind is known has no minimiser (b runs
 * away): its weights are 0 and its bias says the share, (known + 1) to 1. */
#include "op/learn/logistic.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MEMORY = 8 };
static const double ENOUGH = 1e-4; /* of the decrease that the slope promises */
static const double SHORTEST = 1e-12;
enum { IDLE = 20 }; /* steps of the slopes without a shorter gradient */

typedef struct walker { /* a label, or all classes */
  double value, first, step;
  double shortest; /* gradient so far */
  int64_t pairs;   /* seen so far; the last MEMORY are kept */
  int64_t idle;
  double rho[MEMORY];
  bool done, one_kind;
  bool floor; /* rounding ended it */
} walker;

typedef struct walk {
  la *h;
  const logistic_problem *p;
  int64_t d, n, K, size;              /* size: d + 1 */
  int64_t count, len;                 /* walkers, and how long a point is */
  walker *of;                         /* count */
  double *w, *g, *next, *slope, *dir; /* size x K each */
  double *S, *Y;                      /* size x MEMORY x K each */
  double *F;                          /* n x K: scores, then residuals */
  double *value;                      /* count: at next */
  double rounding;                    /* of a value, as a share of it */
} walk;

static double dot(const double *a, const double *b, int64_t n)
{
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* C v_j */
static double weight_of(const walk *w, int64_t j)
{
  return w->p->weight == NULL ? w->p->C : w->p->C * w->p->weight[j];
}

/* |w|^2, each square with its weight. */
static double square(const walk *w, const double *v)
{
  const double *r = w->p->ridge;
  double sum = 0;
  if (r == NULL) return dot(v, v, w->d);
  for (int64_t i = 0; i < w->d; i++) sum += r[i] * v[i] * v[i];
  return sum;
}

/* ---- values and gradients -----------------------------------------------*/
/* The loss of a label at its scores F, which become the residuals. */
static double label_loss(const walk *w, int64_t c, double bias, double *bias_g)
{
  double *F = w->F + c * w->n, sum = 0, slope = 0;
  for (int64_t j = 0; j < w->n; j++) {
    double s = w->p->sign[j * w->K + c];
    if (isnan(s)) {
      F[j] = 0;
      continue;
    }
    double u = s * (F[j] + bias), e = exp(-fabs(u)), v = weight_of(w, j);
    double loss = (u > 0 ? 0 : -u) + log1p(e);
    sum += w->p->weight == NULL ? loss : w->p->weight[j] * loss;
    F[j] = -v * s * (u > 0 ? e : 1) / (1 + e);
    slope += F[j];
  }
  *bias_g = slope;
  return w->p->C * sum;
}

/* The loss of sample j, whose class is y, at its scores in F, which become the
 * residuals. */
static double class_loss(const walk *w, int64_t j, int64_t y)
{
  double most = -INFINITY, sum = 0, own = 0;
  for (int64_t c = 0; c < w->K; c++) {
    double *f = &w->F[c * w->n + j];
    *f += w->next[c * w->size + w->d];
    most = fmax(most, *f);
    if (c == y) own = *f;
  }
  for (int64_t c = 0; c < w->K; c++)
    sum += w->F[c * w->n + j] = exp(w->F[c * w->n + j] - most);
  for (int64_t c = 0; c < w->K; c++) {
    double *f = &w->F[c * w->n + j];
    *f = weight_of(w, j) * (*f / sum - (c == y));
    w->slope[c * w->size + w->d] += *f;
  }
  return weight_of(w, j) * (log(sum) + most - own);
}

static double all_classes_loss(walk *w)
{
  double sum = 0;
  for (int64_t c = 0; c < w->K; c++) w->slope[c * w->size + w->d] = 0;
  for (int64_t j = 0; j < w->n; j++) {
    const double *sign = w->p->sign + j * w->K;
    int64_t y = 0;
    while (y < w->K && !(sign[y] > 0)) y++;
    if (y < w->K) sum += class_loss(w, j, y);
    for (int64_t c = 0; y == w->K && c < w->K; c++) w->F[c * w->n + j] = 0;
  }
  return sum;
}

/* The losses at the scores in F, which become the residuals. */
static void losses(walk *w)
{
  if (w->p->classes) w->value[0] = all_classes_loss(w);
  for (int64_t c = 0; c < w->K; c++) {
    const double *v = w->next + c * w->size;
    double *g = w->slope + c * w->size, half = square(w, v) / 2;
    if (w->p->classes)
      w->value[0] += half;
    else
      w->value[c] = label_loss(w, c, v[w->d], &g[w->d]) + half;
  }
}

/* value and slope of every walker at next. */
static lapis_status evaluate(walk *w)
{
  const samples *of = &w->p->of;
  TRY(op_samples_dot(w->h, of, w->next, w->size, w->K, w->F));
  losses(w);
  TRY(op_samples_add(w->h, of, w->F, w->K, w->slope, w->size));
  for (int64_t c = 0; c < w->K; c++)
    for (int64_t i = 0; i < w->d; i++) {
      double r = w->p->ridge == NULL ? 1 : w->p->ridge[i];
      w->slope[c * w->size + i] += r * w->next[c * w->size + i];
    }
  return LAPIS_OK;
}

/* ---- one walker's steps -------------------------------------------------*/
static double *pair(const walk *w, double *of, int64_t c, int64_t k)
{
  return of + (c * MEMORY + k % MEMORY) * w->len;
}

/* dir = -H g, H from the pairs. */
static void direct(walk *w, int64_t c)
{
  walker *x = &w->of[c];
  double *dir = w->dir + c * w->len, alpha[MEMORY];
  int64_t low = x->pairs > MEMORY ? x->pairs - MEMORY : 0, m = w->len;
  for (int64_t i = 0; i < m; i++) dir[i] = -w->g[c * m + i];
  for (int64_t k = x->pairs - 1; k >= low; k--) {
    double a = x->rho[k % MEMORY] * dot(pair(w, w->S, c, k), dir, m);
    const double *y = pair(w, w->Y, c, k);
    for (int64_t i = 0; i < m; i++) dir[i] -= a * y[i];
    alpha[k % MEMORY] = a;
  }
  double scale = 1 / fmax(x->first, 1);
  if (x->pairs > 0) {
    const double *y = pair(w, w->Y, c, x->pairs - 1);
    scale = 1 / (x->rho[(x->pairs - 1) % MEMORY] * dot(y, y, m));
  }
  for (int64_t i = 0; i < m; i++) dir[i] *= scale;
  for (int64_t k = low; k < x->pairs; k++) {
    double b = x->rho[k % MEMORY] * dot(pair(w, w->Y, c, k), dir, m);
    const double *s = pair(w, w->S, c, k);
    for (int64_t i = 0; i < m; i++) dir[i] += (alpha[k % MEMORY] - b) * s[i];
  }
  x->step = 1;
}

/* A value is a sum of n losses and of the squares of the weights, one behind
 * the other, none below 0.  Each addition errs by up to eps / 2 of what is
 * there so far, now up, now down: together by some eps sqrt(terms) / 7, a
 * standard deviation, and the difference of two values by eps sqrt(terms) / 5.
 * Between two steps at most .6 eps sqrt(n) was measured, n being 100 to 1e6; 4
 * leaves room for the rounding of the scores.  Too much does no harm: slopes
 * tell a decrease as well as values do. */
static double rounding_of(const walk *w)
{
  return 4 * DBL_EPSILON * sqrt((double)(w->n + w->len));
}

/* The decrease that the slope promises drowns in the rounding of the value. */
static bool drowns(const walk *w, const walker *x, double down)
{
  return -x->step * down <= w->rounding * fabs(x->value);
}

/* Whether the step may be taken.  A convex function has not risen where it is
 * no steeper up at the end than it was down at the start. */
static bool descends(const walk *w, int64_t c, double down)
{
  const walker *x = &w->of[c];
  int64_t m = w->len;
  if (!drowns(w, x, down))
    return w->value[c] <= x->value + ENOUGH * x->step * down;
  return dot(w->slope + c * m, w->dir + c * m, m) <= (2 * ENOUGH - 1) * down;
}

/* Counts steps of the slopes that bring nothing. */
static void look_at_gradient(walk *w, int64_t c, bool drowned)
{
  walker *x = &w->of[c];
  const double *g = w->g + c * w->len;
  double length = sqrt(dot(g, g, w->len));
  bool shorter = length < x->shortest;
  if (shorter) x->shortest = length;
  x->idle = shorter || !drowned ? 0 : x->idle + 1;
  x->floor = x->idle >= IDLE;
  x->done = x->floor || length <= w->p->tol * x->first;
}

/* Keeps how the slope changed along the step, where it rose; what rounding
 * made of it would take the place of the oldest pair. */
static void keep_pair(walk *w, int64_t c)
{
  walker *x = &w->of[c];
  int64_t m = w->len;
  const double *v = w->w + c * m, *to = w->next + c * m;
  const double *g = w->g + c * m, *slope = w->slope + c * m;
  double product = 0;
  for (int64_t i = 0; i < m; i++) product += (to[i] - v[i]) * (slope[i] - g[i]);
  if (!(product > 0)) return;
  double *s = pair(w, w->S, c, x->pairs), *y = pair(w, w->Y, c, x->pairs);
  for (int64_t i = 0; i < m; i++) {
    s[i] = to[i] - v[i];
    y[i] = slope[i] - g[i];
  }
  x->rho[x->pairs++ % MEMORY] = 1 / product;
}

static void accept(walk *w, int64_t c, bool drowned)
{
  int64_t m = w->len;
  keep_pair(w, c);
  memcpy(w->w + c * m, w->next + c * m, (size_t)m * sizeof *w->w);
  memcpy(w->g + c * m, w->slope + c * m, (size_t)m * sizeof *w->g);
  w->of[c].value = w->value[c];
  look_at_gradient(w, c, drowned);
  if (!w->of[c].done) direct(w, c);
}

/* Takes the step, or halves it.  A direction along which none is short enough
 * comes of pairs that rounding has made: they are forgotten. */
static void settle(walk *w, int64_t c)
{
  walker *x = &w->of[c];
  int64_t m = w->len;
  double down = dot(w->g + c * m, w->dir + c * m, m);
  if (descends(w, c, down)) {
    accept(w, c, drowns(w, x, down));
    return;
  }
  x->step /= 2;
  if (x->step >= SHORTEST) return;
  x->floor = x->done = x->pairs == 0;
  x->pairs = 0;
  if (!x->done) direct(w, c);
}

static void aim(walk *w, int64_t c)
{
  const walker *x = &w->of[c];
  for (int64_t i = c * w->len; i < (c + 1) * w->len; i++)
    w->next[i] = x->done ? w->w[i] : w->w[i] + x->step * w->dir[i];
}

/* ---- all of them --------------------------------------------------------*/
/* A label of which one kind is known has no walk to do. */
static void find_one_kind(walk *w, int64_t c)
{
  walker *x = &w->of[c];
  double count[2] = {0, 0};
  for (int64_t j = 0; j < w->n; j++) {
    double s = w->p->sign[j * w->K + c];
    if (!isnan(s)) count[s > 0] += w->p->weight == NULL ? 1 : w->p->weight[j];
  }
  x->one_kind = !(count[0] > 0) || !(count[1] > 0);
  if (x->one_kind)
    w->w[c * w->size + w->d] = log(count[1] + 1) - log(count[0] + 1);
}

/* |X|^2 */
static double size_of_samples(const walk *w)
{
  const lapis_mat *X = &w->p->of.X;
  const double *val = X->val;
  double square = 0;
  for (int64_t j = 0; j < w->n; j++) {
    int64_t count, first = op_sample(X, j, &count);
    square += dot(val + first, val + first, count);
  }
  return square;
}

/* Whether the gradient is 0 but for the rounding of the sums it is made of, as
 * where both kinds lie alike: |X F| is at most |X| |F|, and the bias's sum of F
 * at most sqrt(n) |F|. */
static bool vanishes(const walk *w, int64_t c, double size)
{
  const double *F = w->F + c * w->n, *g = w->g + c * w->len;
  double part[2] = {0, 0}; /* of weights, of biases */
  for (int64_t i = 0; i < w->len; i++) part[i % w->size == w->d] += g[i] * g[i];
  double least = 4 * DBL_EPSILON;
  least *= least * dot(F, F, w->p->classes ? w->n * w->K : w->n);
  return part[0] <= least * size && part[1] <= least * (double)w->n;
}

static lapis_status begin(walk *w)
{
  double size = size_of_samples(w);
  TRY(evaluate(w));
  memcpy(w->g, w->slope, (size_t)(w->size * w->K) * sizeof *w->g);
  for (int64_t c = 0; c < w->count; c++) {
    walker *x = &w->of[c];
    const double *g = w->g + c * w->len;
    if (!w->p->classes) find_one_kind(w, c);
    x->value = w->value[c];
    x->first = x->shortest = sqrt(dot(g, g, w->len));
    if (vanishes(w, c, size)) x->first = 0;
    x->done = x->one_kind || x->first == 0;
    if (!x->done) direct(w, c);
  }
  return LAPIS_OK;
}

/* The objective, and the largest relative gradient. */
static double measure(const walk *w, double *left)
{
  double all = 0;
  *left = 0;
  for (int64_t c = 0; c < w->count; c++) {
    const walker *x = &w->of[c];
    const double *g = w->g + c * w->len;
    all += x->value;
    if (x->one_kind || x->first == 0) continue;
    *left = fmax(*left, sqrt(dot(g, g, w->len)) / x->first);
  }
  return all;
}

/* A walk that rounding ended short of what was asked is not solved. */
static void say_floor(const walk *w, double left)
{
  bool floor = false;
  for (int64_t c = 0; c < w->count; c++) floor = floor || w->of[c].floor;
  if (w->p->loop != NULL && floor && left > w->p->tol &&
      w->p->loop->status == LAPIS_OK)
    w->p->loop->status = LAPIS_PRECISION_FLOOR;
}

static lapis_status record(const walk *w, double *left)
{
  loop *l = w->p->loop;
  double all = measure(w, left);
  if (l == NULL) return LAPIS_OK;
  TRY(loop_record(l, (double[]){all, *left, NAN}));
  lapis_progress now = {.objective = all, .gap = NAN, .residual = *left};
  loop_show(l, &now, NAN);
  return LAPIS_OK;
}

/* Another step may be taken. */
static bool goes_on(const walk *w, int64_t steps)
{
  return steps < w->p->max_iters &&
         (w->p->loop == NULL || loop_next(w->p->loop));
}

static lapis_status walk_all(walk *w, double *left)
{
  int64_t open = 0;
  TRY(begin(w));
  for (int64_t c = 0; c < w->count; c++) open += !w->of[c].done;
  for (int64_t k = 0; open > 0 && goes_on(w, k); k++) {
    for (int64_t c = 0; c < w->count; c++) aim(w, c);
    TRY(evaluate(w));
    open = 0;
    for (int64_t c = 0; c < w->count; c++) {
      if (!w->of[c].done) settle(w, c);
      open += !w->of[c].done;
    }
    TRY(record(w, left));
  }
  (void)measure(w, left);
  say_floor(w, *left);
  return LAPIS_OK;
}

lapis_status op_logistic(la *h, const logistic_problem *p, double *W,
                         double *left)
{
  int64_t d = p->of.X.rows, n = p->of.X.cols, K = p->K, size = (d + 1) * K;
  walk w = {.h = h, .p = p, .d = d, .n = n, .K = K, .size = d + 1, .w = W};
  w.count = p->classes ? 1 : K;
  w.len = p->classes ? size : d + 1;
  w.rounding = rounding_of(&w);
  int64_t count = 4 * size + 2 * MEMORY * size + n * K + K;
  double *room = base_alloc(h->ctx, count, sizeof *room);
  w.of = base_alloc(h->ctx, K, sizeof *w.of);
  lapis_status s = room == NULL || w.of == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  if (!p->warm) memset(W, 0, (size_t)size * sizeof *W);
  double unused;
  if (s >= 0) {
    w.g = room;
    w.next = w.g + size;
    w.slope = w.next + size;
    w.dir = w.slope + size;
    w.S = w.dir + size;
    w.Y = w.S + MEMORY * size;
    w.F = w.Y + MEMORY * size;
    w.value = w.F + n * K;
    memcpy(w.next, W, (size_t)size * sizeof *W);
    s = walk_all(&w, left != NULL ? left : &unused);
  }
  base_free(room);
  base_free(w.of);
  return s;
}
