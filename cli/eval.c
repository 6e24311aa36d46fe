/* eval.c - lapis eval METRIC --truth F --scores F. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval_names.h"

static const cli_option options[] = {
    {"truth", 0, "FILE",
     "the known answers: a .npy or .csv file, or FILE.npz:NAME (default: its "
     "Y)"},
    {"scores", 0, "FILE",
     "what was answered (.npz: default member scores, or labels where the "
     "metric compares labels)"},
    CLI_TABLE_ROWS,
    {NULL, 0, NULL, NULL}};

/* FILE.npz -> FILE.npz:member; anything else as it is. */
static char *with_member(const char *spec, const char *member)
{
  size_t n = strlen(spec), room = n + strlen(member) + 2;
  bool bare = n > 4 && strcmp(spec + n - 4, ".npz") == 0;
  char *out = malloc(room);
  if (out == NULL) return NULL;
  snprintf(out, room, bare ? "%s:%s" : "%s", spec, member);
  return out;
}

lapis_status eval_read(lapis_dataset *ds, const char *as, const char *spec,
                       const char *member, const lapis_table_options *opt)
{
  char *full = with_member(spec, member);
  if (full == NULL) return LAPIS_ENOMEM;
  lapis_status s = lapis_dataset_read_member(ds, as, full, opt);
  free(full);
  return s;
}

static void print_text(const char *metric, const lapis_mat *names,
                       const double *per_class, int64_t classes, double mean)
{
  printf("%s %.6f\n", metric, mean);
  bool any = false; /* metrics of all classes together have none */
  for (int64_t k = 0; k < classes; k++) any |= !isnan(per_class[k]);
  for (int64_t k = 0; any && classes > 1 && k < classes; k++)
    if (names->cols == classes)
      printf("  %-20s %.6f\n", ((const char *const *)names->val)[k],
             per_class[k]);
    else
      printf("  class %-14lld %.6f\n", (long long)k + 1, per_class[k]);
}

static void print_values(const char *metric, const lapis_mat *names,
                         const double *per_class, int64_t classes, double mean)
{
  lapis_json *to = lapis_json_object(), *list = lapis_json_list();
  lapis_json *called = lapis_json_list();
  for (int64_t k = 0; k < classes; k++) {
    lapis_json_put_number(list, NULL, per_class[k]);
    if (names->cols == classes)
      lapis_json_put_text(called, NULL, ((const char *const *)names->val)[k]);
  }
  lapis_json_put_text(to, "metric", metric);
  lapis_json_put_number(to, "mean", mean);
  lapis_json_put(to, "per_class", list);
  if (names->cols == classes)
    lapis_json_put(to, "classes", called);
  else
    lapis_json_free(called);
  print_json(to);
}

/* A metric that no class has is an answer (null), but not a silent one. */
static void warn_of_none(const char *metric, double mean)
{
  if (isnan(mean))
    fprintf(stderr,
            "lapis: eval: there is no value of %s: the known truth is all of "
            "one kind, all 0, or there is none\n",
            metric);
}

static int evaluate(cli *c, lapis_dataset *ds, const char *metric)
{
  const lapis_data *data = lapis_dataset_data(ds);
  int64_t classes;
  lapis_status s = lapis_metric_classes(c->ctx, metric, &data->Y, &classes);
  if (s < 0) return cli_fail_status(c, s);
  double *per_class = malloc(((size_t)classes + 1) * sizeof *per_class), mean;
  if (per_class == NULL) return cli_fail(EXIT_FAILED, "out of memory");
  s = lapis_metric(c->ctx, metric, &data->Y, &data->X, per_class, &mean);
  if (s >= 0) warn_of_none(metric, mean);
  lapis_mat names = lapis_dataset_text(ds, "class_names");
  if (s >= 0 && c->json) print_values(metric, &names, per_class, classes, mean);
  if (s >= 0 && !c->json) print_text(metric, &names, per_class, classes, mean);
  free(per_class);
  return s < 0 ? cli_fail_status(c, s) : EXIT_DONE;
}

static int run(cli *c)
{
  const char *truth = args_get(&c->args, "truth");
  const char *scores = args_get(&c->args, "scores");
  if (c->args.n_words != 1 || truth == NULL || scores == NULL)
    return cli_fail(EXIT_MISUSE,
                    "eval: name one metric, --truth FILE and --scores FILE");
  if (eval_is_match(c->args.word[0]))
    return eval_match(c, c->args.word[0], truth, scores);
  lapis_dataset *ds;
  const lapis_metric_kind *kind;
  lapis_status s = lapis_metric_find(c->ctx, c->args.word[0], &kind);
  if (s < 0)
    return cli_fail(EXIT_MISUSE, "eval: %s, match-ratio, iou",
                    lapis_ctx_error(c->ctx));
  bool labels = kind->reads == LAPIS_METRIC_LABELS;
  lapis_table_options table;
  int code = table_from_args(c, &table);
  if (code != EXIT_DONE) return code;
  s = lapis_dataset_new(c->ctx, &ds);
  if (s >= 0) s = eval_read(ds, "Y", truth, "Y", &table);
  if (s >= 0)
    s = eval_read(ds, "X", scores, labels ? "labels" : "scores", &table);
  if (s >= 0) s = lapis_dataset_finish(ds);
  code = s < 0 ? cli_fail_status(c, s) : eval_check_columns(ds, scores);
  if (code == EXIT_DONE) code = evaluate(c, ds, c->args.word[0]);
  lapis_dataset_free(ds);
  return code;
}

const cli_verb verb_eval = {.name = "eval",
                            .synopsis = "eval METRIC --truth F --scores F",
                            .help = "measure answers against the truth",
                            .options = options,
                            .run = run};
