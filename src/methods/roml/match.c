/* match.c - every image's assignment, [ROML16 (14)-(16)]:
 *
 *   minimize sum_j -<M_kj, f_p(j)> + |f_p(j)|^2 / 2 over injective p,
 *
 * M = L + E + Y/rho.  theta_ij^2 = theta_ij makes (15) linear whatever the
 * norms are, so Theorem 1's equal norms are not needed.
 *
 * Products are float32 where features are many.  What they decide is exact:
 * with delta_j a bound on the error of row j, a solution whose other entries
 * all have a reduced cost above 2 sum delta is the optimum of the exact costs;
 * otherwise the entries below that are all that can matter, and the problem is
 * solved again on their columns with costs in float64.
 *
 * Work is skipped where the last solution still proves itself.  Row j was
 * found to prefer its column by slack_j at M_ref; a cost difference moves by
 * at most 2 |M_j - M_ref,j| max |f|.  Rows whose slack covers that, and the
 * errors, need no product, and an image of such rows no assignment.  A row
 * that moves to a free column and leaves one of price 0 behind changes nothing
 * for the others; anything else is a full assignment of the image, warm where
 * prices are not all 0.  Prices that are not are set midway between the highest
 * and the lowest that are optimal, so that rows have slack.  An only optimum is
 * found whatever the way; of several, which one is decided by M and the picks
 * before it alone, so that a run repeats itself.
 *
 * Numerics: if more columns are near-ties than there is room for (thousands of
 * equal features), the float32 solution stands; it is optimal to 2 sum delta.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "methods/roml/roml.h"

/* Multiplications that are worth waking threads for, some half a millisecond:
 * on a busy machine a thread that is waited for may take many. */
enum { PARALLEL_FROM = 1 << 24 };

typedef struct refiner { /* the small exact problem */
  op_assign *all, *some;
  int64_t room;    /* columns */
  int32_t *column; /* room */
  int32_t *seen;   /* largest: place in column + 1, or 0 */
  double *costs;   /* room x n */
} refiner;

typedef struct bench { /* one image at work, a thread each */
  int64_t k, n_stale;
  int64_t *stale; /* n: rows to look at */
  bool full;      /* all of them */
  lapis_dtype dtype;
  int64_t ld;
  void *M, *C; /* d x n, ld x n: a row of costs a column */
  void *shut;  /* ld: 0, or infinite for the time that a column is not asked */
  double *regret, *free_regret, *high; /* n x n, n, n */
  refiner r;
} bench;

struct roml_matcher {
  const roml_problem *p;
  roml_shape at;
  lapis_ctx *ctx;
  int threads;
  double unit;                   /* rounding of products */
  double *reference;             /* rows x cols: M when a row was looked at */
  double *slack, *price, *error; /* K x n */
  bench *bench;                  /* threads */
};

/* ---- memory -------------------------------------------------------------*/
static lapis_status new_refiner(roml_matcher *m, bool exact, refiner *r)
{
  lapis_ctx *ctx = m->ctx;
  int64_t n = m->at.n, most = m->p->largest;
  TRY(op_assign_new(ctx, n, most, &r->all));
  if (exact) return LAPIS_OK;
  r->room = 8 * n + 64 < most ? 8 * n + 64 : most;
  TRY(op_assign_new(ctx, n, r->room, &r->some));
  r->column = base_alloc(ctx, r->room, sizeof *r->column);
  r->seen = base_alloc(ctx, most, sizeof *r->seen);
  r->costs = base_alloc(ctx, r->room * n, sizeof *r->costs);
  bool ok = r->column != NULL && r->seen != NULL && r->costs != NULL;
  return ok ? LAPIS_OK : LAPIS_ENOMEM;
}

static lapis_status new_bench(roml_matcher *m, bench *b)
{
  int64_t n = m->at.n;
  bool exact = m->p->F.dtype == LAPIS_F64;
  size_t size = exact ? sizeof(double) : sizeof(float);
  b->dtype = m->p->F.dtype;
  b->ld = op_panels_round(m->p->largest);
  b->stale = base_alloc(m->ctx, n, sizeof *b->stale);
  b->M = base_alloc(m->ctx, m->p->d * op_panels_room(n), size);
  b->C = base_alloc_raw(m->ctx, b->ld * n, size);
  b->shut = base_alloc(m->ctx, b->ld, size);
  b->regret = base_alloc(m->ctx, n * n, sizeof *b->regret);
  b->free_regret = base_alloc(m->ctx, n, sizeof *b->free_regret);
  b->high = base_alloc(m->ctx, n, sizeof *b->high);
  if (b->stale == NULL || b->M == NULL || b->C == NULL || b->shut == NULL ||
      b->regret == NULL || b->free_regret == NULL || b->high == NULL)
    return LAPIS_ENOMEM;
  return new_refiner(m, exact, &b->r);
}

