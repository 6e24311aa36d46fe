/* cache.h - features kept in a folder, between runs. */
#ifndef LAPIS_VISION_CACHE_H
#define LAPIS_VISION_CACHE_H
#include "images/features/feature.h"

/* Chooses the folder for this kind, its settings and what was learnt
 * (job->shelf), once that is known; without a cache nothing happens. */
void cache_open(feature_job *j);
/* Takes what was learnt from the cache; false: it is not there. */
bool cache_recall(feature_job *j);
void cache_keep_learnt(feature_job *j);
/* Reads and writes what was made of an image in job->shelf; called by many
 * threads, each with a context of its own. */
bool cache_take(const feature_job *j, lapis_ctx *ctx, int64_t index,
                feature_slot *slot);
/* One line where entries were not what is written here. */
void cache_say_damaged(const feature_job *j);
void cache_put(const feature_job *j, lapis_ctx *ctx, int64_t index,
               const feature_slot *slot);

/* twins.c: of rows times cols bytes, which counts them, too. */
uint64_t image_hash(const void *bytes, int64_t rows, int64_t cols);
/* Two hashes of 64 bits of a file's bytes, that differ in how they
 * count. */
lapis_status image_content(lapis_ctx *ctx, const char *path, uint64_t id[2]);

#endif
