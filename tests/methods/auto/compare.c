/* The race: what it chooses answers well, whatever the spelling; its
 * probabilities are Platt's; and where there is nothing to learn it says so. */
#include <unistd.h>

#include "check.h"
#include "lapis/choose.h"
#include "methods/auto/compare.h"
#include "remarks.h"

enum { N = 200, KNOWN = 80 };
typedef struct blobs {
  lapis_ctx *ctx;
  double X[2 * N], Y[N];
  bool tall[N];
  lapis_data data;
} blobs;

/* Two blobs far from 0, apart by `gap` deviations; 80 labels are known. */
static blobs *make(double gap, double no, double yes, uint64_t seed)
{
  blobs *b = calloc(1, sizeof *b);
  assert_non_null(b);
  b->ctx = lapis_ctx_new();
  for (int j = 0; j < N; j++) {
    b->tall[j] = j % 5 < 2;
    for (int i = 0; i < 2; i++)
      b->X[2 * j + i] = (i == 0 ? 150 : 50) + check_normal(&seed) +
                        (b->tall[j] ? gap / sqrt(2) : 0);
    b->Y[j] = j >= KNOWN ? NAN : b->tall[j] ? yes : no;
  }
  b->data.X = lapis_mat_f64(b->X, 2, N);
  b->data.Y = lapis_mat_f64(b->Y, 1, N);
  return b;
}

static void discard(blobs *b)
{
  lapis_ctx_free(b->ctx);
  free(b);
}

static comparison *run(blobs *b, bool linear)
{
  lapis_mc_settings set = lapis_mc_defaults();
  auto_options o = {.mc = true, .linear = linear, .trees = linear};
  comparison *race;
  lapis_status s = comparison_run(b->ctx, &b->data, &set, &o, &race);
  if (s < 0) fail_msg("%s", lapis_ctx_error(b->ctx));
  return race;
}

/* Labels of mc's best candidate: how many of those asked are right. */
static int right(blobs *b, double yes, double *p)
{
  comparison *race = run(b, true);
  int best = comparison_best(race, "mc"), count = 0;
  lapis_mc_settings set = lapis_mc_defaults();
  lapis_solver *s;
  assert_int_equal(
      comparison_answer_new(b->ctx, race, best, &b->data, &set, &s), 0);
  assert_int_equal(lapis_solve(s), 0);
  const double *labels = check_result(s, "labels");
  memcpy(p, check_result(s, "probabilities"), N * sizeof *p);
  for (int j = KNOWN; j < N; j++) count += (labels[j] == yes) == b->tall[j];
  lapis_solver_free(s);
  comparison_free(race);
  return count;
}

static void blobs_are_told_apart(void **state)
{
  static const double spelt[][2] = {{0, 1}, {1, 0}, {-1, 1}, {1, -1}, {1, 2}};
  double first[N], p[N];
  for (uint64_t seed = 1; seed <= 4; seed++)
    for (int k = 0; k < 5; k++) {
      blobs *b = make(20, spelt[k][0], spelt[k][1], seed);
      assert_int_equal(right(b, spelt[k][1], p), N - KNOWN);
      if (k == 0) memcpy(first, p, sizeof p);
      bool turned = spelt[k][1] < spelt[k][0];
      for (int j = 0; j < N; j++)
        CHECK_NEAR(turned ? 1 - p[j] : p[j], first[j], 1e-9);
      discard(b);
    }
}

/* Nearer blobs: as good as the line between the centres, but for little. */
static void nearer_blobs_too(void **state)
{
  double p[N], loss = 0;
  blobs *b = make(3, 0, 1, 7);
  CHECK_AT_LEAST(right(b, 1, p), 104); /* Bayes: 93 % of 120 are 112 */
  for (int j = KNOWN; j < N; j++)
    loss -= log(b->tall[j] ? p[j] : 1 - p[j]) / (N - KNOWN);
  CHECK_AT_MOST(loss, 0.35); /* the shares: .67 */
  discard(b);
}

/* Counts of words: what is chosen for `pos`, whose loss grows with X, and how
 * good it is depends on no unit; nor of a sparse X that leaves out what is
 * missing. */
