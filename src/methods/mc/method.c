/* method.c - the method's table, and which solver a problem is given to.
 *
 * The problem, its certificate and its results are the same whichever solver
 * finds them; a solver is a row of functions in a file of its own. */
#include <math.h>
#include <stdio.h>

#include "methods/mc/mc.h"

#define AT(field) offsetof(lapis_mc_settings, field)
static const lapis_param params[] = {
    CHOICE("variant", variant, LAPIS_MC_VARIANTS, .value = LAPIS_MC_1,
           .arg = "V",
           .help = "which features are possible: any numbers (mc1), none below "
                   "0 (pos), shares that sum to 1 (simplex)"),
    CHOICE("labels", labels, LAPIS_MC_CODINGS, .value = LAPIS_MC_LABELS_AUTO,
           .arg = "L", .goes_with = "Y",
           .help = "the numbers that code the two values of a label: -1 and 1 "
                   "(pm), 0 and 1 (01), or 1 for the rarer one and 0 (rare); "
                   "auto: as Y is written"),
    REAL("lambda", lambda, .symbol = "lambda", .value = NAN, ABOVE(0),
         .goes_with = "Y",
         .help = "weight of the labels against the features; auto: chosen with "
                 "mu, .1 where mu is given"),
    REAL("gamma", gamma, .symbol = "gamma", .value = NAN, ABOVE(0),
         .goes_with = "Y",
         .help = "how sharply labels are separated (steepness of their "
                 "loss); auto: chosen with mu, 3 where mu is given"),
    REAL("mu", mu, .symbol = "mu", .value = NAN, ABOVE(0),
         .help = "how simple the answer is: larger is simpler, of lower rank "
                 "(weight of the nuclear norm)"),
    REAL("mu-rel", mu_rel, .value = NAN, ABOVE(0),
         .help = "mu relative to the smallest mu whose solution is zero "
                 "(sigma_1(Z_0) / |Omega_X|): less keeps more detail; auto: "
                 "chosen by hidden labels, .02 where there are no targets"),
    INT("held-out", held_out, .value = 0, AT_LEAST(0),
        .goes_with = "mu=auto mu-rel=auto Y",
        .help = "with mu open: predict every known label once more while it is "
                "hidden, in so many folds (result held_out)"),
    TEXT("map", map, .arg = "MAP",
         .help = "with mu open: how features are changed before they are read; "
                 "chosen where it is not given"),
    PARAM_CERTIFICATE,
    BOOL("class-features", class_features, .goes_with = "Y",
         .help = "also write the features of a sample that has only one class, "
                 "for each class (class_features)"),
    PARAM_TOL(1e-4, "stop when the objective is proved to be within this share "
                    "of the best one (fpc: when it changes less)"),
    CHOICE("solver", solver, "auto|bordered|factored|admm|fpc",
           .value = LAPIS_MC_AUTO, .arg = "S",
           .help =
               "how the problem is solved; auto: by the size and the gaps of "
               "X; all but the papers' way (fpc) prove their answer"),
    BOOL("dense", dense,
         .help = "also publish low_rank and sparse where they take over 1 GB"),
    REAL("mu-start", mu_start, .symbol = "mu_0", .value = NAN, ABOVE(0),
         .goes_with = "solver=fpc",
         .help = "fpc: first mu of the continuation; auto: sigma_1(Z_0) / 4"),
    REAL("mu-decay", mu_decay, .symbol = "eta", .value = 0.25, ABOVE_TO(0, 1),
         .goes_with = "solver=fpc",
         .help = "fpc: factor from one mu to the next, down to mu"),
    REAL("tau", tau, .symbol = "tau", .value = NAN, ABOVE(0),
         .goes_with = "solver=fpc",
         .help =
             "fpc: step; auto: the longest that is safe, min(4 |Omega_Y| / "
             "(lambda gamma), |Omega_X| / c), weights over the largest; c: 1 "
             "of mc1, 8 over the least number above 0 of pos and simplex"),
    CHOICE("absent", absent, "zero|missing", .value = LAPIS_ABSENT_ZERO,
           .arg = "A",
           .help = "entries that a sparse X leaves out are 0, or not observed"),
    CHOICE("proof", proof, "random|exact", .value = LAPIS_MC_PROOF_RANDOM,
           .arg = "P", .goes_with = "solver=auto|factored",
           .help = "factored: how the last step of the proof is made, by a "
                   "random test (wrong with probability below 2e-17) or "
                   "exactly, by Cholesky"),
    INT("most-rank", most_rank, .value = -1, AT_LEAST(1),
        .goes_with = "solver=auto|factored",
        .help = "factored: the highest rank that is tried; auto: min(samples, "
                "features), at most 256"),
    PARAM_MAX_ITERS(10000),
    PARAM_TIME_LIMIT,
};

