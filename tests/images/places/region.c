/* region.c - the heaviest connected region against two independent
 * programs: all subsets of small graphs, and for larger ones a sweep that
 * remembers how the frontier is connected. */
#include "check.h"
#include "lapis/images.h"

enum { NODES = 64, FRONTIER = 12, STATES = 60000 };

typedef struct net {
  int n;
  bool edge[NODES][NODES];
  double score[NODES];
  int64_t start[NODES + 1];
  int32_t next[NODES * NODES];
  lapis_graph graph;
} net;

static void close_net(net *g)
{
  int64_t used = 0;
  for (int v = 0; v < g->n; v++) {
    g->start[v] = used;
    for (int u = 0; u < g->n; u++)
      if (u != v && (g->edge[v][u] || g->edge[u][v])) g->next[used++] = u;
  }
  g->start[g->n] = used;
  g->graph = (lapis_graph){g->n, g->start, g->next};
}

/* Segments of a picture: cells of a grid, some diagonals, some borders gone.
 * kinds: even scores, smooth scores, whole numbers with ties and zeros, few
 * heavy ones far apart. */
static void make_grid(net *g, int across, int down, int kind, uint64_t *state)
{
  memset(g, 0, sizeof *g);
  g->n = across * down;
  for (int y = 0; y < down; y++)
    for (int x = 0; x < across; x++) {
      int v = y * across + x;
      if (x + 1 < across) g->edge[v][v + 1] = check_uniform(state) < 0.9;
      if (y + 1 < down) g->edge[v][v + across] = check_uniform(state) < 0.9;
      if (x + 1 < across && y + 1 < down && check_uniform(state) < 0.4)
        g->edge[v][v + across + 1] = true;
      double u = check_uniform(state);
      g->score[v] = kind == 0   ? u - 0.6
                    : kind == 1 ? sin(x * 1.1 + 6 * check_uniform(state) / 9) *
                                          cos(y * 0.9) +
                                      u - 0.7
                    : kind == 2 ? floor(7 * u) - 4
                                : (u < 0.2 ? 3 * check_uniform(state) : -u / 2);
    }
  close_net(g);
}

/* ---- the sweep ------------------------------------------------------------
 * Nodes come in order; a state says for each node of the frontier whether it
 * is chosen and which others it is connected with, and holds the greatest
 * weight of choices so far that look like this. */
typedef struct shape {
  unsigned char label[FRONTIER]; /* 0: not chosen */
  double weight;
} shape;
typedef struct sweep {
  const net *g;
  int frontier[FRONTIER], width;
  shape *now, *then;
  int n_now, n_then;
  int32_t *table; /* hash of then */
  double best;
} sweep;

static void relabel(shape *s, int width)
{
  unsigned char seen[256] = {0}, next = 0;
  for (int i = 0; i < width; i++) {
    if (s->label[i] == 0) continue;
    if (seen[s->label[i]] == 0) seen[s->label[i]] = ++next;
    s->label[i] = seen[s->label[i]];
  }
  memset(s->label + width, 0, (size_t)(FRONTIER - width));
}

static void keep(sweep *w, shape s, int width)
{
  relabel(&s, width);
  uint32_t hash = 2166136261u;
  for (int i = 0; i < FRONTIER; i++) hash = (hash ^ s.label[i]) * 16777619u;
  for (hash %= 4 * STATES; w->table[hash] >= 0;
       hash = (hash + 1) % (4 * STATES))
    if (memcmp(w->then[w->table[hash]].label, s.label, FRONTIER) == 0) {
      shape *old = &w->then[w->table[hash]];
      old->weight = fmax(old->weight, s.weight);
      return;
    }
  assert_true(w->n_then < STATES);
  w->table[hash] = w->n_then;
  w->then[w->n_then++] = s;
}

static bool has_later(const net *g, int v, int now)
{
  for (int u = now + 1; u < g->n; u++)
    if (g->edge[v][u] || g->edge[u][v]) return true;
  return false;
}

/* Nodes without later neighbours leave; a component that leaves whole is an
 * answer, and possible only where it is the only one. */
static void retire(sweep *w, shape s, const int *stays, int width)
{
  shape out = {.weight = s.weight};
  int kept = 0, chosen = 0, alive = 0;
  for (int i = 0; i < width; i++) {
    chosen += s.label[i] > 0;
    alive += s.label[i] > 0 && stays[i];
  }
  if (chosen > 0 && alive == 0) {
    for (int i = 0; i < width; i++)
      for (int j = 0; j < i; j++)
        if (s.label[i] && s.label[j] && s.label[i] != s.label[j]) return;
    w->best = fmax(w->best, s.weight);
    return;
  }
  for (int i = 0; i < width; i++) {
    bool held = s.label[i] == 0 || stays[i];
    for (int j = 0; j < width; j++)
      held |= stays[j] && s.label[j] == s.label[i];
    if (!held) return;
    if (stays[i]) out.label[kept++] = s.label[i];
  }
  keep(w, out, kept);
}