static void counts_have_no_unit(void **state)
{
  enum { WORDS = 20 };
  static double X[WORDS * N];
  static int32_t row[WORDS * N];
  static int64_t start[N + 1];
  static const double units[] = {1, 1000, 1e-3};
  double auroc[6];
  for (int k = 0; k < 6; k++) {
    uint64_t seed = 2;
    int64_t count = 0;
    bool sparse = k >= 3;
    blobs *b = make(0, 0, 1, 5);
    for (int j = 0; j < N; j++) {
      for (int i = 0; i < WORDS; i++) {
        double often = (i < WORDS / 2) == b->tall[j] ? 6 : 4;
        X[count] = units[k % 3] * floor(often * -log(1 - check_uniform(&seed)));
        row[count] = i;
        count += !sparse || X[count] > 0;
      }
      start[j + 1] = count;
    }
    b->data.X = lapis_mat_f64(X, WORDS, N);
    if (sparse) b->data.X.colptr = start;
    if (sparse) b->data.X.rowidx = row;
    lapis_mc_settings set = lapis_mc_defaults();
    set.variant = LAPIS_MC_POS;
    set.absent = sparse ? LAPIS_ABSENT_MISSING : LAPIS_ABSENT_ZERO;
    auto_options o = {.mc = true};
    comparison *race;
    if (comparison_run(b->ctx, &b->data, &set, &o, &race) < 0)
      fail_msg("%s", lapis_ctx_error(b->ctx));
    int best = comparison_best(race, "mc");
    const char *map = comparison_map(race, best);
    if (!sparse) assert_string_equal(map, "scale:auto,scale:10");
    if (sparse) assert_int_equal(strncmp(map, "scale:", 6), 0);
    auroc[k] = comparison_at(race, best).auroc;
    CHECK_NEAR(auroc[k], auroc[sparse ? 3 : 0], 1e-3);
    comparison_free(race);
    discard(b);
  }
  CHECK_AT_LEAST(auroc[0], .75);
}

static void candidates_are_in_order(void **state)
{
  blobs *b = make(2, 0, 1, 3);
  comparison *race = run(b, true), *again = run(b, true);
  auto_hidden h = comparison_what(race);
  assert_int_equal(h.of, LAPIS_FOLDS_OF_ROWS);
  assert_int_equal(h.labels, KNOWN);
  CHECK_NEAR(h.loss, 0.673, 0.01);
  int n = comparison_count(race), linear = comparison_best(race, "linear");
  assert_true(n >= 8 && linear >= 0);
  assert_string_equal(comparison_at(race, linear).method, "linear");
  for (int i = 0; i < n; i++) {
    candidate_figures x = comparison_at(race, i), y = comparison_at(again, i);
    assert_memory_equal(&x.loss, &y.loss, sizeof x.loss);
    assert_string_equal(x.settings, y.settings);
    CHECK_AT_LEAST(x.loss, comparison_at(race, 0).loss - 0.002);
    CHECK_NEAR(x.behind, x.loss - comparison_at(race, 0).loss, 1e-12);
    char said[8] = "before";
    assert_true(x.learnt);
    assert_string_equal(comparison_unsure(race, i, said, sizeof said), "");
  }
  comparison_free(race);
  comparison_free(again);
  discard(b);
}

/* ---- the accuracy of new samples ----------------------------------------*/
/* Wilson's ends: the shares from which `share` is 1.96 deviations away. */
static void ends_are_as_far_as_chance_may_go(void **state)
{
  static const double shares[] = {0, .1, .5, .95, 1};
  static const double many[] = {1, 20, 37, 150, 1e4};
  for (int i = 0; i < 5; i++)
    for (int k = 0; k < 5; k++) {
      double end[2];
      lapis_share_interval(shares[i], many[k], &end[0], &end[1]);
      CHECK_AT_LEAST(shares[i] + 1e-12, end[0]);
      CHECK_AT_MOST(shares[i] - 1e-12, end[1]);
      for (int e = 0; e < 2; e++)
        CHECK_NEAR(pow(shares[i] - end[e], 2),
                   1.96 * 1.96 * end[e] * (1 - end[e]) / many[k], 1e-12);
      assert_true(i > 0 || (end[0] == 0 && !signbit(end[0])));
      assert_true(i < 4 || end[1] == 1);
    }
}

