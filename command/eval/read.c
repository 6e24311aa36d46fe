/* read.c - one member of truth or answers, from a file. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "eval.h"

/* FILE.npz -> FILE.npz:member, a folder of parts likewise; anything else as it
 * is. */
static char *with_member(const char *spec, const char *member)
{
  size_t n = strlen(spec), room = n + strlen(member) + 2;
  struct stat st;
  bool bare = (n > 4 && strcmp(spec + n - 4, ".npz") == 0) ||
              (stat(spec, &st) == 0 && S_ISDIR(st.st_mode));
  char *out = malloc(room);
  if (out == NULL) return NULL;
  snprintf(out, room, bare ? "%s:%s" : "%s", spec, member);
  return out;
}

lapis_status eval_read(lapis_dataset *ds, const char *as, const char *spec,
                       const char *member, const lapis_table_options *opt)
{
  char *full = with_member(spec, member);
  if (full == NULL) return LAPIS_ENOMEM;
  lapis_status s = lapis_dataset_read_member(ds, as, full, opt);
  free(full);
  return s;
}
