/* roml.c - matching: fixtures, one pinned iteration, recovery, laws,
 * refusals.  The objective is recomputed from X and match alone. */
#include "methods/roml/roml.h"
#include "check.h"
#include "fixture.h"
#include "lapis/choose.h"
#include "oracle.h"
#include "roml_case.h"
#include "roml_data.h"

/* ---- helpers ------------------------------------------------------------*/
static lapis_match_scores score(const answer *a, int64_t *truth, int64_t n)
{
  lapis_mat t = a->match;
  t.rows = t.ld = n;
  t.val = truth;
  lapis_match_scores r;
  assert_int_equal(lapis_match_ratio(a->ctx, &t, &a->match, &a->inlier, &r),
                   LAPIS_OK);
  return r;
}

static double recovered(const scene *c, const lapis_roml_settings *set)
{
  lapis_data data = scene_data(c);
  answer a = solve(&data, set);
  double r = score(&a, c->truth, c->n).identification_ratio;
  drop(&a);
  return r;
}

/* |D|_* of the chosen features, unit length, one column an image. */
static double nuclear(const lapis_mat *X, const answer *a)
{
  int64_t n = a->match.rows, K = a->match.cols, d = X->rows;
  double *D = malloc((size_t)(d * n * K) * sizeof *D), sum, norm;
  const int64_t *row = a->match.val;
  for (int64_t s = 0; s < n * K; s++) {
    const double *f = (const double *)X->val + row[s] * X->ld;
    double size = 0;
    for (int64_t i = 0; i < d; i++) size += f[i] * f[i];
    for (int64_t i = 0; i < d; i++) D[s * d + i] = f[i] / sqrt(size);
  }
  oracle_norms(D, d * n, K, &sum, &norm);
  free(D);
  return sum;
}

/* ---- fixtures -----------------------------------------------------------*/
static int64_t *as_rows(const fixture *f, const char *member, int64_t *n)
{
  lapis_mat m = fixture_mat(&f->expected, member);
  int64_t *out = malloc((size_t)(m.rows * m.cols) * sizeof *out);
  for (int64_t k = 0; k < m.cols; k++)
    for (int64_t j = 0; j < m.rows; j++)
      out[k * m.rows + j] = (int64_t)lapis_mat_at(&m, j, k);
  *n = m.rows;
  return out;
}

static void recover_fixture(const char *name)
{
  fixture f;
  int64_t n;
  fixture_open(&f, name, true);
  lapis_mat group = fixture_mat(&f.data, "group");
  int64_t *truth = as_rows(&f, "match", &n);
  lapis_roml_settings set = lapis_roml_defaults();
  lapis_data data = {.X = fixture_mat(&f.data, "X"), .group = group.val};
  set.inliers = n;
  assert_int_equal(group.dtype, LAPIS_I64);
  answer a = solve(&data, &set);
  CHECK_AT_LEAST(score(&a, truth, n).identification_ratio,
                 fixture_number(&f, "required_recovery"));
  double sum = nuclear(&data.X, &a);
  CHECK_NEAR(lapis_result_info(a.solver)->objective, sum, 1e-8 * sum);
  drop(&a);
  free(truth);
  fixture_close(&f);
}

static void fixtures_are_recovered(void **state)
{
  recover_fixture("roml_small");
  recover_fixture("roml_noisy");
  recover_fixture("roml_locate");
}

static double farthest(const la_array *A, const lapis_mat *B)
{
  double most = 0;
  const double *a = A->data;
  for (int64_t j = 0; j < A->cols; j++)
    for (int64_t i = 0; i < A->rows; i++)
      most = fmax(most, fabs(a[j * A->ld + i] - lapis_mat_at(B, i, j)));
  return most;
}

