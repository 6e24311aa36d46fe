/* group.c - -G names a file, or a column of the table that is read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"

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
static void warn_of_both(cli *c, const char *table, const char *group)
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
            "lapis: warning: %s: -G %s is the file of that name, not the "
            "column of %s\n",
            c->verb->name, group, table);
}

int group_find(cli *c)
{
  const char *group = args_get(&c->args, "G");
  const char *drop = args_get(&c->args, "drop");
  const char *table = table_of_data(c);
  bool streamed = c->args.n_words > 0 && strcmp(c->args.word[0], "-") == 0;
  if (group != NULL && streamed && !names_file(group))
    return cli_fail(EXIT_MISUSE,
                    "-G %s: is no file; where it is a column, name the table's "
                    "file instead of -",
                    group);
  if (group == NULL || c->group != NULL || table == NULL) return EXIT_DONE;
  if (names_file(group)) {
    warn_of_both(c, table, group);
    return EXIT_DONE;
  }
  const char *path = c->args.n_words > 0 ? c->args.word[0] : NULL;
  int code =
      path == NULL ? EXIT_DONE : stream_keep(&c->args.word[0], c->stream);
  if (code != EXIT_DONE) return code;
  table = table_of_data(c);
  size_t size = strlen(table) + strlen(group) + 2;
  size_t dropped = (drop == NULL ? 0 : strlen(drop)) + strlen(group) + 2;
  c->group = malloc(size);
  c->drop = malloc(dropped);
  if (c->group == NULL || c->drop == NULL)
    return cli_fail(EXIT_FAILED, "out of memory");
  snprintf(c->group, size, "%s:%s", table, group);
  snprintf(c->drop, dropped, "%s%s%s", drop == NULL ? "" : drop,
           drop == NULL ? "" : ",", group);
  return EXIT_DONE;
}

int group_fail(cli *c, lapis_status s)
{
  const char *why = lapis_ctx_error(c->ctx), *G = args_get(&c->args, "G");
  char column[256];
  snprintf(column, sizeof column, "has no column \"%s\"", G == NULL ? "" : G);
  if (c->group == NULL || strstr(why, column) == NULL)
    return cli_fail_status(c, s);
  return cli_fail(cli_exit_code(c, s), "-G %s: is no file, and %s", G, why);
}