static void step(sweep *w, int v)
{
  const net *g = w->g;
  int stays[FRONTIER + 1], width = w->width;
  assert_true(width < FRONTIER);
  w->frontier[width] = v;
  for (int i = 0; i <= width; i++) stays[i] = has_later(g, w->frontier[i], v);
  w->n_then = 0;
  for (int i = 0; i < 4 * STATES; i++) w->table[i] = -1;
  for (int k = 0; k < w->n_now; k++) {
    shape s = w->now[k];
    s.label[width] = 0;
    retire(w, s, stays, width + 1);
    s.label[width] = 200;
    s.weight += g->score[v];
    for (int i = 0; i < width; i++) {
      int u = w->frontier[i];
      unsigned char old = s.label[i];
      if (old == 0 || old == 200 || !(g->edge[u][v] || g->edge[v][u])) continue;
      for (int j = 0; j < width; j++)
        if (s.label[j] == old) s.label[j] = 200;
    }
    /* what began before is joined, or lies in the frontier still: a state
     * without any chosen node has none at all */
    retire(w, s, stays, width + 1);
  }
  int kept = 0;
  for (int i = 0; i <= width; i++)
    if (stays[i]) w->frontier[kept++] = w->frontier[i];
  w->width = kept;
  shape *t = w->now;
  w->now = w->then, w->then = t;
  w->n_now = w->n_then;
}

static double sweep_best(const net *g)
{
  sweep w = {.g = g};
  w.now = calloc(STATES, sizeof *w.now);
  w.then = calloc(STATES, sizeof *w.then);
  w.table = calloc(4 * STATES, sizeof *w.table);
  w.n_now = 1; /* nothing chosen */
  for (int v = 0; v < g->n; v++) step(&w, v);
  free(w.now), free(w.then), free(w.table);
  return w.best;
}

/* ---- all subsets ----------------------------------------------------------*/
static bool connected(const net *g, unsigned set)
{
  unsigned reached = set & -set, before = 0;
  while (reached != before) {
    before = reached;
    for (int v = 0; v < g->n; v++)
      for (int u = 0; u < g->n && (reached >> v & 1); u++)
        if ((set >> u & 1) && (g->edge[v][u] || g->edge[u][v]))
          reached |= 1u << u;
  }
  return reached == set;
}

static double subset_best(const net *g)
{
  double best = 0;
  for (unsigned set = 1; set < 1u << g->n; set++) {
    double sum = 0;
    for (int v = 0; v < g->n; v++) sum += set >> v & 1 ? g->score[v] : 0;
    if (sum > best && connected(g, set)) best = sum;
  }
  return best;
}

/* ---- checks ---------------------------------------------------------------
 * What was found is connected, weighs what is said, and no set weighs more. */
static void check_region(const net *g, const unsigned char *inside,
                         const lapis_region_info *info, double best)
{
  double sum = 0, unit = 1e-9;
  int members = 0, reached = 0, stack[NODES], top = 0;
  bool seen[NODES] = {false};
  for (int v = 0; v < g->n; v++) {
    unit += 1e-9 * fabs(g->score[v]);
    if (!inside[v]) continue;
    sum += g->score[v];
    if (members++ == 0) stack[top++] = v, seen[v] = true;
  }
  while (top > 0) {
    int v = stack[--top];
    reached++;
    for (int u = 0; u < g->n; u++)
      if (inside[u] && !seen[u] && (g->edge[v][u] || g->edge[u][v]))
        stack[top++] = u, seen[u] = true;
  }
  assert_int_equal(reached, members);
  assert_int_equal(info->members, members);
  CHECK_NEAR(info->score, sum, unit);
  CHECK_NEAR(info->score, best, unit);
  CHECK_NEAR(info->bound, info->score, unit);
  CHECK_AT_MOST(info->gap, 1e-7);
  assert_int_equal(info->status, LAPIS_OK);
}

static void solve_and_check(lapis_ctx *ctx, const net *g, double best)
{
  unsigned char inside[NODES];
  lapis_region_info info;
  lapis_region_settings set = lapis_region_defaults();
  lapis_status status =
      lapis_region_find(ctx, &g->graph, g->score, &set, inside, &info);
  if (status < 0) print_error("%s\n", lapis_ctx_error(ctx));
  assert_int_equal(status, LAPIS_OK);
  check_region(g, inside, &info, best);
}

