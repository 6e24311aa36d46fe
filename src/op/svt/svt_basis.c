/* svt_basis.c - the orthonormal basis of svt_subspace.c, its memory and how
 * columns join it.
 *
 * Ritz vectors of a block Krylov space have residuals that span no more than
 * the last block did, however many there are: their directions join, not they.
 */
#include "op/svt/svt_basis.h"

#include <math.h>
#include <string.h>

static const uint64_t STREAM = 0x737674;

/* ---- workspace ----------------------------------------------------------*/

enum { ARRAYS = 10 };

static void list_arrays(svt_subspace *s, la_array *all[ARRAYS])
{
  la_array *each[ARRAYS] = {&s->B, &s->GB, &s->X,    &s->R,    &s->H,
                            &s->S, &s->C,  &s->Z[0], &s->Z[1], &s->Z[2]};
  for (int i = 0; i < ARRAYS; i++) all[i] = each[i];
}

void svt_basis_release(svt_subspace *s)
{
  la_array *all[ARRAYS];
  list_arrays(s, all);
  for (int i = 0; i < ARRAYS; i++) s->h->ops->free(s->h, all[i]);
  base_free(s->memory);
  base_free(s->theta);
  base_free(s->error);
  base_free(s->host);
  base_free(s->which);
}

/* On the host in one piece, which is not touched before it is needed. */
lapis_status svt_basis_allocate(svt_subspace *s)
{
  la_array *all[ARRAYS];
  int64_t k = s->k, room = s->room, used = 0;
  int64_t count = 4 * k * room + 3 * room * room + 3 * k * SVT_PROBES;
  bool host = la_is_host(s->h);
  if (host) s->memory = base_alloc_raw(s->h->ctx, count, sizeof *s->memory);
  if (host && s->memory == NULL) return LAPIS_ENOMEM;
  list_arrays(s, all);
  for (int i = 0; i < ARRAYS; i++) {
    int64_t rows = i < 4 || i > 6 ? k : room;
    int64_t cols = i > 6 ? SVT_PROBES : room;
    if (host)
      *all[i] = la_wrap(s->memory + used, rows, cols);
    else
      TRY(s->h->ops->alloc(s->h, LAPIS_F64, rows, cols, all[i]));
    used += rows * cols;
  }
  s->theta = base_alloc(s->h->ctx, s->room, sizeof *s->theta);
  s->error = base_alloc(s->h->ctx, s->room, sizeof *s->error);
  s->host = base_alloc(s->h->ctx, s->k, sizeof *s->host);
  s->which = base_alloc(s->h->ctx, s->room, sizeof *s->which);
  bool done = s->theta != NULL && s->error != NULL && s->host != NULL &&
              s->which != NULL;
  return done ? LAPIS_OK : LAPIS_ENOMEM;
}

static lapis_status move_basis(svt_subspace *from, svt_subspace *to)
{
  int64_t q = from->used;
  la_array B = la_cols(&from->B, 0, q), B2 = la_cols(&to->B, 0, q);
  la_array G = la_cols(&from->GB, 0, q), G2 = la_cols(&to->GB, 0, q);
  la_array H = svt_basis_corner(&from->H, q, q),
           H2 = svt_basis_corner(&to->H, q, q);
  TRY(la_copy(from->h, &B, &B2));
  la_array S = svt_basis_corner(&from->S, q, q),
           S2 = svt_basis_corner(&to->S, q, q);
  memcpy(to->theta, from->theta, (size_t)q * sizeof *to->theta);
  TRY(la_copy(from->h, &G, &G2));
  TRY(la_copy(from->h, &S, &S2));
  return la_copy(from->h, &H, &H2);
}

lapis_status svt_basis_reserve(svt_subspace *s, int64_t cols)
{
  if (cols <= s->room) return LAPIS_OK;
  svt_subspace larger = *s;
  la_array *all[ARRAYS];
  list_arrays(&larger, all);
  for (int i = 0; i < ARRAYS; i++) *all[i] = (la_array){.data = NULL};
  larger.memory = larger.theta = larger.error = larger.host = NULL;
  larger.which = NULL;
  larger.room = cols > 2 * s->room ? cols : 2 * s->room;
  if (larger.room > s->k) larger.room = s->k;
  lapis_status status = svt_basis_allocate(&larger);
  if (status >= 0) status = move_basis(s, &larger);
  svt_basis_release(status < 0 ? &larger : s);
  if (status >= 0) *s = larger;
  return status;
}

/* ---- the basis ----------------------------------------------------------*/

lapis_status svt_basis_draw(svt_subspace *s, la_array *to)
{
  uint64_t seed = base_seed(s->h->ctx);
  int64_t count = s->k * to->cols;
  double *drawn = base_alloc_raw(s->h->ctx, count, sizeof *drawn);
  if (drawn == NULL) return LAPIS_ENOMEM;
  lapis_mat from = lapis_mat_f64(drawn, s->k, to->cols);
  rng_normals(seed, STREAM, s->drawn, drawn, count);
  s->drawn += (uint64_t)(count + count % 2);
  lapis_status status = s->h->ops->upload(s->h, &from, to);
  base_free(drawn);
  return status;
}

