/* rows.h - how a parameter table is written: for the files that have
 * one.  Its short names belong to nobody else, and it promises nothing.
 *
 * A row gives the name that users type and the field of the settings struct,
 * then, each by its name, what else a lapis_param says:
 *
 *   REAL("mu-decay", mu_decay, .symbol = "eta", .value = 0.25,
 *        ABOVE_TO(0, 1), .help = "factor from one mu to the next")
 *
 * .value is the default; REAL and INT need bounds.  A file that has a table
 * defines AT(field), the offset of a field in its settings struct. */
#ifndef LAPIS_PUBLIC_ROWS
#define LAPIS_PUBLIC_ROWS
#include <math.h>

#include "lapis.h"

#define ROW(kind, row, field, ...)                              \
  {                                                             \
    .name = row, .type = kind, .offset = AT(field), __VA_ARGS__ \
  }
#define REAL_IN(row, field, unit, ...) /* unit: how help names the value */ \
  ROW(LAPIS_PARAM_REAL, row, field, .arg = unit, __VA_ARGS__)
#define INT_IN(row, field, unit, ...) \
  ROW(LAPIS_PARAM_INT, row, field, .arg = unit, __VA_ARGS__)
#define REAL(row, field, ...) REAL_IN(row, field, "X", __VA_ARGS__)
#define INT(row, field, ...) INT_IN(row, field, "N", __VA_ARGS__)
#define BOOL(row, field, ...) ROW(LAPIS_PARAM_BOOL, row, field, __VA_ARGS__)
#define CHOICE(row, field, words, ...) /* words: "mc1|pos|simplex" */ \
  ROW(LAPIS_PARAM_ENUM, row, field, .choices = words, __VA_ARGS__)
#define TEXT(row, field, ...) ROW(LAPIS_PARAM_TEXT, row, field, __VA_ARGS__)

/* Bounds of a REAL or an INT. */
#define AT_LEAST(least) .low = (least), .high = INFINITY
#define FROM_TO(least, most) .low = (least), .high = (most)
#define ABOVE(bound) .low = (bound), .high = INFINITY, .above = true
#define ABOVE_TO(bound, most) .low = (bound), .high = (most), .above = true
#define ANY_NUMBER .low = -INFINITY, .high = INFINITY

/* An array that the method answers with: its name, its shape, and by their
 * names what else a lapis_result_row says. */
#define RESULT(called, size, ...)                  \
  {                                                \
    .name = (called), .shape = (size), __VA_ARGS__ \
  }
#define RESULT_LABELS(...)                                         \
  RESULT("labels", "n x c",                                        \
         .help = "what is decided by the scores, as Y is written", \
         __VA_ARGS__)
#define RESULT_CLASSES(...)                                              \
  RESULT("classes", "K", .where = "a label has several classes",         \
         .help = "the value of Y that each column of scores speaks for", \
         __VA_ARGS__)
#define RESULT_LOW_RANK(...) RESULT("low_rank", "n x d", __VA_ARGS__)
#define RESULT_SPARSE(...)                                         \
  RESULT("sparse", "n x d",                                        \
         .help = "X - low_rank where X was observed, 0 elsewhere", \
         __VA_ARGS__)
#define RESULT_FILLED(...)  \
  RESULT("filled", "n x d", \
         .help = "X, with what was covered taken from low_rank", __VA_ARGS__)
#define RESULT_USED                                                        \
  RESULT("used", "n", .where = "Y has gaps",                               \
         .help = "1 for samples with all their targets, which are learnt " \
                 "from, else 0")
#define RESULT_HISTORY                                                      \
  RESULT("history", "checks x columns", .help = "the course of the solve"), \
      RESULT("history_columns", "columns", .type = LAPIS_TEXT,              \
             .help = "names of the columns of history")
/* Of what was chosen by hidden labels. */
#define RESULT_CHOICE                                                          \
  RESULT("candidates", "candidates x 2", .type = LAPIS_TEXT,                   \
         .where = "settings were chosen",                                      \
         .help = "method and settings of what was compared, best first"),      \
      RESULT("candidate_figures", "candidates x 10",                           \
             .where = "candidates is there",                                   \
             .help = "log-loss of hidden labels, its standard error, AUROC, "  \
                     "accuracy, from and to of the 95 % interval of that of "  \
                     "new samples, log-loss less the first one's, its error; " \
                     "1 where it has clearly learnt; accuracy of always "      \
                     "the commonest answer; of numbers squared "               \
                     "errors relative to the mean's in place of log-loss, "    \
                     "R^2 in that of AUROC"),                                  \
      RESULT("chosen", "1", .where = "candidates is there",                    \
             .help = "the row of the one that answers, from 0"),               \
      RESULT("choice", "1", .type = LAPIS_TEXT,                                \
             .where = "candidates is there",                                   \
             .help = "the one that answers, in words that candidates reads"),  \
      RESULT("hidden", "5", .where = "candidates is there",                    \
             .help = "labels hidden, folds, what was hidden together (1 "      \
                     "rows, 2 groups, 3 cells), log-loss of guessing, "        \
                     "candidates added at an end")
