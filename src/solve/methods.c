/* methods.c - the list of methods: a new one adds an entry here. */
#include "solve/methods.h"

#include <string.h>

#include "mat/mat.h"
#include "solve/mc/mc.h"
#include "solve/robust/robust.h"
#include "solve/roml/roml.h"
#include "solve/svmplus/svmplus.h"

/* lapis_NAME_new takes its own settings; the list wants one type for all. */
#define CREATOR(name)                                                    \
  static lapis_status new_##name(lapis_ctx *ctx, const lapis_data *data, \
                                 const void *set, lapis_solver **out)    \
  {                                                                      \
    return lapis_##name##_new(ctx, data, set, out);                      \
  }
CREATOR(mc)
CREATOR(roml)
CREATOR(svmplus)
CREATOR(misvm)
CREATOR(clean)
CREATOR(rpca)
CREATOR(rr)
CREATOR(rlda)

static const method_entry list[] = {
    {.method = &rr_method,
     .create = new_rr,
     .predict_method = &rr_predict_method,
     .predict = rr_predict_new},
    {.method = &rlda_method,
     .create = new_rlda,
     .predict_method = &rlda_predict_method,
     .predict = rr_predict_new},
    {.method = &rpca_method,
     .create = new_rpca,
     .predict_method = &rpca_predict_method,
     .predict = rpca_predict_new},
    {.method = &clean_method, .create = new_clean, .transductive = true},
    {.method = &misvm_method,
     .create = new_misvm,
     .predict_method = &misvm_predict_method,
     .predict = misvm_predict_new},
    {.method = &svmplus_method,
     .create = new_svmplus,
     .predict_method = &svmplus_predict_method,
     .predict = sv_predict_new,
     .sparse = true},
    {.method = &roml_method, .create = new_roml, .transductive = true},
    {.method = &mc_method,
     .create = new_mc,
     .predict_method = &mc_fold_method,
     .predict = mc_fold_new,
     .transductive = true}};
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

lapis_status method_check_dense(lapis_ctx *ctx, const method_entry *e,
                                const lapis_data *data)
{
  if (e->sparse) return LAPIS_OK;
  TRY(mat_check_dense(ctx, e->method->name, "X", &data->X));
  return mat_check_dense(ctx, e->method->name, "P", &data->P);
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
  TRY(method_check_dense(ctx, e, data));
  TRY(e->create(ctx, data, settings, out));
  (*out)->features = data->X.rows;
  return LAPIS_OK;
}

const lapis_method *lapis_predict_method(const lapis_method *m)
{
  const method_entry *e = method_entry_of(m);
  return e == NULL ? NULL : e->predict_method;
}
