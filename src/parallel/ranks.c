/* ranks.c - what processes agree on.
 *
 * The samples of one problem may be divided among processes, each of which
 * runs the same program on its part; what they know of each other are sums.
 * Everything that is decided from such sums is decided alike.  What is not, an
 * error in one part, a clock, Ctrl-C, would send one process elsewhere while
 * the others wait for it.  So every sum begins with a block of fixed length:
 *
 *   failed, tag, tag^2, cancelled, late, numbers ...
 *
 * whose sum tells all of them at the same moment whether somebody failed,
 * whether all are at the same place (the tag is made of the length and the
 * kind of what follows; all are equal where P sum tag^2 = (sum tag)^2), and
 * whether somebody wants to stop.  Up to PAYLOAD numbers travel inside, those
 * of base_sum_later behind those of the sum itself; only longer arrays need a
 * second message.  Where somebody failed, his sentence
 * travels, every process returns it, and none has to wait. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/private.h"
#include "lapis/tools.h"

enum { BLOCK = 64, SENTENCE = 1024, LETTERS = 4 };
enum { FAILED, TAG, SQUARE, CANCELLED, LATE, HEAD };
enum { PAYLOAD = BLOCK - HEAD, TAGS = 1021 };
typedef enum kind { SUM, MAX, PULSE, MEET } kind;

/* ---- the one message ----------------------------------------------------*/
static lapis_status went_wrong(lapis_ctx *ctx, int code, const char *what)
{
  base_spread(ctx)->parted = true;
  const lapis_comm *c = &base_spread(ctx)->comm;
  return lapis_fail(ctx, LAPIS_EIO,
                    "communicator: %s failed with code %d on rank %d of %d",
                    what, code, c->rank, c->size);
}

/* Small whole numbers, whose squares times the processes stay exact. */
static double tag_of(kind k, int64_t n)
{
  return (double)(4 * (n % TAGS) + (int)k);
}

/* ---- what waits for a message -------------------------------------------*/
static int64_t numbers_waiting(const spread_state *s)
{
  int64_t n = 0;
  for (int k = 0; k < s->waiting; k++) n += s->waits[k].n;
  return n;
}

/* In their order into the block, or out of it. */
static void move_waiting(spread_state *s, double *block, bool out)
{
  for (int k = 0; k < s->waiting; k++) {
    size_t size = (size_t)s->waits[k].n * sizeof *block;
    memcpy(out ? s->waits[k].x : block, out ? block : s->waits[k].x, size);
    block += s->waits[k].n;
  }
}

static bool all_alike(double sum, double squares, double processes)
{
  double mean = rint(sum / processes);
  return sum == mean * processes && squares == mean * mean * processes;
}

static lapis_status sum_now(lapis_ctx *ctx, double *x, int64_t n)
{
  spread_state *s = base_spread(ctx);
  s->messages++;
  s->numbers += n;
  int code = s->comm.sum(s->comm.self, x, n);
  return code == 0 ? LAPIS_OK : went_wrong(ctx, code, "sum");
}

/* Four letters of the sentence make a number. */
static void pack(const char *text, double *out)
{
  size_t length = strlen(text);
  for (int i = 0; i < SENTENCE / LETTERS; i++) {
    uint32_t word = 0;
    for (int k = 0; k < LETTERS; k++) {
      size_t at = (size_t)i * LETTERS + (size_t)k;
      unsigned char c = at < length ? (unsigned char)text[at] : 0;
      word |= (uint32_t)c << (8 * k);
    }
    out[i] = word;
  }
}

static void unpack(const double *from, char *text)
{
  for (int i = 0; i < SENTENCE; i++)
    text[i] = (char)((uint32_t)from[i / LETTERS] >> (8 * (i % LETTERS)));
  text[SENTENCE - 1] = '\0';
}

/* Of all who failed the first is heard: who it is, then his sentence. */
static lapis_status hear(lapis_ctx *ctx, lapis_status own)
{
  enum { WORDS = SENTENCE / LETTERS };
  spread_state *s = base_spread(ctx);
  double text[WORDS + 1] = {0};
  char sentence[SENTENCE];
  s->parted = true;
  double least = own < 0 ? s->comm.size - s->comm.rank : 0;
  int code = s->comm.max(s->comm.self, &least, 1);
  if (code != 0) return went_wrong(ctx, code, "max");
  int first = s->comm.size - (int)least;
  if (first == s->comm.rank) {
    pack(lapis_ctx_error(ctx), text);
    text[WORDS] = -(double)own;
  }
  TRY(sum_now(ctx, text, WORDS + 1));
  unpack(text, sentence);
  return lapis_fail(ctx, (lapis_status) - (int)text[WORDS],
                    "%s (process %d of %d)", sentence, first + 1, s->comm.size);
}

