/* features.c - lapis features KIND IMAGE...: images in, arrays out. */
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "lapis/images.h"

static const cli_option options[] = {
    {"output", 'o', "F.npz",
     "write X, names, image_size and what else there is; F.csv or F.tsv: a "
     "table of names and X"},
    {"keep-going", 0, NULL,
     "leave out images that are refused; exit 4 at the end"},
    {"cache", 0, "DIR",
     "keep features there by content: a second run reads them"},
    {"part", 0, "K/N",
     "only put the images K, K + N, ... into --cache, for a run without --part "
     "that finds all of them there"},
    CLI_IMAGE_ROWS,
    {NULL, 0, NULL, NULL}};

/* Sentences of the images that were left out; no columns where none was. */
static lapis_mat refused(const lapis_solver *s)
{
  lapis_mat m = {.cols = 0};
  for (int i = 0; lapis_result_name(s, i) != NULL; i++)
    if (strcmp(lapis_result_name(s, i), "refused") == 0)
      lapis_result_get(s, "refused", &m);
  return m;
}

static void warn_refused(const cli *c, const lapis_mat *list)
{
  const char *const *text = list->val;
  for (int64_t i = 0; !c->quiet && i < list->cols; i++)
    (void)cli_fail(EXIT_DONE, "left out: %s", text[i]);
}

/* "a,b" */
static const char *all_kinds(const cli *c, char *text, size_t size)
{
  size_t used = 0;
  for (int k = 0; k < c->kinds.count && used < size; k++)
    used += (size_t)snprintf(text + used, size - used, "%s%s", k > 0 ? "," : "",
                             c->kinds.kind[k]->name);
  return text;
}

/* Where each kind begins in X, and how to bring them to one weight. */
static void print_blocks(const cli *c, const lapis_mat *start)
{
  printf("in X: ");
  for (int k = 0; k < c->kinds.count; k++)
    printf("%s%s from column %.0f", k > 0 ? ", " : "", c->kinds.kind[k]->name,
           lapis_mat_at(start, 0, k) + 1);
  printf("\nso that each weighs the same: --map blocks:");
  for (int k = 0; k < c->kinds.count; k++)
    printf("%s%.0f", k > 0 ? "+" : "",
           lapis_mat_at(start, 0, k + 1) - lapis_mat_at(start, 0, k));
  printf(",standard,balance\n");
}

static lapis_json *blocks_json(const cli *c, const lapis_mat *start)
{
  lapis_json *list = lapis_json_list();
  for (int k = 0; k < c->kinds.count; k++) {
    lapis_json *one = lapis_json_object();
    int64_t first = (int64_t)lapis_mat_at(start, 0, k);
    lapis_json_put_text(one, "kind", c->kinds.kind[k]->name);
    lapis_json_put_integer(one, "first", first);
    lapis_json_put_integer(one, "count",
                           (int64_t)lapis_mat_at(start, 0, k + 1) - first);
    lapis_json_put(list, NULL, one);
  }
  return list;
}

static int print_result(cli *c, const lapis_solver *s, const lapis_mat *left)
{
  lapis_mat X, names, start = {.cols = 0};
  char kinds[256];
  lapis_result_get(s, "X", &X);
  lapis_result_get(s, "names", &names);
  if (c->kinds.count > 1) lapis_result_get(s, "block_start", &start);
  all_kinds(c, kinds, sizeof kinds);
  if (!c->json && args_get(&c->args, "part") != NULL) {
    printf("%s: %lld image%s in %s\n", kinds, (long long)names.cols,
           names.cols == 1 ? " is" : "s are", args_get(&c->args, "cache"));
    return EXIT_DONE;
  }
  if (!c->json) {
    printf("%s: %lld image%s, X is %lld x %lld\n", kinds, (long long)names.cols,
           cli_s(names.cols), (long long)X.cols, (long long)X.rows);
    if (start.cols > 0) print_blocks(c, &start);
    return EXIT_DONE;
  }
  lapis_data data = {.X = X};
  lapis_json *to = run_json(c, kinds, c->method, s, &data);
  if (start.cols > 0) {
    lapis_json_put(to, "settings", kinds_json(c, &c->kinds, s));
    lapis_json_put(to, "blocks", blocks_json(c, &start));
  }
  lapis_json *list = lapis_json_list();
  const char *const *text = left->val;
  for (int64_t i = 0; i < left->cols; i++)
    lapis_json_put_text(list, NULL, text[i]);
  lapis_json_put_integer(to, "images", names.cols);
  lapis_json_put(to, "refused", list);
  return print_json(to);
}

