/* options.c - the options that all verbs have, and those that name data; what
 * was given. */
#include <string.h>

#include "command/command.h"

const cli_option common_options[] = {
    {"json", 0, NULL, "print one JSON object instead of text"},
    {"threads", 0, "N", "use N threads (default: all cores)"},
    {"seed", 0, "N",
     "seed of random draws: the same seed gives the same answer "
     "(default 0)"},
    {"backend", 0, "openblas|reference|opencl[:N]|cuda[:N]",
     "the library that does the arithmetic"},
    {"kernels", 0, "auto|plain|avx2|avx512",
     "which instructions of the processor LAPIS's own loops use (auto: the "
     "widest; on ARM plain is neon)"},
    {"deterministic", 0, NULL,
     "the same answer to the last bit for any number of threads"},
    {"strict", 0, NULL, "exit 1 when stopped before the tolerance was met"},
    {"progress", 0, "auto|always|never",
     "whether a bar is shown; auto: on a terminal"},
    {"quiet", 'q', NULL, "print nothing on stderr but errors"},
    {"verbose", 'v', NULL, "say what was chosen and why (twice: iterations)"},
    {"help", 'h', NULL, "this text"},
    {NULL, 0, NULL, NULL}};

const char *args_get(const cli_args *a, const char *name)
{
  for (int i = a->n_given - 1; i >= 0; i--)
    if (strcmp(a->given[i].name, name) == 0) return a->given[i].value;
  return NULL;
}

const cli_option data_options[] = {
    {"X", 'X', "FILE",
     "features: a table with a row for each sample, in any of 'lapis "
     "formats'"},
    {"Y", 'Y', "FILE", "targets: what to predict; empty or NaN where unknown"},
    {"P", 'P', "FILE|COL,..",
     "privileged features: those known only while learning; a file, FILE:NAME "
     "one array of it or FILE:COL,.. columns, or columns of the table, which "
     "then are not features (--priv)"},
    {"G", 'G', "FILE|COL",
     "group of each sample (person, bag, image): folds keep a group whole; a "
     "file, or a column of the table, which is then not a feature"},
    {"weights", 0, "FILE|COL",
     "weight of each sample, 0 or above, where the method takes weights; a "
     "file, or a column of the table, which is then not a feature"},
    {"xy", 0, "FILE", "position (x, y) of each sample in its image"},
    CLI_TABLE_OPTIONS,
    {NULL, 0, NULL, NULL}};

const cli_verb *verb_find(verb_list *verb_at, const char *name)
{
  for (int i = 0; verb_at(i) != NULL; i++)
    if (strcmp(verb_at(i)->name, name) == 0) return verb_at(i);
  return NULL;
}
