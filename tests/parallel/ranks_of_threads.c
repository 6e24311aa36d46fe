/* ranks_of_threads.c - see ranks.h. */
#include "ranks.h"

#include <pthread.h>

typedef struct world {
  pthread_mutex_t lock;
  pthread_cond_t turn;
  int size, inside, generation;
  bool waits[RANKS_MOST], left[RANKS_MOST];
  bool broken;
  char why[200];
  double *slot[RANKS_MOST];
  int64_t length[RANKS_MOST];
  int kind[RANKS_MOST];
  double *sum;
  int64_t room, sums, numbers;
} world;

typedef struct member {
  world *w;
  int rank;
  ranks_act act;
  void *user;
} member;

/* ---- the barrier --------------------------------------------------------*/
/* With the lock held: somebody waits for one that has left. */
static void look(world *w)
{
  for (int r = 0; r < w->size; r++)
    for (int q = 0; q < w->size && !w->broken; q++)
      if (w->waits[r] && w->left[q]) {
        w->broken = true;
        snprintf(w->why, sizeof w->why,
                 "rank %d of %d waits for rank %d, which has left", r, w->size,
                 q);
        pthread_cond_broadcast(&w->turn);
      }
}

static void meet(world *w, int rank)
{
  pthread_mutex_lock(&w->lock);
  int generation = w->generation;
  w->waits[rank] = true;
  if (++w->inside == w->size) {
    w->inside = 0;
    w->generation++;
    for (int r = 0; r < w->size; r++) w->waits[r] = false;
    pthread_cond_broadcast(&w->turn);
  }
  look(w);
  while (!w->broken && generation == w->generation)
    pthread_cond_wait(&w->turn, &w->lock);
  pthread_mutex_unlock(&w->lock);
}

static void leave(world *w, int rank)
{
  pthread_mutex_lock(&w->lock);
  w->left[rank] = true;
  look(w);
  pthread_mutex_unlock(&w->lock);
}

/* ---- sums ---------------------------------------------------------------*/
static void add_up(world *w, int64_t n, bool most)
{
  for (int r = 1; r < w->size; r++)
    if (w->length[r] != n || w->kind[r] != w->kind[0]) {
      w->broken = true;
      snprintf(w->why, sizeof w->why,
               "rank %d sums %lld numbers where rank 0 sums %lld", r,
               (long long)w->length[r], (long long)n);
      return;
    }
  if (n > w->room) {
    w->sum = realloc(w->sum, (size_t)n * sizeof *w->sum);
    w->room = n;
  }
  for (int64_t i = 0; i < n; i++) {
    double s = w->slot[0][i];
    for (int r = 1; r < w->size; r++)
      s = most ? fmax(s, w->slot[r][i]) : s + w->slot[r][i];
    w->sum[i] = s;
  }
  w->sums++;
  w->numbers += n;
}

static int reduce(void *self, double *x, int64_t n, bool most)
{
  member *m = self;
  world *w = m->w;
  int rank = m->rank;
  w->slot[rank] = x;
  w->length[rank] = n;
  w->kind[rank] = most;
  meet(w, rank);
  if (rank == 0 && !w->broken) add_up(w, n, most);
  meet(w, rank);
  bool broken = w->broken;
  if (!broken) memcpy(x, w->sum, (size_t)n * sizeof *x);
  meet(w, rank);
  return broken || w->broken;
}

static int sum(void *self, double *x, int64_t n)
{
  return reduce(self, x, n, false);
}

static int largest(void *self, double *x, int64_t n)
{
  return reduce(self, x, n, true);
}

/* ---- ranks -----------------------------------------------------------*/
static lapis_status apply(lapis_ctx *ctx, const lapis_method *m, void *set,
                          const char *settings)
{
  char text[400], *rest = text;
  snprintf(text, sizeof text, "%s", settings == NULL ? "" : settings);
  for (char *word; (word = strtok_r(rest, ";", &rest)) != NULL;) {
    char *equal = strchr(word, '=');
    *equal = '\0';
    lapis_status s = lapis_settings_set(ctx, m, set, word, equal + 1);
    if (s < 0) return s;
  }
  return LAPIS_OK;
}

static void *run(void *user)
{
  member *me = user;
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_comm comm = {.rank = me->rank,
                     .size = me->w->size,
                     .self = me,
                     .sum = sum,
                     .max = largest};
  lapis_ctx_set(ctx, "threads", "1");
  if (comm.size > 1) lapis_ctx_set_comm(ctx, &comm);
  me->act(ctx, me->rank, me->user);
  leave(me->w, me->rank);
  return NULL;
}

ranks_sums ranks_each(int size, ranks_act act, void *user)
{
  world w = {.lock = PTHREAD_MUTEX_INITIALIZER,
             .turn = PTHREAD_COND_INITIALIZER,
             .size = size};
  member me[RANKS_MOST];
  pthread_t thread[RANKS_MOST];
  for (int r = 0; r < size; r++) {
    me[r] = (member){&w, r, act, user};
    assert_int_equal(pthread_create(&thread[r], NULL, run, &me[r]), 0);
  }
  for (int r = 0; r < size; r++) pthread_join(thread[r], NULL);
  free(w.sum);
  if (w.broken) fail_msg("%s", w.why);
  return (ranks_sums){w.sums, w.numbers};
}

