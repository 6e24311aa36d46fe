/* child.c - reading or writing a file in a process of its own.
 *
 * A library that was not written for damaged files may crash on one, never
 * return, or leave its own state in ruins.  So a copy of this process reads
 * the file and sends back what it found: a status and its sentence, or the
 * arrays, whose memory is moved as it lies; only addresses within it change.
 * Writing sends back a status and its sentence.
 *
 * A copy that reads has limits on its time, its own and the clock's, and on its
 * memory.  No copy keeps a handler of ours, and none outlives us. */
#define _GNU_SOURCE /* NSIG */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files/io.h"

enum { LEAST_SECONDS = 2, BYTES_A_SECOND = 1 << 20, SENTENCE = 1024 };
/* By the clock, for disks and processors that others keep busy. */
enum { LEAST_WAIT = 10, WAITED_BYTES_A_SECOND = 1 << 18 };
/* What deflate makes of a byte, as it is stored and as it is sent. */
enum { LEAST_MEMORY = 192 << 20, MEMORY_A_BYTE = 4 * 1032 };

/* What comes first. */
typedef struct report {
  lapis_status status;
  int count;    /* of arrays */
  int64_t seen; /* bytes of the names of members, 0: none */
  char sentence[SENTENCE];
} report;

/* ---- the pipe -----------------------------------------------------------*/
static bool send(int to, const void *bytes, size_t size)
{
  while (size > 0) {
    ssize_t done = write(to, bytes, size < (1 << 20) ? size : 1 << 20);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes = (const char *)bytes + done;
    size -= (size_t)done;
  }
  return true;
}

static bool receive(int from, void *bytes, size_t size)
{
  while (size > 0) {
    ssize_t done = read(from, bytes, size < (1 << 20) ? size : 1 << 20);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes = (char *)bytes + done;
    size -= (size_t)done;
  }
  return true;
}

static unsigned seconds_to_wait(int64_t bytes)
{
  return LEAST_WAIT +
         (unsigned)fmin((double)bytes / WAITED_BYTES_A_SECOND, 1e9);
}

/* ---- the copy -----------------------------------------------------------*/
static void limit_memory(int64_t bytes)
{
  struct rlimit most;
  double more = LEAST_MEMORY + MEMORY_A_BYTE * (double)bytes;
  double room = base_address_bytes() + fmin(more, base_memory_bytes());
  if (getrlimit(RLIMIT_AS, &most) != 0 || (double)most.rlim_cur <= room) return;
  most.rlim_cur = most.rlim_max = (rlim_t)room;
  (void)setrlimit(RLIMIT_AS, &most);
}

static void limit(int64_t bytes)
{
  rlim_t seconds = LEAST_SECONDS + (rlim_t)(bytes / BYTES_A_SECOND);
  (void)setrlimit(RLIMIT_CPU, &(struct rlimit){seconds, seconds + 1});
  (void)alarm(seconds_to_wait(bytes));
  limit_memory(bytes);
}

void io_open_no_more(void)
{
  (void)setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, 0});
}

/* A crash, a limit or a signal ends the copy, whatever the program around us
 * does about them, and so does our own end; but a terminal's Ctrl-C is ours to
 * answer.  What it has to say is not for the user. */
static void stand_alone(pid_t parent)
{
  sigset_t none;
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  (void)setpgid(0, 0);
  for (int k = 1; k < NSIG; k++) (void)signal(k, SIG_DFL);
  (void)sigemptyset(&none);
  (void)sigprocmask(SIG_SETMASK, &none, NULL);
  (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere < 0) return;
  (void)dup2(nowhere, STDOUT_FILENO);
  (void)dup2(nowhere, STDERR_FILENO);
}

static bool send_array(int to, const lapis_array *a)
{
  int64_t name = (int64_t)strlen(a->name) + 1;
  return send(to, a, sizeof *a) && send(to, &name, sizeof name) &&
         send(to, a->name, (size_t)name) && send(to, a->memory, a->bytes);
}

