/* assign.c - rectangular linear assignment by shortest augmenting paths.
 *
 *   minimize sum_i c[i, p(i)],  p injective, rows <= columns
 *
 * Row minima first; a row whose best column is free takes it.  Each of the
 * others takes its best column from whoever has it and lowers its price until
 * the second best is as good (augmenting row reduction); rows that lost theirs
 * so are asked again, twice, and those left over are inserted one by one along
 * shortest augmenting paths (Jonker and Volgenant 1987).  Invariants, before
 * and after every insertion:
 *   prices v_j <= 0, zero on free columns; every assigned row has its column
 *   at u_i = min_j (c_ij - v_j), so the assignment is optimal for its rows.
 *
 * What makes it fast where columns are many: a path ends at the first free
 * column it reaches, and all free columns have price 0, so a row needs, of
 * all free columns, only its cheapest, which stays so until it is taken.  A
 * search therefore works on the taken columns ("slots"), at most as many as
 * rows; the whole matrix is read once, and rows that lost their column once
 * more each time.
 *
 * Warm: a row keeps its column where that is still tight.  A column that is
 * free now must have price 0: raising it may undo rows that prefer it, which
 * free their columns in turn; then the undone rows are inserted as above.
 *
 * Numerics: additions, subtractions and comparisons of costs only, so scaling
 * by a power of two changes nothing, and no tolerance enters but one: in a
 * warm start "tight" means to a few units in the last place. */
#include "op/assign/assign.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/width.h"

enum { BLOCK = 32 };
enum { PASSES = 2, STEPS = 8 }; /* of reduction; STEPS: for each row waiting */
enum { NARROW = 4 }; /* columns a row up to which all are looked at */

/* Taken columns, one slot each; the first ones are not yet scanned. */
typedef struct slot_arrays {
  int32_t *col, *row, *from; /* from: row by which the slot is reached */
  double *price, *dist;
} slot_arrays;

/* All columns, for cold starts; what a search needs of them. */
typedef struct column_arrays {
  int32_t *owner, *from; /* from: row by which the column is reached */
  double *held, *dist;
} column_arrays;

#define REAL double
#define KERNEL(name) name##_f64
#include "op/assign/assign_kernels.h"
#undef REAL
#undef KERNEL
#define REAL float
#define KERNEL(name) name##_f32
#include "op/assign/assign_kernels.h"
#undef REAL
#undef KERNEL

typedef struct assign_work {
  const assign_costs *costs;
  int64_t taken;
  slot_arrays slot;   /* capacity rows */
  int32_t *row_slot;  /* rows: -1 unassigned */
  int32_t *best_free; /* rows: cheapest free column, -1 unknown */
  column_arrays all;  /* cols */
  int64_t n_free;
  int32_t *free_col; /* cols: list of free columns */
  int32_t *free_at;  /* cols: place in the list, -1 taken */
  int32_t *stack;    /* cols */
} assign_work;

/* ---- costs of either type -----------------------------------------------*/
static const void *row_of(const assign_costs *a, int64_t i)
{
  size_t size = a->dtype == LAPIS_F64 ? sizeof(double) : sizeof(float);
  return (const char *)a->c + (size_t)(i * a->ld) * size;
}

static double cost_at(const assign_costs *a, int64_t i, int64_t j)
{
  if (a->dtype == LAPIS_F64) return ((const double *)a->c)[i * a->ld + j];
  return ((const float *)a->c)[i * a->ld + j];
}

int64_t op_assign_row_minimum(const assign_costs *a, int64_t i)
{
  const void *c = row_of(a, i);
  return a->dtype == LAPIS_F64 ? row_minimum_f64(c, a->cols)
                               : row_minimum_f32(c, a->cols);
}

void op_assign_least_open(const assign_costs *a, const void *shut,
                          double *least)
{
  if (a->dtype == LAPIS_F64)
    least_open_f64(a->c, a->ld, a->rows, a->cols, shut, least);
  else
    least_open_f32(a->c, a->ld, a->rows, a->cols, shut, least);
}

