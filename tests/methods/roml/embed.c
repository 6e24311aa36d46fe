/* embed.c - positions and descriptors in one feature: the
 * eigenproblem of [ROML16 (29)] recomputed from the data alone, laws, truths
 * that descriptors alone cannot tell. */
#include "check.h"
#include "lapis/choose.h"
#include "lapis/files.h"
#include "methods/roml/roml.h"
#include "oracle.h"
#include "roml_case.h"

enum { K = 5, EACH = 8, N = K * EACH, DIM = 12, D = 6 };

/* Points of an object seen at other scales and places, and clutter; part i and
 * part i + 3 look alike. */
typedef struct photos {
  double X[N * D], xy[N * 2];
  int64_t group[N], truth[6 * K];
} photos;

static photos draw(uint64_t seed)
{
  photos p;
  uint64_t s = seed;
  double part[6 * 2], look[3 * D];
  for (int i = 0; i < 3 * D; i++) look[i] = check_normal(&s);
  for (int i = 0; i < 6; i++) { /* on a circle, none near another */
    part[2 * i] = 50 * cos(i);
    part[2 * i + 1] = 50 * sin(i);
  }
  for (int k = 0; k < K; k++) {
    double scale = 0.5 + check_uniform(&s), at = 300 * check_uniform(&s);
    int turn = (int)(8 * check_uniform(&s));
    for (int i = 0; i < EACH; i++) {
      int row = k * EACH + (5 * i + turn) % EACH;
      p.group[row] = k;
      if (i < 6) p.truth[k * 6 + i] = row;
      for (int a = 0; a < 2; a++) {
        double place = i < 6 ? part[2 * i + a] : 30 * check_normal(&s);
        p.xy[2 * row + a] = scale * (place + check_normal(&s)) + at;
      }
      for (int a = 0; a < D; a++)
        p.X[row * D + a] = i < 6
                               ? look[(i % 3) * D + a] + 0.05 * check_normal(&s)
                               : check_normal(&s);
    }
  }
  return p;
}

static lapis_data data_of(photos *p)
{
  return (lapis_data){.X = lapis_mat_f64(p->X, D, N),
                      .xy = lapis_mat_f64(p->xy, 2, N),
                      .group = p->group};
}

static lapis_roml_settings settings(int64_t n)
{
  lapis_roml_settings set = lapis_roml_defaults();
  set.inliers = n;
  set.map = LAPIS_ROML_MAP_EMBED;
  set.dim = DIM;
  return set;
}

static lapis_roml_settings without_map(lapis_roml_settings set)
{
  lapis_roml_settings none = lapis_roml_defaults();
  set.map = none.map;
  set.dim = none.dim;
  return set;
}

static lapis_solver *make(lapis_ctx *ctx, photos *p,
                          const lapis_roml_settings *set)
{
  lapis_solver *s;
  lapis_data data = data_of(p);
  if (lapis_roml_new(ctx, &data, set, &s) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  return s;
}

static double recovered(photos *p, const lapis_roml_settings *set,
                        int64_t *match)
{
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_solver *s = make(ctx, p, set);
  lapis_mat found, truth;
  lapis_match_scores r;
  assert_int_equal(lapis_solve(s), LAPIS_OK);
  assert_int_equal(lapis_result_get(s, "match", &found), LAPIS_OK);
  truth = found;
  truth.val = p->truth;
  assert_int_equal(lapis_match_ratio(ctx, &truth, &found, NULL, &r), LAPIS_OK);
  if (match != NULL)
    memcpy(match, found.val, (size_t)(found.rows * K) * sizeof *match);
  lapis_solver_free(s);
  lapis_ctx_free(ctx);
  return r.match_ratio;
}

/* ---- the eigenproblem ---------------------------------------------------*/
static double gaussian(const double *a, const double *b, int d, double width)
{
  double sum = 0;
  for (int i = 0; i < d; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return exp(-sum / (2 * width * width));
}

/* Positions about the mean of their image's, over their rms distance to it. */
static void lay_out(const photos *p, double *u, double *radius)
{
  for (int k = 0; k < K; k++) {
    double mean[2] = {0, 0}, sum = 0;
    for (int i = k * EACH; i < (k + 1) * EACH; i++)
      for (int a = 0; a < 2; a++) mean[a] += p->xy[2 * i + a] / EACH;
    for (int i = k * EACH; i < (k + 1) * EACH; i++)
      for (int a = 0; a < 2; a++) {
        u[2 * i + a] = p->xy[2 * i + a] - mean[a];
        sum += u[2 * i + a] * u[2 * i + a] / EACH;
      }
    radius[k] = sqrt(sum);
    for (int i = 2 * k * EACH; i < 2 * (k + 1) * EACH; i++) u[i] /= sqrt(sum);
  }
}

/* [ROML16] Appendix 1 as printed: A of (28). */
static void printed_affinity(const photos *p, double sx, double sf, double *A)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      A[i * N + j] = p->group[i] == p->group[j]
                         ? gaussian(p->xy + 2 * i, p->xy + 2 * j, 2, sx)
                         : gaussian(p->X + i * D, p->X + j * D, D, sf);
}

/* With layout, balanced: as the head of embed.c says. */
static void whole_affinity(const photos *p, double sf, double *A)
{
  double u[2 * N], radius[K];
  lay_out(p, u, radius);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      A[i * N + j] = p->group[i] == p->group[j]
                         ? gaussian(u + 2 * i, u + 2 * j, 2, 0.12)
                         : gaussian(p->X + i * D, p->X + j * D, D, sf) *
                               gaussian(u + 2 * i, u + 2 * j, 2, 0.25);
  for (int t = 0; t < 6; t++)
    for (int k = 0; k < K; k++)
      for (int l = k + 1; l < K; l++) {
        double row[EACH] = {0}, col[EACH] = {0};
        for (int i = 0; i < EACH; i++)
          for (int j = 0; j < EACH; j++) {
            double a = A[(k * EACH + i) * N + l * EACH + j];
            row[i] += a;
            col[j] += a;
          }
        for (int i = 0; i < EACH; i++)
          for (int j = 0; j < EACH; j++) {
            double *a = A + (k * EACH + i) * N + l * EACH + j;
            *a /= sqrt(row[i] * col[j]);
            A[(l * EACH + j) * N + k * EACH + i] = *a;
          }
      }
}

static int falling(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x < y) - (x > y);
}

