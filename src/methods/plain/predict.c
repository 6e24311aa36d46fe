/* predict.c - new samples: gaps filled as in the fit, then the same lines, or
 * trees. */
#include "methods/plain/linear.h"

#include <math.h>

/* Predicting leaves nothing to choose. */
typedef struct no_settings {
  size_t size;
} no_settings;
#define OF_CLASSES .where = "targets are classes"
static const lapis_result_row results[] = {
    RESULT("scores", "n x K",
           .help = "log-odds of yes, or of the class against all others; of "
                   "numbers what is predicted"),
    RESULT("probabilities", "n x K", OF_CLASSES,
           .help = "of yes, or of each class"),
    RESULT("labels", "n x c", OF_CLASSES,
           .help = "what is decided by the scores, as Y was written"),
    RESULT_CLASSES(),
    RESULT_SETS(RESULT_COVERED),
    RESULT_INTERVALS(RESULT_COVERED),
    RESULT_NOTES,
};

const lapis_method linear_predict_method = {
    .name = "linear",
    .title = "lines: predicting",
    .summary = "scores, probabilities and labels of new samples",
    .source = "[HTF09]",
    .reads = LAPIS_READS_X,
    .results = results,
    .n_results = sizeof results / sizeof *results,
    .settings_size = sizeof(no_settings)};
const lapis_method trees_predict_method = {
    .name = "trees",
    .title = "many trees: predicting",
    .summary = "scores, probabilities and labels of new samples",
    .source = "[GEW06] [B01] [F01]",
    .reads = LAPIS_READS_X,
    .results = results,
    .n_results = sizeof results / sizeof *results,
    .settings_size = sizeof(no_settings)};

typedef struct plain_predict {
  lapis_solver base;
  no_settings set;
  linear_answer answer;
  const double *W; /* of the model; NULL: trees answer */
  trees grown;     /* the model's arrays */
} plain_predict;

static lapis_status solve(lapis_solver *s)
{
  plain_predict *w = (plain_predict *)s;
  if (w->W != NULL)
    linear_answer_give(s, &w->answer, w->W);
  else
    trees_answer_give(s, &w->answer, &w->grown);
  return LAPIS_OK;
}

static void release(lapis_solver *s)
{
  (void)s; /* all of it is the arena's, or the model's */
}

static const solver_class linear_class = {
    .method = "linear", .solve = solve, .free = release};
static const solver_class trees_class = {
    .method = "trees", .solve = solve, .free = release};

static lapis_status read_weights(plain_predict *w, const named_list *learned)
{
  const lapis_mat *W = named_numbers(learned, "weights", -1, -1);
  if (W == NULL || W->rows < 2 || W->cols < 1)
    return linear_bad_model(w->base.ctx, "linear");
  w->answer.d = W->rows - 1;
  w->answer.K = W->cols;
  w->W = W->val;
  return LAPIS_OK;
}

/* Somebody may have written the file: every way down ends at a leaf. */
static bool leads_to_leaves(const trees *t, int64_t d)
{
  for (int64_t k = 0; k < t->count; k++)
    if (!number_is_whole(t->root[k], 0, (double)t->nodes - 1)) return false;
  for (int64_t k = 0; k < t->nodes; k++) {
    const double *at = t->node + TREES_NODE * k;
    bool leaf = at[TREES_FEATURE] == -1;
    double least = leaf ? 0 : (double)k + 1;
    double most = (double)(leaf ? t->leaves - 1 : t->nodes - 2);
    double child = leaf ? at[TREES_CHILD] : fabs(at[TREES_CHILD]);
    if (!leaf && !number_is_whole(at[TREES_FEATURE], 0, (double)d - 1))
      return false;
    if (isnan(at[TREES_THRESHOLD]) || !number_is_whole(child, least, most))
      return false;
  }
  return true;
}

/* Or any numbers, where they are of scores. */
static bool are_shares(const trees *t)
{
  for (int64_t k = 0; k < t->K * t->leaves && !t->scores; k++)
    if (!(t->share[k] >= 0 && t->share[k] <= 1)) return false;
  return true;
}

static lapis_status read_trees(plain_predict *w, const named_list *learned)
{
  const lapis_mat *root = named_numbers(learned, "roots", 1, -1);
  const lapis_mat *node = named_numbers(learned, "nodes", TREES_NODE, -1);
  const lapis_mat *share = named_numbers(learned, "shares", -1, -1);
  const lapis_mat *fill = named_numbers(learned, "fill", -1, 1);
  if (root == NULL || node == NULL || share == NULL || fill == NULL ||
      root->cols < 1 || share->rows < 1 || fill->rows < 1)
    return linear_bad_model(w->base.ctx, "trees");
  w->answer.d = fill->rows;
  w->answer.K = share->rows;
  w->grown = (trees){.K = share->rows,
                     .count = root->cols,
                     .nodes = node->cols,
                     .leaves = share->cols,
                     .scores = named_numbers(learned, "scores", 1, 1) != NULL,
                     .root = root->val,
                     .node = node->val,
                     .share = share->val};
  if (leads_to_leaves(&w->grown, w->answer.d)) return LAPIS_OK;
  return linear_bad_model(w->base.ctx, "trees");
}

static lapis_status predict_new(lapis_ctx *ctx, const solver_class *cls,
                                const lapis_data *data,
                                const named_list *learned, const void *options,
                                lapis_solver **out)
{
  lapis_solver *s;
  *out = NULL;
  TRY(solver_alloc(ctx, cls, sizeof(plain_predict), &s));
  plain_predict *w = (plain_predict *)s;
  w->set = *(const no_settings *)options;
  s->settings = &w->set;
  lapis_status status =
      cls == &linear_class ? read_weights(w, learned) : read_trees(w, learned);
  w->answer.sparse = w->W != NULL;
  if (status >= 0) status = linear_take_model(s, &w->answer, data, learned);
  if (status >= 0 && w->W == NULL && !w->answer.numbers &&
      !are_shares(&w->grown))
    status = linear_bad_model(ctx, "trees");
  return solver_deliver(s, status, out);
}

lapis_status linear_predict_new(lapis_ctx *ctx, const lapis_data *data,
                                const void *settings, const named_list *learned,
                                const void *options, lapis_solver **out)
{
  (void)settings;
  return predict_new(ctx, &linear_class, data, learned, options, out);
}

lapis_status trees_predict_new(lapis_ctx *ctx, const lapis_data *data,
                               const void *settings, const named_list *learned,
                               const void *options, lapis_solver **out)
{
  (void)settings;
  return predict_new(ctx, &trees_class, data, learned, options, out);
}
