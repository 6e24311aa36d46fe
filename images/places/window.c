/* window.c - the box whose words look most like a histogram.
 *
 *   minimize  chi2(h(B) / |h(B)|, t / |t|)   over the boxes B of a grid
 *
 * [MC15] Sec. 4.3 slides windows of several scales over the image and compares
 * with the repaired histogram, under "the size criteria" of Nguyen et al.,
 * ICCV 2009, whose values neither paper gives: ours are settings.
 *
 * With p = h / |h| and both sums one, (p - t)^2 / (p + t) summed is
 *   chi2(p, t) = 2 - 4 S,   S = sum_i f(p_i, t_i),   f(p, t) = p t / (p + t),
 * so only words with p_i > 0 and t_i > 0 count.  f is concave and homogeneous,
 * hence sum f(p_i, t_i) <= f(sum p_i, sum t_i) over any group of words: a few
 * groups, whose counts come from integral images in constant time, bound the
 * distance from below.  Boxes wait in a queue by their bound; the first is
 * evaluated and put back with its distance; one that comes first with its
 * distance known is the nearest, so the answer is exact.  Words are grouped by
 * p_i / t_i over the whole image: where a group's ratios are equal the bound is
 * tight.  How many boxes are never looked into depends on how well the target
 * tells places apart: most where its words are few, hardly any for the repaired
 * histogram of a face, which has them all (bench/windows.c). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "images/places/places.h"

enum { GROUPS = 24 };
typedef struct candidate {
  double key; /* a lower bound of the distance, or the distance */
  int64_t id; /* place in the order of sizes, rows, columns */
  int32_t x, y, size;
  bool known;
} candidate;
typedef struct window_search {
  lapis_ctx *ctx;
  const lapis_words *words;
  lapis_window_settings set;
  double *target; /* d: t / |t| */
  double mass[GROUPS];
  /* words of a cell: those with t > 0, sorted by cell */
  int64_t *cell_start; /* nx ny + 1 */
  int32_t *cell_word;
  int32_t *integral; /* (GROUPS + 1) x (nx + 1) x (ny + 1); last: all words */
  int32_t *group;    /* d */
  int32_t *count;    /* d: of the box at hand, zero between boxes */
  int32_t *touched;  /* d */
  box_grid grid;
  candidate *heap;
  int64_t n_heap, evaluated;
} window_search;

static lapis_status take_settings(lapis_ctx *ctx,
                                  const lapis_window_settings *given,
                                  lapis_window_settings *s)
{
  *s = lapis_window_defaults();
  TRY(base_take(ctx, "windows: the settings", given, s, sizeof *s));
  if (!(s->least >= -1 && s->overlap > 0 && s->overlap <= 1))
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "windows: at least %" PRId64
                      " words and an overlap of %g; the first must be 0 or "
                      "more (-1: a hundredth), the second in (0, 1]",
                      s->least, s->overlap);
  return LAPIS_OK;
}

/* ---- words by cell, integral counts -------------------------------------*/
static int64_t cell_of(const window_search *w, int64_t j, int64_t *cx,
                       int64_t *cy)
{
  int64_t x, y;
  words_pixel(w->words, j, &x, &y);
  *cx = x / w->grid.step;
  *cy = y / w->grid.step;
  return *cy * w->grid.nx + *cx;
}

static void sort_words(window_search *w)
{
  int64_t m = w->words->word.cols, cells = w->grid.nx * w->grid.ny, cx, cy;
  for (int64_t j = 0; j < m; j++)
    w->cell_start[cell_of(w, j, &cx, &cy) + 1] +=
        w->target[words_index(w->words, j)] > 0;
  for (int64_t c = 0; c < cells; c++) w->cell_start[c + 1] += w->cell_start[c];
  for (int64_t j = m; j-- > 0;) { /* fills each cell from its end */
    int64_t i = words_index(w->words, j), c = cell_of(w, j, &cx, &cy);
    if (w->target[i] > 0) w->cell_word[--w->cell_start[c + 1]] = (int32_t)i;
  }
  /* starts slid down by one place: cell c begins at cell_start[c + 1] */
  memmove(w->cell_start, w->cell_start + 1, (size_t)cells * sizeof(int64_t));
  int64_t used = 0;
  for (int64_t j = 0; j < m; j++)
    used += w->target[words_index(w->words, j)] > 0;
  w->cell_start[cells] = used;
}

static int32_t *corner(const window_search *w, int64_t x, int64_t y)
{
  return w->integral + (y * (w->grid.nx + 1) + x) * (GROUPS + 1);
}

static void make_integral(window_search *w)
{
  for (int64_t j = 0; j < w->words->word.cols; j++) {
    int64_t i = words_index(w->words, j), cx, cy;
    cell_of(w, j, &cx, &cy);
    int32_t *at = corner(w, cx + 1, cy + 1);
    at[GROUPS]++;
    if (w->target[i] > 0) at[w->group[i]]++;
  }
  for (int64_t y = 1; y <= w->grid.ny; y++)
    for (int64_t x = 1; x <= w->grid.nx; x++)
      for (int g = 0; g <= GROUPS; g++)
        corner(w, x, y)[g] += corner(w, x - 1, y)[g] + corner(w, x, y - 1)[g] -
                              corner(w, x - 1, y - 1)[g];
}