static bool read_and_send(int to, lapis_ctx *ctx, io_file *f,
                          const io_request *request, io_reader read)
{
  lapis_arrays all = {.count = 0};
  char *seen = NULL;
  io_request own = *request;
  own.seen = &seen;
  report r = {.status = read(ctx, f, &own, &all)};
  r.count = r.status < 0 ? 0 : all.count;
  r.seen = seen == NULL ? 0 : (int64_t)strlen(seen) + 1;
  if (r.status < 0)
    strncpy(r.sentence, lapis_ctx_error(ctx), sizeof r.sentence - 1);
  bool fine = send(to, &r, sizeof r) && send(to, seen, (size_t)r.seen);
  for (int i = 0; fine && i < r.count; i++) fine = send_array(to, &all.item[i]);
  return fine;
}

/* ---- the original -------------------------------------------------------*/
typedef struct original {
  lapis_ctx *ctx;
  const char *path;
  int from; /* where the copy's answer comes */
  const io_request *request;
} original;

static const char *remedy(const original *o)
{
  return o->request->remedy != NULL ? o->request->remedy
                                    : "write it again, or save it as .npz";
}

static lapis_status fail_apart(const original *o)
{
  return lapis_fail(o->ctx, LAPIS_EFORMAT,
                    "%s: is damaged: the library that reads this format broke "
                    "down over it; %s",
                    o->path, remedy(o));
}

/* The copy was ended by a limit of ours, a crash or somebody. */
static lapis_status fail_ended(const original *o, int by, int64_t bytes)
{
  if (by == SIGALRM || by == SIGXCPU)
    return lapis_fail(o->ctx, LAPIS_EFORMAT,
                      "%s: takes longer to read than the %u s that are the "
                      "most for a file of its size; %s",
                      o->path, seconds_to_wait(bytes), remedy(o));
  if (by == SIGTERM || by == SIGHUP || by == SIGINT || by == SIGKILL)
    return lapis_fail(o->ctx, LAPIS_EIO,
                      "%s: cannot be read: the process that read it was ended "
                      "by signal %d",
                      o->path, by);
  return fail_apart(o);
}

static void *moved(const void *at, const void *from, void *to)
{
  return at == NULL ? NULL
                    : (char *)to + ((const char *)at - (const char *)from);
}

/* Addresses within the block follow it to where it lies now. */
static void settle(lapis_array *a, void *block)
{
  const void *from = a->memory;
  a->mat.val = moved(a->mat.val, from, block);
  a->mat.colptr = moved(a->mat.colptr, from, block);
  a->mat.rowidx = moved(a->mat.rowidx, from, block);
  a->memory = block;
  char **text = a->mat.val;
  for (int64_t k = 0;
       a->mat.dtype == LAPIS_TEXT && k < a->mat.rows * a->mat.cols; k++)
    text[k] = moved(text[k], from, block);
}

static lapis_status receive_array(const original *o, lapis_arrays *out)
{
  int from = o->from;
  lapis_array a;
  int64_t size;
  char name[SENTENCE];
  if (!receive(from, &a, sizeof a) || !receive(from, &size, sizeof size) ||
      size < 1 || size > SENTENCE || !receive(from, name, (size_t)size))
    return fail_apart(o);
  void *block = base_alloc_raw(o->ctx, (int64_t)a.bytes, 1);
  if (block == NULL) return LAPIS_ENOMEM;
  if (!receive(from, block, a.bytes)) {
    base_free(block);
    return fail_apart(o);
  }
  settle(&a, block);
  return io_arrays_add(o->ctx, out, name, &a);
}