/* As many trials as labels; of groups that are told alike, as groups; less, as
 * all three folds share samples with others, by 1 + 2 / 3.  Of who answers the
 * choice is made up for, so that its interval is none of these. */
static void groups_are_a_trial_each(void **state)
{
  enum { OF = 4 };
  int64_t group[N];
  blobs *b = make(2, 0, 1, 5);
  for (int grouped = 0; grouped < 2; grouped++) {
    for (int j = 0; grouped && j < N; j++) {
      group[j] = j / OF;
      b->tall[j] = b->tall[j - j % OF];
      b->Y[j] = b->Y[j - j % OF];
      for (int i = 0; i < 2; i++) b->X[2 * j + i] = b->X[2 * (j - j % OF) + i];
    }
    if (grouped) b->data.group = group;
    lapis_mc_settings set = lapis_mc_defaults();
    auto_options o = {0};
    comparison *race;
    assert_int_equal(comparison_run(b->ctx, &b->data, &set, &o, &race), 0);
    for (int i = 0; i < comparison_count(race); i++) {
      candidate_figures x = comparison_at(race, i);
      double end[2], said[2], units = grouped ? KNOWN / OF : KNOWN;
      if (x.accuracy < 1) units--; /* as variances are estimated */
      if (i == comparison_best(race, NULL)) continue;
      units /= 1 + 2. / 3;
      lapis_share_interval(x.accuracy, units, &end[0], &end[1]);
      comparison_accuracy(race, i, &said[0], &said[1]);
      for (int e = 0; e < 2; e++) CHECK_NEAR(said[e], end[e], 1e-9);
      comparison_accuracy(race, comparison_count(race), &said[0], &said[1]);
      assert_true(isnan(said[0]) && isnan(said[1]));
    }
    comparison_free(race);
  }
  discard(b);
}

/* The best of several is a little too good, and yet its interval mostly holds
 * the share of other samples that are told rightly. */
static void most_intervals_hold_what_comes(void **state)
{
  enum { SEEDS = 20 };
  int held = 0;
  double p[N];
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    blobs *b = make(2, 0, 1, seed);
    for (int j = KNOWN / 4; j < KNOWN; j++) b->Y[j] = NAN; /* 20 are known */
    double told = (double)right(b, 1, p) / (N - KNOWN);
    comparison *race = run(b, true);
    double least, most;
    comparison_accuracy(race, comparison_best(race, "mc"), &least, &most);
    held += least <= told && told <= most;
    comparison_free(race);
    discard(b);
  }
  CHECK_AT_LEAST(held, SEEDS * 9 / 10 - 1);
}

/* Labels by lot: the accuracy of new samples is one half, whoever wins, and
 * nineteen of twenty intervals hold it though many competed for few labels. */
static void choosing_does_not_flatter(void **state)
{
  enum { SEEDS = 60, FEW = 24, OF = 8 };
  double X[OF * FEW], Y[FEW], held = 0;
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    uint64_t lot = 100 + seed;
    for (int k = 0; k < OF * FEW; k++) X[k] = check_normal(&lot);
    for (int j = 0; j < FEW; j++) Y[j] = check_uniform(&lot) < .5;
    lapis_data data = {.X = lapis_mat_f64(X, OF, FEW),
                       .Y = lapis_mat_f64(Y, 1, FEW)};
    lapis_ctx *ctx = lapis_ctx_new();
    lapis_auto_settings set = lapis_auto_defaults();
    lapis_solver *s;
    lapis_mat f;
    set.compare_only = true;
    set.candidates = "linear,trees";
    assert_int_equal(lapis_auto_new(ctx, &data, &set, &s), LAPIS_OK);
    assert_int_equal(lapis_solve(s), LAPIS_OK);
    assert_int_equal(lapis_result_get(s, "candidate_figures", &f), LAPIS_OK);
    int64_t chosen = (int64_t)check_result(s, "chosen")[0];
    double low = lapis_mat_at(&f, 4, chosen),
           high = lapis_mat_at(&f, 5, chosen);
    held += low <= .5 && .5 <= high;
    lapis_solver_free(s);
    lapis_ctx_free(ctx);
  }
  CHECK_AT_LEAST(held, .93 * SEEDS);
}

