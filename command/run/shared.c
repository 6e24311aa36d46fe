/* shared.c - steps that several verbs share: data in, results out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/command.h"

/* The members that options name, and those options. */
static const struct {
  const char *name, *option;
} members[] = {{"X", "X"},     {"Y", "Y"},   {"P", "P"},
               {"group", "G"}, {"xy", "xy"}, {"weight", "weights"}};
enum { MEMBERS = sizeof members / sizeof *members };

static int read_members(cli *c, lapis_dataset *ds,
                        const lapis_table_options *table)
{
  for (int i = 0; i < MEMBERS; i++) {
    const char *spec = group_spec(c, members[i].option);
    if (spec == NULL) continue;
    lapis_status s =
        lapis_dataset_read_member(ds, members[i].name, spec, table);
    if (s < 0) return group_fail(c, s, members[i].option);
  }
  return EXIT_DONE;
}

/* A text of the model, or NULL. */
static const lapis_mat *text_of_model(cli *c, const char *name, lapis_mat *to)
{
  bool there = c->model != NULL &&
               lapis_model_get(c->ctx, c->model, name, to) >= 0 &&
               to->dtype == LAPIS_TEXT && to->rows == 1 && to->cols > 0;
  return there ? to : NULL;
}

/* A model's columns are found again by their titles, and cells mean unknown
 * that meant it there. */
static void read_as_fitted(cli *c, lapis_table_options *out)
{
  lapis_mat id;
  out->features_of = text_of_model(c, "feature_names", &c->known[0]);
  out->targets_of = text_of_model(c, "target_names", &c->known[1]);
  if (text_of_model(c, "id_name", &id) != NULL)
    out->id_of = ((const char *const *)id.val)[0];
  if (out->missing == NULL && text_of_model(c, "missing", &id) != NULL)
    out->missing = ((const char *const *)id.val)[0];
  const char *data =
      c->args.n_words > 0 ? c->args.word[0] : args_get(&c->args, "X");
  bool sheet =
      data == NULL || is_sheet(data) || lapis_format_of_name(data) == NULL;
  if (sheet && out->decimal == '\0' && text_of_model(c, "decimal", &id) != NULL)
    out->decimal = ((const char *const *)id.val)[0][0];
}

const char *dialect_of(cli *c, const lapis_dataset *ds)
{
  lapis_mat text = lapis_dataset_text(ds, "dialect");
  if (text.cols == 0 && text_of_model(c, "dialect", &text) == NULL) return NULL;
  return ((const char *const *)text.val)[0];
}

int table_from_args(cli *c, lapis_table_options *out)
{
  const char *header = args_get(&c->args, "header");
  const char *features = args_get(&c->args, "feature-count");
  bool yes = header != NULL && strcmp(header, "yes") == 0;
  bool no = header != NULL && strcmp(header, "no") == 0;
  if (header != NULL && !yes && !no)
    return cli_fail(EXIT_MISUSE, "--header '%s' is neither yes nor no", header);
  char *end = NULL;
  long long count = features == NULL ? 0 : strtoll(features, &end, 10);
  if (features != NULL && (*end != '\0' || count < 1 || count > INT32_MAX))
    return cli_fail(EXIT_MISUSE,
                    "--feature-count '%s' is not a number from 1 to %d",
                    features, INT32_MAX);
  const char *triplets = args_get(&c->args, "triplets");
  bool from_1 = triplets != NULL && strcmp(triplets, "1") == 0;
  bool from_0 = triplets != NULL && strcmp(triplets, "0") == 0;
  if (triplets != NULL && !from_1 && !from_0)
    return cli_fail(EXIT_MISUSE,
                    "--triplets '%s' is neither 1 nor 0, the number of the "
                    "first row and column",
                    triplets);
  if (args_get(&c->args, "decimal") != NULL)
    c->decimal = args_get(&c->args, "decimal");
  const char *decimal = c->decimal;
  if (decimal != NULL && strcmp(decimal, ",") != 0 && strcmp(decimal, ".") != 0)
    return cli_fail(EXIT_MISUSE,
                    "--decimal '%s' is neither , (as in 1.234,5) nor . (as in "
                    "1,234.5)",
                    decimal);
  *out = (lapis_table_options){
      .target = args_get(&c->args, "target"),
      .id = args_get(&c->args, "id"),
      .header = yes  ? LAPIS_HEADER_YES
                : no ? LAPIS_HEADER_NO
                     : LAPIS_HEADER_AUTO,
      .labels = args_get(&c->args, "arff-labels"),
      .features = features == NULL && c->model != NULL
                      ? lapis_model_features(c->model) /* the last may be 0 */
                      : count,
      .use = args_get(&c->args, "use"),
      .drop = c->drop != NULL ? c->drop : args_get(&c->args, "drop"),
      .one_hot = args_get(&c->args, "one-hot"),
      .keep_counters = strcmp(c->verb->name, "convert") == 0,
      .missing = args_get(&c->args, "missing"),
      .decimal = decimal == NULL ? '\0' : *decimal,
      .triplets = from_1   ? LAPIS_TRIPLETS_FROM_1
                  : from_0 ? LAPIS_TRIPLETS_FROM_0
                           : LAPIS_TRIPLETS_HEADED};
  read_as_fitted(c, out);
  return EXIT_DONE;
}

