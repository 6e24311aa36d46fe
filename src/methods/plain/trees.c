/* trees.c - many trees: the plain methods without lines.
 *
 * Each tree splits the samples by features and thresholds drawn by lot, or by
 * the best of some features (op/learn/trees.c); the answer is the mean of what
 * the leaves hold.  What is missing of the features is filled by the mean of
 * what is there; a forest's trees have a side for it. */
#include <math.h>

#include "methods/plain/linear.h"

typedef struct forest {
  lapis_solver base;
  lapis_trees_settings set;
  linear_answer answer;
  double *fill; /* d */
  trees grown;
  double kind;   /* targets_kind, as a model keeps it */
  double scores; /* 1: shares are of scores */
} forest;

#define AT(field) offsetof(lapis_trees_settings, field)
static const lapis_param params[] = {
    CHOICE("kind", kind, "random|forest|boosted", .value = LAPIS_TREES_RANDOM,
           .arg = "K",
           .help = "extremely randomised trees: thresholds by lot (random); "
                   "a random forest: samples drawn with replacement, best "
                   "thresholds (forest); or each tree fits what those before "
                   "it leave over (boosted)"),
    PARAM_TARGETS,
    REAL("share", share, .value = NAN, ABOVE_TO(0, 1),
         .help =
             "share of the features that a split tries (auto: d^(1/2) of d; "
             "of numbers a third; boosted: all)"),
    INT("trees", trees, .symbol = "N", .value = 500, .low = 1, .high = 100000,
        .help = "how many are grown"),
    INT("leaf", leaf, .symbol = "N", .value = 0, AT_LEAST(0),
        .help =
            "the fewest samples that a leaf holds, of samples with weights the "
            "least sum of theirs (0: 1; boosted: a hundredth of those with a "
            "target, at most 20)"),
    INT("depth", depth, .symbol = "N", .value = 0, .low = 0, .high = 30,
        .help = "boosted: splits on the way to a leaf, at most (0: 4)"),
    REAL("rate", rate, .value = NAN, ABOVE_TO(0, 1),
         .help = "boosted: of what would fit best a tree adds so much (auto: "
                 "of N trees 10/N, of numbers 25/N)"),
    PARAM_TIME_LIMIT,
};

#define OF_CLASSES .where = "targets are classes"
static const lapis_result_row results[] = {
    RESULT("scores", "n x K",
           .help = "log-odds of yes, or of the class against all others; of "
                   "numbers what is predicted"),
    RESULT("probabilities", "n x K", OF_CLASSES,
           .help = "1 / (1 + e^-score) of yes; or of each class, these divided "
                   "by their sum"),
    RESULT_LABELS(OF_CLASSES),
    RESULT_CLASSES(),
    RESULT_NOTES,
};

const lapis_method trees_method = {
    .name = "trees",
    .title = "extremely randomised trees, random forests, boosted trees",
    .summary =
        "a plain method for borders of any shape: what many decision trees say "
        "together",
    .source = "[GEW06] [B01] [F01]",
    .reads = LAPIS_READS_X | LAPIS_READS_Y | LAPIS_READS_WEIGHT,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .results = results,
    .n_results = sizeof results / sizeof *results,
    .settings_size = sizeof(lapis_trees_settings)};

static bool later(void *user)
{
  return loop_next(user);
}

static bool is_known(const linear_answer *a, int64_t j)
{
  const double *y = a->numbers ? a->Y : a->labels.sign;
  for (int64_t c = 0; c < a->K; c++)
    if (!isnan(y[j * a->K + c])) return true;
  return false;
}

static int64_t leaf_of(const forest *w)
{
  int64_t known = 0;
  if (w->set.leaf > 0 || w->set.kind != LAPIS_TREES_BOOSTED)
    return w->set.leaf > 0 ? w->set.leaf : 1;
  for (int64_t j = 0; j < w->answer.n; j++) known += is_known(&w->answer, j);
  return known < 200 ? 1 : known > 2000 ? 20 : known / 100;
}

