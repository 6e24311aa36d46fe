/* open.c - which backends there are, and opening one. */
#include <math.h>

#include "la/device/device.h"
#include "la/host/host.h"
#include "lapis/tools.h"

/* The need is read before the room: a thread of OpenBLAS that takes its buffer
 * in between then counts twice, and not never; it no longer does the next time.
 */
static lapis_status check_room(lapis_ctx *ctx)
{
  double need = 0, room = 0;
  for (int again = 0; again < 3; again++) {
    if (base_address_room() == INFINITY) return LAPIS_OK;
    need = blas_address_need();
    room = base_address_room();
    if (room >= need) return LAPIS_OK;
  }
  return lapis_fail(ctx, LAPIS_ENOMEM,
                    "openblas needs %.0f MB of addresses, and the limit on "
                    "memory (ulimit -v) leaves %.0f MB; raise it, or take "
                    "--backend reference",
                    need / 1e6, room / 1e6);
}

static const lapis_backend kinds[] = {
    {"openblas", blas_title, "all"},
    {"reference", "the processor, by plain loops, slowly", "all"}};
enum { KINDS = sizeof kinds / sizeof *kinds };

const lapis_backend *lapis_backend_at(int i)
{
  if (i >= KINDS) return device_row(i - KINDS);
  return i >= 0 ? &kinds[i] : NULL;
}

lapis_status la_open(lapis_ctx *ctx, la *out)
{
  const char *name = base_backend_name(ctx);
  *out = (la){.ops = NULL, .ctx = ctx, .threads = base_threads(ctx)};
  if (name != NULL && device_is_named(name)) {
    TRY(check_room(ctx)); /* openblas stands beside a device */
    return device_open(ctx, name, out);
  }
  out->ops = name == NULL ? &la_openblas : la_named(name);
  if (out->ops != NULL)
    return out->ops == &la_reference ? LAPIS_OK : check_room(ctx);
  return lapis_fail(
      ctx, LAPIS_EINVAL,
      "backend \"%s\" is not known; take %s, %s, opencl or cuda%s", name,
      kinds[0].name, kinds[1].name,
      base_door(ctx, " (lapis info lists what is there)", ""));
}

lapis_status la_open_host(lapis_ctx *ctx, la *out)
{
  TRY(la_open(ctx, out));
  la host = la_beside(out);
  if (host.ops != out->ops)
    base_say(ctx, 1, "backend %s: %s takes what works in the host's memory",
             out->ops->name, host.ops->name);
  *out = host;
  return LAPIS_OK;
}

const char *lapis_ctx_backend(lapis_ctx *ctx)
{
  if (ctx == NULL) return NULL;
  la h;
  return la_open(ctx, &h) == LAPIS_OK ? h.ops->describe(&h) : NULL;
}
