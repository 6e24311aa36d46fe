/* unfinished.c - what a run that has not ended left: a checkpoint, or the folds
 * of cv --part.  Which run it was of stands in their headers. */
#include <string.h>

#include "info.h"

/* The i-th pair of an object; a list has none, whatever the file holds. */
static bool pair_at(const lapis_json *of, int i, const char **key, char *text,
                    size_t size)
{
  return lapis_json_entry(of, i, key, text, size) && *key != NULL;
}

/* "checkpoint", "cv-part", or something else; "" of no format. */
static const char *kind_of(const lapis_json *head)
{
  bool any = lapis_json_number(head, "format", 0) >= 1;
  return any ? lapis_json_text(head, "kind", "") : "";
}

const char *info_run_title(cli *c, const lapis_arrays *all)
{
  lapis_json *head = info_header(c, all);
  const char *kind = kind_of(head);
  const char *title = strcmp(kind, "checkpoint") == 0
                          ? "checkpoint: a run that has not ended"
                      : strcmp(kind, "cv-part") == 0
                          ? "folds of a cross-validation, by cv --part"
                          : NULL;
  lapis_json_free(head);
  return title;
}

/* "fit mc"; "label". */
static void name_run(const lapis_json *head, char *text, size_t size)
{
  const char *verb =
      strcmp(kind_of(head), "cv-part") == 0
          ? "cv"
          : lapis_json_text(lapis_json_get(head, "also"), "verb", "");
  snprintf(text, size, "%.20s%s%.40s", verb, *verb == '\0' ? "" : " ",
           lapis_json_text(head, "method", "?"));
}

/* Sizes as the user has them, samples first. */
static void print_data(const lapis_json *data)
{
  const char *key, *before = "  data:";
  char text[128];
  for (int i = 0; pair_at(data, i, &key, text, sizeof text); i++) {
    long long rows, cols;
    if (sscanf(text, "%lld x %lld", &rows, &cols) != 2) continue;
    printf("%s %.20s %lld x %lld", before, key, cols, rows);
    before = ",";
  }
  if (*before == ',') printf("\n");
}

static void print_pairs(const char *before, const lapis_json *pairs)
{
  const char *key;
  char text[1024], shown[1024];
  for (int i = 0; pair_at(pairs, i, &key, text, sizeof text); i++) {
    if (strcmp(key, "verb") == 0) continue;
    printf("%s %.60s %s", before, key,
           lapis_text_shown(text, shown, sizeof shown));
    before = ",";
  }
  if (*before == ',') printf("\n");
}

/* The three numbers of a part: which, of how many, of how many folds. */
static bool part_of(const lapis_arrays *all, long long part[3])
{
  const lapis_array *a = lapis_arrays_find(all, "part");
  if (a == NULL || a->mat.dtype != LAPIS_I64 || a->mat.colptr != NULL ||
      a->mat.rows * a->mat.cols != 3)
    return false;
  for (int k = 0; k < 3; k++)
    part[k] = (long long)lapis_mat_at(&a->mat, a->mat.rows == 3 ? k : 0,
                                      a->mat.rows == 3 ? 0 : k);
  return true;
}

void info_run(cli *c, const char *path, const char *name,
              const lapis_arrays *all)
{
  lapis_json *head = info_header(c, all);
  char run[80], done[160], shown[512], file[4096];
  long long part[3];
  (void)lapis_text_shown(name, file, sizeof file);
  name_run(head, run, sizeof run);
  printf("  of lapis %s, version %s\n", lapis_text_shown(run, shown, 512),
         lapis_json_text(head, "lapis", "?"));
  print_data(lapis_json_get(head, "data"));
  print_pairs("  settings:", lapis_json_get(head, "settings"));
  print_pairs("  also:", lapis_json_get(head, "also"));
  if (strcmp(kind_of(head), "cv-part") == 0) {
    if (part_of(all, part))
      printf("  done: part %lld of %lld, of %lld fold%s\n", part[0], part[1],
             part[2], cli_s(part[2]));
    printf("  lapis cv --join %s ... answers from the files of all parts\n",
           file);
  } else if (lapis_checkpoint_done(c->ctx, path, done, sizeof done) < 0) {
    printf("  %s\n", lapis_ctx_error(c->ctx));
  } else {
    if (*done != '\0') printf("  done: %s\n", done);
    printf("  the same command, with --checkpoint %s, goes on from it, and "
           "removes it at its end\n",
           file);
  }
  lapis_json_free(head);
}

static lapis_json *pairs_json(const lapis_json *pairs)
{
  lapis_json *to = lapis_json_object();
  const char *key;
  char text[1024];
  for (int i = 0; pair_at(pairs, i, &key, text, sizeof text); i++)
    if (strcmp(key, "verb") != 0) lapis_json_put_text(to, key, text);
  return to;
}

lapis_json *info_run_json(cli *c, const char *path, const lapis_arrays *all)
{
  lapis_json *to = lapis_json_object(), *head = info_header(c, all);
  char run[80], done[160];
  long long part[3];
  name_run(head, run, sizeof run);
  lapis_json_put_text(to, "of", run);
  lapis_json_put_text(to, "lapis", lapis_json_text(head, "lapis", ""));
  if (strcmp(kind_of(head), "cv-part") == 0 && part_of(all, part)) {
    lapis_json_put_integer(to, "part", part[0]);
    lapis_json_put_integer(to, "parts", part[1]);
    lapis_json_put_integer(to, "folds", part[2]);
  } else if (lapis_checkpoint_done(c->ctx, path, done, sizeof done) >= 0) {
    lapis_json_put_text(to, "done", done);
  }
  lapis_json_put(to, "settings", pairs_json(lapis_json_get(head, "settings")));
  lapis_json_put(to, "also", pairs_json(lapis_json_get(head, "also")));
  lapis_json_free(head);
  return to;
}
