/* door.c - the one door to all methods: every constructor passes
 * lapis_solver_new, so that what holds for all of them is checked once. */
#include <math.h>

#include "base/width.h"
#include "mat/mat.h"
#include "methods/common_remarks.h"
#include "methods/labelled.h"
#include "methods/method_entry.h"

enum { ALIKE = 5 };
static lapis_status check_alike(lapis_ctx *ctx, const char *name,
                                const lapis_data *data)
{
  static const char *const what[ALIKE] = {
      "features in X", "columns in Y", "columns in P",
      "threads (--threads N makes them equal)",
      "kinds of processor, whose last digits differ"};
  double v[2 * ALIKE] = {(double)data->X.rows, (double)data->Y.rows,
                         (double)data->P.rows, base_threads(ctx), 0};
  const char *backend = lapis_ctx_backend(ctx);
  if (backend == NULL) return LAPIS_EINVAL;
  for (const char *at = backend; *at != '\0'; at++)
    v[4] = fmod(31 * v[4] + (unsigned char)*at, 65521);
  v[4] = 8 * v[4] + base_width_of(ctx);
  for (int i = 0; i < ALIKE; i++) v[ALIKE + i] = v[i] * v[i];
  TRY(base_sum(ctx, v, 2 * ALIKE));
  for (int i = 0; i < ALIKE; i++) {
    double mean = rint(v[i] / base_ranks(ctx));
    if (v[ALIKE + i] == mean * mean * base_ranks(ctx)) continue;
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "%s: the parts of the %d processes differ in the number "
                      "of %s; all have to be alike",
                      name, base_ranks(ctx), what[i]);
  }
  return LAPIS_OK;
}

static method_new_fn maker(const method_entry *e, const lapis_data *data,
                           const void *set)
{
  bool open = e->open != NULL && data->Y.rows > 0 && e->open(set);
  return open ? e->choose : e->create;
}

bool method_reads(const lapis_method *m, const void *settings,
                  const lapis_mat *X)
{
  const method_entry *e = method_entry_of(m);
  return e->create_read != NULL && e->reads(settings, X);
}

/* Who asks, and how X is read. */
typedef struct request {
  bool whole;
  const mat_shift *shift; /* NULL: as it is */
} request;

static lapis_status create(lapis_ctx *ctx, const method_entry *e,
                           const lapis_data *data, const mat_shift *shift,
                           const void *set, lapis_solver **out)
{
  if (shift != NULL) return e->create_read(ctx, data, shift, set, out);
  return labelled_is_needed(ctx, e, data)
             ? labelled_new(ctx, e, data, set, out)
             : maker(e, data, set)(ctx, data, set, out);
}

static lapis_status make(lapis_ctx *ctx, const method_entry *e,
                         const lapis_data *data, const void *settings,
                         request of, lapis_solver **out)
{
  const lapis_method *m = e->method;
  TRY(mat_check_data(ctx, m->name, data));
  if (base_ranks(ctx) > 1) TRY(check_alike(ctx, m->name, data));
  void *set = base_alloc(ctx, 1, m->settings_size);
  lapis_status s = LAPIS_ENOMEM;
  if (set != NULL) s = lapis_settings_copy(ctx, m, settings, set);
  if (s >= 0 && of.whole) s = settings_check_exclusions(ctx, m, set);
  if (s >= 0 && of.whole)
    s = settings_check_use(ctx, m, set, lapis_data_has(data), NULL);
  if (s >= 0 && of.whole) s = method_settle_targets(ctx, m, data, set);
  if (s >= 0) s = method_check_members(ctx, m, set, data);
  if (s >= 0) s = method_weigh(ctx, e, data, set);
  if (s >= 0) s = create(ctx, e, data, of.shift, set, out);
  if (s >= 0) {
    (*out)->table = m;
    (*out)->features = data->X.rows;
    (*out)->data = *data;
    (*out)->look = remark_answer;
    (*out)->asked_for =
        of.whole && base_muted(ctx) == 0 && !base_is_inside(ctx);
    s = remark_data(ctx, m, set, data);
  }
  base_free(set);
  return s;
}

static lapis_status pass_door(lapis_ctx *ctx, const lapis_method *m,
                              const lapis_data *data, const void *settings,
                              request of, lapis_solver **out)
{
  const method_entry *e = method_entry_of(m);
  if (e == NULL)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "this method is none of lapis_method_at's; "
                      "lapis_method_find finds one by its name");
  if (base_backend_name(ctx) != NULL && lapis_ctx_backend(ctx) == NULL)
    return lapis_ctx_status(ctx);
  if (!e->splits) TRY(method_alone(ctx, m->name));
  if (base_ranks(ctx) > 1 &&
      lapis_method_chooses(m, settings, lapis_data_has(data)))
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "%s: settings are not chosen by samples that are divided "
                      "among %d processes; give --mu or --mu-rel, perhaps what "
                      "auto chose on some of the samples",
                      m->name, base_ranks(ctx));
  base_meet(ctx);
  note_list notes = {.count = 0};
  notes_open(ctx, &notes);
  lapis_status s = base_agree(ctx, make(ctx, e, data, settings, of, out));
  s = solver_keep_notes(ctx, &notes, s, *out);
  if (s >= 0 || *out == NULL) return s;
  lapis_solver_free(*out); /* another process has none */
  *out = NULL;
  return s;
}

lapis_status lapis_solver_new(lapis_ctx *ctx, const lapis_method *m,
                              const lapis_data *data, const void *settings,
                              lapis_solver **out)
{
  MAKES(out);
  NEEDS(ctx, ctx, m, data, out);
  return pass_door(ctx, m, data, settings, (request){.whole = true}, out);
}

lapis_status method_solve_part(lapis_ctx *ctx, const lapis_method *m,
                               const lapis_data *data, const void *settings,
                               lapis_solver **out)
{
  return method_solve_read(ctx, m, data, NULL, settings, out);
}

lapis_status method_solve_read(lapis_ctx *ctx, const lapis_method *m,
                               const lapis_data *data, const mat_shift *shift,
                               const void *settings, lapis_solver **out)
{
  MAKES(out);
  return pass_door(ctx, m, data, settings, (request){.shift = shift}, out);
}
