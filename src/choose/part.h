/* part.h - one fold's training and hidden part, ready to be solved. */
#ifndef LAPIS_PART_H
#define LAPIS_PART_H
#include "choose/select.h"
#include "lapis/choose.h"
#include "mat/bags.h"
#include "solver/solver.h"

/* What all folds of a transductive method have in common: every feature is
 * shown in each, so that they are mapped once, and one solver, made of all
 * labels, takes those that a fold shows. */
typedef struct part_common {
  bool mapped, refused; /* refused: the method wants a solver a fold */
  lapis_mat X;          /* mapped */
  double *memory;       /* behind X, or NULL */
  lapis_solver *solver; /* or NULL */
} part_common;
void part_common_free(part_common *c);

/* What a whole cross-validation shares. */
typedef struct part_source {
  lapis_ctx *ctx;
  const lapis_method *method;
  const lapis_data *data;
  const lapis_cv_options *options;
  const fold_plan *plan;
  const targets *labels; /* signs of all samples; classes 0: real targets */
  const lapis_metric_kind *metric;
  bool transductive;
  part_common *common;
} part_source;

typedef struct part {
  const part_source *from;
  int64_t fold;
  bool *hidden; /* n marks: samples of which something is hidden */
  int64_t *row; /* n: the samples that are not, then the others */
  int64_t shown;
  lapis_data train, test;
  fold_part kept, away; /* behind train and test, if they are no views */
  double *memory[12];   /* behind what is mapped, truth and given */
  int n_memory;
  lapis_map *map, *map_priv;
  lapis_solver *solver; /* kept from point to point; own, or the common one */
  lapis_mat truth;      /* of the hidden samples: signs or values */
  lapis_mat given;      /* the same as Y has it */
  bag_list bags;        /* of the hidden samples, where bags are judged */
} part;

/* What folds have in common, made before the first of them for processes that
 * share it; settings: of the first point. */
lapis_status part_share(const part_source *from, const void *settings);
lapis_status part_open(const part_source *from, int64_t fold, part *out);
void part_close(part *p);
/* Solves with these settings; scores of the hidden samples, in order, into
 * scores (K x hidden), and their labels in the values of Y into labels (the
 * shape of given; NULL: not wanted).  LAPIS_EDATA where this fold cannot be
 * judged. */
lapis_status part_answers(part *p, const void *settings, double *scores,
                          double *labels);

#endif
