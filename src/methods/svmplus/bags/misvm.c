/* misvm.c - learning from bags with privileged information: mi-SVM-PI
 * [SVMP16 Sec. 6.2].
 *
 * A positive bag holds at least one positive instance, and at least a share
 * positive_ratio of them; a negative bag holds none.  Rounds:
 *   y <- label of the bag
 *   repeat: fit the l2 problem [SVMP16 (18)] to y;
 *           in each positive bag y_i <- sign f_i, and where fewer than
 *           max(1, ceil(ratio |B|)) are positive, the top ones by f are
 *   until y was seen before.
 * Kernels and G are made once: they do not depend on y.
 *
 * Numerics: labels may cycle, hence the list of all y seen; a step of the
 * whole is a fit, so max_iters counts rounds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "methods/svmplus/svmplus.h"

#define AT(field) offsetof(lapis_misvm_settings, field)
static const lapis_param params[] = {
    CHOICE("kernel", kernel, SV_KERNELS "|auto", .symbol = "K",
           .value = LAPIS_KERNEL_AUTO, .arg = "K",
           .help = "kernel of X; auto: rbf, or linear where held-out bags say "
                   "so and C is left open"),
    SV_KERNEL_PRIV_ROW,
    REAL(
        "C", C, .symbol = "C", .value = NAN, ANY_NUMBER,
        .help =
            "how closely training samples are fitted: larger is closer (weight "
            "of the slack, above 0; auto: .1, 1, 10 or 100, by held-out bags)"),
    REAL("gamma", gamma, .symbol = "gamma", .value = 1, ANY_NUMBER,
         .goes_with = "P",
         .help = "how little P may say: small lets it decide (weight of the "
                 "slack function's length, above 0)"),
    SV_WIDTH_ROWS,
    SV_SCALE_ROW,
    REAL("positive-ratio", positive_ratio, .value = 0, FROM_TO(0, 1),
         .help = "least share of positive instances in a positive bag"),
    CHOICE("threshold", threshold, "fixed|auto|with-C",
           .value = LAPIS_THRESHOLD_WITH_C, .arg = "T",
           .help = "a bag scored above it is positive; fixed: 0; auto: by "
                   "held-out bags; with-C: auto where C is left open"),
    PARAM_TOL(1e-6, "relative gap of each fit"),
    INT("max-iters", stop.max_iters, .value = 50, AT_LEAST(1),
        .help = "stop after this many rounds"),
    PARAM_TIME_LIMIT,
};

static const lapis_result_row results[] = {
    RESULT("scores", "n", .help = "f of each instance"),
    RESULT("labels", "n",
           .help = "of each instance; a bag is positive where one of its "
                   "instances is"),
    RESULT("bags", "B", .help = "the group of each of the B bags"),
    RESULT("bag_scores", "B", .help = "the largest f in it"),
    RESULT("bag_labels", "B",
           .help = "whether that is above the threshold, or 0"),
    RESULT_USED,
    RESULT("threshold", "1", .when = "threshold=auto",
           .help = "of bag_scores, found on held-out bags"),
    RESULT("weights", "1 x (d + 1)", .when = "kernel=linear",
           .help = "w, the offset last"),
    RESULT_HISTORY,
    RESULT_NOTES,
};

const lapis_method misvm_method = {
    .name = "misvm",
    .title = "SVM for bags with privileged information",
    .summary = "a classifier of instances when labels are known for bags only",
    .source = "[SVMP16]",
    .reads = LAPIS_READS_X | LAPIS_READS_Y | LAPIS_READS_P | LAPIS_READS_GROUP,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .results = results,
    .n_results = sizeof results / sizeof *results,
    .settings_size = sizeof(lapis_misvm_settings),
    .counted = "support vectors",
};

typedef struct misvm {
  lapis_solver base;
  lapis_misvm_settings set;
  lapis_solver *inner; /* an l2 svmplus whose labels change */
  bag_list bags;
  double *bag_sign;  /* n: label of the bag, 1 or -1 */
  signed char *seen; /* rounds x n: every y so far */
  int64_t n, rounds, room;
  int64_t *order;               /* n */
  double *decided, *bag_scores; /* n, bags */
  double *bag_labels;           /* bags */
  double threshold;             /* of bag_scores */
  lapis_data data;              /* borrowed; without weights */
  bool open, any_kernel;        /* C is left open, and the kernel */
} misvm;

