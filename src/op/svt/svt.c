/* svt.c - singular value thresholding, A = U max(S - t, 0) V' of W = U S V':
 * the proximal step of t |.|_*, and the one place that chooses how.
 *
 * GRAM.  The smaller of W W' and W'W, say C = Q L Q' with L = S^2.  Only the r
 *   eigenvectors with l > t^2 are computed, and A = Q f(L) Q'W with f(l) =
 *   1 - t/sqrt(l), the product Q_r'W first: 4 m n r flops; or, where most are,
 *   Q f Q' first.  C is wrong by
 *   about eps sigma_1^2, so that A is wrong by about eps sigma_1^2 / t: at
 *   t = 1e-5 sigma_1, the least this way is trusted with, 1e-11 sigma_1.
 * FULL.  LAPACK's divide and conquer, for what is below that.
 * QR.  The same for a long matrix: its long side is factored away first.
 * SUBSPACE.  W with few singular values above t, found one by one and
 *   proved to be all (svt_subspace.c), from where the last call ended; where
 *   the proof fails, GRAM.
 *
 * Where columns are split over processes the Gram matrix is always the m x m
 * one, because it is a sum over columns.  QR then makes the triangles R_p of
 * W_p' = Q_p R_p, and one R of all of them, that of W' (TSQR): W's singular
 * values and left vectors are R''s, as exact as those of W itself.
 *
 * Numerics: squares of entries below 1e-140 vanish and those above 1e154
 * overflow; such W go to the full SVD. */
#include "op/svt/svt.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "lapis/methods.h"
#include "mat/mat.h"
#include "op/svt/svt_subspace.h"

enum { LONG = 4 }; /* sides in this ratio: QR first */
/* smaller side from which SUBSPACE may pay; in a single call; and where a step
 * may be inexact and its rank is known to be small */
enum { LARGE = SVT_LARGE, COLD = 200, LEAST = 100 };
enum { MOST_SKIPS = 32, FEW = 64 };
static const double TRUSTED = 1e-5, SMALLEST = 1e-140;
static const double ACCURACY = 1e-10; /* of SUBSPACE, times sigma_1 */

struct op_svt {
  la h; /* with scratch */
  int64_t rows, cols;
  int64_t all;  /* columns of all processes */
  bool split;   /* among several */
  bool by_rows; /* Gram matrix W W', not W'W */
  svt_way forced;
  double accuracy; /* of SUBSPACE */
  double seconds;
  bool spare;    /* A of a failing call stays as it is */
  bool once;     /* no second call will start from what this one finds */
  la_array C, Q; /* k x k, k the side of the Gram matrix; where that is large
                  * from the first call that wants them on */
  la_array P;    /* room x cols (by rows) or rows x room: Q'W or W Q, V' or U */
  int64_t room;
  la_array V, eye; /* k x k, QR alone: V'; wide W: transposes by multiplying */
  double *values, *f;     /* k: eigenvalues or singular values; factors */
  svt_subspace *subspace; /* NULL until it is wanted */
  bool was_gram; /* the last choice: the next, if split, forms the Gram matrix
                  * at once, whose message brings what the choice asks */
  bool formed;   /* C is that of the W at hand */
  int64_t last_rank;    /* -1: none yet */
  int64_t fails, skips; /* of SUBSPACE: in a row; calls to leave it alone */
};

/* ---- workspace ----------------------------------------------------------*/

static int64_t side(const op_svt *s)
{
  return s->by_rows ? s->rows : s->cols;
}

static svt_way exact_way(const op_svt *s)
{
  if (s->split) return SVT_QR;
  int64_t k = s->rows < s->cols ? s->rows : s->cols;
  int64_t l = s->rows < s->cols ? s->cols : s->rows;
  return l >= LONG * k ? SVT_QR : SVT_FULL;
}

static lapis_status set_identity(op_svt *s)
{
  lapis_mat host = {.rows = side(s), .cols = side(s), .ld = side(s)};
  double *p = base_alloc(s->h.ctx, side(s) * side(s), sizeof *p);
  if (p == NULL) return LAPIS_ENOMEM;
  for (int64_t i = 0; i < side(s); i++) p[i * (side(s) + 1)] = 1;
  host.val = p;
  lapis_status status = s->h.ops->upload(&s->h, &host, &s->eye);
  base_free(p);
  return status;
}

/* What only QR needs: for every shape it may serve, for small ones, and else
 * when it is first asked for. */
