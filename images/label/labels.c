/* labels.c - the table of labels as people have it: which column names the
 * image, which hold labels, which image a row is about. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "images/label/label.h"

enum { TITLE = 32 }; /* bytes of one that is made */

static lapis_status no_memory(lapis_ctx *ctx)
{
  return lapis_fail(ctx, LAPIS_ENOMEM, "out of memory");
}

/* ---- columns ------------------------------------------------------------*/
static bool is_one_of(const char *text, const char *const *words)
{
  for (; *words != NULL; words++)
    if (strcasecmp(text, *words) == 0) return true;
  return false;
}

static const char *const label_titles[] = {"label",   "labels", "class",
                                           "classes", "target", NULL};

static int64_t titled_as_name(const label_table *s)
{
  for (int64_t j = 0; j < s->cells->columns; j++)
    if (flow_names_images(label_cell(s, 0, j))) return j;
  return -1;
}

/* The column of the first row whose title is one of these; -1: none. */
static int64_t titled(const label_table *s, const char *const *words)
{
  for (int64_t j = 0; j < s->cells->columns; j++)
    if (is_one_of(label_cell(s, 0, j), words)) return j;
  return -1;
}

static const char *title_of(const label_table *s, int64_t column)
{
  return s->first > 0 && column >= 0 ? label_cell(s, 0, column) : "";
}

/* A title, or a number from 1. */
static lapis_status column_named(const label_table *s, const char *option,
                                 const char *name, size_t size, int64_t *out)
{
  int64_t found = 0;
  char *end;
  for (int64_t j = 0; j < s->cells->columns; j++) {
    const char *title = title_of(s, j);
    if (size == 0 || strlen(title) != size || strncmp(title, name, size) != 0)
      continue;
    *out = j;
    found++;
  }
  if (found == 1) return LAPIS_OK;
  long long number = strtoll(name, &end, 10);
  if (found == 0 && end == name + size && number >= 1 &&
      number <= s->cells->columns) {
    *out = number - 1;
    return LAPIS_OK;
  }
  char hint[128];
  lapis_nearest near = {.word = name, .size = size};
  for (int64_t j = 0; j < s->cells->columns && found == 0; j++)
    if (*title_of(s, j) != '\0') lapis_nearest_try(&near, title_of(s, j));
  return lapis_fail(
      s->ctx, LAPIS_EDATA,
      "%s: --%s %.*s: %s%s; it has %" PRId64 " column(s), with %s", s->r->path,
      option, (int)size, name,
      found > 1 ? "several columns have this title" : "there is no such column",
      lapis_nearest_hint(&near, "", hint, sizeof hint), s->cells->columns,
      s->first > 0 ? "the titles of its first line, and numbers from 1"
                   : "no titles, but numbers from 1");
}

/* How many of the first rows name an image in a column. */
static int64_t count_images(const label_table *s, const image_index *x,
                            int64_t column)
{
  int64_t hits = 0, found[2];
  for (int64_t i = 0; i < s->cells->rows && i < 1000; i++)
    hits += index_find(x, label_cell(s, i, column), found) > 0;
  return hits;
}

static bool is_number(const char *text)
{
  char *end;
  (void)strtod(text, &end);
  return end != text && *end == '\0';
}

/* Where no title tells: the column that names most images, or where none names
 * any, the first of text. */
static int64_t guess_name(const label_table *s, const image_index *x)
{
  int64_t best = -1, most = 0;
  for (int64_t j = 0; j < s->cells->columns; j++) {
    int64_t hits = count_images(s, x, j);
    if (hits > most) best = j;
    if (hits > most) most = hits;
  }
  for (int64_t j = 0; best < 0 && j < s->cells->columns; j++)
    if (!is_number(label_cell(s, s->cells->rows - 1, j))) best = j;
  return best < 0 ? 0 : best;
}

static bool looks_like_file(const char *text)
{
  const char *dot = strrchr(text, '.');
  return dot != NULL && dot != text && strlen(dot) >= 4 && strlen(dot) <= 5;
}

/* Whether a list "COL,COL" asks for a title that stands in the first row. */
static bool asks_title(const label_table *s, const char *list)
{
  while (list != NULL && *list != '\0') {
    size_t size = strcspn(list, ",");
    for (int64_t j = 0; j < s->cells->columns; j++) {
      const char *cell = label_cell(s, 0, j);
      if (size > 0 && !is_number(cell) && strlen(cell) == size &&
          strncmp(cell, list, size) == 0)
        return true;
    }
    list += size + (list[size] == ',');
  }
  return false;
}

