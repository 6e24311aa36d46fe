/* roml.c - matching objects in a set of images [ROML16].
 *
 *   minimize    |L|_* + lambda |E|_1
 *   subject to  L + E = D = [vec(F^1 P^1) ... vec(F^K P^K)],
 *               P^k partial permutations: n of the n_k features, in slots
 *
 * One iteration on the augmented Lagrangian, [ROML16 (11)-(13), (10)]:
 *   L <- SVT(D - E - Y/rho, 1/rho);  E <- soft(D - L - Y/rho, lambda/rho)
 *   P^k <- assignment at cost -<M_k, F^k P> + |F^k P|^2/2, M = L + E + Y/rho
 *   Y <- Y + rho (L + E - D);  rho <- growth rho
 *
 * Deviations: Algorithm 1 step 3 prints lambda/rho where (11) has 1/rho, and
 * step 10 prints no growth.  From its rho_0 = 1e-4 the first costs are all ties
 * and P wanders off whatever start it had; rho_0 is set from the data instead
 * and P_0 from a start that is worth keeping (start.c).  A P with a higher
 * objective than the start's is never returned.
 *
 * When to stop.  P is a fixed point at rho when it solves its assignments at
 * M = D - U V'/rho, D = U S V': there L = D, E = 0, Y = -U V' stay where they
 * are, given max |U V'| <= lambda.  Then it is one at every larger rho, too:
 * the cost is |f - D|^2/2 + <U V', f>/rho, P minimizes the first term, so it
 * minimizes every mixture with less of the second.  The remaining iterations
 * could only approach L = D; we put it there.  Where E is not 0, iterations go
 * on to the residual asked for.
 *
 * Numerics: the K x K Gram matrix serves the singular value step (thresholds
 * are of the order of sigma); the objective comes from singular values. */
#include "methods/roml/roml.h"

#include <inttypes.h>
#include <math.h>

#define AT(field) offsetof(lapis_roml_settings, field)
static const lapis_param params[] = {
    INT("inliers", inliers, .symbol = "n", .value = -1, AT_LEAST(0),
        .help = "features of the object in every image; auto: estimated"),
    REAL("lambda", lambda, .symbol = "lambda", .value = NAN, ABOVE(0),
         .help = "weight of the sparse errors; auto: 5/sqrt(rows of D)"),
    INT("instances", instances, .value = 1, .choices = "auto", AT_LEAST(1),
        .help = "disjoint sets of N features; auto: as many as are better "
                "than chance"),
    TEXT("start", start, .symbol = "P_0", .arg = "WORD",
         .choices = "auto|seeded|mst|sync|first",
         .help = "auto, seeded, mst, sync, first, or FILE.npz:match"),
    BOOL("robust", robust,
         .help =
             "points: wrong or missing ones may be far away; marks them -1"),
    CHOICE("schedule", schedule, "fast|careful|paper", .value = LAPIS_ROML_FAST,
           .arg = "S",
           .help = "growth 1.01, 1.003, or the paper's rho and random start"),
    REAL("rho0", rho0, .symbol = "rho_0", .value = NAN, ABOVE(0),
         .help = "first penalty; auto: 0.95/median singular value"),
    REAL("growth", growth, .value = NAN, FROM_TO(1, 10),
         .help = "factor of rho from one iteration to the next"),
    CHOICE("layout", layout, "descriptor|coordinates",
           .value = LAPIS_ROML_DESCRIPTOR, .arg = "L",
           .help = "what a row of X is: a descriptor, or a point of the image"),
    CHOICE("normalise", normalise, "none|auto",
           .value = LAPIS_ROML_NORMALISE_AUTO, .arg = "N",
           .goes_with = "layout=descriptor",
           .help = "auto: descriptors to unit length"),
    BOOL("fix-first", fix_first,
         .help = "the first image's first N rows are the object (tracking)"),
    REAL("xi", xi, .symbol = "xi", .value = 4, ABOVE(0),
         .help = "a point of an image is doubtful when the error of its "
                 "features reaches this (l1 norm)"),
    REAL("delta", delta, .symbol = "delta", .value = 0.15, ABOVE(0),
         .help = "relative step of gamma_n that ends the inliers"),
    CHOICE("map", map, "none|embed", .value = LAPIS_ROML_MAP_NONE, .arg = "M",
           .help =
               "embed: positions (xy) and descriptors (X) into one feature"),
    REAL("sigma-spatial", sigma_spatial, .symbol = "sigma_spa", .value = NAN,
         ABOVE(0), .goes_with = "map=embed",
         .help = "embed: width of the position kernel"),
    REAL("sigma-descriptor", sigma_descriptor, .symbol = "sigma_des",
         .value = NAN, ABOVE(0), .goes_with = "map=embed",
         .help = "embed: width of the descriptor kernel"),
    REAL(
        "sigma-layout", sigma_layout, .value = 0.25, ABOVE(0),
        .goes_with = "map=embed",
        .help =
            "embed: width between images, in radii of their points; inf: none"),
    INT("dim", dim, .value = 60, AT_LEAST(1), .goes_with = "map=embed",
        .help = "embed: length of the features"),
    TEXT("invariance", invariance, .arg = "I",
         .choices = "auto|none|shift|scale|rotation|similarity",
         .goes_with = "layout=coordinates",
         .help = "points: how images may differ besides: auto, none, shift, "
                 "scale, rotation, similarity (scale and rotation with a "
                 "shift)"),
    PARAM_TOL(1e-7, "stop at this relative residual of L + E = D"),
    INT("max-iters", stop.max_iters, .value = 20000, AT_LEAST(0),
        .help = "stop after this many iterations; 0: the start alone"),
    PARAM_TIME_LIMIT,
};