/* mc reads float32 where it lies, also while it chooses; maps and choices of
 * the command around it make doubles. */
static bool keeps_f32(const cli *c)
{
  static const char *const around[] = {"map", "map-priv", "suspects",
                                       "threshold"};
  for (size_t k = 0; k < sizeof around / sizeof *around; k++)
    if (args_get(&c->args, around[k]) != NULL) return false;
  return strcmp(c->verb->name, "fit") == 0 && c->method->joint;
}

/* ---- names that repeat --------------------------------------------------*/
static int by_name(const void *a, const void *b)
{
  const char *const *const *x = a, *const *const *y = b;
  int order = strcmp(**x, **y);
  return order != 0 ? order : *x < *y ? -1 : *x > *y;
}

enum { MOST_TWINS = 5 };
typedef struct twins { /* the first two samples of a name */
  int64_t one, other;
} twins;

/* The names that are met again first, at most MOST_TWINS; returns how many
 * there are more than once. */
static int64_t find_twins(const char *const *const *sorted, int64_t n,
                          const char *const *name, twins *found)
{
  int64_t repeated = 0;
  for (int64_t k = 1; k < n; k++) {
    bool same =
        *sorted[k][0] != '\0' && strcmp(*sorted[k], *sorted[k - 1]) == 0;
    if (!same || (k > 1 && strcmp(*sorted[k], *sorted[k - 2]) == 0)) continue;
    twins pair = {sorted[k - 1] - name, sorted[k] - name};
    int64_t at = repeated < MOST_TWINS ? repeated : MOST_TWINS;
    repeated++;
    for (; at > 0 && found[at - 1].other > pair.other; at--)
      if (at < MOST_TWINS) found[at] = found[at - 1];
    if (at < MOST_TWINS) found[at] = pair;
  }
  return repeated;
}

/* Where many are repeated the column names what several rows are of. */
static void tell_twins(const cli *c, const char *const *name, int64_t n,
                       const twins *found, int64_t repeated)
{
  char shown[256];
  bool several = 10 * repeated >= n && args_get(&c->args, "G") == NULL;
  fprintf(stderr, "lapis: warning: %s: --id %s: ", c->verb->name,
          args_get(&c->args, "id"));
  for (int64_t k = 0; k < repeated && k < MOST_TWINS; k++)
    fprintf(stderr,
            k == 0 ? "\"%s\" names both row %lld and row %lld"
                   : ", \"%s\" row %lld and row %lld",
            lapis_text_shown(name[found[k].one], shown, sizeof shown),
            (long long)found[k].one + 1, (long long)found[k].other + 1);
  if (repeated > MOST_TWINS)
    fprintf(stderr, ", and %lld more names repeat",
            (long long)repeated - MOST_TWINS);
  if (several)
    fprintf(stderr,
            "; if it names what several rows are of, as visits are of one "
            "patient, give -G %s in its place: they are held out together",
            args_get(&c->args, "id"));
  else
    fputs("; give each sample a name of its own", stderr);
  fputc('\n', stderr);
}

static void warn_of_twins(cli *c, const lapis_dataset *ds)
{
  lapis_mat names = lapis_dataset_text(ds, "names");
  const char *const *name = names.val;
  twins found[MOST_TWINS];
  int64_t n = names.cols;
  const char *id = args_get(&c->args, "id"), *group = args_get(&c->args, "G");
  if (c->quiet || c->ranks.rank > 0 || id == NULL) return;
  if (group != NULL && strcmp(group, id) == 0) return; /* rows of one name */
  const char *const **sorted = malloc((size_t)(n + 1) * sizeof *sorted);
  if (sorted == NULL) return;
  for (int64_t j = 0; j < n; j++) sorted[j] = &name[j];
  qsort(sorted, (size_t)n, sizeof *sorted, by_name);
  int64_t repeated =
      find_twins((const char *const *const *)sorted, n, name, found);
  free(sorted);
  if (repeated > 0) tell_twins(c, name, n, found, repeated);
}

