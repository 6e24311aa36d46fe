/* suspects.c - a label of classes is one suspect, however it is found. */
#include "check.h"
#include "lapis/choose.h"
#include "remarks.h"

enum { K = 3, N = 60, D = 3, MOST = 2 * N };

typedef struct example {
  double X[D * N], Y[N], p[K * N];
  lapis_data data;
} example;

/* Three groups, some labels turned; p: what their distances say. */
static void make(example *e)
{
  uint64_t seed = 11;
  for (int j = 0; j < N; j++) {
    double sum = 0;
    for (int c = 0; c < K; c++) {
      double x = e->X[j * D + c] = 2 * (c == j % K) + check_normal(&seed);
      sum += e->p[j * K + c] = exp(2 * x);
    }
    for (int c = 0; c < K; c++) e->p[j * K + c] /= sum;
    e->Y[j] = j % 7 == 0 ? (j + 1) % K : j % K;
  }
  e->data = (lapis_data){.X = lapis_mat_f64(e->X, D, N),
                         .Y = lapis_mat_f64(e->Y, 1, N)};
}

/* Every sample once, at another class than is given. */
static void check_once(const example *e, const int64_t *index, int64_t found)
{
  bool seen[N] = {false};
  for (int64_t i = 0; i < found; i++) {
    int64_t j = index[2 * i], c = index[2 * i + 1];
    assert_in_range(j, 0, N - 1);
    assert_in_range(c, 0, K - 1);
    assert_false(seen[j]);
    assert_int_not_equal(c, (int64_t)e->Y[j]);
    seen[j] = true;
  }
}

/* The class is the likeliest other, the margin the larger of both. */
static void by_scores_and_by_doubts(void **state)
{
  example e;
  int64_t index[2 * MOST], found, wrong[4], rather[N];
  double margin[MOST];
  lapis_ctx *ctx = lapis_ctx_new();
  make(&e);
  lapis_mat p = lapis_mat_f64(e.p, K, N);
  assert_true(lapis_suspects_of(ctx, &e.data.Y, &p, .5, MOST, index, margin,
                                &found) >= 0);
  assert_int_equal(found, N);
  check_once(&e, index, found);
  for (int64_t i = 0; i < found; i++) {
    int64_t j = index[2 * i], own = (int64_t)e.Y[j];
    int64_t last = K - own - index[2 * i + 1];
    double other = e.p[j * K + index[2 * i + 1]];
    assert_true(other >= e.p[j * K + last]);
    CHECK_NEAR(margin[i], fmax(.5 - e.p[j * K + own], other - .5), 0);
    if (i > 0) assert_true(margin[i] <= margin[i - 1]);
    rather[j] = index[2 * i + 1];
  }
  assert_true(lapis_doubts(ctx, &e.data.Y, NULL, &p, MOST, index, margin,
                           &found, wrong) >= 0);
  int64_t listed = wrong[2] < MOST ? wrong[2] : MOST;
  assert_true(listed > 0);
  check_once(&e, index, listed);
  for (int64_t i = 0; i < listed; i++)
    assert_int_equal(index[2 * i + 1], rather[index[2 * i]]);
  lapis_ctx_free(ctx);
}

/* As many as are asked for, at given settings and at chosen ones. */
static void by_folds(void **state)
{
  static const char *const names[] = {"svmplus", "linear", "mc"};
  example e;
  int64_t index[2 * N], found;
  double margin[N];
  make(&e);
  for (int k = 0; k < 3; k++)
    for (int64_t count = 20; count <= N; count += 40) {
      lapis_ctx *ctx = lapis_ctx_new();
      assert_true(lapis_suspects(ctx, lapis_method_find(names[k]), &e.data,
                                 NULL, NULL, count, index, margin, &found,
                                 NULL) >= 0);
      assert_int_equal(found, count);
      check_once(&e, index, found);
      lapis_ctx_free(ctx);
    }
}

