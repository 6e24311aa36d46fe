/* clean.c - cleaning samples with a dictionary of clean ones [RR16 (8), (10)].
 *
 *   alone:  minimize  |z|_2 + w |P_Omega(x - D z)|_1   for every sample
 *   joint:  minimize  |Z|_* + w |P_Omega(X - D Z)|_1
 *
 * Deviation: the paper's form is joint with w = lambda/|D|_*, which collapses
 * Z to rank 1 and makes an answer depend on its batch; it is --joint --weight
 * paper.  By default every sample is on its own and w = lambda sqrt(r n)/|D|_*,
 * r the rank of D and n its samples: at training Z = V V', whose columns have
 * sum of lengths at most sqrt(r n), which takes the place of |D|_*. */
#include "methods/robust/robust.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/resume.h"
#include "lapis/tools.h"
#include "mat/mat.h"

typedef struct clean {
  lapis_solver base;
  lapis_clean_settings set;
  la h;
  rr_basis basis;
  double error_weight; /* w */
  clean_job job;
} clean;

#define AT(field) offsetof(lapis_clean_settings, field)
static const lapis_param params[] = {
    TEXT("dictionary", dictionary_file, .symbol = "D", .arg = "FILE",
         .help = "clean samples, a row each: .npy .csv .npz:NAME"),
    REAL("lambda", lambda, .symbol = "lambda", .value = NAN, ABOVE(0),
         .help = "smaller takes more of X for errors (weight of the sparse "
                 "error; auto: 1/sqrt(max(d, n)) of the dictionary, d x n)"),
    TEXT("weight", weight, .symbol = "w", .arg = "W", .choices = "scaled|paper",
         .help = "scaled (default: lambda sqrt(r n)/|D|_*), paper "
                 "(lambda/|D|_*), or w"),
    RR_JOINT("clean all samples together (|Z|_*)"),
    PARAM_CERTIFICATE,
    RR_REFILL,
    RR_TAU,
    PARAM_TOL(1e-6, "stop when the objective is proved to be within this share "
                    "of the best one"),
    PARAM_MAX_ITERS(10000),
    PARAM_TIME_LIMIT,
};

static const lapis_matrix_setting matrices[] = {
    {"dictionary", "dictionary", AT(dictionary)}};

static const lapis_result_row results[] = {
    RESULT_LOW_RANK(.help = "D Z, the cleaned samples"),
    RESULT_SPARSE(),
    RESULT("coefficients", "n x m",
           .help = "Z, of the m samples of the dictionary"),
    RESULT("weight", "1", .help = "w, the weight of the errors"),
    RESULT_FILLED(.when = "refill"),
    RESULT("dual", "n x d", .when = "certificate",
           .help = "the multiplier that proves the gap"),
    RESULT_HISTORY,
    RESULT_NOTES,
};

const lapis_method clean_method = {
    .name = "clean",
    .title = "cleaning with a dictionary",
    .summary =
        "remove from samples what clean ones (the dictionary) cannot explain",
    .source = "[RR16] Sec. 3.2",
    .reads = LAPIS_READS_X,
    .completes = true,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .results = results,
    .n_results = sizeof results / sizeof *results,
    .settings_size = sizeof(lapis_clean_settings),
    .matrices = matrices,
    .n_matrices = sizeof matrices / sizeof *matrices,
};

/* ---- settings -----------------------------------------------------------*/
typedef enum weight_kind { SCALED, PAPER, NUMBER } weight_kind;

static lapis_status read_weight(lapis_ctx *ctx, const char *text,
                                weight_kind *kind, double *number)
{
  *kind = SCALED;
  *number = NAN;
  if (text == NULL || strcmp(text, "scaled") == 0) return LAPIS_OK;
  *kind = PAPER;
  if (strcmp(text, "paper") == 0) return LAPIS_OK;
  *kind = NUMBER;
  if (lapis_number_read(text, NULL, number) && *number > 0 && isfinite(*number))
    return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_EINVAL,
                    "clean: --weight is '%s'; it must be scaled, paper or a "
                    "number above 0",
                    text);
}

