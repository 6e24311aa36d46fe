/* ranks_case.h - samples to divide, and the comparison with one process. */
#ifndef LAPIS_RANKS_CASE_H
#define LAPIS_RANKS_CASE_H
#include "ranks.h"

enum { MOST_FEATURES = 40, MOST_SAMPLES = 1000 };

/* Rank 3 and noise; some entries far off, some missing; labels that follow
 * the first factor, a third of them unknown. */
typedef struct sample_set {
  double X[MOST_SAMPLES * MOST_FEATURES], Y[MOST_SAMPLES];
  int64_t d, n;
} sample_set;

static inline sample_set *samples(int64_t d, int64_t n, double missing,
                                  double wrong)
{
  sample_set *s = calloc(1, sizeof *s);
  uint64_t seed = 7;
  double A[MOST_FEATURES * 3], b[3];
  s->d = d;
  s->n = n;
  for (int64_t k = 0; k < 3 * d; k++) A[k] = check_normal(&seed);
  for (int64_t j = 0; j < n; j++) {
    for (int r = 0; r < 3; r++) b[r] = check_normal(&seed);
    for (int64_t i = 0; i < d; i++) {
      double x = 0.05 * check_normal(&seed);
      for (int r = 0; r < 3; r++) x += A[3 * i + r] * b[r];
      if (check_uniform(&seed) < wrong) x += 8 * check_normal(&seed);
      if (check_uniform(&seed) < missing && i != j % d) x = NAN;
      s->X[j * d + i] = x;
    }
    s->Y[j] = b[0] + 0.3 * check_normal(&seed) > 0 ? 1 : -1;
    if (j % 3 == 2) s->Y[j] = NAN;
  }
  return s;
}

static inline lapis_data samples_view(sample_set *s, bool labels)
{
  lapis_data data = {.X = lapis_mat_f64(s->X, s->d, s->n)};
  if (labels) data.Y = lapis_mat_f64(s->Y, 1, s->n);
  return data;
}

static inline const lapis_info *info_of(const ranks_run *r, int rank)
{
  return lapis_result_info(r->part[rank].solver);
}

/* All ranks say the same; returns what rank 0 says. */
static inline const lapis_info *check_agreed(const ranks_run *r)
{
  if (r->part[0].solved < 0) fail_msg("%s", lapis_ctx_error(r->part[0].ctx));
  const lapis_info *a = info_of(r, 0);
  for (int k = 0; k < r->size; k++) {
    const lapis_info *b = info_of(r, k);
    assert_int_equal(r->part[k].solved, r->part[0].solved);
    assert_int_equal(a->iterations, b->iterations);
    assert_int_equal(a->rank, b->rank);
    assert_memory_equal(&a->objective, &b->objective, sizeof a->objective);
    assert_memory_equal(&a->gap, &b->gap, sizeof a->gap);
  }
  return a;
}

/* The same problem divided and with one process: iterations, rank, objective
 * and arrays (names, NULL at the end) to `near`. */
static inline void check_same(const ranks_run *many, const ranks_run *one,
                              const char *const *names, double near)
{
  const lapis_info *a = check_agreed(one), *b = check_agreed(many);
  assert_int_equal(a->iterations, b->iterations);
  assert_int_equal(a->rank, b->rank);
  CHECK_NEAR(b->objective / a->objective, 1, near);
  for (int k = 0; names[k] != NULL; k++)
    CHECK_AT_MOST(ranks_distance(many, one, names[k]), near);
}

static inline void check_like_one(ranks_job job, const char *const *names,
                                  double near)
{
  static const int sizes[] = {2, 3, 4, 7};
  ranks_run one, many;
  job.size = 1;
  ranks_solve(&job, &one);
  for (int i = 0; i < 4; i++) {
    job.size = sizes[i];
    ranks_solve(&job, &many);
    check_same(&many, &one, names, near);
    ranks_free(&many);
  }
  ranks_free(&one);
}

/* By one process, and by `size` of them with `count` samples each (NULL: uneven
 * parts). */
static inline void solve_whole_and_parts(ranks_job job, const int64_t *count,
                                         int size, ranks_run *one,
                                         ranks_run *many)
{
  job.size = 1;
  ranks_solve(&job, one);
  job.size = size;
  job.count = count;
  ranks_solve(&job, many);
}

/* Parts of given sizes, one of them empty. */
static inline void check_parts_like_one(ranks_job job, const int64_t *count,
                                        int size, const char *const *names,
                                        double near)
{
  ranks_run one, many;
  solve_whole_and_parts(job, count, size, &one, &many);
  check_same(&many, &one, names, near);
  ranks_free(&many);
  ranks_free(&one);
}

/* Every process ends with this status and a sentence that holds the words. */
static inline void check_all_refused(const ranks_job *job, lapis_status status,
                                     const char *words)
{
  ranks_run run;
  ranks_solve(job, &run);
  for (int r = 0; r < run.size; r++) {
    const char *said = lapis_ctx_error(run.part[r].ctx);
    assert_int_equal(run.part[r].solved, status);
    if (!check_has(said, words))
      fail_msg("rank %d says '%s', not '%s'", r, said, words);
  }
  ranks_free(&run);
}

/* The same bits in two runs of as many processes. */
static inline void check_repeats(ranks_job job, int size,
                                 const char *const *names)
{
  ranks_run a, b;
  job.size = size;
  ranks_solve(&job, &a);
  ranks_solve(&job, &b);
  const lapis_info *x = check_agreed(&a), *y = check_agreed(&b);
  assert_memory_equal(&x->objective, &y->objective, sizeof x->objective);
  for (int k = 0; names[k] != NULL; k++) {
    int64_t rows, n = job.whole.X.cols;
    double *p = ranks_join(&a, names[k], &rows);
    double *q = ranks_join(&b, names[k], &rows);
    assert_memory_equal(p, q, (size_t)(rows * n) * sizeof *p);
    free(p);
    free(q);
  }
  ranks_free(&a);
  ranks_free(&b);
}

#endif
