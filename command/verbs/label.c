/* label.c - lapis label IMAGE... --labels F.csv: who or what is in each. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/answers/candidate_sheet.h"
#include "command/command.h"

static const cli_option options[] = {
    {"output", 'o', "F.html",
     "write a page: pictures, places, labels in doubt; F.csv, F.tsv: a table "
     "of answers: given or filled, doubts, scores"},
    {"result", 0, "F.npz", "write scores, labels, names, boxes, suspects, ..."},
    {"labels-out", 0, "F.csv",
     "write all labels, as a table that --labels reads"},
    CLI_JOBS_ROW("what chooses settings and looks for wrong labels"),
    CLI_IMAGE_ROWS,
    {NULL, 0, NULL, NULL}};

/* What a run holds, freed in one place. */
typedef struct job {
  lapis_label_settings *settings;
  cli_kinds kinds;
  lapis_array list;
  lapis_solver *flow;
} job;

/* ---- options of the kind of features ------------------------------------*/
static bool in_options(const cli_option *o, const char *name)
{
  for (; o->name != NULL; o++)
    if (strcmp(o->name, name) == 0) return true;
  return false;
}

/* Every kind's options are understood; those of another kind make no sense. */
static int check_options(cli *c, const cli_kinds *kinds, const char *listed)
{
  for (int i = 0; i < c->args.n_given; i++) {
    const char *name = c->args.given[i].name;
    if (in_options(common_options, name) || in_options(options, name) ||
        lapis_param_find(c->method, name) || kinds_have(kinds, name))
      continue;
    return kinds->count == 0
               ? cli_fail(EXIT_MISUSE,
                          "label: --%s is of features made here, and %s was "
                          "made elsewhere",
                          name, listed)
               : cli_fail(
                     EXIT_MISUSE,
                     "label: --%s is not an option of %s; 'lapis features %s "
                     "--help' lists those",
                     name, listed, listed);
  }
  return EXIT_DONE;
}

static int list_images(cli *c, job *j)
{
  lapis_status s =
      lapis_image_list(c->ctx, c->args.word, c->args.n_words, &j->list);
  return s < 0 ? cli_fail_status(c, s) : EXIT_DONE;
}

static int read_settings(cli *c, job *j)
{
  void *settings = NULL;
  int code = settings_from_args(c, &settings);
  j->settings = settings;
  if (code != EXIT_DONE) return code;
  if (j->settings->features == NULL)
    j->settings->features = lapis_label_features(
        c->ctx, j->list.mat.val, j->list.mat.cols, j->settings->where);
  const char *named = j->settings->features;
  if (strcmp(named, "auto") == 0) named = LAPIS_LABEL_AUTO_KINDS;
  if (strncmp(named, "table:", 6) != 0) code = kinds_named(c, named, &j->kinds);
  if (code == EXIT_DONE) code = check_options(c, &j->kinds, named);
  if (code == EXIT_DONE) code = kinds_settings(c, &j->kinds);
  j->settings->kinds = (const void *const *)j->kinds.settings;
  return code;
}

/* ---- the answer as text -------------------------------------------------*/
typedef struct answer {
  lapis_mat names, labels, known, partly, scores, classes, suspects, doubts,
      rather;
  lapis_mat boxes, box_image, box_class, refused;
  lapis_mat by, add, expected; /* of a race */
  lapis_mat kept;              /* of --coverage, or empty */
  lapis_mat asked, margins;    /* of --ask, or empty */
  lapis_mat strays;            /* how many rows name no image, or empty */
} answer;

static answer read_answer(const lapis_solver *f)
{
  return (answer){.names = result_of(f, "names"),
                  .labels = result_of(f, "labels"),
                  .known = result_of(f, "known"),
                  .partly = result_of(f, "partly"),
                  .scores = result_of(f, "scores"),
                  .classes = result_of(f, "classes"),
                  .suspects = result_of(f, "suspect_index"),
                  .doubts = result_of(f, "suspect_margin"),
                  .rather = result_of(f, "suspect_rather"),
                  .by = result_of(f, "by"),
                  .add = result_of(f, "suspect_add"),
                  .expected = result_of(f, "expected_wrong"),
                  .boxes = result_of(f, "boxes"),
                  .box_image = result_of(f, "box_image"),
                  .box_class = result_of(f, "box_class"),
                  .kept = result_of(f, "classes_kept"),
                  .asked = result_of(f, "ask_index"),
                  .margins = result_of(f, "ask_margin"),
                  .strays = result_of(f, "rows_left_out"),
                  .refused = result_of(f, "refused")};
}