static lapis_status allocate_qr(op_svt *s)
{
  int64_t k = side(s);
  la *h = &s->h;
  if (s->V.data == NULL) TRY(h->ops->alloc(h, LAPIS_F64, k, k, &s->V));
  if (!s->by_rows || s->eye.data != NULL) return LAPIS_OK;
  TRY(h->ops->alloc(h, LAPIS_F64, k, k, &s->eye));
  return set_identity(s);
}

/* Room in P for `rank` vectors.  All k may be as large as W, and a large W
 * seldom needs them: it starts with a few. */
static lapis_status make_room(op_svt *s, int64_t rank)
{
  la *h = &s->h;
  int64_t room = rank > 2 * s->room ? rank : 2 * s->room;
  if (s->P.data != NULL && rank <= s->room) return LAPIS_OK;
  if (room > side(s)) room = side(s);
  h->ops->free(h, &s->P);
  s->room = 0;
  if (s->by_rows)
    TRY(h->ops->alloc(h, LAPIS_F64, room, s->cols, &s->P));
  else
    TRY(h->ops->alloc(h, LAPIS_F64, s->rows, room, &s->P));
  s->room = room;
  return LAPIS_OK;
}

/* Room for what a Gram matrix or a full decomposition is made in. */
static lapis_status make_squares(op_svt *s)
{
  int64_t k = side(s);
  la *h = &s->h;
  if (s->C.data == NULL) TRY(h->ops->alloc(h, LAPIS_F64, k, k, &s->C));
  if (s->Q.data == NULL) TRY(h->ops->alloc(h, LAPIS_F64, k, k, &s->Q));
  return LAPIS_OK;
}

static lapis_status allocate(op_svt *s)
{
  int64_t k = side(s), m = s->rows, n = s->cols;
  la *h = &s->h;
  if (k < COLD) TRY(make_squares(s));
  TRY(make_room(s, k < COLD ? k : FEW));
  if (exact_way(s) == SVT_QR || k < COLD) TRY(allocate_qr(s));
  s->values = base_alloc(h->ctx, k, sizeof *s->values);
  s->f = base_alloc(h->ctx, k, sizeof *s->f);
  if (s->split && m < 2 * k) m = 2 * k; /* two triangles */
  h->scratch_count = la_scratch_count(m > k ? m : k, n > k ? n : k);
  h->scratch = base_alloc_raw(h->ctx, h->scratch_count, sizeof(double));
  bool done = s->values != NULL && s->f != NULL && h->scratch != NULL;
  return done ? LAPIS_OK : LAPIS_ENOMEM;
}

lapis_status op_svt_new(la *h, int64_t rows, int64_t cols, op_svt **out)
{
  *out = NULL;
  op_svt *s = base_alloc(h->ctx, 1, sizeof *s);
  if (s == NULL) return LAPIS_ENOMEM;
  s->h = (la){.ops = h->ops, .ctx = h->ctx, .threads = h->threads};
  s->rows = rows;
  s->cols = cols;
  s->last_rank = -1;
  s->accuracy = ACCURACY;
  s->split = base_ranks(h->ctx) > 1;
  s->by_rows = rows <= cols || s->split;
  int64_t first;
  lapis_status status = base_place(h->ctx, cols, &first, &s->all);
  if (status >= 0) status = allocate(s);
  if (status < 0)
    op_svt_free(s);
  else
    *out = s;
  return status;
}

void op_svt_free(op_svt *s)
{
  if (s == NULL) return;
  la_array *all[] = {&s->C, &s->Q, &s->P, &s->V, &s->eye};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    s->h.ops->free(&s->h, all[i]);
  svt_subspace_free(s->subspace);
  base_free(s->values);
  base_free(s->f);
  base_free(s->h.scratch);
  base_free(s);
}

void op_svt_force(op_svt *s, svt_way way)
{
  s->forced = way;
}

void op_svt_spare(op_svt *s)
{
  s->spare = true;
}

void op_svt_once(op_svt *s)
{
  s->once = true;
}

void op_svt_accept(op_svt *s, double error)
{
  s->accuracy = fmax(error, ACCURACY);
}

double op_svt_seconds(const op_svt *s)
{
  return s->seconds;
}

/* ---- steps --------------------------------------------------------------*/

/* C = W W' (summed over processes) or W'W. */
static lapis_status form_gram(op_svt *s, const la_array *W)
{
  TRY(make_squares(s));
  TRY(s->h.ops->syrk(&s->h, s->by_rows ? LA_N : LA_T, W, &s->C));
  base_say(s->h.ctx, 2, "svt: Gram matrix of order %" PRId64, side(s));
  return la_sum(&s->h, &s->C);
}