/* ---- kernels ------------------------------------------------------------*/
/* Two circles; of three features, the last of which says nothing, `gaps` are
 * missing. */
static void circles(blobs *b, double *X, double gaps)
{
  uint64_t seed = 21;
  for (int j = 0; j < N; j++) {
    double angle = 6.283185307179586 * check_uniform(&seed);
    double radius = (b->tall[j] ? 2 : 1) + .1 * check_normal(&seed);
    X[3 * j] = radius * cos(angle);
    X[3 * j + 1] = radius * sin(angle);
    X[3 * j + 2] = .1 * check_normal(&seed);
    if (check_uniform(&seed) < gaps) X[3 * j + 1] = NAN;
  }
  b->data.X = lapis_mat_f64(X, 3, N);
}

/* Runner i answers, and so does its model, read back from a file, for the
 * same samples as new ones; shares of right answers. */
static void answered(blobs *b, const comparison *race, int i, double share[2])
{
  char path[64];
  lapis_mc_settings set = lapis_mc_defaults();
  lapis_data new_ = {.X = b->data.X};
  lapis_solver *s[2];
  lapis_model *m, *back;
  check_new_file(path, sizeof path);
  assert_int_equal(
      comparison_answer_new(b->ctx, race, i, &b->data, &set, &s[0]), 0);
  assert_true(lapis_solve(s[0]) >= 0);
  assert_int_equal(lapis_model_new(s[0], &m), 0);
  assert_int_equal(lapis_model_save(b->ctx, m, path), 0);
  assert_int_equal(lapis_model_load(b->ctx, path, &back), 0);
  assert_int_equal(lapis_model_features(back), 3);
  assert_int_equal(lapis_predict_new(b->ctx, &new_, back, NULL, &s[1]), 0);
  assert_true(lapis_solve(s[1]) >= 0);
  for (int k = 0; k < 2; k++) {
    const double *labels = check_result(s[k], "labels");
    share[k] = 0;
    for (int j = KNOWN; j < N; j++)
      share[k] += ((labels[j] == 1) == b->tall[j]) / (double)(N - KNOWN);
    lapis_solver_free(s[k]);
  }
  lapis_model_free(m);
  lapis_model_free(back);
  unlink(path);
}

/* The first candidate of which that is said, or -1. */
static int found(const comparison *race, const char *a, const char *c)
{
  for (int i = 0; i < comparison_count(race); i++) {
    candidate_figures x = comparison_at(race, i);
    if (strstr(x.settings, a) != NULL && strstr(x.settings, c) != NULL)
      return i;
  }
  return -1;
}

static void kernels_tell_circles(void **state)
{
  double X[3 * N], share[2], p[N];
  blobs *b = make(0, 0, 1, 5);
  circles(b, X, 0);
  comparison *race = run(b, true);
  int best = comparison_best(race, NULL);
  assert_string_equal(comparison_at(race, best).method, "mean");
  best = comparison_best(race, "linear");
  assert_non_null(strstr(comparison_map(race, best), "standard,nystrom:"));
  CHECK_AT_LEAST(comparison_at(race, best).auroc, .98);
  CHECK_AT_MOST(comparison_at(race, comparison_best(race, "mc")).auroc, .75);
  answered(b, race, best, share);
  CHECK_AT_LEAST(share[0], .95);
  CHECK_NEAR(share[0], share[1], 1e-12);
  assert_int_equal(comparison_hold_out(b->ctx, race, best, &b->data, 3, p), 0);
  for (int j = 0; j < N; j++) assert_true(isnan(p[j]) == (j >= KNOWN));
  comparison_free(race);
  discard(b);
}

/* With gaps a kernel also reads what mc completes, and a model takes both. */
static void kernels_read_what_is_filled(void **state)
{
  double X[3 * N], share[2], p[N];
  blobs *b = make(0, 0, 1, 5);
  circles(b, X, .1);
  comparison *race = run(b, true);
  int filled = found(race, "nystrom:", "gaps filled by mc");
  int mean = found(race, "nystrom:auto:500 --C 10", "");
  assert_true(filled >= 0 && mean >= 0 && filled != mean);
  answered(b, race, filled, share);
  CHECK_AT_LEAST(share[0], .85);
  CHECK_AT_LEAST(share[1], .85);
  assert_int_equal(comparison_hold_out(b->ctx, race, filled, &b->data, 3, p),
                   0);
  assert_true(p[0] >= 0 && p[0] <= 1);
  comparison_free(race);
  discard(b);
}

