/* ctx_new.c - a context: made, set, freed. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/private.h"

/* An image of 8 bits is 12 bytes a pixel while it is described: .6 GB. */
static const uint64_t MAX_PIXELS = 50000000, MOST_PIXELS = 1 << 30;
static const uint64_t MAX_UNFOLD = 64; /* MB */
static const uint64_t MOST_JOBS = 1024;

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
  ctx->spread = SPREAD_ALONE;
  ctx->allowed = allowed_threads();
  ctx->jobs = 1;
  ctx->deadline = INFINITY;
  ctx->max_pixels = MAX_PIXELS;
  ctx->max_unfold = MAX_UNFOLD;
  ctx->width = width_widest();
  ctx->notes.keywords = true;
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
  own->max_unfold = ctx->max_unfold;
  own->width = ctx->width;
  own->notes.keywords = ctx->notes.keywords;
  return own;
}

void lapis_ctx_free(lapis_ctx *ctx)
{
  base_free(ctx);
}

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
  bool keywords = strcmp(value, "keywords") == 0;
  if (keywords || strcmp(value, "options") == 0) {
    ctx->notes.keywords = keywords;
    return LAPIS_OK;
  }
  return lapis_fail(ctx, LAPIS_EINVAL,
                    "spelling: '%s' is neither 'options' nor 'keywords'",
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
  if (strcmp(key, "max-unfold") == 0) {
    TRY(set_number(ctx, key, value, MOST_PIXELS, &v));
    ctx->max_unfold = v;
    return LAPIS_OK;
  }
  return lapis_fail(ctx, LAPIS_EINVAL,
                    "'%s' is not a setting of a context; seed, threads, jobs, "
                    "backend, kernels, deterministic, verbose, spelling, "
                    "max-pixels and max-unfold are",
                    key);
}

base_width base_width_of(const lapis_ctx *ctx)
{
  return ctx == NULL ? width_widest() : ctx->width;
}

const char *lapis_ctx_kernels(const lapis_ctx *ctx)
{
  return ctx == NULL ? NULL : base_width_name(ctx->width);
}
