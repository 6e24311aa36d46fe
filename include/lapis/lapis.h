/* lapis.h - low-rank and privileged-information solvers.
 *
 *   data -> settings -> solver -> solve -> result (-> model -> predict)
 *
 * Every method reads the same lapis_data and answers in named arrays.
 * A column is a sample, so a C-ordered (samples, features) array of any other
 * language is a LAPIS matrix without a copy.  NaN means "not observed".
 * Inputs are borrowed, never written, until the solver is freed; a result
 * lives as long as its solver; a model owns all it needs.  One thread per
 * context; no global state; nothing here prints, exits or aborts.
 * methods.h (settings) and choose.h (cross-validation) come with it.
 * A struct that begins with its size may grow: no more of it is touched than
 * that says, and what a program of an older header lacks is at its default. */
#ifndef LAPIS_H
#define LAPIS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of these headers; lapis_version() is the library's. */
#define LAPIS_VERSION_MAJOR 0
#define LAPIS_VERSION_MINOR 1
#define LAPIS_VERSION_PATCH 0

#if defined(__GNUC__)
#define LAPIS_API __attribute__((visibility("default")))
#define LAPIS_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define LAPIS_API
#define LAPIS_PRINTF(f, a)
#endif

/* ---- status -------------------------------------------------------------
 * 0: solved.  > 0: stopped early, result usable.  < 0: failed, no result, and
 * lapis_ctx_error() holds one sentence, which a solve that succeeds removes. */
typedef enum lapis_status {
  LAPIS_OK = 0,
  LAPIS_MAX_ITERS = 1,
  LAPIS_TIME_LIMIT = 2,
  LAPIS_CANCELLED = 3,
  LAPIS_PRECISION_FLOOR = 4, /* the gap fell as far as rounding lets it */
  LAPIS_STOPPED_CHANGING = 5 /* by so little that it ended; nothing proved */,
  LAPIS_EINVAL = -1,   /* a call or a setting that makes no sense */
  LAPIS_ESHAPE = -2,   /* sizes that do not fit together */
  LAPIS_EMISSING = -3, /* NaN, or nothing at all, where data is needed */
  LAPIS_ENOMEM = -4,
  LAPIS_EIO = -5,      /* the operating system said no */
  LAPIS_EFORMAT = -6,  /* a file that is not what it claims to be */
  LAPIS_ENUMERIC = -7, /* arithmetic failed: overflow, no factorisation */
  LAPIS_ENOTBUILT = -8,
  LAPIS_EDATA = -9,     /* values a method cannot take: Inf, negative counts */
  LAPIS_ESTOPPED = -10, /* cancelled before there was anything to answer with */
  LAPIS_ELATE = -11,    /* ... or out of time */
  LAPIS_EDEVICE = -12   /* a device cannot be opened, or failed */
} lapis_status;
LAPIS_API const char *lapis_status_name(lapis_status s); /* "max-iters" */
LAPIS_API const char *lapis_version(void);               /* "0.1.0" */

/* ---- matrices and data --------------------------------------------------*/
typedef enum lapis_dtype {
  LAPIS_F64,
  LAPIS_F32,
  LAPIS_I64,
  LAPIS_U8,
  LAPIS_TEXT /* val: const char *const *, UTF-8 */
} lapis_dtype;

/* Column-major view; owns nothing.  colptr != NULL: compressed columns, where
 * an absent entry is 0 and a stored NaN is "not observed". */
typedef struct lapis_mat {
  lapis_dtype dtype;
  int64_t rows, cols, ld; /* ld >= rows; dense only */
  void *val;
  const int64_t *colptr; /* cols + 1 */
  const int32_t *rowidx;
} lapis_mat;
/* Views of rows x cols entries that lie one after another, a column behind the
 * other.  Inputs are never written through them. */
#define LAPIS_VIEW(name, kind, type)                                   \
  static inline lapis_mat lapis_mat_##name(type val, int64_t rows,     \
                                           int64_t cols)               \
  {                                                                    \
    lapis_mat view = {                                                 \
        kind, rows, cols, rows > 0 ? rows : 1, (void *)(uintptr_t)val, \
        NULL, NULL};                                                   \
    return view;                                                       \
  }
