/* eval_sheet.c - answers that are a table of 'fit -o F.csv', and labels that
 * are texts: both are compared with the truth's own texts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval.h"

static bool begins(const char *text, const char *with)
{
  return strncmp(text, with, strlen(with)) == 0;
}

static void append(char *list, int number)
{
  size_t used = strlen(list);
  snprintf(list + used, EVAL_LIST - used, "%s#%d", used > 0 ? "," : "", number);
}

static bool is_listed(const char *list, const char *title)
{
  for (; list != NULL && *list != '\0';) {
    size_t size = strcspn(list, ",");
    if (strlen(title) == size && strncmp(title, list, size) == 0) return true;
    list += size + (list[size] == ',');
  }
  return false;
}

static void add_column(eval_columns *out, int j, const char *title)
{
  if (out->count < EVAL_TARGETS) {
    out->label[out->count] = j + 1;
    snprintf(out->title[out->count], sizeof out->title[0], "%.63s", title);
  }
  out->count++;
}

static bool is_target(const eval_columns *out, const char *title)
{
  for (int k = 0; k < out->count && k < EVAL_TARGETS; k++)
    if (strncmp(title, out->title[k], sizeof out->title[k] - 1) == 0)
      return true;
  return false;
}

/* Whether the truth has a target that is so called: by --target or, without it,
 * by a column of its table. */
static bool is_asked(cli *c, const eval_files *files, const char *title)
{
  lapis_columns all;
  lapis_table_options own = {.target = NULL};
  bool has = is_listed(files->table->target, title);
  if (files->table->target != NULL || !is_sheet(files->truth) ||
      lapis_columns_read(c->ctx, files->truth, &own, &all) < 0)
    return has;
  for (int j = 0; all.header && j < all.listed; j++)
    has |=
        all.column[j].title != NULL && strcmp(all.column[j].title, title) == 0;
  lapis_columns_free(&all);
  return has;
}

/* Whether a column behind the first target tells of answers: their origin, the
 * set, the place or the interval of each, what it was while it was hidden. What
 * the truth has is a target, once. */
static bool is_about(cli *c, const eval_files *files, const eval_columns *out,
                     const char *title)
{
  static const char *const about[] = {"origin",         "rather",
                                      "doubt",          "set",
                                      "where",          "low",
                                      "high",           "held-out probability",
                                      "held-out value", "probability wrong"};
  for (size_t i = 0; out->count > 0 && i < sizeof about / sizeof *about; i++) {
    size_t size = strlen(about[i]);
    if (!begins(title, about[i])) continue;
    bool of = begins(title + size, " of ") &&
              (i == 0 || is_target(out, title + size + 4));
    if (title[size] == '\0' || of)
      return is_target(out, title) || !is_asked(c, files, title);
  }
  return false;
}

/* Of the targets those that --target has, where it has any. */
static void keep_listed(const char *target, eval_columns *out)
{
  int kept = 0;
  for (int k = 0; k < out->count; k++) {
    if (!is_listed(target, out->title[k])) continue;
    out->label[kept] = out->label[k];
    memmove(out->title[kept++], out->title[k], sizeof out->title[k]);
  }
  if (kept > 0) out->count = kept;
}

/* Of a table of labels alone, as label --labels-out writes it: the columns that
 * are called as --target has it, in the table's order, which is the truth's. */
static void find_targets(const lapis_columns *all, const char *target,
                         eval_columns *out)
{
  for (int j = 0; j < all->listed && out->count < EVAL_TARGETS; j++) {
    const char *title = all->column[j].title;
    if (title != NULL && is_listed(target, title)) add_column(out, j, title);
  }
}

/* The only column but that of --id, whatever its title: one has no order. */
static void find_single(const lapis_columns *all, const char *id,
                        eval_columns *out)
{
  int single = -1, count = 0;
  for (int j = 0; j < all->listed; j++) {
    const char *title = all->column[j].title;
    char number[16];
    snprintf(number, sizeof number, "#%d", j + 1);
    if (id != NULL && ((title != NULL && strcmp(title, id) == 0) ||
                       strcmp(id, number) == 0 || strcmp(id, number + 1) == 0))
      continue;
    single = j;
    count++;
  }
  if (count == 1 && all->column[single].title != NULL)
    add_column(out, single, all->column[single].title);
}

