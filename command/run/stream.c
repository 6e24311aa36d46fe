/* stream.c - what can be read only once, and is looked at more than once, goes
 * into a file without a name first. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/command.h"

static int cannot(const char *name, int why)
{
  return cli_fail(EXIT_INPUT, "%s: cannot be kept: %s", name, strerror(why));
}

/* All that comes, in a new file; NULL: one sentence was said. */
static FILE *copy_of(FILE *from, const char *name)
{
  char block[1 << 14];
  size_t got;
  FILE *copy = tmpfile();
  bool fine = copy != NULL;
  while (fine && (got = fread(block, 1, sizeof block, from)) > 0)
    fine = fwrite(block, 1, got, copy) == got;
  if (fine && ferror(from) == 0 && fflush(copy) == 0) return copy;
  (void)cannot(name, errno);
  if (copy != NULL) (void)fclose(copy);
  return NULL;
}

int stream_keep_input(off_t *begin)
{
  *begin = lseek(STDIN_FILENO, 0, SEEK_CUR);
  if (*begin >= 0) return EXIT_DONE;
  FILE *copy = copy_of(stdin, "standard input");
  if (copy == NULL) return EXIT_INPUT;
  int code = dup2(fileno(copy), STDIN_FILENO) < 0
                 ? cannot("standard input", errno)
                 : EXIT_DONE;
  (void)fclose(copy);
  *begin = 0;
  return code;
}

/* The copy stays open, under a number of its own, until the end. */
int stream_keep(const char **path, char room[STREAM_PATH])
{
  struct stat at;
  if (strcmp(*path, "-") == 0 || stat(*path, &at) != 0 || !S_ISFIFO(at.st_mode))
    return EXIT_DONE;
  FILE *from = fopen(*path, "rb");
  if (from == NULL)
    return cli_fail(EXIT_INPUT, "%s: cannot be opened: %s", *path,
                    strerror(errno));
  FILE *copy = copy_of(from, *path);
  (void)fclose(from);
  if (copy == NULL) return EXIT_INPUT;
  int kept = dup(fileno(copy));
  int code = kept < 0 ? cannot(*path, errno) : EXIT_DONE;
  (void)fclose(copy);
  (void)snprintf(room, STREAM_PATH, "/dev/fd/%d", kept);
  *path = room;
  return code;
}
