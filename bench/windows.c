/* windows.c - does the nearest window lie on the eyes?  [MC15] Sec. 4.3
 *
 *   lapis fit mc FACES --variant pos ... -o FIT.npz
 *   bench/windows WORDS.npz SMALL.npz FIT.npz [TRAIN]
 *
 * WORDS.npz and SMALL.npz are cmu_faces_words.npz and cmu_faces_small.npz of
 * LAPIS_DATA/cmu_faces.  Counted are the test images with sunglasses (with
 * TRAIN: the training ones) whose window has its centre in the eye band: x
 * from 32 to 96, and y from 38 to 66, or 26 to 52 where the head is raised, in
 * pictures of 128 x 120.  The band was drawn by hand over all pictures. */
#include <string.h>

#include "bench.h"
#include "lapis/files.h"
#include "lapis/images.h"

enum { POSE_UP = 3 };

typedef struct faces {
  lapis_arrays words, small, fit;
  lapis_mat word, xy, pose, label, train, low_rank;
} faces;

static lapis_mat member(const lapis_arrays *all, const char *name)
{
  const lapis_array *a = lapis_arrays_find(all, name);
  if (a == NULL) {
    fprintf(stderr, "no member %s\n", name);
    exit(1);
  }
  return a->mat;
}

static bool in_band(double x, double y, bool up)
{
  double low = up ? 26 : 38, high = up ? 52 : 66;
  return x >= 32 && x <= 96 && y >= low && y <= high;
}

/* Column i of A as `rows` x n of its own. */
static lapis_mat sample(const lapis_mat *A, int64_t i, int64_t rows)
{
  lapis_mat out = *A;
  size_t item = A->dtype == LAPIS_U8 ? 1 : A->dtype == LAPIS_F32 ? 4 : 8;
  out.val = (char *)A->val + (size_t)(i * A->ld) * item;
  out.rows = out.ld = rows;
  out.cols = A->rows / rows;
  return out;
}

typedef struct tally {
  double images, repaired, raw, random, boxes, evaluated, seconds;
} tally;

static bool hits(lapis_ctx *ctx, const lapis_words *words,
                 const lapis_mat *target, bool up, tally *t)
{
  lapis_box b;
  int64_t found;
  lapis_window_info info;
  bench_check(
      ctx, lapis_windows_find(ctx, words, target, NULL, 1, &b, &found, &info));
  t->boxes += (double)info.candidates;
  t->evaluated += (double)info.evaluated;
  t->seconds += info.seconds;
  return found == 1 && in_band(b.x + b.width / 2, b.y + b.height / 2, up);
}

/* How often a centre drawn evenly from where windows of a third of the
 * picture can have it lies in the band. */
static double by_chance(bool up)
{
  double in = 0, all = 0;
  for (int y = 20; y <= 100; y++)
    for (int x = 21; x <= 107; x++) in += in_band(x, y, up), all++;
  return in / all;
}

static void one(lapis_ctx *ctx, const faces *f, int64_t i, tally *t)
{
  double counts[1000] = {0};
  lapis_words words = {sample(&f->word, i, 1), sample(&f->xy, i, 2), 1000, 128,
                       120};
  for (int64_t j = 0; j < words.word.cols; j++)
    counts[(int)lapis_mat_at(&words.word, 0, j)]++;
  lapis_mat raw = lapis_mat_f64(counts, 1000, 1);
  lapis_mat repaired = sample(&f->low_rank, i, f->low_rank.rows);
  bool up = lapis_mat_at(&f->pose, 0, i) == POSE_UP;
  tally ignored = {0};
  t->images++;
  t->repaired += hits(ctx, &words, &repaired, up, t);
  t->raw += hits(ctx, &words, &raw, up, &ignored);
  t->random += by_chance(up);
}

int main(int argc, char **argv)
{
  if (argc < 4) return puts("windows WORDS.npz SMALL.npz FIT.npz [TRAIN]"), 2;
  lapis_ctx *ctx = lapis_ctx_new();
  faces f;
  bench_check(ctx, lapis_arrays_read(ctx, argv[1], &f.words));
  bench_check(ctx, lapis_arrays_read(ctx, argv[2], &f.small));
  bench_check(ctx, lapis_arrays_read(ctx, argv[3], &f.fit));
  f.word = member(&f.words, "word"), f.xy = member(&f.words, "xy");
  f.pose = member(&f.small, "pose"), f.label = member(&f.small, "label");
  f.train = member(&f.small, "is_train");
  f.low_rank = member(&f.fit, "low_rank");
  tally t = {0};
  for (int64_t i = 0; i < f.word.cols; i++)
    if (lapis_mat_at(&f.label, 0, i) > 0 &&
        (lapis_mat_at(&f.train, 0, i) > 0) == (argc > 4))
      one(ctx, &f, i, &t);
  printf("| images | repaired histogram | raw histogram | by chance | "
         "boxes an image | looked into | ms an image |\n"
         "| --- | --- | --- | --- | --- | --- | --- |\n"
         "| %.0f | %.3f | %.3f | %.3f | %.0f | %.0f | %.2f |\n",
         t.images, t.repaired / t.images, t.raw / t.images, t.random / t.images,
         t.boxes / t.images, t.evaluated / t.images,
         1e3 * t.seconds / t.images);
  lapis_arrays_free(&f.words);
  lapis_arrays_free(&f.small);
  lapis_arrays_free(&f.fit);
  lapis_ctx_free(ctx);
  return 0;
}