static lapis_status receive_all(const original *o, lapis_arrays *out)
{
  lapis_ctx *ctx = o->ctx;
  char **seen = o->request->seen;
  int from = o->from;
  report r;
  if (!receive(from, &r, sizeof r)) return fail_apart(o);
  if (r.status < 0) return lapis_fail(ctx, r.status, "%s", r.sentence);
  char *names = r.seen == 0 ? NULL : base_alloc(ctx, r.seen, 1);
  if (r.seen > 0 && names == NULL) return LAPIS_ENOMEM;
  bool fine = receive(from, names, (size_t)r.seen);
  if (seen != NULL)
    *seen = names;
  else
    base_free(names);
  lapis_status status = fine ? LAPIS_OK : fail_apart(o);
  for (int i = 0; i < r.count && status == LAPIS_OK; i++)
    status = receive_array(o, out);
  return status;
}

lapis_status io_read_apart(lapis_ctx *ctx, io_file *f, int64_t bytes,
                           const io_request *request, io_reader read,
                           lapis_arrays *out)
{
  int ends[2];
  const char *path = io_name(f->path);
  if (pipe(ends) != 0) return io_fail_errno(ctx, path, "cannot be read");
  pid_t parent = getpid(), child = fork();
  if (child == 0) {
    (void)close(ends[0]);
    stand_alone(parent);
    limit(bytes);
    _exit(read_and_send(ends[1], ctx, f, request, read) ? 0 : 1);
  }
  int code = errno;
  (void)close(ends[1]);
  errno = code;
  lapis_status status = child < 0 ? io_fail_errno(ctx, path, "cannot be read")
                                  : io_await(ctx, ends[0], "reading", path);
  const original o = {ctx, path, ends[0], request};
  bool waited = status >= 0;
  if (waited) status = receive_all(&o, out);
  (void)close(ends[0]);
  if (child > 0 && !waited) (void)kill(child, SIGKILL);
  int end = 0;
  while (child > 0 && waitpid(child, &end, 0) < 0 && errno == EINTR) continue;
  bool broken = waited && status == LAPIS_EFORMAT && WIFSIGNALED(end) &&
                WTERMSIG(end) != SIGPIPE; /* we had heard enough */
  return broken ? fail_ended(&o, WTERMSIG(end), bytes) : status;
}

/* ---- writing ------------------------------------------------------------*/
static bool write_and_send(int to, lapis_ctx *ctx, io_writer write, void *task)
{
  report r = {.status = write(ctx, task)};
  if (r.status < 0)
    strncpy(r.sentence, lapis_ctx_error(ctx), sizeof r.sentence - 1);
  return send(to, &r, sizeof r);
}

static lapis_status await_writer(lapis_ctx *ctx, int fd, const char *path)
{
  struct pollfd one = {.fd = fd, .events = POLLIN};
  int ready = 0;
  while (ready == 0 || (ready < 0 && errno == EINTR)) {
    TRY(base_write_on(ctx, path));
    ready = poll(&one, 1, 200);
  }
  return LAPIS_OK;
}

lapis_status io_write_apart(lapis_ctx *ctx, const char *path, io_writer write,
                            void *task)
{
  int ends[2];
  report r;
  if (pipe(ends) != 0) return io_fail_errno(ctx, path, "cannot be written");
  pid_t parent = getpid(), child = fork();
  if (child == 0) {
    (void)close(ends[0]);
    stand_alone(parent);
    _exit(write_and_send(ends[1], ctx, write, task) ? 0 : 1);
  }
  int code = errno;
  (void)close(ends[1]);
  lapis_status waited = child < 0 ? LAPIS_OK : await_writer(ctx, ends[0], path);
  bool heard = waited >= 0 && child > 0 && receive(ends[0], &r, sizeof r);
  (void)close(ends[0]);
  if (waited < 0) (void)kill(child, SIGKILL);
  while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
  errno = code;
  if (child < 0) return io_fail_errno(ctx, path, "cannot be written");
  TRY(waited);
  if (!heard)
    return lapis_fail(ctx, LAPIS_EIO,
                      "%s: cannot be written: the library that writes this "
                      "format broke down over it; is the disk full?",
                      path);
  return r.status < 0 ? lapis_fail(ctx, r.status, "%s", r.sentence) : LAPIS_OK;
}
