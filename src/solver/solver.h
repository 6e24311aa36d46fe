/* solver.h - what every solver begins with. */
#ifndef LAPIS_SOLVER_H
#define LAPIS_SOLVER_H
#include "base/base.h"
#include "base/notes.h"
#include "solver/loop.h"

enum { NAMED_MAX = 32 };

/* Named views; the memory belongs to whoever publishes. */
typedef struct named_list {
  int count;
  struct {
    const char *name;
    lapis_mat mat;
  } item[NAMED_MAX];
} named_list;
/* NULL where there is none of that name. */
const lapis_mat *named_find(const named_list *list, const char *name);
/* The same, where it holds doubles in so many rows and columns (-1: any). */
const lapis_mat *named_numbers(const named_list *list, const char *name,
                               int64_t rows, int64_t cols);
/* v is a whole number from low to high: safe to convert. */
bool number_is_whole(double v, double low, double high);
/* Adds, or replaces a view of the same name (a string that lives as long). */
void named_put(named_list *list, const char *name, lapis_mat mat);

typedef struct solver_class {
  const char *method;
  lapis_status (*solve)(lapis_solver *s);
  void (*free)(lapis_solver *s); /* the members, not s itself */
  /* Takes other settings for the same data, keeping what they share (warm
   * start, factorisations); NULL, or LAPIS_ENOTBUILT for settings that need a
   * new solver. */
  lapis_status (*retune)(lapis_solver *s, const void *settings);
  /* Takes other labels for the same X, and settings, and begins cold: what does
   * not depend on labels stays.  NULL, or LAPIS_ENOTBUILT where a new solver is
   * needed; after any error none of its answers may be asked for. */
  lapis_status (*relabel)(lapis_solver *s, const lapis_data *data,
                          const void *settings);
  /* Labels are decided by probabilities from now on: slopes (2 x K) has slope
   * and bias of each label's, by its score; copied.  NULL: by scores alone. */
  lapis_status (*calibrate)(lapis_solver *s, const lapis_mat *slopes);
  /* Fills s->learned with what predicting needs; NULL: no model. */
  lapis_status (*learn)(lapis_solver *s);
} solver_class;

struct lapis_solver {
  const solver_class *cls;
  const lapis_method *table; /* that its results are rows of; or NULL */
  lapis_ctx *ctx;
  loop loop;
  lapis_info info;
  const void *settings; /* the method's struct, automatic values resolved */
  named_list result;
  named_list learned; /* what a model keeps */
  note_list notes;    /* what was remarked: the result `notes` */
  int64_t made;       /* of them while it was made */
  arena arena;        /* the solver's arrays: freed after cls->free */
  void *owned;        /* freed with the solver: data made for it */
  int64_t features;   /* rows of X where known, else 0 */
  int ranks;          /* processes it was made for */
  bool asked_for;     /* by the program itself, not by another solver */
  const char *called; /* what is said of it; NULL: the method */
  /* makes the model, where the class does not by `learn`; or NULL */
  lapis_status (*model)(lapis_solver *s, struct lapis_model **out);
  /* What is remarked of any method's answer, after a solve; or NULL. */
  lapis_status (*look)(lapis_solver *s);
  lapis_data data;      /* of look: as it was given */
  base_traffic traffic; /* when it was made, or last solved */
  bool told;  /* why it stopped, or what it left out: in its own words */
  bool brief; /* only scores, labels, values are wanted, and those of
               * samples that the first data had a label of; others hold
               * anything finite */
};

/* What a fit is of: so many features, samples, targets or classes, privileged
 * features. */
typedef struct solver_size {
  double d, n, K, p;
  double groups;   /* at least: of neighbours alike */
  double small;    /* the smaller of d and n */
  double features; /* numbers that X holds as it is kept: d n, or of a sparse X
                    * that stays sparse those that are stored */
  bool numbers;    /* targets are */
  bool sparse;     /* X is, and stays so */
  bool gaps;       /* not all of a dense X is known, or nobody looked */
} solver_size;

/* Allocates size zeroed bytes that begin with a lapis_solver. */
lapis_status solver_alloc(lapis_ctx *ctx, const solver_class *cls, size_t size,
                          lapis_solver **out);
/* The end of a constructor: *out is s, or, where status is an error, s is freed
 * and *out NULL.  Returns status. */
lapis_status solver_deliver(lapis_solver *s, lapis_status status,
                            lapis_solver **out);
/* The end of a door that makes solvers, after notes_open(ctx, list): closes
 * list, whose remarks are now those of s, which may be NULL.  Returns status.
 */
lapis_status solver_keep_notes(lapis_ctx *ctx, note_list *list,
                               lapis_status status, lapis_solver *s);
/* The class's relabel; LAPIS_ENOTBUILT where it has none. */
lapis_status solver_relabel(lapis_solver *s, const lapis_data *data,
                            const void *settings);
/* Makes mat available under name (a string that outlives the solver); a
 * second call under the same name replaces the view. */
void solver_publish(lapis_solver *s, const char *name, lapis_mat mat);
/* The result of that name has a column a sample, by the method's table. */
bool solver_is_of_samples(const lapis_method *m, const char *name);
/* Or a column a bag. */
bool solver_is_of_bags(const lapis_method *m, const char *name);
/* history and history_columns, from the loop. */
void solver_publish_history(lapis_solver *s);
/* One array of a model, a column a sample: of the samples of all processes. */
lapis_status solver_learn_all(lapis_solver *s, const char *name, lapis_mat own);

#endif
