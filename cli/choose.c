/* choose.c - grids as typed, and settings chosen for the user. */
#include "choose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_VALUES = 1000 };

/* ---- "NAME=1,2,3" and "NAME=1:1e-3:10" ----------------------------------*/
static char *copy(const char *text, size_t n)
{
  char *out = malloc(n + 1);
  if (out != NULL) {
    memcpy(out, text, n);
    out[n] = '\0';
  }
  return out;
}

static bool is_range(const char *text, double *low, double *high, int *count)
{
  char *end;
  *low = strtod(text, &end);
  if (end == text || *end != ':') return false;
  const char *second = end + 1;
  *high = strtod(second, &end);
  if (end == second || *end != ':') return false;
  *count = (int)strtol(end + 1, &end, 10);
  return *end == '\0';
}

static int count_values(const char *list)
{
  int n = 1;
  for (; *list != '\0'; list++) n += *list == ',';
  return n;
}

static bool fill_range(char **to, double low, double high, int count)
{
  for (int i = 0; i < count; i++) {
    char text[40];
    double share = count > 1 ? (double)i / (count - 1) : 0;
    snprintf(text, sizeof text, "%.6g", low * pow(high / low, share));
    to[i] = copy(text, strlen(text));
    if (to[i] == NULL) return false;
  }
  return true;
}

static bool fill_list(char **to, const char *list)
{
  for (int i = 0;; i++) {
    size_t n = strcspn(list, ",");
    to[i] = copy(list, n);
    if (to[i] == NULL) return false;
    if (list[n] == '\0') return true;
    list += n + 1;
  }
}

int grid_add(grid_text *g, const char *text)
{
  const char *equals = strchr(text, '=');
  double low, high;
  int count;
  if (equals == NULL || equals == text || equals[1] == '\0')
    return cli_fail(EXIT_MISUSE, "--grid '%s' is not NAME=V,V", text);
  if (g->count == MAX_GRIDS)
    return cli_fail(EXIT_MISUSE, "more than %d grids were given", MAX_GRIDS);
  bool range = is_range(equals + 1, &low, &high, &count);
  if (range && (!(low > 0) || !(high > 0) || count < 1 || count > MAX_VALUES))
    return cli_fail(EXIT_MISUSE,
                    "--grid '%s': LOW:HIGH:COUNT takes two numbers above 0 and "
                    "1 to %d values",
                    text, MAX_VALUES);
  if (!range) count = count_values(equals + 1);
  int k = g->count++;
  g->name[k] = copy(text, (size_t)(equals - text));
  g->value[k] = calloc((size_t)count, sizeof *g->value[k]);
  g->grid[k] =
      (lapis_grid){g->name[k], count, (const char *const *)g->value[k]};
  bool ok = g->name[k] != NULL && g->value[k] != NULL &&
            (range ? fill_range(g->value[k], low, high, count)
                   : fill_list(g->value[k], equals + 1));
  return ok ? EXIT_DONE : cli_fail(EXIT_FAILED, "out of memory");
}

void grid_free(grid_text *g)
{
  for (int k = 0; k < g->count; k++) {
    for (int i = 0; g->value[k] != NULL && i < g->grid[k].count; i++)
      free(g->value[k][i]);
    free(g->value[k]);
    free(g->name[k]);
  }
}

/* ---- options ------------------------------------------------------------*/
int cv_options_from_args(cli *c, const lapis_data *data, lapis_cv_options *o)
{
  const char *folds = args_get(&c->args, "folds");
  const char *metric = args_get(&c->args, "metric");
  *o = lapis_cv_defaults();
  o->map = args_get(&c->args, "map");
  o->map_priv = args_get(&c->args, "map-priv");
  o->by_group = args_get(&c->args, "groups") != NULL;
  if (metric != NULL) o->metric = metric;
  if (o->by_group && data->group == NULL)
    return cli_fail(EXIT_INPUT, "--groups: the data has no group; -G FILE "
                                "gives one");
  if (folds == NULL) return EXIT_DONE;
  char *end;
  o->folds = strtol(folds, &end, 10);
  if (*end != '\0' || end == folds)
    return cli_fail(EXIT_MISUSE, "--folds '%s' is not a whole number", folds);
  return EXIT_DONE;
}

