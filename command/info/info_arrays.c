/* info_arrays.c - lapis info F.npy, F.npz, ...: what to type next. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "info.h"

static const lapis_array *find(const lapis_arrays *all, const char *name)
{
  return lapis_arrays_find(all, name);
}

/* Features by the look of them: the largest matrix of numbers. */
static const lapis_array *find_matrix(const lapis_arrays *all)
{
  const lapis_array *best = NULL;
  for (int i = 0; i < all->count; i++) {
    const lapis_array *a = &all->item[i];
    bool matrix = a->mat.dtype != LAPIS_TEXT && a->axes == 2 &&
                  a->mat.rows > 1 && a->mat.cols > 1;
    if (matrix && (best == NULL ||
                   a->mat.rows * a->mat.cols > best->mat.rows * best->mat.cols))
      best = a;
  }
  return best;
}

/* What may be the labels of its samples: an array of one value each, called so.
 */
static const lapis_array *find_labels(const lapis_arrays *all, int64_t samples)
{
  static const char *const called[] = {"y",       "label", "labels", "target",
                                       "targets", "class", "classes"};
  for (int i = 0; i < all->count; i++) {
    const lapis_array *a = &all->item[i];
    bool one = a->axes == 1 && a->mat.rows * a->mat.cols == samples;
    for (size_t k = 0; one && k < sizeof called / sizeof *called; k++)
      if (strcasecmp(a->name, called[k]) == 0) return a;
  }
  return NULL;
}

static void print_member(const char *option, const char *path, const char *name)
{
  char spec[4608];
  snprintf(spec, sizeof spec, "%s:%s", path, name);
  printf(" %s", option);
  shell_file(stdout, spec);
}

static void print_end(bool labels, bool unknown)
{
  if (!labels)
    printf(" -Y LABELS.csv -o answers.csv\n  LABELS.csv has columns row and "
           "label, for some of the rows, counted from 1\n");
  else
    printf(unknown ? " -o answers.csv\n" : " --model m.lapis\n");
}

info_rows info_rows_of(const lapis_mat *X)
{
  info_rows r = {.blank = 0};
  if (X->colptr != NULL || X->rows < 2) return r;
  for (int64_t j = 0; j < X->cols; j++) {
    int64_t missing = 0, zeros = 0;
    for (int64_t i = 0; i < X->rows; i++) {
      double x = lapis_mat_at(X, i, j);
      missing += isnan(x);
      zeros += x == 0;
      r.infinite += isinf(x) != 0;
    }
    r.blank += missing == X->rows;
    r.zero += zeros == X->rows;
  }
  return r;
}

/* Gaps to be filled: more than those of a few rows of which nothing is known,
 * as of images that could not be read. */
static bool has_holes(const lapis_mat *X)
{
  enum { ONE_IN = 100 };
  info_rows r = info_rows_of(X);
  int64_t missing = lapis_mat_missing(X);
  bool few = ONE_IN * r.blank < X->cols && missing == r.blank * X->rows;
  return missing > 0 && !few;
}

/* Data as they are. */
static void print_of_data(const char *path, const lapis_data *d)
{
  bool points = d->xy.rows > 0, labels = d->Y.rows > 0;
  bool holes = !labels && has_holes(&d->X);
  printf("  for example: lapis fit %s", points  ? "roml"
                                        : holes ? "mc"
                                                : "auto");
  if (!points && !labels && d->X.rows == 1) {
    printf(" X.npy -Y"); /* one number a sample is what is asked */
    shell_file(stdout, path);
    printf("\n  X.npy has the features, a row a sample\n");
    return;
  }
  shell_file(stdout, path);
  if (points || holes)
    printf(points ? " -o tracks.npz\n" : " -o filled.npz\n");
  else
    print_end(labels, lapis_mat_missing(&d->Y) > 0);
}

static bool is_result(const lapis_arrays *all)
{
  return find(all, "scores") != NULL || find(all, "low_rank") != NULL ||
         find(all, "match") != NULL;
}

void info_next(const char *path, const lapis_arrays *all,
               const lapis_dataset *ds)
{
  const lapis_array *X = find_matrix(all), *Y;
  if (is_result(all) && find(all, "X") == NULL) {
    printf("  for example: lapis report");
    shell_file(stdout, path);
    printf(" -o page.html\n");
  } else if (ds != NULL) {
    print_of_data(path, lapis_dataset_data(ds));
  } else if (X != NULL) {
    Y = find_labels(all, X->mat.cols);
    printf("  for example: lapis fit auto");
    print_member("-X", path, X->name);
    if (Y != NULL) print_member("-Y", path, Y->name);
    print_end(Y != NULL, Y != NULL && lapis_mat_missing(&Y->mat) > 0);
  }
}
