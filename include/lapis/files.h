/* files.h - files: arrays, containers, tables, datasets.
 *
 * A file is recognised by its first bytes before its name.  Writes are
 * atomic: a temporary file beside the target, fsync, rename; after a failure
 * the old file is untouched and nothing is left behind.  Every refusal names
 * the file and the place in it, and what would have been right. */
#ifndef LAPIS_PUBLIC_FILES
#define LAPIS_PUBLIC_FILES
#include "lapis.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- arrays -------------------------------------------------------------
 * An array read from a file: a view and the memory behind it, which may be a
 * mapping of the file.  n-dimensional arrays keep their shape; mat is the
 * two-dimensional reading: (n) -> 1 x n, (n, d) -> d x n, (n, d, e) ->
 * (d*e) x n: the first axis is the sample. */
enum { LAPIS_MAX_AXES = 8 };
typedef struct lapis_array {
  char *name; /* member name inside a container, or NULL */
  lapis_mat mat;
  int axes;
  int64_t shape[LAPIS_MAX_AXES]; /* as stored */
  char stored[16];               /* type as stored: "<f8", "|b1", "<U12" */
  void *memory;                  /* private */
  size_t bytes;
  int kind; /* private: how memory is released */
} lapis_array;
LAPIS_API void lapis_array_free(lapis_array *a); /* contents; NULL is fine */

typedef struct lapis_arrays { /* the members of one file, in its order */
  int count;
  lapis_array *item;
} lapis_arrays;
LAPIS_API void lapis_arrays_free(lapis_arrays *all);
LAPIS_API const lapis_array *lapis_arrays_find(const lapis_arrays *all,
                                               const char *name);

/* ---- formats: one table of what is read and written ----------------------*/
typedef struct lapis_format {
  const char *name;    /* "npz" */
  const char *endings; /* of file names, "" where another row has them */
  const char *title;   /* "numpy archive" */
  const char *holds;   /* which members, in words */
  bool sparse;         /* a sparse X stays sparse */
  const char *package; /* Debian package it needs, or NULL */
  bool built;
  bool container; /* named arrays, else a table or one array */
} lapis_format;
LAPIS_API const lapis_format *lapis_format_at(int i); /* NULL past the end */
/* What a file is by its beginning. */
LAPIS_API lapis_status lapis_format_of_file(lapis_ctx *ctx, const char *path,
                                            const lapis_format **out);
/* By the name's ending; NULL: none. */
LAPIS_API const lapis_format *lapis_format_of_name(const char *path);

/* All arrays of a .npy (one, named by the file), .npz, .mat or .h5 file.  f2
 * f4 -> F32; f8 -> F64; i1-i8 u1-u8 -> I64 (u1 and b1 -> U8); U and S -> TEXT.
 * Object arrays are refused (LAPIS_EFORMAT): they are pickled programs.
 * Sparse matrices are F64, compressed columns (a column is a sample). */
LAPIS_API lapis_status lapis_arrays_read(lapis_ctx *ctx, const char *path,
                                         lapis_arrays *out);

/* A name and a view to be written.  axes = 0: (cols, rows), or (cols) where
 * flat; otherwise shape as given, whose product must match. */
typedef struct lapis_named {
  const char *name;
  lapis_mat mat;
  bool flat;
  int axes;
  int64_t shape[LAPIS_MAX_AXES];
} lapis_named;
/* As the format of this name, or where it is NULL, of path's ending; what it
 * cannot hold is left out with a warning, or refused where X would change. */
LAPIS_API lapis_status lapis_arrays_write(lapis_ctx *ctx, const char *path,
                                          const char *format,
                                          const lapis_named *item, int count);
/* A result in parts: a folder in which each process of a communicator, or the
 * one there is, writes its part of the whole, and the first of them index.json
 * once all parts are there.  Called by all.  _new, before any work: LAPIS_EIO
 * where the folder cannot be made, holds other files, or is another's who
 * writes there; nobody else can until _free.  _write, once: divided[i]: item i
 * has the process's own columns, and is of the whole otherwise, taken from the
 * first (NULL: all are); the same names in the same order with each.  What
 * fails with one fails with all, and the folder holds what it did.  All that
 * reads a container reads the folder. */
