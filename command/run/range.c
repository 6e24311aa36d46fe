/* range.c - where features of a fit lie, kept in its model, and those of new
 * samples that lie elsewhere: metres for kilometres, a point that was lost. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"

enum { ROOM = 64, MOST = 10000, SHOWN = 3, LEAST = 5 };
static const char NAME[] = "feature_range";

typedef struct range {
  double low, high;
} range;

static range find(const lapis_mat *X, int64_t i)
{
  range r = {INFINITY, -INFINITY};
  for (int64_t j = 0; j < X->cols; j++) { /* NaN aside */
    r.low = fmin(r.low, lapis_mat_at(X, i, j));
    r.high = fmax(r.high, lapis_mat_at(X, i, j));
  }
  return r;
}

lapis_status range_put(cli *c, const lapis_dataset *ds, lapis_model *m)
{
  const lapis_mat *X = &lapis_dataset_data(ds)->X;
  if (X->colptr != NULL || X->rows > MOST || X->rows == 0 || c->ranks.size > 1)
    return LAPIS_OK;
  char(*room)[ROOM] = calloc((size_t)X->rows, sizeof *room);
  const char **text = calloc((size_t)X->rows, sizeof *text);
  lapis_status s = LAPIS_OK;
  if (room == NULL || text == NULL)
    s = lapis_fail(c->ctx, LAPIS_ENOMEM, "out of memory");
  for (int64_t i = 0; s >= 0 && i < X->rows; i++) {
    range r = find(X, i);
    if (r.low <= r.high) snprintf(room[i], ROOM, "%.9g %.9g", r.low, r.high);
    text[i] = room[i];
  }
  lapis_mat row = lapis_mat_text(text, 1, X->rows);
  if (s >= 0) s = lapis_model_set_text(c->ctx, m, NAME, &row);
  free(room);
  free(text);
  return s;
}

/* Half of the values, and no few, or one by more than the whole range. */
static bool is_elsewhere(const lapis_mat *X, int64_t i, range r,
                         int64_t *outside, int64_t *known)
{
  double wide = r.high - r.low, far = 0;
  *outside = *known = 0;
  for (int64_t j = 0; j < X->cols; j++) {
    double v = lapis_mat_at(X, i, j), off = fmax(r.low - v, v - r.high);
    if (isnan(v)) continue;
    ++*known;
    *outside += off > 1e-6 * wide;
    far = fmax(far, off);
  }
  return wide > 0 &&
         (far > wide || (*known >= LEAST && 2 * *outside >= *known));
}

static void say(const lapis_dataset *ds, int64_t i, range r, int64_t outside,
                int64_t known)
{
  lapis_mat names = lapis_dataset_text(ds, "feature_names");
  char name[128];
  if (i < names.cols)
    (void)lapis_text_shown(((const char *const *)names.val)[i * names.ld], name,
                           sizeof name);
  else
    snprintf(name, sizeof name, "feature %lld", (long long)i + 1);
  range here = find(&lapis_dataset_data(ds)->X, i);
  fprintf(stderr,
          "lapis: warning: predict: %s: of %lld values %lld lie outside %g .. "
          "%g, where the model has learnt (%g .. %g here); is it in the same "
          "unit?\n",
          name, (long long)known, (long long)outside, r.low, r.high, here.low,
          here.high);
}

void range_check(cli *c, const lapis_dataset *ds)
{
  const lapis_mat *X = &lapis_dataset_data(ds)->X;
  lapis_mat kept;
  int64_t said = 0, outside, known;
  if (c->quiet || c->ranks.rank > 0 || X->colptr != NULL ||
      lapis_model_get(c->ctx, c->model, NAME, &kept) < 0 ||
      kept.dtype != LAPIS_TEXT || kept.cols != X->rows)
    return;
  for (int64_t i = 0; i < X->rows; i++) {
    const char *end, *text = ((const char *const *)kept.val)[i * kept.ld];
    range r;
    if (!lapis_number_read(text, &end, &r.low) || *end != ' ' ||
        !lapis_number_read(end + 1, NULL, &r.high) ||
        !is_elsewhere(X, i, r, &outside, &known))
      continue;
    if (said++ < SHOWN) say(ds, i, r, outside, known);
  }
  if (said > SHOWN)
    fprintf(stderr,
            "lapis: warning: predict: so do values of %lld features more\n",
            (long long)(said - SHOWN));
}