static void settle_header(label_table *s, const image_index *x)
{
  int64_t found[2], named = titled_as_name(s);
  s->name =
      named >= 0 && s->r->header != LAPIS_HEADER_NO ? named : guess_name(s, x);
  const char *cell = label_cell(s, 0, s->name);
  bool header = named >= 0 || titled(s, label_titles) >= 0 ||
                asks_title(s, s->r->target) || asks_title(s, s->r->groups) ||
                (index_find(x, cell, found) == 0 && !looks_like_file(cell) &&
                 count_images(s, x, s->name) > 0);
  s->first = s->r->header == LAPIS_HEADER_YES ||
             (s->r->header == LAPIS_HEADER_AUTO && header);
}

/* Only 0, 1 and -1, and at least one of them. */
static bool is_indicator(const label_table *s, int64_t column)
{
  static const char *const values[] = {"0", "1", "-1", "", NULL};
  bool any = false;
  for (int64_t i = s->first; i < s->cells->rows; i++) {
    const char *cell = label_cell(s, i, column);
    if (!is_one_of(cell, values)) return false;
    any |= *cell != '\0';
  }
  return any;
}

static lapis_status targets_asked(label_table *s)
{
  for (const char *list = s->r->target; *list != '\0';) {
    int64_t at;
    size_t size = strcspn(list, ",");
    TRY(column_named(s, "target", list, size, &at));
    for (int64_t k = 0; k < s->n_targets; k++)
      if (s->target[k] == at)
        return lapis_fail(s->ctx, LAPIS_EDATA,
                          "%s: --target %s: names a column twice", s->r->path,
                          s->r->target);
    s->target[s->n_targets++] = at;
    list += size + (list[size] == ',');
  }
  return LAPIS_OK;
}

static lapis_status unclear_targets(const label_table *s)
{
  const char *a = title_of(s, s->target[0]), *b = title_of(s, s->target[1]);
  bool titles = *a != '\0' && *b != '\0';
  return lapis_fail(s->ctx, LAPIS_EDATA,
                    "%s: several columns may hold the labels (%s%s%s%s); "
                    "--target COLUMN says which",
                    s->r->path, titles ? a : "there are no titles",
                    titles ? ", " : "", titles ? b : "",
                    s->n_targets > 2 && titles ? ", ..." : "");
}

/* The target that "origin of NAME" is about, "" of "origin", else NULL. */
static const char *title_of_origin(const char *title)
{
  static const char origin_of[] = "origin of ";
  if (strcmp(title, "origin") == 0) return "";
  if (strncmp(title, origin_of, strlen(origin_of)) != 0) return NULL;
  return title + strlen(origin_of);
}

/* A table that LAPIS wrote says of each label whether it was given. */
static bool is_origin(const label_table *s, int64_t column)
{
  static const char *const words[] = {"given", "filled", "partly given", "",
                                      NULL};
  if (title_of_origin(title_of(s, column)) == NULL) return false;
  for (int64_t i = s->first; i < s->cells->rows; i++)
    if (!is_one_of(label_cell(s, i, column), words)) return false;
  return true;
}

/* The one column left; or one titled as labels are; or indicators, all.  One
 * that says who was checked is none of them, unless it is all there is. */
static lapis_status targets_left(label_table *s)
{
  bool indicators = true;
  int64_t named = s->first > 0 ? titled(s, label_titles) : -1;
  for (int64_t j = 0; j < s->cells->columns; j++) {
    if (j == s->name || j == s->group || j == s->checked || is_origin(s, j))
      continue;
    s->target[s->n_targets++] = j;
    indicators = indicators && is_indicator(s, j);
  }
  if (s->n_targets == 0 && s->checked >= 0)
    s->target[s->n_targets++] = s->checked;
  if (s->n_targets == 0)
    return lapis_fail(s->ctx, LAPIS_EDATA,
                      "%s: there is a column of names and none of labels; "
                      "write the labels next to the names, after a comma",
                      s->r->path);
  if (s->n_targets == 1 || (indicators && named < 0)) return LAPIS_OK;
  if (named < 0 || named == s->name || named == s->group)
    return unclear_targets(s);
  s->target[0] = named;
  s->n_targets = 1;
  return LAPIS_OK;
}

static bool is_target(const label_table *s, int64_t column)
{
  for (int64_t k = 0; k < s->n_targets; k++)
    if (s->target[k] == column) return true;
  return false;
}