static void hundred_graphs(void **unused)
{
  (void)unused;
  lapis_ctx *ctx = lapis_ctx_new();
  for (uint64_t seed = 0; seed < 100; seed++) {
    uint64_t state = seed;
    net g;
    make_grid(&g, 5, 6, (int)(seed % 4), &state);
    solve_and_check(ctx, &g, sweep_best(&g));
  }
  lapis_ctx_free(ctx);
}

/* Any graph, and weights with signs, ties and zeros. */
static void small_graphs(void **unused)
{
  (void)unused;
  lapis_ctx *ctx = lapis_ctx_new();
  for (uint64_t seed = 0; seed < 200; seed++) {
    uint64_t state = seed + 1000;
    net g;
    memset(&g, 0, sizeof g);
    g.n = 1 + (int)(12 * check_uniform(&state));
    double dense = check_uniform(&state);
    for (int v = 0; v < g.n; v++) {
      for (int u = 0; u < v; u++)
        g.edge[v][u] = check_uniform(&state) < dense * dense;
      double u = check_uniform(&state);
      g.score[v] = seed % 2 ? floor(9 * u) - 5 : u - 0.6;
    }
    close_net(&g);
    double best = subset_best(&g);
    CHECK_NEAR(sweep_best(&g), best, 1e-12); /* the oracles agree */
    solve_and_check(ctx, &g, best);
  }
  lapis_ctx_free(ctx);
}

static void nothing_positive_is_empty(void **unused)
{
  (void)unused;
  lapis_ctx *ctx = lapis_ctx_new();
  net g = {.n = 3, .edge = {{false, true}}, .score = {-1, 0, -2}};
  close_net(&g);
  unsigned char inside[3] = {1, 1, 1};
  lapis_region_info info;
  assert_int_equal(
      lapis_region_find(ctx, &g.graph, g.score, NULL, inside, &info), LAPIS_OK);
  assert_int_equal(inside[0] + inside[1] + inside[2], 0);
  CHECK_NEAR(info.score, 0, 0);
  CHECK_NEAR(info.gap, 0, 0);
  g.graph.count = 0;
  assert_int_equal(
      lapis_region_find(ctx, &g.graph, g.score, NULL, inside, &info), LAPIS_OK);
  lapis_ctx_free(ctx);
}

/* Out of time the answer is connected, and the bound still holds. */
static void no_time_gives_a_bound(void **unused)
{
  (void)unused;
  lapis_ctx *ctx = lapis_ctx_new();
  uint64_t state = 4;
  net g;
  make_grid(&g, 5, 6, 0, &state);
  double best = sweep_best(&g);
  unsigned char inside[NODES];
  lapis_region_info info;
  lapis_region_settings set = lapis_region_defaults();
  set.seconds = 0;
  assert_int_equal(
      lapis_region_find(ctx, &g.graph, g.score, &set, inside, &info),
      LAPIS_TIME_LIMIT);
  CHECK_AT_LEAST(info.bound, best - 1e-12);
  CHECK_AT_MOST(info.score, best + 1e-12);
  CHECK_AT_LEAST(info.gap, 1e-3);
  lapis_ctx_free(ctx);
}

static void bad_input_is_refused(void **unused)
{
  (void)unused;
  lapis_ctx *ctx = lapis_ctx_new();
  net g = {.n = 2, .edge = {{false, true}}, .score = {1, 2}};
  close_net(&g);
  unsigned char inside[2];
  lapis_region_settings set = lapis_region_defaults();
  set.seconds = NAN;
  assert_int_equal(
      lapis_region_find(ctx, &g.graph, g.score, &set, inside, NULL),
      LAPIS_EINVAL);
  g.next[0] = 2;
  assert_int_equal(
      lapis_region_find(ctx, &g.graph, g.score, NULL, inside, NULL),
      LAPIS_EINVAL);
  check_says(lapis_ctx_error(ctx), "2");
  g.next[0] = 1, g.score[1] = NAN;
  assert_int_equal(
      lapis_region_find(ctx, &g.graph, g.score, NULL, inside, NULL),
      LAPIS_EDATA);
  g.score[1] = 0, g.start[1] = 9;
  assert_int_equal(
      lapis_region_find(ctx, &g.graph, g.score, NULL, inside, NULL),
      LAPIS_EINVAL);
  lapis_ctx_free(ctx);
}

int test_region(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_graphs),
      cmocka_unit_test(hundred_graphs),
      cmocka_unit_test(nothing_positive_is_empty),
      cmocka_unit_test(no_time_gives_a_bound),
      cmocka_unit_test(bad_input_is_refused),
  };
  return run_cases(tests, NULL, NULL);
}
