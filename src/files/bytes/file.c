/* file.c - the bytes of a file.
 *
 * A mapping shows the file as it is while it is used: where another program
 * cuts it short meanwhile, reading raises SIGBUS (the command says so and ends;
 * signals of other programs are theirs), which is why everything in this
 * library replaces files by renaming. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/io.h"

typedef struct signature {
  const char *magic;
  size_t size;
  lapis_status status;
  const char *hint;
} signature;

/* Formats we know and do not read. */
static const signature strangers[] = {
    {"\x1f\x8b", 2, LAPIS_EFORMAT, "is compressed by gzip; unpack it first"},
    {"BZh", 3, LAPIS_EFORMAT, "is compressed by bzip2; unpack it first"},
    {"\xfd"
     "7zXZ",
     5, LAPIS_EFORMAT, "is compressed by xz; unpack it first"},
    {"\x80\x02", 2, LAPIS_EFORMAT,
     "is a Python pickle, which LAPIS never loads; save the arrays with "
     "numpy.savez"},
    {"\x80\x03", 2, LAPIS_EFORMAT,
     "is a Python pickle, which LAPIS never loads; save the arrays with "
     "numpy.savez"},
    {"\x80\x04", 2, LAPIS_EFORMAT,
     "is a Python pickle, which LAPIS never loads; save the arrays with "
     "numpy.savez"},
    {"\x80\x05", 2, LAPIS_EFORMAT,
     "is a Python pickle, which LAPIS never loads; save the arrays with "
     "numpy.savez"},
    {"\x28\xb5\x2f\xfd", 4, LAPIS_EFORMAT,
     "is compressed by zstd; unpack it first"},
    {"\xd0\xcf\x11\xe0", 4, LAPIS_EFORMAT,
     "is an old Excel or Office file; save the sheet as CSV (UTF-8)"},
    {"PAR1", 4, LAPIS_EFORMAT,
     "is a Parquet file; with pandas: read_parquet(..).to_csv(..)"},
    {"ARROW1", 6, LAPIS_EFORMAT,
     "is an Arrow file; with pandas: read_feather(..).to_csv(..)"},
    {"SQLite format 3", 15, LAPIS_EFORMAT,
     "is an SQLite database; export the table as CSV"},
    {"%PDF", 4, LAPIS_EFORMAT, "is a PDF document, which holds no table"},
    {"\x89PNG", 4, LAPIS_EFORMAT, "is a picture; see 'lapis features'"},
    {"\xff\xd8\xff", 3, LAPIS_EFORMAT, "is a picture; see 'lapis features'"},
    {"GIF8", 4, LAPIS_EFORMAT,
     "is a GIF picture, which LAPIS does not read; save it as PNG or JPEG"},
    {"RIFF", 4, LAPIS_EFORMAT,
     "is a WebP picture, or sound or film, which LAPIS does not read; save "
     "pictures as PNG or JPEG"},
    {"II*\0", 4, LAPIS_EFORMAT,
     "is a TIFF picture, which LAPIS does not read; save it as PNG or JPEG"},
    {"MM\0*", 4, LAPIS_EFORMAT,
     "is a TIFF picture, which LAPIS does not read; save it as PNG or JPEG"},
    {"\xff\xfe", 2, LAPIS_EFORMAT,
     "is UTF-16 text; save it as UTF-8: iconv -f utf-16 -t utf-8 OLD >NEW"},
    {"\xfe\xff", 2, LAPIS_EFORMAT,
     "is UTF-16 text; save it as UTF-8: iconv -f utf-16 -t utf-8 OLD >NEW"},
};

const char *io_name(const char *path)
{
  if (strncmp(path, "/dev/fd/", 8) == 0) return "a pipe";
  return strcmp(path, "-") == 0 ? "standard input" : path;
}

bool io_exists(const char *path)
{
  return access(path, F_OK) == 0;
}

