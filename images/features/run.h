/* run.h - a job over images: feature_kinds.c makes it, run.c runs it. */
#ifndef LAPIS_VISION_RUN_H
#define LAPIS_VISION_RUN_H
#include "images/features/feature.h"

lapis_status run_prepare(feature_job *j); /* memory for what is known */
lapis_status run_job(feature_job *j);
void run_release(feature_job *j);

#endif