static const lapis_matrix_setting matrices[] = {
    {"start", NULL, AT(start_match)}};

static const lapis_result_row results[] = {
    RESULT("match", "images x inliers", .type = LAPIS_I64,
           .help = "rows of X, a column a slot of the object, in the order of "
                   "the first image's rows; robust: -1 where it is absent"),
    RESULT("inlier", "images x inliers", .type = LAPIS_U8,
           .help = "0 where a slot of an image is in doubt: hidden, or its "
                   "feature spoilt"),
    RESULT("instance", "inliers", .type = LAPIS_I64,
           .help = "whose slot it is, from 1"),
    RESULT("low_rank", "images x inliers x features",
           .help =
               "L, the features of each slot; of points as they were moved"),
    RESULT("sparse", "images x inliers x features", .help = "E, likewise"),
    RESULT("transform", "images x 2 x 3", .when = "layout=coordinates",
           .where = "X holds points of a plane",
           .help = "how each image was moved: a point x to [:, :2] x + [:, 2]"),
    RESULT("invariance", "1", .type = LAPIS_TEXT, .when = "layout=coordinates",
           .where = "X holds points of a plane",
           .help = "the kind of it, given or chosen"),
    RESULT("gamma_n", "tried", .where = "inliers are estimated",
           .help = "the measure of each number of inliers that was tried"),
    RESULT("chance", "sets", .where = "instances are counted",
           .help = "|D|_* of each set over that of unrelated images"),
    RESULT_HISTORY,
    RESULT_NOTES,
};

const lapis_method roml_method = {
    .name = "roml",
    .title = "matching objects in a set of images",
    .summary =
        "find the points of one object in every image, and which is which in "
        "all of them",
    .source = "[ROML16]",
    .reads = LAPIS_READS_X | LAPIS_READS_GROUP | LAPIS_READS_XY,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .results = results,
    .n_results = sizeof results / sizeof *results,
    .settings_size = sizeof(lapis_roml_settings),
    .matrices = matrices,
    .n_matrices = sizeof matrices / sizeof *matrices,
};

/* ---- the loop -----------------------------------------------------------*/