typedef struct lapis_parts lapis_parts;
LAPIS_API lapis_status lapis_parts_new(lapis_ctx *ctx, const char *folder,
                                       lapis_parts **out);
LAPIS_API lapis_status lapis_parts_write(lapis_parts *p,
                                         const lapis_named *item,
                                         const bool *divided, int count);
LAPIS_API void lapis_parts_free(lapis_parts *p);
/* size bytes of text or anything else, atomically. */
LAPIS_API lapis_status lapis_file_write(lapis_ctx *ctx, const char *path,
                                        const void *bytes, size_t size);

/* Whether the first line of a table holds titles. */
typedef enum lapis_header {
  LAPIS_HEADER_AUTO, /* found out */
  LAPIS_HEADER_YES,
  LAPIS_HEADER_NO
} lapis_header;

/* ---- datasets: lapis_data and the memory and names behind it ------------*/
/* Lines of row, column, value: a sparse X. */
typedef enum lapis_triplets {
  LAPIS_TRIPLETS_HEADED, /* where a table's header says so */
  LAPIS_TRIPLETS_FROM_1, /* a table without a header is one, counted from 1 */
  LAPIS_TRIPLETS_FROM_0
} lapis_triplets;
typedef struct lapis_table_options { /* for .csv, .tsv, .arff, .svm */
  const char *target;  /* "COL,COL": titles, or numbers from 1 (negative: from
                          the end), or "#3", which is no title; NULL: no Y */
  const char *id;      /* column that names the samples, or NULL */
  int header;          /* lapis_header */
  const char *labels;  /* .arff: how many columns, at the end (negative: at the
                          beginning), or an XML file that names them; or NULL */
  int64_t features;    /* .svm, triplets: at least so many; 0: as are seen */
  const char *use;     /* "COL,COL": no other column is a feature; names or
                          numbers, in .csv also patterns with * ? [..]; or NULL */
  const char *drop;    /* likewise: columns that are not read; or NULL */
  int triplets;        /* lapis_triplets, of features alone */
  const char *one_hot; /* "COL,COL", as use: a column becomes a feature for each
                          of its values, 1 where it is so; an .arff attribute of
                          three or more texts does unasked; or NULL */
  char decimal;        /* .csv: ',': numbers are written 1.234,5; '.': 1,234.5;
                          0: 1234.5 */
  const char *missing; /* "WORD,-999": words, in capitals or not, and numbers
                          that mean "not known" in X, Y and P; .csv: besides
                          empty cells,       NA, ?, #N/A and the like, and none
                          and null where no       other cell of a column of
                          texts is missing; "" or
                          ",WORD": these and empty cells alone; or NULL */
  bool keep_counters;  /* .csv: features may be columns of whole numbers that
                          rise or fall, one a row; else they are left out where
                          there is a header, with a line that says so */
  bool none_is_word;   /* ... not there, either, but words like others */
  /* Of a model, each a TEXT row or NULL.  Where a table has titles, X has the
   * features of these names, in their order, whatever columns there are
   * besides; those that were one-hot there are so, with the values there. */
  const lapis_mat *features_of;
  const lapis_mat *targets_of; /* titles of targets, where target is NULL and
                                  the table has them */
  const char *id_of;           /* likewise for id */
} lapis_table_options;

