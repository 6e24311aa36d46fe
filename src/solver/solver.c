/* solver.c - the verbs every solver shares. */
#include "solver/solver.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/private.h"
#include "lapis/tools.h"
#include "solver/answer.h"

lapis_status solver_alloc(lapis_ctx *ctx, const solver_class *cls, size_t size,
                          lapis_solver **out)
{
  lapis_solver *s = base_alloc(ctx, 1, size);
  *out = s;
  if (s == NULL) return LAPIS_ENOMEM;
  s->cls = cls;
  s->ctx = s->arena.ctx = ctx;
  s->ranks = base_ranks(ctx);
  s->traffic = *base_traffic_of(ctx);
  s->info = (lapis_info){.size = sizeof s->info,
                         .rank = -1,
                         .objective = NAN,
                         .dual = NAN,
                         .gap = NAN,
                         .residual = NAN};
  return LAPIS_OK;
}

void lapis_solver_free(lapis_solver *s)
{
  if (s == NULL) return;
  s->cls->free(s);
  loop_free(&s->loop);
  notes_free(&s->notes);
  arena_free(&s->arena);
  base_free(s->owned);
  base_free(s);
}

lapis_status solver_deliver(lapis_solver *s, lapis_status status,
                            lapis_solver **out)
{
  *out = status >= 0 ? s : NULL;
  if (status < 0) lapis_solver_free(s);
  return status;
}

lapis_status solver_keep_notes(lapis_ctx *ctx, note_list *list,
                               lapis_status status, lapis_solver *s)
{
  notes_close(ctx);
  if (s == NULL) notes_free(list);
  if (s == NULL) return status;
  s->notes = *list;
  s->made = list->count;
  return status < 0 ? status : notes_status(list);
}

/* What a device had to do for it. */
static void say_traffic(lapis_solver *s)
{
  const base_traffic *now = base_traffic_of(s->ctx), *before = &s->traffic;
  if (now->launches == before->launches) return;
  base_say(s->ctx, 1,
           "%s: %" PRId64 " kernels run by %s, %" PRId64
           " bytes sent to it, %" PRId64 " bytes back in %" PRId64 " reads",
           s->cls->method, (int64_t)(now->launches - before->launches),
           now->device, (int64_t)(now->up - before->up),
           (int64_t)(now->down - before->down),
           (int64_t)(now->reads - before->reads));
}

/* What follows from how it ended, and what all methods remark. */
static lapis_status remark(lapis_solver *s, lapis_status status)
{
  const char *called = s->called == NULL ? s->cls->method : s->called;
  if (status < 0) return status;
  if (status > 0 && status != LAPIS_CANCELLED && !s->told &&
      !base_is_inside(s->ctx))
    base_note(s->ctx, BASE_WARNING, "stopped",
              "%s: stopped before the tolerance was met (%s)", called,
              lapis_status_name(status));
  if (s->look != NULL && base_muted(s->ctx) == 0) TRY(s->look(s));
  TRY(notes_status(&s->notes));
  return status;
}

static lapis_status solve(lapis_solver *s)
{
  s->notes.count = s->made;
  notes_open(s->ctx, &s->notes);
  lapis_status status = answer_check(s, s->cls->solve(s));
  loop_end(&s->loop);
  status = base_agree(s->ctx, remark(s, base_agree(s->ctx, status)));
  notes_close(s->ctx);
  return status;
}

lapis_status lapis_solve(lapis_solver *s)
{
  NEEDS(s == NULL ? NULL : s->ctx, s);
  if (base_ranks(s->ctx) != s->ranks)
    return lapis_fail(s->ctx, LAPIS_EINVAL,
                      "%s: the solver was made for %d process%s and the "
                      "context now has %d; make a new one",
                      s->cls->method, s->ranks, s->ranks == 1 ? "" : "es",
                      base_ranks(s->ctx));
  base_meet(s->ctx);
  const spread_state *spread = base_spread(s->ctx);
  int64_t messages = spread->messages, numbers = spread->numbers;
  lapis_status status = solve(s);
  if (status < 0 && s->ranks > 1) s->result.count = 0; /* of no use alone */
  if (s->ranks > 1)
    base_say(s->ctx, 1,
             "%s: %" PRId64 " sums of %" PRId64 " numbers with the other "
             "processes",
             s->cls->method, spread->messages - messages,
             spread->numbers - numbers);
  say_traffic(s);
  s->traffic = *base_traffic_of(s->ctx);
  s->info.status = status;
  /* A cancellation is spent once it has been reported. */
  if (status == LAPIS_CANCELLED) base_rearm(s->ctx);
  if (status == LAPIS_CANCELLED && s->result.count == 0 &&
      !base_is_inside(s->ctx))
    return lapis_fail(s->ctx, LAPIS_ESTOPPED,
                      "%s: cancelled before there was anything to answer with",
                      s->called == NULL ? s->cls->method : s->called);
  if (status >= 0 && !s->told) base_forget_error(s->ctx);
  return status;
}