/* ---- what may be said of them --------------------------------------------*/
enum { FROM = 600, SEEDS = 40 };
typedef struct said { /* of n labels, some of them wrong */
  double Y[FROM], p[FROM];
  bool is_wrong[FROM];
  int64_t group[FROM], index[2 * FROM], found, wrong[4], truth;
  double probability[FROM];
  char text[320];
} said;

/* Two classes, `apart` between their means, a share of whose labels is turned;
 * p: what is known of x.  people: above 0, so many, whose samples are alike. */
static void doubt(said *s, int n, double apart, double flips, int people,
                  uint64_t seed)
{
  double x[FROM], is[FROM];
  lapis_ctx *ctx = lapis_ctx_new();
  s->truth = 0;
  for (int j = 0; j < n; j++) {
    int like = people > 0 && j >= people ? j % people : j;
    s->group[j] = like;
    is[j] = like < j ? is[like] : check_uniform(&seed) < .5;
    x[j] = like < j ? x[like] : check_normal(&seed) + apart * (is[j] - .5);
    s->is_wrong[j] = check_uniform(&seed) < flips;
    s->truth += s->is_wrong[j];
    s->Y[j] = s->is_wrong[j] ? 1 - is[j] : is[j];
    double q = 1 / (1 + exp(-apart * x[j]));
    s->p[j] = (1 - flips) * q + flips * (1 - q);
  }
  lapis_mat Y = lapis_mat_f64(s->Y, 1, n), p = lapis_mat_f64(s->p, 1, n);
  assert_int_equal(lapis_doubts(ctx, &Y, people > 0 ? s->group : NULL, &p, n,
                                s->index, s->probability, &s->found, s->wrong),
                   LAPIS_OK);
  /* not the only one of a class, nor of a person */
  assert_in_range(s->wrong[2], people > 0 ? 0 : n - 2, n);
  lapis_doubts_text(s->wrong, s->text, sizeof s->text);
  lapis_ctx_free(ctx);
}

static void check_unsaid(const said *s, int n, lapis_doubts_unsaid why)
{
  assert_int_equal(s->wrong[3], why);
  for (int64_t k = 0; k < n && k < s->wrong[2]; k++)
    assert_true(isnan(s->probability[k]));
}

/* Of few labels, of few people, of guesses, of classes that are alike: no
 * number of wrong ones, and no probability. */
static void what_cannot_be_said_is_not(void **state)
{
  said s;
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    for (int n = 4; n <= 24; n += 5)
      for (double flips = 0; flips < .4; flips += .15) {
        doubt(&s, n, 6, flips, 0, seed);
        check_unsaid(&s, n, LAPIS_DOUBTS_FEW);
        assert_non_null(strstr(s.text, "too few"));
      }
    doubt(&s, FROM, 6, 0, 6, seed);
    check_unsaid(&s, FROM, LAPIS_DOUBTS_FEW_GROUPS);
  }
  doubt(&s, FROM, 6, .32, 0, 1);
  check_unsaid(&s, FROM, LAPIS_DOUBTS_HARD);
  for (int j = 0; j < FROM; j++) s.p[j] = .5 + .001 * (j % 7);
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_mat Y = lapis_mat_f64(s.Y, 1, FROM), p = lapis_mat_f64(s.p, 1, FROM);
  assert_int_equal(lapis_doubts(ctx, &Y, NULL, &p, FROM, s.index, s.probability,
                                &s.found, s.wrong),
                   LAPIS_OK);
  check_unsaid(&s, FROM, LAPIS_DOUBTS_GUESSED);
  assert_int_equal(s.found, 0);
  lapis_ctx_free(ctx);
}

/* Forty groups of fifteen; of the first, predictions are sure and know
 * nothing; of each other, one label is turned. */
