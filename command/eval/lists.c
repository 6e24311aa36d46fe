/* lists.c - several labels an image: lists such as "sky;sea", in a cell
 * of the answers, or of the truth, too.
 *
 * label -o writes lists.  The truth beside them is a column of lists, or, where
 * labels were given so, a column of 0 and 1 each.  Both become 1 and 0 for each
 * label, so that the order within a list says nothing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "eval.h"

/* The next entry of a list, without the blanks around it; its length, or 0
 * behind the last one.  *list moves on. */
static size_t next_entry(const char **list, const char **entry)
{
  size_t n = 0;
  while (n == 0 && **list != '\0') {
    *entry = *list + strspn(*list, " ");
    const char *end = *list + strcspn(*list, ";");
    *list = *end == ';' ? end + 1 : end;
    while (end > *entry && end[-1] == ' ') end--;
    n = end > *entry ? (size_t)(end - *entry) : 0;
  }
  return n;
}

static bool holds(const char *list, const char *name)
{
  const char *entry;
  for (size_t n; (n = next_entry(&list, &entry)) > 0;)
    if (strlen(name) == n && strncmp(entry, name, n) == 0) return true;
  return false;
}

static const char *text_at(const lapis_mat *m, int64_t k)
{
  const char *text = ((const char *const *)m->val)[k * m->ld];
  return text == NULL ? "" : text;
}

static bool any_list(const lapis_mat *m)
{
  for (int64_t k = 0; m->rows == 1 && k < m->cols; k++)
    if (strchr(text_at(m, k), ';') != NULL) return true;
  return false;
}

/* Whether any list has any of the names: else it holds numbers. */
static bool any_of(const lapis_mat *lists, const lapis_mat *names)
{
  for (int64_t j = 0; j < lists->cols; j++)
    for (int64_t k = 0; k < names->cols; k++)
      if (holds(text_at(lists, j), text_at(names, k))) return true;
  return false;
}

