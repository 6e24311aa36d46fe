/* eval_match.c - lapis eval match-ratio | iou: rows that are not samples of
 * scores, but images of slots, or boxes. */
#include <stdlib.h>
#include <string.h>

#include "command/command.h"

/* A file of arrays and the one that is meant. */
typedef struct table {
  lapis_arrays all;
  lapis_mat mat;
} table;

/* FILE.npy, FILE.npz:NAME, or FILE.npz with a member of one of the names, or
 * with one member. */
static int read_table(cli *c, const char *spec, const char *const *names,
                      table *out)
{
  char path[4096];
  snprintf(path, sizeof path, "%s", spec);
  char *colon = strstr(path, ".npz:");
  if (colon != NULL) colon[4] = '\0';
  lapis_status s = lapis_arrays_read(c->ctx, path, &out->all);
  if (s < 0) return cli_fail_status(c, s);
  const lapis_array *a = NULL;
  if (colon != NULL) a = lapis_arrays_find(&out->all, colon + 5);
  for (int i = 0; colon == NULL && a == NULL && names[i] != NULL; i++)
    a = lapis_arrays_find(&out->all, names[i]);
  if (a == NULL && colon == NULL && out->all.count == 1) a = out->all.item;
  if (a == NULL)
    return cli_fail(
        EXIT_INPUT,
        "%s: there is no array '%s' in it; 'lapis info' lists what it has",
        spec, colon != NULL ? colon + 5 : names[0]);
  if (a->axes != 2 || a->mat.dtype == LAPIS_TEXT)
    return cli_fail(EXIT_INPUT, "%s: a matrix of numbers is needed", spec);
  out->mat = a->mat;
  return EXIT_DONE;
}

static void put_numbers(cli *c, const char *metric, const char *const *names,
                        const double *values, int count)
{
  if (!c->json) {
    for (int i = 0; i < count; i++) printf("%s %.6f\n", names[i], values[i]);
    return;
  }
  lapis_json *to = lapis_json_object();
  lapis_json_put_text(to, "metric", metric);
  lapis_json_put_number(to, "mean", values[0]);
  for (int i = 0; i < count; i++)
    lapis_json_put_number(to, names[i], values[i]);
  print_json(to);
}

static int match_ratio(cli *c, const table *truth, const table *found)
{
  static const char *const names[] = {"match_ratio", "identification_ratio",
                                      "precision", "recall"};
  const lapis_array *inlier = lapis_arrays_find(&found->all, "inlier");
  lapis_match_scores r;
  lapis_status s = lapis_match_ratio(c->ctx, &truth->mat, &found->mat,
                                     inlier == NULL ? NULL : &inlier->mat, &r);
  if (s < 0) return cli_fail_status(c, s);
  double values[] = {r.match_ratio, r.identification_ratio, r.precision,
                     r.recall};
  put_numbers(c, "match-ratio", names, values, 4);
  return EXIT_DONE;
}

static int iou(cli *c, const table *truth, const table *found)
{
  static const char *const names[] = {"iou", "correct"};
  double values[2];
  lapis_status s =
      lapis_iou(c->ctx, &truth->mat, &found->mat, NULL, &values[0], &values[1]);
  if (s < 0) return cli_fail_status(c, s);
  put_numbers(c, "iou", names, values, 2);
  return EXIT_DONE;
}

bool eval_is_match(const char *metric)
{
  return strcmp(metric, "match-ratio") == 0 || strcmp(metric, "iou") == 0;
}

int eval_match(cli *c, const char *metric, const char *truth,
               const char *scores)
{
  static const char *const members[] = {"match", "truth", "boxes", "scores",
                                        NULL};
  table t = {.all = {0}}, f = {.all = {0}};
  int code = read_table(c, truth, members, &t);
  if (code == EXIT_DONE) code = read_table(c, scores, members, &f);
  if (code == EXIT_DONE)
    code = strcmp(metric, "iou") == 0 ? iou(c, &t, &f) : match_ratio(c, &t, &f);
  lapis_arrays_free(&t.all);
  lapis_arrays_free(&f.all);
  return code;
}
