/* map_stages.h - the stages that a map is made of, as its spec names them. */
#ifndef LAPIS_MAP_STAGES_H
#define LAPIS_MAP_STAGES_H
#include "mat/seen.h"
#include "op/map/kernel_map.h"

enum { MAX_STAGES = 8, MAX_BLOCKS = 16 };

typedef enum stage_kind {
  STAGE_L1,
  STAGE_L2,
  STAGE_SQRT,
  STAGE_STANDARD,
  STAGE_SCALE,
  STAGE_AUTO_SCALE,
  STAGE_BALANCE,
  STAGE_IMPUTE,
  STAGE_TRIM,
  STAGE_CHI2
} stage_kind;

struct lapis_map {
  char *spec;
  int n_stages;
  struct {
    stage_kind kind;
    double number; /* of STAGE_SCALE */
  } stage[MAX_STAGES];
  int n_blocks;              /* 0: the rows are one block */
  int64_t block[MAX_BLOCKS]; /* rows of each, before any stage */
  kernel_map kernel;         /* behind all stages, where there is one */
  /* Of the stages in order: of standard the means and deviations of its rows,
   * of scale:auto its number, of impute its factors,
   * of trim medians and limits; then what the kernel's
   * features need. */
  double *state;
  int64_t n_state;
  mat_seen *seen; /* of the features it was fitted to, or NULL */
  int64_t n_seen, samples;
};

/* The stages of m->spec, all else of m being 0. */
lapis_status map_read_spec(lapis_ctx *ctx, lapis_map *m);

#endif
