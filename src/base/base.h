/* base.h - what every other folder stands on: errors, memory, threads, random
 * numbers, many processes.  Depends on nothing but the public header. */
#ifndef LAPIS_BASE_H
#define LAPIS_BASE_H
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include "lapis/lapis.h"

/* Returns the status of x from the enclosing function if it is an error; use
 * it only where nothing needs freeing. */
#define TRY(x)                               \
  do {                                       \
    lapis_status try_status_ = (x);          \
    if (try_status_ < 0) return try_status_; \
  } while (0)

/* At the beginning of a public function: what it makes is NULL, or a struct of
 * zeros, until it is made, so that a caller may free it after any failure. */
#define MAKES(out) \
  ((out) == NULL ? (void)0 : (void)memset((out), 0, sizeof *(out)))
/* At the beginning of a public function: LAPIS_EINVAL, with a sentence that
 * names it, where one of these pointers is NULL. */
#define NEEDS(ctx, ...)                       \
  TRY(base_needs(ctx, __func__, #__VA_ARGS__, \
                 (const void *const[]){__VA_ARGS__}))
lapis_status base_needs(lapis_ctx *ctx, const char *who, const char *names,
                        const void *const *what);

/* ---- messages; errors are made by lapis_fail -----------------------------*/
/* level -1: a note that is no warning; 0: warning; 1: -v; 2: -vv. */
void base_say(lapis_ctx *ctx, int level, const char *format, ...)
    LAPIS_PRINTF(3, 4);
/* A sentence, a part or the format of one, with settings as the reader of ctx
 * writes them; lapis_fail, base_say and base_note do so with their formats. */
const char *base_spell(const lapis_ctx *ctx, const char *text, char *to,
                       size_t size);
/* Where a value of a matrix is, sample and k from 0, k of "feature" or
 * "target"; k < 0: the sample alone.  "row 6, column 3" for one who has a
 * table, "sample 6, feature 3 (from 1)" for a program, whose matrices may lie
 * either way.  CELL has the room for it, to the end of the block. */
enum { CELL_BYTES = 80 };
const char *base_cell(const lapis_ctx *ctx, int64_t sample, const char *kind,
                      int64_t k, char to[CELL_BYTES]);
#define CELL(ctx, sample, kind, k) \
  base_cell(ctx, sample, kind, k, (char[CELL_BYTES]){""})
/* What a user of the command does, or a program, in the words of the one. */
const char *base_door(const lapis_ctx *ctx, const char *command,
                      const char *program);
#define BAG_OF(ctx) \
  base_door(ctx, "-G FILE says", "the member group of the data says")
/* A warning that a context gives once, however many solves it makes. */
typedef enum base_topic {
  BASE_THREE_SIGNS = 1,
  BASE_ALIKE = 2,
  BASE_ZERO_ROWS = 4
} base_topic;
void base_say_once(lapis_ctx *ctx, base_topic topic, const char *format, ...)
    LAPIS_PRINTF(3, 4);
typedef enum base_level { BASE_NOTE = -1, BASE_WARNING = 0 } base_level;
/* What a method remarks, by a short name that stays: heard, and a result of the
 * solver at hand.  {mu-rel} is a setting, {scale none} one with its value; both
 * stand in the format, where %d and the like may be the value (notes.c). */
void base_note(lapis_ctx *ctx, base_level level, const char *name,
               const char *format, ...) LAPIS_PRINTF(4, 5);
/* A solver is made, or solves, for another or for a run of several steps, which
 * speaks for both. */
bool base_is_inside(const lapis_ctx *ctx);
/* What solves next was compared with others by who starts it, who says how good
 * it is. */
void base_compared(lapis_ctx *ctx, bool on);
bool base_is_compared(const lapis_ctx *ctx);
/* A warning that a context gives once, and every solver has. */
void base_warn_once(lapis_ctx *ctx, base_topic topic, const char *name,
                    const char *format, ...) LAPIS_PRINTF(4, 5);
int base_verbose(const lapis_ctx *ctx);

/* Copies a struct whose first member is its size into the caller's, as far as
 * that reaches, and gives it the caller's size; to NULL: nothing. */
void base_fill(void *to, size_t size, const void *from, size_t from_size);
/* Lays a struct that a program gives, whose first member is its size, over the
 * defaults in own, of size bytes: what an older header lacks stays at its
 * default; NULL: all of it.  LAPIS_EINVAL with a sentence where it is newer, or
 * says no size; who: "cv: the options". */
lapis_status base_take(lapis_ctx *ctx, const char *who, const void *given,
                       void *own, size_t size);

/* ---- memory -------------------------------------------------------------
 * Zeroed, 64-byte aligned, count * size bytes with the product checked.  NULL
 * sets the context's sentence.  count 0 gives a valid pointer. */
void *base_alloc(lapis_ctx *ctx, int64_t count, size_t size);
/* The same without zeroing, for large arrays about to be overwritten. */
void *base_alloc_raw(lapis_ctx *ctx, int64_t count, size_t size);
/* Grows a base_alloc'd array, keeping used * size bytes; *p is unchanged on
 * failure (LAPIS_ENOMEM). */
