/* shell.c - words as a shell reads them back, for lines to be pasted. */
#include <stdlib.h>
#include <string.h>

#include "command/command.h"

void shell_word(FILE *to, const char *word)
{
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUV"
                              "WXYZ0123456789_-+=@%:,./";
  bool bare = *word != '\0' && word[strspn(word, plain)] == '\0';
  fputc(' ', to);
  if (bare) {
    fputs(word, to);
    return;
  }
  fputc('\'', to); /* within '' only ' is special */
  for (; *word != '\0'; word++)
    fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, to);
  fputc('\'', to);
}

void shell_file(FILE *to, const char *path)
{
  char named[4096];
  bool option = path[0] == '-' && path[1] != '\0';
  if (option) snprintf(named, sizeof named, "./%s", path);
  shell_word(to, option ? named : path);
}

/* A switch stands for itself. */
static bool is_switch(const cli *c, const char *name)
{
  const lapis_param *p = lapis_param_find(c->method, name);
  if (p != NULL) return p->type == LAPIS_PARAM_BOOL;
  for (int t = 0; t < 2; t++)
    for (const cli_option *o = t == 0 ? c->verb->options : common_options;
         o->name != NULL; o++)
      if (strcmp(o->name, name) == 0) return !option_takes_value(c->verb, o);
  return false;
}

void shell_option(FILE *to, const cli *c, const char *name, const char *value)
{
  bool letter = strlen(name) == 1 && lapis_param_find(c->method, name) == NULL;
  fprintf(to, " %s%s", letter ? "-" : "--", name);
  if (!is_switch(c, name)) shell_word(to, value);
}

char *shell_command(const cli *c)
{
  char *text = NULL;
  size_t size;
  FILE *to = open_memstream(&text, &size);
  if (to == NULL) return NULL;
  fprintf(to, "lapis %s", c->verb->name);
  if (c->model != NULL)
    shell_file(to, c->model_path);
  else if (c->verb->pipeline == NULL && c->method != NULL)
    fprintf(to, " %s", c->method->name);
  for (int i = 0; i < c->args.n_words; i++) shell_file(to, c->args.word[i]);
  for (int i = 0; i < c->args.n_given; i++)
    if (strcmp(c->args.given[i].name, "jobs") != 0) /* nothing depends on it */
      shell_option(to, c, c->args.given[i].name, c->args.given[i].value);
  if (fclose(to) == 0) return text;
  free(text);
  return NULL;
}
