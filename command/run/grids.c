/* grids.c - grids as typed, and settings chosen for the user. */
#include "grids.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int grid_add(cli *c, grid_text *g, const char *text)
{
  if (g->count == MAX_GRIDS)
    return cli_fail(
        EXIT_MISUSE,
        "more than %d grids were given; give fewer, with more values each",
        MAX_GRIDS);
  lapis_status s = lapis_grid_new(c->ctx, text, &g->owned[g->count]);
  if (s < 0) return cli_fail_status(c, s);
  g->grid[g->count] = *g->owned[g->count];
  const char *name = g->grid[g->count++].name;
  if (strcmp(name, "map") == 0 || strcmp(name, "map-priv") == 0)
    return cli_fail(EXIT_MISUSE,
                    "cv: --grid %s: a map is not a setting of the method; give "
                    "--%s itself, not in the grid: a run each, and compare",
                    name, name);
  for (int k = 0; k < g->count - 1; k++)
    if (strcmp(g->grid[k].name, name) == 0)
      return cli_fail(EXIT_MISUSE,
                      "cv: --grid %s is given twice; name all its values in "
                      "one",
                      name);
  return EXIT_DONE;
}

void grid_text_free(grid_text *g)
{
  for (int k = 0; k < g->count; k++) lapis_grid_free(g->owned[k]);
}

int64_t cv_best(const lapis_solver *cv)
{
  lapis_mat best = result_of(cv, "best");
  return best.cols > 0 ? (int64_t)lapis_mat_at(&best, 0, 0) : -1;
}

const char *cv_value(const lapis_solver *cv, int64_t point, int64_t name)
{
  lapis_mat points = result_of(cv, "points");
  return ((const char *const *)points.val)[point * points.rows + name];
}

/* ---- options ------------------------------------------------------------*/
/* What the folds hide; said where the tool decided it and it is not rows. */
static int settle_folds_of(cli *c, const lapis_data *data, lapis_cv_options *o)
{
  const char *text = args_get(&c->args, "folds-of");
  char what[16];
  if (text == NULL && o->by_group) o->folds_of = LAPIS_FOLDS_OF_GROUPS;
  if (o->by_group && o->folds_of != LAPIS_FOLDS_OF_GROUPS &&
      o->folds_of != LAPIS_FOLDS_OF_AUTO)
    return cli_fail(EXIT_MISUSE,
                    "--groups is --folds-of groups, and "
                    "--folds-of %s was given",
                    text);
  if (o->folds_of == LAPIS_FOLDS_OF_AUTO) {
    o->by_group = o->by_group || data->group != NULL;
    o->folds_of = (int)lapis_cv_hides(c->method, data, o);
    lapis_settings_get(c->ctx, lapis_cv_table(), o, "folds-of", what,
                       sizeof what);
    if (o->folds_of != LAPIS_FOLDS_OF_ROWS && !c->quiet)
      fprintf(stderr, "lapis: cv: hides %s (--folds-of %s)\n",
              o->folds_of == LAPIS_FOLDS_OF_CELLS ? "single cells of Y"
                                                  : "whole groups",
              what);
  }
  o->by_group = o->folds_of == LAPIS_FOLDS_OF_GROUPS;
  return EXIT_DONE;
}

int cv_options_from_args(cli *c, const lapis_data *data, lapis_cv_options *o)
{
  *o = lapis_cv_defaults();
  for (const cli_option *row = c->verb->options; row->name != NULL; row++) {
    const char *value = args_get(&c->args, row->name);
    if (row->help != NULL || value == NULL) continue;
    lapis_status s =
        lapis_settings_set(c->ctx, lapis_cv_table(), o, row->name, value);
    if (s < 0) return cli_fail_status(c, s);
  }
  int code = settle_folds_of(c, data, o);
  if (code != EXIT_DONE) return code;
  if (o->by_group && data->group == NULL)
    return cli_fail(EXIT_INPUT, "--groups: the data has no group; -G FILE "
                                "or -G COLUMN gives one");
  return EXIT_DONE;
}

/* ---- suspects -----------------------------------------------------------*/
/* wrong: how many of all known labels are wrong, and behind that how many of
 * these rather are, or NULL: nobody knows. */
static void keep_suspects(cli *c, int64_t *index, double *doubt, int64_t count,
                          int64_t *wrong)
{
  lapis_mat pairs = lapis_mat_i64(index, 2, count);
  c->extra[c->n_extra++] = (lapis_named){.name = "suspect_index", .mat = pairs};
  c->extra[c->n_extra++] = (lapis_named){.name = "suspect_margin",
                                         .mat = lapis_mat_f64(doubt, 1, count),
                                         .flat = true};
  if (wrong != NULL)
    c->extra[c->n_extra++] = (lapis_named){.name = "expected_wrong",
                                           .mat = lapis_mat_i64(wrong, 1, 4),
                                           .flat = true};
}