/* Of the class that was chosen; of two classes, of the positive one. */
static double score_of(const answer *a, int64_t i)
{
  double best = lapis_mat_at(&a->scores, 0, i);
  for (int64_t c = 1; c < a->scores.rows; c++)
    best = fmax(best, lapis_mat_at(&a->scores, c, i));
  return best;
}

/* Boxes of image i; *at moves behind them. */
static void print_boxes(const answer *a, int64_t i, int64_t *at)
{
  for (;
       *at < a->boxes.cols && lapis_mat_at(&a->box_image, 0, *at) <= (double)i;
       (*at)++) {
    printf("  %.0f,%.0f %.0fx%.0f", lapis_mat_at(&a->boxes, 0, *at),
           lapis_mat_at(&a->boxes, 1, *at), lapis_mat_at(&a->boxes, 2, *at),
           lapis_mat_at(&a->boxes, 3, *at));
    if (a->scores.rows > 1)
      printf(" %s", flow_text_at(&a->classes,
                                 (int64_t)lapis_mat_at(&a->box_class, 0, *at)));
  }
}

/* Where only some labels of an image were given, the one shown is filled. */
static bool is_partly(const answer *a, int64_t i)
{
  return lapis_mat_at(&a->partly, 0, i) > 0;
}

static bool is_given(const answer *a, int64_t i)
{
  return lapis_mat_at(&a->known, 0, i) > 0 && !is_partly(a, i);
}

/* Whether class c is in the set of image i. */
static bool in_set(const answer *a, int64_t i, int64_t c)
{
  bool many = a->kept.rows == 2 * a->classes.cols; /* no and yes of each */
  return lapis_mat_at(&a->kept, many ? 2 * c + 1 : c, i) > 0;
}

static void print_set(const answer *a, int64_t i, int wide)
{
  char *text = NULL;
  size_t size = 0;
  FILE *to = open_memstream(&text, &size);
  if (to == NULL) return;
  for (int64_t c = 0; c < a->classes.cols; c++)
    if (in_set(a, i, c))
      fprintf(to, "%s%s", ftell(to) > 0 ? ";" : "",
              flow_text_at(&a->classes, c));
  fclose(to);
  printf("  ");
  flow_print_text(text, wide);
  free(text);
}

/* Of two classes the second alone has places. */
static void print_where(const answer *a)
{
  printf("  where ");
  if (a->scores.rows == 1) {
    flow_print_text(flow_text_at(&a->classes, a->classes.cols - 1), 0);
    printf(" is ");
  }
  printf("(x,y width x height)");
}

static void print_table(const answer *a)
{
  int wide = flow_longest(&a->names, 5), label = flow_longest(&a->labels, 5);
  int given_wide = a->boxes.cols > 0 ? 5 : 1; /* no blanks at the end */
  for (int64_t i = 0; given_wide == 5 && i < a->names.cols; i++)
    if (is_partly(a, i)) given_wide = 6;
  int64_t box = 0;
  bool boxes = a->boxes.cols > 0, sets = a->kept.cols > 0;
  if (sets) given_wide = 6;
  printf("%-*s  %-*s  %8s  %-*s", wide, "image", label, "label", "score",
         given_wide, "given");
  if (sets) printf("  %-*s", boxes ? label : 3, "set");
  if (boxes) print_where(a);
  putchar('\n');
  for (int64_t i = 0; i < a->names.cols; i++) {
    const char *given = is_given(a, i)    ? "yes"
                        : is_partly(a, i) ? "partly"
                                          : "-";
    flow_print_text(flow_text_at(&a->names, i), wide);
    printf("  ");
    flow_print_text(flow_text_at(&a->labels, i), label);
    printf("  %8.3f  %-*s", score_of(a, i), given_wide, given);
    if (sets) print_set(a, i, boxes ? label : 0);
    print_boxes(a, i, &box);
    putchar('\n');
  }
}

