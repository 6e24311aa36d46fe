/* report_pictures.c - the images behind samples, and the points matched. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report.h"

static const char *file_at(const report_parts *own, int64_t k)
{
  return ((const char *const *)own->files.mat.val)[k];
}

static const char *base_name(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash == NULL ? path : slash + 1;
}

/* "a/b.png" is called "a/b.png", "b.png" or "b". */
static bool is_called(const char *path, const char *name)
{
  const char *base = base_name(path), *dot = strrchr(base, '.');
  size_t stem = dot == NULL ? strlen(base) : (size_t)(dot - base);
  return strcmp(path, name) == 0 || strcmp(base, name) == 0 ||
         (strlen(name) == stem && strncmp(base, name, stem) == 0);
}

static int list_files(cli *c, report_parts *own)
{
  const char *folder = args_get(&c->args, "images");
  struct stat is;
  if (folder == NULL) return EXIT_DONE;
  if (stat(folder, &is) != 0 || !S_ISDIR(is.st_mode))
    return cli_fail(EXIT_INPUT,
                    "report: --images: %s is not a folder; name the one that "
                    "holds the pictures",
                    folder);
  lapis_status s = lapis_image_list(c->ctx, &folder, 1, &own->files);
  return s < 0 ? cli_fail_status(c, s) : EXIT_DONE;
}

static int add_pictures(report_parts *own, lapis_report *r, int64_t room)
{
  own->picture = calloc((size_t)room + 1, sizeof *own->picture);
  if (own->picture == NULL) return cli_fail(EXIT_FAILED, "out of memory");
  r->picture = own->picture;
  return EXIT_DONE;
}

/* ---- a picture a sample -------------------------------------------------*/
/* By its name, or where samples have none, by its place. */
static const char *file_of(const report_parts *own, const lapis_report *r,
                           int64_t j)
{
  if (r->names.cols == 0) return file_at(own, j);
  const char *name = ((const char *const *)r->names.val)[j];
  for (int64_t k = 0; k < own->files.mat.cols; k++)
    if (is_called(file_at(own, k), name)) return file_at(own, k);
  return NULL;
}

static int picture_samples(cli *c, report_parts *own, lapis_report *r)
{
  int64_t n = r->scores.cols > 0 ? r->scores.cols : r->clean.cols;
  if (r->names.cols == 0 && own->files.mat.cols != n)
    return cli_fail(EXIT_INPUT,
                    "report: %s holds %lld images and the result %lld samples "
                    "without names; fit data that have names",
                    args_get(&c->args, "images"),
                    (long long)own->files.mat.cols, (long long)n);
  int code = add_pictures(own, r, n);
  for (int64_t j = 0; code == EXIT_DONE && j < n; j++) {
    const char *path = file_of(own, r, j);
    if (path == NULL) continue;
    own->picture[r->pictures++] =
        (lapis_report_picture){.sample = j, .path = path};
  }
  if (code == EXIT_DONE && r->pictures == 0)
    return cli_fail(
        EXIT_INPUT, "report: no image in %s has the name of a sample, '%s'",
        args_get(&c->args, "images"), ((const char *const *)r->names.val)[0]);
  return code;
}

/* ---- matches ------------------------------------------------------------*/
/* The images of a folder are those of the data when they are as many, or when
 * the data's groups are places in it. */
static const char *file_of_image(const report_parts *own, int64_t images,
                                 int64_t k, int64_t row)
{
  const int64_t *group = lapis_dataset_data(own->data)->group;
  int64_t files = own->files.mat.cols;
  if (files == images) return file_at(own, k);
  if (group == NULL || row < 0) return NULL;
  return group[row] >= 0 && group[row] < files ? file_at(own, group[row])
                                               : NULL;
}

static int name_images(report_parts *own, lapis_report *r, int64_t images)
{
  own->names = malloc((size_t)images * sizeof *own->names);
  if (own->names == NULL) return cli_fail(EXIT_FAILED, "out of memory");
  for (int64_t k = 0; k < images; k++) {
    const char *path = own->picture[k].path;
    own->names[k] = path == NULL ? "" : base_name(path);
    if (path == NULL) return EXIT_DONE; /* then they are counted */
  }
  r->names = lapis_mat_text(own->names, 1, images);
  return EXIT_DONE;
}

