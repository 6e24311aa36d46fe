/* blend.c - stacking [Breiman 1996]: by projected steps of length 1 / trace,
 * which is no more than 1 over the largest eigenvalue. */
#include "op/learn/blend.h"

enum { STEPS = 2000 };

void op_blend(const double *G, int64_t ld, int64_t count, double *x)
{
  double trace = 0, step[BLEND_MOST], room[BLEND_MOST];
  for (int64_t a = 0; a < count; a++) {
    trace += G[a * ld + a];
    x[a] = 1 / (double)count;
  }
  for (int k = 0; k < STEPS && trace > 0; k++) {
    for (int64_t a = 0; a < count; a++) {
      step[a] = x[a];
      for (int64_t b = 0; b < count; b++)
        step[a] -= G[a * ld + b] * x[b] / trace;
    }
    lapis_project_simplex(count, step, room, x);
  }
}

double op_blend_error(const double *G, int64_t ld, int64_t count,
                      const double *x)
{
  double sum = 0;
  for (int64_t a = 0; a < count; a++)
    for (int64_t b = 0; b < count; b++) sum += x[a] * x[b] * G[a * ld + b];
  return sum;
}
