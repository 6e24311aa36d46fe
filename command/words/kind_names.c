/* kind_names.c - kinds of features as they are listed: sift-bow,onnx:F.onnx. */
#include <string.h>

#include "command/command.h"

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
    size_t size, file;
    const lapis_method *kind = lapis_feature_named(at, &size, &file);
    if (out->count == MAX_KINDS)
      return cli_fail(EXIT_MISUSE,
                      "%s: more than %d kinds of features; name fewer",
                      c->verb->name, MAX_KINDS);
    if (kind == NULL) return no_kind(c->verb->name, at, size);
    at += size;
    char **net = &out->file[out->count][KIND_NET];
    if (file > 0 && (*net = strndup(at - file, file)) == NULL)
      return cli_fail(EXIT_FAILED, "out of memory");
    out->kind[out->count++] = kind;
    if (*at == '\0') return EXIT_DONE;
  }
}

bool kinds_have(const cli_kinds *k, const char *option)
{
  for (int i = 0; i < k->count; i++)
    if (lapis_param_find(k->kind[i], option) != NULL) return true;
  return false;
}
