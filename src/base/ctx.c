/* ctx.c - the context: settings, sentences, callbacks. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "base/jobs.h"
#include "base/number.h"
#include "base/private.h"

enum { ERROR_SIZE = 1024, BACKEND_SIZE = 32, PHASE_SIZE = 96 };
/* An image of 8 bits is 12 bytes a pixel while it is described: .6 GB. */
static const uint64_t MAX_PIXELS = 50000000, MOST_PIXELS = 1 << 30;
static const uint64_t MOST_JOBS = 1024;

struct lapis_ctx {
  char error[ERROR_SIZE];
  char backend[BACKEND_SIZE]; /* "" : the default */
  uint64_t seed;
  int threads; /* 0: all cores */
  int jobs;    /* processes for units of work; 0: a core each */
  int verbose;
  bool deterministic;
  int muted;     /* depth */
  unsigned said; /* base_topic of the warnings that were given */
  atomic_bool cancelled;
  lapis_progress_fn on_progress;
  void *progress_user;
  lapis_message_fn on_message;
  void *message_user;
  int allowed; /* threads, where none are asked for */
  spread_state spread;
  const lapis_ctx *trunk; /* that a branch ends with, or NULL */
  double deadline;        /* on base_seconds' clock; infinity: none */
  keep_state keep;
  note_state notes;
  char phase[PHASE_SIZE]; /* of a run of several steps, or "" */
  uint64_t max_pixels;    /* of an image */
  base_width width;       /* of our own kernels */
  base_traffic traffic;
  const int64_t *row; /* n_rows: of a part of the samples, or NULL */
  int64_t n_rows;
};

static int least(int a, int b)
{
  return a < b ? a : b;
}

/* A number that a variable of the environment gives, or INT_MAX. */
static int limit_of(const char *variable)
{
  const char *text = getenv(variable);
  char *end = NULL;
  if (text == NULL) return INT_MAX;
  long count = strtol(text, &end, 10);
  return end == text || count < 1 || count > INT_MAX ? INT_MAX : (int)count;
}

/* What the processors that we may run on, OMP_NUM_THREADS, OMP_THREAD_LIMIT,
 * OPENBLAS_NUM_THREADS and whoever asked OpenMP for fewer threads
 * (threadpoolctl) leave, at the moment and in the thread that makes the
 * context. */
static int allowed_threads(void)
{
  int count = least(omp_get_max_threads(), omp_get_thread_limit());
  count = least(count, limit_of("OPENBLAS_NUM_THREADS"));
  return least(count, omp_get_num_procs());
}

lapis_ctx *lapis_ctx_new(void)
{
  lapis_ctx *ctx = base_alloc(NULL, 1, sizeof *ctx);
  if (ctx == NULL) return NULL;
  lapis_ctx_set_comm(ctx, NULL);
  ctx->allowed = allowed_threads();
  ctx->jobs = 1;
  ctx->deadline = INFINITY;
  ctx->max_pixels = MAX_PIXELS;
  ctx->width = width_widest();
  return ctx;
}

lapis_ctx *base_ctx_branch(const lapis_ctx *ctx)
{
  lapis_ctx *own = lapis_ctx_new();
  if (own == NULL) return NULL;
  memcpy(own->backend, ctx->backend, sizeof own->backend);
  own->seed = ctx->seed;
  own->deterministic = ctx->deterministic;
  own->threads = 1;
  own->trunk = ctx;
  own->max_pixels = ctx->max_pixels;
  own->width = ctx->width;
  return own;
}

void lapis_ctx_free(lapis_ctx *ctx)
{
  base_free(ctx);
}

const char *lapis_ctx_error(const lapis_ctx *ctx)
{
  return ctx == NULL ? "there is no context, or no memory for one" : ctx->error;
}

lapis_status lapis_fail(lapis_ctx *ctx, lapis_status s, const char *format, ...)
{
  if (ctx == NULL) return s;
  va_list args;
  va_start(args, format);
  char text[ERROR_SIZE];
  (void)number_vprint(text, sizeof text, format, args);
  (void)lapis_text_shown(text, ctx->error, sizeof ctx->error);
  va_end(args);
  return s;
}

