/* messages.c - everything that goes to stderr: errors, messages, the bar. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "command/command.h"

enum { BAR_CELLS = 24, LONGEST = 8192 };
/* seconds: quick runs need no bar, and no lines on their steps */
static const double BAR_AFTER = 0.5, LINES_AFTER = 10, LINES_EVERY = 60;
static const double GROWS_AT_MOST = 1.5; /* time left that is shown */

/* A file that is read twice has one doubt, not two; so has a solver that goes
 * on. */
static bool is_said(cli *c, const char *warning)
{
  enum { MOST = sizeof c->warned / sizeof *c->warned };
  uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a */
  for (; *warning != '\0'; warning++)
    h = (h ^ (unsigned char)*warning) * UINT64_C(1099511628211);
  for (int k = 0; k < c->n_warned; k++)
    if (c->warned[k] == h) return true;
  if (c->n_warned < MOST) c->warned[c->n_warned++] = h;
  return false;
}

static void on_message(int level, const char *text, void *user)
{
  cli *c = user;
  if (c->quiet || (level <= 0 && is_said(c, text))) return;
  cli_wipe_bar(c);
  fprintf(stderr, "lapis: %s%s\n", level == 0 ? "warning: " : "", text);
}

/* "  12 s left", or nothing while there is no idea: at the beginning, and when
 * it would grow by more than half of the least that was shown of this step. */
static void time_left(cli *c, const lapis_progress *p, char *text, size_t size)
{
  text[0] = '\0';
  if (!(p->done > 0.02)) return;
  double left = p->seconds * (1 - p->done) / p->done;
  if (left > GROWS_AT_MOST * c->least_left) return;
  c->least_left = fmin(c->least_left, left);
  if (left < 100) /* never "0 s left" */
    snprintf(text, size, "  %.0f s left", fmax(ceil(left), 1));
  else
    snprintf(text, size, "  %.0f min left", left / 60);
}

/* A step of a pipeline, or a solver, begins. */
static void note_step(cli *c, const lapis_progress *p)
{
  const char *doing = c->doing == NULL ? p->method : c->doing;
  if (strcmp(c->step, doing) != 0) {
    snprintf(c->step, sizeof c->step, "%s", doing);
    c->least_left = INFINITY;
    c->step_said = false;
  }
  if (c->bar || c->step_said || c->verb->pipeline == NULL ||
      clock_seconds() - c->began < LINES_AFTER)
    return;
  c->step_said = true;
  fprintf(stderr, "lapis: %s\n", c->step);
}

/* Without a bar, a line a minute: a long step is not silent. */
static void note_minute(cli *c, const lapis_progress *p)
{
  char left[32];
  double now = clock_seconds();
  if (c->bar || isnan(p->done) || now - fmax(c->began, c->spoke) < LINES_EVERY)
    return;
  c->spoke = now;
  time_left(c, p, left, sizeof left);
  fprintf(stderr, "lapis: %s: %.0f %% done%s%s\n",
          c->doing == NULL ? p->method : c->doing, 100 * p->done,
          *left == '\0' ? "" : ",", left + (*left == '\0' ? 0 : 1));
}

static bool on_progress(const lapis_progress *p, void *user)
{
  cli *c = user;
  note_step(c, p);
  note_minute(c, p);
  if (!c->bar || p->seconds < BAR_AFTER) return true;
  char cells[BAR_CELLS + 1], left[32];
  int full = isnan(p->done) ? 0 : (int)(p->done * BAR_CELLS);
  for (int i = 0; i < BAR_CELLS; i++) cells[i] = i < full ? '#' : '.';
  cells[BAR_CELLS] = '\0';
  time_left(c, p, left, sizeof left);
  const char *doing = c->doing == NULL ? p->method : c->doing;
  if (isnan(p->objective) && p->done >= 1) {
    cli_wipe_bar(c); /* what is read or written is followed by words */
    return true;
  }
  if (isnan(p->objective)) {
    fprintf(stderr, "\r%s [%s]%s\033[K", doing, cells, left);
    c->bar_shown = true;
    return true;
  }
  bool by_gap = !isnan(p->gap);
  fprintf(stderr, "\r%s [%s] %lld  objective %.6g  %s %.1e", doing, cells,
          (long long)p->iter, p->objective, by_gap ? "gap" : "residual",
          by_gap ? p->gap : p->residual);
  if (p->rank > 0) fprintf(stderr, "  rank %lld", (long long)p->rank);
  fprintf(stderr, "%s\033[K", left);
  c->bar_shown = true;
  return true;
}

void cli_attach(cli *c)
{
  lapis_ctx_on_message(c->ctx, on_message, c);
  const char *when = args_get(&c->args, "progress");
  bool never = when != NULL && strcmp(when, "never") == 0;
  c->began = clock_seconds();
  c->least_left = INFINITY;
  if (!never && !c->quiet) lapis_ctx_on_progress(c->ctx, on_progress, c);
}

double clock_seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
