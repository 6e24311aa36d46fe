/* methods.c - the list of methods, in the order of what one would use first:
 * help lists them so.  A new one adds an entry and a constructor by name; what
 * every constructor passes is door.c. */
#include "methods/method_entry.h"

#include <stdio.h>
#include <string.h>

#include "base/width.h"
#include "mat/mat.h"
#include "methods/auto/auto.h"
#include "methods/auto/holes.h"
#include "methods/common_remarks.h"
#include "methods/labelled.h"
#include "methods/mc/mc.h"
#include "methods/plain/linear.h"
#include "methods/robust/robust.h"
#include "methods/roml/roml.h"
#include "methods/svmplus/svmplus.h"
#include "op/map/map.h"

static const method_entry list[] = {{.method = &auto_method,
                                     .holds = auto_holds,
                                     .create = auto_new,
                                     .predict_method = &auto_predict_method,
                                     .predict = holes_predict_new,
                                     .answers_parts = true,
                                     .transductive = true,
                                     .sparse = true},
                                    {.method = &mc_method,
                                     .holds = mc_holds,
                                     .idle = mc_idle,
                                     .open = mc_open,
                                     .create_read = mc_new_read,
                                     .reads = mc_reads,
                                     .choose = auto_new_mc,
                                     .settle = mc_settle,
                                     .zero_one = mc_zero_one,
                                     .splits = true,
                                     .create = mc_new,
                                     .check = mc_check,
                                     .predict_method = &mc_fold_method,
                                     .predict = mc_fold_new,
                                     .answers_parts = true,
                                     .transductive = true,
                                     .sparse = true},
                                    {.method = &rr_method,
                                     .holds = rr_holds,
                                     .metric = "rae",
                                     .splits = true,
                                     .labelled_only = true,
                                     .idle = rr_idle,
                                     .check_unlabelled = rr_check_unlabelled,
                                     .create = rr_new,
                                     .predict_method = &rr_predict_method,
                                     .predict = rr_predict_new,
                                     .answers_parts = true},
                                    {.method = &rlda_method,
                                     .holds = rr_holds,
                                     .splits = true,
                                     .labelled_only = true,
                                     .idle = rlda_idle,
                                     .check_unlabelled = rr_check_unlabelled,
                                     .create = rlda_new,
                                     .predict_method = &rlda_predict_method,
                                     .predict = rr_predict_new,
                                     .answers_parts = true},
                                    {.method = &rpca_method,
                                     .holds = rpca_holds,
                                     .create = rpca_new,
                                     .splits = true,
                                     .predict_method = &rpca_predict_method,
                                     .predict = rpca_predict_new,
                                     .answers_parts = true},
                                    {.method = &clean_method,
                                     .holds = clean_holds,
                                     .splits = true,
                                     .create = clean_new,
                                     .transductive = true},
                                    {.method = &svmplus_method,
                                     .holds = sv_holds,
                                     .splits = true,
                                     .labelled_only = true,
                                     .idle = sv_idle,
                                     .check_unlabelled = sv_check_unlabelled,
                                     .create = svmplus_new,
                                     .predict_method = &svmplus_predict_method,
                                     .predict = sv_predict_new,
                                     .answers_parts = true,
                                     .sparse = true},
                                    {.method = &misvm_method,
                                     .holds = misvm_holds,
                                     .labelled_only = true,
                                     .check_unlabelled = misvm_check_unlabelled,
                                     .create = misvm_new,
                                     .predict_method = &misvm_predict_method,
                                     .predict = misvm_predict_new},
                                    {.method = &linear_method,
                                     .holds = linear_holds,
                                     .create = linear_new,
                                     .predict_method = &linear_predict_method,
                                     .predict = linear_predict_new,
                                     .answers_parts = true,
                                     .sparse = true},
                                    {.method = &trees_method,
                                     .holds = trees_holds,
                                     .create = trees_new,
                                     .predict_method = &trees_predict_method,
                                     .predict = trees_predict_new,
                                     .answers_parts = true},
                                    {.method = &roml_method,
                                     .holds = roml_holds,
                                     .create = roml_new,
                                     .predict_method = &roml_predict_method,
                                     .predict = roml_predict_new,
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

lapis_status method_alone(lapis_ctx *ctx, const char *what)
{
  char others[128] = "";
  if (base_ranks(ctx) == 1) return LAPIS_OK;
  for (int i = 0; i < METHODS; i++) {
    size_t n = strlen(others);
    if (list[i].splits)
      (void)snprintf(others + n, sizeof others - n, "%s%s", n > 0 ? ", " : "",
                     list[i].method->name);
  }
  return lapis_fail(ctx, LAPIS_EINVAL,
                    "%s: this method needs all samples in one process, and "
                    "there are %d; run it in one, without mpirun (methods that "
                    "divide their samples: %s)",
                    what, base_ranks(ctx), others);
}

/* ---- members of data ----------------------------------------------------*/
unsigned lapis_method_reads(const lapis_method *m, const void *settings)
{
  if (m == NULL) return 0;
  const method_entry *e = method_entry_of(m);
  if (e == NULL || e->idle == NULL || settings == NULL) return m->reads;
  return m->reads & ~e->idle(settings);
}

static void list_members(unsigned bits, const char *last, char *to, size_t size)
{
  const lapis_member *m;
  *to = '\0';
  for (int k = 0; (m = lapis_member_at(k)) != NULL; k++) {
    size_t used = strlen(to);
    if ((bits & m->bit) == 0) continue;
    bits &= ~m->bit;
    (void)snprintf(to + used, size - used, "%s%s",
                   used == 0   ? ""
                   : bits == 0 ? last
                               : ", ",
                   m->name);
  }
}

lapis_status method_check_members(lapis_ctx *ctx, const lapis_method *m,
                                  const void *settings, const lapis_data *data)
{
  char given[64], read[64];
  unsigned reads = lapis_method_reads(m, settings);
  unsigned idle = lapis_data_has(data) & ~(reads | LAPIS_READS_Y);
  if (idle == 0) return LAPIS_OK;
  list_members(idle, " and ", given, sizeof given);
  list_members(reads, " and ", read, sizeof read);
  return lapis_fail(ctx, LAPIS_EINVAL,
                    "%s: data has %s, of which no use is made%s; leave out all "
                    "but %s",
                    m->name, given,
                    (idle & m->reads) == idle ? " with these settings" : "",
                    read);
}

lapis_status method_check_map(lapis_ctx *ctx, const lapis_method *m,
                              const void *settings, const lapis_map *map,
                              const lapis_mat *X)
{
  char absent[16] = "zero";
  if (map == NULL || X->colptr == NULL || map_keeps_zeros(map)) return LAPIS_OK;
  if (lapis_param_find(m, "absent") != NULL)
    TRY(lapis_settings_get(ctx, m, settings, "absent", absent, sizeof absent));
  if (strcmp(absent, "missing") != 0) return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_EINVAL,
                    "%s: --map %s makes numbers of what a sparse X leaves out; "
                    "with --absent missing use scale, l1, l2 or sqrt, or a "
                    "dense X with NaN",
                    m->name, map_spec(map));
}

const lapis_method *lapis_method_at(int i)
{
  const method_entry *e = method_entry_at(i);
  return e == NULL ? NULL : e->method;
}

const lapis_method *lapis_method_find(const char *name)
{
  if (name == NULL) return NULL;
  for (int i = 0; i < METHODS; i++)
    if (strcmp(list[i].method->name, name) == 0) return list[i].method;
  return NULL;
}

/* Small whole numbers of a process, as sums of them and of their squares: all
 * are equal where P sum v^2 = (sum v)^2. */

bool lapis_method_chooses(const lapis_method *m, const void *settings,
                          unsigned has)
{
  const method_entry *e = method_entry_of(m);
  if (e == NULL || (has & LAPIS_READS_Y) == 0) return false;
  if (e->method == &auto_method) return true;
  return e->open != NULL && (settings == NULL || e->open(settings));
}

static int *targets_of(const lapis_method *m, const void *settings)
{
  const lapis_param *p = lapis_param_find(m, "targets");
  if (p == NULL || settings == NULL) return NULL;
  return (int *)(uintptr_t)((const char *)settings + p->offset);
}

bool method_of_numbers(const lapis_method *m, const void *settings)
{
  const int *of = targets_of(m, settings);
  return of == NULL ? m->numbers : *of == LAPIS_TARGETS_NUMBERS;
}

const char *method_metric(const lapis_method *m, const void *settings)
{
  const method_entry *e = method_entry_of(m);
  if (e != NULL && e->metric != NULL) return e->metric;
  return method_of_numbers(m, settings) ? "r2" : "auroc";
}

lapis_status method_settle_targets(lapis_ctx *ctx, const lapis_method *m,
                                   const lapis_data *data, void *settings)
{
  bool words = !mat_empty(&data->words), numbers = false;
  int *of = targets_of(m, settings);
  if ((m->reads & LAPIS_READS_Y) == 0 || m->numbers || data->Y.rows == 0)
    return LAPIS_OK;
  if (of == NULL)
    return words ? LAPIS_OK : targets_check_classes(ctx, m->name, &data->Y);
  if (*of == LAPIS_TARGETS_NUMBERS && words)
    return lapis_fail(ctx, LAPIS_EDATA,
                      "%s: Y holds words, which are classes, and --targets "
                      "says numbers",
                      m->name);
  if (*of != LAPIS_TARGETS_AUTO) return LAPIS_OK;
  if (!words) TRY(targets_are_numbers(ctx, &data->Y, &numbers));
  *of = numbers ? LAPIS_TARGETS_NUMBERS : LAPIS_TARGETS_CLASSES;
  return LAPIS_OK;
}

const lapis_method *lapis_predict_method(const lapis_method *m)
{
  const method_entry *e = method_entry_of(m);
  return e == NULL ? NULL : e->predict_method;
}