/* ---- columns of a table of text, before it is known what they are for ----*/
enum {
  LAPIS_COLUMN_VALUES = 12,  /* listed */
  LAPIS_COLUMN_MOST = 10000, /* counted */
  LAPIS_COLUMN_REMARKS = 4,
  LAPIS_COLUMNS_LISTED = 1000
};
typedef enum lapis_column_type {
  LAPIS_COLUMN_EMPTY,
  LAPIS_COLUMN_NUMBER,
  LAPIS_COLUMN_WHOLE,   /* whole numbers alone */
  LAPIS_COLUMN_COUNTER, /* whole numbers that rise or fall, one a row */
  LAPIS_COLUMN_DATE,
  LAPIS_COLUMN_COMMA, /* numbers by marks that are not read so: 0,5  1,234 */
  LAPIS_COLUMN_TEXT
} lapis_column_type;
typedef struct lapis_column {
  const char *title; /* NULL: the table has no header */
  lapis_column_type type;
  int64_t missing, numbers, texts; /* cells of each kind */
  bool declared;                   /* ARFF: its values are a list */
  double low, high;                /* of the numbers */
  int64_t different; /* values; LAPIS_COLUMN_MOST + 1: more than that many */
  const char *value[LAPIS_COLUMN_VALUES]; /* the first ones met; of more than
                                           * are listed, texts among numbers
                                           * first */
  int64_t count[LAPIS_COLUMN_VALUES];     /* and how often */
  char decimal; /* by which its numbers are likely to be read, where that is not
                   how they were read; 0: nothing is known of such */
  const char *marks; /* why, in words, with another reading that there may be;
                        NULL where it is plain */
  const char *remark[LAPIS_COLUMN_REMARKS]; /* what is doubtful of its cells, up
                                               to a NULL */
  const char
      *odd_one;      /* the one text in all cells that are not numbers, of many
                      * different ones, or not dates; NULL: there is none */
  const bool *tells; /* listed: of texts that repeat, whether each other column
                      * never changes within one of them; NULL: they do not */
  bool padded;       /* whole numbers, some of which begin with 0: 01234 */
  bool together;     /* rows of one value follow each other, two or more on
                      * average, of twenty values or more; none is missing */
  double code;       /* a number that repeats far from the others, as a code for
                      * unknown does, and a remark names; NaN: there is none */
} lapis_column;
typedef struct lapis_columns {
  int64_t rows, columns; /* rows: without the header */
  int listed;            /* columns looked at: the first ones */
  bool header;
  char delimiter;       /* 0: ARFF, which says what its columns are */
  lapis_column *column; /* listed */
  void *memory;         /* private */
  int64_t twins;        /* rows of delimited text that are one above, names of
                           rows aside; 0 where chance makes such, or none is */
} lapis_columns;
/* Of a .csv, .tsv or .arff file, whatever its cells are; LAPIS_EINVAL: it is
 * something else, LAPIS_ESHAPE: rows of different lengths.  opt: NULL, or for
 * header, decimal and missing. */
LAPIS_API lapis_status lapis_columns_read(lapis_ctx *ctx, const char *path,
                                          const lapis_table_options *opt,
                                          lapis_columns *out);
LAPIS_API void lapis_columns_free(lapis_columns *all); /* NULL is fine */

typedef struct lapis_dataset lapis_dataset;
LAPIS_API lapis_status lapis_dataset_new(lapis_ctx *ctx, lapis_dataset **out);
LAPIS_API void lapis_dataset_free(lapis_dataset *ds);
/* A container (.npz .mat .h5: members X, Y, P, group, weight, xy, names,
 * feature_names, class_names, feature_settings; others ignored) or a table
 * (.csv .tsv .arff .svm), whose columns become X and Y.  NULL options: header
 * found out, no target.  A sparse X stays sparse. */
LAPIS_API lapis_status lapis_dataset_read(lapis_dataset *ds, const char *path,
                                          const lapis_table_options *opt);
/* One member ("X", "Y", "P", "group", "weight", "xy", "names") from a table,
 * FILE.npy, or FILE:NAME of a container or, but for X, of a table's column (P:
 * columns, as options' use names them).  A lone column of words that is a row
 * longer than X has a title.  Where this file and one read before name their
 * samples, in another order or others in part, it is joined with that one by
 * name, with or without folders and ending: what it lacks is not known, what it
 * has beside is left out, and a line says so; LAPIS_EDATA where none of its
 * names is there, or several rows have one. */
LAPIS_API lapis_status
lapis_dataset_read_member(lapis_dataset *ds, const char *member,
                          const char *spec, const lapis_table_options *opt);
/* Before finish: of the two words of Y this one is positive, instead of the one
 * that is sorted last; borrowed until then. */
