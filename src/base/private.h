/* private.h - between the files of base only. */
#ifndef LAPIS_BASE_PRIVATE_H
#define LAPIS_BASE_PRIVATE_H
#include <math.h>
#include <stdatomic.h>

#include "base/base.h"
#include "base/notes.h"
#include "base/resume.h"
#include "base/width.h"

/* In the fork that does another's work: no progress, messages to fn where
 * somebody hears them, and no jobs of its own. */
typedef void (*note_relay)(base_level level, const char *name, const char *text,
                           void *user);
void base_become_worker(lapis_ctx *ctx, lapis_message_fn fn, note_relay note,
                        void *user);
/* A message that was decided to be heard. */
void base_pass_on(lapis_ctx *ctx, int level, const char *text);

/* The widest registers of this processor; what a value of the key `kernels`
 * means, refused where the processor lacks it. */
base_width width_widest(void);
lapis_status width_read(lapis_ctx *ctx, const char *value, base_width *out);

/* Where a context has the lists of remarks that are open, and how it spells
 * settings; in a worker remarks go to the process that has the lists. */
typedef struct note_state {
  note_list *open; /* the innermost, or NULL */
  bool keywords;
  note_relay relay; /* or NULL */
  void *relay_user;
  int relay_depth; /* muted so often: what is said deeper is not passed on */
} note_state;
note_state *base_notes(lapis_ctx *ctx);
const note_state *base_notes_of(const lapis_ctx *ctx);
/* A remark that was made of its sentence. */
void notes_add(lapis_ctx *ctx, base_level level, const char *name,
               const char *text);

/* A sentence, or its format, with settings as options or as keywords. */
const char *spell_settings(const char *text, bool keywords, char *to,
                           size_t size);

/* The sentence that a format and what it is filled with make: a name of a
 * setting that is filled in is spelt, too. */
enum { SPELT_BYTES = 1024 };
void spell_sentence(bool keywords, const char *format, va_list args, char *to,
                    size_t size) LAPIS_PRINTF(2, 0);

/* Where a context keeps its open scopes. */
typedef struct keep_state {
  keep_hook hook;
  keep_scope *innermost;
  int paused; /* depth */
} keep_state;
keep_state *base_keep(lapis_ctx *ctx);

/* Numbers that the next message sums. */
enum { SPREAD_WAITING = 8 };
typedef struct spread_wait {
  double *x;
  int64_t n;
} spread_wait;

/* What a context knows of the other processes: ranks.c. */
typedef struct spread_state {
  lapis_comm comm;      /* size 1: there are none */
  bool parted;          /* all know of an error: nothing more is exchanged */
  bool heard;           /* something was exchanged since the last pulse */
  bool cancelled, late; /* somebody is: as last exchanged */
  bool alone;           /* for now there is one process */
  spread_wait waits[SPREAD_WAITING];
  int waiting;  /* of them */
  double until; /* when the loop at hand ends, on base_seconds' clock */
  int64_t messages, numbers; /* so far */
} spread_state;
static const spread_state SPREAD_ALONE = {.comm = {.size = 1},
                                          .until = INFINITY};
spread_state *base_spread(lapis_ctx *ctx);
const spread_state *base_spread_of(const lapis_ctx *ctx);
/* When this process's loop has to end. */
void base_until(lapis_ctx *ctx, double seconds);

/* A context.  Others than ctx.c and ctx_new.c ask it by functions. */
enum { ERROR_SIZE = 1024, BACKEND_SIZE = 32, PHASE_SIZE = 96 };
struct lapis_ctx {
  char error[ERROR_SIZE];
  lapis_status status;        /* of that sentence */
  char backend[BACKEND_SIZE]; /* "" : the default */
  uint64_t seed;
  int threads; /* 0: all cores */
  int jobs;    /* processes for units of work; 0: a core each */
  int verbose;
  bool deterministic;
  int muted;     /* depth */
  bool heeds;    /* base_heed */
  unsigned said; /* base_topic of the warnings that were given */
  atomic_bool cancelled;
  lapis_progress_fn on_progress;
  void *progress_user;
  lapis_message_fn on_message;
  void *message_user;
  int allowed;   /* threads, where none are asked for */
  int free;      /* processors that other programs left; 0: nobody looked */
  double looked; /* when, on base_seconds' clock */
  spread_state spread;
  const lapis_ctx *trunk; /* that a branch ends with, or NULL */
  double deadline;        /* on base_seconds' clock; infinity: none */
  keep_state keep;
  note_state notes;
  bool compared;          /* what solves was, and its judge says how good */
  char phase[PHASE_SIZE]; /* of a run of several steps, or "" */
  uint64_t max_pixels;    /* of an image */
  uint64_t max_unfold;    /* megabytes */
  base_width width;       /* of our own kernels */
  base_traffic traffic;
  base_rows rows; /* of a part of the samples */
};

#endif
