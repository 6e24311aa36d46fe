/* io.h - shared by the files of src/files: bytes in, arrays, bytes out. */
#ifndef LAPIS_IO_PRIVATE_H
#define LAPIS_IO_PRIVATE_H
#include <sys/types.h>

#include "base/base.h"
#include "lapis/files.h"
#include "lapis/tools.h"

/* ---- file.c: a file's bytes; recognise.c: what they are ------------------*/
typedef enum io_format {
  IO_NPY,
  IO_NPZ,
  IO_CSV,
  IO_TSV, /* written only: read as IO_CSV, which finds its delimiter */
  IO_SVM,
  IO_ARFF,
  IO_MAT,
  IO_MAT73,
  IO_HDF5,
  IO_PARTS, /* a folder */
  IO_FORMATS
} io_format;
typedef enum io_memory {
  IO_NONE,     /* nothing to release */
  IO_HEAP,     /* base_alloc */
  IO_MAPPED,   /* munmap */
  IO_BORROWED, /* npy.c: the values lie in memory of the io_source */
} io_memory;
typedef struct io_file {
  const char *path; /* borrowed */
  io_format format;
  unsigned char *data; /* NULL for .npz, HDF5 that has a name, a folder */
  int64_t size;
  io_memory kind;
  double stored; /* bytes, in a folder those of its files */
} io_file;
/* "-" is standard input.  A .npy file is mapped, a zip archive is left to
 * npz.c, everything else is read whole. */
lapis_status io_file_open(lapis_ctx *ctx, const char *path, io_file *out);
/* All bytes of any file, whatever its format; there may be none. */
lapis_status io_file_bytes(lapis_ctx *ctx, const char *path, io_file *out);
/* The same, also of what can be read but once. */
lapis_status io_file_whole(lapis_ctx *ctx, const char *path, io_file *out);
/* By `how`, with a descriptor; input: of standard input. */
typedef lapis_status (*io_opener)(lapis_ctx *ctx, int fd, bool input,
                                  io_file *f);
lapis_status io_open_by(lapis_ctx *ctx, const char *path, io_opener how,
                        io_file *out);
struct stat;
lapis_status io_stat(lapis_ctx *ctx, int fd, const io_file *f, struct stat *st);
/* Reads to the end; guess bytes are expected, which may be wrong.  look (NULL:
 * none) is asked once these have come: a stream may have no end. */
enum { IO_FIRST_BLOCK = 1 << 16 };
typedef lapis_status (*io_look)(lapis_ctx *ctx, const unsigned char *head,
                                int64_t size, io_file *f);
lapis_status io_read_all(lapis_ctx *ctx, int fd, int64_t guess, io_look look,
                         io_file *f);
lapis_status io_map_whole(lapis_ctx *ctx, int fd, int64_t size, io_file *f);
/* Refuses an empty file and formats that are known and not read. */
lapis_status io_check_stranger(lapis_ctx *ctx, const char *path,
                               const unsigned char *head, int64_t size);
/* Until fd has something to read, or has ended; asks base_go_on meanwhile. */
lapis_status io_await(lapis_ctx *ctx, int fd, const char *doing,
                      const char *what);
void io_file_close(io_file *f);
void io_release(void *memory, size_t bytes, io_memory kind);
/* What error sentences call a path: "standard input" for "-". */
const char *io_name(const char *path);
bool io_exists(const char *path);
/* And no pipe, which a file that nobody named could be to keep us waiting. */
bool io_is_file(const char *path);

/* ---- text.c: UTF-8, text arrays, numbers in any locale ------------------*/
/* How many bytes the character at s (< end) has, and its code point in *code; 0
 * if it is not UTF-8. */
int utf8_decode(const char *s, const char *end, uint32_t *code);
/* Writes 1..4 bytes; 0 where code is no character. */
int utf8_encode(uint32_t code, char *out);
/* csv.c: refuses what is not UTF-8, with its place. */
lapis_status io_check_utf8(lapis_ctx *ctx, const char *path, const char *at,
                           const char *end);
int64_t utf8_length(const char *s); /* in characters; -1: not UTF-8 */
/* One of the words, ".csv .txt", ends path. */
#define IO_TSV_ENDINGS ".tsv .tab"
bool io_ends_in(const char *path, const char *words);
/* A rows x cols TEXT array whose pointers and bytes share one block; *pool
 * has room for `bytes` bytes. */
lapis_status io_text_array(lapis_ctx *ctx, int64_t rows, int64_t cols,
                           int64_t bytes, lapis_array *out, char **pool);
/* 1 x count TEXT of texts of `size` bytes each, or where it is 0 of pointers.
 */
lapis_status io_text_copy(lapis_ctx *ctx, const char *what, const char *raw,
                          size_t size, int64_t count, lapis_array *out);
/* A rows x cols array of F64 or I64, zeroed. */
lapis_status io_number_array(lapis_ctx *ctx, lapis_dtype dtype, int64_t rows,
                             int64_t cols, lapis_array *out);
