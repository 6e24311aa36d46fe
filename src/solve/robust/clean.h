/* clean.h - cleaning new samples with what was learnt.
 *
 *   alone:  minimize  |z|_2 + w |P_Omega(x - D z)|_1   for every column x
 *   joint:  minimize  |Z|_* + w |P_Omega(X - D Z)|_1
 *
 * D = U S V' (rank r): the best Z is V Q, and D Z = K Q with K = U S.  A C with
 * |C| <= w on Omega, 0 off it, gives <C, X> as a lower bound where |K'c|_2 <= 1
 * (alone) or |K'C|_2 <= 1, the spectral norm (joint). */
#ifndef LAPIS_CLEAN_H
#define LAPIS_CLEAN_H
#include "base/loop.h"
#include "base/param.h"
#include "op/svt.h"
#include "solve/robust/common.h"

extern const lapis_method clean_method;

typedef struct cleaner {
  la *h;
  const rr_basis *basis;
  int64_t d, n, r; /* n: samples to clean */
  double w;
  bool joint, checked; /* the last step was looked at: C is a multiplier */
  la_array U;          /* d x r: orthonormal */
  la_array X, S, A;    /* d x n: X, the Douglas-Rachford state, A = K Q */
  la_array C;          /* d x n: multiplier, 2 B - S */
  la_array P;          /* r x n: U' C, and Y = S Q on return */
  double *Q;           /* r x n, samples in the order given */
  /* alone: one entry a sample, the first `active` still at work */
  int64_t active, *place, *age;       /* place: the sample a column holds */
  double *rho, *primal, *dual, *sums; /* sums: 6 a sample */
  /* joint */
  op_svt *svt;
  la_array SQ, QA, Z, G; /* r x n */
  double ratio;          /* rho of Q over rho of B */
  double *weight;        /* r */
  svt_report low_rank;
  lapis_info info; /* objective, dual, gap, rank */
} cleaner;

/* basis is borrowed.  Room for n samples, or fewer in later calls. */
lapis_status cleaner_new(la *h, const rr_basis *basis, int64_t n, bool joint,
                         cleaner *c);
void cleaner_free(cleaner *c);
/* Cleans X (d x n, NaN = not observed) until every gap is at most tol or the
 * loop ends; Q and info are set. */
lapis_status cleaner_run(cleaner *c, const lapis_mat *X, double w, loop *l,
                         double tol);
/* low_rank (d x n) = K Q; coefficients (basis n x n) = V Q or NULL; dual
 * (d x n) or NULL. */
lapis_status cleaner_read(cleaner *c, double *low_rank, double *coefficients,
                          double *dual);

/* ---- a batch with everything that is published of it --------------------*/
typedef struct clean_job {
  cleaner c;
  int64_t refill;
  double tau;
  int64_t round;                 /* of refilling */
  double *X, *low_rank, *sparse; /* d x n */
  double *filled;                /* d x n, or NULL without refill */
  double *coefficients;          /* basis n x n */
  double *dual;                  /* d x n, or NULL */
} clean_job;
typedef struct clean_options {
  bool joint, certificate;
  int64_t refill;
  double tau;
} clean_options;
lapis_status clean_job_new(la *h, const rr_basis *basis, const lapis_mat *X,
                           const clean_options *opt, clean_job *job);
void clean_job_free(clean_job *job);
lapis_status clean_job_run(clean_job *job, double w, loop *l, double tol);
void clean_job_publish(clean_job *job, lapis_solver *s);

/* The default weight: lambda sqrt(r n) / |D|_*, or lambda / |D|_*. */
double clean_weight(const rr_basis *b, double lambda, bool paper);

/* clean_alone.c, clean_joint.c */
lapis_status clean_alone(cleaner *c, loop *l, double tol);
lapis_status clean_joint_alloc(cleaner *c);
void clean_joint_free(cleaner *c);
lapis_status clean_joint(cleaner *c, loop *l, double tol);
extern const char *const clean_columns[]; /* 6 */

#endif