static lapis_status square_norm(op_svt *s, const la_array *W, double *out)
{
  TRY(s->h.ops->dot(&s->h, W, W, out));
  return base_sum(s->h.ctx, out, 1);
}

/* Rank, nuclear norm and f = shrunken value (over s where relative) from
 * the descending singular values s->values. */
static void shrink(op_svt *s, int64_t count, double t, bool relative,
                   svt_report *report)
{
  report->sigma_1 = count > 0 ? s->values[0] : 0;
  for (int64_t i = 0; i < count && s->values[i] > t; i++) {
    s->f[i] = relative ? 1 - t / s->values[i] : s->values[i] - t;
    report->nuclear += s->values[i] - t;
    report->rank = i + 1;
  }
}

/* ---- the ways -----------------------------------------------------*/

/* The eigenvalues above t^2 become singular values in values. */
static lapis_status gram_spectrum(op_svt *s, const la_array *W, double t,
                                  int64_t *count)
{
  if (!s->formed) TRY(form_gram(s, W));
  s->formed = false;
  TRY(s->h.ops->eigh(&s->h, &s->C, t * t, s->values, &s->Q, count));
  for (int64_t i = 0; i < *count; i++) s->values[i] = sqrt(s->values[i]);
  return LAPIS_OK;
}

/* Q_r f Q_r' first: 2 k^2 (l + r) flops, l the larger side, in place of
 * 4 k l r.  (A split W may be narrower than Q: no room in P.) */
static bool square_first_pays(const op_svt *s, int64_t r)
{
  double k = (double)side(s), l = (double)(s->by_rows ? s->cols : s->rows);
  return !s->split && k * (l + (double)r) < 2 * l * (double)r;
}

static lapis_status square_first(op_svt *s, const la_array *W, int64_t r,
                                 la_array *A)
{
  la *h = &s->h;
  la_array Q = la_cols(&s->Q, 0, r), P = la_reshape(&s->P, side(s), r);
  TRY(la_copy(h, &Q, &P));
  TRY(la_scale_cols(h, s->f, &P));
  TRY(h->ops->gemm(h, LA_N, LA_T, 1, &P, &Q, 0, &s->C));
  if (s->by_rows) return h->ops->gemm(h, LA_N, LA_N, 1, &s->C, W, 0, A);
  return h->ops->gemm(h, LA_N, LA_N, 1, W, &s->C, 0, A);
}

/* P = Q_r'W, or W Q_r: of a product that SUBSPACE kept, or anew. */
static lapis_status gram_side(op_svt *s, const la_array *W, const la_array *Q,
                              const svt_found *found, la_array *P)
{
  la *h = &s->h;
  bool kept = found != NULL && found->kept;
  if (kept && s->by_rows)
    return h->ops->gemm(h, LA_T, LA_T, 1, &found->S, &found->T, 0, P);
  if (kept) return h->ops->gemm(h, LA_N, LA_N, 1, &found->T, &found->S, 0, P);
  if (s->by_rows) return h->ops->gemm(h, LA_T, LA_N, 1, Q, W, 0, P);
  return h->ops->gemm(h, LA_N, LA_N, 1, W, Q, 0, P);
}

/* A = Q_r f Q_r'W, or W Q_r f Q_r'; found: NULL, or where Q_r is from, which
 * is scaled there. */
static lapis_status gram_product(op_svt *s, const la_array *W, int64_t r,
                                 const svt_found *found, la_array *A)
{
  la *h = &s->h;
  la_array Q = found != NULL ? found->Q : la_cols(&s->Q, 0, r);
  TRY(make_room(s, r));
  if (found == NULL && square_first_pays(s, r)) return square_first(s, W, r, A);
  la_array P =
      s->by_rows ? la_reshape(&s->P, r, s->cols) : la_cols(&s->P, 0, r);
  TRY(gram_side(s, W, &Q, found, &P));
  TRY(la_scale_cols(h, s->f, s->by_rows ? &Q : &P));
  if (s->by_rows) return h->ops->gemm(h, LA_N, LA_N, 1, &Q, &P, 0, A);
  return h->ops->gemm(h, LA_N, LA_T, 1, &P, &Q, 0, A);
}