/* ---- choosing -----------------------------------------------------------*/
/* Folds by group where the data has groups: a person's images stay together.
 * As many as there are units, at most five. */
static lapis_cv_options own_options(const lapis_data *data)
{
  lapis_cv_options o = lapis_cv_defaults();
  o.by_group = data->group != NULL;
  return o;
}

static int take_best(cli *c, const lapis_cv *cv, const grid_text *g, bool late,
                     void *settings)
{
  int best = cv == NULL ? -1 : lapis_cv_best(cv);
  if (best < 0) {
    if (!c->quiet)
      fprintf(stderr,
              "lapis: warning: %s: %s to choose --%s; the default is taken\n",
              c->method->name, late ? "no time" : "too few known labels",
              g->grid[0].name);
    return EXIT_DONE;
  }
  const char *value = lapis_cv_value(cv, best, 0);
  lapis_cv_point p = lapis_cv_at(cv, best);
  if (!c->quiet)
    fprintf(stderr,
            "lapis: %s: chose --%s %s by %lld folds (AUROC %.4f on "
            "hidden labels)\n",
            c->method->name, g->grid[0].name, value, (long long)p.folds,
            p.mean);
  lapis_status s =
      lapis_settings_set(c->ctx, c->method, settings, g->grid[0].name, value);
  return s < 0 ? cli_fail_status(c, s) : EXIT_DONE;
}

int choose_settings(cli *c, const lapis_data *data, void *settings)
{
  const lapis_method *m = c->method;
  grid_text g = {.count = 0};
  lapis_cv *cv = NULL;
  if (m->choose == NULL || data->Y.rows == 0) return EXIT_DONE;
  int code = grid_add(&g, m->choose);
  bool given = code == EXIT_DONE && (args_get(&c->args, g.grid[0].name) ||
                                     args_get(&c->args, m->unless));
  if (code == EXIT_DONE && !given) {
    lapis_cv_options o = own_options(data);
    lapis_status s =
        lapis_cv_run(c->ctx, m, data, settings, &o, g.grid, 1, &cv);
    cli_wipe_bar(c);
    bool too_few = s == LAPIS_EINVAL; /* fewer units than folds */
    code = !too_few && (s < 0 || s == LAPIS_CANCELLED)
               ? cli_fail_status(c, s)
               : take_best(c, cv, &g, s == LAPIS_TIME_LIMIT, settings);
  }
  lapis_cv_free(cv);
  grid_free(&g);
  return code;
}

/* ---- suspects -----------------------------------------------------------*/
static void keep_suspects(cli *c, int64_t *index, double *margin, int64_t found)
{
  lapis_mat pairs = {
      .dtype = LAPIS_I64, .rows = 2, .cols = found, .ld = 2, .val = index};
  c->extra[c->n_extra++] = (lapis_named){.name = "suspect_index", .mat = pairs};
  c->extra[c->n_extra++] = (lapis_named){.name = "suspect_margin",
                                         .mat = lapis_mat_f64(margin, 1, found),
                                         .flat = true};
}

int find_suspects(cli *c, const lapis_data *data, const void *settings,
                  void **memory)
{
  const char *text = args_get(&c->args, "suspects");
  *memory = NULL;
  if (text == NULL) return EXIT_DONE;
  char *end;
  long count = strtol(text, &end, 10), most = 1000000;
  if (end == text || *end != '\0' || count < 1 || count > most)
    return cli_fail(EXIT_MISUSE,
                    "--suspects '%s' is not a whole number from 1 to %ld", text,
                    most);
  int64_t *index = calloc((size_t)count * 3, sizeof *index), found = 0;
  if (index == NULL) return cli_fail(EXIT_FAILED, "out of memory");
  *memory = index;
  double *margin = (double *)(void *)(index + 2 * count);
  lapis_cv_options o = own_options(data);
  lapis_status s = lapis_suspects(c->ctx, c->method, data, settings, &o, count,
                                  index, margin, &found);
  if (s < 0 || s == LAPIS_CANCELLED) return cli_fail_status(c, s);
  keep_suspects(c, index, margin, found);
  return EXIT_DONE;
}