const lapis_mat *named_find(const named_list *list, const char *name)
{
  for (int i = 0; i < list->count; i++)
    if (strcmp(list->item[i].name, name) == 0) return &list->item[i].mat;
  return NULL;
}

const lapis_mat *named_numbers(const named_list *list, const char *name,
                               int64_t rows, int64_t cols)
{
  const lapis_mat *m = named_find(list, name);
  bool fits = m != NULL && m->dtype == LAPIS_F64 && m->colptr == NULL &&
              (rows < 0 || m->rows == rows) && (cols < 0 || m->cols == cols);
  return fits ? m : NULL;
}

bool number_is_whole(double v, double low, double high)
{
  return v >= low && v <= high && floor(v) == v;
}

void named_put(named_list *list, const char *name, lapis_mat mat)
{
  int i = 0;
  while (i < list->count && strcmp(list->item[i].name, name) != 0) i++;
  assert(i < NAMED_MAX);
  list->item[i].name = name;
  list->item[i].mat = mat;
  if (i == list->count) list->count++;
}

void solver_publish(lapis_solver *s, const char *name, lapis_mat mat)
{
  named_put(&s->result, name, mat);
}

lapis_status lapis_solver_retune(lapis_solver *s, const void *settings)
{
  NEEDS(s == NULL ? NULL : s->ctx, s);
  if (s->cls->retune == NULL)
    return lapis_fail(s->ctx, LAPIS_ENOTBUILT,
                      "%s: a solver of this method cannot take other settings; "
                      "make a new one",
                      s->cls->method);
  return s->cls->retune(s, settings);
}

lapis_status solver_relabel(lapis_solver *s, const lapis_data *data,
                            const void *settings)
{
  if (s->cls->relabel == NULL)
    return lapis_fail(
        s->ctx, LAPIS_ENOTBUILT,
        "%s: a solver of this method cannot take other labels; make a new one",
        s->cls->method);
  return s->cls->relabel(s, data, settings);
}

void solver_publish_history(lapis_solver *s)
{
  loop *l = &s->loop;
  solver_publish(s, "history",
                 lapis_mat_f64(l->history, l->n_columns, l->n_rows));
  solver_publish(s, "history_columns",
                 lapis_mat_text(l->column, 1, l->n_columns));
}

lapis_status lapis_result_get(const lapis_solver *s, const char *name,
                              lapis_mat *out)
{
  NEEDS(s == NULL ? NULL : s->ctx, s, name, out);
  const lapis_mat *mat = named_find(&s->result, name);
  lapis_mat notes = notes_mat(&s->notes);
  if (strcmp(name, "notes") == 0) mat = &notes;
  if (mat != NULL) {
    *out = *mat;
    return LAPIS_OK;
  }
  *out = (lapis_mat){0};
  if (s->result.count == 0)
    return lapis_fail(s->ctx, LAPIS_EINVAL, "%s: no result '%s': solve first",
                      s->cls->method, name);
  return lapis_fail(s->ctx, LAPIS_EINVAL, "%s: no result is called '%s'",
                    s->cls->method, name);
}

const char *lapis_result_name(const lapis_solver *s, int i)
{
  if (s == NULL || i < 0) return NULL;
  if (i == s->result.count && s->notes.count > 0) return "notes";
  return i < s->result.count ? s->result.item[i].name : NULL;
}

lapis_status solver_learn_all(lapis_solver *s, const char *name, lapis_mat own)
{
  int64_t first, all, rows = own.rows;
  TRY(base_place(s->ctx, own.cols, &first, &all));
  if (base_ranks(s->ctx) > 1) {
    double *whole = arena_reals(&s->arena, rows * all);
    TRY(arena_status(&s->arena));
    TRY(base_share(s->ctx, own.val, rows * own.cols, rows * first, whole,
                   rows * all));
    own = lapis_mat_f64(whole, rows, all);
  }
  named_put(&s->learned, name, own);
  return LAPIS_OK;
}

static const char *shape_of(const lapis_method *m, const char *name)
{
  const lapis_result_row *row;
  for (int i = 0; (row = lapis_method_result(m, i)) != NULL; i++)
    if (strcmp(row->name, name) == 0) return row->shape;
  return "";
}

bool solver_is_of_samples(const lapis_method *m, const char *name)
{
  const char *shape = shape_of(m, name);
  return shape[0] == 'n' && strchr(" ", shape[1]) != NULL;
}

bool solver_is_of_bags(const lapis_method *m, const char *name)
{
  return strcmp(shape_of(m, name), "B") == 0;
}

bool lapis_result_is_divided(const lapis_solver *s, const char *name)
{
  if (s == NULL || name == NULL) return false;
  return s->ranks > 1 && solver_is_of_samples(s->table, name);
}

const lapis_info *lapis_result_info(const lapis_solver *s)
{
  return s == NULL ? NULL : &s->info;
}

const void *lapis_result_settings(const lapis_solver *s)
{
  if (s == NULL) return NULL;
  return s->settings;
}

const lapis_method *lapis_result_method(const lapis_solver *s)
{
  return s == NULL ? NULL : s->table;
}
