/* command.h - runs the executable that LAPIS_COMMAND names. */
#ifndef LAPIS_COMMAND_H
#define LAPIS_COMMAND_H
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "lapis/files.h"
#include "lapis/images.h"
#include "lapis/tools.h"

/* Skips the running test where images cannot be written. */
static inline void command_need_images(void)
{
  const lapis_image_format *f;
  for (int i = 0; (f = lapis_image_format_at(i)) != NULL; i++) {
    if (f->built) continue;
    print_message("skipped: %s is not built in\n", f->name);
    skip();
  }
}

typedef struct command {
  char folder[64]; /* a fresh temporary one */
  int code;        /* exit code, or -1 when a signal ended it */
  char out[65536], err[65536];
} command;

static inline void command_begin(command *c)
{
  check_folder(c->folder, sizeof c->folder);
}

static inline void command_slurp(const command *c, const char *name, char *to,
                                 size_t size)
{
  char path[160];
  snprintf(path, sizeof path, "%s/%s", c->folder, name);
  FILE *f = fopen(path, "rb");
  assert_non_null(f);
  size_t n = fread(to, 1, size - 1, f);
  to[n] = '\0';
  fclose(f);
}

/* Runs "lapis ARGUMENTS" by the shell, inside the temporary folder. */
static inline int command_run_args(command *c, const char *format, va_list args)
{
  char arguments[4096], line[8192];
  const char *lapis = getenv("LAPIS_COMMAND");
  assert_non_null(lapis);
  vsnprintf(arguments, sizeof arguments, format, args);
  snprintf(line, sizeof line, "cd %s && %s %s >.stdout 2>.stderr </dev/null",
           c->folder, lapis, arguments);
  int status = system(line);
  c->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  command_slurp(c, ".stdout", c->out, sizeof c->out);
  command_slurp(c, ".stderr", c->err, sizeof c->err);
  return c->code;
}
static inline int command_run(command *c, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  int code = command_run_args(c, format, args);
  va_end(args);
  return code;
}

/* Fails unless the run ended with code and stderr holds the words; a refusal is
 * one line. */
static inline void command_expect(command *c, int code, const char *words)
{
  if (c->code != code || !check_has(c->err, words))
    fail_msg("exit %d (%d wanted), stderr '%s' ('%s' wanted)", c->code, code,
             c->err, words);
  if (code != 0 && strchr(c->err, '\n') != strrchr(c->err, '\n'))
    fail_msg("more than one line: '%s'", c->err);
}

/* Runs what has to end well. */
static inline void command_do(command *c, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  (void)command_run_args(c, format, args);
  va_end(args);
  command_expect(c, 0, "");
}

static inline void command_write(const command *c, const char *name,
                                 const void *bytes, size_t size)
{
  char path[160];
  snprintf(path, sizeof path, "%s/%s", c->folder, name);
  FILE *f = fopen(path, "wb");
  assert_non_null(f);
  assert_int_equal(fwrite(bytes, 1, size, f), size);
  fclose(f);
}

static inline bool command_exists(const command *c, const char *name)
{
  char path[160];
  snprintf(path, sizeof path, "%s/%s", c->folder, name);
  return access(path, F_OK) == 0;
}

/* An archive in the folder; to be freed. */
static inline void command_arrays(const command *c, const char *name,
                                  lapis_arrays *all)
{
  char path[160];
  lapis_ctx *ctx = lapis_ctx_new();
  snprintf(path, sizeof path, "%s/%s", c->folder, name);
  if (lapis_arrays_read(ctx, path, all) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  lapis_ctx_free(ctx);
}

/* How many columns an array has, which is the same in both archives, to the
 * bit. */
static inline int64_t command_same(const command *c, const char *one,
                                   const char *two, const char *name)
{
  lapis_arrays all[2];
  command_arrays(c, one, &all[0]);
  command_arrays(c, two, &all[1]);
  const lapis_array *x = lapis_arrays_find(&all[0], name);
  const lapis_array *y = lapis_arrays_find(&all[1], name);
  if (x == NULL || y == NULL || x->mat.cols != y->mat.cols ||
      x->mat.rows != y->mat.rows ||
      lapis_mat_hash(&x->mat) != lapis_mat_hash(&y->mat))
    fail_msg("%s of %s and %s differ", name, one, two);
  int64_t cols = x->mat.cols;
  lapis_arrays_free(&all[0]);
  lapis_arrays_free(&all[1]);
  return cols;
}

/* What --json printed; to be freed. */
static inline lapis_json *command_json(const char *text)
{
  lapis_json *v;
  lapis_ctx *ctx = lapis_ctx_new();
  if (lapis_json_parse(ctx, text, strlen(text), "stdout", &v) < 0)
    fail_msg("%s in: %.200s", lapis_ctx_error(ctx), text);
  lapis_ctx_free(ctx);
  return v;
}

/* Drops the lines of an answer that tell seconds, which no two runs share. */
static inline void command_drop_seconds(char *text)
{
  char *to = text;
  for (char *at = text; *at != '\0';) {
    size_t length = strcspn(at, "\n");
    length += at[length] == '\n';
    const char *hit = strstr(at, "seconds");
    bool timed = hit != NULL && hit < at + length;
    if (!timed) memmove(to, at, length);
    if (!timed) to += length;
    at += length;
  }
  *to = '\0';
}

/* A number of its "info". */
static inline double command_info(const char *text, const char *key)
{
  lapis_json *v = command_json(text);
  double value = lapis_json_number(lapis_json_get(v, "info"), key, NAN);
  lapis_json_free(v);
  return value;
}

/* Runs that end with a code and say so, each with more words behind. */
typedef struct command_misuse {
  const char *words;
  int code;
  const char *said;
} command_misuse;
static inline void command_refuses(command *c, const command_misuse *m,
                                   size_t count, const char *more)
{
  for (size_t i = 0; i < count; i++) {
    command_run(c, "%s %s", m[i].words, more);
    if (c->code != m[i].code || !check_has(c->err, m[i].said) ||
        strchr(c->err, '\n') != strrchr(c->err, '\n'))
      fail_msg("%s: exit %d, '%s'", m[i].words, c->code, c->err);
  }
}

static inline void command_end(command *c)
{
  char line[128];
  snprintf(line, sizeof line, "rm -rf %s", c->folder);
  assert_int_equal(system(line), 0);
}
#endif