typedef struct ratio {
  double value;
  int64_t word;
} ratio;
static int by_ratio(const void *a, const void *b)
{
  const ratio *p = a, *q = b;
  if (p->value < q->value || p->value > q->value)
    return p->value < q->value ? -1 : 1;
  return (p->word > q->word) - (p->word < q->word);
}

/* Words that the image has, in the order of p / t, cut into GROUPS parts of
 * equal f; words that it has not can be in no box. */
static lapis_status make_groups(window_search *w)
{
  int64_t d = w->words->vocabulary, m = w->words->word.cols, n = 0;
  ratio *r = base_alloc(w->ctx, d, sizeof *r);
  if (r == NULL) return LAPIS_ENOMEM;
  for (int64_t j = 0; j < m; j++) w->count[words_index(w->words, j)]++;
  double all = 0, sum = 0;
  for (int64_t i = 0; i < d; i++) {
    double p = (double)w->count[i] / (double)m, t = w->target[i];
    if (w->count[i] == 0 || t <= 0) continue;
    r[n++] = (ratio){p / t, i};
    all += p * t / (p + t);
  }
  qsort(r, (size_t)n, sizeof *r, by_ratio);
  for (int64_t k = 0; k < n; k++) {
    int64_t i = r[k].word;
    double p = (double)w->count[i] / (double)m, t = w->target[i];
    int g = (int)fmin(GROUPS * sum / all, GROUPS - 1);
    w->group[i] = g;
    w->mass[g] += t;
    sum += p * t / (p + t);
  }
  memset(w->count, 0, (size_t)d * sizeof *w->count);
  base_free(r);
  return LAPIS_OK;
}

/* ---- bounds and distances -----------------------------------------------*/
static double harmonic(double p, double t)
{
  return p > 0 && t > 0 ? p * t / (p + t) : 0;
}

static double box_bound(const window_search *w, int64_t x, int64_t y, extent e,
                        int64_t *n)
{
  const int32_t *a = corner(w, x, y), *b = corner(w, x + e.w, y);
  const int32_t *c = corner(w, x, y + e.h), *d = corner(w, x + e.w, y + e.h);
  *n = d[GROUPS] - b[GROUPS] - c[GROUPS] + a[GROUPS];
  double S = 0;
  for (int g = 0; g<GROUPS && * n> 0; g++)
    S += harmonic((double)(d[g] - b[g] - c[g] + a[g]) / (double)*n, w->mass[g]);
  return 2 - 4 * S;
}

static double box_distance(window_search *w, const candidate *at)
{
  extent e = w->grid.size[at->size];
  int64_t n, used = 0;
  box_bound(w, at->x, at->y, e, &n);
  for (int64_t y = at->y; y < at->y + e.h; y++) {
    int64_t first = w->cell_start[y * w->grid.nx + at->x];
    int64_t end = w->cell_start[y * w->grid.nx + at->x + e.w];
    for (int64_t k = first; k < end; k++)
      if (w->count[w->cell_word[k]]++ == 0)
        w->touched[used++] = w->cell_word[k];
  }
  double S = 0;
  for (int64_t k = 0; k < used; k++) {
    int32_t i = w->touched[k];
    S += harmonic((double)w->count[i] / (double)n, w->target[i]);
    w->count[i] = 0;
  }
  w->evaluated++;
  return 2 - 4 * S;
}

/* ---- the queue: nearest first, ties in the order of candidates -----------*/
static bool before(const candidate *a, const candidate *b)
{
  return a->key < b->key || (a->key <= b->key && a->id < b->id);
}

static void sink(window_search *w, int64_t i)
{
  candidate moving = w->heap[i];
  for (int64_t child; (child = 2 * i + 1) < w->n_heap; i = child) {
    if (child + 1 < w->n_heap && before(&w->heap[child + 1], &w->heap[child]))
      child++;
    if (!before(&w->heap[child], &moving)) break;
    w->heap[i] = w->heap[child];
  }
  w->heap[i] = moving;
}

static void fill_queue(window_search *w, int64_t *candidates)
{
  int64_t id = 0, n;
  /* so much does rounding move a bound against a distance of 2 - 4 S */
  const double rounding = 0x1p-50 * (double)(w->words->vocabulary + 4);
  for (int64_t s = 0; s < w->grid.sizes; s++) {
    extent e = w->grid.size[s];
    for (int64_t y = 0; y + e.h <= w->grid.ny; y++)
      for (int64_t x = 0; x + e.w <= w->grid.nx; x++, id++) {
        double bound = box_bound(w, x, y, e, &n) - rounding;
        if (n < w->set.least || n == 0) continue;
        w->heap[w->n_heap++] =
            (candidate){bound, id, (int32_t)x, (int32_t)y, (int32_t)s, false};
      }
  }
  *candidates = w->n_heap;
  for (int64_t i = w->n_heap / 2; i-- > 0;) sink(w, i);
}