static svmplus *inner_of(const misvm *w)
{
  return (svmplus *)w->inner;
}

/* ---- the steps ----------------------------------------------------------*/
/* The top `least` of one bag become positive. */
static void raise_top(misvm *w, const bag *b, const double *f, double *y,
                      int64_t least)
{
  for (int64_t k = 0; k < least; k++) {
    int64_t best = -1;
    for (int64_t i = 0; i < b->count; i++) {
      int64_t at = b->member[i];
      if (w->order[at] != 0) continue;
      if (best < 0 || f[at] > f[best]) best = at;
    }
    w->order[best] = 1;
    y[best] = 1;
  }
}

static int64_t least_positive(const misvm *w, const bag *b)
{
  /* 0.7 x 10 may round to just above 7 */
  double share = ceil(w->set.positive_ratio * (double)b->count * (1 - 1e-12));
  return share > 1 ? (int64_t)share : 1;
}

/* y from f by the rule of bags; returns how many changed. */
static int64_t relabel(misvm *w, const double *f, double *y)
{
  int64_t changed = 0;
  memset(w->order, 0, (size_t)w->n * sizeof *w->order);
  for (int64_t i = 0; i < w->n; i++) {
    double next = w->bag_sign[i] > 0 && f[i] > 0 ? 1 : -1;
    changed += (next > 0) != (y[i] > 0);
    y[i] = next;
  }
  for (int64_t k = 0; k < w->bags.count; k++) {
    const bag *b = &w->bags.item[k];
    int64_t positive = 0, least = least_positive(w, b);
    if (w->bag_sign[b->member[0]] < 0) continue;
    for (int64_t i = 0; i < b->count; i++) positive += y[b->member[i]] > 0;
    if (positive < least) raise_top(w, b, f, y, least);
  }
  return changed;
}

/* Remembers y; true where it was there already. */
static bool seen_before(misvm *w, const double *y)
{
  signed char *now = w->seen + w->rounds * w->n;
  for (int64_t i = 0; i < w->n; i++) now[i] = y[i] > 0 ? 1 : -1;
  for (int64_t r = 0; r < w->rounds; r++)
    if (memcmp(w->seen + r * w->n, now, (size_t)w->n) == 0) return true;
  w->rounds++;
  return false;
}

static lapis_status remember_room(misvm *w)
{
  int64_t room = w->room;
  while (w->rounds + 1 >= room) room *= 2;
  if (room == w->room) return LAPIS_OK;
  void *p = w->seen;
  TRY(base_grow(w->base.ctx, &p, w->room * w->n, room * w->n, 1));
  w->seen = p;
  w->room = room;
  return LAPIS_OK;
}

/* A file says how many rounds there were: it must hold their labels, before
 * room is made for them. */
static lapis_status check_rounds(misvm *w)
{
  loop *l = &w->base.loop;
  int64_t count = 0;
  const void *seen;
  TRY(keep_find(l->ctx, &l->scope, "seen", KEEP_SIGNS, &seen, &count));
  if (seen != NULL && count == w->rounds * w->n) return LAPIS_OK;
  return loop_refuse(l, "seen");
}

/* The list of labels seen, as long as it is now. */
static lapis_status keep_seen(misvm *w)
{
  loop *l = &w->base.loop;
  bool resumed;
  loop_set_stage(l, 0);
  loop_keep_signs(l, "seen", w->seen, w->rounds * w->n);
  return loop_resume(l, &resumed);
}

/* ---- results ------------------------------------------------------------*/
static void publish_decisions(misvm *w)
{
  lapis_solver *s = &w->base;
  const double *value = inner_of(w)->labels.value;
  for (int64_t k = 0; k < w->bags.count; k++)
    w->bag_labels[k] = value[w->bag_scores[k] > w->threshold];
  solver_publish(s, "bag_labels",
                 lapis_mat_f64(w->bag_labels, 1, w->bags.count));
  if (w->set.threshold == LAPIS_THRESHOLD_AUTO)
    solver_publish(s, "threshold", lapis_mat_f64(&w->threshold, 1, 1));
}