/* The block with n <= PAYLOAD numbers, and what waits; own: this process's
 * status. */
static lapis_status exchange(lapis_ctx *ctx, double tag, lapis_status own,
                             double *x, int64_t n)
{
  spread_state *s = base_spread(ctx);
  double b[BLOCK] = {0}, processes = s->comm.size;
  if (own < 0) s->waiting = 0; /* who has failed has left where they were */
  int64_t more = numbers_waiting(s);
  if (n > 0 && n + more > PAYLOAD) {
    TRY(base_sum_due(ctx));
    more = 0;
  }
  tag += (double)(4 * TAGS * more);
  b[FAILED] = own < 0;
  b[TAG] = tag;
  b[SQUARE] = tag * tag;
  b[CANCELLED] = base_cancelled(ctx);
  b[LATE] = base_late(ctx) || base_seconds() > s->until;
  if (n > 0) memcpy(b + HEAD, x, (size_t)n * sizeof *x);
  move_waiting(s, b + HEAD + n, false);
  TRY(sum_now(ctx, b, BLOCK));
  s->heard = true;
  s->cancelled = s->cancelled || b[CANCELLED] > 0;
  s->late = s->late || b[LATE] > 0;
  if (b[FAILED] > 0) return hear(ctx, own);
  if (!all_alike(b[TAG], b[SQUARE], processes)) {
    s->parted = true;
    return lapis_fail(ctx, LAPIS_EIO,
                      "%d processes are not at the same place of the same run: "
                      "they were given other settings, other calls or other "
                      "versions of LAPIS",
                      s->comm.size);
  }
  if (n > 0) memcpy(x, b + HEAD, (size_t)n * sizeof *x);
  move_waiting(s, b + HEAD + n, true);
  s->waiting = 0;
  return LAPIS_OK;
}

/* ---- sums ---------------------------------------------------------------*/
int base_ranks(const lapis_ctx *ctx)
{
  const spread_state *s = base_spread_of(ctx);
  return s->alone ? 1 : s->comm.size;
}

int base_rank(const lapis_ctx *ctx)
{
  return base_spread_of(ctx)->comm.rank;
}

void base_alone(lapis_ctx *ctx, bool on)
{
  base_spread(ctx)->alone = on;
}

static lapis_status exchange_long(lapis_ctx *ctx, kind k, double *x, int64_t n)
{
  spread_state *s = base_spread(ctx);
  if (s->parted) return LAPIS_EIO; /* the sentence is there already */
  if (k == SUM && n <= PAYLOAD)
    return exchange(ctx, tag_of(k, n), LAPIS_OK, x, n);
  TRY(exchange(ctx, tag_of(k, n), LAPIS_OK, NULL, 0));
  if (k == SUM) return sum_now(ctx, x, n);
  int code = s->comm.max(s->comm.self, x, n);
  return code == 0 ? LAPIS_OK : went_wrong(ctx, code, "max");
}

lapis_status base_sum(lapis_ctx *ctx, double *x, int64_t n)
{
  return base_ranks(ctx) == 1 ? LAPIS_OK : exchange_long(ctx, SUM, x, n);
}

lapis_status base_sum_later(lapis_ctx *ctx, double *x, int64_t n)
{
  spread_state *s = base_spread(ctx);
  if (base_ranks(ctx) == 1) return LAPIS_OK;
  if (s->waiting == SPREAD_WAITING || n + numbers_waiting(s) > PAYLOAD)
    return base_sum(ctx, x, n);
  s->waits[s->waiting++] = (spread_wait){x, n};
  return LAPIS_OK;
}

lapis_status base_sum_due(lapis_ctx *ctx)
{
  spread_state *s = base_spread(ctx);
  if (s->waiting == 0) return LAPIS_OK;
  if (s->parted) return LAPIS_EIO;
  return exchange(ctx, tag_of(SUM, 0), LAPIS_OK, NULL, 0);
}

/* A few numbers by a sum, in which every process has a place of its own. */
static lapis_status max_by_sum(lapis_ctx *ctx, double *x, int64_t n)
{
  double all[PAYLOAD] = {0};
  memcpy(all + base_rank(ctx) * n, x, (size_t)n * sizeof *x);
  TRY(exchange(ctx, tag_of(MAX, n), LAPIS_OK, all, n * base_ranks(ctx)));
  memcpy(x, all, (size_t)n * sizeof *x);
  for (int64_t k = n; k < n * base_ranks(ctx); k++)
    x[k % n] = fmax(x[k % n], all[k]);
  return LAPIS_OK;
}