/* Whether the whole of text is a number ("1.5", "-2e3", "inf"), whatever the
 * locale's decimal point; *value is that number (value may be NULL). */
bool io_number(const char *text, int64_t size, double *value);

/* ---- npy.c: one array ---------------------------------------------------*/
/* Bytes that come one after the other, as many as were declared.  read gives
 * exactly size bytes, or fails with a sentence. */
typedef struct io_source io_source;
struct io_source {
  lapis_ctx *ctx;
  const char *what; /* "faces.npz: member X" */
  int64_t left;     /* declared and not read yet */
  lapis_status (*read)(io_source *s, void *to, int64_t size);
  const unsigned char *at; /* the next byte, where all bytes lie in memory */
  bool any_place; /* there, F32 values may begin at any byte (mat_stored) */
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
/* npy_data.c: reads what follows the header, all of it and no more. */
lapis_status npy_data_read(io_source *s, const npy_header *h, lapis_array *out);
lapis_status npy_read(io_source *s, lapis_array *out);
/* Whether the values of a source in memory are read where they lie. */
bool npy_stays(const io_source *s, const npy_header *h);
/* Whether the file's order is ours. */
bool npy_is_straight(const npy_header *h);

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

/* ---- share.c: one process's samples ---------------------------------------
 * Of n samples those from n part / parts to n (part + 1) / parts.  An array of
 * which only these were read keeps the shape of all, and has fewer columns; one
 * of a single line, which may be MATLAB's row of all samples, stays whole. */
typedef struct io_share {
  int64_t part, parts;   /* parts 0: all */
  const char *const *of; /* members, up to a NULL; NULL: all that are numbers */
} io_share;
void io_share_cut(const io_share *s, int64_t n, int64_t *first, int64_t *count);
/* false: a member of that name and n samples is read whole. */
bool io_share_of(const io_share *s, const char *name, int64_t n, int64_t *first,
                 int64_t *count);
/* npy_data_read for what a share takes: from memory nothing else is touched. */
lapis_status npy_share_read(io_source *s, const npy_header *h,
                            const io_share *share, const char *name,
                            lapis_array *out);

/* ---- formats.c: the one table of what is read and written ---------------*/
typedef enum io_role { /* what a column of a table is for */
                       IO_FEATURE,
                       IO_TARGET,
                       IO_ID,
                       IO_LEFT_OUT,
                       IO_ONE_HOT /* while columns are marked: a feature a value
                                   */
} io_role;
typedef struct table_request {
  const lapis_table_options *opt; /* NULL: the defaults */
  const char *features;           /* name of the features: "X" */
  const char *targets;            /* name of the targets: "Y" */
  bool all_targets;               /* every column is a target */
  bool targets_only;              /* other columns are not read */
  bool as_text;     /* targets are text, whatever they look like */
  bool id_optional; /* no complaint if the id column is absent */
  bool find_id; /* where none is named, a column called id, or a first one that
                   numbers the rows, has the samples' names; "#2": */
  const char *named_by; /* this column has; or NULL */
} table_request;

typedef struct io_request {
  table_request table;     /* how a table is read */
  const char *const *want; /* from a container only these, up to a NULL */
  char **seen;        /* not NULL: names of all members, "A, B"; base_free */
  bool any_place;     /* stored F32 may be mapped where it begins at any byte */
  io_share share;     /* readers that do not know it read all */
  const char *remedy; /* of io_read_apart, for what cannot be read; or NULL */
} io_request;

/* An array may take over the memory of the file. */
typedef lapis_status (*io_reader)(lapis_ctx *ctx, io_file *f,
                                  const io_request *request, lapis_arrays *out);
typedef struct io_kind {
  lapis_format shown;
  io_reader read;
  lapis_status (*write)(lapis_ctx *ctx, const char *path,
                        const lapis_named *item, int count);
} io_kind;
const io_kind *io_kind_of(io_format format);
/* The format of a file whose first `size` bytes are head; IO_FORMATS: none. */
io_format io_recognise(const unsigned char *head, int64_t size);
/* Reads a file by the reader of its format; fills request->seen, too, unless it
 * is NULL. */
lapis_status io_read(lapis_ctx *ctx, io_file *f, const io_request *request,
                     lapis_arrays *out);
/* The same by a reader that is known. */
lapis_status io_read_by(lapis_ctx *ctx, io_reader read, io_file *f,
                        const io_request *request, lapis_arrays *out);
bool io_is_wanted(const char *const *want, const char *name);
const lapis_named *io_find_item(const lapis_named *item, int count,
                                const char *name);
/* For a format that holds only the members `kept` (up to a NULL): warns which
 * members are lost. */
void io_warn_lost(lapis_ctx *ctx, const char *path, const lapis_named *item,
                  int count, const char *const *kept);

/* ---- asked.c: options that the files read make use of --------------------*/
enum { IO_MOST_ASKED = 1024 }; /* targets of a container that are named */
typedef struct io_asked {
  unsigned given, used;
  char file[256], missed[512]; /* the first file; which target has no name */
} io_asked;
/* opt was given with a file that was read, whole or as one member: what of opt
 * it makes use of.  Of a container's Y, and of what names its targets, the
 * targets named alone stay ("a,b": titles, or numbers from 1). */
lapis_status io_ask(lapis_ctx *ctx, io_asked *a, const lapis_table_options *opt,
                    const io_file *f, const char *member, lapis_arrays *all);
/* Refuses a value that none of the readers knows. */
lapis_status io_options_check(lapis_ctx *ctx, const lapis_table_options *opt);
/* Refuses what was given and no file made use of. */
lapis_status io_asked_check(lapis_ctx *ctx, const io_asked *a);

/* ---- model_columns.c: columns as a model names its features
 * ----------------------*/
#define IO_NOT " (not "   /* a feature that is 1 for one of two words */
typedef struct io_known { /* what a column is to the model */
  int64_t place, width;   /* of its features; place -1: no feature */
  const char **value;     /* of "TITLE=VALUE": width texts; else NULL */
  const char *other;      /* of "TITLE=VALUE (not OTHER)"; else NULL */
} io_known;
/* names: the model's features.  title: of count columns, NULL where one is no
 * candidate.  LAPIS_EMISSING with a sentence where a feature has no column. */
lapis_status io_know(arena *memory, const char *path, const lapis_mat *names,
                     int64_t count, const char *const *title, io_known *out);

/* ---- lookup.c: which of many texts one is -------------------------------*/
typedef struct io_text {
  const char *text; /* any bytes */
  int64_t size, at; /* at: its place among all */
} io_text;
void io_lookup_sort(io_text *all, int64_t count); /* by bytes, then place */
/* The first that is no less than this text; sorted + count: there is none. */
const io_text *io_lookup_from(const io_text *sorted, int64_t count,
                              const char *text, int64_t size);
/* The first place of this text; -1: it is not there. */
int64_t io_lookup(const io_text *sorted, int64_t count, const char *text,
                  int64_t size);

/* ---- sparse.c: compressed columns ---------------------------------------*/
/* Room for nnz entries of doubles; structure zeroed. */
lapis_status io_sparse_array(lapis_ctx *ctx, const char *what, int64_t rows,
                             int64_t cols, int64_t nnz, lapis_array *out);
typedef struct io_triplets { /* nnz entries anywhere in rows x cols */
  int64_t rows, cols, nnz;
  const int64_t *row, *col;
  const double *value;
} io_triplets;
/* Sorted within columns; entries at one place are added up, as scipy does. */
lapis_status io_sparse_build(lapis_ctx *ctx, const char *what,
                             const io_triplets *t, lapis_array *out);
/* A sparse or dense matrix, transposed, sparse. */
lapis_status io_sparse_transpose(lapis_ctx *ctx, const char *what,
                                 const lapis_mat *A, lapis_array *out);
/* A sparse matrix as scipy's csr (by_sample) and csc store it: ptr says where
 * each line (a sample or a feature) begins, at the place of an entry in its
 * line. */
typedef struct io_compressed {
  bool by_sample;
  int64_t samples, features, nnz, n_ptr;
  const int64_t *ptr, *at; /* n_ptr; nnz */
  const double *value;     /* nnz */
} io_compressed;
lapis_status io_sparse_compressed(lapis_ctx *ctx, const char *what,
                                  const io_compressed *c, lapis_array *out);
/* sparse_lists.c: such a matrix whose lists are read from a file, as far as a
 * share of its samples needs them.  read gives `count` numbers of the list
 * `name` from `first` on; -1: all. */
typedef struct io_lists {
  lapis_ctx *ctx;
  const char *what;            /* for sentences */
  const char *ptr, *at, *data; /* names of the lists */
  bool by_sample;
  int64_t samples, features; /* features -1: as many as there are lines */
  lapis_status (*read)(void *self, const char *name, bool integers,
                       int64_t first, int64_t count, lapis_array *out);
  void *self;
} io_lists;
lapis_status io_sparse_lists(const io_lists *l, const io_share *share,
                             const char *name, lapis_array *out);
/* How many entries are not +0, of those that a sparse matrix stores or of all
 * in a dense one. */
int64_t io_count_stored(const lapis_mat *A);
/* The next stored entry of column j from *k on (begin with 0); false: none. */
bool io_next_stored(const lapis_mat *A, int64_t j, int64_t *k, int64_t *row,
                    double *value);
/* A as a dense matrix in *out: A itself where it is dense, else a copy, whose
 * memory *owned has. */
lapis_status io_dense(lapis_ctx *ctx, const char *what, const lapis_mat *A,
                      lapis_array *owned, lapis_mat *out);
/* scipy's members (NAME.data, or data for X, and so on) become one array. */
lapis_status io_sparse_assemble(lapis_ctx *ctx, const char *path,
                                lapis_arrays *all);
/* "X" for "data", "indices", ...; "P" for "P.data"; NULL: no such member.
 * The name is written into to. */
const char *io_sparse_owner(const char *name, char *to, size_t size);

/* Members as they are written: a sparse matrix becomes five of them. */
typedef struct npz_items {
  int count, members;
  lapis_named *item;
  void *memory;
} npz_items;
lapis_status npz_items_new(lapis_ctx *ctx, const char *path,
                           const lapis_named *item, int count, npz_items *out);
void npz_items_free(npz_items *items);

/* ---- npz.c --------------------------------------------------------------*/
lapis_status npz_read(lapis_ctx *ctx, io_file *f, const io_request *request,
                      lapis_arrays *out);

/* ---- npz_map.c ----------------------------------------------------------*/
typedef struct npz_place {
  void *map; /* of the whole file: munmap */
  size_t bytes;
  const unsigned char *data; /* of the member, within map */
} npz_place;
/* Maps the file, where its member of that number and name is stored as it is,
 * `size` bytes of it; false: it is not, or that is not clear. */
bool npz_map(const char *path, int64_t index, const char *name, int64_t size,
             npz_place *out);

/* ---- svm.c: LIBSVM and SVMlight -----------------------------------------*/
bool svm_is(const unsigned char *head, int64_t size);
lapis_status svm_read(lapis_ctx *ctx, io_file *f, const io_request *request,
                      lapis_arrays *out);
lapis_status svm_write(lapis_ctx *ctx, const char *path,
                       const lapis_named *item, int count);

/* ---- arff.c, arff_data.c ------------------------------------------------*/
bool arff_is(const unsigned char *head, int64_t size);
lapis_status arff_read(lapis_ctx *ctx, io_file *f, const io_request *request,
                       lapis_arrays *out);

/* ---- matlab.c, mat_value.c, mat_write.c: MATLAB 5
 * --------------------------*/
lapis_status mat_read(lapis_ctx *ctx, io_file *f, const io_request *request,
                      lapis_arrays *out);
lapis_status mat_write(lapis_ctx *ctx, const char *path,
                       const lapis_named *item, int count);

/* ---- child.c ------------------------------------------------------------*/
/* Calls `read` in a copy of this process.  A file on which the copy crashes, or
 * takes longer or more memory than its number of bytes can explain, is refused.
 */
lapis_status io_read_apart(lapis_ctx *ctx, io_file *f, int64_t bytes,
                           const io_request *request, io_reader read,
                           lapis_arrays *out);

/* Of such a copy: from here on no file can be opened, whatever the one being
 * read names. */
void io_open_no_more(void);

/* Calls `write` in a copy of this process: a library that crashes when a write
 * fails, at once or when the process ends, crashes only the copy. */
typedef lapis_status (*io_writer)(lapis_ctx *ctx, void *task);
lapis_status io_write_apart(lapis_ctx *ctx, const char *path, io_writer write,
                            void *task);

/* ---- hdf5_apart.c, or hdf5_absent.c
 * --------------------------------------------*/
#define IO_MAT73_SHOWN                                              \
  "mat73", "", "MATLAB 7.3 (HDF5)", "every member but texts", true, \
      "libhdf5-dev"
#define IO_HDF5_SHOWN                                               \
  "h5", ".h5 .hdf5 .h5ad", "HDF5, h5py, anndata's sparse matrices", \
      "every member", true, "libhdf5-dev"
extern const io_kind io_mat73, io_hdf5;

/* ---- table_write.c ------------------------------------------------------*/
lapis_status csv_write(lapis_ctx *ctx, const char *path,
                       const lapis_named *item, int count);
lapis_status tsv_write(lapis_ctx *ctx, const char *path,
                       const lapis_named *item, int count);

/* ---- temporary.c: files that are being written --------------------------*/
/* Opens a temporary file beside target, for itself alone, and removes those
 * that killed writers of target have left; its name goes to path (PATH_MAX).
 * -1: errno. */
int io_temporary(const char *target, mode_t mode, char *path);
/* The same for one at a time, which locks others out until it is removed and
 * closed: EBUSY while there is another, EEXIST where that cannot be known. */
int io_temporary_alone(const char *target, mode_t mode, char *path);
/* Removes those that killed writers of target have left. */
void io_temporary_tidy(const char *target);

/* ---- atomic.c -----------------------------------------------------------*/
typedef struct io_out {
  lapis_ctx *ctx;
  const char *path; /* as given */
  char *target;     /* path with its links followed */
  char *temp;       /* beside target */
  bool direct;      /* no file: temp is copied to it at the end */
  bool kept;        /* mode: that of the file that is replaced */
  mode_t mode;
  int fd; /* of temp */
} io_out;
/* An empty temporary file that is as readable as the old one. */
lapis_status io_out_begin(lapis_ctx *ctx, const char *path, io_out *out);
/* The same where another file, like, says who may read the new one. */
lapis_status io_out_begin_like(lapis_ctx *ctx, const char *path,
                               const char *like, io_out *out);
/* Removes what killed writers of path have left. */
void io_tidy(const char *path);
lapis_status io_out_write(io_out *o, const void *bytes, int64_t size);
/* Makes the new file visible if status is fine, else removes it; returns
 * status, or what went wrong. */
lapis_status io_out_end(io_out *o, lapis_status status);
lapis_status io_fail_errno(lapis_ctx *ctx, const char *path, const char *did);

/* npz.c: whether these can be members of one archive. */
lapis_status npz_check(lapis_ctx *ctx, const char *path,
                       const lapis_named *item, int count);
/* npz.c: the archive in o's temporary file. */
lapis_status npz_write(io_out *o, const lapis_named *item, int count);

/* ---- parts.c: a folder of parts -------------------------------------------*/
extern const io_kind io_parts;

/* ---- table.c: delimited text -> arrays named X, Y, names, ... ------------*/
lapis_status table_read(lapis_ctx *ctx, io_file *f, const io_request *request,
                        lapis_arrays *out);
/* A cell as it stands, with what its column is for. */
typedef struct io_cell {
  int64_t row; /* -1: a title */
  int64_t column;
  io_role role;
  int64_t place, width;     /* of its features, or its target, in a sample */
  const char *const *value; /* width texts of a one-hot column, else NULL */
  /* Of a feature that is one number the words it may be, NULL: any number. */
  const char *const *word;
  int64_t words;
  bool coded;          /* they stand for 0, 1, 2, ..; else each is a number */
  bool whole;          /* it is declared to hold whole numbers */
  int64_t digits;      /* that they are written with, zeros before; 0: any */
  int64_t decimals;    /* that its numbers have at most; -1: any */
  int64_t numbers;     /* that it has */
  char thousands;      /* the mark between theirs; 0: none */
  const char *text;    /* without quotes */
  bool missing, last;  /* last: of its row */
  const char *dialect; /* of delimited text; else NULL */
  const struct csv_cell *cell; /* of delimited text, as it stands; else NULL */
} io_cell;
typedef void (*io_cell_fn)(void *user, const io_cell *cell);
/* Visits every cell, row after row, the titles first. */
lapis_status table_walk(lapis_ctx *ctx, io_file *f, const table_request *q,
                        io_cell_fn visit, void *user);
lapis_status arff_walk(lapis_ctx *ctx, io_file *f, const table_request *q,
                       io_cell_fn visit, void *user);

/* columns.c: as a table is read, but these columns as features, no targets. */
lapis_table_options io_columns_alone(const lapis_table_options *opt,
                                     const char *columns);

/* ---- meter.c: a long read or write of text, shown to who waits ------------*/
typedef struct io_meter {
  double begun, shown;
} io_meter;
io_meter io_meter_begin(void);
/* At most ten times a second.  doing: "reading", "writing"; done: the share,
 * NaN where it is not known; 1 is told where anything was. */
void io_meter_show(lapis_ctx *ctx, io_meter *m, const char *doing, double done);

/* ---- csv.c: cells -------------------------------------------------------*/
typedef struct csv_scan {
  lapis_ctx *ctx;
  io_meter meter;
  const char *begin, *told; /* where the meter was asked last */
  int pass, passes;         /* of how many this is, from 0; 0: not known */
  const char *path, *at, *end, *line_start;
  int64_t line;
  char delimiter;
  bool named;          /* by a line "sep=;" */
  bool one_column;     /* a line without a cell is a missing cell */
  char decimal;        /* ',': numbers are written 1.234,5; '.': 1,234.5 */
  const char *missing; /* "WORD,WORD": these mean "not known", too; or NULL */
  bool in_row;         /* a delimiter was just read: a cell must follow */
} csv_scan;
typedef struct csv_cell {
  const char *text; /* without its quotes, but "" inside is not yet "; without
                       the mark against spreadsheets */
  int64_t size;
  const char *raw; /* as it stands, blanks and quotes included */
  int64_t raw_size;
  bool quoted, escaped, marked;
  bool last;           /* the last cell of its row */
  char decimal;        /* of the scan */
  const char *missing; /* likewise */
  int64_t line, column;
} csv_cell;
typedef enum csv_kind { CSV_MISSING, CSV_NUMBER, CSV_TEXT } csv_kind;
typedef enum csv_absence { /* what a cell has that may mean "not known" */
                           CSV_PRESENT, /* nothing of that kind */
                           CSV_EMPTY,
                           CSV_MARKER, /* NA, ?, #N/A; or of --missing */
                           CSV_WORD,   /* none, null */
                           CSV_QUOTED, /* NA, none and the like in quotes */
                           CSV_ABSENCES
} csv_absence;
/* missing.c: of a word, as lapis_text_missing and _unsure have it. */
csv_absence io_absence_of(const char *text, int64_t size);
bool io_is_unsure(const char *text, int64_t size);
/* Checks UTF-8, drops a byte order mark, finds the delimiter, and whether there
 * is one column alone.  Of more, empty lines at the beginning and the end are
 * dropped; of one they are rows, as all others are. */
lapis_status csv_open(lapis_ctx *ctx, const char *path, const char *data,
                      int64_t size, csv_scan *out);
/* Sets the delimiter: the first of the candidates that gives all sampled rows
 * the same number of cells.  csv_open tries tab and semicolon before the comma:
 * where one of these two delimits, a comma may be part of a cell, but the other
 * way round is rare. */
void csv_delimit(csv_scan *s, const char *candidates);
bool csv_at_end(const csv_scan *s);
lapis_status csv_next(csv_scan *s, csv_cell *cell);
/* How many rows a quoted cell, number `at` of its row from 0, may have
 * swallowed by a quote that nobody closed: its lines have as many delimiters as
 * rows of `columns` cells have.  0: none. */
int64_t csv_swallowed(const csv_scan *s, const csv_cell *cell, int64_t at,
                      int64_t columns);
/* Skips lines without any cell; of one column there are none: they are cells.
 */
void csv_skip_blank(csv_scan *s);
/* As much of a cell as fits a sentence: one line, whole characters. */
int csv_shown_bytes(const csv_cell *cell);
/* Says that a column's cells, `count` from the first on, hold words that its
 * model has not met; of no cell nothing (model_columns.c). */
void io_tell_strange(lapis_ctx *ctx, const char *path, const csv_cell *title,
                     const csv_cell *first, int64_t count);
csv_absence csv_absence_of(const csv_cell *cell);
/* value may be NULL.  By the cell alone; facts_kind goes by its column, too. */
csv_kind csv_value(const csv_cell *cell, double *value);
/* Writes the cell's text and a NUL after it; returns the bytes written. */
int64_t csv_copy(const csv_cell *cell, char *to);
/* Digits, a mark, digits, the same mark, digits: 2026-11-22, 22.11.2026. */
bool csv_is_date(const csv_cell *cell);

/* ---- facts.c: what the cells of a column say together -------------------*/
enum { FACTS_FEW = 10, FACTS_BYTES = 320, FACTS_KINDS = 5 };
typedef struct io_end { /* the least, or the greatest, of a column's numbers */
  double value, next;   /* next: the one before it that differs */
  int64_t count;
} io_end;
typedef struct io_facts {
  int64_t numbers, texts, bare_texts, absent[CSV_ABSENCES], unsure;
  csv_cell first[CSV_ABSENCES], first_unsure; /* of each; text NULL: none */
  bool bare, plus;  /* some cell stands without quotes, is + */
  bool whole;       /* all numbers are */
  bool odd;         /* some number is spelt as LAPIS would not */
  bool padded;      /* ... as a whole number such as 007 */
  int64_t digits;   /* that all numbers have; 0: they differ */
  int64_t decimals; /* that they have at most; -1: any */
  char thousands;   /* the mark between them; 0: none */
  int step;         /* numbers rise (1), fall (-1); 0: neither; 2: one number */
  bool gaps;        /* ... by another step than 1 */
  double start, last; /* the first and the last number */
  double sum;         /* of all numbers */
  int64_t others;     /* than 0, among them */
  struct {
    const char *text;
    int64_t size;
    bool number;
  } final; /* the last cell */
  io_end low, high;
  struct {
    double value;
    int64_t size;
    const char *text; /* as it is spelt first */
  } few[FACTS_FEW];   /* its different numbers */
  int n_few;          /* FACTS_FEW + 1: there are more */
  bool words, quotes; /* judged: CSV_WORD, CSV_QUOTED are words like others */
  bool named;         /* titled as names of rows are, and few are alike */
} io_facts;
io_facts facts_begin(void);
/* kind, value: as csv_value read the cell. */
void facts_note(io_facts *f, const csv_cell *cell, csv_kind kind, double value);
/* The same of a cell above all others. */
void facts_note_before(io_facts *f, const csv_cell *cell, csv_kind kind,
                       double value);
/* After all cells.  quotes_mean: some cell of the table has no quotes. */
void facts_judge(io_facts *f, bool quotes_mean, bool none_is_word);
/* What the cell is in this column; value may be NULL. */
csv_kind facts_kind(const io_facts *f, const csv_cell *cell, double *value);
/* Whether its numbers are those of the rows: whole, one a row, and rising or
 * falling, or many under the title of such. */
bool facts_count_rows(const io_facts *f);
bool facts_are_codes(const io_facts *f); /* few, whole, repeated: 1 and 2 */
/* A sentence about what is doubtful of the column, k from 0 on; said is ""
 * where there is none of that kind.  false: there are no more kinds. */
bool facts_say(const io_facts *f, int k, char said[FACTS_BYTES]);
bool facts_is_sentinel(const io_facts *f, double value); /* it is said */
double facts_sentinel(const io_facts *f); /* the first; NaN: there is none */

/* table.c: counts rows and columns, finds out whether there is a header, and
 * gathers facts of each column, in memory; rows of different lengths are
 * refused. */
lapis_status table_shape(const csv_scan *start, const lapis_table_options *opt,
                         lapis_columns *out, arena *memory, io_facts **facts);

/* ---- decimal_marks.c: which mark is decimal, which is between thousands --*/
typedef enum mark_kind {
  MARK_NOT,      /* no number in any reading */
  MARK_SMALL,    /* a whole number without marks, below 1000 */
  MARK_LARGE,    /* ... or not */
  MARK_COMMA,    /* 1,234: of two readings */
  MARK_POINT,    /* 1.234: likewise */
  MARK_BY_COMMA, /* a number by --decimal , alone: 0,5  1.234,5  1.234.567 */
  MARK_BY_POINT, /* a number by --decimal . alone: 1,234,567  1,234.5 */
  MARK_PLAIN,    /* likewise, and as it stands: 0.5 */
  MARK_KINDS
} mark_kind;
typedef struct marks { /* of the numbers of a column, as they are written */
  struct {
    const char *text;
    int64_t size;
  } first[MARK_KINDS]; /* the first cell of each kind; text NULL: none */
} marks;
typedef enum marks_found {
  MARKS_FINE,
  MARKS_DECIMAL_COMMA, /* read by --decimal , */
  MARKS_TWO_READINGS,  /* or by the one that the sentence names first */
  MARKS_DOUBTFUL       /* numbers as they were read, but perhaps others */
} marks_found;
enum { MARKS_BYTES = 320, MARKS_PLAIN = 64 };
/* Whether it is a number where `decimal`, of , and . the one, is that mark; the
 * other may stand between thousands: behind one to three digits, the first no
 * 0, and before each three. */
bool marks_number(const csv_cell *cell, char decimal, double *value);
/* 17 811,5 without blanks, or apostrophes, between thousands; its size, or 0.
 */
int64_t marks_ungroup(const csv_cell *cell, char plain[MARKS_PLAIN]);
mark_kind marks_of(const csv_cell *cell, csv_kind kind);
/* kind: as csv_value read the cell. */
void marks_note(marks *m, const csv_cell *cell, csv_kind kind);
/* What m has seen was seen in the table, unless it has texts. */
void marks_join(marks *table, const marks *m);
/* How a column is to be read that was read by `decimal` (0: not named) between
 * delimiters; *rather: by what instead, or 0; said: why, in words that follow
 * "the column: ", or "". */
marks_found marks_judge(const marks *m, const marks *table, char delimiter,
                        char decimal, char *rather, char said[MARKS_BYTES]);

/* ---- dialect.c: how a table is written ----------------------------------*/
enum { DIALECT_BYTES = sizeof((lapis_cells *)NULL)->dialect };
void dialect_find(const io_file *f, const csv_scan *start,
                  char text[DIALECT_BYTES]);
/* The text as the array "dialect". */
lapis_status dialect_add(lapis_ctx *ctx, const char *text, lapis_arrays *out);

/* ---- triplets.c: a table of row, column, value --------------------------*/
/* *done false: the table is not of this kind, by its header and the options. */
lapis_status triplets_read(const csv_scan *start, const table_request *q,
                           lapis_arrays *out, bool *done);

/* ---- rows.c: labels that name the rows they are of ----------------------*/
/* "row" (from 1) or "row0", where a table's first title of several is that, opt
 * names no other samples' names and the column itself is not asked for; else
 * NULL.  Of triplets rows name nothing. */
lapis_status io_rows_title(lapis_ctx *ctx, const io_file *f,
                           const lapis_table_options *opt, const char *asked,
                           const char **title);
/* A member that was read with that title as names: its samples at their rows of
 * n, the others not known.  The names go. */
lapis_status io_rows_place(lapis_ctx *ctx, const io_file *f, const char *title,
                           int64_t n, const char *member, lapis_arrays *all);

/* ---- print.c: text out, piece by piece ---------------------------------*/
enum { IO_PRINT_BYTES = 1 << 16 };
typedef struct io_print {
  lapis_ctx *ctx;
  io_out out;
  io_meter meter;
  char *block; /* IO_PRINT_BYTES */
  int64_t used;
  lapis_status status; /* the first failure */
} io_print;
lapis_status io_print_begin(lapis_ctx *ctx, const char *path, io_print *p);
void io_put(io_print *p, const char *text, int64_t size);
void io_put_text(io_print *p, const char *text);
/* Shortest; "nan", "-inf". */
void io_number_text(double value, char *text, size_t size);
void io_put_number(io_print *p, double value);
void io_put_integer(io_print *p, int64_t value);
/* A cell of delimited text, in quotes where it needs them; a text that a
 * spreadsheet would run gets a mark before it. */
void io_put_cell(io_print *p, const char *text, char delimiter);
/* The same without the mark: for a number in any spelling. */
void io_put_plain_cell(io_print *p, const char *text, char delimiter);
lapis_status io_print_end(io_print *p);

/* ---- arrays.c -----------------------------------------------------------*/
/* Moves *a, which is then empty, into all under a copy of name; on failure *a
 * is freed. */
lapis_status io_arrays_add(lapis_ctx *ctx, lapis_arrays *all, const char *name,
                           lapis_array *a);

/* Adds name to the text *seen: "A" becomes "A, B".  Free it with base_free. */
lapis_status io_note_seen(lapis_ctx *ctx, char **seen, const char *name);

/* There is no member `name`, though the names `seen` are there: what of it may
 * be why, perhaps a type that is not read.  path NULL: X is looked for. */
lapis_status io_fail_member(lapis_ctx *ctx, const char *path, const char *name,
                            const char *seen);

/* Whether name is in a list as io_note_seen makes it. */
bool io_is_seen(const char *seen, const char *name);

/* Fails where a member of `names` (up to a NULL) was seen and not read: X, Y
 * and the like are not left out without a word. */
lapis_status io_check_members(lapis_ctx *ctx, io_file *f, const char *seen,
                              lapis_arrays *all);

/* Reads the one array of a .npy file; the array may take over the file's
 * memory. */
lapis_status io_arrays_npy(lapis_ctx *ctx, io_file *f,
                           const io_request *request, lapis_arrays *out);

/* ---- order.c: rows of several files are the same samples -----------------*/
typedef struct io_order {
  lapis_array names; /* 1 x n TEXT */
  char *file;        /* the file they come from; NULL: no file had names yet */
} io_order;
/* Compares a file's names (NULL: none) of the samples of `of` (NULL: nothing is
 * compared) with those known: LAPIS_EDATA where they differ; the first stay. */
lapis_status io_order_add(lapis_ctx *ctx, io_order *known, const char *path,
                          const lapis_array *names, const lapis_array *of);
/* Before that: where names in `named` stand in another order, or are others in
 * part, the samples of `member` in `all` are put into the known one's, and
 * these names go; what the member lacks is not known.  LAPIS_EDATA: names are
 * not clear, or none is in common. */
lapis_status io_order_join(lapis_ctx *ctx, const io_order *known,
                           const io_file *f, lapis_arrays *named,
                           const char *member, lapis_arrays *all);
/* The column of a table, as "#2", most of whose cells are each the known name
 * of another sample; "": none, or no name is known. */
lapis_status io_order_column(lapis_ctx *ctx, const io_order *known,
                             const io_file *f, char column[16]);
/* The samples of a in the order of row, n; -1: one that is not known. */
lapis_status io_arrange(lapis_ctx *ctx, const int64_t *row, int64_t n,
                        lapis_array *a);
void io_order_clear(io_order *o);

/* ---- categories.c: text and numbers -> what lapis_data reads -------------*/
/* TEXT rows x cols -> F64 codes 0, 1, ... in byte order of the distinct
 * texts, "" -> NaN; values: 1 x m TEXT of the distinct texts. */
lapis_status codes_sorted(lapis_ctx *ctx, const lapis_mat *text,
                          lapis_array *codes, lapis_array *values);
/* The word, one of two, becomes the last of them; NULL: they stay. */
lapis_status codes_put_last(lapis_ctx *ctx, const char *word, lapis_mat *codes,
                            lapis_mat *values);
/* Says which of a file's texts differ in case or blanks alone, `what` they are:
 * Yes and yes are two classes, and perhaps not meant so. */
void codes_tell_twins(lapis_ctx *ctx, const char *path, const char *what,
                      const char *const *text, int64_t count);
/* Of codes_sorted with several rows and more than two texts: where no row has
 * more than two, each row gets codes 0 and 1 of its own, and values a row of
 * two texts for each ("": it has fewer).  Anything else stays as it is. */
lapis_status codes_by_row(lapis_ctx *ctx, lapis_array *codes,
                          lapis_array *values);
/* 1 x n, text or integers of any type -> I64; texts as they first appear. */
lapis_status codes_group(lapis_ctx *ctx, const char *what,
                         const lapis_mat *group, lapis_array *out);
/* 1 x n numbers -> TEXT. */
lapis_status codes_names(lapis_ctx *ctx, const lapis_mat *numbers,
                         lapis_array *out);

lapis_status io_npz_write(lapis_ctx *ctx, const char *path,
                          const lapis_named *item, int count);
lapis_status io_npy_write(lapis_ctx *ctx, const char *path,
                          const lapis_named *item);

#endif