static void publish(misvm *w)
{
  svmplus *in = inner_of(w);
  lapis_solver *s = &w->base;
  for (int64_t i = 0; i < w->n; i++)
    w->decided[i] = in->labels.value[in->labels.sign[i] > 0];
  bag_scores(&w->bags, in->scores, w->bag_scores);
  solver_publish(s, "scores", lapis_mat_f64(in->scores, 1, w->n));
  solver_publish(s, "labels", lapis_mat_f64(w->decided, 1, w->n));
  solver_publish(s, "bag_scores",
                 lapis_mat_f64(w->bag_scores, 1, w->bags.count));
  solver_publish(s, "bags", lapis_mat_f64(w->bags.id, 1, w->bags.count));
  publish_decisions(w);
  if (in->linear)
    solver_publish(s, "weights", lapis_mat_f64(in->weights, in->q.d + 1, 1));
  solver_publish_history(s);
}

static lapis_status rounds(misvm *w)
{
  loop *l = &w->base.loop;
  svmplus *in = inner_of(w);
  bool known = false, resumed;
  w->rounds = 0;
  for (int64_t i = 0; i < w->n; i++) in->labels.sign[i] = w->bag_sign[i];
  seen_before(w, in->labels.sign);
  loop_keep_whole(l, "rounds", &w->rounds, 1, 1, LOOP_MOST / w->n);
  loop_keep(l, "sign", in->labels.sign, w->n);
  loop_keep(l, "alpha", in->alpha, w->n);
  loop_keep(l, "f", in->scores, w->n);
  TRY(loop_resume(l, &resumed));
  if (resumed) TRY(check_rounds(w));
  TRY(remember_room(w));
  TRY(keep_seen(w));
  while (!known && loop_next(l)) {
    TRY(remember_room(w));
    in->set.stop.seconds = loop_seconds_left(l);
    lapis_status status = lapis_solve(w->inner);
    TRY(status);
    if (status == LAPIS_CANCELLED || status == LAPIS_TIME_LIMIT)
      l->status = status;
    int64_t changed = relabel(w, in->scores, in->labels.sign);
    double f = w->inner->info.objective;
    TRY(loop_record(l, (double[]){f, (double)changed}));
    base_say(w->base.ctx, 1, "misvm: round %" PRId64 ", %" PRId64 " changed",
             l->iter, changed);
    lapis_progress now = {.objective = f, .gap = NAN, .residual = NAN};
    loop_show(l, &now, NAN);
    known = seen_before(w, in->labels.sign);
    TRY(keep_seen(w));
  }
  return LAPIS_OK;
}

/* rho = a'Qa is twice the objective of a fit; a model cut short has none. */
static lapis_status find_threshold(misvm *w)
{
  loop *l = &w->base.loop;
  double left = loop_seconds_left(l), margins = 0;
  lapis_status s = l->status;
  w->threshold = 0;
  if (w->set.threshold != LAPIS_THRESHOLD_AUTO) return LAPIS_OK;
  if (s == LAPIS_OK || s == LAPIS_MAX_ITERS) {
    keep_pause(l->ctx, true);
    s = bag_threshold(inner_of(w), &w->set, misvm_new, &w->bags, w->bag_sign,
                      left, &margins, NULL);
    keep_pause(l->ctx, false);
  }
  TRY(s);
  if (s == LAPIS_CANCELLED || s == LAPIS_TIME_LIMIT) {
    l->status = s;
    base_note(l->ctx, BASE_WARNING, "no-threshold",
              "misvm: stopped before held-out bags were scored; their "
              "threshold is 0");
    return LAPIS_OK; /* without a round there is no objective, either */
  }
  w->threshold = margins * 2 * w->inner->info.objective;
  base_note(l->ctx, BASE_NOTE, "threshold",
            "misvm: a bag scored above %.4g is positive, by held-out bags "
            "({threshold fixed}: above 0)",
            w->threshold);
  return LAPIS_OK;
}

/* ---- what is left open --------------------------------------------------*/
static lapis_status make_inner(misvm *w);