/* The label that suspect k doubts. */
static const char *doubted(const answer *a, int64_t k, int64_t image)
{
  int64_t class_ = (int64_t)lapis_mat_at(&a->suspects, 1, k);
  bool one = a->scores.rows == 1 || a->rather.cols > 0; /* has the image */
  return one ? flow_text_at(&a->labels, image)
             : flow_text_at(&a->classes, class_);
}

/* Where an image may have many labels: which way this one is wrong. */
static const char *way(const answer *a, int64_t k)
{
  if (a->add.cols == 0) return "";
  return lapis_mat_at(&a->add, 0, k) > 0 ? "add " : "remove ";
}

static void print_suspects(const answer *a)
{
  char text[320];
  if (a->expected.cols == 0) return;
  (void)lapis_doubts_text(a->expected.val, text, sizeof text);
  if (*text != '\0') printf("\n%c%s\n", toupper(*text), text + 1);
  if (a->doubts.cols == 0) return;
  printf("\nGiven labels that look wrong, most doubtful first:\n");
  for (int64_t k = 0; k < a->doubts.cols; k++) {
    int64_t image = (int64_t)lapis_mat_at(&a->suspects, 0, k);
    bool rather = a->rather.cols > 0;
    double p = lapis_mat_at(&a->doubts, 0, k);
    printf("  ");
    flow_print_text(flow_text_at(&a->names, image), 0);
    printf("  %s", way(a, k));
    flow_print_text(doubted(a, k, image), 0);
    if (rather) printf(", rather ");
    if (rather) flow_print_text(flow_text_at(&a->rather, k), 0);
    if (!isnan(p)) printf("  wrong with probability %.3f", p);
    putchar('\n');
  }
}

static void print_asked(const answer *a)
{
  if (a->asked.cols == 0) return;
  printf("\nImages whose labels would help most, the least sure first (%s):\n",
         CLI_MARGIN);
  for (int64_t k = 0; k < a->asked.cols; k++) {
    int64_t image = (int64_t)lapis_mat_at(&a->asked, 0, k);
    printf("  ");
    flow_print_text(flow_text_at(&a->names, image), 0);
    printf("  now ");
    flow_print_text(flow_text_at(&a->labels, image), 0);
    printf(", margin %.3f\n", lapis_mat_at(&a->margins, 0, k));
  }
}

/* ---- the answer as JSON -------------------------------------------------*/
static lapis_json *box_json(const answer *a, int64_t k)
{
  static const char *const names[] = {"x", "y", "width", "height", "score"};
  lapis_json *box = lapis_json_object();
  for (int64_t r = 0; r < 5; r++)
    lapis_json_put_number(box, names[r], lapis_mat_at(&a->boxes, r, k));
  if (a->scores.rows > 1)
    lapis_json_put_text(
        box, "class",
        flow_text_at(&a->classes, (int64_t)lapis_mat_at(&a->box_class, 0, k)));
  return box;
}

static lapis_json *image_json(const answer *a, int64_t i, int64_t *at)
{
  lapis_json *one = lapis_json_object(), *scores = lapis_json_list();
  lapis_json *boxes = lapis_json_list();
  lapis_json_put_text(one, "name", flow_text_at(&a->names, i));
  lapis_json_put_text(one, "label", flow_text_at(&a->labels, i));
  lapis_json_put_bool(one, "given", is_given(a, i));
  lapis_json_put_bool(one, "partly_given", is_partly(a, i));
  for (int64_t c = 0; c < a->scores.rows; c++)
    lapis_json_put_number(scores, NULL, lapis_mat_at(&a->scores, c, i));
  lapis_json_put(one, "scores", scores);
  lapis_json *set = lapis_json_list();
  for (int64_t c = 0; a->kept.cols > 0 && c < a->classes.cols; c++)
    if (in_set(a, i, c))
      lapis_json_put_text(set, NULL, flow_text_at(&a->classes, c));
  if (a->kept.cols > 0)
    lapis_json_put(one, "set", set);
  else
    lapis_json_free(set);
  for (;
       *at < a->boxes.cols && lapis_mat_at(&a->box_image, 0, *at) <= (double)i;
       (*at)++)
    lapis_json_put(boxes, NULL, box_json(a, *at));
  if (a->boxes.cols > 0)
    lapis_json_put(one, "boxes", boxes);
  else
    lapis_json_free(boxes);
  return one;
}