/* Of mc, linear and trees the best answers, with those that are not clearly
 * behind it. */
static void toss_ups_are_answered_by_all(void **state)
{
  static const char *const kind[] = {"mc", "linear", "trees"};
  static const char *const mean[] = {NULL,    "mc",   "linear", "mean",
                                     "trees", "mean", "mean",   "mean"};
  bool seen[8] = {false};
  for (uint64_t seed = 1; seed <= 4; seed++) {
    double X[3 * N], error;
    blobs *b = make(seed == 4 ? 20 : 2, 0, 1, seed);
    if (seed == 3) circles(b, X, 0);
    comparison *race = run(b, true);
    int place[3], first = comparison_count(race), who = 0;
    for (int k = 0; k < 3; k++) {
      place[k] = comparison_best(race, kind[k]);
      assert_true(place[k] >= 0);
      if (place[k] < first) first = place[k];
    }
    for (int k = 0; k < 3; k++) {
      double by = comparison_difference(race, place[k], first, &error);
      if (place[k] == first || fabs(by) <= 3 * error) who += 1 << k;
    }
    candidate_figures x = comparison_at(race, comparison_best(race, NULL));
    int all = comparison_best(race, "mean");
    double by = all < 0 ? 0 : comparison_difference(race, all, first, &error);
    bool behind = all >= 0 && by > 2 * error;
    assert_string_equal(x.method,
                        behind ? comparison_at(race, first).method : mean[who]);
    seen[who] = true;
    comparison_free(race);
    discard(b);
  }
  assert_true(seen[7] && seen[6]);
}

static bool is_mean(const char *method)
{
  return strcmp(method, "mc") != 0 && strcmp(method, "linear") != 0 &&
         strcmp(method, "trees") != 0;
}

/* A mean of many is no better than they are: where one of them is clearly
 * better than it, that one answers. */
static void no_mean_answers_for_a_better_one(void **state)
{
  int means = 0;
  for (uint64_t seed = 29; seed <= 40; seed++) {
    blobs *b = make(0, 0, 1, seed);
    uint64_t draw = 100 + seed;
    for (int j = 0; j < N; j++) {
      double *x = b->X + 2 * j, square = .35 * check_normal(&draw);
      for (int i = 0; i < 2; i++) x[i] = check_normal(&draw);
      square += x[0] * x[0] + x[1] * x[1];
      b->Y[j] = j < KNOWN ? square > 1.4 : NAN;
    }
    comparison *race = run(b, true);
    int who = comparison_best(race, NULL);
    double error, by = comparison_difference(race, who, 0, &error);
    if (who != 0) CHECK_AT_MOST(by, 2 * error);
    means += is_mean(comparison_at(race, who).method);
    comparison_free(race);
    discard(b);
  }
  assert_true(means > 0);
}

/* Where neither kind has told anything the mean would be one number for all;
 * a single one keeps the order of its scores. */
static void a_mean_of_shares_does_not_answer(void **state)
{
  int shares = 0;
  for (uint64_t seed = 1; seed <= 8; seed++) {
    blobs *b = make(0, 0, 1, seed);
    comparison *race = run(b, true);
    int mean = comparison_best(race, "mean"),
        best = comparison_best(race, NULL);
    bool same = mean >= 0 && comparison_at(race, mean).auroc == .5;
    if (same) assert_int_not_equal(best, mean);
    shares += same;
    comparison_free(race);
    discard(b);
  }
  assert_true(shares > 0);
}

/* What is said of a candidate that has not learnt agrees with the figures
 * beside it: an order that is better than by chance is not called nothing. */