/* A row of one number an image or a word is a list; X stays a matrix. */
static lapis_status write_arrays(cli *c, const lapis_solver *s)
{
  enum { MOST = 32 };
  lapis_named item[MOST];
  int count = 0;
  const char *name;
  for (int i = 0; (name = lapis_result_name(s, i)) != NULL && i < MOST; i++) {
    lapis_mat mat;
    if (strcmp(name, "refused") == 0) continue;
    lapis_result_get(s, name, &mat);
    bool flat = mat.rows == 1 && strcmp(name, "X") != 0;
    item[count++] = (lapis_named){.name = name, .mat = mat, .flat = flat};
  }
  return lapis_arrays_write(c->ctx, args_get(&c->args, "output"), "npz", item,
                            count);
}

/* ---- a table ------------------------------------------------------------*/
/* The image of a row, and where in it what is described lies: the four numbers
 * of a box or of a keypoint.  The caller frees it. */
static char *row_name(const lapis_mat *names, const lapis_mat *group,
                      const lapis_mat *place, int64_t j)
{
  enum { NUMBER = 32 };
  static const lapis_sheet_column few = {.rounded = true, .decimals = -1};
  int64_t image = group->cols > 0 ? (int64_t)lapis_mat_at(group, 0, j) : j;
  const char *name = ((const char *const *)names->val)[image];
  size_t used = strlen(name), size = used + 4 * NUMBER + 1;
  char *text = malloc(size);
  if (text == NULL) return NULL;
  memcpy(text, name, used + 1);
  for (int64_t i = 0; i < 4 && i < place->rows; i++) {
    text[used] = ' ';
    lapis_sheet_number(&few, lapis_mat_at(place, i, j), LAPIS_SHEET_DIGITS,
                       text + used + 1, NUMBER - 1);
    used += strlen(text + used);
  }
  return text;
}

/* A column a feature, with all digits: what reads it finds the same X. */
static lapis_status write_table(cli *c, const lapis_solver *s, const char *path)
{
  lapis_mat X = result_of(s, "X"), names = result_of(s, "names"),
            group = result_of(s, "group"), place = result_of(s, "candidate");
  if (place.cols == 0) place = result_of(s, "xy");
  enum { TITLE = 24 };
  lapis_sheet_column *column = calloc((size_t)X.rows + 1, sizeof *column);
  char(*title)[TITLE] = calloc((size_t)X.rows + 1, sizeof *title);
  char **name = calloc((size_t)X.cols + 1, sizeof *name);
  bool fine = column != NULL && title != NULL && name != NULL;
  for (int64_t j = 0; fine && j < X.cols; j++)
    fine = (name[j] = row_name(&names, &group, &place, j)) != NULL;
  for (int64_t i = 0; fine && i < X.rows; i++) {
    snprintf(title[i], TITLE, "x%lld", (long long)i + 1);
    column[i + 1] = (lapis_sheet_column){.title = title[i], .values = X};
    column[i + 1].values.rows = 1;
    column[i + 1].values.val =
        (char *)X.val + i * (X.dtype == LAPIS_F64 ? 8 : 4);
  }
  lapis_status status =
      fine ? LAPIS_OK
           : lapis_fail(c->ctx, LAPIS_ENOMEM, "%s: out of memory", path);
  if (fine) {
    column[0] = (lapis_sheet_column){
        .title = "name",
        .values = lapis_mat_text((const char **)name, 1, X.cols)};
    status = lapis_sheet_write(c->ctx, path, NULL, column, (int)X.rows + 1);
  }
  for (int64_t j = 0; name != NULL && j < X.cols; j++) free(name[j]);
  free(name);
  free(title);
  free(column);
  return status;
}

static int finish(cli *c, const lapis_solver *s)
{
  lapis_mat left = refused(s);
  const char *path = args_get(&c->args, "output"); /* NULL: a part */
  lapis_status status = is_sheet(path) ? write_table(c, s, path)
                        : path != NULL ? write_arrays(c, s)
                                       : LAPIS_OK;
  if (status < 0) return cli_fail_status(c, status);
  cli_wipe_bar(c);
  warn_refused(c, &left);
  int code = print_result(c, s, &left);
  if (code != EXIT_DONE || left.cols == 0) return code;
  long long out = left.cols, in = lapis_result_info(s)->iterations;
  return cli_fail(EXIT_INPUT, "features: %lld of %lld images were left out",
                  out, out + in);
}

