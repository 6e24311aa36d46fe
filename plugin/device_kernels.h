/* device_kernels.h - the text of the kernels, put into the plug-in when it is
 * built.
 */
#ifndef LAPIS_PLUGIN_KERNELS_H
#define LAPIS_PLUGIN_KERNELS_H
#include <stdint.h>

extern const unsigned char device_kernels[];
extern const int64_t device_kernels_size;

#endif