LAPIS_VIEW(f64, LAPIS_F64, double *)
LAPIS_VIEW(f32, LAPIS_F32, float *)
LAPIS_VIEW(i64, LAPIS_I64, int64_t *)
LAPIS_VIEW(u8, LAPIS_U8, unsigned char *)
LAPIS_VIEW(text, LAPIS_TEXT, const char *const *)
LAPIS_API int64_t lapis_mat_missing(const lapis_mat *A); /* NaN entries */
/* Entry (i, j) of a numeric matrix as a double. */
LAPIS_API double lapis_mat_at(const lapis_mat *A, int64_t i, int64_t j);
LAPIS_API uint64_t lapis_mat_hash(const lapis_mat *A); /* of sizes, entries */

/* Of any type.  Y: a row of two values, the larger is yes; of more, each a
 * class; rows of 0 and 1, or of -1 and 1, each a label; of rr numbers. */
typedef struct lapis_data {
  size_t size;  /* 0: that of version 0.1 */
  lapis_mat X;  /* d x n features; NaN: not observed */
  lapis_mat Y;  /* c x n targets; NaN: to be predicted */
  lapis_mat P;  /* p x n privileged features, or empty */
  lapis_mat xy; /* 2 or more rows x n, or empty: x, y; others are ignored */
  const int64_t *group; /* n: bag, subject or image of a sample, or NULL */
  const double *weight; /* n: what counts a sample (docs/formats.md), or NULL */
  lapis_mat words;      /* TEXT, a row: names of Y's values 0, 1, 2; or -1, 1 */
  double stored; /* bytes of the files it was read from; 0: there are none */
  lapis_mat feature_names; /* TEXT, a row: what X's rows are called, or empty;
                            * a model keeps them and words ("class_texts"), and
                            * predicting with others is refused */
} lapis_data;

/* Feature i, and the one before it, are of one column of a table: both are
 * named COLUMN=VALUE.  names: as feature_names. */
LAPIS_API bool lapis_one_column(const lapis_mat *names, int64_t i);

/* ---- context: everything around the mathematics -------------------------*/
typedef struct lapis_ctx lapis_ctx;
LAPIS_API lapis_ctx *lapis_ctx_new(void); /* NULL: no memory */
/* After all that was made with it: solvers, models, maps.  NULL is fine. */
LAPIS_API void lapis_ctx_free(lapis_ctx *ctx);
/* Keys: seed (0..2^64-1), threads (0 = as many as OpenMP, OPENBLAS_NUM_THREADS
 * and the processors we may run on allow when the context is made), jobs
 * (processes that share folds, and candidates of auto: 1; auto or 0: as many
 * as such processors), backend (openblas, reference, a device:
 * docs/devices.md), kernels (vector registers of what OpenBLAS does not do:
 * auto, the widest there are; plain, or neon on AArch64; avx2; avx512),
 * deterministic (true, false), verbose (0..2: how much goes to
 * lapis_ctx_on_message), spelling (of settings in sentences: keywords,
 * mu_rel=.1; options, --mu-rel .1), max-pixels (of an image; 50000000, at most
 * 2^30), max-unfold (MB that arrays may become beyond a thousand times what
 * they are made of; 64). Contexts may be used in several threads at once, each
 * in one; OpenBLAS has one number of threads for the process: "deterministic"
 * means equal bits where no context with another number computes.  Jobs are
 * forks, share the threads, answer as one, end with the call; none while others
 * use OpenBLAS. */
LAPIS_API lapis_status lapis_ctx_set(lapis_ctx *ctx, const char *key,
                                     const char *value);
/* From any thread or signal.  Obeyed by the solve that runs or, where that asks
 * no more or none runs, by the next; LAPIS_CANCELLED, or LAPIS_ESTOPPED, spends
 * it. */
LAPIS_API void lapis_ctx_cancel(lapis_ctx *ctx);
/* What progress calls a step of several from now on; NULL: by its method. */
LAPIS_API void lapis_ctx_phase(lapis_ctx *ctx, const char *text);
/* All solves of ctx stop after so many seconds, with LAPIS_TIME_LIMIT, until
 * another limit is set; 0 or less: where they would begin; infinity or NaN:
 * never. */
