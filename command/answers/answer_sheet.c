/* answer_sheet.c - answers as tables for people: a row a sample.
 *
 * Columns: the sample's name; each target under its title, what was given where
 * it was given and the answer elsewhere, with where it is from behind it; the
 * probability of each class or, where the method has none, its score.  A label
 * that was given and that the answer contradicts has the answer under "rather".
 * Without targets: the features, completed. */
#include "answer_sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/run/grids.h"

static const double USUALLY_SURE = .6;
enum { TITLE_BYTES = SHEET_TITLE, ROW_TITLE = TITLE_BYTES - 32 };

/* What a sheet is made of. */
typedef struct answers {
  lapis_mat labels, scores, low_rank, probabilities; /* or empty */
  lapis_mat
      values_of;     /* numbers that the classes of one target are, or empty */
  lapis_mat given;   /* the data's targets, or empty */
  lapis_mat classes; /* texts of the codes of one target, or empty */
  lapis_mat values;  /* texts of the codes of several: a row for all, or a row
                      * each; or empty */
  lapis_mat titles;  /* of targets, or empty */
  lapis_mat doubts;  /* of --suspects, or of labels that are left out, or
                      * empty; the first are rather wrong */
  lapis_mat wrong;   /* their probability of being wrong, or empty */
  int64_t rather;
  lapis_mat kept, kept_values, low, high; /* of --coverage, or empty */
  lapis_mat held_out;                     /* of --held-out, or empty */
  lapis_mat outliers;  /* numbers far from what others say, or empty */
  lapis_mat instances; /* of --bags, or empty */
  lapis_mat bags, bag_labels, bag_scores; /* of misvm with groups, or empty */
  const int64_t *group;                   /* of each sample, or NULL */
} answers;

static lapis_mat model_text(cli *c, const char *name)
{
  lapis_mat out = {.cols = 0};
  if (lapis_model_get(c->ctx, c->model, name, &out) < 0) out.cols = 0;
  return out;
}

static answers collect(cli *c, const lapis_solver *s, const lapis_dataset *ds,
                       bool origins)
{
  answers a = {
      .labels = result_of(s, "labels"),
      .scores = result_of(s, "scores"),
      .low_rank = result_of(s, result_of(s, "completed").cols > 0 ? "completed"
                                                                  : "low_rank"),
      .probabilities = result_of(s, "probabilities"),
      .values_of = result_of(s, "classes"),
      .kept = result_of(s, "classes_kept"),
      .kept_values = result_of(s, "kept_values"),
      .low = result_of(s, "set_low"),
      .high = result_of(s, "set_high"),
      .instances = result_of(s, "instance_scores"),
      .bags = result_of(s, "bags"),
      .bag_labels = result_of(s, "bag_labels"),
      .bag_scores = result_of(s, "bag_scores"),
      .outliers = result_of(s, "outliers"),
      .group = lapis_dataset_data(ds)->group,
      .held_out = args_get(&c->args, "held-out") != NULL
                      ? result_of(s, "held_out")
                      : (lapis_mat){.cols = 0},
      .classes = class_texts(c, ds),
      .values = c->model == NULL ? lapis_dataset_text(ds, "target_values")
                                 : model_text(c, "target_values"),
      .titles = c->model == NULL ? lapis_dataset_text(ds, "target_names")
                                 : model_text(c, "target_names")};
  int64_t targets = a.labels.cols > 0 ? a.labels.rows : a.scores.rows;
  const lapis_mat *Y = &lapis_dataset_data(ds)->Y;
  if (origins && Y->rows == targets) a.given = *Y;
  const lapis_mat *doubts, *by;
  a.rather = suspects_found(c, &doubts, &by);
  if (a.rather >= 0) a.doubts = *doubts;
  if (a.rather >= 0 && wrong_labels(c) != NULL) a.wrong = *by;
  lapis_mat left, probably;
  int64_t left_out = labels_left_out(s, &left, &probably);
  if (a.rather < 0 && left_out > 0) {
    a.rather = left_out;
    a.doubts = left;
    a.wrong = probably;
  }
  if (a.titles.cols != targets) a.titles.cols = 0;
  return a;
}

static const char *text_at(const lapis_mat *row, int64_t i)
{
  return ((const char *const *)row->val)[i * row->ld];
}

