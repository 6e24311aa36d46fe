/* info_model.c - what a model is: method, version, classes, settings. */
#include <string.h>

#include "info.h"

lapis_json *info_header(cli *c, const lapis_arrays *all)
{
  lapis_json *head = NULL;
  const lapis_array *a = lapis_arrays_find(all, "lapis");
  bool text =
      a != NULL && a->mat.dtype == LAPIS_TEXT && a->mat.rows * a->mat.cols == 1;
  if (!text) return NULL;
  const char *json = ((const char *const *)a->mat.val)[0];
  if (lapis_json_parse(c->ctx, json, strlen(json), "model", &head) < 0)
    return NULL;
  return head;
}

/* Texts of a model's row, or none. */
static lapis_mat texts(cli *c, const lapis_model *m, const char *name)
{
  lapis_mat row;
  if (lapis_model_get(c->ctx, m, name, &row) >= 0 && row.dtype == LAPIS_TEXT)
    return row;
  return (lapis_mat){.dtype = LAPIS_TEXT, .ld = 1};
}

static lapis_json *text_list(const lapis_mat *row)
{
  lapis_json *list = lapis_json_list();
  for (int64_t i = 0; i < row->cols; i++)
    lapis_json_put_text(list, NULL, ((const char *const *)row->val)[i]);
  return list;
}

/* The classes by name, as texts of a target or as names of several. */
static lapis_mat classes(cli *c, const lapis_model *m)
{
  lapis_mat names = texts(c, m, "class_texts");
  return names.cols > 0 ? names : texts(c, m, "class_names");
}

/* Another model answers beside this one, or fills gaps before it. */
static const char *part_method(const lapis_arrays *all, const char *prefix)
{
  size_t size = strlen(prefix);
  bool any = false, factors = false;
  for (int i = 0; i < all->count; i++) {
    if (strncmp(all->item[i].name, prefix, size) != 0) continue;
    any = true;
    factors = factors || strcmp(all->item[i].name + size, "factors") == 0;
  }
  if (!any) return NULL;
  return factors ? "mc" : "linear";
}

/* 0: its answers have no sets. */
static double coverage_of(cli *c, const lapis_model *m)
{
  lapis_mat kept;
  bool any = lapis_model_get(c->ctx, m, "coverage", &kept) >= 0 &&
             kept.rows * kept.cols > 0 && kept.dtype != LAPIS_TEXT;
  return any ? lapis_mat_at(&kept, 0, 0) : 0;
}

lapis_json *info_model_json(cli *c, const lapis_model *m,
                            const lapis_arrays *all)
{
  lapis_json *to = lapis_json_object(), *head = info_header(c, all);
  const lapis_method *method = lapis_model_method(m);
  lapis_mat features = texts(c, m, "feature_names"), named = classes(c, m);
  lapis_mat made = texts(c, m, "feature_settings");
  int64_t d = lapis_model_features(m);
  lapis_json_put_text(to, "method", method->name);
  lapis_json_put_text(to, "lapis",
                      head == NULL ? "" : lapis_json_text(head, "lapis", ""));
  if (part_method(all, "beside.") != NULL)
    lapis_json_put_text(to, "beside", part_method(all, "beside."));
  if (part_method(all, "filler.") != NULL)
    lapis_json_put_text(to, "filler", part_method(all, "filler."));
  if (coverage_of(c, m) > 0)
    lapis_json_put_number(to, "coverage", coverage_of(c, m));
  lapis_mat stopped = texts(c, m, "stopped"), gap;
  if (stopped.rows * stopped.cols == 1)
    lapis_json_put_text(to, "stopped", ((const char *const *)stopped.val)[0]);
  if (lapis_model_get(c->ctx, m, "stopped_gap", &gap) >= 0 &&
      gap.rows * gap.cols == 1 && gap.dtype != LAPIS_TEXT)
    lapis_json_put_number(to, "stopped_gap", lapis_mat_at(&gap, 0, 0));
  if (d > 0) lapis_json_put_integer(to, "features", d);
  if (features.cols > 0)
    lapis_json_put(to, "feature_names", text_list(&features));
  if (made.cols > 0) lapis_json_put(to, "feature_settings", text_list(&made));
  if (named.cols > 0) lapis_json_put(to, "classes", text_list(&named));
  lapis_json_put_text(to, "map",
                      head == NULL ? NULL : lapis_json_text(head, "map", NULL));
  lapis_json_put(to, "settings",
                 settings_json(c, method, lapis_model_settings(m)));
  lapis_json_free(head);
  return to;
}