/* The copy that LAPACK destroys is A, or one of its own. */
static lapis_status full_svd(op_svt *s, const la_array *W, la_array *A,
                             la_array *U, la_array *Vt)
{
  la *h = &s->h;
  la_array own = *A;
  if (s->spare) TRY(h->ops->alloc(h, LAPIS_F64, A->rows, A->cols, &own));
  lapis_status status = la_copy(h, W, &own);
  if (status >= 0) status = h->ops->svd(h, &own, U, s->values, Vt);
  if (s->spare) h->ops->free(h, &own);
  return status;
}

static lapis_status full(op_svt *s, const la_array *W, double t, la_array *A,
                         svt_report *report)
{
  la *h = &s->h;
  la_array *U = s->by_rows ? &s->Q : &s->P, *Vt = s->by_rows ? &s->P : &s->Q;
  TRY(make_room(s, side(s)));
  TRY(make_squares(s));
  TRY(full_svd(s, W, A, U, Vt));
  shrink(s, side(s), t, false, report);
  la_array Ur = la_cols(U, 0, report->rank), Vr = la_rows(Vt, 0, report->rank);
  TRY(la_scale_cols(h, s->f, &Ur));
  return h->ops->gemm(h, LA_N, LA_N, 1, &Ur, &Vr, 0, A);
}

/* R of W_p' = Q_p R_p in C; where there are fewer columns than rows W_p' is
 * its own R, with rows of zeros below. */
static lapis_status own_triangle(op_svt *s, const la_array *W)
{
  la *h = &s->h;
  la_array B = la_reshape(&s->P, s->cols, s->rows);
  TRY(h->ops->gemm(h, LA_T, LA_N, 1, W, &s->eye, 0, &B));
  if (s->cols >= s->rows) return h->ops->qr(h, &B, &s->C);
  la_array top = la_rows(&s->C, 0, s->cols);
  TRY(la_zero(h, &s->C));
  return s->cols > 0 ? la_copy(h, &B, &top) : LAPIS_OK;
}

/* C = R of W' of all processes: their triangles one after the other, each
 * joined to what the ones before it gave.  All do the same, so that all have
 * the same bits. */
static lapis_status join_triangles(op_svt *s, la_array *two)
{
  la *h = &s->h;
  int64_t m = s->rows;
  la_array sum = la_rows(two, 0, m), next = la_rows(two, m, m);
  base_say(h->ctx, 2, "svt: %d triangles of order %" PRId64, base_ranks(h->ctx),
           m);
  TRY(la_copy(h, &s->C, &s->V)); /* one's own */
  for (int r = 0; r < base_ranks(h->ctx); r++) {
    TRY(r == base_rank(h->ctx) ? la_copy(h, &s->V, &s->C) : la_zero(h, &s->C));
    TRY(la_sum(h, &s->C));
    if (r > 0) {
      TRY(la_copy(h, &s->C, &next));
      TRY(h->ops->qr(h, two, &s->C));
    }
    TRY(la_copy(h, &s->C, &sum));
  }
  return LAPIS_OK;
}

static lapis_status tsqr(op_svt *s, const la_array *W)
{
  la *h = &s->h;
  la_array two = {0};
  TRY(allocate_qr(s));
  TRY(make_room(s, side(s)));
  TRY(make_squares(s));
  TRY(own_triangle(s, W));
  TRY(h->ops->alloc(h, LAPIS_F64, 2 * s->rows, s->rows, &two));
  lapis_status status = join_triangles(s, &two);
  h->ops->free(h, &two);
  return status;
}

static lapis_status split_first(op_svt *s, const la_array *W, double t,
                                la_array *A, svt_report *report)
{
  la *h = &s->h;
  TRY(tsqr(s, W));
  TRY(h->ops->gemm(h, LA_T, LA_N, 1, &s->C, &s->eye, 0, &s->V)); /* R' */
  TRY(h->ops->svd(h, &s->V, &s->Q, s->values, &s->C));
  shrink(s, side(s), t, true, report);
  return gram_product(s, W, report->rank, NULL, A);
}

/* W = B R (tall) or W' = B R (wide), R = U S V': then A = B M or M'B' with
 * M = U max(S - t, 0) V', k x k. */