static int64_t reduced_minimum(const assign_costs *a, int64_t i,
                               const double *price, double *value)
{
  const void *c = row_of(a, i);
  return a->dtype == LAPIS_F64 ? reduced_minimum_f64(c, price, a->cols, value)
                               : reduced_minimum_f32(c, price, a->cols, value);
}

static int64_t two_minima(const assign_costs *a, int64_t i, const double *price,
                          double *first, double *second)
{
  const void *c = row_of(a, i);
  return a->dtype == LAPIS_F64
             ? two_minima_f64(c, price, a->cols, first, second)
             : two_minima_f32(c, price, a->cols, first, second);
}

/* ---- free columns and slots ---------------------------------------------*/
static void take(assign_work *w, int32_t col)
{
  int32_t at = w->free_at[col], last = w->free_col[--w->n_free];
  w->free_col[at] = last;
  w->free_at[last] = at;
  w->free_at[col] = -1;
}

static void release(assign_work *w, int32_t col)
{
  w->free_at[col] = (int32_t)w->n_free;
  w->free_col[w->n_free++] = col;
}

static void put_in_slot(assign_work *w, int64_t k, int32_t row)
{
  w->slot.row[k] = row;
  w->row_slot[row] = (int32_t)k;
}

static void new_slot(assign_work *w, int32_t row, int32_t col, double price)
{
  int64_t k = w->taken++;
  take(w, col);
  w->slot.col[k] = col;
  w->slot.price[k] = price;
  put_in_slot(w, k, row);
}

static void swap_slots(assign_work *w, int64_t a, int64_t b)
{
  slot_arrays *s = &w->slot;
  int32_t col = s->col[a], row = s->row[a], from = s->from[a];
  double price = s->price[a], dist = s->dist[a];
  s->col[a] = s->col[b], s->from[a] = s->from[b];
  s->price[a] = s->price[b], s->dist[a] = s->dist[b];
  put_in_slot(w, a, s->row[b]);
  s->col[b] = col, s->from[b] = from, s->price[b] = price, s->dist[b] = dist;
  put_in_slot(w, b, row);
}

static int32_t cheapest_free(assign_work *w, int32_t row)
{
  const assign_costs *a = w->costs;
  int32_t j = w->best_free[row];
  if (j >= 0 && w->free_at[j] >= 0) return j;
  const void *c = row_of(a, row);
  j = a->dtype == LAPIS_F64 ? list_minimum_f64(c, w->free_col, w->n_free)
                            : list_minimum_f32(c, w->free_col, w->n_free);
  w->best_free[row] = j;
  return j;
}

/* ---- one augmenting path ------------------------------------------------*/
typedef struct path_end {
  double length;
  int32_t row, col;
} path_end;

static int64_t relax(assign_work *w, int32_t row, double shift, int64_t active)
{
  const void *c = row_of(w->costs, row);
  return w->costs->dtype == LAPIS_F64
             ? relax_f64(c, shift, row, active, &w->slot)
             : relax_f32(c, shift, row, active, &w->slot);
}

/* Dijkstra from an unassigned row until no slot is nearer than a free column;
 * slots active.. taken-1 have been scanned. */
static path_end search(assign_work *w, int32_t start, int64_t *active)
{
  const slot_arrays *s = &w->slot;
  path_end end = {INFINITY, -1, -1};
  int32_t row = start;
  double shift = 0; /* distance of the row's slot, less the row's u */
  for (int64_t k = 0; k < w->taken; k++) s->dist[k] = INFINITY;
  *active = w->taken;
  for (;;) {
    int32_t col = cheapest_free(w, row);
    double length = cost_at(w->costs, row, col) + shift;
    if (length < end.length) end = (path_end){length, row, col};
    int64_t k = relax(w, row, shift, *active);
    if (k < 0 || !(s->dist[k] < end.length)) return end;
    swap_slots(w, k, --*active);
    k = *active;
    row = s->row[k];
    shift = s->dist[k] - (cost_at(w->costs, row, s->col[k]) - s->price[k]);
  }
}