static const char *kernel_name(int kernel)
{
  return kernel == LAPIS_KERNEL_LINEAR ? "linear"
         : kernel == LAPIS_KERNEL_RBF  ? "rbf"
                                       : "chi2";
}

static const double LOOSE = 1e-3; /* gap of fits that are compared */

/* The kernel and C by which held-out bags' scores say most, which is by the
 * log-loss of the sigmoid that goes with them; half of the time may go. */
static lapis_status try_all(misvm *w, double *best)
{
  static const int kernels[] = {LAPIS_KERNEL_RBF, LAPIS_KERNEL_LINEAR};
  static const double weights[] = {.1, 1, 10, 100};
  lapis_misvm_settings set = w->set, chosen = w->set;
  loop *l = &w->base.loop;
  lapis_status s = LAPIS_OK;
  double end = base_seconds() + loop_seconds_left(l) / 2;
  set.stop.tol = fmax(set.stop.tol, LOOSE);
  for (int k = 0; k < (w->any_kernel ? 2 : 1); k++)
    for (int i = 0; i < 4; i++) {
      double t = 0, loss = INFINITY;
      if (w->any_kernel) set.kernel = kernels[k];
      set.C = weights[i];
      s = bag_threshold(inner_of(w), &set, misvm_new, &w->bags, w->bag_sign,
                        end - base_seconds(), &t, &loss);
      if (s != LAPIS_OK) return s;
      base_say(w->base.ctx, 1, "misvm: --kernel %s --C %g: log-loss %.4f",
               kernel_name(set.kernel), set.C, loss);
      if (!(loss < *best)) continue;
      *best = loss;
      chosen = set;
    }
  w->set.kernel = chosen.kernel;
  w->set.C = chosen.C;
  return s;
}

static lapis_status choose(misvm *w)
{
  loop *l = &w->base.loop;
  double best = INFINITY;
  int kernel = w->set.kernel;
  double C = w->set.C;
  if (!w->open) return LAPIS_OK;
  keep_pause(l->ctx, true);
  lapis_status s = try_all(w, &best);
  keep_pause(l->ctx, false);
  TRY(s);
  if (s == LAPIS_CANCELLED) l->status = s;
  if (s == LAPIS_TIME_LIMIT)
    base_note(l->ctx, BASE_WARNING, "not-chosen",
              "misvm: no time to choose C by held-out bags; it is 1");
  w->open = s == LAPIS_CANCELLED; /* then the next solve chooses */
  if (s == LAPIS_OK)
    base_note(l->ctx, BASE_NOTE, "chosen",
              "misvm: chosen by held-out bags; the same again: {kernel %s} "
              "{C %g} {scale %s} {threshold %s}",
              kernel_name(w->set.kernel), w->set.C,
              w->set.scale == LAPIS_SCALE_STANDARD ? "standard" : "none",
              w->set.threshold == LAPIS_THRESHOLD_AUTO ? "auto" : "fixed");
  if (w->set.kernel == kernel && fabs(w->set.C - C) <= 0) return LAPIS_OK;
  lapis_solver_free(w->inner);
  w->inner = NULL;
  return make_inner(w);
}

static lapis_status misvm_solve(lapis_solver *s)
{
  misvm *w = (misvm *)s;
  static const char *const columns[] = {"iteration", "objective", "changed"};
  TRY(loop_begin(&s->loop, s->ctx, "misvm", &w->set.stop, 3, columns));
  TRY(choose(w));
  TRY(rounds(w));
  loop_keep_no_more(&s->loop); /* a resumed run scores held-out bags anew */
  TRY(find_threshold(w));
  const lapis_info *in = &w->inner->info;
  s->info.iterations = s->loop.iter;
  s->info.rank = in->rank;
  s->info.objective = in->objective;
  s->info.gap = in->gap;
  publish(w);
  s->info.seconds = loop_seconds(&s->loop);
  return s->loop.status;
}

static lapis_status misvm_learn(lapis_solver *s)
{
  misvm *w = (misvm *)s;
  TRY(sv_learn(w->inner));
  s->learned = w->inner->learned;
  if (w->set.threshold == LAPIS_THRESHOLD_AUTO)
    named_put(&s->learned, "threshold", lapis_mat_f64(&w->threshold, 1, 1));
  return LAPIS_OK;
}

