/* rpca.h - robust PCA. */
#ifndef LAPIS_RPCA_H
#define LAPIS_RPCA_H
#include "base/param.h"

extern const lapis_method rpca_method;

#endif