bool io_is_file(const char *path)
{
  struct stat st;
  return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

void io_release(void *memory, size_t bytes, io_memory kind)
{
  if (kind == IO_HEAP) base_free(memory);
  if (kind == IO_MAPPED) (void)munmap(memory, bytes);
}

void io_file_close(io_file *f)
{
  io_release(f->data, (size_t)f->size, f->kind);
  f->data = NULL;
  f->size = 0;
  f->kind = IO_NONE;
}

lapis_status io_fail_errno(lapis_ctx *ctx, const char *path, const char *did)
{
  int code = errno;
  return lapis_fail(ctx, LAPIS_EIO, "%s: %s: %s", path, did, strerror(code));
}

static bool starts_with(const unsigned char *head, int64_t size,
                        const char *magic, size_t length)
{
  return size >= (int64_t)length && memcmp(head, magic, length) == 0;
}

/* Zip archives that are no numpy archives, by what stands among the first 100
 * bytes of their first member's name and contents, from byte 30 on. */
static const struct {
  const char *holds, *hint;
} zips[] = {
    {"[Content_Types].xml",
     "is a spreadsheet or document of Office; save the sheet as CSV (UTF-8)"},
    {"mimetypeapplication/vnd.oasis",
     "is a spreadsheet or document of LibreOffice; save the sheet as CSV "
     "(UTF-8)"},
    {"/data.pkl",
     "holds a Python pickle (PyTorch), which LAPIS never loads; save the "
     "arrays with numpy.savez"},
};

static bool stands_in(const unsigned char *text, int64_t size, const char *word)
{
  int64_t length = (int64_t)strlen(word), at = 0;
  while (at + length <= size && memcmp(text + at, word, (size_t)length) != 0)
    at++;
  return at + length <= size;
}

static const char *foreign_zip(const unsigned char *head, int64_t size)
{
  if (!starts_with(head, size, "PK\x03\x04", 4) || size <= 30) return NULL;
  for (size_t i = 0; i < sizeof zips / sizeof *zips; i++)
    if (stands_in(head + 30, size < 130 ? size - 30 : 100, zips[i].holds))
      return zips[i].hint;
  return NULL;
}

lapis_status io_check_stranger(lapis_ctx *ctx, const char *path,
                               const unsigned char *head, int64_t size)
{
  const char *name = io_name(path);
  if (size == 0)
    return lapis_fail(ctx, LAPIS_EFORMAT,
                      "%s: is empty; was it written to its end?", name);
  for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
    const signature *s = &strangers[i];
    if (starts_with(head, size, s->magic, s->size))
      return lapis_fail(ctx, s->status, "%s: %s", name, s->hint);
  }
  const char *foreign = foreign_zip(head, size);
  if (foreign != NULL)
    return lapis_fail(ctx, LAPIS_EFORMAT, "%s: %s", name, foreign);
  return LAPIS_OK;
}

/* A pipe may have nothing to say for ever. */
lapis_status io_await(lapis_ctx *ctx, int fd, const char *doing,
                      const char *what)
{
  enum { MOMENT = 200 }; /* milliseconds */
  struct pollfd one = {.fd = fd, .events = POLLIN};
  for (;;) {
    int ready = poll(&one, 1, MOMENT);
    if (ready > 0 || (ready < 0 && errno != EINTR)) return LAPIS_OK;
    TRY(base_go_on(ctx, doing, what));
  }
}

/* *got: how many came, fewer at the end alone. */
static lapis_status read_some(lapis_ctx *ctx, int fd, const char *path,
                              void *to, int64_t size, int64_t *got)
{
  enum { PIECE = 1 << 24 };
  static const double SHORT = .2; /* seconds that nobody asks for */
  double begun = base_seconds();
  for (*got = 0; *got < size;) {
    int64_t want = size - *got < PIECE ? size - *got : PIECE;
    if (base_seconds() - begun > SHORT)
      TRY(base_go_on(ctx, "reading", io_name(path)));
    TRY(io_await(ctx, fd, "reading", io_name(path)));
    ssize_t some = read(fd, (char *)to + *got, (size_t)want);
    if (some < 0 && errno == EINTR) continue;
    if (some < 0) return io_fail_errno(ctx, io_name(path), "cannot be read");
    if (some == 0) break;
    *got += some;
  }
  return LAPIS_OK;
}