/* match: slots x images, rows of X.  What is no inlier is left out. */
static int add_points(report_parts *own, lapis_report *r,
                      const lapis_mat *match)
{
  lapis_mat inlier = report_numbers(own, "inlier");
  const lapis_mat *xy = &lapis_dataset_data(own->data)->xy;
  int64_t m = 0;
  own->points =
      malloc((size_t)(4 * match->rows * match->cols + 1) * sizeof *own->points);
  if (own->points == NULL) return cli_fail(EXIT_FAILED, "out of memory");
  for (int64_t k = 0; k < match->cols; k++)
    for (int64_t i = 0; i < match->rows; i++) {
      double row = lapis_mat_at(match, i, k);
      bool doubtful = inlier.rows == match->rows &&
                      inlier.cols == match->cols &&
                      lapis_mat_at(&inlier, i, k) == 0;
      if (!(row >= 0) || doubtful) continue;
      if (row >= (double)xy->cols)
        return cli_fail(EXIT_INPUT,
                        "report: match names row %.0f, --data has %lld; is it "
                        "what was fitted?",
                        row + 1, (long long)xy->cols);
      double at[4] = {(double)k, (double)i + 1,
                      lapis_mat_at(xy, 0, (int64_t)row),
                      lapis_mat_at(xy, 1, (int64_t)row)};
      memcpy(own->points + 4 * m++, at, sizeof at);
    }
  r->points = lapis_mat_f64(own->points, 4, m);
  return EXIT_DONE;
}

static int picture_matches(report_parts *own, lapis_report *r,
                           const lapis_mat *match)
{
  int64_t images = match->cols;
  int code = add_pictures(own, r, images);
  for (int64_t k = 0; code == EXIT_DONE && k < images; k++) {
    double row = -1;
    for (int64_t i = 0; i < match->rows && row < 0; i++)
      row = lapis_mat_at(match, i, k);
    own->picture[k] = (lapis_report_picture){
        .sample = k, .path = file_of_image(own, images, k, (int64_t)row)};
  }
  r->pictures = images;
  if (code == EXIT_DONE) code = name_images(own, r, images);
  return code == EXIT_DONE ? add_points(own, r, match) : code;
}

/* ---- results of match and locate, which name their images ---------------*/
/* The folder that holds the result, whatever links lead there; "//", where no
 * path lies, of standard input. */
static void folder_of_result(const cli *c, char folder[PATH_MAX])
{
  (void)snprintf(folder, PATH_MAX, "//");
  if (realpath(c->args.word[0], folder) != NULL) strrchr(folder, '/')[1] = '\0';
}

/* Where an image was is what a result says, and a stranger may have written it:
 * below the folder of the result nothing is read that did not come with it. */
static bool came_along(const char *folder, const char *path)
{
  char real[PATH_MAX];
  return realpath(path, real) == NULL || /* then its frame is empty */
         strncmp(real, folder, strlen(folder)) == 0;
}

/* In --images by its file's name; without that option, where it was. */
static const char *file_called(const report_parts *own, const char *folder,
                               const char *path, int *outside)
{
  if (own->files.mat.dtype != LAPIS_TEXT) {
    if (came_along(folder, path)) return path;
    ++*outside;
    return NULL;
  }
  for (int64_t k = 0; k < own->files.mat.cols; k++)
    if (strcmp(base_name(file_at(own, k)), base_name(path)) == 0)
      return file_at(own, k);
  return NULL;
}

static int check_found(const cli *c, const lapis_mat *names, int missing,
                       int outside)
{
  const char *first = ((const char *const *)names->val)[0];
  bool none = names->cols > 0 && missing == names->cols;
  if (none && outside > 0)
    return cli_fail(EXIT_INPUT,
                    "report: the images of the result, '%s' the first, are not "
                    "below the folder of %s; name the one that holds them: "
                    "--images FOLDER",
                    first, c->args.word[0]);
  if (none)
    return cli_fail(EXIT_INPUT,
                    "report: none of the images of the result, '%s' the first, "
                    "is in %s",
                    first, args_get(&c->args, "images"));
  if (outside > 0 && !c->quiet)
    fprintf(stderr,
            "lapis: report: %d image%s left empty, not found below "
            "the folder of %s; name the one that holds them: --images FOLDER\n",
            outside, cli_s(outside), c->args.word[0]);
  return EXIT_DONE;
}

