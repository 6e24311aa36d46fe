/* kinds.c - kinds of features as they are listed, sift-bow,texton-bow, and the
 * settings of each. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const lapis_method *kind_named(const char *name, size_t size)
{
  for (int i = 0; lapis_feature_at(i) != NULL; i++) {
    const char *own = lapis_feature_at(i)->name;
    if (strlen(own) == size && strncmp(own, name, size) == 0)
      return lapis_feature_at(i);
  }
  return NULL;
}

static int no_kind(const char *verb, const char *name, size_t size)
{
  char hint[64];
  lapis_nearest near = {.word = name, .size = size};
  for (int i = 0; lapis_feature_at(i) != NULL; i++)
    lapis_nearest_try(&near, lapis_feature_at(i)->name);
  return cli_fail(EXIT_MISUSE,
                  "%s: there is no kind of features '%.*s'%s; 'lapis features "
                  "--help' lists them, and several are joined by commas",
                  verb, size < 200 ? (int)size : 200, name,
                  lapis_nearest_hint(&near, "", hint, sizeof hint));
}

int kinds_named(cli *c, const char *list, cli_kinds *out)
{
  *out = (cli_kinds){.count = 0};
  for (const char *at = list;; at++) {
    size_t size = strcspn(at, ",");
    const lapis_method *kind = kind_named(at, size);
    if (out->count == MAX_KINDS)
      return cli_fail(EXIT_MISUSE,
                      "%s: more than %d kinds of features; name fewer",
                      c->verb->name, MAX_KINDS);
    if (kind == NULL) return no_kind(c->verb->name, at, size);
    out->kind[out->count++] = kind;
    at += size;
    if (*at == '\0') return EXIT_DONE;
  }
}

bool kinds_have(const cli_kinds *k, const char *option)
{
  for (int i = 0; i < k->count; i++)
    if (lapis_param_find(k->kind[i], option) != NULL) return true;
  return false;
}

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
  for (int f = 0; f < 2; f++) {
    const char *path = args_get(&c->args, options[f]);
    cli_kinds one = {.count = 1, .kind = {k->kind[i]}};
    if (path == NULL || k->count == 1 || !kinds_have(&one, options[f]))
      continue;
    char *own = k->file[i][f] = name_of_kind(path, k->kind[i]->name);
    if (own == NULL) return cli_fail(EXIT_FAILED, "out of memory");
    if (f == 1) {
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
    for (int f = 0; f < 2; f++) free(k->file[i][f]);
  }
}