int target_decimals(cli *c, const lapis_dataset *ds, int64_t k)
{
  lapis_mat table = lapis_dataset_text(ds, "target_decimals");
  lapis_mat written =
      c->model != NULL ? model_text(c, "target_decimals") : table;
  long decimals =
      k < written.cols ? strtol(text_at(&written, k), NULL, 10) : -1;
  if (c->model != NULL || decimals > 0) return (int)decimals;
  return lapis_decimals_of(&lapis_dataset_data(ds)->Y, k); /* 0, 1: codes? */
}

/* The text of a code of target k, or NULL where it is a number. */
static const char *code_text(const answers *a, int64_t k, double v)
{
  lapis_mat texts = a->classes.cols > 0 ? a->classes : a->values;
  if (!(v >= 0) || v >= (double)texts.cols) return NULL;
  if (texts.rows > 1) texts.val = (const char **)texts.val + k;
  return text_at(&texts, (int64_t)v);
}

/* ---- putting columns side by side ---------------------------------------*/
static bool sheet_open(sheet *s, int room, int64_t n)
{
  *s = (sheet){.room = room, .n = n};
  s->column = calloc((size_t)room, sizeof *s->column);
  s->title = calloc((size_t)room, sizeof *s->title);
  s->owned = calloc((size_t)room, sizeof *s->owned);
  return s->column != NULL && s->title != NULL && s->owned != NULL;
}

void sheet_close(sheet *s)
{
  for (int k = 0; s->owned != NULL && k < s->room; k++) free(s->owned[k]);
  free(s->column);
  free(s->title);
  free(s->owned);
  free(s->back);
}

static lapis_sheet_column *add(sheet *s, lapis_mat values, const char *before,
                               const char *title)
{
  snprintf(s->title[s->count], TITLE_BYTES, "%s%s", before, title);
  s->column[s->count] =
      (lapis_sheet_column){.title = s->title[s->count], .values = values};
  return &s->column[s->count++];
}

/* Room for a text a sample, freed with the sheet; NULL: no memory. */
static const char **add_texts(sheet *s, const char *before, const char *title)
{
  const char **text = calloc((size_t)s->n + 1, sizeof *text);
  if (text == NULL) return NULL;
  s->owned[s->count] = text;
  add(s, lapis_mat_text(text, 1, s->n), before, title);
  return text;
}

/* A row of a matrix is a column of the sheet; decimals: -1 for few digits. */
static void add_row(sheet *s, const lapis_mat *m, int64_t row, int decimals,
                    const char *before, const char *title)
{
  lapis_mat values = *m;
  values.rows = 1;
  values.val = (char *)m->val + row * (m->dtype == LAPIS_F64 ? 8 : 4);
  lapis_sheet_column *to = add(s, values, before, title);
  to->rounded = true;
  to->decimals = decimals;
}

static bool add_names(sheet *s, const lapis_dataset *ds)
{
  lapis_mat names = lapis_dataset_text(ds, "names");
  lapis_mat title = lapis_dataset_text(ds, "id_name");
  if (names.cols == s->n) {
    add(s, names, "", title.cols > 0 ? text_at(&title, 0) : "id");
    return true;
  }
  double *number = malloc(((size_t)s->n + 1) * sizeof *number);
  if (number == NULL) return false;
  for (int64_t j = 0; j < s->n; j++) number[j] = (double)j + 1;
  s->owned[s->count] = number;
  add(s, lapis_mat_f64(number, 1, s->n), "", "row");
  return true;
}

/* ---- answers ------------------------------------------------------------*/
static const char *target_title(const answers *a, int64_t k, char *to)
{
  if (a->titles.cols > 0) return text_at(&a->titles, k);
  int64_t targets = a->labels.cols > 0 ? a->labels.rows : a->scores.rows;
  const char *word = a->labels.cols > 0 ? "label" : "value";
  if (targets == 1)
    snprintf(to, 32, "%s", word);
  else
    snprintf(to, 32, "%s %lld", word, (long long)k + 1);
  return to;
}

/* ---- bags ----------------------------------------------------------------*/
typedef struct numbered {
  double bag;
  int64_t at;
} numbered;

static int by_bag(const void *a, const void *b)
{
  const numbered *x = a, *y = b;
  return (x->bag > y->bag) - (x->bag < y->bag);
}

