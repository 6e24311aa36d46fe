/* plugin.c - finding and opening lapis-cbc.
 *
 * It is looked for in the folder LAPIS_PLUGINS names, where LAPIS was built,
 * and where it was installed.  What was opened stays in memory (RTLD_NODELETE):
 * opening again costs nothing, and no global holds it. */
#include "vision/locate/plugin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static const milp_api *open_in(const char *folder, char *why, size_t size)
{
  char path[4096];
  if (folder == NULL || folder[0] != '/') return NULL;
  int length = snprintf(path, sizeof path, "%s/lapis-cbc.so", folder);
  if (length < 0 || (size_t)length >= sizeof path) return NULL;
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == NULL) return NULL;
  const milp_api *api = dlsym(library, "lapis_cbc");
  dlclose(library);
  if (api != NULL && api->version == MILP_VERSION) return api;
  snprintf(why, size, "%.200s is of another version of LAPIS", path);
  return NULL;
}

const milp_api *plugin_cbc(char *why, size_t size)
{
  const char *folder[] = {getenv("LAPIS_PLUGINS"), LAPIS_PLUGINS_BUILT,
                          LAPIS_PLUGINS_INSTALLED};
  snprintf(why, size,
           "the plug-in lapis-cbc is not installed (Debian: "
           "coinor-libcbc-dev, then build LAPIS again)");
  for (size_t i = 0; i < sizeof folder / sizeof *folder; i++) {
    const milp_api *api = open_in(folder[i], why, size);
    if (api != NULL) return api;
  }
  return NULL;
}

bool lapis_region_has_cbc(char *why, size_t size)
{
  char unseen[256];
  return plugin_cbc(why != NULL ? why : unseen,
                    why != NULL ? size : sizeof unseen) != NULL;
}