static lapis_status qr_first(op_svt *s, const la_array *W, double t,
                             la_array *A, svt_report *report)
{
  la *h = &s->h;
  TRY(allocate_qr(s));
  TRY(make_room(s, side(s)));
  TRY(make_squares(s));
  la_array B = s->by_rows ? la_reshape(&s->P, s->cols, s->rows) : s->P;
  if (s->by_rows)
    TRY(h->ops->gemm(h, LA_T, LA_N, 1, W, &s->eye, 0, &B));
  else
    TRY(la_copy(h, W, &B));
  TRY(h->ops->qr(h, &B, &s->C));
  TRY(h->ops->svd(h, &s->C, &s->Q, s->values, &s->V));
  shrink(s, side(s), t, false, report);
  la_array U = la_cols(&s->Q, 0, report->rank);
  la_array V = la_rows(&s->V, 0, report->rank);
  TRY(la_scale_cols(h, s->f, &U));
  TRY(h->ops->gemm(h, LA_N, LA_N, 1, &U, &V, 0, &s->C));
  if (s->by_rows) return h->ops->gemm(h, LA_T, LA_T, 1, &s->C, &B, 0, A);
  return h->ops->gemm(h, LA_N, LA_N, 1, &B, &s->C, 0, A);
}

/* *done: it was certified; else report says why not. */
static lapis_status subspace(op_svt *s, const la_array *W, double t,
                             la_array *A, svt_report *report, bool *done)
{
  svt_found found;
  double square;
  la_trans way = s->by_rows ? LA_N : LA_T;
  if (s->subspace == NULL)
    TRY(svt_subspace_new(&s->h, way, side(s), &s->subspace));
  TRY(square_norm(s, W, &square));
  svt_question q = {W,           t,
                    square,      (double)s->rows + (double)s->all,
                    s->accuracy, s->accuracy > ACCURACY,
                    s->once};
  TRY(svt_subspace_run(s->subspace, &q, &found));
  report->why = found.why;
  *done = found.certified;
  s->fails = *done ? 0 : s->fails + 1;
  s->skips = s->fails < 6 ? ((int64_t)1 << s->fails) - 1 : MOST_SKIPS;
  if (!*done) return LAPIS_OK;
  for (int64_t i = 0; i < found.rank; i++) s->values[i] = sqrt(found.theta[i]);
  report->way = SVT_SUBSPACE;
  shrink(s, found.rank, t, true, report);
  found.rank = report->rank; /* of theta > t^2 some roots are t, rounded */
  found.Q = la_cols(&found.Q, 0, found.rank);
  if (found.kept) found.S = la_cols(&found.S, 0, found.rank);
  return gram_product(s, W, found.rank, &found, A);
}

/* ---- the choice ---------------------------------------------------------*/

/* By operations, all divided by the smaller side k, l the larger one: a Gram
 * matrix k l and its eigenvectors 6 k^2 in units of a product's; two products
 * with p columns, the test, which memory bounds, and orthogonality.  The factor
 * is what 500 x 1000 showed: rank 20 pays, rank 50 does not. */
static bool small_pays(const op_svt *s, int64_t rank)
{
  const double margin = 2.5;
  double k = (double)side(s), l = (double)(s->by_rows ? s->all : s->rows);
  int64_t drawn = rank + rank / 8 + 8;
  double p = (double)drawn;
  bool inexact = s->accuracy > ACCURACY; /* what others find stays exact */
  return inexact && rank > 0 && k >= LEAST &&
         margin * (8 * l * p + 320 * l + 24 * p * p) < k * l + 6 * k * k;
}

/* Large, or small and alone or asked for little; the last rank small, and no
 * recent failure: it costs a tenth of a Gram matrix to find out. */
static bool subspace_pays(op_svt *s)
{
  int64_t rank = s->last_rank > 0 ? s->last_rank : 0;
  if (!svt_subspace_serves(side(s), rank + rank / 2)) return false;
  int64_t least = s->once ? COLD : LARGE;
  if (side(s) < least && !small_pays(s, rank)) return false;
  if (s->skips == 0) return true;
  s->skips--;
  return false;
}

/* SUBSPACE is asked for as long as its proof succeeds. */
static bool may_fall_back(const op_svt *s)
{
  return s->forced == SVT_AUTO || s->forced == SVT_SUBSPACE;
}

/* |W|_F^2 as the trace of C: where the next W will most likely need C, and C is
 * small, a pass over W less. */
static bool trace_pays(const op_svt *s)
{
  return s->was_gram && !s->split && side(s) < LEAST && la_is_host(&s->h);
}

static lapis_status trace(op_svt *s, double *square)
{
  lapis_mat C;
  TRY(la_borrow(&s->h, &s->C, &C));
  *square = 0;
  for (int64_t i = 0; i < side(s); i++) *square += lapis_mat_at(&C, i, i);
  return LAPIS_OK;
}

