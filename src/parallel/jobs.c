/* jobs.c - units of work done by several processes.
 *
 * A socket a worker: numbers of units go out, records (a header, then bytes)
 * come back.  The worker's first thread waits for nothing but the end of the
 * caller, so that no worker outlives it however it ends; a second thread does
 * the work, which also gives OpenMP a team of its own: that of the thread that
 * forked has stayed behind.  Signals that end a run are the caller's business.
 *
 * Messages come in the order of the units, whoever was first. */
#include "parallel/jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/private.h"

enum { LOOK_EVERY = 20, STACK = 8 << 20 }; /* milliseconds; bytes */
enum { GO_HOME = -1 };

typedef enum record_kind {
  RECORD_GIVEN,
  RECORD_SAID,  /* a text */
  RECORD_NOTED, /* a name, a text */
  RECORD_DONE
} record_kind;
typedef struct record {
  int32_t kind, level; /* level: of a message; of RECORD_DONE the status */
  int64_t place;       /* in the list */
  uint64_t size;       /* bytes that follow */
} record;

struct job_line {
  int end;
  int64_t place;
  const job_list *list;
};

typedef struct worker {
  pid_t pid; /* 0: none, or gone */
  int end;
  int64_t place; /* at work on, or -1 */
} worker;

typedef struct said {
  int64_t place;
  int level;
  char *name; /* of a remark, or NULL */
  char *text;
} said;

typedef struct team {
  const job_list *list;
  worker *of; /* count */
  int count;
  int64_t next; /* place to be given out */
  bool *ended;  /* list->count */
  bool late;
  said *heard; /* of room, messages that wait for earlier units */
  int64_t n_heard, room;
} team;