/* What is known of bags, of each sample's; freed by free.  NULL: no memory. */
static double *of_samples(const answers *a, const lapis_mat *of, int64_t n)
{
  int64_t count = a->bags.cols;
  numbered *all = malloc(((size_t)count + 1) * sizeof *all);
  double *to = malloc(((size_t)n + 1) * sizeof *to);
  for (int64_t k = 0; all != NULL && k < count; k++)
    all[k] = (numbered){lapis_mat_at(&a->bags, 0, k), k};
  if (all != NULL) qsort(all, (size_t)count, sizeof *all, by_bag);
  for (int64_t j = 0; all != NULL && to != NULL && j < n; j++) {
    numbered wanted = {.bag = (double)a->group[j]};
    const numbered *found =
        bsearch(&wanted, all, (size_t)count, sizeof *all, by_bag);
    to[j] = found == NULL ? NAN : lapis_mat_at(of, 0, found->at);
  }
  if (all == NULL) free(to);
  free(all);
  return all == NULL ? NULL : to;
}

static bool has_bags(const answers *a)
{
  return a->group != NULL && a->bags.cols > 0 && a->labels.rows == 1 &&
         a->bag_labels.cols == a->bags.cols &&
         a->bag_scores.cols == a->bags.cols;
}

/* What instances are answered beside their bags. */
static bool add_instances(sheet *s, const answers *a)
{
  if (!has_bags(a)) return true;
  bool coded = a->classes.cols > 0 || a->values.cols > 0;
  const char **text = coded ? add_texts(s, "", "instance label") : NULL;
  for (int64_t j = 0; text != NULL && j < s->n; j++)
    text[j] = code_text(a, 0, lapis_mat_at(&a->labels, 0, j));
  if (coded && text == NULL) return false;
  if (!coded) add_row(s, &a->labels, 0, -1, "", "instance label");
  double *score = of_samples(a, &a->bag_scores, s->n);
  if (score == NULL) return false;
  s->owned[s->count] = score;
  lapis_mat row = lapis_mat_f64(score, 1, s->n);
  add_row(s, &row, 0, -1, "", "bag score");
  return true;
}

/* Target k of every sample, its bag's where there are bags: as text where its
 * codes have texts. */
static bool add_values(sheet *s, const answers *a, int64_t k, const char *title,
                       int decimals)
{
  const lapis_mat *from = a->labels.cols > 0 ? &a->labels : &a->scores;
  bool coded =
      a->labels.cols > 0 && (a->classes.cols > 0 || a->values.cols > 0);
  double *of_bag = has_bags(a) ? of_samples(a, &a->bag_labels, s->n) : NULL;
  if (has_bags(a) && of_bag == NULL) return false;
  const char **text = coded ? add_texts(s, "", title) : NULL;
  double *number = coded ? NULL : malloc(((size_t)s->n + 1) * sizeof *number);
  if (text == NULL && number == NULL) {
    free(of_bag);
    return false;
  }
  for (int64_t j = 0; j < s->n; j++) {
    double v = lapis_mat_at(from, k, j), given = NAN;
    if (of_bag != NULL) v = of_bag[j];
    if (a->given.rows > 0) given = lapis_mat_at(&a->given, k, j);
    if (!isnan(given)) v = given;
    if (coded) text[j] = code_text(a, k, v);
    if (!coded) number[j] = v;
  }
  free(of_bag);
  if (coded) return true;
  s->owned[s->count] = number;
  lapis_sheet_column *to = add(s, lapis_mat_f64(number, 1, s->n), "", title);
  to->rounded = true;
  to->decimals = decimals;
  return true;
}

static bool add_origin(sheet *s, const answers *a, int64_t k, const char *title)
{
  bool one = a->given.rows == 1;
  if (a->given.rows == 0) return true;
  if (k == 0) s->origin = s->count;
  const char **text =
      add_texts(s, one ? "origin" : "origin of ", one ? "" : title);
  for (int64_t j = 0; text != NULL && j < s->n; j++)
    text[j] = isnan(lapis_mat_at(&a->given, k, j)) ? "filled" : "given";
  return text != NULL;
}

/* A number of each listed label, nothing of the others; NULL: no memory. */
static double *add_of_doubts(sheet *s, const char *title, int decimals)
{
  double *to = malloc(((size_t)s->n + 1) * sizeof *to);
  for (int64_t j = 0; to != NULL && j < s->n; j++) to[j] = NAN;
  if (to == NULL) return NULL;
  s->owned[s->count] = to;
  lapis_mat row = lapis_mat_f64(to, 1, s->n);
  add_row(s, &row, 0, decimals, "", title);
  return to;
}

