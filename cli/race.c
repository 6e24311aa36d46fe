/* race.c - settings that nobody gave: the race on the command line. */
#include "race.h"

#include <math.h>
#include <string.h>

enum { SHOWN = 5 };

/* ---- what is stated -----------------------------------------------------*/
static unsigned stated(const cli *c)
{
  static const struct {
    const char *name;
    unsigned bit;
  } all[] = {{"labels", LAPIS_STATED_LABELS},
             {"lambda", LAPIS_STATED_LAMBDA},
             {"gamma", LAPIS_STATED_GAMMA},
             {"mu", LAPIS_STATED_MU},
             {"mu-rel", LAPIS_STATED_MU}};
  unsigned bits = 0;
  for (size_t k = 0; k < sizeof all / sizeof *all; k++)
    if (args_get(&c->args, all[k].name) != NULL) bits |= all[k].bit;
  return bits;
}

static int read_threshold(const cli *c, bool *is_auto, bool *given)
{
  const char *text = args_get(&c->args, "threshold");
  *given = text != NULL;
  *is_auto = text == NULL || strcmp(text, "auto") == 0;
  if (*is_auto || strcmp(text, "fixed") == 0) return EXIT_DONE;
  return cli_fail(EXIT_MISUSE, "--threshold '%s' is neither auto nor fixed",
                  text);
}

/* NULL: whoever is best. */
static int read_by(const cli *c, const char **by)
{
  static const char *const word[] = {"mc", "linear", "trees", "both", "auto"};
  const char *text = args_get(&c->args, "by");
  *by = "mc";
  if (text == NULL) return EXIT_DONE;
  int k = 0;
  while (k < 5 && strcmp(text, word[k]) != 0) k++;
  if (k == 5)
    return cli_fail(EXIT_MISUSE,
                    "--by '%s' is none of mc, linear, trees, both, auto", text);
  *by = k == 4 ? NULL : word[k];
  if (k == 0 || (stated(c) & LAPIS_STATED_MU) == 0) return EXIT_DONE;
  return cli_fail(EXIT_MISUSE,
                  "--by %s compares what LAPIS chooses, and --mu or --mu-rel "
                  "states the problem; give one of them",
                  text);
}

/* ---- what is said -------------------------------------------------------*/
static void say_hidden(const lapis_race *race)
{
  static const char *const what[] = {[LAPIS_FOLDS_OF_ROWS] = "whole rows",
                                     [LAPIS_FOLDS_OF_GROUPS] = "whole groups",
                                     [LAPIS_FOLDS_OF_CELLS] = "single cells"};
  lapis_race_hidden h = lapis_race_what(race);
  fprintf(stderr,
          "lapis: mc: hid %lld known labels, %s, in %lld folds, to compare "
          "settings; log-loss: less is better, guessing has %.4f\n",
          (long long)h.labels, what[h.of], (long long)h.folds, h.loss);
  if (h.widened > 0)
    fprintf(stderr,
            "lapis: mc: the best stood at an end of the values tried, so %d "
            "more were tried beyond it\n",
            h.widened);
}

static const char *called(const lapis_runner *x)
{
  if (strcmp(x->method, "both") == 0 || strcmp(x->method, "plain") == 0)
    return "mean";
  if (strcmp(x->method, "linear") != 0) return x->method;
  return strstr(x->settings, "nystrom:") != NULL ? "kernel logistic regression"
                                                 : "logistic regression";
}

static void say_runner(int place, const lapis_runner *x)
{
  bool mean = strcmp(called(x), "mean") == 0;
  fprintf(stderr,
          "  %2d  log-loss %.4f +- %.4f  AUROC %.4f  accuracy %.4f  %s%s %s\n",
          place, x->loss, x->error, x->auroc, x->accuracy, called(x),
          mean ? " of" : "", x->settings);
}

/* The best of the plain methods. */
static int plain_of(const lapis_race *race)
{
  int linear = lapis_race_best(race, "linear");
  int trees = lapis_race_best(race, "trees");
  if (linear < 0 || trees < 0) return linear < 0 ? trees : linear;
  return linear < trees ? linear : trees;
}

/* How far the best of the other family is from who answers, and whether that
 * means much. */
static void say_other(const lapis_race *race, int best, int other)
{
  double error, by = lapis_race_difference(race, other, best, &error);
  lapis_runner x = lapis_race_at(race, other);
  fprintf(stderr,
          "lapis: mc: %s on the same labels: log-loss %.4f, AUROC %.4f, "
          "accuracy %.4f; %s by %.4f +- %.4f, %s\n",
          called(&x), x.loss, x.auroc, x.accuracy, by > 0 ? "worse" : "better",
          fabs(by), error, fabs(by) > 2 * error ? "clear" : "a toss-up");
  if (by < -2 * error)
    fprintf(stderr, "lapis: mc: --by auto answers with who is best\n");
}