static lapis_status allocate(roml_matcher *m)
{
  int64_t slots = m->p->K * m->at.n;
  m->reference =
      base_alloc(m->ctx, m->at.rows * m->at.cols, sizeof *m->reference);
  m->slack = base_alloc(m->ctx, slots, sizeof *m->slack);
  m->price = base_alloc(m->ctx, slots, sizeof *m->price);
  m->error = base_alloc(m->ctx, slots, sizeof *m->error);
  m->bench = base_alloc(m->ctx, m->threads, sizeof *m->bench);
  if (m->reference == NULL || m->slack == NULL || m->price == NULL ||
      m->error == NULL || m->bench == NULL)
    return LAPIS_ENOMEM;
  for (int t = 0; t < m->threads; t++) TRY(new_bench(m, &m->bench[t]));
  roml_matcher_forget(m);
  return LAPIS_OK;
}

lapis_status roml_matcher_new(roml *w, const roml_shape *at, roml_matcher **out)
{
  roml_matcher *m = *out = base_alloc(w->base.ctx, 1, sizeof *m);
  if (m == NULL) return LAPIS_ENOMEM;
  m->p = &w->p;
  m->at = *at;
  m->ctx = w->base.ctx;
  m->threads = base_threads(w->base.ctx);
  if (m->threads > w->p.K) m->threads = (int)w->p.K;
  bool exact = w->p.F.dtype == LAPIS_F64;
  /* inputs rounded, d products and sums, the price and the half added */
  m->unit = (double)(w->p.d + 6) * (exact ? DBL_EPSILON : FLT_EPSILON) / 2;
  return allocate(m);
}

void roml_matcher_free(roml_matcher *m)
{
  if (m == NULL) return;
  for (int t = 0; m->bench != NULL && t < m->threads; t++) {
    bench *b = &m->bench[t];
    base_free(b->M), base_free(b->C), base_free(b->stale), base_free(b->shut);
    base_free(b->regret), base_free(b->free_regret), base_free(b->high);
    op_assign_free(b->r.all), op_assign_free(b->r.some);
    base_free(b->r.column), base_free(b->r.seen), base_free(b->r.costs);
  }
  base_free(m->reference), base_free(m->slack), base_free(m->price);
  base_free(m->error), base_free(m->bench);
  base_free(m);
}

void roml_matcher_forget(roml_matcher *m)
{
  for (int64_t i = 0; i < m->p->K * m->at.n; i++) {
    m->slack[i] = -INFINITY;
    m->price[i] = 0;
  }
}

/* ---- which rows to look at ----------------------------------------------*/
static void find_stale(const roml_matcher *m, const double *M, bench *b)
{
  int64_t n = m->at.n, k = b->k;
  b->n_stale = 0;
  for (int64_t j = 0; j < n; j++) {
    int64_t at = roml_block(&m->at, k, j);
    double slack = m->slack[k * n + j] - 2 * m->error[k * n + j];
    if (slack > 0) {
      double moved = op_square_distance(M + at, m->reference + at, m->p->d);
      if (2 * m->p->longest * sqrt(moved) < slack) continue;
    }
    b->stale[b->n_stale++] = j;
  }
  b->full = 2 * b->n_stale > n;
}

static void take_all(const roml_matcher *m, bench *b)
{
  for (int64_t j = 0; j < m->at.n; j++) b->stale[j] = j;
  b->n_stale = m->at.n;
  b->full = true;
}

/* ---- costs --------------------------------------------------------------*/
/* Packs the stale rows of M, and bounds the error of their costs. */
static void pack(roml_matcher *m, const double *M, bench *b)
{
  int64_t d = m->p->d, n = m->at.n;
  for (int64_t s = 0; s < b->n_stale; s++) {
    int64_t j = b->stale[s], at = roml_block(&m->at, b->k, j);
    const double *from = M + at;
    if (b->dtype == LAPIS_F64)
      memcpy((double *)b->M + s * d, from, (size_t)d * sizeof *from);
    else
      for (int64_t a = 0; a < d; a++)
        ((float *)b->M)[s * d + a] = (float)from[a];
    memcpy(m->reference + at, from, (size_t)d * sizeof *from);
    double longest = m->p->longest, length = sqrt(op_inner(from, from, d));
    m->error[b->k * n + j] = m->unit * longest * (length + longest);
  }
}