lapis_status base_grow(lapis_ctx *ctx, void **p, int64_t used, int64_t count,
                       size_t size);
char *base_strdup(lapis_ctx *ctx, const char *text);
void base_free(void *p); /* NULL is fine */
/* Arrays that live and die together.  {.ctx = ctx} is an empty one; after an
 * array that could not be had it gives no more, so that a constructor asks
 * once, by arena_status, and a free function has one line. */
typedef struct arena {
  lapis_ctx *ctx;
  void **block; /* count, of room */
  int64_t count, room;
  bool failed;
} arena;
/* count zeroed things of size bytes; NULL: no memory, now or before. */
void *arena_take(arena *a, int64_t count, size_t size);
double *arena_reals(arena *a, int64_t count);
/* Takes over p from base_alloc or base_alloc_raw; returns it, or NULL. */
void *arena_keep(arena *a, void *p);
lapis_status arena_status(const arena *a); /* OK or LAPIS_ENOMEM */
void arena_free(arena *a);
/* What this machine has: no allocation may be larger. */
double base_memory_bytes(void);
double base_address_bytes(void); /* that this process has */
/* Bytes of addresses that a limit (ulimit -v) leaves; infinity: no limit. Large
 * arrays leave this much of them: OpenBLAS takes a buffer when it first needs
 * one, and where it cannot have it tries again for ever. */
double base_address_room(void);
#define BASE_ADDRESS_RESERVE 300e6 /* two buffers of 128 MiB, and stacks */
/* How often that many bytes go into the mappings of this process that can be
 * written and have no file. */
int64_t base_address_pieces(int64_t bytes);
/* LAPIS_ENOMEM with a sentence where bytes are more than half of that; what:
 * "svmplus: X as a dense matrix". */
lapis_status base_fits(lapis_ctx *ctx, const char *what, double bytes);
/* The same, and LAPIS_ENOMEM where bytes are more than a thousand times the
 * `stored` that they unfold from, and more than the context's max-unfold: a
 * file of a line may declare any size. */
lapis_status base_unfolds(lapis_ctx *ctx, const char *what, double bytes,
                          double stored);
/* The same of all that a solve holds at its most: max-unfold for each of three
 * arrays, and the memory that there is. */
enum { BASE_ARRAYS_HELD = 3 };
lapis_status base_holds(lapis_ctx *ctx, const char *what, double bytes,
                        double stored);
/* The most that it lets pass: what can do with less takes no more. */
double base_may_hold(const lapis_ctx *ctx, double stored);

/* A context for one thread of a job: the same seed and way of computing, no
 * threads of its own, no callbacks; late and cancelled when ctx is, which lives
 * longer; lapis_ctx_free.  NULL: no memory. */
lapis_ctx *base_ctx_branch(const lapis_ctx *ctx);

/* ---- settings of a context ----------------------------------------------*/
int base_threads(const lapis_ctx *ctx); /* >= 1 */
/* How many of so many threads a loop gets whose bits do not depend on it: no
 * more than other programs leave processors (load.c). */
int base_team(lapis_ctx *ctx, int threads);
bool base_deterministic(const lapis_ctx *ctx);
const char *base_backend_name(const lapis_ctx *ctx); /* as set, or NULL */
bool base_cancelled(const lapis_ctx *ctx);
/* After a success: what failed inside, and was made good, is no error. */
void base_forget_error(lapis_ctx *ctx);
/* Forgets a cancellation: by whom a status of the public interface says it. */
void base_rearm(lapis_ctx *ctx);
double base_seconds(void);            /* monotonic clock */
bool base_late(const lapis_ctx *ctx); /* past lapis_ctx_limit */
/* When that is, on base_seconds' clock (infinity: never): for parts of a whole
 * that may take a part of its time. */
double base_deadline(const lapis_ctx *ctx);
void base_set_deadline(lapis_ctx *ctx, double at);
double base_max_pixels(const lapis_ctx *ctx); /* of an image */
double base_max_unfold(const lapis_ctx *ctx); /* bytes (base_unfolds) */
bool base_must_stop(const lapis_ctx *ctx);    /* cancelled, or late */
/* What takes long and is no solve asks a few times a second, with what it does
 * ("reading x.csv"): LAPIS_ESTOPPED, LAPIS_ELATE with a sentence.  Within a
 * solve, which answers with what it has, LAPIS_OK.  A write of what was found
 * in time asks nothing but whether it is cancelled. */
lapis_status base_go_on(lapis_ctx *ctx, const char *doing, const char *what);
lapis_status base_write_on(lapis_ctx *ctx, const char *what);
/* While on, what opened a list of remarks is no solve: base_go_on asks. */
void base_heed(lapis_ctx *ctx, bool on);
/* Of a branch (base_ctx_branch): LAPIS_ESTOPPED where the trunk ends. */
lapis_status base_branch_on(lapis_ctx *ctx, const char *doing,
                            const char *what);
