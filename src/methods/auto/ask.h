/* ask.h - whose labels to ask for next. */
#ifndef LAPIS_AUTO_ASK_H
#define LAPIS_AUTO_ASK_H
#include "solver/solver.h"

/* Publishes ask_index and ask_margin: at most so many samples some label of
 * which is not known, by the probabilities of what answers.  Positive: it had
 * to stop, and the least sure are published. */
lapis_status ask_next(lapis_solver *to, const lapis_solver *answer,
                      const char *name, const lapis_data *data, int64_t most);

#endif