/* The first codes of target k, at most `most` of them; returns how many. */
static int first_codes(const lapis_mat *Y, int64_t k, int most, int64_t *code)
{
  int count = 0;
  for (int64_t j = 0; count < most && j < Y->cols; j++) {
    double v = lapis_mat_at(Y, k, j);
    int at = 0;
    while (at < count && code[at] != (int64_t)v) at++;
    if (!isnan(v) && at == count) code[count++] = (int64_t)v;
  }
  return count;
}

bool answers_numbers(const cli *c)
{
  return c->method->numbers;
}

const char *target_shown(const lapis_dataset *ds, int64_t k, char *to,
                         size_t size)
{
  lapis_mat titles = lapis_dataset_text(ds, "target_names");
  if (titles.cols != lapis_dataset_data(ds)->Y.rows) return "Y";
  (void)snprintf(to, size, "column ");
  lapis_text_shown(((const char *const *)titles.val)[k * titles.ld], to + 7,
                   size - 7);
  return to;
}

/* A word of the first target, or NULL where targets are numbers. */
static const char *target_word(const lapis_dataset *ds)
{
  bool one = lapis_dataset_data(ds)->Y.rows == 1;
  lapis_mat title = lapis_dataset_text(ds, "target_names");
  lapis_mat texts =
      lapis_dataset_text(ds, one ? "class_names" : "target_values");
  if (texts.cols == 0) return NULL;
  const char *word = ((const char *const *)texts.val)[0];
  if (!one || texts.cols > 1) return word;
  /* one name for one column of numbers is its title */
  if (title.cols != 1) return NULL;
  return strcmp(word, ((const char *const *)title.val)[0]) == 0 ? NULL : word;
}

/* Classes, given to a method of numbers. */
static int check_numbers(cli *c, const lapis_dataset *ds)
{
  char title[128], shown[64];
  const char *word = target_word(ds);
  if (word == NULL || !answers_numbers(c)) return EXIT_DONE;
  return cli_fail(EXIT_INPUT,
                  "%s: %s holds words (\"%s\"), which are classes: %s predicts "
                  "numbers; rlda, mc, linear and svmplus predict classes",
                  c->verb->name, target_shown(ds, 0, title, sizeof title),
                  lapis_text_shown(word, shown, sizeof shown), c->method->name);
}

/* A value of the first target as it is written. */
static const char *value_shown(cli *c, const lapis_dataset *ds, double v,
                               char *to, size_t size)
{
  lapis_mat texts = class_texts(c, ds);
  const char *word = target_word(ds);
  if (v >= 0 && v < (double)texts.cols)
    return lapis_text_shown(((const char *const *)texts.val)[(int64_t)v], to,
                            size);
  if (word != NULL) return lapis_text_shown(word, to, size);
  lapis_number_text(v, to, size);
  return to;
}

/* One value alone leaves nothing to predict. */
static int check_two_values(cli *c, const lapis_dataset *ds)
{
  char title[128], value[64];
  const lapis_mat *Y = &lapis_dataset_data(ds)->Y;
  const char *targets = args_get(&c->args, "targets");
  double one = NAN;
  int64_t known = 0;
  bool alone = Y->rows == 1 && c->ranks.size <= 1;
  for (int64_t j = 0; alone && j < Y->cols; j++) {
    double v = lapis_mat_at(Y, 0, j);
    if (isnan(one)) one = v;
    alone = isnan(v) || v == one;
    known += !isnan(v);
  }
  bool classes = !answers_numbers(c) &&
                 (targets == NULL || strcmp(targets, "numbers") != 0);
  if (!alone || !classes) return EXIT_DONE;
  return cli_fail(EXIT_INPUT,
                  "%s: %s holds one value alone, \"%s\", in %lld row%s; two "
                  "different ones are needed to learn from",
                  c->verb->name, target_shown(ds, 0, title, sizeof title),
                  value_shown(c, ds, one, value, sizeof value),
                  (long long)known, cli_s(known));
}

