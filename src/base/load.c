/* load.c - how many processors other programs leave.
 *
 * A team of threads waits at the end of every loop for its last one, and
 * whoever waits runs round and round (libgomp for some 300,000 rounds).  Where
 * another program has a processor, the last one comes when the scheduler lets
 * it: on a busy machine two threads took 10 to 16 times as long as one (rpca,
 * 400 x 60, two processors, a load of 10), and no longer where they sleep.  So
 * a loop gets no more threads than there are processors free.  The bits of our
 * loops do not depend on their number; those of OpenBLAS do, which is asked for
 * all, yields while it waits, and there took 0.8 to 2 times as long with two.
 *
 * Linux says how many threads of all programs run at this moment; ours are
 * taken off.  What runs for a moment only is not there when one looks again.
 * Beside a load of 11 to 15 on the same two processors two threads now take as
 * long as one in trees, svmplus and mc, and 1.1 to 1.6 times as long in rpca,
 * rr, features and auto (sums of six runs in turn). */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/private.h"

static const double LOOK_EVERY = 1; /* seconds */
enum { LOOKS = 5, BETWEEN_NS = 1000000 };

static bool runs(int tasks, const char *name)
{
  char text[512];
  int at = openat(tasks, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (at < 0) return false;
  int fd = openat(at, "stat", O_RDONLY | O_CLOEXEC);
  ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  if (fd >= 0) (void)close(fd);
  (void)close(at);
  if (size <= 0) return false;
  text[size] = '\0';
  const char *behind = strrchr(text, ')'); /* of the thread's name */
  return behind != NULL && strncmp(behind, ") R", 3) == 0;
}

static int own_running(void)
{
  int count = 0;
  DIR *d = opendir("/proc/self/task");
  for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
    count += e->d_name[0] != '.' && runs(dirfd(d), e->d_name);
  if (d != NULL) (void)closedir(d);
  return count;
}

/* Threads of other programs; 0 where nobody knows. */
static int others_running(void)
{
  int all = 0;
  FILE *f = fopen("/proc/loadavg", "r");
  if (f == NULL) return 0;
  bool known = fscanf(f, "%*f %*f %*f %d/", &all) == 1;
  (void)fclose(f);
  int others = known ? all - own_running() : 0;
  return others > 0 ? others : 0;
}

static int least_others(void)
{
  const struct timespec moment = {.tv_nsec = BETWEEN_NS};
  int least = others_running();
  for (int k = 1; k < LOOKS && least > 0; k++) {
    (void)nanosleep(&moment, NULL);
    int now = others_running();
    if (now < least) least = now;
  }
  return least;
}

/* Or as the variable says. */
static int free_processors(int processors)
{
  const char *said = getenv("LAPIS_FREE_PROCESSORS");
  long count = said == NULL ? 0 : strtol(said, NULL, 10);
  if (count > 0 && count <= INT_MAX) return (int)count;
  count = processors - least_others();
  return count > 1 ? (int)count : 1;
}

int base_team(lapis_ctx *ctx, int threads)
{
  if (threads <= 1) return 1;
  double now = base_seconds();
  if (ctx->free == 0 || now - ctx->looked > LOOK_EVERY) {
    bool first = ctx->free == 0;
    int processors = (int)sysconf(_SC_NPROCESSORS_ONLN);
    ctx->free = free_processors(processors);
    ctx->looked = now;
    if (first)
      base_say(ctx, 1,
               "threads: %d; other programs leave %d of %d processors for our "
               "own loops, which take no more of them",
               threads, ctx->free, processors);
  }
  return threads < ctx->free ? threads : ctx->free;
}