/* ---- constructor --------------------------------------------------------*/
static void misvm_free(lapis_solver *s)
{
  misvm *w = (misvm *)s;
  lapis_solver_free(w->inner);
  bags_free(&w->bags);
  base_free(w->seen);
}

static const solver_class misvm_class = {.method = "misvm",
                                         .solve = misvm_solve,
                                         .free = misvm_free,
                                         .learn = misvm_learn};

static lapis_status check_bags(misvm *w)
{
  lapis_ctx *ctx = w->base.ctx;
  const svmplus *in = inner_of(w);
  if (in->K != 1)
    return lapis_fail(ctx, LAPIS_EDATA,
                      "misvm: Y has more than two values; a bag is positive or "
                      "negative: write 1 or 0");
  for (int64_t k = 0; k < w->bags.count; k++) {
    const bag *b = &w->bags.item[k];
    for (int64_t i = 1; i < b->count; i++)
      if (in->labels.sign[b->member[i]] != in->labels.sign[b->member[0]])
        return lapis_fail(ctx, LAPIS_EDATA,
                          "misvm: bag %.0f has mixed labels (rows %" PRId64
                          " and %" PRId64 "); Y is the label of the bag, "
                          "repeated for each of its rows",
                          w->bags.id[k], b->member[0] + 1, b->member[i] + 1);
  }
  return LAPIS_OK;
}

static lapis_status check_threshold(misvm *w)
{
  const lapis_misvm_settings *set = &w->set;
  if (set->threshold != LAPIS_THRESHOLD_AUTO ||
      (set->kernel != LAPIS_KERNEL_PRECOMPUTED &&
       set->kernel_priv != LAPIS_KERNEL_PRECOMPUTED))
    return LAPIS_OK;
  return lapis_fail(w->base.ctx, LAPIS_EINVAL,
                    "misvm: --threshold auto needs features; a precomputed "
                    "kernel cannot be split into folds");
}

static lapis_svmplus_settings inner_settings(const lapis_misvm_settings *set)
{
  lapis_svmplus_settings in = lapis_svmplus_defaults();
  in.formulation = LAPIS_SVMPLUS_L2;
  in.kernel = set->kernel;
  in.kernel_priv = set->kernel_priv;
  in.C = set->C;
  in.gamma = set->gamma;
  in.width = set->width;
  in.width_priv = set->width_priv;
  in.scale = set->scale;
  in.stop.tol = set->stop.tol;
  in.stop.seconds = set->stop.seconds;
  return in;
}

static lapis_status make_inner(misvm *w)
{
  lapis_svmplus_settings set = inner_settings(&w->set);
  TRY(sv_new(w->base.ctx, &w->data, &set, &w->inner));
  const lapis_svmplus_settings *used = lapis_result_settings(w->inner);
  w->set.width = used->width;
  w->set.width_priv = used->width_priv;
  w->set.scale = used->scale;
  return LAPIS_OK;
}

/* What nobody stated, but for what held-out bags are to say.  C has a meaning
 * of its own where features are of one size. */
static void settle(misvm *w)
{
  lapis_misvm_settings *set = &w->set;
  bool bare = set->kernel != LAPIS_KERNEL_PRECOMPUTED &&
              set->kernel_priv != LAPIS_KERNEL_PRECOMPUTED;
  w->open = isnan(set->C) && bare;
  w->any_kernel =
      w->open && set->kernel == LAPIS_KERNEL_AUTO && isnan(set->width);
  if (isnan(set->C)) set->C = 1;
  if (set->kernel == LAPIS_KERNEL_AUTO) set->kernel = LAPIS_KERNEL_RBF;
  bool shifts = set->kernel != LAPIS_KERNEL_CHI2 &&
                set->kernel_priv != LAPIS_KERNEL_CHI2 && isnan(set->width) &&
                isnan(set->width_priv);
  if (w->open && shifts && set->scale == LAPIS_SCALE_AUTO)
    set->scale = LAPIS_SCALE_STANDARD;
  if (set->threshold == LAPIS_THRESHOLD_WITH_C)
    set->threshold = w->open ? LAPIS_THRESHOLD_AUTO : LAPIS_THRESHOLD_FIXED;
}