bool model_stopped(cli *c, const lapis_model *m, char *text, size_t size)
{
  lapis_mat why = texts(c, m, "stopped"), gap;
  if (why.rows * why.cols != 1) return false;
  snprintf(text, size, "%.40s", ((const char *const *)why.val)[0]);
  size_t used = strlen(text);
  if (lapis_model_get(c->ctx, m, "stopped_gap", &gap) >= 0 &&
      gap.rows * gap.cols == 1 && gap.dtype != LAPIS_TEXT)
    snprintf(text + used, size - used, ", gap %.2g", lapis_mat_at(&gap, 0, 0));
  return true;
}

static void print_texts(const char *what, const lapis_mat *row)
{
  if (row->cols == 0) return;
  printf("  %s", what);
  for (int64_t i = 0; i < row->cols && i < 20; i++)
    printf("%s %s", i > 0 ? "," : "", ((const char *const *)row->val)[i]);
  printf("%s\n", row->cols > 20 ? ", ..." : "");
}

static void print_parts(const lapis_arrays *all)
{
  const char *beside = part_method(all, "beside.");
  const char *filler = part_method(all, "filler.");
  if (beside != NULL)
    printf("  and of %s beside it: the mean of both answers (arrays "
           "beside.NAME)\n",
           beside);
  if (filler != NULL)
    printf("  after %s, which fills missing features (arrays filler.NAME)\n",
           filler);
}

/* The settings, and a model without each fold. */
bool info_model_tells(const char *array)
{
  return strcmp(array, "lapis") == 0 || strncmp(array, "fold.", 5) == 0;
}

void info_model(cli *c, const lapis_model *m, const lapis_arrays *all)
{
  lapis_json *head = info_header(c, all);
  const lapis_method *method = lapis_model_method(m);
  lapis_mat features = texts(c, m, "feature_names"), named = classes(c, m);
  lapis_mat made = texts(c, m, "feature_settings");
  const char *map = head == NULL ? NULL : lapis_json_text(head, "map", NULL);
  int64_t d = lapis_model_features(m);
  printf("  a model of %s (%s), made by lapis %s\n", method->name,
         method->title,
         head == NULL ? "?" : lapis_json_text(head, "lapis", "?"));
  print_parts(all);
  if (coverage_of(c, m) > 0)
    printf("  with sets, or intervals, of coverage %g, by fits without a fold "
           "each (arrays fold.NAME)\n",
           coverage_of(c, m));
  char stopped[80];
  if (model_stopped(c, m, stopped, sizeof stopped))
    printf("  of a fit that ended before its tolerance was met (%s)\n",
           stopped);
  if (d > 0) printf("  features: %lld\n", (long long)d);
  print_texts("features:", &features);
  print_texts("made by:", &made);
  print_texts("classes:", &named);
  if (map != NULL) printf("  map: %s\n", map);
  printf("  settings:");
  const lapis_param *p;
  for (int i = 0; (p = lapis_method_param(method, i)) != NULL; i++) {
    char text[256];
    lapis_settings_get(c->ctx, method, lapis_model_settings(m), p->name, text,
                       sizeof text);
    printf("%s %s %s", i > 0 ? "," : "", p->name, text);
  }
  printf("\n");
  lapis_json_free(head);
}
