/* model.h - what was learnt, between the files of this folder. */
#ifndef LAPIS_MODEL_H
#define LAPIS_MODEL_H
#include "solver/solver.h"

struct lapis_model {
  const lapis_method *method;
  int64_t features; /* of the samples learnt from, maps applied; 0: unknown */
  void *settings;   /* the method's struct; text values are not kept */
  lapis_map *map, *map_priv;
  named_list learned; /* owns names and arrays */
  /* joined.h: whose completion fills what is missing of X, in the space behind
   * its map; and whose probabilities are part of the answer, with those of the
   * model beside it.  Or NULL. */
  lapis_model *filler, *beside;
  /* bagged.h, method auto: who answers for bags by their statistics, or NULL;
   * and for their instances, or NULL. */
  lapis_model *bags, *instances;
  lapis_model *fold; /* coverage.h: fitted without the first fold; its own is
                      * without the next; or NULL */
};

/* Seconds between two writes at least; 1 to begin with. */
void checkpoint_every(lapis_checkpoint *c, double seconds);
/* Copies name and mat (numbers or text) into the model. */
lapis_status model_put(lapis_ctx *ctx, lapis_model *m, const char *name,
                       const lapis_mat *mat);
/* What a run is of, as JSON: the kind of file and its format, the method, its
 * settings, hashes of the data, the seed, and what else decides the answer,
 * "NAME=VALUE" each.  The data are those of all processes.  *out: malloc'd. */
lapis_status run_header(lapis_ctx *ctx, const char *kind, int format,
                        const lapis_method *m, const lapis_data *data,
                        const void *settings, const char *const *also,
                        int n_also, char **out);
/* Forgets what stands under this name, if anything does. */
void model_drop(lapis_model *m, const char *name);
lapis_status model_alloc(lapis_ctx *ctx, const lapis_method *method,
                         lapis_model **out);

#endif
