/* bag.h - bags of visual words: what their kinds share.
 *
 * An image is a set of patches, a patch a vector, a vector a word of a
 * vocabulary, which is learnt from some vectors of the images or read from a
 * file; the image's column of X counts its words. */
#ifndef LAPIS_VISION_BAG_H
#define LAPIS_VISION_BAG_H
#include "images/features/feature.h"
#include "images/words/vocabulary.h"
#include "lapis/images.h"

enum { BAG_BINS = 16 };

typedef struct bag_patch {
  int32_t x, y; /* as the family counts */
  int32_t bin;  /* pixels along a cell; 0: a pixel */
  bool shown;   /* its word is published */
} bag_patch;
typedef struct bag_patches {
  int64_t count;
  bag_patch *patch; /* count, base_alloc'd */
} bag_patches;

typedef struct bag bag;
typedef struct bag_view { /* an image at hand, made smaller, in its colours */
  lapis_ctx *ctx;
  const bag *own;
  const char *path;
  lapis_image image;
  double shrunk_x, shrunk_y; /* pixels of the file for one of the image */
  int64_t width, height;     /* of the file's image */
  uint64_t stream; /* of random numbers: the image's own, in any list */
} bag_view;

typedef struct bag_family { /* of descriptors */
  const char *of;           /* "textons" */
  int64_t d;
  bool standardise;
  bool roots;            /* X: square roots of counts, of length 1 */
  int64_t columns, rows; /* that x and y of patches count; 0: pixels */
  lapis_status (*colours)(lapis_ctx *ctx, const lapis_image *in,
                          lapis_image *out);
  lapis_status (*find)(const bag_view *v, bag_patches *out);
  /* to: d x patches->count */
  lapis_status (*describe)(const bag_view *v, const bag_patches *p, float *to);
} bag_family;

struct bag {
  const bag_family *family;
  const lapis_bag_settings *set;
  char of[64]; /* what words describe, with the settings that matter */
  int64_t branch;
  int64_t n_bins, bin[BAG_BINS]; /* of set->bins, in that order */
  bool *learns;                  /* images: which the vocabulary is from */
  int64_t share;                 /* of them each gives so many vectors */
  vocabulary v;
};

/* The hooks of a kind; begin makes j->state of a family. */
lapis_status bag_begin(feature_job *j, const bag_family *family,
                       const char *bins);
lapis_status bag_study(const feature_job *j, const feature_view *v,
                       feature_piece *out);
lapis_status bag_learn(feature_job *j, const feature_piece *all);
lapis_status bag_make(const feature_job *j, const feature_view *v,
                      feature_piece *out);
bool bag_fits(const feature_job *j, const feature_slot *s);
void bag_end(feature_job *j);
lapis_status bag_keep(const feature_job *j, const char *path);
lapis_status bag_recall(feature_job *j, const char *path);
uint64_t bag_learnt(const feature_job *j);
/* Settings of learning; and of what is published beside X. */
extern const char *const bag_aside[], *const bag_aside_and_step[];
/* The rest of a kind's row, behind what is shown of it. */
#define BAG_ARRAYS                                   \
  {                                                  \
    {"X", NULL, NULL}, {"word", "word_start", NULL}, \
    {                                                \
      "word_xy", NULL, NULL                          \
    }                                                \
  }
#define BAG_KIND(own_begin, own_aside)                                    \
  .array = BAG_ARRAYS, .begin = (own_begin), .study = bag_study,          \
  .learn = bag_learn, .make = bag_make, .fits = bag_fits, .end = bag_end, \
  .keep = bag_keep, .recall = bag_recall, .learnt = bag_learnt,           \
  .aside = (own_aside)

/* ---- bag_options.c ------------------------------------------------------*/
/* "2,3,4": whole numbers from 2 to 256. */
lapis_status bag_read_bins(lapis_ctx *ctx, const char *kind, const char *text,
                           bag *b);
/* learns: which of the paths the lines of a text file name, in full, by their
 * end after a '/', or so without the ending. */
lapis_status bag_read_names(feature_job *j, const char *file, bool *learns);
/* JSON for the vocabulary's file. */
lapis_status bag_say_made(const feature_job *j, int64_t images,
                          int64_t descriptors, char **out);

/* Rows of the kinds' tables, as those of lapis_rows.h: settings are a
 * lapis_bag_settings. */
#define BAG_WORDS(n_words, n_levels, n_learn)                              \
  INT("words", words, .value = (n_words), FROM_TO(2, 1e6),                 \
      .goes_with = "!vocabulary", .help = "visual words"),                 \
      INT("levels", levels, .value = (n_levels),                           \
          FROM_TO(1, VOCABULARY_LEVELS), .goes_with = "!vocabulary",       \
          .help = "of the tree of words; 1: each is compared with each"),  \
      INT("learn", learn, .value = (n_learn), FROM_TO(2, 1e8),             \
          .goes_with = "!vocabulary",                                      \
          .help = "descriptors of all images that words are learnt from"), \
      INT("restarts", restarts, .value = 3, FROM_TO(1, 1000),              \
          .goes_with = "!vocabulary",                                      \
          .help = "tries of k-means, of which the best is kept"),          \
      TEXT("vocabulary", vocabulary, .arg = "F.npz",                       \
           .help = "read the words, learn none"),                          \
      TEXT("save-vocabulary", save_vocabulary, .arg = "F.npz",             \
           .help = "write the words that were learnt: images that come "   \
                   "later need them"),                                     \
      TEXT("vocabulary-from", vocabulary_from, .arg = "F.txt",             \
           .help = "learn words from the images it names, one a line")

/* Of images that are described at a size of their own. */
#define BAG_ROWS(n_words, n_levels, n_learn)                               \
  BAG_WORDS(n_words, n_levels, n_learn),                                   \
      INT("longest", longest, .value = -1,                                 \
          FROM_TO(VOCABULARY_LONGEST, VOCABULARY_SIDE),                    \
          .help = "an image with a longer side is made smaller (auto: as " \
                  "the vocabulary was learnt, else 640)"),                 \
      INT("enlarge", enlarge, .value = -1, FROM_TO(0, VOCABULARY_SIDE),    \
          .help = "an image whose longer side is below N pixels is made "  \
                  "larger, to N; 0: none is (auto: as the vocabulary was " \
                  "learnt, else 0)")

#endif
