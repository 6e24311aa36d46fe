/* main.c - a run: its verb, the context, Ctrl-C. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/words/option_rows.h"

static bool want_bar(const char *when)
{
  if (when != NULL && strcmp(when, "always") == 0) return true;
  if (when != NULL && strcmp(when, "never") == 0) return false;
  return isatty(STDERR_FILENO);
}

static int count_given(const cli_args *a, const char *name)
{
  int n = 0;
  for (int i = 0; i < a->n_given; i++) n += strcmp(a->given[i].name, name) == 0;
  return n;
}

static int set_context(cli *c)
{
  static const char *const keys[] = {"seed",    "threads",       "backend",
                                     "kernels", "deterministic", "max-pixels",
                                     "jobs",    "max-unfold",    NULL};
  for (int i = 0; keys[i] != NULL; i++) {
    const char *value = args_get(&c->args, keys[i]);
    if (value == NULL) continue;
    if (strcmp(keys[i], "threads") == 0 && strcmp(value, "0") == 0)
      return cli_fail(EXIT_MISUSE, "--threads 0: a run needs one or more; "
                                   "without --threads it takes all cores");
    lapis_status s = lapis_ctx_set(c->ctx, keys[i], value);
    if (s < 0) return cli_fail_status(c, s);
  }
  if (lapis_ctx_backend(c->ctx) == NULL)
    return cli_fail_status(c, lapis_ctx_status(c->ctx));
  int verbose = count_given(&c->args, "verbose");
  lapis_ctx_set(c->ctx, "verbose", verbose > 1 ? "2" : verbose > 0 ? "1" : "0");
  const char *when = args_get(&c->args, "progress");
  if (when != NULL && strcmp(when, "auto") != 0 &&
      strcmp(when, "always") != 0 && strcmp(when, "never") != 0)
    return cli_fail(EXIT_MISUSE,
                    "--progress '%s' is not one of auto, always, never", when);
  c->quiet = args_get(&c->args, "quiet") != NULL;
  c->json = args_get(&c->args, "json") != NULL;
  c->strict = args_get(&c->args, "strict") != NULL;
  c->bar = want_bar(when);
  return EXIT_DONE;
}

/* --backend, wherever it stands: a model is read while the words are. */
static int look_for_backend(cli *c, char **argv)
{
  static const char name[] = "--backend";
  const size_t size = sizeof name - 1;
  for (char **at = argv; *at != NULL && strcmp(*at, "--") != 0; at++) {
    const char *value = NULL;
    if (strncmp(*at, name, size) != 0) continue;
    if ((*at)[size] == '=') value = *at + size + 1;
    if ((*at)[size] == '\0') value = at[1]; /* NULL behind the last */
    if (value == NULL) continue;
    lapis_status s = lapis_ctx_set(c->ctx, name + 2, value);
    if (s < 0) return cli_fail_status(c, s);
    if (lapis_ctx_backend(c->ctx) == NULL)
      return cli_fail_status(c, lapis_ctx_status(c->ctx));
  }
  return EXIT_DONE;
}

static int run_verb(cli *c, int argc, char **argv)
{
  int code = c->verb->takes_model ? look_for_backend(c, argv) : EXIT_DONE;
  if (code == EXIT_DONE) code = args_parse(c, argc, argv);
  if (code != EXIT_DONE) return code;
  if (args_get(&c->args, "help") != NULL)
    return help_verb(stdout, c->verb, c->method);
  if (c->verb->first_at != NULL && c->method == NULL && !args_no_first(c))
    return cli_fail(EXIT_MISUSE,
                    "%s: name a %s; 'lapis help %s' lists what there is",
                    c->verb->name, c->verb->first, c->verb->name);
  code = set_context(c);
  if (code != EXIT_DONE) return code;
  code = spread_begin(c);
  cli_attach(c);
  if (code == EXIT_DONE) code = interrupt_begin(c);
  if (code == EXIT_DONE) code = c->verb->run(c);
  interrupt_end();
  cli_wipe_bar(c);
  lapis_parts_free(c->folder);
  spread_end(c);
  return code;
}