LAPIS_API void lapis_dataset_positive(lapis_dataset *ds, const char *word);
/* Before finish: X stays F32, and mapped where its file is (.npy, or a stored
 * member of .npz), where it was stored so; mc reads it as it is.  Such values
 * may begin at any byte: lapis_mat_at reads them. */
LAPIS_API void lapis_dataset_keep_f32(lapis_dataset *ds);
/* Before reading: data has some of the n samples that files have, those from
 * n part / parts to n (part + 1) / parts, part from 0.  Of .npy, .npz and HDF5
 * files X, P and Y, where they are dense numbers, are read no further (of
 * sparse HDF5 by samples as well); the rest is read whole and cut. */
LAPIS_API void lapis_dataset_divide(lapis_dataset *ds, int64_t part,
                                    int64_t parts);
/* After finish: n; names are those of all. */
LAPIS_API int64_t lapis_dataset_samples(const lapis_dataset *ds);
/* Checks that members fit together; then data is complete.  X as F64 (see
 * keep_f32), dense or sparse. */
LAPIS_API lapis_status lapis_dataset_finish(lapis_dataset *ds);
LAPIS_API const lapis_data *lapis_dataset_data(const lapis_dataset *ds);
/* TEXT, a row: "names" (n), "feature_names" (d), "class_names" (c, or the
 * values of a text target in code order 0, 1, ...), "target_names" (titles of
 * the columns of a table that are targets), "target_values" (texts of the codes
 * of several text targets: one row for all of them, or, where each has two
 * texts of its own, a row a target), "target_decimals" (how many a table writes
 * each target's numbers with, or -1), "id_name" (the title of names), "dialect"
 * (of the first table of text: what stands between cells, the decimal mark,
 * whether a byte order mark or sep= begins it, whether CR LF ends lines),
 * "feature_settings" (how X was made of images, as lapis features writes it; of
 * another program whatever it calls so, where that is text); empty when
 * unknown. */
LAPIS_API lapis_mat lapis_dataset_text(const lapis_dataset *ds,
                                       const char *what);

/* ---- tables that are written --------------------------------------------*/
typedef struct lapis_sheet_column {
  const char *title;
  lapis_mat values; /* 1 x n, numbers (NaN: an empty cell) or TEXT */
  /* Numbers: false: with as many digits as read back.  true: with `decimals`
   * behind the point, or, where these are below 0, in few digits: */
  bool rounded;
  int decimals;
} lapis_sheet_column;
enum { LAPIS_SHEET_DIGITS = 6, LAPIS_PAGE_DIGITS = 4 }; /* in a file, a page */
/* A number of a column, rounded to at most so many significant digits where
 * none are stated. */
LAPIS_API void lapis_sheet_number(const lapis_sheet_column *column,
                                  double value, int digits, char *text,
                                  size_t size);
/* Decimals that all numbers of row i of Y are written with, NaN aside; -1: they
 * are of two values, which may be codes, or are measured finer than any table
 * writes. */
LAPIS_API int lapis_decimals_of(const lapis_mat *Y, int64_t i);
/* Columns side by side, to .csv, or to .tsv where path ends so.  dialect: as
 * lapis_dataset_text says of the table that they are answers to; NULL: commas
 * and points. */
LAPIS_API lapis_status lapis_sheet_write(lapis_ctx *ctx, const char *path,
                                         const char *dialect,
                                         const lapis_sheet_column *column,
                                         int count);
/* The table `from` (.csv .tsv .arff) again, its columns, titles and cells as
 * they are, with empty cells filled: of features from X (d x n; of one-hot
 * columns the value with the largest number, of nominal attributes and columns
 * of 0 and 1 the nearest value), of targets from Y (k x n numbers
 * or TEXT).  decimals: of each target, for a column without numbers (-1: any),
 * or NULL: any.  opt: as it was read.  X or Y NULL, or NaN there: cells stay as
 * they are; *filled counts those that do not. */
LAPIS_API lapis_status lapis_table_complete(lapis_ctx *ctx, const char *from,
                                            const lapis_table_options *opt,
                                            const lapis_mat *X,
                                            const lapis_mat *Y,
                                            const int64_t *decimals,
                                            const char *to, int64_t *filled);

#ifdef __cplusplus
}
#endif
#endif
