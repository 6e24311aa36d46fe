/* how_made.h - how X was made, in texts. */
#ifndef LAPIS_VISION_MADE_H
#define LAPIS_VISION_MADE_H
#include "images/features/feature.h"

/* A setting that says where something is, not what. */
bool made_names_file(const lapis_param *p);
lapis_status made_describe(feature_job *j); /* j->made, once all is learnt */
void made_release(feature_job *j);

#endif