#define RESULT_HELD_OUT                                                 \
  RESULT("held_out", "n x K", .when = "held-out",                       \
         .where = "labels were hidden",                                 \
         .help = "probabilities of known labels, or known numbers, as " \
                 "predicted while they were hidden; NaN where none is known")
/* Of answers with a stated coverage: of labels, and of numbers. */
#define RESULT_SETS(...)                                                     \
  RESULT("classes_kept", "n x values", __VA_ARGS__,                          \
         .help = "1 for classes in the set of a sample, else 0; of several " \
                 "labels no and yes of each"),                               \
      RESULT("kept_values", "values", __VA_ARGS__,                           \
             .help = "the value of Y of each column of classes_kept")
#define RESULT_INTERVALS(...)                                 \
  RESULT("set_low", "n x K", __VA_ARGS__,                     \
         .help = "of numbers the lower end of the interval"), \
      RESULT("set_high", "n x K", __VA_ARGS__,                \
             .help = "of numbers its upper end")
#define RESULT_COVERED .where = "the model was fitted with --coverage"
#define RESULT_ASKED                                                         \
  RESULT("ask_index", "asked", .type = LAPIS_I64, .when = "ask",             \
         .where = "some samples have no label",                              \
         .help = "samples, from 0, whose labels would help most"),           \
      RESULT("ask_margin", "asked", .where = "ask_index is there",           \
             .help = "how sure their answers are, the least first: "         \
                     "probability of the best class less that of the next, " \
                     "of several labels the mean of those not known")
#define RESULT_NOTES                               \
  RESULT("notes", "notes x 3", .type = LAPIS_TEXT, \
         .where = "something was remarked",        \
         .help = "of data and answer: note or warning, a name, a sentence")

/* Rows that many tables have, for settings with a `stop` and a `certificate`.
 */
#define PARAM_CERTIFICATE          \
  BOOL("certificate", certificate, \
       .help = "also write the multiplier that proves the gap (dual)")
#define PARAM_TARGETS                                                         \
  CHOICE("targets", targets, "auto|classes|numbers",                          \
         .value = LAPIS_TARGETS_AUTO, .arg = "T",                             \
         .help = "what Y holds; auto: numbers where most values stand for a " \
                 "sample or two, or have fractions, else classes")
#define PARAM_TOL(preset, text) \
  REAL("tol", stop.tol, .value = (preset), FROM_TO(0, 1), .help = (text))
#define PARAM_MAX_ITERS(count)                                    \
  INT("max-iters", stop.max_iters, .value = (count), AT_LEAST(0), \
      .help = "stop after this many iterations")
#define PARAM_TIME_LIMIT_AT(field)                                  \
  REAL_IN("time-limit", field, "S", .value = INFINITY, AT_LEAST(0), \
          .help = "stop after this many seconds")
#define PARAM_TIME_LIMIT PARAM_TIME_LIMIT_AT(stop.seconds)

/* Rows beside `net`, of what runs a network: of fields layer, shape, .. bgr;
 * what each of them also says, or nothing. */
#define PARAMS_OF_NET(...)                                                  \
  TEXT("layer", layer, .arg = "NAME",                                       \
       .help = "output, or value inside the network, that describes an "    \
               "image (default: the first output)",                         \
       __VA_ARGS__),                                                        \
      TEXT("size", shape, .arg = "WxH",                                     \
           .help = "size an image is brought to (default: the network's)",  \
           __VA_ARGS__),                                                    \
      REAL("scale", scale, .value = NAN, ABOVE(0),                          \
           .help = "factor of levels, which are 0 to 255 (default: as the " \
                   "file says, else 1/255)",                                \
           __VA_ARGS__),                                                    \
      TEXT("mean", mean, .arg = "X,X,X",                                    \
           .help = "what is then taken off each channel (default: as the "  \
                   "file says, else 0)",                                    \
           __VA_ARGS__),                                                    \
      TEXT("std", std, .arg = "X,X,X",                                      \
           .help = "what each channel is then divided by (default: as the " \
                   "file says, else 1)",                                    \
           __VA_ARGS__),                                                    \
      BOOL("bgr", bgr, .help = "channels are blue, green, red", __VA_ARGS__)

/* The fields of these rows and net, from the settings of one kind to those of
 * another: onnx, onnx-map, locate. */
#define COPY_OF_NET(to, from)                                \
  ((to)->net = (from)->net, (to)->layer = (from)->layer,     \
   (to)->shape = (from)->shape, (to)->scale = (from)->scale, \
   (to)->mean = (from)->mean, (to)->std = (from)->std,       \
   (to)->bgr = (from)->bgr)

#endif