static int by_text(const void *a, const void *b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* ---- names of labels ----------------------------------------------------*/
static bool add_name(eval_pair *p, const char *entry, size_t n)
{
  for (int64_t k = 0; k < p->names.cols; k++)
    if (strlen(p->name[k]) == n && strncmp(p->name[k], entry, n) == 0)
      return true;
  size_t count = (size_t)p->names.cols;
  const char **more = realloc(p->name, (count + 1) * sizeof *more);
  if (more != NULL) p->name = more;
  char *own = more == NULL ? NULL : strndup(entry, n);
  if (own == NULL) return false;
  p->name[count] = own;
  p->names.cols++;
  return true;
}

static bool add_names(eval_pair *p, const lapis_mat *lists)
{
  const char *entry;
  for (int64_t j = 0; j < lists->cols; j++) {
    const char *list = text_at(lists, j);
    for (size_t n; (n = next_entry(&list, &entry)) > 0;)
      if (!add_name(p, entry, n)) return false;
  }
  return true;
}

static bool add_number(eval_pair *p, double label)
{
  char number[32];
  snprintf(number, sizeof number, "%.15g", label);
  if (strtod(number, NULL) != label)
    snprintf(number, sizeof number, "%.17g", label);
  return add_name(p, number, strlen(number));
}

static bool sort_names(eval_pair *p)
{
  if (p->names.cols > 0)
    qsort(p->name, (size_t)p->names.cols, sizeof *p->name, by_text);
  p->names = lapis_mat_text(p->name, 1, p->names.cols);
  return p->names.cols > 0;
}

void eval_pair_free(eval_pair *p)
{
  for (int64_t k = 0; p->name != NULL && k < p->names.cols; k++)
    free((void *)(uintptr_t)p->name[k]);
  free(p->name);
  free(p->y);
  free(p->x);
}

/* ---- truth and answers --------------------------------------------------*/
/* 1 where the truth has label k, 0 where not, NaN where nobody knows. */
static double has_label(const lapis_mat *Y, const lapis_mat *classes,
                        bool lists, const char *name, int64_t k, int64_t j)
{
  double v = lapis_mat_at(Y, lists ? 0 : k, j);
  if (isnan(v)) return NAN;
  return lists ? holds(text_at(classes, (int64_t)v), name) : v > 0;
}

/* Y as 1 and 0 for each of the names, by columns or by lists. */
static bool put_truth(eval_pair *p, const lapis_mat *classes, bool lists)
{
  int64_t K = p->names.cols, n = p->truth.cols;
  p->y = malloc((size_t)(K * n + 1) * sizeof *p->y);
  for (int64_t i = 0; p->y != NULL && i < K * n; i++)
    p->y[i] = has_label(&p->truth, classes, lists, text_at(&p->names, i % K),
                        i % K, i / K);
  p->truth = lapis_mat_f64(p->y, K, n);
  return p->y != NULL;
}

static bool put_answers(eval_pair *p, const lapis_mat *labels)
{
  int64_t K = p->names.cols, n = p->truth.cols;
  p->x = malloc((size_t)(K * n + 1) * sizeof *p->x);
  for (int64_t i = 0; p->x != NULL && i < K * n; i++)
    p->x[i] = holds(text_at(labels, i / K), text_at(&p->names, i % K));
  p->answers = lapis_mat_f64(p->x, K, n);
  return p->x != NULL;
}

lapis_status eval_list_labels(const lapis_dataset *ds, eval_pair *p)
{
  lapis_mat classes = lapis_dataset_text(ds, "class_names");
  lapis_mat columns = lapis_dataset_text(ds, "target_names");
  lapis_mat labels = lapis_dataset_text(ds, "names");
  p->truth = lapis_dataset_data(ds)->Y;
  bool lists = p->truth.rows == 1 && classes.cols > 0 &&
               (any_list(&classes) || any_list(&labels));
  bool apart = p->truth.rows > 1 && columns.cols == p->truth.rows &&
               any_of(&labels, &columns);
  if (labels.cols != p->truth.cols || !(lists || apart)) return LAPIS_EINVAL;
  if (lists && !(add_names(p, &classes) && add_names(p, &labels)))
    return LAPIS_ENOMEM;
  if (lists && !sort_names(p)) return LAPIS_EINVAL;
  if (apart) p->names = columns;
  return put_truth(p, &classes, lists) && put_answers(p, &labels)
             ? LAPIS_OK
             : LAPIS_ENOMEM;
}

/* The number that a name writes, "2" or "2.0"; NaN: it is a word. */
static double number_of(const char *name)
{
  char *end;
  double value = strtod(name, &end);
  return end != name && *end == '\0' ? value : NAN;
}

bool eval_has_label(const lapis_dataset *ds, const char *label)
{
  lapis_mat classes = lapis_dataset_text(ds, "class_names");
  const lapis_mat *Y = &lapis_dataset_data(ds)->Y;
  for (int64_t k = 0; k < classes.cols; k++)
    if (strcmp(text_at(&classes, k), label) == 0 ||
        holds(text_at(&classes, k), label))
      return true;
  bool numbers = Y->rows == 1 && classes.cols < 2; /* one: the column's title */
  for (int64_t j = 0; numbers && j < Y->cols; j++)
    if (number_of(label) == lapis_mat_at(Y, 0, j)) return true;
  return false;
}

/* ---- scores -------------------------------------------------------------*/
/* What the rows of scores are of. */
typedef struct score_rows {
  lapis_mat title; /* of a table's columns, or an archive's classes; or empty */
  lapis_arrays all;  /* of the archive */
  bool plain;        /* titles of a table are names as they are */
  bool numbers;      /* labels are numbers: "2.0" is 2, too */
  eval_pair written; /* its names: classes of an archive that are numbers */
} score_rows;

static const char *row_name(const score_rows *r, int64_t i)
{
  const char *title = text_at(&r->title, i);
  return r->all.count > 0 || r->plain ? title : eval_score_of(title);
}

/* The texts of that name, where they are one for each of K rows. */
static bool take_names(score_rows *r, const char *member, int64_t K)
{
  const lapis_array *a = lapis_arrays_find(&r->all, member);
  bool fits = a != NULL && a->mat.dtype == LAPIS_TEXT && a->mat.rows == 1 &&
              a->mat.cols == K;
  if (fits) r->title = a->mat;
  return fits;
}

/* The same of numbers, written. */
static bool take_numbers(score_rows *r, const char *member, int64_t K)
{
  const lapis_array *a = lapis_arrays_find(&r->all, member);
  eval_pair *w = &r->written;
  if (a == NULL || a->mat.dtype == LAPIS_TEXT || a->mat.colptr != NULL ||
      a->mat.rows * a->mat.cols != K)
    return false;
  for (int64_t k = 0; k < K; k++)
    if (!add_number(w, lapis_mat_at(&a->mat, k % a->mat.rows, k / a->mat.rows)))
      return false;
  if (w->names.cols == K) r->title = lapis_mat_text(w->name, 1, K);
  return w->names.cols == K; /* each is named once */
}

/* The "classes" of label, or "class_names" of fit, of "F.npz" or
 * "F.npz:scores"; an archive without says nothing of its rows. */
static void find_classes(cli *c, const char *spec, int64_t K, score_rows *r)
{
  char *path = strdup(spec), *colon = path == NULL ? NULL : strrchr(path, ':');
  struct stat st;
  if (colon != NULL && stat(path, &st) != 0) *colon = '\0';
  if (path != NULL && lapis_arrays_read(c->ctx, path, &r->all) >= 0 &&
      !take_names(r, "classes", K) && !take_names(r, "class_names", K) &&
      r->numbers)
    (void)take_numbers(r, "classes", K);
  free(path);
}

static bool any_named(const score_rows *r)
{
  for (int64_t i = 0; i < r->title.cols; i++)
    if (row_name(r, i) != NULL) return true;
  return false;
}

/* Whether rows are called 1, 2, ..., as they are of data without names, or 0,
 * 1, ..., as codes are. */
static bool are_counted(const score_rows *r)
{
  bool from[2] = {true, true};
  for (int64_t i = 0; i < r->title.cols; i++)
    for (int first = 0; first < 2; first++) {
      char number[24];
      snprintf(number, sizeof number, "%lld", (long long)i + first);
      const char *name = row_name(r, i);
      from[first] = from[first] && name != NULL && strcmp(name, number) == 0;
    }
  return from[0] || from[1];
}

/* "sick: yes", as fit calls what it says of the target sick. */
static bool is_value_of(const char *of, const char *name)
{
  size_t size = strlen(name);
  return size > 0 && strncmp(of, name, size) == 0 && of[size] == ':' &&
         of[size + 1] == ' ';
}

/* The row of the scores that is of a label; -1: none. */
static int64_t score_row(const score_rows *r, const char *name)
{
  for (int64_t i = 0; i < r->title.cols; i++) {
    const char *of = row_name(r, i);
    if (of == NULL) continue;
    if (strcmp(of, name) == 0 || is_value_of(of, name)) return i;
    if (r->numbers && number_of(of) == number_of(name)) return i;
  }
  return -1;
}

static int64_t count_found(const score_rows *r, const lapis_mat *names)
{
  int64_t found = 0;
  for (int64_t k = 0; k < names->cols; k++)
    found += score_row(r, text_at(names, k)) >= 0;
  return found;
}

/* Titles of a table that are all of the truth's labels, or one of two, say what
 * they are of without "score of". */
static void find_plain(score_rows *r, const lapis_mat *names, bool two)
{
  if (r->all.count > 0 || any_named(r)) return;
  r->plain = true;
  int64_t found = count_found(r, names);
  r->plain = found == names->cols || (two && found > 0);
}

/* Names that do not say which label a row is of: there are none; they are
 * words, for labels that are their numbers; or they are counted, and the labels
 * are others. */
static bool are_places(const score_rows *r, const lapis_mat *names)
{
  bool words = r->numbers;
  for (int64_t i = 0; words && i < r->title.cols; i++) {
    const char *of = row_name(r, i);
    words = of == NULL || isnan(number_of(of));
  }
  return !any_named(r) || words ||
         (are_counted(r) && count_found(r, names) < names->cols);
}

/* The name of a row that is of a list as a whole, as where fit takes "sea;sun"
 * for one class: its scores say nothing of sea alone; NULL: there is none. */
static const char *whole_list(const score_rows *r, const lapis_mat *names)
{
  for (int64_t i = 0; i < r->title.cols; i++) {
    const char *of = row_name(r, i);
    bool asked = of == NULL || strchr(of, ';') == NULL;
    for (int64_t k = 0; !asked && k < names->cols; k++)
      asked = strcmp(text_at(names, k), of) == 0;
    if (!asked) return of;
  }
  return NULL;
}

/* The scores in the order of the names. */
static lapis_status put_scores(eval_pair *p, const score_rows *r)
{
  int64_t K = p->names.cols, n = p->answers.cols;
  p->x = malloc((size_t)(K * n + 1) * sizeof *p->x);
  if (p->x == NULL) return LAPIS_ENOMEM;
  for (int64_t k = 0; k < K; k++) {
    int64_t row = score_row(r, text_at(&p->names, k));
    for (int64_t j = 0; j < n; j++)
      p->x[j * K + k] = lapis_mat_at(&p->answers, row, j);
  }
  p->answers = lapis_mat_f64(p->x, K, n);
  return LAPIS_OK;
}

/* Scores whose rows are called something go by that.  Others go by their place:
 * beside columns that is theirs, while the order of lists is nobody's. */
static lapis_status pair_scores(cli *c, const char *scores, bool lists,
                                const score_rows *r, eval_pair *p)
{
  if (r->title.cols == 0 && lists)
    return lapis_fail(c->ctx, LAPIS_EDATA,
                      "%s: does not say which label a row of its scores is "
                      "of; an array 'classes' of their names, a name a row, "
                      "would, or a table of columns such as \"score of %s\"",
                      scores, text_at(&p->names, 0));
  if (!lists && are_places(r, &p->names)) return LAPIS_OK;
  const char *whole = whole_list(r, &p->names);
  if (whole != NULL)
    return lapis_fail(c->ctx, LAPIS_EDATA,
                      "%s: its scores are for whole lists, such as \"%s\"; fit "
                      "a column of 0 and 1 for each label to score each",
                      scores, whole);
  for (int64_t k = 0; k < p->names.cols; k++) {
    const char *name = text_at(&p->names, k);
    if (score_row(r, name) >= 0) continue;
    if (r->all.count > 0)
      return lapis_fail(c->ctx, LAPIS_EDATA,
                        "%s: has no \"%s\" among its classes, and the truth "
                        "has that label",
                        scores, name);
    return lapis_fail(c->ctx, LAPIS_EDATA,
                      "%s: has no column \"score of %s\" or \"probability of "
                      "%s\", and the truth has that label",
                      scores, name, name);
  }
  return put_scores(p, r);
}

/* Whether truth is one class a sample, and every class of the names there. */
static bool are_single(const eval_pair *p)
{
  int64_t K = p->names.cols, there = 0;
  if (p->truth.rows != 1) return false;
  for (int64_t k = 0; k < K; k++) {
    int64_t j = 0;
    while (j < p->truth.cols && lapis_mat_at(&p->truth, 0, j) != (double)k) j++;
    there += j < p->truth.cols;
  }
  return K > 1 && there == K;
}

static int by_value(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The names of labels that are numbers are these, in the metrics' order; no
 * names where there are too many to be labels. */
static lapis_status name_numbers(eval_pair *p)
{
  int64_t n = 0, count = 0;
  double *v = malloc((size_t)(p->truth.cols + 1) * sizeof *v);
  if (v == NULL) return LAPIS_ENOMEM;
  for (int64_t j = 0; j < p->truth.cols; j++) {
    double label = lapis_mat_at(&p->truth, 0, j);
    if (!isnan(label)) v[n++] = label;
  }
  qsort(v, (size_t)n, sizeof *v, by_value);
  for (int64_t j = 0; j < n; j++)
    if (j == 0 || v[j] != v[count - 1]) v[count++] = v[j];
  bool room = true;
  p->names = (lapis_mat){.cols = 0};
  for (int64_t k = 0; room && count <= EVAL_TARGETS && k < count; k++)
    room = add_number(p, v[k]);
  p->names = lapis_mat_text(p->name, 1, p->names.cols);
  free(v);
  return room ? LAPIS_OK : LAPIS_ENOMEM;
}

/* Two classes have one row of scores, of the second against the first. */
static lapis_status check_two(cli *c, const char *scores, const score_rows *r,
                              const eval_pair *p)
{
  int64_t last = r->title.cols - 1;
  const char *of = last < 0 ? NULL : row_name(r, last);
  const char *first = text_at(&p->names, 0), *second = text_at(&p->names, 1);
  bool fits = of == NULL || strcmp(of, second) == 0 ||
              (r->numbers && number_of(of) == number_of(second));
  if (last == 1) fits = fits && strcmp(row_name(r, 0), first) == 0;
  if (fits || (are_counted(r) && !r->numbers)) return LAPIS_OK;
  bool turned = of != NULL && strcmp(of, first) == 0;
  return lapis_fail(c->ctx, LAPIS_EDATA,
                    "%s: its scores are of \"%s\", and the truth's two labels "
                    "are \"%s\" and \"%s\"; scores of \"%s\" against \"%s\" "
                    "are needed%s%s",
                    scores, of, first, second, second, first,
                    turned ? ", or --positive " : "", turned ? first : "");
}

/* Which row would be right nobody can tell: that of the second label, or what
 * it is above the first. */
static lapis_status tell_of_two(cli *c, const char *scores, const eval_pair *p)
{
  const char *first = text_at(&p->names, 0), *second = text_at(&p->names, 1);
  return lapis_fail(c->ctx, LAPIS_ESHAPE,
                    "%s: the truth has two labels, %s and %s, and the scores "
                    "are of %lld; give one column of scores, of %s against "
                    "%s, or a truth that has every class",
                    scores, first, second, (long long)p->answers.rows, second,
                    first);
}

/* Scores beside one column of numbers that are several classes: in a table they
 * are what they say, in an archive they may be codes of other names. */
static bool are_of_numbers(cli *c, const eval_pair *p)
{
  const lapis_metric_kind *kind;
  return is_sheet(args_get(&c->args, "truth")) && p->truth.rows == 1 &&
         p->names.cols < 2 &&
         lapis_metric_find(c->ctx, c->args.word[0], &kind) >= 0 &&
         (kind->reads == LAPIS_METRIC_SCORES ||
          kind->reads == LAPIS_METRIC_PROBABILITIES);
}

lapis_status eval_list_scores(cli *c, const lapis_dataset *ds,
                              const char *scores, eval_pair *p)
{
  bool numbers = are_of_numbers(c, p);
  if (numbers && name_numbers(p) < 0) return LAPIS_ENOMEM;
  lapis_mat classes = p->names;
  bool lists = p->truth.rows == 1 && any_list(&classes);
  bool single = numbers ? classes.cols > 1 : !lists && are_single(p);
  bool two = single && classes.cols == 2;
  if (two && p->answers.rows != 1) return tell_of_two(c, scores, p);
  if (!lists && !single &&
      (p->truth.rows == 1 || classes.cols != p->truth.rows))
    return LAPIS_OK;
  if (lists) {
    p->names = (lapis_mat){.cols = 0};
    if (!add_names(p, &classes) || !sort_names(p) ||
        !put_truth(p, &classes, true))
      return LAPIS_ENOMEM;
  }
  score_rows rows = {.title = lapis_dataset_text(ds, "feature_names"),
                     .numbers = numbers};
  if (rows.title.cols == 0)
    find_classes(c, scores, two ? 2 : p->answers.rows, &rows);
  find_plain(&rows, &p->names, two);
  lapis_status s = two ? check_two(c, scores, &rows, p)
                       : pair_scores(c, scores, lists, &rows, p);
  lapis_arrays_free(&rows.all);
  eval_pair_free(&rows.written);
  return s;
}