/* Whether column j, from 1, has numbers and is called as scores of one of the
 * truth's labels are; the truth is read only where that may be. */
static bool is_of_truth(cli *c, const eval_files *files, int j,
                        const char *title)
{
  const char *label = eval_score_of(title);
  char column[16];
  lapis_dataset *ds;
  if (label == NULL || lapis_dataset_new(c->ctx, &ds) < 0) return false;
  snprintf(column, sizeof column, "#%d", j);
  lapis_table_options own = {.header = LAPIS_HEADER_YES,
                             .use = column,
                             .decimal = files->table->decimal,
                             .id = files->table->id == NULL ? NULL : "#1"};
  bool has = eval_read(ds, "X", files->scores, "scores", &own) >= 0 &&
             eval_read(ds, "Y", files->truth, "Y", files->table) >= 0 &&
             lapis_dataset_finish(ds) >= 0 && eval_has_label(ds, label);
  lapis_dataset_free(ds);
  return has;
}

/* Column 1 names the samples and column 2 is a target, whatever their titles,
 * but for scores of a label that the truth has. */
static bool is_score(cli *c, const eval_files *files, int j, const char *title)
{
  if (j > 2)
    return strcmp(title, "score") == 0 || strcmp(title, "probability") == 0 ||
           eval_score_of(title) != NULL;
  return (j == 2 || files->table->id == NULL) &&
         is_of_truth(c, files, j, title);
}

/* Of labels alone: texts, each another, and no target. */
static bool has_names(const lapis_columns *all, const eval_columns *out)
{
  const lapis_column *c = all->column;
  if (!all->header || all->listed < 2 || strcmp(c->title, "row") == 0)
    return false;
  size_t first = strcspn(out->scores, ",");
  if (first == 2 && strncmp(out->scores, "#1", 2) == 0) return false;
  for (int k = 0; k < out->count; k++)
    if (out->label[k] == 1) return false;
  return !out->plain || (c->texts > 1 && c->numbers == 0 &&
                         c->different == all->rows && c->missing == 0);
}

const char *eval_id(const eval_columns *sheet, const lapis_table_options *table)
{
  bool first = table->id == NULL ? sheet->named : !sheet->plain;
  return first ? "#1" : table->id;
}

bool eval_find_columns(cli *c, const eval_files *files, const char *target,
                       eval_columns *out)
{
  lapis_columns all;
  lapis_table_options own = {.target = target};
  bool told = false; /* that fit wrote it */
  *out = (eval_columns){.plain = true, .decimal = files->table->decimal};
  if (!is_sheet(files->scores) ||
      lapis_columns_read(c->ctx, files->scores, &own, &all) < 0)
    return false;
  for (int j = 0; all.header && j < all.listed; j++) {
    const char *title = all.column[j].title;
    bool score = is_score(c, files, j + 1, title);
    bool about = !score && is_about(c, files, out, title);
    if (score) append(out->scores, j + 1);
    if (score && out->decimal == '\0') out->decimal = all.column[j].decimal;
    told |= score || (about && target != NULL);
    if (j == 0 || score || about || *out->scores != '\0') continue;
    add_column(out, j, title);
  }
  if (!told || out->count > EVAL_TARGETS) out->count = 0;
  out->plain = !told;
  if (told) keep_listed(files->table->target, out);
  if (!told && all.header) find_targets(&all, target, out);
  if (!told && all.header && target != NULL && out->count == 0)
    find_single(&all, files->table->id, out);
  out->named = has_names(&all, out);
  lapis_columns_free(&all);
  return out->count > 0;
}

int eval_check_order(const lapis_dataset *ds, const eval_columns *sheet,
                     const char *scores)
{
  lapis_mat names = lapis_dataset_text(ds, "target_names");
  const char *const *name = (const char *const *)names.val;
  if (names.cols != sheet->count) return EXIT_DONE; /* who counts tells */
  for (int k = 0; k < sheet->count; k++)
    for (int i = 0; i < sheet->count; i++)
      if (i != k && name[k] != NULL &&
          strncmp(name[k], sheet->title[i], sizeof sheet->title[0] - 1) == 0 &&
          strncmp(name[k], sheet->title[k], sizeof sheet->title[0] - 1) != 0)
        return cli_fail(EXIT_INPUT,
                        "%s: \"%s\" is its target %d, but target %d of the "
                        "truth; bring the columns into one order",
                        scores, sheet->title[i], i + 1, k + 1);
  return EXIT_DONE;
}

