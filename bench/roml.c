/* roml.c - matching by size, and the cells of [ROML16] Table 1.
 *
 *   bench/roml             every cell: seconds, recovery, iterations
 *   bench/roml K NK N [T]  one cell, on T threads
 *
 * Features: n of an object, normal, shared by all images; others of their own;
 * d = 50; errors on .2 of the entries, uniform in +-max|f|; shuffled within
 * each image.  Seed 1, splitmix64.  Defaults throughout: start seeded,
 * schedule fast. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "lapis/choose.h"
#include "lapis/lapis.h"

enum { D = 50 };
static const double RATIO = 0.2;

typedef struct cell {
  int64_t K, each, n;
  double *X;
  int64_t *group, *truth;
} cell;

static void feature(double *f, const double *object, uint64_t *s)
{
  double most = 0;
  for (int a = 0; a < D; a++) {
    f[a] = object != NULL ? object[a] : bench_normal(s);
    most = fmax(most, fabs(f[a]));
  }
  int left = (int)(RATIO * D + 0.5);
  for (int a = 0; a < D; a++) {
    if (bench_uniform(s) * (D - a) >= left) continue;
    left--;
    f[a] += (2 * bench_uniform(s) - 1) * most;
  }
}

static void draw(cell *c)
{
  uint64_t s = 1;
  double *object = malloc((size_t)(c->n * D) * sizeof *object);
  int64_t *order = malloc((size_t)c->each * sizeof *order);
  c->X = malloc((size_t)(c->K * c->each * D) * sizeof *c->X);
  c->group = malloc((size_t)(c->K * c->each) * sizeof *c->group);
  c->truth = malloc((size_t)(c->K * c->n) * sizeof *c->truth);
  for (int64_t i = 0; i < c->n * D; i++) object[i] = bench_normal(&s);
  for (int64_t k = 0; k < c->K; k++) {
    for (int64_t i = 0; i < c->each; i++) order[i] = i;
    for (int64_t i = c->each - 1; i > 0; i--) {
      int64_t j = (int64_t)(bench_uniform(&s) * (double)(i + 1)), t = order[i];
      order[i] = order[j], order[j] = t;
    }
    for (int64_t i = 0; i < c->each; i++) {
      int64_t row = k * c->each + order[i];
      feature(c->X + row * D, i < c->n ? object + i * D : NULL, &s);
      c->group[row] = k;
      if (i < c->n) c->truth[k * c->n + i] = row;
    }
  }
  free(object);
  free(order);
}

static void erase(cell *c)
{
  free(c->X), free(c->group), free(c->truth);
}

/* Seconds of one solve, recovery; false: a sentence was printed. */
static bool run(lapis_ctx *ctx, cell *c, lapis_info *info, double *recovery)
{
  lapis_data data = {.X = lapis_mat_f64(c->X, D, c->K * c->each),
                     .group = c->group};
  lapis_roml_settings set = lapis_roml_defaults();
  lapis_solver *s;
  set.inliers = c->n;
  bool ok = lapis_roml_new(ctx, &data, &set, &s) >= 0 && lapis_solve(s) >= 0;
  lapis_mat match, truth;
  lapis_match_scores r = {0, 0, 0, 0};
  if (ok) {
    *info = *lapis_result_info(s);
    lapis_result_get(s, "match", &match);
    truth = match;
    truth.val = c->truth;
    ok = lapis_match_ratio(ctx, &truth, &match, NULL, &r) >= 0;
  }
  if (!ok) puts(lapis_ctx_error(ctx));
  *recovery = r.identification_ratio;
  lapis_solver_free(s);
  return ok;
}

static void row(lapis_ctx *ctx, int64_t K, int64_t each, int64_t n,
                const char *paper)
{
  cell c = {.K = K, .each = each, .n = n};
  lapis_info info = {.iterations = 0};
  double recovery = 0, seconds[5], cpu[5];
  int repeats = K * each * n > 1000000 ? 1 : 5;
  draw(&c);
  for (int i = 0; i < repeats; i++) {
    clock_t begun = clock();
    if (!run(ctx, &c, &info, &recovery)) return;
    cpu[i] = (double)(clock() - begun) / CLOCKS_PER_SEC;
    seconds[i] = info.seconds;
  }
  qsort(seconds, (size_t)repeats, sizeof *seconds, bench_rising);
  qsort(cpu, (size_t)repeats, sizeof *cpu, bench_rising);
  printf("| %lld | %lld | %lld | %s | %.4g | %.4g | %.4f | %lld |\n",
         (long long)K, (long long)each, (long long)n, paper,
         seconds[repeats / 2], cpu[repeats / 2], recovery,
         (long long)info.iterations);
  fflush(stdout);
  erase(&c);
}

int main(int argc, char **argv)
{
  static const struct {
    int64_t K, each, n;
    const char *paper;
  } cells[] = {{10, 100, 10, "99.62"},       {10, 1000, 10, "95.10"},
               {10, 10000, 10, "483.27"},    {10, 100, 100, "9265.12"},
               {10, 1000, 100, "8495.03"},   {10, 10000, 100, "9013.67"},
               {100, 100, 10, "821.61"},     {100, 1000, 10, "898.53"},
               {100, 10000, 10, "4669.64"},  {100, 100, 100, "75802.31"},
               {100, 1000, 100, "83114.28"}, {100, 10000, 100, "91263.45"}};
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_ctx_set(ctx, "threads", argc == 5 ? argv[4] : "2");
  printf("%s, %d threads\n\n", lapis_ctx_backend(ctx), lapis_ctx_threads(ctx));
  printf("| K | n_k | n | paper s | here s | processor s | recovery "
         "| iterations |\n"
         "| --- | --- | --- | --- | --- | --- | --- | --- |\n");
  if (argc >= 4)
    row(ctx, atoll(argv[1]), atoll(argv[2]), atoll(argv[3]), "");
  else
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
      row(ctx, cells[i].K, cells[i].each, cells[i].n, cells[i].paper);
  lapis_ctx_free(ctx);
  return 0;
}