/* It is no label, and says neither which image, nor who was checked, nor what
 * was given. */
static bool is_other(const label_table *s, int64_t column)
{
  return column != s->name && column != s->checked && !is_target(s, column) &&
         !is_origin(s, column);
}

static lapis_status settle_targets(label_table *s)
{
  static const char *const title[] = {"checked", NULL};
  const char *groups = s->r->groups;
  s->group = -1;
  if (groups != NULL)
    TRY(column_named(s, "groups", groups, strlen(groups), &s->group));
  s->checked = s->first > 0 ? titled(s, title) : -1;
  if (s->checked == s->name || s->checked == s->group) s->checked = -1;
  TRY(s->r->target != NULL ? targets_asked(s) : targets_left(s));
  if (is_target(s, s->checked)) s->checked = -1;
  if (is_target(s, s->name))
    return lapis_fail(s->ctx, LAPIS_EDATA,
                      "%s: column %" PRId64
                      " names the images and cannot be a label, too",
                      s->r->path, s->name + 1);
  if (s->group >= 0 && is_target(s, s->group))
    return lapis_fail(s->ctx, LAPIS_EDATA,
                      "%s: column %" PRId64
                      " is a label and cannot be {groups}, too: a group is "
                      "hidden together, and nothing else has its label",
                      s->r->path, s->group + 1);
  return LAPIS_OK;
}

/* ---- rows ---------------------------------------------------------------*/
/* A comma that was not quoted makes a row longer than its titles, and what
 * stands behind them would be lost. */
static lapis_status check_width(const label_table *s)
{
  int64_t titles = s->first > 0 ? 0 : s->cells->columns;
  for (int64_t j = 0; s->first > 0 && j < s->cells->columns; j++)
    if (*label_cell(s, 0, j) != '\0') titles = j + 1;
  for (int64_t i = s->first; i < s->cells->rows; i++)
    for (int64_t j = titles; j < s->cells->columns; j++)
      if (*label_cell(s, i, j) != '\0')
        return lapis_fail(s->ctx, LAPIS_EDATA,
                          "%s:%" PRId64 ": '%.100s' in column %" PRId64
                          " goes beyond the %" PRId64
                          " titles; put a cell with a comma in quotes",
                          s->r->path, s->cells->line[i], label_cell(s, i, j),
                          j + 1, titles);
  return LAPIS_OK;
}

static bool same_image(const char *a, const char *b)
{
  struct stat x, y;
  return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
         x.st_ino == y.st_ino;
}

/* The first row of no image, and the lines of the others. */
static lapis_status fail_strays(const label_table *s, const image_index *x,
                                int64_t row, int64_t count)
{
  enum { LINES = 5 };
  const char *cell = label_cell(s, row, s->name), *near = index_near(x, cell);
  char others[32 * (LINES + 2)] = "";
  int64_t found[2];
  int listed = 0;
  if (count > 1)
    sprintf(others, "; nor %s %" PRId64 " more, on line%s",
            count > 2 ? "are" : "is", count - 1, count > 2 ? "s" : "");
  for (int64_t i = row + 1; count > 1 && i < s->cells->rows; i++) {
    if (index_find(x, label_cell(s, i, s->name), found) > 0) continue;
    size_t used = strlen(others);
    if (listed++ == LINES) {
      sprintf(others + used, ", ...");
      break;
    }
    sprintf(others + used, "%s %" PRId64, listed > 1 ? "," : "",
            s->cells->line[i]);
  }
  return lapis_fail(s->ctx, LAPIS_EDATA,
                    "%s:%" PRId64 ": '%.200s' is not one of the %" PRId64
                    " images%s%.200s%s%s; --keep-going leaves such rows out",
                    s->r->path, s->cells->line[row], cell, s->r->n,
                    near == NULL ? "" : " (did you mean '",
                    near == NULL ? "" : near, near == NULL ? "" : "'?)",
                    others);
}

static lapis_status bad_row(const label_table *s, int64_t row,
                            const int64_t *found)
{
  const char *cell = label_cell(s, row, s->name);
  int64_t line = s->cells->line[row];
  if (same_image(s->r->image[found[0]], s->r->image[found[1]]))
    return lapis_fail(
        s->ctx, LAPIS_EDATA,
        "%s:%" PRId64
        ": '%.200s' was given twice, as %s and %s; name each image once",
        s->r->path, line, cell, s->r->image[found[0]], s->r->image[found[1]]);
  return lapis_fail(s->ctx, LAPIS_EDATA,
                    "%s:%" PRId64 ": '%.200s' may be %s or %s; write more of "
                    "the path",
                    s->r->path, line, cell, s->r->image[found[0]],
                    s->r->image[found[1]]);
}

