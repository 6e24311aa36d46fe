/* importance_sheet.c - what matters, by shuffling features. */
#include "importance_sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/run/grids.h"

enum { SHOWN = 10, ROOM = 24 };
static const double ONE_WAY = .4; /* of what goes with what, 0 .. 1 */

typedef struct ranked {
  const char *name;
  double value[3];
  int64_t at;
} ranked;

static int most_first(const void *a, const void *b)
{
  const ranked *x = a, *y = b;
  if (x->value[0] != y->value[0]) return x->value[0] > y->value[0] ? -1 : 1;
  return (x->at > y->at) - (x->at < y->at);
}

/* Of d features the columns; text: their names. */
static int64_t rank(const lapis_mat *found, const lapis_mat *names, char *text,
                    ranked *to)
{
  int64_t count = 0;
  const char *const *title = names->cols == found->cols ? names->val : NULL;
  for (int64_t i = 0; i < found->cols; i++) {
    const char *name = title == NULL ? NULL : title[i * names->ld];
    bool several = title != NULL && lapis_one_column(names, i + 1);
    if (title != NULL && lapis_one_column(names, i)) continue;
    to[count] = (ranked){text,
                         {lapis_mat_at(found, 0, i), lapis_mat_at(found, 1, i),
                          lapis_mat_at(found, 2, i)},
                         i};
    text +=
        1 + (name == NULL
                 ? snprintf(text, ROOM, "feature %lld", (long long)i + 1)
                 : sprintf(text, "%.*s",
                           (int)(several ? strcspn(name, "=") : strlen(name)),
                           name));
    count++;
  }
  qsort(to, (size_t)count, sizeof *to, most_first);
  return count;
}

/* Of many features some seem to matter by chance. */
static bool is_clear(const cli_importance *w, int64_t k)
{
  return lapis_is_clear_among(w->value[2 * k], w->value[2 * k + 1], w->count);
}

/* Up and down, of one target. */
static void name_ways(cli *c, const lapis_dataset *ds, cli_importance *to)
{
  const lapis_mat *Y = &lapis_dataset_data(ds)->Y;
  lapis_mat titles = lapis_dataset_text(ds, "target_names");
  double most = -INFINITY;
  char text[256];
  for (int64_t j = 0; Y->rows == 1 && j < Y->cols; j++)
    most = fmax(most, lapis_mat_at(Y, 0, j)); /* NaN aside */
  if (to->numbers && titles.cols > 0)
    (void)lapis_text_shown(((const char *const *)titles.val)[0], text,
                           sizeof text);
  else if (to->numbers)
    (void)snprintf(text, sizeof text, "the number");
  else
    (void)label_text(c, ds, most, text, sizeof text);
  for (int down = 0; down < 2; down++)
    (void)snprintf(to->ways[down], sizeof to->ways[down],
                   to->numbers ? "as it grows, %s %s" : "as it grows, %s is %s",
                   text,
                   to->numbers ? (down ? "falls" : "rises")
                               : (down ? "less likely" : "likelier"));
}

lapis_status importance_read(cli *c, const lapis_solver *s,
                             const lapis_dataset *ds, cli_importance *to)
{
  lapis_mat found = result_of(s, "importance");
  lapis_mat names = lapis_dataset_text(ds, "feature_names");
  *to = (cli_importance){.numbers = result_of(s, "labels").cols == 0};
  if (found.cols == 0) return LAPIS_OK;
  size_t d = (size_t)found.cols, room = d * ROOM;
  for (int64_t i = 0; i < names.cols; i++)
    room += strlen(((const char *const *)names.val)[i * names.ld]) + 1;
  ranked *all = calloc(d, sizeof *all);
  to->text = malloc(room);
  to->name = calloc(d, sizeof *to->name);
  to->way = calloc(d, sizeof *to->way);
  to->value = calloc(2 * d, sizeof *to->value);
  bool fine = all != NULL && to->text != NULL && to->name != NULL &&
              to->way != NULL && to->value != NULL;
  name_ways(c, ds, to);
  if (fine) to->count = rank(&found, &names, to->text, all);
  for (int64_t k = 0; k < to->count; k++) {
    to->name[k] = all[k].name;
    memcpy(to->value + 2 * k, all[k].value, 2 * sizeof *to->value);
    to->way[k] = is_clear(to, k) && fabs(all[k].value[2]) >= ONE_WAY
                     ? to->ways[all[k].value[2] < 0]
                     : "";
  }
  free(all);
  if (fine) return LAPIS_OK;
  importance_free(to);
  return lapis_fail(c->ctx, LAPIS_ENOMEM, "out of memory");
}

void importance_free(cli_importance *w)
{
  free(w->text);
  free(w->name);
  free(w->way);
  free(w->value);
  *w = (cli_importance){.count = 0};
}

void importance_print(const cli_importance *w)
{
  int64_t clear = 0, shown = 0;
  if (w->count == 0) return;
  for (int64_t k = 0; k < w->count; k++) clear += is_clear(w, k);
  printf("what matters: %s once a feature is shuffled (where two say the same, "
         "each is missed little)\n",
         w->numbers ? "R^2 that hidden numbers lose"
                    : "log-loss that hidden labels gain");
  for (int64_t k = 0; k < w->count && shown < SHOWN; k++) {
    if (!is_clear(w, k)) continue;
    printf("  %-20s %.4f +- %.4f%s%s\n", w->name[k], w->value[2 * k],
           w->value[2 * k + 1], *w->way[k] == '\0' ? "" : "  ", w->way[k]);
    shown++;
  }
  if (clear > shown)
    printf("  and %lld more, each less\n", (long long)(clear - shown));
  const char *before = "  not clearly missed: ";
  for (int64_t k = 0, named = 0; k < w->count; k++) {
    if (is_clear(w, k)) continue;
    if (named++ == SHOWN) {
      printf(", and %lld more", (long long)(w->count - clear - SHOWN));
      break;
    }
    printf("%s%s", before, w->name[k]);
    before = ", ";
  }
  if (w->count > clear) printf("\n");
}

lapis_json *importance_json(const cli_importance *w)
{
  lapis_json *list = lapis_json_list();
  for (int64_t k = 0; k < w->count; k++) {
    lapis_json *to = lapis_json_object();
    lapis_json_put_text(to, "feature", w->name[k]);
    lapis_json_put_number(to, w->numbers ? "r2" : "log_loss", w->value[2 * k]);
    lapis_json_put_number(to, "error", w->value[2 * k + 1]);
    if (*w->way[k] != '\0') lapis_json_put_text(to, "way", w->way[k]);
    lapis_json_put(list, NULL, to);
  }
  return list;
}