/* A joint method does without: it completes the features, or fills their gaps
 * where there are any.  cv has to judge. */
static int check_asked(cli *c, const lapis_data *data)
{
  bool gaps = c->method->completes || lapis_mat_missing(&data->X) > 0;
  bool fits = strcmp(c->verb->name, "fit") == 0;
  if (data->Y.rows > 0 || (c->method->joint && fits && gaps)) return EXIT_DONE;
  return cli_fail(EXIT_INPUT,
                  "%s: %s learns from known labels or numbers; say where "
                  "they are: --target COL names a column of the table, -Y FILE "
                  "(or FILE:NAME) another place; 'lapis info FILE' lists what "
                  "a file has",
                  c->verb->name, c->method->name);
}

int check_known(cli *c, const lapis_dataset *ds)
{
  char title[128];
  const lapis_mat *Y = &lapis_dataset_data(ds)->Y;
  const char *one = answers_numbers(c) ? "number" : "label";
  double known = 0;
  if ((c->method->reads & LAPIS_READS_Y) == 0) return EXIT_DONE;
  if (check_asked(c, lapis_dataset_data(ds)) != EXIT_DONE) return EXIT_INPUT;
  if (Y->rows == 0) return EXIT_DONE;
  for (int64_t k = 0; k < Y->rows * Y->cols; k++)
    known += !isnan(lapis_mat_at(Y, k % Y->rows, k / Y->rows));
  spread_count(c, &known, 1);
  if (known > 0) return check_two_values(c, ds);
  if (Y->rows > 1)
    return cli_fail(EXIT_INPUT,
                    "%s: none of the %lld targets has a known %s; rows that "
                    "have one are learnt from",
                    c->verb->name, (long long)Y->rows, one);
  return cli_fail(EXIT_INPUT,
                  "%s: %s holds no known %s; rows that have one are learnt "
                  "from%s",
                  c->verb->name, target_shown(ds, 0, title, sizeof title), one,
                  !c->method->joint ? ""
                  : args_get(&c->args, "target") != NULL
                      ? " (without --target the features alone are completed)"
                      : " (without Y the features alone are completed)");
}

/* What targets that are words can be: of several columns each has two words. */
static int check_words(cli *c, const lapis_dataset *ds)
{
  enum { TOO_MANY = 3 };
  int64_t code[TOO_MANY], k = 0;
  char word[TOO_MANY + 1][64];
  const lapis_mat *Y = &lapis_dataset_data(ds)->Y;
  lapis_mat all = lapis_dataset_text(ds, "target_values");
  lapis_mat titles = lapis_dataset_text(ds, "target_names");
  if (c->method == NULL || c->model != NULL) return EXIT_DONE;
  if (check_numbers(c, ds) != EXIT_DONE) return EXIT_INPUT;
  if (all.rows != 1 || all.cols < 3) return EXIT_DONE;
  while (k < Y->rows && first_codes(Y, k, TOO_MANY, code) < TOO_MANY) k++;
  if (k == Y->rows) return EXIT_DONE;
  for (int i = 0; i < TOO_MANY; i++)
    lapis_text_shown(((const char *const *)all.val)[code[i] * all.ld], word[i],
                     sizeof word[i]);
  snprintf(word[TOO_MANY], sizeof word[TOO_MANY], "%lld", (long long)k + 1);
  if (titles.cols == Y->rows)
    lapis_text_shown(((const char *const *)titles.val)[k * titles.ld],
                     word[TOO_MANY], sizeof word[TOO_MANY]);
  return cli_fail(EXIT_INPUT,
                  "%s: target %s holds more than two words (\"%s\", \"%s\", "
                  "\"%s\"); of several targets each has two, such as yes and "
                  "no: name one alone with --target, or make a column of yes "
                  "and no for each word",
                  c->verb->name, word[TOO_MANY], word[0], word[1], word[2]);
}

const char *member_of(const char *path, char file[4096])
{
  const char *colon = strrchr(path, ':');
  if (colon == NULL || colon - path >= 4096 || access(path, F_OK) == 0)
    return NULL;
  (void)snprintf(file, 4096, "%.*s", (int)(colon - path), path);
  return colon + 1;
}

bool is_plain_folder(const char *path)
{
  char index[4096];
  struct stat s;
  (void)snprintf(index, sizeof index, "%s/index.json", path);
  return stat(path, &s) == 0 && S_ISDIR(s.st_mode) && stat(index, &s) != 0;
}