static void say_command(const cli *c, const char *settings)
{
  fprintf(stderr, "lapis: mc: the same again: lapis fit mc");
  for (int i = 0; i < c->args.n_words; i++) shell_file(stderr, c->args.word[i]);
  for (int i = 0; i < c->args.n_given; i++) {
    const char *name = c->args.given[i].name;
    size_t size = strlen(name);
    const char *at = strstr(settings, name);
    bool said =
        at != NULL && at > settings + 1 && at[-1] == '-' && at[size] == ' ';
    if (said || strcmp(name, "threshold") == 0 || strcmp(name, "by") == 0 ||
        strcmp(name, "jobs") == 0)
      continue;
    shell_option(stderr, c, name, c->args.given[i].value);
  }
  fprintf(stderr, " %s --threshold %s\n", settings,
          args_get(&c->args, "threshold") != NULL
              ? args_get(&c->args, "threshold")
              : "auto");
}

static void say_race(const cli *c, const lapis_race *race, int best, bool late)
{
  lapis_runner won = lapis_race_at(race, best);
  bool is_mc = strcmp(won.method, "mc") == 0;
  int other = is_mc ? plain_of(race) : lapis_race_best(race, "mc");
  double least, most;
  lapis_race_accuracy(race, best, &least, &most);
  if (late) fprintf(stderr, "lapis: mc: time ran out before all had run\n");
  say_hidden(race);
  for (int i = 0; i < lapis_race_count(race); i++) {
    if (i >= SHOWN && i != best) continue;
    lapis_runner x = lapis_race_at(race, i);
    say_runner(i + 1, &x);
  }
  fprintf(stderr,
          "lapis: mc: chose %s%s%s (AUROC %.4f, accuracy %.4f on %lld hidden "
          "labels; on new ones %.2f to %.2f, with 95 %% confidence)\n",
          is_mc ? "" : called(&won), is_mc ? "" : ", ", won.settings, won.auroc,
          won.accuracy, (long long)lapis_race_what(race).labels, least, most);
  if (other >= 0) say_other(race, best, other);
  char unsure[512];
  if (*lapis_race_unsure(race, best, unsure, sizeof unsure) != '\0')
    fprintf(stderr, "lapis: warning: mc: %s\n", unsure);
  if (is_mc) say_command(c, won.settings);
}

/* ---- JSON ---------------------------------------------------------------*/
lapis_json *race_json(const lapis_race *race)
{
  lapis_json *list = lapis_json_list();
  for (int i = 0; i < lapis_race_count(race); i++) {
    lapis_runner x = lapis_race_at(race, i);
    double least, most;
    lapis_race_accuracy(race, i, &least, &most);
    lapis_json *to = lapis_json_object();
    lapis_json_put_text(to, "method", x.method);
    lapis_json_put_text(to, "settings", x.settings);
    lapis_json_put_number(to, "log_loss", x.loss);
    lapis_json_put_number(to, "error", x.error);
    lapis_json_put_number(to, "auroc", x.auroc);
    lapis_json_put_number(to, "accuracy", x.accuracy);
    lapis_json_put_number(to, "accuracy_least", least);
    lapis_json_put_number(to, "accuracy_most", most);
    lapis_json_put_number(to, "behind", x.behind);
    lapis_json_put_number(to, "behind_error", x.behind_error);
    lapis_json_put_bool(to, "learnt", x.learnt);
    lapis_json_put(list, NULL, to);
  }
  return list;
}

/* ---- running ------------------------------------------------------------*/
static const char *own_map(const cli *c, const lapis_race *race)
{
  int best = lapis_race_best(race, "mc");
  if (best < 0 || args_get(&c->args, "map") != NULL) return NULL;
  const char *map = lapis_race_map(race, best);
  return strcmp(map, "none") == 0 ? NULL : map;
}

/* Where nothing can be compared, the candidate that decides however Y is
 * written, and the map that all candidates have. */
static void take_first(const cli *c, const lapis_data *data,
                       lapis_mc_settings *settings, const char **map)
{
  unsigned bits = stated(c);
  bool plain = settings->variant == LAPIS_MC_1 && data->X.colptr == NULL;
  if ((bits & LAPIS_STATED_MU) != 0) return;
  if ((bits & LAPIS_STATED_LABELS) == 0) settings->labels = LAPIS_MC_LABELS_PM;
  if (plain && args_get(&c->args, "map") == NULL) *map = "standard";
}