static const lapis_result_row results[] = {
    RESULT("scores", "n x K", .when = "Y",
           .help = "the labels of Z: above 0 says yes of labels -1 and 1, "
                   "above 0.5 of 0 and 1"),
    RESULT_LABELS(.when = "Y"),
    RESULT_CLASSES(.when = "Y"),
    RESULT("probabilities", "n x K", .when = "Y",
           .where = "settings were chosen", .help = "of yes, or of each class"),
    RESULT_LOW_RANK(.where = "it takes at most 1 GB, or dense is set",
                    .help = "the features of Z: X repaired and completed"),
    RESULT_SPARSE(.where = "low_rank is there"),
    RESULT("class_features", "K x d", .when = "class-features",
           .help =
               "the features of a sample of only one class, for each class"),
    RESULT("weights", "K x (d + 1)", .when = "solver=bordered",
           .help = "the score of a sample without a label is w'x + offset; the "
                   "offset last"),
    RESULT("factors", "n x r", .when = "solver=factored",
           .help = "low_rank = factors feature_factors', r the rank"),
    RESULT("feature_factors", "d x r", .when = "solver=factored",
           .help = "the other factor of low_rank"),
    RESULT("label_factors", "K x r", .when = "solver=factored Y",
           .help = "scores = factors label_factors'"),
    RESULT("singular_values", "r", .when = "solver=factored", .help = "of Z"),
    RESULT("gap", "1", .when = "solver=factored",
           .help = "relative, as it was proved"),
    RESULT("proof", "1", .type = LAPIS_TEXT, .when = "solver=factored",
           .help = "how: random or exact"),
    RESULT("dual_norm", "1", .when = "solver=bordered|factored|admm",
           .help = "|G|_2 / mu of the multiplier G, before it was scaled to at "
                   "most 1"),
    RESULT("dual", "n x (K + d + 1)", .when = "certificate",
           .help = "the multiplier G that proves the gap; those of "
                   "class_features follow the samples"),
    RESULT_CHOICE,
    RESULT_HELD_OUT,
    RESULT_HISTORY,
    RESULT_NOTES,
};

const lapis_method mc_method = {
    .name = "mc",
    .title = "matrix completion",
    .summary = "fill in unknown labels and repair the features of a whole set "
               "of samples at once",
    .source = "[MC11] [MC15]",
    .reads =
        LAPIS_READS_X | LAPIS_READS_Y | LAPIS_READS_GROUP | LAPIS_READS_WEIGHT,
    .completes = true,
    .joint = true,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .results = results,
    .n_results = sizeof results / sizeof *results,
    .settings_size = sizeof(lapis_mc_settings),
    .choose = "mu-rel=1:1e-3:10",
    .unless = "mu",
    .paper_grid = "gamma=1,3,30 lambda=1e-4:1e2:7", /* [MC11 Sec. 5] */
};

/* ---- what is left open --------------------------------------------------*/
bool mc_open(const void *settings)
{
  const lapis_mc_settings *set = settings;
  return isnan(set->mu) && isnan(set->mu_rel);
}

/* Groups stay whole while settings are chosen. */
unsigned mc_idle(const void *settings)
{
  return mc_open(settings) ? 0 : LAPIS_READS_GROUP;
}

void mc_settle(void *settings)
{
  lapis_mc_settings *set = settings;
  if (isnan(set->lambda)) set->lambda = 0.1;
  if (isnan(set->gamma)) set->gamma = 3;
  if (mc_open(set)) set->mu_rel = 0.02;
}

/* ---- which solver -------------------------------------------------------*/
/* By lapis_mc_solver; auto asks them in this order. */
static const mc_solver *const solvers[] = {[LAPIS_MC_BORDERED] = &mc_bordered,
                                           [LAPIS_MC_FACTORED] = &mc_factored,
                                           [LAPIS_MC_ADMM] = &mc_admm,
                                           [LAPIS_MC_FPC] = &mc_fpc};
enum { SOLVERS = sizeof solvers / sizeof *solvers };