/* Too few bags to hold any out. */
static void close_if_few(misvm *w, bool stated)
{
  if (!w->open || bags_are_enough(&w->bags, w->bag_sign)) return;
  w->open = false;
  if (!stated) w->set.threshold = LAPIS_THRESHOLD_FIXED;
  base_note(w->base.ctx, BASE_WARNING, "not-chosen",
            "misvm: two bags of either kind are needed to choose C; it is 1");
}

static lapis_status build(misvm *w, const lapis_data *data)
{
  lapis_ctx *ctx = w->base.ctx;
  int64_t n = w->n = data->X.cols;
  bool stated = w->set.threshold != LAPIS_THRESHOLD_WITH_C;
  int scale = w->set.scale;
  settle(w);
  lapis_svmplus_settings set = inner_settings(&w->set);
  TRY(sv_scale_check(ctx, "misvm", &set));
  TRY(check_threshold(w));
  TRY(sv_check_data(ctx, "misvm", &set, data));
  if (data->group == NULL)
    return lapis_fail(
        ctx, LAPIS_EMISSING,
        "misvm: there are no groups; %s which bag a sample belongs to",
        BAG_OF(ctx));
  w->data = *data;
  w->data.weight = NULL;
  TRY(make_inner(w));
  TRY(bags_new(ctx, data->group, n, &w->bags));
  TRY(check_bags(w));
  w->room = 64;
  arena *a = &w->base.arena;
  w->bag_sign = arena_reals(a, n);
  w->order = arena_take(a, n, sizeof *w->order);
  w->decided = arena_reals(a, n);
  w->bag_scores = arena_reals(a, w->bags.count);
  w->bag_labels = arena_reals(a, w->bags.count);
  TRY(arena_status(a));
  w->seen = base_alloc(ctx, w->room * n, 1); /* grows */
  if (w->seen == NULL) return LAPIS_ENOMEM;
  memcpy(w->bag_sign, inner_of(w)->labels.sign, (size_t)n * sizeof(double));
  close_if_few(w, stated);
  if (!w->open) sv_note_scale(&w->base, scale, w->set.scale);
  return LAPIS_OK;
}

lapis_status misvm_check_unlabelled(lapis_ctx *ctx, const char *method,
                                    const lapis_data *data,
                                    const void *settings, const bool *known)
{
  lapis_svmplus_settings set = inner_settings(settings);
  bag_list bags;
  TRY(sv_check_unlabelled(ctx, method, data, &set, known));
  if (data->group == NULL) return LAPIS_OK; /* the fit refuses that */
  TRY(bags_new(ctx, data->group, data->X.cols, &bags));
  lapis_status s = LAPIS_OK;
  for (int64_t k = 0; k < bags.count && s >= 0; k++)
    for (int64_t i = 1; i < bags.item[k].count && s >= 0; i++) {
      int64_t one = bags.item[k].member[0], other = bags.item[k].member[i];
      if (known[one] != known[other])
        s = lapis_fail(ctx, LAPIS_EDATA,
                       "%s: bag %.0f has a label in some of its rows only "
                       "(rows %" PRId64 " and %" PRId64 "); Y is the label of "
                       "the bag, repeated for each of its rows",
                       method, bags.id[k], one + 1, other + 1);
    }
  bags_free(&bags);
  return s;
}

double misvm_holds(const solver_size *z, const void *settings)
{
  (void)settings;
  return sv_lines_hold(z) + sv_kernels_hold(z) + 40 * z->n;
}

lapis_status misvm_new(lapis_ctx *ctx, const lapis_data *data,
                       const void *settings, lapis_solver **out)
{
  *out = NULL;
  const lapis_misvm_settings *set = settings;
  TRY(sv_check_settings(ctx, "misvm", isnan(set->C) ? 1 : set->C, set->gamma));
  lapis_solver *s;
  TRY(solver_alloc(ctx, &misvm_class, sizeof(misvm), &s));
  misvm *w = (misvm *)s;
  w->set = *set;
  s->settings = &w->set;
  return solver_deliver(s, build(w, data), out);
}