static void products(roml_matcher *m, const double *M, bench *b)
{
  const roml_problem *p = m->p;
  int64_t k = b->k;
  pack(m, M, b);
  op_panels_costs(&p->F, p->panel[k], roml_count(p, k), b->M, b->n_stale,
                  p->half == NULL ? NULL : p->half + p->first[k], b->C, b->ld);
}

static assign_costs costs_of(const roml_matcher *m, const bench *b)
{
  return (assign_costs){b->dtype, b->n_stale, roml_count(m->p, b->k), b->ld,
                        b->C};
}

static double get(const bench *b, int64_t s, int64_t i)
{
  if (b->dtype == LAPIS_F64) return ((double *)b->C)[s * b->ld + i];
  return ((float *)b->C)[s * b->ld + i];
}

static void put(bench *b, int64_t s, int64_t i, double v)
{
  if (b->dtype == LAPIS_F64)
    ((double *)b->C)[s * b->ld + i] = v;
  else
    ((float *)b->C)[s * b->ld + i] = (float)v;
}

/* ---- slack --------------------------------------------------------------*/
static double largest_number(const bench *b)
{
  return b->dtype == LAPIS_F64 ? DBL_MAX : FLT_MAX;
}

/* sign: -1 turns costs into reduced ones, +1 back; nothing where prices are
 * 0. */
static void shift_prices(const roml_matcher *m, bench *b, int64_t s,
                         const int64_t *pick, double sign)
{
  int64_t n = m->at.n;
  for (int64_t j = 0; j < n; j++) {
    double v = m->price[b->k * n + j];
    if (v < 0) put(b, s, pick[j], get(b, s, pick[j]) + sign * v);
  }
}

/* The cheapest column, at reduced cost, other than the row's own: its reduced
 * cost less the own one's is the slack. */
static double find_slack(const roml_matcher *m, bench *b, int64_t s,
                         const int64_t *pick, int64_t *rival)
{
  assign_costs costs = costs_of(m, b);
  int64_t own = pick[b->stale[s]];
  shift_prices(m, b, s, pick, -1);
  double cost = get(b, s, own);
  put(b, s, own, largest_number(b));
  *rival = op_assign_row_minimum(&costs, s);
  double slack = *rival < 0 ? -INFINITY : get(b, s, *rival) - cost;
  put(b, s, own, cost);
  shift_prices(m, b, s, pick, 1);
  return *rival == own ? INFINITY : slack; /* a single feature */
}

/* ---- a row alone --------------------------------------------------------*/
static bool is_taken(const int64_t *pick, int64_t n, int64_t i)
{
  for (int64_t j = 0; j < n; j++)
    if (pick[j] == i) return true;
  return false;
}

/* False: the image needs a full assignment. */
static bool settle_row(roml_matcher *m, bench *b, int64_t s, int64_t *pick)
{
  int64_t n = m->at.n, j = b->stale[s], at = b->k * n + j, rival;
  double doubt = 2 * m->error[at];
  double slack = find_slack(m, b, s, pick, &rival);
  if (slack < -doubt && rival >= 0 && !(m->price[at] < 0) &&
      !is_taken(pick, n, rival)) {
    pick[j] = rival;
    slack = find_slack(m, b, s, pick, &rival);
  }
  m->slack[at] = slack;
  return slack > doubt;
}

/* ---- a full assignment --------------------------------------------------*/
static double exact_cost(const roml_matcher *m, const double *M, int64_t k,
                         int64_t i)
{
  const roml_problem *p = m->p;
  double sum = op_inner(M, roml_feature(p, k, i), p->d);
  double scale = p->scale[p->first[k] + i];
  double half = p->half == NULL ? 0 : p->half[p->first[k] + i];
  return half - scale * sum;
}

static bool add_column(refiner *r, int64_t i, int64_t *count)
{
  if (r->seen[i] != 0) return true;
  if (*count == r->room) return false;
  r->column[(*count)++] = (int32_t)i;
  r->seen[i] = (int32_t)*count;
  return true;
}

/* Columns that an exact optimum may use: those taken, and those whose reduced
 * cost is within `doubt` in a row whose slack is.  false: too many. */