static bool is_heard(const lapis_ctx *ctx, int level)
{
  int least = level > 0 ? level : 0; /* a note is heard as a warning is */
  return ctx->on_message != NULL && least + ctx->muted <= ctx->verbose;
}

LAPIS_PRINTF(3, 0)
static void say(lapis_ctx *ctx, int level, const char *format, va_list args)
{
  char text[ERROR_SIZE], shown[ERROR_SIZE];
  (void)number_vprint(text, sizeof text, format, args);
  (void)lapis_text_shown(text, shown, sizeof shown);
  ctx->on_message(level, shown, ctx->message_user);
}

void base_say(lapis_ctx *ctx, int level, const char *format, ...)
{
  if (!is_heard(ctx, level)) return;
  va_list args;
  va_start(args, format);
  say(ctx, level, format, args);
  va_end(args);
}

void base_say_once(lapis_ctx *ctx, base_topic topic, const char *format, ...)
{
  if (!is_heard(ctx, 0) || (ctx->said & topic) != 0) return;
  ctx->said |= topic;
  va_list args;
  va_start(args, format);
  say(ctx, 0, format, args);
  va_end(args);
}

/* ---- settings -----------------------------------------------------------*/
static lapis_status set_number(lapis_ctx *ctx, const char *key,
                               const char *value, uint64_t high, uint64_t *out)
{
  char *end;
  errno = 0;
  unsigned long long v = strtoull(value, &end, 10);
  bool digits = value[0] >= '0' && value[0] <= '9';
  if (!digits || *end != '\0' || errno != 0 || v > high)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "%s: '%s' is not a whole number from 0 to %" PRIu64, key,
                      value, high);
  *out = v;
  return LAPIS_OK;
}

static lapis_status set_backend(lapis_ctx *ctx, const char *value)
{
  if (strlen(value) >= sizeof ctx->backend)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "backend: '%s' is unknown; openblas and reference are "
                      "built in",
                      value);
  strcpy(ctx->backend, value);
  return LAPIS_OK;
}

static lapis_status set_flag(lapis_ctx *ctx, const char *key, const char *value,
                             bool *out)
{
  bool yes = strcmp(value, "true") == 0 || strcmp(value, "1") == 0;
  bool no = strcmp(value, "false") == 0 || strcmp(value, "0") == 0;
  if (!yes && !no)
    return lapis_fail(ctx, LAPIS_EINVAL, "%s: '%s' is neither true nor false",
                      key, value);
  *out = yes;
  return LAPIS_OK;
}

static lapis_status set_spelling(lapis_ctx *ctx, const char *value)
{
  ctx->notes.keywords = strcmp(value, "keywords") == 0;
  if (ctx->notes.keywords || strcmp(value, "options") == 0) return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_EINVAL,
                    "spelling: '%s' is neither options (--mu-rel .1) nor "
                    "keywords (mu_rel=.1)",
                    value);
}