/* ---- solving ------------------------------------------------------------*/
typedef struct solving {
  const ranks_job *job;
  ranks_run *out;
} solving;

static void solve(lapis_ctx *ctx, int rank, void *user)
{
  const ranks_job *job = ((solving *)user)->job;
  ranks_part *p = &((solving *)user)->out->part[rank];
  const lapis_method *m =
      job->model != NULL ? lapis_predict_method(lapis_model_method(job->model))
                         : lapis_method_find(job->method);
  void *set = calloc(1, m->settings_size);
  p->ctx = ctx;
  lapis_settings_default(m, set);
  p->made = apply(ctx, m, set, job->settings);
  if (job->before != NULL) job->before(p, set, job->user);
  if (p->made >= 0)
    p->made =
        job->model != NULL
            ? lapis_predict_new(ctx, &p->data, job->model, set, &p->solver)
            : lapis_solver_new(ctx, m, &p->data, set, &p->solver);
  p->solved = p->made >= 0 ? lapis_solve(p->solver) : p->made;
  if (job->after != NULL) job->after(p, job->user);
  free(set);
}

static lapis_mat cut(const lapis_mat *A, int64_t first, int64_t count)
{
  lapis_mat part = *A;
  if (A->cols == 0) return part;
  part.cols = count;
  if (A->colptr == NULL) {
    part.val = (double *)A->val + first * A->ld;
    return part;
  }
  int64_t *at = calloc((size_t)count + 1, sizeof *at), begin = A->colptr[first];
  for (int64_t j = 0; j <= count; j++) at[j] = A->colptr[first + j] - begin;
  part.colptr = at;
  part.rowidx = A->rowidx + begin;
  part.val = (double *)A->val + begin;
  return part;
}

/* Uneven: each gets a share that grows with its rank. */
static int64_t share_of(const ranks_job *job, int rank)
{
  int64_t n = job->whole.X.cols, weight = 0, before = 0, size = job->size;
  if (job->count != NULL) return job->count[rank];
  for (int r = 0; r < size; r++) weight += r + 2;
  for (int r = 0; r < rank; r++) before += r + 2;
  return n * (before + rank + 2) / weight - n * before / weight;
}

void ranks_solve(const ranks_job *job, ranks_run *out)
{
  solving all = {job, out};
  memset(out, 0, sizeof *out);
  out->size = job->size;
  for (int64_t r = 0, at = 0; r < job->size; r++) {
    ranks_part *p = &out->part[r];
    int64_t count = share_of(job, (int)r);
    *p = (ranks_part){.rank = (int)r, .size = job->size, .first = at};
    p->data.X = cut(&job->whole.X, at, count);
    p->data.Y = cut(&job->whole.Y, at, count);
    p->data.P = cut(&job->whole.P, at, count);
    if (job->whole.group != NULL) p->data.group = job->whole.group + at;
    at += count;
  }
  out->sums = ranks_each(job->size, solve, &all);
}

void ranks_free(ranks_run *run)
{
  for (int r = 0; r < run->size; r++) {
    lapis_solver_free(run->part[r].solver);
    lapis_ctx_free(run->part[r].ctx);
    free((void *)(uintptr_t)run->part[r].data.X.colptr);
  }
}

/* ---- joined -------------------------------------------------------------*/
double *ranks_join(const ranks_run *run, const char *name, int64_t *rows)
{
  int64_t cols = 0, at = 0;
  lapis_mat m;
  for (int r = 0; r < run->size; r++) cols += run->part[r].data.X.cols;
  double *all = NULL;
  for (int r = 0; r < run->size; r++) {
    const ranks_part *p = &run->part[r];
    assert_int_equal(lapis_result_get(p->solver, name, &m), LAPIS_OK);
    assert_int_equal(m.cols, p->data.X.cols);
    *rows = m.rows;
    if (all == NULL) all = malloc((size_t)(m.rows * cols + 1) * sizeof *all);
    for (int64_t j = 0; j < m.cols; j++)
      for (int64_t i = 0; i < m.rows; i++) all[at++] = lapis_mat_at(&m, i, j);
  }
  return all;
}

double ranks_distance(const ranks_run *a, const ranks_run *b, const char *name)
{
  int64_t rows, other, cols = 0;
  double *x = ranks_join(a, name, &rows), *y = ranks_join(b, name, &other);
  double off = 0, size = 0;
  assert_int_equal(rows, other);
  for (int r = 0; r < b->size; r++) cols += b->part[r].data.X.cols;
  for (int64_t k = 0; k < rows * cols; k++) {
    if (isnan(x[k]) && isnan(y[k])) continue;
    off += (x[k] - y[k]) * (x[k] - y[k]);
    size += y[k] * y[k];
  }
  free(x);
  free(y);
  return sqrt(off / (size > 0 ? size : 1));
}