LAPIS_API void lapis_ctx_limit(lapis_ctx *ctx, double seconds);
LAPIS_API const char *lapis_ctx_error(const lapis_ctx *ctx);   /* never NULL */
LAPIS_API lapis_status lapis_ctx_status(const lapis_ctx *ctx); /* of the same */
/* Records one sentence (method or file: what, where, what would be right; plain
 * text without a full stop or newline) and returns s. */
LAPIS_API lapis_status lapis_fail(lapis_ctx *ctx, lapis_status s,
                                  const char *format, ...) LAPIS_PRINTF(3, 4);
/* "openblas Cooperlake": what computes, and the kind of processor that
 * OpenBLAS takes this machine for; "avx512": the value of `kernels`. */
LAPIS_API const char *lapis_ctx_backend(lapis_ctx *ctx);
LAPIS_API const char *lapis_ctx_kernels(const lapis_ctx *ctx);
LAPIS_API int lapis_ctx_threads(const lapis_ctx *ctx);

typedef struct lapis_progress {
  size_t size; /* set by the library, as in lapis_info */
  const char *method;
  int64_t iter, rank;
  double objective, gap, residual, seconds;
  double done; /* estimated share of the work, 0..1; NaN: no idea */
} lapis_progress;
/* Called from the solving thread, or that which reads or writes a long text, at
 * most some ten times a second; return false to stop with LAPIS_CANCELLED, a
 * read or write with LAPIS_ESTOPPED. */
typedef bool (*lapis_progress_fn)(const lapis_progress *now, void *user);
LAPIS_API void lapis_ctx_on_progress(lapis_ctx *ctx, lapis_progress_fn fn,
                                     void *user);
/* level -1: a note, 0: warning, 1: what was chosen and why, 2: each step. */
typedef void (*lapis_message_fn)(int level, const char *text, void *user);
LAPIS_API void lapis_ctx_on_message(lapis_ctx *ctx, lapis_message_fn fn,
                                    void *user);

/* For samples that are divided among processes: each gives its own samples to
 * the same calls with the same settings and gets their part of the answer.
 * Methods that cannot be divided refuse a size above 1 with a sentence.
 * sum and max work in place on n doubles, leave the same bits with every
 * process, and return 0 or an error code of their own; process `rank` holds
 * the samples behind those of the ranks before it. */
typedef struct lapis_comm {
  int rank, size;
  void *self;
  int (*sum)(void *self, double *x, int64_t n);
  int (*max)(void *self, double *x, int64_t n);
  /* all receives size blocks of n doubles, in rank order; may be NULL */
  int (*gather)(void *self, const double *x, int64_t n, double *all);
} lapis_comm;
/* NULL: back to one process. */
LAPIS_API void lapis_ctx_set_comm(lapis_ctx *ctx, const lapis_comm *comm);
/* For work of a program's own between the calls of LAPIS: called by every
 * process, returns the same for all: s, or the error of the first that came
 * with one, with its sentence in every context. */
LAPIS_API lapis_status lapis_ctx_agree(lapis_ctx *ctx, lapis_status s);

/* ---- one table behind settings, --help, Python keywords and the manual --*/
typedef enum lapis_param_type {
  LAPIS_PARAM_REAL, /* double */
  LAPIS_PARAM_INT,  /* int64_t */
  LAPIS_PARAM_BOOL, /* bool */
  LAPIS_PARAM_ENUM, /* int: index into choices */
  LAPIS_PARAM_TEXT  /* const char *, borrowed */
} lapis_param_type;
typedef struct lapis_param {
  const char *name;   /* as typed: "mu-rel" */
  const char *symbol; /* as in the paper, or NULL */
  lapis_param_type type;
  size_t offset;         /* in the method's settings struct */
  double value;          /* default; NaN (real) or -1 (integer): automatic */
  double low, high;      /* inclusive bounds, unless ... */
  bool above;            /* ... above: the value must exceed low */
  const char *choices;   /* "mc1|pos|simplex"; TEXT: words; INT: "auto", -1 */
  const char *arg;       /* how help names the value: "X", "N", "FILE" */
  const char *help;      /* one line */
  const char *goes_with; /* what it says nothing without (tools.h) */
} lapis_param;