lapis_status lapis_ctx_set(lapis_ctx *ctx, const char *key, const char *value)
{
  NEEDS(ctx, ctx, key, value);
  uint64_t v = 0;
  if (strcmp(key, "seed") == 0)
    return set_number(ctx, key, value, UINT64_MAX, &ctx->seed);
  if (strcmp(key, "backend") == 0) return set_backend(ctx, value);
  if (strcmp(key, "spelling") == 0) return set_spelling(ctx, value);
  if (strcmp(key, "kernels") == 0) return width_read(ctx, value, &ctx->width);
  if (strcmp(key, "deterministic") == 0)
    return set_flag(ctx, key, value, &ctx->deterministic);
  if (strcmp(key, "threads") == 0) {
    TRY(set_number(ctx, key, value, 4096, &v));
    ctx->threads = (int)v;
    return LAPIS_OK;
  }
  if (strcmp(key, "jobs") == 0) {
    bool as_cores = strcmp(value, "auto") == 0;
    if (!as_cores && set_number(ctx, key, value, MOST_JOBS, &v) < 0)
      return lapis_fail(ctx, LAPIS_EINVAL,
                        "jobs: '%s' is neither auto nor a whole number from 0 "
                        "to %" PRIu64,
                        value, MOST_JOBS);
    ctx->jobs = (int)v;
    return LAPIS_OK;
  }
  if (strcmp(key, "verbose") == 0) {
    TRY(set_number(ctx, key, value, 2, &v));
    ctx->verbose = (int)v;
    return LAPIS_OK;
  }
  if (strcmp(key, "max-pixels") == 0) {
    TRY(set_number(ctx, key, value, MOST_PIXELS, &v));
    if (v < 1)
      return lapis_fail(ctx, LAPIS_EINVAL,
                        "max-pixels 0: an image has one pixel or more");
    ctx->max_pixels = v;
    return LAPIS_OK;
  }
  return lapis_fail(ctx, LAPIS_EINVAL,
                    "'%s' is no setting of a context; seed, threads, jobs, "
                    "backend, kernels, deterministic, verbose, spelling and "
                    "max-pixels are",
                    key);
}

int base_threads(const lapis_ctx *ctx)
{
  return ctx->threads > 0 ? ctx->threads : ctx->allowed;
}

base_width base_width_of(const lapis_ctx *ctx)
{
  return ctx == NULL ? width_widest() : ctx->width;
}

const char *lapis_ctx_kernels(const lapis_ctx *ctx)
{
  return ctx == NULL ? NULL : base_width_name(ctx->width);
}

int lapis_ctx_threads(const lapis_ctx *ctx)
{
  if (ctx == NULL) return 0;
  return base_threads(ctx);
}

/* ---- jobs ---------------------------------------------------------------*/
int jobs_of(const lapis_ctx *ctx, int64_t units)
{
  int jobs = ctx->jobs > 0 ? ctx->jobs : omp_get_num_procs();
  if (ctx->spread.comm.size > 1 || units < 1) return 1;
  return (int64_t)jobs < units ? jobs : (int)units;
}

int jobs_divide(lapis_ctx *ctx, const char *who, int jobs)
{
  int before = ctx->threads, own = base_threads(ctx) / jobs;
  if (jobs == 1) return before;
  ctx->threads = own > 1 ? own : 1;
  base_say(ctx, 1,
           "%s: %d jobs, %d thread%s each; what is read and what they share is "
           "in memory once, what each makes as often as there are jobs",
           who, jobs, ctx->threads, ctx->threads == 1 ? "" : "s");
  return before;
}

void jobs_undivide(lapis_ctx *ctx, int threads)
{
  ctx->threads = threads;
}

void base_become_worker(lapis_ctx *ctx, lapis_message_fn fn, note_relay note,
                        void *user)
{
  ctx->jobs = 1;
  ctx->notes.relay = note;
  ctx->notes.relay_user = user;
  ctx->notes.relay_depth = ctx->muted;
  ctx->on_progress = NULL;
  if (ctx->on_message != NULL) lapis_ctx_on_message(ctx, fn, user);
}

void base_pass_on(lapis_ctx *ctx, int level, const char *text)
{
  if (ctx->on_message != NULL) ctx->on_message(level, text, ctx->message_user);
}

bool base_deterministic(const lapis_ctx *ctx)
{
  return ctx->deterministic;
}

const char *base_backend_name(const lapis_ctx *ctx)
{
  return ctx->backend[0] == '\0' ? NULL : ctx->backend;
}

int base_verbose(const lapis_ctx *ctx)
{
  return ctx->verbose;
}

uint64_t base_seed(const lapis_ctx *ctx)
{
  return ctx->seed;
}

double base_seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void lapis_ctx_limit(lapis_ctx *ctx, double seconds)
{
  if (ctx == NULL) return;
  ctx->deadline = base_seconds() + seconds;
}

