/* region.c - how fast the heaviest connected region is found and proved.
 *
 *   bench/region [SEGMENTS]     300: pictures of 15 x 20 segments
 *
 * Segments lie on a grid with some diagonals and some borders gone; scores are
 * even, smooth with noise (as words give them), or a few heavy ones among many
 * that cost a little.  Five seconds a region. */
#include "bench.h"
#include "lapis/images.h"

enum { GRAPHS = 10 };

typedef struct net {
  int64_t n, *start;
  int32_t *next;
  double *score;
} net;

static void link_both(bool *edge, int64_t n, int64_t a, int64_t b)
{
  edge[a * n + b] = edge[b * n + a] = true;
}

static double draw_score(int kind, int x, int y, uint64_t *state)
{
  double u = bench_uniform(state);
  if (kind == 0) return u - 0.6;
  if (kind == 1) return sin(0.5 * x) * cos(0.4 * y) + 1.2 * u - 0.8;
  return u < 0.2 ? 3 * bench_uniform(state) : -u / 2;
}

static net make(int across, int down, int kind, uint64_t *state)
{
  int64_t n = (int64_t)across * down, used = 0;
  net g = {n, calloc((size_t)n + 1, sizeof(int64_t)),
           calloc((size_t)(n * 9), sizeof(int32_t)),
           calloc((size_t)n, sizeof(double))};
  bool *edge = calloc((size_t)(n * n), 1);
  for (int y = 0; y < down; y++)
    for (int x = 0; x < across; x++) {
      int64_t v = (int64_t)y * across + x;
      bool right = x + 1 < across, below = y + 1 < down;
      if (right && bench_uniform(state) < 0.9) link_both(edge, n, v, v + 1);
      if (below && bench_uniform(state) < 0.9)
        link_both(edge, n, v, v + across);
      if (right && below && bench_uniform(state) < 0.4)
        link_both(edge, n, v, v + across + 1);
      g.score[v] = draw_score(kind, x, y, state);
    }
  for (int64_t v = 0; v < n; v++) {
    g.start[v] = used;
    for (int64_t u = 0; u < n; u++)
      if (edge[v * n + u]) g.next[used++] = (int32_t)u;
  }
  g.start[n] = used;
  free(edge);
  return g;
}

static void measure(lapis_ctx *ctx, int across, int down, int kind)
{
  static const char *const kinds[] = {"even", "smooth", "sparse"};
  double seconds[GRAPHS], gap = 0, left = 0, nodes = 0;
  int proved = 0;
  lapis_region_info info = {0};
  for (int i = 0; i < GRAPHS; i++) {
    uint64_t state = 100 + (uint64_t)i;
    net g = make(across, down, kind, &state);
    lapis_graph graph = {g.n, g.start, g.next};
    unsigned char *inside = calloc((size_t)g.n, 1);
    lapis_region_settings set = lapis_region_defaults();
    set.seconds = 5;
    bench_check(ctx,
                lapis_region_find(ctx, &graph, g.score, &set, inside, &info));
    seconds[i] = info.seconds;
    proved += info.status == LAPIS_OK;
    gap = fmax(gap, info.gap);
    left += (double)info.left / GRAPHS;
    nodes += (double)info.nodes / GRAPHS;
    free(inside), free(g.start), free(g.next), free(g.score);
  }
  double median = bench_median(seconds, GRAPHS);
  printf("| %s | %d of %d | %.4f | %.3f | %.3f | %.0f | %.0f |\n", kinds[kind],
         proved, GRAPHS, gap, median, seconds[GRAPHS - 1], left, nodes);
  fflush(stdout);
}

int main(int argc, char **argv)
{
  int segments = argc > 1 ? atoi(argv[1]) : 300;
  int across = (int)round(sqrt(0.75 * segments)), down = segments / across;
  lapis_ctx *ctx = lapis_ctx_new();
  printf("| scores | proved | largest gap | median s | slowest s | segments "
         "left | subproblems |\n"
         "| --- | --- | --- | --- | --- | --- | --- |\n");
  for (int kind = 0; kind < 3; kind++) measure(ctx, across, down, kind);
  lapis_ctx_free(ctx);
  return 0;
}
