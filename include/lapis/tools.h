/* tools.h - what programs made with LAPIS use beside the mathematics.
 *
 * The command, the pipelines and their tests are written with it, and others
 * may be; but it promises nothing: names and meanings here may change with any
 * version, without a word in the changelog. */
#ifndef LAPIS_PUBLIC_TOOLS
#define LAPIS_PUBLIC_TOOLS
#include <string.h>

#include "lapis.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- numbers as text, in the C locale whatever the program has set -------*/
/* As strtod reads.  *end is what stands behind the number; end NULL: nothing
 * may.  false: there is no number. */
LAPIS_API bool lapis_number_read(const char *text, const char **end,
                                 double *value);
/* What stands behind a number that has its unit with it, as "cm" in "10 cm" and
 * "" in "$ 10"; *number and *size: the number.  NULL: the text is something
 * else. */
LAPIS_API const char *lapis_number_unit(const char *text, const char **number,
                                        int *size);
/* A value that is only known to be below or above a limit, as "<5", ">= 500":
 * -1 or 1, and the limit; 0: the text is something else. */
LAPIS_API int lapis_number_limit(const char *text, double *limit);
/* The shortest of 15, 16 and 17 digits that reads back to the same double; 32
 * bytes hold any. */
LAPIS_API void lapis_number_text(double value, char *text, size_t size);
/* snprintf, with a point in every number. */
LAPIS_API int lapis_number_print(char *text, size_t size, const char *format,
                                 ...) LAPIS_PRINTF(3, 4);

/* ---- backends: what computes, by the context's key of that name -----------*/
typedef struct lapis_backend {
  const char *name;    /* "openblas" */
  const char *what;    /* in a few words */
  const char *methods; /* those that it runs; the others run on openblas */
} lapis_backend;
/* NULL past the last one. */
LAPIS_API const lapis_backend *lapis_backend_at(int i);
/* Whether the plug-in of a kind of device, "opencl" or "cuda", can be opened;
 * else why (size bytes). */
LAPIS_API bool lapis_device_is_there(const char *kind, char *why, size_t size);

/* ---- the processes that mpirun starts -------------------------------------*/
typedef struct lapis_processes {
  int rank, size; /* this one; all */
  int near;       /* those on this machine */
} lapis_processes;
/* From now on the context's samples are divided among them: as
 * lapis_ctx_set_comm, by the plug-in for the MPI whose mpirun started them
 * (lapis-mpi-openmpi, lapis-mpi-mpich). */
LAPIS_API lapis_status lapis_mpi_join(lapis_ctx *ctx, lapis_processes *out);
/* By all of them, once, before the program ends. */
LAPIS_API void lapis_mpi_leave(lapis_ctx *ctx);
/* Whether the plug-in can be opened; else why (size bytes). */
LAPIS_API bool lapis_mpi_is_there(char *why, size_t size);
/* In place, over the processes of a context, called by all. */
LAPIS_API lapis_status lapis_ctx_sum(lapis_ctx *ctx, double *x, int64_t n);
/* Whether the columns of a result are this process's samples, and another's
 * columns are others. */
LAPIS_API bool lapis_result_is_divided(const lapis_solver *s, const char *name);

/* Whether what runs for ctx is to end: it was cancelled, or its time is over.
 * For long work of a program's own beside the calls of LAPIS. */
LAPIS_API bool lapis_ctx_must_stop(const lapis_ctx *ctx);
/* Progress of such work: its share that is done, 0..1, after so many seconds.*/
LAPIS_API void lapis_ctx_done(lapis_ctx *ctx, double share, double seconds);

/* ---- text from files, where it could do harm ------------------------------*/
/* What a terminal would obey (control characters, overriding directions) and
 * what is no UTF-8 as \xNN; cut where size ends.  Returns to. */
LAPIS_API char *lapis_text_shown(const char *text, char *to, size_t size);
/* A spreadsheet would run it as a formula: it begins with = + - @ and is no
 * number, or with a tab or the end of a line, which it may drop.  Tables have '
 * before such a text, which their reader takes off; so a text that begins with
 * ' before one of these needs another. */
LAPIS_API bool lapis_text_runs(const char *text);
/* How a table of text is written.  text: as lapis_dataset_text says of the
 * table ("dialect"); NULL or anything else: the plain way.  path: .tsv has
 * tabs; between decimal commas stand semicolons. */
