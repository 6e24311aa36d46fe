/* interrupt.c - Ctrl-C, time and checkpoints: a run that ends early ends soon,
 * leaves no half-written file, and can go on where it was.
 *
 * A signal (Ctrl-C, SIGTERM, a closed terminal) cancels the context, and the
 * run ends at its next iteration.  Where that takes longer than GRACE (a long
 * factorisation, a large file), the watcher thread writes the checkpoint from
 * the copy of the last completed iteration and ends the process; a write that
 * takes longer than PATIENCE is given up, and the checkpoint of before stays.
 * A second signal ends at once.
 *
 * Where a mapped file became shorter, reading it is a signal too (SIGBUS).  The
 * thread that read stops for good, and the watcher says what happened.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command/command.h"

static const double GRACE = 0.8, PATIENCE = 0.9; /* seconds */

/* The one global: a signal handler has no other way to the run. */
static struct watch {
  cli *c;
  sem_t wake; /* a signal came, or the run ended */
  sem_t born; /* the watcher runs */
  pthread_t thread;
  atomic_bool ended, cut; /* cut: a file became shorter than its mapping */
  bool started;
} watch;

static void on_interrupt(int signal_number)
{
  (void)signal_number;
  int saved = errno;
  lapis_ctx_cancel(watch.c->ctx);
  (void)sem_post(&watch.wake);
  errno = saved;
}

/* There is nothing to go on with: returning would read the same place again. */
static void on_cut(int signal_number)
{
  (void)signal_number;
  atomic_store(&watch.cut, true);
  (void)sem_post(&watch.wake);
  while (true) (void)pause();
}

/* false: nothing came within so many seconds, by a clock that nobody sets
 * (sem_timedwait knows only the one of the wall). */
static bool wait_for(double seconds)
{
  const struct timespec moment = {.tv_nsec = 5000000};
  double until = clock_seconds() + seconds;
  while (sem_trywait(&watch.wake) != 0) {
    if (clock_seconds() > until) return false;
    (void)nanosleep(&moment, NULL);
  }
  return true;
}

static void *write_checkpoint(void *c)
{
  (void)lapis_checkpoint_write(c);
  (void)sem_post(&watch.wake);
  return NULL;
}

/* Ends the process, which is somewhere in the middle of something. */
static void end_now(bool with_checkpoint)
{
  static const char interrupted[] = "\nlapis: interrupted\n";
  static const char cut[] =
      "lapis: an input file became shorter while it was read; run again when "
      "no other program writes to it\n";
  bool lost = atomic_load(&watch.cut);
  pthread_t writer;
  lapis_checkpoint *p = watch.c->checkpoint;
  if (lost) cli_wipe_bar(watch.c);
  if (with_checkpoint && !lost && p != NULL &&
      pthread_create(&writer, NULL, write_checkpoint, p) == 0)
    (void)wait_for(PATIENCE);
  lapis_file_abandon();
  int code = lost ? EXIT_INPUT : EXIT_INTERRUPTED;
  const char *said = lost                            ? cut
                     : atomic_load(&watch.c->ending) ? ""
                                                     : interrupted;
  if (write(STDERR_FILENO, said, strlen(said)) < 0) _exit(code);
  _exit(code);
}

static void *watch_signals(void *unused)
{
  (void)unused;
  (void)sem_post(&watch.born);
  while (sem_wait(&watch.wake) != 0) continue; /* EINTR */
  if (atomic_load(&watch.ended)) return NULL;
  bool again = atomic_load(&watch.cut) || wait_for(GRACE);
  bool ending = atomic_load(&watch.c->ending);
  if (!again && ending)
    again = wait_for(PATIENCE); /* it has said its sentence */
  if (atomic_load(&watch.ended)) return NULL;
  end_now(!again && !ending);
  return NULL;
}

/* The watcher is waited for: what a thread locks while it starts (in the
 * allocator of AddressSanitizer) would stay locked for ever in a process that
 * is forked meanwhile. */
