/* regions.c - regions against the true masks of MSRC v2; bench/papers/mc15.py
 * makes what it reads.
 *
 *   bench/regions LAPIS_DATA/msrc_v2 FOLDS TRUTH.npz [STRIDE]
 *
 * FOLDS/fold0.npz ... fold4.npz hold class_features (K x d) completed without
 * the labels of that fold's images; TRUTH.npz: names, fold and labels (n x K;
 * which classes are asked where).  For each class an image has, its segments
 * (SLIC) are scored by the class's words, and the region is the best connected
 * group of segments; the baseline takes every segment that scores above 0.
 * Intersection and union of pixels are added up over the images of a class,
 * pixels of no class left out.  STRIDE: every so
 * many images only. */
#include <string.h>

#include "bench.h"
#include "lapis/files.h"
#include "lapis/images.h"

enum { FOLDS = 5, CLASSES = 21, WORDS = 400, WAYS = 4, SIDE = 512 };
static const char *const way_name[WAYS] = {
    "region, less mean", "segments, less mean", "region, contrast",
    "segments, contrast"};

typedef struct run {
  lapis_ctx *ctx;
  const char *data;
  lapis_arrays truth, maps, fold[FOLDS];
  double both[WAYS][CLASSES], either[WAYS][CLASSES];
  double seconds, slowest, regions, proved, gap, segments, images;
} run;

static lapis_mat member(const lapis_arrays *all, const char *name)
{
  const lapis_array *a = lapis_arrays_find(all, name);
  if (a != NULL) return a->mat;
  fprintf(stderr, "no member %s\n", name);
  exit(1);
}

/* Class of a pixel: 0 none, c + 1 of 23 as stored. */
static int truth_at(const lapis_image *label, int64_t k)
{
  return (int)(255 * label->pixels[k * label->channels] + 0.5F);
}

static void count(run *r, int way, int c, int stored, const lapis_image *label,
                  const lapis_segments *s, const unsigned char *inside)
{
  for (int64_t k = 0; k < label->width * label->height; k++) {
    int t = truth_at(label, k);
    if (t == 0) continue;
    bool is = t == stored + 1, said = inside[s->label[k]];
    r->both[way][c] += is && said;
    r->either[way][c] += is || said;
  }
}

static void ask(run *r, int c, int stored, const lapis_mat *reps,
                const lapis_words *words, const lapis_segments *s,
                const lapis_image *label)
{
  double *score = calloc((size_t)s->graph.count, sizeof *score);
  unsigned char *inside = calloc((size_t)s->graph.count, 1);
  for (int contrast = 0; contrast < 2; contrast++) {
    double weight[WORDS];
    lapis_region_info info;
    lapis_region_settings set = lapis_region_defaults();
    set.seconds = 5;
    bench_check(r->ctx, lapis_class_weights(r->ctx, reps, c, contrast, weight));
    bench_check(r->ctx, lapis_segment_scores(r->ctx, words, s, weight, score));
    bench_check(r->ctx, lapis_region_find(r->ctx, &s->graph, score, &set,
                                          inside, &info));
    count(r, 2 * contrast, c, stored, label, s, inside);
    for (int64_t v = 0; v < s->graph.count; v++) inside[v] = score[v] > 0;
    count(r, 2 * contrast + 1, c, stored, label, s, inside);
    r->seconds += info.seconds;
    r->slowest = fmax(r->slowest, info.seconds);
    r->gap = fmax(r->gap, info.gap);
    r->proved += info.status == LAPIS_OK;
    r->regions++;
  }
  free(score), free(inside);
}

/* The 21 of 23 classes that the papers keep: not horse, not mountain. */
static int stored_class(int c)
{
  return c + (c >= 4) + (c >= 6);
}

static void one(run *r, int64_t i, const char *name, int fold)
{
  char path[1024];
  lapis_image image, label;
  lapis_segments s;
  snprintf(path, sizeof path, "%s/images_half/%s.png", r->data, name);
  bench_check(r->ctx, lapis_image_read(r->ctx, path, &image));
  snprintf(path, sizeof path, "%s/labels_half/%s.png", r->data, name);
  bench_check(r->ctx, lapis_image_read(r->ctx, path, &label));
  bench_check(r->ctx, lapis_segments_slic(r->ctx, &image, NULL, &s));
  lapis_mat map = member(&r->maps, name);
  int64_t n = map.rows * map.cols;
  double *xy = malloc((size_t)(2 * n) * sizeof *xy);
  for (int64_t k = 0; k < n; k++)
    xy[2 * k] = (double)(k % map.rows), xy[2 * k + 1] = (double)(k / map.rows);
  lapis_words words = {{map.dtype, 1, n, 1, map.val, NULL, NULL},
                       lapis_mat_f64(xy, 2, n),
                       WORDS,
                       map.rows,
                       map.cols};
  lapis_mat reps = member(&r->fold[fold], "class_features");
  lapis_mat has = member(&r->truth, "labels");
  for (int c = 0; c < CLASSES; c++)
    if (lapis_mat_at(&has, c, i) > 0)
      ask(r, c, stored_class(c), &reps, &words, &s, &label);
  r->segments += (double)s.graph.count;
  r->images++;
  free(xy);
  lapis_segments_free(&s);
  lapis_image_free(&image);
  lapis_image_free(&label);
}

static void print_table(const run *r)
{
  printf("| weights | mean IoU over %d classes |\n| --- | --- |\n", CLASSES);
  for (int way = 0; way < WAYS; way++) {
    double sum = 0;
    for (int c = 0; c < CLASSES; c++)
      sum += r->either[way][c] > 0 ? r->both[way][c] / r->either[way][c] : 0;
    printf("| %s | %.3f |\n", way_name[way], sum / CLASSES);
  }
  printf("\n%.0f regions in images of %.0f segments: %.0f proved best within "
         "5 s, largest gap %.4f, mean %.4f s, slowest %.2f s\n",
         r->regions, r->segments / r->images, r->proved, r->gap,
         r->seconds / r->regions, r->slowest);
}

int main(int argc, char **argv)
{
  if (argc < 4) return puts("regions LAPIS_DATA/msrc_v2 FOLDS TRUTH.npz"), 2;
  static run r;
  char path[1024];
  r.ctx = lapis_ctx_new();
  r.data = argv[1];
  bench_check(r.ctx, lapis_arrays_read(r.ctx, argv[3], &r.truth));
  snprintf(path, sizeof path, "%s/texton_maps_half.npz", argv[1]);
  bench_check(r.ctx, lapis_arrays_read(r.ctx, path, &r.maps));
  for (int f = 0; f < FOLDS; f++) {
    snprintf(path, sizeof path, "%s/fold%d.npz", argv[2], f);
    bench_check(r.ctx, lapis_arrays_read(r.ctx, path, &r.fold[f]));
  }
  lapis_mat names = member(&r.truth, "names"), fold = member(&r.truth, "fold");
  int64_t stride = argc > 4 ? atoi(argv[4]) : 1;
  for (int64_t i = 0; i < names.cols; i += stride)
    one(&r, i, ((const char *const *)names.val)[i],
        (int)lapis_mat_at(&fold, 0, i));
  print_table(&r);
  lapis_arrays_free(&r.truth);
  lapis_arrays_free(&r.maps);
  for (int f = 0; f < FOLDS; f++) lapis_arrays_free(&r.fold[f]);
  lapis_ctx_free(r.ctx);
  return 0;
}