static void one_iteration_is_the_paper_s(void **state)
{
  fixture f;
  fixture_open(&f, "roml_one_iteration", true);
  lapis_mat idx0 = fixture_mat(&f.data, "idx0");
  lapis_mat E0 = fixture_mat(&f.data, "E0"), Y0 = fixture_mat(&f.data, "Y0");
  lapis_mat idx1 = fixture_mat(&f.expected, "idx1");
  lapis_roml_settings set = lapis_roml_defaults();
  set.inliers = idx0.rows;
  set.normalise = LAPIS_ROML_NORMALISE_NONE;
  set.lambda = fixture_number(&f, "lambda");
  lapis_data data = {.X = fixture_mat(&f.data, "X"),
                     .group = fixture_mat(&f.data, "group").val};
  lapis_solver *base;
  assert_int_equal(lapis_roml_new(f.ctx, &data, &set, &base), LAPIS_OK);
  roml *w = (roml *)base;
  roml_state *s = &w->s;
  s->rho = fixture_number(&f, "rho");
  s->growth = 1;
  for (int64_t k = 0; k < idx0.cols; k++)
    for (int64_t j = 0; j < idx0.rows; j++)
      s->pick[k * idx0.rows + j] = (int64_t)lapis_mat_at(&idx0, j, k);
  roml_fill(&w->p, s);
  assert_int_equal(s->h.ops->upload(&s->h, &E0, &s->E), LAPIS_OK);
  assert_int_equal(s->h.ops->upload(&s->h, &Y0, &s->Y), LAPIS_OK);
  roml_progress now;
  assert_int_equal(roml_step(w, s, &now), LAPIS_OK);
  const la_array *mine[] = {&s->L, &s->E, &s->D, &s->Y};
  static const char *const theirs[] = {"L1", "E1", "D1", "Y1"};
  for (int i = 0; i < 4; i++) {
    lapis_mat want = fixture_mat(&f.expected, theirs[i]);
    CHECK_AT_MOST(farthest(mine[i], &want), fixture_number(&f, "atol"));
  }
  for (int64_t k = 0; k < idx1.cols; k++)
    for (int64_t j = 0; j < idx1.rows; j++)
      assert_int_equal(s->pick[k * idx1.rows + j], lapis_mat_at(&idx1, j, k));
  lapis_solver_free(base);
  fixture_close(&f);
}

/* [ROML16] Sec. 3.2.3 of descriptors, Sec. 5.1 of coordinates. */
static void rho_is_the_paper_s(void **state)
{
  for (int layout = 0; layout < 2; layout++) {
    lapis_ctx *ctx = lapis_ctx_new();
    scene c = scene_new(4, 6, 3, 2, 0, 0, 5);
    lapis_data data = scene_data(&c);
    lapis_roml_settings set = lapis_roml_defaults();
    set.inliers = 3;
    set.schedule = LAPIS_ROML_PAPER;
    set.layout = layout;
    lapis_solver *base;
    assert_int_equal(lapis_roml_new(ctx, &data, &set, &base), LAPIS_OK);
    roml *w = (roml *)base;
    assert_int_equal(roml_start(w, &w->s), LAPIS_OK);
    CHECK_NEAR(w->s.rho, layout ? 1e-6 : 1e-4, 1e-18);
    CHECK_NEAR(w->s.growth, layout ? 1.0001 : 1.001, 1e-15);
    lapis_solver_free(base);
    scene_free(&c);
    lapis_ctx_free(ctx);
  }
}

/* ---- recovery -----------------------------------------------------------*/
static void synthetic_objects_are_found(void **state)
{
  lapis_roml_settings set = lapis_roml_defaults();
  set.inliers = 10;
  static const double ratio[] = {0, 0.2, 0.4, 0.6};
  static const double least[] = {1, 0.99, 0.97, 0.9};
  for (int i = 0; i < 4; i++) {
    scene c = scene_new(20, 40, 10, 50, ratio[i], 0, 7 + (uint64_t)i);
    CHECK_AT_LEAST(recovered(&c, &set), least[i]);
    scene_free(&c);
  }
}