static bool candidates(roml_matcher *m, const bench *b, refiner *r,
                       const int64_t *pick, double doubt, int64_t *count)
{
  int64_t n = m->at.n, columns = roml_count(m->p, b->k);
  const float *C = b->C;
  const double *price = r->all->price;
  bool room = true;
  for (int64_t j = 0; j < n; j++) room = add_column(r, pick[j], count) && room;
  for (int64_t j = 0; room && j < n; j++) {
    if (m->slack[b->k * n + j] > doubt) continue;
    const float *c = C + j * b->ld;
    double limit = (double)c[pick[j]] - price[pick[j]] + doubt;
    for (int64_t i = 0; room && i < columns; i++)
      if ((double)c[i] - price[i] <= limit) room = add_column(r, i, count);
  }
  return room;
}

/* Solves again, exactly, on the columns that can matter. */
static void solve_exactly(roml_matcher *m, const double *M, const bench *b,
                          refiner *r, double doubt, int64_t *pick)
{
  int64_t n = m->at.n, count = 0, k = b->k;
  bool fits = candidates(m, b, r, pick, doubt, &count);
  for (int64_t c = 0; c < count; c++) r->seen[r->column[c]] = 0;
  if (!fits) return;
  for (int64_t j = 0; j < n; j++)
    for (int64_t c = 0; c < count; c++)
      r->costs[j * count + c] =
          exact_cost(m, M + roml_block(&m->at, k, j), k, r->column[c]);
  assign_costs costs = {LAPIS_F64, n, count, count, r->costs};
  if (op_assign_solve(r->some, &costs, false) >= 0) return;
  for (int64_t j = 0; j < n; j++) {
    int64_t c = r->some->match[j];
    pick[j] = r->column[c];
    m->price[k * n + j] = r->some->price[c];
  }
}

/* ---- prices and slacks of a whole image ----------------------------------*/
static void shut_column(bench *b, int64_t i, bool shut)
{
  if (b->dtype == LAPIS_F64)
    ((double *)b->shut)[i] = shut ? INFINITY : 0;
  else
    ((float *)b->shut)[i] = shut ? INFINITY : 0;
}

/* What row j would pay more for row k's column than for its own, and for the
 * cheapest free one. */
static void find_regrets(const roml_matcher *m, bench *b, const int64_t *pick)
{
  int64_t n = m->at.n;
  assign_costs costs = costs_of(m, b);
  for (int64_t k = 0; k < n; k++) shut_column(b, pick[k], true);
  op_assign_least_open(&costs, b->shut, b->free_regret);
  for (int64_t k = 0; k < n; k++) shut_column(b, pick[k], false);
  for (int64_t j = 0; j < n; j++) {
    double *regret = b->regret + j * n, own = get(b, j, pick[j]);
    for (int64_t k = 0; k < n; k++) regret[k] = get(b, j, pick[k]) - own;
    b->free_regret[j] -= own;
  }
}

/* The largest prices v <= 0 with v_k <= v_j + regret_jk. */
static void find_highest(const bench *b, int64_t n, double *high)
{
  bool moved = true;
  memset(high, 0, (size_t)n * sizeof *high);
  for (int64_t pass = 0; moved && pass < n; pass++) {
    moved = false;
    for (int64_t j = 0; j < n; j++)
      for (int64_t k = 0; k < n; k++) {
        double most = high[j] + b->regret[j * n + k];
        if (!(most < high[k])) continue;
        high[k] = most;
        moved = true;
      }
  }
}

/* The smallest, but for those that can be 0, which are. */
static void find_lowest(const bench *b, int64_t n, const double *high,
                        double *low)
{
  bool moved = true;
  for (int64_t j = 0; j < n; j++) low[j] = high[j] < 0 ? -b->free_regret[j] : 0;
  for (int64_t pass = 0; moved && pass < n; pass++) {
    moved = false;
    for (int64_t j = 0; j < n; j++)
      for (int64_t k = 0; k < n && high[j] < 0; k++) {
        double least = low[k] - b->regret[j * n + k];
        if (!(least > low[j])) continue;
        low[j] = least;
        moved = true;
      }
  }
}

/* The prices of an assignment are not unique, and those that end a search leave
 * rows without slack: midway between the extremes, rows have it wherever the
 * assignment is the only optimum, and prices that can be 0 are.  Whatever the
 * prices, slacks prove what they say. */