static void doubt_agrees(const comparison *race, double auroc)
{
  char said[512], short_[8], figure[32];
  double by = NAN, error = NAN;
  (void)comparison_unsure(race, 0, said, sizeof said);
  assert_null(strstr(said, "nothing"));
  const char *at = strstr(said, LABELS_ARE_TOLD);
  bool unclear = strstr(said, "not clear") == said + strlen("it is ");
  if (unclear) {
    assert_non_null(at);
    assert_int_equal(
        sscanf(at + strlen(LABELS_ARE_TOLD), "%lf +- %lf better", &by, &error),
        2);
    CHECK_AT_LEAST(by, 0);
    CHECK_AT_MOST(by, 2 * error + 1e-4);
  } else if (strstr(said, "AUROC") != NULL) {
    snprintf(figure, sizeof figure, "AUROC %.3f,", auroc);
    assert_non_null(strstr(said, figure));
    CHECK_AT_LEAST(auroc, .55); /* by far more than labels by lot */
  }
  (void)comparison_unsure(race, 0, short_, sizeof short_);
  assert_int_equal(strlen(short_), sizeof short_ - 1);
}

/* Lines are clearly behind where circles are to be told apart: but for the best
 * of each kind they end after one of three folds.  A fold of few labels ends
 * nobody. */
static void who_cannot_win_ends_early(void **state)
{
  int of_all = 0;
  for (int many = 0; many < 2; many++) {
    double X[3 * N];
    blobs *b = make(0, 0, 1, 5);
    for (int j = KNOWN; many && j < 150; j++) b->Y[j] = b->tall[j];
    circles(b, X, 0);
    lapis_ctx_set(b->ctx, "threads", "1");
    comparison *race = run(b, true);
    lapis_ctx_set(b->ctx, "jobs", "2");
    comparison *again = run(b, true); /* by several processes the same */
    auto_hidden h = comparison_what(race);
    int n = comparison_count(race), of_mc = 0, lines = 0;
    assert_int_equal(comparison_count(again), n);
    for (int i = 0; i < n; i++) {
      candidate_figures x = comparison_at(race, i), y = comparison_at(again, i);
      assert_memory_equal(&x.loss, &y.loss, sizeof x.loss);
      assert_string_equal(x.settings, y.settings);
      bool kernel = strstr(x.settings, "nystrom") != NULL;
      of_mc += strcmp(x.method, "mc") == 0;
      lines += strcmp(x.method, "linear") == 0 && !kernel;
      CHECK_AT_LEAST(x.loss, comparison_at(race, 0).loss - .002);
    }
    assert_int_equal(h.folds, 3);
    assert_true(many ? h.ended >= 6 : h.ended == 0);
    if (many) CHECK_AT_MOST(of_mc + lines, (of_all + 1) / 2);
    of_all = of_mc + lines;
    comparison_free(again);
    comparison_free(race);
    discard(b);
  }
}

/* Two errors behind are enough, as the best of each kind goes on: where blobs
 * overlap few are three behind. */
static void two_errors_behind_end(void **state)
{
  int ended = 0;
  for (uint64_t seed = 1; seed <= 6; seed++) {
    blobs *b = make(1.5, 0, 1, seed);
    for (int j = KNOWN; j < 150; j++) b->Y[j] = b->tall[j];
    comparison *race = run(b, true);
    ended += comparison_what(race).ended;
    comparison_free(race);
    discard(b);
  }
  CHECK_AT_LEAST(ended, 9); /* by three: 4 */
}

static void noise_is_said_to_be_noise(void **state)
{
  for (uint64_t seed = 1; seed <= 6; seed++) {
    uint64_t lot = 100 + seed;
    blobs *b = make(0, 0, 1, seed);
    for (int j = 0; j < KNOWN; j++) b->Y[j] = check_uniform(&lot) > .5;
    comparison *race = run(b, false);
    candidate_figures best = comparison_at(race, 0);
    assert_false(best.learnt);
    doubt_agrees(race, best.auroc);
    comparison_free(race);
    discard(b);
  }
}

static void too_few_labels(void **state)
{
  blobs *b = make(3, 0, 1, 1);
  lapis_mc_settings set = lapis_mc_defaults();
  auto_options o = {.mc = true};
  comparison *race;
  for (int j = 1; j < N; j++) b->Y[j] = NAN;
  assert_true(comparison_run(b->ctx, &b->data, &set, &o, &race) < 0);
  assert_null(race);
  discard(b);
}