/* Eigenvalues of D_A^-1/2 A D_A^-1/2, falling: those of a matrix with
 * eigenvalues in [-1, 1] are singular values of it plus I, less 1. */
static void eigenvalues(const double *A, const double *degree, double *out)
{
  double *M = malloc((size_t)(N * N) * sizeof *M);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      M[i * N + j] =
          A[i * N + j] / sqrt(degree[i] * degree[j]) + (i == j ? 1 : 0);
  oracle_singular_values(M, N, N, out);
  for (int i = 0; i < N; i++) out[i] -= 1;
  qsort(out, N, sizeof *out, falling);
  free(M);
}

/* Column c of the features: A f = theta D_A f for the (c + 2)nd largest theta,
 * orthogonal in D_A to the others and to the constant, of length `weight`. */
static void check_vectors(const double *A, const double *F, bool weighted)
{
  double degree[N], theta[N];
  for (int i = 0; i < N; i++) {
    degree[i] = 0;
    for (int j = 0; j < N; j++) degree[i] += A[i * N + j];
  }
  eigenvalues(A, degree, theta);
  CHECK_NEAR(theta[0], 1, 1e-12);
  for (int c = 0; c < DIM; c++) {
    double length = weighted ? theta[c + 1] : 1, constant = 0;
    for (int i = 0; i < N; i++) {
      double sum = 0;
      constant += degree[i] * F[i * DIM + c];
      for (int j = 0; j < N; j++) sum += A[i * N + j] * F[j * DIM + c];
      CHECK_NEAR(sum, theta[c + 1] * degree[i] * F[i * DIM + c], 1e-7);
    }
    CHECK_NEAR(constant, 0, 1e-9);
    for (int b = 0; b <= c; b++) {
      double sum = 0;
      for (int i = 0; i < N; i++)
        sum += degree[i] * F[i * DIM + b] * F[i * DIM + c];
      CHECK_NEAR(sum, b == c ? length * length : 0, 1e-9);
    }
  }
}

static void appendix_1_is_solved_as_printed(void **state)
{
  for (uint64_t seed = 1; seed <= 6; seed++) {
    photos p = draw(seed);
    double *A = malloc((size_t)(N * N) * sizeof *A);
    lapis_ctx *ctx = lapis_ctx_new();
    lapis_roml_settings set = settings(6);
    /* the last: images hardly hang together, others' descriptors all do, so
     * that some eigenvalues are far below 0; they are not wanted */
    set.sigma_spatial = seed == 6 ? 0.01 : 20;
    set.sigma_descriptor = seed == 6 ? 4 : 0.7;
    set.sigma_layout = INFINITY;
    lapis_solver *s = make(ctx, &p, &set);
    const roml *w = (const roml *)s;
    assert_int_equal(w->p.d, DIM);
    printed_affinity(&p, set.sigma_spatial, set.sigma_descriptor, A);
    check_vectors(A, w->p.X.val, false);
    lapis_solver_free(s);
    lapis_ctx_free(ctx);
    free(A);
  }
}

