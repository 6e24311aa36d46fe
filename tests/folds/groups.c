/* Folds: groups stay whole in all of them, whoever draws, so that every figure
 * that a fit prints is one of new groups. */
#include <math.h>

#include "base/base.h"
#include "check.h"
#include "cv_points.h"
#include "folds/folds.h"
#include "lapis/choose.h"
#include "mat/mat.h"
#include "methods/auto/compare.h"
#include "remarks.h"

/* ---- drawing and taking -------------------------------------------------*/
enum { MOST = 120 };

typedef struct drawn {
  int64_t n, groups, kinds, group[MOST];
  double kind[MOST];
  lapis_mat Y; /* 1 x n: kinds */
  fold_draw how;
  fold_plan plan;
} drawn;

/* Groups of one to five samples or more, whose samples are of any kind. */
static void draw_some(lapis_ctx *ctx, uint64_t *seed, drawn *d)
{
  d->n = 20 + (int64_t)(check_uniform(seed) * 100);
  d->groups = 2 + (int64_t)(check_uniform(seed) * 20);
  d->kinds = 1 + (int64_t)(check_uniform(seed) * 4);
  for (int64_t j = 0; j < d->n; j++) {
    d->group[j] = (int64_t)(check_uniform(seed) * (double)d->groups) - 3;
    d->kind[j] = floor(check_uniform(seed) * (double)d->kinds);
  }
  d->Y = lapis_mat_f64(d->kind, 1, d->n);
  d->how = (fold_draw){.method = "test",
                       .use = FOLDS_RR,
                       .samples = d->n,
                       .folds = 2 + (int64_t)(check_uniform(seed) * 5),
                       .group = d->group,
                       .Y = &d->Y,
                       .or_fewer = true};
  assert_int_equal(folds_draw(ctx, &d->how, &d->plan), LAPIS_OK);
}

static void groups_stay_whole(void **state)
{
  uint64_t seed = 3;
  lapis_ctx *ctx = lapis_ctx_new();
  for (int trial = 0; trial < 300; trial++) {
    drawn d;
    fold_plan again;
    draw_some(ctx, &seed, &d);
    const fold_plan *p = &d.plan;
    for (int64_t i = 0; i < d.n; i++) {
      assert_in_range(p->fold[i], 0, p->folds - 1);
      assert_in_range(p->unit[i], 0, p->units - 1);
      for (int64_t j = 0; j < i; j++) {
        bool one = d.group[i] == d.group[j];
        assert_int_equal(p->unit[i] == p->unit[j], one);
        if (one) assert_int_equal(p->fold[i], p->fold[j]);
        if (one) assert_int_equal(p->block[i], p->block[j]);
      }
    }
    assert_int_equal(folds_draw(ctx, &d.how, &again), LAPIS_OK);
    assert_memory_equal(again.fold, p->fold, (size_t)d.n * sizeof *p->fold);
    folds_free(&again);
    folds_free(&d.plan);
  }
  lapis_ctx_free(ctx);
}

/* Of cells: what a column knows of a group is hidden together, and every fold
 * hides some of every column. */
static void groups_of_cells_stay_whole(void **state)
{
  enum { K = 3, N = 60, FOLDS = 4 };
  uint64_t seed = 9;
  (void)state;
  lapis_ctx *ctx = lapis_ctx_new();
  double Y[K * N];
  int64_t group[N], hidden[K * FOLDS] = {0};
  for (int j = 0; j < N; j++) group[j] = j / 5;
  for (int k = 0; k < K * N; k++)
    Y[k] = check_uniform(&seed) < .2 ? NAN : check_normal(&seed);
  lapis_mat known = lapis_mat_f64(Y, K, N);
  fold_draw how = {.method = "test",
                   .use = FOLDS_CELLS,
                   .samples = N,
                   .folds = FOLDS,
                   .group = group,
                   .Y = &known,
                   .cells = true};
  fold_plan plan;
  assert_int_equal(folds_draw(ctx, &how, &plan), LAPIS_OK);
  for (int j = 0; j < N; j++)
    for (int c = 0; c < K; c++) {
      int64_t f = plan.cell[j * K + c];
      assert_int_equal(f < 0, isnan(Y[j * K + c]));
      if (f >= 0) hidden[c * FOLDS + f]++;
      for (int i = j / 5 * 5; i < j; i++)
        if (f >= 0 && plan.cell[i * K + c] >= 0)
          assert_int_equal(f, plan.cell[i * K + c]);
    }
  for (int k = 0; k < K * FOLDS; k++) assert_true(hidden[k] > 0);
  folds_free(&plan);
  lapis_ctx_free(ctx);
}