static lapis_status solve_slots(roml *w)
{
  lapis_info *info = &w->base.info;
  if (w->set.robust) return roml_robust(w, &w->s, &info->objective);
  return roml_run(w, &w->s, &info->objective);
}

/* The n most alike are found of unrelated images, too (count.c). */
static void say_untested(const roml *w)
{
  bool fewer = w->set.inliers > 0 && w->set.inliers < roml_fewest(&w->p);
  if (fewer && w->set.instances == 1 && !w->p.coordinates)
    base_note(w->base.ctx, BASE_NOTE, "untested",
              "roml: with {inliers %" PRId64 "} the %" PRId64
              " most alike are the answer, whether or not the images have "
              "anything in common; {inliers auto} tests that",
              w->set.inliers, w->set.inliers);
}

static lapis_status roml_solve(lapis_solver *base)
{
  roml *w = (roml *)base;
  static const char *const columns[] = {"iteration", "objective", "residual",
                                        "rank",      "changed",   "rho"};
  TRY(loop_begin(&base->loop, base->ctx, "roml", &w->set.stop, 6, columns));
  w->whole = w->set.inliers >= 0 && !w->set.robust && w->set.instances == 1;
  TRY(roml_align(w));
  say_untested(w);
  if (w->set.inliers < 0) TRY(roml_count_inliers(w));
  if (w->set.instances != 1) TRY(roml_find_instances(w));
  TRY(solve_slots(w));
  TRY(roml_divide(w));
  base->info.iterations = base->loop.iter;
  base->info.rank = w->s.low_rank.rank;
  base->info.svd_seconds = op_svt_seconds(w->s.svt);
  TRY(roml_canonical(w, &w->s));
  TRY(roml_publish(w, &w->s));
  base->info.seconds = loop_seconds(&base->loop);
  return base->loop.status;
}

/* ---- constructor --------------------------------------------------------*/
static void roml_free(lapis_solver *s)
{
  roml *w = (roml *)s;
  roml_state_free(&w->s);
  roml_problem_free(&w->p);
  base_free(w->given);
  base_free(w->picks);
  base_free(w->match);
  base_free(w->inlier);
  base_free(w->low_rank);
  base_free(w->sparse);
  base_free(w->gamma);
  base_free(w->instance);
  base_free(w->whose);
  base_free(w->chance);
  base_free(w->learnt);
  base_free(w->transform);
}

static const solver_class roml_class = {.method = "roml",
                                        .solve = roml_solve,
                                        .free = roml_free,
                                        .learn = roml_learn};

static lapis_status allocate(roml *w, const lapis_data *data)
{
  TRY(la_open_host(w->base.ctx, &w->h));
  TRY(roml_problem_build(w, data));
  w->set.start_match = (lapis_mat){.rows = 0}; /* read: borrowed no longer */
  if (w->set.instances != 1) w->xy = data->xy;
  if (w->set.inliers > 0) TRY(roml_resize(w, w->set.inliers));
  return LAPIS_OK;
}

double roml_holds(const solver_size *z, const void *settings)
{
  const lapis_roml_settings *set = settings;
  double points = z->n / fmax(2, z->groups); /* of an image */
  double n = set->inliers > 0 ? fmin((double)set->inliers, points) : points;
  return 12 * z->features + 3 * n * (points + n); /* costs and regrets */
}

lapis_status roml_new(lapis_ctx *ctx, const lapis_data *data,
                      const void *settings, lapis_solver **out)
{
  *out = NULL;
  const lapis_roml_settings *set = settings;
  TRY(roml_check_data(ctx, set, data));
  lapis_solver *s;
  TRY(solver_alloc(ctx, &roml_class, sizeof(roml), &s));
  roml *w = (roml *)s;
  w->set = *set;
  if (w->set.start == NULL) w->set.start = "auto";
  if (w->set.invariance == NULL) w->set.invariance = "auto";
  s->settings = &w->set;
  return solver_deliver(s, allocate(w, data), out);
}