static void a_group_that_is_contradicted_is_not_wrong(void **state)
{
  enum { EACH = 15, STRANGE = 1 };
  said s;
  double of_wrong = 0, of_strange = 0;
  uint64_t seed = 5;
  lapis_ctx *ctx = lapis_ctx_new();
  for (int j = 0; j < FROM; j++) {
    bool is = check_uniform(&seed) < .5, knows = j >= STRANGE * EACH;
    bool says = knows ? is : check_uniform(&seed) < .5;
    s.group[j] = j / EACH;
    s.is_wrong[j] = knows && j % EACH == 0;
    s.Y[j] = s.is_wrong[j] ? !is : is;
    double unsure = pow(10, -1 - 3 * check_uniform(&seed));
    s.p[j] = says ? 1 - unsure : unsure;
  }
  lapis_mat Y = lapis_mat_f64(s.Y, 1, FROM), p = lapis_mat_f64(s.p, 1, FROM);
  for (int groups = 0; groups < 2; groups++) {
    assert_true(lapis_doubts(ctx, &Y, groups ? s.group : NULL, &p, FROM,
                             s.index, s.probability, &s.found, s.wrong) >= 0);
    assert_true(s.wrong[3] > 0);
    of_wrong = of_strange = 0;
    for (int64_t i = 0; i < s.wrong[2]; i++) {
      int64_t j = s.index[2 * i];
      assert_in_range(s.probability[i] * 1e6, 0, 1e6);
      if (s.is_wrong[j]) of_wrong += s.probability[i] / (FROM / EACH - STRANGE);
      if (j < STRANGE * EACH) of_strange = fmax(of_strange, s.probability[i]);
    }
    assert_true(of_wrong > .7);
    assert_true(groups ? of_strange < .3 : of_strange > .7);
  }
  lapis_ctx_free(ctx);
}

/* One label of twenty is contradicted by who is all but certain: by log-loss
 * that is worse than guessing, and yet all others are told. */
static void sure_contradictions_are_no_guesses(void **state)
{
  enum { n = 200, EVERY = 20 };
  said s;
  lapis_ctx *ctx = lapis_ctx_new();
  for (int j = 0; j < n; j++) {
    bool is = j % 2;
    s.is_wrong[j] = j % EVERY == 7;
    s.Y[j] = is != s.is_wrong[j];
    s.p[j] = s.is_wrong[j] ? (is ? 1 - 1e-13 : 1e-13) : is ? .9 : .1;
  }
  lapis_mat Y = lapis_mat_f64(s.Y, 1, n), p = lapis_mat_f64(s.p, 1, n);
  assert_int_equal(lapis_doubts(ctx, &Y, NULL, &p, n, s.index, s.probability,
                                &s.found, s.wrong),
                   LAPIS_OK);
  assert_in_range(s.wrong[3], 1, 2 * n / EVERY);
  assert_in_range(s.found, n / EVERY, n / EVERY + 2);
  for (int k = 0; k < n / EVERY; k++) assert_true(s.is_wrong[s.index[2 * k]]);
  lapis_ctx_free(ctx);
}

/* While the only label of a class is hidden, or all of one person, nothing can
 * speak for it. */
static void the_only_label_of_a_class_is_not_doubted(void **state)
{
  enum { OF = 3, LAST = 2 };
  said s;
  double p[OF * FROM];
  lapis_ctx *ctx = lapis_ctx_new();
  for (int alone = 1; alone < 4; alone++) { /* 3: of two people */
    for (int j = 0; j < FROM; j++) {
      bool odd = j < alone;
      s.Y[j] = odd ? LAST : j % 2;
      s.group[j] = odd ? alone == 3 && j == 0 : 2 + j / 2;
      for (int c = 0; c < OF; c++)
        p[OF * j + c] = c == LAST ? .001 : c == j % 2 ? .95 : .049;
    }
    lapis_mat Y = lapis_mat_f64(s.Y, 1, FROM), of = lapis_mat_f64(p, OF, FROM);
    assert_int_equal(lapis_doubts(ctx, &Y, s.group, &of, FROM, s.index,
                                  s.probability, &s.found, s.wrong),
                     LAPIS_OK);
    assert_int_equal(s.wrong[2], alone == 3 ? FROM : FROM - alone);
    bool doubted = false;
    for (int64_t k = 0; k < s.wrong[2]; k++) doubted |= s.index[2 * k] < alone;
    assert_true(doubted == (alone == 3));
  }
  lapis_ctx_free(ctx);
}

