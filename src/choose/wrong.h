/* wrong.h - the share of wrong labels and which ones, by what was predicted of
 * each while it was hidden. */
#ifndef LAPIS_WRONG_H
#define LAPIS_WRONG_H
#include "base/base.h"

/* A label, and what was predicted of it. */
typedef struct wrong_label {
  double odds; /* log odds of the likeliest class */
  bool other;  /* the label is another than that */
  double rest; /* of another: its share of what the likeliest leaves, 0 .. 1 */
  int64_t group;
} wrong_label;

enum {
  WRONG_BINS = 81,
  WRONG_RESTS = 12,
  WRONG_SHARES = 41,
  WRONG_EXPONENTS = 40
};
typedef struct wrong_share {
  double f, low, high; /* likeliest; an interval of 95 % */
  double K;            /* classes */
  /* how probable it is that a label is wrong, by odds and powers of 1/2 of
   * rest; the last column: it is the likeliest */
  double mean[WRONG_BINS][WRONG_RESTS + 1];
  double share[WRONG_SHARES],
      of_share[WRONG_SHARES];          /* f, how probable it is */
  double of_exponent[WRONG_EXPONENTS]; /* how probable each a is */
} wrong_share;

/* Of labels at `stride` bytes; trials: what they count together, at most n. */
lapis_status wrong_fit(lapis_ctx *ctx, const wrong_label *all, size_t stride,
                       int64_t n, double K, double trials, wrong_share *out);
/* The probability that a label is wrong. */
double wrong_is(const wrong_share *w, const wrong_label *x);
/* The same of n labels, those of a group one after another, as each group shows
 * how well its labels are predicted. */
lapis_status wrong_in_groups(lapis_ctx *ctx, const wrong_share *w,
                             const wrong_label *all, size_t stride, int64_t n,
                             double *is);

#endif
