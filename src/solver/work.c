/* work.c - solvers of several steps, which programs make of others. */
#include "lapis/tools.h"
#include "solver/solver.h"

typedef struct work {
  lapis_solver base;
  solver_class cls; /* named after the table */
  const lapis_work *how;
  void *self;
  bool ran;
  const lapis_solver *by; /* whose answer it is, or NULL */
  lapis_data given;       /* to that */
} work;

static lapis_status solve(lapis_solver *s)
{
  work *w = (work *)s;
  if (w->ran)
    return lapis_fail(s->ctx, LAPIS_EINVAL,
                      "%s: this solver has run already; make a new one",
                      w->cls.method);
  w->ran = true;
  lapis_status status = w->how->solve(w->self);
  s->told = w->by == NULL;
  if (w->by != NULL) s->info = w->by->info;
  return status;
}

static void free_work(lapis_solver *s)
{
  const work *w = (const work *)s;
  w->how->free(w->self);
}

static const work *work_of(const lapis_solver *s)
{
  return s != NULL && s->cls->free == free_work ? (const work *)s : NULL;
}

lapis_status lapis_work_new(lapis_ctx *ctx, const lapis_work *how, void *self,
                            const void *settings, lapis_solver **out)
{
  MAKES(out);
  NEEDS(ctx, ctx, how, self, settings, out);
  note_list notes = {.count = 0};
  lapis_solver *s;
  lapis_status status =
      solver_alloc(ctx, &(solver_class){.method = NULL}, sizeof(work), &s);
  if (status < 0) how->free(self);
  if (status < 0) return status;
  work *w = (work *)s;
  w->cls = (solver_class){
      .method = how->table->name, .solve = solve, .free = free_work};
  w->how = how;
  w->self = self;
  s->cls = &w->cls;
  s->table = how->table;
  s->settings = settings;
  notes_open(ctx, &notes);
  status = solver_keep_notes(ctx, &notes, how->begin(self, s), s);
  return solver_deliver(s, status, out);
}

void *lapis_work_self(const lapis_solver *s, const lapis_work *how)
{
  const work *w = work_of(s);
  return w != NULL && w->how == how ? w->self : NULL;
}

void lapis_work_publish(lapis_solver *s, const char *name, lapis_mat mat)
{
  if (s != NULL && name != NULL) solver_publish(s, name, mat);
}

void lapis_work_answer_by(lapis_solver *s, const lapis_solver *by,
                          const lapis_data *data)
{
  work *w = (work *)(uintptr_t)work_of(s);
  if (w == NULL || by == NULL || data == NULL) return;
  w->by = by;
  w->given = *data;
}

const lapis_solver *lapis_work_by(const lapis_solver *s, lapis_data *data)
{
  const work *w = work_of(s);
  bool there = w != NULL && w->by != NULL;
  if (data != NULL) *data = there ? w->given : (lapis_data){.size = 0};
  return there ? w->by : NULL;
}