/* Every row on the path moves one column on. */
static void augment(assign_work *w, int32_t start, path_end end)
{
  int64_t target;
  int32_t row = end.row, old = w->row_slot[row];
  new_slot(w, row, end.col, 0);
  while (row != start) {
    target = old;
    row = w->slot.from[target];
    old = w->row_slot[row];
    put_in_slot(w, target, row);
  }
}

static void insert_row(assign_work *w, int32_t row)
{
  int64_t active;
  path_end end = search(w, row, &active);
  for (int64_t k = active; k < w->taken; k++)
    w->slot.price[k] -= fmax(end.length - w->slot.dist[k], 0);
  augment(w, row, end);
}

/* ---- starts -------------------------------------------------------------*/
static void forget_all(op_assign *p, const assign_costs *a)
{
  assign_work *w = p->work;
  w->costs = a;
  w->taken = 0;
  w->n_free = a->cols;
  for (int64_t i = 0; i < a->rows; i++) w->row_slot[i] = w->best_free[i] = -1;
  for (int64_t j = 0; j < a->cols; j++)
    w->free_col[j] = w->free_at[j] = (int32_t)j;
}

/* A row takes its best column at a price that makes the second best as good.
 * Returns the row that had it, or -1; *lowered: the price is less now. */
static int32_t take_best(op_assign *p, int32_t row, bool *lowered)
{
  assign_work *w = p->work;
  double u1, u2;
  int64_t j = two_minima(w->costs, row, p->price, &u1, &u2);
  *lowered = u1 < u2 && u2 < INFINITY;
  if (*lowered) p->price[j] -= u2 - u1;
  int32_t before = w->all.owner[j];
  w->all.owner[j] = row;
  return before;
}

/* Augmenting row reduction of waiting[0..count); returns how many still wait.
 */
static int64_t reduce_rows(op_assign *p, int32_t *waiting, int64_t count)
{
  int64_t left = 0, steps = 0, most = STEPS * count;
  for (int64_t k = 0; k < count; k++) {
    int32_t row = waiting[k];
    bool lowered = true;
    while (row >= 0 && lowered && steps++ < most)
      row = take_best(p, row, &lowered);
    if (row >= 0) waiting[left++] = row; /* left <= k: that one is read */
  }
  return left;
}

static int64_t relax_all(assign_work *w, int32_t row, double shift)
{
  const assign_costs *a = w->costs;
  const void *c = row_of(a, row);
  return a->dtype == LAPIS_F64 ? relax_all_f64(c, shift, row, a->cols, &w->all)
                               : relax_all_f32(c, shift, row, a->cols, &w->all);
}

/* insert_row where columns are not many more than rows: to look at all of them
 * in their order beats to gather those that are taken. */
static void insert_among_all(op_assign *p, int32_t start, int32_t *col_of)
{
  assign_work *w = p->work;
  column_arrays *t = &w->all;
  slot_arrays *seen = &w->slot; /* col and dist of those scanned */
  int64_t count = 0;
  int32_t row = start;
  double shift = 0;
  memcpy(t->held, p->price, (size_t)w->costs->cols * sizeof *t->held);
  for (int64_t j = 0; j < w->costs->cols; j++) t->dist[j] = INFINITY;
  int32_t j = (int32_t)relax_all(w, row, shift);
  while (t->owner[j] >= 0) {
    seen->col[count] = j;
    seen->dist[count++] = t->dist[j];
    row = t->owner[j];
    shift = t->dist[j] - (cost_at(w->costs, row, j) - p->price[j]);
    t->held[j] = -INFINITY; /* at no distance any more */
    t->dist[j] = INFINITY;
    j = (int32_t)relax_all(w, row, shift);
  }
  for (int64_t k = 0; k < count; k++)
    p->price[seen->col[k]] -= fmax(t->dist[j] - seen->dist[k], 0);
  do {
    row = t->owner[j] = t->from[j];
    int32_t before = col_of[row];
    col_of[row] = j;
    j = before;
  } while (row != start);
}