/* ---- sockets ------------------------------------------------------------*/
/* No signal where the other end is gone. */
static bool put(int to, const void *bytes, size_t size)
{
  while (size > 0) {
    ssize_t n = send(to, bytes, size, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes = (const char *)bytes + n;
    size -= (size_t)n;
  }
  return true;
}

static bool get(int from, void *bytes, size_t size)
{
  while (size > 0) {
    ssize_t n = read(from, bytes, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes = (char *)bytes + n;
    size -= (size_t)n;
  }
  return true;
}

/* ---- in a worker --------------------------------------------------------*/
static bool send_record(job_line *to, record_kind kind, int level,
                        const void *bytes, size_t size)
{
  record r = {kind, level, to->place, size};
  return put(to->end, &r, sizeof r) && put(to->end, bytes, size);
}

bool jobs_give(job_line *to, const void *bytes, size_t size)
{
  return send_record(to, RECORD_GIVEN, 0, bytes, size);
}

static void pass_message(int level, const char *text, void *user)
{
  (void)send_record(user, RECORD_SAID, level, text, strlen(text) + 1);
}

static void pass_note(base_level level, const char *name, const char *text,
                      void *user)
{
  enum { ROOM = 2048 };
  char both[ROOM];
  int size = snprintf(both, sizeof both, "%s%c%s", name, '\0', text) + 1;
  (void)send_record(user, RECORD_NOTED, level, both, (size_t)size);
}

static void *work(void *user)
{
  job_line *line = user;
  const job_list *list = line->list;
  while (get(line->end, &line->place, sizeof line->place) &&
         line->place != GO_HOME) {
    lapis_status s = list->work(list->user, list->unit[line->place], line);
    const char *text = s < 0 ? lapis_ctx_error(list->ctx) : "";
    if (!send_record(line, RECORD_DONE, s, text, strlen(text) + 1)) _exit(1);
  }
  _exit(0);
}

static void take_signals(void)
{
  static const int ours[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
  static const int crashes[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGABRT};
  sigset_t none;
  for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
    (void)signal(ours[i], SIG_IGN);
  for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
    (void)signal(crashes[i], SIG_DFL);
  sigemptyset(&none);
  (void)pthread_sigmask(SIG_SETMASK, &none, NULL);
}

static _Noreturn void be_worker(job_line *line)
{
  pthread_t thread;
  pthread_attr_t how;
  struct pollfd caller = {.fd = line->end};
  take_signals();
  base_become_worker(line->list->ctx, pass_message, pass_note, line);
  keep_set_hook(line->list->ctx, NULL);
  if (pthread_attr_init(&how) != 0 ||
      pthread_attr_setstacksize(&how, STACK) != 0 ||
      pthread_create(&thread, &how, work, line) != 0)
    _exit(1);
  /* hung up: the caller's end is closed, and it was the only one */
  while ((caller.revents & (POLLHUP | POLLERR)) == 0)
    (void)poll(&caller, 1, -1);
  _exit(1);
}

/* ---- the caller ---------------------------------------------------------*/
/* Earlier workers' ends are not the new one's: they would not see us go. */
static _Noreturn void become_worker(const team *t, const worker *w, int end)
{
  job_line line = {.end = end, .place = -1, .list = t->list};
  for (const worker *v = t->of; v < w; v++) (void)close(v->end);
  be_worker(&line);
}

static lapis_status start(team *t, worker *w)
{
  int ends[2] = {-1, -1};
  pid_t pid = -1;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0) {
    for (int i = 0; i < 2; i++) (void)fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    pid = fork();
  }
  int code = errno;
  if (pid == 0) {
    (void)close(ends[0]);
    become_worker(t, w, ends[1]);
  }
  if (ends[1] >= 0) (void)close(ends[1]);
  *w = (worker){.pid = pid, .end = ends[0], .place = -1};
  if (pid > 0) return LAPIS_OK;
  w->pid = 0;
  if (ends[0] >= 0) (void)close(ends[0]);
  return lapis_fail(t->list->ctx, LAPIS_ENOMEM,
                    "%s: job %d of %d has no process or memory: %s",
                    t->list->who, (int)(w - t->of) + 1, t->count,
                    strerror(code));
}

/* It is told to end, or is ended; how it did. */
static int wait_for(worker *w, bool kill_it)
{
  int how = 0;
  if (w->pid == 0) return 0;
  if (kill_it) (void)kill(w->pid, SIGKILL);
  (void)close(w->end);
  while (waitpid(w->pid, &how, 0) < 0)
    if (errno != EINTR) break;
  w->pid = 0;
  return how;
}

static lapis_status say_how(team *t, worker *w)
{
  lapis_ctx *ctx = t->list->ctx;
  int number = (int)(w - t->of) + 1, how = wait_for(w, false);
  int by = WIFSIGNALED(how) ? WTERMSIG(how) : 0;
  const char *who = t->list->who;
  if (by == SIGBUS)
    return lapis_fail(ctx, LAPIS_EIO,
                      "%s: an input file became shorter while it was read; run "
                      "again when no other program writes to it",
                      who);
  if (by == SIGKILL)
    return lapis_fail(ctx, LAPIS_ENOMEM,
                      "%s: job %d of %d was killed; if no memory was left for "
                      "so many, ask for fewer --jobs",
                      who, number, t->count);
  return lapis_fail(ctx, LAPIS_ENUMERIC,
                    "%s: job %d of %d ended before its work was done (%s %d)",
                    who, number, t->count, by > 0 ? "signal" : "exit code",
                    by > 0 ? by : WEXITSTATUS(how));
}

static void forget(said *m)
{
  base_free(m->name);
  base_free(m->text);
  m->name = m->text = NULL;
}

/* Messages of units that no earlier one may still speak before. */
static void speak(team *t, bool all)
{
  int64_t first = 0, kept = 0;
  while (first < t->list->count && t->ended[first]) first++;
  if (all) first = t->list->count;
  for (int64_t place = 0; place <= first; place++)
    for (int64_t k = 0; k < t->n_heard; k++) {
      said *m = &t->heard[k];
      if (m->text == NULL || m->place != place) continue;
      if (m->name == NULL)
        base_pass_on(t->list->ctx, m->level, m->text);
      else
        notes_add(t->list->ctx, (base_level)m->level, m->name, m->text);
      forget(m);
    }
  for (int64_t k = 0; k < t->n_heard; k++)
    if (t->heard[k].text != NULL) t->heard[kept++] = t->heard[k];
  t->n_heard = kept;
}

/* name: of a remark, or NULL. */
static lapis_status hear(team *t, const record *r, const char *name,
                         const char *text)
{
  if (t->n_heard == t->room) {
    void *p = t->heard;
    int64_t room = 2 * t->room + 16;
    TRY(base_grow(t->list->ctx, &p, t->room, room, sizeof *t->heard));
    t->heard = p;
    t->room = room;
  }
  said m = {.place = r->place, .level = r->level};
  m.text = base_strdup(t->list->ctx, text);
  if (name != NULL) m.name = base_strdup(t->list->ctx, name);
  if (m.text == NULL || (name != NULL && m.name == NULL)) {
    forget(&m);
    return LAPIS_ENOMEM;
  }
  t->heard[t->n_heard++] = m;
  speak(t, false);
  return LAPIS_OK;
}

static void hand_out(team *t, worker *w)
{
  int64_t home = GO_HOME, count = t->list->count;
  bool none = t->late || t->next == count;
  w->place = none ? -1 : t->next++;
  /* where it is gone, reading from it will say so */
  (void)put(w->end, none ? &home : &w->place, sizeof home);
}

static lapis_status finish(team *t, worker *w, const record *r,
                           const char *text)
{
  const job_list *list = t->list;
  if (r->level < 0)
    return lapis_fail(list->ctx, (lapis_status)r->level, "%s", text);
  if (r->level == LAPIS_CANCELLED) return LAPIS_CANCELLED;
  t->late = t->late || r->level == LAPIS_TIME_LIMIT;
  t->ended[r->place] = true;
  speak(t, false);
  if (list->done != NULL && r->level != LAPIS_TIME_LIMIT)
    TRY(list->done(list->user, list->unit[r->place]));
  hand_out(t, w);
  return LAPIS_OK;
}

static lapis_status obey(team *t, worker *w, const record *r, void *bytes)
{
  const job_list *list = t->list;
  switch ((record_kind)r->kind) {
  case RECORD_SAID:
    return hear(t, r, NULL, bytes);
  case RECORD_NOTED:
    return hear(t, r, bytes, (const char *)bytes + strlen(bytes) + 1);
  case RECORD_DONE:
    return finish(t, w, r, bytes);
  case RECORD_GIVEN:
    break;
  }
  return list->take(list->user, list->unit[r->place], bytes, (size_t)r->size);
}

static lapis_status read_from(team *t, worker *w)
{
  record r;
  if (!get(w->end, &r, sizeof r)) {
    if (w->place >= 0) return say_how(t, w);
    (void)wait_for(w, false);
    return LAPIS_OK;
  }
  void *bytes = base_alloc_raw(t->list->ctx, (int64_t)r.size, 1);
  if (bytes == NULL) return LAPIS_ENOMEM;
  lapis_status s = get(w->end, bytes, (size_t)r.size) ? obey(t, w, &r, bytes)
                                                      : say_how(t, w);
  base_free(bytes);
  return s;
}

/* Until all have gone home; line: t->count. */
static lapis_status listen_to(team *t, struct pollfd *line)
{
  while (true) {
    int busy = 0;
    for (int k = 0; k < t->count; k++) {
      bool here = t->of[k].pid != 0;
      line[k] =
          (struct pollfd){.fd = here ? t->of[k].end : -1, .events = POLLIN};
      busy += here;
    }
    if (busy == 0) return t->late ? LAPIS_TIME_LIMIT : LAPIS_OK;
    bool any = poll(line, (nfds_t)t->count, LOOK_EVERY) > 0;
    if (base_cancelled(t->list->ctx)) return LAPIS_CANCELLED;
    for (int k = 0; any && k < t->count; k++)
      if (line[k].revents != 0) {
        lapis_status s = read_from(t, &t->of[k]);
        if (s != LAPIS_OK) return s;
      }
  }
}

static lapis_status run(team *t)
{
  lapis_ctx *ctx = t->list->ctx;
  struct pollfd *line = base_alloc(ctx, t->count, sizeof *line);
  t->of = base_alloc(ctx, t->count, sizeof *t->of);
  t->ended = base_alloc(ctx, t->list->count, sizeof *t->ended);
  lapis_status s = line == NULL || t->of == NULL || t->ended == NULL
                       ? LAPIS_ENOMEM
                       : LAPIS_OK;
  for (int k = 0; s >= 0 && k < t->count; k++) s = start(t, &t->of[k]);
  for (int k = 0; s >= 0 && k < t->count; k++) hand_out(t, &t->of[k]);
  if (s >= 0) s = listen_to(t, line);
  for (int k = 0; t->of != NULL && k < t->count; k++)
    (void)wait_for(&t->of[k], true);
  if (s >= 0) speak(t, true);
  for (int64_t k = 0; k < t->n_heard; k++) forget(&t->heard[k]);
  base_free(t->heard);
  base_free(t->ended);
  base_free(t->of);
  base_free(line);
  return s;
}

lapis_status jobs_run(const job_list *list, int jobs)
{
  team t = {.list = list, .count = jobs};
  lapis_status s = run(&t);
  if (s == LAPIS_CANCELLED) base_rearm(list->ctx); /* it has been heard */
  return s;
}

int jobs_of(const lapis_ctx *ctx, int64_t units)
{
  int jobs = ctx->jobs > 0 ? ctx->jobs : omp_get_num_procs();
  if (ctx->spread.comm.size > 1 || units < 1) return 1;
  return (int64_t)jobs < units ? jobs : (int)units;
}

int jobs_divide(lapis_ctx *ctx, const char *who, int jobs)
{
  int before = ctx->threads, own = base_threads(ctx) / jobs;
  if (jobs == 1) return before;
  ctx->threads = own > 1 ? own : 1;
  base_say(ctx, 1,
           "%s: %d jobs, %d thread%s each; what is read and what they share is "
           "in memory once, what each makes as often as there are jobs",
           who, jobs, ctx->threads, ctx->threads == 1 ? "" : "s");
  return before;
}

void jobs_undivide(lapis_ctx *ctx, int threads)
{
  ctx->threads = threads;
}