static int read_count(cli *c, long *count)
{
  const char *text = args_get(&c->args, "suspects");
  char *end;
  long most = 1000000;
  *count = 0;
  if (text == NULL) return EXIT_DONE;
  *count = strtol(text, &end, 10);
  if (end != text && *end == '\0' && *count >= 1 && *count <= most)
    return EXIT_DONE;
  return cli_fail(EXIT_MISUSE,
                  "--suspects '%s' is not a whole number from 1 to %ld", text,
                  most);
}

int suspects_check(cli *c, const lapis_dataset *ds)
{
  char title[128];
  long count;
  if (args_get(&c->args, "suspects") == NULL) return EXIT_DONE;
  int code = read_count(c, &count);
  if (code != EXIT_DONE) return code;
  const char *doubted = args_get(&c->args, "doubted");
  if (doubted != NULL && strcmp(doubted, "omit") == 0)
    return cli_fail(EXIT_MISUSE,
                    "%s: --suspects lists labels that are learnt from, and "
                    "--doubted omit those that it leaves out; leave one of "
                    "them out",
                    c->verb->name);
  if ((c->method->reads & LAPIS_READS_Y) == 0)
    return cli_fail(EXIT_MISUSE,
                    "%s: --suspects looks for wrong labels, and %s reads none",
                    c->verb->name, c->method->name);
  lapis_status s = lapis_suspects_check(c->ctx, lapis_dataset_data(ds));
  if (s != LAPIS_EINVAL) return s < 0 ? cli_fail_status(c, s) : EXIT_DONE;
  return cli_fail(EXIT_MISUSE,
                  "%s: --suspects looks for wrong labels, and %s holds "
                  "numbers; leave it out: 'lapis fit auto' lists those that "
                  "look wrong unasked, and with --held-out 5 writes what each "
                  "is predicted to be while it is hidden",
                  c->verb->name, target_shown(ds, 0, title, sizeof title));
}

int find_suspects(cli *c, const lapis_data *data, const void *settings,
                  const lapis_mat *held_out, void **memory)
{
  long count;
  int64_t found = 0;
  if (args_get(&c->args, "suspects") == NULL) return EXIT_DONE;
  int code = read_count(c, &count);
  if (code != EXIT_DONE) return code;
  int64_t *index = calloc((size_t)count * 3 + 5, sizeof *index);
  *memory = index;
  if (index == NULL) return cli_fail(EXIT_FAILED, "out of memory");
  double *doubt = (double *)(void *)(index + 2 * count);
  int64_t *wrong = held_out != NULL ? index + 3 * count : NULL;
  lapis_status s = held_out != NULL
                       ? lapis_doubts(c->ctx, &data->Y, data->group, held_out,
                                      count, index, doubt, &wrong[4], wrong)
                       : lapis_suspects(c->ctx, c->method, data, settings, NULL,
                                        count, index, doubt, &found, NULL);
  if (s < 0 || s == LAPIS_CANCELLED) return cli_fail_status(c, s);
  if (wrong != NULL) found = lapis_doubts_shown(wrong, count);
  keep_suspects(c, index, doubt, found, wrong);
  return EXIT_DONE;
}

const int64_t *wrong_labels(const cli *c)
{
  return c->n_extra < 3 ? NULL : c->extra[2].mat.val;
}

/* ---- what they are ------------------------------------------------------*/
const char *label_text(cli *c, const lapis_dataset *ds, double v, char *to,
                       size_t size)
{
  lapis_mat texts = class_texts(c, ds);
  int64_t code = (int64_t)v;
  if (texts.cols > 0 && code >= 0 && code < texts.cols)
    return lapis_text_shown(((const char *const *)texts.val)[code], to, size);
  snprintf(to, size, "%.10g", v);
  return to;
}

void sample_name(const lapis_dataset *ds, int64_t j, char *to, size_t size)
{
  lapis_mat names = lapis_dataset_text(ds, "names");
  if (j < names.cols)
    (void)lapis_text_shown(((const char *const *)names.val)[j], to, size);
  else
    snprintf(to, size, "row %lld", (long long)j + 1);
}