/* A kind that so many groups hold is hidden by as many folds as it can be. */
static void kinds_are_spread(void **state)
{
  uint64_t seed = 4;
  lapis_ctx *ctx = lapis_ctx_new();
  for (int trial = 0; trial < 200; trial++) {
    drawn d;
    int64_t rare = 2 + trial % 3, in = 0, folds[MOST] = {0};
    draw_some(ctx, &seed, &d);
    folds_free(&d.plan);
    d.how.group = trial % 2 ? d.group : NULL;
    for (int64_t j = 0; j < d.n; j++) {
      d.group[j] = j / 5; /* whole groups of four and one that is rare */
      d.kind[j] = j % 5 == 0 && j / 5 < rare;
    }
    assert_int_equal(folds_draw(ctx, &d.how, &d.plan), LAPIS_OK);
    for (int64_t j = 0; j < d.n; j++)
      if (d.kind[j] > 0) folds[d.plan.fold[j]] = 1;
    for (int64_t f = 0; f < d.plan.folds; f++) in += folds[f];
    assert_int_equal(in, rare < d.plan.folds ? rare : d.plan.folds);
    folds_free(&d.plan);
  }
  lapis_ctx_free(ctx);
}

/* Fewer units than folds: refused, or as many folds as there are. */
static void few_groups_are_said(void **state)
{
  lapis_ctx *ctx = lapis_ctx_new();
  int64_t group[6] = {7, 7, 7, 7, 9, 9};
  fold_draw how = {.method = "test",
                   .use = FOLDS_CV,
                   .samples = 6,
                   .folds = 3,
                   .group = group};
  fold_plan plan;
  check_refused(ctx, folds_draw(ctx, &how, &plan), LAPIS_EINVAL, NULL,
                "3 folds 2 groups");
  how.or_fewer = true;
  assert_int_equal(folds_draw(ctx, &how, &plan), LAPIS_OK);
  assert_int_equal(plan.folds, 2);
  folds_free(&plan);
  how.samples = 4;
  assert_int_equal(folds_draw(ctx, &how, &plan), LAPIS_OK);
  assert_int_equal(plan.folds, 1);
  folds_free(&plan);
  lapis_ctx_free(ctx);
}

/* Both parts together are the data, with their groups and weights. */
static void parts_are_the_whole(void **state)
{
  uint64_t seed = 5;
  lapis_ctx *ctx = lapis_ctx_new();
  drawn d;
  draw_some(ctx, &seed, &d);
  double X[2 * MOST], weight[MOST];
  for (int64_t j = 0; j < d.n; j++) {
    X[2 * j] = (double)j;
    X[2 * j + 1] = check_normal(&seed);
    weight[j] = 1 + check_uniform(&seed);
  }
  lapis_data data = {.X = lapis_mat_f64(X, 2, d.n),
                     .Y = lapis_mat_f64(weight, 1, d.n),
                     .group = d.group,
                     .weight = weight};
  for (int64_t f = 0; f < d.plan.folds; f++) {
    fold_part part[2];
    assert_int_equal(folds_split(ctx, &data, &d.plan, f, &part[0], &part[1]),
                     LAPIS_OK);
    assert_int_equal(part[0].data.X.cols + part[1].data.X.cols, d.n);
    for (int k = 0; k < 2; k++) {
      for (int64_t i = 0; i < part[k].data.X.cols; i++) {
        int64_t j = (int64_t)lapis_mat_at(&part[k].data.X, 0, i);
        assert_int_equal(d.plan.fold[j] == f, k == 0);
        CHECK_NEAR(lapis_mat_at(&part[k].data.X, 1, i), X[2 * j + 1], 0);
        CHECK_NEAR(lapis_mat_at(&part[k].data.Y, 0, i), weight[j], 0);
        CHECK_NEAR(part[k].data.weight[i], weight[j], 0);
        assert_int_equal(part[k].data.group[i], d.group[j]);
      }
      assert_true(mat_empty(&part[k].data.P));
    }
    fold_part_free(&part[0]);
    fold_part_free(&part[1]);
  }
  folds_free(&d.plan);
  lapis_ctx_free(ctx);
}

/* ---- persons ------------------------------------------------------------*/
/* PERSONS of which each is seen ROWS times, nearly alike; what they are is
 * chance.  So nothing can be told of a new person, whatever of one that was
 * seen before. */
enum { PERSONS = 24, ROWS = 4, D = 8, N = PERSONS * ROWS, SEEDS = 6 };

typedef struct people {
  lapis_ctx *ctx;
  double X[D * N], y[N], v[N]; /* a class and a number of each */
  int64_t group[N];
  lapis_data data; /* with y */
  char said[4096];
} people;