lapis_status svt_basis_project_out(svt_subspace *s, const la_array *U,
                                   la_array *Z)
{
  la *h = s->h;
  la_array C = svt_basis_corner(&s->C, U->cols, Z->cols);
  if (U->cols == 0) return LAPIS_OK;
  TRY(h->ops->gemm(h, LA_T, LA_N, 1, U, Z, 0, &C));
  return h->ops->gemm(h, LA_N, LA_N, -1, U, &C, 1, Z);
}

/* Directions below this share of the longest column are rounding. */
static const double SHARE = 1e-6;

/* What of q + c rows and c columns the host works on: B'Q above Q'Q, K and the
 * factors of B and Q. */
typedef struct join {
  la host;
  lapis_mat P;
  la_array K, M;
  double *values;
} join;

/* Q'Q -= (B'Q)'B'Q; its eigenvectors K, those of rounding left out, scaled to
 * make Q K orthonormal: the columns are then B (-B'Q K) + Q K. */
static lapis_status find_factors(join *p, int64_t q, int64_t c, int64_t *kept)
{
  la *host = &p->host;
  la_array P = svt_basis_there(&p->P);
  la_array C = la_rows(&P, 0, q), G = la_rows(&P, q, c);
  la_array all = svt_basis_corner(&p->K, c, c);
  double longest = 0;
  for (int64_t j = 0; j < c; j++)
    longest = fmax(longest, lapis_mat_at(&p->P, q + j, j));
  TRY(host->ops->gemm(host, LA_T, LA_N, -1, &C, &C, 1, &G));
  TRY(host->ops->eigh(host, &G, SHARE * SHARE * longest, p->values, &all,
                      kept));
  for (int64_t i = 0; i < *kept; i++) p->values[i] = 1 / sqrt(p->values[i]);
  la_array K = la_cols(&all, 0, *kept), M = la_cols(&p->M, 0, *kept);
  la_array of_B = la_rows(&M, 0, q), of_Q = la_rows(&M, q, c);
  TRY(host->ops->axpby_cols(host, p->values, NULL, &K, 0, &of_Q));
  return host->ops->gemm(host, LA_N, LA_N, -1, &C, &of_Q, 0, &of_B);
}

/* Q, the c columns behind B's, becomes an orthonormal basis of what it has
 * beside B, of *kept columns: one product before, one behind. */
static lapis_status make_orthonormal(svt_subspace *s, join *p, int64_t c,
                                     int64_t *kept)
{
  la *h = s->h;
  int64_t q = s->used;
  la_array all = la_cols(&s->B, 0, q + c), Q = la_cols(&s->B, q, c);
  la_array P = svt_basis_corner(&s->C, q + c, c);
  TRY(h->ops->gemm(h, LA_T, LA_N, 1, &all, &Q, 0, &P));
  TRY(la_borrow(h, &P, &p->P));
  TRY(find_factors(p, q, c, kept));
  if (*kept == 0) return LAPIS_OK;
  la_array M = svt_basis_corner(&p->M, q + c, *kept);
  la_array to = la_cols(&s->GB, q, *kept);
  lapis_mat factors = la_as_mat(&M);
  P = la_cols(&P, 0, *kept);
  Q = la_cols(&Q, 0, *kept);
  TRY(h->ops->upload(h, &factors, &P));
  TRY(h->ops->gemm(h, LA_N, LA_N, 1, &all, &P, 0, &to));
  return la_copy(h, &to, &Q);
}

/* Twice: what the first time leaves of B, and of directions near rounding, is
 * little enough for the second. */
lapis_status svt_basis_join(svt_subspace *s, int64_t c, int64_t *added)
{
  join p = {.host = la_beside(s->h)};
  la *host = &p.host;
  *added = c;
  p.values = base_alloc(s->h->ctx, c, sizeof *p.values);
  lapis_status status = p.values == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  if (status >= 0) status = host->ops->alloc(host, LAPIS_F64, c, c, &p.K);
  if (status >= 0)
    status = host->ops->alloc(host, LAPIS_F64, s->used + c, c, &p.M);
  for (int i = 0; i < 2 && status >= 0 && *added > 0; i++)
    status = make_orthonormal(s, &p, *added, added);
  if (status >= 0) s->used += *added;
  host->ops->free(host, &p.K);
  host->ops->free(host, &p.M);
  base_free(p.values);
  return status;
}

lapis_status svt_basis_norms(svt_subspace *s, const la_array *A, double *out)
{
  TRY(s->h->ops->dot_cols(s->h, A, A, out));
  for (int64_t j = 0; j < A->cols; j++) out[j] = sqrt(out[j]);
  return LAPIS_OK;
}