/* The box of each image (locate), without its score: that of the candidate, as
 * it was proposed. */
static int add_boxes(report_parts *own, lapis_report *r, const lapis_mat *boxes)
{
  own->box = calloc((size_t)boxes->cols + 1, sizeof *own->box);
  if (own->box == NULL) return cli_fail(EXIT_FAILED, "out of memory");
  for (int64_t k = 0; k < r->pictures; k++) {
    double at[4];
    for (int64_t i = 0; i < 4; i++) at[i] = lapis_mat_at(boxes, i, k);
    own->box[k] = (lapis_report_box){.at = {at[0], at[1], at[2], at[3], NAN},
                                     .of_class = -1};
    own->picture[k].box = &own->box[k];
    own->picture[k].boxes = 1;
  }
  return EXIT_DONE;
}

/* image, slot, x, y (match); keypoints have the centre of the first pixel at 0,
 * 0, pages its corner. */
static int add_sure_points(report_parts *own, lapis_report *r,
                           const lapis_mat *points)
{
  own->points = malloc((size_t)(4 * points->cols + 1) * sizeof *own->points);
  if (own->points == NULL) return cli_fail(EXIT_FAILED, "out of memory");
  for (int64_t j = 0; j < 4 * points->cols; j++)
    own->points[j] = lapis_mat_at(points, j % 4, j / 4) + (j % 4 >= 2 ? .5 : 0);
  r->points = lapis_mat_f64(own->points, 4, points->cols);
  return EXIT_DONE;
}

static int picture_flow(cli *c, report_parts *own, lapis_report *r,
                        const lapis_mat *names)
{
  lapis_mat boxes = report_member(own, "boxes");
  lapis_mat points = report_member(own, "points");
  lapis_mat size = report_numbers(own, "image_size");
  bool sized = size.rows == 2 && size.cols == names->cols;
  char folder[PATH_MAX];
  folder_of_result(c, folder);
  int code = add_pictures(own, r, names->cols), missing = 0, outside = 0;
  for (int64_t k = 0; code == EXIT_DONE && k < names->cols; k++) {
    lapis_report_picture *p = &own->picture[r->pictures++];
    p->sample = k;
    p->path = file_called(own, folder, ((const char *const *)names->val)[k],
                          &outside);
    if (sized) p->width = (int64_t)lapis_mat_at(&size, 0, k);
    if (sized) p->height = (int64_t)lapis_mat_at(&size, 1, k);
    missing += p->path == NULL;
  }
  if (code == EXIT_DONE) code = check_found(c, names, missing, outside);
  r->names = *names;
  if (code == EXIT_DONE && boxes.rows == 5 && boxes.cols == names->cols)
    code = add_boxes(own, r, &boxes);
  if (code == EXIT_DONE && points.rows == 4)
    code = add_sure_points(own, r, &points);
  return code;
}

/* names of as many images as match has, which fit roml's results have not. */
static const lapis_mat *flow_names(const report_parts *own,
                                   const lapis_mat *match)
{
  const lapis_array *names = lapis_arrays_find(&own->all, "names");
  bool is = names != NULL && names->mat.dtype == LAPIS_TEXT;
  int64_t images = is ? names->mat.cols : -1;
  bool found = lapis_arrays_find(&own->all, "boxes") != NULL ||
               lapis_arrays_find(&own->all, "points") != NULL;
  bool fits = match->cols == images || match->rows * match->cols == images;
  return is && found && fits ? &names->mat : NULL;
}

int report_pictures(cli *c, report_parts *own, lapis_report *r)
{
  lapis_mat match = report_numbers(own, "match");
  int code = list_files(c, own);
  if (code != EXIT_DONE) return code;
  if (match.cols == 0)
    return own->files.mat.cols > 0 ? picture_samples(c, own, r) : EXIT_DONE;
  const lapis_mat *names = flow_names(own, &match);
  if (names != NULL) return picture_flow(c, own, r, names);
  bool positions =
      own->data != NULL && lapis_dataset_data(own->data)->xy.cols > 0;
  if (positions) return picture_matches(own, r, &match);
  if (!c->quiet)
    fprintf(stderr, "lapis: report: matches are not drawn; --data with the "
                    "positions of the points (xy) draws them\n");
  return EXIT_DONE;
}