static void keep_words(int level, const char *message, void *user)
{
  people *p = user;
  (void)level;
  size_t used = strlen(p->said);
  snprintf(p->said + used, sizeof p->said - used, "%s\n", message);
}

static void meet(people *p, uint64_t seed, lapis_ctx *ctx)
{
  double centre[D];
  *p = (people){.ctx = ctx == NULL ? lapis_ctx_new() : ctx};
  lapis_ctx_on_message(p->ctx, keep_words, p);
  for (int i = 0; i < PERSONS; i++) {
    double y = i % 2, v = check_normal(&seed);
    for (int k = 0; k < D; k++) centre[k] = check_normal(&seed);
    for (int j = ROWS * i; j < ROWS * (i + 1); j++) {
      p->y[j] = y;
      p->v[j] = v + .01 * check_normal(&seed);
      p->group[j] = 100 - i;
      for (int k = 0; k < D; k++)
        p->X[D * j + k] = centre[k] + .05 * check_normal(&seed);
    }
  }
  p->data = (lapis_data){.X = lapis_mat_f64(p->X, D, N),
                         .Y = lapis_mat_f64(p->y, 1, N),
                         .group = p->group};
}

static lapis_solver *fit(const people *p, const char *method,
                         const void *settings)
{
  lapis_solver *s;
  lapis_status made = lapis_solver_new(p->ctx, lapis_method_find(method),
                                       &p->data, settings, &s);
  assert_int_equal(made, LAPIS_OK);
  assert_true(lapis_solve(s) >= 0);
  return s;
}

/* What rr and rlda told of the best that they tried. */
static double told(const people *p, const char *method)
{
  lapis_solver *s = fit(p, method, NULL);
  lapis_mat tried;
  double best = -INFINITY;
  assert_int_equal(lapis_result_get(s, "tried", &tried), LAPIS_OK);
  for (int64_t t = 0; t < tried.cols; t++)
    best = fmax(best, lapis_mat_at(&tried, 2, t));
  lapis_solver_free(s);
  assert_non_null(strstr(p->said, "24 groups in 2 folds"));
  return best;
}

static void settings_are_chosen_for_new_persons(void **state)
{
  double right = 0, r2 = 0;
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    people p;
    meet(&p, seed, NULL);
    right += told(&p, "rlda") / SEEDS;
    p.data.Y = lapis_mat_f64(p.v, 1, N);
    r2 += told(&p, "rr") / SEEDS;
    lapis_ctx_free(p.ctx);
  }
  CHECK_NEAR(right, .5, .15); /* the best of six; .95 where rows are hidden */
  CHECK_AT_MOST(r2, .1);      /* .98 there */
}

/* The log-loss that a model of these has on others. */
static double loss_on_others(const people *p, lapis_solver *s, uint64_t seed)
{
  people new;
  lapis_model *m;
  lapis_solver *q;
  double loss = 0;
  meet(&new, seed, p->ctx);
  lapis_data asked = {.X = new.data.X};
  assert_int_equal(lapis_model_new(s, &m), LAPIS_OK);
  assert_int_equal(lapis_predict_new(p->ctx, &asked, m, NULL, &q), LAPIS_OK);
  assert_int_equal(lapis_solve(q), LAPIS_OK);
  const double *f = check_result(q, "probabilities");
  for (int j = 0; j < N; j++)
    loss -= log(fmax(new.y[j] > 0 ? f[j] : 1 - f[j], 1e-12)) / N;
  lapis_solver_free(q);
  lapis_model_free(m);
  return loss;
}

static void probabilities_are_of_new_persons(void **state)
{
  for (int kernel = 0; kernel < 2; kernel++) {
    double loss = 0;
    lapis_svmplus_settings set = lapis_svmplus_defaults();
    set.C = set.gamma = 1;
    set.kernel = kernel;
    set.probability = true;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
      people p;
      meet(&p, seed, NULL);
      lapis_solver *s = fit(&p, "svmplus", &set);
      assert_non_null(strstr(p.said, "24 groups in 5 folds"));
      loss += loss_on_others(&p, s, seed + 50) / SEEDS;
      lapis_solver_free(s);
      lapis_ctx_free(p.ctx);
    }
    CHECK_AT_MOST(loss, .8); /* guessing: .693; where rows are hidden: 1.8 */
  }
}

