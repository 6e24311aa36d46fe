/* plugin.h - finding and opening plug-ins. */
#ifndef LAPIS_BASE_PLUGIN_H
#define LAPIS_BASE_PLUGIN_H
#include <stdbool.h>
#include <stddef.h>

typedef struct base_plugin_kind {
  const char *file;    /* "lapis-opencl" */
  const char *symbol;  /* a table of functions that begins with an int: */
  const char *package; /* Debian's, which it is built with */
  int version;
} base_plugin_kind;
/* The table; NULL: none that fits and can be trusted, and why (size bytes). */
const void *base_plugin(const base_plugin_kind *k, char *why, size_t size);
/* Whether a file or folder, and every folder above it up to the root, belong to
 * root or the user and nobody else can write to them; a group counts as
 * somebody else unless it is the user's alone, a sticky folder above (/tmp) as
 * guarded. */
bool base_is_ours(const char *path);

#endif
