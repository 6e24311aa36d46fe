/* prove.h - how far lines are from the best ones, and steps to them.
 *
 * The lines of a part are learnt together: one of a label, all K of classes,
 * G lines from line c on.  At scores F (n x G, the offset in) the losses have
 * slopes R (n x G), which are a point of Fenchel's dual,
 *
 *   maximize   -|T R|^2 / 2 + sum_j c_j H(q_j),   sum_j R_jg = 0 each g
 *
 * c_j = C v_j, q_j the probabilities that R_j says (1 or -1: of yes and no), H
 * their entropy: any R that is feasible bounds the objective from below, and
 * the best one has W = -T R. */
#ifndef LAPIS_PLAIN_PROVE_H
#define LAPIS_PLAIN_PROVE_H
#include "op/learn/samples.h"

typedef struct lines {
  la *h;
  samples T;            /* r x n: features, in any coordinates */
  const double *ridge;  /* r: the square of a weight counts so often; NULL: 1 */
  const double *sign;   /* K x n: 1, -1, NaN: not known */
  const double *weight; /* n: v; or NULL: 1 */
  double C;
  int64_t K;
  bool classes;
} lines;

static inline int64_t lines_together(const lines *p)
{
  return p->classes ? p->K : 1;
}
/* Whether a label is known of one kind alone: nothing is best then. */
bool lines_one_kind(const lines *p, int64_t c);
/* The losses of the part at F, which becomes R. */
double lines_loss(const lines *p, int64_t c, double *F);
/* |w|^2 / 2 of the part's lines W, r + 1 numbers each, the offset last. */
double lines_square(const lines *p, const double *W);
/* F = T' W and the offsets. */
lapis_status lines_score(const lines *p, const double *W, double *F);
/* The lower bound of R, which is made feasible; TR: r x G, T R. */
lapis_status lines_bound(const lines *p, double *R, double *TR, double *bound);
/* g (r + 1 x G): the slope of the objective at W, whose losses have R. */
lapis_status lines_slope(const lines *p, const double *W, const double *R,
                         double *g);
/* What rounding may make of an objective and its bound, as a share. */
double lines_rounding(const lines *p);

/* What is proved of all parts; K each, those of classes at 0 alone. */
typedef struct lines_proof {
  double *R;             /* n x K: of the best bounds */
  double *bound, *value; /* the best bound, the objective */
} lines_proof;
static inline bool lines_proved(const lines_proof *of, int64_t c, double tol)
{
  return of->value[c] - of->bound[c] <= tol * of->value[c];
}

/* newton.c: steps from W (r + 1 x K), each part's until it is proved; whether
 * they cost little enough. */
bool lines_newton_fits(const lines *p);
/* Numbers that they need, of d features, n samples; 0: they cost too much. */
double lines_newton_holds(double d, double n, double G);
lapis_status lines_newton(const lines *p, double tol, loop *l, double *W,
                          lines_proof *proof);

#endif
