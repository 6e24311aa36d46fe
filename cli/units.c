/* units.c - the scale of features that are to be completed.
 *
 * All squared errors weigh alike, and nothing but the features says where 0 is:
 * of columns in kilometres and millimetres only one is completed, and far from
 * 0 a small rank is spent on the means.  `--completed` takes deviations from
 * the means, in units of their own, unless --map, --mu or --mu-rel state the
 * problem; where deviations differ by more than TIMES it is said then, and of
 * rpca, whose problem is always stated. */
#include <math.h>

#include "race.h"

static const double TIMES = 10;
enum { SEEN = 10 }; /* cells, or as many as any feature has */

/* Of the known cells of feature i. */
static double deviation(const lapis_mat *X, int64_t i, int64_t *seen)
{
  double mean = 0, squares = 0, count = 0;
  for (int64_t j = 0; j < X->cols; j++) {
    double v = lapis_mat_at(X, i, j), off = v - mean;
    if (isnan(v)) continue;
    mean += off / ++count;
    squares += off * (v - mean);
  }
  *seen = (int64_t)count;
  return count > 0 ? sqrt(squares / count) : 0;
}

static bool units_differ(const lapis_mat *X, double *least, double *most)
{
  int64_t enough = 0, seen;
  *least = INFINITY;
  *most = 0;
  for (int64_t i = 0; i < X->rows && enough < SEEN; i++) {
    (void)deviation(X, i, &seen);
    enough = seen > enough ? seen : enough;
  }
  if (enough > SEEN) enough = SEEN;
  for (int64_t i = 0; i < X->rows; i++) {
    double s = deviation(X, i, &seen);
    if (seen < enough || !(s > 0)) continue; /* a constant has no unit */
    *least = fmin(*least, s);
    *most = fmax(*most, s);
  }
  return *most > TIMES * *least;
}

static void tell_units(const cli *c, const lapis_mat *X)
{
  double least, most;
  if (!c->quiet && units_differ(X, &least, &most))
    fprintf(stderr,
            "lapis: warning: %s: deviations of features from %.3g to %.3g: "
            "the largest decide; --map standard puts them on one scale\n",
            c->method->name, least, most);
}

/* As they are read, and by one process. */
static bool is_plain(const cli *c, const lapis_data *data)
{
  return data->X.colptr == NULL && args_get(&c->args, "map") == NULL &&
         args_get(&c->args, "mpi") == NULL;
}

void units_tell(const cli *c, const lapis_data *data)
{
  bool fills = args_get(&c->args, "completed") != NULL;
  if (fills && is_plain(c, data)) tell_units(c, &data->X);
}

const char *units_map(const cli *c, const lapis_data *data,
                      const lapis_mc_settings *set)
{
  bool open =
      args_get(&c->args, "mu") == NULL && args_get(&c->args, "mu-rel") == NULL;
  bool fills = args_get(&c->args, "completed") != NULL;
  bool labels = data->Y.rows > 0; /* where mu is open they chose a map */
  if (!is_plain(c, data) || set->variant != LAPIS_MC_1 ||
      (labels ? open || !fills : !open && !fills))
    return NULL;
  if (open && fills) {
    if (!c->quiet)
      fprintf(stderr, "lapis: mc: --map standard puts the features on one "
                      "scale; --map none leaves them as they are\n");
    return "standard";
  }
  tell_units(c, &data->X);
  return NULL;
}