static void the_whole_embedding_is_what_its_file_says(void **state)
{
  for (uint64_t seed = 1; seed <= 4; seed++) {
    photos p = draw(seed);
    double *A = malloc((size_t)(N * N) * sizeof *A);
    lapis_ctx *ctx = lapis_ctx_new();
    lapis_roml_settings set = settings(6);
    set.sigma_descriptor = 0.7;
    lapis_solver *s = make(ctx, &p, &set);
    whole_affinity(&p, 0.7, A);
    check_vectors(A, ((const roml *)s)->p.X.val, true);
    lapis_solver_free(s);
    lapis_ctx_free(ctx);
    free(A);
  }
}

/* ---- what it is for -----------------------------------------------------*/
static void positions_tell_what_descriptors_cannot(void **state)
{
  double with = 0, without = 0;
  for (uint64_t seed = 1; seed <= 8; seed++) {
    photos p = draw(seed);
    lapis_roml_settings set = settings(6);
    with += recovered(&p, &set, NULL) / 8;
    set = without_map(set);
    without += recovered(&p, &set, NULL) / 8;
  }
  CHECK_AT_LEAST(with, 0.95);
  CHECK_AT_MOST(without, 0.8);
}

/* Features that are like nothing in the other images, so that affinities are
 * the smallest numbers there are, or 0. */
static void what_is_like_nothing_does_no_harm(void **state)
{
  lapis_roml_settings set = settings(6);
  lapis_ctx *ctx = lapis_ctx_new();
  set.sigma_descriptor = 1;
  for (int t = 0; t < 60; t++) {
    lapis_solver *solver;
    photos p = draw(3 + (uint64_t)t);
    lapis_data data = data_of(&p);
    for (int k = 0; k < K; k++)
      for (int i = 0; i < 3; i++) p.X[(k * EACH + i) * D + k] += 35 + 0.05 * t;
    assert_int_equal(lapis_roml_new(ctx, &data, &set, &solver), LAPIS_OK);
    if (lapis_solve(solver) < 0) fail_msg("%d: %s", t, lapis_ctx_error(ctx));
    lapis_solver_free(solver);
  }
  lapis_ctx_free(ctx);
}

static void other_scales_places_and_orders_change_nothing(void **state)
{
  int64_t match[6 * K], again[6 * K];
  photos p = draw(3), q = p;
  lapis_roml_settings set = settings(6);
  recovered(&p, &set, match);
  for (int i = 0; i < N; i++) /* a picture twice as large, and moved */
    for (int a = 0; a < 2; a++)
      if (p.group[i] == 2) q.xy[2 * i + a] = 1000 + 2 * p.xy[2 * i + a];
  recovered(&q, &set, again);
  assert_memory_equal(match, again, sizeof match);
  for (int i = 0; i < N; i++) { /* rows the other way round */
    memcpy(q.X + i * D, p.X + (N - 1 - i) * D, D * sizeof *q.X);
    memcpy(q.xy + 2 * i, p.xy + 2 * (N - 1 - i), 2 * sizeof *q.xy);
    q.group[i] = p.group[N - 1 - i];
  }
  for (int i = 0; i < 6 * K; i++) q.truth[i] = N - 1 - match[i];
  CHECK_AT_LEAST(recovered(&q, &set, NULL), 1);
}

/* ---- photographs --------------------------------------------------------*/
enum { DUCKS = 25, SIFT = 128, SHOWN = 10, MOST = 30 };
typedef struct ducks {
  int64_t count, group[DUCKS * MOST], truth[SHOWN * DUCKS];
  double X[DUCKS * MOST * SIFT], xy[DUCKS * MOST * 2];
} ducks;

/* The ten keypoints and the first others of each image's, turned about. */
static void read_ducks(ducks *p, int64_t others)
{
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_arrays all;
  char path[1200];
  snprintf(path, sizeof path, "%s/willow_duck/duck.npz", check_data());
  assert_int_equal(lapis_arrays_read(ctx, path, &all), LAPIS_OK);
  const lapis_mat *image = &lapis_arrays_find(&all, "cand_image")->mat;
  const lapis_mat *id = &lapis_arrays_find(&all, "cand_id")->mat;
  const lapis_mat *xy = &lapis_arrays_find(&all, "cand_xy")->mat;
  const lapis_mat *sift = &lapis_arrays_find(&all, "cand_sift")->mat;
  int64_t each = SHOWN + others, taken[DUCKS] = {0};
  p->count = DUCKS * each;
  for (int64_t c = 0; c < image->cols; c++) {
    int64_t k = (int64_t)lapis_mat_at(image, 0, c);
    int64_t label = (int64_t)lapis_mat_at(id, 0, c);
    if (k >= DUCKS || (label < 0 && taken[k] >= others)) continue;
    int64_t i = label >= 0 ? label : SHOWN + taken[k]++;
    int64_t row = k * each + (7 * i + 3 * k) % each; /* 7: prime to 10, 30 */
    if (label >= 0) p->truth[k * SHOWN + label] = row;
    p->group[row] = k;
    for (int a = 0; a < 2; a++) p->xy[2 * row + a] = lapis_mat_at(xy, a, c);
    for (int a = 0; a < SIFT; a++)
      p->X[row * SIFT + a] = lapis_mat_at(sift, a, c);
  }
  lapis_arrays_free(&all);
  lapis_ctx_free(ctx);
}