/* sigma_1 is at least |W|_F / sqrt(k): what is below the trusted share of
 * that needs no Gram matrix to be refused one. */
static lapis_status choose(op_svt *s, const la_array *W, double t,
                           svt_report *report)
{
  double square;
  bool formed = s->split && s->was_gram;
  const char *tried = report->why; /* why SUBSPACE gave up, or "" */
  report->way = s->forced;
  report->why = "as asked";
  if (!may_fall_back(s)) return LAPIS_OK;
  report->way = SVT_GRAM;
  if (trace_pays(s)) {
    formed = true;
    TRY(form_gram(s, W));
    TRY(trace(s, &square));
  } else {
    TRY(s->h.ops->dot(&s->h, W, W, &square));
    TRY(base_sum_later(s->h.ctx, &square, 1));
    TRY(formed ? form_gram(s, W) : base_sum_due(s->h.ctx));
  }
  double least = sqrt(square / (double)(side(s) > 0 ? side(s) : 1));
  report->why = *tried != '\0' ? tried : "threshold above 1e-5 sigma_1";
  s->was_gram = t > TRUSTED * least && t >= SMALLEST && square <= DBL_MAX;
  s->formed = formed && s->was_gram;
  if (s->was_gram) return LAPIS_OK;
  report->way = exact_way(s);
  report->why = "threshold below 1e-5 sigma_1, or squares out of range";
  return LAPIS_OK;
}

/* The vectors just found are where SUBSPACE starts once it may. */
static lapis_status seed(op_svt *s, int64_t rank)
{
  bool soon = side(s) >= LARGE && rank > 0;
  if (!soon || s->subspace == NULL || !svt_subspace_serves(side(s), rank))
    return LAPIS_OK;
  return svt_subspace_seed(s->subspace, &s->Q, rank);
}

/* Falls back on an exact way where the spectrum shows that the threshold was
 * too low after all; nothing found is certain: then all of it is below. */
static lapis_status gram(op_svt *s, const la_array *W, double t, la_array *A,
                         svt_report *report)
{
  int64_t count;
  TRY(gram_spectrum(s, W, t, &count));
  bool low = count > 0 && t <= TRUSTED * s->values[0];
  if (low && may_fall_back(s)) {
    report->way = exact_way(s);
    report->why = "threshold below 1e-5 sigma_1";
    s->was_gram = false;
    return LAPIS_OK;
  }
  shrink(s, count, t, true, report);
  TRY(seed(s, report->rank));
  return gram_product(s, W, report->rank, NULL, A);
}

static lapis_status run(op_svt *s, const la_array *W, double t, la_array *A,
                        svt_report *report)
{
  bool done = false;
  bool attempt =
      s->forced == SVT_SUBSPACE || (s->forced == SVT_AUTO && subspace_pays(s));
  if (attempt) TRY(subspace(s, W, t, A, report, &done));
  if (done) return LAPIS_OK;
  TRY(choose(s, W, t, report));
  if (report->way == SVT_FULL && s->split)
    return lapis_fail(s->h.ctx, LAPIS_ENOTBUILT,
                      "svt: the full decomposition is not divided among "
                      "processes; qr is as exact");
  if (report->way == SVT_GRAM) TRY(gram(s, W, t, A, report));
  if (report->way == SVT_QR && s->split) return split_first(s, W, t, A, report);
  if (report->way == SVT_FULL) return full(s, W, t, A, report);
  if (report->way == SVT_QR) return qr_first(s, W, t, A, report);
  return LAPIS_OK;
}

static lapis_status check_shape(const op_svt *s, const la_array *W)
{
  if (W->rows == s->rows && W->cols == s->cols && W->dtype == LAPIS_F64)
    return LAPIS_OK;
  return lapis_fail(s->h.ctx, LAPIS_ESHAPE,
                    "svt: got a %" PRId64 " x %" PRId64
                    " array; the workspace is for %" PRId64 " x %" PRId64
                    " doubles",
                    W->rows, W->cols, s->rows, s->cols);
}

lapis_status op_svt_apply(op_svt *s, const la_array *W, double t, la_array *A,
                          svt_report *report)
{
  svt_report unused;
  if (report == NULL) report = &unused;
  *report = (svt_report){.way = SVT_AUTO, .why = ""};
  TRY(check_shape(s, W));
  TRY(check_shape(s, A));
  if (!(t >= 0 && t <= DBL_MAX))
    return lapis_fail(s->h.ctx, LAPIS_EINVAL,
                      "svt: the threshold is %g; it must be at least 0", t);
  double start = base_seconds();
  lapis_status status = run(s, W, t, A, report);
  if (status >= 0) s->last_rank = report->rank;
  s->seconds += base_seconds() - start;
  return status;
}