/* The next row from k on that auto would take; SOLVERS: none. */
static int next_that_suits(const mc *w, const lapis_data *data, int k)
{
  for (; k < SOLVERS; k++)
    if (solvers[k] != NULL && solvers[k]->refuses(w, data) == NULL &&
        solvers[k]->suits(w, data) != NULL)
      break;
  return k;
}

/* The others want X dense. */
static bool reads_stored(const mc *w)
{
  bool stored = w->solver == &mc_factored && w->set.absent != LAPIS_ABSENT_ZERO;
  return stored || w->solver == &mc_bordered;
}

static lapis_status take(mc *w, const lapis_data *data, int k, const char *why)
{
  w->solver = solvers[k];
  w->set.solver = k;
  TRY((w->solver->on_host ? la_open_host : la_open)(w->base.ctx, &w->h));
  base_say(w->base.ctx, 1, "mc: solver %s: %s", w->solver->name, why);
  lapis_data own = *data;
  bool shifts = w->shift != NULL && w->solver != &mc_bordered;
  bool spread = data->X.colptr != NULL && !reads_stored(w);
  if (spread || shifts) TRY(mc_densify(w, &own));
  return w->solver->alloc(w, &own);
}

static lapis_status take_asked(mc *w, const lapis_data *data, int k)
{
  const mc_solver *s = solvers[k];
  if (s == NULL)
    return lapis_fail(
        w->base.ctx, LAPIS_ENOTBUILT,
        "mc: this solver is not built; --solver auto takes one that is");
  const char *no = s->refuses(w, data);
  if (no != NULL)
    return lapis_fail(w->base.ctx, LAPIS_EINVAL,
                      "mc: --solver %s cannot take this problem: %s", s->name,
                      no);
  return take(w, data, k, "as asked");
}

/* A solver may find only when it looks closer that it had better not. */
static lapis_status take_fitting(mc *w, const lapis_data *data)
{
  const lapis_mc_settings set = w->set;
  int k = next_that_suits(w, data, 0);
  if (k == SOLVERS) /* samples are divided: admm says what is not */
    return take_asked(w, data, LAPIS_MC_ADMM);
  lapis_status s = take(w, data, k, solvers[k]->suits(w, data));
  while (s == LAPIS_ENOTBUILT) {
    base_say(w->base.ctx, 1, "%s", lapis_ctx_error(w->base.ctx));
    w->solver->free(w);
    w->state = NULL;
    w->set = set;
    k = next_that_suits(w, data, k + 1);
    if (k == SOLVERS) break;
    s = take(w, data, k, solvers[k]->suits(w, data));
  }
  return s;
}

double mc_holds(const solver_size *z, const void *settings)
{
  const lapis_mc_settings *set = settings;
  double m = z->d + z->K + 1, p = z->K + 1, side = fmin(m, z->n);
  bool open = set->solver == LAPIS_MC_AUTO;
  bool stored = z->sparse && set->absent == LAPIS_ABSENT_MISSING;
  if (set->solver == LAPIS_MC_FACTORED || (open && stored))
    return 8 * (z->features + p * z->n) + 140 * (m + z->n) +
           (set->dense ? 2 * z->d * z->n : 0);
  if (set->solver == LAPIS_MC_BORDERED || (open && !z->gaps))
    return 8 * z->d * z->n + 45 * p * z->n + 6 * z->small * z->small;
  return 25 * m * z->n + 8 * side * side;
}

/* ---- the solver ---------------------------------------------------------*/
static lapis_status solve(lapis_solver *s)
{
  mc *w = (mc *)s;
  TRY(w->solver->solve(w));
  loop_keep_no_more(&s->loop);
  s->info.iterations = s->loop.iter;
  s->info.rank = w->low_rank.rank;
  s->info.objective = w->bounds.primal;
  s->info.dual = w->bounds.dual;
  s->info.gap = w->bounds.gap;
  if (w->svt != NULL) s->info.svd_seconds = op_svt_seconds(w->svt);
  TRY(w->solver->publish(w));
  s->info.seconds = loop_seconds(&s->loop);
  return s->loop.status;
}

static lapis_status learn(lapis_solver *s)
{
  mc *w = (mc *)s;
  return w->solver->learn(w);
}

static void release(lapis_solver *s)
{
  mc *w = (mc *)s;
  if (w->solver != NULL) w->solver->free(w);
  if (w->h.ops != NULL) mc_problem_free(w);
  targets_free(&w->p.labels);
  base_free(w->whole);
  base_free(w->factors);
  base_free(w->p.turn);
  base_free(w->p.calibration);
}

