/* doubted.h - known labels that are likelier wrong than right. */
#ifndef LAPIS_AUTO_DOUBTED_H
#define LAPIS_AUTO_DOUBTED_H
#include "methods/auto/compare.h"

enum { DOUBTED_ROWS = 3 };
typedef struct doubted {
  int64_t known, count; /* labels; those that are left out */
  double *list;   /* 3 x count: sample, class (as lapis_doubts has it), and the
                   * probability that it is wrong; the most doubtful first */
  double *others; /* Y without them, as Y, or NULL where there are none */
  bool late;      /* time ran out before any was doubted */
} doubted;
/* By a race of its own; options: of the race that is to follow. */
lapis_status doubted_find(lapis_ctx *ctx, const lapis_data *data,
                          const lapis_mc_settings *like,
                          const auto_options *options, doubted *out);
void doubted_remark(lapis_ctx *ctx, const doubted *of, const char *name);
void doubted_free(doubted *of);

#endif