static void one_common_region_is_found(void **state)
{
  lapis_roml_settings set = lapis_roml_defaults();
  set.inliers = 1;
  scene c = scene_new(40, 100, 1, 50, 0.6, 0, 3);
  CHECK_AT_LEAST(recovered(&c, &set), 1);
  scene_free(&c);
}

/* Many features: float32 products, which must decide as float64 ones do. */
static void float_products_decide_exactly(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  scene c = scene_new(8, 3000, 12, 50, 0.2, 0, 11);
  lapis_roml_settings set = lapis_roml_defaults();
  set.inliers = 12;
  lapis_data data = scene_data(&c);
  lapis_solver *base;
  assert_int_equal(lapis_roml_new(ctx, &data, &set, &base), LAPIS_OK);
  roml *w = (roml *)base;
  roml_state *s = &w->s;
  assert_int_equal(w->p.F.dtype, LAPIS_F32);
  uint64_t seed = 5;
  double *M = s->W.data, *cost = malloc(3000 * 12 * sizeof *cost);
  op_assign *twin;
  assert_int_equal(op_assign_new(ctx, 12, 3000, &twin), LAPIS_OK);
  for (int t = 0; t < 6; t++) {
    for (int64_t i = 0; i < 50 * 12 * 8; i++) {
      if (t > 0 && check_uniform(&seed) < 0.9) continue; /* rows that stay */
      M[i] = check_normal(&seed);
    }
    /* two slots of each image alike: conflicts and ties */
    for (int64_t k = 0; k < 8; k++)
      memcpy(M + (k * 12 + 1) * 50, M + k * 12 * 50, 50 * sizeof *M);
    assert_int_equal(roml_match(s->matcher, M, 0, s->pick), LAPIS_OK);
    for (int64_t k = 0; k < 8; k++) {
      double mine = 0;
      for (int64_t j = 0; j < 12; j++)
        for (int64_t i = 0; i < 3000; i++) {
          double sum = 0;
          const double *f = roml_feature(&w->p, k, i);
          for (int64_t a = 0; a < 50; a++)
            sum += f[a] * M[(k * 12 + j) * 50 + a];
          cost[j * 3000 + i] = -sum * w->p.scale[k * 3000 + i];
          if (s->pick[k * 12 + j] == i) mine += cost[j * 3000 + i];
        }
      assign_costs costs = {LAPIS_F64, 12, 3000, 3000, cost};
      assert_int_equal(op_assign_solve(twin, &costs, false), -1);
      CHECK_NEAR(mine, twin->objective, 1e-11);
    }
  }
  op_assign_free(twin);
  free(cost);
  lapis_solver_free(base);
  scene_free(&c);
  lapis_ctx_free(ctx);
}

static void missing_parts_are_doubted(void **state)
{
  lapis_roml_settings set = lapis_roml_defaults();
  set.inliers = 10;
  scene c = scene_new(30, 30, 10, 50, 0.3, 0.3, 21);
  lapis_data data = scene_data(&c);
  answer a = solve(&data, &set);
  lapis_match_scores r = score(&a, c.truth, c.n);
  CHECK_AT_LEAST(r.precision, 0.97);
  CHECK_AT_LEAST(r.recall, 0.95);
  CHECK_AT_LEAST(r.identification_ratio, 0.97);
  drop(&a);
  scene_free(&c);
}

static void inliers_are_counted(void **state)
{
  lapis_roml_settings set = lapis_roml_defaults();
  scene c = scene_new(25, 25, 6, 50, 0.2, 0, 31);
  lapis_data data = scene_data(&c);
  answer a = solve(&data, &set);
  assert_int_equal(a.match.rows, 6);
  lapis_mat gamma;
  assert_int_equal(lapis_result_get(a.solver, "gamma_n", &gamma), LAPIS_OK);
  CHECK_AT_LEAST(lapis_mat_at(&gamma, 0, 6) / lapis_mat_at(&gamma, 0, 5), 1.1);
  drop(&a);
  scene_free(&c);
}

