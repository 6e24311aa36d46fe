/* kinds.c - kinds of features as they are listed, sift-bow,texton-bow, and the
 * settings of each. */
#include <stdlib.h>
#include <string.h>

#include "command/command.h"

/* ---- settings -----------------------------------------------------------*/
/* "words.npz" of one of several kinds: "words.sift-bow.npz". */
static char *name_of_kind(const char *path, const char *kind)
{
  const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
  if (dot == NULL || (slash != NULL && dot < slash)) dot = path + strlen(path);
  size_t size = strlen(path) + strlen(kind) + 2;
  char *out = malloc(size);
  if (out != NULL)
    snprintf(out, size, "%.*s.%s%s", (int)(dot - path), path, kind, dot);
  return out;
}

/* Each kind has words of its own, and a file for them. */
static int name_vocabularies(cli *c, cli_kinds *k, int i)
{
  static const char *const options[] = {"vocabulary", "save-vocabulary"};
  for (int f = KIND_WORDS; f <= KIND_SAVED_WORDS; f++) {
    const char *path = args_get(&c->args, options[f]);
    cli_kinds one = {.count = 1, .kind = {k->kind[i]}};
    if (path == NULL || k->count == 1 || !kinds_have(&one, options[f]))
      continue;
    char *own = k->file[i][f] = name_of_kind(path, k->kind[i]->name);
    if (own == NULL) return cli_fail(EXIT_FAILED, "out of memory");
    if (f == KIND_SAVED_WORDS) {
      int code = check_writable(c, own);
      if (code != EXIT_DONE) return code;
    }
    lapis_status s =
        lapis_settings_set(c->ctx, k->kind[i], k->settings[i], options[f], own);
    if (s < 0) return cli_fail_status(c, s);
  }
  return EXIT_DONE;
}

int kinds_settings(cli *c, cli_kinds *k)
{
  int code = EXIT_DONE;
  for (int i = 0; i < k->count && code == EXIT_DONE; i++) {
    code = settings_beside(c, k->kind[i], &k->settings[i]);
    const char *net = k->file[i][KIND_NET];
    if (code == EXIT_DONE && net != NULL &&
        lapis_settings_set(c->ctx, k->kind[i], k->settings[i], "net", net) < 0)
      code = cli_fail_status(c, LAPIS_EINVAL);
    if (code == EXIT_DONE) code = name_vocabularies(c, k, i);
  }
  return code;
}

lapis_json *kinds_json(cli *c, const cli_kinds *k, const lapis_solver *s)
{
  lapis_json *to = lapis_json_object();
  for (int i = 0; i < k->count; i++)
    lapis_json_put(
        to, k->kind[i]->name,
        settings_json(c, k->kind[i], lapis_features_joined_settings(s, i)));
  return to;
}

void kinds_free(cli_kinds *k)
{
  for (int i = 0; i < k->count; i++) {
    free(k->settings[i]);
    for (int f = 0; f < KIND_FILES; f++) free(k->file[i][f]);
  }
}
