/* divided.c - sums in which all but one have zeros: x + 0 = x. */
#include "model/divided.h"

#include <string.h>

enum { AT_ONCE = 1 << 16, BYTES = 4 };

lapis_status divided_place(lapis_ctx *ctx, int64_t count, int64_t blocks,
                           divided *out)
{
  *out = (divided){.blocks = blocks, .own = count / blocks};
  return base_place(ctx, out->own, &out->first, &out->all);
}

/* Numbers from .. from + count - 1 of a block that are ours: the first of them
 * in *at, and how many. */
static int64_t ours(const divided *d, int64_t from, int64_t count, int64_t *at)
{
  int64_t last = d->first + d->own, end = from + count;
  *at = d->first > from ? d->first : from;
  if (last < end) end = last;
  return end > *at ? end - *at : 0;
}

/* whole: rank 0's, to be written where own is read, or the other way round. */
static lapis_status pass(lapis_ctx *ctx, const divided *d, bool out,
                         double *own, double *whole)
{
  double *part = base_alloc_raw(ctx, AT_ONCE, sizeof *part);
  lapis_status s = base_agree(ctx, part == NULL ? LAPIS_ENOMEM : LAPIS_OK);
  for (int64_t k = 0; part != NULL && k < d->blocks; k++)
    for (int64_t from = 0; s >= 0 && from < d->all; from += AT_ONCE) {
      int64_t count = d->all - from < AT_ONCE ? d->all - from : AT_ONCE, at;
      size_t size = (size_t)count * sizeof *part;
      int64_t mine = ours(d, from, count, &at);
      double *here = part + (at - from), *there = own + k * d->own + at;
      memset(part, 0, size);
      if (out && whole != NULL) memcpy(part, whole + k * d->all + from, size);
      if (!out && mine > 0)
        memcpy(here, there - d->first, (size_t)mine * sizeof *part);
      s = base_sum(ctx, part, count);
      if (s >= 0 && out && mine > 0)
        memcpy(there - d->first, here, (size_t)mine * sizeof *part);
      if (s >= 0 && !out && whole != NULL)
        memcpy(whole + k * d->all + from, part, size);
    }
  base_free(part);
  return s;
}

lapis_status divided_join(lapis_ctx *ctx, const divided *d, const double *own,
                          double *whole)
{
  return pass(ctx, d, false, (double *)(uintptr_t)own, whole);
}

lapis_status divided_hand_out(lapis_ctx *ctx, const divided *d,
                              const double *whole, double *own)
{
  return pass(ctx, d, true, own, (double *)(uintptr_t)whole);
}

/* Four bytes make a number. */
lapis_status divided_tell(lapis_ctx *ctx, void *bytes, int64_t size)
{
  enum { WORDS = 1024 };
  double part[WORDS];
  unsigned char *byte = bytes;
  for (int64_t from = 0; from < size; from += WORDS * BYTES) {
    int64_t left = size - from;
    int64_t count = left < WORDS * BYTES ? left : WORDS * BYTES;
    int64_t words = (count + BYTES - 1) / BYTES;
    for (int64_t w = 0; w < words; w++) {
      uint32_t word = 0;
      size_t some = (size_t)(count - w * BYTES);
      memcpy(&word, byte + from + w * BYTES, some < BYTES ? some : BYTES);
      part[w] = base_rank(ctx) == 0 ? word : 0;
    }
    TRY(base_sum(ctx, part, words));
    for (int64_t w = 0; w < words; w++) {
      uint32_t word = (uint32_t)part[w];
      size_t some = (size_t)(count - w * BYTES);
      memcpy(byte + from + w * BYTES, &word, some < BYTES ? some : BYTES);
    }
  }
  return LAPIS_OK;
}