/* ---- laws ---------------------------------------------------------------*/
/* The numbering of images says nothing; neither does the order of rows. */
static void numbering_changes_nothing(void **state)
{
  lapis_roml_settings set = lapis_roml_defaults();
  set.inliers = 6;
  scene c = scene_new(12, 20, 6, 40, 0.3, 0, 41);
  for (int64_t i = 0; i < 240; i++) c.group[i] = 7 - 1000 * c.group[i];
  int64_t order[12 * 6];
  for (int64_t k = 0; k < 12; k++) /* images now sort the other way round */
    memcpy(order + k * 6, c.truth + (11 - k) * 6, 6 * sizeof *order);
  memcpy(c.truth, order, sizeof order);
  CHECK_AT_LEAST(recovered(&c, &set), 0.99);
  scene_free(&c);
}

static void slots_are_sorted_and_start_is_not_undercut(void **state)
{
  scene c = scene_new(8, 20, 5, 30, 0.5, 0, 51);
  lapis_data data = scene_data(&c);
  lapis_roml_settings set = lapis_roml_defaults();
  static const char *const starts[] = {"seeded", "sync", "mst", "first"};
  for (int i = 0; i < 4; i++) {
    set.inliers = 5;
    set.start = starts[i];
    set.stop.max_iters = 0;
    answer start = solve(&data, &set);
    set.stop.max_iters = 20000;
    answer end = solve(&data, &set);
    double before = nuclear(&data.X, &start), after = nuclear(&data.X, &end);
    CHECK_AT_MOST(after, before * (1 + 1e-9));
    for (int64_t j = 1; j < 5; j++)
      assert_true(((int64_t *)end.match.val)[j - 1] <
                  ((int64_t *)end.match.val)[j]);
    drop(&start);
    drop(&end);
  }
  scene_free(&c);
}

static void a_given_start_is_used(void **state)
{
  scene c = scene_new(8, 20, 5, 30, 0.2, 0, 61);
  lapis_roml_settings set = lapis_roml_defaults();
  set.inliers = 5;
  set.start_match = lapis_mat_i64(c.truth, 5, 8);
  set.stop.max_iters = 0;
  CHECK_AT_LEAST(recovered(&c, &set), 1);
  scene_free(&c);
}

static void low_rank_and_sparse_add_up(void **state)
{
  scene c = scene_new(8, 20, 5, 30, 0.2, 0, 71);
  lapis_data data = scene_data(&c);
  lapis_roml_settings set = lapis_roml_defaults();
  set.inliers = 5;
  set.lambda = 0.05; /* small: E is not 0 */
  answer a = solve(&data, &set);
  lapis_mat L, E;
  lapis_result_get(a.solver, "low_rank", &L);
  lapis_result_get(a.solver, "sparse", &E);
  double sparse = 0;
  for (int64_t k = 0; k < 8; k++)
    for (int64_t j = 0; j < 5; j++) {
      double size = 0;
      int64_t row = ((int64_t *)a.match.val)[k * 5 + j];
      for (int64_t i = 0; i < 30; i++)
        size += c.X[row * 30 + i] * c.X[row * 30 + i];
      for (int64_t i = 0; i < 30; i++) {
        double l = lapis_mat_at(&L, j * 30 + i, k);
        double e = lapis_mat_at(&E, j * 30 + i, k);
        CHECK_NEAR(l + e, c.X[row * 30 + i] / sqrt(size), 1e-8);
        sparse += fabs(e);
      }
    }
  double sum, norm;
  oracle_norms(L.val, 150, 8, &sum, &norm);
  sum += 0.05 * sparse;
  CHECK_AT_LEAST(sparse, 1);
  CHECK_NEAR(lapis_result_info(a.solver)->objective, sum, 1e-7 * sum);
  drop(&a);
  scene_free(&c);
}

