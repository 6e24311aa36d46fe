/* width.c - which widths of vector registers this processor has. */
#include "base/width.h"

#include <string.h>

#include "base/private.h"

#if defined(__aarch64__)
static const char *const names[WIDTHS] = {"neon", "avx2", "avx512"};
#else
static const char *const names[WIDTHS] = {"plain", "avx2", "avx512"};
#endif

static bool has(base_width width)
{
#if defined(WIDTH_MANY)
  if (width == WIDTH_AVX512) return __builtin_cpu_supports("avx512f");
  if (width == WIDTH_AVX2)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
  return width == WIDTH_PLAIN;
}

base_width width_widest(void)
{
  base_width width = WIDTH_AVX512;
  while (!has(width)) width--;
  return width;
}

lapis_status width_read(lapis_ctx *ctx, const char *value, base_width *out)
{
  *out = width_widest();
  if (strcmp(value, "auto") == 0) return LAPIS_OK;
  for (base_width w = WIDTH_PLAIN; w < WIDTHS; w++) {
    if (strcmp(value, names[w]) != 0) continue;
    if (!has(w))
      return lapis_fail(ctx, LAPIS_EINVAL,
                        "kernels: this processor has no %s; auto takes %s",
                        value, names[*out]);
    *out = w;
    return LAPIS_OK;
  }
  return lapis_fail(ctx, LAPIS_EINVAL,
                    "kernels: '%s' is not one of auto, %s, avx2 and avx512",
                    value, names[WIDTH_PLAIN]);
}

const char *base_width_name(base_width width)
{
  return names[width];
}
