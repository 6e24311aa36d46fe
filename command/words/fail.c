/* fail.c - one sentence of a failure, and the exit code it stands for. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"

enum { LONGEST = 8192 };

/* The sentence of the last failure, and whether JSON was printed: one run, one
 * answer. */
static char failure[LONGEST];

static bool answered;

int cli_fail(int code, const char *format, ...)
{
  char shown[4 * LONGEST];
  va_list args;
  va_start(args, format);
  vsnprintf(failure, sizeof failure, format, args);
  va_end(args);
  fprintf(stderr, "lapis: %s\n",
          lapis_text_shown(failure, shown, sizeof shown));
  return code;
}

int print_json(lapis_json *v)
{
  char *text = lapis_json_print(v);
  lapis_json_free(v);
  if (text == NULL) return cli_fail(EXIT_FAILED, "out of memory");
  puts(text);
  free(text);
  answered = true;
  return EXIT_DONE;
}

void print_failure(int code)
{
  if (answered || code == EXIT_DONE || failure[0] == '\0') return;
  lapis_json *v = lapis_json_object();
  lapis_json_put_text(v, "error", failure);
  lapis_json_put_integer(v, "exit", code);
  (void)print_json(v);
}

int cli_exit_code(const cli *c, lapis_status s)
{
  switch (s) {
  case LAPIS_OK:
    return EXIT_DONE;
  case LAPIS_CANCELLED:
    return EXIT_INTERRUPTED;
  case LAPIS_MAX_ITERS:
  case LAPIS_TIME_LIMIT:
  case LAPIS_PRECISION_FLOOR:
  case LAPIS_STOPPED_CHANGING:
    return c->strict ? EXIT_FAILED : EXIT_DONE;
  case LAPIS_EINVAL:
    return EXIT_MISUSE;
  case LAPIS_ENOTBUILT:
    return EXIT_NOTBUILT;
  case LAPIS_ENOMEM:
  case LAPIS_ENUMERIC:
  case LAPIS_ELATE:
  case LAPIS_EDEVICE:
    return EXIT_FAILED;
  case LAPIS_ESTOPPED:
    return EXIT_INTERRUPTED;
  case LAPIS_ESHAPE:
  case LAPIS_EMISSING:
  case LAPIS_EIO:
  case LAPIS_EFORMAT:
  case LAPIS_EDATA:
    return EXIT_INPUT;
  }
  return EXIT_FAILED;
}

/* The library says nothing of it: what stands in the context is of something
 * else, an earlier trial or a test that may fail. */
int cli_interrupted(cli *c, const char *kept)
{
  const char *path = args_get(&c->args, "checkpoint");
  cli_wipe_bar(c);
  if (c->checkpoint != NULL) (void)lapis_checkpoint_write(c->checkpoint);
  atomic_store(&c->ending, true);
  if (path != NULL && access(path, F_OK) == 0)
    return cli_fail(EXIT_INTERRUPTED,
                    "%s: interrupted; the same command goes on from %s",
                    c->verb->name, path);
  return cli_fail(EXIT_INTERRUPTED, "%s: interrupted, nothing is written%s",
                  c->verb->name, kept);
}

int cli_fail_status(cli *c, lapis_status s)
{
  if (s == LAPIS_CANCELLED || s == LAPIS_ESTOPPED)
    return cli_interrupted(c, "");
  const char *text = lapis_ctx_error(c->ctx);
  cli_wipe_bar(c);
  /* no memory is left to say it, and an older sentence may still stand there */
  if (*text == '\0' || (s == LAPIS_ENOMEM && strstr(text, "memory") == NULL))
    return cli_fail(cli_exit_code(c, s), "%s: %s", c->verb->name,
                    lapis_status_name(s));
  return cli_fail(cli_exit_code(c, s), "%s", text);
}

void cli_wipe_bar(cli *c)
{
  if (c->bar_shown) fputs("\r\033[K", stderr);
  c->bar_shown = false;
}