static double duck_ratio(ducks *p, const lapis_roml_settings *set)
{
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_data data = {.X = lapis_mat_f64(p->X, SIFT, p->count),
                     .xy = lapis_mat_f64(p->xy, 2, p->count),
                     .group = p->group};
  lapis_solver *s;
  lapis_mat found, truth;
  lapis_match_scores r;
  if (lapis_roml_new(ctx, &data, set, &s) < 0 || lapis_solve(s) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  lapis_result_get(s, "match", &found);
  truth = found;
  truth.val = p->truth;
  assert_int_equal(lapis_match_ratio(ctx, &truth, &found, NULL, &r), LAPIS_OK);
  lapis_solver_free(s);
  lapis_ctx_free(ctx);
  return r.match_ratio;
}

/* Of keypoints, told to be some, the share whose nearest candidate is right. */
static double nearest_ratio(const ducks *p)
{
  int64_t each = p->count / DUCKS, right = 0;
  for (int64_t s = 0; s < DUCKS * SHOWN; s++)
    for (int64_t l = 0; l < DUCKS; l++) {
      const double *f = p->X + p->truth[s] * SIFT;
      int64_t best = -1;
      double most = -INFINITY;
      if (l == s / SHOWN) continue;
      for (int64_t row = l * each; row < (l + 1) * each; row++) {
        double dot = 0, size = 0;
        for (int a = 0; a < SIFT; a++) {
          dot += f[a] * p->X[row * SIFT + a];
          size += p->X[row * SIFT + a] * p->X[row * SIFT + a];
        }
        if (dot / sqrt(size) > most) most = dot / sqrt(size), best = row;
      }
      right += best == p->truth[l * SHOWN + s % SHOWN];
    }
  return (double)right / (DUCKS * SHOWN * (DUCKS - 1));
}

static void ducks_are_matched_better_than_by_descriptors(void **state)
{
  static const int64_t others[] = {0, 20};
  static const double least[] = {0.7, 0.15};
  ducks *p = malloc(sizeof *p);
  for (int i = 0; i < 2; i++) {
    lapis_roml_settings set = lapis_roml_defaults();
    read_ducks(p, others[i]);
    set.inliers = SHOWN;
    set.map = LAPIS_ROML_MAP_EMBED;
    double mine = duck_ratio(p, &set);
    CHECK_AT_LEAST(mine, fmax(least[i], nearest_ratio(p)));
    set.map = LAPIS_ROML_MAP_NONE;
    set.start = "sync";
    set.stop.max_iters = 0;
    CHECK_AT_LEAST(mine, duck_ratio(p, &set));
  }
  free(p);
}

/* ---- refusals -----------------------------------------------------------*/
static void bad_positions_are_refused(void **state)
{
  photos p = draw(1);
  lapis_data data = data_of(&p), bad = data;
  lapis_roml_settings set = settings(6);
  bad.xy.cols = 0;
  refuse(&bad, &set, LAPIS_EMISSING, "needs xy, a position (x, y)");
  bad.xy = lapis_mat_f64(p.xy, 2, N - 1);
  refuse(&bad, &set, LAPIS_EMISSING, "each of the 40 rows of X");
  set.layout = LAPIS_ROML_COORDINATES;
  refuse(&data, &set, LAPIS_EINVAL, "leave out layout coordinates");
  set.layout = LAPIS_ROML_DESCRIPTOR;
  p.xy[9] = NAN;
  refuse(&data, &set, LAPIS_EMISSING, "sample 5 feature 2");
}

int test_embed(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(appendix_1_is_solved_as_printed),
      cmocka_unit_test(the_whole_embedding_is_what_its_file_says),
      cmocka_unit_test(positions_tell_what_descriptors_cannot),
      cmocka_unit_test(what_is_like_nothing_does_no_harm),
      cmocka_unit_test(other_scales_places_and_orders_change_nothing),
      cmocka_unit_test(ducks_are_matched_better_than_by_descriptors),
      cmocka_unit_test(bad_positions_are_refused),
  };
  return run_cases(tests, NULL, NULL);
}
