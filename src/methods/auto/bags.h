/* bags.h - auto of bags: each is one sample of statistics of its instances,
 * and misvm, which reads the instances, competes. */
#ifndef LAPIS_AUTO_BAGS_H
#define LAPIS_AUTO_BAGS_H
#include "folds/folds.h"
#include "mat/bags.h"
#include "methods/auto/compare.h"

#define BAG_RESULTS(...)                              \
  RESULT("instance_scores", "n",                      \
         .help = "of each instance, by misvm: above " \
                 "0 speaks for the larger value",     \
         __VA_ARGS__),                                \
      RESULT("instance_labels", "n", .help = "what that decides", __VA_ARGS__)

typedef struct bagged {
  lapis_data data; /* of instances; arrays are borrowed */
  bag_list list;
  double *X, *Y;      /* statistics x bags, 1 x bags */
  double least, most; /* of Y */
} bagged;
/* Refuses what are no bags. */
lapis_status bagged_make(lapis_ctx *ctx, const lapis_data *data, bagged *out);
void bagged_free(bagged *b);
/* Refuses settings that bags do not go with. */
lapis_status bags_check(lapis_ctx *ctx, const lapis_auto_settings *set);
/* Remarks what a bag is as a sample, and whether misvm can run, too; refuses
 * what leaves no candidate. */
lapis_status bags_say(lapis_ctx *ctx, const bagged *b, auto_options *o);
lapis_data bagged_data(const bagged *b);

/* misvm of instances, and what its model says of others; gaps of features are
 * filled by what the instances shown have of the others (map). */
typedef struct bag_svm {
  fold_part shown, asked;
  lapis_solver *fit, *said;
  double *turned; /* Y of those shown, turned; or NULL */
  lapis_map *map; /* impute, where X has gaps, or NULL */
  double *filled; /* X of those shown, behind it */
  lapis_model *model;
} bag_svm;

void bag_svm_free(bag_svm *w);
/* Of bags that are marked in `shown` and in `asked`. */
typedef struct candidate candidate;
lapis_status bag_svm_run(lapis_ctx *ctx, const bagged *b, const candidate *like,
                         const bool *shown, const bool *asked, bag_svm *w);
/* Its model, which fills gaps as it did. */
lapis_status bag_svm_model(const bag_svm *w, lapis_model **out);

/* What candidate i says of all bags, or (race NULL) what answers where nothing
 * could be compared, and misvm of their instances, where it took part; a column
 * an instance. */
lapis_status bags_answer_new(lapis_ctx *ctx, const comparison *race, int i,
                             const auto_options *o, const lapis_data *data,
                             const lapis_mc_settings *set, lapis_solver **out);

#endif