/* The text of the truth that an answer which is none of its texts may mean: the
 * same number, as 01234 and 1234, or the same letters; NULL: there is none. */
static const char *other_spelling(const lapis_mat *texts,
                                  const char *const *text, const char *label)
{
  double number, value;
  bool is_number = lapis_number_read(label, NULL, &number);
  for (int64_t code = 0; code < texts->cols; code++) {
    const char *of = text[code * texts->ld];
    if (is_number && lapis_number_read(of, NULL, &value) && value == number)
      return of;
    const char *both[] = {label, of};
    if (lapis_text_twin(both, 2, 0) >= 0) return of;
  }
  return NULL;
}

static void tell_spelling(const char *label, const char *twin, bool truth)
{
  double number;
  fprintf(stderr,
          "lapis: warning: eval: the answers have \"%s\" and the truth \"%s\": "
          "%s, and two labels\n",
          truth ? twin : label, truth ? label : twin,
          lapis_number_read(label, NULL, &number)
              ? "one number in two spellings"
              : "one word but for case or blanks");
}

/* Codes of one target's labels, of the answers or the truth, into row k of
 * codes, by the texts of the other; what has none is behind the last code.
 * stranger: a label where none of them is of the other. */
static void code_row(const lapis_mat *labels, const lapis_mat *texts,
                     bool truth, eval_pair *pair, int64_t k, int64_t rows)
{
  const char *const *text = (const char *const *)texts->val, *twin = NULL;
  const char *stranger = NULL;
  int64_t met = 0;
  if (texts->rows > 1) text += k; /* each target has texts of its own */
  for (int64_t j = 0; j < labels->cols; j++) {
    const char *label = ((const char *const *)labels->val)[j * labels->ld];
    int64_t code = 0;
    while (code < texts->cols && strcmp(text[code * texts->ld], label) != 0)
      code++;
    pair->x[j * rows + k] = (double)code;
    met += code < texts->cols;
    if (code < texts->cols || twin != NULL) continue;
    twin = other_spelling(texts, text, label);
    if (twin != NULL) tell_spelling(label, twin, truth);
    if (!lapis_text_missing(label)) stranger = label;
  }
  if (met == 0 && twin == NULL && stranger != NULL)
    snprintf(pair->stranger, sizeof pair->stranger, "%s", stranger);
}

/* Whether a text is the one class of the truth, not a title above numbers. */
static bool is_one_class(const lapis_dataset *ds, const lapis_mat *texts)
{
  lapis_mat titles = lapis_dataset_text(ds, "target_names");
  const char *const *text = texts->val, *const *title = titles.val;
  return texts->cols == 1 &&
         (titles.cols != 1 || strcmp(text[0], title[0]) != 0);
}

/* One target's answers as texts, beside the truth's. */
static lapis_status read_labels(cli *c, const eval_columns *sheet,
                                const char *truth, const char *answers,
                                const lapis_table_options *table, int64_t k,
                                lapis_dataset **out)
{
  char column[16];
  lapis_table_options own = {.header = LAPIS_HEADER_AUTO,
                             .decimal = sheet->decimal};
  lapis_status s = lapis_dataset_new(c->ctx, out);
  const char *positive = args_get(&c->args, "positive");
  lapis_dataset_positive(*out, positive);
  if (s >= 0 && sheet->count > 0) {
    snprintf(column, sizeof column, "#%d", sheet->label[k]);
    bool bare = *sheet->scores == '\0'; /* labels, made numbers to be read */
    own.header = LAPIS_HEADER_YES;
    own.use = bare ? column : sheet->scores;
    own.one_hot = bare ? column : NULL;
    own.id = eval_id(sheet, table);
    s = eval_read(*out, "X", answers, "scores", &own);
    own = (lapis_table_options){.header = LAPIS_HEADER_YES, .target = column};
    if (s >= 0) s = lapis_dataset_read_member(*out, "names", answers, &own);
  } else if (s >= 0) {
    s = eval_read(*out, "X", answers, "scores", &own);
    if (s >= 0) s = eval_read(*out, "names", answers, "labels", &own);
  }
  if (s >= 0) s = eval_read(*out, "Y", truth, "Y", table);
  if (s >= 0) s = lapis_dataset_finish(*out);
  return s == LAPIS_EINVAL && positive != NULL ? LAPIS_EDATA : s;
}