static int64_t cold_start(op_assign *p, const assign_costs *a)
{
  assign_work *w = p->work;
  int32_t *owner = w->all.owner, *waiting = w->slot.from;
  int64_t count = 0;
  memset(p->price, 0, (size_t)a->cols * sizeof *p->price);
  for (int64_t j = 0; j < a->cols; j++) owner[j] = -1;
  for (int64_t i = 0; i < a->rows; i++) {
    int32_t j = (int32_t)op_assign_row_minimum(a, i);
    if (j < 0) return i;
    w->best_free[i] = j;
    if (owner[j] < 0)
      owner[j] = (int32_t)i;
    else
      waiting[count++] = (int32_t)i;
  }
  for (int pass = 0; pass < PASSES && count > 0; pass++)
    count = reduce_rows(p, waiting, count);
  if (a->cols <= NARROW * a->rows) {
    int32_t *col_of = w->row_slot; /* until there are slots */
    for (int64_t j = 0; j < a->cols; j++)
      if (owner[j] >= 0) col_of[owner[j]] = (int32_t)j;
    for (int64_t k = 0; k < count; k++) insert_among_all(p, waiting[k], col_of);
  }
  for (int64_t j = 0; j < a->cols; j++)
    if (owner[j] >= 0) new_slot(w, owner[j], (int32_t)j, p->price[j]);
  return -1;
}

/* Row i takes its earlier column where that is tight, else remembers its best
 * one in best_free; false: a cost that is not finite. */
static bool keep_or_remember(op_assign *p, int64_t i)
{
  assign_work *w = p->work;
  double least, *price = p->price;
  int32_t j = (int32_t)reduced_minimum(w->costs, i, price, &least);
  int64_t old = p->match[i];
  w->best_free[i] = j;
  if (j < 0 || old < 0 || w->free_at[old] < 0) return j >= 0;
  double c = cost_at(w->costs, i, old);
  double ulps = 4 * DBL_EPSILON * (fabs(c) + fabs(price[old]) + fabs(least));
  if (c - price[old] <= least + ulps)
    new_slot(w, (int32_t)i, (int32_t)old, price[old]);
  return true;
}

/* Slot k is given up: the last slot takes its place. */
static void drop_slot(assign_work *w, int64_t k)
{
  int64_t last = --w->taken;
  release(w, w->slot.col[k]);
  w->row_slot[w->slot.row[k]] = -1;
  if (k == last) return;
  w->slot.col[k] = w->slot.col[last];
  w->slot.price[k] = w->slot.price[last];
  put_in_slot(w, k, w->slot.row[last]);
}

/* A free column goes back to price 0: rows that now prefer it are undone, and
 * their columns follow. */
static void clear_free_prices(op_assign *p)
{
  assign_work *w = p->work;
  int64_t waiting = 0;
  for (int64_t k = 0; k < w->n_free; k++)
    if (p->price[w->free_col[k]] < 0) w->stack[waiting++] = w->free_col[k];
  if (waiting == 0) return;
  for (int64_t i = 0; i < w->costs->rows; i++) w->best_free[i] = -1;
  while (waiting > 0) {
    int32_t j = w->stack[--waiting];
    p->price[j] = 0;
    for (int64_t k = w->taken - 1; k >= 0; k--) {
      int32_t row = w->slot.row[k], col = w->slot.col[k];
      double u = cost_at(w->costs, row, col) - w->slot.price[k];
      if (!(cost_at(w->costs, row, j) < u)) continue;
      if (w->slot.price[k] < 0) w->stack[waiting++] = col;
      drop_slot(w, k);
    }
  }
}