/* ---- singular values alone ----------------------------------------------*/

static lapis_status values_from_triangle(op_svt *s, const la_array *W,
                                         double *values)
{
  TRY(tsqr(s, W));
  TRY(s->h.ops->svd(&s->h, &s->C, NULL, s->values, NULL));
  int64_t count = s->rows < s->all ? s->rows : s->all;
  memcpy(values, s->values, (size_t)count * sizeof *values);
  return LAPIS_OK;
}

lapis_status op_singular_values_of(op_svt *s, la_array *W, double *values)
{
  TRY(check_shape(s, W));
  if (s->split) return values_from_triangle(s, W, values);
  return s->h.ops->svd(&s->h, W, NULL, values, NULL);
}

lapis_status op_singular_values(op_svt *s, const la_array *W, double *values)
{
  TRY(check_shape(s, W));
  if (s->split) return values_from_triangle(s, W, values);
  TRY(make_room(s, side(s)));
  TRY(la_copy(&s->h, W, &s->P));
  return s->h.ops->svd(&s->h, &s->P, NULL, values, NULL);
}

/* sigma_1^2 <= l_1 + |error of C|_2 + |error of eigh|.
 *   The entries of C are inner products of length L: |fl(C) - C| <= gamma_L
 *   |W||W'| with gamma_L = L u/(1 - L u), u = eps/2, and the norm of |W||W'|
 *   is at most |W|_F^2.  A sum over processes adds one rounding each.
 *   Householder and QR iterations are backward stable: p(k) u l_1 with a p
 *   that in practice stays below k.
 * We take L eps |W|_F^2 + 2 k eps l_1, a factor 2 and more above both, and a
 * few eps for the root. */
lapis_status op_norm2_upper(op_svt *s, const la_array *W, double *bound)
{
  int64_t count;
  double square, length = (double)(s->by_rows ? s->all : s->rows);
  double k = (double)side(s);
  TRY(check_shape(s, W));
  TRY(square_norm(s, W, &square));
  TRY(form_gram(s, W));
  TRY(s->h.ops->eigh(&s->h, &s->C, -INFINITY, s->values, NULL, &count));
  double top = count > 0 && s->values[0] > 0 ? s->values[0] : 0;
  top += DBL_EPSILON * (length * square + 2 * k * top);
  *bound = sqrt(top) * (1 + 4 * DBL_EPSILON);
  return LAPIS_OK;
}

/* c I - C = R'R + E with |E|_2 <= k (k + 1) u c, twice that taken, where the
 * factorisation succeeds: the norm of |R'||R| is at most its trace, k c.  With
 * the error of C as above. */
lapis_status op_norm2_within(op_svt *s, const la_array *W, double limit,
                             bool *within)
{
  double square, length = (double)(s->by_rows ? s->all : s->rows);
  double k = (double)side(s);
  *within = false;
  TRY(check_shape(s, W));
  TRY(square_norm(s, W, &square));
  double c = limit * limit - DBL_EPSILON * length * square;
  c *= (1 - 4 * DBL_EPSILON) / (1 + DBL_EPSILON * k * (k + 1));
  if (!(c > 0 && square <= DBL_MAX)) return LAPIS_OK;
  TRY(form_gram(s, W));
  TRY(s->h.ops->axpby(&s->h, -1, &s->C, 0, &s->Q));
  TRY(s->h.ops->add_diagonal(&s->h, c, &s->Q));
  *within = s->h.ops->potrf(&s->h, &s->Q) >= 0;
  return LAPIS_OK;
}

/* ---- all of W ------------------------------------------------------------*/
/* U and values from the joined triangles; a row of V' is u_k'W / s_k, and 0
 * where that is rounding. */
static lapis_status split_svd(op_svt *s, const la_array *W, la_array *U,
                              double *values, la_array *Vt)
{
  la *h = &s->h;
  TRY(tsqr(s, W));
  TRY(h->ops->gemm(h, LA_T, LA_N, 1, &s->C, &s->eye, 0, &s->V)); /* R' */
  TRY(h->ops->svd(h, &s->V, &s->Q, s->values, &s->C));
  la_array first = la_cols(&s->Q, 0, U->cols);
  TRY(la_copy(h, &first, U));
  for (int64_t k = 0; k < U->cols; k++) {
    bool rounding = s->values[k] <= 1e-13 * s->values[0];
    values[k] = s->values[k];
    s->f[k] = rounding ? 0 : 1 / s->values[k];
  }
  TRY(la_scale_cols(h, s->f, &first));
  return h->ops->gemm(h, LA_T, LA_N, 1, &first, W, 0, Vt);
}