/* The truth may be numbers where the answers are texts, 01234 beside 1234: its
 * texts are compared then, with the answers in the truth's place. */
static lapis_status swap_labels(cli *c, const eval_columns *sheet,
                                const char *truth, const char *answers,
                                const lapis_table_options *table,
                                lapis_dataset **out, eval_pair *pair)
{
  char column[16];
  eval_columns own;
  lapis_table_options of = *table;
  eval_files files = {.truth = answers, .scores = truth, .table = table};
  if (sheet->count != 1) return LAPIS_EINVAL;
  if (!eval_find_columns(c, &files, table->target, &own)) {
    const char *number = table->target == NULL ? "" : table->target;
    own = (eval_columns){.count = 1,
                         .plain = true, /* by its number, not its title */
                         .decimal = table->decimal};
    own.label[0] = atoi(number + (*number == '#'));
  }
  if (own.count != 1 || own.label[0] < 1) return LAPIS_EINVAL;
  snprintf(column, sizeof column, "#%d", sheet->label[0]);
  of.target = column;
  of.id = eval_id(sheet, table);
  lapis_status s = read_labels(c, &own, answers, truth, &of, 0, out);
  if (s < 0) return s;
  const lapis_mat *Y = &lapis_dataset_data(*out)->Y;
  lapis_mat labels = lapis_dataset_text(*out, "names");
  lapis_mat texts = lapis_dataset_text(*out, "class_names");
  bool fits = Y->rows == 1 && labels.cols == Y->cols &&
              (texts.cols > 1 || is_one_class(*out, &texts));
  if (fits) pair->x = malloc((size_t)(Y->cols + 1) * sizeof *pair->x);
  if (!fits || pair->x == NULL) return fits ? LAPIS_ENOMEM : LAPIS_EINVAL;
  code_row(&labels, &texts, true, pair, 0, 1);
  for (int64_t j = 0; j < Y->cols; j++)
    if (lapis_text_missing(((const char *const *)labels.val)[j * labels.ld]))
      pair->x[j] = NAN;
  pair->truth = lapis_mat_f64(pair->x, 1, Y->cols);
  pair->answers = *Y;
  pair->names = texts;
  return LAPIS_OK;
}

lapis_status eval_text_labels(cli *c, const eval_columns *sheet,
                              const char *truth, const char *answers,
                              const lapis_table_options *table,
                              lapis_dataset **out, eval_pair *pair)
{
  int64_t targets = sheet->count > 0 ? sheet->count : 1;
  lapis_status s = LAPIS_OK;
  *out = NULL;
  for (int64_t k = 0; s >= 0 && k < targets; k++) {
    lapis_dataset_free(*out);
    *out = NULL;
    s = read_labels(c, sheet, truth, answers, table, k, out);
    if (s < 0) break;
    if (targets == 1) {
      s = eval_list_labels(*out, pair);
      if (s != LAPIS_EINVAL) break;
    }
    const lapis_mat *Y = &lapis_dataset_data(*out)->Y;
    lapis_mat labels = lapis_dataset_text(*out, "names");
    lapis_mat texts = lapis_dataset_text(*out, targets == 1 ? "class_names"
                                                            : "target_values");
    bool fits = Y->rows == targets && labels.cols == Y->cols &&
                (texts.cols > 1 || is_one_class(*out, &texts));
    s = fits ? LAPIS_OK : LAPIS_EINVAL; /* numbers, or something else */
    if (fits && pair->x == NULL)
      pair->x = malloc((size_t)(targets * Y->cols + 1) * sizeof *pair->x);
    if (fits && pair->x == NULL) s = LAPIS_ENOMEM;
    if (s < 0) break;
    code_row(&labels, &texts, false, pair, k, targets);
    pair->truth = *Y;
    pair->answers = lapis_mat_f64(pair->x, targets, Y->cols);
    pair->names = lapis_dataset_text(*out, "class_names");
  }
  if (s == LAPIS_EINVAL && targets == 1) {
    lapis_dataset_free(*out);
    *out = NULL;
    s = swap_labels(c, sheet, truth, answers, table, out, pair);
  }
  if (s >= 0) return s;
  lapis_dataset_free(*out);
  *out = NULL;
  return s;
}