typedef struct lapis_dialect {
  char delimiter, decimal;
  char begin[16];  /* what stands before the first cell: a byte order mark, a
                      line "sep=;" */
  const char *end; /* of a line */
} lapis_dialect;
LAPIS_API lapis_dialect lapis_dialect_for(const char *text, const char *path);
/* The point of a number becomes its decimal mark. */
static inline void lapis_dialect_number(const lapis_dialect *d, char *number)
{
  char *point = strchr(number, '.');
  if (point != NULL) *point = d->decimal;
}

/* It is empty but for blanks, or one of the words that readers of tables take
 * for "not known": NA, ?, none, ... */
LAPIS_API bool lapis_text_missing(const char *text);
/* It is a word of people who could not tell, unknown, unsure, -, which readers
 * take for a word and ask about.  Beside + the - is a class. */
LAPIS_API bool lapis_text_unsure(const char *text);
/* The first of the other texts that differs from text[k] in the case of letters
 * or in blanks alone; -1: none does. */
LAPIS_API int lapis_text_twin(const char *const *text, int64_t count,
                              int64_t k);
/* All texts that differ so from another one, each with that of them of which
 * there are most (times; NULL: the first), as "yes" and "Yes", "YES" and "Yes",
 * with the word between each two; returns how many, of which to has as many as
 * its size allows. */
LAPIS_API int64_t lapis_text_twins(const char *const *text, int64_t count,
                                   const int64_t *times, const char *between,
                                   char *to, size_t size);

/* ---- "did you mean" --------------------------------------------------------
 * The name nearest to a word that is none: fewest letters put in, left out,
 * exchanged, or swapped with a neighbour, capitals or not, and at most a third
 * of the word; or one that begins with it, as "Target (EUR)" with target.  Set
 * word and size (its bytes), try each name; name is the first of the nearest,
 * or NULL. */
typedef struct lapis_nearest {
  const char *word;
  size_t size;
  const char *name;
  size_t distance;
} lapis_nearest;
LAPIS_API void lapis_nearest_try(lapis_nearest *n, const char *name);
/* " (did you mean '--mu'?)" with dashes before the name, or "".  Returns to. */
LAPIS_API char *lapis_nearest_hint(const lapis_nearest *n, const char *dashes,
                                   char *to, size_t size);

/* ---- tables as they are written: cells of text --------------------------
 * For tables whose meaning another program knows.  Separated by tabs, commas
 * or semicolons; a row ends early where its line does. */
typedef struct lapis_cells {
  int64_t rows, columns; /* columns: of the longest row */
  const char **text; /* columns x rows; "" where missing: empty, ?, NA, ...; the
                        first row may be titles */
  const char **written; /* columns x rows: the same, what is missing as it is
                           written */
  int64_t *line;        /* rows: in the file, from 1 */
  char dialect[32];     /* how it is written, for lapis_dialect_for */
} lapis_cells;
/* missing: as of lapis_table_options. */
LAPIS_API lapis_status lapis_cells_read(lapis_ctx *ctx, const char *path,
                                        const char *missing, lapis_cells *out);
LAPIS_API void lapis_cells_free(lapis_cells *cells); /* contents */

/* ---- JSON ---------------------------------------------------------------
 * Values own what is put into them.  NaN and infinities become null; numbers
 * read back to the same double. */
typedef struct lapis_json lapis_json;
LAPIS_API lapis_json *lapis_json_object(void); /* NULL: no memory */
LAPIS_API lapis_json *lapis_json_list(void);
LAPIS_API void lapis_json_free(lapis_json *v);
/* false: no memory.  key NULL appends to a list. */
LAPIS_API bool lapis_json_put(lapis_json *to, const char *key, lapis_json *v);
LAPIS_API bool lapis_json_put_number(lapis_json *to, const char *key, double v);
LAPIS_API bool lapis_json_put_integer(lapis_json *to, const char *key,
                                      int64_t v);
LAPIS_API bool lapis_json_put_bool(lapis_json *to, const char *key, bool v);
LAPIS_API bool lapis_json_put_text(lapis_json *to, const char *key,
                                   const char *v);
/* Malloc'd text, indented by 1; NULL: no memory. */
LAPIS_API char *lapis_json_print(const lapis_json *v);
LAPIS_API lapis_status lapis_json_read(lapis_ctx *ctx, const char *path,
                                       lapis_json **out);
LAPIS_API lapis_status lapis_json_parse(lapis_ctx *ctx, const char *text,
                                        size_t size, const char *origin,
                                        lapis_json **out);