/* Pictures are no data yet. */
static int check_no_pictures(cli *c, const char *path)
{
  lapis_array list = {.mat = {.cols = 0}};
  bool pictures = path != NULL && is_plain_folder(path) &&
                  lapis_image_list(c->ctx, &path, 1, &list) >= 0;
  lapis_array_free(&list);
  if (!pictures) return EXIT_DONE;
  char shown[4096];
  const char *verb = c->verb->name;
  bool fits = c->method != NULL && c->model == NULL;
  bool points = fits && (c->method->reads & LAPIS_READS_XY) != 0;
  return cli_fail(EXIT_INPUT,
                  "%s: is a folder of pictures: first 'lapis features %s %s -o "
                  "F.npz', then 'lapis %s %s F.npz'",
                  path, points ? "sift" : "pixels",
                  lapis_text_shown(path, shown, sizeof shown), verb,
                  fits                           ? c->method->name
                  : strcmp(verb, "predict") == 0 ? "MODEL"
                                                 : "...");
}

static int read_all(cli *c, lapis_dataset *ds)
{
  lapis_table_options table;
  int bad = EXIT_DONE;
  if (c->args.n_words > 0) bad = check_no_pictures(c, c->args.word[0]);
  if (bad == EXIT_DONE) bad = check_no_pictures(c, args_get(&c->args, "X"));
  if (bad == EXIT_DONE) bad = group_find(c);
  if (bad == EXIT_DONE) bad = table_from_args(c, &table);
  if (bad != EXIT_DONE) return bad;
  if (c->args.n_words > 1)
    return cli_fail(EXIT_MISUSE,
                    "%s: one data file is read, '%s' is a second one",
                    c->verb->name, c->args.word[1]);
  if (c->args.n_words == 1) {
    char file[4096];
    const char *data = c->args.word[0];
    lapis_status s = member_of(data, file) != NULL
                         ? lapis_dataset_read_member(ds, "X", data, &table)
                         : lapis_dataset_read(ds, data, &table);
    if (s < 0)
      return group_fail(c, s,
                        c->group != NULL     ? "G"
                        : c->weights != NULL ? "weights"
                                             : "P");
  }
  int code = read_members(c, ds, &table);
  if (code != EXIT_DONE) return code;
  if (keeps_f32(c)) lapis_dataset_keep_f32(ds);
  lapis_status s = lapis_dataset_finish(ds);
  if (s >= 0) warn_of_twins(c, ds);
  return s < 0 ? cli_fail_status(c, s) : check_words(c, ds);
}

int dataset_from_args(cli *c, lapis_dataset **out)
{
  *out = NULL;
  if (c->args.n_words == 0 && args_get(&c->args, "X") == NULL)
    return cli_fail(EXIT_MISUSE,
                    "%s: name a data file, or -X FILE; 'lapis info FILE' says "
                    "what one holds and what to type next",
                    c->verb->name);
  lapis_status s = lapis_dataset_new(c->ctx, out);
  if (s < 0) return cli_fail_status(c, s);
  if (c->ranks.size > 1)
    lapis_dataset_divide(*out, c->ranks.rank, c->ranks.size);
  lapis_dataset_positive(*out, args_get(&c->args, "positive"));
  int code = read_all(c, *out);
  if (code == EXIT_DONE) return code;
  lapis_dataset_free(*out);
  *out = NULL;
  return code;
}

/* ---- results ------------------------------------------------------------*/
enum { MAX_ARRAYS = 40 };

typedef struct out_list {
  lapis_named item[MAX_ARRAYS];
  bool divided[MAX_ARRAYS]; /* of the process's own samples */
  int count;
} out_list;

static void put(out_list *l, const char *name, lapis_mat mat, bool flat)
{
  if (l->count < MAX_ARRAYS)
    l->item[l->count++] = (lapis_named){.name = name, .mat = mat, .flat = flat};
}

/* labels of a text target as their texts: borrowed pointers, or NULL. */
static const char **label_texts(const lapis_mat *labels,
                                const lapis_mat *class_names)
{
  const char **text = calloc((size_t)labels->cols + 1, sizeof *text);
  const char *const *name = class_names->val;
  for (int64_t j = 0; text != NULL && j < labels->cols; j++) {
    int64_t code = (int64_t)lapis_mat_at(labels, 0, j);
    text[j] = code >= 0 && code < class_names->cols ? name[code] : "";
  }
  return text;
}

