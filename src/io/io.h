/* io.h - shared by the files of src/io: bytes in, arrays, bytes out. */
#ifndef LAPIS_IO_PRIVATE_H
#define LAPIS_IO_PRIVATE_H
#include "base/base.h"
#include "lapis/lapis_io.h"

/* ---- file.c: a file's bytes, recognised by their beginning --------------*/
typedef enum io_format { IO_NPY, IO_ZIP, IO_TABLE } io_format;
typedef enum io_memory {
  IO_NONE,     /* nothing to release */
  IO_HEAP,     /* base_alloc */
  IO_MAPPED,   /* munmap */
  IO_BORROWED, /* npy.c: values lie in the source's own memory */
} io_memory;
typedef struct io_file {
  const char *path; /* borrowed */
  io_format format;
  unsigned char *data; /* NULL for a zip archive that has a name */
  int64_t size;
  io_memory kind;
} io_file;
/* "-" is standard input.  A .npy file is mapped, a zip archive is left to
 * npz.c, everything else is read whole. */
lapis_status io_file_open(lapis_ctx *ctx, const char *path, io_file *out);
void io_file_close(io_file *f);
void io_release(void *memory, size_t bytes, io_memory kind);
/* How sentences call a path: "standard input" for "-". */
const char *io_name(const char *path);
bool io_exists(const char *path);

/* ---- text.c: UTF-8, text arrays, numbers in any locale ------------------*/
/* Bytes of the character at s (< end), its code point in *code; 0 if it is
 * not UTF-8. */
int utf8_decode(const char *s, const char *end, uint32_t *code);
/* Writes 1..4 bytes; 0 where code is no character. */
int utf8_encode(uint32_t code, char *out);
int64_t utf8_length(const char *s); /* in characters; -1: not UTF-8 */
/* A rows x cols TEXT array whose pointers and bytes share one block; *pool
 * has room for `bytes` bytes. */
lapis_status io_text_array(lapis_ctx *ctx, int64_t rows, int64_t cols,
                           int64_t bytes, lapis_array *out, char **pool);
/* A rows x cols array of F64 or I64, zeroed. */
lapis_status io_number_array(lapis_ctx *ctx, lapis_dtype dtype, int64_t rows,
                             int64_t cols, lapis_array *out);
/* "1.5", "-2e3", "inf": the whole of text, whatever the locale's decimal
 * point.  value NULL: only whether it is one. */
bool io_number(const char *text, int64_t size, double *value);
/* 17 significant digits, or fewer where they read back to the same double. */
void io_number_text(double value, char *text, size_t size);

/* ---- npy.c: one array ---------------------------------------------------*/
/* Bytes in sequence, as many as declared.  read gives exactly size bytes or
 * fails with its sentence. */
typedef struct io_source io_source;
struct io_source {
  lapis_ctx *ctx;
  const char *what; /* "faces.npz: member X" */
  int64_t left;     /* declared and not read yet */
  lapis_status (*read)(io_source *s, void *to, int64_t size);
  const unsigned char *at; /* the next byte, where all lie in memory */
  void *self;
};
io_source io_source_memory(lapis_ctx *ctx, const char *what, const void *data,
                           int64_t size);
lapis_status io_take(io_source *s, void *to, int64_t size);

typedef struct npy_header {
  char descr[16];
  char kind;    /* f i u b U S */
  int item;     /* bytes of one entry */
  bool big;     /* big-endian */
  bool fortran; /* first axis fastest */
  int axes;
  int64_t shape[LAPIS_MAX_AXES];
  int64_t count; /* product of shape */
} npy_header;
lapis_status npy_header_read(io_source *s, npy_header *out);
/* npy_data.c: what follows the header; all of it, and no more. */
lapis_status npy_data_read(io_source *s, const npy_header *h, lapis_array *out);
lapis_status npy_read(io_source *s, lapis_array *out);

/* npy_write.c: the bytes of a .npy file, made as they are asked for. */
typedef struct npy_stream {
  const lapis_named *item;
  char *header;
  int64_t header_size, entry, total; /* bytes; entry: of one element */
  int64_t at;                        /* next byte to give */
  char *scratch;                     /* one text element */
  int64_t scratch_index;
} npy_stream;
lapis_status npy_stream_open(lapis_ctx *ctx, const char *path,
                             const lapis_named *item, npy_stream *out);
int64_t npy_stream_read(npy_stream *s, void *to, int64_t size);
void npy_stream_close(npy_stream *s);