/* ---- in parts -----------------------------------------------------------*/
static int check_part(const cli *c)
{
  const cli_args *a = &c->args;
  if (args_get(a, "cache") == NULL)
    return cli_fail(EXIT_MISUSE, "features: --part needs --cache DIR, the same "
                                 "of all parts");
  if (args_get(a, "output") != NULL)
    return cli_fail(EXIT_MISUSE, "features: --part fills the cache; -o belongs "
                                 "to the run without it");
  if (args_get(a, "boxes") != NULL)
    return cli_fail(EXIT_MISUSE,
                    "features: features of given boxes are not kept in a "
                    "cache, so they are not made in parts");
  bool learns = kinds_have(&c->kinds, "vocabulary");
  if (learns && args_get(a, "vocabulary") == NULL)
    return cli_fail(EXIT_MISUSE,
                    "features: words are learnt from all images; learn them "
                    "by --save-vocabulary F in a run of its own, and give "
                    "--vocabulary F to each part");
  return EXIT_DONE;
}

/* The part's images alone stay in the list. */
static int take_part(cli *c, lapis_array *list)
{
  int64_t part, parts, count = 0;
  const char **path = list->mat.val;
  if (args_get(&c->args, "part") == NULL) return EXIT_DONE;
  int code = part_from_args(c, &part, &parts);
  if (code != EXIT_DONE) return code;
  if (parts > list->mat.cols)
    return cli_fail(EXIT_MISUSE, "features: %lld parts of %lld image%s",
                    (long long)parts, (long long)list->mat.cols,
                    cli_s(list->mat.cols));
  for (int64_t i = part - 1; i < list->mat.cols; i += parts)
    path[count++] = path[i];
  list->mat.cols = count;
  return EXIT_DONE;
}

static int compute(cli *c, const lapis_array *list)
{
  const cli_kinds *k = &c->kinds;
  lapis_solver *s;
  lapis_features_options how = {.size = sizeof how};
  how.keep_going = args_get(&c->args, "keep-going") != NULL;
  how.cache = args_get(&c->args, "cache");
  lapis_status status =
      k->count == 1
          ? lapis_features_new(c->ctx, k->kind[0], k->settings[0],
                               list->mat.val, list->mat.cols, &how, &s)
          : lapis_features_joined_new(
                c->ctx, k->kind, (const void *const *)k->settings, k->count,
                list->mat.val, list->mat.cols, &how, &s);
  if (status < 0) return cli_fail_status(c, status);
  status = lapis_solve(s);
  int code = cli_exit_code(c, status);
  if (status == LAPIS_CANCELLED || status == LAPIS_ESTOPPED)
    code = cli_interrupted(c, how.cache == NULL ? "" : flow_kept(c));
  else if (status < 0)
    code = cli_fail_status(c, status);
  else if (status == LAPIS_OK)
    code = finish(c, s);
  lapis_solver_free(s);
  return code;
}

static int run(cli *c)
{
  lapis_array list = {.name = NULL};
  const char *path = args_get(&c->args, "output");
  if (c->args.n_words == 0)
    return cli_fail(EXIT_MISUSE, "features: name images, or folders of them");
  bool in_parts = args_get(&c->args, "part") != NULL;
  int code = in_parts ? check_part(c) : EXIT_DONE;
  if (code != EXIT_DONE) return code;
  if (path == NULL && !in_parts)
    return cli_fail(
        EXIT_MISUSE,
        "features: give -o F.npz, the file that they are written to");
  if (!in_parts)
    code = is_sheet(path) ? check_writable(c, path) : check_result(c, path);
  if (code == EXIT_DONE)
    code = check_writable(c, args_get(&c->args, "save-vocabulary"));
  if (code == EXIT_DONE) code = kinds_settings(c, &c->kinds);
  lapis_status s = LAPIS_OK;
  if (code == EXIT_DONE)
    s = lapis_image_list(c->ctx, c->args.word, c->args.n_words, &list);
  if (s < 0) code = cli_fail_status(c, s);
  if (code == EXIT_DONE) code = take_part(c, &list);
  if (code == EXIT_DONE) code = compute(c, &list);
  lapis_array_free(&list);
  kinds_free(&c->kinds);
  return code;
}

const cli_verb verb_features = {
    .name = "features",
    .synopsis = "features KIND[,KIND] IMAGE... -o F.npz",
    .help = "make the numbers that methods read, from images or folders",
    .options = options,
    .first_at = lapis_feature_at,
    .first = "kind",
    .joins = true,
    .run = run};