/* What is said is true: the range in nineteen of twenty, probabilities by the
 * share of such labels that are wrong, where p is as exact as can be. */
static void what_is_said_is_true(void **state)
{
  static const double flips[] = {0, .05, .1, .2}, apart[] = {2, 4, 6};
  enum { BANDS = 5, MANY = 200 };
  double all = 0, in = 0, listed[BANDS] = {0}, gap[BANDS] = {0};
  said s;
  for (int f = 0; f < 4; f++)
    for (int a = 0; a < 3; a++)
      for (uint64_t seed = 1; seed <= SEEDS; seed++)
        for (int n = 60; n <= FROM; n += 180) {
          doubt(&s, n, apart[a], flips[f], 0, seed);
          if (s.wrong[3] < 0) continue;
          all++;
          in += s.wrong[0] <= s.truth && s.truth <= s.wrong[1];
          assert_in_range(s.wrong[3], s.wrong[0], s.wrong[1]);
          if (s.wrong[3] == 0)
            assert_true(strstr(s.text, PROBABLY_NONE) != NULL ||
                        strstr(s.text, PERHAPS_NONE) != NULL);
          for (int k = 0; k < s.wrong[2] && !isnan(s.probability[k]); k++) {
            int band = (int)fmin(BANDS * s.probability[k], BANDS - 1);
            assert_true((s.probability[k] >= .5) == (k < s.found));
            listed[band]++;
            gap[band] += s.probability[k] - s.is_wrong[s.index[2 * k]];
          }
        }
  CHECK_AT_LEAST(in, .95 * all);
  CHECK_AT_LEAST(all, 1000);
  for (int k = 0; k < BANDS; k++) {
    CHECK_AT_LEAST(listed[k], MANY);
    CHECK_AT_MOST(gap[k] / listed[k], .12);
    CHECK_AT_LEAST(gap[k] / listed[k], -.2);
  }
}

/* Classes so much alike that half of the labels are predicted, by who knows how
 * often they are wrong: the range holds the truth, or is not said. */
static void alike_classes_hide_wrong_labels(void **state)
{
  enum { OF = 5 };
  static const double flips[] = {.02, .05, .1};
  double p[OF * FROM], all = 0, in = 0;
  lapis_ctx *ctx = lapis_ctx_new();
  said s;
  for (int f = 0; f < 3; f++)
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
      uint64_t draw = seed;
      double truth = 0;
      for (int j = 0; j < FROM; j++) {
        double q[OF], sum = 0, at = check_uniform(&draw);
        int is = 0;
        for (int c = 0; c < OF; c++) sum += q[c] = exp(2 * check_normal(&draw));
        for (int c = 0; c < OF; c++) {
          double known = q[c] / sum;
          p[OF * j + c] =
              (1 - flips[f]) * known + flips[f] * (1 - known) / (OF - 1);
          at -= known;
          if (at > 0 && c < OF - 1) is = c + 1;
        }
        bool wrong = check_uniform(&draw) < flips[f];
        truth += wrong;
        s.Y[j] = wrong ? (is + 1 + (int)(4 * check_uniform(&draw))) % OF : is;
      }
      lapis_mat Y = lapis_mat_f64(s.Y, 1, FROM),
                of = lapis_mat_f64(p, OF, FROM);
      assert_int_equal(lapis_doubts(ctx, &Y, NULL, &of, FROM, s.index,
                                    s.probability, &s.found, s.wrong),
                       LAPIS_OK);
      if (s.wrong[3] < 0) continue;
      all++;
      in += (double)s.wrong[0] <= truth && truth <= (double)s.wrong[1];
    }
  CHECK_AT_LEAST(all, 2 * SEEDS);
  CHECK_AT_LEAST(in, .95 * all);
  lapis_ctx_free(ctx);
}