/* An array that a method answers with.  K: labels, or classes where there are
 * more than two. */
typedef struct lapis_result_row {
  const char *name;  /* "low_rank" */
  const char *shape; /* "n x d", a sample a row, as files have it; a lapis_mat
                        has d rows then, and of "a x b x c" b c rows */
  lapis_dtype type;
  const char *when;  /* of settings as used, and data: as goes_with; or NULL */
  const char *where; /* what else it needs: "Y has gaps"; or NULL */
  const char *help;  /* one line */
} lapis_result_row;

enum { /* members of lapis_data that a method reads */
       LAPIS_READS_X = 1,
       LAPIS_READS_Y = 2,
       LAPIS_READS_P = 4,
       LAPIS_READS_GROUP = 8,
       LAPIS_READS_WEIGHT = 16,
       LAPIS_READS_XY = 32
};
typedef struct lapis_matrix_setting { /* a setting that is a matrix */
  const char *name;   /* the TEXT row for the file that it is read from */
  const char *member; /* read from the data file where no file is named, or
                         NULL */
  size_t offset;      /* of the lapis_mat in the settings struct */
} lapis_matrix_setting;
typedef struct lapis_method {
  const char *name;          /* "mc" */
  const char *title;         /* "matrix completion" */
  const char *summary;       /* what question it answers, one sentence */
  const char *source;        /* "[MC11] [MC15]" */
  unsigned reads;            /* LAPIS_READS_*, with some settings */
  const lapis_param *params; /* reached by lapis_method_param */
  int n_params;
  size_t settings_size;
  /* "NAME=GRID" to choose by cross-validation where the user gave neither
   * NAME nor `unless`; NULL: the defaults do. */
  const char *choose, *unless;
  const lapis_matrix_setting *matrices; /* by lapis_method_matrix */
  int n_matrices;
  bool completes; /* its low_rank is X again, gaps filled */
  bool numbers;   /* its targets are numbers, not classes */
  bool joint;     /* it completes Y as it does X: there may be none */
  bool each;      /* a problem for each class, which jobs divide */
  const lapis_result_row *results; /* by lapis_method_result */
  int n_results;
  const char *paper_grid; /* values its paper tried, "NAME=GRID NAME=GRID";
                           * NULL: it prints none */
  const char *counted; /* what info.rank counts; NULL: of a matrix, its rank */
} lapis_method;
LAPIS_API const lapis_method *lapis_method_at(int i); /* NULL: past the end */
LAPIS_API const lapis_method *lapis_method_find(const char *name);
/* Hidden labels choose what these leave open, and how X is read. */
LAPIS_API bool lapis_method_chooses(const lapis_method *m, const void *settings,
                                    unsigned has);
/* The i-th setting, matrix among them, array it answers with; or NULL. */
LAPIS_API const lapis_param *lapis_method_param(const lapis_method *m, int i);
LAPIS_API const lapis_matrix_setting *lapis_method_matrix(const lapis_method *m,
                                                          int i);
LAPIS_API const lapis_result_row *lapis_method_result(const lapis_method *m,
                                                      int i);

/* ---- solve: one constructor a method, the same verbs for all ------------*/
typedef struct lapis_solver lapis_solver;
typedef struct lapis_info {
  size_t size; /* set by the library: how much of this struct it knows */
  int64_t iterations, rank;    /* 0: it does not iterate; -1: it has no rank */
  double objective, dual;      /* NaN: not available */
  double gap;                  /* relative, certified; NaN: none offered */
  double residual;             /* the method's page says of what */
  double seconds, svd_seconds; /* wall clock */
  lapis_status status;
} lapis_info;

/* Any method by its table, NULL settings: the defaults; or by name:
 * lapis_mc_new and the like.  On failure *out is NULL. */
LAPIS_API lapis_status lapis_solver_new(lapis_ctx *ctx, const lapis_method *m,
                                        const lapis_data *data,
                                        const void *settings,
                                        lapis_solver **out);
/* A second call starts from where the first one ended. */
LAPIS_API lapis_status lapis_solve(lapis_solver *s);
/* Other settings for the same data, before the next lapis_solve: what both
 * share is kept.  LAPIS_ENOTBUILT where a new solver is needed. */
