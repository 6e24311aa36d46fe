/* paired.c - members of several files: which file and member are meant, and
 * what is said where one names its samples and X does not. */
#include "files/paired.h"

#include <string.h>

lapis_status io_spec_split(lapis_ctx *ctx, const char *spec, char **path,
                           const char **member)
{
  *member = NULL;
  *path = base_strdup(ctx, spec);
  if (*path == NULL) return LAPIS_ENOMEM;
  char *colon = strrchr(*path, ':');
  if (colon == NULL || strcmp(spec, "-") == 0 || io_exists(spec))
    return LAPIS_OK;
  *colon = '\0';
  if (io_exists(*path))
    *member = colon + 1;
  else
    *colon = ':';
  return LAPIS_OK;
}

/* Whether a file that is not X's named its samples, and X's did not. */
static bool is_alone(const io_order *order, const char *x_file)
{
  return order->file != NULL && strcmp(order->file, x_file) != 0;
}

/* "0", "1", ... or "1", "2", ...: these say which rows are meant. */
static bool counts_rows(const lapis_mat *names)
{
  const char *const *name = names->val;
  double first, value;
  for (int64_t j = 0; j < names->cols; j++) {
    if (!io_number(name[j], (int64_t)strlen(name[j]), &value)) return false;
    if (j == 0) first = value;
    if (first * (first - 1) != 0 || value != first + (double)j) return false;
  }
  return true;
}

void io_tell_paired(lapis_ctx *ctx, const io_order *order, const char *x_file)
{
  const lapis_mat *names = &order->names.mat;
  bool tell = is_alone(order, x_file) && !counts_rows(names);
  if (tell)
    base_say(ctx, BASE_WARNING,
             "%s: has no names, so rows were paired in order with %s, whose "
             "first is called '%s'; an .npz of X and names joins them by "
             "name",
             x_file, order->file, ((const char *const *)names->val)[0]);
}

const char *io_unjoined(const io_order *order, const char *x_file,
                        const char *file)
{
  bool lacks = is_alone(order, x_file) && strcmp(order->file, file) == 0;
  return lacks ? "; X has no names, so rows cannot be joined by name; an "
                 ".npz of X and names joins them"
               : "";
}