static lapis_status check_dictionary(lapis_ctx *ctx, const lapis_mat *D,
                                     const lapis_mat *X)
{
  if (mat_empty(D))
    return lapis_fail(ctx, LAPIS_EMISSING,
                      "clean: no dictionary; name one by --dictionary FILE");
  if (D->rows != X->rows)
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "clean: the dictionary has %" PRId64
                      " features, X has %" PRId64,
                      D->rows, X->rows);
  return mat_check_finite(ctx, "clean", "the dictionary", D, false);
}

/* ---- solving ------------------------------------------------------------*/
static lapis_status warn_if_empty(clean *w)
{
  const clean_job *j = &w->job;
  int64_t count = j->c.d * j->c.n, kept = 0;
  for (int64_t k = 0; k < count; k++) kept += fabs(j->low_rank[k]) > 0;
  TRY(base_sum_whole(w->base.ctx, &kept, 1));
  return rr_warn_if_empty(&w->base, kept, j->sparse, j->X, count, NULL);
}

static lapis_status run(lapis_solver *s)
{
  clean *w = (clean *)s;
  TRY(loop_begin(&s->loop, s->ctx, "clean", &w->set.stop, 6, clean_columns));
  TRY(clean_job_run(&w->job, s, w->error_weight, w->set.stop.tol));
  clean_job_publish(&w->job, s);
  solver_publish(s, "weight", lapis_mat_f64(&w->error_weight, 1, 1));
  TRY(warn_if_empty(w));
  solver_publish_history(s);
  s->info.iterations = s->loop.iter;
  s->info.seconds = loop_seconds(&s->loop);
  return s->loop.status;
}

/* The order of samples at work is no row that processes could divide. */
static lapis_status clean_solve(lapis_solver *s)
{
  bool many = base_ranks(s->ctx) > 1;
  if (many) keep_pause(s->ctx, true);
  lapis_status status = run(s);
  if (many) keep_pause(s->ctx, false);
  return status;
}

/* ---- constructor --------------------------------------------------------*/
static void clean_free(lapis_solver *s)
{
  clean *w = (clean *)s;
  clean_job_free(&w->job);
  rr_basis_free(&w->basis);
}

static const solver_class clean_class = {
    .method = "clean", .solve = clean_solve, .free = clean_free};

static lapis_status build(clean *w, const lapis_mat *X, weight_kind kind,
                          double number)
{
  const lapis_clean_settings *set = &w->set;
  clean_options opt = {.joint = set->joint,
                       .certificate = set->certificate,
                       .refill = set->refill,
                       .tau = set->tau};
  TRY(la_open(w->base.ctx, &w->h));
  base_alone(w->base.ctx, true); /* each process has the whole dictionary */
  lapis_status s = rr_basis_new(&w->h, &set->dictionary, 0, &w->basis);
  base_alone(w->base.ctx, false);
  TRY(s);
  if (w->basis.r == 0)
    return lapis_fail(
        w->base.ctx, LAPIS_EDATA,
        "clean: the dictionary is all zeros; name one of clean samples");
  w->error_weight = kind == NUMBER
                        ? number
                        : clean_weight(&w->basis, set->lambda, kind == PAPER);
  return clean_job_new(&w->h, &w->basis, X, &opt, &w->job);
}

double clean_holds(const solver_size *z, const void *settings)
{
  const lapis_clean_settings *set = settings;
  double m = (double)set->dictionary.cols;
  return 2 * RR_COPIES * z->features + 4 * m * (z->d + z->n);
}

lapis_status clean_new(lapis_ctx *ctx, const lapis_data *data,
                       const void *settings, lapis_solver **out)
{
  *out = NULL;
  weight_kind kind;
  double number;
  const lapis_clean_settings *set = settings;
  TRY(read_weight(ctx, set->weight, &kind, &number));
  TRY(rr_check_X(ctx, "clean", &data->X));
  TRY(check_dictionary(ctx, &set->dictionary, &data->X));
  if (base_ranks(ctx) > 1 && keep_is_on(ctx))
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "clean: --checkpoint is not divided among processes; "
                      "leave it or --mpi out");
  lapis_solver *s;
  TRY(solver_alloc(ctx, &clean_class, sizeof(clean), &s));
  clean *w = (clean *)s;
  w->set = *set;
  w->set.lambda =
      rr_lambda(set->lambda, set->dictionary.rows, set->dictionary.cols);
  s->settings = &w->set;
  return solver_deliver(s, build(w, &data->X, kind, number), out);
}
