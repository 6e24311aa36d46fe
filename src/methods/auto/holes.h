/* holes.h - gaps of a table and the ways to fill them; between holes' files. */
#ifndef LAPIS_HOLES_H
#define LAPIS_HOLES_H
#include "la/backend.h"
#include "solver/solver.h"

enum { HOLES_WAYS = 7 };
/* Samples as columns, in units of their features: mean 0, deviation 1. */
typedef struct holes_table {
  la h;
  int64_t d, n, columns;
  int64_t learnt;       /* the first so many samples are learnt from */
  int64_t *first;       /* columns + 1: its feature, or those of its classes */
  const double *X;      /* d x n: NaN where a value is to be filled in */
  const double *weight; /* n: 0 is not learnt from */
  const double *low, *high;  /* d: of what is learnt from */
  bool (*later)(void *user); /* asked after a column; false: no more */
  void *user;
} holes_table;

/* How a way is called: "ridge regression". */
const char *holes_called(int i);
/* Z (d x n x HOLES_WAYS): X as each of the first *ways fills it, which begins
 * with the mean of those before it.  *ways becomes how many have done it before
 * `later` said no; the first always has. */
lapis_status holes_fill(holes_table *t, double *Z, int *ways);

/* Without targets `auto` is this; with them it has one for --fill.
 * data: borrowed; settings: lapis_auto_settings. */
lapis_status holes_new(lapis_ctx *ctx, const lapis_data *data,
                       const void *settings, lapis_solver **out);
double holes_hold(const solver_size *z); /* numbers, at its most */
/* New samples, by a model of it. */
lapis_status holes_predict_new(lapis_ctx *ctx, const lapis_data *data,
                               const void *settings, const named_list *learned,
                               const void *options, lapis_solver **out);

/* What is known of d features, between which answers are to lie. */
typedef struct holes_ends {
  int64_t d, n;
  const double *X, *weight;   /* d x n in units; n: above 0 teaches */
  const double *mean, *scale; /* d: the units */
  double *low, *high;         /* d: what is seen, in units */
} holes_ends;
/* What was not seen may lie half of the range beyond, where one value alone is
 * at its end.  An end that several reach is one, as 0 and 1 are, and so is 0 of
 * what is all above or below it. */
lapis_status holes_widen(lapis_ctx *ctx, const holes_ends *e);

#endif