/* A full disk under stdout must not look like success. */
static int flush_output(int code)
{
  bool bad = fflush(stdout) != 0 || ferror(stdout);
  if (bad && code == EXIT_DONE)
    return cli_fail(EXIT_INPUT, "standard output could not be written; is the "
                                "disk full, or the reader gone?");
  return code;
}

/* OpenBLAS 0.3.21 takes processors newer than itself for a Prescott, unless
 * OPENBLAS_CORETYPE is set at all: then it looks at what the processor can do
 * (2 to 4 times faster).  It decides while loading, so the command starts
 * itself once more. */
static void prefer_a_fast_core(char **argv)
{
  lapis_ctx *ctx = lapis_ctx_new();
  const char *backend = ctx == NULL ? NULL : lapis_ctx_backend(ctx);
  bool slow = backend != NULL && strstr(backend, "Prescott") != NULL;
  lapis_ctx_free(ctx);
  if (!slow || getenv("OPENBLAS_CORETYPE") != NULL) return;
  if (setenv("OPENBLAS_CORETYPE", "", 1) == 0) execv("/proc/self/exe", argv);
}

static int no_verb(const char *word)
{
  char hint[64];
  lapis_nearest near = {.word = word, .size = strlen(word)};
  for (int i = 0; cli_verb_at(i) != NULL; i++)
    lapis_nearest_try(&near, cli_verb_at(i)->name);
  const lapis_method *m = rows_table_find(word);
  bool feature = m != NULL && lapis_feature_find(word) == m;
  if (m != NULL)
    return cli_fail(EXIT_MISUSE, "'%s' is not a verb; write 'lapis %s %s'",
                    word, feature ? "features" : "fit", word);
  return cli_fail(EXIT_MISUSE,
                  "there is no verb '%s'%s; 'lapis --help' lists what there is",
                  word, lapis_nearest_hint(&near, "", hint, sizeof hint));
}

/* Asked for, wherever the words go wrong. */
static bool wants_json(int argc, char **argv)
{
  for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
    if (strcmp(argv[i], "--json") == 0) return true;
  return false;
}

int main(int argc, char **argv)
{
  if (argc < 2) return help_all(stderr, cli_verb_at), EXIT_MISUSE;
  const char *first = argv[1];
  if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0)
    return flush_output(help_all(stdout, cli_verb_at));
  if (strcmp(first, "help") == 0)
    return flush_output(help_print(cli_verb_at, argc - 2, argv + 2));
  bool version = strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0 ||
                 strcmp(first, "version") == 0;
  if (version)
    return printf("lapis %s\n", lapis_version()), flush_output(EXIT_DONE);
  prefer_a_fast_core(argv);
  cli c = {.verb = verb_find(cli_verb_at, first)};
  bool json = wants_json(argc, argv);
  if (c.verb == NULL) {
    int code = no_verb(first);
    if (json) print_failure(code);
    return flush_output(code);
  }
  c.ctx = lapis_ctx_new();
  if (c.ctx != NULL) (void)lapis_ctx_set(c.ctx, "spelling", "options");
  c.args.word = calloc((size_t)argc, sizeof *c.args.word);
  int code = EXIT_FAILED;
  if (c.ctx == NULL || c.args.word == NULL)
    cli_fail(code, "out of memory");
  else
    code = run_verb(&c, argc - 2, argv + 2);
  if (json && c.ranks.rank == 0) print_failure(code);
  config_free(&c);
  free(c.group);
  free(c.weights);
  free(c.priv);
  free(c.drop);
  free(c.args.word);
  lapis_model_free(c.model);
  lapis_ctx_free(c.ctx);
  return flush_output(code);
}
