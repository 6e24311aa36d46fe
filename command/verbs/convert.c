/* convert.c - lapis convert IN OUT: one file into another, maps on the way. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command/command.h"

static const cli_option options[] = {
    {"map", 0, "MAP",
     "change the features first, as fit --map does; fitted on this very file"},
    {"as", 0, "FORMAT", "of 'lapis formats' (default: by OUT's ending)"},
    {NULL, 0, NULL, NULL}};

enum { MAX_MEMBERS = 16 };
typedef struct members {
  lapis_named item[MAX_MEMBERS];
  int count;
} members;

static void put(members *m, const char *name, lapis_mat mat, bool flat)
{
  if (mat.cols == 0 || mat.rows == 0) return;
  m->item[m->count++] = (lapis_named){.name = name, .mat = mat, .flat = flat};
}

static void collect(const lapis_dataset *ds, lapis_mat X, members *m)
{
  static const char *const text[] = {
      "names",         "feature_names", "class_names",     "target_names",
      "target_values", "id_name",       "feature_settings"};
  enum { TEXTS = sizeof text / sizeof *text };
  const lapis_data *d = lapis_dataset_data(ds);
  int64_t n = d->X.cols;
  put(m, "X", X, false);
  put(m, "Y", d->Y, false);
  put(m, "P", d->P, false);
  put(m, "xy", d->xy, false);
  if (d->group != NULL)
    put(m, "group", lapis_mat_i64((int64_t *)(uintptr_t)d->group, 1, n), true);
  if (d->weight != NULL)
    put(m, "weight", lapis_mat_f64((double *)(uintptr_t)d->weight, 1, n), true);
  for (int i = 0; i < TEXTS; i++) {
    bool named = i != 1 || X.rows == d->X.rows; /* a map may change columns */
    if (i == TEXTS - 1) named = X.val == d->X.val; /* and makes others */
    lapis_mat row = lapis_dataset_text(ds, text[i]);
    if (named) put(m, text[i], row, row.rows == 1);
  }
}

static int write_all(cli *c, const lapis_dataset *ds, lapis_mat X,
                     const char *path)
{
  members m = {.count = 0};
  collect(ds, X, &m);
  lapis_status s = lapis_arrays_write(c->ctx, path, args_get(&c->args, "as"),
                                      m.item, m.count);
  return s < 0 ? cli_fail_status(c, s) : EXIT_DONE;
}

static int convert(cli *c, const lapis_dataset *ds, const char *path)
{
  lapis_map *map = NULL;
  double *owned = NULL;
  lapis_mat X;
  int code =
      map_from_args(c, "map", &lapis_dataset_data(ds)->X, &map, &owned, &X);
  if (code == EXIT_DONE) code = write_all(c, ds, X, path);
  lapis_map_free(map);
  free(owned);
  return code;
}

/* The arrays of a result in parts, whatever they are, in one file. */
static int join_parts(cli *c, const char *folder, const char *path)
{
  lapis_arrays all;
  lapis_status s = lapis_arrays_read(c->ctx, folder, &all);
  if (s < 0) return cli_fail_status(c, s);
  lapis_named *item = calloc((size_t)all.count + 1, sizeof *item);
  for (int i = 0; item != NULL && i < all.count; i++) {
    const lapis_array *a = &all.item[i];
    item[i] = (lapis_named){.name = a->name, .mat = a->mat, .axes = a->axes};
    memcpy(item[i].shape, a->shape, sizeof a->shape);
  }
  if (item != NULL)
    s = lapis_arrays_write(c->ctx, path, args_get(&c->args, "as"), item,
                           all.count);
  free(item);
  lapis_arrays_free(&all);
  if (item == NULL) return cli_fail(EXIT_FAILED, "out of memory");
  return s < 0 ? cli_fail_status(c, s) : EXIT_DONE;
}

static bool is_in_parts(cli *c, const char *path)
{
  const lapis_format *format;
  struct stat st;
  return stat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
         args_get(&c->args, "map") == NULL &&
         lapis_format_of_file(c->ctx, path, &format) >= 0;
}

static int run(cli *c)
{
  lapis_dataset *ds;
  if (c->args.n_words != 2)
    return cli_fail(EXIT_MISUSE, "convert: name one file to read and one to "
                                 "write");
  const char *out = c->args.word[1];
  c->args.n_words = 1; /* what is read */
  int code = check_writable(c, out);
  if (code == EXIT_DONE && is_in_parts(c, c->args.word[0]))
    return join_parts(c, c->args.word[0], out);
  if (code == EXIT_DONE) code = dataset_from_args(c, &ds);
  if (code != EXIT_DONE) return code;
  code = convert(c, ds, out);
  lapis_dataset_free(ds);
  return code;
}

const cli_verb verb_convert = {
    .name = "convert",
    .synopsis = "convert IN OUT [--as FORMAT]",
    .help = "write a file in another format (or an array of it, FILE:NAME)",
    .options = options,
    .reads_data = true,
    .run = run};
