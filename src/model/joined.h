/* joined.h - several solvers that answer as one.
 *
 * Parts are solved in their order.  A part reads the data, or what an earlier
 * mc has made of it with its gaps filled: X where it was seen, the completion
 * elsewhere.  Where there are several answers, the mean of their probabilities
 * is the answer. */
#ifndef LAPIS_JOINED_H
#define LAPIS_JOINED_H
#include "solver/solver.h"

enum { JOINED_PARTS = 10 };
typedef struct joined_part {
  /* Makes its solver; self is borrowed while the whole is solved. */
  lapis_status (*make)(lapis_ctx *ctx, void *self, const lapis_data *data,
                       lapis_solver **out);
  void *self;
  int reads;    /* -1: the data; k: what part k has filled */
  bool answers; /* else it only fills */
} joined_part;
/* Borrows data, and takes the parts' selves, which give_back frees (NULL:
 * they are somebody's).  The first part that answers gives its other results,
 * its settings and its history. */
lapis_status joined_new(lapis_ctx *ctx, const lapis_data *data,
                        const joined_part *part, int count,
                        void (*give_back)(void *self), lapis_solver **out);
/* The solver of part k once all have been solved, and its self. */
lapis_solver *joined_solver(const lapis_solver *s, int k);
void *joined_self(const lapis_solver *s, int k);
int joined_count(const lapis_solver *s);
bool joined_answers(const lapis_solver *s, int k);
int joined_reads(const lapis_solver *s, int k);
/* Who makes a model of the whole (self of part k by joined_self). */
void joined_teach(lapis_solver *s,
                  lapis_status (*model)(lapis_solver *s, lapis_model **out));

#endif