static int64_t warm_start(op_assign *p, const assign_costs *a)
{
  assign_work *w = p->work;
  for (int64_t j = 0; j < a->cols; j++) p->price[j] = fmin(p->price[j], 0);
  for (int64_t i = 0; i < a->rows; i++) {
    if (!keep_or_remember(p, i)) return i;
  }
  for (int64_t i = 0; i < a->rows; i++) {
    int32_t j = w->best_free[i];
    if (w->row_slot[i] < 0 && w->free_at[j] >= 0)
      new_slot(w, (int32_t)i, j, p->price[j]);
  }
  clear_free_prices(p);
  return -1;
}

/* ---- the whole ----------------------------------------------------------*/
static void publish(op_assign *p, const assign_costs *a)
{
  assign_work *w = p->work;
  memset(p->price, 0, (size_t)a->cols * sizeof *p->price);
  p->objective = 0;
  for (int64_t k = 0; k < w->taken; k++) {
    p->match[w->slot.row[k]] = w->slot.col[k];
    p->price[w->slot.col[k]] = w->slot.price[k];
  }
  for (int64_t i = 0; i < a->rows; i++)
    p->objective += cost_at(a, i, p->match[i]);
}

int64_t op_assign_solve(op_assign *p, const assign_costs *a, bool warm)
{
  if (a->rows == 0) return p->objective = 0, -1;
  forget_all(p, a);
  int64_t bad = warm ? warm_start(p, a) : cold_start(p, a);
  if (bad >= 0) return bad;
  for (int64_t i = 0; i < a->rows; i++)
    if (p->work->row_slot[i] < 0) insert_row(p->work, (int32_t)i);
  publish(p, a);
  return -1;
}

/* ---- memory -------------------------------------------------------------*/
void op_assign_free(op_assign *p)
{
  if (p == NULL) return;
  arena_free(&p->arena);
  base_free(p);
}

/* One block of memory: a small problem takes less time than five would. */
static lapis_status allocate(op_assign *p)
{
  arena *a = &p->arena;
  int64_t rows = p->rows, cols = p->cols;
  struct {
    assign_work work;
    int64_t all[];
  } *block = arena_take(a, 1, sizeof *block + 8 * (size_t)(6 * (rows + cols)));
  TRY(arena_status(a));
  assign_work *w = p->work = &block->work;
  p->match = block->all;
  double *real = (double *)(p->match + rows);
  int32_t *whole = (int32_t *)(real + 2 * rows + 3 * cols);
  p->price = real;
  w->all.held = real + cols;
  w->all.dist = real + 2 * cols;
  w->slot.price = real + 3 * cols;
  w->slot.dist = w->slot.price + rows;
  int32_t **of_cols[] = {&w->all.owner, &w->all.from, &w->free_col, &w->free_at,
                         &w->stack};
  int32_t **of_rows[] = {&w->slot.col, &w->slot.row, &w->slot.from,
                         &w->row_slot, &w->best_free};
  for (int i = 0; i < 5; i++) {
    *of_cols[i] = whole + i * cols;
    *of_rows[i] = whole + 5 * cols + i * rows;
  }
  return LAPIS_OK;
}

lapis_status op_assign_new(lapis_ctx *ctx, int64_t rows, int64_t cols,
                           op_assign **out)
{
  *out = NULL;
  if (cols > INT32_MAX)
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "assign: %" PRId64 " columns; at most %d are counted",
                      cols, INT32_MAX);
  op_assign *p = base_alloc(ctx, 1, sizeof *p);
  if (p == NULL) return LAPIS_ENOMEM;
  *p = (op_assign){
      .ctx = ctx, .arena = {.ctx = ctx}, .rows = rows, .cols = cols};
  if (allocate(p) < 0) {
    op_assign_free(p);
    return LAPIS_ENOMEM;
  }
  *out = p;
  return LAPIS_OK;
}
