/* demo.c - lapis demo: who wears sunglasses, on the bundled CMU faces.
 *
 * What a user would type himself, one line after the other: each is shown, then
 * run, and can be typed again. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/command.h"

static const cli_option options[] = {
    {"output", 'o', "DIR", "the folder that is written to (default: demo)"},
    {NULL, 0, NULL, NULL}};

/* FACES: the folder of the bundled faces; DIR: the one that is written to. */
typedef struct step {
  const char *says, *word[24], *to;
} step;

static const step steps[] = {
    {"Who wears sunglasses?  624 pictures of 20 people; the labels of 8 of "
     "them "
     "are\ngiven, and those of the others are kept back in hidden.csv.",
     {"lapis",
      "label",
      "FACES/images",
      "--labels",
      "FACES/labels.csv",
      "--target",
      "sunglasses",
      "--groups",
      "person",
      "--where",
      "--variant",
      "mc1",
      "--cache",
      "DIR/cache",
      "--labels-out",
      "DIR/labels.csv",
      "--result",
      "DIR/answers.npz",
      "-o",
      "DIR/report.html"},
     "DIR/answers.txt"},
    {"How many of the labels that were kept back are right?",
     {"lapis", "eval", "accuracy", "--truth", "FACES/hidden.csv", "--id",
      "name", "--target", "sunglasses", "--scores", "DIR/answers.npz"},
     NULL},
    {"How well do the scores put those with sunglasses before the others?  1 "
     "is "
     "perfect,\n0.5 chance.",
     {"lapis", "eval", "auroc", "--truth", "FACES/hidden.csv", "--id", "name",
      "--target", "sunglasses", "--scores", "DIR/answers.npz"},
     NULL}};

enum { MOST_WORDS = 64, PATH_BYTES = 4096 };
typedef struct line {
  char faces[PATH_BYTES];
  const char *dir;
  int count;
  char word[MOST_WORDS][PATH_BYTES];
} line;

/* The folder in LAPIS_SHARE, beside the executable, installed, or in the source
 * tree. */
static bool find_faces(char *path, size_t size)
{
  char self[PATH_BYTES];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  self[length > 0 ? length : 0] = '\0';
  char *slash = strrchr(self, '/');
  if (slash != NULL) *slash = '\0';
  const char *share = getenv("LAPIS_SHARE");
  const char *const roots[][2] = {{share != NULL ? share : "", ""},
                                  {self, "/../share/lapis"},
                                  {LAPIS_INSTALL_DATA, ""},
                                  {LAPIS_SOURCE_DATA, ""}};
  for (size_t i = share == NULL; i < sizeof roots / sizeof *roots; i++) {
    int n = snprintf(path, size, "%s%s/cmu_faces", roots[i][0], roots[i][1]);
    if (n > 0 && (size_t)n < size && access(path, R_OK) == 0) return true;
  }
  return false;
}

static void spell(const line *l, const char *word, char *to)
{
  bool faces = strncmp(word, "FACES/", 6) == 0;
  bool dir = strncmp(word, "DIR/", 4) == 0;
  const char *folder = faces ? l->faces : dir ? l->dir : "";
  snprintf(to, PATH_BYTES, "%s%s", folder,
           faces || dir ? strchr(word, '/') : word);
}

/* What was given to the demo is meant for its lines. */
static void write_line(line *l, const cli *c, const step *s)
{
  l->count = 0;
  for (int i = 0; s->word[i] != NULL; i++)
    spell(l, s->word[i], l->word[l->count++]);
  for (int i = 0; i < c->args.n_given && l->count + 2 < MOST_WORDS; i++) {
    const char *name = c->args.given[i].name, *value = c->args.given[i].value;
    if (strcmp(name, "output") == 0) continue;
    snprintf(l->word[l->count++], PATH_BYTES, "--%s", name);
    if (strcmp(value, "true") != 0)
      snprintf(l->word[l->count++], PATH_BYTES, "%s", value);
  }
}

/* Ctrl-C is for the line that runs; its exit code is ours. */
static int run_line(const line *l, const char *out)
{
  char *argv[MOST_WORDS + 1];
  int status = 0;
  for (int i = 0; i < l->count; i++) argv[i] = (char *)l->word[i];
  argv[l->count] = NULL;
  pid_t child = fork();
  if (child == 0) {
    if (out != NULL && freopen(out, "w", stdout) == NULL) _exit(EXIT_INPUT);
    execv("/proc/self/exe", argv);
    _exit(EXIT_FAILED);
  }
  if (child < 0)
    return cli_fail(EXIT_FAILED, "demo: a process could not be started:  %s",
                    strerror(errno));
  struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
  (void)sigaction(SIGINT, &ignore, &before);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  (void)sigaction(SIGINT, &before, NULL);
  return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_INTERRUPTED;
}

static int run_step(const cli *c, line *l, const step *s)
{
  char out[PATH_BYTES];
  write_line(l, c, s);
  printf("%s\n$", s->says);
  for (int i = 0; i < l->count; i++) shell_word(stdout, l->word[i]);
  if (s->to != NULL) {
    spell(l, s->to, out);
    printf(" >");
    shell_file(stdout, out);
  }
  printf("\n");
  fflush(stdout);
  int code = run_line(l, s->to == NULL ? NULL : out);
  printf("\n");
  return code;
}

static int run(cli *c)
{
  line *l = malloc(sizeof *l);
  if (l == NULL) return cli_fail(EXIT_FAILED, "out of memory");
  const char *dir = args_get(&c->args, "output");
  l->dir = dir == NULL ? "demo" : dir;
  int code = EXIT_DONE;
  if (c->json)
    code = cli_fail(EXIT_MISUSE, "demo: --json is for the commands that demo "
                                 "runs; run one of them yourself with --json");
  else if (!find_faces(l->faces, sizeof l->faces))
    code = cli_fail(EXIT_INPUT, "demo: the bundled faces are not there; "
                                "LAPIS_SHARE names the folder of cmu_faces");
  else if (mkdir(l->dir, 0777) != 0 && errno != EEXIST)
    code =
        cli_fail(EXIT_INPUT, "%s: cannot be made: %s", l->dir, strerror(errno));
  for (size_t i = 0; code == EXIT_DONE && i < sizeof steps / sizeof *steps; i++)
    code = run_step(c, l, &steps[i]);
  if (code == EXIT_DONE)
    printf("The labels: %s/labels.csv; pictures, places and doubts, to look at "
           "in a browser:\n  %s/report.html\n",
           l->dir, l->dir);
  free(l);
  return code;
}

const cli_verb verb_demo = {
    .name = "demo",
    .synopsis = "demo [-o DIR]",
    .help = "try LAPIS on real faces: who wears sunglasses?",
    .options = options,
    .run = run};