static int nothing_chosen(const cli *c, const char *by, const char *why,
                          const char *map)
{
  bool other = by != NULL && strcmp(by, "mc") != 0; /* auto: mc is one */
  if (other)
    return cli_fail(EXIT_INPUT,
                    "mc: --by %s: %s to compare%s%s; lapis fit %s chooses "
                    "nothing",
                    by, *why ? "too few known labels" : "no time",
                    *why ? ": " : "", why,
                    strcmp(by, "trees") == 0 ? "trees" : "linear");
  if (!c->quiet)
    fprintf(stderr,
            "lapis: warning: mc: %s to choose --mu-rel%s%s; the default "
            "is taken%s%s\n",
            *why ? "too few known labels" : "no time", *why ? ": " : "", why,
            map != NULL ? ", with --map " : "", map != NULL ? map : "");
  return EXIT_DONE;
}

/* Others were compared, but not trees, which take minutes then. */
static int trees_not_tried(const lapis_data *data)
{
  return cli_fail(EXIT_INPUT,
                  "mc: --by trees: trees are not compared with others on so "
                  "many samples (%lld), features and classes; 'lapis fit "
                  "trees' learns from all",
                  (long long)data->X.cols);
}

/* What needs mc itself. */
static int check_other(const cli *c)
{
  const char *suspects = args_get(&c->args, "suspects");
  const char *threshold = args_get(&c->args, "threshold");
  if (suspects != NULL)
    return cli_fail(EXIT_MISUSE, "--suspects asks mc; give it without --by %s",
                    args_get(&c->args, "by"));
  if (threshold != NULL && strcmp(threshold, "fixed") == 0)
    return cli_fail(EXIT_MISUSE,
                    "--threshold fixed is that of mc's coding; with --by %s "
                    "probabilities decide",
                    args_get(&c->args, "by"));
  return EXIT_DONE;
}

int race_settings(cli *c, const lapis_data *data, lapis_mc_settings *settings,
                  lapis_race **out, int *by, const char **map)
{
  bool thresholds, asked;
  const char *wanted = NULL;
  *out = NULL;
  *by = -1;
  *map = NULL;
  int code = read_threshold(c, &thresholds, &asked);
  if (code == EXIT_DONE) code = read_by(c, &wanted);
  bool other =
      code == EXIT_DONE && (wanted == NULL || strcmp(wanted, "mc") != 0);
  if (other) code = check_other(c);
  lapis_race_options o = {.size = sizeof o,
                          .map = args_get(&c->args, "map"),
                          .by_group = data->group != NULL,
                          .stated = stated(c),
                          .linear = true};
  bool whole = (o.stated & LAPIS_STATED_MU) != 0; /* the problem is stated */
  if (code != EXIT_DONE || data->Y.rows == 0) return code;
  if (whole && !(asked && thresholds)) return EXIT_DONE;
  if (whole) {
    o.stated = ~0u;
    o.linear = false;
    if (o.map == NULL) o.map = "none";
  }
  lapis_status s = lapis_race_run(c->ctx, data, settings, &o, out);
  cli_wipe_bar(c);
  if (s == LAPIS_EINVAL) take_first(c, data, settings, map);
  if (s == LAPIS_EINVAL)
    return nothing_chosen(c, wanted, lapis_ctx_error(c->ctx), *map);
  if (s < 0 || s == LAPIS_CANCELLED) return cli_fail_status(c, s);
  int best = lapis_race_best(*out, wanted);
  if (best < 0) {
    bool others = s != LAPIS_TIME_LIMIT && lapis_race_count(*out) > 0;
    lapis_race_free(*out);
    *out = NULL;
    if (others && wanted != NULL && strcmp(wanted, "trees") == 0)
      return trees_not_tried(data);
    take_first(c, data, settings, map);
    return nothing_chosen(c, wanted,
                          s == LAPIS_TIME_LIMIT ? "" : "no fold answers", *map);
  }
  lapis_runner won = lapis_race_at(*out, best);
  if (!c->quiet) say_race(c, *out, best, s == LAPIS_TIME_LIMIT);
  if (strcmp(won.method, "mc") != 0) {
    *by = best;
    return EXIT_DONE;
  }
  *map = own_map(c, *out);
  lapis_race_settings(*out, best, settings);
  if (!thresholds) settings->calibration = (lapis_mat){0};
  return EXIT_DONE;
}