lapis_status base_max(lapis_ctx *ctx, double *x, int64_t n)
{
  if (base_ranks(ctx) == 1) return LAPIS_OK;
  if (base_spread(ctx)->parted) return LAPIS_EIO;
  if (n > 0 && n * base_ranks(ctx) <= PAYLOAD) return max_by_sum(ctx, x, n);
  return exchange_long(ctx, MAX, x, n);
}

lapis_status base_sum_whole(lapis_ctx *ctx, int64_t *x, int64_t n)
{
  double part[PAYLOAD];
  if (base_ranks(ctx) == 1) return LAPIS_OK;
  for (int64_t from = 0; from < n; from += PAYLOAD) {
    int64_t count = n - from < PAYLOAD ? n - from : PAYLOAD;
    for (int64_t i = 0; i < count; i++) part[i] = (double)x[from + i];
    TRY(base_sum(ctx, part, count));
    for (int64_t i = 0; i < count; i++) x[from + i] = (int64_t)part[i];
  }
  return LAPIS_OK;
}

lapis_status base_place(lapis_ctx *ctx, int64_t n, int64_t *first, int64_t *all)
{
  *first = 0;
  *all = n;
  int ranks = base_ranks(ctx), own = base_rank(ctx);
  if (ranks == 1) return LAPIS_OK;
  double *count = base_alloc(ctx, ranks, sizeof *count);
  if (count == NULL) return LAPIS_ENOMEM;
  count[own] = (double)n;
  lapis_status s = base_sum(ctx, count, ranks);
  *all = 0;
  for (int r = 0; s >= 0 && r < ranks; r++) {
    if (r < own) *first += (int64_t)count[r];
    *all += (int64_t)count[r];
  }
  base_free(count);
  return s;
}

lapis_status base_sum_word(lapis_ctx *ctx, uint64_t *word)
{
  enum { LIMBS = 4, LIMB = 16 };
  double limb[LIMBS];
  if (base_ranks(ctx) == 1) return LAPIS_OK;
  for (int i = 0; i < LIMBS; i++)
    limb[i] = (double)((*word >> (LIMB * i)) & ((1u << LIMB) - 1));
  TRY(base_sum(ctx, limb, LIMBS));
  *word = 0;
  for (int i = 0; i < LIMBS; i++) *word += (uint64_t)limb[i] << (LIMB * i);
  return LAPIS_OK;
}

/* Where the others have nothing, a sum is a copy: x + 0 = x. */
lapis_status base_share(lapis_ctx *ctx, const double *own, int64_t n,
                        int64_t first, double *whole, int64_t all)
{
  memset(whole, 0, (size_t)all * sizeof *whole);
  if (n > 0) memcpy(whole + first, own, (size_t)n * sizeof *own);
  return base_sum(ctx, whole, all);
}

/* ---- agreeing -----------------------------------------------------------*/
void base_meet(lapis_ctx *ctx)
{
  spread_state *s = base_spread(ctx);
  s->parted = s->heard = s->cancelled = s->late = false;
  s->waiting = 0;
  s->until = INFINITY;
}

lapis_status base_agree(lapis_ctx *ctx, lapis_status own)
{
  if (base_ranks(ctx) == 1) return own;
  if (base_spread(ctx)->parted) return own < 0 ? own : LAPIS_EIO;
  TRY(exchange(ctx, tag_of(MEET, own > 0 ? own : 0), own, NULL, 0));
  return own;
}

void base_until(lapis_ctx *ctx, double seconds)
{
  base_spread(ctx)->until = seconds;
}

lapis_status base_pulse(lapis_ctx *ctx, bool *cancelled, bool *late)
{
  spread_state *s = base_spread(ctx);
  *cancelled = *late = true; /* where nobody answers, the run ends */
  if (s->parted) return LAPIS_EIO;
  if (!s->heard) TRY(exchange(ctx, tag_of(PULSE, 0), LAPIS_OK, NULL, 0));
  s->heard = false;
  *cancelled = s->cancelled;
  *late = s->late;
  return LAPIS_OK;
}

/* ---- the public door ----------------------------------------------------*/
void lapis_ctx_set_comm(lapis_ctx *ctx, const lapis_comm *comm)
{
  if (ctx == NULL) return;
  spread_state *s = base_spread(ctx);
  *s = SPREAD_ALONE;
  if (comm != NULL) s->comm = *comm;
}

lapis_status lapis_ctx_sum(lapis_ctx *ctx, double *x, int64_t n)
{
  NEEDS(ctx, ctx, x);
  base_meet(ctx);
  return base_sum(ctx, x, n);
}

lapis_status lapis_ctx_agree(lapis_ctx *ctx, lapis_status own)
{
  NEEDS(ctx, ctx);
  base_meet(ctx);
  return base_agree(ctx, own);
}