/* What is stated is not chosen. */
static void stated_settings_stay(void **state)
{
  blobs *b = make(2, -1, 1, 5);
  lapis_mc_settings set = lapis_mc_defaults(), got = set;
  set.lambda = .7;
  set.labels = LAPIS_MC_LABELS_PM;
  auto_options o = {
      .mc = true, .map = "none", .stated = STATED_LAMBDA | STATED_LABELS};
  comparison *race;
  assert_int_equal(comparison_run(b->ctx, &b->data, &set, &o, &race), 0);
  for (int i = 0; i < comparison_count(race); i++) {
    comparison_settings(race, i, &got);
    CHECK_NEAR(got.lambda, .7, 0);
    assert_int_equal(got.labels, LAPIS_MC_LABELS_PM);
    assert_string_equal(comparison_map(race, i), "none");
  }
  comparison_free(race);
  o.stated = STATED_MU;
  set.mu_rel = .05;
  assert_int_equal(comparison_run(b->ctx, &b->data, &set, &o, &race), 0);
  assert_in_range(comparison_count(race), 2, 5);
  for (int i = 0; i < comparison_count(race); i++) {
    comparison_settings(race, i, &got);
    CHECK_NEAR(got.mu_rel, .05, 0);
  }
  comparison_free(race);
  discard(b);
}

/* ---- out of time --------------------------------------------------------*/
typedef struct stop { /* after so many answers of candidates */
  lapis_ctx *ctx;
  int left;
} stop;

static bool stop_after(const lapis_progress *now, void *user)
{
  stop *s = user;
  if (strcmp(now->method, "auto") == 0 && s->left-- == 0)
    lapis_ctx_limit(s->ctx, 0);
  return true;
}

static comparison *run_until(blobs *b, int answers, bool others)
{
  lapis_mc_settings set = lapis_mc_defaults();
  auto_options o = {.mc = true, .linear = others, .trees = others};
  stop at = {b->ctx, answers};
  comparison *race;
  lapis_ctx_on_progress(b->ctx, stop_after, &at);
  lapis_status s = comparison_run(b->ctx, &b->data, &set, &o, &race);
  lapis_ctx_on_progress(b->ctx, NULL, NULL);
  lapis_ctx_limit(b->ctx, INFINITY);
  assert_int_equal(s, LAPIS_TIME_LIMIT);
  return race;
}

/* Folds that only some have answered decide nothing: losses differ by as much
 * as on the labels that two candidates have in common. */
static void whole_folds_decide(void **state)
{
  blobs *b = make(2, 0, 1, 3);
  comparison *race = run(b, true);
  auto_hidden all = comparison_what(race), h;
  assert_int_equal(all.folds, 3);
  int candidates = 0; /* of the first round */
  for (int i = 0; i < comparison_count(race); i++)
    candidates += !is_mean(comparison_at(race, i).method);
  candidates -= all.widened;
  comparison_free(race);
  for (int answers = 0; answers < 3 * candidates - 1; answers++) {
    race = run_until(b, answers, true);
    h = comparison_what(race);
    int folds = (answers + 1) / candidates;
    assert_int_equal(h.folds, folds);
    assert_true(h.labels >= folds * KNOWN / 3 - 1);
    assert_true(h.labels <= folds * KNOWN / 3 + 1);
    assert_int_equal(comparison_best(race, NULL) >= 0, folds > 0);
    assert_int_equal(isfinite(h.loss), folds > 0);
    int answered = 0;
    for (int i = 0; i < comparison_count(race); i++)
      answered += !is_mean(comparison_at(race, i).method);
    if (folds > 0) assert_int_equal(answered, candidates);
    for (int i = 0; i < comparison_count(race); i++) {
      candidate_figures x = comparison_at(race, i);
      CHECK_NEAR(x.behind, x.loss - comparison_at(race, 0).loss, 1e-12);
    }
    comparison_free(race);
  }
  discard(b);
}

/* Candidates that come late, and have answered for no fold, change nothing of
 * what is said of the others. */
static void late_candidates_change_nothing(void **state)
{
  blobs *b = make(2, 0, 1, 3);
  comparison *race = run(b, false);
  int late = comparison_what(race).widened;
  int first = comparison_count(race) - late;
  double guess = comparison_what(race).loss;
  assert_true(late > 0);
  comparison_free(race);
  for (int more = 0; more < 2; more++) {
    race = run_until(b, 3 * first + more, false);
    CHECK_NEAR(comparison_what(race).loss, guess, 1e-12);
    comparison_free(race);
  }
  discard(b);
}

