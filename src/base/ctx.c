/* ctx.c - the context: what it knows, says and is asked. */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "base/base.h"
#include "base/number.h"
#include "base/private.h"

const char *lapis_ctx_error(const lapis_ctx *ctx)
{
  return ctx == NULL ? "there is no context, or no memory for one" : ctx->error;
}

lapis_status lapis_ctx_status(const lapis_ctx *ctx)
{
  return ctx == NULL ? LAPIS_EINVAL : ctx->status;
}

const char *base_spell(const lapis_ctx *ctx, const char *text, char *to,
                       size_t size)
{
  return spell_settings(text, ctx->notes.keywords, to, size);
}

const char *base_door(const lapis_ctx *ctx, const char *command,
                      const char *program)
{
  return ctx != NULL && ctx->notes.keywords ? program : command;
}

const char *base_cell(const lapis_ctx *ctx, int64_t sample, const char *kind,
                      int64_t k, char to[CELL_BYTES])
{
  bool program = ctx != NULL && ctx->notes.keywords;
  int used = snprintf(to, CELL_BYTES, "%s %" PRId64, program ? "sample" : "row",
                      sample + 1);
  if (k >= 0)
    used += snprintf(to + used, CELL_BYTES - (size_t)used, ", %s %" PRId64,
                     program ? kind : "column", k + 1);
  if (program)
    (void)snprintf(to + used, CELL_BYTES - (size_t)used, " (from 1)");
  return to;
}

lapis_status lapis_fail(lapis_ctx *ctx, lapis_status s, const char *format, ...)
{
  if (ctx == NULL) return s;
  va_list args;
  va_start(args, format);
  spell_sentence(ctx->notes.keywords, format, args, ctx->error,
                 sizeof ctx->error);
  ctx->status = s;
  va_end(args);
  return s;
}

void base_forget_error(lapis_ctx *ctx)
{
  ctx->error[0] = '\0';
  ctx->status = LAPIS_OK;
}

static bool is_heard(const lapis_ctx *ctx, int level)
{
  int least = level > 0 ? level : 0; /* a note is heard as a warning is */
  return ctx->on_message != NULL && least + ctx->muted <= ctx->verbose;
}

LAPIS_PRINTF(3, 0)
static void say(lapis_ctx *ctx, int level, const char *format, va_list args)
{
  char shown[ERROR_SIZE];
  spell_sentence(ctx->notes.keywords, format, args, shown, sizeof shown);
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

int base_threads(const lapis_ctx *ctx)
{
  return ctx->threads > 0 ? ctx->threads : ctx->allowed;
}

int lapis_ctx_threads(const lapis_ctx *ctx)
{
  if (ctx == NULL) return 0;
  return base_threads(ctx);
}

/* ---- a worker -----------------------------------------------------------*/
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

void base_compared(lapis_ctx *ctx, bool on)
{
  ctx->compared = on;
}

bool base_is_compared(const lapis_ctx *ctx)
{
  return ctx->compared;
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

bool lapis_ctx_must_stop(const lapis_ctx *ctx)
{
  return ctx != NULL && base_must_stop(ctx);
}

static lapis_status stopped(lapis_ctx *ctx, const char *doing, const char *what)
{
  base_rearm(ctx);
  return lapis_fail(ctx, LAPIS_ESTOPPED, "stopped while %s %s", doing, what);
}

/* Which answers with what it has, or says itself that it was stopped. */
static bool is_of_a_solve(const lapis_ctx *ctx)
{
  if (ctx == NULL || ctx->muted > 0 || ctx->trunk != NULL) return true;
  const note_list *open = ctx->notes.open;
  return open != NULL && (!ctx->heeds || open->outer != NULL);
}

void base_heed(lapis_ctx *ctx, bool on)
{
  ctx->heeds = on;
}

lapis_status base_branch_on(lapis_ctx *ctx, const char *doing, const char *what)
{
  if (ctx->trunk == NULL || !base_must_stop(ctx)) return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_ESTOPPED, "stopped while %s %s", doing, what);
}

lapis_status base_go_on(lapis_ctx *ctx, const char *doing, const char *what)
{
  if (is_of_a_solve(ctx)) return LAPIS_OK;
  if (base_cancelled(ctx)) return stopped(ctx, doing, what);
  if (!base_late(ctx)) return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_ELATE,
                    "the time limit ended while %s %s, so there is no answer; "
                    "give it more time",
                    doing, what);
}

lapis_status base_write_on(lapis_ctx *ctx, const char *what)
{
  if (is_of_a_solve(ctx) || !base_cancelled(ctx)) return LAPIS_OK;
  return stopped(ctx, "writing", what);
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

base_rows base_name_rows(lapis_ctx *ctx, base_rows of)
{
  base_rows before = ctx->rows;
  ctx->rows = of;
  return before;
}

int64_t base_row(const lapis_ctx *ctx, int64_t j, int64_t n)
{
  bool part = ctx != NULL && ctx->rows.row != NULL && n == ctx->rows.n;
  return (part ? ctx->rows.row[j] : j) + 1;
}

bool base_show(lapis_ctx *ctx, const lapis_progress *now)
{
  lapis_progress p = *now;
  p.size = sizeof p;
  if (p.done > 1) p.done = 1; /* of the time that was granted */
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

void lapis_ctx_done(lapis_ctx *ctx, double share, double seconds)
{
  const lapis_progress now = {.method = "",
                              .objective = NAN,
                              .gap = NAN,
                              .residual = NAN,
                              .seconds = seconds,
                              .done = share};
  if (ctx != NULL && !base_show(ctx, &now)) lapis_ctx_cancel(ctx);
}

base_traffic *base_traffic_of(lapis_ctx *ctx)
{
  return &ctx->traffic;
}

double base_max_unfold(const lapis_ctx *ctx)
{
  return 1e6 * (double)ctx->max_unfold;
}

double base_max_pixels(const lapis_ctx *ctx)
{
  return (double)ctx->max_pixels;
}