double base_deadline(const lapis_ctx *ctx)
{
  return ctx->deadline;
}

void base_set_deadline(lapis_ctx *ctx, double at)
{
  ctx->deadline = at;
}

bool base_late(const lapis_ctx *ctx)
{
  if (ctx->trunk != NULL && base_late(ctx->trunk)) return true;
  return isfinite(ctx->deadline) && base_seconds() > ctx->deadline;
}

note_state *base_notes(lapis_ctx *ctx)
{
  return &ctx->notes;
}

const note_state *base_notes_of(const lapis_ctx *ctx)
{
  return &ctx->notes;
}

bool base_is_inside(const lapis_ctx *ctx)
{
  const note_list *list = ctx->notes.open;
  return ctx->phase[0] != '\0' || (list != NULL && list->outer != NULL);
}

keep_state *base_keep(lapis_ctx *ctx)
{
  return &ctx->keep;
}

spread_state *base_spread(lapis_ctx *ctx)
{
  return &ctx->spread;
}

const spread_state *base_spread_of(const lapis_ctx *ctx)
{
  return &ctx->spread;
}

/* ---- cancelling and callbacks -------------------------------------------*/
void lapis_ctx_cancel(lapis_ctx *ctx)
{
  if (ctx == NULL) return;
  atomic_store_explicit(&ctx->cancelled, true, memory_order_relaxed);
}

bool base_cancelled(const lapis_ctx *ctx)
{
  if (ctx->trunk != NULL && base_cancelled(ctx->trunk)) return true;
  return atomic_load_explicit(&ctx->cancelled, memory_order_relaxed);
}

bool base_must_stop(const lapis_ctx *ctx)
{
  return base_cancelled(ctx) || base_late(ctx);
}

void base_rearm(lapis_ctx *ctx)
{
  atomic_store_explicit(&ctx->cancelled, false, memory_order_relaxed);
}

void lapis_ctx_on_progress(lapis_ctx *ctx, lapis_progress_fn fn, void *user)
{
  if (ctx == NULL) return;
  ctx->on_progress = fn;
  ctx->progress_user = user;
}

void lapis_ctx_on_message(lapis_ctx *ctx, lapis_message_fn fn, void *user)
{
  if (ctx == NULL) return;
  ctx->on_message = fn;
  ctx->message_user = user;
}

void base_mute(lapis_ctx *ctx, bool on)
{
  ctx->muted += on ? 1 : -1;
}

int base_muted(const lapis_ctx *ctx)
{
  return ctx->muted;
}

void base_name_rows(lapis_ctx *ctx, const int64_t *row, int64_t n)
{
  ctx->row = row;
  ctx->n_rows = n;
}

int64_t base_row(const lapis_ctx *ctx, int64_t j, int64_t n)
{
  bool part = ctx != NULL && ctx->row != NULL && n == ctx->n_rows;
  return (part ? ctx->row[j] : j) + 1;
}

bool base_show(lapis_ctx *ctx, const lapis_progress *now)
{
  lapis_progress p = *now;
  p.size = sizeof p;
  if (ctx->phase[0] != '\0') p.method = ctx->phase;
  return ctx->on_progress == NULL || ctx->on_progress(&p, ctx->progress_user);
}

void lapis_ctx_phase(lapis_ctx *ctx, const char *text)
{
  static const lapis_progress begins = {
      .method = "", .objective = NAN, .gap = NAN, .residual = NAN, .done = NAN};
  if (ctx == NULL) return;
  (void)snprintf(ctx->phase, sizeof ctx->phase, "%s", text == NULL ? "" : text);
  if (ctx->phase[0] != '\0' && !base_show(ctx, &begins)) lapis_ctx_cancel(ctx);
}

base_traffic *base_traffic_of(lapis_ctx *ctx)
{
  return &ctx->traffic;
}

double base_max_pixels(const lapis_ctx *ctx)
{
  return (double)ctx->max_pixels;
}