static bool same_problem(const mc *w, const lapis_mc_settings *set)
{
  bool solver = set->solver == LAPIS_MC_AUTO || set->solver == w->set.solver;
  return solver && set->variant == w->set.variant &&
         set->labels == w->set.labels &&
         set->certificate == w->set.certificate &&
         set->class_features == w->set.class_features &&
         set->absent == w->set.absent && set->proof == w->set.proof;
}

/* Another mu, lambda, gamma or stop. */
static lapis_status retune(lapis_solver *s, const void *settings)
{
  mc *w = (mc *)s;
  lapis_mc_settings own;
  const lapis_mc_settings *set = &own;
  TRY(lapis_settings_copy(s->ctx, &mc_method, settings, &own));
  mc_settle(&own);
  bool unit = !isnan(set->mu) || w->p.sigma_1 > 0; /* of mu-rel is known */
  if (!unit || !same_problem(w, set))
    return lapis_fail(s->ctx, LAPIS_ENOTBUILT,
                      "mc: another variant, label coding or solver needs a "
                      "new problem");
  double before = w->p.mu;
  int solver = w->set.solver;
  w->set = *set;
  w->set.solver = solver;
  mc_set_weights(w);
  return w->solver->retune(w, before);
}

/* What relabelling may not change either: labels may be coded in another way.
 */
static bool same_features(const mc *w, const lapis_mc_settings *set)
{
  lapis_mc_settings own = *set;
  own.labels = w->set.labels;
  return same_problem(w, &own);
}

static lapis_status relabel(lapis_solver *s, const lapis_data *data,
                            const void *settings)
{
  mc *w = (mc *)s;
  lapis_mc_settings own;
  TRY(lapis_settings_copy(s->ctx, &mc_method, settings, &own));
  mc_settle(&own);
  if (w->solver->relabel == NULL || !same_features(w, &own) ||
      base_ranks(s->ctx) > 1)
    return lapis_fail(s->ctx, LAPIS_ENOTBUILT,
                      "mc: --solver %s needs a new problem for other labels",
                      w->solver->name);
  TRY(mat_check_finite(s->ctx, "mc", "Y", &data->Y, true));
  own.solver = w->set.solver;
  w->set = own;
  TRY(mc_problem_relabel(w, data));
  return w->solver->relabel(w, data);
}

static lapis_status calibrate(lapis_solver *s, const lapis_mat *slopes)
{
  mc *w = (mc *)s;
  TRY(mc_calibrate(s->ctx, &w->p, slopes));
  return mc_labels_alloc(w); /* probabilities, too */
}

static const solver_class mc_class = {.method = "mc",
                                      .solve = solve,
                                      .free = release,
                                      .retune = retune,
                                      .relabel = relabel,
                                      .calibrate = calibrate,
                                      .learn = learn};

static lapis_status build(mc *w, const lapis_data *data)
{
  TRY(mc_problem_size(w, data));
  TRY(la_open(w->base.ctx, &w->h));
  return w->set.solver == LAPIS_MC_AUTO ? take_fitting(w, data)
                                        : take_asked(w, data, w->set.solver);
}

bool mc_reads(const void *settings, const lapis_mat *X)
{
  const lapis_mc_settings *set = settings;
  bool bordered =
      set->solver == LAPIS_MC_AUTO || set->solver == LAPIS_MC_BORDERED;
  return bordered && set->variant == LAPIS_MC_1 && !set->class_features &&
         X->colptr == NULL && lapis_mat_missing(X) == 0;
}

lapis_status mc_new(lapis_ctx *ctx, const lapis_data *data,
                    const void *settings, lapis_solver **out)
{
  return mc_new_read(ctx, data, NULL, settings, out);
}

lapis_status mc_new_read(lapis_ctx *ctx, const lapis_data *data,
                         const mat_shift *shift, const void *settings,
                         lapis_solver **out)
{
  *out = NULL;
  const lapis_mc_settings *set = settings;
  if (set->map != NULL)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "mc: map goes with settings that are chosen, and mu is "
                      "given, or there are no targets");
  TRY(mc_check_data(ctx, set, data));
  if (mc_variant_of(set->variant)->check == NULL && shift == NULL)
    TRY(mat_say_units(ctx, "mc", &data->X));
  lapis_solver *s;
  TRY(solver_alloc(ctx, &mc_class, sizeof(mc), &s));
  mc *w = (mc *)s;
  w->set = *set;
  w->shift = shift;
  mc_settle(&w->set);
  s->settings = &w->set;
  return solver_deliver(s, build(w, data), out);
}
