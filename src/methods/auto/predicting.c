/* predicting.c - what models of auto answer: those of a fit to bags, and those
 * of one without targets; others are of the method that was chosen. */
#include "lapis/rows.h"
#include "methods/auto/auto.h"
#include "methods/auto/bags.h"
#include "methods/common_remarks.h"

#define OF_BAGS .where = "the fit was of bags"
typedef struct no_settings {
  size_t size;
} no_settings;
static const lapis_result_row predicted[] = {
    RESULT("completed", "n x d", .where = "the fit had no targets",
           .help = "X with its gaps filled"),
    RESULT("scores", "n x K", OF_BAGS, .help = "of the bag of each instance"),
    RESULT("probabilities", "n x K", OF_BAGS,
           .help = "of yes, or of each class"),
    RESULT("labels", "n x c", OF_BAGS, .help = "of the bag, as Y was written"),
    RESULT_CLASSES(),
    BAG_RESULTS(.where = "misvm took part in the fit"),
    RESULT_NOTES,
};
const lapis_method auto_predict_method = {
    .name = "auto",
    .title = "the best of several methods: predicting",
    .summary = "scores, probabilities and labels of new bags",
    .source = "docs/defaults.md",
    .reads = LAPIS_READS_X | LAPIS_READS_GROUP,
    .completes = true,
    .results = predicted,
    .n_results = sizeof predicted / sizeof *predicted,
    .settings_size = sizeof(no_settings),
};
