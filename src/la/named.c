/* named.c - the table of a backend by its name; tests know one more
 * (tests/strict.c). */
#include <string.h>

#include "la/backend.h"

const la_backend *la_named(const char *name)
{
  static const la_backend *const tables[] = {&la_openblas, &la_reference};
  for (int i = 0; i < 2; i++)
    if (strcmp(name, tables[i]->name) == 0) return tables[i];
  return NULL;
}

la la_beside(const la *h)
{
  la host = *h;
  if (h->ops != &la_reference) host.ops = &la_openblas;
  return host;
}