LAPIS_API lapis_status lapis_solver_retune(lapis_solver *s,
                                           const void *settings);
LAPIS_API void lapis_solver_free(lapis_solver *s); /* NULL is fine */

/* A named array ("scores", ...), a sample a column: text, or numbers of any
 * type, mostly F64 (lapis_mat_at reads all).  LAPIS_EINVAL: none such. "notes",
 * TEXT, 3 x N: what the method remarked, before a solve, too: "note" or
 * "warning", a name ("never-predicted"), and what on_message was given. */
LAPIS_API lapis_status lapis_result_get(const lapis_solver *s, const char *name,
                                        lapis_mat *out);
/* Name of the i-th array, NULL past the end. */
LAPIS_API const char *lapis_result_name(const lapis_solver *s, int i);
LAPIS_API const lapis_info *lapis_result_info(const lapis_solver *s);
/* The method's settings struct as used: automatic values filled in.  Its size
 * is the library's: a copy to be handed on is given the program's own. */
LAPIS_API const void *lapis_result_settings(const lapis_solver *s);
/* Whose settings these are; NULL of features. */
LAPIS_API const lapis_method *lapis_result_method(const lapis_solver *s);

/* ---- model: what was learnt, standing alone -----------------------------
 * A model owns all it needs and outlives its solver.  Its file is a .npz that
 * numpy can open: named arrays, and a JSON header in the member "lapis". */
typedef struct lapis_model lapis_model;
typedef struct lapis_map lapis_map; /* methods.h */
/* Of samples that are divided among processes: called by all, and all have the
 * model of the whole. */
LAPIS_API lapis_status lapis_model_new(lapis_solver *s, lapis_model **out);
LAPIS_API void lapis_model_free(lapis_model *m);
/* What was done to X (or P: priv) before fitting, to be done again; copies. */
LAPIS_API lapis_status lapis_model_set_map(lapis_ctx *ctx, lapis_model *m,
                                           const lapis_map *map, bool priv);
LAPIS_API const lapis_map *lapis_model_map(const lapis_model *m); /* or NULL */
/* "feature_names", "class_names": a TEXT row.  Copies. */
LAPIS_API lapis_status lapis_model_set_text(lapis_ctx *ctx, lapis_model *m,
                                            const char *name,
                                            const lapis_mat *text);
LAPIS_API const lapis_method *lapis_model_method(const lapis_model *m);
LAPIS_API const void *lapis_model_settings(const lapis_model *m);
LAPIS_API bool lapis_model_completes(const lapis_model *m); /* its method */
/* What share of new samples is to lie in the sets that it answers with, where
 * it was fitted with a coverage (auto); by: lapis_coverage_by; 0: no sets. */
LAPIS_API lapis_status lapis_model_set_coverage(lapis_ctx *ctx, lapis_model *m,
                                                double share, int by);
/* Features of the samples it was learnt from, before its map; 0: unknown. */
LAPIS_API int64_t lapis_model_features(const lapis_model *m);
/* A learnt array or text by name; LAPIS_EINVAL where there is none. */
LAPIS_API lapis_status lapis_model_get(lapis_ctx *ctx, const lapis_model *m,
                                       const char *name, lapis_mat *out);
LAPIS_API lapis_status lapis_model_save(lapis_ctx *ctx, const lapis_model *m,
                                        const char *path);
LAPIS_API lapis_status lapis_model_load(lapis_ctx *ctx, const char *path,
                                        lapis_model **out);

/* Predicting is a solver: progress, cancelling and results as for any other.
 * settings: NULL, or the struct of lapis_predict_method(m), which stands
 * behind the method's own in methods.h; lapis_settings_fill fills it, and
 * lapis_method_result lists what it answers with.  Features that lie elsewhere
 * than those of the fit, or are known more seldom, are remarked. */
LAPIS_API const lapis_method *lapis_predict_method(const lapis_method *m);
LAPIS_API lapis_status lapis_predict_new(lapis_ctx *ctx, const lapis_data *data,
                                         const lapis_model *m,
                                         const void *settings,
                                         lapis_solver **out);

#ifdef __cplusplus
}
#endif
#include "choose.h"
#include "methods.h"
#endif