static double rate_of(const forest *w)
{
  double sum = w->answer.numbers ? 25 : 10; /* of all trees */
  return isnan(w->set.rate) ? fmin(sum / (double)w->set.trees, 1) : w->set.rate;
}

static lapis_status solve(lapis_solver *s)
{
  static const char *const columns[] = {"iteration"};
  forest *w = (forest *)s;
  linear_answer *a = &w->answer;
  trees_problem p = {.kind = (trees_kind)w->set.kind,
                     .numbers = a->numbers,
                     .classes = !a->numbers && a->labels.kind == TARGETS_CLASS,
                     .X = a->X.val,
                     .target = a->numbers ? a->Y : a->labels.sign,
                     .weight = a->weight,
                     .d = a->d,
                     .n = a->n,
                     .K = a->K,
                     .share = w->set.share,
                     .stored = a->made_of,
                     .count = w->set.trees,
                     .leaf = leaf_of(w),
                     .depth = w->set.depth > 0 ? w->set.depth : 4,
                     .rate = rate_of(w)};
  TRY(loop_begin(&s->loop, s->ctx, "trees", &w->set.stop, 1, columns));
  trees_free(&w->grown);
  TRY(trees_grow(s->ctx, &p, later, &s->loop, &w->grown));
  trees_answer_give(s, a, &w->grown);
  s->info.seconds = loop_seconds(&s->loop);
  return w->grown.count == w->set.trees ? LAPIS_OK : s->loop.status;
}

static lapis_status learn(lapis_solver *s)
{
  forest *w = (forest *)s;
  const trees *t = &w->grown;
  named_list *to = &s->learned;
  named_put(to, "roots", lapis_mat_f64(t->root, 1, t->count));
  named_put(to, "nodes", lapis_mat_f64(t->node, TREES_NODE, t->nodes));
  named_put(to, "shares", lapis_mat_f64(t->share, t->K, t->leaves));
  w->scores = t->scores;
  if (t->scores) named_put(to, "scores", lapis_mat_f64(&w->scores, 1, 1));
  linear_learn(to, &w->answer, w->fill, &w->kind);
  return LAPIS_OK;
}

/* ---- constructor --------------------------------------------------------*/
static void release(lapis_solver *s)
{
  forest *w = (forest *)s;
  targets_free(&w->answer.labels);
  trees_free(&w->grown);
}

static lapis_status calibrate(lapis_solver *s, const lapis_mat *slopes)
{
  return linear_calibrate(s, &((forest *)s)->answer, slopes);
}

static const solver_class trees_class = {.method = "trees",
                                         .solve = solve,
                                         .free = release,
                                         .calibrate = calibrate,
                                         .learn = learn};

/* Without the trees themselves, which are weighed as they grow. */
double trees_holds(const solver_size *z, const void *settings)
{
  (void)settings;
  return 3 * z->features + 9 * z->K * z->n;
}

lapis_status trees_new(lapis_ctx *ctx, const lapis_data *data,
                       const void *settings, lapis_solver **out)
{
  lapis_solver *s;
  const lapis_trees_settings *set = settings;
  *out = NULL;
  TRY(linear_check(ctx, "trees", data));
  if (set->kind != LAPIS_TREES_BOOSTED && set->depth > 0)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "trees: {depth %" PRId64
                      "} is of boosted trees; give {kind boosted}",
                      set->depth);
  if (set->kind != LAPIS_TREES_BOOSTED && !isnan(set->rate))
    return lapis_fail(
        ctx, LAPIS_EINVAL,
        "trees: {rate %g} is of boosted trees; give {kind boosted}", set->rate);
  TRY(solver_alloc(ctx, &trees_class, sizeof(forest), &s));
  forest *w = (forest *)s;
  w->set = *(const lapis_trees_settings *)settings;
  w->set.stop.max_iters = LOOP_MOST;
  w->answer.numbers = w->set.targets == LAPIS_TARGETS_NUMBERS;
  w->answer.gaps = w->set.kind != LAPIS_TREES_RANDOM;
  s->settings = &w->set;
  return solver_deliver(s, linear_begin(s, &w->answer, data, &w->fill), out);
}
