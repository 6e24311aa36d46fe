/* importance_sheet.h - what matters, by shuffling features. */
#ifndef LAPIS_CLI_IMPORTANCE_H
#define LAPIS_CLI_IMPORTANCE_H
#include "command/command.h"

typedef struct cli_importance {
  int64_t count; /* columns of the table, the one that matters most first */
  const char **name;
  const char **way; /* how the answer goes with it, or "" */
  double *value;    /* 2 x count: what is lost, and its standard error */
  bool numbers;     /* in R^2, else in log-loss */
  char *text;       /* behind the names */
  char ways[2][320];
} cli_importance;
/* Result importance, where it is; a column that became several features is
 * one.  LAPIS_ENOMEM alone. */
lapis_status importance_read(cli *c, const lapis_solver *s,
                             const lapis_dataset *ds, cli_importance *to);
void importance_free(cli_importance *w);
/* Those that are clearly missed, on stdout. */
void importance_print(const cli_importance *w);
/* All of them. */
lapis_json *importance_json(const cli_importance *w);

#endif