/* Calls the progress callback as a loop does; false: stop. */
bool base_show(lapis_ctx *ctx, const lapis_progress *now);
/* While muted, loops show no progress and messages count as one level more
 * verbose: a whole made of many solves shows its own.  Calls nest; mute(true)
 * and mute(false) come in pairs. */
void base_mute(lapis_ctx *ctx, bool on);
int base_muted(const lapis_ctx *ctx); /* how often */
/* Row j of n samples as people count them, from 1: of a part of the samples,
 * while base_name_rows says that it holds rows row[0 .. n) of all, counted from
 * 0, their number there.  row: borrowed until what base_name_rows gave back,
 * which held before, is named again.  Of a part of a part: row by base_row. */
typedef struct base_rows {
  const int64_t *row; /* NULL: all rows, as they are */
  int64_t n;
} base_rows;
base_rows base_name_rows(lapis_ctx *ctx, base_rows of);
int64_t base_row(const lapis_ctx *ctx, int64_t j, int64_t n);

/* ---- a device: what went to it and back, for this context -----------------*/
typedef struct base_traffic {
  const char *device; /* NULL: none was opened */
  uint64_t launches;  /* of kernels */
  uint64_t up, down;  /* bytes */
  uint64_t reads;     /* that waited for the device */
} base_traffic;
base_traffic *base_traffic_of(lapis_ctx *ctx);

/* ---- many processes: ranks.c; with one of them nothing happens ----------
 * Samples may be divided among processes; each calls the same functions in the
 * same order.  A process that fails says so at the door (base_agree), and the
 * others hear it in whatever they are waiting for: an error, never a wait. */
int base_ranks(const lapis_ctx *ctx);
int base_rank(const lapis_ctx *ctx); /* 0 .. ranks - 1 */
/* While alone, there is one process: for what all of them have whole and
 * compute alike.  true and false come in pairs. */
void base_alone(lapis_ctx *ctx, bool on);
/* In place; the same bits for every process. */
lapis_status base_sum(lapis_ctx *ctx, double *x, int64_t n);
lapis_status base_max(lapis_ctx *ctx, double *x, int64_t n);
/* The same, but by the message of the next sum, maximum or agreement, whichever
 * it is: x is this process's own until then, and stays where it is.  A few
 * numbers, so that what an iteration knows early costs no message. */
lapis_status base_sum_later(lapis_ctx *ctx, double *x, int64_t n);
/* That message now, where something waits for one. */
lapis_status base_sum_due(lapis_ctx *ctx);
/* The same for counts below 2^53. */
lapis_status base_sum_whole(lapis_ctx *ctx, int64_t *x, int64_t n);
/* The same modulo 2^64. */
lapis_status base_sum_word(lapis_ctx *ctx, uint64_t *word);
/* Place of this process's first sample of n, and how many all have. */
lapis_status base_place(lapis_ctx *ctx, int64_t n, int64_t *first,
                        int64_t *all);
/* whole (all numbers) = what each has from its first on, in everybody's hands;
 * with one process a copy. */
lapis_status base_share(lapis_ctx *ctx, const double *own, int64_t n,
                        int64_t first, double *whole, int64_t all);
/* At the doors: a call begins; how it ended for all, with the sentence of the
 * first that failed. */
void base_meet(lapis_ctx *ctx);
lapis_status base_agree(lapis_ctx *ctx, lapis_status own);
/* Whether somebody is cancelled or out of time: the same for all. */
lapis_status base_pulse(lapis_ctx *ctx, bool *cancelled, bool *late);

/* ---- random numbers: value = f(seed, stream, index), Philox 4x32-10 ------
 * Independent of threads and ranks by construction. */
uint64_t base_seed(const lapis_ctx *ctx);
uint64_t rng_bits(uint64_t seed, uint64_t stream, uint64_t index);
double rng_uniform(uint64_t seed, uint64_t stream, uint64_t index); /* [0,1) */
double rng_normal(uint64_t seed, uint64_t stream, uint64_t index);
/* n of them, for less, from the uniform numbers first .. first + n - 1, and one
 * more where n is odd. */
void rng_normals(uint64_t seed, uint64_t stream, uint64_t first, double *out,
                 int64_t n);
/* A permutation of 0..n-1. */
void rng_shuffle(uint64_t seed, uint64_t stream, int64_t *out, int64_t n);
/* The same exchanges on whatever out holds. */
void rng_permute(uint64_t seed, uint64_t stream, int64_t *out, int64_t n);

/* ---- unmet.c: a word that no sample of a fit has -------------------------
 * NaN, as all that is not known.  Who reads the word says where it stands, and
 * what is remarked of gaps does not say it again.  _categories.py has it, too.
 */
double base_unmet(void);
bool base_is_unmet(double x);

/* Of numbers, for qsort and bsearch; no NaN among them. */
static inline int base_ascending(const void *a, const void *b)
{
  const double *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

#endif