/* The place of each in the list. */
static bool add_places(sheet *s, const answers *a)
{
  double *place = add_of_doubts(s, "doubt", 0);
  for (int64_t k = 0; place != NULL && k < a->doubts.cols; k++)
    place[(int64_t)lapis_mat_at(&a->doubts, 0, k)] = (double)k + 1;
  return place != NULL;
}

/* How probably each is wrong. */
static bool add_wrong(sheet *s, const answers *a)
{
  bool any = false;
  for (int64_t k = 0; k < a->wrong.cols; k++)
    any = any || !isnan(lapis_mat_at(&a->wrong, 0, k));
  double *p = any ? add_of_doubts(s, "probability wrong", -1) : NULL;
  for (int64_t k = 0; p != NULL && k < a->wrong.cols; k++)
    p[(int64_t)lapis_mat_at(&a->doubts, 0, k)] = lapis_mat_at(&a->wrong, 0, k);
  return !any || p != NULL;
}

/* What the listed labels rather are, of those that look wrong: by the list
 * alone, which the screen and a page say, too. */
static bool add_listed_rather(sheet *s, const answers *a)
{
  enum { DIGITS = 32 };
  size_t n = (size_t)s->n + 1, count = (size_t)a->doubts.cols;
  const char **text = calloc(1, n * sizeof *text + count * DIGITS);
  double *value = labels_rather(&a->given, &a->doubts, a->rather);
  for (int64_t j = 0; text != NULL && j < s->n; j++) text[j] = "";
  for (int64_t k = 0; text != NULL && value != NULL && k < (int64_t)count;
       k++) {
    int64_t j = (int64_t)lapis_mat_at(&a->doubts, 0, k);
    char *number = (char *)(text + n) + (size_t)k * DIGITS;
    double given = lapis_mat_at(&a->given, 0, j);
    if (isnan(value[k])) continue;
    text[j] = code_text(a, 0, value[k]);
    if (text[j] == NULL) lapis_number_text(value[k], number, DIGITS);
    if (text[j] == NULL) text[j] = number;
    if (value[k] == given) text[j] = "another";
  }
  if (value == NULL) free(text);
  free(value);
  if (value == NULL || text == NULL) return false;
  s->owned[s->count] = text;
  add(s, lapis_mat_text(text, 1, s->n), "", "rather");
  return add_wrong(s, a);
}

/* What one given number rather is that is far from what all others say. */
static bool add_far(cli *c, const lapis_dataset *ds, sheet *s, const answers *a)
{
  if (a->outliers.cols == 0) return true;
  s->rather = s->count;
  double *to = add_of_doubts(s, "rather", target_decimals(c, ds, 0));
  for (int64_t k = 0; to != NULL && k < a->outliers.cols; k++) {
    int64_t j = (int64_t)lapis_mat_at(&a->outliers, 0, k);
    to[j] = lapis_mat_at(&a->scores, 0, j);
  }
  return to != NULL;
}

/* What a given label rather is: by --suspects where it was asked for, or where
 * labels are left out; else by the answer. */
static bool add_rather(cli *c, const lapis_dataset *ds, sheet *s,
                       const answers *a)
{
  bool listed = a->rather >= 0;
  if (a->given.rows != 1) return true;
  if (a->labels.cols == 0) return add_far(c, ds, s, a);
  if (!listed && a->classes.cols == 0) return true;
  if (listed && !add_places(s, a)) return false;
  s->rather = s->count;
  if (listed) return add_listed_rather(s, a);
  const char **text = add_texts(s, "", "rather");
  for (int64_t j = 0; text != NULL && j < s->n; j++) {
    double given = lapis_mat_at(&a->given, 0, j);
    double answer = lapis_mat_at(&a->labels, 0, j);
    text[j] = isnan(given) || given == answer ? "" : code_text(a, 0, answer);
  }
  return text != NULL;
}

/* The class or the target that row k of K scores is of, of one of several
 * targets of texts both: "sick: yes"; NULL: there is one. */