static lapis_status match_rows(label_table *s, const image_index *x,
                               labels *out)
{
  int64_t *row_of = malloc((size_t)s->r->n * sizeof *row_of);
  lapis_status status = row_of == NULL ? no_memory(s->ctx) : LAPIS_OK;
  int64_t strays = 0, first = 0;
  for (int64_t i = 0; row_of != NULL && i < s->r->n; i++) row_of[i] = -1;
  for (int64_t i = s->first; status >= 0 && i < s->cells->rows; i++) {
    int64_t found[2], count = index_find(x, label_cell(s, i, s->name), found);
    s->image[i] = -1;
    if (count == 0) {
      if (strays++ == 0) first = i;
      continue;
    }
    if (count > 1) {
      status = bad_row(s, i, found);
      continue;
    }
    int64_t image = s->image[i] = found[0];
    if (row_of[image] >= 0)
      status =
          lapis_fail(s->ctx, LAPIS_EDATA,
                     "%s:%" PRId64 ": '%.200s' is on line %" PRId64
                     " already; an image has one row",
                     s->r->path, s->cells->line[i], label_cell(s, i, s->name),
                     s->cells->line[row_of[image]]);
    row_of[image] = i;
  }
  free(row_of);
  if (s->r->keep_going) out->skipped = strays;
  if (strays == 0 || s->r->keep_going || status == LAPIS_ENOMEM) return status;
  return fail_strays(s, x, first, strays);
}

/* ---- groups -------------------------------------------------------------*/
typedef struct grouped {
  const char *text;
  int64_t image;
} grouped;

static int by_group(const void *a, const void *b)
{
  return strcmp(((const grouped *)a)->text, ((const grouped *)b)->text);
}

/* Images of one text are a group; those without are each their own. */
static lapis_status take_groups(const label_table *s, labels *out)
{
  int64_t n = out->n, rows = 0, next = n;
  if (s->group < 0) return LAPIS_OK;
  grouped *all = calloc((size_t)n + 1, sizeof *all);
  out->group = calloc((size_t)n, sizeof *out->group);
  if (all == NULL || out->group == NULL) {
    free(all);
    return no_memory(s->ctx);
  }
  for (int64_t i = 0; i < n; i++) out->group[i] = i;
  for (int64_t i = s->first; i < s->cells->rows; i++) {
    const char *text = label_cell(s, i, s->group);
    if (s->image[i] < 0 || *text == '\0') continue;
    all[rows++] = (grouped){text, s->image[i]};
  }
  qsort(all, (size_t)rows, sizeof *all, by_group);
  for (int64_t k = 0; k < rows; k++) {
    next += k == 0 || strcmp(all[k].text, all[k - 1].text) != 0;
    out->group[all[k].image] = next;
  }
  free(all);
  return LAPIS_OK;
}