/* As many folds as asked for; each known label is told in one of them. */
static void folds_are_those_asked_for(void **state)
{
  static const int64_t folds[] = {2, 4, 10};
  double p[3][N];
  blobs *b = make(2, 0, 1, 3);
  comparison *race = run(b, true);
  for (int k = 0; k < 3; k++) {
    assert_int_equal(
        comparison_hold_out(b->ctx, race, 0, &b->data, folds[k], p[k]),
        LAPIS_OK);
    for (int j = 0; j < N; j++) assert_int_equal(isnan(p[k][j]), j >= KNOWN);
  }
  assert_memory_not_equal(p[0], p[1], KNOWN * sizeof *p[0]);
  assert_memory_not_equal(p[1], p[2], KNOWN * sizeof *p[0]);
  comparison_free(race);
  discard(b);
}

/* ---- cancelled ----------------------------------------------------------*/
static bool cancel_after(const lapis_progress *now, void *user)
{
  stop *s = user;
  if (strcmp(now->method, "auto") == 0 && s->left-- == 0)
    lapis_ctx_cancel(s->ctx);
  return true;
}

/* Whoever is cancelled, and wherever: there is no race, the cancellation is
 * spent, and nothing half done is left to the next one. */
static void a_cancelled_race_leaves_nothing(void **state)
{
  blobs *b = make(2, 0, 1, 3);
  lapis_mc_settings set = lapis_mc_defaults();
  auto_options o = {.mc = true, .linear = true, .trees = true};
  comparison *whole = run(b, true), *race;
  int cancelled = 0;
  for (int at = 0; cancelled == at; at++) {
    stop when = {b->ctx, at};
    lapis_ctx_on_progress(b->ctx, cancel_after, &when);
    lapis_status s = comparison_run(b->ctx, &b->data, &set, &o, &race);
    lapis_ctx_on_progress(b->ctx, NULL, NULL);
    if (s < 0) fail_msg("%d: %s", at, lapis_ctx_error(b->ctx));
    if (s == LAPIS_CANCELLED) assert_null(race);
    cancelled += s == LAPIS_CANCELLED;
    comparison_free(race);
    if (at % 8 > 0) continue;
    comparison *again = run(b, true);
    assert_int_equal(comparison_count(again), comparison_count(whole));
    for (int i = 0; i < comparison_count(whole); i++)
      CHECK_NEAR(comparison_at(again, i).loss, comparison_at(whole, i).loss, 0);
    comparison_free(again);
  }
  CHECK_AT_LEAST((double)cancelled, 30);
  comparison_free(whole);
  discard(b);
}

int test_compare(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blobs_are_told_apart),
      cmocka_unit_test(nearer_blobs_too),
      cmocka_unit_test(counts_have_no_unit),
      cmocka_unit_test(candidates_are_in_order),
      cmocka_unit_test(ends_are_as_far_as_chance_may_go),
      cmocka_unit_test(groups_are_a_trial_each),
      cmocka_unit_test(most_intervals_hold_what_comes),
      cmocka_unit_test(choosing_does_not_flatter),
      cmocka_unit_test(kernels_tell_circles),
      cmocka_unit_test(kernels_read_what_is_filled),
      cmocka_unit_test(toss_ups_are_answered_by_all),
      cmocka_unit_test(no_mean_answers_for_a_better_one),
      cmocka_unit_test(a_mean_of_shares_does_not_answer),
      cmocka_unit_test(who_cannot_win_ends_early),
      cmocka_unit_test(two_errors_behind_end),
      cmocka_unit_test(noise_is_said_to_be_noise),
      cmocka_unit_test(too_few_labels),
      cmocka_unit_test(stated_settings_stay),
      cmocka_unit_test(whole_folds_decide),
      cmocka_unit_test(late_candidates_change_nothing),
      cmocka_unit_test(a_cancelled_race_leaves_nothing),
      cmocka_unit_test(folds_are_those_asked_for),
  };
  return run_cases(tests, NULL, NULL);
}