static const char *row_title(const answers *a, int64_t k, int64_t K,
                             char to[ROW_TITLE])
{
  bool one = a->labels.rows == 1;
  if (one && a->classes.cols == K) return text_at(&a->classes, k);
  if (one && a->classes.cols == 2 && K == 1) return text_at(&a->classes, 1);
  if (a->titles.cols == K && a->labels.rows == K && a->values.cols == 2) {
    snprintf(to, ROW_TITLE, "%s: %s", text_at(&a->titles, k),
             code_text(a, k, 1));
    return to;
  }
  if (a->titles.cols == K) return text_at(&a->titles, k);
  if (K == 1) return NULL;
  bool values = one && a->values_of.cols == K;
  lapis_number_text(values ? lapis_mat_at(&a->values_of, 0, k) : (double)k + 1,
                    to, ROW_TITLE);
  return to;
}

/* ---- sets and intervals -------------------------------------------------*/
/* The text of value v of target k. */
static const char *kept_text(const answers *a, int64_t k, int64_t v,
                             char number[32])
{
  double code = lapis_mat_at(&a->kept_values, 0, k + v);
  const char *text = code_text(a, a->labels.rows == 1 ? 0 : k / 2, code);
  if (text == NULL) lapis_number_text(code, number, 32);
  return text == NULL ? number : text;
}

/* The classes of target k that a sample may have, as "a;b". */
static bool add_set(sheet *s, const answers *a, int64_t k, const char *title)
{
  int64_t values = a->kept.rows / s->targets, first = k * values;
  size_t size = 1, n = (size_t)s->n;
  char number[32];
  for (int64_t v = 0; v < values; v++)
    size += strlen(kept_text(a, first, v, number)) + 1;
  const char **text = calloc(1, (n + 1) * sizeof *text + n * size);
  if (text == NULL) return false;
  char *at = (char *)(text + n + 1);
  for (int64_t j = 0; j < s->n; j++, at++) {
    text[j] = at;
    for (int64_t v = 0; v < values; v++)
      if (lapis_mat_at(&a->kept, first + v, j) > 0)
        at += sprintf(at, "%s%s", at == text[j] ? "" : ";",
                      kept_text(a, first, v, number));
  }
  s->owned[s->count] = text;
  add(s, lapis_mat_text(text, 1, s->n), *title == '\0' ? "set" : "set of ",
      title);
  return true;
}

static bool add_coverage(cli *c, const lapis_dataset *ds, sheet *s,
                         const answers *a)
{
  bool one = s->targets == 1;
  char room[32];
  s->kept = a->kept;
  s->set = s->count;
  for (int64_t k = 0; k < s->targets; k++) {
    const char *title = one ? "" : target_title(a, k, room);
    if (a->kept.cols > 0 && !add_set(s, a, k, title)) return false;
    if (a->low.cols == 0) continue;
    int decimals = target_decimals(c, ds, k); /* no truth falls out by it */
    add_row(s, &a->low, k, decimals, one ? "low" : "low of ", title);
    add_row(s, &a->high, k, decimals, one ? "high" : "high of ", title);
  }
  s->sets = s->count - s->set;
  return true;
}

/* A column for each row of numbers about classes, or targets. */
static void add_rows(sheet *s, const answers *a, const lapis_mat *from,
                     int decimals, const char *what)
{
  for (int64_t k = 0; k < from->rows; k++) {
    char room[ROW_TITLE], before[32];
    const char *of = row_title(a, k, from->rows, room);
    snprintf(before, sizeof before, "%s%s", what, of == NULL ? "" : " of ");
    add_row(s, from, k, decimals, before, of == NULL ? "" : of);
  }
}

/* A row a class, or a row a target: probabilities where there are any.  Numbers
 * are their own scores. */
static void add_scores(sheet *s, const answers *a)
{
  if (a->labels.cols == 0) return;
  bool sure = a->probabilities.cols > 0;
  if (sure) s->share = s->count;
  if (sure) s->shares = (int)a->probabilities.rows;
  add_rows(s, a, sure ? &a->probabilities : &a->scores, -1,
           sure ? "probability" : "score");
}

static bool fill_answers(cli *c, const lapis_dataset *ds, sheet *s,
                         const answers *a)
{
  int64_t targets = a->labels.cols > 0 ? a->labels.rows : a->scores.rows;
  char room[32];
  for (int64_t k = 0; k < targets; k++)
    if (!add_values(s, a, k, target_title(a, k, room),
                    target_decimals(c, ds, k)) ||
        !add_origin(s, a, k, target_title(a, k, room)))
      return false;
  if (!add_rather(c, ds, s, a) || !add_coverage(c, ds, s, a)) return false;
  add_scores(s, a);
  bool classes = a->labels.cols > 0;
  if (a->held_out.cols == s->n)
    add_rows(s, a, &a->held_out, classes ? -1 : target_decimals(c, ds, 0),
             classes ? "held-out probability" : "held-out value");
  if (a->instances.cols == s->n)
    add_rows(s, a, &a->instances, -1, "instance score");
  return add_instances(s, a);
}