static int by_text(const void *a, const void *b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Different texts of a column in rows of images; 0 where most of them stand
 * alone, or are measured. cell: room for a text a row. */
static int64_t values_repeated(const label_table *s, int64_t column,
                               const char **cell)
{
  int64_t rows = 0, different = 0;
  for (int64_t i = s->first; i < s->cells->rows; i++) {
    const char *text = label_cell(s, i, column);
    if (s->image[i] < 0 || *text == '\0') continue;
    if (is_number(text) && strchr(text, '.') != NULL) return 0;
    cell[rows++] = text;
  }
  qsort((void *)cell, (size_t)rows, sizeof *cell, by_text);
  for (int64_t k = 0; k < rows; k++)
    different += k == 0 || strcmp(cell[k - 1], cell[k]) != 0;
  return different > 1 && 2 * different <= rows ? different : 0;
}

/* Where no groups are named: of the columns that are not used, the one with
 * the most values of which images share each. */
static lapis_status find_repeating(const label_table *s, labels *out)
{
  if (s->group >= 0 || s->first == 0) return LAPIS_OK;
  const char **cell = calloc((size_t)s->cells->rows + 1, sizeof *cell);
  if (cell == NULL) return no_memory(s->ctx);
  for (int64_t j = 0; j < s->cells->columns; j++) {
    if (!is_other(s, j)) continue;
    int64_t values = values_repeated(s, j, cell);
    if (values <= out->repeated) continue;
    out->repeated = values;
    out->repeating = title_of(s, j);
  }
  free((void *)cell);
  return LAPIS_OK;
}

/* ---- what a person has checked ------------------------------------------*/
static lapis_status take_checked(const label_table *s, labels *out)
{
  static const char *const yes[] = {"yes", NULL}, *const no[] = {"no", "",
                                                                 NULL};
  if (s->checked < 0) return LAPIS_OK;
  out->checked = calloc((size_t)out->n, 1);
  if (out->checked == NULL) return no_memory(s->ctx);
  for (int64_t i = s->first; i < s->cells->rows; i++) {
    const char *cell = label_cell(s, i, s->checked);
    if (!is_one_of(cell, yes) && !is_one_of(cell, no))
      return lapis_fail(s->ctx, LAPIS_EDATA,
                        "%s:%" PRId64 ": column checked has '%.100s'; it says "
                        "yes of an image whose labels a person has checked, "
                        "else no, or nothing",
                        s->r->path, s->cells->line[i], cell);
    if (s->image[i] >= 0) out->checked[s->image[i]] = is_one_of(cell, yes);
  }
  return LAPIS_OK;
}

/* ---- what was not given ---------------------------------------------------*/
/* The column that says whence the labels of a target are; -1: none. */
static int64_t origin_of(const label_table *s, int64_t target)
{
  int64_t found = -1;
  for (int64_t j = 0; j < s->cells->columns; j++) {
    if (is_target(s, j) || !is_origin(s, j)) continue;
    const char *of = title_of_origin(title_of(s, j));
    if (of == NULL) continue;
    if (*of == '\0' && found < 0) found = j;
    if (*of != '\0' && strcmp(of, title_of(s, target)) == 0) return j;
  }
  return found;
}

/* What a run has filled in is no label for the next one, unless a person has
 * checked it. */
static void open_filled(label_table *s, labels *out)
{
  for (int64_t k = 0; k < s->n_targets; k++) {
    int64_t at = origin_of(s, s->target[k]);
    for (int64_t i = s->first; at >= 0 && i < s->cells->rows; i++) {
      const char **cell = &s->cells->text[i * s->cells->columns + s->target[k]];
      const char *is = label_cell(s, i, at);
      bool checked =
          out->checked != NULL && s->image[i] >= 0 && out->checked[s->image[i]];
      if (**cell == '\0' || *is == '\0' || checked ||
          strcasecmp(is, "given") == 0)
        continue;
      *cell = "";
      out->filled++;
    }
  }
}

/* ---- columns that are no labels -----------------------------------------*/
/* Where the label of a column stands among all that are written. */
static int64_t place_of_target(const label_table *s, const labels *out,
                               int64_t column)
{
  int64_t k = 0;
  while (s->target[k] != column) k++;
  return 1 + out->others + k;
}

static void order_columns(const label_table *s, labels *out)
{
  int64_t others = 0;
  for (int64_t j = 0; j < s->cells->columns; j++)
    if (j == s->name || j == s->checked || is_other(s, j) || is_target(s, j))
      out->column[out->columns++] = j == s->name     ? 0
                                    : is_other(s, j) ? ++others
                                    : j == s->checked
                                        ? 1 + out->others + s->n_targets
                                        : place_of_target(s, out, j);
}

/* Without titles the one of groups is called so, others by their numbers. */
static void take_other(const label_table *s, int64_t column, int64_t k,
                       labels *out)
{
  char *title = out->other_pool + k * TITLE;
  snprintf(title, TITLE, "column %" PRId64, column + 1);
  out->other_title[k] = s->first > 0         ? title_of(s, column)
                        : column == s->group ? "group"
                                             : title;
  for (int64_t i = s->first; i < s->cells->rows; i++)
    if (s->image[i] >= 0)
      out->other[s->image[i] * out->others + k] =
          s->cells->written[i * s->cells->columns + column];
}

static lapis_status take_others(const label_table *s, labels *out)
{
  int64_t columns = s->cells->columns, k = 0;
  for (int64_t j = 0; j < columns; j++) out->others += is_other(s, j);
  int64_t cells = out->others * out->n;
  out->column = calloc((size_t)columns, sizeof *out->column);
  out->other_title = calloc((size_t)columns, sizeof *out->other_title);
  out->other_pool = calloc((size_t)columns, TITLE);
  out->other = calloc((size_t)cells + 1, sizeof *out->other);
  if (out->column == NULL || out->other_title == NULL ||
      out->other_pool == NULL || out->other == NULL)
    return no_memory(s->ctx);
  order_columns(s, out);
  for (int64_t i = 0; i < cells; i++) out->other[i] = "";
  for (int64_t j = 0; j < columns; j++)
    if (is_other(s, j)) take_other(s, j, k++, out);
  return LAPIS_OK;
}

/* ---- all of it ----------------------------------------------------------*/
static lapis_status settle(label_table *s, const image_index *x, labels *out)
{
  settle_header(s, x);
  if (s->first >= s->cells->rows)
    return lapis_fail(s->ctx, LAPIS_EDATA,
                      "%s: holds titles and no rows below them", s->r->path);
  TRY(check_width(s));
  TRY(settle_targets(s));
  TRY(match_rows(s, x, out));
  TRY(take_groups(s, out));
  TRY(take_checked(s, out));
  open_filled(s, out);
  TRY(find_repeating(s, out));
  TRY(take_others(s, out));
  out->name_title = title_of(s, s->name);
  out->title = title_of(s, s->target[0]);
  return classes_find(s, out);
}

/* ---- the names of folders ------------------------------------------------*/
/* Cells as if a table had said so: the image, its class. */
static lapis_status cells_of_folders(lapis_ctx *ctx, const label_request *r,
                                     lapis_cells *cells, labels *out)
{
  TRY(lapis_image_classes(ctx, r->image, r->n, &out->folder));
  const char *const *class_ = out->folder.mat.val;
  const char **cell = out->folder_cell =
      calloc((size_t)(2 * r->n + 2), sizeof *out->folder_cell);
  cells->line = calloc((size_t)r->n + 1, sizeof *cells->line);
  if (cell == NULL || cells->line == NULL) return no_memory(ctx);
  cell[0] = "image";
  cell[1] = "class";
  for (int64_t i = 0; i < r->n; i++) {
    cell[2 * i + 2] = r->image[i];
    cell[2 * i + 3] = class_[i];
  }
  *cells = (lapis_cells){.rows = r->n + 1,
                         .columns = 2,
                         .text = cell,
                         .written = cell,
                         .line = cells->line};
  return LAPIS_OK;
}

static lapis_status read_folders(lapis_ctx *ctx, const label_request *r,
                                 const image_index *x, labels *out)
{
  lapis_cells cells = {.rows = 0};
  int64_t target[2];
  label_request own = *r;
  own.target = own.groups = NULL;
  own.header = LAPIS_HEADER_YES;
  lapis_status status = cells_of_folders(ctx, r, &cells, out);
  label_table s = {.ctx = ctx, .r = &own, .cells = &cells, .target = target};
  s.image = calloc((size_t)r->n + 1, sizeof *s.image);
  if (status >= 0 && s.image == NULL) status = no_memory(ctx);
  if (status >= 0) status = settle(&s, x, out);
  free(s.image);
  free(cells.line);
  return status;
}

static lapis_status read_sheet(lapis_ctx *ctx, const label_request *r,
                               const image_index *x, labels *out)
{
  label_table s = {.ctx = ctx, .r = r, .cells = &out->cells};
  TRY(lapis_cells_read(ctx, r->path, r->missing, &out->cells));
  s.image = calloc((size_t)out->cells.rows, sizeof *s.image);
  s.target = calloc((size_t)out->cells.columns, sizeof *s.target);
  lapis_status status =
      s.image == NULL || s.target == NULL ? no_memory(ctx) : settle(&s, x, out);
  free(s.image);
  free(s.target);
  return status;
}

lapis_status labels_read(lapis_ctx *ctx, const label_request *r, labels *out)
{
  image_index x;
  *out = (labels){.n = r->n};
  TRY(index_new(ctx, r->image, r->n, &x));
  lapis_status s =
      r->folders ? read_folders(ctx, r, &x, out) : read_sheet(ctx, r, &x, out);
  index_free(&x);
  return s;
}

void labels_free(labels *table)
{
  free(table->name);
  free(table->Y);
  free(table->group);
  free(table->checked);
  free((void *)table->other_title);
  free((void *)table->other);
  free(table->other_pool);
  free(table->column);
  free(table->pool);
  free((void *)table->folder_cell);
  lapis_array_free(&table->folder);
  lapis_cells_free(&table->cells);
  *table = (labels){.n = 0};
}
