/* recognise.c - opening a file: its beginning decides its format; its name is
 * not consulted. */
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/io.h"
#include "files/parts_folder.h"

enum { HEAD_BYTES = 4096 };

static bool begins(const unsigned char *head, int64_t size, const char *magic,
                   size_t length)
{
  return size >= (int64_t)length && memcmp(head, magic, length) == 0;
}

/* The text at its beginning is free; version and byte order are not. */
static bool is_matlab(const unsigned char *head, int64_t size)
{
  if (begins(head, size, "MATLAB 5.0", 10)) return true;
  return size >= 128 && (memcmp(head + 124, "\x00\x01IM", 4) == 0 ||
                         memcmp(head + 124, "\x01\x00MI", 4) == 0);
}

/* The signature lies at 0, 512, 1024, ... */
static bool is_hdf5(const unsigned char *head, int64_t size)
{
  bool found = begins(head, size, "\x89HDF\r\n\x1a\n", 8);
  for (int64_t at = 512; at < size && !found; at *= 2)
    found = begins(head + at, size - at, "\x89HDF\r\n\x1a\n", 8);
  return found;
}

/* Text has no control characters but white space. */
static bool looks_like_text(const unsigned char *head, int64_t size)
{
  for (int64_t i = 0; i < size; i++) {
    bool space = head[i] >= '\t' && head[i] <= '\r';
    if ((head[i] < ' ' && !space) || head[i] == 0x7f) return false;
  }
  return true;
}

io_format io_recognise(const unsigned char *head, int64_t size)
{
  if (begins(head, size, "\x93NUMPY", 6)) return IO_NPY;
  if (begins(head, size, "PK\x03\x04", 4) ||
      begins(head, size, "PK\x05\x06", 4))
    return IO_NPZ;
  if (is_matlab(head, size)) return IO_MAT;
  if (is_hdf5(head, size))
    return begins(head, size, "MATLAB 7.3", 10) ? IO_MAT73 : IO_HDF5;
  if (!looks_like_text(head, size)) return IO_FORMATS;
  if (arff_is(head, size)) return IO_ARFF;
  if (svm_is(head, size)) return IO_SVM;
  return IO_CSV;
}

/* A matrix of MATLAB 4 has no magic: five numbers of 32 bits, its type (below
 * 4053), rows, columns, whether it is complex, and the bytes of its name, a
 * text that ends in a NUL. */
static bool is_matlab_4(const unsigned char *head, int64_t size)
{
  uint32_t n[5];
  for (int big = 0; size >= 24 && big < 2; big++) {
    for (int k = 0; k < 5; k++) {
      const unsigned char *b = head + 4 * k;
      n[k] = big ? (uint32_t)b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3]
                 : (uint32_t)b[3] << 24 | b[2] << 16 | b[1] << 8 | b[0];
    }
    if (n[0] < 4053 && n[1] < INT32_MAX && n[2] < INT32_MAX && n[3] < 2 &&
        n[4] > 1 && n[4] <= 64 && 20 + (int64_t)n[4] <= size &&
        head[19 + n[4]] == '\0' && head[20] >= 'A' && head[20] <= 'z')
      return true;
  }
  return false;
}

static lapis_status recognise(lapis_ctx *ctx, const unsigned char *head,
                              int64_t size, io_file *f)
{
  const char *name = io_name(f->path);
  TRY(io_check_stranger(ctx, f->path, head, size));
  f->format = io_recognise(head, size < HEAD_BYTES ? size : HEAD_BYTES);
  if (f->format != IO_FORMATS) return LAPIS_OK;
  if (is_matlab_4(head, size))
    return lapis_fail(ctx, LAPIS_EFORMAT,
                      "%s: is a file of MATLAB 4; save it with -v7", name);
  size_t length = strlen(name);
  const char *ending = name + (length > 4 ? length - 4 : 0);
  if (strcasecmp(ending, ".csv") == 0 || strcasecmp(ending, ".tsv") == 0) {
    f->format = IO_CSV; /* it was meant so: the reader says where it is none */
    return LAPIS_OK;
  }
  return lapis_fail(ctx, LAPIS_EFORMAT,
                    "%s: is in no known format; 'lapis formats' lists those "
                    "that are",
                    name);
}

/* A regular file can be looked at before it is decided how to read it. */
static lapis_status open_regular(lapis_ctx *ctx, int fd, int64_t size,
                                 io_file *f)
{
  unsigned char head[HEAD_BYTES];
  ssize_t got = pread(fd, head, sizeof head, 0);
  if (got < 0) return io_fail_errno(ctx, f->path, "cannot be read");
  TRY(recognise(ctx, head, got, f));
  if (f->format == IO_NPZ || f->format == IO_HDF5 || f->format == IO_MAT73)
    return LAPIS_OK; /* their libraries open them by name */
  if (f->format == IO_NPY) return io_map_whole(ctx, fd, size, f);
  return io_read_all(ctx, fd, size, NULL, f);
}

static lapis_status open_stream(lapis_ctx *ctx, int fd, io_file *f)
{
  TRY(io_read_all(ctx, fd, IO_FIRST_BLOCK, recognise, f));
  f->stored = (double)f->size;
  lapis_status s = recognise(ctx, f->data, f->size, f);
  if (s < 0) io_file_close(f);
  return s;
}

static lapis_status open_descriptor(lapis_ctx *ctx, int fd, bool input,
                                    io_file *f)
{
  struct stat st;
  TRY(io_stat(ctx, fd, f, &st));
  if (S_ISDIR(st.st_mode)) {
    f->format = IO_PARTS;
    return parts_find(ctx, f->path);
  }
  if (input || !S_ISREG(st.st_mode)) return open_stream(ctx, fd, f);
  f->stored = (double)st.st_size;
  return open_regular(ctx, fd, st.st_size, f);
}

lapis_status io_file_open(lapis_ctx *ctx, const char *path, io_file *out)
{
  return io_open_by(ctx, path, open_descriptor, out);
}
