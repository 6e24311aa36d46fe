/* methods.c - the list of methods: a new one adds an entry here. */
#include "solve/methods.h"

#include <string.h>

#include "solve/mc.h"

static lapis_status new_mc(lapis_ctx *ctx, const lapis_data *data,
                           const void *set, lapis_solver **out)
{
  return lapis_mc_new(ctx, data, set, out);
}

static const method_entry list[] = {
    {.method = &mc_method, .create = new_mc, .transductive = true}};
enum { METHODS = sizeof list / sizeof *list };

const method_entry *method_entry_at(int i)
{
  return i >= 0 && i < METHODS ? &list[i] : NULL;
}

const method_entry *method_entry_of(const lapis_method *m)
{
  for (int i = 0; i < METHODS; i++)
    if (list[i].method == m) return &list[i];
  return NULL;
}

int lapis_method_count(void)
{
  return METHODS;
}

const lapis_method *lapis_method_at(int i)
{
  const method_entry *e = method_entry_at(i);
  return e == NULL ? NULL : e->method;
}

const lapis_method *lapis_method_find(const char *name)
{
  for (int i = 0; i < METHODS; i++)
    if (strcmp(list[i].method->name, name) == 0) return list[i].method;
  return NULL;
}

lapis_status lapis_solver_new(lapis_ctx *ctx, const lapis_method *m,
                              const lapis_data *data, const void *settings,
                              lapis_solver **out)
{
  const method_entry *e = method_entry_of(m);
  *out = NULL;
  if (e == NULL) return lapis_fail(ctx, LAPIS_EINVAL, "unknown method");
  return e->create(ctx, data, settings, out);
}

const lapis_method *lapis_predict_method(const lapis_method *m)
{
  const method_entry *e = method_entry_of(m);
  return e == NULL ? NULL : e->predict_method;
}