static lapis_json *suspect_json(const answer *a, int64_t k)
{
  lapis_json *one = lapis_json_object();
  int64_t image = (int64_t)lapis_mat_at(&a->suspects, 0, k);
  lapis_json_put_text(one, "name", flow_text_at(&a->names, image));
  lapis_json_put_text(one, "label", doubted(a, k, image));
  if (a->rather.cols > 0)
    lapis_json_put_text(one, "rather", flow_text_at(&a->rather, k));
  if (a->add.cols > 0)
    lapis_json_put_text(one, "do",
                        lapis_mat_at(&a->add, 0, k) > 0 ? "add" : "remove");
  lapis_json_put_number(one, "probability_wrong",
                        lapis_mat_at(&a->doubts, 0, k));
  return one;
}

static void put_asked(lapis_json *to, const answer *a)
{
  lapis_json *list = lapis_json_list();
  for (int64_t k = 0; k < a->asked.cols; k++) {
    lapis_json *one = lapis_json_object();
    int64_t image = (int64_t)lapis_mat_at(&a->asked, 0, k);
    lapis_json_put_text(one, "name", flow_text_at(&a->names, image));
    lapis_json_put_number(one, "margin", lapis_mat_at(&a->margins, 0, k));
    lapis_json_put(list, NULL, one);
  }
  lapis_json_put(to, "ask", list);
}

/* Kinds of features that were compared, and the one that answers. */
static void put_kinds(lapis_json *to, const lapis_solver *f)
{
  static const char *const figure[] = {"log_loss", "error",  "auroc",
                                       "accuracy", "behind", "behind_error"};
  lapis_mat kinds = result_of(f, "kinds"), judged, chosen;
  if (kinds.cols == 0) return;
  judged = result_of(f, "kinds_judged");
  chosen = result_of(f, "features");
  lapis_json *list = lapis_json_list();
  for (int64_t k = 0; k < kinds.cols; k++) {
    lapis_json *one = lapis_json_object();
    lapis_json_put_text(one, "features", flow_text_at(&kinds, k));
    for (int i = 0; i < 6; i++)
      lapis_json_put_number(one, figure[i], lapis_mat_at(&judged, i, k));
    lapis_json_put(list, NULL, one);
  }
  lapis_json_put_text(to, "features", flow_text_at(&chosen, 0));
  lapis_json_put(to, "kinds", list);
}

static cli_candidates candidates(const lapis_solver *f)
{
  lapis_mat chosen = result_of(f, "chosen");
  return (cli_candidates){
      .names = result_of(f, "candidates"),
      .figures = result_of(f, "candidate_figures"),
      .chosen = chosen.cols > 0 ? (int64_t)lapis_mat_at(&chosen, 0, 0) : -1};
}

static int print_answer_json(cli *c, const job *j, const answer *a)
{
  lapis_json *to = flow_json(c, j->flow, j->settings);
  lapis_json *images = lapis_json_list(), *suspects = lapis_json_list();
  int64_t at = 0;
  for (int64_t i = 0; i < a->names.cols; i++)
    lapis_json_put(images, NULL, image_json(a, i, &at));
  for (int64_t k = 0; k < a->doubts.cols; k++)
    lapis_json_put(suspects, NULL, suspect_json(a, k));
  lapis_json_put(to, "classes", flow_texts_json(&a->classes));
  lapis_json_put(to, "images", images);
  lapis_json_put(to, "suspects", suspects);
  if (j->settings->ask > 0) put_asked(to, a);
  if (a->by.cols > 0) lapis_json_put_text(to, "by", flow_text_at(&a->by, 0));
  cli_candidates of = candidates(j->flow);
  if (of.names.cols > 0) lapis_json_put(to, "candidates", candidates_json(&of));
  put_kinds(to, j->flow);
  if (a->expected.cols > 0) {
    lapis_json_put_number(to, "wrong_at_least",
                          lapis_mat_at(&a->expected, 0, 0));
    lapis_json_put_number(to, "wrong_at_most",
                          lapis_mat_at(&a->expected, 0, 1));
  }
  return print_json(to);
}

