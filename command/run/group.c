/* group.c - -G, -P and --weights name a file, or columns of the table that is
 * read, which then are no features. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"

static const char *dashes(const char *option)
{
  return strlen(option) > 1 ? "--" : "-";
}

/* The table that -G may name a column of, or NULL. */
static const char *table_of_data(const cli *c)
{
  const char *X = args_get(&c->args, "X");
  const char *path = c->args.n_words > 0 ? c->args.word[0] : X;
  const lapis_format *f = path == NULL ? NULL : lapis_format_of_name(path);
  bool table = f == NULL || strcmp(f->name, "csv") == 0 ||
               strcmp(f->name, "tsv") == 0 || strcmp(f->name, "arff") == 0;
  return table && path != NULL && strcmp(path, "-") != 0 &&
                 access(path, R_OK) == 0
             ? path
             : NULL;
}

/* FILE, or FILE:NAME. */
static bool names_file(const char *spec)
{
  char file[4096];
  const char *colon = strrchr(spec, ':');
  if (strcmp(spec, "-") == 0 || access(spec, F_OK) == 0) return true;
  if (colon == NULL || (size_t)(colon - spec) >= sizeof file) return false;
  snprintf(file, sizeof file, "%.*s", (int)(colon - spec), spec);
  return access(file, F_OK) == 0;
}

/* The file is what it was before there were such columns. */
static void warn_of_both(cli *c, const char *table, const char *option,
                         const char *group)
{
  lapis_columns all;
  bool both = false;
  if (c->quiet || strpbrk(group, "./:") != NULL ||
      lapis_columns_read(c->ctx, table, NULL, &all) < 0)
    return;
  for (int j = 0; all.header && j < all.listed; j++)
    both = both || strcmp(all.column[j].title, group) == 0;
  lapis_columns_free(&all);
  if (both)
    fprintf(stderr,
            "lapis: warning: %s: %s%s %s is the file of that name, not the "
            "column of %s\n",
            c->verb->name, dashes(option), option, group, table);
}

/* The columns in FILE:COL,.. where FILE is the table that is read. */
static const char *own_columns(const char *spec, const char *table)
{
  const char *colon = strrchr(spec, ':');
  size_t size = colon == NULL ? 0 : (size_t)(colon - spec);
  bool own = colon != NULL && access(spec, F_OK) != 0 &&
             strlen(table) == size && strncmp(spec, table, size) == 0;
  return own ? colon + 1 : NULL;
}

static bool lists(const char *list, const char *name, size_t size)
{
  while (list != NULL && *list != '\0') {
    size_t length = strcspn(list, ",");
    if (length == size && strncmp(list, name, size) == 0) return true;
    list += length + (list[length] == ',');
  }
  return false;
}

/* No feature, but with --drop not to be learnt from, either. */
static int check_dropped(const cli *c, const char *option, const char *columns)
{
  const char *drop = args_get(&c->args, "drop");
  while (strcmp(option, "P") == 0 && *columns != '\0') {
    size_t size = strcspn(columns, ",");
    if (lists(drop, columns, size))
      return cli_fail(EXIT_MISUSE,
                      "--drop leaves out \"%.*s\", which --priv names",
                      (int)size, columns);
    columns += size + (columns[size] == ',');
  }
  return EXIT_DONE;
}

static int leave_out(cli *c, const char *option, const char *columns)
{
  int code = check_dropped(c, option, columns);
  if (code != EXIT_DONE) return code;
  const char *drop = c->drop != NULL ? c->drop : args_get(&c->args, "drop");
  size_t size = (drop == NULL ? 0 : strlen(drop)) + strlen(columns) + 2;
  char *all = malloc(size);
  if (all == NULL) return cli_fail(EXIT_FAILED, "out of memory");
  snprintf(all, size, "%s%s%s", drop == NULL ? "" : drop,
           drop == NULL ? "" : ",", columns);
  free(c->drop);
  c->drop = all;
  return EXIT_DONE;
}

/* *spec: "TABLE:COL" where an option names columns. */
static int find_columns(cli *c, const char *option, char **spec)
{
  const char *given = args_get(&c->args, option), *table = table_of_data(c);
  bool streamed = c->args.n_words > 0 && strcmp(c->args.word[0], "-") == 0;
  if (given != NULL && streamed && !names_file(given))
    return cli_fail(EXIT_MISUSE,
                    "%s%s %s: is not a file; where it is a column, name the "
                    "table's file instead of -",
                    dashes(option), option, given);
  if (given == NULL || *spec != NULL || table == NULL) return EXIT_DONE;
  const char *columns = names_file(given) ? own_columns(given, table) : given;
  if (columns == NULL) {
    warn_of_both(c, table, option, given);
    return EXIT_DONE;
  }
  const char *path = c->args.n_words > 0 ? c->args.word[0] : NULL;
  int code =
      path == NULL ? EXIT_DONE : stream_keep(&c->args.word[0], c->stream);
  if (code != EXIT_DONE) return code;
  table = table_of_data(c);
  size_t size = strlen(table) + strlen(columns) + 2;
  *spec = malloc(size);
  if (*spec == NULL) return cli_fail(EXIT_FAILED, "out of memory");
  snprintf(*spec, size, "%s:%s", table, columns);
  return leave_out(c, option, columns);
}

int group_find(cli *c)
{
  int code = find_columns(c, "G", &c->group);
  if (code == EXIT_DONE) code = find_columns(c, "weights", &c->weights);
  return code == EXIT_DONE ? find_columns(c, "P", &c->priv) : code;
}

const char *group_spec(const cli *c, const char *option)
{
  const char *found = strcmp(option, "G") == 0         ? c->group
                      : strcmp(option, "P") == 0       ? c->priv
                      : strcmp(option, "weights") == 0 ? c->weights
                                                       : NULL;
  return found != NULL ? found : args_get(&c->args, option);
}

const char *group_columns(const cli *c)
{
  return c->group == NULL ? NULL : c->group + strlen(table_of_data(c)) + 1;
}

/* The table lacks one of the columns in a list. */
static bool lacks(const char *why, const char *list)
{
  char said[300];
  while (*list != '\0') {
    size_t size = strcspn(list, ",");
    snprintf(said, sizeof said, "has no column \"%.*s\"", (int)size, list);
    if (strstr(why, said) != NULL) return true;
    list += size + (list[size] == ',');
  }
  return false;
}

int group_fail(cli *c, lapis_status s, const char *option)
{
  const char *why = lapis_ctx_error(c->ctx), *G = args_get(&c->args, option);
  if (G == NULL || group_spec(c, option) == G || names_file(G) ||
      !lacks(why, G))
    return cli_fail_status(c, s);
  return cli_fail(cli_exit_code(c, s), "%s%s %s: is not a file, and %s",
                  dashes(option), option, G, why);
}
