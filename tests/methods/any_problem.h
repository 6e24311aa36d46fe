/* any_problem.h - a problem that every method takes. */
#ifndef LAPIS_ANY_PROBLEM_H
#define LAPIS_ANY_PROBLEM_H
#include "check.h"
#include "lapis/tools.h"

enum { D = 5, N = 24 };

/* Two classes, bags, points. */
typedef struct problem {
  double X[D * N], Y[N], P[2 * N], xy[2 * N], clean[D * N];
  int64_t group[N];
  lapis_data data;
} problem;

static inline void make(problem *p, const char *method)
{
  uint64_t seed = 8;
  bool bags = strcmp(method, "misvm") == 0,
       images = strcmp(method, "roml") == 0;
  for (int i = 0; i < D * N; i++) p->X[i] = check_normal(&seed);
  for (int i = 0; i < D * N; i++) p->clean[i] = check_normal(&seed);
  for (int i = 0; i < 2 * N; i++) p->P[i] = p->xy[i] = check_uniform(&seed);
  for (int j = 0; j < N; j++) {
    p->group[j] = images ? j / 6 : j / 4;
    p->Y[j] = (bags ? p->group[j] : j) % 2 == 0 ? 1 : -1;
  }
  p->data = (lapis_data){.X = lapis_mat_f64(p->X, D, N),
                         .Y = lapis_mat_f64(p->Y, 1, N),
                         .P = lapis_mat_f64(p->P, 2, N),
                         .xy = lapis_mat_f64(p->xy, 2, N),
                         .group = bags || images ? p->group : NULL};
  p->data = lapis_data_with(&p->data, lapis_method_find(method)->reads);
}
#endif