/* ---- real points --------------------------------------------------------*/
static void hotel_is_matched(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_arrays all;
  char path[1200];
  snprintf(path, sizeof path, "%s/cmu_hotel/hotel.npz", check_data());
  assert_int_equal(lapis_arrays_read(ctx, path, &all), LAPIS_OK);
  const double *xy = lapis_arrays_find(&all, "xy")->mat.val; /* 101 x 30 x 2 */
  double X[15 * 30 * 2];
  int64_t group[15 * 30], truth[15 * 30];
  uint64_t s = 9;
  for (int64_t k = 0; k < 15; k++) {
    int64_t frame = 7 * ((4 * k + 3) % 15); /* not in order */
    for (int64_t i = 0; i < 30; i++) truth[k * 30 + i] = k * 30 + i;
    for (int64_t i = 29; i > 0; i--) {
      int64_t j = below(&s, i + 1), t = truth[k * 30 + i];
      truth[k * 30 + i] = truth[k * 30 + j];
      truth[k * 30 + j] = t;
    }
    for (int64_t i = 0; i < 30; i++) {
      memcpy(X + 2 * truth[k * 30 + i], xy + (frame * 30 + i) * 2,
             2 * sizeof *X);
      group[k * 30 + i] = k;
    }
  }
  lapis_data data = {.X = lapis_mat_f64(X, 2, 450), .group = group};
  for (int i = 0; i < 2; i++) {
    lapis_roml_settings set = lapis_roml_defaults();
    set.inliers = 30;
    set.layout = LAPIS_ROML_COORDINATES;
    set.robust = i == 1;
    answer a = solve(&data, &set);
    CHECK_AT_LEAST(score(&a, truth, 30).match_ratio, i == 0 ? 1 : 0.99);
    if (i == 0)
      CHECK_NEAR(lapis_result_info(a.solver)->objective, 12472.4393, 1e-4);
    drop(&a);
  }
  lapis_arrays_free(&all);
  lapis_ctx_free(ctx);
}

/* Views of a rigid object, each somewhere else; of 30 points 3 are elsewhere.
 * What is right is known apart from the library. */
static void wrong_points_in_shifted_images_are_found(void **state)
{
  enum { K = 8, N = 30, WRONG = 3 };
  double thing[N][3], X[K * N * 2];
  int64_t group[K * N], truth[K * N];
  uint64_t s = 7;
  for (int i = 0; i < N; i++)
    for (int c = 0; c < 3; c++) thing[i][c] = 300 * check_uniform(&s);
  for (int64_t k = 0; k < K; k++) {
    double lean = 0.01 * (double)k, shift[2];
    for (int r = 0; r < 2; r++) shift[r] = 2000 * check_uniform(&s);
    for (int64_t i = 0; i < N; i++) {
      int64_t row = k * N + (i + 7 * k) % N;
      bool wrong = (i + 3 * k) % N < WRONG;
      for (int r = 0; r < 2; r++)
        X[2 * row + r] = thing[i][r] + lean * thing[i][2] + shift[r] +
                         (wrong ? 800 * check_uniform(&s) - 400 : 0);
      group[row] = k;
      truth[k * N + i] = wrong ? -1 : row;
    }
  }
  lapis_data data = {.X = lapis_mat_f64(X, 2, (int64_t)K * N), .group = group};
  lapis_roml_settings set = lapis_roml_defaults();
  set.inliers = N;
  set.layout = LAPIS_ROML_COORDINATES;
  set.robust = true;
  answer a = solve(&data, &set);
  CHECK_AT_LEAST(score(&a, truth, N).identification_ratio, 0.97);
  drop(&a);
}

