/* method_entry.h - the list of methods. */
#ifndef LAPIS_METHODS_H
#define LAPIS_METHODS_H
#include "base/param.h"
#include "mat/mat.h"
#include "solver/solver.h"

/* A solver that answers for new samples from what was learnt: settings is the
 * struct the model was fitted with, options the predicting one, checked. */
typedef lapis_status (*method_predict_fn)(
    lapis_ctx *ctx, const lapis_data *data, const void *settings,
    const named_list *learned, const void *options, lapis_solver **out);

/* What a constructor refuses of the data, whatever else is set. */
typedef lapis_status (*method_check_fn)(lapis_ctx *ctx, const lapis_data *data,
                                        const void *settings);

/* LAPIS_READS_*: of what the method reads, that which says nothing with these
 * settings. */
typedef unsigned (*method_idle_fn)(const void *settings);

/* Whether settings leave open what hidden labels choose where there are targets
 * (the solver is then made by `choose`); and what is taken for it else. */
typedef bool (*method_open_fn)(const void *settings);
typedef void (*method_settle_fn)(void *settings);

/* Whether the method's scores are of labels 0 and 1, yes above 1/2, not of -1
 * and 1, yes above 0. */
typedef bool (*method_zero_one_fn)(const void *settings, const targets *t);

typedef lapis_status (*method_unlabelled_fn)(lapis_ctx *ctx, const char *method,
                                             const lapis_data *data,
                                             const void *settings,
                                             const bool *known);

/* Numbers of 8 bytes that a fit holds at its most, beside the data: its working
 * copies and its answers.  Of settings that leave a choice, the largest. */
typedef double (*method_holds_fn)(const solver_size *z, const void *settings);

/* create of an X that is read by a shift, which is borrowed as long as the
 * solver; and whether it does without a copy of it then. */
typedef lapis_status (*method_read_fn)(lapis_ctx *ctx, const lapis_data *data,
                                       const mat_shift *shift,
                                       const void *settings,
                                       lapis_solver **out);
typedef bool (*method_reads_fn)(const void *settings, const lapis_mat *X);

typedef struct method_entry {
  const lapis_method *method;
  method_holds_fn holds;
  method_new_fn create;
  method_check_fn check;              /* NULL: only by constructing */
  method_idle_fn idle;                /* NULL: all that it reads counts */
  const lapis_method *predict_method; /* table of its options; NULL: none */
  method_predict_fn predict;
  /* Answers for the samples it was fitted on only (mc): choosing settings
   * hides labels and keeps features. */
  bool transductive;
  bool sparse;        /* reads a sparse X as it is */
  bool splits;        /* its samples may be divided among processes */
  bool answers_parts; /* so may the new samples that its models answer */
  /* Learns from samples that have targets alone; the others are answered
   * (labelled.c).  The check is of the data as given, whose rows it names:
   * known (n) marks those that are learnt from. */
  bool labelled_only;
  method_unlabelled_fn check_unlabelled;
  method_open_fn open;         /* NULL: nothing is left open */
  method_new_fn choose;        /* where it is, with targets */
  method_read_fn create_read;  /* NULL: reads X as it is alone */
  method_reads_fn reads;       /* with it */
  method_settle_fn settle;     /* NULL: the defaults state a problem */
  method_zero_one_fn zero_one; /* NULL: never */
  const char *metric;          /* what judges its answers; NULL: auroc */
} method_entry;
/* NULL past the end, or where there is none of that name. */
const method_entry *method_entry_at(int i);
const method_entry *method_entry_of(const lapis_method *m);

/* Settles what Y holds, where settings leave that open; refuses targets that
 * are numbers, of a method that tells classes.  Asked of all samples, before
 * folds hide any. */
lapis_status method_settle_targets(lapis_ctx *ctx, const lapis_method *m,
                                   const lapis_data *data, void *settings);
/* Whether settings, settled, say that targets are numbers. */
bool method_of_numbers(const lapis_method *m, const void *settings);
/* What judges its answers. */
const char *method_metric(const lapis_method *m, const void *settings);
/* lapis_solver_new for what folds show of data that were checked whole. */
lapis_status method_solve_part(lapis_ctx *ctx, const lapis_method *m,
                               const lapis_data *data, const void *settings,
                               lapis_solver **out);
/* The same of an X that is read by a shift, of a method that reads so. */
lapis_status method_solve_read(lapis_ctx *ctx, const lapis_method *m,
                               const lapis_data *data, const mat_shift *shift,
                               const void *settings, lapis_solver **out);
/* Whether it does, without a copy, with these settings. */
bool method_reads(const lapis_method *m, const void *settings,
                  const lapis_mat *X);
/* Refuses a fit that would hold much more than its data are made of, or more
 * than there is: the one place that weighs methods (base_holds). */
lapis_status method_weigh(lapis_ctx *ctx, const method_entry *e,
                          const lapis_data *data, const void *settings);
/* The same of the answers to new samples. */
lapis_status method_weigh_new(lapis_ctx *ctx, const method_entry *e,
                              const lapis_data *data,
                              const named_list *learned);
/* Refuses data with members that m, a method or a table of predicting, makes no
 * use of with these settings; but for Y, which may stay to judge answers by. */
lapis_status method_check_members(lapis_ctx *ctx, const lapis_method *m,
                                  const void *settings, const lapis_data *data);
/* Refuses a map that makes numbers of what a sparse X leaves out, where the
 * settings say that this is not observed. */
lapis_status method_check_map(lapis_ctx *ctx, const lapis_method *m,
                              const void *settings, const lapis_map *map,
                              const lapis_mat *X);
/* Refuses more than one process, without a word to the others. */
lapis_status method_alone(lapis_ctx *ctx, const char *what);

#endif