/* auto is groups wherever the data have some. */
static void cross_validation_hides_persons(void **state)
{
  static const char *const methods[] = {"rlda", "svmplus", "linear", "trees",
                                        "mc"};
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
    double auroc = 0;
    const lapis_method *m = lapis_method_find(methods[k]);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
      people p;
      lapis_solver *cv;
      meet(&p, seed, NULL);
      lapis_cv_options o = lapis_cv_defaults();
      o.pooled = true;
      assert_int_equal(lapis_cv_hides(m, &p.data, &o), LAPIS_FOLDS_OF_GROUPS);
      assert_int_equal(cv_run(p.ctx, m, &p.data, NULL, &o, NULL, 0, &cv),
                       LAPIS_OK);
      auroc += cv_at(cv, 0).mean / SEEDS;
      lapis_solver_free(cv);
      lapis_ctx_free(p.ctx);
    }
    CHECK_AT_MOST(auroc, .65); /* .99 where rows are hidden */
  }
}

/* Half of the labels, which are chance, are contradicted by the others'. */
static void suspects_are_of_new_persons(void **state)
{
  double against = 0;
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    people p;
    int64_t index[2 * N], found;
    double margin[N];
    meet(&p, seed, NULL);
    assert_int_equal(lapis_suspects(p.ctx, lapis_method_find("trees"), &p.data,
                                    NULL, NULL, N, index, margin, &found, NULL),
                     LAPIS_OK);
    assert_int_equal(found, N);
    for (int k = 0; k < N; k++) against += margin[k] > 0;
    lapis_ctx_free(p.ctx);
  }
  CHECK_AT_LEAST(against / (N * SEEDS), .35); /* 0 where rows are hidden */
}

static void the_race_hides_persons(void **state)
{
  double right = 0;
  for (uint64_t seed = 1; seed <= 3; seed++) {
    people p;
    comparison *r;
    meet(&p, seed, NULL);
    lapis_mc_settings set = lapis_mc_defaults();
    auto_options o = {.mc = true, .linear = true, .trees = true};
    assert_int_equal(comparison_run(p.ctx, &p.data, &set, &o, &r), LAPIS_OK);
    assert_int_equal(comparison_what(r).of, LAPIS_FOLDS_OF_GROUPS);
    right += comparison_at(r, comparison_best(r, NULL)).accuracy / 3;
    comparison_free(r);
    lapis_ctx_free(p.ctx);
  }
  CHECK_AT_MOST(right, .75);
}

/* One group: no figure, and a sentence; two: two folds. */
static void few_persons_give_no_wrong_figure(void **state)
{
  for (int groups = 1; groups <= 2; groups++) {
    people p;
    lapis_mat tried;
    meet(&p, 9, NULL);
    for (int j = 0; j < N; j++) p.group[j] = j % groups;
    for (int lda = 0; lda < 2; lda++) {
      p.data.Y = lapis_mat_f64(lda ? p.y : p.v, 1, N);
      p.said[0] = '\0';
      lapis_solver *s = fit(&p, lda ? "rlda" : "rr", NULL);
      assert_int_equal(lapis_result_get(s, "tried", &tried), LAPIS_OK);
      assert_int_equal(isnan(lapis_mat_at(&tried, 2, 0)), groups == 1);
      assert_non_null(
          strstr(p.said, groups == 1 ? ONE_GROUP : "2 groups in 2 folds"));
      lapis_solver_free(s);
    }
    int64_t index[2 * N], found;
    double margin[N];
    lapis_status doubts =
        lapis_suspects(p.ctx, lapis_method_find("linear"), &p.data, NULL, NULL,
                       N, index, margin, &found, NULL);
    assert_int_equal(doubts, groups == 1 ? LAPIS_EINVAL : LAPIS_OK);
    if (groups == 1)
      check_refused(p.ctx, doubts, LAPIS_EINVAL, NULL, "1 group");
    lapis_svmplus_settings set = lapis_svmplus_defaults();
    set.C = set.gamma = 1;
    set.probability = true;
    lapis_solver *s;
    assert_int_equal(lapis_svmplus_new(p.ctx, &p.data, &set, &s), LAPIS_OK);
    lapis_status got = lapis_solve(s);
    if (groups == 1)
      check_refused(p.ctx, got, LAPIS_EDATA, NULL, "group");
    else
      assert_int_equal(got, LAPIS_OK);
    lapis_solver_free(s);
    lapis_ctx_free(p.ctx);
  }
}

int test_groups(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(groups_stay_whole),
      cmocka_unit_test(groups_of_cells_stay_whole),
      cmocka_unit_test(kinds_are_spread),
      cmocka_unit_test(few_groups_are_said),
      cmocka_unit_test(parts_are_the_whole),
      cmocka_unit_test(settings_are_chosen_for_new_persons),
      cmocka_unit_test(probabilities_are_of_new_persons),
      cmocka_unit_test(cross_validation_hides_persons),
      cmocka_unit_test(suspects_are_of_new_persons),
      cmocka_unit_test(the_race_hides_persons),
      cmocka_unit_test(few_persons_give_no_wrong_figure),
  };
  return run_cases(tests, NULL, NULL);
}