static void find_duals(roml_matcher *m, bench *b, const int64_t *pick)
{
  int64_t n = m->at.n;
  double *price = m->price + b->k * n, *high = b->high;
  find_regrets(m, b, pick);
  find_highest(b, n, high);
  find_lowest(b, n, high, price);
  for (int64_t j = 0; j < n; j++) {
    bool bounded = price[j] > -INFINITY; /* not where M's rounding decides */
    price[j] = bounded ? (price[j] + high[j]) / 2 : high[j];
    if (price[j] > 0) price[j] = 0;
  }
  for (int64_t j = 0; j < n; j++) {
    const double *regret = b->regret + j * n;
    double slack = b->free_regret[j];
    for (int64_t k = 0; k < n; k++) {
      double over = k == j ? slack : regret[k] - price[k];
      slack = over < slack ? over : slack;
    }
    m->slack[b->k * n + j] = slack + price[j];
  }
}

static bool has_prices(const roml_matcher *m, int64_t k)
{
  const double *price = m->price + k * m->at.n;
  for (int64_t j = 0; j < m->at.n; j++)
    if (price[j] < 0) return true;
  return false;
}

/* Slacks of the image, and prices where they are not all 0. */
static void prove_image(roml_matcher *m, bench *b, const int64_t *pick)
{
  int64_t n = m->at.n, rival;
  if (has_prices(m, b->k)) {
    find_duals(m, b, pick);
    return;
  }
  for (int64_t j = 0; j < n; j++)
    m->slack[b->k * n + j] = find_slack(m, b, j, pick, &rival);
}

/* The solver starts from the earlier assignment and its prices; false where all
 * are 0, and a start from nothing is as good. */
static bool recall(const roml_matcher *m, const bench *b, op_assign *solver,
                   const int64_t *pick)
{
  int64_t n = m->at.n;
  if (!has_prices(m, b->k)) return false;
  memset(solver->price, 0,
         (size_t)roml_count(m->p, b->k) * sizeof *solver->price);
  for (int64_t j = 0; j < n; j++) {
    solver->match[j] = pick[j];
    solver->price[pick[j]] = m->price[b->k * n + j];
  }
  return true;
}

/* false: a cost is not finite. */
static bool solve_image(roml_matcher *m, const double *M, bench *b, refiner *r,
                        int64_t *pick)
{
  int64_t n = m->at.n;
  double doubt = 0, tightest = INFINITY;
  assign_costs costs = costs_of(m, b);
  bool warm = recall(m, b, r->all, pick);
  if (op_assign_solve(r->all, &costs, warm) >= 0) return false;
  for (int64_t j = 0; j < n; j++) {
    pick[j] = r->all->match[j];
    m->price[b->k * n + j] = r->all->price[pick[j]];
    doubt += 2 * m->error[b->k * n + j];
  }
  prove_image(m, b, pick);
  for (int64_t j = 0; j < n; j++)
    tightest = fmin(tightest, m->slack[b->k * n + j]);
  if (r->some == NULL || tightest > doubt) return true;
  solve_exactly(m, M, b, r, doubt, pick);
  prove_image(m, b, pick);
  return true;
}

/* ---- all images ---------------------------------------------------------*/
/* Rows alone, where few are stale; the whole image where that fails.  false:
 * a cost is not finite. */
static bool match_image(roml_matcher *m, const double *M, bench *b,
                        int64_t *pick)
{
  find_stale(m, M, b);
  if (b->n_stale == 0) return true;
  if (!b->full) {
    products(m, M, b);
    for (int64_t s = 0; s < b->n_stale; s++)
      if (!settle_row(m, b, s, pick)) b->full = true;
    if (!b->full) return true;
  }
  take_all(m, b);
  products(m, M, b);
  return solve_image(m, M, b, &b->r, pick);
}

lapis_status roml_match(roml_matcher *m, const double *M, int64_t from,
                        int64_t *pick)
{
  int64_t bad = 0, n = m->at.n;
#pragma omp parallel for num_threads(                                   \
    m->p->N * n * m->p->d > PARALLEL_FROM ? base_team(m->ctx, m->threads) \
                                          : 1)                           \
    schedule(static, 1) reduction(+ : bad)
  for (int t = 0; t < m->threads; t++)
    for (int64_t k = from + t; k < m->p->K; k += m->threads) {
      m->bench[t].k = k;
      bad += !match_image(m, M, &m->bench[t], pick + k * n);
    }
  if (bad == 0) return LAPIS_OK;
  return lapis_fail(m->ctx, LAPIS_ENUMERIC,
                    "roml: the cost of a match overflows; scale X down");
}
