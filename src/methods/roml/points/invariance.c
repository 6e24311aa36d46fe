/* invariance.c - by what images may be moved before they are matched. */
#include <string.h>

#include "methods/roml/roml.h"

static const char *const names[ROML_INVARIANCES] = {
    "auto", "none", "shift", "scale", "rotation", "similarity"};

roml_invariance roml_invariance_of(const char *word)
{
  if (word == NULL) return ROML_ANY;
  for (int i = 0; i < ROML_INVARIANCES; i++)
    if (strcmp(word, names[i]) == 0) return (roml_invariance)i;
  return ROML_INVARIANCES;
}

const char *roml_invariance_name(roml_invariance kind)
{
  return names[kind];
}