/* ---- npz.c --------------------------------------------------------------*/
/* The arrays of an archive; want: only these names, up to a NULL, or all.
 * seen, if not NULL: the names of all members, "A, B", to be base_freed. */
lapis_status npz_read(lapis_ctx *ctx, const io_file *f, const char *const *want,
                      lapis_arrays *out, char **seen);

/* ---- atomic.c -----------------------------------------------------------*/
typedef struct io_out {
  lapis_ctx *ctx;
  const char *path; /* as given */
  char *target;     /* links followed */
  char *temp;       /* beside target */
  bool direct;      /* no file: temp is copied to it at the end */
  int fd;           /* of temp; -1: not open */
} io_out;
lapis_status io_out_begin(lapis_ctx *ctx, const char *path, io_out *out);
/* Creates the temporary file (or let libzip create o->temp). */
lapis_status io_out_open(io_out *o);
lapis_status io_out_write(io_out *o, const void *bytes, int64_t size);
/* Makes the new file visible if status is fine, else removes it; returns
 * status, or what went wrong. */
lapis_status io_out_end(io_out *o, lapis_status status);
lapis_status io_fail_errno(lapis_ctx *ctx, const char *path, const char *did);

/* ---- table.c: delimited text -> arrays named X, Y, names, ... ------------*/
typedef struct table_request {
  const lapis_table_options *opt; /* NULL: the defaults */
  const char *features;           /* name of the features: "X" */
  const char *targets;            /* name of the targets: "Y" */
  bool all_targets;               /* every column is a target */
  bool targets_only;              /* other columns are not read */
  bool as_text;     /* targets are text, whatever they look like */
  bool id_optional; /* no complaint if the id column is absent */
} table_request;
lapis_status table_read(lapis_ctx *ctx, const io_file *f,
                        const table_request *request, lapis_arrays *out);

/* ---- csv.c: cells -------------------------------------------------------*/
typedef struct csv_scan {
  lapis_ctx *ctx;
  const char *path, *at, *end, *line_start;
  int64_t line;
  char delimiter;
  bool in_row; /* a delimiter was just read: a cell must follow */
} csv_scan;
typedef struct csv_cell {
  const char *text; /* unquoted, but "" not yet made " */
  int64_t size;
  bool quoted, escaped;
  bool last; /* of its row */
  int64_t line, column;
} csv_cell;
typedef enum csv_kind { CSV_MISSING, CSV_NUMBER, CSV_TEXT } csv_kind;
/* Checks UTF-8, drops a byte order mark and trailing line ends, finds the
 * delimiter. */
lapis_status csv_open(lapis_ctx *ctx, const char *path, const char *data,
                      int64_t size, csv_scan *out);
bool csv_at_end(const csv_scan *s);
lapis_status csv_next(csv_scan *s, csv_cell *cell);
/* Lines without any cell; one_column: there they are missing cells. */
void csv_skip_blank(csv_scan *s, bool one_column);
/* value may be NULL. */
csv_kind csv_value(const csv_cell *cell, double *value);
/* The cell's text, a NUL behind it; returns bytes written. */
int64_t csv_copy(const csv_cell *cell, char *to);
bool csv_decimal_comma(const csv_cell *cell);

/* ---- arrays.c -----------------------------------------------------------*/
/* Takes *a over (then empty) under a copied name; on failure a is freed. */
lapis_status io_arrays_add(lapis_ctx *ctx, lapis_arrays *all, const char *name,
                           lapis_array *a);

/* The one array of a .npy file, which may take the file's memory over. */
lapis_status io_arrays_npy(lapis_ctx *ctx, io_file *f, lapis_arrays *out);

/* ---- codes.c: text and odd numbers -> what lapis_data wants --------------*/
/* TEXT rows x cols -> F64 codes 0, 1, ... in byte order of the distinct
 * texts, "" -> NaN; values: 1 x m TEXT of the distinct texts. */
lapis_status codes_sorted(lapis_ctx *ctx, const lapis_mat *text,
                          lapis_array *codes, lapis_array *values);
/* 1 x n, text or integers of any type -> I64; texts in order of first
 * appearance. */
lapis_status codes_group(lapis_ctx *ctx, const char *what,
                         const lapis_mat *group, lapis_array *out);
/* 1 x n numbers -> TEXT. */
lapis_status codes_names(lapis_ctx *ctx, const lapis_mat *numbers,
                         lapis_array *out);

#endif