/* ---- refusals -----------------------------------------------------------*/
static void bad_input_is_refused(void **state)
{
  scene c = scene_new(4, 6, 3, 5, 0.2, 0, 81);
  lapis_data data = scene_data(&c), bad = data;
  lapis_roml_settings set = lapis_roml_defaults();
  set.inliers = 7;
  refuse(&data, &set, LAPIS_ESHAPE, "has 6 features, fewer than inliers 7");
  set.inliers = 0;
  refuse(&data, &set, LAPIS_EDATA, "0 inliers");
  set.inliers = 3;
  bad.group = NULL;
  refuse(&bad, &set, LAPIS_EMISSING, "group");
  int64_t one[24] = {0};
  bad.group = one;
  refuse(&bad, &set, LAPIS_ESHAPE, "one image");
  set.start_match = lapis_mat_i64(c.truth, 2, 4);
  refuse(&data, &set, LAPIS_ESHAPE, "2 slots in 4 images; 3 in 4");
  set.start_match.rows = set.start_match.ld = 3;
  c.truth[0] = 23;
  refuse(&data, &set, LAPIS_EDATA, "no feature of that image");
  set.start_match.val = NULL;
  set.start = "elsewhere";
  refuse(&data, &set, LAPIS_EINVAL, "elsewhere");
  set.start = NULL;
  set.robust = true;
  refuse(&data, &set, LAPIS_EINVAL, "layout coordinates");
  set.robust = false;
  set.map = LAPIS_ROML_MAP_EMBED;
  refuse(&data, &set, LAPIS_EMISSING, "xy");
  set.map = LAPIS_ROML_MAP_NONE;
  for (int a = 0; a < 5; a++) c.X[7 * 5 + a] = 0;
  refuse(&data, &set, LAPIS_EDATA, "sample 8 (from 1) of X is all zero");
  c.X[7 * 5] = NAN;
  refuse(&data, &set, LAPIS_EMISSING, "sample 8");
  c.X[7 * 5] = INFINITY;
  refuse(&data, &set, LAPIS_EDATA, "sample 8");
  scene_free(&c);
}

/* Features may be equal, images different in size. */
static void equal_features_are_legitimate(void **state)
{
  double X[12 * 2];
  int64_t group[12] = {0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2};
  for (int i = 0; i < 24; i++) X[i] = 1;
  lapis_data data = {.X = lapis_mat_f64(X, 2, 12), .group = group};
  lapis_roml_settings set = lapis_roml_defaults();
  set.inliers = 3;
  answer a = solve(&data, &set);
  CHECK_NEAR(lapis_result_info(a.solver)->objective, 3, 1e-9);
  for (int64_t k = 0; k < 3; k++)
    for (int64_t j = 1; j < 3; j++)
      assert_int_not_equal(((int64_t *)a.match.val)[k * 3 + j],
                           ((int64_t *)a.match.val)[k * 3 + j - 1]);
  drop(&a);
}

int test_roml(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fixtures_are_recovered),
      cmocka_unit_test(one_iteration_is_the_paper_s),
      cmocka_unit_test(rho_is_the_paper_s),
      cmocka_unit_test(synthetic_objects_are_found),
      cmocka_unit_test(one_common_region_is_found),
      cmocka_unit_test(float_products_decide_exactly),
      cmocka_unit_test(missing_parts_are_doubted),
      cmocka_unit_test(inliers_are_counted),
      cmocka_unit_test(numbering_changes_nothing),
      cmocka_unit_test(slots_are_sorted_and_start_is_not_undercut),
      cmocka_unit_test(a_given_start_is_used),
      cmocka_unit_test(low_rank_and_sparse_add_up),
      cmocka_unit_test(hotel_is_matched),
      cmocka_unit_test(wrong_points_in_shifted_images_are_found),
      cmocka_unit_test(bad_input_is_refused),
      cmocka_unit_test(equal_features_are_legitimate),
  };
  return run_cases(tests, NULL, NULL);
}
