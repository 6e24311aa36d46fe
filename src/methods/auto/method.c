/* method.c - the settings and results of auto. */
#include <math.h>

#include "lapis/rows.h"
#include "methods/auto/ask.h"
#include "methods/auto/auto.h"
#include "methods/auto/bags.h"
#include "methods/auto/cover.h"
#include "methods/auto/holes.h"

#define AT(field) offsetof(lapis_auto_settings, field)
#define OF_MC .goes_with = "targets=auto|classes !candidates,candidates=mc"
static const lapis_param params[] = {
    TEXT("candidates", candidates, .arg = "M,M",
         .help = "methods that compete, of mc, linear and trees (of numbers "
                 "rr, linear and trees; of bags misvm, too); all of them where "
                 "none is named; one with settings, as the result choice has "
                 "it, answers without a comparison"),
    PARAM_TARGETS,
    BOOL("bags", bags, .goes_with = "group",
         .help = "groups are bags of instances, and Y is the label of the bag, "
                 "repeated for each of its rows"),
    TEXT("map", map, .arg = "MAP",
         .help = "how features are changed before any candidate reads them; "
                 "chosen where it is not given"),
    CHOICE("variant", variant, LAPIS_MC_VARIANTS, .value = LAPIS_MC_1,
           .arg = "V", OF_MC,
           .help = "of mc: which features are possible; its help says what "
                   "each means"),
    CHOICE("labels", labels, LAPIS_MC_CODINGS, .value = LAPIS_MC_LABELS_AUTO,
           .arg = "L", OF_MC,
           .help = "of mc: the numbers that code the two values of a label; "
                   "auto: chosen"),
    REAL("lambda", lambda, .symbol = "lambda", .value = NAN, ABOVE(0), OF_MC,
         .help = "of mc: weight of the labels against the features; auto: "
                 "chosen"),
    REAL("gamma", gamma, .symbol = "gamma", .value = NAN, ABOVE(0), OF_MC,
         .help = "of mc: how sharply labels are separated; auto: chosen"),
    REAL("mu-rel", mu_rel, .value = NAN, ABOVE(0), OF_MC,
         .help = "of mc: mu relative to the smallest mu whose solution is "
                 "zero; auto: chosen"),
    CHOICE("absent", absent, "zero|missing", .value = LAPIS_ABSENT_ZERO,
           .arg = "A",
           .help = "entries that a sparse X leaves out are 0, or not observed"),
    BOOL("class-features", class_features, OF_MC,
         .help = "of mc: also write the features of a sample that has only one "
                 "class, for each class (class_features)"),
    INT("held-out", held_out, .value = 0, AT_LEAST(0),
        .help = "predict every known label once more while it is hidden, in "
                "so many folds (result held_out)"),
    REAL_IN("coverage", coverage, "C", .value = 0, FROM_TO(0, .999),
            .help = "answer with the set of classes, or the interval, that "
                    "holds the truth for this share of new samples, such as "
                    ".9; 0: without"),
    CHOICE("coverage-by", coverage_by, "all|class", .value = LAPIS_COVERAGE_ALL,
           .arg = "B", .goes_with = "coverage",
           .help = "the share is one of all new samples, or of those of each "
                   "class"),
    INT_IN("ask", ask, "N", .value = 0, FROM_TO(0, 1e6), .goes_with = "!bags",
           .help = "also the N samples without a label whose labels would help "
                   "most: answers are unsure, and features unlike each other "
                   "(ask_index)"),
    BOOL("importance", importance, .goes_with = "!bags",
         .help = "also how much worse hidden labels, or numbers, are predicted "
                 "once the values of a feature are shuffled (importance)"),
    CHOICE("outliers", outliers, "omit|learn", .value = LAPIS_OUTLIERS_OMIT,
           .arg = "O", .goes_with = "targets=auto|numbers",
           .help = "of numbers: known ones that are far from what all others "
                   "say of them are not known (omit), or count as all do "
                   "(learn)"),
    CHOICE("doubted", doubted, "learn|omit", .value = LAPIS_DOUBTED_LEARN,
           .arg = "D", .goes_with = "targets=auto|classes !bags",
           .help = "of labels: known ones that are likelier wrong than right, "
                   "by what is said of them while they are hidden, count as "
                   "all do (learn), or are not known (omit)"),
    BOOL("fill", fill,
         .help = "also fill the gaps of X (completed), as without targets"),
    PARAM_TOL(1e-4, "stop mc when its objective is proved to be within this "
                    "share of the best one"),
    PARAM_MAX_ITERS(10000),
    PARAM_TIME_LIMIT,
};