static lapis_box as_box(const window_search *w, const candidate *c)
{
  return grid_box(&w->grid, c->x, c->y, w->grid.size[c->size], c->key);
}

static bool distinct(const window_search *w, const lapis_box *b,
                     const lapis_box *chosen, int64_t n)
{
  for (int64_t i = 0; i < n; i++)
    if (box_overlap(b, &chosen[i]) >= w->set.overlap) return false;
  return true;
}

static void take_best(window_search *w, int64_t count, lapis_box *box,
                      int64_t *found)
{
  while (w->n_heap > 0 && *found < count) {
    candidate *top = &w->heap[0];
    lapis_box b = as_box(w, top);
    if (distinct(w, &b, box, *found) && !top->known) {
      top->key = box_distance(w, top);
      top->known = true;
    } else {
      if (distinct(w, &b, box, *found)) box[(*found)++] = b;
      *top = w->heap[--w->n_heap];
    }
    if (w->n_heap > 0) sink(w, 0);
  }
}

/* ---- the whole ----------------------------------------------------------*/
static lapis_status take_target(window_search *w, const lapis_mat *target)
{
  int64_t d = w->words->vocabulary;
  TRY(vector_take(w->ctx, "windows: target", target, d, w->target));
  double sum = 0;
  for (int64_t i = 0; i < d; i++) {
    if (w->target[i] < 0)
      return lapis_fail(w->ctx, LAPIS_EDATA,
                        "windows: the target has %g of word %" PRId64
                        "; counts are 0 or more (mc: --variant pos or "
                        "simplex)",
                        w->target[i], i);
    sum += w->target[i];
  }
  if (!(sum > 0 && sum < INFINITY))
    return lapis_fail(w->ctx, LAPIS_EDATA,
                      "windows: the target's counts sum to %g, which no box "
                      "can be compared with",
                      sum);
  for (int64_t i = 0; i < d; i++) w->target[i] /= sum;
  return LAPIS_OK;
}

static lapis_status window_alloc(window_search *w)
{
  int64_t d = w->words->vocabulary, m = w->words->word.cols;
  int64_t cells = w->grid.nx * w->grid.ny,
          corners = (w->grid.nx + 1) * (w->grid.ny + 1);
  lapis_ctx *ctx = w->ctx;
  if ((w->target = base_alloc(ctx, d, sizeof *w->target)) == NULL ||
      (w->group = base_alloc(ctx, d, sizeof *w->group)) == NULL ||
      (w->count = base_alloc(ctx, d, sizeof *w->count)) == NULL ||
      (w->touched = base_alloc(ctx, d, sizeof *w->touched)) == NULL ||
      (w->cell_word = base_alloc(ctx, m, sizeof *w->cell_word)) == NULL ||
      (w->cell_start = base_alloc(ctx, cells + 2, sizeof(int64_t))) == NULL ||
      (w->integral = base_alloc(ctx, corners * (GROUPS + 1),
                                sizeof *w->integral)) == NULL)
    return LAPIS_ENOMEM;
  return LAPIS_OK;
}

static void window_free(window_search *w)
{
  base_free(w->target), base_free(w->group), base_free(w->count);
  base_free(w->touched), base_free(w->cell_word), base_free(w->cell_start);
  base_free(w->integral), base_free(w->heap);
  box_grid_free(&w->grid);
}

static lapis_status window_prepare(window_search *w, const lapis_mat *target)
{
  const lapis_words *words = w->words;
  if (w->set.least == -1) w->set.least = (words->word.cols + 99) / 100;
  TRY(grid_make(w->ctx, "windows", &w->set.grid, words->width, words->height,
                &w->grid));
  w->heap = base_alloc_raw(w->ctx, w->grid.boxes, sizeof *w->heap);
  if (w->heap == NULL) return LAPIS_ENOMEM;
  TRY(window_alloc(w));
  TRY(take_target(w, target));
  sort_words(w);
  TRY(make_groups(w));
  make_integral(w);
  return LAPIS_OK;
}

lapis_status lapis_windows_find(lapis_ctx *ctx, const lapis_words *words,
                                const lapis_mat *target,
                                const lapis_window_settings *set, int64_t count,
                                lapis_box *box, int64_t *found,
                                lapis_window_info *info)
{
  NEEDS(ctx, words, found);
  window_search w = {.ctx = ctx, .words = words, .grid = {.step = 1}};
  double start = base_seconds();
  *found = 0;
  TRY(take_settings(ctx, set, &w.set));
  TRY(words_check(ctx, "windows", words));
  if (words->word.cols > INT32_MAX || words->vocabulary > INT32_MAX)
    return lapis_fail(ctx, LAPIS_ESHAPE, "windows: more than 2^31 words");
  lapis_status status = window_prepare(&w, target);
  int64_t candidates = 0;
  if (status == LAPIS_OK) {
    fill_queue(&w, &candidates);
    take_best(&w, count, box, found);
  }
  window_free(&w);
  if (info != NULL)
    *info =
        (lapis_window_info){candidates, w.evaluated, base_seconds() - start};
  return status;
}