/* Borrowed views into a parsed value; NULL or the fallback when absent. */
LAPIS_API const lapis_json *lapis_json_get(const lapis_json *v,
                                           const char *key);
LAPIS_API const char *lapis_json_text(const lapis_json *v, const char *key,
                                      const char *fallback);
LAPIS_API double lapis_json_number(const lapis_json *v, const char *key,
                                   double fallback);
/* Key and scalar value as text, for looping from 0 on: *key is NULL, or what
 * the call before left there; false past the end. */
LAPIS_API bool lapis_json_entry(const lapis_json *v, int i, const char **key,
                                char *text, size_t size);

/* ---- a program that ends in the middle ----------------------------------*/
/* Removes what this process has begun to write and not finished; for a program
 * that is about to end in the middle.  The old files stay. */
LAPIS_API void lapis_file_abandon(void);

/* ---- solvers of several steps ---------------------------------------------
 * What a program makes of others' solvers and is used as they are: lapis_solve
 * (once), results, remarks, lapis_solver_free.  self is the program's. */
typedef struct lapis_work {
  const lapis_method *table; /* of its settings and results */
  lapis_status (*begin)(void *self, lapis_solver *s); /* before any work */
  lapis_status (*solve)(void *self);
  void (*free)(void *self);
} lapis_work;
/* settings: as used, and as long there as self, which is freed with the solver,
 * or where none is made. */
LAPIS_API lapis_status lapis_work_new(lapis_ctx *ctx, const lapis_work *how,
                                      void *self, const void *settings,
                                      lapis_solver **out);
/* NULL: the solver is another. */
LAPIS_API void *lapis_work_self(const lapis_solver *s, const lapis_work *how);
/* A result: a view of memory that self has, by a name that stays. */
LAPIS_API void lapis_work_publish(lapis_solver *s, const char *name,
                                  lapis_mat mat);
/* Whose answer it is, which stays there, and the data that was given to it:
 * lapis_result_info is its.  NULL until the program says so. */
LAPIS_API void lapis_work_answer_by(lapis_solver *s, const lapis_solver *by,
                                    const lapis_data *data);
LAPIS_API const lapis_solver *lapis_work_by(const lapis_solver *s,
                                            lapis_data *data);
/* Heard, and a result (notes) of the solver that is made or solves: level -1 or
 * 0, a name, and a sentence in which {mu-rel} is a setting and {scale none} one
 * with its value, as the context spells them. */
LAPIS_API void lapis_remark(lapis_ctx *ctx, int level, const char *name,
                            const char *format, ...) LAPIS_PRINTF(4, 5);

/* ---- settings -----------------------------------------------------------*/
/* The row of a setting; NULL where there is none of this name. */
LAPIS_API const lapis_param *lapis_param_find(const lapis_method *m,
                                              const char *name);
/* Copies what its rows accept; from NULL: the defaults. */
LAPIS_API lapis_status lapis_settings_copy(lapis_ctx *ctx,
                                           const lapis_method *m,
                                           const void *from, void *to);
/* Members (LAPIS_READS_*) that a solver of m makes use of with these settings;
 * NULL: with some.  It refuses data with others, LAPIS_EINVAL, but for Y. */
LAPIS_API unsigned lapis_method_reads(const lapis_method *m,
                                      const void *settings);
/* The members of data; NULL past the end. */
typedef struct lapis_member {
  unsigned bit;
  const char *name, *what; /* "P", "privileged features" */
} lapis_member;
LAPIS_API const lapis_member *lapis_member_at(int i);
/* Members (LAPIS_READS_*) that data has; and data with those alone. */
LAPIS_API unsigned lapis_data_has(const lapis_data *data);
LAPIS_API lapis_data lapis_data_with(const lapis_data *data, unsigned members);
/* The word goes_with of a row: all of "a b", one of "a,b"; NAME=x|y: another
 * row is one of these, or of a list one is; NAME: it is not at its default, or
 * data has this member (X Y P group weight xy); !NAME: it is, or has not. NULL:
 * the row always says something. */
/* Refuses the setting of that name, or where it is NULL any that is not at its
 * default, if it says nothing beside the others (goes_with) and the members of
 * data that there are (LAPIS_READS_*).  tried: "a b", settings that will have
 * several values, so that all goes with them; or NULL. */
LAPIS_API lapis_status lapis_settings_check_effect(
    lapis_ctx *ctx, const lapis_method *m, const void *settings,
    unsigned members, const char *name, const char *tried);

#ifdef __cplusplus
}
#endif
#endif
