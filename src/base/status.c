/* status.c - names of statuses, the version. */
#include <string.h>

#include "base/base.h"

const char *lapis_status_name(lapis_status s)
{
  static const char *const early[] = {
      [LAPIS_OK] = "solved",
      [LAPIS_MAX_ITERS] = "max-iters",
      [LAPIS_TIME_LIMIT] = "time-limit",
      [LAPIS_CANCELLED] = "cancelled",
      [LAPIS_PRECISION_FLOOR] = "precision-floor",
      [LAPIS_STOPPED_CHANGING] = "stopped-changing",
  };
  static const char *const failed[] = {
      [-LAPIS_EINVAL] = "misuse",
      [-LAPIS_ESHAPE] = "sizes do not fit",
      [-LAPIS_EMISSING] = "missing data",
      [-LAPIS_ENOMEM] = "out of memory",
      [-LAPIS_EIO] = "input or output failed",
      [-LAPIS_EFORMAT] = "bad file",
      [-LAPIS_ENUMERIC] = "numerical failure",
      [-LAPIS_ENOTBUILT] = "not built in",
      [-LAPIS_EDATA] = "unusable values",
      [-LAPIS_ESTOPPED] = "stopped",
      [-LAPIS_ELATE] = "out of time",
      [-LAPIS_EDEVICE] = "a device failed",
  };
  int last_early = (int)(sizeof early / sizeof *early) - 1;
  int last_failed = (int)(sizeof failed / sizeof *failed) - 1;
  if ((int)s >= 0 && (int)s <= last_early) return early[s];
  if ((int)s < 0 && -(int)s <= last_failed) return failed[-(int)s];
  return "unknown status";
}

/* names: "data, out", as many as there are pointers. */
lapis_status base_needs(lapis_ctx *ctx, const char *who, const char *names,
                        const void *const *what)
{
  for (int i = 0; *names != '\0'; i++) {
    size_t length = strcspn(names, ",");
    if (what[i] == NULL)
      return lapis_fail(ctx, LAPIS_EINVAL, "%s: %.*s is NULL", who, (int)length,
                        names);
    names += length;
    names += strspn(names, ", ");
  }
  return LAPIS_OK;
}

#define WORDS(x) #x
#define TEXT_OF(x) WORDS(x)
const char *lapis_version(void)
{
  return TEXT_OF(LAPIS_VERSION_MAJOR) "." TEXT_OF(
      LAPIS_VERSION_MINOR) "." TEXT_OF(LAPIS_VERSION_PATCH);
}