/* More has come than was expected: a stream may hold a quarter of what the
 * machine has. */
static lapis_status check_end(lapis_ctx *ctx, const io_file *f, int64_t used)
{
  double most = base_memory_bytes() / 4;
  if ((double)used <= most) return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_ENOMEM,
                    "%s: does not end within %.3g GB, a quarter of this "
                    "machine's memory; save it to a file",
                    io_name(f->path), most / 1e9);
}

lapis_status io_read_all(lapis_ctx *ctx, int fd, int64_t guess, io_look look,
                         io_file *f)
{
  int64_t capacity = guess + 1;
  void *data = base_alloc_raw(ctx, capacity, 1);
  if (data == NULL) return LAPIS_ENOMEM;
  int64_t used = 0, got;
  for (;;) {
    lapis_status s =
        read_some(ctx, fd, f->path, (char *)data + used, capacity - used, &got);
    used += s < 0 ? 0 : got;
    if (s >= 0 && used < capacity) break;
    if (s >= 0 && look != NULL) s = look(ctx, data, used, f);
    look = NULL;
    if (s >= 0) s = check_end(ctx, f, used);
    if (s >= 0) s = base_grow(ctx, &data, used, 2 * capacity, 1);
    capacity *= 2;
    if (s >= 0) continue;
    base_free(data);
    return s;
  }
  f->data = data;
  f->size = used;
  f->kind = IO_HEAP;
  return LAPIS_OK;
}

lapis_status io_map_whole(lapis_ctx *ctx, int fd, int64_t size, io_file *f)
{
  void *data = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED) return io_read_all(ctx, fd, size, NULL, f);
  f->data = data;
  f->size = size;
  f->kind = IO_MAPPED;
  return LAPIS_OK;
}

lapis_status io_stat(lapis_ctx *ctx, int fd, const io_file *f, struct stat *st)
{
  return fstat(fd, st) == 0
             ? LAPIS_OK
             : io_fail_errno(ctx, io_name(f->path), "cannot be read");
}

static lapis_status open_bytes(lapis_ctx *ctx, int fd, bool input, io_file *f)
{
  struct stat st;
  TRY(io_stat(ctx, fd, f, &st));
  if (S_ISDIR(st.st_mode))
    return lapis_fail(ctx, LAPIS_EIO, "%s: is a folder; name a file", f->path);
  bool sized = !input && S_ISREG(st.st_mode);
  return io_read_all(ctx, fd, sized ? st.st_size : IO_FIRST_BLOCK, NULL, f);
}

lapis_status io_open_by(lapis_ctx *ctx, const char *path, io_opener how,
                        io_file *out)
{
  *out = (io_file){.path = path, .kind = IO_NONE, .format = IO_FORMATS};
  if (strcmp(path, "-") == 0) return how(ctx, STDIN_FILENO, true, out);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return io_fail_errno(ctx, path, "cannot be opened");
  lapis_status s = how(ctx, fd, false, out);
  (void)close(fd);
  return s;
}

lapis_status io_file_whole(lapis_ctx *ctx, const char *path, io_file *out)
{
  return io_open_by(ctx, path, open_bytes, out);
}

/* Images are read more than once, which a pipe cannot be; and one that nobody
 * writes to would never open. */
lapis_status io_file_bytes(lapis_ctx *ctx, const char *path, io_file *out)
{
  struct stat st;
  if (strcmp(path, "-") != 0 && stat(path, &st) == 0 && !S_ISREG(st.st_mode) &&
      !S_ISDIR(st.st_mode))
    return lapis_fail(
        ctx, LAPIS_EIO,
        "%s: is not an ordinary file; name a file, or - for standard input",
        path);
  return io_file_whole(ctx, path, out);
}