lapis_mat class_texts(cli *c, const lapis_dataset *ds)
{
  lapis_mat text = {.cols = 0};
  if (c->model != NULL) {
    if (lapis_model_get(c->ctx, c->model, "class_texts", &text) < 0)
      text.cols = 0;
    return text;
  }
  text = lapis_dataset_text(ds, "class_names");
  bool coded = lapis_dataset_data(ds)->Y.rows == 1 && text.cols > 1;
  if (!coded) text.cols = 0;
  return text;
}

/* What --again, and a page of the result, go on with, where it is not the plain
 * way. */
static void put_dialect(cli *c, out_list *l, const lapis_dataset *ds)
{
  lapis_mat text = lapis_dataset_text(ds, "dialect");
  if (text.cols > 0 && strcmp(dialect_of(c, ds), ", .") != 0)
    put(l, "dialect", text, true);
  if (c->decimal != NULL)
    put(l, "decimal", lapis_mat_text(&c->decimal, 1, 1), true);
}

/* Classes are those of the answers, which a model has in its own order. */
static void put_names(cli *c, out_list *l, const lapis_dataset *ds)
{
  static const char *const what[] = {"names", "feature_names", "class_names"};
  for (int i = 0; i < 3; i++) {
    lapis_mat text = lapis_dataset_text(ds, what[i]), own;
    if (i == 2 && (text_of_model(c, "class_texts", &own) != NULL ||
                   text_of_model(c, "target_names", &own) != NULL))
      text = own;
    if (text.cols > 0) put(l, what[i], text, true);
  }
  put_dialect(c, l, ds);
}

/* Arrays of blocks, a block a slot of match: (images, slots, d); and of
 * transforms, (images, 2, 3). */
static void shape_blocks(const lapis_solver *s, lapis_named *item)
{
  lapis_mat match;
  bool blocks =
      strcmp(item->name, "low_rank") == 0 || strcmp(item->name, "sparse") == 0;
  bool maps = strcmp(item->name, "transform") == 0 && item->mat.rows == 6;
  if (maps) {
    item->axes = 3;
    item->shape[0] = item->mat.cols;
    item->shape[1] = 2;
    item->shape[2] = 3;
  }
  if (!blocks || lapis_result_get(s, "match", &match) < 0) return;
  item->axes = 3;
  item->shape[0] = item->mat.cols;
  item->shape[1] = match.rows;
  item->shape[2] = item->mat.rows / match.rows;
}

lapis_status result_write(cli *c, const lapis_solver *s,
                          const lapis_dataset *ds, const char *path)
{
  out_list list = {.count = 0};
  bool folder = names_folder(path);
  const char **texts = NULL;
  lapis_status status = LAPIS_OK;
  void *owned[MAX_ARRAYS] = {NULL};
  lapis_mat class_names = class_texts(c, ds);
  int64_t samples = lapis_dataset_samples(ds);
  for (int i = 0; status >= 0 && lapis_result_name(s, i) != NULL; i++) {
    const char *name = lapis_result_name(s, i);
    lapis_mat mat;
    lapis_result_get(s, name, &mat);
    if (!folder)
      status = spread_join(c, s, name, samples, &mat, &owned[list.count]);
    if (status < 0 || (!folder && c->ranks.rank > 0)) continue;
    bool labels = strcmp(name, "labels") == 0;
    if (labels && class_names.cols > 0) {
      texts = label_texts(&mat, &class_names);
      mat = lapis_mat_text(texts, 1, mat.cols);
    }
    bool flat = mat.rows == 1 && (labels || mat.dtype == LAPIS_TEXT);
    put(&list, name, mat, flat);
    shape_blocks(s, &list.item[list.count - 1]);
    list.divided[list.count - 1] = lapis_result_is_divided(s, name);
  }
  for (int i = 0; i < c->n_extra; i++) list.item[list.count++] = c->extra[i];
  put_names(c, &list, ds);
  if (status >= 0 && folder)
    status = lapis_parts_write(c->folder, list.item, list.divided, list.count);
  else if (status >= 0)
    status = spread_settle(c, c->ranks.rank > 0
                                  ? LAPIS_OK
                                  : lapis_arrays_write(c->ctx, path, "npz",
                                                       list.item, list.count));
  for (int i = 0; i < MAX_ARRAYS; i++) free(owned[i]);
  free(texts);
  return status;
}

