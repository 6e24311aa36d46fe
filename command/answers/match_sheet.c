/* match_sheet.c - what corresponds, as a table for people: a row a feature.
 *
 * Columns: the feature's name; its image; the instance and the point that it
 * is, counted from 1 and empty where it is nobody's; of images that were
 * matched together whether that is in doubt, of later ones how far it lies from
 * where it was expected. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"

enum { ID, IMAGE, INSTANCE, POINT, LAST, COLUMNS };
static const char *const title[COLUMNS] = {"id", "image", "instance", "point",
                                           "distance"};

typedef struct matches {
  lapis_mat match, instance, inlier, distance; /* or empty */
  int64_t n;                                   /* features */
  double *column;                              /* n x COLUMNS */
  const char **doubtful;                       /* n */
} matches;

bool has_matches(const lapis_solver *s)
{
  return result_of(s, "match").cols > 0 && result_of(s, "instance").cols > 0;
}

static void fill(matches *m, const lapis_data *data)
{
  for (int64_t i = 0; i < m->n; i++) {
    m->column[ID * m->n + i] = (double)i + 1;
    m->column[IMAGE * m->n + i] =
        data->group == NULL ? 0 : (double)data->group[i];
    for (int c = INSTANCE; c < COLUMNS; c++) m->column[c * m->n + i] = NAN;
    m->doubtful[i] = "";
  }
  for (int64_t k = 0; k < m->match.cols; k++)
    for (int64_t j = 0; j < m->match.rows; j++) {
      int64_t i = (int64_t)lapis_mat_at(&m->match, j, k);
      if (i < 0) continue;
      m->column[INSTANCE * m->n + i] = lapis_mat_at(&m->instance, 0, j);
      m->column[POINT * m->n + i] = (double)j + 1;
      if (m->distance.cols > 0)
        m->column[LAST * m->n + i] = lapis_mat_at(&m->distance, j, k);
      if (m->inlier.cols > 0)
        m->doubtful[i] = lapis_mat_at(&m->inlier, j, k) < 0.5 ? "yes" : "no";
    }
}

static lapis_status put(cli *c, matches *m, const lapis_dataset *ds,
                        const char *path)
{
  lapis_sheet_column column[COLUMNS];
  lapis_mat names = lapis_dataset_text(ds, "names");
  fill(m, lapis_dataset_data(ds));
  for (int i = 0; i < COLUMNS; i++)
    column[i] = (lapis_sheet_column){
        .title = title[i],
        .values = lapis_mat_f64(m->column + i * m->n, 1, m->n)};
  if (names.cols == m->n) column[ID].values = names;
  if (m->inlier.cols > 0)
    column[LAST] = (lapis_sheet_column){
        .title = "doubtful", .values = lapis_mat_text(m->doubtful, 1, m->n)};
  return lapis_sheet_write(c->ctx, path, dialect_of(c, ds), column, COLUMNS);
}

lapis_status matches_write(cli *c, const lapis_solver *s,
                           const lapis_dataset *ds, const char *path)
{
  matches m = {.match = result_of(s, "match"),
               .instance = result_of(s, "instance"),
               .inlier = result_of(s, "inlier"),
               .distance = result_of(s, "distance"),
               .n = lapis_dataset_data(ds)->X.cols};
  m.column = malloc((size_t)(m.n * COLUMNS) * sizeof *m.column + 1);
  m.doubtful = malloc((size_t)m.n * sizeof *m.doubtful + 1);
  lapis_status status = LAPIS_OK;
  if (m.column == NULL || m.doubtful == NULL)
    status = lapis_fail(c->ctx, LAPIS_ENOMEM, "%s: out of memory", path);
  if (status >= 0) status = put(c, &m, ds, path);
  free(m.column);
  free(m.doubtful);
  return status;
}

lapis_mat result_of(const lapis_solver *s, const char *name)
{
  const char *has;
  lapis_mat out = {.cols = 0};
  for (int i = 0; (has = lapis_result_name(s, i)) != NULL; i++)
    if (strcmp(has, name) == 0) (void)lapis_result_get(s, name, &out);
  return out;
}