#define FILLED .where = "gaps are filled"
#define RESULT_COMPLETED                                                      \
  RESULT("completed", "n x d", FILLED, .help = "X"),                          \
      RESULT("fill_ways", "ways", FILLED, .type = LAPIS_TEXT, .help = "how"), \
      RESULT("fill_weights", "d x ways", FILLED,                              \
             .help = "their weights in the mean"),                            \
      RESULT("fill_error", "d", FILLED,                                       \
             .help =                                                          \
                 "root mean squared error of hidden cells, in deviations; "   \
                 "1 where none was hidden")
#define COMPARED .where = "labels were hidden"
#define STEPS .where = "who answers, or its first part, takes steps"
static const lapis_result_row results[] = {
    RESULT(
        "scores", "n x K", .where = "there are targets",
        .help =
            "of the one that answers; of a mean its probabilities; of numbers "
            "what is predicted"),
    RESULT("probabilities", "n x K",
           .where = "labels were hidden, and are not numbers",
           .help = "of yes, or of each class"),
    RESULT_LABELS(.where = "targets are classes"),
    RESULT_CLASSES(),
    RESULT_LOW_RANK(.where = "mc, or rr, has a part in the answer",
                    .help = "features after the map, repaired and completed"),
    RESULT_SPARSE(.where = "low_rank is there"),
    RESULT("class_features", "K x d", .when = "class-features",
           .where = "low_rank is there",
           .help =
               "the features of a sample of only one class, for each class"),
    BAG_RESULTS(.when = "bags", .where = "misvm took part"),
    RESULT_CHOICE,
    RESULT_HELD_OUT,
    RESULT_SETS(.when = "coverage", COMPARED),
    RESULT_INTERVALS(.when = "coverage", COMPARED),
    RESULT_ASKED,
    RESULT("importance", "d x 3", .when = "importance", COMPARED,
           .help = "how much more log-loss hidden labels have once the values "
                   "of the feature are shuffled, or R^2 that hidden numbers "
                   "lose, and its standard error; of names that became "
                   "features of 0 and 1, all of them together; and whether the "
                   "answer, number or probability of yes, rises with the "
                   "feature, up to 1, or falls, down to -1"),
    RESULT("outliers", "outliers x 2",
           .where = "targets are numbers, some far from what all others say",
           .help = "their samples and targets, from 0, the farthest first"),
    RESULT("doubted", "doubted x 3", .when = "doubted=omit",
           .where = "some known labels are likelier wrong than right",
           .help = "known labels that are left out, the most doubtful first: "
                   "sample and class that it rather is (of two classes, and "
                   "of several labels, the label), from 0, and the "
                   "probability that it is wrong"),
    RESULT_COMPLETED,
    RESULT("history", "checks x columns", STEPS,
           .help = "the course of the solve"),
    RESULT("history_columns", "columns", .type = LAPIS_TEXT, STEPS,
           .help = "names of the columns of history"),
    RESULT_NOTES,
};

double auto_holds(const solver_size *z, const void *settings)
{
  const lapis_auto_settings *set = settings;
  double choosing = 14 * z->d * z->n + 70 * (z->K + 1) * z->n;
  return z->K > 0 ? choosing + set->fill * holes_hold(z) : holes_hold(z);
}

const lapis_method auto_method = {
    .name = "auto",
    .title = "the best of several methods",
    .summary = "predict labels or numbers by the method that predicts hidden "
               "ones best",
    .source = "docs/defaults.md",
    .reads =
        LAPIS_READS_X | LAPIS_READS_Y | LAPIS_READS_GROUP | LAPIS_READS_WEIGHT,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .results = results,
    .n_results = sizeof results / sizeof *results,
    .settings_size = sizeof(lapis_auto_settings),
    .joint = true,
};