int interrupt_begin(cli *c)
{
  struct sigaction act = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};
  struct sigaction bus = {.sa_handler = on_cut};
  watch.c = c;
  atomic_store(&watch.cut, false);
  atomic_store(&watch.ended, false);
  sigemptyset(&act.sa_mask);
  sigemptyset(&bus.sa_mask);
  if (sem_init(&watch.wake, 0, 0) != 0 || sem_init(&watch.born, 0, 0) != 0 ||
      pthread_create(&watch.thread, NULL, watch_signals, NULL) != 0)
    return cli_fail(EXIT_FAILED, "out of memory");
  while (sem_wait(&watch.born) != 0) continue; /* EINTR */
  watch.started = true;
  sigaction(SIGINT, &act, NULL);
  sigaction(SIGTERM, &act, NULL);
  sigaction(SIGBUS, &bus, NULL);
  struct sigaction hung; /* nohup has it ignored */
  if (sigaction(SIGHUP, NULL, &hung) == 0 && hung.sa_handler != SIG_IGN)
    sigaction(SIGHUP, &act, NULL);
  signal(SIGXFSZ, SIG_IGN); /* a write past a limit is an error, not an end */
  return EXIT_DONE;
}

void interrupt_end(void)
{
  if (!watch.started) return;
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  signal(SIGBUS, SIG_DFL);
  struct sigaction hung;
  if (sigaction(SIGHUP, NULL, &hung) == 0 && hung.sa_handler == on_interrupt)
    signal(SIGHUP, SIG_DFL);
  atomic_store(&watch.ended, true);
  (void)sem_post(&watch.wake);
  (void)pthread_join(watch.thread, NULL);
  watch.started = false;
}

/* ---- checkpoints --------------------------------------------------------*/
enum { MAX_ALSO = 32, ALSO_SIZE = 1024 };

typedef struct also {
  int count;
  char text[MAX_ALSO][ALSO_SIZE];
  const char *at[MAX_ALSO];
} also;

static void add(also *a, const char *name, int number, const char *value)
{
  if (a->count == MAX_ALSO) return;
  char *to = a->text[a->count];
  if (number > 1)
    snprintf(to, ALSO_SIZE, "%s:%d=%s", name, number, value);
  else
    snprintf(to, ALSO_SIZE, "%s=%s", name, value);
  a->at[a->count++] = to;
}

/* Options that decide what is solved and are no settings of the method. */
static void add_options(also *a, const cli_args *args)
{
  static const char *const names[] = {"map",   "map-priv", "suspects", "grid",
                                      "folds", "groups",   "metric",   "part"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    int number = 0;
    for (int i = 0; i < args->n_given; i++)
      if (strcmp(args->given[i].name, names[k]) == 0)
        add(a, names[k], ++number, args->given[i].value);
  }
}

static void add_views(also *a, const cli_views *views)
{
  for (int i = 0; views != NULL && i < views->count; i++) {
    char hash[32];
    const lapis_data *d = lapis_dataset_data(views->ds[i]);
    snprintf(hash, sizeof hash, "%016llx",
             (unsigned long long)lapis_mat_hash(&d->X));
    add(a, "content of a matrix", i + 1, hash);
  }
}

int checkpoint_open(cli *c, const lapis_data *data, const void *settings,
                    const cli_views *views)
{
  const char *path = args_get(&c->args, "checkpoint");
  if (path == NULL) return EXIT_DONE;
  int code = c->ranks.rank > 0 ? EXIT_DONE : check_writable(c, path);
  code = spread_agree(c, code); /* rank 0 has the file */
  if (code != EXIT_DONE) return code;
  also *a = calloc(1, sizeof *a);
  if (a == NULL) return cli_fail(EXIT_FAILED, "out of memory");
  add(a, "verb", 1, c->verb->name);
  add_options(a, &c->args);
  add_views(a, views);
  lapis_status s = lapis_checkpoint_new(c->ctx, path, c->method, data, settings,
                                        a->at, a->count, &c->checkpoint);
  free(a);
  return s < 0 ? cli_fail_status(c, s) : EXIT_DONE;
}

int checkpoint_close(cli *c, int code, bool finished)
{
  lapis_checkpoint *p = c->checkpoint;
  bool remove = code == EXIT_DONE && finished;
  if (p == NULL) return code;
  if (!remove && lapis_checkpoint_write(p) < 0 && !c->quiet)
    fprintf(stderr, "lapis: warning: %s: the checkpoint could not be written\n",
            args_get(&c->args, "checkpoint"));
  c->checkpoint = NULL;
  lapis_checkpoint_free(p, remove);
  return code;
}

/* ---- time ---------------------------------------------------------------*/

double time_limit(cli *c, const void *settings)
{
  char text[64] = "inf";
  (void)lapis_settings_get(c->ctx, c->method, settings, "time-limit", text,
                           sizeof text);
  double seconds;
  (void)lapis_number_read(text, NULL, &seconds); /* "inf" is a number */
  return seconds;
}
