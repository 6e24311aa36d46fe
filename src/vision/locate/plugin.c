/* plugin.c - the plug-in lapis-cbc. */
#include "vision/locate/plugin.h"

#include "base/plugin.h"

const milp_api *plugin_cbc(char *why, size_t size)
{
  static const base_plugin_kind cbc = {.file = "lapis-cbc",
                                       .symbol = "lapis_cbc",
                                       .package = "coinor-libcbc-dev",
                                       .version = MILP_VERSION};
  return base_plugin(&cbc, why, size);
}

bool lapis_region_has_cbc(char *why, size_t size)
{
  char unseen[256];
  return plugin_cbc(why != NULL ? why : unseen,
                    why != NULL ? size : sizeof unseen) != NULL;
}