/* ---- a run --------------------------------------------------------------*/
static int write_files(cli *c, const job *j)
{
  const char *result = args_get(&c->args, "result");
  const char *table = args_get(&c->args, "labels-out");
  const char *page = args_get(&c->args, "output");
  lapis_status s = LAPIS_OK;
  if (result != NULL)
    s = lapis_flow_write(j->flow, LAPIS_FLOW_ARRAYS, result, NULL);
  if (s >= 0 && table != NULL)
    s = lapis_flow_write(j->flow, LAPIS_FLOW_TABLE, table, NULL);
  if (s >= 0 && page != NULL) s = flow_write_output(c, j->flow, page);
  return s < 0 ? cli_fail_status(c, s) : EXIT_DONE;
}

static int finish(cli *c, const job *j, lapis_status status)
{
  answer a = read_answer(j->flow);
  cli_wipe_bar(c);
  cli_candidates of = candidates(j->flow);
  if (!c->quiet) candidates_print(&of);
  flow_print_refused(c, &a.refused);
  if (a.labels.cols == 0)
    return cli_fail(EXIT_FAILED,
                    "label: stopped (%s) before there were labels; give a "
                    "larger --time-limit%s",
                    lapis_status_name(status), flow_kept(c));
  int code = write_files(c, j);
  if (code != EXIT_DONE) return code;
  if (c->json) {
    code = print_answer_json(c, j, &a);
  } else {
    print_table(&a);
    print_suspects(&a);
    print_asked(&a);
  }
  if (code != EXIT_DONE) return code;
  if (a.refused.cols > 0)
    return cli_fail(EXIT_INPUT, "label: %lld of %lld images were left out",
                    (long long)a.refused.cols, (long long)j->list.mat.cols);
  if (a.strays.cols > 0)
    return cli_fail(EXIT_INPUT,
                    "label: rows of %s that name none of the images were left "
                    "out: %.0f",
                    j->settings->labels, lapis_mat_at(&a.strays, 0, 0));
  return cli_exit_code(c, status);
}

static int work(cli *c, job *j)
{
  lapis_status s = lapis_label_new(c->ctx, j->list.mat.val, j->list.mat.cols,
                                   j->settings, &j->flow);
  if (s >= 0) s = lapis_solve(j->flow);
  if (s == LAPIS_CANCELLED || s == LAPIS_ESTOPPED) return flow_interrupted(c);
  if (s < 0) return cli_fail_status(c, s);
  return finish(c, j, s);
}

static int run(cli *c)
{
  job j = {.settings = NULL};
  if (c->args.n_words == 0)
    return cli_fail(EXIT_MISUSE, "label: name images, or folders of them");
  int code = check_result(c, args_get(&c->args, "result"));
  if (code == EXIT_DONE)
    code = check_table(c, args_get(&c->args, "labels-out"));
  if (code == EXIT_DONE)
    code = check_page(c, args_get(&c->args, "output"), true);
  if (code == EXIT_DONE)
    code = check_writable(c, args_get(&c->args, "save-vocabulary"));
  if (code == EXIT_DONE)
    code = check_writable(c, args_get(&c->args, "checkpoint"));
  if (code == EXIT_DONE) code = list_images(c, &j);
  if (code == EXIT_DONE) code = read_settings(c, &j);
  if (code == EXIT_DONE) code = work(c, &j);
  lapis_solver_free(j.flow);
  lapis_array_free(&j.list);
  kinds_free(&j.kinds);
  free(j.settings);
  return code;
}

const cli_verb verb_label = {
    .name = "label",
    .synopsis = "label IMAGE... --labels F.csv|--folder-is-class [-o F.html]",
    .help = "label all images from the labels of some, and find wrong labels",
    .options = options,
    .pipeline = "label",
    .also_at = lapis_feature_at,
    .run = run};