/* Of what has no targets: every feature as the result has it. */
static void fill_features(sheet *s, const answers *a, const lapis_mat *names)
{
  for (int64_t i = 0; i < a->low_rank.rows; i++) {
    char number[32];
    snprintf(number, sizeof number, "x%lld", (long long)i + 1);
    bool named = names->cols == a->low_rank.rows;
    add_row(s, &a->low_rank, i, -1, "", named ? text_at(names, i) : number);
  }
}

/* Z in the units of X; *back is freed by the caller. */
static lapis_status turn_back(cli *c, const lapis_map *map, const lapis_mat *X,
                              const lapis_mat *Z, double **back)
{
  *back = malloc((size_t)(X->rows * X->cols) * sizeof **back + 1);
  if (*back == NULL)
    return lapis_fail(c->ctx, LAPIS_ENOMEM, "%s: out of memory", c->verb->name);
  return lapis_map_undo(c->ctx, map, X, Z, *back);
}

lapis_status sheet_units(cli *c, const lapis_dataset *ds, const lapis_map *map,
                         lapis_mat *features, double **back)
{
  const lapis_mat *X = &lapis_dataset_data(ds)->X;
  *back = NULL;
  if (map == NULL || features->rows != X->rows) return LAPIS_OK;
  lapis_status status = turn_back(c, map, X, features, back);
  if (status >= 0) *features = lapis_mat_f64(*back, X->rows, X->cols);
  return status;
}

lapis_status sheet_make(cli *c, const lapis_solver *s, const lapis_dataset *ds,
                        const lapis_map *map, bool origins, const char *path,
                        sheet *t)
{
  answers a = collect(c, s, ds, origins);
  lapis_mat names = lapis_dataset_text(ds, "feature_names");
  bool targets = a.labels.cols > 0 || a.scores.cols > 0;
  int64_t room =
      4 + 6 * (a.labels.rows + a.scores.rows) + (targets ? 0 : a.low_rank.rows);
  bool fine = sheet_open(t, (int)room, lapis_dataset_data(ds)->X.cols);
  t->targets =
      targets ? (int)(a.labels.cols > 0 ? a.labels : a.scores).rows : 0;
  fine = fine && add_names(t, ds);
  if (fine && targets) fine = fill_answers(c, ds, t, &a);
  lapis_status status = fine && !targets
                            ? sheet_units(c, ds, map, &a.low_rank, &t->back)
                            : LAPIS_OK;
  if (status < 0) return status;
  if (fine && !targets) fill_features(t, &a, &names);
  return fine ? LAPIS_OK
              : lapis_fail(c->ctx, LAPIS_ENOMEM, "%s: out of memory", path);
}

bool sheet_is_given(const sheet *t, int target, int64_t j)
{
  int column = t->origin + 2 * target;
  if (t->origin == 0) return false;
  const lapis_mat *m = &t->column[column].values;
  return strcmp(text_at(m, j), "given") == 0;
}

/* ---- the table, completed -----------------------------------------------*/
/* Targets as they would stand in the table; *text is freed by the caller. */
static lapis_mat targets_of(const answers *a, const char ***text)
{
  lapis_mat from = a->labels.cols > 0 ? a->labels : a->scores;
  bool coded =
      a->labels.cols > 0 && (a->classes.cols > 0 || a->values.cols > 0);
  int64_t k = from.rows;
  *text = NULL;
  if (!coded) return from;
  *text = calloc((size_t)(k * from.cols) + 1, sizeof **text);
  for (int64_t j = 0; *text != NULL && j < from.cols; j++)
    for (int64_t i = 0; i < k; i++)
      (*text)[j * k + i] = code_text(a, i, lapis_mat_at(&from, i, j));
  if (*text == NULL) return (lapis_mat){.cols = 0};
  return lapis_mat_text(*text, k, from.cols);
}

