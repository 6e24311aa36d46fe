/* faces.c - finding and reading the bundled faces. */
#include "faces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_PEOPLE = 64 };

/* LAPIS_SHARE, beside the executable, installed, in the source tree. */
static bool find_file(char *path, size_t size)
{
  char self[4096];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  self[length > 0 ? length : 0] = '\0';
  char *slash = strrchr(self, '/');
  if (slash != NULL) *slash = '\0';
  const char *share = getenv("LAPIS_SHARE");
  const char *const roots[][2] = {{share != NULL ? share : "", ""},
                                  {self, "/../share/lapis"},
                                  {LAPIS_INSTALL_DATA, ""},
                                  {LAPIS_SOURCE_DATA, ""}};
  for (size_t i = share == NULL; i < sizeof roots / sizeof *roots; i++) {
    int n = snprintf(path, size, "%s%s/cmu_faces/faces.npz", roots[i][0],
                     roots[i][1]);
    if (n > 0 && (size_t)n < size && access(path, R_OK) == 0) return true;
  }
  return false;
}

void faces_free(faces *f)
{
  lapis_arrays_free(&f->file);
  free(f->counts);
  free(f->mapped);
  free(f->person);
  free(f->truth);
  free(f->known);
  free(f->hidden);
}

static bool allocate(faces *f)
{
  size_t entries = (size_t)(f->d * f->n) * sizeof(double);
  size_t n = (size_t)f->n * sizeof(double);
  f->counts = malloc(entries);
  f->mapped = malloc(entries);
  f->person = malloc((size_t)f->n * sizeof *f->person);
  f->truth = malloc(n);
  f->known = malloc(n);
  f->hidden = malloc(n);
  return f->counts != NULL && f->mapped != NULL && f->person != NULL &&
         f->truth != NULL && f->known != NULL && f->hidden != NULL;
}

/* "0,5,7" -> marks; false where it is no such list. */
static bool parse_people(const char *list, bool *mark)
{
  for (;;) {
    char *end;
    long v = strtol(list, &end, 10);
    if (end == list || v < 0 || v >= MAX_PEOPLE) return false;
    mark[v] = true;
    if (*end == '\0') return true;
    if (*end != ',') return false;
    list = end + 1;
  }
}

typedef struct members {
  lapis_mat counts, label, train, person;
} members;

static int split(const members *m, const char *people, faces *f)
{
  bool mark[MAX_PEOPLE] = {false};
  int64_t training = 0;
  if (people != NULL && !parse_people(people, mark))
    return cli_fail(EXIT_MISUSE, "demo: --people '%s' is not a list like 0,3,7",
                    people);
  for (int64_t j = 0; j < f->n; j++) {
    f->truth[j] = lapis_mat_at(&m->label, 0, j);
    f->person[j] = (int64_t)lapis_mat_at(&m->person, 0, j);
    bool known = people == NULL ? lapis_mat_at(&m->train, 0, j) > 0
                                : mark[f->person[j] % MAX_PEOPLE];
    training += known;
    f->known[j] = known ? f->truth[j] : NAN;
    f->hidden[j] = known ? NAN : f->truth[j];
    for (int64_t i = 0; i < f->d; i++)
      f->counts[j * f->d + i] = lapis_mat_at(&m->counts, i, j);
  }
  if (training > 0 && training < f->n) return EXIT_DONE;
  return cli_fail(EXIT_MISUSE,
                  "demo: --people %s leaves nobody to %s; people are 0 to 19",
                  people, training == 0 ? "learn from" : "be asked for");
}

static bool take(const faces *f, const char *name, lapis_mat *out)
{
  const lapis_array *a = lapis_arrays_find(&f->file, name);
  if (a != NULL) *out = a->mat;
  return a != NULL;
}

int faces_load(cli *c, const char *people, faces *f)
{
  char path[8192];
  members m;
  if (!find_file(path, sizeof path))
    return cli_fail(EXIT_INPUT,
                    "demo: cmu_faces/faces.npz is not found; LAPIS_SHARE may "
                    "name the folder that holds cmu_faces");
  lapis_status s = lapis_arrays_read(c->ctx, path, &f->file);
  if (s < 0) return cli_fail_status(c, s);
  if (!take(f, "counts", &m.counts) || !take(f, "label", &m.label) ||
      !take(f, "is_train", &m.train) || !take(f, "subject", &m.person))
    return cli_fail(EXIT_INPUT,
                    "%s: counts, label, is_train or subject is missing; "
                    "install LAPIS's data again",
                    path);
  f->d = m.counts.rows;
  f->n = m.counts.cols;
  if (!allocate(f)) return cli_fail(EXIT_FAILED, "out of memory");
  return split(&m, people, f);
}

int faces_map(cli *c, faces *f, const char *spec)
{
  lapis_map *map;
  lapis_mat counts = lapis_mat_f64(f->counts, f->d, f->n);
  lapis_status s = lapis_map_new(c->ctx, spec, &map);
  if (s >= 0) s = lapis_map_fit(c->ctx, map, &counts);
  if (s >= 0) s = lapis_map_apply(c->ctx, map, &counts, f->mapped);
  lapis_map_free(map);
  return s < 0 ? cli_fail_status(c, s) : EXIT_DONE;
}

lapis_data faces_data(const faces *f, double *y)
{
  return (lapis_data){.X = lapis_mat_f64(f->mapped, f->d, f->n),
                      .Y = lapis_mat_f64(y, 1, f->n),
                      .group = f->person};
}

int64_t faces_pick(const faces *f, const double *y, double *X, double *labels)
{
  int64_t n = 0;
  for (int64_t j = 0; j < f->n; j++) {
    if (isnan(y[j])) continue;
    memcpy(X + n * f->d, f->mapped + j * f->d, (size_t)f->d * sizeof *X);
    labels[n++] = y[j];
  }
  return n;
}