int64_t suspects_found(const cli *c, const lapis_mat **index,
                       const lapis_mat **doubt)
{
  int64_t rather = 0;
  if (c->n_extra < 2 || strcmp(c->extra[0].name, "suspect_index") != 0)
    return -1;
  *index = &c->extra[0].mat;
  *doubt = &c->extra[1].mat;
  if (wrong_labels(c) != NULL) return wrong_labels(c)[4];
  while (rather < (*doubt)->cols && lapis_mat_at(*doubt, 0, rather) > 0)
    rather++;
  return rather;
}

static int least_first(const void *a, const void *b)
{
  const double *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* The values of one row of labels, in order; to be freed; NULL: of several rows
 * there are none. */
static double *values_of(const lapis_mat *Y, int64_t *count)
{
  double *value =
      Y->rows == 1 ? calloc((size_t)Y->cols + 1, sizeof *value) : NULL;
  int64_t n = 0;
  *count = 0;
  if (value == NULL) return NULL;
  for (int64_t j = 0; j < Y->cols; j++)
    if (!isnan(lapis_mat_at(Y, 0, j))) value[n++] = lapis_mat_at(Y, 0, j);
  qsort(value, (size_t)n, sizeof *value, least_first);
  for (int64_t k = 0; k < n; k++)
    if (*count == 0 || value[k] > value[*count - 1])
      value[(*count)++] = value[k];
  return value;
}

double *labels_rather(const lapis_mat *Y, const lapis_mat *pair, int64_t wrong)
{
  int64_t K;
  double *value = values_of(Y, &K);
  double *to = calloc((size_t)pair->cols + 1, sizeof *to);
  for (int64_t i = 0; to != NULL && i < pair->cols; i++) {
    double given = lapis_mat_at(Y, 0, (int64_t)lapis_mat_at(pair, 0, i));
    int64_t k = (int64_t)lapis_mat_at(pair, 1, i); /* of two: the other */
    if (K == 2) k = value[0] == given;
    to[i] = i < wrong && k < K ? value[k] : NAN;
  }
  free(value);
  return to;
}

int64_t labels_left_out(const lapis_solver *s, lapis_mat *pair,
                        lapis_mat *wrong)
{
  *pair = *wrong = result_of(s, "doubted");
  pair->rows = 2;
  wrong->rows = 1;
  if (wrong->cols > 0) wrong->val = (double *)wrong->val + 2;
  return pair->cols;
}

/* The first `shown` of a list whose first `wrong` are rather others, a line
 * each. */
static void print_pairs(cli *c, const lapis_dataset *ds, const lapis_mat *pair,
                        const lapis_mat *doubt, int64_t wrong, int64_t shown,
                        bool probable)
{
  char name[256], given[256], rather[256], column[32];
  const lapis_mat *Y = &lapis_dataset_data(ds)->Y;
  double *value = labels_rather(Y, pair, wrong);
  for (int64_t i = 0; value != NULL && i < shown; i++) {
    int64_t j = (int64_t)lapis_mat_at(pair, 0, i);
    int64_t at = Y->rows > 1 ? (int64_t)lapis_mat_at(pair, 1, i) : 0;
    sample_name(ds, j, name, sizeof name);
    label_text(c, ds, lapis_mat_at(Y, at, j), given, sizeof given);
    bool says = !isnan(value[i]), other = value[i] != lapis_mat_at(Y, at, j);
    double by = lapis_mat_at(doubt, 0, i);
    if (says) label_text(c, ds, value[i], rather, sizeof rather);
    snprintf(column, sizeof column, ", column %lld", (long long)at + 1);
    printf("  %-20s given %s%s%s%s", name, given, says ? ", rather " : "",
           says && other ? rather
           : says        ? "another"
                         : "",
           Y->rows > 1 ? column : "");
    if (!isnan(by))
      printf(probable ? "  wrong with probability %.3f" : "  margin %.4g", by);
    putchar('\n');
  }
  free(value);
}

void print_contradicted(cli *c, const lapis_dataset *ds)
{
  char sentence[320];
  const lapis_mat *pair, *doubt;
  int64_t rather_wrong = suspects_found(c, &pair, &doubt);
  if (rather_wrong < 0) return;
  const int64_t *wrong = wrong_labels(c);
  if (wrong != NULL)
    printf("%s\n", lapis_doubts_text(wrong, sentence, sizeof sentence));
  const char *by_margin =
      wrong == NULL ? " (margin above 0: predicted to be another while hidden)"
                    : "";
  bool probable =
      wrong != NULL && pair->cols > 0 && !isnan(lapis_mat_at(doubt, 0, 0));
  if (rather_wrong > 0 && rather_wrong < pair->cols)
    printf("%lld of these given labels look%s wrong%s; "
           "the most doubtful first%s\n",
           (long long)rather_wrong, rather_wrong == 1 ? "s" : "",
           probable ? " more probably than not, the others less probably"
                    : ", the others fit least",
           by_margin);
  else if (pair->cols > 0)
    printf("%s, the %lld most doubtful first%s\n",
           rather_wrong > 0 ? "given labels that look wrong"
                            : "no given label clearly looks wrong",
           (long long)pair->cols, by_margin);
  print_pairs(c, ds, pair, doubt, rather_wrong, pair->cols, wrong != NULL);
}

void print_left_out(cli *c, const lapis_solver *s, const lapis_dataset *ds)
{
  enum { SHOWN = 10 };
  lapis_mat pair, wrong;
  int64_t count = labels_left_out(s, &pair, &wrong);
  const lapis_mat *listed, *doubt;
  if (count == 0 || suspects_found(c, &listed, &doubt) >= 0) return;
  printf("given labels that nobody learnt from, as they look wrong more "
         "probably than not; the most doubtful first\n");
  print_pairs(c, ds, &pair, &wrong, count, count < SHOWN ? count : SHOWN, true);
  if (count > SHOWN) printf("  and %lld more\n", (long long)count - SHOWN);
}

/* As the column of target k writes it. */
static const char *number_text(cli *c, const lapis_dataset *ds, int64_t k,
                               double value, char text[32])
{
  lapis_mat none = {.cols = 0};
  lapis_sheet_column as = {"", none, true, target_decimals(c, ds, k)};
  lapis_sheet_number(&as, value, LAPIS_SHEET_DIGITS, text, 32);
  return text;
}

void print_far(cli *c, const lapis_solver *s, const lapis_dataset *ds)
{
  enum { SHOWN = 10 };
  char name[256], given[32], rather[32];
  lapis_mat far = result_of(s, "outliers"), says = result_of(s, "scores");
  lapis_mat titles = lapis_dataset_text(ds, "target_names");
  const lapis_mat *Y = &lapis_dataset_data(ds)->Y;
  if (far.cols == 0 || says.cols != Y->cols || says.rows != Y->rows) return;
  printf("given numbers far from what all others say, the farthest first\n");
  for (int64_t i = 0; i < far.cols && i < SHOWN; i++) {
    int64_t j = (int64_t)lapis_mat_at(&far, 0, i);
    int64_t k = (int64_t)lapis_mat_at(&far, 1, i);
    bool titled = Y->rows > 1 && titles.cols == Y->rows;
    sample_name(ds, j, name, sizeof name);
    printf("  %-20s given %s, rather %s%s%s\n", name,
           number_text(c, ds, k, lapis_mat_at(Y, k, j), given),
           number_text(c, ds, k, lapis_mat_at(&says, k, j), rather),
           titled ? ", of " : "",
           titled ? ((const char *const *)titles.val)[k] : "");
  }
  if (far.cols > SHOWN)
    printf("  and %lld more\n", (long long)far.cols - SHOWN);
}

lapis_json *wrong_json(const cli *c)
{
  static const char *const name[] = {"least", "most", "checkable"};
  const int64_t *wrong = wrong_labels(c);
  char sentence[320];
  lapis_json *to = lapis_json_object();
  for (int i = 0; i < 3; i++) lapis_json_put_integer(to, name[i], wrong[i]);
  lapis_json_put_number(to, "expected", wrong[3] < 0 ? NAN : (double)wrong[3]);
  lapis_json_put_text(to, "says",
                      lapis_doubts_text(wrong, sentence, sizeof sentence));
  return to;
}

static lapis_json *pairs_json(const lapis_mat *pair, const lapis_mat *doubt,
                              bool probable)
{
  lapis_json *list = lapis_json_list();
  for (int64_t i = 0; i < pair->cols; i++) {
    lapis_json *to = lapis_json_object();
    lapis_json_put_integer(to, "sample", (int64_t)lapis_mat_at(pair, 0, i));
    lapis_json_put_integer(to, "class", (int64_t)lapis_mat_at(pair, 1, i));
    lapis_json_put_number(to, probable ? "probability_wrong" : "margin",
                          lapis_mat_at(doubt, 0, i));
    lapis_json_put(list, NULL, to);
  }
  return list;
}

lapis_json *contradicted_json(const cli *c)
{
  return pairs_json(&c->extra[0].mat, &c->extra[1].mat,
                    wrong_labels(c) != NULL);
}

lapis_json *left_out_json(const lapis_solver *s)
{
  lapis_mat pair, wrong;
  return labels_left_out(s, &pair, &wrong) > 0 ? pairs_json(&pair, &wrong, true)
                                               : NULL;
}
