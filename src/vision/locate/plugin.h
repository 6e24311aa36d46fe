/* plugin.h - the plug-in lapis-cbc, where there is one. */
#ifndef LAPIS_VISION_PLUGIN_H
#define LAPIS_VISION_PLUGIN_H
#include "lapis/lapis_locate.h"
#include "vision/locate/milp.h"

/* NULL: none, and a sentence in why (size bytes). */
const milp_api *plugin_cbc(char *why, size_t size);

#endif