lapis_status op_svd(la *h, la_array *W, la_array *U, double *values,
                    la_array *Vt)
{
  int64_t first, all;
  TRY(base_place(h->ctx, W->cols, &first, &all));
  int64_t k = W->rows < all ? W->rows : all;
  TRY(h->ops->alloc(h, LAPIS_F64, W->rows, k, U));
  TRY(h->ops->alloc(h, LAPIS_F64, k, W->cols, Vt));
  if (base_ranks(h->ctx) == 1) return h->ops->svd(h, W, U, values, Vt);
  op_svt *s;
  TRY(op_svt_new(h, W->rows, W->cols, &s));
  lapis_status status = split_svd(s, W, U, values, Vt);
  op_svt_free(s);
  return status;
}

/* ---- W of a known rank ---------------------------------------------------*/
enum { BESIDE = 8 }; /* columns of Q beyond the rank */
static const uint64_t RANGE = 0x72616e67;

typedef struct ranged {
  la_array Q, O, B, S; /* m x q, n x q, q x n, q x q */
} ranged;

/* Q spans W Omega; B = Q'W = S diag(values) Vt; W -= Q B shows what is left. */
static lapis_status range_svd(la *h, la_array *W, ranged *r, double *values,
                              la_array *Vt, double *left)
{
  int64_t q = r->Q.cols, n = W->cols;
  double *normal = base_alloc_raw(h->ctx, n * q, sizeof *normal);
  if (normal == NULL) return LAPIS_ENOMEM;
  for (int64_t i = 0; i < n * q; i++)
    normal[i] = rng_normal(1, RANGE, (uint64_t)i);
  lapis_mat drawn = lapis_mat_f64(normal, n, q);
  lapis_status status = h->ops->upload(h, &drawn, &r->O);
  base_free(normal);
  TRY(status);
  TRY(h->ops->gemm(h, LA_N, LA_N, 1, W, &r->O, 0, &r->Q));
  TRY(h->ops->qr(h, &r->Q, NULL));
  TRY(h->ops->gemm(h, LA_T, LA_N, 1, &r->Q, W, 0, &r->B));
  TRY(h->ops->gemm(h, LA_N, LA_N, -1, &r->Q, &r->B, 1, W));
  TRY(h->ops->dot(h, W, W, left));
  return h->ops->svd(h, &r->B, &r->S, values, Vt);
}

lapis_status op_svd_of_rank(la *h, la_array *W, int64_t rank, double rest,
                            la_array *U, double *values, la_array *Vt,
                            bool *found)
{
  int64_t m = W->rows, n = W->cols, q = rank + BESIDE;
  double left = INFINITY;
  ranged r = {.Q = {.data = NULL}};
  *found = false;
  if (base_ranks(h->ctx) > 1 || 4 * q > (m < n ? m : n)) return LAPIS_OK;
  lapis_status status = h->ops->alloc(h, LAPIS_F64, m, q, &r.Q);
  if (status >= 0) status = h->ops->alloc(h, LAPIS_F64, n, q, &r.O);
  if (status >= 0) status = h->ops->alloc(h, LAPIS_F64, q, n, &r.B);
  if (status >= 0) status = h->ops->alloc(h, LAPIS_F64, q, q, &r.S);
  if (status >= 0) status = h->ops->alloc(h, LAPIS_F64, m, q, U);
  if (status >= 0) status = h->ops->alloc(h, LAPIS_F64, q, n, Vt);
  if (status >= 0) status = range_svd(h, W, &r, values, Vt, &left);
  *found = status >= 0 && sqrt(left) <= rest * values[0];
  if (*found) status = h->ops->gemm(h, LA_N, LA_N, 1, &r.Q, &r.S, 0, U);
  la_array *scratch[] = {&r.Q, &r.O, &r.B, &r.S}, *out[] = {U, Vt};
  for (int i = 0; i < 4; i++) h->ops->free(h, scratch[i]);
  for (int i = 0; !*found && i < 2; i++) h->ops->free(h, out[i]);
  return status;
}