int check_back(cli *c, const lapis_map *map, const lapis_mat *X)
{
  double *back;
  if (map == NULL || args_get(&c->args, "completed") == NULL) return EXIT_DONE;
  lapis_status status = turn_back(c, map, X, X, &back);
  free(back);
  return status < 0 ? cli_fail_status(c, status) : EXIT_DONE;
}

double sure_from(const cli *c)
{
  double sure = USUALLY_SURE;
  const char *text = args_get(&c->args, "sure");
  return text != NULL && lapis_number_read(text, NULL, &sure) ? sure
                                                              : USUALLY_SURE;
}

/* The probability of the answer to target k of sample j; 1: there is none. */
static double probability_of(const answers *a, int64_t k, int64_t j)
{
  const lapis_mat *p = &a->probabilities;
  double most = 0;
  if (p->cols != a->labels.cols) return 1;
  if (p->rows == a->labels.rows) {
    double v = lapis_mat_at(p, k, j);
    return fmax(v, 1 - v);
  }
  for (int64_t c = 0; c < p->rows; c++)
    most = fmax(most, lapis_mat_at(p, c, j));
  return most;
}

/* Answers that are not sure, of targets that were not given, become unknown; Y:
 * texts, or numbers that *copy then holds; how many. */
static int64_t leave_unsure(const answers *a, const lapis_mat *given,
                            double sure, lapis_mat *Y, const char **text,
                            double *copy)
{
  int64_t unsure = 0;
  for (int64_t k = 0; k < Y->rows * Y->cols; k++) {
    int64_t i = k % Y->rows, j = k / Y->rows;
    bool known = !isnan(lapis_mat_at(given, i, j));
    bool left = !known && probability_of(a, i, j) < sure;
    unsure += left;
    if (text == NULL) copy[k] = left ? NAN : lapis_mat_at(Y, i, j);
    if (text != NULL && left) text[k] = "";
  }
  if (text == NULL) *Y = lapis_mat_f64(copy, Y->rows, Y->cols);
  return unsure;
}

static void say_completed(cli *c, const answers *a, int64_t filled,
                          int64_t unsure)
{
  char left[128] = "";
  if (c->quiet) return;
  if (unsure > 0)
    snprintf(left, sizeof left,
             "; %lld answer%s of a probability below %g left empty (--sure 0 "
             "writes all)",
             (long long)unsure, cli_s(unsure), sure_from(c));
  fprintf(stderr, "lapis: %s: %s, %lld of its unknown cells filled%s%s\n",
          c->verb->name, args_get(&c->args, "completed"), (long long)filled,
          left,
          a->low_rank.cols > 0 ? ""
                               : "; the method that answers fills in no "
                                 "features");
}

lapis_status completed_write(cli *c, const lapis_solver *s,
                             const lapis_dataset *ds, const lapis_map *map)
{
  const lapis_data *data = lapis_dataset_data(ds);
  const char *to = args_get(&c->args, "completed"), **text;
  answers a = collect(c, s, ds, false);
  lapis_table_options table;
  lapis_mat X = a.low_rank, Y = targets_of(&a, &text);
  int64_t filled = 0, unsure = 0;
  double *back = NULL;
  double *copy = malloc((size_t)(Y.rows * Y.cols + 1) * sizeof *copy);
  int64_t *decimals = malloc(((size_t)Y.rows + 1) * sizeof *decimals);
  if (copy == NULL || decimals == NULL) {
    free(copy);
    free(decimals);
    free(text);
    return lapis_fail(c->ctx, LAPIS_ENOMEM, "%s: out of memory", to);
  }
  if (Y.cols > 0 && data->Y.cols == Y.cols && data->Y.rows == Y.rows)
    unsure = leave_unsure(&a, &data->Y, sure_from(c), &Y, text, copy);
  lapis_status status =
      table_from_args(c, &table) == EXIT_DONE ? LAPIS_OK : LAPIS_EINVAL;
  if (status >= 0 && X.cols > 0 && map != NULL) {
    status = turn_back(c, map, &data->X, &X, &back);
    X = lapis_mat_f64(back, data->X.rows, data->X.cols);
  }
  for (int64_t k = 0; k < Y.rows; k++) decimals[k] = target_decimals(c, ds, k);
  if (status >= 0)
    status = lapis_table_complete(c->ctx, c->args.word[0], &table, &X, &Y,
                                  decimals, to, &filled);
  if (status >= 0) say_completed(c, &a, filled, unsure);
  free(copy);
  free(decimals);
  free(back);
  free(text);
  return status;
}