/* ---- JSON ---------------------------------------------------------------*/

static int64_t missing_features(cli *c, const lapis_data *data)
{
  const lapis_mat *X = &data->X;
  const char *absent = args_get(&c->args, "absent");
  bool left_out = absent != NULL && strcmp(absent, "missing") == 0;
  if (X->colptr == NULL || !left_out) return lapis_mat_missing(X);
  return X->rows * X->cols - (X->colptr[X->cols] - X->colptr[0]);
}

cli_counts count_data(cli *c, const lapis_data *data)
{
  double n[] = {(double)data->X.cols, (double)missing_features(c, data),
                (double)lapis_mat_missing(&data->Y)};
  spread_count(c, n, 3);
  return (cli_counts){(int64_t)n[0], (int64_t)n[1], (int64_t)n[2]};
}

static lapis_json *data_json(cli *c, const lapis_data *data)
{
  cli_counts all = count_data(c, data);
  lapis_json *to = lapis_json_object();
  lapis_json_put_integer(to, "features", data->X.rows);
  lapis_json_put_integer(to, "samples", all.samples);
  lapis_json_put_integer(to, "targets", data->Y.rows);
  lapis_json_put_integer(to, "missing_features", all.features);
  lapis_json_put_integer(to, "missing_targets", all.targets);
  return to;
}

static lapis_json *info_json(cli *c, const lapis_info *info)
{
  lapis_json *to = lapis_json_object();
  lapis_json_put_integer(to, "iterations", info->iterations);
  lapis_json_put_integer(to, "rank", info->rank);
  lapis_json_put_number(to, "objective", info->objective);
  lapis_json_put_number(to, "dual", info->dual);
  lapis_json_put_number(to, "gap", info->gap);
  lapis_json_put_number(to, "residual", info->residual);
  lapis_json_put_number(to, "seconds", info->seconds);
  lapis_json_put_number(to, "svd_seconds", info->svd_seconds);
  lapis_json_put_integer(to, "threads", lapis_ctx_threads(c->ctx));
  lapis_json_put_text(to, "backend", lapis_ctx_backend(c->ctx));
  lapis_json_put_text(to, "kernels", lapis_ctx_kernels(c->ctx));
  lapis_json_put_integer(to, "ranks", c->ranks.size);
  return to;
}

/* What was remarked: a column has level, name and text. */
lapis_json *notes_json(const lapis_mat *notes)
{
  static const char *const key[] = {"level", "name", "text"};
  lapis_json *list = lapis_json_list();
  for (int64_t k = 0; k < notes->cols; k++) {
    lapis_json *one = lapis_json_object();
    for (int64_t i = 0; i < 3; i++)
      lapis_json_put_text(one, key[i],
                          ((const char *const *)notes->val)[3 * k + i]);
    lapis_json_put(list, NULL, one);
  }
  return list;
}

lapis_json *run_json(cli *c, const char *method, const lapis_method *table,
                     const lapis_solver *s, const lapis_data *data)
{
  const lapis_info *info = lapis_result_info(s);
  lapis_json *to = lapis_json_object();
  lapis_mat notes;
  lapis_result_get(s, "notes", &notes);
  lapis_json_put_text(to, "lapis", lapis_version());
  lapis_json_put_text(to, "method", method);
  char *command = shell_command(c);
  if (command != NULL) lapis_json_put_text(to, "command", command);
  free(command);
  lapis_json_put_text(to, "status", lapis_status_name(info->status));
  lapis_json_put(to, "settings",
                 settings_json(c, table, lapis_result_settings(s)));
  lapis_json_put(to, "data", data_json(c, data));
  lapis_json_put(to, "info", info_json(c, info));
  lapis_json_put(to, "metrics", lapis_json_object());
  lapis_json_put(to, "notes", notes_json(&notes));
  return to;
}

int part_from_args(cli *c, int64_t *part, int64_t *parts)
{
  const char *text = args_get(&c->args, "part");
  char *end;
  *part = strtol(text, &end, 10);
  bool number = end != text && *end == '/';
  text = number ? end + 1 : text;
  *parts = number ? strtol(text, &end, 10) : 0;
  if (number && end != text && *end == '\0' && *part >= 1 && *part <= *parts)
    return EXIT_DONE;
  return cli_fail(EXIT_MISUSE,
                  "--part '%s' is not K/N, two whole numbers, K from 1 to N",
                  args_get(&c->args, "part"));
}
