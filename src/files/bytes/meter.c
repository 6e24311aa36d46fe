/* meter.c - how far a long read or write of text is, for who waits. */
#include <math.h>

#include "files/io.h"

static const double SHOW_EVERY = 0.1; /* seconds, as a loop does */

io_meter io_meter_begin(void)
{
  double now = base_seconds();
  return (io_meter){now, now};
}

void io_meter_show(lapis_ctx *ctx, io_meter *m, const char *doing, double done)
{
  double now = base_seconds();
  bool ends = done >= 1, was_shown = m->shown > m->begun;
  bool wait = ends ? !was_shown : now - m->shown < SHOW_EVERY;
  if (wait || base_muted(ctx)) return;
  m->shown = now;
  lapis_progress p = {.method = doing,
                      .objective = NAN,
                      .gap = NAN,
                      .residual = NAN,
                      .seconds = now - m->begun,
                      .done = done};
  if (!base_show(ctx, &p)) lapis_ctx_cancel(ctx); /* who asks hears it */
}