/* What a discriminant of four features says of labels that it was not fitted
 * to, of one fifth at a time: the p of a fit, more extreme than is right. */
static void fit_p(const double *x, const double *Y, int n, double *p)
{
  enum { WIDE = 4, FIFTHS = 5 };
  for (int f = 0; f < FIFTHS; f++) {
    double mean[2][WIDE] = {{0}}, square[WIDE] = {0}, count[2] = {0};
    for (int j = 0; j < n; j++)
      for (int i = 0; j % FIFTHS != f && i < WIDE; i++) {
        mean[Y[j] > 0][i] += x[j * WIDE + i];
        count[Y[j] > 0] += i == 0;
      }
    for (int i = 0; i < WIDE; i++)
      for (int k = 0; k < 2; k++) mean[k][i] /= count[k];
    for (int j = 0; j < n; j++)
      for (int i = 0; j % FIFTHS != f && i < WIDE; i++)
        square[i] += pow(x[j * WIDE + i] - mean[Y[j] > 0][i], 2);
    for (int j = f; j < n; j += FIFTHS) {
      double z = log(count[1] / count[0]);
      for (int i = 0; i < WIDE; i++)
        z += (pow(x[j * WIDE + i] - mean[0][i], 2) -
              pow(x[j * WIDE + i] - mean[1][i], 2)) /
             2 / square[i] * (count[0] + count[1]);
      p[j] = 1 / (1 + exp(-z));
    }
  }
}

/* Classes that overlap: sure predictions contradict right labels, too, and what
 * is claimed is not far above what is found. */
static void what_a_fit_says_is_hardly_overstated(void **state)
{
  enum { WIDE = 4, n = 300, BANDS = 4 };
  static double x[n * WIDE];
  double listed[BANDS] = {0}, gap[BANDS] = {0};
  lapis_ctx *ctx = lapis_ctx_new();
  said s;
  for (uint64_t seed = 1; seed <= 60; seed++) {
    uint64_t draw = seed;
    for (int j = 0; j < n; j++) {
      bool is = check_uniform(&draw) < .5;
      for (int i = 0; i < WIDE; i++)
        x[j * WIDE + i] = check_normal(&draw) + .9 * (is - .5);
      s.is_wrong[j] = check_uniform(&draw) < .08;
      s.Y[j] = is != s.is_wrong[j];
    }
    fit_p(x, s.Y, n, s.p);
    lapis_mat Y = lapis_mat_f64(s.Y, 1, n), p = lapis_mat_f64(s.p, 1, n);
    assert_int_equal(lapis_doubts(ctx, &Y, NULL, &p, n, s.index, s.probability,
                                  &s.found, s.wrong),
                     LAPIS_OK);
    for (int k = 0; k < s.found && !isnan(s.probability[k]); k++) {
      int band = (int)fmin((s.probability[k] - .5) * 2 * BANDS, BANDS - 1);
      listed[band]++;
      gap[band] += s.probability[k] - s.is_wrong[s.index[2 * k]];
    }
  }
  for (int k = 0; k < BANDS; k++) {
    CHECK_AT_LEAST(listed[k], 50);
    CHECK_AT_MOST(gap[k] / listed[k], .3);
  }
  lapis_ctx_free(ctx);
}

int test_suspects(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(by_scores_and_by_doubts),
      cmocka_unit_test(a_group_that_is_contradicted_is_not_wrong),
      cmocka_unit_test(sure_contradictions_are_no_guesses),
      cmocka_unit_test(the_only_label_of_a_class_is_not_doubted),
      cmocka_unit_test(what_cannot_be_said_is_not),
      cmocka_unit_test(what_is_said_is_true),
      cmocka_unit_test(alike_classes_hide_wrong_labels),
      cmocka_unit_test(what_a_fit_says_is_hardly_overstated),
      cmocka_unit_test(by_folds)};
  return run_cases(tests, NULL, NULL);
}
