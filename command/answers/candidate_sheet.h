/* candidate_sheet.h - what was compared to choose. */
#ifndef LAPIS_CLI_CANDIDATES_H
#define LAPIS_CLI_CANDIDATES_H
#include "command/command.h"

typedef struct cli_candidates {
  lapis_mat names, figures; /* results candidates, candidate_figures */
  int64_t chosen;           /* the column that answers */
} cli_candidates;
/* The first few, and who answers, on stderr. */
void candidates_print(const cli_candidates *of);
/* All of them. */
lapis_json *candidates_json(const cli_candidates *of);

#endif
